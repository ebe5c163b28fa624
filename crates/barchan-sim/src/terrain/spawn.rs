//! Soil that was cut becomes grains where there is space. The rest stays queued and finally returns to its column.

use super::grain_grid::GrainGrid;
use super::{ExistingGrains, SpawnedGrain, Terrain};
use crate::collider::PosedCollider;
use crate::height_field::SurfaceConditions;
use barchan_scene::Bounds;
use glam::Vec3;

/// Maximum number of grains that appear in a call: bounds the cost of a step.
pub const MAX_GRAINS_PER_CALL: usize = 2048;
/// Largest overlap of a new grain with a body, as a fraction of its radius.
const BODY_OVERLAP: f32 = 0.05;
/// Largest overlap of a new grain with the surface or another grain, as a fraction of its radius. Contacts resolve it at a
/// bounded speed, while soil without a free site would be left behind the blade.
const GRAIN_OVERLAP: f32 = 0.6;
/// Height above the former or the present surface up to which grains may appear [radii]: soil without space heaves in front of a
/// blade.
const HEAVE: f32 = 3.0;

/// Soil that was cut from a column and has not yet become grains.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct QueuedSoil {
    /// Mass [quanta].
    pub mass: u64,
    /// Height of the surface when the column was first cut [m].
    pub top: f32,
}

impl Terrain {
    /// Turns queued soil into grains at sites that overlap neither `tools` nor existing grains too much.
    pub(super) fn spawn(
        &mut self,
        tools: &[PosedCollider],
        existing: ExistingGrains<'_>,
        spawned: &mut Vec<SpawnedGrain>,
    ) {
        let limit = spawned.len() + MAX_GRAINS_PER_CALL;
        let mut grid = std::mem::take(&mut self.grain_grid);
        grid.fill(self.spawn_region(), self.lattice.largest, existing);
        let mut queued = std::mem::take(&mut self.surcharge.queued);
        for (&column, soil) in &mut queued {
            self.field.visited += 1;
            let column = column as usize;
            let range = [self.field.height[column], self.highest_site(column, soil)];
            let before = soil.mass;
            for grain in self.lattice.sites(&self.field.layout, column, range) {
                let quanta = (grain.mass / self.field.quantum).round() as u64;
                if quanta <= soil.mass && self.has_space(&grain, tools, &grid) {
                    soil.mass -= quanta;
                    spawned.push(grain);
                }
                if spawned.len() >= limit || soil.mass == 0 {
                    break;
                }
            }
            self.total -= u128::from(before - soil.mass);
            self.add_grain_load(column, before - soil.mass);
        }
        self.surcharge.queued = queued;
        self.grain_grid = grid;
    }

    /// The box in which grains may appear.
    fn spawn_region(&self) -> Bounds {
        let columns = self.surcharge.queued.iter().map(|(&column, soil)| {
            let center = self.field.layout.center(column as usize);
            let min = Vec3::new(center.x, self.field.height[column as usize], center.y);
            let max = min.with_y(self.highest_site(column as usize, soil));
            Bounds { min, max }.expand(self.field.layout.cell)
        });
        columns.fold(Bounds::EMPTY, |all, column| all.union(&column))
    }

    /// Height up to which grains of queued soil may appear [m].
    fn highest_site(&self, column: usize, soil: &QueuedSoil) -> f32 {
        let mass = self.field.mass[column] + self.surcharge.grain_load[column] + soil.mass;
        soil.top.max(self.field.height_of(mass)) + HEAVE * self.grain.radius
    }

    fn has_space(&self, grain: &SpawnedGrain, tools: &[PosedCollider], grid: &GrainGrid) -> bool {
        let p = grain.position;
        let [to_body, to_soil] =
            [BODY_OVERLAP, GRAIN_OVERLAP].map(|overlap| (1.0 - overlap) * grain.radius);
        self.field.distance(p) >= to_soil
            && !tools.iter().any(|t| t.may_touch(p, to_body))
            && !grid.overlaps(p, to_soil)
    }

    /// Returns the remaining queued soil to columns without a body nearby.
    pub(super) fn return_to_columns(&mut self) {
        let mut queued = std::mem::take(&mut self.surcharge.queued);
        queued.retain(|&column, soil| {
            let column = column as usize;
            let stays = self.surcharge.is_locked(column) && soil.mass > 0;
            if !stays {
                self.field.mass[column] += soil.mass;
                self.field.mass_changed(column);
            }
            stays
        });
        self.surcharge.queued = queued;
    }
}
