//! Distances against clouds of surface points, volumes against formulas, meshes against the solids they approximate.

use super::*;
use crate::mesh::tests::{box_mesh, sphere_mesh};
use crate::model::Dimensions::{Three, Two};
use glam::{Vec3Swizzles, vec3};
use proptest::prelude::*;
use std::f32::consts::TAU;

fn assert_close(a: f64, b: f64, tolerance: f64, what: &str) {
    assert!((a - b).abs() <= tolerance, "{what}: {a} against {b}");
}

/// Points in a box around the origin, from a fixed low-discrepancy sequence.
fn probes(count: usize, half: f32) -> impl Iterator<Item = Vec3> {
    (1..=count).map(move |i| {
        let u = |a: f64| ((i as f64 * a).fract() * 2.0 - 1.0) as f32 * half;
        vec3(u(0.819_172_5), u(0.671_043_6), u(0.549_700_5))
    })
}

/// A surface that is the image of the unit square.
type Patch = Box<dyn Fn(f32, f32) -> Vec3>;

/// Distance to the nearest of `n`² points of each patch.
fn nearest(patches: &[Vec<Vec3>], p: Vec3) -> f32 {
    patches
        .iter()
        .flatten()
        .map(|q| q.distance_squared(p))
        .fold(f32::INFINITY, f32::min)
        .sqrt()
}

fn cloud(patch: &Patch, n: usize) -> Vec<Vec3> {
    let at = |i: usize| i as f32 / n as f32;
    (0..=n)
        .flat_map(|i| (0..=n).map(move |j| (i, j)))
        .map(|(i, j)| patch(at(i), at(j)))
        .collect()
}

/// Axis frame: origin, two directions across and one along.
fn frame(from: Vec3, axis: Vec3) -> (Vec3, Vec3, Vec3, Vec3) {
    let a = axis.normalize();
    let (u, v) = a.any_orthonormal_pair();
    (from, u, v, a)
}

/// The surface that a segment of the meridian plane sweeps.
fn swept(origin: Vec3, axis: Vec3, a: [f32; 2], b: [f32; 2]) -> Patch {
    let (o, u, v, w) = frame(origin, axis);
    Box::new(move |s, t| {
        let r = a[0] + t * (b[0] - a[0]);
        let h = a[1] + t * (b[1] - a[1]);
        o + r * ((s * TAU).cos() * u + (s * TAU).sin() * v) + h * w
    })
}

fn ball(center: Vec3, radius: f32) -> Patch {
    Box::new(move |s, t| {
        let (a, b) = (s * TAU, t * 0.5 * TAU);
        center + radius * vec3(a.cos() * b.sin(), b.cos(), a.sin() * b.sin())
    })
}

const FROM: Vec3 = vec3(-0.3, -0.2, 0.1);
const TO: Vec3 = vec3(0.4, 0.5, -0.2);
/// An hourglass-like outline with a reentrant corner, an edge on the axis and a horizontal edge.
const PROFILE: [[f32; 2]; 6] = [
    [0.0, -0.6],
    [0.5, -0.6],
    [0.15, 0.0],
    [0.4, 0.5],
    [0.25, 0.6],
    [0.0, 0.4],
];

