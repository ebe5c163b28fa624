//! Pictures of whole results: recorded poses of bodies, looks, floor, camera and changes to the scene.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use barchan_frame::{BodyRecord, Frame, ResultDirectory};
use barchan_render::framing::subject;
use barchan_render::tracer::Quality;
use barchan_render::{Picture, RenderError, RenderOptions, Renderer};
use barchan_scene::{Overrides, SceneSource, load_file, load_for_viewing};
use common::difference::difference;
use common::*;
use glam::{Vec3, vec3};

const BASE: &str = include_str!("../../../scenes/tests/sand.toml");
const GROUND: &str =
    "[[collider]]\nname = \"ground\"\nshape = { half_space = { normal = [0, 1, 0] } }\n";
/// A red ball of 0.1 m at the origin of its frame.
const BALL: &str = "[[collider]]\nname = \"ball\"\nlook = \"solid\"\ncolor = [200, 0, 0]\n\
                    shape = { sphere = { center = [0, 0, 0], radius = 0.1 } }\n";
const CAMERA: &str = "[camera]\nposition = [0, 0.5, 4]\ntarget = [0, 0.5, 0]\nfov = 30\n";
const SIZE: [u32; 2] = [120, 90];

/// A block of grains over the ground.
fn block() -> Vec<Vec3> {
    let n = 8;
    (0..n * n * n)
        .map(|i| vec3((i % n) as f32, (i / n % n) as f32, (i / n / n) as f32))
        .map(|p| (p + vec3(0.5, 0.5, 0.5)) * 0.05 - vec3(0.2, 0.0, 0.2))
        .collect()
}

fn options(set: &[&str]) -> RenderOptions {
    RenderOptions {
        size: SIZE,
        quality: Quality {
            samples: 8,
            bounces: 2,
        },
        overrides: Overrides {
            set: set.iter().map(|s| s.to_string()).collect(),
            ..Overrides::default()
        },
        ..RenderOptions::default()
    }
}

/// A result with these frames, in a temporary folder.
fn stored(scene: &str, frames: Vec<Frame>) -> (tempfile::TempDir, ResultDirectory) {
    let (root, directory) = result(scene);
    for frame in frames {
        directory.write_frame(&frame).unwrap();
    }
    (root, directory)
}

fn reopen(directory: &ResultDirectory) -> ResultDirectory {
    ResultDirectory::open(directory.path()).unwrap()
}

fn draw_with(directory: &ResultDirectory, options: RenderOptions, frame: u32) -> Picture {
    let renderer = Renderer::open(reopen(directory), options).unwrap();
    assert!(renderer.warnings.is_empty(), "{:?}", renderer.warnings);
    renderer.draw(frame).unwrap()
}

/// Picture of the first frame.
fn first(scene: &str, frame: Frame, set: &[&str]) -> Picture {
    let (_root, directory) = stored(scene, vec![frame]);
    draw_with(&directory, options(set), 0)
}

fn red(pixel: [u8; 3]) -> bool {
    let light = light(pixel);
    light.x > 0.05 && light.x > 4.0 * light.y.max(light.z)
}

/// Middle of the red pixels, and their number.
fn red_spot(picture: &Picture) -> Option<([f32; 2], u32)> {
    let (mut sum, mut count) = ([0.0; 2], 0);
    for y in 0..picture.height {
        for x in 0..picture.width {
            if red(picture.pixel(x, y)) {
                sum = [sum[0] + x as f32 + 0.5, sum[1] + y as f32 + 0.5];
                count += 1;
            }
        }
    }
    (count > 0).then(|| (sum.map(|s| s / count as f32), count))
}

fn assert_at(picture: &Picture, point: Vec3) {
    let eye = view(vec3(0.0, 0.5, 4.0), vec3(0.0, 0.5, 0.0), 30.0);
    let expected = project(&eye, SIZE, point);
    let (found, _) = red_spot(picture).expect("the ball is visible");
    let off = (0..2)
        .map(|i| (found[i] - expected[i]).abs())
        .fold(0.0, f32::max);
    assert!(off < 1.5, "{found:?} {expected:?}");
}

