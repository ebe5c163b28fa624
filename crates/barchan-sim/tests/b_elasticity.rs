//! Elasticity and kinematics: free flight, rigid motion, Hencky's law, bars and columns, catalogue cases B1–B6.

mod common;

use barchan_scene::{
    Boundary, Bounds, Collider, Dimensions, ElasticLaw, ElasticModel, Geometry, Interpolation,
    Kernel, Law, Material, Motion, Scene, Track, Transfer,
};
use barchan_sim::material::elastic::Elastic;
use barchan_sim::material::{lame, wave_speed};
use barchan_sim::math::Sym3;
use common::real::{Real, fixed, material, scene, spec, stuff};
use common::twin::{Lattice, Particle, Twin};
use common::{DENSITY, EPS32, POISSON, Random, YOUNG, exact};
use glam::{DMat3, DVec3, Vec3};
use std::f64::consts::PI;

const APIC: Transfer = Transfer::Apic;
const PIC: Transfer = Transfer::FlipPic { flip: 0.0 };
const FLIP: Transfer = Transfer::FlipPic { flip: 1.0 };
const MODELS: [ElasticModel; 3] = [
    ElasticModel::Hencky,
    ElasticModel::NeoHookean,
    ElasticModel::FixedCorotated,
];

fn law(model: ElasticModel, young: f64) -> ElasticLaw {
    ElasticLaw {
        young,
        poisson: POISSON,
        model,
    }
}

fn solid(model: ElasticModel, young: f64, density: f64) -> Material {
    material(density, Law::Elastic(law(model, young)))
}

/// F Fᵀ − I.
fn strain_of(f: DMat3) -> Sym3<f64> {
    let e = f * f.transpose() - DMat3::IDENTITY;
    let at = |row: usize, column: usize| e.col(column)[row];
    Sym3::from_array([at(0, 0), at(1, 1), at(2, 2), at(1, 2), at(0, 2), at(0, 1)])
}

fn largest(s: Sym3<f64>) -> f64 {
    s.to_array().iter().fold(0.0, |m, x| m.max(x.abs()))
}

// ---- B1 ----

/// Where a particle is after n steps of symplectic Euler: the parabola, behind by g t Δt/2.
fn thrown(start: DVec3, v: DVec3, g: DVec3, steps: usize, dt: f64) -> DVec3 {
    let t = steps as f64 * dt;
    start + v * t + 0.5 * g * t * t + 0.5 * g * t * dt
}

/// Eight particles in a cube of two cells, at random places.
fn eight(h: f64, v: DVec3) -> Vec<Particle> {
    let mut random = Random(1);
    (0..8)
        .map(|_| {
            let mut p = Particle::at(random.vector(3, 0.0, 2.0 * h), h.powi(3));
            p.v = v;
            p
        })
        .collect()
}

fn b1_twin<const K: usize>(transfer: Transfer) {
    let (h, dt, steps) = (0.1, 1e-3, 200);
    let (v, g) = (DVec3::new(1.0, 2.0, -0.5), DVec3::new(0.0, -9.81, 0.0));
    let lattice = Lattice {
        h,
        low: [-10; 3],
        count: [30; 3],
        periodic: [false; 3],
        keep: exact,
    };
    let stuff = stuff(
        &solid(ElasticModel::Hencky, YOUNG, DENSITY),
        Dimensions::Three,
    );
    let mut twin = Twin::<3, K>::new(lattice, transfer, vec![stuff]);
    twin.gravity = g;
    twin.particles = eight(h, v);
    let start = twin.particles.clone();
    for _ in 0..steps {
        twin.step(dt);
    }
    for (p, from) in twin.particles.iter().zip(&start) {
        let miss = p.x - thrown(from.x, v, g, steps, dt);
        assert!(miss.length() < 1e-10, "{transfer:?}: {miss:?}");
        // Negative control: the parabola itself is missed by the lag.
        let parabola = p.x - thrown(from.x, v, g, steps, dt) + 0.5 * g * steps as f64 * dt * dt;
        assert!((parabola.length() - 0.5 * 9.81 * 0.2 * dt).abs() < 1e-10);
        assert!((p.v - v - g * (steps as f64 * dt)).length() < 1e-10);
        assert!(largest(p.strain) < 1e-10);
    }
}

