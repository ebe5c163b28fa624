//! Soil at rest as columns on a regular square grid: a surface, the mass below it, and slopes that fail above the angle of
//! repose. It does not depend on grains: the caller supplies the surcharge on the columns ([`SurfaceConditions`]).
//!
//! Mass is counted in integer quanta, so that it is conserved exactly for any order of operations. No call visits
//! columns far from the activity: the size of a site is limited by memory only.

mod fill;
mod record;
mod relax;

use barchan_scene::TerrainSpec;
use glam::{Vec2, Vec3};
pub use record::StoredField;
pub use relax::{MAX_COLUMNS_PER_CALL, SurfaceConditions, Unloaded};
use std::collections::VecDeque;

/// Slope above the angle of repose at which soil starts to slide [degrees]; it stops at the angle of repose itself.
pub const SLOPE_TOLERANCE: f32 = 0.5;
/// Quanta in a portion of soil that is exchanged, before the quantum is rounded up to a power of two: masses in f32 down to 1/256 of a
/// portion are multiples of the quantum.
const QUANTA_PER_PORTION: f64 = 4294967296.0;
/// Maximum number of quanta in a column that is filled up to [`HEADROOM`].
const QUANTA_PER_COLUMN: f64 = 288230376151711744.0;
/// Fill height that the integer type of a column's quanta can represent, as a multiple of (height of the site + 1 m).
const HEADROOM: f64 = 100.0;

/// Geometry of the grid of columns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Layout {
    /// Corner with the smallest x and z [m].
    pub origin: Vec2,
    /// Side of a column [m].
    pub cell: f32,
    /// Columns along x and along z.
    pub columns: [usize; 2],
}

impl Layout {
    pub(crate) fn count(&self) -> usize {
        self.columns[0] * self.columns[1]
    }

    pub(crate) fn index(&self, i: usize, j: usize) -> usize {
        j * self.columns[0] + i
    }

    /// Indices of a column along x and z.
    pub(crate) fn coordinates(&self, column: usize) -> [usize; 2] {
        [column % self.columns[0], column / self.columns[0]]
    }

    /// Center of a column (x, z) [m].
    pub(crate) fn center(&self, column: usize) -> Vec2 {
        let [i, j] = self.coordinates(column);
        self.origin + self.cell * Vec2::new(i as f32 + 0.5, j as f32 + 0.5)
    }

    /// Coordinate of the k-th grid line along an axis [m]; the same value for both columns that share it.
    pub(crate) fn edge(&self, axis: usize, k: usize) -> f32 {
        self.origin[axis] + self.cell * k as f32
    }

    /// The column that contains a point; `None` outside the site.
    pub(crate) fn column_at(&self, x: f32, z: f32) -> Option<usize> {
        let t = (Vec2::new(x, z) - self.origin) / self.cell;
        let end = Vec2::new(self.columns[0] as f32, self.columns[1] as f32);
        if !(t.cmpge(Vec2::ZERO).all() && t.cmple(end).all()) {
            return None;
        }
        let i = (t.x as usize).min(self.columns[0] - 1);
        let j = (t.y as usize).min(self.columns[1] - 1);
        Some(self.index(i, j))
    }

    /// Columns whose center lies in a rectangle.
    pub(crate) fn columns_in(&self, low: Vec2, high: Vec2) -> impl Iterator<Item = usize> + use<> {
        let [across, along] = [0, 1].map(|axis| {
            let t = |x: f32| (x - self.origin[axis]) / self.cell - 0.5;
            let end = self.columns[axis];
            // Float casts saturate: a rectangle far outside gives an empty range.
            let first = t(low[axis]).ceil().max(0.0) as usize;
            let last = (t(high[axis]).floor() + 1.0).max(0.0) as usize;
            first.min(end)..last.min(end).max(first.min(end))
        });
        self.rectangle(across, along)
    }

    /// A column and its neighbors, up to `reach` columns away along each axis.
    pub(crate) fn neighborhood(
        &self,
        column: usize,
        reach: usize,
    ) -> impl Iterator<Item = usize> + use<> {
        let [i, j] = self.coordinates(column);
        let span = |k: usize, axis: usize| {
            k.saturating_sub(reach)..(k + reach + 1).min(self.columns[axis])
        };
        self.rectangle(span(i, 0), span(j, 1))
    }

