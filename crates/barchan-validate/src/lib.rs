//! Validation of the solvers against theory and experiment: cases, outcomes and the report.
//!
//! ```text
//! CASES ──► Case::run(&Context) ──► Outcome (checks, plots) ──► Report ──► report.html, report.json
//! ```
//!
//! A case takes its scenes from `scenes/validation`, runs them in memory, and compares. It has a quick form, which is a test
//! (`tests/cases.rs`), and a full one, which `barchan validate` runs. The names are those of `docs/validation.md`.

pub mod cases;
pub mod fit;
pub mod outcome;
pub mod page;
pub mod plot;
mod reference;
pub mod report;
pub mod scene;
pub mod trial;

pub use cases::CASES;
pub use outcome::{Band, Check, Outcome, Verdict};
pub use report::{Entry, Report};

use barchan_post::measure::MeasureError;
use barchan_scene::{FAMILIES, SceneErrors};
use barchan_sim::simulation::SimulationError;
use serde::{Deserialize, Serialize};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Families of solvers that the report has a column for.
pub fn solvers() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().map(|family| family.name)
}

/// A comparison with theory or experiment.
pub struct Case {
    /// Short name, such as `E1`.
    pub name: &'static str,
    /// Subject of the comparison, in a few words.
    pub title: &'static str,
    /// Solvers to which it applies, of [`solvers`].
    pub solvers: &'static [&'static str],
    /// Rough duration of the full form on two cores [s].
    pub seconds: f64,
    /// Runs it.
    pub run: fn(&Context<'_>) -> Result<Outcome, ValidateError>,
}

impl Case {
    /// Runs the case with one solver. A failure becomes a failed entry, not an error, so that the other cases still run.
    pub fn entry(&self, context: &Context<'_>) -> Entry {
        let clock = Instant::now();
        let (outcome, error) = match (self.run)(context) {
            Ok(outcome) => (outcome, None),
            Err(error) => (Outcome::default(), Some(error.to_string())),
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Entry {
            case: self.name.into(),
            title: self.title.into(),
            solver: context.solver.into(),
            form: context.form,
            verdict: match error {
                Some(_) => Verdict::Fail,
                None => outcome.verdict(),
            },
            outcome,
            error,
            wall_s: clock.elapsed().as_secs_f64(),
            unix_time: now.map_or(0, |t| t.as_secs()),
        }
    }
}

/// How thoroughly a case is run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Seconds: fewer points, coarser grids, shorter runs, with the bands that these allow.
    Quick,
    /// The form shown in the report.
    #[default]
    Full,
}

/// Input of a case.
pub struct Context<'a> {
    /// The solver to run with, of [`solvers`].
    pub solver: &'static str,
    /// Quick or full.
    pub form: Form,
    /// Called with a progress message when a run starts and after every frame.
    pub watch: &'a dyn Fn(&str),
}

impl Context<'_> {
    /// A parameter that differs between the forms.
    pub fn pick<T>(&self, quick: T, full: T) -> T {
        match self.form {
            Form::Quick => quick,
            Form::Full => full,
        }
    }

    /// The entry of the solver in a table of a case.
    ///
    /// # Errors
    /// The table has no such entry.
    pub fn of_solver<T>(
        &self,
        table: &'static [(&'static str, T)],
    ) -> Result<&'static T, ValidateError> {
        let own = table.iter().find(|(solver, _)| *solver == self.solver);
        own.map(|(_, entry)| entry)
            .ok_or_else(|| ValidateError::unusable(self.solver, "the case has no entry for it"))
    }
}

/// The cases that an argument selects: the one of that name, or all whose name begins with it.
pub fn matching(word: &str) -> Vec<&'static Case> {
    let word = word.to_lowercase();
    let name = |case: &Case| case.name.to_lowercase();
    let exact: Vec<_> = CASES.iter().filter(|c| name(c) == word).collect();
    if !exact.is_empty() || word.is_empty() {
        return exact;
    }
    let begins = |case: &&Case| name(case).starts_with(&word);
    CASES.iter().filter(begins).collect()
}

/// Why a case could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum ValidateError {
    /// A scene of the case is wrong: a bug of the case.
    #[error("the scene of `{label}` is wrong: {source}")]
    Scene {
        /// Which run of the case.
        label: String,
        /// What is wrong.
        source: Box<SceneErrors>,
    },
    /// A simulation stopped.
    #[error("`{label}`: {source}")]
    Simulation {
        /// Which run of the case.
        label: String,
        /// Why.
        source: SimulationError,
    },
    /// A frame cannot be measured.
    #[error("`{label}`: {source}")]
    Measure {
        /// Which run of the case.
        label: String,
        /// Why.
        source: MeasureError,
    },
    /// The run gave something that the comparison cannot use.
    #[error("`{label}`: {reason}")]
    Unusable {
        /// Which run of the case.
        label: String,
        /// What is missing.
        reason: String,
    },
}

impl ValidateError {
    /// The run gave something that the comparison cannot use.
    pub fn unusable(label: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Unusable {
            label: label.into(),
            reason: reason.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_solvers_known() {
        let named = CASES
            .iter()
            .flat_map(|c| c.solvers.iter().map(|s| (c.name, *s)));
        let names: BTreeSet<(&str, &str)> = named.clone().collect();
        assert_eq!(names.len(), named.count());
        for case in CASES {
            assert!(!case.solvers.is_empty());
            assert!(
                case.solvers
                    .iter()
                    .all(|s| solvers().any(|known| known == *s))
            );
        }
    }

    #[test]
    fn a_word_means_a_name_or_a_family() {
        let names = |word: &str| -> Vec<&str> { matching(word).iter().map(|c| c.name).collect() };
        assert_eq!(names("E2"), ["E2"]);
        assert_eq!(names("e2"), ["E2"]);
        assert!(names("F").len() > 1 && names("F").iter().all(|n| n.starts_with('F')));
        assert!(names("Z9").is_empty() && names("").is_empty());
    }

    #[test]
    fn a_case_that_cannot_run_is_a_failure_with_its_reason() {
        let broken = Case {
            name: "X0",
            title: "a case that cannot run",
            solvers: &["mpm"],
            seconds: 0.0,
            run: |_| Err(ValidateError::unusable("run", "nothing came out")),
        };
        let context = Context {
            solver: "mpm",
            form: Form::Quick,
            watch: &|_| {},
        };
        let entry = broken.entry(&context);
        assert_eq!(entry.verdict, Verdict::Fail);
        assert!(entry.error.unwrap().contains("nothing came out"));
    }
}
