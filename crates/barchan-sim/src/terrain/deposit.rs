//! Deposition: grains at rest become part of the columns.

use super::Terrain;
use crate::height_field::SurfaceConditions;
use glam::{Vec2, Vec3};

/// Height of a grain's center above the surface beyond which it rests on other grains [radii].
const MAX_HEIGHT: f32 = 1.5;
/// Lag of a column's surface behind its mass beyond which it accepts no grain [radii]: grains above would fall into the gap.
const MAX_LAG: f32 = 0.25;

impl Terrain {
    /// Deposits a grain at rest on the columns below it. `false` if it cannot be deposited: outside
    /// the site, too high above the surface, or, unless it is buried, on a column that is locked or
    /// whose surface lags.
    ///
    /// Its mass fills hollows among the columns below it, at least those that surround its center, so that a grain on top of
    /// another spreads beside it.
    pub fn deposit(&mut self, position: Vec3, radius: f32, mass: f64) -> bool {
        let quanta = (mass / self.field.quantum).round();
        let valid = position.is_finite() && radius > 0.0 && (1.0..1e18).contains(&quanta);
        let Some(column) = self.field.layout.column_at(position.x, position.z) else {
            return false;
        };
        let distance = self.field.distance(position);
        let is_buried = distance < -radius;
        let must_wait =
            self.surcharge.is_locked(column) || self.surface_lag(column) > MAX_LAG * radius;
        let is_refused = distance > MAX_HEIGHT * radius || (must_wait && !is_buried);
        if !valid || is_refused {
            return false;
        }
        self.field.visited += 1;
        let quanta = quanta as u64;
        let at = Vec2::new(position.x, position.z);
        let deposited = self.field.add(at, radius, quanta);
        if deposited {
            self.total += u128::from(quanta);
            self.surcharge.grain_load[column] =
                self.surcharge.grain_load[column].saturating_sub(quanta);
        }
        deposited
    }

    /// How far the surface of a column lags below the height of its mass [m].
    fn surface_lag(&self, column: usize) -> f32 {
        self.field.target_height(column) - self.field.height[column]
    }
}
