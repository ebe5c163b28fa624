//! A simulation that runs step by step in a thread pool of its own and measures the time of each step.

use super::Note;
use crate::commands::Failure;
use crate::commands::scene::embedded;
use barchan::scene::{Overrides, Scene, load};
use barchan::sim::simulation::{Control, Simulation};
use serde::Serialize;
use std::fmt;
use std::time::Instant;

/// A simulation with a thread pool of its own.
pub struct Runner {
    pub name: &'static str,
    pub threads: usize,
    pool: rayon::ThreadPool,
    pub simulation: Simulation,
    pub speeds: Vec<f64>,
    /// Wall time of every step [s].
    pub steps: Vec<f64>,
}

/// Measurements of a runner.
#[derive(Debug, Serialize)]
pub struct Row {
    pub name: &'static str,
    pub threads: usize,
    pub particles: usize,
    /// Median of the rounds, including all overhead.
    pub particle_steps_per_s: f64,
    /// Median step time [ms].
    pub step_ms: f64,
    /// 99th percentile of the step time [ms].
    pub step_p99_ms: f64,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, threads) = (self.name, self.threads);
        let speed = self.particle_steps_per_s / 1e6;
        let (median, p99) = (self.step_ms, self.step_p99_ms);
        write!(
            f,
            "  {name:<14} {threads} threads {speed:>6.2} M particle-steps/s, \
             {median:.2} ms per step, 99 % within {p99:.2} ms"
        )
    }
}

impl Runner {
    pub fn new(name: &'static str, scene: Scene, threads: usize) -> Result<Self, Failure> {
        let pool = pool(threads)?;
        let simulation = pool.install(|| Simulation::new(&scene))?;
        Ok(Self {
            name,
            threads,
            pool,
            simulation,
            speeds: Vec::new(),
            steps: Vec::new(),
        })
    }

    /// Advances `count` frames of one step each.
    pub fn run(&mut self, count: u64) -> Result<(), Failure> {
        let (simulation, times) = (&mut self.simulation, &mut self.steps);
        self.pool.install(|| {
            for _ in 0..count {
                let start = Instant::now();
                simulation.advance_frame(&mut |_| Control::Continue)?;
                times.push(start.elapsed().as_secs_f64());
            }
            Ok(())
        })
    }

    /// Advances `steps` steps of frames with several steps each.
    pub fn substeps(&mut self, steps: u64) -> Result<(), Failure> {
        let (simulation, mut left) = (&mut self.simulation, steps);
        self.pool.install(|| {
            while left > 0 {
                simulation.advance_frame(&mut |_| {
                    left = left.saturating_sub(1);
                    match left {
                        0 => Control::Stop,
                        _ => Control::Continue,
                    }
                })?;
            }
            Ok(())
        })
    }

    pub fn round(&mut self, steps: u64) -> Result<(), Failure> {
        let start = Instant::now();
        self.run(steps)?;
        let moved = steps as f64 * self.simulation.particles() as f64;
        self.speeds.push(moved / start.elapsed().as_secs_f64());
        Ok(())
    }

    pub fn row(&self, measured: usize) -> Row {
        let mut steps = self.steps[self.steps.len() - measured..].to_vec();
        steps.sort_by(f64::total_cmp);
        let at = |part: f64| 1e3 * steps[((steps.len() - 1) as f64 * part) as usize];
        Row {
            name: self.name,
            threads: self.threads,
            particles: self.simulation.particles(),
            particle_steps_per_s: median(self.speeds.clone()),
            step_ms: at(0.5),
            step_p99_ms: at(0.99),
        }
    }
}

/// A scene in `scenes/bench`, changed as by `--set`.
pub fn scene(name: &str, text: &str, set: Vec<String>) -> Result<Scene, Failure> {
    let source = embedded(&format!("{name}.toml"), text);
    let overrides = Overrides {
        set,
        ..Overrides::default()
    };
    Ok(load(&source, &overrides)?)
}

/// The thread pool of a row.
pub fn pool(threads: usize) -> Result<rayon::ThreadPool, Failure> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build().map_err(Failure::work)
}

/// Runs `rounds` rounds of all rows, alternately in forward and reverse order, so that a drift of the machine's speed favors no row.
pub fn alternate<R>(
    runners: &mut [R],
    rounds: u64,
    note: Note<'_>,
    mut round: impl FnMut(&mut R) -> Result<(), Failure>,
) -> Result<(), Failure> {
    for number in 0..rounds {
        note(format_args!("round {} of {rounds}", number + 1));
        if number % 2 == 0 {
            runners.iter_mut().try_for_each(&mut round)?;
        } else {
            runners.iter_mut().rev().try_for_each(&mut round)?;
        }
    }
    Ok(())
}

/// Ratio of the speeds of the first and the second row: the median over the rounds, since the speed of the machine varies.
pub fn speedup(runners: &[Runner]) -> Option<f64> {
    let pairs = runners[0].speeds.iter().zip(&runners.get(1)?.speeds);
    Some(median(pairs.map(|(all, one)| all / one).collect()))
}

/// Median of the values; 0 if there are none.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
