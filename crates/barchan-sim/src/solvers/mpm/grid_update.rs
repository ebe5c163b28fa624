//! On the grid: momentum → velocity, gravity, collisions and friction, Eq. 10 and §8 of [Klar16].

use super::rigid_contact::Contact;
use crate::collider::{Colliders, NearBodies, PosedCollider};
use crate::contacts::rigid::Impulse;
use crate::grid::blocks::BlockCoord;
use crate::grid::field::BLOCKS_PER_TASK;
use crate::grid::tile::BLOCK_FLOATS;
use crate::grid::{BLOCK, BLOCK_NODES, Field, NODE, Topology, blocks};
use barchan_scene::Boundary;
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x4, f32x16};
use glam::Vec3;
use rayon::prelude::*;

/// Parameters of the grid update.
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

/// Turns momentum into velocity, in place, and adds `kick` = Δt g [m/s]: Eq. 10, whose forces are already part of the
/// momentum. Nodes without mass stay zero.
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

/// The bodies near a block that has mass, and the position of its first node [m]; `None` if there are none.
fn bodies_near(
    nodes: &[f32],
    coord: BlockCoord,
    params: &GridParams<'_>,
) -> Option<(NearBodies, Vec3)> {
    // Most blocks around the material are empty.
    if nodes.chunks_exact(NODE).all(|node| node[3] <= 0.0) {
        return None;
    }
    let first = blocks::first_node(coord).map(|n| n as f32);
    let corner = params.origin + Vec3::from_array(first) * params.dx;
    let half = 0.5 * (BLOCK - 1) as f32 * params.dx;
    let (center, radius) = (corner + half, half * 1.733 + params.dx);
    let near = NearBodies::select(params.colliders, |body| body.may_touch(center, radius));
    (!near.is_empty()).then_some((near, corner))
}

/// Position [m] of node n of a block whose first node lies at `corner`.
fn node_position(corner: Vec3, n: usize, dx: f32) -> Vec3 {
    corner + Vec3::new((n / 16) as f32, (n % 4) as f32, (n / 4 % 4) as f32) * dx
}

