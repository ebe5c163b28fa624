//! The viewer's own tests: types and logic of the page, and the whole page in a real browser.

use super::{apt_install, cargo, is_there, repository, run};
use std::path::PathBuf;
use std::process::Command;

/// Names of the Chromium program.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Installs the page's packages, and Debian's Chromium where there is no browser.
pub fn tools() -> Result<(), String> {
    let packages = folder().join("node_modules/.package-lock.json");
    let changed = |path: PathBuf| path.metadata().and_then(|m| m.modified()).ok();
    if changed(packages) < changed(folder().join("package-lock.json")) {
        run(npm().args(["install", "--no-save", "--prefer-offline"]))?;
    }
    if BROWSERS.iter().any(|browser| is_there(browser)) {
        return Ok(());
    }
    apt_install("chromium")
}

/// Type check, and the tests that need no browser.
pub fn test() -> Result<(), String> {
    run(npm().args(["run", "check"]))?;
    run(npm().args(["test"]))
}

/// Tests of the real program and its results in a browser.
pub fn test_in_browser() -> Result<(), String> {
    // Together with the tests, so that dependencies have the same features and are not rebuilt.
    cargo("build --release --workspace --bins --tests")?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = target.unwrap_or_else(|| repository().join("target"));
    let program = repository().join(target).join("release/barchan");
    run(npm().args(["run", "e2e"]).env("BARCHAN", program))
}

/// The npm command for the viewer, run in the repository's folder.
fn npm() -> Command {
    let mut command = Command::new("npm");
    command.arg("--prefix").arg(folder());
    command
}

fn folder() -> PathBuf {
    repository().join("viewer")
}
