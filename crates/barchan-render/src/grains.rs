//! Grains as the renderer sees them: where, how fast, how large, what colour.

use barchan_frame::{CacheError, ColumnData, Manifest, ResultDirectory};

/// Part of a particle's volume that its sphere has: spheres of a dense heap nearly touch and hide what is behind them.
const SPHERE_PART: f32 = 0.85;

/// Grains of one frame, in the order of its columns.
#[derive(Debug, Clone, Default)]
pub struct Grains {
    /// Centres [m].
    pub position: Vec<[f32; 3]>,
    /// Velocities [m/s]; empty when the frame has none.
    pub velocity: Vec<[f32; 3]>,
    /// Radii [m]; one value when all are alike.
    pub radius: Vec<f32>,
    /// Colours, sRGB.
    pub colour: Vec<[u8; 3]>,
}

impl Grains {
    /// Number of grains.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// Radius of grain `i` [m].
    pub fn radius(&self, i: usize) -> f32 {
        match self.radius.as_slice() {
            [same] => *same,
            radii => radii.get(i).copied().unwrap_or(0.0),
        }
    }
}

/// Vectors of a column; none when the frame has no such column or it holds something else.
pub fn vectors(
    directory: &ResultDirectory,
    frame: u32,
    name: &str,
) -> Result<Vec<[f32; 3]>, CacheError> {
    let column = directory.read_column(frame, name)?;
    Ok(match column.data {
        ColumnData::F32(values) if column.components == 3 => to_vectors(values),
        _ => Vec::new(),
    })
}

/// The same memory, three numbers at a time.
fn to_vectors(values: Vec<f32>) -> Vec<[f32; 3]> {
    let (vectors, _) = values.as_chunks::<3>();
    vectors.to_vec()
}
