//! Many contacts at once in pbd: cases J7 and J8 of docs/validation.md, with their negative controls.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use barchan_sim::simulation::Simulation;
use glam::Vec3;
use support::grains::{forces, grains, place};
use support::{advance, start};

const G: f64 = 9.81;
const RADIUS: f32 = 0.05;

/// Grains of the same size over floors y = 0; one of them, to be put in place.
fn scene(solver: &str, stiffness: f64, gravity: f64, floors: usize) -> String {
    let floor = "[[collider]]\nshape = { half_space = { normal = [0, 1, 0] } }\nfriction = 0\n";
    format!(
        r#"
frame_rate = 60
gravity = [0, {}, 0]
[solver]
method = "pbd"
resolution = {}
[solver.pbd]
radius_spread = 0
sleep_threshold = 0
{solver}
[materials.sand]
preset = "dry sand"
[materials.sand.pbd]
stiffness = {stiffness}
[[fill]]
material = "sand"
sampling = "lattice"
shape = {{ box = {{ min = [0, 0, 0], max = [0.08, 0.12, 0.08] }} }}
{}
"#,
        -gravity,
        2.0 * RADIUS,
        floor.repeat(floors)
    )
}

// ---- J7 ----

/// Ten grains that just touch, one above the other on the floor.
fn stack(solver: &str, stiffness: f64) -> Simulation {
    let mut run = start(&scene(solver, stiffness, G, 1));
    let places: Vec<Vec3> = (0..10)
        .map(|i| Vec3::new(0.0, RADIUS * (1.0 + 2.0 * i as f32), 0.0))
        .collect();
    place(&mut run, &places);
    run
}

/// By how much the stack is lower than grains that do not give way [radii], mean of the last three of ten seconds: with
/// few passes averaging hardly comes to rest.
fn sunk(scheme: &str, iterations: u32, reduction: f64) -> f64 {
    let solver =
        format!("scheme = \"{scheme}\"\niterations = {iterations}\nerror_reduction = {reduction}");
    let mut run = stack(&solver, 1e6);
    advance(&mut run, 420);
    let depth = |run: &mut Simulation| {
        advance(run, 1);
        let top = grains(run).iter().map(|g| g.x.y).fold(f32::MIN, f32::max);
        f64::from((19.0 * RADIUS - top) / RADIUS)
    };
    (0..180).map(|_| depth(&mut run)).sum::<f64>() / 180.0
}

#[test]
fn j7_gauss_seidel_sinks_less_than_averaging_and_error_reduction_helps() {
    for iterations in [10, 20, 40] {
        let seidel = sunk("gauss-seidel", iterations, 0.0);
        let plain = sunk("averaged", iterations, 0.0);
        let reduced = sunk("averaged", iterations, 0.5);
        println!(
            "J7 {iterations} passes: sunk by {seidel:.3} radii (gauss-seidel), {plain:.3} (averaged), {reduced:.3} (averaged, ε = 0.5)"
        );
        assert!(
            seidel > 0.0 && seidel < plain,
            "{iterations}: {seidel} {plain}"
        );
        assert!(
            reduced > 0.0 && reduced < plain,
            "{iterations}: {reduced} {plain}"
        );
    }
    // Negative control: the order is not one that any two runs have; with ε it turns round.
    assert!(sunk("gauss-seidel", 10, 0.0) > sunk("averaged", 10, 0.5));
}

#[test]
#[ignore = "with k = 1e7 N/m and ten passes it still hops at 0.9 m/s after 10 s; see docs/validation.md"]
fn j7_a_stiff_stack_comes_to_rest_with_gauss_seidel() {
    let mut run = stack("scheme = \"gauss-seidel\"", 1e7);
    advance(&mut run, 600);
    let fastest = grains(&mut run)
        .iter()
        .map(|g| g.v.length())
        .fold(0.0, f32::max);
    assert!(fastest < 0.1, "{fastest} m/s");
}

/// Height of the highest grain [m] of a smooth 2D bed, 0.1 m deep, after a second.
fn top_of_bed(stiffness: f64) -> f32 {
    let mut run = start(&format!(
        r#"
dimensions = 2
frame_rate = 20
[solver]
method = "pbd"
resolution = 0.008
[solver.pbd]
dt = {}
substeps = 20
[materials.sand]
preset = "dry sand"
friction_angle = 0
[materials.sand.pbd]
stiffness = {stiffness}
[[fill]]
material = "sand"
shape = {{ box = {{ min = [0, 0], max = [0.4, 0.1] }} }}
[[collider]]
shape = {{ half_space = {{ normal = [0, 1] }} }}
[[collider]]
shape = {{ half_space = {{ normal = [1, 0] }} }}
[[collider]]
shape = {{ half_space = {{ point = [0.4, 0], normal = [-1, 0] }} }}
"#,
        1.0 / 480.0
    ));
    advance(&mut run, 20);
    grains(&mut run).iter().map(|g| g.x.y).fold(0.0, f32::max)
}

