//! What a page may say: one JSON object a message. Nothing that a page sends can do more than give an order that makes
//! sense, whatever it is; everything else is refused with a reason.

use super::Trouble;
use super::orders::Orders;
use barchan::scene::parameters::Parameter;
use barchan::sim::bodies::{Drag, MotorTarget};
use glam::Vec3;
use serde::Deserialize;

/// Slowest and fastest course of time [simulated seconds in a second].
pub(super) const SPEEDS: [f64; 2] = [0.01, 16.0];
/// Farthest place that a body can be pulled to [m].
const FAR: f32 = 1e6;

/// A message.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Message {
    /// Run, or pause.
    Play {
        /// Run.
        on: bool,
    },
    /// One step.
    Step,
    /// Back to the beginning.
    Reset,
    /// Course of time.
    Speed {
        /// Simulated seconds in a second.
        factor: f64,
    },
    /// A parameter of a material.
    Parameter {
        /// Index of the material.
        material: usize,
        /// Key in the scene file.
        key: String,
        /// Value in the unit of the key.
        value: f64,
    },
    /// Drives a joint.
    Motor {
        /// Index of the joint.
        joint: usize,
        /// Velocity [rad/s or m/s].
        velocity: f64,
    },
    /// Pulls a body.
    Drag {
        /// Index of the body.
        body: usize,
        /// Where it is held, in its own frame [m].
        point: [f32; 3],
        /// Where that point is to go [m].
        target: [f32; 3],
    },
    /// Releases the body.
    Drop,
    /// What grains are colored by.
    Color {
        /// Whether their speeds are wanted.
        speed: bool,
    },
    /// A frame is on the screen: the next may come.
    Seen,
}

/// What messages are checked against.
#[derive(Debug, Default)]
pub(super) struct Limits {
    /// Parameters of each material.
    pub parameters: Vec<Vec<Parameter>>,
    /// Fastest that each joint can be driven [rad/s or m/s].
    pub joints: Vec<f64>,
    /// Whether each body can be pulled.
    pub bodies: Vec<bool>,
}

/// Reads a message.
pub(super) fn read(text: &str) -> Result<Message, Trouble> {
    serde_json::from_str(text).map_err(|error| {
        Trouble::new(
            format!("the message cannot be understood: {error}"),
            "docs/viewer.md lists the messages; reload the page",
        )
    })
}

impl Message {
    /// Adds the message to the orders.
    ///
    /// # Errors
    /// Names something that does not exist, or an impossible value.
    pub fn order(self, limits: &Limits, orders: &mut Orders) -> Result<(), Trouble> {
        match self {
            Self::Play { on } => orders.playing = Some(on),
            Self::Step => orders.add_step(),
            Self::Reset => orders.start_over(),
            Self::Speed { factor } => {
                let [low, high] = SPEEDS;
                if !(low..=high).contains(&factor) {
                    let help = format!("it must be from {low} to {high}");
                    return Err(Trouble::new(format!("speed {factor}"), help));
                }
                orders.speed = Some(factor);
            }
            Self::Parameter {
                material,
                key,
                value,
            } => {
                let parameter = limits.parameter(material, &key)?;
                if !parameter.allows(value) {
                    let help = format!("it must be {}", parameter.range());
                    return Err(Trouble::new(format!("{key} = {value}"), help));
                }
                orders.parameters.insert((material, parameter.key), value);
            }
            Self::Motor { joint, velocity } => {
                let fastest = *limits
                    .joints
                    .get(joint)
                    .ok_or_else(|| missing("joint", joint, limits.joints.len()))?;
                if !velocity.is_finite() {
                    return Err(Trouble::new("the velocity is no number", "send a number"));
                }
                let velocity = velocity.clamp(-fastest, fastest);
                orders.motors.insert(joint, MotorTarget::Velocity(velocity));
            }
            Self::Drag {
                body,
                point,
                target,
            } => {
                let (point, target) = (Vec3::from(point), Vec3::from(target));
                match limits.bodies.get(body) {
                    None => return Err(missing("body", body, limits.bodies.len())),
                    Some(false) => {
                        return Err(Trouble::new(
                            format!("body {body} cannot be pulled"),
                            "only bodies that move freely can: those of [[body]] that are dynamic",
                        ));
                    }
                    Some(true) => {}
                }
                let is_near = |p: Vec3| p.is_finite() && p.abs().max_element() <= FAR;
                if !is_near(point) || !is_near(target) {
                    return Err(Trouble::new(
                        "the body is pulled too far",
                        "stay in the scene",
                    ));
                }
                orders.drag = Some(Some(Drag {
                    body,
                    point,
                    target,
                }));
            }
            Self::Drop => orders.drag = Some(None),
            Self::Color { speed } => orders.with_speed = Some(speed),
            Self::Seen => {}
        }
        Ok(())
    }
}

impl Limits {
    fn parameter(&self, material: usize, key: &str) -> Result<&Parameter, Trouble> {
        let all = self
            .parameters
            .get(material)
            .ok_or_else(|| missing("material", material, self.parameters.len()))?;
        all.iter().find(|p| p.key == key).ok_or_else(|| {
            let names: Vec<&str> = all.iter().map(|p| p.key).collect();
            Trouble::new(
                format!("the material has no `{key}` to change"),
                format!("it has {}", names.join(", ")),
            )
        })
    }
}

fn missing(what: &str, index: usize, count: usize) -> Trouble {
    let help = format!("there are {count}, counted from 0");
    Trouble::new(format!("there is no {what} {index}"), help)
}
