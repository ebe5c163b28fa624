//! Slopes above the angle of repose slide: soil goes from column to neighbouring column.
//!
//! The slope at a pair of columns has the component s along the pair and t across it, from the columns beside. Where
//! g = √(s² + t²) is too steep, soil flows until s is s tan φ / g: the direction of the slope stays, so that heaps come out
//! round and not as pyramids of the lattice.
//!
//! Soil that lies on a column as grains, or waits to become some, counts for what flows there: a pit full of grains is no pit.
//! It does not for what flows from there: the grains roll by themselves, and the column below one would empty itself.

use super::Terrain;
use glam::Vec3;

/// Columns looked at in a call; what is left is done in the next.
pub const BUDGET: usize = 4096;
/// Part of the surplus that flows at once. Four neighbours share a column.
const FLOW: f32 = 0.25;
/// Height that may flow from one column to another in a call, in cells.
const LARGEST_FLOW: f32 = 0.1;

impl Terrain {
    /// Moves soil between neighbouring columns where a slope near what has changed is above the angle of repose. A call
    /// does a bounded part of the work.
    pub fn relax(&mut self) {
        for _ in 0..self.active.len().min(BUDGET) {
            let Some(column) = self.active.pop_front() else {
                return;
            };
            let column = column as usize;
            self.queued[column] = false;
            self.touched += 1;
            // Looked at again when the body has gone.
            if self.is_held(column) {
                continue;
            }
            for (axis, forward) in [(0, true), (1, true), (0, false), (1, false)] {
                if let Some(other) = self.neighbour(column, axis, forward) {
                    self.slide(column, other, axis);
                }
            }
        }
    }

    /// Where the surface of a column would be were all soil there at rest in it [m].
    pub(super) fn soil_height(&self, column: usize) -> f32 {
        let waiting = self.withheld.get(&(column as u32)).map_or(0, |w| w.mass);
        self.height_of(self.mass[column] + self.load[column] + waiting)
    }

    /// Takes down which columns the grains of the soil lie on: position [m] and mass [kg].
    pub fn weigh(&mut self, grains: impl Iterator<Item = (Vec3, f32)>) {
        let mut before = std::mem::take(&mut self.load_before);
        for &column in &self.loaded {
            // A column may be there twice, the second time with nothing.
            before.push((column, std::mem::take(&mut self.load[column as usize])));
        }
        self.loaded.clear();
        for (p, mass) in grains {
            let Some(column) = self.layout.column_at(p.x, p.z) else {
                continue;
            };
            self.bear(column, (f64::from(mass) / self.quantum).round() as u64);
        }
        self.touched += self.loaded.len() as u64;
        // Where some have gone, slopes may have become steep.
        for (column, load) in before.drain(..) {
            if self.load[column as usize] < load {
                self.activate(column as usize);
            }
        }
        self.load_before = before;
    }

    /// Grains of that many quanta have come to lie on a column.
    pub(super) fn bear(&mut self, column: usize, quanta: u64) {
        if self.load[column] == 0 {
            self.loaded.push(column as u32);
        }
        self.load[column] += quanta;
    }

    fn neighbour(&self, column: usize, axis: usize, forward: bool) -> Option<usize> {
        let stride = [1, self.layout.columns[0]][axis];
        let k = self.layout.place(column)[axis];
        match forward {
            true => (k + 1 < self.layout.columns[axis]).then_some(column + stride),
            false => (k > 0).then(|| column - stride),
        }
    }

    /// Slope of a column along an axis, from both sides of it.
    fn slope_at(&self, column: usize, axis: usize) -> f32 {
        let next = self.neighbour(column, axis, true);
        let last = self.neighbour(column, axis, false);
        let rise =
            self.soil_height(next.unwrap_or(column)) - self.soil_height(last.unwrap_or(column));
        let cells = usize::from(next.is_some()) + usize::from(last.is_some());
        rise / (self.layout.cell * cells.max(1) as f32)
    }

    /// Drop from a column to the soil on another along `axis` [m], or the other way round if that is higher, and the slope there.
    fn slope_between(&self, a: usize, b: usize, axis: usize) -> (f32, f32) {
        let down = |from, to| (self.full_height(from) - self.soil_height(to)).max(0.0);
        let drop = down(a, b) - down(b, a);
        let across = 0.5 * (self.slope_at(a, 1 - axis) + self.slope_at(b, 1 - axis));
        (drop, (drop / self.layout.cell).hypot(across))
    }

    pub(super) fn is_steep(&self, column: usize) -> bool {
        let steep = |axis, forward| {
            let other = self.neighbour(column, axis, forward);
            other.is_some_and(|other| {
                let (drop, slope) = self.slope_between(column, other, axis);
                drop != 0.0 && slope > self.start_slope
            })
        };
        steep(0, true) || steep(1, true) || steep(0, false) || steep(1, false)
    }

    /// Lets soil flow between two neighbours.
    fn slide(&mut self, a: usize, b: usize, axis: usize) {
        let (drop, slope) = self.slope_between(a, b, axis);
        if slope <= self.start_slope || self.is_held(b) {
            return;
        }
        let surplus = drop.abs() * (1.0 - self.rest_slope / slope);
        let flow = (FLOW * surplus).min(LARGEST_FLOW * self.layout.cell);
        let (from, to) = if drop > 0.0 { (a, b) } else { (b, a) };
        let quanta = ((f64::from(flow) / self.rise) as u64).min(self.mass[from]);
        if quanta == 0 {
            return;
        }
        self.mass[from] -= quanta;
        self.mass[to] += quanta;
        self.changed(from);
        self.changed(to);
    }
}
