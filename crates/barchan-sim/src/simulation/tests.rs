//! The frame loop with a solver of ballistic particles.

use super::stepping::fit;
use super::*;
use crate::sampling::Samples;
use crate::solver::{Bound, StepContext, StepStats};
use barchan_frame::{Column, ColumnData, Manifest, ResultDirectory, Unit};
use barchan_scene::*;
use glam::DVec3;
use std::sync::{Arc, Mutex};

/// Log and instructions of a [`Ballistic`] solver.
#[derive(Default)]
struct Script {
    /// Steps taken: time and length [s].
    steps: Vec<(f64, f64)>,
    /// Value of `max_dt` [s].
    max_dt: f32,
    /// Step that fails.
    fails_at: Option<usize>,
    /// Longer steps are rejected [s].
    accepts: Option<f32>,
    /// Residuals of the first steps; the others measure none.
    residuals: Vec<f32>,
}

/// Particles in free flight; every step exerts an upward force of 2 N on every body.
#[derive(Default)]
struct Ballistic {
    position: Vec<Vec3>,
    velocity: Vec<Vec3>,
    id: Vec<u32>,
    /// Mass of each particle [kg].
    mass: f32,
    script: Arc<Mutex<Script>>,
}

fn flat(vectors: &[Vec3]) -> ColumnData {
    ColumnData::F32(vectors.iter().flat_map(|v| v.to_array()).collect())
}

fn column(name: &str, components: usize, data: ColumnData) -> Column {
    Column {
        name: name.into(),
        unit: Unit::One,
        meaning: String::new(),
        components,
        data,
        tolerance: 0.0,
    }
}

fn vectors(from: &Checkpoint, name: &str) -> Vec<Vec3> {
    let Some(ColumnData::F32(values)) = from.column(name).map(|c| &c.data) else {
        return Vec::new();
    };
    values.chunks(3).map(Vec3::from_slice).collect()
}

impl Solver for Ballistic {
    fn emit(&mut self, batch: &Samples) -> Result<(), SolverError> {
        self.position.extend(&batch.position);
        self.velocity.extend(&batch.velocity);
        self.id
            .extend((batch.first_id..).take(batch.position.len()));
        self.mass = 1000.0 * batch.volume;
        Ok(())
    }

    fn remove(&mut self, region: &Region<'_>) -> Result<usize, SolverError> {
        let before = self.particles();
        let stays = |i: &usize| !region.contains(self.position[*i]);
        let kept: Vec<usize> = (0..before).filter(stays).collect();
        self.position = kept.iter().map(|&i| self.position[i]).collect();
        self.velocity = kept.iter().map(|&i| self.velocity[i]).collect();
        self.id = kept.iter().map(|&i| self.id[i]).collect();
        Ok(before - self.particles())
    }

    fn particles(&self) -> usize {
        self.position.len()
    }

    fn set_material(&mut self, _: usize, _: &Material) -> Result<(), SolverError> {
        Ok(())
    }
    fn pace(&mut self) -> Result<Pace, SolverError> {
        let dt = self.script.lock().unwrap().max_dt;
        let bound = Bound { dt, ..Bound::NONE };
        Ok(Pace::Bounded {
            bounds: [bound, Bound::NONE, Bound::NONE, Bound::NONE],
            travel: 0.5 * 0.25,
        })
    }

    fn step(&mut self, cx: &mut StepContext<'_>) -> Result<StepStats, SolverError> {
        let mut script = self.script.lock().unwrap();
        if script.accepts.is_some_and(|longest| cx.dt > longest) {
            let reason = "it does not converge".into();
            return Err(SolverError::Rejected { dt: cx.dt, reason });
        }
        script.steps.push((cx.time, f64::from(cx.dt)));
        if script.fails_at == Some(script.steps.len()) {
            return Err(SolverError::NotFinite {
                id: 7,
                position: Vec3::ONE,
                quantity: "velocity",
                dt: cx.dt,
                settings: "max_dt".into(),
            });
        }
        for body in &mut cx.impulses.bodies {
            body.linear.y += 2.0 * f64::from(cx.dt);
        }
        let mut stats = StepStats {
            residual: script.residuals.get(script.steps.len() - 1).copied(),
            ..StepStats::default()
        };
        for (p, v) in self.position.iter_mut().zip(&mut self.velocity) {
            *v += cx.gravity * cx.dt;
            *p += *v * cx.dt;
            stats.max_speed = stats.max_speed.max(v.length());
        }
        Ok(stats)
    }

