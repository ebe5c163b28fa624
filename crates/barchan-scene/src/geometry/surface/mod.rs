//! Triangles of the zero level, by dual contouring: one vertex in each cell that the surface passes, placed where the
//! tangent planes at the crossings of the cell's edges meet, and a quadrilateral around each crossed edge of the grid.
//! Edges and corners come out sharp.

mod qef;
#[cfg(test)]
mod tests;

use super::{Bounds, Geometry, Shape};
use crate::mesh::TriangleMesh;
use glam::{IVec3, Vec3};
use qef::Cell;
use std::collections::HashMap;

/// Maximum number of cells along an edge of the grid.
const MOST_CELLS: u32 = 512;
/// Cells along an edge of the blocks whose node values are stored together while they are processed.
const BLOCK: i32 = 8;
/// Factor by which a distance may be too large, as for sampled meshes.
const SLACK: f32 = 1.1;
/// Depth below the crossing at which normals are evaluated, as a fraction of the smallest spacing: at the crossing they
/// would be sensitive to rounding.
const INSET: f32 = 0.01;

impl Geometry {
    /// Triangles of the surface, counter-clockwise seen from outside.
    ///
    /// What lies outside `within` is cut off, and the cut is closed by a flat face: the mesh of a half space in a box is
    /// watertight like any other. The longest edge of what remains has at most `cells` cells (at least 2, at most 512);
    /// features thinner than a cell may be lost, except for shapes that are no more than that thin along an axis.
    /// Without vertices when nothing remains, or when it is infinite.
    pub fn surface(&self, within: &Bounds, cells: u32) -> TriangleMesh {
        let bounds = self.bounds();
        let cut = within.intersect(&bounds);
        let unusable = within.is_empty() || cut.is_empty() || !cut.is_finite();
        if unusable {
            return TriangleMesh::default();
        }
        if cut != bounds {
            let window = Self::cuboid(cut.min, cut.max);
            let rest = Self::intersection(vec![self.clone(), window]);
            return contour(&rest, cells, true);
        }
        match &self.0.shape {
            // The grid fits a shape best in its own frame.
            Shape::Transformed { inner, placement } if inner.bounds().is_finite() => {
                let mut mesh = inner.surface(&inner.bounds(), cells);
                for v in &mut mesh.vertices {
                    *v = placement.place(*v);
                }
                mesh
            }
            _ => contour(self, cells, true),
        }
    }

    /// Point on the plane [m] and outward unit normal, where the shape is a half space, transformed or not.
    pub fn as_half_space(&self) -> Option<(Vec3, Vec3)> {
        match &self.0.shape {
            Shape::HalfSpace { point, normal } => Some((*point, *normal)),
            Shape::Transformed { inner, placement } => inner
                .as_half_space()
                .map(|(point, normal)| (placement.place(point), placement.rotation * normal)),
            _ => None,
        }
    }
}

/// The surface of a bounded shape. Without `sharp`, vertices are the means of the crossings: edges are cut off.
fn contour(shape: &Geometry, cells: u32, sharp: bool) -> TriangleMesh {
    let Some(grid) = Grid::new(shape.bounds(), cells) else {
        return TriangleMesh::default();
    };
    let mut crossings = Vec::new();
    let reach = grid.cells.max_element() as u32;
    let size = (reach.next_power_of_two() as i32).max(BLOCK);
    visit(shape, &grid, IVec3::ZERO, size, &mut crossings);

    let mut indices: HashMap<IVec3, u32> = HashMap::new();
    let mut active: Vec<(IVec3, Cell)> = Vec::new();
    let mut quads: Vec<[u32; 4]> = Vec::with_capacity(crossings.len());
    for crossing in &crossings {
        let Some(around) = grid.cells_around(crossing) else {
            continue;
        };
        quads.push(around.map(|cell| {
            let index = *indices.entry(cell).or_insert_with(|| {
                active.push((cell, Cell::new(grid.point(cell.as_vec3() + 0.5))));
                active.len() as u32 - 1
            });
            active[index as usize]
                .1
                .add(crossing.point, crossing.normal);
            index
        }));
    }
    let vertices: Vec<Vec3> = active
        .iter()
        .map(|(index, cell)| place(shape, &grid, *index, cell, sharp))
        .collect();
    let mut triangles = Vec::with_capacity(2 * quads.len());
    for [a, b, c, d] in quads {
        let off = |i: u32, j: u32| {
            let middle = 0.5 * (vertices[i as usize] + vertices[j as usize]);
            shape.distance(middle).abs()
        };
        // The diagonal that stays on the surface runs along an edge, not across it.
        triangles.extend(if off(a, c) <= off(b, d) {
            [[a, b, c], [a, c, d]]
        } else {
            [[a, b, d], [b, c, d]]
        });
    }
    TriangleMesh {
        vertices,
        triangles,
    }
}

