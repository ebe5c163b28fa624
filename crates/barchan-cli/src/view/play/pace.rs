//! The course of time: when the next step is due, and how fast it really goes.

use serde::Serialize;
use std::time::{Duration, Instant};

/// A simulation that is later than this is no longer made up for: time is lost, not caught up with.
const FORGIVEN: Duration = Duration::from_millis(100);
/// Time over which rates are taken.
const WINDOW: Duration = Duration::from_millis(500);

/// Ties simulated time to the clock on the wall.
#[derive(Debug)]
pub(super) struct Pace {
    wall: Instant,
    time: f64,
}

impl Pace {
    /// From now on.
    pub fn new(now: Instant, time: f64) -> Self {
        Self { wall: now, time }
    }

    /// How long to wait until the simulated time is due. Who is late is not made to hurry later.
    pub fn wait(&mut self, now: Instant, time: f64, speed: f64) -> Duration {
        let ahead = Duration::try_from_secs_f64((time - self.time) / speed);
        let due = ahead.ok().and_then(|ahead| self.wall.checked_add(ahead));
        match due {
            Some(due) if now <= due + FORGIVEN => due.saturating_duration_since(now),
            _ => {
                *self = Self::new(now, time);
                Duration::ZERO
            }
        }
    }
}

/// How fast it goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(super) struct Rates {
    /// Simulated seconds in a second.
    pub ratio: f64,
    /// Steps in a second.
    pub steps_per_s: f64,
    /// Time that a step takes [ms].
    pub step_ms: f64,
}

/// Counts at a moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counts {
    pub wall: Instant,
    /// Simulated time [s].
    pub time: f64,
    /// Steps so far.
    pub steps: u64,
    /// Time spent in them.
    pub busy: Duration,
}

/// Takes rates from counts.
#[derive(Debug)]
pub(super) struct Meter {
    from: Counts,
    rates: Rates,
}

impl Meter {
    /// From now on.
    pub fn new(now: Counts) -> Self {
        Self {
            from: now,
            rates: Rates::default(),
        }
    }

    /// The rates of the last moments.
    pub fn read(&mut self, now: Counts) -> Rates {
        let wall = now.wall.saturating_duration_since(self.from.wall);
        // The first number comes early, so that it does not look as if nothing happened.
        let is_first = self.rates == Rates::default() && wall > WINDOW / 4;
        if wall >= WINDOW || is_first {
            let seconds = wall.as_secs_f64();
            let steps = now.steps.saturating_sub(self.from.steps);
            let busy = now.busy.saturating_sub(self.from.busy);
            self.rates = Rates {
                ratio: ((now.time - self.from.time) / seconds).max(0.0),
                steps_per_s: steps as f64 / seconds,
                step_ms: match steps {
                    0 => 0.0,
                    steps => 1e3 * busy.as_secs_f64() / steps as f64,
                },
            };
            self.from = now;
        }
        self.rates
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn in_time_it_waits_until_it_is_due() {
        let start = Instant::now();
        let mut pace = Pace::new(start, 5.0);
        assert_eq!(pace.wait(start + 4 * MS, 5.010, 1.0).as_millis(), 6);
        assert_eq!(pace.wait(start + 4 * MS, 5.010, 0.5).as_millis(), 16);
        // A little late: at once, and the next is due as if nothing had been.
        assert_eq!(pace.wait(start + 50 * MS, 5.020, 1.0), Duration::ZERO);
        assert_eq!(pace.wait(start + 51 * MS, 5.060, 1.0).as_millis(), 9);
    }

    #[test]
    fn lost_time_is_not_made_up_for() {
        let start = Instant::now();
        let mut pace = Pace::new(start, 0.0);
        // Every step takes ten times what it simulates: no debt is run up.
        let mut now = start;
        for step in 1..100 {
            now += 160 * MS;
            pace.wait(now, 0.016 * f64::from(step), 1.0);
        }
        // Suddenly quick: paced at once, instead of racing through 14 s of arrears.
        let waits: Duration = (100..110)
            .map(|step| {
                let wait = pace.wait(now, 0.016 * f64::from(step), 1.0);
                now += wait;
                wait
            })
            .sum();
        assert!(waits > 50 * MS, "{waits:?}");
        // Not a number, or back in time: begins anew.
        assert_eq!(pace.wait(now, f64::NAN, 1.0), Duration::ZERO);
        assert_eq!(pace.wait(now, -1e9, 1.0), Duration::ZERO);
    }

    #[test]
    fn rates_are_those_of_the_last_moments() {
        let start = Instant::now();
        let at = |ms: u32, time: f64, steps: u64, busy: u32| Counts {
            wall: start + ms * MS,
            time,
            steps,
            busy: busy * MS,
        };
        let mut meter = Meter::new(at(0, 0.0, 0, 0));
        assert_eq!(meter.read(at(100, 0.1, 6, 50)).steps_per_s, 0.0);
        let rates = meter.read(at(500, 0.25, 30, 240));
        assert!((rates.ratio - 0.5).abs() < 1e-9 && (rates.steps_per_s - 60.0).abs() < 1e-9);
        assert!((rates.step_ms - 8.0).abs() < 1e-9);
        assert_eq!(meter.read(at(600, 0.3, 31, 241)), rates);
    }
}
