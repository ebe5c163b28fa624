//! Frames and checkpoints of the position-based solver.

use super::Pbd;
use super::grains::Grains;
use crate::contacts::Memory;
use crate::particles::check_materials;
use crate::solver::{Columns, SolverError};
use barchan_frame::{Checkpoint, Frame};
use barchan_scene::PbdScheme;

impl Pbd {
    pub(super) fn write_columns(&self, columns: &Columns<'_>, out: &mut Frame) {
        let resolution = self.spec.radius as f32;
        let is_wanted = |name: &str| columns.include(name);
        self.grains.write_frame(resolution, is_wanted, out);
    }

    /// The exact state: grains, and the forces that their contacts begin the next step with.
    pub(super) fn save_state(&self, out: &mut Checkpoint) {
        out.columns.clear();
        self.grains.save(out);
        out.attributes
            .insert(PACE.into(), self.pace.to_bits().into());
        if self.spec.scheme != PbdScheme::MassSplitting {
            return;
        }
        let (rows, s) = (&self.grains.memory_row, &self.scratch);
        s.pairs.memory.save(rows).write("contact", out);
        s.walls.memory.save(rows).write("wall", out);
        out.attributes
            .insert(SUBSTEP.into(), self.memory_dt.to_bits().into());
    }

    pub(super) fn load_state(&mut self, from: &Checkpoint) -> Result<(), SolverError> {
        let grains = Grains::load(from)?;
        check_materials(&grains.material, self.laws.len())?;
        let bits = from.attributes.get(SUBSTEP).and_then(|v| v.as_u64());
        let substep = bits.and_then(|bits| u32::try_from(bits).ok());
        let memory = match (substep, self.spec.scheme) {
            (Some(bits), PbdScheme::MassSplitting) => {
                let pairs = Memory::read("contact", from)?;
                let walls = Memory::read("wall", from)?;
                Some((f32::from_bits(bits), pairs, walls))
            }
            // Another scheme has none.
            _ => None,
        };
        let pace = from.attributes.get(PACE).and_then(|v| v.as_u64());
        let pace = pace.and_then(|bits| u32::try_from(bits).ok());
        let fastest = grains.velocity.iter().map(|v| v.length());
        self.pace = match pace.map(f32::from_bits).filter(|p| p.is_finite()) {
            Some(pace) => pace,
            None => fastest.fold(0.0, f32::max),
        };
        self.grains = grains;
        if let Some((substep, pairs, walls)) = memory {
            self.memory_dt = substep;
            self.scratch.pairs.memory.load(pairs);
            self.scratch.walls.memory = walls;
            let count = self.grains.len() as u32;
            self.grains.memory_row = (0..count).collect();
        }
        self.largest = self.grains.radius.iter().copied().fold(0.0, f32::max);
        Ok(())
    }
}

/// Attribute that holds the bits of the speed of what was fastest.
const PACE: &str = "pbd_pace_bits";

/// Attribute that holds the bits of the length of a substep.
const SUBSTEP: &str = "pbd_substep_bits";
