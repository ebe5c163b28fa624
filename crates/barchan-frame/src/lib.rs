//! What comes out: frames of named, typed, united columns; the frame cache; checkpoints.
//!
//! Nothing here knows which solver wrote a frame.

pub mod column;

pub use column::{Checkpoint, Column, ColumnData, Frame};
