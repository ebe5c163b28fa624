//! The path tracer: rays from the camera, light from sun and sky.

mod bodies;
mod hierarchy;
mod integrator;
mod relief;
mod sampler;
mod sky;
mod spheres;

pub use bodies::{Body, Material, Shape};
pub use integrator::{Plane, Quality, Stage};
pub use relief::Relief;
pub use sky::Sky;
pub use spheres::Spheres;

use glam::Vec3;

/// Largest coordinate that is rendered [m]: areas of bounding boxes must stay finite.
const FARTHEST: f32 = 1e12;

/// Closest opaque hit on a ray.
#[derive(Debug)]
struct Hit {
    /// Distance along the ray [m].
    t: f32,
    /// Unit vector out of the surface.
    normal: Vec3,
    /// Albedo, linear light.
    albedo: Vec3,
    /// Fade of a plane into the horizon, 0 to 1.
    faded: f32,
}

/// A ray at a time within the exposure.
#[derive(Debug, Clone, Copy)]
pub struct Ray {
    /// Where it starts [m].
    pub origin: Vec3,
    /// Unit vector.
    pub direction: Vec3,
    /// Time, from −½ (shutter opens) to ½ (closes).
    pub time: f32,
}

impl Ray {
    fn at(&self, t: f32) -> Vec3 {
        self.origin + t * self.direction
    }

    /// The ray for the hierarchy. A non-finite ray, which would intersect every box, is replaced by one that intersects none.
    fn traversal(&self, limit: f32) -> obvhs::ray::Ray {
        let finite = self.origin.is_finite() && self.direction.is_finite();
        let limit = if finite { limit } else { -1.0 };
        obvhs::ray::Ray::new(self.origin.into(), self.direction.into(), 0.0, limit)
    }
}
