//! Heaps at rest: they stay, they weigh what they weigh, and nothing is lost or gained on the way.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use barchan_sim::material::{hencky, lame};
use barchan_sim::math::Sym3;
use barchan_sim::simulation::Simulation;
use glam::DVec3;
use support::*;

const G: f64 = 9.81;
const DENSITY: f64 = 1600.0;
const POISSON: f64 = 0.3;

/// A column of sand that collapses on a floor.
struct Column {
    dimensions: u32,
    dx: f64,
    young: f64,
    friction_angle: f64,
    extra: &'static str,
}

/// 397 particles in 10 × 10 cells.
const FLAT: Column = Column {
    dimensions: 2,
    dx: 0.02,
    young: 3e5,
    friction_angle: 30.0,
    extra: "",
};

/// About 2000 particles in 6 × 6 × 6 cells.
const SOLID: Column = Column {
    dimensions: 3,
    dx: 1.0 / 30.0,
    ..FLAT
};

impl Column {
    fn text(&self) -> String {
        format!(
            r#"
dimensions = {}
frame_rate = 10
[solver]
resolution = {}
[materials.sand]
law = "sand"
density = {DENSITY}
young = {}
poisson = {POISSON}
friction_angle = {}
[[fill]]
name = "column"
material = "sand"
shape = {{ box = {{ min = [-0.1, 0, -0.1], max = [0.1, 0.2, 0.1] }} }}
[[collider]]
name = "floor"
shape = {{ half_space = {{ normal = [0, 1, 0] }} }}
friction = 0.6
{}
"#,
            self.dimensions, self.dx, self.young, self.friction_angle, self.extra
        )
    }

    /// Mass of the column [kg]; in 2D of a slab 1 m thick.
    fn mass(&self) -> f64 {
        let area = 0.2 * 0.2;
        DENSITY
            * if self.dimensions == 3 {
                area * 0.2
            } else {
                area
            }
    }
}

fn mass(all: &[Particle]) -> f64 {
    all.iter().map(|p| f64::from(p.volume) * DENSITY).sum()
}

/// How far each particle moved between two states, in cells, largest first.
fn drifts(first: &[Particle], last: &[Particle], dx: f64) -> Vec<f64> {
    let mut drifts: Vec<f64> = first
        .iter()
        .zip(last)
        .map(|(a, b)| f64::from((a.x - b.x).length()) / dx)
        .collect();
    drifts.sort_by(|a, b| b.total_cmp(a));
    drifts
}

// ---- Drift ----

/// Drifts [cells] within ten seconds, after the column has settled for `settle` seconds.
fn drift_of_heap(column: &Column, settle: u32) -> Vec<f64> {
    let mut run = start(&column.text());
    advance(&mut run, 10 * settle);
    let first = particles(&mut run);
    advance(&mut run, 100);
    let last = particles(&mut run);
    let drifts = drifts(&first, &last, column.dx);
    let mean = drifts.iter().sum::<f64>() / drifts.len() as f64;
    let com = (mean_position(&last) - mean_position(&first)).length() / column.dx;
    let over = drifts.iter().filter(|d| **d >= 0.1).count();
    println!(
        "{}D heap of {}: in 10 s a particle moves {:.4} dx at most, {mean:.5} dx on average, the center {com:.5} dx; \
         {over} move 0.1 dx or more; the first ten {:.3?}",
        column.dimensions,
        drifts.len(),
        drifts[0],
        &drifts[..10]
    );
    drifts
}

#[test]
fn a_heap_at_rest_stays_at_rest_in_the_plane() {
    let drifts = drift_of_heap(&FLAT, 40);
    assert!(drifts[0] < 0.1, "{} dx in 10 s", drifts[0]);
}

#[test]
fn a_heap_at_rest_stays_at_rest() {
    let drifts = drift_of_heap(&SOLID, 60);
    assert!(drifts[0] < 0.1, "{} dx in 10 s", drifts[0]);
}

