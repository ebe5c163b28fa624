//! One time step of all grains: advection by Eq. 23–26 of [Ihmsen13], then collisions and removal.
//!
//! Grains are in spatial order. Groups of 64 share the guides near their bounding box, and sixteen grains are computed at a time.
//! The result of a grain does not depend on its group: guides outside the support contribute zero, and the order of the others is
//! the same for any box.

use super::cells::{Guide, GuideGrid};
use super::weights::{FADE, ISOLATED, MIN_WEIGHT_SUM, Method, WEIGHT_AT_RADIUS, bulk_weight_sum};
use super::world::{PosedObstacle, World};
use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd, dispatch, f32x16};
use glam::Vec3;

/// Grains that are computed together.
const LANES: usize = 16;
/// Grains in a group that shares its guides.
const GROUP: usize = 64;
/// A group with a larger bounding box along an axis than this [support radii] is halved.
const MAX_GROUP_EXTENT: f32 = 1.0;

/// Parameters of a step.
pub(super) struct Step<'a> {
    pub guides: &'a GuideGrid,
    pub bodies: &'a [PosedObstacle<'a>],
    pub drains: &'a [&'a barchan_scene::Geometry],
    pub world: &'a World,
    pub method: Method,
    pub dt: f32,
    /// Acceleration of ballistic grains [m/s²].
    pub gravity: Vec3,
    /// Radius of grains [m].
    pub grain_radius: f32,
    pub level: Level,
}

/// Scratch of a thread.
#[derive(Default)]
pub(super) struct Scratch {
    near: Vec<Guide>,
    before: Vec<[f32; 3]>,
}

