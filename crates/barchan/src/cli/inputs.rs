//! What a run reads besides its scene, the meshes: told in the manifest, compared at `--resume`. And what a scene asks for that
//! will hardly come out as meant.

use super::{Failure, output};
use barchan::frame::{ManifestMesh, ResultDirectory};
use barchan::scene::Scene;

/// The meshes, as the manifest lists them.
pub fn meshes(scene: &Scene) -> Vec<ManifestMesh> {
    let meshes = scene.meshes.iter().map(|m| ManifestMesh {
        file: m.file.clone(),
        digest: m.digest.clone(),
    });
    meshes.collect()
}

/// Refuses to go on with meshes that are not those of the beginning.
pub fn refuse_other_meshes(directory: &ResultDirectory, scene: &Scene) -> Result<(), Failure> {
    let begun = &directory.manifest().meshes;
    let changed = scene.meshes.iter().find(|mesh| {
        let same = |m: &&ManifestMesh| m.file == mesh.file;
        begun
            .iter()
            .find(same)
            .is_some_and(|m| m.digest != mesh.digest)
    });
    match changed {
        Some(mesh) => Err(Failure::call(
            format_args!(
                "the mesh {} was changed since the run in {} began",
                mesh.file,
                directory.path().display()
            ),
            "restore it, or simulate with the changed mesh into another directory with -o",
        )),
        None => Ok(()),
    }
}

/// Warns of what will run, but hardly as meant.
pub fn warnings(scene: &Scene) -> Vec<String> {
    let thin = barchan::sim::collider::thin_movers(scene);
    thin.iter().map(ToString::to_string).collect()
}

/// Shows them.
pub fn warn(scene: &Scene) {
    for warning in warnings(scene) {
        output::note(format_args!("warning: {warning}"));
    }
}
