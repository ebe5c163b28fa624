//! Meshes as signed distances sampled on a grid.
//!
//! Three passes: exact unsigned distances in a narrow band around the triangles, the eikonal equation |∇d| = 1 beyond it
//! by fast sweeping, and the sign from how often the mesh winds around each node, counted along rows of the grid.

use super::Bounds;
use crate::mesh::TriangleMesh;
use glam::{DVec2, UVec3, Vec3};
use parry3d::query::PointQuery;
use parry3d::shape::TriMesh;
use rayon::prelude::*;

/// Maximum number of nodes along an axis.
const MAX_NODES: u32 = 256;
/// Width of the band of exact distances [voxels]; also the margin of the grid around the mesh.
const BAND: f32 = 3.0;
/// Nodes along an axis of the blocks that are skipped together when far from the surface.
const BLOCK: u32 = 8;

/// Signed distances on the nodes of a regular grid.
#[derive(Debug, Clone)]
pub(super) struct SampledMesh {
    origin: Vec3,
    voxel: f32,
    nodes: UVec3,
    values: Vec<f32>,
}

/// A grid spacing [m] for a mesh: about 128³ nodes, with flat meshes resolved more finely.
pub(super) fn default_voxel(mesh: &TriangleMesh) -> f32 {
    let size = mesh.bounds().size();
    let finest = finest_voxel(size);
    let even = (size.x * size.y * size.z / 2.0e6).cbrt();
    even.max(finest)
}

fn finest_voxel(size: Vec3) -> f32 {
    // Two margins and a node at each end.
    let room = (MAX_NODES - 2 * (BAND as u32 + 1) - 2) as f32;
    (size.max_element() / room).max(f32::MIN_POSITIVE * 1e6)
}

impl SampledMesh {
    /// The grid and a box that holds the solid; `None` for a mesh without triangles.
    pub fn new(mesh: &TriangleMesh, voxel: f32) -> Option<(Self, Bounds)> {
        let bounds = mesh.bounds();
        if !bounds.is_finite() || bounds.is_empty() {
            return None;
        }
        let wanted = if voxel > 0.0 && voxel.is_finite() {
            voxel
        } else {
            default_voxel(mesh)
        };
        let voxel = wanted.max(finest_voxel(bounds.size()));
        let trimesh = TriMesh::new(mesh.vertices.clone(), mesh.triangles.clone()).ok()?;
        let box_ = bounds.expand((BAND + 0.5) * voxel);
        let mut grid = Self {
            origin: box_.min,
            voxel,
            nodes: (box_.size() / voxel)
                .ceil()
                .as_uvec3()
                .min(UVec3::splat(MAX_NODES - 1))
                + 1,
            values: Vec::new(),
        };
        grid.values = vec![f32::INFINITY; grid.nodes.element_product() as usize];
        grid.fill_band(&trimesh);
        grid.sweep();
        if mesh.edge_fault().is_none() {
            grid.sign_by_winding(mesh);
            Some((grid, bounds.expand(voxel)))
        } else {
            grid.values.iter_mut().for_each(|d| *d -= voxel);
            Some((grid, bounds.expand(2.0 * voxel)))
        }
    }

    #[cfg(test)]
    pub fn node_count(&self) -> usize {
        self.values.len()
    }

    fn node(&self, i: u32, j: u32, k: u32) -> Vec3 {
        self.origin + self.voxel * UVec3::new(i, j, k).as_vec3()
    }

    /// Exact unsigned distances within [`BAND`] of the triangles. Each layer depends only on the mesh, so the
    /// result does not depend on the number of threads.
    fn fill_band(&mut self, trimesh: &TriMesh) {
        let layer = (self.nodes.x * self.nodes.y) as usize;
        let slab = layer * BLOCK as usize;
        let mut values = std::mem::take(&mut self.values);
        let slabs = values.par_chunks_mut(slab).enumerate();
        slabs.for_each(|(index, slab)| self.fill_slab(trimesh, index as u32 * BLOCK, slab));
        self.values = values;
    }

