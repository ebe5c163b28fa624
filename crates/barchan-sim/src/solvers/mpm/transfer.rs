//! Interpolation stencils of a packet, and the lane shuffles shared by scatter and gather.
//!
//! Weights are computed for sixteen particles at a time. Scatter and gather then process one particle after the other with
//! lanes across nodes: a row of four nodes along y, four floats each, is one vector of sixteen. Particles are sorted by cell,
//! so the rows of a stencil stay in registers for consecutive particles of a cell.

use super::particles::Packet;
use super::sort::CellFrame;
use crate::grid::NODE;
use crate::grid::blocks::{self, BlockCoord};
use crate::grid::tile::{MARGIN, Tile};
use crate::math::bspline::{self, RowForm};
use crate::math::lanes::{LANES, Lanes};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x4, f32x16, i32x16};

/// Position of a block's tile in the grid.
#[derive(Debug, Clone, Copy)]
pub struct TileFrame {
    /// Mapping from positions to cells.
    pub cells: CellFrame,
    /// First node of the tile along x, y, z.
    pub first: [f32; 3],
}

impl TileFrame {
    /// Frame of the tile around a block.
    pub fn new<const D: usize, const K: usize>(cells: CellFrame, coord: BlockCoord) -> Self {
        let node = blocks::first_node(coord);
        let z0 = Tile::<D, K>::Z0;
        let first = [node[0] - MARGIN, node[1] - MARGIN, node[2] + z0].map(|n| n as f32);
        Self { cells, first }
    }

    /// Position [cells] and stencil base relative to the tile, along one axis.
    #[inline(always)]
    pub fn locate<S: Simd>(&self, axis: usize, x: f32x16<S>) -> (f32x16<S>, f32x16<S>) {
        let cells = (x - self.cells.origin[axis]) * self.cells.inv_dx;
        let base = (cells + self.cells.base_offset).floor();
        (cells - base, base - self.first[axis])
    }

    /// Whether the stencil of a particle at `position` [m] lies in the tile.
    pub fn holds<const D: usize, const K: usize>(&self, position: glam::Vec3) -> bool {
        (0..D).all(|axis| {
            let cells = (position[axis] - self.cells.origin[axis]) * self.cells.inv_dx;
            let base = (cells + self.cells.base_offset).floor() - self.first[axis];
            (0.0..=Tile::<D, K>::MAX_BASE as f32).contains(&base)
        })
    }
}

/// Weights of sixteen particles. Distances are in cells.
pub struct Stencil<const K: usize> {
    /// First float of each particle's stencil in the tile.
    pub start: [usize; LANES],
    /// Weight w along x, y, z.
    pub w: [[Lanes; K]; 3],
    /// Derivative of w [1/cell].
    pub g: [[Lanes; K]; 3],
    /// w times the distance x_i − x_p.
    pub m: [[Lanes; K]; 3],
    /// Distance of the particle from its stencil base along y.
    pub y: Lanes,
}

impl<const K: usize> Stencil<K> {
    /// Scratch that the packets of a block share, which is cheaper than a new stencil for each.
    pub const ZERO: Self = Self {
        start: [0; LANES],
        w: [[[0.0; LANES]; K]; 3],
        g: [[[0.0; LANES]; K]; 3],
        m: [[[0.0; LANES]; K]; 3],
        y: [0.0; LANES],
    };

