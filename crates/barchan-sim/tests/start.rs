//! Scenes that start from an earlier result.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use barchan_frame::{Checkpoint, Column, Manifest, ManifestMaterial, ResultDirectory};
use barchan_scene::{Scene, load_file};
use barchan_sim::collider::thin_movers;
use barchan_sim::simulation::{Simulation, SimulationError};
use barchan_sim::start;
use glam::Vec3;
use support::{advance, floats, scene_path, start_file};
use tempfile::TempDir;

/// A scene of scenes/tests, with paths relative to this folder.
fn scene_in(folder: &TempDir, name: &str, set: &[&str]) -> Scene {
    let file = folder.path().join(name);
    std::fs::copy(scene_path("tests").join(name), &file).unwrap();
    load_file(file, set).unwrap()
}

/// A folder with the result of bed.toml after two frames; `solver` is the name in its manifest.
fn bed(solver: &str) -> (TempDir, Checkpoint) {
    let folder = tempfile::tempdir().unwrap();
    let mut simulation = start_file("tests/bed.toml", &["fill.0.spin=[0, 0, 1]"]);
    advance(&mut simulation, 2);
    let state = write_bed(&folder, solver, 2, &mut simulation);
    (folder, state)
}

/// Writes the result `results/bed`; returns its state.
fn write_bed(
    folder: &TempDir,
    solver: &str,
    dimensions: u32,
    simulation: &mut Simulation,
) -> Checkpoint {
    let state = simulation.save().unwrap();
    let solids = simulation.colliders().list.iter();
    let manifest = Manifest {
        solver: solver.into(),
        dimensions,
        frames: state.index,
        materials: vec![ManifestMaterial {
            name: if dimensions == 2 { "sand" } else { "dry sand" }.into(),
            density: 1600.0,
        }],
        colliders: solids.map(|c| c.name.clone()).collect(),
        ..Manifest::default()
    };
    let results = folder.path().join("results");
    std::fs::create_dir(&results).unwrap();
    let result = ResultDirectory::create(&results.join("bed"), &manifest, "").unwrap();
    result.write_checkpoint(&state).unwrap();
    state
}

#[test]
fn every_column_is_transferred_for_any_grid() {
    let (folder, state) = bed("mpm");
    for dx in ["0.02", "0.03", "0.013"] {
        let resolution = format!("solver.resolution={dx}");
        let next = scene_in(&folder, "next.toml", &[&resolution]);
        let mut simulation = Simulation::new(&next).unwrap();
        assert_eq!((simulation.frame(), simulation.time()), (0, 0.0));
        let begun = simulation.save().unwrap();
        // The blocks of the sort are valid only for the same grid.
        let own = |c: &&Column| c.name != "block" || dx == "0.02";
        let expected: Vec<&Column> = state.columns.iter().filter(own).collect();
        assert!(
            begun.columns.iter().collect::<Vec<_>>() == expected,
            "dx = {dx}"
        );
        let looked = start::find(&next, None).unwrap();
        assert_eq!(simulation.start(), looked.as_ref());
        assert_eq!(looked.unwrap().digest, state.digest());
    }
}

/// Only APIC updates the affine velocity; with other transfers it would act forever.
#[test]
fn other_transfers_drop_the_affine_velocity() {
    let (folder, state) = bed("mpm");
    assert!(floats(&state, "affine").iter().any(|c| *c != 0.0));
    let next = scene_in(&folder, "next.toml", &["solver.mpm.transfer=pic"]);
    let mut simulation = Simulation::new(&next).unwrap();
    let begun = simulation.save().unwrap();
    assert!(floats(&begun, "affine").iter().all(|c| c.to_bits() == 0));
}

#[test]
fn another_family_of_solvers_is_refused() {
    let (folder, _) = bed("dem");
    let next = scene_in(&folder, "next.toml", &[]);
    let Err(SimulationError::Start(error)) = Simulation::new(&next) else {
        panic!("the start should be refused");
    };
    assert!(error.message.contains("was simulated by `dem`"), "{error}");
    let placed = error.in_scene(&next).unwrap();
    assert_eq!(placed.errors()[0].marked(), Some("\"results/bed\""));
    assert_eq!(placed.errors()[0].line(), Some(5));
}

