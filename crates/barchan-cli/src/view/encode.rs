//! Frames in the format that the page draws: a small header, then a few bytes per grain that are uploaded to the GPU
//! unchanged. The layout is described in `docs/viewer.md`.

use super::error::ViewError;
use super::grain;
use super::look::Palette;
use super::terrain;
use super::values::{self, Part, Range};
use barchan::frame::{BodyRecord, Column, ColumnData, FrameInfo, Statistics};
use barchan::scene::Bounds;
use glam::Vec3;
use serde::Serialize;
use serde_json::json;

/// Magic bytes at the start of every answer in this format.
const MAGIC: &[u8; 8] = b"BARCHAN1";
/// Largest encoded coordinate.
const COORDINATE_STEPS: f32 = 65_535.0;
/// Largest encoded value; the next number means "no value".
const COLOR_STEPS: f32 = 65_534.0;
const NO_VALUE: u16 = 65_535;
/// Material of a grain that cannot be drawn, since its position is not finite.
const NOT_DRAWN: u8 = 255;

/// Header of grains, in a frame of a result and in a picture of a live scene: `GrainsHeader` of viewer/src/api.ts.
#[derive(Serialize)]
pub struct GrainsHeader<'a> {
    /// Number of the frame or picture.
    pub frame: u64,
    /// Simulated time [s].
    pub time: f64,
    /// Number of grains.
    pub grains: usize,
    /// Corners of the box that coordinates are steps of [m].
    pub lower: [f32; 3],
    pub upper: [f32; 3],
    /// [m].
    pub error_bound: [f32; 3],
    /// Poses and loads.
    pub bodies: &'a [BodyRecord],
    /// Address of the terrain, where there is one.
    pub terrain: Option<String>,
}

/// Header of a frame of a result.
#[derive(Serialize)]
struct FrameHeader<'a> {
    #[serde(flatten)]
    grains: GrainsHeader<'a>,
    statistics: &'a Statistics,
}

/// Positions, color and material of all grains: eight bytes per grain.
pub fn grains(
    info: &FrameInfo,
    columns: &[Column],
    palette: &Palette,
) -> Result<Vec<u8>, ViewError> {
    let grains = GrainData::of(|name| columns.iter().find(|c| c.name == name));
    let grains =
        grains.ok_or_else(|| ViewError::Internal("positions are not three floats".into()))?;
    let (lower, upper) = bounds(grains.position);
    let header = FrameHeader {
        grains: GrainsHeader {
            frame: u64::from(info.index),
            time: info.time,
            grains: info.particles,
            lower,
            upper,
            error_bound: error_bound((lower, upper)),
            bodies: &info.record.bodies,
            terrain: terrain::address(info),
        },
        statistics: &info.record.statistics,
    };
    let mut out = begin(&header, 8 * info.particles);
    put_grains(&mut out, &grains, (lower, upper), palette);
    Ok(out)
}

/// Half the step of each coordinate [m].
pub fn error_bound((lower, upper): ([f32; 3], [f32; 3])) -> [f32; 3] {
    std::array::from_fn(|a| 0.5 * (upper[a] - lower[a]) / COORDINATE_STEPS)
}

/// Data of the grains to be drawn.
#[derive(Default)]
pub struct GrainData<'a> {
    /// Coordinates, three per grain [m].
    pub position: &'a [f32],
    /// Identities, which determine the color.
    pub id: Option<&'a ColumnData>,
    /// Materials.
    pub material: Option<&'a [u8]>,
}

impl<'a> GrainData<'a> {
    /// From the columns of a frame by name; `None` when positions are not three floats.
    pub fn of(column: impl Fn(&str) -> Option<&'a Column>) -> Option<Self> {
        let position = column("position").filter(|c| c.components == 3)?;
        Some(Self {
            position: position.data.as_f32()?,
            id: column("id").map(|c| &c.data),
            material: column("material").and_then(|c| c.data.as_u8()),
        })
    }
}

/// Appends eight bytes per grain: coordinates in steps between the corners, color, material.
pub fn put_grains(
    out: &mut Vec<u8>,
    grains: &GrainData<'_>,
    (lower, upper): ([f32; 3], [f32; 3]),
    palette: &Palette,
) {
    let scale: [f32; 3] = std::array::from_fn(|a| {
        let size = upper[a] - lower[a];
        if size > 0.0 {
            COORDINATE_STEPS / size
        } else {
            0.0
        }
    });
    for (i, p) in grains.position.chunks_exact(3).enumerate() {
        let finite = p.iter().all(|x| x.is_finite());
        for axis in 0..3 {
            // The cast clamps, and turns NaN into 0.
            let step = ((p[axis] - lower[axis]) * scale[axis]).round() as u16;
            out.extend_from_slice(&step.to_le_bytes());
        }
        let id = grains.id.and_then(|ids| grain::whole(ids, i));
        let material = grains.material.and_then(|v| v.get(i));
        let material = material.map_or(0, |m| (*m).min(NOT_DRAWN - 1));
        out.push(palette.index(material, id.unwrap_or(i as u64)));
        out.push(if finite { material } else { NOT_DRAWN });
    }
}

