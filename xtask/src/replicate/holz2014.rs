//! What is replicated of [Holz14]: its Figures 2 to 7. Figure 1 is `barchan bench pbd`.

use super::rows::{Preview, Row, SAME, Shot, shot, single};

const GAUSS_SEIDEL: &[&str] = &[
    "solver.pbd.scheme=gauss-seidel",
    "solver.pbd.error_reduction=0",
];
const GAUSS_SEIDEL_40: &[&str] = &[
    "solver.pbd.scheme=gauss-seidel",
    "solver.pbd.error_reduction=0",
    "solver.pbd.iterations=40",
];
const AVERAGED: &[&str] = &["solver.pbd.error_reduction=0"];
const AVERAGED_40: &[&str] = &["solver.pbd.error_reduction=0", "solver.pbd.iterations=40"];

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
        details: &[],
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
        verdict: "Agrees: both grains follow backward Euler with the same spring, damper and step, with 5 iterations as with one (within 1e-5 m and 1e-4 m over 1.5 s). With error reduction they do not.",
    },
    Row {
        name: "repose",
        figure: "Fig. 3",
        scene: "holz2014/repose",
        paper: None,
        preview: single(1.0, 20.0, &[SAME], &[shot(240, &[])]),
        timing: None,
        verdict: "Agrees: both friction and adhesion make the heap higher. With 2000 grains each, heaps of 5°, 30°, and 5° with 1000 Pa are about 0.44, 0.74 and 0.55 m high.",
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
        verdict: "Agrees: grains turn the wheel, gather in the tray, the plank tilts, and the weights slide down. Without grains nothing turns or tilts.",
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
        verdict: "From the upper left: Gauss–Seidel and averaged with 10 iterations, Gauss–Seidel with 40, averaged with 10 and ε = 0.5. Agrees in order: Gauss–Seidel is steeper at the same number of iterations, and error reduction makes up for many. Differs: slopes are 20°, 6°, 36° and 29°, so ε = 0.5 comes to lie between Gauss–Seidel with 10 and with 40 iterations. [More](solvers/pbd.md#figures).",
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
            &[of(0, 155), of(0, 225), of(0, 334), of(0, 425)],
        ),
        timing: None,
        verdict: "Agrees: loam stays at the bucket when it is turned over and comes off when it is shaken: 442 kg are lifted, 24 kg stay, 5 kg are left; without adhesion none stays. Differs: it takes 10 kPa and contacts of 1000 N/m, since adhesion acts over contacts that stiff grains make small, and most falls off.",
    },
    Row {
        name: "ridges",
        figure: "Fig. 7",
        scene: "holz2014/ridges",
        paper: None,
        preview: sheet(30.0, 2, &[SAME], &[of(0, 110), of(0, 210)]),
        timing: None,
        verdict: "Agrees: a ridge of some 0.07 m at each side of a track 0.16 m deep. Differs: on a bed of grains; on terrain ridges are lower ([terrain.md](terrain.md#limits)).",
    },
];
