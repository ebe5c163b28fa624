//! Terrain: a height field on a square lattice, with side walls down to its floor.
//!
//! The surface is bilinear between the centers of four columns, so that its height along a ray is a parabola. Rays are traversed
//! cell by cell, and whole tiles below the ray are skipped.

use super::{Hit, Ray};
use crate::color::{chance, to_linear};
use barchan_scene::ColorMix;
use glam::{Vec2, Vec3};

/// Lattice cells along the side of a tile.
const TILE: usize = 16;
/// Amplitude of the perturbation of normals, which imitates grains.
const ROUGH: f32 = 0.8;

/// A terrain of a frame.
#[derive(Debug, Clone)]
pub struct Relief {
    /// Corner with the smallest x and z [m].
    pub origin: Vec2,
    /// Side of a column [m].
    pub cell: f32,
    /// Columns along x and along z.
    pub columns: [usize; 2],
    /// Height at the center of each column [m], row by row along x.
    heights: Vec<f32>,
    floor: f32,
    highest: f32,
    /// Greatest height in each tile [m].
    tiles: Vec<f32>,
    tiles_across: usize,
    colors: ColorMix,
    /// Diameter of a grain [m].
    grain: f32,
}

impl Relief {
    /// A terrain; `None` if the layout or a value is invalid.
    pub fn new(
        origin: [f32; 2],
        cell: f32,
        columns: [usize; 2],
        heights: Vec<f32>,
        floor: f32,
        colors: ColorMix,
        grain: f32,
    ) -> Option<Self> {
        let good = columns[0].checked_mul(columns[1]) == Some(heights.len())
            && !heights.is_empty()
            && cell.is_normal()
            && cell > 0.0
            && grain.is_normal()
            && grain > 0.0
            && origin.iter().chain([&floor]).all(|x| x.is_finite())
            && heights.iter().all(|h| h.is_finite());
        if !good {
            return None;
        }
        let tiles = columns.map(|n| (n + 1).div_ceil(TILE));
        let mut relief = Self {
            origin: origin.into(),
            cell,
            columns,
            floor: heights.iter().copied().fold(floor, f32::min),
            highest: heights.iter().copied().fold(f32::MIN, f32::max),
            heights,
            tiles: Vec::with_capacity(tiles[0] * tiles[1]),
            tiles_across: tiles[0],
            colors,
            grain,
        };
        for tile in 0..tiles[0] * tiles[1] {
            let first = [tile % tiles[0] * TILE, tile / tiles[0] * TILE];
            let heights = (0..=TILE).flat_map(|j| (0..=TILE).map(move |i| (i, j)));
            let heights = heights.map(|(i, j)| relief.vertex(first[0] + i, first[1] + j));
            let highest = heights.fold(f32::MIN, f32::max);
            relief.tiles.push(highest);
        }
        Some(relief)
    }

    /// Bounding box: lowest and highest corner [m].
    pub fn bounds(&self) -> (Vec3, Vec3) {
        let size = self.cell * Vec2::new(self.columns[0] as f32, self.columns[1] as f32);
        let far = self.origin + size;
        (
            Vec3::new(self.origin.x, self.floor, self.origin.y),
            Vec3::new(far.x, self.highest, far.y),
        )
    }

    /// Height of a lattice point; number 0 lies half a cell before the first column.
    fn vertex(&self, i: usize, j: usize) -> f32 {
        let i = i.saturating_sub(1).min(self.columns[0] - 1);
        let j = j.saturating_sub(1).min(self.columns[1] - 1);
        self.heights[j * self.columns[0] + i]
    }

    /// Lattice cell of a point, and its coordinates in the cell, 0 to 1.
    fn place(&self, x: f32, z: f32) -> ([usize; 2], Vec2) {
        let t = (Vec2::new(x, z) - self.origin) / self.cell + 0.5;
        let whole = |t: f32, n: usize| (t.max(0.0) as usize).min(n);
        let cell = [whole(t.x, self.columns[0]), whole(t.y, self.columns[1])];
        (cell, t - Vec2::new(cell[0] as f32, cell[1] as f32))
    }

    /// Height and its gradient in a lattice cell.
    fn patch(&self, [i, j]: [usize; 2], u: Vec2) -> (f32, Vec2) {
        let (a, b) = (self.vertex(i, j), self.vertex(i + 1, j));
        let (c, d) = (self.vertex(i, j + 1), self.vertex(i + 1, j + 1));
        let (near, far) = (a + u.x * (b - a), c + u.x * (d - c));
        let along = (b - a) + u.y * ((d - c) - (b - a));
        let height = near + u.y * (far - near);
        (height, Vec2::new(along, far - near) / self.cell)
    }

    /// Height of a point above the surface in a lattice cell [m].
    fn above(&self, cell: [usize; 2], p: Vec3) -> f32 {
        let at = (Vec2::new(p.x, p.z) - self.origin) / self.cell + 0.5;
        let u = at - Vec2::new(cell[0] as f32, cell[1] as f32);
        p.y - self.patch(cell, u.clamp(Vec2::ZERO, Vec2::ONE)).0
    }

