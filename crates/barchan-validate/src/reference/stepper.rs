//! The solver without a frame loop: its state is set and read particle by particle, and the caller chooses the steps.

use crate::ValidateError;
use crate::trial::{Particle, of_checkpoint};
use barchan_frame::{Checkpoint, Column, ColumnData, Unit};
use barchan_scene::Scene;
use barchan_sim::collider::{BodyImpulses, Colliders};
use barchan_sim::identities::Identities;
use barchan_sim::math::Level;
use barchan_sim::solver::{Solver, StepContext, Timings};
use barchan_sim::solvers::mpm::Mpm;
use glam::Vec3;
use std::fmt::Display;

/// The solver, stepped directly.
pub struct Stepper {
    mpm: Mpm,
    time: f64,
}

fn failed(error: impl Display) -> ValidateError {
    ValidateError::unusable("solver without a frame loop", error.to_string())
}

impl Stepper {
    /// The solver of a scene, with these particles instead of the scene's.
    pub fn new(scene: &Scene, particles: &[Particle], level: Level) -> Result<Self, ValidateError> {
        let mut mpm = Mpm::new(scene, level).map_err(failed)?;
        mpm.load(&checkpoint(particles)).map_err(failed)?;
        Ok(Self { mpm, time: 0.0 })
    }

    /// One step.
    pub fn step(&mut self, dt: f32, gravity: Vec3) -> Result<(), ValidateError> {
        let mut context = StepContext {
            dt,
            time: self.time,
            gravity,
            colliders: &Colliders::new([]),
            impulses: &mut BodyImpulses::zero(0),
            identities: &mut Identities::default(),
            timings: &mut Timings::default(),
        };
        self.mpm.step(&mut context).map_err(failed)?;
        self.time += f64::from(dt);
        Ok(())
    }

    /// The particles, in the order they were given in.
    pub fn particles(&mut self) -> Result<Vec<Particle>, ValidateError> {
        let mut state = Checkpoint::default();
        self.mpm.save(&mut state).map_err(failed)?;
        of_checkpoint(&state).ok_or_else(|| failed("the state lacks a column"))
    }
}

fn checkpoint(particles: &[Particle]) -> Checkpoint {
    let column = |name: &str, components: usize, value: &dyn Fn(&Particle) -> Vec<f64>| {
        let data: Vec<f32> = particles.iter().flat_map(value).map(|x| x as f32).collect();
        Column::exact(name, Unit::One, "", components, ColumnData::F32(data))
    };
    let bytes =
        |name: &str, data: Vec<u8>| Column::exact(name, Unit::One, "", 1, ColumnData::U8(data));
    let ids = (0..particles.len() as u32).collect();
    let mut state = Checkpoint {
        columns: vec![
            column("position", 3, &|p| p.x.to_array().into()),
            column("velocity", 3, &|p| p.v.to_array().into()),
            column("affine", 9, &|p| {
                p.affine.transpose().to_cols_array().into()
            }),
            column("strain", 6, &|p| p.strain.into()),
            column("stress", 6, &|p| p.stress.into()),
            column("hardening", 1, &|p| vec![p.hardening]),
            column("volume_gain", 1, &|p| vec![p.volume_gain]),
            column("volume", 1, &|p| vec![p.volume]),
            Column::exact("id", Unit::One, "", 1, ColumnData::U32(ids)),
            bytes("material", particles.iter().map(|p| p.material).collect()),
            bytes("plastic_case", vec![0; particles.len()]),
        ],
        ..Checkpoint::default()
    };
    let fastest = particles.iter().map(|p| p.v.length()).fold(0.0, f64::max) as f32;
    state.set_scalar("max_speed", fastest);
    state
}
