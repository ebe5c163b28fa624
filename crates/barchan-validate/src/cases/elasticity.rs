//! B1–B6: free flight, rigid motion, Hencky's law, bars and columns.

use super::transfers::{APIC, FLIP, KERNELS, Keys, PIC, load};
use crate::fit::line;
use crate::outcome::{Band, Check, Outcome};
use crate::reference::mpm::{DenseMpm, Lattice};
use crate::reference::stepper::Stepper;
use crate::reference::{EPS32, Random, exact};
use crate::scene::{SceneFile, scene};
use crate::trial::{G, Particle, Trial, floats_mut, larger, largest, smaller, smallest};
use crate::{Case, Context, ValidateError};
use barchan_scene::{Dimensions, ElasticLaw, ElasticModel};
use barchan_sim::material::elastic::Elastic;
use barchan_sim::material::{lame, wave_speed};
use barchan_sim::math::{Level, Sym3};
use glam::{DMat3, DVec3, Vec3};
use std::f64::consts::PI;

/// Free flight.
pub const B1: Case = Case {
    name: "B1",
    title: "Free flight",
    solvers: &["mpm"],
    seconds: 0.1,
    run: free_flight,
};

/// Rigid motion.
pub const B2: Case = Case {
    name: "B2",
    title: "Rotations cause no stress, and a moving scene does the same",
    solvers: &["mpm"],
    seconds: 0.2,
    run: rigid_motion,
};

/// Uniaxial stress.
pub const B3: Case = Case {
    name: "B3",
    title: "Uniaxial stress of Hencky's law",
    solvers: &["mpm"],
    seconds: 2.0,
    run: uniaxial_stress,
};

/// Stress and energy.
pub const B4: Case = Case {
    name: "B4",
    title: "Stress is the derivative of the energy",
    solvers: &["mpm"],
    seconds: 0.1,
    run: energy_derivative,
};

/// First mode of a bar.
pub const B5: Case = Case {
    name: "B5",
    title: "Frequency of a bar, fixed at one end",
    solvers: &["mpm"],
    seconds: 1.0,
    run: bar_frequency,
};

/// A column under its own weight.
pub const B6: Case = Case {
    name: "B6",
    title: "An elastic column under its own weight",
    solvers: &["mpm"],
    seconds: 5.0,
    run: self_weight,
};

const YOUNG: f64 = 3.537e5;
const POISSON: f64 = 0.3;
const DENSITY: f64 = 2200.0;
const MODELS: [ElasticModel; 3] = [
    ElasticModel::Hencky,
    ElasticModel::NeoHookean,
    ElasticModel::FixedCorotated,
];

fn solid(model: ElasticModel) -> Elastic {
    let law = ElasticLaw {
        young: YOUNG,
        poisson: POISSON,
        model,
    };
    Elastic::new(&law, Dimensions::Three)
}

/// F Fᵀ − I.
fn strain_of(f: DMat3) -> Sym3<f64> {
    let e = f * f.transpose() - DMat3::IDENTITY;
    let at = |row: usize, column: usize| e.col(column)[row];
    Sym3::from_array([at(0, 0), at(1, 1), at(2, 2), at(1, 2), at(0, 2), at(0, 1)])
}

/// By rows.
fn rows(a: DMat3) -> [[f64; 3]; 3] {
    a.transpose().to_cols_array_2d()
}

// ---- B1 ----

const FLIGHT_STEPS: usize = 200;
const FLIGHT_DT: f64 = 1e-3;
const FLIGHT_CELL: f64 = 0.1;

/// Position after the flight with symplectic Euler: the parabola, behind by g t Δt/2.
fn thrown(start: DVec3, v: DVec3, g: DVec3, dt: f64) -> DVec3 {
    let t = FLIGHT_STEPS as f64 * dt;
    start + v * t + 0.5 * g * t * t + 0.5 * g * t * dt
}

/// Eight particles in a cube of two cells, at random positions.
fn random_cube(v: DVec3) -> Vec<Particle> {
    let mut random = Random(1);
    let particle = |id| Particle {
        id,
        v,
        ..Particle::at(
            random.vector(3, 0.0, 2.0 * FLIGHT_CELL),
            FLIGHT_CELL.powi(3),
        )
    };
    (0..8).map(particle).collect()
}