/// The bulk of the heap, which the two tests above do not single out.
#[test]
fn all_but_the_toe_of_a_flat_heap_stays_at_rest() {
    let drifts = drift_of_heap(&FLAT, 5);
    let toe = drifts.len() / 100;
    assert!(drifts[toe] < 0.1, "99 % move less than {} dx", drifts[toe]);
    let mean = drifts.iter().sum::<f64>() / drifts.len() as f64;
    assert!(mean < 0.01, "{mean} dx");
    // Negative control: pure PIC is so viscous that the column has not come to rest by then.
    let mut run = start(
        &FLAT
            .text()
            .replace("[solver]", "[solver]\nmpm.transfer = \"pic\""),
    );
    advance(&mut run, 50);
    let first = particles(&mut run);
    advance(&mut run, 100);
    let drifts = self::drifts(&first, &particles(&mut run), FLAT.dx);
    assert!(drifts[toe] > 0.1);
}

/// A layer of sand, 8 cells deep, on an incline that repeats along x.
fn layer(degrees: f64) -> Simulation {
    start(&format!(
        r#"
dimensions = 2
frame_rate = 10
gravity = {{ interpolation = "smooth", keyframes = [{{ time = 0, value = [0, 0] }}, {{ time = 0.5, value = {} }}, {{ time = 1.5, value = {} }}] }}
domain = {{ min = [0, -1], max = [0.4, 3], periodic = ["x"] }}
[solver]
resolution = 0.05
[materials.sand]
density = {DENSITY}
young = 1e6
poisson = {POISSON}
friction_angle = 35
[[fill]]
material = "sand"
sampling = "lattice"
shape = {{ box = {{ min = [0, 0], max = [0.4, 0.4] }} }}
[[collider]]
name = "floor"
shape = {{ half_space = {{ normal = [0, 1] }} }}
friction = 0.6
"#,
        tilted(0.0),
        tilted(degrees)
    ))
}

#[test]
fn sand_on_an_incline_below_the_friction_angle_does_not_creep() {
    // Sand flows above atan(sin 35°) = 29.8°; the floor holds up to atan 0.6 = 31°.
    for (degrees, rests) in [(20.0, true), (25.0, true), (35.0, false)] {
        let mut run = layer(degrees);
        advance(&mut run, 30);
        let first = particles(&mut run);
        advance(&mut run, if rests { 100 } else { 1 });
        let drifts = drifts(&first, &particles(&mut run), 0.05);
        println!("layer at {degrees}°: {:.1e} dx", drifts[0]);
        if rests {
            assert!(drifts[0] < 0.1, "{degrees}°: {} dx in 10 s", drifts[0]);
        } else {
            assert!(drifts[0] > 0.1, "{degrees}°: {} dx in 0.1 s", drifts[0]);
        }
    }
}

/// How deep sand ends up in a floor at height `level`, in cells.
fn depth_in_floor(boundary: &str, level: f64) -> f64 {
    let floor =
        format!("{{ normal = [0, 1, 0], point = [0, {level}, 0] }} }}\nboundary = \"{boundary}\"");
    let mut run = start(&FLAT.text().replace("{ normal = [0, 1, 0] } }", &floor));
    advance(&mut run, 20);
    let lowest = particles(&mut run).into_iter().map(|p| f64::from(p.x.y));
    (level - lowest.fold(f64::MAX, f64::min)) / FLAT.dx
}

#[test]
fn a_floor_on_the_nodes_of_the_grid_holds_like_one_just_above_them() {
    for boundary in ["sticky", "slipping", "separating"] {
        let (on, above) = (
            depth_in_floor(boundary, 0.0),
            depth_in_floor(boundary, 1e-5),
        );
        println!("{boundary}: {on:.3} cells deep, {above:.3} just above the nodes");
        assert!(
            (on - above).abs() < 0.1,
            "{boundary}: {on} and {above} cells deep"
        );
    }
}

// ---- Slopes ----

