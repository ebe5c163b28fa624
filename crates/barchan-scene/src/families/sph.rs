//! `sph`: smoothed particle hydrodynamics.

use super::{Family, Settings, SolverSettings};
use crate::format::{Builder, Key, Kind, MAX_SPEED, Range, Table, keys};
use crate::model::{Dimensions, Law, Sampling, Scene};
use serde::Deserialize;

/// Smoothed particle hydrodynamics.
pub static SPH: Family = Family {
    name: "sph",
    summary: "Smoothed particle hydrodynamics: pressure and friction of sand as a fluid, dry and wet",
    resolution: "particle spacing at rest",
    frame_rate: Scene::DEFAULT_FRAME_RATE,
    // Particles start at rest density.
    sampling: Sampling::Lattice,
    live: &["friction_angle", "cohesion", "wet_cohesion"],
    wetting: true,
    columns: &[],
    voxel: 0.25,
    keys: KEYS,
    material_keys: MATERIAL_KEYS,
    read,
    read_material,
    idle: |_| None,
};

/// Settings of smoothed particle hydrodynamics.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SphSpec {
    /// Half the particle spacing d0 at rest [m]: half the resolution.
    pub radius: f64,
    /// Largest time step [s].
    pub max_dt: f64,
    /// Fraction of the spacing that the fastest particle may travel in a step.
    pub cfl: f64,
    /// Minimum number of pressure and friction iterations in a step.
    pub iterations: u32,
    /// Tolerances at which the loop stops; `None`: it stops after `iterations`.
    pub tolerance: Option<SphTolerance>,
    /// How frictional stress is projected onto the yield cone.
    pub yielding: SphYield,
    /// Whether frictional stress is kept from step to step, as static friction requires.
    pub static_friction: bool,
    /// Friction model of particles against bodies.
    pub wall_friction: SphWalls,
    /// Whether particles without pressure collide as individual grains.
    pub discrete_forces: bool,
    /// Numerical speed of sound c_s, which scales the artificial viscosity [m/s].
    pub sound_speed: f64,
    /// Speed below which a particle sleeps [m/s]; 0: never.
    pub sleep_velocity: f64,
    /// Acceleration that wakes a sleeping particle [m/s²].
    pub wake_acceleration: f64,
}

impl SphSpec {
    /// Default `cfl`.
    pub const DEFAULT_CFL: f64 = 0.4;
    /// Ratio of the spacing to the default `max_dt` [m/s]: 1 ms for grains of radius 25 mm, as in [Ihmsen13].
    pub const DEFAULT_PACE: f64 = 50.0;

    /// Particle spacing d0 at rest [m].
    pub fn spacing(&self) -> f64 {
        2.0 * self.radius
    }
}

impl SolverSettings for SphSpec {
    fn defaults(resolution: f64, _: Dimensions) -> Self {
        Self {
            radius: 0.5 * resolution,
            max_dt: resolution / Self::DEFAULT_PACE,
            cfl: Self::DEFAULT_CFL,
            iterations: 3,
            tolerance: None,
            yielding: SphYield::Radial,
            static_friction: true,
            wall_friction: SphWalls::Coulomb,
            discrete_forces: true,
            sound_speed: 30.0,
            sleep_velocity: 0.0,
            wake_acceleration: 2.0,
        }
    }
}

/// Tolerances of the pressure and friction loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SphTolerance {
    /// Largest compression, as a fraction of the rest density.
    pub density: f64,
    /// Largest change of the frictional stress in an iteration, as a fraction of the largest pressure.
    pub stress: f64,
    /// Maximum number of iterations.
    pub max_iterations: u32,
}

/// How frictional stress is projected onto the yield cone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SphYield {
    /// ŝ ← ŝ min(1, √2 sin θ p/‖ŝ‖).
    Radial,
    /// Each component clamped separately, as printed in [Ihmsen13] Eq. 13.
    #[serde(rename = "per component")]
    PerComponent,
}

/// Friction model of particles against bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SphWalls {
    /// Coulomb friction with the body's coefficient.
    Coulomb,
    /// The larger of frictional stress and artificial viscosity, [Ihmsen13] Eq. 18–21.
    Viscous,
}

/// Viscosity and cohesion of a material, dry and wet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SphMaterial {
    /// Artificial viscosity σ of the dry material.
    pub viscosity: f64,
    /// Cohesion intensity κ of the dry material [m³/(kg s²)]; `None`: from the cohesion of the law.
    pub cohesion_intensity: Option<f64>,
    /// Artificial viscosity of the wet material; `None`: that of the dry one.
    pub wet_viscosity: Option<f64>,
    /// Cohesion intensity of the wet material [m³/(kg s²)]; `None`: from its cohesion.
    pub wet_cohesion_intensity: Option<f64>,
}