/// The vertex of a cell [m].
fn place(shape: &Geometry, grid: &Grid, index: IVec3, cell: &Cell, sharp: bool) -> Vec3 {
    if !sharp {
        return cell.mass_point();
    }
    let low = grid.point(index.as_vec3());
    let clamped = |p: Vec3| p.clamp(low, low + grid.spacing);
    let mut p = clamped(cell.feature());
    // Tangent planes of curved surfaces intersect beside the surface.
    for _ in 0..8 {
        let d = shape.distance(p);
        let next = clamped(p - d * shape.normal(p));
        if d.abs() <= 1e-4 * grid.spacing.min_element() || !next.is_finite() {
            break;
        }
        p = next;
    }
    p
}

/// A regular grid with a spacing of its own for each axis. The faces of the bounds lie in the middle of its outer cells,
/// so that no face of a box falls on nodes.
struct Grid {
    origin: Vec3,
    spacing: Vec3,
    cells: IVec3,
}

/// An edge of the grid that passes the surface.
struct Crossing {
    /// Lower node.
    node: IVec3,
    axis: usize,
    /// Whether the lower node lies inside.
    outward: bool,
    point: Vec3,
    normal: Vec3,
}

impl Grid {
    /// `None` for bounds without volume.
    fn new(bounds: Bounds, cells: u32) -> Option<Self> {
        let size = bounds.size();
        let usable = bounds.is_finite() && size.is_finite() && size.min_element() > 0.0;
        if !usable {
            return None;
        }
        let most = (cells.clamp(2, MOST_CELLS) - 1) as f32;
        let inner = (size / size.max_element() * most)
            .round()
            .max(Vec3::ONE)
            .min(Vec3::splat(most));
        let spacing = size / inner;
        Some(Self {
            origin: bounds.min - 0.5 * spacing,
            spacing,
            cells: inner.as_ivec3() + 1,
        })
    }

    /// A point given in cells.
    fn point(&self, q: Vec3) -> Vec3 {
        self.origin + self.spacing * q
    }

    fn node(&self, node: IVec3) -> Vec3 {
        self.point(node.as_vec3())
    }

    /// The four cells around an edge, counter-clockwise seen from the side that is outside; `None` at the border.
    fn cells_around(&self, crossing: &Crossing) -> Option<[IVec3; 4]> {
        let unit = |axis: usize| IVec3::AXES[axis % 3];
        let (u, v) = (unit(crossing.axis + 1), unit(crossing.axis + 2));
        let n = crossing.node;
        let mut around = [n - u - v, n - v, n, n - u];
        if !crossing.outward {
            around.reverse();
        }
        let inside = |c: &IVec3| c.cmpge(IVec3::ZERO).all() && c.cmplt(self.cells).all();
        around.iter().all(inside).then_some(around)
    }
}

