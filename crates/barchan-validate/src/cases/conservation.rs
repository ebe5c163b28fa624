//! P1, P2, P7, P8: counts, symmetry, energy and momentum.

use crate::outcome::{Band, Check, Outcome};
use crate::plot::{Axis, Plot, Style};
use crate::scene::{SceneFile, scene};
use crate::trial::{G, Particle, Trial, floats_mut, larger, largest, mean_position, smaller};
use crate::{Case, Context, ValidateError};
use barchan_frame::Checkpoint;
use barchan_sim::material::{hencky, lame};
use barchan_sim::math::Sym3;
use glam::{DMat3, DVec3};

/// Counts and masses.
pub const P1: Case = Case {
    name: "P1",
    title: "Particle number and mass are conserved",
    solvers: &["mpm"],
    seconds: 1.0,
    run: counts,
};

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

// ---- P1 ----

/// Mass of sand [kg].
fn mass(all: &[Particle]) -> f64 {
    all.iter().map(|p| p.volume * DENSITY).sum()
}

/// A column that collapses keeps its particles and their mass.
fn collapse_keeps_all(context: &Context<'_>, dimensions: u32) -> Result<Vec<Check>, ValidateError> {
    let mut trial = Trial::start(context, format!("{dimensions}D"), 10, column(dimensions))?;
    let first = trial.particles()?;
    trial.advance(10)?;
    let last = trial.particles()?;
    let named = |what: &str| format!("{what}, {dimensions}D");
    let ids = |all: &[Particle]| all.iter().map(|p| p.id).collect::<Vec<_>>();
    let zero = Band::between(0.0, 0.0);
    let expected = mass(&first) / column_mass(dimensions);
    let changed = f64::from(ids(&first) != ids(&last));
    Ok(vec![
        Check::new(
            named("mass over ρ V"),
            expected,
            "",
            Band::around(1.0, 1e-5),
        ),
        Check::new(
            named("change of the mass in 1 s"),
            mass(&last) - mass(&first),
            "kg",
            zero,
        ),
        Check::new(
            named("change of the particle identities in 1 s"),
            changed,
            "",
            zero,
        ),
    ])
}

/// Drains that each remove something, while the emitter is closed.
fn drained(context: &Context<'_>) -> Result<Vec<Check>, ValidateError> {
    let closed = scene!("fountain")
        .set("emitter.spout.start", 99.0)
        .set("emitter.spout.end", 100.0);
    let mut trial = Trial::start(context, "drains", 20, closed)?;
    let first = trial.particles()?;
    trial.advance(20)?;
    let last = trial.particles()?;
    let drained = trial.simulation.counters().drained.clone();
    let sum: u64 = drained.iter().sum();
    let frame = trial.simulation.write_frame();
    let frame = frame.map_err(|e| trial.unusable(e.to_string()))?;
    let recorded = frame
        .record
        .statistics
        .run
        .map_or(vec![], |run| run.drained);
    let count = |name: &str| {
        recorded
            .iter()
            .find(|d| d.name == name)
            .map(|d| d.particles)
    };
    let differ = count("right") != Some(drained[0]) || count("left") != Some(drained[1]);
    let kept = Band::between(0.0, 0.0);
    let missing = first.len() as f64 - last.len() as f64;
    let missing_mass = (mass(&first) - mass(&last)) / (first[0].volume * DENSITY);
    let beyond = |p: &&Particle| p.x.x >= 0.12 || p.x.x <= -0.15;
    let left = last.iter().filter(beyond).count() as f64;
    let permille = Band::between(-1e-3, 1e-3);
    Ok(vec![
        Check::new(
            "smallest count of a drain",
            drained[0].min(drained[1]) as f64,
            "",
            Band::above(1.0),
        ),
        Check::new(
            "missing particles less drained ones",
            missing - sum as f64,
            "",
            kept,
        ),
        Check::control("missing particles", missing, "", kept),
        Check::new(
            "missing mass less drained mass, in particles",
            missing_mass - sum as f64,
            "",
            permille,
        ),
        Check::new("particles left in the drains", left, "", kept),
        Check::new(
            "counts that differ from the record",
            f64::from(differ),
            "",
            kept,
        ),
    ])
}

