//! Frames and checkpoints of the SPH solver.

use super::Sph;
use super::particles::Particles;
use crate::solver::{Columns, SolverError};
use crate::solvers::columns::{Reader, flat, floats, identities, materials};
use barchan_frame::{Checkpoint, Column, Frame, Unit};

impl Sph {
    pub(super) fn write_columns(&self, columns: &Columns<'_>, out: &mut Frame) {
        let p = &self.particles;
        let step = self.spec.spacing() as f32 / 1024.0;
        out.columns = vec![
            Column::vector3("position", Unit::Meter, "position", step, flat(&p.position)),
            Column::vector3(
                "velocity",
                Unit::MeterPerSecond,
                "velocity",
                1e-3,
                flat(&p.velocity),
            ),
            identities(&p.id),
            materials(&p.material),
            Column::scalar("mass", Unit::Kilogram, "mass", 0.0, p.mass.clone()),
            Column::scalar(
                "radius",
                Unit::Meter,
                "half the spacing",
                0.0,
                p.radius.clone(),
            ),
            Column::scalar(
                "pressure",
                Unit::Pascal,
                "pressure",
                0.1,
                p.pressure.clone(),
            ),
        ];
        if !self.wettings.is_empty() {
            let wetness = p.wetness.clone();
            let column = Column::scalar(
                "wetness",
                Unit::One,
                "from dry (0) to wet (1)",
                1e-3,
                wetness,
            );
            out.columns.push(column);
        }
        out.columns.retain(|column| columns.include(&column.name));
    }

    /// The exact state.
    pub(super) fn save_state(&self, out: &mut Checkpoint) {
        let p = &self.particles;
        let stress: Vec<f32> = p.stress.iter().flatten().copied().collect();
        let rubbing = flat(&p.rubbing);
        out.columns = vec![
            floats("position", Unit::Meter, "position", 3, flat(&p.position)),
            floats(
                "velocity",
                Unit::MeterPerSecond,
                "velocity",
                3,
                flat(&p.velocity),
            ),
            floats("mass", Unit::Kilogram, "mass", 1, p.mass.clone()),
            floats(
                "wetness",
                Unit::One,
                "from dry to wet",
                1,
                p.wetness.clone(),
            ),
            floats("pressure", Unit::Pascal, "pressure", 1, p.pressure.clone()),
            floats(
                "bearing",
                Unit::Pascal,
                "pressure that limits friction",
                1,
                p.bearing.clone(),
            ),
            floats(
                "stress",
                Unit::Pascal,
                "frictional stress: xx yy zz yz xz xy",
                6,
                stress,
            ),
            floats(
                "rubbing",
                Unit::MeterPerSecondSquared,
                "acceleration by friction of bodies",
                3,
                rubbing,
            ),
            identities(&p.id),
            materials(&p.material),
        ];
    }

    pub(super) fn load_state(&mut self, from: &Checkpoint) -> Result<(), SolverError> {
        let read = Reader(from);
        let scalars = |name: &str| read.floats(name, 1).map(<[f32]>::to_vec);
        self.particles = Particles {
            position: read.vectors("position")?,
            velocity: read.vectors("velocity")?,
            mass: read.sizes("mass")?,
            radius: vec![self.spec.radius as f32; from.particles()],
            id: read.identities()?,
            material: read.materials(self.laws.len())?,
            wetness: scalars("wetness")?,
            pressure: scalars("pressure")?,
            bearing: scalars("bearing")?,
            stress: read.floats("stress", 6)?.as_chunks::<6>().0.to_vec(),
            rubbing: read.vectors("rubbing")?,
        };
        Ok(())
    }
}
