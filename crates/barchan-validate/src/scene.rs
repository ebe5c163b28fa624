//! Scene files of `scenes/validation`, with keys set by a case.

use barchan_scene::{Overrides, Scene, SceneErrors, SceneSource, load};

/// A scene of `scenes/validation`, by its name.
macro_rules! scene {
    ($name:literal) => {
        $crate::scene::SceneFile::new(
            $name,
            include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../scenes/validation/",
                $name,
                ".toml"
            )),
        )
    };
}
pub(crate) use scene;

/// A scene file and the keys that a case sets in it.
#[derive(Debug, Clone)]
pub struct SceneFile {
    name: &'static str,
    text: &'static str,
    set: Vec<String>,
}

impl SceneFile {
    /// A scene as in its file, which `scene!` reads.
    pub fn new(name: &'static str, text: &'static str) -> Self {
        Self {
            name,
            text,
            set: vec![],
        }
    }

    /// Sets a key, as `--set path=value` does: `fill.0.shape.box.max`, `collider.floor.friction`. The last of several counts.
    #[must_use]
    pub fn set(mut self, path: &str, value: impl Into<toml::Value>) -> Self {
        self.set.push(format!("{path}={}", value.into()));
        self
    }

    /// Sets keys that are written as `path=value`.
    #[must_use]
    pub fn with(mut self, set: &[&str]) -> Self {
        self.set.extend(set.iter().map(|s| (*s).to_owned()));
        self
    }

    /// The scene for a solver, unless the file or a key names another.
    ///
    /// # Errors
    /// The file or a key that was set is wrong.
    pub fn load(&self, solver: &str) -> Result<Scene, SceneErrors> {
        let source = SceneSource {
            name: format!("{}.toml", self.name),
            text: self.text.into(),
            directory: ".".into(),
        };
        let mut set = vec![format!("solver.method={solver}")];
        set.extend(self.set.iter().cloned());
        let overrides = Overrides {
            set,
            ..Overrides::default()
        };
        load(&source, &overrides)
    }
}
