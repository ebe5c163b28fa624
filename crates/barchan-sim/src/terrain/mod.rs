//! Hybrid terrain: soil at rest as columns, soil in motion as grains, after the idea of [Holz09] as [Holz14] §7 tells it.
//!
//! ```text
//!            cut: a body moves through          ┌───────────┐
//!  columns ───────────────────────────────────► │  grains   │   solver
//!     ▲ │                                       └─────┬─────┘
//!     │ └─ relax: slopes above the angle of repose    │
//!     └────────────── deposit: grains at rest ────────┘
//! ```
//!
//! The columns and their relaxation are a [`HeightField`]; here is its exchange with grains.

mod cut;
mod deposit;
mod lattice;
mod load;
mod occupied;
pub mod record;
mod spawn;
#[cfg(test)]
mod tests;

use crate::height_field::{HeightField, tangent};
use barchan_scene::{Material, TerrainSpec};
use glam::Vec3;
use lattice::Lattice;
use occupied::Occupied;
use spawn::Withheld;
use std::collections::BTreeMap;

/// Speed at which a surface rises under grains, as a part of √(g d).
const RISE: f32 = 0.2;
/// For [`RISE`] [m/s²].
const GRAVITY: f32 = 9.81;
/// Ticks of the clock in a second.
const TICKS: f64 = 1024.0;

/// The grains that columns turn into.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GrainSize {
    /// Mean radius [m].
    pub radius: f32,
    /// Radii lie within ± this part of the mean.
    pub spread: f32,
    /// Mean mass [kg]: over the bulk density of the material, the room that a grain takes.
    pub mass: f64,
}

/// A grain that was part of the columns; at rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpawnedGrain {
    /// Its middle [m].
    pub position: Vec3,
    /// [m].
    pub radius: f32,
    /// [kg], exact in f32.
    pub mass: f64,
}

/// The grains of the solver, as they are now.
#[derive(Debug, Clone, Copy, Default)]
pub struct GrainsNow<'a> {
    /// [m].
    pub position: &'a [Vec3],
    /// [m], as many.
    pub radius: &'a [f32],
}

/// Soil at rest as a height field, with what turns it into grains and back.
#[derive(Debug, Clone)]
pub struct Terrain {
    field: HeightField,
    material: usize,
    /// Tangent of the slope at which soil fails before a blade, 45° − φ/2.
    wedge_slope: f32,
    grain: GrainSize,
    lattice: Lattice,

    /// Quanta in all columns and withheld.
    total: u128,
    /// Mass that was cut and waits for room, by column.
    withheld: BTreeMap<u32, Withheld>,
    /// Quanta that lie on each column as grains, the columns where there are some, and memory for those before.
    load: Vec<u64>,
    loaded: Vec<u32>,
    load_before: Vec<(u32, u64)>,
    /// Columns near a body, where nothing settles or slides, and the tick until which that lasts.
    held: Vec<u32>,
    held_until: Vec<u32>,
    /// Time since the beginning [s].
    clock: f64,

    scratch: cut::Scratch,
    occupied: Occupied,
}

impl Terrain {
    /// The terrain of a scene, in grains of that size where it is cut.
    pub fn new(spec: &TerrainSpec, material: &Material, grain: GrainSize) -> Self {
        let field = HeightField::new(spec, material.density, grain.mass);
        let count = field.layout.count();
        Self {
            material: spec.material,
            wedge_slope: tangent(45.0 - 0.5 * spec.angle_of_repose as f32),
            grain,
            lattice: Lattice::new(&grain, material.density),
            total: field.total(),
            field,
            withheld: BTreeMap::new(),
            load: vec![0; count],
            loaded: Vec::new(),
            load_before: Vec::new(),
            held: Vec::new(),
            held_until: vec![0; count],
            clock: 0.0,
            scratch: cut::Scratch::default(),
            occupied: Occupied::default(),
        }
    }

    /// The columns.
    pub fn field(&self) -> &HeightField {
        &self.field
    }

    /// Index of its material in the scene.
    pub fn material(&self) -> usize {
        self.material
    }

    /// Mass of the soil that is not grains [kg].
    pub fn mass(&self) -> f64 {
        self.total as f64 * self.field.quantum
    }

    /// Part of [`Self::mass`] that was cut and waits for room to become grains [kg].
    pub fn withheld(&self) -> f64 {
        self.waiting() as f64 * self.field.quantum
    }

    /// Quanta that were cut and wait for room.
    fn waiting(&self) -> u128 {
        self.withheld.values().map(|w| u128::from(w.mass)).sum()
    }

    /// Lets surfaces rise for a while [s], no faster than grains on them can follow.
    fn rise(&mut self, dt: f32) {
        let speed = RISE * (2.0 * self.grain.radius * GRAVITY).sqrt();
        self.field.rise(speed * dt);
    }

    fn tick(&self) -> u32 {
        // Saturates after 48 days.
        (self.clock * TICKS) as u32
    }

    /// Whether a body is or was there a moment ago.
    fn is_held(&self, column: usize) -> bool {
        self.held_until[column] > self.tick()
    }
}
