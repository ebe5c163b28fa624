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
        output::report(&info, self.json, show)?;
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
    let (solver, dx) = (&manifest.solver, output::number(manifest.dx));
    line(
        "solver",
        format!("{solver} in {}D, dx {dx} m", manifest.dimensions),
    )?;
    let last = info.frames.last();
    let there = last.map_or("none".into(), |f| format!("0 to {}", f.index));
    let time = output::number(last.map_or(0.0, |f| f.time_s));
    let not = if info.complete { "" } else { "not " };
    line(
        "frames",
        format!("{there} of {} ({time} s), {not}complete", manifest.frames),
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
    let checkpoint = info.checkpoint.as_ref();
    line(
        "checkpoint",
        checkpoint.map_or("none".into(), |c| format!("frame {}", c.index)),
    )?;
    let can_go_on = checkpoint.is_some() || last.is_none_or(|f| f.index == 0);
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