/// 50 kg/s per meter for 2 s: 625 particles, with the scatter of a Poisson-disk pattern at both ends.
fn emitted(context: &Context<'_>) -> Result<Vec<Check>, ValidateError> {
    let no_drains = scene!("fountain")
        .set("drain.right.shape.box.min", vec![8.0, -1.0, -1.0])
        .set("drain.left.shape.box.max", vec![-8.0, 9.0, 9.0]);
    let mut trial = Trial::start(context, "emitter", 22, no_drains)?;
    let before = trial.simulation.particles();
    trial.advance(22)?;
    let all = trial.particles()?;
    let new = all.len() as f64 - before as f64;
    let difference = new - trial.simulation.counters().emitted[0] as f64;
    let mut ids: Vec<u32> = all.iter().map(|p| p.id).collect();
    ids.dedup();
    let doubled = (all.len() - ids.len()) as f64;
    let zero = Band::between(0.0, 0.0);
    let given = mass(&all) - column_mass(2);
    Ok(vec![
        Check::new("new particles less those emitted", difference, "", zero),
        Check::new("identities that occur twice", doubled, "", zero),
        Check::new(
            "mass from an emitter",
            given,
            "kg",
            Band::around(100.0, 0.03),
        ),
    ])
}

fn counts(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let mut checks = collapse_keeps_all(context, 2)?;
    checks.extend(collapse_keeps_all(context, 3)?);
    checks.extend(drained(context)?);
    checks.extend(emitted(context)?);
    Ok(Outcome {
        physics: "Particles keep their mass and identity until a drain removes them; emitters supply the specified mass.".into(),
        setup: "A column of 10 × 10 (3D: 6 × 6 × 6) cells that collapses for 1 s; between two drains for 2 s; beside an emitter of \
                50 kg/s that is open for 2 s."
            .into(),
        reference: "Counts and masses.".into(),
        checks,
        ..Outcome::default()
    })
}

// ---- P2 ----

const CELL: f64 = 0.05;

/// Sand falling obliquely past a ball, onto a floor.
fn askew(ball: DVec3, gravity: DVec3) -> SceneFile {
    scene!("askew")
        .set("gravity", gravity.to_array().to_vec())
        .set(
            "collider.ball.shape.sphere.center",
            ball.to_array().to_vec(),
        )
}

/// Largest out-of-plane component of positions, velocities and strains after a ball has struck sand.
fn across(context: &Context<'_>, dimensions: u32) -> Result<f64, ValidateError> {
    let file = scene!("strike")
        .set("dimensions", i64::from(dimensions))
        .set("fill.sand.shape.box.min", vec![0.0, 0.0, -0.15])
        .set("fill.sand.shape.box.max", vec![0.4, 0.3, 0.15])
        .set("fill.ball.shape.sphere.center", vec![-0.18, 0.17, 0.0])
        .set("fill.ball.velocity", vec![3.0, 0.5, 0.0]);
    let mut trial = Trial::start(context, format!("ball in {dimensions}D"), 8, file)?;
    trial.advance(8)?;
    let all = trial.particles()?;
    let of = |p: &Particle| [p.x.z, p.v.z, p.strain[2], p.strain[3], p.strain[4]];
    Ok(largest(all.iter().flat_map(of)))
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

/// Time [s] and largest distance [cells] between a particle of `path` and its counterpart in the mapped scene; NaN if a particle has
/// no counterpart.
fn differences(
    context: &Context<'_>,
    label: &str,
    start: &Checkpoint,
    path: &[Vec<Particle>],
    map: DMat3,
    file: SceneFile,
) -> Result<Vec<[f64; 2]>, ValidateError> {
    let mut trial = Trial::start(context, label, 12, file)?;
    trial.advance(2)?;
    trial.load(&mapped(start, map))?;
    let mut out = vec![];
    for original in path {
        trial.advance(1)?;
        let here = trial.particles()?;
        let distance = |(a, b): (&Particle, &Particle)| (map * a.x - b.x).length() / CELL;
        let paired = original.iter().map(|p| p.id).eq(here.iter().map(|p| p.id));
        let worst = match paired {
            true => original.iter().zip(&here).map(distance).fold(0.0, larger),
            false => f64::NAN,
        };
        out.push([trial.simulation.time(), worst]);
    }
    Ok(out)
}

fn symmetry(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let mirror = DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0));
    let quarter = DMat3::from_cols(DVec3::NEG_Z, DVec3::Y, DVec3::X);
    let (ball, gravity) = (DVec3::new(0.22, 0.1, 0.06), DVec3::new(2.0, -9.5, 0.7));
    let mut trial = Trial::start(context, "original", 12, askew(ball, gravity))?;
    trial.advance(2)?;
    let start = trial.save()?;
    let before = mean_position(&trial.particles()?);
    let mut path = vec![];
    for _ in 0..4 {
        trial.advance(1)?;
        path.push(trial.particles()?);
    }
    let moved = (mean_position(&path[path.len() - 1]) - before).length();
    let seen = |label, map: DMat3, ball: DVec3| {
        let file = askew(ball, map * gravity);
        differences(context, label, &start, &path, map, file)
    };
    let mirrored = seen("mirrored", mirror, mirror * ball)?;
    let turned = seen("turned by 90°", quarter, quarter * ball)?;
    let wrong = seen("mirrored except the ball", mirror, ball)?;
    let worst = |d: &[[f64; 2]]| d.iter().map(|p| p[1]).fold(0.0, larger);
    let band = Band::below(2e-3);
    let plane = Band::between(0.0, 0.0);
    let end = mirrored[mirrored.len() - 1][0];
    Ok(Outcome {
        physics: "The method is invariant under mirroring and quarter turns, and plane motion stays plane.".into(),
        setup: "3D, sand falls obliquely past a ball onto a floor, dx = 5 cm, φ = 30° (triaxial cone); the state after 0.04 s is \
                mirrored or turned by 90° together with the scene. The state is in f32: differences begin with its rounding and grow as \
                trajectories diverge. Plane motion: an elastic ball that strikes sand."
            .into(),
        reference: "The original scene.".into(),
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
            Check::control("largest difference, ball not mirrored", worst(&wrong), "cells", Band::below(0.02)),
            Check::new("displacement of the sand's center of mass", moved, "m", Band::above(0.01)),
            Check::new("largest out-of-plane component in 2D", across(context, 2)?, "", plane),
            Check::control("largest out-of-plane component in 3D", across(context, 3)?, "", plane),
        ],
        notes: vec![],
    })
}

