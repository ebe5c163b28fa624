//! Contacts of grains with colliders and rigid bodies, and what these get in return.

use super::contact::{self, Accumulated, Law};
use super::grains::Grains;
use super::params::GrainLaw;
use super::{GRAINS_PER_TASK, Step};
use crate::collider::{BodyImpulse, BodyImpulses, Colliders, PosedCollider};
use crate::terrain::Terrain;
use barchan_scene::Boundary;
use glam::{DVec3, Vec3, Vec4};
use rayon::prelude::*;

/// Displacement [m] that no force of a step overcomes.
const HELD: f32 = 1e6;

/// A grain at a collider.
#[derive(Debug, Clone, Copy)]
struct WallContact {
    grain: u32,
    body: u32,
    /// Out of the body.
    normal: Vec3,
    /// C_s [m] when nothing has moved.
    gap: f32,
    /// Where the body touches, from its centre of mass (its origin where it has no mass) [m].
    arm: Vec3,
    /// Displacement of the body there over the step, were there no grains [m].
    drive: Vec3,
    law: Law<f32>,
    reduced: f32,
    sum: Accumulated<f32>,
    /// Mass times displacement that the grain got in the whole step [kg m].
    given: Vec3,
}

impl WallContact {
    /// To be filled in.
    const NONE: Self = Self {
        grain: 0,
        body: 0,
        normal: Vec3::Y,
        gap: 0.0,
        arm: Vec3::ZERO,
        drive: Vec3::ZERO,
        law: Law {
            keep: 0.0,
            spring: 0.0,
            damper: 0.0,
            static_friction: 0.0,
            kinetic_friction: 0.0,
            adhesion: 0.0,
        },
        reduced: 0.0,
        sum: Accumulated {
            normal: 0.0,
            adhesion: 0.0,
            tangent: [0.0; 3],
        },
        given: Vec3::ZERO,
    };
}

/// How far grains have pushed a body in this step.
#[derive(Debug, Clone, Copy, Default)]
struct Pushed {
    /// Displacement [m].
    shift: DVec3,
    /// Rotation [rad].
    turn: DVec3,
}

/// All contacts with colliders.
#[derive(Debug, Default)]
pub(super) struct Walls {
    /// By task of grains, in the order of the grains.
    lists: Vec<Vec<WallContact>>,
    tasks: usize,
    /// Contacts of each body.
    counts: Vec<u32>,
    pushed: Vec<Pushed>,
}

impl Walls {
    /// Finds the grains whose predicted positions touch a collider where it will be, or stick to it where it is.
    /// The terrain stands after the colliders.
    pub fn find(
        &mut self,
        step: &Step,
        grains: &Grains,
        moved: &[Vec4],
        colliders: &Colliders,
        terrain: Option<&Terrain>,
    ) {
        self.tasks = grains.len().div_ceil(GRAINS_PER_TASK);
        if self.lists.len() < self.tasks {
            self.lists.resize_with(self.tasks, Vec::new);
        }
        self.lists[..self.tasks]
            .par_iter_mut()
            .enumerate()
            .for_each(|(task, list)| {
                list.clear();
                let first = task * GRAINS_PER_TASK;
                for grain in first..(first + GRAINS_PER_TASK).min(grains.len()) {
                    for (body, collider) in colliders.list.iter().enumerate() {
                        let found = touch(step, grains, moved, grain, collider);
                        list.extend(found.map(|contact| WallContact {
                            body: body as u32,
                            ..contact
                        }));
                    }
                    let ground = terrain.and_then(|t| stand(grains, moved, grain, t));
                    list.extend(ground.map(|contact| WallContact {
                        body: colliders.list.len() as u32,
                        ..contact
                    }));
                }
            });
        self.counts.clear();
        self.counts.resize(colliders.list.len() + 1, 0);
        for contact in self.lists[..self.tasks].iter().flatten() {
            self.counts[contact.body as usize] += 1;
        }
        self.pushed.clear();
        self.pushed
            .resize(colliders.list.len() + 1, Pushed::default());
    }