/// Finds the crossings in the block of `size` cells from `low` on. A block whose center is farther from the surface than
/// its corners from the center contains none.
fn visit(shape: &Geometry, grid: &Grid, low: IVec3, size: i32, out: &mut Vec<Crossing>) {
    if low.cmpge(grid.cells + 1).any() {
        return;
    }
    if size == BLOCK {
        let mut nodes = Nodes {
            shape,
            grid,
            low,
            values: [f32::NAN; (BLOCK as usize + 1).pow(3)],
        };
        return nodes.visit(IVec3::ZERO, BLOCK, out);
    }
    let half = size / 2;
    let center = grid.node(low + half);
    if shape.distance(center).abs() > reach(grid, size) {
        return;
    }
    for child in children() {
        visit(shape, grid, low + half * child, half, out);
    }
}

/// Half the diagonal of a block [m], enlarged by [`SLACK`].
fn reach(grid: &Grid, size: i32) -> f32 {
    SLACK * 0.5 * size as f32 * grid.spacing.length()
}

fn children() -> impl Iterator<Item = IVec3> {
    (0..8).map(|i| IVec3::new(i & 1, (i >> 1) & 1, i >> 2))
}

/// Distances at the nodes of a block; NaN where not yet computed.
struct Nodes<'a> {
    shape: &'a Geometry,
    grid: &'a Grid,
    low: IVec3,
    values: [f32; (BLOCK as usize + 1).pow(3)],
}

impl Nodes<'_> {
    /// Distance at a node of the block.
    fn value(&mut self, node: IVec3) -> f32 {
        let row = BLOCK + 1;
        let at = (node.x + row * (node.y + row * node.z)) as usize;
        if self.values[at].is_nan() {
            self.values[at] = self.shape.distance(self.grid.node(self.low + node));
        }
        self.values[at]
    }

    fn visit(&mut self, low: IVec3, size: i32, out: &mut Vec<Crossing>) {
        let half = size / 2;
        if self.value(low + half).abs() > reach(self.grid, size) {
            return;
        }
        for child in children() {
            if half > 1 {
                self.visit(low + half * child, half, out);
                continue;
            }
            let node = low + child;
            let d = self.value(node);
            for axis in 0..3 {
                let next = self.value(node + IVec3::AXES[axis]);
                if (d < 0.0) != (next < 0.0) {
                    out.push(self.crossing(node, axis, d, next));
                }
            }
        }
    }

    fn crossing(&self, node: IVec3, axis: usize, d: f32, next: f32) -> Crossing {
        let node = self.low + node;
        let from = self.grid.node(node);
        let length = self.grid.spacing[axis];
        let at = |t: f32| {
            let mut p = from;
            p[axis] += t * length;
            p
        };
        let outward = d < 0.0;
        let t = root(|t| self.shape.distance(at(t)), d, next, 1e-5 * length);
        let inset = INSET * self.grid.spacing.min_element() / length;
        let inside = if outward { t - inset } else { t + inset };
        Crossing {
            node,
            axis,
            outward,
            point: at(t),
            normal: self.shape.normal(at(inside)),
        }
    }
}

/// Where a function changes its sign between 0 and 1: by false position with halved weights (Illinois), and every third
/// time by bisection, since kinks mislead it.
fn root(f: impl Fn(f32) -> f32, at_0: f32, at_1: f32, tolerance: f32) -> f32 {
    let (mut a, mut fa, mut b, mut fb) = (0.0f32, at_0, 1.0f32, at_1);
    let mut t = 0.5;
    for step in 0..24 {
        t = (a * fb - b * fa) / (fb - fa);
        let between = t > a.min(b) && t < a.max(b);
        if !between || step % 3 == 2 {
            t = 0.5 * (a + b);
        }
        let ft = f(t);
        if ft.abs() <= tolerance || ft.is_nan() {
            break;
        }
        if (ft < 0.0) == (fb < 0.0) {
            fa *= 0.5;
        } else {
            (a, fa) = (b, fb);
        }
        (b, fb) = (t, ft);
    }
    t
}
