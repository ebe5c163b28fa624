//! Numbers in messages: short, without trailing zeros and insignificant digits.

/// A number in a short form that is exact: `0.3`, `1e-9`, `2.5e20`.
pub fn exact(x: f64) -> String {
    match x.abs() {
        0.0 => "0".into(),
        1e-4..1e9 => x.to_string(),
        _ => format!("{x:e}"),
    }
}

/// A number rounded to the given number of significant digits: `rounded(2.0 / 3.0, 3)` is `0.667`.
pub fn rounded(x: f64, digits: usize) -> String {
    let places = digits.saturating_sub(1);
    exact(format!("{x:.places$e}").parse().unwrap_or(x))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_no_trailing_zeros() {
        for (x, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (-8.0, "-8"),
            (0.04, "0.04"),
            (1e-9, "1e-9"),
            (1e300, "1e300"),
            (1e6, "1000000"),
            (f64::INFINITY, "inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(exact(x), text);
        }
        assert_eq!(rounded(f64::from(0.3_f32), 6), "0.3");
        assert_eq!(rounded(0.001, 4), "0.001");
        assert_eq!(rounded(2.0 / 3.0, 3), "0.667");
        assert_eq!(rounded(99.9999, 3), "100");
        assert_eq!(rounded(1234.5, 3), "1230");
        assert_eq!(rounded(1.23456e-7, 3), "1.23e-7");
        assert_eq!(rounded(f64::INFINITY, 3), "inf");
    }
}
