//! Points that sample a surface: boundary particles.

use super::{Bounds, Geometry};
use crate::model::Dimensions;
use glam::{IVec3, Vec3};
use std::collections::HashMap;

/// Minimum distance of two points [spacings]. Above √½, so that a plane along the axes gets a square lattice.
const APART: f32 = 0.8;
/// Nodes of the lattice of candidates along a spacing.
const NODES: i32 = 2;
/// Nodes farther than this from the level are no candidates [spacings]; every point of a level has a node within √3/4.
const REACH: f32 = 0.5;
/// Fractions of the depth that are tried where the body is thinner.
const DEPTHS: [f32; 5] = [1.0, 0.75, 0.5, 0.25, 0.0];
/// Nodes along an edge of the blocks that are tested, and skipped, as a whole.
const BLOCK: i32 = 8;

impl Geometry {
    /// Points about `spacing` apart at a depth below the surface, or in the middle of thinner parts, in a box [m].
    /// In 2D those of the plane z = 0.
    ///
    /// Points of adjacent boxes are consistent: they come from one lattice, and those around the box are considered as
    /// well. Empty for an infinite box.
    pub fn boundary_points(
        &self,
        spacing: f32,
        depth: f32,
        within: &Bounds,
        dimensions: Dimensions,
    ) -> Vec<Vec3> {
        let flat = dimensions == Dimensions::Two;
        let margin = 2.0 * spacing;
        let around = self.bounds().expand(margin).intersect(within);
        let usable = spacing > 0.0 && around.is_finite() && (flat || !around.is_empty());
        if !usable {
            return Vec::new();
        }
        let candidates = self.candidates(spacing, depth, &around.expand(margin), flat);
        let mut kept = Sieve::new(APART * spacing);
        let chosen = candidates.into_iter().filter(|c| kept.take(c.point));
        let inside = |c: &Candidate| {
            let node = c.node.as_vec3() * (spacing / NODES as f32);
            let (low, high) = (node.cmpge(within.min), node.cmplt(within.max));
            low.x && low.y && high.x && high.y && (flat || (low.z && high.z))
        };
        chosen.filter(inside).map(|c| c.point).collect()
    }

    /// Nodes of the lattice near the level, each with its nearest point of the level; nodes at whole spacings first.
    fn candidates(&self, spacing: f32, depth: f32, within: &Bounds, flat: bool) -> Vec<Candidate> {
        let edge = spacing / NODES as f32;
        let low = (within.min / edge).floor().as_ivec3();
        let high = (within.max / edge).ceil().as_ivec3();
        let mut first = low.map(|i| i.div_euclid(BLOCK));
        let mut last = high.map(|i| i.div_euclid(BLOCK));
        if flat {
            (first.z, last.z) = (0, 0);
        }
        let mut out = Vec::new();
        for block in lattice(first, last) {
            self.candidates_of_block(block * BLOCK, edge, spacing, depth, flat, &mut out);
        }
        let clip = |c: &Candidate| {
            let inside = c.node.cmpge(low) & c.node.cmple(high);
            inside.x && inside.y && (flat || inside.z)
        };
        out.retain(clip);
        out.sort_by_key(|c| {
            let odd = c.node.map(|i| i.rem_euclid(NODES));
            (odd.element_sum(), odd.to_array(), c.node.to_array())
        });
        out
    }

    fn candidates_of_block(
        &self,
        corner: IVec3,
        edge: f32,
        spacing: f32,
        depth: f32,
        flat: bool,
        out: &mut Vec<Candidate>,
    ) {
        let half = 0.5 * (BLOCK - 1) as f32 * edge;
        let mut middle = corner.as_vec3() * edge + half;
        if flat {
            middle.z = 0.0;
        }
        let far = 1.75 * half + depth + REACH * spacing;
        if self.distance(middle).abs() > far {
            return;
        }
        let mut last = corner + (BLOCK - 1);
        if flat {
            last.z = corner.z;
        }
        for node in lattice(corner, last) {
            let found = self.settle(node.as_vec3() * edge, spacing, depth, flat);
            out.extend(found.map(|point| Candidate { node, point }));
        }
    }

