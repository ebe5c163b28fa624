//! The scene as solvers see it: validated, complete, free of file syntax. SI units, y up.
//!
//! Every value here is finite and inside its physical range; `format` refuses all others.

use crate::bodies::{Body, Joint};
use crate::camera::Camera;
use crate::color::{Color, ColorMix};
use crate::errors::{Places, SourceMark};
use crate::families::{Settings, SettingsValue, SolverSpec};
use crate::geometry::{Bounds, Geometry};
use crate::motion::{Gravity, Motion};
use crate::terrain::TerrainSpec;
use glam::Vec3;
use serde::Deserialize;
use std::path::PathBuf;

/// A complete, validated description of what to simulate.
#[derive(Debug, Clone)]
pub struct Scene {
    /// Short name, used for the result directory.
    pub name: String,
    /// One or two sentences for `barchan scenes` and `barchan info`.
    pub description: String,
    /// Number of space dimensions.
    pub dimensions: Dimensions,
    /// Frames to write after the initial one (frame 0).
    pub frames: u32,
    /// Frames per simulated second [1/s].
    pub frame_rate: f64,
    /// Seed of every random choice.
    pub seed: u64,
    /// Box outside which particles are removed (and counted); `None`: unbounded.
    pub domain: Option<Bounds>,
    /// Axes along which the domain repeats; only with a domain.
    pub periodic: [bool; 3],
    /// Gravity over time.
    pub gravity: Gravity,
    /// Materials; fills and emitters refer to them by index.
    pub materials: Vec<Material>,
    /// Earlier result whose particles the scene begins with.
    pub start: Option<Start>,
    /// Regions filled with material at the start.
    pub fills: Vec<Fill>,
    /// Inflows.
    pub emitters: Vec<Emitter>,
    /// Scripted bodies.
    pub colliders: Vec<Collider>,
    /// Rigid bodies.
    pub bodies: Vec<Body>,
    /// Joints between bodies.
    pub joints: Vec<Joint>,
    /// Regions that remove particles.
    pub drains: Vec<Drain>,
    /// Regions where sand is wetted or dried.
    pub wettings: Vec<Wetting>,
    /// Soil at rest that turns into grains where a body cuts it.
    pub terrain: Option<TerrainSpec>,
    /// The solver and its settings.
    pub solver: SolverSpec,
    /// Camera; `None`: framed automatically.
    pub camera: Option<Camera>,
    /// Additional columns of frames, each once.
    pub columns: Vec<&'static str>,
    /// Conditions on the last frame for the scene to pass as a test.
    pub check: FinalCheck,
    /// Mesh files that the shapes were made from, each once, and the picture of the terrain.
    pub meshes: Vec<MeshFile>,
    /// The scene file after `--scale` and `--set`, as TOML; reading it yields the same scene.
    pub document: String,
    /// Where its keys stand in the text.
    pub places: Places,
}

impl Scene {
    /// Default frame rate [1/s].
    pub const DEFAULT_FRAME_RATE: f64 = 48.0;
}

/// Number of space dimensions. A 2D scene lies in the plane z = 0; its masses and volumes are those of a slab 1 m thick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimensions {
    /// The plane z = 0.
    Two,
    /// Three-dimensional space.
    Three,
}

impl Dimensions {
    /// `2` or `3`.
    pub fn count(self) -> usize {
        match self {
            Self::Two => 2,
            Self::Three => 3,
        }
    }
}

/// A named material.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// Name in the scene file.
    pub name: String,
    /// Bulk density at rest [kg/m³].
    pub density: f64,
    /// Constitutive law with its parameters.
    pub law: Law,
    /// Cohesion of the wet material [Pa]; `None`: that of the law.
    pub wet_cohesion: Option<f64>,
    /// Calibrations of families.
    pub settings: Settings,
    /// Colors of its grains in pictures.
    pub color: ColorMix,
}

impl Material {
    /// Its settings of a family; the defaults if it has none.
    pub fn settings<T: SettingsValue + Default>(&self) -> T {
        self.settings.get::<T>().cloned().unwrap_or_default()
    }
}

/// Constitutive laws.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Law {
    /// Drucker–Prager elastoplastic sand with Hencky elasticity.
    Sand(SandLaw),
    /// Hyperelastic solid.
    Elastic(ElasticLaw),
}

/// Parameters of sand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SandLaw {
    /// Young's modulus [Pa].
    pub young: f64,
    /// Poisson ratio, in (−1, 0.5).
    pub poisson: f64,
    /// Friction angle, constant or hardening.
    pub friction: Friction,
    /// Coulomb cohesion c [Pa] (Kirchhoff stress); 0 for dry sand.
    pub cohesion: f64,
}

/// Friction angle of sand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Friction {
    /// Constant angle [degrees], in [0, 90).
    Constant(f64),
    /// φ(q) = h0 + (h1 q − h3) e^(−h2 q), angles in degrees.
    Hardening {
        /// Asymptotic angle [degrees].
        h0: f64,
        /// Initial growth [degrees].
        h1: f64,
        /// Decay of the peak.
        h2: f64,
        /// Deficit at q = 0 [degrees].
        h3: f64,
    },
}

impl Friction {
    /// Friction angle at large strain, which hardening ends with [degrees].
    pub fn last_angle(self) -> f64 {
        match self {
            Self::Constant(angle) | Self::Hardening { h0: angle, .. } => angle,
        }
    }
}

