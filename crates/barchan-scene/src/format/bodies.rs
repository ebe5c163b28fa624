//! Rigid bodies and joints of the scene file.

use super::Builder;
use super::node::{Node, Table};
use super::substances::color;
use crate::bodies::*;
use crate::errors::{Place, suggestion};
use crate::geometry::Geometry;
use crate::model::{Boundary, Collider, Dimensions, Look};
use crate::motion::{Motion, Track};
use glam::{DVec3, Vec3};

/// Name of the world in joints.
pub(super) const WORLD: &str = "world";

/// Everything that joints can attach to.
pub(crate) struct Holds {
    /// Names of colliders, then bodies; `None` where one is invalid.
    pub names: Vec<String>,
    /// Centers of mass of the bodies [m].
    pub centers: Vec<Option<DVec3>>,
}

impl Builder<'_> {
    /// A body of `[[body]]`.
    pub fn body(&mut self, name: String, table: &Table, at: Place) -> Option<Body> {
        if name == WORLD {
            let message = "`world` is the name of the fixed world in joints";
            let at = table.at("name", at);
            self.report.error(at, message, "give the body another name");
        }
        let shape = self.shape_of(table);
        self.in_plane(table, "velocity");
        self.spin_in_plane(table);
        let shape = shape?;
        let mass = self.mass(&name, &shape, table, at)?;
        Some(Body {
            surface: surface(name, shape, table),
            mass,
            restitution: table.number("restitution").unwrap_or(0.0),
            velocity: vector(table, "velocity"),
            spin: vector(table, "spin"),
            collides: table.flag("collides").unwrap_or(true),
        })
    }

    fn mass(
        &mut self,
        name: &str,
        shape: &Geometry,
        table: &Table,
        at: Place,
    ) -> Option<MassProperties> {
        let what = format!("body `{name}`");
        self.probe(&what, shape, table.at("shape", at))?;
        let Some(moments) = shape.moments(self.dimensions) else {
            let help = "give it a shape with volume";
            let message = format!("{what} has no volume");
            return self.report.refuse(table.at("shape", at), message, help);
        };
        let mut mass = match (table.get("density"), table.get("mass")) {
            (Some(_), Some(node)) => {
                let message = format!("{what} has both a density and a mass");
                return self.report.refuse(node.at, message, "keep one of them");
            }
            (None, None) => {
                let message = format!("{what} has neither a density nor a mass");
                let help = "add `density = …` [kg/m³], such as 700 for wood and 7800 for steel, or `mass = …` [kg]";
                return self.report.refuse(at, message, help);
            }
            (Some(density), None) => MassProperties::of_density(&moments, density.number()?),
            (None, Some(mass)) => {
                MassProperties::of_density(&moments, 1.0).with_mass(mass.number()?)
            }
        };
        if table.has("center_of_mass") {
            mass.center = table.vector("center_of_mass")?;
        }
        Some(mass)
    }

    /// A joint of `[[joint]]`.
    pub fn joint(
        &mut self,
        name: String,
        table: &Table,
        at: Place,
        holds: &Holds,
    ) -> Option<Joint> {
        let kind: JointKind = table.choice("type")?;
        let ends = self.ends(table, holds);
        if !kind.is_single() {
            for key in ["axis", "limits", "motor", "control"] {
                self.useless(table, key, &format!("in a {} joint", kind.name()));
            }
        }
        let axis = self.joint_axis(kind, table, at);
        let limits = table.optional("limits", |node| self.limits(&name, kind, node));
        let motor = table.optional("motor", |node| self.motor(kind, node));
        let control = table.optional("control", |node| self.control(&name, kind, node));
        let (ends, control) = (ends?, control?);
        let motor = motor?.or_else(|| control.is_some().then(Motor::hold));
        let anchor = match table.get("anchor") {
            Some(node) => node.vector()?,
            None => match ends[1] {
                JointEnd::Solid(index) => holds.centers.get(index).copied().flatten()?,
                JointEnd::World => DVec3::ZERO,
            },
        };
        Some(Joint {
            name,
            kind,
            ends,
            anchor,
            axis: axis?,
            limits: limits?,
            damping: table.number("damping").unwrap_or(0.0),
            motor,
            control,
            release: table.number("release").unwrap_or(f64::INFINITY),
        })
    }

    /// The ends of a joint: two different solids, at least one of them dynamic.
    fn ends(&mut self, table: &Table, holds: &Holds) -> Option<[JointEnd; 2]> {
        let node = table.get("bodies")?;
        let [a, b] = node.list()? else { return None };
        let (a, b) = (self.end(a, holds), self.end(b, holds));
        let (a, b) = (a?, b?);
        let is_free = |end: JointEnd| match end {
            JointEnd::World => false,
            JointEnd::Solid(index) => holds.centers.get(index).is_some_and(Option::is_some),
        };
        if a == b {
            let help = "name two different ones";
            let message = "this joint connects a body to itself";
            return self.report.refuse(node.at, message, help);
        }
        if !is_free(a) && !is_free(b) {
            let help = "one of them must be a rigid body, [[body]]";
            let message = "this joint connects no rigid body";
            return self.report.refuse(node.at, message, help);
        }
        Some([a, b])
    }

    fn end(&mut self, node: &Node, holds: &Holds) -> Option<JointEnd> {
        let word = node.text()?;
        if word == WORLD {
            return Some(JointEnd::World);
        }
        if let Some(index) = holds.names.iter().position(|n| n == word) {
            return Some(JointEnd::Solid(index));
        }
        let names = holds.names.iter().map(String::as_str).chain([WORLD]);
        let message = format!("there is no body or collider named `{word}`");
        let help = suggestion(word, names);
        self.report.refuse(node.at, message, help)
    }

    fn joint_axis(&mut self, kind: JointKind, table: &Table, at: Place) -> Option<DVec3> {
        let axis = self.direction(table, "axis", DVec3::Z, at)?;
        let place = table.at("axis", at);
        let flat = self.dimensions == Dimensions::Two;
        if flat && kind == JointKind::Revolute && axis.truncate() != glam::DVec2::ZERO {
            let help = "use axis = [0, 0, 1], or leave it out";
            let message = "in a 2D scene joints turn about z only";
            return self.report.refuse(place, message, help);
        }
        if flat && kind == JointKind::Prismatic && axis.z != 0.0 {
            let help = "give an axis [x, y] in the plane";
            let message = "in a 2D scene joints slide in the plane only";
            return self.report.refuse(place, message, help);
        }
        Some(axis)
    }

    fn limits(&mut self, name: &str, kind: JointKind, node: &Node) -> Option<[f64; 2]> {
        let [low, high] = node.pair()?;
        if low > 0.0 || high < 0.0 {
            return self.report.refuse(
                node.at,
                format!("joint `{name}` starts at 0, outside its limits from {low} to {high}"),
                "positions are relative to the start: give limits that include 0",
            );
        }
        if kind == JointKind::Revolute && (low < -180.0 || high > 180.0) {
            return self.report.refuse(
                node.at,
                format!("joint `{name}` cannot have limits beyond half a turn: {low} to {high}"),
                "use limits from -180 to 180, or leave them out for free rotation",
            );
        }
        Some([low, high].map(|x| in_si(kind, x)))
    }

    /// The motor of a joint.
    pub fn motor(&mut self, kind: JointKind, node: &Node) -> Option<Motor> {
        let motor = node.table()?;
        let drive = match (motor.get("velocity"), motor.get("position")) {
            (Some(value), None) => Drive::Velocity(self.drive(kind, value)?),
            (None, Some(value)) => Drive::Position(self.drive(kind, value)?),
            (both, _) => {
                let what = if both.is_some() {
                    "two targets"
                } else {
                    "no target"
                };
                let message = format!("this motor has {what}");
                let help = "give it either a `velocity` or a `position`";
                return self.report.refuse(node.at, message, help);
            }
        };
        Some(Motor {
            drive,
            stiffness: motor.optional("stiffness", Node::number)?,
            damping: motor.optional("damping", Node::number)?,
            max_force: motor.number_or("max_force", f64::INFINITY)?,
            max_speed: f64::INFINITY,
        })
    }

    fn drive(&mut self, kind: JointKind, node: &Node) -> Option<Track<f64>> {
        if let Some(value) = node.number() {
            return Some(Track::constant(in_si(kind, value)));
        }
        let table = node.table()?;
        self.track(table, table.get("keyframes")?, |_, key, _| {
            Some(in_si(kind, key.number("value")?))
        })
    }

    /// Manual control of a joint.
    pub fn control(&mut self, name: &str, kind: JointKind, node: &Node) -> Option<JointControl> {
        let control = node.table()?;
        let keys = control.optional("keys", |keys| {
            let [low, high] = keys.list()? else {
                return None;
            };
            Some([low.text()?.to_owned(), high.text()?.to_owned()])
        })?;
        let gamepad_axis = control.optional("gamepad_axis", Node::count)?;
        if keys.is_none() && gamepad_axis.is_none() {
            let message = "this control has no input";
            let help = "give it `keys = [\"a\", \"d\"]` or a `gamepad_axis`";
            return self.report.refuse(node.at, message, help);
        }
        Some(JointControl {
            keys,
            gamepad_axis,
            speed: in_si(kind, control.number("speed")?),
            label: control.text("label").unwrap_or(name).to_owned(),
        })
    }
}

/// The collider of a body in contact with grains.
pub(super) fn surface(name: String, shape: Geometry, table: &Table) -> Collider {
    Collider {
        name,
        shape,
        motion: Motion::default(),
        boundary: table.choice("boundary").unwrap_or(Boundary::Separating),
        friction: table.number("friction").unwrap_or(0.5),
        look: Some(table.choice("look").unwrap_or(Look::Solid)),
        color: table.get("color").and_then(color),
    }
}

/// Degrees as radians where the joint turns.
fn in_si(kind: JointKind, value: f64) -> f64 {
    match kind {
        JointKind::Revolute => value.to_radians(),
        _ => value,
    }
}

/// The vector under a key; zero where there is none.
pub(super) fn vector(table: &Table, key: &str) -> Vec3 {
    table.vector(key).unwrap_or_default().as_vec3()
}
