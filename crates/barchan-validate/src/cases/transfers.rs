//! A1–A5: kernels and transfers: moments, conservation, dissipation and stability.

use crate::outcome::{Band, Check, Outcome};
use crate::plot::{Axis, Plot, Style};
use crate::reference::mpm::{DenseMpm, Lattice};
use crate::reference::stepper::Stepper;
use crate::reference::{EPS32, Random, exact};
use crate::scene::{SceneFile, scene};
use crate::trial::{Particle, Trial, larger, largest, smaller};
use crate::{Case, Context, ValidateError};
use barchan_scene::Scene;
use barchan_sim::material::wave_speed;
use barchan_sim::math::bspline;
use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd, dispatch, f32x16};
use glam::{DMat3, DVec3, Vec3};
use std::f64::consts::PI;

/// Moments of the kernels.
pub const A1: Case = Case {
    name: "A1",
    title: "Moments of the B-splines",
    solvers: &["mpm"],
    seconds: 1.0,
    run: kernel_moments,
};

/// Momenta through a cycle of transfers.
pub const A2: Case = Case {
    name: "A2",
    title: "A cycle of transfers conserves linear and angular momentum",
    solvers: &["mpm"],
    seconds: 0.1,
    run: momenta,
};

/// Dissipation of transfers.
pub const A3: Case = Case {
    name: "A3",
    title: "Dissipation of each transfer",
    solvers: &["mpm"],
    seconds: 0.1,
    run: dissipation,
};

/// A spinning disk.
pub const A4: Case = Case {
    name: "A4",
    title: "A spinning disk keeps its angular momentum",
    solvers: &["mpm"],
    seconds: 6.0,
    run: spinning_disk,
};

/// Limit of the explicit step.
pub const A5: Case = Case {
    name: "A5",
    title: "Largest stable time step",
    solvers: &["mpm"],
    seconds: 1.0,
    run: stability,
};

/// Keys of a scene.
pub(super) type Keys = &'static [&'static str];
/// Transfers.
pub(super) const APIC: Keys = &["solver.mpm.transfer=apic"];
pub(super) const PIC: Keys = &["solver.mpm.transfer=pic"];
pub(super) const FLIP: Keys = &["solver.mpm.transfer=flip", "solver.mpm.flip=1"];
/// Kernels.
pub(super) const KERNELS: [Keys; 2] = [
    &["solver.mpm.kernel=quadratic"],
    &["solver.mpm.kernel=cubic"],
];

/// Loads a scene whose particles are placed by the case.
pub(super) fn load(file: &SceneFile) -> Result<Scene, ValidateError> {
    file.load("mpm").map_err(|errors| ValidateError::Scene {
        label: "particles placed by the case".into(),
        source: Box::new(errors),
    })
}

// ---- A1 ----

/// Weights of the nodes along an axis, and their slopes.
type Weights<const K: usize> = ([f64; K], [f64; K]);

/// Largest violation of the moments at a point: Σw − 1, Σ w d, Σ∇w, Σ d ∇wᵀ − I, Σ w d dᵀ − D I; in cells.
fn violation<const D: usize, const K: usize>(x: DVec3, weights: &[Weights<K>; 3]) -> f64 {
    let offset = f64::from(bspline::base_offset::<K>());
    let f: [f64; 3] = [0, 1, 2].map(|a| x[a] - (x[a] + offset).floor());
    let (mut sum, mut first, mut gradient) = (-1.0, DVec3::ZERO, DVec3::ZERO);
    let inertia = bspline::inertia::<K>();
    let (mut linear, mut second) = ([[0.0; 3]; 3], [[0.0; 3]; 3]);
    for a in 0..D {
        linear[a][a] = -1.0;
        second[a][a] = -inertia;
    }
    for n in 0..K.pow(D as u32) {
        let k = [n % K, n / K % K, n / (K * K)];
        let factor = |a: usize, b: usize| match (a < D, a == b) {
            (false, _) => 1.0,
            (true, true) => weights[a].1[k[a]],
            (true, false) => weights[a].0[k[a]],
        };
        let product = |b: usize| factor(0, b) * factor(1, b) * factor(2, b);
        let w = product(3);
        sum += w;
        for a in 0..D {
            let d = k[a] as f64 - f[a];
            first[a] += w * d;
            gradient[a] += product(a);
            for b in 0..D {
                linear[a][b] += d * product(b);
                second[a][b] += w * d * (k[b] as f64 - f[b]);
            }
        }
    }
    let tensors = linear.iter().chain(&second).flatten().copied();
    largest(
        tensors
            .chain([sum])
            .chain(first.to_array())
            .chain(gradient.to_array()),
    )
}

