//! Small results for tests of writing and damage.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "helpers of tests; each test binary uses a part of them"
)]

use barchan_frame::{
    BodyRecord, Checkpoint, Column, ColumnData, Frame, FrameRecord, JointRecord, LoopState,
    Manifest, ManifestMaterial, ResultDirectory, RunStatistics, Statistics, TERRAIN_HEIGHT,
    TerrainRecord, Unit,
};
use std::path::{Path, PathBuf};

/// Resolved scene of every test result.
pub const SCENE: &str = "name = \"test\"\n";

/// A typical manifest.
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

/// Deterministic random numbers between 0 and 1.
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
    Frame {
        arrays: vec![Column::exact(
            TERRAIN_HEIGHT,
            Unit::Meter,
            "height",
            2,
            ColumnData::F32(vec![0.5; 6]),
        )],
        index,
        time: f64::from(index) / 24.0,
        columns: vec![
            Column::vector3(
                "position",
                Unit::Meter,
                "position",
                1e-5,
                floats(3 * particles),
            ),
            Column::vector3(
                "velocity",
                Unit::MeterPerSecond,
                "velocity",
                0.0,
                floats(3 * particles),
            ),
            Column::scalar(
                "pressure",
                Unit::Pascal,
                "mean pressure",
                0.5,
                floats(particles),
            ),
            Column::exact(
                "id",
                Unit::One,
                "stable number",
                1,
                ColumnData::U32((0..particles as u32).rev().collect()),
            ),
            Column::exact(
                "material",
                Unit::One,
                "index",
                1,
                ColumnData::U8(vec![0; particles]),
            ),
            Column::exact(
                "key",
                Unit::One,
                "block",
                2,
                ColumnData::U64((0..2 * particles as u64).map(|i| i << 40).collect()),
            ),
        ],
        record: record(),
    }
}

/// A record with a value in every field.
pub fn record() -> FrameRecord {
    FrameRecord {
        statistics: Statistics {
            particles: 3,
            max_speed: 0.1 + 0.2,
            run: Some(RunStatistics {
                substeps: 17,
                residual: Some(1.0 / 3.0),
                ..RunStatistics::default()
            }),
            ..Statistics::default()
        },
        bodies: vec![BodyRecord {
            name: "floor".into(),
            position: [0.1, -0.0, f32::MIN_POSITIVE],
            force: [0.0, -9.81, 1e-300],
            ..BodyRecord::default()
        }],
        joints: vec![JointRecord {
            name: "hinge".into(),
            kind: "revolute".into(),
            position: 1.0 / 3.0,
            ..JointRecord::default()
        }],
        terrain: Some(TerrainRecord {
            columns: [2, 3],
            cell: 0.1,
            ..TerrainRecord::default()
        }),
    }
}

/// A checkpoint with the columns of [`frame`], and floats without a short decimal form.
pub fn checkpoint(index: u32, particles: usize) -> Checkpoint {
    let frame = frame(index, particles);
    let mut checkpoint = Checkpoint {
        index,
        time: frame.time,
        columns: frame.columns,
        arrays: frame.arrays,
        ..Checkpoint::default()
    };
    checkpoint.set_scalar("pace", f32::INFINITY);
    checkpoint.set_scalar("clock", 0.1 + 0.2);
    checkpoint.record.bodies = vec![0, 255, 16];
    checkpoint.record.loop_state = Some(LoopState {
        frame: index,
        time: frame.time,
        emitted_until: -1e-310,
        drained: vec![1, u64::MAX],
        ..LoopState::default()
    });
    checkpoint
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

/// Kinds of damage to a file: truncated, a bit flipped, missing.
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
