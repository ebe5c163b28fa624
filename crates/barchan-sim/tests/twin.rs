//! The SIMD solver against its plain twin in f64: random particles of sand and elastic solids in one grid.
//!
//! How far f32 may lead astray is measured, not guessed: a second twin keeps weights, nodes and particles in f32 but
//! computes in f64. The solver also rounds between, in sums of up to 4³ nodes and some dozens of particles a node.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use barchan_scene::{
    Bounds, ConeMatch, Dimensions, ElasticLaw, ElasticModel, Friction, Kernel, Law, Material,
    SandLaw, Transfer,
};
use barchan_sim::math::{Level, Sym3};
use common::real::{Real, material, scene, spec, stuff};
use common::twin::{Lattice, Particle, Stuff, Twin};
use common::{DENSITY, POISSON, Random, YOUNG, as_f32, exact};
use glam::{DMat3, Vec3};

const H: f64 = 0.03;
/// A third of what elastic waves allow [s].
const DT: f32 = 6e-4;

const APIC: Transfer = Transfer::Apic;
const FLIP: Transfer = Transfer::FlipPic { flip: 0.95 };

fn materials() -> Vec<Material> {
    let sand = SandLaw {
        young: YOUNG,
        poisson: POISSON,
        friction: Friction::Hardening {
            h0: 35.0,
            h1: 9.0,
            h2: 0.2,
            h3: 10.0,
        },
        cohesion: 0.0,
        cone: ConeMatch::PlaneStrain,
        volume_correction: true,
    };
    let elastic = |model| ElasticLaw {
        young: YOUNG,
        poisson: 0.4,
        model,
    };
    vec![
        material(DENSITY, Law::Sand(sand)),
        material(
            1.5 * DENSITY,
            Law::Elastic(elastic(ElasticModel::NeoHookean)),
        ),
        material(
            2.0 * DENSITY,
            Law::Elastic(elastic(ElasticModel::FixedCorotated)),
        ),
    ]
}

/// Particles in a cell.
fn per_cell(dimensions: usize) -> f64 {
    if dimensions == 2 { 6.0 } else { 4.0 }
}

/// Particles in a box across the origin, strained, drifting by a fifth of a cell a step and jittering by a fiftieth.
fn random_particles<const D: usize>(seed: u64, transfer: Transfer) -> Vec<Particle> {
    let mut random = Random(seed);
    let cell_per_step = H / f64::from(DT);
    let side = if D == 2 { 11.4 } else { 7.4 };
    let per_cell = per_cell(D);
    let count = (per_cell * f64::powi(side, D as i32)) as usize;
    let mut drift = cell_per_step * glam::DVec3::new(0.17, -0.23, 0.19);
    drift.z *= (D - 2) as f64;
    let jitter = 0.02 * cell_per_step;
    (0..count)
        .map(|i| {
            let x = random.vector(D, -0.5 * side * H, 0.5 * side * H);
            let mut p = Particle::at(x, as_f32(H.powi(D as i32) / per_cell));
            p.v = drift + random.vector(D, -jitter, jitter);
            if transfer == APIC {
                let mut column = |axis| {
                    let c = random.vector(D, -jitter / H, jitter / H);
                    if axis < D { c } else { glam::DVec3::ZERO }
                };
                p.c = DMat3::from_cols(column(0), column(1), column(2));
            }
            let planar = [true, true, D == 3, D == 3, D == 3, true];
            let e = planar.map(|used| {
                if used {
                    random.within(-0.01, 0.01)
                } else {
                    0.0
                }
            });
            p.strain = Sym3::from_array(e);
            p.stress = Sym3::from_array(e.map(|e| e * YOUNG));
            p.material = i % 3;
            if p.material == 0 {
                p.hardening = random.within(0.0, 1.0);
                p.volume_gain = random.within(0.0, 0.005);
            }
            p
        })
        .map(in_f32)
        .collect()
}

/// What the solver can hold.
fn in_f32(p: Particle) -> Particle {
    let symmetric = |s: Sym3<f64>| Sym3::from_array(s.to_array().map(as_f32));
    Particle {
        x: p.x.as_vec3().as_dvec3(),
        v: p.v.as_vec3().as_dvec3(),
        c: DMat3::from_cols_array(&p.c.to_cols_array().map(as_f32)),
        strain: symmetric(p.strain),
        stress: symmetric(p.stress),
        hardening: as_f32(p.hardening),
        volume_gain: as_f32(p.volume_gain),
        ..p
    }
}

fn twin<const D: usize, const K: usize>(
    keep: fn(f64) -> f64,
    transfer: Transfer,
    particles: &[Particle],
    period: Option<i64>,
) -> Twin<D, K> {
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
    let stuff: Vec<Stuff> = materials()
        .iter()
        .map(|m| stuff(m, dimensions(D)))
        .collect();
    let mut twin = Twin::new(lattice, transfer, stuff);
    twin.particles = particles.to_vec();
    twin
}

