//! Position-based grains, after [Holz14]. Symbols, choices and limits: docs/solvers/pbd.md.

pub mod contact;
mod grains;
mod method;
mod pairs;
pub mod params;
mod soil;
mod state;
mod walls;

use crate::collider::{Colliders, PosedCollider};
use crate::height_field::HeightField;
use crate::neighbors::cells::Cells;
use crate::particles::max_speed;
use crate::sampling::{Samples, grain_volume};
use crate::solver::{
    Bound, Columns, Pace, Region, Solver, SolverError, StepContext, StepStats, Stopwatch,
};
use crate::solvers::refusal;
use crate::view::ParticlesView;
use barchan_frame::{Checkpoint, Frame};
use barchan_scene::{Dimensions, Material, PbdScheme, PbdSpec, Scene};
use fearless_simd::Level;
use glam::{Vec3, Vec4};
use grains::Grains;
pub use method::METHOD;
use pairs::Pairs;
use params::{ContactParameters, GrainLaw};
use rayon::prelude::*;
use soil::Soil;
use walls::{Search, Walls};

/// Largest gap between grains that count as contacts [mean radii].
const MAX_CONTACT_MARGIN: f32 = 0.2;

/// Speed limit of a grain, as a multiple of the reference speed: separation speeds add up over the layers of a compressed
/// heap.
const SPEED_LIMIT_FACTOR: f32 = 5.0;

/// Grains per task.
const GRAINS_PER_TASK: usize = 1024;

/// Position-based solver.
pub struct Pbd {
    spec: PbdSpec,
    dimensions: Dimensions,
    level: Level,
    laws: Vec<GrainLaw>,
    /// Contact parameters of every pair of materials.
    contact_table: Vec<ContactParameters>,
    grains: Grains,
    /// Largest radius [m].
    max_radius: f32,
    /// Largest speed of bodies and grains so far [m/s], see [`Pbd::update_reference_speed`].
    reference_speed: f32,
    limits_separation: bool,
    /// Length of the substep of the cached contact forces [s].
    cache_dt: f32,
    /// Terrain, if the scene has any.
    soil: Option<Soil>,
    scratch: Scratch,
}

/// Working memory of a step, not part of the state.
#[derive(Default)]
struct Scratch {
    cells: Cells,
    spare: Grains,
    /// Predicted positions [m].
    predicted: Vec<Vec3>,
    motion: Vec<Motion>,
    /// Correction of each grain by contacts with other grains in the present substep, as mass times displacement [kg m].
    pair_sums: Vec<Vec3>,
    pairs: Pairs,
    walls: Walls,
    /// Number of contacts of each grain.
    contacts: Vec<u32>,
    /// Inverse masses in contacts [1/kg]; with mass splitting multiplied by the number of contacts.
    inverse_masses: Vec<f32>,
}

/// Motion of a grain since the beginning of the step.
#[derive(Debug, Clone, Copy)]
struct Motion {
    /// Displacement in the completed substeps [m].
    total: Vec4,
    /// Displacement p − x in the present substep [m].
    displacement: Vec4,
}

/// Settings of a step, shared by all stages.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// Length of the step [s].
    full_dt: f32,
    /// Length of a substep [s].
    dt: f32,
    /// Displacement by gravity in a substep, Δt² g [m].
    free_fall: Vec3,
    /// Number of completed substeps.
    completed_substeps: f32,
    /// Fraction of the bodies' velocity gain over the step that remains after this substep, and its sum over the completed
    /// substeps.
    remaining_gain: f32,
    remaining_gain_sum: f32,
    spec: PbdSpec,
    /// ε ĝ of Eq. 37: error reduction times the direction of gravity.
    reduction: Vec3,
    /// Limit of the separation by a contact in a substep [m].
    max_separation: f32,
    /// Largest gap of a contact [m], so that contacts at rest do not open and close.
    margin: f32,
}

/// Factor of a contact force, as displacement over a substep, from a substep of length `before` to one of length `dt`: the same
/// force, or the same impulse if the new substep is longer.
fn warm_start_scale(dt: f32, before: f32) -> f32 {
    match before > 0.0 {
        true => (dt / before) * (dt / before).min(1.0),
        false => 0.0,
    }
}

