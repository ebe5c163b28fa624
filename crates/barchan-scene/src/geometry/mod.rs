//! Shapes as signed distance functions: negative inside, positive outside.
//!
//! Primitives are exact. Booleans take minima and maxima of their parts: exact at the surface, elsewhere a distance that
//! is never too large. Meshes are sampled on a grid, see [`Geometry::mesh`].

mod bounds;
mod moments;
mod points;
mod primitive;
mod revolution;
mod sampled;
mod solids;
mod surface;
#[cfg(test)]
mod tests;
mod thickness;
mod volume;

pub use bounds::Bounds;
pub use moments::Moments;
pub use solids::{Piece, Solid};
pub(crate) use thickness::children;

use crate::mesh::TriangleMesh;
use crate::model::Dimensions;
use glam::{Quat, Vec3};
use primitive::{Axis, Cylinder, Placement};
use revolution::Revolution;
use sampled::SampledMesh;
use std::f64::consts::PI;
use std::sync::Arc;

/// A compiled shape: primitive, mesh, boolean combination or transform of others. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Geometry(Arc<Compiled>);

#[derive(Debug)]
struct Compiled {
    shape: Shape,
    bounds: Bounds,
}

#[derive(Debug)]
enum Shape {
    Cuboid(Bounds),
    Sphere {
        center: Vec3,
        radius: f32,
    },
    Cylinder(Cylinder),
    Capsule {
        from: Vec3,
        to: Vec3,
        radius: f32,
    },
    HalfSpace {
        point: Vec3,
        normal: Vec3,
    },
    Torus {
        axis: Axis,
        radius: f32,
        tube: f32,
    },
    Revolution(Revolution),
    Mesh(SampledMesh),
    Union(Vec<Geometry>),
    Difference {
        from: Geometry,
        parts: Vec<Geometry>,
    },
    Intersection(Vec<Geometry>),
    Transformed {
        inner: Geometry,
        placement: Placement,
    },
}

impl Geometry {
    fn compile(shape: Shape, bounds: Bounds) -> Self {
        Self(Arc::new(Compiled { shape, bounds }))
    }

    /// Box between two corners [m], in any order; coordinates may be infinite.
    pub fn cuboid(min: Vec3, max: Vec3) -> Self {
        let bounds = Bounds::from_corners(min, max);
        Self::compile(Shape::Cuboid(bounds), bounds)
    }

    /// Ball [m].
    pub fn sphere(center: Vec3, radius: f32) -> Self {
        let (center, radius) = (center, radius.abs());
        let bounds = Bounds::from_corners(center - radius, center + radius);
        Self::compile(Shape::Sphere { center, radius }, bounds)
    }

    /// Solid cylinder between the centers of its two flat ends [m].
    pub fn cylinder(from: Vec3, to: Vec3, radius: f32) -> Self {
        let axis = Axis::new(0.5 * (from + to), to - from);
        let radius = radius.abs();
        let extent = radius * axis.disk_extent();
        let bounds = Bounds {
            min: from.min(to) - extent,
            max: from.max(to) + extent,
        };
        let cylinder = Cylinder {
            axis,
            radius,
            half_height: 0.5 * from.distance(to),
        };
        Self::compile(Shape::Cylinder(cylinder), bounds)
    }

    /// All points within `radius` of a segment [m].
    pub fn capsule(from: Vec3, to: Vec3, radius: f32) -> Self {
        let radius = radius.abs();
        let bounds = Bounds::from_corners(from, to).expand(radius);
        Self::compile(Shape::Capsule { from, to, radius }, bounds)
    }

    /// Cone with flat ends of two radii [m]; a radius of zero makes a tip.
    pub fn cone(from: Vec3, to: Vec3, radius_from: f32, radius_to: f32) -> Self {
        let height = from.distance(to);
        let profile = vec![
            [0.0, 0.0],
            [radius_from.abs(), 0.0],
            [radius_to.abs(), height],
            [0.0, height],
        ];
        Self::revolution(from, to - from, profile)
    }

