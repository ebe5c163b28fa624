//! Forces of the last step's contacts, which the next one begins with.
//!
//! A contact is known by the identity of the particle and that of its partner, or the index of the body. Particles carry
//! the row that they had in the last step, so that theirs is found without a search; rows follow them when they are sorted
//! or removed, and no other particle can be taken for a partner that is gone.

use super::adjacency::Adjacency;
use super::bodies::{BodyContact, BodyContacts};
use crate::particles::{column_of, flatten, misfit};
use crate::solver::SolverError;
use barchan_frame::{Checkpoint, Column, ColumnData, Unit};
use glam::Vec3;
use rayon::prelude::*;

/// Row of a particle that has seen no step.
pub const NEW: u32 = u32::MAX;

/// Remembered forces of contacts between particles.
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
    pub fn save(&self, rows: &[u32]) -> Remembered {
        let mut out = Remembered::default();
        for row in rows {
            let contacts = self.rows.get(*row).unwrap_or_default().iter();
            out.push(contacts.map(|own| (own.partner, own.sign() * self.forces[own.contact()])));
        }
        out
    }

    /// Takes back what [`Self::save`] gave, a row for each particle.
    pub fn load(&mut self, from: &Remembered) {
        self.rows = Adjacency::default();
        self.forces.clone_from(&from.forces);
        for row in from.rows() {
            self.rows.push(row.map(|(partner, _)| partner));
        }
    }
}

/// Remembered forces of contacts between particles and bodies.
#[derive(Debug, Default)]
pub struct BodyMemory {
    /// Row, body and force, sorted by row and body.
    entries: Vec<(u32, u32, Vec3)>,
}

impl BodyMemory {
    /// Force on the particle of a row at its contact with a body.
    pub fn find(&self, row: u32, body: u32) -> Option<Vec3> {
        let at = (self.entries).partition_point(|entry| (entry.0, entry.1) < (row, body));
        let found = self.entries.get(at);
        found
            .filter(|entry| (entry.0, entry.1) == (row, body))
            .map(|entry| entry.2)
    }

    /// Keeps the contacts of this step, a row for each particle in its order.
    pub fn remember<C: BodyContact>(
        &mut self,
        contacts: &BodyContacts<C>,
        force: impl Fn(&C) -> Vec3,
    ) {
        self.entries.clear();
        let entry = |c: &C| (c.particle() as u32, c.body() as u32, force(c));
        self.entries.extend(contacts.iter().map(entry));
    }

    /// The contacts of the particles of these rows.
    pub fn save(&self, rows: &[u32]) -> Remembered {
        let mut out = Remembered::default();
        for row in rows {
            let from = self.entries.partition_point(|entry| entry.0 < *row);
            let own = self.entries[from..].iter().take_while(|e| e.0 == *row);
            out.push(own.map(|entry| (entry.1, entry.2)));
        }
        out
    }

    /// Takes back what [`Self::save`] gave, a row for each particle.
    pub fn load(&mut self, from: &Remembered) {
        let rows = from.rows().zip(0..);
        let entries = rows.flat_map(|(row, i)| row.map(move |(body, force)| (i, body, force)));
        self.entries = entries.collect();
    }
}

/// Remembered forces as checkpoints hold them: partners and forces of all particles, one after the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Remembered {
    counts: Vec<u32>,
    partners: Vec<u32>,
    forces: Vec<Vec3>,
}

impl Remembered {
    fn push(&mut self, contacts: impl Iterator<Item = (u32, Vec3)>) {
        let before = self.partners.len();
        for (partner, force) in contacts {
            self.partners.push(partner);
            self.forces.push(force);
        }
        self.counts.push((self.partners.len() - before) as u32);
    }

    /// Contacts of each particle: partner and force.
    fn rows(&self) -> impl Iterator<Item = impl Iterator<Item = (u32, Vec3)>> {
        let ends = self.counts.iter().scan(0, |end, count| {
            *end += *count as usize;
            Some(*end - *count as usize..*end)
        });
        ends.map(|range| {
            let partners = self.partners[range.clone()].iter().copied();
            partners.zip(self.forces[range].iter().copied())
        })
    }

