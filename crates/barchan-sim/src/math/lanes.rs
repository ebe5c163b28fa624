//! Sixteen f32 lanes as a [`Scalar`], with the elementary functions the laws need.
//!
//! Relative errors against f64 are below 4e-7 over the tested ranges (see the tests).

use super::Scalar;
use super::scalar::functions_of;
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x16, i32x16, mask32x16};

/// Particles that are computed together.
pub const LANES: usize = 16;

/// One value for each of sixteen particles, in memory.
pub type Lanes = [f32; LANES];

/// A row of lanes on a cache line of its own, for arrays of rows.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(C, align(64))]
pub struct Row(pub Lanes);

const LN2_HIGH: f32 = 0.693_359_4;
const LN2_LOW: f32 = -2.121_944_4e-4;

impl<S: Simd> Scalar for f32x16<S> {
    type Mask = mask32x16<S>;
    const JACOBI_SWEEPS: usize = 4;
    const SERIES_RANGE: f64 = 0.125;

    #[inline(always)]
    fn constant(self, value: f64) -> Self {
        Self::splat(self.simd, value as f32)
    }
    functions_of!(SimdFloat: mul_add(b, c), sqrt());
    functions_of!(SimdBase: abs(), max(other));

    /// ln(1 + x) for x > −1: split 1 + x = 2^k m with m in [√½, √2), then 2 atanh(f/(2+f)) for f = m − 1.
    #[inline(always)]
    fn ln_1p(self) -> Self {
        let x = self;
        let s = x.simd;
        let u = SimdBase::max(x + 1.0, f32x16::splat(s, f32::MIN_POSITIVE));
        let bits: i32x16<S> = u.bitcast();
        let root_half = i32x16::splat(s, 0x3f35_04f3);
        let k = (bits - root_half) >> 23;
        let m: f32x16<S> = (bits - (k << 23)).bitcast();
        // With k = 0 the rounding of 1 + x would be lost: keep x itself.
        let f = k.simd_eq(0).select(x, m - 1.0);
        let t = f / (f + 2.0);
        let t2 = t * t;
        let mut p = f32x16::splat(s, 2.0 / 11.0);
        for c in [2.0 / 9.0, 2.0 / 7.0, 2.0 / 5.0, 2.0 / 3.0] {
            p = SimdFloat::mul_add(p, t2, c);
        }
        let series = SimdFloat::mul_add(p * t2, t, t * 2.0);
        let kf = f32x16::<S>::float_from(k);
        SimdFloat::mul_add(kf, LN2_HIGH, SimdFloat::mul_add(kf, LN2_LOW, series))
    }

    /// exp(x) − 1: x = k ln 2 + r, then 2^k (e^r − 1) + (2^k − 1).
    #[inline(always)]
    fn exp_m1(self) -> Self {
        let x = self;
        let s = x.simd;
        let x = SimdBase::max(
            SimdBase::min(x, f32x16::splat(s, 88.0)),
            f32x16::splat(s, -87.0),
        );
        let kf = (x * std::f32::consts::LOG2_E).round_ties_even();
        let r = SimdFloat::mul_add(kf, -LN2_LOW, SimdFloat::mul_add(kf, -LN2_HIGH, x));
        let mut p = f32x16::splat(s, 1.0 / 5040.0);
        for c in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5] {
            p = SimdFloat::mul_add(p, r, c);
        }
        let expm1_r = SimdFloat::mul_add(p * r, r, r);
        let k: i32x16<S> = kf.to_int();
        let two_k: f32x16<S> = ((k + 127) << 23).bitcast();
        SimdFloat::mul_add(two_k, expm1_r, two_k - 1.0)
    }

    /// sin x for |x| ≤ π/2 by its Taylor polynomial of degree 13.
    #[inline(always)]
    fn sin_quadrant(self) -> Self {
        let x = self;
        let x2 = x * x;
        let mut p = f32x16::splat(x.simd, 1.0 / 6_227_020_800.0);
        for c in [
            -1.0 / 39_916_800.0,
            1.0 / 362_880.0,
            -1.0 / 5040.0,
            1.0 / 120.0,
            -1.0 / 6.0,
        ] {
            p = SimdFloat::mul_add(p, x2, c);
        }
        SimdFloat::mul_add(p * x2, x, x)
    }

    #[inline(always)]
    fn lt(self, other: Self) -> Self::Mask {
        self.simd_lt(other)
    }
    #[inline(always)]
    fn ge(self, other: Self) -> Self::Mask {
        self.simd_ge(other)
    }
    #[inline(always)]
    fn equals(self, other: Self) -> Self::Mask {
        self.simd_eq(other)
    }
    #[inline(always)]
    fn all(mask: Self::Mask) -> bool {
        mask.all_true()
    }
    #[inline(always)]
    fn select(mask: Self::Mask, a: Self, b: Self) -> Self {
        mask.select(a, b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fearless_simd::{Level, dispatch};

    #[inline(always)]
    fn worst<S: Simd>(
        simd: S,
        from: f64,
        to: f64,
        lanes: impl Fn(f32x16<S>) -> f32x16<S>,
        exact: impl Fn(f64) -> f64,
    ) -> f64 {
        let mut worst = 0.0f64;
        for i in 0..4000 {
            let x = (from + (to - from) * f64::from(i) / 4000.0) as f32;
            let got = f64::from(lanes(f32x16::splat(simd, x))[3]);
            let want = exact(f64::from(x));
            if want != 0.0 {
                worst = worst.max(((got - want) / want).abs());
            }
        }
        worst
    }

    #[inline(always)]
    fn check<S: Simd>(simd: S) {
        for (from, to) in [(-1e-4, 1e-4), (-0.5, 0.5), (-0.99, 100.0)] {
            assert!(worst(simd, from, to, Scalar::ln_1p, f64::ln_1p) < 4e-7);
        }
        for (from, to) in [(-1e-4, 1e-4), (-1.0, 1.0), (-20.0, 20.0)] {
            assert!(worst(simd, from, to, Scalar::exp_m1, f64::exp_m1) < 4e-7);
        }
        let quarter = std::f64::consts::FRAC_PI_2;
        assert!(worst(simd, -quarter, quarter, Scalar::sin_quadrant, f64::sin) < 4e-7);
        // Negative control: the naive logarithm loses small arguments.
        assert!(
            worst(
                simd,
                -1e-4,
                1e-4,
                |x| Scalar::ln_1p((x + 1.0) - 1.0),
                f64::ln_1p
            ) > 1e-5
        );
    }

    #[test]
    fn lane_functions_match_f64_at_every_level() {
        dispatch!(Level::new(), simd => check(simd));
        dispatch!(Level::baseline(), simd => check(simd));
    }
}
