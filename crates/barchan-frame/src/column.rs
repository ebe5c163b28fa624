//! Frames and their columns, in memory.

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

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One quantity of all particles.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Name: `position`, `velocity`, `id`, `material`, …
    pub name: String,
    /// SI unit, `1` when dimensionless.
    pub unit: String,
    /// What it means, one line.
    pub meaning: String,
    /// Values per particle: 1 scalar, 3 vector, 6 symmetric tensor (xx yy zz yz xz xy).
    pub components: usize,
    /// Values.
    pub data: ColumnData,
    /// Largest error that quantisation may add [unit]; 0 keeps every bit.
    pub tolerance: f32,
}

/// The particles at one moment, with everything recorded beside them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Frame {
    /// Number, from 0.
    pub index: u32,
    /// Simulated time [s].
    pub time: f64,
    /// Columns, all for the same number of particles.
    pub columns: Vec<Column>,
    /// Statistics, body poses and forces, removal counts.
    pub attributes: serde_json::Map<String, serde_json::Value>,
}

impl Frame {
    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|c| c.name == name)
    }

    /// Number of particles.
    pub fn particles(&self) -> usize {
        self.columns
            .first()
            .map_or(0, |c| c.data.len() / c.components.max(1))
    }
}

/// The exact state of a run at the end of a frame: a frame whose columns keep every bit.
pub type Checkpoint = Frame;
