//! From a result to its pictures.

use crate::camera::{Camera, framed};
use crate::color::{ColorError, Coloring, Quantity, Range, Scale, chance, kind_color};
use crate::flat::{self, FlatGrains, FlatOptions};
use crate::framing::{Subject, spread, subject};
use crate::grains::{FrameColumns, Grains};
use crate::legend;
use crate::picture::Picture;
use crate::props::{self, Cut};
use crate::stress::StressSpace;
use crate::terrain;
use crate::text::{self, Style};
use crate::tracer::{Quality, Sky, Spheres, Stage};
use barchan_frame::{CacheError, Frame, FrameInfo, ResultDirectory};
use barchan_post::StressError;
use barchan_scene::materials::SAND_COLORS;
use barchan_scene::{ColorMix, Overrides, Scene, SceneErrors, SceneSource, View};
use glam::Vec3;
use std::path::PathBuf;

/// Direction of the automatic camera: to the right and above, as seen along −z.
const VIEW_FROM: Vec3 = Vec3::new(0.5, 0.42, 1.0);
/// Azimuth of the sun to the left of the camera of the first frame [rad].
const SUN_BESIDE: f32 = 1.15;
/// Elevation of the sun [rad].
const SUN_ELEVATION: f32 = 0.72;
/// Number of frames that determine the range of a column.
const RANGE_FRAMES: usize = 7;
/// Margin of 2D pictures, as a multiple of the size of the subject.
const FLAT_MARGIN: f32 = 0.06;
/// Enlargement of highlighted grains.
const PICKED_SIZE: f32 = 3.0;
/// Distance over which the ground fades, as a multiple of the size of the subject.
const FADE: f32 = 4.0;

/// Options of pictures.
#[derive(Debug, Clone)]
pub struct RenderOptions {
    /// Width and height [pixels].
    pub size: [u32; 2],
    /// Rendering effort per pixel.
    pub quality: Quality,
    /// Radius of the grains, as a factor.
    pub grain_size: f32,
    /// Fraction of the time between two frames for which the shutter is open; 0: no motion blur.
    pub shutter: f32,
    /// What the colors of the grains show.
    pub coloring: Coloring,
    /// The space that pictures show: the scene or stresses.
    pub space: Space,
    /// Identities of highlighted grains: enlarged and colored in the scene, with their yield surfaces in stress space.
    pub grains: Vec<u64>,
    /// Whether the time is shown; 2D pictures always show it.
    pub label: bool,
    /// Changes to the scene of the result: camera, looks, colors.
    pub overrides: Overrides,
}

impl Default for RenderOptions {
    fn default() -> Self {
        Self {
            size: [1280, 720],
            quality: Quality::PRODUCTION,
            grain_size: 1.0,
            shutter: 0.5,
            coloring: Coloring::Own,
            space: Space::Scene,
            grains: Vec::new(),
            label: false,
            overrides: Overrides::default(),
        }
    }
}

/// The space that a picture shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Space {
    /// The scene.
    #[default]
    Scene,
    /// Principal stresses.
    Stress,
}