fn in_f64<const K: usize>(f: f64) -> Weights<K> {
    bspline::weights::<f64, K>(f)
}

/// The weights of the first of sixteen lanes.
#[inline(always)]
fn first_lane<S: Simd, const K: usize>(simd: S, f: f64) -> Weights<K> {
    let (w, g) = bspline::weights::<_, K>(f32x16::splat(simd, f as f32));
    (w.map(|w| f64::from(w[0])), g.map(|g| f64::from(g[0])))
}

fn in_lanes<const K: usize>(level: Level) -> impl Fn(f64) -> Weights<K> {
    move |f| dispatch!(level, simd => first_lane::<_, K>(simd, f))
}

/// Largest violation at random points of the line, the plane and space.
fn worst_violation<const K: usize>(weights: &dyn Fn(f64) -> Weights<K>) -> f64 {
    let offset = f64::from(bspline::base_offset::<K>());
    let mut random = Random(1);
    let at_random = |_| {
        // Points that f32 holds exactly, so that only the weights differ.
        let x = random.vector(3, 0.0, 4.0).as_vec3().as_dvec3();
        let at = |a: usize| weights(x[a] - (x[a] + offset).floor());
        let weights = [at(0), at(1), at(2)];
        largest([
            violation::<1, K>(x, &weights),
            violation::<2, K>(x, &weights),
            violation::<3, K>(x, &weights),
        ])
    };
    largest((0..10_000).map(at_random))
}

/// Mean excess of the sum of the weights along an axis: the relative gain of momentum in a step.
fn bias<const K: usize>(weights: &dyn Fn(f64) -> Weights<K>) -> f64 {
    let start = -f64::from(bspline::base_offset::<K>());
    let count = 20_000;
    let excess = |i: i32| {
        let f = start + (f64::from(i) + 0.5) / f64::from(count);
        weights(f).0.iter().sum::<f64>() - 1.0
    };
    (0..count).map(excess).sum::<f64>() / f64::from(count)
}

fn kernel_moments(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    let levels = [Level::new(), Level::baseline()];
    let in_f64_worst = largest([worst_violation(&in_f64::<3>), worst_violation(&in_f64::<4>)]);
    let in_f32 = |level| {
        largest([
            worst_violation(&in_lanes::<3>(level)),
            worst_violation(&in_lanes::<4>(level)),
        ])
    };
    let bias_in_f32 =
        |level| largest([bias(&in_lanes::<3>(level)), bias(&in_lanes::<4>(level))]) / EPS32;
    let heavy = |f: f64| {
        let (w, g) = in_f64::<4>(f);
        (w.map(|w| w * 1.001), g)
    };
    let cut = |f: f64| {
        let (w, g) = in_f64::<4>(f);
        (
            w.map(|w| f64::from(f32::from_bits((w as f32).to_bits() - 1))),
            g,
        )
    };
    Ok(Outcome {
        physics: "The weights are a partition of unity, reproduce linear fields and have the inertia tensor that APIC assumes.".into(),
        setup: "10 000 random points in 1D, 2D and 3D, quadratic and cubic splines; in f64, and in f32 as the solver computes them, at \
                the widest SIMD level of the machine and at the portable one."
            .into(),
        reference: "Σw = 1, Σ w d = 0, Σ∇w = 0, Σ d ∇wᵀ = I, Σ w d dᵀ = h²/4 I (quadratic), h²/3 I (cubic). Mean excess of Σw: \
                    a random walk of three roundings over 20 000 points has a mean of 0.01 ε."
            .into(),
        checks: vec![
            Check::new("largest violation in f64", in_f64_worst, "", Band::below(1e-13)),
            Check::new("largest violation in f32", largest(levels.map(in_f32)), "", Band::below(1e-5)),
            Check::control("largest violation of weights that sum to 1.001", worst_violation(&heavy), "", Band::below(1e-4)),
            Check::new("mean excess of Σw in f32", largest(levels.map(bias_in_f32)), "ε", Band::below(0.05)),
            Check::control("mean excess of Σw in f32, weights one ulp too small", bias(&cut).abs() / EPS32, "ε", Band::below(0.05)),
        ],
        ..Outcome::default()
    })
}

