//! Digests of the scenes of the gallery, of the papers and of the tests, at coarse resolution and for a few frames, on the portable
//! code path, which gives the same results on every x86-64 processor. A change that alters results must update the digests and
//! state the reason.

#![allow(clippy::unwrap_used, reason = "a test may fail that way")]

use barchan::frame::{Checkpoint, Column, ColumnData, Frame, Manifest, ManifestMaterial, Unit};
use barchan::post::detail::{BaseFrame, BaseParticles, Plan, Refiner, Settings, World};
use barchan::scene::{Overrides, Scene, SceneSource, load};
use barchan::sim::math::Level;
use barchan::sim::simulation::{Control, Simulation};
use barchan::sim::solver::Solver;
use barchan::sim::solvers;
use std::ops::ControlFlow;
use std::path::Path;

/// A scene, its resolution and length here, and the digest of its result.
struct Run {
    scene: &'static str,
    scale: f64,
    frames: u32,
    digest: &'static str,
}

const fn run(scene: &'static str, scale: f64, frames: u32, digest: &'static str) -> Run {
    Run {
        scene,
        scale,
        frames,
        digest,
    }
}

#[rustfmt::skip]
const RUNS: &[Run] = &[
    run("gallery/bulldozer", 0.5, 120, "36cf269174a419b7"),
    run("gallery/castle", 0.3, 24, "5fadd951c01e886f"),
    run("gallery/collapse", 0.3, 48, "ac4cd017c69ee8ff"),
    run("gallery/excavator", 0.5, 180, "958c9f9e3e73fd11"),
    run("gallery/hourglass", 0.4, 24, "b36f0997b325244e"),
    run("gallery/pile", 0.4, 48, "82a503f135505c05"),
    run("gallery/splash", 0.3, 16, "db9f9c2ae5f66bee"),
    run("golden/block", 1.0, 8, "39e0bbab0b54dae9"),
    run("golden/bodies", 1.0, 8, "97e66eb165b2dbdb"),
    run("golden/busy2d", 1.0, 16, "cbd80450f38f263b"),
    run("golden/busy3d", 1.0, 16, "ab789fef5289fb69"),
    run("golden/pbd2d", 1.0, 16, "e84110d4a0e7893b"),
    run("golden/pbd3d", 1.0, 16, "66b3a1695470fa6b"),
    run("golden/sph2d", 1.0, 16, "c153ee2829ec8290"),
    run("golden/sph3d", 1.0, 16, "b07d186bd2d618a3"),
    run("papers/holz2014/drop", 1.0, 120, "e1ac42e09964ea77"),
    run("papers/holz2014/loam", 0.5, 120, "395b418790d336da"),
    run("papers/holz2014/repose", 0.5, 60, "fa220839e71af2e0"),
    run("papers/holz2014/ridges", 0.4, 120, "12d263b0ab34ed76"),
    run("papers/holz2014/slopes", 0.5, 240, "60f63a3f25709736"),
    run("papers/holz2014/wheel_and_plank", 0.5, 120, "d7513a15a5717fef"),
    run("papers/ihmsen2013/bulldozer", 0.3, 24, "1df8bd48b91fcc6b"),
    run("papers/ihmsen2013/dry_and_wet", 0.3, 12, "bb84dbbcb177d7ca"),
    run("papers/ihmsen2013/piles", 0.3, 60, "bfd33be3acb2e617"),
    run("papers/ihmsen2013/resolution", 0.3, 48, "310b69711a68d294"),
    run("papers/ihmsen2013/resolution_quarter", 0.3, 12, "584604edf901f94b"),
    run("papers/ihmsen2013/rope_ladder", 0.3, 48, "6c52bc7703f0dec8"),
    run("papers/ihmsen2013/spheres", 0.3, 12, "7d1425f9267389c2"),
    run("papers/ihmsen2013/splash", 0.3, 12, "78da255ca83470a5"),
    run("papers/ihmsen2013/wetting", 0.3, 40, "3d663ca1520c3bc7"),
    run("papers/klar2016/apic_flip", 0.5, 16, "3736d572f43f665b"),
    run("papers/klar2016/butterfly", 0.1, 2, "b82099cc9fb51a01"),
    run("papers/klar2016/butterfly_close", 0.1, 2, "1e7a06842fa7427e"),
    run("papers/klar2016/castle", 0.2, 4, "409e7f9792021ee4"),
    run("papers/klar2016/column", 0.3, 24, "ef426e5a35675f86"),
    run("papers/klar2016/friction_angle", 0.15, 8, "dba45f9acd613882"),
    run("papers/klar2016/hardening", 0.3, 24, "65f134353daf1ed4"),
    run("papers/klar2016/hourglass", 0.25, 2, "d4a39007b47f7ab6"),
    run("papers/klar2016/notched_block", 0.1, 16, "9a3a61c60031f798"),
    run("papers/klar2016/pile", 0.3, 24, "a8c42f9cee96af45"),
    run("papers/klar2016/raking", 0.1, 2, "ad952a97a8b3f9a5"),
    run("papers/klar2016/raking_close", 0.1, 2, "59df28c1234dda0c"),
    run("papers/klar2016/shovel", 0.15, 4, "d180f7755b414bd0"),
    run("papers/klar2016/splash", 0.1, 8, "cf3496d23f5bfa01"),
    run("papers/klar2016/young", 0.5, 16, "53abad4ee4384dd8"),
];