    /// The layers of nodes from `k0` on.
    fn fill_slab(&self, trimesh: &TriMesh, k0: u32, slab: &mut [f32]) {
        let band = BAND * self.voxel;
        let layer = self.nodes.x * self.nodes.y;
        let layers = slab.len() as u32 / layer;
        let half = 0.5 * (BLOCK - 1) as f32 * self.voxel;
        for j0 in (0..self.nodes.y).step_by(BLOCK as usize) {
            for i0 in (0..self.nodes.x).step_by(BLOCK as usize) {
                let center = self.node(i0, j0, k0) + half;
                let reach = band + half * 1.733;
                if unsigned_distance(trimesh, center, reach).is_none() {
                    continue;
                }
                for k in 0..layers {
                    for j in j0..(j0 + BLOCK).min(self.nodes.y) {
                        for i in i0..(i0 + BLOCK).min(self.nodes.x) {
                            let p = self.node(i, j, k0 + k);
                            if let Some(d) = unsigned_distance(trimesh, p, band) {
                                slab[(i + self.nodes.x * j + layer * k) as usize] = d;
                            }
                        }
                    }
                }
            }
        }
    }

    /// Fast sweeping: Gauss–Seidel over the nodes in all eight diagonal directions, upwind differences.
    fn sweep(&mut self) {
        let band = BAND * self.voxel;
        let frozen: Vec<bool> = self.values.iter().map(|d| *d <= band).collect();
        let order =
            |n: u32, reverse: bool| (0..n).map(move |i| if reverse { n - 1 - i } else { i });
        for direction in 0..8 {
            for k in order(self.nodes.z, direction & 4 != 0) {
                for j in order(self.nodes.y, direction & 2 != 0) {
                    for i in order(self.nodes.x, direction & 1 != 0) {
                        let at = self.index(i, j, k);
                        if !frozen[at] {
                            let d = self.upwind(i, j, k, at);
                            self.values[at] = self.values[at].min(d);
                        }
                    }
                }
            }
        }
        // Cannot happen with a triangle in the grid; keeps every value finite nevertheless.
        let far = self.voxel * self.nodes.as_vec3().length();
        self.values.iter_mut().for_each(|d| *d = d.min(far));
    }

    /// The solution of the upwind scheme at a node from its six neighbors.
    fn upwind(&self, i: u32, j: u32, k: u32, at: usize) -> f32 {
        let (sx, sy) = (1, self.nodes.x as usize);
        let sz = sy * self.nodes.y as usize;
        let least = |n: u32, count: u32, stride: usize| {
            let below = (n > 0).then(|| self.values[at - stride]);
            let above = (n + 1 < count).then(|| self.values[at + stride]);
            below
                .unwrap_or(f32::INFINITY)
                .min(above.unwrap_or(f32::INFINITY))
        };
        let x = least(i, self.nodes.x, sx);
        let y = least(j, self.nodes.y, sy);
        let z = least(k, self.nodes.z, sz);
        let h = self.voxel;
        let (a, b, c) = (
            x.min(y).min(z),
            x.min(y).max(x.max(y).min(z)),
            x.max(y).max(z),
        );
        let one = a + h;
        if one <= b || !b.is_finite() {
            return one;
        }
        let two = 0.5 * (a + b + (2.0 * h * h - (a - b) * (a - b)).max(0.0).sqrt());
        if two <= c || !c.is_finite() {
            return two;
        }
        let (sum, squares) = (a + b + c, a * a + b * b + c * c);
        (sum + (sum * sum - 3.0 * (squares - h * h)).max(0.0).sqrt()) / 3.0
    }

    /// Negates the nodes that the mesh winds around. Rays run along the rows of the grid in +x; each triangle adds its
    /// crossing to the first node behind it, and sums along the rows give the winding number.
    fn sign_by_winding(&mut self, mesh: &TriangleMesh) {
        let mut steps = vec![0i16; self.values.len()];
        for triangle in &mesh.triangles {
            self.add_crossings(mesh, *triangle, &mut steps);
        }
        let row = self.nodes.x as usize;
        for (values, steps) in self.values.chunks_mut(row).zip(steps.chunks(row)) {
            let mut winding = 0i32;
            for (d, step) in values.iter_mut().zip(steps) {
                winding += i32::from(*step);
                if winding > 0 {
                    *d = -*d;
                }
            }
        }
    }

