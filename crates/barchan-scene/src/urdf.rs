//! Robots from URDF files: XML → links and joints, each with its place in the text.
//!
//! Elements for other programs (transmissions, sensors, controllers) are ignored.

use crate::bodies::JointKind;
use crate::geometry::Geometry;
use glam::{DMat3, DQuat, DVec3, EulerRot, Vec3};
use roxmltree::{Document, Node};
use std::ops::Range;

/// Largest number accepted as a length, mass or force.
const LARGEST: f64 = 1e9;

/// An error in a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault {
    /// Byte range.
    pub at: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// Remedy.
    pub help: String,
}

/// Pose of a frame relative to another.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Frame {
    pub position: DVec3,
    pub rotation: DQuat,
}

impl Frame {
    /// The frame whose pose relative to this one is `inner`.
    pub fn then(&self, inner: &Self) -> Self {
        Self {
            position: self.position + self.rotation * inner.position,
            rotation: (self.rotation * inner.rotation).normalize(),
        }
    }
}

/// A robot.
#[derive(Debug, Clone, Default)]
pub(crate) struct Robot {
    pub name: String,
    pub links: Vec<Link>,
    pub joints: Vec<Hinge>,
}

/// A link.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    pub name: String,
    pub at: Range<usize>,
    pub inertial: Option<Inertial>,
    /// Its collision shapes, or the visual ones where it has none.
    pub shapes: Vec<Part>,
    pub color: Option<[u8; 3]>,
}

/// Mass of a link.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inertial {
    pub frame: Frame,
    /// [kg]
    pub mass: f64,
    /// About the origin of the frame, along its axes [kg m²].
    pub inertia: DMat3,
}

/// A shape of a link.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub frame: Frame,
    pub form: Form,
    pub at: Range<usize>,
}

/// Shapes of URDF.
#[derive(Debug, Clone)]
pub(crate) enum Form {
    Solid(Geometry),
    Mesh { file: String, scale: f64 },
}

/// A joint of a robot.
#[derive(Debug, Clone)]
pub(crate) struct Hinge {
    pub name: String,
    pub at: Range<usize>,
    /// `None`: the child moves freely.
    pub kind: Option<JointKind>,
    pub parent: usize,
    pub child: usize,
    pub frame: Frame,
    pub axis: DVec3,
    pub limits: Option<[f64; 2]>,
    /// Largest force [N or N·m] and speed [m/s or rad/s]; infinite without.
    pub effort: f64,
    pub speed: f64,
    pub damping: f64,
}

/// Reads a file; all its errors are reported at once.
pub(crate) fn read(text: &str) -> Result<Robot, Vec<Fault>> {
    let document = Document::parse(text).map_err(|error| {
        let place = error.pos();
        let before = text.lines().take(place.row.saturating_sub(1) as usize);
        let start: usize = before.map(|line| line.len() + 1).sum();
        let start = (start + place.col.saturating_sub(1) as usize).min(text.len());
        vec![Fault {
            at: start..start,
            message: format!("not valid XML: {error}"),
            help: "correct the file, or export it again".into(),
        }]
    })?;
    let mut reader = Reader { faults: Vec::new() };
    let robot = reader.robot(document.root_element());
    match reader.faults.is_empty() {
        true => Ok(robot),
        false => Err(reader.faults),
    }
}

struct Reader {
    faults: Vec<Fault>,
}

impl Reader {
    fn fault(&mut self, at: Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        self.faults.push(Fault {
            at,
            message: message.into(),
            help: help.into(),
        });
    }

