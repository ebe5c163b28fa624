//! The scenes of [Ihmsen13] have the paper's parameters and numbers of particles, and reproduce the effects shown in its figures, each
//! with a negative control.

#![allow(clippy::unwrap_used, reason = "a test may fail that way")]

mod paper;

use barchan::scene::SphSpec;
use glam::Vec3;
use paper::{
    assert_count, frame_of, full_count, height, load_scene, now, of_material, positions_where,
    run_to, start,
};

/// Base particles of Table 1, §5.4 and the captions.
const PARTICLES: &[(&str, &[&str], f64)] = &[
    ("bulldozer", &[], 38e3),
    ("piles", &[], 45e3),
    ("splash", &[], 83e3),
    ("spheres", &[], 96e3),
    ("rope_ladder", &[], 138e3),
    ("resolution", &["solver.resolution=0.1"], 7e3),
    ("resolution", &[], 60e3),
    ("resolution", &["solver.resolution=0.025"], 500e3),
    ("resolution_quarter", &[], 125e3),
];

/// Height of the center of mass [m], which depends less on single grains than that of the top.
fn center(grains: &[Vec3]) -> f32 {
    grains.iter().map(|p| p.y).sum::<f32>() / grains.len() as f32
}

#[test]
fn numbers_of_particles_are_those_of_the_paper() {
    for &(name, set, wanted) in PARTICLES {
        let count = full_count(&format!("ihmsen2013/{name}"), 0.5, set);
        assert_count(&format!("{name} {set:?}"), count, wanted);
    }
}

#[test]
fn parameters_are_those_of_the_paper() {
    for name in [
        "bulldozer",
        "piles",
        "splash",
        "spheres",
        "rope_ladder",
        "dry_and_wet",
    ] {
        let scene = load_scene(&format!("ihmsen2013/{name}"), 1.0, &[]);
        assert_eq!(scene.solver.family.name, "sph", "{name}");
        let solver: SphSpec = scene.settings();
        assert_eq!((solver.max_dt, solver.iterations), (1e-3, 3), "{name}");
        assert_eq!(scene.frame_rate, 50.0, "{name}");
        for material in &scene.materials {
            assert_eq!(material.density, 1602.0, "{name}");
        }
    }
}

// Figure 1.

/// Height of the sand in front of the blade at the end [m], and inside the hull.
fn pushed(set: &[&str]) -> [f32; 2] {
    // A smaller layer than in the scene: the path of the blade with a margin at its sides.
    let near = [
        "fill.layer.shape.box.min=[-2.4,0,-1.1]",
        "fill.layer.shape.box.max=[2.2,0.3,1.1]",
    ];
    let frame = frame_of("ihmsen2013/bulldozer", 0.5, &[set, &near].concat(), 160);
    let front = now(&frame, "blade", Vec3::ZERO).x;
    let between = |from: f32, to: f32| {
        let near = |p: &Vec3| (front + from..front + to).contains(&p.x) && p.z.abs() < 0.3;
        positions_where(&frame, near)
    };
    [height(&between(0.1, 0.5)), height(&between(-2.2, -0.7))]
}

#[test]
fn figure_1_the_blade_gathers_sand_and_the_machine_holds_none() {
    let [heap, under] = pushed(&[]);
    println!("Figure 1: {heap:.2} m before the blade, {under:.2} m under the machine");
    assert!(heap > 0.5, "{heap}");
    assert!(under < 0.4, "{under}");
    // Negative control: frictionless sand flows away.
    let [heap, _] = pushed(&["materials.sand.friction_angle=0"]);
    println!("  without friction {heap:.2} m");
    assert!(heap < 0.4, "{heap}");
}

// Figure 2.

#[test]
fn figure_2_the_larger_the_angle_the_taller_the_heap() {
    let heights = |set: &[&str]| {
        let frame = frame_of("ihmsen2013/piles", 0.4, set, 400);
        [0, 1, 2].map(|m| center(&of_material(&frame, m)))
    };
    let [low, middle, steep] = heights(&[]);
    println!("Figure 2: {low:.3}, {middle:.3}, {steep:.3} m");
    // With so few particles 45 and 60° cannot be distinguished: their cones have 35.3 and 40.9°.
    assert!(
        middle > 1.1 * low && steep > 1.1 * low,
        "{low} {middle} {steep}"
    );
    let [low, middle, _] = heights(&[
        "materials.middle.friction_angle=30",
        "emitter.steep.start=99",
        "emitter.steep.end=100",
    ]);
    println!("  both with 30°: {low:.3}, {middle:.3} m");
    assert!(middle < 1.1 * low, "{middle} {low}");
}

