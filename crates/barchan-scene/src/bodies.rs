//! Rigid bodies and the joints between them, as solvers see them: validated and complete.

use crate::geometry::Moments;
use crate::model::{Collider, Scene};
use crate::motion::Track;
use glam::{DMat3, DVec3, Vec3};
use serde::Deserialize;

/// A body that grains, joints and other bodies push. Its frame is the world's at t = 0.
#[derive(Debug, Clone)]
pub struct Body {
    /// Name, shape, boundary, friction and look; its motion is unused (at rest).
    pub surface: Collider,
    /// Mass, center and inertia.
    pub mass: MassProperties,
    /// Coefficient of restitution between bodies, in [0, 1].
    pub restitution: f64,
    /// Velocity of the center of mass at t = 0 [m/s].
    pub velocity: Vec3,
    /// Angular velocity at t = 0 [rad/s].
    pub spin: Vec3,
    /// Whether it collides with other bodies and colliders.
    pub collides: bool,
}

/// Mass, center of mass and inertia of a body, in its own frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MassProperties {
    /// Mass [kg]; per meter of depth in 2D.
    pub mass: f64,
    /// Center of mass [m].
    pub center: DVec3,
    /// Tensor of inertia about the center of mass [kg m²].
    pub inertia: DMat3,
}

impl MassProperties {
    /// A body of constant density [kg/m³].
    pub fn of_density(moments: &Moments, density: f64) -> Self {
        let second = moments.second * density;
        let trace = second.x_axis.x + second.y_axis.y + second.z_axis.z;
        Self {
            mass: moments.volume * density,
            center: moments.center,
            inertia: DMat3::from_diagonal(DVec3::splat(trace)) - second,
        }
    }

    /// The same distribution with another mass [kg].
    pub fn with_mass(mut self, mass: f64) -> Self {
        self.inertia *= mass / self.mass;
        self.mass = mass;
        self
    }

    /// Mass properties of the two bodies combined.
    pub fn plus(&self, other: &Self) -> Self {
        let mass = self.mass + other.mass;
        let center = (self.center * self.mass + other.center * other.mass) / mass;
        let moved = |p: &Self| p.inertia + p.mass * steiner(p.center - center);
        Self {
            mass,
            center,
            inertia: moved(self) + moved(other),
        }
    }
}

/// Inertia of a unit mass at `r` about the origin [m²].
fn steiner(r: DVec3) -> DMat3 {
    let outer = DMat3::from_cols(r * r.x, r * r.y, r * r.z);
    DMat3::from_diagonal(DVec3::splat(r.length_squared())) - outer
}

/// A joint between two solids.
#[derive(Debug, Clone)]
pub struct Joint {
    /// Name for messages, records and driving.
    pub name: String,
    /// Type of joint.
    pub kind: JointKind,
    /// The two solids that it connects; the second moves relative to the first.
    pub ends: [JointEnd; 2],
    /// Point of the joint in the world at t = 0 [m].
    pub anchor: DVec3,
    /// Unit axis in the world at t = 0: about it a revolute joint turns, along it a prismatic one slides.
    pub axis: DVec3,
    /// Least and largest position [rad or m].
    pub limits: Option<[f64; 2]>,
    /// Passive damping [N·m·s/rad or N·s/m].
    pub damping: f64,
    /// Its motor.
    pub motor: Option<Motor>,
    /// Manual control in the live view.
    pub control: Option<JointControl>,
    /// Time of release [s]; infinite: never.
    pub release: f64,
}

/// Type of joint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JointKind {
    /// Turns about its axis.
    Revolute,
    /// Slides along its axis.
    Prismatic,
    /// No relative motion.
    Fixed,
    /// Turns about its anchor in any direction.
    Spherical,
}

impl JointKind {
    /// Name in scene files and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Revolute => "revolute",
            Self::Prismatic => "prismatic",
            Self::Fixed => "fixed",
            Self::Spherical => "spherical",
        }
    }

    /// Whether its position is a single number.
    pub fn is_single(self) -> bool {
        matches!(self, Self::Revolute | Self::Prismatic)
    }
}

/// One of the two ends of a joint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JointEnd {
    /// The world itself.
    World,
    /// Index into [`Scene::solids`].
    Solid(usize),
}

/// The motor of a joint.
#[derive(Debug, Clone, PartialEq)]
pub struct Motor {
    /// Target.
    pub drive: Drive,
    /// Force per distance from the target [N·m/rad or N/m]; `None`: as stiff as the bodies allow.
    pub stiffness: Option<f64>,
    /// Force per difference from the target speed [N·m·s/rad or N·s/m]; `None`: follows from the stiffness.
    pub damping: Option<f64>,
    /// Largest force [N·m or N]; may be infinite.
    pub max_force: f64,
    /// Largest target speed [rad/s or m/s]; may be infinite.
    pub max_speed: f64,
}

/// Target of a motor over time.
#[derive(Debug, Clone, PartialEq)]
pub enum Drive {
    /// A speed [rad/s or m/s].
    Velocity(Track<f64>),
    /// A position [rad or m].
    Position(Track<f64>),
}

/// Manual control of a joint in the live view.
#[derive(Debug, Clone, PartialEq)]
pub struct JointControl {
    /// Keys that drive it toward smaller and larger positions.
    pub keys: Option<[String; 2]>,
    /// Axis of a gamepad that drives it.
    pub gamepad_axis: Option<u32>,
    /// Speed at full deflection [rad/s or m/s].
    pub speed: f64,
    /// Label.
    pub label: String,
}

impl Scene {
    /// Colliders, then rigid bodies: the order of frame records.
    pub fn solids(&self) -> impl Iterator<Item = &Collider> {
        let bodies = self.bodies.iter().map(|b| &b.surface);
        self.colliders.iter().chain(bodies)
    }
}
