//! `barchan validate`: inexpensive cases with the program itself, and its report.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use barchan_validate::{CASES, Report, Verdict};
use common::Place;
use serde_json::Value;
use std::fs;

/// The report that a call wrote.
fn report(place: &Place, directory: &str) -> Report {
    let text = fs::read_to_string(place.path(directory).join("report.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn inexpensive_cases_pass_and_are_in_the_report() {
    let place = Place::new();
    let arguments = [
        "validate", "--case", "P8", "--case", "C2", "--case", "P7", "--json",
    ];
    let output = place.command(&arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let stdout = String::from_utf8(output.stdout).unwrap();
    let last: Value = serde_json::from_str(stdout.lines().last().unwrap()).unwrap();
    assert_eq!(last["passed"], 3);
    assert_eq!((&last["limits"], &last["failed"]), (&0.into(), &0.into()));
    assert_eq!(last["cases"][1]["case"], "P7");

    // In the order of the table, not that of the call.
    let report = report(&place, "validation");
    assert_eq!(report.entries.len(), 3);
    for entry in &report.entries {
        assert_eq!(entry.verdict, Verdict::Pass);
        assert!(!entry.outcome.plots.is_empty());
        // Every case has a rejected control.
        assert!(entry.outcome.checks.iter().any(|c| c.control));
        for check in &entry.outcome.checks {
            let inside = check.band.holds(check.measured.unwrap());
            assert_eq!(inside, !check.control, "{}", check.what);
        }
    }
}

#[test]
fn the_page_is_self_contained_and_keeps_earlier_cases() {
    let place = Place::new();
    for case in ["C4", "C7"] {
        let output = place
            .command(&["validate", "--case", case, "-o", "out"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert!(stdout.contains("1 pass, 0 at a known limit, 0 fail"));
    }
    let page = fs::read_to_string(place.path("out").join("report.html")).unwrap();
    for text in [
        "<svg",
        "id=\"C4-mpm\"",
        "id=\"C7-mpm\"",
        "barchan validate --case C4",
    ] {
        assert!(page.contains(text), "{text}");
    }
    for text in ["http", "src=", "<script", "<link", "@import", "url("] {
        assert!(!page.contains(text), "{text}");
    }
    // Each case is in the table, with a dash for solvers to which it does not apply.
    for case in CASES {
        assert!(page.contains(case.name) && page.contains("—"));
    }
    assert_eq!(page.matches("<svg viewBox").count(), 2);
}

#[test]
fn unknown_cases_and_places_are_refused() {
    let place = Place::new();
    let output = place
        .command(&["validate", "--case", "Q7"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("Q7") && told.contains("E1"), "{told}");
    place.write("taken", "");
    let output = place
        .command(&["validate", "--case", "C2", "-o", "taken"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(!place.path("validation").exists());
}

#[test]
fn the_list_names_every_case() {
    let place = Place::new();
    let output = place.command(&["validate", "--list"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    for case in CASES {
        assert!(
            text.lines().any(|l| l.starts_with(case.name)),
            "{}",
            case.name
        );
    }
    assert_eq!(text.lines().count(), CASES.len() + 1);
    let output = place
        .command(&["validate", "--list", "--json", "--case", "F"])
        .output()
        .unwrap();
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let names: Vec<&str> = value["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["name"].as_str().unwrap())
        .collect();
    assert!(names.len() > 2 && names.iter().all(|n| n.starts_with('F')));
}
