//! Grain refinement: many grains that follow a coarse base, after [Ihmsen13] §4. See `docs/detail.md`.
//!
//! ```text
//! base frames ──► BaseFrame ──► Refiner::advance ──► Frame of grains
//!                 Census ──► Plan (how many grains, which)   sampling (where)   step (how they move)
//! ```
//!
//! Nothing here knows which solver wrote the base.

mod base;
mod error;
mod grains;
mod lattice;
mod plan;
mod sampling;
mod step;
#[cfg(test)]
mod tests;
mod weights;
mod world;

pub use base::{BaseFrame, Kind};
pub use error::DetailError;
pub use plan::{Census, Parent, Plan};
pub use weights::{ALONE, FADE, Method, NEAR, SUPPORT, alpha, fade, inside, weight};
pub use world::World;

use barchan_frame::{DetailStatistics, Frame, FrameRecord, Statistics};
use fearless_simd::Level;
use glam::Vec3;
use grains::{Grains, PART};
use lattice::{Lattice, Leader, Leaders, counting_sort};
use rayon::prelude::*;
use std::sync::Arc;
use step::{Scratch, Step};

/// Radius of a grain over that of its base particle, times the cube root of their number (2D: square root). Spheres of
/// this size have 0.85 of the volume that the grains stand for, as those of the solvers have in pictures.
const GRAIN_SIZE: f32 = 1.175;
/// Grains in a cell of the order in which they are kept.
const CROWD: f32 = 64.0;
/// Tries to find a place outside all bodies for a new grain.
const TRIES: u32 = 16;

/// Settings of a refinement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Longest time step [s]; a frame is cut into equal steps.
    pub dt: f64,
    /// Which grains are free.
    pub method: Method,
}

impl Default for Settings {
    /// As in [Ihmsen13]: 10 ms.
    fn default() -> Self {
        Self {
            dt: 0.01,
            method: Method::Blended,
        }
    }
}

/// Whether to go on after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// On.
    Continue,
    /// Drop the frame that was begun.
    Stop,
}

/// What is told after every step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepReport {
    /// Part of the frame that is done, in (0, 1].
    pub part: f64,
    /// Length of the step [s].
    pub dt: f64,
    /// Grains that were advanced.
    pub grains: usize,
}

/// Grains, the base frame that they are at, and all that moves them. Its state is its last frame, no more.
pub struct Refiner {
    plan: Plan,
    world: World,
    settings: Settings,
    level: Level,
    base: BaseFrame,
    frame: Arc<Frame>,
    removed: u64,
}

impl Refiner {
    /// Grains at the first frame of a base.
    ///
    /// # Errors
    /// More grains than can be told apart.
    pub fn begin(
        mut plan: Plan,
        world: World,
        settings: Settings,
        base: BaseFrame,
    ) -> Result<Self, DetailError> {
        plan.admit(&base)?;
        let mut refiner = Self::at(plan, world, settings, base, Frame::default(), 0);
        let mut grains = Grains::default();
        let everyone: Vec<usize> = (0..refiner.base.id.len()).collect();
        refiner.sample(&refiner.base, &everyone, &mut grains);
        refiner.publish(grains);
        Ok(refiner)
    }

    /// Grains that go on from a frame of theirs; `base` is the base frame of the same number.
    ///
    /// # Errors
    /// A frame that refinement did not write.
    pub fn resume(
        plan: Plan,
        world: World,
        settings: Settings,
        base: BaseFrame,
        mut frame: Frame,
    ) -> Result<Self, DetailError> {
        let Some(counted) = frame.record.statistics.detail else {
            return Err(DetailError::Uncounted { frame: frame.index });
        };
        let grains = Grains::take(&mut frame)?;
        let mut refiner = Self::at(
            plan,
            world,
            settings,
            base,
            Frame::default(),
            counted.removed,
        );
        frame.columns = grains.into_columns(refiner.grain_radius());
        refiner.frame = Arc::new(frame);
        Ok(refiner)
    }

    fn at(
        plan: Plan,
        world: World,
        settings: Settings,
        base: BaseFrame,
        frame: Frame,
        removed: u64,
    ) -> Self {
        Self {
            plan,
            world,
            settings,
            level: Level::new(),
            base,
            frame: Arc::new(frame),
            removed,
        }
    }

    /// The frame of grains that has been reached.
    pub fn frame(&self) -> &Arc<Frame> {
        &self.frame
    }

    /// How many grains base particles have.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Grains that drains, the border of the domain and the terrain have taken.
    pub fn removed(&self) -> u64 {
        self.removed
    }

