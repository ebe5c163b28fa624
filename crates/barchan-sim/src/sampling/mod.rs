//! Shapes → particles.
//!
//! Fills become particles at the start, emitters during the run. Both take their points from one periodic Poisson-disk tile
//! that is repeated through all of space, so adjacent fills fit together without seams.

mod emitter;
mod fill;
mod packing;
pub(crate) mod random;
#[cfg(test)]
mod tests;
mod tile;

pub use emitter::EmitterSampler;
pub use fill::{Excluded, sample_fill};
pub use packing::{grain_volume, solid_fraction};

use crate::solvers::Method;
use barchan_scene::{Dimensions, Emitter, Fill, Scene};
use glam::Vec3;

/// Particle density of a solver, and whether particles are grains with a size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spacing {
    /// Edge of the cells that `particles_per_cell` counts in [m].
    pub dx: f64,
    /// Particles in a cell at rest.
    pub particles_per_cell: f64,
    /// Mean radius [m] and spread of grains; `None`: points.
    pub grain: Option<(f64, f64)>,
    /// Distance that points of a fill keep from bodies [m].
    pub clearance: f64,
}

impl Spacing {
    /// The spacing of a scene's solver.
    pub fn of(scene: &Scene) -> Self {
        (Method::of(scene).spacing)(scene)
    }

    /// Particles per m³ (per m² in 2D).
    fn number_density(&self, dimensions: Dimensions) -> f64 {
        self.particles_per_cell / self.dx.powi(dimensions.count() as i32)
    }

    /// The periodic point set that tiles space.
    fn tile(&self, dimensions: Dimensions, seed: u64) -> std::sync::Arc<tile::Tile> {
        tile::Tile::cached(dimensions, seed, self.grain.map(|(_, spread)| spread))
    }
}

/// Particles about to enter a solver. All of a batch share material, mass and volume.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Samples {
    /// Positions [m].
    pub position: Vec<Vec3>,
    /// Velocities [m/s], one each.
    pub velocity: Vec<Vec3>,
    /// Velocity gradient of the initial field [1/s], the same for all: ω× for a spinning body.
    pub velocity_gradient: glam::Mat3,
    /// Index of the material in the scene.
    pub material: usize,
    /// Volume of each particle [m³].
    pub volume: f32,
    /// Radii [m], one each; empty for solvers without grains.
    pub radius: Vec<f32>,
    /// Orientations, one each; empty for round particles.
    pub orientation: Vec<glam::Quat>,
    /// Shapes, one each, by the solver's own numbers; empty for round particles.
    pub shape: Vec<u32>,
    /// ln of the bulk volume relative to that at rest: compression up to which the material carries no pressure.
    pub volume_gain: f32,
    /// Id of the first particle; the others count up.
    pub first_id: u32,
}

impl Samples {
    /// No particles of a material.
    pub(crate) fn none(material: usize) -> Self {
        Self {
            velocity_gradient: glam::Mat3::ZERO,
            material,
            ..Self::default()
        }
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Whether there are no particles.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }
}

/// Estimate of the total number of particles: all fills, and all emitters until the end. Particles excluded by colliders
/// or removed by drains are not subtracted. `usize::MAX` if a region is unbounded.
pub fn estimate_particles(scene: &Scene) -> usize {
    let density = Spacing::of(scene).number_density(scene.dimensions);
    let volume = |f: &Fill| f.shape.volume(scene.dimensions) * density;
    let filled: f64 = scene.fills.iter().map(volume).sum();
    let duration = f64::from(scene.frames) / scene.frame_rate;
    let volume = |e: &Emitter| {
        let rho = scene.materials.get(e.material).map_or(0.0, |m| m.density);
        emitter::emitted_volume(e, rho, duration, scene.dimensions) * density
    };
    let emitted: f64 = scene.emitters.iter().map(volume).sum();
    // Casts saturate.
    (filled + emitted).ceil() as usize
}
