//! Finding and reading the scene of a command.

use super::Failure;
use barchan::frame::ResultDirectory;
use barchan::gallery;
use barchan::scene::{Overrides, Scene, SceneSource, load};
use clap::Args;
use std::path::{Path, PathBuf};

/// A scene, and changes to it.
#[derive(Debug, Args)]
pub struct SceneArguments {
    /// Scene file, or the name of a gallery scene (see `barchan scenes`)
    pub scene: PathBuf,
    /// Frames to simulate, instead of the scene's own number
    #[arg(long, value_name = "N")]
    pub frames: Option<u32>,
    /// Multiply the resolution: 0.5 doubles the size of cells or grains
    #[arg(long, value_name = "S")]
    pub scale: Option<f64>,
    /// Family of solvers, instead of the scene's own
    #[arg(long, value_name = "NAME")]
    pub solver: Option<String>,
    /// Change a value of the scene, such as `solver.resolution=0.02`; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

impl SceneArguments {
    /// Reads and validates the scene.
    pub fn load(&self) -> Result<Loaded, Failure> {
        self.load_from(find(&self.scene)?)
    }

    /// As [`Self::load`], from a given text.
    pub fn load_from(&self, source: SceneSource) -> Result<Loaded, Failure> {
        let overrides = Overrides {
            frames: self.frames,
            scale: self.scale,
            solver: self.solver.clone(),
            set: self.set.clone(),
        };
        let scene = load(&source, &overrides)?;
        Ok(Loaded {
            scene,
            directory: source.directory,
        })
    }
}

/// A scene, and the directory that its meshes are relative to.
pub struct Loaded {
    pub scene: Scene,
    pub directory: PathBuf,
}

/// The scene file of that name, otherwise the gallery scene.
fn find(path: &Path) -> Result<SceneSource, Failure> {
    if path.is_file() {
        let mut source = SceneSource::from_file(path)?;
        if let Some(directory) = origin_of_resolved(path) {
            source.directory = directory;
        }
        return Ok(source);
    }
    if let Some((name, text)) = path.to_str().and_then(|n| Some((n, gallery::text(n)?))) {
        return Ok(embedded(name, text));
    }
    let name = path.display();
    if path.is_dir() {
        return Err(Failure::call(
            format_args!("`{name}` is a directory, not a scene"),
            "give a scene file (.toml) or a gallery name; to resume a run, add --resume",
        ));
    }
    let stem = path.with_extension("");
    let help = match gallery::nearest(&stem.to_string_lossy()) {
        Some(near) => format!("did you mean the gallery scene `{near}`?"),
        None => {
            let names: Vec<&str> = gallery::names().collect();
            format!("gallery scenes: {}", names.join(", "))
        }
    };
    Err(Failure::call(
        format_args!("there is no scene `{name}`: neither a file nor a gallery scene"),
        help,
    ))
}

/// A scene that is embedded in the program.
pub fn embedded(name: &str, text: &str) -> SceneSource {
    SceneSource {
        name: name.to_owned(),
        text: text.to_owned(),
        directory: PathBuf::from("."),
    }
}

/// Directory of the meshes of a result's `scene.toml`: that of the original scene, not that of the copy.
fn origin_of_resolved(path: &Path) -> Option<PathBuf> {
    if path.file_name()? != "scene.toml" {
        return None;
    }
    let result = ResultDirectory::open(&Path::new(".").join(path.parent()?)).ok()?;
    let directory = &result.manifest().scene_directory;
    (!directory.is_empty()).then(|| PathBuf::from(directory))
}