    /// Closest hit before `limit`.
    pub(super) fn closest(&self, ray: &Ray, limit: f32) -> Option<Hit> {
        let (t, wall) = self.intersect(ray, limit)?;
        let p = ray.at(t);
        let (cell, u) = self.place(p.x, p.z);
        let smooth = wall.unwrap_or_else(|| {
            let slope = self.patch(cell, u.clamp(Vec2::ZERO, Vec2::ONE)).1;
            Vec3::new(-slope.x, 1.0, -slope.y).normalize()
        });
        let (albedo, uneven) = self.grain_at(p);
        let rough = (smooth + ROUGH * uneven).normalize();
        // A perturbed normal must not face away from the viewer.
        let normal = if rough.dot(ray.direction) < 0.0 {
            rough
        } else {
            smooth
        };
        Some(Hit {
            t,
            normal,
            albedo,
            faded: 0.0,
        })
    }

    /// Whether it intersects the ray.
    pub fn occludes(&self, ray: &Ray) -> bool {
        self.intersect(ray, f32::INFINITY).is_some()
    }

    /// Distance along the ray to the closest hit [m], and the normal if the hit is on a side wall.
    fn intersect(&self, ray: &Ray, limit: f32) -> Option<(f32, Option<Vec3>)> {
        let (low, high) = self.bounds();
        let inverse = ray.direction.recip();
        let (a, b) = ((low - ray.origin) * inverse, (high - ray.origin) * inverse);
        let entries = a.min(b);
        let enter = entries.max_element().max(0.0);
        let leave = a.max(b).min_element().min(limit);
        if !(ray.origin.is_finite() && ray.direction.is_finite()) || enter.is_nan() || enter > leave
        {
            return None;
        }
        let p = ray.at(enter);
        if enter > 0.0 && self.above(self.place(p.x, p.z).0, p) < 0.0 {
            let axis = if entries.x > entries.z { 0 } else { 2 };
            let mut wall = Vec3::ZERO;
            wall[axis] = -ray.direction[axis].signum();
            return Some((enter, Some(wall)));
        }
        self.walk(ray, enter, leave).map(|t| (t, None))
    }

    /// Traverses the lattice cells between two distances along the ray [m].
    fn walk(&self, ray: &Ray, enter: f32, leave: f32) -> Option<f32> {
        let nudge = 1e-4 * self.cell;
        let mut t = enter;
        let most = 4 * (self.columns[0] + self.columns[1] + 8);
        for _ in 0..most {
            if t >= leave {
                return None;
            }
            let p = ray.at(t + nudge);
            let (cell, _) = self.place(p.x, p.z);
            let tile = cell.map(|k| k / TILE);
            let tile_end = self.exit(ray, tile.map(|k| k * TILE), TILE).min(leave);
            let lowest = ray.at(t).y.min(ray.at(tile_end).y);
            let top = self.tiles[tile[1] * self.tiles_across + tile[0]];
            if lowest > top {
                t = tile_end.max(t + nudge);
                continue;
            }
            let end = self.exit(ray, cell, 1).min(leave).max(t + nudge);
            if let Some(hit) = self.enter_patch(ray, cell, t, end) {
                return Some(hit);
            }
            t = end;
        }
        None
    }

    /// Distance at which a ray leaves a square of `size` lattice cells [m].
    fn exit(&self, ray: &Ray, first: [usize; 2], size: usize) -> f32 {
        let end = |axis: usize, origin: f32, direction: f32| {
            let ahead = first[axis] + if direction > 0.0 { size } else { 0 };
            let edge = self.origin[axis] + self.cell * (ahead as f32 - 0.5);
            match direction == 0.0 {
                true => f32::INFINITY,
                false => (edge - origin) / direction,
            }
        };
        let x = end(0, ray.origin.x, ray.direction.x);
        x.min(end(1, ray.origin.z, ray.direction.z))
    }

    /// Distance at which a ray enters the soil within a cell, between two distances [m].
    fn enter_patch(&self, ray: &Ray, cell: [usize; 2], from: f32, to: f32) -> Option<f32> {
        let at = |t: f32| self.above(cell, ray.at(t));
        let (start, middle, end) = (at(from), at(0.5 * (from + to)), at(to));
        // Height over the surface: start + b s + a s², s from 0 to 1.
        let a = 2.0 * (start + end - 2.0 * middle);
        let b = end - start - a;
        let root = if a.abs() < 1e-6 * (b.abs() + 1e-12) {
            -start / b
        } else {
            let inner = b * b - 4.0 * a * start;
            if inner < 0.0 {
                return None;
            }
            // The root with a negative slope.
            let q = inner.sqrt();
            (-b - q) / (2.0 * a)
        };
        let tolerance = 1e-3;
        let inside = root >= -tolerance && root <= 1.0 + tolerance;
        inside.then(|| from + root.clamp(0.0, 1.0) * (to - from))
    }

