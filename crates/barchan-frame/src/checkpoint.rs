//! Checkpoints, in memory: the exact state that a run goes on from.

use crate::column::{Column, find};
use crate::digest;
use crate::exact::{self, Exact};
use crate::identities::Identities;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The exact state of a run at the end of a frame.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Checkpoint {
    /// Number of the frame.
    pub index: u32,
    /// Simulated time [s].
    pub time: f64,
    /// State of the particles: columns, all for the same number of particles. Tolerances do not count.
    pub columns: Vec<Column>,
    /// State of the solver that is not of particles: as columns, each with its own number of rows.
    pub arrays: Vec<Column>,
    /// State of the rigid bodies, as the simulation encodes it; empty without any.
    pub bodies: Vec<u8>,
    /// Everything else.
    pub record: CheckpointRecord,
}

/// Single numbers of a checkpoint.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckpointRecord {
    /// Single numbers of the solver's state.
    scalars: BTreeMap<String, Exact>,
    /// State of the frame loop; `None` in the state of a solver alone.
    #[serde(rename = "loop", default, skip_serializing_if = "Option::is_none")]
    pub loop_state: Option<LoopState>,
}

/// Everything that decides how a run goes on beside the states of solver and bodies.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LoopState {
    /// Last whole frame.
    pub frame: u32,
    /// Simulated time [s].
    #[serde(with = "exact")]
    pub time: f64,
    /// Identities that are left for new particles.
    pub identities: Identities,
    /// Solver steps since the beginning.
    pub substeps: u64,
    /// Solver steps in the last frame, or so far in the present one.
    pub frame_substeps: u64,
    /// Iterations of the solver in these.
    pub frame_iterations: u64,
    /// Largest relative residual that one of these ended with; `None` where it is not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_residual: Option<Exact>,
    /// Steps that were given up and taken again in shorter ones.
    pub rejected: u64,
    /// Particles advanced by a step, summed.
    pub particle_substeps: u64,
    /// Grains born before this moment have been emitted [s].
    #[serde(with = "exact")]
    pub emitted_until: f64,
    /// Bound on how far any particle moved since the last look for particles to remove [m].
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
    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        find(&self.columns, name)
    }

    /// The array of that name.
    pub fn array(&self, name: &str) -> Option<&Column> {
        find(&self.arrays, name)
    }

    /// Number of particles.
    pub fn particles(&self) -> usize {
        self.columns.first().map_or(0, Column::particles)
    }

    /// Keeps a number of the solver's state to the last bit; floats and integers of 32 bits are exact as well.
    pub fn set_scalar(&mut self, name: &str, value: impl Into<f64>) {
        let value = Exact(value.into());
        self.record.scalars.insert(name.to_owned(), value);
    }

    /// A number of the solver's state.
    pub fn scalar(&self, name: &str) -> Option<f64> {
        self.record.scalars.get(name).map(|scalar| scalar.0)
    }

    /// Forgets a number of the solver's state.
    pub fn remove_scalar(&mut self, name: &str) {
        self.record.scalars.remove(name);
    }

    /// blake3 (hexadecimal) of time and of names, types, shapes and exact bytes of columns and arrays: the same bytes, the
    /// same digest. Units, the frame number, bodies and the record do not enter.
    pub fn digest(&self) -> String {
        digest::state_digest(self.time, &self.columns, &self.arrays)
    }
}
