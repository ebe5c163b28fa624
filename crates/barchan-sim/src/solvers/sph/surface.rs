//! Boundary particles of a body: points below its surface with the volume that each stands for, Eq. 16.
//!
//! They are made where particles come near and kept in the body's frame, so a floor without end costs what lies under
//! the sand.

use super::kernel::Kernel;
use barchan_scene::{Bounds, Dimensions, Geometry};
use glam::{IVec3, Vec3};
use rayon::prelude::*;
use std::collections::HashMap;

/// Edge of a tile, which is sampled as a whole [spacings].
const TILE: f32 = 8.0;

/// A boundary particle, in the body's frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundaryPoint {
    /// Place [m].
    pub position: Vec3,
    /// V_b = 1/Σ W_bk over the boundary particles of the body [m³].
    pub volume: f32,
}

/// The boundary particles of a body.
#[derive(Debug, Default)]
pub struct Surface {
    tiles: HashMap<IVec3, Vec<BoundaryPoint>>,
    /// Those in reach of a particle in the cell.
    cells: HashMap<IVec3, Vec<BoundaryPoint>>,
}

/// How bodies are sampled.
#[derive(Debug, Clone, Copy)]
pub struct Sampling {
    /// Distance of particles [m].
    pub spacing: f32,
    /// Kernel of the simulation.
    pub kernel: Kernel,
    /// Dimensions.
    pub dimensions: Dimensions,
    /// Depth of the boundary particles below the surface [m].
    pub depth: f32,
    /// How many times their volume boundary particles count.
    pub weight: f32,
}

impl Sampling {
    /// Boundary particles as in [Ihmsen13]: a particle at rest touches the surface with its own radius where the layer is
    /// about 1.1 spacings away.
    pub fn plain(spacing: f32, kernel: Kernel, dimensions: Dimensions) -> Self {
        Self {
            spacing,
            kernel,
            dimensions,
            depth: 0.6 * spacing,
            weight: 1.0,
        }
    }

    /// Boundary particles that hold the lowest layer of a lattice where it is and press it as the next layer does.
    ///
    /// Differs from [Ihmsen13] Eq. 16: a single layer of boundary particles changes too slowly with distance to answer two
    /// pressures with one, and the layer at a body would carry several times that of the next. Deeper down, where the
    /// kernel falls faster, and counted more often, it does both: at 1.45 spacings its sum has twice the slope that a layer
    /// of sand has at one.
    pub fn firm(spacing: f32, kernel: Kernel, dimensions: Dimensions) -> Self {
        Self {
            spacing,
            kernel,
            dimensions,
            depth: 0.95 * spacing,
            weight: match dimensions {
                Dimensions::Three => 5.85,
                Dimensions::Two => 4.8,
            },
        }
    }

    /// The cell of a place in the body's frame.
    pub fn cell_of(&self, p: Vec3) -> IVec3 {
        (p / self.kernel.support).floor().as_ivec3()
    }

    fn tile_of(&self, p: Vec3) -> IVec3 {
        (p / (TILE * self.spacing)).floor().as_ivec3()
    }

    /// What a particle in that cell can reach.
    fn reach_of(&self, cell: IVec3) -> Bounds {
        let low = cell.as_vec3() * self.kernel.support;
        Bounds {
            min: low - self.kernel.support,
            max: low + 2.0 * self.kernel.support,
        }
    }

    fn sample(&self, geometry: &Geometry, tile: IVec3) -> Vec<BoundaryPoint> {
        let low = tile.as_vec3() * (TILE * self.spacing);
        let own = Bounds {
            min: low,
            max: low + TILE * self.spacing,
        };
        let around = own.expand(self.kernel.support);
        let all = geometry.boundary_points(self.spacing, self.depth, &around, self.dimensions);
        let volume = |p: &Vec3| {
            let near = all.iter().map(|q| self.kernel.value(q.distance(*p)));
            1.0 / near.sum::<f32>()
        };
        let inside = |p: &&Vec3| self.tile_of(**p) == tile;
        let point = |p: &Vec3| BoundaryPoint {
            position: *p,
            volume: volume(p),
        };
        all.iter().filter(inside).map(point).collect()
    }
}

impl Surface {
    /// Boundary particles that a particle in the cell can reach, and some that it cannot; `None` where nobody has looked.
    pub fn near(&self, cell: &IVec3) -> Option<&[BoundaryPoint]> {
        self.cells.get(cell).map(Vec::as_slice)
    }

    /// Samples the body about cells. What comes out does not depend on what was sampled before.
    pub fn grow(&mut self, sampling: &Sampling, geometry: &Geometry, mut cells: Vec<IVec3>) {
        cells.sort_by_key(|c| c.to_array());
        cells.dedup();
        let mut missing: Vec<IVec3> = (cells.iter())
            .flat_map(|cell| tiles_of(sampling, *cell))
            .filter(|tile| !self.tiles.contains_key(tile))
            .collect();
        missing.sort_by_key(|t| t.to_array());
        missing.dedup();
        let sampled = missing
            .par_iter()
            .map(|tile| (*tile, sampling.sample(geometry, *tile)));
        let sampled: Vec<_> = sampled.collect();
        self.tiles.extend(sampled);
        let tiles = &self.tiles;
        let gather = |cell: &IVec3| {
            let reach = sampling.reach_of(*cell);
            let points = tiles_of(sampling, *cell)
                .filter_map(|tile| tiles.get(&tile))
                .flatten();
            let near = points.filter(|b| reach.contains(b.position));
            (*cell, near.copied().collect())
        };
        let gathered: Vec<_> = cells.par_iter().map(gather).collect();
        self.cells.extend(gathered);
    }
}

fn tiles_of(sampling: &Sampling, cell: IVec3) -> impl Iterator<Item = IVec3> {
    let reach = sampling.reach_of(cell);
    let (low, high) = (sampling.tile_of(reach.min), sampling.tile_of(reach.max));
    (low.z..=high.z).flat_map(move |z| {
        (low.y..=high.y).flat_map(move |y| (low.x..=high.x).map(move |x| IVec3::new(x, y, z)))
    })
}
