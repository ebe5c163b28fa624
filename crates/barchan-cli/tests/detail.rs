//! `barchan detail`: grains that follow the particles of a result.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use barchan::frame::ResultDirectory;
use common::{Outcome, Place};
use serde_json::Value;

/// A run of one second, refined by the other tests.
fn base() -> Place {
    let place = Place::new();
    place.json(&["run", "block.toml", "-o", "base", "--json"]);
    place
}

fn detail(place: &Place, arguments: &[&str]) -> Outcome {
    let common = ["detail", "base", "--no-render", "--json"];
    place.run(&[&common[..], arguments].concat())
}

fn finished(place: &Place, arguments: &[&str]) -> Value {
    let outcome = detail(place, arguments);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    outcome.json()
}

#[test]
fn grains_are_a_result_like_any_other() {
    let place = base();
    let summary = place.json(&["detail", "base", "--grains", "20k", "--json"]);
    assert_eq!(summary["grains"], 20_000);
    assert_eq!(summary["frames"], 8);
    assert_eq!(summary["finished"], true);
    for key in ["wall_s", "grain_steps_per_s"] {
        assert!(summary[key].as_f64().unwrap() > 0.0, "{key}");
    }
    // Frames of 1/24 s are divided into five steps of at most 10 ms.
    assert_eq!(summary["steps"], 8 * 5);
    assert!(place.path("base-detail.barchan/render/last.png").is_file());

    let grains = place.json(&["measure", "base-detail.barchan", "--json"]);
    let whole = place.json(&["measure", "base", "--json"]);
    let number = |v: &Value, key: &str| v[key].as_f64().unwrap();
    let mass = number(&whole, "mass_kg");
    assert!((number(&grains, "mass_kg") - mass).abs() < 1e-5 * mass);
    let height = |v: &Value| v["center_of_mass"][1].as_f64().unwrap();
    assert!((height(&grains) - height(&whole)).abs() < 0.25 * height(&whole));
    assert!(grains["bounds_min"][1].as_f64().unwrap() >= 0.0);

    let info = place.json(&["info", "base-detail.barchan", "--json"]);
    assert_eq!(info["complete"], true);
    assert_eq!(info["particles"], 20_000);
    let names: Vec<&str> = (info["columns"].as_array().unwrap().iter())
        .map(|c| c["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["position", "velocity", "id", "material", "mass", "radius"]
    );
    let text = place.run(&["info", "base-detail.barchan"]).stdout;
    assert!(text.contains("refines"), "{text}");
    let picture = ["render", "base-detail.barchan", "--frames", "4", "--size"];
    let picture = [&picture[..], &["160x90", "-o", "pictures"]].concat();
    assert_eq!(place.run(&picture).code, Some(0));
}

#[test]
fn threads_and_interruptions_do_not_change_a_byte() {
    let place = base();
    let wanted = ["--grains", "15k"];
    let with = |more: &[&str]| finished(&place, &[&wanted[..], more].concat());
    let straight = with(&["-o", "a", "--threads", "1"]);
    let digest = &straight["digest"];
    assert_eq!(&with(&["-o", "b", "--threads", "2"])["digest"], digest);

    let part = with(&["-o", "c", "--frames", "3"]);
    assert_ne!(&part["digest"], digest);
    let whole = finished(&place, &["-o", "c", "--resume"]);
    assert_eq!(&whole["digest"], digest);
    assert_eq!(whole["resumed_from"], 3);
    // The manifest of the grains records the path of the base.
    let again = place.json(&["detail", "c", "--resume", "--no-render", "--json"]);
    assert_eq!(&again["digest"], digest);
    assert_eq!(again["steps"], 0);

    // A damaged frame of the grains is computed again, with all later frames.
    flip(&place, "c", 5);
    let repaired = finished(&place, &["-o", "c", "--resume"]);
    assert_eq!(&repaired["digest"], digest);
    assert_eq!(repaired["resumed_from"], 4);
    // The digest is that of the data on disk.
    let directory = ResultDirectory::open(&place.path("c")).unwrap();
    let frame = directory.read_frame(8).unwrap();
    assert_eq!(digest.as_str().unwrap(), frame.digest());
}

/// Changes one byte of the positions of a frame.
fn flip(place: &Place, result: &str, frame: u32) {
    let path = place.path(&format!("{result}/frames/{frame:06}/position/c/0/0"));
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 16;
    std::fs::write(&path, bytes).unwrap();
}

/// Result of a base that ends too early: complete frames, the exit code, the problem, and the command to continue.
fn ends_after(place: &Place, frame: u64, words: &[&str]) {
    let outcome = detail(place, &["--grains", "9k", "-o", "grains"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let summary = outcome.json();
    assert_eq!(summary["finished"], false);
    assert_eq!(summary["frames"], frame);
    let message = outcome.message();
    let problem = summary["problem"].as_str().unwrap();
    for word in words {
        assert!(problem.contains(word), "{word}: {problem}");
        assert!(message.contains(word), "{word}: {message}");
    }
    assert!(message.contains("barchan detail grains --resume"));
    let directory = ResultDirectory::open(&place.path("grains")).unwrap();
    assert_eq!(directory.frames().unwrap().len() as u64, frame + 1);
    for index in directory.frames().unwrap() {
        directory.verify_frame(index).unwrap();
    }
    assert_eq!(place.run(&["measure", "grains"]).code, Some(0));
    let info = place.run(&["info", "grains"]).stdout;
    assert!(info.contains("barchan detail grains --resume"), "{info}");
}

/// Once the base is complete, the refinement continues; `same`: with the result of an uninterrupted one.
fn goes_on(place: &Place, same: bool) {
    let repaired = place.run(&["run", "base", "--resume", "--json"]);
    assert_eq!(repaired.code, Some(0), "{repaired:?}");
    let resumed = finished(place, &["-o", "grains", "--resume"]);
    assert_eq!(resumed["frames"], 8);
    let straight = finished(place, &["--grains", "9k", "-o", "straight"]);
    assert_eq!(resumed["digest"] == straight["digest"], same);
}

#[test]
fn a_missing_frame_of_the_base_is_named_and_earlier_frames_are_kept() {
    let place = base();
    std::fs::remove_dir_all(place.path("base/frames/000005")).unwrap();
    ends_after(
        &place,
        4,
        &["frame 5", "missing", "barchan run base --resume"],
    );
    goes_on(&place, true);
}

#[test]
fn a_damaged_frame_of_the_base_is_named_and_earlier_frames_are_kept() {
    let place = base();
    flip(&place, "base", 3);
    ends_after(&place, 2, &["frame 3 is damaged", "position"]);
    goes_on(&place, true);
}

#[test]
fn a_stopped_base_and_one_being_written_are_distinguished() {
    let place = base();
    for frame in 6..=8 {
        std::fs::remove_dir_all(place.path(&format!("base/frames/{frame:06}"))).unwrap();
    }
    ends_after(
        &place,
        5,
        &["ends before frame 6", "barchan run base --resume"],
    );
    let directory = ResultDirectory::open(&place.path("base")).unwrap();
    let lock = directory.lock().unwrap();
    let outcome = detail(&place, &["-o", "grains", "--resume"]);
    assert_eq!(outcome.code, Some(1));
    let problem = outcome.json()["problem"].as_str().unwrap().to_owned();
    assert!(problem.contains("frame 6") && problem.contains("another run is writing"));
    drop(lock);
    goes_on(&place, true);
}

#[test]
fn a_base_without_its_first_frame_is_refused() {
    let place = base();
    std::fs::remove_dir_all(place.path("base/frames/000000")).unwrap();
    let outcome = detail(&place, &["--grains", "9k", "-o", "grains"]);
    assert_ne!(outcome.code, Some(0));
    assert!(outcome.message().contains("frame 0"), "{outcome:?}");
    assert!(!place.path("grains").exists());
}

#[test]
fn particles_emitted_later_by_a_growing_base_have_grains() {
    let place = Place::new();
    place.scene("pour.toml");
    place.json(&["run", "pour.toml", "-o", "base", "--frames", "4", "--json"]);
    let first = finished(&place, &["--grains", "4k", "-o", "grains"]);
    place.json(&["run", "base", "--resume", "--frames", "8", "--json"]);
    let more = finished(&place, &["-o", "grains", "--resume"]);
    assert_eq!(more["frames"], 8);
    assert!(more["base_particles"].as_u64() > first["base_particles"].as_u64());
    assert!(more["removed"].as_u64() > Some(100), "{more}");
    // Resumed from the fifth frame: particles added late are added again.
    for frame in 6..=8 {
        std::fs::remove_dir_all(place.path(&format!("grains/frames/{frame:06}"))).unwrap();
    }
    let again = finished(&place, &["-o", "grains", "--resume"]);
    assert_eq!(again["digest"], more["digest"]);
}

#[test]
fn bases_without_particles_and_in_the_plane_are_refined() {
    let place = Place::new();
    place.scene("pour.toml");
    let late = [
        "run",
        "pour.toml",
        "-o",
        "base",
        "--frames",
        "2",
        "--set",
        "emitter.spout.start=9",
        "--json",
    ];
    place.json(&late);
    let nothing = finished(&place, &["--grains", "5k", "-o", "nothing"]);
    assert_eq!(nothing["grains"], 0);
    assert_eq!(nothing["frames"], 2);

    let flat = [
        "run",
        "block.toml",
        "-o",
        "plane",
        "--frames",
        "4",
        "--set",
        "dimensions=2",
        "--json",
    ];
    place.json(&flat);
    let command = [
        "detail", "plane", "--grains", "5k", "-o", "grains", "--json",
    ];
    assert_eq!(place.json(&command)["grains"], 5000);
    assert!(place.path("grains/render/last.png").is_file());
    let directory = ResultDirectory::open(&place.path("grains")).unwrap();
    let positions = directory.read_column(4, "position").unwrap();
    let positions = positions.data.as_f32().unwrap();
    assert!(positions.chunks(3).all(|p| p[2] == 0.0 && p[1] >= 0.0));
    let mass = |result: &str| place.json(&["measure", result, "--json"])["mass_kg"].clone();
    let [fine, coarse] = ["grains", "plane"].map(|r| mass(r).as_f64().unwrap());
    assert!((fine - coarse).abs() < 1e-5 * coarse);
}

#[test]
fn invalid_calls_are_refused_with_a_remedy() {
    let place = base();
    let refused = |arguments: &[&str], words: &[&str]| {
        let outcome = place.run(arguments);
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {outcome:?}");
        let message = outcome.message();
        for word in words {
            assert!(message.contains(word), "{arguments:?}: {message}");
        }
    };
    refused(&["detail", "base"], &["--grains"]);
    refused(
        &["detail", "base", "--grains", "10"],
        &["fewer than", "--grains"],
    );
    refused(
        &["detail", "base", "--grains", "1k", "--dt", "0"],
        &["--dt"],
    );
    refused(&["detail", "nowhere", "--grains", "1k"], &["nowhere"]);
    refused(
        &["detail", "base", "--grains", "900M"],
        &["of memory", "--grains"],
    );
    assert!(!place.path("base-detail.barchan").exists());
    refused(
        &["detail", "base", "--resume", "-o", "base"],
        &["not a refinement"],
    );
    finished(&place, &["--grains", "3k", "--frames", "1"]);
    let made = "base-detail.barchan";
    refused(&["detail", "base", "--grains", "3k"], &["already holds"]);
    refused(
        &["detail", made, "--grains", "3k"],
        &["already a refinement"],
    );
    refused(
        &["detail", "base", "--resume", "--grains", "4k"],
        &["--grains 3000", "-o"],
    );
    refused(&["run", made, "--resume"], &["barchan detail"]);
}
