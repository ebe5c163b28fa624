//! The solver against the reference implementation in f64: random particles of sand and elastic solids in one grid.
//!
//! The effect of f32 is measured: a second run of the reference stores weights, nodes and particles in f32 but computes in f64.
//! The solver also rounds intermediate sums, over up to 4³ nodes and some dozens of particles per node.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::mpm::{DenseMpm, Lattice};
use super::stepper::Stepper;
use super::{Random, exact};
use crate::scene::scene;
use crate::trial::{Particle, larger, largest};
use barchan_scene::Scene;
use barchan_sim::math::Level;
use glam::{DMat3, DVec3, Vec3};

const H: f64 = 0.03;
/// A third of what elastic waves allow [s].
const DT: f32 = 6e-4;
const YOUNG: f64 = 3.537e5;

/// Keeps a value as f32.
fn as_f32(x: f64) -> f64 {
    f64::from(x as f32)
}

/// Particles in a cell.
fn per_cell(dimensions: usize) -> f64 {
    if dimensions == 2 { 6.0 } else { 4.0 }
}

/// Particles in a box across the origin, strained, drifting by a fifth of a cell a step and jittering by a fiftieth.
fn random_particles<const D: usize>(seed: u64, transfer: &str) -> Vec<Particle> {
    let mut random = Random(seed);
    let cell_per_step = H / f64::from(DT);
    let side = if D == 2 { 11.4 } else { 7.4 };
    let per_cell = per_cell(D);
    let count = (per_cell * f64::powi(side, D as i32)) as usize;
    let mut drift = cell_per_step * DVec3::new(0.17, -0.23, 0.19);
    drift.z *= (D - 2) as f64;
    let jitter = 0.02 * cell_per_step;
    (0..count)
        .map(|i| {
            let x = random.vector(D, -0.5 * side * H, 0.5 * side * H);
            let mut p = Particle::at(x, as_f32(H.powi(D as i32) / per_cell));
            p.v = drift + random.vector(D, -jitter, jitter);
            if transfer == "apic" {
                let mut column = |axis| {
                    let c = random.vector(D, -jitter / H, jitter / H);
                    if axis < D { c } else { DVec3::ZERO }
                };
                p.affine = DMat3::from_cols(column(0), column(1), column(2));
            }
            let planar = [true, true, D == 3, D == 3, D == 3, true];
            let e = planar.map(|used| {
                if used {
                    random.within(-0.01, 0.01)
                } else {
                    0.0
                }
            });
            p.strain = e;
            p.stress = e.map(|e| e * YOUNG);
            p.material = (i % 3) as u8;
            p.id = i as u32;
            if p.material == 0 {
                p.hardening = random.within(0.0, 1.0);
                p.volume_gain = random.within(0.0, 0.005);
            }
            p
        })
        .map(in_f32)
        .collect()
}

/// Rounded to the precision of the solver.
fn in_f32(p: Particle) -> Particle {
    Particle {
        x: p.x.as_vec3().as_dvec3(),
        v: p.v.as_vec3().as_dvec3(),
        affine: DMat3::from_cols_array(&p.affine.to_cols_array().map(as_f32)),
        strain: p.strain.map(as_f32),
        stress: p.stress.map(as_f32),
        hardening: as_f32(p.hardening),
        volume_gain: as_f32(p.volume_gain),
        ..p
    }
}

fn reference<const D: usize, const K: usize>(
    keep: fn(f64) -> f64,
    scene: &Scene,
    particles: &[Particle],
    period: Option<i64>,
) -> DenseMpm<D, K> {
    let deep = i64::from(D == 3);
    let mut lattice = Lattice {
        h: H,
        low: [-20, -20, -20 * deep],
        count: [40, 40, 1 + 39 * deep],
        periodic: [period.is_some(), false, false],
        keep,
    };
    if let Some(cells) = period {
        (lattice.low[0], lattice.count[0]) = (0, cells);
    }
    DenseMpm::new(lattice, scene, particles)
}

const QUANTITIES: [&str; 7] = [
    "position",
    "velocity",
    "affine",
    "strain",
    "stress",
    "hardening",
    "volume gain",
];

/// Largest difference of each quantity.
fn departure(a: &[Particle], b: &[Particle]) -> [f64; 7] {
    assert_eq!(a.len(), b.len());
    let mut worst = [0.0f64; 7];
    for (a, b) in a.iter().zip(b) {
        assert_eq!(a.material, b.material);
        let six = |a: [f64; 6], b: [f64; 6]| largest((0..6).map(|i| a[i] - b[i]));
        let differences = [
            (a.x - b.x).length(),
            (a.v - b.v).length(),
            largest((a.affine - b.affine).to_cols_array()),
            six(a.strain, b.strain),
            six(a.stress, b.stress),
            (a.hardening - b.hardening).abs(),
            (a.volume_gain - b.volume_gain).abs(),
        ];
        for (w, d) in worst.iter_mut().zip(differences) {
            *w = larger(*w, d);
        }
    }
    worst
}

