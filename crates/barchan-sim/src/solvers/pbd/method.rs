//! `pbd` in the registry.

use super::params::{contact_damping, contact_friction_angle, contact_stiffness, number_density};
use super::{Pbd, memory_estimate};
use crate::sampling::Spacing;
use crate::solvers::Method;
use barchan_scene::{Material, PBD, PbdMaterial, PbdSpec, Scene};

/// Position-based grains.
pub static METHOD: Method = Method {
    family: &PBD,
    build: |scene, level| Ok(Box::new(Pbd::new(scene, level)?)),
    memory: |_, particles| memory_estimate(particles),
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
    let spec: PbdSpec = scene.settings();
    if key == "friction_angle" {
        // Of the two angles, the one that counts.
        let given: PbdMaterial = material.settings();
        return match given.contact_friction_angle {
            Some(_) => None,
            None => material.law.parameter(key),
        };
    }
    let angle = contact_friction_angle(material, &spec);
    let cohesion = material.law.parameter("cohesion").map(|value| *value);
    let stiffness = contact_stiffness(material, &spec);
    let damping = contact_damping(material, &spec, scene.dimensions);
    let own: &mut PbdMaterial = material.settings.entry()?;
    match key {
        "contact_friction_angle" => own.contact_friction_angle.as_mut(),
        "static_friction_angle" => Some(own.static_friction_angle.get_or_insert(angle?)),
        "adhesion" => Some(own.adhesion.get_or_insert(cohesion?)),
        "stiffness" => Some(own.stiffness.get_or_insert(stiffness)),
        "damping" => Some(own.damping.get_or_insert(damping)),
        _ => None,
    }
}
