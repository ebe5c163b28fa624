//! The position-based solver as a whole: same bytes, conservation, rest, friction on an incline, and that nothing explodes.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use barchan_frame::Checkpoint;
use barchan_sim::simulation::Simulation;
use glam::{DVec3, Vec3};
use support::{advance, floats, scene, start};

const SCHEMES: [&str; 3] = ["mass splitting", "averaged", "gauss-seidel"];

const HEAP: &str = r#"
[solver]
method = "pbd"
resolution = 0.1
[materials.soil]
preset = "dry sand"
[materials.soil.pbd]
adhesion = 200
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

fn heap(scheme: &str) -> String {
    HEAP.replace("[solver]", &format!("[solver]\npbd.scheme = \"{scheme}\""))
}

fn in_pool<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.unwrap().install(work)
}

fn vectors(state: &Checkpoint, name: &str) -> Vec<Vec3> {
    let values = floats(state, name).as_chunks::<3>().0;
    values.iter().map(|v| Vec3::from_array(*v)).collect()
}

fn momentum(state: &Checkpoint) -> DVec3 {
    let mass = floats(state, "mass");
    let velocity = vectors(state, "velocity");
    (mass.iter().zip(velocity))
        .map(|(m, v)| f64::from(*m) * v.as_dvec3())
        .sum()
}

#[test]
fn the_same_bytes_for_any_number_of_threads_and_after_a_resume() {
    for scheme in SCHEMES {
        let text = heap(scheme);
        let run = |threads: usize, frames: u32| {
            in_pool(threads, || {
                let mut simulation = start(&text);
                advance(&mut simulation, frames);
                simulation.save().unwrap()
            })
        };
        let one = run(1, 60);
        assert_eq!(one.digest(), run(2, 60).digest(), "{scheme}");
        let half = run(2, 30);
        let mut resumed = Simulation::resume(&scene(&text), &half).unwrap();
        advance(&mut resumed, 30);
        let state = resumed.save().unwrap();
        assert_eq!(one.digest(), state.digest(), "{scheme}: resumed");
        // Negative control: a grain that moved by a hair is another state.
        let mut other = half.clone();
        support::floats_mut(&mut other, "position")[0] += 1e-6;
        let mut changed = Simulation::resume(&scene(&text), &other).unwrap();
        advance(&mut changed, 30);
        assert_ne!(one.digest(), changed.save().unwrap().digest());
    }
}

const CLOUDS: &str = r#"
gravity = [0, 0, 0]
[solver]
method = "pbd"
resolution = 0.1
[solver.pbd]
error_reduction = 0
[[fill]]
material = "dry sand"
velocity = [1, 0, 0]
shape = { sphere = { center = [-0.5, 0, 0], radius = 0.4 } }
[[fill]]
material = "gravel"
velocity = [-1, 0.3, 0]
shape = { sphere = { center = [0.5, 0.1, 0], radius = 0.4 } }
"#;

#[test]
fn clouds_that_meet_keep_their_momentum() {
    let change = |scheme: &str| {
        let text = CLOUDS.replace(
            "error_reduction",
            &format!("scheme = \"{scheme}\"\nerror_reduction"),
        );
        let mut simulation = start(&text);
        let before = simulation.save().unwrap();
        advance(&mut simulation, 60);
        let after = simulation.save().unwrap();
        let mass: f32 = floats(&before, "mass").iter().sum();
        (momentum(&after) - momentum(&before)).length() / f64::from(mass)
    };
    assert!(change("mass splitting") < 1e-5);
    assert!(change("gauss-seidel") < 1e-5);
    // Negative control: the mean of the corrections (Eq. 9) gives what touches much less than what touches little.
    assert!(change("averaged") > 1e-4);
}

#[test]
fn a_heap_at_rest_stays_at_rest_for_a_minute() {
    let text = r#"
        frame_rate = 1
        [solver]
        method = "pbd"
        resolution = 0.1
        [[collider]]
        shape = { half_space = { normal = [0, 1, 0] } }
        friction = 0.6
        [[fill]]
        material = "dry sand"
        shape = { box = { min = [-0.4, 0, -0.4], max = [0.4, 0.6, 0.4] } }
    "#;
    let mut simulation = start(text);
    advance(&mut simulation, 5);
    let before = simulation.save().unwrap();
    advance(&mut simulation, 60);
    let after = simulation.save().unwrap();
    let by_id = |state: &Checkpoint| {
        let ids = state.column("id").unwrap().data.as_u32().unwrap().to_vec();
        let mut all: Vec<_> = ids.into_iter().zip(vectors(state, "position")).collect();
        all.sort_by_key(|(id, _)| *id);
        all
    };
    let moved = (by_id(&before).iter().zip(by_id(&after)))
        .map(|(a, b)| a.1.distance(b.1))
        .fold(0.0, f32::max);
    assert!(moved < 0.1 * 0.05, "{moved}");
    // It is a heap: as high as it was poured, or nearly.
    let top = vectors(&after, "position")
        .iter()
        .map(|p| p.y)
        .fold(0.0, f32::max);
    assert!(top > 0.35, "{top}");
}

/// Acceleration of single grains down an incline [m/s²] (D1, J4), through the whole solver.
fn slide(scheme: &str, degrees: f64, friction: f64) -> f64 {
    let (sin, cos) = degrees.to_radians().sin_cos();
    let text = format!(
        r#"
        gravity = [{}, {}, 0]
        frame_rate = 2
        [solver]
        method = "pbd"
        resolution = 0.1
        [solver.pbd]
        scheme = "{scheme}"
        radius_spread = 0
        sleep_threshold = 0
        [[collider]]
        shape = {{ half_space = {{ normal = [0, 1, 0] }} }}
        friction = {friction}
        [[fill]]
        material = "dry sand"
        sampling = "lattice"
        shape = {{ box = {{ min = [0, 0.0, 0], max = [0.08, 0.12, 0.08] }} }}
        "#,
        9.81 * sin,
        -9.81 * cos
    );
    let mut simulation = start(&text);
    assert_eq!(simulation.particles(), 1);
    advance(&mut simulation, 2);
    let before = vectors(&simulation.save().unwrap(), "velocity")[0].x;
    advance(&mut simulation, 2);
    let after = vectors(&simulation.save().unwrap(), "velocity")[0].x;
    f64::from(after - before)
}

#[test]
fn grains_slide_as_coulomb_says() {
    let friction = 20f64.to_radians().tan();
    for scheme in SCHEMES {
        let a = slide(scheme, 30.0, friction);
        assert!((a / 1.8128 - 1.0).abs() < 2e-3, "{scheme}: {a}");
        let held = slide(scheme, 19.0, friction);
        assert!(held.abs() < 1e-4, "{scheme}: {held}");
        // Negative control: just above the angle of friction it slides.
        assert!(slide(scheme, 21.5, friction) > 0.1, "{scheme}");
    }
}

#[test]
fn settings_that_pbd_cannot_follow_are_refused() {
    let elastic = "[solver]\nmethod = \"pbd\"\nresolution = 0.1\n[[fill]]\nmaterial = \"rubber\"\n\
                   shape = { sphere = { center = [0, 0, 0], radius = 1 } }\n";
    let error = Simulation::new(&scene(elastic)).err().unwrap().to_string();
    assert!(error.contains("rubber") && error.contains("mpm"), "{error}");
}
