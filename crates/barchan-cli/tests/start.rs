//! Scenes that start from an earlier result: a bed is settled once, then a ball is dropped on it.

#![allow(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use barchan::frame::{ColumnData, Frame, ResultDirectory};
use common::{Outcome, Place, entries};
use std::fs;

const BED: &str = include_str!("../../../scenes/tests/bed.toml");

const DROP: &str = include_str!("../../../scenes/tests/drop.toml");

/// A directory with a settled bed in `results/bed`, and `drop.toml`, which starts from it.
fn settled() -> Place {
    let place = Place::new();
    place.write("bed.toml", BED);
    fs::create_dir(place.path("results")).unwrap();
    place.json(&["run", "bed.toml", "-o", "results/bed", "--json"]);
    place.write("drop.toml", DROP);
    place
}

fn frame(place: &Place, result: &str, index: u32) -> Frame {
    let directory = ResultDirectory::open(&place.path(result)).unwrap();
    directory.read_frame(index).unwrap()
}

fn ids(frame: &Frame) -> &[u32] {
    match &frame.column("id").unwrap().data {
        ColumnData::U32(ids) => ids,
        _ => panic!("ids are u32"),
    }
}

/// Every bit of the first `rows` rows of a column.
fn bits(frame: &Frame, name: &str, rows: usize) -> Vec<u32> {
    let column = frame.column(name).unwrap();
    let count = rows * column.components;
    match &column.data {
        ColumnData::F32(v) => v[..count].iter().map(|x| x.to_bits()).collect(),
        ColumnData::U8(v) => v[..count].iter().map(|x| u32::from(*x)).collect(),
        ColumnData::U32(v) => v[..count].to_vec(),
        ColumnData::U64(_) => panic!("no such column"),
    }
}

#[test]
fn the_bed_is_transferred_exactly() {
    let place = settled();
    let check = place.json(&["check", "drop.toml", "--json"]);
    assert_eq!(check["start"]["frame"], 6);
    let summary = place.json(&["run", "drop.toml", "-o", "d", "--json"]);
    assert_eq!(summary["frames"], 4);
    assert_eq!(summary["particles"], check["particles"]);

    let (bed, begun) = (frame(&place, "results/bed", 6), frame(&place, "d", 0));
    let rows = bed.particles();
    assert!(rows > 300 && begun.particles() > rows + 30);
    assert_eq!(begun.time, 0.0);
    for column in &bed.columns {
        if column.name != "material" {
            let (a, b) = (
                bits(&bed, &column.name, rows),
                bits(&begun, &column.name, rows),
            );
            assert!(a == b, "{}", column.name);
        }
    }
    // Sand is the second material here.
    assert!(bits(&bed, "material", rows).iter().all(|m| *m == 0));
    assert!(bits(&begun, "material", rows).iter().all(|m| *m == 1));
    // The ball's identities follow the highest of the bed.
    let highest = *ids(&bed).iter().max().unwrap();
    let ball = &ids(&begun)[rows..];
    assert!(
        ball.iter()
            .copied()
            .eq(highest + 1..highest + 1 + ball.len() as u32)
    );
    // The ball has fallen.
    let top = |frame: &str| {
        let measured = place.json(&["measure", "d", "--frame", frame, "--json"]);
        measured["bounds_max"][1].as_f64().unwrap()
    };
    assert!(top("1") < top("0") - 0.02);
}

#[test]
fn threads_and_interruptions_do_not_change_a_byte() {
    let place = settled();
    let whole = place.digest(&["run", "drop.toml", "-o", "w", "--threads", "1", "--json"]);
    let other = place.digest(&["run", "drop.toml", "-o", "t", "--threads", "3", "--json"]);
    assert_eq!(whole, other);
    place.json(&["run", "drop.toml", "-o", "p", "--frames", "2", "--json"]);
    let resumed = place.digest(&["run", "p", "--resume", "--frames", "4", "--json"]);
    assert_eq!(whole, resumed);
    // Extending the run keeps the record of the start.
    let info = place.json(&["info", "p", "--json"]);
    assert_eq!(info["manifest"]["start"]["frame"], 6);
    assert_eq!(info["manifest"]["start"]["result"], "results/bed");
    let source = place.json(&["info", "results/bed", "--json"]);
    assert_eq!(info["manifest"]["start"]["digest"], source["digest"]);
}

#[test]
fn a_scene_without_fills_continues_the_bed() {
    let place = settled();
    place.scene("next.toml");
    place.json(&["run", "next.toml", "-o", "on", "--frames", "3", "--json"]);
    place.json(&["run", "bed.toml", "-o", "long", "--frames", "9", "--json"]);
    let (a, b) = (frame(&place, "on", 3), frame(&place, "long", 9));
    assert_eq!(a.particles(), b.particles());
    let height = |f: &Frame| match &f.column("position").unwrap().data {
        ColumnData::F32(v) => v.chunks(3).map(|p| f64::from(p[1])).sum::<f64>(),
        _ => panic!("positions are f32"),
    };
    // Time starts at another zero, so steps may differ in the last bit.
    let (a, b) = (height(&a), height(&b));
    assert!((a - b).abs() < 1e-4 * b, "{a} {b}");
}

/// Requires exit code 2 from `run` and `check`, a message with all of `says`, and that nothing is written.
#[track_caller]
fn refused(place: &Place, scene: &str, says: &[&str]) {
    place.write("bad.toml", scene);
    let before = place.entries();
    for command in ["run", "check"] {
        let outcome = place.run(&[command, "bad.toml"]);
        assert_eq!(outcome.code, Some(2), "{command}: {outcome:?}");
        assert_eq!(outcome.stdout, "", "{outcome:?}");
        let message = outcome.message();
        for text in says {
            assert!(message.contains(text), "{text}: {message}");
        }
        assert_eq!(place.entries(), before, "{command}");
    }
}

