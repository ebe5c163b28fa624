//! Bounds on the time step and the settings behind them.

use super::SolverError;

/// A setting of the scene that bounds the step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// Key in the scene.
    pub key: &'static str,
    /// Its value, to which the bound is proportional.
    pub value: f64,
    /// Its default.
    pub default: f64,
}

/// A bound on the step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// Longest step that it allows [s].
    pub dt: f32,
    /// The setting behind it; `None` if it follows from the scene alone.
    pub setting: Option<Setting>,
    /// Whether it follows the motion of the particles; otherwise it holds at rest too.
    pub follows_motion: bool,
}

impl Bound {
    /// No bound.
    pub const NONE: Self = Self {
        dt: f32::INFINITY,
        setting: None,
        follows_motion: false,
    };

    /// A bound that holds at rest, set by a key.
    pub fn at_rest(dt: f32, key: &'static str, value: f64, default: f64) -> Self {
        let setting = Some(Setting {
            key,
            value,
            default,
        });
        Self {
            dt,
            setting,
            ..Self::NONE
        }
    }

    /// A bound that follows the motion of the particles, set by a key.
    pub fn in_motion(dt: f32, key: &'static str, value: f64, default: f64) -> Self {
        Self {
            follows_motion: true,
            ..Self::at_rest(dt, key, value, default)
        }
    }
}

/// The time step rule of a solver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// Fixed steps, stable for any motion.
    Fixed(Bound),
    /// Steps no longer than all bounds allow, which follow the state.
    Bounded {
        /// The bounds; [`Bound::NONE`] where there are fewer.
        bounds: [Bound; 4],
        /// Largest displacement allowed in a step [m].
        travel: f64,
    },
}

/// A step below this fraction of that at rest is taken as a sign of instability.
const FLOOR: f64 = 1e-5;

/// A step below this fraction of that at rest counts as limited by motion.
const SHORTENED: f64 = 0.999;

impl Pace {
    fn bounds(&self) -> &[Bound] {
        match self {
            Self::Fixed(bound) => std::slice::from_ref(bound),
            Self::Bounded { bounds, .. } => bounds,
        }
    }

    /// Keys of the settings that bound the step, for a sentence.
    pub fn settings(&self) -> String {
        let settings = self.bounds().iter().filter_map(|b| b.setting);
        let mut keys: Vec<&str> = Vec::new();
        for setting in settings {
            if !keys.contains(&setting.key) {
                keys.push(setting.key);
            }
        }
        keys.join(" or ")
    }

    /// Whether steps are fixed.
    pub fn is_fixed(&self) -> bool {
        matches!(self, Self::Fixed(_))
    }

    /// Largest displacement allowed in a step [m].
    pub fn travel(&self) -> f64 {
        match self {
            Self::Fixed(_) => f64::INFINITY,
            Self::Bounded { travel, .. } => *travel,
        }
    }

    /// Longest step at rest [s].
    fn at_rest(&self) -> f64 {
        let resting = self.bounds().iter().filter(|b| !b.follows_motion);
        resting
            .map(|b| f64::from(b.dt))
            .fold(f64::INFINITY, f64::min)
    }

    /// Longest step from the present state [s].
    ///
    /// # Errors
    /// Motion so fast that the simulation must be unstable.
    pub fn dt(&self) -> Result<f32, SolverError> {
        let shorter = |a: f32, b: f32| if b < a || b.is_nan() { b } else { a };
        let steps = self.bounds().iter().map(|b| b.dt);
        let dt = steps.fold(f32::INFINITY, shorter);
        let enough = f64::from(dt) >= FLOOR * self.at_rest();
        match dt > 0.0 && enough {
            true => Ok(dt),
            false => Err(SolverError::StepTooSmall {
                dt,
                reason: format!(
                    "the fastest particle moves at {:.3e} m/s",
                    self.travel() / f64::from(dt)
                ),
            }),
        }
    }

    /// The setting whose default would lengthen a step of `dt` [s] most, the others being equal, and by which factor.
    pub fn worst_setting(&self, dt: f64) -> Option<(Setting, f64)> {
        let at_rest = self.at_rest();
        let is_shortened = dt < SHORTENED * at_rest;
        let gain = |(i, bound): (usize, &Bound)| {
            let setting = bound.setting?;
            if bound.follows_motion != is_shortened {
                return None;
            }
            let longest = match bound.follows_motion {
                true => at_rest.min(dt * setting.default / setting.value),
                false => {
                    let others = self.bounds().iter().enumerate();
                    let others = others.filter(|(j, b)| *j != i && !b.follows_motion);
                    let others = others.map(|(_, b)| f64::from(b.dt));
                    let at_default = f64::from(bound.dt) * (setting.default / setting.value);
                    others.fold(at_default, f64::min)
                }
            };
            Some((setting, longest / dt))
        };
        let gains = self.bounds().iter().enumerate().filter_map(gain);
        gains.max_by(|a, b| a.1.total_cmp(&b.1))
    }
}
