//! E4: slopes at rest.

use super::element::flow_ratio;
use crate::fit::interpolate;
use crate::outcome::{Band, Check, Outcome};
use crate::plot::{Axis, Plot, Style};
use crate::scene::scene;
use crate::trial::Trial;
use crate::{Case, Context, ValidateError};

/// Slope against friction angle.
pub const E4: Case = Case {
    name: "E4",
    title: "Slope at rest against friction angle",
    solvers: &["mpm"],
    seconds: 25.0,
    run: slope_at_rest,
};

/// Friction angles [degrees] and heights of the ridges [m].
const RIDGES: [[f64; 2]; 4] = [[20.0, 0.23], [25.0, 0.27], [30.0, 0.32], [35.0, 0.34]];

/// Where the law loses ellipticity on a slope, for ν = 0.3 and φ = 20, 25, 30, 35, 40° [degrees]. D6 computes these angles, and a
/// test compares them.
pub(super) const LOCALIZATION: [[f64; 2]; 5] = [
    [20.0, 21.9],
    [25.0, 25.7],
    [30.0, 28.6],
    [35.0, 30.6],
    [40.0, 31.8],
];

const SLOPE_LIMIT: &str = "The law loses ellipticity before uniform shear reaches its limit [Rudnicki75]: its flow preserves volume \
    while its strength grows with pressure, and shear bands form that carry less. Slopes come to rest where that happens; see \
    docs/validation.md.";

/// Slope at which steady simple shear flows [degrees].
fn flow_angle(friction_angle: f64) -> f64 {
    flow_ratio(friction_angle).atan().to_degrees()
}

/// Steepest slope in plane strain [degrees].
fn plane_strain_angle(friction_angle: f64) -> f64 {
    flow_ratio(friction_angle).asin().to_degrees()
}

/// Within 3° of steady simple shear.
fn near_flow(friction_angle: f64) -> Band {
    let flow = flow_angle(friction_angle);
    Band::between(flow - 3.0, flow + 3.0)
}

/// Within 1.5° of where the law loses ellipticity.
fn near_bands(friction_angle: f64) -> Band {
    let bands = interpolate(&LOCALIZATION, friction_angle);
    Band::between(bands - 1.5, bands + 1.5)
}

/// Final slope [degrees] of a ridge that starts 3° above the steepest slope in plane strain.
fn slope_of(context: &Context<'_>, [angle, apex]: [f64; 2]) -> Result<f64, ValidateError> {
    let (sin, cos) = (plane_strain_angle(angle) + 3.0).to_radians().sin_cos();
    let mut scene = scene!("ridge").set("materials.sand.friction_angle", angle);
    for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
        let flank = format!("fill.ridge.shape.intersection.{side}.half_space");
        scene = scene
            .set(&format!("{flank}.point"), vec![0.0, apex, 0.0])
            .set(&format!("{flank}.normal"), vec![sign * sin, cos, 0.0]);
    }
    let mut trial = Trial::start(context, format!("ridge, φ = {angle}°"), 15, scene)?;
    trial.advance(15)?;
    Ok(trial.measure()?.slope_angle_deg.unwrap_or(f64::NAN))
}

/// Checks of the slope of one ridge.
fn checks_of(angle: f64, slope: f64) -> Vec<Check> {
    let check = |what: String, band| Check::new(what, slope, "°", band);
    let near = check(format!("slope, φ = {angle}°"), near_flow(angle));
    // The weakest direction of the cone is triaxial compression.
    let weakest = angle.to_radians().sin().atan().to_degrees();
    let mut checks = vec![
        match angle <= 20.0 {
            true => near,
            false => near.limited(near_bands(angle), SLOPE_LIMIT),
        },
        check(
            format!("slope, φ = {angle}°, between triaxial compression and plane strain"),
            Band::between(weakest, plane_strain_angle(angle)),
        ),
        check(
            format!("slope, φ = {angle}°, near the loss of ellipticity"),
            near_bands(angle),
        ),
    ];
    // Above 30° the angles at which bands form are too close to be distinguished.
    for other in [angle - 5.0, angle + 5.0] {
        if (20.0..=30.0).contains(&angle) && (20.0..=30.0).contains(&other) {
            checks.push(Check::control(
                format!("slope, φ = {angle}°, near the loss of ellipticity for φ = {other}°"),
                slope,
                "°",
                near_bands(other),
            ));
        }
    }
    checks
}

fn slope_at_rest(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let mut slopes: Vec<[f64; 2]> = vec![];
    let mut checks = vec![];
    for &ridge in context.pick(&[RIDGES[0], RIDGES[2]][..], &RIDGES) {
        let (angle, slope) = (ridge[0], slope_of(context, ridge)?);
        checks.extend(checks_of(angle, slope));
        if let Some([before, gentler]) = slopes.last().copied() {
            let least = if angle > 30.0 { 0.0 } else { 2.0 };
            let what = format!("slope, φ = {angle}°, less slope, φ = {before}°");
            checks.push(Check::new(what, slope - gentler, "°", Band::above(least)));
        }
        slopes.push([angle, slope]);
    }
    let what = "slope, φ = 20°, against the band for φ = 25°";
    checks.push(Check::control(what, slopes[0][1], "°", near_flow(25.0)));
    Ok(Outcome {
        physics: "Sand comes to rest at a slope that grows with its friction angle.".into(),
        setup: "3D, a ridge in a periodic slice four cells thick, dx = 1 cm, triaxial cone, initially 3° above the steepest \
                plane-strain slope; gravity is ramped up over 0.6 s."
            .into(),
        reference: "Within 3° of the slope at which steady simple shear flows, tan θ = 3α/√2, derived from the cone of [Klar16]; \
                    within 1.5° of where the law loses ellipticity [Rudnicki75]."
            .into(),
        plots: vec![plot(&slopes)],
        checks,
        notes: vec![],
    })
}

fn plot(slopes: &[[f64; 2]]) -> Plot {
    let steps = || (0..=20).map(|i| 18.0 + f64::from(i) * 0.95);
    let flow: Vec<[f64; 2]> = steps().map(|a| [a, flow_angle(a)]).collect();
    let band: Vec<[f64; 3]> = flow
        .iter()
        .map(|f| [f[0], f[1] - 3.0, f[1] + 3.0])
        .collect();
    Plot::new(
        "Slope at rest",
        Axis::new("friction angle φ [°]"),
        Axis::new("slope [°]"),
    )
    .with_band("± 3°", &band)
    .with(Style::Reference, "steady simple shear", &flow)
    .with(
        Style::Dashed,
        "loss of ellipticity [Rudnicki75]",
        &LOCALIZATION,
    )
    .with(Style::Points, "mpm", slopes)
}
