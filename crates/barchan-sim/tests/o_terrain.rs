//! Columns of soil: cases O1–O3 of docs/validation.md with the terrain alone, O4 and O5 through the solver, and controls.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use barchan_frame::{Frame, TERRAIN_HEIGHT};
use barchan_scene::{Material, TerrainSpec, material_presets};
use barchan_sim::height_field::SLOPE_TOLERANCE;
use barchan_sim::simulation::Simulation;
use barchan_sim::terrain::{ExistingGrains, GrainSize, Terrain};
use glam::Vec3;
use support::grains::grains;
use support::{advance, start};

const DENSITY: f64 = 1600.0;

fn sand() -> Material {
    let preset = material_presets().iter().find(|p| p.name == "dry sand");
    let material = preset.unwrap().material.clone();
    assert_eq!(material.density, DENSITY);
    material
}

/// A level site of n × n columns around the origin, one meter deep, with `heights` above that.
fn site(n: usize, cell: f64, angle: f64, heights: impl Fn(f64, f64) -> f64) -> Terrain {
    let middle = |k: usize| (k as f64 + 0.5 - 0.5 * n as f64) * cell;
    let height = |k: usize| heights(middle(k % n), middle(k / n)) as f32;
    let spec = TerrainSpec {
        material: 0,
        origin: [-0.5 * cell * n as f64; 2],
        cell,
        columns: [n, n],
        heights: (0..n * n).map(height).collect(),
        floor: -1.0,
        angle_of_repose: angle,
    };
    let grain = GrainSize {
        radius: 0.02,
        spread: 0.0,
        mass: 0.09,
    };
    Terrain::new(&spec, &sand(), grain)
}

/// Lets slopes slide until they rest and surfaces rise to where they belong.
fn settle(soil: &mut Terrain) {
    for _ in 0..100_000 {
        if soil.field().active_columns() == 0 {
            break;
        }
        soil.relax();
    }
    assert_eq!(soil.field().active_columns(), 0);
    soil.cut(&[], 1000.0, ExistingGrains::default(), &mut Vec::new());
}

/// Σ h dx² above the rock [m³].
fn volume(soil: &Terrain) -> f64 {
    let cell = f64::from(soil.field().layout().cell);
    let above = |h: &f32| f64::from(*h) - f64::from(soil.field().floor());
    soil.field().heights().iter().map(above).sum::<f64>() * cell * cell
}

/// Steepest slope between neighbors [degrees], with its component across them.
fn steepest(soil: &Terrain) -> f64 {
    let [nx, nz] = soil.field().layout().columns;
    let cell = f64::from(soil.field().layout().cell);
    let h = |i: usize, j: usize| f64::from(soil.field().heights()[j * nx + i]);
    let along = |i: usize, j: usize, x: bool| match x {
        true => (h((i + 1).min(nx - 1), j) - h(i.max(1) - 1, j)) / (2.0 * cell),
        false => (h(i, (j + 1).min(nz - 1)) - h(i, j.max(1) - 1)) / (2.0 * cell),
    };
    let mut worst = 0.0f64;
    for j in 0..nz - 1 {
        for i in 0..nx - 1 {
            for (di, dj) in [(1, 0), (0, 1)] {
                let drop = (h(i + di, j + dj) - h(i, j)) / cell;
                let x = dj == 1;
                let across = 0.5 * (along(i, j, x) + along(i + di, j + dj, x));
                if drop != 0.0 {
                    worst = worst.max(drop.hypot(across));
                }
            }
        }
    }
    worst.atan().to_degrees()
}

// ---- O1 ----

#[test]
fn o1_soil_that_slides_keeps_its_mass() {
    let ridges = |x: f64, z: f64| 0.6 * (5.0 * x).sin() * (3.0 * z).cos();
    let mut soil = site(64, 0.05, 25.0, ridges);
    let (mass, before) = (soil.mass(), volume(&soil));
    settle(&mut soil);
    assert_eq!(soil.mass(), mass);
    // Heights are rounded to f32, masses are not.
    let change = volume(&soil) / before - 1.0;
    println!("O1: Σ h dx² changed by {change:e}, mass by nothing");
    assert!(change.abs() < 1e-7, "{change:e}");
    assert!((soil.mass() / (DENSITY * before) - 1.0).abs() < 1e-7);
    // Negative control: a grain more is a change of the mass that shows.
    assert!(soil.deposit(
        Vec3::new(0.0, soil.field().height(0.0, 0.0).unwrap(), 0.0),
        0.02,
        0.09
    ));
    assert!(soil.mass() / mass - 1.0 > 1e-12);
}