// ---- A2 ----

const BOX: f64 = 10.0;
const CELL: f64 = 0.1;

/// 1000 particles of random mass, velocity and affine velocity in a box of 10 cells an axis.
fn random_particles<const D: usize>(affine: bool) -> Vec<Particle> {
    let mut random = Random(2);
    let particle = |id| {
        let x = random.vector(D, 0.0, BOX * CELL);
        let mut p = Particle::at(x, random.within(0.5, 1.5));
        p.id = id;
        p.v = random.vector(D, -1.0, 1.0);
        if affine {
            let mut column = |axis| {
                let c = random.vector(D, -1.0 / CELL, 1.0 / CELL);
                if axis < D { c } else { DVec3::ZERO }
            };
            p.affine = DMat3::from_cols(column(0), column(1), column(2));
        }
        p
    };
    (0..1000).map(particle).collect()
}

fn light(dimensions: usize, transfer: Keys) -> SceneFile {
    scene!("particles")
        .set("dimensions", dimensions as i64)
        .set("materials.solid.density", 1.0)
        .with(transfer)
}

fn empty_grid<const D: usize, const K: usize>(
    transfer: Keys,
    particles: &[Particle],
) -> Result<DenseMpm<D, K>, ValidateError> {
    let deep = i64::from(D == 3);
    let lattice = Lattice {
        h: CELL,
        low: [-4, -4, -4 * deep],
        count: [20, 20, 1 + 19 * deep],
        periodic: [false; 3],
        keep: exact,
    };
    let scene = load(&light(D, transfer))?;
    Ok(DenseMpm::new(lattice, &scene, particles))
}

/// Relative changes of linear and angular momentum in one cycle: particles to grid, then back to the particles.
fn changes<const D: usize, const K: usize>(transfer: Keys) -> Result<[f64; 4], ValidateError> {
    let mut all = empty_grid::<D, K>(transfer, &random_particles::<D>(transfer == APIC))?;
    let (p0, l0) = all.momenta();
    all.particles_to_grid();
    let (p1, l1) = all.grid_momenta();
    all.update_grid(0.1 * CELL);
    all.grid_to_particles(0.1 * CELL);
    let (p2, l2) = all.momenta();
    // Magnitudes of the summands; the sums themselves may be small by chance.
    let (p, l) = (1000.0, 1000.0 * BOX * CELL);
    Ok([
        (p1 - p0).length() / p,
        (l1 - l0).length() / l,
        (p2 - p0).length() / p,
        (l2 - l0).length() / l,
    ])
}

/// Changes of linear and angular momentum in one step of the solver, over the estimate for rounding: each of 1000 particles
/// contributes some ulps of the largest term, as a random walk. Mass, speed, box and C h are about 1.
fn changes_in_solver<const K: usize>(transfer: Keys) -> Result<[f64; 2], ValidateError> {
    let start = random_particles::<3>(transfer == APIC);
    let scene = load(&light(3, transfer).with(KERNELS[K - 3]))?;
    let mut solver = Stepper::new(&scene, &start, Level::new())?;
    let momenta = |particles: &[Particle]| -> Result<(DVec3, DVec3), ValidateError> {
        Ok(empty_grid::<3, K>(transfer, particles)?.momenta())
    };
    let (p0, l0) = momenta(&solver.particles()?)?;
    solver.step((0.1 * CELL) as f32, Vec3::ZERO)?;
    let (p1, l1) = momenta(&solver.particles()?)?;
    let rounding = 10.0 * 1000f64.sqrt() * EPS32;
    Ok([(p1 - p0).length() / rounding, (l1 - l0).length() / rounding])
}

