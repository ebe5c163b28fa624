//! What rays look for, in a bounding volume hierarchy.

use super::Ray;
use obvhs::cwbvh::CwBvh;
use obvhs::cwbvh::builder::build_cwbvh;
use obvhs::ray::RayHit;
use obvhs::{Boundable, BvhBuildParams};
use rayon::prelude::*;
use std::time::Duration;

/// Something that a ray can hit.
pub trait Target: Boundable + Copy + Send + Sync {
    /// Distance along the ray; `f32::INFINITY` unless in front of it and before `limit`.
    fn meets(&self, ray: &Ray, limit: f32) -> f32;
}

/// Targets, stored in the order in which rays meet them.
pub struct Hierarchy<T> {
    list: Vec<T>,
    bvh: CwBvh,
}

impl<T: Target> Hierarchy<T> {
    /// Sorts targets into a tree that is built with so much care.
    pub fn new(list: Vec<T>, care: BvhBuildParams) -> Self {
        let bvh = CwBvh::default();
        if list.is_empty() {
            return Self { list, bvh };
        }
        let params = BvhBuildParams {
            max_prims_per_leaf: 3,
            ..care
        };
        let mut bvh = build_cwbvh(&list, params, &mut Duration::default());
        // Rays then read neighbors from neighboring memory, and the indirection is gone.
        let ordered = bvh.primitive_indices.par_iter();
        let list = ordered.map(|&i| list[i as usize]).collect();
        bvh.primitive_indices = Vec::new();
        bvh.exact_node_aabbs = None;
        Self { list, bvh }
    }

    /// Whether there is nothing to hit.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The first target before `limit`, and where the ray hits it.
    pub fn closest(&self, ray: &Ray, limit: f32) -> Option<(f32, &T)> {
        let mut hit = RayHit::none();
        hit.t = limit;
        let meets = |r: &obvhs::ray::Ray, i: usize| self.list[i].meets(ray, r.tmax);
        let found =
            !self.list.is_empty() && self.bvh.ray_traverse(ray.traversal(limit), &mut hit, meets);
        found.then(|| (hit.t, &self.list[hit.primitive_id as usize]))
    }

    /// Whether any target stands in the way before `limit`.
    pub fn blocks(&self, ray: &Ray, limit: f32) -> bool {
        let meets = |r: &obvhs::ray::Ray, i: usize| self.list[i].meets(ray, r.tmax);
        !self.list.is_empty() && !self.bvh.ray_traverse_miss(ray.traversal(limit), meets)
    }
}
