//! Rigid bodies, joints and robots of the scene file.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use barchan_scene::{Boundary, Dimensions, Drive, Geometry, JointEnd, JointKind, MassProperties};
use common::*;
use glam::{DMat3, DVec3, Quat, Vec3};

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * b.abs().max(1e-12)
}

fn properties(shape: &Geometry) -> MassProperties {
    MassProperties::of_density(&shape.moments(Dimensions::Three).unwrap(), 2.0)
}

/// Compares with mass, center and principal inertia in the frame of the shape.
fn check(shape: &Geometry, mass: f64, center: DVec3, inertia: DVec3, tolerance: f64) {
    let found = properties(shape);
    assert!(close(found.mass, mass, tolerance), "{found:?}");
    let size = f64::from(shape.bounds().size().max_element());
    assert!(
        found.center.distance(center) < tolerance * size,
        "{found:?}"
    );
    for i in 0..3 {
        for j in 0..3 {
            let expected = if i == j { inertia[i] } else { 0.0 };
            let error = (found.inertia.col(j)[i] - expected).abs();
            assert!(
                error < tolerance * inertia.max_element(),
                "{found:?} {inertia}"
            );
        }
    }
}

#[test]
fn masses_are_those_of_the_closed_forms() {
    let exact = 1e-6;
    let cuboid = Geometry::cuboid(Vec3::new(1.0, 2.0, 3.0), Vec3::new(2.0, 4.0, 7.0));
    let m = 16.0;
    let inertia = DVec3::new(4.0 + 16.0, 1.0 + 16.0, 1.0 + 4.0) * m / 12.0;
    check(&cuboid, m, DVec3::new(1.5, 3.0, 5.0), inertia, exact);
    let ball = Geometry::sphere(Vec3::X, 0.5);
    let m = 2.0 * 4.0 / 3.0 * std::f64::consts::PI / 8.0;
    check(&ball, m, DVec3::X, DVec3::splat(0.4 * m * 0.25), exact);
    let cylinder = Geometry::cylinder(Vec3::ZERO, Vec3::Y * 2.0, 0.5);
    let m = 2.0 * std::f64::consts::PI * 0.25 * 2.0;
    let across = m * (3.0 * 0.25 + 4.0) / 12.0;
    let inertia = DVec3::new(across, m * 0.25 / 2.0, across);
    check(&cylinder, m, DVec3::Y, inertia, exact);
    let capsule = Geometry::capsule(Vec3::NEG_Y, Vec3::Y, 0.5);
    let parts = Geometry::union(vec![capsule.clone(), Geometry::sphere(Vec3::ZERO, 0.1)]);
    // Adaptive quadrature agrees with the closed form.
    let (a, b) = (properties(&capsule), properties(&parts));
    assert!(close(b.mass, a.mass, 2e-3), "{a:?} {b:?}");
    assert!(
        close(b.inertia.x_axis.x, a.inertia.x_axis.x, 3e-3),
        "{a:?} {b:?}"
    );
    assert!(
        close(b.inertia.y_axis.y, a.inertia.y_axis.y, 3e-3),
        "{a:?} {b:?}"
    );
}

#[test]
fn hollow_and_turned_bodies_have_their_own_mass() {
    let outer = Geometry::cuboid(Vec3::splat(-1.0), Vec3::splat(1.0));
    let inner = Geometry::cuboid(Vec3::splat(-0.8), Vec3::splat(0.8));
    let hollow = Geometry::difference(outer, vec![inner]);
    let (a, b) = (16.0, 2.0 * 1.6f64.powi(3));
    let inertia = (a * 4.0 * 2.0 - b * 1.6 * 1.6 * 2.0) / 12.0;
    check(&hollow, a - b, DVec3::ZERO, DVec3::splat(inertia), 5e-3);
    // Negative control: a solid box of that mass has a third less inertia.
    let solid = (a - b) * 4.0 * 2.0 / 12.0;
    assert!((inertia / solid - 1.0).abs() > 0.1);
    let rod = Geometry::cuboid(Vec3::new(-1.0, -0.1, -0.1), Vec3::new(1.0, 0.1, 0.1));
    let turned = rod
        .clone()
        .transformed(Quat::from_rotation_z(0.5), Vec3::Y, 2.0);
    let (plain, found) = (properties(&rod), properties(&turned));
    let turn = DMat3::from_rotation_z(0.5);
    let expected = turn * plain.inertia * turn.transpose() * 32.0;
    assert!(close(found.mass, plain.mass * 8.0, 1e-6));
    assert!(
        (found.inertia - expected)
            .to_cols_array()
            .iter()
            .all(|x| x.abs() < 1e-5)
    );
    let two = properties(&Geometry::cuboid(Vec3::ZERO, Vec3::ONE));
    let other = properties(&Geometry::cuboid(Vec3::X, Vec3::new(2.0, 1.0, 1.0)));
    let both = properties(&Geometry::cuboid(Vec3::ZERO, Vec3::new(2.0, 1.0, 1.0)));
    let sum = two.plus(&other);
    assert!(
        (sum.inertia - both.inertia)
            .to_cols_array()
            .iter()
            .all(|x| x.abs() < 1e-9)
    );
}

