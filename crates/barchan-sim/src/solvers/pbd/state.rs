//! Frames and checkpoints of the position-based solver.

use super::Pbd;
use super::grains::Grains;
use crate::solver::SolverError;
use barchan_frame::{Checkpoint, Column, ColumnData, Frame};
use glam::Vec3;

fn flat(vectors: &[Vec3]) -> Vec<f32> {
    vectors.iter().flat_map(|v| v.to_array()).collect()
}

impl Pbd {
    pub(super) fn write_columns(&self, out: &mut Frame) {
        let g = &self.grains;
        let step = self.spec.radius as f32 / 1024.0;
        out.columns = vec![
            Column::vector3("position", "m", "position", step, flat(&g.position)),
            Column::vector3("velocity", "m/s", "velocity", 1e-3, flat(&g.velocity)),
            Column::exact(
                "id",
                "1",
                "stable identity",
                1,
                ColumnData::U32(g.id.clone()),
            ),
            Column::exact(
                "material",
                "1",
                "index of the material",
                1,
                ColumnData::U8(g.material.clone()),
            ),
            Column::scalar("mass", "kg", "mass", 0.0, g.mass.clone()),
            Column::scalar("radius", "m", "radius of the grain", 0.0, g.radius.clone()),
        ];
    }

    pub(super) fn save_state(&self, out: &mut Checkpoint) {
        let g = &self.grains;
        let floats = |name: &str, unit: &str, meaning: &str, components, data| {
            Column::exact(name, unit, meaning, components, ColumnData::F32(data))
        };
        out.columns = vec![
            floats("position", "m", "position", 3, flat(&g.position)),
            floats("velocity", "m/s", "velocity", 3, flat(&g.velocity)),
            floats("radius", "m", "radius of the grain", 1, g.radius.clone()),
            floats("mass", "kg", "mass", 1, g.mass.clone()),
            Column::exact(
                "id",
                "1",
                "stable identity",
                1,
                ColumnData::U32(g.id.clone()),
            ),
            Column::exact(
                "material",
                "1",
                "index of the material",
                1,
                ColumnData::U8(g.material.clone()),
            ),
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
        let grains = Grains {
            position: vectors("position")?,
            velocity: vectors("velocity")?,
            radius: floats("radius", 1)?.clone(),
            mass: floats("mass", 1)?.clone(),
            id: match data("id") {
                Some(ColumnData::U32(v)) if v.len() == count => v.clone(),
                _ => return Err(wrong("id")),
            },
            material: match data("material") {
                Some(ColumnData::U8(v)) if v.len() == count => v.clone(),
                _ => return Err(wrong("material")),
            },
            number: vec![super::grains::NEW; count],
        };
        let known = |m: &u8| usize::from(*m) < self.laws.len();
        if !grains.material.iter().all(known) {
            return Err(SolverError::Checkpoint(
                "it names a material that the scene does not have".into(),
            ));
        }
        let good = |r: &f32| *r > 0.0 && r.is_finite();
        if !(grains.radius.iter().all(good) && grains.mass.iter().all(good)) {
            return Err(SolverError::Checkpoint(
                "a grain in it has no size or no mass".into(),
            ));
        }
        self.grains = grains;
        self.largest = self.grains.radius.iter().copied().fold(0.0, f32::max);
        Ok(())
    }
}
