//! E9, P3, P4, P5, P9: metamorphic tests, changes that must or must not affect a collapse.

use super::collapse::{COLUMN, Column, Deposit};
use crate::outcome::{Band, Check, Outcome};
use crate::plot::{Axis, Plot, Style};
use crate::scene::scene;
use crate::trial::{Trial, floats_mut, larger, quantile, smallest};
use crate::{Case, Context, ValidateError};

/// Invariance under size, gravity and density.
pub const E9: Case = Case {
    name: "E9",
    title: "Size, gravity and density do not change a collapse",
    solvers: &["mpm"],
    seconds: 25.0,
    run: scale_invariance,
};

/// Invariance under a shift of the grid.
pub const P3: Case = Case {
    name: "P3",
    title: "A shift by part of a cell does not change the run-out",
    solvers: &["mpm"],
    seconds: 3.0,
    run: translation,
};

/// Independence of the time step.
pub const P4: Case = Case {
    name: "P4",
    title: "Half the time step does not change the run-out",
    solvers: &["mpm"],
    seconds: 12.0,
    run: time_step,
};

/// Convergence with resolution.
pub const P5: Case = Case {
    name: "P5",
    title: "Half the grid spacing hardly changes the run-out",
    solvers: &["mpm"],
    seconds: 15.0,
    run: resolution,
};

/// More friction, less run-out.
pub const P9: Case = Case {
    name: "P9",
    title: "More friction: shorter run-out, steeper deposit",
    solvers: &["mpm"],
    seconds: 12.0,
    run: friction_monotonicity,
};

/// Setting of the negative control of E9.
const COHESIVE: &[&str] = &["materials.sand.cohesion=100"];

const SETUP: &str =
    "Column of E2 with a = 2, 20 cells wide, φ = 30°, plane-strain cone (α = sin φ/√2).";

/// Change of the run-out against another [%].
fn change(of: f64, against: f64) -> f64 {
    100.0 * (of / against - 1.0)
}

fn front_plot(title: &str, curves: &[(Style, &str, &Deposit)]) -> Plot {
    let plot = Plot::new(
        title,
        Axis::new("time t/τ, τ = √(h/g)"),
        Axis::new("front (d − d_i)/d_i"),
    );
    curves.iter().fold(plot, |plot, (style, name, deposit)| {
        plot.with(*style, name, &deposit.front)
    })
}

fn scale_invariance(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let scaled = |scales, set| Column {
        scales,
        set,
        cells: context.pick(10.0, 20.0),
        ..COLUMN
    };
    let usual = scaled([1.0; 3], &[]).collapse(context, "usual")?;
    let large = scaled([10.0, 1.0, 1.0], &[]).collapse(context, "ten times the size")?;
    let light = scaled([1.0, 0.1, 1.0], &[]).collapse(context, "a tenth of the gravity")?;
    let dense = scaled([1.0, 1.0, 2.5], &[]).collapse(context, "2.5 times the density")?;
    let damp = scaled([1.0; 3], COHESIVE).collapse(context, "cohesive")?;
    let damp_large =
        scaled([10.0, 1.0, 1.0], COHESIVE).collapse(context, "cohesive, ten times the size")?;
    let band = Band::between(-3.0, 3.0);
    let mut checks = vec![];
    for (name, deposit) in [
        ("ten times the size", &large),
        ("a tenth of the gravity", &light),
        ("2.5 times the density", &dense),
    ] {
        let run_out = change(deposit.runout, usual.runout);
        let height = change(deposit.height, usual.height);
        checks.push(Check::new(
            format!("change of the run-out, {name}"),
            run_out,
            "%",
            band,
        ));
        checks.push(Check::new(
            format!("change of the height, {name}"),
            height,
            "%",
            band,
        ));
    }
    let control = change(damp_large.runout, damp.runout);
    checks.push(Check::control(
        "change of the run-out, ten times the size, cohesion of 100 Pa",
        control,
        "%",
        band,
    ));
    Ok(Outcome {
        physics: "Dry sand has no intrinsic length, time or stress: with lengths scaled by the column and times by √(h/g), collapses of \
                  any size, gravity and density coincide. Cohesion is a stress and breaks this similarity."
            .into(),
        setup: format!("{SETUP} E follows ρ g L."),
        reference: "Dimensional analysis.".into(),
        plots: vec![front_plot(
            "Front against time, scaled by the column",
            &[
                (Style::Reference, "usual size, gravity, density", &usual),
                (Style::Curve, "10 × the size", &large),
                (Style::Curve, "0.1 × the gravity", &light),
                (Style::Curve, "2.5 × the density", &dense),
                (Style::ControlCurve, "control: cohesion of 100 Pa", &damp),
                (Style::ControlCurve, "control: cohesion, 10 × the size", &damp_large),
            ],
        )],
        checks,
        notes: vec![],
    })
}

