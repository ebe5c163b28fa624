//! F: sand that flows out of a silo.

use crate::validate::fit::first_crossing;
use crate::validate::outcome::{Band, Check, Outcome};
use crate::validate::plot::{Axis, Plot, Style};
use crate::validate::trial::Trial;
use crate::validate::{Case, Context, ValidateError};

/// Discharge does not depend on how high the silo is filled.
pub const F3: Case = Case {
    name: "F3",
    title: "Silo: the discharge does not depend on the fill height",
    solvers: &["mpm"],
    seconds: 20.0,
    run: constant_discharge,
};

const RATE: f64 = 20.0;

/// A flat-bottomed 2D silo 50 cells wide and 80 high, with a slot of 12 cells.
fn silo(friction_angle: f64) -> String {
    format!(
        r#"
dimensions = 2
frame_rate = {RATE}
[solver]
dx = 0.005
[materials.sand]
density = 1600
young = 2e5
friction_angle = {friction_angle}
[[fill]]
shape = {{ box = {{ min = [-0.125, 0], max = [0.125, 0.4] }} }}
material = "sand"
[[collider]]
name = "silo"
friction = 0.4
shape = {{ difference = [
    {{ box = {{ min = [-0.3, -0.05], max = [0.3, 0.8] }} }},
    {{ box = {{ min = [-0.125, 0], max = [0.125, 0.9] }} }},
    {{ box = {{ min = [-0.03, -0.1], max = [0.03, 0.1] }} }},
] }}
[[drain]]
shape = {{ half_space = {{ point = [0, -0.1], normal = [0, 1] }} }}
"#
    )
}

/// Time [s] and part of the sand that has left, until 85 % has.
fn drained(context: &Context<'_>, friction_angle: f64) -> Result<Vec<[f64; 2]>, ValidateError> {
    let label = format!("silo, φ = {friction_angle}°");
    let mut trial = Trial::start(context, label, 60, &silo(friction_angle))?;
    let all = trial.simulation.particles() as f64;
    let mut left = vec![[0.0, 0.0]];
    while left[left.len() - 1][1] < 0.85 && left.len() < 100 {
        trial.advance(1)?;
        let part = 1.0 - trial.simulation.particles() as f64 / all;
        left.push([trial.simulation.time(), part]);
    }
    Ok(left)
}

/// Mean rate [parts a second] while the part that has left goes from `a` to `b`.
fn rate(left: &[[f64; 2]], a: f64, b: f64) -> f64 {
    let at = |part| first_crossing(left, part).unwrap_or(f64::NAN);
    (b - a) / (at(b) - at(a))
}

/// Largest deviation [%] of the rate in either half of the drain from its mean.
fn drift(left: &[[f64; 2]]) -> f64 {
    let whole = rate(left, 0.1, 0.8);
    [rate(left, 0.1, 0.45), rate(left, 0.45, 0.8)]
        .map(|part| 100.0 * (part / whole - 1.0).abs())
        .into_iter()
        .fold(0.0, f64::max)
}

fn constant_discharge(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let sand = drained(context, 30.0)?;
    let fluid = drained(context, 0.0)?;
    let whole = rate(&sand, 0.1, 0.8);
    let c2 = whole * 0.25 * 0.4 / (9.81f64.sqrt() * 0.06f64.powf(1.5));
    let start = first_crossing(&sand, 0.1).unwrap_or(f64::NAN);
    let end = first_crossing(&sand, 0.8).unwrap_or(f64::NAN);
    let on_line = |t: f64, factor: f64| 0.1 + whole * factor * (t - start);
    let band = [start, end].map(|t| [t, on_line(t, 0.95), on_line(t, 1.05)]);
    let plot = Plot::new(
        "Sand that has left the silo",
        Axis::new("time t [s]"),
        Axis::new("part of the sand that has left"),
    )
    .with_band("constant rate ± 5 %", &band)
    .with(
        Style::Reference,
        "constant rate",
        &[start, end].map(|t| [t, on_line(t, 1.0)]),
    )
    .with(Style::Points, "sand, φ = 30°", &sand)
    .with(Style::ControlCurve, "control: no friction", &fluid);
    Ok(Outcome {
        physics: "Friction carries the weight of a high filling, so sand leaves a silo at a constant rate, where a fluid slows \
                  down as √h."
            .into(),
        setup: "2D silo 50 × 80 cells, slot of 12 cells, dx = 5 mm, φ = 30° (plane-strain cone, sin φ = √2 α), walls with μ = 0.4."
            .into(),
        reference: "Constant rate between 10 and 80 % of the drain, as continuum plasticity gives for μ ≳ 0.3 [Staron12].".into(),
        plots: vec![plot],
        checks: vec![
            Check::new("drift of the rate between the halves of the drain", drift(&sand), "%", Band::below(5.0)),
            Check::new("C₂ = W / (ρ √g D^1.5)", c2, "", Band::between(0.9, 1.5)),
            Check::control("drift without friction", drift(&fluid), "%", Band::below(5.0)),
        ],
        notes: vec![],
    })
}
