//! Degenerate stages and results: drawing neither panics nor hangs nor fails silently.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use barchan_frame::{Manifest, ResultDirectory};
use barchan_render::color::{ColorMap, Coloring};
use barchan_render::grains::Grains;
use barchan_render::tracer::{Body, Material, Quality, Shape, Sky, Spheres, Stage};
use barchan_render::{Picture, RenderError, RenderOptions, Renderer};
use barchan_scene::mesh::TriangleMesh;
use barchan_scene::motion::Pose;
use barchan_scene::{Geometry, View};
use common::*;
use glam::{Quat, Vec3, vec3};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

const ODD: [f32; 9] = [
    0.0,
    f32::NAN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::MAX,
    f32::MIN,
    f32::MIN_POSITIVE,
    1e-45,
    -1.0,
];
const WHITE: [u8; 3] = [255; 3];
const EYE: View = View {
    position: vec3(0.0, 1.0, 5.0),
    target: Vec3::ZERO,
    fov: 30.0,
};

fn bare() -> Stage {
    empty(Sky::with_sun(0.4, 0.7))
}

fn draw(stage: &Stage, view: &View) -> Picture {
    let begun = Instant::now();
    let picture = shot(stage, view, [24, 16], Quality::PREVIEW);
    assert!(begun.elapsed() < Duration::from_secs(5), "slow");
    picture
}

#[test]
fn grains_with_invalid_values_are_omitted() {
    let good: Vec<_> = (0..20)
        .map(|i| (vec3(0.1 * i as f32 - 1.0, 0.0, 0.0), 0.1, WHITE))
        .collect();
    let expected = draw(
        &Stage {
            spheres: still(&good),
            ..bare()
        },
        &EYE,
    );
    for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for axis in 0..3 {
            let mut grains = grains(&good);
            let mut at = [0.0; 3];
            at[axis] = odd;
            grains.position.push(at);
            grains.position.push([0.0; 3]);
            grains.position.push([0.0; 3]);
            grains.radius.extend([0.1, odd, 0.1]);
            grains.velocity = vec![[0.0; 3]; 22];
            grains.velocity.push(at);
            let stage = Stage {
                spheres: Spheres::new(&grains, 0.1, all),
                ..bare()
            };
            assert_eq!(draw(&stage, &EYE), expected);
        }
    }
}

#[test]
fn any_grain_can_be_drawn() {
    for position in ODD {
        for radius in ODD {
            for velocity in ODD {
                let grains = Grains {
                    position: vec![
                        [position, 0.0, 0.0],
                        [0.1, 0.0, 0.0],
                        [0.0, position, position],
                    ],
                    velocity: vec![[velocity; 3]; 3],
                    radius: vec![radius, 0.1, radius],
                    color: Vec::new(),
                };
                let stage = Stage {
                    spheres: Spheres::new(&grains, 0.02, all),
                    planes: vec![ground(-0.5, 0.5)],
                    ..bare()
                };
                draw(&stage, &EYE);
            }
        }
    }
}

#[test]
fn lists_of_grains_may_be_short() {
    let stage = Stage {
        spheres: Spheres::new(
            &Grains {
                position: vec![[0.0; 3]; 5],
                velocity: vec![[1.0; 3]; 2],
                radius: vec![0.1, 0.2],
                color: vec![WHITE],
            },
            1.0,
            all,
        ),
        ..bare()
    };
    draw(&stage, &EYE);
    let none = Stage {
        spheres: Spheres::new(&Grains::default(), 1.0, all),
        ..bare()
    };
    assert_eq!(draw(&none, &EYE), draw(&bare(), &EYE));
}

#[test]
fn many_grains_in_one_place_can_be_drawn() {
    let list = vec![(Vec3::ZERO, 0.1, WHITE); 5000];
    let stage = Stage {
        spheres: still(&list),
        ..bare()
    };
    let one = Stage {
        spheres: still(&list[..1]),
        ..bare()
    };
    assert_eq!(draw(&stage, &EYE), draw(&one, &EYE));
}

