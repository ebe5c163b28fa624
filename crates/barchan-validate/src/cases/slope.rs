//! D4, E4: sand on slopes.

use super::element::flow_ratio;
use crate::outcome::{Band, Check, Outcome};
use crate::plot::{Axis, Plot, Style};
use crate::trial::{G, Trial, floats, floats_mut, mean_velocity};
use crate::{Case, Context, ValidateError};

/// A slab on a rough incline.
pub const D4: Case = Case {
    name: "D4",
    title: "A slab of sand on a rough incline",
    solvers: &["mpm"],
    seconds: 6.0,
    run: rough_incline,
};

/// Slope against friction angle.
pub const E4: Case = Case {
    name: "E4",
    title: "Slope at rest against friction angle",
    solvers: &["mpm"],
    seconds: 25.0,
    run: slope_at_rest,
};

// ---- D4 ----

const DX: f64 = 0.05;
const DENSITY: f64 = 1600.0;
/// ρ g H/E is 0.8 %: the layer hardly compresses.
const YOUNG: f64 = 2e6;
const POISSON: f64 = 0.3;
const RATE: f64 = 20.0;
const HEIGHT: f64 = 20.0 * DX;

/// Gravity comes on along the slope over `tilt` seconds, or is there at once.
fn slab(friction_angle: f64, degrees: f64, tilt: f64) -> String {
    let (sin, cos) = degrees.to_radians().sin_cos();
    let end = format!("[{}, {}, 0]", G * sin, -G * cos);
    let gravity = if tilt == 0.0 {
        end
    } else {
        format!(
            r#"{{ interpolation = "smooth", keyframes = [{{ time = 0, value = [0, {}, 0] }}, {{ time = {tilt}, value = {end} }}] }}"#,
            -G * cos
        )
    };
    let side = 8.0 * DX;
    format!(
        r#"
frame_rate = {RATE}
gravity = {gravity}
domain = {{ min = [0, -1, 0], max = [{side}, 3, {side}], periodic = ["x", "z"] }}
[solver]
resolution = {DX}
[materials.sand]
density = {DENSITY}
young = {YOUNG}
poisson = {POISSON}
friction_angle = {friction_angle}
[[fill]]
material = "sand"
sampling = "lattice"
shape = {{ box = {{ min = [0, 0, 0], max = [{side}, {HEIGHT}, {side}] }} }}
[[collider]]
name = "base"
shape = {{ half_space = {{ point = [0, 1e-4, 0], normal = [0, 1, 0] }} }}
boundary = "sticky"
"#
    )
}

/// A slab at rest under the pressure of its own weight, the same in all directions.
fn settled<'a>(
    context: &'a Context<'a>,
    friction_angle: f64,
    degrees: f64,
    tilt: f64,
) -> Result<Trial<'a>, ValidateError> {
    let label = format!("φ = {friction_angle}°, slope {degrees}°");
    let mut trial = Trial::start(context, label, 30, &slab(friction_angle, degrees, tilt))?;
    let bulk = YOUNG / (3.0 * (1.0 - 2.0 * POISSON));
    let weight = DENSITY * G * degrees.to_radians().cos();
    let mut state = trial.save()?;
    let heights: Vec<f64> = floats(&state, "position")
        .unwrap_or_default()
        .chunks(3)
        .map(|p| f64::from(p[1]))
        .collect();
    for (i, y) in heights.into_iter().enumerate() {
        let pressure = weight * (HEIGHT - y);
        let strain = (-2.0 * pressure / (3.0 * bulk)).exp_m1();
        floats_mut(&mut state, "strain")[6 * i..6 * i + 3].fill(strain as f32);
        floats_mut(&mut state, "stress")[6 * i..6 * i + 3].fill(-pressure as f32);
    }
    trial.load(&state)?;
    Ok(trial)
}

/// g cos θ (tan θ − μ_ss) [m/s²].
fn expected(friction_angle: f64, degrees: f64) -> f64 {
    let (sin, cos) = degrees.to_radians().sin_cos();
    G * (sin - flow_ratio(friction_angle) * cos)
}

