//! Which points are near which.

pub mod cells;
