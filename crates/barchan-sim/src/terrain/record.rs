//! The terrain in frames and checkpoints.

use super::Terrain;
use super::spawn::QueuedSoil;
use crate::height_field::Layout;
use crate::solver::SolverError;
use barchan_frame::{Checkpoint, Column, ColumnData, Frame, TERRAIN_HEIGHT, TerrainRecord, Unit};

/// Tolerance of the heights in frames [cells].
const TOLERANCE: f32 = 1.0 / 1024.0;

const MASS: &str = "terrain_mass";
const QUEUED: &str = "terrain_withheld";
const QUEUED_TOP: &str = "terrain_withheld_top";
const ACTIVE: &str = "terrain_active";
const LOCKED: &str = "terrain_held";
const RISING: &str = "terrain_rising";
const RISING_HEIGHT: &str = "terrain_rising_height";
/// Scalar of a checkpoint.
const CLOCK: &str = "terrain_clock";

impl Terrain {
    /// Adds the heights to a frame, and their geometry to its record.
    pub fn write_frame(&self, out: &mut Frame) {
        let Layout {
            origin,
            cell,
            columns,
        } = self.field.layout;
        out.arrays.retain(|a| a.name != TERRAIN_HEIGHT);
        let meaning = "height of the terrain above the middle of each column, rows along x";
        let heights = ColumnData::F32(self.field.height.clone());
        out.arrays.push(Column {
            tolerance: TOLERANCE * cell,
            ..Column::exact(TERRAIN_HEIGHT, Unit::Meter, meaning, columns[0], heights)
        });
        out.record.terrain = Some(TerrainRecord {
            origin: origin.to_array(),
            cell,
            columns,
            floor: self.field.floor,
            material: self.material,
            mass_kg: self.mass(),
            withheld_kg: self.queued_mass(),
        });
    }

    /// Writes the exact state.
    pub fn save(&self, out: &mut Checkpoint) {
        let field = &self.field;
        let queued = self.surcharge.queued.iter();
        let queued = queued.flat_map(|(column, q)| [u64::from(*column), q.mass]);
        let queued = ColumnData::U64(queued.collect());
        let tops = ColumnData::F32(self.surcharge.queued.values().map(|q| q.top).collect());
        let active = ColumnData::U32(field.active.iter().copied().collect());
        let locked = self.locked.iter();
        let locked = locked.flat_map(|c| [*c, self.surcharge.locked_until[*c as usize]]);
        let locked = ColumnData::U32(locked.collect());
        let heights = field.rising.iter().map(|c| field.height[*c as usize]);
        let heights = ColumnData::F32(heights.collect());
        let rising = ColumnData::U32(field.rising.clone());
        let mass = ColumnData::U64(field.mass.clone());
        let mut put = |name, meaning, unit, components, data| {
            let array = Column::exact(name, unit, meaning, components, data);
            out.arrays.push(array);
        };
        let (one, meter) = (Unit::One, Unit::Meter);
        let meaning = "mass of each column in quanta, rows along x";
        put(MASS, meaning, one, field.layout.columns[0], mass);
        let meaning = "columns with soil that waits for space, and its mass in quanta";
        put(QUEUED, meaning, one, 2, queued);
        let meaning = "surface of these columns when they were first cut";
        put(QUEUED_TOP, meaning, meter, 1, tops);
        let meaning = "columns whose slopes are to be checked";
        put(ACTIVE, meaning, one, 1, active);
        let meaning =
            "columns near a body, and the tick until which nothing settles or slides there";
        put(LOCKED, meaning, one, 2, locked);
        let meaning = "columns whose surface follows their mass upwards";
        put(RISING, meaning, one, 1, rising);
        put(RISING_HEIGHT, "surface of these columns", meter, 1, heights);
        out.set_scalar(CLOCK, self.surcharge.clock);
    }

    /// Restores the exact state.
    ///
    /// # Errors
    /// A checkpoint without a terrain, or with that of another scene. On error the terrain is
    /// unchanged.
    pub fn load(&mut self, from: &Checkpoint) -> Result<(), SolverError> {
        let Some(stored) = Stored::read(from, self.field.layout.count()) else {
            return Err(SolverError::Checkpoint(
                "its terrain is missing or has other columns".into(),
            ));
        };
        if !stored.is_valid() {
            return Err(SolverError::Checkpoint(
                "its terrain has values out of range".into(),
            ));
        }
        self.field.mass.copy_from_slice(stored.mass);
        let queued = stored.queued.iter().zip(stored.tops);
        self.surcharge.queued = queued
            .map(|([column, mass], &top)| (*column as u32, QueuedSoil { mass: *mass, top }))
            .collect();
        self.surcharge.clock = stored.clock;
        self.surcharge.locked_until.fill(0);
        self.locked.clear();
        for [column, until] in stored.locked {
            self.locked.push(*column);
            self.surcharge.locked_until[*column as usize] = *until;
        }
        let rising = stored.rising.iter().zip(stored.heights);
        let rising = rising.map(|(column, height)| (*column, *height));
        self.field.restore(stored.active, rising);
        self.total = self.field.total() + self.surcharge.queued_quanta();
        Ok(())
    }
}

/// The terrain of a checkpoint.
struct Stored<'a> {
    mass: &'a [u64],
    queued: &'a [[u64; 2]],
    tops: &'a [f32],
    active: &'a [u32],
    locked: &'a [[u32; 2]],
    rising: &'a [u32],
    heights: &'a [f32],
    clock: f64,
}

impl<'a> Stored<'a> {
    /// `None` if an array is missing or of another length.
    fn read(from: &'a Checkpoint, columns: usize) -> Option<Self> {
        let data = |name: &str| from.array(name).map(|a| &a.data);
        let long = |name: &str| data(name).and_then(ColumnData::as_u64);
        let short = |name: &str| data(name).and_then(ColumnData::as_u32);
        let floats = |name: &str| data(name).and_then(ColumnData::as_f32);
        let (queued, odd_queued) = long(QUEUED)?.as_chunks::<2>();
        let (locked, odd_locked) = short(LOCKED)?.as_chunks::<2>();
        let stored = Self {
            mass: long(MASS)?,
            queued,
            tops: floats(QUEUED_TOP)?,
            active: short(ACTIVE)?,
            locked,
            rising: short(RISING)?,
            heights: floats(RISING_HEIGHT)?,
            clock: from.scalar(CLOCK)?,
        };
        let fits = stored.mass.len() == columns
            && queued.len() == stored.tops.len()
            && stored.rising.len() == stored.heights.len()
            && odd_queued.is_empty()
            && odd_locked.is_empty();
        fits.then_some(stored)
    }

    /// Whether all columns exist and all numbers are in range.
    fn is_valid(&self) -> bool {
        let locked = self.locked.iter().map(|[column, _]| column);
        let columns = self.active.iter().chain(self.rising).chain(locked);
        let queued = self.queued.iter().map(|[column, _]| *column);
        let mut columns = columns.map(|c| u64::from(*c)).chain(queued);
        let mut heights = self.tops.iter().chain(self.heights);
        columns.all(|c| c < self.mass.len() as u64)
            && heights.all(|height| height.is_finite())
            && self.mass.iter().all(|m| *m <= 1 << 62)
    }
}
