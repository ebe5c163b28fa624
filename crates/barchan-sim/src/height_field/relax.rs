//! Slopes above the angle of repose slide: soil goes from column to neighboring column.
//!
//! The slope at a pair of columns has the component s along the pair and t across it, from the columns beside. Where
//! g = √(s² + t²) is too steep, soil flows until s is s tan φ / g: the direction of the slope stays, so that heaps come out
//! round and not as pyramids of the lattice.
//!
//! Soil that lies on a column as something else, such as grains, counts for what flows there: a pit full of grains is no pit.
//! It does not for what flows from there: the grains roll by themselves, and the column below one would empty itself.

use super::HeightField;

/// Columns looked at in a call; what is left is done in the next.
pub const BUDGET: usize = 4096;
/// Part of the surplus that flows at once. Four neighbors share a column.
const FLOW: f32 = 0.25;
/// Height that may flow from one column to another in a call, in cells.
const LARGEST_FLOW: f32 = 0.1;

/// What else there is about columns that slopes go by.
pub trait Surroundings {
    /// Quanta of soil that lie on a column without being part of it.
    fn surcharge(&self, column: usize) -> u64;
    /// Whether nothing slides at a column now.
    fn is_held(&self, column: usize) -> bool;
}

/// Nothing lies on the columns.
pub struct Bare;

impl Surroundings for Bare {
    fn surcharge(&self, _: usize) -> u64 {
        0
    }

    fn is_held(&self, _: usize) -> bool {
        false
    }
}

impl HeightField {
    /// Moves soil between neighboring columns where a slope near what has changed is above the angle of repose. A call
    /// does a bounded part of the work.
    pub fn relax(&mut self, around: &impl Surroundings) {
        for _ in 0..self.active.len().min(BUDGET) {
            let Some(column) = self.active.pop_front() else {
                return;
            };
            let column = column as usize;
            self.queued[column] = false;
            self.touched += 1;
            // Looked at again when the body has gone.
            if around.is_held(column) {
                continue;
            }
            for (axis, forward) in [(0, true), (1, true), (0, false), (1, false)] {
                if let Some(other) = self.neighbor(column, axis, forward) {
                    self.slide(column, other, axis, around);
                }
            }
        }
    }

    /// Where the surface of a column would be were all soil there at rest in it [m].
    pub(crate) fn soil_height(&self, column: usize, around: &impl Surroundings) -> f32 {
        self.height_of(self.mass[column] + around.surcharge(column))
    }

    fn neighbor(&self, column: usize, axis: usize, forward: bool) -> Option<usize> {
        let stride = [1, self.layout.columns[0]][axis];
        let k = self.layout.place(column)[axis];
        match forward {
            true => (k + 1 < self.layout.columns[axis]).then_some(column + stride),
            false => (k > 0).then(|| column - stride),
        }
    }

    /// Slope of a column along an axis, from both sides of it.
    fn slope_at(&self, column: usize, axis: usize, around: &impl Surroundings) -> f32 {
        let next = self.neighbor(column, axis, true);
        let last = self.neighbor(column, axis, false);
        let height = |side: Option<usize>| self.soil_height(side.unwrap_or(column), around);
        let rise = height(next) - height(last);
        let cells = usize::from(next.is_some()) + usize::from(last.is_some());
        rise / (self.layout.cell * cells.max(1) as f32)
    }

    /// Drop from a column to the soil on another along `axis` [m], or the other way round if that is higher, and the slope there.
    fn slope_between(
        &self,
        a: usize,
        b: usize,
        axis: usize,
        around: &impl Surroundings,
    ) -> (f32, f32) {
        let down = |from, to| (self.full_height(from) - self.soil_height(to, around)).max(0.0);
        let drop = down(a, b) - down(b, a);
        let slope = |column| self.slope_at(column, 1 - axis, around);
        let across = 0.5 * (slope(a) + slope(b));
        (drop, (drop / self.layout.cell).hypot(across))
    }

    pub(crate) fn is_steep(&self, column: usize) -> bool {
        let steep = |axis, forward| {
            let other = self.neighbor(column, axis, forward);
            other.is_some_and(|other| {
                let (drop, slope) = self.slope_between(column, other, axis, &Bare);
                drop != 0.0 && slope > self.start_slope
            })
        };
        steep(0, true) || steep(1, true) || steep(0, false) || steep(1, false)
    }

    /// Lets soil flow between two neighbors.
    fn slide(&mut self, a: usize, b: usize, axis: usize, around: &impl Surroundings) {
        let (drop, slope) = self.slope_between(a, b, axis, around);
        if slope <= self.start_slope || around.is_held(b) {
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

    /// A field without grains: a pillar falls into a heap at the angle of repose, and no quantum is lost.
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
            if field.sliding() == 0 {
                break;
            }
            field.relax(&Bare);
            field.rise(1.0);
        }
        assert_eq!((field.sliding(), field.total()), (0, before));
        let found = steepest(&field).atan().to_degrees();
        assert!((angle - 4.0..angle + 1.5).contains(&found), "{found}°");
    }
}
