//! Forces of soil on walls and blades and spheres on sand with pbd: cases G4, G5 and G7 of docs/validation.md, with the
//! bulk friction angle that they are judged by.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use barchan_sim::simulation::Simulation;
use glam::{Quat, Vec3};
use support::grains::{grains, named_forces};
use support::{advance, start};

const G: f64 = 9.81;
const DENSITY: f64 = 1600.0;

/// What all 2D scenes have: stiff grains of that mean radius [m] and contact friction angle [degrees].
fn head(radius: f64, contact_angle: f64, gravity: f64, frame_rate: u32, seed: u32) -> String {
    format!(
        r#"
dimensions = 2
frame_rate = {frame_rate}
gravity = [0, {}]
seed = {seed}
[solver]
method = "pbd"
radius = {radius}
dt = {}
substeps = 20
[materials.sand]
preset = "dry sand"
friction_angle = {contact_angle}
stiffness = 1e7
"#,
        -gravity,
        1.0 / if radius < 0.003 { 960.0 } else { 480.0 }
    )
}

fn force_on(run: &mut Simulation, name: &str) -> glam::DVec3 {
    named_forces(run)
        .into_iter()
        .find(|(n, _)| n == name)
        .unwrap()
        .1
}

// ---- The bulk friction angle ----

/// A biaxial test without rotation of the platens: the lid comes down, both sides hold a constant force, all smooth.
/// Returns axial strain and mobilised angle asin((σ₁ − σ₃)/(σ₁ + σ₃)) [degrees].
fn biaxial(radius: f64, contact_angle: f64, seed: u32) -> Vec<[f64; 2]> {
    let (width, height, pressure) = (0.3, 0.6, 5000.0);
    let side = |name: &str, x: f64, sign: f64| {
        format!(
            r#"
[[body]]
name = "{name}"
mass = 20
friction = 0
collides = false
shape = {{ box = {{ min = [{}, 0], max = [{}, 0.7] }} }}
[[joint]]
type = "prismatic"
bodies = ["world", "{name}"]
axis = [1, 0, 0]
motor = {{ velocity = {}, max_force = {} }}
"#,
            x - 0.05,
            x + 0.05,
            sign * 10.0,
            pressure * height
        )
    };
    let text = format!(
        r#"{}
[[fill]]
material = "sand"
shape = {{ box = {{ min = [0, 0], max = [{width}, {height}] }} }}
[[collider]]
name = "base"
shape = {{ half_space = {{ normal = [0, 1] }} }}
friction = 0
[[collider]]
name = "lid"
shape = {{ box = {{ min = [-0.5, {height}], max = [0.8, 0.8] }} }}
friction = 0
motion = {{ velocity = [0, -0.03], start = 1 }}
{}{}"#,
        head(radius, contact_angle, 0.5, 20, seed),
        side("left", -0.05, 1.0),
        side("right", width + 0.05, -1.0)
    );
    let mut run = start(&text);
    let mut path = vec![];
    for frame in 1..=160 {
        advance(&mut run, 1);
        let all = grains(&mut run);
        let edge = |sign: f32| {
            let reach = all.iter().map(|g| sign * g.x.x + g.radius);
            f64::from(reach.fold(f32::MIN, f32::max))
        };
        let now = height - 0.03 * (f64::from(frame) / 20.0 - 1.0).max(0.0);
        let axial = force_on(&mut run, "lid").y / (edge(1.0) + edge(-1.0));
        let lateral = 0.5 * (force_on(&mut run, "right").x - force_on(&mut run, "left").x) / now;
        let sine = (axial - lateral) / (axial + lateral);
        path.push([1.0 - now / height, sine.asin().to_degrees()]);
    }
    path
}

#[test]
fn trace_biaxial() {
    for radius in [0.008, 0.002] {
        let path = wall(radius, 20.0, 0.1, 0.02, 1);
        println!(
            "wall 20 radius {radius}: {:.1} {:.1} {:.1}",
            passive_angle(mean(&path, 0.05, 0.1)),
            passive_angle(mean(&path, 0.05, 0.2)),
            passive_angle(mean(&path, 0.2, 0.4))
        );
    }
    for radius in [0.015, 0.006] {
        let path = biaxial(radius, 20.0, 1);
        println!(
            "biaxial radius {radius}: {:.1} {:.1} {:.1} {:.1}",
            mean(&path, 0.05, 0.1),
            mean(&path, 0.1, 0.2),
            mean(&path, 0.2, 0.3),
            mean(&path, 0.1, 0.3)
        );
    }
}

