//! Hyperelastic solids in the same grid: neo-Hookean, fixed corotated, Hencky.

use super::hencky::{self, Lame};
use super::{ConstitutiveLaw, StateColumn};
use crate::math::sym3::Mat3;
use crate::math::{Scalar, Sym3};
use barchan_scene::{Dimensions, ElasticLaw, ElasticModel};

/// b − I and τ.
pub(super) const ROWS: usize = 12;

/// An elastic law prepared for stepping.
#[derive(Debug, Clone, Copy)]
pub struct Elastic {
    lambda: f64,
    mu: f64,
    model: ElasticModel,
}

impl Elastic {
    /// Prepares a law.
    pub fn new(law: &ElasticLaw, _: Dimensions) -> Self {
        let (lambda, mu) = super::lame(law.young, law.poisson);
        Self {
            lambda,
            mu,
            model: law.model,
        }
    }

    /// Advances b − I by `increment` = Δt ∇v and returns it with the Kirchhoff stress [Pa].
    #[inline(always)]
    pub fn advance<T: Scalar, const D: usize>(
        &self,
        strain: Sym3<T>,
        increment: &Mat3<T>,
    ) -> (Sym3<T>, Sym3<T>) {
        let strain = strain.pushed_forward(increment);
        (strain, self.stress::<T, D>(strain))
    }

    /// Kirchhoff stress [Pa] of e = b − I.
    #[inline(always)]
    pub fn stress<T: Scalar, const D: usize>(&self, e: Sym3<T>) -> Sym3<T> {
        let lame = Lame {
            lambda: e.xx.constant(self.lambda),
            mu: e.xx.constant(self.mu),
        };
        match self.model {
            ElasticModel::NeoHookean => neo_hookean::<T, D>(e, lame),
            ElasticModel::FixedCorotated => {
                let eigen = e.eigen::<D>();
                Sym3::from_eigen(fixed_corotated::<T, D>(eigen.values, lame), &eigen.vectors)
            }
            ElasticModel::Hencky => {
                let eigen = e.eigen::<D>();
                let strain = hencky::strain_from_eigenvalues(eigen.values);
                Sym3::from_eigen(hencky::stress(strain, lame), &eigen.vectors)
            }
        }
    }

    /// Energy per undeformed volume [J/m³] of e = b − I.
    pub fn energy<T: Scalar, const D: usize>(&self, e: Sym3<T>) -> T {
        let c = |v: f64| e.xx.constant(v);
        let (lambda, mu) = (c(self.lambda), c(self.mu));
        let x = e.eigen::<D>().values;
        let log_j = c(0.5) * (x[0].ln_1p() + x[1].ln_1p() + x[2].ln_1p());
        match self.model {
            ElasticModel::NeoHookean => {
                c(0.5) * mu * (x[0] + x[1] + x[2]) - mu * log_j + c(0.5) * lambda * log_j * log_j
            }
            ElasticModel::FixedCorotated => {
                let s = x.map(stretch_m1);
                let j_m1 = log_j.exp_m1();
                mu * (s[0] * s[0] + s[1] * s[1] + s[2] * s[2]) + c(0.5) * lambda * j_m1 * j_m1
            }
            ElasticModel::Hencky => {
                hencky::energy(hencky::strain_from_eigenvalues(x), Lame { lambda, mu })
            }
        }
    }
}

impl ConstitutiveLaw<ROWS> for Elastic {
    const COLUMNS: &'static [StateColumn] = &[super::STRAIN, super::STRESS];

    fn wave_speed(&self, density: f64) -> f64 {
        super::compression_wave_speed(self.lambda, self.mu, density)
    }

    #[inline(always)]
    fn return_map<T: Scalar, const D: usize>(&self, trial: [T; ROWS]) -> ([T; ROWS], T) {
        let strain = super::strain_of(&trial);
        let mut state = trial;
        state[6..].copy_from_slice(&self.stress::<T, D>(strain).to_array());
        (state, strain.xx.constant(0.0))
    }
}

/// τ = μ(b − I) + λ ln J I.
#[inline(always)]
fn neo_hookean<T: Scalar, const D: usize>(e: Sym3<T>, lame: Lame<T>) -> Sym3<T> {
    let log_j = e.xx.constant(0.5) * e.det_identity_plus_m1().ln_1p();
    let p = lame.lambda * log_j;
    Sym3 {
        xx: lame.mu.mul_add(e.xx, p),
        yy: lame.mu.mul_add(e.yy, p),
        zz: lame.mu.mul_add(e.zz, p),
        yz: lame.mu * e.yz,
        xz: lame.mu * e.xz,
        xy: lame.mu * e.xy,
    }
}

/// Principal τ_i = 2μ σ_i(σ_i − 1) + λ (J − 1) J, from the eigenvalues of b − I.
#[inline(always)]
fn fixed_corotated<T: Scalar, const D: usize>(x: [T; 3], lame: Lame<T>) -> [T; 3] {
    let half = x[0].constant(0.5);
    let j_m1 = (half * (x[0].ln_1p() + x[1].ln_1p() + x[2].ln_1p())).exp_m1();
    let p = lame.lambda * j_m1 * (j_m1 + x[0].constant(1.0));
    let two_mu = lame.mu + lame.mu;
    let one = x[0].constant(1.0);
    let mut tau = x;
    for i in 0..3 {
        let s = stretch_m1(x[i]);
        tau[i] = two_mu.mul_add(s * (s + one), p);
    }
    tau
}

/// σ − 1 for a stretch σ = √(1 + x), without cancellation.
#[inline(always)]
fn stretch_m1<T: Scalar>(x: T) -> T {
    let one = x.constant(1.0);
    x / (one + (one + x).sqrt())
}