    /// Writes a column with the number of contacts of each particle, and arrays with partners and forces.
    pub fn write(self, names: &Names, out: &mut Checkpoint) {
        let count = column_of(
            names.count,
            Unit::One,
            names.meaning,
            &self.counts,
            Vec::new(),
        );
        out.columns.push(count);
        let partner = ColumnData::U32(self.partners);
        let force = ColumnData::F32(flatten(&self.forces, Vec::new()));
        out.arrays.extend([
            Column::exact(names.partner, Unit::One, names.partner_meaning, 1, partner),
            Column::exact(
                names.force,
                Unit::KilogramMeter,
                "mass times displacement in a substep that the contact gives the particle",
                3,
                force,
            ),
        ]);
    }

    /// Reads what [`Self::write`] wrote.
    pub fn read(names: &Names, from: &Checkpoint) -> Result<Self, SolverError> {
        let counts = from.column(names.count).and_then(|c| c.data.as_u32());
        let counts = counts.ok_or_else(|| misfit(names.count))?;
        let total: u64 = counts.iter().map(|count| u64::from(*count)).sum();
        let partners = from.array(names.partner).and_then(|a| a.data.as_u32());
        let partners = partners.filter(|p| p.len() as u64 == total);
        let forces = from.array(names.force).and_then(|a| a.data.as_f32());
        let forces = forces.filter(|f| f.len() as u64 == 3 * total);
        let forces = forces.ok_or_else(|| misfit(names.force))?.as_chunks::<3>();
        Ok(Self {
            counts: counts.to_vec(),
            partners: partners.ok_or_else(|| misfit(names.partner))?.to_vec(),
            forces: forces.0.iter().map(|f| Vec3::from_array(*f)).collect(),
        })
    }
}

/// Names of remembered forces in a checkpoint.
pub struct Names {
    /// Column: contacts of each particle.
    pub count: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// Array: partners, particle by particle.
    pub partner: &'static str,
    /// What it means.
    pub partner_meaning: &'static str,
    /// Array: forces, particle by particle.
    pub force: &'static str,
}

/// Contacts between particles.
pub const PAIRS: Names = Names {
    count: "contacts",
    meaning: "remembered contacts with other particles",
    partner: "contact_partner",
    partner_meaning: "identity of the other particle, contact by contact",
    force: "contact_force",
};

/// Contacts with bodies.
pub const BODIES: Names = Names {
    count: "wall_contacts",
    meaning: "remembered contacts with bodies",
    partner: "wall_body",
    partner_meaning: "index of the body, contact by contact",
    force: "wall_force",
};

#[cfg(test)]
mod tests {
    use super::*;

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
        saved.clone().write(&PAIRS, &mut state);
        let read = Remembered::read(&PAIRS, &state).unwrap();
        assert_eq!(read, saved);
        let mut memory = PairMemory::default();
        memory.load(&read);
        assert_eq!(memory.find(0, 3), Some(-Vec3::Y));
        assert_eq!(memory.find(1, 3), None);
        assert_eq!(memory.find(2, 3), Some(Vec3::X));
        // Negative control: forces that are fewer than the contacts.
        state.arrays[1].data = ColumnData::F32(vec![0.0; 3]);
        assert!(Remembered::read(&PAIRS, &state).is_err());
    }

    #[test]
    fn forces_of_bodies_come_back() {
        let memory = BodyMemory {
            entries: vec![(0, 2, Vec3::X), (2, 0, Vec3::Y), (2, 5, Vec3::Z)],
        };
        assert_eq!(memory.find(2, 5), Some(Vec3::Z));
        assert_eq!((memory.find(1, 2), memory.find(2, 2)), (None, None));
        let mut again = BodyMemory::default();
        again.load(&memory.save(&[2, 1]));
        assert_eq!(again.find(0, 0), Some(Vec3::Y));
        assert_eq!(again.find(0, 5), Some(Vec3::Z));
        assert_eq!(again.find(1, 2), None);
    }
}
