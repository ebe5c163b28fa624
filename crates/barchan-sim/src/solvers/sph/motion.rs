//! The end of a step: grains that collide one by one, sleeping, and where everything goes. And how long a step may be.

use super::passes::Row;
use super::walls::Contact;
use super::{Sph, TASK};
use crate::collider::Colliders;
use crate::contacts::rigid::Impulse;
use crate::contacts::take_own;
use crate::solver::{Bound, Pace, SolverError, StepContext};
use barchan_scene::SphSpec;
use glam::Vec3;
use rayon::prelude::*;

/// Distance at which particles that press nobody touch each other [spacings].
const GRAIN: f32 = 0.9;
/// Part of the closing speed that one of two such particles takes in a step: several may collide at once.
const COLLISION_SHARE: f32 = 0.5;
/// Part of h²/ν that a step may be with an artificial viscosity ν.
const VISCOUS: f32 = 0.25;

impl Sph {
    /// No particle crosses more than a part of the spacing in a step, and viscosity does not overshoot.
    pub(super) fn bounds(&self) -> Pace {
        let spec = &self.spec;
        let (spacing, cfl) = (spec.spacing() as f32, spec.cfl as f32);
        let speeds = self.particles.velocity.par_iter();
        let fastest = speeds
            .with_min_len(4 * TASK)
            .map(|v| v.length_squared())
            .reduce(|| 0.0, f32::max)
            .sqrt();
        let usual = spec.spacing() / SphSpec::USUAL_PACE;
        let moving = cfl * spacing / fastest;
        Pace::Bounded {
            bounds: [
                Bound::at_rest(spec.max_dt as f32, "solver.sph.max_dt", spec.max_dt, usual),
                Bound::in_motion(moving, "solver.sph.cfl", spec.cfl, SphSpec::USUAL_CFL),
                Bound {
                    dt: self.viscous_dt(),
                    ..Bound::NONE
                },
                Bound {
                    dt: self.cohesive_dt(),
                    ..Bound::NONE
                },
            ],
            travel: spec.cfl * spec.spacing(),
        }
    }

    fn lightest(&self) -> f32 {
        let densities = self.laws.iter().map(|law| law.density as f32);
        densities.fold(f32::INFINITY, f32::min)
    }

    /// Longest step that artificial viscosity allows [s].
    fn viscous_dt(&self) -> f32 {
        let densities = self.laws.iter().map(|law| law.density as f32);
        let heaviest = densities.fold(0.0, f32::max);
        let thickest = self.laws.iter().flat_map(|law| law.viscosity);
        let thickest = thickest.fold(0.0, f32::max) * self.spec.sound_speed as f32;
        // Among heavy ones a light particle is slowed down up to twice as much.
        let slowed = 2.0 * heaviest / (heaviest + self.lightest());
        match thickest > 0.0 {
            true => VISCOUS * self.kernel.support / (slowed * thickest),
            false => f32::INFINITY,
        }
    }

    /// Longest step that cohesion, which is a spring, allows [s]: waves in the lightest material go at √(tension/ρ0).
    fn cohesive_dt(&self) -> f32 {
        let wave = self.tension() as f32 / self.lightest();
        match wave > 0.0 {
            true => self.spec.cfl as f32 * self.spec.spacing() as f32 / wave.sqrt(),
            false => f32::INFINITY,
        }
    }

    /// Takes the predicted velocities, and moves. Returns the highest speed [m/s].
    pub(super) fn advance(&mut self, cx: &mut StepContext<'_>) -> Result<f32, SolverError> {
        self.keep_wall_friction();
        let spec = self.spec;
        let (sleep, wake) = (spec.sleep_velocity as f32, spec.wake_acceleration as f32);
        self.collide(cx.dt);
        let p = &mut self.particles;
        let s = &mut self.scratch;
        let dt = cx.dt;
        let (predicted, collision) = (&s.predicted, &s.collision);
        let (contacts, _) = s.walls.parts();
        let colliders = cx.colliders;
        let fastest = (p.position.par_chunks_mut(TASK))
            .zip(p.velocity.par_chunks_mut(TASK))
            .zip(contacts.par_iter_mut())
            .enumerate()
            .map(|(task, ((xs, vs), contacts))| {
                let mut fastest = 0.0f32;
                let mut contacts = &mut contacts[..];
                for (k, (place, v)) in xs.iter_mut().zip(vs).enumerate() {
                    let i = task * TASK + k;
                    let [x, y, z, _] = predicted[i];
                    let mut new = Vec3::new(x, y, z) + collision[i];
                    let gained = (new - *v).length();
                    if new.length() < sleep && gained < wake * dt {
                        new = Vec3::ZERO;
                    }
                    let own = take_own(&mut contacts, |c| c.particle as usize == i);
                    let mut to = *place + dt * new;
                    keep_out(colliders, own, dt, &mut to, &mut new);
                    *v = new;
                    *place = to;
                    fastest = fastest.max(new.length());
                }
                fastest
            })
            .reduce(|| 0.0, |a, b| if a.is_nan() { a } else { b.max(a) });
        self.react_to_kept_out(cx);
        self.check_finite(cx.dt)?;
        Ok(fastest)
    }

