//! `barchan check`: validates a scene and estimates the resources of its run.

use super::inputs::Ready;
use super::scene::SceneArguments;
use super::{Failure, inputs, output};
use barchan::scene::Scene;
use barchan::scene::numbers::rounded;
use barchan::sim::solvers::Method;
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
        let ready = inputs::prepare(&scene)?;
        match self.json {
            true => show_json(&scene, &ready)?,
            false => show_text(&scene, &ready)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn show_text(scene: &Scene, ready: &Ready) -> Result<(), Failure> {
    let Ready {
        estimate,
        simulation,
        forecast,
        ..
    } = ready;
    output::say(format_args!("{}: the scene is valid", scene.name))?;
    let line = |name: &str, text: String| output::say(format_args!("  {name:<12} {text}"));
    line(
        "frames",
        format!(
            "{} at {} per second: {} s",
            scene.frames,
            output::number(scene.frame_rate),
            output::number(f64::from(scene.frames) / scene.frame_rate)
        ),
    )?;
    let family = scene.solver.family;
    line(
        "solver",
        format!(
            "{} in {}D, {} {} m, {}",
            family.name,
            scene.dimensions.count(),
            family.resolution,
            output::number(scene.solver.resolution),
            (Method::of(scene).describe)(scene)
        ),
    )?;
    if let (Some(from), Some(named)) = (simulation.start(), &scene.start) {
        let count = output::grouped(from.particles as u64);
        let text = format!(
            "frame {} of {}, {count} particles",
            from.frame, named.result
        );
        line("start", text)?;
    }
    let mut count = output::grouped(simulation.particles() as u64);
    if !scene.emitters.is_empty() {
        let all = output::grouped(estimate.particles as u64);
        count = format!("{count} at the start, up to {all} over the run");
    }
    line("particles", count)?;
    line(
        "time step",
        format!(
            "{} s at the start, {} substeps per frame",
            rounded(forecast.dt, 3),
            output::grouped(forecast.steps_per_frame as u64)
        ),
    )?;
    line(
        "memory",
        format!(
            "about {} of {} free",
            output::bytes(estimate.memory),
            output::bytes(estimate.available)
        ),
    )?;
    line("disk", format!("about {}", output::bytes(estimate.disk)))
}

fn show_json(scene: &Scene, ready: &Ready) -> Result<(), Failure> {
    let Ready {
        estimate,
        simulation,
        forecast,
        warnings,
    } = ready;
    output::say_json(&serde_json::json!({
        "scene": scene.name,
        "solver": scene.solver.family.name,
        "frames": scene.frames,
        "particles": simulation.particles(),
        "particles_over_the_run": estimate.particles,
        "memory_bytes": estimate.memory,
        "memory_available_bytes": estimate.available,
        "disk_bytes": estimate.disk,
        "dt_s": forecast.dt,
        "substeps_per_frame": forecast.steps_per_frame,
        "start": inputs::start_entry(scene, simulation.start()),
        "warnings": warnings,
    }))
}
