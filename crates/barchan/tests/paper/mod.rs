//! Helpers for running the scenes of papers.

#![allow(clippy::unwrap_used, reason = "a test may fail that way")]
#![allow(dead_code, reason = "each test file uses its part")]

use barchan::frame::Frame;
use barchan::scene::{Overrides, Scene, SceneSource, load};
use barchan::sim::sampling::estimate_particles;
use barchan::sim::simulation::{Control, Simulation};
use glam::{Quat, Vec3};
use std::path::{Path, PathBuf};

/// Where the scenes are.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/papers")
}

/// A scene of a paper, such as `holz2014/drop`.
pub fn load_scene(name: &str, scale: f64, set: &[&str]) -> Scene {
    let changes = Overrides {
        scale: Some(scale),
        set: set.iter().map(|s| (*s).to_owned()).collect(),
        ..Overrides::default()
    };
    let source = SceneSource::from_file(&folder().join(format!("{name}.toml"))).unwrap();
    load(&source, &changes).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// The same as a simulation at t = 0.
pub fn start(name: &str, scale: f64, set: &[&str]) -> Simulation {
    Simulation::new(&load_scene(name, scale, set)).unwrap()
}

/// The same at the end of a frame.
pub fn frame_of(name: &str, scale: f64, set: &[&str], frame: u32) -> Frame {
    run_to(&mut start(name, scale, set), frame)
}

/// Number of particles of a scene at full resolution, emitted ones included. Fills are sampled coarsely and scaled up, which accounts
/// for colliders.
pub fn full_count(name: &str, scale: f64, set: &[&str]) -> f64 {
    let full = load_scene(name, 1.0, set);
    if full.fills.is_empty() {
        return estimate_particles(&full) as f64;
    }
    let coarse = start(name, scale, set).particles() as f64;
    coarse / scale.powi(full.dimensions.count() as i32)
}

/// Whether a number of particles is that of the paper within a tenth.
pub fn assert_count(what: &str, count: f64, wanted: f64) {
    let ratio = count / wanted;
    assert!((ratio - 1.0).abs() < 0.1, "{what}: {ratio} of the paper's");
}

/// Advances to the end of a frame.
pub fn run_to(simulation: &mut Simulation, frame: u32) -> Frame {
    while simulation.frame() < frame {
        let done = simulation.advance_frame(&mut |_| Control::Continue);
        assert_eq!(done.unwrap(), Control::Continue);
    }
    simulation.write_frame().unwrap()
}

pub fn positions(frame: &Frame) -> Vec<Vec3> {
    let column = frame.column("position").unwrap();
    let values = column.data.as_f32().unwrap().as_chunks::<3>().0;
    values.iter().map(|p| Vec3::from_array(*p)).collect()
}

pub fn of_material(frame: &Frame, wanted: usize) -> Vec<Vec3> {
    let materials = frame.column("material").unwrap();
    let materials = materials.data.as_u8().unwrap();
    let all = positions(frame).into_iter().zip(materials);
    all.filter(|(_, m)| usize::from(**m) == wanted)
        .map(|(p, _)| p)
        .collect()
}

/// Positions at which `keep` holds.
pub fn positions_where(frame: &Frame, keep: impl Fn(&Vec3) -> bool) -> Vec<Vec3> {
    positions(frame).into_iter().filter(keep).collect()
}

/// Present position of a point of a body, given by its position at the start.
pub fn now(frame: &Frame, body: &str, start: Vec3) -> Vec3 {
    let body = frame.record.body(body).unwrap();
    Quat::from_array(body.rotation) * start + Vec3::from(body.position)
}

/// Height below which 99 % of the grains lie [m], which does not depend on single grains.
pub fn height(grains: &[Vec3]) -> f32 {
    let mut heights: Vec<f32> = grains.iter().map(|p| p.y).collect();
    heights.sort_by(f32::total_cmp);
    heights[heights.len() * 99 / 100]
}
