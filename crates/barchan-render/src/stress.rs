//! Grains in the space of their principal stresses, with the yield surface: Figures 14–16 of [Klar16].
//!
//! A 2D scene gives the plane of its two principal stresses, where the cone is two lines. A 3D scene gives two
//! sections: the meridian plane (pressure and size of the deviator), where the cone is a line, and the deviatoric plane, in
//! which each deviator is divided by the largest that its grain can have, so that the cone is the unit circle. The order of
//! principal stresses has no meaning: a grain is drawn at the points of all orders.

use crate::Picture;
use crate::canvas::Area;
use crate::chart::{Chart, Dot};
use crate::color::{Category, Scale, kind_color};
use crate::framing::spread;
use crate::legend;
use crate::text::{self, Style};
use barchan_frame::ResultDirectory;
use barchan_post::YieldCone;
use barchan_post::stress::{StressError, StressState, Substance, histories, stress};
use barchan_scene::Dimensions;

/// Number of frames that determine the range of the axes.
const RANGE_FRAMES: usize = 7;
/// Earlier yield surfaces of a grain that are drawn.
const EARLIER: usize = 12;
/// Fraction of the grains that may exceed the range of the axes.
const OUTLIERS: f64 = 0.01;
/// Fraction of the axes beyond the tip, so that it is visible.
const BEYOND_TIP: f64 = 0.12;

const PAPER: [u8; 3] = [255; 3];
const CONE: [u8; 3] = [40, 40, 44];
const GUIDE: [u8; 3] = [176, 178, 184];

/// Data common to all stress pictures of a result.
#[derive(Debug, Clone)]
pub struct StressSpace {
    substance: Substance,
    /// Largest pressure and largest other quantity of the axes [Pa]: 2D compression and tension, 3D p and ‖dev τ‖.
    reach: [f64; 2],
    /// Chosen grains over all frames; empty: all grains are drawn.
    chosen: Vec<Vec<StressState>>,
}

impl StressSpace {
    /// Prepares the pictures of a result; `ids` are the grains to draw, all if empty.
    pub fn open(
        directory: &ResultDirectory,
        frames: &[u32],
        ids: &[u64],
    ) -> Result<Self, StressError> {
        let substance = Substance::of_result(directory)?;
        let chosen = match ids {
            [] => Vec::new(),
            _ => histories(directory, frames, &substance, ids)?,
        };
        let mut reach = [0.0f64; 2];
        let mut widen = |states: &[&StressState], outliers: f64| {
            let found = extent(states, substance.dimensions(), outliers);
            reach = [reach[0].max(found[0]), reach[1].max(found[1])];
        };
        if chosen.is_empty() {
            for frame in spread(frames, RANGE_FRAMES) {
                let states = stress(directory, frame, &substance, None)?;
                widen(&states.iter().collect::<Vec<_>>(), OUTLIERS);
            }
        } else {
            widen(&chosen.iter().flatten().collect::<Vec<_>>(), 0.0);
        }
        Ok(Self {
            substance,
            reach,
            chosen,
        })
    }

    /// The picture of a frame.
    pub fn draw(
        &self,
        directory: &ResultDirectory,
        frame: u32,
        size: [u32; 2],
    ) -> Result<Picture, StressError> {
        let info = directory.frame_info(frame)?;
        let cloud = match self.chosen.is_empty() {
            true => stress(directory, frame, &self.substance, None)?,
            false => Vec::new(),
        };
        let content = Content {
            cloud: &cloud,
            chosen: &self.chosen,
            frame,
            time: info.time,
        };
        let dimensions = self.substance.dimensions();
        Ok(draw(&content, dimensions, self.reach, size))
    }
}

/// Content of a picture.
#[derive(Debug, Clone, Copy)]
pub struct Content<'a> {
    /// Grains as points, colored by their plastic case.
    pub cloud: &'a [StressState],
    /// Grains over time, each in a color of its own with its yield surfaces up to this frame.
    pub chosen: &'a [Vec<StressState>],
    /// Number of the frame.
    pub frame: u32,
    /// Simulated time [s].
    pub time: f64,
}

