//! The predictor–corrector loop for pressure and friction, Eq. 6–15 and 17–21.

use super::law;
use super::neighbors::{NeighborList, Neighborhood};
use super::particles::{Particles, Symmetric};
use super::walls::{BodyResponses, Contact};
use super::{PARTICLES_PER_TASK, PRESSURE_GAIN, Scratch, Step};
use crate::contacts::take_own;
use barchan_scene::{Boundary, SphWalls};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, dispatch, f32x4};
use glam::Vec3;
use rayon::prelude::*;

/// Three components and an additional value, in a register.
pub type Row = [f32; 4];

/// Columns of a 3×3 matrix, each in a register.
pub type Columns = [Row; 3];

/// Remaining errors of an iteration.
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
    let (tensor, sums) = (&s.tensor, &s.neighbors.sums);
    let (advection, densities) = (&s.advection, &s.densities);
    let (out, contacts) = (
        s.predicted.par_chunks_mut(PARTICLES_PER_TASK),
        &mut s.walls.contacts,
    );
    let tasks = (&s.neighbors.tasks, out, contacts).into_par_iter();
    tasks.enumerate().for_each(|(task, (near, out, contacts))| {
        dispatch!(step.level, simd => divergences(simd, near, tensor, out));
        let mut contacts = &mut contacts[..];
        for (i, out) in (task * PARTICLES_PER_TASK..).zip(out) {
            let per_mass = step.volume / particles.mass[i];
            let own = times(&tensor[i], sums[i].gradient);
            let mut a = advection[i] + per_mass * (own + xyz(out));
            for contact in take_own(&mut contacts, |c| c.particle as usize == i) {
                // Eq. 17.
                contact.pressure_acceleration =
                    -per_mass * particles.pressure[i] / densities[i].squared * contact.gradient;
                a += contact.pressure_acceleration + contact.friction_acceleration;
            }
            let v = particles.velocity[i] + step.dt * a;
            *out = [v.x, v.y, v.z, particles.pressure[i]];
        }
    });
}

/// Σ σ_j/δ_j² V_j ∇W_ij of the particles of a task.
#[inline(always)]
fn divergences<S: Simd>(simd: S, near: &NeighborList, tensor: &[Columns], out: &mut [Row]) {
    for (neighbors, out) in near.each().zip(out) {
        let mut sums = [f32x4::splat(simd, 0.0); 3];
        for (j, g) in neighbors.each() {
            let load = |axis: usize| f32x4::from_slice(simd, &tensor[j][axis]);
            let splat = |x: f32| f32x4::splat(simd, x);
            sums[0] = load(0).mul_add(splat(g.x), sums[0]);
            sums[1] = load(1).mul_add(splat(g.y), sums[1]);
            sums[2] = load(2).mul_add(splat(g.z), sums[2]);
        }
        let sum = sums[0] + sums[1] + sums[2];
        sum.store_slice(out);
    }
}

/// The first three components.
#[inline(always)]
pub fn xyz(row: &Row) -> Vec3 {
    Vec3::new(row[0], row[1], row[2])
}

#[inline(always)]
fn times(m: &Columns, v: Vec3) -> Vec3 {
    xyz(&m[0]) * v.x + xyz(&m[1]) * v.y + xyz(&m[2]) * v.z
}

