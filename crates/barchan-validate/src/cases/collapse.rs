//! E2, E3: a column in a channel collapses.

use crate::fit::{first_crossing, interpolate, power};
use crate::outcome::{Band, Check, Outcome};
use crate::plot::{Axis, Plot, Style};
use crate::scene::{SceneFile, scene};
use crate::trial::{G, Trial, quantile, smallest};
use crate::{Case, Context, Form, ValidateError};

/// Run-out and height of planar collapses.
pub const E2: Case = Case {
    name: "E2",
    title: "Collapse of a column in a channel",
    solvers: &["mpm", "sph"],
    seconds: 240.0,
    run: planar_collapse,
};

/// Time scale of a collapse.
pub const E3: Case = Case {
    name: "E3",
    title: "Time scale of a collapse in a channel",
    solvers: &["mpm"],
    seconds: 10.0,
    run: collapse_clock,
};

/// Width of the column [m].
const WIDTH: f64 = 0.1;

/// Settings that differ between solvers.
struct Setup {
    /// Resolution over the size of a cell of [`Column`].
    resolution: f64,
    /// Whether columns of other friction angles are compared, too.
    compares_angles: bool,
}

const SETUPS: &[(&str, Setup)] = &[
    (
        "mpm",
        Setup {
            resolution: 1.0,
            compares_angles: true,
        },
    ),
    (
        "sph",
        Setup {
            resolution: 0.5,
            compares_angles: false,
        },
    ),
];

/// A 2D column against a frictional wall.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Height over width.
    pub aspect: f64,
    /// Friction angle of the plane-strain cone [degrees].
    pub friction_angle: f64,
    /// Cells across the column.
    pub cells: f64,
    /// Length, gravity and density relative to the usual ones; Young's modulus follows ρ g L.
    pub scales: [f64; 3],
    /// Shift of everything relative to the grid [cells].
    pub shift: f64,
    /// More keys of the scene, as `path=value`.
    pub set: &'static [&'static str],
}

/// A column of aspect ratio 2 and 30°, 20 cells wide.
pub const COLUMN: Column = Column {
    aspect: 2.0,
    friction_angle: 30.0,
    cells: 20.0,
    scales: [1.0; 3],
    shift: 0.0,
    set: &[],
};

/// The column for a form; the quick form has half the resolution.
fn default_column(context: &Context<'_>) -> Column {
    Column {
        cells: context.pick(0.5, 1.0) * COLUMN.cells,
        ..COLUMN
    }
}

/// Frames per √(h/g).
const FRAMES_A_TAU: f64 = 15.0;
/// Simulated time [√(h/g)].
const TAUS: f64 = 6.5;

/// Result of a collapse: lengths over the width of the column, times over √(h/g).
pub struct Deposit {
    /// (d∞ − d_i)/d_i, d∞ the distance from the wall that holds 99 % of the mass.
    pub runout: f64,
    /// The same with d∞ the end of the deposit's connected half-filled cells.
    pub extent: f64,
    /// h∞/d_i.
    pub height: f64,
    /// Time at which the front has covered 99 % of its run-out.
    pub duration: f64,
    /// Slope of the deposit [degrees].
    pub slope: f64,
    /// Time and (d − d_i)/d_i.
    pub front: Vec<[f64; 2]>,
    /// Time and height of the surface.
    pub top: Vec<[f64; 2]>,
}

impl Column {
    fn width(&self) -> f64 {
        WIDTH * self.scales[0]
    }

    /// √(h/g) [s].
    fn tau(&self) -> f64 {
        (self.aspect * self.width() / (G * self.scales[1])).sqrt()
    }

    fn scene(&self, setup: &Setup) -> SceneFile {
        let [length, gravity, density] = self.scales;
        let width = self.width();
        let dx = width / self.cells;
        let left = self.shift * dx;
        let scene = scene!("column")
            .set("frame_rate", FRAMES_A_TAU / self.tau())
            .set("gravity", vec![0.0, -G * gravity])
            .set("solver.resolution", setup.resolution * dx)
            .set("materials.sand.density", 1600.0 * density)
            .set("materials.sand.young", 1e6 * length * gravity * density)
            .set("materials.sand.friction_angle", self.friction_angle)
            .set("fill.column.shape.box.min", vec![left, 0.0])
            .set(
                "fill.column.shape.box.max",
                vec![left + width, self.aspect * width],
            )
            .set("collider.wall.shape.half_space.point", vec![left, 0.0]);
        scene.with(self.set)
    }

