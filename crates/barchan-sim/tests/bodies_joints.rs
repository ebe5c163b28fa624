//! Joints, motors and contact between bodies; checkpoints and threads with all of them moving.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use barchan_sim::bodies::{Drag, MotorTarget};
use barchan_sim::simulation::Simulation;
use glam::Vec3;
use support::*;

/// Grains far away, since a scene must have some.
const GRAINS: &str = r#"
[solver]
resolution = 0.05
[[fill]]
shape = { box = { min = [50, 50, 50], max = [50.1, 50.1, 50.1] } }
material = "dry sand"
"#;

fn center(simulation: &Simulation, body: usize) -> Vec3 {
    let mut colliders = simulation.colliders().clone();
    simulation.bodies().pose(&mut colliders);
    colliders.list[body].mass.unwrap().center
}

/// A thin rod on a hinge swings with T = 2π √(2 L / 3 g) at small angles.
#[test]
fn a_pendulum_keeps_time() {
    let text = format!(
        r#"frame_rate = 200
{GRAINS}
[[body]]
name = "rod"
shape = {{ box = {{ min = [-0.01, -1, -0.01], max = [0.01, 0, 0.01] }} }}
density = 1000
spin = [0, 0, 0.2]
velocity = [0.1, 0, 0]
[[joint]]
name = "hinge"
type = "revolute"
bodies = ["world", "rod"]
anchor = [0, 0, 0]
"#
    );
    let mut simulation = start(&text);
    let mut crossings = Vec::new();
    let mut last = 0.0;
    for frame in 1..=700u32 {
        advance(&mut simulation, 1);
        let angle = simulation.bodies().joints()[0].position;
        if last < 0.0 && angle >= 0.0 {
            crossings.push(f64::from(frame) / 200.0 - angle / (angle - last) / 200.0);
        }
        last = angle;
    }
    let period = crossings[1] - crossings[0];
    let expected = 2.0 * std::f64::consts::PI * (2.0 / 3.0 / 9.81f64).sqrt();
    assert!(
        (period / expected - 1.0).abs() < 0.01,
        "{period} {expected}"
    );
    // A point mass at the end would need 22 % more.
    assert!(period < 1.1 * expected);
}

fn arm(joint: &str) -> String {
    format!(
        r#"frame_rate = 100
{GRAINS}
[[body]]
name = "arm"
shape = {{ box = {{ min = [0, -0.05, -0.05], max = [1, 0.05, 0.05] }} }}
mass = 20
[[joint]]
name = "shoulder"
bodies = ["world", "arm"]
anchor = [0, 0, 0]
{joint}
"#
    )
}

#[test]
fn motors_hold_limits_stop_and_weak_motors_fail() {
    // Weight on the hinge: 20 kg · 9.81 · 0.5 m = 98 N m.
    let held = |joint: &str| {
        let mut simulation = start(&arm(joint));
        advance(&mut simulation, 150);
        simulation.bodies().joints()[0].clone()
    };
    let servo = held("type = \"revolute\"\nmotor = { position = 30 }");
    assert!(
        (servo.position.to_degrees() - 30.0).abs() < 1.0,
        "{servo:?}"
    );
    let load = 98.1 * 30f64.to_radians().cos();
    assert!((servo.force / load - 1.0).abs() < 0.05, "{servo:?}");
    let weak =
        held("type = \"revolute\"\nlimits = [-40, 40]\nmotor = { position = 30, max_force = 50 }");
    assert!((weak.position.to_degrees() + 40.0).abs() < 1.0, "{weak:?}");
    let turning = held("type = \"revolute\"\nmotor = { velocity = 300 }");
    assert!(
        (turning.position.to_degrees() - 450.0).abs() < 5.0,
        "{turning:?}"
    );
    let lift = held("type = \"prismatic\"\naxis = [0, 1, 0]\nmotor = { position = 0.5 }");
    assert!((lift.position - 0.5).abs() < 0.005, "{lift:?}");
    assert!((lift.force / 196.2 - 1.0).abs() < 0.05, "{lift:?}");
    let keyed = held(
        "type = \"prismatic\"\naxis = [1, 0, 0]\nmotor = { position = { keyframes = [{ time = 0, value = 0 }, { time = 1, value = 0.3 }] } }",
    );
    assert!((keyed.position - 0.3).abs() < 0.005, "{keyed:?}");
    let fixed = {
        let mut simulation = start(&arm("type = \"fixed\""));
        advance(&mut simulation, 100);
        center(&simulation, 0)
    };
    assert!(fixed.distance(Vec3::new(0.5, 0.0, 0.0)) < 0.005, "{fixed}");
}

