//! Final summary of a run.

use super::pictures::RunPictures;
use super::{Failure, output};
use barchan::final_check::CheckResult;
use barchan::frame::Checkpoint;
use barchan::scene::Scene;
use barchan::sim::simulation::Simulation;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// File in the result directory that stores the summary of a finished run.
const FILE: &str = "summary.json";

/// Summary of a run: the JSON object of `--json`.
#[derive(Debug, Serialize, Deserialize)]
pub struct Summary {
    /// Name of the scene.
    pub scene: String,
    /// Result directory.
    pub directory: String,
    /// Whether the last frame was reached.
    pub finished: bool,
    /// Particles at the end.
    pub particles: u64,
    /// Frames after the initial one.
    pub frames: u32,
    /// Solver steps, including those before a resume.
    pub substeps: u64,
    /// Simulated time [s].
    pub sim_time_s: f64,
    /// Wall time of the command [s].
    pub wall_s: f64,
    /// Wall time inside solver steps [s].
    pub solver_wall_s: f64,
    /// Speed inside solver steps [1/s]; only steps of this command count.
    pub particle_substeps_per_s: f64,
    /// Wall time per stage [s].
    pub stages: Vec<Stage>,
    /// Particles emitted, all emitters together.
    pub emitted: u64,
    /// Particles removed by drains.
    pub drained: u64,
    /// Particles that left the domain.
    pub left_domain: u64,
    /// Hash of the final particle state.
    pub digest: String,
    /// Frame from which this command resumed.
    pub resumed_from: Option<u32>,
    /// Results of the scene's final check.
    pub checks: Vec<CheckResult>,
    /// Pictures of the result.
    #[serde(default)]
    pub pictures: Option<RunPictures>,
}

/// Wall time of a stage.
#[derive(Debug, Serialize, Deserialize)]
pub struct Stage {
    name: String,
    wall_s: f64,
}

impl Stage {
    fn new(name: &str, wall: Duration) -> Self {
        Self {
            name: name.to_owned(),
            wall_s: wall.as_secs_f64(),
        }
    }
}

impl Summary {
    /// Summary of a simulation whose last checkpoint is `checkpoint`.
    pub fn new(scene: &Scene, simulation: &Simulation, checkpoint: &Checkpoint) -> Self {
        let counters = simulation.counters();
        let solver_wall_s = simulation.solver_wall().as_secs_f64();
        let stages = simulation.timings().stages().iter();
        let work = simulation.particle_substeps_here() as f64;
        Self {
            scene: scene.name.clone(),
            directory: String::new(),
            finished: checkpoint.index >= scene.frames,
            particles: checkpoint.particles() as u64,
            frames: checkpoint.index,
            substeps: counters.substeps,
            sim_time_s: checkpoint.time,
            wall_s: 0.0,
            solver_wall_s,
            particle_substeps_per_s: output::rate(work, solver_wall_s),
            stages: stages.map(|(name, wall)| Stage::new(name, *wall)).collect(),
            emitted: counters.emitted.iter().sum(),
            drained: counters.drained.iter().sum(),
            left_domain: counters.left_domain,
            digest: checkpoint.digest(),
            resumed_from: None,
            checks: Vec::new(),
            pictures: None,
        }
    }

    /// Adds a stage outside the simulation.
    pub fn add_stage(&mut self, name: &str, wall: Duration) {
        self.stages.push(Stage::new(name, wall));
    }

    /// 0 when the run finished and its checks passed.
    pub fn exit_code(&self) -> ExitCode {
        let passed = self.finished && self.checks.iter().all(|c| c.passed);
        ExitCode::from(u8::from(!passed))
    }

    /// Prints it.
    pub fn show(&self, json: bool) -> Result<(), Failure> {
        output::report(self, json, Self::show_text)
    }

    fn show_text(&self) -> Result<(), Failure> {
        output::say(format_args!(
            "{}: {} frames, {} s simulated, {} particles",
            self.scene,
            self.frames,
            output::number(self.sim_time_s),
            output::grouped(self.particles)
        ))?;
        let line = |name: &str, text: String| output::say(format_args!("  {name:<10} {text}"));
        line("substeps", output::grouped(self.substeps))?;
        line("wall time", output::duration(self.wall_s))?;
        line(
            "speed",
            format!(
                "{:.2} M particle-substeps/s",
                self.particle_substeps_per_s * 1e-6
            ),
        )?;
        if !self.stages.is_empty() {
            line("stages", self.describe_stages())?;
        }
        if self.emitted + self.drained + self.left_domain > 0 {
            line(
                "particles",
                format!(
                    "{} emitted, {} drained, {} left the domain",
                    output::grouped(self.emitted),
                    output::grouped(self.drained),
                    output::grouped(self.left_domain)
                ),
            )?;
        }
        line("digest", self.digest.clone())?;
        for check in &self.checks {
            line("check", check.to_string())?;
        }
        if let Some(pictures) = &self.pictures {
            line("picture", pictures.last.clone())?;
            if let Some(film) = &pictures.film {
                line("film", film.clone())?;
            }
        }
        let shown = &self.directory;
        output::say(format_args!(
            "result in {shown}; next: barchan view {shown}, barchan measure {shown}"
        ))
    }

    /// Stages by their share of the time, the largest first.
    fn describe_stages(&self) -> String {
        let total: f64 = self.stages.iter().map(|s| s.wall_s).sum();
        let percent = |s: &Stage| 100.0 * s.wall_s / total.max(1e-9);
        let mut stages: Vec<&Stage> = self.stages.iter().collect();
        stages.sort_by(|a, b| b.wall_s.total_cmp(&a.wall_s));
        stages.retain(|s| percent(s) >= 0.5);
        let parts = stages.iter();
        let parts: Vec<_> = parts
            .map(|s| format!("{} {:.0} %", s.name, percent(s)))
            .collect();
        parts.join(", ")
    }

    /// Stores the summary in the result. Failure only causes a warning: without the summary, `--resume` of a finished result
    /// merely prints less.
    pub fn store(&self, directory: &Path) {
        let partial = directory.join(".partial-summary.json");
        let written = serde_json::to_vec_pretty(self)
            .map_err(std::io::Error::from)
            .and_then(|text| std::fs::write(&partial, text))
            .and_then(|()| std::fs::rename(&partial, directory.join(FILE)));
        if let Err(error) = written {
            output::note(format_args!(
                "warning: {FILE} could not be written: {error}"
            ));
        }
    }

    /// The stored summary of a finished run.
    pub fn stored_in(directory: &Path) -> Option<Self> {
        let text = std::fs::read(directory.join(FILE)).ok()?;
        serde_json::from_slice(&text).ok()
    }
}
