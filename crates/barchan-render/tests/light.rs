//! Light and shadow of the path tracer against analytic results.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use barchan_render::tracer::{Material, Quality, Sky, Stage};
use barchan_scene::Geometry;
use common::*;
use glam::{Vec2, Vec3, vec3};

const GRAY: f32 = 0.5;
const WHITE: [u8; 3] = [255; 3];

fn close(found: Vec3, expected: Vec3, part: f32) -> bool {
    (found - expected).abs().cmple(part * expected).all()
}

/// Ground with one sphere, the sun 45° high over +x.
fn sphere_over_ground(center: Vec3, radius: f32) -> Stage {
    let mut stage = empty(Sky::with_sun(
        std::f32::consts::FRAC_PI_2,
        std::f32::consts::FRAC_PI_4,
    ));
    stage.planes.push(ground(0.0, GRAY));
    stage.spheres = still(&[(center, radius, WHITE)]);
    stage
}

fn from_above(stage: &Stage, point: Vec3) -> Vec3 {
    light_at(stage, point, point + 40.0 * Vec3::Y)
}

#[test]
fn a_shadow_lacks_the_light_of_the_sun() {
    let stage = sphere_over_ground(vec3(0.0, 1.0, 0.0), 0.1);
    let sun = stage.sky.sunlight() * stage.sky.sun.y;
    let sky = ambient(&stage.sky);
    let (shade, open) = (vec3(-1.0, 0.0, 0.0), vec3(0.0, 0.0, 3.0));
    let [dark, bright] = [shade, open].map(|p| from_above(&stage, p));
    assert!(close(bright, GRAY * (sun + sky), 0.02), "{bright}");
    assert!(close(dark, GRAY * sky, 0.03), "{dark}");
    // The missing fraction is that of the sun.
    let missing = (bright - dark) / bright;
    assert!(close(missing, sun / (sun + sky), 0.03), "{missing}");

    // Negative control: without the sphere in front of the sun both are equal.
    let moved = sphere_over_ground(vec3(0.0, 1.0, 2.0), 0.1);
    let [here, there] = [shade, open].map(|p| from_above(&moved, p));
    assert!(close(here, there, 0.02), "{here} {there}");
}

/// Width of the penumbra beside the sun's direction, from a tenth to nine tenths of the sun [m].
fn penumbra(height: f32) -> f32 {
    let stage = sphere_over_ground(vec3(0.0, height, 0.0), 0.3);
    let target = vec3(-height, 0.0, 0.0);
    // The picture is 0.8 m high.
    let fov = 2.0 * (0.4_f32 / 40.0).atan().to_degrees();
    let rows = 400;
    let size = [6, rows];
    let picture = shot(
        &stage,
        &view(target + 40.0 * Vec3::Y, target, fov),
        size,
        FINE,
    );
    let row = |y: u32| (0..6).map(|x| light(picture.pixel(x, y)).y).sum::<f32>() / 6.0;
    let profile: Vec<f32> = (rows / 2..rows).map(row).collect();
    let (dark, bright) = (profile[0], profile[profile.len() - 1]);
    let lit = profile.iter().map(|v| (v - dark) / (bright - dark));
    let between = lit.filter(|part| (0.1..0.9).contains(part)).count();
    between as f32 * 0.8 / rows as f32
}

#[test]
fn the_penumbra_widens_with_distance_as_the_sun_is_large() {
    let sky = Sky::with_sun(0.0, 0.8);
    let sun_radius = sky.toward_sun([0.0, 1.0]).angle_between(sky.sun);
    // A straight edge at 0.687 of the radius from the center leaves a tenth of a disk.
    let expected = |height: f32| 2.0 * 0.687 * sun_radius * height * std::f32::consts::SQRT_2;
    let [near, far] = [1.0, 2.0].map(|h| (penumbra(h), expected(h)));
    for (width, expected) in [near, far] {
        let ratio = width / expected;
        assert!((0.85..1.15).contains(&ratio), "{width} {expected}");
    }
    let growth = far.0 / near.0;
    assert!((1.7..2.3).contains(&growth), "{growth}");
}

