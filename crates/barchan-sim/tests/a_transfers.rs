//! Kernels and transfers: moments, conservation, dissipation and stability, catalog cases A1–A5.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use barchan_scene::{
    Dimensions, ElasticLaw, ElasticModel, Fill, Geometry, Kernel, Law, Sampling, Transfer,
};
use barchan_sim::material::wave_speed;
use barchan_sim::math::bspline;
use barchan_sim::sampling::{Spacing, sample_fill};
use barchan_sim::solver::Solver;
use common::real::{Real, material, scene, spec, stuff};
use common::twin::{Lattice, Particle, Twin};
use common::{DENSITY, EPS32, POISSON, Random, YOUNG, exact};
use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd, dispatch, f32x16};
use glam::{DMat3, DVec3, Vec3};
use std::f64::consts::PI;

const APIC: Transfer = Transfer::Apic;
const PIC: Transfer = Transfer::FlipPic { flip: 0.0 };
const FLIP: Transfer = Transfer::FlipPic { flip: 1.0 };

fn elastic(young: f64, poisson: f64, model: ElasticModel) -> Law {
    Law::Elastic(ElasticLaw {
        young,
        poisson,
        model,
    })
}

// ---- A1 ----

/// Largest violation of the moments at a point: Σw − 1, Σ w d, Σ∇w, Σ d ∇wᵀ − I, Σ w d dᵀ − D I; in cells.
fn moments<const D: usize, const K: usize>(x: DVec3, weights: &[([f64; K], [f64; K]); 3]) -> f64 {
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
    let all = linear.iter().chain(&second).flatten().copied();
    all.chain([sum])
        .chain(first.to_array())
        .chain(gradient.to_array())
        .fold(0.0, |m, v| m.max(v.abs()))
}

fn in_f64<const K: usize>(f: f64) -> ([f64; K], [f64; K]) {
    bspline::weights::<f64, K>(f)
}

/// The weights of the first of sixteen lanes.
#[inline(always)]
fn in_lanes<S: Simd, const K: usize>(simd: S, f: f64) -> ([f64; K], [f64; K]) {
    let (w, g) = bspline::weights::<_, K>(f32x16::splat(simd, f as f32));
    (w.map(|w| f64::from(w[0])), g.map(|g| f64::from(g[0])))
}

fn a1<const D: usize, const K: usize>(weights: &dyn Fn(f64) -> ([f64; K], [f64; K])) -> f64 {
    let mut random = Random(D as u64);
    let offset = f64::from(bspline::base_offset::<K>());
    (0..10_000)
        .map(|_| {
            // Points that f32 holds exactly, so that only the weights differ.
            let x = random.vector(3, 0.0, 4.0).as_vec3().as_dvec3();
            let at = |a: usize| weights(x[a] - (x[a] + offset).floor());
            moments::<D, K>(x, &[at(0), at(1), at(2)])
        })
        .fold(0.0, f64::max)
}

#[test]
fn a1_moments_of_the_kernels() {
    let quadratic = in_f64::<3>;
    let cubic = in_f64::<4>;
    for worst in [
        a1::<1, 3>(&quadratic),
        a1::<2, 3>(&quadratic),
        a1::<3, 3>(&quadratic),
        a1::<1, 4>(&cubic),
        a1::<2, 4>(&cubic),
        a1::<3, 4>(&cubic),
    ] {
        assert!(worst < 1e-13, "f64: {worst:e}");
    }
    for level in [Level::new(), Level::baseline()] {
        let quadratic = |f: f64| dispatch!(level, simd => in_lanes::<_, 3>(simd, f));
        let cubic = |f: f64| dispatch!(level, simd => in_lanes::<_, 4>(simd, f));
        for worst in [
            a1::<1, 3>(&quadratic),
            a1::<2, 3>(&quadratic),
            a1::<3, 3>(&quadratic),
            a1::<1, 4>(&cubic),
            a1::<2, 4>(&cubic),
            a1::<3, 4>(&cubic),
        ] {
            assert!(worst < 1e-5, "lanes: {worst:e}");
        }
    }
    // Negative control: weights that sum to 1.001.
    let wrong = |f: f64| {
        let (w, g) = in_f64::<4>(f);
        (w.map(|w| w * 1.001), g)
    };
    assert!(a1::<2, 4>(&wrong) > 1e-4);
}

