//! Slope relaxation: where a slope exceeds the angle of repose, soil moves to the neighboring column.
//!
//! The slope at a pair of columns has a component s along the pair and t across it, from the
//! columns beside. Where g = √(s² + t²) is above the failure slope, soil moves until s is
//! s tan φ / g: the slope keeps its direction, so that heaps are cones, not pyramids aligned with
//! the grid.
//!
//! A surcharge, such as grains on a column, counts toward the column's height for inflow: soil does not slide into a pit full of
//! grains. It does not count for outflow: grains move on their own, and the column below a grain would be drained.

use super::HeightField;

/// Columns checked in a call; the rest is left for the next one.
pub const MAX_COLUMNS_PER_CALL: usize = 4096;
/// Fraction of the excess height that moves at once between two columns; each column has four
/// neighbors.
const RELAXATION: f32 = 0.25;
/// Largest height that moves between two columns in a call [cells].
const MAX_FLOW: f32 = 0.1;

/// Conditions of the relaxation other than the columns: surcharge and locked columns.
pub trait SurfaceConditions {
    /// Quanta of soil that rest on a column but are not part of it.
    fn surcharge(&self, column: usize) -> u64;
    /// Whether soil at a column must not slide.
    fn is_locked(&self, column: usize) -> bool;
}

/// No surcharge, no locked columns.
pub struct Unloaded;

impl SurfaceConditions for Unloaded {
    fn surcharge(&self, _: usize) -> u64 {
        0
    }

    fn is_locked(&self, _: usize) -> bool {
        false
    }
}

impl HeightField {
    /// Moves soil between neighboring columns where a slope near a recent change exceeds the angle of repose. A call does a
    /// bounded part of the work.
    pub fn relax(&mut self, conditions: &impl SurfaceConditions) {
        for _ in 0..self.active.len().min(MAX_COLUMNS_PER_CALL) {
            let Some(column) = self.active.pop_front() else {
                return;
            };
            let column = column as usize;
            self.is_active[column] = false;
            self.visited += 1;
            // It is activated again when it is unlocked.
            if conditions.is_locked(column) {
                continue;
            }
            for (axis, forward) in NEIGHBORS {
                if let Some(other) = self.neighbor(column, axis, forward) {
                    self.relax_pair(column, other, axis, conditions);
                }
            }
        }
    }

    /// Surface height of a column if its surcharge were part of it [m].
    pub(crate) fn loaded_height(&self, column: usize, on: &impl SurfaceConditions) -> f32 {
        self.height_of(self.mass[column] + on.surcharge(column))
    }

    fn neighbor(&self, column: usize, axis: usize, forward: bool) -> Option<usize> {
        let stride = [1, self.layout.columns[0]][axis];
        let k = self.layout.coordinates(column)[axis];
        match forward {
            true => (k + 1 < self.layout.columns[axis]).then_some(column + stride),
            false => (k > 0).then(|| column - stride),
        }
    }

    /// Slope of a column along an axis, as a central difference.
    fn slope_at(&self, column: usize, axis: usize, on: &impl SurfaceConditions) -> f32 {
        let next = self.neighbor(column, axis, true);
        let last = self.neighbor(column, axis, false);
        let height = |side: Option<usize>| self.loaded_height(side.unwrap_or(column), on);
        let rise = height(next) - height(last);
        let cells = usize::from(next.is_some()) + usize::from(last.is_some());
        rise / (self.layout.cell * cells.max(1) as f32)
    }

    /// Drop [m] from column a to the soil on b, a neighbor along `axis` (negative if it drops from b to a), and the slope there.
    fn slope_between(
        &self,
        a: usize,
        b: usize,
        axis: usize,
        on: &impl SurfaceConditions,
    ) -> (f32, f32) {
        let down = |from, to| (self.target_height(from) - self.loaded_height(to, on)).max(0.0);
        let drop = down(a, b) - down(b, a);
        let slope = |column| self.slope_at(column, 1 - axis, on);
        let across = 0.5 * (slope(a) + slope(b));
        (drop, (drop / self.layout.cell).hypot(across))
    }

    pub(crate) fn is_steep(&self, column: usize) -> bool {
        NEIGHBORS.into_iter().any(|(axis, forward)| {
            let other = self.neighbor(column, axis, forward);
            other.is_some_and(|other| {
                let (drop, slope) = self.slope_between(column, other, axis, &Unloaded);
                drop != 0.0 && slope > self.failure_slope
            })
        })
    }

    /// Moves soil between two neighbors along `axis` if the slope between them fails.
    fn relax_pair(&mut self, a: usize, b: usize, axis: usize, on: &impl SurfaceConditions) {
        let (drop, slope) = self.slope_between(a, b, axis, on);
        if slope <= self.failure_slope || on.is_locked(b) {
            return;
        }
        let excess = drop.abs() * (1.0 - self.rest_slope / slope);
        let flow = (RELAXATION * excess).min(MAX_FLOW * self.layout.cell);
        let (from, to) = if drop > 0.0 { (a, b) } else { (b, a) };
        let quanta = ((f64::from(flow) / self.quantum_height) as u64).min(self.mass[from]);
        if quanta == 0 {
            return;
        }
        self.mass[from] -= quanta;
        self.mass[to] += quanta;
        self.mass_changed(from);
        self.mass_changed(to);
    }
}

/// Axis and direction of a column's neighbors, in the order in which they are relaxed.
const NEIGHBORS: [(usize, bool); 4] = [(0, true), (1, true), (0, false), (1, false)];

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_scene::TerrainSpec;

    fn steepest(field: &HeightField) -> f32 {
        let [nx, nz] = field.layout.columns;
        let height = |i: usize, j: usize| field.height[field.layout.index(i, j)];
        let inner = (1..nz - 1).flat_map(|j| (1..nx - 1).map(move |i| (i, j)));
        let slopes = inner.map(|(i, j)| {
            let along_x = height(i + 1, j) - height(i - 1, j);
            let along_z = height(i, j + 1) - height(i, j - 1);
            along_x.hypot(along_z) / (2.0 * field.layout.cell)
        });
        slopes.fold(0.0, f32::max)
    }

    /// Without grains, a pillar collapses into a heap at the angle of repose, and no quantum is lost.
    #[test]
    fn a_pillar_relaxes_to_the_angle_of_repose() {
        let (size, angle) = (41, 30.0f32);
        let mut heights = vec![0.0; size * size];
        heights[20 * size + 20] = 8.0;
        let spec = TerrainSpec {
            heights,
            columns: [size; 2],
            angle_of_repose: f64::from(angle),
            cell: 0.1,
            origin: [0.0; 2],
            floor: -1.0,
            material: 0,
        };
        let mut field = HeightField::new(&spec, 1600.0, 1e-3);
        let before = field.total();
        assert!(steepest(&field) > 10.0);
        for _ in 0..100_000 {
            if field.active_columns() == 0 {
                break;
            }
            field.relax(&Unloaded);
            field.raise_surface(1.0);
        }
        assert_eq!((field.active_columns(), field.total()), (0, before));
        let found = steepest(&field).atan().to_degrees();
        assert!((angle - 4.0..angle + 1.5).contains(&found), "{found}°");
    }
}
