//! Encoding with an ffmpeg found at run time.

use super::rate::Rate;
use super::yuv::{Planes, padded};
use super::{FilmError, Written};
use crate::Picture;
use crate::partial::Partial;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::JoinHandle;

/// An available ffmpeg, and its encoders.
#[derive(Debug, Clone, PartialEq)]
pub struct Ffmpeg {
    program: PathBuf,
    version: String,
    /// Its own list of them, as text.
    encoders: String,
}

impl std::fmt::Display for Ffmpeg {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ffmpeg {}", self.version)
    }
}

/// The ffmpeg on the search path, if it works.
pub fn find_ffmpeg() -> Option<Ffmpeg> {
    Ffmpeg::at(Path::new("ffmpeg"))
}

impl Ffmpeg {
    /// The ffmpeg of that name or path, if it works.
    pub fn at(program: &Path) -> Option<Self> {
        let version = answer(program, "-version")?;
        let version = version.strip_prefix("ffmpeg version ")?;
        let is_other = |c: char| !c.is_ascii_digit() && c != '.';
        let number = version.split(is_other).next().filter(|n| !n.is_empty());
        Some(Self {
            program: program.to_path_buf(),
            version: number.unwrap_or("(development)").into(),
            encoders: answer(program, "-encoders")?,
        })
    }

    /// Whether it can write H.264.
    pub fn writes_mp4(&self) -> bool {
        self.has("libx264")
    }

    /// Whether it can write VP9 or VP8.
    pub fn writes_webm(&self) -> bool {
        self.has("libvpx-vp9") || self.has("libvpx")
    }

    fn has(&self, encoder: &str) -> bool {
        self.encoders.split_whitespace().any(|e| e == encoder)
    }

    /// Arguments of the encoder.
    fn encoding(&self, kind: Kind) -> &'static str {
        match kind {
            Kind::Mp4 => "-c:v libx264 -preset medium -crf 18 -movflags +faststart -f mp4",
            Kind::WebM if self.has("libvpx-vp9") => {
                "-c:v libvpx-vp9 -crf 24 -b:v 0 -row-mt 1 -deadline good -cpu-used 3 -f webm"
            }
            Kind::WebM => "-c:v libvpx -crf 8 -b:v 20M -deadline good -cpu-used 3 -f webm",
        }
    }
}

fn answer(program: &Path, question: &str) -> Option<String> {
    let output = Command::new(program)
        .args(["-hide_banner", question])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then_some(text)
}

/// Format to be written by ffmpeg.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Mp4,
    WebM,
}

/// A film being written by a running ffmpeg.
pub(super) struct Pipe {
    target: PathBuf,
    partial: Option<Partial>,
    planes: Planes,
    rate: Rate,
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Option<JoinHandle<String>>,
}

impl Pipe {
    pub(super) fn new(
        ffmpeg: &Ffmpeg,
        kind: Kind,
        target: &Path,
        size: [u32; 2],
        rate: Rate,
    ) -> Result<Self, FilmError> {
        let partial = Partial::new(target, "");
        // ffmpeg would interpret a name such as `a:b` as a protocol.
        let mut file = std::ffi::OsString::from("file:");
        file.push(partial.path());
        let [width, height] = padded(size);
        let input = format!(
            "-hide_banner -loglevel error -y -f rawvideo -pixel_format yuv420p -video_size {width}x{height} \
             -framerate {}/{}",
            rate.numerator, rate.denominator
        );
        let mut child = Command::new(&ffmpeg.program)
            .args(input.split(' '))
            .args(COLORS.split(' '))
            .args("-i pipe:0 -an -pix_fmt yuv420p".split(' '))
            .args(COLORS.split(' '))
            .args(ffmpeg.encoding(kind).split(' '))
            .arg(file)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| FilmError::Ffmpeg {
                path: target.to_path_buf(),
                reason: e.to_string(),
            })?;
        let messages = child.stderr.take().map(|mut stderr| {
            std::thread::spawn(move || {
                let mut bytes = Vec::new();
                // After an error, the output read so far is reported.
                let _ = stderr.read_to_end(&mut bytes);
                String::from_utf8_lossy(&bytes).into_owned()
            })
        });
        Ok(Self {
            target: target.to_path_buf(),
            partial: Some(partial),
            planes: Planes::new(size),
            rate,
            stdin: child.stdin.take(),
            child,
            messages,
        })
    }

    pub(super) fn add(&mut self, picture: &Picture) -> Result<(), FilmError> {
        self.planes.fill(picture);
        let parts = self.planes.parts();
        let written = match &mut self.stdin {
            Some(stdin) => parts.iter().try_for_each(|part| stdin.write_all(part)),
            None => Err(std::io::ErrorKind::BrokenPipe.into()),
        };
        written.map_err(|e| self.failure(&e.to_string()))
    }

    pub(super) fn finish(mut self, pictures: u32) -> Result<Written, FilmError> {
        self.stdin = None;
        let status = self.child.wait();
        match status {
            Ok(status) if status.success() => {}
            Ok(status) => return Err(self.failure(&status.to_string())),
            Err(e) => return Err(self.failure(&e.to_string())),
        }
        if let Some(partial) = self.partial.take() {
            partial
                .finish()
                .map_err(|source| FilmError::write(&self.target, source))?;
        }
        Ok(Written {
            pictures,
            size: [self.planes.width as u32, self.planes.height as u32],
            duration: self.rate.duration(pictures),
        })
    }

    /// The error of an ffmpeg that has stopped, with its own message if there is one.
    fn failure(&mut self, otherwise: &str) -> FilmError {
        self.stop();
        let text = self.messages.take().and_then(|m| m.join().ok());
        let text = text.unwrap_or_default();
        let last = text.lines().rev().find(|l| !l.trim().is_empty());
        FilmError::Ffmpeg {
            path: self.target.clone(),
            reason: last.unwrap_or(otherwise).trim().to_string(),
        }
    }

    fn stop(&mut self) {
        self.stdin = None;
        // Both fail if it has already ended, which is the desired state.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        if self.partial.is_some() {
            self.stop();
        }
    }
}

/// Color space of the planes; see [`super::yuv`].
const COLORS: &str = "-color_range tv -colorspace bt709 -color_primaries bt709 -color_trc bt709";