    /// Runs the collapse.
    pub fn collapse(&self, context: &Context<'_>, label: &str) -> Result<Deposit, ValidateError> {
        let frames = (TAUS * FRAMES_A_TAU) as u32;
        let scene = self.scene(context.of_solver(SETUPS)?);
        let mut trial = Trial::start(context, label, frames, scene)?;
        let (width, left) = (self.width(), self.shift * self.width() / self.cells);
        let (mut front, mut top) = (vec![], vec![]);
        let (mut slope, mut extent) = (f64::NAN, f64::NAN);
        for frame in 1..=frames {
            trial.advance(1)?;
            let measured = trial.measure()?;
            let height = measured.height_m.unwrap_or(f64::NAN);
            let time = f64::from(frame) / FRAMES_A_TAU;
            let x = trial.positions()?.into_iter().map(|p| p.x);
            front.push([time, (quantile(x, 0.99) - left) / width - 1.0]);
            top.push([time, height / width]);
            slope = measured.slope_angle_deg.unwrap_or(f64::NAN);
            extent = measured
                .extent_x
                .map_or(f64::NAN, |x| (x[1] - left) / width - 1.0);
        }
        let runout = front[front.len() - 1][1];
        Ok(Deposit {
            runout,
            height: top[top.len() - 1][1],
            duration: first_crossing(&front, 0.99 * runout).unwrap_or(f64::NAN),
            slope,
            extent,
            front,
            top,
        })
    }
}

/// Run-out of experiments: beads spread farther than sand.
fn sand(a: f64) -> f64 {
    if a < 2.3 {
        1.2 * a
    } else {
        1.9 * a.powf(2.0 / 3.0)
    }
}

fn beads(a: f64) -> f64 {
    if a < 3.0 {
        1.8 * a
    } else {
        2.3 * a.powf(2.0 / 3.0)
    }
}

/// Range of the experiments, ± 10 %.
fn envelope(a: f64) -> Band {
    Band::between(0.9 * sand(a).min(beads(a)), 1.1 * sand(a).max(beads(a)))
}

/// Heights over width.
const ASPECTS: [f64; 7] = [0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 7.0];

const LOW_LIMIT: &str = "A column of a = 0.5 is only ten cells high here, and the numerical viscosity of the transfers, which scales \
    with the cell size, holds back layers of few cells: with half the dx it runs out farther (see the notes). So low columns run out \
    less than in proportion. With sph, ten particles high, the same happens; there the reason is our hypothesis.";
const HIGH_LIMIT: &str = "The run-out grows faster with the height than in experiments, though each column lies within their envelope. \
    Published continuum codes without rate-dependent friction also overshoot for high columns [Kumar15]; that this is the reason here \
    is our hypothesis.";

/// Exponents of the run-out in the aspect ratio, of low and of high columns.
fn exponents(runouts: &[[f64; 2]]) -> [Check; 2] {
    let (low, _) = power(&runouts[..3]);
    let (high, _) = power(&runouts[4..]);
    let linear = Band::between(0.85, 1.15);
    let two_thirds = Band::between(0.55, 0.79);
    [
        Check::new("exponent of a, a ≤ 1.5", low, "", linear)
            .limited(Band::between(1.15, 1.65), LOW_LIMIT),
        Check::new("exponent of a, a ≥ 3", high, "", two_thirds)
            .limited(Band::between(0.79, 0.95), HIGH_LIMIT),
    ]
}

/// h∞/d of experiments at a = 2, ± 10 %.
fn deposit_heights() -> Band {
    Band::between(0.9 * 0.83, 1.1 * 1.32)
}

/// More friction gives a shorter run-out and a higher deposit, at a = 2.
fn orders(
    context: &Context<'_>,
    runouts: &[[f64; 2]],
    heights: &[[f64; 2]],
) -> Result<[Check; 2], ValidateError> {
    let mut deposits = vec![[interpolate(runouts, 2.0), interpolate(heights, 2.0)]];
    for (at, friction_angle) in [(0, 20.0), (2, 40.0)] {
        let column = Column {
            friction_angle,
            ..default_column(context)
        };
        let deposit = column.collapse(context, &format!("φ = {friction_angle}°"))?;
        deposits.insert(at, [deposit.runout, deposit.height]);
    }
    let least =
        |i: usize, sign: f64| smallest(deposits.windows(2).map(|w| sign * (w[1][i] - w[0][i])));
    let what = |what: &str| format!("smallest {what} from φ = 20 to 30 to 40°");
    let more = Band::above(0.0);
    Ok([
        Check::new(what("decrease of the run-out"), least(0, -1.0), "", more),
        Check::new(what("increase of the height"), least(1, 1.0), "", more),
    ])
}