#[test]
fn bodies_have_their_recorded_poses() {
    let scene = [CAMERA, BASE, GROUND, BALL].concat();
    let placed = |at: Vec3, index: u32| with_body(frame(index, &block()), recorded("ball", at));
    let places = [vec3(0.5, 0.8, 0.0), vec3(-0.6, 1.0, 0.0)];
    let frames = vec![
        placed(places[0], 0),
        placed(places[1], 1),
        frame(2, &block()),
    ];
    let (_root, directory) = stored(&scene, frames);
    let renderer = Renderer::open(directory, options(&[])).unwrap();
    assert_at(&renderer.draw(0).unwrap(), places[0]);
    assert_at(&renderer.draw(1).unwrap(), places[1]);
    // Without a record it has the pose of the scene: half in the ground, hidden by the grains.
    let unrecorded = renderer.draw(2).unwrap();
    let spot = red_spot(&unrecorded);
    assert!(spot.is_none_or(|(at, _)| at[1] > 55.0), "{spot:?}");
}

#[test]
fn an_invalid_record_is_ignored() {
    let scene = [
        CAMERA,
        BASE,
        BALL.replace("center = [0, 0, 0]", "center = [0.5, 0.8, 0]")
            .as_str(),
    ]
    .concat();
    let usual = recorded("ball", Vec3::ZERO);
    let unturned = BodyRecord {
        rotation: [0.0; 4],
        ..usual.clone()
    };
    for record in [unturned, recorded("other", Vec3::ONE)] {
        let picture = first(&scene, with_body(frame(0, &block()), record), &[]);
        assert_at(&picture, vec3(0.5, 0.8, 0.0));
    }
    let wild = BodyRecord {
        velocity: [f32::MAX; 3],
        angular_velocity: [f32::MAX, 0.0, 0.0],
        ..usual
    };
    first(&scene, with_body(frame(0, &block()), wild), &[]);
}

#[test]
fn the_pose_turns_the_body() {
    let bar = "[[collider]]\nname = \"bar\"\nlook = \"solid\"\ncolor = [200, 0, 0]\n\
               shape = { box = { min = [0.4, -0.05, -0.05], max = [0.8, 0.05, 0.05] } }\n";
    let scene = [CAMERA, BASE, bar].concat();
    let (sin, cos) = std::f64::consts::FRAC_PI_4.sin_cos();
    let record = BodyRecord {
        rotation: [0.0, 0.0, sin as f32, cos as f32],
        ..recorded("bar", vec3(0.0, 0.5, 0.0))
    };
    let picture = first(&scene, with_body(frame(0, &block()), record), &[]);
    // A quarter turn about z, from the right to the top.
    assert_at(&picture, vec3(0.0, 1.1, 0.0));
}

#[test]
fn bodies_have_their_looks() {
    let scene = [CAMERA, BASE, GROUND, BALL].concat();
    let placed = || with_body(frame(0, &block()), recorded("ball", vec3(0.0, 0.8, 0.0)));
    let looks = ["solid", "glass", "cutaway", "hidden"];
    let pictures =
        looks.map(|look| first(&scene, placed(), &[&format!("collider.ball.look={look}")]));
    let [solid, glass, cutaway, hidden] = &pictures;
    assert!(red_spot(solid).unwrap().1 > 25);
    assert!(red_spot(cutaway).unwrap().1 > 25);
    assert_eq!((red_spot(glass), red_spot(hidden)), (None, None));
    // Glass is visible, hidden bodies are not; a cut sphere is flat.
    let none = first(&[CAMERA, BASE, GROUND].concat(), placed(), &[]);
    assert_eq!(&none, hidden);
    assert!(difference(&none, glass).unwrap().max > 3.0);
    assert!(difference(solid, cutaway).unwrap().max > 5.0);
}

