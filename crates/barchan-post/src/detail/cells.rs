//! Cell grids, and guide particles sorted into them.

use super::weights::SUPPORT;
use barchan_scene::Bounds;
use glam::{IVec3, Vec3};

/// Maximum number of cells.
const MAX_CELLS: f32 = 4e6;
/// Fraction of the points along an axis that may lie outside the grid when the bounding box of all is too large.
const OUTLIERS: f32 = 0.005;

/// Cubic cells in a box. Points outside are assigned to the outermost cells, so that a search over a range of cells finds all points.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellGrid {
    low: Vec3,
    scale: f32,
    size: IVec3,
}

impl CellGrid {
    /// A grid around points with about this cell size [m]; without outliers, or with larger cells, if there would be too many.
    pub fn around(points: &[Vec3], edge: f32) -> Self {
        let mut bounds = Bounds::from_points(points.iter().copied());
        if bounds.is_empty() {
            bounds = Bounds::from_corners(Vec3::ZERO, Vec3::ZERO);
        }
        let cells = |b: &Bounds, edge: f32| (b.size() / edge + 1.0).element_product();
        if cells(&bounds, edge) > MAX_CELLS {
            bounds = trimmed_bounds(points);
        }
        let mut edge = edge;
        while cells(&bounds, edge) > MAX_CELLS {
            edge *= 1.25;
        }
        Self {
            low: bounds.min,
            scale: 1.0 / edge,
            size: (bounds.size() / edge).as_ivec3() + 1,
        }
    }

    pub fn cells(&self) -> usize {
        self.size.as_usizevec3().element_product()
    }

    pub fn cell(&self, p: Vec3) -> IVec3 {
        // Truncation instead of floor: negative values belong to the first cell in any case.
        let cell = ((p - self.low) * self.scale).as_ivec3();
        cell.clamp(IVec3::ZERO, self.size - 1)
    }

    /// Index of a cell, x fastest.
    fn index(&self, cell: IVec3) -> usize {
        let row = cell.y as usize + self.size.y as usize * cell.z as usize;
        row * self.size.x as usize + cell.x as usize
    }

    /// Lower bound of the distance along an axis between the points in a layer of cells and a range [m].
    fn gap(&self, axis: usize, layer: i32, low: f32, high: f32) -> f32 {
        // The outermost layers also contain the points outside. Rounding may put a point into the next cell.
        let edge = 1.001 / self.scale;
        let begin = self.low[axis] + (layer as f32 - 0.0005) / self.scale;
        let before = match layer == self.size[axis] - 1 {
            true => 0.0,
            false => low - (begin + edge),
        };
        let behind = if layer == 0 { 0.0 } else { begin - high };
        before.max(behind).max(0.0)
    }

    /// Index of the cell of a point along a serpentine path: consecutive cells are face neighbors.
    pub fn serpentine_index(&self, p: Vec3) -> u32 {
        let cell = self.cell(p);
        let reversed = |odd: bool, i: i32, n: i32| if odd { n - 1 - i } else { i };
        let y = reversed(cell.z & 1 == 1, cell.y, self.size.y);
        let row = cell.z * self.size.y + y;
        let x = reversed(row & 1 == 1, cell.x, self.size.x);
        (row * self.size.x + x) as u32
    }
}

/// Bounding box without the outliers along each axis.
fn trimmed_bounds(points: &[Vec3]) -> Bounds {
    let mut bounds = Bounds::from_corners(Vec3::ZERO, Vec3::ZERO);
    let skip = (OUTLIERS * points.len() as f32) as usize;
    for axis in 0..3 {
        let mut values: Vec<f32> = points.iter().map(|p| p[axis]).collect();
        values.sort_unstable_by(f32::total_cmp);
        if let (Some(low), Some(high)) = (values.get(skip), values.iter().nth_back(skip)) {
            bounds.min[axis] = *low;
            bounds.max[axis] = *high;
        }
    }
    bounds
}

/// A particle whose velocity grains follow: of the base, or of a boundary.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(align(32))]
pub(super) struct Guide {
    /// Position [m].
    pub position: [f32; 3],
    /// Velocity in the step [m/s].
    pub velocity: [f32; 3],
}

/// Guide particles sorted into cells, in stable order.
#[derive(Debug)]
pub(super) struct GuideGrid {
    grid: CellGrid,
    starts: Vec<u32>,
    sorted: Vec<Guide>,
    /// Support radius h [m].
    pub support: f32,
}

