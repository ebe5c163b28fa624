//! Symmetric 3×3 matrices and their eigenvectors by cyclic Jacobi rotations, branch-free so that lanes can run it.
//!
//! Plain loops and `inline(always)` functions only: a closure or iterator adaptor that the compiler does not inline is
//! compiled without the machine's vector features, and each operation in it becomes a call.

use super::scalar::{Scalar, dot};

/// A symmetric matrix; the order of components is that of symmetric columns in frames.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sym3<T> {
    /// Diagonal.
    pub xx: T,
    /// Diagonal.
    pub yy: T,
    /// Diagonal.
    pub zz: T,
    /// Off-diagonal.
    pub yz: T,
    /// Off-diagonal.
    pub xz: T,
    /// Off-diagonal.
    pub xy: T,
}

/// A general 3×3 matrix, `m[row][column]`.
pub type Mat3<T> = [[T; 3]; 3];

/// Eigenvalues and eigenvectors: `vectors[row][i]` is the component `row` of the vector of `values[i]`.
#[derive(Debug, Clone, Copy)]
pub struct Eigen<T> {
    /// Eigenvalues, in no particular order.
    pub values: [T; 3],
    /// Orthonormal eigenvectors as columns.
    pub vectors: Mat3<T>,
}

impl<T: Scalar> Sym3<T> {
    /// From six components in the order xx yy zz yz xz xy.
    #[inline(always)]
    pub fn from_array([xx, yy, zz, yz, xz, xy]: [T; 6]) -> Self {
        Self {
            xx,
            yy,
            zz,
            yz,
            xz,
            xy,
        }
    }

    /// Six components in the order xx yy zz yz xz xy.
    #[inline(always)]
    pub fn to_array(self) -> [T; 6] {
        [self.xx, self.yy, self.zz, self.yz, self.xz, self.xy]
    }

    /// Component-wise selection.
    #[inline(always)]
    pub fn select(mask: T::Mask, a: Self, b: Self) -> Self {
        Self {
            xx: T::select(mask, a.xx, b.xx),
            yy: T::select(mask, a.yy, b.yy),
            zz: T::select(mask, a.zz, b.zz),
            yz: T::select(mask, a.yz, b.yz),
            xz: T::select(mask, a.xz, b.xz),
            xy: T::select(mask, a.xy, b.xy),
        }
    }

    /// Full matrix.
    #[inline(always)]
    pub fn to_mat3(self) -> Mat3<T> {
        [
            [self.xx, self.xy, self.xz],
            [self.xy, self.yy, self.yz],
            [self.xz, self.yz, self.zz],
        ]
    }

    /// Σ values[i] u_i u_iᵀ.
    #[inline(always)]
    pub fn from_eigen(values: [T; 3], u: &Mat3<T>) -> Self {
        let mut scaled = *u;
        for row in 0..3 {
            for i in 0..3 {
                scaled[row][i] = values[i] * u[row][i];
            }
        }
        Self::upper_of_product(&scaled, u)
    }

    /// The symmetric matrix a bᵀ, of which only the upper triangle is computed.
    #[inline(always)]
    fn upper_of_product(a: &Mat3<T>, b: &Mat3<T>) -> Self {
        Self {
            xx: dot(a[0], b[0]),
            yy: dot(a[1], b[1]),
            zz: dot(a[2], b[2]),
            yz: dot(a[1], b[2]),
            xz: dot(a[0], b[2]),
            xy: dot(a[0], b[1]),
        }
    }

    /// Component-wise sum.
    #[inline(always)]
    pub fn plus(self, other: Self) -> Self {
        Self {
            xx: self.xx + other.xx,
            yy: self.yy + other.yy,
            zz: self.zz + other.zz,
            yz: self.yz + other.yz,
            xz: self.xz + other.xz,
            xy: self.xy + other.xy,
        }
    }

    /// All components times a number.
    #[inline(always)]
    pub fn times(self, factor: T) -> Self {
        Self {
            xx: self.xx * factor,
            yy: self.yy * factor,
            zz: self.zz * factor,
            yz: self.yz * factor,
            xz: self.xz * factor,
            xy: self.xy * factor,
        }
    }

