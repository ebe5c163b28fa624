//! Contact of the grid with bodies that have mass: a coupled solve for both velocities.
//!
//! Symbols: V velocity and angular velocity of a body at its center of mass, W its inverse mass matrix (6×6), J the impulse
//! of the nodes on it. At a node at r from the center the body has the velocity u = v + ω × r, and the collision of §8 [Klar16]
//! changes its velocity by Δ(u). V⁰ is the velocity of the body in this step without contact, so
//!
//! ```text
//! V = V⁰ + W J(V),   J(V) = −Σ m (Δ, r × Δ)
//! ```
//!
//! Evaluating J at V⁰ is unstable for a body that is light compared with the sand on it. Newton's method solves for V: with
//! A = −∂J/∂V = Σ m (P, r × P) over the nodes in contact,
//!
//! ```text
//! (I + W A) δ = V⁰ − V + W J(V),   V ← V + δ
//! ```
//!
//! P is n nᵀ along the normal. In the tangent plane it is the fraction κ of the sliding velocity that friction removes: 1
//! where a node sticks; where it slides, friction is linearized as viscous with the present κ. With the derivative of Coulomb
//! friction, which is 0, the iteration overshoots far beyond the velocity at which a light body sticks.
//!
//! Then Δ at the last V is applied to the nodes. The remaining residual is distributed over the body and its contact nodes as
//! a common rigid motion w with (I + W A) w = V⁰ − V + W J, P = I: momentum is conserved exactly however well Newton's method
//! has converged, and w does not change relative velocities.

use super::grid_update::{node_distance, respond};
use crate::collider::PosedCollider;
use crate::contacts::rigid::{Impulse, Twist};
use crate::grid::NODE;
use crate::solver::StepContext;
use barchan_scene::Boundary;
use glam::{DMat3, DVec3, Vec3};
use rayon::prelude::*;

/// Newton iterations. Contact is piecewise linear: three find the active nodes in all but rare cases.
const ITERATIONS: usize = 3;

/// A node within reach of a body. Contacts of a node are consecutive, bodies in scene order.
#[derive(Debug, Clone, Copy)]
pub struct Contact {
    /// Index of the node within its task.
    node: u32,
    body: u32,
    /// Mass of the node [kg].
    mass: f32,
    /// Signed distance [m].
    phi: f32,
    normal: Vec3,
    /// From the center of mass (the origin of a body without mass) to the node [m].
    arm: Vec3,
    /// Whether the last pass changed the node's velocity.
    touches: bool,
}

impl Contact {
    /// The contact of a node (its index and mass) with a body within `reach` [m]; `None` if it is farther away.
    pub fn of(
        posed: &PosedCollider,
        body: usize,
        (node, mass): (usize, f32),
        position: Vec3,
        reach: f32,
    ) -> Option<Self> {
        let phi = node_distance(posed, position);
        (phi < reach).then(|| Self {
            node: node as u32,
            body: body as u32,
            mass,
            phi,
            normal: posed.normal(position),
            arm: position - posed.center(),
            touches: false,
        })
    }
}

/// V⁰ of a body: its velocity at the center of mass without contact.
fn free_motion(body: &PosedCollider) -> Twist {
    Twist {
        linear: body.velocity_at(body.center()).as_dvec3(),
        angular: body.angular_velocity.as_dvec3(),
    }
}

/// Sums over the contacts of a body.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    /// J, about the center of mass.
    impulse: Impulse,
    /// The columns of A: an impulse for each of the body's six unit velocities.
    stiffness: [Impulse; 6],
}

impl Sums {
    /// Adds a node whose velocity changes by `change`, with its P.
    fn add(&mut self, contact: &Contact, change: Vec3, p: DMat3) {
        let (m, r) = (f64::from(contact.mass), contact.arm.as_dvec3());
        self.impulse += Impulse::at(contact.arm, change.as_dvec3() * -m);
        // The node's velocity for each of the body's unit velocities.
        let turns = DVec3::AXES.map(|axis| axis.cross(r));
        let velocities = DVec3::AXES.into_iter().chain(turns);
        for (column, u) in self.stiffness.iter_mut().zip(velocities) {
            *column += Impulse::at(contact.arm, p * u * m);
        }
    }

