//! Errors of films.

use std::path::{Path, PathBuf};

/// A film that could not be written. No file of its name exists; pictures stored before remain.
#[derive(Debug, thiserror::Error)]
pub enum FilmError {
    /// The extension is not that of a known format.
    #[error("unknown film format of {path}; use the extension .mp4, .webm or .gif")]
    Ending {
        /// The film.
        path: PathBuf,
    },
    /// The film has no pictures.
    #[error("film {path} has no pictures; choose frames that exist")]
    Empty {
        /// The film.
        path: PathBuf,
    },
    /// Pictures differ in size.
    #[error(
        "film {path} is {}x{} pixels, but got a picture of {}x{}; all must have one size of at least 1x1",
        .expected[0], .expected[1], .found[0], .found[1]
    )]
    Size {
        /// The film.
        path: PathBuf,
        /// Width and height of the film [pixels].
        expected: [u32; 2],
        /// Width and height of the picture [pixels].
        found: [u32; 2],
    },
    /// The frame rate is out of range.
    #[error("a film cannot have {rate} pictures per second; choose a rate from 0.01 to 1000")]
    Rate {
        /// Pictures per second [1/s].
        rate: f64,
    },
    /// The film is larger than the 3840x2160 of the built-in encoder.
    #[error(
        "film {path} of {}x{} pixels is larger than the 3840x2160 of the built-in encoder; \
         install ffmpeg or choose a smaller size. The frames remain",
        .size[0], .size[1]
    )]
    TooLarge {
        /// The film.
        path: PathBuf,
        /// Width and height [pixels].
        size: [u32; 2],
    },
    /// WebM requires ffmpeg.
    #[error(
        "{path} needs ffmpeg with libvpx, which was not found; install ffmpeg (on Debian: apt install ffmpeg) \
         or write an .mp4. The frames remain"
    )]
    NeedsFfmpeg {
        /// The film.
        path: PathBuf,
    },
    /// ffmpeg failed.
    #[error("ffmpeg could not write the film {path}: {reason}. The frames remain")]
    Ffmpeg {
        /// The film.
        path: PathBuf,
        /// Its last message.
        reason: String,
    },
    /// The built-in encoder failed.
    #[error("cannot encode the film {path}: {reason}. The frames remain")]
    Encode {
        /// The film.
        path: PathBuf,
        /// Its message.
        reason: String,
    },
    /// The file could not be written.
    #[error("cannot write the film {path}: {source}; check that the folder exists and has space")]
    Write {
        /// The film.
        path: PathBuf,
        /// Reason.
        source: std::io::Error,
    },
}

impl FilmError {
    pub(super) fn write(path: &Path, source: std::io::Error) -> Self {
        Self::Write {
            path: path.to_path_buf(),
            source,
        }
    }

    pub(super) fn encode(path: &Path, reason: impl ToString) -> Self {
        Self::Encode {
            path: path.to_path_buf(),
            reason: reason.to_string(),
        }
    }
}
