//! Broad phase: bodies in reach of a group of particles or grid nodes, found once for the group instead of by a distance query
//! for every particle and body.

use super::{Colliders, PosedCollider};
use barchan_scene::Bounds;

/// Particles in a group: neighbors in memory, and so in space.
pub const GROUP: usize = 64;
/// Capacity of the list of bodies near a group; if there are more, all bodies of the scene count as near.
const CAPACITY: usize = 32;
/// Relative rounding error of coordinates.
const ROUNDING: f32 = 1e-5;
/// Bound of the gradient of signed distances; those of meshes are interpolated and reach √3.
const MAX_GRADIENT: f32 = 2.0;

/// Bodies near a group, in the order of the scene, without allocation.
pub struct NearBodies {
    count: usize,
    first: [u32; CAPACITY],
}

impl NearBodies {
    /// The bodies for which `is_near` holds.
    #[inline]
    pub fn select(colliders: &Colliders, is_near: impl Fn(&PosedCollider) -> bool) -> Self {
        let mut near = Self {
            count: 0,
            first: [0; CAPACITY],
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

    /// The bodies with their indices among the colliders.
    #[inline]
    pub fn of<'a>(
        &self,
        colliders: &'a Colliders,
    ) -> impl Iterator<Item = (usize, &'a PosedCollider)> {
        let overflows = self.count > CAPACITY;
        let count = match overflows {
            true => colliders.list.len(),
            false => self.count,
        };
        (0..count).map(move |i| {
            let body = if overflows { i } else { self.first[i] as usize };
            (body, &colliders.list[body])
        })
    }
}

impl PosedCollider {
    /// Whether the body may lie within `reach` [m] of a point of `region`; always true for coordinates that are not finite.
    pub fn may_reach(&self, region: &Bounds, reach: f32) -> bool {
        let farthest = region.min.abs().max(region.max.abs()).max_element();
        let near = reach + ROUNDING * (farthest + reach);
        let (own, region) = (&self.world_bounds, region.expand(near));
        let is_apart = region.min.cmpgt(own.max).any() || own.min.cmpgt(region.max).any();
        if is_apart {
            return false;
        }
        let radius = 0.5 * (region.max - region.min).length();
        let is_far = self.distance(region.center()) > MAX_GRADIENT * radius;
        !is_far
    }

    /// Upper bound of the body's velocity at points of `region` [m/s].
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::sampling::random::Random;
    use barchan_scene::mesh::TriangleMesh;
    use barchan_scene::{Boundary, Collider, Geometry, Motion, Pose};
    use glam::{Quat, Vec3};

    fn vector(random: &mut Random) -> Vec3 {
        Vec3::from_array(std::array::from_fn(|_| 2.0 * random.unit() - 1.0))
    }

    /// Bodies of all kinds in a cube of 2 m, some in motion.
    pub fn bodies(count: usize) -> Colliders {
        let mut random = Random::new(5);
        let shapes = (0..count).map(|i| {
            let (p, size) = (vector(&mut random), 0.02 + 0.1 * random.unit());
            match i % 10 {
                0 => Geometry::half_space(p, p),
                1 | 2 => Geometry::sphere(p, size),
                3 | 4 => Geometry::mesh(&tetrahedron(p, 3.0 * size), 0.05),
                5 => Geometry::difference(Geometry::sphere(p, 1.0), vec![Geometry::sphere(p, 0.9)]),
                _ => Geometry::cuboid(p, p + size * Vec3::new(1.0, 2.0, 0.5)),
            }
        });
        let colliders: Vec<Collider> = (shapes.enumerate())
            .map(|(i, shape)| Collider {
                name: i.to_string(),
                shape,
                motion: Motion::default(),
                boundary: Boundary::Separating,
                friction: 0.5,
                look: None,
                color: None,
            })
            .collect();
        let mut colliders = Colliders::new(&colliders);
        for collider in colliders.list.iter_mut().step_by(3) {
            let pose = Pose {
                position: 0.2 * vector(&mut random),
                rotation: Quat::from_scaled_axis(vector(&mut random)),
            };
            collider.place(pose);
            collider.velocity = vector(&mut random);
            collider.angular_velocity = 3.0 * vector(&mut random);
        }
        colliders
    }

    fn tetrahedron(p: Vec3, size: f32) -> TriangleMesh {
        let corners = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        TriangleMesh {
            vertices: corners.map(|c| p + size * c).to_vec(),
            triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
        }
    }

    #[test]
    fn no_body_within_reach_of_a_point_is_omitted() {
        let colliders = bodies(60);
        let mut random = Random::new(8);
        let (mut kept, mut touching) = (0, 0);
        for _ in 0..400 {
            let (middle, size) = (1.2 * vector(&mut random), 0.2 * random.unit());
            let points: Vec<Vec3> = (0..8)
                .map(|_| middle + size * vector(&mut random))
                .collect();
            let reach = 0.05 * random.unit();
            let region = Bounds::from_points(points.iter().copied());
            let near = NearBodies::select(&colliders, |c| c.may_reach(&region, reach));
            let near: Vec<usize> = near.of(&colliders).map(|(body, _)| body).collect();
            assert!(near.is_sorted());
            kept += near.len();
            for (body, collider) in colliders.list.iter().enumerate() {
                let touches = |p: &Vec3| collider.may_touch(*p, reach);
                if points.iter().any(touches) {
                    touching += 1;
                    assert!(near.contains(&body), "{body} {points:?}");
                }
                let fastest = points.iter().map(|p| collider.velocity_at(*p).length());
                assert!(fastest.fold(0.0, f32::max) <= collider.speed_within(&region));
            }
        }
        // The selection is tight and not empty.
        assert!(touching > 1000 && kept < 3 * touching, "{kept} {touching}");
    }

    #[test]
    fn all_bodies_are_selected_beyond_the_capacity() {
        let colliders = bodies(CAPACITY + 1);
        let all = NearBodies::select(&colliders, |_| true);
        assert_eq!(all.of(&colliders).count(), CAPACITY + 1);
        let none = NearBodies::select(&colliders, |_| false);
        assert!(none.is_empty() && none.of(&colliders).next().is_none());
    }
}
