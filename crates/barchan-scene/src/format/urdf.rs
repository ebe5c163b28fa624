//! Robots from URDF files.

use super::Builder;
use super::node::Table;
use crate::bodies::{Body, Joint};

impl Builder<'_> {
    /// Adds the bodies and joints of `[[urdf]]`.
    pub fn robots(
        &mut self,
        _document: &Table,
        _names: &mut Vec<String>,
        _bodies: &mut Vec<Option<Body>>,
        _joints: &mut Vec<Option<Joint>>,
    ) {
    }
}
