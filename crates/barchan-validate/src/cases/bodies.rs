//! A4, D1: elastic bodies that spin and slide.

use crate::outcome::{Band, Check, Outcome};
use crate::plot::{Axis, Plot, Style};
use crate::trial::{G, Particle, Trial, mean_velocity};
use crate::{Case, Context, ValidateError};

/// A spinning disc.
pub const A4: Case = Case {
    name: "A4",
    title: "A spinning disc keeps its angular momentum",
    solvers: &["mpm"],
    seconds: 5.0,
    run: spinning_disc,
};

/// A block on an incline.
pub const D1: Case = Case {
    name: "D1",
    title: "A block or a grain on an incline: Coulomb friction",
    solvers: &["mpm", "pbd"],
    seconds: 1.0,
    run: coulomb_block,
};

// ---- A4 ----

const DISC_DX: f64 = 0.01;

/// A disc of 10 cells in radius that turns at 10 rad/s in empty space.
fn disc(transfer: &str) -> String {
    format!(
        r#"
dimensions = 2
frame_rate = 10
gravity = [0, 0]
[solver]
resolution = {DISC_DX}
[solver.mpm]
{transfer}
[materials.rubber]
law = "elastic"
density = 1000
young = 1e5
poisson = 0.3
[[fill]]
material = "rubber"
shape = {{ sphere = {{ center = [0, 0, 0], radius = {} }} }}
spin = [0, 0, 10]
"#,
        10.0 * DISC_DX
    )
}

/// Angular momentum about z of particles that weigh the same, per mass [m²/s]; `affine` adds what APIC stores.
fn spin(all: &[Particle], affine: bool) -> f64 {
    let own = if affine {
        0.25 * DISC_DX * DISC_DX
    } else {
        0.0
    };
    let of = |p: &Particle| p.x.x * p.v.y - p.x.y * p.v.x + own * p.spin;
    all.iter().map(of).sum::<f64>() / all.len() as f64
}

/// Revolutions and L/L₀ over ten revolutions, L₀ after the first frame.
fn spun(
    context: &Context<'_>,
    label: &str,
    transfer: &str,
    affine: bool,
) -> Result<Vec<[f64; 2]>, ValidateError> {
    let frames = 63;
    let mut trial = Trial::start(context, label, frames, &disc(transfer))?;
    let mut path: Vec<[f64; 2]> = vec![];
    for _ in 0..frames {
        trial.advance(1)?;
        let turns = trial.simulation.time() * 10.0 / std::f64::consts::TAU;
        path.push([turns, spin(&trial.particles()?, affine)]);
    }
    let first = path[0][1];
    Ok(path.into_iter().map(|[t, l]| [t, l / first]).collect())
}

fn spinning_disc(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let apic = spun(context, "APIC", "", true)?;
    let flip = spun(context, "FLIP", "transfer = \"flip\"\nflip = 1", false)?;
    let pic = spun(context, "PIC", "transfer = \"pic\"", false)?;
    let end = |path: &[[f64; 2]]| path[path.len() - 1][1];
    let band = Band::between(0.999, 1.001);
    Ok(Outcome {
        physics: "Nothing stops a disc that spins in empty space. Transfers between particles and grid do, unless they carry its \
                  rotation: APIC and FLIP do, PIC does not."
            .into(),
        setup: "2D elastic disc, radius 10 cells, 10 rad/s, ten revolutions, E = 0.1 MPa.".into(),
        reference: "Conservation of angular momentum by APIC [Jiang15].".into(),
        plots: vec![
            Plot::new(
                "Angular momentum",
                Axis::new("revolutions"),
                Axis::new("L/L₀").from_to(0.0, 1.1),
            )
            .with(Style::Reference, "conserved", &[[0.0, 1.0], [10.0, 1.0]])
            .with(Style::Curve, "APIC", &apic)
            .with(Style::Curve, "FLIP", &flip)
            .with(Style::ControlCurve, "control: PIC", &pic),
        ],
        checks: vec![
            Check::new("L/L₀ after ten revolutions, APIC", end(&apic), "", band),
            Check::control("L/L₀ after ten revolutions, PIC", end(&pic), "", band),
        ],
        notes: vec![format!("FLIP: {:.4}.", end(&flip))],
    })
}

// ---- D1 ----

