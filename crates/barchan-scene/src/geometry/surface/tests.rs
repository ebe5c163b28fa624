//! Areas, volumes, sharp corners and closedness of contoured shapes.

use super::super::*;
use super::contour;
use crate::mesh::tests::sphere_mesh;
use crate::model::Dimensions::Three;
use glam::vec3;
use std::f64::consts::PI;

fn area(mesh: &TriangleMesh) -> f64 {
    let triangles = mesh.triangles.iter().map(|t| {
        let [a, b, c] = t.map(|v| mesh.vertices[v as usize].as_dvec3());
        0.5 * (b - a).cross(c - a).length()
    });
    triangles.sum()
}

/// The surface in a box that does not cut it.
fn whole(shape: &Geometry, cells: u32) -> TriangleMesh {
    shape.surface(&Bounds::INFINITE, cells)
}

fn cuboid() -> Geometry {
    Geometry::cuboid(vec3(-0.3, 0.1, -0.7), vec3(0.5, 0.45, 0.2))
}

fn cylinder() -> Geometry {
    Geometry::cylinder(vec3(0.1, -0.4, 0.2), vec3(0.1, 0.4, 0.2), 0.3)
}

/// The hourglass of the gallery.
fn hourglass() -> Geometry {
    let upper = [
        [0.021, 0.0],
        [0.026, 0.018],
        [0.040, 0.038],
        [0.060, 0.065],
        [0.076, 0.095],
        [0.082, 0.12],
        [0.082, 0.155],
        [0.075, 0.172],
        [0.060, 0.18],
        [0.0, 0.18],
    ];
    let lower = upper.iter().rev().map(|[r, h]| [*r, -h]);
    let profile = lower.chain(upper.iter().skip(1).copied()).collect();
    Geometry::difference(
        Geometry::cylinder(vec3(0.0, -0.21, 0.0), vec3(0.0, 0.21, 0.0), 0.11),
        vec![Geometry::revolution(Vec3::ZERO, Vec3::Y, profile)],
    )
}

fn shapes() -> Vec<(&'static str, Geometry)> {
    let slanted = glam::Quat::from_axis_angle(vec3(1.0, 2.0, -0.5).normalize(), 0.7);
    vec![
        ("ball", Geometry::sphere(vec3(0.2, -0.1, 0.4), 0.35)),
        ("box", cuboid()),
        ("cylinder", cylinder()),
        ("hourglass", hourglass()),
        (
            "turned box",
            cuboid().transformed(slanted, vec3(3.0, 0.0, 1.0), 2.0),
        ),
        (
            "slanted box among others",
            Geometry::union(vec![
                cuboid().transformed(slanted, Vec3::ZERO, 1.0),
                Geometry::sphere(vec3(0.9, 0.0, 0.0), 0.2),
            ]),
        ),
        (
            "torus",
            Geometry::torus(Vec3::ZERO, vec3(1.0, 1.0, 0.0), 0.4, 0.15),
        ),
        (
            "cone",
            Geometry::cone(Vec3::ZERO, vec3(0.0, 0.6, 0.0), 0.4, 0.0),
        ),
        (
            "mesh",
            Geometry::mesh(&sphere_mesh(Vec3::ONE, 0.5, 24), 0.02),
        ),
    ]
}

#[test]
fn surfaces_are_closed_and_face_outward() {
    for (name, shape) in shapes() {
        for cells in [9, 48] {
            let mesh = whole(&shape, cells);
            assert!(mesh.triangles.len() > 50, "{name}");
            assert_eq!(mesh.edge_fault(), None, "{name}");
            assert!(mesh.signed_volume() > 0.0, "{name}");
        }
    }
}

