//! Boundary friction of pbd: cases D1–D3 of docs/validation.md with one grain, which does not turn, and controls.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use barchan_sim::simulation::Simulation;
use glam::Vec3;
use support::grains::{Grain, grains, place};
use support::{advance, start, tilted};

const G: f64 = 9.81;
const RADIUS: f32 = 0.05;
const SCHEMES: [&str; 3] = ["mass splitting", "averaged", "gauss-seidel"];

/// A grain at rest on a plane, in steps of `dt` [s]; gravity leans so that the plane is an incline down toward +x.
fn on_plane(scheme: &str, dt: f64, degrees: f64, plane: &str) -> Simulation {
    let mut run = start(&format!(
        r#"
frame_rate = 60
gravity = {}
[solver]
method = "pbd"
resolution = {}
[solver.pbd]
scheme = "{scheme}"
dt = {dt}
radius_spread = 0
sleep_threshold = 0
[[collider]]
shape = {{ half_space = {{ normal = [0, 1, 0] }} }}
{plane}
[[fill]]
material = "dry sand"
sampling = "lattice"
shape = {{ box = {{ min = [0, 0, 0], max = [0.08, 0.12, 0.08] }} }}
"#,
        tilted(degrees),
        2.0 * RADIUS
    ));
    place(&mut run, &[Vec3::new(0.0, RADIUS, 0.0)]);
    run
}

fn grain(run: &mut Simulation) -> Grain {
    grains(run)[0]
}

// ---- D1 ----

/// Acceleration [m/s²] between half a second and one and a half.
fn acceleration(scheme: &str, degrees: f64, friction: f64) -> f64 {
    let mut run = on_plane(
        scheme,
        1.0 / 60.0,
        degrees,
        &format!("friction = {friction}"),
    );
    advance(&mut run, 30);
    let before = grain(&mut run).v.x;
    advance(&mut run, 60);
    f64::from(grain(&mut run).v.x - before)
}

#[test]
fn d1_a_grain_slides_as_coulomb_says() {
    for scheme in SCHEMES {
        for (degrees, friction, exact) in [
            (30.0, 0.2, 3.2059),
            (30.0, 0.4, 1.5067),
            (40.0, 0.5, 2.5483),
        ] {
            let a = acceleration(scheme, degrees, friction);
            println!("D1 {scheme} ({degrees}°, {friction}): {a:.4} m/s², exact {exact}");
            assert!((a / exact - 1.0).abs() < 0.02, "{scheme}: {a} {exact}");
        }
        assert!(acceleration(scheme, 25.0, 0.5).abs() < 1e-5);
        // The threshold, within half a degree on either side.
        let limit = 0.5f64.atan().to_degrees();
        assert!(acceleration(scheme, limit - 0.5, 0.5).abs() < 1e-5);
        assert!(acceleration(scheme, limit + 0.5, 0.5) > 0.05);
        // Negative control: without friction it misses the band.
        let smooth = acceleration(scheme, 30.0, 0.0);
        assert!((smooth / 3.2059 - 1.0).abs() > 0.02, "{smooth}");
    }
}

// ---- D2 ----

/// Way [m] in ten seconds, after one to come to rest.
fn drift(scheme: &str, degrees: f64) -> f64 {
    let mut run = on_plane(scheme, 1.0 / 60.0, degrees, "friction = 0.5");
    advance(&mut run, 60);
    let before = grain(&mut run).x;
    advance(&mut run, 600);
    f64::from(grain(&mut run).x.distance(before))
}

#[test]
fn d2_a_grain_that_sticks_does_not_creep() {
    for scheme in SCHEMES {
        let way = drift(scheme, 25.0);
        println!("D2 {scheme}: {way:e} m in 10 s");
        assert!(way < 0.05 * f64::from(RADIUS), "{scheme}: {way}");
        // Negative control: a degree above the limit of 26.6° it goes far beyond that.
        assert!(drift(scheme, 27.6) > 0.05 * f64::from(RADIUS));
    }
}

// ---- D3 ----

#[test]
fn d3_a_belt_takes_the_grain_along() {
    let (speed, mu) = (1.0, 0.3);
    let slipped = speed * speed / (2.0 * mu * G);
    for scheme in SCHEMES {
        // Velocities are those of the end of a step, which shortens the slip by V Δt/2: 5 % of it with steps of 1/60 s.
        // Ten substeps have a tenth of that.
        let dt = match scheme {
            "mass splitting" => 1.0 / 60.0,
            _ => 1.0 / 240.0,
        };
        let belt = format!("friction = {mu}\nmotion = {{ velocity = [{speed}, 0, 0] }}");
        let mut run = on_plane(scheme, dt, 0.0, &belt);
        for frame in [5, 10, 15] {
            let now = run.frame();
            advance(&mut run, frame - now);
            let v = f64::from(grain(&mut run).v.x);
            let exact = mu * G * run.time();
            assert!((v / exact - 1.0).abs() < 0.03, "{scheme}: {v} {exact}");
        }
        for frame in [30, 120] {
            let now = run.frame();
            advance(&mut run, frame - now);
            let all = grain(&mut run);
            let (x, v) = (f64::from(all.x.x), f64::from(all.v.x));
            let slip = speed * run.time() - x;
            println!("D3 {scheme}, frame {frame}: v = {v:.5}, slip {slip:.4} of {slipped:.4} m");
            assert!((v / speed - 1.0).abs() < 0.03, "{scheme}: {v}");
            assert!((slip / slipped - 1.0).abs() < 0.03, "{scheme}: {slip}");
        }
        // Negative control: friction against the world is friction against a belt at rest.
        let mut still = on_plane(scheme, dt, 0.0, &format!("friction = {mu}"));
        advance(&mut still, 15);
        assert!(grain(&mut still).v.x.abs() < 1e-5);
    }
}
