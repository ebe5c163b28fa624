//! Scripted motion of colliders, and gravity over time.

use glam::{Quat, Vec3};

/// Position and orientation: `world_from_body`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// Origin of the body in the world [m].
    pub position: Vec3,
    /// Rotation from body to world.
    pub rotation: Quat,
}

/// World from body over time.
#[derive(Debug, Clone, Default)]
pub struct Motion {}

impl Motion {
    /// Pose at a time [s].
    pub fn pose(&self, _time: f64) -> Pose {
        Pose {
            position: Vec3::ZERO,
            rotation: Quat::IDENTITY,
        }
    }

    /// Whether the pose never changes.
    pub fn is_static(&self) -> bool {
        true
    }
}

/// Gravity over time.
#[derive(Debug, Clone, Default)]
pub struct Gravity {}

impl Gravity {
    /// Acceleration at a time [m/s²].
    pub fn at(&self, _time: f64) -> Vec3 {
        Vec3::new(0.0, -9.81, 0.0)
    }
}