// ---- O2 ----

#[test]
fn o2_slopes_end_at_the_angle_of_repose_and_gentler_ones_stay() {
    for angle in [20.0, 34.0, 40.0] {
        // A cliff and a wedge that is twice as steep as it can be.
        let steep = |x: f64, z: f64| match z > 0.0 {
            true => f64::from(u8::from(x < 0.0)) * 0.4,
            false => (2.0 * f64::to_radians(angle).tan() * (0.3 - x.abs())).max(0.0),
        };
        let mut soil = site(64, 0.05, angle, steep);
        // Negative control: before it slides it is too steep.
        assert!(steepest(&soil) > angle + 5.0);
        settle(&mut soil);
        let slope = steepest(&soil);
        println!("O2 {angle}°: steepest slope at rest {slope:.3}°");
        // Slopes begin to slide half a degree above the angle: that is the converged state.
        let limit = (angle + f64::from(SLOPE_TOLERANCE)).to_radians().tan();
        let tangent = slope.to_radians().tan();
        assert!(tangent < limit * 1.001, "{angle}: {slope}");
        let at_rest = soil.field().heights().to_vec();
        settle(&mut soil);
        assert_eq!(soil.field().heights(), at_rest);

        let gentle =
            |x: f64, z: f64| (0.99 * f64::to_radians(angle).tan()) * (0.7 - x.hypot(z)).max(0.0);
        let mut soil = site(64, 0.05, angle, gentle);
        let before = soil.field().heights().to_vec();
        soil.relax();
        assert_eq!(soil.field().active_columns(), 0);
        assert_eq!(soil.field().heights(), before);
    }
}

// ---- O3 ----

const CELLS: usize = 64;
const CELL: f64 = 0.05;
const REPOSE: f64 = 34.0;

/// Radius of the foot and height of the cone whose flank runs through the heights between 20 and 80 % of its radius, in
/// a direction [rad]. `height` has its middle at the origin.
fn cone_along(height: &dyn Fn(f64, f64) -> f64, direction: f64, foot: f64) -> (f64, f64) {
    let points: Vec<[f64; 2]> = (0..=60)
        .map(|i| foot * (0.2 + 0.01 * f64::from(i)))
        .map(|r| [r, height(r * direction.cos(), r * direction.sin())])
        .collect();
    let n = points.len() as f64;
    let mean = |k: usize| points.iter().map(|p| p[k]).sum::<f64>() / n;
    let (mx, my) = (mean(0), mean(1));
    let sum = |a: usize, b: usize| {
        let m = [mx, my];
        points
            .iter()
            .map(|p| (p[a] - m[a]) * (p[b] - m[b]))
            .sum::<f64>()
    };
    let slope = sum(0, 1) / sum(0, 0);
    (mx - my / slope, my - slope * mx)
}

/// Radii in sixteen directions [m], and the mean height of the cone [m].
fn cone(height: &dyn Fn(f64, f64) -> f64) -> (Vec<f64>, f64) {
    let directions = (0..16).map(|k| f64::from(k) * std::f64::consts::TAU / 16.0);
    let all: Vec<(f64, f64)> = directions.map(|d| cone_along(height, d, 1.1229)).collect();
    let top = all.iter().map(|c| c.1).sum::<f64>() / 16.0;
    (all.iter().map(|c| c.0).collect(), top)
}

/// Whether the radii are those of the cone: mean within 3 %, spread within 8 %.
fn is_round(radii: &[f64]) -> (bool, f64, f64) {
    let mean = radii.iter().sum::<f64>() / radii.len() as f64;
    let largest = radii.iter().copied().fold(f64::MIN, f64::max);
    let least = radii.iter().copied().fold(f64::MAX, f64::min);
    let spread = largest / least - 1.0;
    let round = (mean / 1.1229 - 1.0).abs() < 0.03 && spread < 0.08;
    (round, mean, spread)
}