/// Digest of grains over the particles of a scene.
const DETAIL: &[(&str, &str)] = &[
    ("papers/ihmsen2013/spheres", "954f76b581218c61"),
    ("golden/busy3d", "35f40528aa2ef9fe"),
];

fn scene(name: &str, scale: f64) -> Scene {
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let source = SceneSource::from_file(&scenes.join(format!("{name}.toml"))).unwrap();
    let overrides = Overrides {
        scale: Some(scale),
        ..Overrides::default()
    };
    load(&source, &overrides).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// `best`: the fastest code path of this machine, for comparing two versions of the program; see `on_the_best_path`.
fn solver(scene: &Scene, best: bool) -> Box<dyn Solver> {
    let level = match best {
        true => Level::new(),
        false => Level::baseline(),
    };
    solvers::build_on(scene, level).unwrap()
}

fn advance(simulation: &mut Simulation, frames: u32) {
    while simulation.frame() < frames {
        simulation
            .advance_frame(&mut |_| Control::Continue)
            .unwrap();
    }
}

/// Vectors of particles in the order of their identities, to the last bit.
fn by_identity(time: f64, id: &Column, vectors: &[&Column]) -> Checkpoint {
    let id = id.data.as_u32().unwrap();
    let mut order: Vec<usize> = (0..id.len()).collect();
    order.sort_by_key(|i| id[*i]);
    let ids = ColumnData::U32(order.iter().map(|i| id[*i]).collect());
    let mut columns = vec![Column::exact("id", Unit::One, "", 1, ids)];
    for column in vectors {
        let values = column.data.as_f32().unwrap();
        let sorted = order.iter().flat_map(|i| &values[3 * i..3 * i + 3]);
        let sorted = ColumnData::F32(sorted.copied().collect());
        columns.push(Column::exact(&column.name, Unit::One, "", 3, sorted));
    }
    Checkpoint {
        time,
        columns,
        ..Checkpoint::default()
    }
}

/// Particles, bodies and terrain.
fn state_digest(simulation: &mut Simulation) -> String {
    let particles = simulation.save().unwrap();
    let frame = simulation.write_frame().unwrap();
    let column = |name: &str| particles.column(name).unwrap();
    let vectors = [column("position"), column("velocity")];
    let mut state = by_identity(simulation.time(), column("id"), &vectors);
    let bits = |values: Vec<f64>| ColumnData::U64(values.iter().map(|v| v.to_bits()).collect());
    let numbers = frame.record.bodies.iter().flat_map(|body| {
        let single = (body.position.iter())
            .chain(&body.rotation)
            .chain(&body.velocity)
            .chain(&body.angular_velocity);
        let double = body.force.iter().chain(&body.torque);
        single.map(|v| f64::from(*v)).chain(double.copied())
    });
    let bodies = bits(numbers.collect());
    state
        .arrays
        .push(Column::exact("bodies", Unit::One, "", 1, bodies));
    if let Some(terrain) = simulation.height_field() {
        let heights = terrain.heights().iter().copied().map(f64::from);
        let heights = bits(heights.collect());
        state
            .arrays
            .push(Column::exact("terrain", Unit::One, "", 1, heights));
    }
    short(&state)
}

/// The first digits of the digest, enough to distinguish two states.
fn short(state: &Checkpoint) -> String {
    state.digest()[..16].to_owned()
}

/// Digests of an uninterrupted run, and of one that was saved and resumed.
fn digests(run: &Run, best: bool) -> [String; 2] {
    let scene = scene(run.scene, run.scale);
    let mut whole = Simulation::with_solver(&scene, solver(&scene, best)).unwrap();
    advance(&mut whole, run.frames / 2);
    let saved = whole.save().unwrap();
    advance(&mut whole, run.frames);
    let mut resumed = Simulation::with_solver(&scene, solver(&scene, best)).unwrap();
    resumed.load(&saved).unwrap();
    advance(&mut resumed, run.frames);
    [whole, resumed].map(|mut simulation| state_digest(&mut simulation))
}

fn detail_digest(name: &str, best: bool) -> String {
    let run = RUNS.iter().find(|run| run.scene == name).unwrap();
    let scene = scene(run.scene, run.scale);
    let mut simulation = Simulation::with_solver(&scene, solver(&scene, best)).unwrap();
    let materials = scene.materials.iter().map(|m| ManifestMaterial {
        name: m.name.clone(),
        density: m.density,
    });
    let manifest = Manifest {
        dimensions: scene.dimensions.count() as u32,
        dx: scene.solver.resolution,
        materials: materials.collect(),
        ..Manifest::default()
    };
    let first = BaseFrame::of(simulation.write_frame().unwrap(), &manifest).unwrap();
    let mut particles = BaseParticles::default();
    particles.add_frame(&first);
    let plan = Plan::new(&particles, 20 * first.id.len() as u64).unwrap();
    let mut refiner = Refiner::begin(plan, World::new(&scene), Settings::default(), first).unwrap();
    if !best {
        refiner.use_baseline();
    }
    for index in 1..=4 {
        advance(&mut simulation, index);
        let next = BaseFrame::of(simulation.write_frame().unwrap(), &manifest).unwrap();
        let go_on = &mut |_| ControlFlow::Continue(());
        refiner.advance(next, Frame::default(), go_on).unwrap();
    }
    let grains = refiner.frame();
    let column = |name: &str| grains.column(name).unwrap();
    let vectors = [column("position"), column("velocity")];
    short(&by_identity(grains.time, column("id"), &vectors))
}

fn differences(best: bool) -> Vec<String> {
    let mut wrong = Vec::new();
    for run in RUNS {
        let start = std::time::Instant::now();
        let [whole, resumed] = digests(run, best);
        let seconds = start.elapsed().as_secs_f64();
        println!("{} {whole} {seconds:.1} s", run.scene);
        if whole != resumed {
            wrong.push(format!("{}: resumed {resumed}", run.scene));
        }
        if whole != run.digest && !best {
            wrong.push(format!("{}: {whole}", run.scene));
        }
    }
    for (name, known) in DETAIL {
        let found = detail_digest(name, best);
        println!("detail of {name} {found}");
        if found != *known && !best {
            wrong.push(format!("detail of {name}: {found}"));
        }
    }
    wrong
}

#[test]
fn on_the_portable_path() {
    let wrong = differences(false);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Prints the digests on this machine's best path, to compare two versions of the program.
#[test]
#[ignore = "digests depend on the processor; run with --nocapture and compare"]
fn on_the_best_path() {
    let wrong = differences(true);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
