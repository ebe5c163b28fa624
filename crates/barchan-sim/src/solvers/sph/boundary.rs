//! Boundary particles of a body: points below its surface with the volume of each, Eq. 16.
//!
//! They are sampled where particles come near and stored in the body's frame, so an infinite floor costs only the part under
//! the sand.

use super::kernel::Kernel;
use crate::neighbors::cells_between;
use barchan_scene::{Bounds, Dimensions, Geometry, SphWalls};
use glam::{IVec3, Vec3};
use rayon::prelude::*;
use std::collections::HashMap;

/// Edge of a tile, the unit of sampling [spacings].
const TILE: f32 = 8.0;

/// A boundary particle, in the body's frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundaryParticle {
    /// Position [m].
    pub position: Vec3,
    /// V_b = 1/Σ W_bk over the boundary particles of the body [m³].
    pub volume: f32,
}

/// The boundary particles of a body.
#[derive(Debug, Default)]
pub struct BoundaryParticles {
    tiles: HashMap<IVec3, Vec<BoundaryParticle>>,
    /// Boundary particles within the support of any point of each cell.
    cells: HashMap<IVec3, Vec<BoundaryParticle>>,
}

/// Parameters of the sampling of bodies.
#[derive(Debug, Clone, Copy)]
pub struct Sampling {
    /// Spacing of the particles [m].
    pub spacing: f32,
    /// Kernel of the simulation.
    pub kernel: Kernel,
    /// Dimensions.
    pub dimensions: Dimensions,
    /// Depth of the boundary particles below the surface [m].
    pub depth: f32,
    /// Factor of the volume of boundary particles.
    pub weight: f32,
}

impl Sampling {
    /// Sampling for a model of wall friction. For the viscous one as in [Ihmsen13]: a particle that
    /// rests on the surface is about 1.1 spacings from the layer.
    ///
    /// Differs from [Ihmsen13] Eq. 16 for Coulomb friction: one layer varies too slowly with
    /// distance to balance the pressures of two layers of sand, and the lowest layer would carry
    /// several times the pressure of the next. A deeper layer, where the kernel is steeper, with a
    /// larger weight balances them: 1.45 spacings away its sum has twice the slope of a layer of
    /// sand.
    pub fn new(spacing: f32, kernel: Kernel, dimensions: Dimensions, walls: SphWalls) -> Self {
        let (depth, weight) = match (walls, dimensions) {
            (SphWalls::Viscous, _) => (0.6, 1.0),
            (SphWalls::Coulomb, Dimensions::Three) => (0.95, 5.85),
            (SphWalls::Coulomb, Dimensions::Two) => (0.95, 4.8),
        };
        Self {
            spacing,
            kernel,
            dimensions,
            depth: depth * spacing,
            weight,
        }
    }

    /// The cell of a point in the body's frame.
    pub fn cell_of(&self, p: Vec3) -> IVec3 {
        (p / self.kernel.support).floor().as_ivec3()
    }

    fn tile_of(&self, p: Vec3) -> IVec3 {
        (p / (TILE * self.spacing)).floor().as_ivec3()
    }

    /// Points within the support of any point of the cell.
    fn reach_of(&self, cell: IVec3) -> Bounds {
        let low = cell.as_vec3() * self.kernel.support;
        Bounds {
            min: low - self.kernel.support,
            max: low + 2.0 * self.kernel.support,
        }
    }

    fn sample(&self, geometry: &Geometry, tile: IVec3) -> Vec<BoundaryParticle> {
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
        let point = |p: &Vec3| BoundaryParticle {
            position: *p,
            volume: volume(p),
        };
        all.iter().filter(inside).map(point).collect()
    }
}

impl BoundaryParticles {
    /// All boundary particles within the support of a point in the cell, and others close by; `None` if not sampled yet.
    pub fn near(&self, cell: &IVec3) -> Option<&[BoundaryParticle]> {
        self.cells.get(cell).map(Vec::as_slice)
    }

    /// Samples the body around cells. The result does not depend on what was sampled before.
    pub fn sample_around(
        &mut self,
        sampling: &Sampling,
        geometry: &Geometry,
        mut cells: Vec<IVec3>,
    ) {
        sort_and_dedup(&mut cells);
        let mut missing: Vec<IVec3> = (cells.iter())
            .flat_map(|cell| tiles_of(sampling, *cell))
            .filter(|tile| !self.tiles.contains_key(tile))
            .collect();
        sort_and_dedup(&mut missing);
        let sample = |tile: &IVec3| (*tile, sampling.sample(geometry, *tile));
        let sampled: Vec<_> = missing.par_iter().map(sample).collect();
        self.tiles.extend(sampled);
        let tiles = &self.tiles;
        let gather = |cell: &IVec3| {
            let reach = sampling.reach_of(*cell);
            let tiles = tiles_of(sampling, *cell).filter_map(|tile| tiles.get(&tile));
            let near = tiles.flatten().filter(|b| reach.contains(b.position));
            (*cell, near.copied().collect())
        };
        let gathered: Vec<_> = cells.par_iter().map(gather).collect();
        self.cells.extend(gathered);
    }
}

fn sort_and_dedup(cells: &mut Vec<IVec3>) {
    cells.sort_by_key(|c| c.to_array());
    cells.dedup();
}

/// Tiles with boundary particles in reach of a cell.
fn tiles_of(sampling: &Sampling, cell: IVec3) -> impl Iterator<Item = IVec3> {
    let reach = sampling.reach_of(cell);
    cells_between(sampling.tile_of(reach.min), sampling.tile_of(reach.max))
}