    /// Adds a fatal error; returns `None`.
    fn refuse<T>(
        &mut self,
        at: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Option<T> {
        self.fault(at, message, help);
        None
    }

    fn robot(&mut self, root: Node<'_, '_>) -> Robot {
        if !root.has_tag_name("robot") {
            let message = format!("expected <robot>, found <{}>", root.tag_name().name());
            let help = "a URDF file has <robot> as its outermost element";
            self.fault(opening(&root), message, help);
            return Robot::default();
        }
        let colors = root.children().filter(|n| n.has_tag_name("material"));
        let colors: Vec<(&str, [u8; 3])> = colors
            .filter_map(|n| Some((n.attribute("name")?, rgba(&n)?)))
            .collect();
        let mut robot = Robot {
            name: root.attribute("name").unwrap_or("robot").to_owned(),
            ..Robot::default()
        };
        for node in root.children().filter(|n| n.has_tag_name("link")) {
            if let Some(link) = self.link(&node, &colors) {
                if robot.links.iter().any(|l| l.name == link.name) {
                    let message = format!("there is already a link named `{}`", link.name);
                    self.fault(opening(&node), message, "give each its own name");
                }
                robot.links.push(link);
            }
        }
        for node in root.children().filter(|n| n.has_tag_name("joint")) {
            if let Some(joint) = self.joint(&node, &robot.links) {
                if robot.joints.iter().any(|j| j.name == joint.name) {
                    let message = format!("there is already a joint named `{}`", joint.name);
                    self.fault(opening(&node), message, "give each its own name");
                }
                robot.joints.push(joint);
            }
        }
        if robot.links.is_empty() && self.faults.is_empty() {
            self.fault(opening(&root), "this robot has no links", "add a <link>");
        }
        self.one_tree(&robot, opening(&root));
        robot
    }

    /// Every link but the root has one parent and is connected to the root.
    fn one_tree(&mut self, robot: &Robot, at: Range<usize>) {
        if !self.faults.is_empty() {
            return;
        }
        let mut parents = vec![0; robot.links.len()];
        for joint in &robot.joints {
            parents[joint.child] += 1;
            if parents[joint.child] == 2 {
                let name = &robot.links[joint.child].name;
                let message = format!("link `{name}` is the child of two joints");
                let help = "URDF describes trees: close loops with a [[joint]] of the scene";
                self.fault(joint.at.clone(), message, help);
            }
        }
        let roots: Vec<&Link> = robot
            .links
            .iter()
            .zip(&parents)
            .filter(|(_, p)| **p == 0)
            .map(|(l, _)| l)
            .collect();
        if roots.len() != 1 && self.faults.is_empty() {
            let names: Vec<&str> = roots.iter().map(|l| l.name.as_str()).collect();
            let message = match names.is_empty() {
                true => "this robot has no root: its joints form a loop".to_owned(),
                false => format!("this robot has several roots: {}", names.join(", ")),
            };
            let help = "every link but one must be the child of a joint";
            self.fault(roots.last().map_or(at, |l| l.at.clone()), message, help);
            return;
        }
        let mut hangs: Vec<bool> = parents.iter().map(|p| *p == 0).collect();
        for _ in &robot.joints {
            for joint in &robot.joints {
                hangs[joint.child] |= hangs[joint.parent];
            }
        }
        if let Some((link, _)) = robot.links.iter().zip(&hangs).find(|(_, hangs)| !**hangs) {
            let message = format!("link `{}` is not connected to the root", link.name);
            let help = "its joints form a loop: connect one of them to the rest of the robot";
            self.fault(link.at.clone(), message, help);
        }
    }

    fn link(&mut self, node: &Node<'_, '_>, colors: &[(&str, [u8; 3])]) -> Option<Link> {
        let name = self.text(node, "name")?;
        let inertial = child(node, "inertial").and_then(|n| self.inertial(&n));
        let parts = |tag: &str| node.children().filter(|n| n.has_tag_name(tag)).collect();
        let mut shapes: Vec<Node<'_, '_>> = parts("collision");
        let visuals: Vec<Node<'_, '_>> = parts("visual");
        if shapes.is_empty() {
            shapes.clone_from(&visuals);
        }
        let color = visuals.iter().find_map(|v| {
            let material = child(v, "material")?;
            let named = material.attribute("name");
            let known = || colors.iter().find(|(name, _)| Some(*name) == named);
            rgba(&material).or_else(|| known().map(|(_, color)| *color))
        });
        Some(Link {
            name,
            at: opening(node),
            inertial,
            shapes: shapes.iter().filter_map(|n| self.part(n)).collect(),
            color,
        })
    }

    fn inertial(&mut self, node: &Node<'_, '_>) -> Option<Inertial> {
        let frame = self.origin(node)?;
        let mass = match child(node, "mass") {
            Some(mass) => self.number(&mass, "value", None)?,
            None => 0.0,
        };
        if mass < 0.0 {
            let help = "give a mass above 0, or leave out <inertial>";
            let message = format!("the mass of a link cannot be {mass} kg");
            return self.refuse(node.range(), message, help);
        }
        let zero = Some(0.0);
        let mut inertia = DMat3::ZERO;
        if let Some(i) = child(node, "inertia") {
            let mut get = |name: &str| self.number(&i, name, zero);
            let (xx, yy, zz) = (get("ixx")?, get("iyy")?, get("izz")?);
            let (xy, xz, yz) = (get("ixy")?, get("ixz")?, get("iyz")?);
            inertia = DMat3::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz]);
        }
        Some(Inertial {
            frame,
            mass,
            inertia,
        })
    }

    fn part(&mut self, node: &Node<'_, '_>) -> Option<Part> {
        let frame = self.origin(node)?;
        let geometry = child(node, "geometry").and_then(|g| g.first_element_child());
        let Some(shape) = geometry else {
            let help = "put a <box>, <cylinder>, <sphere>, <capsule> or <mesh> into its <geometry>";
            return self.refuse(opening(node), "this element has no shape", help);
        };
        let form = match shape.tag_name().name() {
            "box" => {
                let half = 0.5 * DVec3::from(self.sizes(&shape, "size")?);
                Form::Solid(Geometry::cuboid(-half.as_vec3(), half.as_vec3()))
            }
            "sphere" => {
                let [radius] = self.sizes(&shape, "radius")?;
                Form::Solid(Geometry::sphere(Vec3::ZERO, radius as f32))
            }
            // Both have their axis along z.
            round @ ("cylinder" | "capsule") => {
                let [radius] = self.sizes(&shape, "radius")?;
                let [length] = self.sizes(&shape, "length")?;
                let (end, radius) = (Vec3::Z * (0.5 * length) as f32, radius as f32);
                Form::Solid(match round {
                    "cylinder" => Geometry::cylinder(-end, end, radius),
                    _ => Geometry::capsule(-end, end, radius),
                })
            }
            "mesh" => Form::Mesh {
                file: self.text(&shape, "filename")?,
                scale: self.mesh_scale(&shape)?,
            },
            other => {
                let message = format!("unknown shape <{other}>");
                let help = "use a box, cylinder, sphere, capsule or mesh";
                return self.refuse(shape.range(), message, help);
            }
        };
        Some(Part {
            frame,
            form,
            at: shape.range(),
        })
    }

    /// Lengths of a shape.
    fn sizes<const N: usize>(&mut self, shape: &Node<'_, '_>, key: &str) -> Option<[f64; N]> {
        let sizes = self.numbers(shape, key, None)?;
        self.usable(shape, sizes)
    }

    fn usable<const N: usize>(
        &mut self,
        shape: &Node<'_, '_>,
        sizes: [f64; N],
    ) -> Option<[f64; N]> {
        if sizes.iter().any(|s| *s < 1e-7 || *s > 1e6) {
            let help = "give sizes in meters, above 0";
            return self.refuse(shape.range(), "this shape has no size", help);
        }
        Some(sizes)
    }

    fn mesh_scale(&mut self, shape: &Node<'_, '_>) -> Option<f64> {
        let scale = self.vector(shape, "scale", Some(DVec3::ONE))?;
        if scale != DVec3::splat(scale.x) {
            let message = format!("non-uniform mesh scale {scale} is not supported");
            let help = "use the same scale for all axes, or scale the mesh in its file";
            return self.refuse(shape.range(), message, help);
        }
        self.usable(shape, [scale.x]).map(|[scale]| scale)
    }

    fn joint(&mut self, node: &Node<'_, '_>, links: &[Link]) -> Option<Hinge> {
        let name = self.text(node, "name")?;
        let word = self.text(node, "type")?;
        let kind = match word.as_str() {
            "revolute" | "continuous" => Some(JointKind::Revolute),
            "prismatic" => Some(JointKind::Prismatic),
            "fixed" => Some(JointKind::Fixed),
            "floating" => None,
            other => {
                let message = format!("joint `{name}` has the unknown type `{other}`");
                let help = "use revolute, continuous, prismatic, fixed or floating";
                return self.refuse(opening(node), message, help);
            }
        };
        let parent = self.link_of(node, "parent", links);
        let below = self.link_of(node, "child", links);
        let frame = self.origin(node)?;
        let axis = match child(node, "axis") {
            Some(axis) => self.vector(&axis, "xyz", None)?,
            None => DVec3::X,
        };
        let Some(axis) = axis.try_normalize() else {
            let help = "give an <axis> that is not zero";
            return self.refuse(opening(node), format!("joint `{name}` has no axis"), help);
        };
        let (mut limits, mut effort, mut speed) = (None, f64::INFINITY, f64::INFINITY);
        if let Some(limit) = child(node, "limit") {
            let zero = Some(0.0);
            let (low, high) = (
                self.number(&limit, "lower", zero)?,
                self.number(&limit, "upper", zero)?,
            );
            let given = limit.has_attribute("lower") || limit.has_attribute("upper");
            if low > high {
                let message = format!("the limits of joint `{name}` are empty: {low} to {high}");
                return self.refuse(limit.range(), message, "put the smaller one into `lower`");
            }
            let bounded = given && word != "continuous";
            limits = bounded.then_some([low, high]);
            // Files write zero for an unknown value.
            let known = |x: f64| if x > 0.0 { x } else { f64::INFINITY };
            effort = known(self.number(&limit, "effort", zero)?);
            speed = known(self.number(&limit, "velocity", zero)?);
        }
        let damping = match child(node, "dynamics") {
            Some(dynamics) => self.number(&dynamics, "damping", Some(0.0))?.max(0.0),
            None => 0.0,
        };
        Some(Hinge {
            name,
            at: opening(node),
            kind,
            parent: parent?,
            child: below?,
            frame,
            axis,
            limits,
            effort,
            speed,
            damping,
        })
    }

    fn link_of(&mut self, joint: &Node<'_, '_>, tag: &str, links: &[Link]) -> Option<usize> {
        let Some(node) = child(joint, tag) else {
            let help = format!("add <{tag} link=\"…\"/>");
            return self.refuse(opening(joint), format!("this joint has no {tag}"), help);
        };
        let name = self.text(&node, "link")?;
        let found = links.iter().position(|l| l.name == name);
        if found.is_none() {
            let help = crate::errors::suggestion(&name, links.iter().map(|l| l.name.as_str()));
            let message = format!("there is no link named `{name}`");
            self.fault(node.range(), message, help);
        }
        found
    }

    fn text(&mut self, node: &Node<'_, '_>, key: &str) -> Option<String> {
        let found = node.attribute(key).filter(|t| !t.trim().is_empty());
        if found.is_none() {
            let tag = node.tag_name().name();
            let message = format!("this <{tag}> has no `{key}`");
            self.fault(opening(node), message, format!("add {key}=\"…\""));
        }
        found.map(str::to_owned)
    }

    fn number(&mut self, node: &Node<'_, '_>, key: &str, default: Option<f64>) -> Option<f64> {
        self.numbers::<1>(node, key, default.map(|d| [d]))
            .map(|n| n[0])
    }

    fn vector(&mut self, node: &Node<'_, '_>, key: &str, default: Option<DVec3>) -> Option<DVec3> {
        let default = default.map(|d| d.to_array());
        self.numbers::<3>(node, key, default).map(DVec3::from_array)
    }

    fn numbers<const N: usize>(
        &mut self,
        node: &Node<'_, '_>,
        key: &str,
        default: Option<[f64; N]>,
    ) -> Option<[f64; N]> {
        let Some(attribute) = node.attribute_node(key) else {
            if default.is_none() {
                let message = format!("this <{}> has no `{key}`", node.tag_name().name());
                self.fault(opening(node), message, format!("add {key}=\"…\""));
            }
            return default;
        };
        let words = attribute.value().split_whitespace();
        let numbers: Option<Vec<f64>> = words.map(|w| w.parse().ok()).collect();
        let usable = |n: &Vec<f64>| n.iter().all(|x| x.abs() <= LARGEST);
        let found = numbers.filter(usable).and_then(|n| n.try_into().ok());
        if found.is_none() {
            let message = format!("`{key}` is \"{}\"", attribute.value());
            let help = match N {
                1 => "write one number, in SI units".to_owned(),
                _ => format!("write {N} numbers separated by spaces, in SI units"),
            };
            self.fault(attribute.range(), message, help);
        }
        found
    }

    fn origin(&mut self, node: &Node<'_, '_>) -> Option<Frame> {
        let Some(origin) = child(node, "origin") else {
            return Some(Frame::default());
        };
        let position = self.vector(&origin, "xyz", Some(DVec3::ZERO));
        let [roll, pitch, yaw] = self.vector(&origin, "rpy", Some(DVec3::ZERO))?.to_array();
        Some(Frame {
            position: position?,
            rotation: DQuat::from_euler(EulerRot::ZYX, yaw, pitch, roll),
        })
    }
}

fn child<'a, 'i>(node: &Node<'a, 'i>, tag: &str) -> Option<Node<'a, 'i>> {
    node.children().find(|n| n.has_tag_name(tag))
}

/// The opening tag of an element, which marks errors in it: the whole element may be long.
fn opening(node: &Node<'_, '_>) -> Range<usize> {
    let range = node.range();
    let text = node.document().input_text();
    let length = text[range.clone()].find('>').map_or(range.len(), |i| i + 1);
    range.start..range.start + length
}

fn rgba(material: &Node<'_, '_>) -> Option<[u8; 3]> {
    let color = child(material, "color")?.attribute("rgba")?;
    let parts = color.split_whitespace().take(3);
    let parts: Option<Vec<f64>> = parts.map(|p| p.parse().ok()).collect();
    // The cast saturates.
    let bytes: Vec<u8> = parts?.iter().map(|p| (p * 255.0).round() as u8).collect();
    bytes.try_into().ok()
}
