//! The frame loop: samples the scene, then alternates solver steps with emission, rigid bodies and removal.
//!
//! ```text
//! Scene ──► Simulation::new ──► advance_frame ──► write_frame (for output), save (to resume from)
//!                                  │ emit · choose a step · pose the bodies · solver step · move the bodies · remove
//! ```
//!
//! The state of a run is that of the solver, of the bodies and `LoopState`; all are in the checkpoint bit by bit, so that a
//! resumed run is identical to an uninterrupted one.

mod embed;
mod error;
mod limits;
mod record;
mod stepping;
#[cfg(test)]
mod tests;

use crate::bodies::Bodies;
use crate::collider::{BodyImpulses, Colliders};
use crate::contacts::rigid::Wrench;
use crate::sampling::{EmitterSampler, Spacing, sample_fill};
use crate::solver::{Columns, Pace, Region, Solver, SolverError, StepStats, Timings};
use crate::solvers;
use crate::start::{self, StartError, StartRecord};
use barchan_frame::{Checkpoint, Frame, FrameRecord, LoopState};
use barchan_scene::{Bounds, Dimensions, Drain, Emitter, Fill, Gravity, Material, Scene};
pub use embed::CreateError;
pub use error::SimulationError;
use glam::Vec3;
pub use limits::Forecast;
use std::time::Duration;

/// Return value of the callback of [`Simulation::advance_frame`]; also how the frame ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// Continue.
    Continue,
    /// Leave the frame unfinished. The next call of `advance_frame` continues it.
    Stop,
}

/// Progress of the run after a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// The frame being computed, from 1.
    pub frame: u32,
    /// Fraction of that frame that is done, in [0, 1].
    pub part: f64,
    /// Simulated time [s].
    pub time: f64,
    /// The step just taken [s].
    pub dt: f64,
    /// Particles now.
    pub particles: usize,
    /// Steps since the beginning of the run.
    pub substeps: u64,
}

/// A running simulation of a scene.
pub struct Simulation {
    frame_rate: f64,
    default_rate: f64,
    dx: f64,
    gravity: Gravity,
    domain: Option<Bounds>,
    drains: Vec<Drain>,
    emitters: Vec<EmitterSampler>,
    solver: Box<dyn Solver>,
    /// Whether the solver has a fixed time step.
    is_fixed: bool,
    colliders: Colliders,
    bodies: Bodies,
    /// Impulses of the grains on each body since the previous frame.
    impulses: BodyImpulses,
    /// Impulses over the last step, and its length [s].
    recent: (BodyImpulses, f64),
    /// Impulses of a solver step; scratch.
    given: BodyImpulses,
    timings: Timings,
    solver_wall: Duration,
    particle_substeps_here: u64,
    start: Option<StartRecord>,
    state: LoopState,
}

impl Simulation {
    /// Builds the scene's solver and fills it with particles, at t = 0: those of the result that the scene starts from, then
    /// those of its fills.
    pub fn new(scene: &Scene) -> Result<Self, SimulationError> {
        let solver = solvers::build(scene).map_err(SimulationError::Setup)?;
        Self::with_solver(scene, solver)
    }

    /// As [`Self::new`], with a given solver.
    pub fn with_solver(scene: &Scene, solver: Box<dyn Solver>) -> Result<Self, SimulationError> {
        let mut simulation = Self::empty(scene, solver)?;
        let present = simulation.load_start(scene)?;
        for index in 0..scene.fills.len() {
            refuse_overlap(&scene.fills[index], &present)?;
            simulation.fill(scene, index)?;
        }
        Ok(simulation)
    }

    /// Builds the scene's solver and restores the state of `checkpoint`.
    pub fn resume(scene: &Scene, checkpoint: &Checkpoint) -> Result<Self, SimulationError> {
        let solver = solvers::build(scene).map_err(SimulationError::Setup)?;
        let mut simulation = Self::empty(scene, solver)?;
        simulation.load(checkpoint)?;
        Ok(simulation)
    }

