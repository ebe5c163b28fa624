//! Columns and blocks of sph: cases L2 and L9 of docs/validation.md with their controls, and corners of boxes.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use barchan_scene::Dimensions;
use barchan_sim::simulation::Simulation;
use barchan_sim::solvers::sph::kernel::Kernel;
use glam::Vec3;
use support::sph::{Grain, grains};
use support::{advance, scene, start};

const G: f64 = 9.81;
/// Spacing [m].
const D0: f64 = 0.1;

/// Force of the grains on each collider and body since the last frame [N].
fn forces(run: &mut Simulation) -> Vec<Vec3> {
    let frame = run.write_frame().unwrap();
    let bodies = frame.record.bodies.iter();
    bodies
        .map(|b| Vec3::from(b.force.map(|f| f as f32)))
        .collect()
}

fn top(all: &[Grain]) -> f32 {
    all.iter().map(|g| g.x.y).fold(f32::MIN, f32::max)
}

// ---- L2 ----

/// A column of 20 layers of so many particles across, between smooth walls; in the plane, or as deep as wide.
fn column(dimensions: u32, across: u32, angle: f64, friction: f64) -> String {
    let wide = f64::from(across) * D0;
    let front = if dimensions == 2 { -wide } else { 0.0 };
    let mut text = format!(
        r#"
dimensions = {dimensions}
frame_rate = 10
[solver]
method = "sph"
resolution = 0.1
[materials.sand]
preset = "dry sand"
density = 1600
friction_angle = {angle}
[materials.sand.sph]
viscosity = 0.05
[[fill]]
material = "sand"
sampling = "lattice"
shape = {{ box = {{ min = [0, 0, {front}], max = [{wide}, 2, {wide}] }} }}
"#
    );
    let walls = [
        ([0.0, 0.0, 0.0], [0, 1, 0]),
        ([0.0, 0.0, 0.0], [1, 0, 0]),
        ([wide, 0.0, 0.0], [-1, 0, 0]),
        ([0.0, 0.0, 0.0], [0, 0, 1]),
        ([0.0, 0.0, wide], [0, 0, -1]),
    ];
    for (point, normal) in walls.into_iter().take(2 * dimensions as usize - 1) {
        text += &format!(
            "[[collider]]\nshape = {{ half_space = {{ point = {point:?}, normal = {normal:?} }} }}\nfriction = {friction}\n"
        );
    }
    text
}

/// What a column at rest is like.
#[derive(Debug)]
struct Hydrostatic {
    /// Largest compression of particles away from the walls.
    compression: f64,
    /// Largest departure of the mean pressure of layers from their straight line, over that at the bottom.
    departure: f64,
    /// Slope of that line over ρ g.
    slope: f64,
    /// Force on the floor over the weight.
    load: f64,
}

/// Means over the fourth and fifth second.
fn hydrostatic(text: &str, across: u32) -> Hydrostatic {
    let mut run = start(text);
    advance(&mut run, 30);
    let dimensions = scene(text).dimensions;
    let (mut load, mut compression) = (0.0, 0.0f64);
    let mut layers = vec![[0.0; 3]; 20];
    for _ in 0..20 {
        advance(&mut run, 1);
        let all = grains(&mut run);
        assert!(all.iter().all(|g| g.pressure >= 0.0));
        let weight = all.iter().map(|g| f64::from(g.mass)).sum::<f64>() * G;
        load -= 0.05 * f64::from(forces(&mut run)[0].y) / weight;
        compression = compression.max(compressed(&all, across, dimensions));
        for g in &all {
            let layer = &mut layers[((f64::from(g.x.y) / D0) as usize).min(19)];
            for (sum, value) in layer.iter_mut().zip([1.0, g.x.y, g.pressure]) {
                *sum += f64::from(value);
            }
        }
    }
    // The lowest touch the floor, and the highest have few neighbors.
    let layers: Vec<[f64; 2]> = layers[2..17]
        .iter()
        .map(|[n, y, p]| [y / n, p / n])
        .collect();
    let mean = |k: usize| layers.iter().map(|l| l[k]).sum::<f64>() / layers.len() as f64;
    let (y, p) = (mean(0), mean(1));
    let up: f64 = layers.iter().map(|l| (l[0] - y) * (l[1] - p)).sum();
    let down: f64 = layers.iter().map(|l| (l[0] - y).powi(2)).sum();
    let slope = up / down;
    let departure = layers.iter().map(|l| (l[1] - p - slope * (l[0] - y)).abs());
    let unit = 1600.0 * G;
    Hydrostatic {
        compression,
        departure: departure.fold(0.0, f64::max) / (2.0 * unit),
        slope: -slope / unit,
        load,
    }
}

/// Largest compression of particles about the axis of a column.
fn compressed(all: &[Grain], across: u32, dimensions: Dimensions) -> f64 {
    let kernel = Kernel::new(2.0 * D0, dimensions);
    let middle = (0.5 * f64::from(across) * D0) as f32;
    let near = |x: f32| (x - middle).abs() < 0.06;
    let inner = all.iter().filter(|g| {
        near(g.x.x) && (dimensions == Dimensions::Two || near(g.x.z)) && g.x.y > 0.21 && g.x.y < 1.7
    });
    let density = |g: &Grain| -> f64 {
        let values = all.iter().map(|h| kernel.value(g.x.distance(h.x)));
        D0.powi(dimensions.count() as i32) * values.map(f64::from).sum::<f64>()
    };
    inner.map(|g| density(g) - 1.0).fold(0.0, f64::max)
}

