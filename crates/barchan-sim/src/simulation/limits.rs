//! How many steps a frame takes, and which setting is at fault when there are far too many.

use crate::solver::SolverError;
use crate::solvers::mpm::wave_speed;
use barchan_scene::numbers::rounded;
use barchan_scene::{MpmSpec, PbdSpec, Scene, SolverSpec, SphSpec};

/// Steps in a frame above which the run would never end: the floor of the time step is the frame's duration over this.
const MAX_STEPS_PER_FRAME: f64 = 1e7;
/// Steps in a frame that deserve a warning.
const MANY_STEPS_PER_FRAME: f64 = 1e5;
/// A setting is at fault when its usual value would save so many times the steps.
const FAULT: f64 = 10.0;

/// What the first frame will take.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    /// The first step [s].
    pub dt: f64,
    /// Steps of that length in a frame.
    pub steps_per_frame: f64,
    /// That the run will take very long, and why.
    pub warning: Option<String>,
}

/// The settings that bound a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub frame_rate: f64,
    /// Key of `max_dt` in the scene, and its usual value [s].
    pub dt_key: &'static str,
    pub usual_dt: f64,
    pub dx: f64,
    pub max_dt: f64,
    pub cfl: f64,
    pub elastic_cfl: f64,
    /// What the fastest elastic wave allows [s].
    pub elastic_dt: f64,
}

impl Limits {
    pub fn of(scene: &Scene) -> Self {
        let spec = match &scene.solver {
            SolverSpec::Mpm(spec) => spec,
            SolverSpec::Pbd(spec) => return Self::fixed(scene, spec.dt),
            SolverSpec::Sph(spec) => {
                return Self {
                    dt_key: "solver.max_dt",
                    usual_dt: spec.spacing() / SphSpec::USUAL_PACE,
                    cfl: spec.cfl,
                    ..Self::fixed(scene, spec.max_dt)
                };
            }
        };
        let fastest = scene.materials.iter().map(wave_speed).fold(0.0, f64::max);
        Self {
            frame_rate: scene.frame_rate,
            dt_key: "solver.max_dt",
            usual_dt: MpmSpec::USUAL_MAX_DT,
            dx: spec.dx,
            max_dt: spec.max_dt,
            cfl: spec.cfl,
            elastic_cfl: spec.elastic_cfl,
            elastic_dt: spec.elastic_cfl * spec.dx / fastest,
        }
    }

    /// Steps of a solver that is stable whatever moves.
    fn fixed(scene: &Scene, dt: f64) -> Self {
        Self {
            frame_rate: scene.frame_rate,
            dt_key: "solver.dt",
            usual_dt: PbdSpec::USUAL_DT,
            dx: scene.solver.length(),
            max_dt: dt,
            cfl: f64::INFINITY,
            elastic_cfl: MpmSpec::USUAL_ELASTIC_CFL,
            elastic_dt: f64::INFINITY,
        }
    }

    /// Whether nothing that moves shortens a step.
    pub fn is_fixed(&self) -> bool {
        self.cfl == f64::INFINITY
    }

    /// Whether steps of `dt` would get nowhere; also true of NaN.
    pub fn is_hopeless(&self, dt: f64) -> bool {
        let enough = dt >= 1.0 / (self.frame_rate * MAX_STEPS_PER_FRAME);
        !enough
    }

    /// Judges the first step `dt` [s], with `acceleration` [m/s²] as the cause of all motion: whatever falls through a
    /// cell is as fast as that makes it.
    pub fn forecast(&self, dt: f64, acceleration: f64) -> Result<Forecast, SolverError> {
        let falling = self.cfl * (self.dx / (2.0 * acceleration)).sqrt();
        let expected = dt.min(falling);
        let fault = self.fault(expected);
        if self.is_hopeless(expected)
            && let Some(fault) = fault
        {
            return Err(fault);
        }
        let steps = 1.0 / (self.frame_rate * expected);
        let warning = (steps > MANY_STEPS_PER_FRAME).then(|| match fault {
            Some(fault) => fault.to_string(),
            None => format!(
                "a frame would take about {} steps of {} s; coarsen solver.dx or soften the material",
                rounded(steps, 2),
                rounded(expected, 2)
            ),
        });
        Ok(Forecast {
            dt,
            steps_per_frame: (1.0 / (self.frame_rate * dt)).ceil(),
            warning,
        })
    }

