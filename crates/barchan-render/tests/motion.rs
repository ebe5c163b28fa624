//! Motion blur: streaks have the length of the motion during the exposure.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use barchan_render::Picture;
use barchan_render::camera::Camera;
use barchan_render::tracer::{Body, Material, Quality, Sky, Spheres, Stage};
use barchan_scene::Geometry;
use barchan_scene::motion::Pose;
use common::*;
use glam::{Quat, Vec3, vec3};

/// Pixels per meter at the origin.
const SCALE: f32 = 100.0;
const BLACK: [u8; 3] = [0; 3];
const MANY: Quality = Quality {
    samples: 64,
    bounces: 1,
};

/// Coverage of each pixel by dark objects on `stage`, seen from +z, with the origin at the center.
fn covered(stage: &Stage, size: [u32; 2]) -> impl Fn(u32, u32) -> f32 + use<> {
    let fov = 2.0 * (0.5 * size[1] as f32 / SCALE / 50.0).atan().to_degrees();
    let eye = view(vec3(0.0, 0.0, 50.0), Vec3::ZERO, fov);
    let picture: Picture = shot(stage, &eye, size, MANY);
    let (camera, sky) = (Camera::new(&eye, size), stage.sky);
    move |x, y| {
        let ray = camera.ray(x as f32 + 0.5, y as f32 + 0.5, 0.0);
        1.0 - light(picture.pixel(x, y)).x / sky.radiance(ray.direction).x
    }
}

/// Full width at half maximum of the coverage along a line of pixels [pixels].
fn half_width(line: &[f32]) -> f32 {
    // The plateau, without its noise.
    let peak = line.iter().copied().fold(0.0, f32::max);
    let high: Vec<f32> = line.iter().copied().filter(|v| *v > 0.5 * peak).collect();
    let most = high.iter().sum::<f32>() / high.len() as f32;
    let above = |v: f32| v >= 0.5 * most;
    let first = line.iter().position(|v| above(*v)).unwrap();
    let last = line.iter().rposition(|v| above(*v)).unwrap();
    // Linear interpolation between pixels.
    let part = |outer: usize, inner: usize| {
        let (a, b) = (line[outer], line[inner]);
        (b - 0.5 * most) / (b - a)
    };
    (last - first) as f32 + part(first - 1, first) + part(last + 1, last)
}

/// The mean of the two rows in the middle of a picture 200 wide and 24 high.
fn row(covered: &impl Fn(u32, u32) -> f32) -> Vec<f32> {
    (0..200)
        .map(|x| 0.5 * (covered(x, 11) + covered(x, 12)))
        .collect()
}

/// Column `x` of a picture of that height.
fn column(covered: &impl Fn(u32, u32) -> f32, x: u32, height: u32) -> Vec<f32> {
    (0..height).map(|y| covered(x, y)).collect()
}

const STRIP: [u32; 2] = [200, 24];

/// A dark sphere of 8 pixels' radius in the middle.
fn sphere(velocity: Vec3, exposure: f32) -> Stage {
    let mut grains = grains(&[(Vec3::ZERO, 0.08, BLACK)]);
    grains.velocity = vec![velocity.to_array()];
    Stage {
        spheres: Spheres::new(&grains, exposure, all),
        ..empty(Sky::with_sun(0.0, 0.7))
    }
}

#[test]
fn the_streak_of_a_sphere_is_velocity_times_exposure() {
    for (velocity, exposure) in [(12.0, 0.05), (30.0, 0.04), (-12.0, 0.05)] {
        let seen = covered(&sphere(velocity * Vec3::X, exposure), STRIP);
        let line = row(&seen);
        let expected = SCALE * velocity.abs() * exposure;
        let width = half_width(&line);
        assert!((width - expected).abs() < 1.0, "{width} {expected}");
        // Coverage is the fraction of the exposure.
        let middle = line[95..105].iter().sum::<f32>() / 10.0;
        assert!((middle - 16.0 / expected).abs() < 0.03, "{middle}");
        // Its width is that of the sphere.
        let across = half_width(&column(&seen, 100, 24));
        assert!(across < 17.0, "{across}");
    }
}

