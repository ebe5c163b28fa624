//! The scenes that are built into the program.

/// Name and text of every gallery scene, in alphabetical order.
pub const GALLERY: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/gallery.rs"));

/// Names of the gallery scenes.
pub fn names() -> impl Iterator<Item = &'static str> {
    GALLERY.iter().map(|(name, _)| *name)
}

/// The gallery scene whose name is nearest to `word`, if it is near enough for a suggestion.
pub fn nearest(word: &str) -> Option<&'static str> {
    barchan_scene::errors::nearest(word, names())
}

/// Text of the gallery scene of that name.
pub fn text(name: &str) -> Option<&'static str> {
    GALLERY
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}
