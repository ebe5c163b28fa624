//! Resuming interrupted runs: killed, stopped, out of disk space, damaged.

#![allow(clippy::unwrap_used, reason = "a test may fail that way")]
#![cfg(unix)]

mod common;

use common::{Outcome, Place, entries, scene_path};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const RUN: &[&str] = &["run", "block.toml", "--frames", "40", "--json", "-o"];

fn run_into(directory: &str) -> Vec<&str> {
    RUN.iter().copied().chain([directory]).collect()
}

fn spawn(place: &Place, arguments: &[&str]) -> Child {
    let mut command = place.command(arguments);
    let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    piped.spawn().unwrap()
}

fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    let status = Command::new("kill").args([name, &id]).status().unwrap();
    assert!(status.success());
}

/// Path and content of every file below a directory.
fn contents(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for name in entries(directory) {
        let path = directory.join(&name);
        if path.is_dir() {
            for (below, bytes) in contents(&path) {
                found.insert(Path::new(&name).join(below), bytes);
            }
        } else {
            found.insert(name.into(), fs::read(&path).unwrap());
        }
    }
    found
}

fn wait_for(what: &Path) {
    let start = Instant::now();
    while !what.exists() {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "{}",
            what.display()
        );
        sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_killed_run_resumes_to_the_same_bytes() {
    let place = Place::new();
    let clock = Instant::now();
    let whole = place.digest(&run_into("whole"));
    let duration = clock.elapsed();

    // Xorshift with a fixed seed, so that failures are reproducible.
    let mut random = 0x9e37_79b9_u32;
    let mut arguments = run_into("killed");
    let mut kills = 0;
    for _ in 0..6 {
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        let mut child = spawn(&place, &arguments);
        sleep(duration.mul_f64(0.5 * f64::from(random) / f64::from(u32::MAX)));
        child.kill().unwrap();
        if child.wait().unwrap().code().is_some() {
            break;
        }
        kills += 1;
        if place.path("killed/manifest.json").exists() && arguments.last() != Some(&"--resume") {
            arguments.push("--resume");
        }
    }
    assert!(kills >= 2, "{kills} kills");
    let resumed = place.run(&arguments);
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    assert_eq!(resumed.json()["digest"], whole.as_str());
    assert_eq!(resumed.json()["frames"], 40);
    let (a, b) = (place.path("whole/frames"), place.path("killed/frames"));
    assert!(contents(&a) == contents(&b), "the frames differ");
}

#[test]
fn ctrl_c_stops_at_a_frame_and_says_how_to_resume() {
    let place = Place::new();
    let whole = place.digest(&run_into("whole"));
    let child = spawn(
        &place,
        &["run", "block.toml", "--frames", "40", "-o", "stopped"],
    );
    wait_for(&place.path("stopped/frames/000003"));
    signal(&child, "-INT");
    let outcome = Outcome::of(child.wait_with_output().unwrap());
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(
        outcome.stderr.contains("barchan run stopped --resume"),
        "{outcome:?}"
    );
    let last = entries(&place.path("stopped/frames"));
    let last = last.iter().filter_map(|n| n.parse::<u32>().ok()).max();
    assert!(last.unwrap() < 40);
    let checkpoint = place.path("stopped/checkpoints");
    assert!(checkpoint.join(format!("{:06}", last.unwrap())).is_dir());

    let resumed = place.json(&["run", "stopped", "--resume", "--json"]);
    assert_eq!(resumed["digest"], whole.as_str());
    assert_eq!(resumed["resumed_from"], last.unwrap());
}

#[test]
fn a_finished_run_can_only_be_extended() {
    let place = Place::new();
    let first = place.json(&["run", "block.toml", "-o", "r", "--frames", "4", "--json"]);
    let again = [
        "run",
        "block.toml",
        "-o",
        "r",
        "--frames",
        "4",
        "--json",
        "--resume",
    ];
    assert_eq!(place.json(&again), first);
    assert_eq!(place.json(&["run", "r", "--json", "--resume"]), first);

    let longer = place.digest(&["run", "r", "--frames", "9", "--json", "--resume"]);
    let whole = place.digest(&["run", "block.toml", "-o", "w", "--frames", "9", "--json"]);
    assert_eq!(longer, whole);
    let info = place.json(&["info", "r", "--json"]);
    assert_eq!(info["manifest"]["frames"], 9);
    assert_eq!(info["complete"], true);
}

#[test]
fn sph_gives_the_same_bytes_after_a_resume_and_for_any_number_of_threads() {
    let place = Place::new();
    let scene = scene_path("golden/sph3d.toml");
    let scene = scene.to_str().unwrap();
    let run = |directory: &str, threads: &str, frames: &str| {
        let arguments = ["run", scene, "--json", "-o", directory];
        let more = ["--threads", threads, "--frames", frames];
        place.digest(&[&arguments[..], &more].concat())
    };
    let whole = run("whole", "1", "20");
    assert_eq!(run("both", "2", "20"), whole);
    let half = run("half", "2", "9");
    assert_ne!(half, whole);
    let resumed = ["run", "half", "--json", "--frames", "20", "--resume"];
    assert_eq!(place.digest(&resumed), whole);
    let (a, b) = (place.path("whole/frames"), place.path("half/frames"));
    assert!(contents(&a) == contents(&b), "the frames differ");
}

#[test]
fn another_scene_is_refused() {
    let place = Place::new();
    place.json(&["run", "block.toml", "-o", "r", "--frames", "2", "--json"]);
    let before = contents(&place.path("r"));
    for change in [
        "seed=2",
        "solver.resolution=0.05",
        "fill.0.velocity=[1, 0, 0]",
    ] {
        let arguments = ["run", "block.toml", "-o", "r", "--resume", "--set", change];
        let outcome = place.run(&arguments);
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        assert!(outcome.message().contains("another scene"), "{outcome:?}");
    }
    assert!(contents(&place.path("r")) == before);
}

/// Overwrites a part of every data file of a frame or checkpoint.
fn garble(node: &Path) {
    for (file, mut bytes) in contents(node) {
        if !file.ends_with("zarr.json") {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 0x5a;
            fs::write(node.join(file), bytes).unwrap();
        }
    }
}

#[test]
fn damaged_checkpoints_are_reported() {
    let place = Place::new();
    let whole = place.digest(&["run", "block.toml", "-o", "w", "--frames", "6", "--json"]);
    place.json(&["run", "block.toml", "-o", "r", "--frames", "3", "--json"]);
    let checkpoints = entries(&place.path("r/checkpoints"));
    let mut numbered = checkpoints
        .iter()
        .filter(|n| n.parse::<u32>().is_ok())
        .rev();
    let (newest, older) = (numbered.next().unwrap(), numbered.next().unwrap());

    garble(&place.path("r/checkpoints").join(newest));
    let arguments = ["run", "r", "--frames", "6", "--json", "--resume"];
    let resumed = place.run(&arguments);
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    assert!(
        resumed.stderr.contains("resuming from checkpoint"),
        "{resumed:?}"
    );
    assert_eq!(resumed.json()["digest"], whole.as_str());
    assert_eq!(
        resumed.json()["resumed_from"],
        older.parse::<u32>().unwrap()
    );

    for name in entries(&place.path("w/checkpoints")) {
        if name.parse::<u32>().is_ok() {
            garble(&place.path("w/checkpoints").join(name));
        }
    }
    let frames = contents(&place.path("w/frames"));
    let refused = place.run(&["run", "w", "--frames", "9", "--resume"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    let message = refused.message();
    assert!(
        message.contains("no checkpoint in w can be read"),
        "{message}"
    );
    assert!(message.contains("without --resume"), "{message}");
    assert!(contents(&place.path("w/frames")) == frames);
}

#[test]
fn a_truncated_frame_is_reported() {
    let place = Place::new();
    place.json(&["run", "block.toml", "-o", "r", "--frames", "3", "--json"]);
    let frame = place.path("r/frames/000002");
    for (file, bytes) in contents(&frame) {
        if file.starts_with("position") && !file.ends_with("zarr.json") {
            fs::write(frame.join(file), &bytes[..bytes.len() / 2]).unwrap();
        }
    }
    let outcome = place.run(&["measure", "r", "--frame", "2"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(
        outcome.message().contains("frame 2 is damaged"),
        "{outcome:?}"
    );
    assert_eq!(place.run(&["measure", "r", "--frame", "3"]).code, Some(0));
    let missing = place.run(&["measure", "r", "--frame", "7"]);
    assert_eq!(missing.code, Some(2), "{missing:?}");
    assert!(missing.message().contains("no frame 7"), "{missing:?}");
}

#[test]
fn a_full_disk_keeps_the_last_good_frame() {
    let place = Place::new();
    let arguments = run_into("whole");
    let whole = place.digest(&arguments);
    let largest = contents(&place.path("whole/frames"));
    let largest = largest.values().map(Vec::len).max().unwrap();
    assert!(largest > 4096, "{largest}");

    // A limit on the size of files, in blocks of 1024 bytes, imitates a full disk; the signal must be ignored to get the
    // error. Checkpoints are larger than frames: the limit lets frame 0 and its checkpoint through when it is absent.
    let limited = |blocks: usize, arguments: &[&str]| {
        let program = env!("CARGO_BIN_EXE_barchan");
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let mut command = Command::new("bash");
        command.args(["-c", &script, program]).args(arguments);
        command.env("NO_COLOR", "1");
        Outcome::of(command.current_dir(place.path("")).output().unwrap())
    };
    let outcome = limited(largest / 1024, &run_into("tight"));
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let message = outcome.message();
    assert!(!message.contains("panicked"), "{message}");
    assert!(message.contains("could not write"), "{message}");

    // A run in progress keeps its complete frames.
    place.json(&[
        "run",
        "block.toml",
        "-o",
        "later",
        "--frames",
        "2",
        "--json",
    ]);
    let before = contents(&place.path("later/frames"));
    let go_on = ["run", "later", "--resume", "--frames", "40", "--json"];
    let outcome = limited(2, &go_on);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.message().contains("could not write"), "{outcome:?}");
    let after = contents(&place.path("later/frames"));
    assert!(
        before
            .iter()
            .all(|(file, bytes)| after.get(file) == Some(bytes))
    );
    assert!(
        entries(&place.path("later/frames"))
            .iter()
            .all(|n| n == "zarr.json" || n.parse::<u32>().is_ok())
    );
    assert_eq!(place.digest(&go_on), whole);
}

#[test]
fn a_second_writer_is_refused_without_harm_to_the_first() {
    let place = Place::new();
    let alone = place.digest(&run_into("alone"));
    let first = spawn(&place, &run_into("shared"));
    wait_for(&place.path("shared/frames/000001"));
    let second = place.run(&["run", "shared", "--resume"]);
    assert_eq!(second.code, Some(2), "{second:?}");
    assert!(
        second.message().contains("another run is writing to"),
        "{second:?}"
    );
    let first = Outcome::of(first.wait_with_output().unwrap());
    assert_eq!(first.code, Some(0), "{first:?}");
    assert_eq!(first.json()["digest"], alone.as_str());
}

#[test]
fn a_result_with_a_changed_scene_is_not_resumed() {
    let place = Place::new();
    place.json(&["run", "block.toml", "-o", "result", "--json"]);
    let path = place.path("result/scene.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("dry sand", "gravel")).unwrap();
    let outcome = place.run(&["run", "result", "--resume", "--frames", "12"]);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(
        outcome
            .message()
            .contains("was changed since the run started"),
        "{outcome:?}"
    );
}

#[test]
fn a_result_knows_where_its_meshes_are() {
    let place = Place::new();
    let corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";
    place.write(
        "wedge.obj",
        &format!("{corners}f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"),
    );
    place.scene("meshed.toml");
    let whole = place.digest(&[
        "run",
        "meshed.toml",
        "-o",
        "whole",
        "--frames",
        "8",
        "--json",
    ]);
    place.json(&[
        "run",
        "meshed.toml",
        "-o",
        "part",
        "--frames",
        "4",
        "--json",
    ]);
    // Its copy of the scene finds them too.
    let again = place.digest(&[
        "run",
        "part/scene.toml",
        "-o",
        "again",
        "--frames",
        "8",
        "--json",
    ]);
    assert_eq!(again, whole);

    fs::create_dir(place.path("elsewhere")).unwrap();
    let mut resume = place.command(&["run", "../part", "--resume", "--frames", "8", "--json"]);
    let resumed = Outcome::of(
        resume
            .current_dir(place.path("elsewhere"))
            .output()
            .unwrap(),
    );
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    assert_eq!(resumed.json()["digest"], whole.as_str());

    // A missing mesh is reported with its former path.
    fs::remove_file(place.path("wedge.obj")).unwrap();
    let lost = place.run(&["check", "part/scene.toml"]);
    assert_eq!(lost.code, Some(2), "{lost:?}");
    let message = lost.message();
    assert!(message.contains("there is no mesh file"), "{message}");
    assert!(message.contains("the scene it was made from"), "{message}");
}

#[test]
fn a_result_with_a_changed_mesh_is_not_resumed() {
    let place = Place::new();
    let faces = "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    let wedge = |tip: &str| format!("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 {tip}\n{faces}");
    place.write("wedge.obj", &wedge("1"));
    place.scene("meshed.toml");
    place.json(&["run", "meshed.toml", "-o", "r", "--frames", "2", "--json"]);
    let before = contents(&place.path("r"));

    place.write("wedge.obj", &wedge("1.5"));
    for scene in [&["r"][..], &["meshed.toml", "-o", "r"]] {
        let arguments = [&["run"], scene, &["--resume", "--frames", "4"]].concat();
        let outcome = place.run(&arguments);
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        let message = outcome.message();
        assert!(
            message.contains("the mesh wedge.obj was changed"),
            "{message}"
        );
    }
    assert!(contents(&place.path("r")) == before);
    // A comment does not matter.
    place.write("wedge.obj", &format!("# a wedge\n{}", wedge("1")));
    place.json(&["run", "r", "--resume", "--frames", "4", "--json"]);
}

#[test]
fn missing_frames_are_simulated_again() {
    let place = Place::new();
    let whole = place.digest(&["run", "block.toml", "-o", "result", "--json"]);
    let before = contents(&place.path("result/frames"));
    for lost in ["result/frames/000008", "result/frames/000003"] {
        fs::remove_dir_all(place.path(lost)).unwrap();
        assert_eq!(
            place.digest(&["run", "result", "--resume", "--json"]),
            whole,
            "{lost}"
        );
        assert_eq!(contents(&place.path("result/frames")), before, "{lost}");
    }
}

#[test]
fn damaged_frames_are_simulated_again() {
    let place = Place::new();
    let whole = place.digest(&["run", "block.toml", "-o", "r", "--json"]);
    let before = contents(&place.path("r/frames"));
    for lost in [&["000008"][..], &["000003", "000000"]] {
        for frame in lost {
            garble(&place.path("r/frames").join(frame));
        }
        fs::remove_file(place.path("r/frames").join(lost[0]).join("zarr.json")).unwrap();
        let repaired = place.run(&["run", "r", "--resume", "--json"]);
        assert_eq!(repaired.code, Some(0), "{repaired:?}");
        assert_eq!(repaired.json()["digest"], whole.as_str());
        for text in ["missing or damaged", "frames up to 8 are complete again"] {
            assert!(repaired.stderr.contains(text), "{repaired:?}");
        }
        assert_eq!(contents(&place.path("r/frames")), before, "{lost:?}");
    }
    let sound = place.run(&["run", "r", "--resume", "--json"]);
    assert_eq!(sound.stderr, "", "{sound:?}");
}

#[test]
fn a_damaged_frame_of_an_unfinished_run_is_simulated_again() {
    let place = Place::new();
    let whole = place.digest(&["run", "block.toml", "-o", "w", "--frames", "6", "--json"]);
    place.json(&["run", "block.toml", "-o", "r", "--frames", "3", "--json"]);
    garble(&place.path("r/frames/000003"));
    let resumed = place.json(&["run", "r", "--resume", "--frames", "6", "--json"]);
    assert_eq!(resumed["digest"], whole.as_str());
    let (a, b) = (place.path("w/frames"), place.path("r/frames"));
    assert!(contents(&a) == contents(&b), "the frames differ");
}

#[test]
fn a_result_without_checkpoints_can_still_be_read() {
    let place = Place::new();
    place.json(&["run", "block.toml", "-o", "r", "--frames", "3", "--json"]);
    fs::remove_dir_all(place.path("r/checkpoints")).unwrap();
    let before = contents(&place.path("r/frames"));
    let info = place.json(&["info", "r", "--json"]);
    assert_eq!(info["checkpoint"], serde_json::Value::Null);
    assert_eq!(info["complete"], true);
    let told = place.run(&["info", "r"]).stdout;
    assert!(told.contains("checkpoint  none"), "{told}");
    assert_eq!(place.json(&["measure", "r", "--json"])["frame"], 3);
    let refused = place.run(&["run", "r", "--resume", "--frames", "6"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    let message = refused.message();
    for text in [
        "no checkpoint to resume from",
        "barchan measure",
        "barchan run r/scene.toml -o DIR",
    ] {
        assert!(message.contains(text), "{text}: {message}");
    }
    assert!(contents(&place.path("r/frames")) == before);

    // With only the initial frame, the run starts over.
    for frame in ["000001", "000002", "000003"] {
        fs::remove_dir_all(place.path("r/frames").join(frame)).unwrap();
    }
    place.json(&["run", "r", "--resume", "--json"]);
    assert!(contents(&place.path("r/frames")) == before);
    assert!(place.path("r/checkpoints/zarr.json").is_file());

    fs::remove_dir_all(place.path("r/frames")).unwrap();
    let lost = place.run(&["info", "r"]);
    assert_eq!(lost.code, Some(2), "{lost:?}");
    assert!(
        lost.message().contains("lost its folder `frames`"),
        "{lost:?}"
    );
}
