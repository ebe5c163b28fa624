//! One arithmetic for f32, f64 and SIMD lanes: a law is written once, tested in f64, and run sixteen particles at a time.

use std::ops::{Add, BitAnd, Div, Mul, Neg, Sub};

/// A number, or a SIMD vector of numbers.
pub trait Scalar:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Result of a comparison.
    type Mask: Copy + BitAnd<Output = Self::Mask>;
    /// Cyclic Jacobi sweeps after which a 3×3 eigenproblem has converged to this type's precision.
    const JACOBI_SWEEPS: usize;
    /// Norm of the deviatoric strain up to which the series of [`crate::material::hencky`] are exact to this type's
    /// precision; 0: never.
    const SERIES_RANGE: f64;

    /// A constant of the kind of `self`.
    fn constant(self, value: f64) -> Self;
    /// `self · b + c`, fused where the machine can.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// Larger of two.
    fn max(self, other: Self) -> Self;
    /// ln(1 + self), accurate for small arguments; self > −1.
    fn ln_1p(self) -> Self;
    /// exp(self) − 1, accurate for small arguments.
    fn exp_m1(self) -> Self;
    /// Sine of an angle in [−π/2, π/2].
    fn sin_quadrant(self) -> Self;
    /// self < other.
    fn lt(self, other: Self) -> Self::Mask;
    /// self ≥ other.
    fn ge(self, other: Self) -> Self::Mask;
    /// self = other.
    fn equals(self, other: Self) -> Self::Mask;
    /// Whether a comparison holds for every number.
    fn all(mask: Self::Mask) -> bool;
    /// Where `mask` holds `a`, elsewhere `b`.
    fn select(mask: Self::Mask, a: Self, b: Self) -> Self;
}

/// a · b.
#[inline(always)]
pub fn dot<T: Scalar>(a: [T; 3], b: [T; 3]) -> T {
    a[0].mul_add(b[0], a[1].mul_add(b[1], a[2] * b[2]))
}

/// Functions of a [`Scalar`] that a type or a trait of it has under the same name.
macro_rules! functions_of {
    ($owner:ident: $($name:ident($($argument:ident),*)),*) => {$(
        #[inline(always)]
        fn $name(self, $($argument: Self),*) -> Self {
            $owner::$name(self, $($argument),*)
        }
    )*};
}
pub(super) use functions_of;

macro_rules! impl_scalar {
    ($float:ident, $sweeps:expr, $range:expr) => {
        impl Scalar for $float {
            type Mask = bool;
            const JACOBI_SWEEPS: usize = $sweeps;
            const SERIES_RANGE: f64 = $range;

            #[inline(always)]
            fn constant(self, value: f64) -> Self {
                value as $float
            }
            functions_of!($float: mul_add(b, c), sqrt(), abs(), max(other), ln_1p(), exp_m1());
            #[inline(always)]
            fn sin_quadrant(self) -> Self {
                <$float>::sin(self)
            }
            #[inline(always)]
            fn lt(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn ge(self, other: Self) -> bool {
                self >= other
            }
            #[inline(always)]
            fn equals(self, other: Self) -> bool {
                self == other
            }
            #[inline(always)]
            fn all(mask: bool) -> bool {
                mask
            }
            #[inline(always)]
            fn select(mask: bool, a: Self, b: Self) -> Self {
                if mask { a } else { b }
            }
        }
    };
}

impl_scalar!(f32, 4, 0.125);
impl_scalar!(f64, 7, 0.0);
