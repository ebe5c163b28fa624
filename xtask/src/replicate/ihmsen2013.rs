//! What is replicated of [Ihmsen13]: its Figures 1 to 7 and the base simulations of its Table 1.

use super::rows::{Detail, Paper, Preview, Row, SAME, Shot, Timing, shot, single};

/// With 7 K particles.
const COARSE: &[&str] = &["solver.resolution=0.1"];
/// The same as the paper has friction.
const COARSE_PRINTED: &[&str] = &[
    "solver.resolution=0.1",
    "solver.sph.yield=\"per component\"",
    "solver.sph.static_friction=false",
    "solver.sph.wall_friction=viscous",
    "solver.sph.sleep_velocity=0.02",
];

const WETNESS: &[&str] = &["--color", "wetness"];

/// Several pictures in a sheet.
const fn sheet(
    scale: f64,
    seconds: f64,
    runs: &'static [&'static [&'static str]],
    details: &'static [Detail],
    shots: &'static [Shot],
) -> Preview {
    Preview {
        scale,
        runs,
        details,
        shots,
        across: 2,
        cell: [400, 225],
        seconds,
    }
}

/// A refinement of the first run.
const fn grains(options: &'static [&'static str]) -> Detail {
    Detail { run: 0, options }
}

/// A picture of the result of that number: runs first, then refinements.
const fn of(run: usize, frame: u32) -> Shot {
    Shot {
        run,
        frame,
        options: &[],
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
        preview: sheet(
            1.0,
            800.0,
            &[SAME],
            &[
                grains(&["--grains", "1.4M"]),
                grains(&["--grains", "19.4M", "--frames", "90"]),
            ],
            &[of(0, 90), of(1, 90), of(2, 90), of(1, 250)],
        ),
        timing: timing(25.0, None, 40.0),
        verdict: "Agrees: sand gathers before the blade and flows out at its ends, and the machine passes through without sand inside it. From the upper left: base, 1.4 M and 19.4 M grains after 1.8 s, 1.4 M after 5 s. Rows of the base can be made out at the edge of the layer, where it slumped. Machine and way are ours. 19.4 M grains took 1.9 s a frame with writing, beside another run (paper: 9.6 s on twelve cores).",
    },
    Row {
        name: "piles",
        figure: "Fig. 2",
        scene: "ihmsen2013/piles",
        paper: table_1("45 K", 1.6),
        preview: single(1.0, 150.0, &[SAME], &[shot(450, &[])]),
        timing: timing(100.0, Some(45e3), 60.0),
        verdict: "Agrees: the larger the angle, the taller and narrower the heap. 99 % of the particles are below 0.48, 0.63 and 0.76 m and within 1.38, 1.21 and 1.13 m of the axis from 30° to 60°. Differs: single particles still roll at the end (0.6 m/s at 30°, 0.8 m/s at 60°).",
    },
    Row {
        name: "dry_and_wet",
        figure: "Fig. 3",
        scene: "ihmsen2013/dry_and_wet",
        paper: None,
        preview: single(1.0, 90.0, &[SAME], &[shot(200, &[])]),
        timing: timing(25.0, None, 30.0),
        verdict: "Agrees in kind: the wet block keeps together with steep sides (99 % of it are below 2.7 m), the dry one becomes a heap (2.1 m). Differs: it slumps to half its height and cracks along the lattice that it began with. The paper gives no size of the particles and no unit of the intensity; as Eq. 22 is written its effect grows with the square of the size, so ours have 0.1 m.",
    },
    Row {
        name: "splash_sph",
        figure: "Fig. 4",
        scene: "ihmsen2013/splash",
        paper: table_1("83 K", 2.9),
        preview: sheet(
            1.0,
            400.0,
            &[SAME],
            &[
                grains(&["--grains", "20.8M", "--frames", "20", "--method", "clamped"]),
                grains(&["--grains", "20.8M", "--frames", "20"]),
            ],
            &[of(1, 8), of(1, 20), of(2, 8), of(2, 20)],
        ),
        timing: timing(10.0, None, 40.0),
        verdict: "Above grains that follow wherever two particles are near, below blended ones: both throw the same crown; blended grains spread more between the lumps. Ball, speed and friction angle are ours.",
    },
    Row {
        name: "spheres",
        figure: "Fig. 5",
        scene: "ihmsen2013/spheres",
        paper: table_1("96 K", 3.1),
        preview: sheet(
            1.0,
            200.0,
            &[SAME],
            &[grains(&["--grains", "11.3M"])],
            &[of(0, 15), of(0, 125), of(1, 15), of(1, 125)],
        ),
        timing: timing(10.0, None, 40.0),
        verdict: "Agrees: the sand carries all three. With 0.25, 1 and 3 times the density of the sand they lie 0.10, 0.21 and 0.38 m deep after 2.5 s (lowest point of balls of 0.3 m; the pool has 0.75 m), the light one still at 9 mm/s, the others at less than 1 mm/s. Above the base, below 11.3 M grains, as many as the paper has.",
    },
    Row {
        name: "rope_ladder",
        figure: "Fig. 6",
        scene: "ihmsen2013/rope_ladder",
        paper: table_1("138 K", 4.6),
        preview: sheet(
            0.7,
            700.0,
            &[SAME],
            &[grains(&["--grains", "2M"])],
            &[of(0, 300), of(0, 450), of(1, 300), of(1, 450)],
        ),
        timing: timing(50.0, Some(138e3), 60.0),
        verdict: "Agrees: the ladder hangs in the stream and sand runs over its rungs; let go at 8.4 s, it falls and lies in the heap. Above the base, below 2 M grains; the paper has 17.3 M. 17.3 M were not drawn: 450 frames of 130 MB, one after the other.",
    },
    Row {
        name: "resolution",
        figure: "Fig. 7",
        scene: "ihmsen2013/resolution",
        paper: table_1("60 K", 2.6),
        preview: sheet(
            1.0,
            900.0,
            &[SAME, COARSE, COARSE_PRINTED],
            &[Detail {
                run: 1,
                options: &["--grains", "500K"],
            }],
            &[of(1, 370), of(0, 370), of(2, 370), of(3, 370)],
        ),
        timing: timing(200.0, Some(60e3), 40.0),
        verdict: "From the upper left: ours with 7 K and 60 K particles, as the paper has it with 7 K, and 500 K grains over ours with 7 K. `barchan measure` finds 37.0°, 39.2° and, as printed, 28.7°. The cone of the law has atan sin 55° = 39.3°; the paper has 31° with 7 K, 35° with 60 K and 45° with 500 K. As printed a heap has no slope of its own: it has 48.8° while it is poured (frame 280) and creeps as long as anything moves. How it is poured matters: when a stream this wide stopped at once, what still flowed ran down and left a dome of 33°. Not run: as printed with 60 K, and 500 K to the end. A quarter of that heap between smooth walls (resolution_quarter.toml, about an hour) was followed up to frame 185, 74 K particles: 38.2° by `barchan measure --axis 0,0 --from 0.6` while it is poured.",
    },
    Row {
        name: "wetting",
        figure: "§3.4",
        scene: "ihmsen2013/wetting",
        paper: None,
        preview: sheet(
            1.0,
            60.0,
            &[SAME],
            &[],
            &[shot(50, WETNESS), shot(150, WETNESS)],
        ),
        timing: None,
        verdict: "Not in the paper as a figure. The wet half stands, the dry one becomes a heap. A free block this high takes 6.7 kPa by the cone; with 3 kPa it slumps.",
    },
];