impl Step<'_> {
    /// Advances grains; the position of one removed by a drain or the domain boundary is NaN.
    pub fn advance(
        &self,
        position: &mut [[f32; 3]],
        velocity: &mut [[f32; 3]],
        scratch: &mut Scratch,
    ) {
        for (x, v) in position.chunks_mut(GROUP).zip(velocity.chunks_mut(GROUP)) {
            self.advance_group(x, v, scratch);
        }
    }

    fn advance_group(&self, x: &mut [[f32; 3]], v: &mut [[f32; 3]], scratch: &mut Scratch) {
        let (low, high) = bounding_box(x);
        if x.len() > LANES && (high - low).max_element() > MAX_GROUP_EXTENT * self.guides.support {
            // Whole packets.
            let middle = (x.len() / 2).next_multiple_of(LANES);
            let (x0, x1) = x.split_at_mut(middle);
            let (v0, v1) = v.split_at_mut(middle);
            self.advance_group(x0, v0, scratch);
            return self.advance_group(x1, v1, scratch);
        }
        self.guides.gather(low, high, &mut scratch.near);
        scratch.before.clear();
        scratch.before.extend_from_slice(x);
        let near = &scratch.near;
        dispatch!(self.level, simd => self.advect(simd, near, x, v));
        self.collide_with_bodies(&scratch.before, x, v, low, high);
        self.wrap_and_remove(x);
    }

    /// Eq. 23–26 for a group of grains.
    #[inline(always)]
    fn advect<S: Simd>(&self, simd: S, near: &[Guide], x: &mut [[f32; 3]], v: &mut [[f32; 3]]) {
        for (x, v) in x.chunks_mut(LANES).zip(v.chunks_mut(LANES)) {
            let [position, velocity] =
                self.advect_packet(simd, near, lanes(simd, x), lanes(simd, v));
            store(position, x);
            store(velocity, v);
        }
    }

    #[inline(always)]
    fn advect_packet<S: Simd>(
        &self,
        simd: S,
        near: &[Guide],
        x: [f32x16<S>; 3],
        v: [f32x16<S>; 3],
    ) -> [[f32x16<S>; 3]; 2] {
        let splat = |value: f32| f32x16::splat(simd, value);
        let (zero, one) = (splat(0.0), splat(1.0));
        let shrink = splat(-1.0 / (self.guides.support * self.guides.support));
        let (mut total, mut largest, mut count) = (zero, zero, zero);
        let mut sum = [zero; 3];
        for guide in near {
            let d = [0, 1, 2].map(|i| x[i] - guide.position[i]);
            let squared = d[2].mul_add(d[2], d[1].mul_add(d[1], d[0] * d[0]));
            let inner = squared.mul_add(shrink, one).max(zero);
            let w = inner * inner * inner; // Eq. 23
            total += w;
            largest = largest.max(w);
            for i in 0..3 {
                sum[i] = w.mul_add(guide.velocity[i], sum[i]);
            }
            if self.method == Method::Clamped {
                count += w.simd_gt(zero).select(one, zero);
            }
        }
        let has_guides = total.simd_gt(splat(MIN_WEIGHT_SUM as f32));
        let reciprocal = one / has_guides.select(total, one);
        let alpha = match self.method {
            Method::Blended | Method::Printed => {
                let isolated = (largest * reciprocal).simd_ge(splat(ISOLATED as f32));
                let far = largest.simd_le(splat(WEIGHT_AT_RADIUS as f32));
                let mut part = (isolated | far).select(one - largest, zero);
                if self.method == Method::Blended {
                    let scale = 1.0 / (FADE[1] - FADE[0]);
                    let slope = (-scale / bulk_weight_sum(self.world.is_flat())) as f32;
                    let fade = total.mul_add(splat(slope), splat((scale * FADE[1]) as f32));
                    part *= fade.max(zero).min(one);
                }
                has_guides.select(part, one)
            }
            Method::Clamped => count.simd_gt(one).select(zero, one),
        };
        let mut out = [x, v];
        for i in 0..3 {
            let interpolated = sum[i] * reciprocal; // Eq. 24
            let free = v[i] + self.dt * self.gravity[i];
            let mixed = alpha.mul_add(free - interpolated, interpolated); // Eq. 25
            out[1][i] = mixed;
            out[0][i] = mixed.mul_add(self.dt, x[i]); // Eq. 26
        }
        out
    }

    fn collide_with_bodies(
        &self,
        before: &[[f32; 3]],
        x: &mut [[f32; 3]],
        v: &mut [[f32; 3]],
        low: Vec3,
        high: Vec3,
    ) {
        if self.bodies.is_empty() {
            return;
        }
        let (low_after, high_after) = bounding_box(x);
        let (low, high) = (low.min(low_after), high.max(high_after));
        let (center, ball) = (0.5 * (low + high), 0.5 * (high - low).length());
        for body in self.bodies {
            if body.is_clear_of(center, ball, self.grain_radius) {
                continue;
            }
            for (i, x) in x.iter_mut().enumerate() {
                let (from, mut to) = (Vec3::from(before[i]), Vec3::from(*x));
                let mut velocity = Vec3::from(v[i]);
                if body.collide(from, &mut to, &mut velocity, self.grain_radius) {
                    if self.world.is_flat() {
                        (to.z, velocity.z) = (0.0, 0.0);
                    }
                    *x = to.to_array();
                    v[i] = velocity.to_array();
                }
            }
        }
    }

    /// Marks the grains that a drain or the domain boundary removes, and wraps the others into a periodic domain.
    fn wrap_and_remove(&self, x: &mut [[f32; 3]]) {
        let (low, high) = bounding_box(x);
        let (center, ball) = (0.5 * (low + high), 0.5 * (high - low).length());
        if self.world.is_outside(low) || self.world.is_outside(high) {
            for x in x.iter_mut() {
                if self.world.is_outside(Vec3::from(*x)) {
                    *x = [f32::NAN; 3];
                }
            }
        }
        if self.world.is_periodic() {
            for x in x.iter_mut() {
                *x = self.world.wrap(Vec3::from(*x)).to_array();
            }
        }
        for drain in self.drains {
            if drain.distance(center) > 1.1 * ball {
                continue;
            }
            for x in x.iter_mut() {
                if drain.distance(Vec3::from(*x)) < 0.0 {
                    *x = [f32::NAN; 3];
                }
            }
        }
    }
}

/// Bounding box of grains; NaN is ignored.
fn bounding_box(list: &[[f32; 3]]) -> (Vec3, Vec3) {
    let mut low = [f32::INFINITY; 3];
    let mut high = [f32::NEG_INFINITY; 3];
    for p in list {
        for i in 0..3 {
            low[i] = low[i].min(p[i]);
            high[i] = high[i].max(p[i]);
        }
    }
    (low.into(), high.into())
}

/// Up to sixteen vectors as lanes; the last vector fills the remaining lanes.
#[inline(always)]
fn lanes<S: Simd>(simd: S, list: &[[f32; 3]]) -> [f32x16<S>; 3] {
    let mut apart = [[0.0; LANES]; 3];
    for lane in 0..LANES {
        let vector = list[lane.min(list.len() - 1)];
        for i in 0..3 {
            apart[i][lane] = vector[i];
        }
    }
    apart.map(|values| f32x16::from_slice(simd, &values))
}

#[inline(always)]
fn store<S: Simd>(values: [f32x16<S>; 3], list: &mut [[f32; 3]]) {
    let mut apart = [[0.0; LANES]; 3];
    for i in 0..3 {
        values[i].store_slice(&mut apart[i]);
    }
    for (lane, vector) in list.iter_mut().enumerate() {
        for i in 0..3 {
            vector[i] = apart[i][lane];
        }
    }
}
