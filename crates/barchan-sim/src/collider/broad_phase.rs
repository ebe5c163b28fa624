//! The bodies that a group of particles or grid nodes can touch: found once for the group, so that many bodies do not cost each
//! particle a distance query.

use super::{Colliders, PosedCollider};
use barchan_scene::Bounds;

/// Particles that are looked at together: neighbors in memory, and so in space.
pub const GROUP: usize = 64;
/// Bodies near a group that are listed one by one; where there are more, all of the scene are taken.
const ROOM: usize = 32;
/// Part of the coordinates that rounding may take.
const ROUNDING: f32 = 1e-5;
/// No distance changes more than this times as fast as the point moves. Those of meshes are interpolated: up to √3.
const STEEPEST: f32 = 2.0;

/// The bodies near a group, in scene order, without allocation.
pub struct NearBodies {
    count: usize,
    first: [u32; ROOM],
}

impl NearBodies {
    /// The bodies for which `is_near` holds.
    #[inline]
    pub fn select(colliders: &Colliders, is_near: impl Fn(&PosedCollider) -> bool) -> Self {
        let mut near = Self {
            count: 0,
            first: [0; ROOM],
        };
        for (body, collider) in colliders.list.iter().enumerate() {
            if is_near(collider) {
                if let Some(slot) = near.first.get_mut(near.count) {
                    *slot = body as u32;
                }
                near.count += 1;
            }
        }
        near
    }

    /// Whether no body is near.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The bodies, each with its place among the colliders.
    #[inline]
    pub fn of<'a>(
        &self,
        colliders: &'a Colliders,
    ) -> impl Iterator<Item = (usize, &'a PosedCollider)> {
        let is_crowded = self.count > ROOM;
        let count = match is_crowded {
            true => colliders.list.len(),
            false => self.count,
        };
        (0..count).map(move |i| {
            let body = if is_crowded {
                i
            } else {
                self.first[i] as usize
            };
            (body, &colliders.list[body])
        })
    }
}

impl PosedCollider {
    /// Whether the body can lie within `reach` [m] of a point of `region`. Where coordinates are not finite, it can.
    pub fn may_reach(&self, region: &Bounds, reach: f32) -> bool {
        let farthest = region.min.abs().max(region.max.abs()).max_element();
        let near = reach + ROUNDING * (farthest + reach);
        let (own, region) = (&self.world_bounds, region.expand(near));
        let is_apart = region.min.cmpgt(own.max).any() || own.min.cmpgt(region.max).any();
        if is_apart {
            return false;
        }
        let radius = 0.5 * (region.max - region.min).length();
        let is_far = self.distance(region.centre()) > STEEPEST * radius;
        !is_far
    }

    /// Upper bound of the speed of points of `region` that move with the body [m/s].
    pub fn speed_within(&self, region: &Bounds) -> f32 {
        if self.is_still() {
            return 0.0;
        }
        let origin = self.pose.position;
        let arm = (region.min - origin).abs().max((region.max - origin).abs());
        let speed = self.velocity.length() + self.angular_velocity.length() * arm.length();
        speed * (1.0 + ROUNDING)
    }
}
