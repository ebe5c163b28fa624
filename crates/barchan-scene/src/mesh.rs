//! Triangle meshes from files. (Plain OBJ only; stands in for the full reader.)

use glam::Vec3;
use std::path::Path;

/// A triangle mesh.
#[derive(Debug, Clone, Default)]
pub struct TriangleMesh {
    /// Vertices [m].
    pub vertices: Vec<Vec3>,
    /// Corners of each triangle.
    pub triangles: Vec<[u32; 3]>,
}

/// Why a mesh cannot be used.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct MeshError(String);

/// Reads a mesh.
pub fn load_mesh(path: &Path, allow_open: bool) -> Result<TriangleMesh, MeshError> {
    let text = std::fs::read_to_string(path).map_err(|e| MeshError(e.to_string()))?;
    let mut mesh = TriangleMesh::default();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                let v: Vec<f32> = words.filter_map(|w| w.parse().ok()).collect();
                mesh.vertices
                    .extend(<[f32; 3]>::try_from(v).map(Vec3::from));
            }
            Some("f") => {
                let f: Vec<u32> = words.filter_map(|w| w.parse().ok()).collect();
                mesh.triangles.extend(<[u32; 3]>::try_from(f));
            }
            _ => {}
        }
    }
    if mesh.triangles.is_empty() {
        return Err(MeshError("it has no triangles".to_owned()));
    }
    let edges: std::collections::BTreeSet<(u32, u32)> = mesh
        .triangles
        .iter()
        .flat_map(|t| [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])])
        .collect();
    let open = edges
        .iter()
        .filter(|(a, b)| !edges.contains(&(*b, *a)))
        .count();
    if open > 0 && !allow_open {
        return Err(MeshError(format!(
            "it is not watertight: {open} open edges"
        )));
    }
    Ok(mesh)
}
