//! Pacing: when the next step is due, and the actual speed.

use serde::Serialize;
use std::time::{Duration, Instant};

/// Delays longer than this are not made up for.
const FORGIVEN: Duration = Duration::from_millis(100);
/// Time over which rates are averaged.
const WINDOW: Duration = Duration::from_millis(500);

/// Relates simulated time to wall time.
#[derive(Debug)]
pub(super) struct Pace {
    wall: Instant,
    time: f64,
}

impl Pace {
    /// Pacing from now on.
    pub fn new(now: Instant, time: f64) -> Self {
        Self { wall: now, time }
    }

    /// Time to wait until the simulated time is due. Delays are not made up for.
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

/// Actual speed of the simulation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(super) struct Rates {
    /// Simulated seconds per second.
    pub ratio: f64,
    /// Steps per second.
    pub steps_per_s: f64,
    /// Time per step [ms].
    pub step_ms: f64,
}

/// Counters at an instant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counts {
    pub wall: Instant,
    /// Simulated time [s].
    pub time: f64,
    /// Steps since the start.
    pub steps: u64,
    /// Wall time spent in them.
    pub busy: Duration,
}

/// Computes rates from counters.
#[derive(Debug)]
pub(super) struct Meter {
    from: Counts,
    rates: Rates,
}

impl Meter {
    /// Rates from now on.
    pub fn new(now: Counts) -> Self {
        Self {
            from: now,
            rates: Rates::default(),
        }
    }

    /// The rates over the last [`WINDOW`].
    pub fn read(&mut self, now: Counts) -> Rates {
        let wall = now.wall.saturating_duration_since(self.from.wall);
        // The first rates are available early, so that the page does not show zeros.
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
    fn steps_wait_until_they_are_due() {
        let start = Instant::now();
        let mut pace = Pace::new(start, 5.0);
        assert_eq!(pace.wait(start + 4 * MS, 5.010, 1.0).as_millis(), 6);
        assert_eq!(pace.wait(start + 4 * MS, 5.010, 0.5).as_millis(), 16);
        // Slightly late: no wait, and the next step is due as before.
        assert_eq!(pace.wait(start + 50 * MS, 5.020, 1.0), Duration::ZERO);
        assert_eq!(pace.wait(start + 51 * MS, 5.060, 1.0).as_millis(), 9);
    }

    #[test]
    fn delays_are_not_made_up_for() {
        let start = Instant::now();
        let mut pace = Pace::new(start, 0.0);
        // Every step takes ten times the time that it simulates: delays do not accumulate.
        let mut now = start;
        for step in 1..100 {
            now += 160 * MS;
            pace.wait(now, 0.016 * f64::from(step), 1.0);
        }
        // Fast again: paced at once, without making up for 14 s of delay.
        let waits: Duration = (100..110)
            .map(|step| {
                let wait = pace.wait(now, 0.016 * f64::from(step), 1.0);
                now += wait;
                wait
            })
            .sum();
        assert!(waits > 50 * MS, "{waits:?}");
        // NaN or an earlier time restarts the pacing.
        assert_eq!(pace.wait(now, f64::NAN, 1.0), Duration::ZERO);
        assert_eq!(pace.wait(now, -1e9, 1.0), Duration::ZERO);
    }

    #[test]
    fn rates_are_those_of_the_last_window() {
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
