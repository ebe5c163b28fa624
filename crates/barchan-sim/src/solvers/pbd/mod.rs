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
use crate::sampling::{Samples, grain_volume};
use crate::solver::{
    Bound, Columns, Pace, Region, Solver, SolverError, StepContext, StepStats, Stopwatch,
};
use crate::solvers::refusal::{self, Lacks};
use crate::view::ParticlesView;
use barchan_frame::{Checkpoint, Frame};
use barchan_scene::{Dimensions, Material, PbdScheme, PbdSpec, Scene};
use fearless_simd::Level;
use glam::{Vec3, Vec4};
use grains::Grains;
pub use method::METHOD;
use pairs::Pairs;
use params::{GrainLaw, Touch};
use rayon::prelude::*;
use soil::Soil;
use walls::Walls;

/// Gap at which two grains are still taken for a contact, at most [mean radii].
const MARGIN: f32 = 0.2;

/// Speed limit of a grain, as a multiple of the fastest body or grain before the step: grains that separate one from the
/// next add up.
const FASTEST: f32 = 5.0;

/// Grains that one task moves.
const GRAINS_PER_TASK: usize = 1024;

/// Position-based solver.
pub struct Pbd {
    spec: PbdSpec,
    dimensions: Dimensions,
    level: Level,
    laws: Vec<GrainLaw>,
    /// Touch of every pair of materials.
    touch: Vec<Touch>,
    grains: Grains,
    /// Largest radius [m].
    largest: f32,
    /// Fastest speed before the step [m/s], see [`Pbd::keep_pace`].
    pace: f32,
    parts_freely: bool,
    /// Length of the substeps that the remembered forces are of [s].
    memory_dt: f32,
    /// Soil at rest.
    soil: Option<Soil>,
    scratch: Scratch,
}

/// What a step needs and a checkpoint does not.
#[derive(Default)]
struct Scratch {
    cells: Cells,
    spare: Grains,
    /// Predicted positions [m].
    predicted: Vec<Vec3>,
    motion: Vec<Motion>,
    /// Mass times displacement that contacts among grains have given each in the present substep [kg m].
    given: Vec<Vec3>,
    pairs: Pairs,
    walls: Walls,
    /// Contacts of each grain.
    contacts: Vec<u32>,
    /// Inverse masses that contacts see [1/kg].
    weights: Vec<f32>,
}

/// Motion of a grain since the step began.
#[derive(Debug, Clone, Copy)]
struct Motion {
    /// Displacement of the substeps that are done [m].
    total: Vec4,
    /// p − x of the present one [m].
    moved: Vec4,
}

/// What all stages of a step go by.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// Length of the step [s].
    whole: f32,
    /// Length of a substep [s].
    dt: f32,
    /// Δt² g of a substep [m].
    fall: Vec3,
    /// Substeps that are done.
    done: f32,
    /// Part of what speeds up bodies in the step that is still to come after this substep, and the sum of it over those done.
    missing: f32,
    missed: f32,
    passes: u32,
    scheme: PbdScheme,
    /// ε ĝ: the direction of gravity times the error reduction.
    reduction: Vec3,
    is_macklin: bool,
    /// Displacement in a substep with which contacts may let their grains part [m].
    parting: f32,
    /// Gap up to which grains are taken for contacts, so that those at rest do not come and go [m].
    margin: f32,
}

/// Spring and damper of a contact in a pass.
struct Factors {
    keep: f32,
    spring: f32,
    damper: f32,
}

/// Factor from a displacement over a (sub)step of length `before` to that over one of length `dt`: the same force, or in a
/// longer one the same impulse, since the force of an impact lasts no longer than it did.
fn memory_scale(dt: f32, before: f32) -> f32 {
    match before > 0.0 {
        true => (dt / before) * (dt / before).min(1.0),
        false => 0.0,
    }
}

impl Step {
    /// Goes on to a substep of so many.
    fn begin_substep(&mut self, substep: u32, of: u32) {
        self.missed = match substep {
            0 => 0.0,
            _ => self.missed + self.missing,
        };
        self.done = substep as f32;
        self.missing = (of - 1 - substep) as f32 / of as f32;
    }

    /// Whether substeps follow each other without a look at the bodies: none can be pushed.
    fn can_flow(&self, colliders: &Colliders) -> bool {
        let has_mass = |c: &PosedCollider| c.mass.is_some();
        self.scheme == PbdScheme::MassSplitting && !colliders.list.iter().any(has_mass)
    }

