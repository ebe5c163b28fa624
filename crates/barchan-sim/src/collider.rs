//! Colliders and rigid bodies as the solvers see them: signed distance, velocity and friction, posed for a step; and the
//! impulses of the grains on them.

use crate::solvers::Method;
use barchan_scene::numbers::rounded;
use barchan_scene::{Boundary, Bounds, Collider, Geometry, Motion, Pose, Scene};
use glam::{Mat3, Quat, Vec3};

mod broad_phase;

#[cfg(test)]
pub(crate) use broad_phase::tests;
pub use broad_phase::{GROUP, NearBodies};

use crate::contacts::rigid::Impulse;

/// A collider, posed for a step.
#[derive(Debug, Clone)]
pub struct PosedCollider {
    /// Name in the scene.
    pub name: String,
    /// The shape, in the body's frame.
    pub(crate) geometry: Geometry,
    pub(crate) motion: Motion,
    /// World from body at the beginning of the step.
    pub pose: Pose,
    body_from_world: Quat,
    /// Velocity of the body's origin over the step [m/s].
    pub velocity: Vec3,
    /// Angular velocity over the step [rad/s].
    pub angular_velocity: Vec3,
    /// Boundary condition: sticky, slipping or separating.
    pub boundary: Boundary,
    /// Coulomb coefficient.
    pub friction: f32,
    /// Mass of a free body; `None` for a fixed or scripted one.
    pub mass: Option<RigidMass>,
    /// Bounding box [m]; infinite for an infinite body.
    pub(crate) world_bounds: Bounds,
}

/// Mass of a free body, in world coordinates at the beginning of the step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RigidMass {
    /// Inverse mass [1/kg].
    pub inverse_mass: f32,
    /// Inverse of the inertia about the center of mass [1/(kg m²)].
    pub inverse_inertia: Mat3,
    /// Center of mass [m].
    pub center: Vec3,
    /// Change of velocity [m/s] and angular velocity [rad/s] over the step due to everything except the grains. The velocities of the
    /// [`PosedCollider`] include it.
    pub gains: [Vec3; 2],
}

impl RigidMass {
    /// Change of the velocity at a point over the step due to everything except the grains [m/s].
    pub fn gain_at(&self, p: Vec3) -> Vec3 {
        self.gains[0] + self.gains[1].cross(p - self.center)
    }
}

impl PosedCollider {
    fn new(collider: &Collider) -> Self {
        let mut posed = Self {
            name: collider.name.clone(),
            geometry: collider.shape.clone(),
            motion: collider.motion.clone(),
            pose: collider.motion.pose(0.0),
            body_from_world: Quat::IDENTITY,
            velocity: Vec3::ZERO,
            angular_velocity: Vec3::ZERO,
            boundary: collider.boundary,
            friction: collider.friction as f32,
            mass: None,
            world_bounds: Bounds::INFINITE,
        };
        posed.place(collider.motion.pose(0.0));
        posed
    }

    /// Moves the body to a pose; the velocities are not changed.
    pub(crate) fn place(&mut self, pose: Pose) {
        self.pose = pose;
        self.body_from_world = pose.rotation.inverse();
        let body = self.geometry.bounds();
        self.world_bounds = if pose.rotation == Quat::IDENTITY {
            // Axis-aligned half-spaces are bounded on one side.
            Bounds {
                min: body.min + pose.position,
                max: body.max + pose.position,
            }
        } else if body.min.is_finite() && body.max.is_finite() {
            let center = pose.position + pose.rotation * (0.5 * (body.min + body.max));
            let half = 0.5 * (body.max - body.min);
            // Bounding box of the rotated box, with a margin for rounding.
            let turned = Mat3::from_quat(pose.rotation);
            let radius = half.x * turned.x_axis.abs()
                + half.y * turned.y_axis.abs()
                + half.z * turned.z_axis.abs();
            let radius = radius + 1e-5 * (half.max_element() + center.abs().max_element());
            Bounds {
                min: center - radius,
                max: center + radius,
            }
        } else {
            Bounds::INFINITE
        };
    }

    /// A world point in the body's frame.
    pub fn to_body(&self, p: Vec3) -> Vec3 {
        self.body_from_world * (p - self.pose.position)
    }

    /// Signed distance of a world point [m].
    pub fn distance(&self, p: Vec3) -> f32 {
        self.geometry.distance(self.to_body(p))
    }

    /// Outward unit normal at a world point.
    pub fn normal(&self, p: Vec3) -> Vec3 {
        self.pose.rotation * self.geometry.normal(self.to_body(p))
    }

    /// Whether it is at rest in this step.
    #[inline]
    pub fn is_still(&self) -> bool {
        self.velocity == Vec3::ZERO && self.angular_velocity == Vec3::ZERO
    }

    /// Velocity of the body at a world point [m/s].
    #[inline]
    pub fn velocity_at(&self, p: Vec3) -> Vec3 {
        self.velocity_at_arm(p - self.pose.position)
    }

    /// Velocity of the body at `arm` from its origin [m/s].
    #[inline]
    pub fn velocity_at_arm(&self, arm: Vec3) -> Vec3 {
        self.velocity + self.angular_velocity.cross(arm)
    }

