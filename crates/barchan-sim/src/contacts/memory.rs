//! Forces of the last step's contacts, which the next one begins with.
//!
//! A contact is known by the identity of the particle and that of its partner, or the index of the body. Particles carry
//! the row that they had in the last step, so that theirs is found without a search; rows follow them when they are sorted
//! or removed, and no other particle can be taken for a partner that is gone.

use super::adjacency::Adjacency;
use crate::particles::{Spent, Value, misfit};
use crate::solver::SolverError;
use barchan_frame::{Checkpoint, Column, Unit};
use glam::Vec3;
use rayon::prelude::*;
use std::ops::Range;

/// Row of a particle that has seen no step.
pub const NEW: u32 = u32::MAX;

/// Remembered forces, row by row: those of contacts with bodies, and of all contacts in a checkpoint.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Memory {
    /// Where the contacts of each row end.
    ends: Vec<u32>,
    /// Identity of the other particle, or index of the body.
    partners: Vec<u32>,
    forces: Vec<Vec3>,
}

impl Memory {
    /// Force on the particle of a row at its contact with a partner.
    pub fn find(&self, row: u32, partner: u32) -> Option<Vec3> {
        let range = self.range(row)?;
        let found = self.partners[range.clone()]
            .iter()
            .position(|p| *p == partner);
        Some(self.forces[range][found?])
    }

    /// Keeps contacts (particle, partner and force) in the order of `count` particles, a row for each.
    pub fn remember(&mut self, count: usize, contacts: impl Iterator<Item = (u32, u32, Vec3)>) {
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

    /// Those of these rows only, in this order.
    pub fn save(&self, rows: &[u32]) -> Self {
        let mut out = Self::default();
        for range in rows.iter().map(|row| self.range(*row).unwrap_or_default()) {
            let contacts = self.partners[range.clone()].iter();
            out.push(contacts.copied().zip(self.forces[range].iter().copied()));
        }
        out
    }

    fn range(&self, row: u32) -> Option<Range<usize>> {
        let end = *self.ends.get(row as usize)? as usize;
        let begin = (row as usize).checked_sub(1).map_or(0, |r| self.ends[r]);
        Some(begin as usize..end)
    }

    /// Adds a row.
    fn push(&mut self, contacts: impl Iterator<Item = (u32, Vec3)>) {
        for (partner, force) in contacts {
            self.partners.push(partner);
            self.forces.push(force);
        }
        self.ends.push(self.partners.len() as u32);
    }

    /// Writes a column with the end of each row, and arrays with partners and forces, named after `kind`.
    pub fn write(&self, kind: &str, out: &mut Checkpoint) {
        let mut spent = Spent::default();
        let column = |what: &str, unit: Unit, meaning: &str, components, data| {
            Column::exact(&format!("{kind}_{what}"), unit, meaning, components, data)
        };
        let ends = u32::store(&self.ends, "", &mut spent);
        let partners = u32::store(&self.partners, "", &mut spent);
        let forces = Vec3::store(&self.forces, "", &mut spent);
        let force = "mass times displacement in a substep that the contact gives the particle";
        let end = "where its remembered contacts end";
        let partner = "what the particle touches: identity of a particle, or index of a body";
        out.columns.push(column("end", Unit::One, end, 1, ends));
        out.arrays.extend([
            column("partner", Unit::One, partner, 1, partners),
            column("force", Unit::KilogramMeter, force, 3, forces),
        ]);
    }

    /// Reads what [`Self::write`] wrote.
    pub fn read(kind: &str, from: &Checkpoint) -> Result<Self, SolverError> {
        let name = |what: &str| format!("{kind}_{what}");
        let column = from.column(&name("end")).map(|c| &c.data);
        let array = |what: &str| from.array(&name(what)).map(|a| &a.data);
        let memory = Self {
            ends: column.and_then(u32::restore).unwrap_or_default(),
            partners: array("partner").and_then(u32::restore).unwrap_or_default(),
            forces: array("force").and_then(Vec3::restore).unwrap_or_default(),
        };
        let count = memory.ends.last().map_or(0, |end| *end as usize);
        let fits = memory.ends.len() == from.particles() && memory.ends.is_sorted();
        match fits && memory.partners.len() == count && memory.forces.len() == count {
            true => Ok(memory),
            false => Err(misfit(&name("end"))),
        }
    }
}

/// Remembered forces of contacts between particles: each is kept once for both.
#[derive(Debug, Default)]
pub struct PairMemory {
    rows: Adjacency,
    /// Force on the first particle, by contact.
    forces: Vec<Vec3>,
}

impl PairMemory {
    /// Force on the particle of a row at its contact with `partner`, an identity.
    #[inline(always)]
    pub fn find(&self, row: u32, partner: u32) -> Option<Vec3> {
        let contacts = self.rows.get(row)?;
        let own = contacts.iter().find(|own| own.partner == partner)?;
        Some(own.sign() * self.forces[own.contact()])
    }

