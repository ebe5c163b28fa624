//! J7, J8: many contacts of position-based grains at once.

use super::pbd::{RADIUS, grains, place};
use crate::outcome::{Band, Check, Outcome};
use crate::plot::{Axis, Plot, Style};
use crate::scene::{SceneFile, scene};
use crate::trial::{G, Trial, larger};
use crate::{Case, Context, ValidateError};
use glam::DVec3;

/// A stack of balls.
pub const J7: Case = Case {
    name: "J7",
    title: "A stack of ten balls: averaging and Gauss–Seidel",
    solvers: &["pbd"],
    seconds: 5.0,
    run: stack_of_balls,
};

/// A ball on two floors.
pub const J8: Case = Case {
    name: "J8",
    title: "A ball on two floors: the load error of averaging",
    solvers: &["pbd"],
    seconds: 1.0,
    run: two_floors,
};

/// Balls over a smooth floor.
fn balls(scheme: &str, passes: u32, reduction: f64, stiffness: f64) -> SceneFile {
    scene!("ball")
        .set("solver.pbd.scheme", scheme)
        .set("solver.pbd.iterations", passes)
        .set("solver.pbd.error_reduction", reduction)
        .set("materials.sand.pbd.stiffness", stiffness)
}

// ---- J7 ----

/// Ten balls that just touch, one above the other on the floor.
fn stack<'a>(
    context: &'a Context<'a>,
    label: String,
    scene: SceneFile,
) -> Result<Trial<'a>, ValidateError> {
    let mut trial = Trial::start(context, label, 600, scene)?;
    let height = |i: u32| RADIUS * (1.0 + 2.0 * f64::from(i));
    let places: Vec<DVec3> = (0..10).map(|i| DVec3::new(0.0, height(i), 0.0)).collect();
    place(&mut trial, &places)?;
    Ok(trial)
}

/// Settlement of a stack relative to rigid balls [radii], averaged over the last three of ten seconds: with few iterations of
/// averaging it hardly comes to rest.
fn settlement(
    context: &Context<'_>,
    scheme: &str,
    passes: u32,
    reduction: f64,
) -> Result<f64, ValidateError> {
    let label = format!("{scheme}, {passes} iterations, ε = {reduction}");
    let mut trial = stack(context, label, balls(scheme, passes, reduction, 1e6))?;
    trial.advance(420)?;
    let mut sum = 0.0;
    for _ in 0..180 {
        trial.advance(1)?;
        let heights = grains(&mut trial)?.into_iter().map(|g| g.x.y);
        sum += 19.0 - heights.fold(f64::MIN, larger) / RADIUS;
    }
    Ok(sum / 180.0)
}

/// Settlements [radii] by iterations: Gauss–Seidel, averaged, averaged with ε = 0.5.
type Depths = [Vec<[f64; 2]>; 3];

fn orders(context: &Context<'_>) -> Result<(Depths, Vec<Check>), ValidateError> {
    let mut depths: Depths = Default::default();
    let mut checks = vec![];
    let less = Band::between(0.0, 1.0);
    for passes in [10, 20, 40] {
        let seidel = settlement(context, "gauss-seidel", passes, 0.0)?;
        let plain = settlement(context, "averaged", passes, 0.0)?;
        let reduced = settlement(context, "averaged", passes, 0.5)?;
        for (curve, value) in depths.iter_mut().zip([seidel, plain, reduced]) {
            curve.push([f64::from(passes), value]);
        }
        let what = format!("settlement, averaged, {passes} iterations");
        checks.push(Check::new(what, plain, "radii", Band::above(0.0)));
        let what = format!("settlement, Gauss–Seidel over averaged, {passes} iterations");
        checks.push(Check::new(what, seidel / plain, "", less));
        let what = format!(
            "settlement, averaged with ε = 0.5 over averaged with ε = 0, {passes} iterations"
        );
        checks.push(Check::new(what, reduced / plain, "", less));
    }
    checks.push(Check::control(
        "settlement, Gauss–Seidel over averaged with ε = 0.5, 10 iterations",
        depths[0][0][1] / depths[2][0][1],
        "",
        less,
    ));
    Ok((depths, checks))
}

/// Each contact of the stack is compressed by the weight above it over the largest stiffness that substeps resolve, which is half as
/// large between balls (reduced mass m/2) as at the floor. `averaged` is the settlement with averaging [radii].
fn springs(context: &Context<'_>, averaged: f64) -> Result<[Check; 2], ValidateError> {
    let split = settlement(context, "mass splitting", 1, 0.0)?;
    let mut trial = stack(context, "mass".into(), balls("mass splitting", 1, 0.0, 1e6))?;
    let mass = grains(&mut trial)?.first().map_or(f64::NAN, |g| g.mass);
    let followed = |w: f64| (std::f64::consts::TAU / (20.0 / 600.0)).powi(2) / w;
    let pairs: f64 = (1..10).map(f64::from).sum();
    let exact = mass * G * (10.0 / followed(1.0 / mass) + pairs / followed(2.0 / mass)) / RADIUS;
    let of_the_scene = mass * G * 55.0 / 1e6 / RADIUS;
    Ok([
        Check::new(
            "settlement, mass splitting over springs that the substeps resolve",
            split / exact,
            "",
            Band::around(1.0, 0.01),
        ),
        Check::control(
            "settlement, averaged, 10 iterations, over springs of k = 1e6 N/m",
            averaged / of_the_scene,
            "",
            Band::below(10.0),
        ),
    ])
}

