//! What a refinement tells at its end.

use crate::commands::{Failure, output};
use serde::Serialize;
use std::process::ExitCode;

/// The end of a refinement: the JSON object of `--json`.
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
    /// Why not, where the base is the reason.
    pub problem: Option<String>,
    /// Grains in the last frame.
    pub grains: u64,
    /// Base particles that have grains.
    pub base_particles: u64,
    /// Number of the last frame that is there.
    pub frames: u32,
    /// Number of the last frame that is wanted.
    pub frames_wanted: u32,
    /// Steps of this command.
    pub steps: u64,
    /// Simulated time [s].
    pub sim_time_s: f64,
    /// Wall time of the command [s].
    pub wall_s: f64,
    /// Wall time of going from frame to frame, without reading and writing [s].
    pub step_wall_s: f64,
    /// Speed of that [1/s].
    pub grain_steps_per_s: f64,
    /// Wall time of waiting for frames to be written [s].
    pub writing_wall_s: f64,
    /// Grains that drains and the border of the domain have taken.
    pub removed: u64,
    /// Frame that this command began at, when it resumed.
    pub resumed_from: Option<u32>,
    /// Hash of the last frame of grains.
    pub digest: String,
    /// Picture of the last frame.
    pub picture: Option<String>,
}

impl Summary {
    /// 0 when all frames are there.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(u8::from(!self.finished))
    }

    /// What to tell about an unfinished refinement, and how to go on.
    pub fn why_unfinished(&self) -> Option<String> {
        if self.finished {
            return None;
        }
        let (frame, wanted, path) = (self.frames, self.frames_wanted, &self.directory);
        let why = match &self.problem {
            Some(problem) => format!("{problem}\n"),
            None => String::new(),
        };
        Some(format!(
            "{why}stopped after frame {frame} of {wanted}; the frames up to there are kept. Go on with: barchan detail {path} --resume"
        ))
    }

    /// Tells it.
    pub fn show(&self, json: bool) -> Result<(), Failure> {
        if json {
            return output::say_json(self);
        }
        output::say(format_args!(
            "{}: {} frames, {} grains that follow {} particles",
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