    /// Friction of bodies is where the next step begins.
    fn keep_wall_friction(&mut self) {
        let friction = &mut self.particles.wall_friction;
        friction.fill(Vec3::ZERO);
        for contact in self.scratch.walls.contacts.iter().flatten() {
            friction[contact.particle as usize] += contact.friction_acceleration;
        }
    }

    /// Velocities that particles without pressure give each other where they collide, as [Alduan11] has them: no two come
    /// nearer than grains would [m/s].
    fn collide(&mut self, dt: f32) {
        let p = &self.particles;
        let s = &mut self.scratch;
        s.collision.clear();
        s.collision.resize(p.len(), Vec3::ZERO);
        if !self.spec.discrete_forces {
            return;
        }
        let predicted = &s.predicted;
        let reach = GRAIN * self.spec.spacing() as f32;
        let tasks = s.neighbors.tasks().par_iter();
        tasks
            .zip(s.collision.par_chunks_mut(TASK))
            .enumerate()
            .for_each(|(task, (near, out))| {
                for (k, (neighbors, out)) in near.each().zip(out).enumerate() {
                    let i = task * TASK + k;
                    if p.pressure[i] > 0.0 {
                        continue;
                    }
                    for j in neighbors.index.iter().map(|j| *j as usize) {
                        if p.pressure[j] > 0.0 {
                            continue;
                        }
                        let apart = p.position[i] - p.position[j];
                        let distance = apart.length();
                        let Some(normal) = apart.try_normalize() else {
                            continue;
                        };
                        let closing = apart_of(&predicted[i], &predicted[j]).dot(normal);
                        let overlap = reach - distance - dt * closing;
                        if closing >= 0.0 || overlap <= 0.0 {
                            continue;
                        }
                        let stop = (-closing).min(overlap / dt);
                        let share = p.mass[j] / (p.mass[i] + p.mass[j]);
                        *out += 2.0 * COLLISION_SHARE * share * stop * normal;
                    }
                }
            });
    }

    /// Bodies get the momentum of particles that were kept out of them.
    fn react_to_kept_out(&self, cx: &mut StepContext<'_>) {
        let p = &self.particles;
        for contact in self.scratch.walls.contacts.iter().flatten() {
            if contact.pressure_acceleration == Vec3::ZERO {
                continue;
            }
            let mass = p.mass[contact.particle as usize];
            let linear = -(mass * cx.dt * contact.pressure_acceleration).as_dvec3();
            cx.impulses.bodies[contact.body as usize] += Impulse::at(contact.arm, linear);
        }
    }

    fn check_finite(&self, dt: f32) -> Result<(), SolverError> {
        let p = &self.particles;
        let places = p.position.par_iter().zip(&p.velocity);
        let lost = places
            .with_min_len(4 * TASK)
            .position_first(|(x, v)| !(x.is_finite() && v.is_finite()));
        match lost {
            None => Ok(()),
            Some(i) => Err(SolverError::NotFinite {
                id: p.id[i],
                position: p.position[i],
                quantity: "velocity",
                dt,
            }),
        }
    }
}

fn apart_of(a: &Row, b: &Row) -> Vec3 {
    Vec3::new(a[0] - b[0], a[1] - b[1], a[2] - b[2])
}

/// No center of a particle goes into a body: it stops at the surface. Puts the acceleration that this takes into
/// `pressure_acceleration` of the contacts, and zero where there was none.
fn keep_out(colliders: &Colliders, contacts: &mut [Contact], dt: f32, x: &mut Vec3, v: &mut Vec3) {
    for contact in contacts {
        contact.pressure_acceleration = Vec3::ZERO;
        let Some(collider) = colliders.list.get(contact.body as usize) else {
            continue;
        };
        // The body stays and the particle moves as seen from it.
        let seen = *x - dt * contact.velocity;
        let depth = -collider.distance(seen);
        if depth <= 0.0 {
            continue;
        }
        let normal = collider.normal(seen);
        let closing = (*v - contact.velocity).dot(normal).min(0.0);
        *x += depth * normal;
        *v -= closing * normal;
        contact.pressure_acceleration = -closing / dt * normal;
    }
}
