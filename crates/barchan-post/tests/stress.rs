//! Stresses of grains, as `measure --stress` reports them.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use barchan_frame::{Column, ColumnData, Frame, Manifest, ResultDirectory, Unit};
use barchan_post::stress::{CSV_HEADER, StressError, Substance, csv_line, histories, stress};
use barchan_scene::load_file;
use std::collections::BTreeSet;

/// Text of a scene of hardening sand and an elastic ball.
fn scene(dimensions: usize) -> String {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/tests/balls.toml");
    let scene = load_file(file, &[&format!("dimensions={dimensions}")]);
    scene.unwrap().document
}

/// Grains 7 (sand) and 5 (ball), in that order.
fn frame(index: u32) -> Frame {
    let stress = vec![-100.0, -200.0, -600.0, 50.0, 0.0, -50.0];
    Frame {
        index,
        time: 0.5 * f64::from(index),
        columns: vec![
            Column::exact("id", Unit::One, "", 1, ColumnData::U32(vec![7, 5])),
            Column::exact("material", Unit::One, "", 1, ColumnData::U8(vec![0, 1])),
            Column::exact("plastic_case", Unit::One, "", 1, ColumnData::U8(vec![2, 0])),
            Column::vector3("principal_stress", Unit::Pascal, "", 0.0, stress),
            Column::scalar("hardening", Unit::One, "", 0.0, vec![2.0, 0.0]),
        ],
        ..Frame::default()
    }
}

fn result(dimensions: usize, frames: &[Frame]) -> (tempfile::TempDir, ResultDirectory) {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("result");
    let manifest = Manifest::default();
    let directory = ResultDirectory::create(&path, &manifest, &scene(dimensions)).unwrap();
    for frame in frames {
        directory.write_frame(frame).unwrap();
    }
    (root, directory)
}

#[test]
fn invariants_hardening_and_friction_of_sand() {
    let (_root, directory) = result(3, &[frame(0)]);
    let substance = Substance::of_result(&directory).unwrap();
    let states = stress(&directory, 0, &substance, None).unwrap();
    let sand = &states[0];
    assert_eq!((sand.id, sand.plastic_case), (7, Some(2)));
    assert!((sand.pressure - 300.0).abs() < 1e-9);
    // dev = (200, 100, −300).
    assert!((sand.deviator - 140_000f64.sqrt()).abs() < 1e-9);
    let angle = 35.0 + (9.0 * 2.0 - 10.0) * (-0.4f64).exp();
    assert!((sand.friction_angle_deg.unwrap() - angle).abs() < 1e-9);
    let sin = angle.to_radians().sin();
    let alpha = (2.0f64 / 3.0).sqrt() * 2.0 * sin / (3.0 - sin);
    assert!((sand.yield_deviator.unwrap() - alpha * 900.0).abs() < 1e-9);
    // An elastic body has stress, but neither hardening nor friction.
    let ball = &states[1];
    assert_eq!(ball.principal_stress, [50.0, 0.0, -50.0]);
    assert_eq!((ball.hardening, ball.friction_angle_deg), (None, None));
    assert_eq!(ball.yield_deviator, None);
}

#[test]
fn in_2d_the_two_in_plane_stresses_count() {
    let (_root, directory) = result(2, &[frame(0)]);
    let substance = Substance::of_result(&directory).unwrap();
    let states = stress(&directory, 0, &substance, Some(&BTreeSet::from([7]))).unwrap();
    assert_eq!(states.len(), 1);
    assert!((states[0].pressure - 150.0).abs() < 1e-9);
    assert!((states[0].deviator - 5_000f64.sqrt()).abs() < 1e-9);
}

#[test]
fn histories_are_in_the_requested_order() {
    let mut late = frame(2);
    late.columns[0].data = ColumnData::U32(vec![9, 7]);
    let (_root, directory) = result(3, &[frame(0), frame(1), late]);
    let substance = Substance::of_result(&directory).unwrap();
    let found = histories(&directory, &[0, 1, 2], &substance, &[5, 7, 9]).unwrap();
    let frames = |i: usize| found[i].iter().map(|s| (s.id, s.frame)).collect::<Vec<_>>();
    assert_eq!(frames(0), [(5, 0), (5, 1)]);
    assert_eq!(frames(1), [(7, 0), (7, 1), (7, 2)]);
    assert_eq!(frames(2), [(9, 2)]);
    let error = histories(&directory, &[0, 1, 2], &substance, &[7, 8]).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("id 8") && text.contains("from 7 to 9"),
        "{text}"
    );
}

#[test]
fn errors_name_the_missing_column_and_the_key_to_set() {
    for (lost, column) in [(3, "principal_stress"), (4, "hardening")] {
        let mut poor = frame(0);
        poor.columns.remove(lost);
        let (_root, directory) = result(3, &[poor]);
        let substance = Substance::of_result(&directory).unwrap();
        let error = stress(&directory, 0, &substance, None).unwrap_err();
        assert!(matches!(&error, StressError::Column { column: c, .. } if *c == column));
        let text = error.to_string();
        assert!(
            text.contains("[output]") && text.contains("columns = ["),
            "{text}"
        );
    }
}

#[test]
fn csv_has_a_field_for_each_name_empty_if_undefined() {
    let (_root, directory) = result(3, &[frame(1)]);
    let substance = Substance::of_result(&directory).unwrap();
    let states = stress(&directory, 1, &substance, None).unwrap();
    let names: Vec<&str> = CSV_HEADER.split(',').collect();
    for state in &states {
        assert_eq!(csv_line(state).split(',').count(), names.len());
    }
    assert!(csv_line(&states[0]).starts_with("7,1,0.5,-100,-200,-600,300,374."));
    assert!(
        csv_line(&states[1]).ends_with(",,,,0"),
        "{}",
        csv_line(&states[1])
    );
}

#[test]
fn a_frame_without_grains_has_no_stresses() {
    let mut empty = frame(0);
    for column in &mut empty.columns {
        column.data = match &column.data {
            ColumnData::F32(_) => ColumnData::F32(Vec::new()),
            ColumnData::U8(_) => ColumnData::U8(Vec::new()),
            _ => ColumnData::U32(Vec::new()),
        };
    }
    let (_root, directory) = result(3, &[empty]);
    let substance = Substance::of_result(&directory).unwrap();
    assert!(stress(&directory, 0, &substance, None).unwrap().is_empty());
    assert!(histories(&directory, &[0], &substance, &[1]).is_err());
}