    /// Whether the distance of the body from a point is at most `radius` [m].
    #[inline]
    pub fn may_touch(&self, center: Vec3, radius: f32) -> bool {
        let b = &self.world_bounds;
        center.cmpge(b.min - radius).all()
            && center.cmple(b.max + radius).all()
            && self.distance(center) <= radius
    }

    /// Upper bound of the speed of the bounding box in this step [m/s]; speed of the origin for an infinite body.
    pub fn surface_speed(&self) -> f32 {
        let b = &self.world_bounds;
        if !(b.min.is_finite() && b.max.is_finite()) {
            return self.velocity.length();
        }
        let turning = self.angular_velocity.length() * 0.5 * (b.max - b.min).max_element();
        self.velocity_at(0.5 * (b.min + b.max)).length() + turning
    }

    /// Upper bound of the surface speed from the shape's bounds in the body's frame [m/s]; speed of the origin for an infinite body.
    fn max_speed(&self) -> f32 {
        let b = self.geometry.bounds();
        let reach = b.min.abs().max(b.max.abs()).length();
        let spin = self.angular_velocity.length();
        let turns = reach.is_finite() && spin > 0.0;
        self.velocity.length() + if turns { spin * reach } else { 0.0 }
    }
}

/// All colliders of a scene.
#[derive(Debug, Clone, Default)]
pub struct Colliders {
    /// Colliders, then rigid bodies, in the order of the scene.
    pub list: Vec<PosedCollider>,
}

impl Colliders {
    /// Colliders and bodies of a scene, posed at t = 0.
    pub fn new<'a>(colliders: impl IntoIterator<Item = &'a Collider>) -> Self {
        Self {
            list: colliders.into_iter().map(PosedCollider::new).collect(),
        }
    }

    /// Poses every scripted body at `time`, with the velocity that moves it to its pose at `time + dt`.
    pub fn pose(&mut self, time: f64, dt: f64) {
        for c in self.list.iter_mut().filter(|c| !c.motion.is_static()) {
            c.place(c.motion.pose(time));
            (c.velocity, c.angular_velocity) = c.motion.velocities(time, dt);
        }
    }

    /// Largest [`PosedCollider::surface_speed`], free bodies included [m/s].
    pub fn fastest(&self) -> f32 {
        let speeds = self.list.iter().map(PosedCollider::surface_speed);
        speeds.fold(0.0, f32::max)
    }

    /// Largest surface speed of the scripted bodies [m/s].
    pub fn max_speed(&self) -> f32 {
        let scripted = self.list.iter().filter(|c| c.mass.is_none());
        let speeds = scripted.map(PosedCollider::max_speed);
        speeds.fold(0.0, f32::max)
    }
}

/// Tolerance for the error of the thickness estimate.
const MARGIN: f64 = 0.98;

/// A moving body that is too thin to retain grains.
#[derive(Debug, Clone, PartialEq)]
pub struct ThinMover {
    /// Name of the collider.
    pub name: String,
    /// Largest thickness [m].
    pub thickness: f64,
    /// Resolution of the scene [m].
    pub dx: f64,
    /// Thickness that the solver needs, as a multiple of the resolution.
    pub needed: f64,
}

impl std::fmt::Display for ThinMover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "body `{}` moves and is {} m thick, {:.1} times solver.resolution: grains get through a body that pushes them \
             with less than {}; make it {} m thick, or solver.resolution {} m",
            self.name,
            rounded(self.thickness, 3),
            self.thickness / self.dx,
            self.needed,
            rounded(self.needed * self.dx, 3),
            rounded(self.thickness / self.needed, 3),
        )
    }
}

/// Moving bodies of finite size that are thinner than the solver of the scene requires.
pub fn thin_movers(scene: &Scene) -> Vec<ThinMover> {
    let needed = Method::of(scene).pushing_thickness;
    let dx = scene.solver.resolution;
    let enough = MARGIN * needed * dx;
    let moving = scene.colliders.iter().filter(|c| !c.motion.is_static());
    let free = scene.bodies.iter().map(|b| &b.surface);
    let solids = moving.chain(free).filter(|_| enough > 0.0);
    let thin = solids.filter_map(|c| {
        let thickness = f64::from(c.shape.thickness(scene.dimensions, enough as f32)?);
        (thickness < enough).then(|| ThinMover {
            name: c.name.clone(),
            thickness,
            dx,
            needed,
        })
    });
    thin.collect()
}

/// Impulse of the grains on each body, about its origin.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BodyImpulses {
    /// One for each collider, in the order of the scene.
    pub bodies: Vec<Impulse>,
}

impl BodyImpulses {
    /// Zero for each of `count` bodies.
    pub fn zero(count: usize) -> Self {
        Self {
            bodies: vec![Impulse::default(); count],
        }
    }

    /// Adds others, body by body.
    pub fn add(&mut self, others: &[Impulse]) {
        for (total, part) in self.bodies.iter_mut().zip(others) {
            *total += *part;
        }
    }

    /// Resets all to zero.
    pub fn clear(&mut self) {
        self.bodies.fill(Impulse::default());
    }
}
