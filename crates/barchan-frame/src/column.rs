//! Frames and their columns, in memory.

use crate::digest;
use crate::record::FrameRecord;
use crate::unit::Unit;

/// Values of a column, `components` of them for each particle, particle by particle.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnData {
    /// 32-bit floats.
    F32(Vec<f32>),
    /// Bytes.
    U8(Vec<u8>),
    /// 32-bit unsigned integers.
    U32(Vec<u32>),
    /// 64-bit unsigned integers.
    U64(Vec<u64>),
}

impl ColumnData {
    /// Number of values (not of particles).
    pub fn len(&self) -> usize {
        match self {
            Self::F32(v) => v.len(),
            Self::U8(v) => v.len(),
            Self::U32(v) => v.len(),
            Self::U64(v) => v.len(),
        }
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Name of the type in Zarr: `float32`, `uint8`, …
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::F32(_) => "float32",
            Self::U8(_) => "uint8",
            Self::U32(_) => "uint32",
            Self::U64(_) => "uint64",
        }
    }

    /// Size of one value [bytes].
    pub fn type_size(&self) -> usize {
        match self {
            Self::U8(_) => 1,
            Self::F32(_) | Self::U32(_) => 4,
            Self::U64(_) => 8,
        }
    }

    /// Size of all values in memory [bytes].
    pub fn size(&self) -> usize {
        self.len() * self.type_size()
    }

    /// The values, if they are 32-bit floats.
    pub fn as_f32(&self) -> Option<&[f32]> {
        match self {
            Self::F32(v) => Some(v),
            _ => None,
        }
    }

    /// The values, if they are bytes.
    pub fn as_u8(&self) -> Option<&[u8]> {
        match self {
            Self::U8(v) => Some(v),
            _ => None,
        }
    }

    /// The values, if they are 32-bit unsigned integers.
    pub fn as_u32(&self) -> Option<&[u32]> {
        match self {
            Self::U32(v) => Some(v),
            _ => None,
        }
    }

    /// The values, if they are 64-bit unsigned integers.
    pub fn as_u64(&self) -> Option<&[u64]> {
        match self {
            Self::U64(v) => Some(v),
            _ => None,
        }
    }
}

/// One quantity of all particles.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Name: `position`, `velocity`, `id`, `material`, …
    pub name: String,
    /// SI unit.
    pub unit: Unit,
    /// Meaning, in one line.
    pub meaning: String,
    /// Values per particle: 1 scalar, 3 vector, 6 symmetric tensor (xx yy zz yz xz xy).
    pub components: usize,
    /// Values.
    pub data: ColumnData,
    /// Largest error that quantization may add [unit]; 0: stored exactly.
    pub tolerance: f32,
}

impl Column {
    /// A column of any type, stored exactly.
    pub fn exact(
        name: &str,
        unit: Unit,
        meaning: &str,
        components: usize,
        data: ColumnData,
    ) -> Self {
        Self {
            name: name.into(),
            unit,
            meaning: meaning.into(),
            components,
            data,
            tolerance: 0.0,
        }
    }

    /// One float per particle, stored to within `tolerance` [unit].
    pub fn scalar(name: &str, unit: Unit, meaning: &str, tolerance: f32, values: Vec<f32>) -> Self {
        Self {
            tolerance,
            ..Self::exact(name, unit, meaning, 1, ColumnData::F32(values))
        }
    }

    /// Three floats per particle (x y z, x y z, …), stored to within `tolerance` [unit].
    pub fn vector3(
        name: &str,
        unit: Unit,
        meaning: &str,
        tolerance: f32,
        values: Vec<f32>,
    ) -> Self {
        Self {
            tolerance,
            ..Self::exact(name, unit, meaning, 3, ColumnData::F32(values))
        }
    }

    /// Number of particles.
    pub fn particles(&self) -> usize {
        self.data.len() / self.components.max(1)
    }
}

/// The particles at one time, with all other data of that time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct State<Record> {
    /// Number of the frame, from 0.
    pub index: u32,
    /// Simulated time [s].
    pub time: f64,
    /// Columns, all for the same number of particles.
    pub columns: Vec<Column>,
    /// Quantities that are not of particles, such as the heights of a terrain: as columns, but each with its own number
    /// of rows instead of particles, and one value per row and component.
    pub arrays: Vec<Column>,
    /// All other data.
    pub record: Record,
}

/// The record of a run at the end of a frame, for measurements and pictures.
pub type Frame = State<FrameRecord>;

impl<Record> State<Record> {
    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|c| c.name == name)
    }

    /// The array of that name.
    pub fn array(&self, name: &str) -> Option<&Column> {
        self.arrays.iter().find(|a| a.name == name)
    }

    /// Number of particles.
    pub fn particles(&self) -> usize {
        self.columns.first().map_or(0, Column::particles)
    }

    /// blake3 (hexadecimal) of the time and of the names, types, shapes and exact bytes of columns and arrays, before
    /// quantization. Units, the frame number and the record are not included.
    pub fn digest(&self) -> String {
        digest::state_digest(self.time, &self.columns, &self.arrays)
    }
}
