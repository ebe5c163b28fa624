//! Soil that lies on the columns as grains, or waits to become some.

use super::Terrain;
use super::spawn::Withheld;
use crate::height_field::Surroundings;
use glam::Vec3;
use std::collections::BTreeMap;

/// What slopes of the columns go by, beside the columns.
struct Exchange<'a> {
    load: &'a [u64],
    withheld: &'a BTreeMap<u32, Withheld>,
    held_until: &'a [u32],
    /// The present tick.
    now: u32,
}

impl Surroundings for Exchange<'_> {
    fn surcharge(&self, column: usize) -> u64 {
        let waiting = self.withheld.get(&(column as u32)).map_or(0, |w| w.mass);
        self.load[column] + waiting
    }

    fn is_held(&self, column: usize) -> bool {
        self.held_until[column] > self.now
    }
}

impl Terrain {
    /// Where the surface of a column would be were all soil there at rest in it [m].
    pub(super) fn soil_height(&self, column: usize) -> f32 {
        self.field.soil_height(column, &self.around())
    }

    fn around(&self) -> Exchange<'_> {
        Exchange {
            load: &self.load,
            withheld: &self.withheld,
            held_until: &self.held_until,
            now: self.tick(),
        }
    }

    /// Moves soil between neighboring columns where a slope near what has changed is above the angle of repose. A call
    /// does a bounded part of the work.
    pub fn relax(&mut self) {
        let around = Exchange {
            load: &self.load,
            withheld: &self.withheld,
            held_until: &self.held_until,
            now: self.tick(),
        };
        self.field.relax(&around);
    }

    /// Takes down which columns the grains of the soil lie on: position [m] and mass [kg].
    pub fn weigh(&mut self, grains: impl Iterator<Item = (Vec3, f32)>) {
        let mut before = std::mem::take(&mut self.load_before);
        for &column in &self.loaded {
            // A column may be there twice, the second time with nothing.
            before.push((column, std::mem::take(&mut self.load[column as usize])));
        }
        self.loaded.clear();
        for (p, mass) in grains {
            let Some(column) = self.field.layout.column_at(p.x, p.z) else {
                continue;
            };
            self.bear(
                column,
                (f64::from(mass) / self.field.quantum).round() as u64,
            );
        }
        self.field.touched += self.loaded.len() as u64;
        // Where some have gone, slopes may have become steep.
        for (column, load) in before.drain(..) {
            if self.load[column as usize] < load {
                self.field.activate(column as usize);
            }
        }
        self.load_before = before;
    }

    /// Grains of that many quanta have come to lie on a column.
    pub(super) fn bear(&mut self, column: usize, quanta: u64) {
        if self.load[column] == 0 {
            self.loaded.push(column as u32);
        }
        self.load[column] += quanta;
    }
}