#[test]
fn people_drive_joints_and_drag_bodies() {
    let mut simulation = start(&arm("type = \"revolute\"\nlimits = [-90, 90]"));
    let joint = simulation.bodies().joint_index("shoulder").unwrap();
    let position = |s: &Simulation| s.bodies().joints()[joint].position;
    simulation
        .bodies_mut()
        .set_motor(joint, MotorTarget::Velocity(0.5));
    for _ in 0..60 {
        simulation.step(1.0 / 60.0).unwrap();
    }
    assert!(
        (position(&simulation) - 0.5).abs() < 0.03,
        "{}",
        position(&simulation)
    );
    simulation
        .bodies_mut()
        .set_motor(joint, MotorTarget::Velocity(0.0));
    for _ in 0..60 {
        simulation.step(1.0 / 60.0).unwrap();
    }
    assert!(
        (position(&simulation) - 0.5).abs() < 0.03,
        "held: {}",
        position(&simulation)
    );
    // Far beyond its limit it stops at it, and comes back at once.
    simulation
        .bodies_mut()
        .set_motor(joint, MotorTarget::Velocity(2.0));
    for _ in 0..90 {
        simulation.step(1.0 / 60.0).unwrap();
    }
    let limit = std::f64::consts::FRAC_PI_2;
    assert!(
        (position(&simulation) - limit).abs() < 0.03,
        "{}",
        position(&simulation)
    );
    simulation
        .bodies_mut()
        .set_motor(joint, MotorTarget::Velocity(-1.0));
    for _ in 0..15 {
        simulation.step(1.0 / 60.0).unwrap();
    }
    assert!(
        position(&simulation) < limit - 0.15,
        "{}",
        position(&simulation)
    );
    // Nonsense is ignored.
    let bodies = simulation.bodies_mut();
    bodies.set_motor(joint, MotorTarget::Position(f64::NAN));
    bodies.set_motor(99, MotorTarget::Off);
    bodies.set_drag(Some(Drag {
        body: 77,
        point: Vec3::ZERO,
        target: Vec3::ZERO,
    }));
    assert!(simulation.step(f64::NAN).is_err());
    assert!(simulation.step(0.0).is_err());

    let free = arm("type = \"revolute\"").replace("[[joint]]", "[[urdf]]");
    let free = free.split("[[urdf]]").next().unwrap().to_owned();
    let mut simulation = start(&free);
    let target = Vec3::new(1.0, 1.0, 0.0);
    simulation.bodies_mut().set_drag(Some(Drag {
        body: 0,
        point: Vec3::new(0.5, 0.0, 0.0),
        target,
    }));
    for _ in 0..120 {
        simulation.step(1.0 / 60.0).unwrap();
    }
    // Weight stretches the spring by g/ω² = 7 cm.
    let at = center(&simulation, 0);
    assert!(at.distance(target) < 0.1, "{at}");
}

/// What a joint held falls freely from its release on, however it was held.
#[test]
fn a_joint_lets_go_at_its_release() {
    let after_a_second = |joint: &str| {
        let mut simulation = start(&arm(joint));
        advance(&mut simulation, 100);
        let force = simulation.bodies().joints()[0].force;
        (center(&simulation, 0).y, force)
    };
    for held in [
        "type = \"fixed\"",
        "type = \"prismatic\"\naxis = [0, 1, 0]\nmotor = { position = 0 }",
    ] {
        let (fallen, force) = after_a_second(&format!("{held}\nrelease = 0.5"));
        assert!(
            (fallen + 0.5 * 9.81 * 0.25).abs() < 0.03,
            "{held}: {fallen}"
        );
        assert_eq!(force, 0.0, "{held}");
        // It holds until then, as one does that is never released.
        let late = after_a_second(&format!("{held}\nrelease = 1"));
        assert_eq!(late, after_a_second(held), "{held}");
    }
}

