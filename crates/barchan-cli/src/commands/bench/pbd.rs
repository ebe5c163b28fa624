//! `barchan bench pbd`: grains settled in a box, and 2000 grains poured onto a pile; particle-steps per second.

use super::runner::{Row, Runner, alternate, scene, speedup};
use super::{Note, bench_scene, count};
use crate::commands::{Failure, output};
use barchan::scene::Scene;
use clap::Args;
use serde::Serialize;
use std::fmt;

/// Radius of the grains [m].
const RADIUS: f64 = 0.05;
/// Grains poured onto the pile.
const POURED: usize = 2000;
/// Steps of digging.
const DIG: u64 = 240;
/// Intervals of the pour over which step times are averaged.
const PARTS: usize = 8;

/// Position-based grains, settled in a box and poured onto a pile: particle-steps per second
#[derive(Debug, Args)]
pub struct BenchPbd {
    /// Grains in the box, such as 20k
    #[arg(long, value_name = "N", default_value = "20k", value_parser = count)]
    particles: u64,
    /// Only the first row: mass splitting, all threads
    #[arg(long)]
    quick: bool,
    /// Steps before the measurement, in which the grains settle
    #[arg(long, value_name = "N", default_value_t = 240)]
    settle: u64,
    /// Steps per round
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    steps: u64,
    /// Rounds; rows alternate in forward and reverse order; the median is reported
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u64).range(1..))]
    rounds: u64,
}

/// Step times while grains are poured.
#[derive(Debug, Serialize)]
struct Curve {
    name: &'static str,
    threads: usize,
    /// Mean number of grains in each interval of the pour.
    grains: Vec<f64>,
    /// Mean step time in each interval [ms].
    step_ms: Vec<f64>,
}

#[derive(Debug, Serialize)]
pub struct Report {
    particles: usize,
    threads: usize,
    /// With mass splitting and all threads.
    particle_steps_per_s: f64,
    /// Ratio of all threads to one.
    speedup: Option<f64>,
    /// Ratio of simulated time to wall time of the first row.
    real_time: f64,
    rows: Vec<Row>,
    /// The same grains with mass splitting, while a blade digs in them.
    dig: Option<Row>,
    pour: Vec<Curve>,
}

impl BenchPbd {
    pub fn measure(&self, note: Note<'_>) -> Result<Report, Failure> {
        let all = rayon::current_num_threads();
        let splitting = "mass splitting";
        let mut rows = vec![("mass splitting", splitting, all)];
        if !self.quick {
            rows.push(("one thread", splitting, 1));
            rows.push(("averaged", "averaged", all));
            rows.push(("gauss-seidel", "gauss-seidel", 1));
        }
        let mut runners = Vec::new();
        for (name, scheme, threads) in rows {
            note(format_args!("settling: {name}"));
            let mut runner = Runner::new(name, settled(self.particles, scheme)?, threads)?;
            runner.run(self.settle)?;
            runners.push(runner);
        }
        alternate(&mut runners, self.rounds, note, |r| r.round(self.steps))?;
        let mut report = report(&runners, all);
        if !self.quick {
            report.dig = Some(self.dig(splitting, all, note)?);
            report.pour = pour(all, note)?;
        }
        Ok(report)
    }

    /// Settled grains in which a blade digs: it is lowered, pushes, and is raised.
    fn dig(&self, scheme: &str, all: usize, note: Note<'_>) -> Result<Row, Failure> {
        note(format_args!("digging"));
        let begin = self.settle as f64 / 60.0;
        let mut set = walls(self.particles, scheme);
        set.extend(blade(self.particles, begin));
        let text = concat!(bench_scene!("box"), bench_scene!("blade"));
        let mut runner = Runner::new("dig", scene("dig", text, set)?, all)?;
        runner.run(self.settle)?;
        runner.round(DIG)?;
        Ok(runner.row(DIG as usize))
    }
}

/// The curves of Figure 1 of [Holz14]: its solver on one thread and on all, compared with Gauss–Seidel.
fn pour(all: usize, note: Note<'_>) -> Result<Vec<Curve>, Failure> {
    let mut curves = Vec::new();
    for (name, scheme, threads) in [
        ("averaged", "averaged", 1),
        ("averaged", "averaged", all),
        ("gauss-seidel", "gauss-seidel", 1),
        ("mass splitting", "mass splitting", all),
    ] {
        note(format_args!("pouring: {name}, {threads} threads"));
        let mut runner = Runner::new(name, poured(scheme)?, threads)?;
        let mut samples = Vec::new();
        while runner.simulation.particles() < POURED && samples.len() < 2000 {
            runner.run(1)?;
            samples.push((runner.simulation.particles(), runner.steps[samples.len()]));
        }
        let parts = samples.chunks(samples.len().div_ceil(PARTS).max(1));
        let mean = |part: &[(usize, f64)], value: fn(&(usize, f64)) -> f64| {
            part.iter().map(value).sum::<f64>() / part.len() as f64
        };
        curves.push(Curve {
            name,
            threads,
            grains: parts.clone().map(|p| mean(p, |s| s.0 as f64)).collect(),
            step_ms: parts.map(|p| 1e3 * mean(p, |s| s.1)).collect(),
        });
    }
    Ok(curves)
}

