//! Color scales: the colors of values, and the ticks of legends.

use super::map::ColorMap;
use barchan_frame::Manifest;

/// The range of a color scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// Lowest.
    pub low: f32,
    /// Highest.
    pub high: f32,
}

/// Number of values examined to determine a range.
const SAMPLE: usize = 50_000;

impl Range {
    /// From the lowest to the highest value.
    pub const fn new(low: f32, high: f32) -> Self {
        Self { low, high }
    }

    /// The empty range, neutral in merging.
    pub const EMPTY: Self = Self::new(f32::INFINITY, f32::NEG_INFINITY);

    /// Range of 98 % of the finite values (of a sample at equal steps).
    pub fn of(values: &[f32]) -> Self {
        let step = values.len().div_ceil(SAMPLE).max(1);
        let finite = values.iter().step_by(step).filter(|v| v.is_finite());
        let mut sample: Vec<f32> = finite.copied().collect();
        if sample.is_empty() {
            return Self::EMPTY;
        }
        sample.sort_unstable_by(f32::total_cmp);
        let last = sample.len() - 1;
        let at = |part: f64| sample[(part * last as f64).round() as usize];
        Self::new(at(0.01), at(0.99))
    }

    /// The range that spans both.
    pub fn merge(self, other: Self) -> Self {
        Self::new(self.low.min(other.low), self.high.max(other.high))
    }

    /// A determined range made readable: it starts at 0 if one end is near 0.
    pub fn presentable(self) -> Self {
        let Self { low, high } = self.drawable();
        if low > 0.0 && low < 0.25 * high {
            return Self::new(0.0, high);
        }
        if high < 0.0 && high > 0.25 * low {
            return Self::new(low, 0.0);
        }
        Self { low, high }
    }

    /// The same range if it is not empty, otherwise one around it.
    fn drawable(self) -> Self {
        let Self { low, high } = self;
        if !(low.is_finite() && high.is_finite() && low <= high) || (low == 0.0 && high == 0.0) {
            return Self::new(0.0, 1.0);
        }
        let size = low.abs().max(high.abs());
        if high - low <= 1e-6 * size {
            return Self::new(low - 0.1 * size, high + 0.1 * size);
        }
        self
    }

    /// Symmetric about 0 if it contains 0, for maps with a center.
    pub fn symmetric(self) -> Self {
        if self.low >= 0.0 || self.high <= 0.0 {
            return self;
        }
        let far = self.high.max(-self.low);
        Self::new(-far, far)
    }
}

/// A category of a categorical quantity.
#[derive(Debug, Clone, PartialEq)]
pub struct Category {
    /// Value in the column.
    pub value: u32,
    /// Name in the legend.
    pub name: String,
    /// Color of its grains.
    pub color: [u8; 3],
}

/// Color of the highlighted grain with that number, distinct from the colors of sand.
pub fn kind_color(number: usize) -> [u8; 3] {
    const ORDER: [usize; 8] = [3, 1, 2, 4, 5, 7, 6, 0];
    KINDS[ORDER[number % ORDER.len()]]
}

/// A mapping of values to colors.
#[derive(Debug, Clone, PartialEq)]
pub enum Scale {
    /// A continuous quantity on a color map.
    Continuous {
        /// Name and unit: `speed [m/s]`.
        label: String,
        /// Values at the ends of the color map.
        range: Range,
        /// The color map.
        map: ColorMap,
    },
    /// A categorical quantity.
    Categories {
        /// Name.
        label: String,
        /// The categories, in order of their values.
        kinds: Vec<Category>,
    },
}

/// Color of grains without a value (NaN, or an unknown category).
pub const NO_VALUE: [u8; 3] = [255, 0, 255];

/// Colors of categories without their own, distinct in lightness and hue also with color blindness.
const KINDS: [[u8; 3]; 8] = [
    [217, 164, 65],
    [58, 110, 165],
    [76, 153, 107],
    [178, 83, 77],
    [127, 101, 160],
    [86, 180, 212],
    [110, 110, 110],
    [226, 142, 182],
];

