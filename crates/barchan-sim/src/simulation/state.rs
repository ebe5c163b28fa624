//! What a run knows besides the solver's state, and its exact form in a checkpoint.

use super::Counters;
use crate::identities::Identities;
use barchan_frame::Checkpoint;
use serde_json::{Value, json};

/// The attribute of a checkpoint that holds the state.
pub(super) const ATTRIBUTE: &str = "simulation";

/// Everything that decides how a run goes on, beside the solver's own state.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct State {
    /// Last whole frame.
    pub frame: u32,
    /// Simulated time [s].
    pub time: f64,
    /// Identities that are left for new particles.
    pub identities: Identities,
    /// Solver steps since the beginning.
    pub substeps: u64,
    /// Solver steps in the last frame, or so far in the present one.
    pub frame_substeps: u64,
    /// Iterations of the solver in these.
    pub frame_iterations: u64,
    /// Steps that were given up and taken again in shorter ones.
    pub rejected: u64,
    /// Particles advanced by a step, summed.
    pub particle_substeps: u64,
    /// Grains born before this moment have been emitted [s].
    pub emitted_until: f64,
    /// Bound on how far any particle moved since the last look for particles to remove [m].
    pub travelled: f64,
    /// Particles emitted, by emitter.
    pub emitted: Vec<u64>,
    /// Particles removed, by drain.
    pub drained: Vec<u64>,
    /// Particles that left the domain.
    pub left_domain: u64,
}

impl State {
    /// The beginning of a run.
    pub fn new(emitters: usize, drains: usize) -> Self {
        Self {
            frame: 0,
            time: 0.0,
            identities: Identities::default(),
            substeps: 0,
            frame_substeps: 0,
            frame_iterations: 0,
            rejected: 0,
            particle_substeps: 0,
            emitted_until: 0.0,
            travelled: 0.0,
            emitted: vec![0; emitters],
            drained: vec![0; drains],
            left_domain: 0,
        }
    }

    pub fn counters(&self) -> Counters {
        Counters {
            substeps: self.substeps,
            particle_substeps: self.particle_substeps,
            emitted: self.emitted.clone(),
            drained: self.drained.clone(),
            left_domain: self.left_domain,
            rejected: self.rejected,
        }
    }

    /// Floats go as the hexadecimal digits of their bits: decimal digits need not come back the same.
    pub fn to_json(&self) -> Value {
        json!({
            "frame": self.frame,
            "time_bits": bits(self.time),
            "identities": [self.identities.next, self.identities.last],
            "substeps": self.substeps,
            "frame_substeps": self.frame_substeps,
            "frame_iterations": self.frame_iterations,
            "rejected": self.rejected,
            "particle_substeps": self.particle_substeps,
            "emitted_until_bits": bits(self.emitted_until),
            "travelled_bits": bits(self.travelled),
            "emitted": self.emitted,
            "drained": self.drained,
            "left_domain": self.left_domain,
        })
    }

    /// The inverse of [`Self::to_json`]; the error says what is missing or malformed.
    pub fn from_json(value: Option<&Value>) -> Result<Self, String> {
        let value = value.ok_or_else(|| format!("it has no `{ATTRIBUTE}` attribute"))?;
        let read = Reader(value);
        let state = Self {
            frame: read.u32("frame")?,
            time: read.float("time_bits")?,
            identities: read.identities()?,
            substeps: read.u64("substeps")?,
            frame_substeps: read.u64("frame_substeps")?,
            frame_iterations: read.u64("frame_iterations")?,
            rejected: read.u64("rejected")?,
            particle_substeps: read.u64("particle_substeps")?,
            emitted_until: read.float("emitted_until_bits")?,
            travelled: read.float("travelled_bits")?,
            emitted: read.counts("emitted")?,
            drained: read.counts("drained")?,
            left_domain: read.u64("left_domain")?,
        };
        Ok(state)
    }
}

/// The identities that a run left when it was saved.
pub(crate) fn identities_of(checkpoint: &Checkpoint) -> Result<Identities, String> {
    State::from_json(checkpoint.attributes.get(ATTRIBUTE)).map(|state| state.identities)
}

fn bits(value: f64) -> String {
    format!("{:016x}", value.to_bits())
}

struct Reader<'a>(&'a Value);

impl Reader<'_> {
    fn u64(&self, key: &str) -> Result<u64, String> {
        self.0
            .get(key)
            .and_then(Value::as_u64)
            .ok_or_else(|| malformed(key))
    }

    fn u32(&self, key: &str) -> Result<u32, String> {
        u32::try_from(self.u64(key)?).map_err(|_| malformed(key))
    }

    fn float(&self, key: &str) -> Result<f64, String> {
        self.0
            .get(key)
            .and_then(Value::as_str)
            .and_then(|text| u64::from_str_radix(text, 16).ok())
            .map(f64::from_bits)
            .filter(|value| value.is_finite())
            .ok_or_else(|| malformed(key))
    }

    fn identities(&self) -> Result<Identities, String> {
        let [next, last] = self.counts("identities")?[..] else {
            return Err(malformed("identities"));
        };
        let number = |n| u32::try_from(n).map_err(|_| malformed("identities"));
        Ok(Identities {
            next: number(next)?,
            last: number(last)?,
        })
    }

    fn counts(&self, key: &str) -> Result<Vec<u64>, String> {
        let values = self.0.get(key).and_then(Value::as_array);
        values
            .and_then(|list| list.iter().map(Value::as_u64).collect())
            .ok_or_else(|| malformed(key))
    }
}

fn malformed(key: &str) -> String {
    format!("`{ATTRIBUTE}.{key}` is missing or malformed")
}
