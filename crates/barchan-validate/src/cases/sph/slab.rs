//! D1–D3: a slab, one particle high, on a plane.

use super::{Grain, grains, mass, momentum};
use crate::outcome::{Band, Check, Outcome};
use crate::plot::{Axis, Plot, Style};
use crate::scene::{SceneFile, scene};
use crate::trial::{G, Trial, larger};
use crate::{Case, Context, ValidateError};
use glam::DVec3;

/// A slab on an incline.
pub const D1: Case = Case {
    name: "D1",
    title: "A slab on an incline: Coulomb friction",
    solvers: &["sph"],
    seconds: 5.0,
    run: slides,
};

/// A slab that sticks.
pub const D2: Case = Case {
    name: "D2",
    title: "A slab on an incline sticks without creep",
    solvers: &["sph"],
    seconds: 2.0,
    run: sticks,
};

/// A slab on a belt.
pub const D3: Case = Case {
    name: "D3",
    title: "A belt carries a slab along",
    solvers: &["sph"],
    seconds: 1.0,
    run: rides,
};

const D0: f64 = 0.1;
const SETUP: &str =
    "3D slab of 10 × 1 × 10 particles of 5 cm with a cohesion of 300 Pa on a plane.";

/// The slab on a plane that falls by `degrees` toward +x.
fn incline(degrees: f64, friction: f64) -> SceneFile {
    let (sin, cos) = degrees.to_radians().sin_cos();
    scene!("slab")
        .set("gravity", vec![G * sin, -G * cos, 0.0])
        .set("collider.plane.friction", friction)
}

/// Velocity of the center of mass [m/s].
fn drift(all: &[Grain]) -> DVec3 {
    momentum(all) / mass(all)
}

/// Position of the center of mass [m].
fn center(all: &[Grain]) -> DVec3 {
    let of = |g: &Grain| f64::from(g.mass) * g.x.as_dvec3();
    all.iter().map(of).sum::<DVec3>() / mass(all)
}

// ---- D1 ----

/// Acceleration [m/s²] between 0.5 and 1.5 s.
fn acceleration(context: &Context<'_>, degrees: f64, friction: f64) -> Result<f64, ValidateError> {
    let label = format!("{degrees:.1}°, μ = {friction}");
    let mut trial = Trial::start(context, label, 30, incline(degrees, friction))?;
    trial.advance(10)?;
    let first = drift(&grains(&mut trial)?).x;
    trial.advance(20)?;
    Ok(drift(&grains(&mut trial)?).x - first)
}

/// Speed [m/s] after 3 s. The slab slides until it lies on the plane.
fn speed_at_rest(context: &Context<'_>, degrees: f64) -> Result<f64, ValidateError> {
    let label = format!("{degrees:.1}°, at rest");
    let mut trial = Trial::start(context, label, 60, incline(degrees, 0.5))?;
    trial.advance(60)?;
    Ok(drift(&grains(&mut trial)?).length())
}

/// g (sin θ − μ cos θ) [m/s²].
fn coulomb(degrees: f64, friction: f64) -> f64 {
    let (sin, cos) = degrees.to_radians().sin_cos();
    (G * (sin - friction * cos)).max(0.0)
}

