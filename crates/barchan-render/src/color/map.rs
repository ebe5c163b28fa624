//! Color maps of continuous quantities.
//!
//! Each is a few control points, interpolated in Oklab (B. Ottosson's perceptually uniform space). The points of
//! viridis (S. van der Walt, N. Smith; CC0), cividis (J. Nuñez, C. Anderton, R. Renslow; CC0) and turbo
//! (A. Mikhailov; Apache-2.0) are taken from the published tables at equal steps; those of `balance` are our own.

use std::sync::LazyLock;

/// A color map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum ColorMap {
    /// Dark violet, green, yellow; lightness increases uniformly.
    #[default]
    Viridis,
    /// Dark blue, gray, yellow; looks the same with red-green color blindness.
    Cividis,
    /// A rainbow without the false edges of the usual one. Lightness rises and falls.
    Turbo,
    /// Blue, white, red, for values on both sides of a center.
    Balance,
}

impl ColorMap {
    /// All maps.
    pub const ALL: [Self; 4] = [Self::Viridis, Self::Cividis, Self::Turbo, Self::Balance];

    /// Name on the command line: `viridis`, `cividis`, `turbo`, `balance`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Viridis => "viridis",
            Self::Cividis => "cividis",
            Self::Turbo => "turbo",
            Self::Balance => "balance",
        }
    }

    /// The map of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|m| m.name() == name)
    }

    /// Color at a position from 0 (low) to 1 (high), clamped.
    pub fn at(self, place: f32) -> [u8; 3] {
        let table = &TABLES[self as usize];
        // `as` turns NaN into 0.
        table[(place.clamp(0.0, 1.0) * 255.0 + 0.5) as usize]
    }

    fn points(self) -> &'static [u32] {
        match self {
            Self::Viridis => &[
                0x440154, 0x472d7b, 0x3b528b, 0x2c728e, 0x21918c, 0x28ae80, 0x5ec962, 0xaddc30,
                0xfde725,
            ],
            Self::Cividis => &[
                0x00224e, 0x123570, 0x3b496c, 0x575d6d, 0x707173, 0x8a8678, 0xa59c74, 0xc3b369,
                0xe1cc55, 0xfee838,
            ],
            Self::Turbo => &[
                0x30123b, 0x4145ab, 0x4675ed, 0x39a2fc, 0x1bcfd4, 0x24eca6, 0x61fc6c, 0xa4fc3b,
                0xd1e834, 0xf3c63a, 0xfe9b2d, 0xf36315, 0xd93806, 0xb11901, 0x7a0402,
            ],
            Self::Balance => &[
                0x1c2f6b, 0x2c62ae, 0x77a9d9, 0xf2f2f0, 0xe39a7b, 0xb9403c, 0x6b1226,
            ],
        }
    }
}

static TABLES: LazyLock<[[[u8; 3]; 256]; 4]> = LazyLock::new(|| {
    ColorMap::ALL.map(|map| {
        let points: Vec<[f32; 3]> = map.points().iter().map(|p| oklab(bytes(*p))).collect();
        std::array::from_fn(|i| {
            let along = i as f32 / 255.0 * (points.len() - 1) as f32;
            let k = (along as usize).min(points.len() - 2);
            let t = along - k as f32;
            srgb(std::array::from_fn(|c| {
                points[k][c] + t * (points[k + 1][c] - points[k][c])
            }))
        })
    })
});

fn bytes(hex: u32) -> [u8; 3] {
    [(hex >> 16) as u8, (hex >> 8) as u8, hex as u8]
}

