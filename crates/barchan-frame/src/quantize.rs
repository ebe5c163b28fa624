//! Rounding of float columns to a binary grid.
//!
//! Values become multiples of a power of two and stay plain 32-bit floats: every reader of Zarr sees physical values
//! without a special codec, and the trailing zero bits of each mantissa compress well.

/// Floats of at least 2²³ are integers; adding and subtracting this rounds smaller ones to the nearest integer.
const WHOLE: f32 = 8_388_608.0;

/// The grid step for a tolerance [unit of the tolerance]: the largest power of two that is at most twice the
/// tolerance, so that the rounding error is at most half a step. `None`: no rounding.
pub fn quantization_step(tolerance: f32) -> Option<f32> {
    let step = 2.0 * tolerance;
    if !step.is_normal() || step < 0.0 {
        return None;
    }
    let exponent_only = f32::from_bits(step.to_bits() & 0x7f80_0000);
    Some(exponent_only)
}

/// Rounds to the nearest multiple of `step`, a power of two. Non-finite values, and values so large that floats are
/// coarser than the step, are unchanged.
pub fn round_to_step(value: f32, step: f32) -> f32 {
    let steps = value / step;
    if steps.abs() < WHOLE {
        // Not `round_ties_even`, which is a function call on processors without SSE4.1.
        let shift = WHOLE.copysign(steps);
        // Adding zero turns −0 into +0, so that zero has one bit pattern.
        (steps + shift - shift) * step + 0.0
    } else {
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn error_stays_within_tolerance(value in -1.0e6_f32..1.0e6, exponent in -12.0_f32..3.0) {
            let tolerance = 10.0_f32.powf(exponent);
            let step = quantization_step(tolerance).unwrap();
            prop_assert!(step <= 2.0 * tolerance && step > tolerance);
            let rounded = round_to_step(value, step);
            prop_assert!((f64::from(rounded) - f64::from(value)).abs() <= f64::from(step) / 2.0);
            prop_assert_eq!(round_to_step(rounded, step).to_bits(), rounded.to_bits(), "rounding twice changes nothing");
        }

        #[test]
        fn any_bits_are_accepted(bits in any::<u32>(), tolerance_bits in any::<u32>()) {
            let value = f32::from_bits(bits);
            if let Some(step) = quantization_step(f32::from_bits(tolerance_bits)) {
                let rounded = round_to_step(value, step);
                prop_assert_eq!(rounded.is_nan(), value.is_nan());
                if value.is_finite() {
                    prop_assert!((f64::from(rounded) - f64::from(value)).abs() <= f64::from(step) / 2.0);
                } else if value.is_infinite() {
                    prop_assert_eq!(rounded, value);
                }
            }
        }
    }

    #[test]
    fn no_tolerance_means_no_rounding() {
        for tolerance in [0.0, -1.0, f32::NAN, f32::INFINITY, f32::MIN_POSITIVE / 8.0] {
            assert_eq!(quantization_step(tolerance), None, "{tolerance}");
        }
        assert_eq!(quantization_step(0.5), Some(1.0));
        assert_eq!(quantization_step(0.75), Some(1.0));
    }
}
