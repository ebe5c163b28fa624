//! D4: sand on a slope.

use super::element::flow_ratio;
use crate::outcome::{Band, Check, Outcome};
use crate::plot::{Axis, Plot, Style};
use crate::scene::{SceneFile, scene};
use crate::trial::{
    G, Particle, Trial, floats, floats_mut, larger, largest, mean_velocity, tilted,
};
use crate::{Case, Context, Form, ValidateError};
use barchan_sim::material::lame;

/// A slab on a rough incline.
pub const D4: Case = Case {
    name: "D4",
    title: "A slab of sand on a rough incline",
    solvers: &["mpm"],
    seconds: 20.0,
    run: rough_incline,
};

// ---- D4 ----

const DX: f64 = 0.05;
const DENSITY: f64 = 1600.0;
const YOUNG: f64 = 2e6;
const POISSON: f64 = 0.3;
const RATE: f64 = 20.0;
const HEIGHT: f64 = 20.0 * DX;

/// A slab of sand, 20 cells deep.
#[derive(Debug, Clone, Copy)]
struct Slab {
    dimensions: u32,
    /// Friction angle [degrees].
    friction_angle: f64,
    cone: &'static str,
    /// Slope [degrees].
    degrees: f64,
    sampling: &'static str,
    /// Time over which gravity along the slope is ramped up [s]; 0: at once.
    tilt: f64,
}

/// On the lattice, with the cone of [Klar16].
const SLAB: Slab = Slab {
    dimensions: 3,
    friction_angle: 25.0,
    cone: "triaxial",
    degrees: 35.0,
    sampling: "lattice",
    tilt: 0.0,
};

/// Motion and stress of a layer of cells.
#[derive(Debug, Clone, Copy)]
struct Layer {
    /// Mean velocity along the slope [m/s].
    velocity: f64,
    /// Mobilized τ/p.
    ratio: f64,
}

/// Layers that the sticky base does not affect within 0.3 s.
const FREE: std::ops::Range<usize> = 9..19;

impl Slab {
    fn name(&self) -> String {
        let Self {
            dimensions,
            friction_angle,
            degrees,
            ..
        } = self;
        let cone = if *dimensions == 3 { "" } else { self.cone };
        format!("{dimensions}D {cone}, φ = {friction_angle}°, at {degrees}°").replace(" ,", ",")
    }

    /// μ_ss: 3α/√2 in 3D, √2 α in 2D.
    fn flow_ratio(&self) -> f64 {
        match (self.dimensions, self.cone) {
            (3, "triaxial") => flow_ratio(self.friction_angle),
            (2, "triaxial") => 2.0 / 3.0 * flow_ratio(self.friction_angle),
            _ => self.friction_angle.to_radians().sin(),
        }
    }

    /// g cos θ (tan θ − μ_ss) [m/s²].
    fn acceleration(&self) -> f64 {
        let (sin, cos) = self.degrees.to_radians().sin_cos();
        G * (sin - self.flow_ratio() * cos)
    }

    fn scene(&self) -> SceneFile {
        let end = tilted(self.degrees);
        let gravity = if self.tilt == 0.0 {
            format!("gravity={end:?}")
        } else {
            format!(
                "gravity={{ interpolation = \"smooth\", keyframes = [{{ time = 0, value = [0, {}, 0] }}, {{ time = {}, value = {end:?} }}] }}",
                end[1], self.tilt
            )
        };
        let periodic: &[&str] = if self.dimensions == 3 {
            &["x", "z"]
        } else {
            &["x"]
        };
        // In 2D the layer must reach across the plane z = 0.
        let back = if self.dimensions == 3 { 0.0 } else { -1.0 };
        scene!("layer")
            .set("dimensions", i64::from(self.dimensions))
            .set("domain.periodic", periodic.to_vec())
            .set("fill.sand.shape.box.min", vec![0.0, 0.0, back])
            .set("materials.sand.friction_angle", self.friction_angle)
            .set("materials.sand.mpm.cone", self.cone)
            .set("fill.sand.sampling", self.sampling)
            .with(&[&gravity])
    }