/// Oklab of a color: lightness, green to red, blue to yellow.
pub(crate) fn oklab(rgb: [u8; 3]) -> [f32; 3] {
    let [r, g, b] = rgb.map(|v| crate::picture::LINEAR[v as usize]);
    let l = (0.412_221_46 * r + 0.536_332_55 * g + 0.051_445_995 * b).cbrt();
    let m = (0.211_903_5 * r + 0.680_699_5 * g + 0.107_396_96 * b).cbrt();
    let s = (0.088_302_46 * r + 0.281_718_85 * g + 0.629_978_7 * b).cbrt();
    [
        0.210_454_26 * l + 0.793_617_8 * m - 0.004_072_047 * s,
        1.977_998_5 * l - 2.428_592_2 * m + 0.450_593_7 * s,
        0.025_904_037 * l + 0.782_771_77 * m - 0.808_675_77 * s,
    ]
}

/// The color of Oklab coordinates, clipped to sRGB.
pub(crate) fn srgb([light, a, b]: [f32; 3]) -> [u8; 3] {
    let l = (light + 0.396_337_78 * a + 0.215_803_76 * b).powi(3);
    let m = (light - 0.105_561_346 * a - 0.063_854_17 * b).powi(3);
    let s = (light - 0.089_484_18 * a - 1.291_485_5 * b).powi(3);
    [
        4.076_741_7 * l - 3.307_711_6 * m + 0.230_969_94 * s,
        -1.268_438 * l + 2.609_757_4 * m - 0.341_319_38 * s,
        -0.004_196_086_3 * l - 0.703_418_6 * m + 1.707_614_7 * s,
    ]
    .map(barchan_scene::color::screen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oklab_conversion_is_invertible() {
        for hex in [
            0x000000, 0xffffff, 0xff0000, 0x00ff00, 0x0000ff, 0x8899aa, 0x440154,
        ] {
            let rgb = bytes(hex);
            let back = srgb(oklab(rgb));
            assert!((0..3).all(|c| back[c].abs_diff(rgb[c]) <= 1), "{hex:06x}");
        }
        let [light, a, b] = oklab([255; 3]);
        assert!((light - 1.0).abs() < 1e-3 && a.abs() < 1e-3 && b.abs() < 1e-3);
    }

    #[test]
    fn ends_are_those_of_the_tables_and_positions_are_clamped() {
        assert_eq!(ColorMap::Viridis.at(0.0), [0x44, 0x01, 0x54]);
        assert_eq!(ColorMap::Viridis.at(1.0), [0xfd, 0xe7, 0x25]);
        assert_eq!(ColorMap::Cividis.at(7.0), [0xfe, 0xe8, 0x38]);
        assert_eq!(ColorMap::Turbo.at(-7.0), [0x30, 0x12, 0x3b]);
        for map in ColorMap::ALL {
            assert_eq!(ColorMap::named(map.name()), Some(map));
            map.at(f32::NAN);
        }
        assert_eq!(ColorMap::named("jet"), None);
    }

    #[test]
    fn lightness_of_sequential_maps_is_uniform() {
        let light = |map: ColorMap, i: usize| oklab(map.at(i as f32 / 32.0))[0];
        let grows = |map| (0..32).all(|i| light(map, i + 1) > light(map, i));
        assert!(grows(ColorMap::Viridis) && grows(ColorMap::Cividis));
        assert!(!grows(ColorMap::Turbo));
        let ends = [light(ColorMap::Balance, 0), light(ColorMap::Balance, 32)];
        let middle = light(ColorMap::Balance, 16);
        assert!(
            middle > 0.9 && (ends[0] - ends[1]).abs() < 0.06,
            "{ends:?} {middle}"
        );
    }

    #[test]
    fn neighboring_steps_look_alike() {
        for map in [ColorMap::Viridis, ColorMap::Cividis] {
            let step = |i: usize| {
                let [a, b] = [i, i + 1].map(|k| oklab(map.at(k as f32 / 16.0)));
                (0..3).map(|c| (a[c] - b[c]).powi(2)).sum::<f32>().sqrt()
            };
            let steps: Vec<f32> = (0..16).map(step).collect();
            let (low, high) = steps
                .iter()
                .fold((9.0f32, 0.0f32), |(l, h), s| (l.min(*s), h.max(*s)));
            assert!(high / low < 3.0, "{map:?} {steps:?}");
        }
    }
}
