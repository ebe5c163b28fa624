//! Points sorted into cubic cells, and the pairs of points whose cells touch.
//!
//! Cells are numbered x fastest in the box that holds all points. In this order the three cells of a neighbouring row lie
//! together, and where they begin only moves forward as one goes through the cells: no table and no hash, however large
//! the box.

use crate::math::lanes::LANES;
use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd, dispatch, f32x16};
use glam::{I64Vec3, Vec3, Vec4};
use rayon::prelude::*;
use std::ops::Range;

/// Cells along an axis at most; what lies farther shares the last one. Three such numbers fit in a key.
const LIMIT: i64 = (1 << 13) - 3;
/// Bits of a point's number in a sorted entry.
const INDEX_BITS: u32 = 24;
/// Points at most.
pub const MAX_POINTS: usize = 1 << INDEX_BITS;
/// Cells that one task searches; fixed, so that the order of pairs does not depend on the number of threads.
const CELLS_PER_TASK: usize = 1024;
/// Points from which sorting is worth two threads.
const PARALLEL: usize = 1 << 14;

/// Points by cell.
#[derive(Debug, Default)]
pub struct Cells {
    /// Cell and number of each point, sorted.
    entries: Vec<u64>,
    /// Number of each cell that holds points, ascending.
    keys: Vec<u64>,
    /// Where each cell begins among the sorted points, and the end.
    starts: Vec<u32>,
    /// Differences of number to the beginning of each forward row, and how many cells of it to look at.
    rows: [(u64, u64); 5],
    lists: Vec<Vec<(u32, u32)>>,
    coordinates: Vec<f32>,
}

impl Cells {
    /// Sorts points into cells of an edge [m]. Points beyond what cells can number share the outermost ones.
    pub fn sort(&mut self, points: &[Vec3], edge: f32) {
        let (low, high) = points
            .iter()
            .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), p| {
                (low.min(*p), high.max(*p))
            });
        let scale = 1.0 / edge;
        let low = self.corner(points, low, high, edge);
        let size = ((high - low) * scale).as_i64vec3();
        // A cell of margin on each side keeps rows apart.
        let size = size.clamp(I64Vec3::ZERO, I64Vec3::splat(LIMIT)) + 3;
        let key_of = |p: Vec3| {
            let cell = ((p - low) * scale).as_i64vec3();
            let cell = cell.clamp(I64Vec3::ZERO, size - 3) + 1;
            (cell.x + size.x * (cell.y + size.y * cell.z)) as u64
        };
        let entry = |(i, p): (usize, &Vec3)| key_of(*p) << INDEX_BITS | i as u64;
        if points.len() < PARALLEL {
            self.entries.clear();
            self.entries.extend(points.iter().enumerate().map(entry));
            self.entries.sort_unstable();
        } else {
            points
                .par_iter()
                .enumerate()
                .map(entry)
                .collect_into_vec(&mut self.entries);
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
        let (row, plane) = (size.x as u64, (size.x * size.y) as u64);
        self.rows = [
            (1, 1),
            (row - 1, 3),
            (plane - row - 1, 3),
            (plane - 1, 3),
            (plane + row - 1, 3),
        ];
    }

    /// Lower corner of the box of cells. Where a few strays make it larger than can be numbered, most points lie in its
    /// middle: the strays share the outermost cells.
    fn corner(&mut self, points: &[Vec3], low: Vec3, high: Vec3, edge: f32) -> Vec3 {
        let mut corner = low;
        let widest = LIMIT as f32 * edge;
        for axis in (0..3).filter(|&axis| high[axis] - low[axis] > widest) {
            self.coordinates.clear();
            self.coordinates.extend(points.iter().map(|p| p[axis]));
            let middle = self.coordinates.len() / 2;
            let (_, median, _) = self
                .coordinates
                .select_nth_unstable_by(middle, f32::total_cmp);
            corner[axis] = *median - 0.5 * widest;
        }
        corner
    }

    /// Numbers of the points before sorting, in sorted order.
    pub fn order(&self) -> impl IndexedParallelIterator<Item = usize> + '_ {
        let mask = (1u64 << INDEX_BITS) - 1;
        self.entries
            .par_iter()
            .with_min_len(4096)
            .map(move |e| (e & mask) as usize)
    }

    /// The rows of cells about each cell, from the cell that holds a sorted point on.
    pub fn rows_from(&self, point: usize) -> Rows<'_> {
        let cell = self.starts.partition_point(|s| *s as usize <= point) - 1;
        let first = self.keys[cell];
        let [_, (up, _), (back_down, _), (back, _), (back_up, _)] = self.rows;
        // Beginnings of the nine rows, relative to the cell.
        let offsets = [
            -(back_up as i64) - 2,
            -(back as i64) - 2,
            -(back_down as i64) - 2,
            -(up as i64) - 2,
            -1,
            up as i64,
            back_down as i64,
            back as i64,
            back_up as i64,
        ];
        let cursors = offsets.map(|offset| {
            let begin = first.saturating_add_signed(offset);
            self.keys.partition_point(|k| *k < begin)
        });
        Rows {
            cells: self,
            cell,
            offsets,
            cursors,
        }
    }

    /// The pairs that were found last.
    pub fn lists(&self) -> &[Vec<(u32, u32)>] {
        &self.lists
    }

    /// All pairs of sorted balls (i, j) that are no farther apart than `margin`, in lists: by i in ascending order through
    /// all lists. Where there are several sets of balls, one set in which they are is enough. Cells must be as large as
    /// the reach.
    pub fn pairs(&mut self, level: Level, balls: &[&Balls], margin: f32) -> &[Vec<(u32, u32)>] {
        let tasks = self.keys.len().div_ceil(CELLS_PER_TASK);
        if self.lists.len() < tasks {
            self.lists.resize_with(tasks, Vec::new);
        }
        let (keys, starts, rows) = (&self.keys, &self.starts, &self.rows);
        self.lists[..tasks]
            .par_iter_mut()
            .enumerate()
            .for_each(|(task, list)| {
                list.clear();
                let cells = task * CELLS_PER_TASK..((task + 1) * CELLS_PER_TASK).min(keys.len());
                let search = Search {
                    keys,
                    starts,
                    rows,
                    balls,
                    margin,
                };
                dispatch!(level, simd => search.run(simd, cells, list));
            });
        &self.lists[..tasks]
    }
}

