//! The stencil of a packet, and the lane shuffles shared by scatter and gather.
//!
//! Weights are computed for sixteen particles at a time. Scatter and gather then go particle by particle with lanes
//! across nodes: a row of four nodes along y, four floats each, is one vector of sixteen.

use super::particles::Packet;
use super::sort::CellFrame;
use crate::grid::NODE;
use crate::grid::blocks::{self, BlockCoord};
use crate::grid::tile::{MARGIN, Tile};
use crate::math::bspline;
use crate::math::lanes::{LANES, Lanes};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x4, f32x16};

/// Where a block's tile lies.
#[derive(Debug, Clone, Copy)]
pub struct TileFrame {
    /// Cells to the particle's frame.
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
}

/// Weights of sixteen particles. Distances are in cells.
pub struct Stencil<const K: usize> {
    /// First float of each particle's stencil in the tile.
    pub start: [usize; LANES],
    /// Weight w along x, y, z.
    pub w: [[Lanes; K]; 3],
    /// Derivative of w [1/cell].
    pub g: [[Lanes; K]; 3],
    /// Distance of the particle from its stencil base.
    pub f: [Lanes; 3],
}

impl<const K: usize> Stencil<K> {
    /// Stencils of a packet's particles.
    #[inline(always)]
    pub fn new<S: Simd, const D: usize>(simd: S, packet: &Packet, frame: &TileFrame) -> Self {
        let mut stencil = Self {
            start: [0; LANES],
            w: [[[0.0; LANES]; K]; 3],
            g: [[[0.0; LANES]; K]; 3],
            f: [[0.0; LANES]; 3],
        };
        let mut base = [[0.0f32; LANES]; 3];
        for axis in 0..D {
            let x = f32x16::load_array_ref(simd, &packet.position[axis]);
            let (f, local) = frame.locate(axis, x);
            let (w, g) = bspline::weights::<_, K>(f);
            for k in 0..K {
                w[k].store_array(&mut stencil.w[axis][k]);
                g[k].store_array(&mut stencil.g[axis][k]);
            }
            f.store_array(&mut stencil.f[axis]);
            local.store_array(&mut base[axis]);
        }
        if D == 2 {
            // One plane of nodes: weight 1, no derivative.
            stencil.w[2][0] = [1.0; LANES];
        }
        for lane in 0..LANES {
            let (x, y, z) = (
                base[0][lane] as usize,
                base[1][lane] as usize,
                base[2][lane] as usize,
            );
            stencil.start[lane] = (x * Tile::<D, K>::NZ + z) * Tile::<D, K>::ROW + y * NODE;
        }
        stencil
    }

    /// Weights, derivatives and distances x_i − x_p [cells] of one particle along x, y, z.
    #[inline(always)]
    pub fn axes(&self, lane: usize) -> [AxisWeights<K>; 3] {
        std::array::from_fn(|axis| AxisWeights {
            w: std::array::from_fn(|k| self.w[axis][k][lane]),
            g: std::array::from_fn(|k| self.g[axis][k][lane]),
            d: std::array::from_fn(|k| k as f32 - self.f[axis][lane]),
        })
    }
}

/// Weights of one particle along one axis.
#[derive(Clone, Copy)]
pub struct AxisWeights<const K: usize> {
    /// Weight.
    pub w: [f32; K],
    /// Derivative [1/cell].
    pub g: [f32; K],
    /// x_i − x_p [cells].
    pub d: [f32; K],
}

/// One value per node of a row, repeated for the four floats of the node; nodes past K get zero.
#[inline(always)]
pub fn per_node<S: Simd, const K: usize>(simd: S, v: [f32; K]) -> f32x16<S> {
    let node = |k: usize| f32x4::splat(simd, if k < K { v[k] } else { 0.0 });
    node(0).combine(node(1)).combine(node(2).combine(node(3)))
}

/// The same four floats at each node of a row.
#[inline(always)]
pub fn per_float<S: Simd>(simd: S, v: &[f32]) -> f32x16<S> {
    f32x16::block_splat(f32x4::from_slice(simd, v))
}

/// Sum over the four nodes of a row.
#[inline(always)]
pub fn sum_nodes<S: Simd>(v: f32x16<S>) -> f32x4<S> {
    let (a, b) = v.split();
    let (c, d) = (a + b).split();
    c + d
}

/// Four values of sixteen particles, particle by particle.
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

/// Four quantities of each particle → lanes of four quantities.
#[inline(always)]
pub fn deinterleave<S: Simd>(simd: S, quads: &Quads) -> [f32x16<S>; 4] {
    let q = |i: usize| f32x16::from_slice(simd, &quads[i * LANES..(i + 1) * LANES]);
    let (even0, odd0) = q(0).deinterleave(q(1));
    let (even1, odd1) = q(2).deinterleave(q(3));
    let (a, c) = even0.deinterleave(even1);
    let (b, d) = odd0.deinterleave(odd1);
    [a, b, c, d]
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
        assert_eq!(deinterleave(simd, &quads).map(|v| v.to_array()), rows);
        let nodes =
            per_node::<_, 3>(simd, [1.0, 2.0, 3.0]) * per_float(simd, &[1.0, 10.0, 100.0, 0.0]);
        assert_eq!(sum_nodes(nodes).to_array(), [6.0, 60.0, 600.0, 0.0]);
    }

    #[test]
    fn shuffles_at_every_level() {
        dispatch!(Level::new(), simd => shuffles(simd));
        dispatch!(Level::baseline(), simd => shuffles(simd));
    }
}
