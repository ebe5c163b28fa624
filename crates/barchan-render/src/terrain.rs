//! The terrain of a frame, as pictures show it.

use crate::tracer::Relief;
use barchan_frame::{FrameInfo, ResultDirectory, TERRAIN_HEIGHT};
use barchan_scene::materials::SAND_COLOURS;
use barchan_scene::{ColourMix, Material};

/// The terrain of a frame in the colours of its material; `None` where there is none, or it cannot be drawn.
///
/// # Errors
/// An array that is not as it was written.
pub fn relief(
    directory: &ResultDirectory,
    frame: &FrameInfo,
    materials: &[Material],
) -> Result<Option<Relief>, barchan_frame::CacheError> {
    let Some(about) = &frame.record.terrain else {
        return Ok(None);
    };
    let heights = directory.read_array(frame.index, TERRAIN_HEIGHT)?;
    let colours = materials
        .get(about.material)
        .map(|m| m.colour.clone())
        .or_else(|| ColourMix::new(SAND_COLOURS));
    let make = || {
        Relief::new(
            about.origin,
            about.cell,
            about.columns,
            heights.data.as_f32()?.to_vec(),
            about.floor,
            colours?,
            directory.manifest().dx as f32,
        )
    };
    Ok(make())
}
