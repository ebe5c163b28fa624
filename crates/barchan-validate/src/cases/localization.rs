//! D6: the steepest stable layer of sand. It is limited by loss of ellipticity of the law, which occurs before uniform shear flows.
//!
//! A layer that was compressed by its weight, σ_xx = σ_zz = K₀ σ_yy, is sheared with σ_yy held. At yield, stress rates are
//! linear in the velocity gradient while loading goes on: dτ_ij = T_ijkl dG_kl. A band with normal n can deform on its own
//! as soon as det(n_i T_ijkl n_l) ≤ 0 [Rudnicki75].

use super::element::{TRIAXIAL, flow_ratio};
use crate::outcome::{Band, Check, Outcome};
use crate::plot::{Axis, Plot, Style};
use crate::scene::scene;
use crate::trial::{Trial, mean_velocity, smallest, tilted};
use crate::{Case, Context, ValidateError};
use barchan_scene::{Dimensions, Friction, SandLaw};
use barchan_sim::material::drucker_prager::{Sand, SandState};
use barchan_sim::math::Sym3;
use glam::{DMat3, DVec3};

/// Slopes of layers.
pub const D6: Case = Case {
    name: "D6",
    title: "The steepest layer and loss of ellipticity",
    solvers: &["mpm"],
    seconds: 40.0,
    run: steepest_layer,
};

/// Lateral over vertical stress of a layer that its weight compressed elastically.
fn at_rest(poisson: f64) -> f64 {
    poisson / (1.0 - poisson)
}

/// Slope above which steady simple shear flows [degrees].
fn flow_angle(friction_angle: f64) -> f64 {
    flow_ratio(friction_angle).atan().to_degrees()
}

/// Speed down the slope [m/s] after 1.5 s of a layer 20 cells deep, under gravity that comes on within half a second.
fn speed(
    context: &Context<'_>,
    friction_angle: f64,
    poisson: f64,
    degrees: f64,
) -> Result<f64, ValidateError> {
    let end = tilted(degrees);
    let start: Vec<f64> = end.iter().map(|g| 1e-3 * g).collect();
    let gravity = format!(
        "gravity={{ keyframes = [{{ time = 0, value = {start:?} }}, {{ time = 0.5, value = {end:?} }}] }}"
    );
    let along = context.pick(0.04, 0.08);
    let file = scene!("layer")
        .set("frame_rate", 10)
        .set("domain.max", vec![along, 2.0, 0.04])
        .set("solver.resolution", 0.01)
        .set("materials.sand.young", 1e6)
        .set("materials.sand.poisson", poisson)
        .set("materials.sand.friction_angle", friction_angle)
        .set("fill.sand.sampling", "poisson")
        .set("fill.sand.shape.box.max", vec![along, 0.2, 0.04])
        .set("collider.base.shape.half_space.point", vec![0.0; 3])
        .with(&[&gravity]);
    let label = format!("φ = {friction_angle}°, ν = {poisson}, {degrees:.1}°");
    let mut trial = Trial::start(context, label, 15, file)?;
    trial.advance(15)?;
    Ok(mean_velocity(&trial.particles()?).x)
}

const ANGLES: [f64; 5] = [20.0, 25.0, 30.0, 35.0, 40.0];

/// The slope at which bands become possible in a layer [degrees].
fn band_slope(friction_angle: f64, poisson: f64, k0: f64) -> Result<f64, ValidateError> {
    localization(friction_angle, poisson, k0)
        .ok_or_else(|| ValidateError::unusable("loss of ellipticity", "no band is possible"))
}

