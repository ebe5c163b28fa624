//! A reference implementation of MPM in f64, and direct stepping of the solver for the comparison.

pub mod mpm;
pub mod stepper;
#[cfg(test)]
mod tests;

use glam::DVec3;

/// Half a unit in the last place of 1 in f32.
pub const EPS32: f64 = f32::EPSILON as f64 / 2.0;

/// Keeps a value as f64.
pub fn exact(x: f64) -> f64 {
    x
}

/// A seeded stream of numbers (splitmix64).
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [low, high).
    pub fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in a box; components past `dimensions` are zero.
    pub fn vector(&mut self, dimensions: usize, low: f64, high: f64) -> DVec3 {
        DVec3::from_array([0, 1, 2].map(|a| {
            if a < dimensions {
                self.within(low, high)
            } else {
                0.0
            }
        }))
    }
}
