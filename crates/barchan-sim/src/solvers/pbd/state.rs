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
        out.set_scalar(PACE, self.pace);
        if self.spec.scheme != PbdScheme::MassSplitting {
            return;
        }
        let (rows, s) = (&self.grains.memory_row, &self.scratch);
        s.pairs.memory.save(rows).write("contact", out);
        s.walls.memory.save(rows).write("wall", out);
        out.set_scalar(SUBSTEP, self.memory_dt);
    }

    pub(super) fn load_state(&mut self, from: &Checkpoint) -> Result<(), SolverError> {
        let grains = Grains::load(from)?;
        check_materials(&grains.material, self.laws.len())?;
        let memory = match (from.scalar(SUBSTEP), self.spec.scheme) {
            (Some(substep), PbdScheme::MassSplitting) => {
                let pairs = Memory::read("contact", from)?;
                let walls = Memory::read("wall", from)?;
                Some((substep as f32, pairs, walls))
            }
            // Another scheme has none.
            _ => None,
        };
        let fastest = grains.velocity.iter().map(|v| v.length());
        self.pace = match from.scalar(PACE).filter(|p| p.is_finite()) {
            Some(pace) => pace as f32,
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

/// Scalar of a checkpoint: speed of what was fastest [m/s].
const PACE: &str = "pace";

/// Scalar of a checkpoint with remembered contacts: length of a substep [s].
const SUBSTEP: &str = "substep";