/// Corrects pressure and frictional stress by the density and strain rate of the predicted motion: Eq. 6, 8, 11, 13, 14.
pub fn correct(step: &Step, particles: &mut Particles, s: &mut Scratch) -> Residual {
    let predicted = &s.predicted;
    let (tasks, sums) = (s.neighbors.tasks.par_iter(), &s.neighbors.sums);
    let (contacts, bodies) = s.walls.parts();
    let densities = &s.densities;
    let Particles {
        mass,
        material,
        pressure,
        support_pressure,
        stress,
        ..
    } = particles;
    let (mass, material) = (&*mass, &*material);
    tasks
        .zip(contacts.par_iter_mut())
        .zip(pressure.par_chunks_mut(PARTICLES_PER_TASK))
        .zip(support_pressure.par_chunks_mut(PARTICLES_PER_TASK))
        .zip(stress.par_chunks_mut(PARTICLES_PER_TASK))
        .zip(s.tensor.par_chunks_mut(PARTICLES_PER_TASK))
        .enumerate()
        .map(|(task, (((((near, contacts), pressure), support_pressure), stress), tensor))| {
            let first = task * PARTICLES_PER_TASK;
            dispatch!(step.level, simd => velocity_gradients(simd, near, predicted, first, tensor));
            let mut worst = Residual::default();
            let mut contacts = &mut contacts[..];
            let states = pressure.iter_mut().zip(support_pressure).zip(stress).zip(tensor);
            for (i, (((p, support_pressure), stress), tensor)) in (first..).zip(states) {
                let now = &densities[i];
                let own = take_own(&mut contacts, |c| c.particle as usize == i);
                let v = xyz(&predicted[i]);
                // Until here the tensor holds the velocity gradient and the pressure of the neighbors.
                let mut gradient = *tensor;
                let nearby = gradient[0][3] / sums[i].squares.max(f32::MIN_POSITIVE);
                let divergence = wall_divergence(step, own, &bodies, v, &mut gradient);
                let trace = gradient[0][0] + gradient[1][1] + gradient[2][2];
                // Eq. 8, to first order; differs from [Ihmsen13], which sums over the predicted positions.
                let density =
                    now.relative.min(step.max_density) - step.dt * (trace + divergence);
                // Eq. 6, but pressure may decrease again.
                let error = density - 1.0 - *p * step.compressibility;
                *p = (*p + now.gain * error).max(0.0);
                let law = &step.laws[usize::from(material[i])];
                // Differs from [Ihmsen13] Eq. 13: the mean pressure of the neighborhood limits friction. The particle's own is
                // noisy, and 0 in the uppermost layers, which would slide off any slope.
                let mean = 0.5 * (*p + nearby);
                let trial = add(stress, step.viscosity, &strain_rate(&gradient));
                *support_pressure =
                    step.support_retention * *support_pressure + (1.0 - step.support_retention) * mean;
                let (yielding, dimensions) = (step.spec.yielding, step.prototype.dimensions);
                let new =
                    law::friction(trial, *support_pressure, law.sin_angle, yielding, dimensions);
                if step.spec.tolerance.is_some() {
                    worst = worst.max(Residual {
                        compression: density - 1.0,
                        change: law::norm(&add(&new, -1.0, stress)),
                        pressure: *p,
                    });
                }
                *stress = new;
                *tensor = columns(&new, *p, now.squared);
                if !own.is_empty() {
                    let per_mass = step.volume / mass[i];
                    let state = WallState {
                        pressure: per_mass * *p / now.squared,
                        per_mass,
                        stress: new,
                        squared: now.squared,
                    };
                    apply_friction(step, own, &bodies, v, &state);
                }
            }
            worst
        })
        .reduce(Residual::default, Residual::max)
}

/// ∇v of the particles of a task: column b is Σ (v_j − v_i) V_j ∂W/∂x_b; the fourth entry of the first is Σ |V_j ∇W|² p_j.
///
/// Differs from [Ihmsen13] Eq. 3, which uses v_j: a uniform velocity would strain a free surface.
#[inline(always)]
fn velocity_gradients<S: Simd>(
    simd: S,
    near: &NeighborList,
    predicted: &[Row],
    first: usize,
    out: &mut [Columns],
) {
    for (k, (neighbors, out)) in near.each().zip(out).enumerate() {
        let own = f32x4::from_slice(simd, &predicted[first + k]);
        let mut sums = [f32x4::splat(simd, 0.0); 3];
        let mut pressure = 0.0f32;
        for (j, g) in neighbors.each() {
            let other = f32x4::from_slice(simd, &predicted[j]);
            let relative_velocity = other - own;
            let splat = |x: f32| f32x4::splat(simd, x);
            sums[0] = relative_velocity.mul_add(splat(g.x), sums[0]);
            sums[1] = relative_velocity.mul_add(splat(g.y), sums[1]);
            sums[2] = relative_velocity.mul_add(splat(g.z), sums[2]);
            pressure += g.length_squared() * predicted[j][3];
        }
        for (column, sum) in out.iter_mut().zip(sums) {
            sum.store_slice(column);
        }
        out[0][3] = pressure;
    }
}

