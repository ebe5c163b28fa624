//! Scenes of sph: same bytes, rest, abuse, and the cases B2, D1–D3, E2 and G7 of docs/validation.md with their controls.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use barchan_frame::Checkpoint;
use barchan_sim::simulation::Simulation;
use glam::{Quat, Vec3};
use support::sph::{Grain, center, drift, grains};
use support::{advance, scene, start, tilted};

const G: f64 = 9.81;
/// Spacing of most scenes [m].
const D0: f64 = 0.1;

/// Largest way of a particle between two states [m].
fn moved(before: &[Grain], after: &[Grain]) -> f32 {
    assert_eq!(before.len(), after.len());
    let ways = before.iter().zip(after).map(|(a, b)| a.x.distance(b.x));
    ways.fold(0.0, f32::max)
}

fn top(all: &[Grain]) -> f32 {
    all.iter().map(|g| g.x.y).fold(f32::MIN, f32::max)
}

// ---- The same bytes ----

const HEAP: &str = r#"
[solver]
method = "sph"
resolution = 0.1
[materials.soil]
preset = "dry sand"
[materials.soil.sph]
viscosity = 0.05
wet_cohesion_intensity = 1
[[wetting]]
rate = 1
shape = { box = { min = [-1, 0, -1], max = [0, 2, 1] } }
[[collider]]
shape = { half_space = { normal = [0, 1, 0] } }
friction = 0.6
[[fill]]
material = "soil"
shape = { box = { min = [-0.5, 0, -0.5], max = [0.5, 1, 0.5] } }
[[collider]]
name = "blade"
shape = { box = { min = [-1.2, 0.1, -0.4], max = [-0.9, 0.6, 0.4] } }
motion = { velocity = [0.8, 0, 0] }
[[body]]
name = "box"
density = 500
shape = { box = { min = [-0.2, 1.2, -0.2], max = [0.2, 1.5, 0.2] } }
"#;

fn in_pool<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.unwrap().install(work)
}

#[test]
fn the_same_bytes_for_any_number_of_threads_and_after_a_resume() {
    for more in [
        "",
        "wall_friction = \"viscous\"\ndensity_error = 0.01",
        "sleep_velocity = 0.01",
    ] {
        let text = HEAP.replace(
            "resolution = 0.1",
            &format!("resolution = 0.1\n[solver.sph]\n{more}"),
        );
        let run = |threads: usize, frames: u32| {
            in_pool(threads, || {
                let mut run = start(&text);
                advance(&mut run, frames);
                run.save().unwrap()
            })
        };
        let one = run(1, 30);
        assert_eq!(one.digest(), run(2, 30).digest(), "{more}");
        let half = run(2, 15);
        let mut resumed = Simulation::resume(&scene(&text), &half).unwrap();
        advance(&mut resumed, 15);
        let state = resumed.save().unwrap();
        assert_eq!(one.digest(), state.digest(), "{more}: resumed");
        // Negative control: a particle that moved by a hair makes another state.
        let mut other: Checkpoint = half.clone();
        support::floats_mut(&mut other, "position")[0] += 1e-6;
        let mut changed = Simulation::resume(&scene(&text), &other).unwrap();
        advance(&mut changed, 15);
        assert_ne!(one.digest(), changed.save().unwrap().digest());
    }
}

// ---- B2 ----

