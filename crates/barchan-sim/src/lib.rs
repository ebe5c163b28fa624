//! Solvers and what they share: sampling, laws, grids, colliders and the frame loop.

pub mod collider;
pub mod sampling;
pub mod simulation;
pub mod solver;
