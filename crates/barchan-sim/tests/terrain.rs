//! Hybrid terrain of columns and grains in the position-based solver: digging, pushing, rest.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use barchan_frame::{Frame, TERRAIN_HEIGHT};
use barchan_sim::simulation::Simulation;
use support::{advance, start_file};

/// A short dig, 0.25 m deep.
fn dig() -> Simulation {
    start_file("tests/dig.toml", &[])
}

/// A push of 5 m with a blade whose edge is at a given height: the cut soil must move beside and in front of the blade.
fn long_push(edge: f64) -> Simulation {
    let way = "collider.blade.motion.position.keyframes=[{ time = 0, value = [-3, 0.3, 0] }, { time = 0.5, value = [-3, 0, 0] }, \
               { time = 6.5, value = [2, 0, 0] }, { time = 7, value = [1.8, 1, 0] }]";
    let low = format!("collider.blade.shape.box.min=[-0.15, {edge}, -0.6]");
    let high = "collider.blade.shape.box.max=[0, 0.7, 0.6]";
    start_file("tests/dig.toml", &["terrain.size=[9, 5]", &low, high, way])
}

/// Advances whole frames; the last one.
fn frame_after(simulation: &mut Simulation, frames: u32) -> Frame {
    advance(simulation, frames);
    simulation.write_frame().unwrap()
}

fn floats<'a>(frame: &'a Frame, name: &str) -> &'a [f32] {
    frame.column(name).unwrap().data.as_f32().unwrap()
}

/// Mass of grains and columns [kg].
fn masses(frame: &Frame) -> (f64, f64) {
    let grains = floats(frame, "mass").iter().map(|m| f64::from(*m)).sum();
    (grains, frame.record.terrain.unwrap().mass_kg)
}

#[test]
fn a_blade_digs_a_trench_in_soil_that_comes_to_rest() {
    let mut simulation = dig();
    let first = simulation.write_frame().unwrap();
    let (none, whole) = masses(&first);
    assert_eq!((none, simulation.particles()), (0.0, 0));
    let mut most = 0;
    let mut fastest = 0.0f32;
    for frame in 1..=320 {
        let frame_now = frame_after(&mut simulation, 1);
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
    // The blade moves at up to 2.1 m/s, when it is lifted; the speed of grains ejected below its edge is bounded.
    assert!(fastest < 5.0 * 2.1, "{fastest}");
    let end = frame_after(&mut simulation, 0);
    let heights = end.array(TERRAIN_HEIGHT).unwrap().data.as_f32().unwrap();
    let lowest = heights.iter().copied().fold(f32::INFINITY, f32::min);
    assert!(lowest < -0.1, "{lowest}");
    assert!(simulation.particles() < most / 5);
}

/// The pushed soil lies in front of the track, above the original surface; the track is a trench.
#[test]
fn the_soil_of_the_trench_lies_in_front_of_it() {
    let mut simulation = dig();
    let end = frame_after(&mut simulation, 720);
    assert!(simulation.particles() < 20, "{}", simulation.particles());
    let heights = end.array(TERRAIN_HEIGHT).unwrap().data.as_f32().unwrap();
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
    // All soil is deposited again.
    assert!(sum(&|_, _| true).abs() < 0.5);
}

/// Mean height of the columns of a rectangle of [`long_push`] [m].
fn mean_height(frame: &Frame, [x0, x1]: [f32; 2], [z0, z1]: [f32; 2]) -> f32 {
    let heights = frame.array(TERRAIN_HEIGHT).unwrap().data.as_f32().unwrap();
    let column = |at: f32, low: f32| ((at - low) / 0.1).round() as usize;
    let rows = column(z0, -2.5)..column(z1, -2.5);
    let along = column(x0, -4.5)..column(x1, -4.5);
    let all = rows.flat_map(|j| along.clone().map(move |i| heights[90 * j + i]));
    let (sum, count) = all.fold((0.0, 0.0), |(sum, count), h| (sum + h, count + 1.0));
    sum / count
}

/// On a bed of grains alone, in a trial run, the middle of this track was 0.10 m below the settled bed and the ridges 0.11 m above.
#[test]
fn a_long_push_leaves_a_track_between_ridges() {
    let end = frame_after(&mut long_push(-0.15), 600);
    let track = mean_height(&end, [-2.5, 0.5], [-0.3, 0.3]);
    let ridges = [[-1.1, -0.9], [0.9, 1.1]].map(|z| mean_height(&end, [-0.5, 0.5], z));
    println!("track {track:.3} m, ridges {ridges:.3?} m");
    assert!((-0.16..-0.09).contains(&track), "{track}");
    assert!(ridges.iter().all(|r| *r > 0.03), "{ridges:?}");
    // Negative control: a blade above the ground leaves no track.
    let end = frame_after(&mut long_push(0.2), 600);
    assert!(mean_height(&end, [-2.5, 0.5], [-0.3, 0.3]).abs() < 1e-5);
}

/// A plate of 2.9 kPa and a ball of 170 kg that falls 0.35 m; their lowest points start at 0.01 m and 0.35 m.
#[test]
fn bodies_come_to_rest_on_terrain() {
    let sinks = |set: &[&str]| {
        let mut simulation = start_file("tests/loam.toml", set);
        let body = simulation.body_index("body").unwrap();
        [60, 30].map(|frames| {
            advance(&mut simulation, frames);
            -simulation.pose(body).unwrap().position.y
        })
    };
    let plate = sinks(&[]);
    let ball = "body.body.shape={ sphere = { center = [0, 0.6, 0], radius = 0.25 } }";
    let ball = sinks(&["body.body.density=2600", ball]);
    println!("after 2 and 3 s the plate is {plate:.3?} m below its start, the ball {ball:.3?} m");
    // The plate rests on a cushion of loosened soil, less than a grain diameter deep; the ball penetrates about as deep as in a bed of
    // grains alone, 0.43 m.
    assert!((0.01..0.08).contains(&plate[1]), "{plate:?}");
    assert!((0.35 + 0.3..0.35 + 0.6).contains(&ball[1]), "{ball:?}");
    for [before, after] in [plate, ball] {
        assert!((after - before).abs() < 0.01, "{before} {after}");
    }
}