fn slides(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let mut plot = Plot::new(
        "Acceleration of the slab",
        Axis::new("slope θ [°]"),
        Axis::new("acceleration [m/s²]"),
    );
    let mut checks = vec![];
    for (friction, exact, slopes) in [
        (0.2, 30.0, context.pick(&[30.0][..], &[20.0, 30.0, 40.0])),
        (0.4, 30.0, context.pick(&[30.0][..], &[26.0, 30.0, 40.0])),
        (0.5, 40.0, context.pick(&[40.0][..], &[30.0, 35.0, 40.0])),
    ] {
        let mut points = vec![];
        for &degrees in slopes {
            let measured = acceleration(context, degrees, friction)?;
            points.push([degrees, measured]);
            let half = |sign: f64| coulomb(degrees + 0.5 * sign, friction);
            let band = if degrees == exact {
                Band::around(coulomb(degrees, friction), 0.02)
            } else {
                Band::between(half(-1.0), half(1.0))
            };
            let what = format!("acceleration at {degrees}°, μ = {friction}");
            checks.push(Check::new(what, measured, "m/s²", band));
        }
        let curve: Vec<[f64; 2]> = (0..=90)
            .map(|i| 0.5 * f64::from(i))
            .map(|t| [t, coulomb(t, friction)])
            .collect();
        let theory = format!("g (sin θ − μ cos θ), μ = {friction}");
        plot = plot.with(Style::Reference, &theory, &curve).with(
            Style::Points,
            &format!("sph, μ = {friction}"),
            &points,
        );
    }
    let limit = 0.5f64.atan().to_degrees();
    for (what, degrees) in [
        ("speed at 25°, μ = 0.5", 25.0),
        ("speed half a degree below atan μ", limit - 0.5),
    ] {
        let speed = speed_at_rest(context, degrees)?;
        checks.push(Check::new(what, speed, "m/s", Band::below(1e-4)));
    }
    let above = acceleration(context, limit + 0.5, 0.5)?;
    let smooth = acceleration(context, 30.0, 0.0)?;
    checks.extend([
        Check::new(
            "acceleration half a degree above atan μ",
            above,
            "m/s²",
            Band::above(0.05),
        ),
        // Boundary particles are not quite a plane.
        Check::new(
            "acceleration at 30° without friction",
            smooth,
            "m/s²",
            Band::around(coulomb(30.0, 0.0), 0.02),
        ),
        Check::control(
            "acceleration at 30° without friction, against μ = 0.2",
            smooth,
            "m/s²",
            Band::around(coulomb(30.0, 0.2), 0.02),
        ),
    ]);
    Ok(Outcome {
        physics: "A body on an incline slides at g (sin θ − μ cos θ), or rests if tan θ < μ.".into(),
        setup: format!("{SETUP} Accelerations between 0.5 and 1.5 s, speeds at rest after 3 s."),
        reference: "Coulomb's law; band 2 % at (30°, 0.2), (30°, 0.4), (40°, 0.5), elsewhere the effect of half a degree of slope.".into(),
        plots: vec![plot.with(Style::Control, "control: no friction", &[[30.0, smooth]])],
        checks,
        notes: vec![],
    })
}

// ---- D2 ----

/// Time [s] and displacement of the center of mass [m], after two seconds to come to rest.
fn creep(context: &Context<'_>, degrees: f64) -> Result<Vec<[f64; 2]>, ValidateError> {
    let label = format!("{degrees}°, μ = 0.5");
    let mut trial = Trial::start(context, label, 240, incline(degrees, 0.5))?;
    trial.advance(40)?;
    let before = center(&grains(&mut trial)?);
    let mut path = vec![[0.0; 2]];
    for second in 1..=10 {
        trial.advance(20)?;
        let way = center(&grains(&mut trial)?).distance(before);
        path.push([f64::from(second), way]);
    }
    Ok(path)
}

fn sticks(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let stuck = creep(context, 25.0)?;
    let sliding = creep(context, 27.6)?;
    let end = |path: &[[f64; 2]]| path[path.len() - 1][1] / D0;
    Ok(Outcome {
        physics: "Below the friction angle a slab does not move.".into(),
        setup: format!("{SETUP} 25° with μ = 0.5, 10 s after 2 s to come to rest."),
        reference: "No displacement; a degree above atan 0.5 = 26.6° it slides.".into(),
        plots: vec![
            Plot::new(
                "Displacement of the slab",
                Axis::new("time t [s]"),
                Axis::new("displacement [m]"),
            )
            .with(Style::Curve, "25°", &stuck)
            .with(Style::ControlCurve, "control: 27.6°", &sliding),
        ],
        checks: vec![
            Check::new(
                "displacement in 10 s",
                end(&stuck),
                "spacings",
                Band::below(0.05),
            ),
            Check::control(
                "displacement in 10 s, a degree above atan μ",
                end(&sliding),
                "spacings",
                Band::below(1.0),
            ),
        ],
        notes: vec![],
    })
}