    /// Everything on the side of the plane through `point` that `normal` points away from.
    pub fn half_space(point: Vec3, normal: Vec3) -> Self {
        let normal = normal.try_normalize().unwrap_or(Vec3::Y);
        let mut bounds = Bounds::INFINITE;
        for axis in 0..3 {
            if normal[axis] == 1.0 {
                bounds.max[axis] = point[axis];
            } else if normal[axis] == -1.0 {
                bounds.min[axis] = point[axis];
            }
        }
        Self::compile(Shape::HalfSpace { point, normal }, bounds)
    }

    /// Ring of radius `radius` about `axis` with a round section of radius `tube` [m].
    pub fn torus(center: Vec3, axis: Vec3, radius: f32, tube: f32) -> Self {
        let axis = Axis::new(center, axis);
        let (radius, tube) = (radius.abs(), tube.abs());
        let extent = radius * axis.disk_extent() + tube;
        let bounds = Bounds::from_corners(center - extent, center + extent);
        Self::compile(Shape::Torus { axis, radius, tube }, bounds)
    }

    /// Closed polygon of points (radius ≥ 0, height along the axis) [m], turned about the axis through `origin`.
    ///
    /// The polygon must not cross itself; it may run either way round and may touch the axis.
    pub fn revolution(origin: Vec3, axis: Vec3, profile: Vec<[f32; 2]>) -> Self {
        let solid = Revolution::new(origin, axis, &profile);
        let bounds = solid.bounds();
        Self::compile(Shape::Revolution(solid), bounds)
    }

    /// Triangle mesh, sampled on a grid with spacing `voxel` [m] and interpolated between.
    ///
    /// A point is inside where the mesh winds around it once or more, so overlapping closed parts unite and inward-facing
    /// shells are cavities. An open mesh has no inside: it becomes a shell that reaches one voxel to either side of the
    /// triangles. Near the surface nodes hold exact distances, farther away those of the eikonal equation. A grid holds
    /// at most 256³ nodes: a finer `voxel` is coarsened to fit, and one that is not positive replaced by one that gives
    /// about 128³. A mesh without triangles is an empty shape.
    pub fn mesh(mesh: &TriangleMesh, voxel: f32) -> Self {
        match SampledMesh::new(mesh, voxel) {
            Some((grid, bounds)) => Self::compile(Shape::Mesh(grid), bounds),
            None => Self::union(Vec::new()),
        }
    }

    /// Union of the parts; empty without parts.
    pub fn union(parts: Vec<Self>) -> Self {
        let bounds = parts
            .iter()
            .fold(Bounds::EMPTY, |b, p| b.union(&p.bounds()));
        Self::compile(Shape::Union(parts), bounds)
    }

    /// `from` without the parts.
    pub fn difference(from: Self, parts: Vec<Self>) -> Self {
        let mut bounds = from.bounds();
        for part in &parts {
            if let Shape::HalfSpace { point, normal } = part.0.shape {
                bounds = bounds.intersect(&Self::half_space(point, -normal).bounds());
            }
        }
        Self::compile(Shape::Difference { from, parts }, bounds)
    }

    /// Intersection of the parts; all of space without parts.
    pub fn intersection(parts: Vec<Self>) -> Self {
        let bounds = parts
            .iter()
            .fold(Bounds::INFINITE, |b, p| b.intersect(&p.bounds()));
        Self::compile(Shape::Intersection(parts), bounds)
    }

    /// The shape scaled about the origin, then rotated about it, then moved [m].
    pub fn transformed(self, rotation: Quat, translation: Vec3, scale: f32) -> Self {
        let rotation = if rotation.length_squared() > 0.0 && rotation.is_finite() {
            rotation.normalize()
        } else {
            Quat::IDENTITY
        };
        let scale = scale.abs().max(f32::MIN_POSITIVE);
        let bounds = self.bounds().transformed(rotation, translation, scale);
        let placement = Placement {
            rotation,
            inverse: rotation.inverse(),
            translation,
            scale,
        };
        let inner = self;
        Self::compile(Shape::Transformed { inner, placement }, bounds)
    }

