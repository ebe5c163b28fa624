//! Small stages and results to render, and light read back from pictures.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "shared by tests; each test binary uses a part of it"
)]

pub mod difference;

use barchan_frame::{
    BodyRecord, Column, ColumnData, Frame, Manifest, ManifestMaterial, ResultDirectory, Unit,
};
use barchan_render::Picture;
use barchan_render::camera::Camera;
use barchan_render::grains::Grains;
use barchan_render::tracer::{Body, Material, Plane, Quality, Shape, Sky, Spheres, Stage};
use barchan_scene::color::linear;
use barchan_scene::motion::Pose;
use barchan_scene::{Bounds, Geometry, View};
use glam::{Vec3, vec3};
use std::sync::Arc;

/// Sample count for means over a few pixels.
pub const FINE: Quality = Quality {
    samples: 64,
    bounces: 2,
};

/// A sun below the horizon: surfaces that face up or sideways are lit by the sky only.
pub const SUN_BELOW: Sky = Sky { sun: Vec3::NEG_Y };

/// Mean radiance of the upper half of the sky, weighted by the cosine: ⟨cos⟩ = 2/3.
pub fn ambient(sky: &Sky) -> Vec3 {
    sky.radiance(vec3(0.0, 2.0 / 3.0, 0.0))
}

/// Shows all grains.
pub fn all(_: [f32; 3]) -> bool {
    true
}

/// An empty stage; planes do not fade.
pub fn empty(sky: Sky) -> Stage {
    Stage {
        relief: None,
        spheres: Spheres::new(&Grains::default(), 0.0, all),
        bodies: Vec::new(),
        planes: Vec::new(),
        sky,
        fade: 1e9,
        center: Vec3::ZERO,
        epsilon: 1e-5,
    }
}

/// A view of 30° from a point to a point.
pub fn view(position: Vec3, target: Vec3, fov: f32) -> View {
    View {
        position,
        target,
        fov,
    }
}

/// Draws a stage.
pub fn shot(stage: &Stage, view: &View, size: [u32; 2], quality: Quality) -> Picture {
    stage.draw(&Camera::new(view, size), size, quality, 0)
}

/// Mean light of a small picture of one point, seen from `eye`.
pub fn light_at(stage: &Stage, point: Vec3, eye: Vec3) -> Vec3 {
    let size = [8, 8];
    mean_light(&shot(stage, &view(eye, point, 0.05), size, FINE))
}

/// Mean light of a picture.
pub fn mean_light(picture: &Picture) -> Vec3 {
    let pixels = picture.rgb.as_chunks::<3>().0;
    pixels.iter().map(|p| light(*p)).sum::<Vec3>() / pixels.len() as f32
}

/// Light of a pixel: the inverse of the tone mapping.
pub fn light(pixel: [u8; 3]) -> Vec3 {
    const SHOULDER: f32 = 0.8;
    Vec3::from_array(pixel.map(|v| {
        let x = linear(v);
        if x <= SHOULDER {
            return x;
        }
        let rest = (1.0 - (x - SHOULDER) / (1.0 - SHOULDER)).max(1e-6);
        SHOULDER - (1.0 - SHOULDER) * rest.ln()
    }))
}

/// Spheres at rest: center, radius, color.
pub fn still(list: &[(Vec3, f32, [u8; 3])]) -> Spheres {
    Spheres::new(&grains(list), 0.0, all)
}

/// The same as grains, which may move.
pub fn grains(list: &[(Vec3, f32, [u8; 3])]) -> Grains {
    Grains {
        position: list.iter().map(|s| s.0.to_array()).collect(),
        velocity: Vec::new(),
        radius: list.iter().map(|s| s.1).collect(),
        color: list.iter().map(|s| s.2).collect(),
    }
}

/// Ground at a height, of one gray.
pub fn ground(height: f32, gray: f32) -> Plane {
    Plane {
        point: vec3(0.0, height, 0.0),
        normal: Vec3::Y,
        color: Vec3::splat(gray),
    }
}

