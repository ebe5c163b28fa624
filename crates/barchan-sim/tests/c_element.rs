//! Drucker–Prager element tests: one particle driven through known paths, in f64.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use barchan_scene::{ConeMatch, Dimensions, Friction, SandLaw};
use barchan_sim::material::drucker_prager::{self, Sand, SandState};
use barchan_sim::material::{hencky, lame};
use barchan_sim::math::Sym3;
use proptest::prelude::*;

const YOUNG: f64 = 3.537e5;
const POISSON: f64 = 0.3;

fn law(angle: f64) -> SandLaw {
    SandLaw {
        young: YOUNG,
        poisson: POISSON,
        friction: Friction::Constant(angle),
        cohesion: 0.0,
        cone: ConeMatch::Triaxial,
        volume_correction: false,
    }
}

fn alpha(angle: f64) -> f64 {
    drucker_prager::alpha(angle.to_radians(), ConeMatch::Triaxial, Dimensions::Three)
}

/// (dλ + 2μ)/2μ.
fn k(d: f64) -> f64 {
    let (lambda, mu) = lame(YOUNG, POISSON);
    (d * lambda + 2.0 * mu) / (2.0 * mu)
}

fn norm(v: [f64; 3]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn deviator(v: [f64; 3]) -> [f64; 3] {
    let mean = (v[0] + v[1] + v[2]) / 3.0;
    v.map(|x| x - mean)
}

fn at_rest() -> SandState<f64> {
    SandState {
        strain: Sym3::from_array([0.0; 6]),
        hardening: 0.0,
        volume_gain: 0.0,
    }
}

/// State under an isotropic Hencky strain of that trace.
fn compressed(trace: f64) -> SandState<f64> {
    let e = (2.0 * trace / 3.0).exp_m1();
    SandState {
        strain: Sym3::from_array([e, e, e, 0.0, 0.0, 0.0]),
        ..at_rest()
    }
}

/// Principal stresses of a diagonal state driven by log-strain increments.
fn drive(sand: &Sand, state: SandState<f64>, increment: [f64; 3]) -> (SandState<f64>, [f64; 3]) {
    let d = increment.map(f64::exp_m1);
    let r = sand.advance::<f64, 3>(
        state,
        &[[d[0], 0.0, 0.0], [0.0, d[1], 0.0], [0.0, 0.0, d[2]]],
    );
    (r.state, [r.stress.xx, r.stress.yy, r.stress.zz])
}

// ---- C1 ----

proptest! {
    #[test]
    fn c1_projection_lands_on_or_in_the_cone(e in prop::array::uniform3(-0.05f64..0.05), angle in 0.0f64..60.0) {
        let sand = Sand::new(&law(angle), Dimensions::Three);
        let a = alpha(angle);
        let p = sand.project::<f64, 3>(e, 0.0, a);
        let trace: f64 = e.iter().sum();
        let new_trace: f64 = p.strain.iter().sum();
        let side = -k(3.0) * a * trace;
        if trace >= 0.0 {
            prop_assert_eq!((p.strain, p.case), ([0.0; 3], 1.0));
        } else if norm(deviator(e)) <= side {
            prop_assert_eq!((p.strain, p.case), (e, 0.0));
        } else {
            prop_assert_eq!(p.case, 2.0);
            prop_assert!((new_trace - trace).abs() < 1e-12);
            prop_assert!((norm(deviator(p.strain)) - side).abs() < 1e-12);
        }
        let again = sand.project::<f64, 3>(p.strain, 0.0, a);
        prop_assert!(norm(std::array::from_fn(|i| again.strain[i] - p.strain[i])) < 1e-12);
    }

    #[test]
    fn c1_projection_is_continuous(e in prop::array::uniform3(-0.05f64..0.05),
                                   step in prop::array::uniform3(-1e-9f64..1e-9), angle in 0.0f64..40.0) {
        let sand = Sand::new(&law(angle), Dimensions::Three);
        let a = alpha(angle);
        let near: [f64; 3] = std::array::from_fn(|i| e[i] + step[i]);
        let (p, q) = (sand.project::<f64, 3>(e, 0.0, a), sand.project::<f64, 3>(near, 0.0, a));
        prop_assert!(norm(std::array::from_fn(|i| p.strain[i] - q.strain[i])) < 1e-8);
    }
}

#[test]
fn c1_hydrostatic_compression_is_unchanged_and_a_fluid_holds_no_tension() {
    let sand = Sand::new(&law(30.0), Dimensions::Three);
    assert_eq!(
        sand.project::<f64, 3>([-1e-3; 3], 0.0, alpha(30.0)).strain,
        [-1e-3; 3]
    );
    let fluid = Sand::new(&law(0.0), Dimensions::Three);
    assert_eq!(
        fluid.project::<f64, 3>([1e-3; 3], 0.0, 0.0).strain,
        [0.0; 3]
    );
}

// ---- C2 ----

/// Shear stress, pressure and first normal-stress difference after a shear of `gamma` at constant volume.
fn sheared(sand: &Sand, gamma: f64, steps: usize) -> (f64, f64, f64) {
    let mut state = compressed(-1e-3);
    let d = gamma / steps as f64;
    let mut stress = Sym3::from_array([0.0; 6]);
    for _ in 0..steps {
        let r = sand.advance::<f64, 3>(state, &[[0.0, d, 0.0], [0.0; 3], [0.0; 3]]);
        (state, stress) = (r.state, r.stress);
    }
    (
        stress.xy,
        -(stress.xx + stress.yy + stress.zz) / 3.0,
        stress.xx - stress.yy,
    )
}

#[test]
fn c2_simple_shear_yields_and_flows_at_the_derived_ratio() {
    let (_, mu) = lame(YOUNG, POISSON);
    for (angle, yield_strain, plateau) in [
        (20.0, 9.658e-4, 0.44575),
        (30.0, 1.5011e-3, 0.69282),
        (40.0, 2.0467e-3, 0.94462),
    ] {
        let sand = Sand::new(&law(angle), Dimensions::Three);
        // Before yield the shear is elastic, after it short of elastic.
        let (before, ..) = sheared(&sand, 0.999 * yield_strain, 1000);
        assert!(
            (before / (mu * 0.999 * yield_strain) - 1.0).abs() < 1e-3,
            "{angle}°: elastic part"
        );
        let (after, ..) = sheared(&sand, 1.01 * yield_strain, 1000);
        assert!(
            after / (mu * 1.01 * yield_strain) < 1.0 - 5e-3,
            "{angle}°: no yield"
        );
        let (tau, p, difference) = sheared(&sand, 0.05, 20_000);
        assert!(
            (tau / p / plateau - 1.0).abs() < 1e-3,
            "{angle}°: τ/p = {}",
            tau / p
        );
        assert!(difference.abs() < 0.004 * p);
        let k_bulk = YOUNG / (3.0 * (1.0 - 2.0 * POISSON));
        assert!((p / (k_bulk * 1e-3) - 1.0).abs() < 1e-3, "pressure stays");
    }
}

#[test]
fn c2_in_the_plane() {
    let sand = Sand::new(
        &SandLaw {
            cone: ConeMatch::PlaneStrain,
            ..law(30.0)
        },
        Dimensions::Two,
    );
    let e = (2.0 * -1e-3 / 2.0f64).exp_m1();
    let mut state = SandState {
        strain: Sym3::from_array([e, e, 0.0, 0.0, 0.0, 0.0]),
        ..at_rest()
    };
    let mut stress = Sym3::from_array([0.0; 6]);
    for _ in 0..20_000 {
        let r = sand.advance::<f64, 2>(state, &[[0.0, 5e-6, 0.0], [0.0; 3], [0.0; 3]]);
        (state, stress) = (r.state, r.stress);
    }
    let p = -(stress.xx + stress.yy) / 2.0;
    // √2 α with α = sin φ/√2: the plane's own Coulomb ratio.
    assert!((stress.xy / p - 0.5).abs() < 1e-3 * 0.5);
}

// ---- C3 ----

#[test]
fn c3_oedometer_switches_from_elastic_to_plastic_k0() {
    for (angle, k0) in [
        (10.0, 0.70409),
        (20.0, 0.49029),
        (30.0, 0.42857),
        (40.0, 0.42857),
    ] {
        let sand = Sand::new(&law(angle), Dimensions::Three);
        let mut state = at_rest();
        let mut stress = [0.0; 3];
        for _ in 0..500 {
            (state, stress) = drive(&sand, state, [0.0, -1e-5, 0.0]);
        }
        let ratio = stress[0] / stress[1];
        let elastic = angle.to_radians().sin() >= 1.0 - 2.0 * POISSON;
        let exact = if elastic {
            POISSON / (1.0 - POISSON)
        } else {
            (1.0 - angle.to_radians().sin()) / (1.0 + angle.to_radians().sin())
        };
        assert!((ratio - exact).abs() < 1e-6, "{angle}°: K0 = {ratio}");
        assert!((ratio - k0).abs() < 1e-5);
        assert_eq!(state.hardening == 0.0, elastic);
    }
}

// ---- C4, C5 ----

/// Drives `free` axes so that their stress stays `confining`, while axis 1 shortens; returns the final stresses.
fn confined(
    sand: &Sand,
    start: SandState<f64>,
    free: &[usize],
    confining: f64,
    steps: usize,
) -> [f64; 3] {
    let (lambda, mu) = lame(YOUNG, POISSON);
    let mut state = start;
    let mut stress = [0.0; 3];
    for _ in 0..steps {
        let mut increment = [0.0; 3];
        increment[1] = -2e-5;
        // The response to the free strains is found by secant steps; the law is piecewise smooth.
        for _ in 0..40 {
            let (_, s) = drive(sand, state, increment);
            let error = s[free[0]] + confining;
            if error.abs() < 1e-9 * confining {
                break;
            }
            for &axis in free {
                increment[axis] -= error / (2.0 * (lambda + mu)) / 1.5;
            }
        }
        (state, stress) = drive(sand, state, increment);
    }
    stress
}

/// Isotropic state with principal stress −p.
fn confined_start(p: f64) -> SandState<f64> {
    let k_bulk = YOUNG / (3.0 * (1.0 - 2.0 * POISSON));
    compressed(-p / k_bulk)
}

#[test]
fn c4_triaxial_compression_is_mohr_coulomb() {
    for (angle, ratio) in [(20.0f64, 2.03961), (30.0, 3.0), (40.0, 4.59891)] {
        let sand = Sand::new(&law(angle), Dimensions::Three);
        let s = confined(&sand, confined_start(100.0), &[0, 2], 100.0, 600);
        let sin = angle.to_radians().sin();
        assert!(
            (s[1] / s[0] / ((1.0 + sin) / (1.0 - sin)) - 1.0).abs() < 1e-6,
            "{angle}°: {}",
            s[1] / s[0]
        );
        assert!((s[1] / s[0] - ratio).abs() < 1e-5);
    }
}

#[test]
fn c4_cohesion_maps_to_coulomb() {
    let sand = Sand::new(
        &SandLaw {
            cohesion: 20.0,
            ..law(30.0)
        },
        Dimensions::Three,
    );
    let s = confined(&sand, confined_start(100.0), &[0, 2], 100.0, 600);
    let q = s[0] - s[1];
    assert!((q / 269.282 - 1.0).abs() < 1e-5, "q = {q}");
    let c = drucker_prager::cone_cohesion(20.0, 30f64.to_radians(), ConeMatch::Triaxial);
    assert!((c - 33.941).abs() < 1e-3);
    // Tip: c cot φ on each axis.
    let (_, tip) = drive(&sand, at_rest(), [0.02; 3]);
    assert!((tip[0] - 34.641).abs() < 1e-3, "{}", tip[0]);
}

#[test]
fn c5_plane_strain_mobilizes_the_derived_angle() {
    let mobilized = |s: [f64; 3]| ((s[1] - s[0]) / (s[1] + s[0])).asin().to_degrees();
    for (angle, expected) in [
        (20.0, 26.471),
        (25.0, 34.612),
        (30.0, 43.854),
        (35.0, 54.97),
    ] {
        let sand = Sand::new(&law(angle), Dimensions::Three);
        let s = confined(&sand, confined_start(100.0), &[0], 100.0, 4000);
        assert!(
            (mobilized(s) - expected).abs() < 0.05,
            "{angle}°: {}",
            mobilized(s)
        );
        assert!(
            (s[2] - 0.5 * (s[0] + s[1])).abs() < 0.01 * s[2].abs(),
            "σ_zz is the mean"
        );
    }
    // The plane-strain match mobilizes φ itself; the triaxial one does not: that is its negative control.
    let matched = Sand::new(
        &SandLaw {
            cone: ConeMatch::PlaneStrain,
            ..law(30.0)
        },
        Dimensions::Three,
    );
    let s = confined(&matched, confined_start(100.0), &[0], 100.0, 4000);
    assert!((mobilized(s) - 30.0).abs() < 0.05, "{}", mobilized(s));
}

#[test]
fn c5_in_the_plane() {
    for (angle, expected) in [(20.0, 17.287), (30.0, 27.509), (40.0, 39.032)] {
        let a = alpha(angle);
        assert!(((2f64.sqrt() * a).asin().to_degrees() - expected).abs() < 1e-3);
        // A d = 2 law with the triaxial α: ‖dev‖ on the side is −kα tr, which is that angle.
        let sand = Sand::new(&law(angle), Dimensions::Two);
        let p = sand.project::<f64, 2>([-0.02, 0.01, 0.0], 0.0, a);
        let (lambda, mu) = lame(YOUNG, POISSON);
        let tau = hencky::stress(p.strain, hencky::Lame { lambda, mu });
        let mobilized = ((tau[1] - tau[0]) / -(tau[0] + tau[1])).asin().to_degrees();
        assert!((mobilized - expected).abs() < 0.05, "{mobilized}");
    }
}

// ---- C6, C8 ----

#[test]
fn c6_cohesive_tension_saturates_at_the_tip_and_releases_without_residue() {
    let law = SandLaw {
        cohesion: 500.0,
        volume_correction: true,
        ..law(30.0)
    };
    let sand = Sand::new(&law, Dimensions::Three);
    let c = drucker_prager::cone_cohesion(500.0, 30f64.to_radians(), ConeMatch::Triaxial);
    let mut state = at_rest();
    let mut trace = 0.0;
    for _ in 0..200 {
        let s;
        (state, s) = drive(&sand, state, [1e-4; 3]);
        trace = s.iter().sum();
    }
    assert!(
        (trace / (c / alpha(30.0)) - 1.0).abs() < 1e-10,
        "tip at tr τ = c_C/α"
    );
    let mut last = [0.0; 3];
    for _ in 0..200 {
        (state, last) = drive(&sand, state, [-1e-4; 3]);
    }
    assert!(last.iter().all(|s| s.abs() < 1e-6), "residue {last:?}");
    // Negative control: without the correction the released particle is squeezed.
    let plain = Sand::new(
        &SandLaw {
            volume_correction: false,
            ..law
        },
        Dimensions::Three,
    );
    let mut state = at_rest();
    for (n, e) in [(200, 1e-4), (200, -1e-4)] {
        for _ in 0..n {
            (state, last) = drive(&plain, state, [e; 3]);
        }
    }
    assert!(last[0] < -100.0);
}

/// Pressure and v_c after each step of the isotropic path 0 → 5e-3 → 0 → −1e-3 in ln J.
fn volume_cycle(correction: bool) -> Vec<(f64, f64, f64, f64)> {
    let sand = Sand::new(
        &SandLaw {
            volume_correction: correction,
            ..law(30.0)
        },
        Dimensions::Three,
    );
    let mut state = at_rest();
    let mut log_j = 0.0;
    let path = [1.0; 5].into_iter().chain([-1.0; 6]);
    path.map(|sign| {
        let d = sign * 1e-3;
        log_j += d;
        let s;
        (state, s) = drive(&sand, state, [d / 3.0; 3]);
        let elastic = 0.5 * state.strain.det_identity_plus_m1().ln_1p();
        (
            log_j,
            -(s[0] + s[1] + s[2]) / 3.0,
            state.volume_gain,
            elastic,
        )
    })
    .collect()
}

#[test]
fn c8_volume_correction_waits_for_the_original_volume() {
    let k_bulk = YOUNG / (3.0 * (1.0 - 2.0 * POISSON));
    for (log_j, p, v_c, elastic) in volume_cycle(true) {
        assert!(
            (elastic + v_c - log_j).abs() < 1e-12,
            "ln det F + v_c is the accumulated ln J"
        );
        assert!(
            (p - k_bulk * (-log_j).max(0.0)).abs() < 1e-6,
            "ln J = {log_j}: p = {p}"
        );
    }
    // Negative control: without it, pressure at the original volume.
    let (log_j, p, ..) = volume_cycle(false)[9];
    assert!(log_j.abs() < 1e-15 && (p - 1473.75).abs() < 0.01, "p = {p}");
}

#[test]
fn c8_the_printed_sign_doubles_the_correction_every_step() {
    // Tampubolon Eq. 26–27 along the hydrostatic axis: one step of expansion by 1e-3, then rest.
    let corrections = |sign: f64| {
        let (mut elastic, mut v) = (0.0f64, 0.0f64);
        let mut all = vec![];
        for increment in [1e-3, 0.0, 0.0, 0.0, 0.0] {
            let trial = elastic + increment;
            let kept = (trial + v).min(0.0);
            v += sign * (trial - kept);
            elastic = kept;
            all.push(v);
        }
        all
    };
    let (ours, printed) = (corrections(1.0), corrections(-1.0));
    assert!(ours.iter().all(|v| (v - 1e-3).abs() < 1e-15), "{ours:?}");
    assert!(
        printed
            .windows(2)
            .all(|w| (w[1] / w[0] - 2.0).abs() < 1e-12),
        "{printed:?}"
    );
}

// ---- C7 ----

#[test]
fn c7_hardening_curve() {
    let set = |h1: f64, h2: f64| Friction::Hardening {
        h0: 35.0,
        h1,
        h2,
        h3: 10.0,
    };
    let phi = drucker_prager::friction_angle;
    for (h2, q_peak, peak) in [(0.2, 6.1111, 48.256), (0.3, 4.4444, 42.908)] {
        let f = set(9.0, h2);
        assert_eq!(phi(f, 0.0), 25.0);
        assert!((phi(f, 1e3) - 35.0).abs() < 1e-12);
        assert!((phi(f, 10.0 / 9.0) - 35.0).abs() < 1e-12);
        let q = 1.0 / h2 + 10.0 / 9.0;
        assert!((q - q_peak).abs() < 1e-4 && (phi(f, q) - peak).abs() < 1e-3);
        assert!((phi(f, q) - (35.0 + 9.0 / h2 * (-(1.0 + h2 * 10.0 / 9.0)).exp())).abs() < 1e-12);
        assert!(phi(f, q - 0.1) < phi(f, q) && phi(f, q + 0.1) < phi(f, q));
        let sand = Sand::new(
            &SandLaw {
                friction: f,
                ..law(0.0)
            },
            Dimensions::Three,
        );
        for q in [0.0, 1.0, q_peak, 50.0] {
            assert!((sand.alpha(q) - alpha(phi(f, q))).abs() < 1e-12);
        }
    }
    let monotone: Vec<f64> = (0..400)
        .map(|i| phi(set(0.0, 0.2), f64::from(i) * 0.1))
        .collect();
    assert!(monotone.windows(2).all(|w| w[1] > w[0]) && monotone[0] == 25.0);
}

proptest! {
    #[test]
    fn c7_increments(e in prop::array::uniform3(-0.02f64..0.02)) {
        let sand = Sand::new(&law(30.0), Dimensions::Three);
        let p = sand.project::<f64, 3>(e, 0.0, alpha(30.0));
        let trace: f64 = e.iter().sum();
        let excess = norm(deviator(e)) + k(3.0) * alpha(30.0) * trace;
        let expected = match p.case as u8 { 0 => 0.0, 1 => norm(e), _ => excess };
        prop_assert!((p.hardening - expected).abs() < 1e-12 && p.hardening >= 0.0);
    }
}

// ---- C9 ----

proptest! {
    #[test]
    fn c9_without_friction_there_is_no_shear_stress(g in prop::array::uniform9(-0.05f64..0.05)) {
        let sand = Sand::new(&law(0.0), Dimensions::Three);
        let increment = [[g[0], g[1], g[2]], [g[3], g[4], g[5]], [g[6], g[7], g[8]]];
        let r = sand.advance::<f64, 3>(at_rest(), &increment);
        let mean = (r.stress.xx + r.stress.yy + r.stress.zz) / 3.0;
        let scale = YOUNG * 0.1;
        for off in [r.stress.xx - mean, r.stress.yy - mean, r.stress.zz - mean, r.stress.yz, r.stress.xz, r.stress.xy] {
            prop_assert!(off.abs() < 1e-12 * scale);
        }
    }
}