/// Input for the preparation of contacts.
struct Preparation<'a> {
    step: &'a Step,
    grains: &'a Grains,
    laws: &'a [GrainLaw],
    /// Contact parameters of every pair of materials.
    table: &'a [ContactParameters],
    /// Inverse masses in contacts [1/kg].
    inverse_masses: &'a [f32],
    /// Factor from cached forces to forces in a substep of this step.
    scale: f32,
}

impl Step {
    fn is_split(&self) -> bool {
        self.spec.scheme == PbdScheme::MassSplitting
    }

    /// Begins a substep, counted from 0, out of `count`.
    fn begin_substep(&mut self, substep: u32, count: u32) {
        self.remaining_gain_sum = match substep {
            0 => 0.0,
            _ => self.remaining_gain_sum + self.remaining_gain,
        };
        self.completed_substeps = substep as f32;
        self.remaining_gain = (count - 1 - substep) as f32 / count as f32;
    }

    /// Whether the prediction of a substep can be fused with the last iteration of the one before: no body responds in between.
    fn can_fuse_substeps(&self, colliders: &Colliders) -> bool {
        let has_mass = |c: &PosedCollider| c.mass.is_some();
        self.is_split() && !colliders.list.iter().any(has_mass)
    }

    /// Retention, spring and damper factors of a contact with the given parameters. `w` is the sum of the inverse masses, `split`
    /// that of the split inverse masses [1/kg].
    fn factors(&self, contact: &ContactParameters, w: f64, split: f64) -> [f32; 3] {
        let (stiffness, damping) = (contact.stiffness, contact.damping);
        let dt = f64::from(self.dt);
        let (retention, spring, damper) = match self.spec.scheme {
            PbdScheme::MassSplitting => {
                let (k, c) = contact::resolved_spring_damper(stiffness, damping, w, dt);
                contact::implicit_factors(k, c, split, dt)
            }
            _ => {
                let count = self.spec.iterations;
                let (spring, damper) =
                    contact::iteration_factors(stiffness, damping, split, dt, count);
                (1.0, spring, damper)
            }
        };
        [retention as f32, spring as f32, damper as f32]
    }
}