/// Every primitive with its surface.
fn primitives() -> Vec<(&'static str, Geometry, Vec<Patch>)> {
    let axis = TO - FROM;
    let h = axis.length();
    let (lo, hi) = (vec3(-0.5, -0.3, -0.2), vec3(0.4, 0.6, 0.3));
    let face = move |axis: usize, value: f32| -> Patch {
        Box::new(move |s, t| {
            let mut p = Vec3::ZERO;
            let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
            p[axis] = value;
            p[b] = lo[b] + s * (hi[b] - lo[b]);
            p[c] = lo[c] + t * (hi[c] - lo[c]);
            p
        })
    };
    let ring: Patch = {
        let (o, u, v, w) = frame(FROM, axis);
        Box::new(move |s, t| {
            let radial = (s * TAU).cos() * u + (s * TAU).sin() * v;
            o + (0.5 + 0.2 * (t * TAU).cos()) * radial + 0.2 * (t * TAU).sin() * w
        })
    };
    let outline = (0..5).map(|i| swept(FROM, axis, PROFILE[i], PROFILE[i + 1]));
    vec![
        (
            "cuboid",
            Geometry::cuboid(lo, hi),
            (0..3)
                .flat_map(|a| [face(a, lo[a]), face(a, hi[a])])
                .collect(),
        ),
        ("sphere", Geometry::sphere(FROM, 0.6), vec![ball(FROM, 0.6)]),
        (
            "cylinder",
            Geometry::cylinder(FROM, TO, 0.3),
            vec![
                swept(FROM, axis, [0.0, 0.0], [0.3, 0.0]),
                swept(FROM, axis, [0.3, 0.0], [0.3, h]),
                swept(FROM, axis, [0.3, h], [0.0, h]),
            ],
        ),
        (
            "cone",
            Geometry::cone(FROM, TO, 0.5, 0.2),
            vec![
                swept(FROM, axis, [0.0, 0.0], [0.5, 0.0]),
                swept(FROM, axis, [0.5, 0.0], [0.2, h]),
                swept(FROM, axis, [0.2, h], [0.0, h]),
            ],
        ),
        (
            "tip",
            Geometry::cone(FROM, TO, 0.5, 0.0),
            vec![
                swept(FROM, axis, [0.0, 0.0], [0.5, 0.0]),
                swept(FROM, axis, [0.5, 0.0], [0.0, h]),
            ],
        ),
        ("torus", Geometry::torus(FROM, axis, 0.5, 0.2), vec![ring]),
        (
            "revolution",
            Geometry::revolution(FROM, axis, PROFILE.to_vec()),
            outline.collect(),
        ),
        (
            "reversed revolution",
            Geometry::revolution(FROM, axis, PROFILE.iter().rev().copied().collect()),
            (0..5)
                .map(|i| swept(FROM, axis, PROFILE[i], PROFILE[i + 1]))
                .collect(),
        ),
    ]
}

#[test]
fn distances_match_the_nearest_surface_point() {
    for (name, shape, patches) in primitives() {
        let clouds: Vec<_> = patches.iter().map(|p| cloud(p, 150)).collect();
        for p in probes(400, 1.0) {
            let (d, brute) = (shape.distance(p).abs(), nearest(&clouds, p));
            // The cloud's spacing is below 0.03; the nearest of its points lies at most half a diagonal aside.
            assert!(
                d <= brute + 1e-5 && brute <= (d * d + 6e-4).sqrt() + 1e-5,
                "{name} at {p}: {d} against {brute}"
            );
        }
    }
}

#[test]
fn capsule_is_the_offset_of_its_segment() {
    let shape = Geometry::capsule(FROM, TO, 0.25);
    for p in probes(300, 1.0) {
        let brute = (0..=1000)
            .map(|i| p.distance(FROM.lerp(TO, i as f32 / 1000.0)))
            .fold(f32::INFINITY, f32::min);
        assert_close(
            shape.distance(p).into(),
            (brute - 0.25).into(),
            1e-3,
            "capsule",
        );
    }
}

#[test]
fn known_values_and_signs() {
    let close = |shape: &Geometry, p: Vec3, d: f32| {
        assert_close(shape.distance(p).into(), d.into(), 1e-6, "distance");
    };
    let cube = Geometry::cuboid(Vec3::splat(-1.0), Vec3::splat(1.0));
    close(&cube, Vec3::ZERO, -1.0);
    close(&cube, vec3(0.5, 0.0, 0.0), -0.5);
    close(&cube, vec3(2.0, 2.0, 0.0), 2f32.sqrt());
    close(&Geometry::half_space(Vec3::Y, Vec3::Y), Vec3::ZERO, -1.0);
    close(
        &Geometry::half_space(Vec3::ZERO, vec3(0.0, 0.0, -2.0)),
        Vec3::Z,
        -1.0,
    );
    let cone = Geometry::cone(Vec3::ZERO, Vec3::Y, 1.0, 0.0);
    close(&cone, vec3(0.0, 0.5, 0.0), -0.5 * 0.5f32.sqrt());
    close(&cone, vec3(0.0, 2.0, 0.0), 1.0);
    let torus = Geometry::torus(Vec3::ZERO, Vec3::Y, 1.0, 0.25);
    close(&torus, Vec3::ZERO, 0.75);
    close(&torus, Vec3::X, -0.25);
    // The edge on the axis is no surface.
    let lathe = Geometry::revolution(
        Vec3::ZERO,
        Vec3::Y,
        vec![[0.0, -1.0], [0.5, -1.0], [0.5, 1.0], [0.0, 1.0]],
    );
    close(&lathe, Vec3::ZERO, -0.5);
    close(&lathe, vec3(0.7, 0.0, 0.0), 0.2);
}