#[test]
fn o3_a_point_source_heaps_a_cone() {
    let mut soil = site(CELLS, CELL, REPOSE, |_, _| 0.0);
    let portion = DENSITY / 250.0;
    for _ in 0..250 {
        let y = soil.field().height(0.0, 0.0).unwrap();
        assert!(soil.deposit(Vec3::new(0.0, y, 0.0), 0.02, portion));
        // Most of a portion slides before the next falls, and surfaces have risen.
        for _ in 0..20 {
            soil.relax();
            if soil.field().active_columns() == 0 {
                break;
            }
        }
        soil.cut(&[], 1000.0, ExistingGrains::default(), &mut Vec::new());
    }
    settle(&mut soil);
    let height = |x: f64, z: f64| f64::from(soil.field().height(x as f32, z as f32).unwrap());
    let (radii, top) = cone(&height);
    let (round, mean, spread) = is_round(&radii);
    println!(
        "O3: R = {mean:.4} m (1.1229), spread {:.1} %, h = {top:.4} m (0.7574)",
        100.0 * spread
    );
    assert!(round, "{mean} {spread}");
    assert!((top / 0.7574 - 1.0).abs() < 0.03, "{top}");
}

/// Negative control of O3: slopes limited pair by pair, with four neighbors, heap pyramids.
#[test]
fn o3_pairs_of_four_neighbors_do_not_heap_a_cone() {
    let (n, cell) = (CELLS, CELL);
    let most = REPOSE.to_radians().tan() * cell;
    let mut h = vec![0.0f64; n * n];
    for _ in 0..1000 {
        for k in [n / 2 - 1, n / 2] {
            h[k * n + n / 2 - 1] += 0.25e-3 / (cell * cell);
            h[k * n + n / 2] += 0.25e-3 / (cell * cell);
        }
        for _ in 0..12 {
            for k in 0..n * n {
                for next in [k + 1, k + n] {
                    if next >= n * n || (next == k + 1 && next % n == 0) {
                        continue;
                    }
                    let drop: f64 = h[k] - h[next];
                    let flow = 0.5 * (drop.abs() - most).max(0.0) * drop.signum();
                    h[k] -= flow;
                    h[next] += flow;
                }
            }
        }
    }
    let height = |x: f64, z: f64| {
        let t = |x: f64| x / cell + 0.5 * n as f64 - 0.5;
        let (i, j) = (t(x).floor() as usize, t(z).floor() as usize);
        let (u, v) = (t(x).fract(), t(z).fract());
        let at = |i: usize, j: usize| h[j * n + i];
        (1.0 - v) * ((1.0 - u) * at(i, j) + u * at(i + 1, j))
            + v * ((1.0 - u) * at(i, j + 1) + u * at(i + 1, j + 1))
    };
    let (radii, _) = cone(&height);
    let (round, mean, spread) = is_round(&radii);
    println!(
        "O3 control, four neighbors: R = {mean:.4} m, spread {:.1} %",
        100.0 * spread
    );
    assert!(!round && spread > 0.2, "{mean} {spread}");
}

// ---- O4, O5: through the solver ----

const GRAIN: f64 = 0.04;

fn hybrid(rest: &str) -> Simulation {
    start(&format!(
        r#"
frame_rate = 60
[solver]
method = "pbd"
resolution = {}
[terrain]
material = "dry sand"
size = [4, 4]
cell = 0.1
depth = 1
angle_of_repose = 35
{rest}
"#,
        2.0 * GRAIN
    ))
}

/// What a frame holds: mass of the columns and of the grains [kg], and the heights of the columns [m].
struct Soil {
    columns: f64,
    grains: f64,
    heights: Vec<f32>,
}

impl Soil {
    fn of(run: &mut Simulation) -> Self {
        let frame: Frame = run.write_frame().unwrap();
        let all = grains(run);
        Self {
            columns: frame.record.terrain.unwrap().mass_kg,
            grains: all.iter().map(|g| f64::from(g.mass)).sum(),
            heights: frame
                .array(TERRAIN_HEIGHT)
                .unwrap()
                .data
                .as_f32()
                .unwrap()
                .to_vec(),
        }
    }

    fn mass(&self) -> f64 {
        self.columns + self.grains
    }

    /// Volume of the columns above (1) or below (−1) the level at which they began [m³].
    fn beyond_level(&self, sign: f64) -> f64 {
        let part = |h: &f32| (sign * f64::from(*h)).max(0.0);
        self.heights.iter().map(part).sum::<f64>() * 0.01
    }

    /// Steepest slope between neighbors along x or z [degrees].
    fn steepest(&self) -> f64 {
        let h = |i: usize, j: usize| f64::from(self.heights[j * 40 + i]);
        let slopes = (0..39)
            .flat_map(|j| (0..39).map(move |i| (i, j)))
            .map(|(i, j)| {
                let (x, z) = (h(i + 1, j) - h(i, j), h(i, j + 1) - h(i, j));
                x.abs().max(z.abs()) / 0.1
            });
        slopes.fold(0.0, f64::max).atan().to_degrees()
    }
}

