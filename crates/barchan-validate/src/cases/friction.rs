//! D1–D3: an elastic block on an incline and on a belt: Coulomb friction.
//!
//! The incline is the plane y = 0 under gravity that is tilted down toward +x.

use super::transfers::load;
use crate::outcome::{Band, Check, Outcome};
use crate::plot::{Axis, Plot, Style};
use crate::scene::{SceneFile, scene};
use crate::trial::{G, Trial, displacements, larger, mean_position, mean_velocity, tilted};
use crate::{Case, Context, Form, ValidateError};
use barchan_sim::collider::Colliders;
use barchan_sim::solvers::mpm::grid_update::collide;
use glam::{DVec3, Vec3};

/// A block on an incline.
pub const D1: Case = Case {
    name: "D1",
    title: "A block on an incline: Coulomb friction",
    solvers: &["mpm"],
    seconds: 8.0,
    run: incline,
};

/// Sticking.
pub const D2: Case = Case {
    name: "D2",
    title: "A block that sticks does not creep",
    solvers: &["mpm"],
    seconds: 5.0,
    run: sticking,
};

/// A belt.
pub const D3: Case = Case {
    name: "D3",
    title: "A belt carries a block along",
    solvers: &["mpm"],
    seconds: 3.0,
    run: belt,
};

const CELL: f64 = 0.025;

fn block(dimensions: u32, degrees: f64, friction: f64) -> SceneFile {
    scene!("block")
        .set("dimensions", i64::from(dimensions))
        .set("gravity", tilted(degrees))
        .set("collider.plane.friction", friction)
}

// ---- D1 ----

/// g (sin θ − μ cos θ) [m/s²].
fn coulomb(degrees: f64, friction: f64) -> f64 {
    let (sin, cos) = degrees.to_radians().sin_cos();
    (G * (sin - friction * cos)).max(0.0)
}

/// Acceleration [m/s²] between 0.2 and 0.6 s.
fn acceleration(
    context: &Context<'_>,
    dimensions: u32,
    degrees: f64,
    friction: f64,
) -> Result<f64, ValidateError> {
    let label = format!("{dimensions}D, {degrees}°, μ = {friction}");
    let mut trial = Trial::start(context, label, 30, block(dimensions, degrees, friction))?;
    trial.advance(10)?;
    let first = mean_velocity(&trial.particles()?).x;
    trial.advance(20)?;
    Ok((mean_velocity(&trial.particles()?).x - first) / 0.4)
}

/// The block placed gently, after one second: gravity is ramped up over 0.3 s and tilted over the next 0.5 s. A dropped block
/// would bounce, and slide while bouncing.
fn put_down<'a>(
    context: &'a Context<'a>,
    dimensions: u32,
    cell: f64,
    degrees: f64,
) -> Result<Trial<'a>, ValidateError> {
    let keys = [
        (0.0, vec![0.0; 3]),
        (0.3, tilted(0.0)),
        (0.8, tilted(degrees)),
    ];
    let keys = keys.map(|(time, value)| format!("{{ time = {time}, value = {value:?} }}"));
    let gravity = format!(
        "gravity={{ interpolation = \"smooth\", keyframes = [{}] }}",
        keys.join(", ")
    );
    let file = block(dimensions, degrees, 0.5)
        .set("solver.resolution", cell)
        .with(&[&gravity]);
    let label = format!("put down, {dimensions}D, {degrees}°");
    let mut trial = Trial::start(context, label, 50, file)?;
    trial.advance(50)?;
    Ok(trial)
}

/// The block near atan 0.5 = 26.6°: it rests below, and slides by a/2 = 0.051 m at 27.1°, from rest in a second.
fn threshold(context: &Context<'_>, dimensions: u32) -> Result<Vec<Check>, ValidateError> {
    let rests = Band::between(-0.01 * CELL, 0.01 * CELL);
    let mut checks = vec![];
    for degrees in [25.0, 26.0, 27.1] {
        let mut trial = put_down(context, dimensions, CELL, degrees)?;
        let first = mean_position(&trial.particles()?).x;
        trial.advance(50)?;
        let distance = mean_position(&trial.particles()?).x - first;
        let what = format!("displacement in a second at {degrees}°, μ = 0.5, {dimensions}D");
        if degrees < 26.5 {
            checks.push(Check::new(what, distance, "m", rests));
        } else {
            checks.push(Check::new(&what, distance, "m", Band::above(0.04)));
            checks.push(Check::control(what + " against rest", distance, "m", rests));
        }
    }
    Ok(checks)
}

const HOP: &str = "Once it has slid, the elastic block keeps bouncing about 0.6 cells above a separating plane and creeps on.";