impl GuideGrid {
    /// Sorts guides into cells; `radius` is that of the base particles [m].
    pub fn new(list: &[Guide], radius: f32) -> Self {
        let support = SUPPORT * radius;
        let positions: Vec<Vec3> = list.iter().map(|l| Vec3::from(l.position)).collect();
        let grid = CellGrid::around(&positions, 0.5 * support);
        let cells = positions.iter().map(|p| grid.index(grid.cell(*p)));
        let (starts, order) = counting_sort(cells, grid.cells());
        Self {
            grid,
            starts,
            sorted: order.into_iter().map(|i| list[i as usize]).collect(),
            support,
        }
    }

    /// Collects the guides within the support radius of a box, in an order that does not depend on the box.
    #[inline]
    pub fn gather(&self, low: Vec3, high: Vec3, out: &mut Vec<Guide>) {
        out.clear();
        let first = self.grid.cell(low - self.support);
        let last = self.grid.cell(high + self.support);
        let squared = self.support * self.support;
        for z in first.z..=last.z {
            let dz = self.grid.gap(2, z, low.z, high.z);
            for y in first.y..=last.y {
                let dy = self.grid.gap(1, y, low.y, high.y);
                if dy * dy + dz * dz > squared {
                    continue;
                }
                let from = self.grid.index(IVec3::new(first.x, y, z));
                let to = from + (last.x - first.x) as usize + 1;
                let range = self.starts[from] as usize..self.starts[to] as usize;
                for guide in &self.sorted[range] {
                    let p = Vec3::from(guide.position);
                    let outside = (low - p).max(p - high).max(Vec3::ZERO);
                    if outside.length_squared() < squared {
                        out.push(*guide);
                    }
                }
            }
        }
    }
}

/// Stable counting sort of keys below `count`: the start of each key in the sorted order, with the end, and that order.
pub(super) fn counting_sort(
    keys: impl ExactSizeIterator<Item = usize> + Clone,
    count: usize,
) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0_u32; count + 1];
    for key in keys.clone() {
        starts[key + 1] += 1;
    }
    for i in 0..count {
        starts[i + 1] += starts[i];
    }
    let mut order = vec![0; keys.len()];
    let mut next = starts.clone();
    for (i, key) in keys.enumerate() {
        let slot = &mut next[key];
        order[*slot as usize] = i as u32;
        *slot += 1;
    }
    (starts, order)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scattered(count: usize) -> Vec<Guide> {
        let mut state = 1_u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 16_777_216.0
        };
        let point = |_| Guide {
            position: [random(), random(), random()],
            velocity: [0.0; 3],
        };
        (0..count).map(point).collect()
    }

    #[test]
    fn a_search_finds_all_within_the_support_despite_outliers() {
        let mut list = scattered(2000);
        list.push(Guide {
            position: [1e6, 3.0, -1e5],
            ..Guide::default()
        });
        list.push(Guide {
            position: [1.05, 0.5, 0.5],
            ..Guide::default()
        });
        let guides = GuideGrid::new(&list, 0.03);
        let mut found = Vec::new();
        for (low, high) in [
            (Vec3::splat(0.4), Vec3::splat(0.45)),
            (Vec3::splat(-2.0), Vec3::splat(3.0)),
            (Vec3::new(1.1, 0.4, 0.4), Vec3::new(9e5, 0.6, 0.6)),
            (Vec3::new(1e6 - 0.05, 3.0, -1e5), Vec3::new(1e6, 3.0, -1e5)),
        ] {
            guides.gather(low, high, &mut found);
            let near = |l: &&Guide| {
                let p = Vec3::from(l.position);
                p.distance(p.clamp(low, high)) < guides.support
            };
            assert_eq!(found.len(), list.iter().filter(near).count());
            assert!(!found.is_empty());
        }
    }

    #[test]
    fn consecutive_cells_of_the_path_are_neighbors() {
        let corners = [Vec3::ZERO, Vec3::new(4.5, 2.5, 3.5)];
        let grid = CellGrid::around(&corners, 1.0);
        let mut by_number = vec![IVec3::MAX; grid.cells()];
        for z in 0..4 {
            for y in 0..3 {
                for x in 0..5 {
                    let cell = IVec3::new(x, y, z);
                    by_number[grid.serpentine_index(cell.as_vec3() + 0.5) as usize] = cell;
                }
            }
        }
        for pair in by_number.windows(2) {
            assert_eq!((pair[1] - pair[0]).abs().element_sum(), 1, "{pair:?}");
        }
    }
}
