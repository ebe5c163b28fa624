//! The loop of predictor and corrector: pressure and friction of all particles side by side, Eq. 6–15 and 17–21.

use super::law;
use super::neighbours::{Neighbour, Neighbours};
use super::particles::{Particles, Symmetric};
use super::walls::{Contact, PushedBodies, Walls};
use super::{Scratch, Step, TASK};
use barchan_scene::{Boundary, SphWalls};
use glam::{Vec3, Vec4, Vec4Swizzles};
use rayon::prelude::*;

/// Columns of a 3×3 matrix, each in a register.
pub type Columns = [Vec4; 3];

/// How far a pass was from what it wants.
#[derive(Debug, Clone, Copy, Default)]
pub struct Residual {
    /// Largest compression δ* − 1.
    pub compression: f32,
    /// Largest change of a frictional stress [Pa].
    pub change: f32,
    /// Largest pressure [Pa].
    pub pressure: f32,
}

impl Residual {
    fn max(self, other: Self) -> Self {
        Self {
            compression: self.compression.max(other.compression),
            change: self.change.max(other.change),
            pressure: self.pressure.max(other.pressure),
        }
    }
}

/// Predicted velocities (Eq. 15) under the present pressure and friction: Eq. 5, 10, 17 and 19.
pub fn predict(step: &Step, particles: &Particles, s: &mut Scratch) {
    let (tensor, around) = (&s.tensor, &s.neighbours.around);
    let near = s.neighbours.tasks().par_iter();
    let (contacts, _) = s.walls.parts();
    let tasks = near
        .zip(s.predicted.par_chunks_mut(TASK))
        .zip(contacts.par_iter_mut());
    tasks
        .enumerate()
        .for_each(|(task, ((near, out), contacts))| {
            let mut contacts = &mut contacts[..];
            for (k, (neighbours, out)) in near.each().zip(out).enumerate() {
                let i = task * TASK + k;
                let per_mass = step.volume / particles.mass[i];
                let own = times(&tensor[i], around[i].gradient.extend(0.0));
                let mut a =
                    s.advection[i] + per_mass * (own + divergence(neighbours, tensor)).xyz();
                for contact in take_own(&mut contacts, i) {
                    contact.pushing = push(step, particles, i, s.squares[i], contact);
                    a += contact.pushing + contact.rubbing;
                }
                *out = (particles.velocity[i] + step.dt * a).extend(0.0);
            }
        });
}

/// Σ σ_j/δ_j² V_j ∇W_ij.
#[inline(always)]
fn divergence(neighbours: &[Neighbour], tensor: &[Columns]) -> Vec4 {
    let mut sum = Vec4::ZERO;
    for n in neighbours {
        let [x, y, z] = &tensor[n.index as usize];
        sum += *x * n.gradient.x + *y * n.gradient.y + *z * n.gradient.z;
    }
    sum
}

#[inline(always)]
fn times(m: &Columns, v: Vec4) -> Vec4 {
    m[0] * v.x + m[1] * v.y + m[2] * v.z
}

/// Acceleration by the pressure of a body, Eq. 17 [m/s²].

#[inline(always)]
fn push(step: &Step, particles: &Particles, i: usize, squared: f32, contact: &Contact) -> Vec3 {
    let per_mass = step.volume / particles.mass[i];
    -per_mass * particles.pressure[i] / squared * contact.gradient
}

/// Contacts of particle `i`, taken from the front.
#[inline(always)]
pub fn take_own<'a>(contacts: &mut &'a mut [Contact], i: usize) -> &'a mut [Contact] {
    let own = contacts.iter().take_while(|c| c.particle as usize == i);
    let count = own.count();
    let (own, others) = std::mem::take(contacts).split_at_mut(count);
    *contacts = others;
    own
}

