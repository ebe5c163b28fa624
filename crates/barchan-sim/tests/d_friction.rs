//! Validation cases D1–D4: a block on an incline and on a belt, sand on a rough incline. Real solver, f32, coarse grids.
//!
//! The incline is the plane y = 0 under a gravity that is tilted down toward +x.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use barchan_scene::{Collider, Scene};
use barchan_sim::collider::Colliders;
use barchan_sim::simulation::Simulation;
use barchan_sim::solvers::mpm::grid_update::collide;
use glam::{DVec3, Vec3};
use support::*;

const G: f64 = 9.81;

/// Grid spacing of the block's scenes [m]: the block is 8 × 4 × 8 cells.
const BLOCK_DX: f64 = 0.025;

/// The elastic block of D1, 0.2 × 0.1 × 0.2 m, on the plane y = 0. Its strain under its own weight is 1e-3.
fn block(dimensions: u32, dx: f64, degrees: f64, collider: &str) -> String {
    format!(
        r#"
dimensions = {dimensions}
frame_rate = 50
gravity = {}
[solver]
resolution = {dx}
[materials.block]
law = "elastic"
model = "fixed corotated"
density = 1000
young = 1e6
poisson = 0.3
[[fill]]
material = "block"
sampling = "lattice"
shape = {{ box = {{ min = [-0.1, 0, -0.1], max = [0.1, 0.1, 0.1] }} }}
[[collider]]
name = "plane"
shape = {{ half_space = {{ normal = [0, 1, 0] }} }}
{collider}
"#,
        tilted(degrees)
    )
}

/// Acceleration along x [m/s²] between two frames: change of the mean velocity over time.
fn acceleration(simulation: &mut Simulation, from: u32, to: u32, frame_rate: f64) -> f64 {
    let now = simulation.frame();
    advance(simulation, from - now);
    let first = mean_velocity(&particles(simulation)).x;
    advance(simulation, to - from);
    (mean_velocity(&particles(simulation)).x - first) * frame_rate / f64::from(to - from)
}

// ---- D1 ----

#[test]
fn d1_a_block_slides_with_coulombs_acceleration() {
    for (degrees, mu, catalog) in [
        (30.0f64, 0.2, 3.2059),
        (30.0, 0.4, 1.5067),
        (40.0, 0.5, 2.5483),
    ] {
        let exact = G * (degrees.to_radians().sin() - mu * degrees.to_radians().cos());
        assert!((exact / catalog - 1.0).abs() < 1e-4);
        let mut run = start(&block(3, BLOCK_DX, degrees, &format!("friction = {mu}")));
        assert_eq!(run.particles(), 8 * 4 * 8 * 8);
        let a = acceleration(&mut run, 10, 30, 50.0);
        println!("D1 3D ({degrees}°, {mu}): {a:.4} m/s², exact {exact:.4}");
        assert!(
            (a / exact - 1.0).abs() < 0.02,
            "({degrees}°, {mu}): {a} m/s²"
        );
    }
}

#[test]
fn d1_in_the_plane() {
    for (degrees, mu) in [(30.0f64, 0.2), (30.0, 0.4), (40.0, 0.5)] {
        let exact = G * (degrees.to_radians().sin() - mu * degrees.to_radians().cos());
        let mut run = start(&block(2, BLOCK_DX, degrees, &format!("friction = {mu}")));
        let a = acceleration(&mut run, 10, 30, 50.0);
        println!("D1 2D ({degrees}°, {mu}): {a:.4} m/s², exact {exact:.4}");
        assert!(
            (a / exact - 1.0).abs() < 0.02,
            "({degrees}°, {mu}): {a} m/s²"
        );
    }
}

/// The block put down gently: gravity grows within 0.3 s and tilts within the next 0.5 s. A block that is dropped instead
/// lands by bouncing, and slides while it does.
fn put_down(dimensions: u32, dx: f64, degrees: f64, collider: &str) -> Simulation {
    let key = |time: f64, value: &str| format!("{{ time = {time}, value = {value} }}");
    let keys = [
        key(0.0, "[0, 0, 0]"),
        key(0.3, &tilted(0.0)),
        key(0.8, &tilted(degrees)),
    ];
    let gravity = format!(
        "gravity = {{ interpolation = \"smooth\", keyframes = [{}] }}",
        keys.join(", ")
    );
    let sudden = format!("gravity = {}", tilted(degrees));
    let mut run = start(&block(dimensions, dx, degrees, collider).replace(&sudden, &gravity));
    advance(&mut run, 50);
    run
}

