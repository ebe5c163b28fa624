//! `barchan bench detail`: grains in a bed through which a plate moves.

use super::{bench_scene, count, peak_memory, runner};
use crate::commands::{Failure, output};
use barchan::frame::Frame;
use barchan::post::detail::{
    BaseFrame, BaseParticles, Kind, Method, Plan, Refiner, Settings, World,
};
use barchan::scene::Scene;
use clap::Args;
use glam::Vec3;
use serde::Serialize;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

/// Radius of a base particle [m].
const RADIUS: f32 = 0.025;
/// Layers of the bed.
const LAYERS: usize = 24;
/// Time between two frames [s]: two steps.
const FRAME: f64 = 0.02;

/// Refinement of a moving bed: grain-steps per second
#[derive(Debug, Args)]
pub struct BenchDetail {
    /// Grains
    #[arg(long, value_name = "N", default_value = "19.4M", value_parser = count)]
    grains: u64,
    /// Particles of the base
    #[arg(long, value_name = "N", default_value = "38k", value_parser = count)]
    base: u64,
    /// Measured steps for each number of threads
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u64).range(2..))]
    steps: u64,
}

#[derive(Debug, Serialize)]
struct Row {
    threads: usize,
    /// Sorting, steps and rounding, without reading and writing.
    grain_steps_per_s: f64,
    /// Wall time per step [ms].
    step_ms: f64,
}

#[derive(Debug, Serialize)]
pub struct Report {
    grains: usize,
    base_particles: usize,
    threads: usize,
    /// With all threads.
    grain_steps_per_s: f64,
    /// Ratio of all threads to one.
    speedup: f64,
    /// Peak resident memory [bytes].
    peak_memory_bytes: Option<u64>,
    rows: Vec<Row>,
}

impl BenchDetail {
    pub fn measure(&self) -> Result<Report, Failure> {
        let all = rayon::current_num_threads();
        let scene = scene(self.base)?;
        let first = bed(self.base, 0);
        let mut particles = BaseParticles::default();
        particles.add_frame(&first);
        let plan = Plan::new(&particles, self.grains)?;
        let settings = Settings {
            dt: 0.5 * FRAME,
            method: Method::Blended,
        };
        let mut refiner = Refiner::begin(plan, World::new(&scene), settings, first)?;
        // The first frame allocates memory and is not measured.
        let old = refiner.frame().clone();
        let go_on = &mut |_| ControlFlow::Continue(());
        refiner.advance(bed(self.base, 1), Frame::default(), go_on)?;
        let mut spare = Arc::try_unwrap(old).ok();
        let mut rows = Vec::new();
        let mut index = 1;
        for threads in [all, 1] {
            let pool = runner::pool(threads)?;
            let (mut steps, mut wall) = (0, 0.0);
            while steps < self.steps {
                index += 1;
                let next = bed(self.base, index);
                let old = refiner.frame().clone();
                let start = Instant::now();
                let room = spare.take().unwrap_or_default();
                let advance = || refiner.advance(next, room, &mut |_| ControlFlow::Continue(()));
                let advanced = pool.install(advance);
                wall += start.elapsed().as_secs_f64();
                advanced?;
                spare = Arc::try_unwrap(old).ok();
                steps += 2;
            }
            let work = steps as f64 * refiner.frame().particles() as f64;
            rows.push(Row {
                threads,
                grain_steps_per_s: work / wall,
                step_ms: 1e3 * wall / steps as f64,
            });
        }
        Ok(Report {
            grains: refiner.frame().particles(),
            base_particles: self.base as usize,
            threads: all,
            grain_steps_per_s: rows[0].grain_steps_per_s,
            speedup: rows[0].grain_steps_per_s / rows[1].grain_steps_per_s,
            peak_memory_bytes: peak_memory(),
            rows,
        })
    }
}

/// Particles along a horizontal edge of the bed.
fn edge(particles: u64) -> usize {
    ((particles as f64 / LAYERS as f64).sqrt().ceil() as usize).max(1)
}

/// A floor, and a plate that moves through the bed.
fn scene(particles: u64) -> Result<Scene, Failure> {
    let quarter = 0.5 * RADIUS * edge(particles) as f32;
    let plate = format!(
        "collider.plate.shape.box={{ min = [-0.1, 0.3, {}], max = [0.1, 2, {quarter}] }}",
        -quarter
    );
    runner::scene("bed", bench_scene!("bed"), vec![plate])
}

/// The bed in a frame: horizontal layers in shear, with vertical oscillations.
fn bed(particles: u64, frame: u32) -> BaseFrame {
    let edge = edge(particles);
    let time = FRAME * f64::from(frame);
    let half = edge as f32 * RADIUS;
    let kind = Kind {
        radius: RADIUS,
        mass: 0.2,
        material: 0,
    };
    let mut base = BaseFrame {
        index: frame,
        time,
        ..BaseFrame::default()
    };
    for id in 0..particles {
        let i = id as usize;
        let (x, z, y) = (i % edge, i / edge % edge, i / (edge * edge));
        let rest = RADIUS * (2.0 * Vec3::new(x as f32, y as f32, z as f32) + 1.0);
        let speed = rest.y;
        let phase = 3.0 * rest.x + 2.0 * rest.z;
        let lift = 0.02 * speed * ((5.0 * time as f32 + phase).sin() - phase.sin());
        let moved = Vec3::new(speed * time as f32 - half, lift, -half);
        base.id.push(id);
        base.position.push(rest + moved);
        let up = 0.1 * speed * (5.0 * time as f32 + phase).cos();
        base.velocity.push(Vec3::new(speed, up, 0.0));
        base.kind.push(kind);
    }
    base
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} grains for {} base particles in a sheared bed through which a plate moves, steps of {} ms",
            output::grouped(self.grains as u64),
            output::grouped(self.base_particles as u64),
            500.0 * FRAME
        )?;
        for row in &self.rows {
            writeln!(
                f,
                "  {} threads {:>7.1} M grain-steps/s, {:.0} ms per step",
                row.threads,
                row.grain_steps_per_s / 1e6,
                row.step_ms
            )?;
        }
        writeln!(f, "  speedup by threads {:.2}", self.speedup)?;
        if let Some(bytes) = self.peak_memory_bytes {
            writeln!(f, "  peak memory {}", output::bytes(bytes))?;
        }
        Ok(())
    }
}