#[test]
fn an_infinite_slab_has_distances() {
    let slab = Geometry::cuboid(
        vec3(-1.0, 0.0, f32::NEG_INFINITY),
        vec3(1.0, 2.0, f32::INFINITY),
    );
    assert_eq!(slab.distance(vec3(0.0, 0.5, 100.0)), -0.5);
    assert_eq!(slab.distance(vec3(2.0, 1.0, -7.0)), 1.0);
    assert_eq!(slab.normal(vec3(2.0, 1.0, -7.0)), Vec3::X);
    assert_eq!(slab.volume(Three), f64::INFINITY);
    assert_eq!(slab.volume(Two), 4.0);
    assert_eq!(slab.bounds().center(), vec3(0.0, 1.0, 0.0));
    let turned = slab.transformed(Quat::from_rotation_y(0.25 * TAU), Vec3::X, 1.0);
    assert!(turned.bounds().min.yz().is_finite() && turned.bounds().max.yz().is_finite());
}

/// Central differences of the distance.
fn slope(shape: &Geometry, p: Vec3) -> Vec3 {
    let h = 1e-3;
    let d = |e: Vec3| (shape.distance(p + h * e) - shape.distance(p - h * e)) / (2.0 * h);
    vec3(d(Vec3::X), d(Vec3::Y), d(Vec3::Z))
}

#[test]
fn normals_are_gradients_and_gradients_are_unit() {
    let mut shapes: Vec<_> = primitives().into_iter().map(|(n, s, _)| (n, s)).collect();
    shapes.push(("capsule", Geometry::capsule(FROM, TO, 0.25)));
    shapes.push(("half-space", Geometry::half_space(FROM, TO)));
    shapes.push(("boolean", pierced_cube()));
    let turn = Quat::from_axis_angle(vec3(1.0, 2.0, 3.0).normalize(), 1.1);
    let moved = pierced_cube().transformed(turn, vec3(0.2, -0.1, 0.05), 0.7);
    shapes.push(("transformed", moved));
    for (name, shape) in shapes {
        let (mut tested, mut smooth) = (0, 0);
        for p in probes(400, 1.0) {
            let (g, n) = (slope(&shape, p), shape.normal(p));
            assert_close(n.length().into(), 1.0, 1e-5, name);
            tested += 1;
            // Where two parts of the surface are equally near there is no gradient: differences are short there.
            if (g.length() - 1.0).abs() < 0.01 {
                smooth += 1;
                assert!(g.normalize().dot(n) > 0.999, "{name} at {p}: {g} and {n}");
            }
        }
        assert!(smooth * 100 >= tested * 97, "{name}: {smooth} of {tested}");
    }
}

#[test]
fn normals_never_fail() {
    let flat = Geometry::cylinder(Vec3::ZERO, Vec3::ZERO, 0.0);
    let empty = Geometry::union(Vec::new());
    let mut shapes: Vec<_> = primitives().into_iter().map(|p| p.1).collect();
    shapes.extend([
        Geometry::capsule(FROM, FROM, 0.2),
        Geometry::revolution(FROM, Vec3::ZERO, Vec::new()),
        Geometry::half_space(Vec3::ZERO, Vec3::ZERO),
        Geometry::intersection(Vec::new()),
        flat.clone()
            .transformed(Quat::from_xyzw(0.0, 0.0, 0.0, 0.0), Vec3::ONE, 0.0),
        flat,
        Geometry::difference(empty.clone(), vec![empty.clone()]),
        empty,
    ]);
    let points = [
        Vec3::ZERO,
        FROM,
        TO,
        0.5 * (FROM + TO),
        Vec3::splat(1e30),
        Vec3::NAN,
        Vec3::INFINITY,
    ];
    for shape in shapes {
        for p in points {
            assert_close(shape.normal(p).length().into(), 1.0, 1e-5, "normal");
        }
    }
}

/// A cube of edge 1 with a cylindrical hole of radius 0.2 along z, united with a small ball beside it.
fn pierced_cube() -> Geometry {
    let hole = Geometry::cylinder(vec3(0.0, 0.0, -1.0), vec3(0.0, 0.0, 1.0), 0.2);
    let cube = Geometry::cuboid(Vec3::splat(-0.5), Vec3::splat(0.5));
    let ball = Geometry::sphere(vec3(0.8, 0.0, 0.0), 0.2);
    Geometry::union(vec![Geometry::difference(cube, vec![hole]), ball])
}