#[test]
fn b2_a_scene_that_moves_goes_on_as_one_that_rests() {
    let run = |speed: f64, floor: f64| {
        let mut run = start(&format!(
            r#"
frame_rate = 20
[solver]
method = "sph"
resolution = 0.1
[solver.sph]
cfl = 1
[materials.sand]
preset = "dry sand"
[[fill]]
material = "sand"
velocity = [{speed}, 0, 0]
shape = {{ box = {{ min = [-0.3, 0, -0.3], max = [0.3, 0.6, 0.3] }} }}
[[collider]]
shape = {{ half_space = {{ normal = [0, 1, 0] }} }}
friction = 0.5
motion = {{ velocity = [{floor}, 0, 0] }}
"#
        ));
        advance(&mut run, 6);
        grains(&mut run)
    };
    let still = run(0.0, 0.0);
    let seen = |all: &[Grain]| {
        let ways = still
            .iter()
            .zip(all)
            .map(|(a, b)| (a.x + Vec3::X * 0.3).distance(b.x));
        ways.fold(0.0, f32::max) / D0 as f32
    };
    let apart = seen(&run(1.0, 1.0));
    println!("B2 scene at 1 m/s: {apart:.1e} spacings apart after 0.3 s");
    assert!(apart < 1e-2, "{apart}");
    // Negative control: on a floor that stays behind.
    assert!(seen(&run(1.0, 0.0)) > 0.1);
}

// ---- D1, D2, D3 ----

/// A slab, one particle high, that cohesion holds together, on a plane down toward +x.
fn slab(degrees: f64, plane: &str) -> Simulation {
    start(&format!(
        r#"
frame_rate = 20
gravity = {}
[solver]
method = "sph"
resolution = {D0}
[materials.block]
preset = "dry sand"
density = 1600
friction_angle = 60
cohesion = 300
[[fill]]
material = "block"
sampling = "lattice"
shape = {{ box = {{ min = [-0.5, 0, -0.5], max = [0.5, 0.1, 0.5] }} }}
[[collider]]
shape = {{ half_space = {{ normal = [0, 1, 0] }} }}
{plane}
"#,
        tilted(degrees)
    ))
}

/// Acceleration [m/s²] between half a second and one and a half.
fn acceleration(degrees: f64, friction: f64) -> f64 {
    let mut run = slab(degrees, &format!("friction = {friction}"));
    advance(&mut run, 10);
    let before = drift(&grains(&mut run)).x;
    advance(&mut run, 20);
    drift(&grains(&mut run)).x - before
}

#[test]
fn d1_a_slab_slides_as_coulomb_says() {
    for (degrees, friction, exact) in [
        (30.0, 0.2, 3.2059),
        (30.0, 0.4, 1.5067),
        (40.0, 0.5, 2.5483),
    ] {
        let a = acceleration(degrees, friction);
        println!("D1 ({degrees}°, {friction}): {a:.4} m/s², exact {exact}");
        assert!((a / exact - 1.0).abs() < 0.02, "{a} {exact}");
    }
    let limit = 0.5f64.atan().to_degrees();
    // The threshold, within half a degree on either side. It slides until it lies on the plane.
    for degrees in [25.0, limit - 0.5] {
        let mut run = slab(degrees, "friction = 0.5");
        advance(&mut run, 60);
        let v = drift(&grains(&mut run)).length();
        println!("D1 ({degrees:.2}°, 0.5): {v:.1e} m/s after 3 s");
        assert!(v < 1e-4, "{degrees}: {v}");
    }
    assert!(acceleration(limit + 0.5, 0.5) > 0.05);
    // Negative control: without friction it misses the band.
    let smooth = acceleration(30.0, 0.0);
    assert!((smooth / 3.2059 - 1.0).abs() > 0.02, "{smooth}");
    // What is left of friction then: boundary particles are not quite a plane.
    assert!((smooth / (0.5 * G) - 1.0).abs() < 0.02, "{smooth}");
}

/// Way of the center of mass [m] in ten seconds, after two to come to rest.
fn crept(degrees: f64) -> f64 {
    let mut run = slab(degrees, "friction = 0.5");
    advance(&mut run, 40);
    let before = center(&grains(&mut run));
    advance(&mut run, 200);
    center(&grains(&mut run)).distance(before)
}

#[test]
fn d2_a_slab_that_sticks_does_not_creep() {
    let way = crept(25.0);
    println!("D2: {way:.2e} m in 10 s");
    assert!(way < 0.05 * D0, "{way}");
    // Negative control: a degree above the limit of 26.6° it goes far beyond that.
    assert!(crept(27.6) > D0);
}

