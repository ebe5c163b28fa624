//! Matrix-free linear solvers over slices of f32: they know `apply`, `dot` and `axpy`, and nothing of particles or grids.
//!
//! Vectors are f32, sums are f64 over a fixed binary tree of chunks: the same bytes for any number of threads. A solver
//! keeps its vectors between calls and allocates only when the system grows.

mod gmres;
mod minres;

pub use gmres::Gmres;
pub use minres::Minres;

/// Numbers that one task handles in order. Fixed: sums add up over a tree of these chunks.
const CHUNK: usize = 4096;

/// When an iteration ends.
#[derive(Debug, Clone, Copy)]
pub struct Stop {
    /// Norm of the residual b − A x that is small enough, in the unit of b.
    pub residual: f64,
    /// Most products with the matrix.
    pub iterations: usize,
}

/// How an iteration ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// Products with the matrix, less those that only check.
    pub iterations: usize,
    /// Norm of b − A x, computed from x itself.
    pub residual: f64,
    /// Whether the residual is as small as was asked for.
    pub converged: bool,
}

/// A right-hand side, a first guess, a product or a norm was not finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the linear solve met a value that is not finite")]
pub struct NotFinite;

/// Σ a b.
pub fn dot(a: &[f32], b: &[f32]) -> f64 {
    if a.len() <= CHUNK {
        // Eight sums side by side, so that the machine need not wait for each addition.
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

/// Calls `f` for each pair of numbers, in parallel.
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

/// Where a slice of more than one chunk is split: whole chunks, half of them.
fn half(len: usize) -> usize {
    len.div_ceil(CHUNK) / 2 * CHUNK
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
