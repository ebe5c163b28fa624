//! Constitutive laws as pure functions over a [`crate::math::Scalar`].
//!
//! A law sees e = b − I, where b = F Fᵀ is the elastic left Cauchy–Green tensor, and answers with the Kirchhoff stress
//! τ = P Fᵀ, which is all that the grid forces need. All laws here are isotropic, so b says everything that F does,
//! in six numbers; storing b − I keeps strains of 1e-6 exact in f32. See docs/adr/0002.

pub mod drucker_prager;
pub mod elastic;
pub mod hencky;

/// Lamé parameters (λ, μ) [Pa] from Young's modulus [Pa] and Poisson ratio.
pub fn lame(young: f64, poisson: f64) -> (f64, f64) {
    let lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
    let mu = young / (2.0 * (1.0 + poisson));
    (lambda, mu)
}

/// Speed of the compression wave √((λ + 2μ)/ρ) [m/s].
pub fn wave_speed(young: f64, poisson: f64, density: f64) -> f64 {
    let (lambda, mu) = lame(young, poisson);
    ((lambda + 2.0 * mu) / density).sqrt()
}
