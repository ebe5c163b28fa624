//! What comes out: frames of named, typed, united columns; the frame cache; checkpoints.
//!
//! A [`Frame`] is what a solver writes, a [`ResultDirectory`] is where it goes and where everything downstream reads
//! it. The layout on disk is described in `docs/frames.md`. Nothing here knows which solver wrote a frame.

pub mod column;
mod digest;
mod directory;
mod error;
mod files;
mod manifest;
mod node;
mod quantise;
mod zarr;

pub use column::{Checkpoint, Column, ColumnData, Frame};
pub use digest::{digest, document_digest};
pub use directory::{CHECKPOINTS_KEPT, ResultDirectory};
pub use error::CacheError;
pub use manifest::{
    FORMAT_VERSION, Manifest, ManifestDetail, ManifestMaterial, ManifestMesh, ManifestStart,
};
pub use node::{ColumnInfo, FrameInfo};
pub use quantise::{quantisation_step, round_to_step};
