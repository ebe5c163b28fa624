//! `barchan bench mpm`: collapse of a block of sand; particle-substeps per second.

use super::runner::{Runner, alternate, median, scene};
use super::{Note, bench_scene, count, peak_memory};
use crate::commands::{Failure, output};
use barchan::scene::Scene;
use barchan::sim::simulation::Simulation;
use clap::Args;
use serde::Serialize;
use std::fmt;

/// Side of the block [m].
const SIDE: f64 = 0.5;
/// Particles per cell.
const PER_CELL: f64 = 8.0;
/// Steps before the first measurement, in which the block starts to flow.
const WARM_UP: u64 = 40;

/// Collapse of a block of sand in 3D: particle-substeps per second
#[derive(Debug, Args)]
pub struct BenchMpm {
    /// Particles, such as 100k or 10M
    #[arg(long, value_name = "N", default_value = "1M", value_parser = count)]
    particles: u64,
    /// Only the first row: quadratic kernel, all threads
    #[arg(long)]
    quick: bool,
    /// Steps per round
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..))]
    steps: u64,
    /// Rounds; rows alternate in forward and reverse order; the median is reported
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..))]
    rounds: u64,
}

#[derive(Debug, Serialize)]
struct Row {
    name: &'static str,
    kernel: &'static str,
    threads: usize,
    particles: usize,
    /// Median of the rounds.
    particle_substeps_per_s: f64,
    /// Wall time of each stage per particle and substep [ns], over all rounds.
    stages_ns: Vec<(&'static str, f64)>,
}

#[derive(Debug, Serialize)]
pub struct Report {
    particles: usize,
    threads: usize,
    /// With the quadratic kernel and all threads.
    particle_substeps_per_s: f64,
    /// Ratio of all threads to one.
    speedup: Option<f64>,
    /// Ratio of the speeds of the cubic and the quadratic kernel.
    cubic_over_quadratic: Option<f64>,
    /// Relative change of the step time with twice the empty space around the block.
    empty_space_change: Option<f64>,
    /// Relative change of the step time of the first row when repeated: repeatability on this machine. The ratios above use
    /// the mean speed of both.
    repeat_change: Option<f64>,
    rows: Vec<Row>,
    /// Peak resident memory of the bench [bytes], where available.
    peak_memory_bytes: Option<u64>,
}

impl BenchMpm {
    pub fn measure(&self, note: Note<'_>) -> Result<Report, Failure> {
        let all = rayon::current_num_threads();
        let rows = [
            ("all threads", "quadratic", all, 3.0),
            ("one thread", "quadratic", 1, 3.0),
            ("cubic", "cubic", all, 3.0),
            ("twice the empty space", "quadratic", all, 6.0),
            ("all threads, repeated", "quadratic", all, 3.0),
        ];
        let mut runners = Vec::new();
        for (name, kernel, threads, room) in &rows[..if self.quick { 1 } else { 5 }] {
            let scene = block(kernel, *room, self.particles)?;
            runners.push(Block::new(name, kernel, scene, *threads)?);
        }
        alternate(&mut runners, self.rounds, note, |r| r.round(self.steps))?;
        Ok(report(&runners, all))
    }
}

/// A simulation of the block, and the speeds of its rounds.
struct Block {
    kernel: &'static str,
    runner: Runner,
    particle_substeps: u64,
    stages_before: Vec<(&'static str, std::time::Duration)>,
}

impl Block {
    fn new(
        name: &'static str,
        kernel: &'static str,
        scene: Scene,
        threads: usize,
    ) -> Result<Self, Failure> {
        let mut runner = Runner::new(name, scene, threads)?;
        runner.substeps(WARM_UP)?;
        Ok(Self {
            kernel,
            stages_before: runner.simulation.timings().stages().to_vec(),
            runner,
            particle_substeps: 0,
        })
    }

    fn round(&mut self, steps: u64) -> Result<(), Failure> {
        let done = |s: &Simulation| (s.particle_substeps_here(), s.solver_wall());
        let before = done(&self.runner.simulation);
        self.runner.substeps(steps)?;
        let after = done(&self.runner.simulation);
        let substeps = after.0 - before.0;
        self.particle_substeps += substeps;
        let seconds = (after.1 - before.1).as_secs_f64();
        self.runner.speeds.push(substeps as f64 / seconds);
        Ok(())
    }

