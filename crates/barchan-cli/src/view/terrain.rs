//! The terrain of a frame in the format that the page draws: a header with the layout of its columns, then a float per height.

use super::encode;
use super::error::ViewError;
use super::store::Store;
use barchan::frame::{Column, FrameInfo, TERRAIN_HEIGHT, TerrainRecord};
use serde_json::json;

/// Address of the terrain of a frame; `None` if there is none.
pub fn address(info: &FrameInfo) -> Option<String> {
    let terrain = info.record.terrain.as_ref();
    terrain.map(|_| format!("/api/frames/{}/terrain", info.index))
}

/// The terrain of a frame of a result; `color` returns the color of a material.
pub fn of_frame(
    store: &Store,
    frame: u32,
    color: impl Fn(usize) -> [u8; 3],
) -> Result<Vec<u8>, ViewError> {
    let heights = store.array(frame, TERRAIN_HEIGHT)?;
    let terrain = store.info(frame)?.record.terrain.unwrap_or_default();
    encoded(&terrain, &heights, color)
}

/// The heights with their header.
pub fn encoded(
    terrain: &TerrainRecord,
    heights: &Column,
    color: impl Fn(usize) -> [u8; 3],
) -> Result<Vec<u8>, ViewError> {
    let values = heights.data.as_f32();
    let values = values.ok_or_else(|| ViewError::Internal("heights are not floats".into()))?;
    let header = json!({
        "origin": terrain.origin,
        "cell": terrain.cell,
        "columns": [heights.components, heights.particles()],
        "floor": terrain.floor,
        "color": color(terrain.material),
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
    use barchan::frame::{ColumnData, Unit};

    #[test]
    fn heights_follow_the_header() {
        let heights = Column::exact(
            TERRAIN_HEIGHT,
            Unit::Meter,
            "",
            3,
            ColumnData::F32(vec![1.5; 6]),
        );
        let terrain = TerrainRecord {
            material: 1,
            ..TerrainRecord::default()
        };
        let color = |m| [m as u8, 7, 9];
        let Ok(bytes) = encoded(&terrain, &heights, color) else {
            panic!("heights are floats");
        };
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.contains("\"columns\":[3,2]") && text.contains("\"color\":[1,7,9]"));
        assert_eq!(&bytes[bytes.len() - 4..], &1.5f32.to_le_bytes());
        let words = Column::exact(TERRAIN_HEIGHT, Unit::Meter, "", 1, ColumnData::U32(vec![1]));
        assert!(encoded(&terrain, &words, color).is_err());
    }
}
