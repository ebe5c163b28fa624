//! Neighbor searches.

pub mod cells;
pub mod chains;
pub mod pairs;
