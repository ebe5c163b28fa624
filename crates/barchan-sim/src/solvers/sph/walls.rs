//! Contacts of particles with bodies: pressure and friction, Eq. 16–21, and the reactions on the bodies.

use super::PARTICLES_PER_TASK;
use super::boundary::{BoundaryParticle, BoundaryParticles, Sampling};
use super::kernel::Kernel;
use super::particles::Particles;
use crate::collider::{BodyImpulses, Colliders, NearBodies, PosedCollider};
use crate::contacts::rigid::{Impulse, Twist};
use crate::contacts::{BodyContacts, Coupling, find_contacts};
use barchan_scene::{Boundary, Bounds, Dimensions, SphSpec, SphWalls};
use glam::{IVec3, Vec3};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Distance from the surface within which sticky and slipping bodies hold particles [spacings].
const HOLDING_DISTANCE: f32 = 0.75;
/// ε of Eq. 20.
const SOFTENING: f32 = 0.01;

/// A particle within the support of boundary particles of a body.
#[derive(Debug, Clone, Copy)]
pub struct Contact {
    /// Index of the particle.
    pub particle: u32,
    /// Index of the body.
    pub body: u32,
    /// Boundary condition.
    pub boundary: Boundary,
    /// Whether a sticky or slipping body holds the particle.
    pub is_held: bool,
    /// Coulomb coefficient.
    pub friction: f32,
    /// Σ V_b W_ib.
    pub fraction: f32,
    /// G = Σ V_b ∇W_ib [1/m].
    pub gradient: Vec3,
    /// Outward normal of the body: −G/|G|.
    pub normal: Vec3,
    /// Σ V_b ∇W_ib · v_b [1/s].
    pub flux: f32,
    /// Mean velocity of the boundary particles [m/s].
    pub velocity: Vec3,
    /// Mean position of the boundary particles, from the origin of the body [m].
    pub arm: Vec3,
    /// Σ (x_b − origin) × V_b ∇W_ib.
    pub moment: Vec3,
    /// Acceleration by artificial viscosity, Eq. 20 [m/s²].
    pub viscous: Vec3,
    /// Fraction of a correction that this contact takes; below 1 at a free body, which responds to all of its contacts.
    pub share: f32,
    /// Acceleration of the particle by friction [m/s²].
    pub friction_acceleration: Vec3,
    /// Acceleration of the particle by pressure [m/s²].
    pub pressure_acceleration: Vec3,
}

/// All contacts with bodies.
#[derive(Debug, Default)]
pub struct Walls {
    surfaces: Vec<BoundaryParticles>,
    /// Contacts of the particles of each task.
    pub contacts: BodyContacts<Contact>,
    /// Bodies and cells that are not sampled yet, in any order.
    missing: Mutex<Vec<(u32, IVec3)>>,
    coupling: Coupling,
    /// Center of mass of each body, from its origin [m].
    centers: Vec<Vec3>,
}

/// Parameters of contacts.
pub struct WallSettings {
    sampling: Sampling,
    /// h c_s/2 of Eq. 20 [m²/s].
    viscosity: f32,
    /// Whether friction starts from that of the last step.
    warm_starts: bool,
}

impl WallSettings {
    /// Parameters for the settings of a scene.
    pub fn new(spec: &SphSpec, kernel: Kernel, dimensions: Dimensions) -> Self {
        let (walls, spacing) = (spec.wall_friction, spec.spacing() as f32);
        Self {
            sampling: Sampling::new(spacing, kernel, dimensions, walls),
            viscosity: match walls {
                SphWalls::Coulomb => 0.0,
                SphWalls::Viscous => 0.5 * kernel.support * spec.sound_speed as f32,
            },
            warm_starts: spec.static_friction,
        }
    }
}

impl Walls {
    /// Finds the particles within reach of bodies, and samples the bodies where they are not sampled yet.
    pub fn find(&mut self, settings: &WallSettings, particles: &Particles, colliders: &Colliders) {
        (self.surfaces).resize_with(colliders.list.len(), BoundaryParticles::default);
        self.search(settings, particles, colliders);
        let missing = self.missing.get_mut();
        let missing = std::mem::take(missing.unwrap_or_else(PoisonError::into_inner));
        if !missing.is_empty() {
            for (body, surface) in self.surfaces.iter_mut().enumerate() {
                let own = missing.iter().filter(|(b, _)| *b as usize == body);
                let cells = own.map(|(_, cell)| *cell).collect();
                let geometry = &colliders.list[body].geometry;
                surface.sample_around(&settings.sampling, geometry, cells);
            }
            self.search(settings, particles, colliders);
        }
        self.split_masses(particles, colliders);
    }