/// Pressure and frictional stress that answer the density and strain rate of the predicted motion: Eq. 6, 8, 11, 13, 14.
pub fn correct(step: &Step, particles: &mut Particles, s: &mut Scratch) -> Residual {
    let predicted = &s.predicted;
    let near = s.neighbours.tasks().par_iter();
    let (contacts, pushed) = s.walls.parts();
    let Particles {
        mass,
        material,
        pressure,
        stress,
        ..
    } = particles;
    let (mass, material) = (&*mass, &*material);
    near.zip(contacts.par_iter_mut())
        .zip(pressure.par_chunks_mut(TASK))
        .zip(stress.par_chunks_mut(TASK))
        .zip(s.tensor.par_chunks_mut(TASK))
        .enumerate()
        .map(|(task, ((((near, contacts), pressure), stress), tensor))| {
            let mut worst = Residual::default();
            let mut contacts = &mut contacts[..];
            let states = pressure.iter_mut().zip(stress).zip(tensor);
            for (k, (neighbours, ((p, stress), tensor))) in near.each().zip(states).enumerate() {
                let i = task * TASK + k;
                let own = take_own(&mut contacts, i);
                let v = predicted[i];
                let mut gradient = velocity_gradient(neighbours, predicted, v);
                let (opening, share) = at_walls(step, own, &pushed, v.xyz(), &mut gradient);
                let trace = gradient[0].x + gradient[1].y + gradient[2].z;
                // Eq. 8, to first order; differs from [Ihmsen13], which weighs the predicted positions again.
                let density = s.fraction[i] - step.dt * (trace + opening);
                // Eq. 6, with the sum that may fall again.
                let error = density - 1.0 - *p / step.bulk;
                *p = (*p + share * step.gain * error).max(0.0);
                let law = &step.laws[usize::from(material[i])];
                let new = law::friction(
                    add(stress, step.viscosity, &strain_rate(&gradient)),
                    *p,
                    law.sine,
                    step.yielding,
                    step.dimensions,
                );
                worst = worst.max(Residual {
                    compression: density - 1.0,
                    change: law::norm(&add(&new, -1.0, stress)),
                    pressure: *p,
                });
                *stress = new;
                *tensor = columns(&new, *p, s.squares[i]);
                let press = step.volume / mass[i] * *p / s.squares[i];
                rub(
                    step,
                    own,
                    &pushed,
                    v.xyz(),
                    press,
                    &new,
                    s.squares[i],
                    mass[i],
                );
            }
            worst
        })
        .reduce(Residual::default, Residual::max)
}

/// ∇v: column b is Σ (v_j − v_i) V_j ∂W/∂x_b. Differs from [Ihmsen13] Eq. 3, which uses v_j and so sees uniform motion.
#[inline(always)]
fn velocity_gradient(neighbours: &[Neighbour], velocity: &[Vec4], own: Vec4) -> Columns {
    let mut sum = [Vec4::ZERO; 3];
    for n in neighbours {
        let apart = velocity[n.index as usize] - own;
        sum[0] += apart * n.gradient.x;
        sum[1] += apart * n.gradient.y;
        sum[2] += apart * n.gradient.z;
    }
    sum
}

/// How fast bodies make room for a particle [1/s], and the part of a correction that it takes. With the walls of
/// [Ihmsen13] bodies also add to the velocity gradient, Eq. 18.
#[inline(always)]
fn at_walls(
    step: &Step,
    contacts: &[Contact],
    pushed: &PushedBodies<'_>,
    v: Vec3,
    gradient: &mut Columns,
) -> (f32, f32) {
    let (mut opening, mut share) = (0.0, 1.0f32);
    for contact in contacts {
        let (gained, flux) = pushed.gained(contact);
        opening += contact.flux + flux - v.dot(contact.gradient);
        share = share.min(contact.share);
        if step.walls == SphWalls::Viscous {
            let apart = (contact.velocity + gained - v).extend(0.0);
            let g = contact.gradient;
            // Their trace is the opening, which is counted already.
            let normal = apart.xyz().dot(g) / step.dimensions.count() as f32;
            gradient[0] += apart * g.x - Vec4::X * normal;
            gradient[1] += apart * g.y - Vec4::Y * normal;
            if step.dimensions.count() == 3 {
                gradient[2] += apart * g.z - Vec4::Z * normal;
            }
        }
    }
    (opening, share)
}