/// Ground with a square pit that is open to the sky, and its light from above.
fn pit(depth: f32, width: f32) -> f32 {
    let mut stage = empty(SUN_BELOW);
    stage.planes.push(ground(-depth, GRAY));
    let (w, far) = (0.5 * width, 20.0);
    let walls = [
        (vec3(-far, -depth, -far), vec3(-w, 0.0, far)),
        (vec3(w, -depth, -far), vec3(far, 0.0, far)),
        (vec3(-w, -depth, -far), vec3(w, 0.0, -w)),
        (vec3(-w, -depth, w), vec3(w, 0.0, far)),
    ];
    if depth > 0.0 {
        let wall = |(a, b)| body(&Geometry::cuboid(a, b), Material::Matte(Vec3::splat(GRAY)));
        stage.bodies = walls.into_iter().map(wall).collect();
    }
    from_above(&stage, vec3(0.0, -depth, 0.0)).y
}

#[test]
fn the_floor_of_a_pit_is_darker_the_deeper_it_is() {
    let open = pit(0.0, 1.0);
    assert!((open / (GRAY * ambient(&SUN_BELOW).y) - 1.0).abs() < 0.02);
    let [shallow, deep, deeper] = [0.2, 1.0, 4.0].map(|d| pit(d, 1.0) / open);
    assert!(
        shallow < 0.97 && deep < 0.75 && deeper < 0.3,
        "{shallow} {deep} {deeper}"
    );
    assert!(deeper < deep && deep < shallow);
    // A wide pit is open ground.
    let wide = pit(0.2, 16.0) / open;
    assert!((wide - 1.0).abs() < 0.02, "{wide}");
}

#[test]
fn a_white_sphere_shows_the_mean_of_the_sky_on_top() {
    let mut stage = empty(SUN_BELOW);
    stage.spheres = still(&[(Vec3::ZERO, 1.0, WHITE)]);
    let top = from_above(&stage, Vec3::Y);
    assert!(close(top, ambient(&stage.sky), 0.02), "{top}");
    // The lower side is lit by the sun.
    let below = light_at(&stage, Vec3::NEG_Y, -40.0 * Vec3::Y);
    assert!(below.min_element() > 1.2 * top.max_element(), "{below}");
    // Half the albedo, half the light.
    stage.spheres = still(&[(Vec3::ZERO, 1.0, [188; 3])]);
    let gray = from_above(&stage, Vec3::Y);
    assert!(close(gray, 0.5 * ambient(&stage.sky), 0.03), "{gray}");
}

/// Spheres of one color in a heap, lit by the sky alone (the sun is nowhere).
fn heap(color: [u8; 3]) -> Stage {
    let mut stage = empty(Sky { sun: Vec3::NAN });
    let mut next = random(3);
    let list: Vec<_> = (0..400)
        .map(|_| (vec3(next(), next(), next()) - 0.5, 0.08, color))
        .collect();
    stage.spheres = still(&list);
    stage
}

#[test]
fn white_spheres_do_not_create_light() {
    let stage = heap(WHITE);
    let brightest = stage.sky.radiance(Vec3::X);
    let bound = brightest * 1.02;
    for bounces in [1, 2, 4, 8] {
        let quality = Quality {
            samples: 32,
            bounces,
        };
        let eye = view(vec3(2.0, 1.0, 3.0), Vec3::ZERO, 12.0);
        let picture = shot(&stage, &eye, [48, 48], quality);
        let mean = mean_light(&picture);
        let most = picture.rgb.as_chunks::<3>().0.iter();
        let most = most.map(|p| light(*p)).fold(Vec3::ZERO, Vec3::max);
        // No point of the heap is brighter than the brightest part of the sky,
        assert!(most.cmple(bound).all(), "{bounces}: {most}");
        // and further bounces never remove more light than there is.
        assert!(mean.cmpge(0.5 * ambient(&SUN_BELOW)).all(), "{mean}");
    }
}

