//! Text on pictures, from the bitmaps of Noto Sans Mono, at any height.

use crate::Picture;
use crate::canvas::{self, Area};
use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

/// Style of text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Style {
    /// Height of a line [pixels].
    pub height: u32,
    /// Bold strokes.
    pub bold: bool,
    /// Color of the strokes.
    pub color: [u8; 3],
}

impl Style {
    /// Dark text of a height [pixels].
    pub fn dark(height: u32) -> Self {
        Self {
            height: height.clamp(6, 512),
            bold: false,
            color: [32, 32, 36],
        }
    }

    /// The same style in bold.
    pub fn bold(self) -> Self {
        Self { bold: true, ..self }
    }
}

/// Height of legible text in a picture of a height [pixels]: 10 for 180, 20 for 720, 60 for 2160.
pub fn readable_height(picture_height: u32) -> u32 {
    ((f64::from(picture_height) / 36.0).round() as u32).clamp(10, 96)
}

/// Size of a line of text [pixels].
pub fn size(text: &str, style: Style) -> [u32; 2] {
    let letters = printable(text).chars().count();
    [size_of(letters, style) as u32, style.height]
}

/// Draws a line of text; `x`, `y` are its upper left corner.
pub fn draw(picture: &mut Picture, text: &str, x: i64, y: i64, style: Style) {
    mask(text, style).each(|column, row, cover| {
        let (px, py) = (x + column as i64, y + row as i64);
        canvas::blend(picture, px, py, style.color, cover);
    });
}

/// Draws a line of text that runs upwards; `x`, `y` are the upper left corner of its area.
pub fn draw_upwards(picture: &mut Picture, text: &str, x: i64, y: i64, style: Style) {
    let mask = mask(text, style);
    mask.each(|column, row, cover| {
        let (px, py) = (x + row as i64, y + (mask.width - 1 - column) as i64);
        canvas::blend(picture, px, py, style.color, cover);
    });
}

/// Draws a line of text on a light panel; `x`, `y` are the upper left corner of the panel.
pub fn draw_panel(picture: &mut Picture, text: &str, x: i64, y: i64, style: Style) {
    let pad = i64::from(style.height / 3 + 1);
    let [width, height] = size(text, style).map(|n| i64::from(n) + 2 * pad);
    canvas::panel(picture, Area::new(x, y, width, height), pad as f32);
    draw(picture, text, x + pad, y + pad, style);
}

/// The text in glyphs of the font: Greek letters by name, powers with ^, other missing glyphs as question marks.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if get_raster(c, FontWeight::Regular, RasterHeight::Size16).is_some() {
            out.push(c);
        } else if let Some(other) = substitute(c) {
            out.push_str(other);
        } else if !c.is_control() {
            out.push('?');
        }
    }
    out
}

fn substitute(c: char) -> Option<&'static str> {
    const POWERS: [&str; 10] = ["^0", "^1", "^2", "^3", "^4", "^5", "^6", "^7", "^8", "^9"];
    const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
    let from = |first: char| (c as usize).checked_sub(first as usize);
    Some(match c {
        '⁰' | '⁴'..='⁹' => POWERS.get(from('⁰')?)?,
        '₀'..='₉' => DIGITS.get(from('₀')?)?,
        '⁻' => "^-",
        '‐'..='―' | '−' => "-",
        '\u{2018}' | '\u{2019}' | '′' => "'",
        '\u{201c}' | '\u{201d}' | '″' => "\"",
        '•' | '∙' | '⋅' => "·",
        '…' => "...",
        '≤' => "<=",
        '≥' => ">=",
        '≈' | '∼' => "~",
        '≠' => "!=",
        '→' => "->",
        '∞' => "inf",
        '√' => "sqrt ",
        '∂' => "d",
        '∆' | 'Δ' => "Delta",
        'μ' => "µ",
        '\u{2126}' | '\u{3a9}' => "Ohm",
        'α' => "alpha",
        'β' => "beta",
        'γ' => "gamma",
        'δ' => "delta",
        'ε' | 'ϵ' => "epsilon",
        'η' => "eta",
        'θ' | 'ϑ' => "theta",
        'κ' => "kappa",
        'λ' => "lambda",
        'ν' => "nu",
        'π' => "pi",
        'ρ' => "rho",
        'σ' => "sigma",
        'Σ' => "Sigma",
        'τ' => "tau",
        'φ' | 'ϕ' => "phi",
        'Φ' => "Phi",
        'ψ' => "psi",
        'ω' => "omega",
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\t' => " ",
        _ => return None,
    })
}

