//! What is replicated: a row for each row of Table 2 and each figure of [Klar16] that is a simulation; those of [Holz14] are in `holz2014.rs`,
//! those of [Ihmsen13] in `ihmsen2013.rs`.

/// A row of the page.
pub struct Row {
    /// Key in `docs/results/replicability.json`, and name of the picture.
    pub name: &'static str,
    /// Where it stands in the paper.
    pub figure: &'static str,
    /// Scene: folder of the paper and name, without ending.
    pub scene: &'static str,
    /// What the paper reports.
    pub paper: Option<Paper>,
    /// Runs at preview size and the pictures made of them.
    pub preview: Preview,
    /// How the cost at the paper's resolution is measured.
    pub timing: Option<Timing>,
    /// What agrees with the paper, and what does not.
    pub verdict: &'static str,
}

impl Row {
    /// Name of the scene without its folder.
    pub fn stem(&self) -> &'static str {
        self.scene.rsplit('/').next().unwrap_or(self.scene)
    }

    /// Its picture, relative to `docs/pictures`.
    pub fn picture(&self) -> String {
        let folder = self.scene.split('/').next().unwrap_or_default();
        format!("{folder}/{}.jpg", self.name)
    }
}

/// What Table 2 says.
#[derive(Clone, Copy)]
pub struct Paper {
    pub implicit: bool,
    pub particles: &'static str,
    /// Largest time step [s].
    pub dt: &'static str,
    pub threads: u32,
    pub minutes_per_frame: f64,
}

/// Runs of a scene, small enough to be looked at soon.
pub struct Preview {
    /// Resolution, as a factor.
    pub scale: f64,
    /// Changes of each run: one run for each list.
    pub runs: &'static [&'static [&'static str]],
    /// Refinements of them.
    pub details: &'static [Detail],
    pub shots: &'static [Shot],
    /// Pictures side by side.
    pub across: usize,
    /// Pixels of each.
    pub cell: [u32; 2],
    /// Wall time on two cores, about [s].
    pub seconds: f64,
}

/// Grains over one of the runs.
pub struct Detail {
    pub run: usize,
    /// Options of `barchan detail`.
    pub options: &'static [&'static str],
}

/// A picture of a frame of one of the runs, or of one of the refinements, which are counted on from there.
pub struct Shot {
    pub run: usize,
    pub frame: u32,
    /// Options of `barchan render`.
    pub options: &'static [&'static str],
}

/// Frames of the full scene from its beginning.
#[derive(Clone, Copy)]
pub struct Timing {
    /// Frames of the paper's frame rate; a part of one is measured as a shorter frame.
    pub frames: f64,
    /// The paper's frame rate [1/s].
    pub rate: f64,
    /// Resolution, as a factor.
    pub scale: f64,
    /// Particles at the end, when an inflow makes them: what a frame costs is then told for that many.
    pub final_particles: Option<f64>,
    /// Wall time on two cores, about [s].
    pub seconds: f64,
}

const fn paper(
    implicit: bool,
    particles: &'static str,
    dt: &'static str,
    threads: u32,
    minutes_per_frame: f64,
) -> Option<Paper> {
    Some(Paper {
        implicit,
        particles,
        dt,
        threads,
        minutes_per_frame,
    })
}

