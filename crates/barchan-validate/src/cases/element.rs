//! C1–C5: one particle of sand driven through known paths, in f64.

use crate::outcome::{Band, Check, Outcome};
use crate::plot::{Axis, Plot, Style};
use crate::reference::Random;
use crate::trial::{larger, smaller};
use crate::{Case, Context, ValidateError};
use barchan_scene::{ConeMatch, Dimensions, Friction, MpmMaterial, SandLaw};
use barchan_sim::material::drucker_prager::{self, Sand, SandState};
use barchan_sim::material::{hencky, lame};
use barchan_sim::math::Sym3;

pub(super) const fn case(
    name: &'static str,
    title: &'static str,
    run: fn(&Context<'_>) -> Result<Outcome, ValidateError>,
) -> Case {
    Case {
        name,
        title,
        solvers: &["mpm"],
        seconds: 0.1,
        run,
    }
}

/// Return mapping.
pub const C1: Case = case("C1", "One particle: return mapping", return_mapping);
/// Simple shear.
pub const C2: Case = case(
    "C2",
    "One particle: simple shear at constant volume",
    simple_shear,
);
/// Uniaxial strain.
pub const C3: Case = case("C3", "One particle: oedometer", oedometer);
/// Triaxial compression.
pub const C4: Case = case("C4", "One particle: triaxial compression", triaxial);
/// Plane strain.
pub const C5: Case = case(
    "C5",
    "One particle: biaxial compression in plane strain",
    biaxial,
);
pub(super) const YOUNG: f64 = 3.537e5;
const POISSON: f64 = 0.3;
/// Bulk modulus [Pa].
pub(super) const BULK: f64 = YOUNG / (3.0 * (1.0 - 2.0 * POISSON));

pub(super) fn law(angle: f64) -> SandLaw {
    SandLaw {
        young: YOUNG,
        poisson: POISSON,
        friction: Friction::Constant(angle),
        cohesion: 0.0,
    }
}

/// The triaxial cone, without volume correction.
pub(super) const TRIAXIAL: MpmMaterial = MpmMaterial {
    cone: Some(ConeMatch::Triaxial),
    volume_correction: false,
};

pub(super) fn solid(law: SandLaw) -> Sand {
    Sand::new(&law, TRIAXIAL, Dimensions::Three)
}

/// The plane-strain cone of 30°.
fn plane_strain(dimensions: Dimensions) -> Sand {
    let calibration = MpmMaterial {
        cone: Some(ConeMatch::PlaneStrain),
        ..TRIAXIAL
    };
    Sand::new(&law(30.0), calibration, dimensions)
}

pub(super) fn sand(angle: f64) -> Sand {
    solid(law(angle))
}

/// α of the triaxial cone.
pub(super) fn alpha(angle: f64) -> f64 {
    drucker_prager::alpha(angle.to_radians(), ConeMatch::Triaxial, Dimensions::Three)
}

/// (3λ + 2μ)/2μ.
pub(super) fn slope() -> f64 {
    let (lambda, mu) = lame(YOUNG, POISSON);
    (3.0 * lambda + 2.0 * mu) / (2.0 * mu)
}

pub(super) fn norm(v: [f64; 3]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    norm(std::array::from_fn(|i| a[i] - b[i]))
}

pub(super) fn trace(v: [f64; 3]) -> f64 {
    v.iter().sum()
}

pub(super) fn deviator(v: [f64; 3]) -> [f64; 3] {
    v.map(|x| x - trace(v) / 3.0)
}

pub(super) fn at_rest() -> SandState<f64> {
    SandState {
        strain: Sym3::from_array([0.0; 6]),
        hardening: 0.0,
        volume_gain: 0.0,
    }
}

/// A state of isotropic Hencky strain with that trace.
fn compressed(trace: f64) -> SandState<f64> {
    let e = (2.0 * trace / 3.0).exp_m1();
    SandState {
        strain: Sym3::from_array([e, e, e, 0.0, 0.0, 0.0]),
        ..at_rest()
    }
}

/// The state after an increment of the principal logarithmic strains, and its principal stresses [Pa].
pub(super) fn drive(
    sand: &Sand,
    state: SandState<f64>,
    increment: [f64; 3],
) -> (SandState<f64>, [f64; 3]) {
    let d = increment.map(f64::exp_m1);
    let r = sand.advance::<f64, 3>(
        state,
        &[[d[0], 0.0, 0.0], [0.0, d[1], 0.0], [0.0, 0.0, d[2]]],
    );
    (r.state, [r.stress.xx, r.stress.yy, r.stress.zz])
}

/// Three random numbers.
pub(super) fn three(random: &mut Random, size: f64) -> [f64; 3] {
    random.vector(3, -size, size).to_array()
}

// ---- C1 ----

fn return_mapping(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    let mut random = Random(6);
    let [mut misplaced, mut moved, mut off, mut again, mut jump] = [0.0f64; 5];
    let mut softer = f64::INFINITY;
    for _ in 0..10_000 {
        let (e, angle) = (three(&mut random, 0.05), random.within(0.0, 60.0));
        let (sand, a) = (sand(angle), alpha(angle));
        let p = sand.project::<f64, 3>(e, 0.0, a);
        let radius = -slope() * a * trace(e);
        let case = match radius {
            _ if trace(e) >= 0.0 => 1.0,
            radius if norm(deviator(e)) <= radius => 0.0,
            _ => 2.0,
        };
        misplaced += f64::from(p.case != case);
        if case == 2.0 {
            let radius_of = |p: [f64; 3]| norm(deviator(p));
            moved = larger(moved, (trace(p.strain) - trace(e)).abs());
            off = larger(off, (radius_of(p.strain) - radius).abs());
            let wrong = sand.project::<f64, 3>(e, 0.0, 0.99 * a).strain;
            softer = smaller(softer, (radius_of(wrong) - radius).abs() / radius.max(1e-6));
        } else {
            let exact = if case == 1.0 { [0.0; 3] } else { e };
            moved = larger(moved, distance(p.strain, exact));
        }
        let second = sand.project::<f64, 3>(p.strain, 0.0, a).strain;
        again = larger(again, distance(second, p.strain));
        if angle < 40.0 {
            let step = three(&mut random, 1e-9);
            let near = sand.project::<f64, 3>(std::array::from_fn(|i| e[i] + step[i]), 0.0, a);
            jump = larger(jump, distance(near.strain, p.strain));
        }
    }
    let hydrostatic = sand(30.0).project::<f64, 3>([-1e-3; 3], 0.0, alpha(30.0));
    let fluid = sand(0.0).project::<f64, 3>([1e-3; 3], 0.0, 0.0).strain;
    let exact = Band::below(1e-12);
    let zero = Band::between(0.0, 0.0);
    Ok(Outcome {
        physics: "A trial strain is projected to the tip of the yield cone if it is tensile, is kept if it lies inside the cone, and is \
                  otherwise projected to its side at constant volume."
            .into(),
        setup: "10 000 random principal strains up to 0.05, friction angles from 0 to 60°, triaxial cone.".into(),
        reference: "[Klar16] Eq. 27–29.".into(),
        checks: vec![
            Check::new("strains assigned to the wrong case", misplaced, "", zero),
            Check::new("largest change of invariants: the trace on the side, all strains elsewhere", moved, "", exact),
            Check::new("largest distance from the side", off, "", exact),
            Check::control("smallest distance from the side with 0.99 α, over the radius", softer, "", exact),
            Check::new("largest change by a second projection", again, "", exact),
            Check::new("largest change by a step of 1e-9, up to 40°", jump, "", Band::below(1e-8)),
            Check::new("change of a hydrostatic compression", distance(hydrostatic.strain, [-1e-3; 3]), "", zero),
            Check::new("tension in a frictionless fluid", norm(fluid), "", zero),
        ],
        ..Outcome::default()
    })
}

// ---- C2 ----

/// A state along simple shear: shear, shear stress, pressure and first normal-stress difference [Pa].
type Sheared = [f64; 4];

/// Simple shear of an isotropically compressed particle.
fn sheared(sand: &Sand, gamma: f64, steps: usize) -> Vec<Sheared> {
    let mut state = compressed(-1e-3);
    let step = gamma / steps as f64;
    let path = (1..=steps).map(|i| {
        let r = sand.advance::<f64, 3>(state, &[[0.0, step, 0.0], [0.0; 3], [0.0; 3]]);
        state = r.state;
        let pressure = -(r.stress.xx + r.stress.yy + r.stress.zz) / 3.0;
        [
            step * i as f64,
            r.stress.xy,
            pressure,
            r.stress.xx - r.stress.yy,
        ]
    });
    path.collect()
}

/// Shear and τ/p.
fn ratios(path: &[Sheared]) -> Vec<[f64; 2]> {
    path.iter().map(|[g, tau, p, _]| [*g, tau / p]).collect()
}

fn last<T: Copy>(path: &[T]) -> T {
    path[path.len() - 1]
}

/// 2√3 sin φ/(3 − sin φ): τ/p of steady simple shear of the triaxial cone.
pub fn flow_ratio(friction_angle: f64) -> f64 {
    let sin = friction_angle.to_radians().sin();
    2.0 * 3f64.sqrt() * sin / (3.0 - sin)
}

/// τ/p of steady simple shear in the plane, φ = 30°, plane-strain cone.
fn ratio_in_the_plane() -> f64 {
    let sand = plane_strain(Dimensions::Two);
    let e = (-1e-3f64).exp_m1();
    let mut state = SandState {
        strain: Sym3::from_array([e, e, 0.0, 0.0, 0.0, 0.0]),
        ..at_rest()
    };
    let mut ratio = f64::NAN;
    for _ in 0..20_000 {
        let r = sand.advance::<f64, 2>(state, &[[0.0, 5e-6, 0.0], [0.0; 3], [0.0; 3]]);
        state = r.state;
        ratio = -2.0 * r.stress.xy / (r.stress.xx + r.stress.yy);
    }
    ratio
}

fn simple_shear(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    let (_, mu) = lame(YOUNG, POISSON);
    let mut plot = Plot::new(
        "Mobilized friction",
        Axis::new("shear γ"),
        Axis::new("shear stress over pressure τ/p"),
    );
    let mut checks = vec![];
    for (angle, yield_strain, plateau) in [
        (20.0, 9.658e-4, 0.44575),
        (30.0, 1.5011e-3, 0.69282),
        (40.0, 2.0467e-3, 0.94462),
    ] {
        let sand = sand(angle);
        plot = plot
            .with(
                Style::Reference,
                &format!("theory, φ = {angle}°"),
                &[[0.0, 0.0], [yield_strain, plateau], [6e-3, plateau]],
            )
            .with(
                Style::Points,
                &format!("law as coded, φ = {angle}°"),
                &ratios(&sheared(&sand, 6e-3, 25)),
            );
        let elastic = |part: f64| {
            let [gamma, tau, ..] = last(&sheared(&sand, part * yield_strain, 1000));
            tau / (mu * gamma)
        };
        let [_, tau, p, difference] = last(&sheared(&sand, 0.05, 20_000));
        let permille = Band::around(1.0, 1e-3);
        let named = |what: &str| format!("{what}, φ = {angle}°");
        checks.extend([
            Check::new(
                named("τ/μγ just before yield"),
                elastic(0.999),
                "",
                permille,
            ),
            Check::new(
                named("τ/μγ just after yield"),
                elastic(1.01),
                "",
                Band::below(1.0 - 5e-3),
            ),
            Check::new(
                named("τ/p of steady shear"),
                tau / p,
                "",
                Band::around(plateau, 1e-3),
            ),
            Check::new(
                named("first normal-stress difference over p"),
                difference / p,
                "",
                Band::between(-4e-3, 4e-3),
            ),
            Check::new(
                named("p over its initial value"),
                p / (1e-3 * BULK),
                "",
                permille,
            ),
        ]);
    }
    let other = sheared(&plane_strain(Dimensions::Three), 6e-3, 300);
    let other = ratios(&other);
    let control = last(&other)[1];
    plot = plot.with(
        Style::ControlCurve,
        "control: plane-strain cone, φ = 30°",
        &other,
    );
    checks.extend([
        Check::new(
            "τ/p in 2D, plane-strain cone, φ = 30°",
            ratio_in_the_plane(),
            "",
            Band::around(0.5, 1e-3),
        ),
        Check::control(
            "τ/p with the plane-strain cone of 30°",
            control,
            "",
            Band::around(0.69282, 1e-3),
        ),
    ]);
    Ok(Outcome {
        physics: "Sand sheared at constant volume is elastic up to a shear of 3αp/(√2 μ), then flows at τ/p = 3α/√2; in 2D at √2 α.".into(),
        setup: format!("The law in f64, E = {YOUNG} Pa, ν = {POISSON}, μ = {mu:.0} Pa, triaxial cone, tr ε = −0.001."),
        reference: "Derived from the cone of [Klar16], Eq. 27–31.".into(),
        plots: vec![plot],
        checks,
        notes: vec![],
    })
}

// ---- C3 ----

fn oedometer(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    let rest = POISSON / (1.0 - POISSON);
    let mut checks = vec![];
    for (angle, printed) in [
        (10.0f64, 0.70409),
        (20.0, 0.49029),
        (30.0, 0.42857),
        (40.0, 0.42857),
    ] {
        let sand = sand(angle);
        let (mut state, mut stress) = (at_rest(), [0.0; 3]);
        for _ in 0..500 {
            (state, stress) = drive(&sand, state, [0.0, -1e-5, 0.0]);
        }
        let sin = angle.to_radians().sin();
        let elastic = sin >= 1.0 - 2.0 * POISSON;
        let exact = if elastic {
            rest
        } else {
            (1.0 - sin) / (1.0 + sin)
        };
        let k0 = stress[0] / stress[1];
        let what = format!("error of K₀, φ = {angle}°");
        checks.push(Check::new(what, k0 - exact, "", Band::between(-1e-6, 1e-6)));
        let digits = Band::between(printed - 1e-5, printed + 1e-5);
        checks.push(Check::new(format!("K₀, φ = {angle}°"), k0, "", digits));
        let flow = |check: fn(String, f64, &str, Band) -> Check| {
            let what = format!("plastic strain, φ = {angle}°");
            check(what, state.hardening, "", Band::between(0.0, 0.0))
        };
        checks.push(if elastic {
            flow(Check::new)
        } else {
            flow(Check::control)
        });
    }
    Ok(Outcome {
        physics: "In uniaxial-strain compression sand is elastic if sin φ ≥ 1 − 2ν; otherwise it yields, and its lateral stress follows \
                  from φ.".into(),
        setup: "The law in f64, ν = 0.3, triaxial cone, strained to −0.5 %. The transition is at φ = 23.6°.".into(),
        reference: "K₀ = ν/(1 − ν), or (1 − sin φ)/(1 + sin φ).".into(),
        checks,
        ..Outcome::default()
    })
}

// ---- C4, C5 ----

/// Confining stress [Pa].
const CONFINING: f64 = 100.0;

/// Axial strain and principal stresses [Pa] while axis 1 shortens and the stress of the `free` axes stays.
fn confined(sand: &Sand, free: &[usize], steps: usize) -> Vec<(f64, [f64; 3])> {
    let (lambda, mu) = lame(YOUNG, POISSON);
    let mut state = compressed(-CONFINING / BULK);
    let step = -2e-5;
    let path = (1..=steps).map(|i| {
        let mut increment = [0.0, step, 0.0];
        // The strains that keep the confining stress, by Newton's method with an elastic slope.
        for _ in 0..60 {
            let (_, stress) = drive(sand, state, increment);
            let error = stress[free[0]] + CONFINING;
            if error.abs() < 1e-12 * CONFINING {
                break;
            }
            for &axis in free {
                increment[axis] -= error / (3.0 * (lambda + mu));
            }
        }
        let stress;
        (state, stress) = drive(sand, state, increment);
        (-step * i as f64, stress)
    });
    path.collect()
}

/// Axial strain and axial over lateral stress of a triaxial compression.
fn triaxial_path(sand: &Sand) -> Vec<[f64; 2]> {
    let path = confined(sand, &[0, 2], 600);
    path.into_iter().map(|(e, s)| [e, s[1] / s[0]]).collect()
}

fn triaxial(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    let mut plot = Plot::new(
        "Stress ratio",
        Axis::new("axial strain"),
        Axis::new("axial over lateral stress σ_a/σ_c"),
    );
    let mut checks = vec![];
    for (angle, printed) in [(20.0f64, 2.03961), (30.0, 3.0), (40.0, 4.59891)] {
        let sin = angle.to_radians().sin();
        let exact = (1.0 + sin) / (1.0 - sin);
        let path = triaxial_path(&sand(angle));
        plot = plot
            .with(
                Style::Reference,
                &format!("Mohr–Coulomb, φ = {angle}°"),
                &[[0.0, exact], [6e-3, exact]],
            )
            .with(
                Style::Points,
                &format!("law as coded, φ = {angle}°"),
                &path
                    .iter()
                    .step_by(12)
                    .take(26)
                    .copied()
                    .collect::<Vec<_>>(),
            );
        let end = last(&path)[1];
        let digits = Band::between(printed - 1e-5, printed + 1e-5);
        checks.extend([
            Check::new(
                format!("σ_a/σ_c over the exact value, φ = {angle}°"),
                end / exact,
                "",
                Band::around(1.0, 1e-6),
            ),
            Check::new(format!("σ_a/σ_c, φ = {angle}°"), end, "", digits),
        ]);
    }
    let other = triaxial_path(&plane_strain(Dimensions::Three));
    plot = plot.with(
        Style::ControlCurve,
        "control: plane-strain cone, φ = 30°",
        &other[..300],
    );
    let damp = solid(SandLaw {
        cohesion: 20.0,
        ..law(30.0)
    });
    let (_, s) = last(&confined(&damp, &[0, 2], 600));
    let c = drucker_prager::cone_cohesion(20.0, 30f64.to_radians(), ConeMatch::Triaxial);
    // c cot φ on each axis.
    let (_, tip) = drive(&damp, at_rest(), [0.02; 3]);
    let digits = |value: f64| Band::between(value - 1e-3, value + 1e-3);
    checks.extend([
        Check::control(
            "σ_a/σ_c with the plane-strain cone of 30°",
            last(&other)[1],
            "",
            Band::around(3.0, 1e-6),
        ),
        Check::new(
            "σ_a − σ_c with a cohesion of 20 Pa",
            s[0] - s[1],
            "Pa",
            Band::around(269.282, 1e-5),
        ),
        Check::control(
            "σ_a − σ_c with a cohesion of 20 Pa, against the value without cohesion",
            s[0] - s[1],
            "Pa",
            Band::around(200.0, 1e-5),
        ),
        Check::new(
            "cohesion parameter of the cone for 20 Pa",
            c,
            "Pa",
            digits(33.941),
        ),
        Check::new(
            "tensile strength with a cohesion of 20 Pa",
            tip[0],
            "Pa",
            digits(34.641),
        ),
    ]);
    Ok(Outcome {
        physics: "In triaxial compression at a constant confining stress σ_c, sand fails at σ_a/σ_c = (1 + sin φ)/(1 − sin φ): this is \
                  the test in which the triaxial cone matches Mohr–Coulomb."
            .into(),
        setup: format!("The law in f64, E = {YOUNG} Pa, ν = {POISSON}, σ_c = {CONFINING} Pa; with cohesion φ = 30°."),
        reference: "Mohr–Coulomb; the cone of [Klar16] matches it here by construction. With cohesion σ_a − σ_c = \
                    (2σ_c sin φ + 2c cos φ)/(1 − sin φ), tensile strength c cot φ."
            .into(),
        plots: vec![plot],
        checks,
        notes: vec![],
    })
}

/// Mobilized friction angle [degrees] of plane strain, and σ_zz over the mean of the other two principal stresses.
fn biaxial_end(sand: &Sand) -> [f64; 2] {
    let (_, s) = last(&confined(sand, &[0], 4000));
    let sin = (s[1] - s[0]) / (s[1] + s[0]);
    [sin.asin().to_degrees(), 2.0 * s[2] / (s[0] + s[1])]
}

fn biaxial(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    let near = |angle: f64| Band::between(angle - 0.05, angle + 0.05);
    let mut checks = vec![];
    let mut triaxial = f64::NAN;
    for (angle, expected) in [
        (20.0, 26.471),
        (25.0, 34.612),
        (30.0, 43.854),
        (35.0, 54.97),
    ] {
        let [mobilized, out_of_plane] = biaxial_end(&sand(angle));
        checks.extend([
            Check::new(
                format!("mobilized angle, φ = {angle}°"),
                mobilized,
                "°",
                near(expected),
            ),
            Check::new(
                format!("σ_zz over the mean of σ_xx and σ_yy, φ = {angle}°"),
                out_of_plane,
                "",
                Band::around(1.0, 0.01),
            ),
        ]);
        if angle == 30.0 {
            triaxial = mobilized;
        }
    }
    let [matched, _] = biaxial_end(&plane_strain(Dimensions::Three));
    checks.extend([
        Check::new(
            "mobilized angle, plane-strain cone, φ = 30°",
            matched,
            "°",
            near(30.0),
        ),
        Check::control(
            "mobilized angle, triaxial cone, against φ = 30°",
            triaxial,
            "°",
            near(30.0),
        ),
    ]);
    let (lambda, mu) = lame(YOUNG, POISSON);
    for (angle, expected) in [(20.0, 17.287), (30.0, 27.509), (40.0, 39.032)] {
        let a = alpha(angle);
        let derived = (2f64.sqrt() * a).asin().to_degrees();
        // On the side of the 2D law with the triaxial α.
        let flat = Sand::new(&law(angle), TRIAXIAL, Dimensions::Two);
        let p = flat.project::<f64, 2>([-0.02, 0.01, 0.0], 0.0, a);
        let tau = hencky::stress(p.strain, hencky::Lame { lambda, mu });
        let mobilized = ((tau[1] - tau[0]) / -(tau[0] + tau[1])).asin().to_degrees();
        let digits = Band::between(expected - 1e-3, expected + 1e-3);
        checks.extend([
            Check::new(format!("asin √2 α, φ = {angle}°"), derived, "°", digits),
            Check::new(
                format!("mobilized angle in 2D, triaxial α, φ = {angle}°"),
                mobilized,
                "°",
                near(expected),
            ),
        ]);
    }
    Ok(Outcome {
        physics: "In plane strain the triaxial cone is stronger than Mohr–Coulomb with the same φ: it mobilizes asin(3α/√2).".into(),
        setup: format!("The law in f64, E = {YOUNG} Pa, ν = {POISSON}, σ_c = {CONFINING} Pa; a law for 2D has asin √2 α."),
        reference: "Derived from the cone; the plane-strain cone mobilizes φ itself.".into(),
        checks,
        ..Outcome::default()
    })
}
