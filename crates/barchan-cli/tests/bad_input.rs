//! Invalid input is reported with exit code 2, and nothing is written.

#![allow(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::{Place, SCENE, entries};

/// Runs the arguments and requires exit code 2, an unchanged directory, and a message that contains all of `says`.
fn refused(place: &Place, arguments: &[&str], says: &[&str]) {
    let before = place.entries();
    let outcome = place.run(arguments);
    assert_eq!(outcome.code, Some(2), "{arguments:?}: {outcome:?}");
    assert_eq!(outcome.stdout, "", "{arguments:?}");
    let message = outcome.message();
    assert!(!message.contains("panicked"), "{arguments:?}: {message}");
    for text in says {
        assert!(
            message.contains(text),
            "{arguments:?} should say `{text}`: {message}"
        );
    }
    assert_eq!(place.entries(), before, "{arguments:?}");
}

#[test]
fn invalid_calls() {
    let place = Place::new();
    refused(&place, &[], &["Usage"]);
    refused(&place, &["fly"], &["fly"]);
    refused(&place, &["run"], &["SCENE"]);
    refused(&place, &["run", "nowhere.toml"], &["nowhere.toml"]);
    refused(&place, &["run", "."], &["directory"]);
    refused(
        &place,
        &["run", "block.toml", "--threads", "0"],
        &["--threads"],
    );
    refused(
        &place,
        &["run", "block.toml", "--threads", "many"],
        &["many"],
    );
    refused(&place, &["run", "block.toml", "--scale", "0"], &["scale"]);
    refused(&place, &["run", "block.toml", "--scale", "nan"], &["scale"]);
    refused(&place, &["run", "block.toml", "--frames", "0"], &["frames"]);
    refused(
        &place,
        &["run", "block.toml", "--set", "solver.dy=1"],
        &["dy"],
    );
    refused(
        &place,
        &["run", "block.toml", "--set", "nonsense"],
        &["path=value"],
    );
    refused(&place, &["info", "nowhere"], &["nowhere"]);
    refused(&place, &["measure", "."], &["not a barchan result"]);
    refused(&place, &["measure", ".", "--axis", "0.5"], &["x and z"]);
    refused(
        &place,
        &["run", "block.toml", "--resume"],
        &["no result directory"],
    );
}

#[test]
fn invalid_scenes() {
    let place = Place::new();
    let cases = [
        (
            "resolution = 0.04",
            "resolutoin = 0.04",
            "did you mean `resolution`",
        ),
        ("resolution = 0.04", "resolution = -0.04", "resolution"),
        ("resolution = 0.04", "resolution = \"fine\"", "resolution"),
        ("\"dry sand\"", "\"dry snad\"", "did you mean `dry sand`"),
        ("frames = 8", "frames = -8", "frames"),
        ("frames = 8", "frames = ", "TOML"),
        ("frame_rate = 24", "frame_rate = 0", "frame_rate"),
        ("[[fill]]", "[[fil]]", "fill"),
        ("max = [0.1, 0.2, 0.1]", "max = [-0.3, 0.2, 0.1]", "max"),
        ("max = [0.1, 0.2, 0.1]", "max = [inf, 0.2, 0.1]", "max"),
        (
            "{ half_space = { point = [0, 0, 0], normal = [0, 1, 0] } }",
            "{ mesh = { file = \"missing.obj\" } }",
            "missing.obj",
        ),
        (
            "point = [0, 0, 0], normal",
            "point = [0, 1, 0], normal",
            "inside collider `floor`",
        ),
        (
            "frames = 8",
            "domain = { min = [-1, -1, -1], max = [1, 0.1, 1] }",
            "outside the domain",
        ),
    ];
    for (good, bad, says) in cases {
        assert!(SCENE.contains(good), "{good}");
        place.write("bad.toml", &SCENE.replacen(good, bad, 1));
        refused(&place, &["run", "bad.toml"], &["bad.toml", says]);
        refused(&place, &["check", "bad.toml"], &["bad.toml", says]);
    }
}

