//! What a scene takes over from the result that it starts from.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use barchan_frame::{Checkpoint, Column, ColumnData, Manifest, ManifestMaterial, ResultDirectory};
use barchan_scene::{Overrides, Scene, SceneSource, load};
use barchan_sim::collider::thin_movers;
use barchan_sim::simulation::{Control, Simulation, SimulationError};
use barchan_sim::start;
use std::path::Path;
use tempfile::TempDir;

const BED: &str = r#"dimensions = 2
[solver]
resolution = 0.02
[materials.sand]
preset = "dry sand"
[[fill]]
shape = { box = { min = [0, 0], max = [0.2, 0.1] } }
material = "sand"
spin = [0, 0, 1]
[[collider]]
shape = { half_space = { normal = [0, 1] } }
"#;

const NEXT: &str = r#"dimensions = 2
start = { result = "bed" }
[solver]
resolution = 0.02
[materials.sand]
preset = "dry sand"
"#;

fn scene(text: &str, directory: &Path) -> Scene {
    let source = SceneSource {
        name: "test.toml".into(),
        text: text.into(),
        directory: directory.into(),
    };
    load(&source, &Overrides::default()).unwrap()
}

/// A folder with the result of [`BED`] after two frames; `solver` is the name in its manifest.
fn bed(solver: &str) -> (TempDir, Checkpoint) {
    let folder = tempfile::tempdir().unwrap();
    let mut simulation = Simulation::new(&scene(BED, folder.path())).unwrap();
    for _ in 0..2 {
        simulation
            .advance_frame(&mut |_| Control::Continue)
            .unwrap();
        simulation.write_frame().unwrap();
    }
    let state = simulation.save().unwrap();
    write_bed(&folder, solver, 2, &state);
    (folder, state)
}

/// Writes the result `bed`.
fn write_bed(folder: &TempDir, solver: &str, dimensions: u32, state: &Checkpoint) {
    let manifest = Manifest {
        solver: solver.into(),
        dimensions,
        frames: state.index,
        materials: vec![ManifestMaterial {
            name: "sand".into(),
            density: 1600.0,
        }],
        ..Manifest::default()
    };
    let result = ResultDirectory::create(&folder.path().join("bed"), &manifest, "").unwrap();
    result.write_checkpoint(state).unwrap();
}

fn affine(state: &Checkpoint) -> &[f32] {
    match &state.column("affine").unwrap().data {
        ColumnData::F32(values) => values,
        _ => panic!("floats"),
    }
}

#[test]
fn every_column_comes_over_whatever_the_grid() {
    let (folder, state) = bed("mpm");
    for dx in ["0.02", "0.03", "0.013"] {
        let next = scene(&NEXT.replace("0.02", dx), folder.path());
        let mut simulation = Simulation::new(&next).unwrap();
        assert_eq!((simulation.frame(), simulation.time()), (0, 0.0));
        let begun = simulation.save().unwrap();
        // The blocks that particles are sorted into hold for the same grid only.
        let own = |c: &&Column| c.name != "block" || dx == "0.02";
        let expected: Vec<&Column> = state.columns.iter().filter(own).collect();
        assert!(
            begun.columns.iter().collect::<Vec<_>>() == expected,
            "dx = {dx}"
        );
        let looked = start::look(&next, None).unwrap();
        assert_eq!(simulation.start(), looked.as_ref());
        assert_eq!(looked.unwrap().digest, state.digest());
    }
}

/// Only APIC renews the affine velocity: kept, it would drive the sand for ever.
#[test]
fn other_transfers_drop_the_affine_velocity() {
    let (folder, state) = bed("mpm");
    assert!(affine(&state).iter().any(|c| *c != 0.0));
    let text = NEXT.replace(
        "resolution = 0.02",
        "resolution = 0.02\nmpm.transfer = \"pic\"",
    );
    let mut simulation = Simulation::new(&scene(&text, folder.path())).unwrap();
    let begun = simulation.save().unwrap();
    assert!(affine(&begun).iter().all(|c| c.to_bits() == 0));
}

#[test]
fn another_family_of_solvers_is_refused() {
    let (folder, _) = bed("dem");
    let next = scene(NEXT, folder.path());
    let Err(SimulationError::Start(error)) = Simulation::new(&next) else {
        panic!("the start should be refused");
    };
    assert!(error.message.contains("was simulated by `dem`"), "{error}");
    let placed = error.in_scene(&next).unwrap();
    assert_eq!(placed.errors()[0].marked(), Some("\"bed\""));
    assert_eq!(placed.errors()[0].line(), Some(2));
}

#[test]
fn thin_bodies_are_found_whatever_their_shape() {
    let (folder, _) = bed("mpm");
    let with = |shape: &str| {
        let body = "[[collider]]\nname = \"body\"\nmotion = { velocity = [1, 0] }\nshape = ";
        let scene = scene(&format!("{NEXT}{body}{shape}\n"), folder.path());
        thin_movers(&scene).first().map(|thin| thin.thickness)
    };
    let thin = with(
        "{ box = { min = [1, 0], max = [1.05, 1] }, rotate = { axis = [0, 0, 1], angle = 20 } }",
    );
    assert!((thin.unwrap() - 0.05).abs() < 0.001, "{thin:?}");
    let ring = "{ difference = [{ sphere = { center = [2, 0], radius = 0.5 } }, { sphere = { center = [2, 0], radius = 0.47 } }] }";
    let thin = with(ring);
    assert!((thin.unwrap() - 0.03).abs() < 0.001, "{thin:?}");
    assert_eq!(with("{ box = { min = [1, 0], max = [1.08, 1] } }"), None);
    assert_eq!(
        with("{ half_space = { point = [0, -1], normal = [0, 1] } }"),
        None
    );
}

/// Grains of cut terrain are numbered from the largest identity downwards; a scene that goes on from there has numbers left.
#[test]
fn a_scene_goes_on_from_a_site_that_was_dug() {
    let site = r#"frame_rate = 60
[solver]
method = "pbd"
resolution = 0.1
[materials.sand]
preset = "dry sand"
[terrain]
material = "sand"
size = [3, 3]
cell = 0.1
depth = 1
"#;
    let blade = r#"
[[collider]]
shape = { box = { min = [-0.1, -0.3, -0.5], max = [0, 0.5, 0.5] } }
motion = { position = { keyframes = [{ time = 0, value = [-1, 0, 0] }, { time = 1, value = [1, 0, 0] }] } }
"#;
    let spout = r#"
[[emitter]]
shape = { sphere = { center = [0, 1, 0], radius = 0.2 } }
material = "sand"
velocity = [0, -1, 0]
"#;
    let folder = tempfile::tempdir().unwrap();
    let mut dug = Simulation::new(&scene(&format!("{site}{blade}"), folder.path())).unwrap();
    for _ in 0..30 {
        dug.advance_frame(&mut |_| Control::Continue).unwrap();
    }
    let grains = dug.particles();
    assert!(grains > 10, "{grains}");
    write_bed(&folder, "pbd", 3, &dug.save().unwrap());
    let next = format!("start = {{ result = \"bed\" }}\n{site}{spout}");
    let mut next = Simulation::new(&scene(&next, folder.path())).unwrap();
    for _ in 0..30 {
        next.advance_frame(&mut |_| Control::Continue).unwrap();
    }
    assert!(next.counters().emitted[0] > 20 && next.particles() > 20);
    let view = next.view().unwrap().arrays().unwrap();
    let mut ids = view.id.to_vec();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), next.particles(), "an identity was given twice");
}
