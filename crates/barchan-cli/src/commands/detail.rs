//! `barchan detail`: refine a result into many grains, or resume a refinement.

mod session;
mod summary;

use super::bench::count;
use super::pictures;
use super::resources::{available_memory, use_threads, warn_small_disk};
use super::stop::StopRequest;
use super::{Failure, output};
use barchan::frame::{ManifestDetail, ResultDirectory};
use barchan::post::detail::{DetailError, Method};
use clap::{Args, ValueEnum};
use session::Session;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Memory per grain: two frames and the sort order [bytes].
const GRAIN_BYTES: u64 = 2 * 37 + 8;
/// Memory besides the grains: a column being written, base frames [bytes].
const OTHER_BYTES: u64 = 200 << 20;
/// Bytes on disk per grain and frame.
const FRAME_BYTES: u64 = 20;

/// Refine a result: many grains that follow its particles
#[derive(Debug, Args)]
pub struct Detail {
    /// Result directory of any particle solver; with --resume, optionally that of the grains
    directory: PathBuf,
    /// Total number of grains over all frames, such as 500k or 20M
    #[arg(long, value_name = "N", value_parser = count)]
    grains: Option<u64>,
    /// Result directory of the grains [default: NAME-detail.barchan beside DIRECTORY]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Longest time step of the grains [s] [default: 0.01]
    #[arg(long, value_name = "S")]
    dt: Option<f64>,
    /// Which grains move independently of the base [default: blended]
    #[arg(long, value_enum)]
    method: Option<MethodName>,
    /// Number of the last frame to refine [default: the last of the base]
    #[arg(long, value_name = "N")]
    frames: Option<u32>,
    /// Threads; any number gives the same result [default: one for each processor]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Resume an unfinished refinement
    #[arg(long)]
    resume: bool,
    /// Do not draw the final picture
    #[arg(long)]
    no_render: bool,
    /// Show no progress and end with one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum MethodName {
    /// Blended: fraction from nearby particles, 0 inside the material
    Blended,
    /// Fraction α as printed in [Ihmsen13]
    Printed,
    /// Grains with at most one base particle within the support
    Clamped,
}

impl From<MethodName> for Method {
    fn from(name: MethodName) -> Self {
        match name {
            MethodName::Blended => Self::Blended,
            MethodName::Printed => Self::Printed,
            MethodName::Clamped => Self::Clamped,
        }
    }
}

impl Detail {
    pub fn run(&self) -> Result<ExitCode, Failure> {
        let clock = Instant::now();
        use_threads(self.threads)?;
        if self.dt.is_some_and(|dt| !(1e-6..=10.0).contains(&dt)) {
            return Err(Failure::call(
                "--dt is out of range",
                "give seconds from 0.000001 to 10, such as 0.01",
            ));
        }
        let stop = StopRequest::listen(self.json)?;
        let mut session = match self.resume {
            true => Session::resume(self, &stop)?,
            false => Session::start(self)?,
        };
        session.advance(&stop, self.json)?;
        let mut summary = session.summarize(clock);
        let path = session.output().to_owned();
        // Drawing needs memory of its own.
        drop(session);
        if summary.finished && !self.no_render && !stop.is_requested() {
            summary.picture = pictures::if_possible(&path, "no picture", pictures::last_frame);
        }
        summary.show(self.json)?;
        if let Some(problem) = summary.why_unfinished() {
            output::note(problem);
        }
        Ok(summary.exit_code())
    }

    /// The base, and the output directory.
    fn places(&self) -> Result<(ResultDirectory, PathBuf), Failure> {
        let given = ResultDirectory::open(&self.directory)?;
        let Some(detail) = given.manifest().detail.clone() else {
            let output = self.output.clone();
            return Ok((given, output.unwrap_or_else(|| beside(&self.directory))));
        };
        let path = self.directory.display();
        if !self.resume {
            return Err(Failure::call(
                format_args!("{path} is already a refinement, of {}", detail.base),
                format_args!(
                    "give the result of a run, or resume this refinement: barchan detail {path} --resume"
                ),
            ));
        }
        if self.output.is_some() {
            return Err(Failure::call(
                format_args!(
                    "{path} is the output directory of its refinement; -o cannot be combined with it"
                ),
                "omit -o, or give the base instead of the grains",
            ));
        }
        let base = ResultDirectory::open(detail.base.as_ref())?;
        Ok((base, self.directory.clone()))
    }

    /// Refuses to resume with settings other than those the refinement was started with.
    fn refuse_other_settings(&self, begun: &ManifestDetail) -> Result<(), Failure> {
        let method = self.method.map(|m| Method::from(m).name());
        let same = self.grains.is_none_or(|n| n == begun.grains)
            && self.dt.is_none_or(|dt| dt == begun.dt)
            && method.is_none_or(|m| m == begun.method);
        if same {
            return Ok(());
        }
        Err(Failure::call(
            format_args!(
                "this refinement was started with --grains {} --dt {} --method {}",
                begun.grains, begun.dt, begun.method
            ),
            "omit these options to resume, or refine into another directory with -o",
        ))
    }
}

/// `NAME-detail.barchan` beside the base.
fn beside(base: &Path) -> PathBuf {
    let full = std::path::absolute(base).unwrap_or_else(|_| base.to_owned());
    let name = full.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".barchan").unwrap_or(&name);
    let file = format!("{name}-detail.barchan");
    // Relative if `base` is.
    match base.parent() {
        Some(parent) if base.file_name().is_some() => parent.join(file),
        _ => full.with_file_name(file),
    }
}

/// Refuses a refinement that does not fit into memory, and warns if the disk may fill up.
fn check_resources(grains: u64, frames: u32, output: &Path) -> Result<(), Failure> {
    let needed = grains
        .saturating_mul(GRAIN_BYTES)
        .saturating_add(OTHER_BYTES);
    let available = available_memory();
    if needed > available {
        let fewer = available.saturating_sub(OTHER_BYTES) / GRAIN_BYTES;
        return Err(Failure::call(
            format_args!(
                "{} grains need about {} of memory, and this machine has {} free",
                output::grouped(grains),
                output::bytes(needed),
                output::bytes(available)
            ),
            format_args!("use fewer: --grains {}k", fewer / 1000),
        ));
    }
    let disk = grains
        .saturating_mul(FRAME_BYTES)
        .saturating_mul(u64::from(frames) + 1);
    warn_small_disk(output, disk, "refinement");
    Ok(())
}

impl From<DetailError> for Failure {
    fn from(error: DetailError) -> Self {
        match error {
            DetailError::Cache(error) => error.into(),
            DetailError::TooFew { particles, .. } => Self::call(
                error,
                format_args!("use at least {particles}: --grains {particles}"),
            ),
            DetailError::TooMany(_) => Self::call(error, "use fewer with --grains"),
            DetailError::Column { .. } | DetailError::Foreign { .. } => Self::with_code(2, error),
            _ => Self::work(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_output_is_beside_the_base() {
        let of = |base: &str| beside(Path::new(base)).to_string_lossy().into_owned();
        assert_eq!(of("pile.barchan"), "pile-detail.barchan");
        assert_eq!(of("runs/pile.barchan/"), "runs/pile-detail.barchan");
        assert_eq!(of("runs/pile"), "runs/pile-detail.barchan");
        let here = std::env::current_dir().unwrap();
        let name = here.file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!(
            beside(Path::new(".")),
            here.with_file_name(format!("{name}-detail.barchan"))
        );
    }
}
