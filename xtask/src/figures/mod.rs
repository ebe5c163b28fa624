//! `cargo xtask figures`: the figures in the pages, from the results in `docs/results`.
//!
//! ```text
//! barchan validate, barchan bench ──► docs/results/*.json ──► blocks of the pages
//! ```
//!
//! The key of a block specifies its content: `cases E`, `check E2 mpm "h∞/d at a = 2" 2`, `grid D6 mpm "slope, φ = {}, ν = {}" 1`,
//! `validation cases`, `bench mpm`, `bench mpm speedup 2`, `replicate looks`. Pages therefore cannot disagree.

mod blocks;
mod performance;
mod validation;

pub use blocks::table;

use crate::{gallery, read_json, read_text, replicate, write_file};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Options.
#[derive(Debug, clap::Args)]
pub struct Figures {
    /// Run the commands first, which takes an hour or so
    #[arg(long, value_name = "WHAT", value_parser = ["validation", "performance"], num_args = 1..)]
    measure: Vec<String>,
    /// Take the figures of the validation from an existing report
    #[arg(long, value_name = "DIR", conflicts_with = "measure")]
    report: Option<PathBuf>,
}

/// Measures what is requested, and updates every block of every page.
pub fn figures(root: &Path, asked: &Figures) -> Result<(), String> {
    for what in &asked.measure {
        match &**what {
            "validation" => validate(root)?,
            _ => measure_performance(root)?,
        }
    }
    if let Some(report) = &asked.report {
        keep_report(root, report)?;
    }
    write(root)
}

/// Updates every block of every page.
pub fn write(root: &Path) -> Result<(), String> {
    let results = Results::read(root)?;
    let mut wrong = 0;
    for path in crate::documentation::pages(root).map_err(|e| e.to_string())? {
        let page = read_text(&path)?;
        let done = results.rewrite(&page);
        if done.text != page {
            write_file(&path, done.text)?;
        }
        for (line, reason) in &done.wrong {
            println!("{}:{line}: {reason}", path.display());
        }
        wrong += done.wrong.len();
    }
    match wrong {
        0 => Ok(()),
        count => Err(format!("{count} blocks cannot be written")),
    }
}

/// The measured results in `docs/results`.
#[derive(Debug, Default)]
pub struct Results {
    validation: Value,
    performance: Value,
    replicability: Map<String, Value>,
}

impl Results {
    /// Reads all results; one that is missing is empty.
    pub fn read(root: &Path) -> Result<Self, String> {
        Ok(Self {
            validation: Value::Object(read(root, "validation")?),
            performance: Value::Object(read(root, "performance")?),
            replicability: read(root, "replicability")?,
        })
    }

    /// Lines of blocks that are wrong or out of date, and why.
    pub fn problems(&self, page: &str) -> Vec<(usize, String)> {
        let done = self.rewrite(page);
        [done.wrong, done.stale].concat()
    }

    fn rewrite(&self, page: &str) -> blocks::Rewritten {
        blocks::rewrite(page, &|key| self.generate(key))
    }

    /// The content of the block of a key.
    fn generate(&self, key: &str) -> Result<String, String> {
        match &*blocks::words(key) {
            ["validation", "about"] => Ok(validation::about(&self.validation)),
            ["validation", "cases"] => validation::letters(&self.validation),
            ["validation", "overview"] => validation::overview(&self.validation),
            ["summary", solver] => validation::summary(&self.validation, solver),
            ["cases", which @ ..] => validation::cases(&self.validation, which),
            ["grid", which @ ..] => validation::grid(&self.validation, which),
            ["check", which @ ..] => validation::check(&self.validation, which),
            ["bench", which @ ..] => performance::bench(&self.performance, which),
            ["replicate", name] => replicate::table(name, &self.replicability),
            _ => Err(
                "a key begins with cases, summary, check, grid, validation, bench or replicate"
                    .into(),
            ),
        }
    }
}

/// File of one kind of results.
fn file(root: &Path, kind: &str) -> PathBuf {
    root.join(format!("docs/results/{kind}.json"))
}

/// Results of one kind; empty when there are none yet.
pub fn read(root: &Path, kind: &str) -> Result<Map<String, Value>, String> {
    let path = file(root, kind);
    match path.exists() {
        true => read_json(&path),
        false => Ok(Map::new()),
    }
}

/// Stores results of one kind.
pub fn keep(root: &Path, kind: &str, found: &Map<String, Value>) -> Result<(), String> {
    let text = serde_json::to_string_pretty(found).map_err(|e| e.to_string())?;
    write_file(&file(root, kind), text + "\n")
}

/// Runs every case in its full form. A case that fails is recorded like any other.
fn validate(root: &Path) -> Result<(), String> {
    let report = root.join("target/figures/validation");
    let mut command = Command::new(gallery::build(root)?);
    command.arg("validate").arg("-o").arg(&report);
    if let Err(reason) = crate::run(&mut command) {
        println!("{reason}");
    }
    keep_report(root, &report)
}

fn keep_report(root: &Path, report: &Path) -> Result<(), String> {
    let report = read_json(&report.join("report.json"))?;
    keep(root, "validation", &validation::trimmed(&report))
}

fn measure_performance(root: &Path) -> Result<(), String> {
    let program = gallery::build(root)?;
    let mut found = Map::new();
    for bench in performance::BENCHES {
        let shown = format!("barchan bench {}", bench.arguments.join(" "));
        println!("── {shown}");
        let mut command = Command::new(&program);
        command.arg("bench").args(bench.arguments).arg("--json");
        let result = last_object(&mut command)?;
        let measured = json!({"command": shown, "result": result});
        found.insert(bench.name.into(), measured);
        keep(root, "performance", &found)?;
    }
    Ok(())
}

/// Runs the program with `--json` and reads the object at the end of its output; its other output goes to the terminal.
pub fn last_object(command: &mut Command) -> Result<Value, String> {
    let output = crate::output_of(command.stderr(Stdio::inherit()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last();
    let object = last.and_then(|line| serde_json::from_str(line).ok());
    let status = output.status;
    object.ok_or_else(|| format!("{command:?} ended with {status} and without an object"))
}
