//! On the grid: momentum → velocity, gravity, collisions and friction, Eq. 10 and §8 of [Klar16].

use super::rigid_contact::Contact;
use crate::collider::{Colliders, NearBodies, PosedCollider};
use crate::contacts::rigid::Impulse;
use crate::grid::blocks::BlockCoord;
use crate::grid::{BLOCK, NODE, blocks};
use barchan_scene::Boundary;
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x4, f32x16};
use glam::Vec3;

/// What the update of a block needs.
#[derive(Clone, Copy)]
pub struct GridParams<'a> {
    /// Time step [s].
    pub dt: f32,
    /// Grid spacing [m].
    pub dx: f32,
    /// Position of node (0, 0, 0) [m].
    pub origin: Vec3,
    /// Gravity [m/s²].
    pub gravity: Vec3,
    /// Bodies, posed for the step.
    pub colliders: &'a Colliders,
}

/// Turns momentum and mass into velocity and mass, in place, and adds `kick` = Δt g to the velocity [m/s]: Eq. 10, whose
/// forces have come with the momentum. Nodes without mass stay zero.
#[inline(always)]
pub fn accelerate<S: Simd>(simd: S, nodes: &mut [f32], kick: Vec3) {
    let zero = f32x16::splat(simd, 0.0);
    let kick = f32x16::block_splat(f32x4::simd_from(simd, [kick.x, kick.y, kick.z, 0.0]));
    let is_mass = f32x16::block_splat(f32x4::simd_from(simd, [0.0, 0.0, 0.0, 1.0])).simd_gt(zero);
    for row in nodes.chunks_exact_mut(4 * NODE) {
        let node = f32x16::from_slice(simd, row);
        let mass = f32x4::splat(simd, row[3])
            .combine(f32x4::splat(simd, row[7]))
            .combine(f32x4::splat(simd, row[11]).combine(f32x4::splat(simd, row[15])));
        let velocity = is_mass.select(node, node / mass + kick);
        mass.simd_gt(zero).select(velocity, zero).store_slice(row);
    }
}

/// Applies the bodies to the velocities of a block. Adds what they receive to `impulses`. Nodes that a body with mass may
/// touch are left as they are and go to `contacts`; `first` is the number of the block's first node there.
pub fn collide_block(
    nodes: &mut [f32],
    coord: BlockCoord,
    params: &GridParams<'_>,
    impulses: &mut [Impulse],
    (first_node, contacts): (usize, &mut Vec<Contact>),
) {
    // Most blocks around the sand are empty.
    if nodes.chunks_exact(NODE).all(|node| node[3] <= 0.0) {
        return;
    }
    let first = blocks::first_node(coord);
    let corner =
        params.origin + Vec3::new(first[0] as f32, first[1] as f32, first[2] as f32) * params.dx;
    let half = 0.5 * (BLOCK - 1) as f32 * params.dx;
    let (center, radius) = (corner + half, half * 1.733 + params.dx);
    let near = NearBodies::select(params.colliders, |body| body.may_touch(center, radius));
    if near.is_empty() {
        return;
    }
    let bodies = || near.of(params.colliders);
    let free = bodies().any(|(_, body)| body.mass.is_some());
    for (n, node) in nodes.chunks_exact_mut(NODE).enumerate() {
        let mass = node[3];
        if mass <= 0.0 {
            continue;
        }
        let (number, n) = (first_node + n, n as i32);
        let cell = Vec3::new((n / 16) as f32, (n % 4) as f32, (n / 4 % 4) as f32);
        let position = corner + cell * params.dx;
        let near_free = |(_, body): (usize, &PosedCollider)| {
            body.mass.is_some() && body.distance(position) < params.dx
        };
        if free && bodies().any(near_free) {
            for (b, body) in bodies() {
                contacts.extend(Contact::of(body, b, (number, mass), position, params.dx));
            }
            continue;
        }
        let mut v = Vec3::new(node[0], node[1], node[2]);
        for (b, body) in bodies() {
            let change = collide(body, position, v, params.dt);
            if change != Vec3::ZERO {
                v += change;
                let arm = position - body.pose.position;
                impulses[b] += Impulse::at(arm, -(change * mass).as_dvec3());
            }
        }
        (node[0], node[1], node[2]) = (v.x, v.y, v.z);
    }
}

/// Change of a node's velocity by one body: constraint of §8, then Coulomb friction of §8.1.
/// Differs from [Klar16]: everything is relative to the body's velocity, and only pressing impulses cause friction.
pub fn collide(body: &PosedCollider, position: Vec3, v: Vec3, dt: f32) -> Vec3 {
    let phi = depth(body, position);
    let relative = v - body.velocity_at(position);
    respond(body, phi, || body.normal(position), relative, dt)
}

/// Signed distance of a node [m]. Walls often lie in a plane of nodes: what is on the surface to within rounding counts as
/// inside.
pub fn depth(body: &PosedCollider, position: Vec3) -> f32 {
    body.distance(position) - 4.0 * f32::EPSILON * position.abs().max_element()
}

/// The same as [`collide`] for a node at distance `phi` [m] that moves with `relative` to the body [m/s].
pub fn respond(
    body: &PosedCollider,
    phi: f32,
    normal: impl FnOnce() -> Vec3,
    relative: Vec3,
    dt: f32,
) -> Vec3 {
    if phi > 0.0 {
        // Outside: only a separating body acts, and only on a node that would end up inside.
        if body.boundary != Boundary::Separating || phi >= relative.length() * dt {
            return Vec3::ZERO;
        }
    } else if body.boundary == Boundary::Sticky {
        return -relative;
    }
    let normal = normal();
    let approach = relative.dot(normal);
    let push = match body.boundary {
        Boundary::Separating => (-approach - phi.max(0.0) / dt).max(0.0),
        Boundary::Slipping | Boundary::Sticky => -approach,
    };
    if push == 0.0 {
        return Vec3::ZERO;
    }
    let tangential = relative - normal * approach;
    let speed = tangential.length();
    let limit = body.friction * push.max(0.0);
    let friction = if speed <= limit || speed == 0.0 {
        -tangential
    } else {
        tangential * (-limit / speed)
    };
    normal * push + friction
}