    /// Adds the contacts with colliders to those of each grain.
    pub fn count_into(&self, contacts: &mut [u32]) {
        for contact in self.lists[..self.tasks].iter().flatten() {
            contacts[contact.grain as usize] += 1;
        }
    }

    /// Works out what stays the same in all passes. A body that can move is split among its contacts.
    pub fn prepare(
        &mut self,
        step: &Step,
        grains: &Grains,
        laws: &[GrainLaw],
        weights: &[f32],
        colliders: &Colliders,
    ) {
        let counts = &self.counts;
        self.lists[..self.tasks].par_iter_mut().for_each(|list| {
            for contact in list {
                let (grain, body) = (contact.grain as usize, contact.body as usize);
                let collider = colliders.list.get(body);
                let touch = &laws[usize::from(grains.material[grain])].touch;
                let share = counts[body] as f32;
                let own = collider.map_or(0.0, |c| body_weight(c, contact.arm));
                let w = weights[grain] + share * own;
                contact.reduced = 1.0 / w;
                let factors = step.factors(touch.stiffness, touch.damping, f64::from(w));
                let radius = f64::from(grains.radius[grain]);
                let depth = -f64::from(contact.gap);
                let dt = f64::from(step.dt);
                let stick = dt * dt * f64::from(w) * touch.adhesive_force(depth, radius);
                let own = [touch.static_friction, touch.kinetic_friction].map(|f| f as f32);
                let (friction, adhesion) = match collider.map(|c| (c.boundary, c.friction)) {
                    Some((Boundary::Sticky, friction)) => ([friction; 2], HELD),
                    Some((_, friction)) => ([friction; 2], stick as f32),
                    // Grains on the terrain: soil on soil.
                    None => (own, stick as f32),
                };
                contact.law = Law {
                    keep: factors.keep,
                    spring: factors.spring,
                    damper: factors.damper,
                    static_friction: friction[0],
                    kinetic_friction: friction[1],
                    adhesion,
                };
            }
        });
    }

    /// Runs `grain` over all grains in tasks, each with the corrections [kg m] of its contacts with colliders: `grain`
    /// gets its number, its displacement and a function that gives those corrections, and returns the part of them that
    /// it takes.
    pub fn correct(
        &mut self,
        step: &Step,
        moved: &mut [Vec4],
        take: impl Fn(usize, Vec3, &mut dyn FnMut(f32) -> Vec3) -> Vec3 + Sync,
    ) {
        let pushed = &self.pushed;
        let lists = self.lists[..self.tasks].par_iter_mut();
        lists
            .zip(moved.par_chunks_mut(GRAINS_PER_TASK))
            .enumerate()
            .for_each(|(task, (list, moved))| {
                let mut at = 0;
                for (k, d) in moved.iter_mut().enumerate() {
                    let grain = task * GRAINS_PER_TASK + k;
                    let begin = at;
                    while at < list.len() && list[at].grain as usize == grain {
                        at += 1;
                    }
                    let own = &mut list[begin..at];
                    let now = d.truncate();
                    let mut walls = |part: f32| {
                        let mut sum = Vec3::ZERO;
                        for contact in own.iter_mut() {
                            let given = part * correct_one(step, contact, now, pushed);
                            contact.given += given;
                            sum += given;
                        }
                        sum
                    };
                    *d += take(grain, now, &mut walls).extend(0.0);
                }
            });
    }

    /// Moves the bodies that have mass by what all passes so far gave the grains.
    pub fn push_bodies(&mut self, colliders: &Colliders) {
        let has_mass = |c: &PosedCollider| c.mass.is_some();
        if !colliders.list.iter().any(has_mass) {
            return;
        }
        self.pushed.fill(Pushed::default());
        for contact in self.lists[..self.tasks].iter().flatten() {
            let collider = colliders.list.get(contact.body as usize);
            if !collider.is_some_and(has_mass) {
                continue;
            }
            let given = -contact.given.as_dvec3();
            let pushed = &mut self.pushed[contact.body as usize];
            pushed.shift += given;
            pushed.turn += contact.arm.as_dvec3().cross(given);
        }
        for (pushed, collider) in self.pushed.iter_mut().zip(&colliders.list) {
            if let Some(mass) = &collider.mass {
                pushed.shift *= f64::from(mass.inverse_mass);
                pushed.turn = mass.inverse_inertia.as_dmat3() * pushed.turn;
            }
        }
    }

