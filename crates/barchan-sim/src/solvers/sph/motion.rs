//! The end of a step: collisions of isolated particles, sleeping and advection. And the bounds of the time step.

use super::passes::xyz;
use super::walls::Contact;
use super::{PARTICLES_PER_TASK, Sph};
use crate::collider::Colliders;
use crate::contacts::rigid::Impulse;
use crate::contacts::take_own;
use crate::particles::max_speed;
use crate::solver::{Bound, Pace, SolverError, StepContext};
use barchan_scene::SphSpec;
use glam::Vec3;
use rayon::prelude::*;

/// Distance at which particles without pressure collide [spacings].
const COLLISION_DISTANCE: f32 = 0.9;
/// Fraction of the closing speed removed by each of two such particles in a step; several may collide at once.
const COLLISION_SHARE: f32 = 0.5;
/// Longest step with an artificial viscosity ν, as a fraction of h²/ν.
const VISCOUS_CFL: f32 = 0.25;

impl Sph {
    /// Bounds by the displacement of particles in a step, as a fraction of the spacing, and by the stability of viscosity and cohesion.
    pub(super) fn bounds(&self) -> Pace {
        let spec = &self.spec;
        let (spacing, cfl) = (spec.spacing() as f32, spec.cfl as f32);
        let (max_dt, default) = (spec.max_dt, spec.spacing() / SphSpec::DEFAULT_PACE);
        let cohesive = self.cohesive_dt();
        let moving = cfl * spacing / max_speed(&self.particles.velocity);
        Pace::Bounded {
            bounds: [
                Bound::at_rest(max_dt as f32, "solver.sph.max_dt", max_dt, default),
                Bound::in_motion(moving, "solver.sph.cfl", spec.cfl, SphSpec::DEFAULT_CFL),
                Bound {
                    dt: self.viscous_dt(),
                    ..Bound::NONE
                },
                Bound::at_rest(cohesive, "solver.sph.cfl", spec.cfl, SphSpec::DEFAULT_CFL),
            ],
            travel: spec.cfl * spec.spacing(),
        }
    }

    /// Longest step that artificial viscosity allows [s].
    fn viscous_dt(&self) -> f32 {
        let densities = self.laws.iter().map(|law| law.density as f32);
        let heaviest = densities.fold(0.0, f32::max);
        let viscosities = self.laws.iter().flat_map(|law| law.viscosity);
        let viscosity = viscosities.fold(0.0, f32::max) * self.spec.sound_speed as f32;
        // The response of a light particle among heavy ones is up to twice as large.
        let response = 2.0 * heaviest / (heaviest + self.min_density() as f32);
        match viscosity > 0.0 {
            true => VISCOUS_CFL * self.kernel.support / (response * viscosity),
            false => f32::INFINITY,
        }
    }

    /// Longest step that the attraction of cohesion allows [s]: its wave speed in the lightest material is √(tension/ρ0).
    fn cohesive_dt(&self) -> f32 {
        let wave = self.tension() as f32 / self.min_density() as f32;
        match wave > 0.0 {
            true => self.spec.cfl as f32 * self.spec.spacing() as f32 / wave.sqrt(),
            false => f32::INFINITY,
        }
    }