    /// The point of the level next to a node, if it is near.
    fn settle(&self, node: Vec3, spacing: f32, depth: f32, flat: bool) -> Option<Vec3> {
        let distance = self.distance(node);
        if (distance + depth).abs() > REACH * spacing {
            return None;
        }
        let in_plane = |p: Vec3| if flat { p.with_z(0.0) } else { p };
        let mut normal = self.normal(node);
        let mut surface = in_plane(node - distance * normal);
        // Distances of booleans are exact at the surface only.
        for _ in 0..2 {
            normal = self.normal(surface);
            surface = in_plane(surface - self.distance(surface) * normal);
        }
        if self.distance(surface).abs() > 0.05 * spacing {
            return None;
        }
        let at = |t: f32| in_plane(surface - t * depth * normal);
        let fits = |t: f32| self.distance(at(t)) <= 0.02 * spacing - 0.9 * t * depth;
        DEPTHS.into_iter().find(|t| fits(*t)).map(at)
    }
}

/// Whole-numbered points of a box, those on its faces included.
fn lattice(first: IVec3, last: IVec3) -> impl Iterator<Item = IVec3> {
    let rows = (first.z..=last.z).flat_map(move |z| (first.y..=last.y).map(move |y| (y, z)));
    rows.flat_map(move |(y, z)| (first.x..=last.x).map(move |x| IVec3::new(x, y, z)))
}

/// A node of the lattice and its point of the level.
struct Candidate {
    node: IVec3,
    point: Vec3,
}

/// Points with a minimum distance.
struct Sieve {
    apart: f32,
    cells: HashMap<IVec3, Vec<Vec3>>,
}

impl Sieve {
    fn new(apart: f32) -> Self {
        let cells = HashMap::new();
        Self { apart, cells }
    }

