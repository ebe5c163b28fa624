//! Films from sequences of pictures.
//!
//! ```text
//! Picture ──► yuv ──┬─► ffmpeg (if available)           ──► .mp4, .webm
//!                   └─► built_in (H.264) ──► mp4 (boxes) ──► .mp4
//! Picture ──► gif (small, one palette)                  ──► .gif
//! ```
//!
//! The file gets its name when it is complete. A film that is dropped or killed leaves no file.

mod built_in;
mod error;
mod ffmpeg;
mod gif;
pub mod mp4;
mod palette;
mod rate;
mod yuv;

pub use error::FilmError;
pub use ffmpeg::{Ffmpeg, find_ffmpeg};
pub use gif::GifOptions;

use crate::Picture;
use barchan_post::info::as_text;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The encoder.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum EncoderChoice {
    /// ffmpeg if available, otherwise the built-in one.
    #[default]
    Automatic,
    /// The built-in one, which writes MP4 and GIF.
    BuiltIn,
}

/// Options of a film.
#[derive(Debug, Clone, PartialEq)]
pub struct FilmOptions {
    /// Pictures per second [1/s].
    pub frame_rate: f64,
    /// Encoder of `.mp4` and `.webm`.
    pub encoder: EncoderChoice,
    /// Size limits of a `.gif`.
    pub gif: GifOptions,
}

impl FilmOptions {
    /// Default options at a frame rate [1/s].
    pub fn at_rate(frame_rate: f64) -> Self {
        Self {
            frame_rate,
            encoder: EncoderChoice::default(),
            gif: GifOptions::default(),
        }
    }
}

/// Report of a written film.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FilmReport {
    /// The film.
    #[serde(rename = "file", serialize_with = "as_text")]
    pub path: PathBuf,
    /// Width [pixels].
    pub width: u32,
    /// Height [pixels].
    pub height: u32,
    /// Playing time [s].
    #[serde(rename = "duration_s")]
    pub duration: f64,
    /// Size of the file [bytes].
    pub bytes: u64,
    /// Encoder: `ffmpeg 5.1` or `built in`.
    pub encoder: String,
    /// Number of pictures in the file.
    #[serde(skip)]
    pub pictures: u32,
}

/// A film being written.
pub struct Film {
    path: PathBuf,
    size: [u32; 2],
    count: u32,
    encoder: String,
    writer: Writer,
}

enum Writer {
    Ffmpeg(ffmpeg::Pipe),
    BuiltIn(Box<built_in::Writer>),
    Gif(gif::Writer),
}

impl Film {
    /// Creates a film of pictures of one size. The extension of the path determines the format: `.mp4`, `.webm` or `.gif`.
    pub fn create(
        path: &Path,
        width: u32,
        height: u32,
        options: &FilmOptions,
    ) -> Result<Self, FilmError> {
        let rate = rate::Rate::new(options.frame_rate)?;
        if width == 0 || height == 0 {
            return Err(FilmError::Size {
                path: path.to_path_buf(),
                expected: [1, 1],
                found: [width, height],
            });
        }
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        let size = [width, height];
        let (encoder, writer) = match ending.to_ascii_lowercase().as_str() {
            "mp4" | "m4v" => video_writer(path, size, rate, &options.encoder, ffmpeg::Kind::Mp4)?,
            "webm" => video_writer(path, size, rate, &options.encoder, ffmpeg::Kind::WebM)?,
            "gif" => {
                let writer = gif::Writer::new(path, size, options.frame_rate, &options.gif)?;
                (BUILT_IN.to_string(), Writer::Gif(writer))
            }
            _ => {
                return Err(FilmError::Ending {
                    path: path.to_path_buf(),
                });
            }
        };
        Ok(Self {
            path: path.to_path_buf(),
            size,
            count: 0,
            encoder,
            writer,
        })
    }

    /// The encoder: `ffmpeg 5.1` or `built in`.
    pub fn encoder(&self) -> &str {
        &self.encoder
    }

    /// Adds the next picture.
    pub fn add(&mut self, picture: &Picture) -> Result<(), FilmError> {
        let found = [picture.width, picture.height];
        let pixels = found[0] as usize * found[1] as usize;
        if found != self.size || picture.rgb.len() != 3 * pixels {
            return Err(FilmError::Size {
                path: self.path.clone(),
                expected: self.size,
                found,
            });
        }
        self.count += 1;
        match &mut self.writer {
            Writer::Ffmpeg(pipe) => pipe.add(picture),
            Writer::BuiltIn(writer) => writer.add(picture),
            Writer::Gif(writer) => writer.add(picture),
        }
    }

    /// Completes the film and gives the file its name.
    pub fn finish(self) -> Result<FilmReport, FilmError> {
        if self.count == 0 {
            return Err(FilmError::Empty { path: self.path });
        }
        let written = match self.writer {
            Writer::Ffmpeg(pipe) => pipe.finish(self.count)?,
            Writer::BuiltIn(writer) => writer.finish()?,
            Writer::Gif(writer) => writer.finish()?,
        };
        let bytes = std::fs::metadata(&self.path)
            .map_err(|source| FilmError::write(&self.path, source))?
            .len();
        Ok(FilmReport {
            path: self.path,
            encoder: self.encoder,
            pictures: written.pictures,
            width: written.size[0],
            height: written.size[1],
            duration: written.duration,
            bytes,
        })
    }
}

const BUILT_IN: &str = "built in";

/// Content of a written file.
struct Written {
    pictures: u32,
    size: [u32; 2],
    duration: f64,
}

/// A video writer, and its name.
fn video_writer(
    path: &Path,
    size: [u32; 2],
    rate: rate::Rate,
    choice: &EncoderChoice,
    kind: ffmpeg::Kind,
) -> Result<(String, Writer), FilmError> {
    let can = match kind {
        ffmpeg::Kind::Mp4 => Ffmpeg::writes_mp4,
        ffmpeg::Kind::WebM => Ffmpeg::writes_webm,
    };
    let ffmpeg = match choice {
        EncoderChoice::Automatic => find_ffmpeg().filter(can),
        EncoderChoice::BuiltIn => None,
    };
    match (ffmpeg, kind) {
        (Some(ffmpeg), _) => {
            let pipe = ffmpeg::Pipe::new(&ffmpeg, kind, path, size, rate)?;
            Ok((ffmpeg.to_string(), Writer::Ffmpeg(pipe)))
        }
        (None, ffmpeg::Kind::Mp4) => {
            let writer = built_in::Writer::new(path, size, rate)?;
            Ok((BUILT_IN.into(), Writer::BuiltIn(Box::new(writer))))
        }
        (None, ffmpeg::Kind::WebM) => Err(FilmError::NeedsFfmpeg {
            path: path.to_path_buf(),
        }),
    }
}
