//! Bodies that are not grains: triangle surfaces that move, and endless planes.

use super::hierarchy::{Hierarchy, Target};
use super::{FARTHEST, Ray};
use barchan_scene::geometry::{Bounds, Geometry};
use barchan_scene::mesh::TriangleMesh;
use barchan_scene::motion::Pose;
use glam::{Quat, Vec3};
use obvhs::aabb::Aabb;
use obvhs::{Boundable, BvhBuildParams};
use std::sync::Arc;

/// How light meets a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Material {
    /// Opaque, of one color (linear light).
    Matte(Vec3),
    /// Clear, reflecting at grazing angles; light goes straight through.
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
        let low = a.min(a + e).min(a + f).to_array();
        let high = a.max(a + e).max(a + f).to_array();
        Aabb::new(low.into(), high.into())
    }
}

impl Shape {
    /// The surface `mesh` of a geometry; normals come from the geometry itself.
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

    fn blocks(&self, ray: &Ray, limit: f32) -> bool {
        self.is_near(ray) && self.triangles.blocks(ray, limit)
    }

    /// Whether the ray comes near the surface at all: most rays do not, and the hierarchy takes longer to say so.
    fn is_near(&self, ray: &Ray) -> bool {
        let to_center = self.bounds.center() - ray.origin;
        let along = to_center.dot(ray.direction).max(0.0);
        let beside = to_center - along * ray.direction;
        // A little more, for rounding.
        let reach = 1.01 * self.radius + 1e-6 * along;
        !self.triangles.is_empty() && beside.length_squared() <= reach * reach
    }
}

impl Target for Triangle {
    fn meets(&self, ray: &Ray, limit: f32) -> f32 {
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
    /// How light meets it.
    pub material: Material,
    /// Where it is in the middle of the exposure.
    pub pose: Pose,
    /// How far its origin moves [m] and by how much it turns [rad] while the shutter is open, at its present velocities.
    pub motion: [Vec3; 2],
    /// Cut away: what lies on the side that the normal points to is left out. Point and unit normal in the world.
    pub cut: Option<(Vec3, Vec3)>,
}

/// Where a ray meets a body.
pub struct BodyHit {
    pub t: f32,
    /// Outwards.
    pub normal: Vec3,
}

impl Body {
    /// The first point before `limit`.
    pub fn closest(&self, ray: &Ray, limit: f32) -> Option<BodyHit> {
        let pose = self.pose(ray.time);
        let local = in_body(ray, &pose);
        let (t, face) = self.meets(ray, &local, limit)?;
        let normal = match face {
            Face::Cut(normal) => normal,
            Face::Surface => pose.rotation * self.shape.geometry.normal(local.at(t)),
        };
        Some(BodyHit { t, normal })
    }

    /// Whether it stands in the way before `limit`.
    pub fn blocks(&self, ray: &Ray, limit: f32) -> bool {
        let local = in_body(ray, &self.pose(ray.time));
        match self.cut {
            None => self.shape.blocks(&local, limit),
            Some(_) => self.meets(ray, &local, limit).is_some(),
        }
    }

    /// Distance to the first point before `limit`, of the surface or of the cut. `local` is the ray in the body's frame.
    fn meets(&self, ray: &Ray, local: &Ray, limit: f32) -> Option<(f32, Face)> {
        let on_surface = |t: f32| (t, Face::Surface);
        let Some((point, normal)) = self.cut else {
            return self.shape.closest(local, limit).map(on_surface);
        };
        let height = (ray.origin - point).dot(normal);
        let crossing = -height / ray.direction.dot(normal);
        if height <= 0.0 {
            // Starts in what is left; ends where it leaves it.
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

    /// Part of the light that `length` [m] of its glass lets pass: clear through a wall, tinted through the whole body.
    pub fn transmission(&self, length: f32) -> Vec3 {
        const THROUGH_ALL: Vec3 = Vec3::new(0.62, 0.74, 0.72);
        let size = self.shape.bounds.size().max_element();
        THROUGH_ALL.powf(if size > 0.0 { length / size } else { 0.0 })
    }

    /// Where it is at a moment of the exposure.
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

/// Where a body is after `part` of a motion by which its origin begins to move along `distance` [m] and it turns by the
/// vector `turn` [rad]. A turn about a pivot stays one: the origin follows its arc, however far away it is.
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