#[test]
fn booleans_combine_membership() {
    let a = || Geometry::sphere(Vec3::ZERO, 0.7);
    let b = || Geometry::cuboid(Vec3::ZERO, Vec3::ONE);
    let (or, and) = (
        Geometry::union(vec![a(), b()]),
        Geometry::intersection(vec![a(), b()]),
    );
    let without = Geometry::difference(a(), vec![b()]);
    for p in probes(500, 1.2) {
        let (in_a, in_b) = (a().distance(p) < 0.0, b().distance(p) < 0.0);
        assert_eq!(or.distance(p) < 0.0, in_a || in_b);
        assert_eq!(and.distance(p) < 0.0, in_a && in_b);
        assert_eq!(without.distance(p) < 0.0, in_a && !in_b);
    }
    assert_eq!(and.bounds().min, Vec3::ZERO);
    assert_eq!(and.bounds().max, Vec3::splat(0.7));
    let cut = Geometry::half_space(Vec3::ZERO, -Vec3::Y);
    let below = Geometry::difference(a(), vec![cut]);
    assert_eq!(below.bounds().max.y, 0.0);
}

#[test]
fn transforms_move_the_shape() {
    let turn = Quat::from_axis_angle(vec3(1.0, -1.0, 0.5).normalize(), 0.8);
    let (shift, scale) = (vec3(0.3, 0.2, -0.4), 1.7);
    for (name, shape, _) in primitives() {
        let moved = shape.clone().transformed(turn, shift, scale);
        for p in probes(100, 0.8) {
            let q = turn * (scale * p) + shift;
            let expected = scale * shape.distance(p);
            assert_close(moved.distance(q).into(), expected.into(), 1e-5, name);
            assert!(moved.normal(q).dot(turn * shape.normal(p)) > 0.99, "{name}");
        }
        let ratio = moved.volume(Three) / shape.volume(Three);
        assert_close(ratio, f64::from(scale).powi(3), 1e-5, name);
    }
}

#[test]
fn bounds_hold_the_shape_and_touch_it() {
    for (name, shape, patches) in primitives() {
        let points: Vec<_> = patches.iter().flat_map(|p| cloud(p, 100)).collect();
        let tight = Bounds::from_points(points);
        let bounds = shape.bounds();
        assert!(tight.min.cmpge(bounds.min - 1e-5).all(), "{name}");
        assert!(tight.max.cmple(bounds.max + 1e-5).all(), "{name}");
        assert!((tight.min - bounds.min).max_element() < 0.01, "{name}");
        assert!((bounds.max - tight.max).max_element() < 0.01, "{name}");
    }
}

#[test]
fn bounds_helpers() {
    let b = Bounds::from_corners(vec3(1.0, 0.0, 2.0), vec3(0.0, 1.0, 0.0));
    assert_eq!(b.size(), vec3(1.0, 1.0, 2.0));
    assert_eq!(b.center(), vec3(0.5, 0.5, 1.0));
    assert!(b.contains(vec3(1.0, 0.0, 0.0)) && !b.contains(vec3(1.1, 0.0, 0.0)));
    assert_eq!(b.expand(0.5).size(), vec3(2.0, 2.0, 3.0));
    let far = Bounds::from_corners(Vec3::splat(3.0), Vec3::splat(4.0));
    assert!(b.intersect(&far).is_empty() && !b.union(&far).is_empty());
    assert_eq!(b.union(&Bounds::EMPTY), b);
    assert_eq!(b.intersect(&Bounds::INFINITE), b);
    assert!(b.is_finite() && !Bounds::INFINITE.is_finite() && !Bounds::EMPTY.is_finite());
    assert_eq!(b.distance(vec3(4.0, 5.0, 1.0)), 5.0);
}

/// Volume by quadrature: a boolean of one part has no closed form.
fn by_sum(shape: &Geometry, dimensions: Dimensions) -> f64 {
    Geometry::union(vec![shape.clone()]).volume(dimensions)
}

