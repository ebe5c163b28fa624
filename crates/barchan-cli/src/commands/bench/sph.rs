//! `barchan bench sph`: a settled block, and a blade that pushes a bed; particle-steps a second.

use super::runner::{Row, Runner, median};
use crate::commands::{Failure, output, resources};
use clap::Args;
use serde::Serialize;
use std::process::ExitCode;

/// Half the distance of the particles [m].
const RADIUS: f64 = 0.025;
/// Time step [s].
const DT: f64 = 1e-3;
/// Steps of a frame of the pushed bed: 50 frames a second.
const FRAME: u64 = 20;
/// Frames of the pushed bed that are measured.
const PUSH: u64 = 25;

/// SPH sand, settled in a box and pushed by a blade: particle-steps a second
#[derive(Debug, Args)]
pub struct BenchSph {
    /// Particles along an edge of the block
    #[arg(long, value_name = "N", default_value_t = 34, value_parser = clap::value_parser!(u64).range(4..=400))]
    side: u64,
    /// Only the first row: all threads
    #[arg(long)]
    quick: bool,
    /// Passes for pressure and friction in a step
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=100))]
    iterations: u64,
    /// Steps before the measurement: the block settles
    #[arg(long, value_name = "N", default_value_t = 200)]
    settle: u64,
    /// Steps of a round
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..))]
    steps: u64,
    /// Rounds, in which the rows take turns, there and back; the median counts
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u64).range(1..))]
    rounds: u64,
    /// Threads [default: one for each processor]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// End with one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    particles: usize,
    threads: usize,
    iterations: u64,
    /// All threads.
    particle_steps_per_s: f64,
    /// All threads over one thread.
    speedup: Option<f64>,
    rows: Vec<Row>,
    push: Option<Push>,
}

/// A bed in which a blade pushes.
#[derive(Debug, Serialize)]
struct Push {
    particles: usize,
    /// Median frame of 20 steps of 1 ms [s].
    frame_s: f64,
}

impl BenchSph {
    pub fn run(&self) -> Result<ExitCode, Failure> {
        resources::use_threads(self.threads)?;
        let all = rayon::current_num_threads();
        let mut runners = Vec::new();
        let rows = [("all threads", all), ("one thread", 1)];
        for (name, threads) in &rows[..if self.quick { 1 } else { 2 }] {
            self.note(format_args!("settling: {name}"));
            let mut runner = Runner::new(name, &block(self.side, self.iterations), *threads)?;
            runner.run(self.settle)?;
            runners.push(runner);
        }
        for round in 0..self.rounds {
            self.note(format_args!("round {} of {}", round + 1, self.rounds));
            let mut order: Vec<&mut Runner> = runners.iter_mut().collect();
            if round % 2 == 1 {
                order.reverse();
            }
            for runner in order {
                runner.round(self.steps)?;
            }
        }
        let measured = (self.rounds * self.steps) as usize;
        let rows: Vec<Row> = runners.iter().map(|r| r.row(measured)).collect();
        let ratio = |other: &Runner| {
            let pairs = runners[0].speeds.iter().zip(&other.speeds);
            median(pairs.map(|(all, one)| all / one).collect())
        };
        let report = Report {
            particles: rows[0].particles,
            threads: all,
            iterations: self.iterations,
            particle_steps_per_s: rows[0].particle_steps_per_s,
            speedup: runners.get(1).map(ratio),
            rows,
            push: match self.quick {
                true => None,
                false => Some(self.push(all)?),
            },
        };
        show(&report, self.json)?;
        Ok(ExitCode::SUCCESS)
    }

    fn note(&self, text: std::fmt::Arguments<'_>) {
        if !self.json {
            output::note(text);
        }
    }

    /// 38 K particles, as many as the bulldozer of [Ihmsen13] has.
    fn push(&self, threads: usize) -> Result<Push, Failure> {
        self.note(format_args!("pushing"));
        let mut runner = Runner::new("push", &pushed(), threads)?;
        runner.run(10 * FRAME)?;
        let before = runner.steps.len();
        runner.run(PUSH * FRAME)?;
        let frames = runner.steps[before..].chunks(FRAME as usize);
        Ok(Push {
            particles: runner.simulation.particles(),
            frame_s: median(frames.map(|f| f.iter().sum()).collect()),
        })
    }
}

fn solver(iterations: u64) -> String {
    format!(
        "frame_rate = {}\n[solver]\nmethod = \"sph\"\nresolution = {}\n[solver.sph]\nmax_dt = {DT}\niterations = {iterations}\n\
         [materials.sand]\npreset = \"dry sand\"\n",
        1.0 / DT,
        2.0 * RADIUS
    )
}

/// A block that fills a box to its walls.
fn block(side: u64, iterations: u64) -> String {
    let (edge, wall) = (2.0 * RADIUS * side as f64, 8.0 * RADIUS);
    let room = format!(
        "{{ box = {{ min = [0, 0, 0], max = [{edge}, {}, {edge}] }} }}",
        2.0 * edge
    );
    let (low, high) = (-wall, edge + wall);
    format!(
        "{}[[fill]]\nmaterial = \"sand\"\nshape = {{ box = {{ min = [0, 0, 0], max = [{edge}, {edge}, {edge}] }} }}\n\
         [[collider]]\nshape = {{ difference = [{{ box = {{ min = [{low}, {low}, {low}], max = [{high}, {}, {high}] }} }}, \
         {room}] }}\n",
        solver(iterations),
        1.5 * edge,
    )
}

/// A bed of 80 × 10 × 48 particles through which a blade goes at 1 m/s.
fn pushed() -> String {
    format!(
        "{}[[fill]]\nmaterial = \"sand\"\nshape = {{ box = {{ min = [0, 0, 0], max = [4, 0.5, 2.4] }} }}\n\
         [[collider]]\nshape = {{ half_space = {{ normal = [0, 1, 0] }} }}\n\
         [[collider]]\nshape = {{ box = {{ min = [-0.3, 0.2, 0.6], max = [-0.1, 1, 1.8] }} }}\n\
         motion = {{ velocity = [1, 0, 0] }}\n",
        solver(3)
    )
}

fn show(report: &Report, json: bool) -> Result<(), Failure> {
    if json {
        return output::say_json(report);
    }
    output::say(format_args!(
        "{} particles settled in a box, {} passes for pressure and friction in a step of 1 ms",
        output::grouped(report.particles as u64),
        report.iterations
    ))?;
    for row in &report.rows {
        output::say(format_args!(
            "  {:<14} {} threads {:>6.2} M particle-steps/s, {:.2} ms a step, 99 % within {:.2} ms",
            row.name,
            row.threads,
            row.particle_steps_per_s / 1e6,
            row.step_ms,
            row.step_p99_ms
        ))?;
    }
    if let Some(speedup) = report.speedup {
        output::say(format_args!("  speedup by threads {speedup:.2}"))?;
    }
    if let Some(push) = &report.push {
        output::say(format_args!(
            "a blade pushes {} particles: {:.3} s a frame of {FRAME} steps",
            output::grouped(push.particles as u64),
            push.frame_s
        ))?;
    }
    Ok(())
}
