//! Perceptual difference of two pictures.

use barchan_render::Picture;
use barchan_render::color::to_linear;

/// Color difference ΔE*ab (CIE 1976) over the pixels; about 2.3 is just noticeable.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// Mean.
    pub mean: f32,
    /// 99 % of the pixels differ by less.
    pub p99: f32,
    /// Largest.
    pub max: f32,
}

/// Standard deviation of the blur [pixels]: the eye resolves a sixtieth of a degree, about a pixel of a screen at arm's length.
const BLUR: f32 = 1.0;

/// Difference of two pictures after the blur of the eye; `None` if their sizes differ or they are empty.
pub fn difference(a: &Picture, b: &Picture) -> Option<Difference> {
    if (a.width, a.height) != (b.width, b.height) || a.rgb.len() != b.rgb.len() || a.rgb.is_empty()
    {
        return None;
    }
    let (seen_a, seen_b) = (seen(a), seen(b));
    let apart = |p: &[f32; 3], q: &[f32; 3]| -> f32 {
        (0..3).map(|c| (p[c] - q[c]).powi(2)).sum::<f32>().sqrt()
    };
    let pairs = seen_a.iter().zip(&seen_b);
    let mut all: Vec<f32> = pairs.map(|(p, q)| apart(p, q)).collect();
    all.sort_unstable_by(f32::total_cmp);
    let mean = all.iter().map(|d| f64::from(*d)).sum::<f64>() / all.len() as f64;
    Some(Difference {
        mean: mean as f32,
        p99: all[(all.len() - 1) * 99 / 100],
        max: all[all.len() - 1],
    })
}

/// L*a*b* (D65) of every pixel, after the blur.
fn seen(picture: &Picture) -> Vec<[f32; 3]> {
    let (width, height) = (picture.width as usize, picture.height as usize);
    let pixels = picture.rgb.chunks_exact(3);
    let light: Vec<[f32; 3]> = pixels
        .map(|p| to_linear([p[0], p[1], p[2]]).to_array())
        .collect();
    let across = blurred(&light, width, height, 1, width);
    let both = blurred(&across, height, width, width, 1);
    both.into_iter().map(lab).collect()
}

/// Blurs lines of `length` pixels that are `step` apart; lines begin `stride` apart.
fn blurred(
    light: &[[f32; 3]],
    length: usize,
    lines: usize,
    step: usize,
    stride: usize,
) -> Vec<[f32; 3]> {
    let reach = (3.0 * BLUR).ceil() as isize;
    let weight = |d: isize| (-0.5 * (d as f32 / BLUR).powi(2)).exp();
    let total: f32 = (-reach..=reach).map(weight).sum();
    let mut out = vec![[0.0; 3]; light.len()];
    for line in 0..lines {
        for i in 0..length {
            let mut sum = [0.0; 3];
            for d in -reach..=reach {
                // Beyond the edge the last pixel is repeated.
                let at = (i as isize + d).clamp(0, length as isize - 1) as usize;
                let p = light[line * stride + at * step];
                (0..3).for_each(|c| sum[c] += weight(d) / total * p[c]);
            }
            out[line * stride + i * step] = sum;
        }
    }
    out
}

/// L*a*b* (D65) of linear light.
pub fn lab([r, g, b]: [f32; 3]) -> [f32; 3] {
    // sRGB to XYZ, each over the white of D65.
    let x = (0.412_456_4 * r + 0.357_576_1 * g + 0.180_437_5 * b) / 0.950_47;
    let y = 0.212_672_9 * r + 0.715_152_2 * g + 0.072_175 * b;
    let z = (0.019_333_9 * r + 0.119_192 * g + 0.950_304_1 * b) / 1.088_83;
    let f = |t: f32| {
        if t > 216.0 / 24389.0 {
            t.cbrt()
        } else {
            (24389.0 / 27.0 * t + 16.0) / 116.0
        }
    };
    let [fx, fy, fz] = [x, y, z].map(f);
    [116.0 * fy - 16.0, 500.0 * (fx - fy), 200.0 * (fy - fz)]
}
