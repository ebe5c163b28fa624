//! Contacts of grains with colliders, rigid bodies and terrain, and the reactions on the bodies.

use super::contact::{self, Accumulated, Law};
use super::grains::Grains;
use super::{GRAINS_PER_TASK, Motion, Preparation, Step};
use crate::collider::{BodyImpulses, Colliders, NearBodies, PosedCollider};
use crate::contacts::rigid::{Impulse, Twist};
use crate::contacts::{BodyContacts, ContactCache, Coupling, find_contacts, take_own};
use crate::terrain::Terrain;
use barchan_scene::{Boundary, Bounds, PbdScheme};
use glam::Vec3;
use rayon::prelude::*;
use std::ops::Range;

/// Adhesion of sticky boundaries [m]: larger than any displacement in a step.
const UNBREAKABLE: f32 = 1e6;

/// Penetration of the terrain beyond which the contact force no longer increases [radii]: a grain under a body sinks in.
const MAX_TERRAIN_PENETRATION: f32 = 0.25;

/// A contact of a grain with a body or the terrain.
#[derive(Debug, Clone, Copy, Default)]
struct WallContact {
    grain: u32,
    body: u32,
    /// Outward normal of the body.
    normal: Vec3,
    /// Gap C_s at zero displacement [m].
    gap: f32,
    /// Whether the gap was closed when the substep began.
    active: bool,
    /// Contact point from the body's center of mass (from its origin if it has no mass) [m].
    arm: Vec3,
    /// Displacement of the body at the contact in the last substep, without grains [m].
    body_displacement: Vec3,
    /// Gain of that displacement over the step by gravity and other forces [m]: free bodies fall in substeps, as grains do.
    displacement_gain: Vec3,
    law: Law<f32>,
    /// Inverse of the sum of the inverse masses [kg].
    reduced_mass: f32,
    sum: Accumulated<f32>,
    /// Correction of the grain in this substep, as mass times displacement [kg m].
    correction: Vec3,
    /// Sum of the corrections in the completed substeps [kg m].
    total: Vec3,
}

impl WallContact {
    /// The accumulated correction as mass times displacement [kg m].
    fn force(&self) -> Vec3 {
        let displacement = self.sum.normal * self.normal + Vec3::from_array(self.sum.tangent);
        self.reduced_mass * displacement
    }
}

/// Response of a body to the grains since the step began.
#[derive(Debug, Clone, Copy, Default)]
struct BodyResponse {
    /// Displacement in the completed substeps.
    displacement: Twist,
    /// Velocity at the beginning of the substep, as displacement over a substep.
    velocity: Twist,
}

/// The contacts of one grain with bodies.
pub(super) struct GrainContacts<'a> {
    step: &'a Step,
    contacts: &'a mut [WallContact],
    responses: &'a [BodyResponse],
    /// Response in this substep.
    changes: &'a [Twist],
}

impl GrainContacts<'_> {
    /// One iteration: sum of the corrections by the contacts, each times `part` [kg m]. `mass` is
    /// that of the grain [kg].
    pub fn correct(&mut self, iteration: u32, part: f32, motion: &Motion, mass: f32) -> Vec3 {
        let is_sequential = self.step.spec.scheme == PbdScheme::GaussSeidel;
        let (mut sum, mut motion) = (Vec3::ZERO, *motion);
        for contact in self.contacts.iter_mut() {
            let body = contact.body as usize;
            let body = (&self.responses[body], self.changes[body]);
            let correction = part * correct_one(self.step, contact, iteration, &motion, body);
            contact.correction += correction;
            sum += correction;
            if is_sequential {
                motion.displacement += (correction / mass).extend(0.0);
            }
        }
        sum
    }

    /// Ends a substep and warm-starts the next one; returns the sum of the forces [kg m].
    pub fn next_substep(&mut self) -> Vec3 {
        for contact in self.contacts.iter_mut() {
            contact.total += std::mem::take(&mut contact.correction);
        }
        self.warm_start()
    }

    /// Warm-starts a substep with the forces of the one before; returns their sum [kg m].
    pub fn warm_start(&mut self) -> Vec3 {
        let mut sum = Vec3::ZERO;
        for contact in self.contacts.iter_mut() {
            let force = contact.force();
            contact.correction += force;
            sum += force;
        }
        sum
    }
}

/// All contacts with bodies. The terrain is the body after the last collider.
#[derive(Debug, Default)]
pub(super) struct Walls {
    contacts: BodyContacts<WallContact>,
    coupling: Coupling,
    responses: Vec<BodyResponse>,
    pub cache: ContactCache,
}

