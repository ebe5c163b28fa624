//! Grains of pbd as the solver holds them, grains put where a test wants them, and forces on colliders.

use barchan_frame::{Checkpoint, Column, ColumnData, Unit};
use barchan_sim::simulation::Simulation;
use glam::{DVec3, Vec3};

/// A grain, exactly as the solver holds it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grain {
    /// Identity.
    pub id: u32,
    /// Position [m].
    pub x: Vec3,
    /// Velocity [m/s].
    pub v: Vec3,
    /// Radius [m].
    pub radius: f32,
    /// Mass [kg].
    pub mass: f32,
}

/// Every grain, by id.
pub fn grains(simulation: &mut Simulation) -> Vec<Grain> {
    let state = simulation.save().unwrap();
    let floats = |name: &str| super::floats(&state, name);
    let (x, v) = (floats("position"), floats("velocity"));
    let (radius, mass) = (floats("radius"), floats("mass"));
    let ids = state.column("id").unwrap().data.as_u32().unwrap();
    let grain = |(i, id): (usize, &u32)| Grain {
        id: *id,
        x: Vec3::from_slice(&x[3 * i..]),
        v: Vec3::from_slice(&v[3 * i..]),
        radius: radius[i],
        mass: mass[i],
    };
    let mut all: Vec<Grain> = ids.iter().enumerate().map(grain).collect();
    all.sort_by_key(|g| g.id);
    all
}

/// Puts grains like the first one at these places, at rest, instead of those that are there.
pub fn place(simulation: &mut Simulation, places: &[Vec3]) {
    let like = grains(simulation)[0];
    let now = simulation.save().unwrap();
    let count = places.len();
    let floats = |name: &str, components: usize, data: Vec<f32>| {
        Column::exact(name, Unit::One, "", components, ColumnData::F32(data))
    };
    let position = places.iter().flat_map(|p| p.to_array()).collect();
    let ids = ColumnData::U32((0..count as u32).collect());
    let materials = ColumnData::U8(vec![0; count]);
    let mut state = Checkpoint {
        columns: vec![
            floats("position", 3, position),
            floats("velocity", 3, vec![0.0; 3 * count]),
            floats("radius", 1, vec![like.radius; count]),
            floats("mass", 1, vec![like.mass; count]),
            Column::exact("id", Unit::One, "", 1, ids),
            Column::exact("material", Unit::One, "", 1, materials),
        ],
        ..now
    };
    // No contact of the grains that were there is remembered.
    state.remove_scalar("substep");
    simulation.load(&state).unwrap();
}

/// Names of the colliders and bodies, and the mean force of the grains on each over the last frame [N].
pub fn named_forces(simulation: &mut Simulation) -> Vec<(String, DVec3)> {
    let frame = simulation.write_frame().unwrap();
    let bodies = frame.record.bodies.into_iter();
    bodies.map(|body| (body.name, body.force.into())).collect()
}

/// Mean force of the grains on each collider and body over the last frame [N].
pub fn forces(simulation: &mut Simulation) -> Vec<DVec3> {
    let all = named_forces(simulation);
    all.into_iter().map(|(_, force)| force).collect()
}