fn dimensions(d: usize) -> Dimensions {
    if d == 2 {
        Dimensions::Two
    } else {
        Dimensions::Three
    }
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
        let six =
            |a: [f64; 6], b: [f64; 6]| (0..6).map(|i| (a[i] - b[i]).abs()).fold(0.0, f64::max);
        let differences = [
            (a.x - b.x).length(),
            (a.v - b.v).length(),
            (a.c - b.c)
                .to_cols_array()
                .iter()
                .fold(0.0, |m, x| m.max(x.abs())),
            six(a.strain.to_array(), b.strain.to_array()),
            six(a.stress.to_array(), b.stress.to_array()),
            (a.hardening - b.hardening).abs(),
            (a.volume_gain - b.volume_gain).abs(),
        ];
        for (w, d) in worst.iter_mut().zip(differences) {
            *w = w.max(d);
        }
    }
    worst
}

/// The solver and both twins after some steps: its departure from the exact one, and what rounding explains.
fn departures<const D: usize, const K: usize>(
    transfer: Transfer,
    baseline: bool,
    steps: usize,
    twin_dt: f64,
    period: Option<i64>,
) -> ([f64; 7], [f64; 7]) {
    let kernel = if K == 3 {
        Kernel::Quadratic
    } else {
        Kernel::Cubic
    };
    let mut scene = scene(dimensions(D), spec(H, kernel, transfer), materials());
    let mut start = random_particles::<D>(7 + D as u64 * 10 + K as u64, transfer);
    if let Some(cells) = period {
        let length = cells as f64 * H;
        scene.domain = Some(Bounds {
            min: Vec3::new(0.0, -10.0, -10.0),
            max: Vec3::new(length as f32, 10.0, 10.0),
        });
        scene.periodic = [true, false, false];
        for p in &mut start {
            p.x.x = as_f32(p.x.x.rem_euclid(length));
        }
    }
    let level = match baseline {
        true => Level::baseline(),
        false => Level::new(),
    };
    let mut real = Real::on(&scene, &start, level);
    let mut reference = twin::<D, K>(exact, transfer, &start, period);
    let mut rounded = twin::<D, K>(as_f32, transfer, &start, period);
    for _ in 0..steps {
        real.step(DT, Vec3::ZERO);
        reference.step(twin_dt);
        rounded.step(twin_dt);
    }
    let mut found = real.particles();
    if let Some(cells) = period {
        // The solver brings a particle back into the period; the twin lets it go on.
        let length = cells as f64 * H;
        for (p, twin) in found.iter_mut().zip(&reference.particles) {
            p.x.x += ((twin.x.x - p.x.x) / length).round() * length;
        }
    }
    let found = departure(&found, &reference.particles);
    let stored = departure(&rounded.particles, &reference.particles);
    // A value is a sum over nodes of sums over particles; the errors of so many roundings add up like a random walk.
    let terms = (per_cell(D) + 1.0) * (K as f64).powi(D as i32);
    (found, stored.map(|s| s * terms.sqrt()))
}

fn compare<const D: usize, const K: usize>(period: Option<i64>) {
    let dt = f64::from(DT);
    for (transfer, baseline) in [(APIC, false), (APIC, true), (FLIP, false), (FLIP, true)] {
        for steps in [1, 20] {
            let (found, allowed) = departures::<D, K>(transfer, baseline, steps, dt, period);
            for (i, quantity) in QUANTITIES.iter().enumerate() {
                assert!(
                    found[i] <= allowed[i],
                    "{quantity} after {steps} steps, {transfer:?}, baseline {baseline}: {:e} > {:e}",
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
fn the_solver_follows_its_twin_in_2d_quadratic() {
    compare::<2, 3>(None);
}

#[test]
fn the_solver_follows_its_twin_in_2d_cubic() {
    compare::<2, 4>(None);
}

#[test]
fn the_solver_follows_its_twin_in_3d_quadratic() {
    compare::<3, 3>(None);
}

#[test]
fn the_solver_follows_its_twin_in_3d_cubic() {
    compare::<3, 4>(None);
}

/// Three blocks and, as the tightest ring, a single one.
#[test]
fn the_solver_follows_its_twin_around_a_period() {
    compare::<2, 3>(Some(12));
    compare::<2, 4>(Some(4));
    compare::<3, 3>(Some(4));
}

/// Negative control: a step that is longer by 1e-4 shows in every quantity.
#[test]
fn a_twin_with_another_step_departs() {
    let (found, allowed) = departures::<2, 3>(APIC, false, 20, f64::from(DT) * 1.0001, None);
    for (i, quantity) in QUANTITIES.iter().enumerate() {
        assert!(found[i] > allowed[i], "{quantity}: {:e}", found[i]);
    }
}