    /// The identity of the first `D` dimensions times a number, added.
    #[inline(always)]
    pub fn plus_identity<const D: usize>(self, factor: T) -> Self {
        let zz = if D == 3 { self.zz + factor } else { self.zz };
        Self {
            xx: self.xx + factor,
            yy: self.yy + factor,
            zz,
            ..self
        }
    }

    /// Sum of the diagonal.
    #[inline(always)]
    pub fn trace(self) -> T {
        self.xx + self.yy + self.zz
    }

    /// Sum of the squares of all nine components, ‖self‖².
    #[inline(always)]
    pub fn norm_squared(self) -> T {
        let off = dot([self.yz, self.xz, self.xy], [self.yz, self.xz, self.xy]);
        let diagonal = [self.xx, self.yy, self.zz];
        (off + off) + dot(diagonal, diagonal)
    }

    /// self · self.
    #[inline(always)]
    pub fn square(self) -> Self {
        let m = self.to_mat3();
        Self::upper_of_product(&m, &m)
    }

    /// Determinant.
    #[inline(always)]
    pub fn det(self) -> T {
        let [xx, yy, zz, yz, xz, xy] = self.to_array();
        xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz)
    }

    /// Determinant of I + self, less one; accurate when self is small.
    #[inline(always)]
    pub fn det_identity_plus_m1(self) -> T {
        let [xx, yy, zz, yz, xz, xy] = self.to_array();
        let trace = xx + yy + zz;
        let minors = xx * yy - xy * xy + yy * zz - yz * yz + xx * zz - xz * xz;
        trace + (minors + self.det())
    }

    /// (I + a)(I + self)(I + a)ᵀ − I: how b − I changes under the increment a = Δt ∇v. Keeps small values exact.
    #[inline(always)]
    pub fn pushed_forward(self, a: &Mat3<T>) -> Self {
        // e' = e + (a + a e) + (a + a e)ᵀ + a (I + e) aᵀ
        let e = self.to_mat3();
        let mut ae = *a;
        for r in 0..3 {
            for c in 0..3 {
                ae[r][c] = a[r][0].mul_add(
                    e[0][c],
                    a[r][1].mul_add(e[1][c], a[r][2].mul_add(e[2][c], a[r][c])),
                );
            }
        }
        let quadratic = Self::upper_of_product(&ae, a);
        Self {
            xx: self.xx + (ae[0][0] + ae[0][0] + quadratic.xx),
            yy: self.yy + (ae[1][1] + ae[1][1] + quadratic.yy),
            zz: self.zz + (ae[2][2] + ae[2][2] + quadratic.zz),
            yz: self.yz + (ae[1][2] + ae[2][1] + quadratic.yz),
            xz: self.xz + (ae[0][2] + ae[2][0] + quadratic.xz),
            xy: self.xy + (ae[0][1] + ae[1][0] + quadratic.xy),
        }
    }

    /// Eigenvalues and eigenvectors. With `D = 2` only the xy block is rotated; the third pair is (zz, z).
    #[inline(always)]
    pub fn eigen<const D: usize>(self) -> Eigen<T> {
        let (zero, one) = (self.xx.constant(0.0), self.xx.constant(1.0));
        let mut a = self.to_mat3();
        let mut u = [[one, zero, zero], [zero, one, zero], [zero, zero, one]];
        if D == 2 {
            rotate::<T, 0, 1, 2>(&mut a, &mut u);
        } else {
            for _ in 0..T::JACOBI_SWEEPS {
                rotate::<T, 0, 1, 2>(&mut a, &mut u);
                rotate::<T, 0, 2, 1>(&mut a, &mut u);
                rotate::<T, 1, 2, 0>(&mut a, &mut u);
            }
        }
        Eigen {
            values: [a[0][0], a[1][1], a[2][2]],
            vectors: u,
        }
    }
}

