//! `cargo xtask instructions`: instruction counts of the hot kernels under callgrind, compared with the stored ones.
//!
//! Counts are the same on every run, also on a busy machine. They depend on the compiler: with another one they are
//! shown, not compared.

use crate::{cargo, output_of, read_json, repository, write_file};
use clap::Args;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Relative growth of a kernel above which the benchmark fails.
const LIMIT: f64 = 0.05;
const KEPT: &str = "crates/barchan-sim/benches/instructions.json";

#[derive(Args, Default)]
pub struct Instructions {
    /// Store the counts measured now
    #[arg(long)]
    bless: bool,
}

/// Counts the instructions of every kernel and compares.
pub fn instructions(asked: &Instructions) -> Result<(), String> {
    if !cfg!(target_arch = "x86_64") {
        println!("the stored counts are for x86-64: nothing to compare");
        return Ok(());
    }
    let program = build()?;
    let found = count_all(&program)?;
    let compiler = compiler()?;
    let path = repository().join(KEPT);
    if asked.bless {
        let kept = json!({"compiler": compiler, "instructions": found});
        let text = serde_json::to_string_pretty(&kept).map_err(|e| e.to_string())?;
        return write_file(&path, text + "\n");
    }
    let kept: Value = read_json(&path)?;
    let problems = compare(&kept["instructions"], &found);
    let before = &kept["compiler"];
    if *before != json!(compiler) {
        println!("stored with {before}, measured with {compiler}: not compared");
        return Ok(());
    }
    match problems.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "{}; to accept the new counts: cargo xtask instructions --bless",
            problems.join("; ")
        )),
    }
}

/// Kernels that grew beyond the limit or have no stored count.
fn compare(kept: &Value, found: &Map<String, Value>) -> Vec<String> {
    let mut problems = Vec::new();
    for (kernel, count) in found {
        let now = count.as_f64().unwrap_or(f64::NAN);
        let Some(before) = kept[kernel].as_f64() else {
            problems.push(format!("{kernel} has no stored count"));
            continue;
        };
        let change = now / before - 1.0;
        let percent = 100.0 * change;
        println!("{kernel:<20} {now:>10} instructions, {percent:+.1} %");
        if change.is_nan() || change > LIMIT {
            problems.push(format!("{kernel} grew by {percent:.1} %"));
        }
    }
    problems
}

/// Builds the benchmark; returns the program. With the whole workspace, so that dependencies have the same features as in
/// its tests and are not rebuilt.
fn build() -> Result<PathBuf, String> {
    let what = "build --release --workspace --bench kernels";
    cargo(what)?;
    let mut command = Command::new("cargo");
    command
        .args(what.split(' '))
        .args(["--message-format=json", "--quiet"]);
    let output = output_of(&mut command)?;
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["target"]["name"] == "kernels")
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .ok_or_else(|| "cargo did not report the path of the benchmark".into())
}

fn count_all(program: &Path) -> Result<Map<String, Value>, String> {
    let output = output_of(&mut Command::new(program))?;
    let names = String::from_utf8_lossy(&output.stdout);
    let counted = |kernel: &str| Ok((kernel.to_owned(), json!(count(program, kernel)?)));
    names.lines().map(counted).collect()
}

/// Instructions inside `measured_*` of one kernel.
fn count(program: &Path, kernel: &str) -> Result<u64, String> {
    let mut command = Command::new("valgrind");
    command
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg("--toggle-collect=kernels::measured_*")
        .arg(program)
        .arg(kernel)
        .env("RAYON_NUM_THREADS", "1");
    let output = command.output();
    let output = output.map_err(|e| format!("valgrind could not be started: {e}; install it"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    text.lines()
        .find_map(|line| line.split("Collected :").nth(1))
        .and_then(|count| count.trim().parse().ok())
        .filter(|&count| count > 0)
        .ok_or_else(|| format!("callgrind counted nothing in {kernel}:\n{text}"))
}

fn compiler() -> Result<String, String> {
    let output = output_of(Command::new("rustc").arg("--version"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_growth_beyond_the_limit_is_a_problem() {
        let kept = json!({"scatter": 1000, "gather": 1000, "sort": 1000});
        let found = |scatter, gather| {
            let value = json!({"scatter": scatter, "gather": gather, "sort": 400});
            value.as_object().cloned().unwrap_or_default()
        };
        assert!(compare(&kept, &found(1049, 900)).is_empty());
        assert_eq!(compare(&kept, &found(1051, 900)).len(), 1);
        assert_eq!(compare(&kept, &found(2000, 2000)).len(), 2);
        assert_eq!(compare(&json!({}), &found(1, 1)).len(), 3);
    }
}