#[test]
fn d1_the_block_starts_to_slide_at_the_friction_angle() {
    // tan 26.565° = 0.5.
    for dimensions in [2, 3] {
        for (degrees, rests) in [(25.0, true), (26.0, true), (27.1, false)] {
            let mut run = put_down(dimensions, BLOCK_DX, degrees, "friction = 0.5");
            let first = mean_position(&particles(&mut run)).x;
            advance(&mut run, 50);
            let distance = mean_position(&particles(&mut run)).x - first;
            println!("D1 {dimensions}D threshold {degrees}°: {distance:.3e} m in 1 s");
            if rests {
                assert!(distance.abs() < 0.01 * BLOCK_DX, "{degrees}°: {distance} m");
            } else {
                // From rest it would be a/2 = 0.051 m.
                assert!(distance > 0.04, "{degrees}°: {distance} m");
            }
        }
    }
}

#[test]
#[ignore = "known limit: once it has slid, the elastic block bounces 0.6 h above the plane and creeps on at 0.03 m/s"]
fn d1_a_sliding_block_stops_below_the_friction_angle() {
    // 0.5 m/s at 25°: g (μ cos θ − sin θ) = 0.30 m/s² stops it after 1.7 s.
    let fast = "sampling = \"lattice\"\nvelocity = [0.5, 0, 0]";
    let text = block(2, BLOCK_DX, 25.0, "friction = 0.5").replace("sampling = \"lattice\"", fast);
    let mut run = start(&text);
    advance(&mut run, 200);
    let v = mean_velocity(&particles(&mut run)).x;
    assert!(v.abs() < 1e-3, "{v} m/s after 4 s");
}

// ---- D2 ----

#[test]
fn d2_a_block_that_sticks_does_not_creep() {
    // 4 × 2 × 4 cells in 3D: ten seconds are many steps.
    for (dimensions, dx) in [(2, BLOCK_DX), (3, 2.0 * BLOCK_DX)] {
        let mut run = put_down(dimensions, dx, 25.0, "friction = 0.5");
        let first = particles(&mut run);
        advance(&mut run, 500);
        let last = particles(&mut run);
        let worst = first.iter().zip(&last).map(|(a, b)| (a.x - b.x).length());
        let worst = f64::from(worst.fold(0.0, f32::max)) / dx;
        println!("D2 {dimensions}D: {worst:.2e} h in 10 s");
        assert!(
            worst < 0.05,
            "{dimensions}D: a particle moved {worst} h in 10 s"
        );
    }
}

/// The plane of a scene with a friction coefficient.
fn plane(friction: f64) -> Colliders {
    let scene: Scene = scene(&block(3, BLOCK_DX, 0.0, &format!("friction = {friction}")));
    let colliders: Vec<Collider> = scene.colliders;
    Colliders::new(&colliders)
}

/// Distance that a stuck node's material moves in `time` when velocities obey `carries_momentum` and positions `carries_position`.
fn stuck_drift(
    carries_momentum: &Colliders,
    carries_position: &Colliders,
    time: f64,
    dt: f32,
) -> f64 {
    let gravity = Vec3::new((G * 0.5) as f32, (-G * 0.75f64.sqrt()) as f32, 0.0);
    let (node, mut v, mut x) = (Vec3::new(0.0, -1e-3, 0.0), Vec3::ZERO, DVec3::ZERO);
    for _ in 0..(time / f64::from(dt)).round() as usize {
        let forced = v + gravity * dt;
        v = forced + collide(&carries_momentum.list[0], node, forced, dt);
        let moved = forced + collide(&carries_position.list[0], node, forced, dt);
        x += moved.as_dvec3() * f64::from(dt);
    }
    assert!(v.length() < 1e-6, "the node sticks: {v}");
    x.x
}

