//! Particles and bodies: pressure and friction between them, Eq. 16–21, and what the bodies get.

use super::TASK;
use super::particles::Particles;
use super::surface::{BoundaryPoint, Sampling, Surface};
use crate::collider::{BodyImpulses, Colliders, GROUP, NearBodies, PosedCollider};
use crate::contacts::rigid::{Impulse, Twist};
use crate::contacts::{BodyContacts, Coupling};
use barchan_scene::{Boundary, Bounds};
use glam::{IVec3, Vec3};
use rayon::prelude::*;
use std::ops::Range;

/// Distance from the surface within which bodies that hold grains do so [spacings].
const TOUCH: f32 = 0.75;
/// ε of Eq. 20.
const SOFT: f32 = 0.01;

/// A particle within reach of the boundary particles of a body.
#[derive(Debug, Clone, Copy)]
pub struct Contact {
    /// The particle.
    pub particle: u32,
    /// The body.
    pub body: u32,
    /// What grains may do at it.
    pub boundary: Boundary,
    /// Whether the particle is at the surface of a body that holds grains.
    pub touches: bool,
    /// Coulomb coefficient.
    pub friction: f32,
    /// Σ V_b W_ib.
    pub fraction: f32,
    /// G = Σ V_b ∇W_ib [1/m].
    pub gradient: Vec3,
    /// Out of the body: −G/|G|.
    pub normal: Vec3,
    /// Σ V_b ∇W_ib · v_b [1/s].
    pub flux: f32,
    /// Mean velocity of the boundary particles [m/s].
    pub velocity: Vec3,
    /// Their mean place, from the origin of the body [m].
    pub arm: Vec3,
    /// Σ (x_b − origin) × V_b ∇W_ib.
    pub moment: Vec3,
    /// Acceleration by artificial viscosity, Eq. 20 [m/s²].
    pub viscous: Vec3,
    /// Part of a correction that this contact takes: less than 1 where a light body gives way to many.
    pub share: f32,
    /// Acceleration of the particle by friction [m/s²].
    pub friction_acceleration: Vec3,
    /// Acceleration of the particle by pressure [m/s²].
    pub pressure_acceleration: Vec3,
}

/// All contacts with bodies.
#[derive(Debug, Default)]
pub struct Walls {
    surfaces: Vec<Surface>,
    /// Contacts of the particles of each task.
    pub contacts: BodyContacts<Contact>,
    missing: Vec<Vec<(u32, IVec3)>>,
    coupling: Coupling,
    /// Center of mass of each body, from its origin [m].
    centers: Vec<Vec3>,
}

/// What contacts go by.
pub struct WallSettings {
    /// How bodies are sampled.
    pub sampling: Sampling,
    /// h c_s/2 of Eq. 20 [m²/s].
    pub viscosity: f32,
    /// Whether friction goes on from the last step.
    pub remembers: bool,
}

impl Walls {
    /// Finds the particles in reach of bodies, and makes the boundary particles that are not there yet.
    pub fn find(&mut self, set: &WallSettings, particles: &Particles, colliders: &Colliders) {
        self.surfaces
            .resize_with(colliders.list.len(), Surface::default);
        let tasks = particles.len().div_ceil(TASK);
        self.contacts.resize_with(tasks, Vec::new);
        self.missing.resize_with(tasks, Vec::new);
        self.look(set, particles, colliders);
        if self.missing.iter().any(|m| !m.is_empty()) {
            for (body, surface) in self.surfaces.iter_mut().enumerate() {
                let own = self.missing.iter().flatten();
                let own = own.filter(|(b, _)| *b as usize == body);
                let cells: Vec<IVec3> = own.map(|(_, cell)| *cell).collect();
                surface.grow(&set.sampling, colliders.list[body].geometry(), cells);
            }
            self.look(set, particles, colliders);
        }
        self.split(particles, colliders);
    }

