//! The rapier world as one value that can be cloned, stepped and serialized.

use super::JointState;
use super::shapes::contact_shapes;
use crate::collider::{Colliders, RigidMass};
use crate::contacts::rigid::Wrench;
use barchan_scene::{Body, Bounds, Collider, Dimensions, Joint, JointEnd, JointKind, Pose, Scene};
use glam::{DQuat, DVec3, Mat3, Quat, Vec3};
use rapier3d::prelude::{
    BroadPhaseBvh, CCDSolver, ColliderBuilder, ColliderSet, GenericJoint, GenericJointBuilder,
    ImpulseJoint, ImpulseJointHandle, ImpulseJointSet, IntegrationParameters, IslandManager,
    JointAxesMask, JointAxis, JointMotor, LockedAxes, MassProperties, MultibodyJointSet,
    NarrowPhase, PhysicsPipeline, Pose as Frame, RigidBody, RigidBodyBuilder, RigidBodyHandle,
    RigidBodySet, SoftBodySet,
};
use serde::{Deserialize, Serialize};

/// Longest rapier substep [s].
const SUBSTEP: f64 = 2.1e-3;
/// Iterations of the joint and contact solver in a step, divided between its substeps; enough for stiff chains of joints.
const ITERATIONS: usize = 8;

/// Substeps of a step of `dt` [s]. A single substep applies forces before motion, which conserves angular momentum.
fn substeps(dt: f64) -> usize {
    ((dt / SUBSTEP).ceil() as usize).clamp(1, ITERATIONS)
}
/// Speed limit of a body in a step: a multiple of the largest speed before the step, plus a number of sizes of the smallest body per
/// second. Without it, rapier accelerates bodies that start inside others in 2D, where they cannot rotate out of the plane,
/// to a million m/s.
const SPEED_FACTOR: f32 = 5.0;
const SIZES_PER_SECOND: f32 = 100.0;
/// Natural frequency of the spring that drags a body [rad/s].
const DRAG: f32 = 12.0;

/// The complete state of the bodies.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct World {
    /// Size of the smallest body, at most 1 m: the length scale of contact tolerances.
    length_unit: f32,
    flat: bool,
    islands: IslandManager,
    broad_phase: BroadPhaseBvh,
    narrow_phase: NarrowPhase,
    bodies: RigidBodySet,
    colliders: ColliderSet,
    joints: ImpulseJointSet,
    /// Of the scene's bodies.
    free: Vec<RigidBodyHandle>,
    /// Scripted colliders that move: index in the scene.
    scripted: Vec<(usize, RigidBodyHandle)>,
    joint_handles: Vec<ImpulseJointHandle>,
    /// Center of mass of each body in its own frame [m]. It is the origin of rapier's frame: a body that rotates about a point far
    /// from the origin of its frame would drift by rounding.
    centers: Vec<Vec3>,
    /// Radius of the bounding sphere of each body about its center of mass [m].
    bounding_radius: Vec<f32>,
}

impl World {
    /// Bodies, joints, and the colliders within reach of bodies.
    pub fn new(scene: &Scene) -> Result<Self, String> {
        let mut world = Self {
            length_unit: length_unit(&scene.bodies),
            flat: scene.dimensions == Dimensions::Two,
            ..Self::default()
        };
        let within = surroundings(scene);
        let ground = world.bodies.insert(RigidBodyBuilder::fixed());
        let mut solids = Vec::new();
        for (index, collider) in scene.colliders.iter().enumerate() {
            let handle = world.add_collider(collider, &within);
            solids.push(handle);
            if !collider.motion.is_static() {
                world.scripted.push((index, handle));
            }
        }
        for body in &scene.bodies {
            let handle = world.add_body(body, &within);
            solids.push(handle);
            world.free.push(handle);
            world.centers.push(body.mass.center.as_vec3());
            world.bounding_radius.push(bounding_radius(body));
        }
        for joint in &scene.joints {
            let ends = joint.ends.map(|end| match end {
                JointEnd::World => Some((ground, Pose::IDENTITY)),
                JointEnd::Solid(i) => {
                    let start = match scene.colliders.get(i) {
                        Some(collider) => collider.motion.pose(0.0),
                        None => Pose {
                            position: *world.centers.get(i - scene.colliders.len())?,
                            rotation: Quat::IDENTITY,
                        },
                    };
                    solids.get(i).map(|handle| (*handle, start))
                }
            });
            let [Some(a), Some(b)] = ends else {
                return Err(format!("joint `{}` refers to a missing body", joint.name));
            };
            world.add_joint(joint, [a, b]);
        }
        Ok(world)
    }

