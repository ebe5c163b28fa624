//! `barchan render`, and the pictures of `barchan run`.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;
#[path = "../../barchan-render/tests/common/difference.rs"]
mod difference;

use barchan_render::Picture;
use common::{Outcome, Place, entries};
use difference::difference;

/// Small and quick.
const QUICK: [&str; 6] = ["--size", "160x90", "--quality", "preview", "--samples", "2"];

fn result(place: &Place) {
    place.json(&["run", "block.toml", "-o", "r", "--json"]);
}

fn render(place: &Place, arguments: &[&str]) -> Outcome {
    place.run(&[&["render", "r", "--json"][..], &QUICK, arguments].concat())
}

fn picture(place: &Place, name: &str) -> Picture {
    Picture::read_png(&place.path(name)).unwrap()
}

#[test]
fn a_run_ends_with_a_picture_and_a_film() {
    let place = Place::new();
    let arguments = ["run", "block.toml", "-o", "r", "--frames", "3", "--json"];
    let outcome = Outcome::of(place.command_as_given(&arguments).output().unwrap());
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let pictures = &outcome.json()["pictures"];
    assert!(place.path(pictures["last"].as_str().unwrap()).is_file());
    assert!(place.path(pictures["film"].as_str().unwrap()).is_file());
    let last = picture(&place, "r/render/last.png");
    assert_eq!([last.width, last.height], [1280, 720]);
    // Sand is in the center, surrounded by other colors.
    let [sand, ground] = [last.pixel(640, 360), last.pixel(100, 600)];
    assert!(i32::from(sand[0]) - i32::from(sand[2]) > 40, "{sand:?}");
    assert!(
        i32::from(ground[0]) - i32::from(ground[2]) < 40,
        "{ground:?}"
    );

    // Negative control: the same run without pictures.
    place.json(&[
        "run",
        "block.toml",
        "-o",
        "plain",
        "--frames",
        "3",
        "--json",
    ]);
    assert!(!place.path("plain/render").exists());
}

#[test]
fn pictures_film_preview_and_sheet_of_chosen_frames() {
    let place = Place::new();
    result(&place);
    let report = render(&place, &["--frames", "0..8/2"]).json();
    assert_eq!(report["pictures"], 5);
    assert_eq!(report["size"], serde_json::json!([160, 90]));
    let files = entries(&place.path("r/render"));
    let expected = [
        "000000.png",
        "000002.png",
        "000004.png",
        "000006.png",
        "000008.png",
        "film.mp4",
        "preview.gif",
        "settings.txt",
        "sheet.png",
    ];
    assert_eq!(files, expected);
    let film = &report["films"][0];
    // Five pictures: every other frame of a scene with 24 frames per second.
    assert!(
        (film["duration_s"].as_f64().unwrap() - 5.0 / 12.0).abs() < 1e-3,
        "{film}"
    );
    assert_eq!(film["width"], 160);

    // Other commands still read the result.
    place.json(&["measure", "r", "--json"]);
    place.json(&["info", "r", "--json"]);
}

#[test]
fn existing_pictures_are_kept_until_settings_change() {
    let place = Place::new();
    result(&place);
    let drawn = |arguments: &[&str]| {
        let all = [&["--film", "none", "--frames", "0..3"][..], arguments].concat();
        render(&place, &all).json()["drawn"].as_u64().unwrap()
    };
    assert_eq!(drawn(&[]), 4);
    assert_eq!(drawn(&[]), 0);
    std::fs::remove_file(place.path("r/render/000002.png")).unwrap();
    assert_eq!(drawn(&[]), 1, "only the missing one");
    assert_eq!(drawn(&["--again"]), 4);
    assert_eq!(drawn(&["--grain-size", "0.5"]), 4, "another picture");
    assert_eq!(drawn(&["--grain-size", "0.5"]), 0);
}