#[test]
fn areas_and_volumes_are_those_of_the_solids() {
    let r = 0.35;
    let box_area = 2.0 * (0.8 * 0.35 + 0.35 * 0.9 + 0.9 * 0.8);
    for (name, shape, exact_area, tolerance) in [
        (
            "ball",
            Geometry::sphere(vec3(0.2, -0.1, 0.4), 0.35),
            4.0 * PI * r * r,
            3e-3,
        ),
        ("box", cuboid(), box_area, 1e-4),
        ("cylinder", cylinder(), 2.0 * PI * 0.3 * (0.3 + 0.8), 3e-3),
    ] {
        let mesh = whole(&shape, 64);
        let (a, v) = (area(&mesh), mesh.signed_volume());
        let volume = shape.volume(Three);
        assert!((a / exact_area - 1.0).abs() < tolerance, "{name}: {a}");
        assert!((v / volume - 1.0).abs() < tolerance, "{name}: {v}");
        // The negative control: without sharpening the box loses its edges.
        if name == "box" {
            let blunt = contour(&shape, 64, false).signed_volume();
            assert!((blunt / volume - 1.0).abs() > tolerance, "{blunt}");
        }
    }
    let glass = hourglass();
    let volume = whole(&glass, 96).signed_volume();
    let exact = glass.volume(Three);
    assert!((volume / exact - 1.0).abs() < 5e-3, "{volume} {exact}");
}

#[test]
fn vertices_lie_on_the_zero_level() {
    for (name, shape) in shapes() {
        let mesh = whole(&shape, 48);
        let cell = shape.bounds().size().max_element() / 48.0;
        let off = |v: &Vec3| shape.distance(*v).abs();
        let farthest = mesh.vertices.iter().map(off).fold(0.0, f32::max);
        println!("{name}: {} cells off", farthest / cell);
        // Where a cell holds only a tip of the surface, its vertex cannot quite reach it.
        assert!(farthest < 0.1 * cell, "{name}: {}", farthest / cell);
    }
}

/// Largest distance of a corner to its nearest vertex.
fn corner_error(mesh: &TriangleMesh, corners: &[Vec3]) -> f32 {
    let nearest = |c: &Vec3| {
        let distances = mesh.vertices.iter().map(|v| v.distance(*c));
        distances.fold(f32::INFINITY, f32::min)
    };
    corners.iter().map(nearest).fold(0.0, f32::max)
}