// Figure 3.

#[test]
fn figure_3_a_wet_block_keeps_together() {
    let heights = |set: &[&str]| {
        let frame = frame_of("ihmsen2013/dry_and_wet", 0.33, set, 200);
        [0, 1].map(|m| height(&of_material(&frame, m)))
    };
    let [dry, wet] = heights(&[]);
    println!("Figure 3: dry {dry:.2} m, wet {wet:.2} m");
    assert!(wet > 1.2 * dry, "{wet} {dry}");
    let [first, second] = heights(&[
        "materials.wet.sph.cohesion_intensity=0",
        "materials.wet.sph.viscosity=0.01",
    ]);
    println!("  both dry: {first:.2} m, {second:.2} m");
    assert!((second / first - 1.0).abs() < 0.05, "{second} {first}");
}

// Figure 4.

/// Number of particles 0.4 m above the sand, 0.35 s after the impact of the ball.
fn splashed(set: &[&str]) -> usize {
    let frame = frame_of("ihmsen2013/splash", 0.4, set, 20);
    positions_where(&frame, |p| p.y > 0.4).len()
}

#[test]
fn figure_4_a_fast_ball_throws_up_a_crown() {
    let (fast, slow) = (splashed(&[]), splashed(&["body.ball.velocity=[0,-1,0]"]));
    println!("Figure 4: {fast} particles in the air, {slow} with a slow ball");
    assert!(fast > 30, "{fast}");
    assert_eq!(slow, 0);
}

// Figure 5.

/// Depth below the surface of the lowest point of the light, medium and heavy ball [m].
fn sunk(set: &[&str]) -> [f32; 3] {
    let frame = frame_of("ihmsen2013/spheres", 0.4, set, 125);
    let starts = [("light", -1.1), ("medium", 0.0), ("heavy", 1.1)];
    starts.map(|(name, z)| 0.3 - now(&frame, name, Vec3::new(-1.5, 1.0, z)).y)
}

#[test]
fn figure_5_sand_supports_balls_of_any_density() {
    let [light, medium, heavy] = sunk(&[]);
    println!("Figure 5: {light:.2}, {medium:.2}, {heavy:.2} m deep");
    assert!(light < medium && medium < heavy, "{light} {medium} {heavy}");
    assert!(heavy < 0.6, "{heavy}");
    // Negative control: a liquid does not support a denser ball; the pool is 0.75 m deep, particles have 0.125 m.
    let [.., heavy] = sunk(&["materials.sand.friction_angle=0"]);
    println!("  in a liquid the heavy one {heavy:.2} m");
    assert!(heavy > 0.625, "{heavy}");
}

// Figure 6.

#[test]
fn figure_6_the_ladder_holds_until_it_is_released() {
    let mut simulation = start("ihmsen2013/rope_ladder", 0.3, &[]);
    let rung = Vec3::new(0.0, 2.2, 0.0);
    let mut height = |frame: u32| now(&run_to(&mut simulation, frame), "rung 7", rung).y;
    let (held, fallen) = (height(410), height(480));
    println!("Figure 6: rung at {held:.2} m, then at {fallen:.2} m");
    assert!((held - 2.2).abs() < 0.02, "{held}");
    assert!(fallen < 1.5, "{fallen}");
}

// §3.4.

#[test]
fn wetted_sand_stands_and_dry_sand_does_not() {
    let heights = |set: &[&str]| {
        let frame = frame_of("ihmsen2013/wetting", 0.33, set, 150);
        [false, true].map(|right| center(&positions_where(&frame, |p| (p.x > 0.0) == right)))
    };
    let [dry, wet] = heights(&[]);
    println!("wetting: dry half {dry:.2} m, wet half {wet:.2} m");
    assert!(wet > 1.3 * dry, "{wet} {dry}");
    let [left, right] = heights(&["wetting.shower.rate=0"]);
    println!("  without water: {left:.2} m, {right:.2} m");
    assert!((right / left - 1.0).abs() < 0.1, "{right} {left}");
}
