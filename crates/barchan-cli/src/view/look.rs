//! Appearance of the scene on the page: colors of grains, bodies, camera. Without a readable scene only these are missing.

use super::error::ViewError;
use super::store::Store;
use super::values;
use barchan::frame::{Column, Frame, Manifest};
use barchan::scene::materials::SAND_COLORS;
use barchan::scene::mesh::TriangleMesh;
use barchan::scene::model::Look as Appearance;
use barchan::scene::{
    Bounds, Collider, ColorMix, Overrides, Pose, Scene, SceneSource, TerrainSpec, View,
    load_for_viewing,
};
use barchan::sim::solvers::{METHODS, Method};
use barchan_render::camera::corners;
use barchan_render::color::chance;
use barchan_render::framing::spread;
use barchan_render::props::{Sample, contains};
use glam::Vec3;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Cells along the longest edge of a body's surface.
const SURFACE_CELLS: u32 = 112;
/// Positions of a frame that are examined to detect containers, which are shown as glass.
const SAMPLED: usize = 2000;
/// Extent to which unbounded bodies are shown, as a multiple of the extent of the grains.
const SURROUNDINGS: f32 = 4.0;
/// Bodies larger than this many times the extent of the grains are ignored for framing.
const DWARFING: f32 = 5.0;
/// Visible extent of an empty scene [m].
const UNIT: Bounds = Bounds {
    min: Vec3::splat(-0.5),
    max: Vec3::splat(0.5),
};
/// Maximum number of colors of all materials together: their index is a byte.
const MOST_COLORS: usize = 256;

/// Appearance of a scene.
pub struct Look {
    /// Colors of grains.
    pub palette: Palette,
    /// Name and mean color of each material.
    pub materials: Vec<Value>,
    /// Bodies, as `/api/result` lists them, in the order of the frames' records.
    pub bodies: Vec<Value>,
    /// Box around nearly all grains and what contains them [m].
    pub bounds: Bounds,
    /// Radius to draw grains with [m].
    pub grain_radius: f32,
    /// Camera of the scene; the page determines values that are null.
    pub camera: Value,
    /// Reasons why parts of the scene are not shown.
    pub notes: Vec<String>,
    names: Vec<String>,
    scene: Option<Scene>,
    surroundings: Bounds,
}

impl Look {
    /// From the scene of a result.
    pub fn of(store: &Store, frames: &[u32]) -> Self {
        let manifest = store.manifest();
        let mut notes = Vec::new();
        let scene = match read_scene(store, &manifest) {
            Ok((scene, warnings)) => {
                notes.extend(warnings);
                Some(scene)
            }
            Err(reason) => {
                notes.push(format!(
                    "the scene cannot be read, only grains are shown: {reason}"
                ));
                None
            }
        };
        Self::new(
            &manifest,
            scene,
            &sample(store, frames),
            values::bounds_of_result(store, frames),
            grain_radius(store, frames, &manifest),
            notes,
        )
    }

    /// From a scene at t = 0.
    pub fn at_start(scene: Scene, manifest: &Manifest, frame: &Frame, notes: Vec<String>) -> Self {
        let position = frame.column("position");
        let positions = position.and_then(|c| c.data.as_f32()).unwrap_or_default();
        let points = positions.chunks_exact(3).map(Vec3::from_slice);
        let stride = (positions.len() / 3).div_ceil(SAMPLED).max(1);
        let grains = position.and_then(values::bounds_of_column);
        // Bodies much larger than the grains are ground or walls, not the subject.
        let most = grains.map_or(f32::INFINITY, |b| DWARFING * b.size().length());
        let sources = scene.emitters.iter();
        let sources = sources.map(|e| (e.shape.bounds(), Pose::IDENTITY));
        let solids = scene.solids();
        let solids = solids.map(|c| (c.shape.bounds(), c.motion.pose(0.0)));
        let bodies = sources.chain(solids);
        let small = bodies.filter(|(own, _)| own.size().max_element() <= most);
        let boxes = small.filter_map(|(own, pose)| placed(&own, &pose));
        let bounds = boxes.chain(grains).reduce(|a, b| a.union(&b));
        let bounds = bounds.or_else(|| scene.terrain.as_ref().map(around));
        let grain_radius = typical_radius(|name| typical(frame.column(name)?), manifest);
        let grains = [(frame.time, points.step_by(stride).collect())];
        Self::new(manifest, Some(scene), &grains, bounds, grain_radius, notes)
    }

