//! `barchan measure`: physical quantities of a frame.

use super::{Failure, output};
use crate::view::grain::{self, Grain};
use barchan::frame::{ResultDirectory, Unit};
use barchan::post::stress::{self, StressState, Substance};
use barchan::post::{self, Hints, Measurement};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;

/// Measure a frame: mass, momentum, energy, bounds, volume, slope, run-out
#[derive(Debug, Args)]
pub struct Measure {
    /// Result directory
    directory: PathBuf,
    /// Frame [default: the last]
    #[arg(long, value_name = "N")]
    frame: Option<u32>,
    /// Axis of the heap, for run-out, slopes and profile [m] [default: its center of mass; in 2D its highest column]
    #[arg(long, value_name = "X,Z", allow_hyphen_values = true, value_parser = axis)]
    axis: Option<[f64; 2]>,
    /// Fit slopes beyond this distance from the axis [m], such as outside a stream [default: a fifth of the run-out]
    #[arg(long, value_name = "R")]
    from: Option<f64>,
    /// Print all stored columns of one grain instead
    #[arg(long, value_name = "ID")]
    grain: Option<u64>,
    /// Print stresses instead, as comma-separated values: of these grains in all frames (or that of --frame), or of all
    /// grains in one frame
    #[arg(long, value_name = "ID,…|all", conflicts_with = "grain")]
    stress: Option<WhichGrains>,
    /// File for the stresses [default: standard output]
    #[arg(long, value_name = "FILE", requires = "stress")]
    csv: Option<PathBuf>,
    /// End with one JSON object, which also holds the height profile
    #[arg(long)]
    json: bool,
}

impl Measure {
    pub fn run(&self) -> Result<ExitCode, Failure> {
        let directory = ResultDirectory::open(&self.directory)?;
        if let Some(which) = &self.stress {
            return self.stresses(&directory, which);
        }
        let index = match self.frame {
            Some(index) => index,
            None => directory.frames()?.last().copied().unwrap_or(0),
        };
        let frame = directory.read_frame(index)?;
        if let Some(id) = self.grain {
            let grain = grain::with_id(&frame, id)?;
            output::report(&grain, self.json, |grain| show_grain(id, grain))?;
            return Ok(ExitCode::SUCCESS);
        }

        let hints = Hints {
            axis: self.axis,
            from: self.from,
        };
        let measured =
            post::measure_with(&frame, directory.manifest(), &hints).map_err(Failure::work)?;
        output::report(&measured, self.json, show)?;
        Ok(ExitCode::SUCCESS)
    }

    fn stresses(
        &self,
        directory: &ResultDirectory,
        which: &WhichGrains,
    ) -> Result<ExitCode, Failure> {
        let substance = Substance::of_result(directory)?;
        let there = directory.frames()?;
        let last = there.last().copied().unwrap_or(0);
        let states = match which {
            WhichGrains::All => {
                let frame = self.frame.unwrap_or(last);
                stress::stress(directory, frame, &substance, None)?
            }
            WhichGrains::Ids(ids) => {
                let frames = self.frame.map_or(there, |frame| vec![frame]);
                stress::histories(directory, &frames, &substance, ids)?.concat()
            }
        };
        if let Some(path) = &self.csv {
            std::fs::write(path, csv(&states) + "\n").map_err(|error| {
                Failure::call(
                    format_args!("{} cannot be written: {error}", path.display()),
                    "choose another file with --csv",
                )
            })?;
        }
        match (self.json, &self.csv) {
            (true, _) => output::say_json(&json!({ "stress": states }))?,
            (false, Some(path)) => output::say(format_args!(
                "{} states in {}",
                output::grouped(states.len() as u64),
                path.display()
            ))?,
            (false, None) => output::say(csv(&states))?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Position of the axis of a heap: x and z [m].
fn axis(text: &str) -> Result<[f64; 2], String> {
    let number = |part: &str| part.trim().parse().ok().filter(|v: &f64| v.is_finite());
    let parts: Option<Vec<f64>> = text.split(',').map(number).collect();
    let both = parts.and_then(|parts| parts.try_into().ok());
    both.ok_or_else(|| "give x and z in meters, such as 0.5,-1".to_owned())
}

/// Grains whose stresses are printed.
#[derive(Debug, Clone)]
enum WhichGrains {
    All,
    /// These, without duplicates, in the order given.
    Ids(Vec<u64>),
}

impl FromStr for WhichGrains {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "all" {
            return Ok(Self::All);
        }
        let mut ids = Vec::new();
        for part in text.split(',') {
            let id = part
                .trim()
                .parse()
                .map_err(|_| "give ids such as 12,340, or `all`".to_owned())?;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        Ok(Self::Ids(ids))
    }
}

fn csv(states: &[StressState]) -> String {
    let mut lines = vec![stress::CSV_HEADER.to_owned()];
    lines.extend(states.iter().map(stress::csv_line));
    lines.join("\n")
}

fn show(m: &Measurement) -> Result<(), Failure> {
    let short = output::number;
    output::say(format_args!("frame {} at {} s", m.frame, short(m.time_s)))?;
    let line = |name: &str, text: String| output::say(format_args!("  {name:<15} {text}"));
    let number = |value: Option<f64>, unit: &str| match value {
        Some(value) => format!("{} {unit}", short(value)),
        None => "none".into(),
    };
    let vector = |value: Option<[f64; 3]>, unit: &str| match value {
        Some(v) => format!("({}) {unit}", v.map(short).join(", ")),
        None => "none".into(),
    };
    line("particles", output::grouped(m.particles as u64))?;
    line("mass", format!("{} kg", short(m.mass_kg)))?;
    line("momentum", vector(Some(m.momentum), "kg m/s"))?;
    line("kinetic energy", format!("{} J", short(m.kinetic_energy_j)))?;
    line("fastest", format!("{} m/s", short(m.max_speed)))?;
    line("center of mass", vector(m.center_of_mass, "m"))?;
    line("lower corner", vector(m.bounds_min, "m"))?;
    line("upper corner", vector(m.bounds_max, "m"))?;
    line("volume", format!("{} m³", short(m.volume_m3)))?;
    line("height", number(m.height_m, "m"))?;
    line("slope angle", number(m.slope_angle_deg, "°"))?;
    line("run-out", number(m.runout_m, "m"))?;
    for material in &m.materials {
        let particles = output::grouped(material.particles as u64);
        line(
            &material.name,
            format!("{} kg in {particles} particles", short(material.mass_kg)),
        )?;
    }
    Ok(())
}

fn show_grain(id: u64, grain: &Grain) -> Result<(), Failure> {
    let (frame, time) = (grain.frame, output::number(grain.time_s));
    output::say(format_args!("grain {id} in frame {frame} at {time} s"))?;
    for column in &grain.columns {
        let values: Vec<String> = column.values.iter().map(ToString::to_string).collect();
        let values = match values.as_slice() {
            [value] => value.clone(),
            _ => format!("({})", values.join(", ")),
        };
        let unit = match column.unit {
            Unit::One => String::new(),
            unit => unit.to_string(),
        };
        let text = format!("  {:<15} {values} {unit}", column.name);
        output::say(text.trim_end())?;
    }
    Ok(())
}
