//! All columns of one grain, exactly as stored.

use super::error::ViewError;
use barchan::frame::{ColumnData, Frame, Unit};
use serde::Serialize;

/// All columns of one grain.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Grain {
    /// Frame.
    pub frame: u32,
    /// Simulated time [s].
    pub time_s: f64,
    /// Index in the columns of this frame.
    pub index: usize,
    /// Permanent identity; `None` if the result has no identities.
    pub id: Option<u64>,
    /// Columns, in the order of the frame.
    pub columns: Vec<GrainColumn>,
}

/// The values of a column for a grain.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GrainColumn {
    /// Name.
    pub name: String,
    /// SI unit.
    pub unit: Unit,
    /// Meaning.
    pub meaning: String,
    /// Values, one per component.
    pub values: Vec<Number>,
}

/// A stored number. In JSON it has the shortest digits that identify it in its type; `null` if it is not finite.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Number {
    /// 32-bit float.
    Float(f32),
    /// Integer.
    Whole(u64),
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Float(value) => write!(f, "{value}"),
            Self::Whole(value) => write!(f, "{value}"),
        }
    }
}

/// The grain at an index in the columns of a frame.
///
/// # Errors
/// The frame has fewer grains.
pub fn at(frame: &Frame, index: usize) -> Result<Grain, ViewError> {
    if index >= frame.particles() {
        return Err(ViewError::NoGrain {
            frame: frame.index,
            which: format!("number {index}"),
            help: format!("it has {}, counted from 0", frame.particles()),
        });
    }
    let columns = frame.columns.iter().map(|column| {
        let range = index * column.components..(index + 1) * column.components;
        GrainColumn {
            name: column.name.clone(),
            unit: column.unit,
            meaning: column.meaning.clone(),
            values: range.map(|i| number(&column.data, i)).collect(),
        }
    });
    Ok(Grain {
        frame: frame.index,
        time_s: frame.time,
        index,
        id: frame.column("id").and_then(|c| whole(&c.data, index)),
        columns: columns.collect(),
    })
}

/// The grain with that identity.
///
/// # Errors
/// The frame has no such grain, or no identities.
pub fn with_id(frame: &Frame, id: u64) -> Result<Grain, ViewError> {
    let missing = |help: &str| ViewError::NoGrain {
        frame: frame.index,
        which: format!("with id {id}"),
        help: help.into(),
    };
    let ids = frame
        .column("id")
        .ok_or_else(|| missing("this result has no column `id`"))?;
    let index = (0..ids.particles())
        .find(|i| whole(&ids.data, *i) == Some(id))
        .ok_or_else(|| missing("it may not have been emitted yet, or was removed"))?;
    at(frame, index)
}

/// A value of a column of integers, such as identities.
pub fn whole(data: &ColumnData, i: usize) -> Option<u64> {
    match number(data, i) {
        Number::Whole(value) => Some(value),
        Number::Float(_) => None,
    }
}

fn number(data: &ColumnData, i: usize) -> Number {
    match data {
        ColumnData::F32(v) => Number::Float(v[i]),
        ColumnData::U8(v) => Number::Whole(v[i].into()),
        ColumnData::U32(v) => Number::Whole(v[i].into()),
        ColumnData::U64(v) => Number::Whole(v[i]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan::frame::Column;

    fn frame() -> Frame {
        Frame {
            index: 4,
            columns: vec![
                Column::vector3(
                    "position",
                    Unit::Meter,
                    "",
                    0.0,
                    vec![0.1, 0.2, 0.3, 1.1, 1.2, f32::NAN],
                ),
                Column::exact("id", Unit::One, "", 1, ColumnData::U64(vec![70, 80])),
            ],
            ..Frame::default()
        }
    }

    #[test]
    fn values_of_a_grain_have_the_digits_of_their_type() {
        let grain = with_id(&frame(), 80).unwrap_or_else(|e| panic!("{e}"));
        let text = serde_json::to_string(&grain).unwrap_or_default();
        assert!(text.contains(r#""values":[1.1,1.2,null]"#), "{text}");
        assert!(text.contains(r#""index":1,"id":80"#), "{text}");
    }

    #[test]
    fn a_missing_grain_is_named_in_the_error() {
        let error = with_id(&frame(), 90).map_err(|e| e.to_string());
        assert!(error.is_err_and(|e| e.contains("frame 4 has no grain with id 90")));
        assert!(at(&frame(), 2).is_err());
    }
}