/// The surface of a geometry.
pub fn shape(geometry: &Geometry) -> Arc<Shape> {
    let everything = Bounds::from_corners(Vec3::splat(-1e6), Vec3::splat(1e6));
    let mesh = geometry.surface(&everything, 64);
    Arc::new(Shape::new(geometry.clone(), &mesh))
}

/// A body that stays where its geometry is.
pub fn body(geometry: &Geometry, material: Material) -> Body {
    Body {
        shape: shape(geometry),
        material,
        pose: Pose::IDENTITY,
        motion: [Vec3::ZERO; 2],
        cut: None,
    }
}

/// Projection of a point to a picture [pixels], independent of the camera's code.
pub fn project(view: &View, size: [u32; 2], point: Vec3) -> [f32; 2] {
    let forward = (view.target - view.position).as_dvec3().normalize();
    let level = forward.cross(glam::DVec3::Y);
    let right = level.try_normalize().unwrap_or(glam::DVec3::X);
    let up = right.cross(forward);
    let d = point.as_dvec3() - view.position.as_dvec3();
    let [width, height] = size.map(f64::from);
    let scale = 0.5 * height / (0.5 * f64::from(view.fov)).to_radians().tan() / d.dot(forward);
    [
        (0.5 * width + scale * d.dot(right)) as f32,
        (0.5 * height - scale * d.dot(up)) as f32,
    ]
}

/// Deterministic random numbers between 0 and 1.
pub fn random(seed: u32) -> impl FnMut() -> f32 {
    let mut state = u64::from(seed) * 2 + 1;
    move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1 << 24) as f32
    }
}

/// A typical manifest.
pub fn manifest() -> Manifest {
    Manifest {
        scene: "test".into(),
        solver: "mpm".into(),
        dimensions: 3,
        dx: 0.02,
        frame_rate: 24.0,
        frames: 4,
        materials: vec![ManifestMaterial {
            name: "dry sand".into(),
            density: 1600.0,
        }],
        created_by: "barchan 0.1.0".into(),
        ..Manifest::default()
    }
}

/// A result in a temporary directory, without frames.
pub fn result(scene: &str) -> (tempfile::TempDir, ResultDirectory) {
    result_of(scene, &manifest())
}

/// The same with a given manifest.
pub fn result_of(scene: &str, manifest: &Manifest) -> (tempfile::TempDir, ResultDirectory) {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("result");
    let directory = ResultDirectory::create(&path, manifest, scene).unwrap();
    (root, directory)
}

/// A frame with positions only.
pub fn frame(index: u32, position: &[Vec3]) -> Frame {
    let values = position.iter().flat_map(|p| p.to_array()).collect();
    Frame {
        index,
        time: f64::from(index) / 24.0,
        columns: vec![Column::vector3(
            "position",
            Unit::Meter,
            "center",
            0.0,
            values,
        )],
        ..Frame::default()
    }
}

/// Adds a column of floats, one for each grain.
pub fn with_scalar(mut frame: Frame, name: &str, values: Vec<f32>) -> Frame {
    let column = Column::scalar(name, Unit::One, name, 0.0, values);
    frame.columns.push(column);
    frame
}

/// Adds a column of vectors.
pub fn with_vector(mut frame: Frame, name: &str, values: &[Vec3]) -> Frame {
    let values = values.iter().flat_map(|p| p.to_array()).collect();
    let column = Column::vector3(name, Unit::One, name, 0.0, values);
    frame.columns.push(column);
    frame
}

/// Adds identities.
pub fn with_ids(mut frame: Frame, ids: Vec<u32>) -> Frame {
    let column = Column::exact("id", Unit::One, "identity", 1, ColumnData::U32(ids));
    frame.columns.push(column);
    frame
}

/// Adds the record of one body.
pub fn with_body(mut frame: Frame, record: BodyRecord) -> Frame {
    frame.record.bodies.push(record);
    frame
}

/// The record of a body at rest without rotation.
pub fn recorded(name: &str, position: Vec3) -> BodyRecord {
    BodyRecord {
        name: name.into(),
        position: position.to_array(),
        ..BodyRecord::default()
    }
}
