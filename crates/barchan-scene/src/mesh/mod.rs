//! Triangle meshes from files (OBJ, STL, PLY, glTF): reading, welding, checks, orientation.

mod gltf;
mod read;
#[cfg(test)]
pub(crate) mod tests;

use crate::geometry::Bounds;
use glam::Vec3;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Triangles that share vertices, counter-clockwise seen from outside.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TriangleMesh {
    /// Vertices [m].
    pub vertices: Vec<Vec3>,
    /// Indices into the vertices.
    pub triangles: Vec<[u32; 3]>,
}

/// A mesh file that cannot be used, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {fault}", file.display())]
pub struct MeshError {
    /// File.
    pub file: PathBuf,
    /// What is wrong with it.
    pub fault: MeshFault,
}

/// Why a mesh cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MeshFault {
    /// The file cannot be opened or read, with the message of the system.
    #[error("cannot read the mesh ({0}); check the path, which is relative to the scene file")]
    Unreadable(String),
    /// Unknown file name extension.
    #[error("unknown mesh format; give a file with the extension .obj, .stl, .ply, .gltf or .glb")]
    UnknownFormat,
    /// The file breaks the rules of its format.
    #[error(
        "not a valid {format} file ({reason}); export the mesh again, with plain triangles or polygons"
    )]
    Parse {
        /// Name of the format.
        format: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// No triangle at all.
    #[error("the mesh has no triangles; export a surface, not points or lines")]
    Empty,
    /// A face refers to a missing vertex.
    #[error(
        "a triangle refers to vertex {index}, but there are only {vertices} (counted from 0); export the mesh again"
    )]
    IndexOutOfRange {
        /// The index.
        index: u32,
        /// Number of vertices.
        vertices: usize,
    },
    /// NaN, infinite, or too far away for 32-bit distances: the first such vertex.
    #[error(
        "vertex {0} is not finite or is farther than 10¹⁵ m from the origin; repair the mesh or the transform it was exported with"
    )]
    NotFinite(usize),
    /// No extent, or no volume.
    #[error(
        "the mesh encloses no volume; give it thickness, or set allow_open = true for a thin shell"
    )]
    Degenerate,
    /// Number of edges with an odd number of triangles.
    #[error(
        "the mesh is not watertight: {0} of its edges are open; close the holes, or set allow_open = true for a thin shell"
    )]
    NotWatertight(usize),
    /// Number of edges at which neighboring triangles face opposite ways.
    #[error(
        "{0} edges join triangles that face opposite ways; recalculate the normals to point outside, or set allow_open = true for a thin shell"
    )]
    Inconsistent(usize),
}

/// Reads a mesh, welds coincident vertices, drops degenerate triangles, checks it and orients its triangles outward.
/// `allow_open` accepts meshes with holes, which have no inside: see [`Geometry::mesh`](crate::Geometry::mesh).
pub fn load_mesh(path: &Path, allow_open: bool) -> Result<TriangleMesh, MeshError> {
    let mesh = read_file(path).and_then(|raw| repair(raw, allow_open));
    mesh.map_err(|fault| MeshError {
        file: path.into(),
        fault,
    })
}

fn read_file(path: &Path) -> Result<TriangleMesh, MeshFault> {
    let extension = path
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default()
        .to_ascii_lowercase();
    let bytes = || std::fs::read(path).map_err(|e| MeshFault::Unreadable(e.to_string()));
    let folder = path.parent().unwrap_or(Path::new(""));
    let (format, raw) = match extension.as_str() {
        "obj" => ("OBJ", read::obj(&bytes()?)),
        "stl" => ("STL", read::stl(&bytes()?)),
        "ply" => ("PLY", read::ply(&bytes()?)),
        "gltf" | "glb" => ("glTF", gltf::read(&bytes()?, folder)),
        _ => return Err(MeshFault::UnknownFormat),
    };
    raw.map_err(|reason| MeshFault::Parse { format, reason })
}

