//! What to simulate: the scene file, its validation with source spans, materials, shapes, motion and emitters.
//!
//! ```text
//! text (TOML) ──► format (tree with spans, overrides, checks) ──► model::Scene ──► barchan-sim
//! ```
//!
//! Nothing here knows which solver will run.

pub mod bodies;
pub mod camera;
pub mod colour;
pub mod errors;
pub mod format;
pub mod geometry;
pub mod materials;
pub mod mesh;
pub mod model;
pub mod motion;
pub mod numbers;
pub mod parameters;
pub mod terrain;
mod urdf;
pub mod yield_cone;

pub use bodies::*;
pub use camera::{Camera, View};
pub use colour::{Colour, ColourMix};
pub use errors::{SceneError, SceneErrors, SourceMark, nearest};
pub use format::{Overrides, SceneSource, load, load_for_viewing, schema};
pub use geometry::{Bounds, Geometry};
pub use materials::{Preset, material_presets};
pub use model::*;
pub use motion::{Gravity, Interpolation, Motion, Pose, Rotation, Track};
pub use terrain::TerrainSpec;
pub use yield_cone::YieldCone;