#[test]
fn d3_a_belt_takes_the_slab_along() {
    let (speed, mu) = (1.0, 0.3);
    // It lies still before the belt starts.
    let belt = format!("friction = {mu}\nmotion = {{ velocity = [{speed}, 0, 0], start = 1 }}");
    let mut run = slab(0.0, &belt);
    advance(&mut run, 20);
    let x0 = center(&grains(&mut run)).x;
    for _ in 0..6 {
        advance(&mut run, 1);
        let v = drift(&grains(&mut run)).x;
        let exact = mu * G * (run.time() - 1.0);
        println!(
            "D3 t = {:.2} s: v = {v:.4}, exact {exact:.4}",
            run.time() - 1.0
        );
        assert!((v - exact).abs() < 0.03 * speed, "{v} {exact}");
    }
    advance(&mut run, 20);
    let all = grains(&mut run);
    let slip = speed * (run.time() - 1.0) - (center(&all).x - x0);
    let exact = speed * speed / (2.0 * mu * G);
    println!(
        "D3 rides at {:.4} m/s after slipping {slip:.4} of {exact:.4} m",
        drift(&all).x
    );
    assert!((drift(&all).x / speed - 1.0).abs() < 0.03);
    assert!((slip / exact - 1.0).abs() < 0.03, "{slip}");
    // Negative control: friction against the world is friction against a belt at rest.
    let mut still = slab(0.0, &format!("friction = {mu}"));
    advance(&mut still, 6);
    assert!(drift(&grains(&mut still)).x.abs() < 1e-3);
}

// ---- E2 ----

/// Run-out and height, over the width, of a column of aspect 2 in a channel.
fn collapse(angle: f64, radius: f64) -> (f64, f64) {
    let mut run = start(&format!(
        r#"
dimensions = 2
frame_rate = 10
[solver]
method = "sph"
resolution = {}
[materials.sand]
preset = "dry sand"
density = 1600
friction_angle = {angle}
[[fill]]
material = "sand"
shape = {{ box = {{ min = [0, 0], max = [0.1, 0.2] }} }}
[[collider]]
friction = 0.5
shape = {{ half_space = {{ normal = [0, 1] }} }}
[[collider]]
friction = 0.5
shape = {{ half_space = {{ normal = [1, 0] }} }}
"#,
        2.0 * radius
    ));
    advance(&mut run, 9);
    let all = grains(&mut run);
    let mut x: Vec<f32> = all.iter().map(|g| g.x.x).collect();
    x.sort_by(f32::total_cmp);
    let end = f64::from(x[99 * x.len() / 100]);
    (end / 0.1 - 1.0, f64::from(top(&all)) / 0.1)
}

#[test]
fn e2_a_column_collapses_as_in_experiments() {
    let run_out = 0.9 * 2.4..1.1 * 3.6;
    let height = 0.9 * 0.83..1.1 * 1.32;
    let (far, high) = collapse(30.0, 0.0025);
    println!("E2 a = 2, 30°: run-out {far:.2}, height {high:.2}");
    assert!(run_out.contains(&far), "{far}");
    assert!(height.contains(&high), "{high}");
    // Negative controls, half as fine: μ = 2, and next to no friction.
    let (rough, _) = collapse(2f64.atan().to_degrees(), 0.005);
    let (slick, flat) = collapse(5.0, 0.005);
    println!("E2 controls: {rough:.2} with μ = 2, {slick:.2} and {flat:.2} with 5°");
    assert!(!run_out.contains(&rough), "{rough}");
    assert!(
        !run_out.contains(&slick) && !height.contains(&flat),
        "{slick} {flat}"
    );
}

// ---- Rest ----