/// Mean acceleration [m/s²] of layers a cell thick between 0.15 and 0.3 s.
fn accelerations(
    context: &Context<'_>,
    friction_angle: f64,
    degrees: f64,
) -> Result<Vec<f64>, ValidateError> {
    let mut trial = settled(context, friction_angle, degrees, 0.0)?;
    let mut speeds = vec![];
    for _ in 0..2 {
        trial.advance(3)?;
        let all = trial.particles()?;
        let layer = |i: u32| {
            let range = f64::from(i) * DX..f64::from(i + 1) * DX;
            let inside: Vec<_> = all
                .iter()
                .filter(|p| range.contains(&p.x.y))
                .copied()
                .collect();
            mean_velocity(&inside).x
        };
        speeds.push((0..19).map(layer).collect::<Vec<f64>>());
    }
    Ok((0..19)
        .map(|i| (speeds[1][i] - speeds[0][i]) * RATE / 3.0)
        .collect())
}

/// Largest mean speed [m/s] in the half second after a tilt that took a second.
fn speed_after_tilt(
    context: &Context<'_>,
    friction_angle: f64,
    degrees: f64,
) -> Result<f64, ValidateError> {
    let mut trial = settled(context, friction_angle, degrees, 1.0)?;
    trial.advance(RATE as u32)?;
    let mut fastest = 0.0f64;
    for _ in 0..RATE as u32 / 2 {
        trial.advance(1)?;
        fastest = fastest.max(mean_velocity(&trial.particles()?).x.abs());
    }
    Ok(fastest)
}

/// Layers that the stuck base does not reach in 0.3 s.
const FREE: std::ops::Range<usize> = 9..19;

fn rough_incline(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let exact = expected(25.0, 35.0);
    let layers = accelerations(context, 25.0, 35.0)?;
    let free = &layers[FREE];
    let worst = free
        .iter()
        .copied()
        .max_by(|a, b| (a - exact).abs().total_cmp(&(b - exact).abs()))
        .unwrap_or(f64::NAN);
    let band = Band::around(exact, 0.05);
    let softer = accelerations(context, 20.0, 35.0)?;
    let control = softer[FREE].iter().sum::<f64>() / softer[FREE].len() as f64;
    let rests = speed_after_tilt(context, 25.0, 27.0)?;
    let flows = speed_after_tilt(context, 25.0, 35.0)?;
    let points = |values: &[f64]| -> Vec<[f64; 2]> {
        values
            .iter()
            .enumerate()
            .map(|(i, a)| [i as f64 + 0.5, *a])
            .collect()
    };
    Ok(Outcome {
        physics: "On a slope steeper than its steady friction allows, every layer of an infinite slab accelerates alike, at \
                  g cos θ (tan θ − μ_ss); on a gentler one it rests."
            .into(),
        setup: "3D, periodic 8 × 8 cells, 20 cells deep, sticky base, isotropic start. Triaxial cone, φ = 25°: μ_ss = 3α/√2 = \
                0.568, flows above 29.6°."
            .into(),
        reference: "Derived from the cone of [Klar16]. Judged from the tenth cell on: below, the viscosity of the transfers ties layers to the stuck base.".into(),
        plots: vec![
            Plot::new(
                "Acceleration of the layers at 35°",
                Axis::new("height above the base [cells]"),
                Axis::new("acceleration [m/s²]"),
            )
            .with_level_band("± 5 %, judged", 9.0, 19.0, 0.95 * exact, 1.05 * exact)
            .with(Style::Reference, "g cos θ (tan θ − μ_ss)", &[[0.0, exact], [19.0, exact]])
            .with(Style::Points, "mpm, φ = 25°", &points(&layers))
            .with(Style::Control, "control: φ = 20°", &points(&softer)),
        ],
        checks: vec![
            Check::new("acceleration of the layer that is farthest off, φ = 25°, 35°", worst, "m/s²", band),
            Check::control("mean acceleration with φ = 20°", control, "m/s²", band),
            Check::new("speed half a second after a tilt to 27°", rests, "m/s", Band::below(0.02)),
            Check::control("the same after a tilt to 35°", flows, "m/s", Band::below(0.02)),
        ],
        notes: vec![
            "A slab on Poisson samples that is tilted at once instead of over a second does not rest at 27°; see docs/validation.md.".into(),
        ],
    })
}

// ---- E4 ----

