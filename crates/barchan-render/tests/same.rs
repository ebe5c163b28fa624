//! Reproducible pictures and permanent colors of grains.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use barchan_render::color::chance;
use barchan_render::grains::Grains;
use barchan_render::tracer::{Material, Quality, Sky, Spheres, Stage};
use barchan_render::{Picture, RenderOptions, Renderer};
use barchan_scene::materials::SAND_COLORS as SAND;
use barchan_scene::{ColorMix, Geometry, Overrides};
use common::difference::difference;
use common::*;
use glam::{Vec3, vec3};

/// A stage with all kinds of objects, with grains in a given order.
fn mixed(order: impl Iterator<Item = usize>) -> Stage {
    let mut next = random(11);
    let mut list = |n: usize| -> Vec<[f32; 3]> {
        let one = |_| (vec3(next(), next(), next()) - 0.5).to_array();
        (0..n).map(one).collect()
    };
    let (position, velocity) = (list(600), list(600));
    let order: Vec<usize> = order.collect();
    let take = |from: &[[f32; 3]]| order.iter().map(|i| from[*i]).collect();
    let grains = Grains {
        position: take(&position),
        velocity: take(&velocity),
        radius: order.iter().map(|i| 0.02 + 1e-5 * *i as f32).collect(),
        color: order
            .iter()
            .map(|i| SAND[sand_index(*i as u64)].0)
            .collect(),
    };
    let ball = Geometry::sphere(vec3(0.3, 0.3, 0.3), 0.2);
    let cup = Geometry::cuboid(Vec3::splat(-0.6), vec3(0.0, 0.3, 0.0));
    Stage {
        spheres: Spheres::new(&grains, 0.1, all),
        bodies: vec![
            body(&ball, Material::Matte(vec3(0.1, 0.3, 0.5))),
            body(&cup, Material::Glass),
        ],
        planes: vec![ground(-0.6, 0.4)],
        fade: 5.0,
        ..empty(Sky::with_sun(0.4, 0.7))
    }
}

fn draw(stage: &Stage) -> Picture {
    let eye = view(vec3(1.5, 1.0, 3.0), Vec3::ZERO, 25.0);
    shot(stage, &eye, [96, 64], Quality::PRODUCTION)
}

/// Index into the mix of sand of a grain.
fn sand_index(id: u64) -> usize {
    ColorMix::new(SAND).unwrap().index(chance(id))
}

#[test]
fn thread_count_does_not_change_a_byte() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| draw(&mixed(0..600)))
    };
    let one = on(1);
    assert_eq!(one, on(2));
    assert_eq!(one, on(5));
    // Negative control: another frame has other noise.
    let size = [96, 64];
    let eye = view(vec3(1.5, 1.0, 3.0), Vec3::ZERO, 25.0);
    let camera = barchan_render::camera::Camera::new(&eye, size);
    let other = mixed(0..600).draw(&camera, size, Quality::PRODUCTION, 1);
    assert_ne!(one, other);
}

#[test]
fn the_order_of_the_grains_does_not_matter() {
    let straight = draw(&mixed(0..600));
    assert_eq!(straight, draw(&mixed((0..600).rev())));
    assert_eq!(straight, draw(&mixed((0..600).map(|i| (i * 7) % 600))));
    // Negative control: one grain less is detected.
    assert_ne!(straight, draw(&mixed(0..590)));
}

#[test]
fn colors_are_mixed_in_their_proportions() {
    let count = 100_000;
    let mix = ColorMix::new(SAND).unwrap();
    // Consecutive identities, with large steps, and very large ones.
    let ids: [fn(u64) -> u64; 3] = [|i| i, |i| 4096 * i, |i| u64::MAX - 3 * i];
    for id in ids {
        let mut found = [[0_u32; 3]; 2];
        for i in 0..count {
            found[0][sand_index(id(i))] += 1;
            found[1][mix.index(chance(id(i)))] += 1;
        }
        for (i, (_, part)) in SAND.iter().enumerate() {
            let mean = count as f32 * part;
            let sigma = (mean * (1.0 - part)).sqrt();
            for found in found {
                let off = (found[i] as f32 - mean) / sigma;
                assert!(off.abs() < 3.0, "color {i}: {off} sigma");
            }
        }
    }
}