    fn add_all(&mut self, other: &Self) {
        self.impulse += other.impulse;
        for (column, part) in self.stiffness.iter_mut().zip(other.stiffness) {
            *column += part;
        }
    }
}

/// Collides the nodes in `contacts`, a list for each task of `nodes`, with all bodies, and adds the reactions to the impulses
/// of the step.
pub fn solve<'a>(
    nodes: impl IndexedParallelIterator<Item = &'a mut [f32]>,
    contacts: &mut [Vec<Contact>],
    cx: &mut StepContext<'_>,
) {
    if contacts.iter().all(Vec::is_empty) {
        return;
    }
    let list = &cx.colliders.list;
    let free: Vec<Twist> = list.iter().map(free_motion).collect();
    let mut motion = free.clone();
    let mut tasks: Vec<(&mut [f32], &mut Vec<Contact>)> = nodes.zip(contacts).collect();
    tasks.retain(|(_, contacts)| !contacts.is_empty());
    for _ in 0..ITERATIONS {
        let sums = pass(&mut tasks, list, &motion, cx.dt, false);
        for (b, body) in list.iter().enumerate() {
            if let Some(step) = correction(body, &sums[b], &free[b], &motion[b]) {
                motion[b] = motion[b] + step;
            }
        }
    }
    let sums = pass(&mut tasks, list, &motion, cx.dt, true);
    let mut shared = vec![None; list.len()];
    for (b, body) in list.iter().enumerate() {
        let mut given = sums[b].impulse;
        if let Some(w) = correction(body, &sums[b], &free[b], &motion[b]) {
            let mut taken = Impulse::default();
            for (column, w) in sums[b].stiffness.iter().zip(six(&w)) {
                let (linear, angular) = (column.linear * w, column.angular * w);
                taken += Impulse { linear, angular };
            }
            given.linear -= taken.linear;
            given.angular -= taken.angular;
            shared[b] = Some(w);
        }
        if let Some(total) = cx.impulses.bodies.get_mut(b) {
            *total += given.about(-body.center_arm());
        }
    }
    add_common_motions(&mut tasks, &shared);
}

/// Newton correction of a body's V; `None` for bodies without mass.
fn correction(body: &PosedCollider, sums: &Sums, free: &Twist, now: &Twist) -> Option<Twist> {
    let mass = body.mass.as_ref()?;
    let mut matrix = [[0.0; 6]; 6];
    for (j, column) in sums.stiffness.iter().enumerate() {
        let column = six(&mass.response(column));
        for i in 0..6 {
            matrix[i][j] = column[i] + f64::from(u8::from(i == j));
        }
    }
    let missing = Twist {
        linear: free.linear - now.linear,
        angular: free.angular - now.angular,
    };
    let right = six(&(missing + mass.response(&sums.impulse)));
    let step = solve6(matrix, right)?;
    Some(Twist {
        linear: DVec3::from_slice(&step[..3]),
        angular: DVec3::from_slice(&step[3..]),
    })
}

fn six(twist: &Twist) -> [f64; 6] {
    let ([x, y, z], [rx, ry, rz]) = (twist.linear.to_array(), twist.angular.to_array());
    [x, y, z, rx, ry, rz]
}

