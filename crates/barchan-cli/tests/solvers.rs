//! One scene, any solver, with the program itself: `--solver` of every command that reads a scene, and refusals with the line.

#![allow(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use barchan::gallery;
use barchan::scene::{FAMILIES, Overrides, Scene, SceneSource, load, load_file};
use barchan::sim::simulation::{Control, Simulation};
use barchan::sim::solvers::{Feature, METHODS, parameters, set_parameter};
use common::{Place, SCENE, scene_path, viewer::Viewer};
use std::io::{Read, Write};

fn names() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().map(|family| family.name)
}

#[test]
fn the_same_scene_runs_with_every_solver() {
    let place = Place::new();
    let mut digests = Vec::new();
    for name in names() {
        let arguments = [
            "run",
            "block.toml",
            "-o",
            name,
            "--frames",
            "2",
            "--solver",
            name,
            "--json",
        ];
        let summary = place.json(&arguments);
        assert_eq!(summary["frames"], 2, "{summary}");
        digests.push(summary["digest"].as_str().unwrap().to_owned());
        let manifest = place.json(&["info", name, "--json"]);
        assert_eq!(manifest["manifest"]["solver"], name, "{manifest}");
        // The resolved scene contains the solver: resuming and viewing do not need the option.
        let text = std::fs::read_to_string(place.path(name).join("scene.toml")).unwrap();
        assert!(text.contains(&format!("method = \"{name}\"")), "{text}");
        let more = place.json(&["run", name, "--resume", "--frames", "3", "--json"]);
        assert_eq!(more["frames"], 3, "{more}");
        let checked = place.json(&["check", "block.toml", "--solver", name, "--json"]);
        assert_eq!(checked["solver"], name, "{checked}");
        let shown = place.run(&["check", "block.toml", "--solver", name]);
        assert!(shown.stdout.contains(&format!("{name} in 3D")), "{shown:?}");
    }
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), FAMILIES.len());
    let unknown = place.run(&["run", "block.toml", "--solver", "pdb"]);
    assert_eq!(unknown.code, Some(2));
    assert!(
        unknown.message().contains("did you mean `pbd`"),
        "{unknown:?}"
    );
}

#[test]
fn the_live_view_takes_another_solver() {
    let place = Place::new();
    for name in names() {
        let viewer = Viewer::launch(&place, &["block.toml", "--solver", name]);
        let address = &viewer.address;
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        let request =
            format!("GET /api/result HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(
            answer.contains(&format!("\"solver\":\"{name}\"")),
            "{answer}"
        );
    }
}

/// A line that adds a feature to a scene, and what of it a refusal marks.
fn line_with(feature: Feature) -> (&'static str, &'static str) {
    match feature {
        Feature::Periodic => (
            "domain = { min = [-1, -1, -1], max = [1, 1, 1], periodic = [\"x\"] }",
            "[\"x\"]",
        ),
        Feature::Terrain => (
            "terrain = { material = \"soil\", size = [4, 4], cell = 0.5, height = -3 }",
            "terrain",
        ),
        Feature::Elastic => ("materials = { jelly = { preset = \"jelly\" } }", "jelly"),
    }
}

/// Lines that solvers refuse: the solver, the line, and what is marked. Every feature that a family does not support, a
/// column that another one has, and a periodic domain that is no whole number of blocks wide.
fn refused() -> Vec<(&'static str, &'static str, &'static str)> {
    let mut all = vec![];
    for method in METHODS {
        let name = method.family.name;
        let missing = Feature::ALL.iter().filter(|f| !method.supports.contains(f));
        all.extend(missing.map(|feature| {
            let (line, marked) = line_with(*feature);
            (name, line, marked)
        }));
        if !method.family.columns.contains(&"hardening") {
            let line = "output = { columns = [\"hardening\"] }";
            all.push((name, line, "[\"hardening\"]"));
        }
    }
    let (line, marked) = line_with(Feature::Periodic);
    all.push(("mpm", line, marked));
    all
}