#[test]
fn consecutive_identities_have_independent_colors() {
    // A twentieth of the grains followed by a white one is white.
    let white = |id: u64| sand_index(id) == 2;
    let pairs = (0..200_000).filter(|i| white(*i) && white(i + 1)).count();
    let mean = 200_000.0 * 0.05 * 0.05;
    let off = (pairs as f32 - mean) / mean.sqrt();
    assert!(off.abs() < 3.5, "{off}");
}

/// Identities and places of a wall of grains, and the pixel of each.
const ROW: usize = 12;

fn place(id: usize) -> Vec3 {
    vec3((id % ROW) as f32, (id / ROW) as f32, 0.0) * 0.1 + vec3(0.05, 0.05, 0.0)
}

/// Which of the colors of sand each identity shows in a frame.
fn shown(renderer: &Renderer, index: u32) -> Vec<usize> {
    let eye = view(vec3(0.6, 0.6, 6.0), vec3(0.6, 0.6, 0.0), 14.0);
    let picture = renderer.draw(index).unwrap();
    let hue = |pixel: Vec3| pixel / pixel.element_sum();
    let kinds: Vec<_> = SAND
        .iter()
        .map(|(c, _)| hue(barchan_render::color::to_linear(*c)))
        .collect();
    let size = renderer.options().size;
    (0..ROW * ROW)
        .map(|id| {
            let [x, y] = project(&eye, size, place(id)).map(|v| v as u32);
            let seen = light(picture.pixel(x, y));
            let off = |i: usize| {
                (hue(seen) - kinds[i]).length() + 0.1 * f32::from(u8::from(i == 1 && seen.x > 0.4))
            };
            (0..3).min_by(|a, b| off(*a).total_cmp(&off(*b))).unwrap()
        })
        .collect()
}

#[test]
fn a_grain_keeps_its_color_in_every_frame() {
    let (_root, directory) = result(include_str!("../../../scenes/tests/sand.toml"));
    let count = ROW * ROW;
    // Another order in every frame; in the last one also other identities.
    for (index, step) in [(0, 1), (1, 5), (2, 7), (3, 1)] {
        let ids: Vec<usize> = (0..count).map(|i| i * step % count).collect();
        let places: Vec<Vec3> = ids.iter().map(|id| place(*id)).collect();
        let named = |id: &usize| (if index == 3 { id + 5000 } else { *id }) as u32;
        let frame = with_ids(frame(index, &places), ids.iter().map(named).collect());
        let frame = with_scalar(frame, "radius", vec![0.045; count]);
        directory.write_frame(&frame).unwrap();
    }
    let options = RenderOptions {
        size: [240, 240],
        quality: Quality {
            samples: 8,
            bounces: 1,
        },
        overrides: Overrides {
            set: vec![
                "camera={ position = [0.6, 0.6, 6], target = [0.6, 0.6, 0], fov = 14 }".into(),
            ],
            ..Overrides::default()
        },
        ..RenderOptions::default()
    };
    let renderer = Renderer::open(directory, options).unwrap();
    assert!(renderer.warnings.is_empty(), "{:?}", renderer.warnings);
    let first = shown(&renderer, 0);
    let expected: Vec<usize> = (0..count).map(|id| sand_index(id as u64)).collect();
    assert_eq!(first, expected);
    assert_eq!(shown(&renderer, 1), first);
    assert_eq!(shown(&renderer, 2), first);
    assert_ne!(shown(&renderer, 3), first);
    let [a, b, other] = [0, 2, 3].map(|i| renderer.draw(i).unwrap());
    let (noise, change) = (difference(&a, &b).unwrap(), difference(&a, &other).unwrap());
    assert!(
        noise.mean < 1.0 && change.mean > 2.0,
        "{noise:?} {change:?}"
    );
}
