//! Hencky elasticity: ψ = μ tr(ε²) + ½ λ (tr ε)², with ε the logarithms of the principal stretches.
//! Eq. 25–26 of [Klar16]; the square on the trace is missing in some prints.

use crate::math::Scalar;

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
