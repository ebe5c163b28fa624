//! Surcharge of the columns: grains that rest on them, and soil queued to become grains.

use super::Terrain;
use super::spawn::QueuedSoil;
use crate::height_field::SurfaceConditions;
use glam::Vec3;
use std::collections::BTreeMap;

/// Clock ticks per second.
pub(super) const TICKS: f64 = 1024.0;

/// Conditions that the exchange with grains imposes on slope relaxation.
#[derive(Debug, Clone, Default)]
pub(super) struct Surcharge {
    /// Quanta of grains that rest on each column.
    pub grain_load: Vec<u64>,
    /// Soil that was cut and has not yet become grains, by column.
    pub queued: BTreeMap<u32, QueuedSoil>,
    /// The tick until which each column is locked: nothing is deposited or slides there.
    pub locked_until: Vec<u32>,
    /// Time since the beginning [s].
    pub clock: f64,
}

impl Surcharge {
    pub fn tick(&self) -> u32 {
        // Saturates after 48 days.
        (self.clock * TICKS) as u32
    }

    pub fn queued_quanta(&self) -> u128 {
        self.queued.values().map(|q| u128::from(q.mass)).sum()
    }
}

impl SurfaceConditions for Surcharge {
    fn surcharge(&self, column: usize) -> u64 {
        let queued = self.queued.get(&(column as u32)).map_or(0, |q| q.mass);
        self.grain_load[column] + queued
    }

    fn is_locked(&self, column: usize) -> bool {
        self.locked_until[column] > self.tick()
    }
}

impl Terrain {
    /// Surface height of a column if its surcharge were part of it [m].
    pub(super) fn loaded_height(&self, column: usize) -> f32 {
        self.field.loaded_height(column, &self.surcharge)
    }

    /// Moves soil between neighboring columns where a slope near a recent change exceeds the angle of repose. A call does a
    /// bounded part of the work.
    pub fn relax(&mut self) {
        self.field.relax(&self.surcharge);
    }

    /// Updates the load on each column from the grains of the terrain's material: position [m] and
    /// mass [kg].
    pub fn set_grain_loads(&mut self, grains: impl Iterator<Item = (Vec3, f32)>) {
        let mut previous = std::mem::take(&mut self.previous_load);
        for &column in &self.loaded {
            // A column may be listed twice, the second time without load.
            let load = std::mem::take(&mut self.surcharge.grain_load[column as usize]);
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
            if self.surcharge.grain_load[column as usize] < load {
                self.field.activate(column as usize);
            }
        }
        self.previous_load = previous;
    }

    /// Adds the quanta of grains to the load on a column.
    pub(super) fn add_grain_load(&mut self, column: usize, quanta: u64) {
        if self.surcharge.grain_load[column] == 0 {
            self.loaded.push(column as u32);
        }
        self.surcharge.grain_load[column] += quanta;
    }
}
