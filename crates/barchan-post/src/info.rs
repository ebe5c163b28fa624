//! Summary of a result directory.

use barchan_frame::{CacheError, ColumnInfo, Manifest, ResultDirectory, Statistics};
use serde::Serialize;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Contents of a result directory.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Info {
    /// The directory.
    #[serde(serialize_with = "as_text")]
    pub path: PathBuf,
    /// What was simulated.
    pub manifest: Manifest,
    /// Complete frames.
    pub frames: Vec<FrameSummary>,
    /// Columns of the newest readable frame.
    pub columns: Vec<ColumnInfo>,
    /// Particles in the newest readable frame.
    pub particles: usize,
    /// Statistics of the newest readable frame.
    pub statistics: Option<Statistics>,
    /// Bytes of the whole directory on disk.
    pub bytes: u64,
    /// Newest readable checkpoint.
    pub checkpoint: Option<CheckpointSummary>,
    /// Digest of the newest readable checkpoint's state.
    pub digest: Option<String>,
    /// Whether all frames exist, from 0 to the last one of the manifest.
    pub complete: bool,
    /// Damaged parts: an error message each.
    pub damage: Vec<String>,
}

/// One complete frame.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FrameSummary {
    /// Number.
    pub index: u32,
    /// Simulated time [s].
    pub time_s: f64,
    /// Number of particles.
    pub particles: usize,
    /// Bytes on disk.
    pub bytes: u64,
}

/// One complete checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CheckpointSummary {
    /// Number of the frame at whose end it was taken.
    pub index: u32,
    /// Simulated time [s].
    pub time_s: f64,
    /// Bytes on disk.
    pub bytes: u64,
}

/// Summarizes a result from the records of its frames; the values of the columns are not read. A damaged
/// frame is listed in [`Info::damage`] and left out of the rest.
///
/// # Errors
/// A directory that cannot be listed.
pub fn info(directory: &ResultDirectory) -> Result<Info, CacheError> {
    let mut damage = Vec::new();
    let mut frames = Vec::new();
    let mut newest = None;
    for index in directory.frames()? {
        if let Some(frame) = readable(directory.frame_info(index), &mut damage) {
            frames.push(FrameSummary {
                index,
                time_s: frame.time,
                particles: frame.particles,
                bytes: frame.bytes,
            });
            newest = Some(frame);
        }
    }
    let mut checkpoint = None;
    for index in directory.checkpoints()? {
        checkpoint = readable(directory.checkpoint_info(index), &mut damage).or(checkpoint);
    }
    let manifest = directory.manifest().clone();
    let expected = 0..=manifest.frames;
    let (particles, columns, statistics) = newest.map_or_else(Default::default, |frame| {
        let statistics = Some(frame.record.statistics);
        (frame.particles, frame.columns, statistics)
    });
    Ok(Info {
        path: directory.path().to_owned(),
        complete: damage.is_empty() && frames.iter().map(|f| f.index).eq(expected),
        manifest,
        frames,
        columns,
        particles,
        statistics,
        bytes: bytes_below(directory.path())?,
        checkpoint: checkpoint.as_ref().map(|c| CheckpointSummary {
            index: c.index,
            time_s: c.time,
            bytes: c.bytes,
        }),
        digest: checkpoint.map(|c| c.digest),
        damage,
    })
}

/// The value; an error is added to `damage`, except for frames that a run in progress has removed meanwhile.
fn readable<T>(found: Result<T, CacheError>, damage: &mut Vec<String>) -> Option<T> {
    match found {
        Ok(found) => return Some(found),
        Err(CacheError::NoFrame { .. }) => {}
        Err(error) => damage.push(error.to_string()),
    }
    None
}

/// Serializes a path as text, also where it is not UTF-8.
pub fn as_text<S: serde::Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

/// Bytes of all files below a directory. Files that a run removes meanwhile do not count.
fn bytes_below(path: &Path) -> Result<u64, CacheError> {
    let error = |source| CacheError::Io {
        action: "list",
        path: path.to_owned(),
        source,
    };
    let entries = match std::fs::read_dir(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(0),
        entries => entries.map_err(error)?,
    };
    let mut bytes = 0;
    for entry in entries {
        let entry = entry.map_err(error)?;
        match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => bytes += bytes_below(&entry.path())?,
            Ok(metadata) => bytes += metadata.len(),
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Err(e) => return Err(error(e)),
        }
    }
    Ok(bytes)
}