    /// At rest under its own weight, with isotropic stress.
    fn settled<'a>(&self, context: &'a Context<'a>) -> Result<Trial<'a>, ValidateError> {
        let mut trial = Trial::start(context, self.name(), 30, self.scene())?;
        let d = f64::from(self.dimensions);
        let (lambda, mu) = lame(YOUNG, POISSON);
        let bulk = lambda + 2.0 * mu / d;
        let weight = DENSITY * G * self.degrees.to_radians().cos();
        let mut state = trial.save()?;
        let heights: Vec<f64> = floats(&state, "position")
            .unwrap_or_default()
            .chunks(3)
            .map(|p| f64::from(p[1]))
            .collect();
        for (i, y) in heights.into_iter().enumerate() {
            let pressure = weight * (HEIGHT - y);
            let strain = (-2.0 * pressure / (d * bulk)).exp_m1();
            let normal = 6 * i..6 * i + self.dimensions as usize;
            floats_mut(&mut state, "strain")[normal.clone()].fill(strain as f32);
            floats_mut(&mut state, "stress")[normal].fill(-pressure as f32);
        }
        trial.load(&state)?;
        Ok(trial)
    }

    fn layers(&self, all: &[Particle]) -> Vec<Layer> {
        let layer = |i: u32| {
            let range = f64::from(i) * DX..f64::from(i + 1) * DX;
            let inside = all.iter().filter(|p| range.contains(&p.x.y));
            let inside: Vec<Particle> = inside.copied().collect();
            let sum = |axis: usize| inside.iter().map(|p| p.stress[axis]).sum::<f64>();
            let d = self.dimensions as usize;
            let pressure = -(0..d).map(sum).sum::<f64>() / d as f64;
            Layer {
                velocity: mean_velocity(&inside).x,
                ratio: sum(5) / pressure,
            }
        };
        (0..19).map(layer).collect()
    }

    /// Mean acceleration [m/s²] of the layers between 0.15 and 0.3 s; the layers at the end; how many particles were lost.
    fn flow(&self, context: &Context<'_>) -> Result<(Vec<f64>, Vec<Layer>, f64), ValidateError> {
        let mut trial = self.settled(context)?;
        let count = trial.simulation.particles();
        trial.advance(3)?;
        let first = self.layers(&trial.particles()?);
        trial.advance(3)?;
        let end = self.layers(&trial.particles()?);
        let pairs = end.iter().zip(&first);
        let accelerations = pairs.map(|(b, a)| (b.velocity - a.velocity) * RATE / 3.0);
        let lost = count as f64 - trial.simulation.particles() as f64;
        Ok((accelerations.collect(), end, lost))
    }

    /// Checks of a slab that flows, and the acceleration of its layers [m/s²].
    fn flows(&self, context: &Context<'_>) -> Result<(Vec<Check>, Vec<f64>), ValidateError> {
        let (accelerations, end, lost) = self.flow(context)?;
        let exact = self.acceleration();
        let off = largest(accelerations[FREE].iter().map(|a| a / exact - 1.0));
        let mobilized = self.flow_ratio();
        let ratios = largest(end.iter().map(|layer| layer.ratio / mobilized - 1.0));
        let named = |what: &str| format!("{what}, {}", self.name());
        let checks = vec![
            Check::new(
                named("largest error of the acceleration of a layer"),
                off,
                "",
                Band::below(0.05),
            ),
            Check::new(
                named("largest error of the mobilized τ/p of a layer"),
                ratios,
                "",
                Band::below(0.02),
            ),
            Check::new(
                named("particles that leave the domain"),
                lost,
                "",
                Band::between(0.0, 0.0),
            ),
        ];
        Ok((checks, accelerations))
    }

    /// Largest mean speed along the slope [m/s] in half a second, one second after the tilt began. A tilt over several
    /// periods of the layer hardly excites oscillations; sand that flows gains speed.
    fn speed_after_tilt(&self, context: &Context<'_>) -> Result<f64, ValidateError> {
        let mut trial = self.settled(context)?;
        trial.advance(RATE as u32)?;
        let mut fastest = 0.0f64;
        for _ in 0..RATE as u32 / 2 {
            trial.advance(1)?;
            fastest = larger(fastest, mean_velocity(&trial.particles()?).x.abs());
        }
        Ok(fastest)
    }
}

const AT_ONCE: &str = "The elastic oscillation takes the slab beyond its static shear stress; our hypothesis is that it then yields and \
                       localizes, see D6.";