#[test]
fn b1_free_flight() {
    for transfer in [APIC, PIC, FLIP] {
        b1_twin::<3>(transfer);
        b1_twin::<4>(transfer);
    }
}

/// In the solver, each step rounds x and v once more: at most half a unit in the last place of each, every step.
#[test]
fn b1_free_flight_in_the_solver() {
    let (h, dt, steps) = (0.1, 1e-3f32, 200);
    let (v, g) = (Vec3::new(1.0, 2.0, -0.5), Vec3::new(0.0, -9.81, 0.0));
    for kernel in [Kernel::Quadratic, Kernel::Cubic] {
        for transfer in [APIC, PIC, FLIP] {
            let scene = scene(
                Dimensions::Three,
                spec(h, kernel, transfer),
                vec![solid(ElasticModel::Hencky, YOUNG, DENSITY)],
            );
            let mut real = Real::new(&scene, &eight(h, v.as_dvec3()));
            let start = real.particles();
            for _ in 0..steps {
                real.step(dt, g);
            }
            let dt = f64::from(dt);
            for (p, from) in real.particles().iter().zip(&start) {
                let expected = thrown(from.x, v.as_dvec3(), g.as_dvec3(), steps, dt);
                let miss = (p.x - expected).length();
                // Coordinates stay below 1 m, speeds below 2.5 m/s.
                let rounding = steps as f64 * EPS32 * (1.0 + 2.5 * steps as f64 * dt);
                assert!(miss < rounding, "{kernel:?} {transfer:?}: {miss:e} m");
                assert!(0.5 * 9.81 * 0.2 * dt > 10.0 * rounding, "the lag must show");
            }
        }
    }
}

// ---- B2 ----

#[test]
fn b2_rotation_causes_no_stress() {
    for degrees in [1.0f64, 37.0, 90.0, 180.0] {
        for axis in [DVec3::Z, DVec3::new(1.0, -2.0, 0.5).normalize()] {
            let r = DMat3::from_axis_angle(axis, degrees.to_radians());
            let increment = (r - DMat3::IDENTITY).transpose().to_cols_array_2d();
            for model in MODELS {
                let law = Elastic::new(&law(model, YOUNG));
                let rest = Sym3::from_array([0.0; 6]);
                let (_, stress) = law.advance::<f64, 3>(rest, &increment);
                assert!(largest(stress) < 1e-10 * YOUNG, "{degrees}° {model:?}");
            }
            // Negative control: the small strain ½(F + Fᵀ) − I sees a rotation as compression.
            let small = 0.5 * (r + r.transpose()) - DMat3::IDENTITY;
            assert!(small.to_cols_array().iter().any(|e| e.abs() > 1e-4));
        }
    }
}

/// A soft solid whose particles move at random; the wave speed is 0.3 m/s.
fn soft(speed: f64, h: f64) -> (Material, Vec<Particle>) {
    let young = 90.0 / 1.346;
    let mut random = Random(3);
    let particles = (0..600)
        .map(|_| {
            let mut p = Particle::at(random.vector(2, 0.0, 10.0 * h), h * h / 6.0);
            p.x = p.x.as_vec3().as_dvec3();
            p.v = random.vector(2, -0.05, 0.05).as_vec3().as_dvec3();
            p.v.x = f64::from(p.v.x as f32 + speed as f32);
            p
        })
        .collect();
    (solid(ElasticModel::NeoHookean, young, 1000.0), particles)
}

