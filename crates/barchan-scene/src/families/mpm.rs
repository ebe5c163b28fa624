//! `mpm`: the explicit material point method.

use super::{Family, Settings, SolverSettings};
use crate::format::{Builder, Key, Kind, Range, Table, keys};
use crate::model::{Dimensions, Law, Sampling, Scene};
use serde::Deserialize;

/// The material point method.
pub static MPM: Family = Family {
    name: "mpm",
    summary: "Material point method: a continuum carried by particles, its forces on a grid",
    resolution: "grid spacing",
    frame_rate: Scene::DEFAULT_FRAME_RATE,
    sampling: Sampling::Poisson,
    live: &["young", "friction_angle", "cohesion"],
    wetting: false,
    columns: &["principal_stress", "hardening"],
    voxel: 0.5,
    keys: KEYS,
    material_keys: MATERIAL_KEYS,
    read,
    read_material,
    idle: |_| None,
};

/// Settings of the explicit material point method.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MpmSpec {
    /// Grid spacing h [m]: the resolution.
    pub dx: f64,
    /// Particles per grid cell at rest.
    pub particles_per_cell: f64,
    /// Interpolation kernel.
    pub kernel: Kernel,
    /// Particle–grid transfer.
    pub transfer: Transfer,
    /// Largest allowed time step [s].
    pub max_dt: f64,
    /// Fraction of a cell that the fastest particle may travel in a step, in (0, 1].
    pub cfl: f64,
    /// Fraction of a cell that an elastic wave may travel in a step.
    pub elastic_cfl: f64,
}

impl MpmSpec {
    /// Default `max_dt` [s].
    pub const DEFAULT_MAX_DT: f64 = 1e-3;
    /// Default `cfl`.
    pub const DEFAULT_CFL: f64 = 0.5;
    /// Default `elastic_cfl`.
    pub const DEFAULT_ELASTIC_CFL: f64 = 0.6;

    /// Whether the transfer needs the grid velocity from before the forces.
    pub fn needs_old_velocity(&self) -> bool {
        matches!(self.transfer, Transfer::FlipPic { flip } if flip > 0.0)
    }
}

impl SolverSettings for MpmSpec {
    fn defaults(resolution: f64, dimensions: Dimensions) -> Self {
        Self {
            dx: resolution,
            particles_per_cell: match dimensions {
                Dimensions::Two => 4.0,
                Dimensions::Three => 8.0,
            },
            kernel: Kernel::Quadratic,
            transfer: Transfer::Apic,
            max_dt: Self::DEFAULT_MAX_DT,
            cfl: Self::DEFAULT_CFL,
            elastic_cfl: Self::DEFAULT_ELASTIC_CFL,
        }
    }
}

/// B-spline degree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kernel {
    /// Three nodes per axis.
    Quadratic,
    /// Four nodes per axis.
    Cubic,
}

/// Particle–grid transfer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Transfer {
    /// Affine particle-in-cell.
    Apic,
    /// Blend of FLIP and PIC; 0 is pure PIC, 1 pure FLIP.
    FlipPic {
        /// Fraction of FLIP, in [0, 1].
        flip: f64,
    },
}

/// Test in which the cone matches Mohr–Coulomb; see docs/solvers/mpm.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ConeMatch {
    /// α = √(2/3)·2 sin φ/(3 − sin φ): triaxial compression, the default in 3D.
    Triaxial,
    /// α = √2 sin φ/3 in 3D, sin φ/√2 in 2D: plane strain; the default in 2D.
    #[serde(rename = "plane strain")]
    PlaneStrain,
}

/// Options of the law of sand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MpmMaterial {
    /// How the slope α of the cone follows from the friction angle; `None`: the default of [`Self::cone_in`].
    pub cone: Option<ConeMatch>,
    /// Remember volume gained in tension so that recompression starts at the original volume.
    pub volume_correction: bool,
}

impl MpmMaterial {
    /// The match of its cone in 2D or 3D.
    pub fn cone_in(self, dimensions: Dimensions) -> ConeMatch {
        self.cone.unwrap_or(match dimensions {
            Dimensions::Two => ConeMatch::PlaneStrain,
            Dimensions::Three => ConeMatch::Triaxial,
        })
    }
}

impl Default for MpmMaterial {
    fn default() -> Self {
        Self {
            cone: None,
            volume_correction: true,
        }
    }
}

static KEYS: &[Key] = &keys! {
    /// Number of particles in a grid cell at rest; 8 in 3D and 4 in 2D when left out
    particles_per_cell: Kind::Number(Range::closed(1.0, 512.0));
    /// Interpolation kernel
    kernel: Kind::Choice(&["quadratic", "cubic"]), default("\"quadratic\"");
    /// Velocity transfer between particles and grid
    transfer: Kind::Choice(&["apic", "flip", "pic"]), default("\"apic\"");
    /// Fraction of FLIP when transfer = "flip"; the rest is PIC
    flip: Kind::Number(Range::closed(0.0, 1.0)), default("0.95");
    /// Largest time step [s]
    max_dt: Kind::Number(Range::positive(1.0)), default("0.001");
    /// Fraction of a cell that the fastest particle may travel in a step
    cfl: Kind::Number(Range::positive(1.0)), default("0.5");
    /// Fraction of a cell that an elastic wave may travel in a step
    elastic_cfl: Kind::Number(Range::positive(1.5)), default("0.6");
};

static MATERIAL_KEYS: &[Key] = &keys! {
    /// Test in which the yield cone matches the friction angle; "triaxial" in 3D and "plane strain" in 2D when left out
    cone: Kind::Choice(&["triaxial", "plane strain"]);
    /// Whether volume gained in tension is remembered, so that recompression starts at the original volume
    volume_correction: Kind::Flag, default("true");
};

fn read(builder: &mut Builder<'_>, table: &Table, resolution: f64) -> Settings {
    let default = MpmSpec::defaults(resolution, builder.dimensions);
    let number = |key: &str, default: f64| table.number(key).unwrap_or(default);
    let transfer = match table.text("transfer") {
        Some("flip") => Transfer::FlipPic {
            flip: number("flip", 0.95),
        },
        other => {
            builder.useless(table, "flip", "unless transfer = \"flip\"");
            match other {
                Some("pic") => Transfer::FlipPic { flip: 0.0 },
                _ => default.transfer,
            }
        }
    };
    Settings::of(MpmSpec {
        dx: default.dx,
        particles_per_cell: number("particles_per_cell", default.particles_per_cell),
        kernel: table.choice("kernel").unwrap_or(default.kernel),
        transfer,
        max_dt: number("max_dt", default.max_dt),
        cfl: number("cfl", default.cfl),
        elastic_cfl: number("elastic_cfl", default.elastic_cfl),
    })
}

fn read_material(builder: &mut Builder<'_>, table: &Table, law: &Law) -> Settings {
    let default = MpmMaterial::default();
    if let Law::Elastic(_) = law {
        for key in MATERIAL_KEYS {
            builder.useless(table, key.name, "for an elastic material");
        }
    }
    Settings::of(MpmMaterial {
        cone: table.choice("cone"),
        volume_correction: table
            .flag("volume_correction")
            .unwrap_or(default.volume_correction),
    })
}
