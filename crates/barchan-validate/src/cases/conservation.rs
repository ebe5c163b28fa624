//! P2, P7, P8: symmetry, energy and momentum.

use crate::outcome::{Band, Check, Outcome};
use crate::plot::{Axis, Plot, Style};
use crate::trial::{G, Particle, Trial, floats_mut};
use crate::{Case, Context, ValidateError};
use barchan_frame::Checkpoint;
use barchan_sim::material::{hencky, lame};
use barchan_sim::math::Sym3;
use glam::{DMat3, DVec3};

/// Mirror and quarter turn.
pub const P2: Case = Case {
    name: "P2",
    title: "A mirrored or turned scene gives the mirrored or turned result",
    solvers: &["mpm"],
    seconds: 1.0,
    run: symmetry,
};

/// Energy.
pub const P7: Case = Case {
    name: "P7",
    title: "The energy of a closed system never grows",
    solvers: &["mpm"],
    seconds: 1.0,
    run: energy_never_grows,
};

/// Momentum.
pub const P8: Case = Case {
    name: "P8",
    title: "Momentum changes by weight and boundary force",
    solvers: &["mpm"],
    seconds: 1.0,
    run: momentum_balance,
};

// ---- P2 ----

const CELL: f64 = 0.05;

/// Sand falling askew past a ball, onto a floor.
fn askew(ball: DVec3, gravity: DVec3) -> String {
    format!(
        r#"
frame_rate = 50
gravity = [{}, {}, {}]
[solver]
resolution = {CELL}
[materials.sand]
density = 1600
young = 2e5
friction_angle = 30
[[fill]]
material = "sand"
shape = {{ box = {{ min = [-0.13, 0.02, -0.11], max = [0.17, 0.37, 0.15] }} }}
[[collider]]
name = "floor"
shape = {{ half_space = {{ normal = [0, 1, 0] }} }}
[[collider]]
name = "ball"
shape = {{ sphere = {{ center = [{}, {}, {}], radius = 0.1 }} }}
"#,
        gravity.x, gravity.y, gravity.z, ball.x, ball.y, ball.z
    )
}

/// The state with positions, velocities and tensors mapped.
fn mapped(state: &Checkpoint, map: DMat3) -> Checkpoint {
    let mut out = state.clone();
    for name in ["position", "velocity"] {
        for v in floats_mut(&mut out, name).as_chunks_mut::<3>().0 {
            *v = (map * DVec3::from_array(v.map(f64::from)))
                .to_array()
                .map(|c| c as f32);
        }
    }
    for c in floats_mut(&mut out, "affine").as_chunks_mut::<9>().0 {
        // Stored by rows.
        let m = DMat3::from_cols_array(&c.map(f64::from)).transpose();
        *c = (map * m * map.transpose())
            .transpose()
            .to_cols_array()
            .map(|c| c as f32);
    }
    for name in ["strain", "stress"] {
        for e in floats_mut(&mut out, name).as_chunks_mut::<6>().0 {
            let [xx, yy, zz, yz, xz, xy] = e.map(f64::from);
            let m = DMat3::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz]);
            let m = map * m * map.transpose();
            let c = |i: usize, j: usize| m.col(j)[i] as f32;
            *e = [c(0, 0), c(1, 1), c(2, 2), c(1, 2), c(0, 2), c(0, 1)];
        }
    }
    out
}

/// Time [s] and largest distance [cells] between a particle of `path` and its counterpart in the mapped scene.
fn differences(
    context: &Context<'_>,
    label: &str,
    start: &Checkpoint,
    path: &[Vec<Particle>],
    map: DMat3,
    text: &str,
) -> Result<Vec<[f64; 2]>, ValidateError> {
    let mut trial = Trial::start(context, label, 12, text)?;
    trial.advance(2)?;
    trial.load(&mapped(start, map))?;
    let mut out = vec![];
    for original in path {
        trial.advance(1)?;
        let here = trial.particles()?;
        let distance = |(a, b): (&Particle, &Particle)| (map * a.x - b.x).length() / CELL;
        let worst = original.iter().zip(&here).map(distance).fold(0.0, f64::max);
        out.push([trial.simulation.time(), worst]);
    }
    Ok(out)
}

