//! Filled cells, and the deposit that they form.

/// Particle data of the grid.
pub(super) struct Grain {
    /// Position [m].
    pub position: [f64; 3],
    /// Mass [kg].
    pub mass: f64,
    /// Volume at rest [m³].
    pub volume: f64,
}

/// Largest cell index; cells there also contain all particles beyond.
const FARTHEST: f64 = 1e12;

/// Fill from which a cell counts as filled.
const FILLED: f64 = 0.5;

/// Column index along x and z, then level along y: sorted cells of a column are consecutive, from the bottom up.
type Key = [i64; 3];

struct Cell {
    key: Key,
    /// Fill: rest volume of the particles over the volume of the cell.
    fill: f64,
    mass: f64,
    /// The particles, as a range of [`Grid::grains`].
    grains: std::ops::Range<usize>,
}

/// Particles sorted into cells.
pub(super) struct Grid {
    dx: f64,
    flat: bool,
    grains: Vec<Grain>,
    /// Occupied cells, sorted by key.
    cells: Vec<Cell>,
}

impl Grid {
    /// Sorts particles into cells of size `dx` [m], squares of 1 m depth when `flat`.
    pub fn new(grains: impl Iterator<Item = Grain>, dx: f64, flat: bool) -> Self {
        let index = |x: f64| (x / dx).floor().clamp(-FARTHEST, FARTHEST) as i64;
        let key = |p: [f64; 3]| [index(p[0]), if flat { 0 } else { index(p[2]) }, index(p[1])];
        let mut keyed: Vec<(Key, Grain)> = grains.map(|g| (key(g.position), g)).collect();
        // Stable: sums have the same order every time.
        keyed.sort_by_key(|(key, _)| *key);
        let mut grid = Self {
            dx,
            flat,
            grains: Vec::with_capacity(keyed.len()),
            cells: Vec::new(),
        };
        let cell_volume = grid.cell_volume();
        for (key, grain) in keyed {
            let i = grid.grains.len();
            if grid.cells.last().is_none_or(|cell| cell.key != key) {
                grid.cells.push(Cell {
                    key,
                    fill: 0.0,
                    mass: 0.0,
                    grains: i..i,
                });
            }
            if let Some(cell) = grid.cells.last_mut() {
                cell.fill += grain.volume / cell_volume;
                cell.mass += grain.mass;
                cell.grains.end = i + 1;
            }
            grid.grains.push(grain);
        }
        grid
    }

    /// Bulk volume [m³]. An inner cell, below a filled one and with filled cells at all its other faces but one, counts fully, so
    /// that neither scatter nor the floor causes holes. The other filled cells, and the cells that share a face with a filled one,
    /// count by their fill divided by the mean fill of the inner cells.
    pub fn bulk_volume(&self) -> f64 {
        let is_filled = |key: &Key| {
            self.cell(*key)
                .is_some_and(|c| self.cells[c].fill >= FILLED)
        };
        let (mut inner, mut inner_fill, mut outer_fill) = (0.0, 0.0, 0.0);
        for cell in &self.cells {
            let neighbors = self.face_neighbors(cell.key);
            let filled = neighbors.iter().filter(|key| is_filled(key)).count();
            let [i, k, level] = cell.key;
            if filled + 1 >= neighbors.len() && is_filled(&[i, k, level + 1]) {
                inner += 1.0;
                inner_fill += cell.fill;
            } else if cell.fill >= FILLED || filled > 0 {
                outer_fill += cell.fill;
            }
        }
        let mean_fill = if inner_fill > 0.0 {
            inner_fill / inner
        } else {
            1.0
        };
        (inner + outer_fill / mean_fill) * self.cell_volume()
    }

    /// The heaviest connected set of filled cells.
    pub fn deposit(&self) -> Deposit<'_> {
        let filled: Vec<usize> = (0..self.cells.len())
            .filter(|&i| self.cells[i].fill >= FILLED)
            .collect();
        let sets = self.touching_sets(&filled);
        let mut mass = vec![0.0; filled.len()];
        for (i, set) in sets.iter().enumerate() {
            mass[*set] += self.cells[filled[i]].mass;
        }
        let heaviest = (0..mass.len()).reduce(|a, b| if mass[b] > mass[a] { b } else { a });
        let members = (0..filled.len()).filter(|&i| Some(sets[i]) == heaviest);
        Deposit::new(self, members.map(|i| filled[i]).collect())
    }

    /// For each filled cell the number of its set, which is the smallest number of a cell in it.
    fn touching_sets(&self, filled: &[usize]) -> Vec<usize> {
        let mut parents: Vec<usize> = (0..filled.len()).collect();
        for (i, &cell) in filled.iter().enumerate() {
            for key in earlier_neighbors(self.cells[cell].key) {
                if let Ok(j) = filled.binary_search_by_key(&key, |&c| self.cells[c].key) {
                    let (a, b) = (root(&mut parents, i), root(&mut parents, j));
                    parents[a.max(b)] = a.min(b);
                }
            }
        }
        (0..filled.len()).map(|i| root(&mut parents, i)).collect()
    }

    /// Index of an occupied cell.
    fn cell(&self, key: Key) -> Option<usize> {
        self.cells.binary_search_by_key(&key, |c| c.key).ok()
    }

    /// Keys of the cells that share a face with a cell: six, four in 2D.
    fn face_neighbors(&self, [i, k, level]: Key) -> Vec<Key> {
        let mut keys = vec![
            [i - 1, k, level],
            [i + 1, k, level],
            [i, k, level - 1],
            [i, k, level + 1],
        ];
        if !self.flat {
            keys.extend([[i, k - 1, level], [i, k + 1, level]]);
        }
        keys
    }

    fn cell_volume(&self) -> f64 {
        match self.flat {
            true => self.dx * self.dx,
            false => self.dx.powi(3),
        }
    }
}

