//! The tile of a particle block: its nodes and a rim, as rows of four floats per node (x, y, z, mass), y fastest.

use super::{BLOCK, BLOCK_NODES};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x4, f32x16};

/// Floats of a node: momentum (later velocity) x, y, z, and mass.
pub const NODE: usize = 4;

/// Cells that a particle may leave its block by before it must be sorted again.
pub const MARGIN: i32 = 1;

/// Shape of a tile for a kernel of K nodes per axis in D dimensions.
///
/// Along x (and z in 3D) it spans nodes −MARGIN .. 3 + MARGIN + K of the block; along y one more, so that a row of four
/// nodes can always be read whole.
pub struct Tile<const D: usize, const K: usize>;

impl<const D: usize, const K: usize> Tile<D, K> {
    /// Nodes along x.
    pub const NX: usize = (BLOCK + 2 * MARGIN - 1) as usize + K;
    /// Nodes along z; one in 2D.
    pub const NZ: usize = if D == 3 { Self::NX } else { 1 };
    /// Nodes along y.
    pub const NY: usize = (BLOCK + 2 * MARGIN - 1) as usize + 4;
    /// Floats of a row along y.
    pub const ROW: usize = Self::NY * NODE;
    /// Floats of a tile.
    pub const LEN: usize = Self::NX * Self::NZ * Self::ROW;
    /// First z node, relative to the block.
    pub const Z0: i32 = if D == 3 { -MARGIN } else { 0 };
    /// Largest allowed stencil base, relative to the tile, along x and y.
    pub const MAX_BASE: i32 = BLOCK + 2 * MARGIN - 1;

    /// Adds the part of a neighbor's tile that overlaps a grid block. `offset`: from the grid block to the tile's block.
    #[inline(always)]
    pub fn add_overlap<S: Simd>(simd: S, grid: &mut [f32], tile: &[f32], offset: [i32; 3]) {
        Self::for_overlap(offset, |g, t, whole| {
            if whole {
                let sum = f32x16::from_slice(simd, &grid[g..g + 16])
                    + f32x16::from_slice(simd, &tile[t..t + 16]);
                sum.store_slice(&mut grid[g..g + 16]);
            } else {
                let sum = f32x4::from_slice(simd, &grid[g..g + 4])
                    + f32x4::from_slice(simd, &tile[t..t + 4]);
                sum.store_slice(&mut grid[g..g + 4]);
            }
        });
    }

    /// Copies a grid block into the part of a tile that it overlaps. `offset`: from the tile's block to the grid block.
    #[inline(always)]
    pub fn copy_overlap<S: Simd>(simd: S, tile: &mut [f32], grid: &[f32], offset: [i32; 3]) {
        Self::for_overlap(offset.map(|o| -o), |g, t, whole| {
            if whole {
                f32x16::from_slice(simd, &grid[g..g + 16]).store_slice(&mut tile[t..t + 16]);
            } else {
                f32x4::from_slice(simd, &grid[g..g + 4]).store_slice(&mut tile[t..t + 4]);
            }
        });
    }

    /// Calls `f(grid float, tile float, whole)` for each row shared by a grid block and the tile of the block at
    /// `offset`: a whole row of four nodes, or one node where the tile is the one above.
    #[inline(always)]
    fn for_overlap(offset: [i32; 3], mut f: impl FnMut(usize, usize, bool)) {
        let range = |o: i32, first: i32, count: usize| {
            // Tile node t lies at grid node t + first + 4·o.
            let start = first + BLOCK * o;
            (start.max(0), (start + count as i32).min(BLOCK), start)
        };
        const {
            assert!(MARGIN == 1 && Self::NY == 9, "rows are four nodes or one");
        }
        let (x0, x1, xs) = range(offset[0], -MARGIN, Self::NX);
        let (z0, z1, zs) = range(offset[2], Self::Z0, Self::NZ);
        // First node of the row in the grid block and in the tile.
        let (whole, y, ty) = match offset[1] {
            0 => (true, 0, 1),
            -1 => (true, 0, 5),
            _ => (false, 3, 0),
        };
        for x in x0..x1 {
            for z in z0..z1 {
                let g = ((x * BLOCK + z) * BLOCK) as usize * NODE + y * NODE;
                let t = ((x - xs) as usize * Self::NZ + (z - zs) as usize) * Self::ROW + ty * NODE;
                f(g, t, whole);
            }
        }
    }
}

/// Floats of a grid block.
pub const BLOCK_FLOATS: usize = BLOCK_NODES * NODE;
