//! Contacts of particles with particles and with bodies: who touches whom, what their forces were in the last step, and what
//! bodies get in return.

mod adjacency;
mod coupling;
mod memory;
pub mod rigid;

pub use adjacency::{Adjacency, Own};
pub use coupling::{BodyContacts, Coupling, take_own};
pub use memory::{Memory, NEW, PairMemory};
