//! Drucker–Prager plasticity with Hencky elasticity, after [Klar16] §7 with the volume correction of [Tampubolon17].
//!
//! The cone is ‖dev τ‖ + α tr τ ≤ c_C. With k = (dλ + 2μ)/2μ it reads, in principal Hencky strains,
//!
//! ```text
//! ‖ε̂‖ + k α tr ε ≤ c_C/2μ          ε̂ = ε − (tr ε/d) 1
//! ```
//!
//! A trial outside is sent to the tip when tr ε ≥ tr ε_tip = (c_C/2μ)/(k α), else to the side along ε̂, which keeps the
//! volume. Order of the cases: tip, elastic, side.
//! Differs from [Klar16]: the printed order keeps tension when α = 0, and reversed it loses hydrostatic pressure.

use super::hencky::{self, Lame};
use super::{ConstitutiveLaw, FlagColumn, StateColumn};
use crate::math::scalar::dot;
use crate::math::sym3::Mat3;
use crate::math::{Scalar, Sym3};
use barchan_frame::Unit;
use barchan_scene::{ConeMatch, Dimensions, Friction, MpmMaterial, SandLaw};

/// b − I, τ, q and v_c.
pub(super) const ROWS: usize = 14;

/// α of a friction angle φ [rad]; docs/solvers/mpm.md explains the matches.
pub fn alpha(phi: f64, cone: ConeMatch, dimensions: Dimensions) -> f64 {
    alpha_of_sin(phi.sin(), cone, dimensions)
}

/// α of sin φ: Eq. 31 for the triaxial match; the plane-strain match in 3D and in 2D.
#[inline(always)]
fn alpha_of_sin<T: Scalar>(sin: T, cone: ConeMatch, dimensions: Dimensions) -> T {
    let c = |v: f64| sin.constant(v);
    match (cone, dimensions) {
        (ConeMatch::Triaxial, _) => c(2.0 * (2.0f64 / 3.0).sqrt()) * sin / (c(3.0) - sin),
        (ConeMatch::PlaneStrain, Dimensions::Three) => c(std::f64::consts::SQRT_2 / 3.0) * sin,
        (ConeMatch::PlaneStrain, Dimensions::Two) => c(std::f64::consts::FRAC_1_SQRT_2) * sin,
    }
}

/// c_C [Pa] of a Coulomb cohesion [Pa] at friction angle φ [rad], so that cone and Mohr–Coulomb agree in the same test as α.
/// It bounds the Kirchhoff stress; the Cauchy value is c_C/J.
pub fn cone_cohesion(cohesion: f64, phi: f64, cone: ConeMatch) -> f64 {
    match cone {
        ConeMatch::Triaxial => 2.0 * 6.0f64.sqrt() * cohesion * phi.cos() / (3.0 - phi.sin()),
        ConeMatch::PlaneStrain => std::f64::consts::SQRT_2 * cohesion * phi.cos(),
    }
}

/// Friction angle [degrees] at hardening state q, Eq. 30.
pub fn friction_angle(friction: Friction, q: f64) -> f64 {
    match friction {
        Friction::Constant(angle) => angle,
        Friction::Hardening { h0, h1, h2, h3 } => h0 + (h1 * q - h3) * (-h2 * q).exp(),
    }
}

/// A sand law prepared for stepping.
#[derive(Debug, Clone, Copy)]
pub struct Sand {
    lambda: f64,
    mu: f64,
    /// (dλ + 2μ)/2μ.
    k: f64,
    /// c_C/2μ.
    cohesion: f64,
    friction: Friction,
    constant_alpha: f64,
    cone: ConeMatch,
    dimensions: Dimensions,
    volume_correction: bool,
}

/// Result of a projection in principal space.
#[derive(Debug, Clone, Copy)]
pub struct Projection<T> {
    /// Principal Hencky strains on or inside the cone.
    pub strain: [T; 3],
    /// Increment of the hardening state.
    pub hardening: T,
    /// Log volume gained in tension and not yet recompressed, v_c.
    pub volume_gain: T,
    /// 0 elastic (Case I, inside the cone), 1 tip (II, grains separate), 2 side (III, grains slide).
    pub case: T,
}