#[test]
fn settings_change_the_picture() {
    let place = Place::new();
    result(&place);
    let draw = |name: &str, arguments: &[&str]| {
        let all = [
            &["--film", "none", "--frames", "6", "-o", name][..],
            arguments,
        ]
        .concat();
        let outcome = render(&place, &all);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        picture(&place, &format!("{name}/000006.png"))
    };
    let plain = draw("plain", &[]);
    let same = draw("same", &["--threads", "1"]);
    assert_eq!(plain, same, "the number of threads changes nothing");
    let changes: [&[&str]; 6] = [
        &["--color", "speed"],
        &["--grain-size", "0.4"],
        &["--label"],
        &["--set", "camera.position=[0,2,0.01]"],
        &["--set", "collider.floor.color=[20,60,200]"],
        &["--set", "collider.floor.look=hidden"],
    ];
    for (i, change) in changes.iter().enumerate() {
        let other = draw(&format!("other{i}"), change);
        let seen = difference(&plain, &other).unwrap();
        assert!(seen.p99 > 5.0, "{change:?}: {seen:?}");
    }
    let turbo = draw(
        "turbo",
        &["--color", "speed", "--map", "turbo", "--range", "0,0.5"],
    );
    let viridis = draw("viridis", &["--color", "speed", "--range", "0,0.5"]);
    assert!(difference(&turbo, &viridis).unwrap().p99 > 5.0);
}

#[test]
fn flat_scenes_are_drawn_flat() {
    let place = Place::new();
    let flat = [
        "run",
        "block.toml",
        "-o",
        "r",
        "--frames",
        "2",
        "--set",
        "dimensions=2",
        "--json",
    ];
    place.json(&flat);
    let outcome = place.run(&[
        "render", "r", "--json", "--size", "640x360", "--frames", "last",
    ]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let picture = picture(&place, "r/render/000002.png");
    assert_eq!(picture.pixel(2, 2), [255; 3], "white paper");
}

#[test]
fn without_an_encoder_the_pictures_remain() {
    let place = Place::new();
    result(&place);
    let arguments = [
        &[
            "render", "r", "--json", "--film", "webm", "--frames", "0..2",
        ],
        &QUICK[..],
    ];
    let mut command = place.command(&arguments.concat());
    let outcome = Outcome::of(command.env("PATH", "").output().unwrap());
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.message().contains("ffmpeg"), "{outcome:?}");
    assert_eq!(outcome.json()["pictures"], 3);
    assert!(place.path("r/render/000002.png").is_file());
    assert!(!place.path("r/render/film.webm").exists());

    // MP4 needs no external encoder.
    let arguments = [&["render", "r", "--json", "--frames", "0..2"][..], &QUICK].concat();
    let outcome = Outcome::of(place.command(&arguments).env("PATH", "").output().unwrap());
    assert_eq!(outcome.json()["films"][0]["encoder"], "built in");
    assert!(place.path("r/render/film.mp4").is_file());
}

#[test]
fn pictures_that_cannot_be_drawn_are_reported() {
    let place = Place::new();
    result(&place);
    std::fs::create_dir(place.path("foreign")).unwrap();
    let says = |arguments: &[&str], code: i32, words: &[&str]| {
        let outcome = place.run(&[&["render"][..], arguments, &QUICK].concat());
        assert_eq!(outcome.code, Some(code), "{arguments:?}: {outcome:?}");
        let message = outcome.message();
        for word in words {
            assert!(message.contains(word), "{arguments:?}: {word} in {message}");
        }
    };
    says(&["nowhere"], 2, &["nowhere"]);
    says(&["foreign"], 2, &["foreign", "not a barchan result"]);
    says(&["r", "--frames", "99"], 2, &["frames 0 to 8"]);
    says(&["r", "--frames", "x..y"], 2, &["0..96"]);
    says(&["r", "--size", "5"], 2, &["1280x720"]);
    says(
        &["r", "--color", "presure"],
        2,
        &["did you mean `pressure`"],
    );
    says(&["r", "--set", "camera.fvo=3"], 2, &["fov"]);
    says(&["r", "-o", "block.toml/x"], 2, &["block.toml", "-o"]);

    // A truncated frame is named; the others are drawn.
    let shard = place.path("r/frames/000003/position/c/0/0");
    let bytes = std::fs::read(&shard).unwrap();
    std::fs::write(&shard, &bytes[..bytes.len() / 2]).unwrap();
    says(&["r", "--frames", "3"], 1, &["3", "position"]);
    says(&["r", "--frames", "4"], 0, &[]);

    // Without its scene only grains are drawn.
    std::fs::remove_file(place.path("r/scene.toml")).unwrap();
    says(&["r", "--frames", "5"], 0, &["only grains are shown"]);
}

#[test]
fn bench_reports_seconds_and_memory() {
    let place = Place::new();
    let report = place.json(&[
        "bench",
        "render",
        "--grains",
        "2k",
        "--quality",
        "preview",
        "--json",
    ]);
    assert!(report["preview_s"].as_f64().unwrap() > 0.0);
    let grains = report["grains"].as_f64().unwrap();
    assert!((1800.0..2200.0).contains(&grains), "{grains}");
}