    /// Radius of a grain of the mean base particle [m].
    pub fn grain_radius(&self) -> f32 {
        self.radius_of(self.plan.radius(), self.plan.mean())
    }

    fn radius_of(&self, base_radius: f32, grains: f32) -> f32 {
        let grains = grains.max(1.0);
        let root = match self.world.is_flat() {
            true => grains.sqrt(),
            false => grains.cbrt(),
        };
        GRAIN_SIZE * base_radius / root
    }

    /// Computes only with what every processor of this kind has.
    pub fn use_baseline(&mut self) {
        self.level = Level::baseline();
    }

    /// Advances to the next frame of the base. `spare` gives its memory, and should be a frame that is no longer needed.
    /// `None` when `on_step` stopped it: then nothing has changed.
    ///
    /// # Errors
    /// A base frame that is not later than the one before; more grains than can be told apart.
    pub fn advance(
        &mut self,
        next: BaseFrame,
        spare: Frame,
        on_step: &mut dyn FnMut(StepReport) -> Control,
    ) -> Result<Option<Arc<Frame>>, DetailError> {
        let duration = next.time - self.base.time;
        if duration.is_nan() || duration <= 0.0 {
            return Err(DetailError::Time {
                frame: next.index,
                time: next.time,
            });
        }
        self.plan.admit(&next)?;
        let radius = self.plan.radius();
        self.world.prepare(&self.base, &next, radius);
        let paths = self.paths(&next, duration);
        let mut grains = spare_grains(spare);
        let order = self.order(&next);
        let steps = (duration / self.settings.dt - 1e-6).ceil().max(1.0) as u64;
        let dt = duration / steps as f64;
        for step in 0..steps {
            let source = (step == 0).then_some(order.as_slice());
            self.step(&paths, step as f64 * dt, dt, duration, source, &mut grains);
            let report = StepReport {
                part: (step + 1) as f64 / steps as f64,
                dt,
                grains: grains.len(),
            };
            if on_step(report) == Control::Stop {
                return Ok(None);
            }
        }
        drop(order);
        self.remove_lost(&next, &mut grains);
        let born = |i: &usize| self.base.find(next.id[*i]).is_none();
        let born: Vec<usize> = (0..next.id.len()).filter(born).collect();
        self.sample(&next, &born, &mut grains);
        self.base = next;
        self.publish(grains);
        Ok(Some(self.frame.clone()))
    }

    /// Base particles between two frames, each with the place at which it begins and a constant velocity. One that is in
    /// only one of the frames goes as it does there.
    ///
    /// Differs from [Ihmsen13]: velocities are differences of positions, not those of the frames. So grains end where the
    /// base ends, also where frames keep velocities too coarsely to tell creeping from rest.
    fn paths(&self, next: &BaseFrame, duration: f64) -> Vec<Leader> {
        let base = &self.base;
        let duration = duration as f32;
        let path = |x: Vec3, v: Vec3| Leader {
            position: x.to_array(),
            velocity: v.to_array(),
        };
        let mut paths = Vec::with_capacity(next.id.len());
        let (mut i, mut j) = (0, 0);
        while i < base.id.len() || j < next.id.len() {
            let (old, new) = (base.id.get(i), next.id.get(j));
            let stays = old == new;
            let leaves = !stays && new.is_none_or(|new| old.is_some_and(|old| old < new));
            if stays {
                let way = self.world.shortest(next.position[j] - base.position[i]);
                paths.push(path(base.position[i], way / duration));
            } else if leaves {
                paths.push(path(base.position[i], base.velocity[i]));
            } else {
                let before = next.position[j] - duration * next.velocity[j];
                paths.push(path(before, next.velocity[j]));
            }
            i += usize::from(stays || leaves);
            j += usize::from(!leaves);
        }
        paths
    }

    /// Indices of the grains in spatial order.
    fn order(&self, next: &BaseFrame) -> Vec<u32> {
        let mean = self.plan.mean().max(1.0);
        let edge = match self.world.is_flat() {
            true => 2.0 * (CROWD / mean).sqrt(),
            false => 2.0 * (CROWD / mean).cbrt(),
        };
        let edge = (edge * self.plan.radius()).max(f32::MIN_POSITIVE);
        let lattice = Lattice::around(&next.position, edge);
        let position = positions(&self.frame);
        let keys: Vec<u32> = (position.par_iter())
            .map(|p| lattice.along_path(Vec3::from(*p)))
            .collect();
        counting_sort(keys.iter().map(|k| *k as usize), lattice.cells()).1
    }

