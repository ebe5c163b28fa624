//! The loop of predictor and corrector: pressure and friction of all particles side by side, Eq. 6–15 and 17–21.

use super::law;
use super::neighbors::NeighborList;
use super::particles::{Particles, Symmetric};
use super::walls::{Contact, PushedBodies};
use super::{PRESSURE_GAIN, Scratch, Step, TASK};
use crate::contacts::take_own;
use barchan_scene::{Boundary, SphWalls};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, dispatch, f32x4};
use glam::Vec3;
use rayon::prelude::*;

/// Three components and one more, in a register.
pub type Row = [f32; 4];

/// Columns of a 3×3 matrix, each in a register.
pub type Columns = [Row; 3];

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
    let (tensor, around) = (&s.tensor, &s.neighbors.sums);
    let near = s.neighbors.tasks().par_iter();
    let (contacts, _) = s.walls.parts();
    let (advection, squares) = (&s.advection, &s.squares);
    let tasks = near
        .zip(s.predicted.par_chunks_mut(TASK))
        .zip(contacts.par_iter_mut());
    tasks
        .enumerate()
        .for_each(|(task, ((near, out), contacts))| {
            dispatch!(step.level, simd => divergences(simd, near, tensor, out));
            let mut contacts = &mut contacts[..];
            for (k, out) in out.iter_mut().enumerate() {
                let i = task * TASK + k;
                let per_mass = step.volume / particles.mass[i];
                let own = times(&tensor[i], around[i].gradient);
                let mut a = advection[i] + per_mass * (own + three(out));
                for contact in take_own(&mut contacts, |c| c.particle as usize == i) {
                    contact.pressure_acceleration = push(step, particles, i, squares[i], contact);
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
            let along = |x: f32| f32x4::splat(simd, x);
            sums[0] = load(0).mul_add(along(g.x), sums[0]);
            sums[1] = load(1).mul_add(along(g.y), sums[1]);
            sums[2] = load(2).mul_add(along(g.z), sums[2]);
        }
        let sum = sums[0] + sums[1] + sums[2];
        sum.store_slice(out);
    }
}

#[inline(always)]
fn three(row: &Row) -> Vec3 {
    Vec3::new(row[0], row[1], row[2])
}

#[inline(always)]
fn times(m: &Columns, v: Vec3) -> Vec3 {
    three(&m[0]) * v.x + three(&m[1]) * v.y + three(&m[2]) * v.z
}

/// Acceleration by the pressure of a body, Eq. 17 [m/s²].
#[inline(always)]
fn push(step: &Step, particles: &Particles, i: usize, squared: f32, contact: &Contact) -> Vec3 {
    let per_mass = step.volume / particles.mass[i];
    -per_mass * particles.pressure[i] / squared * contact.gradient
}

/// Pressure and frictional stress that answer the density and strain rate of the predicted motion: Eq. 6, 8, 11, 13, 14.
pub fn correct(step: &Step, particles: &mut Particles, s: &mut Scratch) -> Residual {
    let predicted = &s.predicted;
    let near = s.neighbors.tasks().par_iter();
    let around = &s.neighbors.sums;
    let (contacts, pushed) = s.walls.parts();
    let (fraction, squares, gain) = (&s.fraction, &s.squares, &s.gain);
    let Particles {
        mass,
        material,
        pressure,
        support_pressure,
        stress,
        ..
    } = particles;
    let (mass, material) = (&*mass, &*material);
    near.zip(contacts.par_iter_mut())
        .zip(pressure.par_chunks_mut(TASK))
        .zip(support_pressure.par_chunks_mut(TASK))
        .zip(stress.par_chunks_mut(TASK))
        .zip(s.tensor.par_chunks_mut(TASK))
        .enumerate()
        .map(|(task, (((((near, contacts), pressure), support_pressure), stress), tensor))| {
            let first = task * TASK;
            dispatch!(step.level, simd => velocity_gradients(simd, near, predicted, first, tensor));
            let mut worst = Residual::default();
            let mut contacts = &mut contacts[..];
            let states = pressure.iter_mut().zip(support_pressure).zip(stress).zip(tensor);
            for (k, (((p, support_pressure), stress), tensor)) in states.enumerate() {
                let i = first + k;
                let own = take_own(&mut contacts, |c| c.particle as usize == i);
                let v = three(&predicted[i]);
                // The tensor has held the velocity gradient, and the pressure around.
                let mut gradient = *tensor;
                let pressing = gradient[0][3] / around[i].squares.max(f32::MIN_POSITIVE);
                let opening = at_walls(step, own, &pushed, v, &mut gradient);
                let trace = gradient[0][0] + gradient[1][1] + gradient[2][2];
                // Eq. 8, to first order; differs from [Ihmsen13], which weighs the predicted positions again.
                let density = fraction[i].min(step.most_dense) - step.dt * (trace + opening);
                // Eq. 6, with the sum that may fall again.
                let error = density - 1.0 - *p * step.softness;
                *p = (*p + gain[i] * error).max(0.0);
                let law = &step.laws[usize::from(material[i])];
                // Differs from [Ihmsen13] Eq. 13: the mean pressure about the particle limits friction. Its own is noisy,
                // and 0 in the uppermost layers, which would slide off any slope.
                let mean = 0.5 * (*p + pressing);
                let trial = add(stress, step.viscosity, &strain_rate(&gradient));
                *support_pressure = step.kept * *support_pressure + (1.0 - step.kept) * mean;
                let new = law::friction(trial, *support_pressure, law.sine, step.yielding, step.dimensions);
                if step.measures {
                    worst = worst.max(Residual {
                        compression: density - 1.0,
                        change: law::norm(&add(&new, -1.0, stress)),
                        pressure: *p,
                    });
                }
                *stress = new;
                *tensor = columns(&new, *p, squares[i]);
                if !own.is_empty() {
                    let per_mass = step.volume / mass[i];
                    let pressed = Pressed {
                        press: per_mass * *p / squares[i],
                        per_mass,
                        stress: new,
                        squared: squares[i],
                    };
                    apply_friction(step, own, &pushed, v, &pressed);
                }
            }
            worst
        })
        .reduce(Residual::default, Residual::max)
}

/// ∇v of the particles of a task: column b is Σ (v_j − v_i) V_j ∂W/∂x_b; and Σ |V_j ∇W|² p_j behind the first.
///
/// Differs from [Ihmsen13] Eq. 3, which uses v_j and so sees uniform motion.
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
        let mut pressing = 0.0f32;
        for (j, g) in neighbors.each() {
            let other = f32x4::from_slice(simd, &predicted[j]);
            let apart = other - own;
            let along = |x: f32| f32x4::splat(simd, x);
            sums[0] = apart.mul_add(along(g.x), sums[0]);
            sums[1] = apart.mul_add(along(g.y), sums[1]);
            sums[2] = apart.mul_add(along(g.z), sums[2]);
            pressing += g.length_squared() * predicted[j][3];
        }
        for (column, sum) in out.iter_mut().zip(sums) {
            sum.store_slice(column);
        }
        out[0][3] = pressing;
    }
}