    /// Contacts of all particles with the parts of bodies that are sampled, and the cells that are not.
    fn search(&mut self, settings: &WallSettings, particles: &Particles, colliders: &Colliders) {
        let search = Search {
            settings,
            particles,
            colliders,
            surfaces: &self.surfaces,
            missing: &self.missing,
        };
        find_contacts(
            &mut self.contacts,
            particles.len(),
            PARTICLES_PER_TASK,
            |group, list| {
                search.group(group, list);
            },
        );
    }

    /// Splits the mass of free bodies among their contacts.
    fn split_masses(&mut self, particles: &Particles, colliders: &Colliders) {
        let touched = self.contacts.iter().flatten().map(|c| c.body);
        (self.coupling).begin(colliders, colliders.list.len(), touched);
        self.centers.clear();
        (self.centers).extend(colliders.list.iter().map(PosedCollider::center_arm));
        if !self.coupling.has_free() {
            return;
        }
        let (coupling, centers) = (&self.coupling, &self.centers);
        let contacts = self.contacts.par_iter_mut().flatten();
        contacts.for_each(|contact| {
            let body = contact.body as usize;
            if let Some(mass) = &colliders.list[body].mass {
                let inverse = mass.inverse_mass_along(contact.arm - centers[body], contact.normal);
                let all = coupling.count(body) * particles.mass[contact.particle as usize];
                contact.share = 1.0 / (1.0 + all * inverse);
            }
        });
    }

    /// Moves the free bodies by the reactions of this iteration.
    pub fn move_bodies(&mut self, dt: f32, particles: &Particles, colliders: &Colliders) {
        let contacts = self.contacts.iter().flatten();
        let impulses = contacts.map(|c| (c.body, reaction(dt, particles, c)));
        (self.coupling).respond(colliders, PosedCollider::center_arm, impulses);
    }

    /// Contacts, and the response of the bodies in this iteration.
    pub fn parts(&mut self) -> (&mut [Vec<Contact>], BodyResponses<'_>) {
        let responses = BodyResponses {
            any: self.coupling.has_free(),
            responses: self.coupling.responses(),
            centers: &self.centers,
        };
        (&mut self.contacts, responses)
    }

    /// Adds the reactions of a step to the impulses on the bodies.
    pub fn add_reactions(&self, dt: f32, particles: &Particles, impulses: &mut BodyImpulses) {
        for contact in self.contacts.iter().flatten() {
            impulses.bodies[contact.body as usize] += reaction(dt, particles, contact);
        }
    }
}

/// Impulse of a contact on its body in a step, about the origin of the body.
fn reaction(dt: f32, particles: &Particles, contact: &Contact) -> Impulse {
    let momentum = -f64::from(particles.mass[contact.particle as usize] * dt);
    let pressure = momentum * contact.pressure_acceleration.as_dvec3();
    let friction = momentum * contact.friction_acceleration.as_dvec3();
    // Pressure acts at the boundary particles, along G: its moment is proportional to
    // `contact.moment`.
    let length = contact.gradient.length_squared().max(f32::MIN_POSITIVE);
    let part = contact.pressure_acceleration.dot(contact.gradient) / length;
    let torque = momentum * f64::from(part) * contact.moment.as_dvec3();
    Impulse {
        linear: pressure + friction,
        angular: torque + contact.arm.as_dvec3().cross(friction),
    }
}

/// Response of the free bodies in the present iteration.
pub struct BodyResponses<'a> {
    any: bool,
    responses: &'a [Twist],
    centers: &'a [Vec3],
}

impl BodyResponses<'_> {
    /// Velocity gain of the body at the contact in this iteration [m/s], and its flux Σ V_b ∇W_ib ·
    /// v_b [1/s].
    #[inline(always)]
    pub fn at(&self, contact: &Contact) -> (Vec3, f32) {
        if !self.any {
            return (Vec3::ZERO, 0.0);
        }
        let body = contact.body as usize;
        let (response, center) = (&self.responses[body], self.centers[body]);
        let (velocity, spin) = (response.linear.as_vec3(), response.angular.as_vec3());
        let about = contact.moment - center.cross(contact.gradient);
        (
            velocity + spin.cross(contact.arm - center),
            velocity.dot(contact.gradient) + spin.dot(about),
        )
    }
}

