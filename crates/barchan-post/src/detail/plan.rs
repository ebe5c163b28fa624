//! How many grains each base particle has, and which.

use super::DetailError;
use super::base::{BaseFrame, Kind, read_ids};
use super::sampling::mix;
use barchan_frame::ResultDirectory;
use std::collections::HashMap;

/// The base particles of a whole film, and the identities of their grains.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// First grain of each base particle, in the order of `parents`, and the end.
    first: Vec<u32>,
    parents: Vec<Parent>,
    by_id: HashMap<u64, u32>,
    /// Grains that a particle gets that was not there when grains were counted.
    usual: u32,
    /// Mean radius of the base particles [m].
    radius: f32,
}

/// A base particle that has grains.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parent {
    /// Its identity.
    pub id: u64,
    /// Its size and substance when it appeared.
    pub kind: Kind,
}

/// The particles that a film ever has, each as it appeared.
#[derive(Debug, Default)]
pub struct Census {
    seen: HashMap<u64, Kind>,
    /// Frames that were counted, ascending.
    pub frames: Vec<u32>,
    /// Most particles in one frame.
    pub most: usize,
}

impl Census {
    /// Counts the particles of these frames of a base, those that can be read.
    ///
    /// # Errors
    /// A base whose first frame cannot be read, or is not that of a particle solver.
    pub fn take(base: &ResultDirectory, frames: &[u32]) -> Result<Self, DetailError> {
        let mut census = Self::default();
        for &index in frames {
            match census.add(base, index) {
                Err(error) if census.frames.is_empty() => return Err(error),
                Err(error) => tracing::warn!("frame {index} is not counted: {error}"),
                Ok(()) => {}
            }
        }
        Ok(census)
    }

    fn add(&mut self, base: &ResultDirectory, index: u32) -> Result<(), DetailError> {
        let ids = read_ids(base, index)?;
        if !ids.iter().all(|id| self.seen.contains_key(id)) {
            self.add_frame(&BaseFrame::read(base, index)?);
        }
        self.most = self.most.max(ids.len());
        self.frames.push(index);
        Ok(())
    }

    /// Counts the particles of a frame.
    pub fn add_frame(&mut self, frame: &BaseFrame) {
        for (id, kind) in frame.id.iter().zip(&frame.kind) {
            self.seen.entry(*id).or_insert(*kind);
        }
    }

    /// Number of particles seen so far.
    pub fn particles(&self) -> usize {
        self.seen.len()
    }
}

impl Plan {
    /// Spreads so many grains over all particles: as evenly as whole numbers allow, the rest by a hash of their ids.
    ///
    /// # Errors
    /// Fewer grains than particles, or more than can be told apart.
    pub fn new(census: &Census, grains: u64) -> Result<Self, DetailError> {
        let mut ids: Vec<u64> = census.seen.keys().copied().collect();
        ids.sort_unstable();
        let particles = ids.len() as u64;
        if grains > u64::from(u32::MAX) {
            return Err(DetailError::TooMany(grains));
        }
        if grains < particles {
            return Err(DetailError::TooFew { grains, particles });
        }
        let usual = grains.checked_div(particles).unwrap_or(0) as u32;
        let rest = grains.checked_rem(particles).unwrap_or(0) as usize;
        let mut lucky: Vec<(u64, u64)> = ids.iter().map(|id| (mix(!id), *id)).collect();
        lucky.sort_unstable();
        lucky.truncate(rest);
        let mut lucky: Vec<u64> = lucky.into_iter().map(|(_, id)| id).collect();
        lucky.sort_unstable();
        let mut plan = Self {
            first: vec![0],
            usual,
            ..Self::default()
        };
        let mut sum = 0.0;
        for id in ids {
            let kind = census.seen.get(&id).copied().unwrap_or_default();
            sum += f64::from(kind.radius);
            let more = u32::from(lucky.binary_search(&id).is_ok());
            plan.push(Parent { id, kind }, usual + more)?;
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

    /// Takes in the particles of a frame that were not counted: the base has grown since. They get the usual number.
    ///
    /// # Errors
    /// More grains than can be told apart.
    pub fn admit(&mut self, frame: &BaseFrame) -> Result<(), DetailError> {
        for (id, kind) in frame.id.iter().zip(&frame.kind) {
            if !self.by_id.contains_key(id) {
                let parent = Parent {
                    id: *id,
                    kind: *kind,
                };
                self.push(parent, self.usual.max(1))?;
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

    fn census(ids: impl IntoIterator<Item = u64>) -> Census {
        let kind = Kind {
            radius: 0.5,
            mass: 2.0,
            material: 0,
        };
        Census {
            seen: ids.into_iter().map(|id| (id, kind)).collect(),
            ..Census::default()
        }
    }

    #[test]
    fn all_grains_are_given_out_evenly_and_each_knows_its_parent() {
        let plan = Plan::new(&census((0..97).map(|i| 3 * i)), 10_007).unwrap();
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
        // The rest is not given to the first ones.
        let more = |i: &u64| plan.grains_of(3 * i).unwrap().1 == 104;
        assert!((5..=11).contains(&(0..48).filter(more).count()));
    }

    #[test]
    fn late_particles_get_the_usual_number() {
        let mut plan = Plan::new(&census(0..10), 105).unwrap();
        let frame = BaseFrame {
            id: vec![4, 70, 80],
            kind: vec![Kind::default(); 3],
            ..BaseFrame::default()
        };
        plan.admit(&frame).unwrap();
        assert_eq!(plan.grains_of(70), Some((105, 10)));
        assert_eq!(plan.grains_of(80), Some((115, 10)));
        plan.admit(&frame).unwrap();
        assert_eq!(plan.grains(), 125);
    }

    #[test]
    fn impossible_numbers_are_refused_and_nothing_is_possible() {
        let refused = |n| Plan::new(&census(0..10), n).unwrap_err().to_string();
        assert!(refused(9).contains("fewer than the 10 particles"));
        assert!(refused(1 << 33).contains("can be told apart"));
        let empty = Plan::new(&census([]), 1000).unwrap();
        assert_eq!((empty.grains(), empty.particles()), (0, 0));
    }
}