/// Largest errors after the flight of the reference implementation: of position [m], velocity [m/s] and strain; and the
/// largest distance from the parabola [m].
fn free_flight_errors<const K: usize>(transfer: Keys) -> Result<[f64; 4], ValidateError> {
    let (v, g) = (DVec3::new(1.0, 2.0, -0.5), DVec3::NEG_Y * G);
    let lattice = Lattice {
        h: FLIGHT_CELL,
        low: [-10; 3],
        count: [30; 3],
        periodic: [false; 3],
        keep: exact,
    };
    let scene = load(&scene!("particles").set("dimensions", 3).with(transfer))?;
    let start = random_cube(v);
    let mut all = DenseMpm::<3, K>::new(lattice, &scene, &start);
    all.gravity = g;
    (0..FLIGHT_STEPS).for_each(|_| all.step(FLIGHT_DT));
    let t = FLIGHT_STEPS as f64 * FLIGHT_DT;
    let mut worst = [0.0f64; 4];
    for (p, from) in all.particles.iter().zip(&start) {
        let miss = p.x - thrown(from.x, v, g, FLIGHT_DT);
        let errors = [
            miss.length(),
            (p.v - v - g * t).length(),
            largest(p.strain),
            (miss + 0.5 * g * t * FLIGHT_DT).length(),
        ];
        for (w, e) in worst.iter_mut().zip(errors) {
            *w = larger(*w, e);
        }
    }
    Ok(worst)
}

/// Error of the position in the solver, over the bound by rounding: each step rounds x and v once more, by at most half a unit in
/// the last place of each. Coordinates stay below 1 m, speeds below 2.5 m/s.
fn flown_in_solver(kernel: Keys, transfer: Keys) -> Result<[f64; 2], ValidateError> {
    let (v, g) = (Vec3::new(1.0, 2.0, -0.5), Vec3::NEG_Y * G as f32);
    let file = scene!("particles").set("dimensions", 3);
    let scene = load(&file.with(kernel).with(transfer))?;
    let mut solver = Stepper::new(&scene, &random_cube(v.as_dvec3()), Level::new())?;
    let start = solver.particles()?;
    let dt = FLIGHT_DT as f32;
    for _ in 0..FLIGHT_STEPS {
        solver.step(dt, g)?;
    }
    let dt = f64::from(dt);
    let t = FLIGHT_STEPS as f64 * dt;
    let end = solver.particles()?;
    let misses = end.iter().zip(&start);
    let misses = misses.map(|(p, s)| (p.x - thrown(s.x, v.as_dvec3(), g.as_dvec3(), dt)).length());
    let rounding = FLIGHT_STEPS as f64 * EPS32 * (1.0 + 2.5 * t);
    Ok([largest(misses) / rounding, 0.5 * G * t * dt / rounding])
}

fn free_flight(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    let (mut reference, mut solver) = (vec![], vec![]);
    for transfer in [APIC, PIC, FLIP] {
        reference.extend([
            free_flight_errors::<3>(transfer)?,
            free_flight_errors::<4>(transfer)?,
        ]);
        for kernel in KERNELS {
            solver.push(flown_in_solver(kernel, transfer)?);
        }
    }
    let worst = |i: usize| largest(reference.iter().map(|r| r[i]));
    let lag = 0.5 * G * FLIGHT_STEPS as f64 * FLIGHT_DT * FLIGHT_DT;
    let nothing = Band::below(1e-10);
    Ok(Outcome {
        physics: "Particles in uniform motion are not disturbed by the grid.".into(),
        setup: "Eight particles, 200 steps of 1 ms under gravity; APIC, PIC and FLIP, both kernels; reference implementation in f64 \
                and the solver."
            .into(),
        reference: "The parabola less the lag g t Δt/2 of symplectic Euler; for the solver in units of one rounding of x and v per \
                    step."
            .into(),
        checks: vec![
            Check::new("error of the position", worst(0), "m", nothing),
            Check::new("error of the velocity", worst(1), "m/s", nothing),
            Check::new("strain", worst(2), "", nothing),
            Check::control("distance from the parabola", worst(3), "m", nothing),
            Check::new("distance from the parabola over g t Δt/2", worst(3) / lag, "", Band::around(1.0, 1e-10 / lag)),
            Check::new("error of the position in the solver over rounding", largest(solver.iter().map(|s| s[0])), "", Band::below(1.0)),
            Check::control("distance from the parabola, g t Δt/2, over rounding", solver[0][1], "", Band::below(10.0)),
        ],
        ..Outcome::default()
    })
}

