//! One palette for a whole film: median cut in Oklab, then a few iterations that move each color to the mean
//! of the pixels nearest to it (k-means).

use crate::color::{oklab, srgb};

/// A set of colors with a lookup table of the nearest one.
pub(super) struct Palette {
    /// The colors.
    pub(super) colors: Vec<[u8; 3]>,
    places: Vec<[f32; 3]>,
    /// Nearest color for each color at 6 bits per channel; [`UNKNOWN`] until computed.
    nearest: Vec<u16>,
}

const UNKNOWN: u16 = u16::MAX;
const ROUNDS: usize = 4;

/// Histogram of the colors of pictures, at 5 bits per channel.
pub(super) struct Histogram {
    sums: Vec<[u64; 4]>,
}

impl Histogram {
    pub(super) fn new() -> Self {
        Self {
            sums: vec![[0; 4]; 1 << 15],
        }
    }

    /// Counts the pixels of a picture.
    pub(super) fn add(&mut self, rgb: &[u8]) {
        for p in rgb.chunks_exact(3) {
            let [r, g, b] = [p[0], p[1], p[2]].map(|v| usize::from(v >> 3));
            let sum = &mut self.sums[r << 10 | g << 5 | b];
            for c in 0..3 {
                sum[c] += u64::from(p[c]);
            }
            sum[3] += 1;
        }
    }

    fn points(&self) -> Vec<Point> {
        let filled = self.sums.iter().filter(|s| s[3] > 0);
        filled
            .map(|s| Point {
                place: oklab([s[0], s[1], s[2]].map(|v| (v / s[3]) as u8)),
                // Rare colors matter more to the eye than their number suggests.
                weight: (s[3] as f32).sqrt(),
            })
            .collect()
    }
}

#[derive(Clone, Copy)]
struct Point {
    place: [f32; 3],
    weight: f32,
}

impl Palette {
    /// At most `colors` colors for the counted pixels.
    pub(super) fn new(histogram: &Histogram, colors: usize) -> Self {
        let points = histogram.points();
        let mut places = median_cut(points.clone(), colors.max(1));
        for _ in 0..ROUNDS {
            settle(&points, &mut places);
        }
        Self {
            colors: places.iter().map(|p| srgb(*p)).collect(),
            places,
            nearest: vec![UNKNOWN; 1 << 18],
        }
    }

    /// Index of the color nearest to one.
    pub(super) fn index(&mut self, rgb: [u8; 3]) -> u8 {
        let [r, g, b] = rgb.map(|v| usize::from(v >> 2));
        let key = r << 12 | g << 6 | b;
        if self.nearest[key] == UNKNOWN {
            let middle = rgb.map(|v| v & 0xfc | 2);
            self.nearest[key] = nearest(&self.places, oklab(middle)) as u16;
        }
        self.nearest[key] as u8
    }
}

fn distance(a: [f32; 3], b: [f32; 3]) -> f32 {
    (0..3).map(|c| (a[c] - b[c]) * (a[c] - b[c])).sum()
}

fn nearest(places: &[[f32; 3]], to: [f32; 3]) -> usize {
    let by = |a: &&[f32; 3], b: &&[f32; 3]| distance(**a, to).total_cmp(&distance(**b, to));
    let best = places.iter().min_by(by);
    best.and_then(|b| places.iter().position(|p| p == b))
        .unwrap_or(0)
}

fn mean(points: &[Point]) -> [f32; 3] {
    let total: f32 = points.iter().map(|p| p.weight).sum();
    std::array::from_fn(|c| {
        points.iter().map(|p| p.weight * p.place[c]).sum::<f32>() / total.max(f32::MIN_POSITIVE)
    })
}

/// Axis of the greatest weighted spread, and the spread.
fn spread(points: &[Point]) -> (usize, f32) {
    let middle = mean(points);
    let along = |c: usize| -> f32 {
        let square = |p: &Point| p.weight * (p.place[c] - middle[c]).powi(2);
        points.iter().map(square).sum()
    };
    let all = [along(0), along(1), along(2)];
    let axis = (0..3)
        .max_by(|a, b| all[*a].total_cmp(&all[*b]))
        .unwrap_or(0);
    (axis, all[axis])
}

fn median_cut(points: Vec<Point>, count: usize) -> Vec<[f32; 3]> {
    if points.is_empty() {
        return vec![[0.0; 3]];
    }
    let first = spread(&points);
    let mut groups = vec![(points, first)];
    while groups.len() < count {
        let widest = (0..groups.len()).max_by(|a, b| groups[*a].1.1.total_cmp(&groups[*b].1.1));
        let Some(widest) = widest.filter(|w| groups[*w].0.len() > 1 && groups[*w].1.1 > 0.0) else {
            break;
        };
        let (mut group, (axis, _)) = groups.swap_remove(widest);
        group.sort_by(|a, b| a.place[axis].total_cmp(&b.place[axis]));
        let half: f32 = group.iter().map(|p| p.weight).sum::<f32>() / 2.0;
        let mut sum = 0.0;
        let below = group.iter().take_while(|p| {
            sum += p.weight;
            sum <= half
        });
        let at = below.count().clamp(1, group.len() - 1);
        let upper = group.split_off(at);
        for part in [group, upper] {
            let wide = spread(&part);
            groups.push((part, wide));
        }
    }
    groups.iter().map(|(points, _)| mean(points)).collect()
}

/// Moves each color to the mean of the points nearest to it.
fn settle(points: &[Point], places: &mut [[f32; 3]]) {
    let mut sums = vec![[0.0f32; 4]; places.len()];
    for point in points {
        let sum = &mut sums[nearest(places, point.place)];
        for c in 0..3 {
            sum[c] += point.weight * point.place[c];
        }
        sum[3] += point.weight;
    }
    for (place, sum) in places.iter_mut().zip(sums) {
        if sum[3] > 0.0 {
            *place = std::array::from_fn(|c| sum[c] / sum[3]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_colors_are_exact_and_many_are_approximated() {
        let mut histogram = Histogram::new();
        let four = [[200, 30, 40], [30, 200, 40], [30, 40, 200], [250, 250, 250]];
        histogram.add(&four.concat());
        let mut palette = Palette::new(&histogram, 255);
        assert_eq!(palette.colors.len(), 4);
        for color in four {
            let index = palette.index(color) as usize;
            let found = palette.colors[index];
            assert!(
                (0..3).all(|c| found[c].abs_diff(color[c]) <= 2),
                "{found:?}"
            );
        }

        let ramp: Vec<u8> = (0..=255u8).flat_map(|v| [v, v / 2 + 60, 255 - v]).collect();
        let mut histogram = Histogram::new();
        histogram.add(&ramp);
        let error = |colors| {
            let mut palette = Palette::new(&histogram, colors);
            let mut off = |p: &[u8]| {
                let index = palette.index([p[0], p[1], p[2]]);
                let found = palette.colors[index as usize];
                (0..3).map(|c| found[c].abs_diff(p[c])).max().unwrap_or(0)
            };
            ramp.chunks(3).map(&mut off).max().unwrap_or(0)
        };
        assert!(error(64) <= 10, "{}", error(64));
        assert!(error(4) > 20);
        assert_eq!(Palette::new(&Histogram::new(), 8).colors.len(), 1);
    }
}