/// Parameters of an elastic solid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ElasticLaw {
    /// Young's modulus [Pa].
    pub young: f64,
    /// Poisson ratio, in (−1, 0.5).
    pub poisson: f64,
    /// Strain energy.
    pub model: ElasticModel,
}

/// Hyperelastic energies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ElasticModel {
    /// τ = μ(b − I) + λ ln J I.
    NeoHookean,
    /// τ = 2μ(V² − V) + λ(J − 1)J I, with V = √b.
    #[serde(rename = "fixed corotated")]
    FixedCorotated,
    /// τ = 2μ ln V + λ ln J I: the law of the sand without its plasticity.
    Hencky,
}

/// The initial state of a scene that continues an earlier result; not read yet.
#[derive(Debug, Clone)]
pub struct Start {
    /// Result directory, as written in the scene file.
    pub result: String,
    /// The same, relative to the working directory.
    pub path: PathBuf,
    /// Frame at whose end the state is taken; `None`: the last.
    pub frame: Option<u32>,
    /// Place of `result` in the scene file.
    pub result_mark: SourceMark,
    /// Place of `frame` in the scene file, or of `result` without it.
    pub frame_mark: SourceMark,
}

/// A mesh file and a digest of its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeshFile {
    /// Path, as written in the scene file.
    pub file: String,
    /// blake3 (hexadecimal) of the vertices and triangles read from it.
    pub digest: String,
}

/// A region filled with material at t = 0.
#[derive(Debug, Clone)]
pub struct Fill {
    /// Name for messages and statistics.
    pub name: String,
    /// Region.
    pub shape: Geometry,
    /// Index into [`Scene::materials`].
    pub material: usize,
    /// Initial velocity [m/s].
    pub velocity: Vec3,
    /// Initial angular velocity about `spin_center` [rad/s].
    pub spin: Vec3,
    /// Point that the spin turns about [m].
    pub spin_center: Vec3,
    /// How particles are placed.
    pub sampling: Sampling,
}

/// How a region becomes particles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sampling {
    /// Poisson disk.
    #[default]
    Poisson,
    /// Regular lattice aligned with the grid cells.
    Lattice,
}

/// An inflow: the cross-section of `shape` through its center, perpendicular to `velocity`, is the mouth.
#[derive(Debug, Clone)]
pub struct Emitter {
    /// Name for messages and statistics.
    pub name: String,
    /// The mouth.
    pub shape: Geometry,
    /// Index into [`Scene::materials`].
    pub material: usize,
    /// Velocity at which grains leave [m/s], not zero.
    pub velocity: Vec3,
    /// Mass rate [kg/s] (kg/s per meter of depth in 2D); `None`: as dense as the material at rest.
    pub rate: Option<f64>,
    /// Start of emission [s].
    pub start: f64,
    /// End of emission [s]; infinite when open-ended.
    pub end: f64,
}

/// A scripted body: grains do not affect its motion.
#[derive(Debug, Clone)]
pub struct Collider {
    /// Name for messages and the force record.
    pub name: String,
    /// Shape in the body's own frame (the frame of `motion`).
    pub shape: Geometry,
    /// World from body, over time.
    pub motion: Motion,
    /// Boundary condition for grains at the surface.
    pub boundary: Boundary,
    /// Coulomb coefficient between grains and the surface.
    pub friction: f64,
    /// How pictures show it; `None`: the renderer decides.
    pub look: Option<Look>,
    /// Its color in pictures; `None`: the renderer decides.
    pub color: Option<Color>,
}

/// How pictures show a collider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Look {
    /// As an opaque body.
    Solid,
    /// As clear glass.
    Glass,
    /// Opaque, without the part between the camera and the grains.
    Cutaway,
    /// Not at all.
    Hidden,
}

/// Boundary condition for grains at the surface of a collider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Boundary {
    /// Move with the body.
    Sticky,
    /// Slide, never separate once inside.
    Slipping,
    /// Slide and separate freely.
    Separating,
}

/// A region that removes the particles inside it.
#[derive(Debug, Clone)]
pub struct Drain {
    /// Name for messages and statistics.
    pub name: String,
    /// Region.
    pub shape: Geometry,
    /// Start of removal [s].
    pub start: f64,
    /// End of removal [s]; infinite when open-ended.
    pub end: f64,
}

/// A region where sand is wetted or dried.
#[derive(Debug, Clone)]
pub struct Wetting {
    /// Name for messages.
    pub name: String,
    /// Region; `None`: everywhere.
    pub shape: Option<Geometry>,
    /// Change of wetness per second, from dry (0) to wet (1) [1/s]; negative to dry.
    pub rate: f64,
    /// Start [s].
    pub start: f64,
    /// End [s]; infinite when open-ended.
    pub end: f64,
}

/// Conditions on the last frame; each bound is optional. `barchan run` exits with 1 when one fails.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FinalCheck {
    /// Fastest particle [m/s] is at most this.
    pub max_speed: Option<f64>,
    /// Interval of the slope angle [degrees].
    pub slope_angle_deg: Option<[f64; 2]>,
    /// Interval of the run-out [m].
    pub runout_m: Option<[f64; 2]>,
    /// Interval of the highest point [m].
    pub height_m: Option<[f64; 2]>,
    /// Boxes with the interval of the fraction of the mass that must lie in each.
    pub mass_in: Vec<MassIn>,
}

/// A region and the fraction of the final mass that must be in it.
#[derive(Debug, Clone, PartialEq)]
pub struct MassIn {
    /// Region.
    pub bounds: Bounds,
    /// Interval of the fraction, in [0, 1].
    pub part: [f64; 2],
}