impl Walls {
    /// Finds grains that touch a body at the predicted positions of both, or at the present ones.
    pub fn find(&mut self, search: &Search<'_>) {
        let (contacts, grains) = (&mut self.contacts, search.grains.len());
        find_contacts(contacts, grains, GRAINS_PER_TASK, |group, list| {
            search.group(group, list);
        });
        let bodies = search.colliders.list.len() + 1;
        let touched = self.contacts.iter().flatten().map(|c| c.body);
        self.coupling.begin(search.colliders, bodies, touched);
        self.responses.clear();
        self.responses.resize(bodies, BodyResponse::default());
    }

    /// Adds the contacts with bodies to the count of each grain.
    pub fn count_into(&self, contacts: &mut [u32]) {
        for contact in self.contacts.iter().flatten() {
            contacts[contact.grain as usize] += 1;
        }
    }

    /// Computes the constants of all contacts for the iterations, and warm-starts each contact with its force in the last step. The
    /// mass of a free body is split among its contacts.
    pub fn prepare(&mut self, preparation: &Preparation<'_>, colliders: &Colliders) {
        let Preparation {
            step,
            grains,
            laws,
            inverse_masses,
            scale,
            ..
        } = *preparation;
        let (coupling, cache) = (&self.coupling, &self.cache);
        let contacts = self.contacts.par_iter_mut().flatten();
        contacts.for_each(|contact| {
            let (grain, body) = (contact.grain as usize, contact.body as usize);
            let collider = colliders.list.get(body);
            let own = &laws[usize::from(grains.material[grain])].contact;
            let mass = collider.and_then(|c| c.mass.as_ref());
            let share = coupling.count(body);
            let body_w = mass.map_or(0.0, |mass| mass.inverse_mass_bound(contact.arm));
            let w = inverse_masses[grain] + share * body_w;
            contact.reduced_mass = 1.0 / w;
            let unsplit = f64::from(1.0 / grains.mass[grain] + body_w);
            let [retention, spring, damper] = step.factors(own, unsplit, f64::from(w));
            let radius = f64::from(grains.radius[grain]);
            let depth = -f64::from(contact.gap);
            let dt = f64::from(step.dt);
            let adhesion = (dt * dt * f64::from(w) * own.adhesive_force(depth, radius)) as f32;
            let soil = [own.static_friction, own.kinetic_friction].map(|f| f as f32);
            let ([static_friction, kinetic_friction], adhesion) =
                match collider.map(|c| (c.boundary, c.friction)) {
                    Some((Boundary::Sticky, friction)) => ([friction; 2], UNBREAKABLE),
                    Some((_, friction)) => ([friction; 2], adhesion),
                    // Terrain: soil on soil.
                    None => (soil, adhesion),
                };
            contact.law = Law {
                retention,
                spring,
                damper,
                static_friction,
                kinetic_friction,
                adhesion,
                max_separation: step.max_separation,
            };
            if let Some(force) = cache.find(grains.cache_row[grain], contact.body) {
                let all = scale * force / contact.reduced_mass;
                let along = all.dot(contact.normal);
                contact.sum.normal = along.max(0.0);
                contact.sum.tangent = (all - along * contact.normal).to_array();
            }
        });
    }

    /// Stores the contact forces for the next step.
    pub fn store_forces(&mut self, grains: usize) {
        let contacts = self.contacts.iter().flatten();
        self.cache
            .store(grains, contacts.map(|c| (c.grain, c.body, c.force())));
    }

