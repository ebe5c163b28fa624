//! `pbd`: position-based grains.

use super::{Family, Settings, SolverSettings};
use crate::format::{Builder, Key, Kind, Range, Table, keys};
use crate::model::{Dimensions, Law, Sampling, Scene};
use serde::Deserialize;

/// Position-based grains.
pub static PBD: Family = Family {
    name: "pbd",
    summary: "Position-based grains with contacts and friction, in real time",
    resolution: "mean diameter of the grains",
    // One step per frame.
    frame_rate: 60.0,
    sampling: Sampling::Poisson,
    live: &["friction_angle"],
    wetting: false,
    columns: &[],
    voxel: 0.25,
    keys: KEYS,
    material_keys: MATERIAL_KEYS,
    read,
    read_material,
    idle,
};

/// Settings of the position-based solver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PbdSpec {
    /// Mean radius of the grains [m]: half the resolution.
    pub radius: f64,
    /// Radii are uniformly distributed in radius · (1 ± spread), in [0, 0.5].
    pub spread: f64,
    /// Iterations over the contacts in a substep.
    pub iterations: u32,
    /// Substeps per step; contacts are detected once per step.
    pub substeps: u32,
    /// Time step [s].
    pub dt: f64,
    /// How the corrections of a grain's contacts are combined.
    pub scheme: PbdScheme,
    /// Friction model of contacts between grains.
    pub friction: PbdFriction,
    /// ε of the error-reduction weights, in [0, 1].
    pub error_reduction: f64,
    /// Displacement in a step below which a grain sleeps [m]; `None`: 0 with mass splitting, else a tenth of the free-fall
    /// displacement.
    pub sleep: Option<f64>,
}

impl PbdSpec {
    /// Default `dt` [s].
    pub const DEFAULT_DT: f64 = 1.0 / 60.0;

    /// The default settings of a scheme.
    fn with_scheme(resolution: f64, scheme: PbdScheme) -> Self {
        // Mass splitting converges better with substeps of one iteration than with many iterations; [Holz14] has no substeps.
        let (substeps, iterations) = match scheme {
            PbdScheme::MassSplitting => (10, 1),
            _ => (1, 10),
        };
        Self {
            radius: 0.5 * resolution,
            spread: 0.15,
            iterations,
            substeps,
            dt: Self::DEFAULT_DT,
            scheme,
            friction: PbdFriction::Coulomb,
            error_reduction: match scheme {
                PbdScheme::Averaged => 0.5,
                _ => 0.0,
            },
            sleep: None,
        }
    }
}

impl SolverSettings for PbdSpec {
    fn defaults(resolution: f64, _: Dimensions) -> Self {
        Self::with_scheme(resolution, PbdScheme::MassSplitting)
    }
}

/// How the corrections of a grain's contacts are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PbdScheme {
    /// A grain moves by the mean of the corrections of its contacts (Jacobi).
    Averaged,
    /// The mass of a grain is split among its contacts, so that the corrections can be summed.
    #[serde(rename = "mass splitting")]
    MassSplitting,
    /// Contacts are corrected one after another, each seeing the corrections before it.
    GaussSeidel,
}

/// Friction model of contacts between grains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PbdFriction {
    /// Coulomb's cone on the correction accumulated over a step.
    Coulomb,
    /// Limited by the penetration found in each iteration, after [Macklin14].
    Macklin,
}

/// Contact parameters of grains of a material. `None`: derived from the material and the grain size.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PbdMaterial {
    /// Friction angle of a contact [degrees]; `None`: the angle for which a heap has the material's friction angle as its slope.
    pub contact_friction_angle: Option<f64>,
    /// Static friction angle of a contact [degrees]; `None`: the contact friction angle.
    pub static_friction_angle: Option<f64>,
    /// Adhesive stress over the contact area [Pa]; `None`: the cohesion.
    pub adhesion: Option<f64>,
    /// Stiffness of the contact spring [N/m]; `None`: Young's modulus times the mean diameter of a grain.
    pub stiffness: Option<f64>,
    /// Damping of the contact [N s/m]; `None`: critical for two mean grains.
    pub damping: Option<f64>,
}