// ---- G4 ----

/// Pushes a smooth wall into a bed of depth `depth` [m] at `speed` [m/s] (negative: away from it). Returns displacements in depths
/// and forces in ½ ρ g d².
fn wall(radius: f64, contact_angle: f64, depth: f64, speed: f64, seed: u32) -> Vec<[f64; 2]> {
    let length = 8.0 * depth;
    let text = format!(
        r#"{}
[[fill]]
material = "sand"
shape = {{ box = {{ min = [0, 0], max = [{length}, {depth}] }} }}
[[collider]]
name = "floor"
shape = {{ half_space = {{ normal = [0, 1] }} }}
friction = 0.6
[[collider]]
name = "end"
shape = {{ half_space = {{ point = [{length}, 0], normal = [-1, 0] }} }}
friction = 0
[[collider]]
name = "wall"
shape = {{ box = {{ min = [{}, {}], max = [0, {}] }} }}
friction = 0
motion = {{ velocity = [{speed}, 0], start = 1 }}
"#,
        head(radius, contact_angle, G, 20, seed),
        -depth,
        -depth,
        3.0 * depth
    );
    let mut run = start(&text);
    advance(&mut run, 20);
    let bed = Bed::of(&mut run, length);
    let unit = 0.5 * bed.density * G * bed.depth * bed.depth;
    println!(
        "bed {bed:?}, {} grains, unit {unit:.1} N/m",
        run.particles()
    );
    let frames = (0.4 * depth / speed.abs() * 20.0) as u32;
    (1..=frames)
        .map(|frame| {
            advance(&mut run, 1);
            let force = -force_on(&mut run, "wall").x;
            let way = (f64::from(frame) - 0.5) / 20.0 * speed.abs() / bed.depth;
            [way, force / unit]
        })
        .collect()
}

/// A level bed at rest.
#[derive(Debug)]
struct Bed {
    /// Twice the height of the centre of mass [m].
    depth: f64,
    /// Bulk density [kg/m³].
    density: f64,
}

impl Bed {
    fn of(run: &mut Simulation, length: f64) -> Self {
        let all = grains(run);
        let mass: f64 = all.iter().map(|g| f64::from(g.mass)).sum();
        let moment: f64 = all.iter().map(|g| f64::from(g.mass * g.x.y)).sum();
        let depth = 2.0 * moment / mass;
        Self {
            depth,
            density: mass / (depth * length),
        }
    }
}

/// Mean of y over an interval of x.
fn mean(path: &[[f64; 2]], from: f64, to: f64) -> f64 {
    let inside = || path.iter().filter(|p| p[0] >= from && p[0] <= to);
    inside().map(|p| p[1]).sum::<f64>() / inside().count() as f64
}

/// Friction angle [degrees] whose passive coefficient is k.
fn passive_angle(k: f64) -> f64 {
    2.0 * (k.sqrt().atan().to_degrees() - 45.0)
}

#[test]
fn trace_wall() {
    let path = wall(0.004, 30.0, 0.1, 0.02, 1);
    for p in path.iter().step_by(2) {
        println!(
            "wall {:.3} K {:.3} phi {:.1}",
            p[0],
            p[1],
            passive_angle(p[1])
        );
    }
    println!("mean {:.3}", mean(&path, 0.05, 0.2));
}

// ---- G5 ----

/// N_γ of the earthmoving equation, with the wedge that makes it least; angles in degrees.
fn reece(alpha: f64, phi: f64, delta: f64) -> f64 {
    let [alpha, phi, delta] = [alpha, phi, delta].map(f64::to_radians);
    let at = |beta: f64| {
        let bearing = (alpha + delta).cos() + (alpha + delta).sin() / (beta + phi).tan();
        match bearing > 0.0 {
            true => (1.0 / alpha.tan() + 1.0 / beta.tan()) / (2.0 * bearing),
            false => f64::INFINITY,
        }
    };
    (1..8000)
        .map(|i| at((0.01 * f64::from(i)).to_radians()))
        .fold(f64::INFINITY, f64::min)
}

/// Horizontal force [ρ g d²] that the earthmoving equation gives.
fn draft(alpha: f64, phi: f64, delta: f64) -> f64 {
    reece(alpha, phi, delta) * (alpha + delta).to_radians().sin()
}