// ---- P7, P8 ----

const DENSITY: f64 = 1600.0;
const YOUNG: f64 = 3e5;
const POISSON: f64 = 0.3;

/// Grid spacing [m].
fn cell(dimensions: u32) -> f64 {
    if dimensions == 3 { 1.0 / 30.0 } else { 0.02 }
}

/// A column of 10 × 10 or 6 × 6 × 6 cells that collapses on a floor.
fn column(dimensions: u32) -> SceneFile {
    scene!("heap")
        .set("dimensions", i64::from(dimensions))
        .set("solver.resolution", cell(dimensions))
}

/// Its mass [kg]; in 2D of a slab 1 m thick.
fn column_mass(dimensions: u32) -> f64 {
    DENSITY * 0.2f64.powi(dimensions as i32)
}

/// Kinetic (with the affine part), gravitational and elastic energy [J].
fn energies(all: &[Particle], dimensions: u32) -> [f64; 3] {
    let (lambda, mu) = lame(YOUNG, POISSON);
    let inertia = 0.25 * cell(dimensions).powi(2);
    let mut sums = [0.0; 3];
    for p in all {
        let m = p.volume * DENSITY;
        let strain = Sym3::from_array(p.strain);
        let values = match dimensions {
            3 => strain.eigen::<3>().values,
            _ => strain.eigen::<2>().values,
        };
        let strain = hencky::strain_from_eigenvalues(values);
        let affine: f64 = p.affine.to_cols_array().iter().map(|c| c * c).sum();
        sums[0] += m * 0.5 * (p.v.length_squared() + inertia * affine);
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
    /// Largest increase explained by the integrator [J].
    tolerance: f64,
}

fn energy_path(
    context: &Context<'_>,
    label: &str,
    dimensions: u32,
    more: &[&str],
) -> Result<EnergyPath, ValidateError> {
    let file = column(dimensions).set("frame_rate", 200).with(more);
    let mut trial = Trial::start(context, label, 200, file)?;
    let mut times = vec![0.0];
    let mut path = vec![energies(&trial.particles()?, dimensions)];
    for _ in 0..200 {
        trial.advance(1)?;
        times.push(trial.simulation.time());
        path.push(energies(&trial.particles()?, dimensions));
    }
    let step = trial.simulation.time() / trial.simulation.counters().substeps as f64;
    // Symplectic Euler conserves an energy that differs from this one by Δt/2 times the power of the forces, here at most
    // the weight falling at √(2 g H).
    let tolerance = 0.5 * step * column_mass(dimensions) * G * (2.0 * G * 0.2f64).sqrt();
    Ok(EnergyPath {
        times,
        energies: path,
        tolerance,
    })
}

impl EnergyPath {
    /// Largest increase above the lowest energy so far, over the tolerance.
    fn rise(&self) -> f64 {
        let (mut least, mut worst) = (f64::INFINITY, 0.0f64);
        for e in self.energies.iter().map(total) {
            least = smaller(least, e);
            worst = larger(worst, e - least);
        }
        worst / self.tolerance
    }

    /// Energy at the end over that at the start.
    fn left(&self) -> f64 {
        total(&self.energies[self.energies.len() - 1]) / total(&self.energies[0])
    }

    fn curve(&self, f: impl Fn(&[f64; 3]) -> f64) -> Vec<[f64; 2]> {
        let pairs = self.times.iter().zip(&self.energies);
        pairs.map(|(t, e)| [*t, f(e)]).collect()
    }
}

fn total(energies: &[f64; 3]) -> f64 {
    energies.iter().sum()
}

fn energy_never_grows(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let flat = energy_path(context, "2D", 2, &[])?;
    let deep = energy_path(context, "3D", 3, &[])?;
    let rising = ["collider.floor.motion={ velocity = [0, 0.2, 0] }"];
    let open = energy_path(context, "2D, the floor rises", 2, &rising)?;
    let (never, friction) = (Band::below(1.0), Band::below(0.9));
    Ok(Outcome {
        physics: "Friction only dissipates: the sum of kinetic, gravitational and elastic energy never grows."
            .into(),
        setup: "Columns of 10 × 10 and 6 × 6 × 6 cells that collapse on a floor, φ = 30°, for 1 s.".into(),
        reference: "Second law of thermodynamics. Tolerance: Δt/2 times the largest power of gravity, by which the energy that \
                    symplectic Euler conserves differs."
            .into(),
        plots: vec![
            Plot::new(
                "Energy of a collapse in 2D",
                Axis::new("time t [s]"),
                Axis::new("energy [J]"),
            )
            .with(Style::Curve, "total", &flat.curve(total))
            .with(Style::Curve, "kinetic", &flat.curve(|e| e[0]))
            .with(Style::Curve, "elastic", &flat.curve(|e| e[2]))
            .with(Style::ControlCurve, "control: total when the floor rises", &open.curve(total)),
        ],
        checks: vec![
            Check::new("largest rise of the energy over the tolerance, 2D", flat.rise(), "", never),
            Check::new("largest rise of the energy over the tolerance, 3D", deep.rise(), "", never),
            Check::new("final over initial energy, 2D", flat.left(), "", friction),
            Check::new("final over initial energy, 3D", deep.left(), "", friction),
            Check::control("largest rise of the energy over the tolerance, floor rising at 0.2 m/s", open.rise(), "", never),
        ],
        notes: vec![],
    })
}

/// Vertical balance of a column that collapses, forces over its weight.
struct Balance {
    /// Time [s] and rate of change of the momentum.
    rates: Vec<[f64; 2]>,
    /// Time [s] and weight and force of the floor together.
    forces: Vec<[f64; 2]>,
    /// Largest difference of the two.
    imbalance: f64,
    /// The same without the force of the floor.
    without: f64,
    /// Force on the floor of the settled heap, after 3 s: down, and the largest component across.
    settled: [f64; 2],
}

fn balance(context: &Context<'_>, dimensions: u32) -> Result<Balance, ValidateError> {
    const RATE: f64 = 50.0;
    let file = column(dimensions).set("frame_rate", RATE);
    let mut trial = Trial::start(context, format!("collapse in {dimensions}D"), 150, file)?;
    let weight = column_mass(dimensions) * G;
    let momentum = |all: &[Particle]| -> DVec3 {
        let momenta = all.iter().map(|p| p.v * p.volume * DENSITY);
        momenta.sum::<DVec3>() / weight
    };
    let floor = |trial: &mut Trial<'_>| -> Result<DVec3, ValidateError> {
        Ok(trial.forces()?.first().copied().unwrap_or(DVec3::NAN) / weight)
    };
    let mut before = momentum(&trial.particles()?);
    let mut found = Balance {
        rates: vec![],
        forces: vec![],
        imbalance: 0.0,
        without: 0.0,
        settled: [0.0; 2],
    };
    for _ in 0..40 {
        trial.advance(1)?;
        let now = momentum(&trial.particles()?);
        let rate = (now - before) * RATE;
        before = now;
        let force = DVec3::NEG_Y - floor(&mut trial)?;
        let time = trial.simulation.time() - 0.5 / RATE;
        found.rates.push([time, rate.y]);
        found.forces.push([time, force.y]);
        found.imbalance = largest([found.imbalance, (rate - force).length()]);
        found.without = largest([found.without, (rate - DVec3::NEG_Y).length()]);
    }
    trial.advance(104)?;
    // Means over the last tenth of a second.
    let mut mean = DVec3::ZERO;
    for frame in 0..6 {
        trial.advance(1)?;
        let force = floor(&mut trial)?;
        mean += if frame == 0 { DVec3::ZERO } else { force / 5.0 };
    }
    found.settled = [-mean.y, larger(mean.x.abs(), mean.z.abs())];
    Ok(found)
}

