//! `barchan bench sph`: a settled block, and a blade that pushes a bed; particle-steps per second.

use super::runner::{Row, Runner, alternate, median, scene, speedup};
use super::{Note, bench_scene};
use crate::commands::{Failure, output};
use barchan::scene::Scene;
use clap::Args;
use serde::Serialize;
use std::fmt;

/// Half the particle spacing [m].
const RADIUS: f64 = 0.025;
/// Steps per frame of the pushed bed, at 50 frames per second.
const FRAME: u64 = 20;
/// Measured frames of the pushed bed.
const PUSH: u64 = 25;

/// SPH sand, settled in a box and pushed by a blade: particle-steps per second
#[derive(Debug, Args)]
pub struct BenchSph {
    /// Particles along an edge of the block
    #[arg(long, value_name = "N", default_value_t = 34, value_parser = clap::value_parser!(u64).range(4..=400))]
    side: u64,
    /// Only the first row: all threads
    #[arg(long)]
    quick: bool,
    /// Iterations for pressure and friction per step
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=100))]
    iterations: u64,
    /// Steps before the measurement, in which the block settles
    #[arg(long, value_name = "N", default_value_t = 200)]
    settle: u64,
    /// Steps per round
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..))]
    steps: u64,
    /// Rounds; rows alternate in forward and reverse order; the median is reported
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u64).range(1..))]
    rounds: u64,
}

#[derive(Debug, Serialize)]
pub struct Report {
    particles: usize,
    threads: usize,
    iterations: u64,
    /// With all threads.
    particle_steps_per_s: f64,
    /// Ratio of all threads to one.
    speedup: Option<f64>,
    rows: Vec<Row>,
    push: Option<Push>,
}

/// A bed pushed by a blade.
#[derive(Debug, Serialize)]
struct Push {
    particles: usize,
    /// Median wall time of a frame of 20 steps of 1 ms [s].
    frame_s: f64,
}

impl BenchSph {
    pub fn measure(&self, note: Note<'_>) -> Result<Report, Failure> {
        let all = rayon::current_num_threads();
        let mut runners = Vec::new();
        let rows = [("all threads", all), ("one thread", 1)];
        for (name, threads) in &rows[..if self.quick { 1 } else { 2 }] {
            note(format_args!("settling: {name}"));
            let mut runner = Runner::new(name, block(self.side, self.iterations)?, *threads)?;
            runner.run(self.settle)?;
            runners.push(runner);
        }
        alternate(&mut runners, self.rounds, note, |r| r.round(self.steps))?;
        let measured = (self.rounds * self.steps) as usize;
        let rows: Vec<Row> = runners.iter().map(|r| r.row(measured)).collect();
        Ok(Report {
            particles: rows[0].particles,
            threads: all,
            iterations: self.iterations,
            particle_steps_per_s: rows[0].particle_steps_per_s,
            speedup: speedup(&runners),
            rows,
            push: match self.quick {
                true => None,
                false => Some(push(all, note)?),
            },
        })
    }
}

/// The bed of scenes/bench/push.toml.
fn push(threads: usize, note: Note<'_>) -> Result<Push, Failure> {
    note(format_args!("pushing"));
    let scene = scene("push", bench_scene!("push"), vec![])?;
    let mut runner = Runner::new("push", scene, threads)?;
    runner.run(10 * FRAME)?;
    let before = runner.steps.len();
    runner.run(PUSH * FRAME)?;
    let frames = runner.steps[before..].chunks(FRAME as usize);
    Ok(Push {
        particles: runner.simulation.particles(),
        frame_s: median(frames.map(|f| f.iter().sum()).collect()),
    })
}

/// A block that fills a basin to its walls.
fn block(side: u64, iterations: u64) -> Result<Scene, Failure> {
    let (edge, wall) = (2.0 * RADIUS * side as f64, 8.0 * RADIUS);
    let (low, high, rim, top) = (-wall, edge + wall, 1.5 * edge, 2.0 * edge);
    let set = vec![
        format!("solver.sph.iterations={iterations}"),
        format!("fill.0.shape.box.max=[{edge}, {edge}, {edge}]"),
        format!(
            "collider.basin.shape={{ difference = [{{ box = {{ min = [{low}, {low}, {low}], max = [{high}, {rim}, {high}] }} }}, \
             {{ box = {{ min = [0, 0, 0], max = [{edge}, {top}, {edge}] }} }}] }}"
        ),
    ];
    scene("basin", bench_scene!("basin"), set)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} particles settled in a box, {} iterations for pressure and friction in a step of 1 ms",
            output::grouped(self.particles as u64),
            self.iterations
        )?;
        for row in &self.rows {
            writeln!(f, "{row}")?;
        }
        if let Some(speedup) = self.speedup {
            writeln!(f, "  speedup by threads {speedup:.2}")?;
        }
        if let Some(push) = &self.push {
            writeln!(
                f,
                "a blade pushes {} particles: {:.3} s per frame of {FRAME} steps",
                output::grouped(push.particles as u64),
                push.frame_s
            )?;
        }
        Ok(())
    }
}