/// A blade with its face at `alpha` degrees to the ground and friction tan 20° that cuts `depth` deep [m] into a bed
/// that goes on below. Returns displacements in depths, forces in ρ g d², and ρ g d² [N/m].
fn blade(
    radius: f64,
    contact_angle: f64,
    alpha: f64,
    depth: f64,
    seed: u32,
) -> (Vec<[f64; 2]>, f64) {
    let (length, bed_depth, speed) = (8.0 * depth, 2.0 * depth, 0.5 * depth);
    let text = format!(
        r#"{}
[[fill]]
material = "sand"
shape = {{ box = {{ min = [{}, 0], max = [{length}, {bed_depth}] }} }}
[[collider]]
name = "floor"
shape = {{ half_space = {{ normal = [0, 1] }} }}
friction = 0.6
[[collider]]
name = "end"
shape = {{ half_space = {{ point = [{length}, 0], normal = [-1, 0] }} }}
friction = 0
[[collider]]
name = "start"
shape = {{ half_space = {{ point = [{}, 0], normal = [1, 0] }} }}
friction = 0
[[collider]]
name = "blade"
shape = {{ box = {{ min = [{}, 0], max = [0, {}] }}, rotate = {{ axis = [0, 0, 1], angle = {} }}, translate = [0, {depth}, 0] }}
friction = {}
motion = {{ velocity = [{speed}, 0], start = 1 }}
"#,
        head(radius, contact_angle, G, 20, seed),
        -3.0 * depth,
        -3.0 * depth,
        -0.3 * depth,
        4.0 * depth,
        90.0 - alpha,
        20f64.to_radians().tan()
    );
    let mut run = start(&text);
    advance(&mut run, 20);
    // The bed before the blade.
    let all: Vec<_> = grains(&mut run)
        .into_iter()
        .filter(|g| f64::from(g.x.x) > 2.0 * depth && f64::from(g.x.x) < 7.0 * depth)
        .collect();
    let mass: f64 = all.iter().map(|g| f64::from(g.mass)).sum();
    let surface = 2.0 * all.iter().map(|g| f64::from(g.mass * g.x.y)).sum::<f64>() / mass;
    let density = mass / (5.0 * depth * surface);
    let cut = surface - depth;
    let unit = density * G * cut * cut;
    println!(
        "blade: {} grains, surface {surface:.4}, density {density:.0}, cuts {cut:.4} m",
        run.particles()
    );
    let path = (1..=20)
        .map(|frame| {
            advance(&mut run, 1);
            let force = -force_on(&mut run, "blade").x;
            [(f64::from(frame) - 0.5) / 20.0 * speed / cut, force / unit]
        })
        .collect();
    (path, unit)
}

#[test]
fn trace_blade() {
    for alpha in [90.0, 60.0] {
        let (path, unit) = blade(0.004, 30.0, alpha, 0.1, 1);
        for p in path.iter() {
            println!("blade {alpha} {:.3} {:.3}", p[0], p[1]);
        }
        println!("mean {:.3} unit {unit:.1}", mean(&path, 0.05, 0.2));
    }
}

#[test]
fn g5_the_equation_is_that_of_the_catalogue() {
    for (alpha, phi, force, n) in [
        (90.0, 30.0, 450.0, 3.053),
        (90.0, 35.0, 614.0, 4.162),
        (90.0, 40.0, 868.0, 5.886),
        (60.0, 30.0, 240.0, 1.555),
        (60.0, 35.0, 281.0, 1.820),
        (60.0, 40.0, 332.0, 2.146),
    ] {
        assert!((reece(alpha, phi, 20.0) / n - 1.0).abs() < 1e-3);
        let unit = DENSITY * G * 0.01;
        assert!((draft(alpha, phi, 20.0) * unit / force - 1.0).abs() < 2e-3);
    }
    // Without friction on the blade it is Rankine's passive wall.
    assert!((2.0 * reece(90.0, 30.0, 0.0) - 3.0).abs() < 1e-4);
}

// ---- G7 ----