#[test]
fn pictures_of_any_size_can_be_drawn() {
    let stage = Stage {
        spheres: still(&[(Vec3::ZERO, 1.0, WHITE)]),
        planes: vec![ground(-1.0, 0.5)],
        ..bare()
    };
    for size in [[0, 0], [0, 5], [5, 0], [1, 1], [1, 9], [9, 1]] {
        let picture = shot(&stage, &EYE, size, Quality::PREVIEW);
        assert_eq!([picture.width, picture.height], size);
        assert_eq!(picture.rgb.len() as u32, 3 * size[0] * size[1]);
    }
    for (samples, bounces) in [(0, 0), (0, 3), (1, 0), (1, 50), (7, 1)] {
        shot(&stage, &EYE, [8, 8], Quality { samples, bounces });
    }
}

#[test]
fn the_camera_may_be_anywhere() {
    let solid = Geometry::cuboid(vec3(1.0, -1.0, -1.0), vec3(3.0, 1.0, 1.0));
    let glass = Geometry::cuboid(vec3(-3.0, -1.0, -1.0), vec3(-1.0, 1.0, 1.0));
    let stage = Stage {
        spheres: still(&[(Vec3::ZERO, 0.5, WHITE)]),
        bodies: vec![
            body(&solid, Material::Matte(Vec3::ONE)),
            body(&glass, Material::Glass),
        ],
        planes: vec![ground(-1.0, 0.5)],
        ..bare()
    };
    let inside = [Vec3::ZERO, vec3(2.0, 0.0, 0.0), vec3(-2.0, 0.0, 0.0)];
    let on_the_surface = [
        vec3(0.5, 0.0, 0.0),
        vec3(1.0, 0.0, 0.0),
        vec3(0.0, -1.0, 0.0),
    ];
    let below = [
        vec3(0.0, -9.0, 0.0),
        Vec3::splat(f32::NAN),
        Vec3::splat(1e30),
    ];
    for position in [inside, on_the_surface, below].concat() {
        for target in [
            position,
            Vec3::ZERO,
            vec3(0.0, 5.0, 0.0),
            Vec3::splat(f32::INFINITY),
        ] {
            for fov in [30.0, 0.0, 180.0, f32::NAN, -20.0] {
                draw(&stage, &view(position, target, fov));
            }
        }
    }
}

#[test]
fn bodies_may_be_empty_or_nowhere() {
    let ball = Geometry::sphere(Vec3::ZERO, 0.5);
    let empty = Arc::new(Shape::new(ball.clone(), &TriangleMesh::default()));
    let hole = TriangleMesh {
        vertices: vec![Vec3::ZERO, Vec3::splat(f32::NAN)],
        triangles: vec![[0, 1, 99], [0, 0, 0]],
    };
    let broken = Arc::new(Shape::new(ball.clone(), &hole));
    let whole = shape(&ball);
    for material in [Material::Glass, Material::Matte(Vec3::ONE)] {
        for shape in [&empty, &broken, &whole] {
            for odd in ODD {
                let bodies = vec![Body {
                    shape: shape.clone(),
                    material,
                    pose: Pose {
                        position: vec3(odd, 0.0, 0.0),
                        rotation: Quat::IDENTITY,
                    },
                    motion: [vec3(0.0, odd, 0.0), vec3(0.0, 0.0, odd)],
                    cut: (odd < 0.0).then_some((Vec3::ZERO, Vec3::Z)),
                }];
                draw(&Stage { bodies, ..bare() }, &EYE);
            }
        }
    }
    let stage = Stage {
        bodies: vec![Body {
            shape: empty,
            ..body(&ball, Material::Matte(Vec3::ONE))
        }],
        ..bare()
    };
    assert_eq!(draw(&stage, &EYE), draw(&bare(), &EYE));
}

#[test]
fn stages_may_have_odd_lengths() {
    for odd in ODD {
        let stage = Stage {
            spheres: still(&[(Vec3::ZERO, 0.5, WHITE)]),
            planes: vec![ground(-0.5, 0.5)],
            fade: odd,
            epsilon: odd,
            ..bare()
        };
        draw(&stage, &EYE);
    }
}