#[test]
fn a_smooth_bed_comes_to_rest_just_below_the_stiffness_that_substeps_follow() {
    for stiffness in [1e4, 3e4, 1e5, 2e5, 3e5, 1e7] {
        println!(
            "k = {stiffness:e} N/m: top at {:.3} m",
            top_of_bed(stiffness)
        );
    }
    assert!(top_of_bed(1e7) < 0.11);
    assert!(top_of_bed(3e5) < 0.11);
}

/// Ten springs of stiffness k: N m g/k at the floor and half of it for pairs, where the stiffest that substeps follow is
/// that of the reduced mass.
#[test]
fn j7_mass_splitting_sinks_by_what_its_springs_give_way() {
    let followed = |w: f64| (std::f64::consts::TAU / (20.0 / 600.0)).powi(2) / w;
    let mass = f64::from(grains(&mut stack("", 1e6))[0].mass);
    let pairs: f64 = (1..10).map(f64::from).sum();
    let exact = mass * G * (10.0 / followed(1.0 / mass) + pairs / followed(2.0 / mass));
    let exact = exact / f64::from(RADIUS);
    let sunk = sunk("mass splitting", 1, 0.0);
    println!("J7 mass splitting: sunk by {sunk:.4} radii, its springs {exact:.4}");
    assert!((sunk / exact - 1.0).abs() < 0.01, "{sunk} {exact}");
    // Negative control: averaging sinks by far more than the springs of the scene do.
    let springs = mass * G * 55.0 / 1e6 / f64::from(RADIUS);
    assert!(self::sunk("averaged", 10, 0.0) > 10.0 * springs);
}

/// Momentum [kg m/s] beyond what gravity gives that a step adds to two grains that overlap, and m λ/Δt.
fn gained(scheme: &str, reduction: f64, lean: f32) -> (f64, f64) {
    let solver = format!("scheme = \"{scheme}\"\nerror_reduction = {reduction}");
    let mut run = start(&scene(&solver, 1e5, G, 0));
    let apart = 1.9 * RADIUS * Vec3::new(lean.sin(), lean.cos(), 0.0);
    place(&mut run, &[Vec3::ZERO, apart]);
    advance(&mut run, 1);
    let all = grains(&mut run);
    let mass = f64::from(all[0].mass);
    let momentum = mass * (all[0].v + all[1].v).as_dvec3();
    let apart_by = (all[1].v - all[0].v).as_dvec3().length();
    let fall = glam::DVec3::new(0.0, -2.0 * mass * G / 60.0, 0.0);
    ((momentum - fall).length(), mass * apart_by)
}

#[test]
fn j7_error_reduction_adds_momentum_as_the_formula_says() {
    for (reduction, lean) in [(0.5, 0.0), (0.25, 0.0), (0.5, 1.0)] {
        let (gained, push) = gained("averaged", reduction, lean);
        let exact = push * reduction * f64::from(lean.cos());
        println!(
            "J7 ε = {reduction}, {lean} rad: {gained:.5} kg m/s, m λ ε (−n·ĝ)/Δt = {exact:.5}"
        );
        assert!((gained / exact - 1.0).abs() < 1e-3, "{gained} {exact}");
    }
    // Negative control: without it nothing is added.
    for scheme in ["averaged", "gauss-seidel", "mass splitting"] {
        let (gained, push) = gained(scheme, 0.0, 0.0);
        assert!(gained < 1e-4 * push, "{scheme}: {gained} {push}");
    }
}

// ---- J8 ----

/// Penetration [m] of a grain that rests on floors, and force on all of them [N].
fn rests_on(floors: usize, scheme: &str, stiffness: f64) -> (f64, f64) {
    let solver = format!("scheme = \"{scheme}\"\nerror_reduction = 0");
    let mut run = start(&scene(&solver, stiffness, G, floors));
    place(&mut run, &[Vec3::new(0.0, RADIUS, 0.0)]);
    advance(&mut run, 600);
    let depth = f64::from(RADIUS - grains(&mut run)[0].x.y);
    let force: f64 = forces(&mut run).iter().map(|f| -f.y).sum();
    (depth, force)
}

#[test]
fn j8_two_floors_halve_the_load_where_masses_are_split() {
    // Soft enough for substeps to follow.
    let stiffness = 1e4;
    let mass = f64::from(grains(&mut start(&scene("", stiffness, G, 1)))[0].mass);
    let exact = mass * G / (2.0 * stiffness);
    let ratio = |scheme: &str| {
        let (depth, force) = rests_on(2, scheme, stiffness);
        let (depth, force) = (depth / exact, force / (mass * G));
        println!("J8 {scheme}: {depth:.4} of the exact penetration, {force:.5} of the weight");
        assert!((force - 1.0).abs() < 1e-3, "{scheme}: {force}");
        let (alone, _) = rests_on(1, scheme, stiffness);
        assert!((alone / (2.0 * exact) - 1.0).abs() < 0.01, "{alone}");
        depth
    };
    assert!((ratio("mass splitting") - 1.0).abs() < 0.01);
    // Averaging halves what each floor gives: the documented limit of the paper's scheme, and the negative control.
    assert!((ratio("averaged") - 2.0).abs() < 0.02);
    // The factors of Eq. 28 are those of a contact that is alone: two in turn are more than twice as stiff.
    assert!(ratio("gauss-seidel") < 1.0);
}
