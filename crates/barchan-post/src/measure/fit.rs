//! Means and straight lines.

/// Mean; `None` without values.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Sample standard deviation; `None` for fewer than two values.
pub(super) fn standard_deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|_| values.len() > 1)?;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// Slope dy/dx of the least-squares line through points (x, y); `None` if all x are the same.
pub(super) fn line_slope(points: &[(f64, f64)]) -> Option<f64> {
    let n = points.len() as f64;
    let x_mean = points.iter().map(|p| p.0).sum::<f64>() / n;
    let y_mean = points.iter().map(|p| p.1).sum::<f64>() / n;
    let (mut xx, mut xy) = (0.0, 0.0);
    for (x, y) in points {
        xx += (x - x_mean).powi(2);
        xy += (x - x_mean) * (y - y_mean);
    }
    let slope = xy / xx;
    slope.is_finite().then_some(slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_through_points() {
        let slope = line_slope(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]);
        assert_eq!(slope, Some(2.0));
        assert_eq!(line_slope(&[(1.0, 1.0), (1.0, 3.0)]), None);
        assert_eq!(line_slope(&[]), None);
    }

    #[test]
    fn spread_of_a_sample() {
        assert_eq!(standard_deviation(&[1.0]), None);
        assert_eq!(standard_deviation(&[1.0, 3.0]), Some(2.0_f64.sqrt()));
        assert_eq!(mean(&[]), None);
    }
}