    /// Columns of a range along x and one along z, row by row.
    fn rectangle(
        &self,
        across: std::ops::Range<usize>,
        along: std::ops::Range<usize>,
    ) -> impl Iterator<Item = usize> + use<> {
        let layout = *self;
        along.flat_map(move |j| across.clone().map(move |i| layout.index(i, j)))
    }
}

/// The surface vertically below or above a point.
#[derive(Debug, Clone, Copy)]
struct Sample {
    height: f32,
    /// Along x and z.
    gradient: Vec2,
}

/// Columns of soil at rest.
///
/// The surface is bilinear between the column centers and level from the outermost centers to the rim, which is a wall for
/// sliding soil. Below lies level rock.
#[derive(Debug, Clone)]
pub struct HeightField {
    pub(crate) layout: Layout,
    pub(crate) floor: f32,
    /// Mass of a quantum [kg], a power of two.
    pub(crate) quantum: f64,
    /// Height that a quantum adds to a column [m].
    pub(crate) quantum_height: f64,
    /// Slopes (tangents) at which sliding stops and at which it starts.
    rest_slope: f32,
    failure_slope: f32,

    /// Quanta in each column.
    pub(crate) mass: Vec<u64>,
    /// Surface height at each column center [m]: follows `mass`, downward at once, upward at a limited speed.
    pub(crate) height: Vec<f32>,
    /// Columns whose surface is still below the height of their mass, each once.
    pub(crate) rising: Vec<u32>,
    is_rising: Vec<bool>,
    /// Queue of columns whose slopes are to be checked, each once.
    pub(crate) active: VecDeque<u32>,
    is_active: Vec<bool>,
    /// Scratch of a deposit: columns near a point with their offset from it and their height.
    neighborhood: Vec<(usize, Vec3)>,
    pub(crate) visited: u64,
}

impl HeightField {
    /// The terrain of a scene with a bulk density [kg/m³]. Its quantum is fine enough to exchange soil in portions of `portion` [kg].
    pub fn new(spec: &TerrainSpec, density: f64, portion: f64) -> Self {
        let layout = Layout {
            origin: Vec2::new(spec.origin[0] as f32, spec.origin[1] as f32),
            cell: spec.cell as f32,
            columns: spec.columns,
        };
        let area = spec.cell * spec.cell;
        let highest = spec.heights.iter().copied().fold(f32::MIN, f32::max);
        let deepest = (f64::from(highest) - spec.floor).max(0.0) + 1.0;
        let fullest = HEADROOM * deepest * area * density;
        let quantum = (portion / QUANTA_PER_PORTION).max(fullest / QUANTA_PER_COLUMN);
        let quantum = 2f64.powi(quantum.log2().ceil() as i32);
        let quantum_height = quantum / (density * area);
        let quanta =
            |h: &f32| ((f64::from(*h) - spec.floor).max(0.0) / quantum_height).round() as u64;
        let angle = spec.angle_of_repose as f32;
        let mut field = Self {
            layout,
            floor: spec.floor as f32,
            quantum,
            quantum_height,
            rest_slope: tangent(angle),
            failure_slope: tangent(angle + SLOPE_TOLERANCE),
            mass: spec.heights.iter().map(quanta).collect(),
            height: vec![0.0; layout.count()],
            rising: Vec::new(),
            is_rising: vec![false; layout.count()],
            active: VecDeque::new(),
            is_active: vec![false; layout.count()],
            neighborhood: Vec::new(),
            visited: 0,
        };
        field.mass.resize(layout.count(), 0);
        field.reset_surface();
        for column in 0..layout.count() {
            if field.is_steep(column) {
                field.activate(column);
            }
        }
        field
    }

    /// Sets every surface to the height of its mass.
    pub(crate) fn reset_surface(&mut self) {
        for column in 0..self.mass.len() {
            self.height[column] = self.target_height(column);
        }
    }

    /// Surface height of a column that holds `mass` quanta [m].
    pub(crate) fn height_of(&self, mass: u64) -> f32 {
        (f64::from(self.floor) + mass as f64 * self.quantum_height) as f32
    }

    /// Geometry of the grid of columns.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Surface height at each column center [m], row by row along x.
    pub fn heights(&self) -> &[f32] {
        &self.height
    }

    /// Height of the rock below [m].
    pub fn floor(&self) -> f32 {
        self.floor
    }

