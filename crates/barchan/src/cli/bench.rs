//! `barchan bench`: how fast this machine does what barchan does.

mod render;

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
    Render(render::BenchRender),
}

impl Bench {
    pub fn run(&self) -> Result<ExitCode, Failure> {
        match &self.what {
            What::Render(bench) => bench.run(),
        }
    }

    pub fn wants_json(&self) -> bool {
        match &self.what {
            What::Render(bench) => bench.json,
        }
    }
}