    /// Signed distance at `p` [m]: negative inside. Exact for primitives; for booleans a bound that is exact at the
    /// surface and never too large in magnitude.
    pub fn distance(&self, p: Vec3) -> f32 {
        match &self.0.shape {
            Shape::Cuboid(cuboid) => primitive::cuboid_distance(cuboid, p),
            Shape::Sphere { center, radius } => p.distance(*center) - radius,
            Shape::Cylinder(cylinder) => cylinder.distance(p),
            Shape::Capsule { from, to, radius } => {
                p.distance(primitive::closest_on_segment(*from, *to, p)) - radius
            }
            Shape::HalfSpace { point, normal } => (p - *point).dot(*normal),
            Shape::Torus { axis, radius, tube } => {
                let m = axis.meridian(p);
                (m.x - radius).hypot(m.y) - tube
            }
            Shape::Revolution(solid) => solid.distance(p),
            Shape::Mesh(grid) => grid.distance(p),
            Shape::Union(parts) => union_distance(parts, p).0,
            Shape::Difference { from, parts } => parts
                .iter()
                .fold(from.distance(p), |d, part| d.max(-part.distance(p))),
            Shape::Intersection(parts) => parts
                .iter()
                .fold(f32::NEG_INFINITY, |d, part| d.max(part.distance(p))),
            Shape::Transformed { inner, placement } => {
                placement.scale * inner.distance(placement.own(p))
            }
        }
    }

    /// Unit normal pointing out of the shape (gradient of the distance); `+y` where there is none.
    pub fn normal(&self, p: Vec3) -> Vec3 {
        let n = self.gradient(p);
        if n.is_finite() && n.length_squared() > 0.5 {
            n.normalize()
        } else {
            Vec3::Y
        }
    }

    fn gradient(&self, p: Vec3) -> Vec3 {
        match &self.0.shape {
            Shape::Cuboid(cuboid) => primitive::cuboid_normal(cuboid, p),
            Shape::Sphere { center, .. } => (p - *center).normalize_or(Vec3::Y),
            Shape::Cylinder(cylinder) => cylinder.normal(p),
            Shape::Capsule { from, to, .. } => {
                let offset = p - primitive::closest_on_segment(*from, *to, p);
                // Every direction across the segment is as good as another for a point on it.
                offset
                    .try_normalize()
                    .or_else(|| {
                        (*to - *from)
                            .try_normalize()
                            .map(|a| a.any_orthonormal_vector())
                    })
                    .unwrap_or(Vec3::Y)
            }
            Shape::HalfSpace { normal, .. } => *normal,
            Shape::Torus { axis, radius, .. } => {
                let m = axis.meridian(p);
                let g = glam::Vec2::new(m.x - radius, m.y).normalize_or(glam::Vec2::X);
                axis.lift(p, g)
            }
            Shape::Revolution(solid) => solid.normal(p),
            Shape::Mesh(grid) => grid.normal(p),
            Shape::Union(parts) => union_distance(parts, p)
                .1
                .map_or(Vec3::Y, |part| part.normal(p)),
            Shape::Difference { from, parts } => {
                let cut = deepest(parts.iter().map(|part| (-part.distance(p), part)));
                match cut {
                    Some((d, part)) if d > from.distance(p) => -part.normal(p),
                    _ => from.normal(p),
                }
            }
            Shape::Intersection(parts) => {
                deepest(parts.iter().map(|part| (part.distance(p), part)))
                    .map_or(Vec3::Y, |(_, part)| part.normal(p))
            }
            Shape::Transformed { inner, placement } => {
                placement.rotation * inner.normal(placement.own(p))
            }
        }
    }

    /// A box that holds the shape; infinite where the shape is, empty for an empty shape.
    pub fn bounds(&self) -> Bounds {
        self.0.bounds
    }

    /// Volume [m³]; in 2D the area of the cut with the plane z = 0, times 1 m. Infinite for unbounded shapes.
    ///
    /// Closed form for primitives, else an adaptive sum that is within about 0.1 %.
    pub fn volume(&self, dimensions: Dimensions) -> f64 {
        let bounds = self.bounds();
        if bounds.is_empty() {
            return 0.0;
        }
        match dimensions {
            Dimensions::Three => self.closed_volume().unwrap_or_else(|| {
                if bounds.is_finite() {
                    volume::volume(self)
                } else {
                    f64::INFINITY
                }
            }),
            Dimensions::Two => self.closed_area().unwrap_or_else(|| {
                let (center, size) = (bounds.center(), bounds.size());
                if !size.truncate().is_finite() {
                    return f64::INFINITY;
                }
                let half = 0.5 * size.truncate().max_element();
                let origin = Vec3::new(center.x, center.y, 0.0);
                volume::area(self, origin, Vec3::X, Vec3::Y, half)
            }),
        }
    }

