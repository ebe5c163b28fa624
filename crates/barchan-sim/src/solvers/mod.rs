//! The families of solver, and how a scene chooses one.

pub mod mpm;
pub mod pbd;
pub mod sph;

use crate::solver::{Solver, SolverError};
use barchan_scene::{Scene, SolverSpec};

/// Builds the solver that a scene asks for. What it cannot do is refused here.
pub fn build(scene: &Scene) -> Result<Box<dyn Solver>, SolverError> {
    match &scene.solver {
        SolverSpec::Mpm(spec) => Ok(Box::new(mpm::Mpm::new(scene, spec)?)),
        SolverSpec::Pbd(spec) => Ok(Box::new(pbd::Pbd::new(scene, spec)?)),
        SolverSpec::Sph(spec) => Ok(Box::new(sph::Sph::new(scene, spec)?)),
    }
}

/// Memory that a run of that many particles needs at its peak [bytes].
pub fn memory_estimate(scene: &Scene, particles: usize) -> u64 {
    match &scene.solver {
        SolverSpec::Mpm(spec) => mpm::memory_estimate(spec, scene.dimensions, particles),
        SolverSpec::Pbd(_) => pbd::memory_estimate(particles),
        SolverSpec::Sph(_) => sph::memory_estimate(particles),
    }
}
