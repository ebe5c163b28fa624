//! C6–C9: one particle of sand whose state changes: cohesion, hardening, volume, and no friction at all; in f64.

use super::element::{
    BULK, TRIAXIAL, YOUNG, alpha, at_rest, case, deviator, drive, law, norm, sand, slope, solid,
    three, trace,
};
use crate::outcome::{Band, Check, Outcome};
use crate::plot::{Axis, Plot, Style};
use crate::reference::Random;
use crate::trial::{larger, largest, smaller, smallest};
use crate::{Case, Context, ValidateError};
use barchan_scene::{ConeMatch, Dimensions, Friction, MpmMaterial, SandLaw};
use barchan_sim::material::drucker_prager::{self, Sand};

/// Cohesive tension.
pub const C6: Case = case("C6", "One particle: cohesive tension", cohesive_tension);
/// Hardening.
pub const C7: Case = case(
    "C7",
    "One particle: friction angle against plastic strain",
    hardening,
);
/// Volume correction.
pub const C8: Case = case(
    "C8",
    "One particle: volume gained in tension",
    volume_correction,
);
/// No friction.
pub const C9: Case = case(
    "C9",
    "One particle: without friction no shear stress",
    frictionless,
);

// ---- C6, C8 ----

/// With or without volume correction.
fn corrected(law: &SandLaw, volume_correction: bool) -> Sand {
    let calibration = MpmMaterial {
        volume_correction,
        ..TRIAXIAL
    };
    Sand::new(law, calibration, Dimensions::Three)
}

/// Principal stresses [Pa] of a particle stretched by 0.02 in all directions, and of the same after its release.
fn released(volume_correction: bool) -> [[f64; 3]; 2] {
    let law = SandLaw {
        cohesion: 500.0,
        ..law(30.0)
    };
    let sand = corrected(&law, volume_correction);
    let mut state = at_rest();
    [1e-4, -1e-4].map(|step| {
        let mut stress = [0.0; 3];
        for _ in 0..200 {
            (state, stress) = drive(&sand, state, [step; 3]);
        }
        stress
    })
}

fn cohesive_tension(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    let c = drucker_prager::cone_cohesion(500.0, 30f64.to_radians(), ConeMatch::Triaxial);
    let [tension, residue] = released(true);
    let [_, squeezed] = released(false);
    let tip = trace(tension) / (c / alpha(30.0));
    Ok(Outcome {
        physics: "The tension of cohesive sand is limited by the tip of its cone, and sand that was separated has no stress when it \
                  returns to its original volume."
            .into(),
        setup: "The law in f64, φ = 30°, cohesion 500 Pa, stretched by 0.02 in all directions and released.".into(),
        reference: "tr τ = c_C/α.".into(),
        checks: vec![
            Check::new("tr τ over c_C/α", tip, "", Band::around(1.0, 1e-10)),
            Check::new("stress after the release", largest(residue), "Pa", Band::below(1e-6)),
            Check::control("pressure after the release, no volume correction", -squeezed[0], "Pa", Band::below(100.0)),
        ],
        ..Outcome::default()
    })
}

/// ln J, pressure [Pa], volume gain and ln J of the elastic part along the isotropic path 0 → 5e-3 → 0 → −1e-3.
fn volume_cycle(volume_correction: bool) -> Vec<[f64; 4]> {
    let sand = corrected(&law(30.0), volume_correction);
    let (mut state, mut log_j) = (at_rest(), 0.0);
    let path = [1.0; 5].into_iter().chain([-1.0; 6]).map(|sign| {
        let d = sign * 1e-3;
        log_j += d;
        let stress;
        (state, stress) = drive(&sand, state, [d / 3.0; 3]);
        let elastic = 0.5 * state.strain.det_identity_plus_m1().ln_1p();
        [log_j, -trace(stress) / 3.0, state.volume_gain, elastic]
    });
    path.collect()
}

/// The correction along the hydrostatic axis: one step of expansion by 1e-3, then rest.
fn corrections(sign: f64) -> Vec<f64> {
    let (mut elastic, mut v) = (0.0f64, 0.0f64);
    let steps = [1e-3, 0.0, 0.0, 0.0, 0.0].into_iter().map(|increment| {
        let trial: f64 = elastic + increment;
        let kept = (trial + v).min(0.0);
        v += sign * (trial - kept);
        elastic = kept;
        v
    });
    steps.collect()
}