    fn new(
        manifest: &Manifest,
        scene: Option<Scene>,
        grains: &[Sample],
        bounds: Option<Bounds>,
        grain_radius: f32,
        notes: Vec<String>,
    ) -> Self {
        let dimensions = manifest.dimensions;
        let of_grains = bounds.unwrap_or(UNIT);
        let mut bounds = of_grains;
        if dimensions == 3 {
            let solids = scene.iter().flat_map(Scene::solids);
            for container in solids.filter(|c| contains(c, grains)) {
                let own = container.shape.bounds();
                let placed = placed(&own, &container.motion.pose(0.0));
                bounds = placed.map_or(bounds, |placed| bounds.union(&placed));
            }
        }
        let palette = Palette::new(scene.as_ref(), manifest.materials.len());
        let materials = manifest.materials.iter().enumerate();
        let bodies = manifest.colliders.iter();
        Self {
            materials: materials
                .map(|(i, m)| json!({ "name": m.name, "color": palette.mean(i) }))
                .collect(),
            bodies: bodies
                .map(|name| body(name, scene.as_ref(), grains, dimensions))
                .collect(),
            bounds,
            grain_radius,
            camera: scene.as_ref().map_or(Value::Null, camera),
            palette,
            notes,
            surroundings: surroundings(of_grains, dimensions, manifest.dx),
            names: manifest.colliders.clone(),
            scene,
        }
    }

    /// Surface of a body, in its own frame [m].
    pub fn surface(&self, index: usize) -> Option<TriangleMesh> {
        let collider = collider(self.scene.as_ref()?, self.names.get(index)?)?;
        let own = collider.shape.bounds();
        let within = if own.is_finite() {
            own.expand(1e-4 * own.size().max_element())
        } else {
            let pose = collider.motion.pose(0.0);
            let corners = corners(&self.surroundings).map(|c| pose.to_body(c));
            Bounds::from_points(corners).intersect(&own)
        };
        Some(collider.shape.surface(&within, SURFACE_CELLS))
    }
}

/// The scene and its warnings, or the reason why it cannot be read. Meshes are read from the directory of the original scene,
/// outside the result, and must be those of the run.
fn read_scene(store: &Store, manifest: &Manifest) -> Result<(Scene, Vec<String>), String> {
    let plain = |error: ViewError| error.message(store.root()).error;
    let source = SceneSource {
        name: "scene.toml".into(),
        text: store.scene_document().map_err(plain)?,
        directory: PathBuf::from(&manifest.scene_directory),
    };
    let (scene, warnings) = load_for_viewing(&source, &Overrides::default()).map_err(|e| {
        e.messages()
            .first()
            .cloned()
            .unwrap_or_else(|| e.to_string())
    })?;
    let known = |digest: &str| manifest.meshes.iter().any(|m| m.digest == digest);
    match scene.meshes.iter().find(|m| !known(&m.digest)) {
        Some(mesh) => Err(format!("the mesh {} has changed since the run", mesh.file)),
        None => Ok((scene, warnings)),
    }
}

fn collider<'a>(scene: &'a Scene, name: &str) -> Option<&'a Collider> {
    scene.solids().find(|c| c.name == name)
}

/// Some grains of a few frames.
fn sample(store: &Store, frames: &[u32]) -> Vec<Sample> {
    let one = |frame| {
        let time = store.info(frame).ok()?.time;
        let position = store.column(frame, "position").ok()?;
        let stride = position.particles().div_ceil(SAMPLED).max(1);
        let points = position.data.as_f32()?.chunks_exact(3).step_by(stride);
        Some((time, points.map(Vec3::from_slice).collect()))
    };
    spread(frames, 3).into_iter().filter_map(one).collect()
}

/// A body as sent to the page; only its name if the scene does not contain it.
fn body(name: &str, scene: Option<&Scene>, grains: &[Sample], dimensions: u32) -> Value {
    let Some(collider) = scene.and_then(|scene| collider(scene, name)) else {
        return json!({ "name": name });
    };
    // In 2D a half space is drawn as an area, not as a floor.
    let plane = collider.shape.as_half_space().filter(|_| dimensions == 3);
    let look = match collider.look {
        Some(Appearance::Solid) => "solid",
        Some(Appearance::Glass) => "glass",
        Some(Appearance::Cutaway) => "cutaway",
        Some(Appearance::Hidden) => "hidden",
        None if dimensions == 3 && plane.is_none() && contains(collider, grains) => "glass",
        None => "solid",
    };
    json!({
        "name": name,
        "look": look,
        "color": collider.color,
        "plane": plane.map(|(point, normal)| json!({ "point": point.to_array(), "normal": normal.to_array() })),
        "surface": plane.is_none(),
    })
}

/// Bounding box of a body at `pose`; `None` if it is unbounded.
fn placed(own: &Bounds, pose: &Pose) -> Option<Bounds> {
    let corners = || corners(own).map(|c| pose.to_world(c));
    own.is_finite().then(|| Bounds::from_points(corners()))
}

/// Bounding box of the surface of a terrain [m].
fn around(terrain: &TerrainSpec) -> Bounds {
    let end = |axis: usize| terrain.origin[axis] + terrain.cell * terrain.columns[axis] as f64;
    let heights = || terrain.heights.iter().copied();
    let low = heights().fold(f32::INFINITY, f32::min);
    let high = heights().fold(f32::NEG_INFINITY, f32::max);
    Bounds {
        min: Vec3::new(terrain.origin[0] as f32, low, terrain.origin[1] as f32),
        max: Vec3::new(end(0) as f32, high, end(1) as f32),
    }
}

