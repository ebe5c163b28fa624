//! Boxes of cubic cells, and the base particles sorted into them.

use super::weights::SUPPORT;
use barchan_scene::Bounds;
use glam::{IVec3, Vec3};

/// Most cells of a lattice.
const MAX_CELLS: f32 = 4e6;
/// Part of the points along an axis that may lie outside the lattice when the box of all is too large.
const OUTLIERS: f32 = 0.005;

/// Cubic cells in a box. What lies outside belongs to the outermost ones, so that a search in a range of cells finds
/// everything in it wherever it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lattice {
    low: Vec3,
    scale: f32,
    size: IVec3,
}

impl Lattice {
    /// Cells of about this edge [m] around points; larger ones, or without outliers, where they would be too many.
    pub fn around(points: &[Vec3], edge: f32) -> Self {
        let mut bounds = Bounds::from_points(points.iter().copied());
        if bounds.is_empty() {
            bounds = Bounds::from_corners(Vec3::ZERO, Vec3::ZERO);
        }
        let cells = |b: &Bounds, edge: f32| (b.size() / edge + 1.0).element_product();
        if cells(&bounds, edge) > MAX_CELLS {
            bounds = middle_box(points);
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
        // Cut off, not down: below zero is the first cell anyway.
        let cell = ((p - self.low) * self.scale).as_ivec3();
        cell.clamp(IVec3::ZERO, self.size - 1)
    }

    /// Number of a cell, x fastest.
    fn number(&self, cell: IVec3) -> usize {
        let row = cell.y as usize + self.size.y as usize * cell.z as usize;
        row * self.size.x as usize + cell.x as usize
    }

    /// Distance along an axis from anything that a layer of cells may hold to a range [m], or less.
    fn apart(&self, axis: usize, layer: i32, low: f32, high: f32) -> f32 {
        // The outermost layers hold what is beyond as well. Rounding may put a point in the next cell.
        let edge = 1.001 / self.scale;
        let begin = self.low[axis] + (layer as f32 - 0.0005) / self.scale;
        let before = match layer == self.size[axis] - 1 {
            true => 0.0,
            false => low - (begin + edge),
        };
        let behind = if layer == 0 { 0.0 } else { begin - high };
        before.max(behind).max(0.0)
    }

    /// Number of the cell of a point along a path through all cells that always goes on to a neighbor.
    pub fn along_path(&self, p: Vec3) -> u32 {
        let cell = self.cell(p);
        let turned = |odd: bool, i: i32, n: i32| if odd { n - 1 - i } else { i };
        let y = turned(cell.z & 1 == 1, cell.y, self.size.y);
        let row = cell.z * self.size.y + y;
        let x = turned(row & 1 == 1, cell.x, self.size.x);
        (row * self.size.x + x) as u32
    }
}

/// Box around all but the outliers along each axis.
fn middle_box(points: &[Vec3]) -> Bounds {
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

/// A particle that grains follow: of the base, or of a boundary.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(align(32))]
pub(super) struct Leader {
    /// Where it is [m].
    pub position: [f32; 3],
    /// How it moves in the step [m/s].
    pub velocity: [f32; 3],
}

/// Leaders sorted into cells; within a cell they keep their order.
#[derive(Debug)]
pub(super) struct Leaders {
    lattice: Lattice,
    starts: Vec<u32>,
    sorted: Vec<Leader>,
    /// Support radius h [m].
    pub reach: f32,
}

impl Leaders {
    /// For base particles of a radius [m].
    pub fn new(list: &[Leader], radius: f32) -> Self {
        let reach = SUPPORT * radius;
        let positions: Vec<Vec3> = list.iter().map(|l| Vec3::from(l.position)).collect();
        let lattice = Lattice::around(&positions, 0.5 * reach);
        let numbers = positions.iter().map(|p| lattice.number(lattice.cell(*p)));
        let (starts, order) = counting_sort(numbers, lattice.cells());
        Self {
            lattice,
            starts,
            sorted: order.into_iter().map(|i| list[i as usize]).collect(),
            reach,
        }
    }

    /// Leaders within reach of a box, in an order that does not depend on the box.
    #[inline]
    pub fn gather(&self, low: Vec3, high: Vec3, out: &mut Vec<Leader>) {
        out.clear();
        let first = self.lattice.cell(low - self.reach);
        let last = self.lattice.cell(high + self.reach);
        let squared = self.reach * self.reach;
        for z in first.z..=last.z {
            let dz = self.lattice.apart(2, z, low.z, high.z);
            for y in first.y..=last.y {
                let dy = self.lattice.apart(1, y, low.y, high.y);
                if dy * dy + dz * dz > squared {
                    continue;
                }
                let from = self.lattice.number(IVec3::new(first.x, y, z));
                let to = from + (last.x - first.x) as usize + 1;
                let range = self.starts[from] as usize..self.starts[to] as usize;
                for leader in &self.sorted[range] {
                    let p = Vec3::from(leader.position);
                    let beside = (low - p).max(p - high).max(Vec3::ZERO);
                    if beside.length_squared() < squared {
                        out.push(*leader);
                    }
                }
            }
        }
    }
}

/// Where each number begins in the sorted order, with the end, and the order: equal numbers stay as they were.
pub(super) fn counting_sort(
    numbers: impl ExactSizeIterator<Item = usize> + Clone,
    count: usize,
) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0_u32; count + 1];
    for number in numbers.clone() {
        starts[number + 1] += 1;
    }
    for i in 0..count {
        starts[i + 1] += starts[i];
    }
    let mut order = vec![0; numbers.len()];
    let mut next = starts.clone();
    for (i, number) in numbers.enumerate() {
        let slot = &mut next[number];
        order[*slot as usize] = i as u32;
        *slot += 1;
    }
    (starts, order)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scattered(count: usize) -> Vec<Leader> {
        let mut state = 1_u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 16_777_216.0
        };
        let point = |_| Leader {
            position: [random(), random(), random()],
            velocity: [0.0; 3],
        };
        (0..count).map(point).collect()
    }

    #[test]
    fn a_search_finds_all_in_reach_and_outliers_do_no_harm() {
        let mut list = scattered(2000);
        list.push(Leader {
            position: [1e6, 3.0, -1e5],
            ..Leader::default()
        });
        list.push(Leader {
            position: [1.05, 0.5, 0.5],
            ..Leader::default()
        });
        let leaders = Leaders::new(&list, 0.03);
        let mut found = Vec::new();
        for (low, high) in [
            (Vec3::splat(0.4), Vec3::splat(0.45)),
            (Vec3::splat(-2.0), Vec3::splat(3.0)),
            (Vec3::new(1.1, 0.4, 0.4), Vec3::new(9e5, 0.6, 0.6)),
            (Vec3::new(1e6 - 0.05, 3.0, -1e5), Vec3::new(1e6, 3.0, -1e5)),
        ] {
            leaders.gather(low, high, &mut found);
            let near = |l: &&Leader| {
                let p = Vec3::from(l.position);
                p.distance(p.clamp(low, high)) < leaders.reach
            };
            assert_eq!(found.len(), list.iter().filter(near).count());
            assert!(!found.is_empty());
        }
    }

    #[test]
    fn the_path_goes_from_neighbor_to_neighbor() {
        let corners = [Vec3::ZERO, Vec3::new(4.5, 2.5, 3.5)];
        let lattice = Lattice::around(&corners, 1.0);
        let mut by_number = vec![IVec3::MAX; lattice.cells()];
        for z in 0..4 {
            for y in 0..3 {
                for x in 0..5 {
                    let cell = IVec3::new(x, y, z);
                    by_number[lattice.along_path(cell.as_vec3() + 0.5) as usize] = cell;
                }
            }
        }
        for pair in by_number.windows(2) {
            assert_eq!((pair[1] - pair[0]).abs().element_sum(), 1, "{pair:?}");
        }
    }
}
