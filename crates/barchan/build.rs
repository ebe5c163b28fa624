//! Embeds the scenes of `scenes/gallery`: adding a file there adds a gallery scene.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let gallery = root.unwrap_or_default().join("../../scenes/gallery");
    println!("cargo:rerun-if-changed={}", gallery.display());

    let mut list = String::from("&[\n");
    for path in scenes(&gallery)? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let file = path.canonicalize()?;
        let _ = writeln!(list, "    ({name:?}, include_str!({file:?})),");
    }
    list.push(']');
    let out = env::var_os("OUT_DIR").map(PathBuf::from);
    fs::write(out.unwrap_or_default().join("gallery.rs"), list)
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
