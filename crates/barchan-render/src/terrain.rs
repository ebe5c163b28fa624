//! The terrain of a frame as drawn.

use crate::tracer::Relief;
use barchan_frame::{FrameInfo, ResultDirectory, TERRAIN_HEIGHT};
use barchan_scene::materials::SAND_COLORS;
use barchan_scene::{ColorMix, Material};

/// The terrain of a frame in the colors of its material; `None` if there is none or it cannot be drawn.
///
/// # Errors
/// A damaged array.
pub fn relief(
    directory: &ResultDirectory,
    frame: &FrameInfo,
    materials: &[Material],
) -> Result<Option<Relief>, barchan_frame::CacheError> {
    let Some(about) = &frame.record.terrain else {
        return Ok(None);
    };
    let heights = directory.read_array(frame.index, TERRAIN_HEIGHT)?;
    let colors = materials
        .get(about.material)
        .map(|m| m.color.clone())
        .or_else(|| ColorMix::new(SAND_COLORS));
    let make = || {
        Relief::new(
            about.origin,
            about.cell,
            about.columns,
            heights.data.as_f32()?.to_vec(),
            about.floor,
            colors?,
            directory.manifest().dx as f32,
        )
    };
    Ok(make())
}
