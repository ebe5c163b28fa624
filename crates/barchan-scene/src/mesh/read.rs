//! Readers for OBJ, STL and PLY. They return the contents unchecked; `repair` checks them.
//!
//! Parsing is left to crates; input that they would trust wrongly in hostile files is removed or checked first.

use super::TriangleMesh;
use glam::Vec3;
use ply_rs_bw::parser::{Parser, Reader};
use ply_rs_bw::ply::{Property, PropertyAccess, PropertyAccessResult};
use std::fmt::Write as _;
use std::io::Cursor;

/// Wavefront OBJ: positions and faces of all objects together.
pub(super) fn obj(bytes: &[u8]) -> Result<TriangleMesh, String> {
    let text = obj_essentials(&String::from_utf8_lossy(bytes));
    let options = tobj::LoadOptions {
        triangulate: true,
        ignore_points: true,
        ignore_lines: true,
        ..Default::default()
    };
    let no_materials = |_: &std::path::Path| Err(tobj::LoadError::MaterialParseError);
    let (models, _) = tobj::load_obj_buf(&mut Cursor::new(text), &options, no_materials)
        .map_err(|e| e.to_string())?;
    let mut mesh = TriangleMesh::default();
    for model in models {
        let first = mesh.vertices.len() as u32;
        let positions = model.mesh.positions.chunks_exact(3);
        mesh.vertices
            .extend(positions.map(|p| Vec3::new(p[0], p[1], p[2])));
        let corners = model.mesh.indices.chunks_exact(3);
        mesh.triangles
            .extend(corners.map(|t| [0, 1, 2].map(|c| t[c].saturating_add(first))));
    }
    Ok(mesh)
}

/// Keeps only `v x y z` and `f v v v …`: the parser computes indices of normals, texture coordinates and colors with
/// unchecked arithmetic, and they are not needed.
fn obj_essentials(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.replace("\\\r\n", " ").replace("\\\n", " ").lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                out.push('v');
                words.take(3).for_each(|w| {
                    let _ = write!(out, " {w}");
                });
                out.push('\n');
            }
            Some("f") => {
                out.push('f');
                for corner in words.take_while(|w| !w.starts_with('#')) {
                    let vertex = corner.split('/').next().unwrap_or_default();
                    let _ = write!(out, " {vertex}");
                }
                out.push('\n');
            }
            _ => {}
        }
    }
    out
}

/// Stereolithography, text or binary.
pub(super) fn stl(bytes: &[u8]) -> Result<TriangleMesh, String> {
    let mut bytes = bytes.to_vec();
    // Many binary files begin with `solid`, as text files do; their exact length identifies them.
    if let Some(count) = bytes.get(80..84) {
        let count = u32::from_le_bytes([count[0], count[1], count[2], count[3]]);
        if bytes.len() as u64 == 84 + 50 * u64::from(count) {
            bytes[..80].fill(0);
        }
    }
    let mut cursor = Cursor::new(bytes);
    let reader = stl_io::create_stl_reader(&mut cursor).map_err(|e| e.to_string())?;
    let mut mesh = TriangleMesh::default();
    for triangle in reader {
        let triangle = triangle.map_err(|e| e.to_string())?;
        let first = u32::try_from(mesh.vertices.len()).map_err(|_| "too many triangles")?;
        mesh.vertices
            .extend(triangle.vertices.map(|v| Vec3::from_array(v.0)));
        mesh.triangles.push([first, first + 1, first + 2]);
    }
    Ok(mesh)
}

/// The properties needed of a PLY element.
#[derive(Default)]
struct PlyElement {
    position: [Option<f32>; 3],
    corners: Option<Vec<u32>>,
}

impl PropertyAccess for PlyElement {
    fn new() -> Self {
        Self::default()
    }

    fn set_property(&mut self, key: &str, property: Property) -> PropertyAccessResult {
        match key {
            "x" => self.position[0] = property.to_f32_lossy(),
            "y" => self.position[1] = property.to_f32_lossy(),
            "z" => self.position[2] = property.to_f32_lossy(),
            "vertex_indices" | "vertex_index" => self.corners = indices(property),
            _ => {}
        }
        PropertyAccessResult::Set
    }
}

fn indices(property: Property) -> Option<Vec<u32>> {
    fn cast<T: TryInto<u32>>(list: Vec<T>) -> Option<Vec<u32>> {
        list.into_iter().map(|i| i.try_into().ok()).collect()
    }
    match property {
        Property::ListChar(l) => cast(l),
        Property::ListUChar(l) => cast(l),
        Property::ListShort(l) => cast(l),
        Property::ListUShort(l) => cast(l),
        Property::ListInt(l) => cast(l),
        Property::ListUInt(l) => Some(l),
        _ => None,
    }
}

/// Polygon file format, text or binary of either byte order.
pub(super) fn ply(bytes: &[u8]) -> Result<TriangleMesh, String> {
    let mut reader = Reader::new(Cursor::new(bytes));
    let parser = Parser::<PlyElement>::new();
    let header = parser.read_header(&mut reader).map_err(|e| e.to_string())?;
    // A count is accepted only if the file is long enough to hold that many elements: the parser would loop that
    // often, even over elements without properties, which take no bytes.
    for (name, element) in &header.elements {
        if element.count > bytes.len() || (element.count > 0 && element.properties.is_empty()) {
            return Err(format!(
                "the header declares {} elements `{name}`, more than the file can hold",
                element.count
            ));
        }
    }
    let mut payload = parser
        .read_payload(&mut reader, &header)
        .map_err(|e| e.to_string())?;
    let vertices = payload
        .get("vertex")
        .ok_or("there is no element `vertex`")?
        .iter()
        .map(|v| match v.position {
            [Some(x), Some(y), Some(z)] => Ok(Vec3::new(x, y, z)),
            _ => Err("a vertex lacks x, y or z"),
        })
        .collect::<Result<_, _>>()?;
    let mut triangles = Vec::new();
    for face in payload.get_mut("face").into_iter().flatten() {
        let corners = face
            .corners
            .take()
            .ok_or("a face has no list `vertex_indices` of whole numbers ≥ 0")?;
        triangles.extend(fan(&corners));
    }
    Ok(TriangleMesh {
        vertices,
        triangles,
    })
}

/// Triangulates a polygon as a fan around its first corner.
fn fan(corners: &[u32]) -> impl Iterator<Item = [u32; 3]> + '_ {
    let rest = corners.get(1..).unwrap_or_default();
    rest.windows(2).map(|pair| [corners[0], pair[0], pair[1]])
}
