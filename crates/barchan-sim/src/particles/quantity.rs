//! What a column of particles holds, and how it becomes a column of a frame or checkpoint.

use crate::solver::SolverError;
use barchan_frame::{Checkpoint, Column, ColumnData, Unit};
use glam::Vec3;

/// Part of the resolution that positions in frames may be off.
const FRACTION: f32 = 1.0 / 1024.0;

/// The unit and meaning of a column, and where it is written.
#[derive(Debug, Clone, Copy)]
pub struct Quantity<T> {
    /// SI unit.
    pub unit: Unit,
    /// What it means, one line.
    pub meaning: &'static str,
    /// Value of a new particle.
    pub initial: T,
    /// Error that frames may add; `None` where they do not have it.
    pub frame: Option<Tolerance>,
    /// Whether checkpoints have it.
    pub saved: bool,
    /// Whether a value of a checkpoint is possible.
    pub is_valid: fn(&T) -> bool,
}

/// Largest error that a frame may add to a value.
#[derive(Debug, Clone, Copy)]
pub enum Tolerance {
    /// In the unit of the column; 0 keeps every bit.
    Absolute(f32),
    /// 1/1024 of the resolution of the solver.
    Resolution,
}

impl<T: Copy> Quantity<T> {
    /// A quantity that checkpoints have.
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

    /// The same in frames, too.
    pub const fn in_frames(mut self, tolerance: Tolerance) -> Self {
        self.frame = Some(tolerance);
        self
    }

    /// The same, with a condition on the values of a checkpoint.
    pub const fn checked(mut self, is_valid: fn(&T) -> bool) -> Self {
        self.is_valid = is_valid;
        self
    }

    /// The same, but not in checkpoints.
    pub const fn unsaved(mut self) -> Self {
        self.saved = false;
        self
    }

    /// Largest error in frames [unit], where they have it.
    pub fn frame_tolerance(&self, resolution: f32) -> Option<f32> {
        self.frame.map(|tolerance| match tolerance {
            Tolerance::Absolute(error) => error,
            Tolerance::Resolution => resolution * FRACTION,
        })
    }
}

impl<T: Value> Quantity<T> {
    /// An exact column with these values, in the memory of an earlier one.
    pub fn column(&self, name: &str, values: &[T], spent: &mut Spent) -> Column {
        let data = T::store(values, name, spent);
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
        let values = values.ok_or_else(|| misfit(name))?;
        match values.iter().all(self.is_valid) {
            true => Ok(values),
            false => Err(SolverError::Checkpoint(format!(
                "column `{name}` has a value that is out of range"
            ))),
        }
    }
}

/// The error for a column that is not there or does not fit.
pub fn misfit(name: &str) -> SolverError {
    SolverError::Checkpoint(format!("column `{name}` is missing or has another shape"))
}

/// A value of a particle: one or several components.
pub trait Value: Copy {
    /// How many components there are.
    const COMPONENTS: usize;
    /// Values as those of a column, in the memory of the column of that name.
    fn store(values: &[Self], name: &str, spent: &mut Spent) -> ColumnData;
    /// The values of a column, if it is of this type.
    fn restore(data: &ColumnData) -> Option<Vec<Self>>;
}

/// Columns of an earlier frame, whose memory is used again.
#[derive(Default)]
pub struct Spent(pub Vec<Column>);

macro_rules! scalars {
    ($($T:ident: $variant:ident),*) => {$(
        impl Value for $T {
            const COMPONENTS: usize = 1;

            fn store(values: &[Self], name: &str, spent: &mut Spent) -> ColumnData {
                let mut parts = spent.$T(name);
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

        impl Spent {
            /// Memory of the column of that name; its values mean nothing.
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

            fn store(values: &[Self], name: &str, spent: &mut Spent) -> ColumnData {
                let mut parts = spent.f32(name);
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
