//! Rigid bodies, joints and motors: the only folder that depends on rapier. See docs/bodies.md.
//!
//! ```text
//! predict (a step without grains) ──► pose (input of the solver) ──► solver step ──► advance (a step with the impulses)
//! ```
//!
//! All quantities are in SI units; a body's frame is the world's at t = 0.

mod joints;
mod shapes;
mod world;

use crate::collider::{BodyImpulses, Colliders};
use crate::contacts::rigid::Impulse;
use crate::solver::SolverError;
use barchan_scene::{JointControl, JointKind, Pose, Scene};
use glam::{DVec3, Vec3};
use joints::DrivenJoint;
use world::World;

/// The state of a joint.
#[derive(Debug, Clone, PartialEq)]
pub struct JointState {
    /// Name in the scene.
    pub name: String,
    /// Type of joint.
    pub kind: JointKind,
    /// Position relative to the start [rad or m]; angles accumulate over turns. 0 for joints without a position.
    pub position: f64,
    /// Its rate [rad/s or m/s].
    pub velocity: f64,
    /// Motor force or torque at the end of the last step, positive toward larger positions [N or N·m].
    pub force: f64,
    /// Least and largest position [rad or m].
    pub limits: Option<[f64; 2]>,
    /// Manual control.
    pub control: Option<JointControl>,
}

/// Target of a joint's motor.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum MotorTarget {
    /// As the scene specifies.
    Scripted,
    /// A speed [rad/s or m/s]. At 0 the joint is held where it is.
    Velocity(f64),
    /// A position [rad or m].
    Position(f64),
    /// No target: the joint moves freely.
    Off,
}

/// A critically damped spring that pulls on a point of a body, as by a mouse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drag {
    /// Index into [`Colliders::list`].
    pub body: usize,
    /// The point, in the frame of the body [m].
    pub point: Vec3,
    /// Target of the point, in the world [m].
    pub target: Vec3,
}

/// The rigid bodies and joints of a scene, in motion.
pub struct Bodies {
    /// Number of bodies.
    count: usize,
    /// Index of the first body in [`Colliders::list`]: colliders come before.
    first: usize,
    world: World,
    /// The world at the end of the step without grains.
    predicted: Option<World>,
    states: Vec<JointState>,
    driven: Vec<DrivenJoint>,
    drag: Option<Drag>,
}

