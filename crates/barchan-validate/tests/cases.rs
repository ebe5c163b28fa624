//! The quick form of every case with every solver, a line each. `barchan validate` runs the full forms.
//!
//! `cargo test --release -p barchan-validate --test cases e2_mpm -- --nocapture` prints the checks.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use barchan_validate::{CASES, Case, Context, Form, Verdict};

macro_rules! cases {
    ($($test:ident: $case:literal, $solver:literal, $form:ident;)*) => {
        $(
            #[test]
            fn $test() {
                holds($case, $solver, Form::$form);
            }
        )*
        const TESTED: &[(&str, &str)] = &[$(($case, $solver)),*];
    };
}

#[rustfmt::skip]
cases! {
    a1_mpm: "A1", "mpm", Quick;
    a2_mpm: "A2", "mpm", Quick;
    a3_mpm: "A3", "mpm", Quick;
    a4_mpm: "A4", "mpm", Quick;
    a5_mpm: "A5", "mpm", Quick;
    b1_mpm: "B1", "mpm", Quick;
    b2_mpm: "B2", "mpm", Quick;
    b3_mpm: "B3", "mpm", Quick;
    b4_mpm: "B4", "mpm", Quick;
    b5_mpm: "B5", "mpm", Quick;
    b6_mpm: "B6", "mpm", Quick;
    c1_mpm: "C1", "mpm", Quick;
    b1_sph: "B1", "sph", Quick;
    b2_sph: "B2", "sph", Quick;
    c2_mpm: "C2", "mpm", Quick;
    c3_mpm: "C3", "mpm", Quick;
    c4_mpm: "C4", "mpm", Quick;
    c5_mpm: "C5", "mpm", Quick;
    c6_mpm: "C6", "mpm", Quick;
    c7_mpm: "C7", "mpm", Quick;
    c8_mpm: "C8", "mpm", Quick;
    c9_mpm: "C9", "mpm", Quick;
    d1_mpm: "D1", "mpm", Quick;
    d2_mpm: "D2", "mpm", Quick;
    d3_mpm: "D3", "mpm", Quick;
    d1_pbd: "D1", "pbd", Quick;
    d1_sph: "D1", "sph", Quick;
    d2_pbd: "D2", "pbd", Quick;
    d3_pbd: "D3", "pbd", Quick;
    d2_sph: "D2", "sph", Quick;
    d3_sph: "D3", "sph", Quick;
    d4_mpm: "D4", "mpm", Quick;
    d6_mpm: "D6", "mpm", Quick;
    d7_mpm: "D7", "mpm", Quick;
    e1_mpm: "E1", "mpm", Quick;
    e2_mpm: "E2", "mpm", Quick;
    e2_sph: "E2", "sph", Quick;
    e3_mpm: "E3", "mpm", Quick;
    e4_mpm: "E4", "mpm", Quick;
    e5_sph: "E5", "sph", Quick;
    e6_pbd: "E6", "pbd", Quick;
    e7_sph: "E7", "sph", Quick;
    e9_mpm: "E9", "mpm", Quick;
    f1_mpm: "F1", "mpm", Quick;
    f2_mpm: "F2", "mpm", Quick;
    f3_mpm: "F3", "mpm", Quick;
    f4_mpm: "F4", "mpm", Quick;
    f5_mpm: "F5", "mpm", Quick;
    g4_pbd: "G4", "pbd", Quick;
    g5_pbd: "G5", "pbd", Quick;
    g7_pbd: "G7", "pbd", Quick;
    g7_sph: "G7", "sph", Quick;
    j1_pbd: "J1", "pbd", Quick;
    j2_pbd: "J2", "pbd", Quick;
    j3_pbd: "J3", "pbd", Quick;
    j4_pbd: "J4", "pbd", Quick;
    j5_pbd: "J5", "pbd", Quick;
    j6_pbd: "J6", "pbd", Quick;
    j7_pbd: "J7", "pbd", Quick;
    j8_pbd: "J8", "pbd", Quick;
    l1_sph: "L1", "sph", Quick;
    l2_sph: "L2", "sph", Quick;
    l3_sph: "L3", "sph", Quick;
    l4_sph: "L4", "sph", Quick;
    l5_sph: "L5", "sph", Quick;
    l6_sph: "L6", "sph", Quick;
    l7_sph: "L7", "sph", Quick;
    l9_sph: "L9", "sph", Quick;
    l10_pbd: "L10", "pbd", Quick;
    l10_sph: "L10", "sph", Quick;
    o1_pbd: "O1", "pbd", Quick;
    o2_pbd: "O2", "pbd", Quick;
    o3_pbd: "O3", "pbd", Quick;
    o4_pbd: "O4", "pbd", Quick;
    o5_pbd: "O5", "pbd", Quick;
    p1_mpm: "P1", "mpm", Quick;
    p2_mpm: "P2", "mpm", Quick;
    p3_mpm: "P3", "mpm", Quick;
    p4_mpm: "P4", "mpm", Quick;
    p5_mpm: "P5", "mpm", Quick;
    p7_mpm: "P7", "mpm", Quick;
    p8_mpm: "P8", "mpm", Quick;
    p9_mpm: "P9", "mpm", Quick;
}

/// The case passes or reaches a known limit, and has a negative control.
fn holds(name: &str, solver: &'static str, form: Form) {
    let meant = |case: &&Case| case.name == name && case.solvers.contains(&solver);
    let case = CASES.iter().find(meant).unwrap();
    let entry = case.entry(&Context {
        solver,
        form,
        watch: &|_| {},
    });
    for check in &entry.outcome.checks {
        println!("{name} {solver}: {check}");
    }
    println!("{name} {solver}: {:.1} s", entry.wall_s);
    let error = entry.error.unwrap_or_default();
    assert!(entry.verdict != Verdict::Fail, "{error}");
    let control = entry.outcome.checks.iter().any(|check| check.control);
    assert!(control, "{name} has no negative control");
}

#[test]
fn every_case_is_tested_with_every_solver() {
    for case in CASES {
        for solver in case.solvers {
            assert!(
                TESTED.contains(&(case.name, solver)),
                "{} {solver}",
                case.name
            );
        }
    }
}