/// Momentum [kg m/s] beyond that of gravity that a step adds to two balls that overlap, whose axis leans by `lean` [rad]
/// from the vertical, and m λ/Δt.
fn gained(
    context: &Context<'_>,
    scheme: &str,
    reduction: f64,
    lean: f64,
) -> Result<(f64, f64), ValidateError> {
    let passes = if scheme == "mass splitting" { 1 } else { 10 };
    let scene = balls(scheme, passes, reduction, 1e5).set(
        "collider.floor.shape.half_space.point",
        vec![0.0, -10.0, 0.0],
    );
    let label = format!("{scheme}, ε = {reduction}, {lean} rad");
    let mut trial = Trial::start(context, label, 1, scene)?;
    let apart = 1.9 * RADIUS * DVec3::new(lean.sin(), lean.cos(), 0.0);
    place(&mut trial, &[DVec3::ZERO, apart])?;
    trial.advance(1)?;
    let [lower, upper] = grains(&mut trial)?[..] else {
        return Err(trial.unusable("a ball is gone"));
    };
    let fall = DVec3::new(0.0, -2.0 * G / 60.0, 0.0);
    let beyond = (lower.v + upper.v - fall).length();
    Ok((
        lower.mass * beyond,
        lower.mass * (upper.v - lower.v).length(),
    ))
}

fn momentum(context: &Context<'_>) -> Result<Vec<Check>, ValidateError> {
    let exactly = Band::around(1.0, 1e-3);
    let mut checks = vec![];
    for (reduction, lean) in [(0.5, 0.0), (0.25, 0.0), (0.5, 1.0)] {
        let (gain, push) = gained(context, "averaged", reduction, lean)?;
        let exact = push * reduction * lean.cos();
        let what = format!("momentum gained over m λ ε (−n·ĝ)/Δt, ε = {reduction}, {lean} rad");
        checks.push(Check::new(what, gain / exact, "", exactly));
    }
    for scheme in ["averaged", "gauss-seidel", "mass splitting"] {
        let (gain, push) = gained(context, scheme, 0.0, 0.0)?;
        let what = format!("momentum gained over m λ/Δt without ε, {scheme}");
        checks.push(Check::new(what, gain / push, "", Band::below(1e-4)));
        let what =
            format!("momentum gained with ε = 0 over m λ ε (−n·ĝ)/Δt with ε = 0.5, {scheme}");
        checks.push(Check::control(what, gain / (0.5 * push), "", exactly));
    }
    Ok(checks)
}

const HOPPING: &str = "Overlaps that remain after few iterations are resolved in the next step, and the balls keep that displacement as \
    velocity. The stack does not fall apart; see docs/validation.md.";

/// Speed of the fastest of ten stiff balls after ten seconds.
fn stiff_stack(context: &Context<'_>) -> Result<Check, ValidateError> {
    let label = "gauss-seidel, k = 1e7 N/m".to_owned();
    let mut trial = stack(context, label, balls("gauss-seidel", 10, 0.0, 1e7))?;
    trial.advance(600)?;
    let speeds = grains(&mut trial)?.into_iter().map(|g| g.v.length());
    let check = Check::new(
        "speed of a stack with k = 1e7 N/m, Gauss–Seidel, 10 iterations",
        speeds.fold(0.0, larger),
        "m/s",
        Band::below(0.1),
    );
    Ok(check.limited(Band::between(0.1, 1.5), HOPPING))
}

/// Height of the highest grain of a smooth 2D bed, 0.1 m deep, after a second: with springs just below the largest stiffness that
/// substeps resolve, the bed must not boil.
fn smooth_bed(context: &Context<'_>, stiffness: f64) -> Result<Check, ValidateError> {
    let scene = scene!("trough")
        .set("materials.sand.friction_angle", 0)
        .set("materials.sand.pbd.stiffness", stiffness)
        .set("fill.bed.shape.box.max", vec![0.4, 0.1])
        .set("collider.end.shape.half_space.point", vec![0.4, 0.0]);
    let mut trial = Trial::start(context, format!("bed, k = {stiffness:e} N/m"), 20, scene)?;
    trial.advance(20)?;
    let heights = grains(&mut trial)?.into_iter().map(|g| g.x.y);
    Ok(Check::new(
        format!("top of a smooth bed filled to 0.1 m, k = {stiffness:e} N/m"),
        heights.fold(0.0, larger),
        "m",
        Band::below(0.11),
    ))
}