const SCENE: &str = include_str!("../../../scenes/tests/ground.toml");

fn options() -> RenderOptions {
    RenderOptions {
        size: [24, 16],
        quality: Quality::PREVIEW,
        ..RenderOptions::default()
    }
}

fn some() -> Vec<Vec3> {
    (0..30).map(|i| vec3(0.02 * i as f32, 0.05, 0.0)).collect()
}

/// Opens a result again and draws its first frame.
fn drawn(directory: &ResultDirectory) -> Result<(Picture, Vec<String>), RenderError> {
    let directory = ResultDirectory::open(directory.path())?;
    let renderer = Renderer::open(directory, options())?;
    let first = renderer.frames()[0];
    Ok((renderer.draw(first)?, renderer.warnings))
}

/// Whether a picture has pixels as orange as sand.
fn shows_sand(picture: &Picture) -> bool {
    let mut pixels = picture.rgb.as_chunks::<3>().0.iter();
    pixels.any(|p| light(*p).x > 1.5 * light(*p).z)
}

#[test]
fn without_a_scene_the_grains_are_shown() {
    for text in [
        None,
        Some("this is = = not TOML"),
        Some("[solver]\nresolution = \"fine\"\n"),
        Some("\0\u{feff}"),
    ] {
        let (_root, directory) = result(SCENE);
        directory.write_frame(&frame(0, &some())).unwrap();
        let path = directory.path().join("scene.toml");
        match text {
            Some(text) => std::fs::write(path, text).unwrap(),
            None => std::fs::remove_file(path).unwrap(),
        }
        let (picture, warnings) = drawn(&directory).unwrap();
        assert!(shows_sand(&picture));
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(
            warnings[0].contains("only grains are shown"),
            "{warnings:?}"
        );
    }
}

#[test]
fn a_body_without_its_mesh_is_omitted_with_a_warning() {
    let mesh = "[[collider]]\nname = \"rock\"\nshape = { mesh = { file = \"rock.stl\" } }\n";
    let (_root, directory) = result(&[SCENE, mesh].concat());
    directory.write_frame(&frame(0, &some())).unwrap();
    let (picture, warnings) = drawn(&directory).unwrap();
    assert!(shows_sand(&picture));
    let named = warnings.iter().any(|w| w.contains("rock.stl"));
    assert!(named, "{warnings:?}");
}

#[test]
fn results_without_frames_and_without_grains_are_distinguished() {
    let (_root, directory) = result(SCENE);
    let error = drawn(&directory).unwrap_err();
    assert!(matches!(error, RenderError::NoFrames(_)), "{error}");
    assert!(error.to_string().contains("no frames"), "{error}");
    directory.write_frame(&frame(0, &[])).unwrap();
    let (picture, _) = drawn(&directory).unwrap();
    assert!(!shows_sand(&picture));
}

#[test]
fn columns_may_be_missing_or_of_another_kind() {
    let bare = frame(0, &some());
    let heavy = with_scalar(frame(0, &some()), "mass", vec![0.01; 30]);
    let weightless = with_scalar(frame(0, &some()), "mass", vec![0.0; 30]);
    let odd = with_scalar(
        with_scalar(frame(0, &some()), "material", vec![0.5; 30]),
        "id",
        vec![1.0; 30],
    );
    let fast = with_vector(frame(0, &some()), "velocity", &[Vec3::splat(1e30); 30]);
    for (frame, seen) in [
        (bare, true),
        (heavy, true),
        (weightless, false),
        (odd, true),
        (fast, false),
    ] {
        let (_root, directory) = result(SCENE);
        directory.write_frame(&frame).unwrap();
        let (picture, warnings) = drawn(&directory).unwrap();
        assert!(!seen || shows_sand(&picture));
        assert!(warnings.is_empty(), "{warnings:?}");
    }
    let mut nothing = frame(0, &[]);
    nothing.columns.clear();
    let (_root, directory) = result(SCENE);
    directory.write_frame(&nothing).unwrap();
    drawn(&directory).unwrap();
}