static KEYS: &[Key] = &keys! {
    /// Spread of the radii, which are uniformly distributed in radius (1 ± spread)
    radius_spread: Kind::Number(Range::closed(0.0, 0.5)), default("0.15");
    /// Time step [s]; 1/60 when left out
    dt: Kind::Number(Range::closed(1e-6, 1.0));
    /// Substeps of a step, which share the contacts detected in it; 10 with scheme = "mass splitting", else 1, when left out
    substeps: Kind::Integer(Range::closed(1.0, 1000.0));
    /// Iterations over the contacts in a substep; 1 with scheme = "mass splitting", else 10, when left out
    iterations: Kind::Integer(Range::closed(1.0, 1000.0));
    /// How the corrections of a grain's contacts are combined
    scheme: Kind::Choice(&["mass splitting", "averaged", "gauss-seidel"]), default("\"mass splitting\"");
    /// Friction model of contacts between grains
    friction_model: Kind::Choice(&["coulomb", "macklin"]), default("\"coulomb\"");
    /// Fraction by which the upper grain of a contact is corrected more and the lower one less; 0.5 with scheme = "averaged", else 0, when left out
    error_reduction: Kind::Number(Range::closed(0.0, 1.0));
    /// Displacement in a step below which a grain sleeps [m]; 0 with scheme = "mass splitting", else a tenth of the free-fall displacement, when left out
    sleep_threshold: Kind::Number(Range::closed(0.0, 1.0));
};

const ANGLE: Kind = Kind::Number(Range::closed(0.0, 90.0).below_high());

static MATERIAL_KEYS: &[Key] = &keys! {
    /// Friction angle of a contact [degrees]; when left out, the angle for which a heap has `friction_angle` as its slope
    contact_friction_angle: ANGLE, slider(0.0, 60.0);
    /// Static friction angle of a contact [degrees]; the contact friction angle when left out
    static_friction_angle: ANGLE, slider(0.0, 60.0);
    /// Adhesive stress over the contact area [Pa]; the cohesion when left out
    adhesion: Kind::Number(Range::closed(0.0, 1e12)), slider(0.0, 5e4);
    /// Stiffness of a contact [N/m]; Young's modulus times the mean diameter when left out
    stiffness: Kind::Number(Range::positive(1e12)), slider(1e2, 1e7);
    /// Damping of a contact [N s/m]; critical when left out
    damping: Kind::Number(Range::closed(0.0, 1e12)), slider(0.0, 1e3);
};

fn read(_: &mut Builder<'_>, table: &Table, resolution: f64) -> Settings {
    let scheme = table.choice("scheme").unwrap_or(PbdScheme::MassSplitting);
    let default = PbdSpec::with_scheme(resolution, scheme);
    let number = |key: &str, default: f64| table.number(key).unwrap_or(default);
    Settings::of(PbdSpec {
        spread: number("radius_spread", default.spread),
        iterations: table.count("iterations").unwrap_or(default.iterations),
        substeps: table.count("substeps").unwrap_or(default.substeps),
        dt: number("dt", default.dt),
        friction: table.choice("friction_model").unwrap_or(default.friction),
        error_reduction: number("error_reduction", default.error_reduction),
        sleep: table.number("sleep_threshold"),
        ..default
    })
}

fn read_material(_: &mut Builder<'_>, table: &Table, _: &Law) -> Settings {
    Settings::of(PbdMaterial {
        contact_friction_angle: table.number("contact_friction_angle"),
        static_friction_angle: table.number("static_friction_angle"),
        adhesion: table.number("adhesion"),
        stiffness: table.number("stiffness"),
        damping: table.number("damping"),
    })
}

fn idle(scene: &Scene) -> Option<[&'static str; 3]> {
    let spec: PbdSpec = scene.settings();
    let idle = spec.scheme == PbdScheme::MassSplitting && spec.error_reduction > 0.0;
    idle.then_some([
        "solver.pbd.error_reduction",
        "`error_reduction` has no effect with scheme = \"mass splitting\"",
        "leave it out, or choose scheme = \"averaged\"",
    ])
}