    fn add_collider(&mut self, collider: &Collider, within: &Bounds) -> RigidBodyHandle {
        let builder = match collider.motion.is_static() {
            true => RigidBodyBuilder::fixed(),
            false => RigidBodyBuilder::kinematic_position_based(),
        };
        let body = builder.pose(frame(collider.motion.pose(0.0)));
        let handle = self.bodies.insert(body);
        for (pose, shape) in contact_shapes(&collider.shape, false, within) {
            let built = ColliderBuilder::new(shape)
                .position(pose)
                .friction(collider.friction as f32);
            self.colliders
                .insert_with_parent(built, handle, &mut self.bodies);
        }
        handle
    }

    fn add_body(&mut self, body: &Body, within: &Bounds) -> RigidBodyHandle {
        let p = &body.mass;
        let center = p.center.as_vec3();
        let properties =
            MassProperties::with_inertia_matrix(Vec3::ZERO, p.mass as f32, p.inertia.as_mat3());
        let mut builder = RigidBodyBuilder::dynamic()
            .translation(center)
            .linvel(body.velocity)
            .angvel(body.spin)
            .can_sleep(false)
            // See `conserve_angular_momentum`.
            .gyroscopic_forces_enabled(false)
            .additional_mass_properties(properties);
        if self.flat {
            builder = builder.locked_axes(
                LockedAxes::TRANSLATION_LOCKED_Z
                    | LockedAxes::ROTATION_LOCKED_X
                    | LockedAxes::ROTATION_LOCKED_Y,
            );
        }
        let handle = self.bodies.insert(builder);
        let shapes = match body.collides {
            true => contact_shapes(&body.surface.shape, true, within),
            false => Vec::new(),
        };
        for (pose, shape) in shapes {
            let built = ColliderBuilder::new(shape)
                .position(Frame::from_translation(-center) * pose)
                .density(0.0)
                .friction(body.surface.friction as f32)
                .restitution(body.restitution as f32);
            self.colliders
                .insert_with_parent(built, handle, &mut self.bodies);
        }
        let colliders = &self.colliders;
        if let Some(body) = self.bodies.get_mut(handle) {
            body.recompute_mass_properties_from_colliders(colliders);
        }
        handle
    }

    fn add_joint(&mut self, joint: &Joint, ends: [(RigidBodyHandle, Pose); 2]) {
        let [(a, a_start), (b, b_start)] = ends;
        let locked = match joint.kind {
            JointKind::Revolute => JointAxesMask::LOCKED_REVOLUTE_AXES,
            JointKind::Prismatic => JointAxesMask::LOCKED_PRISMATIC_AXES,
            JointKind::Fixed => JointAxesMask::LOCKED_FIXED_AXES,
            JointKind::Spherical => JointAxesMask::LOCKED_SPHERICAL_AXES,
        };
        // The joint's x axis is its axis of rotation or sliding.
        let turn = Quat::from_rotation_arc(Vec3::X, joint.axis.as_vec3().normalize_or(Vec3::X));
        let place = Frame::from_parts(joint.anchor.as_vec3(), turn);
        let local = |start: Pose| frame(start).inverse() * place;
        let mut built = GenericJointBuilder::new(locked)
            .local_frame1(local(a_start))
            .local_frame2(local(b_start))
            .contacts_enabled(false);
        if let (Some(axis), Some(limits)) = (axis(joint.kind), joint.limits) {
            built = built.limits(axis, limits.map(|x| x as f32));
        }
        let joint: GenericJoint = built.build();
        self.joint_handles
            .push(self.joints.insert(a, b, joint, true));
    }

    /// Whether another world has the same bodies and joints.
    pub fn is_compatible(&self, other: &Self) -> bool {
        let scripted = self.scripted.iter().map(|(_, handle)| handle);
        self.free == other.free
            && self.joint_handles == other.joint_handles
            && self.scripted == other.scripted
            && self.centers.len() == other.centers.len()
            && self.bounding_radius.len() == other.bounding_radius.len()
            && scripted.chain(&self.free).all(|h| self.bodies.contains(*h))
    }

