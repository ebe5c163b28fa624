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
use crate::math::sym3::Mat3;
use crate::math::{Scalar, Sym3};
use barchan_scene::{ConeMatch, Dimensions, Friction, SandLaw};

/// Which part of the cone the last projection found a particle at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum PlasticCase {
    /// Case I: inside the cone.
    Elastic = 0,
    /// Case II: projected to the tip; grains separate freely.
    Tip = 1,
    /// Case III: projected to the side; grains slide.
    Side = 2,
}

/// α of a friction angle φ [rad]; see docs/solvers/mpm.md for what each match means.
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

/// What a projection in principal space returns.
#[derive(Debug, Clone, Copy)]
pub struct Projection<T> {
    /// Principal Hencky strains on or inside the cone.
    pub strain: [T; 3],
    /// Increment of the hardening state.
    pub hardening: T,
    /// Log volume gained in tension and not yet recompressed, v_c.
    pub volume_gain: T,
    /// [`PlasticCase`] as a number.
    pub case: T,
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

/// What a step of the law returns beside the new state.
#[derive(Debug, Clone, Copy)]
pub struct SandResponse<T> {
    /// New state.
    pub state: SandState<T>,
    /// Kirchhoff stress [Pa].
    pub stress: Sym3<T>,
    /// [`PlasticCase`] as a number.
    pub case: T,
}

impl Sand {
    /// Prepares a law.
    pub fn new(law: &SandLaw, dimensions: Dimensions) -> Self {
        let (lambda, mu) = super::lame(law.young, law.poisson);
        let d = dimensions.count() as f64;
        let asymptote = match law.friction {
            Friction::Constant(angle) => angle,
            Friction::Hardening { h0, .. } => h0,
        };
        let phi = asymptote.to_radians();
        Self {
            lambda,
            mu,
            k: (d * lambda + 2.0 * mu) / (2.0 * mu),
            cohesion: cone_cohesion(law.cohesion, phi, law.cone) / (2.0 * mu),
            friction: law.friction,
            constant_alpha: alpha(phi, law.cone, dimensions),
            cone: law.cone,
            dimensions,
            volume_correction: law.volume_correction,
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

    /// Z of Eq. 17 in principal space: cases I–III, Eq. 27–28, hardening increment and volume correction.
    #[inline(always)]
    pub fn project<T: Scalar, const D: usize>(
        &self,
        trial: [T; 3],
        volume_gain: T,
        alpha: T,
    ) -> Projection<T> {
        let c = |v: f64| volume_gain.constant(v);
        let zero = c(0.0);
        let volume_gain = if self.volume_correction {
            volume_gain
        } else {
            zero
        };
        // The shift by v_c/d is isotropic: it changes the trace, not the deviator.
        let shift = volume_gain * c(1.0 / D as f64);
        let mut shifted = trial;
        for i in 0..D {
            shifted[i] = shifted[i] + shift;
        }
        let trial_trace = trial[0] + trial[1] + trial[2];
        let trace = trial_trace + volume_gain;
        let mean = trace * c(1.0 / D as f64);
        let mut deviator = shifted;
        for i in 0..D {
            deviator[i] = deviator[i] - mean;
        }
        let norm = norm(deviator);

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

        let shrink = excess / T::select(zero.ge(norm), c(1.0), norm);
        let tip = tip_trace * c(1.0 / D as f64);
        let (mut strain, mut to_tip) = (shifted, [zero; 3]);
        for i in 0..D {
            let side = shifted[i] - shrink * deviator[i];
            strain[i] = T::select(at_tip, tip, T::select(inside, shifted[i], side));
            to_tip[i] = trial[i] - tip;
        }
        // Differs from [Klar16]: Case II hardens by the trial strain; the projected one is zero.
        let hardening = T::select(at_tip, self::norm(to_tip), T::select(inside, zero, excess));
        let volume_gain = if self.volume_correction {
            // Differs from [Tampubolon17] Eq. 26: its sign would compress by what was gained.
            let kept = T::select(at_tip, tip_trace, trace);
            let gain = volume_gain + (trial_trace - kept);
            T::select(at_tip, gain.max(zero), zero)
        } else {
            zero
        };
        let case = T::select(at_tip, c(1.0), T::select(inside, zero, c(2.0)));
        Projection {
            strain,
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
        let trial = state.strain.pushed_forward(increment);
        let eigen = trial.eigen::<D>();
        let strain = hencky::strain_from_eigenvalues(eigen.values);
        let p = self.project::<T, D>(strain, state.volume_gain, self.alpha(state.hardening));

        let rebuilt = Sym3::from_eigen(hencky::eigenvalues_from_strain(p.strain), &eigen.vectors);
        let zero = p.case.constant(0.0);
        // An elastic step keeps the trial to the last bit: no drift through the decomposition.
        let untouched = T::and(p.case.equals(zero), state.volume_gain.equals(zero));
        let principal = hencky::stress(p.strain, self.lame(zero));
        SandResponse {
            state: SandState {
                strain: Sym3::select(untouched, trial, rebuilt),
                hardening: state.hardening + p.hardening,
                volume_gain: p.volume_gain,
            },
            stress: Sym3::from_eigen(principal, &eigen.vectors),
            case: p.case,
        }
    }
}

#[inline(always)]
fn norm<T: Scalar>(v: [T; 3]) -> T {
    v[0].mul_add(v[0], v[1].mul_add(v[1], v[2] * v[2])).sqrt()
}
