//! Robots from URDF files: their links and joints become bodies and joints of the scene.
//!
//! Links connected by fixed joints form one body. At the start every joint is at 0, or at the nearest limit.

use super::Builder;
use super::bodies::surface;
use super::node::{Node, Table};
use crate::bodies::*;
use crate::errors::{Place, suggestion};
use crate::geometry::Geometry;
use crate::mesh;
use crate::model::Dimensions;
use crate::motion::Track;
use crate::urdf::{self, Form, Frame, Hinge, Part, Robot};
use glam::{DMat3, DQuat, DVec3, Vec3};
use std::path::{Path, PathBuf};

/// Density of a base without mass that is fixed to the world [kg/m³]; it has no effect.
const BASE_DENSITY: f64 = 1000.0;

/// A robot with its file and its table in the scene.
struct File<'a> {
    robot: Robot,
    name: String,
    table: &'a Table,
    /// Number of the text in the report.
    source: usize,
    folder: PathBuf,
}

impl File<'_> {
    fn place(&self, at: &std::ops::Range<usize>) -> Place {
        Place::new(self.source, at.clone())
    }
}

/// Links that move as one.
struct Group {
    /// The link through which the others are connected to the rest of the robot.
    root: usize,
    links: Vec<usize>,
    /// The joint above it.
    joint: Option<usize>,
}

