//! The camera: projection of points, and automatic framing.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use barchan_render::camera::{Camera, corners, framed};
use barchan_render::tracer::Sky;
use barchan_scene::{Bounds, View};
use common::*;
use glam::{Vec3, vec3};

/// Center of the dark pixels in a picture of one black sphere [pixels].
fn seen_at(view: &View, size: [u32; 2], point: Vec3, radius: f32) -> [f32; 2] {
    let mut stage = empty(Sky::with_sun(0.0, 0.7));
    stage.spheres = still(&[(point, radius, [0; 3])]);
    let picture = shot(&stage, view, size, FINE);
    let background = shot(&empty(stage.sky), view, size, FINE);
    let (mut sum, mut at) = (0.0, [0.0; 2]);
    for (y, x) in (0..size[1]).flat_map(|y| (0..size[0]).map(move |x| (y, x))) {
        let [dark, sky] = [&picture, &background].map(|p| light(p.pixel(x, y)).x);
        let weight = (1.0 - dark / sky).max(0.0);
        sum += weight;
        at[0] += weight * (x as f32 + 0.5);
        at[1] += weight * (y as f32 + 0.5);
    }
    assert!(sum > 0.0, "nothing is visible at {point}");
    at.map(|v| v / sum)
}

#[test]
fn known_points_are_projected_to_known_pixels() {
    // The height of the view 1 m away is 2 tan 22.5°: a meter at a distance of 10 m has 100 / (20 tan 22.5°) pixels.
    let eye = view(vec3(0.0, 0.0, 10.0), Vec3::ZERO, 45.0);
    let size = [160, 100];
    let meter = 100.0 / (20.0 * 22.5_f32.to_radians().tan());
    for (point, expected) in [
        (Vec3::ZERO, [80.0, 50.0]),
        (vec3(2.0, 0.0, 0.0), [80.0 + 2.0 * meter, 50.0]),
        (vec3(0.0, 3.0, 0.0), [80.0, 50.0 - 3.0 * meter]),
        (
            vec3(-1.0, -2.0, 5.0),
            [80.0 - 2.0 * meter, 50.0 + 4.0 * meter],
        ),
    ] {
        let found = seen_at(&eye, size, point, 0.1);
        let off = (0..2).map(|i| (found[i] - expected[i]).abs());
        assert!(
            off.fold(0.0, f32::max) < 0.3,
            "{point}: {found:?} {expected:?}"
        );
        let projected = project(&eye, size, point);
        assert!((0..2).all(|i| (projected[i] - expected[i]).abs() < 1e-3));
    }
}

#[test]
fn the_middle_of_the_picture_is_the_target() {
    for eye in [
        view(vec3(3.0, 4.0, 5.0), vec3(0.2, 0.1, -0.3), 20.0),
        view(vec3(0.0, 9.0, 0.0), Vec3::ZERO, 30.0),
        view(vec3(0.0, -9.0, 0.0), Vec3::ZERO, 30.0),
        view(vec3(-1.0, 0.0, 0.0), vec3(-2.0, 0.0, 0.0), 90.0),
    ] {
        for size in [[64, 64], [99, 31]] {
            let camera = Camera::new(&eye, size);
            let ray = camera.ray(0.5 * size[0] as f32, 0.5 * size[1] as f32, 0.0);
            let expected = (eye.target - eye.position).normalize();
            assert!(ray.direction.distance(expected) < 1e-5, "{eye:?}");
        }
    }
}

#[test]
fn straight_down_x_is_to_the_right() {
    let eye = view(vec3(0.0, 10.0, 0.0), Vec3::ZERO, 30.0);
    let size = [60, 60];
    let [x, y] = seen_at(&eye, size, vec3(1.0, 0.0, 0.0), 0.2);
    assert!(x > 35.0 && (y - 30.0).abs() < 0.5, "{x} {y}");
    let [x, y] = seen_at(&eye, size, vec3(0.0, 0.0, -1.0), 0.2);
    assert!(y < 25.0 && (x - 30.0).abs() < 0.5, "{x} {y}");
}

