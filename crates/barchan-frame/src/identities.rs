//! Identities of particles: one allocator for all sources of particles.

use serde::{Deserialize, Serialize};

/// Allocates identities, each of which is used only once in a run.
///
/// Fills and emitters count up from zero. Particles created by solvers (grains of excavated terrain) count down from the
/// largest number, so that the identities of fills and emitters do not depend on the simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identities {
    /// The next one for fills and emitters.
    next: u32,
    /// The next one for solvers.
    last: u32,
}

/// All identities have been used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no identities are left for new particles; a run can have about four billion in total")]
pub struct Exhausted;

impl Default for Identities {
    fn default() -> Self {
        Self {
            next: 0,
            last: u32::MAX,
        }
    }
}

impl Identities {
    /// The first of `count` consecutive identities, for fills and emitters.
    ///
    /// # Errors
    /// Too few identities are left.
    pub fn take(&mut self, count: usize) -> Result<u32, Exhausted> {
        let count = u32::try_from(count).map_err(|_| Exhausted)?;
        let next = self.next.checked_add(count).ok_or(Exhausted)?;
        if next > self.last {
            return Err(Exhausted);
        }
        Ok(std::mem::replace(&mut self.next, next))
    }

    /// An identity for a particle created by a solver.
    ///
    /// # Errors
    /// None is left.
    pub fn take_one(&mut self) -> Result<u32, Exhausted> {
        if self.last <= self.next {
            return Err(Exhausted);
        }
        let id = self.last;
        self.last -= 1;
        Ok(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_identity_is_allocated_twice() {
        let mut identities = Identities { next: 5, last: 9 };
        assert_eq!(identities.take(2), Ok(5));
        assert_eq!(identities.take_one(), Ok(9));
        assert_eq!(identities.take_one(), Ok(8));
        assert_eq!(identities.take(1), Err(Exhausted));
        assert_eq!(identities.take_one(), Err(Exhausted));
        assert_eq!(identities.take(usize::MAX), Err(Exhausted));
    }
}
