//! The record of a frame: statistics, rigid bodies, joints and terrain. `node` has its only serializer and parser; see
//! docs/frames.md.

use crate::column::Column;
use serde::{Deserialize, Serialize};

/// Array of the heights of a terrain, whose layout is in [`FrameRecord::terrain`].
pub const TERRAIN_HEIGHT: &str = "terrain_height";

/// Contents of a frame besides columns and arrays. Every number is finite on disk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FrameRecord {
    /// Sums over the particles, and counts.
    pub statistics: Statistics,
    /// Colliders in scene order, then rigid bodies.
    pub bodies: Vec<BodyRecord>,
    /// Joints in scene order.
    pub joints: Vec<JointRecord>,
    /// Layout of the terrain, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terrain: Option<TerrainRecord>,
}

/// Sums over the particles of a frame, and counts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// Number of particles.
    pub particles: u64,
    /// Mass [kg].
    pub mass_kg: f64,
    /// Kinetic energy [J].
    pub kinetic_energy_j: f64,
    /// Speed of the fastest particle [m/s].
    pub max_speed: f64,
    /// Counters of the simulation, if a solver wrote the frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunStatistics>,
    /// Counters of the refinement, if the frame refines another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<DetailStatistics>,
}

/// Counters of a simulation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunStatistics {
    /// Height y of the center of mass [m]; 0 without particles.
    pub center_of_mass_height_m: f64,
    /// Solver steps since the previous frame.
    pub substeps: u64,
    /// Solver steps since the start.
    pub substeps_total: u64,
    /// Mean length of the steps since the previous frame [s]; 0 if there were none.
    pub mean_dt_s: f64,
    /// Iterations of the solver since the previous frame.
    pub iterations: u64,
    /// Largest final relative residual of the steps since the previous frame; `None` if the solver does not measure it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residual: Option<f64>,
    /// Steps that were rejected and repeated as shorter ones, since the start.
    pub rejected_steps: u64,
    /// Particles emitted since the start, by emitter.
    pub emitted: Vec<NamedCount>,
    /// Particles removed since the start, by drain.
    pub drained: Vec<NamedCount>,
    /// Particles that have left the domain since the start.
    pub left_domain: u64,
}

/// Counters of a refinement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DetailStatistics {
    /// Grains removed by drains, at the boundary of the domain and by the terrain since the start.
    pub removed: u64,
    /// Particles of the base frame.
    pub base_particles: u64,
}

/// Number of particles by name of an emitter or a drain.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedCount {
    /// Name in the scene.
    pub name: String,
    /// Number of particles.
    pub particles: u64,
}

/// Pose, motion and load of a collider or rigid body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BodyRecord {
    /// Name in the scene.
    pub name: String,
    /// Origin of the body's frame [m].
    pub position: [f32; 3],
    /// Rotation of the body's frame: quaternion x, y, z, w.
    pub rotation: [f32; 4],
    /// Velocity of the origin [m/s].
    pub velocity: [f32; 3],
    /// Angular velocity [rad/s].
    pub angular_velocity: [f32; 3],
    /// Mean force of the grains since the previous frame [N].
    pub force: [f64; 3],
    /// Mean torque of the grains about the origin since the previous frame [N m].
    pub torque: [f64; 3],
}

impl Default for BodyRecord {
    /// At rest and unloaded, at the origin.
    fn default() -> Self {
        Self {
            name: String::new(),
            position: [0.0; 3],
            rotation: [0.0, 0.0, 0.0, 1.0],
            velocity: [0.0; 3],
            angular_velocity: [0.0; 3],
            force: [0.0; 3],
            torque: [0.0; 3],
        }
    }
}

/// State of a joint.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct JointRecord {
    /// Name in the scene.
    pub name: String,
    /// Kind: `fixed`, `revolute`, `prismatic`, `spherical`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Position relative to the start [rad or m].
    pub position: f64,
    /// Rate of the position [rad/s or m/s].
    pub velocity: f64,
    /// Torque or force of its motor, positive toward larger positions [N m or N].
    pub motor_force: f64,
}

/// Layout and mass of a terrain; its heights are the array [`TERRAIN_HEIGHT`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct TerrainRecord {
    /// x and z of the corner [m].
    pub origin: [f32; 2],
    /// Side of a column [m].
    pub cell: f32,
    /// Columns along x and z.
    pub columns: [usize; 2],
    /// Height of the rock below [m].
    pub floor: f32,
    /// Index of the material.
    pub material: usize,
    /// Mass of the soil that is not grains [kg].
    pub mass_kg: f64,
    /// Part of it that was excavated and waits for space [kg].
    pub withheld_kg: f64,
}

impl FrameRecord {
    /// The body of that name.
    pub fn body(&self, name: &str) -> Option<&BodyRecord> {
        self.bodies.iter().find(|body| body.name == name)
    }

    /// Checks that a terrain has heights of its shape, and that heights have a terrain.
    pub(crate) fn check_terrain(&self, heights: Option<&Column>) -> Result<(), String> {
        let shape = heights.map(|h| [h.components, h.particles()]);
        match (self.terrain.map(|t| t.columns), shape) {
            (expected, found) if expected == found => Ok(()),
            (Some(_), None) => Err(format!("its terrain has no array `{TERRAIN_HEIGHT}`")),
            (None, _) => Err(format!("it has an array `{TERRAIN_HEIGHT}` but no terrain")),
            (Some(expected), Some(found)) => Err(format!(
                "its terrain has {expected:?} columns, and `{TERRAIN_HEIGHT}` has {found:?}"
            )),
        }
    }
}