/// Velocity divergence at a particle due to bodies [1/s]. With the walls of [Ihmsen13] bodies also contribute to the velocity
/// gradient, Eq. 18.
#[inline(always)]
fn wall_divergence(
    step: &Step,
    contacts: &[Contact],
    bodies: &BodyResponses<'_>,
    v: Vec3,
    gradient: &mut Columns,
) -> f32 {
    let mut divergence = 0.0;
    for contact in contacts {
        let (change, flux) = bodies.at(contact);
        divergence += contact.flux + flux - v.dot(contact.gradient);
        if step.spec.wall_friction == SphWalls::Viscous {
            let relative_velocity = contact.velocity + change - v;
            // Without the trace, which is the divergence.
            let count = step.prototype.dimensions.count();
            let normal = relative_velocity.dot(contact.gradient) / count as f32;
            let (relative_velocity, g) =
                (relative_velocity.to_array(), contact.gradient.to_array());
            for (b, column) in gradient.iter_mut().enumerate().take(count) {
                for (a, value) in column.iter_mut().enumerate().take(count) {
                    *value += relative_velocity[a] * g[b] - if a == b { normal } else { 0.0 };
                }
            }
        }
    }
    divergence
}

/// ½ (∇v + ∇vᵀ).
#[inline(always)]
fn strain_rate(g: &Columns) -> Symmetric {
    [
        g[0][0],
        g[1][1],
        g[2][2],
        0.5 * (g[2][1] + g[1][2]),
        0.5 * (g[0][2] + g[2][0]),
        0.5 * (g[1][0] + g[0][1]),
    ]
}

#[inline(always)]
fn add(a: &Symmetric, factor: f32, b: &Symmetric) -> Symmetric {
    std::array::from_fn(|k| a[k] + factor * b[k])
}

/// (ŝ − p I)/δ².
#[inline(always)]
pub fn columns(s: &Symmetric, p: f32, squared: f32) -> Columns {
    let [xx, yy, zz, yz, xz, xy] = *s;
    let scale = 1.0 / squared;
    let column = |x: f32, y: f32, z: f32| [x * scale, y * scale, z * scale, 0.0];
    [
        column(xx - p, xy, xz),
        column(xy, yy - p, yz),
        column(xz, yz, zz - p),
    ]
}

/// State of a particle in contact with bodies.
struct WallState {
    /// Factor from the gradient of a contact to the acceleration by pressure.
    pressure: f32,
    /// Volume over mass [m³/kg].
    per_mass: f32,
    stress: Symmetric,
    /// δ².
    squared: f32,
}