/// Why a picture cannot be drawn.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The result or a frame of it cannot be read.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The changes to the scene are invalid.
    #[error("{0}")]
    Scene(#[from] SceneErrors),
    /// The quantity of the colors cannot be shown.
    #[error(transparent)]
    Color(#[from] ColorError),
    /// Stresses cannot be shown.
    #[error(transparent)]
    Stress(#[from] StressError),
    /// There is nothing to draw.
    #[error("{}: the result has no frames yet; wait for the first one, or run the scene", .0.display())]
    NoFrames(PathBuf),
}

/// Draws the frames of one result, all with the same camera path, light and ground.
pub struct Renderer {
    directory: ResultDirectory,
    frames: Vec<u32>,
    scene: Option<Scene>,
    subject: Subject,
    /// Color scale, the same in every frame; `None`: the colors of the material.
    scale: Option<Scale>,
    /// Data common to all stress pictures.
    stress: Option<StressSpace>,
    options: RenderOptions,
    /// Parts that could not be read and are omitted.
    pub warnings: Vec<String>,
}

impl Renderer {
    /// Prepares the pictures of a result.
    pub fn open(directory: ResultDirectory, options: RenderOptions) -> Result<Self, RenderError> {
        let frames = directory.frames()?;
        if frames.is_empty() {
            return Err(RenderError::NoFrames(directory.path().to_owned()));
        }
        let (scene, warnings) = scene_of(&directory, &options.overrides)?;
        let subject = subject(&directory, &frames, scene.as_ref());
        let scale = scale_of(&directory, &frames, &options.coloring)?;
        let stress = match options.space {
            Space::Scene => None,
            Space::Stress => Some(StressSpace::open(&directory, &frames, &options.grains)?),
        };
        Ok(Self {
            directory,
            frames,
            scene,
            subject,
            scale,
            stress,
            options,
            warnings,
        })
    }

    /// Numbers of the frames of the result.
    pub fn frames(&self) -> &[u32] {
        &self.frames
    }

    /// The result.
    pub fn directory(&self) -> &ResultDirectory {
        &self.directory
    }

    /// Options of the pictures.
    pub fn options(&self) -> &RenderOptions {
        &self.options
    }

    /// Changes size and quality of further pictures.
    pub fn set_output(&mut self, size: [u32; 2], quality: Quality) {
        self.options.size = size;
        self.options.quality = quality;
    }

    /// Simulated time of a frame [s].
    pub fn time_of(&self, frame: u32) -> Result<f64, RenderError> {
        Ok(self.directory.frame_info(frame)?.time)
    }

    /// The picture of a frame.
    pub fn draw(&self, frame: u32) -> Result<Picture, RenderError> {
        if let Some(stress) = &self.stress {
            return Ok(stress.draw(&self.directory, frame, self.options.size)?);
        }
        let columns = FrameColumns::open(&self.directory, frame)?;
        if self.directory.manifest().dimensions == 2 {
            return self.draw_flat(&columns);
        }
        let grains = self.grains(&columns)?;
        let view = self.view(columns.info.time);
        let materials = self.scene.as_ref().map_or(&[][..], |s| &s.materials);
        let relief = terrain::relief(&self.directory, &columns.info, materials)?;
        let stage = Stage {
            relief,
            ..self.stage(&columns.info, &grains, &view)
        };
        drop(grains);
        let camera = Camera::new(&view, self.options.size);
        let mut picture = stage.draw(&camera, self.options.size, self.options.quality, frame);
        if let Some(scale) = &self.scale {
            legend::draw(&mut picture, scale);
        }
        if self.options.label {
            let style = Style::dark(text::readable_height(picture.height));
            let time = format!("{:.2} s", columns.info.time);
            let margin = i64::from(style.height) / 2;
            text::draw_panel(&mut picture, &time, margin, margin, style);
        }
        Ok(picture)
    }

    /// The picture of a frame of a 2D scene.
    fn draw_flat(&self, columns: &FrameColumns<'_>) -> Result<Picture, RenderError> {
        let grains = self.grains(columns)?;
        let radius: Vec<f32> = (0..grains.len()).map(|i| grains.radius(i)).collect();
        let shown = FlatGrains {
            position: &grains.position,
            radius: &radius,
            color: &grains.color,
        };
        let props = self.subject.props.iter();
        let bodies: Vec<_> = props.map(|p| p.section(&p.placed(&columns.info))).collect();
        let bounds = self.subject.bounds;
        let margin = FLAT_MARGIN * bounds.size().max_element();
        let (low, high) = (bounds.min - margin, bounds.max + margin);
        let [width, height] = self.options.size;
        let options = FlatOptions {
            width,
            height,
            time: Some(columns.info.time),
            legend: self.scale.clone(),
            axes: true,
        };
        let window = [low.x, low.y, high.x, high.y];
        Ok(flat::draw(&shown, &bodies, window, &options))
    }

    fn grains(&self, columns: &FrameColumns<'_>) -> Result<Grains, RenderError> {
        let manifest = self.directory.manifest();
        let size = self.options.grain_size;
        let mut radius = columns.radii(manifest)?;
        radius.iter_mut().for_each(|r| *r *= size);
        let mut grains = Grains {
            position: columns.vectors("position")?,
            velocity: match self.options.shutter {
                0.0 => Vec::new(),
                _ => columns.vectors("velocity")?,
            },
            radius,
            color: match (&self.scale, &self.options.coloring) {
                (Some(scale), Coloring::Column { name, .. }) => {
                    quantity(&self.directory, columns, name)?.colors(scale)
                }
                _ => self.own_colors(columns)?,
            },
        };
        self.pick_out(&mut grains, columns)?;
        Ok(grains)
    }

    /// Enlarges and colors the highlighted grains.
    fn pick_out(&self, grains: &mut Grains, columns: &FrameColumns<'_>) -> Result<(), RenderError> {
        if self.options.grains.is_empty() {
            return Ok(());
        }
        let ids = columns.ids()?;
        let count = grains.len();
        grains.radius = (0..count).map(|i| grains.radius(i)).collect();
        for (number, id) in self.options.grains.iter().enumerate() {
            let Some(i) = ids.iter().position(|own| own == id).filter(|i| *i < count) else {
                continue;
            };
            grains.position.push(grains.position[i]);
            grains.radius.push(PICKED_SIZE * grains.radius[i]);
            grains.color.push(kind_color(number));
            if let Some(&velocity) = grains.velocity.get(i) {
                grains.velocity.push(velocity);
            }
        }
        Ok(())
    }

    /// Colors of grains, chosen from the mix of the material by identity.
    fn own_colors(&self, columns: &FrameColumns<'_>) -> Result<Vec<[u8; 3]>, CacheError> {
        let sand = ColorMix::new(SAND_COLORS);
        let known = self.scene.as_ref().map_or(&[][..], |s| &s.materials);
        let materials = columns.materials()?;
        let color = |(i, &id): (usize, &u64)| {
            let material = usize::from(materials.get(i).copied().unwrap_or(0));
            let mix = known.get(material).map(|m| &m.color);
            let mix = mix.or(sand.as_ref())?;
            let part = mix.parts().get(mix.index(chance(id)));
            part.map(|(color, _)| *color)
        };
        let ids = columns.ids()?;
        let grains = ids.iter().enumerate();
        Ok(grains.map(|g| color(g).unwrap_or([255; 3])).collect())
    }

    /// Exposure time [s]; 0 if the frame rate is invalid.
    fn exposure(&self) -> f32 {
        let seconds = self.options.shutter / self.directory.manifest().frame_rate as f32;
        if seconds.is_finite() { seconds } else { 0.0 }
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
        let cuts = placed.iter().filter_map(|(p, at)| p.cut(at, view.position));
        let cuts: Vec<Cut> = cuts.collect();
        let shown = |p: [f32; 3]| !cuts.iter().any(|cut| cut.removes(p.into()));
        let size = bounds.size().length();
        // Far from the origin floats are coarse.
        let largest = bounds.min.abs().max(bounds.max.abs()).max_element();
        Stage {
            spheres: Spheres::new(grains, exposure, shown),
            bodies: bodies.collect(),
            planes: planes.chain(floor.map(props::floor)).collect(),
            relief: None,
            sky: self.sky(),
            fade: FADE * size,
            center: bounds.center(),
            epsilon: (1e-5 * size).max(4.0 * f32::EPSILON * largest),
        }
    }

    /// The camera at a time [s].
    fn view(&self, time: f64) -> View {
        let [width, height] = self.options.size.map(|n| n.max(1) as f32);
        let camera = self.scene.as_ref().and_then(|s| s.camera.as_ref());
        let fov = camera
            .and_then(|c| c.fov_at(time))
            .unwrap_or(View::DEFAULT_FOV);
        let from = VIEW_FROM.normalize();
        let automatic = framed(&self.subject.bounds, from, fov, width / height);
        camera.map_or(automatic, |c| c.at(time, automatic))
    }

    /// The sun is beside the camera of the first frame and does not follow it.
    fn sky(&self) -> Sky {
        let view = self.view(0.0);
        let from = view.position - view.target;
        Sky::with_sun(from.x.atan2(from.z) - SUN_BESIDE, SUN_ELEVATION)
    }
}

/// The scale of a coloring: one for all frames.
fn scale_of(
    directory: &ResultDirectory,
    frames: &[u32],
    coloring: &Coloring,
) -> Result<Option<Scale>, RenderError> {
    let Coloring::Column { name, range, .. } = coloring else {
        return Ok(None);
    };
    // With a given range, one frame is enough for the unit and for whether the quantity exists.
    let looked_at = match range {
        Some(_) => frames.iter().copied().take(1).collect(),
        None => spread(frames, RANGE_FRAMES),
    };
    let mut unit = String::new();
    let mut span = Range::EMPTY;
    for frame in looked_at {
        let columns = FrameColumns::open(directory, frame)?;
        let quantity = quantity(directory, &columns, name)?;
        span = span.merge(quantity.range());
        unit = quantity.unit;
    }
    Ok(coloring.scale(&unit, span, directory.manifest()))
}

/// A quantity of a frame, of which only the column that it needs is read.
fn quantity(
    directory: &ResultDirectory,
    columns: &FrameColumns<'_>,
    name: &str,
) -> Result<Quantity, RenderError> {
    let has = |name: &str| columns.info.columns.iter().any(|c| c.name == name);
    let source = match name {
        _ if has(name) => Some(name),
        "speed" => Some("velocity"),
        "x" | "y" | "z" => Some("position"),
        _ => None,
    };
    let mut frame = Frame {
        index: columns.info.index,
        ..Frame::default()
    };
    match source.filter(|source| has(source)) {
        Some(source) => frame
            .columns
            .push(directory.read_column(frame.index, source)?),
        // For the error, which lists the available columns.
        None => frame = directory.read_frame(frame.index)?,
    }
    Ok(Quantity::read(name, &frame)?)
}

/// The scene of the result, and warnings about parts that could not be read. Invalid changes to it are errors; if the scene
/// itself cannot be read, only the grains are shown.
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