#[test]
fn d2_the_printed_split_creeps() {
    // 30° and μ = 0.7 stick. As printed, positions follow the velocity before friction: g sin θ Δt.
    let (rough, smooth) = (plane(0.7), plane(0.0));
    for dt in [1e-3f32, 1e-4] {
        let ours = stuck_drift(&rough, &rough, 1.0, dt);
        let printed = stuck_drift(&rough, &smooth, 1.0, dt);
        assert!(ours.abs() < 1e-9, "{ours}");
        let exact = G * 0.5 * f64::from(dt);
        assert!(
            (printed / exact - 1.0).abs() < 1e-3,
            "{printed} of {exact} m in 1 s"
        );
        // Ten seconds of it fail D2's bound.
        assert!(10.0 * printed > 0.05 * BLOCK_DX);
    }
}

// ---- D3 ----

#[test]
fn d3_a_belt_takes_the_block_along() {
    let (speed, mu) = (1.0, 0.3);
    let catches_up: f64 = speed / (mu * G);
    assert!((catches_up - 0.3398).abs() < 1e-4);
    let belt = format!("friction = {mu}\nmotion = {{ velocity = [{speed}, 0, 0] }}");
    let mut run = start(&block(3, BLOCK_DX, 0.0, &belt));
    for frame in [5, 10, 15] {
        let now = run.frame();
        advance(&mut run, frame - now);
        let v = mean_velocity(&particles(&mut run)).x;
        let exact = mu * G * run.time();
        println!("D3 t = {}: v = {v:.4}, exact {exact:.4}", run.time());
        assert!(
            (v / exact - 1.0).abs() < 0.03,
            "t = {}: {v} of {exact} m/s",
            run.time()
        );
    }
    let start_x = 0.0;
    for frame in [25, 40] {
        let now = run.frame();
        advance(&mut run, frame - now);
        let all = particles(&mut run);
        let (x, v) = (mean_position(&all).x - start_x, mean_velocity(&all).x);
        let slip = speed * run.time() - x;
        let exact = speed * speed / (2.0 * mu * G);
        println!(
            "D3 t = {}: v = {v:.5}, slip {slip:.4} of {exact:.4}",
            run.time()
        );
        assert!((v / speed - 1.0).abs() < 0.03, "rides at {v} m/s");
        assert!(
            (slip / exact - 1.0).abs() < 0.03,
            "slipped {slip} of {exact} m"
        );
    }
    // Negative control: friction against the world is friction against a belt at rest.
    let mut still = start(&block(3, BLOCK_DX, 0.0, &format!("friction = {mu}")));
    advance(&mut still, 15);
    let v = mean_velocity(&particles(&mut still)).x;
    assert!(v.abs() < 1e-4, "{v}");
}

// ---- D4 ----

const SLAB_DX: f64 = 0.05;
const SLAB_RATE: f64 = 20.0;

/// What differs between the slabs of D4.
struct Slab {
    dimensions: u32,
    friction_angle: f64,
    cone: &'static str,
    degrees: f64,
    sampling: &'static str,
    /// Time in which the tilt comes on [s].
    tilt: f64,
}

impl Slab {
    /// μ_ss of the catalog: 3α/√2 in 3D, √2 α in 2D.
    fn mobilized(&self) -> f64 {
        let sin = self.friction_angle.to_radians().sin();
        let triaxial = (2.0f64 / 3.0).sqrt() * 2.0 * sin / (3.0 - sin);
        match (self.dimensions, self.cone) {
            (3, "triaxial") => 3.0 * triaxial / 2f64.sqrt(),
            (3, _) => sin,
            (_, "triaxial") => 2f64.sqrt() * triaxial,
            _ => sin,
        }
    }

    /// g cos θ (tan θ − μ_ss) [m/s²].
    fn acceleration(&self) -> f64 {
        let (sin, cos) = self.degrees.to_radians().sin_cos();
        G * (sin - self.mobilized() * cos)
    }

