//! `sph` in the registry.

use super::Sph;
use super::particles::Particles;
use crate::sampling::Spacing;
use crate::solvers::Method;
use barchan_scene::{Material, SPH, Scene, SphMaterial, SphSpec};

/// Smoothed particle hydrodynamics.
pub static METHOD: Method = Method {
    family: &SPH,
    build: |scene, level| Ok(Box::new(Sph::new(scene, level)?)),
    supports: &[],
    // Twice the state, the neighbor lists of a bed at rest with spare capacity, and the rest of the scratch.
    memory: |_, particles| particles as u64 * (2 * Particles::BYTES + 2 * 34 * 16 + 160),
    spacing,
    describe: |scene| format!("{} iterations", scene.settings::<SphSpec>().iterations),
    parameter,
    drawn_radius: 0.5,
    pushing_thickness: 0.0,
};

fn spacing(scene: &Scene) -> Spacing {
    let spec: SphSpec = scene.settings();
    Spacing {
        dx: spec.spacing(),
        particles_per_cell: 1.0,
        grain: None,
        // Particles closer to a body would be displaced in the first step.
        clearance: 0.9 * spec.radius,
    }
}

fn parameter<'a>(_: &Scene, material: &'a mut Material, key: &str) -> Option<&'a mut f64> {
    let given: SphMaterial = material.settings();
    match key {
        // An intensity overrides it.
        "cohesion" if given.cohesion_intensity.is_some() => return None,
        "wet_cohesion" if given.wet_cohesion_intensity.is_some() => return None,
        "wet_cohesion" => {
            let dry = *material.law.parameter("cohesion")?;
            return Some(material.wet_cohesion.get_or_insert(dry));
        }
        "cohesion" | "friction_angle" => return material.law.parameter(key),
        _ => {}
    }
    let own: &mut SphMaterial = material.settings.entry()?;
    match key {
        "viscosity" => Some(&mut own.viscosity),
        "wet_viscosity" => Some(own.wet_viscosity.get_or_insert(given.viscosity)),
        "cohesion_intensity" => own.cohesion_intensity.as_mut(),
        "wet_cohesion_intensity" => own.wet_cohesion_intensity.as_mut(),
        _ => None,
    }
}
