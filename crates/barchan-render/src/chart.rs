//! A chart: a rectangle of a picture with two linear axes, for lines and points.

use crate::Picture;
use crate::canvas::{self, Area};
use crate::color::ticks;
use crate::text::{self, Style};

const INK: [u8; 3] = [40, 40, 44];

/// Position and window of a chart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chart {
    /// Its rectangle, without numbers and labels.
    pub area: Area,
    /// Values at its edges: `[min x, min y, max x, max y]`, finite and not empty.
    pub window: [f64; 4],
}

impl Chart {
    /// A chart with equal scales on both axes, as large as fits into the rectangle, and centered in it.
    pub fn even(room: Area, window: [f64; 4]) -> Self {
        let [wide, tall] = [window[2] - window[0], window[3] - window[1]];
        let scale = (room.width as f64 / wide).min(room.height as f64 / tall);
        let width = ((wide * scale).round() as i64).clamp(1, room.width.max(1));
        let height = ((tall * scale).round() as i64).clamp(1, room.height.max(1));
        let area = Area::new(
            room.x + (room.width - width) / 2,
            room.y + (room.height - height) / 2,
            width,
            height,
        );
        Self { area, window }
    }

    /// Position of a value in the picture [pixels].
    pub fn place(&self, [x, y]: [f64; 2]) -> [f32; 2] {
        let [left, low, right, high] = self.window;
        let across = (x - left) / (right - left) * self.area.width as f64;
        let up = (y - low) / (high - low) * self.area.height as f64;
        let bottom = self.area.y + self.area.height;
        [
            (self.area.x as f64 + across) as f32,
            (bottom as f64 - up) as f32,
        ]
    }

    /// Draws a point, unless it lies outside.
    pub fn point(&self, picture: &mut Picture, at: [f64; 2], dot: Dot) {
        let [left, low, right, high] = self.window;
        let inside = (left..=right).contains(&at[0]) && (low..=high).contains(&at[1]);
        if inside {
            canvas::disk(picture, self.place(at), dot.size, dot.color, dot.amount);
        }
    }

    /// Draws a straight line, clipped to the window.
    pub fn line(&self, picture: &mut Picture, from: [f64; 2], to: [f64; 2], dot: Dot) {
        if let Some([from, to]) = self.cut(from, to) {
            let [from, to] = [self.place(from), self.place(to)];
            canvas::line(picture, from, to, dot.size, dot.color, dot.amount);
        }
    }

    /// Clips a line to the window, by its parameters at the four edges.
    fn cut(&self, from: [f64; 2], to: [f64; 2]) -> Option<[[f64; 2]; 2]> {
        if !from.iter().chain(&to).all(|v| v.is_finite()) {
            return None;
        }
        let (mut first, mut last) = (0.0f64, 1.0f64);
        for axis in 0..2 {
            let along = to[axis] - from[axis];
            for (edge, sign) in [(self.window[axis], 1.0), (self.window[axis + 2], -1.0)] {
                let inside = sign * (from[axis] - edge);
                if along == 0.0 {
                    if inside < 0.0 {
                        return None;
                    }
                    continue;
                }
                let at = (edge - from[axis]) / along;
                match sign * along > 0.0 {
                    true => first = first.max(at),
                    false => last = last.min(at),
                }
            }
        }
        let at = |t: f64| [0, 1].map(|axis| from[axis] + t * (to[axis] - from[axis]));
        (first < last).then(|| [at(first), at(last)])
    }

