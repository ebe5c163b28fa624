//! Refusals that several solvers share.

use crate::solver::SolverError;
use barchan_scene::{Material, Scene};

/// Maximum number of materials of a solver.
const MATERIALS: usize = 256;

/// A feature of scenes that a solver may not support.
pub(super) enum Feature {
    Periodic,
    Terrain,
    Columns,
}

/// Refuses a scene with too many materials, or with a feature that the solver does not support.
pub(super) fn check(solver: &str, scene: &Scene, missing: &[Feature]) -> Result<(), SolverError> {
    if scene.materials.len() > MATERIALS {
        let reason = format!("{solver} takes at most {MATERIALS} materials");
        return Err(SolverError::unsupported("materials", reason, "use fewer"));
    }
    for feature in missing {
        let (at, reason, help) = match (feature, scene.columns.first()) {
            (Feature::Periodic, _) if scene.periodic.contains(&true) => (
                "domain.periodic",
                format!("{solver} does not support a periodic domain"),
                "leave out domain.periodic, or choose method = \"mpm\"",
            ),
            (Feature::Terrain, _) if scene.terrain.is_some() => (
                "terrain",
                format!("{solver} has no [terrain], whose soil turns into grains and back"),
                "choose method = \"pbd\", or fill a box",
            ),
            (Feature::Columns, Some(column)) => (
                "output.columns",
                format!("{solver} has no column `{}`", column.name()),
                "leave it out of output.columns",
            ),
            _ => continue,
        };
        return Err(SolverError::unsupported(at, reason, help));
    }
    Ok(())
}

/// The error for an elastic material in a solver for sand.
pub(super) fn elastic(solver: &str, material: &Material) -> SolverError {
    let name = &material.name;
    SolverError::unsupported(
        format!("materials.{name}.law"),
        format!("material `{name}` is elastic, and {solver} supports sand only"),
        "give it law = \"sand\", or choose method = \"mpm\"",
    )
}

/// The error for a change of a material's law or density during a simulation.
pub(super) fn changed(solver: &str, material: &Material) -> SolverError {
    SolverError::unsupported(
        format!("materials.{}", material.name),
        format!("{solver} cannot change the law or the density of a material during a simulation"),
        "change other parameters, or start a new simulation",
    )
}
