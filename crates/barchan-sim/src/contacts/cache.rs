//! Contact cache: forces of the last step, which warm-start the next one.
//!
//! A contact is identified by the particle and the identity of its partner, or the index of the
//! body. Particles carry the index of their row in the last step, so that it is found without a
//! search after sorting and removal. Identities are never reused, so a new particle is not mistaken
//! for a partner that was removed.

use super::adjacency::Adjacency;
use crate::particles::{Value, missing_column};
use crate::solver::SolverError;
use barchan_frame::{Checkpoint, Column, ColumnData, Unit};
use glam::Vec3;
use rayon::prelude::*;
use std::ops::Range;

/// Row of a particle before its first step.
pub const NO_ROW: u32 = u32::MAX;

/// Prefix of the names of contacts with bodies in a checkpoint.
pub const WALL: &str = "wall";

/// Renumbers the bodies of the cached contacts in a checkpoint; contacts with a body that has no new number are dropped.
/// A cache that is malformed is left for the solver to refuse.
pub fn renumber_bodies(state: &mut Checkpoint, number: impl Fn(u32) -> Option<u32>) {
    let has_cache = state.column(&format!("{WALL}_end")).is_some();
    if let (true, Ok(cache)) = (has_cache, ContactCache::read(WALL, state)) {
        cache.renumbered(number).write(WALL, state);
    }
}

/// Forces by row, for contacts with bodies, and for all contacts in a checkpoint.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ContactCache {
    /// End of each row.
    ends: Vec<u32>,
    /// Identity of the other particle, or index of the body.
    partners: Vec<u32>,
    forces: Vec<Vec3>,
}

impl ContactCache {
    /// Force on the particle of a row at its contact with a partner.
    pub fn find(&self, row: u32, partner: u32) -> Option<Vec3> {
        let found = self.row(row).find(|contact| contact.0 == partner);
        found.map(|contact| contact.1)
    }

    /// Stores contacts (particle, partner, force) in the order of `count` particles, a row for each.
    pub fn store(&mut self, count: usize, contacts: impl Iterator<Item = (u32, u32, Vec3)>) {
        self.partners.clear();
        self.forces.clear();
        self.ends.clear();
        for (particle, partner, force) in contacts {
            self.ends
                .resize(particle as usize, self.partners.len() as u32);
            self.partners.push(partner);
            self.forces.push(force);
        }
        self.ends.resize(count, self.partners.len() as u32);
    }

    /// A copy with these rows only, in this order.
    pub fn save(&self, rows: &[u32]) -> Self {
        let mut out = Self::default();
        for row in rows {
            out.push(self.row(*row));
        }
        out
    }

    /// A copy with other numbers of the partners, without those that have none.
    fn renumbered(&self, number: impl Fn(u32) -> Option<u32>) -> Self {
        let mut out = Self::default();
        for row in 0..self.ends.len() as u32 {
            let contacts = self.row(row);
            out.push(contacts.filter_map(|(partner, force)| Some((number(partner)?, force))));
        }
        out
    }

    fn range(&self, row: u32) -> Option<Range<usize>> {
        let end = *self.ends.get(row as usize)? as usize;
        let begin = (row as usize).checked_sub(1).map_or(0, |r| self.ends[r]);
        Some(begin as usize..end)
    }

    /// Partners and forces of a row; empty for a row that does not exist.
    fn row(&self, row: u32) -> impl Iterator<Item = (u32, Vec3)> {
        let range = self.range(row).unwrap_or_default();
        let partners = self.partners[range.clone()].iter().copied();
        partners.zip(self.forces[range].iter().copied())
    }

    /// Appends a row.
    fn push(&mut self, contacts: impl Iterator<Item = (u32, Vec3)>) {
        for (partner, force) in contacts {
            self.partners.push(partner);
            self.forces.push(force);
        }
        self.ends.push(self.partners.len() as u32);
    }

    /// Writes a column with the ends of the rows, and arrays of partners and forces, in place of those that there are; `kind` is
    /// the prefix of their names.
    pub fn write(&self, kind: &str, out: &mut Checkpoint) {
        let column = |what: &str, unit: Unit, meaning: &str, components, data| {
            Column::exact(&format!("{kind}_{what}"), unit, meaning, components, data)
        };
        let ends = ColumnData::U32(self.ends.clone());
        let partners = ColumnData::U32(self.partners.clone());
        let forces = ColumnData::F32(self.forces.iter().flat_map(Vec3::to_array).collect());
        let force = "contact force on the particle, as mass times displacement in a substep";
        let end = "end of the row of warm-started contacts";
        let partner = "partner of the contact: identity of a particle, or index of a body";
        replace_or_push(&mut out.columns, column("end", Unit::One, end, 1, ends));
        for array in [
            column("partner", Unit::One, partner, 1, partners),
            column("force", Unit::KilogramMeter, force, 3, forces),
        ] {
            replace_or_push(&mut out.arrays, array);
        }
    }

