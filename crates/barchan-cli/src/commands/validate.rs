//! `barchan validate`: the solvers against theory and experiment.

use super::{Failure, output, resources};
use barchan_validate::{self as validate, CASES, Case, Context, Form, Report, Verdict, report};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Compare the solvers with theory and experiment; writes a report with plots
#[derive(Debug, Args)]
pub struct Validate {
    /// Only cases whose names start with this, such as E1 or F; may be repeated [default: all]
    #[arg(long = "case", value_name = "NAME")]
    cases: Vec<String>,
    /// Run the quick form of each case, as the tests do: seconds instead of minutes
    #[arg(long)]
    quick: bool,
    /// List the cases
    #[arg(long)]
    list: bool,
    /// Directory of the report
    #[arg(short, long, value_name = "DIR", default_value = "validation")]
    output: PathBuf,
    /// Threads; any number gives the same result [default: one for each processor]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Show no progress and end with one JSON object
    #[arg(long)]
    json: bool,
}

impl Validate {
    pub fn run(&self) -> Result<ExitCode, Failure> {
        let cases = self.chosen()?;
        if self.list {
            return self.show_list(&cases);
        }
        resources::use_threads(self.threads)?;
        let threads = rayon::current_num_threads();
        let version = env!("CARGO_PKG_VERSION");
        let mut report = Report::read(&self.output, version, resources::machine(), threads);
        // Fails early if the report cannot be written.
        self.write(&report)?;
        let mut done = vec![];
        for case in cases {
            for solver in case.solvers {
                let entry = self.show_and_run(case, solver)?;
                done.push((entry.case.clone(), entry.solver.clone()));
                report.add(entry);
                self.write(&report)?;
            }
        }
        self.conclude(&report, &done)
    }

    /// The selected cases, in the order of the table.
    fn chosen(&self) -> Result<Vec<&'static Case>, Failure> {
        if self.cases.is_empty() {
            return Ok(CASES.iter().collect());
        }
        let mut names = vec![];
        for word in &self.cases {
            let found = validate::matching(word);
            if found.is_empty() {
                let all: Vec<&str> = CASES.iter().map(|c| c.name).collect();
                return Err(Failure::call(
                    format_args!("there is no case `{word}`"),
                    format_args!(
                        "the cases are {}; a prefix such as `E` selects all that start with it",
                        all.join(", ")
                    ),
                ));
            }
            names.extend(found.iter().map(|c| c.name));
        }
        Ok(CASES.iter().filter(|c| names.contains(&c.name)).collect())
    }

    fn show_list(&self, cases: &[&Case]) -> Result<ExitCode, Failure> {
        if self.json {
            let entry = |c: &&Case| json!({"name": c.name, "title": c.title, "solvers": c.solvers, "seconds": c.seconds});
            let list: Vec<_> = cases.iter().map(entry).collect();
            output::say_json(&json!({ "cases": list }))?;
            return Ok(ExitCode::SUCCESS);
        }
        for case in cases {
            output::say(format_args!(
                "{:<4} {:<8} {:<62} about {}",
                case.name,
                case.solvers.join(" "),
                case.title,
                output::duration(case.seconds)
            ))?;
        }
        let total = cases.iter().map(|c| c.seconds).sum();
        output::say(format_args!(
            "all of them: about {} on two cores",
            output::duration(total)
        ))?;
        Ok(ExitCode::SUCCESS)
    }

    /// Runs one case with one solver, showing progress.
    fn show_and_run(&self, case: &Case, solver: &'static str) -> Result<validate::Entry, Failure> {
        let bar = (!self.json && std::io::stderr().is_terminal()).then(spinner);
        let watch = |text: &str| {
            if let Some(bar) = &bar {
                bar.set_message(format!("{} {} · {text}", case.name, case.title));
            }
        };
        let context = Context {
            solver,
            form: if self.quick { Form::Quick } else { Form::Full },
            watch: &watch,
        };
        let entry = case.entry(&context);
        if let Some(bar) = &bar {
            bar.finish_and_clear();
        }
        if !self.json {
            let took = output::duration(entry.wall_s);
            let verdict = entry.verdict.word();
            output::say(format_args!(
                "{:<4} {:<8} {verdict:<6} {} ({took})",
                case.name, solver, case.title
            ))?;
            for check in &entry.outcome.checks {
                if check.verdict == Verdict::Fail {
                    let value = check.measured.map_or("not a number".into(), output::number);
                    output::say(format_args!(
                        "       {}: {value} {}",
                        check.what, check.unit
                    ))?;
                }
            }
            if let Some(error) = &entry.error {
                output::say(format_args!("       {error}"))?;
            }
        }
        Ok(entry)
    }

    fn write(&self, report: &Report) -> Result<(), Failure> {
        report.write(&self.output).map_err(|error| {
            Failure::call(
                format_args!("cannot write into {}: {error}", self.output.display()),
                "choose another directory with -o",
            )
        })
    }

    /// Prints the outcome; only the cases of this call determine the exit code.
    fn conclude(&self, report: &Report, done: &[(String, String)]) -> Result<ExitCode, Failure> {
        let now: Vec<&validate::Entry> = report
            .entries
            .iter()
            .filter(|e| done.contains(&(e.case.clone(), e.solver.clone())))
            .collect();
        let count = |verdict| now.iter().filter(|e| e.verdict == verdict).count();
        let (passed, limits, failed) = (
            count(Verdict::Pass),
            count(Verdict::Limit),
            count(Verdict::Fail),
        );
        let page = self.output.join(report::PAGE);
        if self.json {
            let entry = |e: &&validate::Entry| json!({"case": e.case, "solver": e.solver, "verdict": e.verdict, "wall_s": e.wall_s, "error": e.error});
            output::say_json(&json!({
                "cases": now.iter().map(entry).collect::<Vec<_>>(),
                "passed": passed,
                "limits": limits,
                "failed": failed,
                "report": page,
            }))?;
        } else {
            output::say(format_args!(
                "{passed} pass, {limits} at a known limit, {failed} fail; see {}",
                page.display()
            ))?;
        }
        Ok(ExitCode::from(u8::from(failed > 0)))
    }
}

fn spinner() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}