/// Goes through the cells and finds what lies about each.
pub struct Rows<'a> {
    cells: &'a Cells,
    cell: usize,
    offsets: [i64; 9],
    cursors: [usize; 9],
}

impl Rows<'_> {
    /// Where the next cell ends among the sorted points, and the ranges of points in and about it. There must be a next one.
    #[inline(always)]
    pub fn next_cell(&mut self) -> (usize, [(usize, usize); 9]) {
        let (keys, starts) = (&self.cells.keys, &self.cells.starts);
        let key = keys[self.cell];
        let mut ranges = [(0, 0); 9];
        for ((cursor, offset), range) in self.cursors.iter_mut().zip(self.offsets).zip(&mut ranges)
        {
            let begin = key.saturating_add_signed(offset);
            while *cursor < keys.len() && keys[*cursor] < begin {
                *cursor += 1;
            }
            let mut end = *cursor;
            while end < keys.len() && keys[end] < begin + 3 {
                end += 1;
            }
            *range = (starts[*cursor] as usize, starts[end] as usize);
        }
        self.cell += 1;
        (starts[self.cell] as usize, ranges)
    }
}

/// Balls in the order of their cells, an array for each coordinate.
#[derive(Debug, Default)]
pub struct Balls {
    /// x, y, z and radius [m], then sixteen more that are read and not looked at.
    columns: [Vec<f32>; 4],
}

impl Balls {
    /// Takes balls as (x, y, z, radius) [m].
    pub fn fill(&mut self, balls: impl IndexedParallelIterator<Item = Vec4>) {
        let count = balls.len();
        for column in &mut self.columns {
            column.resize(count + LANES, 0.0);
        }
        let [x, y, z, r] = &mut self.columns;
        (x[..count].par_iter_mut())
            .zip(&mut y[..count])
            .zip(&mut z[..count])
            .zip(&mut r[..count])
            .zip(balls)
            .for_each(|((((x, y), z), r), ball)| [*x, *y, *z, *r] = ball.to_array());
    }

