//! Soil that rests on the columns as grains, or is queued to become grains.

use super::Terrain;
use super::spawn::QueuedSoil;
use crate::height_field::SurfaceConditions;
use glam::Vec3;
use std::collections::BTreeMap;

/// What slope relaxation needs to know of the exchange with grains.
pub(super) struct Conditions<'a> {
    grain_load: &'a [u64],
    queued: &'a BTreeMap<u32, QueuedSoil>,
    locked_until: &'a [u32],
    /// The present tick.
    now: u32,
}

impl SurfaceConditions for Conditions<'_> {
    fn surcharge(&self, column: usize) -> u64 {
        let queued = self.queued.get(&(column as u32)).map_or(0, |q| q.mass);
        self.grain_load[column] + queued
    }

    fn is_locked(&self, column: usize) -> bool {
        self.locked_until[column] > self.now
    }
}

/// Borrows all of a terrain but its field.
macro_rules! conditions {
    ($terrain:expr) => {
        Conditions {
            grain_load: &$terrain.grain_load,
            queued: &$terrain.queued,
            locked_until: &$terrain.locked_until,
            now: $terrain.tick(),
        }
    };
}

impl Terrain {
    /// Surface height of a column if all soil on it were part of it [m].
    pub(super) fn loaded_height(&self, column: usize) -> f32 {
        self.field.loaded_height(column, &conditions!(self))
    }

    /// Whether a body is there, or was a moment ago.
    pub(super) fn is_locked(&self, column: usize) -> bool {
        conditions!(self).is_locked(column)
    }

    /// Moves soil between neighboring columns where a slope near a recent change exceeds the angle of repose. A call does a
    /// bounded part of the work.
    pub fn relax(&mut self) {
        self.field.relax(&conditions!(self));
    }

    /// Updates the load on each column from the grains of its material: position [m] and mass [kg].
    pub fn set_grain_loads(&mut self, grains: impl Iterator<Item = (Vec3, f32)>) {
        let mut previous = std::mem::take(&mut self.previous_load);
        for &column in &self.loaded {
            // A column may be listed twice, the second time without load.
            let load = std::mem::take(&mut self.grain_load[column as usize]);
            previous.push((column, load));
        }
        self.loaded.clear();
        for (p, mass) in grains {
            if let Some(column) = self.field.layout.column_at(p.x, p.z) {
                let quanta = (f64::from(mass) / self.field.quantum).round() as u64;
                self.add_grain_load(column, quanta);
            }
        }
        self.field.visited += self.loaded.len() as u64;
        // Where grains have left, slopes may have become too steep.
        for (column, load) in previous.drain(..) {
            if self.grain_load[column as usize] < load {
                self.field.activate(column as usize);
            }
        }
        self.previous_load = previous;
    }

    /// Adds the quanta of grains to the load on a column.
    pub(super) fn add_grain_load(&mut self, column: usize, quanta: u64) {
        if self.grain_load[column] == 0 {
            self.loaded.push(column as u32);
        }
        self.grain_load[column] += quanta;
    }
}
