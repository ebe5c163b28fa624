//! Number of steps in a frame, and the setting that causes far too many.

use crate::solver::{Pace, Setting, SolverError};
use barchan_scene::numbers::rounded;

/// Maximum number of steps in a frame, which bounds the time step from below.
const MAX_STEPS_PER_FRAME: f64 = 1e7;
/// Number of steps in a frame above which a warning is given.
const MANY_STEPS_PER_FRAME: f64 = 1e5;
/// A setting is at fault if its default would reduce the number of steps by this factor.
const FAULT: f64 = 10.0;

/// Estimate of the first frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    /// The first step [s].
    pub dt: f64,
    /// Steps of that length in a frame.
    pub steps_per_frame: f64,
    /// Warning if the run will take very long, with the reason.
    pub warning: Option<String>,
}

/// The time step rule of a solver and the frame rate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Frames per second [1/s], and their default.
    pub frame_rate: f64,
    pub default_rate: f64,
    /// Resolution of the solver [m].
    pub resolution: f64,
    pub pace: Pace,
}

impl Limits {
    /// Whether steps of `dt` are too small to finish a frame; also true of NaN.
    pub fn is_too_small(&self, dt: f64) -> bool {
        let enough = dt >= 1.0 / (self.frame_rate * MAX_STEPS_PER_FRAME);
        !enough
    }

    /// Evaluates the first step `dt` [s] at the speed of a fall through one cell under `acceleration` [m/s²].
    pub fn forecast(&self, dt: f64, acceleration: f64) -> Result<Forecast, SolverError> {
        let falling = self.pace.travel() / (2.0 * acceleration * self.resolution).sqrt();
        let expected = dt.min(falling);
        let fault = self.setting_at_fault(expected);
        if self.is_too_small(expected)
            && let Some(fault) = fault
        {
            return Err(fault);
        }
        let steps = 1.0 / (self.frame_rate * expected);
        let warning = (steps > MANY_STEPS_PER_FRAME).then(|| match fault {
            Some(fault) => fault.to_string(),
            None => format!(
                "a frame would take about {} steps of {} s; coarsen solver.resolution or soften the material",
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

    /// Replaces an error about a small step by one that names the setting at fault, if there is one.
    pub fn explain(&self, error: SolverError) -> SolverError {
        match error {
            SolverError::StepTooSmall { dt, .. } => {
                self.setting_at_fault(f64::from(dt)).unwrap_or(error)
            }
            _ => error,
        }
    }

    /// The setting that makes a step of `dt` so small compared with a frame; `None` if the scene itself does.
    pub fn setting_at_fault(&self, dt: f64) -> Option<SolverError> {
        let default = self.default_rate;
        let frame_rate = Setting {
            key: "frame_rate",
            value: self.frame_rate,
            default,
        };
        let settings = [
            Some((frame_rate, default / self.frame_rate)),
            self.pace.worst_setting(dt),
        ];
        let at_fault = settings.into_iter().flatten().filter(|s| s.1 >= FAULT);
        let (setting, _) = at_fault.max_by(|a, b| a.1.total_cmp(&b.1))?;
        (dt > 0.0).then(|| SolverError::TooManySteps {
            steps: 1.0 / (self.frame_rate * dt),
            dt,
            setting: setting.key,
            value: setting.value,
            default: setting.default,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::Bound;

    const RESOLUTION: f64 = 0.01;

    /// Limits of a solver with a largest step, a wave and motion, whose settings are these multiples of the default ones.
    fn limits(frame_rate: f64, max_dt: f64, wave: f64, cfl: f64) -> Limits {
        let cfl = 0.5 * cfl;
        let bounds = [
            Bound::at_rest((1e-3 * max_dt) as f32, "max_dt", 1e-3 * max_dt, 1e-3),
            Bound::at_rest((3e-4 * wave) as f32, "elastic_cfl", 0.6 * wave, 0.6),
            Bound::in_motion(f32::INFINITY, "cfl", cfl, 0.5),
            Bound::NONE,
        ];
        Limits {
            frame_rate,
            default_rate: 48.0,
            resolution: RESOLUTION,
            pace: Pace::Bounded {
                bounds,
                travel: cfl * RESOLUTION,
            },
        }
    }

    fn judged(limits: Limits) -> Result<Forecast, SolverError> {
        let dt = limits.pace.dt()?;
        limits.forecast(f64::from(dt), 9.81)
    }

    #[test]
    fn the_setting_at_fault_is_named() {
        for (limits, setting) in [
            (limits(48.0, 1e-6, 1.0, 1.0), "max_dt = 1e-9"),
            (limits(48.0, 1.0, 1.0, 2e-12), "cfl = 1e-12"),
            (limits(1e-9, 1.0, 1.0, 1.0), "frame_rate = 1e-9"),
            (limits(48.0, 1.0, 1e-8, 1.0), "elastic_cfl = 6e-9"),
        ] {
            let error = judged(limits).unwrap_err().to_string();
            assert!(error.contains(setting), "{setting}: {error}");
        }
    }

    #[test]
    fn many_steps_cause_a_warning_and_defaults_do_not() {
        assert_eq!(judged(limits(48.0, 1.0, 1.0, 1.0)).unwrap().warning, None);
        let slow = judged(limits(48.0, 1e-5, 1.0, 1.0)).unwrap();
        let warning = slow.warning.unwrap();
        assert!(warning.contains("max_dt = 1e-8"), "{warning}");
        // Fine grains of stiff material need many steps, and no setting is at fault.
        let mut stiff = limits(48.0, 1.0, 1.0, 1.0);
        if let Pace::Bounded { bounds, .. } = &mut stiff.pace {
            bounds[1].dt = 1e-7;
        }
        let warning = judged(stiff).unwrap().warning.unwrap();
        assert!(warning.contains("soften"), "{warning}");
    }

    #[test]
    fn without_gravity_no_fall_is_assumed() {
        let limits = limits(48.0, 1.0, 1.0, 2e-12);
        assert_eq!(limits.forecast(3e-4, 0.0).unwrap().warning, None);
    }
}
