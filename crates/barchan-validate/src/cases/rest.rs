//! D7: sand at rest stays at rest.

use crate::outcome::{Band, Check, Outcome};
use crate::scene::{SceneFile, scene};
use crate::trial::{Trial, displacements, tilted};
use crate::{Case, Context, Form, ValidateError};

/// Heaps and layers at rest.
pub const D7: Case = Case {
    name: "D7",
    title: "Heaps and layers at rest do not creep",
    solvers: &["mpm"],
    seconds: 30.0,
    run: at_rest,
};

/// Displacements [cells] within ten seconds, farthest first, of a trial with ten frames a second.
fn creep(trial: &mut Trial<'_>) -> Result<Vec<f64>, ValidateError> {
    let first = trial.particles()?;
    trial.advance(100)?;
    let mut all = displacements(&first, &trial.particles()?);
    let cell = trial.scene().solver.resolution;
    all.iter_mut().for_each(|d| *d /= cell);
    Ok(all)
}

/// A heap, from a column that collapses.
fn heap<'a>(
    context: &'a Context<'a>,
    label: &str,
    file: SceneFile,
    settled_at: u32,
) -> Result<Trial<'a>, ValidateError> {
    let mut trial = Trial::start(context, label, 10 * settled_at + 100, file)?;
    trial.advance(10 * settled_at)?;
    Ok(trial)
}

/// A layer 8 cells deep on an incline that repeats: gravity grows within 0.5 s and tilts within the next second.
fn layer(context: &Context<'_>, degrees: f64, frames: u32) -> Result<f64, ValidateError> {
    let gravity = format!(
        "gravity={{ interpolation = \"smooth\", keyframes = [{{ time = 0, value = [0, 0, 0] }}, \
         {{ time = 0.5, value = {:?} }}, {{ time = 1.5, value = {:?} }}] }}",
        tilted(0.0),
        tilted(degrees)
    );
    let file = scene!("layer")
        .set("dimensions", 2)
        .set("frame_rate", 10)
        .set("domain.periodic", vec!["x"])
        .set("materials.sand.young", 1e6)
        .set("materials.sand.friction_angle", 35.0)
        .set("fill.sand.shape.box.min", vec![0.0, 0.0, -1.0])
        .set("fill.sand.shape.box.max", vec![0.4, 0.4, 0.4])
        .set("collider.base.shape.half_space.point", vec![0.0; 3])
        .set("collider.base.boundary", "separating")
        .set("collider.base.friction", 0.6)
        .with(&[&gravity]);
    let mut trial = Trial::start(context, format!("layer at {degrees}°"), 30 + frames, file)?;
    trial.advance(30)?;
    let first = trial.particles()?;
    trial.advance(frames)?;
    let cell = trial.scene().solver.resolution;
    Ok(displacements(&first, &trial.particles()?)[0] / cell)
}

fn at_rest(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let still = Band::below(0.1);
    let mut flat = heap(context, "2D heap", scene!("heap"), 5)?;
    let early = creep(&mut flat)?;
    let toe = early.len() / 100;
    let mean = early.iter().sum::<f64>() / early.len() as f64;
    flat.advance(400 - 150)?;
    let late = creep(&mut flat)?;
    let viscous = scene!("heap").with(&["solver.mpm.transfer=pic"]);
    let viscous = creep(&mut heap(context, "2D heap, PIC", viscous, 5)?)?;
    let mut checks = vec![
        Check::new(
            "largest displacement of 99 % of a 2D heap, after 5 s",
            early[toe],
            "cells",
            still,
        ),
        Check::new(
            "mean displacement of a particle of a 2D heap, after 5 s",
            mean,
            "cells",
            Band::below(0.01),
        ),
        Check::control(
            "largest displacement of 99 % of a 2D heap, after 5 s, PIC",
            viscous[toe],
            "cells",
            still,
        ),
        Check::new(
            "largest displacement of a particle of a 2D heap, after 40 s",
            late[0],
            "cells",
            still,
        ),
    ];
    if context.form == Form::Full {
        let file = scene!("heap")
            .set("dimensions", 3)
            .set("solver.resolution", 1.0 / 30.0);
        let deep = creep(&mut heap(context, "3D heap", file, 60)?)?;
        checks.push(Check::new(
            "largest displacement of a particle of a 3D heap, after 60 s",
            deep[0],
            "cells",
            still,
        ));
    }
    for degrees in [20.0, 25.0] {
        let what = format!("largest displacement of a particle of a layer at {degrees}°");
        checks.push(Check::new(
            what,
            layer(context, degrees, 100)?,
            "cells",
            still,
        ));
    }
    let flows = layer(context, 35.0, 1)?;
    checks.push(Check::control(
        "largest displacement of a particle of a layer within 0.1 s at 35°",
        flows,
        "cells",
        still,
    ));
    Ok(Outcome {
        physics: "Sand at rest does not creep.".into(),
        setup: "Displacements within ten seconds. Heaps: a column of 10 × 10 (3D: 6 × 6 × 6) cells that collapsed, φ = 30°. Their toes, \
                thinner than a cell, creep as 1/t, which is why whole heaps are assessed later. Layers: 2D, 8 cells deep, φ = 35°, \
                floor with μ = 0.6."
            .into(),
        reference: "No motion. PIC is so viscous that a column has not come to rest after 5 s; sand flows above atan(sin 35°) = 29.8°, \
                    and the floor holds up to atan 0.6 = 31°."
            .into(),
        checks,
        ..Outcome::default()
    })
}
