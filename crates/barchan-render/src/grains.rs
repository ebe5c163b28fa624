//! Grains of a frame as drawn: position, velocity, radius, color.

use barchan_frame::{CacheError, ColumnData, FrameInfo, Manifest, ResultDirectory};

/// Fraction of a particle's volume that its sphere has: in a dense heap spheres nearly touch and hide the background.
const SPHERE_PART: f32 = 0.85;

/// Grains of one frame, in the order of its columns.
#[derive(Debug, Clone, Default)]
pub struct Grains {
    /// Centers [m].
    pub position: Vec<[f32; 3]>,
    /// Velocities [m/s]; empty if the frame has none.
    pub velocity: Vec<[f32; 3]>,
    /// Radii [m]; one value if all are equal.
    pub radius: Vec<f32>,
    /// Colors, sRGB.
    pub color: Vec<[u8; 3]>,
}

impl Grains {
    /// Number of grains.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Whether there are no grains.
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

/// A frame whose columns are read on demand.
pub struct FrameColumns<'a> {
    directory: &'a ResultDirectory,
    /// Description of the frame.
    pub info: FrameInfo,
}

impl<'a> FrameColumns<'a> {
    /// Frame `index` of a result.
    pub fn open(directory: &'a ResultDirectory, index: u32) -> Result<Self, CacheError> {
        let info = directory.frame_info(index)?;
        Ok(Self { directory, info })
    }

    /// Values of a column; `None` if the frame has no such column.
    pub fn read(&self, name: &str) -> Result<Option<ColumnData>, CacheError> {
        if !self.info.columns.iter().any(|c| c.name == name) {
            return Ok(None);
        }
        let column = self.directory.read_column(self.info.index, name)?;
        Ok(Some(column.data))
    }

    /// Vectors of a column; empty if the frame has no such column of floats.
    pub fn vectors(&self, name: &str) -> Result<Vec<[f32; 3]>, CacheError> {
        Ok(match self.read(name)? {
            Some(ColumnData::F32(values)) => values.as_chunks::<3>().0.to_vec(),
            _ => Vec::new(),
        })
    }

    /// Identities: the column `id`, or the order in the frame.
    pub fn ids(&self) -> Result<Vec<u64>, CacheError> {
        Ok(match self.read("id")? {
            Some(ColumnData::U64(ids)) => ids,
            Some(ColumnData::U32(ids)) => ids.into_iter().map(u64::from).collect(),
            _ => (0..self.info.particles as u64).collect(),
        })
    }

    /// Indices into the materials of the manifest; empty if there is no such column, and all grains are of the first.
    pub fn materials(&self) -> Result<Vec<u8>, CacheError> {
        let narrow = |m: u32| u8::try_from(m).unwrap_or(u8::MAX);
        Ok(match self.read("material")? {
            Some(ColumnData::U8(list)) => list,
            Some(ColumnData::U32(list)) => list.into_iter().map(narrow).collect(),
            _ => Vec::new(),
        })
    }

    /// Radii [m]: the column `radius`, otherwise those of spheres with a fraction of the particles' volume (in 2D of disks with a
    /// fraction of their area), otherwise derived from the resolution.
    pub fn radii(&self, manifest: &Manifest) -> Result<Vec<f32>, CacheError> {
        if let Some(ColumnData::F32(radius)) = self.read("radius")? {
            return Ok(radius);
        }
        let suggested = 0.25 * manifest.dx as f32;
        let Some(ColumnData::F32(mass)) = self.read("mass")? else {
            return Ok(vec![suggested]);
        };
        let materials = self.materials()?;
        let radius = |i: usize| {
            let material = usize::from(materials.get(i).copied().unwrap_or(0));
            let density = manifest.materials.get(material).map_or(0.0, |m| m.density) as f32;
            let part = SPHERE_PART * mass[i] / density;
            let radius = match manifest.dimensions {
                2 => (part / std::f32::consts::PI).sqrt(),
                _ => (0.75 * part / std::f32::consts::PI).cbrt(),
            };
            if radius.is_finite() {
                radius
            } else {
                suggested
            }
        };
        Ok((0..mass.len()).map(radius).collect())
    }
}
