//! Plots as inline SVG: bands, curves and points in one pair of axes, with a legend.

use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// Size of the area between the axes, and its margins [px].
const AREA: [f64; 2] = [540.0, 330.0];
const LEFT: f64 = 78.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 50.0;
/// Width of the legend, right of the area [px].
const LEGEND: f64 = 262.0;
/// Colors of measured series, in turn.
const OURS: &[&str] = &["#0b7285", "#d9480f", "#6741d9", "#2b8a3e", "#a61e4d"];
/// Colors of references, in turn.
const REFERENCES: &[&str] = &["#495057", "#1864ab", "#862e9c", "#5c940d"];
const CONTROL: &str = "#c92a2a";

/// A plot.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Plot {
    /// What it shows.
    pub title: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Data series, from back to front.
    pub series: Vec<Series>,
}

/// An axis.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// Quantity and unit, such as `time t [s]`.
    pub label: String,
    /// Logarithmic.
    pub log: bool,
    /// Ends; by default those of the data.
    pub range: Option<[f64; 2]>,
}

impl Axis {
    /// A linear axis as long as the data.
    pub fn new(label: &str) -> Self {
        Self {
            label: label.into(),
            ..Self::default()
        }
    }

    /// A logarithmic axis as long as the data.
    pub fn log(label: &str) -> Self {
        Self {
            label: label.into(),
            log: true,
            range: None,
        }
    }

    /// With these ends.
    pub fn from_to(mut self, from: f64, to: f64) -> Self {
        self.range = Some([from, to]);
        self
    }
}

/// A data series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// How it is drawn.
    pub style: Style,
    /// x, y; for a band x, lower, upper.
    pub points: Vec<Vec<f64>>,
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// A shaded band about a reference.
    Band,
    /// A curve of a reference.
    Reference,
    /// A dashed curve of a reference.
    Dashed,
    /// Our points.
    Points,
    /// Our points, joined.
    Curve,
    /// Points of a negative control.
    Control,
    /// A curve of a negative control.
    ControlCurve,
}

impl Plot {
    /// An empty plot.
    pub fn new(title: &str, x: Axis, y: Axis) -> Self {
        Self {
            title: title.into(),
            x,
            y,
            series: vec![],
        }
    }

    /// With another series on top.
    pub fn with(mut self, style: Style, name: &str, points: &[[f64; 2]]) -> Self {
        self.series.push(Series {
            name: name.into(),
            style,
            points: finite(points),
        });
        self
    }

    /// With a band of x, lower, upper on top.
    pub fn with_band(mut self, name: &str, points: &[[f64; 3]]) -> Self {
        self.series.push(Series {
            name: name.into(),
            style: Style::Band,
            points: finite(points),
        });
        self
    }

    /// With a band of the same height everywhere between `from` and `to`.
    pub fn with_level_band(self, name: &str, from: f64, to: f64, low: f64, high: f64) -> Self {
        self.with_band(name, &[[from, low, high], [to, low, high]])
    }

    /// The plot as an `svg` element.
    pub fn svg(&self) -> String {
        let x = Scale::of(&self.x, self.values(0), AREA[0]);
        let y = Scale::of(&self.y, self.values(1), AREA[1]);
        let (width, height) = (LEFT + AREA[0] + LEGEND, TOP + AREA[1] + BOTTOM);
        let mut svg = format!(
            "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">",
            escape(&self.title)
        );
        self.draw_axes(&mut svg, &x, &y);
        // An inner svg element clips content outside the area.
        let _ = write!(
            svg,
            "<svg x=\"{LEFT}\" y=\"{TOP}\" width=\"{}\" height=\"{}\">",
            AREA[0], AREA[1]
        );
        for (series, color) in self.series.iter().zip(self.colors()) {
            draw(&mut svg, series, color, &x, &y);
        }
        svg.push_str("</svg>");
        self.draw_legend(&mut svg);
        svg.push_str("</svg>");
        svg
    }

    /// All finite values along an axis.
    fn values(&self, axis: usize) -> impl Iterator<Item = f64> + Clone {
        let along = move |p: &Vec<f64>| match axis {
            0 => p.first().copied().into_iter().collect::<Vec<f64>>(),
            _ => p.iter().skip(1).copied().collect(),
        };
        self.series
            .iter()
            .flat_map(move |s| s.points.iter().flat_map(along))
            .filter(|v| v.is_finite())
    }

