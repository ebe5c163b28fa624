//! Colors of grains: those of the material, or those of a column.

mod map;
mod scale;

pub use map::ColorMap;
pub(crate) use map::{oklab, srgb};
pub use scale::{Category, NO_VALUE, Range, Scale, kind_color, ticks};

use barchan_frame::{Column, ColumnData, Frame, Manifest};
use rayon::prelude::*;

/// Random number in [0, 1) of a grain, determined by its identity.
pub fn chance(id: u64) -> f32 {
    (hash(id) >> 8) as f32 / 16_777_216.0
}

/// 32 well-mixed bits of a number (multiplications and shifts, as in splitmix64).
fn hash(id: u64) -> u32 {
    let mut x = id.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 32) as u32
}

/// sRGB to linear light.
pub fn to_linear(color: [u8; 3]) -> glam::Vec3 {
    glam::Vec3::from_array(color.map(|c| crate::picture::LINEAR[usize::from(c)]))
}

/// What the colors of grains show.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Coloring {
    /// The colors of the material.
    #[default]
    Own,
    /// A quantity.
    Column {
        /// Column of the frame, `speed`, or a coordinate: `x`, `y`, `z`.
        name: String,
        /// Lowest and highest value of the colors [unit of the column]; determined from the data if absent.
        range: Option<[f32; 2]>,
        /// Colors of a continuous quantity.
        map: ColorMap,
    },
}

impl Coloring {
    /// The scale of the column with that unit; `found` is the range of its values in all frames. `None` for the colors of the
    /// material.
    pub fn scale(&self, unit: &str, found: Range, manifest: &Manifest) -> Option<Scale> {
        let Self::Column { name, range, map } = self else {
            return None;
        };
        let range = match range {
            Some([low, high]) => Range::new(*low, *high),
            None if *map == ColorMap::Balance => found.presentable().symmetric(),
            None => found.presentable(),
        };
        Some(Scale::for_column(name, unit, range, *map, manifest))
    }
}

/// A quantity that cannot be shown.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum ColorError {
    /// There is no such quantity in the frame.
    #[error("frame {frame} has no column `{name}`{hint}; color can show: {}", .known.join(", "))]
    Unknown {
        /// The requested name.
        name: String,
        /// Number of the frame.
        frame: u32,
        /// Suggestion, as the end of a clause.
        hint: String,
        /// The available names.
        known: Vec<String>,
    },
    /// The column is a tensor.
    #[error(
        "column `{name}` holds {components} values per grain; color can show scalars and vectors (by length)"
    )]
    Shape {
        /// The requested name.
        name: String,
        /// Values per grain.
        components: usize,
    },
}

/// One value per grain, shown as color.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantity {
    /// Name: `speed`, `pressure`, …
    pub name: String,
    /// SI unit, `1` when dimensionless.
    pub unit: String,
    /// Values, in the order of the frame [unit].
    pub values: Vec<f32>,
}

impl Quantity {
    /// The quantity of that name in a frame: a column, the length of a vector column, `speed` or a coordinate.
    pub fn read(name: &str, frame: &Frame) -> Result<Self, ColorError> {
        let from = |column: &Column, values: Vec<f32>| Self {
            name: name.into(),
            unit: column.unit.to_string(),
            values,
        };
        if let Some(column) = frame.column(name) {
            return match column.components {
                1 => Ok(from(column, numbers(&column.data))),
                2 | 3 => Ok(from(column, lengths(column))),
                components => Err(ColorError::Shape {
                    name: name.into(),
                    components,
                }),
            };
        }
        let vector = |column| frame.column(column).filter(|c| c.components == 3);
        if let ("speed", Some(velocity)) = (name, vector("velocity")) {
            return Ok(from(velocity, lengths(velocity)));
        }
        if let (Some(axis), Some(position)) = (axis(name), vector("position")) {
            let all = numbers(&position.data);
            return Ok(from(
                position,
                all.into_iter().skip(axis).step_by(3).collect(),
            ));
        }
        Err(unknown(name, frame))
    }

    /// Range of most of the values, for the color scale.
    pub fn range(&self) -> Range {
        Range::of(&self.values)
    }

    /// Color of every grain.
    pub fn colors(&self, scale: &Scale) -> Vec<[u8; 3]> {
        self.values.par_iter().map(|v| scale.color(*v)).collect()
    }
}

fn axis(name: &str) -> Option<usize> {
    ["x", "y", "z"].iter().position(|a| *a == name)
}

