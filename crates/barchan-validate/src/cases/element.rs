//! C2, C4, C7: one particle of sand driven through known paths, in f64.

use crate::outcome::{Band, Check, Outcome};
use crate::plot::{Axis, Plot, Style};
use crate::{Case, Context, ValidateError};
use barchan_scene::{ConeMatch, Dimensions, Friction, SandLaw};
use barchan_sim::material::drucker_prager::{self, Sand, SandState};
use barchan_sim::material::lame;
use barchan_sim::math::Sym3;

/// Simple shear.
pub const C2: Case = Case {
    name: "C2",
    title: "One particle: simple shear at constant volume",
    solvers: &["mpm"],
    seconds: 0.1,
    run: simple_shear,
};

/// Triaxial compression.
pub const C4: Case = Case {
    name: "C4",
    title: "One particle: triaxial compression",
    solvers: &["mpm"],
    seconds: 0.1,
    run: triaxial,
};

/// Hardening.
pub const C7: Case = Case {
    name: "C7",
    title: "One particle: friction angle against plastic strain",
    solvers: &["mpm"],
    seconds: 0.1,
    run: hardening,
};

const YOUNG: f64 = 3.537e5;
const POISSON: f64 = 0.3;

fn sand(angle: f64, cone: ConeMatch) -> Sand {
    let law = SandLaw {
        young: YOUNG,
        poisson: POISSON,
        friction: Friction::Constant(angle),
        cohesion: 0.0,
        cone,
        volume_correction: false,
    };
    Sand::new(&law, Dimensions::Three)
}

/// Under an isotropic Hencky strain of that trace.
fn compressed(trace: f64) -> SandState<f64> {
    let e = (2.0 * trace / 3.0).exp_m1();
    SandState {
        strain: Sym3::from_array([e, e, e, 0.0, 0.0, 0.0]),
        hardening: 0.0,
        volume_gain: 0.0,
    }
}

/// Shear and τ/p along simple shear.
fn sheared(sand: &Sand) -> Vec<[f64; 2]> {
    let mut state = compressed(-1e-3);
    let step = 2e-5;
    let mut path = vec![[0.0, 0.0]];
    for i in 1..=300 {
        let r = sand.advance::<f64, 3>(state, &[[0.0, step, 0.0], [0.0; 3], [0.0; 3]]);
        state = r.state;
        let pressure = -(r.stress.xx + r.stress.yy + r.stress.zz) / 3.0;
        path.push([step * f64::from(i), r.stress.xy / pressure]);
    }
    path
}

/// 2√3 sin φ/(3 − sin φ): τ/p of steady simple shear of the triaxial cone.
pub fn flow_ratio(friction_angle: f64) -> f64 {
    let sin = friction_angle.to_radians().sin();
    2.0 * 3f64.sqrt() * sin / (3.0 - sin)
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
        let path = sheared(&sand(angle, ConeMatch::Triaxial));
        let end = path[path.len() - 1];
        // γ_y = 3 α p/(√2 μ), τ = μ γ before.
        let stiffness = plateau / yield_strain;
        plot = plot
            .with(
                Style::Reference,
                &format!("theory, φ = {angle}°"),
                &[[0.0, 0.0], [yield_strain, plateau], [6e-3, plateau]],
            )
            .with(
                Style::Points,
                &format!("law as coded, φ = {angle}°"),
                &path.iter().step_by(12).copied().collect::<Vec<_>>(),
            );
        let band = Band::around(plateau, 1e-3);
        checks.push(Check::new(
            format!("τ/p of steady shear, φ = {angle}°"),
            end[1],
            "",
            band,
        ));
        let elastic = path[20];
        checks.push(Check::new(
            format!("τ/(p γ) before yield, φ = {angle}°"),
            elastic[1] / elastic[0],
            "",
            Band::around(stiffness, 2e-3),
        ));
    }
    let other = sheared(&sand(30.0, ConeMatch::PlaneStrain));
    let control = other[other.len() - 1][1];
    plot = plot.with(
        Style::ControlCurve,
        "control: 30° of the plane-strain cone",
        &other,
    );
    checks.push(Check::control(
        "τ/p with the plane-strain cone of 30°",
        control,
        "",
        Band::around(0.69282, 1e-3),
    ));
    Ok(Outcome {
        physics: "Sand sheared at constant volume is elastic up to a shear of 3αp/(√2 μ), then flows at τ/p = 3α/√2.".into(),
        setup: format!("The law in f64, E = {YOUNG} Pa, ν = {POISSON}, μ = {mu:.0} Pa, triaxial cone, tr ε = −0.001."),
        reference: "Derived from the cone of [Klar16], Eq. 27–31.".into(),
        plots: vec![plot],
        checks,
        notes: vec![],
    })
}

