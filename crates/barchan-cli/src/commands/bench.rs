//! `barchan bench`: how fast this machine does what barchan does.

mod detail;
mod mpm;
mod pbd;
mod render;
mod runner;
mod sph;

use super::Failure;
use clap::{Args, Subcommand};
use std::process::ExitCode;

/// Measure speed on this machine
#[derive(Debug, Args)]
pub struct Bench {
    #[command(subcommand)]
    what: What,
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
        match &self.what {
            What::Detail(bench) => bench.run(),
            What::Mpm(bench) => bench.run(),
            What::Pbd(bench) => bench.run(),
            What::Render(bench) => bench.run(),
            What::Sph(bench) => bench.run(),
        }
    }

    pub fn wants_json(&self) -> bool {
        match &self.what {
            What::Detail(bench) => bench.json,
            What::Mpm(bench) => bench.json,
            What::Pbd(bench) => bench.json,
            What::Render(bench) => bench.json,
            What::Sph(bench) => bench.json,
        }
    }
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
    let (digits, factor) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1e3),
        None => match text.strip_suffix('M') {
            Some(digits) => (digits, 1e6),
            None => (text, 1.0),
        },
    };
    match digits.parse::<f64>().map(|n| n * factor) {
        Ok(n) if (1.0..=1e9).contains(&n) => Ok(n as u64),
        _ => Err("give a number up to 1000M, such as 200k or 20M".into()),
    }
}