#[test]
fn volumes_match_formulas() {
    let pi = std::f64::consts::PI;
    let h = f64::from(FROM.distance(TO));
    let third = |a: f64, b: f64| pi * h / 3.0 * (a * a + a * b + b * b);
    let cases = [
        (Geometry::cuboid(Vec3::ZERO, vec3(1.0, 2.0, 0.5)), 1.0),
        (Geometry::sphere(FROM, 0.5), pi / 6.0),
        (Geometry::cylinder(FROM, TO, 0.3), 0.09 * pi * h),
        (Geometry::capsule(FROM, TO, 0.3), 0.09 * pi * (h + 0.4)),
        (Geometry::cone(FROM, TO, 0.5, 0.2), third(0.5, 0.2)),
        (Geometry::cone(FROM, TO, 0.0, 0.4), third(0.0, 0.4)),
        (Geometry::torus(FROM, TO, 0.5, 0.2), 2.0 * pi * pi * 0.02),
    ];
    for (shape, expected) in cases {
        assert_close(shape.volume(Three) / expected, 1.0, 1e-5, "closed form");
        assert_close(by_sum(&shape, Three) / expected, 1.0, 3e-3, "sum");
    }
    let lathe = Geometry::revolution(FROM, TO, PROFILE.to_vec());
    let ratio = by_sum(&lathe, Three) / lathe.volume(Three);
    assert_close(ratio, 1.0, 3e-3, "revolution");
    let expected = 1.0 - 0.04 * pi + 4.0 / 3.0 * pi * 0.008;
    assert_close(
        pierced_cube().volume(Three) / expected,
        1.0,
        3e-3,
        "boolean",
    );
    assert_eq!(Geometry::half_space(FROM, TO).volume(Three), f64::INFINITY);
    assert_eq!(Geometry::union(Vec::new()).volume(Three), 0.0);
}

#[test]
fn thin_and_hollow_volumes() {
    let outer = Geometry::sphere(Vec3::ZERO, 1.0);
    let shell = Geometry::difference(outer, vec![Geometry::sphere(Vec3::ZERO, 0.97)]);
    let expected = 4.0 / 3.0 * std::f64::consts::PI * (1.0 - 0.97f64.powi(3));
    assert_close(shell.volume(Three) / expected, 1.0, 5e-3, "shell");
    let plate = Geometry::cuboid(vec3(-1.0, -1.0, 0.0), vec3(1.0, 1.0, 0.013));
    let turned = plate.transformed(Quat::from_rotation_x(0.3), Vec3::ZERO, 1.0);
    assert_close(by_sum(&turned, Three) / 0.052, 1.0, 5e-3, "plate");
}

#[test]
fn areas_match_formulas() {
    let pi = std::f64::consts::PI;
    let disk = Geometry::cylinder(-Vec3::Z, Vec3::Z, 0.4);
    assert_close(disk.volume(Two) / (0.16 * pi), 1.0, 2e-3, "disk");
    let ball = Geometry::sphere(vec3(0.2, 0.1, 0.3), 0.5);
    assert_close(ball.volume(Two) / (0.16 * pi), 1.0, 1e-5, "ball");
    assert_close(by_sum(&ball, Two) / (0.16 * pi), 1.0, 2e-3, "ball");
    let aside = Geometry::cuboid(vec3(0.0, 0.0, 1.0), vec3(1.0, 1.0, 2.0));
    assert_eq!(aside.volume(Two), 0.0);
    assert_eq!(by_sum(&aside, Two), 0.0);
    assert_close(pierced_cube().volume(Two), 1.0, 3e-3, "pierced"); // The ball replaces the hole.
}

#[test]
fn cross_sections() {
    let pi = std::f64::consts::PI;
    let pipe = Geometry::cylinder(FROM, TO, 0.3);
    let area = pipe.cross_section(TO - FROM, Three);
    assert_close(area / (0.09 * pi), 1.0, 2e-3, "round mouth");
    let slot = Geometry::cuboid(vec3(-0.1, 1.0, -0.1), vec3(0.3, 1.1, 0.1));
    assert_close(slot.cross_section(-Vec3::Y, Three), 0.08, 2e-4, "slot");
    assert_close(slot.cross_section(-Vec3::Y, Two), 0.4, 1e-3, "slit");
    assert_eq!(slot.cross_section(Vec3::ZERO, Three), 0.0);
}

#[test]
fn sampled_sphere_matches_the_analytic_one() {
    let radius = 0.5;
    let mesh = sphere_mesh(FROM, radius, 64);
    let voxel = 0.02;
    let (sampled, exact) = (Geometry::mesh(&mesh, voxel), Geometry::sphere(FROM, radius));
    for p in probes(3000, 1.5) {
        let (a, b) = (sampled.distance(p), exact.distance(p));
        if b.abs() < 2.0 * voxel {
            assert!((a - b).abs() < 0.1 * voxel, "{p}: {a} against {b}");
            assert!(sampled.normal(p).dot(exact.normal(p)) > 0.99);
        }
        if b.abs() > 0.1 * voxel {
            assert_eq!(a < 0.0, b < 0.0, "{p}");
        }
        // Never too large by more than a fraction of a voxel.
        assert!(a.abs() < b.abs() + 0.5 * voxel, "{p}: {a} against {b}");
        assert!(a.abs() > 0.6 * b.abs() - voxel, "{p}: {a} against {b}");
    }
    let ratio = sampled.volume(Three) / exact.volume(Three);
    assert_close(ratio, 1.0, 5e-3, "volume");
    assert!(sampled.bounds().contains(FROM + vec3(0.0, radius, 0.0)));
}