#[test]
fn invalid_materials() {
    let place = Place::new();
    for (setting, says) in [
        ("density = -1600", "density"),
        ("poisson = 0.5", "poisson"),
        ("friction_angle = 90", "friction_angle"),
        ("young = 0", "young"),
        ("cohesion = -1", "cohesion"),
    ] {
        let scene = SCENE.replace("\"dry sand\"", "\"mine\"");
        let material = format!("\n[materials.mine]\npreset = \"dry sand\"\n{setting}\n");
        place.write("bad.toml", &(scene + &material));
        refused(&place, &["run", "bad.toml"], &["bad.toml", says]);
    }
}

#[test]
fn a_broken_mesh() {
    let place = Place::new();
    place.write("open.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    place.write("garbage.stl", "this is no mesh");
    for file in ["open.obj", "garbage.stl"] {
        let mesh = format!("{{ mesh = {{ file = \"{file}\" }} }}");
        let half_space = "{ half_space = { point = [0, 0, 0], normal = [0, 1, 0] } }";
        place.write("bad.toml", &SCENE.replace(half_space, &mesh));
        refused(&place, &["run", "bad.toml"], &["bad.toml", file]);
    }
}

#[test]
fn an_emitter_inside_a_collider() {
    let place = Place::new();
    let emitter = r#"
[[emitter]]
name = "spout"
shape = { sphere = { center = [0, -0.5, 0], radius = 0.1 } }
material = "dry sand"
velocity = [0, -1, 0]
"#;
    place.write("bad.toml", &format!("{SCENE}{emitter}"));
    refused(&place, &["run", "bad.toml"], &["spout", "floor"]);
}

#[test]
fn all_errors_are_reported_at_once() {
    let place = Place::new();
    let scene = SCENE
        .replace("resolution = 0.04", "resolutoin = 0.04")
        .replace("sand", "snad");
    place.write("bad.toml", &scene);
    refused(&place, &["run", "bad.toml"], &["resolutoin", "dry snad"]);
}

#[test]
fn an_occupied_directory() {
    let place = Place::new();
    place.json(&["run", "block.toml", "-o", "r", "--frames", "1", "--json"]);
    let frames = entries(&place.path("r/frames"));
    refused(
        &place,
        &["run", "block.toml", "-o", "r"],
        &["already holds a result of scene `block`", "--resume"],
    );
    assert_eq!(entries(&place.path("r/frames")), frames);

    std::fs::create_dir(place.path("mine")).unwrap();
    place.write("mine/letter.txt", "dear reader");
    refused(
        &place,
        &["run", "block.toml", "-o", "mine"],
        &["letter.txt"],
    );
    assert_eq!(entries(&place.path("mine")), ["letter.txt"]);

    refused(
        &place,
        &["run", "block.toml", "-o", "block.toml"],
        &["block.toml"],
    );
    // An empty directory is accepted.
    std::fs::create_dir(place.path("empty")).unwrap();
    place.json(&[
        "run",
        "block.toml",
        "-o",
        "empty",
        "--frames",
        "1",
        "--json",
    ]);
}

#[test]
fn a_scene_that_exceeds_the_memory() {
    let place = Place::new();
    for dx in ["1e-5", "1e-7"] {
        let setting = format!("solver.resolution={dx}");
        refused(
            &place,
            &["run", "block.toml", "--set", &setting],
            &["of memory", "free", "--scale", "solver.resolution"],
        );
    }
    refused(
        &place,
        &["check", "block.toml", "--set", "solver.resolution=1e-5"],
        &["of memory", "--scale"],
    );
}

#[test]
fn sand_beyond_the_addressable_grid() {
    let place = Place::new();
    let shape = "fill.block.shape={box={min=[5e5,0,0],max=[500000.5,0.5,0.5]}}";
    refused(
        &place,
        &["run", "block.toml", "--set", shape],
        &["beyond the addressable grid", "fill", "origin"],
    );
}

#[test]
fn the_setting_that_makes_a_run_far_too_long_is_named() {
    let place = Place::new();
    for (setting, says) in [
        ("solver.mpm.max_dt=1e-9", "solver.mpm.max_dt = 1e-9"),
        ("solver.mpm.cfl=1e-12", "solver.mpm.cfl = 1e-12"),
        (
            "solver.mpm.elastic_cfl=1e-9",
            "solver.mpm.elastic_cfl = 1e-9",
        ),
        ("frame_rate=1e-9", "frame_rate = 1e-9"),
    ] {
        for command in ["check", "run"] {
            let arguments = [command, "block.toml", "--set", setting];
            refused(&place, &arguments, &[says, "raise it"]);
        }
    }
    // A run that is only slow is accepted with a warning.
    let slow = place.run(&["check", "block.toml", "--set", "solver.mpm.max_dt=1e-8"]);
    assert_eq!(slow.code, Some(0), "{slow:?}");
    let warning = slow.message();
    assert!(
        warning.contains("warning") && warning.contains("solver.mpm.max_dt = 1e-8"),
        "{warning}"
    );
    assert_eq!(place.run(&["check", "block.toml"]).stderr, "");
}

#[test]
fn an_output_directory_that_cannot_be_written() {
    let place = Place::new();
    let says = ["cannot write to", "block.toml is a file", "-o"];
    refused(
        &place,
        &["run", "block.toml", "-o", "block.toml/below/it"],
        &says,
    );
    #[cfg(target_os = "linux")]
    refused(
        &place,
        &["run", "block.toml", "-o", "/proc/barchan/result"],
        &["cannot write to /proc/barchan/result", "-o"],
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::create_dir(place.path("closed")).unwrap();
        let mode = |bits| std::fs::Permissions::from_mode(bits);
        std::fs::set_permissions(place.path("closed"), mode(0o555)).unwrap();
        // The superuser may write anywhere.
        if std::fs::write(place.path("closed/probe"), "").is_err() {
            for output in ["closed", "closed/r", "closed/a/b"] {
                let arguments = ["run", "block.toml", "-o", output];
                refused(&place, &arguments, &["cannot write to", "-o"]);
            }
        }
        std::fs::set_permissions(place.path("closed"), mode(0o755)).unwrap();
    }
}

#[test]
fn a_mistyped_gallery_name_gives_a_suggestion() {
    let place = Place::new();
    let guess = ["did you mean", "`hourglass`"];
    refused(&place, &["run", "hourglas"], &guess);
    refused(&place, &["check", "Hourglass"], &guess);
    refused(&place, &["check", "hourglass.toml"], &guess);
    refused(&place, &["scenes", "hourgalss"], &guess);
    refused(&place, &["run", "nonsense"], &["gallery scenes:", "castle"]);
}

#[test]
fn errors_are_json_too() {
    let place = Place::new();
    place.write(
        "bad.toml",
        &SCENE.replace("resolution = 0.04", "resolutoin = 0.04"),
    );
    for arguments in [
        &["run", "nowhere.toml", "--json"][..],
        &["run", "--json"],
        &["check", "block.toml", "--json", "--scale", "wide"],
        &[
            "check",
            "block.toml",
            "--json",
            "--set",
            "solver.resolution=1e-7",
        ],
        &["scenes", "nonsense", "--json"],
        &["info", "nowhere", "--json"],
        &["measure", "nowhere", "--json"],
    ] {
        let outcome = place.run(arguments);
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {outcome:?}");
        assert_eq!(outcome.stdout.lines().count(), 1, "{outcome:?}");
        let error = outcome.json();
        assert_eq!(error["exit_code"], 2, "{error}");
        assert!(!error["error"].as_str().unwrap().is_empty(), "{error}");
        assert!(!outcome.stderr.is_empty(), "{arguments:?}");
    }
    let outcome = place.run(&["run", "bad.toml", "--json"]);
    let problem = &outcome.json()["problems"][1];
    assert_eq!(problem["file"], "bad.toml", "{outcome:?}");
    assert_eq!(problem["line"], 6, "{outcome:?}");
    assert!(problem["help"].as_str().unwrap().contains("`resolution`"));
    assert!(outcome.stderr.contains("resolutoin"), "{outcome:?}");
}