    fn colors(&self) -> Vec<&'static str> {
        let (mut ours, mut references) = (0, 0);
        let mut next = |style: Style| match style {
            Style::Band => REFERENCES[references % REFERENCES.len()],
            Style::Reference | Style::Dashed => {
                references += 1;
                REFERENCES[(references - 1) % REFERENCES.len()]
            }
            Style::Points | Style::Curve => {
                ours += 1;
                OURS[(ours - 1) % OURS.len()]
            }
            Style::Control | Style::ControlCurve => CONTROL,
        };
        self.series.iter().map(|s| next(s.style)).collect()
    }

    fn draw_axes(&self, svg: &mut String, x: &Scale, y: &Scale) {
        let (right, base) = (LEFT + AREA[0], TOP + AREA[1]);
        for tick in x.ticks() {
            let at = LEFT + x.at(tick);
            let _ = write!(
                svg,
                "<line class=\"grid\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{base}\"/>\
                 <text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                base + 18.0,
                tick_text(tick)
            );
        }
        for tick in y.ticks() {
            let at = base - y.at(tick);
            let _ = write!(
                svg,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 8.0,
                at + 4.0,
                tick_text(tick)
            );
        }
        let middle = TOP + AREA[1] / 2.0;
        let _ = write!(
            svg,
            "<rect class=\"frame\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{}\" height=\"{}\"/>\
             <text class=\"label\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\
             <text class=\"label\" x=\"16\" y=\"{middle}\" text-anchor=\"middle\" transform=\"rotate(-90 16 {middle})\">{}</text>",
            AREA[0],
            AREA[1],
            LEFT + AREA[0] / 2.0,
            base + 42.0,
            escape(&self.x.label),
            escape(&self.y.label)
        );
    }

    fn draw_legend(&self, svg: &mut String) {
        let left = LEFT + AREA[0] + 16.0;
        let mut y = TOP + 12.0;
        for (series, color) in self.series.iter().zip(self.colors()) {
            let _ = write!(svg, "<g transform=\"translate({left} {y})\">");
            draw_swatch(svg, series.style, color);
            let lines = wrapped(&series.name, 33);
            for (i, line) in lines.iter().enumerate() {
                let _ = write!(
                    svg,
                    "<text x=\"34\" y=\"{}\">{}</text>",
                    4 + 15 * i,
                    escape(line)
                );
            }
            svg.push_str("</g>");
            y += 15.0 * lines.len() as f64 + 7.0;
        }
    }
}

/// Points without NaN, which JSON cannot represent.
fn finite<const N: usize>(points: &[[f64; N]]) -> Vec<Vec<f64>> {
    let whole = |p: &&[f64; N]| p.iter().all(|v| v.is_finite());
    points.iter().filter(whole).map(|p| p.to_vec()).collect()
}

fn draw(svg: &mut String, series: &Series, color: &str, x: &Scale, y: &Scale) {
    let place = |px: f64, py: f64| (x.at(px), AREA[1] - y.at(py));
    let path = |column: usize| {
        let mut points = String::new();
        for p in &series.points {
            let (px, py) = place(p[0], p.get(column).copied().unwrap_or(f64::NAN));
            if px.is_finite() && py.is_finite() {
                let _ = write!(points, "{px:.1},{py:.1} ");
            }
        }
        points
    };
    let line = |svg: &mut String, dash: &str| {
        let _ = write!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"{dash}/>",
            path(1)
        );
    };
    match series.style {
        Style::Band => {
            let upper = path(2);
            let back: Vec<&str> = upper.split_whitespace().rev().collect();
            let _ = write!(
                svg,
                "<polygon points=\"{}{}\" fill=\"{color}\" fill-opacity=\"0.14\"/>",
                path(1),
                back.join(" ")
            );
        }
        Style::Reference => line(svg, ""),
        Style::Dashed => line(svg, " stroke-dasharray=\"6 4\""),
        Style::ControlCurve => line(svg, " stroke-dasharray=\"2 3\""),
        Style::Curve => {
            line(svg, "");
            if series.points.len() <= 24 {
                marks(svg, series, color, &place);
            }
        }
        Style::Points | Style::Control => marks(svg, series, color, &place),
    }
}

fn marks(svg: &mut String, series: &Series, color: &str, place: &dyn Fn(f64, f64) -> (f64, f64)) {
    for p in &series.points {
        let (x, y) = place(p[0], p.get(1).copied().unwrap_or(f64::NAN));
        if x.is_finite() && y.is_finite() {
            mark(svg, series.style, color, x, y);
        }
    }
}

fn mark(svg: &mut String, style: Style, color: &str, x: f64, y: f64) {
    let _ = match style {
        Style::Control | Style::ControlCurve => write!(
            svg,
            "<path d=\"M{:.1} {:.1}l9 9m0 -9l-9 9\" stroke=\"{color}\" stroke-width=\"2.2\"/>",
            x - 4.5,
            y - 4.5
        ),
        _ => write!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\" fill=\"{color}\" stroke=\"#fff\"/>"
        ),
    };
}