/// A box falls on the floor, another on a scripted lift that carries it up, a hollow one over a post that it is put over.
#[test]
fn bodies_meet_colliders_and_each_other() {
    let text = format!(
        r#"frame_rate = 100
{GRAINS}
[[collider]]
name = "floor"
shape = {{ half_space = {{ normal = [0, 1, 0] }} }}
[[collider]]
name = "lift"
shape = {{ box = {{ min = [2, 0, -0.5], max = [3, 0.1, 0.5] }} }}
motion = {{ velocity = [0, 0.5, 0], start = 0.5, end = 1.5 }}
[[body]]
name = "box"
shape = {{ box = {{ center = [0, 0.3, 0], size = [0.2, 0.2, 0.2] }} }}
density = 500
[[body]]
name = "upper"
shape = {{ box = {{ center = [0, 0.6, 0], size = [0.2, 0.2, 0.2] }} }}
density = 500
[[body]]
name = "load"
shape = {{ sphere = {{ center = [2.5, 0.3, 0], radius = 0.1 }} }}
density = 500
[[body]]
name = "ghost"
shape = {{ sphere = {{ center = [8, 0.3, 0], radius = 0.1 }} }}
density = 500
collides = false
[[collider]]
name = "post"
shape = {{ box = {{ min = [4.9, 0, -0.1], max = [5.1, 0.6, 0.1] }} }}
[[body]]
name = "sleeve"
shape = {{ difference = [{{ box = {{ min = [4.7, 0.1, -0.3], max = [5.3, 0.5, 0.3] }} }}, {{ box = {{ min = [4.85, 0, -0.15], max = [5.15, 1, 0.15] }} }}] }}
density = 500
"#
    );
    let mut simulation = start(&text);
    advance(&mut simulation, 200);
    let y = |body: usize| center(&simulation, body).y;
    // Colliders: floor, lift, post; then bodies.
    assert!((y(3) - 0.1).abs() < 0.004, "box {}", y(3));
    assert!((y(4) - 0.3).abs() < 0.008, "upper {}", y(4));
    assert!((y(5) - 0.7).abs() < 0.01, "load {}", y(5));
    assert!(y(6) < -10.0, "ghost {}", y(6));
    // Taken for its convex hull, the sleeve would have been thrown off the post.
    let sleeve = center(&simulation, 7);
    assert!(sleeve.distance(Vec3::new(5.0, 0.2, 0.0)) < 0.02, "{sleeve}");
}

/// Sand, a motorized paddle, a hinged plank, a free box and a scripted pusher.
const BUSY: &str = r#"
frame_rate = 50
frames = 8
[solver]
resolution = 0.05
[[fill]]
shape = { box = { min = [-0.4, 0, -0.2], max = [0.4, 0.25, 0.2] } }
material = "dry sand"
[[collider]]
name = "floor"
shape = { half_space = { normal = [0, 1, 0] } }
[[collider]]
name = "pusher"
shape = { box = { min = [0.6, 0.02, -0.2], max = [0.85, 0.4, 0.2] } }
motion = { velocity = [-0.5, 0, 0] }
[[body]]
name = "box"
shape = { box = { center = [0.1, 0.38, 0], size = [0.22, 0.22, 0.22] } }
density = 400
spin = [0, 1, 0]
[[body]]
name = "paddle"
shape = { box = { min = [-0.32, 0.1, -0.1], max = [-0.1, 0.6, 0.1] } }
density = 2000
[[body]]
name = "plank"
shape = { capsule = { from = [0.15, 0.55, 0], to = [0.5, 0.55, 0], radius = 0.05 } }
density = 700
[[joint]]
name = "drive"
type = "revolute"
bodies = ["world", "paddle"]
anchor = [-0.2, 0.6, 0]
motor = { velocity = 60, max_force = 400 }
[[joint]]
name = "hinge"
type = "revolute"
bodies = ["pusher", "plank"]
anchor = [0.5, 0.55, 0]
limits = [-80, 80]
"#;

#[test]
fn a_resumed_run_and_any_number_of_threads_give_the_same_bytes() {
    let scene = scene(BUSY);
    let run = |threads: usize, frames: u32, from: Option<&barchan_frame::Checkpoint>| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let mut simulation = match from {
                Some(checkpoint) => Simulation::resume(&scene, checkpoint).unwrap(),
                None => Simulation::new(&scene).unwrap(),
            };
            advance(&mut simulation, frames);
            let frame = simulation.write_frame().unwrap();
            (simulation.save().unwrap(), frame)
        })
    };
    let (whole, frame) = run(1, 8, None);
    let (two, frame_two) = run(2, 8, None);
    assert_eq!(whole.columns, two.columns);
    assert_eq!(whole.record, two.record);
    assert_eq!(whole.bodies, two.bodies);
    assert_eq!(frame.record, frame_two.record);
    let (half, _) = run(2, 4, None);
    let (rest, frame_rest) = run(1, 4, Some(&half));
    assert_eq!(whole.columns, rest.columns);
    assert_eq!(whole.bodies, rest.bodies);
    assert_eq!(frame.record.bodies, frame_rest.record.bodies);
    assert_eq!(frame.record.joints, frame_rest.record.joints);
    // They do move, and sand pushes them.
    let joints = &frame.record.joints;
    assert!(!joints.is_empty());
    assert!(joints.iter().all(|j| j.position.abs() > 0.01), "{joints:?}");
    let bodies = &frame.record.bodies;
    assert!(bodies[2].force[1] > 1.0, "{bodies:?}");
    // Without its bodies a checkpoint is refused.
    let mut bare = half.clone();
    bare.bodies.clear();
    assert!(Simulation::resume(&scene, &bare).is_err());
    bare.bodies = vec![0; 3];
    assert!(Simulation::resume(&scene, &bare).is_err());
}