    /// Takes a point unless one is too near.
    fn take(&mut self, p: Vec3) -> bool {
        let cell = (p / self.apart).floor().as_ivec3();
        let near = |q: &Vec3| q.distance_squared(p) < self.apart * self.apart;
        let mut around = lattice(cell - 1, cell + 1).filter_map(|cell| self.cells.get(&cell));
        if around.any(|others| others.iter().any(near)) {
            return false;
        }
        self.cells.entry(cell).or_default().push(p);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube(half: f32) -> Bounds {
        Bounds {
            min: Vec3::splat(-half),
            max: Vec3::splat(half),
        }
    }

    fn nearest(points: &[Vec3], p: Vec3) -> f32 {
        let distances = points.iter().filter(|q| **q != p).map(|q| q.distance(p));
        distances.fold(f32::INFINITY, f32::min)
    }

    #[test]
    fn a_level_plane_gets_a_square_lattice() {
        for height in [0.0, 0.02, 0.025, 0.031] {
            let plane = Geometry::half_space(Vec3::new(0.0, height, 0.0), Vec3::Y);
            let points = plane.boundary_points(0.1, 0.05, &cube(0.5), Dimensions::Three);
            assert_eq!(points.len(), 100, "at {height}");
            for p in &points {
                assert!((p.y - height + 0.05).abs() < 1e-5);
                assert!((nearest(&points, *p) - 0.1).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn any_body_is_covered_without_holes_or_clusters() {
        let turned = Geometry::half_space(Vec3::ZERO, Vec3::new(0.3, 0.8, -0.4).normalize());
        let ball = Geometry::sphere(Vec3::new(0.03, 0.01, -0.02), 0.37);
        let bar = Geometry::capsule(Vec3::new(-0.3, 0.0, 0.0), Vec3::new(0.3, 0.2, 0.1), 0.08);
        let cup = Geometry::difference(
            Geometry::cuboid(Vec3::splat(-0.4), Vec3::splat(0.4)),
            vec![Geometry::cuboid(
                Vec3::splat(-0.3),
                Vec3::new(0.3, 0.5, 0.3),
            )],
        );
        for (name, body) in [
            ("plane", turned),
            ("ball", ball),
            ("bar", bar),
            ("cup", cup),
        ] {
            let (spacing, depth) = (0.05, 0.025);
            let points = body.boundary_points(spacing, depth, &cube(0.6), Dimensions::Three);
            for p in &points {
                let d = body.distance(*p);
                assert!((-1.1 * depth..=0.05 * spacing).contains(&d), "{name}: {d}");
                assert!(nearest(&points, *p) >= 0.799 * spacing, "{name}");
            }
            // Every point of the surface has one near.
            let surface = body.surface(&cube(0.5), 24);
            for v in surface
                .vertices
                .iter()
                .filter(|v| body.distance(**v).abs() < 1e-3)
            {
                let inside = *v - depth * body.normal(*v);
                assert!(
                    nearest(&points, inside) < 1.3 * spacing,
                    "{name}: hole at {v}"
                );
            }
        }
    }

    #[test]
    fn thin_bodies_are_not_lost() {
        let plate = Geometry::cuboid(Vec3::new(-0.5, -0.004, -0.5), Vec3::new(0.5, 0.004, 0.5));
        let points = plate.boundary_points(0.1, 0.05, &cube(1.0), Dimensions::Three);
        // One layer of 11 × 11 at most, not two.
        assert!((90..=121).contains(&points.len()), "{}", points.len());
    }

    #[test]
    fn boxes_side_by_side_share_the_points_of_the_whole() {
        let ball = Geometry::sphere(Vec3::ZERO, 0.4);
        let of = |b: &Bounds| ball.boundary_points(0.05, 0.025, b, Dimensions::Three);
        let whole = of(&cube(0.8));
        let mut parts = Vec::new();
        for corner in 0..8 {
            let min = IVec3::new(corner & 1, corner >> 1 & 1, corner >> 2).as_vec3() * 0.8 - 0.8;
            parts.extend(of(&Bounds {
                min,
                max: min + 0.8,
            }));
        }
        let shared = whole.iter().filter(|p| parts.contains(p)).count();
        assert!(
            shared * 100 >= whole.len() * 97,
            "{shared} of {}",
            whole.len()
        );
        assert!(parts.len().abs_diff(whole.len()) * 100 <= whole.len() * 3);
    }

    #[test]
    fn the_plane_gets_a_line_of_points() {
        let floor = Geometry::half_space(Vec3::ZERO, Vec3::Y);
        let points = floor.boundary_points(0.1, 0.05, &cube(0.5), Dimensions::Two);
        assert_eq!(points.len(), 10);
        assert!(points.iter().all(|p| p.z == 0.0));
        let ball = Geometry::sphere(Vec3::ZERO, 0.3);
        let ring = ball.boundary_points(0.05, 0.025, &cube(0.5), Dimensions::Two);
        // 2π · 0.275 / 0.05 = 35 if they were exactly a spacing apart.
        assert!((28..=43).contains(&ring.len()), "{}", ring.len());
    }

    #[test]
    fn infinite_boxes_and_invalid_spacings_give_no_points() {
        let floor = Geometry::half_space(Vec3::ZERO, Vec3::Y);
        let endless = Bounds {
            min: Vec3::NEG_INFINITY,
            max: Vec3::INFINITY,
        };
        assert!(
            floor
                .boundary_points(0.1, 0.05, &endless, Dimensions::Three)
                .is_empty()
        );
        assert!(
            floor
                .boundary_points(f32::NAN, 0.05, &cube(1.0), Dimensions::Three)
                .is_empty()
        );
        assert!(
            floor
                .boundary_points(0.0, 0.05, &cube(1.0), Dimensions::Three)
                .is_empty()
        );
    }
}
