//! The scenes of [Holz14] reproduce the effects shown in its figures, each with a negative control.

#![allow(clippy::unwrap_used, reason = "a test may fail that way")]

mod paper;

use barchan::sim::simulation::Simulation;
use glam::Vec3;
use paper::{frame_of, height, now, of_material, positions, run_to, start};

/// Position [rad or m] of a joint.
fn joint(simulation: &Simulation, name: &str) -> f64 {
    let bodies = simulation.bodies();
    bodies.joints()[bodies.joint_index(name).unwrap()].position
}

// Figure 2.

/// Largest deviation of the heights of both grains from backward Euler [m].
fn off_backward_euler(set: &[&str]) -> [f64; 2] {
    let mut simulation = start("holz2014/drop", 1.0, set);
    let springs = [(1000.0, 100.0), (100.0, 0.0)];
    let (mut z, mut v, dt, r) = ([0.15f64; 2], [0.0f64; 2], 0.01, 0.05);
    let mut off = [0.0f64; 2];
    for frame in 1..=150 {
        let grains = run_to(&mut simulation, frame);
        for (i, (k, c)) in springs.into_iter().enumerate() {
            let free = v[i] - dt * 9.81;
            v[i] = match z[i] + dt * free <= r {
                true => (free - dt * k * (z[i] - r)) / (1.0 + dt * c + dt * dt * k),
                false => free,
            };
            z[i] += dt * v[i];
            let ours = f64::from(of_material(&grains, i)[0].y);
            off[i] = off[i].max((ours - z[i]).abs());
        }
    }
    off
}

#[test]
fn figure_2_a_grain_on_a_spring_and_damper_follows_backward_euler() {
    for iterations in ["solver.pbd.iterations=5", "solver.pbd.iterations=1"] {
        let off = off_backward_euler(&[iterations]);
        assert!(off[0] < 1e-5 && off[1] < 1e-4, "{iterations}: {off:?}");
    }
    // Negative control: error reduction lifts the grain more than the spring does.
    let off = off_backward_euler(&["solver.pbd.error_reduction=0.5"]);
    assert!(off[0] > 1e-3 && off[1] > 1e-3, "{off:?}");
}

// Figure 3.

#[test]
fn figure_3_friction_and_adhesion_make_heaps_steeper() {
    let heights = |set: &[&str]| {
        let frame = frame_of("holz2014/repose", 1.0, set, 210);
        [0, 1, 2].map(|m| height(&of_material(&frame, m)))
    };
    let [smooth, rough, cohesive] = heights(&[]);
    assert!(rough > 1.2 * smooth, "{rough} {smooth}");
    assert!(cohesive > 1.1 * smooth, "{cohesive} {smooth}");
    // Negative control: with the same friction and no adhesion all three heaps are equal.
    let [first, second, third] = heights(&[
        "materials.rough.friction_angle=5",
        "materials.cohesive.pbd.adhesion=0",
    ]);
    assert!((second / first - 1.0).abs() < 0.1, "{second} {first}");
    assert!((third / first - 1.0).abs() < 0.1, "{third} {first}");
}

// Figure 4.

/// Rotation of the wheel [rad], tilt of the plank [rad], and displacement of the last weight [m].
fn wheel_and_plank(set: &[&str]) -> (f64, f64, f32) {
    let mut simulation = start("holz2014/wheel_and_plank", 1.0, set);
    let frame = run_to(&mut simulation, 180);
    let place = Vec3::new(-1.44, 0.83, 0.0);
    let slid = now(&frame, "weight 1", place).distance(place);
    (
        joint(&simulation, "axle"),
        joint(&simulation, "pivot"),
        slid,
    )
}

#[test]
fn figure_4_grains_turn_the_wheel_and_tilt_the_plank() {
    let (turn, tilt, slid) = wheel_and_plank(&[]);
    assert!(turn < -std::f64::consts::TAU, "{turn}");
    assert!(tilt < -0.3, "{tilt}");
    assert!(slid > 0.8, "{slid}");
    // Negative control: without grains the wheel is at rest and the plank does not tilt.
    let (turn, tilt, slid) = wheel_and_plank(&["emitter.spout.start=90", "emitter.spout.end=91"]);
    assert!(turn.abs() < 0.01, "{turn}");
    assert!(tilt > 0.1, "{tilt}");
    assert!(slid < 0.3, "{slid}");
}