/// How fast bodies make room for a particle [1/s]. With the walls of [Ihmsen13] they also add to the velocity gradient,
/// Eq. 18.
#[inline(always)]
fn at_walls(
    step: &Step,
    contacts: &[Contact],
    pushed: &PushedBodies<'_>,
    v: Vec3,
    gradient: &mut Columns,
) -> f32 {
    let mut opening = 0.0;
    for contact in contacts {
        let (gained, flux) = pushed.gained(contact);
        opening += contact.flux + flux - v.dot(contact.gradient);
        if step.walls == SphWalls::Viscous {
            let apart = (contact.velocity + gained - v).to_array();
            let g = contact.gradient.to_array();
            // Their trace is the opening, which is counted already.
            let count = step.dimensions.count();
            let normal = (contact.velocity + gained - v).dot(contact.gradient) / count as f32;
            for (b, column) in gradient.iter_mut().enumerate().take(count) {
                for (a, value) in column.iter_mut().enumerate().take(count) {
                    *value += apart[a] * g[b] - if a == b { normal } else { 0.0 };
                }
            }
        }
    }
    opening
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

/// State of a particle that slides on a body.
struct Pressed {
    /// Times the gradient it is the acceleration by pressure.
    press: f32,
    /// Volume over mass [m³/kg].
    per_mass: f32,
    stress: Symmetric,
    /// δ².
    squared: f32,
}

/// Friction of bodies.
///
/// Differs from [Ihmsen13] Eq. 19–21, unless asked for: what is left of the velocity along the body is stopped, up to
/// Coulomb's part of the pressure.
#[inline(always)]
fn apply_friction(
    step: &Step,
    contacts: &mut [Contact],
    pushed: &PushedBodies<'_>,
    v: Vec3,
    pressed: &Pressed,
) {
    // Several bodies share what they stop, so that no slip is taken away twice.
    let count = contacts.len() as f32;
    for contact in contacts {
        if step.walls == SphWalls::Viscous {
            let tensor = columns(&pressed.stress, 0.0, pressed.squared);
            let stressed = times(&tensor, contact.gradient) * pressed.per_mass;
            let is_larger = contact.viscous.length_squared() > stressed.length_squared();
            contact.friction_acceleration = if is_larger { contact.viscous } else { stressed };
            continue;
        }
        let (gained, _) = pushed.gained(contact);
        let slip = v - contact.velocity - gained;
        let stop = -contact.share / (count * step.dt);
        let normal = contact.normal;
        let away = slip.dot(normal);
        let along = slip - away * normal;
        let load = pressed.press * contact.gradient.length();
        contact.friction_acceleration = match (contact.boundary, contact.touches) {
            (Boundary::Sticky, true) => contact.friction_acceleration + stop * slip,
            (Boundary::Slipping, true) => {
                // The body pulls as it presses.
                let pull = (contact.friction_acceleration.dot(normal) + stop * away).min(0.0);
                let friction = tangent(contact.friction_acceleration, normal) + stop * along;
                let most = contact.friction * (load - pull);
                pull * normal + friction.clamp_length_max(most)
            }
            _ => {
                let friction = tangent(contact.friction_acceleration, normal) + stop * along;
                friction.clamp_length_max(contact.friction * load)
            }
        };
    }
}

#[inline(always)]
fn tangent(v: Vec3, normal: Vec3) -> Vec3 {
    v - v.dot(normal) * normal
}

/// Densities (Eq. 16; δ² is kept away from 0), and how much a pass may answer an error of them.
///
/// A particle that a body presses alone answers its own pressure far more than one in a bed.
pub fn compute_densities(step: &Step, s: &mut Scratch) {
    let around = &s.neighbors.sums;
    let (contacts, _) = s.walls.parts();
    s.fraction.resize(around.len(), 0.0);
    s.squares.resize(around.len(), 0.0);
    s.gain.resize(around.len(), 0.0);
    (s.fraction.par_chunks_mut(TASK))
        .zip(s.squares.par_chunks_mut(TASK))
        .zip(s.gain.par_chunks_mut(TASK))
        .zip(contacts.par_iter_mut())
        .enumerate()
        .for_each(|(task, (((fraction, squares), gain), contacts))| {
            let mut contacts = &mut contacts[..];
            let states = fraction.iter_mut().zip(squares).zip(gain);
            for (k, ((fraction, squared), gain)) in states.enumerate() {
                let i = task * TASK + k;
                let (mut sum, mut gradient) = (around[i].fraction, around[i].gradient);
                let mut share = 1.0f32;
                for contact in take_own(&mut contacts, |c| c.particle as usize == i) {
                    sum += contact.fraction;
                    gradient += contact.gradient;
                    share = share.min(contact.share);
                }
                *fraction = sum;
                *squared = (sum * sum).max(0.01);
                let crowd = around[i].squares * step.together;
                let own = gradient.length_squared() + crowd;
                // As if all around were of the lightest material: what is heavy pushes its light neighbors.
                let answer = step.dt * step.dt / step.lightest;
                let answer = answer * own.max(step.peak) / (*squared * PRESSURE_GAIN);
                *gain = share * step.bulk / (1.0 + step.bulk * answer);
            }
        });
}

/// Pressure where the loop begins: that of the density now. The friction is that of the last step.
///
/// Differs from [Ihmsen13], where both begin at nothing: at rest the first guess is right, and no pass disturbs what is.
pub fn begin(step: &Step, particles: &mut Particles, s: &mut Scratch) {
    s.predicted.resize(particles.len(), [0.0; 4]);
    s.tensor.resize(particles.len(), Columns::default());
    let states = particles.pressure.par_iter_mut().zip(&particles.stress);
    states
        .zip(s.fraction.par_iter().zip(&s.squares))
        .zip(&mut s.tensor)
        .with_min_len(TASK)
        .for_each(|(((p, stress), (fraction, squared)), tensor)| {
            *p = step.bulk * (fraction.min(step.most_dense) - 1.0).max(0.0);
            *tensor = columns(stress, *p, *squared);
        });
}
