//! `barchan bench`: throughput on this machine.

mod detail;
mod mpm;
mod pbd;
mod render;
mod runner;
mod sph;

use super::{Failure, output, resources};
use barchan_validate::report::Machine;
use clap::{Args, Subcommand};
use serde::Serialize;
use std::fmt;
use std::process::ExitCode;

/// Measure speed on this machine
#[derive(Debug, Args)]
pub struct Bench {
    #[command(subcommand)]
    what: What,
    /// Threads [default: one for each processor]
    #[arg(long, value_name = "N", global = true)]
    threads: Option<usize>,
    /// End with one JSON object
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum What {
    Detail(detail::BenchDetail),
    Mpm(mpm::BenchMpm),
    Pbd(pbd::BenchPbd),
    Render(render::BenchRender),
    Sph(sph::BenchSph),
}

impl Bench {
    pub fn run(&self) -> Result<ExitCode, Failure> {
        resources::use_threads(self.threads)?;
        let note = |text: fmt::Arguments<'_>| {
            if !self.json {
                output::note(text);
            }
        };
        match &self.what {
            What::Detail(bench) => self.show(bench.measure()?),
            What::Mpm(bench) => self.show(bench.measure(&note)?),
            What::Pbd(bench) => self.show(bench.measure(&note)?),
            What::Render(bench) => self.show(bench.measure()?),
            What::Sph(bench) => self.show(bench.measure(&note)?),
        }
    }

    fn show(&self, report: impl Serialize + fmt::Display) -> Result<ExitCode, Failure> {
        let machine = resources::machine();
        output::report(&Measured { machine, report }, self.json, |measured| {
            output::say(measured.report.to_string().trim_end())
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Text of a scene in `scenes/bench`.
macro_rules! bench_scene {
    ($name:literal) => {
        include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../scenes/bench/",
            $name,
            ".toml"
        ))
    };
}
use bench_scene;

/// Reports the progress of a bench.
type Note<'a> = &'a dyn Fn(fmt::Arguments<'_>);

/// Result of a bench, and the machine that it ran on.
#[derive(Serialize)]
struct Measured<R> {
    machine: Machine,
    #[serde(flatten)]
    report: R,
}

/// Largest resident memory of this process so far [bytes].
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(1024 * kib)
}

/// `200k`, `20M` or a plain number.
pub(super) fn count(text: &str) -> Result<u64, String> {
    let thousands = text.strip_suffix(['k', 'K']).map(|digits| (digits, 1e3));
    let millions = || text.strip_suffix('M').map(|digits| (digits, 1e6));
    let (digits, factor) = thousands.or_else(millions).unwrap_or((text, 1.0));
    match digits.parse::<f64>().map(|n| n * factor) {
        Ok(n) if (1.0..=1e9).contains(&n) => Ok(n as u64),
        _ => Err("give a number up to 1000M, such as 200k or 20M".into()),
    }
}
