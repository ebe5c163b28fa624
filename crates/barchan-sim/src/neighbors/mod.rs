//! Neighbor searches.

pub mod cells;
pub mod linked_cells;
pub mod pairs;

use glam::IVec3;

/// All cells between two corners, both included, x fastest.
pub fn cells_between(low: IVec3, high: IVec3) -> impl Iterator<Item = IVec3> {
    (low.z..=high.z).flat_map(move |z| {
        (low.y..=high.y).flat_map(move |y| (low.x..=high.x).map(move |x| IVec3::new(x, y, z)))
    })
}