    /// A simulation without particles.
    fn empty(scene: &Scene, mut solver: Box<dyn Solver>) -> Result<Self, SimulationError> {
        let spacing = Spacing::of(scene);
        let sampler = |emitter: &Emitter| {
            let material = scene.materials.get(emitter.material);
            let density = material.map_or(0.0, |m| m.density);
            EmitterSampler::new(emitter, density, &spacing, scene.dimensions, scene.seed)
        };
        let bodies = Bodies::new(scene).map_err(SimulationError::Setup)?;
        let mut colliders = Colliders::new(scene.solids());
        bodies.pose(&mut colliders);
        let impulses = BodyImpulses::zero(colliders.list.len());
        Ok(Self {
            frame_rate: scene.frame_rate,
            default_rate: scene.solver.family.frame_rate,
            dx: scene.solver.resolution,
            gravity: scene.gravity.clone(),
            domain: walls(scene),
            drains: scene.drains.clone(),
            is_fixed: solver.pace().map_err(SimulationError::Setup)?.is_fixed(),
            solver,
            colliders,
            bodies,
            recent: (impulses.clone(), 0.0),
            given: impulses.clone(),
            impulses,
            timings: Timings::default(),
            solver_wall: Duration::ZERO,
            particle_substeps_here: 0,
            start: None,
            state: LoopState {
                emitted: vec![0; scene.emitters.len()],
                drained: vec![0; scene.drains.len()],
                ..LoopState::default()
            },
            emitters: scene.emitters.iter().map(sampler).collect(),
        })
    }

    /// Loads the particles of the result that the scene starts from; returns their positions [m].
    fn load_start(&mut self, scene: &Scene) -> Result<Vec<Vec3>, SimulationError> {
        let (Some(from), Some(begin)) = (&scene.start, start::read(scene)?) else {
            return Ok(Vec::new());
        };
        if let Some((count, first)) = count(&begin.positions, |p| self.is_outside(p)) {
            let message = format!(
                "`{}` has {count} particles outside the domain, the first at ({:.4}, {:.4}, {:.4}) m",
                from.result, first.x, first.y, first.z
            );
            return Err(StartError::new(message, "enlarge `domain`").into());
        }
        self.solver.load(&begin.state).map_err(|e| match e {
            SolverError::Checkpoint(reason) => start::misfit(from, &reason),
            other => start::misfit(from, &other.to_string()),
        })?;
        self.state.identities = begin.identities;
        self.start = Some(begin.record);
        Ok(begin.positions)
    }

    /// Samples one fill, excluding particles inside colliders and earlier fills.
    fn fill(&mut self, scene: &Scene, index: usize) -> Result<(), SimulationError> {
        let fill = &scene.fills[index];
        let (colliders, earlier) = (&self.colliders, &scene.fills[..index]);
        let excluded = |p: Vec3, radius: f32| {
            colliders.list.iter().any(|c| c.distance(p) < radius)
                || earlier.iter().any(|f| f.shape.distance(p) < 0.0)
        };
        let (spacing, dimensions) = (Spacing::of(scene), scene.dimensions);
        let sample = || sample_fill(fill, &spacing, dimensions, scene.seed, &excluded);
        let mut samples = self.timings.span("sampling", sample);
        let name = fill.name.clone();
        if samples.is_empty() {
            return Err(SimulationError::EmptyFill { name, dx: self.dx });
        }
        if let Some((count, position)) = count(&samples.position, |p| self.is_outside(p)) {
            return Err(SimulationError::OutsideDomain {
                name,
                count,
                position,
            });
        }
        samples.first_id = self.state.identities.take(samples.len())?;
        let emitted = self.solver.emit(&samples);
        emitted.map_err(|error| SimulationError::Setup(at_fill(error, index)))
    }

