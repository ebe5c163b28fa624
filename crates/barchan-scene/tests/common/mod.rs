//! Helpers of the tests of this crate.
#![allow(dead_code, reason = "each test binary uses a part")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

pub mod breaking;

use barchan_scene::{Overrides, Scene, SceneErrors, SceneSource, load};
use std::path::PathBuf;

/// The smallest scene.
pub const MINIMAL: &str = include_str!("minimal.toml");

/// A scene that uses every key.
pub const COMPLETE: &str = include_str!("complete.toml");

/// A 2D scene.
pub const FLAT: &str = include_str!("flat.toml");

/// A scene of terrain alone, which ends in its table.
pub const SITE: &str = include_str!("site.toml");

/// A text as a scene file called `test.toml`.
pub fn source(text: &str) -> SceneSource {
    SceneSource {
        name: "test.toml".to_owned(),
        text: text.to_owned(),
        directory: PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data"),
    }
}

/// Loads a text that must be a valid scene.
pub fn good(text: &str) -> Scene {
    load(&source(text), &Overrides::default()).unwrap_or_else(|e| panic!("{}", show(&e)))
}

/// Loads a text that must be an invalid scene.
pub fn bad(text: &str) -> SceneErrors {
    match load(&source(text), &Overrides::default()) {
        Err(errors) => errors,
        Ok(_) => panic!("this scene should be refused:\n{text}"),
    }
}

/// Loads with `--set` for each of the settings.
pub fn load_with(text: &str, settings: &[&str]) -> Result<Scene, SceneErrors> {
    let set = settings.iter().map(|s| (*s).to_owned()).collect();
    let overrides = Overrides {
        set,
        ..Overrides::default()
    };
    load(&source(text), &overrides)
}

/// All errors as one text.
pub fn show(errors: &SceneErrors) -> String {
    let lines = errors.errors().iter().map(|e| {
        let (source, line) = (e.source_name().unwrap_or("-"), e.line().unwrap_or(0));
        let marked = e.marked().unwrap_or("");
        format!("{source}:{line}: {e} [{marked}] help: {}", e.help_text())
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Asserts that the errors have a message and a remedy with these words; returns all of them as one text.
#[track_caller]
pub fn assert_reports(errors: &SceneErrors, message: &str, help: &str) -> String {
    let told = show(errors);
    assert!(told.contains(message), "{message}: {told}");
    assert!(told.contains(help), "{help}: {told}");
    told
}
