//! Pairs of overlapping spheres, sixteen tests at a time.

use super::cells::{Cells, Stencil};
use crate::math::lanes::LANES;
use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd, dispatch, f32x16};
use glam::Vec4;
use rayon::prelude::*;
use std::ops::Range;

/// Cells per task; fixed, so that the order of the pairs does not depend on the number of threads.
const CELLS_PER_TASK: usize = 1024;

/// Pairs (i, j) of sorted spheres, in one list per task; i ascends through all lists.
#[derive(Debug, Default)]
pub struct PairSearch {
    lists: Vec<Vec<(u32, u32)>>,
    tasks: usize,
}

impl PairSearch {
    /// Finds all pairs with a gap of at most `margin` [m] in any of several configurations of the spheres. Cells must be at least as
    /// large as the largest distance of centers.
    pub fn find(&mut self, level: Level, cells: &Cells, configurations: &[&Spheres], margin: f32) {
        self.tasks = cells.count().div_ceil(CELLS_PER_TASK);
        if self.lists.len() < self.tasks {
            self.lists.resize_with(self.tasks, Vec::new);
        }
        let search = Search {
            cells,
            stencil: cells.half_stencil(),
            configurations,
            margin,
        };
        (self.lists[..self.tasks].par_iter_mut().enumerate()).for_each(|(task, list)| {
            list.clear();
            let first = task * CELLS_PER_TASK;
            let range = first..(first + CELLS_PER_TASK).min(cells.count());
            dispatch!(level, simd => search.run(simd, range, list));
        });
    }

    /// The pairs of the last search.
    pub fn lists(&self) -> &[Vec<(u32, u32)>] {
        &self.lists[..self.tasks]
    }
}

/// Spheres in the order of their cells, as a structure of arrays.
#[derive(Debug, Default)]
pub struct Spheres {
    /// x, y, z and radius [m]; padded by sixteen entries, which are read and masked out.
    columns: [Vec<f32>; 4],
}

impl Spheres {
    /// Sets the spheres (x, y, z, radius) [m].
    pub fn fill(&mut self, spheres: impl IndexedParallelIterator<Item = Vec4>) {
        let count = spheres.len();
        for column in &mut self.columns {
            column.resize(count + LANES, 0.0);
        }
        let [x, y, z, r] = &mut self.columns;
        let all = (x, y, z, r, spheres).into_par_iter();
        all.for_each(|(x, y, z, r, sphere)| [*x, *y, *z, *r] = sphere.to_array());
    }

    /// Which of the sixteen spheres from `j` on overlap sphere `i`, as bits.
    #[inline(always)]
    fn overlaps<S: Simd>(&self, simd: S, i: usize, j: usize, margin: f32) -> u64 {
        let [x, y, z, r] = &self.columns;
        let apart = |c: &Vec<f32>| f32x16::from_slice(simd, &c[j..j + LANES]) - c[i];
        let (dx, dy, dz) = (apart(x), apart(y), apart(z));
        let reach = f32x16::from_slice(simd, &r[j..j + LANES]) + (r[i] + margin);
        let squared = dx * dx + dy * dy + dz * dz;
        squared.simd_le(reach * reach).to_bitmask()
    }
}

/// Input of the search.
struct Search<'a> {
    cells: &'a Cells,
    stencil: Stencil<5>,
    configurations: &'a [&'a Spheres],
    margin: f32,
}

impl Search<'_> {
    #[inline(always)]
    fn run<S: Simd>(&self, simd: S, cells: Range<usize>, list: &mut Vec<(u32, u32)>) {
        let mut traversal = self.cells.traverse(cells.start, self.stencil);
        for _ in cells {
            let (own, rows) = traversal.next_cell();
            let end = own.end;
            for i in own {
                for (begin, end) in std::iter::once((i + 1, end)).chain(rows) {
                    self.row(simd, i, begin, end, list);
                }
            }
        }
    }

    /// Pairs of sphere `i` with the spheres from `begin` to `end`.
    #[inline(always)]
    fn row<S: Simd>(&self, simd: S, i: u32, begin: u32, end: u32, list: &mut Vec<(u32, u32)>) {
        let mut from = begin;
        while from < end {
            let mut hits = 0;
            for spheres in self.configurations {
                hits |= spheres.overlaps(simd, i as usize, from as usize, self.margin);
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
    use crate::sampling::random::Random;
    use glam::Vec3;

    fn scattered(count: usize, size: Vec3) -> Vec<Vec3> {
        let mut random = Random::new(1);
        let mut unit = || random.unit();
        (0..count)
            .map(|_| Vec3::new(unit(), unit(), unit()) * size)
            .collect()
    }

    fn found(points: &[Vec3], edge: f32) -> Vec<(u32, u32)> {
        let mut cells = Cells::default();
        cells.sort(points, edge);
        let order: Vec<usize> = cells.order().collect();
        let mut spheres = Spheres::default();
        let sphere = |i: usize| points[i].extend(0.5 * edge);
        spheres.fill(cells.order().map(sphere));
        let mut pairs = PairSearch::default();
        pairs.find(Level::new(), &cells, &[&spheres], 0.0);
        let number = |i: u32| order[i as usize] as u32;
        let mut pairs: Vec<(u32, u32)> = (pairs.lists().iter())
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