/// Welds, checks and orients the triangles from a reader.
fn repair(raw: TriangleMesh, allow_open: bool) -> Result<TriangleMesh, MeshFault> {
    if raw.triangles.is_empty() {
        return Err(MeshFault::Empty);
    }
    let vertices = raw.vertices.len();
    let mut indices = raw.triangles.iter().flatten().copied();
    if let Some(index) = indices.find(|i| *i as usize >= vertices) {
        return Err(MeshFault::IndexOutOfRange { index, vertices });
    }
    // Squares of distances must stay finite.
    let usable = |p: &Vec3| p.is_finite() && p.abs().max_element() <= 1e15;
    if let Some(index) = raw.vertices.iter().position(|p| !usable(p)) {
        return Err(MeshFault::NotFinite(index));
    }
    let mut mesh = weld(&raw);
    let size = mesh.bounds().size();
    if mesh.triangles.is_empty() || size.max_element() <= 1e-15 {
        return Err(MeshFault::Degenerate);
    }
    match mesh.edge_fault() {
        Some(_) if allow_open => return Ok(mesh),
        Some(fault) => return Err(fault),
        None => {}
    }
    let volume = mesh.signed_volume();
    if volume.abs() <= 1e-9 * f64::from(size.max_element()).powi(3) {
        return Err(MeshFault::Degenerate);
    }
    if volume < 0.0 {
        mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    }
    Ok(mesh)
}

/// Merges coincident vertices, in the order of first use, and drops triangles that become degenerate.
fn weld(raw: &TriangleMesh) -> TriangleMesh {
    let mut mesh = TriangleMesh::default();
    let mut places: HashMap<[u32; 3], u32> = HashMap::new();
    for triangle in &raw.triangles {
        let welded = triangle.map(|i| {
            // Adding zero turns −0 into 0.
            let p = raw.vertices[i as usize] + 0.0;
            *places
                .entry(p.to_array().map(f32::to_bits))
                .or_insert_with(|| {
                    mesh.vertices.push(p);
                    mesh.vertices.len() as u32 - 1
                })
        });
        let [a, b, c] = welded;
        if a != b && b != c && c != a {
            mesh.triangles.push(welded);
        }
    }
    mesh
}

impl TriangleMesh {
    /// The box around all vertices.
    pub fn bounds(&self) -> Bounds {
        Bounds::from_points(self.vertices.iter().copied())
    }

    /// blake3 (hexadecimal) of vertices and triangles, to detect a changed file: covers separate buffers of a glTF
    /// file, ignores comments and materials.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&(self.vertices.len() as u64).to_le_bytes());
        for coordinate in self.vertices.iter().flat_map(|v| v.to_array()) {
            hasher.update(&coordinate.to_bits().to_le_bytes());
        }
        for index in self.triangles.iter().flatten() {
            hasher.update(&index.to_le_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    /// Volume [m³]; negative when the triangles face inward.
    pub fn signed_volume(&self) -> f64 {
        let reference = self.bounds().center().as_dvec3();
        self.triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|v| self.vertices[v as usize].as_dvec3() - reference);
                a.dot(b.cross(c)) / 6.0
            })
            .sum()
    }

    /// Edges that are open or join triangles facing opposite ways: none for a mesh that encloses a volume.
    pub fn edge_fault(&self) -> Option<MeshFault> {
        // For each edge, the number of triangles and how many more traverse it upward in index than downward.
        let mut edges: HashMap<[u32; 2], (u32, i32)> = HashMap::new();
        for &[a, b, c] in &self.triangles {
            for (from, to) in [(a, b), (b, c), (c, a)] {
                let entry = edges.entry([from.min(to), from.max(to)]).or_default();
                entry.0 += 1;
                entry.1 += if from < to { 1 } else { -1 };
            }
        }
        let open = edges.values().filter(|(n, _)| n % 2 == 1).count();
        let faces_opposite = |(n, balance): &&(u32, i32)| n % 2 == 0 && *balance != 0;
        let inconsistent = edges.values().filter(faces_opposite).count();
        match (open, inconsistent) {
            (0, 0) => None,
            (0, edges) => Some(MeshFault::Inconsistent(edges)),
            (open, _) => Some(MeshFault::NotWatertight(open)),
        }
    }
}