/// Width [m] that holds all but the outermost percent on either side of a column that collapses to both sides, after all its
/// particles were shifted by a number of cells.
fn spread(context: &Context<'_>, friction_angle: f64, cells: f64) -> Result<f64, ValidateError> {
    let label = format!("shift by {cells} cells, φ = {friction_angle}°");
    let cell = context.pick(0.02, 0.01);
    let file = scene!("free_column")
        .set("solver.resolution", cell)
        .set("materials.sand.friction_angle", friction_angle);
    let mut trial = Trial::start(context, label, 24, file)?;
    let mut state = trial.save()?;
    for p in floats_mut(&mut state, "position").chunks_mut(3) {
        p[0] += (cell * cells) as f32;
    }
    trial.load(&state)?;
    trial.advance(24)?;
    let all = trial.particles()?;
    let x = || all.iter().map(|p| p.x.x);
    Ok(quantile(x(), 0.99) - quantile(x(), 0.01))
}

/// Penetration of sand into a floor at the height `level` [m], in cells.
fn penetration(context: &Context<'_>, boundary: &str, level: f64) -> Result<f64, ValidateError> {
    let file = scene!("heap").set("collider.floor.boundary", boundary).set(
        "collider.floor.shape.half_space.point",
        vec![0.0, level, 0.0],
    );
    let label = format!("{boundary} floor at {level} m");
    let mut trial = Trial::start(context, label, 20, file)?;
    trial.advance(20)?;
    let lowest = trial.particles()?.into_iter().map(|p| p.x.y);
    Ok((level - smallest(lowest)) / 0.02)
}

/// A floor on the nodes of the grid acts like one just above them.
fn floors(context: &Context<'_>) -> Result<Vec<Check>, ValidateError> {
    let band = Band::between(-0.1, 0.1);
    let mut checks = vec![];
    for boundary in ["sticky", "slipping", "separating"] {
        let difference =
            penetration(context, boundary, 0.0)? - penetration(context, boundary, 1e-5)?;
        let what = format!(
            "penetration into a {boundary} floor, floor on the nodes less floor just above them"
        );
        checks.push(Check::new(&what, difference, "cells", band));
        if boundary == "separating" {
            let what = what + ", 0.3 cells lower";
            checks.push(Check::control(what, difference - 0.3, "cells", band));
        }
    }
    Ok(checks)
}

fn translation(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let at_rest = spread(context, 30.0, 0.0)?;
    let band = Band::between(-2.0, 2.0);
    let mut points = vec![[0.0, 0.0]];
    let mut checks = vec![];
    for &cells in context.pick(&[0.25, 0.37, 0.5][..], &[0.13, 0.25, 0.37, 0.5, 0.75]) {
        let moved = change(spread(context, 30.0, cells)?, at_rest);
        points.push([cells, moved]);
        checks.push(Check::new(
            format!("change of the run-out, shift by {cells} cells"),
            moved,
            "%",
            band,
        ));
    }
    let control = change(spread(context, 27.0, 0.0)?, at_rest);
    checks.push(Check::control(
        "change of the run-out with φ = 27°",
        control,
        "%",
        band,
    ));
    checks.extend(floors(context)?);
    Ok(Outcome {
        physics: "The result must not depend on the position of the grid.".into(),
        setup: "2D column 20 × 20 cells (quick: 10 × 10), φ = 30° (plane-strain cone), the same particles shifted by a fraction of a \
                cell. Heaps on floors on and just above nodes."
            .into(),
        reference: "The collapse without a shift.".into(),
        plots: vec![
            Plot::new("Change of the run-out", Axis::new("shift [cells]"), Axis::new("change [%]"))
                .with_level_band("± 2 %", -0.05, 0.8, -2.0, 2.0)
                .with(Style::Points, "mpm", &points)
                .with(Style::Control, "control: φ = 27°", &[[0.0, control]]),
        ],
        checks,
        notes: vec![],
    })
}

