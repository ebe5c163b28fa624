//! Contacts among particles and with bodies: adjacency, the contact cache for warm starts, and the coupling to rigid bodies.

mod adjacency;
mod cache;
mod coupling;
pub mod rigid;

pub use adjacency::Adjacency;
pub use cache::{ContactCache, NO_ROW, PairCache, WALL, renumber_bodies};
pub use coupling::{BodyContacts, Coupling, find_contacts, take_own};
