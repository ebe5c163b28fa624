//! Pictures of 2D scenes as in papers: filled grains, gray colliders, axes in meters.

use crate::Picture;
use crate::canvas::{Area, coverage, mix_into};
use crate::chart::Chart;
use crate::color::Scale;
use crate::legend;
use crate::text::{self, Style};
use barchan_scene::{Geometry, Pose};
use glam::Vec3;
use rayon::prelude::*;

/// Grains of a frame; the slices have one length (excess values are ignored).
#[derive(Debug, Clone, Copy)]
pub struct FlatGrains<'a> {
    /// Positions [m]; z is ignored.
    pub position: &'a [[f32; 3]],
    /// Radii [m].
    pub radius: &'a [f32],
    /// Colors.
    pub color: &'a [[u8; 3]],
}

/// Layout of the picture.
#[derive(Debug, Clone, PartialEq)]
pub struct FlatOptions {
    /// Width [pixels].
    pub width: u32,
    /// Height [pixels].
    pub height: u32,
    /// Simulated time that is shown [s].
    pub time: Option<f64>,
    /// What the colors of the grains mean.
    pub legend: Option<Scale>,
    /// Whether axes are drawn; without them the window fills the picture.
    pub axes: bool,
}

impl Default for FlatOptions {
    fn default() -> Self {
        Self {
            width: 1280,
            height: 720,
            time: None,
            legend: None,
            axes: true,
        }
    }
}

const PAPER: [u8; 3] = [255; 3];
const BODY: [u8; 3] = [196, 198, 202];
const BODY_EDGE: [u8; 3] = [104, 107, 114];
/// Smallest radius of a drawn grain [pixels].
const SMALLEST: f32 = 0.7;
/// Rows per band, the unit of work of a thread.
const BAND: usize = 32;

/// Draws grains and colliders seen through a window `[min x, min y, max x, max y]` [m]. Later grains cover earlier ones.
pub fn draw(
    grains: &FlatGrains<'_>,
    bodies: &[(Geometry, Pose)],
    window: [f32; 4],
    options: &FlatOptions,
) -> Picture {
    let style = Style::dark(text::readable_height(options.height));
    let mut picture = Picture::filled(options.width, options.height, PAPER);
    let Some(view) = View::new(window, options, style) else {
        return picture;
    };
    let plot = view.draw_content(grains, bodies);
    picture.paste(&plot, view.plot.x as u32, view.plot.y as u32);
    if options.axes {
        view.chart().axes(&mut picture, ["x [m]", "y [m]"], style);
    }
    if let Some(time) = options.time {
        draw_time(&mut picture, &view, time, options.axes, style);
    }
    if let Some(scale) = &options.legend {
        draw_legend(&mut picture, &view, scale, style);
    }
    picture
}

/// Position of the window in the picture, with equal scales on both axes.
struct View {
    plot: Area,
    /// Left and upper edge of the plot [m].
    corner: [f32; 2],
    /// [pixels/m]
    scale: f32,
}

impl View {
    /// The plot with its axes [m].
    fn chart(&self) -> Chart {
        let span = [self.plot.width, self.plot.height].map(|n| n as f64 / f64::from(self.scale));
        let [left, top] = self.corner.map(f64::from);
        Chart {
            area: self.plot,
            window: [left, top - span[1], left + span[0], top],
        }
    }

    fn new(window: [f32; 4], options: &FlatOptions, style: Style) -> Option<Self> {
        let [wide, tall] = [window[2] - window[0], window[3] - window[1]];
        if !(wide > 0.0 && tall > 0.0 && wide.is_finite() && tall.is_finite()) {
            return None;
        }
        let line = i64::from(style.height);
        let (width, height) = (i64::from(options.width), i64::from(options.height));
        // Label, numbers and ticks to the left and below, the time above.
        let [left, right, top, bottom] = if options.axes {
            [5 * line, line, line + line / 2, 3 * line]
        } else {
            [0; 4]
        };
        // The legend is beside the plot unless it would take too much of the picture.
        let legend = options.legend.as_ref();
        let beside = legend.map_or(0, |s| legend::size(s, style)[0] + line / 2);
        let beside = if 3 * beside > width { 0 } else { beside };
        let room = [width - left - right - beside, height - top - bottom];
        if room[0] < 2 || room[1] < 2 {
            return None;
        }
        let scale = (room[0] as f32 / wide).min(room[1] as f32 / tall);
        let across = ((wide * scale).round() as i64).clamp(1, room[0]);
        let down = ((tall * scale).round() as i64).clamp(1, room[1]);
        Some(Self {
            plot: Area::new(
                left + (room[0] - across) / 2,
                top + (room[1] - down) / 2,
                across,
                down,
            ),
            corner: [window[0], window[3]],
            scale,
        })
    }

    fn draw_content(&self, grains: &FlatGrains<'_>, bodies: &[(Geometry, Pose)]) -> Picture {
        let (width, height) = (self.plot.width as usize, self.plot.height as usize);
        let mut picture = Picture::filled(width as u32, height as u32, PAPER);
        let bands = self.sort_into_bands(grains, height.div_ceil(BAND));
        picture
            .rgb
            .par_chunks_mut(3 * width * BAND)
            .zip(&bands)
            .enumerate()
            .for_each(|(i, (rows, band))| {
                let mut rows = Rows {
                    first: i * BAND,
                    width,
                    rgb: rows,
                };
                for (geometry, pose) in bodies {
                    self.draw_body(&mut rows, geometry, pose);
                }
                for &g in band {
                    self.draw_grain(&mut rows, grains, g as usize);
                }
            });
        picture
    }