    fn scene(&self) -> Scene {
        let (side, height) = (8.0 * SLAB_DX, 20.0 * SLAB_DX);
        let back = if self.dimensions == 3 { 0.0 } else { -1.0 };
        // The base lies a hair above the nodes y = 0, so that these are inside it and stick.
        let mut scene = scene(&format!(
            r#"
dimensions = {}
frame_rate = {SLAB_RATE}
gravity = {}
domain = {{ min = [0, -1, 0], max = [{side}, 3, {side}] }}
[solver]
resolution = {SLAB_DX}
[materials.sand]
law = "sand"
density = {SLAB_DENSITY}
young = {SLAB_YOUNG}
poisson = {SLAB_POISSON}
friction_angle = {}
cone = "{}"
[[fill]]
material = "sand"
sampling = "{}"
shape = {{ box = {{ min = [0, 0, {back}], max = [{side}, {height}, {side}] }} }}
[[collider]]
name = "base"
shape = {{ half_space = {{ point = [0, 1e-4, 0], normal = [0, 1, 0] }} }}
boundary = "sticky"
"#,
            self.dimensions,
            self.gravity(),
            self.friction_angle,
            self.cone,
            self.sampling
        ));
        scene.periodic = [true, false, self.dimensions == 3];
        scene
    }

    /// The part along the slope comes on smoothly.
    fn gravity(&self) -> String {
        let end = tilted(self.degrees);
        if self.tilt == 0.0 {
            return end;
        }
        let normal = -G * self.degrees.to_radians().cos();
        format!(
            r#"{{ interpolation = "smooth", keyframes = [{{ time = 0, value = [0, {normal}, 0] }}, {{ time = {}, value = {end} }}] }}"#,
            self.tilt
        )
    }

    /// At rest under the pressure of its own weight, the same in all directions.
    fn start(&self) -> Simulation {
        let mut run = Simulation::new(&self.scene()).unwrap();
        let d = f64::from(self.dimensions);
        let mu = SLAB_YOUNG / (2.0 * (1.0 + SLAB_POISSON));
        let lambda =
            SLAB_YOUNG * SLAB_POISSON / ((1.0 + SLAB_POISSON) * (1.0 - 2.0 * SLAB_POISSON));
        let bulk = lambda + 2.0 * mu / d;
        let mut state = run.save().unwrap();
        let heights: Vec<f64> = floats(&state, "position")
            .chunks(3)
            .map(|p| f64::from(p[1]))
            .collect();
        let weight = SLAB_DENSITY * G * self.degrees.to_radians().cos();
        for (i, y) in heights.into_iter().enumerate() {
            let pressure = weight * (20.0 * SLAB_DX - y);
            let strain = (-2.0 * pressure / (d * bulk)).exp_m1();
            for axis in 0..self.dimensions as usize {
                floats_mut(&mut state, "strain")[6 * i + axis] = strain as f32;
                floats_mut(&mut state, "stress")[6 * i + axis] = -pressure as f32;
            }
        }
        run.load(&state).unwrap();
        run
    }
}

const SLAB_DENSITY: f64 = 1600.0;
/// ρ g H/E is 0.8 %: the layer hardly compresses.
const SLAB_YOUNG: f64 = 2e6;
const SLAB_POISSON: f64 = 0.3;

/// Mean velocity along x [m/s] and mobilized τ/p of each layer, a cell thick.
fn layers(run: &mut Simulation, dimensions: u32) -> Vec<(f64, f64)> {
    let all = particles(run);
    let layer = |i: u32| {
        let range = f64::from(i) * SLAB_DX..f64::from(i + 1) * SLAB_DX;
        let inside: Vec<Particle> = all
            .iter()
            .filter(|p| range.contains(&f64::from(p.x.y)))
            .copied()
            .collect();
        let sum = |axis: usize| {
            inside
                .iter()
                .map(|p| f64::from(p.stress[axis]))
                .sum::<f64>()
        };
        let pressure = -(0..dimensions as usize).map(sum).sum::<f64>() / f64::from(dimensions);
        (mean_velocity(&inside).x, sum(5) / pressure)
    };
    (0..19).map(layer).collect()
}

/// Layers that the stuck base does not reach: near it, the transfer's own viscosity holds material back, 6 cells deep
/// after half a second.
const FREE: std::ops::Range<usize> = 9..19;

