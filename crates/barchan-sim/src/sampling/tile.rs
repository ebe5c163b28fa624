//! A periodic Poisson-disk point set that tiles space.
//!
//! Darts are thrown into the free cells of a background grid; cells that are covered are dropped and the others halved,
//! until none is free: the set is maximal, so that every position lies within the radius of some point.

use super::packing;
use super::random::Random;
use crate::neighbors::cells_between;
use barchan_scene::Dimensions;
use glam::{IVec3, Vec3};
use std::sync::{Arc, Mutex};

/// Sub-blocks along an axis into which points are grouped, so that a shape can be tested block by block.
pub(super) const BLOCKS: usize = 4;

/// Points in the unit cube (2D: the unit square, z = 0) with periodic borders.
#[derive(Debug)]
pub(super) struct Tile {
    /// By sub-block, x fastest: points and their radii, in mean radii; all 1 where points have no size.
    pub blocks: Vec<Vec<(Vec3, f32)>>,
}

impl Tile {
    /// The tile of a seed, cached: Poisson-disk points or, with a spread of radii, packed spheres.
    pub fn cached(dimensions: Dimensions, seed: u64, spread: Option<f64>) -> Arc<Self> {
        type Key = (Dimensions, u64, Option<u64>);
        static TILES: Mutex<Vec<(Key, Arc<Tile>)>> = Mutex::new(Vec::new());
        // Tiles are a pure function of the key: the list is valid even if another thread has panicked.
        let mut tiles = TILES.lock().unwrap_or_else(|e| e.into_inner());
        let key = (dimensions, seed, spread.map(f64::to_bits));
        if let Some((_, tile)) = tiles.iter().find(|t| t.0 == key) {
            return Arc::clone(tile);
        }
        let tile = Arc::new(match spread {
            None => Self::new(dimensions, seed),
            Some(spread) => packing::tile(dimensions, seed, spread as f32),
        });
        tiles.truncate(7);
        tiles.insert(0, (key, Arc::clone(&tile)));
        tile
    }

    /// Edge of the tile in radii: no two points are closer than 1/side, across the borders too. Gives about 16,000 points
    /// in space, 7,000 in the plane.
    pub fn side(dimensions: Dimensions) -> f32 {
        match dimensions {
            Dimensions::Two => 100.0,
            Dimensions::Three => 28.0,
        }
    }

    fn new(dimensions: Dimensions, seed: u64) -> Self {
        let side = Self::side(dimensions);
        let points = Darts::new(dimensions, side, seed).throw();
        Self::grouped(dimensions, points.into_iter().map(|p| (p / side, 1.0)))
    }

    /// Points in the unit cube with their radii, grouped by sub-block.
    pub fn grouped(dimensions: Dimensions, points: impl Iterator<Item = (Vec3, f32)>) -> Self {
        let mut blocks = vec![Vec::new(); BLOCKS.pow(dimensions.count() as u32)];
        for (u, radius) in points {
            let b = (u * BLOCKS as f32)
                .as_ivec3()
                .clamp(IVec3::ZERO, IVec3::splat(BLOCKS as i32 - 1));
            let index = b.x as usize + BLOCKS * (b.y as usize + BLOCKS * b.z as usize);
            blocks[index].push((u, radius));
        }
        Self { blocks }
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.blocks.iter().map(Vec::len).sum()
    }
}

/// Marks an empty cell: a point out of reach of all others.
const NOWHERE: Vec3 = Vec3::splat(1e9);
/// Layers of cells around the box that repeat the opposite side: a disk reaches two cells far.
const GHOSTS: i32 = 2;

/// Dart throwing in a periodic box of edge `side` with disks of radius 1.
struct Darts {
    dimensions: usize,
    side: f32,
    /// Cells along an axis, small enough to hold at most one point each.
    cells: i32,
    cell: f32,
    /// The point in each cell or [`NOWHERE`], ghosts included.
    grid: Vec<Vec3>,
    /// Cells that a disk may reach from one, as differences of index, nearest first.
    neighbors: Vec<isize>,
    points: Vec<Vec3>,
    random: Random,
}