// ---- B2 ----

/// Largest stress of a rotation over Young's modulus, and the smallest norm of the small-strain tensor ½(F + Fᵀ) − I of a rotation.
fn rotated() -> [f64; 2] {
    let (mut stress, mut small) = (0.0f64, f64::INFINITY);
    for degrees in [1.0f64, 37.0, 90.0, 180.0] {
        for axis in [DVec3::Z, DVec3::new(1.0, -2.0, 0.5).normalize()] {
            let r = DMat3::from_axis_angle(axis, degrees.to_radians());
            let increment = rows(r - DMat3::IDENTITY);
            for model in MODELS {
                let rest = Sym3::from_array([0.0; 6]);
                let (_, s) = solid(model).advance::<f64, 3>(rest, &increment);
                stress = larger(stress, largest(s.to_array()) / YOUNG);
            }
            let linear = 0.5 * (r + r.transpose()) - DMat3::IDENTITY;
            small = smaller(small, largest(linear.to_cols_array()));
        }
    }
    [stress, small]
}

const SOFT_CELL: f64 = 1.0 / 64.0;
const SOFT_STEPS: usize = 50;

/// A soft solid that is being squeezed while its particles jitter; the wave speed is 0.3 m/s.
fn soft_scene(kernel: Keys) -> SceneFile {
    scene!("particles")
        .set("solver.resolution", SOFT_CELL)
        .set("materials.solid.model", "neo-hookean")
        .set("materials.solid.density", 1000.0)
        .set("materials.solid.young", 90.0 / 1.346)
        .with(kernel)
}

/// Its particles in a frame that moves at `speed` [m/s].
fn soft(speed: f64) -> Vec<Particle> {
    let mut random = Random(3);
    let h = SOFT_CELL;
    let particle = |id| {
        let mut p = Particle::at(random.vector(2, 0.0, 10.0 * h), h * h / 6.0);
        p.id = id;
        p.x = p.x.as_vec3().as_dvec3();
        p.v = random.vector(2, -0.05, 0.05);
        p.v.y -= 0.1 * (p.x.y / (5.0 * h) - 1.0);
        p.v = p.v.as_vec3().as_dvec3();
        // Whole units of f32 between 1 and 2, so that adding 1 m/s rounds nothing away.
        let unit = f64::from(f32::EPSILON);
        p.v.x = (p.v.x / unit).round() * unit + speed;
        p
    };
    (0..600).map(particle).collect()
}

/// Largest differences of position [m] and velocity [m/s] between a run at rest and one at 1 m/s.
fn differences(rest: &[Particle], moving: &[Particle], time: f64) -> [f64; 2] {
    let pairs = || rest.iter().zip(moving);
    [
        largest(pairs().map(|(a, b)| (b.x - a.x - DVec3::X * time).length())),
        largest(pairs().map(|(a, b)| (b.v - a.v - DVec3::X).length())),
    ]
}