    /// Center and radius of a grain [pixels of the plot].
    fn disk(&self, grains: &FlatGrains<'_>, i: usize) -> ([f32; 2], f32) {
        let p = grains.position[i];
        let x = (p[0] - self.corner[0]) * self.scale;
        let y = (self.corner[1] - p[1]) * self.scale;
        ([x, y], (grains.radius[i] * self.scale).max(SMALLEST))
    }

    /// The grains that intersect each band of rows, in order.
    fn sort_into_bands(&self, grains: &FlatGrains<'_>, count: usize) -> Vec<Vec<u32>> {
        let mut bands = vec![Vec::new(); count];
        let sizes = grains.radius.len().min(grains.color.len());
        for i in 0..grains.position.len().min(sizes) {
            let ([x, y], r) = self.disk(grains, i);
            let (top, bottom) = (y - r - 1.0, y + r + 1.0);
            let seen = x + r > -1.0 && x - r < self.plot.width as f32 + 1.0 && r.is_finite();
            if !(seen && bottom >= 0.0 && top <= self.plot.height as f32) {
                continue;
            }
            let first = top.max(0.0) as usize / BAND;
            let last = (bottom as usize / BAND).min(count - 1);
            for band in bands.iter_mut().take(last + 1).skip(first) {
                band.push(i as u32);
            }
        }
        bands
    }

    fn draw_grain(&self, rows: &mut Rows<'_>, grains: &FlatGrains<'_>, i: usize) {
        let ([cx, cy], r) = self.disk(grains, i);
        // White grains on white need an edge; small ones are too small for it.
        let edge = (0.2 * r - 0.3).clamp(0.0, 1.5);
        let rim = grains.color[i].map(|c| (f32::from(c) * 0.6) as u8);
        let reach = r + 1.0;
        let from = (cy - reach).max(rows.first as f32) as usize;
        let to = ((cy + reach).max(0.0).ceil() as usize).min(rows.end());
        let left = (cx - reach).max(0.0) as usize;
        let right = ((cx + reach).max(0.0).ceil() as usize).min(rows.width);
        for y in from..to {
            for x in left..right {
                let (dx, dy) = (x as f32 + 0.5 - cx, y as f32 + 0.5 - cy);
                let distance = (dx * dx + dy * dy).sqrt() - r;
                let cover = coverage(distance);
                if cover > 0.0 {
                    let pixel = rows.pixel(x, y);
                    mix_into(pixel, rim, cover);
                    mix_into(pixel, grains.color[i], coverage(distance + edge));
                }
            }
        }
    }

    /// Signed distance of a point of the plot from a body [pixels].
    fn distance(&self, geometry: &Geometry, pose: &Pose, x: f32, y: f32) -> f32 {
        let [left, top] = self.corner;
        let place = Vec3::new(left + x / self.scale, top - y / self.scale, 0.0);
        geometry.distance(pose.to_body(place)) * self.scale
    }

    fn draw_body(&self, rows: &mut Rows<'_>, geometry: &Geometry, pose: &Pose) {
        const BLOCK: usize = 8;
        let edge = (self.plot.height as f32 / 360.0).max(1.0);
        let far = 0.75 * BLOCK as f32 + edge + 1.0;
        for top in (rows.first..rows.end()).step_by(BLOCK) {
            for left in (0..rows.width).step_by(BLOCK) {
                let half = BLOCK as f32 / 2.0;
                let middle = self.distance(geometry, pose, left as f32 + half, top as f32 + half);
                if middle > far {
                    continue;
                }
                for y in top..(top + BLOCK).min(rows.end()) {
                    for x in left..(left + BLOCK).min(rows.width) {
                        let d = if middle < -far {
                            middle
                        } else {
                            self.distance(geometry, pose, x as f32 + 0.5, y as f32 + 0.5)
                        };
                        let pixel = rows.pixel(x, y);
                        mix_into(pixel, BODY_EDGE, coverage(d));
                        mix_into(pixel, BODY, coverage(d + edge));
                    }
                }
            }
        }
    }
}

/// A band of the plot.
struct Rows<'a> {
    first: usize,
    width: usize,
    rgb: &'a mut [u8],
}

impl Rows<'_> {
    fn end(&self) -> usize {
        self.first + self.rgb.len() / (3 * self.width)
    }

    fn pixel(&mut self, x: usize, y: usize) -> &mut [u8] {
        &mut self.rgb[3 * ((y - self.first) * self.width + x)..][..3]
    }
}

fn draw_time(picture: &mut Picture, view: &View, time: f64, axes: bool, style: Style) {
    let text = format!("t = {time:.3} s");
    let line = i64::from(style.height);
    if axes {
        let y = view.plot.y - line - line / 4;
        text::draw(picture, &text, view.plot.x, y.max(0), style);
    } else {
        text::draw_panel(picture, &text, line / 2, line / 2, style);
    }
}

/// Beside the plot if there is room, otherwise in its upper right corner.
fn draw_legend(picture: &mut Picture, view: &View, scale: &Scale, style: Style) {
    let gap = i64::from(style.height) / 2;
    let [width, _] = legend::size(scale, style);
    let right = view.plot.x + view.plot.width;
    let beside = right + gap + width <= i64::from(picture.width);
    let x = right + if beside { gap } else { -width - gap };
    legend::draw_at(picture, scale, x.max(0), view.plot.y + gap, style);
}
