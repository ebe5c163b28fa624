//! The grains: structure of arrays, in the order of their cells.

use crate::contacts::NEW;
use crate::particles::{
    ID, MASS, MATERIAL, POSITION, Quantity, Tolerance, VELOCITY, columns, is_positive,
};
use barchan_frame::Unit;
use glam::Vec3;

const RADIUS: Quantity<f32> = Quantity::state(Unit::Meter, "radius of the grain", 1.0)
    .in_frames(Tolerance::Absolute(0.0))
    .checked(is_positive);
const MEMORY_ROW: Quantity<u32> =
    Quantity::state(Unit::One, "row in the memory of contacts", NEW).unsaved();

columns! {
    /// State of all grains, and its copy while they are put in order.
    pub struct Grains {
        /// Positions [m].
        position: Vec3 = POSITION,
        /// Velocities [m/s].
        velocity: Vec3 = VELOCITY,
        /// Stable identities.
        id: u32 = ID,
        /// Materials.
        material: u8 = MATERIAL,
        /// Masses [kg].
        mass: f32 = MASS,
        /// Radii [m].
        radius: f32 = RADIUS,
        /// Row of the grain in the memory of contacts; [`NEW`] before its first step.
        memory_row: u32 = MEMORY_ROW,
    }
}