/// Compression and tension (2D), or pressure and deviator (3D), that nearly all grains do not exceed [Pa].
pub fn extent(states: &[&StressState], dimensions: Dimensions, outliers: f64) -> [f64; 2] {
    let sand = states.iter().filter(|s| s.cone.is_some());
    let pairs: Vec<[f64; 2]> = sand
        .map(|s| match dimensions {
            Dimensions::Two => [-s.principal_stress[1], s.principal_stress[0]],
            Dimensions::Three => [s.pressure, s.deviator],
        })
        .collect();
    [0, 1].map(|i| {
        let mut values: Vec<f64> = pairs.iter().map(|p| p[i]).collect();
        values.retain(|v| v.is_finite());
        values.sort_by(f64::total_cmp);
        let last = values.len().saturating_sub(1) as f64;
        let at = (last * (1.0 - outliers)).round() as usize;
        values.get(at).copied().unwrap_or(0.0).max(0.0)
    })
}

/// Draws stress space. `reach` is the range of the axes [Pa], as returned by [`extent`].
pub fn draw(
    content: &Content<'_>,
    dimensions: Dimensions,
    reach: [f64; 2],
    size: [u32; 2],
) -> Picture {
    let mut picture = Picture::filled(size[0], size[1], PAPER);
    let style = Style::dark(text::readable_height(size[1]));
    let scale = content.scale();
    let (charts, aside) = layout(size, &scale, style);
    if charts.width < 8 || charts.height < 8 {
        return picture;
    }
    let sketch = Sketch {
        content,
        thin: (size[1] as f32 / 360.0).max(1.0),
        style,
    };
    match dimensions {
        Dimensions::Two => sketch.plane(&mut picture, charts, reach),
        Dimensions::Three => sketch.meridian_and_deviatoric(&mut picture, charts, reach),
    }
    let Some(aside) = aside else { return picture };
    let below = legend::draw_at(&mut picture, &scale, aside.x, aside.y, style);
    let lines = content.words();
    let mut y = below.y + below.height + i64::from(style.height) / 2;
    for line in &lines {
        text::draw(&mut picture, line, aside.x, y, style);
        y += i64::from(style.height) * 5 / 4;
    }
    picture
}

/// Rectangles of the charts, and of legend and text, which small pictures have no room for.
fn layout(size: [u32; 2], scale: &Scale, style: Style) -> (Area, Option<Area>) {
    let line = i64::from(style.height);
    let [width, height] = size.map(i64::from);
    let words = i64::from(text::size("phi = 25.0 to 48.3°", style)[0]);
    let beside = legend::size(scale, style)[0].max(words) + line;
    let roomy = 3 * beside <= width;
    let beside = if roomy { beside } else { 0 };
    let charts = Area::new(
        5 * line + line / 2,
        line,
        width - 6 * line - beside,
        height - 4 * line - line / 2,
    );
    let aside = Area::new(
        (width - beside + line / 2).max(0),
        line,
        beside - line,
        height - line,
    );
    (charts, roomy.then_some(aside))
}

impl Content<'_> {
    /// The legend.
    fn scale(&self) -> Scale {
        if self.chosen.is_empty() {
            return Scale::plastic_case();
        }
        let kind = |(i, history): (usize, &Vec<StressState>)| {
            let id = history.first().map_or(0, |s| s.id);
            let angle = self.present(history).and_then(|s| s.friction_angle_deg);
            Category {
                value: i as u32,
                name: match angle {
                    Some(angle) => format!("{id}: phi = {angle:.1}°"),
                    None => format!("{id}"),
                },
                color: kind_color(i),
            }
        };
        Scale::Categories {
            label: "grain".into(),
            kinds: self.chosen.iter().enumerate().map(kind).collect(),
        }
    }

    /// The state of a chosen grain in this frame, if it exists.
    fn present<'a>(&self, history: &'a [StressState]) -> Option<&'a StressState> {
        history.iter().find(|s| s.frame == self.frame)
    }

    /// The flattest and the steepest yield surface of the cloud, and their friction angles [degrees].
    fn cones(&self) -> Option<[(YieldCone, f64); 2]> {
        let known = self.cloud.iter();
        let known = known.filter_map(|s| Some((s.cone?, s.friction_angle_deg?)));
        let by_slope = |a: &(YieldCone, f64), b: &(YieldCone, f64)| a.0.slope.total_cmp(&b.0.slope);
        let flattest = known.clone().min_by(by_slope)?;
        Some([flattest, known.max_by(by_slope)?])
    }

    /// The text below the legend.
    fn words(&self) -> Vec<String> {
        let mut lines = vec![format!("t = {:.3} s", self.time)];
        let sand = self.cloud.iter().filter(|s| s.cone.is_some());
        let count = sand.clone().count();
        if count > 0 {
            lines.push(format!("{count} grains"));
            for (case, name) in [(0, "I"), (1, "II"), (2, "III")] {
                let own = sand.clone().filter(|s| s.plastic_case == Some(case));
                let part = 100.0 * own.count() as f64 / count as f64;
                lines.push(format!("{name:>3} {part:.0} %"));
            }
        }
        if let Some([(_, low), (_, high)]) = self.cones() {
            lines.push(match high - low < 0.05 {
                true => format!("phi = {low:.1}°"),
                false => format!("phi = {low:.1} to {high:.1}°"),
            });
        }
        lines
    }
}

