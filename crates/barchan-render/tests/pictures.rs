//! Pictures against stored references, by perceptual difference. `BARCHAN_BLESS=1` stores the present pictures; inspect them before
//! committing.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use barchan_frame::{BodyRecord, Frame};
use barchan_render::{Picture, RenderOptions, Renderer};
use barchan_scene::Overrides;
use common::difference::{Difference, difference};
use common::*;
use glam::{Vec3, vec3};
use std::path::Path;

const SIZE: [u32; 2] = [160, 90];
/// Allowed difference, as a multiple of the difference between two renderings with different noise.
const TOLERANCE: f32 = 1.2;

/// Two frames of the same grains, at 1 s, and the camera of the scene.
struct Case {
    name: &'static str,
    camera: String,
    frame: Frame,
    /// Changes of the scene that must be detected: position of the sun, hue, position of the camera.
    controls: [String; 3],
}

/// Eye and target; the first keyframe determines the sun, the second the camera of frame 1.
struct Shot {
    eye: Vec3,
    target: Vec3,
}

impl Shot {
    fn camera(&self, eye: Vec3, by: Vec3) -> String {
        let [eye, seen, target] =
            [eye, self.eye + by, self.target + by].map(|p| format!("{:?}", p.to_array()));
        format!(
            "camera.keyframes=[{{ time = 0, position = {eye}, target = {target} }}, {{ time = 0.5, position = {seen} }}]"
        )
    }

    fn controls(&self) -> [String; 3] {
        let from = self.eye - self.target;
        let turned = glam::Quat::from_rotation_y(0.5) * from;
        // 2 % of the width of the picture.
        let width =
            2.0 * from.length() * 15.0_f32.to_radians().tan() * SIZE[0] as f32 / SIZE[1] as f32;
        let aside = 0.02 * width * from.cross(Vec3::Y).normalize();
        [
            self.camera(self.target + turned, Vec3::ZERO),
            "materials.sand.color=[{ color = [225, 169, 95], part = 0.85 }, \
             { color = [40, 70, 200], part = 0.1 }, { color = [255, 255, 255], part = 0.05 }]"
                .into(),
            self.camera(self.eye, aside),
        ]
    }

    /// The scene of that name in scenes/tests/pictures.
    fn case(&self, name: &'static str, frame: Frame) -> Case {
        Case {
            name,
            camera: self.camera(self.eye, Vec3::ZERO),
            frame: Frame { time: 1.0, ..frame },
            controls: self.controls(),
        }
    }
}

/// Grains of a jittered lattice inside a region.
fn packed(low: Vec3, high: Vec3, spacing: f32, inside: impl Fn(Vec3) -> bool) -> Vec<Vec3> {
    let mut next = random(7);
    let counts = ((high - low) / spacing).as_ivec3();
    let mut list = Vec::new();
    for (i, j, k) in (0..counts.x)
        .flat_map(|i| (0..counts.y).map(move |j| (i, j)))
        .flat_map(|(i, j)| (0..counts.z).map(move |k| (i, j, k)))
    {
        let jitter = vec3(next(), next(), next());
        let at = low + spacing * (vec3(i as f32, j as f32, k as f32) + 0.2 + 0.6 * jitter);
        if inside(at) {
            list.push(at);
        }
    }
    list
}

fn sized(frame: Frame, radius: f32) -> Frame {
    let count = frame.particles();
    with_scalar(frame, "radius", vec![radius; count])
}

fn heap_with_ball() -> Case {
    let cone = |p: Vec3| p.y < 0.32 - 0.6 * p.with_y(0.0).length();
    let grains = packed(vec3(-0.6, 0.0, -0.6), vec3(0.6, 0.4, 0.6), 0.03, cone);
    let record = recorded("ball", vec3(0.12, 0.36, 0.1));
    let shot = Shot {
        eye: vec3(1.0, 0.9, 2.0),
        target: vec3(0.0, 0.15, 0.0),
    };
    let frame = with_body(sized(frame(0, &grains), 0.015), record);
    shot.case("heap", frame)
}

fn hourglass() -> Case {
    let inner = |h: f32| match h {
        h if h < 0.2 => 0.25,
        h if h < 0.8 => 0.03 + 0.22 * (h - 0.5).abs() / 0.3,
        _ => 0.25,
    };
    let content = |p: Vec3| {
        let r = p.with_y(0.0).length();
        let upper = p.y > 0.5 && p.y < 0.7 + 0.3 * r;
        let lower = p.y < 0.24 - 0.6 * r;
        r < inner(p.y) - 0.012 && (upper || lower || r < 0.015)
    };
    let grains = packed(vec3(-0.3, 0.06, -0.3), vec3(0.3, 0.8, 0.3), 0.021, content);
    let shot = Shot {
        eye: vec3(0.6, 0.9, 2.5),
        target: vec3(0.0, 0.48, 0.0),
    };
    shot.case("hourglass", sized(frame(0, &grains), 0.0105))
}

