//! Helpers for running the program.

#![allow(dead_code, reason = "each test program uses a part")]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

pub mod viewer;

/// A block of sand on a floor, coarse enough for a run of about one second.
pub const SCENE: &str = include_str!("../../../../scenes/tests/block.toml");

/// A file of `scenes/`.
pub fn scene_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../scenes")
        .join(name)
}

/// An empty directory to run the program in.
pub struct Place {
    directory: TempDir,
}

impl Place {
    /// With [`SCENE`] as `block.toml`.
    pub fn new() -> Self {
        let place = Self {
            directory: tempfile::tempdir().unwrap(),
        };
        place.write("block.toml", SCENE);
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// Copies a scene of `scenes/tests` here.
    pub fn scene(&self, name: &str) {
        std::fs::copy(scene_path("tests").join(name), self.path(name)).unwrap();
    }

    /// Names of all entries, sorted.
    pub fn entries(&self) -> Vec<String> {
        entries(self.directory.path())
    }

    /// The program with these arguments, without pictures, which most tests do not need.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.command_as_given(arguments);
        if arguments.first() == Some(&"run") {
            command.arg("--no-render");
        }
        command
    }

    /// The program with these arguments and no others.
    pub fn command_as_given(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_barchan"));
        command
            .args(arguments)
            .current_dir(self.directory.path())
            .env("NO_COLOR", "1");
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Outcome {
        Outcome::of(self.command(arguments).output().unwrap())
    }

    /// Runs it, and requires success and a JSON object as the last line.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let outcome = self.run(arguments);
        assert_eq!(outcome.code, Some(0), "{arguments:?}: {outcome:?}");
        outcome.json()
    }

    /// Digest of an uninterrupted run.
    pub fn digest(&self, arguments: &[&str]) -> String {
        let summary = self.json(arguments);
        summary["digest"].as_str().unwrap().to_owned()
    }
}

/// Outcome of a run of the program.
#[derive(Debug)]
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Outcome {
    pub fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The last line of standard output.
    pub fn json(&self) -> Value {
        let last = self.stdout.lines().last().unwrap_or_default();
        serde_json::from_str(last).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// Standard error as one line: reports are wrapped to the terminal's width.
    pub fn message(&self) -> String {
        let words = self.stderr.replace(['│', '×', '├', '╰', '─', '▶'], " ");
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

pub fn entries(directory: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
