//! `cargo xtask replicate`: the scenes of [Klar16], simulated small and drawn, and timed at the paper's resolution; those of [Holz14],
//! simulated and drawn; and those of [Ihmsen13], whose base simulations are timed too.
//!
//! Results are written to `docs/results/replicability.json`, row by row, and from there into the blocks of
//! `docs/replicability.md` (`figures`). A single row is repeated with `--only`. Results of previews are kept in `target/replicate`, so
//! that only those that are missing, older than their scene or of another size are simulated.

mod page;
mod rows;

pub use page::block as table;

use crate::raster::Raster;
use crate::{figures, gallery};
use rows::{Row, Shot, TABLE_4_SCENE, Timing, rows, table_4};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Kind of these results in `docs/results`.
const KIND: &str = "replicability";
/// Largest picture [bytes].
const MAX_BYTES: usize = 20_000;
/// Paths through each pixel: small pictures can afford many.
const SAMPLES: &str = "64";

/// Options.
#[derive(Debug, clap::Args)]
pub struct Replicate {
    /// Only these rows
    #[arg(long, value_name = "NAME", num_args = 1..)]
    only: Vec<String>,
    /// Only the runs at preview size and their pictures
    #[arg(long, conflicts_with = "time")]
    preview: bool,
    /// Only the timing at the paper's resolution
    #[arg(long)]
    time: bool,
    /// Skip rows that docs/results/replicability.json contains already
    #[arg(long)]
    missing: bool,
    /// Simulate existing previews again, as after a change of the solver
    #[arg(long)]
    again: bool,
    /// Run nothing: list what would be done, and update the page
    #[arg(long)]
    dry: bool,
}

/// A job.
enum Job {
    Preview(&'static Row),
    Time {
        name: &'static str,
        scene: &'static str,
        timing: &'static Timing,
    },
}

impl Job {
    fn name(&self) -> &'static str {
        match self {
            Self::Preview(row) => &row.name,
            Self::Time { name, .. } => name,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Preview(_) => "preview",
            Self::Time { .. } => "timing",
        }
    }

    /// Expected wall time [s]: the last one, or else an estimate.
    fn seconds(&self, found: &Map<String, Value>) -> f64 {
        let before = found
            .get(self.name())
            .and_then(|row| row[self.kind()]["wall_s"].as_f64());
        before.unwrap_or(match self {
            Self::Preview(row) => row.preview.seconds,
            Self::Time { timing, .. } => timing.seconds,
        })
    }
}

/// Path of a scene, given by folder and name, in the repository.
fn scene_path(scene: &str) -> String {
    format!("scenes/papers/{scene}.toml")
}

/// Runs the requested jobs, and updates the page.
pub fn replicate(root: &Path, asked: &Replicate) -> Result<(), String> {
    let mut found = figures::read(root, KIND)?;
    let jobs = jobs(asked, &found)?;
    let expected: f64 = jobs.iter().map(|job| job.seconds(&found)).sum();
    println!("{} jobs, about {:.0} min:", jobs.len(), expected / 60.0);
    for job in &jobs {
        let seconds = job.seconds(&found);
        println!("  {:<8} {:<20} {seconds:>5.0} s", job.kind(), job.name());
    }
    let mut failed = Vec::new();
    if !asked.dry && !jobs.is_empty() {
        let place = Place::prepare(root, asked.again)?;
        for job in &jobs {
            println!("── {} {}", job.kind(), job.name());
            let outcome = match job {
                Job::Preview(row) => place.preview(row),
                Job::Time { scene, timing, .. } => place.time(job.name(), scene, timing),
            };
            match outcome {
                Ok(value) => {
                    let row = found.entry(job.name()).or_insert_with(|| json!({}));
                    row[job.kind()] = value;
                    figures::keep(root, KIND, &found)?;
                    figures::write(root)?;
                }
                Err(reason) => {
                    println!("── {} {}: FAILED: {reason}", job.kind(), job.name());
                    failed.push(format!("{} {}", job.kind(), job.name()));
                }
            }
        }
    }
    figures::write(root)?;
    match failed.is_empty() {
        true => Ok(()),
        false => Err(failed.join(", ")),
    }
}

fn jobs(asked: &Replicate, found: &Map<String, Value>) -> Result<Vec<Job>, String> {
    let mut jobs = Vec::new();
    for row in rows() {
        jobs.push(Job::Preview(row));
        jobs.extend(row.timing.as_ref().map(|timing| Job::Time {
            name: &row.name,
            scene: &row.scene,
            timing,
        }));
    }
    jobs.extend(table_4().iter().map(|row| Job::Time {
        name: &row.name,
        scene: TABLE_4_SCENE,
        timing: &row.timing,
    }));
    let known: Vec<&str> = jobs.iter().map(Job::name).collect();
    if let Some(wrong) = asked.only.iter().find(|n| !known.contains(&n.as_str())) {
        return Err(format!("no row `{wrong}`; there are {}", known.join(", ")));
    }
    let wanted = |job: &Job| {
        let there = found
            .get(job.name())
            .is_some_and(|row| row.get(job.kind()).is_some());
        (asked.only.is_empty() || asked.only.iter().any(|n| n == job.name()))
            && !(asked.preview && job.kind() != "preview")
            && !(asked.time && job.kind() != "timing")
            && !(asked.missing && there)
    };
    jobs.retain(wanted);
    Ok(jobs)
}

