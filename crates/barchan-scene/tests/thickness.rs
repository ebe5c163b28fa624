//! The maximum thickness of shapes.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use barchan_scene::{Dimensions, Geometry};
use common::{FLAT, MINIMAL, load_with};
use glam::{Quat, Vec3};

#[track_caller]
fn is(shape: &Geometry, expected: f32) {
    let found = shape.thickness(Dimensions::Three, f32::INFINITY).unwrap();
    assert!(
        (found - expected).abs() <= 0.02 * expected,
        "{found} {expected}"
    );
}

#[test]
fn primitives() {
    is(
        &Geometry::cuboid(Vec3::ZERO, Vec3::new(2.0, 1.0, 0.05)),
        0.05,
    );
    is(&Geometry::sphere(Vec3::ONE, 0.3), 0.6);
    is(&Geometry::cylinder(Vec3::ZERO, Vec3::X, 0.1), 0.2);
    is(&Geometry::cylinder(Vec3::ZERO, Vec3::X * 0.1, 1.0), 0.1);
    is(&Geometry::capsule(Vec3::ZERO, Vec3::ONE, 0.1), 0.2);
    is(&Geometry::torus(Vec3::ZERO, Vec3::Y, 1.0, 0.1), 0.2);
}

#[test]
fn thin_walls_in_any_position() {
    let plate = Geometry::cuboid(Vec3::ZERO, Vec3::new(1.0, 0.6, 0.02));
    let turned = plate.transformed(
        Quat::from_axis_angle(Vec3::ONE.normalize(), 1.0),
        Vec3::X,
        2.0,
    );
    is(&turned, 0.04);
    let ball = |r| Geometry::sphere(Vec3::ZERO, r);
    is(&Geometry::difference(ball(0.3), vec![ball(0.28)]), 0.02);
    let profile = vec![[0.04, 0.0], [0.06, 0.0], [0.36, 0.3], [0.34, 0.3]];
    is(&Geometry::revolution(Vec3::ZERO, Vec3::Y, profile), 0.0141);
}

#[test]
fn unbounded_and_empty_shapes_have_none() {
    let floor = Geometry::half_space(Vec3::ZERO, Vec3::Y);
    assert_eq!(floor.thickness(Dimensions::Three, 1.0), None);
    assert_eq!(
        Geometry::union(Vec::new()).thickness(Dimensions::Three, 1.0),
        None
    );
}

#[test]
fn the_search_stops_at_a_sufficient_thickness() {
    let found =
        Geometry::cuboid(Vec3::ZERO, Vec3::new(9.0, 9.0, 5.0)).thickness(Dimensions::Three, 0.1);
    assert!(found.unwrap() >= 0.1);
}

#[test]
fn disks_of_a_flat_scene_and_meshes() {
    let plate = "collider.floor.shape={ box = { min = [0, 0], max = [0.05, 1] }, rotate = { axis = [0, 0, 1], angle = 30 } }";
    let scene = load_with(FLAT, &[plate]).unwrap();
    let found = scene.colliders[0]
        .shape
        .thickness(Dimensions::Two, 1.0)
        .unwrap();
    assert!((found - 0.05).abs() < 0.001, "{found}");

    let rock = "fill.0.shape={ mesh = { file = \"tetrahedron.obj\", voxel = 0.02 } }";
    let scene = load_with(MINIMAL, &[rock, "solver.resolution=0.05"]).unwrap();
    assert_eq!(scene.meshes.len(), 1);
    assert_eq!(scene.meshes[0].file, "tetrahedron.obj");
    // The unit corner tetrahedron holds a ball of radius 1/(3 + √3).
    let found = scene.fills[0]
        .shape
        .thickness(Dimensions::Three, 1.0)
        .unwrap();
    assert!((found - 2.0 / (3.0 + 3f32.sqrt())).abs() < 0.03, "{found}");
}
