//! Scalars and SIMD lanes, symmetric 3×3 matrices, B-spline kernels.

pub mod bspline;
pub mod lanes;
pub mod scalar;
pub mod sym3;

pub use fearless_simd::Level;
pub use scalar::Scalar;
pub use sym3::Sym3;
