//! Frames and checkpoints of the SPH solver.

use super::Sph;
use super::particles::Particles;
use crate::particles::check_materials;
use crate::solver::{Columns, SolverError};
use barchan_frame::{Checkpoint, Frame};

impl Sph {
    pub(super) fn write_columns(&self, columns: &Columns<'_>, out: &mut Frame) {
        let spacing = self.spec.spacing() as f32;
        let is_dry = self.wettings.is_empty();
        let is_wanted = |name: &str| columns.include(name) && !(is_dry && name == "wetness");
        self.particles.write_frame(spacing, is_wanted, out);
    }

    /// The exact state.
    pub(super) fn save_state(&self, out: &mut Checkpoint) {
        out.columns.clear();
        self.particles.save(out);
    }

    pub(super) fn load_state(&mut self, from: &Checkpoint) -> Result<(), SolverError> {
        let mut particles = Particles::load(from)?;
        check_materials(&particles.material, self.laws.len())?;
        particles.radius.fill(self.spec.radius as f32);
        self.particles = particles;
        Ok(())
    }
}
