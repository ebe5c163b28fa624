//! Particles and bodies: pressure and friction between them, Eq. 16–21, and what the bodies get.

use super::TASK;
use super::particles::Particles;
use super::surface::{BoundaryPoint, Sampling, Surface};
use crate::collider::{BodyImpulse, BodyImpulses, Colliders, PosedCollider};
use barchan_scene::Boundary;
use glam::{DVec3, IVec3, Vec3};
use rayon::prelude::*;

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
    pub rubbing: Vec3,
    /// Acceleration of the particle by pressure [m/s²].
    pub pushing: Vec3,
}

/// What grains did to a free body in the present pass.
#[derive(Debug, Clone, Copy, Default)]
struct Pushed {
    velocity: DVec3,
    spin: DVec3,
    /// Centre of mass, from the origin [m].
    centre: Vec3,
}

/// All contacts with bodies.
#[derive(Debug, Default)]
pub struct Walls {
    surfaces: Vec<Surface>,
    lists: Vec<Vec<Contact>>,
    missing: Vec<Vec<(u32, IVec3)>>,
    pushed: Vec<Pushed>,
    counts: Vec<u32>,
    given: Vec<BodyImpulse>,
    has_free: bool,
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
        self.lists.resize_with(tasks, Vec::new);
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
        let surfaces = &self.surfaces;
        let lists = self.lists.par_iter_mut().zip(&mut self.missing);
        lists.enumerate().for_each(|(task, (list, missing))| {
            list.clear();
            missing.clear();
            let first = task * TASK;
            for i in first..(first + TASK).min(particles.len()) {
                let (x, v) = (particles.position[i], particles.velocity[i]);
                let start = list.len();
                for (body, collider) in colliders.list.iter().enumerate() {
                    if !collider.may_touch(x, set.sampling.kernel.support) {
                        continue;
                    }
                    let own = collider.to_body(x);
                    let cell = set.sampling.cell_of(own);
                    let Some(points) = surfaces[body].near(&cell) else {
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
                    remember(&mut list[start..], particles.rubbing[i]);
                }
            }
        });
    }

    /// A body that grains can move gives way to all of them together.
    fn split(&mut self, particles: &Particles, colliders: &Colliders) {
        self.pushed.clear();
        self.pushed.resize(colliders.list.len(), Pushed::default());
        self.has_free = colliders.list.iter().any(|c| c.mass.is_some());
        if !self.has_free {
            return;
        }
        self.counts.clear();
        self.counts.resize(colliders.list.len(), 0);
        for contact in self.lists.iter().flatten() {
            self.counts[contact.body as usize] += 1;
        }
        for (pushed, collider) in self.pushed.iter_mut().zip(&colliders.list) {
            pushed.centre = centre(collider);
        }
        let (counts, pushed) = (&self.counts, &self.pushed);
        self.lists.par_iter_mut().flatten().for_each(|contact| {
            let body = contact.body as usize;
            let Some(mass) = &colliders.list[body].mass else {
                return;
            };
            let arm = contact.arm - pushed[body].centre;
            let turned = |direction: Vec3| {
                let lever = arm.cross(direction);
                lever.dot(mass.inverse_inertia * lever)
            };
            let inverse = mass.inverse_mass + turned(contact.normal);
            let all = counts[body] as f32 * particles.mass[contact.particle as usize];
            contact.share = 1.0 / (1.0 + all * inverse);
        });
    }

    /// Contacts of the particles of each task, in order.
    pub fn lists(&self) -> &[Vec<Contact>] {
        &self.lists
    }

    /// Lets the free bodies feel what the contacts of this pass gave the particles.
    pub fn push_bodies(&mut self, dt: f32, particles: &Particles, colliders: &Colliders) {
        if !self.has_free {
            return;
        }
        let mut given = std::mem::take(&mut self.given);
        given.clear();
        given.resize(colliders.list.len(), BodyImpulse::default());
        self.sum(dt, particles, &mut given);
        for (body, collider) in colliders.list.iter().enumerate() {
            let Some(mass) = &collider.mass else { continue };
            let pushed = &mut self.pushed[body];
            let centre = pushed.centre.as_dvec3();
            let turning = given[body].angular - centre.cross(given[body].linear);
            pushed.velocity = f64::from(mass.inverse_mass) * given[body].linear;
            pushed.spin = mass.inverse_inertia.as_dmat3() * turning;
        }
        self.given = given;
    }

    /// Contacts, and how the bodies moved in the present pass.
    pub fn parts(&mut self) -> (&mut [Vec<Contact>], PushedBodies<'_>) {
        let pushed = PushedBodies {
            any: self.has_free,
            list: &self.pushed,
        };
        (&mut self.lists, pushed)
    }

    /// Adds what the particles gave the bodies in a step.
    pub fn answer(&self, dt: f32, particles: &Particles, impulses: &mut BodyImpulses) {
        self.sum(dt, particles, &mut impulses.bodies);
    }

    fn sum(&self, dt: f32, particles: &Particles, given: &mut [BodyImpulse]) {
        for contact in self.lists.iter().flatten() {
            let mass = particles.mass[contact.particle as usize];
            let momentum = -f64::from(mass * dt);
            let pushing = momentum * contact.pushing.as_dvec3();
            let rubbing = momentum * contact.rubbing.as_dvec3();
            // Pressure goes along G: its moment is that of the boundary particles.
            let length = contact.gradient.length_squared().max(f32::MIN_POSITIVE);
            let part = contact.pushing.dot(contact.gradient) / length;
            let turning = momentum * f64::from(part) * contact.moment.as_dvec3();
            given[contact.body as usize] += BodyImpulse {
                linear: pushing + rubbing,
                angular: turning + contact.arm.as_dvec3().cross(rubbing),
            };
        }
    }
}

/// How free bodies moved in the present pass.
pub struct PushedBodies<'a> {
    any: bool,
    list: &'a [Pushed],
}

impl PushedBodies<'_> {
    /// Velocity that the present pass gave the body at the contact [m/s], and Σ V_b ∇W · v_b of it [1/s].
    #[inline(always)]
    pub fn gained(&self, contact: &Contact) -> (Vec3, f32) {
        if !self.any {
            return (Vec3::ZERO, 0.0);
        }
        let p = &self.list[contact.body as usize];
        let (velocity, spin) = (p.velocity.as_vec3(), p.spin.as_vec3());
        let about = contact.moment - p.centre.cross(contact.gradient);
        (
            velocity + spin.cross(contact.arm - p.centre),
            velocity.dot(contact.gradient) + spin.dot(about),
        )
    }
}

/// Centre of mass, from the origin of the body [m].
fn centre(collider: &PosedCollider) -> Vec3 {
    (collider.mass).map_or(Vec3::ZERO, |m| m.centre - collider.pose.position)
}

/// What friction was in the last step goes to the contact that carries most.
fn remember(contacts: &mut [Contact], rubbing: Vec3) {
    let strongest = contacts.iter_mut().max_by(|a, b| {
        let (a, b) = (a.gradient.length_squared(), b.gradient.length_squared());
        a.total_cmp(&b)
    });
    if let Some(contact) = strongest {
        contact.rubbing = rubbing;
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
        rubbing: Vec3::ZERO,
        pushing: Vec3::ZERO,
    })
}
