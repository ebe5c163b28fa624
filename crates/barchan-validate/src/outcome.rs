//! The outcome of a case: checks with their bands and verdicts, and plots.

use super::plot::Plot;
use barchan_scene::numbers::rounded;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How a check or a case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Within the band; for a control, outside it.
    Pass,
    /// Outside the band where the model is known to be, for a reason that is given.
    Limit,
    /// Neither.
    Fail,
}

impl Verdict {
    /// Its word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Limit => "limit",
            Self::Fail => "FAIL",
        }
    }
}

/// An interval of values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Band {
    /// Smallest value; `None`: no bound.
    pub min: Option<f64>,
    /// Largest value; `None`: no bound.
    pub max: Option<f64>,
}

impl Band {
    /// From `min` to `max`.
    pub fn between(min: f64, max: f64) -> Self {
        Self {
            min: Some(min),
            max: Some(max),
        }
    }

    /// Up to `max`.
    pub fn below(max: f64) -> Self {
        Self {
            min: None,
            max: Some(max),
        }
    }

    /// From `min` on.
    pub fn above(min: f64) -> Self {
        Self {
            min: Some(min),
            max: None,
        }
    }

    /// `value` and `part` of it on either side.
    pub fn around(value: f64, part: f64) -> Self {
        let width = part * value.abs();
        Self::between(value - width, value + width)
    }

    /// Whether a value lies in it. NaN and infinite values lie nowhere.
    pub fn holds(&self, value: f64) -> bool {
        value.is_finite()
            && self.min.is_none_or(|min| value >= min)
            && self.max.is_none_or(|max| value <= max)
    }
}

/// A measured value against a band.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// What was measured.
    pub what: String,
    /// The value. `None` in a file: not finite.
    pub measured: Option<f64>,
    /// Unit of the value, empty for a ratio.
    pub unit: String,
    /// Where it should lie.
    pub band: Band,
    /// Whether this is a negative control, which must lie outside the band.
    pub control: bool,
    /// Where the model is known to lie instead, and why.
    pub limit: Option<Limit>,
    /// How it ended.
    pub verdict: Verdict,
}

/// A known shortcoming of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// Range in which the model is known to lie; a value outside it and the band fails.
    pub known: Band,
    /// Why.
    pub reason: String,
}

impl Check {
    /// A value that should lie in `band`.
    pub fn new(what: impl Into<String>, measured: f64, unit: &str, band: Band) -> Self {
        let mut check = Self {
            what: what.into(),
            measured: measured.is_finite().then_some(measured),
            unit: unit.into(),
            band,
            control: false,
            limit: None,
            verdict: Verdict::Fail,
        };
        check.judge();
        check
    }

    /// A value of something deliberately wrong, which should lie outside `band`.
    pub fn control(what: impl Into<String>, measured: f64, unit: &str, band: Band) -> Self {
        let mut check = Self::new(what, measured, unit, band);
        check.control = true;
        check.judge();
        check
    }

    /// The model is known to lie in `known` instead of the band, for this reason.
    pub fn limited(mut self, known: Band, reason: &str) -> Self {
        let reason = reason.into();
        self.limit = Some(Limit { known, reason });
        self.judge();
        self
    }

    fn judge(&mut self) {
        let value = self.measured.unwrap_or(f64::NAN);
        let inside = self.band.holds(value);
        let known = self.limit.as_ref().is_some_and(|l| l.known.holds(value));
        self.verdict = match (value.is_finite(), inside != self.control) {
            (true, true) => Verdict::Pass,
            (true, false) if known => Verdict::Limit,
            _ => Verdict::Fail,
        };
    }
}

/// On one line: verdict, what, value, band.
impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.measured.unwrap_or(f64::NAN);
        let control = if self.control { "control: " } else { "" };
        let bound = |bound: Option<f64>| bound.map_or("…".into(), |b| rounded(b, 5));
        let (min, max) = (bound(self.band.min), bound(self.band.max));
        write!(f, "{:<5} {control}{}: ", self.verdict.word(), self.what)?;
        write!(f, "{} {} in {min} to {max}", rounded(value, 5), self.unit)
    }
}

/// Result of a case.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The physics, in a sentence or two.
    pub physics: String,
    /// What was simulated: sizes, resolution, material map.
    pub setup: String,
    /// Where the reference comes from, with citation keys in square brackets.
    pub reference: String,
    /// Plots of the comparison.
    pub plots: Vec<Plot>,
    /// The comparisons.
    pub checks: Vec<Check>,
    /// Values that are not checked, and remarks.
    pub notes: Vec<String>,
}

impl Outcome {
    /// The worst of its checks; a case without checks fails.
    pub fn verdict(&self) -> Verdict {
        let any = |verdict| self.checks.iter().any(|c| c.verdict == verdict);
        if self.checks.is_empty() || any(Verdict::Fail) {
            Verdict::Fail
        } else if any(Verdict::Limit) {
            Verdict::Limit
        } else {
            Verdict::Pass
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(checks: Vec<Check>) -> Outcome {
        Outcome {
            checks,
            ..Outcome::default()
        }
    }

    #[test]
    fn a_wrong_reference_fails() {
        let right = Check::new("slope", 30.5, "°", Band::around(30.0, 0.1));
        let wrong = Check::new("slope", 30.5, "°", Band::around(40.0, 0.1));
        assert_eq!(right.verdict, Verdict::Pass);
        assert_eq!(wrong.verdict, Verdict::Fail);
        assert_eq!(outcome(vec![right.clone()]).verdict(), Verdict::Pass);
        assert_eq!(outcome(vec![right, wrong]).verdict(), Verdict::Fail);
        assert_eq!(outcome(vec![]).verdict(), Verdict::Fail);
    }

    #[test]
    fn a_control_must_miss_the_band() {
        let misses = Check::control("no friction", 2.0, "", Band::below(1.0));
        let lies_in_it = Check::control("no friction", 0.5, "", Band::below(1.0));
        assert_eq!(misses.verdict, Verdict::Pass);
        assert_eq!(lies_in_it.verdict, Verdict::Fail);
    }

    #[test]
    fn a_value_that_is_not_finite_always_fails() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for band in [Band::below(1.0), Band::above(1.0), Band::between(0.0, 1.0)] {
                assert_eq!(Check::new("x", value, "", band).verdict, Verdict::Fail);
                assert_eq!(Check::control("x", value, "", band).verdict, Verdict::Fail);
                let limited = Check::new("x", value, "", band).limited(band, "why");
                assert_eq!(limited.verdict, Verdict::Fail);
            }
        }
    }

    #[test]
    fn a_limit_fails_outside_its_range() {
        let check = |value| {
            Check::new("slope", value, "°", Band::around(35.0, 0.05))
                .limited(Band::between(28.0, 31.0), "the law localizes")
        };
        assert_eq!(check(29.6).verdict, Verdict::Limit);
        assert_eq!(check(35.0).verdict, Verdict::Pass);
        assert_eq!(check(20.0).verdict, Verdict::Fail);
        assert_eq!(outcome(vec![check(29.6)]).verdict(), Verdict::Limit);
    }
}
