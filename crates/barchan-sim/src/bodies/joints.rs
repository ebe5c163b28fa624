//! Motor targets, from the scene's script or a user: servos that hold a position.

use super::{JointState, MotorTarget};
use barchan_scene::{Drive, Joint, JointKind};
use serde::{Deserialize, Serialize};

/// Natural frequency of a servo whose stiffness the scene leaves open [rad/s].
const SERVO: f64 = 2.0 * std::f64::consts::PI * 20.0;
/// Largest lead of the target over the joint [s of its speed]: prevents windup of a joint that is stuck.
const LEAD_TIME: f64 = 0.1;
/// The same at rest [rad or m].
const LEAD: f64 = 0.02;

/// A joint's motor and what drives it.
#[derive(Debug, Clone)]
pub(super) struct Driven {
    joint: Joint,
    /// The part in checkpoints.
    pub memory: Memory,
    /// Where the servo was before the present step [rad or m].
    servo_before: f64,
    aim: Option<(f64, f64)>,
}

/// State of a motor between steps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Memory {
    target: MotorTarget,
    /// Integrated target of a joint that is driven by speed [rad or m].
    servo: f64,
}

/// Motor parameters for rapier.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Setting {
    pub position: f64,
    pub velocity: f64,
    pub stiffness: f64,
    pub damping: f64,
    pub max_force: f64,
    /// Whether stiffness and damping are forces; accelerations otherwise.
    pub is_force: bool,
}

impl Driven {
    pub fn new(joint: &Joint) -> Self {
        Self {
            joint: joint.clone(),
            memory: Memory {
                target: MotorTarget::Scripted,
                servo: 0.0,
            },
            servo_before: 0.0,
            aim: None,
        }
    }

    /// Whether it holds in a step that begins at `time` [s].
    pub fn holds(&self, time: f64) -> bool {
        time < self.joint.release
    }

    /// Sets a new target; `position` is that of the joint.
    pub fn aim(&mut self, target: MotorTarget, position: f64) {
        let held = matches!(self.memory.target, MotorTarget::Velocity(_));
        if matches!(target, MotorTarget::Velocity(_)) && !held {
            self.memory.servo = position;
        }
        self.memory.target = target;
    }

    /// Computes target position and velocity at the end of the step of `dt` from `time` [s]; advances the servo.
    pub fn advance(&mut self, joint: &JointState, time: f64, dt: f64) {
        self.servo_before = self.memory.servo;
        let motor = self.joint.motor.as_ref();
        let fastest = motor.map_or(f64::INFINITY, |m| m.max_speed);
        let drive = motor.map(|m| &m.drive);
        let speed = match (self.memory.target, drive) {
            (MotorTarget::Off, _) | (MotorTarget::Scripted, None) => {
                self.aim = None;
                return;
            }
            (MotorTarget::Position(x), _) => {
                self.aim = Some((x, 0.0));
                return;
            }
            (MotorTarget::Scripted, Some(Drive::Position(track))) => {
                self.aim = Some((track.value(time + dt), track.rate(time, dt)));
                return;
            }
            (MotorTarget::Velocity(v), _) => v,
            (MotorTarget::Scripted, Some(Drive::Velocity(track))) => track.value(time + 0.5 * dt),
        };
        let speed = speed.clamp(-fastest, fastest);
        let lead = LEAD + LEAD_TIME * speed.abs();
        let mut servo = self.memory.servo + speed * dt;
        servo = servo.clamp(joint.position - lead, joint.position + lead);
        if let Some([low, high]) = self.joint.limits {
            servo = servo.clamp(low, high);
        }
        self.memory.servo = servo;
        self.aim = Some((servo, speed));
    }

    /// Restores the servo to before the step.
    pub fn reject(&mut self) {
        self.memory.servo = self.servo_before;
    }

    /// Motor parameters for rapier; `None`: the motor is off.
    pub fn setting(&self, kind: JointKind) -> Option<Setting> {
        if !kind.is_single() {
            return None;
        }
        let Some((position, velocity)) = self.aim else {
            return (self.joint.damping > 0.0).then_some(Setting {
                damping: self.joint.damping,
                max_force: f64::INFINITY,
                is_force: true,
                ..Setting::default()
            });
        };
        let motor = self.joint.motor.as_ref();
        let given = motor.map_or((None, None), |m| (m.stiffness, m.damping));
        let max_force = motor.map_or(f64::INFINITY, |m| m.max_force);
        let (stiffness, damping, is_force) = match given {
            (None, None) => (SERVO * SERVO, 2.0 * SERVO, false),
            // A speed is kept by damping alone; a position needs a spring.
            (stiffness, damping) => (stiffness.unwrap_or(0.0), damping.unwrap_or(0.0), true),
        };
        Some(Setting {
            position,
            velocity,
            stiffness,
            damping,
            max_force,
            is_force,
        })
    }
}
