//! Where uniform shear of sand stops being the only answer: loss of ellipticity of the law as coded, in f64.
//!
//! A layer that was compressed by its weight, σ_xx = σ_zz = K₀ σ_yy, is sheared with σ_yy held. At yield, stress rates are
//! linear in the velocity gradient while loading goes on: dτ_ij = T_ijkl dG_kl. A band with normal n can deform on its own
//! as soon as det(n_i T_ijkl n_l) ≤ 0 [Rudnicki75].

use barchan_scene::{ConeMatch, Dimensions, Friction, SandLaw};
use barchan_sim::material::drucker_prager::{Sand, SandState};
use barchan_sim::math::Sym3;
use glam::{DMat3, DVec3};

type Gradient = [[f64; 3]; 3];

/// State at which bands become possible.
#[derive(Debug, Clone, Copy)]
pub struct Localization {
    /// Slope on which an infinite layer has this stress, atan(τ/σ_n) [degrees].
    pub slope: f64,
    /// Normal of the first band; x along the flow, y normal to the slope.
    pub normal: DVec3,
}

/// Shears a layer until bands are possible; `None` when they are not before uniform shear flows.
pub fn localization(friction_angle: f64, poisson: f64, k0: f64) -> Option<Localization> {
    const YOUNG: f64 = 1.0;
    /// Compression by the weight; small, so that strains stay far below 1.
    const WEIGHT: f64 = 1e-4 * YOUNG;
    const STEP: f64 = 1e-3 * WEIGHT / YOUNG;
    let law = SandLaw {
        young: YOUNG,
        poisson,
        friction: Friction::Constant(friction_angle),
        cohesion: 0.0,
        cone: ConeMatch::Triaxial,
        volume_correction: false,
    };
    let sand = Sand::new(&law, Dimensions::Three);
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
        if yields && let Some(normal) = band(&tangent(&sand, state, increment, 1e-3 * STEP)) {
            let slope = (response.stress.xy / response.stress.yy).abs().atan();
            return Some(Localization {
                slope: slope.to_degrees(),
                normal,
            });
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

/// Normal of a band that can deform on its own.
fn band(tangent: &[[DMat3; 3]; 3]) -> Option<DVec3> {
    const TURN: usize = 180;
    const RISE: usize = 9;
    for rise in 0..RISE {
        let (z, r) = (std::f64::consts::FRAC_PI_2 * rise as f64 / RISE as f64).sin_cos();
        for turn in 0..TURN {
            let (y, x) = (std::f64::consts::PI * turn as f64 / TURN as f64).sin_cos();
            let n = DVec3::new(r * x, r * y, z);
            let column = |k: usize| (0..3).map(|l| tangent[k][l] * n * n[l]).sum::<DVec3>();
            if DMat3::from_cols(column(0), column(1), column(2)).determinant() <= 0.0 {
                return Some(n);
            }
        }
    }
    None
}