    /// One step, `since` the last frame [s]. The first takes the grains from there in a new order.
    fn step(
        &self,
        paths: &[Leader],
        since: f64,
        dt: f64,
        duration: f64,
        source: Option<&[u32]>,
        grains: &mut Grains,
    ) {
        let time = self.base.time + since;
        let frames = [self.base.time, self.base.time + duration];
        let posed = self.world.posed(time, dt, frames);
        let moved = |l: &Leader| {
            let x = Vec3::from(l.position) + since as f32 * Vec3::from(l.velocity);
            Leader {
                position: self.world.wrapped(x).to_array(),
                ..*l
            }
        };
        let mut list: Vec<Leader> = paths.iter().map(moved).collect();
        self.world.leaders(&posed, &mut list);
        let radius = self.plan.radius().max(f32::MIN_POSITIVE);
        self.world.add_images(weights::SUPPORT * radius, &mut list);
        let leaders = Leaders::new(&list, radius);
        let step = Step {
            leaders: &leaders,
            bodies: &posed,
            drains: &self.world.open_drains(time + dt),
            world: &self.world,
            method: self.settings.method,
            dt: dt as f32,
            gravity: self.world.gravity(time + 0.5 * dt),
            grain_radius: self.grain_radius(),
            level: self.level,
        };
        match source {
            Some(order) => self.advance_from(order, &step, grains),
            None => {
                let position = grains.position.par_chunks_mut(3 * PART);
                let velocity = grains.velocity.par_chunks_mut(3 * PART);
                let both = position.zip(velocity);
                both.for_each_init(Scratch::default, |scratch, (x, v)| {
                    let (x, v) = (x.as_chunks_mut().0, v.as_chunks_mut().0);
                    step.advance(x, v, scratch);
                });
            }
        }
    }

    /// Takes grains from the last frame in a new order, and advances them while they are at hand.
    fn advance_from(&self, order: &[u32], step: &Step<'_>, grains: &mut Grains) {
        grains.resize(order.len());
        let from = FrameColumns::of(&self.frame);
        let vectors = (grains.position.par_chunks_mut(3 * PART))
            .zip(grains.velocity.par_chunks_mut(3 * PART));
        let marks = (grains.id.par_chunks_mut(PART)).zip(grains.material.par_chunks_mut(PART));
        let sizes = (grains.mass.par_chunks_mut(PART)).zip(grains.radius.par_chunks_mut(PART));
        let all = vectors.zip(marks).zip(sizes).zip(order.par_chunks(PART));
        all.for_each_init(Scratch::default, |scratch, (columns, order)| {
            let (((x, v), (id, material)), (mass, radius)) = columns;
            let (x, v) = (x.as_chunks_mut().0, v.as_chunks_mut().0);
            for (i, &source) in order.iter().enumerate() {
                let source = source as usize;
                x[i] = from.position[source];
                v[i] = from.velocity[source];
                id[i] = from.id[source];
                material[i] = from.material[source];
                mass[i] = from.mass[source];
                radius[i] = from.radius[source];
            }
            step.advance(x, v, scratch);
        });
    }

    /// Drops grains that a drain or the border has taken, and those whose base particles the soil has taken up.
    fn remove_lost(&mut self, next: &BaseFrame, grains: &mut Grains) {
        let before = grains.len();
        if !grains.position.par_iter().all(|x| x.is_finite()) {
            grains.retain(|g, i| g.position[3 * i..3 * i + 3].iter().all(|x| x.is_finite()));
        }
        if self.world.has_terrain {
            let gone = |id: &u64| next.find(*id).is_none();
            let gone: Vec<u64> = self.base.id.iter().copied().filter(gone).collect();
            if !gone.is_empty() {
                let plan = &self.plan;
                grains.retain(|g, i| {
                    let parent = plan.parent_of(g.id[i]);
                    parent.is_none_or(|parent| gone.binary_search(&parent.id).is_err())
                });
            }
        }
        self.removed += (before - grains.len()) as u64;
    }