/// The 13 of the 26 neighbors that precede a cell in the order of keys.
fn earlier_neighbors(key: Key) -> impl Iterator<Item = Key> {
    (0..13_i64).map(move |n| {
        [
            key[0] + n / 9 - 1,
            key[1] + n / 3 % 3 - 1,
            key[2] + n % 3 - 1,
        ]
    })
}

fn root(parents: &mut [usize], mut i: usize) -> usize {
    while parents[i] != i {
        parents[i] = parents[parents[i]];
        i = parents[i];
    }
    i
}

/// Surface of the deposit in one column of cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SurfacePoint {
    /// Index of the column along x.
    pub i: i64,
    /// Index of the column along z.
    pub k: i64,
    /// Center of the column [m].
    pub x: f64,
    /// Center of the column [m]; 0 in 2D.
    pub z: f64,
    /// y of the surface [m].
    pub height: f64,
}

/// The heaviest connected set of filled cells.
pub(super) struct Deposit<'a> {
    grid: &'a Grid,
    /// Its cells, as indices into [`Grid::cells`], sorted.
    members: Vec<usize>,
    /// Its cells, and those with particles that share a face with them.
    surroundings: Vec<usize>,
    /// Its surface, sorted by x, then z.
    surface: Vec<SurfacePoint>,
}

impl<'a> Deposit<'a> {
    fn new(grid: &'a Grid, members: Vec<usize>) -> Self {
        let column = |i: usize| [grid.cells[i].key[0], grid.cells[i].key[1]];
        let mut surface = Vec::new();
        for (n, &member) in members.iter().enumerate() {
            let next = members.get(n + 1);
            if next.is_none_or(|&next| column(next) != column(member)) {
                surface.push(surface_point(grid, member));
            }
        }
        let touching = |&i: &usize| grid.face_neighbors(grid.cells[i].key);
        let touching = members.iter().flat_map(touching);
        let mut surroundings: Vec<usize> = touching.filter_map(|key| grid.cell(key)).collect();
        surroundings.extend(&members);
        surroundings.sort_unstable();
        surroundings.dedup();
        Self {
            grid,
            members,
            surroundings,
            surface,
        }
    }

    /// Cell size [m].
    pub fn dx(&self) -> f64 {
        self.grid.dx
    }

    /// Whether this is a 2D scene.
    pub fn is_flat(&self) -> bool {
        self.grid.flat
    }

    /// Surface by column, sorted by x, then z.
    pub fn surface(&self) -> &[SurfacePoint] {
        &self.surface
    }

    /// Mass [kg].
    pub fn mass(&self) -> f64 {
        let cells = self.surroundings.iter().map(|&i| &self.grid.cells[i]);
        cells.map(|c| c.mass).sum()
    }

    /// Highest y of the surface [m].
    pub fn height(&self) -> Option<f64> {
        self.surface.iter().map(|s| s.height).reduce(f64::max)
    }

    /// y of the bottom of the lowest cell [m].
    pub fn base(&self) -> Option<f64> {
        let levels = self.members.iter().map(|&i| self.grid.cells[i].key[2]);
        levels.min().map(|level| level as f64 * self.grid.dx)
    }

    /// Its particles: those in its cells and in cells that share a face with them.
    pub fn grains(&self) -> impl Iterator<Item = &Grain> {
        let cells = self.surroundings.iter().map(|&i| &self.grid.cells[i]);
        cells.flat_map(|cell| &self.grid.grains[cell.grains.clone()])
    }

    /// Smallest and largest coordinate of its particles along an axis [m].
    pub fn extent(&self, axis: usize) -> Option<[f64; 2]> {
        let coordinates = self.grains().map(|g| [g.position[axis]; 2]);
        coordinates.reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])])
    }
}

/// Surface of a column: the bottom of its top cell plus the fill of that cell and of the cell above it.
fn surface_point(grid: &Grid, top: usize) -> SurfacePoint {
    let cell = &grid.cells[top];
    let [i, k, level] = cell.key;
    let above = grid.cells.get(top + 1);
    let above = above.filter(|above| above.key == [i, k, level + 1]);
    let filled = cell.fill.min(1.0) + above.map_or(0.0, |above| above.fill.min(1.0));
    let center = |index: i64| (index as f64 + 0.5) * grid.dx;
    SurfacePoint {
        i,
        k,
        x: center(i),
        z: if grid.flat { 0.0 } else { center(k) },
        height: (level as f64 + filled) * grid.dx,
    }
}