const HALF_STEP: &[&str] = &["solver.mpm.elastic_cfl=0.3", "solver.mpm.cfl=0.25"];
const FLIP: &[&str] = &["solver.mpm.transfer=flip", "solver.mpm.flip=1"];
const FLIP_HALF_STEP: &[&str] = &[
    "solver.mpm.transfer=flip",
    "solver.mpm.flip=1",
    "solver.mpm.elastic_cfl=0.3",
    "solver.mpm.cfl=0.25",
];

const STEP_LIMIT: &str = "Each transfer to the grid and back smooths velocities within a cell, so the numerical viscosity is that of \
    one smoothing per step and grows as steps shrink. With FLIP, which smooths less, the change is smaller (see the checks).";

fn time_step(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let with = |set| Column { set, ..COLUMN };
    let usual = COLUMN.collapse(context, "usual step")?;
    let half = with(HALF_STEP).collapse(context, "half the step")?;
    let flip = with(FLIP).collapse(context, "FLIP")?;
    let flip_half = with(FLIP_HALF_STEP).collapse(context, "FLIP, half the step")?;
    let smooth = Column {
        friction_angle: 27.0,
        ..COLUMN
    };
    let smooth = smooth.collapse(context, "φ = 27°")?;
    let band = Band::between(-2.0, 2.0);
    let apic = Check::new(
        "change of the run-out",
        change(half.runout, usual.runout),
        "%",
        band,
    );
    Ok(Outcome {
        physics: "Results must not depend on a stable time step.".into(),
        setup: format!("{SETUP} elastic_cfl = 0.6 and 0.3, cfl = 0.5 and 0.25."),
        reference: "The collapse with the usual step.".into(),
        plots: vec![front_plot(
            "Front against time",
            &[
                (Style::Reference, "APIC, usual step", &usual),
                (Style::Curve, "APIC, half the step", &half),
                (Style::Dashed, "FLIP, usual step", &flip),
                (Style::Curve, "FLIP, half the step", &flip_half),
                (Style::ControlCurve, "control: APIC, φ = 27°", &smooth),
            ],
        )],
        checks: vec![
            apic.limited(Band::between(-8.0, -2.0), STEP_LIMIT),
            Check::new(
                "change of the run-out with FLIP",
                change(flip_half.runout, flip.runout),
                "%",
                band,
            ),
            Check::control(
                "change of the run-out with φ = 27°",
                change(smooth.runout, usual.runout),
                "%",
                band,
            ),
        ],
        notes: vec![],
    })
}

fn resolution(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let mut points = vec![];
    for cells in [5.0, 10.0, 20.0, 40.0] {
        let column = Column { cells, ..COLUMN };
        let deposit = column.collapse(context, &format!("{cells} cells across"))?;
        points.push([cells, deposit.runout]);
    }
    let band = Band::between(-5.0, 5.0);
    let fine = change(points[3][1], points[2][1]);
    let coarse = change(points[0][1], points[2][1]);
    let reference = points[2][1];
    Ok(Outcome {
        physics: "A converged run-out does not depend on the resolution.".into(),
        setup:
            "Column of E2 with a = 2 and 5, 10, 20, 40 cells across; φ = 30°, plane-strain cone."
                .into(),
        reference: "The run-out at 20 cells.".into(),
        plots: vec![
            Plot::new(
                "Run-out against resolution",
                Axis::log("cells across the column"),
                Axis::new("run-out (d∞ − d)/d"),
            )
            .with_level_band(
                "20 cells ± 5 %",
                4.0,
                50.0,
                0.95 * reference,
                1.05 * reference,
            )
            .with(Style::Points, "mpm", &points[1..])
            .with(Style::Control, "control: 5 cells", &points[..1]),
        ],
        checks: vec![
            Check::new("change of the run-out from 20 to 40 cells", fine, "%", band),
            Check::control(
                "change of the run-out from 20 to 5 cells",
                coarse,
                "%",
                band,
            ),
        ],
        notes: vec![format!(
            "From 20 to 10 cells: {:.1} %.",
            change(points[1][1], points[2][1])
        )],
    })
}

