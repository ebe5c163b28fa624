//! Embeds the page of the viewer.

#[path = "build/viewer.rs"]
mod viewer;

use std::path::PathBuf;
use std::{env, io};

fn main() -> io::Result<()> {
    let folder = |variable: &str| env::var_os(variable).map(PathBuf::from).unwrap_or_default();
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");
    viewer::embed(
        &folder("CARGO_MANIFEST_DIR").join("../../viewer"),
        &folder("OUT_DIR"),
    )
}
