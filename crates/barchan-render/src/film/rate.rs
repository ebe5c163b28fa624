//! Frame rates as fractions, so that timing stays exact in long films.

use super::FilmError;

/// Pictures per second as a fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rate {
    pub(super) numerator: u32,
    pub(super) denominator: u32,
}

/// Large enough for 24000/1001 and similar broadcast rates.
const LARGEST_DENOMINATOR: u32 = 1001;

impl Rate {
    /// The nearest fraction to a rate [1/s]: by continued fractions; 23.976 is taken for 24000/1001.
    pub(super) fn new(rate: f64) -> Result<Self, FilmError> {
        if !(0.01..=1000.0).contains(&rate) {
            return Err(FilmError::Rate { rate });
        }
        let broadcast = (rate * 1.001).round();
        if (rate - broadcast / 1.001).abs() < 5e-4 && (rate - rate.round()).abs() > 1e-3 {
            return Ok(Self {
                numerator: broadcast as u32 * 1000,
                denominator: 1001,
            });
        }
        let (mut p, mut q) = ([1.0, rate.floor()], [0.0, 1.0]);
        let mut rest = rate - rate.floor();
        while rest > 1e-9 && (p[1] / q[1] - rate).abs() > 1e-9 * rate {
            let whole = (1.0 / rest).floor();
            rest = 1.0 / rest - whole;
            let next = [whole * p[1] + p[0], whole * q[1] + q[0]];
            if next[1] > f64::from(LARGEST_DENOMINATOR) {
                break;
            }
            (p, q) = ([p[1], next[0]], [q[1], next[1]]);
        }
        Ok(Self {
            numerator: (p[1] as u32).max(1),
            denominator: q[1] as u32,
        })
    }

    /// Ticks per second (at least 1000) and ticks per picture.
    pub(super) fn ticks(self) -> (u32, u32) {
        let fold = 1000u32.div_ceil(self.numerator);
        (self.numerator * fold, self.denominator * fold)
    }

    /// Duration of that many pictures [s].
    pub(super) fn duration(self, pictures: u32) -> f64 {
        f64::from(pictures) * f64::from(self.denominator) / f64::from(self.numerator)
    }

    /// Pictures per second [1/s].
    pub(super) fn value(self) -> f64 {
        f64::from(self.numerator) / f64::from(self.denominator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_approximated_and_broadcast_rates_exact() {
        let of = |rate| {
            let r = Rate::new(rate).unwrap();
            (r.numerator, r.denominator)
        };
        assert_eq!(of(24.0), (24, 1));
        assert_eq!(of(12.5), (25, 2));
        assert_eq!(of(23.976), (24000, 1001));
        assert_eq!(of(29.97), (30000, 1001));
        assert_eq!(of(59.94), (60000, 1001));
        assert_eq!(of(0.5), (1, 2));
        for i in 1..2000 {
            let rate = f64::from(i) * 0.3717;
            let r = Rate::new(rate).unwrap();
            assert!((r.value() - rate).abs() < 1e-3 * rate, "{rate} {r:?}");
            assert!(
                r.ticks().0 >= 1000 && r.ticks().0 < 2_000_000,
                "{rate} {r:?}"
            );
        }
        for wrong in [0.0, -24.0, f64::NAN, f64::INFINITY, 1e9] {
            assert!(Rate::new(wrong).is_err());
        }
    }
}
