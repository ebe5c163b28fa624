//! What must hold for mpm whatever the scene: checkpoints between sorts, symmetry, conservation, and errors instead of panics.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use barchan_frame::{Checkpoint, ColumnData};
use barchan_scene::Scene;
use barchan_sim::math::Level;
use barchan_sim::sampling::Samples;
use barchan_sim::simulation::{Control, Simulation, SimulationError};
use barchan_sim::solver::{Solver, SolverError};
use barchan_sim::solvers::mpm::Mpm;
use glam::{DVec3, Mat3, Vec3};
use support::*;

fn solver_of(scene: &Scene) -> Mpm {
    Mpm::new(scene, Level::new()).unwrap()
}

/// Between two sorts the blocks of the particles are part of the state.
#[test]
fn a_checkpoint_between_sorts_keeps_the_blocks() {
    let periodic = "domain={ min = [-0.4, -1, -1], max = [0.4, 1, 1], periodic = [\"x\"] }";
    let unbounded = "seed=1";
    for solver in ["kernel=quadratic", "kernel=cubic", "transfer=flip"] {
        for (dimensions, domain) in [(2, unbounded), (2, periodic), (3, unbounded)] {
            let set = [
                &format!("dimensions={dimensions}"),
                &format!("solver.mpm.{solver}"),
                domain,
                "frame_rate=200",
                "solver.resolution=0.05",
                "fill.block.shape.box={ min = [0.1, 0, -0.1], max = [0.37, 0.4, 0.1] }",
                "fill.block.velocity=[2, 0, 0]",
            ];
            let scene = scene_file("tests/block.toml", &set);
            let mut run = Simulation::new(&scene).unwrap();
            let mut states = Vec::new();
            for _ in 0..6 {
                advance(&mut run, 1);
                states.push(run.save().unwrap());
            }
            let end = states[5].digest();
            let sorted = |s: &Checkpoint| s.column("block").is_some();
            let between = states[..5].iter().rposition(sorted).unwrap();
            let finish = |from: &Checkpoint, frames: u32| {
                let mut resumed = Simulation::resume(&scene, from).unwrap();
                advance(&mut resumed, frames);
                resumed.save().unwrap().digest()
            };
            for (from, frames) in states[..5].iter().zip([5, 4, 3, 2, 1]) {
                assert_eq!(finish(from, frames), end, "{solver}, {dimensions}D");
            }
            // Negative control: without its blocks the state is sorted at once, and the order of particles is another.
            let mut without = states[between].clone();
            without.columns.retain(|c| c.name != "block");
            assert_ne!(finish(&without, 5 - between as u32), end);
            // Blocks of another grid are not believed.
            let mut wrong = states[between].clone();
            let Some(blocks) = wrong.columns.iter_mut().find(|c| c.name == "block") else {
                panic!("it has blocks");
            };
            let ColumnData::U64(keys) = &mut blocks.data else {
                panic!("keys");
            };
            keys.iter_mut().for_each(|key| *key += 3);
            assert_eq!(
                finish(&wrong, 5 - between as u32),
                finish(&without, 5 - between as u32)
            );
        }
    }
}

/// Largest distance [m] between a particle of `b` and the one of `a` with its id, mapped by `map`.
fn worst_distance(a: &[Particle], b: &[Particle], map: Mat3) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter()
        .zip(b)
        .map(|(a, b)| {
            assert_eq!(a.id, b.id);
            f64::from((map * a.x - b.x).length())
        })
        .fold(0.0, f64::max)
}

// ---- Symmetry ----