impl Builder<'_> {
    /// Adds the bodies and joints of `[[urdf]]`.
    pub fn robots(
        &mut self,
        document: &Table,
        names: &mut Vec<String>,
        bodies: &mut Vec<Option<Body>>,
        joints: &mut Vec<Option<Joint>>,
    ) {
        let unmoved = names.len() - bodies.len().min(names.len());
        for node in document.list("urdf") {
            let Some(file) = self.robot_file(node, names) else {
                if !self.viewing {
                    bodies.push(None);
                }
                continue;
            };
            let (groups, frames) = groups(&file.robot, self.root_frame(&file));
            let mut ends = vec![JointEnd::World; file.robot.links.len()];
            for group in &groups {
                let index = unmoved + bodies.len();
                let Some(body) = self.link_body(&file, group, &frames) else {
                    continue;
                };
                for link in &group.links {
                    ends[*link] = JointEnd::Solid(index);
                }
                names.push(format!(
                    "{}/{}",
                    file.name, file.robot.links[group.root].name
                ));
                bodies.push(body);
            }
            self.robot_joints(&file, &groups, &frames, &ends, joints);
        }
    }

    fn robot_file<'a>(&mut self, node: &'a Node, names: &[String]) -> Option<File<'a>> {
        let table = node.table()?;
        let at = table.at("file", node.at);
        if self.dimensions == Dimensions::Two {
            let help = "set dimensions = 3, or describe it with [[body]] and [[joint]]";
            return self
                .report
                .refuse(node.at, "a robot needs three dimensions", help);
        }
        let file = table.text("file")?;
        let path = self.directory.join(file);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => {
                let message = format!("cannot read the robot {}: {error}", path.display());
                let help = "paths are relative to the folder of the scene file";
                return self.refuse_mesh(at, message, help);
            }
        };
        let source = self.report.add_source(file, &text);
        let robot = match urdf::read(&text) {
            Ok(robot) => robot,
            Err(faults) => {
                for fault in faults {
                    let place = Place::new(source, fault.at);
                    self.refuse_mesh::<()>(place, fault.message, fault.help);
                }
                return None;
            }
        };
        self.remember(file, || blake3::hash(text.as_bytes()).to_hex().to_string());
        let name = table.text("name").unwrap_or(&robot.name).to_owned();
        let first = robot.links.first().map(|l| format!("{name}/{}", l.name));
        if first.is_some_and(|first| names.contains(&first)) {
            let message = format!("there is already a robot named `{name}`");
            let help = "give each its own `name`";
            return self.report.refuse(table.at("name", node.at), message, help);
        }
        Some(File {
            robot,
            name,
            table,
            source,
            folder: path.parent().map(Path::to_owned).unwrap_or_default(),
        })
    }

    /// Pose of the root of a robot in the world.
    fn root_frame(&mut self, file: &File<'_>) -> Frame {
        let up = match file.table.text("up") {
            Some("y") => DQuat::IDENTITY,
            _ => DQuat::from_rotation_x(-std::f64::consts::FRAC_PI_2),
        };
        Frame {
            position: file.table.vector("position").unwrap_or_default(),
            rotation: self.rotate(file.table).unwrap_or_default() * up,
        }
    }

    /// The body of a group of links: `None` for a mere frame fixed to the world, `Some(None)` after an error.
    fn link_body(
        &mut self,
        file: &File<'_>,
        group: &Group,
        frames: &[Frame],
    ) -> Option<Option<Body>> {
        let links = group
            .links
            .iter()
            .map(|l| (&file.robot.links[*l], &frames[*l]));
        let (mut shapes, mut mass, mut good) = (Vec::new(), None::<MassProperties>, true);
        for (link, frame) in links {
            for part in &link.shapes {
                let shape = self.link_shape(file, part, frame);
                good &= shape.is_some();
                shapes.extend(shape);
            }
            if let Some(own) = link.inertial.filter(|i| i.mass > 0.0) {
                let at = frame.then(&own.frame);
                let turn = DMat3::from_quat(at.rotation);
                let own = MassProperties {
                    mass: own.mass,
                    center: at.position,
                    inertia: turn * own.inertia * turn.transpose(),
                };
                mass = Some(mass.map_or(own, |m| m.plus(&own)));
            }
        }
        let root = &file.robot.links[group.root];
        let is_base = group.joint.is_none() && file.table.flag("fixed_base").unwrap_or(true);
        if is_base && mass.is_none() && shapes.is_empty() && good {
            return None;
        }
        if !good {
            return Some(None);
        }
        let shape = match shapes.len() {
            1 => shapes.remove(0),
            _ => Geometry::union(shapes),
        };
        let density = file.table.number("density");
        let density = density.or(is_base.then_some(BASE_DENSITY));
        let guessed = || {
            let moments = shape.moments(self.dimensions)?;
            Some(MassProperties::of_density(&moments, density?))
        };
        let Some(mass) = mass.or_else(guessed) else {
            let message = format!("link `{}` moves but has no mass", root.name);
            let help = "give it an <inertial> with a mass, or [[urdf]] a `density`";
            self.report.error(file.place(&root.at), message, help);
            return Some(None);
        };
        let Some(mass) = with_inertia(mass, &shape, self.dimensions) else {
            let message = format!("link `{}` has a physically impossible inertia", root.name);
            let help = "its principal moments must be positive, none above the sum of the others";
            self.report.error(file.place(&root.at), message, help);
            return Some(None);
        };
        let mut surface = surface(format!("{}/{}", file.name, root.name), shape, file.table);
        if surface.color.is_none() {
            let links = group.links.iter().map(|l| &file.robot.links[*l]);
            surface.color = links.filter_map(|l| l.color).next();
        }
        Some(Some(Body {
            surface,
            mass,
            restitution: 0.0,
            velocity: Vec3::ZERO,
            spin: Vec3::ZERO,
            collides: file.table.flag("collides").unwrap_or(true),
        }))
    }

    /// A shape of a link in the world.
    fn link_shape(&mut self, file: &File<'_>, part: &Part, link: &Frame) -> Option<Geometry> {
        let shape = match &part.form {
            Form::Solid(shape) => shape.clone(),
            Form::Mesh { file: name, scale } => self.link_mesh(file, name, *scale as f32, part)?,
        };
        let at = link.then(&part.frame);
        Some(shape.transformed(at.rotation.as_quat(), at.position.as_vec3(), 1.0))
    }

    fn link_mesh(
        &mut self,
        file: &File<'_>,
        name: &str,
        scale: f32,
        part: &Part,
    ) -> Option<Geometry> {
        let at = file.place(&part.at);
        let Some(path) = mesh_path(&file.folder, name) else {
            let message = format!("there is no mesh file {name}");
            let help = "paths are relative to the folder of the URDF file; package:// names a folder above it";
            return self.refuse_mesh(at, message, help);
        };
        let help = "use OBJ, STL, PLY or glTF with a closed surface, or simpler <collision> shapes";
        let mesh = mesh::load_mesh(&path, false);
        let mesh = self.scaled_mesh(mesh, name, scale, at, help)?;
        let longest = mesh.bounds().size().max_element();
        let voxel = (self.voxel() as f32).clamp(longest / 192.0, longest / 32.0);
        Some(Geometry::mesh(&mesh, voxel))
    }

    fn robot_joints(
        &mut self,
        file: &File<'_>,
        groups: &[Group],
        frames: &[Frame],
        ends: &[JointEnd],
        joints: &mut Vec<Option<Joint>>,
    ) {
        let settings = self.joint_settings(file);
        for group in groups {
            let end = ends[group.root];
            let Some(hinge) = group.joint.map(|j| &file.robot.joints[j]) else {
                let fixed = file.table.flag("fixed_base").unwrap_or(true);
                if fixed && end != JointEnd::World {
                    joints.push(Some(base_joint(file, end, frames[group.root].position)));
                }
                continue;
            };
            let Some(kind) = hinge.kind else { continue };
            let setting = settings.iter().find(|(name, _)| *name == hinge.name);
            let frame = frames[group.root];
            let ends = [ends[hinge.parent], end];
            let setting = setting.map(|(_, t)| *t);
            joints.push(self.robot_joint(file, kind, hinge, ends, frame, setting));
        }
    }

    /// The tables of `[[urdf.joint]]` by the joint that they name.
    fn joint_settings<'a>(&mut self, file: &File<'a>) -> Vec<(&'a str, &'a Table)> {
        let mut settings: Vec<(&str, &Table)> = Vec::new();
        let moving = file.robot.joints.iter();
        let moving = moving.filter(|j| j.kind.is_some_and(JointKind::is_single));
        let known: Vec<&str> = moving.map(|j| j.name.as_str()).collect();
        for node in file.table.list("joint") {
            let Some((table, name)) = node.table().and_then(|t| Some((t, t.text("name")?))) else {
                continue;
            };
            let at = table.at("name", node.at);
            if !known.contains(&name) {
                let message = format!("the robot has no joint named `{name}` that moves");
                let help = suggestion(name, known.iter().copied());
                self.report.error(at, message, help);
            } else if settings.iter().any(|(n, _)| *n == name) {
                let message = format!("joint `{name}` is listed twice");
                self.report.error(at, message, "keep one of them");
            }
            settings.push((name, table));
        }
        settings
    }

    fn robot_joint(
        &mut self,
        file: &File<'_>,
        kind: JointKind,
        hinge: &Hinge,
        ends: [JointEnd; 2],
        frame: Frame,
        setting: Option<&Table>,
    ) -> Option<Joint> {
        let name = format!("{}/{}", file.name, hinge.name);
        let (mut motor, mut control) = (None, None);
        if let Some(table) = setting {
            motor = table.optional("motor", |node| self.motor(kind, node))?;
            control = table.optional("control", |node| self.control(&name, kind, node))?;
        }
        if motor.is_none() && control.is_some() {
            motor = Some(Motor::hold());
        }
        if let Some(motor) = &mut motor {
            motor.max_force = motor.max_force.min(hinge.effort);
            motor.max_speed = hinge.speed;
        }
        let from = start(hinge);
        // Limits beyond half a turn are not supported.
        let limits = hinge.limits.map(|l| l.map(|x| x - from));
        let turns = |l: &[f64; 2]| l.iter().any(|x| x.abs() > std::f64::consts::PI);
        let limits = limits.filter(|l| kind == JointKind::Prismatic || !turns(l));
        Some(Joint {
            name,
            kind,
            ends,
            anchor: frame.position,
            axis: frame.rotation * hinge.axis,
            limits,
            damping: hinge.damping,
            motor,
            control,
            release: f64::INFINITY,
        })
    }
}

