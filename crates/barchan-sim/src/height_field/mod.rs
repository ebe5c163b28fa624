//! Soil at rest as columns on a square lattice: a surface, the mass below it, and slopes that slide. It knows nothing of
//! grains: whoever exchanges soil with it says what else lies on the columns.
//!
//! Mass is counted in whole quanta, so that it is conserved exactly whatever the order. No call visits more columns than
//! those near what happens: a site may be as large as memory holds.

mod fill;
mod relax;

use barchan_scene::TerrainSpec;
use glam::{Vec2, Vec3};
pub use relax::{BUDGET, Bare, Surroundings};
use std::collections::VecDeque;

/// Slope above the angle of repose at which soil begins to slide [degrees]; it comes to rest at the angle itself.
pub const SLOPE_TOLERANCE: f32 = 0.5;
/// Quanta in the mass of a mean grain, at least: a mass in f32 is a whole number of them down to 1/256 of the mean.
const QUANTA_PER_GRAIN: f64 = 4294967296.0;
/// Quanta in a column, at most at the start.
const QUANTA_PER_COLUMN: f64 = 288230376151711744.0;
/// Height that may be heaped on the highest column before quanta run out, in heights of the site and in meters.
const HEADROOM: f64 = 100.0;

/// Where the columns stand.
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

    /// Numbers of a column along x and z.
    pub(crate) fn place(&self, column: usize) -> [usize; 2] {
        [column % self.columns[0], column / self.columns[0]]
    }

    /// Middle of a column (x, z) [m].
    pub(crate) fn middle(&self, column: usize) -> Vec2 {
        let [i, j] = self.place(column);
        self.origin + self.cell * Vec2::new(i as f32 + 0.5, j as f32 + 0.5)
    }

    /// Lower or upper end of the column with number k along an axis [m]: the same number for both that share it.
    pub(crate) fn edge(&self, axis: usize, k: usize) -> f32 {
        self.origin[axis] + self.cell * k as f32
    }

    /// The column that a point stands in; `None` outside.
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

    /// Columns whose middle lies in the rectangle: ranges along x and z.
    pub(crate) fn range(&self, low: Vec2, high: Vec2) -> [std::ops::Range<usize>; 2] {
        [0, 1].map(|axis| {
            let t = |x: f32| (x - self.origin[axis]) / self.cell - 0.5;
            let end = self.columns[axis];
            // Casts of floats saturate: what is far outside gives an empty range.
            let first = t(low[axis]).ceil().max(0.0) as usize;
            let last = (t(high[axis]).floor() + 1.0).max(0.0) as usize;
            first.min(end)..last.min(end).max(first.min(end))
        })
    }

    /// A column and those around it, up to `reach` away along each axis.
    pub(crate) fn around(
        &self,
        column: usize,
        reach: usize,
    ) -> impl Iterator<Item = usize> + use<> {
        let layout = *self;
        let [i, j] = self.place(column);
        let span = |k: usize, axis: usize| {
            k.saturating_sub(reach)..(k + reach + 1).min(layout.columns[axis])
        };
        let across = span(i, 0);
        span(j, 1).flat_map(move |j| across.clone().map(move |i| layout.index(i, j)))
    }
}

/// The surface under or over a point.
#[derive(Debug, Clone, Copy)]
struct Sample {
    height: f32,
    /// Along x and z.
    gradient: Vec2,
}

/// Columns of soil at rest.
///
/// The surface is bilinear between the middles of the columns and level from the outer ones to the rim, which is a wall
/// for soil that slides. Below lies rock, as a plane.
#[derive(Debug, Clone)]
pub struct HeightField {
    pub(crate) layout: Layout,
    pub(crate) floor: f32,
    /// Mass of a quantum [kg], a power of two.
    pub(crate) quantum: f64,
    /// Height that a quantum adds to a column [m].
    pub(crate) rise: f64,
    /// Tangents of the angle at which slopes come to rest and at which they begin to slide.
    rest_slope: f32,
    start_slope: f32,

    /// Quanta in each column.
    pub(crate) mass: Vec<u64>,
    /// Surface above the middle of each column [m]: follows `mass`, downwards at once, upwards at a limited speed.
    pub(crate) height: Vec<f32>,
    /// Columns whose surface is still below what their mass makes, each once.
    pub(crate) rising: Vec<u32>,
    is_rising: Vec<bool>,
    /// Columns whose slopes are to be looked at, each once.
    pub(crate) active: VecDeque<u32>,
    queued: Vec<bool>,
    /// Columns around a point, with where their surface is.
    places: Vec<(usize, Vec3)>,
    pub(crate) touched: u64,
}