fn steepest_layer(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let all = [0.1, 0.2, 0.3, 0.4, 0.45];
    let ratios = context.pick(&all[2..3], &all);
    let before = Band::above(0.5);
    let mut plot = Plot::new(
        "Slope at which a layer yields",
        Axis::new("friction angle φ [°]"),
        Axis::new("slope [°]"),
    );
    plot = plot.with(
        Style::Reference,
        "uniform shear flows",
        &ANGLES.map(|angle| [angle, flow_angle(angle)]),
    );
    let (mut checks, mut usual) = (vec![], vec![]);
    for &poisson in ratios {
        let mut slopes = vec![];
        for angle in ANGLES {
            let slope = band_slope(angle, poisson, at_rest(poisson))?;
            slopes.push([angle, slope]);
            checks.push(Check::new(
                format!("slope at the loss of ellipticity, φ = {angle}°, ν = {poisson}"),
                slope,
                "°",
                Band::below(flow_angle(angle) - 0.5),
            ));
        }
        let early = smallest(
            slopes
                .iter()
                .map(|[angle, slope]| flow_angle(*angle) - slope),
        );
        let what = format!(
            "smallest difference of slope between loss of ellipticity and uniform shear flow, ν = {poisson}"
        );
        checks.push(Check::new(what, early, "°", before));
        plot = plot.with(
            Style::Curve,
            &format!("loss of ellipticity, ν = {poisson}"),
            &slopes,
        );
        if poisson == 0.3 {
            usual = slopes;
        }
    }
    let growth = smallest(usual.windows(2).map(|w| w[1][1] - w[0][1]));
    checks.push(Check::new(
        "smallest increase of the slope from one friction angle to the next, ν = 0.3",
        growth,
        "°",
        Band::above(0.0),
    ));
    for angle in ANGLES {
        let late = flow_angle(angle) - band_slope(angle, 0.3, 1.0)?;
        let what = format!("difference of slope with isotropic initial stress, φ = {angle}°");
        checks.push(Check::new(&what, late, "°", Band::between(-0.1, 0.1)));
        checks.push(Check::control(
            what + ", against a layer under its weight",
            late,
            "°",
            before,
        ));
    }
    let layers = [(30.0, 0.3), (25.0, 0.3), (35.0, 0.3), (35.0, 0.45)];
    for &(angle, poisson) in context.pick(&layers[..1], &layers) {
        let slope = band_slope(angle, poisson, at_rest(poisson))?;
        let rests = speed(context, angle, poisson, slope - 1.0)?.abs();
        let flows = speed(context, angle, poisson, slope + 1.5)?;
        let of = format!("speed of a layer, φ = {angle}°, ν = {poisson}");
        let still = Band::below(1e-3);
        checks.extend([
            Check::new(
                format!("{of}, 1° below the loss of ellipticity"),
                rests,
                "m/s",
                still,
            ),
            Check::new(
                format!("{of}, 1.5° above the loss of ellipticity"),
                flows,
                "m/s",
                Band::above(0.02),
            ),
            Check::control(
                format!("{of}, 1.5° above the loss of ellipticity, against rest"),
                flows,
                "m/s",
                still,
            ),
        ]);
    }
    Ok(Outcome {
        physics: "The flow rule preserves volume while the strength grows with pressure (non-associated). Such a law loses ellipticity \
                  before uniform shear reaches its limit, and shear bands form that carry less: no steeper layer is stable."
            .into(),
        setup: "Loss of ellipticity: the law in f64, compressed elastically by the weight, K₀ = ν/(1 − ν), then sheared. Layers: 3D, 20 \
                cells deep on a sticky base, 8 × 4 cells (quick: 4 × 4), periodic, gravity ramped up over half a second, speed after \
                1.5 s."
            .into(),
        reference: "det(n·T·n) = 0 [Rudnicki75]; steady simple shear flows at tan θ = 3α/√2.".into(),
        plots: vec![plot],
        checks,
        notes: vec![],
    })
}

// ---- Loss of ellipticity ----

/// A velocity gradient, by rows.
type Gradient = [[f64; 3]; 3];

