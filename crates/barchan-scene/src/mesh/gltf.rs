//! glTF and GLB: the triangles of the default scene with the transforms of their nodes.
//!
//! The crate reads and validates the document; its buffers are read here with checked arithmetic, because the crate's
//! iterators trust counts and strides.

use super::TriangleMesh;
use glam::{Mat4, Vec3};
use gltf::accessor::{DataType, Dimensions};
use gltf::mesh::Mode;
use std::path::Path;

/// Maximum nesting depth of nodes.
const MAX_DEPTH: usize = 100;
/// Maximum number of triangles of a file: a mesh may be instanced by any number of nodes.
const MAX_TRIANGLES: usize = 100_000_000;

/// Reads a document; buffers in other files are looked for in `folder`.
pub(super) fn read(bytes: &[u8], folder: &Path) -> Result<TriangleMesh, String> {
    let (document, blob) = parse(bytes)?;
    let buffers = document
        .buffers()
        .map(|b| load_buffer(&b, blob.as_deref(), folder))
        .collect::<Result<Vec<_>, _>>()?;
    let mut out = Collector {
        buffers,
        visited: vec![false; document.nodes().len()],
        mesh: TriangleMesh::default(),
    };
    let scene = document
        .default_scene()
        .or_else(|| document.scenes().next());
    match scene {
        Some(scene) => {
            for node in scene.nodes() {
                out.add_node(&node, Mat4::IDENTITY, 0)?;
            }
        }
        // A document without a scene is a library of meshes.
        None => {
            for mesh in document.meshes() {
                out.add_mesh(&mesh, Mat4::IDENTITY)?;
            }
        }
    }
    Ok(out.mesh)
}

/// Reads and validates the document. The crate's validation looks up the positions of a primitive without checking that
/// they exist, so that is checked first.
fn parse(bytes: &[u8]) -> Result<(gltf::Document, Option<Vec<u8>>), String> {
    let gltf::Gltf { document, blob } =
        gltf::Gltf::from_slice_without_validation(bytes).map_err(|e| e.to_string())?;
    let root = document.into_json();
    let mut attributes = root
        .meshes
        .iter()
        .flat_map(|mesh| &mesh.primitives)
        .flat_map(|primitive| primitive.attributes.values());
    if attributes.any(|accessor| accessor.value() >= root.accessors.len()) {
        return Err("a mesh refers to a missing accessor".into());
    }
    let document = gltf::Document::from_json(root).map_err(|e| e.to_string())?;
    Ok((document, blob))
}

fn load_buffer(
    buffer: &gltf::Buffer<'_>,
    blob: Option<&[u8]>,
    folder: &Path,
) -> Result<Vec<u8>, String> {
    let data = match buffer.source() {
        gltf::buffer::Source::Bin => blob.ok_or("the binary chunk is missing")?.to_vec(),
        gltf::buffer::Source::Uri(uri) => match uri.strip_prefix("data:") {
            Some(data) => {
                let (_, encoded) = data
                    .split_once(";base64,")
                    .ok_or("an embedded buffer is not base64")?;
                base64(encoded).ok_or("an embedded buffer is not valid base64")?
            }
            None => {
                let name = percent_decode(uri).ok_or("the name of a buffer file is not valid")?;
                std::fs::read(folder.join(&name))
                    .map_err(|e| format!("cannot read the buffer file {name}: {e}"))?
            }
        },
    };
    if data.len() < buffer.length() {
        return Err(format!(
            "buffer {} has {} bytes instead of {}",
            buffer.index(),
            data.len(),
            buffer.length()
        ));
    }
    Ok(data)
}

struct Collector {
    buffers: Vec<Vec<u8>>,
    /// Nodes visited: a node has one parent, so a second visit means an invalid graph, such as a cycle.
    visited: Vec<bool>,
    mesh: TriangleMesh,
}

