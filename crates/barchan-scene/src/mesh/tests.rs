//! Meshes written in every format and read back; invalid meshes and hostile bytes are refused without a panic.

use super::*;
use proptest::prelude::*;
use std::fmt::Write as _;
use std::path::PathBuf;

/// A box of twelve triangles.
pub(crate) fn box_mesh(min: Vec3, max: Vec3) -> TriangleMesh {
    let corner = |i: usize| {
        Vec3::new(
            if i & 1 == 0 { min.x } else { max.x },
            if i & 2 == 0 { min.y } else { max.y },
            if i & 4 == 0 { min.z } else { max.z },
        )
    };
    let quads: [[u32; 4]; 6] = [
        [0, 4, 6, 2],
        [1, 3, 7, 5],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 2, 3, 1],
        [4, 5, 7, 6],
    ];
    TriangleMesh {
        vertices: (0..8).map(corner).collect(),
        triangles: quads
            .iter()
            .flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]])
            .collect(),
    }
}

/// A ball of `n` rings and 2n meridians.
pub(crate) fn sphere_mesh(center: Vec3, radius: f32, n: u32) -> TriangleMesh {
    let mut mesh = TriangleMesh::default();
    mesh.vertices.push(center + radius * Vec3::Y);
    for ring in 1..n {
        let b = std::f32::consts::PI * ring as f32 / n as f32;
        for i in 0..2 * n {
            let a = std::f32::consts::PI * i as f32 / n as f32;
            let unit = Vec3::new(b.sin() * a.cos(), b.cos(), b.sin() * a.sin());
            mesh.vertices.push(center + radius * unit);
        }
    }
    let south = mesh.vertices.len() as u32;
    mesh.vertices.push(center - radius * Vec3::Y);
    let at = |ring: u32, i: u32| 1 + (ring - 1) * 2 * n + i % (2 * n);
    for i in 0..2 * n {
        mesh.triangles.push([0, at(1, i + 1), at(1, i)]);
        mesh.triangles.push([south, at(n - 1, i), at(n - 1, i + 1)]);
        for ring in 1..n - 1 {
            let (a, b) = (at(ring, i), at(ring, i + 1));
            let (c, d) = (at(ring + 1, i), at(ring + 1, i + 1));
            mesh.triangles.extend([[a, b, d], [a, d, c]]);
        }
    }
    mesh
}

fn obj_bytes(mesh: &TriangleMesh) -> Vec<u8> {
    let mut text = String::from("# a comment\nmtllib none.mtl\no thing\nvn 0 1 0\n");
    for v in &mesh.vertices {
        let _ = writeln!(text, "v {} {} {}", v.x, v.y, v.z);
    }
    let count = mesh.vertices.len() as i64;
    for (i, t) in mesh.triangles.iter().enumerate() {
        let [a, b, c] = t.map(i64::from);
        let _ = match i % 3 {
            0 => writeln!(text, "f {} {} {}", a + 1, b + 1, c + 1),
            1 => writeln!(text, "f {}//1 {}//1 {}//1", a + 1, b + 1, c + 1),
            _ => writeln!(text, "f {} {} {}", a - count, b - count, c - count),
        };
    }
    text.into_bytes()
}

fn stl_ascii_bytes(mesh: &TriangleMesh) -> Vec<u8> {
    let mut text = String::from("solid thing\n");
    for t in &mesh.triangles {
        text.push_str("facet normal 0 0 0\nouter loop\n");
        for v in t.map(|i| mesh.vertices[i as usize]) {
            let _ = writeln!(text, "vertex {:e} {:e} {:e}", v.x, v.y, v.z);
        }
        text.push_str("endloop\nendfacet\n");
    }
    text.push_str("endsolid thing\n");
    text.into_bytes()
}