impl Pbd {
    /// A solver without grains. Refuses scenes with unsupported features.
    pub fn new(scene: &Scene, level: Level) -> Result<Self, SolverError> {
        let spec: PbdSpec = scene.settings();
        refusal::check(&METHOD, scene)?;
        let laws = (scene.materials.iter())
            .map(|m| GrainLaw::new(m, &spec, scene.dimensions))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            spec,
            dimensions: scene.dimensions,
            level,
            contact_table: params::contact_table(&laws),
            laws,
            grains: Grains::default(),
            max_radius: 0.0,
            reference_speed: 0.0,
            limits_separation: true,
            cache_dt: 0.0,
            soil: Soil::new(scene, &spec),
            scratch: Scratch::default(),
        })
    }

    /// Disables the limit of the separation speed; for tests.
    pub fn disable_separation_limit(&mut self) {
        self.limits_separation = false;
    }

    /// Predicts the positions after the step, p = x + Δt v + Δt² g (Eq. 2), and sorts the grains by
    /// the cells of these positions.
    fn sort(&mut self, step: &Step, cx: &StepContext<'_>) {
        let (g, s) = (&mut self.grains, &mut self.scratch);
        let free_fall = cx.dt * cx.dt * cx.gravity;
        let displacement = |v: &Vec3| cx.dt * *v;
        let states = g.position.par_iter().zip(&g.velocity);
        states
            .with_min_len(GRAINS_PER_TASK)
            .map(|(x, v)| *x + displacement(v) + free_fall)
            .collect_into_vec(&mut s.predicted);
        let edge = 2.0 * self.max_radius + step.margin;
        s.cells.sort(&s.predicted, edge);
        g.reorder(&s.cells, &mut s.spare);
        let velocities = g.velocity.par_iter().with_min_len(GRAINS_PER_TASK);
        velocities
            .map(|v| Motion {
                total: Vec4::ZERO,
                displacement: (displacement(v) + free_fall).extend(0.0),
            })
            .collect_into_vec(&mut s.motion);
    }

    /// Finds all contacts, once a step, and computes their constants for the iterations.
    fn find_contacts(&mut self, step: &Step, cx: &StepContext<'_>) {
        let (g, s) = (&self.grains, &mut self.scratch);
        let table = &self.contact_table;
        s.pairs
            .find(self.level, step, g, &s.motion, &s.cells, table);
        s.walls.find(&Search {
            step,
            grains: g,
            motion: &s.motion,
            colliders: cx.colliders,
            terrain: self.soil.as_ref().map(|soil| &soil.terrain),
        });
        s.contacts.clear();
        s.contacts.extend((0..g.len()).map(|i| s.pairs.count(i)));
        s.walls.count_into(&mut s.contacts);
        let inverse_mass = |(mass, contacts): (&f32, &u32)| match step.is_split() {
            true => *contacts as f32 / mass,
            false => 1.0 / mass,
        };
        let grains = g.mass.par_iter().zip(&s.contacts);
        grains
            .with_min_len(GRAINS_PER_TASK)
            .map(inverse_mass)
            .collect_into_vec(&mut s.inverse_masses);
        let preparation = Preparation {
            step,
            grains: g,
            laws: &self.laws,
            table,
            inverse_masses: &s.inverse_masses,
            scale: warm_start_scale(step.dt, self.cache_dt),
        };
        s.pairs.prepare(&preparation);
        s.walls.prepare(&preparation, cx.colliders);
    }

    /// Eq. 2 for a substep: the displacement of the last substep plus that by gravity and the warm-started contact forces.
    fn predict(&mut self, step: &Step) {
        let s = &mut self.scratch;
        let (pairs, mass) = (&s.pairs, &self.grains.mass);
        let velocity = &self.grains.velocity;
        s.pair_sums.resize(mass.len(), Vec3::ZERO);
        let (motion, pair_sums) = (&mut s.motion, &mut s.pair_sums);
        s.walls
            .for_grains(step, motion, pair_sums, |i, motion, pair_sum, walls| {
                let mut d = match step.completed_substeps == 0.0 {
                    true => step.dt * velocity[i],
                    false => motion.displacement.truncate(),
                };
                d += step.free_fall;
                if step.is_split() {
                    *pair_sum = pairs.gather(i);
                    d += (*pair_sum + walls.warm_start()) / mass[i];
                }
                motion.displacement = d.extend(0.0);
            });
    }

    /// One iteration: corrects all contacts and moves grains and bodies. If `fused`, it also ends the substep and predicts the next one
    /// in the same loop over the grains.
    fn correct(&mut self, step: &Step, iteration: u32, fused: bool, cx: &StepContext<'_>) {
        let s = &mut self.scratch;
        let (mass, contacts) = (&self.grains.mass, &s.contacts);
        match step.spec.scheme {
            PbdScheme::GaussSeidel => {
                (s.pairs).correct_sequentially(step, iteration, &s.inverse_masses, &mut s.motion);
            }
            _ => s.pairs.correct(self.level, step, iteration, &s.motion),
        }
        let pairs = &s.pairs;
        let (motion, pair_sums) = (&mut s.motion, &mut s.pair_sums);
        s.walls
            .for_grains(step, motion, pair_sums, |i, motion, pair_sum, walls| {
                let (new, part) = match step.spec.scheme {
                    PbdScheme::GaussSeidel => (Vec3::ZERO, 1.0),
                    // Eq. 9.
                    PbdScheme::Averaged => {
                        let part = 1.0 / contacts[i].max(1) as f32;
                        (part * pairs.gather(i), part)
                    }
                    // Pairs accumulate over the substep.
                    PbdScheme::MassSplitting => {
                        let sum = pairs.gather(i);
                        (sum - std::mem::replace(pair_sum, sum), 1.0)
                    }
                };
                let new = new + walls.correct(iteration, part, motion, mass[i]);
                motion.displacement += (new / mass[i]).extend(0.0);
                if fused {
                    motion.total += motion.displacement;
                    let start = (*pair_sum + walls.next_substep()) / mass[i];
                    motion.displacement += (step.free_fall + start).extend(0.0);
                }
            });
        s.walls.move_bodies(cx.colliders);
    }

    /// Adds the displacement of the substep to that of the step.
    fn end_substep(&mut self) {
        let s = &mut self.scratch;
        let motion = s.motion.par_iter_mut().with_min_len(GRAINS_PER_TASK);
        motion.for_each(|m| m.total += m.displacement);
        s.walls.end_substep();
    }

    /// v = (p − x)/Δt (Eq. 3) over the last substep. Grains that moved less than the sleeping threshold stay in place (§7).
    /// Returns the highest speed; one that is not finite is an error.
    fn update_velocities(&mut self, step: &Step, cx: &StepContext<'_>) -> Result<f32, SolverError> {
        // With warm starting heaps rest without sleeping, and moving grains back would push the bodies on them.
        let sleep = match (self.spec.sleep, self.spec.scheme) {
            (Some(threshold), _) => threshold as f32,
            (None, PbdScheme::MassSplitting) => 0.0,
            (None, _) => 0.1 * cx.dt * cx.dt * cx.gravity.length(),
        };
        let per_second = 1.0 / step.dt;
        let most = SPEED_LIMIT_FACTOR * step.max_separation;
        let longest = most * self.spec.substeps as f32;
        let (g, s) = (&mut self.grains, &self.scratch);
        let all = (&mut g.position, &mut g.velocity, &s.motion, &s.contacts).into_par_iter();
        let fastest = all
            .with_min_len(GRAINS_PER_TASK)
            .map(|(x, v, motion, contacts)| {
                let d = motion.total.truncate();
                if *contacts > 0 && d.length() < sleep {
                    *v = Vec3::ZERO;
                } else {
                    *x += d.clamp_length_max(longest);
                    *v = per_second * motion.displacement.truncate().clamp_length_max(most);
                }
                v.length().to_bits()
            })
            // The bits of speeds are in their order, and those of NaN after all others: the largest keeps it.
            .reduce(|| 0, u32::max);
        match f32::from_bits(fastest) {
            speed if speed.is_finite() => Ok(speed),
            _ => Err(self.not_finite(cx.dt)),
        }
    }

    /// The error for the first grain whose speed is not finite, after a step of `dt` [s].
    fn not_finite(&self, dt: f32) -> SolverError {
        let g = &self.grains;
        let bad = g.velocity.iter().position(|v| !v.length().is_finite());
        let bad = bad.unwrap_or_default();
        SolverError::NotFinite {
            id: g.id[bad],
            position: g.position[bad],
            quantity: "velocity",
            dt,
            settings: self.bounds().settings(),
        }
    }

    /// The fixed step.
    fn bounds(&self) -> Pace {
        let dt = self.spec.dt;
        let bound = Bound::at_rest(dt as f32, "solver.pbd.dt", dt, PbdSpec::DEFAULT_DT);
        Pace::Fixed(bound)
    }

    /// Stores the contact forces for the next warm start.
    fn store_forces(&mut self, step: &Step) {
        let count = self.grains.len();
        if step.is_split() {
            self.scratch.pairs.store_forces();
            self.scratch.walls.store_forces(count);
            self.cache_dt = step.dt;
        }
        let row = &mut self.grains.cache_row;
        row.clear();
        row.extend(0..count as u32);
    }

    /// Updates the reference of the speed limits: the largest speed of bodies and grains so far. Grains count with their initial
    /// speed plus the gain by gravity, not with speed from contacts.
    fn update_reference_speed(&mut self, cx: &StepContext<'_>) {
        let fastest = max_speed(&self.grains.velocity);
        let ballistic_speed = fastest.min(self.reference_speed + cx.dt * cx.gravity.length());
        let bodies = cx.colliders.fastest();
        self.reference_speed = self.reference_speed.max(ballistic_speed).max(bodies);
    }

    fn step_settings(&self, cx: &StepContext<'_>) -> Step {
        let (radius, gravity) = (self.spec.radius as f32, cx.gravity.length());
        // In [Holz14] contacts are pairs that overlap at the predicted positions. With warm starting a contact must not end when
        // its grains separate by a rounding error: it persists while free fall in a step could close the gap. And a warm-started
        // force must be removed with the weight with which it was applied.
        let (margin, reduction) = match self.spec.scheme {
            PbdScheme::MassSplitting => (
                (cx.dt * cx.dt * gravity).min(MAX_CONTACT_MARGIN * radius),
                0.0,
            ),
            _ => (0.0, self.spec.error_reduction as f32),
        };
        let dt = cx.dt / self.spec.substeps as f32;
        let climbing_speed = (2.0 * radius * gravity).sqrt();
        Step {
            full_dt: cx.dt,
            dt,
            free_fall: dt * dt * cx.gravity,
            completed_substeps: 0.0,
            remaining_gain: 0.0,
            remaining_gain_sum: 0.0,
            spec: self.spec,
            reduction: reduction * cx.gravity.normalize_or_zero(),
            margin,
            max_separation: match self.limits_separation {
                true => dt * self.reference_speed.max(climbing_speed),
                false => f32::INFINITY,
            },
        }
    }
}

