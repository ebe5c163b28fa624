//! The families of solver: a folder each, and a line each in [`METHODS`].

pub mod mpm;
pub mod pbd;
mod refusal;
pub mod sph;

use crate::math::Level;
use crate::sampling::Spacing;
use crate::solver::{Solver, SolverError};
use barchan_scene::parameters::Parameter;
use barchan_scene::{Family, Material, Scene};
pub use refusal::Feature;

/// Methods of the families of barchan-scene, one for each.
pub static METHODS: &[&Method] = &[&mpm::METHOD, &pbd::METHOD, &sph::METHOD];

/// Builds a solver for a scene.
pub type Build = fn(&Scene, Level) -> Result<Box<dyn Solver>, SolverError>;

/// Properties of a family that are needed without a solver.
pub struct Method {
    /// The family.
    pub family: &'static Family,
    /// Builds a solver without particles at a SIMD level; refuses unsupported scenes.
    pub build: Build,
    /// Features of scenes that it supports, of those that not every family does.
    pub supports: &'static [Feature],
    /// Peak memory of a run with a number of particles [bytes].
    pub memory: fn(&Scene, usize) -> u64,
    /// Particle density.
    pub spacing: fn(&Scene) -> Spacing,
    /// One-line summary of the settings beside the resolution, for `barchan check`.
    pub describe: fn(&Scene) -> String,
    /// A live parameter in a material, set to its derived value if the material leaves it open; `None`: no such parameter.
    pub parameter: for<'a> fn(&Scene, &'a mut Material, &str) -> Option<&'a mut f64>,
    /// Radius at which particles without a size are drawn, as a fraction of the resolution.
    pub drawn_radius: f64,
    /// Thickness that a body needs to push grains, as a multiple of the resolution; 0: no minimum.
    pub pushing_thickness: f64,
}

impl Method {
    /// The method of that name.
    pub fn find(name: &str) -> Option<&'static Self> {
        METHODS.iter().copied().find(|m| m.family.name == name)
    }

    /// The method of a scene; the first one if the scene's family has none, which [`build_on`] reports as an error.
    pub fn of(scene: &Scene) -> &'static Self {
        Self::find(scene.solver.family.name).unwrap_or(METHODS[0])
    }
}

/// Builds the solver of a scene at this machine's SIMD level. Unsupported features are refused here.
pub fn build(scene: &Scene) -> Result<Box<dyn Solver>, SolverError> {
    build_on(scene, Level::new())
}

/// As [`build`], at a SIMD level; `Level::baseline()` gives the same results on every x86-64 processor.
pub fn build_on(scene: &Scene, level: Level) -> Result<Box<dyn Solver>, SolverError> {
    let name = scene.solver.family.name;
    let Some(method) = Method::find(name) else {
        let reason = format!("there is no solver `{name}`");
        let help = "choose another solver.method";
        return Err(SolverError::unsupported("solver.method", reason, help));
    };
    (method.build)(scene, level)
}

/// Peak memory of a run with a number of particles [bytes].
pub fn memory_estimate(scene: &Scene, particles: usize) -> u64 {
    (Method::of(scene).memory)(scene, particles)
}

/// Parameters of a material of a scene that can be changed during a run, with their present values.
pub fn parameters(scene: &Scene, material: &Material) -> Vec<Parameter> {
    let method = Method::of(scene);
    // Derived values are filled in on a copy: the scene keeps only what its file specifies.
    let value = |key: &str| (method.parameter)(scene, &mut material.clone(), key).map(|v| *v);
    method.family.parameters(value)
}

/// Sets a parameter of a material; returns whether the material has it.
pub fn set_parameter(scene: &mut Scene, material: usize, key: &str, value: f64) -> bool {
    let Some(mut changed) = scene.materials.get(material).cloned() else {
        return false;
    };
    let Some(place) = (Method::of(scene).parameter)(scene, &mut changed, key) else {
        return false;
    };
    *place = value;
    scene.materials[material] = changed;
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_scene::FAMILIES;

    #[test]
    fn every_family_has_one_method() {
        let names = |all: &mut dyn Iterator<Item = &'static Family>| -> Vec<&str> {
            all.map(|f| f.name).collect()
        };
        let methods = names(&mut METHODS.iter().map(|m| m.family));
        assert_eq!(methods, names(&mut FAMILIES.iter().copied()));
    }

    /// Otherwise a refusal would have nothing to advise, or no reason.
    #[test]
    fn some_families_support_a_feature_and_others_do_not() {
        for feature in Feature::ALL {
            let support = |m: &&Method| m.supports.contains(&feature);
            assert!(METHODS.iter().copied().any(|m| support(&m)), "{feature:?}");
            assert!(!METHODS.iter().copied().all(|m| support(&m)), "{feature:?}");
        }
    }
}
