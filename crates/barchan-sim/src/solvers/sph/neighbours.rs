//! Who is near whom, with the gradient of the kernel between them: found once a step and read in every pass.

use super::TASK;
use super::kernel::Kernel;
use crate::math::lanes::LANES;
use crate::neighbors::cells::Cells;
use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd, dispatch, f32x16};
use glam::Vec3;
use rayon::prelude::*;
use std::ops::Range;

/// A neighbour of a particle.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Neighbour {
    /// V_j ∇W_ij [1/m].
    pub gradient: Vec3,
    /// Its number.
    pub index: u32,
}

/// What is found for a particle beside its neighbours.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Around {
    /// Σ V_j W_ij over all particles, itself included.
    pub fraction: f32,
    /// Σ V_j ∇W_ij [1/m].
    pub gradient: Vec3,
}

/// Neighbours of the particles of a task.
#[derive(Debug, Default)]
pub struct Near {
    /// Where the neighbours of each particle end.
    ends: Vec<u32>,
    list: Vec<Neighbour>,
    hits: Hits,
}

impl Near {
    /// Neighbours of each particle of the task, in order.
    pub fn each(&self) -> impl Iterator<Item = &[Neighbour]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        let ranges = begins.zip(&self.ends);
        ranges.map(|(begin, end)| &self.list[begin as usize..*end as usize])
    }
}

/// Candidates within reach of a particle: x_i − x_j [m] and numbers.
#[derive(Debug, Default)]
struct Hits {
    apart: [Vec<f32>; 3],
    slope: Vec<f32>,
    value: Vec<f32>,
    index: Vec<u32>,
}

/// Neighbours of all particles.
#[derive(Debug, Default)]
pub struct Neighbours {
    columns: [Vec<f32>; 3],
    tasks: Vec<Near>,
    /// Sums over the neighbours of each particle.
    pub around: Vec<Around>,
}

impl Neighbours {
    /// Finds the neighbours of sorted particles of a volume [m³] within the support.
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
            let places = column[..count].par_iter_mut().zip(positions);
            places
                .with_min_len(4 * TASK)
                .for_each(|(c, p)| *c = p[axis]);
        }
        let tasks = count.div_ceil(TASK);
        self.tasks.resize_with(tasks, Near::default);
        self.around.resize(count, Around::default());
        let search = Search {
            cells,
            columns: &self.columns,
            kernel: *kernel,
            volume,
        };
        let all = self
            .tasks
            .par_iter_mut()
            .zip(self.around.par_chunks_mut(TASK));
        all.enumerate().for_each(|(task, (near, around))| {
            let first = task * TASK;
            let range = first..first + around.len();
            dispatch!(level, simd => search.run(simd, range, near, around));
        });
    }

    /// Neighbours of the particles of each task of [`TASK`].
    pub fn tasks(&self) -> &[Near] {
        &self.tasks
    }
}

struct Search<'a> {
    cells: &'a Cells,
    columns: &'a [Vec<f32>; 3],
    kernel: Kernel,
    volume: f32,
}

impl Search<'_> {
    #[inline(always)]
    fn run<S: Simd>(&self, simd: S, range: Range<usize>, near: &mut Near, around: &mut [Around]) {
        near.ends.clear();
        near.list.clear();
        let mut hits = std::mem::take(&mut near.hits);
        let mut rows = self.cells.rows_from(range.start);
        let mut i = range.start;
        while i < range.end {
            let (end, ranges) = rows.next_cell();
            for i in i..end.min(range.end) {
                hits.clear();
                for (begin, end) in ranges {
                    self.row(simd, i, begin, end, &mut hits);
                }
                around[i - range.start] = self.weigh(&mut hits, near);
            }
            i = end;
        }
        near.hits = hits;
    }

    /// Particles from `begin` to `end` that are in reach of particle `i`.
    #[inline(always)]
    fn row<S: Simd>(&self, simd: S, i: usize, begin: usize, end: usize, hits: &mut Hits) {
        let [x, y, z] = self.columns;
        let own = [x[i], y[i], z[i]];
        let reach = self.kernel.support * self.kernel.support;
        let mut from = begin;
        while from < end {
            let apart =
                |c: &Vec<f32>, own: f32| f32x16::from_slice(simd, &c[from..from + LANES]) - own;
            let (dx, dy, dz) = (apart(x, own[0]), apart(y, own[1]), apart(z, own[2]));
            let squared = dx * dx + dy * dy + dz * dz;
            let mut found = squared.simd_lt(f32x16::splat(simd, reach)).to_bitmask();
            found &= u64::MAX >> (64 - (end - from).min(LANES));
            while found != 0 {
                let j = from + found.trailing_zeros() as usize;
                if j != i {
                    hits.push(j, [own[0] - x[j], own[1] - y[j], own[2] - z[j]]);
                }
                found &= found - 1;
            }
            from += LANES;
        }
    }

    /// The kernel at all hits; adds them to the list.
    #[inline(always)]
    fn weigh(&self, hits: &mut Hits, near: &mut Near) -> Around {
        let count = hits.index.len();
        hits.value.resize(count, 0.0);
        hits.slope.resize(count, 0.0);
        let [x, y, z] = &hits.apart;
        let (x, y, z) = (&x[..count], &y[..count], &z[..count]);
        let (value, slope) = (&mut hits.value[..count], &mut hits.slope[..count]);
        for k in 0..count {
            let r = (x[k] * x[k] + y[k] * y[k] + z[k] * z[k]).sqrt();
            value[k] = self.kernel.value(r);
            slope[k] = self.volume * self.kernel.slope(r);
        }
        let mut around = Around {
            fraction: self.kernel.value(0.0),
            gradient: Vec3::ZERO,
        };
        for k in 0..count {
            let gradient = slope[k] * Vec3::new(x[k], y[k], z[k]);
            around.fraction += value[k];
            around.gradient += gradient;
            near.list.push(Neighbour {
                gradient,
                index: hits.index[k],
            });
        }
        around.fraction *= self.volume;
        near.ends.push(near.list.len() as u32);
        around
    }
}

impl Hits {
    fn clear(&mut self) {
        self.apart.iter_mut().for_each(Vec::clear);
        self.index.clear();
    }

    #[inline(always)]
    fn push(&mut self, j: usize, apart: [f32; 3]) {
        self.index.push(j as u32);
        for (column, d) in self.apart.iter_mut().zip(apart) {
            column.push(d);
        }
    }
}
