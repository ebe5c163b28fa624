//! Contacts by particle, from a list of pairs.

use crate::math::lanes::LANES;
use rayon::prelude::*;

/// Particles per thread below which more threads do not pay off.
const PARTICLES_PER_TASK: usize = 1024;

/// The contacts of each particle, in the order of the pairs.
#[derive(Debug, Default)]
pub struct Adjacency {
    /// First entry of each particle, and the end.
    starts: Vec<u32>,
    entries: Vec<Entry>,
    cursors: Vec<u32>,
}

/// A contact, seen from one of its two particles.
#[derive(Debug, Clone, Copy, Default)]
pub struct Entry {
    /// Identity of the other particle.
    pub partner: u32,
    /// Twice the number of the contact; plus 1 for its second particle.
    code: u32,
}

impl Entry {
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
    /// Lists pairs by particle. The pairs of a list are numbered from `LANES` times its offset, so that each list fills whole
    /// packets. Each thread scans all pairs and enters those of its own particles.
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
        self.entries
            .resize(self.starts[count] as usize, Entry::default());
        self.cursors.clear();
        self.cursors.extend(&self.starts[..count]);
        let pairs = Pairs {
            ids,
            lists,
            offsets,
        };
        pairs.fill_rows(0, share, &mut self.cursors, &mut self.entries);
    }

    /// Rows with these ends and partners; each particle is the first of its contacts.
    pub(super) fn of_rows(ends: &[u32], partners: &[u32]) -> Self {
        let entry = |(partner, i): (&u32, u32)| Entry {
            partner: *partner,
            code: 2 * i,
        };
        Self {
            starts: std::iter::once(0).chain(ends.iter().copied()).collect(),
            entries: partners.iter().zip(0..).map(entry).collect(),
            cursors: Vec::new(),
        }
    }

    /// Contacts of a particle.
    #[inline(always)]
    pub fn of(&self, particle: usize) -> &[Entry] {
        &self.entries[self.starts[particle] as usize..self.starts[particle + 1] as usize]
    }

    /// Contacts of a particle; `None` for one that is not listed.
    #[inline(always)]
    pub(super) fn get(&self, particle: u32) -> Option<&[Entry]> {
        let at = particle as usize;
        let begin = *self.starts.get(at)? as usize;
        Some(&self.entries[begin..*self.starts.get(at + 1)? as usize])
    }
}

/// Pairs as the search lists them.
#[derive(Clone, Copy)]
struct Pairs<'a> {
    ids: &'a [u32],
    lists: &'a [Vec<(u32, u32)>],
    offsets: &'a [usize],
}

impl Pairs<'_> {
    /// Enters the contacts of the particles from `first` on, to which `cursors` and `entries` belong; up to `share` particles on a
    /// thread.
    fn fill_rows(self, first: usize, share: usize, cursors: &mut [u32], entries: &mut [Entry]) {
        let Some(&base) = cursors.first() else {
            return;
        };
        if cursors.len() > share {
            let middle = cursors.len() / 2;
            let cut = (cursors[middle] - base) as usize;
            let (near, far) = cursors.split_at_mut(middle);
            let (entries_near, entries_far) = entries.split_at_mut(cut);
            rayon::join(
                || self.fill_rows(first, share, near, entries_near),
                || self.fill_rows(first + middle, share, far, entries_far),
            );
            return;
        }
        for (list, offset) in self.lists.iter().zip(self.offsets) {
            for (contact, (i, j)) in (offset * LANES..).zip(list) {
                for (particle, partner, odd) in [(i, j, 0), (j, i, 1)] {
                    let Some(at) = cursors.get_mut((*particle as usize).wrapping_sub(first)) else {
                        continue;
                    };
                    entries[(*at - base) as usize] = Entry {
                        partner: self.ids[*partner as usize],
                        code: 2 * contact as u32 + odd,
                    };
                    *at += 1;
                }
            }
        }
    }
}
