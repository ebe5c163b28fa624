//! Development commands: `cargo xtask test | figures | gallery | instructions | replicate`.

mod documentation;
mod figures;
mod gallery;
mod instructions;
mod raster;
mod replicate;
mod viewer;

use clap::{Parser, Subcommand};
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};
use std::time::Instant;

/// Development commands
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Everything a change must pass: format, lints, tests, documentation
    Test,
    /// Update the figures of the pages from the measurements
    Figures(figures::Figures),
    /// Simulate the gallery and draw the pictures of the README
    Gallery,
    /// Count the instructions of the hot kernels and compare with the stored counts
    Instructions(instructions::Instructions),
    /// Simulate, draw and time the scenes of [Klar16] for docs/replicability.md
    Replicate(replicate::Replicate),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Task::Test => return test(),
        Task::Figures(asked) => figures::figures(repository(), &asked),
        Task::Gallery => gallery::gallery(repository()),
        Task::Instructions(asked) => instructions::instructions(&asked),
        Task::Replicate(asked) => replicate::replicate(repository(), &asked),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            println!("FAILED: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// Runs every stage, even after a failure, and lists the failures at the end.
fn test() -> ExitCode {
    let clock = Instant::now();
    let mut failed = Vec::new();
    for (name, stage) in STAGES {
        println!("── {name}");
        let start = Instant::now();
        let outcome = stage();
        let seconds = start.elapsed().as_secs_f64();
        match outcome {
            Ok(()) => println!("── {name}: passed in {seconds:.0} s\n"),
            Err(reason) => {
                println!("── {name}: FAILED after {seconds:.0} s: {reason}\n");
                failed.push(*name);
            }
        }
    }
    let seconds = clock.elapsed().as_secs_f64();
    if failed.is_empty() {
        println!("all {} stages passed in {seconds:.0} s", STAGES.len());
        ExitCode::SUCCESS
    } else {
        println!("FAILED in {seconds:.0} s: {}", failed.join(", "));
        ExitCode::FAILURE
    }
}

type Stage = fn() -> Result<(), String>;

/// Quick ones first. All cargo stages share the release profile, so that dependencies are built once.
const STAGES: &[(&str, Stage)] = &[
    ("tools", tools),
    ("format", || cargo("fmt --all --check")),
    ("citations and paths", texts),
    ("lints", || {
        cargo("clippy --release --workspace --all-targets -- -D warnings")
    }),
    ("dependencies", dependencies),
    ("tests", tests),
    ("instructions", || {
        instructions::instructions(&instructions::Instructions::default())
    }),
    ("viewer", viewer::test),
    ("viewer in a browser", viewer::test_in_browser),
    ("documentation", rustdoc),
];

/// Installs what the tests need: parts of the toolchain, a Python that reads Zarr, valgrind, packages and browser of the
/// viewer.
fn tools() -> Result<(), String> {
    for (component, program) in [("rustfmt", "fmt"), ("clippy", "clippy")] {
        if !succeeds(Command::new("cargo").args([program, "--version"])) {
            run(Command::new("rustup").args(["component", "add", component]))?;
        }
    }
    python_with_zarr()?;
    if !is_there("valgrind") {
        apt_install("valgrind")?;
    }
    viewer::tools()
}

fn apt_install(package: &str) -> Result<(), String> {
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        run(command
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive"))
    };
    apt(&["update"])?;
    apt(&["install", "--yes", "--no-install-recommends", package])
}

fn is_there(program: &str) -> bool {
    succeeds(Command::new(program).arg("--version"))
}

/// Whether a program can be started and succeeds; its output is dropped.
fn succeeds(command: &mut Command) -> bool {
    let output = command.output();
    output.is_ok_and(|output| output.status.success())
}

/// Path of the Python environment of the tests.
fn python() -> PathBuf {
    repository().join("target/python")
}

/// A virtual environment with zarr 3, with which frames are compared. Without Python that test is skipped.
fn python_with_zarr() -> Result<(), String> {
    let python = python();
    let program = python.join("bin/python");
    let reads_zarr = "import zarr; assert zarr.__version__ >= '3'";
    if succeeds(Command::new(&program).args(["-c", reads_zarr])) {
        return Ok(());
    }
    if run(Command::new("python3").args(["-m", "venv"]).arg(&python)).is_err() {
        println!(
            "no Python environment could be created: the comparison with zarr-python will be skipped"
        );
        return Ok(());
    }
    run(Command::new(program).args(["-m", "pip", "install", "--quiet", "zarr>=3"]))
}

/// Packages that the library must not build: programs that embed it have servers, command lines and encoders of their own.
const NOT_IN_LIBRARY: &[&str] = &["axum", "tokio", "clap", "openh264", "gif", "jpeg-encoder"];

/// The library builds no server, no command line and no encoder of films.
fn dependencies() -> Result<(), String> {
    let arguments = "tree --package barchan --edges normal --prefix none --locked --offline";
    let mut command = Command::new("cargo");
    command.args(arguments.split(' '));
    let output = output_of(&mut command)?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr);
        return Err(format!(
            "{command:?} ended with {}: {reason}",
            output.status
        ));
    }
    let tree = String::from_utf8_lossy(&output.stdout);
    match forbidden(&tree) {
        found if found.is_empty() => Ok(()),
        found => Err(format!(
            "`barchan` builds {}; see cargo tree --package barchan --invert {}",
            found.join(", "),
            found[0]
        )),
    }
}