impl Bodies {
    /// Bodies of a scene at t = 0.
    pub fn new(scene: &Scene) -> Result<Self, SolverError> {
        let world = match scene.bodies.is_empty() {
            true => World::default(),
            false => World::new(scene).map_err(|reason| {
                SolverError::unsupported("joint", reason, "name bodies of the scene")
            })?,
        };
        let states = scene.joints.iter().map(|joint| JointState {
            name: joint.name.clone(),
            kind: joint.kind,
            position: 0.0,
            velocity: 0.0,
            force: 0.0,
            limits: joint.limits,
            control: joint.control.clone(),
        });
        let mut bodies = Self {
            count: scene.bodies.len(),
            first: scene.colliders.len(),
            states: states.collect(),
            driven: scene.joints.iter().map(DrivenJoint::new).collect(),
            world,
            predicted: None,
            drag: None,
        };
        bodies.measure_joints(None);
        Ok(bodies)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Index of the first body in [`Colliders::list`].
    pub fn first(&self) -> usize {
        self.first
    }

    /// States of all joints, in scene order.
    pub fn joints(&self) -> &[JointState] {
        &self.states
    }

    /// Index of the joint of that name.
    pub fn joint_index(&self, name: &str) -> Option<usize> {
        self.states.iter().position(|j| j.name == name)
    }

    /// Sets the target of a joint's motor from the next step on. Joints without a motor in the scene get one of unlimited force.
    /// Non-finite values, unknown joints, and fixed or spherical joints are ignored.
    pub fn set_motor(&mut self, joint: usize, target: MotorTarget) {
        let finite = match target {
            MotorTarget::Velocity(x) | MotorTarget::Position(x) => x.is_finite(),
            MotorTarget::Scripted | MotorTarget::Off => true,
        };
        if let (Some(driven), Some(state), true) =
            (self.driven.get_mut(joint), self.states.get(joint), finite)
        {
            driven.set_target(target, state.position);
        }
    }

    /// Drags a body, or stops dragging. Unknown bodies and non-finite values are ignored.
    pub fn set_drag(&mut self, drag: Option<Drag>) {
        let usable = |d: &Drag| {
            let known = d.body >= self.first && d.body - self.first < self.count;
            known && d.point.is_finite() && d.target.is_finite()
        };
        self.drag = drag.filter(usable);
    }

    /// Speed of the fastest point of any body [m/s], as it would be after `dt` of gravity [m/s²].
    pub fn max_speed(&self, gravity: Vec3, dt: f64) -> f64 {
        let fall = f64::from(gravity.length()) * dt;
        self.world.max_speed() + if self.is_empty() { 0.0 } else { fall }
    }

    /// Predicts the bodies over the step of `dt` from `time` [s] without grains, and poses them for the solver: at their present
    /// positions, with the velocities at the end of the prediction.
    pub fn predict(&mut self, colliders: &mut Colliders, time: f64, dt: f64, gravity: Vec3) {
        for (index, driven) in self.driven.iter_mut().enumerate() {
            let state = &self.states[index];
            if !driven.is_attached(time) {
                self.world.release_joint(index);
                continue;
            }
            driven.advance(state, time, dt);
            self.world.set_motor(index, driven.motor());
        }
        self.world.prepare(colliders, time, dt);
        if let Some(drag) = self.drag {
            let body = drag.body - self.first;
            self.world.apply_drag(body, drag.point, drag.target, dt);
        }
        let mut predicted = self.world.clone();
        predicted.step(dt, gravity);
        self.pose_colliders(colliders, &predicted);
        self.predicted = Some(predicted);
    }

    /// Discards the prediction and restores the poses.
    pub fn reject(&mut self, colliders: &mut Colliders) {
        if self.predicted.take().is_some() {
            self.driven.iter_mut().for_each(DrivenJoint::reject);
            self.world.clear_forces();
            self.pose(colliders);
        }
    }

    /// Poses the bodies in their present state, between steps.
    pub fn pose(&self, colliders: &mut Colliders) {
        self.pose_colliders(colliders, &self.world);
    }

    /// Present pose of a body, by its index among the bodies.
    pub(crate) fn pose_of(&self, body: usize) -> Pose {
        self.world.pose(body)
    }

    /// Poses the colliders of the bodies, with the velocities in `ahead`.
    fn pose_colliders(&self, colliders: &mut Colliders, ahead: &World) {
        let posed = colliders.list.iter_mut().skip(self.first);
        for (body, posed) in posed.take(self.count).enumerate() {
            let (pose, mass) = (self.world.pose(body), self.world.mass(body, ahead));
            let (velocity, spin) = ahead.velocity(body);
            posed.place(pose);
            // Velocity of the origin.
            posed.velocity = velocity + spin.cross(pose.position - mass.center);
            posed.angular_velocity = spin;
            posed.mass = Some(mass);
        }
    }

    /// Takes the step of [`Self::predict`], with the impulses of the grains.
    pub fn advance(&mut self, impulses: &BodyImpulses, dt: f64, gravity: Vec3) {
        let Some(predicted) = self.predicted.take() else {
            return;
        };
        let given = impulses.bodies.get(self.first..).unwrap_or_default();
        let untouched = |i: &Impulse| *i == Impulse::default();
        if given.iter().all(untouched) {
            self.world = predicted;
        } else {
            for (body, impulse) in given.iter().enumerate().take(self.count) {
                self.world.apply(body, impulse.over(dt));
            }
            self.world.step(dt, gravity);
        }
        self.world.clear_forces();
        self.measure_joints(Some(dt));
    }

    fn measure_joints(&mut self, dt: Option<f64>) {
        for (index, state) in self.states.iter_mut().enumerate() {
            self.world.measure(index, state, dt);
        }
    }

    /// Total momentum [kg m/s] and angular momentum about the origin of the world [kg m²/s] of the bodies.
    pub fn momentum(&self) -> (DVec3, DVec3) {
        let all = (0..self.count).map(|b| self.world.momentum(b));
        all.fold((DVec3::ZERO, DVec3::ZERO), |a, b| (a.0 + b.0, a.1 + b.1))
    }

    /// The exact state; empty without bodies.
    pub fn save(&self) -> Result<Vec<u8>, String> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let positions: Vec<f64> = self.states.iter().map(|s| s.position).collect();
        let motors: Vec<joints::MotorState> = self.driven.iter().map(|d| d.state).collect();
        postcard::to_stdvec(&(&self.world, &positions, &motors))
            .map_err(|e| format!("the bodies cannot be written: {e}"))
    }

    /// Restores the exact state.
    pub fn load(&mut self, state: &[u8]) -> Result<(), String> {
        if self.is_empty() {
            return Ok(());
        }
        if state.is_empty() {
            return Err("it contains no rigid bodies".into());
        }
        let (world, positions, motors): (World, Vec<f64>, Vec<joints::MotorState>) =
            postcard::from_bytes(state).map_err(|_| "its rigid bodies are malformed")?;
        if !world.is_compatible(&self.world) || positions.len() != self.states.len() {
            return Err("its rigid bodies are not those of the scene".into());
        }
        self.world = world;
        self.predicted = None;
        for (state, position) in self.states.iter_mut().zip(positions) {
            state.position = position;
        }
        for (driven, motor) in self.driven.iter_mut().zip(motors) {
            driven.state = motor;
        }
        self.measure_joints(None);
        Ok(())
    }
}
