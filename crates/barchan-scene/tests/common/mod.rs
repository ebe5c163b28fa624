//! What the tests of this crate share.
#![allow(dead_code, reason = "each test binary uses a part")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

pub mod breaking;

use barchan_scene::{Overrides, Scene, SceneErrors, SceneSource, load};
use std::path::PathBuf;

/// The smallest scene.
pub const MINIMAL: &str = r#"[solver]
resolution = 0.02

[[fill]]
shape = { sphere = { center = [0, 1, 0], radius = 0.2 } }
material = "dry sand"
"#;

/// A scene that uses every key.
pub const COMPLETE: &str = include_str!("complete.toml");

/// A 2D scene.
pub const FLAT: &str = r#"dimensions = 2

[solver]
resolution = 0.02

[[collider]]
name = "floor"
shape = { half_space = { point = [0, 0], normal = [0, 1] } }

[[fill]]
name = "column"
shape = { box = { min = [0, 0], max = [0.5, 1] } }
material = "dry sand"
"#;

/// A text as a scene file called `test.toml`.
pub fn source(text: &str) -> SceneSource {
    SceneSource {
        name: "test.toml".to_owned(),
        text: text.to_owned(),
        directory: PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data"),
    }
}

/// Loads a text that must be a good scene.
pub fn good(text: &str) -> Scene {
    load(&source(text), &Overrides::default()).unwrap_or_else(|e| panic!("{}", show(&e)))
}

/// Loads a text that must be a bad scene.
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