    /// Color of the grain at a point, and the normal perturbation there; a pure function of the point. Grains are the Voronoi cells of
    /// a jittered lattice.
    fn grain_at(&self, p: Vec3) -> (Vec3, Vec3) {
        let q = p / self.grain;
        let low = (q - 0.5).floor();
        let mut nearest = (f32::INFINITY, 0, Vec3::ZERO);
        for corner in 0..8u32 {
            let place = low + Vec3::from_array([0, 1, 2].map(|a| (corner >> a & 1) as f32));
            let key = site_key(place);
            let moved = [1, 2, 3].map(|k| 0.1 + 0.8 * chance(key.wrapping_add(k)));
            let away = q - place - Vec3::from_array(moved);
            if away.length_squared() < nearest.0 {
                nearest = (away.length_squared(), key, away);
            }
        }
        let color = self
            .colors
            .parts()
            .get(self.colors.index(chance(nearest.1)));
        (
            color.map_or(Vec3::ONE, |(color, _)| to_linear(*color)),
            nearest.2,
        )
    }
}

/// Hash key of a site of the lattice of grains.
fn site_key(place: Vec3) -> u64 {
    let [x, y, z] = place.to_array().map(|k| k as i64 as u64);
    let mixed = x.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(21) ^ y;
    mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9).rotate_left(29) ^ z << 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relief(heights: Vec<f32>, columns: [usize; 2]) -> Relief {
        let mix = ColorMix::plain([200, 150, 100]);
        let relief = Relief::new([-1.0, -1.0], 0.1, columns, heights, -1.0, mix, 0.05);
        relief.expect("a relief")
    }

    fn ray(origin: Vec3, to: Vec3) -> Ray {
        Ray {
            origin,
            direction: (to - origin).normalize(),
            time: 0.0,
        }
    }

    /// Compared with ray marching in small steps.
    #[test]
    fn intersections_agree_with_ray_marching() {
        let wave = |k: usize| {
            let (i, j) = ((k % 40) as f32, (k / 40) as f32);
            0.3 * (0.7 * i).sin() * (0.4 * j).cos()
        };
        let relief = relief((0..1600).map(wave).collect(), [40, 40]);
        let mut hits = 0;
        for k in 0..400u64 {
            let c = |n: u64| chance(8 * k + n);
            let origin = Vec3::new(6.0 * c(0) - 3.0, 0.35 + 2.0 * c(1), 6.0 * c(2) - 3.0);
            let to = Vec3::new(4.0 * c(3) - 1.0, -0.5 + c(4), 4.0 * c(5) - 1.0);
            let ray = ray(origin, to);
            let (low, high) = relief.bounds();
            let expected = (0..60_000).map(|i| 1e-4 * i as f32).find(|t| {
                let p = ray.at(*t);
                let inside = p.cmpge(low).all() && p.cmple(high).all();
                inside && relief.above(relief.place(p.x, p.z).0, p) < 0.0
            });
            match (relief.intersect(&ray, 6.0), expected) {
                (Some((t, _)), Some(e)) => {
                    assert!((t - e).abs() < 2e-3, "ray {k}: {t} {e}");
                    hits += 1;
                }
                (None, None) => {}
                (got, expected) => panic!("ray {k}: {got:?} {expected:?}"),
            }
        }
        assert!(hits > 100, "{hits}");
    }

    #[test]
    fn a_level_site_faces_up_and_has_walls() {
        let relief = relief(vec![0.5; 400], [20, 20]);
        let down = ray(Vec3::new(0.1, 2.0, 0.2), Vec3::new(0.1, 0.0, 0.2));
        let hit = relief.closest(&down, 10.0).expect("a hit");
        assert!((hit.t - 1.5).abs() < 1e-4 && hit.normal.y > 0.7, "{hit:?}");
        assert!(relief.closest(&down, 1.4).is_none());
        let side = ray(Vec3::new(-3.0, 0.0, 0.0), Vec3::ZERO);
        let hit = relief.closest(&side, 10.0).expect("a hit");
        assert!((hit.t - 2.0).abs() < 1e-4 && hit.normal.x < -0.5, "{hit:?}");
        let over = ray(Vec3::new(-3.0, 0.6, 0.0), Vec3::new(3.0, 0.6, 0.01));
        assert!(!relief.occludes(&over));
    }

    #[test]
    fn invalid_terrains_are_refused() {
        let mix = || ColorMix::plain([0; 3]);
        let new = |cell, columns, heights, floor| {
            Relief::new([0.0; 2], cell, columns, heights, floor, mix(), 0.1)
        };
        assert!(new(0.1, [2, 2], vec![0.0; 4], -1.0).is_some());
        assert!(new(0.0, [2, 2], vec![0.0; 4], -1.0).is_none());
        assert!(new(0.1, [2, 3], vec![0.0; 4], -1.0).is_none());
        assert!(new(0.1, [0, 0], Vec::new(), -1.0).is_none());
        assert!(new(0.1, [2, 2], vec![f32::NAN; 4], -1.0).is_none());
        assert!(new(0.1, [2, 2], vec![0.0; 4], f32::INFINITY).is_none());
        assert!(new(0.1, [usize::MAX, 2], vec![0.0; 4], 0.0).is_none());
    }
}