/// Result of a return mapping: the strain as a factor on the deviator and a mean, and the new internal variables.
struct Return<T> {
    keep: T,
    mean: T,
    hardening: T,
    volume_gain: T,
    case: T,
}

/// State of a sand particle.
#[derive(Debug, Clone, Copy)]
pub struct SandState<T> {
    /// b − I of the elastic part.
    pub strain: Sym3<T>,
    /// Hardening state q.
    pub hardening: T,
    /// Volume correction v_c.
    pub volume_gain: T,
}

/// Result of a step of the law.
#[derive(Debug, Clone, Copy)]
pub struct SandResponse<T> {
    /// New state.
    pub state: SandState<T>,
    /// Kirchhoff stress [Pa].
    pub stress: Sym3<T>,
    /// As [`Projection::case`].
    pub case: T,
}

impl<T: Scalar> SandState<T> {
    /// Response to this trial state. An elastic step returns it to the last bit: no drift through logarithm and exponential.
    #[inline(always)]
    fn respond(
        &self,
        rebuilt: Sym3<T>,
        stress: Sym3<T>,
        (hardening, volume_gain, case): (T, T, T),
    ) -> SandResponse<T> {
        let zero = case.constant(0.0);
        let untouched = case.equals(zero) & self.volume_gain.equals(zero);
        SandResponse {
            state: Self {
                strain: Sym3::select(untouched, self.strain, rebuilt),
                hardening: self.hardening + hardening,
                volume_gain,
            },
            stress,
            case,
        }
    }
}

impl<T: Scalar> SandResponse<T> {
    /// Component-wise selection.
    #[inline(always)]
    fn select(mask: T::Mask, a: Self, b: Self) -> Self {
        Self {
            state: SandState {
                strain: Sym3::select(mask, a.state.strain, b.state.strain),
                hardening: T::select(mask, a.state.hardening, b.state.hardening),
                volume_gain: T::select(mask, a.state.volume_gain, b.state.volume_gain),
            },
            stress: Sym3::select(mask, a.stress, b.stress),
            case: T::select(mask, a.case, b.case),
        }
    }
}

impl Sand {
    /// Prepares a law.
    pub fn new(law: &SandLaw, calibration: MpmMaterial, dimensions: Dimensions) -> Self {
        let (lambda, mu) = super::lame(law.young, law.poisson);
        let d = dimensions.count() as f64;
        let phi = law.friction.last_angle().to_radians();
        let cone = calibration.cone_in(dimensions);
        Self {
            lambda,
            mu,
            k: (d * lambda + 2.0 * mu) / (2.0 * mu),
            cohesion: cone_cohesion(law.cohesion, phi, cone) / (2.0 * mu),
            friction: law.friction,
            constant_alpha: alpha(phi, cone, dimensions),
            cone,
            dimensions,
            volume_correction: calibration.volume_correction,
        }
    }

    /// Lamé parameters as `T`.
    #[inline(always)]
    pub fn lame<T: Scalar>(&self, like: T) -> Lame<T> {
        Lame {
            lambda: like.constant(self.lambda),
            mu: like.constant(self.mu),
        }
    }

    /// Slope of the cone at hardening state q, Eq. 30–31.
    #[inline(always)]
    pub fn alpha<T: Scalar>(&self, q: T) -> T {
        match self.friction {
            Friction::Constant(_) => q.constant(self.constant_alpha),
            Friction::Hardening { h0, h1, h2, h3 } => {
                let radians = |v: f64| q.constant(v.to_radians());
                let decay = (q.constant(-h2) * q).exp_m1() + q.constant(1.0);
                let phi = (radians(h1) * q - radians(h3)).mul_add(decay, radians(h0));
                alpha_of_sin(phi.sin_quadrant(), self.cone, self.dimensions)
            }
        }
    }

