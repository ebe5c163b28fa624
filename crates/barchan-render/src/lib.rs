//! Pictures and film of results, drawn on the CPU.
//!
//! Reads frames and their scene; independent of solvers.

pub mod camera;
pub mod canvas;
pub mod chart;
pub mod color;
pub mod film;
pub mod flat;
pub mod framing;
pub mod grains;
pub mod legend;
mod partial;
pub mod picture;
pub mod props;
pub mod renderer;
pub mod sheet;
pub mod stress;
mod terrain;
pub mod text;
pub mod tracer;

pub use picture::Picture;
pub use renderer::{RenderError, RenderOptions, Renderer, Space};