#[test]
fn invalid_starts_are_refused() {
    let place = settled();
    let named = "result = \"results/bed\"";
    let cases = [
        (
            named,
            "result = \"results/bde\"",
            "there is no result `results/bde`",
        ),
        (named, "result = \"results\"", "it has no manifest.json"),
        (named, "result = \"\"", "`start.result` is empty"),
        (named, "frame = 6", "`start.result` is missing"),
        (
            named,
            "result = \"results/bed\", frame = 7",
            "it ends with frame 6",
        ),
        (
            named,
            "result = \"results/bed\", frame = 3",
            "frames that have one: 0, 6",
        ),
        (
            "center = [0.2, 0.2, 0]",
            "center = [0.2, 0.1, 0]",
            "particles of the start",
        ),
        (
            "frames = 4",
            "domain = { min = [-1, -1], max = [0.2, 1] }",
            "outside the domain",
        ),
    ];
    for (good, bad, says) in cases {
        assert!(DROP.contains(good), "{good}");
        refused(&place, &DROP.replacen(good, bad, 1), &["bad.toml", says]);
    }
    let space = DROP
        .replace("dimensions = 2", "dimensions = 3")
        .replace("[0, -1]", "[0, -1, 0]")
        .replace("[0, 1]", "[0, 1, 0]");
    refused(
        &place,
        &space,
        &["bad.toml:5", "is a result in 2D, and this scene is in 3D"],
    );
}

#[test]
fn materials_are_matched_by_name() {
    let place = settled();
    let renamed = DROP.replace("[materials.sand]", "[materials.snad]");
    let says = ["holds particles of `sand`", "rename `snad` to `sand`"];
    refused(&place, &renamed, &says);
    let without = DROP.replace("[materials.sand]\npreset = \"dry sand\"\n", "");
    refused(&place, &without, &["add [materials.\"sand\"]"]);
    // A material without particles is not required.
    let unused = "[materials.gold]\npreset = \"gravel\"\n\n[[fill]]";
    place.write("bed2.toml", &BED.replacen("[[fill]]", unused, 1));
    place.json(&[
        "run",
        "bed2.toml",
        "-o",
        "results/two",
        "--frames",
        "1",
        "--json",
    ]);
    place.write("two.toml", &DROP.replace("results/bed", "results/two"));
    place.json(&["check", "two.toml", "--json"]);
}

#[test]
fn unfinished_and_damaged_results_are_refused() {
    let place = settled();
    let checkpoint = place.path("results/bed/checkpoints/000006");
    let shard = checkpoint.join("strain/c/0/0");
    let whole = fs::read(&shard).unwrap();
    fs::write(&shard, &whole[..whole.len() / 2]).unwrap();
    refused(&place, DROP, &["bad.toml", "checkpoint 6 is damaged"]);
    fs::write(&shard, whole).unwrap();
    fs::rename(&checkpoint, place.path("aside")).unwrap();
    refused(
        &place,
        DROP,
        &["is not finished", "--resume", "frames that have one: 0"],
    );
}

#[test]
fn the_bed_is_transferred_to_another_grid_and_transfer() {
    let place = settled();
    for change in [
        "solver.resolution=0.025",
        "solver.mpm.transfer=flip",
        "solver.mpm.kernel=cubic",
    ] {
        let arguments = ["run", "drop.toml", "-o", "c", "--set", change, "--json"];
        let outcome = place.run(&arguments);
        assert_eq!(outcome.code, Some(0), "{change}: {outcome:?}");
        let end = place.json(&["measure", "c", "--json"]);
        assert!(end["max_speed"].as_f64().unwrap() < 3.0, "{change}: {end}");
        fs::remove_dir_all(place.path("c")).unwrap();
    }
}

#[test]
fn a_changed_start_is_detected_by_resume() {
    let place = settled();
    let whole = place.digest(&["run", "drop.toml", "-o", "w", "--json"]);
    let begin = || {
        place.json(&["run", "drop.toml", "-o", "p", "--frames", "2", "--json"]);
    };
    begin();
    let resume = ["run", "p", "--resume", "--frames", "4", "--json"];
    // Another bed in its place.
    fs::rename(place.path("results/bed"), place.path("results/first")).unwrap();
    let other = [
        "run",
        "bed.toml",
        "-o",
        "results/bed",
        "--set",
        "seed=5",
        "--json",
    ];
    place.json(&other);
    let refused = place.run(&resume);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused.message().contains("has changed since"),
        "{refused:?}"
    );
    assert!(!entries(&place.path("p/frames")).contains(&"000003".to_owned()));
    // A run without checkpoints cannot start from it either.
    for name in entries(&place.path("p/checkpoints")) {
        if name.parse::<u32>().is_ok() {
            fs::remove_dir_all(place.path("p/checkpoints").join(name)).unwrap();
        }
    }
    assert_eq!(place.run(&resume).code, Some(2));
    fs::remove_dir_all(place.path("p")).unwrap();
    fs::remove_dir_all(place.path("results/bed")).unwrap();
    fs::rename(place.path("results/first"), place.path("results/bed")).unwrap();

    // A missing bed causes a warning and is not needed.
    begin();
    fs::remove_dir_all(place.path("results/bed")).unwrap();
    let resumed: Outcome = place.run(&resume);
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    assert!(
        resumed.message().contains("there is no result"),
        "{resumed:?}"
    );
    assert_eq!(resumed.json()["digest"], whole.as_str());
}
