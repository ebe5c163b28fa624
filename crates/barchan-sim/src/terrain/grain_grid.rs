//! A cell grid of the existing grains near the soil that is to become grains.

use super::ExistingGrains;
use crate::neighbors::cells_between;
use crate::neighbors::linked_cells::LinkedCells;
use barchan_scene::Bounds;
use glam::{IVec3, Vec3};

/// Maximum number of cells; cells are larger where there would be more.
const MAX_CELLS: f32 = 262_144.0;

/// Grains by cell.
#[derive(Debug, Clone, Default)]
pub(super) struct GrainGrid {
    low: Vec3,
    cell: f32,
    size: IVec3,
    cells: LinkedCells,
    grains: Vec<(Vec3, f32)>,
}

impl GrainGrid {
    /// Sorts the grains in or touching `region` into cells; `largest` is the radius of the largest new grain [m].
    pub fn fill(&mut self, region: Bounds, largest: f32, existing: ExistingGrains<'_>) {
        self.grains.clear();
        let all = existing.position.iter().zip(existing.radius);
        let near = all.filter(|(p, r)| {
            let reach = **r + largest;
            (p.cmpge(region.min - reach) & p.cmple(region.max + reach)).all()
        });
        self.grains.extend(near.map(|(p, r)| (*p, *r)));
        let widest = self.grains.iter().map(|g| g.1).fold(largest, f32::max);
        self.low = region.min - 2.0 * widest;
        let extent = region.max + 2.0 * widest - self.low;
        let coarse = (extent.x * extent.y * extent.z / MAX_CELLS).cbrt();
        self.cell = (2.0 * widest).max(coarse);
        self.size = (extent / self.cell).as_ivec3() + 1;
        let mut cells = std::mem::take(&mut self.cells);
        cells.fill(self.size, self.grains.iter().map(|g| self.cell_of(g.0)));
        self.cells = cells;
    }

    fn cell_of(&self, p: Vec3) -> IVec3 {
        let cell = ((p - self.low) / self.cell).as_ivec3();
        cell.clamp(IVec3::ZERO, self.size - 1)
    }

    /// Whether a grain overlaps a ball.
    pub fn overlaps(&self, p: Vec3, radius: f32) -> bool {
        let at = self.cell_of(p);
        let (low, high) = ((at - 1).max(IVec3::ZERO), (at + 1).min(self.size - 1));
        let near = cells_between(low, high).flat_map(|cell| self.cells.cell(cell));
        near.map(|i| self.grains[i])
            .any(|(q, r)| q.distance(p) < radius + r)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampling::random::Random;

    #[test]
    fn the_grid_agrees_with_brute_force() {
        let mut random = Random::new(9);
        let mut point = |low: f32, size: f32| {
            Vec3::from_array(std::array::from_fn(|_| low + size * random.unit()))
        };
        let position: Vec<Vec3> = (0..400).map(|_| point(-0.5, 2.0)).collect();
        let radius: Vec<f32> = (0..400).map(|i| 0.02 + 0.0001 * i as f32).collect();
        let region = Bounds {
            min: Vec3::ZERO,
            max: Vec3::ONE,
        };
        let existing = ExistingGrains {
            position: &position,
            radius: &radius,
        };
        let mut grid = GrainGrid::default();
        grid.fill(region, 0.05, existing);
        let mut hits = 0;
        for _ in 0..2000 {
            let p = point(0.0, 1.0);
            let both = || position.iter().zip(&radius);
            let expected = both().any(|(q, r)| q.distance(p) < 0.05 + r);
            assert_eq!(grid.overlaps(p, 0.05), expected);
            hits += usize::from(expected);
        }
        assert!((100..1900).contains(&hits), "{hits}");
    }
}