    fn download(&mut self, _: &Columns<'_>, out: &mut Frame) -> Result<(), SolverError> {
        let mut state = Checkpoint::default();
        self.save(&mut state)?;
        out.columns = state.columns;
        let mass = vec![self.mass; self.particles()];
        out.columns.push(column("mass", 1, ColumnData::F32(mass)));
        Ok(())
    }

    fn save(&mut self, out: &mut Checkpoint) -> Result<(), SolverError> {
        out.columns
            .push(column("position", 3, flat(&self.position)));
        out.columns
            .push(column("velocity", 3, flat(&self.velocity)));
        out.columns
            .push(column("id", 1, ColumnData::U32(self.id.clone())));
        Ok(())
    }

    fn load(&mut self, from: &Checkpoint) -> Result<(), SolverError> {
        self.position = vectors(from, "position");
        self.velocity = vectors(from, "velocity");
        match from.column("id").map(|c| &c.data) {
            Some(ColumnData::U32(id)) => self.id.clone_from(id),
            _ => return Err(SolverError::Checkpoint("it has no `id`".into())),
        }
        Ok(())
    }
}

fn ballistic(max_dt: f32) -> (Box<Ballistic>, Arc<Mutex<Script>>) {
    let script = Arc::new(Mutex::new(Script {
        max_dt,
        ..Script::default()
    }));
    let solver = Ballistic {
        script: Arc::clone(&script),
        ..Ballistic::default()
    };
    (Box::new(solver), script)
}

/// A cube of 1 m at height 5 m to 6 m, in cells of 0.25 m, of a material of 1000 kg/m³, above a floor.
fn scene() -> Scene {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/tests/cube.toml");
    load_file(file, &[]).unwrap()
}

fn cube(corner: Vec3, edge: f32) -> Fill {
    Fill {
        name: "cube".into(),
        shape: Geometry::cuboid(corner, corner + edge),
        material: 0,
        velocity: Vec3::ZERO,
        spin: Vec3::ZERO,
        spin_center: Vec3::ZERO,
        sampling: Sampling::Lattice,
    }
}

/// A spout of 0.5 m width that pours downward from height 8 m between 0.05 s and 0.3 s.
fn spout() -> Emitter {
    Emitter {
        name: "spout".into(),
        shape: Geometry::cuboid(Vec3::new(2.0, 8.0, 2.0), Vec3::new(2.5, 8.5, 2.5)),
        material: 0,
        velocity: Vec3::new(0.0, -3.0, 0.0),
        rate: None,
        start: 0.05,
        end: 0.3,
    }
}

/// The cube, the spout, a drain into which the cube falls, and a domain that the poured grains leave.
fn busy_scene() -> Scene {
    let mut scene = scene();
    scene.emitters.push(spout());
    scene.drains.push(Drain {
        name: "sink".into(),
        shape: Geometry::cuboid(Vec3::new(-1.0, 4.0, -1.0), Vec3::new(0.5, 4.8, 2.0)),
        start: 0.1,
        end: 10.0,
    });
    scene.domain = Some(Bounds {
        min: Vec3::new(-2.0, 7.0, -2.0).with_y(4.0),
        max: Vec3::splat(10.0),
    });
    scene
}

fn go(simulation: &mut Simulation, frames: u32) {
    for _ in 0..frames {
        let end = simulation.advance_frame(&mut |_| Control::Continue);
        assert_eq!(end.unwrap(), Control::Continue);
    }
}

#[test]
fn frames_end_at_their_exact_time_and_have_equal_steps() {
    for max_dt in [1e-3, 0.7e-2, 0.0417, 0.1] {
        let (solver, script) = ballistic(max_dt);
        let mut simulation = Simulation::with_solver(&scene(), solver).unwrap();
        for frame in 1..=10 {
            go(&mut simulation, 1);
            assert_eq!(simulation.time(), f64::from(frame) / 24.0);
            assert_eq!(simulation.frame(), frame);
        }
        let steps = &script.lock().unwrap().steps;
        let total: f64 = steps.iter().map(|s| s.1).sum();
        assert!((total - 10.0 / 24.0).abs() < 1e-6, "{total}");
        // Equal steps.
        let count = (1.0 / 24.0 / f64::from(max_dt)).ceil();
        for &(time, dt) in steps {
            let rest = dt * 24.0 * count - 1.0;
            assert!(rest.abs() < 1e-6, "{time}: {dt}");
        }
    }
}