    /// The setting that makes a step of `dt` so small beside a frame, unless it is the scene itself.
    pub fn fault(&self, dt: f64) -> Option<SolverError> {
        let at_rest = self.max_dt.min(self.elastic_dt);
        let speed_limits = dt < 0.999 * at_rest;
        // Longest step with the usual value of a setting, were the others to stay.
        let usual_rate = Scene::USUAL_FRAME_RATE;
        let (usual_dt, usual_cfl, usual_elastic) = (
            self.usual_dt,
            MpmSpec::USUAL_CFL,
            MpmSpec::USUAL_ELASTIC_CFL,
        );
        let max_dt = self.elastic_dt.min(usual_dt);
        let elastic = self.elastic_dt * usual_elastic / self.elastic_cfl;
        let elastic = self.max_dt.min(elastic);
        let cfl = at_rest.min(dt * usual_cfl / self.cfl);
        let rate = usual_rate / self.frame_rate;
        let settings = [
            ("frame_rate", self.frame_rate, usual_rate, rate),
            (self.dt_key, self.max_dt, usual_dt, max_dt / dt),
            (
                "solver.elastic_cfl",
                self.elastic_cfl,
                usual_elastic,
                elastic / dt,
            ),
            ("solver.cfl", self.cfl, usual_cfl, cfl / dt),
        ];
        let saves = |(name, _, _, factor): &(&str, f64, f64, f64)| match *name {
            "solver.cfl" => speed_limits && *factor >= FAULT,
            "frame_rate" => *factor >= FAULT,
            _ => !speed_limits && *factor >= FAULT,
        };
        let worst = settings.into_iter().filter(saves);
        let (setting, value, usual, _) = worst.max_by(|a, b| a.3.total_cmp(&b.3))?;
        (dt > 0.0).then(|| SolverError::TooManySteps {
            steps: 1.0 / (self.frame_rate * dt),
            dt,
            setting,
            value,
            usual,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Limits = Limits {
        frame_rate: 48.0,
        dt_key: "solver.max_dt",
        usual_dt: MpmSpec::USUAL_MAX_DT,
        dx: 0.01,
        max_dt: 1e-3,
        cfl: 0.5,
        elastic_cfl: 0.6,
        elastic_dt: 3e-4,
    };

    fn judged(limits: Limits) -> Result<Forecast, SolverError> {
        limits.forecast(limits.max_dt.min(limits.elastic_dt), 9.81)
    }

    #[test]
    fn the_setting_at_fault_is_named() {
        let elastic = Limits {
            elastic_cfl: 1e-8,
            elastic_dt: 5e-12,
            ..USUAL
        };
        for (limits, setting) in [
            (
                Limits {
                    max_dt: 1e-9,
                    ..USUAL
                },
                "solver.max_dt = 1e-9",
            ),
            (
                Limits {
                    cfl: 1e-12,
                    ..USUAL
                },
                "solver.cfl = 1e-12",
            ),
            (
                Limits {
                    frame_rate: 1e-9,
                    ..USUAL
                },
                "frame_rate = 1e-9",
            ),
            (elastic, "solver.elastic_cfl = 1e-8"),
        ] {
            let error = judged(limits).unwrap_err().to_string();
            assert!(error.contains(setting), "{setting}: {error}");
        }
    }

    #[test]
    fn slow_is_warned_about_and_usual_is_not() {
        assert_eq!(judged(USUAL).unwrap().warning, None);
        let slow = judged(Limits {
            max_dt: 1e-8,
            ..USUAL
        })
        .unwrap();
        let warning = slow.warning.unwrap();
        assert!(warning.contains("solver.max_dt = 1e-8"), "{warning}");
        // Fine grains of stiff material take their time, and no setting is wrong.
        let stiff = judged(Limits {
            elastic_dt: 1e-7,
            ..USUAL
        })
        .unwrap();
        let warning = stiff.warning.unwrap();
        assert!(warning.contains("soften"), "{warning}");
    }

    #[test]
    fn without_gravity_nothing_is_taken_to_fall() {
        let limits = Limits {
            cfl: 1e-12,
            ..USUAL
        };
        assert_eq!(limits.forecast(3e-4, 0.0).unwrap().warning, None);
    }
}
