//! Upsampling: many grains advected by a coarse base of particles, after [Ihmsen13] §4. See `docs/detail.md`.
//!
//! ```text
//! base frames ──► BaseFrame ──► Refiner::advance ──► Frame of grains
//!       BaseParticles ──► Plan (number and identities of grains)   sampling (positions)   step (motion)
//! ```
//!
//! It does not depend on the solver that wrote the base.

mod base;
mod cells;
mod error;
mod grains;
mod plan;
mod sampling;
mod step;
#[cfg(test)]
mod tests;
mod weights;
mod world;

pub use base::{BaseFrame, Kind};
pub use error::DetailError;
pub use plan::{BaseParticles, Parent, Plan};
pub use weights::Method;
pub use world::World;

use barchan_frame::{ColumnData, DetailStatistics, Frame, FrameRecord, Statistics};
use cells::{CellGrid, Guide, GuideGrid, counting_sort};
use fearless_simd::Level;
use glam::Vec3;
use grains::{GRAINS_PER_TASK, Grains};
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::sync::Arc;
use step::{Scratch, Step};

/// Radius of a grain relative to its base particle's, times the cube root of their number (2D: square root). Spheres of
/// this size fill 0.85 of the volume that the grains represent, as the spheres of solvers' particles do in pictures.
const RADIUS_FACTOR: f32 = 1.175;
/// Mean number of grains in a cell of the spatial order.
const GRAINS_PER_CELL: f32 = 64.0;
/// Attempts to sample a new grain outside all bodies.
const MAX_TRIES: u32 = 16;

/// Settings of a refinement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Longest time step [s]; a frame is divided into equal steps.
    pub dt: f64,
    /// Which grains move ballistically.
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

/// Progress after a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepReport {
    /// Fraction of the frame that is done, in (0, 1].
    pub part: f64,
    /// Length of the step [s].
    pub dt: f64,
    /// Number of grains.
    pub grains: usize,
}

