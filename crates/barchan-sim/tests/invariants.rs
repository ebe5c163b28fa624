//! What must hold whatever the scene: the same bytes for any number of threads and after a resume, and errors
//! instead of panics.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use barchan_frame::{Checkpoint, ColumnData};
use barchan_scene::{Overrides, Scene, SceneSource, load};
use barchan_sim::math::Level;
use barchan_sim::sampling::Samples;
use barchan_sim::simulation::{Control, Simulation, SimulationError};
use barchan_sim::solver::{Solver, SolverError};
use barchan_sim::solvers::build_on;
use barchan_sim::solvers::mpm::Mpm;
use glam::{Mat3, Vec3};
use std::path::Path;
use support::*;

/// A golden scene with settings changed.
fn golden(name: &str, set: &[&str]) -> Scene {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/golden");
    let source = SceneSource::from_file(&folder.join(name)).unwrap();
    let overrides = Overrides {
        set: set.iter().map(|s| (*s).to_owned()).collect(),
        ..Overrides::default()
    };
    load(&source, &overrides).unwrap_or_else(|e| panic!("{e:?}"))
}

fn solver_of(scene: &Scene) -> Mpm {
    Mpm::new(scene, Level::new()).unwrap()
}

/// Advances as the command line does: a frame is written after each.
fn advance_writing(run: &mut Simulation, frames: u32) {
    for _ in 0..frames {
        advance(run, 1);
        run.write_frame().unwrap();
    }
}

// ---- The same bytes ----

fn end_state(scene: &Scene, frames: u32, threads: usize) -> (String, Checkpoint) {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    pool.install(|| {
        let mut run = Simulation::new(scene).unwrap();
        advance_writing(&mut run, frames);
        let state = run.save().unwrap();
        (state.digest(), state)
    })
}

#[test]
fn thread_count_does_not_change_a_byte() {
    for name in ["busy2d.toml", "busy3d.toml"] {
        let mut digests = Vec::new();
        for kernel in ["quadratic", "cubic"] {
            for transfer in ["apic", "flip"] {
                let set = [
                    &*format!("solver.mpm.kernel={kernel}"),
                    &*format!("solver.mpm.transfer={transfer}"),
                ];
                let scene = golden(name, &set);
                let (one, state) = end_state(&scene, 8, 1);
                for threads in [2, 3] {
                    let (many, _) = end_state(&scene, 8, threads);
                    assert_eq!(one, many, "{name} {kernel} {transfer}: {threads} threads");
                }
                assert!(state.particles() > 100);
                digests.push(one);
            }
        }
        // The digest tells kernels and transfers apart.
        digests.sort();
        digests.dedup();
        assert_eq!(digests.len(), 4);
    }
}

#[test]
fn a_resumed_run_is_the_undisturbed_one() {
    for name in ["busy2d.toml", "busy3d.toml"] {
        let scene = golden(name, &[]);
        let mut run = Simulation::new(&scene).unwrap();
        let mut states = vec![run.save().unwrap()];
        for _ in 0..8 {
            advance_writing(&mut run, 1);
            states.push(run.save().unwrap());
        }
        let end = states[8].digest();
        assert!(run.counters().emitted[0] > 0 && run.counters().drained[0] > 0);
        for from in [0, 1, 4, 7] {
            let mut resumed = Simulation::resume(&scene, &states[from]).unwrap();
            advance_writing(&mut resumed, 8 - from as u32);
            let state = resumed.save().unwrap();
            assert_eq!(state.digest(), end, "{name} resumed at frame {from}");
            assert_eq!(resumed.counters(), run.counters());
            let mut loaded = Simulation::new(&scene).unwrap();
            advance(&mut loaded, 1);
            loaded.load(&states[from]).unwrap();
            advance_writing(&mut loaded, 8 - from as u32);
            assert_eq!(
                loaded.save().unwrap().digest(),
                end,
                "{name} loaded at {from}"
            );
        }
        // Negative control: one velocity changes by a ten-thousandth.
        let mut touched = states[4].clone();
        let middle = touched.particles() / 2;
        floats_mut(&mut touched, "velocity")[3 * middle + 1] *= 1.0001;
        let mut resumed = Simulation::resume(&scene, &touched).unwrap();
        advance_writing(&mut resumed, 4);
        assert_ne!(resumed.save().unwrap().digest(), end);
    }
}

