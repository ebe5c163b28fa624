//! State of the particles, in the order of their cells.

use crate::particles::{Quantity, Tolerance, columns};
use barchan_frame::Unit;
use glam::Vec3;

/// A symmetric matrix: xx, yy, zz, yz, xz, xy.
pub type Symmetric = [f32; 6];

const RADIUS: Quantity<f32> = Quantity::state(Unit::Meter, "half the spacing", 0.0)
    .in_frames(Tolerance::Absolute(0.0))
    .unsaved();
const PRESSURE: Quantity<f32> =
    Quantity::state(Unit::Pascal, "pressure", 0.0).in_frames(Tolerance::Absolute(0.1));
const WETNESS: Quantity<f32> =
    Quantity::state(Unit::One, "from dry (0) to wet (1)", 0.0).in_frames(Tolerance::Absolute(1e-3));
const SUPPORT_PRESSURE: Quantity<f32> =
    Quantity::state(Unit::Pascal, "pressure that limits friction", 0.0);
const STRESS: Quantity<Symmetric> = Quantity::state(
    Unit::Pascal,
    "frictional stress xx yy zz yz xz xy",
    [0.0; 6],
);
const WALL_FRICTION: Quantity<Vec3> = Quantity::state(
    Unit::MeterPerSecondSquared,
    "acceleration by friction of bodies",
    Vec3::ZERO,
);

columns! {
    /// State of all particles.
    pub struct Particles {
        /// Radii [m]: half the spacing.
        radius: f32 = RADIUS,
        /// Pressure [Pa].
        pressure: f32 = PRESSURE,
        /// From dry (0) to wet (1).
        wetness: f32 = WETNESS,
        /// Pressure that limits friction [Pa]: mean over the neighborhood and the last steps.
        support_pressure: f32 = SUPPORT_PRESSURE,
        /// Frictional stress ŝ [Pa].
        stress: Symmetric = STRESS,
        /// Acceleration by friction of bodies [m/s²].
        wall_friction: Vec3 = WALL_FRICTION,
    }
}