/// ½ (∇v + ∇vᵀ).
#[inline(always)]
fn strain_rate(g: &Columns) -> Symmetric {
    [
        g[0].x,
        g[1].y,
        g[2].z,
        0.5 * (g[1].x + g[0].y),
        0.5 * (g[2].y + g[1].z),
        0.5 * (g[0].z + g[2].x),
    ]
}

#[inline(always)]
fn add(a: &Symmetric, factor: f32, b: &Symmetric) -> Symmetric {
    std::array::from_fn(|k| a[k] + factor * b[k])
}

/// (ŝ − p I)/δ².
#[inline(always)]
pub fn columns(s: &Symmetric, p: f32, squared: f32) -> Columns {
    let [xx, yy, zz, xy, yz, zx] = *s;
    let scale = 1.0 / squared;
    [
        Vec4::new(xx - p, xy, zx, 0.0) * scale,
        Vec4::new(xy, yy - p, yz, 0.0) * scale,
        Vec4::new(zx, yz, zz - p, 0.0) * scale,
    ]
}

/// Friction of bodies. `press` times the gradient is the acceleration by pressure.
///
/// Differs from [Ihmsen13] Eq. 19–21, unless asked for: what is left of the velocity along the body is stopped, up to
/// Coulomb's part of the pressure.
#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "what a particle has at a wall")]
fn rub(
    step: &Step,
    contacts: &mut [Contact],
    pushed: &PushedBodies<'_>,
    v: Vec3,
    press: f32,
    stress: &Symmetric,
    squared: f32,
    mass: f32,
) {
    for contact in contacts {
        if step.walls == SphWalls::Viscous {
            let tensor = columns(stress, 0.0, squared);
            let stressed =
                times(&tensor, contact.gradient.extend(0.0)).xyz() * (step.volume / mass);
            let is_larger = contact.viscous.length_squared() > stressed.length_squared();
            contact.rubbing = if is_larger { contact.viscous } else { stressed };
            continue;
        }
        let (gained, _) = pushed.gained(contact);
        let slip = v - contact.velocity - gained;
        let stop = -contact.share / step.dt;
        let normal = contact.normal;
        let away = slip.dot(normal);
        let along = slip - away * normal;
        let load = press * contact.gradient.length();
        contact.rubbing = match (contact.boundary, contact.touches) {
            (Boundary::Sticky, true) => contact.rubbing + stop * slip,
            (Boundary::Slipping, true) => {
                // The body pulls as it presses.
                let pull = (contact.rubbing.dot(normal) + stop * away).min(0.0);
                let rubbing = tangent(contact.rubbing, normal) + stop * along;
                let most = contact.friction * (load - pull);
                pull * normal + rubbing.clamp_length_max(most)
            }
            _ => {
                let rubbing = tangent(contact.rubbing, normal) + stop * along;
                rubbing.clamp_length_max(contact.friction * load)
            }
        };
    }
}

#[inline(always)]
fn tangent(v: Vec3, normal: Vec3) -> Vec3 {
    v - v.dot(normal) * normal
}

/// Sums of [`Neighbours`] and [`Walls`] as one density, Eq. 16; δ² is kept away from 0.
pub fn weigh(
    neighbours: &Neighbours,
    walls: &Walls,
    fraction: &mut Vec<f32>,
    squares: &mut Vec<f32>,
) {
    fraction.clear();
    fraction.extend(neighbours.around.iter().map(|a| a.fraction));
    for contact in walls.lists().iter().flatten() {
        fraction[contact.particle as usize] += contact.fraction;
    }
    squares.clear();
    squares.extend(fraction.iter().map(|f| (f * f).max(0.01)));
}
