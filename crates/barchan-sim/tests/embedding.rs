//! Use of the library by an embedding program: creation from text, steps, zero-copy access to the state, joints.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[allow(dead_code, reason = "its main function is not called here")]
#[path = "../examples/bucket.rs"]
mod bucket;
mod support;

use barchan_sim::bodies::MotorTarget;
use barchan_sim::simulation::{CreateError, Simulation};
use glam::Vec3;
use support::{scene_path, start_file};

fn bed(method: &str) -> Simulation {
    let method = format!("solver.method={method}");
    start_file("tests/box_on_bed.toml", &[&method])
}

#[test]
fn positions_are_borrowed_without_a_copy() {
    let mut simulation = bed("pbd");
    for _ in 0..3 {
        simulation.step(1.0 / 60.0).unwrap();
        // Both borrows are alive at once, so copies would have different addresses.
        let (first, second) = (simulation.positions().unwrap(), simulation.view().unwrap());
        let arrays = second.arrays().unwrap();
        assert_eq!(first.as_ptr(), arrays.position.as_ptr());
        let again = simulation.view().unwrap().arrays().unwrap();
        assert_eq!(arrays.velocity.as_ptr(), again.velocity.as_ptr());
        assert_eq!(arrays.id.as_ptr(), again.id.as_ptr());
        let count = simulation.particles();
        let lengths = [first.len(), arrays.radius.len(), arrays.material.len()];
        assert_eq!(lengths, [count; 3]);
        // Negative control: a copy has another address.
        let copy = first.to_vec();
        assert_ne!(copy.as_ptr(), first.as_ptr());
    }
}

#[test]
fn a_view_shows_what_a_checkpoint_holds() {
    for (method, has_arrays) in [("pbd", true), ("sph", true), ("mpm", false)] {
        let mut simulation = bed(method);
        for _ in 0..4 {
            simulation.step(1.0 / 60.0).unwrap();
        }
        let view = simulation.view().unwrap();
        let mut seen: Vec<_> = view
            .iter()
            .map(|p| (p.id, p.position, p.velocity))
            .collect();
        assert_eq!(
            (seen.len(), view.len()),
            (simulation.particles(), seen.len())
        );
        assert!(!view.is_empty() && view.arrays().is_some() == has_arrays);
        seen.sort_by_key(|(id, _, _)| *id);
        let frame = simulation.write_frame().unwrap();
        let ids = frame.column("id").unwrap().data.as_u32().unwrap();
        let vectors = |name: &str| frame.column(name).unwrap().data.as_f32().unwrap();
        let (x, v) = (
            vectors("position").as_chunks::<3>().0,
            vectors("velocity").as_chunks::<3>().0,
        );
        let mut written: Vec<_> = (0..ids.len())
            .map(|i| (ids[i], Vec3::from_array(x[i]), Vec3::from_array(v[i])))
            .collect();
        written.sort_by_key(|(id, _, _)| *id);
        assert_eq!(seen, written, "{method}");
    }
}

#[test]
fn drained_particles_are_not_in_the_view() {
    for method in ["pbd", "sph", "mpm"] {
        let drain = "drain=[{ shape = { box = { min = [0, -1, -1], max = [1, 1, 1] } } }]";
        let method = format!("solver.method={method}");
        let mut simulation = start_file("tests/box_on_bed.toml", &[&method, drain]);
        let before = simulation.particles();
        simulation.step(1.0 / 60.0).unwrap();
        let view = simulation.view().unwrap();
        assert!(view.iter().all(|p| p.position.x <= 0.0), "{method}");
        let counts = [view.len(), view.iter().count()];
        assert_eq!(counts, [simulation.particles(); 2], "{method}");
        let drained = simulation.counters().drained[0] as usize;
        assert!(drained > before / 3, "{method}");
        assert_eq!(view.len() + drained, before, "{method}");
    }
}

#[test]
fn bodies_are_found_by_name_with_their_pose_and_reaction() {
    let mut simulation = bed("pbd");
    let body = simulation.body_index("box").unwrap();
    assert_eq!(simulation.body_index("floor"), Some(0));
    assert_eq!(simulation.body_index("crate"), None);
    assert_eq!(simulation.pose(7), None);
    for _ in 0..60 {
        simulation.step(1.0 / 60.0).unwrap();
    }
    // The box has fallen by 15 cm and is at rest, and the grains support its weight.
    let fallen = simulation.pose(body).unwrap().position.y;
    assert!((-0.3..-0.1).contains(&fallen), "{fallen}");
    let mut mean = 0.0;
    for _ in 0..60 {
        simulation.step(1.0 / 60.0).unwrap();
        mean += simulation.reaction(body).force.y / 60.0;
    }
    assert!((mean / (30.0 * 9.81) - 1.0).abs() < 0.05, "{mean}");
    assert_eq!(simulation.terrain_height(0.0, 0.0), None);
}