#[test]
fn a_2d_body_is_a_slab() {
    let disk = Geometry::sphere(Vec3::ZERO, 0.5);
    let moments = disk.moments(Dimensions::Two).unwrap();
    let found = MassProperties::of_density(&moments, 2.0);
    let mass = 2.0 * std::f64::consts::PI * 0.25;
    assert!(close(found.mass, mass, 1e-3), "{found:?}");
    assert!(
        close(found.inertia.z_axis.z, mass * 0.25 / 2.0, 2e-3),
        "{found:?}"
    );
}

const MACHINE: &str = r#"
[[collider]]
name = "post"
shape = { box = { min = [-0.1, 0, -0.1], max = [0.1, 1, 0.1] } }

[[body]]
name = "boom"
shape = { box = { min = [0, 2, -0.1], max = [2, 2.2, 0.1] } }
density = 500
friction = 0.3
boundary = "sticky"

[[body]]
name = "bucket"
shape = { union = [{ box = { min = [2, 2, -0.2], max = [2.4, 2.05, 0.2] } }, { box = { min = [2, 2, -0.2], max = [2.05, 2.4, 0.2] } }] }
mass = 40
center_of_mass = [2.1, 2.1, 0]
restitution = 0.5
velocity = [1, 0, 0]
spin = [0, 0, 1]
collides = false
look = "glass"
color = [200, 100, 0]

[[joint]]
name = "hinge"
type = "revolute"
bodies = ["post", "boom"]
anchor = [0, 2, 0]
axis = [0, 0, 2]
limits = [-30, 60]
motor = { position = { keyframes = [{ time = 0, value = 0 }, { time = 1, value = 45 }], interpolation = "smooth" }, max_force = 1000 }
control = { keys = ["a", "d"], gamepad_axis = 2, speed = 20, label = "boom" }

[[joint]]
type = "spherical"
bodies = ["boom", "bucket"]
"#;

fn machine() -> String {
    format!("{MINIMAL}{MACHINE}")
}

#[test]
fn bodies_and_joints_are_read() {
    let scene = good(&machine());
    let [boom, bucket] = &scene.bodies[..] else {
        panic!("two bodies")
    };
    assert!(close(boom.mass.mass, 500.0 * 2.0 * 0.2 * 0.2, 1e-5));
    assert_eq!(boom.surface.boundary, Boundary::Sticky);
    assert_eq!(bucket.mass.center, DVec3::new(2.1, 2.1, 0.0));
    assert!(close(bucket.mass.mass, 40.0, 1e-12));
    assert!(!bucket.collides && boom.collides);
    let names: Vec<&str> = scene.solids().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["post", "boom", "bucket"]);
    let [hinge, ball] = &scene.joints[..] else {
        panic!("two joints")
    };
    assert_eq!(hinge.ends, [JointEnd::Solid(0), JointEnd::Solid(1)]);
    assert_eq!(hinge.axis, DVec3::Z);
    let limits = hinge.limits.unwrap().map(f64::to_degrees);
    assert!(close(limits[0], -30.0, 1e-12) && close(limits[1], 60.0, 1e-12));
    let motor = hinge.motor.as_ref().unwrap();
    let Drive::Position(track) = &motor.drive else {
        panic!("{motor:?}")
    };
    assert!(close(track.value(1.0).to_degrees(), 45.0, 1e-12));
    assert!(close(track.value(0.5).to_degrees(), 22.5, 1e-12));
    let control = hinge.control.as_ref().unwrap();
    assert_eq!(control.keys, Some(["a".to_owned(), "d".to_owned()]));
    assert!(close(control.speed.to_degrees(), 20.0, 1e-12));
    assert_eq!(
        (ball.name.as_str(), ball.kind),
        ("joint 1", JointKind::Spherical)
    );
    assert_eq!(ball.anchor, bucket.mass.center);
    // The resolved document gives the same scene, and overrides apply to it.
    assert_eq!(good(&scene.document).joints.len(), 2);
    let set = load_with(
        &machine(),
        &["joint.hinge.motor.max_force=5", "body.boom.density=1000"],
    );
    let set = set.unwrap();
    assert_eq!(set.joints[0].motor.as_ref().unwrap().max_force, 5.0);
    assert!(close(set.bodies[0].mass.mass, 80.0, 1e-5));
}

