//! Finding and reading the scene that a command is about.

use super::Failure;
use barchan::gallery;
use barchan::scene::{Overrides, Scene, SceneSource, load};
use clap::Args;
use std::path::{Path, PathBuf};

/// A scene and what to change in it.
#[derive(Debug, Args)]
pub struct SceneArguments {
    /// Scene file, or the name of a gallery scene (see `barchan scenes`)
    pub scene: String,
    /// Frames to simulate, instead of the scene's own number
    #[arg(long, value_name = "N")]
    pub frames: Option<u32>,
    /// Multiply the resolution: 0.5 doubles the grid spacing
    #[arg(long, value_name = "S")]
    pub scale: Option<f64>,
    /// Change a value of the scene, such as `solver.dx=0.02`; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

impl SceneArguments {
    /// Reads and validates the scene.
    pub fn load(&self) -> Result<Loaded, Failure> {
        self.load_from(find(&self.scene)?)
    }

    /// As [`Self::load`], from a text at hand.
    pub fn load_from(&self, source: SceneSource) -> Result<Loaded, Failure> {
        let overrides = Overrides {
            frames: self.frames,
            scale: self.scale,
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

/// The scene file of that name, or else the gallery scene.
fn find(name: &str) -> Result<SceneSource, Failure> {
    let path = Path::new(name);
    if path.is_file() {
        return Ok(SceneSource::from_file(path)?);
    }
    if let Some(text) = gallery::text(name) {
        return Ok(SceneSource {
            name: name.to_owned(),
            text: text.to_owned(),
            directory: PathBuf::from("."),
        });
    }
    if path.is_dir() {
        return Err(Failure::call(
            format_args!("`{name}` is a directory, not a scene"),
            "give a scene file (.toml) or a gallery name; to go on with a result, add --resume",
        ));
    }
    let names: Vec<&str> = gallery::GALLERY.iter().map(|(name, _)| *name).collect();
    Err(Failure::call(
        format_args!("there is no scene `{name}`: neither a file nor a gallery scene"),
        format_args!("gallery scenes: {}", names.join(", ")),
    ))
}
