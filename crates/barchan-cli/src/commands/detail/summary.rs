//! Final summary of a refinement.

use crate::commands::{Failure, output};
use serde::Serialize;
use std::process::ExitCode;

/// Summary of a refinement: the JSON object of `--json`.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Name of the scene.
    pub scene: String,
    /// Result directory of the grains.
    pub directory: String,
    /// Result directory of the base.
    pub base: String,
    /// Whether the last frame was reached.
    pub finished: bool,
    /// Error of the base that prevented it.
    pub problem: Option<String>,
    /// Grains in the last frame.
    pub grains: u64,
    /// Base particles that have grains.
    pub base_particles: u64,
    /// Number of the last frame written.
    pub frames: u32,
    /// Number of the last frame requested.
    pub frames_wanted: u32,
    /// Steps of this command.
    pub steps: u64,
    /// Simulated time [s].
    pub sim_time_s: f64,
    /// Wall time of the command [s].
    pub wall_s: f64,
    /// Wall time of the grain steps, without reading and writing [s].
    pub step_wall_s: f64,
    /// Speed of the grain steps [1/s].
    pub grain_steps_per_s: f64,
    /// Wall time spent waiting for frames to be written [s].
    pub writing_wall_s: f64,
    /// Grains removed by drains and at the boundary of the domain.
    pub removed: u64,
    /// Frame from which this command resumed.
    pub resumed_from: Option<u32>,
    /// Hash of the last frame of grains.
    pub digest: String,
    /// Picture of the last frame.
    pub picture: Option<String>,
}

impl Summary {
    /// 0 if all frames were written.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(u8::from(!self.finished))
    }

    /// Message about an unfinished refinement, with the command to resume it.
    pub fn why_unfinished(&self) -> Option<String> {
        if self.finished {
            return None;
        }
        let (frame, wanted, path) = (self.frames, self.frames_wanted, &self.directory);
        let problem = self.problem.as_deref();
        let why = problem.map_or(String::new(), |problem| format!("{problem}\n"));
        Some(format!(
            "{why}stopped after frame {frame} of {wanted}; the frames up to it are kept. Resume with: barchan detail {path} --resume"
        ))
    }

    /// Prints it.
    pub fn show(&self, json: bool) -> Result<(), Failure> {
        output::report(self, json, Self::show_text)
    }

    fn show_text(&self) -> Result<(), Failure> {
        output::say(format_args!(
            "{}: {} frames, {} grains for {} particles",
            self.scene,
            self.frames,
            output::grouped(self.grains),
            output::grouped(self.base_particles)
        ))?;
        let line = |name: &str, text: String| output::say(format_args!("  {name:<10} {text}"));
        line("steps", output::grouped(self.steps))?;
        line("wall time", output::duration(self.wall_s))?;
        line(
            "speed",
            format!("{:.1} M grain-steps/s", self.grain_steps_per_s * 1e-6),
        )?;
        if self.removed > 0 {
            line("removed", output::grouped(self.removed))?;
        }
        line("digest", self.digest.clone())?;
        if let Some(picture) = &self.picture {
            line("picture", picture.clone())?;
        }
        let shown = &self.directory;
        output::say(format_args!(
            "result in {shown}; next: barchan render {shown}, barchan view {shown}"
        ))
    }
}