    /// Z of Eq. 17 in principal space.
    #[inline(always)]
    pub fn project<T: Scalar, const D: usize>(
        &self,
        trial: [T; 3],
        volume_gain: T,
        alpha: T,
    ) -> Projection<T> {
        let trace = trial[0] + trial[1] + trial[2];
        let mean = trace * trace.constant(1.0 / D as f64);
        let mut deviator = trial;
        for i in 0..D {
            deviator[i] = deviator[i] - mean;
        }
        let norm = dot(deviator, deviator).sqrt();
        let returned = self.return_to_cone::<T, D>(trace, norm, volume_gain, alpha);
        let elastic = returned.case.equals(trace.constant(0.0));
        let mut strain = trial;
        for i in 0..D {
            let projected = returned.keep.mul_add(deviator[i], returned.mean);
            strain[i] = T::select(elastic, trial[i] + (returned.mean - mean), projected);
        }
        Projection {
            strain,
            hardening: returned.hardening,
            volume_gain: returned.volume_gain,
            case: returned.case,
        }
    }

    /// Cases I–III of Eq. 27–28, hardening increment and volume correction, for a trial strain of this trace and this
    /// norm of the deviator, on which alone they depend.
    #[inline(always)]
    fn return_to_cone<T: Scalar, const D: usize>(
        &self,
        trial_trace: T,
        norm: T,
        volume_gain: T,
        alpha: T,
    ) -> Return<T> {
        let c = |v: f64| volume_gain.constant(v);
        let (zero, one, per_axis) = (c(0.0), c(1.0), c(1.0 / D as f64));
        let volume_gain = if self.volume_correction {
            volume_gain
        } else {
            zero
        };
        // The shift by v_c/d is isotropic: it changes the trace, not the deviator.
        let trace = trial_trace + volume_gain;
        let k_alpha = c(self.k) * alpha;
        let cohesion = c(self.cohesion);
        // Without friction and with cohesion the cone is a cylinder and has no tip.
        let tip_trace = if self.cohesion > 0.0 {
            cohesion / k_alpha.max(c(1e-12))
        } else {
            zero
        };
        let excess = norm + k_alpha * trace - cohesion; // δγ
        let at_tip = trace.ge(tip_trace);
        let inside = zero.ge(excess);

        let side = one - excess / T::select(zero.ge(norm), one, norm);
        let keep = T::select(at_tip, zero, T::select(inside, one, side));
        let mean = per_axis * T::select(at_tip, tip_trace, trace);
        // Differs from [Klar16]: Case II hardens by the trial strain; the projected one is zero.
        let beyond_tip = trial_trace - tip_trace;
        let to_tip = norm
            .mul_add(norm, per_axis * beyond_tip * beyond_tip)
            .sqrt();
        let hardening = T::select(at_tip, to_tip, T::select(inside, zero, excess));
        let volume_gain = if self.volume_correction {
            // Differs from [Tampubolon17] Eq. 26: its sign would compress by the volume gained.
            let gain = volume_gain + beyond_tip;
            T::select(at_tip, gain.max(zero), zero)
        } else {
            zero
        };
        let case = T::select(at_tip, one, T::select(inside, zero, c(2.0)));
        Return {
            keep,
            mean,
            hardening,
            volume_gain,
            case,
        }
    }

    /// Advances a particle: elastic trial by `increment` = Δt ∇v (Eq. 16), projection (Eq. 17), hardening (Eq. 29), stress.
    #[inline(always)]
    pub fn advance<T: Scalar, const D: usize>(
        &self,
        state: SandState<T>,
        increment: &Mat3<T>,
    ) -> SandResponse<T> {
        let strain = state.strain.pushed_forward(increment);
        self.project_state::<T, D>(SandState { strain, ..state })
    }

    /// Return mapping of a trial state: projection (Eq. 17), hardening (Eq. 29), stress.
    #[inline(always)]
    pub fn project_state<T: Scalar, const D: usize>(&self, state: SandState<T>) -> SandResponse<T> {
        if T::SERIES_RANGE == 0.0 {
            return self.respond_by_eigenvectors::<T, D>(&state);
        }
        let y = hencky::traceless_part::<T, D>(state.strain);
        let range = y.xx.constant(T::SERIES_RANGE * T::SERIES_RANGE);
        let small = range.ge(y.norm_squared());
        let response = self.respond_by_series::<T, D>(&state, y);
        if T::all(small) {
            return response;
        }
        let exact = self.respond_by_eigenvectors::<T, D>(&state);
        SandResponse::select(small, response, exact)
    }