/// Collides the nodes of a block with the bodies and adds the reactions to `impulses`. Nodes within reach of a body with mass
/// are not changed but listed in `contacts`, numbered from `first_node`.
pub fn collide_block(
    nodes: &mut [f32],
    coord: BlockCoord,
    params: &GridParams<'_>,
    impulses: &mut [Impulse],
    (first_node, contacts): (usize, &mut Vec<Contact>),
) {
    let Some((near, corner)) = bodies_near(nodes, coord, params) else {
        return;
    };
    let bodies = || near.of(params.colliders);
    for (n, node) in nodes.chunks_exact_mut(NODE).enumerate() {
        let (number, mass) = (first_node + n, node[3]);
        if mass <= 0.0 {
            continue;
        }
        let position = node_position(corner, n, params.dx);
        let near_free = |(_, body): (usize, &PosedCollider)| {
            body.mass.is_some() && body.distance(position) < params.dx
        };
        if bodies().any(near_free) {
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

/// Constrained directions of a node's velocity, orthonormalized, so that I − Σ q qᵀ is a symmetric projection for any angles
/// between the normals of the bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NodeProjection {
    /// Index of the node within its task.
    node: u32,
    rank: u32,
    fixed: [Vec3; 3],
}

impl NodeProjection {
    /// An unconstrained node.
    pub fn free(node: usize) -> Self {
        Self {
            node: node as u32,
            rank: 0,
            fixed: [Vec3::ZERO; 3],
        }
    }

    /// Constrains another direction, unless it is constrained already to within rounding.
    pub fn fix(&mut self, direction: Vec3) {
        if self.rank == 3 {
            return;
        }
        // Gram–Schmidt, twice: the second pass removes the rounding errors of the first.
        let left = self.apply(self.apply(direction));
        if left.length_squared() > 1e-8 * direction.length_squared() {
            self.fixed[self.rank as usize] = left.normalize_or_zero();
            self.rank += 1;
        }
    }

    /// Adds the linear part of a body's constraint on a node that moves with `v` [m/s] at `position` [m].
    pub fn add(&mut self, body: &PosedCollider, position: Vec3, v: Vec3, dt: f32) {
        let relative = v - body.velocity_at(position);
        let phi = node_distance(body, position);
        match constraint(body, phi, || body.normal(position), relative, dt) {
            Constraint::Free => {}
            Constraint::Stick => Vec3::AXES.into_iter().for_each(|axis| self.fix(axis)),
            Constraint::Normal { normal, .. } => self.fix(normal),
        }
    }

    /// Projects a velocity difference: zero where the node sticks, tangential where it slips.
    pub fn apply(&self, difference: Vec3) -> Vec3 {
        let fixed = &self.fixed[..self.rank as usize];
        fixed.iter().fold(difference, |v, q| v - *q * q.dot(v))
    }
}

/// Collects the constrained nodes of a block; `first_node` is the index of its first node.
fn project_block(
    nodes: &[f32],
    key: u64,
    first_node: usize,
    params: &GridParams<'_>,
    found: &mut Vec<NodeProjection>,
) {
    let Some((near, corner)) = bodies_near(nodes, blocks::unpack(key), params) else {
        return;
    };
    for (n, node) in nodes.chunks_exact(NODE).enumerate() {
        if node[3] <= 0.0 {
            continue;
        }
        let v = Vec3::new(node[0], node[1], node[2]);
        let mut projection = NodeProjection::free(first_node + n);
        for (_, body) in near.of(params.colliders) {
            projection.add(body, node_position(corner, n, params.dx), v, params.dt);
        }
        if projection.rank > 0 {
            found.push(projection);
        }
    }
}

/// Collisions as a linear projection: the constraints active at given velocities, applicable to any field of velocity
/// differences over the same topology. Friction, which is not linear, follows after a solve, as in [`respond`]. Bodies with
/// mass are treated as moving with their present velocity.
#[derive(Debug, Default)]
pub struct Projection {
    /// Constrained nodes by task.
    tasks: Vec<Vec<NodeProjection>>,
}

impl Projection {
    /// Finds the constraints active at `velocity`, whose fourth floats are masses.
    pub fn find(&mut self, velocity: &Field, topology: &Topology, params: &GridParams<'_>) {
        let tasks = topology.grid_keys.len().div_ceil(BLOCKS_PER_TASK);
        self.tasks.resize_with(tasks, Vec::new);
        let keys = topology.grid_keys.par_chunks(BLOCKS_PER_TASK);
        let nodes = velocity.nodes().par_chunks(BLOCK_FLOATS * BLOCKS_PER_TASK);
        let tasks = nodes.zip(keys).zip(&mut self.tasks);
        tasks.for_each(|((nodes, keys), found)| {
            found.clear();
            let blocks = nodes.chunks(BLOCK_FLOATS).zip(keys);
            for (i, (block, key)) in blocks.enumerate() {
                project_block(block, *key, i * BLOCK_NODES, params, found);
            }
        });
    }

    /// Projects a field of velocity differences in place.
    pub fn apply(&self, difference: &mut Field) {
        let tasks = difference.tasks().zip(&self.tasks);
        tasks.for_each(|(nodes, projections)| {
            for projection in projections {
                let node = &mut nodes[projection.node as usize * NODE..][..3];
                let left = projection.apply(Vec3::new(node[0], node[1], node[2]));
                node.copy_from_slice(&left.to_array());
            }
        });
    }
}

/// Change of a node's velocity by one body: constraint of §8, then Coulomb friction of §8.1.
/// Differs from [Klar16]: velocities are relative to the body, and only compressive impulses cause friction.
pub fn collide(body: &PosedCollider, position: Vec3, v: Vec3, dt: f32) -> Vec3 {
    let phi = node_distance(body, position);
    let relative = v - body.velocity_at(position);
    respond(body, phi, || body.normal(position), relative, dt)
}

/// Signed distance of a node to a body [m]. Walls often lie in a plane of nodes: nodes on the surface to within rounding count
/// as inside.
pub fn node_distance(body: &PosedCollider, position: Vec3) -> f32 {
    body.distance(position) - 4.0 * f32::EPSILON * position.abs().max_element()
}

/// Constraint of a body on a node's velocity, without friction: §8.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Constraint {
    /// No constraint.
    Free,
    /// The node moves with the body.
    Stick,
    /// The normal velocity changes.
    Normal {
        /// Outward normal of the body.
        normal: Vec3,
        /// Change of the normal velocity [m/s].
        push: f32,
    },
}

/// The constraint on a node at distance `phi` [m] that moves with `relative` to the body [m/s].
#[inline(always)]
pub fn constraint(
    body: &PosedCollider,
    phi: f32,
    normal: impl FnOnce() -> Vec3,
    relative: Vec3,
    dt: f32,
) -> Constraint {
    if phi > 0.0 {
        // Outside: only a separating body acts, and only on a node that would end up inside.
        if body.boundary != Boundary::Separating || phi >= relative.length() * dt {
            return Constraint::Free;
        }
    } else if body.boundary == Boundary::Sticky {
        return Constraint::Stick;
    }
    let normal = normal();
    let approach = relative.dot(normal);
    let push = match body.boundary {
        Boundary::Separating => (-approach - phi.max(0.0) / dt).max(0.0),
        Boundary::Slipping | Boundary::Sticky => -approach,
    };
    if push == 0.0 && body.boundary == Boundary::Separating {
        return Constraint::Free;
    }
    Constraint::Normal { normal, push }
}

/// Change of the tangential velocity [m/s] by Coulomb friction, §8.1, under a change `push` of the normal velocity [m/s].
pub fn friction(coefficient: f32, push: f32, tangential: Vec3) -> Vec3 {
    let speed = tangential.length();
    let limit = coefficient * push.max(0.0);
    if speed <= limit || speed == 0.0 {
        -tangential
    } else {
        tangential * (-limit / speed)
    }
}

/// The same as [`collide`] for a node at distance `phi` [m] that moves with `relative` to the body [m/s].
pub fn respond(
    body: &PosedCollider,
    phi: f32,
    normal: impl FnOnce() -> Vec3,
    relative: Vec3,
    dt: f32,
) -> Vec3 {
    match constraint(body, phi, normal, relative, dt) {
        Constraint::Free => Vec3::ZERO,
        Constraint::Stick => -relative,
        Constraint::Normal { push: 0.0, .. } => Vec3::ZERO,
        Constraint::Normal { normal, push } => {
            let tangential = relative - normal * relative.dot(normal);
            normal * push + friction(body.friction, push, tangential)
        }
    }
}