    /// Area [m²] of the cut with the plane through the center of the bounds, perpendicular to `normal`. In 2D the length
    /// of the cut with the line in z = 0, times 1 m. Infinite for unbounded shapes.
    pub fn cross_section(&self, normal: Vec3, dimensions: Dimensions) -> f64 {
        let bounds = self.bounds();
        let (center, size) = (bounds.center(), bounds.size());
        let Some(normal) = normal.try_normalize() else {
            return 0.0;
        };
        match dimensions {
            Dimensions::Three => {
                if !size.is_finite() {
                    return f64::INFINITY;
                }
                let (u, v) = normal.any_orthonormal_pair();
                volume::area(self, center, u, v, 0.5 * size.length())
            }
            Dimensions::Two => {
                let Some(u) = Vec3::new(-normal.y, normal.x, 0.0).try_normalize() else {
                    return 0.0;
                };
                let half = 0.5 * size.truncate().length();
                if !half.is_finite() {
                    return f64::INFINITY;
                }
                volume::length(self, Vec3::new(center.x, center.y, 0.0), u, half)
            }
        }
    }

    fn closed_volume(&self) -> Option<f64> {
        let size = self.bounds().size().as_dvec3();
        match &self.0.shape {
            Shape::Cuboid(_) => Some(size.x * size.y * size.z),
            Shape::Sphere { radius, .. } => Some(4.0 / 3.0 * PI * f64::from(*radius).powi(3)),
            Shape::Cylinder(c) => {
                Some(2.0 * PI * f64::from(c.radius).powi(2) * f64::from(c.half_height))
            }
            Shape::Capsule { from, to, radius } => {
                let (r, h) = (f64::from(*radius), f64::from(from.distance(*to)));
                Some(PI * r * r * (h + 4.0 / 3.0 * r))
            }
            Shape::HalfSpace { .. } => Some(f64::INFINITY),
            Shape::Torus { radius, tube, .. } if radius >= tube => {
                Some(2.0 * PI * PI * f64::from(*radius) * f64::from(*tube).powi(2))
            }
            Shape::Revolution(solid) => Some(solid.volume()),
            Shape::Transformed { inner, placement } => {
                let scale = f64::from(placement.scale);
                inner.closed_volume().map(|v| v * scale.powi(3))
            }
            _ => None,
        }
    }

    fn closed_area(&self) -> Option<f64> {
        match &self.0.shape {
            Shape::Cuboid(Bounds { min, max }) => {
                let size = (*max - *min).as_dvec3();
                let cut = min.z <= 0.0 && max.z >= 0.0;
                Some(if cut { size.x * size.y } else { 0.0 })
            }
            Shape::Sphere { center, radius } => {
                let (r, z) = (f64::from(*radius), f64::from(center.z));
                Some(PI * (r * r - z * z).max(0.0))
            }
            _ => None,
        }
    }
}

/// Smallest distance of the parts and the part that has it. Parts whose box is farther than the best so far are skipped.
fn union_distance(parts: &[Geometry], p: Vec3) -> (f32, Option<&Geometry>) {
    let mut best = (f32::INFINITY, None);
    for part in parts {
        if part.0.bounds.distance(p) > best.0.max(0.0) {
            continue;
        }
        let d = part.distance(p);
        if d < best.0 || best.1.is_none() {
            best = (d, Some(part));
        }
    }
    best
}

/// The entry with the greatest distance; the first of equals.
fn deepest<'a>(parts: impl Iterator<Item = (f32, &'a Geometry)>) -> Option<(f32, &'a Geometry)> {
    parts.fold(None, |best, next| match best {
        Some((d, _)) if next.0 <= d => best,
        _ => Some(next),
    })
}