#[test]
fn thin_bodies_of_any_shape_are_found() {
    let (folder, _) = bed("mpm");
    let with = |shape: &str| {
        let body = format!(
            "collider=[{{ name = \"body\", motion = {{ velocity = [1, 0] }}, shape = {shape} }}]"
        );
        let scene = scene_in(&folder, "next.toml", &[&body]);
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

/// Grains of cut terrain are numbered downward from the largest identity; a scene that starts from there has free identities.
#[test]
fn a_scene_starts_from_a_dug_site() {
    let folder = tempfile::tempdir().unwrap();
    let small = ["solver.resolution=0.1", "terrain.size=[3, 3]"];
    let mut dug = start_file("tests/dig.toml", &small);
    advance(&mut dug, 75);
    let grains = dug.particles();
    assert!(grains > 10, "{grains}");
    write_bed(&folder, "pbd", 3, &mut dug);
    let spout = [
        "start={ result = \"results/bed\" }",
        "collider=[]",
        "emitter=[{ shape = { sphere = { center = [0, 1, 0], radius = 0.2 } }, material = \"dry sand\", velocity = [0, -1, 0] }]",
    ];
    let next = scene_in(&folder, "dig.toml", &[&small[..], &spout].concat());
    let mut next = Simulation::new(&next).unwrap();
    advance(&mut next, 30);
    assert!(next.counters().emitted[0] > 20 && next.particles() > 20);
    let view = next.view().unwrap().arrays().unwrap();
    let mut ids = view.id.to_vec();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), next.particles(), "an identity was given twice");
}

/// Number of warm-started contacts with each body of a state, and the sum of their forces.
fn loads(state: &Checkpoint) -> Vec<(usize, Vec3)> {
    let of = |name: &str| &state.array(name).unwrap().data;
    let partners = of("wall_partner").as_u32().unwrap();
    let forces = of("wall_force").as_f32().unwrap().as_chunks::<3>().0;
    let mut loads = vec![(0, Vec3::ZERO); 4];
    for (partner, force) in partners.iter().zip(forces) {
        let load = &mut loads[*partner as usize];
        *load = (load.0 + 1, load.1 + Vec3::from_array(*force));
    }
    loads
}

/// A warm-started force belongs to a body, not to its number: another body in its place must not inherit it.
#[test]
fn cached_contacts_follow_the_names_of_the_bodies() {
    let folder = tempfile::tempdir().unwrap();
    let mut bed = start_file("tests/box_on_bed.toml", &[]);
    advance(&mut bed, 24);
    let [floor, cube, ..] = loads(&write_bed(&folder, "pbd", 3, &mut bed))[..] else {
        panic!("there are two bodies");
    };
    assert!(floor.0 > 10 && cube.0 > 2, "{floor:?} {cube:?}");
    let wall =
        "{ name = \"NAME\", shape = { half_space = { point = [0, -9, 0], normal = [0, 1, 0] } } }";
    let ground = "{ name = \"floor\", shape = { half_space = { normal = [0, 1, 0] } } }";
    let none = (0, Vec3::ZERO);
    let begun = |colliders: &[&str], others: &[&str]| {
        let colliders = format!("collider=[{}]", colliders.join(", "));
        let start = "start={ result = \"results/bed\" }";
        let set = [&[start, "fill=[]", &colliders], others].concat();
        let next = scene_in(&folder, "box_on_bed.toml", &set);
        let mut next = Simulation::new(&next).unwrap();
        let begun = loads(&next.save().unwrap());
        advance(&mut next, 2);
        begun
    };
    let deep = wall.replace("NAME", "deep");
    assert_eq!(begun(&[ground], &[]), [floor, cube, none, none]);
    assert_eq!(begun(&[&deep, ground], &[]), [none, floor, cube, none]);
    assert_eq!(
        begun(&[&deep, ground], &["body=[]"]),
        [none, floor, none, none]
    );
    assert_eq!(begun(&[&deep], &["body=[]"]), [none; 4]);
}

/// The terrain counts as the body after the last one, however many there are.
#[test]
fn cached_contacts_with_terrain_stay_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let small = ["solver.resolution=0.1", "terrain.size=[3, 3]"];
    let mut dug = start_file("tests/dig.toml", &small);
    advance(&mut dug, 75);
    let site = loads(&write_bed(&folder, "pbd", 3, &mut dug))[1];
    assert!(site.0 > 10, "{site:?}");
    let empty = ["start={ result = \"results/bed\" }", "collider=[]"];
    let next = scene_in(&folder, "dig.toml", &[&small[..], &empty].concat());
    let begun = Simulation::new(&next).unwrap().save().unwrap();
    let none = (0, Vec3::ZERO);
    assert_eq!(loads(&begun), [site, none, none, none]);
}
