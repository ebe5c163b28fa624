//! What to simulate: the scene file, its validation with source spans, materials, shapes, motion and emitters.
//!
//! ```text
//! text (TOML) ──► format (serde, spans) ──► validation ──► model::Scene ──► barchan-sim
//! ```
//!
//! Nothing here knows which solver will run.

pub mod geometry;
pub mod mesh;
pub mod model;
pub mod motion;

pub use geometry::{Bounds, Geometry};
pub use model::*;
pub use motion::{Gravity, Motion, Pose};
