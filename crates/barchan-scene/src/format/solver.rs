//! The solver of the scene file. Keys of the other families may stand beside those of the chosen one, so that one file
//! serves any solver.

use super::Builder;
use super::node::Table;
use crate::model::*;

/// Frames in a second when the file says nothing: pbd writes one for each of its steps.
pub(super) fn usual_frame_rate(document: &Table) -> f64 {
    match document.table("solver").and_then(|s| s.text("method")) {
        Some("pbd") => 60.0,
        _ => Scene::USUAL_FRAME_RATE,
    }
}

/// How fills are placed when the file says nothing: `sph` wants its particles at the density of rest.
pub(super) fn usual_sampling(document: &Table) -> Sampling {
    match document.table("solver").and_then(|s| s.text("method")) {
        Some("sph") => Sampling::Lattice,
        _ => Sampling::Poisson,
    }
}

/// The length that meshes and `--scale` go by, with its key.
pub(super) fn resolution(solver: &Table) -> Option<(&'static str, f64)> {
    let key = match solver.text("method") {
        Some("pbd" | "sph") => "radius",
        _ => "dx",
    };
    Some((key, solver.number(key)?))
}

impl Builder<'_> {
    pub(super) fn solver(&mut self, document: &Table) -> Option<SolverSpec> {
        let table = document.table("solver")?;
        if table.is_bad("method") {
            return None;
        }
        match table.text("method") {
            Some("pbd") => self.pbd(document, table).map(SolverSpec::Pbd),
            Some("sph") => self.sph(document, table).map(SolverSpec::Sph),
            _ => self.mpm(document, table).map(SolverSpec::Mpm),
        }
    }

    /// A number that the chosen solver cannot do without.
    fn needed(&mut self, document: &Table, table: &Table, key: &str, what: &str) -> Option<f64> {
        if !table.has(key) {
            let at = document.get("solver")?.at;
            let help = format!("add `{key} = …`: {what}");
            self.report
                .error(at, format!("`solver.{key}` is missing"), help);
        }
        table.number(key)
    }

    fn pbd(&mut self, document: &Table, table: &Table) -> Option<PbdSpec> {
        let radius = self.needed(
            document,
            table,
            "radius",
            "the mean radius of the grains [m]",
        )?;
        let scheme = match table.text("scheme") {
            Some("averaged") => PbdScheme::Averaged,
            Some("gauss-seidel") => PbdScheme::GaussSeidel,
            _ => PbdScheme::MassSplitting,
        };
        // Small steps of one pass each bring mass splitting farther than many passes; [Holz14] has no substeps.
        let (substeps, passes) = match scheme {
            PbdScheme::MassSplitting => (10, 1),
            _ => (1, 10),
        };
        let usual_reduction = match scheme {
            PbdScheme::Averaged => 0.5,
            _ => 0.0,
        };
        let count = |key: &str, usual: i64| u32::try_from(table.integer(key).unwrap_or(usual)).ok();
        Some(PbdSpec {
            radius,
            spread: table.number("radius_spread").unwrap_or(0.15),
            iterations: count("iterations", passes)?,
            substeps: count("substeps", substeps)?,
            dt: table.number("dt").unwrap_or(PbdSpec::USUAL_DT),
            scheme,
            friction: match table.text("friction_model") {
                Some("macklin") => PbdFriction::Macklin,
                _ => PbdFriction::Coulomb,
            },
            error_reduction: table.number("error_reduction").unwrap_or(usual_reduction),
            sleep: table.number("sleep_threshold"),
        })
    }

    fn sph(&mut self, document: &Table, table: &Table) -> Option<SphSpec> {
        let radius = self.needed(
            document,
            table,
            "radius",
            "half the distance of the particles [m]",
        )?;
        let number = |key: &str, usual: f64| table.number(key).unwrap_or(usual);
        let count = |key: &str, usual: u32| {
            u32::try_from(table.integer(key).unwrap_or(i64::from(usual))).ok()
        };
        let iterations = count("iterations", SphSpec::USUAL_ITERATIONS)?;
        let until = match table.number("density_error") {
            Some(density) => Some(SphError {
                density,
                stress: number("stress_error", 0.01),
                max_iterations: count("max_iterations", 50)?.max(iterations),
            }),
            None => {
                for key in ["stress_error", "max_iterations"] {
                    self.useless(table, key, "without `density_error`");
                }
                None
            }
        };
        Some(SphSpec {
            radius,
            max_dt: number("max_dt", 2.0 * radius / SphSpec::USUAL_PACE),
            cfl: number("cfl", SphSpec::USUAL_CFL),
            iterations,
            until,
            yielding: match table.text("yield") {
                Some("per component") => SphYield::PerComponent,
                _ => SphYield::Radial,
            },
            static_friction: table.flag("static_friction").unwrap_or(true),
            wall_friction: match table.text("wall_friction") {
                Some("viscous") => SphWalls::Viscous,
                _ => SphWalls::Coulomb,
            },
            discrete_forces: table.flag("discrete_forces").unwrap_or(true),
            sound_speed: number("sound_speed", SphSpec::USUAL_SOUND_SPEED),
            sleep_velocity: number("sleep_velocity", 0.0),
            wake_acceleration: number("wake_acceleration", SphSpec::USUAL_WAKE_ACCELERATION),
        })
    }

    fn mpm(&mut self, document: &Table, table: &Table) -> Option<MpmSpec> {
        let blend = table.number("flip");
        let transfer = match table.text("transfer") {
            Some("flip") => Transfer::FlipPic {
                flip: blend.unwrap_or(0.95),
            },
            other => {
                self.useless(table, "flip", "unless transfer = \"flip\"");
                match other {
                    Some("pic") => Transfer::FlipPic { flip: 0.0 },
                    _ => Transfer::Apic,
                }
            }
        };
        let usual = match self.dimensions {
            Dimensions::Two => 4.0,
            Dimensions::Three => 8.0,
        };
        Some(MpmSpec {
            dx: self.needed(
                document,
                table,
                "dx",
                "grid spacing [m], the resolution of the simulation",
            )?,
            particles_per_cell: table.number("particles_per_cell").unwrap_or(usual),
            kernel: match table.text("kernel") {
                Some("cubic") => Kernel::Cubic,
                _ => Kernel::Quadratic,
            },
            transfer,
            max_dt: table.number("max_dt").unwrap_or(MpmSpec::USUAL_MAX_DT),
            cfl: table.number("cfl").unwrap_or(MpmSpec::USUAL_CFL),
            elastic_cfl: table
                .number("elastic_cfl")
                .unwrap_or(MpmSpec::USUAL_ELASTIC_CFL),
        })
    }
}
