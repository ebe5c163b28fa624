//! A scene simulated in memory, and measurements on it.

use super::scene::SceneFile;
use super::{Context, ValidateError};
use barchan_frame::{Checkpoint, ColumnData, Manifest, ManifestMaterial};
use barchan_post::measure::{Measurement, measure};
use barchan_scene::Scene;
use barchan_sim::simulation::{Control, Simulation, SimulationError};
use glam::{DMat3, DVec3};

/// Acceleration of gravity [m/s²].
pub const G: f64 = 9.81;

/// A simulation of a case.
pub struct Trial<'a> {
    label: String,
    context: &'a Context<'a>,
    scene: Scene,
    /// The running simulation.
    pub simulation: Simulation,
    manifest: Manifest,
    frames: u32,
}

impl<'a> Trial<'a> {
    /// A scene at t = 0, with the solver of the context unless the scene sets another. `label` names the run, `frames` is its length.
    pub fn start(
        context: &'a Context<'a>,
        label: impl Into<String>,
        frames: u32,
        file: impl Into<SceneFile>,
    ) -> Result<Self, ValidateError> {
        let label = label.into();
        let scene = file
            .into()
            .load(context.solver)
            .map_err(|errors| ValidateError::Scene {
                label: label.clone(),
                source: Box::new(errors),
            })?;
        (context.watch)(&label);
        let simulation = Simulation::new(&scene).map_err(|e| failed(&label, e))?;
        Ok(Self {
            manifest: manifest(&scene),
            label,
            context,
            scene,
            simulation,
            frames,
        })
    }

    /// Advances whole frames.
    pub fn advance(&mut self, frames: u32) -> Result<(), ValidateError> {
        for _ in 0..frames {
            self.simulation
                .advance_frame(&mut |_| Control::Continue)
                .map_err(|e| failed(&self.label, e))?;
            let part = 100.0 * f64::from(self.simulation.frame()) / f64::from(self.frames.max(1));
            (self.context.watch)(&format!("{}: {part:.0} %", self.label));
        }
        Ok(())
    }

    /// The scene as loaded.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The exact state of every particle, by identity.
    pub fn particles(&mut self) -> Result<Vec<Particle>, ValidateError> {
        let state = self.save()?;
        of_checkpoint(&state)
            .ok_or_else(|| ValidateError::unusable(&self.label, "the state lacks a column"))
    }

    /// Positions of the particles, with any solver [m].
    pub fn positions(&mut self) -> Result<Vec<DVec3>, ValidateError> {
        let state = self.save()?;
        let Some(all) = floats(&state, "position") else {
            return Err(self.unusable("the state lacks positions"));
        };
        let vector = |v: &[f32; 3]| DVec3::from_array(v.map(f64::from));
        Ok(all.as_chunks::<3>().0.iter().map(vector).collect())
    }

    /// The exact state.
    pub fn save(&mut self) -> Result<Checkpoint, ValidateError> {
        self.simulation.save().map_err(|e| failed(&self.label, e))
    }

    /// Continues from another state of the same scene.
    pub fn load(&mut self, state: &Checkpoint) -> Result<(), ValidateError> {
        self.simulation
            .load(state)
            .map_err(|e| failed(&self.label, e))
    }

    /// The result of `barchan measure` for the present state.
    pub fn measure(&mut self) -> Result<Measurement, ValidateError> {
        let frame = self
            .simulation
            .write_frame()
            .map_err(|e| failed(&self.label, e))?;
        measure(&frame, &self.manifest).map_err(|source| ValidateError::Measure {
            label: self.label.clone(),
            source,
        })
    }

    /// Mean force of the grains on each collider since the last frame [N].
    pub fn forces(&mut self) -> Result<Vec<DVec3>, ValidateError> {
        let frame = self
            .simulation
            .write_frame()
            .map_err(|e| failed(&self.label, e))?;
        let bodies = frame.record.bodies.iter();
        Ok(bodies.map(|body| body.force.into()).collect())
    }

    /// An error about this run.
    pub fn unusable(&self, reason: impl Into<String>) -> ValidateError {
        ValidateError::unusable(&self.label, reason)
    }
}

fn failed(label: &str, source: SimulationError) -> ValidateError {
    ValidateError::Simulation {
        label: label.into(),
        source,
    }
}

fn manifest(scene: &Scene) -> Manifest {
    let material = |m: &barchan_scene::Material| ManifestMaterial {
        name: m.name.clone(),
        density: m.density,
    };
    Manifest {
        materials: scene.materials.iter().map(material).collect(),
        dimensions: scene.dimensions.count() as u32,
        dx: scene.solver.resolution,
        ..Manifest::default()
    }
}

/// The exact state of a particle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Particle {
    /// Identity.
    pub id: u32,
    /// Index of the material.
    pub material: u8,
    /// Position [m].
    pub x: DVec3,
    /// Velocity [m/s].
    pub v: DVec3,
    /// Affine velocity C [1/s].
    pub affine: DMat3,
    /// b − I: xx yy zz yz xz xy.
    pub strain: [f64; 6],
    /// Kirchhoff stress [Pa], in the same order.
    pub stress: [f64; 6],
    /// Hardening state q.
    pub hardening: f64,
    /// Logarithm of the volume gained in tension.
    pub volume_gain: f64,
    /// Undeformed volume [m³].
    pub volume: f64,
}

