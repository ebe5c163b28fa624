//! Conversion from sRGB to the planes of video encoders: BT.709, limited range, 4:2:0.

use crate::Picture;
use openh264::formats::YUVSource;
use rayon::prelude::*;

/// Luma at full size, two chroma planes at half.
pub(super) struct Planes {
    pub(super) width: usize,
    pub(super) height: usize,
    y: Vec<u8>,
    u: Vec<u8>,
    v: Vec<u8>,
}

impl Planes {
    /// Planes for pictures of a size, padded to an even size of at least 16 pixels by repeating the last row and column.
    pub(super) fn new(size: [u32; 2]) -> Self {
        let [width, height] = padded(size).map(|v| v as usize);
        let quarter = width / 2 * (height / 2);
        Self {
            width,
            height,
            y: vec![0; width * height],
            u: vec![0; quarter],
            v: vec![0; quarter],
        }
    }

    /// Converts a picture.
    pub(super) fn fill(&mut self, picture: &Picture) {
        let (width, half) = (self.width, self.width / 2);
        self.y
            .par_chunks_mut(2 * width)
            .zip(self.u.par_chunks_mut(half))
            .zip(self.v.par_chunks_mut(half))
            .enumerate()
            .for_each(|(pair, ((y, u), v))| convert_rows(picture, 2 * pair, width, y, u, v));
    }

    /// All planes, as ffmpeg reads raw video.
    pub(super) fn parts(&self) -> [&[u8]; 3] {
        [&self.y, &self.u, &self.v]
    }
}

/// Padded size of pictures of a size.
pub(super) fn padded(size: [u32; 2]) -> [u32; 2] {
    size.map(|v| v.max(16).next_multiple_of(2))
}

/// Converts two rows of luma and one of chroma.
fn convert_rows(
    picture: &Picture,
    row: usize,
    width: usize,
    y: &mut [u8],
    u: &mut [u8],
    v: &mut [u8],
) {
    // Sums over the two rows, one pixel wider at both ends for the horizontal filter.
    let mut chroma = vec![[0.0f32; 2]; width + 2];
    for down in 0..2 {
        let source = (row + down).min(picture.height as usize - 1);
        let stride = 3 * picture.width as usize;
        let line = &picture.rgb[source * stride..][..stride];
        for x in 0..width {
            let at = 3 * x.min(picture.width as usize - 1);
            let [r, g, b] = [line[at], line[at + 1], line[at + 2]].map(f32::from);
            // BT.709: Kr 0.2126, Kb 0.0722; luma 16..235, chroma 16..240.
            let luma = 0.2126 * r + 0.7152 * g + 0.0722 * b;
            y[down * width + x] = (16.5 + luma * (219.0 / 255.0)) as u8;
            chroma[x + 1][0] += (b - luma) * (0.5 / 0.9278 * 224.0 / 255.0);
            chroma[x + 1][1] += (r - luma) * (0.5 / 0.7874 * 224.0 / 255.0);
        }
    }
    chroma[0] = chroma[1];
    chroma[width + 1] = chroma[width];
    // Chroma samples are at the even columns, between the rows: horizontal filter 1 2 1, vertical mean.
    for (i, (u, v)) in u.iter_mut().zip(v).enumerate() {
        let mean = |c: usize| {
            let [a, b, d] = [chroma[2 * i][c], chroma[2 * i + 1][c], chroma[2 * i + 2][c]];
            (a + 2.0 * b + d) / 8.0
        };
        *u = (128.5 + mean(0)).clamp(0.0, 255.0) as u8;
        *v = (128.5 + mean(1)).clamp(0.0, 255.0) as u8;
    }
}

impl YUVSource for Planes {
    fn dimensions(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    fn strides(&self) -> (usize, usize, usize) {
        (self.width, self.width / 2, self.width / 2)
    }

    fn y(&self) -> &[u8] {
        &self.y
    }

    fn u(&self) -> &[u8] {
        &self.u
    }

    fn v(&self) -> &[u8] {
        &self.v
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_colors_have_the_values_of_the_standard() {
        let of = |color| {
            let mut planes = Planes::new([20, 18]);
            planes.fill(&Picture::filled(20, 18, color));
            assert!(planes.y.iter().all(|v| *v == planes.y[0]));
            [planes.y[37], planes.u[9], planes.v[9]]
        };
        assert_eq!(of([0; 3]), [16, 128, 128]);
        assert_eq!(of([255; 3]), [235, 128, 128]);
        // The primaries at full strength, from the matrix of BT.709.
        assert_eq!(of([255, 0, 0]), [63, 102, 240]);
        assert_eq!(of([0, 255, 0]), [173, 42, 26]);
        assert_eq!(of([0, 0, 255]), [32, 240, 118]);
    }

    #[test]
    fn odd_sizes_repeat_the_last_row_and_column() {
        let mut planes = Planes::new([33, 21]);
        assert_eq!((planes.width, planes.height), (34, 22));
        let mut picture = Picture::filled(33, 21, [0; 3]);
        crate::canvas::blend(&mut picture, 32, 20, [255; 3], 1.0);
        planes.fill(&picture);
        assert_eq!(planes.y[21 * 34 + 33], 235);
        assert_eq!(planes.y[20 * 34 + 31], 16);
        assert_eq!(padded([1, 5000]), [16, 5000]);
    }
}