fn draw_swatch(svg: &mut String, style: Style, color: &str) {
    let line = |dash: &str| {
        format!(
            "<line x1=\"0\" x2=\"26\" y1=\"0\" y2=\"0\" stroke=\"{color}\" stroke-width=\"2\"{dash}/>"
        )
    };
    match style {
        Style::Band => {
            let _ = write!(
                svg,
                "<rect x=\"0\" y=\"-6\" width=\"26\" height=\"12\" fill=\"{color}\" fill-opacity=\"0.14\"/>"
            );
        }
        Style::Reference => svg.push_str(&line("")),
        Style::Dashed => svg.push_str(&line(" stroke-dasharray=\"6 4\"")),
        Style::ControlCurve => svg.push_str(&line(" stroke-dasharray=\"2 3\"")),
        Style::Curve => {
            svg.push_str(&line(""));
            mark(svg, style, color, 13.0, 0.0);
        }
        Style::Points | Style::Control => mark(svg, style, color, 13.0, 0.0),
    }
}

/// From values to pixels along an axis.
struct Scale {
    from: f64,
    to: f64,
    log: bool,
    length: f64,
}

impl Scale {
    fn of(axis: &Axis, values: impl Iterator<Item = f64> + Clone, length: f64) -> Self {
        let usable = values.filter(|v| !axis.log || *v > 0.0);
        let low = usable.clone().fold(f64::INFINITY, f64::min);
        let high = usable.fold(f64::NEG_INFINITY, f64::max);
        let [low, high] = match axis.range {
            Some(range) => range,
            None if low > high => [1.0, 2.0],
            None if axis.log => [low / 1.25, high * 1.25],
            None => {
                let room = 0.06 * (high - low).max(1e-9 * high.abs()).max(1e-30);
                let start = if low >= 0.0 && low < 0.35 * high {
                    0.0
                } else {
                    low - room
                };
                [start, high + room]
            }
        };
        let f = |v: f64| if axis.log { v.ln() } else { v };
        Self {
            from: f(low),
            to: f(high),
            log: axis.log,
            length,
        }
    }

    fn at(&self, value: f64) -> f64 {
        let value = if self.log { value.ln() } else { value };
        (value - self.from) / (self.to - self.from) * self.length
    }

    fn ticks(&self) -> Vec<f64> {
        if self.log {
            return self.log_ticks();
        }
        let span = self.to - self.from;
        let raw = span / 6.0;
        let power = 10f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .map(|m| m * power)
            .into_iter()
            .find(|s| *s >= raw)
            .unwrap_or(10.0 * power);
        let first = (self.from / step).ceil();
        (0..32)
            .map(|i| (first + f64::from(i)) * step)
            .take_while(|t| *t <= self.to + 1e-9 * span)
            .collect()
    }

    fn log_ticks(&self) -> Vec<f64> {
        let decades = (self.to - self.from) / 10f64.ln();
        let steps: &[f64] = if decades > 3.0 {
            &[1.0]
        } else {
            &[1.0, 2.0, 5.0]
        };
        let low = (self.from / 10f64.ln()).floor() as i32;
        let high = (self.to / 10f64.ln()).ceil() as i32;
        (low..=high.min(low + 40))
            .flat_map(|d| steps.iter().map(move |s| s * 10f64.powi(d)))
            .filter(|t| (self.from - 1e-9..=self.to + 1e-9).contains(&t.ln()))
            .collect()
    }
}

/// A tick without tails of digits.
fn tick_text(value: f64) -> String {
    barchan_scene::numbers::rounded(value, 3).replace('-', "−")
}

/// Text in lines of at most `width` characters where words allow.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        if !lines[last].is_empty() && lines[last].chars().count() + word.chars().count() >= width {
            lines.push(word.into());
        } else {
            let space = if lines[last].is_empty() { "" } else { " " };
            lines[last].push_str(space);
            lines[last].push_str(word);
        }
    }
    lines
}

/// Text escaped for HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within_the_axis() {
        let scale = |axis: &Axis, values: &[f64]| Scale::of(axis, values.iter().copied(), 100.0);
        let linear = scale(&Axis::new("x"), &[0.0, 3.1]);
        assert_eq!(linear.ticks(), [0.0, 1.0, 2.0, 3.0]);
        let log = scale(&Axis::log("x"), &[0.5, 7.0]);
        assert_eq!(log.ticks(), [0.5, 1.0, 2.0, 5.0]);
        assert!((log.at(0.4)).abs() < 1e-9);
    }

    #[test]
    fn every_plot_is_drawn_whatever_its_data() {
        let odd = [
            vec![],
            vec![[1.0, 1.0]],
            vec![[f64::NAN, 1.0], [0.0, f64::INFINITY]],
            vec![[-1.0, 0.0], [0.0, 0.0]],
        ];
        for points in odd {
            for (x, y) in [
                (Axis::new("x"), Axis::new("y")),
                (Axis::log("x"), Axis::log("y")),
            ] {
                let svg = Plot::new("a < b", x, y)
                    .with(Style::Curve, "c", &points)
                    .with(Style::Control, "d", &points)
                    .svg();
                assert!(svg.starts_with("<svg") && svg.ends_with("</svg>"));
                assert!(svg.contains("a &lt; b") && !svg.contains("NaN"), "{svg}");
            }
        }
    }

    #[test]
    fn long_names_wrap() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
    }
}
