//! The manifest of a run or of a live view.

use barchan::frame::{Manifest, ManifestMaterial, ManifestMesh};
use barchan::scene::Scene;
use std::path::Path;

/// The manifest of a scene whose meshes are relative to `directory`.
pub fn of_scene(scene: &Scene, base: &Path) -> Manifest {
    let materials = scene.materials.iter().map(|m| ManifestMaterial {
        name: m.name.clone(),
        density: m.density,
    });
    let meshes = scene.meshes.iter().map(|m| ManifestMesh {
        file: m.file.clone(),
        digest: m.digest.clone(),
    });
    // A scene given by its bare name has the empty path as its directory.
    let base = std::path::absolute(Path::new(".").join(base)).unwrap_or_else(|_| base.to_owned());
    Manifest {
        scene: scene.name.clone(),
        description: scene.description.clone(),
        scene_directory: base.to_string_lossy().into_owned(),
        solver: scene.solver.family.name.into(),
        dimensions: scene.dimensions.count() as u32,
        dx: scene.solver.resolution,
        frame_rate: scene.frame_rate,
        frames: scene.frames,
        materials: materials.collect(),
        colliders: scene.solids().map(|c| c.name.clone()).collect(),
        meshes: meshes.collect(),
        created_by: concat!("barchan ", env!("CARGO_PKG_VERSION")).into(),
        ..Manifest::default()
    }
}