/// Shears a layer until bands are possible: the slope atan(τ/σ_n) [degrees] on which an infinite layer has this stress;
/// `None` when they are not before uniform shear flows.
fn localization(friction_angle: f64, poisson: f64, k0: f64) -> Option<f64> {
    const YOUNG: f64 = 1.0;
    /// Compression by the weight; small, so that strains stay far below 1.
    const WEIGHT: f64 = 1e-4 * YOUNG;
    const STEP: f64 = 1e-3 * WEIGHT / YOUNG;
    let law = SandLaw {
        young: YOUNG,
        poisson,
        friction: Friction::Constant(friction_angle),
        cohesion: 0.0,
    };
    let sand = Sand::new(&law, TRIAXIAL, Dimensions::Three);
    let side = (k0 - poisson * (1.0 + k0)) * -WEIGHT / YOUNG;
    let down = (1.0 - 2.0 * poisson * k0) * -WEIGHT / YOUNG;
    let mut state = SandState {
        strain: Sym3::from_array([2.0 * side, 2.0 * down, 2.0 * side, 0.0, 0.0, 0.0]),
        hardening: 0.0,
        volume_gain: 0.0,
    };
    let modulus = YOUNG * (1.0 - poisson) / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
    for _ in 0..40_000 {
        let increment = sheared_step(&sand, state, STEP, WEIGHT, modulus);
        let response = sand.advance::<f64, 3>(state, &increment);
        let yields = response.case == 2.0;
        if yields && has_band(&tangent(&sand, state, increment, 1e-3 * STEP)) {
            let slope = (response.stress.xy / response.stress.yy).abs().atan();
            return Some(slope.to_degrees());
        }
        state = response.state;
    }
    None
}

/// A shear of `step` with the contraction along y that keeps σ_yy = −weight.
fn sheared_step(
    sand: &Sand,
    state: SandState<f64>,
    step: f64,
    weight: f64,
    modulus: f64,
) -> Gradient {
    let mut increment = [[0.0, step, 0.0], [0.0; 3], [0.0; 3]];
    for _ in 0..30 {
        let stress = sand.advance::<f64, 3>(state, &increment).stress;
        increment[1][1] -= (stress.yy + weight) / modulus;
    }
    increment
}

/// T_ijkl about a step that loads.
fn tangent(sand: &Sand, state: SandState<f64>, increment: Gradient, delta: f64) -> [[DMat3; 3]; 3] {
    let stress = |increment: &Gradient| {
        let rows = sand.advance::<f64, 3>(state, increment).stress.to_mat3();
        DMat3::from_cols_array_2d(&rows) // symmetric: rows are columns
    };
    std::array::from_fn(|k| {
        std::array::from_fn(|l| {
            let (mut more, mut less) = (increment, increment);
            more[k][l] += delta;
            less[k][l] -= delta;
            (stress(&more) - stress(&less)) * (0.5 / delta)
        })
    })
}

/// Whether some band can deform on its own.
fn has_band(tangent: &[[DMat3; 3]; 3]) -> bool {
    const TURN: usize = 180;
    const RISE: usize = 9;
    for rise in 0..RISE {
        let (z, r) = (std::f64::consts::FRAC_PI_2 * rise as f64 / RISE as f64).sin_cos();
        for turn in 0..TURN {
            let (y, x) = (std::f64::consts::PI * turn as f64 / TURN as f64).sin_cos();
            let n = DVec3::new(r * x, r * y, z);
            let column = |k: usize| (0..3).map(|l| tangent[k][l] * n * n[l]).sum::<DVec3>();
            if DMat3::from_cols(column(0), column(1), column(2)).determinant() <= 0.0 {
                return true;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::ridge::LOCALIZATION;
    use super::*;

    #[test]
    fn slopes_of_e4_are_those_of_the_law() {
        for [friction_angle, slope] in LOCALIZATION {
            let computed = localization(friction_angle, 0.3, at_rest(0.3)).unwrap_or(f64::NAN);
            assert!(
                (computed - slope).abs() < 0.06,
                "{friction_angle}° {computed}"
            );
        }
    }
}