/// The same for the reference implementation, with a displacement of this fraction of a cell per step; and the displacement of
/// particles in the run at rest [cells].
fn moving(cells_per_step: f64) -> Result<[f64; 3], ValidateError> {
    let lattice = Lattice {
        h: SOFT_CELL,
        low: [-5, -5, 0],
        count: [80, 30, 1],
        periodic: [false; 3],
        keep: exact,
    };
    let scene = load(&soft_scene(KERNELS[0]))?;
    let dt = cells_per_step * SOFT_CELL;
    let run = |speed| {
        let mut all = DenseMpm::<2, 3>::new(lattice, &scene, &soft(speed));
        (0..SOFT_STEPS).for_each(|_| all.step(dt));
        all.particles
    };
    let rest = run(0.0);
    let [x, v] = differences(&rest, &run(1.0), SOFT_STEPS as f64 * dt);
    let moved = rest.iter().zip(soft(0.0));
    let moved = largest(moved.map(|(a, b)| (a.x - b.x).length())) / SOFT_CELL;
    Ok([x, v, moved])
}

/// The same of the solver, over rounding of 1 m/s and of about 1 m, a dozen operations a step, as a random walk.
fn moving_in_solver(kernel: Keys) -> Result<[f64; 2], ValidateError> {
    let run = |speed: f64| {
        let mut solver = Stepper::new(&load(&soft_scene(kernel))?, &soft(speed), Level::new())?;
        for _ in 0..SOFT_STEPS {
            solver.step(SOFT_CELL as f32, Vec3::ZERO)?;
        }
        solver.particles()
    };
    let time = SOFT_STEPS as f64 * SOFT_CELL;
    let [x, v] = differences(&run(0.0)?, &run(1.0)?, time);
    let walk = 12.0 * (SOFT_STEPS as f64).sqrt() * EPS32;
    Ok([x / (walk * (1.0 + time)), v / walk])
}

fn rigid_motion(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    let [stress, small_strain] = rotated();
    let [x, v, moved] = moving(1.0)?;
    let [x_between, v_between, _] = moving(0.5)?;
    let solver = [moving_in_solver(KERNELS[0])?, moving_in_solver(KERNELS[1])?];
    let nothing = Band::below(1e-10);
    Ok(Outcome {
        physics: "A rotation causes no stress, and a uniform motion of the whole scene changes nothing.".into(),
        setup: "Rotations by 1, 37, 90, 180° about two axes, three elastic laws. A soft solid of 600 particles under compression, at \
                rest and at 1 m/s; reference implementation in f64 and the solver, both kernels. A grid is invariant only under shifts \
                by whole cells: each of the 50 steps moves by one."
            .into(),
        reference: "Objectivity; Galilean invariance. For the solver in units of a random walk of rounding.".into(),
        checks: vec![
            Check::new("stress of a rotation over E", stress, "", nothing),
            Check::control("small strain ½(F + Fᵀ) − I of a rotation", small_strain, "", Band::below(1e-4)),
            Check::new("largest displacement of a particle", moved, "cells", Band::above(0.1)),
            Check::new("difference of positions", x, "m", nothing),
            Check::new("difference of velocities", v, "m/s", nothing),
            Check::control("difference of positions, half a cell a step", x_between, "m", Band::below(1e-6)),
            Check::control("difference of velocities, half a cell a step", v_between, "m/s", Band::below(1e-6)),
            Check::new("differences in the solver over rounding", largest(solver.concat()), "", Band::below(1.0)),
        ],
        ..Outcome::default()
    })
}

// ---- B3 ----

/// Kirchhoff stress [Pa] of a stretch along x and one along y and z.
fn stretched(along: f64, lateral: f64) -> Sym3<f64> {
    let f = DMat3::from_diagonal(DVec3::new(along, lateral, lateral));
    solid(ElasticModel::Hencky).stress::<f64, 3>(strain_of(f))
}

/// The lateral stretch at which the sides are free.
fn lateral_stretch(along: f64) -> f64 {
    let (mut low, mut high) = (0.5, 2.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if stretched(along, middle).yy > 0.0 {
            high = middle;
        } else {
            low = middle;
        }
    }
    0.5 * (low + high)
}