/// Packages in the lines of `cargo tree` that the library must not build.
fn forbidden(tree: &str) -> Vec<&str> {
    let names = tree.lines().filter_map(|line| line.split(' ').next());
    let mut found: Vec<&str> = names.filter(|name| NOT_IN_LIBRARY.contains(name)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn tests() -> Result<(), String> {
    let mut command = Command::new("cargo");
    command.args(["test", "--release", "--workspace", "--no-fail-fast"]);
    let python = python().join("bin/python");
    if python.exists() {
        command.env("BARCHAN_PYTHON", python);
    }
    run(&mut command)
}

fn texts() -> Result<(), String> {
    let root = repository();
    let problems = documentation::problems(root).map_err(|e| e.to_string())?;
    for problem in &problems {
        println!("{problem}");
    }
    match problems.len() {
        0 => Ok(()),
        count => Err(format!("{count} problems")),
    }
}

/// Builds the documentation; every warning of rustdoc is an error, except for brackets that are not links.
fn rustdoc() -> Result<(), String> {
    let mut command = Command::new("cargo");
    command.args(["doc", "--release", "--workspace", "--no-deps"]);
    command.args(["--quiet", "--message-format=short"]);
    let output = output_of(&mut command)?;
    let text = String::from_utf8_lossy(&output.stderr);
    let problems = documentation::rustdoc_problems(repository(), &text);
    for problem in &problems {
        println!("{problem}");
    }
    match (output.status.success(), problems.len()) {
        (true, 0) => Ok(()),
        (true, count) => Err(format!("{count} warnings")),
        (false, _) => Err(format!("{command:?} ended with {}", output.status)),
    }
}

/// Text of a file.
fn read_text(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// Content of a JSON file.
fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, String> {
    let text = read_text(path)?;
    serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
}

/// Writes a file.
fn write_file(path: &Path, content: impl AsRef<[u8]>) -> Result<(), String> {
    std::fs::write(path, content).map_err(|e| format!("{}: {e}", path.display()))
}

/// Runs a program in the repository to its end and returns its output.
fn output_of(command: &mut Command) -> Result<Output, String> {
    let output = command.current_dir(repository()).output();
    output.map_err(|e| format!("{command:?} could not be started: {e}"))
}

/// Runs cargo with these arguments.
fn cargo(arguments: &str) -> Result<(), String> {
    run(Command::new("cargo").args(arguments.split(' ')))
}

/// Runs a program in the repository; its output goes directly to the terminal.
fn run(command: &mut Command) -> Result<(), String> {
    let status = command.current_dir(repository()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?} ended with {status}")),
        Err(error) => Err(format!("{command:?} could not be started: {error}")),
    }
}

fn repository() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_and_encoders_in_the_library_are_found() {
        let tree = "barchan v0.1.0 (/x)\ngif v0.14.1\ngif v0.14.1 (*)\ngif-dispose v1.0.0\nzarrs v0.23.0\n";
        assert_eq!(forbidden(tree), ["gif"]);
        assert!(forbidden("barchan v0.1.0 (/x)\nglam v0.33.0\n").is_empty());
    }
}
