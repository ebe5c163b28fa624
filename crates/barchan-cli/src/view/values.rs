//! Scalar values of columns, by which grains are colored, and their ranges.

use super::error::ViewError;
use super::store::Store;
use barchan::frame::{Column, ColumnData};
use barchan::scene::Bounds;
use barchan_render::framing::spread;

/// Number of frames examined for a range.
const SAMPLED_FRAMES: usize = 9;
/// Number of grains examined in each.
const SAMPLED_GRAINS: usize = 20_000;
/// Fraction of the values beyond each end of a range: a few grains in flight must not dominate the range.
const TAIL: f64 = 0.005;

/// The scalar that is derived from a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Norm of a vector or tensor, or the value of a scalar.
    Magnitude,
    /// One component.
    Component(usize),
}

impl Part {
    /// Names of the parts of a column with that number of components, in the order of the menu.
    pub fn names(components: usize) -> Vec<String> {
        let of = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect();
        match components {
            1 => of(&["value"]),
            3 => of(&["magnitude", "x", "y", "z"]),
            6 => of(&["magnitude", "xx", "yy", "zz", "yz", "xz", "xy"]),
            n => std::iter::once("magnitude".to_owned())
                .chain((0..n).map(|i| i.to_string()))
                .collect(),
        }
    }

    /// The part of that name; without a name, the first.
    ///
    /// # Errors
    /// No part of that name.
    pub fn of(column: &str, components: usize, name: Option<&str>) -> Result<Self, ViewError> {
        let names = Self::names(components);
        let at = match name {
            None => Some(0),
            Some(name) => names.iter().position(|n| n == name),
        };
        match at {
            Some(0) => Ok(Self::Magnitude),
            Some(i) => Ok(Self::Component(i - 1)),
            None => Err(ViewError::Unknown {
                what: format!("part `{}` of column `{column}`", name.unwrap_or_default()),
                help: format!("it has {}", names.join(", ")),
            }),
        }
    }
}

/// The values of one part of a column, one per grain.
pub fn values(column: &Column, part: Part) -> Box<dyn Fn(usize) -> f32 + '_> {
    let n = column.components;
    match (&column.data, part) {
        (ColumnData::U8(v), _) => Box::new(move |i| f32::from(v[i * n])),
        (ColumnData::U32(v), _) => Box::new(move |i| v[i * n] as f32),
        (ColumnData::U64(v), _) => Box::new(move |i| v[i * n] as f32),
        (ColumnData::F32(v), Part::Component(c)) => Box::new(move |i| v[i * n + c.min(n - 1)]),
        (ColumnData::F32(v), Part::Magnitude) if n == 1 => Box::new(move |i| v[i]),
        (ColumnData::F32(v), Part::Magnitude) => Box::new(move |i| norm(&v[i * n..(i + 1) * n])),
    }
}

/// Length of a vector; Frobenius norm of a symmetric tensor, whose off-diagonal components count twice.
fn norm(components: &[f32]) -> f32 {
    let weight = |i: usize| {
        if components.len() == 6 && i >= 3 {
            2.0
        } else {
            1.0
        }
    };
    let squares = components
        .iter()
        .enumerate()
        .map(|(i, x)| weight(i) * x * x);
    squares.sum::<f32>().sqrt()
}

/// Range of the color scale.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Range {
    /// Value of the first color [unit of the column].
    pub min: f32,
    /// Value of the last color.
    pub max: f32,
}

/// Range of one column of one frame.
pub fn range_in_frame(column: &Column, part: Part) -> Range {
    let mut sample = Vec::new();
    add_sample(column, part, &mut sample);
    range_of(sample, column, part)
}

/// Range of a column over the whole result, the same for all frames. Unreadable frames are ignored.
///
/// # Errors
/// No frame has the column.
pub fn range_of_result(
    store: &Store,
    frames: &[u32],
    name: &str,
    part: Option<&str>,
) -> Result<Range, ViewError> {
    let mut sample = Vec::new();
    let mut latest = None;
    let mut problem = None;
    for frame in spread(frames, SAMPLED_FRAMES) {
        match store.column(frame, name) {
            Ok(column) => {
                let part = Part::of(name, column.components, part)?;
                add_sample(&column, part, &mut sample);
                latest = Some((column, part));
            }
            Err(error) => problem = Some(error),
        }
    }
    match (latest, problem) {
        (Some((column, part)), _) => Ok(range_of(sample, &column, part)),
        (None, Some(error)) => Err(error),
        (None, None) => Ok(Range { min: 0.0, max: 1.0 }),
    }
}

