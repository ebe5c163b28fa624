//! A periodic random packing of spheres (disks in 2D) that tiles space: a bed of grains at rest.
//!
//! Spheres start at random positions and are pushed apart until overlaps are negligible. The packing is a little looser than
//! random close packing, so this converges.

use super::random::Random;
use super::tile::Tile;
use crate::neighbors::cells_between;
use crate::neighbors::linked_cells::LinkedCells;
use barchan_scene::Dimensions;
use glam::{IVec3, Vec3};

/// Solid fraction of a fill: bulk density over grain density (2D: area fraction).
pub fn solid_fraction(dimensions: Dimensions) -> f64 {
    match dimensions {
        Dimensions::Three => 0.6,
        Dimensions::Two => 0.8,
    }
}

/// Volume of a grain of that radius [m³]; in 2D of a rod 1 m long.
pub fn grain_volume(radius: f64, dimensions: Dimensions) -> f64 {
    use std::f64::consts::PI;
    match dimensions {
        Dimensions::Three => 4.0 / 3.0 * PI * radius.powi(3),
        Dimensions::Two => PI * radius * radius,
    }
}

/// Spheres in the tile.
const COUNT: usize = 4096;
/// Tolerated overlap [mean diameters].
const OVERLAP: f32 = 0.01;
/// Maximum number of passes.
const PASSES: usize = 2000;
/// Relaxation factor: fraction of its half of an overlap that a sphere moves in a pass.
const PUSH: f32 = 0.9;

/// The tile of a seed, with radii of mean 1 and a given spread.
pub(super) fn tile(dimensions: Dimensions, seed: u64, spread: f32) -> Tile {
    let mut packing = Packing::random(dimensions, seed, spread);
    for _ in 0..PASSES {
        if packing.push_apart() < 2.0 * OVERLAP {
            break;
        }
    }
    let side = packing.side;
    let points = packing.points.into_iter().map(move |p| p / side);
    Tile::grouped(dimensions, points.zip(packing.radii))
}

struct Packing {
    /// Edge of the periodic box.
    side: f32,
    points: Vec<Vec3>,
    radii: Vec<f32>,
    /// Cells along each axis, each at least as wide as the largest sphere; one layer in 2D.
    size: IVec3,
    cells: LinkedCells,
}

impl Packing {
    fn random(dimensions: Dimensions, seed: u64, spread: f32) -> Self {
        let mut random = Random::new(seed ^ 0x9ac4);
        let flat = dimensions == Dimensions::Two;
        // Equally spaced radii in random order: their mean volume is exact.
        let even = |k: usize| 1.0 - spread + 2.0 * spread * (k as f32 + 0.5) / COUNT as f32;
        let mut radii: Vec<f32> = (0..COUNT).map(even).collect();
        for k in (1..COUNT).rev() {
            radii.swap(k, random.below(k + 1));
        }
        let volume = |r: &f32| grain_volume(f64::from(*r), dimensions);
        let solid: f64 = radii.iter().map(volume).sum();
        let volume = solid / solid_fraction(dimensions);
        let side = volume.powf(1.0 / dimensions.count() as f64) as f32;
        let cells = (side / (2.0 * (1.0 + spread))).floor().max(1.0) as i32;
        let mut place = || side * random.unit();
        let points = (0..COUNT)
            .map(|_| Vec3::new(place(), place(), if flat { 0.0 } else { place() }))
            .collect();
        let size = IVec3::new(cells, cells, if flat { 1 } else { cells });
        Self {
            side,
            points,
            radii,
            size,
            cells: LinkedCells::default(),
        }
    }

    /// Moves every sphere by its share of all overlaps; returns the largest overlap before.
    fn push_apart(&mut self) -> f32 {
        self.list_cells();
        let mut worst = 0.0f32;
        let mut moves = vec![Vec3::ZERO; COUNT];
        for i in 0..COUNT {
            self.for_neighbors(i, |j| {
                let apart = self.nearest_image(self.points[i] - self.points[j]);
                let distance = apart.length();
                let overlap = self.radii[i] + self.radii[j] - distance;
                if overlap > 0.0 {
                    worst = worst.max(overlap);
                    let away = match distance > 1e-6 {
                        true => apart / distance,
                        false if i < j => Vec3::X,
                        false => Vec3::NEG_X,
                    };
                    moves[i] += 0.5 * PUSH * overlap * away;
                }
            });
        }
        for (p, step) in self.points.iter_mut().zip(moves) {
            let moved = *p + step;
            *p = moved - self.side * (moved / self.side).floor();
            // Rounding may give the far end itself.
            *p = p.min(Vec3::splat(self.side * (1.0 - f32::EPSILON)));
        }
        worst
    }

    fn list_cells(&mut self) {
        let mut cells = std::mem::take(&mut self.cells);
        cells.fill(self.size, self.points.iter().map(|p| self.cell_of(*p)));
        self.cells = cells;
    }

    fn for_neighbors(&self, i: usize, mut visit: impl FnMut(usize)) {
        let center = self.cell_of(self.points[i]);
        let reach = (self.size - 1).min(IVec3::ONE);
        cells_between(-reach, reach).for_each(|step| {
            let others = self.cells.cell((center + step).rem_euclid(self.size));
            others.filter(|j| *j != i).for_each(&mut visit);
        });
    }

    fn cell_of(&self, p: Vec3) -> IVec3 {
        let cell = (p * (self.size.x as f32 / self.side)).as_ivec3();
        cell.clamp(IVec3::ZERO, self.size - 1)
    }

    /// Minimum image of a displacement.
    fn nearest_image(&self, d: Vec3) -> Vec3 {
        let half = 0.5 * self.side;
        let wrap = |c: f32| match c {
            c if c > half => c - self.side,
            c if c < -half => c + self.side,
            c => c,
        };
        Vec3::new(wrap(d.x), wrap(d.y), wrap(d.z))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packings_have_the_solid_fraction_and_negligible_overlaps() {
        for dimensions in [Dimensions::Three, Dimensions::Two] {
            for spread in [0.0, 0.15, 0.5] {
                let mut packing = Packing::random(dimensions, 1, spread);
                let at_random = packing.push_apart();
                // Negative control: random positions overlap deeply.
                assert!(at_random > 1.0, "{at_random}");
                let mut passes = 1;
                while packing.push_apart() > 2.0 * OVERLAP && passes < PASSES {
                    passes += 1;
                }
                assert!(passes < PASSES, "{dimensions:?}, spread {spread}");
                let volume = packing.side.powi(dimensions.count() as i32);
                let solid: f64 = (packing.radii.iter())
                    .map(|r| grain_volume(f64::from(*r), dimensions))
                    .sum();
                let part = solid / f64::from(volume);
                let wanted = solid_fraction(dimensions);
                assert!((part - wanted).abs() < 1e-4, "{part}");
            }
        }
    }
}