#[test]
fn without_exposure_or_motion_it_is_a_disk() {
    for (velocity, exposure) in [(12.0, 0.0), (0.0, 0.05)] {
        let seen = covered(&sphere(velocity * Vec3::X, exposure), STRIP);
        let width = half_width(&row(&seen));
        let height = half_width(&column(&seen, 100, 24));
        assert!((width - 16.0).abs() < 1.0, "{width}");
        assert!((height - 16.0).abs() < 1.0, "{height}");
    }
}

/// A dark bar, `length` × 0.1 × 0.1 m, with these velocities.
fn bar(length: f32, velocity: Vec3, angular: Vec3, exposure: f32) -> Stage {
    let half = vec3(0.5 * length, 0.05, 0.05);
    let still = body(&Geometry::cuboid(-half, half), Material::Matte(Vec3::ZERO));
    Stage {
        bodies: vec![Body {
            motion: [exposure * velocity, exposure * angular],
            ..still
        }],
        ..empty(Sky::with_sun(0.0, 0.7))
    }
}

#[test]
fn a_moving_body_leaves_a_streak() {
    let seen = covered(&bar(0.1, 12.0 * Vec3::X, Vec3::ZERO, 0.05), STRIP);
    let width = half_width(&row(&seen));
    assert!((width - 60.0).abs() < 1.0, "{width}");
    let still = covered(&bar(0.1, 12.0 * Vec3::X, Vec3::ZERO, 0.0), STRIP);
    let width = half_width(&row(&still));
    assert!((width - 10.0).abs() < 1.0, "{width}");
}

#[test]
fn the_blur_of_a_rotating_body_grows_with_the_distance_from_its_axis() {
    let (rate, exposure) = (8.0, 0.05);
    let seen = covered(&bar(2.0, Vec3::ZERO, rate * Vec3::Z, exposure), [160, 60]);
    // A vertical line 0.7 m from the axis is swept from −tan to tan of half the angle.
    let expected = 2.0 * SCALE * 0.7 * (0.5 * rate * exposure).tan();
    let width = half_width(&column(&seen, 80 + 70, 60));
    assert!((width - expected).abs() < 1.5, "{width} {expected}");
    let near = half_width(&column(&seen, 80 + 10, 60));
    assert!(near < 12.0, "{near}");
    let still = covered(&bar(2.0, Vec3::ZERO, rate * Vec3::Z, 0.0), [160, 60]);
    let width = half_width(&column(&still, 80 + 70, 60));
    assert!((width - 10.0).abs() < 1.0, "{width}");
}

#[test]
fn a_body_that_rotates_about_a_distant_pivot_stays_on_its_circle() {
    // Geometry that stands 0.7 m from the pivot at the origin of the world, given in a frame whose origin is 5 m away:
    // velocities are those of that origin.
    let pivot_in_body = vec3(0.0, 5.0, 0.0);
    let angular = 12.0 * Vec3::Z;
    let (half, exposure) = (vec3(0.05, 0.05, 0.05), 0.08);
    let place = pivot_in_body + 0.7 * Vec3::X;
    let geometry = Geometry::cuboid(place - half, place + half);
    let start = Pose {
        position: -pivot_in_body,
        rotation: Quat::IDENTITY,
    };
    let velocity = angular.cross(start.position);
    let stage = Stage {
        bodies: vec![Body {
            pose: start,
            motion: [exposure * velocity, exposure * angular],
            ..body(&geometry, Material::Matte(Vec3::ZERO))
        }],
        ..empty(Sky::with_sun(0.0, 0.7))
    };
    let size = [200, 100];
    let seen = covered(&stage, size);
    let (mut found, mut highest) = (0.0, 0.0_f32);
    for (x, y) in (0..size[0]).flat_map(|x| (0..size[1]).map(move |y| (x, y))) {
        let part = seen(x, y);
        let at = vec3(x as f32 + 0.5 - 100.0, 50.0 - y as f32 - 0.5, 0.0) / SCALE;
        if part > 0.05 {
            let off = (at.length() - 0.7).abs();
            assert!(off < 0.07, "{at} is {off} m off the circle");
            highest = highest.max(at.y.abs());
        }
        // Smaller values are due to rounding of the sky's colors.
        found += if part > 0.02 { part } else { 0.0 };
    }
    // It rotates by 0.48 rad to either side, and its area is constant over the exposure.
    let end = 0.7 * 0.48_f32.sin();
    assert!((highest - end).abs() < 0.07, "{highest} {end}");
    assert!((found / 100.0 - 1.0).abs() < 0.1, "{found}");
}
