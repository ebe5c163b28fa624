//! Errors of refinement.

use barchan_frame::CacheError;

/// Why a base cannot be refined, or a refinement cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum DetailError {
    /// A frame of the base cannot be read.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// A column of the base is missing or of another type.
    #[error(
        "frame {frame} of the base has no column `{column}` of {expected}; refine frames that a particle solver wrote"
    )]
    Column {
        /// Number of the frame.
        frame: u32,
        /// Name of the column.
        column: &'static str,
        /// Expected type and shape.
        expected: &'static str,
    },
    /// A value of the base is NaN, infinite or impossible.
    #[error(
        "particle {id} in frame {frame} of the base has the {column} {value}; look for what went wrong in the run"
    )]
    Value {
        /// Number of the frame.
        frame: u32,
        /// Identity of the particle.
        id: u64,
        /// Name of the column.
        column: &'static str,
        /// The value.
        value: f32,
    },
    /// Two particles of the base have the same identity.
    #[error("two particles in frame {frame} of the base have the id {id}; run the scene again")]
    DuplicateId {
        /// Number of the frame.
        frame: u32,
        /// Identity.
        id: u64,
    },
    /// Time does not increase from one frame of the base to the next.
    #[error(
        "frame {frame} of the base is at {time} s, not later than the frame before; run the scene again"
    )]
    Time {
        /// Number of the frame.
        frame: u32,
        /// Its time [s].
        time: f64,
    },
    /// Fewer grains than base particles were requested.
    #[error("{grains} grains are fewer than the {particles} particles of the base")]
    TooFew {
        /// Requested grains.
        grains: u64,
        /// Base particles in all frames.
        particles: u64,
    },
    /// More grains than identities were requested.
    #[error("{0} grains are more than the 4 294 967 295 available identities")]
    TooMany(u64),
    /// A frame of grains lacks the number of removed grains.
    #[error(
        "frame {frame} of the grains has no statistics of a refinement; refine again into another directory"
    )]
    NoStatistics {
        /// Number of the frame.
        frame: u32,
    },
    /// A frame of grains is not one that refinement wrote.
    #[error(
        "frame {frame} of the grains has no column `{column}` as refinement writes it; refine again into another directory"
    )]
    Foreign {
        /// Number of the frame.
        frame: u32,
        /// Name of the column.
        column: &'static str,
    },
}
