//! Pictures and film of results, drawn on the CPU.
//!
//! Reads frames and the scene that stands beside them; knows nothing of solvers.

pub mod colour;
pub mod picture;

pub use picture::Picture;