fn base_joint(file: &File<'_>, end: JointEnd, anchor: DVec3) -> Joint {
    Joint {
        name: format!("{}/base", file.name),
        kind: JointKind::Fixed,
        ends: [JointEnd::World, end],
        anchor,
        axis: DVec3::Z,
        limits: None,
        damping: 0.0,
        motor: None,
        control: None,
        release: f64::INFINITY,
    }
}

impl Motor {
    /// A motor that keeps the joint where it is until someone drives it.
    pub(crate) fn hold() -> Self {
        Self {
            drive: Drive::Velocity(Track::constant(0.0)),
            stiffness: None,
            damping: None,
            max_force: f64::INFINITY,
            max_speed: f64::INFINITY,
        }
    }
}

/// Initial position of a joint: 0, or the nearest limit.
fn start(hinge: &Hinge) -> f64 {
    hinge
        .limits
        .map_or(0.0, |[low, high]| 0f64.clamp(low, high))
}

/// Links that fixed joints hold together, from the root outward, and the frame of each link in the world at the start.
fn groups(robot: &Robot, root_frame: Frame) -> (Vec<Group>, Vec<Frame>) {
    let mut frames = vec![root_frame; robot.links.len()];
    let is_child = |l: usize| robot.joints.iter().any(|j| j.child == l);
    let Some(root) = (0..robot.links.len()).find(|l| !is_child(*l)) else {
        return (Vec::new(), frames);
    };
    let mut groups = vec![Group {
        root,
        links: vec![root],
        joint: None,
    }];
    let mut open = vec![(root, 0)];
    while let Some((link, group)) = open.pop() {
        let below = robot.joints.iter().enumerate();
        for (index, joint) in below.filter(|(_, j)| j.parent == link) {
            frames[joint.child] = frames[link].then(&joint.frame).then(&moved(joint));
            let group = match joint.kind {
                Some(JointKind::Fixed) => {
                    groups[group].links.push(joint.child);
                    group
                }
                _ => {
                    groups.push(Group {
                        root: joint.child,
                        links: vec![joint.child],
                        joint: Some(index),
                    });
                    groups.len() - 1
                }
            };
            open.push((joint.child, group));
        }
    }
    (groups, frames)
}

