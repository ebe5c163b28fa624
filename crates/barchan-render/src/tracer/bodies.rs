//! Moving triangle meshes.

use super::hierarchy::{Hierarchy, Primitive};
use super::{FARTHEST, Ray};
use barchan_scene::geometry::{Bounds, Geometry};
use barchan_scene::mesh::TriangleMesh;
use barchan_scene::motion::Pose;
use glam::{Quat, Vec3};
use obvhs::aabb::Aabb;
use obvhs::{Boundable, BvhBuildParams};
use std::sync::Arc;

/// Surface material.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Material {
    /// Opaque and diffuse, with an albedo (linear light).
    Matte(Vec3),
    /// Transparent, with Fresnel reflection but without refraction.
    Glass,
}

/// A surface at rest, in its own frame.
pub struct Shape {
    geometry: Geometry,
    triangles: Hierarchy<Triangle>,
    bounds: Bounds,
    /// Half the diagonal of `bounds`.
    radius: f32,
}

#[derive(Debug, Clone, Copy)]
struct Triangle {
    corner: Vec3,
    edges: [Vec3; 2],
}

impl Boundable for Triangle {
    fn aabb(&self) -> Aabb {
        let (a, [e, f]) = (self.corner, self.edges);
        let low = a.min(a + e).min(a + f);
        let high = a.max(a + e).max(a + f);
        Aabb::new(low.into(), high.into())
    }
}

impl Shape {
    /// The triangle mesh of a geometry; normals are those of its signed distance.
    pub fn new(geometry: Geometry, mesh: &TriangleMesh) -> Self {
        let corner = |i: u32| mesh.vertices.get(i as usize).copied().unwrap_or_default();
        let triangles = mesh.triangles.iter().map(|&[a, b, c]| Triangle {
            corner: corner(a),
            edges: [corner(b) - corner(a), corner(c) - corner(a)],
        });
        let usable = |t: &Triangle| {
            let reach = t.corner.abs() + t.edges[0].abs() + t.edges[1].abs();
            reach.cmplt(Vec3::splat(FARTHEST)).all()
        };
        let triangles = triangles.filter(usable).collect();
        let bounds = mesh.bounds();
        Self {
            geometry,
            triangles: Hierarchy::new(triangles, BvhBuildParams::medium_build()),
            bounds,
            radius: 0.5 * bounds.size().length(),
        }
    }

    /// Box around the surface [m].
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    fn closest(&self, ray: &Ray, limit: f32) -> Option<f32> {
        match self.is_near(ray) {
            true => self.triangles.closest(ray, limit).map(|(t, _)| t),
            false => None,
        }
    }

    fn occludes(&self, ray: &Ray, limit: f32) -> bool {
        self.is_near(ray) && self.triangles.occludes(ray, limit)
    }

    /// Whether the ray intersects the bounding sphere: an early out before the traversal of the hierarchy.
    fn is_near(&self, ray: &Ray) -> bool {
        let to_center = self.bounds.center() - ray.origin;
        let along = to_center.dot(ray.direction).max(0.0);
        let beside = to_center - along * ray.direction;
        // Margin for rounding.
        let reach = 1.01 * self.radius + 1e-6 * along;
        !self.triangles.is_empty() && beside.length_squared() <= reach * reach
    }
}

impl Primitive for Triangle {
    fn intersect(&self, ray: &Ray, limit: f32) -> f32 {
        let [e, f] = self.edges;
        let across = ray.direction.cross(f);
        let scale = e.dot(across);
        if scale == 0.0 {
            return f32::INFINITY;
        }
        let from_corner = ray.origin - self.corner;
        let u = from_corner.dot(across) / scale;
        let over = from_corner.cross(e);
        let v = ray.direction.dot(over) / scale;
        let t = f.dot(over) / scale;
        let inside = u >= 0.0 && v >= 0.0 && u + v <= 1.0;
        if inside && t > 0.0 && t < limit {
            t
        } else {
            f32::INFINITY
        }
    }
}

/// A body during one exposure.
pub struct Body {
    /// Its surface.
    pub shape: Arc<Shape>,
    /// Its material.
    pub material: Material,
    /// Pose at the middle of the exposure.
    pub pose: Pose,
    /// Displacement of its origin [m] and rotation vector [rad] during the exposure, from its present velocities.
    pub motion: [Vec3; 2],
    /// Clipping plane: the side that the normal points to is removed. Point and unit normal in the world.
    pub cut: Option<(Vec3, Vec3)>,
}

