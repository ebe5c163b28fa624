//! From a result to its pictures.

use crate::camera::{Camera, framed};
use crate::colour::{SAND, chance};
use crate::framing::{Subject, subject};
use crate::grains::{FrameColumns, Grains};
use crate::picture::Picture;
use crate::props;
use crate::tracer::{Quality, Sky, Spheres, Stage};
use barchan_frame::{CacheError, FrameInfo, ResultDirectory};
use barchan_scene::{ColourMix, Overrides, Scene, SceneErrors, SceneSource, View};
use glam::Vec3;
use std::path::PathBuf;

/// Where the automatic camera stands: to the right and above, as seen along −z.
const VIEW_FROM: Vec3 = Vec3::new(0.5, 0.42, 1.0);
/// The sun stands to the left of the camera of the first frame [rad] …
const SUN_BESIDE: f32 = 1.15;
/// … and this high [rad].
const SUN_ELEVATION: f32 = 0.72;
/// Distance over which the ground fades, in sizes of the subject.
const FADE: f32 = 4.0;

/// How pictures are to be made.
#[derive(Debug, Clone)]
pub struct RenderOptions {
    /// Width and height [pixels].
    pub size: [u32; 2],
    /// Work for each pixel.
    pub quality: Quality,
    /// Radius of the grains, as a factor.
    pub grain_size: f32,
    /// Part of the time between two frames for which the shutter is open; 0: no motion blur.
    pub shutter: f32,
    /// Changes to the scene that the result holds: camera, looks, colours.
    pub overrides: Overrides,
}

impl Default for RenderOptions {
    fn default() -> Self {
        Self {
            size: [1280, 720],
            quality: Quality::PRODUCTION,
            grain_size: 1.0,
            shutter: 0.5,
            overrides: Overrides::default(),
        }
    }
}

/// Why a picture cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The result or a frame of it cannot be read.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The changes to the scene are wrong.
    #[error("{0}")]
    Scene(#[from] SceneErrors),
    /// There is nothing to draw.
    #[error("{}: the result has no frames yet; wait for its first, or run the scene", .0.display())]
    NoFrames(PathBuf),
}

/// Draws the frames of one result, all with the same camera path, light and ground.
pub struct Renderer {
    directory: ResultDirectory,
    frames: Vec<u32>,
    scene: Option<Scene>,
    subject: Subject,
    options: RenderOptions,
    /// What could not be read and is left out.
    pub warnings: Vec<String>,
}

impl Renderer {
    /// Gets a result ready.
    pub fn open(directory: ResultDirectory, options: RenderOptions) -> Result<Self, RenderError> {
        let frames = directory.frames()?;
        if frames.is_empty() {
            return Err(RenderError::NoFrames(directory.path().to_owned()));
        }
        let (scene, warnings) = scene_of(&directory, &options.overrides)?;
        let subject = subject(&directory, &frames, scene.as_ref())?;
        Ok(Self {
            directory,
            frames,
            scene,
            subject,
            options,
            warnings,
        })
    }

    /// Numbers of the frames that the result has.
    pub fn frames(&self) -> &[u32] {
        &self.frames
    }

    /// The picture of a frame.
    pub fn draw(&self, frame: u32) -> Result<Picture, RenderError> {
        let columns = FrameColumns::open(&self.directory, frame)?;
        let grains = self.grains(&columns)?;
        let view = self.view(columns.info.time);
        let stage = self.stage(&columns.info, &grains, &view);
        drop(grains);
        let camera = Camera::new(&view, self.options.size);
        Ok(stage.draw(&camera, self.options.size, self.options.quality, frame))
    }

    fn grains(&self, columns: &FrameColumns<'_>) -> Result<Grains, CacheError> {
        let manifest = self.directory.manifest();
        let mut radius = columns.radii(manifest)?;
        radius
            .iter_mut()
            .for_each(|r| *r *= self.options.grain_size);
        Ok(Grains {
            position: columns.vectors("position")?,
            velocity: match self.options.shutter {
                0.0 => Vec::new(),
                _ => columns.vectors("velocity")?,
            },
            radius,
            colour: self.own_colours(columns)?,
        })
    }

