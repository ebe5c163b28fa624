//! Shapes of the scene file → compiled geometry.

use super::Builder;
use super::keys::SHAPE;
use super::node::{Entry, Node, Table};
use crate::errors::Place;
use crate::geometry::{Bounds, Geometry};
use crate::mesh::{self, MeshError, TriangleMesh};
use crate::model::{Dimensions, MeshFile};
use crate::numbers::rounded;
use glam::{DQuat, DVec3, Quat, Vec3};

/// Keys of a shape that define its kind; the others place it.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    let names = SHAPE.iter().map(|key| key.name);
    names.filter(|name| !["scale", "rotate", "translate"].contains(name))
}

/// Maximum number of voxels along the longest side of a mesh.
const MESH_VOXELS: f32 = 240.0;

impl Builder<'_> {
    /// The shape under `shape` of a table; `None` after reporting an error.
    pub fn shape_of(&mut self, table: &Table) -> Option<Geometry> {
        self.shape(table.get("shape")?)
    }

    pub fn shape(&mut self, node: &Node) -> Option<Geometry> {
        let table = node.table()?;
        let is_kind = |e: &&Entry| kinds().any(|kind| kind == e.key);
        let mut found = table.entries.iter().filter(is_kind);
        let kind = match (found.next(), found.next()) {
            (Some(kind), None) => kind,
            (Some(first), Some(second)) => {
                return self.report.refuse(
                    second.key_at,
                    format!(
                        "a shape has one kind, but this one has `{}` and `{}`",
                        first.key, second.key
                    ),
                    "keep one of them, or join them: { union = [{ … }, { … }] }",
                );
            }
            (None, _) => {
                return self.report.refuse(
                    node.at,
                    "this shape has no kind",
                    format!("give it one of {}", crate::errors::list(kinds())),
                );
            }
        };
        let geometry = match kind.key.as_str() {
            "union" | "difference" | "intersection" => self.combination(&kind.key, &kind.node),
            name => self.primitive(name, &kind.node),
        };
        let rotation = self.rotate(table)?.as_quat();
        let translation = table.vector("translate").unwrap_or_default().as_vec3();
        let scale = table.number("scale").unwrap_or(1.0) as f32;
        let geometry = geometry?;
        let moved = rotation != Quat::IDENTITY || translation != Vec3::ZERO || scale != 1.0;
        Some(if moved {
            geometry.transformed(rotation, translation, scale)
        } else {
            geometry
        })
    }

    /// The rotation under `rotate`; none where there is none.
    pub fn rotate(&mut self, table: &Table) -> Option<DQuat> {
        let rotation = table.optional("rotate", |node| {
            let axis = self.direction(node.table()?, "axis", DVec3::Y, node.at)?;
            let angle = node.table()?.number("angle")?.to_radians();
            Some(DQuat::from_axis_angle(axis, angle))
        });
        rotation.map(Option::unwrap_or_default)
    }

    fn combination(&mut self, kind: &str, node: &Node) -> Option<Geometry> {
        let list = node.list()?;
        let least = if kind == "difference" { 2 } else { 1 };
        if list.len() < least {
            return self.report.refuse(
                node.at,
                format!("a {kind} of {} shapes is empty", list.len()),
                format!("list at least {least}"),
            );
        }
        let parts: Vec<Option<Geometry>> = list.iter().map(|n| self.shape(n)).collect();
        let mut parts = parts.into_iter().collect::<Option<Vec<Geometry>>>()?;
        Some(match kind {
            "union" => Geometry::union(parts),
            "intersection" => Geometry::intersection(parts),
            _ => Geometry::difference(parts.remove(0), parts),
        })
    }

    fn primitive(&mut self, kind: &str, node: &Node) -> Option<Geometry> {
        let table = node.table()?;
        match kind {
            "box" => self.cuboid(table, node.at),
            "sphere" => Some(Geometry::sphere(
                table.vector("center")?.as_vec3(),
                table.number("radius")? as f32,
            )),
            "cylinder" | "capsule" | "cone" => self.round(kind, table, node.at),
            "half_space" => {
                let normal = self.direction(table, "normal", DVec3::Y, node.at)?;
                let point = table.or("point", DVec3::ZERO, Node::vector)?;
                Some(Geometry::half_space(point.as_vec3(), normal.as_vec3()))
            }
            "torus" => {
                let axis = self.direction(table, "axis", DVec3::Y, node.at)?;
                Some(Geometry::torus(
                    table.vector("center")?.as_vec3(),
                    axis.as_vec3(),
                    table.number("radius")? as f32,
                    table.number("tube")? as f32,
                ))
            }
            "revolution" => self.revolution(table, node.at),
            _ => self.mesh(table, node.at),
        }
    }

    /// Normalizes a vector; zero is refused.
    pub fn direction(
        &mut self,
        table: &Table,
        key: &str,
        default: DVec3,
        at: Place,
    ) -> Option<DVec3> {
        let vector = table.or(key, default, Node::vector)?;
        let unit = vector.try_normalize();
        if unit.is_none() {
            self.report.error(
                table.at(key, at),
                format!("`{key}` has no direction: it is zero"),
                "give a vector that is not zero; its length does not matter",
            );
        }
        unit
    }

    fn cuboid(&mut self, table: &Table, at: Place) -> Option<Geometry> {
        let corners = table.has("min") || table.has("max");
        let centered = table.has("center") || table.has("size");
        if corners == centered {
            return self.report.refuse(
                at,
                "a box needs either `min` and `max` or `center` and `size`",
                "write { min = [x, y, z], max = [x, y, z] }",
            );
        }
        let keys = if corners {
            ["min", "max"]
        } else {
            ["center", "size"]
        };
        for key in keys {
            if !table.has(key) {
                self.report.error(
                    at,
                    format!("this box has no `{key}`"),
                    format!("add `{key} = [x, y, z]`"),
                );
            }
        }
        let (a, b) = (table.vector(keys[0])?, table.vector(keys[1])?);
        let (min, max) = if corners {
            (a, b)
        } else {
            (a - 0.5 * b, a + 0.5 * b)
        };
        let flat = keys.iter().all(|k| table.list(k).len() == 2);
        let bounds = self.bounds(min, max, flat, table.at(keys[1], at))?;
        Some(Geometry::cuboid(bounds.min, bounds.max))
    }

    /// A box from its corners; empty ones are refused. One given by `[x, y]` alone extends so far to both sides
    /// of the plane z = 0 that its ends do not affect distances in the plane.
    pub fn bounds(&mut self, min: DVec3, max: DVec3, flat: bool, at: Place) -> Option<Bounds> {
        let (mut low, mut high) = (min.as_vec3(), max.as_vec3());
        if flat {
            let reach = (high - low).max_element().max(0.5);
            (low.z, high.z) = (-reach, reach);
        }
        for (i, axis) in ["x", "y", "z"].iter().enumerate() {
            let (l, h) = (low[i], high[i]);
            if l >= h {
                return self.report.refuse(
                    at,
                    format!("this box is empty: it extends from {axis} = {l} to {axis} = {h}"),
                    "every coordinate of the upper corner must exceed that of the lower one",
                );
            }
        }
        if self.dimensions == Dimensions::Two && (low.z > 0.0 || high.z < 0.0) {
            return self.report.refuse(
                at,
                format!(
                    "this box extends from z = {} to z = {}, outside the plane z = 0 of a 2D scene",
                    low.z, high.z
                ),
                "give its corners as [x, y]",
            );
        }
        Some(Bounds {
            min: low,
            max: high,
        })
    }

    fn round(&mut self, kind: &str, table: &Table, at: Place) -> Option<Geometry> {
        let (from, to) = (table.vector("from")?, table.vector("to")?);
        let (from, to) = (from.as_vec3(), to.as_vec3());
        let radius = table.number("radius")? as f32;
        if (to - from).length() < 1e-7 {
            return self.report.refuse(
                at,
                format!("this {kind} has no length: `from` and `to` are the same point"),
                "move one of them, or use a sphere",
            );
        }
        Some(match kind {
            "cylinder" => Geometry::cylinder(from, to, radius),
            "capsule" => Geometry::capsule(from, to, radius),
            _ => Geometry::cone(from, to, radius, table.number_or("radius_to", 0.0)? as f32),
        })
    }

    fn revolution(&mut self, table: &Table, at: Place) -> Option<Geometry> {
        let axis = self.direction(table, "axis", DVec3::Y, at)?;
        let from = table.or("from", DVec3::ZERO, Node::vector)?;
        let node = table.get("profile")?;
        let profile: Vec<[f64; 2]> = node.list()?.iter().map(Node::pair).collect::<Option<_>>()?;
        if let Some((message, help)) = profile_fault(&profile) {
            return self.report.refuse(node.at, message, help);
        }
        let profile = profile.iter().map(|p| p.map(|x| x as f32)).collect();
        Some(Geometry::revolution(
            from.as_vec3(),
            axis.as_vec3(),
            profile,
        ))
    }

    fn mesh(&mut self, table: &Table, at: Place) -> Option<Geometry> {
        let node = table.get("file")?;
        let path = self.directory.join(node.text()?);
        if !path.is_file() {
            return self.refuse_mesh(
                node.at,
                format!("there is no mesh file {}", path.display()),
                "paths are relative to the folder of the scene file; for a result, of the scene it was made from",
            );
        }
        let allow_open = table.flag("allow_open").unwrap_or(false);
        let help = "a mesh must be a closed surface; for one with holes, set allow_open = true";
        let scale = table.number("scale").unwrap_or(1.0) as f32;
        let mesh = mesh::load_mesh(&path, allow_open);
        let mesh = self.scaled_mesh(mesh, node.text()?, scale, node.at, help)?;
        let voxel = self.mesh_voxel(&mesh, table, at)?;
        Some(Geometry::mesh(&mesh, voxel))
    }

    /// Reports an error in a mesh; for viewing, the part is omitted with a warning.
    pub fn refuse_mesh<T>(
        &mut self,
        at: Place,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Option<T> {
        let message = message.into();
        if self.viewing {
            let warning = format!("{message}; the part is not shown");
            self.warnings.push(warning);
        } else {
            self.report.error(at, message, help);
        }
        None
    }

    /// A mesh that was read from a file, scaled; reports errors in it.
    pub fn scaled_mesh(
        &mut self,
        mesh: Result<TriangleMesh, MeshError>,
        file: &str,
        scale: f32,
        at: Place,
        help: &str,
    ) -> Option<TriangleMesh> {
        let mut mesh = match mesh {
            Ok(mesh) => mesh,
            Err(error) => {
                return self.refuse_mesh(at, format!("cannot use the mesh {error}"), help);
            }
        };
        self.remember(file, || mesh.digest());
        mesh.vertices.iter_mut().for_each(|v| *v *= scale);
        Some(mesh)
    }

    /// Lists a file among those that the scene was read with.
    pub fn remember(&mut self, file: &str, digest: impl FnOnce() -> String) {
        if self.meshes.iter().all(|m| m.file != file) {
            let (file, digest) = (file.to_owned(), digest());
            self.meshes.push(MeshFile { file, digest });
        }
    }

    fn mesh_voxel(&mut self, mesh: &TriangleMesh, table: &Table, at: Place) -> Option<f32> {
        let longest = mesh.bounds().size().max_element();
        if !(longest > 1e-7 && longest.is_finite()) {
            return self.refuse_mesh(
                table.at("file", at),
                format!("this mesh is {} m long", short(longest)),
                "set its `scale` to convert it to meters",
            );
        }
        let Some(voxel) = table.optional("voxel", Node::number)? else {
            let wanted = self.voxel() as f32;
            return Some(wanted.clamp(longest / MESH_VOXELS, longest / 32.0));
        };
        let voxel = voxel as f32;
        if longest / voxel > MESH_VOXELS || longest / voxel < 2.0 {
            return self.refuse_mesh(
                table.at("voxel", at),
                format!(
                    "a voxel of {} m does not suit a mesh {} m long",
                    short(voxel),
                    short(longest)
                ),
                format!(
                    "choose between {} and {}",
                    short(longest / MESH_VOXELS),
                    short(longest / 2.0)
                ),
            );
        }
        Some(voxel)
    }
}

