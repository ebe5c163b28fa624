//! A periodic Poisson-disk point set that fills space when repeated.
//!
//! Darts are thrown into the free cells of a background grid; cells that are covered are dropped and the others halved,
//! until nothing is free: the set is maximal, every place lies within the radius of some point.

use super::random::Random;
use barchan_scene::Dimensions;
use glam::{IVec3, Vec3};
use std::sync::{Arc, Mutex};

/// Sub-blocks along an axis that points are grouped into, so that a shape can be tested block by block.
pub(super) const BLOCKS: usize = 4;

/// Points in the unit cube (2D: the unit square, z = 0) with periodic borders.
#[derive(Debug)]
pub(super) struct Tile {
    /// Grouped by sub-block, x fastest.
    pub points: Vec<Vec3>,
    /// Where each sub-block begins in `points`, and the end.
    pub starts: Vec<usize>,
}

impl Tile {
    /// The tile of a seed, made once.
    pub fn cached(dimensions: Dimensions, seed: u64) -> Arc<Self> {
        static TILES: Mutex<Vec<(Dimensions, u64, Arc<Tile>)>> = Mutex::new(Vec::new());
        // A pure function of the key: should another thread have panicked meanwhile, the list is still right.
        let mut tiles = TILES.lock().unwrap_or_else(|e| e.into_inner());
        if let Some((_, _, tile)) = tiles.iter().find(|t| (t.0, t.1) == (dimensions, seed)) {
            return Arc::clone(tile);
        }
        let tile = Arc::new(Self::new(dimensions, seed));
        tiles.truncate(7);
        tiles.insert(0, (dimensions, seed, Arc::clone(&tile)));
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
        let mut blocks = vec![Vec::new(); BLOCKS.pow(dimensions.count() as u32)];
        for p in points {
            let u = p / side;
            let b = (u * BLOCKS as f32)
                .as_ivec3()
                .clamp(IVec3::ZERO, IVec3::splat(BLOCKS as i32 - 1));
            let index = b.x as usize + BLOCKS * (b.y as usize + BLOCKS * b.z as usize);
            blocks[index].push(u);
        }
        let mut starts = vec![0];
        starts.extend(blocks.iter().scan(0, |at, b| {
            *at += b.len();
            Some(*at)
        }));
        Self {
            points: blocks.concat(),
            starts,
        }
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.points.len()
    }
}

/// Dart throwing in a periodic box of edge `side` with disks of radius 1.
struct Darts {
    dimensions: usize,
    side: f32,
    /// Cells along an axis; so small that two points never share one.
    cells: i32,
    cell: f32,
    /// The point in each cell, if any.
    grid: Vec<Option<Vec3>>,
    points: Vec<Vec3>,
    random: Random,
}

impl Darts {
    fn new(dimensions: Dimensions, side: f32, seed: u64) -> Self {
        let dimensions = dimensions.count();
        // The diagonal of a cell is just under 1.
        let cells = (side * (dimensions as f32).sqrt() * 1.0001).ceil() as i32;
        Self {
            dimensions,
            side,
            cells,
            cell: side / cells as f32,
            grid: vec![None; (cells as usize).pow(dimensions as u32)],
            points: Vec::new(),
            random: Random::new(seed ^ dimensions as u64),
        }
    }

    fn throw(mut self) -> Vec<Vec3> {
        let mut size = self.cell;
        let mut free: Vec<Vec3> = self.all_cells();
        // Every level halves the cells; what is still free after twenty is smaller than rounding.
        for _ in 0..20 {
            for _ in 0..free.len() {
                if free.is_empty() {
                    break;
                }
                let pick = self.random.below(free.len());
                let dart = self.dart(free[pick], size);
                if self.is_free(dart) {
                    let index = self.index(self.cell_of(dart));
                    self.grid[index] = Some(dart);
                    self.points.push(dart);
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

    fn all_cells(&self) -> Vec<Vec3> {
        let depth = if self.dimensions == 3 { self.cells } else { 1 };
        let row = |k: i32, j: i32| (0..self.cells).map(move |i| IVec3::new(i, j, k));
        (0..depth)
            .flat_map(|k| (0..self.cells).flat_map(move |j| row(k, j)))
            .map(|c| c.as_vec3() * self.cell)
            .collect()
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

    /// The halves of the free cells that no disk covers.
    fn subdivide(&self, free: &[Vec3], size: f32) -> Vec<Vec3> {
        let children = 1u8 << self.dimensions;
        let half = 0.5 * size;
        let radius = half * (self.dimensions as f32).sqrt();
        let mut out = Vec::new();
        for corner in free {
            for child in 0..children {
                let offset = Vec3::new(
                    f32::from(child & 1),
                    f32::from(child >> 1 & 1),
                    f32::from(child >> 2 & 1),
                );
                let low = *corner + size * offset;
                let mut centre = low + half;
                if self.dimensions == 2 {
                    centre.z = 0.0;
                }
                // Covered when one disk holds the ball around the child.
                let reach = 1.0 - radius;
                if reach <= 0.0 || !self.any_within(centre, reach) {
                    out.push(low);
                }
            }
        }
        out
    }

    fn is_free(&self, p: Vec3) -> bool {
        !self.any_within(p, 1.0)
    }

    /// Whether a point lies closer than `reach` ≤ 1.
    fn any_within(&self, p: Vec3, reach: f32) -> bool {
        let centre = self.cell_of(p);
        let depth = if self.dimensions == 3 { 2 } else { 0 };
        for k in -depth..=depth {
            for j in -2..=2 {
                for i in -2..=2 {
                    let at = self.index(centre + IVec3::new(i, j, k));
                    if let Some(q) = self.grid[at]
                        && self.separation(p, q) < reach
                    {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Distance in the periodic box.
    fn separation(&self, p: Vec3, q: Vec3) -> f32 {
        let d = (p - q).abs();
        d.min(self.side - d).length()
    }

    fn cell_of(&self, p: Vec3) -> IVec3 {
        (p / self.cell).as_ivec3()
    }

    fn index(&self, cell: IVec3) -> usize {
        let n = self.cells;
        let wrap = |i: i32| {
            (if i < 0 {
                i + n
            } else if i >= n {
                i - n
            } else {
                i
            }) as usize
        };
        let (i, j) = (wrap(cell.x), wrap(cell.y));
        let k = if self.dimensions == 3 {
            wrap(cell.z)
        } else {
            0
        };
        i + n as usize * (j + n as usize * k)
    }
}