/// Speed [m/s] four seconds after a push of 0.5 m/s at 25°, where g (μ cos θ − sin θ) = 0.30 m/s² stops it after 1.7 s.
fn pushed(context: &Context<'_>, boundary: &str) -> Result<f64, ValidateError> {
    let file = block(2, 25.0, 0.5)
        .set("fill.block.velocity", vec![0.5, 0.0, 0.0])
        .set("collider.plane.boundary", boundary);
    let mut trial = Trial::start(context, format!("pushed, {boundary}"), 200, file)?;
    trial.advance(200)?;
    Ok(mean_velocity(&trial.particles()?).x.abs())
}

/// Inclinations [degrees] and friction coefficients of the accelerations with the narrow band.
const REFERENCE_CASES: [(f64, f64); 3] = [(30.0, 0.2), (30.0, 0.4), (40.0, 0.5)];

fn incline(context: &Context<'_>) -> Result<Outcome, ValidateError> {
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
            let measured = acceleration(context, 2, degrees, friction)?;
            points.push([degrees, measured]);
            let band = if REFERENCE_CASES.contains(&(degrees, friction)) {
                Band::around(coulomb(degrees, friction), 0.02)
            } else {
                Band::between(
                    coulomb(degrees - 0.5, friction),
                    coulomb(degrees + 0.5, friction),
                )
            };
            let what = format!("acceleration at {degrees}°, μ = {friction}, 2D");
            checks.push(Check::new(what, measured, "m/s²", band));
        }
        plot = plot
            .with(
                Style::Reference,
                &format!("g (sin θ − μ cos θ), μ = {friction}"),
                &curve,
            )
            .with(Style::Points, &format!("mpm, μ = {friction}"), &points);
    }
    for (degrees, friction) in REFERENCE_CASES {
        let measured = acceleration(context, 3, degrees, friction)?;
        let what = format!("acceleration at {degrees}°, μ = {friction}, 3D");
        let band = Band::around(coulomb(degrees, friction), 0.02);
        checks.push(Check::new(what, measured, "m/s²", band));
    }
    let smooth = acceleration(context, 2, 30.0, 0.0)?;
    plot = plot.with(Style::Control, "control: no friction", &[[30.0, smooth]]);
    checks.push(Check::control(
        "acceleration at 30° without friction, against μ = 0.2",
        smooth,
        "m/s²",
        Band::around(coulomb(30.0, 0.2), 0.02),
    ));
    checks.extend(threshold(context, 2)?);
    if context.form == Form::Full {
        checks.extend(threshold(context, 3)?);
    }
    let pushed_on = pushed(context, "separating")?;
    let what = "speed four seconds after a push, 25°, μ = 0.5";
    let stops = Check::new(what, pushed_on, "m/s", Band::below(1e-3));
    checks.push(stops.limited(Band::between(1e-3, 0.1), HOP));
    let slipping = pushed(context, "slipping")?;
    Ok(Outcome {
        physics: "A block on an incline slides at g (sin θ − μ cos θ), or rests if tan θ ≤ μ.".into(),
        setup: "Elastic block 8 × 4 (× 8) cells on a plane; acceleration between 0.2 and 0.6 s. For the threshold it is placed gently."
            .into(),
        reference: "Coulomb's law; band 2 % at (30°, 0.2), (30°, 0.4), (40°, 0.5), elsewhere the effect of half a degree of slope.".into(),
        plots: vec![plot],
        checks,
        notes: vec![format!(
            "Four seconds after the push on a plane with boundary = \"slipping\": {slipping:.3} m/s."
        )],
    })
}

// ---- D2 ----

/// The plane, with a friction coefficient.
fn plane(friction: f64) -> Result<Colliders, ValidateError> {
    Ok(Colliders::new(&load(&block(3, 0.0, friction))?.colliders))
}

/// Motion of a node at the plane during a second at 30°.
struct Node {
    /// Displacement of its material [m].
    drift: f64,
    /// Its speed at the end [m/s].
    speed: f64,
}

/// A node with a velocity constrained by one plane, whose material is advected with the velocity constrained by another.
fn stuck(velocity: &Colliders, position: &Colliders, dt: f32) -> Node {
    let gravity = Vec3::new((G * 0.5) as f32, (-G * 0.75f64.sqrt()) as f32, 0.0);
    let (node, mut v, mut x) = (Vec3::new(0.0, -1e-3, 0.0), Vec3::ZERO, DVec3::ZERO);
    for _ in 0..(1.0 / f64::from(dt)).round() as usize {
        let forced = v + gravity * dt;
        v = forced + collide(&velocity.list[0], node, forced, dt);
        let moved = forced + collide(&position.list[0], node, forced, dt);
        x += moved.as_dvec3() * f64::from(dt);
    }
    Node {
        drift: x.x,
        speed: f64::from(v.length()),
    }
}