fn stl_binary_bytes(mesh: &TriangleMesh) -> Vec<u8> {
    // A header that looks like text, as some programs write.
    let mut out = b"solid but binary".to_vec();
    out.resize(80, b' ');
    out.extend((mesh.triangles.len() as u32).to_le_bytes());
    for t in &mesh.triangles {
        out.extend([0u8; 12]);
        for v in t.map(|i| mesh.vertices[i as usize]) {
            out.extend(v.to_array().iter().flat_map(|x| x.to_le_bytes()));
        }
        out.extend([0u8; 2]);
    }
    out
}

fn ply_header(mesh: &TriangleMesh, encoding: &str) -> String {
    format!(
        "ply\nformat {encoding} 1.0\ncomment made by a test\nelement vertex {}\nproperty float x\nproperty float y\n\
         property float z\nproperty uchar red\nelement face {}\nproperty list uchar int vertex_indices\nend_header\n",
        mesh.vertices.len(),
        mesh.triangles.len()
    )
}

fn ply_ascii_bytes(mesh: &TriangleMesh) -> Vec<u8> {
    let mut text = ply_header(mesh, "ascii");
    for v in &mesh.vertices {
        let _ = writeln!(text, "{} {} {} 7", v.x, v.y, v.z);
    }
    for [a, b, c] in &mesh.triangles {
        let _ = writeln!(text, "3 {a} {b} {c}");
    }
    text.into_bytes()
}

fn ply_binary_bytes(mesh: &TriangleMesh, big: bool) -> Vec<u8> {
    let encoding = if big {
        "binary_big_endian"
    } else {
        "binary_little_endian"
    };
    let mut out = ply_header(mesh, encoding).into_bytes();
    let order = |bytes: [u8; 4]| {
        let mut bytes = bytes;
        if big {
            bytes.reverse();
        }
        bytes
    };
    for v in &mesh.vertices {
        out.extend(v.to_array().iter().flat_map(|x| order(x.to_le_bytes())));
        out.push(7);
    }
    for t in &mesh.triangles {
        out.push(3);
        out.extend(t.iter().flat_map(|i| order(i.to_le_bytes())));
    }
    out
}

/// Buffer with positions then 32-bit indices, and a document with nested nodes that scale by 2 and move by (1, 0, 0).
/// The vertices in the file undo that.
fn gltf_parts(mesh: &TriangleMesh, uri: &str) -> (String, Vec<u8>) {
    let mut bin = Vec::new();
    for v in &mesh.vertices {
        let local = (*v - Vec3::X) / 2.0;
        bin.extend(local.to_array().iter().flat_map(|x| x.to_le_bytes()));
    }
    let split = bin.len();
    bin.extend(
        mesh.triangles
            .iter()
            .flatten()
            .flat_map(|i| i.to_le_bytes()),
    );
    let (vertices, indices) = (mesh.vertices.len(), 3 * mesh.triangles.len());
    let json = format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],
        "nodes":[{{"children":[1],"translation":[1,0,0]}},{{"mesh":0,"scale":[2,2,2]}}],
        "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"indices":1}}]}}],
        "buffers":[{{"byteLength":{}{uri}}}],
        "bufferViews":[{{"buffer":0,"byteOffset":0,"byteLength":{split}}},
          {{"buffer":0,"byteOffset":{split},"byteLength":{}}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":{vertices},"type":"VEC3",
          "min":[-9,-9,-9],"max":[9,9,9]}},
          {{"bufferView":1,"componentType":5125,"count":{indices},"type":"SCALAR"}}]}}"#,
        bin.len(),
        bin.len() - split,
    );
    (json, bin)
}

fn glb_bytes(mesh: &TriangleMesh) -> Vec<u8> {
    let (mut json, mut bin) = gltf_parts(mesh, "");
    while json.len() % 4 != 0 {
        json.push(' ');
    }
    while bin.len() % 4 != 0 {
        bin.push(0);
    }
    let mut out = b"glTF".to_vec();
    out.extend(2u32.to_le_bytes());
    out.extend((28 + json.len() as u32 + bin.len() as u32).to_le_bytes());
    out.extend((json.len() as u32).to_le_bytes());
    out.extend(b"JSON");
    out.extend(json.as_bytes());
    out.extend((bin.len() as u32).to_le_bytes());
    out.extend(b"BIN\0");
    out.extend(bin);
    out
}

