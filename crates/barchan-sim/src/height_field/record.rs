//! The columns of a height field in frames and checkpoints.

use super::HeightField;
use barchan_frame::{Checkpoint, Column, ColumnData, TERRAIN_HEIGHT, Unit};

/// Tolerance of the heights in frames [cells].
const TOLERANCE: f32 = 1.0 / 1024.0;

const MASS: &str = "terrain_mass";
const ACTIVE: &str = "terrain_active";
const RISING: &str = "terrain_rising";
const RISING_HEIGHT: &str = "terrain_rising_height";

/// State of a height field, read from a checkpoint and checked.
pub struct StoredField<'a> {
    mass: &'a [u64],
    active: &'a [u32],
    rising: &'a [u32],
    heights: &'a [f32],
}

impl HeightField {
    /// The surface, for a frame.
    pub fn frame_column(&self) -> Column {
        let meaning = "height of the terrain above the middle of each column, rows along x";
        let heights = ColumnData::F32(self.height.clone());
        let across = self.layout.columns[0];
        Column {
            tolerance: TOLERANCE * self.layout.cell,
            ..Column::exact(TERRAIN_HEIGHT, Unit::Meter, meaning, across, heights)
        }
    }

    /// The exact state: mass of each column, columns whose slopes are to be checked, columns whose surface still rises, and
    /// their surface heights.
    pub fn save(&self) -> [Column; 4] {
        let column = |name, meaning, components, data| {
            Column::exact(name, Unit::One, meaning, components, data)
        };
        let mass = ColumnData::U64(self.mass.clone());
        let active = ColumnData::U32(self.active.iter().copied().collect());
        let rising = ColumnData::U32(self.rising.clone());
        let heights = self.rising.iter().map(|c| self.height[*c as usize]);
        let heights = ColumnData::F32(heights.collect());
        let meaning = "mass of each column in quanta, rows along x";
        let mass = column(MASS, meaning, self.layout.columns[0], mass);
        let meaning = "columns whose slopes are to be checked";
        let active = column(ACTIVE, meaning, 1, active);
        let meaning = "columns whose surface follows their mass upward";
        let rising = column(RISING, meaning, 1, rising);
        let meaning = "surface of these columns";
        let heights = Column::exact(RISING_HEIGHT, Unit::Meter, meaning, 1, heights);
        [mass, active, rising, heights]
    }

    /// Restores the exact state.
    pub fn load(&mut self, stored: &StoredField<'_>) {
        self.mass.copy_from_slice(stored.mass);
        self.is_active.fill(false);
        self.active.clear();
        for column in stored.active {
            self.activate(*column as usize);
        }
        self.reset_surface();
        self.is_rising.fill(false);
        self.rising.clear();
        for (index, height) in stored.rising.iter().zip(stored.heights) {
            let column = *index as usize;
            self.rising.push(*index);
            self.is_rising[column] = true;
            self.height[column] = height.clamp(self.floor, self.height[column]);
        }
    }
}

impl<'a> StoredField<'a> {
    /// `None` if an array is missing or has another length than for a field of `columns` columns.
    pub fn read(from: &'a Checkpoint, columns: usize) -> Option<Self> {
        let data = |name: &str| from.array(name).map(|a| &a.data);
        let stored = Self {
            mass: data(MASS)?.as_u64()?,
            active: data(ACTIVE)?.as_u32()?,
            rising: data(RISING)?.as_u32()?,
            heights: data(RISING_HEIGHT)?.as_f32()?,
        };
        let fits = stored.mass.len() == columns && stored.rising.len() == stored.heights.len();
        fits.then_some(stored)
    }

    /// Whether all columns exist and all numbers are in range.
    pub fn is_valid(&self) -> bool {
        let mut columns = self.active.iter().chain(self.rising);
        columns.all(|c| (*c as usize) < self.mass.len())
            && self.heights.iter().all(|height| height.is_finite())
            && self.mass.iter().all(|m| *m <= 1 << 62)
    }
}
