//! Frames and checkpoints of the SPH solver.

use super::Sph;
use super::particles::{Particles, Symmetric};
use crate::solver::SolverError;
use barchan_frame::{Checkpoint, Column, ColumnData, Frame};
use glam::Vec3;

fn flat(vectors: &[Vec3]) -> Vec<f32> {
    vectors.iter().flat_map(|v| v.to_array()).collect()
}

fn identities(p: &Particles) -> Column {
    let ids = ColumnData::U32(p.id.clone());
    Column::exact("id", "1", "stable identity", 1, ids)
}

fn materials(p: &Particles) -> Column {
    let materials = ColumnData::U8(p.material.clone());
    Column::exact("material", "1", "index of the material", 1, materials)
}

impl Sph {
    pub(super) fn write_columns(&self, out: &mut Frame) {
        let p = &self.particles;
        let step = self.spec.spacing() as f32 / 1024.0;
        out.columns = vec![
            Column::vector3("position", "m", "position", step, flat(&p.position)),
            Column::vector3("velocity", "m/s", "velocity", 1e-3, flat(&p.velocity)),
            identities(p),
            materials(p),
            Column::scalar("mass", "kg", "mass", 0.0, p.mass.clone()),
            Column::scalar("radius", "m", "half the spacing", 0.0, p.radius.clone()),
            Column::scalar("pressure", "Pa", "pressure", 0.1, p.pressure.clone()),
        ];
        if !self.wettings.is_empty() {
            let wetness = p.wetness.clone();
            let column = Column::scalar("wetness", "1", "from dry (0) to wet (1)", 1e-3, wetness);
            out.columns.push(column);
        }
    }

    /// The exact state.
    pub(super) fn save_state(&self, out: &mut Checkpoint) {
        let p = &self.particles;
        let floats = |name: &str, unit: &str, meaning: &str, components, data| {
            Column::exact(name, unit, meaning, components, ColumnData::F32(data))
        };
        let stress: Vec<f32> = p.stress.iter().flatten().copied().collect();
        let rubbing = flat(&p.rubbing);
        out.columns = vec![
            floats("position", "m", "position", 3, flat(&p.position)),
            floats("velocity", "m/s", "velocity", 3, flat(&p.velocity)),
            floats("mass", "kg", "mass", 1, p.mass.clone()),
            floats("wetness", "1", "from dry to wet", 1, p.wetness.clone()),
            floats("pressure", "Pa", "pressure", 1, p.pressure.clone()),
            floats(
                "bearing",
                "Pa",
                "pressure that limits friction",
                1,
                p.bearing.clone(),
            ),
            floats(
                "stress",
                "Pa",
                "frictional stress xx yy zz xy yz zx",
                6,
                stress,
            ),
            floats(
                "rubbing",
                "m/s²",
                "acceleration by friction of bodies",
                3,
                rubbing,
            ),
            identities(p),
            materials(p),
        ];
    }

    pub(super) fn load_state(&mut self, from: &Checkpoint) -> Result<(), SolverError> {
        let count = from.particles();
        let wrong = |name: &str| {
            SolverError::Checkpoint(format!("column `{name}` is missing or has another shape"))
        };
        let data = |name: &str| from.column(name).map(|c| &c.data);
        let floats = |name: &str, components: usize| match data(name) {
            Some(ColumnData::F32(v)) if v.len() == components * count => Ok(v),
            _ => Err(wrong(name)),
        };
        let vectors = |name: &str| {
            let values = floats(name, 3)?.as_chunks::<3>().0;
            Ok(values.iter().map(|v| Vec3::from_array(*v)).collect())
        };
        let stress: Vec<Symmetric> = floats("stress", 6)?.as_chunks::<6>().0.to_vec();
        let particles = Particles {
            position: vectors("position")?,
            velocity: vectors("velocity")?,
            mass: floats("mass", 1)?.clone(),
            radius: vec![self.spec.radius as f32; count],
            id: match data("id") {
                Some(ColumnData::U32(v)) if v.len() == count => v.clone(),
                _ => return Err(wrong("id")),
            },
            material: match data("material") {
                Some(ColumnData::U8(v)) if v.len() == count => v.clone(),
                _ => return Err(wrong("material")),
            },
            wetness: floats("wetness", 1)?.clone(),
            pressure: floats("pressure", 1)?.clone(),
            bearing: floats("bearing", 1)?.clone(),
            stress,
            rubbing: vectors("rubbing")?,
        };
        let known = |m: &u8| usize::from(*m) < self.laws.len();
        if !particles.material.iter().all(known) {
            return Err(SolverError::Checkpoint(
                "it names a material that the scene does not have".into(),
            ));
        }
        if !(particles.mass.iter()).all(|m| *m > 0.0 && m.is_finite()) {
            return Err(SolverError::Checkpoint(
                "a particle in it has no mass".into(),
            ));
        }
        self.particles = particles;
        Ok(())
    }
}