const PILE: &str = r#"
frame_rate = 2
[solver]
method = "sph"
resolution = 0.1
[materials.sand]
preset = "dry sand"
friction_angle = 45
[[collider]]
shape = { half_space = { normal = [0, 1, 0] } }
friction = 0.8
[[fill]]
material = "sand"
shape = { box = { min = [-0.3, 0, -0.3], max = [0.3, 0.4, 0.3] } }
"#;

/// Largest way of a particle within some seconds after the first five [spacings], and the height of the heap [m].
fn later(more: &str, seconds: u32) -> (f64, f32) {
    let mut run = start(&PILE.replace(
        "resolution = 0.1",
        &format!("resolution = 0.1\n[solver.sph]\n{more}"),
    ));
    advance(&mut run, 10);
    let before = grains(&mut run);
    advance(&mut run, 2 * seconds);
    let after = grains(&mut run);
    (f64::from(moved(&before, &after)) / D0, top(&after))
}

#[test]
fn a_heap_at_rest_stays_at_rest_for_a_minute() {
    for more in ["", "sleep_velocity = 0.01"] {
        let (way, high) = later(more, 60);
        println!("heap {more:?}: {way:.4} spacings in a minute, {high:.3} m high");
        assert!(way < 0.1, "{more}: {way}");
        assert!(high > 0.2, "{high}");
    }
    // Negative control: friction that begins anew in every step lets it creep.
    let (way, high) = later("static_friction = false", 10);
    println!("heap without static friction: {way:.3} spacings, {high:.3} m high");
    assert!(way > 0.1, "{way}");
}

/// A bed with low sides that goes 6.7 m in 4 s, with up to 2.5 m/s² on the way up and down; and the sand on it.
fn truck(more: &str) -> f64 {
    let mut run = start(&format!(
        r#"
frame_rate = 10
[solver]
method = "sph"
resolution = {D0}
[solver.sph]
{more}
[materials.sand]
preset = "dry sand"
friction_angle = 40
[[fill]]
material = "sand"
sampling = "lattice"
shape = {{ box = {{ min = [-0.6, 0, -0.3], max = [0.6, 0.4, 0.3] }} }}
[[collider]]
name = "bed"
shape = {{ difference = [{{ box = {{ min = [-0.9, -0.3, -0.6], max = [0.9, 0.5, 0.6] }} }}, {{ box = {{ min = [-0.6, 0, -0.3], max = [0.6, 2, 0.3] }} }}] }}
friction = 0.6
motion = {{ position = {{ keyframes = [{{ time = 1, value = [0, 0, 0] }}, {{ time = 5, value = [6.6667, 0, 0] }}], interpolation = "smooth" }} }}
"#
    ));
    advance(&mut run, 10);
    let before = grains(&mut run);
    advance(&mut run, 45);
    let mut after = grains(&mut run);
    after.iter_mut().for_each(|g| g.x.x -= 6.6667);
    let ways = before
        .iter()
        .zip(&after)
        .map(|(a, b)| f64::from(a.x.distance(b.x)));
    let mut ways: Vec<f64> = ways.collect();
    ways.sort_by(f64::total_cmp);
    let (mean, most) = (
        ways.iter().sum::<f64>() / ways.len() as f64,
        ways[ways.len() - 1],
    );
    println!(
        "truck {more:?}: mean {:.4}, largest {:.3} spacings",
        mean / D0,
        most / D0
    );
    most / D0
}

#[test]
fn a_truck_bed_that_speeds_up_keeps_its_load() {
    let held = truck("");
    let slid = truck("static_friction = false");
    assert!(held < 0.1, "{held}");
    assert!(slid > 0.2, "{slid}");
}

// ---- G7 ----

const BALLS: [(&str, f32, f64); 3] = [
    ("light", -0.45, 0.5),
    ("even", 0.0, 1.0),
    ("heavy", 0.45, 3.0),
];
const BALL: f32 = 0.15;
const DROP: f32 = 0.64;