/// Friction of bodies.
///
/// Differs from [Ihmsen13] Eq. 19–21, unless the settings select them: the remaining slip is stopped, up to the Coulomb limit.
#[inline(always)]
fn apply_friction(
    step: &Step,
    contacts: &mut [Contact],
    bodies: &BodyResponses<'_>,
    v: Vec3,
    state: &WallState,
) {
    // Several bodies share the slip, so that it is not removed twice.
    let count = contacts.len() as f32;
    for contact in contacts {
        if step.spec.wall_friction == SphWalls::Viscous {
            let tensor = columns(&state.stress, 0.0, state.squared);
            let by_stress = times(&tensor, contact.gradient) * state.per_mass;
            let is_larger = contact.viscous.length_squared() > by_stress.length_squared();
            contact.friction_acceleration = if is_larger {
                contact.viscous
            } else {
                by_stress
            };
            continue;
        }
        let (change, _) = bodies.at(contact);
        let slip = v - contact.velocity - change;
        let stop = -contact.share / (count * step.dt);
        let normal = contact.normal;
        let away = slip.dot(normal);
        let along = slip - away * normal;
        let load = state.pressure * contact.gradient.length();
        let before = contact.friction_acceleration;
        let friction = before - before.dot(normal) * normal + stop * along;
        contact.friction_acceleration = match (contact.boundary, contact.is_held) {
            (Boundary::Sticky, true) => before + stop * slip,
            (Boundary::Slipping, true) => {
                // The body also pulls the particle, which adds to the Coulomb limit.
                let pull = (before.dot(normal) + stop * away).min(0.0);
                let most = contact.friction * (load - pull);
                pull * normal + friction.clamp_length_max(most)
            }
            _ => friction.clamp_length_max(contact.friction * load),
        };
    }
}

/// Density of a particle, and the gain of its pressure corrections.
#[derive(Debug, Clone, Copy, Default)]
pub struct Density {
    /// Density relative to that at rest, δ.
    relative: f32,
    /// δ², bounded away from 0.
    squared: f32,
    /// Pressure correction of an iteration per error of δ [Pa].
    gain: f32,
}

impl Density {
    /// Eq. 16. An isolated particle at a body responds far more strongly to its own pressure than one in a bed.
    fn new(step: &Step, sums: &Neighborhood, contacts: &[Contact]) -> Self {
        let (mut relative, mut gradient) = (sums.fraction, sums.gradient);
        let mut share = 1.0f32;
        for contact in contacts {
            relative += contact.fraction;
            gradient += contact.gradient;
            share = share.min(contact.share);
        }
        let squared = (relative * relative).max(0.01);
        let collective = sums.squares * step.collective_ratio;
        let own = gradient.length_squared() + collective;
        // As if all neighbors were of the lightest material, whose response is the largest.
        let response = step.dt * step.dt / step.min_density;
        let response = response * own.max(step.prototype.collective_response as f32)
            / (squared * PRESSURE_GAIN);
        Self {
            relative,
            squared,
            gain: share * step.bulk / (1.0 + step.bulk * response),
        }
    }
}

/// Densities, and the state in which the loop starts: the pressure of the present density, the friction of the last step.
///
/// Differs from [Ihmsen13], where both start from zero: at rest this is already the solution.
pub fn initialize(step: &Step, particles: &mut Particles, s: &mut Scratch) {
    let count = particles.len();
    s.densities.resize(count, Density::default());
    s.predicted.resize(count, [0.0; 4]);
    s.tensor.resize(count, Columns::default());
    let sums = &s.neighbors.sums;
    let state = (
        s.densities.par_chunks_mut(PARTICLES_PER_TASK),
        s.tensor.par_chunks_mut(PARTICLES_PER_TASK),
        particles.pressure.par_chunks_mut(PARTICLES_PER_TASK),
        particles.stress.par_chunks(PARTICLES_PER_TASK),
    );
    let tasks = (state, &mut s.walls.contacts).into_par_iter().enumerate();
    tasks.for_each(
        |(task, ((densities, tensor, pressure, stress), contacts))| {
            let mut contacts = &mut contacts[..];
            let states = densities.iter_mut().zip(tensor).zip(pressure).zip(stress);
            for (i, (((density, tensor), p), stress)) in (task * PARTICLES_PER_TASK..).zip(states) {
                let own = take_own(&mut contacts, |c| c.particle as usize == i);
                *density = Density::new(step, &sums[i], own);
                *p = step.bulk * (density.relative.min(step.max_density) - 1.0).max(0.0);
                *tensor = columns(stress, *p, density.squared);
            }
        },
    );
}