impl Solver for Pbd {
    fn emit(&mut self, batch: &Samples) -> Result<(), SolverError> {
        let g = &mut self.grains;
        let first = g.append(batch)?;
        let density = self.laws[batch.material].density;
        for (i, v) in batch.velocity.iter().enumerate() {
            let radius = batch.radius.get(i).copied();
            let radius = radius.unwrap_or(self.spec.radius as f32);
            let volume = grain_volume(f64::from(radius), self.dimensions);
            g.radius[first + i] = radius;
            g.mass[first + i] = (density * volume) as f32;
            self.max_radius = self.max_radius.max(radius);
            self.reference_speed = self.reference_speed.max(v.length());
        }
        Ok(())
    }

    fn remove(&mut self, region: &Region<'_>) -> Result<usize, SolverError> {
        Ok(self.grains.remove(region))
    }

    fn particles(&self) -> usize {
        self.grains.len()
    }

    fn host_view(&self) -> Option<ParticlesView<'_>> {
        Some(self.grains.view())
    }

    fn height_field(&self) -> Option<&HeightField> {
        self.soil.as_ref().map(|soil| soil.terrain.field())
    }

    fn set_material(&mut self, index: usize, material: &Material) -> Result<(), SolverError> {
        let law = GrainLaw::new(material, &self.spec, self.dimensions)?;
        match self.laws.get_mut(index) {
            Some(own) if own.density == law.density => *own = law,
            _ => return Err(refusal::changed(&METHOD, material)),
        }
        self.contact_table = params::contact_table(&self.laws);
        Ok(())
    }

    fn pace(&mut self) -> Result<Pace, SolverError> {
        Ok(self.bounds())
    }

    fn step(&mut self, cx: &mut StepContext<'_>) -> Result<StepStats, SolverError> {
        let watch = Stopwatch::new();
        self.update_reference_speed(cx);
        let mut step = self.step_settings(cx);
        self.exchange_with_terrain(cx)?; // §7
        let watch = watch.lap(cx, "terrain");
        self.sort(&step, cx);
        let watch = watch.lap(cx, "sort");
        self.find_contacts(&step, cx); // C_s ≤ 0 at the predicted positions
        let watch = watch.lap(cx, "contacts");
        let can_fuse = step.can_fuse_substeps(cx.colliders);
        for substep in 0..self.spec.substeps {
            step.begin_substep(substep, self.spec.substeps);
            if substep == 0 || !can_fuse {
                self.predict(&step); // Eq. 2
            }
            let fused = can_fuse && substep + 1 < self.spec.substeps;
            for iteration in 0..self.spec.iterations {
                let fused = fused && iteration + 1 == self.spec.iterations;
                self.correct(&step, iteration, fused, cx); // Eq. 9, 23, 32, 33
            }
            if !fused {
                self.end_substep();
            }
        }
        let watch = watch.lap(cx, "passes");
        let walls = &self.scratch.walls;
        walls.add_reactions(step.dt, cx.colliders, cx.impulses); // §6.6
        self.store_forces(&step);
        let max_speed = self.update_velocities(&step, cx)?; // Eq. 3
        self.update_terrain_load();
        watch.lap(cx, "motion");
        Ok(StepStats {
            max_speed,
            iterations: self.spec.substeps * self.spec.iterations,
            residual: None,
        })
    }

    fn download(&mut self, columns: &Columns<'_>, out: &mut Frame) -> Result<(), SolverError> {
        let resolution = self.spec.radius as f32;
        let is_wanted = |name: &str| columns.include(name);
        self.grains.write_frame(resolution, is_wanted, out);
        if let Some(soil) = &self.soil {
            soil.terrain.write_frame(out);
        }
        Ok(())
    }

    fn save(&mut self, out: &mut Checkpoint) -> Result<(), SolverError> {
        self.save_state(out);
        if let Some(soil) = &self.soil {
            soil.save(out);
        }
        Ok(())
    }

    fn load(&mut self, from: &Checkpoint) -> Result<(), SolverError> {
        self.load_state(from)?;
        if let Some(soil) = &mut self.soil {
            soil.load(from)?;
        }
        self.update_terrain_load();
        Ok(())
    }
}