/// A ridge of sand, steeper than it can stand, in a slice four cells thick that repeats along z. Gravity comes on slowly.
fn ridge(friction_angle: f64, start_slope: f64, apex: f64) -> String {
    let (sin, cos) = start_slope.to_radians().sin_cos();
    format!(
        r#"
frame_rate = 10
gravity = {{ keyframes = [{{ time = 0, value = [0, -0.01, 0] }}, {{ time = 0.6, value = [0, -9.81, 0] }}] }}
domain = {{ min = [-2, -1, -0.02], max = [2, 2, 0.02], periodic = ["z"] }}
[solver]
resolution = 0.01
[materials.sand]
density = 1600
young = 2e5
friction_angle = {friction_angle}
[[collider]]
name = "plate"
shape = {{ half_space = {{ normal = [0, 1, 0] }} }}
boundary = "sticky"
[[fill]]
material = "sand"
shape = {{ intersection = [
    {{ half_space = {{ point = [0, {apex}, 0], normal = [{sin}, {cos}, 0] }} }},
    {{ half_space = {{ point = [0, {apex}, 0], normal = [-{sin}, {cos}, 0] }} }},
    {{ box = {{ min = [-0.5, 0, -0.02], max = [0.5, 0.5, 0.02] }} }},
] }}
"#
    )
}

/// Where the law loses ellipticity on a slope, for ν = 0.3 and φ = 20, 25, 30, 35, 40° [degrees]: the table of
/// docs/validation.md, which tests/localization.rs of barchan-sim computes.
const LOCALISATION: [[f64; 2]; 5] = [
    [20.0, 21.9],
    [25.0, 25.7],
    [30.0, 28.6],
    [35.0, 30.6],
    [40.0, 31.8],
];

const SLOPE_LIMIT: &str = "The law loses ellipticity before uniform shear reaches its limit [Rudnicki75]: its flow keeps volume \
    while its strength grows with pressure, and bands form that carry less. Slopes end where that happens, see docs/validation.md.";

fn slope_at_rest(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let mut slopes = vec![];
    let mut checks = vec![];
    for (angle, apex) in [(20.0, 0.23), (25.0, 0.27), (30.0, 0.32), (35.0, 0.34f64)] {
        let start = flow_ratio(angle).asin().to_degrees() + 3.0;
        let label = format!("ridge, φ = {angle}°");
        let mut trial = Trial::start(context, label, 15, &ridge(angle, start, apex))?;
        trial.advance(15)?;
        let slope = trial.measure()?.slope_angle_deg.unwrap_or(f64::NAN);
        slopes.push([angle, slope]);
        let flow = flow_ratio(angle).atan().to_degrees();
        let known = crate::fit::interpolate(&LOCALISATION, angle);
        checks.push(
            Check::new(
                format!("slope, φ = {angle}°"),
                slope,
                "°",
                Band::between(flow - 3.0, flow + 3.0),
            )
            .limited(Band::between(known - 1.5, known + 1.5), SLOPE_LIMIT),
        );
    }
    let flow = |angle: f64| flow_ratio(angle).atan().to_degrees();
    checks.push(Check::control(
        "slope of 20° against the band of 25°",
        slopes[0][1],
        "°",
        Band::between(flow(25.0) - 3.0, flow(25.0) + 3.0),
    ));
    let steps: Vec<f64> = (0..=20).map(|i| 18.0 + f64::from(i) * 0.95).collect();
    let band: Vec<[f64; 3]> = steps
        .iter()
        .map(|a| [*a, flow(*a) - 3.0, flow(*a) + 3.0])
        .collect();
    let curve: Vec<[f64; 2]> = steps.iter().map(|a| [*a, flow(*a)]).collect();
    Ok(Outcome {
        physics: "Sand comes to rest at a slope that grows with its friction angle.".into(),
        setup: "3D, a ridge in a slice four cells thick that repeats, dx = 1 cm, triaxial cone, starts 3° above the steepest \
                plane-strain slope; gravity comes on over 0.6 s."
            .into(),
        reference: "Within 3° of the slope at which steady simple shear flows, tan θ = 3α/√2, derived from the cone of [Klar16].".into(),
        plots: vec![
            Plot::new(
                "Slope at rest",
                Axis::new("friction angle φ [°]"),
                Axis::new("slope [°]"),
            )
            .with_band("± 3°", &band)
            .with(Style::Reference, "steady simple shear", &curve)
            .with(Style::Dashed, "loss of ellipticity [Rudnicki75]", &LOCALISATION)
            .with(Style::Points, "mpm", &slopes),
        ],
        checks,
        notes: vec![],
    })
}