#[test]
fn a_frame_records_the_largest_residual_of_its_steps() {
    let (solver, script) = ballistic(0.02);
    script.lock().unwrap().residuals = vec![0.25, 0.5, 0.125, 0.0625];
    let mut simulation = Simulation::with_solver(&scene(), solver).unwrap();
    for expected in [None, Some(0.5), Some(0.0625), None] {
        // It is part of the state: a resumed run writes the same record.
        let state = simulation.save().unwrap();
        simulation.load(&state).unwrap();
        let run = simulation.write_frame().unwrap().record.statistics.run;
        assert_eq!(run.unwrap().residual, expected);
        go(&mut simulation, 1);
    }
    assert_eq!(script.lock().unwrap().steps.len(), 12);
}

#[test]
fn fit_splits_the_remainder_evenly() {
    assert_eq!(fit(0.5, 2.1), 2.1 / 5.0);
    assert_eq!(fit(f64::from(1e-3f32), 0.02), 0.02 / 20.0);
    assert_eq!(fit(f64::INFINITY, 0.02), 0.02);
    assert_eq!(fit(0.5, 2.0), 0.5);
    assert_eq!(fit(0.5, 1.0), 0.5);
    assert_eq!(fit(0.5, 0.9), 0.45);
    assert_eq!(fit(0.5, 0.5), 0.5);
    assert_eq!(fit(0.5, 0.1), 0.1);
}

#[test]
fn fills_exclude_colliders_and_earlier_fills() {
    let count = |scene: &Scene| {
        let (solver, _) = ballistic(1e-3);
        Simulation::with_solver(scene, solver).unwrap().particles()
    };
    let mut scene = scene();
    assert_eq!(count(&scene), 512);
    scene.fills.push(cube(Vec3::new(0.5, 5.0, 0.0), 1.0));
    assert_eq!(count(&scene), 768);
    scene.colliders[0].shape = Geometry::half_space(Vec3::new(0.0, 5.5, 0.0), Vec3::Y);
    assert_eq!(count(&scene), 384);
}

#[test]
fn scenes_that_cannot_start_are_refused() {
    let refused = |scene: &Scene| {
        let (solver, _) = ballistic(1e-3);
        let error = Simulation::with_solver(scene, solver).err().unwrap();
        assert!(error.is_scene_error());
        error
    };
    let mut buried = scene();
    buried.colliders[0].shape = Geometry::half_space(Vec3::new(0.0, 7.0, 0.0), Vec3::Y);
    assert!(matches!(
        refused(&buried),
        SimulationError::EmptyFill { .. }
    ));

    let mut outside = scene();
    outside.domain = Some(Bounds {
        min: Vec3::ZERO,
        max: Vec3::new(10.0, 5.5, 10.0),
    });
    let error = refused(&outside);
    assert!(
        matches!(error, SimulationError::OutsideDomain { count: 256, .. }),
        "{error}"
    );
}

#[test]
fn errors_have_the_place_of_the_key_behind_them() {
    let scene = scene();
    let name = "cube".to_owned();
    let (count, position) = (3, Vec3::ZERO);
    let refusal = |at: &str| SolverError::unsupported(at, "it cannot", "leave it out");
    let slow = SolverError::TooManySteps {
        steps: 1e9,
        dt: 1e-9,
        setting: "solver.resolution",
        value: 1.0,
        default: 2.0,
    };
    let shape = scene.places.find("fill.0.shape").refuse("", "");
    let shape = shape.errors()[0].marked().unwrap();
    assert!(shape.starts_with("{ box"), "{shape}");
    for (error, marked, message, help) in [
        (
            SimulationError::Setup(refusal("solver.method")),
            "[solver]",
            "it cannot",
            "leave it out",
        ),
        (
            SimulationError::in_frame(4)(refusal("materials.sand")),
            "[materials.sand]",
            "frame 4: it cannot",
            "leave it out",
        ),
        (
            SimulationError::Setup(slow),
            "0.25",
            "because solver.resolution = 1",
            "raise it",
        ),
        (
            SimulationError::FillInStart {
                name: name.clone(),
                count,
                position,
            },
            shape,
            "fill `cube` lies where 3 particles",
            "move the fill",
        ),
        (
            SimulationError::OutsideDomain {
                name: name.clone(),
                count,
                position,
            },
            shape,
            "fill `cube` has 3 particles outside",
            "enlarge `domain`",
        ),
        (
            SimulationError::EmptyFill { name, dx: 1.0 },
            shape,
            "fill `cube` gives no particles",
            "refine the resolution",
        ),
        (
            SimulationError::TooManyParticles,
            "0.25",
            "more than 4 294 967 295 particles",
            "coarsen solver.resolution",
        ),
    ] {
        let errors = error.in_scene(&scene).unwrap();
        let placed = &errors.errors()[0];
        assert_eq!(placed.marked(), Some(marked), "{error}");
        assert!(placed.message().contains(message), "{placed}");
        assert!(placed.help_text().starts_with(help), "{placed:?}");
    }
    // Nothing in the scene is at fault.
    let gone = SimulationError::Checkpoint("it is damaged".to_owned());
    assert!(gone.in_scene(&scene).is_none());
}