/// A block of 8 × 4 cells; gravity leans so that the floor is an incline.
fn block(degrees: f64, friction: f64) -> String {
    let (sin, cos) = degrees.to_radians().sin_cos();
    format!(
        r#"
dimensions = 2
frame_rate = 50
gravity = [{}, {}]
[solver]
resolution = 0.025
[materials.block]
law = "elastic"
model = "fixed corotated"
density = 1000
young = 1e6
poisson = 0.3
[[fill]]
material = "block"
sampling = "lattice"
shape = {{ box = {{ min = [-0.1, 0], max = [0.1, 0.1] }} }}
[[collider]]
name = "plane"
shape = {{ half_space = {{ normal = [0, 1] }} }}
friction = {friction}
"#,
        G * sin,
        -G * cos
    )
}

/// What slides with a solver.
struct Slider {
    solver: &'static str,
    setup: &'static str,
    /// Acceleration [m/s²] at an inclination [degrees] and a friction coefficient.
    acceleration: fn(&Context<'_>, f64, f64) -> Result<f64, ValidateError>,
}

const SLIDERS: [Slider; 2] = [
    Slider {
        solver: "mpm",
        setup: "2D elastic block 8 × 4 cells on a plane, between 0.2 and 0.6 s.",
        acceleration: acceleration_of_block,
    },
    Slider {
        solver: "pbd",
        setup: "A grain, which does not turn, on a plane, between 0.5 and 1.5 s.",
        acceleration: super::pbd::acceleration,
    },
];

/// Acceleration [m/s²] between 0.2 and 0.6 s.
fn acceleration_of_block(
    context: &Context<'_>,
    degrees: f64,
    friction: f64,
) -> Result<f64, ValidateError> {
    let label = format!("{degrees}°, μ = {friction}");
    let mut trial = Trial::start(context, label, 30, &block(degrees, friction))?;
    trial.advance(10)?;
    let first = mean_velocity(&trial.particles()?).x;
    trial.advance(20)?;
    Ok((mean_velocity(&trial.particles()?).x - first) / 0.4)
}

/// g (sin θ − μ cos θ) [m/s²].
fn coulomb(degrees: f64, friction: f64) -> f64 {
    let (sin, cos) = degrees.to_radians().sin_cos();
    (G * (sin - friction * cos)).max(0.0)
}

fn coulomb_block(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let slider = SLIDERS.iter().find(|s| s.solver == context.solver);
    let slider = slider.unwrap_or(&SLIDERS[0]);
    let mut plot = Plot::new(
        "Acceleration of the block",
        Axis::new("slope θ [°]"),
        Axis::new("acceleration [m/s²]"),
    );
    let mut checks = vec![];
    for (friction, slopes) in [
        (0.2, [20.0, 30.0, 40.0]),
        (0.4, [26.0, 30.0, 40.0]),
        (0.5, [30.0, 35.0, 40.0]),
    ] {
        let curve: Vec<[f64; 2]> = (0..=90)
            .map(|i| 0.5 * f64::from(i))
            .map(|t| [t, coulomb(t, friction)])
            .collect();
        let mut points = vec![];
        for degrees in slopes {
            let measured = (slider.acceleration)(context, degrees, friction)?;
            points.push([degrees, measured]);
            let band = if [(30.0, 0.2), (30.0, 0.4), (40.0, 0.5)].contains(&(degrees, friction)) {
                Band::around(coulomb(degrees, friction), 0.02)
            } else {
                Band::between(
                    coulomb(degrees - 0.5, friction),
                    coulomb(degrees + 0.5, friction),
                )
            };
            let what = format!("acceleration at {degrees}°, μ = {friction}");
            checks.push(Check::new(what, measured, "m/s²", band));
        }
        plot = plot
            .with(
                Style::Reference,
                &format!("g (sin θ − μ cos θ), μ = {friction}"),
                &curve,
            )
            .with(
                Style::Points,
                &format!("{}, μ = {friction}", context.solver),
                &points,
            );
    }
    let smooth = (slider.acceleration)(context, 30.0, 0.0)?;
    plot = plot.with(Style::Control, "control: no friction", &[[30.0, smooth]]);
    let band = Band::around(coulomb(30.0, 0.2), 0.02);
    checks.push(Check::control(
        "acceleration at 30° without friction, against μ = 0.2",
        smooth,
        "m/s²",
        band,
    ));
    Ok(Outcome {
        physics: "What lies on an incline slides at g (sin θ − μ cos θ).".into(),
        setup: slider.setup.into(),
        reference: "Coulomb's law; band 2 % at (30°, 0.2), (30°, 0.4), (40°, 0.5), elsewhere what half a degree of slope makes.".into(),
        plots: vec![plot],
        checks,
        notes: vec![],
    })
}