    /// Moves the particles with their predicted velocities. Returns the highest speed [m/s].
    pub(super) fn advance(&mut self, cx: &mut StepContext<'_>) -> Result<f32, SolverError> {
        self.store_wall_friction();
        let spec = self.spec;
        let (sleep, wake) = (spec.sleep_velocity as f32, spec.wake_acceleration as f32);
        self.collide(cx.dt);
        let (p, s, dt) = (&mut self.particles, &mut self.scratch, cx.dt);
        let (predicted, collision) = (&s.predicted, &s.collision);
        let (xs, vs) = (
            p.position.par_chunks_mut(PARTICLES_PER_TASK),
            p.velocity.par_chunks_mut(PARTICLES_PER_TASK),
        );
        let tasks = (xs, vs, &mut s.walls.contacts).into_par_iter().enumerate();
        let colliders = cx.colliders;
        let fastest = tasks
            .map(|(task, (xs, vs, contacts))| {
                let mut fastest = 0.0f32;
                let mut contacts = &mut contacts[..];
                for (i, (x, v)) in (task * PARTICLES_PER_TASK..).zip(xs.iter_mut().zip(vs)) {
                    let mut new = xyz(&predicted[i]) + collision[i];
                    let change = (new - *v).length();
                    if new.length() < sleep && change < wake * dt {
                        new = Vec3::ZERO;
                    }
                    let own = take_own(&mut contacts, |c| c.particle as usize == i);
                    *x += dt * new;
                    push_out(colliders, own, dt, x, &mut new);
                    *v = new;
                    fastest = fastest.max(new.length());
                }
                fastest
            })
            .reduce(|| 0.0, |a, b| if a.is_nan() { a } else { b.max(a) });
        self.add_push_out_reactions(cx);
        self.check_finite(cx.dt)?;
        Ok(fastest)
    }

    /// Stores the friction of bodies for the next step.
    fn store_wall_friction(&mut self) {
        let friction = &mut self.particles.wall_friction;
        friction.fill(Vec3::ZERO);
        for contact in self.scratch.walls.contacts.iter().flatten() {
            friction[contact.particle as usize] += contact.friction_acceleration;
        }
    }

    /// Velocity changes by collisions of particles without pressure, after [Alduan11]: no two come closer than the collision
    /// distance.
    fn collide(&mut self, dt: f32) {
        let (p, s) = (&self.particles, &mut self.scratch);
        s.collision.clear();
        s.collision.resize(p.len(), Vec3::ZERO);
        if !self.spec.discrete_forces {
            return;
        }
        let predicted = &s.predicted;
        let reach = COLLISION_DISTANCE * self.spec.spacing() as f32;
        let out = s.collision.par_chunks_mut(PARTICLES_PER_TASK);
        let tasks = (&s.neighbors.tasks, out).into_par_iter().enumerate();
        tasks.for_each(|(task, (near, out))| {
            for (i, (neighbors, out)) in (task * PARTICLES_PER_TASK..).zip(near.each().zip(out)) {
                if p.pressure[i] > 0.0 {
                    continue;
                }
                for j in neighbors.index.iter().map(|j| *j as usize) {
                    if p.pressure[j] > 0.0 {
                        continue;
                    }
                    let offset = p.position[i] - p.position[j];
                    let distance = offset.length();
                    let Some(normal) = offset.try_normalize() else {
                        continue;
                    };
                    let closing = (xyz(&predicted[i]) - xyz(&predicted[j])).dot(normal);
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

    /// Adds to the impulses on the bodies the reactions of particles that were pushed out of them.
    fn add_push_out_reactions(&self, cx: &mut StepContext<'_>) {
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
        let states = p.position.par_iter().zip(&p.velocity);
        let bad = states
            .with_min_len(4 * PARTICLES_PER_TASK)
            .position_first(|(x, v)| !(x.is_finite() && v.is_finite()));
        match bad {
            None => Ok(()),
            Some(i) => Err(SolverError::NotFinite {
                id: p.id[i],
                position: p.position[i],
                quantity: "velocity",
                dt,
                settings: self.bounds().settings(),
            }),
        }
    }
}

/// Moves the center of a particle out of bodies and removes its closing velocity. Stores the acceleration in
/// `pressure_acceleration` of the contacts, zero if there was none.
fn push_out(colliders: &Colliders, contacts: &mut [Contact], dt: f32, x: &mut Vec3, v: &mut Vec3) {
    for contact in contacts {
        contact.pressure_acceleration = Vec3::ZERO;
        let Some(collider) = colliders.list.get(contact.body as usize) else {
            continue;
        };
        // Relative to the moving body.
        let relative = *x - dt * contact.velocity;
        let depth = -collider.distance(relative);
        if depth <= 0.0 {
            continue;
        }
        let normal = collider.normal(relative);
        let closing = (*v - contact.velocity).dot(normal).min(0.0);
        *x += depth * normal;
        *v -= closing * normal;
        contact.pressure_acceleration = -closing / dt * normal;
    }
}
