//! Invariants of every solver, on the golden scenes: bitwise equal results for any number of threads, after a resume and with output
//! at any frame; nearly the same motion with portable code; plane motion stays plane.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use barchan_frame::{Checkpoint, FrameRecord};
use barchan_scene::{Dimensions, Scene};
use barchan_sim::math::Level;
use barchan_sim::simulation::{Control, Simulation, SimulationError};
use barchan_sim::solvers::build_on;
use glam::Vec3;
use std::collections::BTreeSet;
use support::*;

/// Settings of each solver that select other code paths.
const VARIANTS: &[(&str, &[&[&str]])] = &[
    (
        "mpm",
        &[
            &[],
            &["solver.mpm.kernel=cubic"],
            &["solver.mpm.transfer=flip"],
            &["solver.mpm.kernel=cubic", "solver.mpm.transfer=flip"],
        ],
    ),
    (
        "pbd",
        &[
            &[],
            &["solver.pbd.scheme=averaged"],
            &["solver.pbd.scheme=gauss-seidel"],
        ],
    ),
    (
        "sph",
        &[
            &[],
            &[
                "solver.sph.wall_friction=viscous",
                "solver.sph.density_error=0.01",
            ],
            &["solver.sph.sleep_velocity=0.01"],
        ],
    ),
];

/// Every golden scene by its name.
fn golden() -> Vec<(String, Scene)> {
    let folder = std::fs::read_dir(scene_path("golden")).unwrap();
    let names = folder.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    let scene = |name: String| {
        (
            format!("golden/{name}"),
            scene_file(&format!("golden/{name}"), &[]),
        )
    };
    names.into_iter().map(scene).collect()
}

/// Every golden scene with every variant of its solver; the description says which.
fn variants() -> Vec<(String, Scene)> {
    let mut all = Vec::new();
    for (name, scene) in golden() {
        let method = scene.solver.family.name;
        let own = VARIANTS.iter().find(|(solver, _)| *solver == method);
        let (_, own) = own.unwrap_or_else(|| panic!("`{method}` has no variants"));
        all.extend(
            own.iter()
                .map(|set| (format!("{name} {set:?}"), scene_file(&name, set))),
        );
    }
    all
}

/// Advances like the command line, which writes every frame; returns the record of the last one.
fn advance_writing(run: &mut Simulation, frames: u32) -> FrameRecord {
    let mut record = FrameRecord::default();
    for _ in 0..frames {
        advance(run, 1);
        record = run.write_frame().unwrap().record;
    }
    record
}

fn in_pool<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.unwrap().install(work)
}

/// State and record after some frames.
fn end_state(scene: &Scene, frames: u32, threads: usize) -> (Checkpoint, FrameRecord) {
    in_pool(threads, || {
        let mut run = Simulation::new(scene).unwrap();
        let record = advance_writing(&mut run, frames);
        (run.save().unwrap(), record)
    })
}

/// The eight frames of the tests below include digging.
#[test]
fn columns_are_cut_within_eight_frames() {
    let lowest = |set: &[&str]| {
        let scene = scene_file("golden/pbd3d.toml", set);
        let mut run = Simulation::new(&scene).unwrap();
        advance(&mut run, 8);
        let heights = run.height_field().unwrap().heights();
        heights.iter().copied().fold(f32::MAX, f32::min)
    };
    let cut = lowest(&[]);
    // Negative control: blade and paddle are above the ground.
    let raised = lowest(&[
        "collider.blade.shape={ box = { min = [0.85, 0.6, -0.3], max = [0.95, 0.9, 0.3] } }",
        "body.paddle.shape={ box = { min = [-0.08, 0.6, -0.25], max = [0, 0.7, 0.25] } }",
    ]);
    println!("lowest column {cut} m, {raised} m with blade and paddle raised");
    assert!(cut < -0.05, "{cut}");
    assert!(raised > -0.02, "{raised}");
}

#[test]
fn thread_count_does_not_change_a_byte() {
    let mut digests = BTreeSet::new();
    let all = variants();
    for (name, scene) in &all {
        let one = end_state(scene, 8, 1);
        for threads in [2, 3] {
            assert!(
                one == end_state(scene, 8, threads),
                "{name}: {threads} threads"
            );
        }
        assert!(one.0.particles() > 100, "{name}");
        digests.insert(one.0.digest());
    }
    // The digests of the variants differ.
    assert_eq!(digests.len(), all.len());
}