#[test]
fn containers_are_glass_unless_the_scene_says_otherwise() {
    let cup = "[[collider]]\nname = \"cup\"\ncolor = [200, 0, 0]\nshape = { difference = [\
               { box = { min = [-0.25, -0.05, -0.25], max = [0.25, 0.5, 0.25] } },\
               { box = { min = [-0.21, 0, -0.21], max = [0.21, 0.6, 0.21] } } ] }\n";
    let scene = [CAMERA, BASE, cup].concat();
    let clear = first(&scene, frame(0, &block()), &[]);
    assert_eq!(red_spot(&clear), None);
    // The sand is visible through it, slightly darker.
    let bare = first(&[CAMERA, BASE, GROUND].concat(), frame(0, &block()), &[]);
    let eye = view(vec3(0.0, 0.5, 4.0), vec3(0.0, 0.5, 0.0), 30.0);
    let [x, y] = project(&eye, SIZE, vec3(0.0, 0.15, 0.2)).map(|v| v as u32);
    let around = |p: &Picture| -> Vec3 {
        (0..25)
            .map(|i| light(p.pixel(x - 2 + i % 5, y - 2 + i / 5)))
            .sum::<Vec3>()
            / 25.0
    };
    let ratio = around(&clear) / around(&bare);
    assert!(
        ratio.min_element() > 0.5 && ratio.max_element() < 1.3,
        "{ratio}"
    );
    let solid = first(&scene, frame(0, &block()), &["collider.cup.look=solid"]);
    assert!(red_spot(&solid).unwrap().1 > 300);
    // A body beside the grains is not a container.
    let aside: Vec<Vec3> = block().iter().map(|p| p + vec3(0.8, 0.0, 0.0)).collect();
    let empty = first(&scene, frame(0, &aside), &[]);
    assert!(red_spot(&empty).unwrap().1 > 300);
}

fn floor_of(scene: &str, grains: &[Vec3]) -> Option<f32> {
    let (_root, directory) = stored(scene, vec![frame(0, grains)]);
    let source = SceneSource {
        name: "scene.toml".into(),
        text: scene.into(),
        directory: ".".into(),
    };
    let (scene, _) = load_for_viewing(&source, &Overrides::default()).unwrap();
    subject(&directory, &[0], Some(&scene)).floor
}

#[test]
fn a_scene_without_ground_stands_on_a_floor_unless_grains_fall_past_it() {
    let table = "[[collider]]\nname = \"table\"\n\
                 shape = { box = { min = [-0.5, -0.1, -0.5], max = [0.5, 0, 0.5] } }\n";
    let on_table = [BASE, table].concat();
    let height = floor_of(&on_table, &block()).unwrap();
    assert!((height + 0.1).abs() < 0.01, "{height}");
    assert_eq!(floor_of(&[BASE, GROUND].concat(), &block()), None);
    assert_eq!(floor_of(&[BASE, GROUND, table].concat(), &block()), None);
    assert_eq!(floor_of(BASE, &block()), None);
    let falling: Vec<Vec3> = block().iter().map(|p| p - vec3(0.0, 0.5, 0.0)).collect();
    assert_eq!(floor_of(&on_table, &falling), None);
    // A wall is not ground.
    let wall =
        "[[collider]]\nshape = { half_space = { point = [-1, 0, 0], normal = [1, 0, 0] } }\n";
    assert!(floor_of(&[BASE, table, wall].concat(), &block()).is_some());
}

#[test]
fn the_camera_is_that_of_the_scene() {
    let ball = BALL.replace("center = [0, 0, 0]", "center = [0.5, 0.8, 0]");
    let at = |camera: &str, set: &[&str], time: f64| {
        let scene = [camera, BASE, &ball].concat();
        let frame = Frame {
            time,
            ..frame(0, &block())
        };
        red_spot(&first(&scene, frame, set)).unwrap()
    };
    let point = vec3(0.5, 0.8, 0.0);
    let check = |found: ([f32; 2], u32), position: Vec3, target: Vec3, fov: f32| {
        let expected = project(&view(position, target, fov), SIZE, point);
        let off = (0..2)
            .map(|i| (found.0[i] - expected[i]).abs())
            .fold(0.0, f32::max);
        assert!(off < 1.5, "{found:?} {expected:?}");
    };
    let (eye, target) = (vec3(0.0, 0.5, 4.0), vec3(0.0, 0.5, 0.0));
    check(at(CAMERA, &[], 0.0), eye, target, 30.0);
    check(at(CAMERA, &["camera.fov=60"], 0.0), eye, target, 60.0);
    check(
        at(CAMERA, &["camera.target=[0.3,0.7,0]"], 0.0),
        eye,
        vec3(0.3, 0.7, 0.0),
        30.0,
    );
    // An eighth of a turn after half a second.
    let orbit = [CAMERA, "orbit = 90\n"].concat();
    let turned = target + 4.0 * vec3(1.0, 0.0, 1.0) / 2.0_f32.sqrt();
    check(at(&orbit, &[], 0.5), turned, target, 30.0);
    check(at(&orbit, &[], 0.0), eye, target, 30.0);
    // The automatic camera shows everything.
    assert!(at("", &[], 0.0).1 > 20);
}