/// Largest differences of position and velocity between a run at rest and one seen from a frame that moves.
fn differences(rest: &[Particle], moving: &[Particle], speed: f64, time: f64) -> (f64, f64) {
    let mut worst = (0.0f64, 0.0f64);
    for (a, b) in rest.iter().zip(moving) {
        worst.0 = worst.0.max((b.x - a.x - DVec3::X * speed * time).length());
        worst.1 = worst.1.max((b.v - a.v - DVec3::X * speed).length());
    }
    worst
}

const B2_STEPS: usize = 50;

fn b2_twin(cells_per_step: f64) -> (f64, f64) {
    let h = 1.0 / 64.0;
    let run = |speed: f64| {
        let (solid, particles) = soft(speed, h);
        let lattice = Lattice {
            h,
            low: [-5, -5, 0],
            count: [80, 30, 1],
            periodic: [false; 3],
            keep: exact,
        };
        let stuff = stuff(&solid, Dimensions::Two);
        let mut twin = Twin::<2, 3>::new(lattice, APIC, vec![stuff]);
        twin.particles = particles;
        for _ in 0..B2_STEPS {
            twin.step(cells_per_step * h);
        }
        twin.particles
    };
    let (rest, moving) = (run(0.0), run(1.0));
    let moved = rest
        .iter()
        .zip(soft(0.0, h).1)
        .map(|(a, b)| (a.x - b.x).length());
    assert!(moved.fold(0.0, f64::max) > 0.1 * h, "something must happen");
    differences(&rest, &moving, 1.0, B2_STEPS as f64 * cells_per_step * h)
}

/// A grid is invariant only under shifts by whole cells: at 1 m/s and Δt = h/(1 m/s) each step makes one.
#[test]
fn b2_a_moving_scene_does_the_same() {
    let (x, v) = b2_twin(1.0);
    assert!(x < 1e-10 && v < 1e-10, "{x:e} m, {v:e} m/s");
    // Negative control: between nodes the sampling differs, and it shows.
    let (x, v) = b2_twin(0.5);
    println!("half cells: {x:e} {v:e}");
    assert!(x > 1e-6 && v > 1e-6, "{x:e} m, {v:e} m/s");
}

#[test]
fn b2_a_moving_scene_does_the_same_in_the_solver() {
    let h = 1.0 / 64.0;
    for kernel in [Kernel::Quadratic, Kernel::Cubic] {
        let run = |speed: f64| {
            let (solid, particles) = soft(speed, h);
            let scene = scene(Dimensions::Two, spec(h, kernel, APIC), vec![solid]);
            let mut real = Real::new(&scene, &particles);
            for _ in 0..B2_STEPS {
                real.step(h as f32, Vec3::ZERO);
            }
            real.particles()
        };
        let time = B2_STEPS as f64 * h;
        let (x, v) = differences(&run(0.0), &run(1.0), 1.0, time);
        // Rounding of 1 m/s and of about 1 m, a dozen operations a step, as a random walk.
        let walk = 12.0 * (B2_STEPS as f64).sqrt() * EPS32;
        println!("{kernel:?}: {x:e} {v:e} walk {walk:e}");
        assert!(v < walk && x < walk * (1.0 + time), "{x:e} m, {v:e} m/s");
    }
}

// ---- B3 ----

/// Principal Kirchhoff stresses of a stretch along x and one along y and z.
fn stretched(along: f64, lateral: f64) -> Sym3<f64> {
    let f = DMat3::from_diagonal(DVec3::new(along, lateral, lateral));
    Elastic::new(&law(ElasticModel::Hencky, YOUNG)).stress::<f64, 3>(strain_of(f))
}