impl Default for SphMaterial {
    fn default() -> Self {
        Self {
            // That of dry sand in [Ihmsen13].
            viscosity: 0.01,
            cohesion_intensity: None,
            wet_viscosity: None,
            wet_cohesion_intensity: None,
        }
    }
}

static KEYS: &[Key] = &keys! {
    /// Largest time step [s]; resolution/50 when left out
    max_dt: Kind::Number(Range::positive(1.0));
    /// Fraction of the particle spacing that the fastest particle may travel in a step
    cfl: Kind::Number(Range::positive(1.0)), default("0.4");
    /// Minimum number of pressure and friction iterations in a step
    iterations: Kind::Integer(Range::closed(1.0, 1000.0)), default("3");
    /// Largest compression at which the iterations stop, as a fraction of the rest density; always `iterations` of them when left out
    density_error: Kind::Number(Range::positive(1.0));
    /// Largest change of frictional stress at which the iterations stop, as a fraction of the largest pressure
    stress_error: Kind::Number(Range::positive(1e3)), default("0.01");
    /// Maximum number of iterations with `density_error`
    max_iterations: Kind::Integer(Range::closed(1.0, 10000.0)), default("50");
    /// Projection of frictional stress onto the yield cone; "per component" depends on the axes
    yield: Kind::Choice(&["radial", "per component"]), default("\"radial\"");
    /// Whether frictional stress is kept from step to step, so that heaps stay at rest
    static_friction: Kind::Flag, default("true");
    /// Friction against bodies: Coulomb's with their coefficient, or by frictional stress and artificial viscosity
    wall_friction: Kind::Choice(&["coulomb", "viscous"]), default("\"coulomb\"");
    /// Whether particles without pressure collide as individual grains
    discrete_forces: Kind::Flag, default("true");
    /// Numerical speed of sound, which scales the artificial viscosity [m/s]
    sound_speed: Kind::Number(Range::positive(MAX_SPEED)), default("30");
    /// Speed below which a particle sleeps [m/s]; 0: never
    sleep_velocity: Kind::Number(Range::closed(0.0, MAX_SPEED)), default("0");
    /// Acceleration that wakes a sleeping particle [m/s²]
    wake_acceleration: Kind::Number(Range::closed(0.0, MAX_SPEED)), default("2");
};

const VISCOSITY: Kind = Kind::Number(Range::closed(0.0, 100.0));
const INTENSITY: Kind = Kind::Number(Range::closed(0.0, 1e12));

static MATERIAL_KEYS: &[Key] = &keys! {
    /// Artificial viscosity
    viscosity: VISCOSITY, default("0.01"), slider(0.0, 1.0);
    /// Cohesion intensity [m³/(kg s²)]; follows from the cohesion when left out
    cohesion_intensity: INTENSITY, slider(0.0, 2.0);
    /// Artificial viscosity of the wet material; that of the dry one when left out
    wet_viscosity: VISCOSITY, slider(0.0, 1.0);
    /// Cohesion intensity of the wet material [m³/(kg s²)]; follows from the wet cohesion when left out
    wet_cohesion_intensity: INTENSITY, slider(0.0, 2.0);
};

fn read(builder: &mut Builder<'_>, table: &Table, resolution: f64) -> Settings {
    let default = SphSpec::defaults(resolution, builder.dimensions);
    let number = |key: &str, default: f64| table.number(key).unwrap_or(default);
    let iterations = table.count("iterations").unwrap_or(default.iterations);
    let tolerance = table.number("density_error").map(|density| SphTolerance {
        density,
        stress: number("stress_error", 0.01),
        max_iterations: table.count("max_iterations").unwrap_or(50).max(iterations),
    });
    if !table.has("density_error") {
        for key in ["stress_error", "max_iterations"] {
            builder.useless(table, key, "without `density_error`");
        }
    }
    Settings::of(SphSpec {
        max_dt: number("max_dt", default.max_dt),
        cfl: number("cfl", default.cfl),
        iterations,
        tolerance,
        yielding: table.choice("yield").unwrap_or(default.yielding),
        static_friction: table.flag("static_friction").unwrap_or(true),
        wall_friction: table
            .choice("wall_friction")
            .unwrap_or(default.wall_friction),
        discrete_forces: table.flag("discrete_forces").unwrap_or(true),
        sound_speed: number("sound_speed", default.sound_speed),
        sleep_velocity: number("sleep_velocity", default.sleep_velocity),
        wake_acceleration: number("wake_acceleration", default.wake_acceleration),
        ..default
    })
}

fn read_material(_: &mut Builder<'_>, table: &Table, _: &Law) -> Settings {
    let default = SphMaterial::default();
    Settings::of(SphMaterial {
        viscosity: table.number("viscosity").unwrap_or(default.viscosity),
        cohesion_intensity: table.number("cohesion_intensity"),
        wet_viscosity: table.number("wet_viscosity"),
        wet_cohesion_intensity: table.number("wet_cohesion_intensity"),
    })
}