/// Three balls of 0.3 m on a bed of sand, with 0.5, 1 and `heaviest` times its bulk density. Returns sinking [diameters] and speed [m/s] of
/// each after five seconds.
fn balls_scene(heaviest: f64, friction_angle: f64) -> String {
    let radius = 0.15;
    let ball = |name: &str, x: f64, density: f64| {
        format!(
            r#"
[[body]]
name = "{name}"
density = {density}
shape = {{ sphere = {{ center = [{x}, 0.66, 0], radius = {radius} }} }}
"#
        )
    };
    format!(
        r#"
frame_rate = 60
[solver]
method = "pbd"
radius = 0.03
[materials.sand]
preset = "dry sand"
friction_angle = {friction_angle}
[[collider]]
shape = {{ half_space = {{ normal = [0, 1, 0] }} }}
[[collider]]
shape = {{ half_space = {{ point = [-0.9, 0, 0], normal = [1, 0, 0] }} }}
[[collider]]
shape = {{ half_space = {{ point = [0.9, 0, 0], normal = [-1, 0, 0] }} }}
[[collider]]
shape = {{ half_space = {{ point = [0, 0, -0.4], normal = [0, 0, 1] }} }}
[[collider]]
shape = {{ half_space = {{ point = [0, 0, 0.4], normal = [0, 0, -1] }} }}
[[fill]]
material = "sand"
shape = {{ box = {{ min = [-0.9, 0, -0.4], max = [0.9, 0.5, 0.4] }} }}
{}{}{}"#,
        ball("light", -0.55, 0.5 * DENSITY),
        ball("even", 0.0, DENSITY),
        ball("heavy", 0.55, heaviest * DENSITY)
    )
}

/// Centre [m] and velocity [m/s] of a ball of the scene above.
fn ball(bodies: &[serde_json::Value], name: &str, x: f32) -> (Vec3, Vec3) {
    let body = bodies.iter().find(|b| b["name"] == *name).unwrap();
    let number = |key: &str, i: usize| body[key][i].as_f64().unwrap() as f32;
    let vector = |key: &str| Vec3::from_array([0, 1, 2].map(|i| number(key, i)));
    let turn = Quat::from_array([0, 1, 2, 3].map(|i| number("rotation", i)));
    // Poses are those of the frame in which the shape is given.
    let arm = turn * Vec3::new(x, 0.66, 0.0);
    let velocity = vector("velocity") + vector("angular_velocity").cross(arm);
    (vector("position") + arm, velocity)
}

fn balls(heaviest: f64, friction_angle: f64) -> Vec<[f64; 2]> {
    let radius = 0.15;
    let mut run = start(&balls_scene(heaviest, friction_angle));
    advance(&mut run, 300);
    let frame = run.write_frame().unwrap();
    let all = grains(&mut run);
    // The bed far from the balls.
    let far: Vec<f32> = all
        .iter()
        .filter(|g| g.x.z.abs() > 0.25)
        .map(|g| g.x.y + g.radius)
        .collect();
    let surface = f64::from(far.iter().copied().fold(0.0, f32::max)) - 0.03;
    println!("{} grains, surface {surface:.3}", all.len());
    let bodies = frame.attributes["bodies"].as_array().unwrap();
    [("light", -0.55f32), ("even", 0.0), ("heavy", 0.55)]
        .iter()
        .map(|(name, x)| {
            let (centre, velocity) = ball(bodies, name, *x);
            let sunk = surface - (f64::from(centre.y) - radius);
            [sunk / (2.0 * radius), f64::from(velocity.length())]
        })
        .collect()
}

#[test]
fn trace_balls() {
    for extra in [
        "",
        "sleep_threshold = 0",
        "substeps = 40",
        "dt = 0.004166666",
        "radius_spread = 0.3",
    ] {
        let text =
            balls_scene(3.0, 35.0).replace("radius = 0.03\n", &format!("radius = 0.03\n{extra}\n"));
        let mut run = start(&text);
        println!("--- {extra}");
        let mut last = Vec3::ZERO;
        for _ in 0..9 {
            advance(&mut run, 60);
            let all = grains(&mut run);
            let moving = all.iter().filter(|g| g.v.length() > 0.001).count();
            let fastest = all.iter().map(|g| g.v.length()).fold(0.0, f32::max);
            let frame = run.write_frame().unwrap();
            let bodies = frame.attributes["bodies"].as_array().unwrap();
            let (c, v) = ball(&bodies, "heavy", 0.55);
            println!(
                "heavy centre {c} v {:.5} drift {:.6} grains moving {moving} fastest {fastest:.4}",
                v.length(),
                (c - last).length()
            );
            last = c;
        }
    }
}
