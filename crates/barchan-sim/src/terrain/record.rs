//! The terrain in frames, for people, and in checkpoints, to go on from.

use super::Terrain;
use super::spawn::Withheld;
use crate::height_field::Layout;
use crate::solver::SolverError;
use barchan_frame::{Checkpoint, Column, ColumnData, Frame, TERRAIN_HEIGHT, TerrainRecord, Unit};

/// Heights in frames are kept to this part of a cell.
const TOLERANCE: f32 = 1.0 / 1024.0;

const MASS: &str = "terrain_mass";
const WITHHELD: &str = "terrain_withheld";
const WITHHELD_TOP: &str = "terrain_withheld_top";
const ACTIVE: &str = "terrain_active";
const HELD: &str = "terrain_held";
const RISING: &str = "terrain_rising";
const RISING_HEIGHT: &str = "terrain_rising_height";
/// Scalar of a checkpoint.
const CLOCK: &str = "terrain_clock";

impl Terrain {
    /// Adds the heights to a frame, and to its record where they are.
    pub fn write_frame(&self, out: &mut Frame) {
        let Layout {
            origin,
            cell,
            columns,
        } = self.field.layout;
        out.arrays.retain(|a| a.name != TERRAIN_HEIGHT);
        out.arrays.push(Column {
            name: TERRAIN_HEIGHT.into(),
            unit: Unit::Meter,
            meaning: "height of the terrain above the middle of each column, rows along x".into(),
            components: columns[0],
            data: ColumnData::F32(self.field.height.clone()),
            tolerance: TOLERANCE * cell,
        });
        out.record.terrain = Some(TerrainRecord {
            origin: origin.to_array(),
            cell,
            columns,
            floor: self.field.floor,
            material: self.material,
            mass_kg: self.mass(),
            withheld_kg: self.withheld(),
        });
    }

    /// Writes the exact state.
    pub fn save(&self, out: &mut Checkpoint) {
        let withheld = self.withheld.iter();
        let withheld = withheld.flat_map(|(column, w)| [u64::from(*column), w.mass]);
        let tops = self.withheld.values().map(|w| w.top);
        let active = self.field.active.iter().copied();
        let held = self.held.iter();
        let held = held.flat_map(|c| [*c, self.held_until[*c as usize]]);
        let rising = self.field.rising.iter();
        let rising = rising.map(|c| self.field.height[*c as usize]);
        let mut put = |name: &str, unit, meaning: &str, components, data| {
            let array = Column::exact(name, unit, meaning, components, data);
            out.arrays.push(array);
        };
        let one = Unit::One;
        let mass = ColumnData::U64(self.field.mass.clone());
        let meaning = "mass of each column in quanta, rows along x";
        put(MASS, one, meaning, self.field.layout.columns[0], mass);
        let meaning = "columns with soil that waits for room, and its mass in quanta";
        put(
            WITHHELD,
            one,
            meaning,
            2,
            ColumnData::U64(withheld.collect()),
        );
        let meaning = "surface of these columns when they were first cut";
        put(
            WITHHELD_TOP,
            Unit::Meter,
            meaning,
            1,
            ColumnData::F32(tops.collect()),
        );
        let meaning = "columns whose slopes are to be checked";
        put(ACTIVE, one, meaning, 1, ColumnData::U32(active.collect()));
        let meaning =
            "columns near a body, and the tick until which nothing settles or slides there";
        put(HELD, one, meaning, 2, ColumnData::U32(held.collect()));
        let meaning = "columns whose surface follows their mass upwards";
        put(
            RISING,
            one,
            meaning,
            1,
            ColumnData::U32(self.field.rising.clone()),
        );
        let meaning = "surface of these columns";
        put(
            RISING_HEIGHT,
            Unit::Meter,
            meaning,
            1,
            ColumnData::F32(rising.collect()),
        );
        out.set_scalar(CLOCK, self.clock);
    }

    /// Restores the exact state.
    ///
    /// # Errors
    /// A checkpoint without a terrain, or with one that is not of this scene. The terrain is as it was then.
    pub fn load(&mut self, from: &Checkpoint) -> Result<(), SolverError> {
        let count = self.field.layout.count();
        let data = |name: &str| from.array(name).map(|a| &a.data);
        let long = |name: &str| data(name).and_then(ColumnData::as_u64);
        let short = |name: &str| data(name).and_then(ColumnData::as_u32);
        let floats = |name: &str| data(name).and_then(ColumnData::as_f32);
        let read = || {
            let (withheld, held) = (
                long(WITHHELD)?.as_chunks::<2>(),
                short(HELD)?.as_chunks::<2>(),
            );
            let (tops, heights) = (floats(WITHHELD_TOP)?, floats(RISING_HEIGHT)?);
            let state = (
                long(MASS).filter(|m| m.len() == count)?,
                (withheld.0, tops),
                short(ACTIVE)?,
                held.0,
                (short(RISING).filter(|r| r.len() == heights.len())?, heights),
                from.scalar(CLOCK)?,
            );
            let even = withheld.1.is_empty() && held.1.is_empty();
            (even && withheld.0.len() == tops.len()).then_some(state)
        };
        let Some((mass, (withheld, tops), active, held, (rising, heights), clock)) = read() else {
            return Err(SolverError::Checkpoint(
                "its terrain is missing or has other columns".into(),
            ));
        };
        let columns = active
            .iter()
            .chain(held.iter().map(|[column, _]| column))
            .chain(rising)
            .map(|column| u64::from(*column))
            .chain(withheld.iter().map(|[column, _]| *column));
        let finite = tops.iter().chain(heights).all(|height| height.is_finite());
        let known = columns.into_iter().all(|c| c < count as u64);
        if !(known && finite && mass.iter().all(|m| *m <= 1 << 62)) {
            return Err(SolverError::Checkpoint(
                "its terrain holds numbers that cannot be".into(),
            ));
        }
        self.field.mass.copy_from_slice(mass);
        let waiting = |([column, mass], top): (&[u64; 2], &f32)| {
            let (mass, top) = (*mass, *top);
            (*column as u32, Withheld { mass, top })
        };
        self.withheld = withheld.iter().zip(tops).map(waiting).collect();
        self.clock = clock;
        self.held_until.fill(0);
        self.held.clear();
        for [column, until] in held {
            self.held.push(*column);
            self.held_until[*column as usize] = *until;
        }
        let rising = rising.iter().copied().zip(heights.iter().copied());
        self.field.restore(active, rising);
        self.total = self.field.total() + self.waiting();
        Ok(())
    }
}
