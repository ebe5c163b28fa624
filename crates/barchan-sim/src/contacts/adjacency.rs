//! The contacts of each particle with others, from a list of pairs.

use crate::math::lanes::LANES;
use rayon::prelude::*;

/// Particles from which listing is worth another thread.
const PARTICLES_PER_TASK: usize = 1024;

/// The contacts of each particle, in the order of the contacts.
#[derive(Debug, Default)]
pub struct Adjacency {
    /// Where the contacts of each particle begin in `own`, and the end.
    starts: Vec<u32>,
    own: Vec<Own>,
    cursors: Vec<u32>,
}

/// A contact as one of its particles has it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Own {
    /// Identity of the other particle.
    pub partner: u32,
    /// Number of the contact, doubled; odd where the particle is its second.
    code: u32,
}

impl Own {
    /// Number of the contact.
    #[inline(always)]
    pub fn contact(self) -> usize {
        self.code as usize >> 1
    }

    /// 1 for the first particle of the contact, −1 for the second.
    #[inline(always)]
    pub fn sign(self) -> f32 {
        1.0 - 2.0 * (self.code & 1) as f32
    }
}

impl Adjacency {
    /// Lists pairs by particle. Those of a list are numbered from `LANES` times its offset on, so that each list fills
    /// packets of its own. Each thread looks at all pairs and enters those of its own particles.
    pub fn build(&mut self, ids: &[u32], lists: &[Vec<(u32, u32)>], offsets: &[usize]) {
        let count = ids.len();
        let parts = rayon::current_num_threads().min(count.div_ceil(PARTICLES_PER_TASK));
        let share = count.div_ceil(parts.max(1)).max(1);
        self.starts.clear();
        self.starts.resize(count + 1, 0);
        (self.starts[1..].par_chunks_mut(share).enumerate()).for_each(|(part, counts)| {
            let first = part * share;
            for (i, j) in lists.iter().flatten() {
                for particle in [*i, *j] {
                    if let Some(count) = counts.get_mut((particle as usize).wrapping_sub(first)) {
                        *count += 1;
                    }
                }
            }
        });
        for particle in 0..count {
            self.starts[particle + 1] += self.starts[particle];
        }
        self.own.resize(self.starts[count] as usize, Own::default());
        self.cursors.clear();
        self.cursors.extend(&self.starts[..count]);
        let numbered = Numbered {
            ids,
            lists,
            offsets,
        };
        numbered.enter(0, share, &mut self.cursors, &mut self.own);
    }

    /// Rows that end there, with these partners; each particle is first in contacts of its own.
    pub(super) fn of_rows(ends: &[u32], partners: &[u32]) -> Self {
        let own = |(partner, i): (&u32, u32)| Own {
            partner: *partner,
            code: 2 * i,
        };
        Self {
            starts: std::iter::once(0).chain(ends.iter().copied()).collect(),
            own: partners.iter().zip(0..).map(own).collect(),
            cursors: Vec::new(),
        }
    }

    /// Number of contacts of a particle.
    pub fn count(&self, particle: usize) -> u32 {
        self.starts[particle + 1] - self.starts[particle]
    }

    /// Contacts of a particle.
    #[inline(always)]
    pub fn of(&self, particle: usize) -> &[Own] {
        &self.own[self.starts[particle] as usize..self.starts[particle + 1] as usize]
    }

    /// Contacts of a particle that may not be there.
    #[inline(always)]
    pub(super) fn get(&self, particle: u32) -> Option<&[Own]> {
        let at = particle as usize;
        let begin = *self.starts.get(at)? as usize;
        Some(&self.own[begin..*self.starts.get(at + 1)? as usize])
    }
}

/// The contacts as the search lists them.
#[derive(Clone, Copy)]
struct Numbered<'a> {
    ids: &'a [u32],
    lists: &'a [Vec<(u32, u32)>],
    offsets: &'a [usize],
}

impl Numbered<'_> {
    /// Enters the contacts of the particles from `first` on, which `cursors` and `own` are of; as many as `share` on a thread.
    fn enter(self, first: usize, share: usize, cursors: &mut [u32], own: &mut [Own]) {
        let Some(&base) = cursors.first() else {
            return;
        };
        if cursors.len() > share {
            let middle = cursors.len() / 2;
            let cut = (cursors[middle] - base) as usize;
            let (near, far) = cursors.split_at_mut(middle);
            let (own_near, own_far) = own.split_at_mut(cut);
            rayon::join(
                || self.enter(first, share, near, own_near),
                || self.enter(first + middle, share, far, own_far),
            );
            return;
        }
        for (list, offset) in self.lists.iter().zip(self.offsets) {
            for (contact, (i, j)) in (offset * LANES..).zip(list) {
                for (particle, partner, odd) in [(i, j, 0), (j, i, 1)] {
                    let Some(at) = cursors.get_mut((*particle as usize).wrapping_sub(first)) else {
                        continue;
                    };
                    own[(*at - base) as usize] = Own {
                        partner: self.ids[*partner as usize],
                        code: 2 * contact as u32 + odd,
                    };
                    *at += 1;
                }
            }
        }
    }
}