/// What a sum of weights lacks or exceeds goes into the momentum every step: the mean error must be far below one ulp.
#[test]
fn a1_weights_in_lanes_have_no_bias() {
    fn bias<const K: usize>(level: Level) -> f64 {
        let start = -f64::from(bspline::base_offset::<K>());
        let count = 20_000;
        let excess = |i: i32| {
            let f = start + (f64::from(i) + 0.5) / f64::from(count);
            let (w, _) = dispatch!(level, simd => in_lanes::<_, K>(simd, f));
            w.iter().sum::<f64>() - 1.0
        };
        (0..count).map(excess).sum::<f64>() / f64::from(count)
    }
    for level in [Level::new(), Level::baseline()] {
        // A random walk of 3 roundings over 20 000 points has a mean of about 1e-2 eps.
        assert!(
            bias::<3>(level).abs() < 0.05 * EPS32,
            "{:e}",
            bias::<3>(level)
        );
        assert!(
            bias::<4>(level).abs() < 0.05 * EPS32,
            "{:e}",
            bias::<4>(level)
        );
    }
}

// ---- A2 ----

/// 1000 particles of random mass, velocity and C in a box of 10 cells an axis.
fn random_particles<const D: usize>(h: f64, transfer: Transfer) -> Vec<Particle> {
    let mut random = Random(2);
    (0..1000)
        .map(|_| {
            let mut p = Particle::at(random.vector(D, 0.0, 10.0 * h), random.within(0.5, 1.5));
            p.v = random.vector(D, -1.0, 1.0);
            if transfer == APIC {
                let mut column = |axis| {
                    let c = random.vector(D, -1.0 / h, 1.0 / h);
                    if axis < D { c } else { DVec3::ZERO }
                };
                p.c = DMat3::from_cols(column(0), column(1), column(2));
            }
            p
        })
        .collect()
}

fn transfer_twin<const D: usize, const K: usize>(h: f64, transfer: Transfer) -> Twin<D, K> {
    let deep = i64::from(D == 3);
    let lattice = Lattice {
        h,
        low: [-4, -4, -4 * deep],
        count: [20, 20, 1 + 19 * deep],
        periodic: [false; 3],
        keep: exact,
    };
    let dimensions = if D == 2 {
        Dimensions::Two
    } else {
        Dimensions::Three
    };
    let law = elastic(1.0, 0.3, ElasticModel::NeoHookean);
    let mut twin = Twin::new(
        lattice,
        transfer,
        vec![stuff(&material(1.0, law), dimensions)],
    );
    twin.particles = random_particles::<D>(h, transfer);
    twin
}

/// Relative changes of linear and angular momentum in one cycle: particles to grid, grid to particles.
fn a2<const D: usize, const K: usize>(transfer: Transfer) -> [f64; 4] {
    let h = 0.1;
    let mut twin = transfer_twin::<D, K>(h, transfer);
    let (p0, l0) = twin.momenta();
    twin.particles_to_grid();
    let (p1, l1) = twin.grid_momenta();
    twin.update_grid(0.1 * h);
    twin.grid_to_particles(0.1 * h);
    let (p2, l2) = twin.momenta();
    // Sizes of what is summed; the sums themselves may be small by chance.
    let (p, l) = (1000.0, 1000.0 * 10.0 * h);
    [
        (p1 - p0).length() / p,
        (l1 - l0).length() / l,
        (p2 - p0).length() / p,
        (l2 - l0).length() / l,
    ]
}

#[test]
fn a2_momenta_through_a_cycle_of_transfers() {
    for change in [
        a2::<2, 3>(APIC),
        a2::<2, 4>(APIC),
        a2::<3, 3>(APIC),
        a2::<3, 4>(APIC),
    ] {
        assert!(change.iter().all(|c| *c < 1e-12), "APIC {change:?}");
    }
    for change in [a2::<3, 3>(PIC), a2::<3, 4>(PIC)] {
        assert!(change[0] < 1e-12 && change[2] < 1e-12, "PIC {change:?}");
        // Negative control: PIC loses angular momentum on the way back.
        assert!(change[3] > 1e-4, "PIC {change:?}");
    }
    for change in [a2::<3, 3>(FLIP), a2::<3, 4>(FLIP)] {
        assert!(change[0] < 1e-12 && change[2] < 1e-12, "FLIP {change:?}");
    }
}

