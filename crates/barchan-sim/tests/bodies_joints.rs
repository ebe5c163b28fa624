//! Joints, motors and contact between bodies.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use barchan_sim::bodies::{Drag, MotorTarget};
use barchan_sim::simulation::Simulation;
use glam::Vec3;
use support::*;

fn center(simulation: &Simulation, body: usize) -> Vec3 {
    let mut colliders = simulation.colliders().clone();
    simulation.bodies().pose(&mut colliders);
    colliders.list[body].mass.unwrap().center
}

/// A thin rod on a hinge swings with T = 2π √(2 L / 3 g) at small angles.
#[test]
fn a_pendulum_keeps_time() {
    let mut simulation = start_file(
        "tests/arm.toml",
        &[
            "frame_rate=200",
            "body.arm.shape={ box = { min = [-0.01, -1, -0.01], max = [0.01, 0, 0.01] } }",
            "body.arm.spin=[0, 0, 0.2]",
            "body.arm.velocity=[0.1, 0, 0]",
        ],
    );
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
    // Negative control: the period of a point mass at the end is 22 % longer.
    assert!(period < 1.1 * expected);
}

/// A rod of 20 kg and 1 m whose shoulder has these keys.
fn arm(joint: &[&str]) -> Simulation {
    let set: Vec<String> = (joint.iter())
        .map(|key| format!("joint.shoulder.{key}"))
        .collect();
    let set: Vec<&str> = set.iter().map(String::as_str).collect();
    start_file("tests/arm.toml", &set)
}

#[test]
fn motors_hold_limits_stop_and_weak_motors_fail() {
    // Weight on the hinge: 20 kg · 9.81 · 0.5 m = 98 N m.
    let held = |joint: &[&str]| {
        let mut simulation = arm(joint);
        advance(&mut simulation, 150);
        simulation.bodies().joints()[0].clone()
    };
    let servo = held(&["motor={ position = 30 }"]);
    assert!(
        (servo.position.to_degrees() - 30.0).abs() < 1.0,
        "{servo:?}"
    );
    let load = 98.1 * 30f64.to_radians().cos();
    assert!((servo.force / load - 1.0).abs() < 0.05, "{servo:?}");
    let weak = held(&[
        "limits=[-40, 40]",
        "motor={ position = 30, max_force = 50 }",
    ]);
    assert!((weak.position.to_degrees() + 40.0).abs() < 1.0, "{weak:?}");
    let turning = held(&["motor={ velocity = 300 }"]);
    assert!(
        (turning.position.to_degrees() - 450.0).abs() < 5.0,
        "{turning:?}"
    );
    let lift = held(&[
        "type=prismatic",
        "axis=[0, 1, 0]",
        "motor={ position = 0.5 }",
    ]);
    assert!((lift.position - 0.5).abs() < 0.005, "{lift:?}");
    assert!((lift.force / 196.2 - 1.0).abs() < 0.05, "{lift:?}");
    let keyed = held(&[
        "type=prismatic",
        "axis=[1, 0, 0]",
        "motor={ position = { keyframes = [{ time = 0, value = 0 }, { time = 1, value = 0.3 }] } }",
    ]);
    assert!((keyed.position - 0.3).abs() < 0.005, "{keyed:?}");
    let fixed = {
        let mut simulation = arm(&["type=fixed"]);
        advance(&mut simulation, 100);
        center(&simulation, 0)
    };
    assert!(fixed.distance(Vec3::new(0.5, 0.0, 0.0)) < 0.005, "{fixed}");
}

#[test]
fn users_drive_joints_and_drag_bodies() {
    let mut simulation = arm(&["limits=[-90, 90]"]);
    let joint = simulation.bodies().joint_index("shoulder").unwrap();
    let mut drive = |speed: f64, steps: u32| {
        let target = MotorTarget::Velocity(speed);
        simulation.bodies_mut().set_motor(joint, target);
        for _ in 0..steps {
            simulation.step(1.0 / 60.0).unwrap();
        }
        simulation.bodies().joints()[joint].position
    };
    let driven = drive(0.5, 60);
    assert!((driven - 0.5).abs() < 0.03, "{driven}");
    let held = drive(0.0, 60);
    assert!((held - 0.5).abs() < 0.03, "held: {held}");
    // Driven beyond its limit it stops there, without windup.
    let limit = std::f64::consts::FRAC_PI_2;
    let stopped = drive(2.0, 90);
    assert!((stopped - limit).abs() < 0.03, "{stopped}");
    let back = drive(-1.0, 15);
    assert!(back < limit - 0.15, "{back}");
    // Invalid input is ignored.
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

    let mut simulation = start_file("tests/arm.toml", &["joint=[]"]);
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

/// A released body falls freely, however it was held.
#[test]
fn a_joint_is_released_at_its_time() {
    let after_a_second = |joint: &[&str]| {
        let mut simulation = arm(joint);
        advance(&mut simulation, 100);
        let force = simulation.bodies().joints()[0].force;
        (center(&simulation, 0).y, force)
    };
    let motor: &[&str] = &["type=prismatic", "axis=[0, 1, 0]", "motor={ position = 0 }"];
    for held in [&["type=fixed"], motor] {
        let (fallen, force) = after_a_second(&[held, &["release=0.5"]].concat());
        assert!(
            (fallen + 0.5 * 9.81 * 0.25).abs() < 0.03,
            "{held:?}: {fallen}"
        );
        assert_eq!(force, 0.0, "{held:?}");
        // Until its release a joint acts like one that is never released.
        let late = after_a_second(&[held, &["release=1"]].concat());
        assert_eq!(late, after_a_second(held), "{held:?}");
    }
}

/// A box falls on the floor, another on a scripted lift that carries it up; a sleeve slides over a post.
#[test]
fn bodies_collide_with_colliders_and_each_other() {
    let mut simulation = start_file("tests/rigid.toml", &[]);
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

/// golden.rs shows that resumed runs are bitwise identical.
#[test]
fn joints_move_and_checkpoints_contain_the_bodies() {
    let scene = scene_file("golden/bodies.toml", &[]);
    let mut simulation = Simulation::new(&scene).unwrap();
    advance(&mut simulation, 8);
    let record = simulation.write_frame().unwrap().record;
    let joints = &record.joints;
    assert!(!joints.is_empty());
    assert!(joints.iter().all(|j| j.position.abs() > 0.01), "{joints:?}");
    let bodies = &record.bodies;
    assert!(bodies[2].force[1] > 1.0, "{bodies:?}");
    // Without its bodies a checkpoint is refused.
    let mut bare = simulation.save().unwrap();
    assert!(Simulation::resume(&scene, &bare).is_ok());
    for bodies in [vec![], vec![0; 3]] {
        bare.record.bodies = bodies;
        assert!(Simulation::resume(&scene, &bare).is_err());
    }
}
