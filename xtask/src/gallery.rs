//! `cargo xtask gallery`: the pictures of README.md, from the gallery scenes.
//!
//! Results are kept in `target/gallery`, so that only missing ones are simulated.

use crate::raster::Raster;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Pictures of the gallery: scene, factor of its resolution, frame.
const SHOTS: &[(&str, f64, u32)] = &[
    ("hourglass", 1.5, 54),
    ("splash", 1.0, 18),
    ("castle", 1.0, 7),
    ("pile", 1.5, 110),
    ("collapse", 1.0, 24),
    ("excavator", 1.0, 220),
    ("bulldozer", 1.0, 160),
];

/// Scene of the looped preview, and the frames of it.
const LOOP: (&str, &str) = ("hourglass", "0..132/3");
/// Size of the pictures in the README, and paths through each pixel: small pictures can afford many.
const LOOK: &str = "--size 640x360 --samples 128";
const QUALITY: u8 = 86;

/// Simulates and draws everything; pictures go to `docs/pictures`.
pub fn gallery(root: &Path) -> Result<(), String> {
    let program = build(root)?;
    let results = root.join("target/gallery");
    let pictures = root.join("docs/pictures");
    for folder in [&results, &pictures] {
        std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    for (scene, scale, frame) in SHOTS {
        let result = results.join(format!("{scene}.barchan"));
        simulate(&program, scene, *scale, &result)?;
        let drawn = results.join(format!("{scene}-picture"));
        render(
            &program,
            &result,
            &drawn,
            &format!("--frames {frame} {LOOK}"),
        )?;
        let picture = drawn.join(format!("{frame:06}.png"));
        let jpeg = Raster::read(&picture)?.jpeg(QUALITY)?;
        super::write_file(&pictures.join(format!("{scene}.jpg")), jpeg)?;
    }
    let (scene, frames) = LOOP;
    let result = results.join(format!("{scene}.barchan"));
    let drawn = results.join(format!("{scene}-loop"));
    let options = format!("--frames {frames} --size 640x360 --samples 12 --sheet 0");
    render(&program, &result, &drawn, &options)?;
    let loop_file = pictures.join(format!("{scene}.gif"));
    std::fs::copy(drawn.join("preview.gif"), &loop_file).map_err(|e| e.to_string())?;
    tell_sizes(&pictures)
}

/// Builds the program.
pub fn build(root: &Path) -> Result<PathBuf, String> {
    super::cargo("build --release")?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    Ok(target.join("release/barchan"))
}

/// Runs or resumes a scene; a finished one ends at once.
fn simulate(program: &Path, scene: &str, scale: f64, result: &Path) -> Result<(), String> {
    println!("── {scene} at {scale} times its resolution");
    let mut command = Command::new(program);
    command.arg("run");
    if result.join("manifest.json").exists() {
        command.arg(result).arg("--resume");
    } else {
        command.arg(scene).arg("-o").arg(result);
        command.args(["--scale", &scale.to_string()]);
    }
    super::run(command.arg("--no-render"))
}

/// Draws frames of a result into a folder; `options` are words.
pub fn render(program: &Path, result: &Path, output: &Path, options: &str) -> Result<(), String> {
    let mut command = Command::new(program);
    command.arg("render").arg(result).arg("-o").arg(output);
    super::run(command.args(options.split_whitespace()))
}

fn tell_sizes(pictures: &Path) -> Result<(), String> {
    let entries = std::fs::read_dir(pictures).map_err(|e| e.to_string())?;
    for entry in entries.flatten() {
        let size = entry.metadata().map_or(0, |m| m.len());
        println!("{:>8} bytes  {}", size, entry.path().display());
    }
    Ok(())
}