    /// Projection, state and stress of a small trial strain with traceless part y.
    #[inline(always)]
    fn respond_by_series<T: Scalar, const D: usize>(
        &self,
        state: &SandState<T>,
        y: Sym3<T>,
    ) -> SandResponse<T> {
        let strain = hencky::split_strain::<T, D>(state.strain, y);
        let norm = strain.deviator.norm_squared().sqrt();
        let alpha = self.alpha(state.hardening);
        let r = self.return_to_cone::<T, D>(strain.trace, norm, state.volume_gain, alpha);
        let deviator = strain.deviator.times(r.keep);
        let lame = self.lame(r.mean);
        let two_mu = lame.mu + lame.mu;
        let bulk = lame.lambda.mul_add(r.mean.constant(D as f64), two_mu);
        let mut stress = deviator.times(two_mu).plus_identity::<D>(bulk * r.mean);
        if D == 2 {
            // Plane strain: no strain across the plane, but a stress.
            stress.zz = lame.lambda * (r.mean + r.mean);
        }
        let rebuilt = hencky::left_cauchy_green_m1::<T, D>(r.mean, deviator);
        state.respond(rebuilt, stress, (r.hardening, r.volume_gain, r.case))
    }

    /// Projection, state and stress of any trial strain, by its eigenvectors.
    #[inline(always)]
    fn respond_by_eigenvectors<T: Scalar, const D: usize>(
        &self,
        state: &SandState<T>,
    ) -> SandResponse<T> {
        let eigen = state.strain.eigen::<D>();
        let strain = hencky::strain_from_eigenvalues(eigen.values);
        let p = self.project::<T, D>(strain, state.volume_gain, self.alpha(state.hardening));
        let rebuilt = Sym3::from_eigen(hencky::eigenvalues_from_strain(p.strain), &eigen.vectors);
        let principal = hencky::stress(p.strain, self.lame(p.case));
        let stress = Sym3::from_eigen(principal, &eigen.vectors);
        state.respond(rebuilt, stress, (p.hardening, p.volume_gain, p.case))
    }
}