#[test]
fn wrong_bodies_and_joints_are_refused_with_place_and_remedy() {
    #[rustfmt::skip]
    let mistakes = [
        ["density = 500\n", "", "neither a density nor a mass", "7800 for steel"],
        ["mass = 40", "mass = 40\ndensity = 3", "both a density and a mass", "keep one"],
        ["mass = 40", "mass = -1", "`body.1.mass` is -1", "choose a value"],
        ["name = \"boom\"\n", "name = \"post\"\n", "already a body named `post`", "own name"],
        ["name = \"boom\"\n", "name = \"world\"\n", "`world` is the name of the fixed world", "another name"],
        ["[\"post\", \"boom\"]", "[\"post\", \"bom\"]", "no body or collider named `bom`", "did you mean `boom`?"],
        ["[\"post\", \"boom\"]", "[\"boom\", \"boom\"]", "connects a body to itself", "different"],
        ["[\"post\", \"boom\"]", "[\"post\", \"world\"]", "connects no rigid body", "rigid body"],
        ["[\"post\", \"boom\"]", "[\"post\"]", "must be a list of 2 texts", "names of the two solids that it connects"],
        ["type = \"revolute\"", "type = \"hinge\"", "cannot be \"hinge\"", "revolute"],
        ["limits = [-30, 60]", "limits = [10, 60]", "outside its limits", "include 0"],
        ["limits = [-30, 60]", "limits = [-200, 60]", "beyond half a turn", "leave them out"],
        ["axis = [0, 0, 2]", "axis = [0, 0, 0]", "has no direction", "not zero"],
        ["motor = { position = {", "motor = { velocity = 1, position = {", "two targets", "either"],
        ["keys = [\"a\", \"d\"], gamepad_axis = 2, ", "", "this control has no input", "keys"],
        ["type = \"spherical\"", "type = \"spherical\"\nlimits = [-1, 1]", "no effect in a spherical joint", "remove"],
        ["restitution = 0.5", "restitution = 2", "must be at least 0 and at most 1", "choose"],
        ["collides = false", "colides = false", "unknown key `colides`", "did you mean `collides`?"],
        ["shape = { box = { min = [0, 2, -0.1], max = [2, 2.2, 0.1] } }", "shape = { half_space = {} }", "infinite", "cut it"],
    ];
    for [from, to, message, help] in mistakes {
        let text = machine().replacen(from, to, 1);
        assert_ne!(text, machine(), "{from}");
        let errors = bad(&text);
        let told = assert_reports(&errors, message, help);
        assert!(errors.errors().iter().all(|e| e.line().is_some()), "{told}");
    }
}

fn robot(more: &str) -> String {
    format!("{MINIMAL}\n[[urdf]]\nfile = \"arm.urdf\"\nposition = [3, 0, 0]\n{more}")
}

