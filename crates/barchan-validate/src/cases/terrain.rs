//! O1 to O5: columns of soil, alone and with grains.

use super::pbd::grains;
use crate::fit::line;
use crate::outcome::{Band, Check, Outcome};
use crate::plot::{Axis, Plot, Style};
use crate::scene::scene;
use crate::trial::{Trial, larger, largest, smallest};
use crate::{Case, Context, ValidateError};
use barchan_frame::TERRAIN_HEIGHT;
use barchan_scene::{TerrainSpec, material_presets};
use barchan_sim::height_field::SLOPE_TOLERANCE;
use barchan_sim::terrain::{ExistingGrains, GrainSize, Terrain};
use glam::Vec3;

/// Mass of soil that slides.
pub const O1: Case = Case {
    name: "O1",
    title: "Sliding soil conserves mass",
    solvers: &["pbd"],
    seconds: 1.0,
    run: mass,
};

/// Slopes of soil.
pub const O2: Case = Case {
    name: "O2",
    title: "Slopes relax to the angle of repose, and gentler ones are stable",
    solvers: &["pbd"],
    seconds: 1.0,
    run: slopes,
};

/// Soil from a point.
pub const O3: Case = Case {
    name: "O3",
    title: "A point source builds a cone",
    solvers: &["pbd"],
    seconds: 2.0,
    run: point_source,
};

/// A footprint.
pub const O4: Case = Case {
    name: "O4",
    title: "A footprint conserves volume and has a stable rim",
    solvers: &["pbd"],
    seconds: 10.0,
    run: footprint,
};

/// Soil as grains and as columns.
pub const O5: Case = Case {
    name: "O5",
    title: "Exchange between grains and columns conserves volume and mass",
    solvers: &["pbd"],
    seconds: 20.0,
    run: exchange,
};

/// Density of dry sand [kg/m³].
const DENSITY: f64 = 1600.0;
/// Columns along each axis of a site.
const COLUMNS: usize = 64;
/// Width of its columns [m].
const CELL: f64 = 0.05;

/// A level site of columns around the origin, one meter deep, with `heights` above that.
fn site(angle: f64, heights: impl Fn(f64, f64) -> f64) -> Result<Terrain, ValidateError> {
    let (n, cell) = (COLUMNS, CELL);
    let sand = material_presets().iter().find(|p| p.name == "dry sand");
    let sand = &sand
        .ok_or_else(|| ValidateError::unusable("site", "there is no dry sand"))?
        .material;
    let middle = |k: usize| (k as f64 + 0.5 - 0.5 * n as f64) * cell;
    let height = |k: usize| heights(middle(k % n), middle(k / n)) as f32;
    let spec = TerrainSpec {
        material: 0,
        origin: [-0.5 * cell * n as f64; 2],
        cell,
        columns: [n, n],
        heights: (0..n * n).map(height).collect(),
        floor: -1.0,
        angle_of_repose: angle,
    };
    let grain = GrainSize {
        radius: 0.02,
        spread: 0.0,
        mass: 0.09,
    };
    Ok(Terrain::new(&spec, sand, grain))
}

/// Relaxes slopes until they are stable and surfaces have risen.
fn settle(soil: &mut Terrain) -> Result<(), ValidateError> {
    for _ in 0..100_000 {
        if soil.field().active_columns() == 0 {
            soil.cut(&[], 1000.0, ExistingGrains::default(), &mut Vec::new());
            return Ok(());
        }
        soil.relax();
    }
    Err(ValidateError::unusable(
        "site",
        "slopes do not come to rest",
    ))
}

/// Height of the surface [m].
fn height(soil: &Terrain, x: f64, z: f64) -> f64 {
    let height = soil.field().height(x as f32, z as f32);
    height.map_or(f64::NAN, f64::from)
}

/// Σ h dx² above the rock [m³].
fn volume(soil: &Terrain) -> f64 {
    let cell = f64::from(soil.field().layout().cell);
    let above = |h: &f32| f64::from(*h) - f64::from(soil.field().floor());
    soil.field().heights().iter().map(above).sum::<f64>() * cell * cell
}