/// One Jacobi rotation that zeroes a[P][Q]; R is the third index. Only the upper triangle of `a` is kept.
#[inline(always)]
fn rotate<T: Scalar, const P: usize, const Q: usize, const R: usize>(
    a: &mut Mat3<T>,
    u: &mut Mat3<T>,
) {
    let zero = a[0][0].constant(0.0);
    let one = a[0][0].constant(1.0);
    let apq = a[P][Q];
    let d = a[Q][Q] - a[P][P];
    let two_apq = apq + apq;
    let denominator = d.abs() + d.mul_add(d, two_apq * two_apq).sqrt();
    let signed = T::select(d.lt(zero), -two_apq, two_apq);
    let t = T::select(
        denominator.equals(zero),
        zero,
        signed / T::select(denominator.equals(zero), one, denominator),
    );
    let c = one / t.mul_add(t, one).sqrt();
    let s = t * c;

    a[P][P] = a[P][P] - t * apq;
    a[Q][Q] = a[Q][Q] + t * apq;
    a[P][Q] = zero;
    let (pr, qr) = (upper::<P, R>(), upper::<Q, R>());
    let (arp, arq) = (a[pr.0][pr.1], a[qr.0][qr.1]);
    a[pr.0][pr.1] = c * arp - s * arq;
    a[qr.0][qr.1] = s.mul_add(arp, c * arq);
    for row in 0..3 {
        let (p, q) = (u[row][P], u[row][Q]);
        u[row][P] = c * p - s * q;
        u[row][Q] = s.mul_add(p, c * q);
    }
}

/// Index of the pair in the upper triangle.
const fn upper<const A: usize, const B: usize>() -> (usize, usize) {
    if A < B { (A, B) } else { (B, A) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rebuilt_error<const D: usize>(m: Sym3<f64>) -> f64 {
        let eigen = m.eigen::<D>();
        let back = Sym3::from_eigen(eigen.values, &eigen.vectors).to_array();
        m.to_array()
            .iter()
            .zip(back)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max)
    }

    proptest! {
        #[test]
        fn eigen_rebuilds_the_matrix(c in prop::array::uniform6(-2.0f64..2.0)) {
            prop_assert!(rebuilt_error::<3>(Sym3::from_array(c)) < 1e-13);
            let plane = Sym3 { zz: 0.0, yz: 0.0, xz: 0.0, ..Sym3::from_array(c) };
            prop_assert!(rebuilt_error::<2>(plane) < 1e-13);
        }

        #[test]
        fn eigen_keeps_small_matrices(c in prop::array::uniform6(-2.0f64..2.0), p in -30i32..0) {
            let scale = 10f64.powi(p);
            let m = Sym3::from_array(c.map(|x| x * scale));
            prop_assert!(rebuilt_error::<3>(m) < 1e-13 * scale);
        }

        #[test]
        fn push_forward_matches_the_plain_product(c in prop::array::uniform6(-0.1f64..0.1),
                                                  a in prop::array::uniform9(-0.1f64..0.1)) {
            let e = Sym3::from_array(c);
            let a = [[a[0], a[1], a[2]], [a[3], a[4], a[5]], [a[6], a[7], a[8]]];
            let got = e.pushed_forward(&a).to_mat3();
            let full = e.to_mat3();
            let id = |r: usize, c: usize| if r == c { 1.0 } else { 0.0 };
            for r in 0..3 {
                for c in 0..3 {
                    let mut want = -id(r, c);
                    for k in 0..3 {
                        for l in 0..3 {
                            want += (id(r, k) + a[r][k]) * (id(k, l) + full[k][l]) * (id(c, l) + a[c][l]);
                        }
                    }
                    prop_assert!((got[r][c] - want).abs() < 1e-14);
                }
            }
        }
    }

    #[test]
    fn degenerate_matrices_converge() {
        for c in [
            [0.0; 6],
            [1.0, 1.0, 1.0, 0.0, 0.0, 0.0],
            [1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
            [0.0, 0.0, 0.0, 1e-20, 0.0, 0.0],
        ] {
            assert!(rebuilt_error::<3>(Sym3::from_array(c)) < 1e-15);
        }
    }
}
