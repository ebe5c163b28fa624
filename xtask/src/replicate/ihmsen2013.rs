//! What is replicated of [Ihmsen13]: its Figures 1 to 7 and the base simulations of its Table 1.

use super::rows::{Paper, Preview, Row, SAME, Shot, Timing, shot, single};

/// As the paper has friction; ours is what the scene has.
const PRINTED: &[&str] = &[
    "solver.yield=\"per component\"",
    "solver.static_friction=false",
    "solver.wall_friction=viscous",
    "solver.sleep_velocity=0.02",
];

/// Several pictures in a sheet.
const fn sheet(
    scale: f64,
    seconds: f64,
    runs: &'static [&'static [&'static str]],
    shots: &'static [Shot],
) -> Preview {
    Preview {
        scale,
        runs,
        shots,
        across: 2,
        cell: [320, 180],
        seconds,
    }
}

/// A row of Table 1: base particles and seconds for a frame on twelve cores.
const fn table_1(particles: &'static str, seconds_per_frame: f64) -> Option<Paper> {
    Some(Paper {
        implicit: false,
        particles,
        dt: "1e-3",
        threads: 12,
        minutes_per_frame: seconds_per_frame / 60.0,
    })
}

/// The first frames; where sand is poured, told for all of it.
const fn timing(frames: f64, final_particles: Option<f64>, seconds: f64) -> Option<Timing> {
    Some(Timing {
        frames,
        rate: 50.0,
        scale: 1.0,
        final_particles,
        seconds,
    })
}

/// All rows, in the order of the figures.
pub const ROWS: &[Row] = &[
    Row {
        name: "bulldozer",
        figure: "Fig. 1",
        scene: "ihmsen2013/bulldozer",
        paper: table_1("38 K", 1.4),
        preview: sheet(0.7, 90.0, &[SAME], &[shot(100, &[]), shot(250, &[])]),
        timing: timing(25.0, None, 40.0),
        verdict: "Not measured yet.",
    },
    Row {
        name: "piles",
        figure: "Fig. 2",
        scene: "ihmsen2013/piles",
        paper: table_1("45 K", 1.6),
        preview: single(0.7, 150.0, &[SAME], &[shot(450, &[])]),
        timing: timing(100.0, Some(45e3), 60.0),
        verdict: "Not measured yet.",
    },
    Row {
        name: "dry_and_wet",
        figure: "Fig. 3",
        scene: "ihmsen2013/dry_and_wet",
        paper: None,
        preview: single(1.0, 90.0, &[SAME], &[shot(100, &[])]),
        timing: timing(25.0, None, 30.0),
        verdict: "Not measured yet.",
    },
    Row {
        name: "splash_sph",
        figure: "Fig. 4",
        scene: "ihmsen2013/splash",
        paper: table_1("83 K", 2.9),
        preview: sheet(0.7, 60.0, &[SAME], &[shot(8, &[]), shot(20, &[])]),
        timing: timing(10.0, None, 40.0),
        verdict: "Not measured yet.",
    },
    Row {
        name: "spheres",
        figure: "Fig. 5",
        scene: "ihmsen2013/spheres",
        paper: table_1("96 K", 3.1),
        preview: sheet(0.7, 90.0, &[SAME], &[shot(15, &[]), shot(125, &[])]),
        timing: timing(10.0, None, 40.0),
        verdict: "Not measured yet.",
    },
    Row {
        name: "rope_ladder",
        figure: "Fig. 6",
        scene: "ihmsen2013/rope_ladder",
        paper: table_1("138 K", 4.6),
        preview: sheet(0.7, 300.0, &[SAME], &[shot(200, &[]), shot(470, &[])]),
        timing: timing(50.0, Some(138e3), 60.0),
        verdict: "Not measured yet.",
    },
    Row {
        name: "resolution",
        figure: "Fig. 7",
        scene: "ihmsen2013/resolution",
        paper: table_1("60 K", 2.6),
        preview: sheet(
            0.5,
            300.0,
            &[SAME, PRINTED],
            &[
                shot(315, &[]),
                Shot {
                    run: 1,
                    frame: 315,
                    options: &[],
                },
            ],
        ),
        timing: timing(200.0, Some(60e3), 40.0),
        verdict: "Not measured yet.",
    },
    Row {
        name: "wetting",
        figure: "§3.4",
        scene: "ihmsen2013/wetting",
        paper: None,
        preview: sheet(1.0, 60.0, &[SAME], &[shot(0, &[]), shot(150, &[])]),
        timing: None,
        verdict: "Not measured yet.",
    },
];
