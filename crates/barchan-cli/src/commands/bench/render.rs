//! `barchan bench render`: pictures of a heap, including reading the frame.

use super::{bench_scene, count, peak_memory};
use crate::commands::{Failure, output};
use barchan::frame::{
    Column, ColumnData, Frame, Manifest, ManifestMaterial, ResultDirectory, Unit,
};
use barchan_render::tracer::Quality;
use barchan_render::{RenderOptions, Renderer};
use clap::Args;
use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The heap is a cone of this radius and height [m].
const RADIUS: f32 = 1.0;
const HEIGHT: f32 = 0.6;
/// Bulk density of its material [kg/m³].
const DENSITY: f64 = 1600.0;

/// Pictures of a heap of grains at 1280×720: seconds per picture, memory
#[derive(Debug, Args)]
pub struct BenchRender {
    /// Grains, such as 200k or 20M
    #[arg(long, value_name = "N", default_value = "1M", value_parser = count)]
    grains: u64,
    /// Only this quality: preview or production
    #[arg(long, value_name = "NAME", value_parser = ["preview", "production"])]
    quality: Option<String>,
    /// Keep the pictures in this folder
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
pub struct Report {
    grains: u64,
    size: [u32; 2],
    threads: usize,
    /// Wall time per picture, including reading the frame [s].
    preview_s: Option<f64>,
    production_s: Option<f64>,
    /// Peak resident memory of the bench [bytes], where available.
    peak_memory_bytes: Option<u64>,
}

impl BenchRender {
    pub fn measure(&self) -> Result<Report, Failure> {
        let folder = Scratch::new()?;
        let path = folder.0.join("heap.barchan");
        let grains = write_heap(&path, self.grains)?;
        Ok(Report {
            grains,
            size: RenderOptions::default().size,
            threads: rayon::current_num_threads(),
            preview_s: self.time(&path, "preview", Quality::PREVIEW)?,
            production_s: self.time(&path, "production", Quality::PRODUCTION)?,
            peak_memory_bytes: peak_memory(),
        })
    }

    /// Wall time from opening the result to the finished picture [s]; `None` if another quality was requested.
    fn time(&self, path: &Path, name: &str, quality: Quality) -> Result<Option<f64>, Failure> {
        if self.quality.as_deref().is_some_and(|q| q != name) {
            return Ok(None);
        }
        let options = RenderOptions {
            quality,
            ..RenderOptions::default()
        };
        let renderer = Renderer::open(ResultDirectory::open(path)?, options)?;
        let clock = Instant::now();
        let picture = renderer.draw(0)?;
        let seconds = clock.elapsed().as_secs_f64();
        if let Some(folder) = &self.keep {
            std::fs::create_dir_all(folder).map_err(Failure::work)?;
            picture.write_png(&folder.join(format!("{name}.png")))?;
        }
        Ok(Some(seconds))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [width, height] = self.size;
        writeln!(
            f,
            "heap of {} grains, {width}×{height}, {} threads, including reading the frame",
            output::grouped(self.grains),
            self.threads
        )?;
        for (name, seconds) in [
            ("preview", self.preview_s),
            ("production", self.production_s),
        ] {
            if let Some(seconds) = seconds {
                writeln!(f, "  {name:<11} {seconds:.2} s per picture")?;
            }
        }
        if let Some(bytes) = self.peak_memory_bytes {
            writeln!(f, "  {:<11} {}", "memory", output::bytes(bytes))?;
        }
        Ok(())
    }
}

/// Writes a result with one frame: a cone of about `count` grains on a jittered lattice, on a floor. Returns the number of grains.
fn write_heap(path: &Path, count: u64) -> Result<u64, Failure> {
    let volume = std::f32::consts::PI / 3.0 * RADIUS * RADIUS * HEIGHT;
    let spacing = (volume / count as f32).cbrt();
    let scene = scene(2.0 * spacing)?;
    let position = heap(spacing);
    let grains = position.len() / 3;
    let mass = DENSITY as f32 * spacing.powi(3);
    let ids = (0..grains as u64).collect();
    let (m, speed) = (Unit::Meter, Unit::MeterPerSecond);
    let frame = Frame {
        columns: vec![
            Column::vector3("position", m, "position", spacing / 512.0, position),
            Column::vector3("velocity", speed, "velocity", 5e-4, vec![0.0; 3 * grains]),
            Column::exact("id", Unit::One, "identity", 1, ColumnData::U64(ids)),
            Column::scalar("mass", Unit::Kilogram, "mass", 0.0, vec![mass; grains]),
        ],
        ..Frame::default()
    };
    let manifest = Manifest {
        scene: "heap".into(),
        solver: "none".into(),
        dimensions: 3,
        dx: 2.0 * f64::from(spacing),
        frame_rate: 24.0,
        materials: vec![ManifestMaterial {
            name: "sand".into(),
            density: DENSITY,
        }],
        created_by: concat!("barchan ", env!("CARGO_PKG_VERSION")).into(),
        ..Manifest::default()
    };
    let directory = ResultDirectory::create(path, &manifest, &scene)?;
    directory.write_frame(&frame)?;
    Ok(grains as u64)
}

/// scenes/bench/heap.toml with the given resolution [m].
fn scene(resolution: f32) -> Result<String, Failure> {
    let mut scene: toml::Table = bench_scene!("heap").parse().map_err(Failure::work)?;
    // The shortest digits of the f32.
    let resolution: f64 = resolution.to_string().parse().map_err(Failure::work)?;
    scene["solver"]["resolution"] = resolution.into();
    Ok(scene.to_string())
}

/// Grains of the cone, layer by layer [m].
fn heap(spacing: f32) -> Vec<f32> {
    let reach = (RADIUS / spacing) as i32 + 1;
    let mut position = Vec::new();
    let mut number = 0u64;
    for (y, z) in (0..reach).flat_map(|y| (-reach..=reach).map(move |z| (y, z))) {
        for x in -reach..=reach {
            number += 1;
            let jitter = |axis: u64| 0.8 * (barchan_render::color::chance(3 * number + axis) - 0.5);
            let [px, py, pz] = [
                spacing * (x as f32 + jitter(0)),
                spacing * (y as f32 + 0.5 + jitter(1)),
                spacing * (z as f32 + jitter(2)),
            ];
            if py < HEIGHT * (1.0 - px.hypot(pz) / RADIUS) {
                position.extend([px, py, pz]);
            }
        }
    }
    position
}

/// A folder that is removed when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self, Failure> {
        let path = std::env::temp_dir().join(format!("barchan-bench-{}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(Failure::work)?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