/// Stretches along and across [1] in the middle of a block between plates, and its Kirchhoff stress [Pa] by the force on
/// the floor.
fn pressed(context: &Context<'_>) -> Result<[f64; 3], ValidateError> {
    let mut trial = Trial::start(context, "between plates", 8, scene!("plates"))?;
    let first = trial.particles()?;
    trial.advance(7)?;
    trial.forces()?;
    trial.advance(1)?;
    let force = -trial.forces()?[0].y;
    let last = trial.particles()?;
    // Four cells on either side of the middle.
    let middle = |axis: usize| -> Vec<[f64; 2]> {
        let pairs = first.iter().zip(&last);
        let near = pairs.filter(|(a, _)| (a.x.y - 0.5).abs() < 0.2);
        near.map(|(a, b)| [a.x[axis], b.x[axis]]).collect()
    };
    let along = line(&middle(1)).slope;
    // Force over undeformed area is τ/λ.
    let stress = -force / (0.3 * 0.3) * along;
    Ok([along, line(&middle(0)).slope, stress])
}

fn uniaxial_stress(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let (mut checks, mut off) = (vec![], vec![]);
    for (stretch, kirchhoff, cauchy) in [
        (0.9f64, -37_266.0, -38_870.1),
        (0.99, -3554.80, -3569.12),
        (1.05, 17_257.1, 16_923.6),
    ] {
        let lateral = lateral_stretch(stretch);
        let tau = stretched(stretch, lateral).xx;
        let sigma = tau / (stretch * lateral * lateral);
        let formula = YOUNG * stretch.ln() * stretch.powf(2.0 * POISSON - 1.0);
        off.extend([
            lateral.ln() + POISSON * stretch.ln(),
            tau / (YOUNG * stretch.ln()) - 1.0,
            sigma / formula - 1.0,
        ]);
        // As printed, to the last digit.
        for (what, found, printed) in [("τ", tau, kirchhoff), ("σ", sigma, cauchy)] {
            let what = format!("{what} at a stretch of {stretch}");
            checks.push(Check::new(what, found, "Pa", Band::around(printed, 5e-6)));
        }
    }
    let confined = stretched(0.9, 1.0).xx;
    let [along, across, tau] = pressed(context)?;
    let (lambda, mu) = lame(YOUNG, POISSON);
    let percent = Band::around(1.0, 0.01);
    checks.extend([
        Check::new(
            "largest relative difference from the formulas",
            largest(off),
            "",
            Band::below(1e-10),
        ),
        Check::control(
            "τ at a stretch of 0.9 with confined sides",
            confined,
            "Pa",
            Band::around(-37_266.0, 5e-6),
        ),
        Check::new(
            "stretch between the plates",
            along,
            "",
            Band::between(0.85, 0.95),
        ),
        Check::new(
            "between plates: lateral strain over −ν ln λ",
            across.ln() / (-POISSON * along.ln()),
            "",
            percent,
        ),
        Check::new(
            "between plates: τ over E ln λ",
            tau / (YOUNG * along.ln()),
            "",
            percent,
        ),
        Check::control(
            "between plates: τ over that with confined sides, (λ + 2μ) ln λ",
            tau / ((lambda + 2.0 * mu) * along.ln()),
            "",
            Band::around(1.0, 0.2),
        ),
    ]);
    Ok(Outcome {
        physics: "Under uniaxial stress Hencky's law has τ = E ln λ and a lateral strain of −ν ln λ, at any strain.".into(),
        setup: "The law in f64; and a block of 6 × 20 × 6 cells between frictionless plates, compressed by a tenth: stretches in its \
                middle, force on the floor."
            .into(),
        reference: "τ = E ln λ, σ = E ln λ · λ^(2ν − 1).".into(),
        checks,
        ..Outcome::default()
    })
}

// ---- B4 ----

/// Largest error of τ F⁻ᵀ against central differences of the energy, relative to the largest entry.
fn derivative_error<const D: usize>(law: &Elastic, f: DMat3) -> f64 {
    let energy = |f: DMat3| law.energy::<f64, D>(strain_of(f));
    let tau = DMat3::from_cols_array_2d(&law.stress::<f64, D>(strain_of(f)).to_mat3());
    let p = tau * f.inverse().transpose();
    let step = 1e-5;
    let (mut error, mut size) = (0.0f64, 0.0f64);
    for column in 0..D {
        for row in 0..D {
            let mut d = DMat3::ZERO;
            d.col_mut(column)[row] = step;
            let difference = (energy(f + d) - energy(f - d)) / (2.0 * step);
            error = larger(error, (p.col(column)[row] - difference).abs());
            size = larger(size, difference.abs());
        }
    }
    error / size
}