/// Advances the grains with the base and the surroundings. The last frame is the complete state.
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
    /// Samples the grains of the first frame of a base.
    ///
    /// # Errors
    /// More grains than there are identities.
    pub fn begin(
        mut plan: Plan,
        world: World,
        settings: Settings,
        base: BaseFrame,
    ) -> Result<Self, DetailError> {
        plan.allocate_emitted(&base)?;
        let mut refiner = Self::new(plan, world, settings, base);
        let mut grains = Grains::default();
        let all: Vec<usize> = (0..refiner.base.id.len()).collect();
        refiner.sample(&refiner.base, &all, &mut grains);
        refiner.publish(grains);
        Ok(refiner)
    }

    /// Resumes from a frame of grains; `base` is the base frame of the same number.
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
            return Err(DetailError::NoStatistics { frame: frame.index });
        };
        let grains = Grains::take(&mut frame)?;
        let mut refiner = Self::new(plan, world, settings, base);
        refiner.removed = counted.removed;
        frame.columns = grains.into_columns(refiner.grain_radius());
        refiner.frame = Arc::new(frame);
        Ok(refiner)
    }

    fn new(plan: Plan, world: World, settings: Settings, base: BaseFrame) -> Self {
        Self {
            plan,
            world,
            settings,
            level: Level::new(),
            base,
            frame: Arc::default(),
            removed: 0,
        }
    }

    /// The last frame of grains.
    pub fn frame(&self) -> &Arc<Frame> {
        &self.frame
    }

    /// The allocation of grains to base particles.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Number of grains removed by drains, the domain boundary and the terrain.
    pub fn removed(&self) -> u64 {
        self.removed
    }

    /// Radius of a grain of the mean base particle [m].
    pub fn grain_radius(&self) -> f32 {
        self.radius_of(self.plan.radius(), self.plan.mean())
    }

    fn radius_of(&self, base_radius: f32, grains: f32) -> f32 {
        let grains = grains.max(1.0);
        RADIUS_FACTOR * base_radius / self.world.root(grains)
    }

    /// Uses the baseline SIMD level, which every processor of the architecture has.
    pub fn use_baseline(&mut self) {
        self.level = Level::baseline();
    }

    /// Advances to the next frame of the base, reusing the memory of `spare`, a frame that is no longer needed.
    /// `None` if `on_step` breaks it off; the state is then unchanged.
    ///
    /// # Errors
    /// A base frame that is not later than the previous one; more grains than there are identities.
    pub fn advance(
        &mut self,
        next: BaseFrame,
        mut spare: Frame,
        on_step: &mut dyn FnMut(StepReport) -> ControlFlow<()>,
    ) -> Result<Option<Arc<Frame>>, DetailError> {
        let duration = next.time - self.base.time;
        if duration.is_nan() || duration <= 0.0 {
            return Err(DetailError::Time {
                frame: next.index,
                time: next.time,
            });
        }
        self.plan.allocate_emitted(&next)?;
        let radius = self.plan.radius();
        self.world.prepare(&self.base, &next, radius);
        let paths = self.trajectories(&next, duration);
        let mut grains = Grains::take(&mut spare).unwrap_or_default();
        let order = self.spatial_order(&next);
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
            if on_step(report).is_break() {
                return Ok(None);
            }
        }
        drop(order);
        self.remove_lost(&next, &mut grains);
        let is_new = |i: &usize| self.base.find(next.id[*i]).is_none();
        let new: Vec<usize> = (0..next.id.len()).filter(is_new).collect();
        self.sample(&next, &new, &mut grains);
        self.base = next;
        self.publish(grains);
        Ok(Some(self.frame.clone()))
    }

    /// Straight trajectories of the base particles between two frames: start and constant velocity. A particle present in
    /// only one of the frames moves with its velocity there.
    ///
    /// Differs from [Ihmsen13]: velocities are finite differences of positions, not those of the frames. Grains then end
    /// where the base ends, even where frames store velocities too coarsely to resolve creep.
    fn trajectories(&self, next: &BaseFrame, duration: f64) -> Vec<Guide> {
        let base = &self.base;
        let duration = duration as f32;
        let path = |x: Vec3, v: Vec3| Guide {
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
                let displacement = self
                    .world
                    .minimum_image(next.position[j] - base.position[i]);
                paths.push(path(base.position[i], displacement / duration));
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
    fn spatial_order(&self, next: &BaseFrame) -> Vec<u32> {
        let mean = self.plan.mean().max(1.0);
        let edge = 2.0 * self.world.root(GRAINS_PER_CELL / mean);
        let edge = (edge * self.plan.radius()).max(f32::MIN_POSITIVE);
        let grid = CellGrid::around(&next.position, edge);
        let keys: Vec<u32> = (vectors(&self.frame, "position").par_iter())
            .map(|p| grid.serpentine_index(Vec3::from(*p)))
            .collect();
        counting_sort(keys.iter().map(|k| *k as usize), grid.cells()).1
    }

    /// One step, which begins `since` after the last frame [s]. The first step after a frame reads
    /// the grains from it, in the order `source`.
    fn step(
        &self,
        paths: &[Guide],
        since: f64,
        dt: f64,
        duration: f64,
        source: Option<&[u32]>,
        grains: &mut Grains,
    ) {
        let time = self.base.time + since;
        let frames = [self.base.time, self.base.time + duration];
        let posed = self.world.posed(time, dt, frames);
        let moved = |guide: &Guide| {
            let x = Vec3::from(guide.position) + since as f32 * Vec3::from(guide.velocity);
            Guide {
                position: self.world.wrap(x).to_array(),
                ..*guide
            }
        };
        let mut list: Vec<Guide> = paths.iter().map(moved).collect();
        self.world.add_boundary_guides(&posed, &mut list);
        let radius = self.plan.radius().max(f32::MIN_POSITIVE);
        self.world
            .add_periodic_images(weights::SUPPORT * radius, &mut list);
        let guides = GuideGrid::new(&list, radius);
        let step = Step {
            guides: &guides,
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
                let position = grains.position.par_chunks_mut(3 * GRAINS_PER_TASK);
                let velocity = grains.velocity.par_chunks_mut(3 * GRAINS_PER_TASK);
                let both = position.zip(velocity);
                both.for_each_init(Scratch::default, |scratch, (x, v)| {
                    let (x, v) = (x.as_chunks_mut().0, v.as_chunks_mut().0);
                    step.advance(x, v, scratch);
                });
            }
        }
    }

    /// Gathers grains from the last frame in a new order, and advances them while they are in the cache.
    fn advance_from(&self, order: &[u32], step: &Step<'_>, grains: &mut Grains) {
        grains.resize(order.len());
        let frame = &*self.frame;
        let data = |name: &str| frame.column(name).map(|c| &c.data);
        let [positions, velocities] = ["position", "velocity"].map(|name| vectors(frame, name));
        let floats = |name: &str| data(name).and_then(ColumnData::as_f32).unwrap_or_default();
        let (masses, radii) = (floats("mass"), floats("radius"));
        let ids = data("id").and_then(ColumnData::as_u32).unwrap_or_default();
        let materials = data("material").and_then(ColumnData::as_u8);
        let materials = materials.unwrap_or_default();
        let vectors = (grains.position.par_chunks_mut(3 * GRAINS_PER_TASK))
            .zip(grains.velocity.par_chunks_mut(3 * GRAINS_PER_TASK));
        let marks = (grains.id.par_chunks_mut(GRAINS_PER_TASK))
            .zip(grains.material.par_chunks_mut(GRAINS_PER_TASK));
        let sizes = (grains.mass.par_chunks_mut(GRAINS_PER_TASK))
            .zip(grains.radius.par_chunks_mut(GRAINS_PER_TASK));
        let all = vectors
            .zip(marks)
            .zip(sizes)
            .zip(order.par_chunks(GRAINS_PER_TASK));
        all.for_each_init(Scratch::default, |scratch, (columns, order)| {
            let (((x, v), (id, material)), (mass, radius)) = columns;
            let (x, v) = (x.as_chunks_mut().0, v.as_chunks_mut().0);
            for (i, &source) in order.iter().enumerate() {
                let source = source as usize;
                x[i] = positions[source];
                v[i] = velocities[source];
                id[i] = ids[source];
                material[i] = materials[source];
                mass[i] = masses[source];
                radius[i] = radii[source];
            }
            step.advance(x, v, scratch);
        });
    }

    /// Removes grains taken by a drain or the domain boundary, and those whose base particles were deposited on the terrain.
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

    /// Adds the grains of newly emitted base particles; `which` are their indices in `frame`.
    fn sample(&self, frame: &BaseFrame, which: &[usize], grains: &mut Grains) {
        let bodies = self.world.posed_at_frame(frame);
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
        let clearance = self.grain_radius();
        (places.par_iter_mut().zip(which)).for_each(|(places, &i)| {
            let near = |body: &&world::PosedObstacle<'_>| {
                let reach = 4.0 * frame.kind[i].radius + clearance;
                body.is_within(frame.position[i], reach)
            };
            let bodies: Vec<&world::PosedObstacle<'_>> = bodies.iter().filter(near).collect();
            for (k, place) in places.iter_mut().enumerate() {
                *place = self.place(frame, i, k as u32, &bodies, clearance);
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

    /// Initial position of grain `k` of a base particle: the first valid sample.
    fn place(
        &self,
        frame: &BaseFrame,
        i: usize,
        k: u32,
        bodies: &[&world::PosedObstacle<'_>],
        clearance: f32,
    ) -> [f32; 3] {
        let (center, radius) = (frame.position[i], frame.kind[i].radius);
        let flat = self.world.is_flat();
        let mut p = center;
        for attempt in 0..MAX_TRIES {
            p = center + radius * sampling::offset(frame.id[i], k, attempt, flat);
            let is_inside = bodies.iter().any(|b| b.is_within(p, clearance));
            if !is_inside && !self.world.is_outside(p) {
                return self.world.wrap(p).to_array();
            }
        }
        for body in bodies {
            p = body.project_outside(p, clearance);
        }
        if flat {
            p.z = 0.0;
        }
        if self.world.is_outside(p) {
            p = center;
        }
        self.world.wrap(p).to_array()
    }

    /// Rounds the grains to the precision of a frame file, and stores them as the frame with the number of the base frame.
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

fn vectors<'a>(frame: &'a Frame, name: &str) -> &'a [[f32; 3]] {
    let values = frame.column(name).and_then(|c| c.data.as_f32());
    values.unwrap_or_default().as_chunks().0
}
