//! Grains at rest turn into columns.

use super::Terrain;
use glam::{Vec2, Vec3};

/// A grain whose middle is farther above the surface than this many radii lies on other grains.
const REACH: f32 = 1.5;
/// A surface that lies farther below its mass than this many radii takes no grain: those above would fall into the gap.
const LAG: f32 = 0.25;

impl Terrain {
    /// A grain at rest becomes part of the columns below it; `false` when it cannot: outside the site, too high above
    /// the surface, or near a body that cuts and not pressed into the soil by it.
    ///
    /// Its mass fills hollows among the columns below it, at least those that surround its middle: one that lies on another
    /// rolls beside it.
    pub fn deposit(&mut self, position: Vec3, radius: f32, mass: f64) -> bool {
        let quanta = (mass / self.field.quantum).round();
        let good = position.is_finite() && radius > 0.0 && (1.0..1e18).contains(&quanta);
        let Some(column) = self.field.layout.column_at(position.x, position.z) else {
            return false;
        };
        let distance = self.field.distance(position);
        let is_buried = distance < -radius;
        let waits = self.is_held(column) || self.lag(column) > LAG * radius;
        let is_out = distance > REACH * radius || (waits && !is_buried);
        if !good || is_out {
            return false;
        }
        self.field.touched += 1;
        let quanta = quanta as u64;
        let at = Vec2::new(position.x, position.z);
        let taken = self.field.spread(at, radius, quanta);
        if taken {
            self.total += u128::from(quanta);
            self.load[column] = self.load[column].saturating_sub(quanta);
        }
        taken
    }

    /// How far the surface of a column lies below what its mass makes [m].
    fn lag(&self, column: usize) -> f32 {
        self.field.full_height(column) - self.field.height[column]
    }
}
