//! Neighbor lists with kernel gradients: built once a step, read in every iteration.

use super::PARTICLES_PER_TASK;
use super::kernel::Kernel;
use crate::math::lanes::LANES;
use crate::neighbors::cells::{Cells, Stencil};
use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd, dispatch, f32x16, u32x16};
use glam::Vec3;
use rayon::prelude::*;
use std::ops::Range;

/// Maximum number of neighbors of a particle: that of a bed compressed to a fifteenth of its volume.
pub const MAX_NEIGHBORS: usize = 496;

/// Neighbors of a particle, itself included. Gradients and slopes are padded by sixteen unused entries.
#[derive(Debug, Clone, Copy)]
pub struct Neighbors<'a> {
    /// V_j ∇W_ij [1/m].
    pub gradient: [&'a [f32]; 3],
    /// V_j W'/r [1/m²]: factor from x_i − x_j to the gradient.
    pub slope: &'a [f32],
    /// Indices.
    pub index: &'a [u32],
}

impl Neighbors<'_> {
    /// Index of each neighbor and V_j ∇W_ij [1/m].
    #[inline(always)]
    pub fn each(&self) -> impl Iterator<Item = (usize, Vec3)> {
        let [x, y, z] = self.gradient;
        let gradients = x.iter().zip(y).zip(z);
        let indices = self.index.iter().map(|j| *j as usize);
        indices.zip(gradients.map(|((x, y), z)| Vec3::new(*x, *y, *z)))
    }
}

/// Sums over the neighbors of a particle.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Neighborhood {
    /// Σ V_j W_ij over all particles, itself included.
    pub fraction: f32,
    /// Σ V_j ∇W_ij [1/m].
    pub gradient: Vec3,
    /// Σ |V_j ∇W_ij|² [1/m²].
    pub squares: f32,
}

/// Neighbors of the particles of a task.
#[derive(Debug, Default)]
pub struct NeighborList {
    /// End of each particle's neighbors in the columns below, which are longer.
    ends: Vec<u32>,
    gradient: [Vec<f32>; 3],
    slope: Vec<f32>,
    index: Vec<u32>,
}

impl NeighborList {
    /// Neighbors of each particle of the task, in order.
    #[inline(always)]
    pub fn each(&self) -> impl Iterator<Item = Neighbors<'_>> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, end)| {
            let range = begin as usize..*end as usize;
            let padded = range.start..range.end + LANES;
            let [x, y, z] = &self.gradient;
            Neighbors {
                gradient: [&x[padded.clone()], &y[padded.clone()], &z[padded.clone()]],
                slope: &self.slope[padded],
                index: &self.index[range],
            }
        })
    }

    /// Buffer for the neighbors of a particle from `begin` on.
    fn buffer(&mut self, begin: usize) -> Hits<'_> {
        let end = begin + MAX_NEIGHBORS + LANES;
        if self.index.len() < end {
            let longer = end + end / 2;
            for column in self.gradient.iter_mut().chain([&mut self.slope]) {
                column.resize(longer, 0.0);
            }
            self.index.resize(longer, 0);
        }
        let [x, y, z] = &mut self.gradient;
        Hits {
            count: 0,
            apart: [x, y, z].map(|column| &mut column[begin..end]),
            slope: &mut self.slope[begin..end],
            index: &mut self.index[begin..end],
        }
    }
}

/// Neighbors found so far, with space for sixteen more: x_i − x_j [m], later replaced by gradients, and indices.
struct Hits<'a> {
    count: usize,
    apart: [&'a mut [f32]; 3],
    slope: &'a mut [f32],
    index: &'a mut [u32],
}

/// Neighbors of all particles.
#[derive(Debug, Default)]
pub struct NeighborSearch {
    columns: [Vec<f32>; 3],
    /// Neighbors of the particles of each task of [`PARTICLES_PER_TASK`].
    pub tasks: Vec<NeighborList>,
    /// Sums over the neighbors of each particle.
    pub sums: Vec<Neighborhood>,
}

impl NeighborSearch {
    /// Finds the neighbors of sorted particles of a volume [m³] within the support.
    pub fn find(
        &mut self,
        level: Level,
        cells: &Cells,
        positions: &[Vec3],
        kernel: &Kernel,
        volume: f32,
    ) {
        let count = positions.len();
        for (axis, column) in self.columns.iter_mut().enumerate() {
            column.resize(count + LANES, 0.0);
            let entries = column[..count].par_iter_mut().zip(positions);
            entries
                .with_min_len(4 * PARTICLES_PER_TASK)
                .for_each(|(c, p)| *c = p[axis]);
        }
        let tasks = count.div_ceil(PARTICLES_PER_TASK);
        self.tasks.resize_with(tasks, NeighborList::default);
        self.sums.resize(count, Neighborhood::default());
        let search = Search {
            cells,
            stencil: cells.whole_stencil(),
            columns: &self.columns,
            kernel: *kernel,
            volume,
        };
        let lists = self.tasks.par_iter_mut();
        let lists = lists.zip(self.sums.par_chunks_mut(PARTICLES_PER_TASK));
        lists.enumerate().for_each(|(task, (list, sums))| {
            let first = task * PARTICLES_PER_TASK;
            let range = first..first + sums.len();
            dispatch!(level, simd => search.run(simd, range, list, sums));
        });
    }
}