    /// Which of the sixteen balls from `j` on ball `i` touches, as bits.
    #[inline(always)]
    fn touched<S: Simd>(&self, simd: S, i: usize, j: usize, margin: f32) -> u64 {
        let [x, y, z, r] = &self.columns;
        let apart = |c: &Vec<f32>| f32x16::from_slice(simd, &c[j..j + LANES]) - c[i];
        let (dx, dy, dz) = (apart(x), apart(y), apart(z));
        let reach = f32x16::from_slice(simd, &r[j..j + LANES]) + (r[i] + margin);
        let squared = dx * dx + dy * dy + dz * dz;
        squared.simd_le(reach * reach).to_bitmask()
    }
}

/// What a task needs to search its cells.
struct Search<'a> {
    keys: &'a [u64],
    starts: &'a [u32],
    rows: &'a [(u64, u64); 5],
    balls: &'a [&'a Balls],
    margin: f32,
}

impl Search<'_> {
    #[inline(always)]
    fn run<S: Simd>(&self, simd: S, cells: Range<usize>, list: &mut Vec<(u32, u32)>) {
        let (keys, starts) = (self.keys, self.starts);
        let first = keys[cells.start];
        let mut cursors =
            (self.rows).map(|(offset, _)| keys.partition_point(|k| *k < first + offset));
        for cell in cells {
            let mut ranges = [(0u32, 0u32); 5];
            for ((cursor, (offset, width)), range) in
                cursors.iter_mut().zip(self.rows).zip(&mut ranges)
            {
                let begin = keys[cell] + offset;
                while *cursor < keys.len() && keys[*cursor] < begin {
                    *cursor += 1;
                }
                let mut end = *cursor;
                while end < keys.len() && keys[end] < begin + width {
                    end += 1;
                }
                *range = (starts[*cursor], starts[end]);
            }
            let end = starts[cell + 1];
            for i in starts[cell]..end {
                for (begin, end) in std::iter::once((i + 1, end)).chain(ranges) {
                    self.row(simd, i, begin, end, list);
                }
            }
        }
    }

    /// Balls from `begin` to `end` that ball `i` touches.
    #[inline(always)]
    fn row<S: Simd>(&self, simd: S, i: u32, begin: u32, end: u32, list: &mut Vec<(u32, u32)>) {
        let mut from = begin;
        while from < end {
            let mut hits = 0;
            for balls in self.balls {
                hits |= balls.touched(simd, i as usize, from as usize, self.margin);
            }
            hits &= u64::MAX >> (64 - (end - from).min(LANES as u32));
            while hits != 0 {
                list.push((i, from + hits.trailing_zeros()));
                hits &= hits - 1;
            }
            from += LANES as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scattered(count: usize, size: Vec3) -> Vec<Vec3> {
        let mut state = 1u64;
        let mut unit = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 40) as f32 / (1u32 << 24) as f32
        };
        (0..count)
            .map(|_| Vec3::new(unit(), unit(), unit()) * size)
            .collect()
    }

    fn found(points: &[Vec3], edge: f32) -> Vec<(u32, u32)> {
        let mut cells = Cells::default();
        cells.sort(points, edge);
        let order: Vec<usize> = cells.order().collect();
        let mut balls = Balls::default();
        let ball = |i: usize| points[i].extend(0.5 * edge);
        balls.fill(cells.order().map(ball));
        let lists = cells.pairs(Level::new(), &[&balls], 0.0);
        let number = |i: u32| order[i as usize] as u32;
        let mut pairs: Vec<(u32, u32)> = lists
            .iter()
            .flatten()
            .map(|(i, j)| (number(*i).min(number(*j)), number(*i).max(number(*j))))
            .collect();
        pairs.sort_unstable();
        pairs
    }

    #[test]
    fn pairs_are_those_of_the_direct_search() {
        let spread = Vec3::new(1e5, 3.0, 2.0);
        let mut far = scattered(300, Vec3::ONE);
        far.push(Vec3::splat(1e7));
        far.push(Vec3::splat(-1e7));
        for points in [
            scattered(2000, Vec3::ONE),
            scattered(2000, Vec3::new(1.0, 1.0, 0.0)),
            scattered(500, spread),
            far,
            vec![Vec3::ONE; 10],
            vec![Vec3::ZERO],
            Vec::new(),
        ] {
            let edge = 0.1;
            let mut direct = Vec::new();
            for j in 0..points.len() {
                for i in 0..j {
                    if points[i].distance_squared(points[j]) <= edge * edge {
                        direct.push((i as u32, j as u32));
                    }
                }
            }
            direct.sort_unstable();
            assert_eq!(found(&points, edge), direct);
        }
    }
}
