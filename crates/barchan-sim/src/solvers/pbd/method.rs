//! `pbd` in the registry.

use super::Pbd;
use super::grains::Grains;
use super::params::{contact_settings, number_density};
use crate::sampling::Spacing;
use crate::solvers::{Feature, Method};
use barchan_scene::{Material, PBD, PbdMaterial, PbdSpec, Scene};

/// Position-based grains.
pub static METHOD: Method = Method {
    family: &PBD,
    build: |scene, level| Ok(Box::new(Pbd::new(scene, level)?)),
    supports: &[Feature::Terrain],
    // The state, its copy, and about three contacts per grain.
    memory: |_, particles| particles as u64 * (2 * Grains::BYTES + 32 + 3 * 120),
    spacing,
    describe: |scene| format!("{} iterations", scene.settings::<PbdSpec>().iterations),
    parameter,
    drawn_radius: 0.5,
    pushing_thickness: 0.0,
};

fn spacing(scene: &Scene) -> Spacing {
    let spec: PbdSpec = scene.settings();
    let dx = 2.0 * spec.radius;
    let cell = dx.powi(scene.dimensions.count() as i32);
    Spacing {
        dx,
        particles_per_cell: number_density(&spec, scene.dimensions) * cell,
        grain: Some((spec.radius, spec.spread)),
        clearance: 0.0,
    }
}

fn parameter<'a>(scene: &Scene, material: &'a mut Material, key: &str) -> Option<&'a mut f64> {
    let given: PbdMaterial = material.settings();
    if key == "friction_angle" {
        // A contact friction angle overrides it.
        let is_used = given.contact_friction_angle.is_none();
        return material.law.parameter(key).filter(|_| is_used);
    }
    let all = contact_settings(material, &scene.settings(), scene.dimensions);
    let own: &mut PbdMaterial = material.settings.entry()?;
    match key {
        "contact_friction_angle" => own.contact_friction_angle.as_mut(),
        "static_friction_angle" => Some(
            own.static_friction_angle
                .get_or_insert(all.static_friction_angle?),
        ),
        "adhesion" => Some(own.adhesion.get_or_insert(all.adhesion?)),
        "stiffness" => Some(own.stiffness.get_or_insert(all.stiffness?)),
        "damping" => Some(own.damping.get_or_insert(all.damping?)),
        _ => None,
    }
}