#[test]
fn corners_of_boxes_are_sharp() {
    let shape = cuboid();
    let Bounds { min, max } = shape.bounds();
    let corners: Vec<Vec3> = (0..8)
        .map(|i| vec3((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32))
        .map(|t| min + (max - min) * t)
        .collect();
    let cell = (max - min).max_element() / 20.0;
    let sharp = corner_error(&whole(&shape, 20), &corners);
    assert!(sharp < 1e-3 * cell, "{}", sharp / cell);
    // The negative control.
    let blunt = corner_error(&contour(&shape, 20, false), &corners);
    assert!(blunt > 0.1 * cell, "{}", blunt / cell);

    // Askew to the grid, beside another shape so that it is not contoured in its own frame.
    let turn = glam::Quat::from_axis_angle(vec3(1.0, 2.0, -0.5).normalize(), 0.7);
    let slanted = Geometry::union(vec![shape.transformed(turn, Vec3::ZERO, 1.0)]);
    let turned: Vec<Vec3> = corners.iter().map(|c| turn * *c).collect();
    let cell = slanted.bounds().size().max_element() / 40.0;
    let error = corner_error(&whole(&slanted, 40), &turned);
    // A cell whose edges miss one of the faces cannot reproduce the corner.
    assert!(error < 0.3 * cell, "{}", error / cell);
}

#[test]
fn hollow_has_a_sharp_rim() {
    // A cup: the inner rim is an edge between outer top and inner wall.
    let cup = Geometry::difference(
        Geometry::cylinder(Vec3::ZERO, vec3(0.0, 1.0, 0.0), 0.5),
        vec![Geometry::cylinder(
            vec3(0.0, 0.2, 0.0),
            vec3(0.0, 2.0, 0.0),
            0.4,
        )],
    );
    let mesh = whole(&cup, 40);
    let exact = PI * (0.25 - 0.16 * 0.8);
    let volume = mesh.signed_volume();
    assert!((volume / exact - 1.0).abs() < 5e-3, "{volume} {exact}");
    let rim = |v: &&Vec3| (v.y - 1.0).abs() < 1e-4 && (v.x.hypot(v.z) - 0.4).abs() < 1e-3;
    assert!(mesh.vertices.iter().filter(rim).count() > 60);
}

#[test]
fn half_space_is_cut_off_and_closed() {
    let floor = Geometry::half_space(vec3(0.0, 0.25, 0.0), Vec3::Y);
    let window = Bounds::from_corners(vec3(-1.0, -0.5, -1.0), vec3(1.0, 1.0, 1.0));
    let mesh = floor.surface(&window, 30);
    assert_eq!(mesh.edge_fault(), None);
    assert!((mesh.signed_volume() - 3.0).abs() < 1e-3);
    assert!((area(&mesh) - (8.0 + 6.0)).abs() < 1e-3);
    let bounds = mesh.bounds();
    assert!((bounds.max - vec3(1.0, 0.25, 1.0)).length() < 1e-4);
    // A slope that does not reach the top of the window is closed too.
    let slope = Geometry::half_space(Vec3::ZERO, vec3(1.0, 2.0, 0.0));
    let mesh = slope.surface(&window, 30);
    assert_eq!(mesh.edge_fault(), None);
    assert!((mesh.signed_volume() - 2.0).abs() < 1e-2);
    // A box above it is empty.
    let above = Bounds::from_corners(vec3(0.0, 1.0, 0.0), Vec3::splat(2.0));
    assert!(floor.surface(&above, 30).triangles.is_empty());
}

#[test]
fn half_spaces_are_recognized() {
    let floor = Geometry::half_space(vec3(0.0, 0.5, 0.0), vec3(0.0, 2.0, 0.0));
    assert_eq!(floor.as_half_space(), Some((vec3(0.0, 0.5, 0.0), Vec3::Y)));
    let turn = glam::Quat::from_rotation_z(0.3);
    let moved = floor.transformed(turn, vec3(1.0, 0.0, 2.0), 3.0);
    let (point, normal) = moved.as_half_space().unwrap();
    assert!(moved.distance(point).abs() < 1e-6);
    assert!((moved.normal(point) - normal).length() < 1e-6);
    assert!(cuboid().as_half_space().is_none());
}

#[test]
fn plates_thinner_than_a_cell_stay_whole() {
    let plate = Geometry::cuboid(Vec3::ZERO, vec3(1.0, 0.001, 1.0));
    let turned = plate
        .clone()
        .transformed(glam::Quat::from_rotation_z(0.4), Vec3::ONE, 1.0);
    for shape in [plate, turned] {
        let mesh = whole(&shape, 16);
        assert_eq!(mesh.edge_fault(), None);
        let volume = mesh.signed_volume();
        assert!((volume / 0.001 - 1.0).abs() < 1e-2, "{volume}");
    }
}

#[test]
fn degenerate_boxes_and_shapes_do_not_panic() {
    let ball = Geometry::sphere(Vec3::ZERO, 1.0);
    let nan = Bounds {
        min: Vec3::NAN,
        max: Vec3::ONE,
    };
    let floor = Geometry::half_space(Vec3::ZERO, Vec3::Y);
    for (shape, within) in [
        (&ball, nan),
        (&ball, Bounds::EMPTY),
        (&floor, Bounds::INFINITE),
        (&Geometry::union(vec![]), Bounds::INFINITE),
        (&Geometry::sphere(Vec3::NAN, 1.0), Bounds::INFINITE),
        (&Geometry::sphere(Vec3::ZERO, 0.0), Bounds::INFINITE),
        (
            &floor,
            Bounds::from_corners(Vec3::splat(-3e38), Vec3::splat(3e38)),
        ),
    ] {
        for cells in [0, 1, 7] {
            assert!(shape.surface(&within, cells).triangles.is_empty());
        }
    }
    let window = Bounds::from_corners(Vec3::splat(-1e6), Vec3::splat(1e6));
    assert!(!floor.surface(&window, 9).triangles.is_empty());
    let everything = Geometry::intersection(vec![]);
    assert_eq!(everything.surface(&window, 9).edge_fault(), None);
    for cells in [0, 1, 2, 3] {
        let mesh = whole(&ball, cells);
        assert_eq!(mesh.edge_fault(), None);
        assert!(mesh.vertices.iter().all(|v| v.is_finite()));
    }
}

#[test]
fn contouring_is_fast_and_repeats_itself() {
    let glass = hourglass();
    let start = std::time::Instant::now();
    let mesh = whole(&glass, 128);
    let time = start.elapsed();
    println!("{} triangles in {time:?}", mesh.triangles.len());
    assert_eq!(whole(&glass, 128), mesh);
    // A wide band: other work may share the machine.
    assert!(time.as_millis() < 3000, "{time:?}");
}