    /// Keeps the contacts of this step, a row for each particle in its order; `adjacency` gets memory to use again.
    pub fn remember(
        &mut self,
        adjacency: &mut Adjacency,
        forces: impl IndexedParallelIterator<Item = Vec3>,
    ) {
        forces.collect_into_vec(&mut self.forces);
        std::mem::swap(&mut self.rows, adjacency);
    }

    /// The contacts of the particles of these rows.
    pub fn save(&self, rows: &[u32]) -> Memory {
        let mut out = Memory::default();
        for row in rows {
            let contacts = self.rows.get(*row).unwrap_or_default().iter();
            out.push(contacts.map(|own| (own.partner, own.sign() * self.forces[own.contact()])));
        }
        out
    }

    /// Takes back what [`Self::save`] gave, a row for each particle.
    pub fn load(&mut self, from: Memory) {
        self.rows = Adjacency::of_rows(&from.ends, &from.partners);
        self.forces = from.forces;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_frame::ColumnData;

    /// Particles 7, 3 and 9 in a row, each touching the next.
    fn memory() -> PairMemory {
        let mut adjacency = Adjacency::default();
        adjacency.build(&[7, 3, 9], &[vec![(0, 1), (1, 2)]], &[0]);
        let mut memory = PairMemory::default();
        let forces = vec![Vec3::X, Vec3::Y];
        memory.remember(&mut adjacency, forces.into_par_iter());
        memory
    }

    #[test]
    fn forces_are_found_by_identity_from_either_side() {
        let memory = memory();
        assert_eq!(memory.find(0, 3), Some(Vec3::X));
        assert_eq!(memory.find(1, 7), Some(-Vec3::X));
        assert_eq!(memory.find(2, 3), Some(-Vec3::Y));
        assert_eq!(memory.find(0, 9), None);
        assert_eq!(memory.find(NEW, 3), None);
    }

    /// Particle 3 is gone and the others have changed places.
    #[test]
    fn a_checkpoint_keeps_the_contacts_of_those_that_are_left() {
        let saved = memory().save(&[2, NEW, 0]);
        let mut state = Checkpoint::default();
        state.columns.push(Column::exact(
            "id",
            Unit::One,
            "",
            1,
            ColumnData::U32(vec![9, 4, 7]),
        ));
        saved.write("contact", &mut state);
        let read = Memory::read("contact", &state).unwrap();
        assert_eq!(read, saved);
        let mut memory = PairMemory::default();
        memory.load(read);
        assert_eq!(memory.find(0, 3), Some(-Vec3::Y));
        assert_eq!(memory.find(1, 3), None);
        assert_eq!(memory.find(2, 3), Some(Vec3::X));
        // Negative control: forces that are fewer than the contacts.
        state.arrays[1].data = ColumnData::F32(vec![0.0; 3]);
        assert!(Memory::read("contact", &state).is_err());
    }

    #[test]
    fn forces_of_bodies_come_back() {
        let mut memory = Memory::default();
        let contacts = [(0, 2, Vec3::X), (2, 0, Vec3::Y), (2, 5, Vec3::Z)];
        memory.remember(4, contacts.into_iter());
        assert_eq!(memory.find(0, 2), Some(Vec3::X));
        assert_eq!(memory.find(2, 5), Some(Vec3::Z));
        assert_eq!((memory.find(1, 2), memory.find(2, 2)), (None, None));
        let again = memory.save(&[2, 1]);
        assert_eq!(again.find(0, 0), Some(Vec3::Y));
        assert_eq!(again.find(0, 5), Some(Vec3::Z));
        assert_eq!(again.find(1, 2), None);
    }
}
