//! Moving spheres.

use super::hierarchy::{Hierarchy, Primitive};
use super::{FARTHEST, Hit, Ray};
use crate::color::to_linear;
use crate::grains::Grains;
use glam::Vec3;
use obvhs::aabb::Aabb;
use obvhs::{Boundable, BvhBuildParams};
use rayon::prelude::*;

/// One grain: 32 bytes, half a cache line.
#[derive(Debug, Clone, Copy)]
struct Sphere {
    /// Center at the middle of the exposure [m].
    center: Vec3,
    radius: f32,
    /// Displacement during the exposure [m].
    motion: Vec3,
    color: [u8; 4],
}

impl Boundable for Sphere {
    fn aabb(&self) -> Aabb {
        let reach = 0.5 * self.motion.abs() + Vec3::splat(self.radius);
        Aabb::new((self.center - reach).into(), (self.center + reach).into())
    }
}

/// Grains during the exposure.
pub struct Spheres(Hierarchy<Sphere>);

impl Spheres {
    /// Grains whose centers [m] are `shown`, and which move by their velocity while the shutter is open for `exposure` [s].
    pub fn new(grains: &Grains, exposure: f32, shown: impl Fn([f32; 3]) -> bool + Sync) -> Self {
        let list = (0..grains.len())
            .into_par_iter()
            .filter(|&i| shown(grains.position[i]))
            .filter_map(|i| sphere(grains, i, exposure))
            .collect();
        // For spheres of similar size a better tree costs more to build than it saves.
        Self(Hierarchy::new(list, BvhBuildParams::fastest_build()))
    }

    /// Closest hit before `limit`.
    pub(super) fn closest(&self, ray: &Ray, limit: f32) -> Option<Hit> {
        let (t, sphere) = self.0.closest(ray, limit)?;
        let [r, g, b, _] = sphere.color;
        Some(Hit {
            t,
            normal: (ray.at(t) - sphere.center_at(ray.time)) / sphere.radius,
            albedo: to_linear([r, g, b]),
            faded: 0.0,
        })
    }

    /// Whether any sphere intersects the ray before `limit`.
    pub fn occludes(&self, ray: &Ray, limit: f32) -> bool {
        self.0.occludes(ray, limit)
    }
}

/// Grain `i`; `None` if its values are not finite or out of range.
fn sphere(grains: &Grains, i: usize, exposure: f32) -> Option<Sphere> {
    let center = Vec3::from_array(grains.position[i]);
    let velocity = grains.velocity.get(i).copied().unwrap_or_default();
    let motion = exposure * Vec3::from_array(velocity);
    let radius = grains.radius(i);
    let [r, g, b] = grains.color.get(i).copied().unwrap_or([255; 3]);
    let reach = center.abs() + motion.abs() + radius;
    let usable = radius > 0.0 && reach.cmplt(Vec3::splat(FARTHEST)).all();
    usable.then_some(Sphere {
        center,
        radius,
        motion,
        color: [r, g, b, 0],
    })
}

impl Sphere {
    fn center_at(&self, time: f32) -> Vec3 {
        self.center + time * self.motion
    }
}

impl Primitive for Sphere {
    /// Distance at which the ray enters the sphere [m].
    #[inline(always)]
    fn intersect(&self, ray: &Ray, limit: f32) -> f32 {
        let to_center = self.center_at(ray.time) - ray.origin;
        let nearest = to_center.dot(ray.direction);
        // From the closest point of the ray to the center: accurate for small distant spheres too.
        let beside = (to_center - nearest * ray.direction).length_squared();
        let depth = self.radius * self.radius - beside;
        if depth < 0.0 {
            return f32::INFINITY;
        }
        let t = nearest - depth.sqrt();
        if t > 0.0 && t < limit {
            t
        } else {
            f32::INFINITY
        }
    }
}
