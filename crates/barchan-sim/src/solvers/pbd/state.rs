//! Checkpoints of the position-based solver: grains, and the contact forces for the next warm start.

use super::Pbd;
use super::grains::Grains;
use crate::contacts::Memory;
use crate::solver::SolverError;
use barchan_frame::Checkpoint;
use barchan_scene::PbdScheme;

/// Scalar: reference speed [m/s].
const PACE: &str = "pace";

/// Scalar, with remembered contact forces: length of a substep [s].
const SUBSTEP: &str = "substep";

impl Pbd {
    pub(super) fn save_state(&self, out: &mut Checkpoint) {
        self.grains.save(out);
        out.set_scalar(PACE, self.reference_speed);
        if self.spec.scheme != PbdScheme::MassSplitting {
            return;
        }
        let (rows, s) = (&self.grains.memory_row, &self.scratch);
        s.pairs.memory.save(rows).write("contact", out);
        s.walls.memory.save(rows).write("wall", out);
        out.set_scalar(SUBSTEP, self.memory_dt);
    }

    pub(super) fn load_state(&mut self, from: &Checkpoint) -> Result<(), SolverError> {
        let mut grains = Grains::load(from, self.laws.len())?;
        let has_memory = self.spec.scheme == PbdScheme::MassSplitting;
        if let Some(substep) = from.scalar(SUBSTEP).filter(|_| has_memory) {
            let pairs = Memory::read("contact", from)?;
            self.scratch.walls.memory = Memory::read("wall", from)?;
            self.scratch.pairs.memory.load(pairs);
            self.memory_dt = substep as f32;
            grains.memory_row = (0..grains.len() as u32).collect();
        }
        let fastest = grains.velocity.iter().map(|v| v.length());
        self.reference_speed = match from.scalar(PACE).filter(|p| p.is_finite()) {
            Some(speed) => speed as f32,
            None => fastest.fold(0.0, f32::max),
        };
        self.max_radius = grains.radius.iter().copied().fold(0.0, f32::max);
        self.grains = grains;
        Ok(())
    }
}
