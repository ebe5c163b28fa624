//! The tile of a particle block: its nodes and a rim, as rows of four floats a node (x, y, z, mass), y fastest.

use super::{BLOCK, BLOCK_NODES};

/// Floats of a node: momentum (later velocity) x, y, z, and mass.
pub const NODE: usize = 4;

/// Cells that a particle may leave its block by before it must be sorted again.
pub const MARGIN: i32 = 1;

/// Shape of a tile for a kernel of K nodes an axis in D dimensions.
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

    /// Adds the part of a neighbour's tile that overlaps a grid block. `offset`: from the grid block to the tile's block.
    #[inline]
    pub fn add_overlap(grid: &mut [f32], tile: &[f32], offset: [i32; 3]) {
        Self::for_overlap(offset, |g, t, len| {
            for (a, b) in grid[g..g + len].iter_mut().zip(&tile[t..t + len]) {
                *a += *b;
            }
        });
    }

    /// Copies a grid block into the part of a tile that it overlaps. `offset`: from the tile's block to the grid block.
    #[inline]
    pub fn copy_overlap(tile: &mut [f32], grid: &[f32], offset: [i32; 3]) {
        Self::for_overlap(offset.map(|o| -o), |g, t, len| {
            tile[t..t + len].copy_from_slice(&grid[g..g + len])
        });
    }

    /// Calls `f(grid float, tile float, floats)` for each row shared by a grid block and the tile of the block at `offset`.
    #[inline(always)]
    fn for_overlap(offset: [i32; 3], mut f: impl FnMut(usize, usize, usize)) {
        let range = |o: i32, first: i32, count: usize| {
            // Tile node t lies at grid node t + first + 4·o.
            let start = first + BLOCK * o;
            (start.max(0), (start + count as i32).min(BLOCK), start)
        };
        let (x0, x1, xs) = range(offset[0], -MARGIN, Self::NX);
        let (y0, y1, ys) = range(offset[1], -MARGIN, Self::NY);
        let (z0, z1, zs) = range(offset[2], Self::Z0, Self::NZ);
        if y0 >= y1 {
            return;
        }
        let len = (y1 - y0) as usize * NODE;
        for x in x0..x1 {
            for z in z0..z1 {
                let g = ((x * BLOCK + z) * BLOCK + y0) as usize * NODE;
                let t = ((x - xs) as usize * Self::NZ + (z - zs) as usize) * Self::ROW
                    + (y0 - ys) as usize * NODE;
                f(g, t, len);
            }
        }
    }
}

/// Floats of a grid block.
pub const BLOCK_FLOATS: usize = BLOCK_NODES * NODE;