/// How deep each ball lies [diameters] and its highest speed [m/s] in the last ten of some frames of 1/60 s.
fn sunk(angle: f64, frames: u32) -> Vec<(f32, f32)> {
    let mut text = format!(
        r#"
frame_rate = 60
[solver]
method = "sph"
resolution = 0.06
[materials.sand]
preset = "dry sand"
density = 1600
friction_angle = {angle}
[[fill]]
material = "sand"
sampling = "lattice"
shape = {{ box = {{ min = [-0.72, 0, -0.3], max = [0.72, 0.48, 0.3] }} }}
[[collider]]
shape = {{ difference = [{{ box = {{ min = [-0.9, -0.2, -0.5], max = [0.9, 1, 0.5] }} }}, {{ box = {{ min = [-0.72, 0, -0.3], max = [0.72, 2, 0.3] }} }}] }}
"#
    );
    for (name, x, density) in BALLS {
        text += &format!(
            "[[body]]\nname = \"{name}\"\ndensity = {}\nshape = {{ sphere = {{ center = [{x}, {DROP}, 0], radius = {BALL} }} }}\n",
            1600.0 * density
        );
    }
    let mut run = start(&text);
    advance(&mut run, frames - 10);
    let mut out = vec![(0.0, 0.0f32); 3];
    for _ in 0..10 {
        advance(&mut run, 1);
        let frame = run.write_frame().unwrap();
        for ((name, x, _), out) in BALLS.into_iter().zip(&mut out) {
            let body = frame.record.body(name).unwrap();
            let arm = Quat::from_array(body.rotation) * Vec3::new(x, DROP, 0.0);
            let v = Vec3::from(body.velocity) + Vec3::from(body.angular_velocity).cross(arm);
            *out = (body.position[1] + arm.y, out.1.max(v.length()));
        }
    }
    let beside = grains(&mut run);
    let beside = beside.iter().filter(|g| g.x.z.abs() > 0.2);
    let surface = beside.map(|g| g.x.y).fold(f32::MIN, f32::max) + 0.03;
    out.iter()
        .map(|(y, v)| ((surface - (y - BALL)) / (2.0 * BALL), *v))
        .collect()
}

#[test]
fn g7_balls_come_to_rest_on_sand() {
    let rough = sunk(35.0, 300);
    for ((name, _, density), (depth, speed)) in BALLS.into_iter().zip(&rough) {
        println!(
            "G7 {name} ({density}): {depth:.3} diameters deep, {:.3} mm/s",
            speed * 1e3
        );
    }
    for (depth, speed) in rough {
        assert!(speed < 1e-3, "{speed}");
        assert!(depth < 0.5, "{depth}");
    }
    // Negative control: without friction the heavy ball goes under.
    let slick = sunk(0.0, 120);
    println!("G7 without friction: {:.3} diameters", slick[2].0);
    assert!(slick[2].0 > 0.5);
}

// ---- Anything ----

