//! The scene as solvers see it: validated, complete, free of file syntax. SI units, y up.
//!
//! Every value here is finite and inside its physical range; `format` has refused everything else.

use crate::bodies::{Body, Joint};
use crate::camera::Camera;
use crate::colour::{Colour, ColourMix};
use crate::errors::SourceMark;
use crate::geometry::{Bounds, Geometry};
use crate::motion::{Gravity, Motion};
use crate::terrain::TerrainSpec;
use glam::Vec3;
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
    /// Everything that is not grains and moves as scripted.
    pub colliders: Vec<Collider>,
    /// Rigid bodies.
    pub bodies: Vec<Body>,
    /// What holds bodies together.
    pub joints: Vec<Joint>,
    /// Regions that remove particles.
    pub drains: Vec<Drain>,
    /// Regions where grains turn wet or dry.
    pub wettings: Vec<Wetting>,
    /// Soil at rest that turns into grains where a body cuts it.
    pub terrain: Option<TerrainSpec>,
    /// The solver and its settings.
    pub solver: SolverSpec,
    /// Where it wants to be looked at from; `None`: framed automatically.
    pub camera: Option<Camera>,
    /// Columns that frames hold beside the usual ones, each once.
    pub columns: Vec<OutputColumn>,
    /// What must hold at the end for the scene to count as a passed test.
    pub check: FinalCheck,
    /// Mesh files that the shapes were made from, each once, and the picture of the terrain.
    pub meshes: Vec<MeshFile>,
    /// The scene file after `--scale` and `--set`, as TOML: reading it gives this scene again.
    pub document: String,
}

impl Scene {
    /// `frame_rate` when the file has none [1/s].
    pub const USUAL_FRAME_RATE: f64 = 48.0;
}

/// Number of space dimensions. A 2D scene lives in the plane z = 0; its masses and volumes are those of a slab 1 m thick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimensions {
    /// The plane z = 0.
    Two,
    /// Space.
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
    /// What two of its grains do where they touch, for solvers that know grains.
    pub contact: Contact,
    /// What it has beyond its law in `sph`, dry and wet.
    pub moisture: Moisture,
    /// Colours of its grains in pictures.
    pub colour: ColourMix,
}

/// Contact of two grains. What is `None` follows from the law and the size of the grains.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Contact {
    /// Angle of friction between two grains [degrees]; `None`: see [`Material::contact_friction_angle`].
    pub friction_angle: Option<f64>,
    /// Angle up to which grains at rest stay [degrees]; `None`: that of friction between two grains.
    pub static_friction_angle: Option<f64>,
    /// Adhesive stress over the contact area [Pa]; `None`: the cohesion.
    pub adhesion: Option<f64>,
    /// Stiffness of the contact spring [N/m]; `None`: Young's modulus times the mean diameter of a grain.
    pub stiffness: Option<f64>,
    /// Damping of the contact [N s/m]; `None`: critical for two mean grains.
    pub damping: Option<f64>,
}

/// Stickiness and thickness of sand in `sph`, dry and wet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moisture {
    /// Artificial viscosity σ of the dry material.
    pub viscosity: f64,
    /// Cohesion intensity κ of the dry material [m³/(kg s²)]; `None`: from the cohesion of the law.
    pub cohesion_intensity: Option<f64>,
    /// Artificial viscosity of the wet material; `None`: that of the dry one.
    pub wet_viscosity: Option<f64>,
    /// Cohesion of the wet material [Pa]; `None`: that of the dry one.
    pub wet_cohesion: Option<f64>,
    /// Cohesion intensity of the wet material [m³/(kg s²)]; `None`: from its cohesion.
    pub wet_cohesion_intensity: Option<f64>,
}

impl Moisture {
    /// `viscosity` when the scene has none: that of dry sand in [Ihmsen13].
    pub const USUAL_VISCOSITY: f64 = 0.01;
}

