//! Position-based grains, which do not rotate: their state, and D1, D2, D3 with one of them.

use crate::outcome::{Band, Check, Outcome};
use crate::plot::{Axis, Plot, Style};
use crate::scene::{SceneFile, scene};
use crate::trial::{G, Trial, floats};
use crate::{Case, Context, ValidateError};
use barchan_frame::{Checkpoint, Column, ColumnData, Unit};
use glam::DVec3;

/// A grain on an incline.
pub const D1: Case = Case {
    name: "D1",
    title: "A grain on an incline: Coulomb friction",
    solvers: &["pbd"],
    seconds: 1.0,
    run: incline,
};

/// A grain that sticks.
pub const D2: Case = Case {
    name: "D2",
    title: "A grain that sticks to an incline does not creep",
    solvers: &["pbd"],
    seconds: 1.0,
    run: creep,
};

/// A grain on a belt.
pub const D3: Case = Case {
    name: "D3",
    title: "A belt carries a grain along",
    solvers: &["pbd"],
    seconds: 1.0,
    run: belt,
};

/// The exact state of a grain.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grain {
    /// Position [m].
    pub x: DVec3,
    /// Velocity [m/s].
    pub v: DVec3,
    /// Radius [m].
    pub radius: f64,
    /// Mass [kg].
    pub mass: f64,
}

/// All grains of a run of `pbd`, or particles of `sph`.
pub(super) fn grains(trial: &mut Trial<'_>) -> Result<Vec<Grain>, ValidateError> {
    let state = trial.save()?;
    // Particles of sph all have the same radius.
    let usual = 0.5 * trial.scene().solver.resolution;
    let all = || {
        let three = |name: &str| Some(floats(&state, name)?.as_chunks::<3>().0);
        let (x, v) = (three("position")?, three("velocity")?);
        let (radius, mass) = (floats(&state, "radius"), floats(&state, "mass")?);
        let vector = |v: [f32; 3]| DVec3::from_array(v.map(f64::from));
        let grain = |i: usize| {
            Some(Grain {
                x: vector(*x.get(i)?),
                v: vector(*v.get(i)?),
                radius: radius.map_or(Some(usual), |r| r.get(i).map(|r| f64::from(*r)))?,
                mass: f64::from(*mass.get(i)?),
            })
        };
        (0..x.len()).map(grain).collect::<Option<Vec<Grain>>>()
    };
    all().ok_or_else(|| trial.unusable("the state lacks a column"))
}

/// Replaces all grains by copies of the first one at these positions, at rest.
pub(super) fn place(trial: &mut Trial<'_>, places: &[DVec3]) -> Result<(), ValidateError> {
    let Some(like) = grains(trial)?.first().copied() else {
        return Err(trial.unusable("there is no grain"));
    };
    let count = places.len();
    let column = |name: &str, components: usize, data: Vec<f32>| {
        Column::exact(name, Unit::One, "", components, ColumnData::F32(data))
    };
    let position = places.iter().flat_map(|p| p.as_vec3().to_array());
    let ids = ColumnData::U32((0..count as u32).collect());
    let materials = ColumnData::U8(vec![0; count]);
    let mut state = Checkpoint {
        columns: vec![
            column("position", 3, position.collect()),
            column("velocity", 3, vec![0.0; 3 * count]),
            column("radius", 1, vec![like.radius as f32; count]),
            column("mass", 1, vec![like.mass as f32; count]),
            Column::exact("id", Unit::One, "", 1, ids),
            Column::exact("material", Unit::One, "", 1, materials),
        ],
        ..trial.save()?
    };
    // Contacts of the replaced grains are dropped.
    state.remove_scalar("substep");
    trial.load(&state)
}

/// Radius of the grain of `ball.toml` [m].
pub(super) const RADIUS: f64 = 0.05;

const SCHEMES: [&str; 3] = ["mass splitting", "averaged", "gauss-seidel"];

/// The scene of one grain with a scheme, on a plane that is tilted by `degrees` down toward +x.
fn tilted(scheme: &str, degrees: f64, friction: f64) -> SceneFile {
    let (sin, cos) = degrees.to_radians().sin_cos();
    scene!("ball")
        .set("gravity", vec![G * sin, -G * cos, 0.0])
        .set("solver.pbd.scheme", scheme)
        .set("collider.floor.friction", friction)
}

