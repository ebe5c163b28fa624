//! Every column and array of every solver is listed in docs/frames.md with its unit, and tensors have one order of components.

#![allow(clippy::unwrap_used, reason = "a test may fail that way")]

use barchan::frame::{Checkpoint, Column, Frame, Manifest, Unit};
use barchan::post::detail::{BaseFrame, BaseParticles, Plan, Refiner, Settings, World};
use barchan::scene::{Scene, load_file};
use barchan::sim::simulation::{Control, Simulation};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn scene(name: &str, set: &[&str]) -> Scene {
    load_file(root().join("scenes").join(name), set).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Every golden scene; together they use every solver, with every column that it writes on request.
fn golden() -> Vec<(String, Scene)> {
    let files = std::fs::read_dir(root().join("scenes/golden")).unwrap();
    let names = files.map(|file| format!("golden/{}", file.unwrap().file_name().display()));
    let complete = |name: String| {
        let family = scene(&name, &[]).solver.family;
        let all = format!("output.columns={:?}", family.columns);
        let complete = scene(&name, &[&all]);
        (name, complete)
    };
    names.map(complete).collect()
}

/// A frame and a checkpoint after a few frames.
fn run(scene: &Scene) -> (Frame, Checkpoint) {
    let mut simulation = Simulation::new(scene).unwrap();
    for _ in 0..2 {
        simulation
            .advance_frame(&mut |_| Control::Continue)
            .unwrap();
    }
    let frame = simulation.write_frame().unwrap();
    (frame, simulation.save().unwrap())
}

/// Grains that refine a frame.
fn refined(scene: &Scene, base: Frame) -> Frame {
    let manifest = Manifest {
        dimensions: scene.dimensions.count() as u32,
        dx: 0.1,
        ..Manifest::default()
    };
    let base = BaseFrame::of(base, &manifest).unwrap();
    let mut particles = BaseParticles::default();
    particles.add_frame(&base);
    let plan = Plan::new(&particles, 4 * base.id.len() as u64).unwrap();
    let refiner = Refiner::begin(plan, World::new(scene), Settings::default(), base).unwrap();
    Frame::clone(refiner.frame())
}

/// Names and units in the tables of a section of docs/frames.md.
fn documented(section: &str) -> BTreeMap<String, Unit> {
    let text = std::fs::read_to_string(root().join("docs/frames.md")).unwrap();
    let start = text.find(&format!("\n## {section}\n")).unwrap() + 1;
    let end = text[start + 3..].find("\n## ").map(|i| start + 3 + i);
    let rows = text[start..end.unwrap_or(text.len())].lines();
    let row = |line: &str| {
        let cells: Vec<&str> = line
            .strip_prefix("| `")?
            .split('|')
            .map(str::trim)
            .collect();
        let unit = serde_json::from_value((*cells.get(1)?).into()).ok()?;
        Some((cells[0].trim_end_matches('`').to_owned(), unit))
    };
    rows.filter_map(row).collect()
}

/// Compares columns and arrays with the documentation; returns their names.
fn check<'a>(
    what: &str,
    columns: impl Iterator<Item = &'a Column>,
    known: &BTreeMap<String, Unit>,
) -> BTreeSet<String> {
    let names = columns.map(|column| {
        let name = &column.name;
        let unit = known.get(name);
        let unit = unit.unwrap_or_else(|| panic!("{what}: `{name}` is not in docs/frames.md"));
        assert_eq!(column.unit, *unit, "{what}: {name}");
        assert!(!column.meaning.is_empty(), "{what}: {name}");
        if column.components == 6 {
            assert!(
                column.meaning.contains("xx yy zz yz xz xy"),
                "{what}: {name}"
            );
        }
        name.clone()
    });
    names.collect()
}

#[test]
fn every_column_is_documented_with_its_unit() {
    let (frames, checkpoints) = (documented("A frame"), documented("Checkpoints"));
    let (mut in_frames, mut in_checkpoints) = (BTreeSet::new(), BTreeSet::new());
    for (name, scene) in golden() {
        let (frame, state) = run(&scene);
        let of_frame = frame.columns.iter().chain(&frame.arrays);
        in_frames.extend(check(&name, of_frame, &frames));
        let of_state = state.columns.iter().chain(&state.arrays);
        in_checkpoints.extend(check(&name, of_state, &checkpoints));
        if !frame.columns[0].data.is_empty() {
            let grains = refined(&scene, frame);
            in_frames.extend(check("detail", grains.columns.iter(), &frames));
        }
    }
    // Every documented column is written by some solver.
    assert!(in_frames.iter().eq(frames.keys()), "{in_frames:?}");
    assert!(
        in_checkpoints.iter().eq(checkpoints.keys()),
        "{in_checkpoints:?}"
    );
}

#[test]
fn tensors_have_one_order_of_components() {
    for (name, tensors) in [
        ("golden/busy2d.toml", &["strain", "stress"][..]),
        ("golden/sph2d.toml", &["stress"]),
    ] {
        let (_, state) = run(&scene(name, &[]));
        for tensor in tensors {
            let values = state.column(tensor).unwrap().data.as_f32().unwrap();
            let largest = |component: usize| {
                let own = values.iter().skip(component).step_by(6);
                own.fold(0.0, |most: f32, value| most.max(value.abs()))
            };
            // In 2D the only shear component is xy.
            assert_eq!([largest(3), largest(4)], [0.0; 2], "{name} {tensor}");
            assert!(largest(0) > 0.0 && largest(5) > 0.0, "{name} {tensor}");
        }
    }
}