    /// Advances to the end of the next frame, exactly at the time (frame + 1) / frame_rate. `watch` is called after every step; if it
    /// returns [`Control::Stop`], the frame is left unfinished.
    pub fn advance_frame(
        &mut self,
        watch: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<Control, SimulationError> {
        let frame = self.state.frame + 1;
        let end = f64::from(frame) / self.frame_rate;
        if self.is_between_frames() {
            self.begin_record();
        }
        while self.state.time < end {
            self.clear_recent();
            let (dt, _) = self.step_toward(end, false)?;
            let progress = self.progress(dt);
            if watch(&progress) == Control::Stop && self.state.time < end {
                return Ok(Control::Stop);
            }
        }
        self.emit_and_remove()?;
        self.state.frame = frame;
        Ok(Control::Continue)
    }

    /// Advances by exactly `dt` [s], for embedding and live use: one step, or as many as the solver needs for that.
    /// Frame numbers follow the simulated time; [`Self::save`] and frame records refer to the time reached.
    ///
    /// # Errors
    /// Those of [`Self::advance_frame`], and a `dt` that is not positive.
    pub fn step(&mut self, dt: f64) -> Result<StepStats, SimulationError> {
        let end = self.state.time + dt;
        let goes_on = dt.is_finite() && end > self.state.time;
        if !goes_on {
            return Err(SimulationError::NoStep { dt });
        }
        self.begin_record();
        self.clear_recent();
        let mut stats = StepStats::default();
        while self.state.time < end {
            (_, stats) = self.step_toward(end, true)?;
        }
        self.emit_and_remove()?;
        // With a tolerance: sums of steps are rounded.
        let frames = end * self.frame_rate;
        self.state.frame = (frames + 1e-6).floor().clamp(0.0, f64::from(u32::MAX)) as u32;
        Ok(stats)
    }

    /// Resets the sums of a frame's record.
    fn begin_record(&mut self) {
        self.impulses.clear();
        self.state.frame_substeps = 0;
        self.state.frame_iterations = 0;
        self.state.frame_residual = None;
    }

    /// Brings emission and removal up to the present time.
    fn emit_and_remove(&mut self) -> Result<(), SimulationError> {
        self.emit_until_now()?;
        let failed = SimulationError::in_frame(self.state.frame + 1);
        self.remove_lost().map_err(failed)
    }

    /// Resets the impulses over the last step.
    fn clear_recent(&mut self) {
        self.recent.0.clear();
        self.recent.1 = 0.0;
    }

    /// The present particles with the record of statistics, bodies, joints and terrain.
    pub fn write_frame(&mut self) -> Result<Frame, SimulationError> {
        self.write_frame_over(Frame::default())
    }

    /// As [`Self::write_frame`], reusing the memory of an earlier frame.
    pub fn write_frame_over(&mut self, spent: Frame) -> Result<Frame, SimulationError> {
        let mut frame = Frame {
            index: self.state.frame,
            time: self.state.time,
            columns: spent.columns,
            ..Frame::default()
        };
        let failed = SimulationError::in_frame(self.state.frame);
        let written = self.solver.download(&Columns::Frame, &mut frame);
        written.map_err(failed)?;
        frame.record = FrameRecord {
            statistics: record::statistics(self, &frame),
            bodies: record::bodies(self),
            joints: record::joints(self),
            terrain: frame.record.terrain,
        };
        Ok(frame)
    }

    /// The exact state, from which a run resumes. Only between frames.
    pub fn save(&mut self) -> Result<Checkpoint, SimulationError> {
        if !self.is_between_frames() {
            return Err(SimulationError::MidFrame);
        }
        let mut checkpoint = Checkpoint {
            index: self.state.frame,
            time: self.state.time,
            ..Checkpoint::default()
        };
        let failed = SimulationError::in_frame(self.state.frame);
        self.solver.save(&mut checkpoint).map_err(failed)?;
        checkpoint.record.loop_state = Some(self.state.clone());
        checkpoint.record.bodies = self.bodies.save().map_err(SimulationError::Checkpoint)?;
        Ok(checkpoint)
    }

    /// Restores the state of `checkpoint`.
    pub fn load(&mut self, checkpoint: &Checkpoint) -> Result<(), SimulationError> {
        let refuse = |reason: &str| SimulationError::Checkpoint(reason.into());
        let state = checkpoint.record.loop_state.clone();
        let state = state.ok_or_else(|| refuse("it holds no state of the frame loop"))?;
        if !(state.emitted_until.is_finite() && state.traveled.is_finite()) {
            return Err(refuse("its state of the frame loop is not finite"));
        }
        if state.emitted.len() != self.emitters.len() || state.drained.len() != self.drains.len() {
            return Err(refuse("its emitters or drains are not those of the scene"));
        }
        if state.time != f64::from(state.frame) / self.frame_rate {
            return Err(SimulationError::Checkpoint(format!(
                "its time ({} s) is not that of frame {} at {} frames a second",
                state.time, state.frame, self.frame_rate
            )));
        }
        let loaded = self.solver.load(checkpoint);
        loaded.map_err(|e| SimulationError::Checkpoint(e.to_string()))?;
        let loaded = self.bodies.load(&checkpoint.record.bodies);
        loaded.map_err(SimulationError::Checkpoint)?;
        self.bodies.pose(&mut self.colliders);
        self.state = state;
        self.impulses.clear();
        self.clear_recent();
        Ok(())
    }

    /// Whether a point lies outside the domain.
    fn is_outside(&self, p: Vec3) -> bool {
        self.domain.is_some_and(|b| Region::Outside(b).contains(p))
    }

    fn is_between_frames(&self) -> bool {
        self.state.time == f64::from(self.state.frame) / self.frame_rate
    }

    fn progress(&self, dt: f64) -> Progress {
        let begin = f64::from(self.state.frame) / self.frame_rate;
        Progress {
            frame: self.state.frame + 1,
            part: ((self.state.time - begin) * self.frame_rate).clamp(0.0, 1.0),
            time: self.state.time,
            dt,
            particles: self.solver.particles(),
            substeps: self.state.substeps,
        }
    }

    /// The start from an earlier result; `None` after [`Self::resume`].
    pub fn start(&self) -> Option<&StartRecord> {
        self.start.as_ref()
    }

    /// Changes the parameters of a material from now on.
    ///
    /// # Errors
    /// The solver cannot change them during a run.
    pub fn set_material(
        &mut self,
        index: usize,
        material: &Material,
    ) -> Result<(), SimulationError> {
        let changed = self.solver.set_material(index, material);
        changed.map_err(SimulationError::in_frame(self.state.frame))
    }

    /// The last whole frame.
    pub fn frame(&self) -> u32 {
        self.state.frame
    }

    /// Simulated time [s].
    pub fn time(&self) -> f64 {
        self.state.time
    }

    /// Particles now.
    pub fn particles(&self) -> usize {
        self.solver.particles()
    }

    /// Estimates the next frame from the step that would be taken now and from gravity.
    ///
    /// # Errors
    /// A step too small to finish the frame.
    pub fn forecast(&mut self) -> Result<Forecast, SimulationError> {
        let end = f64::from(self.state.frame + 1) / self.frame_rate;
        let gravity = self.gravity.at(self.state.time).length();
        let chosen = self.choose_step(end, false, f64::INFINITY);
        chosen
            .and_then(|(dt, _)| self.limits()?.forecast(dt, f64::from(gravity)))
            .map_err(SimulationError::Setup)
    }

    /// Length of a step [s] of a solver whose steps have one length.
    pub fn fixed_step(&mut self) -> Option<f64> {
        match self.solver.pace() {
            Ok(Pace::Fixed(bound)) => bound.setting.map(|s| s.value),
            _ => None,
        }
    }

    /// The rigid bodies and joints.
    pub fn bodies(&self) -> &Bodies {
        &self.bodies
    }

    /// The rigid bodies and joints, to drive and drag them.
    pub fn bodies_mut(&mut self) -> &mut Bodies {
        &mut self.bodies
    }

    /// Colliders and rigid bodies as they were posed last.
    pub fn colliders(&self) -> &Colliders {
        &self.colliders
    }

    /// Mean force and torque of the grains on a body (index into [`Colliders::list`]) over the last step, about the body's
    /// origin. Zero for unknown bodies.
    pub fn reaction(&self, body: usize) -> Wrench {
        let (given, dt) = (self.recent.0.bodies.get(body), self.recent.1);
        match given {
            Some(given) if dt > 0.0 => given.over(dt),
            _ => Wrench::default(),
        }
    }

    /// State of the frame loop, with its counters since the beginning of the run, resumed or not.
    pub fn counters(&self) -> &LoopState {
        &self.state
    }

    /// Wall time per stage, in this process.
    pub fn timings(&self) -> &Timings {
        &self.timings
    }

    /// Wall time inside solver steps, in this process.
    pub fn solver_wall(&self) -> Duration {
        self.solver_wall
    }

    /// Particles advanced, summed over the steps of this process; divided by [`Self::solver_wall`], the throughput.
    pub fn particle_substeps_here(&self) -> u64 {
        self.particle_substeps_here
    }
}

/// The refusal of a fill, at its place in the scene.
fn at_fill(error: SolverError, index: usize) -> SolverError {
    match error {
        SolverError::OutOfRange { position: p, .. } => SolverError::unsupported(
            format!("fill.{index}.shape"),
            format!(
                "it has particles beyond the addressable grid, at ({:.3e}, {:.3e}, {:.3e}) m",
                p.x, p.y, p.z
            ),
            "move the fill toward the origin, or choose a coarser solver.resolution",
        ),
        other => other,
    }
}

/// A fill must not overlap the particles of the start: only the user can decide which of them to keep.
fn refuse_overlap(fill: &Fill, present: &[Vec3]) -> Result<(), SimulationError> {
    match count(present, |p| fill.shape.distance(p) < 0.0) {
        None => Ok(()),
        Some((count, position)) => Err(SimulationError::FillInStart {
            name: fill.name.clone(),
            count,
            position,
        }),
    }
}

/// Number of the points for which a condition holds, and the first of them.
fn count(points: &[Vec3], holds: impl Fn(Vec3) -> bool) -> Option<(usize, Vec3)> {
    let mut found = points.iter().copied().filter(|p| holds(*p));
    let first = found.next()?;
    Some((1 + found.count(), first))
}

/// The domain, unbounded along periodic axes and along z in 2D.
fn walls(scene: &Scene) -> Option<Bounds> {
    let mut bounds = scene.domain?;
    let flat = scene.dimensions == Dimensions::Two;
    let open = [
        scene.periodic[0],
        scene.periodic[1],
        scene.periodic[2] || flat,
    ];
    for axis in (0..3).filter(|&axis| open[axis]) {
        bounds.min[axis] = f32::NEG_INFINITY;
        bounds.max[axis] = f32::INFINITY;
    }
    Some(bounds)
}
