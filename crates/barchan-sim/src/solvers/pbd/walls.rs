//! Contacts of grains with colliders and rigid bodies, and what these get in return.

use super::contact::{self, Accumulated, Law};
use super::grains::Grains;
use super::params::GrainLaw;
use super::{GRAINS_PER_TASK, Motion, Step};
use crate::collider::{BodyImpulses, Colliders, GROUP, NearBodies, PosedCollider};
use crate::contacts::rigid::{Impulse, Twist};
use crate::contacts::{BodyContacts, Coupling, Memory, take_own};
use crate::terrain::Terrain;
use barchan_scene::{Boundary, Bounds, PbdScheme};
use glam::Vec3;
use rayon::prelude::*;
use std::ops::Range;

/// Displacement [m] that no force of a step overcomes.
const HELD: f32 = 1e6;

/// Depth in the terrain, in radii, from which on it pushes no harder: a grain that a body presses into it goes in.
const YIELD: f32 = 0.25;

/// A grain at a collider.
#[derive(Debug, Clone, Copy, Default)]
struct WallContact {
    grain: u32,
    body: u32,
    /// Out of the body.
    normal: Vec3,
    /// C_s [m] when nothing has moved.
    gap: f32,
    /// Whether they touched when the substep began.
    touches: bool,
    /// Where the body touches, from its center of mass (its origin where it has no mass) [m].
    arm: Vec3,
    /// Displacement of the body there over the last substep, were there no grains [m].
    drive: Vec3,
    /// How much more that is than its speed at the beginning of the step would give: a body falls as the grains do, in substeps.
    gain: Vec3,
    law: Law<f32>,
    reduced: f32,
    sum: Accumulated<f32>,
    /// Mass times displacement that the grain got in this substep [kg m].
    given: Vec3,
    /// The same of all substeps before.
    total: Vec3,
}

/// How far grains have pushed a body since the step began.
#[derive(Debug, Clone, Copy, Default)]
struct Pushed {
    /// When the substep began.
    before: Twist,
    /// Speed that they had given it by then, as displacement over a substep.
    speed: Twist,
}

/// The contacts of one grain with colliders.
pub(super) struct OwnWalls<'a> {
    step: &'a Step,
    own: &'a mut [WallContact],
    pushed: &'a [Pushed],
    gained: &'a [Twist],
}

impl OwnWalls<'_> {
    /// One pass over them: mass times displacement that the grain of that mass [kg] gets [kg m]; it takes `part` of it.
    pub fn correct(&mut self, pass: u32, part: f32, motion: &Motion, mass: f32) -> Vec3 {
        let in_turn = self.step.scheme == PbdScheme::GaussSeidel;
        let (mut sum, mut motion) = (Vec3::ZERO, *motion);
        for contact in self.own.iter_mut() {
            let body = contact.body as usize;
            let body = (&self.pushed[body], self.gained[body]);
            let given = part * correct_one(self.step, contact, pass, &motion, body);
            contact.given += given;
            sum += given;
            if in_turn {
                motion.moved += (given / mass).extend(0.0);
            }
        }
        sum
    }

    /// Ends a substep and begins the next one with its forces [kg m].
    pub fn go_on(&mut self) -> Vec3 {
        for contact in self.own.iter_mut() {
            contact.total += std::mem::take(&mut contact.given);
        }
        self.begin()
    }

    /// Begins a substep with the forces of the one before [kg m].
    pub fn begin(&mut self) -> Vec3 {
        let mut sum = Vec3::ZERO;
        for contact in self.own.iter_mut() {
            let own = &contact.sum;
            let all = own.normal * contact.normal + Vec3::from_array(own.tangent);
            let given = contact.reduced * all;
            contact.given += given;
            sum += given;
        }
        sum
    }
}

/// All contacts with colliders. The terrain stands after the colliders.
#[derive(Debug, Default)]
pub(super) struct Walls {
    contacts: BodyContacts<WallContact>,
    coupling: Coupling,
    pushed: Vec<Pushed>,
    pub memory: Memory,
}