/// One run, one picture of 480×270.
pub const fn single(
    scale: f64,
    seconds: f64,
    runs: &'static [&'static [&'static str]],
    shots: &'static [Shot],
) -> Preview {
    Preview {
        scale,
        runs,
        details: &[],
        shots,
        across: 1,
        cell: [480, 270],
        seconds,
    }
}

/// Two pictures side by side.
pub const fn pair(
    scale: f64,
    seconds: f64,
    runs: &'static [&'static [&'static str]],
    shots: &'static [Shot],
) -> Preview {
    Preview {
        scale,
        runs,
        details: &[],
        shots,
        across: 2,
        cell: [400, 225],
        seconds,
    }
}

const fn timing(rate: f64, frames: f64, seconds: f64) -> Option<Timing> {
    Some(Timing {
        frames,
        rate,
        scale: 1.0,
        final_particles: None,
        seconds,
    })
}

pub const fn shot(frame: u32, options: &'static [&'static str]) -> Shot {
    Shot {
        run: 0,
        frame,
        options,
    }
}

/// A coarse grid allows longer steps than the paper's.
const COARSE: &[&str] = &["solver.mpm.max_dt=1e-3"];
pub const SAME: &[&str] = &[];
const CASES: &[&str] = &["--color", "plastic_case", "--shutter", "0"];
const SPEED: &[&str] = &["--color", "speed", "--range", "0,0.3"];
const STRESS: &[&str] = &["--space", "stress"];
/// At rest since the beginning, in the middle of the slope, on the surface; ids of the full scene.
const THREE: &[&str] = &["--grains", "581,1469,3091"];
const THREE_CONES: &[&str] = &["--space", "stress", "--grains", "581,1469,3091"];

/// All rows, in the order of the paper's Table 2 and then of its figures.
pub const ROWS: &[Row] = &[
    Row {
        name: "castle",
        figure: "Fig. 3, Table 2 “Castle”",
        scene: "klar2016/castle",
        paper: paper(true, "7.95e5", "1e-3", 4, 6.80),
        preview: single(0.4, 60.0, &[SAME], &[shot(12, &[])]),
        timing: timing(72.0, 8.0, 60.0),
        verdict: "Agrees: the ball breaks the walls while these fall, is slowed by the sand and comes to rest on the heap; sand and ball act on each other without extra treatment. Shape of castle and ball are ours.",
    },
    Row {
        name: "friction_angle",
        figure: "Fig. 13, Table 2 “Friction angle”",
        scene: "klar2016/friction_angle",
        paper: paper(false, "1.20e6", "1e-4", 4, 4.10),
        preview: single(
            0.4,
            120.0,
            &[&["solver.mpm.max_dt=2.5e-4"]],
            &[shot(72, &[])],
        ),
        timing: timing(120.0, 2.0, 80.0),
        verdict: "Agrees: the larger the angle, the taller and steeper the pile. In the run shown, the highest grain lies at 7.6, 8.5, 9.2, 9.8 and 10.2 mm and radii (99 % of the mass) are 27.6, 25.5, 24.0, 22.9 and 21.9 mm from 20° to 40°. Slopes stay below the friction angle, the more so the larger it is: see [validation](validation.md).",
    },
    Row {
        name: "hourglass",
        figure: "Fig. 1, Table 2 “Hourglass”",
        scene: "klar2016/hourglass",
        paper: paper(false, "4.60e5", "1e-4", 12, 2.00),
        preview: single(
            0.4,
            90.0,
            &[&["solver.mpm.max_dt=2.5e-4"]],
            &[shot(48, &[])],
        ),
        timing: timing(48.0, 3.0, 60.0),
        verdict: "Agrees: a smooth, steady stream through the neck, and a pile that grows below until the upper bulb is empty.",
    },
    Row {
        name: "butterfly",
        figure: "Fig. 8, Table 2 “Butterfly”",
        scene: "klar2016/butterfly",
        paper: paper(false, "3.84e6", "2.5e-4", 10, 10.31),
        preview: single(0.35, 150.0, &[COARSE], &[shot(173, &[])]),
        timing: timing(24.0, 0.4, 80.0),
        verdict: "Agrees: the stick leaves a furrow along its path, and the drawing stays. At preview size the stick is three cells wide and the furrow shallow; the drawing is ours.",
    },
    Row {
        name: "butterfly_close",
        figure: "Table 2 “Butterfly close”",
        scene: "klar2016/butterfly_close",
        paper: paper(false, "4.1e6", "1e-4", 8, 21.23),
        preview: single(0.3, 90.0, &[COARSE], &[shot(60, &[])]),
        timing: timing(48.0, 0.25, 80.0),
        verdict: "Agrees: furrow with raised banks behind the stick.",
    },
    Row {
        name: "raking",
        figure: "Fig. 5, Table 2 “Raking”",
        scene: "klar2016/raking",
        paper: paper(false, "3.84e6", "2.5e-4", 10, 9.78),
        preview: single(0.35, 150.0, &[COARSE], &[shot(144, &[])]),
        timing: timing(24.0, 0.4, 80.0),
        verdict: "Agrees: rings around the rock, one for each tine. At preview size tines are few cells wide and the rings shallow.",
    },
    Row {
        name: "raking_close",
        figure: "Table 2 “Raking close”",
        scene: "klar2016/raking_close",
        paper: paper(false, "4.3e6", "1e-4", 8, 32.84),
        preview: single(0.3, 90.0, &[COARSE], &[shot(50, &[])]),
        timing: timing(24.0, 0.2, 80.0),
        verdict: "Agrees: a groove behind each tine.",
    },
    Row {
        name: "pile",
        figure: "Fig. 12, Table 2 “Pile from spout”",
        scene: "klar2016/pile",
        paper: paper(true, "9.94e5", "1.5e-4", 8, 4.34),
        preview: single(
            0.4,
            120.0,
            &[&["solver.mpm.elastic_cfl=1.2"]],
            &[shot(180, &[])],
        ),
        timing: Some(Timing {
            frames: 30.0,
            rate: 120.0,
            scale: 1.0,
            final_particles: Some(9.94e5),
            seconds: 80.0,
        }),
        verdict: "Agrees: the pile grows under the stream in a cone. Differs: the stream thins as it falls and shows the layers in which grains were let in. Not established: the avalanches that the paper compares with footage.",
    },
    Row {
        name: "splash",
        figure: "Fig. 2, Table 2 “Splash”",
        scene: "klar2016/splash",
        paper: paper(false, "6.6e6", "5e-5", 8, 9.27),
        preview: single(0.35, 90.0, &[&["solver.mpm.max_dt=3e-4"]], &[shot(50, &[])]),
        timing: timing(240.0, 0.8, 90.0),
        verdict: "Agrees: the ball throws up a smooth crown without noise. The ball is scripted, so its own slowing down is ours.",
    },
    Row {
        name: "shovel",
        figure: "Fig. 11, Table 2 “Shovel”",
        scene: "klar2016/shovel",
        paper: paper(false, "1.96e6", "1e-4", 4, 24.84),
        preview: single(0.35, 90.0, &[&["solver.mpm.max_dt=6e-4"]], &[shot(90, &[])]),
        timing: timing(24.0, 0.5, 80.0),
        verdict: "Agrees: the blade goes in, pushes sand ahead, and lifts a load of which what does not fit runs off over the sides.",
    },
    Row {
        name: "young",
        figure: "Fig. 10, Table 2 “Young's modulus”",
        scene: "klar2016/young",
        paper: paper(true, "4 × 743", "7.5e-4", 1, 49e-4),
        preview: Preview {
            scale: 1.0,
            runs: &[SAME],
            details: &[],
            shots: &[shot(22, &[]), shot(60, &[])],
            across: 1,
            cell: [480, 180],
            seconds: 15.0,
        },
        timing: timing(24.0, 60.0, 15.0),
        verdict: "Agrees: at 1e3 Pa the sand bounces and spreads (grains move at 1.0 m/s 0.65 s after the inflow ends, and still at 0.3 m/s at the end); at 1e4 Pa it jiggles a little (0.10 m/s); at 1e5 and 1e6 Pa it piles up like sand and hardly differs (0.17 m high, 0.03 m/s).",
    },
    Row {
        name: "column",
        figure: "Fig. 14",
        scene: "klar2016/column",
        paper: None,
        preview: pair(1.0, 40.0, &[SAME], &[shot(24, CASES), shot(24, STRESS)]),
        timing: timing(72.0, 72.0, 40.0),
        verdict: "Agrees: a core at rest inside the cone (green), sliding flanks on its side (blue), and loose grains at the surface at its tip (red). Whether the figure is in two dimensions the paper does not say.",
    },
    Row {
        name: "column_3d",
        figure: "Fig. 15",
        scene: "klar2016/column",
        paper: None,
        preview: pair(
            0.4,
            60.0,
            &[&["dimensions=3"]],
            &[shot(20, CASES), shot(20, STRESS)],
        ),
        timing: None,
        verdict: "Agrees: all stresses lie in or on the cone; the deviatoric plane shows it as a circle. The paper writes “principal stretch space … tip at the origin”: it is the space of stresses, or of logarithms of stretches.",
    },
    Row {
        name: "hardening",
        figure: "Fig. 16",
        scene: "klar2016/hardening",
        paper: None,
        preview: pair(
            0.5,
            30.0,
            &[SAME],
            &[shot(72, THREE), shot(72, THREE_CONES)],
        ),
        timing: None,
        verdict: "Agrees: three grains that began with one cone (25°) end with three, the wider the more they deformed: one under the middle that hardly moved, one inside, one at the surface of the slope. A grain that has hardened past the peak of the curve (48.3° at q ≈ 6) narrows again.",
    },
    Row {
        name: "apic_flip",
        figure: "Fig. 17",
        scene: "klar2016/apic_flip",
        paper: None,
        preview: pair(
            1.0,
            30.0,
            &[SAME, &["solver.mpm.transfer=flip", "solver.mpm.flip=1"]],
            &[
                shot(72, SPEED),
                Shot {
                    run: 1,
                    frame: 72,
                    options: SPEED,
                },
            ],
        ),
        timing: None,
        verdict: "Agrees in kind: with FLIP grains keep spurious velocities (fastest 0.61 m/s and 0.24 J at 4 s, when with APIC it is 0.05 m/s and 0.03 J). Differs: the paper's FLIP run became unstable; ours stays a pile.",
    },
    Row {
        name: "notched_block",
        figure: "Fig. 18",
        scene: "klar2016/notched_block",
        paper: None,
        preview: pair(0.5, 60.0, &[SAME], &[shot(0, &[]), shot(8, &[])]),
        timing: None,
        verdict: "Agrees: the overhang falls, the block slumps without steps or stickiness. The other method of the figure, [Narain10], is not here.",
    },
];

/// A row of Table 4: the notched block at one resolution.
pub struct Resolution {
    pub name: &'static str,
    pub grid: &'static str,
    /// What the paper reports for its own method and for that of Narain et al.
    pub particles: &'static str,
    pub seconds_per_frame: f64,
    pub narain_seconds: f64,
    pub timing: Timing,
}

const fn resolution(scale: f64, frames: f64, seconds: f64) -> Timing {
    Timing {
        frames,
        rate: 24.0,
        scale,
        final_particles: None,
        seconds,
    }
}

/// Table 4.
pub const TABLE_4: &[Resolution] = &[
    Resolution {
        name: "notched_block_10",
        grid: "10 × 15 × 10",
        particles: "1.5 K",
        seconds_per_frame: 0.085,
        narain_seconds: 0.019,
        timing: resolution(0.1, 24.0, 5.0),
    },
    Resolution {
        name: "notched_block_20",
        grid: "20 × 30 × 20",
        particles: "12 K",
        seconds_per_frame: 1.1,
        narain_seconds: 0.16,
        timing: resolution(0.2, 24.0, 10.0),
    },
    Resolution {
        name: "notched_block_50",
        grid: "50 × 75 × 50",
        particles: "188 K",
        seconds_per_frame: 33.0,
        narain_seconds: 3.4,
        timing: resolution(0.5, 12.0, 30.0),
    },
    Resolution {
        name: "notched_block_100",
        grid: "100 × 150 × 100",
        particles: "1.5 M",
        seconds_per_frame: 540.0,
        narain_seconds: 62.0,
        timing: resolution(1.0, 3.0, 90.0),
    },
];

/// Scene of Table 4.
pub const TABLE_4_SCENE: &str = "klar2016/notched_block";

#[cfg(test)]
mod tests {
    use super::super::{holz2014, ihmsen2013};
    use super::*;
    use std::collections::BTreeSet;

    fn all() -> impl Iterator<Item = &'static Row> {
        ROWS.iter().chain(holz2014::ROWS).chain(ihmsen2013::ROWS)
    }

    #[test]
    fn names_are_unique_and_scenes_exist() {
        let mut names = BTreeSet::new();
        let rows = all().map(|r| (r.name, r.scene));
        let table = TABLE_4.iter().map(|r| (r.name, TABLE_4_SCENE));
        for (name, scene) in rows.chain(table) {
            assert!(names.insert(name), "{name}");
            let path = crate::repository().join(super::super::scene_path(scene));
            assert!(path.is_file(), "{}", path.display());
        }
    }

    #[test]
    fn shots_are_of_runs_that_there_are() {
        for row in all() {
            let preview = &row.preview;
            assert!(!preview.shots.is_empty() && preview.across > 0);
            let (runs, all) = (
                preview.runs.len(),
                preview.runs.len() + preview.details.len(),
            );
            assert!(preview.details.iter().all(|d| d.run < runs));
            assert!(preview.shots.iter().all(|s| s.run < all));
        }
    }
}