impl Darts {
    fn new(dimensions: Dimensions, side: f32, seed: u64) -> Self {
        let dimensions = dimensions.count();
        // The diagonal of a cell is just under 1.
        let cells = (side * (dimensions as f32).sqrt() * 1.0001).ceil() as i32;
        let mut darts = Self {
            dimensions,
            side,
            cells,
            cell: side / cells as f32,
            grid: vec![NOWHERE; ((cells + 2 * GHOSTS) as usize).pow(dimensions as u32)],
            neighbors: Vec::new(),
            points: Vec::new(),
            random: Random::new(seed ^ dimensions as u64),
        };
        let reach = GHOSTS * darts.layer();
        let mut offsets: Vec<IVec3> = cells_between(-reach, reach).collect();
        offsets.sort_by_key(|c| c.length_squared());
        let origin = darts.index(IVec3::ZERO) as isize;
        let differences = offsets.iter().map(|c| darts.index(*c) as isize - origin);
        darts.neighbors = differences.collect();
        darts
    }

    /// One cell along each axis of the space, in 2D without z.
    fn layer(&self) -> IVec3 {
        IVec3::new(1, 1, i32::from(self.dimensions == 3))
    }

    fn throw(mut self) -> Vec<Vec3> {
        let mut size = self.cell;
        let last = (self.cells - 1) * self.layer();
        let mut free: Vec<Vec3> = cells_between(IVec3::ZERO, last)
            .map(|c| c.as_vec3() * self.cell)
            .collect();
        // Every level halves the cells; cells that are still free after twenty levels are smaller than rounding.
        for _ in 0..20 {
            for _ in 0..free.len() {
                let pick = self.random.below(free.len());
                let dart = self.dart(free[pick], size);
                if !self.any_within(dart, 1.0) {
                    self.keep(dart);
                    free.swap_remove(pick);
                }
            }
            size *= 0.5;
            free = self.subdivide(&free, size);
            if free.is_empty() {
                break;
            }
        }
        self.points
    }

    fn dart(&mut self, corner: Vec3, size: f32) -> Vec3 {
        let mut dart = corner;
        for axis in 0..self.dimensions {
            dart[axis] += size * self.random.unit();
            if dart[axis] >= self.side {
                dart[axis] -= self.side;
            }
        }
        dart
    }

    /// Adds a point and its images in the ghost cells.
    fn keep(&mut self, p: Vec3) {
        self.points.push(p);
        let cell = self.cell_of(p);
        for shift in cells_between(-self.layer(), self.layer()) {
            let image = cell + self.cells * shift;
            let inside = |i: i32| (-GHOSTS..self.cells + GHOSTS).contains(&i);
            if image.to_array().into_iter().all(inside) {
                let index = self.index(image);
                self.grid[index] = p + self.side * shift.as_vec3();
            }
        }
    }

    /// The halves of the free cells that no disk covers.
    fn subdivide(&self, free: &[Vec3], size: f32) -> Vec<Vec3> {
        let half = 0.5 * size;
        // Covered when one disk holds the ball around the child.
        let reach = 1.0 - half * (self.dimensions as f32).sqrt();
        let mut out = Vec::new();
        for corner in free {
            for child in cells_between(IVec3::ZERO, self.layer()) {
                let low = *corner + size * child.as_vec3();
                let center = low + half * self.layer().as_vec3();
                if !self.any_within(center, reach) {
                    out.push(low);
                }
            }
        }
        out
    }

    /// Whether a point lies closer than `reach` ≤ 1.
    fn any_within(&self, p: Vec3, reach: f32) -> bool {
        let center = self.index(self.cell_of(p));
        self.neighbors.iter().any(|offset| {
            let q = self.grid[center.wrapping_add_signed(*offset)];
            q.distance_squared(p) < reach * reach
        })
    }

    fn cell_of(&self, p: Vec3) -> IVec3 {
        (p / self.cell).as_ivec3().min(IVec3::splat(self.cells - 1))
    }

    fn index(&self, cell: IVec3) -> usize {
        let n = self.cells + 2 * GHOSTS;
        let cell = cell + GHOSTS * self.layer();
        (cell.x + n * (cell.y + n * cell.z)) as usize
    }
}