#[test]
fn truncated_paths_are_compensated_but_never_too_much() {
    let eye = view(vec3(2.0, 1.0, 3.0), Vec3::ZERO, 12.0);
    let mean = |stage: &Stage, bounces: u32| {
        let quality = Quality {
            samples: 32,
            bounces,
        };
        mean_light(&shot(stage, &eye, [48, 48], quality)).y
    };
    // White is the worst case: nothing is absorbed.
    for (color, least) in [(WHITE, 0.8), ([225, 169, 95], 0.95)] {
        let stage = heap(color);
        let ratio = mean(&stage, 2) / mean(&stage, 16);
        assert!((least..1.05).contains(&ratio), "{ratio}");
    }
}

/// Smallest light on an unshadowed floor and on the lit side of bodies, for a stage shifted by `offset`: with shadow acne some
/// points are black.
fn darkest_lit(offset: Vec3, epsilon: f32, elevation: f32) -> f32 {
    let sky = Sky::with_sun(0.6, elevation);
    let mut stage = empty(sky);
    stage.center = offset;
    stage.epsilon = epsilon;
    stage.planes.push(ground(offset.y, GRAY));
    let slab = Geometry::cuboid(offset - vec3(1.0, 0.0, 1.0), offset + vec3(1.0, 0.1, 1.0));
    stage.bodies = vec![body(&slab, Material::Matte(Vec3::splat(GRAY)))];
    let size = [40, 40];
    let eye = view(offset + vec3(0.0, 8.0, 0.01), offset, 10.0);
    let picture = shot(
        &stage,
        &eye,
        size,
        Quality {
            samples: 16,
            bounces: 1,
        },
    );
    let expected = GRAY * (ambient(&sky) + sky.sun.y * sky.sunlight()).y;
    let pixels = picture.rgb.as_chunks::<3>().0.iter();
    pixels
        .map(|p| light(*p).y / expected)
        .fold(f32::INFINITY, f32::min)
}

#[test]
fn surfaces_do_not_shadow_themselves() {
    for elevation in [0.08, 0.3, 1.2] {
        let darkest = darkest_lit(Vec3::ZERO, 1e-5 * 3.0, elevation);
        assert!(darkest > 0.85, "{elevation}: {darkest}");
    }
    // Negative control: with an offset of secondary rays below rounding they do.
    let darkest = darkest_lit(vec3(1000.0, 0.0, 1000.0), 1e-9, 0.3);
    assert!(darkest < 0.85, "{darkest}");
}

/// Light on the equator of a faceted ball near the terminator, relative to that of a sphere.
fn ball_against_sphere(elevation: f32) -> f32 {
    let sky = Sky::with_sun(0.0, elevation);
    let eye = view(vec3(6.0, 0.0, 0.0), Vec3::ZERO, 20.0);
    let mut stage = empty(sky);
    let ball = Geometry::sphere(Vec3::ZERO, 1.0);
    stage.bodies = vec![body(&ball, Material::Matte(Vec3::ONE))];
    let faceted = shot(&stage, &eye, [64, 64], FINE);
    let mut stage = empty(sky);
    stage.spheres = still(&[(Vec3::ZERO, 1.0, WHITE)]);
    let round = shot(&stage, &eye, [64, 64], FINE);
    let mut worst = 0.0_f32;
    for y in 0..64 {
        for x in 0..64 {
            let at = Vec2::new(x as f32 - 31.5, y as f32 - 31.5);
            if at.length() < 28.0 {
                let [a, b] = [&faceted, &round].map(|p| light(p.pixel(x, y)).y);
                worst = worst.max((a - b).abs());
            }
        }
    }
    worst
}

#[test]
fn facets_of_a_ball_are_not_visible_in_its_shading() {
    let worst = ball_against_sphere(0.7);
    assert!(worst < 0.08, "{worst}");
}