/// A grain at rest on the floor.
fn on_floor<'a>(
    context: &'a Context<'a>,
    label: String,
    frames: u32,
    scene: SceneFile,
) -> Result<Trial<'a>, ValidateError> {
    let mut trial = Trial::start(context, label, frames, scene)?;
    place(&mut trial, &[DVec3::new(0.0, RADIUS, 0.0)])?;
    Ok(trial)
}

/// The only grain.
fn grain(trial: &mut Trial<'_>) -> Result<Grain, ValidateError> {
    let first = grains(trial)?.first().copied();
    first.ok_or_else(|| trial.unusable("the grain is gone"))
}

// ---- D1 ----

/// g (sin θ − μ cos θ) [m/s²].
fn coulomb(degrees: f64, friction: f64) -> f64 {
    let (sin, cos) = degrees.to_radians().sin_cos();
    (G * (sin - friction * cos)).max(0.0)
}

/// Acceleration [m/s²] between 0.5 and 1.5 s.
fn acceleration(
    context: &Context<'_>,
    scheme: &str,
    degrees: f64,
    friction: f64,
) -> Result<f64, ValidateError> {
    let label = format!("{scheme}, {degrees}°, μ = {friction}");
    let mut trial = on_floor(context, label, 90, tilted(scheme, degrees, friction))?;
    trial.advance(30)?;
    let before = grain(&mut trial)?.v.x;
    trial.advance(60)?;
    Ok(grain(&mut trial)?.v.x - before)
}

fn incline(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let mut plot = Plot::new(
        "Acceleration of a grain",
        Axis::new("slope θ [°]"),
        Axis::new("acceleration [m/s²]"),
    );
    let slopes = [
        (0.2, [20.0, 30.0, 40.0]),
        (0.4, [26.0, 30.0, 40.0]),
        (0.5, [30.0, 35.0, 40.0]),
    ];
    for (friction, _) in slopes {
        let curve = (0..=90).map(|i| 0.5 * f64::from(i));
        let curve: Vec<[f64; 2]> = curve.map(|t| [t, coulomb(t, friction)]).collect();
        let name = format!("g (sin θ − μ cos θ), μ = {friction}");
        plot = plot.with(Style::Reference, &name, &curve);
    }
    let mut checks = vec![];
    let near = |degrees, friction| Band::around(coulomb(degrees, friction), 0.02);
    for scheme in SCHEMES {
        let mut points = vec![];
        for (degrees, friction) in slopes.iter().flat_map(|(f, all)| all.map(|d| (d, *f))) {
            let measured = acceleration(context, scheme, degrees, friction)?;
            points.push([degrees, measured]);
            let what = format!("{scheme}: acceleration at {degrees}°, μ = {friction}");
            checks.push(Check::new(what, measured, "m/s²", near(degrees, friction)));
        }
        plot = plot.with(Style::Points, scheme, &points);
        let limit = 0.5f64.atan().to_degrees();
        let still = Band::between(-1e-5, 1e-5);
        for (what, degrees, band) in [
            ("at 25°", 25.0, still),
            ("half a degree below the threshold", limit - 0.5, still),
            (
                "half a degree above the threshold",
                limit + 0.5,
                Band::above(0.05),
            ),
        ] {
            let measured = acceleration(context, scheme, degrees, 0.5)?;
            let what = format!("{scheme}: acceleration {what}, μ = 0.5");
            checks.push(Check::new(what, measured, "m/s²", band));
        }
        let smooth = acceleration(context, scheme, 30.0, 0.0)?;
        let what = format!("{scheme}: acceleration at 30° without friction, against μ = 0.2");
        checks.push(Check::control(what, smooth, "m/s²", near(30.0, 0.2)));
    }
    Ok(Outcome {
        physics: "A body on an incline slides at g (sin θ − μ cos θ), or rests below atan μ."
            .into(),
        setup: "A grain, which does not rotate, on a plane; acceleration between 0.5 and 1.5 s, with each scheme."
            .into(),
        reference: "Coulomb's law within 2 %; the threshold within half a degree.".into(),
        plots: vec![plot],
        checks,
        notes: vec![],
    })
}

// ---- D2 ----

/// Displacement [m] in ten seconds, after a second to come to rest.
fn drift(context: &Context<'_>, scheme: &str, degrees: f64) -> Result<f64, ValidateError> {
    let label = format!("{scheme}, {degrees}°");
    let mut trial = on_floor(context, label, 660, tilted(scheme, degrees, 0.5))?;
    trial.advance(60)?;
    let before = grain(&mut trial)?.x;
    trial.advance(600)?;
    Ok(grain(&mut trial)?.x.distance(before))
}

