//! A finished picture.

use crate::partial::Partial;
use barchan_scene::color::{linear, screen};
use rayon::prelude::*;
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Largest picture that is read [bytes].
const MAX_BYTES: usize = 1 << 29;

/// A picture in sRGB with 8 bits per channel, rows from the top.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Width [pixels].
    pub width: u32,
    /// Height [pixels].
    pub height: u32,
    /// Red, green and blue of every pixel.
    pub rgb: Vec<u8>,
}

/// A picture that could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// The file could not be written.
    #[error(
        "cannot write the picture {path}: {reason}; check that the folder exists, is writable and has space"
    )]
    Write {
        /// The picture's file.
        path: PathBuf,
        /// What went wrong.
        reason: String,
    },
    /// The file could not be read.
    #[error("cannot read the picture {path}: {reason}; it must be a complete PNG file")]
    Read {
        /// The picture's file.
        path: PathBuf,
        /// What went wrong.
        reason: String,
    },
}

impl Picture {
    /// A picture of one color.
    pub fn filled(width: u32, height: u32, color: [u8; 3]) -> Self {
        let pixels = width as usize * height as usize;
        Self {
            width,
            height,
            rgb: color.repeat(pixels),
        }
    }

    /// Color of a pixel; black outside.
    pub fn pixel(&self, x: u32, y: u32) -> [u8; 3] {
        let start = 3 * (y as usize * self.width as usize + x as usize);
        match self.rgb.get(start..start + 3) {
            Some(&[r, g, b]) if x < self.width => [r, g, b],
            _ => [0; 3],
        }
    }

    /// Copies another picture into this one, with its upper left corner at a pixel; it must lie inside.
    pub fn paste(&mut self, part: &Self, x: u32, y: u32) {
        let bytes = 3 * part.width as usize;
        for (row, line) in part.rgb.chunks_exact(bytes.max(1)).enumerate() {
            let start = 3 * ((y as usize + row) * self.width as usize + x as usize);
            if let Some(target) = self.rgb.get_mut(start..start + bytes) {
                target.copy_from_slice(line);
            }
        }
    }

    /// Writes a PNG file atomically.
    pub fn write_png(&self, path: &Path) -> Result<(), PictureError> {
        let failed = |reason: String| PictureError::Write {
            path: path.to_path_buf(),
            reason,
        };
        let partial = Partial::new(path, "");
        let encode = || -> Result<(), png::EncodingError> {
            let file = BufWriter::new(File::create(partial.path())?);
            let mut encoder = png::Encoder::new(file, self.width, self.height);
            encoder.set_color(png::ColorType::Rgb);
            encoder.set_compression(png::Compression::Fast);
            let mut writer = encoder.write_header()?;
            writer.write_image_data(&self.rgb)?;
            writer.finish()
        };
        encode().map_err(|e| failed(e.to_string()))?;
        partial.finish().map_err(|e| failed(e.to_string()))
    }

    /// Reads a PNG file in RGB with 8 bits, as written by [`Self::write_png`].
    pub fn read_png(path: &Path) -> Result<Self, PictureError> {
        let failed = |reason: String| PictureError::Read {
            path: path.to_path_buf(),
            reason,
        };
        let decode = || -> Result<Option<Self>, png::DecodingError> {
            let file = BufReader::new(File::open(path)?);
            let mut reader = png::Decoder::new(file).read_info()?;
            let size = reader.output_buffer_size().filter(|s| *s <= MAX_BYTES);
            let (Some(size), (png::ColorType::Rgb, png::BitDepth::Eight)) =
                (size, reader.output_color_type())
            else {
                return Ok(None);
            };
            let mut rgb = vec![0; size];
            let info = reader.next_frame(&mut rgb)?;
            let (width, height) = (info.width, info.height);
            Ok(Some(Self { width, height, rgb }))
        };
        match decode() {
            Ok(Some(picture)) => Ok(picture),
            Ok(None) => Err(failed("it was not written by barchan".into())),
            Err(error) => Err(failed(error.to_string())),
        }
    }

    /// The picture at a smaller width and proportional height: every new pixel is the mean radiance of
    /// its area. A width that is not smaller returns the picture unchanged.
    pub fn scaled_down(&self, width: u32) -> Self {
        if width >= self.width || width == 0 || self.height == 0 {
            return self.clone();
        }
        let exact = f64::from(self.height) * f64::from(width) / f64::from(self.width);
        let height = (exact.round() as u32).max(1);
        let columns = footprints(self.width, width);
        let rows = footprints(self.height, height);
        let mut rgb = vec![0; 3 * width as usize * height as usize];
        rgb.par_chunks_mut(3 * width as usize)
            .zip(&rows)
            .for_each(|(out, row)| self.shrink_row(row, &columns, out));
        Self { width, height, rgb }
    }