fn volume_correction(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    let with = volume_cycle(true);
    let sum = |[log_j, _, gain, elastic]: &[f64; 4]| elastic + gain - log_j;
    let excess = |[log_j, p, ..]: &[f64; 4]| p - BULK * (-log_j).max(0.0);
    let [log_j, without, ..] = volume_cycle(false)[9];
    let (ours, printed) = (corrections(1.0), corrections(-1.0));
    let doubled = printed.windows(2).map(|w| w[1] / w[0] - 2.0);
    let held = Band::below(1e-6);
    Ok(Outcome {
        physics: "Sand that has expanded carries pressure again only once it is back at its original volume.".into(),
        setup: "The law in f64, φ = 30°, ln J goes from 0 to 0.005, to 0 and to −0.001 in steps of 0.001.".into(),
        reference: "[Tampubolon17] Eq. 26–27 with the opposite sign of the correction: as printed it doubles in every step.".into(),
        checks: vec![
            Check::new("elastic volume strain plus volume gain, less ln J", largest(with.iter().map(sum)), "", Band::below(1e-12)),
            Check::new("pressure less K |ln J| of compression", largest(with.iter().map(excess)), "Pa", held),
            Check::control("pressure at the original volume, no correction", without, "Pa", held),
            Check::new("pressure at the original volume, no correction, against the elastic solution", without, "Pa", Band::between(1473.74, 1473.76)),
            Check::new("ln J at the original volume", log_j, "", Band::between(-1e-15, 1e-15)),
            Check::new("change of the correction at rest", largest(ours.iter().map(|v| v - 1e-3)), "", Band::below(1e-15)),
            Check::new("ratio of successive corrections less 2, sign as printed", largest(doubled), "", Band::below(1e-12)),
            Check::control("change of the correction at rest, sign as printed", printed[4] - printed[0], "", Band::between(-1e-15, 1e-15)),
        ],
        ..Outcome::default()
    })
}

// ---- C7 ----

fn law_of([h0, h1, h2, h3]: [f64; 4]) -> Friction {
    Friction::Hardening { h0, h1, h2, h3 }
}

/// Largest error of the increment of q over random strains: 0 in the cone, the size of the strain at the tip, the plastic
/// multiplier on the side; and the least increment.
fn increments() -> [f64; 2] {
    let (sand, a) = (sand(30.0), alpha(30.0));
    let mut random = Random(7);
    let (mut error, mut least) = (0.0f64, f64::INFINITY);
    for _ in 0..10_000 {
        let e = three(&mut random, 0.02);
        let p = sand.project::<f64, 3>(e, 0.0, a);
        let expected = match p.case as u8 {
            0 => 0.0,
            1 => norm(e),
            _ => norm(deviator(e)) + slope() * a * trace(e),
        };
        error = larger(error, (p.hardening - expected).abs());
        least = smaller(least, p.hardening);
    }
    [error, least]
}

/// Checks of a set that has a peak: (35, 9, h2, 10).
fn peaked(h2: f64, at: f64, height: f64) -> Vec<Check> {
    let friction = law_of([35.0, 9.0, h2, 10.0]);
    let angle = |q: f64| drucker_prager::friction_angle(friction, q);
    let sand = solid(SandLaw {
        friction,
        ..law(0.0)
    });
    let peak = 1.0 / h2 + 10.0 / 9.0;
    let formula = 35.0 + 9.0 / h2 * (-(1.0 + h2 * 10.0 / 9.0)).exp();
    let cone = [0.0, 1.0, at, 50.0].map(|q| sand.alpha(q) - alpha(angle(q)));
    let around = [peak - 0.1, peak + 0.1].map(angle);
    let exact = [
        angle(0.0) - 25.0,
        angle(1e3) - 35.0,
        angle(10.0 / 9.0) - 35.0,
        angle(peak) - formula,
    ];
    let named = |what: &str| format!("{what}, h2 = {h2}");
    vec![
        Check::new(
            named("q at the peak"),
            peak,
            "",
            Band::between(at - 1e-4, at + 1e-4),
        ),
        Check::new(
            named("φ at the peak"),
            angle(peak),
            "°",
            Band::between(height - 1e-3, height + 1e-3),
        ),
        Check::new(
            named("φ at the peak less φ at q ± 0.1"),
            angle(peak) - around[0].max(around[1]),
            "°",
            Band::above(1e-9),
        ),
        Check::new(
            named("error of φ at q = 0, at h3/h1, at the peak and for large q"),
            largest(exact),
            "°",
            Band::below(1e-12),
        ),
        Check::new(named("error of α"), largest(cone), "", Band::below(1e-12)),
    ]
}

