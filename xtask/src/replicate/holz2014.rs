//! What is replicated of [Holz14]: its Figures 2 to 7. Figure 1 is `barchan bench pbd`.

use super::rows::{Preview, Row, SAME, Shot, shot, single};

const GAUSS_SEIDEL: &[&str] = &["solver.scheme=gauss-seidel", "solver.error_reduction=0"];
const GAUSS_SEIDEL_40: &[&str] = &[
    "solver.scheme=gauss-seidel",
    "solver.error_reduction=0",
    "solver.iterations=40",
];
const AVERAGED: &[&str] = &["solver.error_reduction=0"];
const AVERAGED_40: &[&str] = &["solver.error_reduction=0", "solver.iterations=40"];

/// The picture of a frame of a run.
const fn of(run: usize, frame: u32) -> Shot {
    Shot {
        run,
        frame,
        options: &[],
    }
}

/// Several pictures in a sheet.
const fn sheet(
    seconds: f64,
    across: usize,
    runs: &'static [&'static [&'static str]],
    shots: &'static [Shot],
) -> Preview {
    Preview {
        scale: 1.0,
        runs,
        shots,
        across,
        cell: [320, 180],
        seconds,
    }
}

/// All rows, in the order of the figures.
pub const ROWS: &[Row] = &[
    Row {
        name: "drop",
        figure: "Fig. 2",
        scene: "holz2014/drop",
        paper: None,
        preview: sheet(
            10.0,
            2,
            &[SAME],
            &[of(0, 0), of(0, 20), of(0, 35), of(0, 60)],
        ),
        timing: None,
        verdict: "VERDICT-drop",
    },
    Row {
        name: "repose",
        figure: "Fig. 3",
        scene: "holz2014/repose",
        paper: None,
        preview: single(1.0, 20.0, &[SAME], &[shot(240, &[])]),
        timing: None,
        verdict: "VERDICT-repose",
    },
    Row {
        name: "wheel_and_plank",
        figure: "Fig. 4",
        scene: "holz2014/wheel_and_plank",
        paper: None,
        preview: sheet(
            20.0,
            2,
            &[SAME],
            &[of(0, 20), of(0, 60), of(0, 90), of(0, 200)],
        ),
        timing: None,
        verdict: "VERDICT-wheel",
    },
    Row {
        name: "slopes",
        figure: "Fig. 5",
        scene: "holz2014/slopes",
        paper: None,
        preview: sheet(
            60.0,
            2,
            &[GAUSS_SEIDEL, AVERAGED, GAUSS_SEIDEL_40, SAME, AVERAGED_40],
            &[of(0, 240), of(1, 240), of(2, 240), of(3, 240)],
        ),
        timing: None,
        verdict: "VERDICT-slopes",
    },
    Row {
        name: "loam",
        figure: "Fig. 6",
        scene: "holz2014/loam",
        paper: None,
        preview: sheet(
            20.0,
            2,
            &[SAME],
            &[of(0, 105), of(0, 150), of(0, 238), of(0, 329)],
        ),
        timing: None,
        verdict: "VERDICT-loam",
    },
    Row {
        name: "ridges",
        figure: "Fig. 7",
        scene: "holz2014/ridges",
        paper: None,
        preview: sheet(30.0, 2, &[SAME], &[of(0, 200), of(0, 360)]),
        timing: None,
        verdict: "VERDICT-ridges",
    },
];