/// Sand falling askew past a ball that stands at `ball`, onto a floor.
fn askew(ball: Vec3, gravity: Vec3) -> Scene {
    scene(&format!(
        r#"
frame_rate = 50
gravity = [{}, {}, {}]
[solver]
resolution = 0.05
[materials.sand]
density = 1600
young = 2e5
poisson = 0.3
friction_angle = 30
[[fill]]
material = "sand"
shape = {{ box = {{ min = [-0.13, 0.02, -0.11], max = [0.17, 0.37, 0.15] }} }}
[[collider]]
name = "floor"
shape = {{ half_space = {{ normal = [0, 1, 0] }} }}
[[collider]]
name = "ball"
shape = {{ sphere = {{ center = [{}, {}, {}], radius = 0.1 }} }}
"#,
        gravity.x, gravity.y, gravity.z, ball.x, ball.y, ball.z
    ))
}

/// The state as seen in a mirror or turned: positions, velocities and tensors mapped by `map`.
fn mapped(state: &Checkpoint, map: Mat3) -> Checkpoint {
    let mut out = state.clone();
    for name in ["position", "velocity"] {
        for v in floats_mut(&mut out, name).chunks_mut(3) {
            (map * Vec3::from_slice(v)).write_to_slice(v);
        }
    }
    for c in floats_mut(&mut out, "affine").chunks_mut(9) {
        let m = Mat3::from_cols_slice(c).transpose();
        (map * m * map.transpose())
            .transpose()
            .write_cols_to_slice(c);
    }
    for name in ["strain", "stress"] {
        for e in floats_mut(&mut out, name).chunks_mut(6) {
            let [xx, yy, zz, yz, xz, xy] = <[f32; 6]>::try_from(&*e).unwrap();
            let m = Mat3::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz]);
            let m = map * m * map.transpose();
            let c = |i: usize, j: usize| m.col(j)[i];
            e.copy_from_slice(&[c(0, 0), c(1, 1), c(2, 2), c(1, 2), c(0, 2), c(0, 1)]);
        }
    }
    out
}

#[test]
fn a_mirrored_or_turned_scene_gives_the_mirrored_or_turned_result() {
    let mirror = Mat3::from_diagonal(Vec3::new(-1.0, 1.0, 1.0));
    let quarter = Mat3::from_cols(Vec3::NEG_Z, Vec3::Y, Vec3::X);
    let (ball, gravity) = (Vec3::new(0.22, 0.1, 0.06), Vec3::new(2.0, -9.5, 0.7));
    let mut run = Simulation::new(&askew(ball, gravity)).unwrap();
    advance(&mut run, 2);
    let start = run.save().unwrap();
    let moved = mean_position(&of_checkpoint(&start));
    advance(&mut run, 3);
    let end = particles(&mut run);
    assert!(
        (mean_position(&end) - moved).length() > 0.01,
        "something happens"
    );
    for map in [mirror, quarter] {
        let mut other = Simulation::new(&askew(map * ball, map * gravity)).unwrap();
        advance(&mut other, 2);
        other.load(&mapped(&start, map)).unwrap();
        advance(&mut other, 3);
        let worst = worst_distance(&end, &particles(&mut other), map) / 0.05;
        println!("mapped scene differs by {worst:.1e} dx");
        assert!(worst < 2e-3, "{worst} dx");
    }
    // Negative control: the ball stays where it was.
    let mut other = Simulation::new(&askew(ball, mirror * gravity)).unwrap();
    advance(&mut other, 2);
    other.load(&mapped(&start, mirror)).unwrap();
    advance(&mut other, 3);
    assert!(worst_distance(&end, &particles(&mut other), mirror) > 0.02 * 0.05);
}

