//! Shapes → particles.

use glam::Vec3;

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
    /// Id of the first particle; the others count up.
    pub first_id: u32,
}
