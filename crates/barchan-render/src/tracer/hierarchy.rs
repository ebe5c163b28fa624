//! Bounding volume hierarchy of primitives, for closest-hit and any-hit queries.

use super::Ray;
use obvhs::cwbvh::CwBvh;
use obvhs::cwbvh::builder::build_cwbvh;
use obvhs::ray::RayHit;
use obvhs::{Boundable, BvhBuildParams};
use rayon::prelude::*;
use std::time::Duration;

/// A primitive that rays can intersect.
pub trait Primitive: Boundable + Copy + Send + Sync {
    /// Distance along the ray to the intersection [m]; `f32::INFINITY` if there is none between 0 and `limit`.
    fn intersect(&self, ray: &Ray, limit: f32) -> f32;
}

/// Primitives, stored in the order of the leaves of the tree.
pub struct Hierarchy<T> {
    list: Vec<T>,
    bvh: CwBvh,
}

impl<T: Primitive> Hierarchy<T> {
    /// Builds the tree; `params` sets the effort.
    pub fn new(list: Vec<T>, params: BvhBuildParams) -> Self {
        let bvh = CwBvh::default();
        if list.is_empty() {
            return Self { list, bvh };
        }
        let params = BvhBuildParams {
            max_prims_per_leaf: 3,
            ..params
        };
        let mut bvh = build_cwbvh(&list, params, &mut Duration::default());
        // Traversal then reads adjacent primitives from adjacent memory, without the indirection.
        let ordered = bvh.primitive_indices.par_iter();
        let list = ordered.map(|&i| list[i as usize]).collect();
        bvh.primitive_indices = Vec::new();
        bvh.exact_node_aabbs = None;
        Self { list, bvh }
    }

    /// Whether there are no primitives.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Closest hit before `limit`: its distance along the ray [m], and the primitive.
    pub fn closest(&self, ray: &Ray, limit: f32) -> Option<(f32, &T)> {
        let mut hit = RayHit::none();
        hit.t = limit;
        let test = |r: &obvhs::ray::Ray, i: usize| self.list[i].intersect(ray, r.tmax);
        let found =
            !self.list.is_empty() && self.bvh.ray_traverse(ray.traversal(limit), &mut hit, test);
        found.then(|| (hit.t, &self.list[hit.primitive_id as usize]))
    }

    /// Any-hit query: whether a primitive intersects the ray before `limit`.
    pub fn occludes(&self, ray: &Ray, limit: f32) -> bool {
        let test = |r: &obvhs::ray::Ray, i: usize| self.list[i].intersect(ray, r.tmax);
        !self.list.is_empty() && !self.bvh.ray_traverse_miss(ray.traversal(limit), test)
    }
}