/// Scenes that a solver accepts but that cannot start: replaced text, replacement, line, and marked text.
const UNREADY: &[(&str, &str, &str, u32, &str)] = &[
    (
        "mpm",
        "resolution = 0.04",
        "resolution = 0.04\nmpm.max_dt = 1e-9",
        7,
        "1e-9",
    ),
    ("sph", "frame_rate = 24", "frame_rate = 1e-9", 3, "1e-9"),
    (
        "pbd",
        "max = [0.1, 0.2, 0.1]",
        "max = [0.1, 1e-4, 0.1]",
        10,
        "{ box =",
    ),
];

#[test]
fn a_refusal_shows_its_line() {
    let place = Place::new();
    for (solver, line, marked) in refused() {
        place.write(
            "refused.toml",
            &format!("name = \"refused\"\n{line}\n{SCENE}"),
        );
        for command in ["run", "check", "view"] {
            let outcome = place.run(&[command, "refused.toml", "--solver", solver, "--json"]);
            assert_eq!(outcome.code, Some(2), "{solver}, {line}: {outcome:?}");
            let said = outcome.json();
            let problem = &said["problems"][0];
            assert_eq!(problem["line"], 2, "{said}");
            assert_eq!(problem["file"], "refused.toml", "{said}");
            assert!(!problem["help"].as_str().unwrap().is_empty(), "{said}");
            assert!(outcome.stderr.contains(marked), "{outcome:?}");
        }
    }
    for (solver, from, to, line, marked) in UNREADY {
        assert!(SCENE.contains(from), "{from}");
        place.write("refused.toml", &SCENE.replacen(from, to, 1));
        for command in ["run", "check", "view"] {
            let outcome = place.run(&[command, "refused.toml", "--solver", solver, "--json"]);
            assert_eq!(outcome.code, Some(2), "{to}: {outcome:?}");
            let problem = &outcome.json()["problems"][0];
            assert_eq!(problem["line"], *line, "{outcome:?}");
            assert!(!problem["help"].as_str().unwrap().is_empty(), "{outcome:?}");
            assert!(outcome.stderr.contains(marked), "{outcome:?}");
        }
    }
    // A preset that only a fill names.
    place.write("jelly.toml", &SCENE.replace("dry sand", "jelly"));
    let outcome = place.run(&["check", "jelly.toml", "--solver", "pbd", "--json"]);
    assert_eq!(outcome.json()["problems"][0]["line"], 11, "{outcome:?}");
}

/// Settings that a solver ignores are not errors, since another solver may use them, but cause a warning with the line.
#[test]
fn ignored_settings_cause_a_warning_with_the_line() {
    let place = Place::new();
    let wetting = format!("{SCENE}\n[[wetting]]\nrate = 0.5\n");
    let line = 1 + wetting[..wetting.find("[[wetting]]").unwrap()]
        .matches('\n')
        .count();
    let wet = format!("wet.toml:{line}: ");
    place.write("wet.toml", &wetting);
    let idle = SCENE.replace("0.04", "0.04\npbd.error_reduction = 0.5");
    place.write("idle.toml", &idle);
    let mut cases = vec![
        (
            "idle.toml",
            "pbd",
            vec!["idle.toml:7: ".to_owned(), "mass splitting".into()],
        ),
        ("idle.toml", "mpm", vec![]),
    ];
    cases.extend(FAMILIES.iter().map(|family| {
        let says = vec![
            wet.clone(),
            format!("`{}` does not support", family.name),
            "`sph`".into(),
        ];
        let says = if family.wetting { vec![] } else { says };
        ("wet.toml", family.name, says)
    }));
    for (file, solver, says) in cases {
        let checked = place.json(&["check", file, "--solver", solver, "--json"]);
        let warnings = checked["warnings"].as_array().unwrap();
        assert_eq!(warnings.len(), usize::from(!says.is_empty()), "{checked}");
        let arguments = ["run", file, "--solver", solver, "--frames", "1", "-o"];
        let ran = place.run(&[&arguments[..], &[&format!("{file}-{solver}")]].concat());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        for text in says {
            assert!(warnings[0].as_str().unwrap().contains(&text), "{checked}");
            assert!(ran.message().contains(&text), "{ran:?}");
        }
    }
}

