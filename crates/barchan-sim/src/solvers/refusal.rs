//! Refusals that several solvers share.

use super::{METHODS, Method};
use crate::solver::SolverError;
use barchan_scene::{Law, Material, Scene};

/// Maximum number of materials of a solver.
const MATERIALS: usize = 256;

/// A feature of scenes that not every family supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// A periodic domain.
    Periodic,
    /// Terrain.
    Terrain,
    /// Elastic materials.
    Elastic,
}

impl Feature {
    /// All features.
    pub const ALL: [Self; 3] = [Self::Periodic, Self::Terrain, Self::Elastic];

    /// Whether a scene has it.
    pub fn is_in(self, scene: &Scene) -> bool {
        match self {
            Self::Periodic => scene.periodic.contains(&true),
            Self::Terrain => scene.terrain.is_some(),
            Self::Elastic => scene.materials.iter().any(is_elastic),
        }
    }

    /// Advice to choose a family that supports it.
    fn choose_family(self) -> String {
        choose(|m| m.supports.contains(&self))
    }
}

/// Advice to choose one of some families.
fn choose(is_suitable: impl Fn(&Method) -> bool) -> String {
    let suitable = METHODS.iter().filter(|m| is_suitable(m));
    let names: Vec<String> = suitable.map(|m| format!("\"{}\"", m.family.name)).collect();
    format!("choose method = {}", names.join(" or "))
}

/// Refuses a scene with too many materials, with a feature that the method does not support, or with a column that its family does
/// not have.
pub(super) fn check(method: &Method, scene: &Scene) -> Result<(), SolverError> {
    let solver = method.family.name;
    if scene.materials.len() > MATERIALS {
        let reason = format!("{solver} takes at most {MATERIALS} materials");
        return Err(SolverError::unsupported("materials", reason, "use fewer"));
    }
    let is_missing = |f: &Feature| !method.supports.contains(f) && f.is_in(scene);
    for feature in Feature::ALL.into_iter().filter(is_missing) {
        let choose = feature.choose_family();
        let (at, reason, help) = match feature {
            Feature::Periodic => (
                "domain.periodic",
                format!("{solver} does not support a periodic domain"),
                format!("leave out domain.periodic, or {choose}"),
            ),
            Feature::Terrain => (
                "terrain",
                format!("{solver} has no [terrain], whose soil turns into grains and back"),
                format!("{choose}, or fill a box"),
            ),
            Feature::Elastic => {
                let mut materials = scene.materials.iter();
                let Some(material) = materials.find(|m| is_elastic(m)) else {
                    continue;
                };
                return Err(elastic(method, material));
            }
        };
        return Err(SolverError::unsupported(at, reason, help));
    }
    let is_foreign = |c: &&&str| !method.family.columns.contains(*c);
    if let Some(column) = scene.columns.iter().find(is_foreign) {
        let reason = format!("{solver} has no column `{column}`");
        let has_it = |m: &Method| m.family.columns.contains(column);
        let help = format!("leave it out of output.columns, or {}", choose(has_it));
        return Err(SolverError::unsupported("output.columns", reason, help));
    }
    Ok(())
}

fn is_elastic(material: &Material) -> bool {
    matches!(material.law, Law::Elastic(_))
}

/// The error for an elastic material in a solver for sand.
pub(super) fn elastic(method: &Method, material: &Material) -> SolverError {
    let (name, solver) = (&material.name, method.family.name);
    let choose = Feature::Elastic.choose_family();
    SolverError::unsupported(
        format!("materials.{name}.law"),
        format!("material `{name}` is elastic, and {solver} supports sand only"),
        format!("give it law = \"sand\", or {choose}"),
    )
}

/// The error for a change of a material's law or density during a simulation.
pub(super) fn changed(method: &Method, material: &Material) -> SolverError {
    let solver = method.family.name;
    SolverError::unsupported(
        format!("materials.{}", material.name),
        format!("{solver} cannot change the law or the density of a material during a simulation"),
        "change other parameters, or start a new simulation",
    )
}