/// Height [m], half width [m] and their ratio as an angle [degrees] of what a column becomes.
fn deposit(friction_angle: f64) -> (f64, f64, f64) {
    let mut run = start(
        &Column {
            friction_angle,
            ..FLAT
        }
        .text(),
    );
    advance(&mut run, 20);
    let all = particles(&mut run);
    let mut x: Vec<f64> = all.iter().map(|p| f64::from(p.x.x.abs())).collect();
    x.sort_by(f64::total_cmp);
    let width = x[x.len() * 97 / 100];
    let height = all.iter().map(|p| f64::from(p.x.y)).fold(0.0, f64::max);
    (height, width, (height / width).atan().to_degrees())
}

#[test]
fn slopes_order_with_the_friction_angle() {
    let deposits = [20.0, 30.0, 40.0].map(deposit);
    println!("height, half width, angle: {deposits:.3?}");
    for pair in deposits.windows(2) {
        assert!(pair[1].0 > 1.05 * pair[0].0, "higher");
        assert!(pair[1].1 < 0.95 * pair[0].1, "narrower");
        assert!(pair[1].2 > pair[0].2 + 3.0, "steeper");
    }
}

// ---- Mass and counts ----

#[test]
fn nothing_is_lost_or_gained() {
    for column in [FLAT, SOLID] {
        let mut run = start(&column.text());
        let first = particles(&mut run);
        assert!((mass(&first) / column.mass() - 1.0).abs() < 1e-5);
        advance(&mut run, 10);
        let last = particles(&mut run);
        assert!(first.iter().map(|p| p.id).eq(last.iter().map(|p| p.id)));
        assert_eq!(mass(&first), mass(&last));
    }
}

#[test]
fn a_drain_counts_what_it_takes() {
    let column = Column {
        extra: "[[drain]]\nname = \"right\"\nshape = { box = { min = [0.12, -1, -1], max = [9, 9, 9] } }\n\
                [[drain]]\nname = \"left\"\nshape = { box = { min = [-9, -1, -1], max = [-0.15, 9, 9] } }",
        ..FLAT
    };
    let mut run = start(&column.text());
    let first = particles(&mut run);
    advance(&mut run, 20);
    let last = particles(&mut run);
    let counters = run.counters().clone();
    println!("drained {:?} of {}", counters.drained, first.len());
    let drained: u64 = counters.drained.iter().sum();
    assert!(counters.drained.iter().all(|c| *c > 0));
    assert_eq!(first.len() as u64, last.len() as u64 + drained);
    let part = f64::from(first[0].volume) * DENSITY;
    assert!((mass(&first) - mass(&last) - drained as f64 * part).abs() < 1e-3 * part);
    assert!(last.iter().all(|p| p.x.x < 0.12 && p.x.x > -0.15));
    let frame = run.write_frame().unwrap();
    let recorded = frame.record.statistics.run.unwrap().drained;
    assert_eq!(recorded[0].particles, counters.drained[0]);
    assert_eq!(recorded[1].name, "left");
}

#[test]
fn an_emitter_gives_the_mass_it_promises() {
    // 50 kg/s per meter for 2 s: 625 particles, with the unevenness of a Poisson pattern at its two ends.
    let column = Column {
        extra: "[[emitter]]\nname = \"spout\"\nmaterial = \"sand\"\nvelocity = [0, -1]\nrate = 50\nend = 2\n\
                shape = { box = { min = [0.5, 0.5], max = [0.6, 0.52] } }",
        ..FLAT
    };
    let mut run = start(&column.text());
    let before = run.particles();
    advance(&mut run, 22);
    let all = particles(&mut run);
    let emitted = run.counters().emitted[0] as usize;
    assert_eq!(all.len(), before + emitted);
    let mut ids: Vec<u32> = all.iter().map(|p| p.id).collect();
    ids.dedup();
    assert_eq!(ids.len(), all.len(), "ids are unique");
    let given = mass(&all) - column.mass();
    println!("emitted {emitted} particles, {given:.3} kg of 100");
    assert!((given / 100.0 - 1.0).abs() < 0.03, "{given} kg");
}

// ---- Forces ----

/// Mean force of the grains on the first body since the last frame [N].
fn force(run: &mut Simulation) -> DVec3 {
    let frame = run.write_frame().unwrap();
    frame.record.bodies[0].force.into()
}

