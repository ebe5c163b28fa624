//! Pictures and film of results, drawn on the CPU.
//!
//! Reads frames and the scene that stands beside them; knows nothing of solvers.

pub mod canvas;
pub mod colour;
pub mod difference;
pub mod film;
pub mod flat;
pub mod legend;
mod partial;
pub mod picture;
pub mod sheet;
pub mod text;

pub use picture::Picture;
