//! Particle solvers: momentum and friction with every scheme of `pbd`, refused scenes, and bounded speeds in random scenes of `sph`.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use barchan_frame::Checkpoint;
use barchan_scene::Scene;
use barchan_sim::simulation::Simulation;
use glam::{DVec3, Vec3};
use support::{advance, floats, scene_file, start_file, tilted};

const SCHEMES: [&str; 3] = ["mass splitting", "averaged", "gauss-seidel"];

/// A scene of tests with a scheme of `pbd`.
fn with_scheme(name: &str, scheme: &str, set: &[&str]) -> Simulation {
    let scheme = format!("solver.pbd.scheme={scheme}");
    start_file(&format!("tests/{name}.toml"), &[set, &[&scheme]].concat())
}

fn velocities(state: &Checkpoint) -> impl Iterator<Item = Vec3> {
    let values = floats(state, "velocity").as_chunks::<3>().0;
    values.iter().map(|v| Vec3::from_array(*v))
}

fn momentum(state: &Checkpoint) -> DVec3 {
    let mass = floats(state, "mass").iter().map(|m| f64::from(*m));
    mass.zip(velocities(state))
        .map(|(m, v)| m * v.as_dvec3())
        .sum()
}

#[test]
fn colliding_clouds_conserve_momentum() {
    let change = |scheme: &str| {
        let mut run = with_scheme("clouds", scheme, &[]);
        let before = run.save().unwrap();
        advance(&mut run, 60);
        let after = run.save().unwrap();
        let mass: f32 = floats(&before, "mass").iter().sum();
        (momentum(&after) - momentum(&before)).length() / f64::from(mass)
    };
    assert!(change("mass splitting") < 1e-5);
    assert!(change("gauss-seidel") < 1e-5);
    // Negative control: averaged corrections (Eq. 9) do not conserve momentum, since grains differ in their number of contacts.
    assert!(change("averaged") > 1e-4);
}

/// Acceleration of a single grain down an incline [m/s²].
fn slide(scheme: &str, degrees: f64, friction: f64) -> f64 {
    let gravity = format!("gravity={}", tilted(degrees));
    let friction = format!("collider.plane.friction={friction}");
    let mut run = with_scheme("grain", scheme, &[&gravity, &friction]);
    assert_eq!(run.particles(), 1);
    let mut velocity = || {
        advance(&mut run, 2);
        velocities(&run.save().unwrap()).next().unwrap().x
    };
    let before = velocity();
    f64::from(velocity() - before)
}

#[test]
fn every_scheme_obeys_coulomb_friction() {
    let friction = 20f64.to_radians().tan();
    for scheme in SCHEMES {
        let a = slide(scheme, 30.0, friction);
        assert!((a / 1.8128 - 1.0).abs() < 2e-3, "{scheme}: {a}");
        let held = slide(scheme, 19.0, friction);
        assert!(held.abs() < 1e-4, "{scheme}: {held}");
        // Negative control: just above the friction angle the grain slides.
        assert!(slide(scheme, 21.5, friction) > 0.1, "{scheme}");
    }
}

#[test]
fn pbd_refuses_elastic_materials() {
    let elastic = Simulation::new(&scene_file("tests/rubber.toml", &[]));
    let error = elastic.err().unwrap().to_string();
    assert!(error.contains("rubber") && error.contains("mpm"), "{error}");
}

// ---- Random scenes ----

/// Deterministic random numbers in [0, 1).
struct Random(u64);

impl Random {
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

    fn one_of<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[(self.next() * texts.len() as f64) as usize]
    }
}

