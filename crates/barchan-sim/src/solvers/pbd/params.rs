//! Contact parameters of materials and of pairs of them.

use super::contact::contact_area;
use crate::sampling::{grain_volume, solid_fraction};
use crate::solver::SolverError;
use crate::solvers::refusal;
use barchan_scene::{Dimensions, Friction, Law, Material, PbdMaterial, PbdScheme, PbdSpec};

/// What two grains of given materials do where they touch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Touch {
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

impl Touch {
    /// Adhesive force [N] at a penetration [m].
    pub fn adhesive_force(&self, penetration: f64, smaller_radius: f64) -> f64 {
        self.adhesion * contact_area(penetration, smaller_radius)
    }

    /// Two springs in series, means of the rest; what only one side has does not stick.
    fn between(a: &Self, b: &Self) -> Self {
        Self {
            stiffness: 2.0 * a.stiffness * b.stiffness / (a.stiffness + b.stiffness),
            damping: 0.5 * (a.damping + b.damping),
            static_friction: 0.5 * (a.static_friction + b.static_friction),
            kinetic_friction: 0.5 * (a.kinetic_friction + b.kinetic_friction),
            adhesion: (a.adhesion * b.adhesion).sqrt(),
        }
    }
}

/// Grains of a material.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GrainLaw {
    /// Density of a grain itself [kg/m³].
    pub density: f64,
    /// Touch of two of them.
    pub touch: Touch,
}

impl GrainLaw {
    /// Grains that make up a material, of the mean size of `spec`.
    pub fn new(
        material: &Material,
        spec: &PbdSpec,
        dimensions: Dimensions,
    ) -> Result<Self, SolverError> {
        let Law::Sand(law) = &material.law else {
            return Err(refusal::elastic("pbd", material));
        };
        let density = material.density / solid_fraction(dimensions);
        let contact: PbdMaterial = material.settings();
        let angle = contact_friction_angle(material, spec).unwrap_or(0.0);
        let resting = contact.static_friction_angle.unwrap_or(angle).max(angle);
        Ok(Self {
            density,
            touch: Touch {
                stiffness: contact_stiffness(material, spec),
                damping: contact_damping(material, spec, dimensions),
                static_friction: resting.to_radians().tan(),
                kinetic_friction: angle.to_radians().tan(),
                adhesion: contact.adhesion.unwrap_or(law.cohesion),
            },
        })
    }
}

/// Slopes of heaps [degrees] by the angle of friction where their grains touch [degrees], for balls that do not turn: these
/// stand on each other where others would roll. From `cargo test --release -p barchan-sim --test e_pile -- --nocapture`.
const SLOPES: [(f64, f64); 4] = [(9.0, 0.0), (18.0, 5.0), (37.0, 15.0), (62.0, 30.0)];

/// Angle of friction between grains with which a heap has a slope [degrees].
fn contact_angle_of_slope(slope: f64) -> f64 {
    let [.., before, last] = SLOPES;
    let above = SLOPES.windows(2).find(|pair| slope <= pair[1].0);
    let ((s0, c0), (s1, c1)) = above.map_or((before, last), |pair| (pair[0], pair[1]));
    (c0 + (slope - s0) / (s1 - s0) * (c1 - c0)).max(0.0)
}

/// Angle of friction where two grains of a material touch [degrees], given or following from that of the bulk; `None` for what
/// is no sand. The schemes of [Holz14] take the angle as it is: what their passes leave out makes heaps as much flatter
/// as balls that do not turn make them steeper.
pub fn contact_friction_angle(material: &Material, spec: &PbdSpec) -> Option<f64> {
    let Law::Sand(law) = &material.law else {
        return None;
    };
    let bulk = match law.friction {
        Friction::Constant(angle) => angle,
        // That of large strains.
        Friction::Hardening { h0, .. } => h0,
    };
    let usual = match spec.scheme {
        PbdScheme::MassSplitting => contact_angle_of_slope(bulk),
        PbdScheme::Averaged | PbdScheme::GaussSeidel => bulk,
    };
    let given = material.settings::<PbdMaterial>().contact_friction_angle;
    Some(given.unwrap_or(usual))
}

/// Stiffness of the contact of two grains of a material [N/m], given or following from Young's modulus.
pub fn contact_stiffness(material: &Material, spec: &PbdSpec) -> f64 {
    let young = match &material.law {
        Law::Sand(law) => law.young,
        Law::Elastic(law) => law.young,
    };
    let given = material.settings::<PbdMaterial>().stiffness;
    given.unwrap_or(2.0 * spec.radius * young)
}

/// Damping of the contact of two grains of a material [N s/m], given or critical for their reduced mass, m/2.
pub fn contact_damping(material: &Material, spec: &PbdSpec, dimensions: Dimensions) -> f64 {
    let density = material.density / solid_fraction(dimensions);
    let mass = density * grain_volume(spec.radius, dimensions);
    let critical = 2.0 * (contact_stiffness(material, spec) * 0.5 * mass).sqrt();
    let given = material.settings::<PbdMaterial>().damping;
    given.unwrap_or(critical)
}

/// Grains in a cubic meter (2D: a square meter) of a bed at rest.
pub fn number_density(spec: &PbdSpec, dimensions: Dimensions) -> f64 {
    let (r, s2) = (spec.radius, spec.spread * spec.spread);
    // Mean of r³ (2D: of r²).
    let mean = match dimensions {
        Dimensions::Three => r.powi(3) * (1.0 + s2),
        Dimensions::Two => r.powi(2) * (1.0 + s2 / 3.0),
    };
    solid_fraction(dimensions) / (grain_volume(1.0, dimensions) * mean)
}

/// Touch of every pair of materials, row by row.
pub fn touch_table(laws: &[GrainLaw]) -> Vec<Touch> {
    laws.iter()
        .flat_map(|a| laws.iter().map(|b| Touch::between(&a.touch, &b.touch)))
        .collect()
}
