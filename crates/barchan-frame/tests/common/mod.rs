//! Small results to write and damage.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "helpers of tests; each test binary uses a part of them"
)]

use barchan_frame::{Column, ColumnData, Frame, Manifest, ManifestMaterial, ResultDirectory};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Resolved scene of every test result.
pub const SCENE: &str = "name = \"test\"\n";

/// A manifest that a solver might give.
pub fn manifest() -> Manifest {
    Manifest {
        scene: "test".into(),
        description: "A test.".into(),
        solver: "mpm".into(),
        dimensions: 3,
        dx: 0.01,
        frame_rate: 24.0,
        frames: 4,
        materials: vec![ManifestMaterial {
            name: "sand".into(),
            density: 1600.0,
        }],
        colliders: vec!["floor".into()],
        created_by: "barchan 0.1.0".into(),
        ..Manifest::default()
    }
}

/// A fresh result in a temporary directory.
pub fn fresh() -> (tempfile::TempDir, ResultDirectory) {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("result");
    let directory = ResultDirectory::create(&path, &manifest(), SCENE).unwrap();
    (root, directory)
}

/// The same numbers for the same seed, between 0 and 1.
pub fn random(seed: u32) -> impl FnMut() -> f32 {
    let mut state = u64::from(seed) * 2 + 1;
    move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1 << 24) as f32
    }
}

/// A frame with columns of every type.
pub fn frame(index: u32, particles: usize) -> Frame {
    let mut next = random(index);
    let mut floats = |n: usize| -> Vec<f32> { (0..n).map(|_| 2.0 * next() - 1.0).collect() };
    let attributes = json!({
        "statistics": {"substeps": 17, "max_speed": 0.1 + 0.2},
        "bodies": [{"name": "floor", "force": [0.0, -9.81, 1e-300]}],
    });
    Frame {
        arrays: Vec::new(),
        index,
        time: f64::from(index) / 24.0,
        columns: vec![
            Column::vector3("position", "m", "position", 1e-5, floats(3 * particles)),
            Column::vector3("velocity", "m/s", "velocity", 0.0, floats(3 * particles)),
            Column::scalar("pressure", "Pa", "mean pressure", 0.5, floats(particles)),
            Column::exact(
                "id",
                "1",
                "stable number",
                1,
                ColumnData::U32((0..particles as u32).rev().collect()),
            ),
            Column::exact(
                "material",
                "1",
                "index",
                1,
                ColumnData::U8(vec![0; particles]),
            ),
            Column::exact(
                "key",
                "1",
                "block",
                2,
                ColumnData::U64((0..2 * particles as u64).map(|i| i << 40).collect()),
            ),
        ],
        attributes: attributes.as_object().cloned().unwrap(),
    }
}

/// All files below a directory.
pub fn files_below(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_below(&path));
        } else {
            found.push(path);
        }
    }
    found.sort_unstable();
    found
}

/// Everything a file can suffer: cut short, a bit flipped, gone.
pub fn each_damage(file: &Path, mut check: impl FnMut(&str)) {
    let good = std::fs::read(file).unwrap();
    let lengths = [0, 1, good.len() / 2, good.len().saturating_sub(1)];
    for length in lengths.into_iter().filter(|l| *l < good.len()) {
        std::fs::write(file, &good[..length]).unwrap();
        check(&format!("{} cut to {length}", file.display()));
    }
    let stride = (good.len() / 60).max(1);
    for byte in (0..good.len()).step_by(stride) {
        let mut bad = good.clone();
        bad[byte] ^= 1 << (byte % 7);
        std::fs::write(file, &bad).unwrap();
        check(&format!("{} with byte {byte} changed", file.display()));
    }
    std::fs::remove_file(file).unwrap();
    check(&format!("{} removed", file.display()));
    std::fs::write(file, &good).unwrap();
}