/// A pass over all contacts for given motions of the bodies; the last pass updates the nodes.
fn pass(
    tasks: &mut [(&mut [f32], &mut Vec<Contact>)],
    list: &[PosedCollider],
    motion: &[Twist],
    dt: f32,
    is_last: bool,
) -> Vec<Sums> {
    let parts: Vec<Vec<Sums>> = tasks
        .par_iter_mut()
        .map(|(nodes, contacts)| {
            let mut sums = vec![Sums::default(); list.len()];
            for of_node in contacts.chunk_by_mut(|a, b| a.node == b.node) {
                let at = of_node[0].node as usize * NODE;
                let mut v = Vec3::new(nodes[at], nodes[at + 1], nodes[at + 2]);
                for contact in of_node {
                    let b = contact.body as usize;
                    let relative = v - motion[b].at(contact.arm);
                    let normal = contact.normal;
                    let change = respond(&list[b], contact.phi, || normal, relative, dt);
                    contact.touches = change != Vec3::ZERO;
                    if contact.touches {
                        v += change;
                        let p = match is_last {
                            true => DMat3::IDENTITY,
                            false => projection(&list[b], contact, relative, relative + change),
                        };
                        sums[b].add(contact, change, p);
                    }
                }
                if is_last {
                    nodes[at..at + 3].copy_from_slice(&v.to_array());
                }
            }
            sums
        })
        .collect();
    let mut total = vec![Sums::default(); list.len()];
    for part in &parts {
        for (total, part) in total.iter_mut().zip(part) {
            total.add_all(part);
        }
    }
    total
}

/// P of a contact node that moved with `before` and moves with `after` relative to the body [m/s].
fn projection(body: &PosedCollider, contact: &Contact, before: Vec3, after: Vec3) -> DMat3 {
    let n = contact.normal;
    let across = |v: Vec3| (v - n * v.dot(n)).length();
    if body.boundary == Boundary::Sticky || across(before) == 0.0 {
        return DMat3::IDENTITY;
    }
    let held = f64::from(1.0 - across(after) / across(before)).clamp(0.0, 1.0);
    let n = n.as_dvec3();
    let along = DMat3::from_cols(n * n.x, n * n.y, n * n.z);
    along * (1.0 - held) + DMat3::from_diagonal(DVec3::splat(held))
}

/// Adds the common rigid motions w of bodies and their contact nodes.
fn add_common_motions(tasks: &mut [(&mut [f32], &mut Vec<Contact>)], shared: &[Option<Twist>]) {
    tasks.par_iter_mut().for_each(|(nodes, contacts)| {
        for contact in contacts.iter().filter(|c| c.touches) {
            let Some(motion) = &shared[contact.body as usize] else {
                continue;
            };
            let (at, u) = (contact.node as usize * NODE, motion.at(contact.arm));
            for axis in 0..3 {
                nodes[at + axis] += u[axis];
            }
        }
    });
}

/// Gaussian elimination with partial pivoting; `None` when the matrix is singular or not finite.
fn solve6(mut a: [[f64; 6]; 6], mut b: [f64; 6]) -> Option<[f64; 6]> {
    for k in 0..6 {
        let pivot = (k..6).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()))?;
        if a[pivot][k] == 0.0 || !a[pivot][k].is_finite() {
            return None;
        }
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..6 {
            let factor = a[i][k] / a[k][k];
            for j in k..6 {
                a[i][j] -= factor * a[k][j];
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..6).rev() {
        let known: f64 = (k + 1..6).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - known) / a[k][k];
    }
    b.iter().all(|x| x.is_finite()).then_some(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elimination_solves_regular_and_rejects_singular_systems() {
        let mut a = [[0.0; 6]; 6];
        for i in 0..6 {
            for j in 0..6 {
                a[i][j] = ((3 * i + 5 * j) % 7) as f64 - if i == j { 9.0 } else { 0.0 };
            }
        }
        let x = [1.0, -2.0, 3.0, 0.5, 0.0, 4.0];
        let b = std::array::from_fn(|i| (0..6).map(|j| a[i][j] * x[j]).sum());
        let found = solve6(a, b).unwrap();
        for i in 0..6 {
            assert!((found[i] - x[i]).abs() < 1e-12, "{found:?}");
        }
        assert_eq!(solve6([[0.0; 6]; 6], b), None);
    }
}
