//! `cargo xtask gallery`: the pictures of README.md, from the gallery scenes.
//!
//! Results are kept in `target/gallery`, so that only missing ones are simulated.

use crate::raster::Raster;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A picture of a gallery scene.
struct Shot {
    scene: &'static str,
    /// Factor of the scene's resolution.
    scale: f64,
    frame: u32,
}

const SHOTS: &[Shot] = &[
    shot("hourglass", 1.5, 54),
    shot("splash", 1.0, 18),
    shot("castle", 1.0, 7),
    shot("pile", 1.5, 110),
    shot("collapse", 1.0, 24),
    shot("excavator", 1.0, 220),
    shot("bulldozer", 1.0, 160),
];

/// Scene of the looped preview, and the frames of it.
const LOOP: (&str, &str) = ("hourglass", "0..132/3");
/// Size of the pictures in the README, and paths through each pixel: small pictures can afford many.
const LOOK: &str = "--size 640x360 --samples 128";
const QUALITY: u8 = 86;

const fn shot(scene: &'static str, scale: f64, frame: u32) -> Shot {
    Shot {
        scene,
        scale,
        frame,
    }
}

/// Simulates and draws everything; pictures go to `docs/pictures`.
pub fn gallery(root: &Path) -> Result<(), String> {
    let program = build(root)?;
    let results = root.join("target/gallery");
    let pictures = root.join("docs/pictures");
    for folder in [&results, &pictures] {
        std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    for shot in SHOTS {
        let result = results.join(format!("{}.barchan", shot.scene));
        simulate(&program, shot, &result)?;
        let drawn = results.join(format!("{}-picture", shot.scene));
        let options = format!("--frames {} {LOOK}", shot.frame);
        render(&program, &result, &drawn, &options)?;
        let picture = drawn.join(format!("{:06}.png", shot.frame));
        let jpeg = Raster::read(&picture)?.jpeg(QUALITY)?;
        super::write_file(&pictures.join(format!("{}.jpg", shot.scene)), jpeg)?;
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
fn simulate(program: &Path, shot: &Shot, result: &Path) -> Result<(), String> {
    println!("── {} at {} times its resolution", shot.scene, shot.scale);
    let mut command = Command::new(program);
    command.arg("run");
    if result.join("manifest.json").exists() {
        command.arg(result).arg("--resume");
    } else {
        command.arg(shot.scene).arg("-o").arg(result);
        command.args(["--scale", &shot.scale.to_string()]);
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