/// Edges of a box in a picture, from −1 to 1: left, right, bottom, top.
fn edges(bounds: &Bounds, view: &View, aspect: f32) -> [f32; 4] {
    let size = [(1000.0 * aspect) as u32, 1000];
    let mut found = [
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::INFINITY,
        f32::NEG_INFINITY,
    ];
    for corner in corners(bounds) {
        let [x, y] = project(view, size, corner);
        let x = 2.0 * x / size[0] as f32 - 1.0;
        let y = 1.0 - 2.0 * y / size[1] as f32;
        found[0] = found[0].min(x);
        found[1] = found[1].max(x);
        found[2] = found[2].min(y);
        found[3] = found[3].max(y);
    }
    found
}

fn boxes() -> Vec<Bounds> {
    let sizes = [
        vec3(1.0, 1.0, 1.0),
        vec3(0.1, 5.0, 0.1),
        vec3(9.0, 0.2, 0.3),
        vec3(3.0, 0.0, 3.0),
        vec3(0.2, 0.1, 8.0),
        Vec3::splat(1e-4),
        Vec3::splat(1e7),
    ];
    let around = sizes.map(|s| Bounds::from_corners(-0.5 * s, 0.5 * s));
    let aside = [
        Bounds::from_corners(vec3(100.0, 20.0, -40.0), vec3(101.0, 22.0, -39.0)),
        Bounds::from_corners(Vec3::ZERO, Vec3::splat(1e9)),
    ];
    around.into_iter().chain(aside).collect()
}

#[test]
fn framed_boxes_fill_the_picture_to_its_margins() {
    let directions = [
        vec3(0.5, 0.42, 1.0),
        Vec3::Z,
        Vec3::Y,
        Vec3::NEG_Y,
        vec3(-1.0, 0.1, 0.0),
    ];
    for bounds in boxes() {
        for from in directions.map(|d| d.normalize()) {
            for (fov, aspect) in [(30.0, 16.0 / 9.0), (30.0, 1.0), (60.0, 0.5), (12.0, 3.0)] {
                let view = framed(&bounds, from, fov, aspect);
                let [left, right, bottom, top] = edges(&bounds, &view, aspect);
                let case = format!("{bounds:?} {from} {aspect}: {left} {right} {bottom} {top}");
                let inside = [-left, right, -bottom, top].iter().all(|e| *e < 0.91);
                assert!(inside, "{case}");
                let across = (left + 0.9).abs() < 0.01 && (right - 0.9).abs() < 0.01;
                let upright = (bottom + 0.9).abs() < 0.01 && (top - 0.9).abs() < 0.01;
                assert!(across || upright, "{case}");
                // The margins of the other pair are equal.
                assert!(
                    (left + right).abs() < 0.02 && (bottom + top).abs() < 0.02,
                    "{case}"
                );
                let looks = (view.target - view.position).normalize();
                assert!(looks.distance(-from) < 1e-3, "{case}");
            }
        }
    }
}

#[test]
fn another_view_is_not_framed() {
    // Negative control: the check above detects a camera that is 5 % too near or slightly rotated.
    let bounds = Bounds::from_corners(Vec3::ZERO, vec3(2.0, 1.0, 1.0));
    let good = framed(&bounds, Vec3::Z, 30.0, 1.5);
    let nearer = View {
        position: good.position + 0.05 * (good.target - good.position),
        ..good
    };
    let turned = View {
        target: good.target + vec3(0.1, 0.0, 0.0),
        ..good
    };
    for wrong in [nearer, turned] {
        let [left, right, ..] = edges(&bounds, &wrong, 1.5);
        assert!((left + 0.9).abs() > 0.01 || (right - 0.9).abs() > 0.01);
    }
}