#[test]
fn b3_uniaxial_stress() {
    for (stretch, kirchhoff, cauchy) in [
        (0.9f64, -37_266.0, -38_870.1),
        (0.99, -3554.80, -3569.12),
        (1.05, 17_257.1, 16_923.6),
    ] {
        // The lateral stretch at which the sides are free.
        let (mut low, mut high) = (0.5, 2.0);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if stretched(stretch, middle).yy > 0.0 {
                high = middle;
            } else {
                low = middle;
            }
        }
        let lateral = 0.5 * (low + high);
        let tau = stretched(stretch, lateral).xx;
        let sigma = tau / (stretch * lateral * lateral);
        assert!((lateral.ln() + POISSON * stretch.ln()).abs() < 1e-10);
        assert!((tau / (YOUNG * stretch.ln()) - 1.0).abs() < 1e-10);
        let formula = YOUNG * stretch.ln() * stretch.powf(2.0 * POISSON - 1.0);
        assert!((sigma / formula - 1.0).abs() < 1e-10);
        // As printed, to the last digit.
        assert!((tau / kirchhoff - 1.0).abs() < 5e-6, "{tau}");
        assert!((sigma / cauchy - 1.0).abs() < 5e-6, "{sigma}");
    }
}

// ---- B4 ----

/// Largest error of τ F⁻ᵀ against central differences of the energy, relative to the largest entry.
fn b4<const D: usize>(model: ElasticModel, f: DMat3) -> f64 {
    let law = Elastic::new(&law(model, 1.0));
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
            error = error.max((p.col(column)[row] - difference).abs());
            size = size.max(difference.abs());
        }
    }
    error / size
}

#[test]
fn b4_stress_is_the_derivative_of_the_energy() {
    let mut random = Random(4);
    let mut tested = 0;
    while tested < 1000 {
        let column = |random: &mut Random, axis: DVec3| axis + random.vector(3, -0.5, 0.5);
        let f = DMat3::from_cols(
            column(&mut random, DVec3::X),
            column(&mut random, DVec3::Y),
            column(&mut random, DVec3::Z),
        );
        if f.determinant() < 0.1 {
            continue;
        }
        tested += 1;
        let flat = DMat3::from_cols(f.x_axis.with_z(0.0), f.y_axis.with_z(0.0), DVec3::Z);
        for model in MODELS {
            let error = b4::<3>(model, f);
            assert!(error < 1e-6, "{model:?} {error:e} at {f:?}");
            if flat.determinant() > 0.1 {
                let error = b4::<2>(model, flat);
                assert!(error < 1e-6, "{model:?} in 2D {error:e} at {flat:?}");
            }
        }
    }
}

// ---- B5, B6 ----

/// A column of square section, one block wide and periodic across, on a floor whose surface the nodes at y = 0 are in.
fn column(
    h: f64,
    cells: usize,
    dimensions: Dimensions,
    solid: Material,
    transfer: Transfer,
    floor: f64,
) -> (Scene, Vec<Particle>) {
    let mut scene = scene(
        dimensions,
        spec(h, Kernel::Quadratic, transfer),
        vec![solid],
    );
    scene.domain = Some(Bounds {
        min: Vec3::new(0.0, -10.0, 0.0),
        max: Vec3::new((4.0 * h) as f32, 10.0, (4.0 * h) as f32),
    });
    let deep = dimensions == Dimensions::Three;
    scene.periodic = [true, false, deep];
    let floor = Geometry::half_space(Vec3::new(0.0, floor as f32, 0.0), Vec3::Y);
    scene.colliders.push(fixed(floor, Boundary::Slipping));
    let mut particles = Vec::new();
    let side = 8;
    for k in 0..if deep { side } else { 1 } {
        for j in 0..2 * cells {
            for i in 0..side {
                let x = (DVec3::new(i as f64, j as f64, k as f64) + 0.5) * (0.5 * h);
                let x = if deep { x } else { x.with_z(0.0) };
                let volume = (0.5 * h).powi(dimensions.count() as i32);
                particles.push(Particle::at(x, volume));
            }
        }
    }
    (scene, particles)
}

