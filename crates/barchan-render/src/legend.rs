//! Legends of the colors of a picture.

use crate::Picture;
use crate::canvas::{self, Area};
use crate::color::{Category, ColorMap, Range, Scale, ticks};
use crate::text::{self, Style};

/// Draws the legend of a scale into the upper right corner, sized by the picture's height. Returns the area that it covers.
pub fn draw(picture: &mut Picture, scale: &Scale) -> Area {
    let style = Style::dark(text::readable_height(picture.height));
    let [width, _] = size(scale, style);
    let margin = i64::from(style.height) / 2 + 2;
    let left = i64::from(picture.width) - width - margin;
    draw_at(picture, scale, left, margin, style)
}

/// Size of a legend with text of a style [pixels].
pub fn size(scale: &Scale, style: Style) -> [i64; 2] {
    let layout = Layout::new(scale, style);
    [layout.width, layout.height]
}

/// Draws a legend with its upper left corner at a position. Returns the area that it covers.
pub fn draw_at(picture: &mut Picture, scale: &Scale, x: i64, y: i64, style: Style) -> Area {
    let layout = Layout::new(scale, style);
    let area = Area::new(x, y, layout.width, layout.height);
    canvas::panel(picture, area, layout.pad as f32);
    let (left, top) = (x + layout.pad, y + layout.pad);
    text::draw(picture, scale.label(), left, top, style.bold());
    let below = [left, top + layout.line + layout.line / 3];
    match scale {
        Scale::Continuous { range, map, .. } => draw_bar(picture, *range, *map, below, style),
        Scale::Categories { kinds, .. } => draw_kinds(picture, kinds, below, style),
    }
    area
}

struct Layout {
    pad: i64,
    line: i64,
    width: i64,
    height: i64,
}

/// Length of the bar of a continuous scale, in line heights.
const BAR: i64 = 7;
/// Approximate number of ticks.
const MARKS: usize = 4;

impl Layout {
    fn new(scale: &Scale, style: Style) -> Self {
        let line = i64::from(style.height);
        let pad = line / 2;
        let wide = |text: &str, style| i64::from(text::size(text, style)[0]);
        let title = wide(scale.label(), style.bold());
        let (longest, below) = match scale {
            Scale::Continuous { range, .. } => {
                let marks = marks(*range);
                let widths = marks.iter().map(|(_, text)| wide(text, style));
                // Half a line above and below the bar, for the numbers at its ends.
                (widths.max(), (BAR + 1) * line)
            }
            Scale::Categories { kinds, .. } => {
                let widths = kinds.iter().map(|kind| wide(&kind.name, style));
                (widths.max(), kinds.len() as i64 * (line + line / 4))
            }
        };
        let content = line + line / 2 + longest.unwrap_or(0);
        Self {
            pad,
            line,
            width: title.max(content) + 2 * pad,
            height: line + line / 3 + below + 2 * pad,
        }
    }
}

fn marks(range: Range) -> Vec<(f64, String)> {
    ticks(f64::from(range.low), f64::from(range.high), MARKS)
}

const EDGE: [u8; 3] = [70, 70, 76];

fn draw_bar(picture: &mut Picture, range: Range, map: ColorMap, at: [i64; 2], style: Style) {
    let line = i64::from(style.height);
    let bar = Area::new(at[0], at[1] + line / 2, line, BAR * line);
    for row in 0..bar.height {
        let place = 1.0 - (row as f32 + 0.5) / bar.height as f32;
        let strip = Area {
            y: bar.y + row,
            height: 1,
            ..bar
        };
        canvas::rectangle(picture, strip, map.at(place), 1.0);
    }
    let thin = (line / 16).max(1);
    canvas::frame(picture, bar, thin, EDGE, 1.0);
    for (value, text) in marks(range) {
        let span = f64::from(range.high) - f64::from(range.low);
        let place = (value - f64::from(range.low)) / span;
        let y = bar.y + ((1.0 - place) * (bar.height - thin) as f64).round() as i64;
        let mark = Area::new(bar.x + bar.width, y, (line / 4).max(2), thin);
        canvas::rectangle(picture, mark, EDGE, 1.0);
        text::draw(picture, &text, bar.x + line + line / 2, y - line / 2, style);
    }
}

fn draw_kinds(picture: &mut Picture, kinds: &[Category], at: [i64; 2], style: Style) {
    let line = i64::from(style.height);
    for (i, kind) in kinds.iter().enumerate() {
        let y = at[1] + i as i64 * (line + line / 4);
        let swatch = Area::new(at[0], y + line / 8, line - line / 4, line - line / 4);
        canvas::rectangle(picture, swatch, kind.color, 1.0);
        canvas::frame(picture, swatch, (line / 16).max(1), EDGE, 1.0);
        text::draw(picture, &kind.name, at[0] + line + line / 4, y, style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn speed() -> Scale {
        Scale::Continuous {
            label: "speed [m/s]".into(),
            range: Range {
                low: 0.0,
                high: 2.5,
            },
            map: ColorMap::Viridis,
        }
    }

    #[test]
    fn legends_fit_into_their_corner_at_every_size() {
        for [width, height] in [[320, 180], [640, 360], [1280, 720], [3840, 2160]] {
            for scale in [speed(), Scale::plastic_case()] {
                let mut picture = Picture::filled(width, height, [0; 3]);
                let area = draw(&mut picture, &scale);
                assert!(area.x >= 0 && area.x + area.width <= i64::from(width));
                assert!(area.y >= 0 && area.y + area.height <= i64::from(height));
                assert!(area.width < i64::from(width) / 2);
                assert!(area.x > i64::from(width) / 4);
            }
        }
    }

    #[test]
    fn the_bar_is_low_at_the_bottom_and_high_at_the_top() {
        let mut picture = Picture::filled(1280, 720, [20; 3]);
        let area = draw(&mut picture, &speed());
        let x = area.x as u32 + 20;
        let column: Vec<[u8; 3]> = (0..720).map(|y| picture.pixel(x, y)).collect();
        let find = |c: [u8; 3]| column.iter().position(|p| *p == c);
        let (high, middle, low) = (
            find(ColorMap::Viridis.at(0.97)),
            find(ColorMap::Viridis.at(0.5)),
            find(ColorMap::Viridis.at(0.03)),
        );
        assert!(
            high.is_some() && high < middle && middle < low,
            "{high:?} {middle:?} {low:?}"
        );
    }

    #[test]
    fn categories_show_their_colors() {
        let mut picture = Picture::filled(640, 360, [255; 3]);
        draw(&mut picture, &Scale::plastic_case());
        for value in [0.0, 1.0, 2.0] {
            let color = Scale::plastic_case().color(value);
            let seen = picture.rgb.chunks(3).filter(|p| *p == color).count();
            assert!(seen > 20, "{value}: {seen}");
        }
    }
}
