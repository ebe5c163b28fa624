//! Straight lines through points.

/// A straight line y = `offset` + `slope` x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Change of y with x.
    pub slope: f64,
    /// y at x = 0.
    pub offset: f64,
    /// Part of the variance of y that the line explains.
    pub r_squared: f64,
}

/// Least squares through points; NaN with fewer than two different x.
pub fn line(points: &[[f64; 2]]) -> Line {
    let n = points.len() as f64;
    let mean = |i: usize| points.iter().map(|p| p[i]).sum::<f64>() / n;
    let (mx, my) = (mean(0), mean(1));
    let sum = |a: usize, b: usize| {
        let m = [mx, my];
        points
            .iter()
            .map(|p| (p[a] - m[a]) * (p[b] - m[b]))
            .sum::<f64>()
    };
    let slope = sum(0, 1) / sum(0, 0);
    Line {
        slope,
        offset: my - slope * mx,
        r_squared: slope * sum(0, 1) / sum(1, 1),
    }
}

/// Exponent and factor of y = factor · x^exponent, by least squares in logarithms.
pub fn power(points: &[[f64; 2]]) -> (f64, f64) {
    let logs: Vec<[f64; 2]> = points.iter().map(|p| p.map(f64::ln)).collect();
    let line = line(&logs);
    (line.slope, line.offset.exp())
}

/// y at `x` on the straight pieces between points sorted by x; the ends continue level.
pub fn interpolate(points: &[[f64; 2]], x: f64) -> f64 {
    let after = points.partition_point(|p| p[0] < x);
    match (points.get(after.wrapping_sub(1)), points.get(after)) {
        (Some(a), Some(b)) => a[1] + (b[1] - a[1]) * (x - a[0]) / (b[0] - a[0]),
        (Some(end), None) | (None, Some(end)) => end[1],
        (None, None) => f64::NAN,
    }
}

/// The first x at which straight pieces between points reach `y` from below.
pub fn first_crossing(points: &[[f64; 2]], y: f64) -> Option<f64> {
    if points.first()?[1] >= y {
        return Some(points[0][0]);
    }
    let pair = points.windows(2).find(|w| w[0][1] < y && w[1][1] >= y)?;
    let part = (y - pair[0][1]) / (pair[1][1] - pair[0][1]);
    Some(pair[0][0] + part * (pair[1][0] - pair[0][0]))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    #[test]
    fn lines_and_powers_are_found() {
        let fitted = line(&[[0.0, 1.0], [1.0, 3.0], [2.0, 5.0]]);
        assert!((fitted.slope - 2.0).abs() < 1e-12 && (fitted.offset - 1.0).abs() < 1e-12);
        assert!((fitted.r_squared - 1.0).abs() < 1e-12);
        let points = [1.0, 2.0, 5.0].map(|x: f64| [x, 1.9 * x.powf(2.0 / 3.0)]);
        let (exponent, factor) = power(&points);
        assert!((exponent - 2.0 / 3.0).abs() < 1e-12 && (factor - 1.9).abs() < 1e-12);
        let scattered = line(&[[0.0, 0.0], [1.0, 2.0], [2.0, 0.0], [3.0, 2.0]]);
        assert!(scattered.r_squared < 0.5);
    }

    #[test]
    fn crossings_and_values_between_points() {
        let points = [[0.0, 0.0], [1.0, 2.0], [2.0, 2.0], [3.0, 4.0]];
        assert_eq!(first_crossing(&points, 1.0), Some(0.5));
        assert_eq!(first_crossing(&points, 3.0), Some(2.5));
        assert_eq!(first_crossing(&points, 5.0), None);
        assert_eq!(interpolate(&points, 2.5), 3.0);
        assert_eq!(interpolate(&points, 9.0), 4.0);
        assert_eq!(interpolate(&points, -1.0), 0.0);
        assert!(interpolate(&[], 0.0).is_nan());
    }
}