/// Frame of the child of a joint at the start, relative to that at position 0.
fn moved(joint: &Hinge) -> Frame {
    let mut moved = Frame::default();
    match joint.kind {
        Some(JointKind::Revolute) => {
            moved.rotation = DQuat::from_axis_angle(joint.axis, start(joint));
        }
        Some(JointKind::Prismatic) => moved.position = joint.axis * start(joint),
        _ => {}
    }
    moved
}

/// The file of a mesh: beside the URDF file, or below one of the folders above it for `package://`.
fn mesh_path(folder: &Path, name: &str) -> Option<PathBuf> {
    let plain = name.strip_prefix("file://").unwrap_or(name);
    let Some(packaged) = name.strip_prefix("package://") else {
        return Some(folder.join(plain)).filter(|p| p.is_file());
    };
    let inside = packaged.split_once('/').map_or(packaged, |(_, rest)| rest);
    let above = folder.ancestors().take(4);
    let candidates = above.flat_map(|a| [a.join(packaged), a.join(inside)]);
    candidates.into_iter().find(|p| p.is_file())
}

/// Mass properties with a physically possible inertia: zero is replaced by the inertia of the shape, or of a small ball.
/// `None` if the inertia is impossible.
fn with_inertia(mass: MassProperties, shape: &Geometry, d: Dimensions) -> Option<MassProperties> {
    let mut mass = mass;
    if mass.inertia == DMat3::ZERO {
        let moments = shape.moments(d);
        let own = moments.map(|m| MassProperties::of_density(&m, 1.0).with_mass(mass.mass));
        let ball = DMat3::from_diagonal(DVec3::splat(0.4 * mass.mass * 1e-4));
        mass.inertia = own.map_or(ball, |own| own.inertia);
    }
    let i = mass.inertia;
    let minors = [
        i.x_axis.x,
        i.x_axis.x * i.y_axis.y - i.x_axis.y * i.y_axis.x,
        i.determinant(),
    ];
    // Rounded values of flat bodies just miss the triangle inequality.
    let trace = i.x_axis.x + i.y_axis.y + i.z_axis.z;
    let largest = i.x_axis.x.max(i.y_axis.y).max(i.z_axis.z);
    let possible = minors.iter().all(|m| *m > 0.0) && largest <= 0.55 * trace;
    (possible && mass.mass.is_finite()).then_some(mass)
}