/// Steepest slope between neighbors [degrees], with its component across them.
fn steepest(soil: &Terrain) -> f64 {
    let [nx, nz] = soil.field().layout().columns;
    let cell = f64::from(soil.field().layout().cell);
    let h = |i: usize, j: usize| f64::from(soil.field().heights()[j * nx + i]);
    let along = |i: usize, j: usize, x: bool| match x {
        true => (h((i + 1).min(nx - 1), j) - h(i.max(1) - 1, j)) / (2.0 * cell),
        false => (h(i, (j + 1).min(nz - 1)) - h(i, j.max(1) - 1)) / (2.0 * cell),
    };
    let mut worst = 0.0f64;
    for j in 0..nz - 1 {
        for i in 0..nx - 1 {
            for (di, dj) in [(1, 0), (0, 1)] {
                let drop = (h(i + di, j + dj) - h(i, j)) / cell;
                let x = dj == 1;
                let across = 0.5 * (along(i, j, x) + along(i + di, j + dj, x));
                if drop != 0.0 {
                    worst = larger(worst, drop.hypot(across));
                }
            }
        }
    }
    worst.atan().to_degrees()
}

// ---- O1 ----

fn mass(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    let mut soil = site(25.0, |x, z| 0.6 * (5.0 * x).sin() * (3.0 * z).cos())?;
    let (mass, before) = (soil.mass(), volume(&soil));
    settle(&mut soil)?;
    // Heights are rounded to f32, masses are not.
    let rounding = Band::between(-1e-7, 1e-7);
    let none = Band::between(0.0, 0.0);
    let mut checks = vec![
        Check::new("change of the mass", soil.mass() - mass, "kg", none),
        Check::new(
            "change of Σ h dx²",
            volume(&soil) / before - 1.0,
            "",
            rounding,
        ),
        Check::new(
            "mass over ρ Σ h dx², less 1",
            mass / (DENSITY * before) - 1.0,
            "",
            rounding,
        ),
    ];
    let top = Vec3::new(0.0, height(&soil, 0.0, 0.0) as f32, 0.0);
    let more = match soil.deposit(top, 0.02, 0.09) {
        true => soil.mass() / mass - 1.0,
        false => 0.0,
    };
    let what = "relative change of the mass with one more grain";
    checks.push(Check::control(what, more, "", Band::below(1e-12)));
    Ok(Outcome {
        physics: "Sliding moves soil from column to column.".into(),
        setup: "64 × 64 columns of 5 cm, ridges 1.2 m high that slide to 25°.".into(),
        reference: "Conservation of mass.".into(),
        checks,
        ..Outcome::default()
    })
}

// ---- O2 ----

fn slopes(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    let mut checks = vec![];
    for angle in [20.0f64, 34.0, 40.0] {
        let repose = angle.to_radians().tan();
        // A cliff, and a wedge with twice the stable slope.
        let steep = |x: f64, z: f64| match z > 0.0 {
            true => f64::from(u8::from(x < 0.0)) * 0.4,
            false => (2.0 * repose * (0.3 - x.abs())).max(0.0),
        };
        let mut soil = site(angle, steep)?;
        let before = steepest(&soil);
        settle(&mut soil)?;
        // Slopes begin to slide half a degree above the angle: that is the converged state.
        let limit = (angle + f64::from(SLOPE_TOLERANCE)).to_radians().tan();
        let band = Band::below((limit * 1.001).atan().to_degrees());
        let what = |what: &str| format!("{what}, angle of repose {angle}°");
        checks.push(Check::new(
            what("steepest slope"),
            steepest(&soil),
            "°",
            band,
        ));
        checks.push(Check::control(
            what("steepest slope before sliding"),
            before,
            "°",
            Band::below(angle + 5.0),
        ));
        let rested = soil.field().heights().to_vec();
        settle(&mut soil)?;
        let gentle = |x: f64, z: f64| (0.99 * repose) * (0.7 - x.hypot(z)).max(0.0);
        let mut cone = site(angle, gentle)?;
        let level = cone.field().heights().to_vec();
        cone.relax();
        let none = Band::between(0.0, 0.0);
        for (name, soil, heights) in [
            ("columns that move again after rest", &soil, &rested),
            ("columns of a gentler cone that move", &cone, &level),
        ] {
            let pairs = soil.field().heights().iter().zip(heights);
            let moved = pairs.filter(|(a, b)| a != b).count() + soil.field().active_columns();
            checks.push(Check::new(what(name), moved as f64, "", none));
        }
    }
    Ok(Outcome {
        physics: "Soil slides where its slope exceeds the angle of repose, and nowhere else.".into(),
        setup: "64 × 64 columns of 5 cm with a cliff and a steep wedge; a cone 1 % gentler than the angle of repose.".into(),
        reference: "The angle and the half degree above it at which sliding begins, within 0.1 % of the tangent.".into(),
        checks,
        ..Outcome::default()
    })
}