    /// Adds the grains of base particles that have just appeared.
    fn sample(&self, frame: &BaseFrame, which: &[usize], grains: &mut Grains) {
        let bodies = self.world.standing(frame);
        let counts = which.iter().map(|i| self.plan.grains_of(frame.id[*i]));
        let counts: Vec<(u32, u32)> = counts.map(Option::unwrap_or_default).collect();
        let more: usize = counts.iter().map(|c| c.1 as usize).sum();
        let old = grains.len();
        grains.resize(old + more);
        let mut places = Vec::with_capacity(which.len());
        let mut rest = &mut grains.position.as_chunks_mut::<3>().0[old..];
        for (_, count) in &counts {
            let (own, others) = rest.split_at_mut(*count as usize);
            places.push(own);
            rest = others;
        }
        let keep_off = self.grain_radius();
        (places.par_iter_mut().zip(which)).for_each(|(places, &i)| {
            let near = |body: &&world::Posed<'_>| {
                let reach = 4.0 * frame.kind[i].radius + keep_off;
                body.is_within(frame.position[i], reach)
            };
            let bodies: Vec<&world::Posed<'_>> = bodies.iter().filter(near).collect();
            for (k, place) in places.iter_mut().enumerate() {
                *place = self.place(frame, i, k as u32, &bodies, keep_off);
            }
        });
        let mut at = old;
        for (&i, (first, count)) in which.iter().zip(counts) {
            let kind = frame.kind[i];
            let range = at..at + count as usize;
            at = range.end;
            let velocity = frame.velocity[i].to_array();
            let velocities = &mut grains.velocity.as_chunks_mut::<3>().0[range.clone()];
            velocities.fill(velocity);
            for (k, id) in grains.id[range.clone()].iter_mut().enumerate() {
                *id = first + k as u32;
            }
            grains.material[range.clone()].fill(kind.material);
            grains.mass[range.clone()].fill(kind.mass / count as f32);
            grains.radius[range].fill(self.radius_of(kind.radius, count as f32));
        }
    }

    /// Where grain `k` of a base particle begins: at the first of its places that is free.
    fn place(
        &self,
        frame: &BaseFrame,
        i: usize,
        k: u32,
        bodies: &[&world::Posed<'_>],
        keep_off: f32,
    ) -> [f32; 3] {
        let (center, radius) = (frame.position[i], frame.kind[i].radius);
        let flat = self.world.is_flat();
        let mut p = center;
        for attempt in 0..TRIES {
            p = center + radius * sampling::offset(frame.id[i], k, attempt, flat);
            let taken = bodies.iter().any(|b| b.is_within(p, keep_off));
            if !taken && !self.world.is_outside(p) {
                return self.world.wrapped(p).to_array();
            }
        }
        for body in bodies {
            p = body.nearest_outside(p, keep_off);
        }
        if flat {
            p.z = 0.0;
        }
        if self.world.is_outside(p) {
            p = center;
        }
        self.world.wrapped(p).to_array()
    }

    /// Makes the grains the frame of the base's number, as a file of it would be read.
    fn publish(&mut self, mut grains: Grains) {
        let radius = self.grain_radius();
        grains.round(radius, self.base.index);
        let totals = grains.totals();
        let statistics = Statistics {
            particles: grains.len() as u64,
            mass_kg: totals.mass,
            kinetic_energy_j: totals.kinetic_energy,
            max_speed: totals.max_speed,
            run: None,
            detail: Some(DetailStatistics {
                removed: self.removed,
                base_particles: self.base.id.len() as u64,
            }),
        };
        self.frame = Arc::new(Frame {
            index: self.base.index,
            time: self.base.time,
            columns: grains.into_columns(radius),
            arrays: self.base.arrays.clone(),
            // Bodies, joints and terrain are those of the base.
            record: FrameRecord {
                statistics,
                ..self.base.record.clone()
            },
        });
    }
}

/// The memory of a frame that is not needed.
fn spare_grains(mut frame: Frame) -> Grains {
    Grains::take(&mut frame).unwrap_or_default()
}

fn positions(frame: &Frame) -> &[[f32; 3]] {
    vectors(frame, "position")
}

fn vectors<'a>(frame: &'a Frame, name: &str) -> &'a [[f32; 3]] {
    let values = frame.column(name).and_then(|c| c.data.as_f32());
    values.unwrap_or_default().as_chunks().0
}

/// The columns of a frame of grains.
struct FrameColumns<'a> {
    position: &'a [[f32; 3]],
    velocity: &'a [[f32; 3]],
    id: &'a [u32],
    material: &'a [u8],
    mass: &'a [f32],
    radius: &'a [f32],
}

impl<'a> FrameColumns<'a> {
    fn of(frame: &'a Frame) -> Self {
        let data = |name: &str| frame.column(name).map(|c| &c.data);
        Self {
            position: vectors(frame, "position"),
            velocity: vectors(frame, "velocity"),
            id: data("id").and_then(|d| d.as_u32()).unwrap_or_default(),
            material: data("material").and_then(|d| d.as_u8()).unwrap_or_default(),
            mass: data("mass").and_then(|d| d.as_f32()).unwrap_or_default(),
            radius: data("radius").and_then(|d| d.as_f32()).unwrap_or_default(),
        }
    }
}
