//! A looped preview, small enough for a README.
//!
//! Pictures are scaled down as they arrive and stored in a temporary file; at the end one palette is computed for
//! all. Pixels that have hardly changed are transparent, which compresses well. While the file
//! exceeds its budget it is written again with fewer colors, pictures or pixels.

use super::palette::{Histogram, Palette};
use super::{FilmError, Written};
use crate::Picture;
use crate::partial::Partial;
use gif::{DisposalMethod, Encoder, Frame, Repeat};
use std::borrow::Cow;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Limits of the size of a preview.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GifOptions {
    /// Maximum width [pixels].
    pub width: u32,
    /// Maximum number of pictures per second [1/s].
    pub frame_rate: f64,
    /// Maximum size of the file [bytes], if it can be reached by reduction.
    pub budget: u64,
    /// Additional time for which the last picture is shown [s].
    pub pause: f64,
}

impl Default for GifOptions {
    fn default() -> Self {
        Self {
            width: 320,
            frame_rate: 12.5,
            budget: 2_000_000,
            pause: 0.8,
        }
    }
}

/// Number of pictures sampled for the palette.
const SAMPLED: usize = 24;
/// Maximum number of attempts to fit the budget.
const ATTEMPTS: usize = 6;
/// Index of unchanged pixels.
const TRANSPARENT: u8 = 255;

pub(super) struct Writer {
    target: PathBuf,
    waiting: Partial,
    out: BufWriter<File>,
    options: GifOptions,
    /// Width in the temporary file, and size once known.
    width: u32,
    size: [u32; 2],
    frame_rate: f64,
    /// Stride of the pictures that are kept.
    step: u32,
    seen: u32,
    kept: u32,
}

impl Writer {
    pub(super) fn new(
        target: &Path,
        size: [u32; 2],
        frame_rate: f64,
        options: &GifOptions,
    ) -> Result<Self, FilmError> {
        let waiting = Partial::new(target, "pictures-");
        let file = File::create(waiting.path()).map_err(|e| FilmError::write(target, e))?;
        let most = options.frame_rate.clamp(0.1, 50.0);
        let tall = f64::from(size[1]) / f64::from(size[0]);
        let width = options.width.clamp(16, 4096).min(size[0]);
        Ok(Self {
            target: target.to_path_buf(),
            waiting,
            out: BufWriter::new(file),
            options: *options,
            width: width.min((16_384.0 / tall) as u32).max(1),
            size,
            frame_rate,
            step: (frame_rate / most - 1e-6).ceil().max(1.0) as u32,
            seen: 0,
            kept: 0,
        })
    }

