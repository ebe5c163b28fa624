//! The report of all cases: entries kept between runs, and the files written.

use super::outcome::{Outcome, Verdict};
use super::{CASES, Case, Form, page};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::{fs, io};

/// Name of the page.
pub const PAGE: &str = "report.html";
/// Name of the file with the same data.
pub const NUMBERS: &str = "report.json";

/// Result of a case with a solver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Name of the case.
    pub case: String,
    /// Title of the case.
    pub title: String,
    /// The solver.
    pub solver: String,
    /// Quick or full.
    pub form: Form,
    /// How it ended.
    pub verdict: Verdict,
    /// Checks and plots.
    pub outcome: Outcome,
    /// Why it could not be carried out.
    pub error: Option<String>,
    /// Wall time [s].
    pub wall_s: f64,
    /// When it ended, seconds since 1970 in UTC [s].
    pub unix_time: u64,
}

/// The machine that ran the cases.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Name of the processor.
    pub processor: String,
    /// SIMD level that the solvers use, such as `Avx2`.
    pub simd: String,
}

/// All cases that were run, by this call or, with the same version of the program, by earlier ones.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Version of the program.
    pub version: String,
    /// Machine of the last call.
    #[serde(default)]
    pub machine: Machine,
    /// Threads of the last call.
    pub threads: usize,
    /// The cases, in the order of the table.
    pub entries: Vec<Entry>,
}

impl Report {
    /// The report of an earlier call in `directory`; empty if there is none, or if it is of another version of the program.
    pub fn read(directory: &Path, version: &str, machine: Machine, threads: usize) -> Self {
        let text = fs::read_to_string(directory.join(NUMBERS)).unwrap_or_default();
        let earlier: Self = serde_json::from_str(&text).unwrap_or_default();
        let entries = if earlier.version == version {
            earlier.entries
        } else {
            vec![]
        };
        Self {
            version: version.into(),
            machine,
            threads,
            entries,
        }
    }

    /// Adds an entry or replaces an earlier one, in the order of the cases.
    pub fn add(&mut self, entry: Entry) {
        self.entries
            .retain(|e| (&e.case, &e.solver) != (&entry.case, &entry.solver));
        self.entries.push(entry);
        let place = |entry: &Entry| {
            let is_it = |c: &Case| c.name == entry.case;
            CASES.iter().position(is_it).unwrap_or(usize::MAX)
        };
        self.entries.sort_by_key(place);
    }

    /// Number of entries with this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.entries.iter().filter(|e| e.verdict == verdict).count()
    }

    /// Writes page and numbers into `directory`.
    ///
    /// # Errors
    /// The directory or its files cannot be written.
    pub fn write(&self, directory: &Path) -> io::Result<()> {
        fs::create_dir_all(directory)?;
        let numbers = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
        fs::write(directory.join(NUMBERS), numbers + "\n")?;
        fs::write(directory.join(PAGE), page::html(self))
    }
}

/// A date as `2026-01-31 12:30 UTC`.
pub fn date(unix_time: u64) -> String {
    let (days, seconds) = (unix_time / 86_400, unix_time % 86_400);
    // Days since 1 March of year 0, so that a leap day ends its year; 400 years are 146 097 days.
    let z = days + 719_468;
    let (era, day_of_era) = (z / 146_097, z % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute) = (seconds / 3600, seconds % 3600 / 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;
    use crate::outcome::{Band, Check};

    fn entry(case: &str, measured: f64) -> Entry {
        let outcome = Outcome {
            checks: vec![Check::new("x", measured, "m", Band::between(0.0, 1.0))],
            ..Outcome::default()
        };
        Entry {
            case: case.into(),
            title: "a case".into(),
            solver: "mpm".into(),
            form: Form::Full,
            verdict: outcome.verdict(),
            outcome,
            error: None,
            wall_s: 1.0,
            unix_time: 0,
        }
    }

    #[test]
    fn dates_are_right() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_782_399), "2000-02-28 23:59 UTC");
        assert_eq!(date(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(date(1_767_225_599), "2025-12-31 23:59 UTC");
    }

    #[test]
    fn earlier_entries_of_the_same_version_stay() {
        let place = tempfile::tempdir().unwrap();
        let read = |version| Report::read(place.path(), version, Machine::default(), 2);
        let mut report = read("1");
        report.add(entry("F3", 0.5));
        report.add(entry("E2", f64::NAN));
        report.write(place.path()).unwrap();
        let mut again = read("1");
        assert_eq!(again, report);
        let names: Vec<&str> = again.entries.iter().map(|e| &*e.case).collect();
        assert_eq!(names, ["E2", "F3"]);
        assert_eq!(
            (again.count(Verdict::Pass), again.count(Verdict::Fail)),
            (1, 1)
        );
        again.add(entry("E2", 0.5));
        assert_eq!((again.entries.len(), again.count(Verdict::Pass)), (2, 2));
        assert!(read("2").entries.is_empty());
        fs::write(place.path().join(NUMBERS), "{ damaged").unwrap();
        assert!(read("1").entries.is_empty());
    }
}
