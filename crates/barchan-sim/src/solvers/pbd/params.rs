//! Contact parameters of materials and of pairs of materials.

use super::contact::contact_area;
use crate::sampling::{grain_volume, solid_fraction};
use crate::solver::SolverError;
use crate::solvers::refusal;
use barchan_scene::{Dimensions, Friction, Law, Material, PbdMaterial, PbdScheme, PbdSpec};

/// Parameters of a contact between two materials.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactParameters {
    /// Stiffness [N/m].
    pub stiffness: f64,
    /// Damping [N s/m].
    pub damping: f64,
    /// Coefficient of static friction.
    pub static_friction: f64,
    /// Coefficient of kinetic friction.
    pub kinetic_friction: f64,
    /// Adhesive stress [Pa].
    pub adhesion: f64,
}

impl ContactParameters {
    /// Adhesive force [N] at a penetration [m].
    pub fn adhesive_force(&self, penetration: f64, smaller_radius: f64) -> f64 {
        self.adhesion * contact_area(penetration, smaller_radius)
    }

    /// Springs in series, geometric mean of the adhesion (none if one side has none), arithmetic mean of the rest.
    fn mix(&self, other: &Self) -> Self {
        Self {
            stiffness: 2.0 * self.stiffness * other.stiffness / (self.stiffness + other.stiffness),
            damping: 0.5 * (self.damping + other.damping),
            static_friction: 0.5 * (self.static_friction + other.static_friction),
            kinetic_friction: 0.5 * (self.kinetic_friction + other.kinetic_friction),
            adhesion: (self.adhesion * other.adhesion).sqrt(),
        }
    }
}

/// Parameters of a material in `pbd`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GrainLaw {
    /// Density of the solid [kg/m³].
    pub density: f64,
    /// Contact of two grains of the material.
    pub contact: ContactParameters,
}

impl GrainLaw {
    /// Law for a material. Refuses materials other than sand.
    pub fn new(
        material: &Material,
        spec: &PbdSpec,
        dimensions: Dimensions,
    ) -> Result<Self, SolverError> {
        let PbdMaterial {
            contact_friction_angle: Some(angle),
            static_friction_angle: Some(static_angle),
            adhesion: Some(adhesion),
            stiffness: Some(stiffness),
            damping: Some(damping),
        } = contact_settings(material, spec, dimensions)
        else {
            return Err(refusal::elastic(&super::METHOD, material));
        };
        Ok(Self {
            density: material.density / solid_fraction(dimensions),
            contact: ContactParameters {
                stiffness,
                damping,
                static_friction: static_angle.max(angle).to_radians().tan(),
                kinetic_friction: angle.to_radians().tan(),
                adhesion,
            },
        })
    }
}

/// Contact parameters of a material, with defaults derived from its law and the mean grain: stiffness is Young's modulus times the
/// mean diameter, damping is critical for the reduced mass m/2, adhesion is the cohesion. A material other than sand has neither
/// friction angles nor adhesion.
pub fn contact_settings(
    material: &Material,
    spec: &PbdSpec,
    dimensions: Dimensions,
) -> PbdMaterial {
    let given: PbdMaterial = material.settings();
    let (young, sand) = match &material.law {
        Law::Sand(law) => (law.young, Some(law)),
        Law::Elastic(law) => (law.young, None),
    };
    let angle = sand.map(|law| {
        let default = contact_friction_angle(law.friction, spec.scheme);
        given.contact_friction_angle.unwrap_or(default)
    });
    let stiffness = given.stiffness.unwrap_or(2.0 * spec.radius * young);
    let density = material.density / solid_fraction(dimensions);
    let mass = density * grain_volume(spec.radius, dimensions);
    let critical = 2.0 * (stiffness * 0.5 * mass).sqrt();
    PbdMaterial {
        contact_friction_angle: angle,
        static_friction_angle: given.static_friction_angle.or(angle),
        adhesion: given.adhesion.or(sand.map(|law| law.cohesion)),
        stiffness: Some(stiffness),
        damping: Some(given.damping.unwrap_or(critical)),
    }
}

/// Slope of a heap and contact friction angle [degrees] of spheres without rotation, which rest on each other where real grains
/// would roll. Measured with the pour of validation case E6 (docs/validation.md).
const SLOPES: [(f64, f64); 4] = [(9.0, 0.0), (18.0, 5.0), (37.0, 15.0), (62.0, 30.0)];

/// Contact friction angle for the friction angle of the bulk [degrees]. The schemes of [Holz14] use the latter unchanged: their
/// incomplete convergence flattens heaps by about as much as the missing rotation steepens them.
fn contact_friction_angle(bulk: Friction, scheme: PbdScheme) -> f64 {
    let slope = bulk.last_angle();
    if scheme != PbdScheme::MassSplitting {
        return slope;
    }
    let [.., before, last] = SLOPES;
    let above = SLOPES.windows(2).find(|pair| slope <= pair[1].0);
    let ((s0, c0), (s1, c1)) = above.map_or((before, last), |pair| (pair[0], pair[1]));
    (c0 + (slope - s0) / (s1 - s0) * (c1 - c0)).max(0.0)
}

/// Number of grains in a settled bed [1/m³] (2D: [1/m²]).
pub fn number_density(spec: &PbdSpec, dimensions: Dimensions) -> f64 {
    let (r, s2) = (spec.radius, spec.spread * spec.spread);
    // Mean of r³ (2D: of r²).
    let mean = match dimensions {
        Dimensions::Three => r.powi(3) * (1.0 + s2),
        Dimensions::Two => r.powi(2) * (1.0 + s2 / 3.0),
    };
    solid_fraction(dimensions) / (grain_volume(1.0, dimensions) * mean)
}

/// Parameters of the contacts of every pair of materials, row by row.
pub fn contact_table(laws: &[GrainLaw]) -> Vec<ContactParameters> {
    let contacts = || laws.iter().map(|law| &law.contact);
    contacts()
        .flat_map(|a| contacts().map(|b| a.mix(b)))
        .collect()
}