fn planar_collapse(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let aspects = context.pick(&[2.0][..], &ASPECTS);
    let default_column = default_column(context);
    let mut runouts = vec![];
    let mut heights = vec![];
    let mut checks = vec![];
    let mut notes = vec![];
    for &aspect in aspects {
        let column = Column {
            aspect,
            ..default_column
        };
        let deposit = column.collapse(context, &format!("a = {aspect}"))?;
        runouts.push([aspect, deposit.runout]);
        heights.push([aspect, deposit.height]);
        let what = format!("(d∞ − d)/d at a = {aspect}");
        let check = Check::new(what, deposit.runout, "", envelope(aspect));
        checks.push(if aspect < 1.0 {
            check.limited(Band::between(0.38, 0.54), LOW_LIMIT)
        } else {
            check
        });
        if aspect == 2.0 {
            checks.push(Check::new(
                "h∞/d at a = 2",
                deposit.height,
                "",
                deposit_heights(),
            ));
            checks.push(Check::new(
                "duration at a = 2",
                deposit.duration,
                "τ",
                Band::between(2.5, 4.0),
            ));
        } else {
            notes.push(format!(
                "a = {aspect}: h∞/d = {:.2}, duration {:.2} τ; the connected deposit ends at {:.2}.",
                deposit.height, deposit.duration, deposit.extent
            ));
        }
    }
    let mut fine = None;
    if context.form == Form::Full {
        checks.extend(exponents(&runouts));
        let column = Column {
            aspect: 0.5,
            cells: 40.0,
            ..COLUMN
        };
        let runout = column.collapse(context, "a = 0.5, 40 cells across")?.runout;
        notes.push(format!(
            "a = 0.5 with half the dx: run-out {runout:.2} instead of {:.2}.",
            runouts[0][1]
        ));
        fine = Some([0.5, runout]);
    }
    let rough = Column {
        friction_angle: 2f64.atan().to_degrees(),
        ..default_column
    };
    let rough = rough.collapse(context, "μ = 2")?;
    checks.push(Check::control(
        "(d∞ − d)/d at a = 2 with μ = 2",
        rough.runout,
        "",
        envelope(2.0),
    ));
    let slick = Column {
        friction_angle: 5.0,
        ..default_column
    };
    let slick = slick.collapse(context, "φ = 5°")?;
    checks.push(Check::control(
        "(d∞ − d)/d at a = 2 with φ = 5°",
        slick.runout,
        "",
        envelope(2.0),
    ));
    checks.push(Check::control(
        "h∞/d at a = 2 with φ = 5°",
        slick.height,
        "",
        deposit_heights(),
    ));
    if context.of_solver(SETUPS)?.compares_angles {
        checks.extend(orders(context, &runouts, &heights)?);
    }
    Ok(Outcome {
        physics: "The run-out of a column of sand released beside a wall is proportional to the height of low columns, and to its power \
                  2/3 for high ones."
            .into(),
        setup: "2D, column 0.1 m = 20 cells (sph: particles) wide, sticky floor, wall with μ = 0.4, φ = 30° with the plane-strain cone \
                (α = sin φ/√2; sph: ‖s‖ = √2 sin θ p), E = 1 MPa (mpm), 6.5 τ, τ = √(h/g). Run-out is the distance from the wall that \
                holds 99 % of the mass: the end of the connected deposit jumps by a tenth of that as thin toes connect and separate."
            .into(),
        reference: "Sand and other grains: 1.2 a below 1.8, 1.9 a^(2/3) above 2.8 [Lube05]; glass beads: 1.8 a below 3, \
                    2.3 a^(2/3) above [Lajeunesse05]. Band: both and 10 % on either side."
            .into(),
        plots: vec![runout_plot(context.solver, &runouts, fine.as_slice(), rough.runout), height_plot(context.solver, &heights, rough.height)],
        checks,
        notes,
    })
}

fn runout_plot(solver: &str, runouts: &[[f64; 2]], fine: &[[f64; 2]], rough: f64) -> Plot {
    let steps =
        |from: f64, to: f64| (0..=40).map(move |i| from * (to / from).powf(f64::from(i) / 40.0));
    let band: Vec<[f64; 3]> = steps(0.4, 8.5)
        .map(|a| {
            let band = envelope(a);
            [
                a,
                band.min.unwrap_or(f64::NAN),
                band.max.unwrap_or(f64::NAN),
            ]
        })
        .collect();
    let curve = |f: &dyn Fn(f64) -> f64, from, to| -> Vec<[f64; 2]> {
        steps(from, to).map(|a| [a, f(a)]).collect()
    };
    Plot::new(
        "Run-out against aspect ratio",
        Axis::log("aspect ratio a = h/d"),
        Axis::log("run-out (d∞ − d)/d"),
    )
    .with_band("experiments ± 10 %", &band)
    .with(
        Style::Reference,
        "sand [Lube05], low",
        &curve(&sand, 0.4, 1.8),
    )
    .with(
        Style::Reference,
        "sand [Lube05], high",
        &curve(&sand, 2.8, 8.5),
    )
    .with(
        Style::Dashed,
        "beads [Lajeunesse05]",
        &curve(&beads, 0.4, 8.5),
    )
    .with(Style::Points, &format!("{solver}, φ = 30°"), runouts)
    .with(
        Style::Points,
        &format!("{solver}, φ = 30°, d = 40 dx"),
        fine,
    )
    .with(Style::Control, "control: μ = 2", &[[2.0, rough]])
}