fn short(x: f32) -> String {
    rounded(f64::from(x), 3)
}

/// Error in the profile of a surface of revolution, with a remedy.
fn profile_fault(profile: &[[f64; 2]]) -> Option<(String, &'static str)> {
    if profile.len() < 3 {
        let message = format!("a profile of {} points encloses nothing", profile.len());
        return Some((message, "give at least three corners [r, h]"));
    }
    if profile.len() > 1000 {
        let message = format!("a profile of {} points is too long", profile.len());
        return Some((message, "use at most 1000 corners, or a mesh"));
    }
    if profile.iter().flatten().any(|x| x.abs() > 1e6) {
        let message = "this profile extends farther than 1000 km".to_owned();
        return Some((message, "give its corners in meters"));
    }
    if let Some(p) = profile.iter().find(|p| p[0] < 0.0) {
        let message = format!(
            "the corner [{}, {}] lies beyond the axis: r < 0",
            p[0], p[1]
        );
        return Some((
            message,
            "r is the distance from the axis and cannot be negative",
        ));
    }
    let next = |i: usize| profile[(i + 1) % profile.len()];
    let area: f64 = (0..profile.len())
        .map(|i| 0.5 * (profile[i][0] * next(i)[1] - next(i)[0] * profile[i][1]))
        .sum();
    if area.abs() < 1e-14 {
        let message = "this profile encloses nothing: its corners lie on a line".to_owned();
        return Some((message, "list the corners of a closed polygon, in order"));
    }
    for i in 0..profile.len() {
        for j in i + 2..profile.len() {
            let neighbors = i == 0 && j == profile.len() - 1;
            if !neighbors && cross([profile[i], next(i)], [profile[j], next(j)]) {
                let message = format!("this profile crosses itself: edge {i} meets edge {j}");
                return Some((message, "list the corners in the order of the outline"));
            }
        }
    }
    None
}

/// Whether two segments properly cross.
fn cross(a: [[f64; 2]; 2], b: [[f64; 2]; 2]) -> bool {
    let side = |s: [[f64; 2]; 2], p: [f64; 2]| {
        (s[1][0] - s[0][0]) * (p[1] - s[0][1]) - (s[1][1] - s[0][1]) * (p[0] - s[0][0])
    };
    side(a, b[0]) * side(a, b[1]) < 0.0 && side(b, a[0]) * side(b, a[1]) < 0.0
}