/// An elastic ball that strikes sand: lost momentum, and momentum transferred by the ball, relative to the initial momentum.
fn ball_impact(context: &Context<'_>) -> Result<[f64; 2], ValidateError> {
    let mut trial = Trial::start(context, "ball into sand", 10, scene!("strike"))?;
    let materials = trial.scene().materials.clone();
    let material = |p: &Particle| &materials[usize::from(p.material)];
    let momentum = |all: &[Particle], ball: bool| -> DVec3 {
        let own = all.iter().filter(|p| !ball || material(p).name == "ball");
        own.map(|p| p.v * p.volume * material(p).density).sum()
    };
    let first = trial.particles()?;
    trial.advance(10)?;
    let last = trial.particles()?;
    let before = momentum(&first, false).length();
    Ok(
        [false, true]
            .map(|ball| (momentum(&last, ball) - momentum(&first, ball)).length() / before),
    )
}

fn momentum_balance(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let (flat, deep) = (balance(context, 2)?, balance(context, 3)?);
    let [lost, given] = ball_impact(context)?;
    let (band, percent) = (Band::below(1e-4), Band::around(1.0, 0.01));
    // Each step rounds each of some ten thousand sums at 6e-8, mostly canceling.
    let rounding = Band::below(1e-5);
    let mut checks = vec![];
    for (of, dimensions) in [(&flat, "2D"), (&deep, "3D")] {
        let named = |what: &str| format!("{what}, {dimensions}");
        let fastest = largest(of.forces.iter().map(|f| f[1]));
        checks.extend([
            Check::new(
                named("largest imbalance over the weight"),
                of.imbalance,
                "",
                band,
            ),
            Check::control(
                named("largest imbalance over the weight without the force of the floor"),
                of.without,
                "",
                band,
            ),
            Check::new(
                named("largest rate of change over the weight"),
                fastest,
                "",
                Band::above(0.02),
            ),
            Check::new(
                named("force of the settled heap over its weight"),
                of.settled[0],
                "",
                percent,
            ),
            Check::new(
                named("horizontal force of the settled heap over its weight"),
                of.settled[1],
                "",
                Band::below(0.01),
            ),
        ]);
    }
    checks.extend([
        Check::new(
            "momentum lost when a ball strikes sand, over the initial momentum",
            lost,
            "",
            rounding,
        ),
        Check::new(
            "momentum transferred by the ball, over the initial momentum",
            given,
            "",
            Band::above(0.2),
        ),
        Check::control(
            "momentum transferred by the ball, against the tolerance of the loss",
            given,
            "",
            rounding,
        ),
    ]);
    Ok(Outcome {
        physics: "The momentum of the sand changes by its weight and the forces of the walls; opposite forces act on the bodies."
            .into(),
        setup: "Columns of 10 × 10 and 6 × 6 × 6 cells that collapse on a floor; means over 0.02 s, settled after 3 s. An elastic ball \
                that strikes sand in empty space."
            .into(),
        reference: "Newton's second and third law.".into(),
        plots: vec![
            Plot::new(
                "Vertical balance in 2D",
                Axis::new("time t [s]"),
                Axis::new("force over weight"),
            )
            .with(Style::Reference, "weight + force of the floor", &flat.forces)
            .with(Style::Points, "rate of change of the momentum", &flat.rates),
        ],
        checks,
        notes: vec![],
    })
}