    /// Sets the stencils of a packet's particles.
    #[inline(always)]
    pub fn set<S: Simd, const D: usize>(&mut self, simd: S, packet: &Packet, frame: &TileFrame) {
        let mut start = f32x16::splat(simd, 0.0);
        let strides = [
            Tile::<D, K>::NZ * Tile::<D, K>::ROW,
            NODE,
            Tile::<D, K>::ROW,
        ];
        for axis in 0..D {
            let x = f32x16::load_array_ref(simd, &packet.position[axis]);
            let (f, local) = frame.locate(axis, x);
            let (w, g) = bspline::weights::<_, K>(f);
            for k in 0..K {
                w[k].store_array(&mut self.w[axis][k]);
                g[k].store_array(&mut self.g[axis][k]);
                let d = f32x16::splat(simd, k as f32) - f;
                (w[k] * d).store_array(&mut self.m[axis][k]);
            }
            if axis == 1 {
                f.store_array(&mut self.y);
            }
            // Exact: a tile has far fewer floats than f32 has integers.
            start = local.mul_add(f32x16::splat(simd, strides[axis] as f32), start);
        }
        if D == 2 {
            // One plane of nodes: weight 1, no derivative.
            self.w[2][0] = [1.0; LANES];
        }
        let start: i32x16<S> = start.to_int();
        let start = start.to_array();
        for lane in 0..LANES {
            self.start[lane] = start[lane] as usize;
        }
    }
}

/// Weights of the four nodes of a row along y, each repeated for the four floats of the node; past K they are zero.
pub struct RowWeights<S: Simd> {
    /// Weight.
    pub w: f32x16<S>,
    /// Derivative [1/cell].
    pub g: f32x16<S>,
    /// Distance x_i − x_p [cells].
    pub d: f32x16<S>,
}

impl<S: Simd> RowWeights<S> {
    /// Weights of a particle at distance `y` [cells] from its stencil base.
    #[inline(always)]
    pub fn new<const K: usize>(simd: S, y: f32) -> Self {
        let c = |row: [f32; 4]| {
            let node = |k: usize| f32x4::splat(simd, row[k]);
            node(0).combine(node(1)).combine(node(2).combine(node(3)))
        };
        let form = const { RowForm::new::<K>() };
        let y = f32x16::splat(simd, y);
        let slope = c(form.slope);
        let p = (y - 1.0).mul_add(slope, c(form.shift));
        let (w, g) = if K == 3 {
            let w = (p * p).mul_add(c(form.square), c(form.constant));
            (
                w,
                p * c(std::array::from_fn(|k| {
                    2.0 * form.slope[k] * form.square[k]
                })),
            )
        } else {
            let w = p.mul_add(c(form.cube), c(form.square));
            let w = (p * p).mul_add(w, c(form.constant));
            let twice = c(form.square.map(|v| 2.0 * v));
            (
                w,
                slope * p * p.mul_add(c(form.cube.map(|v| 3.0 * v)), twice),
            )
        };
        let d = c([0.0, 1.0, 2.0, 3.0]) - y;
        Self { w, g, d }
    }
}

/// The same four floats at each node of a row.
#[inline(always)]
pub fn per_float<S: Simd>(simd: S, v: &[f32]) -> f32x16<S> {
    f32x16::block_splat(f32x4::from_slice(simd, v))
}

/// Four values of each of sixteen particles, particle-major.
pub type Quads = [f32; 4 * LANES];

/// Lanes of four quantities → four quantities of each particle.
#[inline(always)]
pub fn interleave<S: Simd>(v: [f32x16<S>; 4], out: &mut Quads) {
    let (a0, a1) = v[0].interleave(v[2]);
    let (b0, b1) = v[1].interleave(v[3]);
    let (q0, q1) = a0.interleave(b0);
    let (q2, q3) = a1.interleave(b1);
    for (chunk, q) in out.chunks_exact_mut(LANES).zip([q0, q1, q2, q3]) {
        q.store_slice(chunk);
    }
}

/// Transposes a 16 × 16 matrix: a row per particle → a vector per entry of the rows.
#[inline(always)]
pub fn transpose<S: Simd>(simd: S, rows: &[Lanes; LANES]) -> [f32x16<S>; LANES] {
    let mut v = [f32x16::splat(simd, 0.0); LANES];
    for i in 0..LANES {
        v[i] = f32x16::load_array_ref(simd, &rows[i]);
    }
    for _ in 0..4 {
        let before = v;
        for i in 0..LANES / 2 {
            let (low, high) = before[i].interleave(before[i + LANES / 2]);
            v[2 * i] = low;
            v[2 * i + 1] = high;
        }
    }
    v
}