// ---- D3 ----

/// Speed of the belt [m/s], friction coefficient, and time at which the belt starts [s]; before, the slab is at rest.
const BELT: f64 = 1.0;
const MU: f64 = 0.3;
const START: f64 = 1.0;

/// Time since the belt starts [s], velocity [m/s] and displacement [m] of the slab.
fn ride(context: &Context<'_>, label: &str, moving: bool) -> Result<Vec<[f64; 3]>, ValidateError> {
    let speed = if moving { BELT } else { 0.0 };
    let motion = format!("collider.plane.motion={{velocity=[{speed},0,0],start={START}}}");
    let scene = scene!("slab")
        .set("collider.plane.friction", MU)
        .with(&[&motion]);
    let mut trial = Trial::start(context, label, 46, scene)?;
    trial.advance(20)?;
    let x0 = center(&grains(&mut trial)?).x;
    let mut path = vec![];
    for _ in 0..26 {
        trial.advance(1)?;
        let all = grains(&mut trial)?;
        let time = trial.simulation.time() - START;
        path.push([time, drift(&all).x, center(&all).x - x0]);
    }
    Ok(path)
}

fn rides(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let moved = ride(context, "belt", true)?;
    let still = ride(context, "belt at rest", false)?;
    let exact = |t: f64| (MU * G * t).min(BELT);
    let off = |path: &[[f64; 3]]| {
        let start = path[..6].iter().map(|[t, v, _]| (v - exact(*t)).abs());
        start.fold(0.0, larger)
    };
    let [time, speed, way] = moved[moved.len() - 1];
    let velocity =
        |path: &[[f64; 3]]| -> Vec<[f64; 2]> { path.iter().map(|[t, v, _]| [*t, *v]).collect() };
    let theory: Vec<[f64; 2]> = moved.iter().map(|p| [p[0], exact(p[0])]).collect();
    let resting = still[..6].iter().map(|p| p[1].abs()).fold(0.0, larger);
    let band = Band::below(0.03 * BELT);
    Ok(Outcome {
        physics:
            "Friction is relative to the body: a belt accelerates a slab by μ g until both have the same velocity."
                .into(),
        setup: format!("{SETUP} The belt starts at 1 m/s after 1 s; μ = 0.3."),
        reference: "v = μ g t; slip V²/(2 μ g) = 0.170 m; then v = V. Band 3 %.".into(),
        plots: vec![
            Plot::new(
                "Velocity of the slab",
                Axis::new("time t [s]"),
                Axis::new("velocity [m/s]"),
            )
            .with(Style::Reference, "μ g t", &theory)
            .with(Style::Points, "sph", &velocity(&moved))
            .with(
                Style::ControlCurve,
                "control: friction in the world frame",
                &velocity(&still),
            ),
        ],
        checks: vec![
            Check::new(
                "velocity less μ g t while it slips",
                off(&moved),
                "m/s",
                band,
            ),
            Check::new(
                "velocity at the end over that of the belt",
                speed / BELT,
                "",
                Band::around(1.0, 0.03),
            ),
            Check::new(
                "slip over V²/(2 μ g)",
                (BELT * time - way) / (BELT * BELT / (2.0 * MU * G)),
                "",
                Band::around(1.0, 0.03),
            ),
            Check::new("speed on a belt at rest", resting, "m/s", Band::below(1e-3)),
            Check::control(
                "velocity less μ g t, friction in the world frame",
                off(&still),
                "m/s",
                band,
            ),
        ],
        notes: vec![],
    })
}