#[test]
fn emission_does_not_depend_on_the_step() {
    let mut scene = scene();
    scene.fills.clear();
    scene.emitters.push(spout());
    let ids_after = |max_dt: f32, frames: u32| {
        let (solver, _) = ballistic(max_dt);
        let mut simulation = Simulation::with_solver(&scene, solver).unwrap();
        go(&mut simulation, frames);
        let emitted = simulation.counters().emitted[0];
        assert_eq!(emitted as usize, simulation.particles());
        emitted
    };
    for frames in 1..10 {
        assert_eq!(ids_after(1e-3, frames), ids_after(2e-2, frames));
    }
    // 0.25 m² at 3 m/s for 0.25 s, 512 particles in a m³.
    let expected = 0.25 * 3.0 * 0.25 * 512.0;
    assert!((ids_after(1e-3, 10) as f64 / expected - 1.0).abs() < 0.1);
}

#[test]
fn every_particle_is_accounted_for() {
    let (solver, _) = ballistic(1e-3);
    let scene = busy_scene();
    let mut simulation = Simulation::with_solver(&scene, solver).unwrap();
    let initial = simulation.particles() as u64;
    go(&mut simulation, 14);
    let counters = simulation.counters().clone();
    assert!(counters.emitted[0] > 50, "{counters:?}");
    assert!(counters.drained[0] > 50, "{counters:?}");
    assert!(counters.left_domain > 50, "{counters:?}");
    let sum = initial + counters.emitted[0] - counters.drained[0] - counters.left_domain;
    assert_eq!(simulation.particles() as u64, sum);

    let frame = simulation.write_frame().unwrap();
    let statistics = &frame.record.statistics;
    assert_eq!(statistics.particles, sum);
    let run = statistics.run.as_ref().unwrap();
    assert_eq!(run.drained[0].name, "sink");
    assert_eq!(run.drained[0].particles, counters.drained[0]);
    assert_eq!(run.emitted[0].particles, counters.emitted[0]);
    assert_eq!(run.left_domain, counters.left_domain);
    let Some(ColumnData::U32(ids)) = frame.column("id").map(|c| &c.data) else {
        panic!("no ids");
    };
    let mut unique = ids.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), ids.len());
}

#[test]
fn a_closed_drain_removes_nothing() {
    let (solver, _) = ballistic(1e-3);
    let mut scene = busy_scene();
    scene.drains[0].start = 5.0;
    scene.domain = None;
    let mut simulation = Simulation::with_solver(&scene, solver).unwrap();
    go(&mut simulation, 14);
    assert_eq!(simulation.counters().drained[0], 0);
}

#[test]
fn statistics_match_free_fall() {
    let (solver, _) = ballistic(1e-4);
    let mut simulation = Simulation::with_solver(&scene(), solver).unwrap();
    go(&mut simulation, 12);
    let frame = simulation.write_frame().unwrap();
    let statistics = &frame.record.statistics;
    let run = statistics.run.as_ref().unwrap();
    let g = f64::from(simulation.gravity.at(0.0).length());
    let (t, mass) = (0.5, 1000.0);
    assert!((statistics.mass_kg - mass).abs() < 1e-3);
    assert!((statistics.max_speed - g * t).abs() < 1e-4);
    assert!((statistics.kinetic_energy_j - 0.5 * mass * (g * t).powi(2)).abs() < 1.0);
    // Symplectic Euler falls farther than free fall by g·t·dt/2.
    let height = 5.5 - 0.5 * g * t * t;
    assert!((run.center_of_mass_height_m - height).abs() < 1e-3);
    let steps = run.substeps as f64;
    assert!((run.mean_dt_s - 1.0 / (24.0 * steps)).abs() < 1e-12);
    assert_eq!(frame.index, 12);
    assert_eq!(frame.time, 0.5);
}