    /// Calls `update` for every grain, in parallel tasks, with its index, motion, sum of pair corrections and contacts
    /// with bodies.
    pub fn for_grains(
        &mut self,
        step: &Step,
        motion: &mut [Motion],
        pair_sums: &mut [Vec3],
        update: impl Fn(usize, &mut Motion, &mut Vec3, &mut GrainContacts<'_>) + Sync,
    ) {
        let (responses, changes) = (&self.responses, self.coupling.responses());
        let motion = motion.par_chunks_mut(GRAINS_PER_TASK);
        let pair_sums = pair_sums.par_chunks_mut(GRAINS_PER_TASK);
        let tasks = (&mut self.contacts, motion, pair_sums).into_par_iter();
        tasks
            .enumerate()
            .for_each(|(task, (list, motion, pair_sums))| {
                let mut rest = &mut list[..];
                let grains = motion.iter_mut().zip(pair_sums);
                for (grain, (motion, pair_sum)) in (task * GRAINS_PER_TASK..).zip(grains) {
                    let mut contacts = GrainContacts {
                        step,
                        contacts: take_own(&mut rest, |c| c.grain as usize == grain),
                        responses,
                        changes,
                    };
                    update(grain, motion, pair_sum, &mut contacts);
                }
            });
    }

    /// Moves the free bodies by the corrections of this substep.
    pub fn move_bodies(&mut self, colliders: &Colliders) {
        let contacts = self.contacts.iter().flatten();
        let impulses = contacts.map(|c| (c.body, Impulse::at(c.arm, -c.correction.as_dvec3())));
        // Arms are from the center of mass.
        self.coupling.respond(colliders, |_| Vec3::ZERO, impulses);
    }

    /// Completes a substep: bodies keep the velocity that they gained.
    pub fn end_substep(&mut self) {
        for (body, change) in self.responses.iter_mut().zip(self.coupling.responses()) {
            body.velocity = body.velocity + *change;
            body.displacement = body.displacement + body.velocity;
        }
        self.coupling.clear();
        let contacts = self.contacts.par_iter_mut().flatten();
        contacts.for_each(|c| c.total += std::mem::take(&mut c.correction));
    }

    /// Adds the reactions of the step to the impulses on the bodies.
    pub fn add_reactions(&self, dt: f32, colliders: &Colliders, impulses: &mut BodyImpulses) {
        for contact in self.contacts.iter().flatten() {
            // The terrain is not a collider.
            let body = contact.body as usize;
            if let Some(collider) = colliders.list.get(body) {
                let linear = contact.total.as_dvec3() / -f64::from(dt);
                let arm = contact.arm + collider.center() - collider.pose.position;
                impulses.bodies[body] += Impulse::at(arm, linear);
            }
        }
    }
}

/// Input of the search for contacts.
pub(super) struct Search<'a> {
    pub step: &'a Step,
    pub grains: &'a Grains,
    pub motion: &'a [Motion],
    pub colliders: &'a Colliders,
    pub terrain: Option<&'a Terrain>,
}

impl Search<'_> {
    /// Contacts of a group of grains that are close together.
    fn group(&self, grains: Range<usize>, list: &mut Vec<WallContact>) {
        let positions = &self.grains.position[grains.clone()];
        let region = Bounds::from_points(positions.iter().copied());
        let mut reach = 0.0f32;
        for grain in grains.clone() {
            let displacement = self.motion[grain].displacement.truncate();
            let travel = displacement.abs().element_sum();
            reach = reach.max(self.grains.radius[grain] + self.step.margin + travel);
        }
        let near = NearBodies::select(self.colliders, |collider| {
            // The sum of the absolute values of three components is up to √3 times their length.
            let body_displacement = 1.733 * self.step.full_dt * collider.speed_within(&region);
            collider.may_reach(&region, reach + body_displacement)
        });
        for grain in grains {
            for (body, collider) in near.of(self.colliders) {
                list.extend(self.with_collider(grain, body, collider));
            }
            list.extend((self.terrain).and_then(|terrain| self.with_terrain(grain, terrain)));
        }
    }

    /// Contact of a grain with a collider, if any.
    fn with_collider(
        &self,
        grain: usize,
        body: usize,
        collider: &PosedCollider,
    ) -> Option<WallContact> {
        let (step, grains, motion) = (self.step, self.grains, self.motion);
        let (x, radius) = (grains.position[grain], grains.radius[grain]);
        let d = motion[grain].displacement.truncate();
        let reach = radius + step.margin;
        let body_displacement = match collider.is_still() {
            true => Vec3::ZERO,
            false => step.full_dt * collider.velocity_at(x),
        };
        // The sum of absolute values is a cheap upper bound of the length.
        let travel = (d.abs() + body_displacement.abs()).element_sum();
        if !collider.may_touch(x, reach + travel) {
            return None;
        }
        // Relative to the moving body.
        let relative = x + d - body_displacement;
        let distance = collider.distance(relative);
        if distance > reach && collider.distance(x) > reach {
            return None;
        }
        let normal = collider.normal(relative);
        let surface = x - normal * collider.distance(x).max(0.0);
        Some(WallContact {
            grain: grain as u32,
            body: body as u32,
            normal,
            gap: distance - radius - normal.dot(d - body_displacement),
            active: distance <= radius,
            arm: surface - collider.center(),
            body_displacement: body_displacement * (step.dt / step.full_dt),
            displacement_gain: step.dt * collider.mass.map_or(Vec3::ZERO, |m| m.gain_at(x)),
            ..WallContact::default()
        })
    }

    /// Contact of a grain with the terrain, if any.
    fn with_terrain(&self, grain: usize, terrain: &Terrain) -> Option<WallContact> {
        let (step, grains, motion) = (self.step, self.grains, self.motion);
        let (x, radius) = (grains.position[grain], grains.radius[grain]);
        let d = motion[grain].displacement.truncate();
        let distance = terrain.field().distance(x + d);
        let reach = radius + step.margin;
        if distance > reach && terrain.field().distance(x) > reach {
            return None;
        }
        let normal = terrain.field().normal(x + d);
        let gap = distance - radius - normal.dot(d);
        Some(WallContact {
            grain: grain as u32,
            body: self.colliders.list.len() as u32,
            normal,
            gap: gap.max(-MAX_TERRAIN_PENETRATION * radius),
            active: distance <= radius,
            ..WallContact::default()
        })
    }
}

