//! Contact parameters of pairs of materials.

use super::contact::contact_area;
use crate::solver::SolverError;
use barchan_scene::{Dimensions, Law, Material, PbdSpec};

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
            return Err(SolverError::Unsupported(format!(
                "material `{}` is elastic, and pbd knows grains only; give it law = \"sand\", or choose method = \"mpm\"",
                material.name
            )));
        };
        let density = material.density / PbdSpec::packing(dimensions);
        let contact = &material.contact;
        let angle = material.contact_friction_angle(spec).unwrap_or(0.0);
        let resting = contact.static_friction_angle.unwrap_or(angle).max(angle);
        Ok(Self {
            density,
            touch: Touch {
                stiffness: material.contact_stiffness(spec),
                damping: material.contact_damping(spec, dimensions),
                static_friction: resting.to_radians().tan(),
                kinetic_friction: angle.to_radians().tan(),
                adhesion: contact.adhesion.unwrap_or(law.cohesion),
            },
        })
    }
}

/// Touch of every pair of materials, row by row.
pub fn touch_table(laws: &[GrainLaw]) -> Vec<Touch> {
    laws.iter()
        .flat_map(|a| laws.iter().map(|b| Touch::between(&a.touch, &b.touch)))
        .collect()
}
