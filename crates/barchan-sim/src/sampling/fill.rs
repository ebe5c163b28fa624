//! Fills: regions of material at the start.

use super::tile::BLOCKS;
use super::{Samples, Spacing};
use crate::neighbors::cells_between;
use barchan_scene::{Bounds, Dimensions, Fill, Geometry, Sampling};
use glam::{DVec3, IVec3, Mat3, Vec3};
use rayon::prelude::*;

/// Whether a particle at a position with a radius (0 for points) is excluded.
pub type Excluded<'a> = dyn Fn(Vec3, f32) -> bool + Sync + 'a;

/// Fills a shape with particles, without those that are `excluded` (inside colliders).
///
/// The particles share the volume of the shape, less that of the excluded ones: mass is exact however coarse the sampling. The
/// result depends on the seed but not on the number of threads. An unbounded shape gives no particles.
pub fn sample_fill(
    fill: &Fill,
    spacing: &Spacing,
    dimensions: Dimensions,
    seed: u64,
    excluded: &Excluded<'_>,
) -> Samples {
    let volume = fill.shape.volume(dimensions);
    let density = spacing.number_density(dimensions);
    if !(volume.is_finite() && density.is_finite() && density > 0.0) {
        return Samples::none(fill.material);
    }
    let bricks = match fill.sampling {
        Sampling::Poisson => Bricks::random(spacing, dimensions, seed),
        Sampling::Lattice => Bricks::lattice(spacing, dimensions),
    };
    let excluded = |p: Vec3, radius: f32| excluded(p, radius.max(spacing.clearance as f32));
    let corners = bricks.covering(&fill.shape.bounds()).into_par_iter();
    let sample = |corner| bricks.sample(corner, &fill.shape, &excluded);
    let batches: Vec<Batch> = corners.map(sample).collect();
    let inside: usize = batches.iter().map(|b| b.inside).sum();
    let kept = batches.into_iter().flat_map(|b| b.kept);
    let (position, mut radius): (Vec<Vec3>, Vec<f32>) = kept.unzip();
    if spacing.grain.is_none() {
        radius = Vec::new();
    }
    let velocity = |p: &Vec3| fill.velocity + fill.spin.cross(*p - fill.spin_center);
    Samples {
        velocity: position.par_iter().map(velocity).collect(),
        position,
        velocity_gradient: cross_matrix(fill.spin),
        material: fill.material,
        volume: (volume / inside.max(1) as f64) as f32,
        radius,
        volume_gain: 0.0,
        ..Samples::default()
    }
}

/// The matrix that takes x to ω × x.
fn cross_matrix(w: Vec3) -> Mat3 {
    Mat3::from_cols(w.cross(Vec3::X), w.cross(Vec3::Y), w.cross(Vec3::Z))
}

/// A periodic pattern of points, divided into bricks.
struct Bricks {
    dimensions: Dimensions,
    /// Period of the pattern [m].
    period: f64,
    /// Bricks along an axis of a period.
    per_period: i64,
    /// Points of each brick of a period, in periods, with their radii [m].
    points: Vec<Vec<(DVec3, f32)>>,
}

/// The points of a brick.
#[derive(Default)]
struct Batch {
    /// Points inside the shape.
    inside: usize,
    /// Those not excluded: positions and radii [m].
    kept: Vec<(Vec3, f32)>,
}

impl Bricks {
    fn random(spacing: &Spacing, dimensions: Dimensions, seed: u64) -> Self {
        let tile = spacing.tile(dimensions, seed);
        let density = spacing.number_density(dimensions);
        let mean = spacing.grain.map_or(0.0, |(radius, _)| radius as f32);
        let period = (tile.len() as f64 / density).powf(1.0 / dimensions.count() as f64);
        let sized = |(p, r): &(Vec3, f32)| (p.as_dvec3(), mean * r);
        let blocks = tile.blocks.iter();
        let points = blocks.map(|block| block.iter().map(sized).collect());
        Self {
            dimensions,
            period,
            per_period: BLOCKS as i64,
            points: points.collect(),
        }
    }

    /// Bricks of 4 cells along an axis, each cell with the same regular lattice.
    fn lattice(spacing: &Spacing, dimensions: Dimensions) -> Self {
        const CELLS: i32 = 4;
        let root = spacing
            .particles_per_cell
            .powf(1.0 / dimensions.count() as f64);
        let radius = spacing.grain.map_or(0.0, |(radius, _)| radius as f32);
        let side = CELLS * (root.round() as i32).clamp(1, 64);
        let size = match dimensions {
            Dimensions::Three => IVec3::splat(side),
            Dimensions::Two => IVec3::new(side, side, 1),
        };
        let point = |cell: IVec3| (cell.as_dvec3() + 0.5) / f64::from(side);
        let points = cells_between(IVec3::ZERO, size - 1).map(|cell| (point(cell), radius));
        Self {
            dimensions,
            period: f64::from(CELLS) * spacing.dx,
            per_period: 1,
            points: vec![points.collect()],
        }
    }

    /// Edge of a brick [m].
    fn edge(&self) -> f64 {
        self.period / self.per_period as f64
    }

    /// All bricks that touch a box, in a fixed order. Nothing for an infinite box.
    fn covering(&self, bounds: &Bounds) -> Vec<[i64; 3]> {
        let edge = self.edge();
        let range = |axis: usize| {
            let (low, high) = (f64::from(bounds.min[axis]), f64::from(bounds.max[axis]));
            if self.dimensions == Dimensions::Two && axis == 2 {
                0..1
            } else if low.is_finite() && high.is_finite() {
                (low / edge).floor() as i64..(high / edge).floor() as i64 + 1
            } else {
                0..0
            }
        };
        let rows = range(2).flat_map(|k| range(1).map(move |j| [j, k]));
        let bricks = rows.flat_map(|[j, k]| range(0).map(move |i| [i, j, k]));
        bricks.collect()
    }

    fn sample(&self, brick: [i64; 3], shape: &Geometry, excluded: &Excluded<'_>) -> Batch {
        let mut batch = Batch::default();
        let flat = self.dimensions == Dimensions::Two;
        let edge = self.edge();
        let corner = DVec3::from_array(brick.map(|i| i as f64 * edge));
        let mut center = corner + 0.5 * edge;
        if flat {
            center.z = 0.0;
        }
        // The margin covers rounding of the coordinates.
        let reach = (edge * 0.8661) as f32 * 1.001 + 1e-6 * center.as_vec3().abs().max_element();
        let distance = shape.distance(center.as_vec3());
        if distance > reach {
            return batch;
        }
        let all_inside = distance < -reach;
        let local = brick.map(|i| i.rem_euclid(self.per_period) as usize);
        let period = brick.map(|i| i.div_euclid(self.per_period) as f64);
        let n = self.per_period as usize;
        let index = local[0] + n * (local[1] + n * if flat { 0 } else { local[2] });
        for (u, radius) in &self.points[index] {
            let mut p = ((DVec3::from_array(period) + *u) * self.period).as_vec3();
            if flat {
                p.z = 0.0;
            }
            if all_inside || shape.distance(p) < 0.0 {
                batch.inside += 1;
                if !excluded(p, *radius) {
                    batch.kept.push((p, *radius));
                }
            }
        }
        batch
    }
}