/// A small random scene, and its reference speed: the largest speed given in it plus that of a fall [m/s].
fn random_scene(d: &mut Random) -> (Vec<String>, f64) {
    let (g, width) = (d.decades(0.5, 30.0), d.within(0.4, 0.8));
    let mut set = vec![
        format!("dimensions={}", d.one_of(&["2", "3", "3"])),
        format!("gravity=[{},{},0]", d.within(-0.3, 0.3) * g, -g),
    ];
    for (key, values) in [
        ("yield", &["radial", "per component"][..]),
        ("wall_friction", &["coulomb", "viscous"]),
        ("static_friction", &["true", "false"]),
        ("discrete_forces", &["true", "false"]),
        ("sleep_velocity", &["0", "0.02"]),
        ("iterations", &["1", "2", "3", "4", "5", "6", "7"]),
    ] {
        set.push(format!("solver.sph.{key}={}", d.one_of(values)));
    }
    match d.one_of(&["", "", "density_error=0.01", "max_dt=0.01"]) {
        "" => {}
        more => set.push(format!("solver.sph.{more}")),
    }
    let mut fastest = 0.0f64;
    for (name, above) in [("a", 0.0), ("b", 0.3)] {
        // The second lies higher, so that part of it remains.
        let low = d.within(0.0, 0.3) + above;
        let speed = d.within(0.0, 3.0);
        fastest = fastest.max(speed);
        let property = d.one_of(&[
            "sph.viscosity=0",
            "sph.viscosity=0.3",
            "sph.cohesion_intensity=0.7",
            "cohesion=1e4",
            "sph.viscosity=2",
        ]);
        let (right, high) = (d.within(-0.2, 0.7) * width, low + d.within(0.15, 0.5));
        set.extend([
            format!("materials.{name}.density={}", d.decades(100.0, 1e4)),
            format!("materials.{name}.friction_angle={}", d.within(0.0, 80.0)),
            format!("materials.{name}.{property}"),
            format!("fill.{name}.velocity=[{speed},0,0]"),
            format!("fill.{name}.shape.box.min=[{},{low},-0.2]", -0.7 * width),
            format!("fill.{name}.shape.box.max=[{right},{high},0.2]"),
        ]);
    }
    for (name, x) in [("left", -width), ("right", width), ("floor", 0.0)] {
        let boundary = d.one_of(&["separating", "separating", "sticky", "slipping"]);
        set.extend([
            format!("collider.{name}.shape.half_space.point=[{x},0,0]"),
            format!("collider.{name}.friction={}", d.within(0.0, 2.0)),
            format!("collider.{name}.boundary={boundary}"),
        ]);
    }
    if d.next() < 0.5 {
        let speed = d.within(-2.0, 2.0);
        fastest = fastest.max(speed.abs());
        let (x, radius) = (-speed.signum() * 0.9 * width, d.within(0.02, 0.2));
        set.extend([
            format!("collider.ball.shape.sphere={{center=[{x},0.3,0],radius={radius}}}"),
            format!("collider.ball.motion={{velocity=[{speed},0,0]}}"),
        ]);
    }
    set.push(match d.next() < 0.5 {
        true => format!("body.box.density={}", d.decades(50.0, 2e4)),
        false => "body=[]".into(),
    });
    (set, fastest + (2.0 * g * (2.0 + width)).sqrt())
}

/// Largest speed [m/s] in 15 frames; pressures are never negative.
fn fastest(scene: &Scene) -> Option<f64> {
    // A fill inside the other one may have no particles left.
    let mut run = Simulation::new(scene).ok()?;
    let mut fastest = 0.0f64;
    for _ in 0..15 {
        advance(&mut run, 1);
        let state = run.save().unwrap();
        let mut pressures = floats(&state, "pressure").iter();
        assert!(pressures.all(|p| p.is_finite() && *p >= 0.0));
        let speeds = velocities(&state).map(|v| f64::from(v.length()));
        fastest = speeds.fold(fastest, f64::max);
    }
    Some(fastest)
}

#[test]
fn random_scenes_stay_bounded() {
    let mut dice = Random(2024);
    let (mut worst, mut runs) = (0.0f64, 0);
    for case in 0..240 {
        let (set, own) = random_scene(&mut dice);
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let scene = scene_file("tests/anything.toml", &set);
        let Some(speed) = fastest(&scene) else {
            continue;
        };
        println!("{case}: {:.2} times the reference speed", speed / own);
        worst = worst.max(speed / own);
        runs += 1;
        // Overlapping fills have twice the rest density and repel each other.
        assert!(speed < 10.0 * own, "{case}: {set:?}");
    }
    println!("largest of {runs}: {worst:.2} times the reference speed");
    assert!(runs > 200, "{runs}");
}