    /// Factors of a contact of given stiffness [N/m] and damping [N s/m]. `w` is the sum of the inverse masses [1/kg],
    /// `split` what it is for a contact that shares its grains with others.
    fn factors(&self, stiffness: f64, damping: f64, w: f64, split: f64) -> Factors {
        let dt = f64::from(self.dt);
        let (keep, spring, damper) = match self.scheme {
            PbdScheme::MassSplitting => {
                let (k, c) = contact::followed(stiffness, damping, w, dt);
                contact::whole_step_factors(k, c, split, dt)
            }
            _ => {
                let (spring, damper) =
                    contact::pass_factors(stiffness, damping, split, dt, self.passes);
                (1.0, spring, damper)
            }
        };
        Factors {
            keep: keep as f32,
            spring: spring as f32,
            damper: damper as f32,
        }
    }
}

impl Pbd {
    /// A solver without grains. Refuses what it cannot do.
    pub fn new(scene: &Scene, level: Level) -> Result<Self, SolverError> {
        let spec: PbdSpec = scene.settings();
        let lacks = Lacks {
            periodic: true,
            columns: true,
            ..Lacks::default()
        };
        lacks.refuse("pbd", scene)?;
        if spec.scheme == PbdScheme::MassSplitting && spec.error_reduction > 0.0 {
            tracing::warn!(
                "solver.pbd.error_reduction has no effect with scheme = \"mass splitting\""
            );
        }
        let laws = (scene.materials.iter())
            .map(|m| GrainLaw::new(m, &spec, scene.dimensions))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            spec,
            dimensions: scene.dimensions,
            level,
            touch: params::touch_table(&laws),
            laws,
            grains: Grains::default(),
            largest: 0.0,
            pace: 0.0,
            parts_freely: false,
            memory_dt: 0.0,
            soil: Soil::new(scene, &spec),
            scratch: Scratch::default(),
        })
    }

    /// Lets contacts part grains as fast as they can; for tests.
    pub fn part_freely(&mut self) {
        self.parts_freely = true;
    }

    /// Where the grains would be after the step, p = x + Δt v + Δt² g (Eq. 2), and the grains in the order of the cells
    /// that holds them.
    fn sort(&mut self, step: &Step, cx: &StepContext<'_>) {
        let s = &mut self.scratch;
        let (dt, fall) = (cx.dt, cx.dt * cx.dt * cx.gravity);
        let g = &self.grains;
        let place = |(x, v): (&Vec3, &Vec3)| *x + dt * *v + fall;
        let both = g.position.par_iter().zip(&g.velocity);
        both.with_min_len(GRAINS_PER_TASK)
            .map(place)
            .collect_into_vec(&mut s.predicted);
        s.cells.sort(&s.predicted, 2.0 * self.largest + step.margin);
        self.grains.reorder(&s.cells, &mut s.spare);
        let g = &self.grains;
        let motion = |v: &Vec3| Motion {
            total: Vec4::ZERO,
            moved: (dt * *v + fall).extend(0.0),
        };
        g.velocity
            .par_iter()
            .with_min_len(GRAINS_PER_TASK)
            .map(motion)
            .collect_into_vec(&mut s.motion);
    }

    /// Finds all contacts, once a step, and works out what stays the same in all passes.
    fn find_contacts(&mut self, step: &Step, cx: &StepContext<'_>) {
        let (g, s) = (&self.grains, &mut self.scratch);
        let (motion, touch) = (&s.motion, &self.touch);
        s.pairs.find(self.level, step, g, motion, &s.cells, touch);
        let terrain = self.soil.as_ref().map(|soil| &soil.terrain);
        s.walls.find(step, g, &s.motion, cx.colliders, terrain);
        s.contacts.clear();
        s.contacts.extend((0..g.len()).map(|i| s.pairs.count(i)));
        s.walls.count_into(&mut s.contacts);
        let is_split = step.scheme == PbdScheme::MassSplitting;
        let weight = |(mass, contacts): (&f32, &u32)| match is_split {
            true => *contacts as f32 / mass,
            false => 1.0 / mass,
        };
        let both = g.mass.par_iter().zip(&s.contacts);
        both.with_min_len(GRAINS_PER_TASK)
            .map(weight)
            .collect_into_vec(&mut s.weights);
        let scale = memory_scale(step.dt, self.memory_dt);
        s.pairs.prepare(step, g, touch, &s.weights, scale);
        s.walls
            .prepare(step, g, &self.laws, &s.weights, cx.colliders);
        if is_split {
            s.walls.begin(scale, &g.memory_row);
        }
    }

    /// Eq. 2 for a substep: the displacement of the last one and what gravity and the contact forces of the last one add.
    fn predict(&mut self, step: &Step) {
        let s = &mut self.scratch;
        let (pairs, mass) = (&s.pairs, &self.grains.mass);
        let is_split = step.scheme == PbdScheme::MassSplitting;
        let velocity = &self.grains.velocity;
        s.given.resize(mass.len(), Vec3::ZERO);
        let (motion, given) = (&mut s.motion, &mut s.given);
        s.walls
            .for_grains(step, motion, given, |i, motion, given, walls| {
                let mut d = match step.done == 0.0 {
                    true => step.dt * velocity[i],
                    false => motion.moved.truncate(),
                };
                d += step.fall;
                if is_split {
                    *given = pairs.given_to(i);
                    d += (*given + walls.begin()) / mass[i];
                }
                motion.moved = d.extend(0.0);
            });
    }

    /// One pass: the corrections of all contacts, and where they take the grains and the bodies. With `goes_on` the
    /// substep ends with it and the next is predicted, in the same walk over the grains.
    fn correct(&mut self, step: &Step, pass: u32, goes_on: bool, cx: &StepContext<'_>) {
        let s = &mut self.scratch;
        let (mass, contacts) = (&self.grains.mass, &s.contacts);
        match step.scheme {
            PbdScheme::GaussSeidel => {
                s.pairs
                    .correct_in_turn(step, pass, &s.weights, &mut s.motion);
            }
            _ => s.pairs.correct(self.level, step, pass, &s.motion),
        }
        let pairs = &s.pairs;
        let (motion, given) = (&mut s.motion, &mut s.given);
        s.walls
            .for_grains(step, motion, given, |i, motion, given, walls| {
                let (new, part) = match step.scheme {
                    PbdScheme::GaussSeidel => (Vec3::ZERO, 1.0),
                    // Eq. 9.
                    PbdScheme::Averaged => {
                        let part = 1.0 / contacts[i].max(1) as f32;
                        (part * pairs.given_to(i), part)
                    }
                    // The sum.
                    PbdScheme::MassSplitting => {
                        let all = pairs.given_to(i);
                        (all - std::mem::replace(given, all), 1.0)
                    }
                };
                let new = new + walls.correct(pass, part, motion, mass[i]);
                motion.moved += (new / mass[i]).extend(0.0);
                if goes_on {
                    motion.total += motion.moved;
                    let begin = (*given + walls.go_on()) / mass[i];
                    motion.moved += (step.fall + begin).extend(0.0);
                }
            });
        s.walls.push_bodies(cx.colliders);
    }

    /// The displacement of a substep is done.
    fn end_substep(&mut self) {
        let s = &mut self.scratch;
        let motion = s.motion.par_iter_mut().with_min_len(GRAINS_PER_TASK);
        motion.for_each(|m| m.total += m.moved);
        s.walls.end_substep();
    }

    /// v = (p − x)/Δt (Eq. 3) over the last substep; grains that hardly moved in the step stay where they were (§7).
    /// Returns the highest speed.
    fn finish(&mut self, step: &Step, cx: &StepContext<'_>) -> f32 {
        // Heaps of remembered forces rest by themselves; grains that are put back where they were give bodies on them a push.
        let sleep = match (self.spec.sleep, self.spec.scheme) {
            (Some(threshold), _) => threshold as f32,
            (None, PbdScheme::MassSplitting) => 0.0,
            (None, _) => 0.1 * cx.dt * cx.dt * cx.gravity.length(),
        };
        let per_second = 1.0 / step.dt;
        let most = FASTEST * step.parting;
        let longest = most * self.spec.substeps as f32;
        let contacts = &self.scratch.contacts;
        self.grains
            .position
            .par_iter_mut()
            .zip(&mut self.grains.velocity)
            .zip(self.scratch.motion.par_iter().zip(contacts))
            .with_min_len(GRAINS_PER_TASK)
            .map(|((x, v), (motion, contacts))| {
                let d = motion.total.truncate();
                if *contacts > 0 && d.length() < sleep {
                    *v = Vec3::ZERO;
                } else {
                    *x += d.clamp_length_max(longest);
                    *v = per_second * motion.moved.truncate().clamp_length_max(most);
                }
                v.length()
            })
            .reduce(|| 0.0, f32::max)
    }

    /// The forces of the contacts are where the next step begins.
    fn remember(&mut self, step: &Step) {
        if step.scheme == PbdScheme::MassSplitting {
            self.scratch.pairs.remember();
            self.scratch.walls.remember(self.grains.len());
            self.memory_dt = step.dt;
        }
        let row = &mut self.grains.memory_row;
        row.clear();
        row.extend(0..self.grains.position.len() as u32);
    }

    /// [Holz14] takes what overlaps at the predicted positions for contacts. Where forces are remembered, contacts must
    /// not end whenever two grains part by a hair: they stay as long as a step's fall could close the gap.
    fn margin(&self, cx: &StepContext<'_>) -> f32 {
        match self.spec.scheme {
            PbdScheme::MassSplitting => {
                let fall = cx.dt * cx.dt * cx.gravity.length();
                fall.min(MARGIN * self.spec.radius as f32)
            }
            _ => 0.0,
        }
    }

    /// Contacts never separate grains faster than the fastest speed before the step: that of bodies, and of grains as far as
    /// gravity explains it.
    fn keep_pace(&mut self, cx: &StepContext<'_>) {
        let speeds = self.grains.velocity.par_iter();
        let own = speeds
            .with_min_len(GRAINS_PER_TASK)
            .map(|v| v.length_squared())
            .reduce(|| 0.0, f32::max)
            .sqrt();
        let fallen = own.min(self.pace + cx.dt * cx.gravity.length());
        self.pace = self.pace.max(fallen).max(cx.colliders.fastest());
    }

    fn step_settings(&self, cx: &StepContext<'_>) -> Step {
        // A correction that takes back a remembered force must be weighted as that was: not at all.
        let reduction = match self.spec.scheme {
            PbdScheme::MassSplitting => 0.0,
            _ => self.spec.error_reduction as f32,
        };
        let dt = cx.dt / self.spec.substeps as f32;
        let climb = (2.0 * self.spec.radius as f32 * cx.gravity.length()).sqrt();
        Step {
            whole: cx.dt,
            dt,
            fall: dt * dt * cx.gravity,
            done: 0.0,
            missing: 0.0,
            missed: 0.0,
            passes: self.spec.iterations,
            scheme: self.spec.scheme,
            reduction: reduction * cx.gravity.normalize_or_zero(),
            margin: self.margin(cx),
            parting: match self.parts_freely {
                true => f32::INFINITY,
                false => dt * self.pace.max(climb),
            },
            is_macklin: self.spec.friction == barchan_scene::PbdFriction::Macklin,
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
            self.largest = self.largest.max(radius);
            self.pace = self.pace.max(v.length());
        }
        Ok(())
    }

    fn remove(&mut self, region: &Region<'_>) -> Result<usize, SolverError> {
        let positions = self.grains.position.par_iter();
        let keep: Vec<bool> = positions.map(|p| !region.contains(*p)).collect();
        Ok(self.grains.retain(&keep))
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
            _ => return Err(refusal::changed("pbd", material)),
        }
        self.touch = params::touch_table(&self.laws);
        Ok(())
    }

    fn pace(&mut self) -> Result<Pace, SolverError> {
        let dt = self.spec.dt;
        let bound = Bound::at_rest(dt as f32, "solver.pbd.dt", dt, PbdSpec::USUAL_DT);
        Ok(Pace::Fixed(bound))
    }

    fn step(&mut self, cx: &mut StepContext<'_>) -> Result<StepStats, SolverError> {
        let watch = Stopwatch::new();
        self.keep_pace(cx);
        let mut step = self.step_settings(cx);
        self.exchange(cx)?; // §7: grains at rest are terrain, terrain that is cut is grains
        let watch = watch.lap(cx, "terrain");
        self.sort(&step, cx);
        let watch = watch.lap(cx, "sort");
        self.find_contacts(&step, cx); // C_s ≤ 0 at the predicted positions
        let watch = watch.lap(cx, "contacts");
        let flows = step.can_flow(cx.colliders);
        for substep in 0..self.spec.substeps {
            step.begin_substep(substep, self.spec.substeps);
            if substep == 0 || !flows {
                self.predict(&step); // Eq. 2
            }
            let goes_on = flows && substep + 1 < self.spec.substeps;
            for pass in 0..step.passes {
                let goes_on = goes_on && pass + 1 == step.passes;
                self.correct(&step, pass, goes_on, cx); // Eq. 9, 23, 32, 33
            }
            if !goes_on {
                self.end_substep();
            }
        }
        let watch = watch.lap(cx, "passes");
        let walls = &self.scratch.walls;
        walls.react(step.dt, cx.colliders, cx.impulses); // §6.6
        self.remember(&step);
        let max_speed = self.finish(&step, cx); // Eq. 3
        self.weigh();
        watch.lap(cx, "motion");
        Ok(StepStats {
            max_speed,
            iterations: self.spec.substeps * step.passes,
            residual: 0.0,
        })
    }

    fn download(&mut self, columns: &Columns<'_>, out: &mut Frame) -> Result<(), SolverError> {
        self.write_columns(columns, out);
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
        match &mut self.soil {
            Some(soil) => soil.load(from)?,
            None => return Ok(()),
        }
        self.weigh();
        Ok(())
    }
}

/// Memory that a run of that many grains needs at its peak [bytes].
pub fn memory_estimate(particles: usize) -> u64 {
    // State, its copy, and about three contacts a grain.
    particles as u64 * (2 * 41 + 32 + 3 * 120)
}
