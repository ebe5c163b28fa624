//! How many grains each base particle receives, and their identities.

use super::DetailError;
use super::base::{BaseFrame, Kind, read_ids};
use super::sampling::mix;
use barchan_frame::ResultDirectory;
use std::collections::{HashMap, HashSet};

/// The base particles of all frames, and the identities of their grains.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// First grain of each base particle, in the order of `parents`, and the total.
    first: Vec<u32>,
    parents: Vec<Parent>,
    by_id: HashMap<u64, u32>,
    /// Grains of a particle that was emitted after the allocation.
    default_count: u32,
    /// Mean radius of the base particles [m].
    radius: f32,
}

/// A base particle that has grains.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parent {
    /// Its identity.
    pub id: u64,
    /// Its size and material in its first frame.
    pub kind: Kind,
}

/// All particles of the base, each with the data of its first frame.
#[derive(Debug, Default)]
pub struct BaseParticles {
    seen: HashMap<u64, Kind>,
    /// Frames that were read, ascending.
    pub frames: Vec<u32>,
    /// Largest number of particles in a frame.
    pub peak: usize,
}

impl BaseParticles {
    /// Collects the particles of those frames that can be read.
    ///
    /// # Errors
    /// The first frame cannot be read, or is not that of a particle solver.
    pub fn scan(base: &ResultDirectory, frames: &[u32]) -> Result<Self, DetailError> {
        let mut all = Self::default();
        for &index in frames {
            match all.add(base, index) {
                Err(error) if all.frames.is_empty() => return Err(error),
                Err(error) => tracing::warn!("frame {index} is not counted: {error}"),
                Ok(()) => {}
            }
        }
        Ok(all)
    }

    fn add(&mut self, base: &ResultDirectory, index: u32) -> Result<(), DetailError> {
        let ids = read_ids(base, index)?;
        if !ids.iter().all(|id| self.seen.contains_key(id)) {
            self.add_frame(&BaseFrame::read(base, index)?);
        }
        self.peak = self.peak.max(ids.len());
        self.frames.push(index);
        Ok(())
    }

    /// Adds the particles of a frame.
    pub fn add_frame(&mut self, frame: &BaseFrame) {
        for (id, kind) in frame.id.iter().zip(&frame.kind) {
            self.seen.entry(*id).or_insert(*kind);
        }
    }

    /// Number of particles so far.
    pub fn particles(&self) -> usize {
        self.seen.len()
    }
}

impl Plan {
    /// Distributes grains evenly over all particles; a hash of the ids decides which receive one of the remainder.
    ///
    /// # Errors
    /// Fewer grains than particles, or more than there are identities.
    pub fn new(base: &BaseParticles, grains: u64) -> Result<Self, DetailError> {
        let mut ids: Vec<u64> = base.seen.keys().copied().collect();
        ids.sort_unstable();
        let particles = ids.len() as u64;
        if grains > u64::from(u32::MAX) {
            return Err(DetailError::TooMany(grains));
        }
        if grains < particles {
            return Err(DetailError::TooFew { grains, particles });
        }
        let default_count = grains.checked_div(particles).unwrap_or(0) as u32;
        let rest = grains.checked_rem(particles).unwrap_or(0) as usize;
        let mut by_hash: Vec<(u64, u64)> = ids.iter().map(|id| (mix(!id), *id)).collect();
        by_hash.sort_unstable();
        let extra: HashSet<u64> = by_hash.iter().take(rest).map(|(_, id)| *id).collect();
        let mut plan = Self {
            first: vec![0],
            default_count,
            ..Self::default()
        };
        let mut sum = 0.0;
        for id in ids {
            let kind = base.seen.get(&id).copied().unwrap_or_default();
            sum += f64::from(kind.radius);
            let more = u32::from(extra.contains(&id));
            plan.push(Parent { id, kind }, default_count + more)?;
        }
        if particles > 0 {
            plan.radius = (sum / particles as f64) as f32;
        }
        Ok(plan)
    }

