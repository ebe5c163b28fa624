//! Commands, one file each; errors become exit codes and reports here and nowhere else.

mod check;
mod info;
mod inputs;
mod measure;
mod output;
mod progress;
mod resources;
mod run;
mod scene;
mod scenes;
mod schema;
mod summary;

use barchan::frame::CacheError;
use barchan::scene::SceneErrors;
use barchan::sim::simulation::SimulationError;
use clap::{Parser, Subcommand};
use miette::Report;
use std::fmt;
use std::process::ExitCode;

/// Simulates granular material: a scene goes in, frames come out.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Run),
    Check(check::Check),
    Scenes(scenes::Scenes),
    Schema(schema::Schema),
    Info(info::Info),
    Measure(measure::Measure),
}

/// Reads the command line and obeys it. Exit codes: 0 done, 1 failed, 2 the scene or the call is wrong.
pub fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Run(command) => command.run(),
        Command::Check(command) => command.run(),
        Command::Scenes(command) => command.run(),
        Command::Schema(command) => command.run(),
        Command::Info(command) => command.run(),
        Command::Measure(command) => command.run(),
    };
    match result {
        Ok(code) => code,
        Err(failure) => {
            output::note(format_args!("{:?}", failure.report));
            ExitCode::from(failure.code)
        }
    }
}

/// Why a command ends early: what to tell, and the exit code.
struct Failure {
    code: u8,
    report: Report,
}

impl Failure {
    /// The scene or the call is wrong; nothing was written.
    fn call(message: impl fmt::Display, help: impl fmt::Display) -> Self {
        let report = miette::miette!(help = help.to_string(), "{message}");
        Self { code: 2, report }
    }

    /// The work itself failed.
    fn work(error: impl fmt::Display) -> Self {
        let report = miette::miette!("{error}");
        Self { code: 1, report }
    }
}

impl From<SceneErrors> for Failure {
    fn from(errors: SceneErrors) -> Self {
        Self {
            code: 2,
            report: Report::new(errors),
        }
    }
}

impl From<SimulationError> for Failure {
    fn from(error: SimulationError) -> Self {
        let code = if error.is_scene_error() { 2 } else { 1 };
        let report = miette::miette!("{error}");
        Self { code, report }
    }
}

impl From<CacheError> for Failure {
    fn from(error: CacheError) -> Self {
        let code = match error {
            CacheError::Missing(_)
            | CacheError::NotAResult { .. }
            | CacheError::Occupied { .. }
            | CacheError::NewerFormat { .. }
            | CacheError::InUse(_)
            | CacheError::NoFrame { .. } => 2,
            _ => 1,
        };
        let report = miette::miette!("{error}");
        Self { code, report }
    }
}
