//! What a column of particles holds, and how it becomes a column of a frame or checkpoint.

use crate::solver::SolverError;
use barchan_frame::{Checkpoint, Column, ColumnData, Unit};
use glam::Vec3;
use rayon::prelude::*;

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
    /// A column with these values, in the memory of `parts`.
    pub fn column(&self, name: &str, values: &[T], parts: Vec<T::Component>) -> Column {
        column_of(name, self.unit, self.meaning, values, parts)
    }

    /// The values of a checkpoint.
    pub fn load(&self, name: &str, from: &Checkpoint) -> Result<Vec<T>, SolverError> {
        let count = from.particles();
        if !self.saved {
            return Ok(vec![self.initial; count]);
        }
        let parts = from.column(name).and_then(|c| T::Component::of(&c.data));
        let parts = parts.filter(|parts| parts.len() == T::COMPONENTS * count);
        let parts = parts.ok_or_else(|| misfit(name))?;
        let values: Vec<T> = parts.chunks(T::COMPONENTS).map(T::read).collect();
        match values.iter().all(self.is_valid) {
            true => Ok(values),
            false => Err(SolverError::Checkpoint(format!(
                "column `{name}` has a value that is out of range"
            ))),
        }
    }
}

/// An exact column with these values, in the memory of `parts`.
pub fn column_of<T: Value>(
    name: &str,
    unit: Unit,
    meaning: &str,
    values: &[T],
    parts: Vec<T::Component>,
) -> Column {
    let data = T::Component::data(flatten(values, parts));
    Column::exact(name, unit, meaning, T::COMPONENTS, data)
}

/// The error for a column that is not there or does not fit.
pub fn misfit(name: &str) -> SolverError {
    SolverError::Checkpoint(format!("column `{name}` is missing or has another shape"))
}

/// Components of values one after the other, in the memory of `parts`.
pub fn flatten<T: Value>(values: &[T], mut parts: Vec<T::Component>) -> Vec<T::Component> {
    parts.resize(T::COMPONENTS * values.len(), T::Component::default());
    (parts.par_chunks_exact_mut(T::COMPONENTS))
        .zip(values)
        .with_min_len(1 << 14)
        .for_each(|(parts, value)| value.write(parts));
    parts
}

/// A value of a particle: one or several components.
pub trait Value: Copy + Send + Sync {
    /// Type of a component.
    type Component: Component;
    /// How many there are.
    const COMPONENTS: usize;
    /// Writes the components.
    fn write(&self, parts: &mut [Self::Component]);
    /// A value of as many components.
    fn read(parts: &[Self::Component]) -> Self;
}

/// A type of number that columns hold.
pub trait Component: Copy + Default + Send + Sync {
    /// Values as those of a column.
    fn data(values: Vec<Self>) -> ColumnData;
    /// The values of a column of this type.
    fn of(data: &ColumnData) -> Option<&[Self]>;
    /// The same, taken.
    fn take(data: ColumnData) -> Option<Vec<Self>>;
}

macro_rules! components {
    ($($T:ty: $variant:ident),*) => {$(
        impl Component for $T {
            fn data(values: Vec<Self>) -> ColumnData {
                ColumnData::$variant(values)
            }
            fn of(data: &ColumnData) -> Option<&[Self]> {
                match data {
                    ColumnData::$variant(values) => Some(values),
                    _ => None,
                }
            }
            fn take(data: ColumnData) -> Option<Vec<Self>> {
                match data {
                    ColumnData::$variant(values) => Some(values),
                    _ => None,
                }
            }
        }

        impl Value for $T {
            type Component = Self;
            const COMPONENTS: usize = 1;
            fn write(&self, parts: &mut [Self]) {
                parts[0] = *self;
            }
            fn read(parts: &[Self]) -> Self {
                parts[0]
            }
        }
    )*};
}

components!(f32: F32, u8: U8, u32: U32, u64: U64);

impl Value for Vec3 {
    type Component = f32;
    const COMPONENTS: usize = 3;
    fn write(&self, parts: &mut [f32]) {
        parts.copy_from_slice(self.as_ref());
    }
    fn read(parts: &[f32]) -> Self {
        Self::from_slice(parts)
    }
}

/// A symmetric tensor: xx, yy, zz, yz, xz, xy.
impl Value for [f32; 6] {
    type Component = f32;
    const COMPONENTS: usize = 6;
    fn write(&self, parts: &mut [f32]) {
        parts.copy_from_slice(self);
    }
    fn read(parts: &[f32]) -> Self {
        std::array::from_fn(|i| parts[i])
    }
}

/// Columns of an earlier frame, whose memory is used again.
pub struct Spent(pub Vec<Column>);

impl Spent {
    /// The memory of the column of that name; its values mean nothing.
    pub fn take<T: Component>(&mut self, name: &str) -> Vec<T> {
        let found = self.0.iter().position(|c| c.name == name);
        let data = found.map(|at| self.0.swap_remove(at).data);
        data.and_then(T::take).unwrap_or_default()
    }
}
