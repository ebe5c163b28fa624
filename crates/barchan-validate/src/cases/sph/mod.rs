//! B1, B2, D1–D3, E5, E7, L1–L7, L9, L10: smoothed particle hydrodynamics.

mod column;
mod element;
mod motion;
mod pile;
mod rest;
mod slab;
mod stepper;

pub use column::{L2, L9};
pub use element::{L1, L3, L4, L5, L6};
pub use motion::{B1, B2, L7};
pub use pile::{E5, E7};
pub use rest::L10;
pub use slab::{D1, D2, D3};

use crate::ValidateError;
use crate::scene::{SceneFile, scene};
use crate::trial::{Trial, floats, larger};
use barchan_frame::Checkpoint;
use glam::{DVec3, Vec3};

/// The exact state of a particle.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Grain {
    /// Position [m].
    x: Vec3,
    /// Velocity [m/s].
    v: Vec3,
    /// Mass [kg].
    mass: f32,
    /// Pressure [Pa].
    pressure: f32,
    /// Frictional stress: xx yy zz yz xz xy [Pa].
    stress: [f32; 6],
    /// Index of the material.
    material: u8,
}

/// Every particle of a state of `sph`, by identity.
fn of_state(state: &Checkpoint) -> Option<Vec<Grain>> {
    let ids = state.column("id")?.data.as_u32()?;
    let materials = state.column("material")?.data.as_u8()?;
    let three = |name: &str| Some(floats(state, name)?.as_chunks::<3>().0);
    let (x, v) = (three("position")?, three("velocity")?);
    let (mass, pressure) = (floats(state, "mass")?, floats(state, "pressure")?);
    let stress = floats(state, "stress")?.as_chunks::<6>().0;
    let grain = |i: usize| Grain {
        x: x[i].into(),
        v: v[i].into(),
        mass: mass[i],
        pressure: pressure[i],
        stress: stress[i],
        material: materials[i],
    };
    let mut all: Vec<(u32, Grain)> = (0..ids.len()).map(|i| (ids[i], grain(i))).collect();
    all.sort_by_key(|(id, _)| *id);
    Some(all.into_iter().map(|(_, grain)| grain).collect())
}

/// Every particle of a run of `sph`, by identity.
fn grains(trial: &mut Trial<'_>) -> Result<Vec<Grain>, ValidateError> {
    let state = trial.save()?;
    of_state(&state).ok_or_else(|| trial.unusable("the state lacks a column"))
}

/// Momentum [kg m/s].
fn momentum(all: &[Grain]) -> DVec3 {
    let of = |g: &Grain| f64::from(g.mass) * g.v.as_dvec3();
    all.iter().map(of).sum()
}

/// Mass [kg].
fn mass(all: &[Grain]) -> f64 {
    all.iter().map(|g| f64::from(g.mass)).sum()
}

/// Height of the highest particle [m].
fn top(all: &[Grain]) -> f64 {
    let heights = all.iter().map(|g| f64::from(g.x.y));
    heights.fold(f64::MIN, larger)
}

/// Largest distance of a particle between two states [m].
fn max_displacement(before: &[Grain], after: &[Grain]) -> f64 {
    if before.len() != after.len() {
        return f64::NAN;
    }
    let pairs = before.iter().zip(after);
    pairs.fold(0.0, |far, (a, b)| larger(far, f64::from(a.x.distance(b.x))))
}

/// A block on a floor, from `min` to `max` [m].
fn block_on_floor(min: [f64; 3], max: [f64; 3]) -> SceneFile {
    scene!("block_on_floor")
        .set("fill.block.shape.box.min", min.to_vec())
        .set("fill.block.shape.box.max", max.to_vec())
}
