//! Which points are near which.

pub mod cells;
pub mod chains;
pub mod pairs;
