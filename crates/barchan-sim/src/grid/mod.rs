//! A sparse grid of 4×4×4-node blocks that follows the particles.
//!
//! ```text
//! particle block b ──scatter──► tile b (block and its rim) ──sum, fixed order──► grid blocks ──copy──► tile ──gather──► b
//! ```
//!
//! Each particle block scatters into a tile of its own: the nodes of the block and a rim wide enough for the stencil
//! plus one cell of travel, so that particles keep their block for many steps. Grid blocks then add the tiles that
//! overlap them in a fixed order: no atomics, the same bytes for any number of threads.
//! Nodes of a block are ordered x, z, y with y fastest: a stencil row along y is contiguous.
//!
//! The [`Topology`] holds the blocks and their adjacency; any number of [`Field`]s can be defined over it.

pub mod blocks;
pub mod field;
pub mod tile;

pub use blocks::{BlockCoord, BlockMap, Topology};
pub use field::{Field, Tiles};
pub use tile::{NODE, Tile};

/// Nodes of a block along an axis.
pub const BLOCK: i32 = 4;

/// Nodes of a block.
pub const BLOCK_NODES: usize = 64;

/// Largest block coordinate, so that three of them pack into 63 bits.
pub const MAX_BLOCK: i32 = (1 << 20) - 2;
