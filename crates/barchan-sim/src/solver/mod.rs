//! The interface of solvers and the context of a step. It does not assume host memory: particles are exchanged as data, so
//! that a solver may run on a GPU or be one of several ranks.

mod pace;

use crate::collider::{BodyImpulses, Colliders};
use crate::height_field::HeightField;
use crate::identities::Identities;
use crate::sampling::Samples;
use crate::view::ParticlesView;
use barchan_frame::{Checkpoint, Frame};
use barchan_scene::numbers::{exact, rounded};
use barchan_scene::{Bounds, Geometry, Material};
use glam::Vec3;
pub use pace::{Bound, Pace, Setting};
use std::time::Duration;

/// The context of a step.
pub struct StepContext<'a> {
    /// Time step [s].
    pub dt: f32,
    /// Time at the beginning of the step [s].
    pub time: f64,
    /// Acceleration of gravity [m/s²].
    pub gravity: Vec3,
    /// Colliders, posed for this step.
    pub colliders: &'a Colliders,
    /// Impulses of the grains on the bodies, to be added to.
    pub impulses: &'a mut BodyImpulses,
    /// Allocator of identities for new particles.
    pub identities: &'a mut Identities,
    /// Wall time per stage, to be added to.
    pub timings: &'a mut Timings,
}

/// Statistics of a step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StepStats {
    /// Fastest particle after the step [m/s].
    pub max_speed: f32,
    /// Iterations of the step; 0 for a solver without iterations.
    pub iterations: u32,
    /// Relative residual of the last iteration, as the solver defines it; `None` if it is not measured.
    pub residual: Option<f32>,
}

/// Where particles are removed.
#[derive(Debug, Clone, Copy)]
pub enum Region<'a> {
    /// Inside a shape: a drain.
    Inside(&'a Geometry),
    /// Outside a box: the domain [m].
    Outside(Bounds),
}

impl Region<'_> {
    /// Whether a point lies in it.
    pub fn contains(&self, p: Vec3) -> bool {
        match self {
            Self::Inside(shape) => shape.distance(p) < 0.0,
            Self::Outside(bounds) => (p.cmplt(bounds.min) | p.cmpgt(bounds.max)).any(),
        }
    }
}

/// The columns requested from a solver.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Columns<'a> {
    /// Those of a frame: the default ones and those that the scene requests.
    #[default]
    Frame,
    /// Those with these names, if frames have them.
    Only(&'a [&'a str]),
}

impl Columns<'_> {
    /// Whether a column is requested.
    pub fn include(&self, name: &str) -> bool {
        match self {
            Self::Frame => true,
            Self::Only(names) => names.contains(&name),
        }
    }
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

/// Errors of a solver. Each names the setting to change.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SolverError {
    /// A value turned NaN or infinite.
    #[error(
        "particle {id} at ({:.4}, {:.4}, {:.4}) m has a {quantity} that is not finite; lower {settings} \
         (the step was {dt:.3e} s), or soften the material",
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
        /// Settings that bound it, see [`Pace::settings`].
        settings: String,
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
    /// The stable time step is too small to make progress.
    #[error(
        "the stable time step fell to {dt:.3e} s ({reason}); coarsen solver.resolution, soften the material, or find what moves so fast"
    )]
    StepTooSmall {
        /// Proposed step [s].
        dt: f32,
        /// What limited it.
        reason: String,
    },
    /// A setting makes the steps far smaller than a frame.
    #[error(
        "a frame would take {} steps of {} s because {setting} = {}; raise it, the default value is {}",
        rounded(*steps, 2), rounded(*dt, 2), exact(*value), exact(*default)
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
        default: f64,
    },
    /// The step failed and the state is unchanged: a shorter step may succeed.
    #[error(
        "a step of {dt:.3e} s failed ({reason}), and so did shorter ones; lower the largest step, or soften the material"
    )]
    Rejected {
        /// Its length [s].
        dt: f32,
        /// Why.
        reason: String,
    },
    /// A checkpoint does not fit the solver.
    #[error("the checkpoint does not fit this scene: {0}; start again without --resume")]
    Checkpoint(String),
    /// The solver does not support a feature of the scene.
    #[error("{reason}; {help}")]
    Unsupported {
        /// Path of the key in the scene that requires it.
        at: String,
        /// What is not supported.
        reason: String,
        /// What to change.
        help: String,
    },
}

impl SolverError {
    /// Path of the key in the scene that is at fault, if one is.
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Unsupported { at, .. } => Some(at),
            Self::TooManySteps { setting, .. } => Some(setting),
            _ => None,
        }
    }

    /// A feature of the scene, at a path of keys, is not supported.
    pub fn unsupported(
        at: impl Into<String>,
        reason: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self::Unsupported {
            at: at.into(),
            reason: reason.into(),
            help: help.into(),
        }
    }
}

/// A solver: owns its state as structure of arrays.
pub trait Solver: Send {
    /// Adds particles.
    fn emit(&mut self, batch: &Samples) -> Result<(), SolverError>;
    /// Removes the particles in a region; returns how many.
    fn remove(&mut self, region: &Region<'_>) -> Result<usize, SolverError>;
    /// Number of particles now.
    fn particles(&self) -> usize;
    /// Soil at rest as columns, if the solver has any in host memory.
    fn height_field(&self) -> Option<&HeightField> {
        None
    }
    /// Changes the parameters of a material from now on.
    fn set_material(&mut self, index: usize, material: &Material) -> Result<(), SolverError>;
    /// How long the next step may be. Whether steps are fixed does not change during a run.
    fn pace(&mut self) -> Result<Pace, SolverError>;
    /// Advances by one step. On [`SolverError::Rejected`] the state is unchanged, and a shorter step is tried.
    fn step(&mut self, cx: &mut StepContext<'_>) -> Result<StepStats, SolverError>;
    /// Writes columns for the viewer and for measurement. Columns that `out` has are those of an earlier frame: their
    /// memory may be used again, their values may not.
    fn download(&mut self, columns: &Columns<'_>, out: &mut Frame) -> Result<(), SolverError>;
    /// The particles in host memory; `None` for a solver that keeps them elsewhere.
    fn host_view(&self) -> Option<ParticlesView<'_>> {
        None
    }
    /// Writes the exact state.
    fn save(&mut self, out: &mut Checkpoint) -> Result<(), SolverError>;
    /// Restores the exact state.
    fn load(&mut self, from: &Checkpoint) -> Result<(), SolverError>;
}