#[test]
fn a_resumed_run_is_bitwise_identical() {
    for (name, scene) in variants() {
        let mut run = Simulation::new(&scene).unwrap();
        let mut states = vec![run.save().unwrap()];
        let mut record = FrameRecord::default();
        for _ in 0..8 {
            record = advance_writing(&mut run, 1);
            states.push(run.save().unwrap());
        }
        for from in [0, 1, 4, 7] {
            let frames = 8 - from as u32;
            let resumed = Simulation::resume(&scene, &states[from]).unwrap();
            let mut loaded = Simulation::new(&scene).unwrap();
            advance(&mut loaded, 1);
            loaded.load(&states[from]).unwrap();
            for mut other in [resumed, loaded] {
                let end = advance_writing(&mut other, frames);
                assert!(
                    other.save().unwrap() == states[8],
                    "{name}, from frame {from}"
                );
                assert_eq!(other.counters(), run.counters(), "{name}");
                assert_eq!((&end.bodies, &end.joints), (&record.bodies, &record.joints));
            }
        }
        // Negative control: a tiny displacement of a particle gives another state.
        let mut touched = states[4].clone();
        let middle = touched.particles() / 2;
        floats_mut(&mut touched, "position")[3 * middle + 1] += 1e-6;
        let mut resumed = Simulation::resume(&scene, &touched).unwrap();
        advance_writing(&mut resumed, 4);
        assert_ne!(
            resumed.save().unwrap().digest(),
            states[8].digest(),
            "{name}"
        );
    }
}

/// Golden scenes exercise emission, removal and forces on moving bodies.
#[test]
fn golden_scenes_are_busy() {
    for (name, scene) in golden()
        .iter()
        .filter(|(_, scene)| !scene.emitters.is_empty())
    {
        let mut run = Simulation::new(scene).unwrap();
        let mut pushed = BTreeSet::new();
        for _ in 0..scene.frames {
            let record = advance_writing(&mut run, 1);
            let moved = record.bodies.iter().filter(|b| b.force != [0.0; 3]);
            pushed.extend(moved.map(|b| b.name.clone()));
        }
        let counters = run.counters();
        println!(
            "{name}: {} particles, {counters:?}, {pushed:?}",
            run.particles()
        );
        assert!(
            counters.emitted[0] > 0 && counters.drained[0] > 0,
            "{name}: {counters:?}"
        );
        for mover in scene.colliders.iter().filter(|c| !c.motion.is_static()) {
            assert!(pushed.contains(&mover.name), "{name}: {}", mover.name);
        }
        assert!(
            scene
                .bodies
                .iter()
                .all(|b| pushed.contains(&b.surface.name)),
            "{name}"
        );
    }
}

#[test]
fn saving_and_output_do_not_change_a_run() {
    for (name, scene) in golden() {
        let mut quiet = Simulation::new(&scene).unwrap();
        advance(&mut quiet, 6);
        let mut watched = Simulation::new(&scene).unwrap();
        for _ in 0..6 {
            let mut steps = 0;
            let mut pausing = |_: &_| {
                steps += 1;
                match steps % 7 {
                    0 => Control::Stop,
                    _ => Control::Continue,
                }
            };
            while watched.advance_frame(&mut pausing).unwrap() == Control::Stop {
                assert!(matches!(watched.save(), Err(SimulationError::MidFrame)));
            }
            watched.save().unwrap();
        }
        assert!(quiet.save().unwrap() == watched.save().unwrap(), "{name}");
    }
}

/// Positions of all particles by identity [m].
fn places(run: &mut Simulation) -> Vec<(u32, Vec3)> {
    let state = run.save().unwrap();
    let ids = state.column("id").unwrap().data.as_u32().unwrap();
    let places = floats(&state, "position").as_chunks::<3>().0;
    let all = ids
        .iter()
        .copied()
        .zip(places.iter().map(|p| Vec3::from(*p)));
    let mut all: Vec<_> = all.collect();
    all.sort_by_key(|(id, _)| *id);
    all
}

#[test]
fn portable_code_gives_the_same_motion() {
    for (name, scene) in golden() {
        let mut best = Simulation::new(&scene).unwrap();
        let solver = build_on(&scene, Level::baseline()).unwrap();
        let mut portable = Simulation::with_solver(&scene, solver).unwrap();
        let [a, b] = [&mut best, &mut portable].map(|run| {
            advance(run, 3);
            places(run)
        });
        assert!(a.iter().map(|g| g.0).eq(b.iter().map(|g| g.0)), "{name}");
        let ways = a.iter().zip(&b).map(|(a, b)| a.1.distance(b.1));
        let worst = f64::from(ways.fold(0.0, f32::max)) / scene.solver.resolution;
        println!("{name}: portable code differs by {worst:.1e} resolutions");
        assert!(worst < 1e-4, "{name}: {worst}");
    }
}

#[test]
fn plane_motion_stays_plane() {
    let flat = |scene: &Scene| scene.dimensions == Dimensions::Two;
    for (name, scene) in golden().iter().filter(|(_, scene)| flat(scene)) {
        let mut run = Simulation::new(scene).unwrap();
        advance(&mut run, 8);
        let state = run.save().unwrap();
        for column in ["position", "velocity"] {
            let vectors = floats(&state, column).as_chunks::<3>().0;
            assert!(vectors.iter().all(|v| v[2] == 0.0), "{name}: {column}");
        }
        if state.column("strain").is_some() {
            let strains = floats(&state, "strain").as_chunks::<6>().0;
            assert!(strains.iter().all(|s| s[2..5] == [0.0; 3]), "{name}");
        }
    }
}