#[cfg(test)]
mod tests {
    use super::*;
    use fearless_simd::{Level, dispatch};

    #[inline(always)]
    fn shuffles<S: Simd>(simd: S) {
        let rows: [Lanes; 4] =
            std::array::from_fn(|q| std::array::from_fn(|l| (q * 100 + l) as f32));
        let mut quads = [0.0; 4 * LANES];
        interleave(rows.map(|r| f32x16::load_array(simd, r)), &mut quads);
        for (l, quad) in quads.chunks(4).enumerate() {
            assert_eq!(
                quad,
                [
                    l as f32,
                    100.0 + l as f32,
                    200.0 + l as f32,
                    300.0 + l as f32
                ]
            );
        }
        let matrix: [Lanes; LANES] =
            std::array::from_fn(|r| std::array::from_fn(|c| (100 * r + c) as f32));
        let turned = transpose(simd, &matrix);
        for (c, column) in turned.iter().enumerate() {
            let want: Lanes = std::array::from_fn(|r| (100 * r + c) as f32);
            assert_eq!(column.to_array(), want);
        }
    }

    #[inline(always)]
    fn row_weights<S: Simd, const K: usize>(simd: S) {
        let base = if K == 3 { 0.5 } else { 1.0 };
        for i in 0..1000 {
            let y = base + 0.001 * i as f32;
            let row = RowWeights::new::<K>(simd, y);
            let (w, g) = bspline::weights::<f64, K>(f64::from(y));
            for node in 0..4 {
                let want = |v: &[f64; K]| v.get(node).copied().unwrap_or(0.0) as f32;
                for float in 4 * node..4 * node + 4 {
                    assert!((row.w.to_array()[float] - want(&w)).abs() < 1.2e-7);
                    // Small weights keep their digits: in f64 as in f32 they are powers of a distance.
                    let exact = w.get(node).copied().unwrap_or(0.0);
                    let off = (f64::from(row.w.to_array()[float]) - exact).abs();
                    assert!(
                        off <= 1e-6 * exact,
                        "node {node} at {y}: off by {off:e} of {exact:e}"
                    );
                    assert!((row.g.to_array()[float] - want(&g)).abs() < 2.4e-7);
                    assert_eq!(row.d.to_array()[float], node as f32 - y);
                }
            }
        }
    }

    /// The weights of a row add up to one, on average within an ulp. The remaining error scales mass and momentum equally.
    #[inline(always)]
    fn row_sums<S: Simd, const K: usize>(simd: S) {
        let base = if K == 3 { 0.5 } else { 1.0 };
        let count = 20_000;
        let mean: f64 = (0..count)
            .map(|i| {
                let row = RowWeights::new::<K>(simd, base + i as f32 / count as f32);
                let w = row.w.to_array();
                (0..4).map(|k| f64::from(w[4 * k])).sum::<f64>() - 1.0
            })
            .sum::<f64>()
            / f64::from(count);
        assert!(mean.abs() < 3e-8, "{mean:e}");
    }

    #[test]
    fn row_weights_are_those_of_the_spline() {
        dispatch!(Level::new(), simd => { row_weights::<_, 3>(simd); row_weights::<_, 4>(simd) });
        dispatch!(Level::baseline(), simd => { row_weights::<_, 3>(simd); row_weights::<_, 4>(simd) });
        dispatch!(Level::new(), simd => { row_sums::<_, 3>(simd); row_sums::<_, 4>(simd) });
    }

    #[test]
    fn shuffles_agree_at_every_level() {
        dispatch!(Level::new(), simd => shuffles(simd));
        dispatch!(Level::baseline(), simd => shuffles(simd));
    }
}
