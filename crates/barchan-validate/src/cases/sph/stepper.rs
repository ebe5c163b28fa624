//! The solver without a frame loop, with particles placed by the case.

use super::{Grain, of_state};
use crate::ValidateError;
use crate::scene::SceneFile;
use barchan_frame::{Checkpoint, Column, ColumnData, Unit};
use barchan_sim::collider::{BodyImpulses, Colliders};
use barchan_sim::identities::Identities;
use barchan_sim::math::Level;
use barchan_sim::solver::{Solver, SolverError, StepContext, Timings};
use barchan_sim::solvers::sph::Sph;
use glam::{DVec3, Vec3};

/// Spacing [m], density [kg/m³] and time step [s].
pub const D0: f64 = 0.1;
pub const RHO: f64 = 1602.0;
pub const DT: f64 = 1e-3;

/// The solver with the scripted colliders of a scene, stepped directly.
pub struct SphStepper {
    label: String,
    sph: Sph,
    colliders: Colliders,
    /// Impulses on the colliders in the last step.
    pub impulses: BodyImpulses,
    time: f64,
    timings: Timings,
}

impl SphStepper {
    /// Settings and materials of a scene with these particles instead of its own; `walls`: with its colliders.
    pub fn new(
        label: &str,
        file: &SceneFile,
        all: &[Grain],
        walls: bool,
    ) -> Result<Self, ValidateError> {
        let scene = file.load("sph").map_err(|errors| ValidateError::Scene {
            label: label.into(),
            source: Box::new(errors),
        })?;
        let mut sph = Sph::new(&scene, Level::new()).map_err(|e| stopped(label, &e))?;
        sph.load(&state(all)).map_err(|e| stopped(label, &e))?;
        let colliders = if walls { &scene.colliders[..] } else { &[] };
        Ok(Self {
            label: label.into(),
            sph,
            colliders: Colliders::new(colliders),
            impulses: BodyImpulses::zero(colliders.len()),
            time: 0.0,
            timings: Timings::default(),
        })
    }

    /// One step of [`DT`].
    pub fn step(&mut self, gravity: Vec3) -> Result<(), ValidateError> {
        self.impulses.clear();
        self.colliders.pose(self.time, DT);
        let mut context = StepContext {
            dt: DT as f32,
            time: self.time,
            gravity,
            colliders: &self.colliders,
            impulses: &mut self.impulses,
            identities: &mut Identities::default(),
            timings: &mut self.timings,
        };
        let done = self.sph.step(&mut context);
        done.map_err(|e| stopped(&self.label, &e))?;
        self.time += DT;
        Ok(())
    }

    /// Every particle, by identity.
    pub fn grains(&mut self) -> Result<Vec<Grain>, ValidateError> {
        let mut out = Checkpoint::default();
        self.sph
            .save(&mut out)
            .map_err(|e| stopped(&self.label, &e))?;
        of_state(&out).ok_or_else(|| ValidateError::unusable(&self.label, "a column is missing"))
    }
}

fn stopped(label: &str, error: &SolverError) -> ValidateError {
    ValidateError::unusable(label, error.to_string())
}

/// A state with these particles, dry and without wall friction.
fn state(all: &[Grain]) -> Checkpoint {
    let column = |name: &str, components: usize, value: &dyn Fn(&Grain) -> Vec<f32>| {
        let data = ColumnData::F32(all.iter().flat_map(value).collect());
        Column::exact(name, Unit::One, "", components, data)
    };
    let ids = ColumnData::U32((0..all.len() as u32).collect());
    let materials = ColumnData::U8(all.iter().map(|g| g.material).collect());
    Checkpoint {
        columns: vec![
            column("position", 3, &|g| g.x.to_array().into()),
            column("velocity", 3, &|g| g.v.to_array().into()),
            column("mass", 1, &|g| vec![g.mass]),
            column("wetness", 1, &|_| vec![0.0]),
            column("pressure", 1, &|g| vec![g.pressure]),
            column("support_pressure", 1, &|g| vec![g.pressure]),
            column("stress", 6, &|g| g.stress.into()),
            column("wall_friction", 3, &|_| vec![0.0; 3]),
            Column::exact("id", Unit::One, "", 1, ids),
            Column::exact("material", Unit::One, "", 1, materials),
        ],
        ..Checkpoint::default()
    }
}

/// Particles on a cubic lattice of `n` sites a side about the origin, at rest and without pressure.
pub fn block(n: usize) -> Vec<Grain> {
    let place = |i: usize| (i as f64 - 0.5 * (n as f64 - 1.0)) * D0;
    let site = |i: usize| DVec3::new(place(i % n), place(i / n % n), place(i / n / n));
    let grain = |x: DVec3| Grain {
        x: x.as_vec3(),
        mass: (RHO * D0.powi(3)) as f32,
        ..Grain::default()
    };
    (0..n * n * n).map(site).map(grain).collect()
}

/// Deterministic random numbers in [−1, 1).
pub struct RandomNumbers(pub u64);

impl RandomNumbers {
    pub fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn vector(&mut self) -> DVec3 {
        DVec3::new(self.next(), self.next(), self.next())
    }

    pub fn symmetric(&mut self) -> [f32; 6] {
        std::array::from_fn(|_| self.next() as f32)
    }
}