#[test]
fn a_settled_heap_presses_with_its_weight() {
    for column in [FLAT, SOLID] {
        let mut run = start(&column.text());
        advance(&mut run, 30);
        let f = force(&mut run);
        let weight = column.mass() * G;
        println!(
            "{}D: {:.3} N down, weight {weight:.3} N, sideways {:.2e} N",
            column.dimensions, -f.y, f.x
        );
        assert!((-f.y / weight - 1.0).abs() < 0.01);
        assert!(f.x.abs().max(f.z.abs()) < 0.01 * weight);
    }
}

#[test]
fn momentum_changes_by_weight_and_boundary_force() {
    for column in [FLAT, SOLID] {
        let mut run = start(&column.text());
        let momentum = |run: &mut Simulation| -> DVec3 {
            let all = particles(run);
            all.iter()
                .map(|p| p.v.as_dvec3() * f64::from(p.volume) * DENSITY)
                .sum()
        };
        let weight = DVec3::new(0.0, -column.mass() * G, 0.0);
        let mut worst = 0.0f64;
        let mut largest = 0.0f64;
        for _ in 0..6 {
            let before = momentum(&mut run);
            advance(&mut run, 1);
            let rate = (momentum(&mut run) - before) * 10.0;
            let boundary = -force(&mut run);
            worst = worst.max((rate - weight - boundary).length());
            largest = largest.max((boundary + weight).length());
        }
        println!("{}D: {worst:.2e} N of {largest:.1} N", column.dimensions);
        assert!(
            largest > 0.02 * column.mass() * G,
            "the collapse accelerates"
        );
        assert!(worst < 1e-4 * column.mass() * G, "{worst} N");
    }
}

// ---- Energy ----

/// Kinetic (with the affine part), gravitational and elastic energy [J].
fn energy(run: &mut Simulation, column: &Column) -> f64 {
    let state = run.save().unwrap();
    let affine: f64 = floats(&state, "affine")
        .chunks(9)
        .zip(floats(&state, "volume"))
        .map(|(c, v)| {
            let square: f64 = c.iter().map(|c| f64::from(*c).powi(2)).sum();
            0.5 * f64::from(*v) * DENSITY * square * 0.25 * column.dx * column.dx
        })
        .sum();
    let (lambda, mu) = lame(column.young, POISSON);
    let of_particle = |p: &Particle| {
        let m = f64::from(p.volume) * DENSITY;
        let strain = Sym3::from_array(p.strain.map(f64::from));
        let values = if column.dimensions == 3 {
            strain.eigen::<3>().values
        } else {
            strain.eigen::<2>().values
        };
        let elastic = hencky::energy(
            hencky::strain_from_eigenvalues(values),
            hencky::Lame { lambda, mu },
        );
        m * (0.5 * p.v.as_dvec3().length_squared() + G * f64::from(p.x.y))
            + f64::from(p.volume) * elastic
    };
    affine + of_checkpoint(&state).iter().map(of_particle).sum::<f64>()
}

#[test]
fn the_energy_of_a_closed_system_never_grows() {
    for column in [FLAT, SOLID] {
        let text = column.text().replace("frame_rate = 10", "frame_rate = 200");
        let mut run = start(&text);
        let first = energy(&mut run, &column);
        let (mut least, mut worst, mut last) = (first, 0.0f64, first);
        for _ in 0..200 {
            advance(&mut run, 1);
            last = energy(&mut run, &column);
            worst = worst.max(last - least);
            least = least.min(last);
        }
        // Symplectic Euler conserves an energy that differs from this one by Δt/2 times the power of the forces, here at
        // most the weight falling at √(2 g H).
        let dt = run.time() / run.counters().substeps as f64;
        let tolerance = 0.5 * dt * column.mass() * G * (2.0 * G * 0.2f64).sqrt();
        println!(
            "{}D: energy {first:.4} → {last:.4} J, rises by {worst:.2e} J at most, tolerance {tolerance:.2e} J",
            column.dimensions
        );
        assert!(worst < tolerance, "{worst} J of {first} J");
        assert!(last < 0.9 * first, "friction takes energy");
    }
}
