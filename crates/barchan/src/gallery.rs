//! The scenes that are built into the program.

/// Name and text of every gallery scene, in alphabetical order.
pub const GALLERY: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/gallery.rs"));

/// Text of the gallery scene of that name.
pub fn text(name: &str) -> Option<&'static str> {
    GALLERY
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}