// ---- O3 ----

/// Angle of repose of the cone [degrees], its radius and its height [m] for 1 m³.
const REPOSE: f64 = 34.0;
const RADIUS: f64 = 1.1229;
const HEIGHT: f64 = 0.7574;

/// Radius of the foot and height of the cone whose flank runs through the heights between 20 and 80 % of its radius, in
/// a direction [rad].
fn cone_along(height: &dyn Fn(f64, f64) -> f64, direction: f64) -> [f64; 2] {
    let (sin, cos) = direction.sin_cos();
    let radii = (0..=60).map(|i| RADIUS * (0.2 + 0.01 * f64::from(i)));
    let points: Vec<[f64; 2]> = radii.map(|r| [r, height(r * cos, r * sin)]).collect();
    let flank = line(&points);
    [-flank.offset / flank.slope, flank.offset]
}

/// A heap around the origin, seen in sixteen directions.
struct Cone {
    /// Direction [degrees] and radius [m].
    radii: Vec<[f64; 2]>,
    /// Means [m].
    radius: f64,
    height: f64,
    /// Largest radius over the least, less 1.
    spread: f64,
}

impl Cone {
    fn of(height: &dyn Fn(f64, f64) -> f64) -> Self {
        let directions = (0..16).map(|k| f64::from(k) * std::f64::consts::TAU / 16.0);
        let all: Vec<[f64; 3]> = directions
            .map(|d| (d, cone_along(height, d)))
            .map(|(d, [r, h])| [d.to_degrees(), r, h])
            .collect();
        let mean = |k: usize| all.iter().map(|c| c[k]).sum::<f64>() / 16.0;
        let radii = || all.iter().map(|c| c[1]);
        Self {
            radii: all.iter().map(|c| [c[0], c[1]]).collect(),
            radius: mean(1),
            height: mean(2),
            spread: largest(radii()) / smallest(radii()) - 1.0,
        }
    }
}

/// A cubic meter of soil, in 250 portions on one point.
fn point_source_heap() -> Result<Terrain, ValidateError> {
    let mut soil = site(REPOSE, |_, _| 0.0)?;
    for _ in 0..250 {
        let top = Vec3::new(0.0, height(&soil, 0.0, 0.0) as f32, 0.0);
        if !soil.deposit(top, 0.02, DENSITY / 250.0) {
            return Err(ValidateError::unusable("heap", "soil was refused"));
        }
        // Most of a portion slides before the next falls, and surfaces have risen.
        for _ in 0..20 {
            soil.relax();
            if soil.field().active_columns() == 0 {
                break;
            }
        }
        soil.cut(&[], 1000.0, ExistingGrains::default(), &mut Vec::new());
    }
    settle(&mut soil)?;
    Ok(soil)
}

/// The same with slopes limited pair by pair between four neighbors.
fn pyramid() -> Cone {
    let (n, cell) = (COLUMNS, CELL);
    let most = REPOSE.to_radians().tan() * cell;
    let mut h = vec![0.0f64; n * n];
    for _ in 0..1000 {
        for k in [n / 2 - 1, n / 2] {
            h[k * n + n / 2 - 1] += 0.25e-3 / (cell * cell);
            h[k * n + n / 2] += 0.25e-3 / (cell * cell);
        }
        for _ in 0..12 {
            for k in 0..n * n {
                for next in [k + 1, k + n] {
                    if next >= n * n || (next == k + 1 && next % n == 0) {
                        continue;
                    }
                    let drop: f64 = h[k] - h[next];
                    let flow = 0.5 * (drop.abs() - most).max(0.0) * drop.signum();
                    h[k] -= flow;
                    h[next] += flow;
                }
            }
        }
    }
    let height = |x: f64, z: f64| {
        let t = |x: f64| x / cell + 0.5 * n as f64 - 0.5;
        let (i, j) = (t(x).floor() as usize, t(z).floor() as usize);
        let (u, v) = (t(x).fract(), t(z).fract());
        let at = |i: usize, j: usize| h[j * n + i];
        (1.0 - v) * ((1.0 - u) * at(i, j) + u * at(i + 1, j))
            + v * ((1.0 - u) * at(i, j + 1) + u * at(i + 1, j + 1))
    };
    Cone::of(&height)
}

