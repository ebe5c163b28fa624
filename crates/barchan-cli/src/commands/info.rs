//! `barchan info`: the contents of a result.

use super::{Failure, output};
use barchan::frame::ResultDirectory;
use barchan::post;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Show the contents of a result
#[derive(Debug, Args)]
pub struct Info {
    /// Result directory
    directory: PathBuf,
    /// End with one JSON object
    #[arg(long)]
    json: bool,
}

impl Info {
    pub fn run(&self) -> Result<ExitCode, Failure> {
        let directory = ResultDirectory::open(&self.directory)?;
        let info = post::info(&directory)?;
        if self.json {
            output::say_json(&info)?;
        } else {
            show(&info)?;
        }
        for damage in &info.damage {
            output::note(format_args!("damage: {damage}"));
        }
        Ok(ExitCode::from(u8::from(!info.damage.is_empty())))
    }
}

fn show(info: &post::Info) -> Result<(), Failure> {
    let manifest = &info.manifest;
    output::say(format_args!("{}: {}", manifest.scene, manifest.description))?;
    let line = |name: &str, text: String| output::say(format_args!("  {name:<11} {text}"));
    line(
        "solver",
        format!(
            "{} in {}D, dx {} m",
            manifest.solver,
            manifest.dimensions,
            output::number(manifest.dx)
        ),
    )?;
    let last = info.frames.last();
    line(
        "frames",
        format!(
            "{} of {} ({} s), {}",
            last.map_or("none".into(), |f| format!("0 to {}", f.index)),
            manifest.frames,
            output::number(last.map_or(0.0, |f| f.time_s)),
            if info.complete {
                "complete"
            } else {
                "not complete"
            }
        ),
    )?;
    line("particles", output::grouped(info.particles as u64))?;
    let materials: Vec<&str> = manifest.materials.iter().map(|m| m.name.as_str()).collect();
    line("materials", materials.join(", "))?;
    if !manifest.colliders.is_empty() {
        line("bodies", manifest.colliders.join(", "))?;
    }
    if let Some(start) = &manifest.start {
        line(
            "start",
            format!("frame {} of {}", start.frame, start.result),
        )?;
    }
    if let Some(detail) = &manifest.detail {
        let grains = output::grouped(detail.grains);
        line("refines", format!("{}, to {grains} grains", detail.base))?;
    }
    let columns: Vec<&str> = info.columns.iter().map(|c| c.name.as_str()).collect();
    line("columns", columns.join(", "))?;
    let can_go_on = match &info.checkpoint {
        Some(checkpoint) => {
            line("checkpoint", format!("frame {}", checkpoint.index))?;
            true
        }
        None => {
            line("checkpoint", "none".into())?;
            last.is_none_or(|f| f.index == 0)
        }
    };
    if let Some(digest) = &info.digest {
        line("digest", digest.clone())?;
    }
    line("size", output::bytes(info.bytes))?;
    line("written by", manifest.created_by.clone())?;
    let path = info.path.display();
    if !info.complete && manifest.detail.is_some() {
        output::say(format_args!("resume with: barchan detail {path} --resume"))?;
    } else if !info.complete && info.damage.is_empty() && can_go_on {
        output::say(format_args!("resume with: barchan run {path} --resume"))?;
    }
    Ok(())
}