/// One iteration of a contact: correction of the grain as mass times displacement [kg m].
fn correct_one(
    step: &Step,
    contact: &mut WallContact,
    iteration: u32,
    motion: &Motion,
    (body, change): (&BodyResponse, Twist),
) -> Vec3 {
    let arm = contact.arm;
    let driven = step.completed_substeps * contact.body_displacement
        - step.remaining_gain_sum * contact.displacement_gain;
    let before = motion.total.truncate() - driven - body.displacement.at(arm);
    let response = (body.velocity + change).at(arm);
    let body_displacement =
        contact.body_displacement - step.remaining_gain * contact.displacement_gain;
    let displacement = motion.displacement.truncate() - body_displacement - response;
    let gap = contact.gap + contact.normal.dot(before + displacement);
    let sum = &mut contact.sum;
    if iteration == 0 {
        contact.active = gap <= 0.0;
        sum.adhesion = 0.0;
    }
    let mut law = contact.law;
    if !contact.active {
        // An open contact only gives back accumulated correction, as much as closes its gap.
        (law.retention, law.spring, law.damper) = (1.0, 1.0, 0.0);
    }
    let normal = contact.normal.to_array();
    let change = contact::project(
        step.spec.friction,
        &law,
        normal,
        gap,
        displacement.to_array(),
        sum,
    );
    let weight = match step.spec.scheme {
        PbdScheme::GaussSeidel => (1.0 - step.reduction.dot(contact.normal)).min(1.0),
        _ => 1.0 - step.reduction.dot(contact.normal),
    };
    contact.reduced_mass * weight * Vec3::from_array(change)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collider::tests::bodies;
    use crate::sampling::random::Random;
    use barchan_scene::{Dimensions, PbdSpec, SolverSettings};
    use glam::Vec4;

    /// Grains about the origin, sorted along x, with random displacements.
    fn scattered(count: usize) -> (Grains, Vec<Motion>) {
        let mut random = Random::new(3);
        let mut vector = || Vec3::from_array(std::array::from_fn(|_| 2.0 * random.unit() - 1.0));
        let mut grains = Grains {
            position: (0..count).map(|_| vector()).collect(),
            ..Grains::default()
        };
        grains.position.sort_by(|a, b| a.x.total_cmp(&b.x));
        grains.complete();
        grains.radius.fill(0.01);
        let motion = (0..count).map(|_| Motion {
            total: Vec4::ZERO,
            displacement: (0.02 * vector()).extend(0.0),
        });
        (grains, motion.collect())
    }

    #[test]
    fn the_search_finds_the_contacts_of_the_direct_search() {
        let (grains, motion) = scattered(3000);
        let step = Step {
            full_dt: 0.01,
            dt: 0.01,
            free_fall: Vec3::ZERO,
            completed_substeps: 0.0,
            remaining_gain: 0.0,
            remaining_gain_sum: 0.0,
            spec: PbdSpec::defaults(0.02, Dimensions::Three),
            reduction: Vec3::ZERO,
            max_separation: 1.0,
            margin: 1e-3,
        };
        let colliders = bodies(60);
        let search = Search {
            step: &step,
            grains: &grains,
            motion: &motion,
            colliders: &colliders,
            terrain: None,
        };
        let mut walls = Walls::default();
        walls.find(&search);
        let key = |c: &WallContact| (c.grain, c.body, c.gap, c.normal);
        let found: Vec<_> = walls.contacts.iter().flatten().map(key).collect();
        let bodies = || colliders.list.iter().enumerate();
        let direct = (0..grains.len()).flat_map(|i| bodies().map(move |(b, c)| (i, b, c)));
        let direct = direct.filter_map(|(i, b, c)| search.with_collider(i, b, c));
        let direct: Vec<_> = direct.map(|c| key(&c)).collect();
        assert!(found.len() > 1000, "{}", found.len());
        assert_eq!(found, direct);
    }
}
