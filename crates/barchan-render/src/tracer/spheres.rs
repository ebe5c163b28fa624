//! Moving spheres in a bounding volume hierarchy.

use super::{FARTHEST, Ray};
use crate::grains::Grains;
use glam::Vec3;
use obvhs::aabb::Aabb;
use obvhs::cwbvh::CwBvh;
use obvhs::cwbvh::builder::build_cwbvh;
use obvhs::ray::RayHit;
use obvhs::{Boundable, BvhBuildParams};
use rayon::prelude::*;
use std::time::Duration;

/// One grain: 32 bytes, half a cache line.
#[derive(Debug, Clone, Copy)]
struct Sphere {
    /// Center in the middle of the exposure [m].
    center: Vec3,
    radius: f32,
    /// How far it moves while the shutter is open [m].
    motion: Vec3,
    color: [u8; 4],
}

impl Boundable for Sphere {
    fn aabb(&self) -> Aabb {
        let reach = 0.5 * self.motion.abs() + Vec3::splat(self.radius);
        Aabb::new(
            (self.center - reach).to_array().into(),
            (self.center + reach).to_array().into(),
        )
    }
}

/// Spheres, stored in the order in which rays meet them.
#[derive(Default)]
pub struct Spheres {
    list: Vec<Sphere>,
    bvh: CwBvh,
}

/// Where a ray meets a sphere.
pub struct SphereHit {
    pub t: f32,
    pub normal: Vec3,
    pub color: [u8; 3],
}

impl Spheres {
    /// Grains that move by their velocity while the shutter is open for `exposure` [s].
    pub fn new(grains: &Grains, exposure: f32) -> Self {
        Self::some(grains, exposure, |_| true)
    }

    /// The same, of the grains whose centers [m] are `shown`.
    pub fn some(grains: &Grains, exposure: f32, shown: impl Fn([f32; 3]) -> bool + Sync) -> Self {
        let list: Vec<Sphere> = (0..grains.len())
            .into_par_iter()
            .filter(|&i| shown(grains.position[i]))
            .filter_map(|i| sphere(grains, i, exposure))
            .collect();
        if list.is_empty() {
            return Self::default();
        }
        let params = BvhBuildParams {
            max_prims_per_leaf: 3,
            // Better trees take longer to build than they save: spheres of one size are easy.
            ..BvhBuildParams::fastest_build()
        };
        let mut bvh = build_cwbvh(&list, params, &mut Duration::default());
        // Rays then read neighbors from neighboring memory, and the indirection is gone.
        let ordered = bvh.primitive_indices.par_iter();
        let list = ordered.map(|&i| list[i as usize]).collect();
        bvh.primitive_indices = Vec::new();
        bvh.exact_node_aabbs = None;
        Self { list, bvh }
    }

    /// The first sphere that a ray enters before `limit`.
    pub fn closest(&self, ray: &Ray, limit: f32) -> Option<SphereHit> {
        let mut hit = RayHit::none();
        hit.t = limit;
        let meets = |r: &obvhs::ray::Ray, i: usize| self.list[i].entry(ray, r.tmax);
        if self.list.is_empty() || !self.bvh.ray_traverse(ray.traversal(limit), &mut hit, meets) {
            return None;
        }
        let sphere = &self.list[hit.primitive_id as usize];
        let [r, g, b, _] = sphere.color;
        Some(SphereHit {
            t: hit.t,
            normal: (ray.at(hit.t) - sphere.center_at(ray.time)) / sphere.radius,
            color: [r, g, b],
        })
    }

    /// Whether any sphere stands in the way before `limit`.
    pub fn block(&self, ray: &Ray, limit: f32) -> bool {
        let meets = |r: &obvhs::ray::Ray, i: usize| self.list[i].entry(ray, r.tmax);
        !self.list.is_empty() && !self.bvh.ray_traverse_miss(ray.traversal(limit), meets)
    }
}

/// Grain `i`; none where its numbers are not finite or absurdly large.
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

    /// Distance at which the ray enters; `f32::INFINITY` unless that lies in front of it and before `limit`.
    #[inline(always)]
    fn entry(&self, ray: &Ray, limit: f32) -> f32 {
        let to_center = self.center_at(ray.time) - ray.origin;
        let nearest = to_center.dot(ray.direction);
        // By the vector to the nearest point: exact also for small spheres far away.
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
