//! Motors of joints: targets from the scene's script or a user, and servos that hold a position.

use super::world::wrapped;
use super::{JointState, MotorTarget};
use barchan_scene::{Drive, Joint, JointKind};
use rapier3d::prelude::{JointMotor, MotorModel};
use serde::{Deserialize, Serialize};

/// Natural frequency of a servo whose stiffness the scene leaves open [rad/s].
const SERVO_FREQUENCY: f64 = 2.0 * std::f64::consts::PI * 20.0;
/// Largest lead of the target over the joint [s of its speed]: prevents windup of a joint that is stuck.
const LEAD_TIME: f64 = 0.1;
/// The same at rest [rad or m].
const LEAD: f64 = 0.02;

/// A joint with its motor and the target of the motor.
#[derive(Debug, Clone)]
pub(super) struct DrivenJoint {
    joint: Joint,
    /// The part stored in checkpoints.
    pub state: MotorState,
    /// Position of the servo before the present step [rad or m].
    servo_before: f64,
    /// Target position and velocity at the end of the step; `None`: no target.
    command: Option<(f64, f64)>,
}

/// State of a motor between steps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct MotorState {
    target: MotorTarget,
    /// Integrated target position of a joint that is driven by velocity [rad or m].
    servo: f64,
}

impl DrivenJoint {
    pub fn new(joint: &Joint) -> Self {
        Self {
            joint: joint.clone(),
            state: MotorState {
                target: MotorTarget::Scripted,
                servo: 0.0,
            },
            servo_before: 0.0,
            command: None,
        }
    }

    /// Whether the joint is not yet released in a step that begins at `time` [s].
    pub fn is_attached(&self, time: f64) -> bool {
        time < self.joint.release
    }

    /// Sets a new target; `position` is that of the joint.
    pub fn set_target(&mut self, target: MotorTarget, position: f64) {
        let held = matches!(self.state.target, MotorTarget::Velocity(_));
        if matches!(target, MotorTarget::Velocity(_)) && !held {
            self.state.servo = position;
        }
        self.state.target = target;
    }

    /// Computes target position and velocity at the end of the step of `dt` from `time` [s]; advances the servo.
    pub fn advance(&mut self, joint: &JointState, time: f64, dt: f64) {
        self.servo_before = self.state.servo;
        let motor = self.joint.motor.as_ref();
        let fastest = motor.map_or(f64::INFINITY, |m| m.max_speed);
        let drive = motor.map(|m| &m.drive);
        let servo = &mut self.state.servo;
        let mut follow = |speed: f64| {
            let speed = speed.clamp(-fastest, fastest);
            let lead = LEAD + LEAD_TIME * speed.abs();
            let target = *servo + speed * dt;
            *servo = target.clamp(joint.position - lead, joint.position + lead);
            if let Some([low, high]) = self.joint.limits {
                *servo = servo.clamp(low, high);
            }
            Some((*servo, speed))
        };
        self.command = match (self.state.target, drive) {
            (MotorTarget::Off, _) | (MotorTarget::Scripted, None) => None,
            (MotorTarget::Position(x), _) => Some((x, 0.0)),
            (MotorTarget::Scripted, Some(Drive::Position(track))) => {
                Some((track.value(time + dt), track.rate(time, dt)))
            }
            (MotorTarget::Velocity(v), _) => follow(v),
            (MotorTarget::Scripted, Some(Drive::Velocity(track))) => {
                follow(track.value(time + 0.5 * dt))
            }
        };
    }

    /// Restores the servo to its state before the step.
    pub fn reject(&mut self) {
        self.state.servo = self.servo_before;
    }

    /// The motor for rapier; `None`: it is off.
    pub fn motor(&self) -> Option<JointMotor> {
        if !self.joint.kind.is_single() {
            return None;
        }
        let Some((position, velocity)) = self.command else {
            return (self.joint.damping > 0.0).then_some(JointMotor {
                damping: self.joint.damping as f32,
                model: MotorModel::ForceBased,
                ..JointMotor::default()
            });
        };
        let motor = self.joint.motor.as_ref();
        let given = motor.map_or((None, None), |m| (m.stiffness, m.damping));
        let max_force = motor.map_or(f64::INFINITY, |m| m.max_force);
        let (stiffness, damping, model) = match given {
            (None, None) => (
                SERVO_FREQUENCY * SERVO_FREQUENCY,
                2.0 * SERVO_FREQUENCY,
                MotorModel::AccelerationBased,
            ),
            // Damping alone holds a velocity; a position needs a spring.
            (stiffness, damping) => (
                stiffness.unwrap_or(0.0),
                damping.unwrap_or(0.0),
                MotorModel::ForceBased,
            ),
        };
        let position = match self.joint.kind {
            JointKind::Revolute => wrapped(position),
            _ => position,
        };
        Some(JointMotor {
            target_pos: position as f32,
            target_vel: velocity as f32,
            stiffness: stiffness as f32,
            damping: damping as f32,
            max_force: max_force.min(f64::from(f32::MAX)) as f32,
            model,
            ..JointMotor::default()
        })
    }
}
