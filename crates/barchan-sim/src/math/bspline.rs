//! Quadratic and cubic B-splines on a unit grid, Eq. 5–6 of [Klar16].
//!
//! `K` is the number of nodes that a particle touches along an axis: 3 quadratic, 4 cubic.

use super::Scalar;

/// Lowest node of the stencil, relative to the particle at `x` [cells]: ⌊x + offset⌋.
pub const fn base_offset<const K: usize>() -> f32 {
    if K == 3 { -0.5 } else { -1.0 }
}

/// Affine inertia D_p = h² · this, Eq. 8.
pub const fn inertia<const K: usize>() -> f64 {
    if K == 3 { 0.25 } else { 1.0 / 3.0 }
}

/// Weights and derivatives [1/cell] at the K nodes base, base + 1, …; `f` is the particle's distance from base [cells].
#[inline(always)]
pub fn weights<T: Scalar, const K: usize>(f: T) -> ([T; K], [T; K]) {
    let c = |v: f64| f.constant(v);
    let mut w = [c(0.0); K];
    let mut g = [c(0.0); K];
    if K == 3 {
        // f in [0.5, 1.5)
        let (a, b, d) = (c(1.5) - f, f - c(1.0), f - c(0.5));
        w[0] = c(0.5) * a * a;
        w[1] = c(0.75) - b * b;
        w[2] = c(0.5) * d * d;
        g[0] = -a;
        g[1] = c(-2.0) * b;
        g[2] = d;
    } else {
        // f in [1, 2); t is the distance past the second node
        let t = f - c(1.0);
        let s = c(1.0) - t;
        let sixth = c(1.0 / 6.0);
        w[0] = sixth * s * s * s;
        w[1] = (c(0.5) * t - c(1.0)) * t * t + c(2.0 / 3.0);
        w[3] = sixth * t * t * t;
        // The rest to one: 1/6 and 2/3 are not exact in f32, and a sum of 1 + 3e-8 would gain momentum every step.
        w[2] = c(1.0) - (w[0] + w[1] + w[3]);
        g[0] = c(-0.5) * s * s;
        g[1] = (c(1.5) * t - c(2.0)) * t;
        g[2] = (c(2.0) - c(1.5) * s) * s;
        g[3] = c(0.5) * t * t;
    }
    (w, g)
}

/// The weights of a row as polynomials: coefficient `[power][node]` of t = f − 1, the distance past the second node.
/// Derivatives follow from them. Coefficients of a power add up to zero, those of t⁰ to one, also in f32.
pub const fn polynomials<const K: usize>() -> [[f32; 4]; 4] {
    if K == 3 {
        [
            [0.125, 0.75, 0.125, 0.0],
            [-0.5, 0.0, 0.5, 0.0],
            [0.5, -1.0, 0.5, 0.0],
            [0.0; 4],
        ]
    } else {
        const SIXTH: f32 = 1.0 / 6.0;
        // The f32 below a sixth: twice it and two thirds make one.
        const BELOW: f32 = f32::from_bits(SIXTH.to_bits() - 1);
        [
            [BELOW, 2.0 / 3.0, BELOW, 0.0],
            [-0.5, 0.0, 0.5, 0.0],
            [0.5, -1.0, 0.5, 0.0],
            [-SIXTH, 0.5, -0.5, SIXTH],
        ]
    }
}