    fn push(&mut self, parent: Parent, count: u32) -> Result<(), DetailError> {
        let end = self.first.last().copied().unwrap_or(0);
        let Some(next) = end.checked_add(count) else {
            return Err(DetailError::TooMany(u64::from(end) + u64::from(count)));
        };
        self.by_id.insert(parent.id, self.parents.len() as u32);
        self.parents.push(parent);
        self.first.push(next);
        Ok(())
    }

    /// Adds the particles of a frame that were emitted after the allocation. They receive the default number of grains.
    ///
    /// # Errors
    /// More grains than there are identities.
    pub fn allocate_emitted(&mut self, frame: &BaseFrame) -> Result<(), DetailError> {
        for (id, kind) in frame.id.iter().zip(&frame.kind) {
            if !self.by_id.contains_key(id) {
                let (id, kind) = (*id, *kind);
                self.push(Parent { id, kind }, self.default_count.max(1))?;
                if self.radius == 0.0 {
                    self.radius = kind.radius;
                }
            }
        }
        Ok(())
    }

    /// Mean radius of the base particles [m]; 0 when there are none.
    pub fn radius(&self) -> f32 {
        self.radius
    }

    /// Grains of all particles together.
    pub fn grains(&self) -> u64 {
        self.first.last().copied().unwrap_or(0).into()
    }

    /// Base particles.
    pub fn particles(&self) -> usize {
        self.parents.len()
    }

    /// Mean number of grains of a particle.
    pub fn mean(&self) -> f32 {
        (self.grains() as f64 / self.particles().max(1) as f64) as f32
    }

    /// First grain and number of grains of a base particle.
    pub fn grains_of(&self, id: u64) -> Option<(u32, u32)> {
        let i = *self.by_id.get(&id)? as usize;
        let [first, next] = [self.first[i], self.first[i + 1]];
        Some((first, next - first))
    }

    /// The base particle that a grain belongs to.
    pub fn parent_of(&self, grain: u32) -> Option<Parent> {
        let next = self.first.partition_point(|first| *first <= grain);
        self.parents.get(next.checked_sub(1)?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base(ids: impl IntoIterator<Item = u64>) -> BaseParticles {
        let kind = Kind {
            radius: 0.5,
            mass: 2.0,
            material: 0,
        };
        BaseParticles {
            seen: ids.into_iter().map(|id| (id, kind)).collect(),
            ..BaseParticles::default()
        }
    }

    #[test]
    fn grains_are_distributed_evenly_among_their_parents() {
        let plan = Plan::new(&base((0..97).map(|i| 3 * i)), 10_007).unwrap();
        assert_eq!(plan.grains(), 10_007);
        let mut next = 0;
        for i in 0..97 {
            let (first, count) = plan.grains_of(3 * i).unwrap();
            assert_eq!(first, next);
            assert!((103..=104).contains(&count));
            next += count;
            assert_eq!(plan.parent_of(first).unwrap().id, 3 * i);
            assert_eq!(plan.parent_of(next - 1).unwrap().id, 3 * i);
        }
        assert_eq!(plan.parent_of(10_007), None);
        // The remainder does not go to the first particles.
        let more = |i: &u64| plan.grains_of(3 * i).unwrap().1 == 104;
        assert!((5..=11).contains(&(0..48).filter(more).count()));
    }

    #[test]
    fn late_particles_get_the_default_number() {
        let mut plan = Plan::new(&base(0..10), 105).unwrap();
        let frame = BaseFrame {
            id: vec![4, 70, 80],
            kind: vec![Kind::default(); 3],
            ..BaseFrame::default()
        };
        plan.allocate_emitted(&frame).unwrap();
        assert_eq!(plan.grains_of(70), Some((105, 10)));
        assert_eq!(plan.grains_of(80), Some((115, 10)));
        plan.allocate_emitted(&frame).unwrap();
        assert_eq!(plan.grains(), 125);
    }

    #[test]
    fn invalid_numbers_are_refused_and_an_empty_base_is_accepted() {
        let refused = |n| Plan::new(&base(0..10), n).unwrap_err().to_string();
        assert!(refused(9).contains("fewer than the 10 particles"));
        assert!(refused(1 << 33).contains("available identities"));
        let empty = Plan::new(&base([]), 1000).unwrap();
        assert_eq!((empty.grains(), empty.particles()), (0, 0));
    }
}