    /// Contacts of all particles, as far as the bodies are sampled, and the cells where they are not.
    fn look(&mut self, set: &WallSettings, particles: &Particles, colliders: &Colliders) {
        let search = Search {
            set,
            particles,
            colliders,
            surfaces: &self.surfaces,
        };
        let lists = self.contacts.par_iter_mut().zip(&mut self.missing);
        lists.enumerate().for_each(|(task, (list, missing))| {
            list.clear();
            missing.clear();
            let first = task * TASK;
            let end = (first + TASK).min(particles.len());
            for first in (first..end).step_by(GROUP) {
                search.group(first..(first + GROUP).min(end), list, missing);
            }
        });
    }

    /// A body that grains can move gives way to all of them together.
    fn split(&mut self, particles: &Particles, colliders: &Colliders) {
        let touched = self.contacts.iter().flatten().map(|c| c.body);
        (self.coupling).begin(colliders, colliders.list.len(), touched);
        self.centers.clear();
        (self.centers).extend(colliders.list.iter().map(PosedCollider::center_arm));
        if !self.coupling.has_free() {
            return;
        }
        let (coupling, centers) = (&self.coupling, &self.centers);
        let contacts = self.contacts.par_iter_mut();
        contacts.flatten().for_each(|contact| {
            let body = contact.body as usize;
            let Some(mass) = &colliders.list[body].mass else {
                return;
            };
            let inverse = mass.inverse_mass_along(contact.arm - centers[body], contact.normal);
            let all = coupling.count(body) * particles.mass[contact.particle as usize];
            contact.share = 1.0 / (1.0 + all * inverse);
        });
    }

    /// Lets the free bodies feel what the contacts of this pass gave the particles.
    pub fn push_bodies(&mut self, dt: f32, particles: &Particles, colliders: &Colliders) {
        let given = self
            .contacts
            .iter()
            .flatten()
            .map(|c| (c.body, given(dt, particles, c)));
        (self.coupling).respond(colliders, PosedCollider::center_arm, given);
    }

    /// Contacts, and how the bodies moved in the present pass.
    pub fn parts(&mut self) -> (&mut [Vec<Contact>], PushedBodies<'_>) {
        let pushed = PushedBodies {
            any: self.coupling.has_free(),
            gained: self.coupling.gained(),
            centers: &self.centers,
        };
        (&mut self.contacts, pushed)
    }

    /// Adds what the particles gave the bodies in a step.
    pub fn react(&self, dt: f32, particles: &Particles, impulses: &mut BodyImpulses) {
        for contact in self.contacts.iter().flatten() {
            impulses.bodies[contact.body as usize] += given(dt, particles, contact);
        }
    }
}

/// What a contact gives its body, about the origin of the body.
fn given(dt: f32, particles: &Particles, contact: &Contact) -> Impulse {
    let momentum = -f64::from(particles.mass[contact.particle as usize] * dt);
    let pressure = momentum * contact.pressure_acceleration.as_dvec3();
    let friction = momentum * contact.friction_acceleration.as_dvec3();
    // Pressure goes along G: its moment is that of the boundary particles.
    let length = contact.gradient.length_squared().max(f32::MIN_POSITIVE);
    let part = contact.pressure_acceleration.dot(contact.gradient) / length;
    let turning = momentum * f64::from(part) * contact.moment.as_dvec3();
    Impulse {
        linear: pressure + friction,
        angular: turning + contact.arm.as_dvec3().cross(friction),
    }
}

/// How free bodies moved in the present pass.
pub struct PushedBodies<'a> {
    any: bool,
    gained: &'a [Twist],
    centers: &'a [Vec3],
}

impl PushedBodies<'_> {
    /// Velocity that the present pass gave the body at the contact [m/s], and Σ V_b ∇W · v_b of it [1/s].
    #[inline(always)]
    pub fn gained(&self, contact: &Contact) -> (Vec3, f32) {
        if !self.any {
            return (Vec3::ZERO, 0.0);
        }
        let body = contact.body as usize;
        let (gained, center) = (&self.gained[body], self.centers[body]);
        let (velocity, spin) = (gained.linear.as_vec3(), gained.angular.as_vec3());
        let about = contact.moment - center.cross(contact.gradient);
        (
            velocity + spin.cross(contact.arm - center),
            velocity.dot(contact.gradient) + spin.dot(about),
        )
    }
}