#[test]
fn errors_in_a_scene_are_reported() {
    let right = std::fs::read_to_string(scene_path("tests/box_on_bed.toml")).unwrap();
    assert!(Simulation::from_toml(&right).is_ok());
    let wrong = right.replace("mass = 30", "mas = 30");
    let error = Simulation::from_toml(&wrong).err().unwrap();
    assert!(format!("{error:?}").contains("mas"), "{error:?}");
    assert!(Simulation::from_file("no such scene.toml").is_err());
    for (from, to, line, marked) in [
        ("method = \"pbd\"", "method = \"pbd\"\nmpm.cfl = 2", 4, "2"),
        (
            "[solver]",
            "output = { columns = [\"hardening\"] }\n[solver]",
            2,
            "[\"hardening\"]",
        ),
        (
            "max = [0.4, 0.3, 0.4]",
            "max = [0.4, 1e-4, 0.4]",
            14,
            "{ box = { min = [-0.4, 0, -0.4], max = [0.4, 1e-4, 0.4] } }",
        ),
    ] {
        let Err(CreateError::Scene(errors)) = Simulation::from_toml(&right.replace(from, to))
        else {
            panic!("{to} should be refused with its line");
        };
        let error = &errors.errors()[0];
        assert_eq!(error.marked(), Some(marked), "{error}");
        assert_eq!(
            error.location().as_deref(),
            Some(&*format!("scene.toml:{line}"))
        );
    }
}

#[test]
fn the_example_measures_digging_forces_in_forty_lines() {
    let text = include_str!("../examples/bucket.rs");
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
    let lines = text.lines().filter(is_code).count();
    assert!(lines <= 40, "{lines}");
    let mut shown = Vec::new();
    let most = bucket::dig(|line| shown.push(line)).unwrap();
    // A cutting edge of 0.8 m, 0.2 m deep: hundreds to thousands of newtons; none before contact.
    assert!((200.0..50_000.0).contains(&most), "{most} {shown:#?}");
    assert!(shown[0].contains(": 0 grains, [0, 0, 0] N"), "{}", shown[0]);
}

const JOINTS: [&str; 3] = ["digger/shoulder", "digger/elbow", "digger/wrist"];

#[test]
fn an_arm_of_three_hinges_digs_and_reaches_its_targets() {
    let mut simulation = Simulation::from_file(scene_path("tests/digger.toml")).unwrap();
    let bucket = simulation.body_index("digger/bucket").unwrap();
    let mut digs = 0.0f64;
    // Into the bed, through it, and out again: shoulder, elbow, wrist [rad].
    for (aims, seconds) in [
        ([0.0, -1.2, -0.4], 1.5),
        ([-0.15, -1.5, -0.8], 1.5),
        ([0.6, -1.0, 0.3], 2.0),
    ] {
        for (joint, aim) in JOINTS.iter().zip(aims) {
            let joint = simulation.bodies().joint_index(joint).unwrap();
            let target = MotorTarget::Position(aim);
            simulation.bodies_mut().set_motor(joint, target);
        }
        for _ in 0..(60.0 * seconds) as usize {
            simulation.step(1.0 / 60.0).unwrap();
            digs = digs.max(simulation.reaction(bucket).force.length());
            let arrays = simulation.view().unwrap().arrays().unwrap();
            assert!(arrays.position.iter().all(|p| p.is_finite()));
            assert!(arrays.velocity.iter().all(|v| v.length() < 30.0));
        }
        for (joint, aim) in JOINTS.iter().zip(aims) {
            let index = simulation.bodies().joint_index(joint).unwrap();
            let joint = &simulation.bodies().joints()[index];
            assert!((joint.position - aim).abs() < 0.05, "{joint:?}: {aim}");
        }
    }
    assert!(digs > 50.0, "{digs}");
    // Negative control: the force is small out of the soil.
    assert!(simulation.reaction(bucket).force.length() < 0.2 * digs);
}