impl Walls {
    /// Finds the grains whose predicted positions touch a collider where it will be, or stick to it where it is.
    pub fn find(
        &mut self,
        step: &Step,
        grains: &Grains,
        motion: &[Motion],
        colliders: &Colliders,
        terrain: Option<&Terrain>,
    ) {
        let search = Search {
            step,
            grains,
            motion,
            colliders,
            terrain,
        };
        let tasks = grains.len().div_ceil(GRAINS_PER_TASK);
        self.contacts.resize_with(tasks, Vec::new);
        let lists = self.contacts.par_iter_mut();
        lists.enumerate().for_each(|(task, list)| {
            list.clear();
            let first = task * GRAINS_PER_TASK;
            let end = (first + GRAINS_PER_TASK).min(grains.len());
            for first in (first..end).step_by(GROUP) {
                search.group(first..(first + GROUP).min(end), list);
            }
        });
        let bodies = colliders.list.len() + 1;
        let touched = self.contacts.iter().flatten().map(|c| c.body);
        self.coupling.begin(colliders, bodies, touched);
        self.pushed.clear();
        self.pushed.resize(bodies, Pushed::default());
    }

    /// Adds the contacts with colliders to those of each grain.
    pub fn count_into(&self, contacts: &mut [u32]) {
        for contact in self.contacts.iter().flatten() {
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
        let coupling = &self.coupling;
        self.contacts.par_iter_mut().for_each(|list| {
            for contact in list {
                let (grain, body) = (contact.grain as usize, contact.body as usize);
                let collider = colliders.list.get(body);
                let touch = &laws[usize::from(grains.material[grain])].touch;
                let mass = collider.and_then(|c| c.mass.as_ref());
                let share = coupling.count(body);
                let body = mass.map_or(0.0, |mass| mass.inverse_mass_bound(contact.arm));
                let w = weights[grain] + share * body;
                contact.reduced = 1.0 / w;
                let free = f64::from(1.0 / grains.mass[grain] + body);
                let factors = step.factors(touch.stiffness, touch.damping, free, f64::from(w));
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
                    parting: step.parting,
                };
            }
        });
    }

    /// Begins every contact with its force in the last step, times `scale`.
    pub fn begin(&mut self, scale: f32, rows: &[u32]) {
        let memory = &self.memory;
        self.contacts.par_iter_mut().for_each(|list| {
            for contact in list {
                if let Some(force) = memory.find(rows[contact.grain as usize], contact.body) {
                    let all = scale * force / contact.reduced;
                    let push = all.dot(contact.normal);
                    contact.sum.normal = push.max(0.0);
                    contact.sum.tangent = (all - push * contact.normal).to_array();
                }
            }
        });
    }

    /// Keeps the forces of the contacts for the next step.
    pub fn remember(&mut self, grains: usize) {
        let contacts = self.contacts.iter().flatten().map(|c| {
            let all = c.sum.normal * c.normal + Vec3::from_array(c.sum.tangent);
            (c.grain, c.body, c.reduced * all)
        });
        self.memory.remember(grains, contacts);
    }