/// Bounding box of nearly all grains in the first, a middle and the last frame [m]; `None` if there are none.
pub fn bounds_of_result(store: &Store, frames: &[u32]) -> Option<Bounds> {
    let frames = spread(frames, 3).into_iter();
    let columns = frames.filter_map(|f| store.column(f, "position").ok());
    let boxes = columns.filter_map(|column| bounds_of_column(&column));
    boxes.reduce(|a, b| a.union(&b))
}

/// Bounding box of nearly all positions [m]; `None` if there are none.
pub fn bounds_of_column(position: &Column) -> Option<Bounds> {
    let mut bounds = Bounds::EMPTY;
    for axis in 0..3 {
        let mut sample = Vec::new();
        add_sample(position, Part::Component(axis), &mut sample);
        sample.sort_unstable_by(f32::total_cmp);
        let tail = sample.len() / 1000;
        bounds.min[axis] = *sample.get(tail)?;
        bounds.max[axis] = *sample.iter().rev().nth(tail)?;
    }
    Some(bounds)
}

fn add_sample(column: &Column, part: Part, sample: &mut Vec<f32>) {
    let stride = column.particles().div_ceil(SAMPLED_GRAINS).max(1);
    let value = values(column, part);
    let finite = (0..column.particles())
        .step_by(stride)
        .map(value)
        .filter(|v| v.is_finite());
    sample.extend(finite);
}

fn range_of(mut sample: Vec<f32>, column: &Column, part: Part) -> Range {
    if sample.is_empty() {
        return Range { min: 0.0, max: 1.0 };
    }
    sample.sort_unstable_by(f32::total_cmp);
    let last = sample.len() - 1;
    let exact = column.data.as_f32().is_none();
    let tail = if exact { 0.0 } else { TAIL };
    let at = |part: f64| sample[(part * last as f64).round() as usize];
    let is_length = column.components > 1 && part == Part::Magnitude;
    let min = if is_length { 0.0 } else { at(tail) };
    let max = at(1.0 - tail);
    let least = min + min.abs().max(1.0) * 1e-3;
    let max = if max > min { max } else { least };
    Range { min, max }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan::frame::Unit;

    #[test]
    fn a_few_outliers_do_not_affect_the_range() {
        let mut numbers: Vec<f32> = (0..1000).map(|i| i as f32).collect();
        numbers[17] = 1e9;
        numbers[18] = f32::NAN;
        let column = Column::scalar("pressure", Unit::Pascal, "", 0.0, numbers);
        let range = range_in_frame(&column, Part::Magnitude);
        assert!(
            range.min < 10.0 && range.max > 980.0 && range.max < 1000.0,
            "{range:?}"
        );
    }

    #[test]
    fn lengths_begin_at_zero_and_constants_have_a_range() {
        let column = Column::vector3(
            "velocity",
            Unit::MeterPerSecond,
            "",
            0.0,
            vec![3.0, 0.0, 4.0, 3.0, 0.0, 4.0],
        );
        assert_eq!(
            range_in_frame(&column, Part::Magnitude),
            Range { min: 0.0, max: 5.0 }
        );
        let x = range_in_frame(&column, Part::Component(0));
        assert!(x.min == 3.0 && x.max > 3.0);
        let none = Column::scalar("pressure", Unit::Pascal, "", 0.0, vec![f32::NAN]);
        assert_eq!(
            range_in_frame(&none, Part::Magnitude),
            Range { min: 0.0, max: 1.0 }
        );
    }

    #[test]
    fn parts_have_names() {
        assert_eq!(
            Part::of("velocity", 3, Some("y")).unwrap_or(Part::Magnitude),
            Part::Component(1)
        );
        assert!(Part::of("pressure", 1, Some("y")).is_err());
        assert_eq!(norm(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]), 2.0_f32.sqrt());
    }
}
