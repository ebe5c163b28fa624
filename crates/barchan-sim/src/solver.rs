//! The interface every solver has, and what a step is given.

use crate::collider::{BodyImpulses, Colliders};
use crate::sampling::Samples;
use crate::terrain::Terrain;
use crate::view::ParticlesView;
use barchan_frame::{Checkpoint, Frame};
use barchan_scene::Material;
use barchan_scene::numbers::{exact, rounded};
use glam::Vec3;
use std::time::Duration;

/// What a step is given.
pub struct StepContext<'a> {
    /// Time step [s].
    pub dt: f32,
    /// Time at the beginning of the step [s].
    pub time: f64,
    /// Acceleration of gravity [m/s²].
    pub gravity: Vec3,
    /// Colliders, posed for this step.
    pub colliders: &'a Colliders,
    /// What the grains do to the bodies, added to.
    pub impulses: &'a mut BodyImpulses,
    /// Wall time per stage, added to.
    pub timings: &'a mut Timings,
}

/// What a step reports.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StepStats {
    /// Fastest particle after the step [m/s].
    pub max_speed: f32,
    /// Grid blocks in use.
    pub blocks: usize,
}

/// Wall time per named stage.
#[derive(Debug, Clone, Default)]
pub struct Timings {
    stages: Vec<(&'static str, Duration)>,
}

impl Timings {
    /// Runs `work` and adds its wall time to `stage`.
    pub fn span<R>(&mut self, stage: &'static str, work: impl FnOnce() -> R) -> R {
        let start = std::time::Instant::now();
        let result = work();
        self.add(stage, start.elapsed());
        result
    }

    /// Adds wall time to a stage.
    pub fn add(&mut self, stage: &'static str, elapsed: Duration) {
        match self.stages.iter_mut().find(|(name, _)| *name == stage) {
            Some((_, total)) => *total += elapsed,
            None => self.stages.push((stage, elapsed)),
        }
    }

    /// Stages in the order they first ran, with their total wall time.
    pub fn stages(&self) -> &[(&'static str, Duration)] {
        &self.stages
    }
}

/// Wall time since the last lap, added to a stage.
pub(crate) struct Stopwatch(std::time::Instant);

impl Stopwatch {
    pub fn new() -> Self {
        Self(std::time::Instant::now())
    }

    pub fn lap(self, cx: &mut StepContext<'_>, stage: &'static str) -> Self {
        cx.timings.add(stage, self.0.elapsed());
        Self::new()
    }
}

/// Why a solver could not go on. Each names the setting to change.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SolverError {
    /// A value turned NaN or infinite.
    #[error(
        "particle {id} at ({:.4}, {:.4}, {:.4}) m has a {quantity} that is not finite; lower solver.max_dt or \
         solver.elastic_cfl (the step was {dt:.3e} s), or soften the material",
        position.x, position.y, position.z
    )]
    NotFinite {
        /// Id of the particle.
        id: u32,
        /// Last known position [m].
        position: Vec3,
        /// Which column.
        quantity: &'static str,
        /// Time step [s].
        dt: f32,
    },
    /// A particle left the region that the grid can address.
    #[error(
        "particle {id} left the addressable grid at ({:.3e}, {:.3e}, {:.3e}) m; give the scene a domain, or a drain below it",
        position.x, position.y, position.z
    )]
    OutOfRange {
        /// Id of the particle.
        id: u32,
        /// Position [m].
        position: Vec3,
    },
    /// The stable time step is too small to get anywhere.
    #[error(
        "the stable time step fell to {dt:.3e} s ({reason}); coarsen solver.dx, soften the material, or look for what moves so fast"
    )]
    StepTooSmall {
        /// Proposed step [s].
        dt: f32,
        /// What limited it.
        reason: String,
    },
    /// A setting makes the steps far smaller than a frame.
    #[error(
        "a frame would take {} steps of {} s because {setting} = {}; raise it, the usual value is {}",
        rounded(*steps, 2), rounded(*dt, 2), exact(*value), exact(*usual)
    )]
    TooManySteps {
        /// Steps in a frame.
        steps: f64,
        /// Length of one [s].
        dt: f64,
        /// Key in the scene.
        setting: &'static str,
        /// Its value.
        value: f64,
        /// Its default.
        usual: f64,
    },
    /// A checkpoint does not fit the solver.
    #[error("the checkpoint does not fit this scene: {0}; start again without --resume")]
    Checkpoint(String),
    /// The solver cannot do what the scene asks for.
    #[error("{0}")]
    Unsupported(String),
}

/// A solver: owns its state as structure of arrays.
pub trait Solver: Send {
    /// Adds particles.
    fn emit(&mut self, batch: &Samples) -> Result<(), SolverError>;
    /// Removes every particle whose position satisfies `doomed`; returns how many.
    fn remove(&mut self, doomed: &(dyn Fn(Vec3) -> bool + Sync)) -> usize;
    /// Number of particles now.
    fn particles(&self) -> usize;
    /// The particles where the solver keeps them. Empty for a solver that does not show them.
    fn view(&self) -> ParticlesView<'_> {
        ParticlesView::default()
    }
    /// Soil at rest, if the solver has any.
    fn terrain(&self) -> Option<&Terrain> {
        None
    }
    /// Takes other values for a material of the scene, from now on.
    fn set_material(&mut self, index: usize, material: &Material) -> Result<(), SolverError>;
    /// Largest stable step from the present state [s].
    fn max_dt(&mut self) -> Result<f32, SolverError>;
    /// Advances by one step.
    fn step(&mut self, cx: &mut StepContext<'_>) -> Result<StepStats, SolverError>;
    /// Writes columns for the viewer and for measurement. Columns that `out` has are those of an earlier frame: their
    /// memory may be used again, their values may not.
    fn write_frame(&mut self, out: &mut Frame) -> Result<(), SolverError>;
    /// Writes the exact state.
    fn save(&mut self, out: &mut Checkpoint) -> Result<(), SolverError>;
    /// Restores the exact state.
    fn load(&mut self, from: &Checkpoint) -> Result<(), SolverError>;
}