    pub(super) fn add(&mut self, picture: &Picture) -> Result<(), FilmError> {
        if self.seen.is_multiple_of(self.step) {
            let small = picture.scaled_down(self.width);
            self.size = [small.width, small.height];
            if self.size.iter().any(|v| *v > u32::from(u16::MAX)) {
                let reason = "a GIF is at most 65535 pixels long";
                return Err(FilmError::encode(&self.target, reason));
            }
            self.out
                .write_all(&small.rgb)
                .map_err(|e| FilmError::write(&self.target, e))?;
            self.kept += 1;
        }
        self.seen += 1;
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Written, FilmError> {
        let flushed = self.out.flush();
        flushed.map_err(|e| FilmError::write(&self.target, e))?;
        let partial = Partial::new(&self.target, "");
        let mut plan = Plan {
            width: self.size[0],
            step: 1,
            colors: 255,
            tolerance: 5,
        };
        let mut written = self.write(partial.path(), plan)?;
        for _ in 0..ATTEMPTS {
            let bytes = std::fs::metadata(partial.path()).map_or(0, |m| m.len());
            if bytes <= self.options.budget {
                break;
            }
            plan = plan.leaner(self.options.budget as f64 / bytes as f64, self.size[0]);
            written = self.write(partial.path(), plan)?;
        }
        let named = partial.finish();
        named.map_err(|e| FilmError::write(&self.target, e))?;
        Ok(written)
    }

    /// Writes the file according to a plan.
    fn write(&self, path: &Path, plan: Plan) -> Result<Written, FilmError> {
        let failed = |e: gif::EncodingError| FilmError::encode(&self.target, e);
        let mut shown = Shown::new(self.palette(plan)?, plan.tolerance);
        let palette = shown.palette.colors.concat();
        let first = self.picture(0, plan.width)?;
        let (width, height) = (first.width as u16, first.height as u16);
        let file = File::create(path).map_err(|e| FilmError::write(&self.target, e))?;
        let mut encoder =
            Encoder::new(BufWriter::new(file), width, height, &palette).map_err(failed)?;
        encoder.set_repeat(Repeat::Infinite).map_err(failed)?;
        let chosen: Vec<u32> = (0..self.kept).step_by(plan.step as usize).collect();
        // Start of each picture, and the end, in hundredths of a second.
        let begins = |kept: u32| {
            let seen = f64::from((kept * self.step).min(self.seen));
            (100.0 * seen / self.frame_rate).round() as u64
        };
        let end = begins(self.kept).max(begins(self.kept - 1) + 2);
        let end = end + (100.0 * self.options.pause.clamp(0.0, 60.0)).round() as u64;
        for (i, &kept) in chosen.iter().enumerate() {
            let next = chosen.get(i + 1).map_or(end, |k| begins(*k));
            let picture = self.picture(kept, plan.width)?;
            let mut frame = shown.next(&picture);
            frame.delay = u16::try_from(next - begins(kept)).unwrap_or(u16::MAX);
            encoder.write_frame(&frame).map_err(failed)?;
        }
        let mut out = encoder.into_inner().map_err(failed)?;
        out.flush().map_err(|e| FilmError::write(&self.target, e))?;
        Ok(Written {
            pictures: chosen.len() as u32,
            size: [first.width, first.height],
            duration: end as f64 / 100.0,
        })
    }

    fn palette(&self, plan: Plan) -> Result<Palette, FilmError> {
        let mut histogram = Histogram::new();
        let step = (self.kept as usize).div_ceil(SAMPLED);
        for kept in (0..self.kept).step_by(step.max(1)) {
            histogram.add(&self.picture(kept, plan.width)?.rgb);
        }
        Ok(Palette::new(&histogram, plan.colors))
    }

    /// A stored picture, at a given width.
    fn picture(&self, kept: u32, width: u32) -> Result<Picture, FilmError> {
        let bytes = 3 * self.size[0] as usize * self.size[1] as usize;
        let mut rgb = vec![0; bytes];
        let mut read = || -> std::io::Result<()> {
            let mut file = BufReader::new(File::open(self.waiting.path())?);
            file.seek(SeekFrom::Start(u64::from(kept) * bytes as u64))?;
            file.read_exact(&mut rgb)
        };
        read().map_err(|e| FilmError::write(&self.target, e))?;
        let picture = Picture {
            width: self.size[0],
            height: self.size[1],
            rgb,
        };
        Ok(picture.scaled_down(width))
    }
}

/// A degree of reduction.
#[derive(Debug, Clone, Copy)]
struct Plan {
    width: u32,
    step: u32,
    colors: usize,
    /// Change of a channel below which a pixel counts as unchanged [of 255].
    tolerance: u8,
}

impl Plan {
    /// A plan for about `ratio` of the size: reduces colors first, then pictures, then pixels.
    fn leaner(self, ratio: f64, full_width: u32) -> Self {
        if self.colors > 96 {
            return Self {
                colors: 96,
                tolerance: 9,
                ..self
            };
        }
        if self.step == 1 && ratio < 0.75 {
            return Self { step: 2, ..self };
        }
        let width = f64::from(self.width) * (0.9 * ratio).sqrt().clamp(0.5, 0.95);
        Self {
            width: (width as u32).max(64).min(full_width),
            ..self
        }
    }
}

/// The state of the screen after each picture.
struct Shown {
    palette: Palette,
    tolerance: u8,
    /// The pixels as last drawn.
    drawn: Vec<[u8; 3]>,
    indices: Vec<u8>,
}

impl Shown {
    fn new(palette: Palette, tolerance: u8) -> Self {
        Self {
            palette,
            tolerance,
            drawn: Vec::new(),
            indices: Vec::new(),
        }
    }

    /// The rectangle to be drawn for the next picture.
    fn next(&mut self, picture: &Picture) -> Frame<'static> {
        let (width, height) = (picture.width as usize, picture.height as usize);
        let first = self.drawn.is_empty();
        if first {
            self.drawn = vec![[0; 3]; width * height];
            self.indices = vec![TRANSPARENT; width * height];
        }
        let mut pixels = vec![TRANSPARENT; width * height];
        // First and end of the changed columns and rows.
        let mut changed = [width, 0, height, 0];
        for (i, p) in picture.rgb.chunks_exact(3).enumerate() {
            let color = [p[0], p[1], p[2]];
            if !first && near(color, self.drawn[i], self.tolerance) {
                continue;
            }
            let (x, y) = (i % width, i / width);
            let index = self.index(color, x, y);
            self.drawn[i] = color;
            if index != self.indices[i] {
                self.indices[i] = index;
                pixels[i] = index;
                changed = [
                    changed[0].min(x),
                    changed[1].max(x + 1),
                    changed[2].min(y),
                    changed[3].max(y + 1),
                ];
            }
        }
        let [left, right, top, bottom] = if changed[1] == 0 {
            [0, 1, 0, 1]
        } else {
            changed
        };
        let rows = (top..bottom).flat_map(|y| &pixels[y * width + left..y * width + right]);
        Frame {
            left: left as u16,
            top: top as u16,
            width: (right - left) as u16,
            height: (bottom - top) as u16,
            dispose: DisposalMethod::Keep,
            transparent: Some(TRANSPARENT),
            buffer: Cow::Owned(rows.copied().collect()),
            ..Frame::default()
        }
    }

    /// Index of a pixel: that of its exact color if the palette contains it, so that plain areas stay plain.
    fn index(&mut self, color: [u8; 3], x: usize, y: usize) -> u8 {
        let plain = self.palette.index(color);
        if near(self.palette.colors[plain as usize], color, 3) {
            return plain;
        }
        self.palette.index(dithered(color, x, y))
    }
}

fn near(a: [u8; 3], b: [u8; 3], tolerance: u8) -> bool {
    (0..3).all(|c| a[c].abs_diff(b[c]) <= tolerance)
}

/// Ordered dithering, the same in every picture, which hides the edges between colors of the palette.
fn dithered(color: [u8; 3], x: usize, y: usize) -> [u8; 3] {
    const BAYER: [[i16; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];
    let shift = (BAYER[y % 4][x % 4] - 8) / 2;
    color.map(|v| (i16::from(v) + shift).clamp(0, 255) as u8)
}
