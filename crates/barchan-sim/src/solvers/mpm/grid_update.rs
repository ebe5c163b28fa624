//! On the grid: momentum → velocity, gravity, collisions and friction, Eq. 10 and §8 of [Klar16].

use crate::collider::{BodyImpulse, Colliders, PosedCollider};
use crate::grid::blocks::BlockCoord;
use crate::grid::{BLOCK, NODE, blocks};
use barchan_scene::Boundary;
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

/// Turns momentum and mass into velocity and mass, in place. Adds what bodies receive to `impulses`.
pub fn update_block(
    nodes: &mut [f32],
    coord: BlockCoord,
    params: &GridParams<'_>,
    impulses: &mut [BodyImpulse],
) {
    let kick = params.gravity * params.dt;
    let first = blocks::first_node(coord);
    let corner =
        params.origin + Vec3::new(first[0] as f32, first[1] as f32, first[2] as f32) * params.dx;
    let half = 0.5 * (BLOCK - 1) as f32 * params.dx;
    let (centre, radius) = (corner + half, half * 1.733 + params.dx);
    // Which bodies can touch a node of this block; more than 64 bodies: all of them.
    let mut near = 0u64;
    for (b, body) in params.colliders.list.iter().enumerate() {
        if b >= 64 || body.may_touch(centre, radius) {
            near |= 1 << b.min(63);
        }
    }
    for (n, node) in nodes.chunks_exact_mut(NODE).enumerate() {
        let mass = node[3];
        if mass <= 0.0 {
            continue;
        }
        let mut v = Vec3::new(node[0], node[1], node[2]) / mass + kick;
        if near != 0 {
            let n = n as i32;
            let cell = Vec3::new((n / 16) as f32, (n % 4) as f32, (n / 4 % 4) as f32);
            let position = corner + cell * params.dx;
            for (b, body) in params.colliders.list.iter().enumerate() {
                if near & (1 << b.min(63)) == 0 {
                    continue;
                }
                let change = collide(body, position, v, params.dt);
                if change != Vec3::ZERO {
                    v += change;
                    impulses[b] += reaction(body, position, change * mass);
                }
            }
        }
        (node[0], node[1], node[2]) = (v.x, v.y, v.z);
    }
}

/// Change of a node's velocity by one body: constraint of §8, then Coulomb friction of §8.1.
/// Differs from [Klar16]: everything is relative to the body's velocity, and only pressing impulses cause friction.
pub fn collide(body: &PosedCollider, position: Vec3, v: Vec3, dt: f32) -> Vec3 {
    let phi = body.distance(position);
    let body_velocity = body.velocity_at(position);
    let relative = v - body_velocity;
    // A node on the surface belongs to the body: floors often lie on the nodes of the grid.
    if phi > 0.0 {
        // Outside: only a separating body acts, and only on a node that would end up inside.
        if body.boundary != Boundary::Separating || phi >= relative.length() * dt {
            return Vec3::ZERO;
        }
    } else if body.boundary == Boundary::Sticky {
        return -relative;
    }
    let normal = body.normal(position);
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

/// What a body receives when grains at `position` receive `impulse`.
fn reaction(body: &PosedCollider, position: Vec3, impulse: Vec3) -> BodyImpulse {
    let linear = -impulse.as_dvec3();
    let arm = (position - body.pose.position).as_dvec3();
    BodyImpulse {
        linear,
        angular: arm.cross(linear),
    }
}