/// The same with the solver: each of 1000 particles adds rounding of some ulps of the largest term, as a random walk.
#[test]
fn a2_momenta_in_the_solver() {
    let h = 0.1;
    for kernel in [Kernel::Quadratic, Kernel::Cubic] {
        for (transfer, keeps_rotation) in [(APIC, true), (PIC, false)] {
            let law = elastic(1.0, 0.3, ElasticModel::NeoHookean);
            let scene = scene(
                Dimensions::Three,
                spec(h, kernel, transfer),
                vec![material(1.0, law)],
            );
            let mut real = Real::new(&scene, &random_particles::<3>(h, transfer));
            let inertia = match kernel {
                Kernel::Quadratic => bspline::inertia::<3>(),
                Kernel::Cubic => bspline::inertia::<4>(),
            };
            let momenta = |particles: &[Particle]| {
                let mut sums = (DVec3::ZERO, DVec3::ZERO);
                for p in particles {
                    let spin = inertia * h * h * common::twin::axial(p.c);
                    sums.0 += p.volume * p.v;
                    sums.1 += p.volume * (p.x.cross(p.v) + spin);
                }
                sums
            };
            let (p0, l0) = momenta(&real.particles());
            real.step((0.1 * h) as f32, Vec3::ZERO);
            let (p1, l1) = momenta(&real.particles());
            // 1000 particles of mass 1 and speed 1 in a box of 1 m; C h is 1 m/s too.
            let tolerance = 10.0 * 1000f64.sqrt() * EPS32;
            assert!((p1 - p0).length() < tolerance, "{:e}", (p1 - p0).length());
            let lost = (l1 - l0).length();
            assert_eq!(lost < tolerance, keeps_rotation, "{transfer:?} {lost:e}");
            assert!(keeps_rotation || lost > 1e3 * tolerance, "{lost:e}");
        }
    }
}

// ---- A3 ----

/// A periodic row of nodes, one cell wide in y: a 1D problem in 2D.
fn row<const K: usize>(
    h: f64,
    cells: i64,
    per_cell: usize,
    transfer: Transfer,
    law: Law,
) -> Twin<2, K> {
    let lattice = Lattice {
        h,
        low: [0; 3],
        count: [cells, 1, 1],
        periodic: [true, true, false],
        keep: exact,
    };
    let stuff = stuff(&material(DENSITY, law), Dimensions::Two);
    let mut twin = Twin::new(lattice, transfer, vec![stuff]);
    let spacing = h / per_cell as f64;
    twin.particles = (0..cells as usize * per_cell)
        .map(|i| {
            let x = DVec3::new((i as f64 + 0.5) * spacing, 0.5 * h, 0.0);
            Particle::at(x, spacing * h)
        })
        .collect();
    twin
}

/// Amplitude of sin kx in a field of values at places.
fn amplitude(values: impl Iterator<Item = (f64, f64)>, k: f64) -> f64 {
    let (mut sum, mut norm) = (0.0, 0.0);
    for (x, v) in values {
        sum += v * (k * x).sin();
        norm += (k * x).sin().powi(2);
    }
    sum / norm
}

/// Factors by which the first and the tenth cycle of transfers scale v = sin kx; the particles stay where they are.
fn factors<const K: usize>(transfer: Transfer, wavelength: f64) -> (f64, f64) {
    let law = elastic(1.0, 0.3, ElasticModel::NeoHookean);
    let mut twin = row::<K>(1.0, 32, 32, transfer, law);
    let k = 2.0 * PI / wavelength;
    for p in &mut twin.particles {
        p.v.x = (k * p.x.x).sin();
    }
    let of_particles = |t: &Twin<2, K>| amplitude(t.particles.iter().map(|p| (p.x.x, p.v.x)), k);
    let of_nodes = |t: &Twin<2, K>| {
        let nodes = t.grid.iter().enumerate();
        amplitude(nodes.map(|(i, n)| (i as f64, n.old.x)), k)
    };
    twin.step(0.0);
    let first = of_particles(&twin);
    for _ in 0..8 {
        twin.step(0.0);
    }
    let before = of_nodes(&twin);
    twin.step(0.0);
    (first, of_nodes(&twin) / before)
}

/// The factor of APIC for a wave of the grid, by Fourier: Σ over aliases of ŵ² + ŵ'²/D, where ŵ = sinc(k/2)^n.
fn apic_factor(n: i32, inertia: f64, k: f64) -> f64 {
    let alias = |m: i32| {
        let t = 0.5 * (k + 2.0 * PI * f64::from(m));
        let sinc = t.sin() / t;
        let slope = 0.5 * f64::from(n) * sinc.powi(n - 1) * (t.cos() - sinc) / t;
        sinc.powi(2 * n) + slope * slope / inertia
    };
    (-20..=20).map(alias).sum()
}