fn unknown(name: &str, frame: &Frame) -> ColorError {
    let scalar = |c: &&Column| matches!(c.components, 1..=3) && c.name != "position";
    let columns = frame.columns.iter().filter(scalar).map(|c| c.name.clone());
    let mut known: Vec<String> = columns.collect();
    if frame.column("velocity").is_some() {
        known.insert(0, "speed".into());
    }
    let near = barchan_scene::nearest(name, known.iter().map(String::as_str));
    let hint = near.map_or(String::new(), |n| format!(" (did you mean `{n}`?)"));
    ColorError::Unknown {
        name: name.into(),
        frame: frame.index,
        hint,
        known,
    }
}

fn numbers(data: &ColumnData) -> Vec<f32> {
    match data {
        ColumnData::F32(v) => v.clone(),
        ColumnData::U8(v) => v.iter().map(|x| f32::from(*x)).collect(),
        ColumnData::U32(v) => v.iter().map(|x| *x as f32).collect(),
        ColumnData::U64(v) => v.iter().map(|x| *x as f32).collect(),
    }
}

fn lengths(column: &Column) -> Vec<f32> {
    let all = numbers(&column.data);
    let length = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
    all.chunks_exact(column.components).map(length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_frame::Unit;
    use barchan_scene::materials::SAND_COLORS;

    fn frame() -> Frame {
        Frame {
            index: 7,
            columns: vec![
                Column::vector3(
                    "position",
                    Unit::Meter,
                    "",
                    0.0,
                    vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
                ),
                Column::vector3(
                    "velocity",
                    Unit::MeterPerSecond,
                    "",
                    0.0,
                    vec![3.0, 4.0, 0.0, 0.0, 0.0, 1.0],
                ),
                Column::scalar("pressure", Unit::Pascal, "", 0.0, vec![10.0, f32::NAN]),
                Column::exact("plastic_case", Unit::One, "", 1, ColumnData::U8(vec![2, 0])),
                Column::exact(
                    "stress",
                    Unit::Pascal,
                    "",
                    6,
                    ColumnData::F32(vec![0.0; 12]),
                ),
            ],
            ..Frame::default()
        }
    }

    #[test]
    fn quantities_come_from_columns_lengths_and_coordinates() {
        let read = |name| Quantity::read(name, &frame()).unwrap();
        assert_eq!(read("speed").values, [5.0, 1.0]);
        assert_eq!(read("speed").unit, "m/s");
        assert_eq!(read("velocity").values, [5.0, 1.0]);
        assert_eq!(read("y").values, [2.0, 5.0]);
        assert_eq!(read("plastic_case").values, [2.0, 0.0]);
        assert_eq!(read("pressure").values[0], 10.0);
    }

    #[test]
    fn a_given_range_is_kept_and_a_determined_one_is_rounded() {
        let of = |range, map, low, high| {
            let coloring = Coloring::Column {
                name: "pressure".into(),
                range,
                map,
            };
            match coloring.scale("Pa", Range { low, high }, &Manifest::default()) {
                Some(Scale::Continuous { range, .. }) => [range.low, range.high],
                _ => panic!("pressure is a number"),
            }
        };
        let viridis = ColorMap::Viridis;
        assert_eq!(of(Some([0.1, 5.0]), viridis, 0.0, 1.0), [0.1, 5.0]);
        assert_eq!(of(None, viridis, 0.1, 5.0), [0.0, 5.0]);
        assert_eq!(of(Some([3.0, 1.0]), viridis, 0.0, 9.0), [0.0, 1.0]);
        assert_eq!(of(None, ColorMap::Balance, -1.0, 5.0), [-5.0, 5.0]);
        let own = Coloring::Own.scale("1", Range::EMPTY, &Manifest::default());
        assert_eq!(own, None);
    }

    #[test]
    fn the_error_of_an_unknown_name_lists_the_available_ones() {
        let text = |name| Quantity::read(name, &frame()).unwrap_err().to_string();
        let unknown = text("presure");
        assert!(unknown.contains("frame 7") && unknown.contains("did you mean `pressure`?"));
        assert!(
            unknown.contains("speed, velocity, pressure, plastic_case"),
            "{unknown}"
        );
        assert!(text("stress").contains("6 values"));
        assert!(text("zebra").contains("color can show"));
    }

    #[test]
    fn grains_have_the_colors_of_the_mix_in_proportion() {
        let mix = barchan_scene::ColorMix::new(SAND_COLORS).unwrap();
        let mut count = [0.0; 3];
        (0..200_000).for_each(|id| count[mix.index(chance(id))] += 1.0);
        for (n, (_, part)) in count.iter().zip(SAND_COLORS) {
            let spread = f64::from(part * (1.0 - part) / 200_000.0).sqrt();
            assert!(
                (n / 200_000.0 - f64::from(*part)).abs() < 4.0 * spread,
                "{count:?}"
            );
        }
    }
}
