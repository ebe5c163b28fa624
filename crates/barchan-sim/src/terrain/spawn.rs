//! What was cut becomes grains where there is room; what finds none waits, and at last goes back to its column.

use super::occupied::Occupied;
use super::{GrainsNow, SpawnedGrain, Terrain};
use crate::collider::PosedCollider;
use barchan_scene::Bounds;
use glam::Vec3;

/// Grains that appear in one call: bounds what a step can cost.
pub const MOST_GRAINS: usize = 2048;
/// A grain may reach into a body by this part of its radius.
const DEPTH: f32 = 0.05;
/// A grain may reach into the surface or another grain by this part of its radius: contacts part them at a bounded speed,
/// while soil that finds no room would stay behind.
const SQUEEZE: f32 = 0.6;
/// Grains may appear up to this many radii above where the surface was, or above the soil that lies there now: what a
/// blade has no room for rises before it.
const HEAVE: f32 = 3.0;

/// Mass that was cut from a column and is not yet grains.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Withheld {
    /// Quanta.
    pub mass: u64,
    /// Where the surface was when the column was first cut [m].
    pub top: f32,
}

impl Terrain {
    /// Makes grains of what is withheld wherever none of `tools` and no grain that there is already stands in the way.
    pub(super) fn spawn(
        &mut self,
        tools: &[PosedCollider],
        grains: GrainsNow<'_>,
        spawn: &mut Vec<SpawnedGrain>,
    ) {
        let most = spawn.len() + MOST_GRAINS;
        let mut occupied = std::mem::take(&mut self.occupied);
        occupied.fill(self.region(), self.lattice.largest, grains);
        let mut waiting = std::mem::take(&mut self.withheld);
        for (&column, withheld) in &mut waiting {
            self.field.touched += 1;
            let column = column as usize;
            let bottom = self.field.height[column];
            let range = [bottom, self.highest_site(column, withheld)];
            let before = withheld.mass;
            self.lattice
                .sites(&self.field.layout, column, range, |grain| {
                    let quanta = (grain.mass / self.field.quantum).round() as u64;
                    let room = quanta <= withheld.mass && self.has_room(&grain, tools, &occupied);
                    if room {
                        withheld.mass -= quanta;
                        spawn.push(grain);
                    }
                    spawn.len() < most && withheld.mass > 0
                });
            self.total -= u128::from(before - withheld.mass);
            self.bear(column, before - withheld.mass);
        }
        self.withheld = waiting;
        self.occupied = occupied;
    }

    /// The box in which grains may appear.
    fn region(&self) -> Bounds {
        let mut bounds = Bounds {
            min: Vec3::INFINITY,
            max: Vec3::NEG_INFINITY,
        };
        for (&column, withheld) in &self.withheld {
            let middle = self.field.layout.middle(column as usize);
            let low = Vec3::new(middle.x, self.field.height[column as usize], middle.y);
            let high = low.with_y(self.highest_site(column as usize, withheld));
            bounds.min = bounds.min.min(low - self.field.layout.cell);
            bounds.max = bounds.max.max(high + self.field.layout.cell);
        }
        bounds
    }

    /// How high grains of what is withheld may appear [m].
    fn highest_site(&self, column: usize, withheld: &Withheld) -> f32 {
        let soil = self.field.mass[column] + self.load[column] + withheld.mass;
        withheld.top.max(self.field.height_of(soil)) + HEAVE * self.grain.radius
    }

    fn has_room(&self, grain: &SpawnedGrain, tools: &[PosedCollider], occupied: &Occupied) -> bool {
        let p = grain.position;
        let [least, squeezed] = [DEPTH, SQUEEZE].map(|part| (1.0 - part) * grain.radius);
        self.field.distance(p) >= squeezed
            && !tools.iter().any(|t| t.may_touch(p, least))
            && !occupied.touches(p, squeezed)
    }

    /// Gives what is left back to the columns that no body is near.
    pub(super) fn give_back(&mut self) {
        let mut waiting = std::mem::take(&mut self.withheld);
        waiting.retain(|&column, withheld| {
            let column = column as usize;
            let stays = self.is_held(column) && withheld.mass > 0;
            if !stays {
                self.field.mass[column] += withheld.mass;
                self.field.changed(column);
            }
            stays
        });
        self.withheld = waiting;
    }
}