    fn row(&self) -> Row {
        let before = |name| {
            let found = self.stages_before.iter().find(|(n, _)| *n == name);
            found.map_or(0.0, |(_, wall)| wall.as_secs_f64())
        };
        let stages = self.runner.simulation.timings().stages().iter();
        let stages_ns = stages
            .map(|(name, wall)| (*name, wall.as_secs_f64() - before(*name)))
            .filter(|(_, seconds)| *seconds > 0.0)
            .map(|(name, seconds)| (name, 1e9 * seconds / self.particle_substeps as f64))
            .collect();
        Row {
            name: self.runner.name,
            kernel: self.kernel,
            threads: self.runner.threads,
            particles: self.runner.simulation.particles(),
            particle_substeps_per_s: median(self.runner.speeds.clone()),
            stages_ns,
        }
    }
}

/// A block in a domain of `room` times its side.
fn block(kernel: &str, room: f64, particles: u64) -> Result<Scene, Failure> {
    let dx = SIDE / (particles as f64 / PER_CELL).cbrt();
    let room = room * SIDE;
    let (low, high) = (-0.5 * room, 0.5 * room);
    let set = vec![
        format!("solver.resolution={dx}"),
        format!("solver.mpm.kernel={kernel}"),
        format!("domain={{ min = [{low}, -1, {low}], max = [{high}, {room}, {high}] }}"),
    ];
    scene("block", bench_scene!("block"), set)
}

fn report(runners: &[Block], threads: usize) -> Report {
    let rows: Vec<Row> = runners.iter().map(Block::row).collect();
    // Ratios within each round, since the speed of the machine varies; the first row and its repetition are averaged.
    let again = runners.last().unwrap_or(&runners[0]);
    let pairs = || runners[0].runner.speeds.iter().zip(&again.runner.speeds);
    let repeat = median(pairs().map(|(first, again)| first / again).collect());
    let first_over = |i: usize| {
        let other = runners.get(i)?;
        let both = pairs().map(|(first, again)| 0.5 * (first + again));
        let ratios = both
            .zip(&other.runner.speeds)
            .map(|(first, other)| first / other);
        Some(median(ratios.collect()))
    };
    Report {
        particles: rows[0].particles,
        threads,
        particle_substeps_per_s: rows[0].particle_substeps_per_s,
        speedup: first_over(1),
        cubic_over_quadratic: first_over(2).map(|ratio| 1.0 / ratio),
        empty_space_change: first_over(3).map(|ratio| ratio - 1.0),
        repeat_change: (runners.len() > 1).then_some(repeat - 1.0),
        rows,
        peak_memory_bytes: peak_memory(),
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "collapse of a block, {} particles, 3D, APIC, hardening, volume correction",
            output::grouped(self.particles as u64)
        )?;
        for row in &self.rows {
            writeln!(
                f,
                "  {:<22} {:>6.2} M particle-substeps/s, {} kernel, {} threads",
                row.name,
                row.particle_substeps_per_s / 1e6,
                row.kernel,
                row.threads
            )?;
            let stages: Vec<String> = row
                .stages_ns
                .iter()
                .map(|(name, ns)| format!("{name} {ns:.1}"))
                .collect();
            writeln!(f, "  {:<22} ns: {}", "", stages.join(", "))?;
        }
        let ratio = |value: f64| format!("{value:.2}");
        let change = |part: f64| format!("{:+.1} % step time", 100.0 * part);
        let lines = [
            ("speedup by threads", self.speedup.map(ratio)),
            ("cubic over quadratic", self.cubic_over_quadratic.map(ratio)),
            ("empty space doubled", self.empty_space_change.map(change)),
            ("first row repeated", self.repeat_change.map(change)),
            ("memory", self.peak_memory_bytes.map(output::bytes)),
        ];
        for (name, text) in lines {
            if let Some(text) = text {
                writeln!(f, "  {name:<22} {text}")?;
            }
        }
        Ok(())
    }
}