#[test]
fn robots_become_bodies_and_joints() {
    let scene = good(&robot(
        "[[urdf.joint]]\nname = \"shoulder\"\nmotor = { velocity = 10, max_force = 900 }\n[[urdf.joint]]\nname = \"elbow\"\ncontrol = { keys = [\"q\", \"e\"], speed = 0.2 }\n",
    ));
    let names: Vec<&str> = scene
        .bodies
        .iter()
        .map(|b| b.surface.name.as_str())
        .collect();
    // The foot is merged with the base, the hand with the forearm.
    assert_eq!(names, ["arm/foot", "arm/upper", "arm/fore"]);
    // z of the file is up.
    let upper = &scene.bodies[1];
    assert!(
        upper.mass.center.distance(DVec3::new(3.0, 0.7, 0.0)) < 1e-6,
        "{:?}",
        upper.mass
    );
    assert!(
        close(upper.mass.inertia.y_axis.y, 0.05, 1e-6),
        "{:?}",
        upper.mass
    );
    assert_eq!(scene.bodies[0].surface.color, Some([255, 128, 0]));
    // The forearm begins at its lower limit, 0.1 m out along x of the file; with the hand it weighs 5 kg.
    let fore = &scene.bodies[2];
    assert!(close(fore.mass.mass, 5.0, 1e-12));
    let center = DVec3::new(3.0 + 0.1 + 0.5 / 5.0, 1.2, 0.0);
    assert!(fore.mass.center.distance(center) < 1e-6, "{:?}", fore.mass);
    let [base, shoulder, elbow] = &scene.joints[..] else {
        panic!("three joints: {:?}", scene.joints)
    };
    assert_eq!(
        (base.kind, base.ends[0]),
        (JointKind::Fixed, JointEnd::World)
    );
    let motor = shoulder.motor.as_ref().unwrap();
    assert_eq!((motor.max_force, motor.max_speed), (500.0, 2.0));
    assert_eq!(shoulder.damping, 3.0);
    assert!(
        shoulder.axis.distance(DVec3::NEG_Z) < 1e-9,
        "{}",
        shoulder.axis
    );
    assert_eq!(
        (elbow.name.as_str(), elbow.kind),
        ("arm/elbow", JointKind::Prismatic)
    );
    let limits = elbow.limits.unwrap();
    assert!(
        limits[0].abs() < 1e-12 && close(limits[1], 0.5, 1e-12),
        "{limits:?}"
    );
    // A joint with a control is held until it is driven, with the force limit of the file.
    assert_eq!(elbow.motor.as_ref().unwrap().max_force, 200.0);
    let free = good(&robot("fixed_base = false\ndensity = 800\n"));
    assert_eq!(free.joints.len(), 2);
    assert!(close(free.bodies[0].mass.mass, 800.0 * 0.032, 1e-4));
}

#[test]
fn wrong_robots_are_refused_with_place_and_remedy() {
    let good_text = include_str!("data/arm.urdf");
    #[rustfmt::skip]
    let mistakes = [
        ["<robot name=\"arm\">", "<robot name=\"arm\"", "not valid XML", "correct the file"],
        ["<parent link=\"base\"/>", "<parent link=\"bsae\"/>", "no link named `bsae`", "did you mean `base`?"],
        ["type=\"prismatic\"", "type=\"planar\"", "unknown type `planar`", "use revolute"],
        ["radius=\"0.1\"", "radius=\"wide\"", "`radius` is \"wide\"", "one number"],
        ["<cylinder radius=\"0.1\" length=\"1\"/>", "<blob/>", "unknown shape <blob>", "use a box"],
        ["<mass value=\"10\"/>", "", "`upper` moves but has no mass", "`density`"],
        ["izz=\"0.05\"", "izz=\"50\"", "physically impossible inertia", "principal"],
        ["lower=\"-1.5\"", "lower=\"2\"", "are empty", "smaller"],
        ["<child link=\"hand\"/>", "<child link=\"fore\"/>", "child of two joints", "trees"],
        ["<parent link=\"foot\"/><child link=\"base\"/>", "<parent link=\"upper\"/><child link=\"base\"/>", "is not connected to the root", "loop"],
        ["<sphere radius=\"0.08\"/>", "<mesh filename=\"package://x/none.stl\"/>", "no mesh file", "relative"],
        ["axis xyz=\"0 1 0\"", "axis xyz=\"0 0 0\"", "no axis", "not zero"],
    ];
    for [from, to, message, help] in mistakes {
        let text = good_text.replacen(from, to, 1);
        assert_ne!(text, good_text, "{from}");
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("arm.urdf"), text).unwrap();
        let mut source = source(&robot(""));
        source.directory = folder.path().to_owned();
        let errors = barchan_scene::load(&source, &Default::default()).unwrap_err();
        let told = assert_reports(&errors, message, help);
        assert!(told.contains("arm.urdf:"), "{told}");
    }
    let told = show(&bad(&robot("[[urdf.joint]]\nname = \"sholder\"\n")));
    assert!(told.contains("did you mean `shoulder`?"), "{told}");
    let told = show(&bad(&robot("").replace("arm.urdf", "none.urdf")));
    assert!(told.contains("cannot read the robot"), "{told}");
}