/// Intersection of a ray with a body.
pub struct BodyHit {
    /// Distance along the ray [m].
    pub t: f32,
    /// Unit normal, outward.
    pub normal: Vec3,
}

impl Body {
    /// Closest hit before `limit`.
    pub fn closest(&self, ray: &Ray, limit: f32) -> Option<BodyHit> {
        let pose = self.pose(ray.time);
        let local = in_body(ray, &pose);
        let (t, face) = self.intersect(ray, &local, limit)?;
        let normal = match face {
            Face::Cut(normal) => normal,
            Face::Surface => pose.rotation * self.shape.geometry.normal(local.at(t)),
        };
        Some(BodyHit { t, normal })
    }

    /// Whether it intersects the ray before `limit`.
    pub fn occludes(&self, ray: &Ray, limit: f32) -> bool {
        let local = in_body(ray, &self.pose(ray.time));
        match self.cut {
            None => self.shape.occludes(&local, limit),
            Some(_) => self.intersect(ray, &local, limit).is_some(),
        }
    }

    /// Distance to the closest hit before `limit`, on the surface or on the clipping plane. `local` is the ray in the body's frame.
    fn intersect(&self, ray: &Ray, local: &Ray, limit: f32) -> Option<(f32, Face)> {
        let on_surface = |t: f32| (t, Face::Surface);
        let Some((point, normal)) = self.cut else {
            return self.shape.closest(local, limit).map(on_surface);
        };
        let height = (ray.origin - point).dot(normal);
        let crossing = -height / ray.direction.dot(normal);
        if height <= 0.0 {
            // The ray starts in the visible half and ends at the clipping plane.
            let end = if crossing > 0.0 {
                crossing.min(limit)
            } else {
                limit
            };
            return self.shape.closest(local, end).map(on_surface);
        }
        if !(crossing > 0.0 && crossing < limit) {
            return None;
        }
        let entry = Ray {
            origin: local.at(crossing),
            ..*local
        };
        if self.shape.geometry.distance(entry.origin) < 0.0 {
            return Some((crossing, Face::Cut(normal)));
        }
        let t = self.shape.closest(&entry, limit - crossing)?;
        Some((crossing + t, Face::Surface))
    }

    /// Transmittance of `length` [m] of its glass: clear through a wall, tinted through the whole body.
    pub fn transmission(&self, length: f32) -> Vec3 {
        const THROUGH_ALL: Vec3 = Vec3::new(0.62, 0.74, 0.72);
        let size = self.shape.bounds.size().max_element();
        THROUGH_ALL.powf(if size > 0.0 { length / size } else { 0.0 })
    }

    /// Pose at a time within the exposure.
    fn pose(&self, time: f32) -> Pose {
        match self.motion {
            [Vec3::ZERO, Vec3::ZERO] => self.pose,
            [distance, turn] => moved(&self.pose, distance, turn, time),
        }
    }
}

enum Face {
    Surface,
    Cut(Vec3),
}

/// A ray in the frame of a body.
fn in_body(ray: &Ray, pose: &Pose) -> Ray {
    let inverse = pose.rotation.inverse();
    Ray {
        origin: inverse * (ray.origin - pose.position),
        direction: inverse * ray.direction,
        time: ray.time,
    }
}

/// Pose of a body after the fraction `part` of a motion: its origin initially moves along `distance` [m], and it rotates by
/// the vector `turn` [rad]. Rotation about a pivot is reproduced exactly: the origin follows its arc at any distance.
fn moved(pose: &Pose, distance: Vec3, turn: Vec3, part: f32) -> Pose {
    let turn = part * turn;
    let angle = turn.length();
    let along = part * distance;
    let arc = if angle > 1e-4 {
        let axis = turn / angle;
        let (sin, cos) = angle.sin_cos();
        let straight = sin / angle;
        straight * along
            + (1.0 - straight) * along.dot(axis) * axis
            + (1.0 - cos) / angle * axis.cross(along)
    } else {
        along
    };
    Pose {
        position: pose.position + arc,
        rotation: Quat::from_scaled_axis(turn) * pose.rotation,
    }
}