/// Coverage of each pixel of a line of text.
struct Mask {
    width: usize,
    cover: Vec<f32>,
}

impl Mask {
    /// Visits every pixel by column and row.
    fn each(&self, mut visit: impl FnMut(usize, usize, f32)) {
        for (i, &cover) in self.cover.iter().enumerate() {
            visit(i % self.width, i / self.width, cover);
        }
    }
}

fn mask(text: &str, style: Style) -> Mask {
    let text = printable(text);
    let (source, weight) = (bitmap(style), weight(style));
    let (across, down) = (get_raster_width(weight, source), source.val());
    let letters = text.chars().count();
    let mut strip = vec![0.0f32; letters * across * down];
    for (i, c) in text.chars().enumerate() {
        let Some(glyph) = get_raster(c, weight, source) else {
            continue;
        };
        for (y, row) in glyph.rows().enumerate() {
            for (x, &v) in row.iter().enumerate() {
                strip[y * letters * across + i * across + x] = f32::from(v) / 255.0;
            }
        }
    }
    let width = size_of(letters, style);
    let height = style.height as usize;
    if letters == 0 || height == down {
        return Mask {
            width: letters * across,
            cover: strip,
        };
    }
    resample(&strip, letters * across, down, width, height)
}

fn size_of(letters: usize, style: Style) -> usize {
    (letters as f64 * advance(style)).ceil() as usize
}

/// Resamples coverage: area means for smaller sizes, smooth edges of one pixel for larger ones.
fn resample(strip: &[f32], from_x: usize, from_y: usize, to_x: usize, to_y: usize) -> Mask {
    let step = from_y as f32 / to_y as f32;
    // A tent as wide as the larger of the two pixels; enlarging blurs edges, so they are sharpened again.
    let reach = step.max(1.0);
    let steeper = (1.0 / step).max(1.0);
    let at = |x: isize, y: isize| {
        let inside = x >= 0 && y >= 0 && (x as usize) < from_x && (y as usize) < from_y;
        if inside {
            strip[y as usize * from_x + x as usize]
        } else {
            0.0
        }
    };
    let mut cover = Vec::with_capacity(to_x * to_y);
    for y in 0..to_y {
        let cy = (y as f32 + 0.5) * step - 0.5;
        for x in 0..to_x {
            let cx = (x as f32 + 0.5) * step - 0.5;
            let (mut sum, mut total) = (0.0, 0.0);
            for sy in (cy - reach).floor() as isize..=(cy + reach).ceil() as isize {
                let wy = (1.0 - (sy as f32 - cy).abs() / reach).max(0.0);
                for sx in (cx - reach).floor() as isize..=(cx + reach).ceil() as isize {
                    let w = wy * (1.0 - (sx as f32 - cx).abs() / reach).max(0.0);
                    sum += w * at(sx, sy);
                    total += w;
                }
            }
            let mean = if total > 0.0 { sum / total } else { 0.0 };
            cover.push(((mean - 0.5) * steeper + 0.5).clamp(0.0, 1.0));
        }
    }
    Mask { width: to_x, cover }
}

fn weight(style: Style) -> FontWeight {
    if style.bold {
        FontWeight::Bold
    } else {
        FontWeight::Regular
    }
}

/// The bitmap to draw from: the exact size if available, otherwise the largest.
fn bitmap(style: Style) -> RasterHeight {
    match style.height {
        16 => RasterHeight::Size16,
        20 => RasterHeight::Size20,
        24 => RasterHeight::Size24,
        _ => RasterHeight::Size32,
    }
}

