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
    /// Its mass is spread as a tent as wide as itself, at least over the columns that surround its middle, so that it
    /// leaves no spike.
    pub fn deposit(&mut self, position: Vec3, radius: f32, mass: f64) -> bool {
        let quanta = (mass / self.quantum).round();
        let good = position.is_finite() && radius > 0.0 && (1.0..1e18).contains(&quanta);
        let Some(column) = self.layout.column_at(position.x, position.z) else {
            return false;
        };
        let distance = self.distance(position);
        let is_buried = distance < -radius;
        let waits = self.is_held(column) || self.lag(column) > LAG * radius;
        let is_out = distance > REACH * radius || (waits && !is_buried);
        if !good || is_out {
            return false;
        }
        self.touched += 1;
        let quanta = quanta as u64;
        let taken = self.spread(Vec2::new(position.x, position.z), radius, quanta);
        if taken {
            self.load[column] = self.load[column].saturating_sub(quanta);
        }
        taken
    }

    /// How far the surface of a column lies below what its mass makes [m].
    fn lag(&self, column: usize) -> f32 {
        self.full_height(column) - self.height[column]
    }

    /// Adds quanta to the columns around a point; `false` when one would overflow.
    fn spread(&mut self, at: Vec2, radius: f32, quanta: u64) -> bool {
        let reach = radius.max(self.layout.cell);
        let [across, along] = self.layout.range(at - reach, at + reach);
        let weight = |column: usize| {
            let away = (self.layout.middle(column) - at).abs() / reach;
            f64::from((1.0 - away.x).max(0.0) * (1.0 - away.y).max(0.0))
        };
        let columns = || {
            let across = across.clone();
            along
                .clone()
                .flat_map(move |j| across.clone().map(move |i| (i, j)))
                .map(|(i, j)| self.layout.index(i, j))
        };
        let sum: f64 = columns().map(weight).sum();
        let Some(heaviest) = columns().max_by(|a, b| weight(*a).total_cmp(&weight(*b))) else {
            return false;
        };
        if sum.is_nan() || sum <= 0.0 || columns().any(|c| self.mass[c] > u64::MAX / 4) {
            return false;
        }
        let shares: Vec<(usize, u64)> = columns()
            .map(|c| (c, (quanta as f64 * (weight(c) / sum)) as u64))
            .collect();
        let mut left = quanta;
        for (column, share) in shares {
            let share = share.min(left);
            left -= share;
            self.mass[column] += share;
            self.changed(column);
        }
        // What rounding has left.
        self.mass[heaviest] += left;
        self.changed(heaviest);
        self.total += u128::from(quanta);
        true
    }
}
