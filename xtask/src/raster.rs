//! Processing of rendered pictures for the pages.

use std::path::Path;
use std::time::Duration;

/// A picture in memory.
pub struct Raster {
    pub width: usize,
    pub height: usize,
    pub rgb: Vec<u8>,
}

impl Raster {
    /// Reads a PNG file.
    pub fn read(path: &Path) -> Result<Self, String> {
        // The folder of the picture is new as well; on a slow disk it may appear with a delay.
        let mut file = std::fs::File::open(path);
        if file.is_err() {
            std::thread::sleep(Duration::from_millis(200));
            file = std::fs::File::open(path);
        }
        let file = file.map_err(|e| format!("{}: {e}", path.display()))?;
        let decoder = png::Decoder::new(std::io::BufReader::new(file));
        let mut reader = decoder.read_info().map_err(|e| e.to_string())?;
        let size = reader
            .output_buffer_size()
            .ok_or("the picture is too large")?;
        let mut rgb = vec![0; size];
        let info = reader.next_frame(&mut rgb).map_err(|e| e.to_string())?;
        Ok(Self {
            width: info.width as usize,
            height: info.height as usize,
            rgb,
        })
    }

    /// Pictures of one size in rows of `across`.
    pub fn joined(cells: &[Self], across: usize) -> Self {
        let (width, height) = cells.first().map_or((0, 0), |c| (c.width, c.height));
        let down = cells.len().div_ceil(across);
        let mut joined = Self {
            width: width * across,
            height: height * down,
            rgb: vec![255; 3 * width * across * height * down],
        };
        for (i, cell) in cells.iter().enumerate() {
            let (x, y) = (i % across * width, i / across * height);
            for (row, line) in cell.rgb.chunks_exact(3 * width.max(1)).enumerate() {
                let start = 3 * ((y + row) * joined.width + x);
                joined.rgb[start..start + line.len()].copy_from_slice(line);
            }
        }
        joined
    }

    /// The picture as JPEG: sand does not compress well as PNG.
    pub fn jpeg(&self, quality: u8) -> Result<Vec<u8>, String> {
        let [width, height] =
            [self.width, self.height].map(|n| u16::try_from(n).unwrap_or(u16::MAX));
        let mut bytes = Vec::new();
        jpeg_encoder::Encoder::new(&mut bytes, quality)
            .encode(&self.rgb, width, height, jpeg_encoder::ColorType::Rgb)
            .map_err(|e| e.to_string())?;
        Ok(bytes)
    }

    /// A JPEG of the best quality that stays within a number of bytes, or else of the lowest.
    pub fn jpeg_within(&self, most: usize) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        for quality in (30..=88).rev().step_by(4) {
            bytes = self.jpeg(quality)?;
            if bytes.len() <= most {
                break;
            }
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_joined_row_by_row() {
        let plain = |c: u8| Raster {
            width: 2,
            height: 1,
            rgb: vec![c; 6],
        };
        let joined = Raster::joined(&[plain(1), plain(2), plain(3)], 2);
        assert_eq!((joined.width, joined.height), (4, 2));
        let first: Vec<u8> = joined.rgb.chunks(3).map(|p| p[0]).collect();
        assert_eq!(first, [1, 1, 2, 2, 3, 3, 255, 255]);
    }
}
