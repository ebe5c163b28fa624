//! Pairs of balls that touch, sixteen tests at a time.

use super::cells::{Cells, Stencil};
use crate::math::lanes::LANES;
use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd, dispatch, f32x16};
use glam::Vec4;
use rayon::prelude::*;
use std::ops::Range;

/// Cells that one task searches; fixed, so that the order of pairs does not depend on the number of threads.
const CELLS_PER_TASK: usize = 1024;

/// Pairs of sorted balls (i, j), in lists: by i in ascending order through all lists.
#[derive(Debug, Default)]
pub struct Pairs {
    lists: Vec<Vec<(u32, u32)>>,
    tasks: usize,
}

impl Pairs {
    /// Finds all pairs that are no farther apart than `margin` [m]. Where there are several sets of balls, one set in which
    /// they are is enough. Cells must be as large as the reach.
    pub fn find(&mut self, level: Level, cells: &Cells, balls: &[&Balls], margin: f32) {
        self.tasks = cells.len().div_ceil(CELLS_PER_TASK);
        if self.lists.len() < self.tasks {
            self.lists.resize_with(self.tasks, Vec::new);
        }
        let search = Search {
            cells,
            stencil: cells.half_stencil(),
            balls,
            margin,
        };
        (self.lists[..self.tasks].par_iter_mut().enumerate()).for_each(|(task, list)| {
            list.clear();
            let first = task * CELLS_PER_TASK;
            let range = first..(first + CELLS_PER_TASK).min(cells.len());
            dispatch!(level, simd => search.run(simd, range, list));
        });
    }

    /// The pairs that were found last.
    pub fn lists(&self) -> &[Vec<(u32, u32)>] {
        &self.lists[..self.tasks]
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
    cells: &'a Cells,
    stencil: Stencil<5>,
    balls: &'a [&'a Balls],
    margin: f32,
}

impl Search<'_> {
    #[inline(always)]
    fn run<S: Simd>(&self, simd: S, cells: Range<usize>, list: &mut Vec<(u32, u32)>) {
        let mut walk = self.cells.walk(cells.start, self.stencil);
        for _ in cells {
            let (own, rows) = walk.next_cell();
            let end = own.end;
            for i in own {
                for (begin, end) in std::iter::once((i + 1, end)).chain(rows) {
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
    use glam::Vec3;

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
        let mut pairs = Pairs::default();
        pairs.find(Level::new(), &cells, &[&balls], 0.0);
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