/// One value per grain, for its color: two bytes, linear over a range to which values are clamped.
pub fn colors(frame: u32, column: &Column, part: Part, range: Range) -> Vec<u8> {
    let grains = column.particles();
    let header = json!({
        "frame": frame,
        "column": column.name,
        "unit": column.unit,
        "grains": grains,
        "min": range.min,
        "max": range.max,
        "missing": NO_VALUE,
    });
    let mut out = begin(&header, 2 * grains);
    put_colors(&mut out, column, part, range);
    out
}

/// Appends two bytes per grain: a value in steps of the range.
pub fn put_colors(out: &mut Vec<u8>, column: &Column, part: Part, range: Range) {
    let scale = COLOR_STEPS / (range.max - range.min);
    let value = values::values(column, part);
    for i in 0..column.particles() {
        let v = value(i);
        let step = if v.is_nan() {
            NO_VALUE
        } else {
            ((v - range.min) * scale).round().clamp(0.0, COLOR_STEPS) as u16
        };
        out.extend_from_slice(&step.to_le_bytes());
    }
}

/// A surface: vertices (three floats each), then triangles (three indices each).
pub fn surface(mesh: &barchan::scene::mesh::TriangleMesh) -> Vec<u8> {
    let header = json!({ "vertices": mesh.vertices.len(), "triangles": mesh.triangles.len() });
    let mut out = begin(&header, 12 * (mesh.vertices.len() + mesh.triangles.len()));
    let coordinates = mesh.vertices.iter().flat_map(|v| v.to_array());
    out.extend(coordinates.flat_map(f32::to_le_bytes));
    let indices = mesh.triangles.as_flattened().iter();
    out.extend(indices.flat_map(|index| index.to_le_bytes()));
    out
}

/// Magic bytes, length of the header, and the header as JSON, padded so that the data begins at a multiple of 8 bytes.
pub fn begin(header: &impl Serialize, data: usize) -> Vec<u8> {
    // Headers have text as keys: they are always JSON.
    let mut text = serde_json::to_string(header).unwrap_or_default();
    while !(12 + text.len()).is_multiple_of(8) {
        text.push(' ');
    }
    let mut out = Vec::with_capacity(12 + text.len() + data);
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
    out
}

/// Smallest and largest finite coordinates; zeros if there are none.
pub fn bounds(position: &[f32]) -> ([f32; 3], [f32; 3]) {
    let points = position.chunks_exact(3).map(Vec3::from_slice);
    let bounds = Bounds::from_points(points.filter(|p| p.is_finite()));
    match bounds.is_empty() {
        true => ([0.0; 3], [0.0; 3]),
        false => (bounds.min.to_array(), bounds.max.to_array()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan::frame::Unit;

    #[test]
    fn bounds_ignore_non_finite_values() {
        let position = [1.0, 2.0, 3.0, f32::NAN, -9.0, 0.0, -1.0, 5.0, 3.5];
        assert_eq!(bounds(&position), ([-1.0, 2.0, 3.0], [1.0, 5.0, 3.5]));
        assert_eq!(bounds(&[]), ([0.0; 3], [0.0; 3]));
    }

    #[test]
    fn data_is_aligned() {
        for n in 0..9 {
            let start = begin(&json!({ "x": "a".repeat(n) }), 0);
            assert!(start.len().is_multiple_of(8));
        }
    }

    #[test]
    fn colors_are_clamped_and_non_finite_values_are_marked() {
        let column = Column::scalar(
            "p",
            Unit::Pascal,
            "",
            0.0,
            vec![-5.0, 0.0, 1.0, 2.0, 99.0, f32::NAN, f32::INFINITY],
        );
        let bytes = colors(3, &column, Part::Magnitude, Range { min: 0.0, max: 2.0 });
        let data: Vec<u16> = bytes[bytes.len() - 14..]
            .chunks(2)
            .map(|b| u16::from_le_bytes([b[0], b[1]]))
            .collect();
        assert_eq!(data, [0, 0, 32_767, 65_534, 65_534, 65_535, 65_534]);
    }
}