impl Collector {
    fn add_node(
        &mut self,
        node: &gltf::Node<'_>,
        parent: Mat4,
        depth: usize,
    ) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("nodes are nested more than {MAX_DEPTH} deep"));
        }
        match self.visited.get_mut(node.index()) {
            Some(visited) if !*visited => *visited = true,
            _ => return Err(format!("node {} has more than one parent", node.index())),
        }
        let world = parent * Mat4::from_cols_array_2d(&node.transform().matrix());
        if let Some(mesh) = node.mesh() {
            self.add_mesh(&mesh, world)?;
        }
        for child in node.children() {
            self.add_node(&child, world, depth + 1)?;
        }
        Ok(())
    }

    fn add_mesh(&mut self, mesh: &gltf::Mesh<'_>, world: Mat4) -> Result<(), String> {
        for primitive in mesh.primitives() {
            let strip = match primitive.mode() {
                Mode::Triangles => |i: usize| [3 * i, 3 * i + 1, 3 * i + 2],
                Mode::TriangleStrip => |i: usize| [i, i + 1 + i % 2, i + 2 - i % 2],
                Mode::TriangleFan => |i: usize| [0, i + 1, i + 2],
                _ => continue,
            };
            let accessor = primitive
                .get(&gltf::Semantic::Positions)
                .ok_or("a mesh has no positions")?;
            let positions = self.positions(&accessor)?;
            let indices = match primitive.indices() {
                Some(accessor) => self.indices(&accessor)?,
                None => (0..positions.len() as u32).collect(),
            };
            let first = u32::try_from(self.mesh.vertices.len()).map_err(|_| "too many vertices")?;
            let count = match primitive.mode() {
                Mode::Triangles => indices.len() / 3,
                _ => indices.len().saturating_sub(2),
            };
            if self.mesh.triangles.len() + count > MAX_TRIANGLES {
                return Err(format!("more than {MAX_TRIANGLES} triangles"));
            }
            // A reflection turns triangles inside out.
            let mirrored = world.determinant() < 0.0;
            for i in 0..count {
                let [a, b, c] = strip(i).map(|corner| indices[corner]);
                if [a, b, c].iter().any(|v| *v as usize >= positions.len()) {
                    return Err("a triangle refers to a missing vertex".into());
                }
                let [a, b, c] = [a, b, c].map(|v| v.saturating_add(first));
                let triangle = if mirrored { [a, c, b] } else { [a, b, c] };
                self.mesh.triangles.push(triangle);
            }
            self.mesh
                .vertices
                .extend(positions.iter().map(|p| world.transform_point3(*p)));
        }
        Ok(())
    }

    fn positions(&self, accessor: &gltf::Accessor<'_>) -> Result<Vec<Vec3>, String> {
        if accessor.data_type() != DataType::F32 || accessor.dimensions() != Dimensions::Vec3 {
            return Err("positions must be vectors of three 32-bit floats".into());
        }
        self.items(accessor, |b: [u8; 12]| {
            let value = |i: usize| f32::from_le_bytes([b[i], b[i + 1], b[i + 2], b[i + 3]]);
            Vec3::new(value(0), value(4), value(8))
        })
    }

    fn indices(&self, accessor: &gltf::Accessor<'_>) -> Result<Vec<u32>, String> {
        if accessor.dimensions() != Dimensions::Scalar {
            return Err("indices must be scalars".into());
        }
        match accessor.data_type() {
            DataType::U8 => self.items(accessor, |[b]: [u8; 1]| u32::from(b)),
            DataType::U16 => self.items(accessor, |b| u32::from(u16::from_le_bytes(b))),
            DataType::U32 => self.items(accessor, u32::from_le_bytes),
            _ => Err("indices must be unsigned integers".into()),
        }
    }

    /// The items of an accessor, each made from its `N` bytes.
    fn items<const N: usize, T>(
        &self,
        accessor: &gltf::Accessor<'_>,
        decode: impl Fn([u8; N]) -> T,
    ) -> Result<Vec<T>, String> {
        if accessor.sparse().is_some() {
            return Err("sparse accessors are not supported".into());
        }
        let view = accessor.view().ok_or("an accessor has no data")?;
        let stride = view.stride().unwrap_or(N);
        let data = view
            .offset()
            .checked_add(view.length())
            .and_then(|end| {
                self.buffers
                    .get(view.buffer().index())?
                    .get(view.offset()..end)
            })
            .ok_or("a buffer view reaches beyond its buffer")?;
        let item = |i: usize| {
            let start = i.checked_mul(stride)?.checked_add(accessor.offset())?;
            let bytes = data.get(start..start.checked_add(N)?)?;
            bytes.try_into().ok().map(&decode)
        };
        // Overlapping items would fit in any number.
        let apart = stride >= N || accessor.count() <= 1;
        let items = apart.then(|| (0..accessor.count()).map(item).collect::<Option<_>>());
        let reason = "an accessor reaches beyond its buffer view";
        items.flatten().ok_or_else(|| reason.into())
    }
}

/// Standard base64 with or without padding.
fn base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0);
    for c in text.bytes().filter(|c| !c.is_ascii_whitespace()) {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => break,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    Some(out)
}

/// `%20` and the like, as in names of buffer files.
fn percent_decode(uri: &str) -> Option<String> {
    let mut out = Vec::with_capacity(uri.len());
    let mut bytes = uri.bytes();
    while let Some(b) = bytes.next() {
        if b == b'%' {
            let digits = [bytes.next()?, bytes.next()?];
            let digits = std::str::from_utf8(&digits).ok()?;
            out.push(u8::from_str_radix(digits, 16).ok()?);
        } else {
            out.push(b);
        }
    }
    String::from_utf8(out).ok()
}
