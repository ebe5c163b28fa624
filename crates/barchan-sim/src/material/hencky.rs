//! Hencky elasticity: ψ = μ tr(ε²) + ½ λ (tr ε)², with ε the logarithms of the principal stretches.
//! Eq. 25–26 of [Klar16]; some versions lack the square of the trace.
//!
//! A small strain needs no eigenvectors. Split into a multiple of the identity and a traceless part y, both ln and exp are
//! polynomials in y whose powers above the second Cayley–Hamilton removes: y³ = J₂ y + J₃ I, J₂ = ½‖y‖², J₃ = det y.

use crate::math::{Scalar, Sym3};

/// Lamé parameters [Pa].
#[derive(Debug, Clone, Copy)]
pub struct Lame<T> {
    /// First parameter [Pa].
    pub lambda: T,
    /// Shear modulus [Pa].
    pub mu: T,
}

/// Energy per undeformed volume [J/m³]. In 2D the third strain is zero.
#[inline(always)]
pub fn energy<T: Scalar>(strain: [T; 3], lame: Lame<T>) -> T {
    let trace = strain[0] + strain[1] + strain[2];
    let squares = strain[0] * strain[0] + strain[1] * strain[1] + strain[2] * strain[2];
    lame.mu * squares + trace.constant(0.5) * lame.lambda * trace * trace
}

/// Principal Kirchhoff stresses τ_i = 2μ ε_i + λ tr ε [Pa].
#[inline(always)]
pub fn stress<T: Scalar>(strain: [T; 3], lame: Lame<T>) -> [T; 3] {
    let pressure_part = lame.lambda * (strain[0] + strain[1] + strain[2]);
    let two_mu = lame.mu + lame.mu;
    [
        two_mu.mul_add(strain[0], pressure_part),
        two_mu.mul_add(strain[1], pressure_part),
        two_mu.mul_add(strain[2], pressure_part),
    ]
}

/// Principal Hencky strains ε_i = ½ ln(1 + x_i) from the eigenvalues x_i of b − I.
#[inline(always)]
pub fn strain_from_eigenvalues<T: Scalar>(x: [T; 3]) -> [T; 3] {
    let half = x[0].constant(0.5);
    [
        half * x[0].ln_1p(),
        half * x[1].ln_1p(),
        half * x[2].ln_1p(),
    ]
}

/// Eigenvalues of b − I from principal Hencky strains.
#[inline(always)]
pub fn eigenvalues_from_strain<T: Scalar>(strain: [T; 3]) -> [T; 3] {
    let [a, b, c] = strain;
    [(a + a).exp_m1(), (b + b).exp_m1(), (c + c).exp_m1()]
}

/// The Hencky strain ε = ½ ln b as its trace and its deviator.
#[derive(Debug, Clone, Copy)]
pub struct SplitStrain<T> {
    /// tr ε.
    pub trace: T,
    /// ε − (tr ε/d) I.
    pub deviator: Sym3<T>,
}

/// The traceless part y of e = b − I, so that b = (1 + tr e/d)(I + y) in the `D` dimensions. Its norm says whether
/// [`split_strain`] holds: up to [`Scalar::SERIES_RANGE`].
#[inline(always)]
pub fn traceless_part<T: Scalar, const D: usize>(e: Sym3<T>) -> Sym3<T> {
    let mean = e.trace() * e.xx.constant(1.0 / D as f64);
    let one = e.xx.constant(1.0);
    e.plus_identity::<D>(-mean).times(one / (one + mean))
}

/// ½ ln b of e = b − I with traceless part y; ln(I + y) by its series to y⁷.
#[inline(always)]
pub fn split_strain<T: Scalar, const D: usize>(e: Sym3<T>, y: Sym3<T>) -> SplitStrain<T> {
    let c = |v: f64| e.xx.constant(v);
    let (j2, j3) = invariants::<T, D>(y);
    let j22 = j2 * j2;
    let j23 = j2 * j3;
    // ln(I + y) = (…) I + linear y + quadratic y²
    let seventh = j3.mul_add(j3, j22 * j2);
    let linear = c(1.0 / 7.0) * seventh - c(1.0 / 3.0) * j23;
    let linear = j22.mul_add(c(0.2), linear) - c(0.25) * j3;
    let linear = j2.mul_add(c(1.0 / 3.0), linear) + c(1.0);
    let quadratic = c(2.0 / 7.0) * j23 - c(1.0 / 6.0) * j22;
    let quadratic = j3.mul_add(c(0.2), quadratic) - c(0.25) * j2 - c(0.5);
    let half = c(0.5);
    let deviator = y.times(half * linear);
    let deviator = if D == 3 {
        // y² less its trace; in 2D it is a multiple of the identity.
        let square = y.square().plus_identity::<D>(c(-2.0 / 3.0) * j2);
        deviator.plus(square.times(half * quadratic))
    } else {
        deviator
    };
    SplitStrain {
        trace: half * e.det_identity_plus_m1().ln_1p(),
        deviator,
    }
}

/// b − I = exp(2ε) − I of ε = `mean` I + `deviator`; exp of the deviator by its series to the fifth power.
#[inline(always)]
pub fn left_cauchy_green_m1<T: Scalar, const D: usize>(mean: T, deviator: Sym3<T>) -> Sym3<T> {
    let c = |v: f64| mean.constant(v);
    let z = deviator.plus(deviator);
    let (j2, j3) = invariants::<T, D>(z);
    let constant = j3.mul_add(c(1.0 / 6.0), c(1.0 / 120.0) * j2 * j3);
    let linear = j2.mul_add(c(1.0 / 6.0), j3 * c(1.0 / 24.0)) + j2 * j2 * c(1.0 / 120.0) + c(1.0);
    let quadratic = j2.mul_add(c(1.0 / 24.0), j3 * c(1.0 / 120.0)) + c(0.5);
    let volume_m1 = (mean + mean).exp_m1();
    let volume = volume_m1 + c(1.0);
    let shape = z.times(linear).plus(z.square().times(quadratic));
    shape
        .plus_identity::<D>(constant)
        .times(volume)
        .plus_identity::<D>(volume_m1)
}

/// J₂ = ½‖y‖² and J₃ = det y of a traceless matrix; in 2D y² = J₂ I, and J₃ is zero.
#[inline(always)]
fn invariants<T: Scalar, const D: usize>(y: Sym3<T>) -> (T, T) {
    let j2 = y.xx.constant(0.5) * y.norm_squared();
    let j3 = if D == 3 { y.det() } else { y.xx.constant(0.0) };
    (j2, j3)
}
