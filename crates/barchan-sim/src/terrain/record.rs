//! The terrain in frames and checkpoints: its height field, and the soil and locks of its exchange with grains.

use super::Terrain;
use super::spawn::QueuedSoil;
use crate::height_field::{Layout, StoredField};
use crate::solver::SolverError;
use barchan_frame::{Checkpoint, Column, ColumnData, Frame, TERRAIN_HEIGHT, TerrainRecord, Unit};

const QUEUED: &str = "terrain_withheld";
const QUEUED_TOP: &str = "terrain_withheld_top";
const LOCKED: &str = "terrain_held";
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
        out.arrays.push(self.field.frame_column());
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
        let queued = self.surcharge.queued.iter();
        let queued = queued.flat_map(|(column, q)| [u64::from(*column), q.mass]);
        let queued = ColumnData::U64(queued.collect());
        let tops = ColumnData::F32(self.surcharge.queued.values().map(|q| q.top).collect());
        let locked = self.locked.iter();
        let locked = locked.flat_map(|c| [*c, self.surcharge.locked_until[*c as usize]]);
        let locked = ColumnData::U32(locked.collect());
        let [mass, active, rising, heights] = self.field.save();
        let meaning = "columns with soil that waits for space, and its mass in quanta";
        let queued = Column::exact(QUEUED, Unit::One, meaning, 2, queued);
        let meaning = "surface of these columns when they were first cut";
        let tops = Column::exact(QUEUED_TOP, Unit::Meter, meaning, 1, tops);
        let meaning =
            "columns near a body, and the tick until which nothing settles or slides there";
        let locked = Column::exact(LOCKED, Unit::One, meaning, 2, locked);
        let all = [mass, queued, tops, active, locked, rising, heights];
        out.arrays.extend(all);
        out.set_scalar(CLOCK, self.surcharge.clock);
    }

    /// Restores the exact state.
    ///
    /// # Errors
    /// A checkpoint without a terrain, or with that of another scene. On error the terrain is
    /// unchanged.
    pub fn load(&mut self, from: &Checkpoint) -> Result<(), SolverError> {
        let columns = self.field.layout.count();
        let refuse = |reason: &str| SolverError::Checkpoint(reason.into());
        let stored = Stored::read(from, columns);
        let stored = stored.ok_or_else(|| refuse("its terrain is missing or has other columns"))?;
        if !stored.is_valid(columns) {
            return Err(refuse("its terrain has values out of range"));
        }
        self.field.load(&stored.field);
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
        self.total = self.field.total() + self.surcharge.queued_quanta();
        Ok(())
    }
}

/// The terrain of a checkpoint.
struct Stored<'a> {
    field: StoredField<'a>,
    queued: &'a [[u64; 2]],
    tops: &'a [f32],
    locked: &'a [[u32; 2]],
    clock: f64,
}

impl<'a> Stored<'a> {
    /// `None` if an array is missing or of another length.
    fn read(from: &'a Checkpoint, columns: usize) -> Option<Self> {
        let data = |name: &str| from.array(name).map(|a| &a.data);
        let (queued, odd_queued) = data(QUEUED)?.as_u64()?.as_chunks::<2>();
        let (locked, odd_locked) = data(LOCKED)?.as_u32()?.as_chunks::<2>();
        let stored = Self {
            field: StoredField::read(from, columns)?,
            queued,
            tops: data(QUEUED_TOP)?.as_f32()?,
            locked,
            clock: from.scalar(CLOCK)?,
        };
        let fits = queued.len() == stored.tops.len() && odd_queued.is_empty();
        (fits && odd_locked.is_empty()).then_some(stored)
    }

    /// Whether all columns exist and all numbers are in range.
    fn is_valid(&self, columns: usize) -> bool {
        let queued = self.queued.iter().map(|[column, _]| *column);
        let locked = self.locked.iter().map(|[column, _]| u64::from(*column));
        queued.chain(locked).all(|c| c < columns as u64)
            && self.tops.iter().all(|height| height.is_finite())
            && self.field.is_valid()
    }
}
