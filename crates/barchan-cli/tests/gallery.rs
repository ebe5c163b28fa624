//! Every scene of the gallery, at a coarse resolution: it runs to the end and passes its own check.

#![allow(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::Place;

fn passes(scene: &str, scale: &str) {
    let outcome = Place::new().run(&["run", scene, "--scale", scale, "--json"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
}

#[test]
fn hourglass() {
    passes("hourglass", "0.6");
}

#[test]
fn castle() {
    passes("castle", "0.4");
}

#[test]
fn splash() {
    // At a coarser resolution the crown does not leave the box.
    passes("splash", "0.6");
}

#[test]
fn pile() {
    passes("pile", "0.5");
}

#[test]
fn collapse() {
    passes("collapse", "0.5");
}

/// Few frames, since each contains the whole site.
fn machine_passes(scene: &str, seconds: u32) {
    let frames = (4 * seconds).to_string();
    let outcome = Place::new().run(&[
        "run",
        scene,
        "--scale",
        "0.6",
        "--set",
        "frame_rate=4",
        "--frames",
        &frames,
        "--json",
    ]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
}

#[test]
fn excavator() {
    machine_passes("excavator", 18);
}

#[test]
fn bulldozer() {
    machine_passes("bulldozer", 14);
}

#[test]
fn a_failed_check_fails_the_run() {
    let outcome = Place::new().run(&[
        "run",
        "collapse",
        "--scale",
        "0.3",
        "--frames",
        "4",
        "--set",
        "check.max_speed=0.001",
        "--json",
    ]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
}
