//! The terrain of a frame in the form that the page draws: where its columns are, then a float for each height.

use super::encode;
use super::error::ViewError;
use super::store::Store;
use barchan_frame::{Column, FrameInfo};
use serde_json::{Map, Value, json};

/// The array of heights and the attribute beside it: see docs/frames.md.
pub const HEIGHTS: &str = "terrain_height";
const ATTRIBUTE: &str = "terrain";

/// Where the page finds the terrain of a frame; null when there is none.
pub fn address(info: &FrameInfo) -> Value {
    match info.attributes.contains_key(ATTRIBUTE) {
        true => json!(format!("/api/frames/{}/terrain", info.index)),
        false => Value::Null,
    }
}

/// The terrain of a frame of a result; `colour` gives that of a material.
pub fn of_frame(
    store: &Store,
    frame: u32,
    colour: impl Fn(usize) -> [u8; 3],
) -> Result<Vec<u8>, ViewError> {
    let info = store.attributes(frame)?;
    let heights = store.array(frame, HEIGHTS)?;
    encoded(&info.attributes, &heights, colour)
}

/// The heights with their header.
pub fn encoded(
    attributes: &Map<String, Value>,
    heights: &Column,
    colour: impl Fn(usize) -> [u8; 3],
) -> Result<Vec<u8>, ViewError> {
    let about = attributes.get(ATTRIBUTE).unwrap_or(&Value::Null);
    let material = about["material"].as_u64().unwrap_or(0);
    let values = heights.data.as_f32();
    let values = values.ok_or_else(|| ViewError::Internal("heights are not floats".into()))?;
    let header = json!({
        "origin": about["origin"],
        "cell": about["cell"],
        "columns": [heights.components, heights.particles()],
        "floor": about["floor"],
        "colour": colour(usize::try_from(material).unwrap_or(0)),
    });
    let mut out = encode::begin(&header, 4 * values.len());
    for height in values {
        out.extend_from_slice(&height.to_le_bytes());
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_frame::ColumnData;

    #[test]
    fn heights_follow_the_header() {
        let heights = Column::exact(HEIGHTS, "m", "", 3, ColumnData::F32(vec![1.5; 6]));
        let mut attributes = Map::new();
        let about = json!({ "origin": [-1.0, 2.0], "cell": 0.5, "floor": -2.0, "material": 1 });
        attributes.insert(ATTRIBUTE.into(), about);
        let colour = |m| [m as u8, 7, 9];
        let Ok(bytes) = encoded(&attributes, &heights, colour) else {
            panic!("heights are floats");
        };
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.contains("\"columns\":[3,2]") && text.contains("\"colour\":[1,7,9]"));
        assert_eq!(&bytes[bytes.len() - 4..], &1.5f32.to_le_bytes());
        let words = Column::exact(HEIGHTS, "m", "", 1, ColumnData::U32(vec![1]));
        assert!(encoded(&attributes, &words, colour).is_err());
    }
}
