//! Solids of revolution: a closed polygon in the (radius, height) half-plane, turned about an axis.

use super::primitive::Axis;
use super::{Bounds, Vec3};
use glam::Vec2;

/// One edge of the profile, with precomputed values for its distance.
#[derive(Debug, Clone, Copy)]
struct Edge {
    from: Vec2,
    along: Vec2,
    inverse_length_squared: f32,
    /// Height of the end point: crossings must be tested with exactly the coordinates of the next edge.
    to_y: f32,
    /// An edge on the axis closes the polygon but is no surface of the solid, and no ray away from the axis crosses it.
    surface: bool,
}

impl Edge {
    /// From the nearest point of the edge to `m`.
    fn offset(&self, m: Vec2) -> Vec2 {
        let q = m - self.from;
        let t = (q.dot(self.along) * self.inverse_length_squared).clamp(0.0, 1.0);
        q - t * self.along
    }

    /// Whether a ray from `m` toward greater radii crosses the edge.
    fn crosses(&self, m: Vec2) -> bool {
        let q = m - self.from;
        let straddles = (self.from.y > m.y) != (self.to_y > m.y);
        let side = q.x * self.along.y < self.along.x * q.y;
        self.surface && straddles && (side == (self.along.y > 0.0))
    }
}

/// The compiled profile with its axis.
#[derive(Debug, Clone)]
pub(super) struct Revolution {
    pub axis: Axis,
    /// Counter-clockwise in (radius, height).
    edges: Vec<Edge>,
}

impl Revolution {
    /// Radii below zero count as zero; the profile may run either way round.
    pub fn new(origin: Vec3, axis: Vec3, profile: &[[f32; 2]]) -> Self {
        let mut points: Vec<Vec2> = profile
            .iter()
            .map(|&[r, h]| Vec2::new(r.max(0.0), h))
            .collect();
        let area: f64 = pairs(&points).map(|(a, b)| cross(a, b)).sum();
        if area < 0.0 {
            points.reverse();
        }
        let extent = points.iter().fold(0.0f32, |e, p| e.max(p.x).max(p.y.abs()));
        let on_axis = 1e-6 * extent;
        let edges = pairs(&points)
            .filter(|(a, b)| a != b)
            .map(|(a, b)| Edge {
                from: a,
                along: b - a,
                inverse_length_squared: 1.0 / (b - a).length_squared().max(f32::MIN_POSITIVE),
                to_y: b.y,
                surface: a.x > on_axis || b.x > on_axis,
            })
            .collect();
        Self {
            axis: Axis::new(origin, axis),
            edges,
        }
    }

    pub fn distance(&self, p: Vec3) -> f32 {
        let (nearest, inside) = self.nearest(self.axis.meridian(p));
        let d = nearest.0.sqrt();
        if inside { -d } else { d }
    }

    /// Squared distance, offset and direction of the nearest edge, and whether a point of the meridian plane is inside.
    #[inline]
    fn nearest(&self, m: Vec2) -> ((f32, Vec2, Vec2), bool) {
        let mut nearest = (f32::INFINITY, Vec2::ZERO, Vec2::Y);
        let mut inside = false;
        for edge in &self.edges {
            let offset = edge.offset(m);
            let d = offset.length_squared();
            if edge.surface && d < nearest.0 {
                nearest = (d, offset, edge.along);
            }
            inside ^= edge.crosses(m);
        }
        (nearest, inside)
    }

    pub fn normal(&self, p: Vec3) -> Vec3 {
        let ((d, offset, along), inside) = self.nearest(self.axis.meridian(p));
        // On the surface the offset has no direction; the outside lies to the right of the edge.
        let gradient = if d > 1e-12 * along.length_squared() {
            if inside { -offset } else { offset }
        } else {
            Vec2::new(along.y, -along.x)
        };
        self.axis
            .lift(p, gradient.try_normalize().unwrap_or(Vec2::Y))
    }

    pub fn bounds(&self) -> Bounds {
        let extent = self.axis.disk_extent();
        Bounds::from_points(self.edges.iter().flat_map(|e| {
            let center = self.axis.origin + e.from.y * self.axis.direction;
            [center - e.from.x * extent, center + e.from.x * extent]
        }))
    }

    /// Volume [m³], by Pappus: 2π times the integral of the radius over the polygon.
    pub fn volume(&self) -> f64 {
        let moment: f64 = self
            .edges
            .iter()
            .map(|e| {
                let (a, b) = (e.from, e.from + e.along);
                (f64::from(a.x) + f64::from(b.x)) * cross(a, b) / 6.0
            })
            .sum();
        2.0 * std::f64::consts::PI * moment.abs()
    }
}

fn cross(a: Vec2, b: Vec2) -> f64 {
    f64::from(a.x) * f64::from(b.y) - f64::from(b.x) * f64::from(a.y)
}

/// Consecutive points of a closed polygon.
fn pairs(points: &[Vec2]) -> impl Iterator<Item = (Vec2, Vec2)> + '_ {
    points
        .iter()
        .zip(points.iter().cycle().skip(1))
        .map(|(a, b)| (*a, *b))
}