fn momenta(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    let apic = [
        changes::<2, 3>(APIC)?,
        changes::<2, 4>(APIC)?,
        changes::<3, 3>(APIC)?,
        changes::<3, 4>(APIC)?,
    ];
    let pic = [changes::<3, 3>(PIC)?, changes::<3, 4>(PIC)?];
    let flip = [changes::<3, 3>(FLIP)?, changes::<3, 4>(FLIP)?];
    let solver_apic = [changes_in_solver::<3>(APIC)?, changes_in_solver::<4>(APIC)?];
    let solver_pic = [changes_in_solver::<3>(PIC)?, changes_in_solver::<4>(PIC)?];
    let linear = |all: &[[f64; 4]]| largest(all.iter().flat_map(|c| [c[0], c[2]]));
    let exact = Band::below(1e-12);
    let rounding = Band::below(1.0);
    Ok(Outcome {
        physics: "Momentum is transferred to the grid and back. APIC conserves linear and angular momentum; PIC and FLIP only the \
                  linear one."
            .into(),
        setup: "1000 particles of random mass, velocity and C in a box of 10 cells per axis, one cycle, both kernels; the reference \
                implementation in f64 in 2D and 3D, and the solver in 3D."
            .into(),
        reference: "Conservation by APIC [Jiang15]; for the solver in units of 10 √1000 roundings of f32.".into(),
        checks: vec![
            Check::new("change of both momenta, APIC", largest(apic.concat()), "", exact),
            Check::new("change of the linear momentum, PIC", linear(&pic), "", exact),
            Check::new("change of the linear momentum, FLIP", linear(&flip), "", exact),
            Check::control("change of the angular momentum, PIC", smaller(pic[0][3], pic[1][3]), "", Band::below(1e-4)),
            Check::new("change of both momenta in the solver, APIC", largest(solver_apic.concat()), "", rounding),
            Check::new("change of the linear momentum in the solver, PIC", larger(solver_pic[0][0], solver_pic[1][0]), "", rounding),
            Check::control(
                "change of the angular momentum in the solver, PIC",
                smaller(solver_pic[0][1], solver_pic[1][1]),
                "",
                Band::below(1e3),
            ),
        ],
        ..Outcome::default()
    })
}

// ---- A3, A5 ----

/// A periodic row of cells, one wide in y: a 1D problem in 2D.
fn row<const K: usize>(
    h: f64,
    cells: i64,
    per_cell: usize,
    transfer: Keys,
) -> Result<DenseMpm<2, K>, ValidateError> {
    let lattice = Lattice {
        h,
        low: [0; 3],
        count: [cells, 1, 1],
        periodic: [true, true, false],
        keep: exact,
    };
    let spacing = h / per_cell as f64;
    let particles: Vec<Particle> = (0..cells as usize * per_cell)
        .map(|i| {
            let x = DVec3::new((i as f64 + 0.5) * spacing, 0.5 * h, 0.0);
            Particle::at(x, spacing * h)
        })
        .collect();
    let scene = load(&scene!("particles").with(transfer))?;
    Ok(DenseMpm::new(lattice, &scene, &particles))
}

/// Amplitude of sin kx in velocities at given positions.
fn amplitude(values: impl Iterator<Item = (f64, f64)>, k: f64) -> f64 {
    let (mut sum, mut norm) = (0.0, 0.0);
    for (x, v) in values {
        sum += v * (k * x).sin();
        norm += (k * x).sin().powi(2);
    }
    sum / norm
}

/// Factors by which the first and the tenth cycle of transfers scale v = sin kx; the particles stay where they are.
fn factors<const K: usize>(transfer: Keys, wavelength: f64) -> Result<(f64, f64), ValidateError> {
    let mut all = row::<K>(1.0, 32, 32, transfer)?;
    let k = 2.0 * PI / wavelength;
    for p in &mut all.particles {
        p.v.x = (k * p.x.x).sin();
    }
    let of_nodes = |all: &DenseMpm<2, K>| {
        let nodes = all.grid.iter().enumerate();
        amplitude(nodes.map(|(i, n)| (i as f64, n.old.x)), k)
    };
    all.step(0.0);
    let first = amplitude(all.particles.iter().map(|p| (p.x.x, p.v.x)), k);
    for _ in 0..8 {
        all.step(0.0);
    }
    let before = of_nodes(&all);
    all.step(0.0);
    Ok((first, of_nodes(&all) / before))
}

/// The factor of APIC for a wave of the grid, by Fourier: Σ over aliases of ŵ² + ŵ'²/D, where ŵ = sinc(k/2)^n. With
/// infinite inertia D that of PIC.
fn apic_factor(n: i32, inertia: f64, k: f64) -> f64 {
    let alias = |m: i32| {
        let t = 0.5 * (k + 2.0 * PI * f64::from(m));
        let sinc = t.sin() / t;
        let slope = 0.5 * f64::from(n) * sinc.powi(n - 1) * (t.cos() - sinc) / t;
        sinc.powi(2 * n) + slope * slope / inertia
    };
    (-20..=20).map(alias).sum()
}