/// Range over mean [%].
fn range(values: &[f64]) -> f64 {
    let low = smallest(values.iter().copied());
    let high = values.iter().copied().fold(f64::NEG_INFINITY, larger);
    100.0 * (high - low) * values.len() as f64 / values.iter().sum::<f64>()
}

/// Smallest relative increase [%] from each value to the next.
fn least_growth(values: &[f64]) -> f64 {
    smallest(values.windows(2).map(|w| change(w[1], w[0])))
}

fn friction_monotonicity(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let angles = context.pick(&[20.0, 30.0, 40.0][..], &[20.0, 25.0, 30.0, 35.0, 40.0]);
    let usual = Column {
        cells: context.pick(10.0, 20.0),
        ..COLUMN
    };
    let (mut runouts, mut slopes, mut heights) = (vec![], vec![], vec![]);
    for &friction_angle in angles {
        let column = Column {
            friction_angle,
            ..usual
        };
        let deposit = column.collapse(context, &format!("φ = {friction_angle}°"))?;
        runouts.push(deposit.runout);
        slopes.push(deposit.slope);
        heights.push(deposit.height);
    }
    let mut densities = vec![];
    for density in [0.5, 1.0, 2.0] {
        let column = Column {
            scales: [1.0, 1.0, density],
            ..usual
        };
        densities.push(
            column
                .collapse(context, &format!("density × {density}"))?
                .runout,
        );
    }
    let shorter: Vec<f64> = runouts.iter().map(|r| 1.0 / r).collect();
    // Over ten degrees.
    let apart = context.pick(1, 2);
    let pairs = slopes.iter().zip(&slopes[apart..]);
    let steeper = smallest(pairs.map(|(a, b)| b - a));
    let every_ten = |values: &[f64]| values.iter().copied().step_by(apart).collect::<Vec<f64>>();
    let against = |values: &[f64]| -> Vec<[f64; 2]> {
        angles.iter().zip(values).map(|(a, v)| [*a, *v]).collect()
    };
    Ok(Outcome {
        physics: "The more friction, the shorter the run-out and the steeper the deposit.".into(),
        setup: format!("{SETUP} φ from 20 to 40°; the quick form has 10 cells."),
        reference: "Order only.".into(),
        plots: vec![
            Plot::new(
                "Run-out",
                Axis::new("friction angle φ [°]"),
                Axis::new("run-out (d∞ − d)/d"),
            )
            .with(Style::Curve, "mpm", &against(&runouts))
            .with(
                Style::Control,
                "density × 0.5, 1, 2",
                &densities.iter().map(|r| [30.0, *r]).collect::<Vec<_>>(),
            ),
            Plot::new(
                "Slope of the deposit",
                Axis::new("friction angle φ [°]"),
                Axis::new("slope [°]"),
            )
            .with(Style::Curve, "mpm", &against(&slopes)),
        ],
        checks: vec![
            Check::new(
                "smallest decrease of the run-out from one angle to the next",
                least_growth(&shorter),
                "%",
                Band::above(2.0),
            ),
            Check::new(
                "smallest increase of the slope from one angle to the next",
                least_growth(&slopes),
                "%",
                Band::above(2.0),
            ),
            Check::new(
                "smallest increase of the slope per 10° of friction",
                steeper,
                "°",
                Band::above(3.0),
            ),
            Check::new(
                "smallest decrease of the run-out per 10° of friction",
                least_growth(&every_ten(&shorter)),
                "%",
                Band::above(5.0),
            ),
            Check::new(
                "smallest increase of the height per 10° of friction",
                least_growth(&every_ten(&heights)),
                "%",
                Band::above(5.0),
            ),
            Check::new(
                "range of the run-outs",
                range(&runouts),
                "%",
                Band::above(20.0),
            ),
            Check::control(
                "range of the run-outs when the density varies instead",
                range(&densities),
                "%",
                Band::above(20.0),
            ),
        ],
        notes: vec![],
    })
}