/// Frequency of the first mode of a bar of 1 m, fixed at the floor and free at the top [Hz].
fn frequency(cells: usize, floor: f64) -> f64 {
    let h = 1.0 / cells as f64;
    let c = wave_speed(YOUNG, POISSON, DENSITY);
    let (scene, mut particles) = column(
        h,
        cells,
        Dimensions::Two,
        solid(ElasticModel::Hencky, YOUNG, DENSITY),
        APIC,
        floor * h,
    );
    let speed = 1e-3 * c;
    let shape = |y: f64| (0.5 * PI * y).sin();
    for p in &mut particles {
        p.v.y = speed * shape(p.x.y);
        p.c = DMat3::from_cols(
            DVec3::ZERO,
            DVec3::Y * (speed * 0.5 * PI * (0.5 * PI * p.x.y).cos()),
            DVec3::ZERO,
        );
    }
    let places: Vec<f64> = particles.iter().map(|p| p.x.y).collect();
    let mut real = Real::new(&scene, &particles);
    let dt = (0.3 * h / c) as f32;
    let (mut before, mut crossings) = (1.0, Vec::new());
    while crossings.len() < 6 {
        real.step(dt, Vec3::ZERO);
        let now: f64 = real
            .particles()
            .iter()
            .zip(&places)
            .map(|(p, y)| p.v.y * shape(*y))
            .sum();
        if now * before < 0.0 {
            crossings.push(real.time - f64::from(dt) * now / (now - before));
        }
        before = now;
    }
    // Half a period between two crossings.
    (crossings.len() - 1) as f64 / (2.0 * (crossings[crossings.len() - 1] - crossings[0]))
}

#[test]
fn b5_zz() {
    for cells in [5, 10, 20, 40] {
        for floor in [0.0, 0.001, 0.25, -0.001, -0.5] {
            let f = frequency(cells, floor);
            println!("cells {cells} floor {floor}: {f} ratio {}", f / 3.678);
        }
    }
}

#[test]
fn b6_zz() {
    for (deep, kernel_floor) in [(false, 0.0), (false, 0.001), (true, 0.001)] {
        let (cells, height) = (20, 1.0);
        let h = height / cells as f64;
        let young = 100.0 * YOUNG;
        let dims = if deep {
            Dimensions::Three
        } else {
            Dimensions::Two
        };
        let c = wave_speed(young, POISSON, DENSITY);
        let (scene, particles) = column(
            h,
            cells,
            dims,
            solid(ElasticModel::Hencky, young, DENSITY),
            PIC,
            kernel_floor * h,
        );
        let mut real = Real::new(&scene, &particles);
        let dt = (0.6 * h / c) as f32;
        let weight = Track::new(
            vec![(0.0, DVec3::ZERO), (0.3, DVec3::NEG_Y * 9.81)],
            Interpolation::Smooth,
        )
        .unwrap();
        let gravity = barchan_scene::Gravity::Keyframes(weight);
        let mut force = 0.0;
        let mut n = 0.0;
        while real.time < 0.6 {
            let t = real.time;
            real.step(dt, gravity.at(t + 0.5 * f64::from(dt)));
            if real.time > 0.55 {
                force += real.impulses.bodies[0].linear.y / f64::from(dt);
                n += 1.0;
            }
        }
        let (l, m) = lame(young, POISSON);
        let modulus = l + 2.0 * m;
        let mass: f64 = particles.iter().map(|p| p.volume * DENSITY).sum();
        println!(
            "force {} weight {} ratio {}",
            force / n,
            mass * 9.81,
            -force / n / (mass * 9.81)
        );
        let out = real.particles();
        let step = if deep { 64 } else { 8 };
        let _ = step;
        for i in (0..40).map(|j| j * 8) {
            let (p, q) = (&out[i], &particles[i]);
            let y = q.x.y;
            let u = DENSITY * 9.81 * (y - 0.5 * y * y) / modulus;
            let s = -DENSITY * 9.81 * (1.0 - y);
            println!(
                "y {:.4} u/u {:.4} s/s {:.4} ds/s0 {:.4} v {:e}",
                y,
                (q.x.y - p.x.y) / u,
                p.stress.yy / s,
                (p.stress.yy - s) / (DENSITY * 9.81),
                p.v.y
            );
        }
    }
}