fn dissipation(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    // λ/h, PIC quadratic, PIC cubic, APIC quadratic, APIC cubic.
    let table = [
        (4.0, [0.5326, 0.4317, 0.9048, 0.8201]),
        (8.0, [0.8564, 0.8133, 0.9918, 0.9840]),
        (16.0, [0.9621, 0.9498, 0.9995, 0.9989]),
    ];
    let names = [
        "PIC, quadratic",
        "PIC, cubic",
        "APIC, quadratic",
        "APIC, cubic",
    ];
    let near = |value: f64| Band::between(value - 1e-3, value + 1e-3);
    let (mut checks, mut off, mut flip) = (vec![], vec![], vec![]);
    for (wavelength, printed) in table {
        let k = 2.0 * PI / wavelength;
        let sinc = (0.5 * k).sin() / (0.5 * k);
        let found = [
            factors::<3>(PIC, wavelength)?.0,
            factors::<4>(PIC, wavelength)?.0,
            factors::<3>(APIC, wavelength)?.1,
            factors::<4>(APIC, wavelength)?.1,
        ];
        let theory = [
            sinc.powi(6),
            sinc.powi(8),
            apic_factor(3, 0.25, k),
            apic_factor(4, 1.0 / 3.0, k),
        ];
        for i in 0..4 {
            let what = format!("factor of a cycle, {}, λ = {wavelength} h", names[i]);
            checks.push(Check::new(what, found[i], "", near(printed[i])));
            off.push(found[i] - theory[i]);
        }
        flip.push(factors::<3>(FLIP, wavelength)?.0 - 1.0);
        flip.push(factors::<4>(FLIP, wavelength)?.0 - 1.0);
        if wavelength == 4.0 {
            let what = "factor of a cycle, PIC, quadratic, λ = 4 h, against the cubic kernel";
            checks.push(Check::control(what, found[0], "", near(printed[1])));
        }
    }
    let analysis = Band::below(1e-3);
    checks.push(Check::new(
        "largest difference from the analysis",
        largest(off),
        "",
        analysis,
    ));
    checks.push(Check::new(
        "change by a cycle, FLIP",
        largest(flip),
        "",
        Band::below(1e-12),
    ));
    Ok(Outcome {
        physics: "Every cycle of transfers smooths velocities: PIC most, APIC little, FLIP not at all.".into(),
        setup: "Periodic row of 32 cells with 32 particles each, v = sin kx, no forces; reference implementation in f64. First cycle \
                (PIC, FLIP), tenth cycle (APIC)."
            .into(),
        reference: "[sin(kh/2)/(kh/2)]^2n for PIC; Fourier analysis for APIC.".into(),
        checks,
        ..Outcome::default()
    })
}

/// Growth of the strain of a bar from a small random jitter of its particles, at Δt c/h = `courant`.
fn growth<const K: usize>(transfer: Keys, courant: f64) -> Result<f64, ValidateError> {
    let h = 0.05;
    let mut bar = row::<K>(h, 20, 8, transfer)?;
    let c = wave_speed(3.537e5, 0.3, 2200.0);
    let dt = courant * h / c;
    let mut random = Random(5);
    for p in &mut bar.particles {
        p.v.x = random.within(-1e-9, 1e-9) * c;
    }
    let strain = |bar: &DenseMpm<2, K>| {
        let squares = bar.particles.iter().map(|p| p.strain[0].powi(2));
        squares.sum::<f64>().sqrt()
    };
    bar.step(dt);
    let before = strain(&bar);
    for _ in 0..200 {
        bar.step(dt);
        if strain(&bar) > 1e4 * before {
            break;
        }
    }
    Ok(strain(&bar) / before)
}

/// Growth in 200 steps beyond which a step counts as unstable.
const INSTABILITY_GROWTH: f64 = 100.0;

/// The largest stable Δt c/h, by bisection.
fn limit<const K: usize>(transfer: Keys) -> Result<f64, ValidateError> {
    let (mut stable, mut unstable) = (0.5, 3.0);
    for _ in 0..9 {
        let middle = 0.5 * (stable + unstable);
        if growth::<K>(transfer, middle)? > INSTABILITY_GROWTH {
            unstable = middle;
        } else {
            stable = middle;
        }
    }
    Ok(0.5 * (stable + unstable))
}