#[test]
fn bodies_report_the_mean_force_of_the_last_frame() {
    let (solver, _) = ballistic(1e-3);
    let mut simulation = Simulation::with_solver(&scene(), solver).unwrap();
    let force = |simulation: &mut Simulation| {
        let frame = simulation.write_frame().unwrap();
        let body = &frame.record.bodies[0];
        assert_eq!(body.name, "floor");
        body.force[1]
    };
    assert_eq!(force(&mut simulation), 0.0);
    for _ in 0..3 {
        go(&mut simulation, 1);
        assert!((force(&mut simulation) - 2.0).abs() < 1e-5);
    }
}

fn through_disk(checkpoint: &Checkpoint) -> Checkpoint {
    let root = tempfile::tempdir().unwrap();
    let directory = ResultDirectory::create(root.path(), &Manifest::default(), "").unwrap();
    directory.write_checkpoint(checkpoint).unwrap();
    directory.read_checkpoint(checkpoint.index).unwrap()
}

#[test]
fn a_resumed_run_is_bitwise_identical() {
    let scene = busy_scene();
    let start = || {
        let (solver, _) = ballistic(1.3e-3);
        Simulation::with_solver(&scene, solver).unwrap()
    };
    let mut whole = start();
    go(&mut whole, 12);
    let whole = whole.save().unwrap();
    for stop in [1, 2, 5, 8, 11] {
        let mut first = start();
        go(&mut first, stop);
        first.write_frame().unwrap();
        let checkpoint = through_disk(&first.save().unwrap());
        let mut second = Simulation::empty(&scene, ballistic(1.3e-3).0).unwrap();
        second.load(&checkpoint).unwrap();
        assert_eq!(second.frame(), stop);
        go(&mut second, 12 - stop);
        assert!(second.save().unwrap() == whole, "resumed at {stop}");
    }
}

#[test]
fn an_unfinished_frame_continues_where_it_stopped() {
    let scene = busy_scene();
    let mut whole = Simulation::with_solver(&scene, ballistic(1.3e-3).0).unwrap();
    go(&mut whole, 5);

    let mut halting = Simulation::with_solver(&scene, ballistic(1.3e-3).0).unwrap();
    let mut stops = 0;
    while halting.frame() < 5 {
        let end = halting.advance_frame(&mut |_| Control::Stop).unwrap();
        if end == Control::Stop {
            stops += 1;
            assert_eq!(halting.save().err(), Some(SimulationError::MidFrame));
        }
    }
    assert!(stops > 20);
    assert!(halting.save().unwrap() == whole.save().unwrap());
    assert!(halting.write_frame().unwrap() == whole.write_frame().unwrap());
}

#[test]
fn failures_name_the_frame() {
    let (solver, script) = ballistic(1e-2);
    script.lock().unwrap().fails_at = Some(12);
    let mut simulation = Simulation::with_solver(&scene(), solver).unwrap();
    go(&mut simulation, 2);
    let error = simulation
        .advance_frame(&mut |_| Control::Continue)
        .unwrap_err();
    assert!(!error.is_scene_error());
    let text = error.to_string();
    assert!(text.starts_with("frame 3: particle 7"), "{text}");
    assert!(text.contains("max_dt"), "{text}");
}

#[test]
fn an_invalid_step_is_an_error() {
    for dt in [f32::NAN, 0.0, -1.0, 1e-12] {
        let (solver, _) = ballistic(dt);
        let mut simulation = Simulation::with_solver(&scene(), solver).unwrap();
        let error = simulation.advance_frame(&mut |_| Control::Continue);
        assert!(
            matches!(
                error,
                Err(SimulationError::Solver {
                    frame: 1,
                    source: SolverError::StepTooSmall { .. }
                })
            ),
            "{dt}: {error:?}"
        );
    }
}