    fn add_crossings(&self, mesh: &TriangleMesh, triangle: [u32; 3], steps: &mut [i16]) {
        let corners = triangle.map(|v| mesh.vertices[v as usize]);
        let flat = |p: Vec3| DVec2::new(f64::from(p.y), f64::from(p.z));
        let low = (corners[0].min(corners[1]).min(corners[2]) - self.origin) / self.voxel;
        let high = (corners[0].max(corners[1]).max(corners[2]) - self.origin) / self.voxel;
        let range = |lo: f32, hi: f32, n: u32| {
            (lo - 1.0).max(0.0) as u32..=((hi + 1.0).max(0.0) as u32).min(n - 1)
        };
        for k in range(low.z, high.z, self.nodes.z) {
            for j in range(low.y, high.y, self.nodes.y) {
                let p = flat(self.node(0, j, k));
                let side = |a: usize, b: usize| {
                    let (from, to) = (flat(corners[a]), flat(corners[b]));
                    // Both triangles of an edge must use exactly the same number.
                    if triangle[a] < triangle[b] {
                        turn(from, to, p)
                    } else {
                        let (s, area) = turn(to, from, p);
                        (!s, -area)
                    }
                };
                let sides = [side(1, 2), side(2, 0), side(0, 1)];
                let (is_left, areas) = (sides[0].0, sides.map(|side| side.1));
                if sides.iter().any(|side| side.0 != is_left) {
                    continue;
                }
                let total: f64 = areas.iter().sum();
                if total == 0.0 {
                    continue;
                }
                let x: f64 = (0..3)
                    .map(|v| areas[v] / total * f64::from(corners[v].x))
                    .sum();
                let behind = (x - f64::from(self.origin.x)) / f64::from(self.voxel);
                let i = (behind.floor() + 1.0).max(0.0) as u32;
                if i < self.nodes.x {
                    // Counter-clockwise seen from +x: the normal points to +x, so the ray leaves the solid.
                    let step = if is_left { -1 } else { 1 };
                    let at = self.index(i, j, k);
                    steps[at] = steps[at].saturating_add(step);
                }
            }
        }
    }

    fn index(&self, i: u32, j: u32, k: u32) -> usize {
        (i + self.nodes.x * (j + self.nodes.y * k)) as usize
    }

    /// Trilinear inside the grid. Outside, the mesh lies beyond a right angle or more seen from the nearest point of the
    /// grid's box, so the hypotenuse is a distance that is never too large.
    pub fn distance(&self, p: Vec3) -> f32 {
        let last = (self.nodes - 1).as_vec3();
        let q = (p - self.origin) / self.voxel;
        let inside = q.clamp(Vec3::ZERO, last);
        let d = self.interpolate(inside);
        let beyond = (q - inside).length() * self.voxel;
        if beyond > 0.0 { d.hypot(beyond) } else { d }
    }

    fn interpolate(&self, q: Vec3) -> f32 {
        let cell = q.as_uvec3().min(self.nodes - 2);
        let t = q - cell.as_vec3();
        let at = self.index(cell.x, cell.y, cell.z);
        let sy = self.nodes.x as usize;
        let sz = sy * self.nodes.y as usize;
        let edge = |at: usize| self.values[at] + t.x * (self.values[at + 1] - self.values[at]);
        let face = |at: usize| {
            let (low, high) = (edge(at), edge(at + sy));
            low + t.y * (high - low)
        };
        let (low, high) = (face(at), face(at + sz));
        low + t.z * (high - low)
    }

    /// Gradient by central differences over a voxel.
    pub fn normal(&self, p: Vec3) -> Vec3 {
        let h = 0.5 * self.voxel;
        let slope = |e: Vec3| self.distance(p + h * e) - self.distance(p - h * e);
        Vec3::new(slope(Vec3::X), slope(Vec3::Y), slope(Vec3::Z)).normalize_or(Vec3::Y)
    }
}

fn unsigned_distance(trimesh: &TriMesh, p: Vec3, max: f32) -> Option<f32> {
    let projection = trimesh.project_local_point_with_max_dist(p, false, max)?;
    let d = projection.point.distance(p);
    (d <= max).then_some(d)
}

/// Whether `p` lies to the left of the line, and twice the area of the triangle. A point on the line is judged as if
/// moved by an infinitesimal amount along the first axis and a smaller one along the second: the same for all lines, so
/// that a ray through a vertex crosses exactly the triangles that a ray next to it would.
fn turn(from: DVec2, to: DVec2, p: DVec2) -> (bool, f64) {
    let (e, q) = (to - from, p - from);
    let area = e.x * q.y - e.y * q.x;
    let left = if area != 0.0 {
        area > 0.0
    } else if e.y != 0.0 {
        e.y < 0.0
    } else {
        e.x > 0.0
    };
    (left, area)
}
