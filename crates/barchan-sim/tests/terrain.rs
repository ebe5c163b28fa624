//! The hybrid of columns and grains in the position-based solver: a blade digs, soil comes to rest.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use barchan_frame::{Frame, digest};
use barchan_scene::{Overrides, SceneSource, load};
use barchan_sim::simulation::{Control, Simulation};
use barchan_sim::terrain::record::{ATTRIBUTE, HEIGHTS};

const DIG: &str = r#"
frames = 720
frame_rate = 60

[solver]
method = "pbd"
radius = 0.04

[terrain]
material = "dry sand"
size = [6, 4]
cell = 0.1
depth = 1

[[collider]]
name = "blade"
shape = { box = { min = [-0.1, -0.25, -0.5], max = [0, 0.5, 0.5] } }
motion = { position = { keyframes = [{ time = 0, value = [-1, 0.3, 0] }, { time = 0.5, value = [-1, 0, 0] }, { time = 1.5, value = [0.5, 0, 0] }, { time = 2, value = [0.2, 1, 0] }] } }
"#;

fn simulation(text: &str) -> Simulation {
    let source = SceneSource {
        name: "test.toml".into(),
        text: text.into(),
        directory: ".".into(),
    };
    let scene = load(&source, &Overrides::default()).unwrap_or_else(|e| panic!("{e:?}"));
    Simulation::new(&scene).unwrap()
}

fn advance(simulation: &mut Simulation, frames: usize) -> Frame {
    for _ in 0..frames {
        let control = simulation.advance_frame(&mut |_| Control::Continue);
        assert_eq!(control.unwrap(), Control::Continue);
    }
    simulation.write_frame().unwrap()
}

fn floats<'a>(frame: &'a Frame, name: &str) -> &'a [f32] {
    frame.column(name).unwrap().data.as_f32().unwrap()
}

/// Mass of grains and columns [kg].
fn masses(frame: &Frame) -> (f64, f64) {
    let grains = floats(frame, "mass").iter().map(|m| f64::from(*m)).sum();
    let about = &frame.attributes[ATTRIBUTE];
    (grains, about["mass_kg"].as_f64().unwrap())
}

#[test]
fn a_blade_digs_a_trench_in_soil_that_comes_to_rest() {
    let mut simulation = simulation(DIG);
    let first = simulation.write_frame().unwrap();
    let (none, whole) = masses(&first);
    assert_eq!((none, simulation.particles()), (0.0, 0));
    let mut most = 0;
    let mut fastest = 0.0f32;
    for frame in 1..=320 {
        let frame_now = advance(&mut simulation, 1);
        let (grains, columns) = masses(&frame_now);
        let error = (grains + columns) / whole - 1.0;
        assert!(error.abs() < 1e-12, "frame {frame}: {error:e}");
        most = most.max(simulation.particles());
        for v in floats(&frame_now, "velocity").as_chunks::<3>().0 {
            let speed = v.iter().map(|x| x * x).sum::<f32>().sqrt();
            assert!(speed.is_finite());
            fastest = fastest.max(speed);
        }
    }
    assert!(most > 500, "{most}");
    // The blade moves at 2.1 m/s at most, when it is lifted; grains under its edge shoot out, but not without bound.
    assert!(fastest < 5.0 * 2.1, "{fastest}");
    let end = advance(&mut simulation, 0);
    let heights = end.array(HEIGHTS).unwrap().data.as_f32().unwrap();
    let lowest = heights.iter().copied().fold(f32::INFINITY, f32::min);
    assert!(lowest < -0.1, "{lowest}");
    assert!(simulation.particles() < most / 5);
}

#[test]
fn a_dig_is_the_same_for_any_threads_and_after_a_resume() {
    let run = |threads: usize, resume: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| {
            let mut one = simulation(DIG);
            advance(&mut one, 50);
            if resume {
                let saved = one.save().unwrap();
                one = simulation(DIG);
                one.load(&saved).unwrap();
            }
            advance(&mut one, 30);
            digest(&one.save().unwrap())
        })
    };
    let reference = run(1, false);
    assert_eq!(run(2, false), reference);
    assert_eq!(run(2, true), reference);
}

/// What the blade pushes lies before its track, higher than the surface was; the track is a trench.
#[test]
fn soil_from_the_trench_lies_before_it() {
    let mut simulation = simulation(DIG);
    let end = advance(&mut simulation, 720);
    assert!(simulation.particles() < 20, "{}", simulation.particles());
    let heights = end.array(HEIGHTS).unwrap().data.as_f32().unwrap();
    let sum = |part: &dyn Fn(f32, f32) -> bool| -> f32 {
        let columns = heights.iter().enumerate();
        let place = |k: usize| ((k % 60) as f32 * 0.1 - 2.95, (k / 60) as f32 * 0.1 - 1.95);
        let inside = columns.filter(|(k, _)| part(place(*k).0, place(*k).1));
        inside.map(|(_, h)| h).sum()
    };
    let track = sum(&|x, z| (-1.0..0.3).contains(&x) && z.abs() < 0.4);
    let ahead = sum(&|x, z| x > 0.6 && z.abs() < 0.8);
    assert!(track < -5.0, "{track}");
    assert!(ahead > 2.0, "{ahead}");
    let highest = heights.iter().copied().fold(f32::MIN, f32::max);
    assert!(highest > 0.1, "{highest}");
    // Columns have all of it again.
    assert!(sum(&|_, _| true).abs() < 0.5);
}