#[test]
fn a3_dissipation_of_each_transfer() {
    // λ/h, PIC quadratic, PIC cubic, APIC quadratic, APIC cubic.
    let table = [
        (4.0, 0.5326, 0.4317, 0.9048, 0.8201),
        (8.0, 0.8564, 0.8133, 0.9918, 0.9840),
        (16.0, 0.9621, 0.9498, 0.9995, 0.9989),
    ];
    for (wavelength, pic3, pic4, apic3, apic4) in table {
        let k = 2.0 * PI / wavelength;
        let sinc = (0.5 * k).sin() / (0.5 * k);
        for (found, formula, printed) in [
            (factors::<3>(PIC, wavelength).0, sinc.powi(6), pic3),
            (factors::<4>(PIC, wavelength).0, sinc.powi(8), pic4),
            (
                factors::<3>(APIC, wavelength).1,
                apic_factor(3, 0.25, k),
                apic3,
            ),
            (
                factors::<4>(APIC, wavelength).1,
                apic_factor(4, 1.0 / 3.0, k),
                apic4,
            ),
        ] {
            assert!(
                (found - printed).abs() < 1e-3,
                "λ = {wavelength} h: {found} not {printed}"
            );
            assert!(
                (found - formula).abs() < 1e-3,
                "λ = {wavelength} h: {found} not {formula}"
            );
        }
        for (first, _) in [
            factors::<3>(FLIP, wavelength),
            factors::<4>(FLIP, wavelength),
        ] {
            assert!((first - 1.0).abs() < 1e-12, "FLIP {first}");
        }
    }
}

// ---- A4 ----

/// Turns of the disc [rad/s].
const SPIN: f64 = 10.0;

/// An elastic disc of radius 10 h that spins, in the solver and in its twin.
struct Disc {
    real: Real,
    twin: Twin<2, 3>,
    /// Angular momentum at the start [kg m²/s].
    start: f64,
}

impl Disc {
    fn new(transfer: Transfer) -> Self {
        let h = 0.02;
        let solid = material(1000.0, elastic(1e5, 0.3, ElasticModel::FixedCorotated));
        let settings = spec(h, Kernel::Quadratic, transfer);
        let scene = scene(Dimensions::Two, settings, vec![solid.clone()]);
        let fill = Fill {
            name: "disc".into(),
            shape: Geometry::sphere(Vec3::ZERO, (10.0 * h) as f32),
            material: 0,
            velocity: Vec3::ZERO,
            spin: Vec3::new(0.0, 0.0, SPIN as f32),
            spin_center: Vec3::ZERO,
            sampling: Sampling::Poisson,
        };
        let samples = sample_fill(
            &fill,
            &Spacing {
                dx: h,
                particles_per_cell: 4.0,
                grain: None,
                clearance: 0.0,
            },
            scene.dimensions,
            1,
            &|_, _| false,
        );
        let mut real = Real::new(&scene, &[]);
        real.mpm.emit(&samples).unwrap();

        let lattice = Lattice {
            h,
            low: [-30, -30, 0],
            count: [60, 60, 1],
            periodic: [false; 3],
            keep: exact,
        };
        let stuff = stuff(&solid, Dimensions::Two);
        let mut twin = Twin::new(lattice, transfer, vec![stuff]);
        twin.particles = real.particles();
        let start = twin.momenta().1.z;
        Self { real, twin, start }
    }

    /// Steps through whole turns, at half the Courant number of 1.
    fn turn(&mut self, turns: f64, mut step: impl FnMut(&mut Self, f32)) {
        let dt = 0.5 * self.twin.lattice.h / wave_speed(1e5, 0.3, 1000.0);
        let steps = (turns * 2.0 * PI / SPIN / dt).ceil();
        let dt = (turns * 2.0 * PI / SPIN / steps) as f32;
        for _ in 0..steps as usize {
            step(self, dt);
        }
    }

    fn turn_solver(&mut self, turns: f64) {
        self.turn(turns, |disc, dt| disc.real.step(dt, Vec3::ZERO));
    }

    /// What is left of the angular momentum, and the noise of the particles' velocities [m/s].
    fn look(&mut self) -> (f64, f64) {
        let mut twin = self.twin.clone();
        twin.particles = self.real.particles();
        (twin.momenta().1.z / self.start, twin.velocity_noise())
    }
}

#[test]
fn a4_apic_keeps_a_disc_spinning() {
    let mut disc = Disc::new(APIC);
    disc.turn_solver(10.0);
    let (left, _) = disc.look();
    assert!((0.999..1.001).contains(&left), "APIC kept {left}");
}

#[test]
fn a4_pic_stops_the_disc() {
    let mut disc = Disc::new(PIC);
    disc.turn_solver(10.0);
    let (left, _) = disc.look();
    assert!(left < 0.2, "PIC kept {left}");
}