fn energy_derivative(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    let mut random = Random(4);
    let deformations: Vec<DMat3> = std::iter::repeat_with(|| {
        let mut column = |axis: DVec3| axis + random.vector(3, -0.5, 0.5);
        DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z))
    })
    .filter(|f| f.determinant() >= 0.1)
    .take(1000)
    .collect();
    let planar: Vec<DMat3> = deformations
        .iter()
        .map(|f| DMat3::from_cols(f.x_axis.with_z(0.0), f.y_axis.with_z(0.0), DVec3::Z))
        .filter(|f| f.determinant() > 0.1)
        .collect();
    let band = Band::below(1e-6);
    let mut checks = vec![];
    for model in MODELS {
        let law = solid(model);
        let solid = largest(deformations.iter().map(|f| derivative_error::<3>(&law, *f)));
        let flat = largest(planar.iter().map(|f| derivative_error::<2>(&law, *f)));
        checks.push(Check::new(
            format!("relative error, {model:?}"),
            solid,
            "",
            band,
        ));
        checks.push(Check::new(
            format!("relative error, {model:?} in 2D"),
            flat,
            "",
            band,
        ));
    }
    let transposed = |f: &DMat3| {
        let law = solid(ElasticModel::Hencky);
        let right = law.stress::<f64, 3>(strain_of(*f));
        let wrong = law.stress::<f64, 3>(strain_of(f.transpose()));
        largest(right.plus(wrong.times(-1.0)).to_array()) / largest(right.to_array())
    };
    let control = smallest(deformations.iter().map(transposed));
    checks.push(Check::control(
        "smallest relative error with FᵀF instead of FFᵀ",
        control,
        "",
        band,
    ));
    Ok(Outcome {
        physics: "The stress of an elastic law is the derivative of its energy.".into(),
        setup: "1000 random deformations with det F ≥ 0.1, in 3D and in the plane; f64.".into(),
        reference: "Central differences of the energy density.".into(),
        checks,
        ..Outcome::default()
    })
}

// ---- B5, B6 ----

/// The bar with this many cells along its 1 m.
fn bar(cells: u32, dimensions: u32) -> SceneFile {
    let side = 4.0 / f64::from(cells);
    let periodic = ["\"x\"", "\"x\", \"z\""][dimensions as usize - 2];
    let domain = format!(
        "domain={{ min = [0, -10, 0], max = [{side}, 10, {side}], periodic = [{periodic}] }}"
    );
    // In 2D the bar must reach across the plane z = 0.
    let back = [-1.0, 0.0][dimensions as usize - 2];
    scene!("bar")
        .set("dimensions", i64::from(dimensions))
        .set("fill.bar.shape.box.min", vec![0.0, -1.0, back])
        .set("solver.resolution", 1.0 / f64::from(cells))
        .set("fill.bar.shape.box.max", vec![side, 0.0, side])
        .with(&[&domain])
}

/// Frequency of the first mode [Hz], fixed at the floor and free at the top.
fn frequency(context: &Context<'_>, cells: u32) -> Result<f64, ValidateError> {
    let c = wave_speed(YOUNG, POISSON, DENSITY);
    let file = bar(cells, 2).set("solver.mpm.elastic_cfl", 0.3);
    let mut trial = Trial::start(context, format!("{cells} cells"), 400, file)?;
    let start = trial.particles()?;
    let (k, speed) = (0.5 * PI, 1e-3 * c);
    let shape = |y: f64| (k * (y + 1.0)).sin();
    let mut state = trial.save()?;
    let heights: Vec<f32> = floats_mut(&mut state, "position")
        .chunks(3)
        .map(|x| x[1])
        .collect();
    for (i, y) in heights.into_iter().map(f64::from).enumerate() {
        floats_mut(&mut state, "velocity")[3 * i + 1] = (speed * shape(y)) as f32;
        floats_mut(&mut state, "affine")[9 * i + 4] = (speed * k * (k * (y + 1.0)).cos()) as f32;
    }
    trial.load(&state)?;
    let (mut before, mut then, mut crossings) = (1.0, 0.0, vec![]);
    while crossings.len() < 6 && trial.simulation.time() < 1.0 {
        trial.advance(1)?;
        let now: f64 = trial
            .particles()?
            .iter()
            .zip(&start)
            .map(|(p, at)| p.v.y * shape(at.x.y))
            .sum();
        let time = trial.simulation.time();
        if now * before < 0.0 {
            crossings.push(time - (time - then) * now / (now - before));
        }
        (before, then) = (now, time);
    }
    // Half a period between two crossings.
    let last = crossings.len().saturating_sub(1);
    Ok(0.5 * last as f64 / (crossings[last] - crossings[0]))
}

