//! Messages of a page, one JSON object each. Every message is validated; one that is not a valid command is refused with a
//! reason.

use super::ErrorMessage;
use super::orders::Orders;
use barchan::scene::parameters::Parameter;
use barchan::sim::bodies::{Drag, MotorTarget};
use glam::Vec3;
use serde::Deserialize;

/// Lowest and highest speed [simulated seconds per second].
pub(super) const SPEEDS: [f64; 2] = [0.01, 16.0];
/// Largest coordinate to which a body can be dragged [m].
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
    /// Restart.
    Reset,
    /// Speed of the simulation.
    Speed {
        /// Simulated seconds per second.
        factor: f64,
    },
    /// Changes a parameter of a material.
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
    /// Drags a body.
    Drag {
        /// Index of the body.
        body: usize,
        /// Point at which it is held, in its own frame [m].
        point: [f32; 3],
        /// Target of that point [m].
        target: [f32; 3],
    },
    /// Releases the body.
    Drop,
    /// Chooses the color of grains.
    Color {
        /// Whether pictures include speeds.
        speed: bool,
    },
    /// Acknowledges a picture: it has been drawn.
    Seen,
}

/// Limits that messages are validated against.
#[derive(Debug, Default)]
pub(super) struct Limits {
    /// Parameters of each material.
    pub parameters: Vec<Vec<Parameter>>,
    /// Maximum velocity of each joint [rad/s or m/s].
    pub joints: Vec<f64>,
    /// Whether each body can be dragged.
    pub bodies: Vec<bool>,
}

/// Parses a message.
pub(super) fn read(text: &str) -> Result<Message, ErrorMessage> {
    serde_json::from_str(text).map_err(|error| {
        ErrorMessage::new(
            format!("invalid message: {error}"),
            "docs/viewer.md lists the messages; reload the page",
        )
    })
}

impl Message {
    /// Adds the message to the orders.
    ///
    /// # Errors
    /// Names something that does not exist, or an impossible value.
    pub fn order(self, limits: &Limits, orders: &mut Orders) -> Result<(), ErrorMessage> {
        match self {
            Self::Play { on } => orders.playing = Some(on),
            Self::Step => orders.add_step(),
            Self::Reset => orders.start_over(),
            Self::Speed { factor } => {
                let [low, high] = SPEEDS;
                if !(low..=high).contains(&factor) {
                    let help = format!("it must be from {low} to {high}");
                    return Err(ErrorMessage::new(format!("speed {factor}"), help));
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
                    return Err(ErrorMessage::new(format!("{key} = {value}"), help));
                }
                orders.parameters.insert((material, parameter.key), value);
            }
            Self::Motor { joint, velocity } => {
                let fastest = *entry(&limits.joints, joint, "joint")?;
                if !velocity.is_finite() {
                    return Err(ErrorMessage::new(
                        "the velocity is not a number",
                        "send a number",
                    ));
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
                if !*entry(&limits.bodies, body, "body")? {
                    return Err(ErrorMessage::new(
                        format!("body {body} cannot be dragged"),
                        "only dynamic bodies of [[body]] can",
                    ));
                }
                let is_near = |p: Vec3| p.is_finite() && p.abs().max_element() <= FAR;
                if !is_near(point) || !is_near(target) {
                    return Err(ErrorMessage::new(
                        "the body is dragged too far",
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
    fn parameter(&self, material: usize, key: &str) -> Result<&Parameter, ErrorMessage> {
        let all = entry(&self.parameters, material, "material")?;
        all.iter().find(|p| p.key == key).ok_or_else(|| {
            let names: Vec<&str> = all.iter().map(|p| p.key).collect();
            ErrorMessage::new(
                format!("the material has no parameter `{key}`"),
                format!("it has {}", names.join(", ")),
            )
        })
    }
}

fn entry<'a, T>(list: &'a [T], index: usize, what: &str) -> Result<&'a T, ErrorMessage> {
    list.get(index).ok_or_else(|| {
        let help = format!("there are {}, counted from 0", list.len());
        ErrorMessage::new(format!("there is no {what} {index}"), help)
    })
}
