//! Progress of long operations: a bar on a terminal, a line every few seconds elsewhere, nothing with `--json`.

use super::output;
use barchan::sim::simulation::Progress;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Shortest time between two lines when standard error is not a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(5);
/// Shortest time between two updates of the bar.
const BAR_INTERVAL: Duration = Duration::from_millis(100);
/// Steps of the bar within a frame.
const TICKS: u64 = 1000;

/// Shows the progress of a run.
pub struct Reporter {
    form: Form,
    frames: u32,
    start: Instant,
    start_frame: u32,
    shown: Instant,
    work: u64,
}

enum Form {
    Bar(ProgressBar),
    Lines,
    Quiet,
}

impl Form {
    fn choose(quiet: bool, bar: impl Fn() -> ProgressBar) -> Self {
        if quiet {
            Self::Quiet
        } else if std::io::stderr().is_terminal() {
            Self::Bar(bar())
        } else {
            Self::Lines
        }
    }
}

impl Reporter {
    /// The reporter of a run from `start_frame` to `frames`.
    pub fn new(start_frame: u32, frames: u32, quiet: bool) -> Self {
        let form = Form::choose(quiet, || bar(start_frame, frames));
        let now = Instant::now();
        Self {
            form,
            frames,
            start: now,
            start_frame,
            shown: now,
            work: 0,
        }
    }

    /// Called after every step.
    pub fn step(&mut self, progress: &Progress) {
        self.work += progress.particles as u64;
        let interval = match self.form {
            Form::Bar(_) => BAR_INTERVAL,
            Form::Lines => LINE_INTERVAL,
            Form::Quiet => return,
        };
        if self.shown.elapsed() < interval {
            return;
        }
        self.shown = Instant::now();
        let done = f64::from(progress.frame - 1) + progress.part;
        let text = self.describe(progress, done);
        match &self.form {
            Form::Bar(bar) => {
                bar.set_position((done * TICKS as f64) as u64);
                bar.set_message(text);
            }
            Form::Lines => output::note(text),
            Form::Quiet => {}
        }
    }

    /// `frame 12/96 · 2 min 10 s left · 120 000 particles · 840 substeps · 3.20 M particle-substeps/s`: the most
    /// important parts come first, because a narrow terminal truncates the line.
    fn describe(&self, progress: &Progress, done: f64) -> String {
        let elapsed = self.start.elapsed().as_secs_f64();
        let part = (done - f64::from(self.start_frame))
            / f64::from(self.frames.saturating_sub(self.start_frame).max(1));
        let left = if part > 0.0 {
            output::duration(elapsed * (1.0 - part).max(0.0) / part)
        } else {
            "?".into()
        };
        format!(
            "frame {}/{} · {left} left · {} particles · {} substeps · {:.2} M particle-substeps/s",
            progress.frame,
            self.frames,
            output::grouped(progress.particles as u64),
            output::grouped(progress.substeps),
            self.work as f64 / elapsed.max(1e-9) * 1e-6,
        )
    }
}

/// Shows how many of a number of items are done.
pub struct Count {
    form: Form,
    noun: &'static str,
    total: usize,
    start: Instant,
    shown: Instant,
}

impl Count {
    /// For `total` items, such as pictures.
    pub fn new(noun: &'static str, total: usize, quiet: bool) -> Self {
        let now = Instant::now();
        Self {
            form: Form::choose(quiet, || bar(0, u32::try_from(total).unwrap_or(u32::MAX))),
            noun,
            total,
            start: now,
            shown: now,
        }
    }

    /// Reports that `count` items are done.
    pub fn done(&mut self, count: usize) {
        let elapsed = self.start.elapsed().as_secs_f64();
        let left = elapsed * (self.total.saturating_sub(count)) as f64 / count.max(1) as f64;
        let text = format!(
            "{} {count}/{} · {} left",
            self.noun,
            self.total,
            output::duration(left)
        );
        match &self.form {
            Form::Bar(bar) => {
                bar.set_position(count as u64 * TICKS);
                bar.set_message(text);
            }
            Form::Lines if self.shown.elapsed() >= LINE_INTERVAL => {
                self.shown = Instant::now();
                output::note(text);
            }
            _ => {}
        }
    }
}

impl Drop for Form {
    /// Removes the bar, also after a failure.
    fn drop(&mut self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

fn bar(start_frame: u32, frames: u32) -> ProgressBar {
    let bar = ProgressBar::new(u64::from(frames) * TICKS);
    if let Ok(style) = ProgressStyle::with_template("{bar:16} {wide_msg}") {
        bar.set_style(style);
    }
    bar.set_position(u64::from(start_frame) * TICKS);
    bar
}