    /// Releases a joint permanently; its bodies collide with each other from now on.
    pub fn release_joint(&mut self, index: usize) {
        let handle = self.joint_handles[index];
        let is_enabled = |joint: &ImpulseJoint| joint.data.is_enabled();
        if self.joints.get(handle).is_some_and(is_enabled)
            && let Some(joint) = self.joints.get_mut(handle, true)
        {
            joint.data.set_enabled(false);
            joint.data.set_contacts_enabled(true);
            joint.data.motor_axes = JointAxesMask::empty();
        }
    }

    /// Sets a motor; `None` switches it off.
    pub fn set_motor(&mut self, index: usize, motor: Option<JointMotor>) {
        let Some(joint) = self.joints.get_mut(self.joint_handles[index], false) else {
            return;
        };
        let axis = match joint.data.locked_axes {
            JointAxesMask::LOCKED_REVOLUTE_AXES => JointAxis::AngX,
            JointAxesMask::LOCKED_PRISMATIC_AXES => JointAxis::LinX,
            _ => return,
        };
        joint.data.motor_axes.set(axis.into(), motor.is_some());
        if let Some(motor) = motor {
            let own = &mut joint.data.motors[axis as usize];
            let impulse = own.impulse;
            *own = JointMotor { impulse, ..motor };
        }
    }

    /// Sets the poses of scripted colliders at the end of the step.
    pub fn prepare(&mut self, colliders: &Colliders, time: f64, dt: f64) {
        for (index, handle) in &self.scripted {
            let pose = colliders.list[*index].motion.pose(time + dt);
            self.bodies[*handle].set_next_kinematic_position(frame(pose));
        }
    }

    /// Speed limit of bodies in the next step [m/s].
    fn speed_limit(&self, dt: f32, gravity: Vec3) -> f32 {
        let pushed = self.bodies.iter().map(|(_, body)| {
            let way = body.next_position().translation - body.position().translation;
            let push = body.user_force() * body.mass_properties().effective_inv_mass;
            way.length() / dt + push.length() * dt
        });
        let pushed = pushed.fold(0.0, f32::max);
        let fastest = self.max_speed() as f32 + pushed + gravity.length() * dt;
        SPEED_FACTOR * fastest + SIZES_PER_SECOND * self.length_unit
    }

    /// One step of `dt` [s].
    pub fn step(&mut self, dt: f64, gravity: Vec3) {
        let limit = self.speed_limit(dt as f32, gravity);
        let parameters = IntegrationParameters {
            dt: dt as f32,
            length_unit: self.length_unit,
            num_solver_iterations: substeps(dt),
            num_internal_pgs_iterations: ITERATIONS / substeps(dt),
            normalized_max_linear_velocity: limit / self.length_unit,
            ..IntegrationParameters::default()
        };
        let before: Vec<DQuat> = (0..self.free.len()).map(|b| self.axes(b)).collect();
        let gravity = match self.flat {
            true => gravity.with_z(0.0),
            false => gravity,
        };
        PhysicsPipeline::new().step(
            gravity,
            &parameters,
            &mut self.islands,
            &mut self.broad_phase,
            &mut self.narrow_phase,
            &mut self.bodies,
            &mut self.colliders,
            &mut self.joints,
            &mut MultibodyJointSet::new(),
            &mut SoftBodySet::new(),
            &mut CCDSolver::new(),
            &(),
            &(),
        );
        if !self.flat {
            self.conserve_angular_momentum(&before);
        }
        for (handle, bounding_radius) in self.free.iter().zip(&self.bounding_radius) {
            let body = &mut self.bodies[*handle];
            let spin = body.angvel();
            if spin.length() * bounding_radius > limit {
                body.set_angvel(spin.clamp_length_max(limit / bounding_radius), false);
            }
        }
    }

    /// Principal axes of a body in the world.
    fn axes(&self, body: usize) -> DQuat {
        let body = self.get(body);
        let properties = &body.mass_properties().local_mprops;
        let own = properties.principal_inertia_local_frame;
        body.rotation().as_dquat().normalize() * own.as_dquat().normalize()
    }