/// The program, and where results and pictures go.
struct Place {
    root: PathBuf,
    program: PathBuf,
    results: PathBuf,
    pictures: PathBuf,
    /// Whether existing previews are simulated again.
    again: bool,
}

impl Place {
    fn prepare(root: &Path, again: bool) -> Result<Self, String> {
        let place = Self {
            root: root.to_owned(),
            program: gallery::build(root)?,
            again,
            results: root.join("target/replicate"),
            pictures: root.join("docs/pictures"),
        };
        let papers = ["klar2016", "holz2014", "ihmsen2013"].map(|paper| place.pictures.join(paper));
        for folder in papers.iter().chain([&place.results]) {
            std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        }
        Ok(place)
    }

    /// Simulates the runs of a row to their end and joins their pictures.
    fn preview(&self, row: &Row) -> Result<Value, String> {
        let mut wall = 0.0;
        let mut particles = Vec::new();
        let mut passed = true;
        let mut results = Vec::new();
        for (i, set) in row.preview.runs.iter().enumerate() {
            let result = self.results.join(format!("{}-{i}.barchan", row.name));
            let summary = self.simulate(row, set, &result)?;
            wall += summary["wall_s"].as_f64().unwrap_or(0.0);
            particles.push(summary["particles"].clone());
            passed &= summary["checks"]
                .as_array()
                .is_none_or(|checks| checks.iter().all(|c| c["passed"] == json!(true)));
            results.push(result);
        }
        let mut grains = Vec::new();
        for (i, detail) in row.preview.details.iter().enumerate() {
            let result = self
                .results
                .join(format!("{}-detail-{i}.barchan", row.name));
            remove(&result)?;
            let mut command = Command::new(&self.program);
            command.arg("detail").arg(&results[detail.run]);
            command
                .arg("-o")
                .arg(&result)
                .args(detail.options.split_whitespace());
            let told = summary(command.args(["--no-render", "--json"]))?;
            wall += told["wall_s"].as_f64().unwrap_or(0.0);
            let keys = [
                "grains",
                "steps",
                "step_wall_s",
                "grain_steps_per_s",
                "wall_s",
            ];
            let kept = keys.map(|key| (key.to_owned(), told[key].clone()));
            grains.push(Value::Object(kept.into_iter().collect()));
            results.push(result);
        }
        let clock = Instant::now();
        let cells = row.preview.shots.iter().enumerate();
        let cells = cells.map(|(i, shot)| self.draw(row, shot, i, &results[shot.run]));
        let cells = cells.collect::<Result<Vec<_>, _>>()?;
        let sheet = Raster::joined(&cells, row.preview.across);
        let jpeg = sheet.jpeg_within(MAX_BYTES)?;
        crate::write_file(&self.pictures.join(row.picture()), &jpeg)?;
        println!("{}: {} bytes", row.name, jpeg.len());
        // Millions of grains fill a disk.
        for result in &results[row.preview.runs.len()..] {
            remove(result)?;
        }
        Ok(json!({
            "grains": grains,
            "scale": row.preview.scale,
            "particles": particles,
            "checks_passed": passed,
            "wall_s": round(wall + clock.elapsed().as_secs_f64()),
        }))
    }

    /// Runs or resumes a scene to its end, or takes the existing result if it is newer than the scene.
    fn simulate(&self, row: &Row, set: &[String], result: &Path) -> Result<Value, String> {
        let scene = scene_path(&row.scene);
        let modified = |path: &Path| std::fs::metadata(path).and_then(|m| m.modified()).ok();
        let begun = modified(&result.join("manifest.json"));
        let newer = begun.is_some() && begun > modified(&self.root.join(&scene));
        // The settings of the result are stored beside it.
        let settings = format!("{scene} {} {set:?}", row.preview.scale);
        let beside = result.with_extension("txt");
        let same = std::fs::read_to_string(&beside).is_ok_and(|text| text == settings);
        let fresh = newer && same && !self.again;
        let mut command = Command::new(&self.program);
        command.arg("run");
        if fresh {
            command.arg(result).arg("--resume");
        } else {
            remove(result)?;
            crate::write_file(&beside, settings)?;
            command.arg(scene).arg("-o").arg(result);
            command.args(["--scale", &row.preview.scale.to_string()]);
            set.iter().for_each(|change| {
                command.args(["--set", change]);
            });
        }
        // A check that fails is a finding, not a failure of the run: the summary reports it.
        summary(command.args(["--no-render", "--json"]))
    }

