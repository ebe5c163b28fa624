//! `mpm` in the registry.

use super::{Mpm, memory_estimate};
use crate::sampling::Spacing;
use crate::solvers::{Feature, Method};
use barchan_scene::numbers::rounded;
use barchan_scene::{MPM, MpmSpec, Scene};

/// The material point method.
pub static METHOD: Method = Method {
    family: &MPM,
    build: |scene, level| Ok(Box::new(Mpm::new(scene, level)?)),
    supports: &[Feature::Periodic, Feature::Elastic],
    memory: memory_estimate,
    spacing,
    describe: |scene| {
        let spec: MpmSpec = scene.settings();
        format!("{} particles per cell", rounded(spec.particles_per_cell, 6))
    },
    parameter: |_, material, key| material.law.parameter(key),
    drawn_radius: 0.3,
    // See the limits in docs/solvers/mpm.md.
    pushing_thickness: 4.0,
};

fn spacing(scene: &Scene) -> Spacing {
    let spec: MpmSpec = scene.settings();
    Spacing {
        dx: spec.dx,
        particles_per_cell: spec.particles_per_cell,
        grain: None,
        clearance: 0.0,
    }
}
