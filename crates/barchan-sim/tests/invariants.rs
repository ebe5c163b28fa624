//! Checkpoints of mpm between sorts, and errors instead of panics.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use barchan_frame::{Checkpoint, ColumnData};
use barchan_scene::Scene;
use barchan_sim::math::Level;
use barchan_sim::sampling::Samples;
use barchan_sim::simulation::{Control, Simulation, SimulationError};
use barchan_sim::solver::{Solver, SolverError};
use barchan_sim::solvers::METHODS;
use barchan_sim::solvers::mpm::Mpm;
use glam::{Mat3, Vec3};
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
            // Negative control: without the blocks the state is sorted at once, into another order.
            let mut without = states[between].clone();
            without.columns.retain(|c| c.name != "block");
            assert_ne!(finish(&without, 5 - between as u32), end);
            // Blocks of another grid are ignored.
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

// ---- Errors ----

fn small_block() -> Scene {
    scene_file(
        "tests/block.toml",
        &["frame_rate=50", "solver.resolution=0.05"],
    )
}

/// The error that stops a run after its state was corrupted by `spoil`.
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
    panic!("the run did not stop");
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
            // It spreads to neighbors within the step; the error names the particle or one of them.
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
            for word in ["frame 2", &format!("particle {id}"), "solver.mpm.max_dt"] {
                assert!(text.contains(word), "{text}");
            }
        }
    }
}

#[test]
fn a_nan_is_reported_with_the_settings_of_the_solver_at_hand() {
    let families = || METHODS.iter().map(|m| m.family.name);
    for own in families() {
        let method = format!("solver.method={own}");
        let mut run = start_file("tests/box_on_bed.toml", &[&method]);
        advance(&mut run, 1);
        let mut state = run.save().unwrap();
        floats_mut(&mut state, "velocity")[3 * 7] = f32::NAN;
        run.load(&state).unwrap();
        let error = run.advance_frame(&mut |_| Control::Continue).unwrap_err();
        let SimulationError::Solver { source, .. } = &error else {
            panic!("{error}")
        };
        assert!(matches!(source, SolverError::NotFinite { .. }), "{error}");
        for family in families() {
            let is_named = error.to_string().contains(&format!("solver.{family}."));
            assert_eq!(is_named, family == own, "{error}");
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

/// Beyond 2²² cells of 0.05 m. The negative control lies within.
#[test]
fn a_fill_beyond_the_grid_is_refused_at_its_place() {
    let scene_at = |x: f64| {
        let shape = format!(
            "fill.block.shape.box={{ min = [{x}, 0, -0.1], max = [{}, 0.4, 0.1] }}",
            x + 0.5
        );
        scene_file("tests/block.toml", &["solver.resolution=0.05", &shape])
    };
    let scene = scene_at(3e5);
    let error = Simulation::new(&scene).map(drop).unwrap_err();
    let placed = error.in_scene(&scene).unwrap();
    let [fault] = placed.errors() else {
        panic!("{placed:?}")
    };
    assert!(fault.message().contains("addressable grid"), "{fault:?}");
    assert!(Simulation::new(&scene_at(1e5)).is_ok());
}

#[test]
fn a_particle_that_leaves_the_grid_is_an_error() {
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
fn a_too_small_step_is_an_error() {
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
fn a_scene_without_particles_can_be_stepped() {
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
