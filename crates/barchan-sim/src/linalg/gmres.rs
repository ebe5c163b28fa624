//! Restarted GMRES with right preconditioning, [Saad86].
//!
//! An orthonormal basis V of the Krylov space of A M⁻¹ satisfies A M⁻¹ V_m = V_{m+1} H, with H a Hessenberg matrix; x grows by
//! M⁻¹ V y, where y minimizes ‖b − A x‖ = ‖β e₁ − H y‖. Givens rotations keep H triangular. The preconditioner stands on
//! the right, so the norm that is minimized is that of the true residual.

use super::{NotFinite, Outcome, Stop, axpy, dot, finite, norm, residual, scaled};

/// GMRES and its vectors, which are kept from call to call.
#[derive(Debug)]
pub struct Gmres {
    /// Vectors after which it starts again.
    restart: usize,
    /// V: `restart` + 1 vectors.
    basis: Vec<f32>,
    /// M⁻¹ times a vector.
    preconditioned: Vec<f32>,
    /// H, column by column, triangular as far as the rotations have come.
    hessenberg: Vec<f64>,
    /// Cosine and sine of each rotation.
    rotations: Vec<(f64, f64)>,
    /// β e₁ after the rotations; later y.
    right: Vec<f64>,
}

impl Gmres {
    /// A solver that starts again after `restart` vectors.
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

    /// Solves A x = b from the first guess in `x`. `apply(x, y)`: y ← A x; `precondition(x, y)`: y ← M⁻¹ x, linear.
    /// A system without solution ends with the smallest residual found, not converged.
    pub fn solve(
        &mut self,
        mut apply: impl FnMut(&[f32], &mut [f32]),
        mut precondition: impl FnMut(&[f32], &mut [f32]),
        b: &[f32],
        x: &mut [f32],
        stop: Stop,
    ) -> Result<Outcome, NotFinite> {
        let n = b.len();
        self.basis.resize((self.restart + 1) * n, 0.0);
        self.preconditioned.resize(n, 0.0);
        let mut iterations = 0;
        let mut size = residual(&mut apply, b, x, &mut self.basis[..n])?;
        while size > stop.residual && iterations < stop.iterations {
            let most = self.restart.min(stop.iterations - iterations);
            let taken = self.extend(&mut apply, &mut precondition, size, most, stop.residual)?;
            iterations += taken;
            self.add_solution(&mut precondition, taken, x);
            let before = size;
            size = residual(&mut apply, b, x, &mut self.basis[..n])?;
            if size > 0.99 * before {
                break; // Stagnates: singular, or all that f32 can tell.
            }
        }
        Ok(Outcome {
            iterations,
            residual: size,
            converged: size <= stop.residual,
        })
    }

    /// Builds up to `most` vectors from the residual in the first one. Returns how many columns of H are whole.
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
        // The first vector still has its length; the others are normalized as they come.
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
            // Twice is enough: the second pass removes what rounding left.
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
            // The space is exhausted when nothing new is left beyond rounding.
            let exhausted = left <= 1e-6 * length;
            if exhausted || self.right[j + 1].abs() <= enough {
                return Ok(j + 1);
            }
        }
        Ok(most)
    }

    /// x ← x + M⁻¹ V y with H y = right. A column whose diagonal is zero belongs to the null space and adds nothing.
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
        // The vector after the last is free again.
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
