//! MINRES for symmetric matrices, definite or not, [Paige75], with a symmetric positive definite preconditioner.
//!
//! The Lanczos process gives A V_k = V_{k+1} T with T tridiagonal; Givens rotations keep T triangular, and three search
//! directions d suffice to update x: ‖b − A x‖ in the norm of M⁻¹ decreases with every step.

use super::{Krylov, NotFinite, Stop, axpy, dot, finite, scaled};

/// MINRES with its vectors, which are kept between calls.
#[derive(Debug, Default)]
pub struct Minres {
    /// Unpreconditioned Lanczos vectors: two steps back, one step back, new.
    older: Vec<f32>,
    old: Vec<f32>,
    new: Vec<f32>,
    /// M⁻¹ times the new vector, and that normalized.
    preconditioned: Vec<f32>,
    v: Vec<f32>,
    /// Search directions d: two steps back, one step back, new.
    d: [Vec<f32>; 3],
}

/// The preconditioner must be symmetric positive definite, the matrix symmetric.
impl Krylov for Minres {
    const STAGNATION: f64 = 0.5;

    fn resize(&mut self, n: usize) {
        let vectors = [
            &mut self.older,
            &mut self.old,
            &mut self.new,
            &mut self.preconditioned,
            &mut self.v,
        ];
        for vector in vectors.into_iter().chain(&mut self.d) {
            vector.resize(n, 0.0);
        }
    }

    fn residual(&mut self) -> &mut [f32] {
        &mut self.new
    }

    fn improve(
        &mut self,
        apply: &mut impl FnMut(&[f32], &mut [f32]),
        precondition: &mut impl FnMut(&[f32], &mut [f32]),
        x: &mut [f32],
        size: f64,
        stop: Stop,
    ) -> Result<usize, NotFinite> {
        let Self {
            older,
            old,
            new,
            preconditioned,
            v,
            d,
        } = self;
        precondition(new, preconditioned);
        let mut beta = finite(dot(new, preconditioned).max(0.0).sqrt())?;
        let first = beta;
        let mut largest = 0.0f64;
        // β and the rotations of the last two steps; `phi`: the remaining right-hand side.
        let (mut beta_old, mut phi) = (0.0, beta);
        let ((mut c_older, mut s_older), (mut c_old, mut s_old)) = ((1.0, 0.0), (1.0, 0.0));
        old.fill(0.0);
        for vector in d.iter_mut() {
            vector.fill(0.0);
        }
        for step in 0..stop.iterations {
            // The norms of M⁻¹ and of the residual itself differ by a factor that hardly changes.
            if phi.abs() / first * size <= stop.residual || beta <= 1e-7 * largest || beta == 0.0 {
                return Ok(step);
            }
            scaled(1.0 / beta, preconditioned, v);
            std::mem::swap(older, old);
            std::mem::swap(old, new);
            // older, old: Lanczos vectors times their β.
            apply(v, new);
            if step > 0 {
                axpy(-beta / beta_old, older, new);
            }
            let alpha = finite(dot(v, new))?;
            axpy(-alpha / beta, old, new);
            precondition(new, preconditioned);
            (beta_old, beta) = (beta, finite(dot(new, preconditioned).max(0.0).sqrt())?);
            largest = largest.max(alpha.abs()).max(beta_old).max(beta);

            // Column of T after the two previous rotations.
            let epsilon = s_older * beta_old * f64::from(step > 0);
            let above = c_older * beta_old * f64::from(step > 0);
            let delta = c_old * above + s_old * alpha;
            let bar = c_old * alpha - s_old * above;
            let gamma = bar.hypot(beta);
            if gamma <= 1e-7 * largest {
                return Ok(step + 1); // A null direction.
            }
            (c_older, s_older) = (c_old, s_old);
            (c_old, s_old) = (bar / gamma, beta / gamma);
            d.rotate_left(1);
            let [d_older, d_old, d_new] = d;
            // d_new held the direction three steps back, which is no longer needed.
            scaled(1.0 / gamma, v, d_new);
            axpy(-delta / gamma, d_old, d_new);
            axpy(-epsilon / gamma, d_older, d_new);
            axpy(c_old * phi, d_new, x);
            phi *= -s_old;
        }
        Ok(stop.iterations)
    }
}