#[test]
fn sampled_box_aligned_with_its_grid() {
    // Rays run exactly through edges and vertices whatever the offset: faces lie on nodes.
    for voxel in [0.05, 0.1, 0.0625] {
        let (lo, hi) = (vec3(-0.5, -0.25, 0.0), vec3(0.5, 0.5, 0.75));
        let sampled = Geometry::mesh(&box_mesh(lo, hi), voxel);
        let exact = Geometry::cuboid(lo, hi);
        for p in probes(2000, 1.2) {
            let (a, b) = (sampled.distance(p), exact.distance(p));
            assert!(
                (a - b).abs() < 0.6 * voxel || b > 3.0 * voxel,
                "{p}: {a}, {b}"
            );
            assert!(a < b + 0.6 * voxel, "{p}: {a}, {b}");
        }
    }
}

#[test]
fn overlapping_parts_unite_and_inner_shells_are_cavities() {
    let join = |mut a: TriangleMesh, b: TriangleMesh| {
        let first = a.vertices.len() as u32;
        a.vertices.extend(b.vertices);
        let shifted = b.triangles.into_iter().map(|t| t.map(|v| v + first));
        a.triangles.extend(shifted);
        a
    };
    let big = box_mesh(Vec3::splat(-0.5), Vec3::splat(0.5));
    let beside = box_mesh(vec3(0.0, -0.3, -0.3), vec3(0.9, 0.3, 0.3));
    let both = Geometry::mesh(&join(big.clone(), beside), 0.03);
    assert!(both.distance(vec3(0.05, 0.0, 0.0)) < 0.0);
    assert!(both.distance(vec3(0.7, 0.0, 0.0)) < 0.0);
    let mut inner = box_mesh(Vec3::splat(-0.3), Vec3::splat(0.3));
    inner.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    let hollow = Geometry::mesh(&join(big, inner), 0.03);
    assert!(hollow.distance(Vec3::ZERO) > 0.2);
    assert!(hollow.distance(vec3(0.4, 0.0, 0.0)) < -0.05);
}

#[test]
fn open_meshes_are_shells() {
    let mut sheet = box_mesh(Vec3::splat(-0.5), Vec3::splat(0.5));
    sheet.triangles.truncate(10);
    let voxel = 0.05;
    let shell = Geometry::mesh(&sheet, voxel);
    let on_surface = sheet.vertices[sheet.triangles[0][0] as usize];
    assert!(shell.distance(on_surface) < 0.0);
    assert!(shell.distance(Vec3::ZERO) > 0.3);
    assert!(shell.distance(Vec3::splat(0.8)) > 0.3);
}

#[test]
fn voxels_are_bounded_and_bad_ones_replaced() {
    let mesh = sphere_mesh(Vec3::ZERO, 1.0, 8);
    for voxel in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e-9] {
        let shape = Geometry::mesh(&mesh, voxel);
        assert_close(shape.distance(Vec3::ZERO).into(), -0.9, 0.1, "center");
        let Shape::Mesh(grid) = &shape.0.shape else {
            panic!("not a mesh")
        };
        assert!(grid.node_count() <= 256 * 256 * 256);
    }
    let empty = Geometry::mesh(&TriangleMesh::default(), 0.1);
    assert!(empty.bounds().is_empty() && empty.distance(Vec3::ZERO) > 0.0);
}

proptest! {
    /// A distance never changes faster than the point moves: culling and quadrature rely on it.
    #[test]
    fn distances_are_lipschitz(
        a in prop::array::uniform3(-2f32..2.0),
        b in prop::array::uniform3(-2f32..2.0),
    ) {
        let (a, b) = (Vec3::from(a), Vec3::from(b));
        let shapes = primitives().into_iter().map(|p| p.1).chain([pierced_cube()]);
        for shape in shapes {
            let change = (shape.distance(a) - shape.distance(b)).abs();
            prop_assert!(change <= a.distance(b) * 1.0001 + 1e-5);
        }
    }
}