fn bar_frequency(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let c = wave_speed(YOUNG, POISSON, DENSITY);
    let (coarse, fine) = (frequency(context, 20)?, frequency(context, 40)?);
    let exact = 3.678;
    Ok(Outcome {
        physics: "A bar fixed at one end oscillates at c/4L, c = √((λ + 2μ)/ρ).".into(),
        setup: "2D, 1 m high, 4 cells wide and periodic across, first mode with 1 mm/s per m/s of wave speed, APIC, Δt c/h = 0.3.".into(),
        reference: "3.678 Hz. The wall acts as if it lay a third of a cell deeper: the error is proportional to the cell size.".into(),
        checks: vec![
            Check::new("wave speed", c, "m/s", Band::between(14.710, 14.712)),
            Check::new("c/4L", c / 4.0, "Hz", Band::between(3.677, 3.679)),
            Check::new("frequency, 20 cells", coarse, "Hz", Band::around(exact, 0.02)),
            Check::new("frequency, 40 cells", fine, "Hz", Band::around(exact, 0.01)),
            Check::control("frequency, 20 cells, against a thin bar, √(E/ρ)/4L", coarse, "Hz", Band::around(12.680 / 4.0, 0.02)),
        ],
        ..Outcome::default()
    })
}

/// A column under its own weight, at rest.
struct Settled {
    /// Force on the floor over weight.
    force: f64,
    /// Settlement of the top over ρ g H²/2M.
    settlement: f64,
    /// Height above the floor [m] and vertical Cauchy stress over −ρ g (H − z), of each layer of particles.
    layers: Vec<[f64; 2]>,
}

/// Gravity grows over 0.15 s, which is five and a half periods; then means over two periods, up to 0.3 s.
fn settle(context: &Context<'_>, cells: u32, dimensions: u32) -> Result<Settled, ValidateError> {
    const SAMPLES: u32 = 64;
    let young = 100.0 * YOUNG;
    let rate = f64::from(SAMPLES) * wave_speed(young, POISSON, DENSITY) / 8.0;
    let frames = (0.3 * rate) as u32;
    let ramp = format!(
        "gravity={{ keyframes = [{{ time = 0, value = [0, 0, 0] }}, {{ time = 0.15, value = [0, -{G}, 0] }}], interpolation = \"smooth\" }}"
    );
    let file = bar(cells, dimensions)
        .set("frame_rate", rate)
        .set("materials.solid.young", young)
        .with(PIC)
        .with(&[&ramp]);
    let mut trial = Trial::start(
        context,
        format!("{cells} cells, {dimensions}D"),
        frames,
        file,
    )?;
    let first = trial.particles()?;
    let half_cell = 0.5 / f64::from(cells);
    let layer = |p: &Particle| ((1.0 + p.x.y) / half_cell) as usize;
    let count = 2 * cells as usize;
    let top: Vec<usize> = (0..first.len())
        .filter(|i| layer(&first[*i]) == count - 1)
        .collect();
    let (mut force, mut sink) = (0.0, 0.0);
    let mut stress = vec![[0.0; 2]; count];
    trial.advance(frames - SAMPLES)?;
    trial.forces()?;
    for _ in 0..SAMPLES {
        trial.advance(1)?;
        force -= trial.forces()?[0].y / f64::from(SAMPLES);
        let now = trial.particles()?;
        let sunk: f64 = top.iter().map(|i| first[*i].x.y - now[*i].x.y).sum();
        sink += sunk / top.len() as f64 / f64::from(SAMPLES);
        for (p, at) in now.iter().zip(&first) {
            let j = (1.0 + Sym3::from_array(p.strain).det_identity_plus_m1()).sqrt();
            let sum = &mut stress[layer(at)];
            *sum = [sum[0] + p.stress[1] / j, sum[1] + 1.0];
        }
    }
    let (lambda, mu) = lame(young, POISSON);
    let mass: f64 = first.iter().map(|p| p.volume * DENSITY).sum();
    // Of the topmost particles, a quarter of a cell below the top.
    let z = 1.0 - 0.5 * half_cell;
    let expected = DENSITY * G * (z - 0.5 * z * z) / (lambda + 2.0 * mu);
    let layers = stress.iter().enumerate().map(|(layer, [sum, n])| {
        let z = (layer as f64 + 0.5) * half_cell;
        [z, -sum / n / (DENSITY * G * (1.0 - z))]
    });
    Ok(Settled {
        force: force / (mass * G),
        settlement: sink / expected,
        layers: layers.collect(),
    })
}