fn creep(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let band = Band::below(0.05 * RADIUS);
    let mut checks = vec![];
    for scheme in SCHEMES {
        let sticks = drift(context, scheme, 25.0)?;
        let slides = drift(context, scheme, 27.6)?;
        let what = format!("{scheme}: distance in 10 s at 25°");
        checks.push(Check::new(what, sticks, "m", band));
        let what = format!("{scheme}: distance in 10 s at 27.6°");
        checks.push(Check::control(what, slides, "m", band));
    }
    Ok(Outcome {
        physics: "Static friction holds without creep.".into(),
        setup: "A grain on planes with μ = 0.5, which holds up to 26.6°, with each scheme.".into(),
        reference: "Less than a twentieth of the radius.".into(),
        checks,
        ..Outcome::default()
    })
}

// ---- D3 ----

/// Speed of the belt [m/s].
const BELT: f64 = 1.0;
/// Its friction.
const BELT_FRICTION: f64 = 0.3;

/// Time [s], position [m] and speed [m/s] of a grain after some frames, on a belt of that speed [m/s].
fn carried(
    context: &Context<'_>,
    scheme: &str,
    speed: f64,
    frames: &[u32],
) -> Result<Vec<[f64; 3]>, ValidateError> {
    // Velocities are those of the end of a step, which shortens the slip by V Δt/2: 5 % of it with steps of 1/60 s. The
    // ten substeps of mass splitting have a tenth of that.
    let rate = if scheme == "mass splitting" {
        60.0
    } else {
        240.0
    };
    let scene = tilted(scheme, 0.0, BELT_FRICTION)
        .set("solver.pbd.dt", 1.0 / rate)
        .set("collider.floor.motion.velocity", vec![speed, 0.0, 0.0]);
    let label = format!("{scheme}, belt of {speed} m/s");
    let mut trial = on_floor(context, label, 120, scene)?;
    let mut path = vec![];
    for frame in frames {
        trial.advance(frame - trial.simulation.frame())?;
        let grain = grain(&mut trial)?;
        path.push([trial.simulation.time(), grain.x.x, grain.v.x]);
    }
    Ok(path)
}

fn belt(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let near = Band::around(1.0, 0.03);
    // Until it is as fast as the belt, after V/μg = 0.34 s.
    let slip = BELT * BELT / (2.0 * BELT_FRICTION * G);
    let mut plot = Plot::new("Speed", Axis::new("time t [s]"), Axis::new("speed [m/s]")).with(
        Style::Reference,
        "μ g t",
        &[[0.0, 0.0], [BELT / (BELT_FRICTION * G), BELT], [2.0, BELT]],
    );
    let mut checks = vec![];
    for scheme in SCHEMES {
        let path = carried(context, scheme, BELT, &[5, 10, 15, 30, 120])?;
        let speeds: Vec<[f64; 2]> = path.iter().map(|[t, _, v]| [*t, *v]).collect();
        plot = plot.with(Style::Points, scheme, &speeds);
        for [t, x, v] in path {
            let now = format!("after {t:.2} s");
            if t < 0.3 {
                let what = format!("{scheme}: speed over μ g t {now}");
                checks.push(Check::new(what, v / (BELT_FRICTION * G * t), "", near));
            } else {
                let what = format!("{scheme}: speed over the belt's {now}");
                checks.push(Check::new(what, v / BELT, "", near));
                let what = format!("{scheme}: slip over V²/2μg {now}");
                checks.push(Check::new(what, (BELT * t - x) / slip, "", near));
            }
        }
        for [t, _, v] in carried(context, scheme, 0.0, &[15])? {
            let what = format!("{scheme}: speed on a belt at rest");
            checks.push(Check::new(what, v, "m/s", Band::between(-1e-5, 1e-5)));
            let what = format!("{scheme}: speed over μ g t on a belt at rest");
            checks.push(Check::control(what, v / (BELT_FRICTION * G * t), "", near));
        }
    }
    Ok(Outcome {
        physics: "A belt accelerates a grain by μ g until both have the same velocity; the grain slips by V²/2μg.".into(),
        setup: "A grain released on a belt of 1 m/s with μ = 0.3, with each scheme.".into(),
        reference: "Coulomb's law. Band: 3 %.".into(),
        plots: vec![plot],
        checks,
        notes: vec![],
    })
}
