//! Contacts among particles and with bodies: adjacency, forces remembered from step to step, and the coupling to rigid bodies.

mod adjacency;
mod coupling;
mod memory;
pub mod rigid;

pub use adjacency::Adjacency;
pub use coupling::{BodyContacts, Coupling, find_contacts, take_own};
pub use memory::{Memory, NEW, PairMemory};