impl ConstitutiveLaw<ROWS> for Sand {
    const COLUMNS: &'static [StateColumn] = &[
        super::STRAIN,
        super::STRESS,
        StateColumn::new("hardening", 1, Unit::One, "hardening state q"),
        StateColumn {
            initial: |samples| samples.volume_gain,
            ..StateColumn::new("volume_gain", 1, Unit::One, "log volume gained in tension")
        },
    ];

    const FLAG: Option<FlagColumn> = Some(FlagColumn {
        name: "plastic_case",
        meaning: "last projection: 0 elastic, 1 tip (separating), 2 side (sliding)",
    });

    fn wave_speed(&self, density: f64) -> f64 {
        super::compression_wave_speed(self.lambda, self.mu, density)
    }

    #[inline(always)]
    fn return_map<T: Scalar, const D: usize>(&self, trial: [T; ROWS]) -> ([T; ROWS], T) {
        let r = self.project_state::<T, D>(SandState {
            strain: super::strain_of(&trial),
            hardening: trial[12],
            volume_gain: trial[13],
        });
        let mut state = trial;
        state[..6].copy_from_slice(&r.state.strain.to_array());
        state[6..12].copy_from_slice(&r.stress.to_array());
        (state[12], state[13]) = (r.state.hardening, r.state.volume_gain);
        (state, r.case)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use barchan_scene::load_file;
    use proptest::prelude::*;

    fn sand(dimensions: Dimensions) -> Sand {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/tests/balls.toml");
        let scene = load_file(file, &["materials.sand.hardening=[35, 9, 0.3, 10]"]).unwrap();
        match &scene.materials[0].law {
            barchan_scene::Law::Sand(law) => {
                Sand::new(law, scene.materials[0].settings(), dimensions)
            }
            barchan_scene::Law::Elastic(_) => unreachable!(),
        }
    }

    fn state<T: Scalar>(like: T, e: [f64; 6], q: f64, gain: f64) -> SandState<T> {
        SandState {
            strain: Sym3::from_array(e.map(|v| like.constant(v))),
            hardening: like.constant(q),
            volume_gain: like.constant(gain),
        }
    }

    /// Largest difference between two responses, as a fraction of the larger of `scale` (of a strain) and the strain.
    fn difference<A: Scalar + Into<f64>, B: Scalar + Into<f64>>(
        a: &SandResponse<A>,
        b: &SandResponse<B>,
        scale: f64,
        modulus: f64,
    ) -> f64 {
        let pairs = |a: Sym3<A>, b: Sym3<B>| {
            let both = a.to_array().into_iter().zip(b.to_array());
            both.map(|(a, b)| (a.into() - b.into()).abs())
                .fold(0.0, f64::max)
        };
        let strain = pairs(a.state.strain, b.state.strain);
        let stress = pairs(a.stress, b.stress) / modulus;
        let gain = a.state.volume_gain.into() - b.state.volume_gain.into();
        let q = a.state.hardening.into() - b.state.hardening.into();
        strain.max(stress).max(gain.abs()).max(q.abs()) / scale
    }

    proptest! {
        /// The series in f32 against eigenvectors in f64, over the whole range in which they are used.
        #[test]
        fn series_agree_with_eigenvectors(c in prop::array::uniform6(-1.0f64..1.0), size in -6.0f64..-1.0,
                                          mean in -0.1f64..0.02, gain in 0.0f64..0.05, flat in any::<bool>()) {
            let mut e = c.map(|v| v * 10f64.powf(size) * 0.4);
            for i in 0..if flat { 2 } else { 3 } {
                e[i] += mean * 10f64.powf(size + 1.0);
            }
            if flat {
                for i in 2..5 {
                    e[i] = 0.0;
                }
            }
            let e = e.map(|v| f64::from(v as f32));
            let gain = f64::from((gain * 10f64.powf(size + 1.0)) as f32);
            let (single, double) = (state(0f32, e, 0.0, gain), state(0f64, e, 0.0, gain));
            let scale = e.iter().map(|v| v.abs()).fold(gain, f64::max).max(1e-30);
            let modulus = 1e6;
            let error = if flat {
                let sand = sand(Dimensions::Two);
                let zero = [[0f32; 3]; 3];
                let y = hencky::traceless_part::<f32, 2>(single.strain);
                prop_assume!(y.norm_squared().sqrt() <= 0.125);
                let a = sand.advance::<f32, 2>(single, &zero);
                difference(&a, &sand.advance::<f64, 2>(double, &[[0.0; 3]; 3]), scale, modulus)
            } else {
                let sand = sand(Dimensions::Three);
                let y = hencky::traceless_part::<f32, 3>(single.strain);
                prop_assume!(y.norm_squared().sqrt() <= 0.125);
                let a = sand.advance::<f32, 3>(single, &[[0f32; 3]; 3]);
                difference(&a, &sand.advance::<f64, 3>(double, &[[0.0; 3]; 3]), scale, modulus)
            };
            prop_assert!(error < 2e-6, "{error:e}");
        }
    }

    /// Negative control: beyond its range the series is wrong, and `advance` does not use it there.
    #[test]
    fn series_are_not_used_beyond_their_range() {
        let sand = sand(Dimensions::Three);
        let e = [-0.7, -0.1, -0.3, 0.1, 0.0, 0.2];
        let (single, double) = (state(0f32, e, 0.0, 0.0), state(0f64, e, 0.0, 0.0));
        let exact = sand.advance::<f64, 3>(double, &[[0.0; 3]; 3]);
        let used = sand.advance::<f32, 3>(single, &[[0f32; 3]; 3]);
        assert!(difference(&used, &exact, 1.0, 1e6) < 2e-6);
        let y = hencky::traceless_part::<f32, 3>(single.strain);
        let series = sand.respond_by_series::<f32, 3>(&single, y);
        assert!(difference(&series, &exact, 1.0, 1e6) > 10.0 * 2e-6);
    }
}
