//! Refusals of unsupported features, common to several solvers.

use crate::solver::SolverError;
use barchan_scene::{Material, Scene};

/// Maximum number of materials of a solver.
const MATERIALS: usize = 256;

/// Features that a solver does not support.
#[derive(Clone, Copy, Default)]
pub(super) struct Lacks {
    pub periodic: bool,
    pub terrain: bool,
    pub columns: bool,
}

impl Lacks {
    /// Refuses a scene that needs it, or has too many materials.
    pub fn refuse(self, solver: &str, scene: &Scene) -> Result<(), SolverError> {
        if scene.materials.len() > MATERIALS {
            let reason = format!("{solver} takes at most {MATERIALS} materials");
            return Err(SolverError::unsupported("materials", reason, "use fewer"));
        }
        if self.periodic && scene.periodic.contains(&true) {
            let reason = format!("{solver} knows no periodic domain");
            let help = "leave out domain.periodic, or choose method = \"mpm\"";
            return Err(SolverError::unsupported("domain.periodic", reason, help));
        }
        if self.terrain && scene.terrain.is_some() {
            let reason =
                format!("{solver} has no [terrain], whose soil turns into grains and back");
            let help = "choose method = \"pbd\", or fill a box";
            return Err(SolverError::unsupported("terrain", reason, help));
        }
        match scene.columns.first().filter(|_| self.columns) {
            Some(column) => Err(SolverError::unsupported(
                "output.columns",
                format!("{solver} has no column `{}`", column.name()),
                "leave it out of output.columns",
            )),
            None => Ok(()),
        }
    }
}

/// Refuses an elastic material in a solver for sand.
pub(super) fn elastic(solver: &str, material: &Material) -> SolverError {
    let name = &material.name;
    SolverError::unsupported(
        format!("materials.{name}.law"),
        format!("material `{name}` is elastic, and {solver} knows sand only"),
        "give it law = \"sand\", or choose method = \"mpm\"",
    )
}

/// Refuses to change the law or the density of a material during a run.
pub(super) fn changed(solver: &str, material: &Material) -> SolverError {
    SolverError::unsupported(
        format!("materials.{}", material.name),
        format!("{solver} cannot change the law or the density of a material on the way"),
        "change other parameters, or start anew",
    )
}