/// Context of drawing a picture.
struct Sketch<'a> {
    content: &'a Content<'a>,
    /// Width of a thin line [pixels].
    thin: f32,
    style: Style,
}

impl Sketch<'_> {
    fn stroke(&self, width: f32, color: [u8; 3], amount: f32) -> Dot {
        Dot {
            size: width * self.thin,
            color,
            amount,
        }
    }

    /// The plane of two principal stresses.
    fn plane(&self, picture: &mut Picture, room: Area, reach: [f64; 2]) {
        let far = drawable(reach[0].max(reach[1]));
        let near = (BEYOND_TIP * far).max(1.1 * reach[1]);
        let chart = Chart::even(room, [-1.08 * far, -1.08 * far, near, near]);
        let guide = self.stroke(0.6, GUIDE, 1.0);
        for [from, to] in [[[-9.0, 0.0], [9.0, 0.0]], [[0.0, -9.0], [0.0, 9.0]]] {
            let [from, to] = [from, to].map(|p: [f64; 2]| p.map(|v| v * far));
            chart.line(picture, from, to, guide);
        }
        let cone = |picture: &mut Picture, cone: YieldCone, dot: Dot| {
            // A cone ends at its tip; a cylinder has none.
            let traces = [cone.tip().unwrap_or(9.0 * far), -9.0 * far];
            for side in [1.0, -1.0] {
                let place = |trace: f64| {
                    let half = side * (cone.cohesion - cone.slope * trace) / 2f64.sqrt();
                    [trace / 2.0 + half, trace / 2.0 - half]
                };
                chart.line(picture, place(traces[0]), place(traces[1]), dot);
            }
        };
        let places = |s: &StressState| {
            let [a, b, _] = s.principal_stress;
            vec![[a, b], [b, a]]
        };
        self.fill(picture, &chart, cone, places);
        chart.axes(picture, ["τ1 [Pa]", "τ2 [Pa]"], self.style);
    }

    /// Two sections of the space of three principal stresses, side by side.
    fn meridian_and_deviatoric(&self, picture: &mut Picture, room: Area, reach: [f64; 2]) {
        let line = i64::from(self.style.height);
        let side = ((room.width - 4 * line) / 2).max(1);
        let left = Area {
            width: side,
            ..room
        };
        let right = Area {
            x: room.x + room.width - side,
            ..left
        };
        let [far, high] = [drawable(reach[0]), drawable(reach[1].max(0.1 * reach[0]))];
        let chart = Chart {
            area: left,
            window: [-BEYOND_TIP * far, 0.0, 1.08 * far, 1.15 * high],
        };
        let guide = self.stroke(0.6, GUIDE, 1.0);
        chart.line(picture, [0.0, 0.0], [0.0, 9.0 * high], guide);
        let cone = |picture: &mut Picture, cone: YieldCone, dot: Dot| {
            let place = |pressure: f64| [pressure, cone.cohesion + 3.0 * cone.slope * pressure];
            let tip = cone.tip().map_or(-9.0 * far, |trace| -trace / 3.0);
            chart.line(picture, place(tip), place(9.0 * far), dot);
        };
        self.fill(picture, &chart, cone, |s| vec![[s.pressure, s.deviator]]);
        chart.axes(picture, ["p [Pa]", "|dev τ| [Pa]"], self.style);
        self.deviatoric(picture, right);
    }

    /// The deviatoric plane, in units of the yield surface.
    fn deviatoric(&self, picture: &mut Picture, room: Area) {
        let chart = Chart::even(room, [-1.25, -1.25, 1.25, 1.25]);
        let guide = self.stroke(0.6, GUIDE, 1.0);
        for (i, name) in ["τ1", "τ2", "τ3"].iter().enumerate() {
            let angle = (90.0 + 120.0 * i as f64).to_radians();
            let at = |r: f64| [r * angle.cos(), r * angle.sin()];
            chart.line(picture, [0.0, 0.0], at(1.1), guide);
            let [x, y] = chart.place(at(1.12));
            // Beside the end of the axis.
            let [wide, tall] = text::size(name, self.style).map(|n| n as f32 / 2.0);
            let [right, up] = at(1.0).map(|v| v as f32);
            let [x, y] = [x + wide * (right - 1.0), y - tall * (up + 1.0)].map(|v| v as i64);
            text::draw(picture, name, x, y, self.style);
        }
        let circle = |picture: &mut Picture, _: YieldCone, dot: Dot| {
            let at = |i: i32| {
                let angle = f64::from(i) * std::f64::consts::TAU / 120.0;
                [angle.cos(), angle.sin()]
            };
            (0..120).for_each(|i| chart.line(picture, at(i), at(i + 1), dot));
        };
        self.fill(picture, &chart, circle, deviatoric_places);
        let caption = "dev τ / yield";
        let wide = i64::from(text::size(caption, self.style)[0]);
        let x = chart.area.x + (chart.area.width - wide) / 2;
        let y = room.y + room.height + i64::from(self.style.height) / 2;
        text::draw(picture, caption, x, y, self.style);
    }

    /// Draws points and yield surfaces; the functions map them to a chart.
    fn fill(
        &self,
        picture: &mut Picture,
        chart: &Chart,
        cone: impl Fn(&mut Picture, YieldCone, Dot),
        places: impl Fn(&StressState) -> Vec<[f64; 2]>,
    ) {
        let content = self.content;
        for (surface, _) in content.cones().into_iter().flatten() {
            cone(picture, surface, self.stroke(2.6, CONE, 1.0));
        }
        let sand = || content.cloud.iter().filter(|s| s.cone.is_some());
        let colors = Scale::plastic_case();
        // The few grains at the tip are drawn last, so that they are visible.
        for case in [0, 2, 1] {
            // All at one point.
            let size = if case == 1 { 3.0 } else { 1.1 };
            let dot = self.stroke(size, colors.color(f32::from(case)), 0.6);
            for state in sand().filter(|s| s.plastic_case.unwrap_or(0) == case) {
                for at in places(state) {
                    chart.point(picture, at, dot);
                }
            }
        }
        for (i, history) in content.chosen.iter().enumerate() {
            self.grain(picture, history, kind_color(i), &cone);
        }
        // Grains are drawn over all cones.
        for (i, history) in content.chosen.iter().enumerate() {
            let Some(now) = content.present(history) else {
                continue;
            };
            for at in places(now) {
                chart.point(picture, at, self.stroke(4.0, CONE, 1.0));
                chart.point(picture, at, self.stroke(3.2, kind_color(i), 1.0));
            }
        }
    }

    /// The yield surfaces of a grain: earlier ones faint, the present one strong.
    fn grain(
        &self,
        picture: &mut Picture,
        history: &[StressState],
        color: [u8; 3],
        cone: &impl Fn(&mut Picture, YieldCone, Dot),
    ) {
        let past = history.iter().filter(|s| s.frame <= self.content.frame);
        let past: Vec<YieldCone> = past.filter_map(|s| s.cone).collect();
        let numbers: Vec<u32> = (0..past.len() as u32).collect();
        for i in spread(&numbers, EARLIER) {
            cone(picture, past[i as usize], self.stroke(0.8, color, 0.35));
        }
        if let Some(now) = past.last() {
            cone(picture, *now, self.stroke(2.0, color, 1.0));
        }
    }
}

/// The six points of a grain in the deviatoric plane, in which the yield surface is the unit circle; none if the grain
/// has a deviator but no strength.
fn deviatoric_places(s: &StressState) -> Vec<[f64; 2]> {
    let radius = s.yield_deviator.unwrap_or(0.0);
    if s.deviator == 0.0 {
        return vec![[0.0, 0.0]];
    }
    if radius <= 0.0 {
        return Vec::new();
    }
    let [a, b, c] = s.principal_stress;
    let orders = [
        [a, b, c],
        [b, c, a],
        [c, a, b],
        [a, c, b],
        [c, b, a],
        [b, a, c],
    ];
    let place = |[first, second, third]: [f64; 3]| {
        // The first axis points up, the second and third to the lower left and right.
        let up = (2.0 * first - second - third) / 6f64.sqrt();
        let right = (third - second) / 2f64.sqrt();
        [right / radius, up / radius]
    };
    orders.into_iter().map(place).collect()
}

/// A valid length of an axis.
fn drawable(reach: f64) -> f64 {
    if reach.is_finite() && reach > 1e-12 {
        reach
    } else {
        1.0
    }
}
