//! Scenes of papers, run and looked at.

#![allow(clippy::unwrap_used, reason = "a test may fail that way")]

use barchan::frame::Frame;
use barchan::scene::{Overrides, Scene, SceneSource, load};
use barchan::sim::simulation::{Control, Simulation};
use glam::{Quat, Vec3};
use std::path::Path;

/// A scene of a paper, such as `holz2014/drop`.
pub fn load_scene(name: &str, scale: f64, set: &[&str]) -> Scene {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/papers");
    let changes = Overrides {
        scale: Some(scale),
        set: set.iter().map(|s| (*s).to_owned()).collect(),
        ..Overrides::default()
    };
    let source = SceneSource::from_file(&folder.join(format!("{name}.toml"))).unwrap();
    load(&source, &changes).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Goes on to the end of a frame.
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

/// Where a point of a body at the start is now.
pub fn now(frame: &Frame, body: &str, start: Vec3) -> Vec3 {
    let body = frame.record.body(body).unwrap();
    Quat::from_array(body.rotation) * start + Vec3::from(body.position)
}

/// Height that 99 % of the grains do not reach [m]: a single grain on top is no heap.
pub fn height(grains: &[Vec3]) -> f32 {
    let mut heights: Vec<f32> = grains.iter().map(|p| p.y).collect();
    heights.sort_by(f32::total_cmp);
    heights[heights.len() * 99 / 100]
}
