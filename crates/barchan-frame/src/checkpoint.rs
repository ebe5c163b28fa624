//! Checkpoints, in memory: the exact state from which a run is resumed.

use crate::column::State;
use crate::exact::{self, Exact};
use crate::identities::Identities;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The exact state of a run at the end of a frame. Tolerances of its columns are ignored.
pub type Checkpoint = State<CheckpointRecord>;

/// State of a run besides columns and arrays.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckpointRecord {
    /// Single numbers of the solver's state.
    scalars: BTreeMap<String, Exact>,
    /// State of the frame loop; `None` in the state of a solver alone.
    #[serde(rename = "loop", default, skip_serializing_if = "Option::is_none")]
    pub loop_state: Option<LoopState>,
    /// State of the rigid bodies, as encoded by the simulation; empty if there are none. An array of its own on disk.
    #[serde(skip)]
    pub bodies: Vec<u8>,
}

/// State of a run besides that of the solver and the bodies.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LoopState {
    /// Last complete frame.
    pub frame: u32,
    /// Simulated time [s].
    #[serde(with = "exact")]
    pub time: f64,
    /// Identities available for new particles.
    pub identities: Identities,
    /// Solver steps since the beginning.
    pub substeps: u64,
    /// Solver steps in the last frame, or in the present one so far.
    pub frame_substeps: u64,
    /// Iterations of the solver in these steps.
    pub frame_iterations: u64,
    /// Largest final relative residual of these steps; `None` if the solver does not measure it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_residual: Option<Exact>,
    /// Steps that were rejected and repeated as shorter ones.
    pub rejected: u64,
    /// Sum over all steps of the number of particles advanced.
    pub particle_substeps: u64,
    /// Time before which all emissions are done [s].
    #[serde(with = "exact")]
    pub emitted_until: f64,
    /// Bound on how far any particle moved since the last removal check [m].
    #[serde(with = "exact")]
    pub traveled: f64,
    /// Particles emitted, by emitter.
    pub emitted: Vec<u64>,
    /// Particles removed, by drain.
    pub drained: Vec<u64>,
    /// Particles that left the domain.
    pub left_domain: u64,
}

impl Checkpoint {
    /// Stores a number of the solver's state exactly; 32-bit floats and integers convert exactly.
    pub fn set_scalar(&mut self, name: &str, value: impl Into<f64>) {
        let value = Exact(value.into());
        self.record.scalars.insert(name.to_owned(), value);
    }

    /// A number of the solver's state.
    pub fn scalar(&self, name: &str) -> Option<f64> {
        self.record.scalars.get(name).map(|scalar| scalar.0)
    }

    /// Removes a number of the solver's state.
    pub fn remove_scalar(&mut self, name: &str) {
        self.record.scalars.remove(name);
    }
}