impl Default for Moisture {
    fn default() -> Self {
        Self {
            viscosity: Self::USUAL_VISCOSITY,
            cohesion_intensity: None,
            wet_viscosity: None,
            wet_cohesion: None,
            wet_cohesion_intensity: None,
        }
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

/// Parameters of Drucker–Prager sand.
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
    /// How the friction angle becomes the slope α of the cone.
    pub cone: ConeMatch,
    /// Remember volume gained in tension so that recompression starts at the original volume.
    pub volume_correction: bool,
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

/// Which test the cone must match Mohr–Coulomb in; see docs/solvers/mpm.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConeMatch {
    /// α = √(2/3)·2 sin φ/(3 − sin φ): triaxial compression, the default in 3D.
    Triaxial,
    /// α = √2 sin φ/3 in 3D, sin φ/√2 in 2D: plane strain; the default in 2D.
    PlaneStrain,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElasticModel {
    /// τ = μ(b − I) + λ ln J I.
    NeoHookean,
    /// τ = 2μ(V² − V) + λ(J − 1)J I, with V = √b.
    FixedCorotated,
    /// τ = 2μ ln V + λ ln J I: the law of the sand without its plasticity.
    Hencky,
}

/// The state that a scene begins with: that of an earlier result. Nothing of it has been read yet.
#[derive(Debug, Clone)]
pub struct Start {
    /// Result directory, as the scene file has it.
    pub result: String,
    /// The same, relative to where the program runs.
    pub path: PathBuf,
    /// Frame at whose end the state is taken; `None`: the last.
    pub frame: Option<u32>,
    /// Where the scene file names the result.
    pub result_mark: SourceMark,
    /// Where the scene file names the frame, or else the result.
    pub frame_mark: SourceMark,
}

/// A mesh file and what was in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeshFile {
    /// Path, as the scene file has it.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sampling {
    /// Poisson disk.
    #[default]
    Poisson,
    /// Regular lattice aligned with the grid cells.
    Lattice,
}

/// An inflow: the cross-section of `shape` through its centre, perpendicular to `velocity`, is the mouth.
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
    /// Mass rate [kg/s] (kg/s per metre of depth in 2D); `None`: as dense as the material at rest.
    pub rate: Option<f64>,
    /// First moment of emission [s].
    pub start: f64,
    /// Last moment of emission [s]; infinite when open-ended.
    pub end: f64,
}

/// A body that is not grains: scripted, one-way.
#[derive(Debug, Clone)]
pub struct Collider {
    /// Name for messages and the force record.
    pub name: String,
    /// Shape in the body's own frame (the frame of `motion`).
    pub shape: Geometry,
    /// World from body, over time.
    pub motion: Motion,
    /// What grains may do at the surface.
    pub boundary: Boundary,
    /// Coulomb coefficient between grains and the surface.
    pub friction: f64,
    /// How pictures show it; `None`: the renderer decides.
    pub look: Option<Look>,
    /// Its colour in pictures; `None`: the renderer decides.
    pub colour: Option<Colour>,
}

/// How pictures show a collider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// As an opaque body.
    Solid,
    /// As clear glass.
    Glass,
    /// Opaque, without the part that stands between the camera and the grains.
    Cutaway,
    /// Not at all.
    Hidden,
}

/// What grains may do at the surface of a collider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// First moment of removal [s].
    pub start: f64,
    /// Last moment of removal [s]; infinite when open-ended.
    pub end: f64,
}

/// A region where grains turn wet, or dry.
#[derive(Debug, Clone)]
pub struct Wetting {
    /// Name for messages.
    pub name: String,
    /// Region; `None`: everywhere.
    pub shape: Option<Geometry>,
    /// Wetness gained in a second, from dry (0) to wet (1) [1/s]; negative: lost.
    pub rate: f64,
    /// First moment [s].
    pub start: f64,
    /// Last moment [s]; infinite when open-ended.
    pub end: f64,
}

/// The solver and its settings.
#[derive(Debug, Clone)]
pub enum SolverSpec {
    /// Material point method.
    Mpm(MpmSpec),
    /// Position-based grains.
    Pbd(PbdSpec),
    /// Smoothed particle hydrodynamics.
    Sph(SphSpec),
}

impl SolverSpec {
    /// Name in the scene file and in results.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Mpm(_) => "mpm",
            Self::Pbd(_) => "pbd",
            Self::Sph(_) => "sph",
        }
    }

    /// The length that the resolution is named after [m]: the grid spacing, or the mean diameter of a grain.
    pub fn length(&self) -> f64 {
        match self {
            Self::Mpm(spec) => spec.dx,
            Self::Pbd(spec) => 2.0 * spec.radius,
            Self::Sph(spec) => spec.spacing(),
        }
    }
}