fn point_source(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    let soil = point_source_heap()?;
    let cone = Cone::of(&|x, z| height(&soil, x, z));
    let pyramid = pyramid();
    let round = Band::below(0.08);
    Ok(Outcome {
        physics: "A point source builds a cone at the angle of repose: V = πR³ tan θ/3.".into(),
        setup: "1 m³ in 250 portions on 64 × 64 columns of 5 cm, 34°.".into(),
        reference: "R = 1.1229 m, h = 0.7574 m. Band: 3 %, and 8 % between directions.".into(),
        plots: vec![
            Plot::new(
                "Foot of the heap",
                Axis::new("direction [°]"),
                Axis::new("radius [m]"),
            )
            .with_level_band("± 3 %", 0.0, 340.0, 0.97 * RADIUS, 1.03 * RADIUS)
            .with(Style::Points, "columns", &cone.radii)
            .with(Style::Control, "control: four neighbors", &pyramid.radii),
        ],
        checks: vec![
            Check::new("mean radius", cone.radius, "m", Band::around(RADIUS, 0.03)),
            Check::new("height", cone.height, "m", Band::around(HEIGHT, 0.03)),
            Check::new(
                "largest over smallest radius, less 1",
                cone.spread,
                "",
                round,
            ),
            Check::control(
                "largest over smallest radius, less 1, sliding to four neighbors",
                pyramid.spread,
                "",
                round,
            ),
            Check::new(
                "largest over smallest radius, less 1, sliding to four neighbors, pyramid",
                pyramid.spread,
                "",
                Band::above(0.2),
            ),
        ],
        notes: vec![],
    })
}

// ---- O4, O5: through the solver ----

/// Columns along each axis of the scenes, and their width [m].
const SIDE: usize = 40;
const WIDTH: f64 = 0.1;

/// Data of a frame: mass of the columns and of the grains [kg], and the heights of the columns [m].
struct Soil {
    columns: f64,
    grains: f64,
    heights: Vec<f32>,
}

impl Soil {
    fn of(trial: &mut Trial<'_>) -> Result<Self, ValidateError> {
        let grains = grains(trial)?.iter().map(|g| g.mass).sum();
        let frame = trial.simulation.write_frame();
        let frame = frame.map_err(|error| trial.unusable(error.to_string()))?;
        let columns = frame.record.terrain.as_ref().map(|terrain| terrain.mass_kg);
        let heights = frame.array(TERRAIN_HEIGHT).and_then(|a| a.data.as_f32());
        match (columns, heights) {
            (Some(columns), Some(heights)) => Ok(Self {
                columns,
                grains,
                heights: heights.to_vec(),
            }),
            _ => Err(trial.unusable("the frame lacks the terrain")),
        }
    }

    /// Relative change of the total mass.
    fn gained(&self, before: &Self) -> f64 {
        (self.columns + self.grains) / (before.columns + before.grains) - 1.0
    }

    /// Volume of the columns above (1) or below (−1) the level at which they began [m³].
    fn beyond_level(&self, sign: f64) -> f64 {
        let part = |h: &f32| (sign * f64::from(*h)).max(0.0);
        self.heights.iter().map(part).sum::<f64>() * WIDTH * WIDTH
    }

    /// Steepest slope between neighbors along x or z [degrees].
    fn steepest(&self) -> f64 {
        let h = |i: usize, j: usize| f64::from(self.heights[j * SIDE + i]);
        let slopes = (0..SIDE - 1)
            .flat_map(|j| (0..SIDE - 1).map(move |i| (i, j)))
            .map(|(i, j)| {
                let (x, z) = (h(i + 1, j) - h(i, j), h(i, j + 1) - h(i, j));
                x.abs().max(z.abs()) / WIDTH
            });
        slopes.fold(0.0, larger).atan().to_degrees()
    }
}

/// Volume that a grain takes in the bulk [m³].
fn grain_volume() -> f64 {
    4.0 / 3.0 * std::f64::consts::PI * 0.04f64.powi(3) / 0.6
}