/// Between two sorts the blocks of the particles are part of the state.
#[test]
fn a_checkpoint_between_sorts_keeps_the_blocks() {
    let collapse = |solver: &str, dimensions: u32, periodic: bool| {
        let domain = match periodic {
            true => "domain = { min = [-0.4, -1, -1], max = [0.4, 1, 1], periodic = [\"x\"] }",
            false => "",
        };
        scene(&format!(
            r#"
dimensions = {dimensions}
frames = 6
frame_rate = 200
{domain}
[solver]
resolution = 0.05
[solver.mpm]
{solver}
[materials.sand]
preset = "dry sand"
[[collider]]
shape = {{ half_space = {{ normal = [0, 1, 0] }} }}
[[fill]]
material = "sand"
shape = {{ box = {{ min = [0.1, 0, -0.1], max = [0.37, 0.4, 0.1] }} }}
velocity = [2, 0, 0]
"#
        ))
    };
    for solver in ["", "kernel = \"cubic\"", "transfer = \"flip\""] {
        for (dimensions, periodic) in [(2, false), (2, true), (3, false)] {
            let scene = collapse(solver, dimensions, periodic);
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

#[test]
fn saving_and_watching_do_not_disturb() {
    let scene = golden("busy2d.toml", &[]);
    let mut quiet = Simulation::new(&scene).unwrap();
    advance(&mut quiet, 6);
    let mut watched = Simulation::new(&scene).unwrap();
    for _ in 0..6 {
        let mut steps = 0;
        while watched
            .advance_frame(&mut |_| {
                steps += 1;
                if steps % 7 == 0 {
                    Control::Stop
                } else {
                    Control::Continue
                }
            })
            .unwrap()
            == Control::Stop
        {
            assert!(matches!(watched.save(), Err(SimulationError::MidFrame)));
        }
        watched.save().unwrap();
    }
    assert_eq!(
        quiet.save().unwrap().digest(),
        watched.save().unwrap().digest()
    );
}

#[test]
fn portable_code_gives_the_same_motion() {
    for name in ["busy2d.toml", "busy3d.toml"] {
        let scene = golden(name, &[]);
        let mut best = Simulation::new(&scene).unwrap();
        let solver = build_on(&scene, Level::baseline()).unwrap();
        let mut portable = Simulation::with_solver(&scene, solver).unwrap();
        for run in [&mut best, &mut portable] {
            advance(run, 3);
        }
        let worst = worst_distance(&particles(&mut best), &particles(&mut portable));
        println!(
            "{name}: portable code differs by {:.1e} dx",
            worst / scene.solver.resolution
        );
        assert!(worst < 0.01 * scene.solver.resolution, "{worst} m");
    }
}

/// Largest distance [m] between particles of the same identity.
fn worst_distance(a: &[Particle], b: &[Particle]) -> f64 {
    assert_eq!(a.len(), b.len());
    let distance = |(a, b): (&Particle, &Particle)| {
        assert_eq!(a.id, b.id);
        f64::from((a.x - b.x).length())
    };
    a.iter().zip(b).map(distance).fold(0.0, f64::max)
}

// ---- Errors ----

fn small_drop() -> Scene {
    scene(
        r#"
frame_rate = 50
[solver]
resolution = 0.05
[materials.sand]
density = 1600
young = 2e5
poisson = 0.3
friction_angle = 30
[[fill]]
material = "sand"
shape = { box = { min = [0, 0, 0], max = [0.2, 0.2, 0.2] } }
"#,
    )
}

/// What stops a run whose state was changed by `spoil`.
fn spoiled(spoil: impl Fn(&mut Checkpoint)) -> SimulationError {
    let mut run = Simulation::new(&small_drop()).unwrap();
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
        let mut run = Simulation::new(&small_drop()).unwrap();
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
    let scene = small_drop();
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
        let mut run = start(&format!(
            r#"
dimensions = {dimensions}
frame_rate = 50
[solver]
resolution = 0.05
[[emitter]]
material = "dry sand"
shape = {{ sphere = {{ center = [0, 1, 0], radius = 0.1 }} }}
velocity = [0, -1, 0]
start = 0.1
end = 0.2
[[collider]]
name = "floor"
shape = {{ half_space = {{ normal = [0, 1, 0] }} }}
[[drain]]
name = "all"
shape = {{ box = {{ min = [-9, -9, -9], max = [9, 9, 9] }} }}
start = 0.3
"#
        ));
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