impl Particle {
    /// At rest and without stress.
    pub fn at(x: DVec3, volume: f64) -> Self {
        Self {
            id: 0,
            material: 0,
            x,
            v: DVec3::ZERO,
            affine: DMat3::ZERO,
            strain: [0.0; 6],
            stress: [0.0; 6],
            hardening: 0.0,
            volume_gain: 0.0,
            volume,
        }
    }
}

/// Every particle of a state, by identity.
pub fn of_checkpoint(state: &Checkpoint) -> Option<Vec<Particle>> {
    let ids = state.column("id")?.data.as_u32()?;
    let materials = state.column("material")?.data.as_u8()?;
    let one = |name: &str, i: usize| f64::from(floats(state, name).map_or(0.0, |v| v[i]));
    let three = |name: &str| Some(floats(state, name)?.as_chunks::<3>().0);
    let six = |name: &str| Some(floats(state, name)?.as_chunks::<6>().0);
    let (x, v) = (three("position")?, three("velocity")?);
    let (strain, stress) = (six("strain")?, six("stress")?);
    let affine = floats(state, "affine")?.as_chunks::<9>().0;
    let vector = |v: [f32; 3]| DVec3::from_array(v.map(f64::from));
    let particle = |i: usize| Particle {
        id: ids[i],
        material: materials[i],
        x: vector(x[i]),
        v: vector(v[i]),
        // Stored by rows.
        affine: DMat3::from_cols_array(&affine[i].map(f64::from)).transpose(),
        strain: strain[i].map(f64::from),
        stress: stress[i].map(f64::from),
        // Sand alone has these two.
        hardening: one("hardening", i),
        volume_gain: one("volume_gain", i),
        volume: one("volume", i),
    };
    let mut all: Vec<Particle> = (0..ids.len()).map(particle).collect();
    all.sort_by_key(|p| p.id);
    Some(all)
}

/// A float column of a state.
pub fn floats<'a>(state: &'a Checkpoint, name: &str) -> Option<&'a [f32]> {
    match &state.column(name)?.data {
        ColumnData::F32(values) => Some(values),
        _ => None,
    }
}

/// A float column of a state, mutable; empty if there is none.
pub fn floats_mut<'a>(state: &'a mut Checkpoint, name: &str) -> &'a mut [f32] {
    let column = state.columns.iter_mut().find(|c| c.name == name);
    match column.map(|c| &mut c.data) {
        Some(ColumnData::F32(values)) => values,
        _ => &mut [],
    }
}

/// Mean velocity [m/s] of particles of equal mass.
pub fn mean_velocity(all: &[Particle]) -> DVec3 {
    all.iter().map(|p| p.v).sum::<DVec3>() / all.len() as f64
}

/// Mean position [m] of particles of equal mass.
pub fn mean_position(all: &[Particle]) -> DVec3 {
    all.iter().map(|p| p.x).sum::<DVec3>() / all.len() as f64
}

/// Displacements of particles between two states [m], largest first.
pub fn displacements(first: &[Particle], last: &[Particle]) -> Vec<f64> {
    let pairs = first.iter().zip(last);
    let mut all: Vec<f64> = pairs.map(|(a, b)| (a.x - b.x).length()).collect();
    all.sort_by(|a, b| b.total_cmp(a));
    all
}

/// The larger of two values; NaN when one is, unlike `f64::max`, so that no check passes on values that are not numbers.
pub fn larger<T: PartialOrd>(a: T, b: T) -> T {
    let a_is_nan = a.partial_cmp(&a).is_none();
    if a_is_nan || b <= a { a } else { b }
}

/// The smaller of two; NaN when one is.
pub fn smaller<T: PartialOrd>(a: T, b: T) -> T {
    let a_is_nan = a.partial_cmp(&a).is_none();
    if a_is_nan || b >= a { a } else { b }
}

/// The smallest value; NaN when one is, infinite when there is none.
pub fn smallest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(f64::INFINITY, smaller)
}

/// The largest absolute value; NaN when one is.
pub fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().map(f64::abs).fold(0.0, larger)
}

/// Gravity [m/s²] as it acts on a plane y = 0 that is tilted by an angle [degrees] down toward +x.
pub fn tilted(degrees: f64) -> Vec<f64> {
    let (sin, cos) = degrees.to_radians().sin_cos();
    vec![G * sin, -G * cos, 0.0]
}

/// The value below which `part` of the values lie.
pub fn quantile(values: impl Iterator<Item = f64>, part: f64) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let index = (part * values.len() as f64) as usize;
    values
        .get(index.min(values.len().saturating_sub(1)))
        .copied()
        .unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_keep_nan_wherever_it_stands() {
        assert_eq!(largest([1.0, -3.0, 2.0]), 3.0);
        assert_eq!(smallest([1.0, -3.0, 2.0]), -3.0);
        for at in 0..3 {
            let mut values = [1.0, -3.0, 2.0];
            values[at] = f64::NAN;
            assert!(largest(values).is_nan(), "{at}");
            assert!(smallest(values).is_nan(), "{at}");
            // Negative control: what the checks must not use.
            assert!(!values.into_iter().fold(0.0, f64::max).is_nan());
            assert!(!values.into_iter().fold(0.0, f64::min).is_nan());
        }
    }
}