/// The camera at t = 0; values that the scene does not give are null.
fn camera(scene: &Scene) -> Value {
    let Some(camera) = &scene.camera else {
        return Value::Null;
    };
    let automatic = View {
        position: [0.0, 0.0, 1.0].into(),
        target: [0.0; 3].into(),
        fov: View::DEFAULT_FOV,
    };
    let view = camera.at(0.0, automatic);
    json!({
        "position": camera.position.as_ref().map(|_| view.position.to_array()),
        "target": camera.target.as_ref().map(|_| view.target.to_array()),
        "field_of_view": view.fov,
    })
}

/// The box in which unbounded bodies are shown; in 2D a thin slab.
fn surroundings(bounds: Bounds, dimensions: u32, dx: f64) -> Bounds {
    let mut wide = bounds.expand(SURROUNDINGS * bounds.size().length().max(1e-3));
    if dimensions == 2 {
        (wide.min.z, wide.max.z) = (-0.25 * dx as f32, 0.25 * dx as f32);
    }
    wide
}

/// Radius at which grains fill their volume: the median in the first frame [m].
fn grain_radius(store: &Store, frames: &[u32], manifest: &Manifest) -> f32 {
    let of = |name: &str| {
        let first = frames.iter().take(3);
        let mut found = first.filter_map(|f| typical(&store.column(*f, name).ok()?));
        found.next()
    };
    typical_radius(of, manifest)
}

/// Median of the values of a column.
fn typical(column: &Column) -> Option<f32> {
    let mut values = column.data.as_f32()?.to_vec();
    let middle = values.len() / 2;
    (!values.is_empty()).then(|| *values.select_nth_unstable_by(middle, f32::total_cmp).1)
}

/// From the radii, otherwise from the masses, otherwise from the resolution [m].
fn typical_radius(typical: impl Fn(&str) -> Option<f32>, manifest: &Manifest) -> f32 {
    if let Some(radius) = typical("radius").filter(|r| *r > 0.0) {
        return radius;
    }
    let density = manifest.materials.first().map_or(0.0, |m| m.density);
    let volume = typical("mass").map(|mass| mass / density as f32);
    let radius = volume.map(|v| match manifest.dimensions {
        2 => (v / std::f32::consts::PI).sqrt(),
        _ => (0.75 * v / std::f32::consts::PI).cbrt(),
    });
    let method = Method::find(&manifest.solver).unwrap_or(METHODS[0]);
    radius
        .filter(|r| *r > 0.0 && r.is_finite())
        .unwrap_or((method.drawn_radius * manifest.dx) as f32)
}

/// Colors of all grains: one list, of which each material has an interval.
pub struct Palette {
    colors: Vec<[u8; 3]>,
    /// Index of the first color, and mix, of each material.
    mixes: Vec<(usize, ColorMix)>,
}

impl Palette {
    fn new(scene: Option<&Scene>, materials: usize) -> Self {
        let sand = ColorMix::new(SAND_COLORS).unwrap_or_else(|| ColorMix::plain([225, 169, 95]));
        let known = scene.map_or(&[][..], |s| &s.materials);
        let of = |i: usize| known.get(i).map(|m| m.color.clone());
        let mut palette = Self {
            colors: Vec::new(),
            mixes: Vec::new(),
        };
        for i in 0..materials.max(1) {
            let mix = of(i).unwrap_or_else(|| sand.clone());
            let start = palette.colors.len();
            if start + mix.parts().len() > MOST_COLORS {
                // More colors than a byte can index: these materials have the colors of the first.
                palette.mixes.push((0, palette.mixes[0].1.clone()));
                continue;
            }
            palette
                .colors
                .extend(mix.parts().iter().map(|(color, _)| *color));
            palette.mixes.push((start, mix));
        }
        palette
    }

    /// All colors, sRGB.
    pub fn colors(&self) -> &[[u8; 3]] {
        &self.colors
    }

    /// Index of the permanent color of a grain.
    pub fn index(&self, material: u8, id: u64) -> u8 {
        let (start, mix) = self
            .mixes
            .get(usize::from(material))
            .unwrap_or(&self.mixes[0]);
        (start + mix.index(chance(id))).min(MOST_COLORS - 1) as u8
    }

    /// Mean color of a material.
    pub fn mean(&self, material: usize) -> [u8; 3] {
        self.mixes.get(material).unwrap_or(&self.mixes[0]).1.mean()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sand_has_its_mix_of_colors() {
        let palette = Palette::new(None, 2);
        assert_eq!(palette.colors().len(), 6);
        let mut counts = [0; 6];
        for id in 0..20_000 {
            counts[usize::from(palette.index((id % 2) as u8, id))] += 1;
        }
        for (count, part) in counts.iter().zip([0.85, 0.10, 0.05, 0.85, 0.10, 0.05]) {
            let found = f64::from(*count) / 10_000.0;
            assert!((found - part).abs() < 0.01, "{counts:?}");
        }
        assert_eq!(palette.index(0, 7), palette.index(0, 7));
        assert_eq!(palette.index(200, 7), palette.index(0, 7));
    }

    #[test]
    fn too_many_colors_do_not_overflow() {
        let palette = Palette::new(None, 200);
        assert!(palette.colors().len() <= MOST_COLORS);
        let _ = palette.index(199, 3);
    }
}