/// Run-out of a 2D column: distance between the outermost particles [m], 1 % cut off on each side.
fn runout(shift: f64) -> f64 {
    let mut run = start(
        r#"
dimensions = 2
frame_rate = 20
[solver]
resolution = 0.02
[materials.sand]
density = 1600
young = 3e5
poisson = 0.3
friction_angle = 30
[[fill]]
material = "sand"
shape = { box = { min = [-0.1, 0], max = [0.1, 0.2] } }
[[collider]]
name = "floor"
shape = { half_space = { normal = [0, 1] } }
friction = 0.6
"#,
    );
    let mut state = run.save().unwrap();
    for p in floats_mut(&mut state, "position").chunks_mut(3) {
        p[0] += shift as f32;
    }
    run.load(&state).unwrap();
    advance(&mut run, 30);
    let mut x: Vec<f32> = particles(&mut run).iter().map(|p| p.x.x).collect();
    x.sort_by(f32::total_cmp);
    let cut = x.len() / 100;
    f64::from(x[x.len() - 1 - cut] - x[cut])
}

#[test]
fn a_shift_by_part_of_a_cell_hardly_changes_the_runout() {
    let at = runout(0.0);
    for cells in [0.25, 0.5, 0.37] {
        let shifted = runout(cells * 0.02);
        println!("shifted by {cells} cells: run-out {shifted:.4} m, before {at:.4} m");
        assert!((shifted / at - 1.0).abs() < 0.02, "{shifted} of {at} m");
    }
}

// ---- Conservation ----

/// Total momentum [kg m/s] of a state, by the density of each material.
fn momentum(all: &[Particle], density: &[f64]) -> DVec3 {
    all.iter()
        .map(|p| p.v.as_dvec3() * f64::from(p.volume) * density[p.material as usize])
        .sum()
}

#[test]
fn a_ball_and_sand_exchange_momentum_exactly() {
    let mut run = start(
        r#"
frame_rate = 50
gravity = [0, 0, 0]
[solver]
resolution = 0.05
[materials.sand]
density = 1600
young = 2e5
poisson = 0.3
friction_angle = 30
[materials.ball]
law = "elastic"
density = 1100
young = 2e5
poisson = 0.4
[[fill]]
material = "sand"
shape = { box = { min = [0, 0, 0], max = [0.4, 0.3, 0.3] } }
[[fill]]
material = "ball"
shape = { sphere = { center = [-0.18, 0.17, 0.15], radius = 0.15 } }
velocity = [3, 0.5, -0.2]
"#,
    );
    let density = [1600.0, 1100.0];
    let ball = |all: &[Particle]| {
        let own: Vec<Particle> = all.iter().filter(|p| p.material == 1).copied().collect();
        momentum(&own, &density)
    };
    let first = particles(&mut run);
    let before = momentum(&first, &density);
    advance(&mut run, 10);
    let last = particles(&mut run);
    let change = (momentum(&last, &density) - before).length() / before.length();
    let given = (ball(&last) - ball(&first)).length() / before.length();
    println!(
        "momentum: {change:.1e} lost, {given:.2} exchanged, {} steps",
        run.counters().substeps
    );
    assert!(given > 0.2, "the ball hits the sand");
    // Each step rounds each of some ten thousand sums at 6e-8, mostly canceling.
    assert!(change < 1e-5, "{change}");
}

// ---- Errors ----

fn small_block() -> Scene {
    scene_file(
        "tests/block.toml",
        &["frame_rate=50", "solver.resolution=0.05"],
    )
}

/// What stops a run whose state was changed by `spoil`.
fn spoiled(spoil: impl Fn(&mut Checkpoint)) -> SimulationError {
    let mut run = Simulation::new(&small_block()).unwrap();
    advance(&mut run, 1);
    let mut state = run.save().unwrap();
    spoil(&mut state);
    run.load(&state).unwrap();
    for _ in 0..50 {
        if let Err(error) = run.advance_frame(&mut |_| Control::Continue) {
            return error;
        }
    }
    panic!("the run went on");
}

