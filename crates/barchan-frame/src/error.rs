//! Errors of a result directory.

use std::io;
use std::path::{Path, PathBuf};

/// Why a result directory could not be written or read. Each message contains the path, the reason and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// There is no such directory.
    #[error("there is no result directory at {}; check the path, or make one with `barchan run SCENE -o DIR`", .0.display())]
    Missing(PathBuf),
    /// The directory is not a result.
    #[error("{} is not a barchan result: {reason}; give the directory that `barchan run` wrote", .path.display())]
    NotAResult {
        /// The directory.
        path: PathBuf,
        /// Reason.
        reason: String,
    },
    /// The directory for a new result is not empty.
    #[error(
        "{} already holds {holds}; choose another directory with -o, or continue the run in it with --resume",
        .path.display()
    )]
    Occupied {
        /// The directory.
        path: PathBuf,
        /// Its contents.
        holds: String,
    },
    /// The directory cannot be written to.
    #[error("cannot write to {}: {reason}; make it writable, or choose another directory with -o", .path.display())]
    Unwritable {
        /// The result directory.
        path: PathBuf,
        /// Reason.
        reason: String,
    },
    /// The frames of a result are missing.
    #[error(
        "the result of scene `{scene}` in {} has lost its folder `frames`; restore it, or simulate the scene again: \
         barchan run {}/scene.toml -o DIR",
        .path.display(), .path.display()
    )]
    LostFrames {
        /// The directory.
        path: PathBuf,
        /// Name of the scene.
        scene: String,
    },
    /// Another process writes to the directory.
    #[error("another run is writing to {}; wait for it or stop it, or choose another directory with -o", .0.display())]
    InUse(PathBuf),
    /// The result was written by another version.
    #[error(
        "{} has format version {found}, and this program reads version {known}; {}",
        .path.display(),
        if *found > u64::from(*known) { "update barchan" } else { "simulate the scene again" }
    )]
    OtherFormat {
        /// The directory.
        path: PathBuf,
        /// Version found.
        found: u64,
        /// Version that this program reads.
        known: u32,
    },
    /// The manifest is invalid.
    #[error("the manifest {} is broken: {reason}; restore the file, or run the scene again", .path.display())]
    BrokenManifest {
        /// The file.
        path: PathBuf,
        /// Reason.
        reason: String,
    },
    /// No space left.
    #[error(
        "the disk is full: could not write {}; the complete frames are kept. Free some space, then continue with --resume, \
         or choose a directory on another disk with -o",
        .path.display()
    )]
    DiskFull {
        /// The file being written.
        path: PathBuf,
    },
    /// Any other failure of the file system.
    #[error("could not {action} {}: {source}", .path.display())]
    Io {
        /// The operation: `read`, `write`, `remove`, …
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// Reason.
        source: io::Error,
    },
    /// A frame or checkpoint differs from what was written.
    #[error("{what} is damaged: {} {reason}; {remedy}", .file.display())]
    Damaged {
        /// `frame 12` or `checkpoint 12`.
        what: String,
        /// The file.
        file: PathBuf,
        /// Reason.
        reason: String,
        /// Remedy.
        remedy: &'static str,
    },
    /// There is no such frame.
    #[error("there is no {what} in {}; it holds {available}", .path.display())]
    NoFrame {
        /// `frame 12` or `checkpoint 12`.
        what: String,
        /// The result directory.
        path: PathBuf,
        /// The available ones.
        available: String,
    },
    /// The frame has no such column.
    #[error("{what} has no column `{name}`; it has {available}")]
    NoColumn {
        /// `frame 12` or `checkpoint 12`.
        what: String,
        /// The missing column.
        name: String,
        /// The available columns.
        available: String,
    },
    /// Every checkpoint is damaged.
    #[error("no checkpoint in {} can be read ({reasons}); start again without --resume, in another directory (-o)", .path.display())]
    NoUsableCheckpoint {
        /// The result directory.
        path: PathBuf,
        /// The error of each.
        reasons: String,
    },
    /// The data are inconsistent: a bug in the writer.
    #[error("{what} cannot be written: {reason}")]
    Invalid {
        /// `frame 12` or `checkpoint 12`.
        what: String,
        /// Reason.
        reason: String,
    },
}

impl CacheError {
    /// Turns a failure of the file system into the error that the result `directory` cannot be written to.
    pub(crate) fn unwritable(self, directory: &Path) -> Self {
        let Self::Io { source, .. } = self else {
            return self;
        };
        let is_file = |p: &&Path| p.exists() && !p.is_dir();
        let reason = match directory.ancestors().skip(1).find(is_file) {
            Some(file) => format!("{} is a file", file.display()),
            None => source.to_string(),
        };
        Self::Unwritable {
            path: directory.to_owned(),
            reason,
        }
    }

    /// Wraps a failure of the file system; a full disk is a variant of its own.
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path },
            _ => Self::Io {
                action,
                path,
                source,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_disk_is_distinguished_from_other_failures() {
        let enospc = io::Error::from_raw_os_error(28);
        let full = CacheError::io("write", Path::new("frames/000003"), enospc);
        assert!(matches!(full, CacheError::DiskFull { .. }));
        let text = full.to_string();
        assert!(
            text.contains("the disk is full") && text.contains("--resume"),
            "{text}"
        );
        let denied = CacheError::io(
            "write",
            Path::new("x"),
            io::ErrorKind::PermissionDenied.into(),
        );
        assert!(matches!(denied, CacheError::Io { .. }));
    }
}
