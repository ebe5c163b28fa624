//! Distances and gradients of the primitives that are not one-liners.

use super::Bounds;
use glam::{Quat, Vec2, Vec3};

/// A directed line; points are split into radius and height about it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    pub origin: Vec3,
    /// Unit direction.
    pub direction: Vec3,
}

impl Axis {
    pub fn new(origin: Vec3, direction: Vec3) -> Self {
        Self {
            origin,
            direction: direction.try_normalize().unwrap_or(Vec3::Y),
        }
    }

    /// (radius, height) of a point.
    pub fn meridian(&self, p: Vec3) -> Vec2 {
        let q = p - self.origin;
        let h = q.dot(self.direction);
        Vec2::new((q - h * self.direction).length(), h)
    }

    /// The direction in space of a gradient (radial, axial) in the meridian plane of `p`.
    pub fn lift(&self, p: Vec3, gradient: Vec2) -> Vec3 {
        let q = p - self.origin;
        let radial = q - q.dot(self.direction) * self.direction;
        let radial = radial
            .try_normalize()
            .unwrap_or_else(|| self.direction.any_orthonormal_vector());
        gradient.x * radial + gradient.y * self.direction
    }

    /// Half the extent along each coordinate axis of a disk of radius 1 perpendicular to the line.
    pub fn disk_extent(&self) -> Vec3 {
        (Vec3::ONE - self.direction * self.direction)
            .max(Vec3::ZERO)
            .map(f32::sqrt)
    }
}

/// Signed distance of a box given by corners, which may be infinite.
pub(super) fn cuboid_distance(cuboid: &Bounds, p: Vec3) -> f32 {
    let q = (cuboid.min - p).max(p - cuboid.max);
    q.max(Vec3::ZERO).length() + q.max_element().min(0.0)
}

/// Gradient of [`cuboid_distance`].
pub(super) fn cuboid_normal(cuboid: &Bounds, p: Vec3) -> Vec3 {
    let (below, above) = (cuboid.min - p, p - cuboid.max);
    let q = below.max(above);
    let sign = Vec3::select(above.cmpge(below), Vec3::ONE, Vec3::NEG_ONE);
    let outside = q.max(Vec3::ZERO);
    if let Some(n) = outside.try_normalize() {
        return n * sign;
    }
    let mut n = Vec3::ZERO;
    let axis = q.max_position();
    n[axis] = sign[axis];
    n
}

/// A solid cylinder; the origin of its axis is its center.
#[derive(Debug)]
pub(super) struct Cylinder {
    pub axis: Axis,
    pub radius: f32,
    pub half_height: f32,
}

impl Cylinder {
    /// How far a point of the meridian plane lies beyond the lateral surface and the nearer end.
    fn beyond(&self, m: Vec2) -> Vec2 {
        Vec2::new(m.x - self.radius, m.y.abs() - self.half_height)
    }

    pub fn distance(&self, p: Vec3) -> f32 {
        let q = self.beyond(self.axis.meridian(p));
        q.max(Vec2::ZERO).length() + q.max_element().min(0.0)
    }

    pub fn normal(&self, p: Vec3) -> Vec3 {
        let m = self.axis.meridian(p);
        let q = self.beyond(m);
        let up = if m.y < 0.0 { -1.0 } else { 1.0 };
        let inside = if q.x > q.y { Vec2::X } else { Vec2::Y };
        let g = q.max(Vec2::ZERO).try_normalize().unwrap_or(inside);
        self.axis.lift(p, Vec2::new(g.x, g.y * up))
    }
}

/// Scaling about the origin, then rotation about it, then displacement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placement {
    pub rotation: Quat,
    pub inverse: Quat,
    pub translation: Vec3,
    pub scale: f32,
}

impl Placement {
    /// Transforms a point from the shape's own frame.
    pub fn place(&self, p: Vec3) -> Vec3 {
        self.translation + self.rotation * (self.scale * p)
    }

    /// Transforms a point to the shape's own frame.
    pub fn own(&self, p: Vec3) -> Vec3 {
        self.inverse * (p - self.translation) / self.scale
    }
}

/// The point of the segment nearest to `p`.
pub(super) fn closest_on_segment(from: Vec3, to: Vec3, p: Vec3) -> Vec3 {
    let along = to - from;
    let length_squared = along.length_squared();
    if length_squared > 0.0 {
        from + along * ((p - from).dot(along) / length_squared).clamp(0.0, 1.0)
    } else {
        from
    }
}
