//! The commands, called as by a user.

#![allow(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::{Outcome, Place, SCENE, entries};
use serde_json::Value;

#[test]
fn info_and_measure_read_the_result_of_a_run() {
    let place = Place::new();
    let outcome = place.run(&["run", "block.toml"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stdout.contains("8 frames"), "{outcome:?}");
    assert!(outcome.stdout.contains("barchan measure block.barchan"));
    assert_eq!(place.entries(), ["block.barchan", "block.toml"]);
    let frames = entries(&place.path("block.barchan/frames"));
    assert_eq!(
        frames.iter().filter(|f| f.parse::<u32>().is_ok()).count(),
        9
    );

    let info = place.json(&["info", "block.barchan", "--json"]);
    assert_eq!(info["complete"], true);
    assert_eq!(info["manifest"]["frames"], 8);
    assert!(
        place
            .run(&["info", "block.barchan"])
            .stdout
            .contains("complete")
    );

    let measured = place.json(&["measure", "block.barchan", "--json"]);
    for key in [
        "particles",
        "mass_kg",
        "momentum",
        "kinetic_energy_j",
        "center_of_mass",
        "bounds_min",
        "bounds_max",
        "slope_angle_deg",
        "runout_m",
        "max_speed",
    ] {
        assert!(measured.get(key).is_some(), "{key}: {measured}");
    }
    assert_eq!(measured["frame"], 8);
    // 0.2 m of sand in each direction: the mass is exact whatever the sampling.
    let start = place.json(&["measure", "block.barchan", "--frame", "0", "--json"]);
    let (before, after) = (&start["mass_kg"], &measured["mass_kg"]);
    assert!((before.as_f64().unwrap() - after.as_f64().unwrap()).abs() < 1e-9);
    assert_eq!(start["particles"], measured["particles"]);
    assert!(height(&measured) < height(&start));
}

fn height(measured: &Value) -> f64 {
    measured["center_of_mass"][1].as_f64().unwrap()
}

#[test]
fn run_json_has_the_documented_keys() {
    let place = Place::new();
    let outcome = place.run(&["run", "block.toml", "--json", "--frames", "2"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert_eq!(outcome.stderr, "");
    assert_eq!(outcome.stdout.lines().count(), 1);
    let summary = outcome.json();
    for key in ["particles", "frames", "substeps"] {
        assert!(summary[key].as_u64().unwrap() > 0, "{key}");
    }
    for key in ["sim_time_s", "wall_s", "particle_substeps_per_s"] {
        assert!(summary[key].as_f64().unwrap() > 0.0, "{key}");
    }
    assert_eq!(summary["frames"], 2);
    assert_eq!(summary["digest"].as_str().unwrap().len(), 64);
}

#[test]
fn frames_carry_statistics_and_forces_on_bodies() {
    let place = Place::new();
    place.json(&["run", "block.toml", "-o", "r", "--json"]);
    let info = place.json(&["info", "r", "--json"]);
    let statistics = &info["statistics"];
    assert!(statistics["run"]["substeps"].as_u64().unwrap() > 0);
    let text = std::fs::read_to_string(place.path("r/frames/000008/zarr.json")).unwrap();
    let group: Value = serde_json::from_str(&text).unwrap();
    let bodies = find(&group, "bodies").expect("bodies");
    assert_eq!(bodies[0]["name"], "floor");
    // The floor supports the weight of the sand.
    let measured = place.json(&["measure", "r", "--json"]);
    let weight = 9.81 * measured["mass_kg"].as_f64().unwrap();
    let force = bodies[0]["force"][1].as_f64().unwrap();
    assert!((-force / weight - 1.0).abs() < 0.5, "{force} N, {weight} N");
}

/// The value of a key, however deep.
fn find<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    match value {
        Value::Object(map) => map
            .get(key)
            .or_else(|| map.values().find_map(|v| find(v, key))),
        _ => None,
    }
}

#[test]
fn thread_count_does_not_change_the_result() {
    let place = Place::new();
    let digest = |threads: &str| {
        let directory = format!("with-{threads}");
        place.digest(&[
            "run",
            "block.toml",
            "-o",
            &directory,
            "--threads",
            threads,
            "--json",
        ])
    };
    let one = digest("1");
    assert_eq!(one, digest("2"));
    assert_eq!(one, digest("3"));
    // Negative control: a different run has a different digest.
    let other = [
        "run",
        "block.toml",
        "-o",
        "seed",
        "--set",
        "seed=2",
        "--json",
    ];
    assert_ne!(one, place.digest(&other));
}

#[test]
fn scale_and_set_change_the_scene() {
    let place = Place::new();
    let particles = |directory: &str, more: &[&str]| {
        let mut arguments = vec![
            "run",
            "block.toml",
            "--frames",
            "1",
            "--json",
            "-o",
            directory,
        ];
        arguments.extend(more);
        place.json(&arguments)["particles"].as_f64().unwrap()
    };
    let plain = particles("plain", &[]);
    let ratio = particles("finer", &["--scale", "1.5"]) / plain;
    assert!((ratio / 1.5_f64.powi(3) - 1.0).abs() < 0.1, "{ratio}");
    let by_hand = particles("set", &["--set", "solver.resolution=0.02666666666666667"]) / plain;
    assert!((by_hand / ratio - 1.0).abs() < 0.01, "{by_hand}");
    let resolved = std::fs::read_to_string(place.path("set/scene.toml")).unwrap();
    assert!(resolved.contains("0.02666666666666667"), "{resolved}");
}

#[test]
fn check_estimates_and_writes_nothing() {
    let place = Place::new();
    let outcome = place.run(&["check", "block.toml"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stdout.contains("valid"), "{outcome:?}");
    let estimate = place.json(&["check", "block.toml", "--json"]);
    let summary = place.json(&["run", "block.toml", "--json", "--frames", "1"]);
    assert_eq!(estimate["particles"], summary["particles"]);
    assert!(estimate["memory_bytes"].as_u64().unwrap() > 10_000);
    let (dt, steps) = (&estimate["dt_s"], &summary["substeps"]);
    let expected = 1.0 / 24.0 / dt.as_f64().unwrap();
    let ratio = steps.as_f64().unwrap() / expected;
    assert!((0.9..2.0).contains(&ratio), "{ratio}");
    assert_eq!(place.entries(), ["block.barchan", "block.toml"]);
}

#[test]
fn schema_and_scenes_print() {
    let place = Place::new();
    let schema = place.run(&["schema"]);
    assert_eq!(schema.code, Some(0));
    let value: Value = serde_json::from_str(&schema.stdout).unwrap();
    assert!(value["properties"]["solver"].is_object(), "{value}");
    let scenes = place.json(&["scenes", "--json"]);
    for scene in scenes["scenes"].as_array().unwrap() {
        let name = scene["name"].as_str().unwrap();
        assert!(!scene["description"].as_str().unwrap().is_empty(), "{name}");
        let text = place.run(&["scenes", name]).stdout;
        place.write("copy.toml", &text);
        assert_eq!(
            place.run(&["check", "copy.toml", "--scale", "0.5"]).code,
            Some(0)
        );
    }
    assert_eq!(place.run(&["scenes", "nonsense"]).code, Some(2));
}

#[test]
fn the_final_check_decides_the_exit_code() {
    let place = Place::new();
    let run = |output: &str, limit: &str| {
        let limit = format!("check.max_speed={limit}");
        place.run(&["run", "block.toml", "-o", output, "--set", &limit])
    };
    let good = run("good", "100.0");
    assert_eq!(good.code, Some(0), "{good:?}");
    assert!(good.stdout.contains("pass: fastest particle"), "{good:?}");
    let bad = run("bad", "1e-9");
    assert_eq!(bad.code, Some(1), "{bad:?}");
    assert!(bad.stdout.contains("FAIL: fastest particle"), "{bad:?}");
    let again = place.run(&["run", "bad", "--resume"]);
    assert_eq!(again.code, Some(1), "{again:?}");
}

#[test]
fn a_closed_pipe_does_not_panic() {
    let place = Place::new();
    let mut command = place.command(&["schema"]);
    let mut child = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let outcome = Outcome::of(child.wait_with_output().unwrap());
    assert!(!outcome.stderr.contains("panicked"), "{outcome:?}");
    assert_eq!(outcome.code, Some(0));
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_device_is_a_failure() {
    let place = Place::new();
    place.json(&["run", "block.toml", "-o", "r", "--frames", "1", "--json"]);
    for arguments in [
        &["scenes"][..],
        &["scenes", "pile"],
        &["scenes", "--json"],
        &["schema"],
        &["info", "r"],
        &["info", "r", "--json"],
        &["measure", "r"],
        &["measure", "r", "--json"],
        &["check", "block.toml"],
        &["run", "r", "--resume", "--json"],
        &["--help"],
        &["--version"],
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full");
        let mut command = place.command(arguments);
        let outcome = Outcome::of(command.stdout(full.unwrap()).output().unwrap());
        assert_eq!(outcome.code, Some(1), "{arguments:?}: {outcome:?}");
        let message = outcome.message();
        assert!(
            message.contains("could not write to standard output"),
            "{arguments:?}: {message}"
        );
    }
}

#[test]
#[cfg(target_os = "linux")]
fn paths_need_not_be_utf8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    let scene = OsStr::from_bytes(b"caf\xe9.toml");
    let result = OsStr::from_bytes(b"r\xe9sultat");
    std::fs::write(place.path("").join(scene), SCENE).unwrap();
    let run = |arguments: &[&OsStr]| {
        let output = place.command(&[]).args(arguments).output().unwrap();
        let outcome = Outcome::of(output);
        assert_eq!(outcome.code, Some(0), "{arguments:?}: {outcome:?}");
        outcome.json()
    };
    let [check, frames, one, output, json, resume] =
        ["check", "--frames", "1", "-o", "--json", "--resume"].map(OsStr::new);
    assert_eq!(run(&[check, scene, json])["frames"], 8);
    let digest = run(&["run".as_ref(), scene, frames, one, output, result, json])["digest"].clone();
    assert_eq!(run(&["info".as_ref(), result, json])["digest"], digest);
    assert_eq!(
        run(&["run".as_ref(), result, resume, json])["digest"],
        digest
    );
}

#[test]
fn numbers_have_no_spurious_digits() {
    let place = Place::new();
    let set = [
        "--set",
        "solver.resolution=0.0400000001",
        "--set",
        "frame_rate=23.976",
    ];
    let with = |arguments: &[&str]| {
        let arguments: Vec<&str> = arguments.iter().chain(&set).copied().collect();
        let outcome = place.run(&arguments);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        outcome.stdout
    };
    let mut texts = with(&["check", "block.toml"]);
    texts += &with(&["run", "block.toml", "-o", "r", "--frames", "1"]);
    for command in ["info", "measure"] {
        texts += &place.run(&[command, "r"]).stdout;
    }
    let numbers = texts
        .split(|c: char| c.is_whitespace() || "(),:;".contains(c))
        .filter(|word| word.parse::<f64>().is_ok() && word.contains('.'));
    for number in numbers {
        let mantissa = number.split('e').next().unwrap();
        let digits = mantissa.trim_start_matches(['-', '0', '.']);
        assert!(digits.len() <= 7, "{number} in {texts}");
    }
}

#[test]
fn the_scene_in_the_readme_is_valid() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let text = std::fs::read_to_string(readme).unwrap();
    let (_, rest) = text.split_once("```toml\n").unwrap();
    let (scene, _) = rest.split_once("```").unwrap();
    let place = Place::new();
    place.write("pile.toml", scene);
    let estimate = place.json(&["check", "pile.toml", "--json"]);
    assert!(
        estimate["particles_over_the_run"].as_u64().unwrap() > 1000,
        "{estimate}"
    );
    let summary = place.json(&[
        "run",
        "pile.toml",
        "--scale",
        "0.5",
        "--frames",
        "24",
        "--json",
    ]);
    assert!(summary["emitted"].as_u64().unwrap() > 10, "{summary}");
    assert_eq!(summary["emitted"], summary["particles"]);
}

#[test]
fn thin_moving_bodies_cause_a_warning() {
    let place = Place::new();
    place.scene("paddle.toml");
    let paddle = |command: &str, right: f64, motion: &str, more: &[&str]| {
        let thickness = format!("collider.paddle.shape.box.max=[{right}, 0.3, 0.2]");
        let mut arguments = vec![command, "paddle.toml", "--set", &thickness];
        if !motion.is_empty() {
            arguments.extend(["--set", motion]);
        }
        let outcome = place.run(&[&arguments, more].concat());
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        outcome
    };
    let moving = "collider.paddle.motion.velocity=[-0.5, 0, 0]";
    let still = "collider.paddle.motion.velocity=[0, 0, 0]";
    let warning = |right: f64, motion: &str| paddle("check", right, motion, &[]).stderr;
    let thin = warning(0.38, moving);
    for text in [
        "body `paddle`",
        "0.08 m thick, 2.0 times solver.resolution",
        "0.16 m",
        "solver.resolution 0.02 m",
    ] {
        assert!(thin.contains(text), "{text}: {thin}");
    }
    assert_eq!(warning(0.46, moving), "");
    assert_eq!(warning(0.38, ""), "");
    assert_eq!(warning(0.38, still), "");
    let run = paddle("check", 0.38, still, &["--json"]);
    assert_eq!(run.json()["warnings"], serde_json::json!([]));
    let run = paddle("run", 0.38, moving, &["--frames", "1", "--json"]);
    assert!(run.stderr.contains("body `paddle` moves"), "{run:?}");
}