/// Slabs below the slope at which they flow, which is 29.6° for φ = 25° and 39.3° for 35°, with the control.
fn resting(context: &Context<'_>) -> Result<Vec<Check>, ValidateError> {
    let rests = Band::below(0.02);
    let mut checks = vec![];
    let below = [(25.0, 27.0), (35.0, 35.0)];
    for sampling in context.pick(&["lattice"][..], &["lattice", "poisson"]) {
        let slow = Slab {
            sampling,
            tilt: 1.0,
            ..SLAB
        };
        for (friction_angle, degrees) in below {
            let slab = Slab {
                friction_angle,
                degrees,
                ..slow
            };
            let what = format!("speed after a slow tilt, {}, {sampling}", slab.name());
            checks.push(Check::new(
                what,
                slab.speed_after_tilt(context)?,
                "m/s",
                rests,
            ));
        }
        let speed = slow.speed_after_tilt(context)?;
        let what = format!("speed after a slow tilt, {}, {sampling}", slow.name());
        checks.push(Check::new(&what, speed, "m/s", Band::above(0.2)));
        checks.push(Check::control(what + ", against rest", speed, "m/s", rests));
    }
    if context.form == Form::Full {
        for (friction_angle, degrees) in below {
            let slab = Slab {
                friction_angle,
                degrees,
                sampling: "poisson",
                ..SLAB
            };
            let what = format!("speed after a sudden tilt, {}", slab.name());
            let speed = slab.speed_after_tilt(context)?;
            let check = Check::new(what, speed, "m/s", Band::below(0.05));
            checks.push(check.limited(Band::between(0.05, 1.5), AT_ONCE));
        }
    }
    // In the plane each cone has its own angle: 20.7° and 22.9° for φ = 25°, and more than 32° for 40°.
    for cone in ["triaxial", "plane strain"] {
        let flat = Slab {
            dimensions: 2,
            cone,
            degrees: 27.0,
            ..SLAB
        };
        checks.extend(flat.flows(context)?.0);
        for (friction_angle, degrees) in [(25.0, 18.0), (40.0, 27.0)] {
            let slab = Slab {
                friction_angle,
                degrees,
                tilt: 1.0,
                ..flat
            };
            let what = format!("speed after a slow tilt, {}", slab.name());
            checks.push(Check::new(
                what,
                slab.speed_after_tilt(context)?,
                "m/s",
                rests,
            ));
        }
    }
    Ok(checks)
}

fn rough_incline(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let exact = SLAB.acceleration();
    let (mut checks, layers) = SLAB.flows(context)?;
    let softer = Slab {
        friction_angle: 20.0,
        ..SLAB
    };
    let softer = softer.flow(context)?.0;
    let mean = softer[FREE].iter().sum::<f64>() / softer[FREE].len() as f64;
    checks.extend([
        Check::new(
            "g cos θ (tan θ − μ_ss), φ = 25°, 35°",
            exact,
            "m/s²",
            Band::between(1.0614, 1.0634),
        ),
        Check::control(
            "mean error of the acceleration with φ = 20°",
            mean / exact - 1.0,
            "",
            Band::between(-0.05, 0.05),
        ),
    ]);
    checks.extend(resting(context)?);
    let points = |values: &[f64]| -> Vec<[f64; 2]> {
        let values = values.iter().enumerate();
        values.map(|(i, a)| [i as f64 + 0.5, *a]).collect()
    };
    Ok(Outcome {
        physics: "On a slope steeper than its steady friction allows, every layer of an infinite slab has the same acceleration g cos θ \
                  (tan θ − μ_ss); on a gentler one it rests."
            .into(),
        setup: "Periodic, 8 (× 8) cells wide, 20 deep, sticky base, isotropic start. Triaxial cone, φ = 25°: μ_ss = 3α/√2 = \
                0.568 in 3D, flows above 29.6°."
            .into(),
        reference: "Derived from the cone of [Klar16]. Evaluated from the tenth cell on: below, the numerical viscosity of the \
                    transfers couples layers to the sticky base.".into(),
        plots: vec![
            Plot::new(
                "Acceleration of the layers at 35°",
                Axis::new("height above the base [cells]"),
                Axis::new("acceleration [m/s²]"),
            )
            .with_level_band("± 5 %, judged", 9.0, 19.0, 0.95 * exact, 1.05 * exact)
            .with(Style::Reference, "g cos θ (tan θ − μ_ss)", &[[0.0, exact], [19.0, exact]])
            .with(Style::Points, "mpm, φ = 25°", &points(&layers))
            .with(Style::Control, "control: φ = 20°", &points(&softer)),
        ],
        checks,
        notes: vec![],
    })
}
