//! Contacts of particles with bodies, and the response of each body to all of its contacts together.

use super::rigid::{Impulse, Twist};
use crate::collider::{Colliders, GROUP, PosedCollider};
use glam::Vec3;
use rayon::prelude::*;
use std::ops::Range;

/// Contacts with bodies: a list for each task of particles, in the order of the particles.
pub type BodyContacts<C> = Vec<Vec<C>>;

/// Finds the contacts of `count` particles, `per_task` of them in a task. `search` appends those of a group of particles
/// that are close together.
pub fn find_contacts<C: Send>(
    contacts: &mut BodyContacts<C>,
    count: usize,
    per_task: usize,
    search: impl Fn(Range<usize>, &mut Vec<C>) + Sync,
) {
    contacts.resize_with(count.div_ceil(per_task), Vec::new);
    let tasks = contacts.par_iter_mut().enumerate();
    tasks.for_each(|(task, list)| {
        list.clear();
        let first = task * per_task;
        let end = (first + per_task).min(count);
        for first in (first..end).step_by(GROUP) {
            search(first..(first + GROUP).min(end), list);
        }
    });
}

/// Splits the contacts of one particle, for which `is_own` holds, off the front of those of its
/// task.
#[inline(always)]
pub fn take_own<'a, C>(rest: &mut &'a mut [C], is_own: impl Fn(&C) -> bool) -> &'a mut [C] {
    let count = rest.iter().take_while(|c| is_own(c)).count();
    let (own, others) = std::mem::take(rest).split_at_mut(count);
    *rest = others;
    own
}

/// Splits the mass of each free body among its contacts and moves it by the sum of their impulses.
#[derive(Debug, Default)]
pub struct Coupling {
    counts: Vec<u32>,
    impulses: Vec<Impulse>,
    responses: Vec<Twist>,
    has_free: bool,
}

impl Coupling {
    /// Counts the contacts of each of `count` bodies from the body of each contact, if any body is free. There may be more bodies than
    /// colliders.
    pub fn begin(
        &mut self,
        colliders: &Colliders,
        count: usize,
        bodies: impl Iterator<Item = u32>,
    ) {
        self.has_free = colliders.list.iter().any(|c| c.mass.is_some());
        self.counts.clear();
        self.counts.resize(count, 0);
        // Only the mass of free bodies is split.
        if self.has_free {
            for body in bodies {
                self.counts[body as usize] += 1;
            }
        }
        self.responses.clear();
        self.responses.resize(count, Twist::default());
    }

    /// Number of contacts of a body, if any body is free.
    pub fn count(&self, body: usize) -> f32 {
        self.counts[body] as f32
    }

    /// Whether particles can move any body.
    #[inline(always)]
    pub fn has_free(&self) -> bool {
        self.has_free
    }

    /// Response of each body to its contacts, about its center of mass.
    #[inline(always)]
    pub fn responses(&self) -> &[Twist] {
        &self.responses
    }

    /// Resets all responses to zero.
    pub fn clear(&mut self) {
        self.responses.fill(Twist::default());
    }

    /// Computes the response of each body to the sum of its impulses. `center` returns the
    /// center of mass, from the point about which the impulses are taken [m].
    pub fn respond(
        &mut self,
        colliders: &Colliders,
        center: impl Fn(&PosedCollider) -> Vec3,
        impulses: impl Iterator<Item = (u32, Impulse)>,
    ) {
        if !self.has_free {
            return;
        }
        self.impulses.clear();
        self.impulses
            .resize(self.responses.len(), Impulse::default());
        for (body, impulse) in impulses {
            self.impulses[body as usize] += impulse;
        }
        let bodies = self.responses.iter_mut().zip(&self.impulses);
        for ((response, impulse), collider) in bodies.zip(&colliders.list) {
            *response = collider.mass.map_or(Twist::default(), |mass| {
                mass.response(&impulse.about(center(collider)))
            });
        }
    }
}
