//! Shapes as signed distance functions: negative inside, positive outside. (Plain closures; stands in for the compiled form.)

use glam::{Quat, Vec2, Vec3};
use std::sync::Arc;

/// An axis-aligned box; may be infinite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Lower corner [m].
    pub min: Vec3,
    /// Upper corner [m].
    pub max: Vec3,
}

/// A compiled shape: primitive, mesh, boolean combination or transform of others. Cheap to clone.
#[derive(Clone)]
pub struct Geometry {
    distance: Arc<dyn Fn(Vec3) -> f32 + Send + Sync>,
    bounds: Bounds,
}

impl std::fmt::Debug for Geometry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Geometry in {:?}", self.bounds)
    }
}

#[allow(missing_docs, reason = "stands in for the compiled form")]
impl Geometry {
    fn new(min: Vec3, max: Vec3, distance: impl Fn(Vec3) -> f32 + Send + Sync + 'static) -> Self {
        Self {
            distance: Arc::new(distance),
            bounds: Bounds { min, max },
        }
    }

    pub fn cuboid(min: Vec3, max: Vec3) -> Self {
        let (centre, half) = (0.5 * (min + max), 0.5 * (max - min));
        Self::new(min, max, move |p| {
            let q = (p - centre).abs() - half;
            q.max(Vec3::ZERO).length() + q.max_element().min(0.0)
        })
    }

    pub fn sphere(center: Vec3, radius: f32) -> Self {
        Self::new(center - radius, center + radius, move |p| {
            (p - center).length() - radius
        })
    }

    pub fn cylinder(from: Vec3, to: Vec3, radius: f32) -> Self {
        Self::cone(from, to, radius, radius)
    }

    pub fn capsule(from: Vec3, to: Vec3, radius: f32) -> Self {
        Self::new(from.min(to) - radius, from.max(to) + radius, move |p| {
            let axis = to - from;
            let s = ((p - from).dot(axis) / axis.length_squared()).clamp(0.0, 1.0);
            (p - from - s * axis).length() - radius
        })
    }

    pub fn cone(from: Vec3, to: Vec3, radius_from: f32, radius_to: f32) -> Self {
        let reach = radius_from.max(radius_to);
        let (axis, length) = ((to - from).normalize_or(Vec3::Y), (to - from).length());
        let slant = ((radius_from - radius_to) / length).hypot(1.0);
        Self::new(from.min(to) - reach, from.max(to) + reach, move |p| {
            let h = (p - from).dot(axis);
            let r = (p - from - h * axis).length();
            let side = (r - radius_from - (radius_to - radius_from) * h / length) / slant;
            side.max(-h).max(h - length)
        })
    }

    pub fn half_space(point: Vec3, normal: Vec3) -> Self {
        Self::new(Vec3::NEG_INFINITY, Vec3::INFINITY, move |p| {
            (p - point).dot(normal)
        })
    }

    pub fn torus(center: Vec3, axis: Vec3, radius: f32, tube: f32) -> Self {
        let reach = radius + tube;
        Self::new(center - reach, center + reach, move |p| {
            let h = (p - center).dot(axis);
            let r = (p - center - h * axis).length();
            Vec2::new(r - radius, h).length() - tube
        })
    }

    pub fn revolution(origin: Vec3, axis: Vec3, profile: Vec<[f32; 2]>) -> Self {
        let reach = profile
            .iter()
            .fold(0.0, |m: f32, p| m.max(p[0].hypot(p[1])));
        Self::new(origin - reach, origin + reach, move |p| {
            let h = (p - origin).dot(axis);
            let q = Vec2::new((p - origin - h * axis).length(), h);
            let (mut distance, mut inside) = (f32::INFINITY, false);
            for (i, a) in profile.iter().enumerate() {
                let (a, b) = (Vec2::from(*a), Vec2::from(profile[(i + 1) % profile.len()]));
                let s = ((q - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
                distance = distance.min((q - a - s * (b - a)).length());
                let crosses = (a.y > q.y) != (b.y > q.y);
                if crosses && q.x < a.x + (q.y - a.y) / (b.y - a.y) * (b.x - a.x) {
                    inside = !inside;
                }
            }
            if inside { -distance } else { distance }
        })
    }

    pub fn mesh(mesh: &crate::mesh::TriangleMesh, _voxel: f32) -> Self {
        let zero = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        let (min, max) = mesh
            .vertices
            .iter()
            .fold(zero, |(l, h), v| (l.min(*v), h.max(*v)));
        Self::cuboid(min, max)
    }

    pub fn union(parts: Vec<Self>) -> Self {
        let min = parts
            .iter()
            .fold(Vec3::INFINITY, |m, p| m.min(p.bounds.min));
        let max = parts
            .iter()
            .fold(Vec3::NEG_INFINITY, |m, p| m.max(p.bounds.max));
        Self::new(min, max, move |p| {
            parts
                .iter()
                .fold(f32::INFINITY, |d, s| d.min(s.distance(p)))
        })
    }

    pub fn difference(from: Self, parts: Vec<Self>) -> Self {
        let Bounds { min, max } = from.bounds;
        Self::new(min, max, move |p| {
            parts
                .iter()
                .fold(from.distance(p), |d, s| d.max(-s.distance(p)))
        })
    }

    pub fn intersection(parts: Vec<Self>) -> Self {
        let min = parts
            .iter()
            .fold(Vec3::NEG_INFINITY, |m, p| m.max(p.bounds.min));
        let max = parts
            .iter()
            .fold(Vec3::INFINITY, |m, p| m.min(p.bounds.max));
        Self::new(min, max, move |p| {
            parts
                .iter()
                .fold(f32::NEG_INFINITY, |d, s| d.max(s.distance(p)))
        })
    }

    pub fn transformed(self, rotation: Quat, translation: Vec3, scale: f32) -> Self {
        let Bounds { min, max } = self.bounds;
        let centre = translation + rotation * (scale * 0.5 * (min + max));
        let half = 0.5 * scale * (max - min).length();
        let (low, high) = if half.is_finite() {
            (centre - half, centre + half)
        } else {
            (min, max)
        };
        Self::new(low, high, move |p| {
            scale * self.distance(rotation.inverse() * (p - translation) / scale)
        })
    }

    /// Signed distance at `p` [m]. Exact for primitives; for booleans a bound that is exact at the surface.
    pub fn distance(&self, p: Vec3) -> f32 {
        (self.distance)(p)
    }

    /// Unit normal pointing out of the shape (gradient of the distance).
    pub fn normal(&self, p: Vec3) -> Vec3 {
        let e = 1e-4;
        let d = |v: Vec3| self.distance(p + v) - self.distance(p - v);
        Vec3::new(d(e * Vec3::X), d(e * Vec3::Y), d(e * Vec3::Z)).normalize_or(Vec3::Y)
    }

    /// A box that holds the shape.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }
}
