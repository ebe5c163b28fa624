//! State of the grains, in the order of their cells.

use crate::contacts::NO_ROW;
use crate::particles::{Quantity, Tolerance, columns, is_positive};
use barchan_frame::Unit;

const RADIUS: Quantity<f32> = Quantity::state(Unit::Meter, "radius of the grain", 1.0)
    .in_frames(Tolerance::Absolute(0.0))
    .checked(is_positive);
const CACHE_ROW: Quantity<u32> =
    Quantity::state(Unit::One, "row in the contact cache", NO_ROW).unsaved();

columns! {
    /// State of all grains.
    pub struct Grains {
        /// Radii [m].
        radius: f32 = RADIUS,
        /// Row in the contact cache; [`NO_ROW`] before the first step.
        cache_row: u32 = CACHE_ROW,
    }
}
