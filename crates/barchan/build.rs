//! Embeds the scenes of `scenes/gallery`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = |variable: &str| env::var_os(variable).map(PathBuf::from).unwrap_or_default();
    println!("cargo:rerun-if-changed=build.rs");
    let gallery = folder("CARGO_MANIFEST_DIR").join("../../scenes/gallery");
    embed_gallery(&gallery, &folder("OUT_DIR"))
}

/// Adding a file to the gallery adds a gallery scene.
fn embed_gallery(gallery: &Path, out: &Path) -> io::Result<()> {
    println!("cargo:rerun-if-changed={}", gallery.display());
    let mut list = String::from("&[\n");
    for path in scenes(gallery)? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let file = path.canonicalize()?;
        let _ = writeln!(list, "    ({name:?}, include_str!({file:?})),");
    }
    list.push(']');
    fs::write(out.join("gallery.rs"), list)
}

/// Scene files in alphabetical order; none when there is no gallery.
fn scenes(gallery: &Path) -> io::Result<Vec<PathBuf>> {
    if !gallery.is_dir() {
        return Ok(Vec::new());
    }
    let entries: io::Result<Vec<_>> = fs::read_dir(gallery)?.collect();
    let mut scenes: Vec<PathBuf> = entries?
        .iter()
        .map(fs::DirEntry::path)
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    scenes.sort();
    Ok(scenes)
}