/// Rounding of masses.
const ROUNDING: f64 = 1e-10;

fn footprint(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let frames = 900;
    let mut trial = Trial::start(context, "foot", frames, scene!("footprint"))?;
    let before = Soil::of(&mut trial)?;
    let (mut steepest, mut gained) = (0.0f64, 0.0f64);
    for _ in 0..frames / 10 {
        trial.advance(10)?;
        let now = Soil::of(&mut trial)?;
        gained = larger(gained, now.gained(&before).abs());
        steepest = larger(steepest, now.steepest());
    }
    let after = Soil::of(&mut trial)?;
    let (rim, pit) = (after.beyond_level(1.0), after.beyond_level(-1.0));
    let loose = after.grains / DENSITY;
    let grain = grain_volume();
    // The slope along an axis is at most the slope in its steepest direction.
    let repose = Band::below(35.0 + f64::from(SLOPE_TOLERANCE) + 0.1);
    Ok(Outcome {
        physics: "The soil that a foot displaces forms a rim, which is stable.".into(),
        setup: "40 × 40 columns of 10 cm, angle of repose 35°, grains of 4 cm; a foot of 0.6 × 0.6 m is pressed 0.25 m deep and lifted; after 15 s.".into(),
        reference: "Conservation of volume to that of a grain (pit = rim + grains), and of mass.".into(),
        checks: vec![
            Check::new("largest relative change of the mass", gained, "", Band::below(ROUNDING)),
            Check::new("volume of the pit", pit / grain, "grains", Band::above(20.0)),
            Check::new("rim and loose grains less the pit", (rim + loose - pit) / grain, "grains", Band::between(-1.0, 1.0)),
            Check::new("steepest slope", after.steepest(), "°", repose),
            Check::control("steepest slope with the foot in place", steepest, "°", Band::below(40.0)),
        ],
        notes: vec![format!(
            "Pit {:.1} l, rim {:.1} l, {} grains with {:.1} l.",
            1e3 * pit,
            1e3 * rim,
            trial.simulation.particles(),
            1e3 * loose
        )],
        ..Outcome::default()
    })
}

fn exchange(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let mut trial = Trial::start(context, "blade", 1200, scene!("handover"))?;
    let before = Soil::of(&mut trial)?;
    let grain = grain_volume();
    let one_grain = Band::between(-1.0, 1.0);
    let (mut fewest, mut most, mut gained) = (trial.simulation.particles(), 0, 0.0f64);
    let mut checks = vec![];
    for second in 1..=20 {
        trial.advance(60)?;
        let now = Soil::of(&mut trial)?;
        gained = larger(gained, now.gained(&before).abs());
        match second {
            ..=8 => fewest = fewest.min(trial.simulation.particles()),
            _ => most = most.max(trial.simulation.particles()),
        }
        if second == 8 || second == 20 {
            // The volume above the level less the volume missing below it, plus the grains, is the poured volume.
            let volume = now.beyond_level(1.0) - now.beyond_level(-1.0) + now.grains / DENSITY;
            let error = (volume - before.grains / DENSITY) / grain;
            let what = format!("volume less poured volume, after {second} s");
            checks.push(Check::new(&what, error, "grains", one_grain));
            let what = format!("{what}, two grains lost");
            checks.push(Check::control(what, error - 2.0, "grains", one_grain));
        }
    }
    let last = trial.simulation.particles();
    let what = "largest relative change of the mass";
    checks.push(Check::new(what, gained, "", Band::below(ROUNDING)));
    let dug = most as f64 - fewest as f64;
    checks.push(Check::new(
        "grains dug by the blade",
        dug,
        "",
        Band::above(200.0),
    ));
    let what = "final over largest number of grains";
    checks.push(Check::new(
        what,
        last as f64 / most as f64,
        "",
        Band::below(0.5),
    ));
    Ok(Outcome {
        physics: "Grains at rest are deposited as columns, and columns that are cut become grains.".into(),
        setup: "40 × 40 columns of 10 cm, 0.3 m³ of grains of 4 cm poured on them, a blade after eight seconds; 20 s.".into(),
        reference: "Conservation of volume to that of a grain, and of mass.".into(),
        checks,
        notes: vec![format!("From {fewest} to {most} grains and back to {last}.")],
        ..Outcome::default()
    })
}
