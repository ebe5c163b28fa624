//! Errors of a simulation.

use crate::identities::Exhausted;
use crate::solver::SolverError;
use crate::start::StartError;
use barchan_scene::{Scene, SceneErrors};
use glam::Vec3;

/// Why a simulation could not start or continue.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SimulationError {
    /// The solver refuses the scene.
    #[error("the solver cannot run this scene: {0}")]
    Setup(SolverError),
    /// The result that the scene starts from cannot be used.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A fill overlaps particles of the start.
    #[error(
        "fill `{name}` lies where {count} particles of the start are, the first at ({:.4}, {:.4}, {:.4}) m; move the fill \
         to where there is room, or fill the earlier scene with it",
        position.x, position.y, position.z
    )]
    FillInStart {
        /// Name of the fill.
        name: String,
        /// Number of particles.
        count: usize,
        /// Position of the first of them [m].
        position: Vec3,
    },
    /// A fill gives no particle at all.
    #[error(
        "fill `{name}` gives no particles: it is thinner than a cell (or a grain: {dx} m), or lies inside colliders or \
         earlier fills; refine the resolution or move it"
    )]
    EmptyFill {
        /// Name of the fill.
        name: String,
        /// Grid spacing [m].
        dx: f64,
    },
    /// A fill begins outside the domain.
    #[error(
        "fill `{name}` has {count} particles outside the domain, the first at ({:.4}, {:.4}, {:.4}) m; enlarge `domain` \
         or move the fill",
        position.x, position.y, position.z
    )]
    OutsideDomain {
        /// Name of the fill.
        name: String,
        /// Number of particles.
        count: usize,
        /// Position of the first of them [m].
        position: Vec3,
    },
    /// Ids are 32 bits wide.
    #[error(
        "the scene needs more than 4 294 967 295 particles in total; coarsen solver.resolution or use a smaller --scale"
    )]
    TooManyParticles,
    /// The solver stopped.
    #[error("frame {frame}: {source}")]
    Solver {
        /// The frame being computed.
        frame: u32,
        /// Why.
        source: SolverError,
    },
    /// A checkpoint cannot be used.
    #[error("the checkpoint cannot be used: {0}; start again without --resume")]
    Checkpoint(String),
    /// A step of invalid length.
    #[error("a step of {dt} s is not possible; give a length that is finite and above 0")]
    NoStep {
        /// Its length [s].
        dt: f64,
    },
    /// A checkpoint was asked for in the middle of a frame.
    #[error("a checkpoint can only be written between frames")]
    MidFrame,
}

impl SimulationError {
    /// Adds the frame in which the solver stopped.
    pub(super) fn in_frame(frame: u32) -> impl Fn(SolverError) -> Self + Copy {
        move |source| Self::Solver { frame, source }
    }

    /// The error at its line of the scene; `None` where no line is at fault.
    pub fn in_scene(&self, scene: &Scene) -> Option<SceneErrors> {
        let (at, text) = match self {
            Self::Start(error) => return error.in_scene(scene),
            Self::Setup(source) => (source.key()?.to_owned(), source.to_string()),
            Self::Solver { source, .. } => (source.key()?.to_owned(), self.to_string()),
            Self::FillInStart { name, .. }
            | Self::EmptyFill { name, .. }
            | Self::OutsideDomain { name, .. } => {
                let index = scene.fills.iter().position(|fill| fill.name == *name)?;
                (format!("fill.{index}.shape"), self.to_string())
            }
            Self::TooManyParticles => ("solver.resolution".to_owned(), self.to_string()),
            _ => return None,
        };
        // All these texts have the form `fault; remedy`.
        let (message, help) = text.split_once("; ").unwrap_or((&text, ""));
        Some(scene.places.find(&at).refuse(message, help))
    }

    /// Whether the scene is at fault, not the run.
    pub fn is_scene_error(&self) -> bool {
        matches!(
            self,
            Self::Setup(_)
                | Self::Start(_)
                | Self::FillInStart { .. }
                | Self::EmptyFill { .. }
                | Self::OutsideDomain { .. }
                | Self::TooManyParticles
        )
    }
}

impl From<Exhausted> for SimulationError {
    fn from(_: Exhausted) -> Self {
        Self::TooManyParticles
    }
}
