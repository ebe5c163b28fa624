//! Solvers and what they share: sampling, laws, grids, colliders and the frame loop.

pub mod bodies;
pub mod collider;
pub mod grid;
pub mod material;
pub mod math;
pub mod neighbors;
pub mod sampling;
pub mod simulation;
pub mod solver;
pub mod solvers;
pub mod start;
pub mod terrain;
pub mod view;
