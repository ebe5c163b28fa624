//! `barchan measure --stress` and `barchan render --space stress`.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Place, entries};

const COLUMNS: &str = "output.columns=[\"principal_stress\", \"hardening\"]";

fn run(place: &Place, name: &str, set: &[&str]) {
    let mut arguments = vec!["run", "block.toml", "-o", name, "--frames", "3", "--json"];
    for change in set {
        arguments.extend(["--set", change]);
    }
    place.json(&arguments);
}

#[test]
fn stresses_of_grains_over_time_and_of_a_frame() {
    let place = Place::new();
    run(&place, "r", &[COLUMNS]);
    let outcome = place.run(&["measure", "r", "--stress", "17,3"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert_eq!(lines.len(), 1 + 2 * 4);
    assert!(lines[0].starts_with("id,frame,time_s,tau_1_pa"));
    assert!(lines[1].starts_with("17,0,") && lines[5].starts_with("3,0,"));

    let one = place.json(&["measure", "r", "--stress", "3", "--frame", "2", "--json"]);
    let state = &one["stress"][0];
    assert_eq!(one["stress"].as_array().unwrap().len(), 1);
    assert_eq!(
        (state["id"].as_u64(), state["frame"].as_u64()),
        (Some(3), Some(2))
    );
    let principal: Vec<f64> = (0..3)
        .map(|i| state["principal_stress"][i].as_f64().unwrap())
        .collect();
    let mean = principal.iter().sum::<f64>() / 3.0;
    assert!((state["pressure"].as_f64().unwrap() + mean).abs() < 1e-9);
    assert_eq!(state["friction_angle_deg"], 35.0);

    let outcome = place.run(&["measure", "r", "--stress", "all", "--csv", "all.csv"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let text = std::fs::read_to_string(place.path("all.csv")).unwrap();
    let particles = place.json(&["measure", "r", "--json"])["particles"]
        .as_u64()
        .unwrap();
    assert_eq!(text.lines().count() as u64, 1 + particles);
    // All stresses are within the cone.
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |i: usize| cells[i].parse::<f64>().unwrap();
        let (deviator, most) = (number(7), number(8));
        assert!(deviator <= most * (1.0 + 1e-4) + 1e-2, "{line}");
    }
}

#[test]
fn pictures_in_stress_space_have_a_folder_of_their_own() {
    let place = Place::new();
    run(&place, "r", &[COLUMNS]);
    let draw = [
        "render", "r", "--space", "stress", "--size", "160x90", "--json",
    ];
    let drawn = place.json(&draw);
    assert_eq!(drawn["pictures"], 4);
    assert!(entries(&place.path("r/stress")).contains(&"film.mp4".to_owned()));
    assert!(!place.path("r/render").exists());
    let chosen = [&draw[..], &["--grains", "3,17", "-o", "chosen"]].concat();
    assert_eq!(place.json(&chosen)["pictures"], 4);
    let first = |folder: &str| std::fs::read(place.path(folder).join("000003.png")).unwrap();
    assert_ne!(first("chosen"), first("r/stress"));
}

#[test]
fn results_without_stresses_and_wrong_ids_are_refused_with_a_remedy() {
    let place = Place::new();
    run(&place, "plain", &[]);
    for arguments in [
        &["measure", "plain", "--stress", "3"][..],
        &["render", "plain", "--space", "stress"],
    ] {
        let outcome = place.run(arguments);
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        let message = outcome.message();
        assert!(message.contains("[output]"), "{message}");
        assert!(message.contains("principal_stress"), "{message}");
    }
    run(&place, "r", &[COLUMNS]);
    for arguments in [
        &["measure", "r", "--stress", "999999"][..],
        &["measure", "r", "--stress", "x"],
        &["measure", "r", "--stress", ""],
        &["measure", "r", "--csv", "a.csv"],
        &["measure", "r", "--stress", "3", "--frame", "77"],
        &[
            "measure",
            "r",
            "--stress",
            "3",
            "--csv",
            "no/such/folder.csv",
        ],
        &["render", "r", "--space", "stress", "--grains", "999999"],
        &["run", "block.toml", "--set", "output.columns=[\"stress\"]"],
    ] {
        let outcome = place.run(arguments);
        assert_eq!(outcome.code, Some(2), "{arguments:?} {outcome:?}");
    }
}