/// Numbers in [0, 1), always the same.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next()
    }

    fn decades(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.next())
    }

    fn one_of(&mut self, texts: &[&'static str]) -> &'static str {
        texts[(self.next() * texts.len() as f64) as usize]
    }
}

/// A small scene of any kind, and the highest speed that anything in it has by itself or by falling [m/s].
fn anything(d: &mut Dice) -> (String, f64) {
    let flat = d.next() < 0.3;
    let (g, width) = (d.decades(0.5, 30.0), d.within(0.4, 0.8));
    let mut text = format!(
        "dimensions = {}\ngravity = [{}, {}, 0]\n[solver]\nmethod = \"sph\"\nresolution = 0.1\n[solver.sph]\nyield = \"{}\"\nwall_friction = \"{}\"\n\
         static_friction = {}\ndiscrete_forces = {}\nsleep_velocity = {}\niterations = {}\n{}\n",
        if flat { 2 } else { 3 },
        d.within(-0.3, 0.3) * g,
        -g,
        d.one_of(&["radial", "per component"]),
        d.one_of(&["coulomb", "viscous"]),
        d.one_of(&["true", "false"]),
        d.one_of(&["true", "false"]),
        d.one_of(&["0", "0.02"]),
        d.within(1.0, 8.0) as u32,
        d.one_of(&["", "", "density_error = 0.01", "max_dt = 0.01"]),
    );
    let mut fastest = 0.0f64;
    for name in ["a", "b"] {
        text += &format!(
            "[materials.{name}]\npreset = \"dry sand\"\ndensity = {}\nfriction_angle = {}\n{}\n",
            d.decades(100.0, 1e4),
            d.within(0.0, 80.0),
            d.one_of(&[
                "",
                "sph.viscosity = 0.3",
                "sph.cohesion_intensity = 0.7",
                "cohesion = 1e4",
                "sph.viscosity = 2"
            ]),
        );
        // The second lies higher, so that something is left of it.
        let low = d.within(0.0, 0.3) + if name == "b" { 0.3 } else { 0.0 };
        let speed = d.within(0.0, 3.0);
        fastest = fastest.max(speed);
        text += &format!(
            "[[fill]]\nmaterial = \"{name}\"\nvelocity = [{speed}, 0, 0]\nshape = {{ box = {{ min = [{}, {low}, -0.2], max = [{}, {}, 0.2] }} }}\n",
            -0.7 * width,
            d.within(-0.2, 0.7) * width,
            low + d.within(0.15, 0.5),
        );
    }
    for (point, normal) in [
        ([-width, 0.0, 0.0], [1, 0, 0]),
        ([width, 0.0, 0.0], [-1, 0, 0]),
        ([0.0; 3], [0, 1, 0]),
    ] {
        text += &format!(
            "[[collider]]\nshape = {{ half_space = {{ point = {point:?}, normal = {normal:?} }} }}\nfriction = {}\nboundary = \"{}\"\n",
            d.within(0.0, 2.0),
            d.one_of(&["separating", "separating", "sticky", "slipping"]),
        );
    }
    if d.next() < 0.5 {
        let speed = d.within(-2.0, 2.0);
        fastest = fastest.max(speed.abs());
        text += &format!(
            "[[collider]]\nshape = {{ sphere = {{ center = [{}, 0.3, 0], radius = {} }} }}\nmotion = {{ velocity = [{speed}, 0, 0] }}\n",
            -speed.signum() * 0.9 * width,
            d.within(0.02, 0.2),
        );
    }
    if d.next() < 0.5 {
        text += &format!(
            "[[body]]\nname = \"box\"\ndensity = {}\nshape = {{ box = {{ min = [-0.15, 1.0, -0.15], max = [0.15, 1.2, 0.15] }} }}\n",
            d.decades(50.0, 2e4),
        );
    }
    (text, fastest + (2.0 * g * (2.0 + width)).sqrt())
}

#[test]
fn whatever_the_scene_nothing_explodes() {
    let mut dice = Dice(2024);
    let mut worst = 0.0f64;
    for case in 0..240 {
        let (text, own) = anything(&mut dice);
        // A fill that lies within the other one may have no place left.
        let Ok(mut run) = Simulation::new(&scene(&text)) else {
            continue;
        };
        let mut fastest = 0.0f64;
        for _ in 0..15 {
            advance(&mut run, 1);
            let all = grains(&mut run);
            assert!(
                all.iter()
                    .all(|g| g.pressure.is_finite() && g.pressure >= 0.0),
                "{case}\n{text}"
            );
            let speeds = all.iter().map(|g| f64::from(g.v.length()));
            fastest = speeds.fold(fastest, f64::max);
        }
        println!(
            "{case}: {} particles, {:.2} of the speed of falling, {} steps",
            run.particles(),
            fastest / own,
            run.counters().substeps
        );
        worst = worst.max(fastest / own);
    }
    println!("fastest: {worst:.2} times what falls");
    // Fills that overlap are twice as dense as they may be and drive apart.
    assert!(worst < 10.0, "{worst}");
}