fn cut_box() -> Case {
    let slope = |p: Vec3| p.y < 0.3 + 0.3 * p.x;
    let grains = packed(vec3(-0.44, 0.06, -0.34), vec3(0.44, 0.6, 0.34), 0.03, slope);
    let shot = Shot {
        eye: vec3(0.9, 1.2, 2.0),
        target: vec3(0.0, 0.25, 0.0),
    };
    shot.case("cutaway", sized(frame(0, &grains), 0.015))
}

fn jet() -> Case {
    let near = |p: Vec3| (p.y - 0.8 + 0.9 * p.x * p.x).abs() < 0.05 && p.z.abs() < 0.08;
    let grains = packed(vec3(-0.8, 0.1, -0.1), vec3(0.8, 0.9, 0.1), 0.035, near);
    let velocity: Vec<Vec3> = grains
        .iter()
        .map(|p| 4.0 * vec3(1.0, -1.8 * p.x, 0.0))
        .collect();
    let record = BodyRecord {
        angular_velocity: [0.0, 0.0, 20.0],
        ..recorded("blade", vec3(0.0, 0.3, 0.2))
    };
    let frame = with_vector(sized(frame(0, &grains), 0.017), "velocity", &velocity);
    let shot = Shot {
        eye: vec3(0.3, 0.8, 2.6),
        target: vec3(0.0, 0.4, 0.0),
    };
    shot.case("motion", with_body(frame, record))
}

fn column() -> Case {
    let round = |p: Vec3| p.with_y(0.0).length() < 0.2;
    let grains = packed(vec3(-0.2, 0.0, -0.2), vec3(0.2, 0.8, 0.2), 0.03, round);
    let shot = Shot {
        eye: vec3(0.8, 1.1, 2.0),
        target: vec3(0.0, 0.4, 0.0),
    };
    shot.case("column", sized(frame(0, &grains), 0.015))
}

/// Draws frame `frame` of a case with changes to its scene.
fn draw(case: &Case, set: Option<&String>, frame: u32) -> Picture {
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/tests/pictures");
    let file = scenes.join(case.name).with_extension("toml");
    let (_root, directory) = result(&std::fs::read_to_string(file).unwrap());
    for index in 0..2 {
        let copy = Frame {
            index,
            ..case.frame.clone()
        };
        directory.write_frame(&copy).unwrap();
    }
    let options = RenderOptions {
        size: SIZE,
        overrides: Overrides {
            set: [&case.camera].into_iter().chain(set).cloned().collect(),
            ..Overrides::default()
        },
        ..RenderOptions::default()
    };
    let renderer =
        Renderer::open(directory, options).unwrap_or_else(|e| panic!("{}: {e:?}", case.name));
    assert!(renderer.warnings.is_empty(), "{:?}", renderer.warnings);
    renderer.draw(frame).unwrap()
}

fn alike(apart: Difference, noise: Difference) -> bool {
    apart.mean <= TOLERANCE * noise.mean && apart.p99 <= TOLERANCE * noise.p99
}

fn check(case: &Case) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pictures");
    let path = folder.join(case.name).with_extension("png");
    let drawn = draw(case, None, 0);
    if std::env::var_os("BARCHAN_BLESS").is_some() {
        drawn.write_png(&path).unwrap();
    }
    let stored = Picture::read_png(&path).unwrap();
    let noise = difference(&drawn, &draw(case, None, 1)).unwrap();
    let apart = difference(&stored, &drawn).unwrap();
    assert!(
        alike(apart, noise),
        "{} differs: {apart:?}, noise {noise:?}; inspect the picture, and store it with BARCHAN_BLESS=1 if it is correct",
        case.name
    );
    for control in &case.controls {
        let changed = difference(&stored, &draw(case, Some(control), 0)).unwrap();
        assert!(
            !alike(changed, noise),
            "{}: {control} is not detected: {changed:?}",
            case.name
        );
    }
}

#[test]
fn a_heap_with_a_ball() {
    check(&heap_with_ball());
}

#[test]
fn an_hourglass() {
    check(&hourglass());
}

#[test]
fn a_box_cut_open() {
    check(&cut_box());
}

#[test]
fn grains_and_a_blade_in_motion() {
    check(&jet());
}

#[test]
fn a_column_without_ground() {
    check(&column());
}
