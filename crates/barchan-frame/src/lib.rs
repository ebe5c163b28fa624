//! Results: frames of named columns with types and units, the frame cache, and checkpoints.
//!
//! Solvers write [`Frame`]s; a [`ResultDirectory`] stores them for all other commands. The layout on disk is described in `docs/frames.md`. Nothing here depends on the solver that wrote a frame.

mod checkpoint;
mod column;
mod digest;
mod directory;
mod error;
mod exact;
mod files;
pub mod identities;
mod manifest;
mod node;
mod quantize;
mod record;
mod unit;
mod zarr;

pub use checkpoint::{Checkpoint, CheckpointRecord, LoopState};
pub use column::{Column, ColumnData, Frame, State};
pub use digest::document_digest;
pub use directory::{CHECKPOINTS_KEPT, ResultDirectory};
pub use error::CacheError;
pub use exact::Exact;
pub use manifest::{
    FORMAT_VERSION, Manifest, ManifestDetail, ManifestMaterial, ManifestMesh, ManifestStart,
};
pub use node::{CheckpointInfo, ColumnInfo, FrameInfo};
pub use quantize::{quantization_step, round_to_step};
pub use record::{
    BodyRecord, DetailStatistics, FrameRecord, JointRecord, NamedCount, RunStatistics, Statistics,
    TERRAIN_HEIGHT, TerrainRecord,
};
pub use unit::Unit;