/// Input of the search for contacts.
struct Search<'a> {
    settings: &'a WallSettings,
    particles: &'a Particles,
    colliders: &'a Colliders,
    surfaces: &'a [BoundaryParticles],
    missing: &'a Mutex<Vec<(u32, IVec3)>>,
}

impl Search<'_> {
    /// Contacts of a group of particles that are close together; reports cells in which a body is not sampled.
    fn group(&self, particles: Range<usize>, list: &mut Vec<Contact>) {
        let (sampling, p) = (&self.settings.sampling, self.particles);
        let support = sampling.kernel.support;
        let region = Bounds::from_points(p.position[particles.clone()].iter().copied());
        let near = NearBodies::select(self.colliders, |c| c.may_reach(&region, support));
        for i in particles {
            let x = p.position[i];
            let start = list.len();
            for (body, collider) in near.of(self.colliders) {
                if !collider.may_touch(x, support) {
                    continue;
                }
                let local = collider.to_body(x);
                let cell = sampling.cell_of(local);
                match self.surfaces[body].near(&cell) {
                    Some(points) => list.extend(self.contact(i, body, local, points)),
                    None => {
                        let missing = self.missing.lock();
                        let mut missing = missing.unwrap_or_else(PoisonError::into_inner);
                        missing.push((body as u32, cell));
                    }
                }
            }
            if self.settings.warm_starts {
                warm_start(&mut list[start..], p.wall_friction[i]);
            }
        }
    }

    /// Contact of a particle with a body, if boundary particles are within its support. `local` is the position in the body's frame [m].
    fn contact(
        &self,
        particle: usize,
        body: usize,
        local: Vec3,
        points: &[BoundaryParticle],
    ) -> Option<Contact> {
        let (settings, collider) = (self.settings, &self.colliders.list[body]);
        let (sampling, kernel) = (&settings.sampling, &settings.sampling.kernel);
        let p = self.particles;
        let (x, v) = (p.position[particle], p.velocity[particle]);
        let rotation = collider.pose.rotation;
        let (mut fraction, mut gradient, mut flux) = (0.0, Vec3::ZERO, 0.0);
        let (mut moment, mut arm_sum) = (Vec3::ZERO, Vec3::ZERO);
        let mut viscous = Vec3::ZERO;
        for b in points {
            let offset = local - b.position;
            let r = offset.length();
            if r >= kernel.support {
                continue;
            }
            let offset = rotation * offset;
            let arm = rotation * b.position;
            let volume = sampling.weight * b.volume;
            let g = volume * kernel.slope(r) * offset;
            let w = volume * kernel.value(r);
            fraction += w;
            gradient += g;
            moment += arm.cross(g);
            arm_sum += w * arm;
            if settings.viscosity > 0.0 || !collider.is_still() {
                let velocity = collider.velocity_at_arm(arm);
                flux += g.dot(velocity);
                let closing = (v - velocity).dot(offset).min(0.0);
                let softened = r * r + SOFTENING * kernel.support * kernel.support;
                viscous += settings.viscosity * closing / softened * g;
            }
        }
        if fraction <= 0.0 {
            return None;
        }
        let arm = arm_sum / fraction;
        let can_hold = collider.boundary != Boundary::Separating;
        Some(Contact {
            particle: particle as u32,
            body: body as u32,
            boundary: collider.boundary,
            is_held: can_hold && collider.distance(x) < HOLDING_DISTANCE * sampling.spacing,
            friction: collider.friction,
            fraction,
            gradient,
            normal: -gradient.normalize_or_zero(),
            flux,
            velocity: collider.velocity_at_arm(arm),
            arm,
            moment,
            viscous: collider.friction * viscous,
            share: 1.0,
            friction_acceleration: Vec3::ZERO,
            pressure_acceleration: Vec3::ZERO,
        })
    }
}

/// Assigns the friction of the last step to the strongest of a particle's contacts.
fn warm_start(contacts: &mut [Contact], friction: Vec3) {
    let strongest = contacts.iter_mut().max_by(|a, b| {
        let (a, b) = (a.gradient.length_squared(), b.gradient.length_squared());
        a.total_cmp(&b)
    });
    if let Some(contact) = strongest {
        contact.friction_acceleration = friction;
    }
}