/// What contacts are found among.
struct Search<'a> {
    set: &'a WallSettings,
    particles: &'a Particles,
    colliders: &'a Colliders,
    surfaces: &'a [Surface],
}

impl Search<'_> {
    /// Contacts of some particles that lie together, and the cells where bodies are not sampled.
    fn group(
        &self,
        particles: Range<usize>,
        list: &mut Vec<Contact>,
        missing: &mut Vec<(u32, IVec3)>,
    ) {
        let (set, p) = (self.set, self.particles);
        let support = set.sampling.kernel.support;
        let region = Bounds::from_points(p.position[particles.clone()].iter().copied());
        let near = NearBodies::select(self.colliders, |c| c.may_reach(&region, support));
        for i in particles {
            let (x, v) = (p.position[i], p.velocity[i]);
            let start = list.len();
            for (body, collider) in near.of(self.colliders) {
                if !collider.may_touch(x, support) {
                    continue;
                }
                let own = collider.to_body(x);
                let cell = set.sampling.cell_of(own);
                let Some(points) = self.surfaces[body].near(&cell) else {
                    missing.push((body as u32, cell));
                    continue;
                };
                list.extend(
                    contact(set, collider, points, [x, own, v]).map(|c| Contact {
                        particle: i as u32,
                        body: body as u32,
                        ..c
                    }),
                );
            }
            if set.remembers {
                remember(&mut list[start..], p.wall_friction[i]);
            }
        }
    }
}

/// What friction was in the last step goes to the contact that carries most.
fn remember(contacts: &mut [Contact], friction: Vec3) {
    let strongest = contacts.iter_mut().max_by(|a, b| {
        let (a, b) = (a.gradient.length_squared(), b.gradient.length_squared());
        a.total_cmp(&b)
    });
    if let Some(contact) = strongest {
        contact.friction_acceleration = friction;
    }
}

/// The contact of a particle with a body, if boundary particles are in reach. The particle is given by its place in the
/// world and in the body's frame [m], and its velocity [m/s].
fn contact(
    set: &WallSettings,
    collider: &PosedCollider,
    points: &[BoundaryPoint],
    [x, own, v]: [Vec3; 3],
) -> Option<Contact> {
    let kernel = &set.sampling.kernel;
    let turn = collider.pose.rotation;
    let (mut fraction, mut gradient, mut flux) = (0.0, Vec3::ZERO, 0.0);
    let (mut moment, mut middle, mut weight) = (Vec3::ZERO, Vec3::ZERO, 0.0);
    let mut viscous = Vec3::ZERO;
    for b in points {
        let apart = own - b.position;
        let r = apart.length();
        if r >= kernel.support {
            continue;
        }
        let apart = turn * apart;
        let arm = turn * b.position;
        let volume = set.sampling.weight * b.volume;
        let g = volume * kernel.slope(r) * apart;
        let w = volume * kernel.value(r);
        fraction += w;
        gradient += g;
        moment += arm.cross(g);
        middle += w * arm;
        weight += w;
        if set.viscosity > 0.0 || !collider.is_still() {
            let own = collider.velocity + collider.angular_velocity.cross(arm);
            flux += g.dot(own);
            let closing = (v - own).dot(apart).min(0.0);
            let soft = r * r + SOFT * kernel.support * kernel.support;
            viscous += set.viscosity * closing / soft * g;
        }
    }
    if weight <= 0.0 {
        return None;
    }
    let arm = middle / weight;
    let holds = collider.boundary != Boundary::Separating;
    Some(Contact {
        particle: 0,
        body: 0,
        boundary: collider.boundary,
        touches: holds && collider.distance(x) < TOUCH * set.sampling.spacing,
        friction: collider.friction,
        fraction,
        gradient,
        normal: -gradient.normalize_or_zero(),
        flux,
        velocity: collider.velocity + collider.angular_velocity.cross(arm),
        arm,
        moment,
        viscous: collider.friction * viscous,
        share: 1.0,
        friction_acceleration: Vec3::ZERO,
        pressure_acceleration: Vec3::ZERO,
    })
}
