//! Commands, one file each; only this file turns errors into exit codes and reports.

mod bench;
mod check;
mod detail;
mod info;
mod inputs;
mod measure;
mod output;
mod pictures;
mod progress;
mod render;
mod repair;
mod resources;
mod run;
mod scene;
mod scenes;
mod schema;
mod stop;
mod summary;
mod validate;
mod view;
mod writer;

use barchan::frame::CacheError;
use barchan::post::StressError;
use barchan::scene::SceneErrors;
use barchan::sim::simulation::SimulationError;
use barchan_render::RenderError;
use barchan_render::film::FilmError;
use barchan_render::picture::PictureError;
use barchan_render::sheet::SheetError;
use clap::{Parser, Subcommand};
use miette::{MietteHandlerOpts, Report};
use serde_json::{Value, json};
use std::fmt;
use std::process::ExitCode;
use textwrap::WordSplitter;

/// Simulates granular material: reads a scene, writes frames.
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
    View(view::View),
    Render(Box<render::Render>),
    Detail(detail::Detail),
    Bench(bench::Bench),
    Validate(validate::Validate),
}

impl Command {
    fn run(&self) -> Result<ExitCode, Failure> {
        match self {
            Self::Run(command) => command.run(),
            Self::Check(command) => command.run(),
            Self::Scenes(command) => command.run(),
            Self::Schema(command) => command.run(),
            Self::Info(command) => command.run(),
            Self::Measure(command) => command.run(),
            Self::View(command) => command.run(),
            Self::Render(command) => command.run(),
            Self::Detail(command) => command.run(),
            Self::Bench(command) => command.run(),
            Self::Validate(command) => command.run(),
        }
    }
}

/// Whether the call contains `--json`, even if it cannot be parsed.
fn wants_json() -> bool {
    std::env::args_os().any(|argument| argument == "--json")
}

/// Parses and executes the command line. Exit codes: 0 success, 1 failure, 2 invalid scene or call.
pub fn main() -> ExitCode {
    wrap_at_spaces();
    let command = match Arguments::try_parse() {
        Ok(arguments) => arguments.command,
        Err(error) => return refuse_call(&error),
    };
    match command.run() {
        Ok(code) => code,
        Err(failure) => {
            if wants_json() {
                // Standard error has the message, too: nothing is lost if this fails.
                let _ = output::say_json(&failure.to_json());
            }
            output::note(format_args!("{:?}", failure.report));
            ExitCode::from(failure.code)
        }
    }
}

/// Lines of error messages break at spaces only: numbers such as 1e-12, options and file names stay whole.
fn wrap_at_spaces() {
    let options = || MietteHandlerOpts::new().word_splitter(WordSplitter::NoHyphenation);
    // Fails only where a hook was set before, which nothing does.
    let _ = miette::set_hook(Box::new(move |_| Box::new(options().build())));
}

/// Reports a command line that cannot be parsed, or prints the help that it asks for.
fn refuse_call(error: &clap::Error) -> ExitCode {
    let asked_for = !error.use_stderr();
    let code = u8::try_from(error.exit_code()).unwrap_or(2);
    if !asked_for && wants_json() {
        let text = error.render().to_string();
        let message = text.trim_start_matches("error: ").trim_end();
        let _ = output::say_json(&json!({"error": message, "help": null, "exit_code": code}));
    }
    match error.print() {
        Err(error) if asked_for && error.kind() != std::io::ErrorKind::BrokenPipe => {
            output::note(format_args!("could not write to standard output: {error}"));
            ExitCode::FAILURE
        }
        _ => ExitCode::from(code),
    }
}

/// Why a command ends early: message and exit code.
struct Failure {
    code: u8,
    report: Report,
}

impl Failure {
    /// What `--json` prints instead of a result. The errors of a scene are listed in `problems`, each with its line.
    fn to_json(&self) -> Value {
        let mut object = json!({
            "error": self.report.to_string(),
            "help": self.report.help().map(|help| help.to_string()),
            "exit_code": self.code,
        });
        if let Some(errors) = self.report.downcast_ref::<SceneErrors>() {
            let problems = errors.errors().iter().map(|error| {
                json!({
                    "message": error.message(),
                    "help": error.help_text(),
                    "file": error.source_name(),
                    "line": error.line(),
                })
            });
            object["problems"] = problems.collect();
        }
        object
    }

    /// Invalid scene or call; nothing was written.
    fn call(message: impl fmt::Display, help: impl fmt::Display) -> Self {
        let report = miette::miette!(help = help.to_string(), "{message}");
        Self { code: 2, report }
    }

    /// A failure during execution.
    fn work(error: impl fmt::Display) -> Self {
        Self::with_code(1, error)
    }

    /// With an exit code of its own, and no help beyond the message.
    fn with_code(code: u8, error: impl fmt::Display) -> Self {
        let report = miette::miette!("{error}");
        Self { code, report }
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
        Self::with_code(code, error)
    }
}

impl From<CacheError> for Failure {
    fn from(error: CacheError) -> Self {
        let code = match error {
            CacheError::Missing(_)
            | CacheError::NotAResult { .. }
            | CacheError::Occupied { .. }
            | CacheError::Unwritable { .. }
            | CacheError::LostFrames { .. }
            | CacheError::OtherFormat { .. }
            | CacheError::InUse(_)
            | CacheError::NoFrame { .. } => 2,
            _ => 1,
        };
        Self::with_code(code, error)
    }
}

impl From<RenderError> for Failure {
    fn from(error: RenderError) -> Self {
        match error {
            RenderError::Cache(error) => error.into(),
            RenderError::Scene(errors) => errors.into(),
            RenderError::Color(error) => Self::call(error, "`barchan info` lists the columns"),
            RenderError::Stress(error) => error.into(),
            RenderError::NoFrames(_) => Self::work(error),
        }
    }
}

impl From<StressError> for Failure {
    fn from(error: StressError) -> Self {
        match error {
            StressError::Cache(error) => error.into(),
            StressError::Scene(errors) => errors.into(),
            StressError::Column { .. } | StressError::NoGrain { .. } => Self::with_code(2, error),
        }
    }
}

/// Errors that are failures during execution, whatever their cause.
macro_rules! failures_of_work {
    ($($error:ty),*) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::work(error)
            }
        })*
    };
}

failures_of_work!(FilmError, PictureError, SheetError);