/// Every gallery scene, at a coarse resolution, with every solver: two frames, or a refusal where the physics needs another solver.
#[test]
fn gallery_scenes_run_with_every_solver() {
    let mut ran = 0;
    for name in gallery::names() {
        let source = SceneSource {
            name: name.to_owned(),
            text: gallery::text(name).unwrap().to_owned(),
            directory: ".".into(),
        };
        for method in METHODS {
            let solver = method.family.name;
            let overrides = Overrides {
                scale: Some(0.3),
                solver: Some(solver.to_owned()),
                ..Overrides::default()
            };
            let scene = load(&source, &overrides).unwrap();
            let mut features = Feature::ALL.iter().filter(|f| f.is_in(&scene));
            let impossible = features.find(|f| !method.supports.contains(f));
            let started = Simulation::new(&scene);
            assert_eq!(
                started.is_err(),
                impossible.is_some(),
                "{name} with {solver}: unsupported is {impossible:?}, but the result is {:?}",
                started.err()
            );
            let Ok(mut simulation) = started else {
                continue;
            };
            for _ in 0..2 {
                let end = simulation.advance_frame(&mut |_| Control::Continue);
                end.unwrap_or_else(|e| panic!("{name} with {solver}: {e}"));
            }
            ran += 1;
        }
    }
    assert!(ran >= 14, "{ran}");
}

/// A block of sand for which only the friction angle is given.
fn own_sand(solver: &str) -> Scene {
    let set = [
        &format!("solver.method={solver}"),
        "materials={ sand = { friction_angle = 33 } }",
        "fill.block.material=sand",
    ];
    load_file(scene_path("tests/block.toml"), &set).unwrap()
}

/// Live parameters of such a block, by family. The tests below hold for families that are not listed, too.
const LIVE: &[(&str, &[&str])] = &[
    ("mpm", &["young", "friction_angle", "cohesion"]),
    (
        "pbd",
        &[
            "friction_angle",
            "static_friction_angle",
            "adhesion",
            "stiffness",
            "damping",
        ],
    ),
    (
        "sph",
        &[
            "friction_angle",
            "cohesion",
            "wet_cohesion",
            "viscosity",
            "wet_viscosity",
        ],
    ),
];

#[test]
fn live_parameters_are_those_of_the_family() {
    assert!(LIVE.iter().all(|(name, _)| names().any(|n| n == *name)));
    for method in METHODS {
        let family = method.family;
        let mut scene = own_sand(family.name);
        let before = scene.materials[0].clone();
        let found = parameters(&scene, &scene.materials[0]);
        let keys: Vec<&str> = found.iter().map(|p| p.key).collect();
        assert!(family.live.iter().all(|key| keys.contains(key)), "{keys:?}");
        if let Some((name, listed)) = LIVE.iter().find(|(name, _)| *name == family.name) {
            assert_eq!(&keys, listed, "{name}");
        }
        // Reading parameters does not fix them; setting one changes it and the values derived from it.
        assert_eq!(scene.materials[0], before);
        for key in &keys {
            assert!(set_parameter(&mut scene, 0, key, 12.0), "{key}");
            let found = parameters(&scene, &scene.materials[0]);
            assert_eq!(found.iter().find(|p| p.key == *key).unwrap().value, 12.0);
        }
        assert!(!set_parameter(&mut scene, 0, "color", 1.0));
        for key in keys {
            assert!(!set_parameter(&mut scene, 9, key, 1.0));
        }
    }
}

/// What `pbd` derives from physical quantities.
#[test]
fn contacts_follow_from_the_material() {
    let scene = own_sand("pbd");
    let found = parameters(&scene, &scene.materials[0]);
    let value = |key: &str| found.iter().find(|p| p.key == key).unwrap().value;
    // Between 18° (5°) and 37° (15°).
    assert!((value("static_friction_angle") - (5.0 + 150.0 / 19.0)).abs() < 1e-9);
    assert_eq!((value("adhesion"), value("stiffness")), (0.0, 0.04 * 1e6));
    // 2 √(k m/2), with m = 1600/0.6 · 4/3 π 0.02³.
    assert!((value("damping") / 84.54 - 1.0).abs() < 1e-3);
}