fn symmetry(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let mirror = DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0));
    let quarter = DMat3::from_cols(DVec3::NEG_Z, DVec3::Y, DVec3::X);
    let (ball, gravity) = (DVec3::new(0.22, 0.1, 0.06), DVec3::new(2.0, -9.5, 0.7));
    let mut trial = Trial::start(context, "as it is", 12, &askew(ball, gravity))?;
    trial.advance(2)?;
    let start = trial.save()?;
    let mut path = vec![];
    for _ in 0..4 {
        trial.advance(1)?;
        path.push(trial.particles()?);
    }
    let seen = |label, map: DMat3, ball: DVec3| {
        let text = askew(ball, map * gravity);
        differences(context, label, &start, &path, map, &text)
    };
    let mirrored = seen("mirrored", mirror, mirror * ball)?;
    let turned = seen("turned by 90°", quarter, quarter * ball)?;
    let wrong = seen("mirrored, the ball is not", mirror, ball)?;
    let worst = |d: &[[f64; 2]]| d.iter().map(|p| p[1]).fold(0.0, f64::max);
    let band = Band::below(2e-3);
    let end = mirrored[mirrored.len() - 1][0];
    Ok(Outcome {
        physics: "Nothing in the method knows left from right, or x from z.".into(),
        setup: "3D, sand falls askew past a ball onto a floor, dx = 5 cm, φ = 30° (triaxial cone); the state after 0.04 s is \
                mirrored or turned by 90° together with the scene. State in f32: differences start at its rounding and grow as \
                grains diverge."
            .into(),
        reference: "The scene as it is.".into(),
        plots: vec![
            Plot::new(
                "Largest difference of a particle's position",
                Axis::new("time t [s]"),
                Axis::log("difference [cells]"),
            )
            .with_level_band("up to 0.002 cells", 0.05, end, 1e-8, 2e-3)
            .with(Style::Curve, "mirrored", &mirrored)
            .with(Style::Curve, "turned by 90°", &turned)
            .with(Style::Control, "control: the ball is not mirrored", &wrong),
        ],
        checks: vec![
            Check::new("largest difference, mirrored", worst(&mirrored), "cells", band),
            Check::new("largest difference, turned", worst(&turned), "cells", band),
            Check::control("largest difference, ball not mirrored", worst(&wrong), "cells", band),
        ],
        notes: vec![],
    })
}

// ---- P7, P8 ----

const DENSITY: f64 = 1600.0;
const YOUNG: f64 = 3e5;
const POISSON: f64 = 0.3;
const DX: f64 = 0.02;
/// Mass of a column [kg]; in 2D of a slab 1 m thick.
const MASS: f64 = DENSITY * 0.2 * 0.2;

/// A 2D column 10 × 10 cells that collapses on a floor.
fn column(frame_rate: f64, floor: &str) -> String {
    format!(
        r#"
dimensions = 2
frame_rate = {frame_rate}
[solver]
resolution = {DX}
[materials.sand]
density = {DENSITY}
young = {YOUNG}
poisson = {POISSON}
friction_angle = 30
[[fill]]
material = "sand"
shape = {{ box = {{ min = [-0.1, 0], max = [0.1, 0.2] }} }}
[[collider]]
name = "floor"
shape = {{ half_space = {{ normal = [0, 1] }} }}
friction = 0.6
{floor}
"#
    )
}

/// Kinetic (with the affine part), gravitational and elastic energy [J].
fn energies(all: &[Particle]) -> [f64; 3] {
    let (lambda, mu) = lame(YOUNG, POISSON);
    let mut sums = [0.0; 3];
    for p in all {
        let m = p.volume * DENSITY;
        let values = Sym3::from_array(p.strain).eigen::<2>().values;
        let strain = hencky::strain_from_eigenvalues(values);
        sums[0] += m * 0.5 * (p.v.length_squared() + 0.25 * DX * DX * p.affine_squared);
        sums[1] += m * G * p.x.y;
        sums[2] += p.volume * hencky::energy(strain, hencky::Lame { lambda, mu });
    }
    sums
}

/// Energies of a collapse.
struct EnergyPath {
    /// Times [s].
    times: Vec<f64>,
    /// Kinetic, gravitational and elastic energy [J] at each.
    energies: Vec<[f64; 3]>,
    /// Mean time step [s].
    step: f64,
}

fn energy_path(
    context: &Context<'_>,
    label: &str,
    floor: &str,
) -> Result<EnergyPath, ValidateError> {
    let mut trial = Trial::start(context, label, 200, &column(200.0, floor))?;
    let mut times = vec![0.0];
    let mut path = vec![energies(&trial.particles()?)];
    for _ in 0..200 {
        trial.advance(1)?;
        times.push(trial.simulation.time());
        path.push(energies(&trial.particles()?));
    }
    let step = trial.simulation.time() / trial.simulation.counters().substeps as f64;
    Ok(EnergyPath {
        times,
        energies: path,
        step,
    })
}