/// Stiffness of a wave of the grid in units of (c/h)² with lumped mass: Σ over aliases of (k ŵ)².
fn stiffness(n: i32, k: f64) -> f64 {
    let alias = |m: i32| {
        let k = k + 2.0 * PI * f64::from(m);
        let t = 0.5 * k;
        (k * (t.sin() / t).powi(n)).powi(2)
    };
    (-20..=20).map(alias).sum()
}

/// The smallest Δt c/h at which one of the waves of a bar begins to grow, given the limit of (Δt ω)² for a wave.
fn theory(n: i32, cells: i32, limit: impl Fn(f64) -> f64) -> f64 {
    let courant = |i: i32| {
        let k = 2.0 * PI * f64::from(i) / f64::from(cells);
        (limit(k) / stiffness(n, k)).sqrt()
    };
    (1..=cells / 2).map(courant).fold(f64::INFINITY, f64::min)
}

fn stability(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    let pic = |n: i32, k: f64| apic_factor(n, f64::INFINITY, k);
    let damped = |n: i32, inertia: f64| theory(n, 20, |k| 2.0 + 2.0 * apic_factor(n, inertia, k));
    let flip = |n: i32| theory(n, 20, |k| 4.0 / (2.0 - pic(n, k)));
    let apic = [limit::<3>(APIC)?, limit::<4>(APIC)?];
    let stable = Band::below(INSTABILITY_GROWTH);
    let mut checks = vec![];
    for (n, kernel, printed) in [(3, "quadratic", 1.633), (4, "cubic", 1.925)] {
        let grows = |courant| match n {
            3 => growth::<3>(APIC, courant),
            _ => growth::<4>(APIC, courant),
        };
        let undamped = theory(n, 600, |_| 4.0);
        let same = Band::between(printed - 1e-3, printed + 1e-3);
        let found = apic[n as usize - 3];
        let tenth = Band::around(printed, 0.1);
        checks.extend([
            Check::new(
                format!("analysis without damping, {kernel}"),
                undamped,
                "",
                same,
            ),
            Check::new(format!("limit of Δt c/h, APIC, {kernel}"), found, "", tenth),
            Check::new(
                format!("growth of the strain at 0.85 of the limit, {kernel}"),
                grows(0.85 * printed)?,
                "",
                stable,
            ),
            Check::control(
                format!("growth of the strain at 1.15 of the limit, {kernel}"),
                grows(1.15 * printed)?,
                "",
                stable,
            ),
        ]);
    }
    for (what, found, expected) in [
        ("APIC, quadratic", apic[0], damped(3, 0.25)),
        ("APIC, cubic", apic[1], damped(4, 1.0 / 3.0)),
        ("PIC, quadratic", limit::<3>(PIC)?, damped(3, f64::INFINITY)),
        ("PIC, cubic", limit::<4>(PIC)?, damped(4, f64::INFINITY)),
        ("FLIP, quadratic", limit::<3>(FLIP)?, flip(3)),
        ("FLIP, cubic", limit::<4>(FLIP)?, flip(4)),
    ] {
        let what = format!("limit of Δt c/h over that of the analysis, {what}");
        checks.push(Check::new(
            what,
            found / expected,
            "",
            Band::around(1.0, 0.02),
        ));
    }
    Ok(Outcome {
        physics: "The explicit step must resolve the fastest elastic wave that the grid carries.".into(),
        setup: "Periodic bar of 20 cells with 8 particles each, random jitter, 200 steps; reference implementation in f64. Unstable: \
                the strain grows a hundredfold."
            .into(),
        reference: "(Δt ω)² = 4 with lumped mass, if the grid keeps its velocity. A transfer that damps a wave by a < 1 per step lowers \
                    it to 2 (1 + a); FLIP, whose velocity change is filtered by PIC's factor T, to 4/(2 − T)."
            .into(),
        checks,
        ..Outcome::default()
    })
}

// ---- A4 ----

const DISC_CELL: f64 = 0.02;
/// Frames in a revolution.
const TURN: u32 = 10;

/// Angular momentum of a disk over ten revolutions.
struct SpinResult {
    /// Revolutions and L/L₀.
    path: Vec<[f64; 2]>,
    /// Noise of the particles' velocities [m/s] at the start, after one revolution and after ten.
    noise: [f64; 3],
    /// L/L₀ of the reference implementation after one revolution.
    reference: f64,
}