fn height_plot(solver: &str, heights: &[[f64; 2]], rough: f64) -> Plot {
    let steps = || (0..=40).map(|i| 0.4 * (8.5f64 / 0.4).powf(f64::from(i) / 40.0));
    let sand: Vec<[f64; 2]> = steps()
        .map(|a| [a, if a < 1.15 { a } else { a.powf(0.4) }])
        .collect();
    let beads: Vec<[f64; 2]> = steps()
        .map(|a| [a, if a < 0.7 { a } else { a.powf(1.0 / 3.0) }])
        .collect();
    Plot::new(
        "Height of the deposit",
        Axis::log("aspect ratio a = h/d"),
        Axis::log("height h∞/d"),
    )
    .with(Style::Reference, "sand [Lube05]", &sand)
    .with(Style::Dashed, "beads [Lajeunesse05]", &beads)
    .with(Style::Points, &format!("{solver}, φ = 30°"), heights)
    .with(Style::Control, "control: μ = 2", &[[2.0, rough]])
}

fn collapse_clock(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let column = default_column(context);
    let high = Column {
        aspect: 5.0,
        ..column
    };
    let default_column = column.collapse(context, "a = 2")?;
    let tall = high.collapse(context, "a = 5")?;
    let light = Column {
        scales: [1.0, 0.5, 1.0],
        ..column
    };
    let mut light = light.collapse(context, "a = 2, half the gravity")?;
    // In units of τ at full gravity.
    light.front.iter_mut().for_each(|p| p[0] *= 2f64.sqrt());
    let half_way = |d: &Deposit| first_crossing(&d.front, 0.5 * d.runout).unwrap_or(f64::NAN);
    let band = Band::around(1.75, 0.2);
    // Height of the top in units of the initial height.
    let fall: Vec<[f64; 2]> = tall
        .top
        .iter()
        .map(|p| [p[0], p[1] / high.aspect])
        .collect();
    let free: Vec<[f64; 2]> = (0..=16)
        .map(|i| 0.05 * f64::from(i))
        .map(|t| [t, 1.0 - 0.5 * t * t])
        .collect();
    let at = interpolate(&fall, 0.8);
    let part = |d: &Deposit| -> Vec<[f64; 2]> {
        d.front.iter().map(|p| [p[0], p[1] / d.runout]).collect()
    };
    Ok(Outcome {
        physics: "Collapses scale with the free-fall time: the front is halfway after 1.75 τ, and the top of a high column falls freely \
                  at first."
            .into(),
        setup: "Columns of E2 with a = 2 and a = 5; φ = 30°, plane-strain cone; τ = √(h/g).".into(),
        reference: "Halfway at 1.75 τ within 20 %, from the three phases that [Lube05] describes; z = h − g t²/2 until 0.8 τ.".into(),
        plots: vec![
            Plot::new("Front", Axis::new("time t/τ"), Axis::new("front over its final run-out"))
                .with_level_band("halfway at 1.75 τ ± 20 %", 1.4, 2.1, 0.0, 1.0)
                .with(Style::Curve, "mpm, a = 2", &part(&default_column))
                .with(Style::Curve, "mpm, a = 5", &part(&tall))
                .with(Style::ControlCurve, "control: half the gravity, the same τ", &part(&light)),
            Plot::new(
                "Top of the column, a = 5",
                Axis::new("time t/τ").from_to(0.0, 2.5),
                Axis::new("height z/h"),
            )
            .with(Style::Reference, "free fall", &free)
            .with(Style::Curve, "mpm", &fall),
        ],
        checks: vec![
            Check::new("time at which the front is halfway, a = 2", half_way(&default_column), "τ", band),
            Check::new("time at which the front is halfway, a = 5", half_way(&tall), "τ", band),
            Check::new("height of the top at 0.8 τ over that of free fall, a = 5", at / (1.0 - 0.32), "", Band::around(1.0, 0.2)),
            Check::control("time at which the front is halfway, half the gravity, same τ", half_way(&light), "τ", band),
        ],
        notes: vec![],
    })
}