impl Scale {
    /// The scale of a quantity. `range` [unit] applies to continuous quantities; categories have fixed colors.
    pub fn for_column(
        name: &str,
        unit: &str,
        range: Range,
        map: ColorMap,
        manifest: &Manifest,
    ) -> Self {
        match name {
            "plastic_case" => Self::plastic_case(),
            "material" => Self::Categories {
                label: "material".into(),
                kinds: materials(manifest),
            },
            _ => Self::Continuous {
                label: label(name, unit),
                range: range.drawable(),
                map,
            },
        }
    }

    /// The case of the last plastic projection, in the colors of Fig. 14 of [Klar16].
    pub fn plastic_case() -> Self {
        let kind = |value, name: &str, color| Category {
            value,
            name: name.into(),
            color,
        };
        Self::Categories {
            label: "plastic case".into(),
            kinds: vec![
                kind(0, "I elastic", [62, 160, 72]),
                kind(1, "II tip", [205, 52, 48]),
                kind(2, "III side", [50, 96, 196]),
            ],
        }
    }

    /// Name and unit of the quantity.
    pub fn label(&self) -> &str {
        match self {
            Self::Continuous { label, .. } | Self::Categories { label, .. } => label,
        }
    }

    /// Color of a value.
    pub fn color(&self, value: f32) -> [u8; 3] {
        match self {
            Self::Continuous { .. } if value.is_nan() => NO_VALUE,
            Self::Continuous { range, map, .. } => {
                map.at((value - range.low) / (range.high - range.low))
            }
            Self::Categories { kinds, .. } => kinds
                .iter()
                .find(|k| k.value as f32 == value)
                .map_or(NO_VALUE, |k| k.color),
        }
    }
}

fn label(name: &str, unit: &str) -> String {
    let name = name.replace('_', " ");
    if unit.is_empty() || unit == "1" {
        name
    } else {
        format!("{name} [{unit}]")
    }
}

fn materials(manifest: &Manifest) -> Vec<Category> {
    let named = |(i, m): (usize, &barchan_frame::ManifestMaterial)| Category {
        value: i as u32,
        name: m.name.clone(),
        color: KINDS[i % KINDS.len()],
    };
    manifest.materials.iter().enumerate().map(named).collect()
}

