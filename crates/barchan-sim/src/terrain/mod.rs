//! Hybrid terrain: soil at rest as columns, soil in motion as grains, after the idea of [Holz09] as described in [Holz14] §7.
//!
//! ```text
//!            cut: a body moves through          ┌───────────┐
//!  columns ───────────────────────────────────► │  grains   │   solver
//!     ▲ │                                       └─────┬─────┘
//!     │ └─ relax: slopes above the angle of repose    │
//!     └────────────── deposit: grains at rest ────────┘
//! ```
//!
//! The columns and their relaxation are a [`HeightField`]; this module is their exchange with grains.

mod cutting;
mod deposit;
mod grain_grid;
mod lattice;
pub mod record;
mod spawn;
mod surcharge;
#[cfg(test)]
mod tests;

use crate::height_field::{HeightField, tangent};
use barchan_scene::{Material, TerrainSpec};
use glam::Vec3;
use grain_grid::GrainGrid;
use lattice::Lattice;
use surcharge::Surcharge;

/// Speed at which a surface rises below grains, as a fraction of √(g d).
const RISE_SPEED: f32 = 0.2;
/// Gravity in [`RISE_SPEED`] [m/s²].
const GRAVITY: f32 = 9.81;

/// Size of the grains that cut soil becomes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GrainSize {
    /// Mean radius [m].
    pub radius: f32,
    /// Half width of the distribution of radii, as a fraction of the mean.
    pub spread: f32,
    /// Mean mass [kg]. Divided by the bulk density, it is the bulk volume of a grain.
    pub mass: f64,
}

/// A grain made of soil that was cut from columns; at rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpawnedGrain {
    /// Center [m].
    pub position: Vec3,
    /// Radius [m].
    pub radius: f32,
    /// Mass [kg], exact in f32.
    pub mass: f64,
}

/// The grains of the solver.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExistingGrains<'a> {
    /// Centers [m].
    pub position: &'a [Vec3],
    /// Radii [m], one each.
    pub radius: &'a [f32],
}

/// Soil at rest as a height field, and its exchange with grains.
#[derive(Debug, Clone)]
pub struct Terrain {
    field: HeightField,
    material: usize,
    /// Slope (tangent) of the passive failure plane in front of a blade, 45° − φ/2.
    wedge_slope: f32,
    grain: GrainSize,
    lattice: Lattice,

    /// Quanta in all columns and queued.
    total: u128,
    /// Surcharge and locks of the columns.
    surcharge: Surcharge,
    /// The columns with a load of grains, and scratch for the loads before.
    loaded: Vec<u32>,
    previous_load: Vec<(u32, u64)>,
    /// Columns near a body, where no soil is deposited or slides.
    locked: Vec<u32>,

    scratch: cutting::Scratch,
    grain_grid: GrainGrid,
}

impl Terrain {
    /// The terrain of a scene, which turns into grains of a given size where it is cut.
    pub fn new(spec: &TerrainSpec, material: &Material, grain: GrainSize) -> Self {
        let field = HeightField::new(spec, material.density, grain.mass);
        Self {
            material: spec.material,
            wedge_slope: tangent(45.0 - 0.5 * spec.angle_of_repose as f32),
            grain,
            lattice: Lattice::new(&grain, material.density),
            total: field.total(),
            surcharge: Surcharge {
                grain_load: vec![0; field.layout.count()],
                locked_until: vec![0; field.layout.count()],
                ..Surcharge::default()
            },
            field,
            loaded: Vec::new(),
            previous_load: Vec::new(),
            locked: Vec::new(),
            scratch: cutting::Scratch::default(),
            grain_grid: GrainGrid::default(),
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

    /// Part of [`Self::mass`] that was cut and has not yet become grains [kg].
    pub fn queued_mass(&self) -> f64 {
        self.surcharge.queued_quanta() as f64 * self.field.quantum
    }

    /// Raises surfaces for `dt` [s], no faster than grains on them can follow.
    fn raise_surface(&mut self, dt: f32) {
        let speed = RISE_SPEED * (2.0 * self.grain.radius * GRAVITY).sqrt();
        self.field.raise_surface(speed * dt);
    }
}
