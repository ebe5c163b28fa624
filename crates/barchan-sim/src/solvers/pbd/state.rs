//! Checkpoints of the position-based solver: grains, and the contact forces for the next warm start.

use super::Pbd;
use super::grains::Grains;
use crate::contacts::{ContactCache, WALL};
use crate::solver::SolverError;
use barchan_frame::Checkpoint;
use barchan_scene::PbdScheme;

/// Scalar: reference speed [m/s].
const REFERENCE_SPEED: &str = "pace";

/// Scalar, with the cached contact forces: length of a substep [s].
const SUBSTEP: &str = "substep";

impl Pbd {
    pub(super) fn save_state(&self, out: &mut Checkpoint) {
        self.grains.save(out);
        out.set_scalar(REFERENCE_SPEED, self.reference_speed);
        if self.spec.scheme != PbdScheme::MassSplitting {
            return;
        }
        let (rows, s) = (&self.grains.cache_row, &self.scratch);
        s.pairs.cache.save(rows).write("contact", out);
        s.walls.cache.save(rows).write(WALL, out);
        out.set_scalar(SUBSTEP, self.cache_dt);
    }

    pub(super) fn load_state(&mut self, from: &Checkpoint) -> Result<(), SolverError> {
        let mut grains = Grains::load(from, self.laws.len())?;
        let is_warm_started = self.spec.scheme == PbdScheme::MassSplitting;
        if let Some(substep) = from.scalar(SUBSTEP).filter(|_| is_warm_started) {
            let pairs = ContactCache::read("contact", from)?;
            self.scratch.walls.cache = ContactCache::read(WALL, from)?;
            self.scratch.pairs.cache.load(pairs);
            self.cache_dt = substep as f32;
            grains.cache_row = (0..grains.len() as u32).collect();
        }
        let fastest = grains.velocity.iter().map(|v| v.length());
        self.reference_speed = match from.scalar(REFERENCE_SPEED).filter(|p| p.is_finite()) {
            Some(speed) => speed as f32,
            None => fastest.fold(0.0, f32::max),
        };
        self.max_radius = grains.radius.iter().copied().fold(0.0, f32::max);
        self.grains = grains;
        Ok(())
    }
}
