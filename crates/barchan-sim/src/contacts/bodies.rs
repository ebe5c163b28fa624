//! Contacts of particles with bodies, and how bodies respond to them together.

use super::rigid::{Impulse, Twist};
use crate::collider::{Colliders, PosedCollider};
use glam::Vec3;

/// The contact of a particle with a body.
pub trait BodyContact {
    /// The particle.
    fn particle(&self) -> usize;
    /// The body, by its place among the colliders.
    fn body(&self) -> usize;
}

/// Contacts with bodies: a list for each task of particles, in the order of the particles.
#[derive(Debug)]
pub struct BodyContacts<C> {
    lists: Vec<Vec<C>>,
    tasks: usize,
}

impl<C> Default for BodyContacts<C> {
    fn default() -> Self {
        Self {
            lists: Vec::new(),
            tasks: 0,
        }
    }
}

impl<C: BodyContact> BodyContacts<C> {
    /// As many empty lists.
    pub fn renew(&mut self, tasks: usize) -> &mut [Vec<C>] {
        self.tasks = tasks;
        if self.lists.len() < tasks {
            self.lists.resize_with(tasks, Vec::new);
        }
        self.lists.iter_mut().for_each(Vec::clear);
        &mut self.lists[..tasks]
    }

    /// Contacts of the particles of each task.
    pub fn lists(&self) -> &[Vec<C>] {
        &self.lists[..self.tasks]
    }

    /// The same, to be changed.
    pub fn lists_mut(&mut self) -> &mut [Vec<C>] {
        &mut self.lists[..self.tasks]
    }

    /// All contacts, in order.
    pub fn iter(&self) -> impl Iterator<Item = &C> {
        self.lists().iter().flatten()
    }
}

/// The contacts of a particle, taken from the front of those of its task.
#[inline(always)]
pub fn take_own<'a, C: BodyContact>(rest: &mut &'a mut [C], particle: usize) -> &'a mut [C] {
    let own = rest.iter().take_while(|c| c.particle() == particle);
    let count = own.count();
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
    /// Counts the contacts of each of `bodies` bodies, which may be more than there are colliders.
    pub fn begin<C: BodyContact>(
        &mut self,
        contacts: &BodyContacts<C>,
        colliders: &Colliders,
        bodies: usize,
    ) {
        self.has_free = colliders.list.iter().any(|c| c.mass.is_some());
        self.counts.clear();
        self.counts.resize(bodies, 0);
        for contact in contacts.iter() {
            self.counts[contact.body()] += 1;
        }
        self.gained.clear();
        self.gained.resize(bodies, Twist::default());
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
        impulses: impl Iterator<Item = (usize, Impulse)>,
    ) {
        if !self.has_free {
            return;
        }
        self.given.clear();
        self.given.resize(self.gained.len(), Impulse::default());
        for (body, impulse) in impulses {
            self.given[body] += impulse;
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
