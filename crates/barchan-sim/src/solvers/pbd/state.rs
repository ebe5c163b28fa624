//! Frames and checkpoints of the position-based solver.

use super::Pbd;
use super::grains::{Grains, NEW};
use super::{pairs, walls};
use crate::solver::{Columns, SolverError};
use crate::solvers::columns::{Reader, flat, floats, identities, materials};
use barchan_frame::{Checkpoint, Column, ColumnData, Frame, Unit};
use barchan_scene::PbdScheme;
use glam::Vec3;

impl Pbd {
    pub(super) fn write_columns(&self, columns: &Columns<'_>, out: &mut Frame) {
        let g = &self.grains;
        let step = self.spec.radius as f32 / 1024.0;
        out.columns = vec![
            Column::vector3("position", Unit::Meter, "position", step, flat(&g.position)),
            Column::vector3(
                "velocity",
                Unit::MeterPerSecond,
                "velocity",
                1e-3,
                flat(&g.velocity),
            ),
            identities(&g.id),
            materials(&g.material),
            Column::scalar("mass", Unit::Kilogram, "mass", 0.0, g.mass.clone()),
            Column::scalar(
                "radius",
                Unit::Meter,
                "radius of the grain",
                0.0,
                g.radius.clone(),
            ),
        ];
        out.columns.retain(|column| columns.include(&column.name));
    }

    /// The exact state: grains, and the forces that their contacts begin the next step with.
    pub(super) fn save_state(&self, out: &mut Checkpoint) {
        let g = &self.grains;
        out.columns = vec![
            floats("position", Unit::Meter, "position", 3, flat(&g.position)),
            floats(
                "velocity",
                Unit::MeterPerSecond,
                "velocity",
                3,
                flat(&g.velocity),
            ),
            floats(
                "radius",
                Unit::Meter,
                "radius of the grain",
                1,
                g.radius.clone(),
            ),
            floats("mass", Unit::Kilogram, "mass", 1, g.mass.clone()),
            identities(&g.id),
            materials(&g.material),
        ];
        out.set_scalar(PACE, self.pace);
        if self.spec.scheme != PbdScheme::MassSplitting {
            return;
        }
        let contacts = self.scratch.pairs.save(&g.number);
        let walls = self.scratch.walls.save(&g.number);
        let (bodies, forces, slots) = by_grain(&walls, g.len());
        out.columns.extend([
            Column::exact(
                "contact_partner",
                Unit::One,
                "grains that it touches, by place in this list",
                contacts.slots,
                ColumnData::U32(contacts.partner),
            ),
            Column::exact(
                "contact_force",
                Unit::KilogramMeter,
                "mass times displacement in a substep that each gives it",
                3 * contacts.slots,
                ColumnData::F32(flat(&contacts.force)),
            ),
            Column::exact(
                "wall_body",
                Unit::One,
                "colliders that it touches",
                slots,
                ColumnData::U32(bodies),
            ),
            Column::exact(
                "wall_force",
                Unit::KilogramMeter,
                "mass times displacement in a substep that each gives it",
                3 * slots,
                ColumnData::F32(flat(&forces)),
            ),
        ]);
        out.set_scalar(SUBSTEP, contacts.dt);
    }

    pub(super) fn load_state(&mut self, from: &Checkpoint) -> Result<(), SolverError> {
        let count = from.particles();
        let read = Reader(from);
        let grains = Grains {
            position: read.vectors("position")?,
            velocity: read.vectors("velocity")?,
            radius: read.sizes("radius")?,
            mass: read.sizes("mass")?,
            id: read.identities()?,
            material: read.materials(self.laws.len())?,
            number: vec![NEW; count],
        };
        let memory = self.read_memory(from, count)?;
        let fastest = grains.velocity.iter().map(|v| v.length());
        self.pace = match from.scalar(PACE).filter(|p| p.is_finite()) {
            Some(pace) => pace as f32,
            None => fastest.fold(0.0, f32::max),
        };
        self.grains = grains;
        if let Some((contacts, walls)) = memory {
            self.scratch.walls.load(walls, contacts.dt);
            self.scratch.pairs.load(&contacts);
            self.grains.number = (0..count as u32).collect();
        }
        self.largest = self.grains.radius.iter().copied().fold(0.0, f32::max);
        Ok(())
    }

    /// Remembered forces of a checkpoint; `None` when it has none, as that of another scheme.
    fn read_memory(
        &self,
        from: &Checkpoint,
        count: usize,
    ) -> Result<Option<(pairs::Remembered, Vec<walls::Remembered>)>, SolverError> {
        let Some(dt) = from.scalar(SUBSTEP) else {
            return Ok(None);
        };
        if self.spec.scheme != PbdScheme::MassSplitting || count == 0 {
            return Ok(None);
        }
        let (slots, partner, force) = slots_of(from, "contact_partner", "contact_force", count)?;
        let known = |p: &u32| *p == NEW || (*p as usize) < count;
        if !partner.iter().all(known) {
            let reason = "a contact in it names a grain that it does not have";
            return Err(SolverError::Checkpoint(reason.into()));
        }
        let contacts = pairs::Remembered {
            slots,
            partner: partner.to_vec(),
            force,
            dt: dt as f32,
        };
        let (slots, bodies, forces) = slots_of(from, "wall_body", "wall_force", count)?;
        let walls = (bodies.iter().zip(forces).enumerate())
            .filter(|(_, (body, _))| **body != NEW)
            .map(|(k, (body, force))| walls::Remembered {
                grain: (k / slots) as u32,
                body: *body,
                force,
            })
            .collect();
        Ok(Some((contacts, walls)))
    }
}

/// Scalar of a checkpoint: speed of what was fastest [m/s].
const PACE: &str = "pace";

/// Scalar of a checkpoint with remembered contacts: length of a substep [s].
const SUBSTEP: &str = "substep";

/// A column of numbers and one of vectors with as many slots a grain, and how many.
fn slots_of<'a>(
    from: &'a Checkpoint,
    numbers: &str,
    vectors: &str,
    count: usize,
) -> Result<(usize, &'a [u32], Vec<Vec3>), SolverError> {
    let data = |name: &str| from.column(name).map(|c| &c.data);
    match (data(numbers), data(vectors)) {
        (Some(ColumnData::U32(n)), Some(ColumnData::F32(v)))
            if n.len() >= count && n.len() % count == 0 && v.len() == 3 * n.len() =>
        {
            let vectors = v.as_chunks::<3>().0.iter().map(|v| Vec3::from_array(*v));
            Ok((n.len() / count, n, vectors.collect()))
        }
        _ => Err(SolverError::Checkpoint(format!(
            "column `{numbers}` or `{vectors}` is missing or has another shape"
        ))),
    }
}

/// Contacts with colliders as columns: colliders and forces, and how many slots a grain has.
fn by_grain(walls: &[walls::Remembered], grains: usize) -> (Vec<u32>, Vec<Vec3>, usize) {
    let runs = walls.chunk_by(|a, b| a.grain == b.grain);
    let slots = runs.map(<[_]>::len).max().unwrap_or(1);
    let mut bodies = vec![NEW; slots * grains];
    let mut forces = vec![Vec3::ZERO; slots * grains];
    for run in walls.chunk_by(|a, b| a.grain == b.grain) {
        for (slot, wall) in run.iter().enumerate() {
            bodies[wall.grain as usize * slots + slot] = wall.body;
            forces[wall.grain as usize * slots + slot] = wall.force;
        }
    }
    (bodies, forces, slots)
}
