//! Fields over a topology: velocities of each species, residuals, search directions.

use super::blocks::{NEIGHBORS, NONE, Topology};
use super::tile::{BLOCK_FLOATS, Tile};
use fearless_simd::Simd;
use rayon::prelude::*;

/// Grid blocks that one task handles; fixed, so that sums by task have the same order for any number of threads.
pub const BLOCKS_PER_TASK: usize = 32;

/// Floats of the largest tile: 3D, cubic.
pub const MAX_TILE: usize = Tile::<3, 4>::LEN;

/// Four floats (a vector and a scalar, such as velocity [m/s] and mass [kg]) at each node of a topology's grid blocks.
/// The nodes are one slice, so that a field is also a vector of [`crate::linalg`].
#[derive(Debug, Clone, Default)]
pub struct Field {
    nodes: Vec<f32>,
}

impl Field {
    /// Resizes to the nodes of a topology; the values are undefined until they are set.
    pub fn resize(&mut self, topology: &Topology) {
        let floats = topology.grid_keys.len() * BLOCK_FLOATS;
        self.nodes.resize(floats, 0.0);
    }

    /// All nodes, block by block.
    pub fn nodes(&self) -> &[f32] {
        &self.nodes
    }

    /// The same, mutable.
    pub fn nodes_mut(&mut self) -> &mut [f32] {
        &mut self.nodes
    }

    /// The nodes by tasks of [`BLOCKS_PER_TASK`] blocks.
    pub fn tasks(&mut self) -> rayon::slice::ChunksMut<'_, f32> {
        self.nodes.par_chunks_mut(BLOCK_FLOATS * BLOCKS_PER_TASK)
    }

    /// The nodes block by block.
    pub fn blocks_mut(&mut self) -> rayon::slice::ChunksMut<'_, f32> {
        self.nodes.par_chunks_mut(BLOCK_FLOATS)
    }

    /// The nodes around a particle block, as its tile.
    #[inline(always)]
    pub fn tile<S: Simd, const D: usize, const K: usize>(
        &self,
        simd: S,
        neighbors: &[u32; 27],
    ) -> [f32; MAX_TILE] {
        let mut tile = [0.0; MAX_TILE];
        for (offset, &g) in NEIGHBORS.iter().zip(neighbors) {
            if g != NONE {
                let first = g as usize * BLOCK_FLOATS;
                let block = &self.nodes[first..first + BLOCK_FLOATS];
                Tile::<D, K>::copy_overlap(simd, &mut tile, block, *offset);
            }
        }
        tile
    }
}

/// A tile for each particle block: the target of the scatter, before grid blocks sum over their tiles.
#[derive(Debug, Default)]
pub struct Tiles {
    floats: Vec<f32>,
    len: usize,
}

impl Tiles {
    /// Resizes to the particle blocks of a topology, `len` floats each.
    pub fn resize(&mut self, topology: &Topology, len: usize) {
        self.len = len;
        self.floats.resize(topology.particle_keys.len() * len, 0.0);
    }

    /// The tiles one by one.
    pub fn each_mut(&mut self) -> rayon::slice::ChunksMut<'_, f32> {
        self.floats.par_chunks_mut(self.len.max(1))
    }

    /// Sets a grid block to the sum of the tiles that overlap it, in the fixed order of neighbors.
    #[inline(always)]
    pub fn sum_into<S: Simd, const D: usize, const K: usize>(
        &self,
        simd: S,
        block: &mut [f32],
        neighbors: &[u32; 27],
    ) {
        block.fill(0.0);
        for (offset, &p) in NEIGHBORS.iter().zip(neighbors) {
            if p != NONE {
                let first = p as usize * Tile::<D, K>::LEN;
                let tile = &self.floats[first..first + Tile::<D, K>::LEN];
                Tile::<D, K>::add_overlap(simd, block, tile, *offset);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::blocks::pack;

    #[test]
    fn fields_follow_their_topology() {
        let mut topology = Topology::default();
        topology.particle_keys.push(pack([0, 0, 0]));
        topology.rebuild([0; 3], false);
        let mut field = Field::default();
        field.resize(&topology);
        assert_eq!(field.nodes().len(), 27 * BLOCK_FLOATS);
        assert_eq!(field.blocks_mut().count(), 27);
    }
}