    /// Gyroscopic term: rotation changes the inertia tensor of a body in the world frame and thus its angular velocity, at constant
    /// angular momentum. rapier's own term loses angular momentum in every step.
    fn conserve_angular_momentum(&mut self, before: &[DQuat]) {
        for (body, before) in before.iter().enumerate() {
            let after = self.axes(body);
            let body = self.get_mut(body);
            let inverse = body.mass_properties().local_mprops.inv_principal_inertia;
            let inverse = inverse.as_dvec3();
            let is_round = inverse.max_element() - inverse.min_element() < 1e-6 * inverse.x;
            if is_round || inverse.min_element() <= 0.0 {
                continue;
            }
            let spin = body.angvel().as_dvec3();
            let momentum = *before * ((before.inverse() * spin) / inverse);
            let spin = after * ((after.inverse() * momentum) * inverse);
            body.set_angvel(spin.as_vec3(), false);
        }
    }

    /// Applies a wrench about the body's origin over the next step.
    pub fn apply(&mut self, body: usize, wrench: Wrench) {
        let origin = self.pose(body).position;
        let body = self.get_mut(body);
        let at_center = wrench.about(body.center_of_mass() - origin);
        body.add_force(at_center.force.as_vec3(), true);
        body.add_torque(at_center.torque.as_vec3(), true);
    }

    /// Pulls a point of a body (in its frame) toward a target [m] over the next step of `dt` [s].
    pub fn apply_drag(&mut self, body: usize, point: Vec3, target: Vec3, dt: f64) {
        let mass = self.mass(body, self);
        let at = self.pose(body).to_world(point);
        let body = self.get_mut(body);
        let arm = at - mass.center;
        // Mean effective mass at the point.
        let turning = Vec3::AXES.map(|axis| mass.rotational(arm, axis));
        let inverse = 3.0 * mass.inverse_mass + turning.iter().sum::<f32>();
        let effective = 3.0 / inverse.max(f32::MIN_POSITIVE);
        let velocity = body.linvel() + body.angvel().cross(arm);
        let dt = dt as f32;
        let soft = 1.0 + 2.0 * DRAG * dt + DRAG * DRAG * dt * dt;
        let acceleration = (DRAG * DRAG * (target - at) - 2.0 * DRAG * velocity) / soft;
        body.add_force_at_point(effective * acceleration, at, true);
    }

    /// Clears the forces of the step.
    pub fn clear_forces(&mut self) {
        for body in &self.free {
            let body = &mut self.bodies[*body];
            body.reset_forces(false);
            body.reset_torques(false);
        }
    }

    fn get(&self, body: usize) -> &RigidBody {
        &self.bodies[self.free[body]]
    }

    fn get_mut(&mut self, body: usize) -> &mut RigidBody {
        &mut self.bodies[self.free[body]]
    }

    /// Pose of a body.
    pub fn pose(&self, body: usize) -> Pose {
        let (center, body) = (self.centers[body], self.get(body));
        Pose {
            position: body.translation() - *body.rotation() * center,
            rotation: *body.rotation(),
        }
    }

    /// Velocity of a body's center of mass [m/s], and angular velocity [rad/s].
    pub fn velocity(&self, body: usize) -> (Vec3, Vec3) {
        let body = self.get(body);
        (body.linvel(), body.angvel())
    }

    /// Mass of a body, which gains the velocities that it has in the world `ahead`. The inverses are zero for the degrees of freedom
    /// that a 2D scene locks.
    pub fn mass(&self, body: usize, ahead: &Self) -> RigidMass {
        let properties = self.get(body).mass_properties();
        let i = properties.effective_world_inv_inertia;
        let (before, after) = (self.velocity(body), ahead.velocity(body));
        RigidMass {
            inverse_mass: properties.local_mprops.inv_mass,
            inverse_inertia: Mat3::from_cols(
                Vec3::new(i.m11, i.m12, i.m13),
                Vec3::new(i.m12, i.m22, i.m23),
                Vec3::new(i.m13, i.m23, i.m33),
            ),
            center: properties.world_com,
            gains: [after.0 - before.0, after.1 - before.1],
        }
    }