impl SpinResult {
    fn end(&self) -> f64 {
        self.path[self.path.len() - 1][1]
    }
}

fn spun(context: &Context<'_>, label: &str, transfer: Keys) -> Result<SpinResult, ValidateError> {
    let mut trial = Trial::start(context, label, 10 * TURN, scene!("disk").with(transfer))?;
    let lattice = Lattice {
        h: DISC_CELL,
        low: [-30, -30, 0],
        count: [60, 60, 1],
        periodic: [false; 3],
        keep: exact,
    };
    let start = trial.particles()?;
    let mut reference = DenseMpm::<2, 3>::new(lattice, trial.scene(), &start);
    let spin = |all: &DenseMpm<2, 3>| all.momenta().1.z;
    let mut now = reference.clone();
    let start = spin(&now);
    let (mut path, mut noise) = (vec![[0.0, 1.0]], [now.velocity_noise(), 0.0, 0.0]);
    for frame in 1..=10 * TURN {
        trial.advance(1)?;
        now.particles = trial.particles()?;
        path.push([f64::from(frame) / f64::from(TURN), spin(&now) / start]);
        if frame == TURN {
            noise[1] = now.velocity_noise();
            let steps = trial.simulation.counters().substeps;
            let dt = trial.simulation.time() / steps as f64;
            (0..steps).for_each(|_| reference.step(dt));
        }
    }
    noise[2] = now.velocity_noise();
    Ok(SpinResult {
        path,
        noise,
        reference: spin(&reference) / start,
    })
}

fn spinning_disk(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let apic = spun(context, "APIC", APIC)?;
    let flip = spun(context, "FLIP", FLIP)?;
    let pic = spun(context, "PIC", PIC)?;
    let kept = Band::between(0.999, 1.001);
    let [quiet, noisy, still_noisy] = flip.noise;
    let one_turn = flip.path[TURN as usize][1] - flip.reference;
    let same = Band::between(-1e-4, 1e-4);
    let noise = Band::above(2.0);
    Ok(Outcome {
        physics: "A free spinning disk keeps its angular momentum. Transfers between particles and grid dissipate it unless they carry \
                  the local rotation: APIC does, FLIP nearly, PIC does not."
            .into(),
        setup: "2D elastic disk, radius 10 cells, 10 rad/s, ten revolutions, E = 0.1 MPa; Δt c/h = 0.5. Noise: difference between the \
                velocities of the particles and that of the grid."
            .into(),
        reference: "Conservation of angular momentum by APIC [Jiang15]. FLIP moves particles with the smoothed velocity of the grid, \
                    not with their own, which costs nearly 1 % per revolution at any step, in the reference implementation as well."
            .into(),
        plots: vec![
            Plot::new(
                "Angular momentum",
                Axis::new("revolutions"),
                Axis::new("L/L₀").from_to(0.0, 1.1),
            )
            .with(Style::Reference, "conserved", &[[0.0, 1.0], [10.0, 1.0]])
            .with(Style::Curve, "APIC", &apic.path)
            .with(Style::Curve, "FLIP", &flip.path)
            .with(Style::ControlCurve, "control: PIC", &pic.path),
        ],
        checks: vec![
            Check::new("L/L₀ after ten revolutions, APIC", apic.end(), "", kept),
            Check::control("L/L₀ after ten revolutions, PIC", pic.end(), "", kept),
            Check::new("fraction of L that PIC retains after ten revolutions", pic.end(), "", Band::below(0.2)),
            Check::new("L/L₀ after ten revolutions, FLIP", flip.end(), "", Band::between(0.9, 1.001)),
            Check::new("L/L₀ after one revolution less that of the reference implementation, FLIP", one_turn, "", same),
            Check::new("noise after one revolution over the initial noise, FLIP", noisy / quiet, "", noise),
            Check::new("noise after ten revolutions over the initial noise, FLIP", still_noisy / quiet, "", noise),
            Check::new("noise after one revolution over that of APIC, FLIP", noisy / apic.noise[1], "", Band::above(10.0)),
            Check::control("noise after one revolution over the initial noise, PIC", pic.noise[1] / pic.noise[0], "", noise),
        ],
        notes: vec![],
    })
}