    /// Quanta in all columns.
    pub(crate) fn total(&self) -> u128 {
        self.mass.iter().map(|m| u128::from(*m)).sum()
    }

    /// Number of columns whose slopes are still to be checked; 0 when the surface is at rest.
    pub fn active_columns(&self) -> usize {
        self.active.len()
    }

    /// Columns visited since the beginning: a measure of the work done.
    pub fn visited_columns(&self) -> u64 {
        self.visited
    }

    /// Height of the surface [m]; `None` outside the site.
    pub fn height(&self, x: f32, z: f32) -> Option<f32> {
        self.sample(x, z).map(|s| s.height)
    }

    /// Estimate of the signed distance to the surface [m], negative below it; infinite outside the site.
    ///
    /// It is the distance to the tangent plane at the point vertically below: exact on uniform slopes, too large beside a
    /// cliff.
    pub fn distance(&self, p: Vec3) -> f32 {
        let to_plane = |s: Sample| (p.y - s.height) / (1.0 + s.gradient.length_squared()).sqrt();
        self.sample(p.x, p.z).map_or(f32::INFINITY, to_plane)
    }

    /// Unit normal of the surface vertically below or above a point; up outside the site.
    pub fn normal(&self, p: Vec3) -> Vec3 {
        let normal = |s: Sample| Vec3::new(-s.gradient.x, 1.0, -s.gradient.y).normalize();
        self.sample(p.x, p.z).map_or(Vec3::Y, normal)
    }

    /// Bilinear interpolation.
    fn sample(&self, x: f32, z: f32) -> Option<Sample> {
        self.layout.column_at(x, z)?;
        let t = (Vec2::new(x, z) - self.layout.origin) / self.layout.cell - 0.5;
        let [nx, nz] = self.layout.columns;
        let i = (t.x.max(0.0) as usize).min(nx - 2);
        let j = (t.y.max(0.0) as usize).min(nz - 2);
        let local = t - Vec2::new(i as f32, j as f32);
        let u = local.clamp(Vec2::ZERO, Vec2::ONE);
        let at = |di: usize, dj: usize| self.height[self.layout.index(i + di, j + dj)];
        let (h00, h10, h01, h11) = (at(0, 0), at(1, 0), at(0, 1), at(1, 1));
        let (near, far) = (h00 + u.x * (h10 - h00), h01 + u.x * (h11 - h01));
        let along_x = (h10 - h00) + u.y * ((h11 - h01) - (h10 - h00));
        // Level between the outermost centers and the rim.
        let inside = |axis: usize| f32::from(local[axis] == u[axis]) / self.layout.cell;
        Some(Sample {
            height: near + u.y * (far - near),
            gradient: Vec2::new(along_x * inside(0), (far - near) * inside(1)),
        })
    }

    /// Queues a column for a check of its slopes.
    pub(crate) fn activate(&mut self, column: usize) {
        if !self.is_active[column] {
            self.is_active[column] = true;
            self.active.push_back(column as u32);
        }
    }

    /// Applies a change of a column's mass: lowers its surface or starts to raise it, and activates
    /// the column and its neighbors.
    pub(crate) fn mass_changed(&mut self, column: usize) {
        let target = self.target_height(column);
        if target <= self.height[column] {
            self.height[column] = target;
        } else if !self.is_rising[column] {
            self.is_rising[column] = true;
            self.rising.push(column as u32);
        }
        for neighbor in self.layout.neighborhood(column, 1) {
            self.activate(neighbor);
        }
    }

    /// Surface height of a column's present mass [m], which the surface approaches from below at a limited speed.
    pub(crate) fn target_height(&self, column: usize) -> f32 {
        self.height_of(self.mass[column])
    }

    /// Raises surfaces toward their target height by at most `max_rise` [m], so that grains and bodies on them are lifted without
    /// being thrown up.
    pub(crate) fn raise_surface(&mut self, max_rise: f32) {
        let mut rising = std::mem::take(&mut self.rising);
        self.visited += rising.len() as u64;
        rising.retain(|&column| {
            let column = column as usize;
            let target = self.target_height(column);
            let height = (self.height[column] + max_rise).min(target);
            self.height[column] = height;
            self.is_rising[column] = height < target;
            height < target
        });
        self.rising = rising;
    }
}

/// Tangent of a slope angle [degrees].
pub(crate) fn tangent(degrees: f32) -> f32 {
    degrees.clamp(0.1, 89.5).to_radians().tan()
}