    /// One row of the smaller picture: averages vertically, then horizontally, in linear light.
    fn shrink_row(&self, row: &Footprint, columns: &[Footprint], out: &mut [u8]) {
        let stride = 3 * self.width as usize;
        let mut sum = vec![0.0f32; stride];
        for (k, weight) in row.weights.iter().enumerate() {
            let line = &self.rgb[(row.first + k) * stride..][..stride];
            for (s, &v) in sum.iter_mut().zip(line) {
                *s += weight * LINEAR[v as usize];
            }
        }
        for (pixel, column) in out.chunks_exact_mut(3).zip(columns) {
            let mut light = [0.0f32; 3];
            for (k, weight) in column.weights.iter().enumerate() {
                for c in 0..3 {
                    light[c] += weight * sum[3 * (column.first + k) + c];
                }
            }
            pixel.copy_from_slice(&light.map(screen));
        }
    }
}

/// The old pixels that a new one covers, along one axis.
struct Footprint {
    first: usize,
    /// Weights, which sum to 1.
    weights: Vec<f32>,
}

fn footprints(from: u32, to: u32) -> Vec<Footprint> {
    let step = f64::from(from) / f64::from(to);
    (0..to)
        .map(|i| {
            let (start, end) = (f64::from(i) * step, f64::from(i + 1) * step);
            let first = start.floor() as usize;
            let last = (end.ceil() as usize).min(from as usize).max(first + 1);
            let overlap = |k: usize| (end.min(k as f64 + 1.0) - start.max(k as f64)).max(0.0);
            let total: f64 = (first..last).map(overlap).sum();
            let weights = (first..last).map(|k| (overlap(k) / total) as f32);
            Footprint {
                first,
                weights: weights.collect(),
            }
        })
        .collect()
}

/// Linear light of each sRGB byte.
pub(crate) static LINEAR: LazyLock<[f32; 256]> =
    LazyLock::new(|| std::array::from_fn(|i| linear(i as u8)));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canvas::blend;

    #[test]
    fn a_checkerboard_shrinks_to_half_its_radiance() {
        let mut board = Picture::filled(64, 32, [0; 3]);
        for y in 0..32 {
            for x in (y % 2..64).step_by(2) {
                blend(&mut board, x, y, [255; 3], 1.0);
            }
        }
        let small = board.scaled_down(16);
        assert_eq!((small.width, small.height), (16, 8));
        // Half the light is sRGB 188; the mean of the bytes would be 128.
        assert!(small.rgb.iter().all(|&v| v.abs_diff(188) <= 1));
    }

    #[test]
    fn a_fractional_factor_preserves_plain_pictures_and_mean_radiance() {
        let plain = Picture::filled(100, 57, [10, 120, 250]);
        let small = plain.scaled_down(33);
        assert_eq!((small.width, small.height), (33, 19));
        assert!(small.rgb.chunks(3).all(|p| p == [10, 120, 250]));
        let mut edge = plain.clone();
        (0..57).for_each(|y| (0..50).for_each(|x| blend(&mut edge, x, y, [255; 3], 1.0)));
        let small = edge.scaled_down(33);
        assert_eq!(small.pixel(15, 9), [255; 3]);
        assert_eq!(small.pixel(17, 9), [10, 120, 250]);
        assert!(small.pixel(16, 9)[0] > 10 && small.pixel(16, 9)[0] < 255);
    }

    #[test]
    fn png_files_are_exact_and_leave_no_other_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        let mut picture = Picture::filled(7, 5, [1, 2, 3]);
        blend(&mut picture, 6, 4, [200, 100, 50], 1.0);
        picture.write_png(&path).unwrap();
        assert_eq!(Picture::read_png(&path).unwrap(), picture);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        std::fs::write(&path, b"not a picture").unwrap();
        assert!(Picture::read_png(&path).is_err());
        let nowhere = folder.path().join("missing").join("a.png");
        assert!(picture.write_png(&nowhere).is_err());
    }

    #[test]
    fn empty_and_odd_pictures_do_not_panic() {
        let empty = Picture::filled(0, 0, [0; 3]);
        assert_eq!(empty.scaled_down(3), empty);
        let thin = Picture::filled(900, 1, [9; 3]);
        assert_eq!(thin.scaled_down(10).height, 1);
    }
}