/// Settings of the position-based solver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PbdSpec {
    /// Mean radius of the grains [m].
    pub radius: f64,
    /// Radii are spread evenly over radius · (1 ± spread), in [0, 0.5].
    pub spread: f64,
    /// Passes over the contacts in a substep.
    pub iterations: u32,
    /// Substeps of a step; contacts are found once a step.
    pub substeps: u32,
    /// Time step [s].
    pub dt: f64,
    /// How the corrections of many contacts become one motion.
    pub scheme: PbdScheme,
    /// How grains rub.
    pub friction: PbdFriction,
    /// ε of the error-reduction weights, in [0, 1].
    pub error_reduction: f64,
    /// Displacement in a step below which a grain stays where it is [m]; `None`: 0 with mass splitting, else a tenth of what
    /// gravity gives.
    pub sleep: Option<f64>,
}

impl PbdSpec {
    /// `dt` when the scene has none [s].
    pub const USUAL_DT: f64 = 1.0 / 60.0;
    /// Part of the volume of a bed that its grains take up: bulk density over grain density.
    pub const PACKING: f64 = 0.6;

    /// Mean of r³ [m³] (in 2D of r² [m²]).
    fn mean_power(&self, dimensions: Dimensions) -> f64 {
        let (r, s2) = (self.radius, self.spread * self.spread);
        match dimensions {
            Dimensions::Three => r.powi(3) * (1.0 + s2),
            Dimensions::Two => r.powi(2) * (1.0 + s2 / 3.0),
        }
    }

    /// Volume of a grain of that radius [m³]; in 2D of a rod 1 m long.
    pub fn grain_volume(radius: f64, dimensions: Dimensions) -> f64 {
        use std::f64::consts::PI;
        match dimensions {
            Dimensions::Three => 4.0 / 3.0 * PI * radius.powi(3),
            Dimensions::Two => PI * radius * radius,
        }
    }

    /// Part of the volume (2D: area) of a bed at rest that the grains of a fill take up.
    pub fn packing(dimensions: Dimensions) -> f64 {
        match dimensions {
            Dimensions::Three => Self::PACKING,
            Dimensions::Two => Self::FLAT_PACKING,
        }
    }

    /// The same for discs in the plane.
    pub const FLAT_PACKING: f64 = 0.8;

    /// Grains in a cubic metre (2D: a square metre) of a bed at rest.
    pub fn number_density(&self, dimensions: Dimensions) -> f64 {
        let unit = Self::grain_volume(1.0, dimensions);
        Self::packing(dimensions) / (unit * self.mean_power(dimensions))
    }
}

/// How the corrections of many contacts become one motion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PbdScheme {
    /// The mean of the corrections of a grain, all contacts side by side.
    Averaged,
    /// Every contact sees the share of its grains' masses: the corrections add up.
    MassSplitting,
    /// One contact after the other, each on what those before left.
    GaussSeidel,
}

/// How grains rub.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PbdFriction {
    /// Coulomb's cone on the corrections that a step has accumulated.
    Coulomb,
    /// In proportion to the penetration of each pass, after [Macklin14].
    Macklin,
}

/// Settings of smoothed particle hydrodynamics.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SphSpec {
    /// Half the distance d0 of particles at rest [m].
    pub radius: f64,
    /// Largest time step [s].
    pub max_dt: f64,
    /// Part of the spacing that the fastest particle may cross in a step.
    pub cfl: f64,
    /// Passes of the loop for pressure and friction in a step, at least.
    pub iterations: u32,
    /// Error at which the loop ends; `None`: after `iterations`.
    pub until: Option<SphError>,
    /// How friction stays within the yield cone.
    pub yielding: SphYield,
    /// Whether friction stress goes on from the last step: what rests, stays.
    pub static_friction: bool,
    /// How particles rub against bodies.
    pub wall_friction: SphWalls,
    /// Whether particles that press nobody meet as grains do.
    pub discrete_forces: bool,
    /// Speed of numerical propagation c_s, which scales viscosity [m/s].
    pub sound_speed: f64,
    /// Speed below which particles sleep [m/s]; 0: never.
    pub sleep_velocity: f64,
    /// Acceleration that wakes them [m/s²].
    pub wake_acceleration: f64,
}