fn sticking(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let mut checks = vec![];
    // 4 × 2 × 4 cells in 3D: ten seconds are many steps.
    for (dimensions, cell) in [(2, CELL), (3, 2.0 * CELL)] {
        let mut trial = put_down(context, dimensions, cell, 25.0)?;
        let first = trial.particles()?;
        trial.advance(500)?;
        let farthest = displacements(&first, &trial.particles()?)[0] / cell;
        let what = format!("largest displacement of a particle in 10 s, {dimensions}D");
        checks.push(Check::new(what, farthest, "cells", Band::below(0.05)));
    }
    let (rough, smooth) = (plane(0.7)?, plane(0.0)?);
    for dt in [1e-3f32, 1e-4] {
        let ours = stuck(&rough, &rough, dt);
        let printed = stuck(&rough, &smooth, dt);
        let exact = G * 0.5 * f64::from(dt);
        let named = |what: &str| format!("{what}, Δt = {dt} s");
        checks.extend([
            Check::new(
                named("drift of a stuck node in 1 s"),
                ours.drift,
                "m",
                Band::between(-1e-9, 1e-9),
            ),
            Check::new(
                named("speed of a stuck node"),
                larger(ours.speed, printed.speed),
                "m/s",
                Band::below(1e-6),
            ),
            Check::new(
                named("drift with positions moved before friction, as printed, over g sin θ Δt"),
                printed.drift / exact,
                "",
                Band::around(1.0, 1e-3),
            ),
            Check::control(
                named("drift in 10 s with positions moved before friction, as printed"),
                10.0 * printed.drift / CELL,
                "cells",
                Band::below(0.05),
            ),
        ]);
    }
    Ok(Outcome {
        physics: "A block that sticks to an incline does not creep.".into(),
        setup: "The block of D1 at 25°, μ = 0.5, placed gently, for 10 s; a node inside the plane at 30°, μ = 0.7.".into(),
        reference: "No motion. [Klar16] moves particles with the velocity before friction, which creeps at g sin θ Δt.".into(),
        checks,
        ..Outcome::default()
    })
}

// ---- D3 ----

fn belt(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    const FRICTION: f64 = 0.3;
    let moving = block(3, 0.0, FRICTION).with(&["collider.plane.motion={ velocity = [1, 0, 0] }"]);
    let mut trial = Trial::start(context, "belt at 1 m/s", 40, moving)?;
    let catches_up = 1.0 / (FRICTION * G);
    let slip_way = 0.5 / (FRICTION * G);
    let mut checks = vec![Check::new(
        "1 m/s over μ g",
        catches_up,
        "s",
        Band::between(0.3397, 0.3399),
    )];
    let mut path = vec![[0.0, 0.0]];
    let near = Band::around(1.0, 0.03);
    for frame in 1..=40 {
        trial.advance(1)?;
        let (time, all) = (trial.simulation.time(), trial.particles()?);
        let v = mean_velocity(&all).x;
        path.push([time, v]);
        let named = |what: &str| format!("{what} after {time:.1} s");
        if [5, 10, 15].contains(&frame) {
            checks.push(Check::new(
                named("speed over μ g t"),
                v / (FRICTION * G * time),
                "",
                near,
            ));
        } else if [25, 40].contains(&frame) {
            let slip = time - mean_position(&all).x;
            checks.push(Check::new(
                named("speed over that of the belt"),
                v,
                "",
                near,
            ));
            checks.push(Check::new(
                named("slip over V²/2μg"),
                slip / slip_way,
                "",
                near,
            ));
        }
    }
    let mut still = Trial::start(context, "belt at rest", 15, block(3, 0.0, FRICTION))?;
    still.advance(15)?;
    let v = mean_velocity(&still.particles()?).x;
    let time = still.simulation.time();
    checks.extend([
        Check::control(
            "speed over μ g t on a belt at rest",
            v / (FRICTION * G * time),
            "",
            near,
        ),
        Check::new(
            "speed on a belt at rest",
            v,
            "m/s",
            Band::between(-1e-4, 1e-4),
        ),
    ]);
    Ok(Outcome {
        physics: "A belt accelerates a block by μ g until both have the same velocity: friction is relative to the moving body.".into(),
        setup: "3D, the block of D1 at rest on a belt at 1 m/s, μ = 0.3.".into(),
        reference: "v = μ g t until V/μg = 0.34 s; slip V²/2μg. The control: friction in the world frame is that of a belt at rest.".into(),
        plots: vec![
            Plot::new("Speed of the block", Axis::new("time t [s]"), Axis::new("speed [m/s]"))
                .with(Style::Reference, "theory", &[[0.0, 0.0], [catches_up, 1.0], [0.8, 1.0]])
                .with(Style::Points, "mpm", &path),
        ],
        checks,
        notes: vec![],
    })
}