#[test]
fn incompatible_checkpoints_are_refused() {
    let scene = busy_scene();
    let mut simulation = Simulation::with_solver(&scene, ballistic(1e-3).0).unwrap();
    go(&mut simulation, 2);
    let good = simulation.save().unwrap();
    let refused = |checkpoint: &Checkpoint, scene: &Scene| {
        let mut other = Simulation::empty(scene, ballistic(1e-3).0).unwrap();
        let error = other.load(checkpoint).unwrap_err();
        assert!(matches!(error, SimulationError::Checkpoint(_)));
        error.to_string()
    };
    let mut bare = good.clone();
    bare.record.loop_state = None;
    assert!(refused(&bare, &scene).contains("frame loop"));

    let garbled = |spoil: &dyn Fn(&mut LoopState)| {
        let mut checkpoint = good.clone();
        spoil(checkpoint.record.loop_state.as_mut().unwrap());
        refused(&checkpoint, &scene)
    };
    assert!(garbled(&|state| state.emitted_until = f64::NAN).contains("finite"));
    assert!(garbled(&|state| state.time = f64::NAN).contains("frame 2"));
    assert!(garbled(&|state| state.time = 1.0).contains("frame 2"));

    let mut truncated = good.clone();
    truncated.columns.pop();
    assert!(refused(&truncated, &scene).contains("`id`"));

    let mut other_scene = scene.clone();
    other_scene.drains.clear();
    assert!(refused(&good, &other_scene).contains("drains"));
}

#[test]
fn steps_shorten_for_fast_bodies() {
    let mut scene = scene();
    let there_and_back = [(0.0, 0.0), (0.1, 100.0), (0.2, 0.0), (9.0, 0.0)]
        .map(|(time, x)| (time, DVec3::new(x, 0.0, 0.0)))
        .to_vec();
    scene.colliders[0].shape = Geometry::sphere(Vec3::new(0.0, 0.0, 50.0), 1.0);
    scene.colliders[0].motion = Motion {
        position: Track::new(there_and_back, Interpolation::Linear),
        ..Motion::default()
    };
    let (solver, script) = ballistic(5e-3);
    let mut simulation = Simulation::with_solver(&scene, solver).unwrap();
    go(&mut simulation, 10);
    for &(time, dt) in &script.lock().unwrap().steps {
        // 1000 m/s at half a cell of 0.25 m a step; the step across the turning point may be longer, since its mean speed is lower.
        let turns = (time..time + dt).contains(&0.1) || (time..time + dt).contains(&0.2);
        let limit = if time < 0.2 && !turns { 0.125e-3 } else { 5e-3 };
        assert!(dt <= limit * 1.001, "{time}: {dt}");
    }
}

#[test]
fn a_rejected_step_is_halved_and_counted() {
    let (solver, script) = ballistic(1e-2);
    let mut simulation = Simulation::with_solver(&scene(), solver).unwrap();
    script.lock().unwrap().accepts = Some(3e-3);
    simulation
        .advance_frame(&mut |_| Control::Continue)
        .unwrap();
    assert_eq!(simulation.time(), 1.0 / 24.0);
    let steps = script.lock().unwrap().steps.clone();
    assert!(steps.iter().all(|(_, dt)| *dt <= 3e-3), "{steps:?}");
    let sum: f64 = steps.iter().map(|(_, dt)| dt).sum();
    assert!((sum - 1.0 / 24.0).abs() < 1e-6, "{steps:?}");
    // Each begins with the length that the solver proposes, 8.3 ms or the remainder: two halvings, fewer at the end.
    let rejected = simulation.counters().rejected;
    assert!(rejected > steps.len() as u64, "{rejected} of {steps:?}");
    let (solver, _) = ballistic(1e-2);
    let mut resumed = Simulation::with_solver(&scene(), solver).unwrap();
    resumed.load(&simulation.save().unwrap()).unwrap();
    assert_eq!(resumed.counters().rejected, rejected);
}

#[test]
fn a_step_that_fails_at_any_length_ends_the_run() {
    let (solver, script) = ballistic(1e-2);
    script.lock().unwrap().accepts = Some(1e-9);
    let mut simulation = Simulation::with_solver(&scene(), solver).unwrap();
    let error = simulation.advance_frame(&mut |_| Control::Continue);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("it does not converge"), "{error}");
}