    /// Each grain by chance from the colours of its material, the same for life.
    fn own_colours(&self, columns: &FrameColumns<'_>) -> Result<Vec<[u8; 3]>, CacheError> {
        let sand = ColourMix::new(&SAND);
        let mixes: Vec<Option<&ColourMix>> = match &self.scene {
            Some(scene) => scene.materials.iter().map(|m| Some(&m.colour)).collect(),
            None => Vec::new(),
        };
        let materials = columns.materials()?;
        let colour = |(i, &id): (usize, &u64)| {
            let material = usize::from(materials.get(i).copied().unwrap_or(0));
            let mix = mixes.get(material).copied().flatten().or(sand.as_ref())?;
            mix.parts()
                .get(mix.index(chance(id)))
                .map(|(colour, _)| *colour)
        };
        let ids = columns.ids()?;
        Ok(ids
            .iter()
            .enumerate()
            .map(|g| colour(g).unwrap_or([255; 3]))
            .collect())
    }

    /// Seconds for which the shutter is open.
    fn exposure(&self) -> f32 {
        self.options.shutter / self.directory.manifest().frame_rate as f32
    }

    fn stage(&self, frame: &FrameInfo, grains: &Grains, view: &View) -> Stage {
        let Subject {
            props,
            bounds,
            floor,
        } = &self.subject;
        let exposure = self.exposure();
        let placed: Vec<_> = props.iter().map(|p| (p, p.placed(frame))).collect();
        let planes = placed.iter().filter_map(|(prop, at)| prop.plane(at));
        let bodies = placed
            .iter()
            .filter_map(|(prop, at)| prop.body(at, exposure, view.position));
        let size = bounds.size().length();
        Stage {
            spheres: Spheres::new(grains, exposure),
            bodies: bodies.collect(),
            planes: planes.chain(floor.map(props::floor)).collect(),
            sky: self.sky(),
            fade: FADE * size,
            centre: bounds.centre(),
            epsilon: 1e-5 * size,
        }
    }

    /// Where the camera is at a time [s].
    fn view(&self, time: f64) -> View {
        let [width, height] = self.options.size.map(|n| n.max(1) as f32);
        let camera = self.scene.as_ref().and_then(|s| s.camera.as_ref());
        let fov = camera
            .and_then(|c| c.fov_at(time))
            .unwrap_or(View::USUAL_FOV);
        let from = VIEW_FROM.normalize();
        let automatic = framed(&self.subject.bounds, from, fov, width / height);
        camera.map_or(automatic, |c| c.at(time, automatic))
    }

    /// The sun stands beside the camera of the beginning and stays there when the camera moves.
    fn sky(&self) -> Sky {
        let view = self.view(0.0);
        let from = view.position - view.target;
        Sky::with_sun(from.x.atan2(from.z) - SUN_BESIDE, SUN_ELEVATION)
    }
}

/// The scene that stands beside the frames, with what could not be read of it. Mistakes in the changes to it are errors;
/// a scene that cannot be read at all leaves the grains.
fn scene_of(
    directory: &ResultDirectory,
    overrides: &Overrides,
) -> Result<(Option<Scene>, Vec<String>), SceneErrors> {
    let text = match directory.scene_document() {
        Ok(text) => text,
        Err(error) => return Ok((None, vec![format!("only grains are shown: {error}")])),
    };
    let source = SceneSource {
        name: directory.path().join("scene.toml").display().to_string(),
        text,
        directory: PathBuf::from(&directory.manifest().scene_directory),
    };
    match barchan_scene::load_for_viewing(&source, overrides) {
        Ok((scene, warnings)) => Ok((Some(scene), warnings)),
        Err(errors) if !overrides.is_empty() => Err(errors),
        Err(errors) => {
            let reasons = errors.messages().join("; ");
            Ok((None, vec![format!("only grains are shown: {reasons}")]))
        }
    }
}