/// Largest rise above the least energy so far [J].
fn rise(path: &[[f64; 3]]) -> f64 {
    let (mut least, mut worst) = (f64::INFINITY, 0.0f64);
    for e in path.iter().map(|e| e.iter().sum::<f64>()) {
        least = least.min(e);
        worst = worst.max(e - least);
    }
    worst
}

fn energy_never_grows(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let EnergyPath {
        times,
        energies: path,
        step,
    } = energy_path(context, "closed", "")?;
    let pushed = "motion = { velocity = [0, 0.2, 0] }";
    let open = energy_path(context, "the floor rises", pushed)?.energies;
    // Symplectic Euler conserves an energy that differs from this one by Δt/2 times the power of the forces, here at most
    // the weight falling at √(2 g H).
    let tolerance = 0.5 * step * MASS * G * (2.0 * G * 0.2f64).sqrt();
    let first: f64 = path[0].iter().sum();
    let last: f64 = path[path.len() - 1].iter().sum();
    let curve = |f: &dyn Fn(&[f64; 3]) -> f64, path: &[[f64; 3]]| -> Vec<[f64; 2]> {
        times.iter().zip(path).map(|(t, e)| [*t, f(e)]).collect()
    };
    Ok(Outcome {
        physics: "Friction takes energy and nothing gives it back: kinetic, gravitational and elastic energy together never \
                  grow."
            .into(),
        setup: format!("2D column 10 × 10 cells that collapses on a floor, φ = 30° (plane-strain cone), mean step {step:.2e} s.")
            ,
        reference: "Second law. Tolerance: Δt/2 times the largest power of gravity, by which symplectic Euler's own energy \
                    differs."
            .into(),
        plots: vec![
            Plot::new(
                "Energy of a collapse",
                Axis::new("time t [s]"),
                Axis::new("energy [J]"),
            )
            .with(Style::Curve, "total", &curve(&|e| e.iter().sum(), &path))
            .with(Style::Curve, "kinetic", &curve(&|e| e[0], &path))
            .with(Style::Curve, "elastic", &curve(&|e| e[2], &path))
            .with(Style::ControlCurve, "control: total when the floor rises", &curve(&|e| e.iter().sum(), &open)),
        ],
        checks: vec![
            Check::new("largest rise of the energy", rise(&path), "J", Band::below(tolerance)),
            Check::new("energy at the end over that at the start", last / first, "", Band::below(0.9)),
            Check::control("largest rise when the floor rises at 0.2 m/s", rise(&open), "J", Band::below(tolerance)),
        ],
        notes: vec![],
    })
}

fn momentum_balance(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    const RATE: f64 = 50.0;
    let mut trial = Trial::start(context, "collapse", 40, &column(RATE, ""))?;
    let momentum =
        |all: &[Particle]| -> DVec3 { all.iter().map(|p| p.v * p.volume * DENSITY).sum() };
    let weight = DVec3::new(0.0, -MASS * G, 0.0);
    let mut before = momentum(&trial.particles()?);
    let (mut rates, mut forces) = (vec![], vec![]);
    let (mut worst, mut without) = (0.0f64, 0.0f64);
    for _ in 0..40 {
        trial.advance(1)?;
        let now = momentum(&trial.particles()?);
        let rate = (now - before) * RATE;
        before = now;
        let boundary = -trial.forces()?.first().copied().unwrap_or(DVec3::NAN);
        let time = trial.simulation.time() - 0.5 / RATE;
        rates.push([time, rate.y]);
        forces.push([time, (weight + boundary).y]);
        worst = worst.max((rate - weight - boundary).length() / weight.length());
        without = without.max((rate - weight).length() / weight.length());
    }
    let band = Band::below(1e-4);
    Ok(Outcome {
        physics: "What the momentum of the sand gains, weight and the forces of the walls give; the same forces, turned round, \
                  act on the bodies."
            .into(),
        setup: "2D column 10 × 10 cells that collapses on a floor; means over 0.02 s.".into(),
        reference: "Newton's second law.".into(),
        plots: vec![
            Plot::new(
                "Vertical balance",
                Axis::new("time t [s]"),
                Axis::new("force [N] a meter"),
            )
            .with(Style::Reference, "weight + force of the floor", &forces)
            .with(Style::Points, "rate of change of the momentum", &rates),
        ],
        checks: vec![
            Check::new("largest imbalance over the weight", worst, "", band),
            Check::control("the same without the force of the floor", without, "", band),
        ],
        notes: vec![],
    })
}