    /// Draws frame, ticks, numbers and labels.
    pub fn axes(&self, picture: &mut Picture, labels: [&str; 2], style: Style) {
        let line = i64::from(style.height);
        let thin = (line / 14).max(1);
        let area = self.area;
        let frame = Area::new(
            area.x - thin,
            area.y - thin,
            area.width + 2 * thin,
            area.height + 2 * thin,
        );
        canvas::frame(picture, frame, thin, INK, 1.0);
        let (bottom, mark) = (area.y + area.height, (line / 3).max(2));
        for (at, text) in self.marks(0, line) {
            let x = area.x + at;
            let tick = Area::new(x, bottom, thin, mark);
            canvas::rectangle(picture, tick, INK, 1.0);
            let wide = i64::from(text::size(&text, style)[0]);
            text::draw(picture, &text, x - wide / 2, bottom + mark + 1, style);
        }
        let mut widest = 0;
        for (at, text) in self.marks(1, line) {
            let y = bottom - 1 - at;
            let tick = Area::new(area.x - mark, y, mark, thin);
            canvas::rectangle(picture, tick, INK, 1.0);
            let wide = i64::from(text::size(&text, style)[0]);
            widest = widest.max(wide);
            let left = area.x - mark - 3 - wide;
            text::draw(picture, &text, left, y - line / 2, style);
        }
        let wide = i64::from(text::size(labels[0], style)[0]);
        let middle = area.x + (area.width - wide) / 2;
        text::draw(picture, labels[0], middle, bottom + mark + line + 2, style);
        let wide = i64::from(text::size(labels[1], style)[0]);
        let left = (area.x - mark - 3 - widest - line - line / 4).max(0);
        let middle = (area.y + (area.height - wide) / 2).max(0);
        text::draw_upwards(picture, labels[1], left, middle, style);
    }

    /// Ticks along an axis: distance from its low end [pixels] and text.
    fn marks(&self, axis: usize, line: i64) -> Vec<(i64, String)> {
        let extent = [self.area.width, self.area.height][axis];
        let [low, high] = [self.window[axis], self.window[axis + 2]];
        let apart = [5, 3][axis] * line;
        let about = (extent / apart.max(1)).clamp(1, 10) as usize;
        let place = |v: f64| ((v - low) / (high - low) * extent as f64).round() as i64;
        let marks = ticks(low, high, about).into_iter();
        marks
            .map(|(v, text)| (place(v).clamp(0, extent - 1), text))
            .collect()
    }
}

/// Style of a point or a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dot {
    /// Radius of a point, or width of a line [pixels].
    pub size: f32,
    /// Color.
    pub color: [u8; 3],
    /// Opacity, 0 to 1.
    pub amount: f32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Chart {
        let room = Area::new(10, 20, 200, 100);
        Chart::even(room, [-1.0, 0.0, 1.0, 2.0])
    }

    const DOT: Dot = Dot {
        size: 2.0,
        color: [255, 0, 0],
        amount: 1.0,
    };

    #[test]
    fn charts_of_equal_scales_are_centered() {
        let chart = chart();
        assert_eq!((chart.area.width, chart.area.height), (100, 100));
        assert_eq!((chart.area.x, chart.area.y), (60, 20));
        assert_eq!(chart.place([-1.0, 0.0]), [60.0, 120.0]);
        assert_eq!(chart.place([1.0, 2.0]), [160.0, 20.0]);
    }

    #[test]
    fn lines_end_at_the_edges() {
        let chart = chart();
        assert_eq!(
            chart.cut([-3.0, 1.0], [3.0, 1.0]),
            Some([[-1.0, 1.0], [1.0, 1.0]])
        );
        assert_eq!(
            chart.cut([0.0, 1.0], [0.0, 9.0]),
            Some([[0.0, 1.0], [0.0, 2.0]])
        );
        assert_eq!(chart.cut([-3.0, 3.0], [3.0, 3.0]), None);
        assert_eq!(chart.cut([f64::NAN, 0.0], [1.0, 1.0]), None);
        let mut picture = Picture::filled(240, 140, [255; 3]);
        chart.line(&mut picture, [-9.0, 1.0], [9.0, 1.0], DOT);
        assert_eq!(picture.pixel(100, 70), [255, 0, 0]);
        assert_eq!(picture.pixel(40, 70), [255; 3]);
        assert_eq!(picture.pixel(180, 70), [255; 3]);
    }

    #[test]
    fn points_outside_are_omitted() {
        let chart = chart();
        let mut picture = Picture::filled(240, 140, [255; 3]);
        chart.point(&mut picture, [1.2, 1.0], DOT);
        chart.point(&mut picture, [f64::NAN, 1.0], DOT);
        assert!(picture.rgb.iter().all(|v| *v == 255));
        chart.point(&mut picture, [0.5, 0.5], DOT);
        assert_eq!(picture.pixel(135, 95), [255, 0, 0]);
    }
}