#[test]
fn a_nan_stops_the_run_with_the_particle_and_the_setting() {
    let healthy = {
        let mut run = Simulation::new(&small_block()).unwrap();
        advance(&mut run, 1);
        run.save().unwrap()
    };
    for (column, components) in [("velocity", 3), ("strain", 6), ("stress", 6), ("affine", 9)] {
        for bad in [f32::NAN, f32::INFINITY] {
            let index = 77;
            let error = spoiled(|s| floats_mut(s, column)[index * components] = bad);
            let SimulationError::Solver { frame, source } = &error else {
                panic!("{error}")
            };
            let SolverError::NotFinite { id, dt, .. } = source else {
                panic!("{column} {bad}: {source}")
            };
            assert_eq!(*frame, 2);
            assert!(*dt > 0.0);
            // It has spread to neighbors within the step; the named one is the particle or one of them.
            let at = |id: usize| {
                let all = of_checkpoint(&healthy);
                all.iter().find(|p| p.id as usize == id).unwrap().x
            };
            let ids = match &healthy.column("id").unwrap().data {
                barchan_frame::ColumnData::U32(ids) => ids.clone(),
                _ => panic!(),
            };
            let distance = (at(ids[index] as usize) - at(*id as usize))
                .abs()
                .max_element();
            assert!(distance < 3.0 * 0.05, "{column}: {distance} m away");
            let text = error.to_string();
            for word in ["frame 2", &format!("particle {id}"), "max_dt"] {
                assert!(text.contains(word), "{text}");
            }
        }
    }
}

#[test]
fn a_position_out_of_range_is_an_error() {
    for bad in [f32::NAN, f32::INFINITY, -1e30, 1e9] {
        let error = spoiled(|s| floats_mut(s, "position")[5 * 3] = bad);
        let SimulationError::Solver { source, .. } = &error else {
            panic!("{error}")
        };
        assert!(
            matches!(source, SolverError::OutOfRange { .. }),
            "{bad}: {error}"
        );
        assert!(error.to_string().contains("domain"), "{error}");
    }
}

#[test]
fn a_particle_that_flies_off_the_grid_is_an_error() {
    // The grid ends at 2²² cells, where single precision still resolves a third of a cell.
    let edge = (1u32 << 22) as f32 * 0.05;
    let error = spoiled(|s| {
        floats_mut(s, "position")[0] = edge - 10.0 * 0.05;
        floats_mut(s, "velocity")[0] = 100.0;
    });
    let SimulationError::Solver { source, .. } = &error else {
        panic!("{error}")
    };
    assert!(matches!(source, SolverError::OutOfRange { .. }), "{error}");
}

#[test]
fn a_step_too_small_is_an_error() {
    let scene = small_block();
    let mut solver = solver_of(&scene);
    solver
        .emit(&Samples {
            position: vec![Vec3::ZERO],
            velocity: vec![Vec3::new(1e9, 0.0, 0.0)],
            velocity_gradient: Mat3::ZERO,
            material: 0,
            volume: 1e-5,
            volume_gain: 0.0,
            first_id: 1000,
            ..Samples::default()
        })
        .unwrap();
    let error = solver.pace().unwrap().dt().unwrap_err();
    assert!(matches!(error, SolverError::StepTooSmall { .. }), "{error}");
    assert!(error.to_string().contains("solver.resolution"), "{error}");
    let mut run = Simulation::with_solver(&scene, Box::new(solver)).unwrap();
    let error = run.advance_frame(&mut |_| Control::Continue).unwrap_err();
    assert!(
        matches!(error, SimulationError::Solver { frame: 1, .. }),
        "{error}"
    );
}

#[test]
fn nothing_at_all_steps_fine() {
    for dimensions in [2, 3] {
        let mut run = start_file("tests/spout.toml", &[&format!("dimensions={dimensions}")]);
        advance(&mut run, 4);
        assert_eq!(run.particles(), 0);
        run.write_frame().unwrap();
        let state = run.save().unwrap();
        run.load(&state).unwrap();
        advance(&mut run, 8);
        assert!(run.particles() > 10);
        advance(&mut run, 8);
        assert_eq!(run.particles(), 0);
        assert_eq!(run.counters().emitted, run.counters().drained);
    }
}