/// Axial over lateral stress along a triaxial compression, against axial strain.
fn compressed_axially(sand: &Sand) -> Vec<[f64; 2]> {
    let mut state = compressed(-1e-3);
    let (lambda, mu) = lame(YOUNG, POISSON);
    let confining = (lambda + 2.0 * mu / 3.0) * 1e-3;
    let step = -2e-5;
    let mut path = vec![[0.0, 1.0]];
    for i in 1..=400 {
        // The lateral strain that keeps the lateral stress, by Newton's method with the elastic slope.
        let mut lateral = -POISSON * step;
        let mut response = None;
        for _ in 0..60 {
            let d = [lateral, step, lateral].map(f64::exp_m1);
            let r = sand.advance::<f64, 3>(
                state,
                &[[d[0], 0.0, 0.0], [0.0, d[1], 0.0], [0.0, 0.0, d[2]]],
            );
            let excess = r.stress.xx + confining;
            lateral -= excess / (2.0 * lambda + 2.0 * mu);
            response = Some(r);
            if excess.abs() < 1e-12 * confining {
                break;
            }
        }
        let Some(r) = response else { break };
        state = r.state;
        path.push([-step * f64::from(i), r.stress.yy / r.stress.xx]);
    }
    path
}

fn triaxial(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    let mut plot = Plot::new(
        "Stress ratio",
        Axis::new("axial strain"),
        Axis::new("axial over lateral stress σ_a/σ_c"),
    );
    let mut checks = vec![];
    for angle in [20.0, 30.0, 40.0f64] {
        let sin = angle.to_radians().sin();
        let exact = (1.0 + sin) / (1.0 - sin);
        let path = compressed_axially(&sand(angle, ConeMatch::Triaxial));
        plot = plot
            .with(
                Style::Reference,
                &format!("Mohr–Coulomb, φ = {angle}°"),
                &[[0.0, exact], [8e-3, exact]],
            )
            .with(
                Style::Points,
                &format!("law as coded, φ = {angle}°"),
                &path.iter().step_by(16).copied().collect::<Vec<_>>(),
            );
        let end = path[path.len() - 1][1];
        checks.push(Check::new(
            format!("σ_a/σ_c, φ = {angle}°"),
            end,
            "",
            Band::around(exact, 1e-6),
        ));
    }
    let other = compressed_axially(&sand(30.0, ConeMatch::PlaneStrain));
    plot = plot.with(
        Style::ControlCurve,
        "control: 30° of the plane-strain cone",
        &other,
    );
    checks.push(Check::control(
        "σ_a/σ_c with the plane-strain cone of 30°",
        other[other.len() - 1][1],
        "",
        Band::around(3.0, 1e-6),
    ));
    Ok(Outcome {
        physics: "Pressed along one axis with constant stress around it, sand fails at σ_a/σ_c = (1 + sin φ)/(1 − sin φ): this is \
                  the test in which the triaxial cone is Mohr–Coulomb."
            .into(),
        setup: format!("The law in f64, E = {YOUNG} Pa, ν = {POISSON}."),
        reference: "Mohr–Coulomb; the cone of [Klar16] matches it here by construction.".into(),
        plots: vec![plot],
        checks,
        notes: vec![],
    })
}

fn law_of([h0, h1, h2, h3]: [f64; 4]) -> Friction {
    Friction::Hardening { h0, h1, h2, h3 }
}

fn hardening(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    let mut plot = Plot::new(
        "Friction angle",
        Axis::new("plastic strain q"),
        Axis::new("friction angle φ [°]"),
    );
    let mut checks = vec![];
    let sets = [
        ([35.0, 9.0, 0.2, 10.0], 6.1111, 48.256),
        ([35.0, 9.0, 0.3, 10.0], 4.4444, 42.908),
        ([35.0, 0.0, 0.2, 10.0], 40.0, 34.9966),
    ];
    for (h, peak, height) in sets {
        let angle = |q: f64| drucker_prager::friction_angle(law_of(h), q);
        let name = h.map(|v: f64| v.to_string()).join("/");
        let exact = |q: f64| h[0] + (h[1] * q - h[3]) * (-h[2] * q).exp();
        let curve: Vec<[f64; 2]> = (0..=120)
            .map(|i| f64::from(i) * 0.25)
            .map(|q| [q, exact(q)])
            .collect();
        let ours: Vec<[f64; 2]> = (0..=15)
            .map(|i| f64::from(i) * 2.0)
            .map(|q| [q, angle(q)])
            .collect();
        plot = plot
            .with(Style::Reference, &format!("formula, {name}"), &curve)
            .with(Style::Points, &format!("as coded, {name}"), &ours);
        let band = Band::between(height - 2e-3, height + 2e-3);
        checks.push(Check::new(
            format!("φ at q = {peak}, {name}"),
            angle(peak),
            "°",
            band,
        ));
        checks.push(Check::new(
            format!("φ at q = 0, {name}"),
            angle(0.0),
            "°",
            Band::around(25.0, 1e-9),
        ));
    }
    let soft = drucker_prager::friction_angle(law_of([35.0, 9.0, 0.3, 10.0]), 6.1111);
    checks.push(Check::control(
        "φ at the peak with h2 = 0.3 for 0.2",
        soft,
        "°",
        Band::between(48.254, 48.258),
    ));
    Ok(Outcome {
        physics: "Sand hardens and softens as it flows: φ = h0 + (h1 q − h3) exp(−h2 q).".into(),
        setup: "The law in f64, the sets of parameters of [Klar16] Table 3.".into(),
        reference: "[Klar16] Eq. 30; peaks at q = 1/h2 + h3/h1.".into(),
        plots: vec![plot],
        checks,
        notes: vec![],
    })
}
