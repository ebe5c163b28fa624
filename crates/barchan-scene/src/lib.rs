//! Scenes: the scene file, its validation with source spans, materials, shapes, motion and emitters.
//!
//! ```text
//! text (TOML) ──► format (tree with spans, overrides, checks) ──► model::Scene ──► barchan-sim
//! ```
//!
//! The settings of a family of solvers are defined in its file in `families`; no other code distinguishes families.

pub mod bodies;
pub mod camera;
pub mod color;
pub mod errors;
pub mod families;
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

pub use bodies::*;
pub use camera::{Camera, View};
pub use color::{Color, ColorMix};
pub use errors::{Places, SceneError, SceneErrors, SourceMark, nearest};
pub use families::mpm::{ConeMatch, Kernel, MPM, MpmMaterial, MpmSpec, Transfer};
pub use families::pbd::{PBD, PbdFriction, PbdMaterial, PbdScheme, PbdSpec};
pub use families::sph::{SPH, SphMaterial, SphSpec, SphTolerance, SphWalls, SphYield};
pub use families::{FAMILIES, Family, Settings, SolverSettings, SolverSpec};
pub use format::{Overrides, SceneSource, load, load_file, load_for_viewing, schema};
pub use geometry::{Bounds, Geometry};
pub use materials::{Preset, material_presets};
pub use model::*;
pub use motion::{Gravity, Interpolation, Motion, Pose, Rotation, Track, Turning};
pub use terrain::TerrainSpec;