    /// Inverse of [`Self::write`].
    pub fn read(kind: &str, from: &Checkpoint) -> Result<Self, SolverError> {
        let name = |what: &str| format!("{kind}_{what}");
        let column = from.column(&name("end")).map(|c| &c.data);
        let array = |what: &str| from.array(&name(what)).map(|a| &a.data);
        let cache = Self {
            ends: column.and_then(u32::restore).unwrap_or_default(),
            partners: array("partner").and_then(u32::restore).unwrap_or_default(),
            forces: array("force").and_then(Vec3::restore).unwrap_or_default(),
        };
        let count = cache.ends.last().map_or(0, |end| *end as usize);
        let fits = cache.ends.len() == from.particles() && cache.ends.is_sorted();
        match fits && cache.partners.len() == count && cache.forces.len() == count {
            true => Ok(cache),
            false => Err(missing_column(&name("end"))),
        }
    }
}

/// Replaces the column of that name, or appends it.
fn replace_or_push(columns: &mut Vec<Column>, column: Column) {
    match columns.iter_mut().find(|c| c.name == column.name) {
        Some(present) => *present = column,
        None => columns.push(column),
    }
}

/// Forces of contacts between particles, each stored once for both.
#[derive(Debug, Default)]
pub struct PairCache {
    rows: Adjacency,
    /// Force on the first particle, by contact.
    forces: Vec<Vec3>,
}

impl PairCache {
    /// Force on the particle of a row at its contact with `partner`, an identity.
    #[inline(always)]
    pub fn find(&self, row: u32, partner: u32) -> Option<Vec3> {
        let contacts = self.rows.get(row)?;
        let entry = contacts.iter().find(|entry| entry.partner == partner)?;
        Some(entry.sign() * self.forces[entry.contact()])
    }

    /// Stores the contacts of this step, a row for each particle. `adjacency` receives the memory of the last step for reuse.
    pub fn store(
        &mut self,
        adjacency: &mut Adjacency,
        forces: impl IndexedParallelIterator<Item = Vec3>,
    ) {
        forces.collect_into_vec(&mut self.forces);
        std::mem::swap(&mut self.rows, adjacency);
    }

    /// A copy with these rows only, in this order.
    pub fn save(&self, rows: &[u32]) -> ContactCache {
        let mut out = ContactCache::default();
        for row in rows {
            let contacts = self.rows.get(*row).unwrap_or_default().iter();
            out.push(contacts.map(|e| (e.partner, e.sign() * self.forces[e.contact()])));
        }
        out
    }

    /// Inverse of [`Self::save`]: a row for each particle.
    pub fn load(&mut self, from: ContactCache) {
        self.rows = Adjacency::of_rows(&from.ends, &from.partners);
        self.forces = from.forces;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_frame::ColumnData;

    /// Particles 7, 3 and 9 in a row, each in contact with the next.
    fn cache() -> PairCache {
        let mut adjacency = Adjacency::default();
        adjacency.build(&[7, 3, 9], &[vec![(0, 1), (1, 2)]], &[0]);
        let mut cache = PairCache::default();
        let forces = vec![Vec3::X, Vec3::Y];
        cache.store(&mut adjacency, forces.into_par_iter());
        cache
    }

    #[test]
    fn forces_are_found_by_identity_from_either_side() {
        let cache = cache();
        assert_eq!(cache.find(0, 3), Some(Vec3::X));
        assert_eq!(cache.find(1, 7), Some(-Vec3::X));
        assert_eq!(cache.find(2, 3), Some(-Vec3::Y));
        assert_eq!(cache.find(0, 9), None);
        assert_eq!(cache.find(NO_ROW, 3), None);
    }

    /// Particle 3 was removed and the others were reordered.
    #[test]
    fn a_checkpoint_keeps_the_contacts_of_the_remaining_particles() {
        let saved = cache().save(&[2, NO_ROW, 0]);
        let mut state = Checkpoint::default();
        state.columns.push(Column::exact(
            "id",
            Unit::One,
            "",
            1,
            ColumnData::U32(vec![9, 4, 7]),
        ));
        saved.write("contact", &mut state);
        let read = ContactCache::read("contact", &state).unwrap();
        assert_eq!(read, saved);
        let mut cache = PairCache::default();
        cache.load(read);
        assert_eq!(cache.find(0, 3), Some(-Vec3::Y));
        assert_eq!(cache.find(1, 3), None);
        assert_eq!(cache.find(2, 3), Some(Vec3::X));
        // Negative control: fewer forces than contacts.
        state.arrays[1].data = ColumnData::F32(vec![0.0; 3]);
        assert!(ContactCache::read("contact", &state).is_err());
    }

    #[test]
    fn contact_forces_with_bodies_are_restored() {
        let mut cache = ContactCache::default();
        let contacts = [(0, 2, Vec3::X), (2, 0, Vec3::Y), (2, 5, Vec3::Z)];
        cache.store(4, contacts.into_iter());
        assert_eq!(cache.find(0, 2), Some(Vec3::X));
        assert_eq!(cache.find(2, 5), Some(Vec3::Z));
        assert_eq!((cache.find(1, 2), cache.find(2, 2)), (None, None));
        let again = cache.save(&[2, 1]);
        assert_eq!(again.find(0, 0), Some(Vec3::Y));
        assert_eq!(again.find(0, 5), Some(Vec3::Z));
        assert_eq!(again.find(1, 2), None);
    }
}