impl SphSpec {
    /// Passes when the scene says nothing.
    pub const USUAL_ITERATIONS: u32 = 3;
    /// `cfl` when the scene has none.
    pub const USUAL_CFL: f64 = 0.4;
    /// Spacing over time step when the scene has no `max_dt` [m/s]: 1 ms for grains of radius 25 mm, as [Ihmsen13] has.
    pub const USUAL_PACE: f64 = 50.0;
    /// `sound_speed` when the scene has none [m/s].
    pub const USUAL_SOUND_SPEED: f64 = 30.0;
    /// `wake_acceleration` when the scene has none [m/s²].
    pub const USUAL_WAKE_ACCELERATION: f64 = 2.0;

    /// Distance d0 of particles at rest [m].
    pub fn spacing(&self) -> f64 {
        2.0 * self.radius
    }
}

/// When the loop of `sph` may end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SphError {
    /// Largest compression, as a part of the density at rest.
    pub density: f64,
    /// Largest change of the friction stress in a pass, as a part of the largest pressure.
    pub stress: f64,
    /// Passes at most.
    pub max_iterations: u32,
}

/// How friction stays within the yield cone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SphYield {
    /// ŝ ← ŝ min(1, √2 sin θ p/‖ŝ‖).
    Radial,
    /// Every component on its own, as printed in [Ihmsen13] Eq. 13.
    PerComponent,
}

/// How particles rub against bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SphWalls {
    /// Coulomb's cone with the friction of the body.
    Coulomb,
    /// The larger of frictional stress and artificial viscosity, [Ihmsen13] Eq. 18–21.
    Viscous,
}

/// Settings of the explicit material point method.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MpmSpec {
    /// Grid spacing h [m].
    pub dx: f64,
    /// Particles per grid cell at rest.
    pub particles_per_cell: f64,
    /// Interpolation kernel.
    pub kernel: Kernel,
    /// Particle–grid transfer.
    pub transfer: Transfer,
    /// Largest allowed time step [s].
    pub max_dt: f64,
    /// Part of a cell that the fastest particle may cross in a step, in (0, 1].
    pub cfl: f64,
    /// Part of a cell that an elastic wave may cross in a step.
    pub elastic_cfl: f64,
}

impl MpmSpec {
    /// `max_dt` when the scene has none [s].
    pub const USUAL_MAX_DT: f64 = 1e-3;
    /// `cfl` when the scene has none.
    pub const USUAL_CFL: f64 = 0.5;
    /// `elastic_cfl` when the scene has none.
    pub const USUAL_ELASTIC_CFL: f64 = 0.6;

    /// Whether the transfer compares the grid's velocity with the one before forces.
    pub fn needs_old_velocity(&self) -> bool {
        matches!(self.transfer, Transfer::FlipPic { flip } if flip > 0.0)
    }
}

/// B-spline degree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// Three nodes an axis.
    Quadratic,
    /// Four nodes an axis.
    Cubic,
}

/// Particle–grid transfer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Transfer {
    /// Affine particle-in-cell.
    Apic,
    /// `flip` parts FLIP, the rest PIC; 0 is pure PIC, 1 pure FLIP.
    FlipPic {
        /// FLIP part, in [0, 1].
        flip: f64,
    },
}

/// A column that frames hold only when the scene asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputColumn {
    /// `principal_stress`: principal Kirchhoff stresses [Pa].
    PrincipalStress,
    /// `hardening`: hardening state q.
    Hardening,
}

impl OutputColumn {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::PrincipalStress, Self::Hardening];
    /// Their names, in the same order.
    pub const NAMES: [&'static str; 2] = [Self::ALL[0].name(), Self::ALL[1].name()];

    /// Name in frames and in the scene file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PrincipalStress => "principal_stress",
            Self::Hardening => "hardening",
        }
    }
}

/// What must hold in the last frame; each bound is optional. `barchan run` exits with 1 when one fails.
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
    /// Part of the mass that must lie in a box, with the interval of that part.
    pub mass_in: Vec<MassIn>,
}

/// A region and the part of the final mass that must be in it.
#[derive(Debug, Clone, PartialEq)]
pub struct MassIn {
    /// Region.
    pub bounds: Bounds,
    /// Interval of the part, in [0, 1].
    pub part: [f64; 2],
}
