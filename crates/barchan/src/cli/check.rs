//! `barchan check`: whether a scene is right and what it would take to run.

use super::resources::Estimate;
use super::scene::SceneArguments;
use super::{Failure, inputs, output};
use barchan::scene::{Scene, SolverSpec};
use barchan::sim::start::StartRecord;
use clap::Args;
use std::process::ExitCode;

/// Validate a scene; estimate particles, memory and time step
#[derive(Debug, Args)]
pub struct Check {
    #[command(flatten)]
    scene: SceneArguments,
    /// End with one JSON object
    #[arg(long)]
    json: bool,
}

impl Check {
    pub fn run(&self) -> Result<ExitCode, Failure> {
        let scene = self.scene.load()?.scene;
        let from = inputs::look_at_start(&scene)?;
        let estimate = Estimate::of(&scene, from.as_ref());
        // Sampling finds what volumes cannot: empty fills, particles outside the domain, blocked emitters.
        let start = match estimate.fits() {
            true => Some(Start::of(&scene)?),
            false => None,
        };
        if self.json {
            show_json(&scene, &estimate, start.as_ref());
        } else {
            show_text(&scene, &estimate, start.as_ref());
        }
        inputs::warn(&scene);
        estimate.refuse_too_large()?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The first moment of the run.
struct Start {
    particles: usize,
    dt: f64,
    steps_per_frame: f64,
    from: Option<StartRecord>,
}

impl Start {
    fn of(scene: &Scene) -> Result<Self, Failure> {
        let mut simulation = inputs::begin(scene)?;
        let dt = simulation.next_dt()?;
        Ok(Self {
            particles: simulation.particles(),
            dt,
            steps_per_frame: (1.0 / (scene.frame_rate * dt)).ceil(),
            from: simulation.start().cloned(),
        })
    }
}

fn show_text(scene: &Scene, estimate: &Estimate, start: Option<&Start>) {
    let SolverSpec::Mpm(spec) = &scene.solver;
    output::say(format_args!("{}: the scene is valid", scene.name));
    let line = |name: &str, text: String| output::say(format_args!("  {name:<12} {text}"));
    line(
        "frames",
        format!(
            "{} at {} a second: {:.3} s",
            scene.frames,
            scene.frame_rate,
            f64::from(scene.frames) / scene.frame_rate
        ),
    );
    line(
        "solver",
        format!(
            "mpm in {}D, dx {} m, {} particles per cell",
            scene.dimensions.count(),
            spec.dx,
            spec.particles_per_cell
        ),
    );
    let from = start.and_then(|s| s.from.as_ref());
    if let (Some(from), Some(named)) = (from, &scene.start) {
        let count = output::grouped(from.particles as u64);
        let text = format!(
            "frame {} of {}, {count} particles",
            from.frame, named.result
        );
        line("start", text);
    }
    if let Some(start) = start {
        let mut count = output::grouped(start.particles as u64);
        if !scene.emitters.is_empty() {
            let all = output::grouped(estimate.particles as u64);
            count = format!("{count} at the start, up to {all} over the run");
        }
        line("particles", count);
        line(
            "time step",
            format!(
                "{:.3e} s at the start, {} substeps a frame",
                start.dt,
                output::grouped(start.steps_per_frame as u64)
            ),
        );
    } else {
        let count = output::grouped(estimate.particles as u64);
        line("particles", format!("about {count}"));
    }
    line(
        "memory",
        format!(
            "about {} of {} free",
            output::bytes(estimate.memory),
            output::bytes(estimate.available)
        ),
    );
    line("disk", format!("about {}", output::bytes(estimate.disk)));
}

fn show_json(scene: &Scene, estimate: &Estimate, start: Option<&Start>) {
    output::say_json(&serde_json::json!({
        "scene": scene.name,
        "frames": scene.frames,
        "particles": start.map_or(estimate.particles, |s| s.particles),
        "particles_over_the_run": estimate.particles,
        "memory_bytes": estimate.memory,
        "memory_available_bytes": estimate.available,
        "disk_bytes": estimate.disk,
        "dt_s": start.map(|s| s.dt),
        "substeps_per_frame": start.map(|s| s.steps_per_frame),
        "start": inputs::start_entry(scene, start.and_then(|s| s.from.as_ref())),
        "warnings": inputs::warnings(scene),
    }));
}