impl HeightField {
    /// The terrain of a scene, of a bulk density [kg/m³], fine enough to take masses of `smallest` [kg] exactly.
    pub fn new(spec: &TerrainSpec, density: f64, smallest: f64) -> Self {
        let layout = Layout {
            origin: Vec2::new(spec.origin[0] as f32, spec.origin[1] as f32),
            cell: spec.cell as f32,
            columns: spec.columns,
        };
        let area = spec.cell * spec.cell;
        let highest = spec.heights.iter().copied().fold(f32::MIN, f32::max);
        let deepest = (f64::from(highest) - spec.floor).max(0.0) + 1.0;
        let fullest = HEADROOM * deepest * area * density;
        let quantum = (smallest / QUANTA_PER_GRAIN).max(fullest / QUANTA_PER_COLUMN);
        let quantum = 2f64.powi(quantum.log2().ceil() as i32);
        let rise = quantum / (density * area);
        let quanta = |h: &f32| ((f64::from(*h) - spec.floor).max(0.0) / rise).round() as u64;
        let angle = spec.angle_of_repose as f32;
        let mut field = Self {
            layout,
            floor: spec.floor as f32,
            quantum,
            rise,
            rest_slope: tangent(angle),
            start_slope: tangent(angle + SLOPE_TOLERANCE),
            mass: spec.heights.iter().map(quanta).collect(),
            height: vec![0.0; layout.count()],
            rising: Vec::new(),
            is_rising: vec![false; layout.count()],
            active: VecDeque::new(),
            queued: vec![false; layout.count()],
            places: Vec::new(),
            touched: 0,
        };
        field.mass.resize(layout.count(), 0);
        field.refresh();
        for column in 0..layout.count() {
            if field.is_steep(column) {
                field.activate(column);
            }
        }
        field
    }

    /// Surfaces as the masses make them.
    pub(crate) fn refresh(&mut self) {
        for column in 0..self.mass.len() {
            self.height[column] = self.height_of(self.mass[column]);
        }
    }

    /// Where the surface of a column of that many quanta is [m].
    pub(crate) fn height_of(&self, mass: u64) -> f32 {
        (f64::from(self.floor) + mass as f64 * self.rise) as f32
    }

    /// Where the columns stand.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Surface above the middle of each column [m], row by row along x.
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

    /// Columns that wait to have their slopes looked at; 0: the surface is at rest.
    pub fn sliding(&self) -> usize {
        self.active.len()
    }

    /// Columns visited since the beginning, however little was done there: the work.
    pub fn touched(&self) -> u64 {
        self.touched
    }

    /// Height of the surface [m]; `None` outside.
    pub fn height(&self, x: f32, z: f32) -> Option<f32> {
        self.sample(x, z).map(|s| s.height)
    }

    /// Estimate of the signed distance to the surface [m], negative below; infinite outside the site.
    ///
    /// It is that of the tangent plane straight below: right on even slopes, too large beside a cliff.
    pub fn distance(&self, p: Vec3) -> f32 {
        let below = |s: Sample| (p.y - s.height) / (1.0 + s.gradient.length_squared()).sqrt();
        self.sample(p.x, p.z).map_or(f32::INFINITY, below)
    }

    /// Unit normal of the surface straight below or above a point; up outside the site.
    pub fn normal(&self, p: Vec3) -> Vec3 {
        let normal = |s: Sample| Vec3::new(-s.gradient.x, 1.0, -s.gradient.y).normalize();
        self.sample(p.x, p.z).map_or(Vec3::Y, normal)
    }

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
        // Level between the outer columns and the rim.
        let inside = |axis: usize| f32::from(local[axis] == u[axis]) / self.layout.cell;
        Some(Sample {
            height: near + u.y * (far - near),
            gradient: Vec2::new(along_x * inside(0), (far - near) * inside(1)),
        })
    }

    /// Puts a column on the list of those whose slopes are to be looked at.
    pub(crate) fn activate(&mut self, column: usize) {
        if !self.queued[column] {
            self.queued[column] = true;
            self.active.push_back(column as u32);
        }
    }

    /// A column has changed: slopes there and around it may have.
    pub(crate) fn changed(&mut self, column: usize) {
        let full = self.full_height(column);
        if full <= self.height[column] {
            self.height[column] = full;
        } else if !self.is_rising[column] {
            self.is_rising[column] = true;
            self.rising.push(column as u32);
        }
        for near in self.layout.around(column, 1) {
            self.activate(near);
        }
    }

    /// Where the surface of a column is once it has risen [m].
    pub(crate) fn full_height(&self, column: usize) -> f32 {
        self.height_of(self.mass[column])
    }

    /// Lets surfaces rise toward where they belong by at most `most` [m]: so slowly that they lift what lies on them and do not
    /// throw it.
    pub(crate) fn rise(&mut self, most: f32) {
        let mut rising = std::mem::take(&mut self.rising);
        self.touched += rising.len() as u64;
        rising.retain(|&column| {
            let column = column as usize;
            let full = self.full_height(column);
            let height = (self.height[column] + most).min(full);
            self.height[column] = height;
            self.is_rising[column] = height < full;
            height < full
        });
        self.rising = rising;
    }

    /// Restores columns whose slopes wait, and columns with surfaces [m] that are still rising.
    pub(crate) fn restore(&mut self, active: &[u32], rising: impl Iterator<Item = (u32, f32)>) {
        self.queued.fill(false);
        self.active.clear();
        for column in active {
            self.activate(*column as usize);
        }
        self.refresh();
        self.is_rising.fill(false);
        self.rising.clear();
        for (number, height) in rising {
            let column = number as usize;
            self.rising.push(number);
            self.is_rising[column] = true;
            self.height[column] = height.clamp(self.floor, self.height[column]);
        }
    }
}

/// Tangent of the angle of a slope [degrees].
pub(crate) fn tangent(degrees: f32) -> f32 {
    degrees.clamp(0.1, 89.5).to_radians().tan()
}