/// Volume that a grain takes in the bulk [m³].
fn grain_volume() -> f64 {
    4.0 / 3.0 * std::f64::consts::PI * GRAIN.powi(3) / 0.6
}

#[test]
fn o4_a_footprint_keeps_its_volume_and_has_a_rim_that_rests() {
    let mut run = hybrid(
        r#"
[[collider]]
name = "foot"
shape = { box = { min = [-0.3, 0, -0.3], max = [0.3, 0.5, 0.3] } }
motion = { position = { keyframes = [{ time = 0, value = [0, 0.2, 0] }, { time = 1, value = [0, -0.25, 0] }, { time = 1.5, value = [0, -0.25, 0] }, { time = 2.5, value = [0, 1, 0] }] } }
"#,
    );
    let before = Soil::of(&mut run);
    let mut steepest = 0.0f64;
    for frame in 0..900 {
        advance(&mut run, 1);
        if frame % 10 == 0 {
            let now = Soil::of(&mut run);
            assert!((now.mass() / before.mass() - 1.0).abs() < 1e-10, "{frame}");
            steepest = steepest.max(now.steepest());
        }
    }
    let after = Soil::of(&mut run);
    let (rim, pit) = (after.beyond_level(1.0), after.beyond_level(-1.0));
    let loose = after.grains / DENSITY;
    println!(
        "O4: pit {:.1} l, rim {:.1} l, {} grains with {:.1} l; steepest slope {:.2}°, {steepest:.1}° on the way",
        1e3 * pit,
        1e3 * rim,
        run.particles(),
        1e3 * loose,
        after.steepest()
    );
    assert!(pit > 20.0 * grain_volume(), "{pit}");
    assert!(
        (rim + loose - pit).abs() < grain_volume(),
        "{rim} {loose} {pit}"
    );
    // Along one axis a slope is at most what it is in its own direction.
    assert!(after.steepest() < 35.0 + f64::from(SLOPE_TOLERANCE) + 0.1);
    // Negative control: with the foot in it the pit is steeper.
    assert!(steepest > 40.0, "{steepest}");
}

#[test]
fn o5_grains_that_become_columns_and_columns_that_become_grains_keep_volume_and_mass() {
    let mut run = hybrid(
        r#"
[[fill]]
material = "dry sand"
shape = { box = { min = [-0.5, 0.1, -0.5], max = [0.5, 0.4, 0.5] } }
[[collider]]
name = "blade"
shape = { box = { min = [-0.1, -0.15, -0.6], max = [0, 0.5, 0.6] } }
motion = { position = { keyframes = [{ time = 8, value = [-1.2, 1, 0] }, { time = 9, value = [-1.2, 0, 0] }, { time = 10.5, value = [0.3, 0, 0] }, { time = 11, value = [0.1, 1, 0] }] } }
"#,
    );
    let before = Soil::of(&mut run);
    let (mut fewest, mut most) = (run.particles(), 0);
    for second in 1..=20 {
        advance(&mut run, 60);
        let now = Soil::of(&mut run);
        let change = now.mass() / before.mass() - 1.0;
        assert!(change.abs() < 1e-10, "{second} s: {change:e}");
        match second {
            ..=8 => fewest = fewest.min(run.particles()),
            _ => most = most.max(run.particles()),
        }
        if second == 8 || second == 20 {
            // What lies above the level less what is missing below it, and the grains, is what was poured.
            let volume = now.beyond_level(1.0) - now.beyond_level(-1.0) + now.grains / DENSITY;
            let poured = before.grains / DENSITY;
            println!(
                "O5 after {second} s: {} grains, volume {:.2} l of {:.2} l, a grain has {:.2} l",
                run.particles(),
                1e3 * volume,
                1e3 * poured,
                1e3 * grain_volume()
            );
            assert!(
                (volume - poured).abs() < grain_volume(),
                "{volume} {poured}"
            );
            // Negative control: two grains that were lost would show.
            assert!((volume - 2.0 * grain_volume() - poured).abs() > grain_volume());
        }
    }
    println!(
        "O5: from {fewest} to {most} grains and back to {}",
        run.particles()
    );
    assert!(most > fewest + 200 && run.particles() < most / 2);
}
