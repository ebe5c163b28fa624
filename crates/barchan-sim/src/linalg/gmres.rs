//! Restarted GMRES with right preconditioning, [Saad86].
//!
//! An orthonormal basis V of the Krylov space of A M⁻¹ satisfies A M⁻¹ V_m = V_{m+1} H, with H a Hessenberg matrix; x grows by
//! M⁻¹ V y, where y minimizes ‖b − A x‖ = ‖β e₁ − H y‖. Givens rotations keep H triangular. With the preconditioner on
//! the right, the minimized norm is that of the true residual.

use super::{Krylov, NotFinite, Stop, axpy, dot, finite, norm, scaled};

/// GMRES with its vectors, which are kept between calls.
#[derive(Debug)]
pub struct Gmres {
    /// Basis vectors before a restart.
    restart: usize,
    /// V: `restart` + 1 vectors.
    basis: Vec<f32>,
    /// M⁻¹ times a vector.
    preconditioned: Vec<f32>,
    /// H, column by column, made upper triangular by the rotations.
    hessenberg: Vec<f64>,
    /// Cosine and sine of each rotation.
    rotations: Vec<(f64, f64)>,
    /// β e₁ after the rotations; later y.
    right: Vec<f64>,
}

impl Krylov for Gmres {
    const STAGNATION: f64 = 0.99;

    fn resize(&mut self, n: usize) {
        self.basis.resize((self.restart + 1) * n, 0.0);
        self.preconditioned.resize(n, 0.0);
    }

    fn residual(&mut self) -> &mut [f32] {
        &mut self.basis[..self.preconditioned.len()]
    }

    fn improve(
        &mut self,
        apply: &mut impl FnMut(&[f32], &mut [f32]),
        precondition: &mut impl FnMut(&[f32], &mut [f32]),
        x: &mut [f32],
        size: f64,
        stop: Stop,
    ) -> Result<usize, NotFinite> {
        let most = self.restart.min(stop.iterations);
        let taken = self.extend(apply, precondition, size, most, stop.residual)?;
        self.add_solution(precondition, taken, x);
        Ok(taken)
    }
}

impl Gmres {
    /// A solver that restarts after `restart` basis vectors.
    pub fn new(restart: usize) -> Self {
        let restart = restart.max(1);
        Self {
            restart,
            basis: Vec::new(),
            preconditioned: Vec::new(),
            hessenberg: vec![0.0; (restart + 1) * restart],
            rotations: vec![(1.0, 0.0); restart],
            right: vec![0.0; restart + 1],
        }
    }

    /// Arnoldi process: builds up to `most` basis vectors from the residual in the first one. Returns the number of complete
    /// columns of H.
    fn extend(
        &mut self,
        apply: &mut impl FnMut(&[f32], &mut [f32]),
        precondition: &mut impl FnMut(&[f32], &mut [f32]),
        size: f64,
        most: usize,
        enough: f64,
    ) -> Result<usize, NotFinite> {
        let n = self.preconditioned.len();
        let z = &mut self.preconditioned;
        // The first vector is not yet normalized.
        z.copy_from_slice(&self.basis[..n]);
        scaled(1.0 / size, z, &mut self.basis[..n]);
        self.right.fill(0.0);
        self.right[0] = size;
        for j in 0..most {
            let (known, rest) = self.basis.split_at_mut((j + 1) * n);
            let new = &mut rest[..n];
            precondition(&known[j * n..], z);
            apply(z, new);
            let length = finite(norm(new))?;
            let column = &mut self.hessenberg[j * (self.restart + 1)..][..j + 2];
            column.fill(0.0);
            // Modified Gram–Schmidt, twice: the second pass removes the rounding errors of the first.
            for _ in 0..2 {
                for (h, v) in column.iter_mut().zip(known.chunks_exact(n)) {
                    let part = dot(v, new);
                    axpy(-part, v, new);
                    *h += part;
                }
            }
            let left = finite(norm(new))?;
            column[j + 1] = left;
            z.copy_from_slice(new);
            scaled(1.0 / left.max(f64::MIN_POSITIVE), z, new);
            for (i, &(c, s)) in self.rotations[..j].iter().enumerate() {
                let (a, b) = (column[i], column[i + 1]);
                (column[i], column[i + 1]) = (c * a + s * b, c * b - s * a);
            }
            let (a, b) = (column[j], column[j + 1]);
            let r = a.hypot(b);
            let (c, s) = if r > 0.0 { (a / r, b / r) } else { (1.0, 0.0) };
            self.rotations[j] = (c, s);
            column[j] = r;
            (self.right[j], self.right[j + 1]) = (c * self.right[j], -s * self.right[j]);
            // The Krylov space is exhausted when only rounding errors are left.
            let exhausted = left <= 1e-6 * length;
            if exhausted || self.right[j + 1].abs() <= enough {
                return Ok(j + 1);
            }
        }
        Ok(most)
    }

    /// x ← x + M⁻¹ V y with H y = right. A column with a zero diagonal belongs to the null space and adds nothing.
    fn add_solution(
        &mut self,
        precondition: &mut impl FnMut(&[f32], &mut [f32]),
        count: usize,
        x: &mut [f32],
    ) {
        let n = x.len();
        let stride = self.restart + 1;
        let largest = (0..count).map(|i| self.hessenberg[i * stride + i].abs());
        let largest = largest.fold(0.0, f64::max);
        for i in (0..count).rev() {
            let diagonal = self.hessenberg[i * stride + i];
            let known: f64 = (i + 1..count)
                .map(|j| self.hessenberg[j * stride + i] * self.right[j])
                .sum();
            self.right[i] = match diagonal.abs() > 1e-7 * largest {
                true => (self.right[i] - known) / diagonal,
                false => 0.0,
            };
        }
        // The vector after the last basis vector is free.
        let (known, rest) = self.basis.split_at_mut(count * n);
        let sum = &mut rest[..n];
        sum.fill(0.0);
        for (y, v) in self.right.iter().zip(known.chunks_exact(n)) {
            axpy(*y, v, sum);
        }
        precondition(sum, &mut self.preconditioned);
        axpy(1.0, &self.preconditioned, x);
    }
}
