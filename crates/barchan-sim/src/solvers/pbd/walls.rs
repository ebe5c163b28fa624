//! Contacts of grains with colliders and rigid bodies, and what these get in return.

use super::contact::{self, Accumulated, Law};
use super::grains::Grains;
use super::pairs::memory_scale;
use super::params::GrainLaw;
use super::{GRAINS_PER_TASK, Motion, Step};
use crate::collider::{BodyImpulse, BodyImpulses, Colliders, PosedCollider};
use crate::terrain::Terrain;
use barchan_scene::{Boundary, PbdScheme};
use glam::{DVec3, Vec3};
use rayon::prelude::*;

/// Displacement [m] that no force of a step overcomes.
const HELD: f32 = 1e6;

/// Depth in the terrain, in radii, from which on it pushes no harder: a grain that a body presses into it goes in.
const YIELD: f32 = 0.25;

/// A grain at a collider.
#[derive(Debug, Clone, Copy)]
struct WallContact {
    grain: u32,
    body: u32,
    /// Out of the body.
    normal: Vec3,
    /// C_s [m] when nothing has moved.
    gap: f32,
    /// Whether they touched when the substep began.
    touches: bool,
    /// Where the body touches, from its centre of mass (its origin where it has no mass) [m].
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

impl WallContact {
    /// To be filled in.
    const NONE: Self = Self {
        grain: 0,
        body: 0,
        normal: Vec3::Y,
        gap: 0.0,
        touches: false,
        arm: Vec3::ZERO,
        drive: Vec3::ZERO,
        gain: Vec3::ZERO,
        law: Law {
            keep: 0.0,
            spring: 0.0,
            damper: 0.0,
            static_friction: 0.0,
            kinetic_friction: 0.0,
            adhesion: 0.0,
            parting: 0.0,
        },
        reduced: 0.0,
        sum: Accumulated {
            normal: 0.0,
            adhesion: 0.0,
            tangent: [0.0; 3],
        },
        given: Vec3::ZERO,
        total: Vec3::ZERO,
    };
}

/// How far grains have pushed a body since the step began.
#[derive(Debug, Clone, Copy, Default)]
struct Pushed {
    /// When the substep began.
    before: Shift,
    /// Speed that they had given it by then, as displacement over a substep.
    speed: Shift,
    /// What this substep added to it.
    gained: Shift,
}

/// A small motion of a body.
#[derive(Debug, Clone, Copy, Default)]
struct Shift {
    /// Of the centre of mass [m].
    linear: DVec3,
    /// Rotation [rad].
    angular: DVec3,
}

impl Shift {
    fn plus(&self, other: &Self) -> Self {
        Self {
            linear: self.linear + other.linear,
            angular: self.angular + other.angular,
        }
    }

    fn at(&self, arm: Vec3) -> Vec3 {
        (self.linear + self.angular.cross(arm.as_dvec3())).as_vec3()
    }
}

/// The contacts of one grain with colliders.
pub(super) struct OwnWalls<'a> {
    step: &'a Step,
    own: &'a mut [WallContact],
    pushed: &'a [Pushed],
}

