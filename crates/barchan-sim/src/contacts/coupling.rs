//! Contacts of particles with bodies, and how bodies respond to them together.

use super::rigid::{Impulse, Twist};
use crate::collider::{Colliders, PosedCollider};
use glam::Vec3;

/// Contacts with bodies: a list for each task of particles, in the order of the particles.
pub type BodyContacts<C> = Vec<Vec<C>>;

/// The contacts of a particle, for which `is_own` holds, taken from the front of those of its task.
#[inline(always)]
pub fn take_own<'a, C>(rest: &mut &'a mut [C], is_own: impl Fn(&C) -> bool) -> &'a mut [C] {
    let count = rest.iter().take_while(|c| is_own(c)).count();
    let (own, others) = std::mem::take(rest).split_at_mut(count);
    *rest = others;
    own
}

/// Bodies and all their contacts: a body of finite mass is split among them, and moves by the sum of what they give it.
#[derive(Debug, Default)]
pub struct Coupling {
    counts: Vec<u32>,
    given: Vec<Impulse>,
    gained: Vec<Twist>,
    has_free: bool,
}

impl Coupling {
    /// Counts the contacts of each of `count` bodies, which may be more than there are colliders, given the body of each contact.
    pub fn begin(
        &mut self,
        colliders: &Colliders,
        count: usize,
        bodies: impl Iterator<Item = u32>,
    ) {
        self.has_free = colliders.list.iter().any(|c| c.mass.is_some());
        self.counts.clear();
        self.counts.resize(count, 0);
        for body in bodies {
            self.counts[body as usize] += 1;
        }
        self.gained.clear();
        self.gained.resize(count, Twist::default());
    }

    /// Number of contacts that share a body.
    pub fn count(&self, body: usize) -> f32 {
        self.counts[body] as f32
    }

    /// Whether there are bodies that particles can move.
    #[inline(always)]
    pub fn has_free(&self) -> bool {
        self.has_free
    }

    /// What each body has gained from its contacts, about its center of mass.
    #[inline(always)]
    pub fn gained(&self) -> &[Twist] {
        &self.gained
    }

    /// Nothing is gained yet.
    pub fn clear(&mut self) {
        self.gained.fill(Twist::default());
    }

    /// Moves the bodies by the sum of the impulses on each, which are about a point from which `center` is the center of mass [m].
    pub fn respond(
        &mut self,
        colliders: &Colliders,
        center: impl Fn(&PosedCollider) -> Vec3,
        impulses: impl Iterator<Item = (u32, Impulse)>,
    ) {
        if !self.has_free {
            return;
        }
        self.given.clear();
        self.given.resize(self.gained.len(), Impulse::default());
        for (body, impulse) in impulses {
            self.given[body as usize] += impulse;
        }
        let bodies = self.gained.iter_mut().zip(&self.given);
        for ((gained, given), collider) in bodies.zip(&colliders.list) {
            *gained = match &collider.mass {
                Some(mass) => mass.response(&given.about(center(collider))),
                None => Twist::default(),
            };
        }
    }
}