/// By how much pressure has to rise faster than ρ g in a column so narrow: particles beside a smooth wall have no
/// neighbors there that the pressures of the layers above and below could push, and the wall answers with the particle's
/// own, across. `lost` is the part of the pairs to the side that are missing.
fn narrow(dimensions: u32, across: u32) -> f64 {
    let kernel = Kernel::new(2.0 * D0, Dimensions::Three);
    let lost = 1.0 / f64::from(across);
    let pull = |side: f64| -f64::from(kernel.slope(((1.0 + side) * D0 * D0).sqrt() as f32));
    let (above, edge, corner) = (pull(0.0), pull(1.0), pull(2.0));
    let kept = 1.0 - lost;
    match dimensions {
        2 => (above + 2.0 * edge) / (above + 2.0 * kept * edge),
        _ => {
            (above + 4.0 * edge + 4.0 * corner)
                / (above + 4.0 * kept * edge + 4.0 * kept * kept * corner)
        }
    }
}

#[test]
fn l2_a_column_at_rest_bears_its_weight() {
    for (dimensions, across) in [(3, 5), (2, 5), (2, 40)] {
        let h = hydrostatic(&column(dimensions, across, 0.0, 0.0), across);
        let exact = narrow(dimensions, across);
        println!("L2 {dimensions}D, {across} across: {h:.4?}, slope expected {exact:.4}");
        assert!(h.compression < 0.01, "{h:?}");
        assert!((h.load - 1.0).abs() < 0.02, "{h:?}");
        // A liquid is disordered, and sums over few neighbors are that exact.
        assert!((h.slope / exact - 1.0).abs() < 0.03, "{h:?} {exact}");
        // Few particles across have no even layers.
        let even = if across < 10 { 0.035 } else { 0.02 };
        assert!(h.departure < even, "{h:?}");
    }
    // Negative control: where friction bears part of the weight, the floor does not.
    let rough = hydrostatic(&column(2, 5, 40.0, 0.8), 5);
    println!("L2 control: {rough:.3?}");
    assert!(
        rough.load < 0.9 && (rough.slope - 1.0).abs() > 0.1,
        "{rough:?}"
    );
}

/// Speed [m/s] of the fastest particle and force on the floor over the weight of a column in a box of rough planes.
fn cornered(friction: f64) -> (f32, f64) {
    let mut run = start(&column(3, 5, 40.0, friction));
    advance(&mut run, 60);
    let all = grains(&mut run);
    let weight = all.iter().map(|g| f64::from(g.mass)).sum::<f64>() * G;
    let fastest = all.iter().map(|g| g.v.length()).fold(0.0, f32::max);
    (fastest, -f64::from(forces(&mut run)[0].y) / weight)
}

#[test]
fn sand_rests_in_the_corners_of_a_box_of_planes() {
    for friction in [0.3, 0.8] {
        let (fastest, load) = cornered(friction);
        println!(
            "corners, μ = {friction}: {fastest:.1e} m/s, {load:.3} of the weight on the floor"
        );
        // Slip that each of three walls takes away is taken away three times; then it never rests.
        assert!(fastest < 1e-2, "{fastest}");
        assert!(load < 1.5, "{load}");
    }
}

// ---- L9 ----

/// How far a block spreads [m]: the distance from the axis that holds nine tenths of it; and its height.
fn spread(cohesion: f64, viscosity: f64) -> (f32, f32) {
    let mut run = start(&format!(
        r#"
frame_rate = 10
[solver]
method = "sph"
resolution = 0.1
[materials.sand]
preset = "dry sand"
density = 1600
friction_angle = 50
[materials.sand.sph]
viscosity = {viscosity}
cohesion_intensity = {cohesion}
[[fill]]
material = "sand"
sampling = "lattice"
shape = {{ box = {{ min = [-0.4, 0, -0.4], max = [0.4, 1.2, 0.4] }} }}
[[collider]]
shape = {{ half_space = {{ normal = [0, 1, 0] }} }}
friction = 0.7
"#
    ));
    advance(&mut run, 25);
    let all = grains(&mut run);
    let mut out: Vec<f32> = all.iter().map(|g| g.x.x.hypot(g.x.z)).collect();
    out.sort_by(f32::total_cmp);
    (out[9 * out.len() / 10], top(&all))
}

#[test]
fn l9_a_wet_block_holds_and_a_dry_one_spreads() {
    let (dry, low) = spread(0.0, 0.01);
    let (wet, high) = spread(0.7, 0.3);
    println!("L9 dry: {dry:.3} m wide, {low:.3} m high; wet: {wet:.3}, {high:.3}");
    assert!(wet < 0.8 * dry, "{wet} {dry}");
    assert!(high > 1.2 * low, "{high} {low}");
}