fn self_weight(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let cells = 20;
    let deep = settle(context, cells, 3)?;
    let h = 1.0 / f64::from(cells);
    // Of two cells.
    let means = deep.layers.windows(4);
    let means = means.filter(|w| w[0][0] > h && w[3][0] < 1.0 - h);
    let means = means.map(|w| w.iter().map(|l| l[1]).sum::<f64>() / 4.0 - 1.0);
    let above = || deep.layers.iter().filter(|l| l[0] > 4.0 * h);
    let single = above()
        .filter(|l| l[0] <= 1.0 - 2.0 * h)
        .map(|l| l[1] - 1.0);
    let of_floor = above().map(|l| (l[1] - 1.0) * (1.0 - l[0]));
    let mut excess = vec![];
    for cells in [20, 40, 80] {
        excess.push(settle(context, cells, 2)?.settlement - 1.0);
    }
    let percents = |p: f64| Band::between(-0.01 * p, 0.01 * p);
    let halves = Band::between(1.8, 2.2);
    Ok(Outcome {
        physics: "The stress in a column is the weight above per area, and its top settles by ρ g H²/2M.".into(),
        setup: "1 m high, 4 cells wide and periodic across, E × 100, PIC; gravity is ramped up over 0.15 s. Means over two periods. \
                Stress and force in 3D with 20 cells, settlement in 2D with 20, 40, 80."
            .into(),
        reference: "σ = −ρ g (H − z). A wall on splines fixes two rows of nodes, which leaves a ripple in the stress of the second to \
                    fourth cell at any cell size, and acts as if it lay a third of a cell deeper, so that the error of the settlement \
                    is proportional to the cell size. At the top, where the stress vanishes, errors are relative to the stress at the \
                    floor."
            .into(),
        checks: vec![
            Check::new("force on the floor over weight", deep.force, "", Band::around(1.0, 0.01)),
            Check::new("error of the stress averaged over two cells, without the outermost cells", largest(means), "", Band::below(0.02)),
            Check::new("error of the stress from the fifth cell to two below the top", largest(single), "", Band::below(0.02)),
            Check::new("error of the stress from the fifth cell on, over the stress at the floor", largest(of_floor), "", Band::below(0.02)),
            Check::control("error of the stress in the second cell", deep.layers[3][1] - 1.0, "", percents(2.0)),
            Check::new("relative excess of the settlement, 40 cells", excess[1], "", percents(2.0)),
            Check::new("relative excess of the settlement, 80 cells", excess[2], "", percents(1.0)),
            Check::new("excess of the settlement, ratio of 20 to 40 cells", excess[0] / excess[1], "", halves),
            Check::new("excess of the settlement, ratio of 40 to 80 cells", excess[1] / excess[2], "", halves),
        ],
        ..Outcome::default()
    })
}
