//! Matrix-free Krylov solvers over slices of f32, in terms of `apply`, `dot` and `axpy` only: independent of particles and grids.
//!
//! Vectors are f32, reductions are f64 over a fixed binary tree of chunks: the same bytes for any number of threads. A solver
//! keeps its vectors between calls and allocates only when the system grows.

mod gmres;
mod minres;

pub use gmres::Gmres;
pub use minres::Minres;

/// Entries that one task handles in order. Fixed: reductions run over a tree of these chunks.
const CHUNK: usize = 4096;

/// Stopping criterion.
#[derive(Debug, Clone, Copy)]
pub struct Stop {
    /// Norm of the residual b − A x to reach, in the unit of b.
    pub residual: f64,
    /// Maximum number of products with the matrix.
    pub iterations: usize,
}

/// Result of an iteration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// Products with the matrix, without those that only check the residual.
    pub iterations: usize,
    /// Norm of the true residual b − A x.
    pub residual: f64,
    /// Whether the residual satisfies the stopping criterion.
    pub converged: bool,
}

/// A right-hand side, an initial guess, a product or a norm was not finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the linear solve encountered a value that is not finite")]
pub struct NotFinite;

/// Σ a b.
pub fn dot(a: &[f32], b: &[f32]) -> f64 {
    if a.len() <= CHUNK {
        // Eight partial sums hide the latency of additions.
        let mut sums = [0.0; 8];
        let (heads, tail) = (a.chunks_exact(8), a.chunks_exact(8).remainder());
        for (a, b) in heads.zip(b.chunks_exact(8)) {
            for i in 0..8 {
                sums[i] += f64::from(a[i]) * f64::from(b[i]);
            }
        }
        let rest = tail.iter().zip(&b[a.len() - tail.len()..]);
        let rest: f64 = rest.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        return sums.iter().sum::<f64>() + rest;
    }
    let half = half(a.len());
    let (sum, other) = rayon::join(
        || dot(&a[..half], &b[..half]),
        || dot(&a[half..], &b[half..]),
    );
    sum + other
}

/// ‖a‖.
pub fn norm(a: &[f32]) -> f64 {
    dot(a, a).sqrt()
}

/// y ← y + α x.
pub fn axpy(alpha: f64, x: &[f32], y: &mut [f32]) {
    let alpha = alpha as f32;
    update(x, y, &|x, y| *y += alpha * x);
}

/// y ← x + β y.
pub fn xpby(x: &[f32], beta: f64, y: &mut [f32]) {
    let beta = beta as f32;
    update(x, y, &|x, y| *y = x + beta * *y);
}

/// y ← α x.
pub fn scaled(alpha: f64, x: &[f32], y: &mut [f32]) {
    let alpha = alpha as f32;
    update(x, y, &|x, y| *y = alpha * x);
}

/// Calls `f` for each pair of entries, in parallel.
fn update(x: &[f32], y: &mut [f32], f: &(impl Fn(f32, &mut f32) + Sync)) {
    if y.len() <= CHUNK {
        for (x, y) in x.iter().zip(y) {
            f(*x, y);
        }
        return;
    }
    let half = half(y.len());
    let (left, right) = y.split_at_mut(half);
    rayon::join(
        || update(&x[..half], left, f),
        || update(&x[half..], right, f),
    );
}

/// Where a slice of more than one chunk is split: at half of its chunks.
fn half(len: usize) -> usize {
    len.div_ceil(CHUNK) / 2 * CHUNK
}

/// A Krylov method for A x = b, restarted from the true residual b − A x: in f32 its own estimate drifts from that.
pub trait Krylov {
    /// A restart that leaves more than this fraction of the residual is the last: the matrix is singular, or the precision
    /// of f32 is reached.
    const STAGNATION: f64;

    /// Allocates the vectors of a system of `n` unknowns.
    fn resize(&mut self, n: usize);

    /// The vector that holds the residual when [`Self::improve`] begins.
    fn residual(&mut self) -> &mut [f32];

    /// Improves x from a residual of norm `size`. Returns the number of products with A.
    fn improve(
        &mut self,
        apply: &mut impl FnMut(&[f32], &mut [f32]),
        precondition: &mut impl FnMut(&[f32], &mut [f32]),
        x: &mut [f32],
        size: f64,
        stop: Stop,
    ) -> Result<usize, NotFinite>;

    /// Solves A x = b from the initial guess in `x`. `apply(x, y)`: y ← A x; `precondition(x, y)`: y ← M⁻¹ x, linear.
    /// A system without solution ends with the smallest residual found, not converged.
    fn solve(
        &mut self,
        mut apply: impl FnMut(&[f32], &mut [f32]),
        mut precondition: impl FnMut(&[f32], &mut [f32]),
        b: &[f32],
        x: &mut [f32],
        stop: Stop,
    ) -> Result<Outcome, NotFinite> {
        self.resize(b.len());
        let mut iterations = 0;
        let mut size = residual(&mut apply, b, x, self.residual())?;
        while size > stop.residual && iterations < stop.iterations {
            let left = Stop {
                iterations: stop.iterations - iterations,
                ..stop
            };
            iterations += self.improve(&mut apply, &mut precondition, x, size, left)?;
            let before = size;
            size = residual(&mut apply, b, x, self.residual())?;
            if size > Self::STAGNATION * before {
                break;
            }
        }
        Ok(Outcome {
            iterations,
            residual: size,
            converged: size <= stop.residual,
        })
    }
}

/// r ← b − A x and its norm.
fn residual(
    apply: &mut impl FnMut(&[f32], &mut [f32]),
    b: &[f32],
    x: &[f32],
    r: &mut [f32],
) -> Result<f64, NotFinite> {
    apply(x, r);
    xpby(b, -1.0, r);
    finite(norm(r))
}

fn finite(value: f64) -> Result<f64, NotFinite> {
    value.is_finite().then_some(value).ok_or(NotFinite)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests;