#[test]
fn invalid_changes_are_errors() {
    let scene = [CAMERA, BASE, GROUND].concat();
    let (_root, directory) = stored(&scene, vec![frame(0, &block())]);
    for (wrong, named) in [
        ("camera.fovv=30", "fovv"),
        ("camera.fov=-3", "fov"),
        ("collider.cellar.look=glass", "cellar"),
        ("collider.ground.look=shiny", "shiny"),
        ("nonsense", "nonsense"),
    ] {
        let error = Renderer::open(reopen(&directory), options(&[wrong])).err();
        let error = error.unwrap_or_else(|| panic!("{wrong} is accepted"));
        let RenderError::Scene(errors) = error else {
            panic!("{error}")
        };
        let said = errors.messages().join("; ");
        assert!(said.contains(named), "{said}");
    }
    assert!(Renderer::open(reopen(&directory), options(&["camera.fov=40"])).is_ok());
}

#[test]
fn the_shutter_blurs_moving_grains() {
    let scene = [CAMERA, BASE].concat();
    let fast = || {
        let grain = [
            vec3(0.0, 0.5, 0.0),
            vec3(0.0, 1.0, 0.0),
            vec3(0.0, 0.1, 0.0),
        ];
        let frame = with_vector(frame(0, &grain), "velocity", &[12.0 * Vec3::X; 3]);
        with_scalar(frame, "radius", vec![0.05; 3])
    };
    let (_root, directory) = stored(&scene, vec![fast()]);
    let widths = [0.0, 0.5, 1.0].map(|shutter| {
        let options = RenderOptions {
            shutter,
            quality: FINE,
            ..options(&[])
        };
        let picture = draw_with(&directory, options, 0);
        let background = picture.pixel(2, 45);
        (0..SIZE[0])
            .filter(|x| picture.pixel(*x, 45)[2].abs_diff(background[2]) > 3)
            .count()
    });
    // 120 × 90 pixels over 2.14 m: 42 pixels a meter; 12 m/s for 1/48 s is 0.25 m.
    let meter = 90.0 / (8.0 * 15.0_f32.to_radians().tan());
    for (width, expected) in widths.into_iter().zip([0.1, 0.35, 0.6]) {
        let off = width as f32 - expected * meter;
        assert!(off.abs() < 3.5, "{widths:?}: {}", expected * meter);
    }
}

#[test]
fn a_single_grain_is_framed() {
    // The automatic camera depends on its radius only.
    for at in [Vec3::ZERO, vec3(3.0, 1.0, 2.0), vec3(1000.0, 0.0, 0.0)] {
        let picture = first(BASE, frame(0, &[at]), &[]);
        let sand = |x: u32, y: u32| {
            let light = light(picture.pixel(x, y));
            light.x > 1.5 * light.z
        };
        assert!(sand(SIZE[0] / 2, SIZE[1] / 2), "{at}");
        let edge = (0..SIZE[0]).all(|x| !sand(x, 0) && !sand(x, SIZE[1] - 1));
        assert!(edge, "{at}");
    }
}

#[test]
fn pictures_do_not_depend_on_the_distance_from_the_origin() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/tests/far.toml");
    let scene = |at: Vec3| {
        let places = [
            ("camera.position", vec3(1.5, 1.5, 2.5)),
            ("camera.target", vec3(0.0, 0.2, 0.0)),
            ("collider.ground.shape.half_space.point", Vec3::ZERO),
            ("collider.box.shape.box.min", vec3(-0.3, 0.0, -0.3)),
            ("collider.box.shape.box.max", vec3(0.3, 0.3, 0.3)),
            ("collider.ball.shape.sphere.center", vec3(0.5, 0.2, 0.0)),
        ];
        let set = places.map(|(key, p)| format!("{key}={:?}", (at + p).to_array()));
        load_file(file, &set.each_ref().map(|s| &**s))
            .unwrap()
            .document
    };
    let picture = |at: Vec3| {
        let grains: Vec<Vec3> = block()
            .iter()
            .map(|p| at + p + vec3(0.0, 0.3, 0.0))
            .collect();
        first(&scene(at), frame(0, &grains), &[])
    };
    let here = picture(Vec3::ZERO);
    for far in [100.0, 1000.0] {
        let apart = difference(&here, &picture(far * vec3(1.01, -1.0, 0.97))).unwrap();
        assert!(apart.mean < 0.4 && apart.p99 < 2.0, "{far}: {apart:?}");
    }
}