    /// Hands the bodies what the grains did not keep.
    pub fn answer(&self, dt: f32, colliders: &Colliders, impulses: &mut BodyImpulses) {
        for contact in self.lists[..self.tasks].iter().flatten() {
            let body = contact.body as usize;
            // The terrain keeps what it gets.
            let Some(collider) = colliders.list.get(body) else {
                continue;
            };
            let linear = contact.given.as_dvec3() / -f64::from(dt);
            let arm = contact.arm + centre_of(collider) - collider.pose.position;
            impulses.bodies[body] += BodyImpulse {
                linear,
                angular: arm.as_dvec3().cross(linear),
            };
        }
    }
}

/// Centre of mass [m], or the origin of a body without mass.
fn centre_of(collider: &PosedCollider) -> Vec3 {
    match &collider.mass {
        Some(mass) => mass.centre,
        None => collider.pose.position,
    }
}

/// Upper bound of the inverse mass that a push at `arm` feels, in any direction [1/kg].
fn body_weight(collider: &PosedCollider, arm: Vec3) -> f32 {
    let Some(mass) = &collider.mass else {
        return 0.0;
    };
    let turned = |direction: Vec3| {
        let lever = arm.cross(direction);
        lever.dot(mass.inverse_inertia * lever)
    };
    mass.inverse_mass + turned(Vec3::X) + turned(Vec3::Y) + turned(Vec3::Z)
}

/// The contact of a grain with a collider, if they touch.
fn touch(
    step: &Step,
    grains: &Grains,
    moved: &[Vec4],
    grain: usize,
    collider: &PosedCollider,
) -> Option<WallContact> {
    let (x, radius) = (grains.position[grain], grains.radius[grain]);
    let d = moved[grain].truncate();
    if !collider.may_touch(
        x,
        radius + d.length() + step.dt * collider.velocity_at(x).length(),
    ) {
        return None;
    }
    // The body stays and the grain moves as seen from it.
    let drive = step.dt * collider.velocity_at(x);
    let seen = x + d - drive;
    let distance = collider.distance(seen);
    let touches = distance <= radius;
    if !touches && collider.distance(x) > radius {
        return None;
    }
    let normal = collider.normal(seen);
    let surface = x - normal * collider.distance(x).max(0.0);
    Some(WallContact {
        grain: grain as u32,
        normal,
        gap: distance - radius - normal.dot(d - drive),
        arm: surface - centre_of(collider),
        drive,
        ..WallContact::NONE
    })
}

/// The contact of a grain with the terrain, if they touch.
fn stand(grains: &Grains, moved: &[Vec4], grain: usize, terrain: &Terrain) -> Option<WallContact> {
    let (x, radius) = (grains.position[grain], grains.radius[grain]);
    let d = moved[grain].truncate();
    let distance = terrain.distance(x + d);
    if distance > radius && terrain.distance(x) > radius {
        return None;
    }
    let normal = terrain.normal(x + d);
    Some(WallContact {
        grain: grain as u32,
        gap: distance - radius - normal.dot(d),
        normal,
        ..WallContact::NONE
    })
}

/// One pass over a contact: mass times displacement for the grain [kg m].
fn correct_one(step: &Step, contact: &mut WallContact, moved: Vec3, pushed: &[Pushed]) -> Vec3 {
    let body = &pushed[contact.body as usize];
    let shift = body.shift + body.turn.cross(contact.arm.as_dvec3());
    let relative = moved - contact.drive - shift.as_vec3();
    let gap = contact.gap + contact.normal.dot(relative);
    let normal = contact.normal.to_array();
    let moved = relative.to_array();
    let sum = &mut contact.sum;
    let move_by = match step.is_macklin {
        false => contact::project(&contact.law, normal, gap, moved, sum),
        true => contact::project_macklin(&contact.law, normal, gap, moved, sum),
    };
    let weight = 1.0 - step.reduction.dot(contact.normal);
    contact.reduced * weight * Vec3::from_array(move_by)
}