/// Grains in a box as wide as the cube root of their number, with friction 0.5 everywhere: they settle from a packed bed.
fn settled(particles: u64, scheme: &str) -> Result<Scene, Failure> {
    scene("box", bench_scene!("box"), walls(particles, scheme))
}

/// Settings of the box for this number of grains.
fn walls(particles: u64, scheme: &str) -> Vec<String> {
    let side = 2.15 * RADIUS * (particles as f64).cbrt();
    let volume = particles as f64 * 4.0 / 3.0 * std::f64::consts::PI * RADIUS.powi(3) / 0.6;
    // A fill omits grains that would intersect the walls: about 0.75 radii on each side.
    let room = side - 1.5 * RADIUS;
    let height = volume / (room * room) + 1.5 * RADIUS;
    let half = 0.5 * side;
    let (far, thick, top) = (side, 4.0 * RADIUS, 3.0 * side);
    let cuboid = |what: &str, min: [f64; 3], max: [f64; 3]| {
        format!("{what}.shape.box={{ min = {min:?}, max = {max:?} }}")
    };
    let (inner, outer) = (half, half + thick);
    vec![
        format!("solver.pbd.scheme={scheme:?}"),
        cuboid("fill.0", [-half, 0.0, -half], [half, height, half]),
        cuboid(
            "collider.floor",
            [-far, -2.0 * thick, -far],
            [far, 0.0, far],
        ),
        cuboid("collider.left", [-outer, 0.0, -far], [-inner, top, far]),
        cuboid("collider.right", [inner, 0.0, -far], [outer, top, far]),
        cuboid("collider.back", [-far, 0.0, -outer], [far, top, -inner]),
        cuboid("collider.front", [-far, 0.0, inner], [far, top, outer]),
    ]
}

/// Settings of a blade a third as wide as the box that digs 6 radii deep for four seconds, from the time `begin` [s].
fn blade(particles: u64, begin: f64) -> [String; 2] {
    let side = 2.15 * RADIUS * (particles as f64).cbrt();
    let (half, path, deep) = (side / 6.0, 0.3 * side, 0.76 * side - 6.0 * RADIUS);
    let raised = deep + 10.0 * RADIUS;
    let keys = [
        (0.0, -path, raised),
        (1.0, -path, deep),
        (3.0, path, deep),
        (4.0, path, raised),
    ];
    let keys =
        keys.map(|(after, x, y)| format!("{{ time = {}, value = [{x}, {y}, 0] }}", begin + after));
    let (thick, left) = (-4.0 * RADIUS, -half);
    [
        format!(
            "collider.blade.shape.box={{ min = [{thick}, 0, {left}], max = [0, {side}, {half}] }}"
        ),
        format!(
            "collider.blade.motion.position.keyframes=[{}]",
            keys.join(", ")
        ),
    ]
}

/// 2000 grains poured onto a floor in about twenty seconds.
fn poured(scheme: &str) -> Result<Scene, Failure> {
    let set = vec![format!("solver.pbd.scheme={scheme:?}")];
    scene("pour", bench_scene!("pour"), set)
}

fn report(runners: &[Runner], threads: usize) -> Report {
    let measured = |r: &Runner| r.steps.len().min(r.speeds.len() * 30).max(1);
    let rows: Vec<Row> = runners.iter().map(|r| r.row(measured(r))).collect();
    Report {
        particles: rows[0].particles,
        threads,
        particle_steps_per_s: rows[0].particle_steps_per_s,
        speedup: speedup(runners),
        real_time: rows[0].particle_steps_per_s / (60.0 * rows[0].particles as f64),
        rows,
        dig: None,
        pour: Vec::new(),
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} grains settled in a box, 10 iterations over the contacts in a step of 1/60 s",
            output::grouped(self.particles as u64)
        )?;
        for row in &self.rows {
            writeln!(f, "{row}")?;
        }
        if let Some(speedup) = self.speedup {
            writeln!(f, "  speedup by threads {speedup:.2}")?;
        }
        writeln!(f, "  {:.1} times real time", self.real_time)?;
        if let Some(dig) = &self.dig {
            writeln!(
                f,
                "a blade digs in them for {DIG} steps: median {:.2} ms per step, 99 % within {:.2} ms, ratio {:.2}",
                dig.step_ms,
                dig.step_p99_ms,
                dig.step_p99_ms / dig.step_ms
            )?;
        }
        if !self.pour.is_empty() {
            writeln!(
                f,
                "pouring {POURED} grains: ms per step by number of grains"
            )?;
        }
        for curve in &self.pour {
            let points: Vec<String> = (curve.grains.iter().zip(&curve.step_ms))
                .map(|(grains, ms)| format!("{grains:.0}: {ms:.2}"))
                .collect();
            let (name, threads) = (curve.name, curve.threads);
            writeln!(f, "  {name:<14} {threads} threads  {}", points.join(", "))?;
        }
        Ok(())
    }
}