    /// Lets `go` move every grain, in tasks: it gets the number of the grain, its motion,
    /// what contacts among grains gave it, and its contacts with colliders.
    pub fn for_grains(
        &mut self,
        step: &Step,
        motion: &mut [Motion],
        given: &mut [Vec3],
        go: impl Fn(usize, &mut Motion, &mut Vec3, &mut OwnWalls<'_>) + Sync,
    ) {
        let (pushed, gained) = (&self.pushed, self.coupling.gained());
        let lists = self.contacts.par_iter_mut();
        lists
            .zip(motion.par_chunks_mut(GRAINS_PER_TASK))
            .zip(given.par_chunks_mut(GRAINS_PER_TASK))
            .enumerate()
            .for_each(|(task, ((list, motion), given))| {
                let mut rest = &mut list[..];
                let grains = motion.iter_mut().zip(given);
                for (grain, (motion, given)) in (task * GRAINS_PER_TASK..).zip(grains) {
                    let mut walls = OwnWalls {
                        step,
                        own: take_own(&mut rest, |c| c.grain as usize == grain),
                        pushed,
                        gained,
                    };
                    go(grain, motion, given, &mut walls);
                }
            });
    }

    /// Moves the bodies that have mass by what the passes of this substep gave the grains.
    pub fn push_bodies(&mut self, colliders: &Colliders) {
        let given = self.contacts.iter().flatten();
        let given = given.map(|c| (c.body, Impulse::at(c.arm, -c.given.as_dvec3())));
        // Arms are from the center of mass.
        self.coupling.respond(colliders, |_| Vec3::ZERO, given);
    }

    /// Takes the motion of a substep as done: bodies keep the speed that it gave them.
    pub fn end_substep(&mut self) {
        for (pushed, gained) in self.pushed.iter_mut().zip(self.coupling.gained()) {
            pushed.speed = pushed.speed + *gained;
            pushed.before = pushed.before + pushed.speed;
        }
        self.coupling.clear();
        let lists = self.contacts.par_iter_mut();
        lists.flatten().for_each(|contact| {
            contact.total += contact.given;
            contact.given = Vec3::ZERO;
        });
    }

    /// Hands the bodies what the grains did not keep.
    pub fn react(&self, dt: f32, colliders: &Colliders, impulses: &mut BodyImpulses) {
        for contact in self.contacts.iter().flatten() {
            // The terrain keeps what it gets.
            let body = contact.body as usize;
            let Some(collider) = colliders.list.get(body) else {
                continue;
            };
            let linear = contact.total.as_dvec3() / -f64::from(dt);
            let arm = contact.arm + collider.center() - collider.pose.position;
            impulses.bodies[body] += Impulse::at(arm, linear);
        }
    }
}

/// What contacts are found among.
struct Search<'a> {
    step: &'a Step,
    grains: &'a Grains,
    motion: &'a [Motion],
    colliders: &'a Colliders,
    terrain: Option<&'a Terrain>,
}

impl Search<'_> {
    /// Contacts of some grains that lie together.
    fn group(&self, grains: Range<usize>, list: &mut Vec<WallContact>) {
        let (mut region, mut reach) = (Bounds::EMPTY, 0.0f32);
        for grain in grains.clone() {
            let (x, way) = (self.grains.position[grain], self.motion[grain].moved);
            region.min = region.min.min(x);
            region.max = region.max.max(x);
            let way = way.truncate().abs().element_sum();
            reach = reach.max(self.grains.radius[grain] + self.step.margin + way);
        }
        let near = NearBodies::select(self.colliders, |collider| {
            // The sum of the absolute values of three components is up to √3 times their length.
            let drive = 1.733 * self.step.whole * collider.speed_within(&region);
            collider.may_reach(&region, reach + drive)
        });
        for grain in grains {
            for (body, collider) in near.of(self.colliders) {
                list.extend(self.touch(grain, body, collider));
            }
            list.extend(self.terrain.and_then(|terrain| self.stand(grain, terrain)));
        }
    }

    /// The contact of a grain with a collider, if they touch.
    fn touch(&self, grain: usize, body: usize, collider: &PosedCollider) -> Option<WallContact> {
        let (step, grains, motion) = (self.step, self.grains, self.motion);
        let (x, radius) = (grains.position[grain], grains.radius[grain]);
        let d = motion[grain].moved.truncate();
        let reach = radius + step.margin;
        let drive = match collider.is_still() {
            true => Vec3::ZERO,
            false => step.whole * collider.velocity_at(x),
        };
        // A sum of absolute values is quick and never too short.
        let way = (d.abs() + drive.abs()).element_sum();
        if !collider.may_touch(x, reach + way) {
            return None;
        }
        // The body stays and the grain moves as seen from it.
        let seen = x + d - drive;
        let distance = collider.distance(seen);
        if distance > reach && collider.distance(x) > reach {
            return None;
        }
        let normal = collider.normal(seen);
        let surface = x - normal * collider.distance(x).max(0.0);
        Some(WallContact {
            grain: grain as u32,
            body: body as u32,
            normal,
            gap: distance - radius - normal.dot(d - drive),
            touches: distance <= radius,
            arm: surface - collider.center(),
            drive: drive * (step.dt / step.whole),
            gain: step.dt * collider.mass.map_or(Vec3::ZERO, |m| m.gain_at(x)),
            ..WallContact::default()
        })
    }

    /// The contact of a grain with the terrain, if they touch.
    fn stand(&self, grain: usize, terrain: &Terrain) -> Option<WallContact> {
        let (step, grains, motion) = (self.step, self.grains, self.motion);
        let (x, radius) = (grains.position[grain], grains.radius[grain]);
        let d = motion[grain].moved.truncate();
        let distance = terrain.field().distance(x + d);
        let reach = radius + step.margin;
        if distance > reach && terrain.field().distance(x) > reach {
            return None;
        }
        let normal = terrain.field().normal(x + d);
        Some(WallContact {
            grain: grain as u32,
            body: self.colliders.list.len() as u32,
            normal,
            gap: (distance - radius - normal.dot(d)).max(-YIELD * radius),
            touches: distance <= radius,
            ..WallContact::default()
        })
    }
}