    fn draw(&self, row: &Row, shot: &Shot, number: usize, result: &Path) -> Result<Raster, String> {
        let drawn = self.results.join(format!("{}-picture-{number}", row.name));
        let [width, height] = row.preview.cell;
        let usual = format!("--size {width}x{height} --samples {SAMPLES} --film none");
        let options = format!("--frames {} {usual} {}", shot.frame, shot.options);
        gallery::render(&self.program, result, &drawn, &options)?;
        Raster::read(&drawn.join(format!("{:06}.png", shot.frame)))
    }

    /// Times the first frames of a scene at the paper's resolution.
    fn time(&self, name: &str, scene: &str, timing: &Timing) -> Result<Value, String> {
        // A fraction of a frame is measured as a shorter frame.
        let (frames, rate) = match timing.frames < 1.0 {
            true => (1.0, timing.rate / timing.frames),
            false => (timing.frames, timing.rate),
        };
        let result = self.results.join(format!("{name}-full.barchan"));
        remove(&result)?;
        let mut command = Command::new(&self.program);
        command
            .arg("run")
            .arg(scene_path(scene))
            .arg("-o")
            .arg(&result);
        command.args(["--frames", &frames.to_string()]);
        command.args(["--set", &format!("frame_rate={rate:?}")]);
        command.args(["--scale", &timing.scale.to_string()]);
        let told = summary(command.args(["--no-render", "--json"]));
        remove(&result)?;
        let told = told?;
        let number = |key: &str| {
            told[key]
                .as_f64()
                .ok_or(format!("the run reports no {key}"))
        };
        let (particles, substeps) = (number("particles")?, number("substeps")?);
        let speed = number("particle_substeps_per_s")?;
        let per_frame = substeps / timing.frames;
        let seconds = match timing.final_particles {
            Some(many) => per_frame * many / speed,
            None => number("solver_wall_s")? / timing.frames,
        };
        Ok(json!({
            "frames": timing.frames,
            "particles": particles,
            "for_particles": timing.final_particles,
            "substeps_per_frame": round(per_frame),
            "mean_dt_s": round(1.0 / (timing.rate * per_frame)),
            "particle_substeps_per_s": round(speed),
            "seconds_per_frame": round(seconds),
            "wall_s": round(number("wall_s")?),
            "threads": std::thread::available_parallelism().map_or(0, usize::from),
            "processor": processor(),
        }))
    }
}

/// Runs the program to its end; exit code 1 with an object means that a check failed.
fn summary(command: &mut Command) -> Result<Value, String> {
    println!("{command:?}");
    let told = figures::last_object(command)?;
    match told["finished"] {
        Value::Bool(true) => Ok(told),
        _ => Err(format!(
            "{command:?}: {}",
            told["error"].as_str().unwrap_or("it is not finished")
        )),
    }
}

fn remove(result: &Path) -> Result<(), String> {
    match std::fs::remove_dir_all(result) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("{}: {error}", result.display()))
        }
        _ => Ok(()),
    }
}

/// Four digits are enough.
fn round(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// Name of the processor.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find(|line| line.starts_with("model name"));
    let name = model.and_then(|line| line.split_once(':'));
    name.map_or("unknown".into(), |(_, name)| name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(only: &[&str]) -> Replicate {
        Replicate {
            only: only.iter().map(|n| (*n).to_owned()).collect(),
            preview: false,
            time: false,
            missing: false,
            again: false,
            dry: true,
        }
    }

    #[test]
    fn jobs_are_chosen_as_requested() {
        let nothing = Map::new();
        let all = jobs(&asked(&[]), &nothing).unwrap_or_default();
        assert!(all.len() > rows().len() + table_4().len());
        let castle = jobs(&asked(&["castle"]), &nothing).unwrap_or_default();
        assert_eq!(castle.len(), 2);
        let mut preview = asked(&["castle"]);
        preview.preview = true;
        assert_eq!(jobs(&preview, &nothing).unwrap_or_default().len(), 1);
        let mut missing = asked(&["castle"]);
        missing.missing = true;
        let mut found = Map::new();
        found.insert("castle".into(), json!({"timing": {"wall_s": 3.0}}));
        let left = jobs(&missing, &found).unwrap_or_default();
        assert_eq!(left.iter().map(Job::kind).collect::<Vec<_>>(), ["preview"]);
        assert!(jobs(&asked(&["sandcastle"]), &nothing).is_err());
    }

    #[test]
    fn numbers_keep_four_digits() {
        assert_eq!(round(123_456.0), 123_500.0);
        assert_eq!(round(1.0 / 3.0), 0.3333);
    }
}
