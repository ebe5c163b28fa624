//! The terrain in frames, for people, and in checkpoints, to go on from.

use super::Terrain;
use super::spawn::Withheld;
use crate::height_field::Layout;
use crate::solver::SolverError;
use barchan_frame::{Checkpoint, Column, ColumnData, Frame};
use serde_json::json;

/// The array of heights in a frame; the attributes of the frame hold its place under the key [`ATTRIBUTE`].
pub const HEIGHTS: &str = "terrain_height";
/// Key of the attributes.
pub const ATTRIBUTE: &str = "terrain";
/// Heights in frames are kept to this part of a cell.
const TOLERANCE: f32 = 1.0 / 1024.0;

const MASS: &str = "terrain_mass";
const WITHHELD: &str = "terrain_withheld";
const ACTIVE: &str = "terrain_active";
const HELD: &str = "terrain_held";
const RISING: &str = "terrain_rising";
const CLOCK: &str = "terrain_clock";

impl Terrain {
    /// Adds the heights to a frame, and to its attributes where they are.
    pub fn write_frame(&self, out: &mut Frame) {
        let Layout {
            origin,
            cell,
            columns,
        } = self.field.layout;
        out.arrays.retain(|a| a.name != HEIGHTS);
        out.arrays.push(Column {
            name: HEIGHTS.into(),
            unit: "m".into(),
            meaning: "height of the terrain above the middle of each column, rows along x".into(),
            components: columns[0],
            data: ColumnData::F32(self.field.height.clone()),
            tolerance: TOLERANCE * cell,
        });
        let about = json!({
            "origin": [origin.x, origin.y],
            "cell": cell,
            "columns": columns,
            "floor": self.field.floor,
            "material": self.material,
            "mass_kg": self.mass(),
            "withheld_kg": self.withheld(),
        });
        out.attributes.insert(ATTRIBUTE.into(), about);
    }

    /// Writes the exact state.
    pub fn save(&self, out: &mut Checkpoint) {
        let array = |name: &str, components, data| {
            Column::exact(name, "1", "state of the terrain", components, data)
        };
        let withheld = self
            .withheld
            .iter()
            .flat_map(|(column, w)| [u64::from(*column), w.mass, u64::from(w.top.to_bits())]);
        let held = self
            .held
            .iter()
            .flat_map(|c| [*c, self.held_until[*c as usize]]);
        let rising = self
            .field
            .rising
            .iter()
            .flat_map(|c| [*c, self.field.height[*c as usize].to_bits()]);
        out.arrays.extend([
            array(
                MASS,
                self.field.layout.columns[0],
                ColumnData::U64(self.field.mass.clone()),
            ),
            array(WITHHELD, 3, ColumnData::U64(withheld.collect())),
            array(
                ACTIVE,
                1,
                ColumnData::U32(self.field.active.iter().copied().collect()),
            ),
            array(HELD, 2, ColumnData::U32(held.collect())),
            array(RISING, 2, ColumnData::U32(rising.collect())),
            array(CLOCK, 1, ColumnData::U64(vec![self.clock.to_bits()])),
        ]);
    }

    /// Restores the exact state.
    ///
    /// # Errors
    /// A checkpoint without a terrain, or with one that is not of this scene. The terrain is as it was then.
    pub fn load(&mut self, from: &Checkpoint) -> Result<(), SolverError> {
        let count = self.field.layout.count();
        let long = |name: &str| from.array(name).and_then(|a| a.data.as_u64());
        let short = |name: &str| from.array(name).and_then(|a| a.data.as_u32());
        let state = (
            long(MASS).filter(|m| m.len() == count),
            long(WITHHELD).filter(|w| w.len() % 3 == 0),
            short(ACTIVE),
            short(HELD).filter(|h| h.len() % 2 == 0),
            short(RISING).filter(|r| r.len() % 2 == 0),
            long(CLOCK).and_then(|c| c.first()),
        );
        let (Some(mass), Some(withheld), Some(active), Some(held), Some(rising), Some(clock)) =
            state
        else {
            return Err(SolverError::Checkpoint(
                "its terrain is missing or has other columns".into(),
            ));
        };
        let columns = active
            .iter()
            .copied()
            .chain(held.chunks_exact(2).map(|h| h[0]))
            .chain(rising.chunks_exact(2).map(|r| r[0]))
            .map(u64::from)
            .chain(withheld.chunks_exact(3).map(|w| w[0]));
        if columns.into_iter().any(|c| c >= count as u64) || mass.iter().any(|m| *m > 1 << 62) {
            return Err(SolverError::Checkpoint(
                "its terrain holds numbers that cannot be".into(),
            ));
        }
        self.field.mass.copy_from_slice(mass);
        let waiting = |w: &[u64]| {
            let top = f32::from_bits(w[2] as u32);
            (w[0] as u32, Withheld { mass: w[1], top })
        };
        self.withheld = withheld.chunks_exact(3).map(waiting).collect();
        self.clock = f64::from_bits(*clock);
        self.held_until.fill(0);
        self.held.clear();
        for pair in held.chunks_exact(2) {
            self.held.push(pair[0]);
            self.held_until[pair[0] as usize] = pair[1];
        }
        let rising = rising.chunks_exact(2);
        let rising = rising.map(|pair| (pair[0], f32::from_bits(pair[1])));
        self.field.restore(active, rising);
        self.total = self.field.total() + self.waiting();
        Ok(())
    }
}