fn encode_base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let word =
            chunk.iter().fold(0u32, |w, b| w << 8 | u32::from(*b)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= chunk.len() { digit as char } else { '=' });
        }
    }
    out
}

fn gltf_bytes(mesh: &TriangleMesh) -> Vec<u8> {
    let (_, bin) = gltf_parts(mesh, "");
    let data = format!(
        r#","uri":"data:application/octet-stream;base64,{}""#,
        encode_base64(&bin)
    );
    gltf_parts(mesh, &data).0.into_bytes()
}

/// Every format with the bytes of a mesh.
fn all_formats(mesh: &TriangleMesh) -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("a.obj", obj_bytes(mesh)),
        ("text.stl", stl_ascii_bytes(mesh)),
        ("binary.STL", stl_binary_bytes(mesh)),
        ("text.ply", ply_ascii_bytes(mesh)),
        ("little.ply", ply_binary_bytes(mesh, false)),
        ("big.ply", ply_binary_bytes(mesh, true)),
        ("a.glb", glb_bytes(mesh)),
        ("a.gltf", gltf_bytes(mesh)),
    ]
}

fn write(name: &str, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn load(name: &str, bytes: &[u8], allow_open: bool) -> Result<TriangleMesh, MeshError> {
    let (_folder, path) = write(name, bytes);
    load_mesh(&path, allow_open)
}

#[test]
fn every_format_gives_the_same_mesh() {
    let mesh = sphere_mesh(Vec3::new(0.3, -0.2, 0.1), 0.5, 10);
    for (name, bytes) in all_formats(&mesh) {
        let read = load(name, &bytes, false).unwrap();
        assert_eq!(read.vertices.len(), mesh.vertices.len(), "{name}");
        assert_eq!(read.triangles.len(), mesh.triangles.len(), "{name}");
        let ratio = read.signed_volume() / mesh.signed_volume();
        assert!((ratio - 1.0).abs() < 1e-5, "{name}: {ratio}");
        assert!(
            (read.bounds().min - mesh.bounds().min).length() < 1e-5,
            "{name}"
        );
        assert_eq!(read.edge_fault(), None, "{name}");
    }
}

#[test]
fn gltf_reads_a_buffer_beside_it() {
    let mesh = box_mesh(Vec3::ZERO, Vec3::ONE);
    let (json, bin) = gltf_parts(&mesh, r#","uri":"my%20data.bin""#);
    let (folder, path) = write("a.gltf", json.as_bytes());
    let missing = load_mesh(&path, false).unwrap_err().to_string();
    assert!(missing.contains("my data.bin"), "{missing}");
    std::fs::write(folder.path().join("my data.bin"), bin).unwrap();
    assert_eq!(load_mesh(&path, false).unwrap().triangles.len(), 12);
}

#[test]
fn inside_out_meshes_are_reoriented() {
    let mut mesh = box_mesh(Vec3::ZERO, Vec3::ONE);
    mesh.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    assert!(mesh.signed_volume() < 0.0);
    let read = load("a.obj", &obj_bytes(&mesh), false).unwrap();
    assert!((read.signed_volume() - 1.0).abs() < 1e-6);
}

#[test]
fn quads_and_continued_lines_in_obj() {
    let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 0 0 1\nv 1 0 1\nv 0 1 1\nv 1 1 1\n\
                f 1 5 7 3\nf 2 4 8 \\\n6\nf 1 2 6 5 # base\nf 3 7 8 4\nf 1 3 4 2\nf 5 6 8 7\n";
    let read = load("a.obj", text.as_bytes(), false).unwrap();
    assert_eq!(read.triangles.len(), 12);
    assert!((read.signed_volume() - 1.0).abs() < 1e-6);
}

#[test]
fn open_meshes_need_allow_open() {
    let mut mesh = box_mesh(Vec3::ZERO, Vec3::ONE);
    mesh.triangles.pop();
    for (name, bytes) in all_formats(&mesh) {
        let error = load(name, &bytes, false).unwrap_err();
        assert_eq!(error.fault, MeshFault::NotWatertight(3), "{name}");
        let message = error.to_string();
        assert!(
            message.contains(name)
                && message.contains("3 of its edges")
                && message.contains("allow_open = true"),
            "{message}"
        );
        assert_eq!(load(name, &bytes, true).unwrap().triangles.len(), 11);
    }
}

#[test]
fn broken_meshes_are_refused_with_the_reason() {
    let good = box_mesh(Vec3::ZERO, Vec3::ONE);
    let bytes = |change: &dyn Fn(&mut TriangleMesh)| {
        let mut mesh = good.clone();
        change(&mut mesh);
        ply_binary_bytes(&mesh, false)
    };
    let error = |bytes: Vec<u8>| load("a.ply", &bytes, false).unwrap_err().fault;
    let far = bytes(&|m| m.triangles[0][0] = 99);
    let (index, vertices) = (99, 8);
    assert_eq!(error(far), MeshFault::IndexOutOfRange { index, vertices });
    let nan = bytes(&|m| m.vertices[5].y = f32::NAN);
    assert_eq!(error(nan), MeshFault::NotFinite(5));
    let none = bytes(&|m| m.triangles.clear());
    assert_eq!(error(none), MeshFault::Empty);
    let point = bytes(&|m| m.vertices.fill(Vec3::ONE));
    assert_eq!(error(point), MeshFault::Degenerate);
    let flat = bytes(&|m| m.vertices.iter_mut().for_each(|v| v.z = 0.0));
    assert!(matches!(
        error(flat),
        MeshFault::Degenerate | MeshFault::Inconsistent(_)
    ));
    let mixed = bytes(&|m| m.triangles[3].swap(0, 1));
    assert_eq!(error(mixed), MeshFault::Inconsistent(3));
}

#[test]
fn missing_and_unknown_files() {
    let missing = load_mesh(Path::new("nowhere/rock.obj"), false).unwrap_err();
    assert!(matches!(missing.fault, MeshFault::Unreadable(_)));
    assert!(missing.to_string().contains("rock.obj"));
    for name in ["rock.fbx", "rock", ""] {
        let unknown = load_mesh(Path::new(name), false).unwrap_err();
        assert_eq!(unknown.fault, MeshFault::UnknownFormat);
        assert!(unknown.to_string().contains(".gltf"));
    }
}

#[test]
fn malformed_files_are_refused() {
    let traps: [(&str, &str); 12] = [
        ("a.obj", "v 0 0 0\nvn 0 0 0\nf 1//6148914691236517206 1 1\n"),
        (
            "a.obj",
            "v 0 0 0\nf 9223372036854775807 -9223372036854775808 1\n",
        ),
        ("a.obj", "v 0 0\nf 1 1 1\n"),
        ("a.obj", "f\nf 1\nf 0 0 0\n"),
        (
            "a.ply",
            "ply\nformat binary_little_endian 1.0\nelement vertex 9999999999999\nend_header\n",
        ),
        (
            "a.ply",
            "ply\nformat ascii 1.0\nelement face 1\nproperty list uint uint vertex_indices\nend_header\n4294967295 1\n",
        ),
        (
            "a.ply",
            "ply\nformat ascii 1.0\nproperty float x\nend_header\n",
        ),
        (
            "a.stl",
            "solid\nfacet normal 0 0 0\nouter loop\nvertex 1 2\n",
        ),
        (
            "a.gltf",
            r#"{"asset":{"version":"2.0"},"scenes":[{"nodes":[0]}],"nodes":[{"children":[0]}]}"#,
        ),
        (
            "a.gltf",
            r#"{"asset":{"version":"2.0"},"scenes":[{"nodes":[0]}],"nodes":[{"mesh":7}]}"#,
        ),
        (
            "a.gltf",
            r#"{"asset":{"version":"2.0"},"meshes":[{"primitives":[{"attributes":{"POSITION":3}}]}]}"#,
        ),
        (
            "a.gltf",
            r#"{"asset":{"version":"2.0"},"buffers":[{"byteLength":18446744073709551615,"uri":"data:;base64,AA"}]}"#,
        ),
    ];
    for (name, text) in traps {
        let error = load(name, text.as_bytes(), true);
        assert!(error.is_err(), "{text}");
    }
    // An accessor with a count of zero, one that overflows, one with a short stride.
    let (json, bin) = gltf_parts(&box_mesh(Vec3::ZERO, Vec3::ONE), r#","uri":"b.bin""#);
    for (from, to) in [
        (r#""count":36"#, r#""count":0"#),
        (r#""count":36"#, r#""count":18446744073709551615"#),
        (r#""byteLength":96"#, r#""byteStride":4,"byteLength":96"#),
        (r#""byteLength":96"#, r#""byteLength":95"#),
        (r#""byteOffset":96"#, r#""byteOffset":18446744073709551615"#),
    ] {
        assert!(json.contains(from));
        let (folder, path) = write("a.gltf", json.replace(from, to).as_bytes());
        std::fs::write(folder.path().join("b.bin"), &bin).unwrap();
        assert!(load_mesh(&path, true).is_err(), "{to}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Any bytes give a mesh or an error, and an accepted mesh can be used.
    #[test]
    fn damaged_files_never_panic(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
        truncate in any::<bool>(),
    ) {
        for (name, mut bytes) in all_formats(&box_mesh(Vec3::ZERO, Vec3::ONE)) {
            for (at, value) in &edits {
                let at = at.index(bytes.len());
                bytes[at] = *value;
            }
            if truncate {
                bytes.truncate(cut.index(bytes.len()));
            }
            if let Ok(mesh) = load(name, &bytes, true) {
                let vertices = mesh.vertices.len() as u32;
                prop_assert!(mesh.triangles.iter().flatten().all(|i| *i < vertices));
                prop_assert!(mesh.vertices.iter().all(|v| v.is_finite()));
                let size = mesh.bounds().size().max_element();
                let shape = crate::Geometry::mesh(&mesh, size / 8.0);
                prop_assert!(shape.distance(Vec3::ZERO).is_finite());
            }
        }
    }

    #[test]
    fn random_bytes_never_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        prefix in prop::sample::select(vec![
            "", "solid ", "ply\n", "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nend_header\n",
            "glTF\x02\0\0\0", "{\"asset\":{\"version\":\"2.0\"}", "v 1 2 3\nf ", "\n",
        ]),
    ) {
        let bytes = [prefix.as_bytes(), &bytes].concat();
        for name in ["a.obj", "a.stl", "a.ply", "a.gltf", "a.glb"] {
            let _ = load(name, &bytes, true);
        }
    }

    #[test]
    fn random_words_never_panic(
        words in prop::collection::vec(prop::sample::select(vec![
            "v", "f", "vn", "vt", "o", "g", "usemtl", "mtllib", "l", "p", "#", "\\", "\n", "\r\n", "1", "-1", "0",
            "1/2/3", "1//1", "/", "//", "1e40", "nan", "inf", "-9223372036854775808", "18446744073709551615",
            "solid", "facet", "normal", "outer", "loop", "vertex", "endloop", "endfacet", "endsolid", "ply", "format",
            "ascii", "binary_big_endian", "1.0", "element", "face", "property", "list", "uchar", "int", "float",
            "double", "x", "y", "z", "vertex_indices", "end_header", "comment", "obj_info",
        ]), 0..60),
        start in prop::sample::select(vec!["", "solid x\n", "ply\nformat ascii 1.0\n", "v 0 0 0\nv 1 0 0\nv 0 1 0\n"]),
    ) {
        let text = format!("{start}{}", words.join(" "));
        for name in ["a.obj", "a.stl", "a.ply"] {
            let _ = load(name, text.as_bytes(), true);
        }
    }
}
