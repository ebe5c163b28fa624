//! Metadata of a particle column, and its conversion to columns of frames and checkpoints.

use crate::solver::SolverError;
use barchan_frame::{Checkpoint, Column, ColumnData, Unit};
use glam::Vec3;

/// Error of positions in frames, as a fraction of the resolution.
const FRACTION: f32 = 1.0 / 1024.0;

/// Unit and meaning of a column, and where it is written.
#[derive(Debug, Clone, Copy)]
pub struct Quantity<T> {
    /// SI unit.
    pub unit: Unit,
    /// Meaning, in one line.
    pub meaning: &'static str,
    /// Value of a new particle.
    pub initial: T,
    /// Error allowed in frames; `None` if it is not written to them.
    pub frame: Option<Tolerance>,
    /// Whether it is written to checkpoints.
    pub saved: bool,
    /// Whether a value from a checkpoint is in range.
    pub is_valid: fn(&T) -> bool,
}

/// Largest error of a value in a frame.
#[derive(Debug, Clone, Copy)]
pub enum Tolerance {
    /// In the unit of the column; 0 keeps every bit.
    Absolute(f32),
    /// 1/1024 of the resolution of the solver.
    Resolution,
}

impl<T: Copy> Quantity<T> {
    /// A quantity that is written to checkpoints.
    pub const fn state(unit: Unit, meaning: &'static str, initial: T) -> Self {
        Self {
            unit,
            meaning,
            initial,
            frame: None,
            saved: true,
            is_valid: |_| true,
        }
    }

    /// The same, also written to frames.
    pub const fn in_frames(mut self, tolerance: Tolerance) -> Self {
        self.frame = Some(tolerance);
        self
    }

    /// The same, with a check of the values of a checkpoint.
    pub const fn checked(mut self, is_valid: fn(&T) -> bool) -> Self {
        self.is_valid = is_valid;
        self
    }

    /// The same, not written to checkpoints.
    pub const fn unsaved(mut self) -> Self {
        self.saved = false;
        self
    }

    /// Largest error in frames, in its unit; `None` if it is not written to them.
    pub fn frame_tolerance(&self, resolution: f32) -> Option<f32> {
        self.frame.map(|tolerance| match tolerance {
            Tolerance::Absolute(error) => error,
            Tolerance::Resolution => resolution * FRACTION,
        })
    }
}

impl<T: Value> Quantity<T> {
    /// An exact column with these values, in recycled memory.
    pub fn column(&self, name: &str, values: &[T], recycled: &mut Recycled) -> Column {
        let data = T::store(values, name, recycled);
        Column::exact(name, self.unit, self.meaning, T::COMPONENTS, data)
    }

    /// The values of a checkpoint.
    pub fn load(&self, name: &str, from: &Checkpoint) -> Result<Vec<T>, SolverError> {
        let count = from.particles();
        if !self.saved {
            return Ok(vec![self.initial; count]);
        }
        let values = from.column(name).and_then(|c| T::restore(&c.data));
        let values = values.filter(|values| values.len() == count);
        let values = values.ok_or_else(|| missing_column(name))?;
        match values.iter().all(self.is_valid) {
            true => Ok(values),
            false => Err(SolverError::Checkpoint(format!(
                "column `{name}` has a value that is out of range"
            ))),
        }
    }
}

/// The error for a column that is missing or has another shape.
pub fn missing_column(name: &str) -> SolverError {
    SolverError::Checkpoint(format!("column `{name}` is missing or has another shape"))
}

/// Value of a column: one or several components.
pub trait Value: Copy {
    /// Number of components.
    const COMPONENTS: usize;
    /// Values as column data, in the recycled memory of the column of that name.
    fn store(values: &[Self], name: &str, recycled: &mut Recycled) -> ColumnData;
    /// The values of a column, if it is of this type.
    fn restore(data: &ColumnData) -> Option<Vec<Self>>;
}

/// Columns of an earlier frame, whose memory is reused.
#[derive(Default)]
pub struct Recycled(pub Vec<Column>);

macro_rules! scalars {
    ($($T:ident: $variant:ident),*) => {$(
        impl Value for $T {
            const COMPONENTS: usize = 1;

            fn store(values: &[Self], name: &str, recycled: &mut Recycled) -> ColumnData {
                let mut parts = recycled.$T(name);
                parts.clear();
                parts.extend_from_slice(values);
                ColumnData::$variant(parts)
            }

            fn restore(data: &ColumnData) -> Option<Vec<Self>> {
                match data {
                    ColumnData::$variant(values) => Some(values.clone()),
                    _ => None,
                }
            }
        }

        impl Recycled {
            /// Memory of the column of that name, with stale values.
            pub fn $T(&mut self, name: &str) -> Vec<$T> {
                let found = self.0.iter().position(|c| c.name == name);
                match found.map(|at| self.0.swap_remove(at).data) {
                    Some(ColumnData::$variant(values)) => values,
                    _ => Vec::new(),
                }
            }
        }
    )*};
}

scalars!(f32: F32, u8: U8, u32: U32);

/// Vectors, and symmetric tensors in the order xx, yy, zz, yz, xz, xy.
macro_rules! vectors {
    ($($T:ty: $count:literal),*) => {$(
        impl Value for $T {
            const COMPONENTS: usize = $count;

            fn store(values: &[Self], name: &str, recycled: &mut Recycled) -> ColumnData {
                let mut parts = recycled.f32(name);
                parts.resize($count * values.len(), 0.0);
                for (parts, value) in parts.as_chunks_mut::<$count>().0.iter_mut().zip(values) {
                    *parts = <[f32; $count]>::from(*value);
                }
                ColumnData::F32(parts)
            }

            fn restore(data: &ColumnData) -> Option<Vec<Self>> {
                let (values, rest) = data.as_f32()?.as_chunks::<$count>();
                let values = values.iter().map(|v| Self::from(*v)).collect();
                rest.is_empty().then_some(values)
            }
        }
    )*};
}

vectors!(Vec3: 3, [f32; 6]: 6);