    /// Momentum [kg m/s] and angular momentum about the origin of the world [kg m²/s] of a body.
    pub fn momentum(&self, body: usize) -> (DVec3, DVec3) {
        let (b, frame) = (self.get(body), self.axes(body));
        let p = &b.mass_properties().local_mprops;
        let linear = b.linvel().as_dvec3() / f64::from(p.inv_mass);
        let spin = frame.inverse() * b.angvel().as_dvec3();
        let own = frame * (spin / p.inv_principal_inertia.as_dvec3());
        (linear, b.center_of_mass().as_dvec3().cross(linear) + own)
    }

    /// Speed of the fastest point of any body [m/s].
    pub fn max_speed(&self) -> f64 {
        let speeds = self.bounding_radius.iter().enumerate().map(|(body, r)| {
            let (velocity, spin) = self.velocity(body);
            f64::from(velocity.length() + spin.length() * r)
        });
        speeds.fold(0.0, f64::max)
    }

    /// Updates the state of a joint; `dt` is the length of the step over which its motor acted [s].
    pub fn measure(&self, index: usize, state: &mut JointState, dt: Option<f64>) {
        let joint = self.joint_handles.get(index);
        let Some(joint) = joint.and_then(|h| self.joints.get(*h)) else {
            return;
        };
        let ends = [joint.body1(), joint.body2()].map(|end| self.bodies.get(end));
        let ([Some(a), Some(b)], Some(axis)) = (ends, axis(state.kind)) else {
            return;
        };
        let fa = *a.position() * joint.data.local_frame1;
        let fb = *b.position() * joint.data.local_frame2;
        let direction = fa.rotation * Vec3::X;
        match axis {
            JointAxis::AngX => {
                let turn = fa.rotation.inverse() * fb.rotation;
                let angle = 2.0 * f64::from(turn.x).atan2(f64::from(turn.w));
                state.position += wrapped(angle - state.position);
                state.velocity = f64::from((b.angvel() - a.angvel()).dot(direction));
            }
            _ => {
                let offset = fb.translation - fa.translation;
                state.position = f64::from(offset.dot(direction));
                let at = fb.translation;
                let speed = b.velocity_at_point(at) - a.velocity_at_point(at);
                state.velocity = f64::from(speed.dot(direction));
            }
        }
        let motor = &joint.data.motors[axis as usize];
        let driven = joint.data.motor_axes.contains(axis.into());
        state.force = match (driven, dt) {
            // The impulse is that of the last substep, on the first body.
            (true, Some(dt)) => -f64::from(motor.impulse) * substeps(dt) as f64 / dt,
            (true, None) => state.force,
            (false, _) => 0.0,
        };
    }
}

/// The degree of freedom whose position a joint has.
fn axis(kind: JointKind) -> Option<JointAxis> {
    match kind {
        JointKind::Revolute => Some(JointAxis::AngX),
        JointKind::Prismatic => Some(JointAxis::LinX),
        JointKind::Fixed | JointKind::Spherical => None,
    }
}

/// An angle in (−π, π].
pub(super) fn wrapped(angle: f64) -> f64 {
    use std::f64::consts::PI;
    let turns = (angle / (2.0 * PI)).round();
    angle - 2.0 * PI * turns
}

fn frame(pose: Pose) -> Frame {
    Frame::from_parts(pose.position, pose.rotation)
}

fn length_unit(bodies: &[Body]) -> f32 {
    let sizes = bodies
        .iter()
        .map(|b| b.surface.shape.bounds().size().max_element());
    // A link may have no shape.
    let sizes = sizes.filter(|s| *s > 0.0);
    sizes.fold(1.0, f32::min).max(1e-4)
}

/// Upper bound of the distance of a body's points from its center of mass [m].
fn bounding_radius(body: &Body) -> f32 {
    let bounds = body.surface.shape.bounds();
    if !bounds.is_finite() || bounds.is_empty() {
        return 0.0;
    }
    let center = body.mass.center.as_vec3();
    (center - bounds.min).max(bounds.max - center).length()
}

/// The region in which unbounded colliders are represented: what bodies can reach.
fn surroundings(scene: &Scene) -> Bounds {
    let all = scene.bodies.iter().map(|b| b.surface.shape.bounds());
    let all = all.fold(Bounds::EMPTY, |a, b| a.union(&b));
    let domain = scene.domain.unwrap_or(all);
    let both = all.union(&domain);
    both.expand(4.0 * both.size().max_element())
}