impl OwnWalls<'_> {
    /// One pass over them: mass times displacement that the grain of that mass [kg] gets [kg m]; it takes `part` of it.
    pub fn correct(&mut self, pass: u32, part: f32, motion: &Motion, mass: f32) -> Vec3 {
        let in_turn = self.step.scheme == PbdScheme::GaussSeidel;
        let (mut sum, mut motion) = (Vec3::ZERO, *motion);
        for contact in self.own.iter_mut() {
            let body = &self.pushed[contact.body as usize];
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

/// All contacts with colliders.
#[derive(Debug, Default)]
pub(super) struct Walls {
    /// By task of grains, in the order of the grains.
    lists: Vec<Vec<WallContact>>,
    tasks: usize,
    /// Contacts of each body.
    counts: Vec<u32>,
    pushed: Vec<Pushed>,
    /// By grain and collider.
    pub memory: Vec<Remembered>,
    memory_dt: f32,
}

/// The force of a collider on a grain in the last step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Remembered {
    /// The grain, as that step numbered it.
    pub grain: u32,
    /// The collider.
    pub body: u32,
    /// Mass times displacement that the grain got [kg m].
    pub force: Vec3,
}

impl Walls {
    /// Finds the grains whose predicted positions touch a collider where it will be, or stick to it where it is.
    /// The terrain stands after the colliders.
    pub fn find(
        &mut self,
        step: &Step,
        grains: &Grains,
        motion: &[Motion],
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
                        let found = touch(step, grains, motion, grain, collider);
                        list.extend(found.map(|contact| WallContact {
                            body: body as u32,
                            ..contact
                        }));
                    }
                    let ground = terrain.and_then(|t| stand(step, grains, motion, grain, t));
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
                let body = collider.map_or(0.0, |c| body_weight(c, contact.arm));
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

    /// Begins every contact with its force in the last step.
    pub fn begin(&mut self, step: &Step, numbers: &[u32]) {
        let scale = memory_scale(step.dt, self.memory_dt);
        let memory = &self.memory;
        self.lists[..self.tasks].par_iter_mut().for_each(|list| {
            for contact in list {
                let key = (numbers[contact.grain as usize], contact.body);
                let at = memory.partition_point(|r| (r.grain, r.body) < key);
                let found = memory.get(at).filter(|r| (r.grain, r.body) == key);
                if let Some(found) = found {
                    let all = scale * found.force / contact.reduced;
                    let push = all.dot(contact.normal);
                    contact.sum.normal = push.max(0.0);
                    contact.sum.tangent = (all - push * contact.normal).to_array();
                }
            }
        });
    }

    /// Keeps the forces of the contacts for the next step.
    pub fn remember(&mut self, dt: f32) {
        self.memory_dt = dt;
        self.memory.clear();
        let contacts = self.lists[..self.tasks].iter().flatten();
        self.memory.extend(contacts.map(|c| Remembered {
            grain: c.grain,
            body: c.body,
            force: c.reduced * (c.sum.normal * c.normal + Vec3::from_array(c.sum.tangent)),
        }));
    }

    /// What is remembered of grains that are now numbered otherwise: those of `numbers`, in their order.
    pub fn save(&self, numbers: &[u32]) -> Vec<Remembered> {
        let mut now = vec![(0, 0); 0];
        now.extend(
            numbers
                .iter()
                .zip(0u32..)
                .map(|(before, now)| (*before, now)),
        );
        now.sort_unstable();
        let mut out: Vec<Remembered> = (self.memory.iter())
            .filter_map(|r| {
                let at = now
                    .binary_search_by_key(&r.grain, |(before, _)| *before)
                    .ok()?;
                Some(Remembered {
                    grain: now[at].1,
                    ..*r
                })
            })
            .collect();
        out.sort_by_key(|r| (r.grain, r.body));
        out
    }

    /// Takes back what [`Self::save`] gave.
    pub fn load(&mut self, memory: Vec<Remembered>, dt: f32) {
        (self.memory, self.memory_dt) = (memory, dt);
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
        let pushed = &self.pushed;
        let lists = self.lists[..self.tasks].par_iter_mut();
        lists
            .zip(motion.par_chunks_mut(GRAINS_PER_TASK))
            .zip(given.par_chunks_mut(GRAINS_PER_TASK))
            .enumerate()
            .for_each(|(task, ((list, motion), given))| {
                let mut rest = &mut list[..];
                let grains = motion.iter_mut().zip(given);
                for (grain, (motion, given)) in (task * GRAINS_PER_TASK..).zip(grains) {
                    let own = rest.iter().take_while(|c| c.grain as usize == grain);
                    let count = own.count();
                    let (own, others) = std::mem::take(&mut rest).split_at_mut(count);
                    rest = others;
                    go(grain, motion, given, &mut OwnWalls { step, own, pushed });
                }
            });
    }

    /// Moves the bodies that have mass by what the passes of this substep gave the grains.
    pub fn push_bodies(&mut self, colliders: &Colliders) {
        let has_mass = |c: &PosedCollider| c.mass.is_some();
        if !colliders.list.iter().any(has_mass) {
            return;
        }
        for pushed in &mut self.pushed {
            pushed.gained = Shift::default();
        }
        for contact in self.lists[..self.tasks].iter().flatten() {
            let gained = &mut self.pushed[contact.body as usize].gained;
            let given = -contact.given.as_dvec3();
            gained.linear += given;
            gained.angular += contact.arm.as_dvec3().cross(given);
        }
        for (body, pushed) in self.pushed.iter_mut().enumerate() {
            // The terrain stands after the colliders and has no mass either.
            let mass = colliders.list.get(body).and_then(|c| c.mass.as_ref());
            pushed.gained = match mass {
                Some(mass) => Shift {
                    linear: f64::from(mass.inverse_mass) * pushed.gained.linear,
                    angular: mass.inverse_inertia.as_dmat3() * pushed.gained.angular,
                },
                None => Shift::default(),
            };
        }
    }

    /// Takes the motion of a substep as done: bodies keep the speed that it gave them.
    pub fn end_substep(&mut self) {
        for pushed in &mut self.pushed {
            pushed.speed = pushed.speed.plus(&pushed.gained);
            pushed.before = pushed.before.plus(&pushed.speed);
            pushed.gained = Shift::default();
        }
        let lists = self.lists[..self.tasks].par_iter_mut();
        lists.flatten().for_each(|contact| {
            contact.total += contact.given;
            contact.given = Vec3::ZERO;
        });
    }

    /// Hands the bodies what the grains did not keep.
    pub fn answer(&self, dt: f32, colliders: &Colliders, impulses: &mut BodyImpulses) {
        for contact in self.lists[..self.tasks].iter().flatten() {
            let body = contact.body as usize;
            // The terrain keeps what it gets.
            let Some(collider) = colliders.list.get(body) else {
                continue;
            };
            let linear = contact.total.as_dvec3() / -f64::from(dt);
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
    motion: &[Motion],
    grain: usize,
    collider: &PosedCollider,
) -> Option<WallContact> {
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
        normal,
        gap: distance - radius - normal.dot(d - drive),
        touches: distance <= radius,
        arm: surface - centre_of(collider),
        drive: drive * (step.dt / step.whole),
        gain: step.dt * collider.mass.map_or(Vec3::ZERO, |m| m.gain_at(x)),
        ..WallContact::NONE
    })
}

/// The contact of a grain with the terrain, if they touch.
fn stand(
    step: &Step,
    grains: &Grains,
    motion: &[Motion],
    grain: usize,
    terrain: &Terrain,
) -> Option<WallContact> {
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
        normal,
        gap: (distance - radius - normal.dot(d)).max(-YIELD * radius),
        touches: distance <= radius,
        ..WallContact::NONE
    })
}

/// One pass over a contact: mass times displacement for the grain [kg m].
fn correct_one(
    step: &Step,
    contact: &mut WallContact,
    pass: u32,
    motion: &Motion,
    body: &Pushed,
) -> Vec3 {
    let arm = contact.arm;
    let driven = step.done * contact.drive - step.missed * contact.gain;
    let before = motion.total.truncate() - driven - body.before.at(arm);
    let pushed = body.speed.plus(&body.gained).at(arm);
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
