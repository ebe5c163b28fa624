//! Points sorted into cubic cells, and the traversal of the cells and their neighbors.
//!
//! Cells are numbered with x fastest in the bounding box of all points. In this order the three
//! cells of a neighboring row are contiguous, and their start only advances in the traversal: a box
//! of any size needs neither a table nor a hash.

use barchan_scene::Bounds;
use glam::{I64Vec3, Vec3};
use rayon::prelude::*;
use std::ops::Range;

/// Maximum number of cells along an axis; points beyond are put into the outermost ones. Three such
/// numbers fit in a key.
const MAX_CELLS_PER_AXIS: i64 = (1 << 13) - 3;
/// Bits of a point's index in a sorted entry.
const INDEX_BITS: u32 = 24;
/// Maximum number of points.
pub const MAX_POINTS: usize = 1 << INDEX_BITS;
/// Number of points from which sorting in parallel pays off.
const PARALLEL_SORT_MIN: usize = 1 << 14;

/// Points by cell.
#[derive(Debug, Default)]
pub struct Cells {
    /// Cell and number of each point, sorted.
    entries: Vec<u64>,
    /// Number of each cell that holds points, ascending.
    keys: Vec<u64>,
    /// First sorted point of each cell, and the end.
    starts: Vec<u32>,
    /// Cells in a row and in a plane.
    strides: [i64; 2],
    coordinates: Vec<f32>,
}

impl Cells {
    /// Sorts points into cells with an edge [m].
    pub fn sort(&mut self, points: &[Vec3], edge: f32) {
        let bounds = Bounds::from_points(points.iter().copied());
        let scale = 1.0 / edge;
        let low = self.corner(points, &bounds, edge);
        let size = ((bounds.max - low) * scale).as_i64vec3();
        // An empty cell on each side separates the rows.
        let size = size.clamp(I64Vec3::ZERO, I64Vec3::splat(MAX_CELLS_PER_AXIS)) + 3;
        let key_of = |p: Vec3| {
            let cell = ((p - low) * scale).as_i64vec3();
            let cell = cell.clamp(I64Vec3::ZERO, size - 3) + 1;
            (cell.x + size.x * (cell.y + size.y * cell.z)) as u64
        };
        let entry = |(i, p): (usize, &Vec3)| key_of(*p) << INDEX_BITS | i as u64;
        if points.len() < PARALLEL_SORT_MIN {
            self.entries.clear();
            self.entries.extend(points.iter().enumerate().map(entry));
            self.entries.sort_unstable();
        } else {
            let entries = points.par_iter().enumerate().map(entry);
            entries.collect_into_vec(&mut self.entries);
            self.entries.par_sort_unstable();
        }
        self.keys.clear();
        self.starts.clear();
        for (i, entry) in self.entries.iter().enumerate() {
            let key = entry >> INDEX_BITS;
            if self.keys.last() != Some(&key) {
                self.keys.push(key);
                self.starts.push(i as u32);
            }
        }
        self.starts.push(self.entries.len() as u32);
        self.strides = [size.x, size.x * size.y];
    }

    /// Lower corner of the box of cells. Where outliers make the box wider than [`MAX_CELLS_PER_AXIS`] cells, it
    /// is centered at the median, and the outliers share the outermost cells.
    fn corner(&mut self, points: &[Vec3], bounds: &Bounds, edge: f32) -> Vec3 {
        let mut corner = bounds.min;
        let widest = MAX_CELLS_PER_AXIS as f32 * edge;
        for axis in (0..3).filter(|&a| bounds.max[a] - bounds.min[a] > widest) {
            self.coordinates.clear();
            self.coordinates.extend(points.iter().map(|p| p[axis]));
            let (all, middle) = (&mut self.coordinates, points.len() / 2);
            let (_, median, _) = all.select_nth_unstable_by(middle, f32::total_cmp);
            corner[axis] = *median - 0.5 * widest;
        }
        corner
    }

    /// Numbers of the points before sorting, in sorted order.
    pub fn order(&self) -> impl IndexedParallelIterator<Item = usize> + '_ {
        let mask = (1u64 << INDEX_BITS) - 1;
        let entries = self.entries.par_iter().with_min_len(4096);
        entries.map(move |e| (e & mask) as usize)
    }

    /// Number of cells that hold points.
    pub fn count(&self) -> usize {
        self.keys.len()
    }

    /// The cell that holds a sorted point.
    pub fn cell_of(&self, point: usize) -> usize {
        self.starts.partition_point(|s| *s as usize <= point) - 1
    }

    /// A cell and all its neighbors, in nine rows.
    pub fn whole_stencil(&self) -> Stencil<9> {
        let [row, plane] = self.strides;
        std::array::from_fn(|k| {
            let (planes, rows) = (k as i64 / 3 - 1, k as i64 % 3 - 1);
            (planes * plane + rows * row - 1, 3)
        })
    }

    /// The neighbors that come after a cell, in five rows: every pair of adjacent cells once.
    pub fn half_stencil(&self) -> Stencil<5> {
        let [row, plane] = self.strides;
        [
            (1, 1),
            (row - 1, 3),
            (plane - row - 1, 3),
            (plane - 1, 3),
            (plane + row - 1, 3),
        ]
    }

    /// Traverses the cells from `first` on.
    #[inline(always)]
    pub fn traverse<const ROWS: usize>(
        &self,
        first: usize,
        stencil: Stencil<ROWS>,
    ) -> Traversal<'_, ROWS> {
        let key = self.keys[first];
        Traversal {
            keys: &self.keys,
            starts: &self.starts,
            cell: first,
            cursors: stencil.map(|(offset, _)| {
                let begin = key.wrapping_add_signed(offset);
                self.keys.partition_point(|k| *k < begin)
            }),
            stencil,
        }
    }
}

/// Rows of cells relative to a cell: offset of the first cell, and number of cells. The empty cells around the box keep all of
/// them inside.
pub type Stencil<const ROWS: usize> = [(i64, u64); ROWS];

/// Traversal of the cells that yields the points in the rows of a stencil at each.
pub struct Traversal<'a, const ROWS: usize> {
    keys: &'a [u64],
    starts: &'a [u32],
    cell: usize,
    stencil: Stencil<ROWS>,
    cursors: [usize; ROWS],
}

impl<const ROWS: usize> Traversal<'_, ROWS> {
    /// The sorted points in the next cell, which must exist, and those in each row of its stencil.
    #[inline(always)]
    pub fn next_cell(&mut self) -> (Range<u32>, [(u32, u32); ROWS]) {
        let (keys, starts) = (self.keys, self.starts);
        let key = keys[self.cell];
        let mut rows = [(0, 0); ROWS];
        for ((cursor, (offset, width)), row) in
            self.cursors.iter_mut().zip(&self.stencil).zip(&mut rows)
        {
            let begin = key.wrapping_add_signed(*offset);
            while *cursor < keys.len() && keys[*cursor] < begin {
                *cursor += 1;
            }
            let mut end = *cursor;
            while end < keys.len() && keys[end] < begin + width {
                end += 1;
            }
            *row = (starts[*cursor], starts[end]);
        }
        let own = starts[self.cell]..starts[self.cell + 1];
        self.cell += 1;
        (own, rows)
    }
}
