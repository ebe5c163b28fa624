//! Input of the refinement from a base frame.

use super::DetailError;
use barchan_frame::{Column, ColumnData, Frame, FrameRecord, Manifest, ResultDirectory};
use glam::Vec3;

/// Columns that are read if present.
const COLUMNS: [&str; 7] = [
    "position", "velocity", "id", "material", "radius", "mass", "volume",
];

/// The particles of one frame of the base, by ascending id.
#[derive(Debug, Clone, Default)]
pub struct BaseFrame {
    /// Frame number.
    pub index: u32,
    /// Simulated time [s].
    pub time: f64,
    /// Identities, ascending, each once.
    pub id: Vec<u64>,
    /// Positions [m].
    pub position: Vec<Vec3>,
    /// Velocities [m/s].
    pub velocity: Vec<Vec3>,
    /// Size and material.
    pub kind: Vec<Kind>,
    /// Statistics, bodies, joints, terrain.
    pub record: FrameRecord,
    /// Arrays other than particle columns: heights of a terrain.
    pub arrays: Vec<Column>,
}

/// Size and material of a base particle.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Kind {
    /// Half the particle spacing at rest [m].
    pub radius: f32,
    /// Mass [kg].
    pub mass: f32,
    /// Index into the manifest's materials.
    pub material: u8,
}

impl BaseFrame {
    /// Reads a frame of a result.
    pub fn read(directory: &ResultDirectory, index: u32) -> Result<Self, DetailError> {
        let info = directory.frame_info(index)?;
        let mut frame = Frame {
            index,
            time: info.time,
            record: info.record,
            ..Frame::default()
        };
        for name in COLUMNS {
            if info.columns.iter().any(|c| c.name == name) {
                frame.columns.push(directory.read_column(index, name)?);
            }
        }
        for array in &info.arrays {
            frame.arrays.push(directory.read_array(index, &array.name)?);
        }
        Self::of(frame, directory.manifest())
    }

    /// Extracts the particles of a frame.
    pub fn of(frame: Frame, manifest: &Manifest) -> Result<Self, DetailError> {
        let index = frame.index;
        let position = vectors(&frame, "position")?;
        let velocity = vectors(&frame, "velocity")?;
        let ids = ids(index, frame.column("id"))?;
        let count = ids.len();
        let kinds: Vec<Kind> = (0..count).map(kinds(&frame, manifest)).collect();
        let mut order: Vec<u32> = (0..count as u32).collect();
        order.sort_unstable_by_key(|i| ids[*i as usize]);
        let mut base = Self {
            index,
            time: frame.time,
            ..Self::default()
        };
        for i in order.into_iter().map(|i| i as usize) {
            let id = ids[i];
            let invalid = |column, value| DetailError::Value {
                frame: index,
                id,
                column,
                value,
            };
            if base.id.last() == Some(&id) {
                return Err(DetailError::DuplicateId { frame: index, id });
            }
            let (x, v) = (Vec3::from(position[i]), Vec3::from(velocity[i]));
            for (column, vector) in [("position", x), ("velocity", v)] {
                if let Some(value) = vector.to_array().into_iter().find(|c| !c.is_finite()) {
                    return Err(invalid(column, value));
                }
            }
            let kind = kinds[i];
            if !(kind.radius > 0.0 && kind.radius.is_finite()) {
                return Err(invalid("radius", kind.radius));
            }
            if !(kind.mass >= 0.0 && kind.mass.is_finite()) {
                return Err(invalid("mass", kind.mass));
            }
            base.id.push(id);
            base.position.push(x);
            base.velocity.push(v);
            base.kind.push(kind);
        }
        base.record = frame.record;
        base.arrays = frame.arrays;
        Ok(base)
    }

    /// Index of a particle.
    pub fn find(&self, id: u64) -> Option<usize> {
        self.id.binary_search(&id).ok()
    }
}

/// Identities of the particles of a frame, in its order.
pub(super) fn read_ids(directory: &ResultDirectory, index: u32) -> Result<Vec<u64>, DetailError> {
    ids(index, Some(&directory.read_column(index, "id")?))
}

fn ids(frame: u32, column: Option<&Column>) -> Result<Vec<u64>, DetailError> {
    match column.map(|c| (&c.data, c.components)) {
        Some((ColumnData::U32(v), 1)) => Ok(v.iter().map(|i| u64::from(*i)).collect()),
        Some((ColumnData::U64(v), 1)) => Ok(v.clone()),
        _ => Err(DetailError::Column {
            frame,
            column: "id",
            expected: "whole numbers",
        }),
    }
}

fn vectors<'a>(frame: &'a Frame, column: &'static str) -> Result<&'a [[f32; 3]], DetailError> {
    match frame.column(column).map(|c| (&c.data, c.components)) {
        Some((ColumnData::F32(v), 3)) => Ok(v.as_chunks::<3>().0),
        _ => Err(DetailError::Column {
            frame: frame.index,
            column,
            expected: "three 32-bit floats",
        }),
    }
}

/// Size and material of a particle by its index in a frame.
///
/// The radius is that of the column, else half the edge of a cube (2D: square) of the particle's volume, else a quarter
/// of the resolution. The mass is that of the column, else volume times density.
fn kinds<'a>(frame: &'a Frame, manifest: &'a Manifest) -> impl Fn(usize) -> Kind + 'a {
    let data = |name: &str| frame.column(name).map(|c| &c.data);
    let floats = |name: &str| data(name).and_then(ColumnData::as_f32);
    let materials = data("material");
    let [radii, masses, volumes] = ["radius", "mass", "volume"].map(floats);
    let flat = manifest.dimensions == 2;
    move |i: usize| {
        let at = |list: Option<&[f32]>| list.and_then(|l| l.get(i)).copied();
        let material = match materials {
            Some(ColumnData::U8(v)) => v.get(i).copied().unwrap_or(0),
            Some(ColumnData::U32(v)) => v.get(i).map_or(0, |m| u8::try_from(*m).unwrap_or(u8::MAX)),
            _ => 0,
        };
        let about = manifest.materials.get(usize::from(material));
        let density = about.map(|m| m.density as f32).filter(|d| *d > 0.0);
        let edge = |volume: f32| if flat { volume.sqrt() } else { volume.cbrt() };
        let cube = |edge: f32| if flat { edge.powi(2) } else { edge.powi(3) };
        let by_mass = || Some(at(masses)? / density?);
        let volume = at(volumes).or_else(by_mass);
        let suggested = 0.25 * manifest.dx as f32;
        let radius = at(radii).or(volume.map(|v| 0.5 * edge(v)));
        let radius = radius.unwrap_or(suggested);
        let mass = at(masses)
            .unwrap_or_else(|| volume.unwrap_or(cube(2.0 * radius)) * density.unwrap_or(0.0));
        Kind {
            radius,
            mass,
            material,
        }
    }
}
