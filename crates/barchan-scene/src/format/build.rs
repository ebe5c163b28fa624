//! A checked document → the scene.

use super::Builder;
use super::bodies::{Holds, surface, vector};
use super::node::{Node, Table};
use crate::errors::{Place, Places};
use crate::families::COLUMNS;
use crate::geometry::Bounds;
use crate::model::*;
use glam::DVec2;

/// Largest length of a scene's name: it becomes a directory.
const NAME_LENGTH: usize = 100;

impl Builder<'_> {
    /// The scene, or `None` after reporting errors. `stem` is the name of the file.
    pub fn scene(&mut self, document: &Table, at: Place, stem: &str) -> Option<Scene> {
        self.substances(document);
        let name = self.scene_name(document, stem);
        let gravity = self.gravity(document);
        let domain = document.optional("domain", |node| self.box_of(node));
        let periodic = self.periodic(document);
        let solver = self.solver(document);
        let mut names = Vec::new();
        let colliders = self.named(document, "collider", &mut names, Self::collider);
        let unmoved = names.len();
        // Joints name colliders and bodies alike.
        let mut bodies = self.named(document, "body", &mut names, Self::body);
        let centers = bodies.iter().map(|b| b.as_ref().map(|b| b.mass.center));
        let holds = Holds {
            names: names.clone(),
            centers: std::iter::repeat_n(None, unmoved).chain(centers).collect(),
        };
        let mut joints = self.own(document, "joint", |builder, name, table, at| {
            builder.joint(name, table, at, &holds)
        });
        self.robots(document, &mut names, &mut bodies, &mut joints);
        let start = document.optional("start", |node| self.start(node));
        let fills = self.own(document, "fill", Self::fill);
        let emitters = self.own(document, "emitter", Self::emitter);
        let drains = self.own(document, "drain", Self::drain);
        let wettings = self.own(document, "wetting", Self::wetting);
        let terrain = self.terrain(document);
        let check = self.check(document);
        let camera = document.optional("camera", |node| self.camera(node));
        self.something_to_simulate(document, at);

        if !self.viewing {
            // Only parts that were read without errors are checked against each other.
            let free = bodies.iter().flatten().map(|b| &b.surface);
            let solids: Vec<Collider> = colliders.iter().flatten().chain(free).cloned().collect();
            self.place(document, &fills, &emitters, &solids, domain.flatten());
        }
        if self.viewing
            && colliders.iter().any(Option::is_none) | bodies.iter().any(Option::is_none)
        {
            // Joints refer to the bodies by index; they are not needed to view a result.
            joints.clear();
        }
        Some(Scene {
            name: name?,
            description: document.text("description").unwrap_or_default().to_owned(),
            dimensions: self.dimensions,
            frames: u32::try_from(document.integer("frames").unwrap_or(120)).ok()?,
            frame_rate: document
                .number("frame_rate")
                .unwrap_or(self.family.frame_rate),
            seed: u64::try_from(document.integer("seed").unwrap_or(1)).ok()?,
            domain: domain?,
            periodic,
            gravity: gravity?,
            materials: self
                .substances
                .drain(..)
                .map(|s| s.material)
                .collect::<Option<_>>()?,
            start: start?,
            fills: self.parts(fills)?,
            emitters: self.parts(emitters)?,
            colliders: self.parts(colliders)?,
            bodies: self.parts(bodies)?,
            joints: self.parts(joints)?,
            drains: self.parts(drains)?,
            wettings: self.parts(wettings)?,
            terrain: terrain?,
            solver,
            camera: camera?,
            columns: output_columns(document),
            check: check?,
            meshes: std::mem::take(&mut self.meshes),
            document: String::new(),
            places: Places::default(),
        })
    }

    /// Checks fills and emitters against what surrounds them.
    fn place(
        &mut self,
        document: &Table,
        fills: &[Option<Fill>],
        emitters: &[Option<Emitter>],
        bodies: &[Collider],
        domain: Option<Bounds>,
    ) {
        for (node, fill) in document.list("fill").iter().zip(fills) {
            if let (Some(table), Some(fill)) = (node.table(), fill) {
                let at = table.at("shape", node.at);
                self.place_fill(fill, bodies, domain.as_ref(), at);
            }
        }
        for (node, emitter) in document.list("emitter").iter().zip(emitters) {
            if let (Some(table), Some(emitter)) = (node.table(), emitter) {
                let substance = self.substances[emitter.material].material.as_ref();
                let density = substance.map(|m| m.density);
                let at = table.at("shape", node.at);
                let places = [at, table.at("rate", at)];
                self.place_emitter(emitter, density, bodies, domain.as_ref(), places);
            }
        }
    }

    /// All parts; `None` if one is invalid. For viewing, parts whose mesh is missing are omitted instead.
    fn parts<T>(&self, parts: Vec<Option<T>>) -> Option<Vec<T>> {
        match self.viewing {
            true => Some(parts.into_iter().flatten().collect()),
            false => parts.into_iter().collect(),
        }
    }

    fn scene_name(&mut self, document: &Table, stem: &str) -> Option<String> {
        let Some(node) = document.get("name") else {
            let name = if can_name(stem) { stem } else { "scene" };
            return Some(name.to_owned());
        };
        let name = node.text()?;
        if !can_name(name) {
            return self.report.refuse(
                node.at,
                format!("{name:?} cannot be the name of a scene"),
                "it becomes the name of a directory: use letters, digits, spaces and dashes, 100 at most",
            );
        }
        Some(name.to_owned())
    }

    fn something_to_simulate(&mut self, document: &Table, at: Place) {
        let has = |key: &str| {
            let node = document.get(key);
            node.is_some_and(|n| n.list().is_none_or(|l| !l.is_empty()))
        };
        if !["fill", "emitter", "start", "terrain"].into_iter().any(has) {
            self.report.error(
                Place {
                    end: at.start,
                    ..at
                },
                "there is nothing to simulate: the scene has neither a fill nor an emitter",
                "add [[fill]] with a shape and a material",
            );
        }
    }

    fn start(&mut self, node: &Node) -> Option<Start> {
        let table = node.table()?;
        let result = table.text("result")?;
        if result.trim().is_empty() {
            let help = "name the directory of a result, relative to the scene file";
            let at = table.at("result", node.at);
            return self.report.refuse(at, "`start.result` is empty", help);
        }
        let result_at = table.at("result", node.at);
        Some(Start {
            result: result.to_owned(),
            path: self.directory.join(result),
            frame: table.optional("frame", Node::count)?,
            result_mark: self.report.mark(result_at),
            frame_mark: self.report.mark(table.at("frame", result_at)),
        })
    }

    /// Axes along which the domain repeats.
    fn periodic(&mut self, document: &Table) -> [bool; 3] {
        let domain = document.table("domain");
        let words = domain.map_or(&[][..], |d| d.list("periodic"));
        let flat = self.dimensions == Dimensions::Two;
        if let Some(z) = words.iter().find(|w| flat && w.text() == Some("z")) {
            self.report.error(
                z.at,
                "a 2D scene has no z axis along which it could repeat",
                "leave out \"z\"",
            );
        }
        ["x", "y", "z"].map(|axis| words.iter().any(|w| w.text() == Some(axis)))
    }

    /// A box by `min` and `max`; given as [x, y] it is a slab 1 m thick.
    fn box_of(&mut self, node: &Node) -> Option<Bounds> {
        let table = node.table()?;
        let (mut min, mut max) = (table.vector("min")?, table.vector("max")?);
        if table.list("min").len() == 2 && table.list("max").len() == 2 {
            (min.z, max.z) = (-0.5, 0.5);
        }
        self.bounds(min, max, false, table.at("max", node.at))
    }

    /// Reads a list of tables with names that are unique in their kind; `None` for each invalid one.
    fn own<T>(
        &mut self,
        document: &Table,
        kind: &str,
        read: impl FnMut(&mut Self, String, &Table, Place) -> Option<T>,
    ) -> Vec<Option<T>> {
        self.named(document, kind, &mut Vec::new(), read)
    }

    /// The same with names that are already `taken`.
    fn named<T>(
        &mut self,
        document: &Table,
        kind: &str,
        taken: &mut Vec<String>,
        mut read: impl FnMut(&mut Self, String, &Table, Place) -> Option<T>,
    ) -> Vec<Option<T>> {
        let nodes = document.list(kind).iter().enumerate();
        nodes
            .map(|(i, node)| {
                let table = node.table()?;
                let name = self.part_name(kind, i, table, taken);
                read(self, name, table, node.at)
            })
            .collect()
    }

    /// The name of the part with that number; `taken` are those of its kind so far.
    fn part_name(
        &mut self,
        kind: &str,
        index: usize,
        table: &Table,
        taken: &mut Vec<String>,
    ) -> String {
        let name = table.text("name").map(str::to_owned);
        let name = name.unwrap_or_else(|| format!("{kind} {index}"));
        if let Some(node) = table.get("name") {
            if taken.contains(&name) {
                self.report.error(
                    node.at,
                    format!("there is already a {kind} named `{name}`"),
                    "give each its own name",
                );
            } else if name.trim().is_empty() && !node.is_bad() {
                let message = format!("this {kind} has an empty name");
                self.report
                    .error(node.at, message, "name it, or leave out `name`");
            }
        }
        taken.push(name.clone());
        name
    }

    fn collider(&mut self, name: String, table: &Table, _: Place) -> Option<Collider> {
        let (shape, motion) = (self.shape_of(table), self.motion(table));
        Some(Collider {
            motion: motion?,
            look: table.choice("look"),
            ..surface(name, shape?, table)
        })
    }

    fn fill(&mut self, name: String, table: &Table, _: Place) -> Option<Fill> {
        let (shape, material) = (self.shape_of(table), self.material_of(table));
        self.in_plane(table, "velocity");
        self.spin_in_plane(table);
        let shape = shape?;
        let bounds = shape.bounds();
        let center = (0.5 * (bounds.min + bounds.max)).as_dvec3();
        Some(Fill {
            name,
            shape,
            material: material?,
            velocity: vector(table, "velocity"),
            spin: vector(table, "spin"),
            spin_center: table.or("spin_center", center, Node::vector)?.as_vec3(),
            sampling: table.choice("sampling").unwrap_or(self.family.sampling),
        })
    }

    pub fn spin_in_plane(&mut self, table: &Table) {
        let leaves = |n: &&Node| {
            n.vector()
                .is_some_and(|spin| spin.truncate() != DVec2::ZERO)
        };
        let spin = table.get("spin").filter(leaves);
        if let (Some(node), Dimensions::Two) = (spin, self.dimensions) {
            self.report.error(
                node.at,
                "in a 2D scene spin is about z only",
                "write spin = [0, 0, rad/s]",
            );
        }
    }

    fn emitter(&mut self, name: String, table: &Table, at: Place) -> Option<Emitter> {
        let (shape, material) = (self.shape_of(table), self.material_of(table));
        let times = self.times(table);
        self.in_plane(table, "velocity");
        let velocity = table.vector("velocity")?;
        if velocity.length() < 1e-6 {
            return self.report.refuse(
                table.at("velocity", at),
                format!("emitter `{name}` has no velocity, so nothing leaves it"),
                "give a velocity that is not zero: grains leave along it",
            );
        }
        let (start, end) = times?;
        Some(Emitter {
            name,
            shape: shape?,
            material: material?,
            velocity: velocity.as_vec3(),
            rate: table.number("rate"),
            start,
            end,
        })
    }

    fn drain(&mut self, name: String, table: &Table, _: Place) -> Option<Drain> {
        let (shape, times) = (self.shape_of(table), self.times(table));
        let (start, end) = times?;
        Some(Drain {
            name,
            shape: shape?,
            start,
            end,
        })
    }

    fn wetting(&mut self, name: String, table: &Table, _: Place) -> Option<Wetting> {
        let shape = table.optional("shape", |node| self.shape(node));
        let (start, end) = self.times(table)?;
        Some(Wetting {
            name,
            shape: shape?,
            rate: table.number("rate").unwrap_or(1.0),
            start,
            end,
        })
    }

    fn check(&mut self, document: &Table) -> Option<FinalCheck> {
        let Some(node) = document.get("check") else {
            return Some(FinalCheck::default());
        };
        let table = node.table()?;
        let regions = table.list("mass_in").iter().map(|node| {
            Some(MassIn {
                bounds: self.box_of(node)?,
                part: node.table()?.pair("part")?,
            })
        });
        // All of them are read, so that all errors are reported.
        let regions: Vec<Option<MassIn>> = regions.collect();
        Some(FinalCheck {
            max_speed: table.number("max_speed"),
            slope_angle_deg: table.pair("slope_angle_deg"),
            runout_m: table.pair("runout_m"),
            height_m: table.pair("height_m"),
            mass_in: regions.into_iter().collect::<Option<_>>()?,
        })
    }
}

/// Whether it is a valid name of a directory on every system.
fn can_name(name: &str) -> bool {
    let bad = |c: char| c.is_control() || matches!(c, '/' | '\\' | ':');
    let empty = name.trim().is_empty() || name.starts_with('.');
    !empty && !name.contains(bad) && name.len() <= NAME_LENGTH
}

/// Columns that the scene requests, in the order of [`COLUMNS`] whatever the order in the file.
fn output_columns(document: &Table) -> Vec<&'static str> {
    let words = document
        .table("output")
        .map_or(&[][..], |o| o.list("columns"));
    let is_requested = |c: &&str| words.iter().any(|w| w.text() == Some(c));
    COLUMNS.iter().copied().filter(is_requested).collect()
}