fn hardening(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    let mut plot = Plot::new(
        "Friction angle",
        Axis::new("plastic strain q"),
        Axis::new("friction angle φ [°]"),
    );
    for h in [
        [35.0, 9.0, 0.2, 10.0],
        [35.0, 9.0, 0.3, 10.0],
        [35.0, 0.0, 0.2, 10.0],
    ] {
        let name = h.map(|v: f64| v.to_string()).join("/");
        let exact = |q: f64| h[0] + (h[1] * q - h[3]) * (-h[2] * q).exp();
        let ours = |q| drucker_prager::friction_angle(law_of(h), q);
        let curve = |f: &dyn Fn(f64) -> f64, count: i32| -> Vec<[f64; 2]> {
            let q = (0..=count).map(|i| 30.0 * f64::from(i) / f64::from(count));
            q.map(|q| [q, f(q)]).collect()
        };
        plot = plot
            .with(
                Style::Reference,
                &format!("formula, {name}"),
                &curve(&exact, 120),
            )
            .with(
                Style::Points,
                &format!("as coded, {name}"),
                &curve(&ours, 15),
            );
    }
    let mut checks = peaked(0.2, 6.1111, 48.256);
    checks.extend(peaked(0.3, 4.4444, 42.908));
    let monotone = |q: f64| drucker_prager::friction_angle(law_of([35.0, 0.0, 0.2, 10.0]), q);
    let growth = (1..400).map(|i| monotone(0.1 * f64::from(i)) - monotone(0.1 * f64::from(i - 1)));
    let soft = drucker_prager::friction_angle(law_of([35.0, 9.0, 0.3, 10.0]), 6.1111);
    let [error, least] = increments();
    checks.extend([
        Check::new(
            "φ at q = 0, h1 = 0",
            monotone(0.0),
            "°",
            Band::around(25.0, 0.0),
        ),
        Check::new(
            "φ at q = 40, h1 = 0",
            monotone(40.0),
            "°",
            Band::between(34.9946, 34.9986),
        ),
        Check::new(
            "smallest increase of φ per 0.1 of q, h1 = 0",
            smallest(growth),
            "°",
            Band::above(1e-9),
        ),
        Check::control(
            "φ at the peak with h2 = 0.3 instead of 0.2",
            soft,
            "°",
            Band::between(48.254, 48.258),
        ),
        Check::new(
            "largest error of an increment of q",
            error,
            "",
            Band::below(1e-12),
        ),
        Check::new("smallest increment of q", least, "", Band::above(0.0)),
    ]);
    Ok(Outcome {
        physics: "Sand hardens and softens as it flows: φ = h0 + (h1 q − h3) exp(−h2 q).".into(),
        setup: "The law in f64, the sets of parameters of [Klar16] Table 3; increments of q for 10 000 random strains.".into(),
        reference: "[Klar16] Eq. 30; peaks at q = 1/h2 + h3/h1.".into(),
        plots: vec![plot],
        checks,
        notes: vec![],
    })
}

// ---- C9 ----

/// Largest shear stress over a tenth of E after random deformations.
fn shear_stress(angle: f64) -> f64 {
    let sand = sand(angle);
    let mut random = Random(9);
    let one = |_| {
        let increment = std::array::from_fn(|_| three(&mut random, 0.05));
        let s = sand.advance::<f64, 3>(at_rest(), &increment).stress;
        let mean = s.trace() / 3.0;
        largest([s.xx - mean, s.yy - mean, s.zz - mean, s.yz, s.xz, s.xy])
    };
    largest((0..1000).map(one)) / (0.1 * YOUNG)
}

fn frictionless(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    let band = Band::below(1e-12);
    Ok(Outcome {
        physics: "Without friction sand is a compressible inviscid fluid.".into(),
        setup: "The law in f64, 1000 random deformations.".into(),
        reference: "The cone with α = 0 is the hydrostatic axis.".into(),
        checks: vec![
            Check::new(
                "largest shear stress over 0.1 E, φ = 0",
                shear_stress(0.0),
                "",
                band,
            ),
            Check::control(
                "largest shear stress over 0.1 E, φ = 1°",
                shear_stress(1.0),
                "",
                band,
            ),
        ],
        ..Outcome::default()
    })
}