/// FLIP moves particles with the smoothed velocity of the grid, not with their own: that costs nearly 1 % a turn, at any
/// step, in the twin as in the solver.
#[test]
fn a4_flip_keeps_the_disc_spinning_with_growing_noise() {
    let mut disc = Disc::new(FLIP);
    let (_, quiet) = disc.look();
    disc.turn_solver(1.0);
    let (after_one, noisy) = disc.look();
    disc.turn(1.0, |disc, dt| disc.twin.step(f64::from(dt)));
    let of_twin = disc.twin.momenta().1.z / disc.start;
    assert!((after_one - of_twin).abs() < 1e-4, "{after_one} {of_twin}");
    disc.turn_solver(9.0);
    let (left, still_noisy) = disc.look();
    assert!((0.9..1.001).contains(&left), "FLIP kept {left}");

    let mut calm = Disc::new(APIC);
    calm.turn_solver(1.0);
    let (_, apic) = calm.look();
    assert!(
        noisy > 2.0 * quiet && still_noisy > 2.0 * quiet,
        "{quiet} {noisy}"
    );
    assert!(noisy > 10.0 * apic, "noise {noisy}, of APIC {apic}");
}

// ---- A5 ----

/// How much the strain of a bar grows from a small random jitter of its particles, at Δt c/h = `courant`.
fn growth<const K: usize>(transfer: Transfer, courant: f64) -> f64 {
    let (h, cells) = (0.05, 20);
    let law = elastic(YOUNG, POISSON, ElasticModel::Hencky);
    let mut bar = row::<K>(h, cells, 8, transfer, law);
    let c = wave_speed(YOUNG, POISSON, DENSITY);
    let dt = courant * h / c;
    let mut random = Random(5);
    for p in &mut bar.particles {
        p.v.x = random.within(-1e-9, 1e-9) * c;
    }
    let strain = |bar: &Twin<2, K>| {
        let squares = bar.particles.iter().map(|p| p.strain.xx.powi(2));
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
    strain(&bar) / before
}

/// The largest stable Δt c/h, by halving an interval.
fn limit<const K: usize>(transfer: Transfer) -> f64 {
    let (mut stable, mut unstable) = (0.5, 3.0);
    for _ in 0..9 {
        let middle = 0.5 * (stable + unstable);
        if growth::<K>(transfer, middle) > 100.0 {
            unstable = middle;
        } else {
            stable = middle;
        }
    }
    0.5 * (stable + unstable)
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

#[test]
fn a5_limit_of_the_explicit_step() {
    for (found, printed, undamped) in [
        (limit::<3>(APIC), 1.633, theory(3, 600, |_| 4.0)),
        (limit::<4>(APIC), 1.925, theory(4, 600, |_| 4.0)),
    ] {
        assert!((undamped - printed).abs() < 1e-3, "{undamped}");
        assert!((found / printed - 1.0).abs() < 0.1, "{found} not {printed}");
    }
    for part in [0.85, 1.15] {
        let stable = part < 1.0;
        assert_eq!(growth::<3>(APIC, part * 1.633) < 100.0, stable);
        assert_eq!(growth::<4>(APIC, part * 1.925) < 100.0, stable);
    }
}

/// The catalog's limit is that of a grid that keeps its velocity. A transfer that scales a wave by a < 1 a step lowers
/// it from (Δt ω)² = 4 to 2 (1 + a); FLIP, which adds its change of velocity filtered by PIC's factor T, to 4/(2 − T).
#[test]
fn a5_each_transfer_lowers_the_limit_as_derived() {
    let pic = |n: i32, k: f64| apic_factor(n, f64::INFINITY, k);
    let damped = |n: i32, inertia: f64| theory(n, 20, |k| 2.0 + 2.0 * apic_factor(n, inertia, k));
    let flip = |n: i32| theory(n, 20, |k| 4.0 / (2.0 - pic(n, k)));
    for (found, expected) in [
        (limit::<3>(APIC), damped(3, 0.25)),
        (limit::<4>(APIC), damped(4, 1.0 / 3.0)),
        (limit::<3>(PIC), damped(3, f64::INFINITY)),
        (limit::<4>(PIC), damped(4, f64::INFINITY)),
        (limit::<3>(FLIP), flip(3)),
        (limit::<4>(FLIP), flip(4)),
    ] {
        assert!(
            (found / expected - 1.0).abs() < 0.02,
            "{found} not {expected}"
        );
    }
}