/// Ticks (1, 2 or 5 times a power of ten apart) within a range, `about` of them, with their text.
pub fn ticks(low: f64, high: f64, about: usize) -> Vec<(f64, String)> {
    let span = high - low;
    if !(span.is_finite() && span > 0.0) || about == 0 {
        return Vec::new();
    }
    let rough = span / about as f64;
    let power = 10f64.powf(rough.log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    let off = |f: f64| (span / (f * power) - about as f64).abs();
    let best = factors
        .into_iter()
        .min_by(|a, b| off(*a).total_cmp(&off(*b)));
    let step = best.unwrap_or(1.0) * power;
    let slack = 1e-6 * span;
    let first = ((low - slack) / step).ceil();
    let last = ((high + slack) / step).floor();
    if !(step > 0.0 && last - first <= 10.0 * about as f64 + 10.0) {
        return Vec::new();
    }
    let count = (last - first) as i64;
    let at = |i: i64| (first + i as f64) * step;
    (0..=count)
        .map(|i| (at(i), tick_text(at(i), step, low.abs().max(high.abs()))))
        .collect()
}

/// The number of a tick, with the digits that its step requires.
fn tick_text(value: f64, step: f64, largest: f64) -> String {
    let value = if value.abs() < 1e-9 * step {
        0.0
    } else {
        value
    };
    if !(1e-3..1e6).contains(&largest) {
        return barchan_scene::numbers::rounded(value, 4);
    }
    let places = (-step.log10() - 1e-9).ceil().max(0.0) as usize;
    format!("{value:.places$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_frame::ManifestMaterial;

    #[test]
    fn ranges_ignore_outliers_and_merge() {
        let mut values: Vec<f32> = (0..10_000).map(|i| i as f32 / 10_000.0).collect();
        values.extend([1e9, -1e9, f32::NAN, f32::INFINITY]);
        let range = Range::of(&values);
        assert!((range.low - 0.01).abs() < 0.005 && (range.high - 0.99).abs() < 0.005);
        let other = Range {
            low: -3.0,
            high: 0.5,
        };
        let both = range.merge(other).merge(Range::EMPTY);
        assert_eq!((both.low, both.high), (-3.0, range.high));
        assert_eq!(Range::of(&[f32::NAN]), Range::EMPTY);
    }

    #[test]
    fn ranges_can_always_be_drawn() {
        let show = |low, high| {
            let r = Range { low, high }.presentable();
            (r.low, r.high)
        };
        assert_eq!(show(0.1, 5.0), (0.0, 5.0));
        assert_eq!(show(4.0, 5.0), (4.0, 5.0));
        assert_eq!(show(-5.0, -0.1), (-5.0, 0.0));
        assert_eq!(show(0.0, 0.0), (0.0, 1.0));
        assert_eq!(show(f32::NAN, 1.0), (0.0, 1.0));
        let (low, high) = show(1600.0, 1600.0);
        assert!(low < 1600.0 && high > 1600.0);
        let empty = Range::EMPTY.presentable();
        assert!(empty.low < empty.high);
    }

    #[test]
    fn ticks_are_round_and_inside() {
        let texts = |low, high, n| -> Vec<String> {
            ticks(low, high, n).into_iter().map(|(_, t)| t).collect()
        };
        assert_eq!(
            texts(0.0, 1.0, 5),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        assert_eq!(texts(0.0, 3.7, 4), ["0", "1", "2", "3"]);
        assert_eq!(
            texts(-0.12, 0.11, 4),
            ["-0.10", "-0.05", "0.00", "0.05", "0.10"]
        );
        assert_eq!(
            texts(0.0, 2.4e7, 5),
            ["0", "5000000", "10000000", "15000000", "20000000"]
        );
        assert_eq!(texts(0.0, 4e-5, 4), ["0", "1e-5", "2e-5", "3e-5", "4e-5"]);
        assert!(ticks(1.0, 1.0, 5).is_empty() && ticks(f64::NAN, 1.0, 5).is_empty());
        for i in 1..200 {
            let high = f64::from(i) * 0.37;
            let marks = ticks(0.1, high + 0.1, 5);
            assert!((2..=11).contains(&marks.len()), "{high}: {marks:?}");
            assert!(marks.iter().all(|(v, _)| *v >= 0.099 && *v <= high + 0.101));
        }
    }

    #[test]
    fn values_have_the_colors_of_their_positions() {
        let range = Range {
            low: 0.0,
            high: 2.0,
        };
        let manifest = Manifest {
            materials: ["dry", "wet"]
                .map(|name| ManifestMaterial {
                    name: name.into(),
                    density: 1600.0,
                })
                .into(),
            ..Manifest::default()
        };
        let of = |name, unit| Scale::for_column(name, unit, range, ColorMap::Viridis, &manifest);
        let speed = of("speed", "m/s");
        assert_eq!(speed.label(), "speed [m/s]");
        assert_eq!(speed.color(1.0), ColorMap::Viridis.at(0.5));
        assert_eq!(speed.color(f32::NAN), NO_VALUE);
        assert_eq!(speed.color(f32::INFINITY), ColorMap::Viridis.at(1.0));
        assert_eq!(of("void_ratio", "1").label(), "void ratio");

        let Scale::Categories { kinds, .. } = of("material", "1") else {
            panic!("materials are categories");
        };
        assert_eq!(kinds[1].name, "wet");
        assert_ne!(kinds[0].color, kinds[1].color);
        assert_eq!(of("material", "1").color(9.0), NO_VALUE);
    }

    #[test]
    fn plastic_cases_are_green_red_and_blue() {
        let scale = Scale::plastic_case();
        let strongest = |v| {
            let c = scale.color(v);
            (0..3).max_by_key(|i| c[*i])
        };
        // 0 elastic, 1 tip (separating), 2 side (sliding): the numbers of the frame column.
        assert_eq!([0.0, 1.0, 2.0].map(strongest), [Some(1), Some(0), Some(2)]);
    }
}