struct Search<'a> {
    cells: &'a Cells,
    stencil: Stencil<9>,
    columns: &'a [Vec<f32>; 3],
    kernel: Kernel,
    volume: f32,
}

impl Search<'_> {
    #[inline(always)]
    fn run<S: Simd>(
        &self,
        simd: S,
        range: Range<usize>,
        list: &mut NeighborList,
        sums: &mut [Neighborhood],
    ) {
        list.ends.clear();
        let mut begin = 0;
        let first = self.cells.cell_of(range.start);
        let mut traversal = self.cells.traverse(first, self.stencil);
        let mut i = range.start;
        while i < range.end {
            let (own, rows) = traversal.next_cell();
            let end = own.end as usize;
            for i in i..end.min(range.end) {
                let mut hits = list.buffer(begin);
                for (begin, end) in rows {
                    self.row(simd, i, begin as usize, end as usize, &mut hits);
                }
                sums[i - range.start] = self.apply_kernel(simd, &mut hits);
                begin += hits.count;
                list.ends.push(begin as u32);
            }
            i = end;
        }
    }

    /// Neighbors of particle `i` among those from `begin` to `end`.
    #[inline(always)]
    fn row<S: Simd>(&self, simd: S, i: usize, begin: usize, end: usize, hits: &mut Hits) {
        let [x, y, z] = self.columns;
        let own = [x[i], y[i], z[i]];
        let reach = f32x16::splat(simd, self.kernel.support * self.kernel.support);
        let ahead = u32x16::from_fn(simd, |k| k as u32);
        let mut from = begin;
        while from < end && hits.count < MAX_NEIGHBORS {
            let apart = |c: &Vec<f32>, own: f32| {
                f32x16::splat(simd, own) - f32x16::from_slice(simd, &c[from..from + LANES])
            };
            let (dx, dy, dz) = (apart(x, own[0]), apart(y, own[1]), apart(z, own[2]));
            let squared = dx * dx + dy * dy + dz * dz;
            let left = u32x16::splat(simd, (end - from).min(LANES) as u32);
            let found = squared.simd_lt(reach) & ahead.simd_lt(left);
            let bits = found.to_bitmask();
            if bits != 0 {
                let at = hits.count..hits.count + LANES;
                dx.compress(found)
                    .store_slice(&mut hits.apart[0][at.clone()]);
                dy.compress(found)
                    .store_slice(&mut hits.apart[1][at.clone()]);
                dz.compress(found)
                    .store_slice(&mut hits.apart[2][at.clone()]);
                let indices = ahead + from as u32;
                indices.compress(found).store_slice(&mut hits.index[at]);
                hits.count += bits.count_ones() as usize;
            }
            from += LANES;
        }
        hits.count = hits.count.min(MAX_NEIGHBORS);
    }

    /// Evaluates the kernel for all hits.
    #[inline(always)]
    fn apply_kernel<S: Simd>(&self, simd: S, hits: &mut Hits) -> Neighborhood {
        let mut fraction = f32x16::splat(simd, 0.0);
        let mut sums = [fraction; 3];
        let mut squares = fraction;
        // The padding lies outside the support.
        for column in &mut hits.apart {
            column[hits.count..hits.count + LANES].fill(self.kernel.support);
        }
        for from in (0..hits.count).step_by(LANES) {
            let at = from..from + LANES;
            let load = |c: &[f32]| f32x16::from_slice(simd, &c[at.clone()]);
            let apart = [
                load(hits.apart[0]),
                load(hits.apart[1]),
                load(hits.apart[2]),
            ];
            let squared = apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2];
            let (value, slope) = self.kernel.lanes(simd, squared.sqrt());
            let slope = slope * self.volume;
            fraction += value;
            for axis in 0..3 {
                let gradient = slope * apart[axis];
                sums[axis] += gradient;
                squares += gradient * gradient;
                gradient.store_slice(&mut hits.apart[axis][at.clone()]);
            }
            slope.store_slice(&mut hits.slope[at]);
        }
        Neighborhood {
            fraction: self.volume * fraction.reduce_sum(),
            gradient: sum_lanes(&sums),
            squares: squares.reduce_sum(),
        }
    }
}

/// Sums over the lanes. Not with `map`, whose closures would be compiled without the instructions of the SIMD level.
#[inline(always)]
pub fn sum_lanes<S: Simd>(v: &[f32x16<S>; 3]) -> Vec3 {
    Vec3::new(v[0].reduce_sum(), v[1].reduce_sum(), v[2].reduce_sum())
}