/// After some steps: the deviation of the solver from the exact reference, and the effect of rounding.
fn departures<const D: usize, const K: usize>(
    transfer: &str,
    level: Level,
    steps: usize,
    reference_dt: f64,
    period: Option<i64>,
) -> ([f64; 7], [f64; 7]) {
    let kernel = if K == 3 { "quadratic" } else { "cubic" };
    let mut file = scene!("mixture")
        .set("dimensions", D as i64)
        .set("solver.mpm.kernel", kernel)
        .set("solver.mpm.transfer", transfer);
    let mut start = random_particles::<D>(7 + D as u64 * 10 + K as u64, transfer);
    if let Some(cells) = period {
        let length = cells as f64 * H;
        let domain = format!(
            "domain={{ min = [0, -10, -10], max = [{length}, 10, 10], periodic = [\"x\"] }}"
        );
        file = file.with(&[&domain]);
        for p in &mut start {
            p.x.x = as_f32(p.x.x.rem_euclid(length));
        }
    }
    let scene = file.load("mpm").unwrap();
    let mut solver = Stepper::new(&scene, &start, level).unwrap();
    let mut exactly = reference::<D, K>(exact, &scene, &start, period);
    let mut rounded = reference::<D, K>(as_f32, &scene, &start, period);
    for _ in 0..steps {
        solver.step(DT, Vec3::ZERO).unwrap();
        exactly.step(reference_dt);
        rounded.step(reference_dt);
    }
    let mut found = solver.particles().unwrap();
    if let Some(cells) = period {
        // The solver wraps particles into the period; the reference does not.
        let length = cells as f64 * H;
        for (p, other) in found.iter_mut().zip(&exactly.particles) {
            p.x.x += ((other.x.x - p.x.x) / length).round() * length;
        }
    }
    let found = departure(&found, &exactly.particles);
    let stored = departure(&rounded.particles, &exactly.particles);
    // A value is a sum over nodes of sums over particles; the errors of so many roundings add up like a random walk.
    let terms = (per_cell(D) + 1.0) * (K as f64).powi(D as i32);
    (found, stored.map(|s| s * terms.sqrt()))
}

fn compare<const D: usize, const K: usize>(period: Option<i64>) {
    let dt = f64::from(DT);
    for (transfer, level) in [
        ("apic", Level::new()),
        ("apic", Level::baseline()),
        ("flip", Level::new()),
        ("flip", Level::baseline()),
    ] {
        for steps in [1, 20] {
            let (found, allowed) = departures::<D, K>(transfer, level, steps, dt, period);
            for (i, quantity) in QUANTITIES.iter().enumerate() {
                assert!(
                    found[i] <= allowed[i],
                    "{quantity} after {steps} steps, {transfer}, {level:?}: {:e} > {:e}",
                    found[i],
                    allowed[i]
                );
            }
            // Rounding itself is small.
            assert!(allowed[0] < 1e-4 * H && allowed[1] < 1e-5 * H / dt);
            assert!(allowed[3] < 1e-5 && allowed[4] < 1e-5 * YOUNG);
        }
    }
}

#[test]
fn the_solver_follows_the_reference_in_2d_quadratic() {
    compare::<2, 3>(None);
}

#[test]
fn the_solver_follows_the_reference_in_2d_cubic() {
    compare::<2, 4>(None);
}

#[test]
fn the_solver_follows_the_reference_in_3d_quadratic() {
    compare::<3, 3>(None);
}

#[test]
fn the_solver_follows_the_reference_in_3d_cubic() {
    compare::<3, 4>(None);
}

/// A period of three blocks, and the smallest one of a single block.
#[test]
fn the_solver_follows_the_reference_around_a_period() {
    compare::<2, 3>(Some(12));
    compare::<2, 4>(Some(4));
    compare::<3, 3>(Some(4));
}

/// Negative control: a time step longer by a factor of 1 + 1e-4 is detected in every quantity.
#[test]
fn a_reference_with_another_step_deviates() {
    let (found, allowed) =
        departures::<2, 3>("apic", Level::new(), 20, f64::from(DT) * 1.0001, None);
    for (i, quantity) in QUANTITIES.iter().enumerate() {
        assert!(found[i] > allowed[i], "{quantity}: {:e}", found[i]);
    }
}