#[test]
fn manifests_may_be_incomplete() {
    for manifest in [
        Manifest {
            materials: Vec::new(),
            ..manifest()
        },
        Manifest {
            frame_rate: 0.0,
            ..manifest()
        },
    ] {
        let (_root, directory) = result_of(SCENE, &manifest);
        let frame = with_scalar(frame(0, &some()), "mass", vec![0.01; 30]);
        let frame = with_vector(frame, "velocity", &[Vec3::ZERO; 30]);
        directory.write_frame(&frame).unwrap();
        let (picture, _) = drawn(&directory).unwrap();
        assert!(shows_sand(&picture), "{manifest:?}");
    }
}

#[test]
fn non_finite_positions_are_omitted() {
    let mut positions = some();
    positions.extend([
        Vec3::NAN,
        Vec3::INFINITY,
        vec3(0.0, f32::NAN, 0.0),
        Vec3::splat(1e38),
    ]);
    let (_root, directory) = result(SCENE);
    directory.write_frame(&frame(0, &positions)).unwrap();
    drawn(&directory).unwrap();
    // A tenth of the grains far away moves the camera back; a few in a thousand do not.
    let mut many: Vec<Vec3> = (0..2000)
        .map(|i| vec3(1e-4 * i as f32, 0.05, 0.0))
        .collect();
    many.extend([Vec3::NAN, Vec3::splat(1e20), Vec3::splat(-1e30)]);
    let (_root, directory) = result(SCENE);
    directory.write_frame(&frame(0, &many)).unwrap();
    let (picture, _) = drawn(&directory).unwrap();
    assert!(shows_sand(&picture));
    let (_root, directory) = result(SCENE);
    directory.write_frame(&frame(0, &[Vec3::NAN; 3])).unwrap();
    drawn(&directory).unwrap();
}

#[test]
fn options_may_be_odd() {
    let (_root, directory) = result(SCENE);
    let frame = with_vector(frame(0, &some()), "velocity", &[Vec3::X; 30]);
    directory.write_frame(&frame).unwrap();
    let draw = |options: RenderOptions| {
        let again = ResultDirectory::open(directory.path()).unwrap();
        Renderer::open(again, options).unwrap().draw(0).unwrap()
    };
    for coloring in [
        Coloring::Own,
        Coloring::Column {
            name: "speed".into(),
            range: None,
            map: ColorMap::default(),
        },
    ] {
        for size in [[0, 0], [0, 7], [1, 1], [3, 200], [200, 3]] {
            let picture = draw(RenderOptions {
                size,
                label: true,
                coloring: coloring.clone(),
                ..options()
            });
            assert_eq!([picture.width, picture.height], size);
        }
    }
    for odd in ODD {
        draw(RenderOptions {
            grain_size: odd,
            shutter: odd,
            ..options()
        });
    }
}

/// The longest file below a folder.
fn largest_file(folder: &Path) -> PathBuf {
    let mut found = (0, PathBuf::new());
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found = found.max((path.metadata().unwrap().len(), path));
            }
        }
    }
    found.1
}

#[test]
fn a_damaged_frame_is_named_with_its_file() {
    let (_root, directory) = result(SCENE);
    for index in 0..3 {
        directory.write_frame(&frame(index, &some())).unwrap();
    }
    let position = directory.path().join("frames/000001/position/c");
    let file = largest_file(&position);
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let again = ResultDirectory::open(directory.path()).unwrap();
    let renderer = Renderer::open(again, options()).unwrap();
    let error = renderer.draw(1).unwrap_err().to_string();
    assert!(error.contains("frame 1"), "{error}");
    assert!(error.contains("position"), "{error}");
    // The others can still be drawn.
    assert!(shows_sand(&renderer.draw(0).unwrap()));
    assert!(shows_sand(&renderer.draw(2).unwrap()));
    let missing = renderer.draw(7).unwrap_err().to_string();
    assert!(missing.contains("frame 7"), "{missing}");
}