// Figure 5.

#[test]
fn figure_5_slopes_by_solver_and_error_reduction() {
    let slope = |set: &[&str]| height(&positions(&frame_of("holz2014/slopes", 0.7, set, 210)));
    let reduced = slope(&[]);
    let averaged = slope(&["solver.pbd.error_reduction=0"]);
    let more = slope(&["solver.pbd.error_reduction=0", "solver.pbd.iterations=40"]);
    let sequential = slope(&[
        "solver.pbd.error_reduction=0",
        "solver.pbd.scheme=gauss-seidel",
    ]);
    assert!(more > 1.1 * averaged, "{more} {averaged}");
    assert!(sequential > 1.1 * averaged, "{sequential} {averaged}");
    assert!(reduced > 1.3 * averaged, "{reduced} {averaged}");
}

// Figure 6.

/// Mass of grains in and at the bucket [kg]: with the load lifted, turned over and held, and after shaking.
fn loads(set: &[&str]) -> [f32; 3] {
    let mut simulation = start("holz2014/loam", 1.0, set);
    [225, 334, 425].map(|number| {
        let frame = run_to(&mut simulation, number);
        let middle = now(&frame, "bucket", Vec3::new(3.98, 0.6, -0.05));
        let masses = frame.column("mass").unwrap().data.as_f32().unwrap();
        let grains = positions(&frame).into_iter().zip(masses);
        let near = grains.filter(|(p, _)| p.distance(middle) < 0.7);
        near.map(|(_, m)| *m).sum()
    })
}

#[test]
fn figure_6_loam_sticks_to_the_bucket_until_it_is_shaken() {
    let [lifted, held, shaken] = loads(&[]);
    println!("Figure 6: {lifted:.0} kg lifted, {held:.1} kg held, {shaken:.1} kg after shaking");
    assert!(lifted > 200.0, "{lifted}");
    assert!(held > 0.01 * lifted, "{held} of {lifted}");
    assert!(shaken < 0.5 * held, "{shaken} of {held}");
    let [lifted, held, _] = loads(&["materials.loam.pbd.adhesion=0"]);
    assert!(lifted > 200.0, "{lifted}");
    assert!(held < 0.001 * lifted, "{held} of {lifted}");
}

// Figure 7.

/// Mean height of the surface of the bed [m] along the blade's path: beside it on either side, and on it.
fn ridges(set: &[&str]) -> [f32; 3] {
    let frame = frame_of("holz2014/ridges", 0.8, set, 205);
    let radii = frame.column("radius").unwrap().data.as_f32().unwrap();
    let tops: Vec<Vec3> = positions(&frame)
        .iter()
        .zip(radii)
        .map(|(p, r)| *p + *r * Vec3::Y)
        .collect();
    let surface = |from: f32, to: f32| {
        let along = (0..20).map(|i| -1.3 + 0.1 * i as f32);
        let highest = along.map(|x| {
            let here = |p: &&Vec3| (p.x - x).abs() < 0.05 && p.z > from && p.z < to;
            let heights = tops.iter().filter(here).map(|p| p.y);
            heights.fold(f32::NEG_INFINITY, f32::max)
        });
        highest.sum::<f32>() / 20.0
    };
    [
        surface(-0.85, -0.7),
        surface(-0.075, 0.075),
        surface(0.7, 0.85),
    ]
}

#[test]
fn figure_7_a_blade_leaves_a_ridge_at_each_side() {
    // Negative control: the same blade, passing above the bed.
    let above = "collider.blade.shape.translate=[0,0.5,0]";
    let old = ridges(&[above]);
    let [left, middle, right] = ridges(&[]);
    let moved = [left - old[0], middle - old[1], right - old[2]];
    println!("Figure 7: surface higher by {moved:.3?} m on the left, in the middle, on the right");
    assert!(left > old[0] + 0.05, "{left} {old:?}");
    assert!(right > old[2] + 0.05, "{right} {old:?}");
    let deeper = old[1] - middle;
    assert!((0.08..0.25).contains(&deeper), "{middle} {old:?}");
    // Without a pass, neither side is higher than the middle.
    let spread = old.iter().fold(0.0f32, |s, h| s.max((h - old[1]).abs()));
    assert!(spread < 0.03, "{old:?}");
}