/// Width of a letter [pixels].
fn advance(style: Style) -> f64 {
    let source = bitmap(style);
    let width = get_raster_width(weight(style), source) as f64;
    width * f64::from(style.height) / source.val() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ink(picture: &Picture) -> f64 {
        let dark = |v: &u8| f64::from(255 - *v) / 255.0;
        picture.rgb.iter().step_by(3).map(dark).sum()
    }

    #[test]
    fn text_stays_inside_its_size_at_every_height() {
        for height in [8, 10, 13, 16, 20, 22, 24, 32, 48, 60] {
            for style in [Style::dark(height), Style::dark(height).bold()] {
                let [w, h] = size("Speed 0.25 m/s²", style);
                let mut picture = Picture::filled(w + 8, h + 8, [255; 3]);
                draw(&mut picture, "Speed 0.25 m/s²", 4, 4, style);
                let whole = ink(&picture);
                assert!(
                    whole > 0.3 * f64::from(h) * f64::from(h),
                    "{height}: {whole}"
                );
                canvas::rectangle(
                    &mut picture,
                    Area::new(4, 4, i64::from(w), i64::from(h)),
                    [255; 3],
                    1.0,
                );
                assert_eq!(ink(&picture), 0.0, "{height}");
            }
        }
    }

    #[test]
    fn ink_is_proportional_to_the_square_of_the_height_and_bold_has_more() {
        let ink_of = |style: Style| {
            let mut picture = Picture::filled(900, 100, [255; 3]);
            draw(&mut picture, "pressure 12 kPa", 2, 2, style);
            ink(&picture)
        };
        let ratio = ink_of(Style::dark(48)) / ink_of(Style::dark(24));
        assert!((3.2..4.8).contains(&ratio), "{ratio}");
        assert!(ink_of(Style::dark(24).bold()) > 1.2 * ink_of(Style::dark(24)));
    }

    #[test]
    fn missing_glyphs_are_substituted() {
        assert_eq!(printable("m/s² · kg/m³"), "m/s² · kg/m³");
        assert_eq!(printable("φ = 30°, −1 ≤ α"), "phi = 30°, -1 <= alpha");
        assert_eq!(printable("10⁻⁶ x₁"), "10^-^6 x1");
        assert_eq!(printable("沙\u{7}"), "?");
    }

    #[test]
    fn upward_text_is_the_same_rotated_by_90_degrees() {
        let style = Style::dark(20);
        let [w, h] = size("y [m]", style);
        let mut flat = Picture::filled(w, h, [255; 3]);
        draw(&mut flat, "y [m]", 0, 0, style);
        let mut tall = Picture::filled(h, w, [255; 3]);
        draw_upwards(&mut tall, "y [m]", 0, 0, style);
        for y in 0..h {
            for x in 0..w {
                assert_eq!(flat.pixel(x, y), tall.pixel(y, w - 1 - x));
            }
        }
    }

    #[test]
    fn a_panel_makes_text_legible_on_dark_and_light() {
        for background in [[0; 3], [255; 3], [200, 30, 90]] {
            let mut picture = Picture::filled(200, 60, background);
            draw_panel(&mut picture, "t = 1.00 s", 4, 4, Style::dark(20));
            let inside = |x, y| f32::from(picture.pixel(x, y)[1]);
            let values: Vec<f32> = (14..90).map(|x| inside(x, 22)).collect();
            let light = values.iter().copied().fold(0.0, f32::max);
            let dark = values.iter().copied().fold(255.0, f32::min);
            assert!(light - dark > 140.0, "{background:?}");
        }
    }

    #[test]
    fn empty_text_and_extreme_positions_do_not_panic() {
        let mut picture = Picture::filled(20, 20, [255; 3]);
        draw(&mut picture, "", 0, 0, Style::dark(13));
        draw(&mut picture, "abc", -500, 9000, Style::dark(0));
        draw_panel(&mut picture, "", 0, 0, Style::dark(16));
        assert_eq!(picture.width, 20);
    }
}