fn stack_of_balls(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let (depths, mut checks) = orders(context)?;
    checks.extend(springs(context, depths[1][0][1])?);
    checks.extend(momentum(context)?);
    checks.push(stiff_stack(context)?);
    for &stiffness in context.pick(&[3e5][..], &[1e4, 3e4, 1e5, 2e5, 3e5, 1e7]) {
        checks.push(smooth_bed(context, stiffness)?);
    }
    Ok(Outcome {
        physics: "Sequential iterations (Gauss–Seidel) propagate load through a stack faster than averaged ones. Correcting the upper \
                  ball more and the lower one less (ε) compensates for that, and adds momentum m λ ε (−n·ĝ) per contact."
            .into(),
        setup: "Ten balls of 5 cm one above the other, k = 1e6 N/m, steps of 1/60 s; the mean of the last three of ten seconds. With \
                five iterations of Gauss–Seidel, or k = 1e7 N/m, the stack may keep hopping: see docs/validation.md. Momentum: two \
                balls that overlap by a tenth of a radius, one step. Bed: 2D, grains of 4 mm, steps of 1/480 s with 20 substeps."
            .into(),
        reference: "Order of the schemes in [Holz14], Fig. 5.".into(),
        plots: vec![
            Plot::new(
                "Settlement of the stack",
                Axis::log("iterations"),
                Axis::new("settlement [radii]"),
            )
            .with(Style::Curve, "Gauss–Seidel", &depths[0])
            .with(Style::Curve, "averaged", &depths[1])
            .with(Style::Curve, "averaged, ε = 0.5", &depths[2]),
        ],
        checks,
        notes: vec![
            "No scheme of the paper converges to the compression of its springs, however many iterations: the factors of Eq. 28 are \
             those of an isolated contact."
                .into(),
        ],
    })
}

// ---- J8 ----

/// Stiffness that substeps resolve [N/m].
const STIFFNESS: f64 = 1e4;

/// Penetration of a ball that rests on one or two floors in one place, over m g/k, and force on all floors over its weight.
fn rests_on(context: &Context<'_>, scheme: &str, floors: u32) -> Result<(f64, f64), ValidateError> {
    let mut scene = scene!("ball")
        .set("solver.pbd.scheme", scheme)
        .set("solver.pbd.error_reduction", 0)
        .set("materials.sand.pbd.stiffness", STIFFNESS);
    if floors == 2 {
        let point = "collider.second floor.shape.half_space.point";
        scene = scene.set(point, vec![0.0, 0.0, 0.0]);
    }
    let mut trial = Trial::start(context, format!("{scheme}, {floors} floors"), 600, scene)?;
    place(&mut trial, &[DVec3::new(0.0, RADIUS, 0.0)])?;
    trial.advance(600)?;
    let force: f64 = trial.forces()?.iter().map(|f| -f.y).sum();
    match grains(&mut trial)?.first() {
        Some(g) => {
            let weight = g.mass * G;
            Ok(((RADIUS - g.x.y) / (weight / STIFFNESS), force / weight))
        }
        None => Err(trial.unusable("the ball is gone")),
    }
}

fn two_floors(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let band = Band::around(1.0, 0.01);
    let mut checks = vec![];
    let mut depths = vec![];
    for scheme in ["mass splitting", "averaged", "gauss-seidel"] {
        let (depth, force) = rests_on(context, scheme, 2)?;
        let what = format!("force on both floors over the weight, {scheme}");
        checks.push(Check::new(what, force, "", Band::around(1.0, 1e-3)));
        let (alone, _) = rests_on(context, scheme, 1)?;
        let what = format!("penetration of one floor over m g/k, {scheme}");
        checks.push(Check::new(what, alone, "", band));
        depths.push(2.0 * depth);
    }
    let [split, averaged, seidel] = depths[..] else {
        return Err(ValidateError::unusable("J8", "a scheme is missing"));
    };
    let what = |scheme: &str| format!("penetration over m g/2k, {scheme}");
    checks.extend([
        Check::new(what("mass splitting"), split, "", band),
        Check::control(what("averaged"), averaged, "", band),
        Check::new(
            "penetration over m g/2k, averaged, against 2",
            averaged,
            "",
            Band::around(2.0, 0.01),
        ),
        Check::new(what("gauss-seidel"), seidel, "", Band::between(0.0, 1.0)),
    ]);
    Ok(Outcome {
        physics: "Two coincident floors share the weight of a ball: the penetration is half of that with one floor.".into(),
        setup: "A ball of 5 cm on two planes, k = 1e4 N/m, after ten seconds.".into(),
        reference: "m g/2k; [Holz14] §9 says that averaging weakens contacts, and proposes mass splitting.".into(),
        plots: vec![
            Plot::new(
                "Penetration over m g/2k",
                Axis::new("mass splitting, averaged, Gauss–Seidel"),
                Axis::new("ratio"),
            )
            .with_level_band("± 1 %", 0.5, 3.5, 0.99, 1.01)
            .with(Style::Points, "pbd", &[[1.0, split], [3.0, seidel]])
            .with(Style::Control, "control: averaged", &[[2.0, averaged]]),
        ],
        checks,
        notes: vec![
            "Gauss–Seidel: the factors of Eq. 28 are those of an isolated contact; two in sequence are more than twice as stiff.".into(),
        ],
    })
}
