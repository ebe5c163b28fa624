//! The terrain of a frame, as pictures show it.

use crate::tracer::Relief;
use barchan_frame::{FrameInfo, ResultDirectory};
use barchan_scene::materials::SAND_COLOURS;
use barchan_scene::{ColourMix, Material};
use serde_json::Value;

/// The array of the heights, and the attribute that says where they are: see docs/frames.md.
const HEIGHTS: &str = "terrain_height";
const ATTRIBUTE: &str = "terrain";

/// The terrain of a frame in the colours of its material; `None` where there is none, or its attributes make none.
///
/// # Errors
/// An array that is not as it was written.
pub fn relief(
    directory: &ResultDirectory,
    frame: &FrameInfo,
    materials: &[Material],
) -> Result<Option<Relief>, barchan_frame::CacheError> {
    let Some(about) = frame.attributes.get(ATTRIBUTE) else {
        return Ok(None);
    };
    if frame.arrays.iter().all(|a| a.name != HEIGHTS) {
        return Ok(None);
    }
    let heights = directory.read_array(frame.index, HEIGHTS)?;
    let number = |value: &Value| value.as_f64().map(|x| x as f32);
    let whole = |value: &Value| value.as_u64().and_then(|n| usize::try_from(n).ok());
    let material = whole(&about["material"]).and_then(|m| materials.get(m));
    let colours = material
        .map(|m| m.colour.clone())
        .or_else(|| ColourMix::new(SAND_COLOURS));
    let make = || {
        let values = heights.data.as_f32()?;
        let place = &about["origin"];
        let columns = &about["columns"];
        Relief::new(
            [number(&place[0])?, number(&place[1])?],
            number(&about["cell"])?,
            [whole(&columns[0])?, whole(&columns[1])?],
            values.to_vec(),
            number(&about["floor"])?,
            colours?,
            directory.manifest().dx as f32,
        )
    };
    Ok(make())
}