fn assert_flows(slab: &Slab) {
    let mut run = slab.start();
    let count = run.particles();
    advance(&mut run, 3);
    let first = layers(&mut run, slab.dimensions);
    advance(&mut run, 3);
    let last = layers(&mut run, slab.dimensions);
    let exact = slab.acceleration();
    let a: Vec<f64> = (0..19)
        .map(|i| (last[i].0 - first[i].0) * SLAB_RATE / 3.0)
        .collect();
    println!(
        "D4 {}D {} {}° at {}°: {a:.3?}, exact {exact:.4}",
        slab.dimensions, slab.cone, slab.friction_angle, slab.degrees
    );
    for a in &a[FREE] {
        assert!((a / exact - 1.0).abs() < 0.05, "{a} of {exact} m/s²");
    }
    let mobilized = slab.mobilized();
    for (i, (_, ratio)) in last.iter().enumerate() {
        assert!(
            (ratio / mobilized - 1.0).abs() < 0.02,
            "layer {i}: τ/p = {ratio} of {mobilized}"
        );
    }
    assert_eq!(run.particles(), count, "nothing leaves a periodic domain");
}

/// With a tilt that comes on over several swings of the layer it hardly swings; sand that flows gains speed.
fn assert_rests(slab: &Slab) {
    assert!(slab.acceleration() < 0.0);
    let fastest = speed_after_tilt(slab);
    println!(
        "D4 {}D {} {} {}° at {}° after a tilt of {} s: {fastest:.1e} m/s",
        slab.dimensions, slab.cone, slab.sampling, slab.friction_angle, slab.degrees, slab.tilt
    );
    assert!(fastest < 0.02, "{fastest} m/s");
}

/// Largest mean speed along the slope [m/s] in half a second, one second after the tilt began.
fn speed_after_tilt(slab: &Slab) -> f64 {
    let mut run = slab.start();
    advance(&mut run, SLAB_RATE as u32);
    let mut fastest = 0.0f64;
    for _ in 0..SLAB_RATE as u32 / 2 {
        advance(&mut run, 1);
        fastest = fastest.max(mean_velocity(&particles(&mut run)).x.abs());
    }
    fastest
}

/// A slab on the lattice, with the paper's cone.
const SLAB: Slab = Slab {
    dimensions: 3,
    friction_angle: 25.0,
    cone: "triaxial",
    degrees: 35.0,
    sampling: "lattice",
    tilt: 0.0,
};

#[test]
fn d4_a_slab_on_a_rough_incline_accelerates_as_derived() {
    assert!((SLAB.acceleration() - 1.0624).abs() < 1e-3);
    assert_flows(&SLAB);
}

/// Below θ_flow, which is 29.6° for φ = 25°, and 39.3° for 35°: the negative control of the test above.
fn resting_slabs(sampling: &'static str, tilt: f64) -> [Slab; 2] {
    let slab = |friction_angle, degrees| Slab {
        friction_angle,
        degrees,
        sampling,
        tilt,
        ..SLAB
    };
    [slab(25.0, 27.0), slab(35.0, 35.0)]
}

#[test]
fn d4_a_slab_rests_below_the_angle_of_flow_and_with_more_friction() {
    for sampling in ["lattice", "poisson"] {
        resting_slabs(sampling, 1.0).iter().for_each(assert_rests);
        // And the control of this one.
        let tilt = 1.0;
        let flows = speed_after_tilt(&Slab {
            sampling,
            tilt,
            ..SLAB
        });
        assert!(flows > 0.2, "{flows} m/s");
    }
}

#[test]
#[ignore = "falls short: 0.30 and 0.85 m/s after a second; docs/validation.md, D4"]
fn d4_a_slab_that_is_tilted_at_once_rests_too() {
    let speeds = resting_slabs("poisson", 0.0).map(|slab| speed_after_tilt(&slab));
    println!("D4 tilted at once: {speeds:.2?} m/s");
    assert!(speeds.iter().all(|v| *v < 0.05), "{speeds:?}");
}

#[test]
fn d4_in_the_plane_each_cone_has_its_own_angle() {
    for cone in ["triaxial", "plane strain"] {
        let flat = |friction_angle, degrees| Slab {
            dimensions: 2,
            friction_angle,
            cone,
            degrees,
            tilt: 1.0,
            ..SLAB
        };
        assert_flows(&Slab {
            tilt: 0.0,
            ..flat(25.0, 27.0)
        });
        // θ_flow: 20.7° and 22.9°, and more than 32° for 40°.
        assert_rests(&flat(25.0, 18.0));
        assert_rests(&flat(40.0, 27.0));
    }
}