/// One pass over a contact: mass times displacement for the grain [kg m].
fn correct_one(
    step: &Step,
    contact: &mut WallContact,
    pass: u32,
    motion: &Motion,
    (body, gained): (&Pushed, Twist),
) -> Vec3 {
    let arm = contact.arm;
    let driven = step.done * contact.drive - step.missed * contact.gain;
    let before = motion.total.truncate() - driven - body.before.at(arm);
    let pushed = (body.speed + gained).at(arm);
    let drive = contact.drive - step.missing * contact.gain;
    let moved = motion.moved.truncate() - drive - pushed;
    let gap = contact.gap + contact.normal.dot(before + moved);
    let sum = &mut contact.sum;
    if pass == 0 {
        contact.touches = gap <= 0.0;
        sum.adhesion = 0.0;
    }
    let mut law = contact.law;
    if !contact.touches {
        // What has come apart only gives back what it pressed too much.
        (law.keep, law.spring, law.damper) = (1.0, 1.0, 0.0);
    }
    let normal = contact.normal.to_array();
    let move_by = match step.is_macklin {
        false => contact::project(&law, normal, gap, moved.to_array(), sum),
        true => contact::project_macklin(&law, normal, gap, moved.to_array(), sum),
    };
    let weight = match step.scheme {
        PbdScheme::GaussSeidel => (1.0 - step.reduction.dot(contact.normal)).min(1.0),
        _ => 1.0 - step.reduction.dot(contact.normal),
    };
    contact.reduced * weight * Vec3::from_array(move_by)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collider::tests::bodies;
    use crate::sampling::random::Random;
    use glam::Vec4;

    /// Grains about the origin, in order along x, each with a way of its own.
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
            moved: (0.02 * vector()).extend(0.0),
        });
        (grains, motion.collect())
    }

    #[test]
    fn contacts_are_those_of_all_grains_with_all_bodies() {
        let (grains, motion) = scattered(3000);
        let step = Step {
            whole: 0.01,
            dt: 0.01,
            fall: Vec3::ZERO,
            done: 0.0,
            missing: 0.0,
            missed: 0.0,
            passes: 1,
            scheme: PbdScheme::MassSplitting,
            reduction: Vec3::ZERO,
            is_macklin: false,
            parting: 1.0,
            margin: 1e-3,
        };
        let colliders = bodies(60);
        let mut walls = Walls::default();
        walls.find(&step, &grains, &motion, &colliders, None);
        let key = |c: &WallContact| (c.grain, c.body, c.gap, c.normal);
        let found: Vec<_> = walls.contacts.iter().flatten().map(key).collect();
        let search = Search {
            step: &step,
            grains: &grains,
            motion: &motion,
            colliders: &colliders,
            terrain: None,
        };
        let bodies = || colliders.list.iter().enumerate();
        let direct = (0..grains.len()).flat_map(|i| bodies().map(move |(b, c)| (i, b, c)));
        let direct = direct.filter_map(|(i, b, c)| search.touch(i, b, c));
        let direct: Vec<_> = direct.map(|c| key(&c)).collect();
        assert!(found.len() > 1000, "{}", found.len());
        assert_eq!(found, direct);
    }
}
