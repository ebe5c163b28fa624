//! What solvers with particles in arrays share: putting arrays in order, and columns of frames and checkpoints.

use crate::neighbors::cells::Cells;
use crate::solver::SolverError;
use barchan_frame::{Checkpoint, Column, ColumnData, Unit};
use glam::Vec3;
use rayon::prelude::*;

/// Puts values in the order of `cells`; `spare` is memory for it.
pub(super) fn gather<T: Copy + Send + Sync>(
    cells: &Cells,
    values: &mut Vec<T>,
    spare: &mut Vec<T>,
) {
    cells.order().map(|i| values[i]).collect_into_vec(spare);
    std::mem::swap(values, spare);
}

/// Keeps the values for which `keep` holds.
pub(super) fn filter<T>(values: &mut Vec<T>, keep: &[bool]) {
    let mut kept = keep.iter();
    values.retain(|_| kept.next().copied().unwrap_or(true));
}

/// Components of vectors, one after the other.
pub(super) fn flat(vectors: &[Vec3]) -> Vec<f32> {
    vectors.iter().flat_map(|v| v.to_array()).collect()
}

/// A column of a checkpoint: floats to the last bit.
pub(super) fn floats(
    name: &str,
    unit: Unit,
    meaning: &str,
    components: usize,
    data: Vec<f32>,
) -> Column {
    Column::exact(name, unit, meaning, components, ColumnData::F32(data))
}

pub(super) fn identities(ids: &[u32]) -> Column {
    let ids = ColumnData::U32(ids.to_vec());
    Column::exact("id", Unit::One, "stable identity", 1, ids)
}

pub(super) fn materials(materials: &[u8]) -> Column {
    let materials = ColumnData::U8(materials.to_vec());
    Column::exact("material", Unit::One, "index of the material", 1, materials)
}

/// Reads columns of a checkpoint that must have a value for every particle.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a>(pub &'a Checkpoint);

impl<'a> Reader<'a> {
    fn data(self, name: &str) -> Option<&'a ColumnData> {
        self.0.column(name).map(|c| &c.data)
    }

    pub fn floats(self, name: &str, components: usize) -> Result<&'a [f32], SolverError> {
        match self.data(name) {
            Some(ColumnData::F32(v)) if v.len() == components * self.0.particles() => Ok(v),
            _ => Err(wrong(name)),
        }
    }

    pub fn vectors(self, name: &str) -> Result<Vec<Vec3>, SolverError> {
        let values = self.floats(name, 3)?.as_chunks::<3>().0;
        Ok(values.iter().map(|v| Vec3::from_array(*v)).collect())
    }

    /// Floats that are all positive.
    pub fn sizes(self, name: &str) -> Result<Vec<f32>, SolverError> {
        let values = self.floats(name, 1)?;
        match values.iter().all(|v| *v > 0.0 && v.is_finite()) {
            true => Ok(values.to_vec()),
            false => {
                let reason = format!("column `{name}` has a value that is not positive");
                Err(SolverError::Checkpoint(reason))
            }
        }
    }

    pub fn identities(self) -> Result<Vec<u32>, SolverError> {
        match self.data("id") {
            Some(ColumnData::U32(v)) if v.len() == self.0.particles() => Ok(v.clone()),
            _ => Err(wrong("id")),
        }
    }

    /// Materials, of which there are `known`.
    pub fn materials(self, known: usize) -> Result<Vec<u8>, SolverError> {
        let values = match self.data("material") {
            Some(ColumnData::U8(v)) if v.len() == self.0.particles() => v,
            _ => return Err(wrong("material")),
        };
        if !values.iter().all(|m| usize::from(*m) < known) {
            return Err(SolverError::Checkpoint(
                "it names a material that the scene does not have".into(),
            ));
        }
        Ok(values.clone())
    }
}

fn wrong(name: &str) -> SolverError {
    SolverError::Checkpoint(format!("column `{name}` is missing or has another shape"))
}
