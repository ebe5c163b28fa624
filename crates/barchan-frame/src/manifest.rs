//! The manifest of a result: describes the simulation for readers of the frames, without the scene.

use serde::{Deserialize, Serialize};

/// Version of the layout on disk that this code writes and reads.
pub const FORMAT_VERSION: u32 = 2;

/// Contents of `manifest.json`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the layout; [`crate::ResultDirectory::create`] fills in [`FORMAT_VERSION`].
    pub format: u32,
    /// Name of the scene.
    pub scene: String,
    /// One or two sentences about the scene.
    #[serde(default)]
    pub description: String,
    /// Folder that the paths of meshes and of the start in the scene are relative to, on the machine of the run.
    #[serde(default)]
    pub scene_directory: String,
    /// blake3 of the resolved scene document; [`crate::ResultDirectory::create`] fills it in.
    pub scene_digest: String,
    /// Name of the solver, such as `mpm`.
    pub solver: String,
    /// Number of space dimensions, 2 or 3. In 2D, masses and volumes are those of a slab 1 m thick.
    pub dimensions: u32,
    /// Resolution: grid spacing, or grain diameter of a solver without a grid [m].
    pub dx: f64,
    /// Frames per simulated second [1/s].
    pub frame_rate: f64,
    /// Number of the last frame of the complete run (frame 0 is the initial state).
    pub frames: u32,
    /// Materials; the frame column `material` holds indices into this list.
    pub materials: Vec<ManifestMaterial>,
    /// Names of the colliders, in the order of the per-body records of each frame.
    pub colliders: Vec<String>,
    /// Meshes of the scene.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub meshes: Vec<ManifestMesh>,
    /// Initial state of the run, if it started from an earlier result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<ManifestStart>,
    /// How the result was refined from another, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<ManifestDetail>,
    /// Program and version that wrote the result.
    pub created_by: String,
}

/// A material in the manifest.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ManifestMaterial {
    /// Name in the scene.
    pub name: String,
    /// Bulk density at rest [kg/m³].
    pub density: f64,
}

/// A mesh in the manifest.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ManifestMesh {
    /// Path in the scene.
    pub file: String,
    /// blake3 of the vertices and triangles read from it.
    pub digest: String,
}

/// The initial state of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ManifestStart {
    /// Path of the earlier result in the scene.
    pub result: String,
    /// Its frame.
    pub frame: u32,
    /// Digest of its state.
    pub digest: String,
}

/// How a result was refined from another.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ManifestDetail {
    /// The result whose particles the grains follow, on the machine of the refinement.
    pub base: String,
    /// Requested number of grains.
    pub grains: u64,
    /// Longest time step [s].
    pub dt: f64,
    /// Name of the method.
    pub method: String,
    /// First and last frame of each run of base frames whose particles were counted.
    pub counted: Vec<[u32; 2]>,
}
