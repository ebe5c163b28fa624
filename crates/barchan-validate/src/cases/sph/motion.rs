//! B1, B2, L7: interactions conserve momentum and are Galilean-invariant.

use super::element::gradient;
use super::stepper::{D0, DT, RHO, RandomNumbers, SphStepper, block};
use super::{Grain, block_on_floor, grains, mass, max_displacement, momentum};
use crate::outcome::{Band, Check, Outcome};
use crate::scene::{SceneFile, scene};
use crate::trial::{Trial, larger};
use crate::{Case, Context, ValidateError};
use barchan_scene::Dimensions;
use barchan_sim::solvers::sph::law::deviator;
use glam::{DVec3, Vec3};

/// Free fall.
pub const B1: Case = Case {
    name: "B1",
    title: "A thrown block falls freely",
    solvers: &["sph"],
    seconds: 1.0,
    run: free_fall,
};

/// Galilean invariance.
pub const B2: Case = Case {
    name: "B2",
    title: "A uniform motion changes nothing",
    solvers: &["sph"],
    seconds: 2.0,
    run: galilean,
};

/// Conservation.
pub const L7: Case = Case {
    name: "L7",
    title: "Action and reaction",
    solvers: &["sph"],
    seconds: 1.0,
    run: conservation,
};

// ---- B1 ----

/// A thrown block: by the solver, and by symplectic Euler.
fn thrown(velocity: Vec3, gravity: Vec3, steps: u32) -> Result<[Vec<Grain>; 2], ValidateError> {
    let mut exact = block(4);
    exact.iter_mut().for_each(|g| g.v = velocity);
    let mut stepper = SphStepper::new("thrown", &scene!("two_sands"), &exact, false)?;
    for _ in 0..steps {
        stepper.step(gravity)?;
        for g in &mut exact {
            g.v += DT as f32 * gravity;
            g.x += DT as f32 * g.v;
        }
    }
    Ok([stepper.grains()?, exact])
}

fn free_fall(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    let (velocity, gravity, steps) = (Vec3::new(0.7, 2.0, -0.3), Vec3::new(0.0, -9.81, 0.0), 500);
    let [after, exact] = thrown(velocity, gravity, steps)?;
    let before = block(4);
    let t = f64::from(steps) * DT;
    let ballistic = velocity.as_dvec3() * t + gravity.as_dvec3() * (0.5 * t * t);
    let lag = gravity.as_dvec3() * (0.5 * t * DT);
    let off = |theory: DVec3| {
        let way = |(a, b): (&Grain, &Grain)| ((a.x - b.x).as_dvec3() - theory).length();
        after.iter().zip(&before).map(way).fold(0.0, larger)
    };
    let faster = after.iter().zip(&exact).map(|(a, b)| a.v.distance(b.v));
    let pressure = after.iter().map(|g| g.pressure.abs()).fold(0.0, larger);
    // Exactly symplectic Euler, to the last bit.
    let nothing = Band::below(0.0);
    let rounding = Band::below(2e-5);
    Ok(Outcome {
        physics: "Particles in free fall do not interact.".into(),
        setup: "A lattice of 4 × 4 × 4 particles, thrown at 2.1 m/s, 500 steps of 1 ms.".into(),
        reference: "x = v t + g t²/2 + g t Δt/2: symplectic Euler lags by half a step.".into(),
        plots: vec![],
        checks: vec![
            Check::new(
                "distance from symplectic Euler",
                max_displacement(&after, &exact),
                "m",
                nothing,
            ),
            Check::new(
                "velocity less that of symplectic Euler",
                f64::from(faster.fold(0.0, larger)),
                "m/s",
                nothing,
            ),
            Check::new("largest pressure", f64::from(pressure), "Pa", nothing),
            Check::new("distance from theory", off(ballistic + lag), "m", rounding),
            Check::control(
                "distance from theory without the lag",
                off(ballistic),
                "m",
                rounding,
            ),
        ],
        notes: vec![],
    })
}

// ---- Particles in disorder ----

/// Disordered particles of two materials of different density, with pressures about `pressure` [Pa] and random stresses.
fn disorder(pressure: f32) -> Vec<Grain> {
    let mut random = RandomNumbers(7);
    let mut all = block(10);
    for g in &mut all {
        g.x += (0.2 * D0 * random.vector()).as_vec3();
        g.v = (0.3 * random.vector()).as_vec3();
        g.material = u8::from(random.next() > 0.0);
        g.mass *= if g.material == 1 { 3.0 } else { 1.0 };
        g.pressure = pressure * (1.0 + random.next() as f32);
        g.stress = deviator(
            random.symmetric().map(|x| 0.3 * pressure * x),
            Dimensions::Three,
        );
    }
    all
}

// ---- B2 ----

/// Largest difference of velocities relative to the block between a moving block and one at rest [m/s], and the largest velocity
/// change in a step [m/s].
fn galilean_error(velocity: Vec3) -> Result<[f32; 2], ValidateError> {
    let step = |velocity: Vec3| {
        let mut all = disorder(1e4);
        all.iter_mut().for_each(|g| g.v += velocity);
        let mut stepper = SphStepper::new("in motion", &scene!("two_sands"), &all, false)?;
        stepper.step(Vec3::ZERO)?;
        stepper.grains()
    };
    let (still, moving) = (step(Vec3::ZERO)?, step(velocity)?);
    let apart = |(a, b): (&Grain, &Grain)| (b.v - velocity - a.v).length();
    let largest = still.iter().map(|g| g.v.length());
    Ok([
        still.iter().zip(&moving).map(apart).fold(0.0, larger),
        largest.fold(0.0, larger),
    ])
}

/// A block that slumps while it and the floor move at these speeds [m/s], after 0.3 s.
fn slump(context: &Context<'_>, block: f64, floor: f64) -> Result<Vec<Grain>, ValidateError> {
    let motion = format!("collider.floor.motion={{velocity=[{floor},0,0]}}");
    let scene = block_on_floor([-0.3, 0.0, -0.3], [0.3, 0.6, 0.3])
        .set("frame_rate", 20)
        .set("solver.sph.cfl", 1)
        .set("fill.block.velocity", vec![block, 0.0, 0.0])
        .set("collider.floor.friction", 0.5)
        .with(&[&motion]);
    let label = format!("block at {block} m/s, floor at {floor} m/s");
    let mut trial = Trial::start(context, label, 6, scene)?;
    trial.advance(6)?;
    grains(&mut trial)
}

/// Strain rate [1/s] by Eq. 3 as printed, without the particle's own velocity, at a free surface that moves uniformly at 1 m/s.
fn printed_strain_rate() -> f64 {
    let half = super::element::lattice().filter(|p| p.z <= 0.0);
    half.map(|p| 0.5 * gradient(-p).z).sum::<f64>().abs()
}

fn galilean(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let [apart, largest] = galilean_error(Vec3::X)?;
    // Accumulated rounding of velocities over 33 neighbors.
    let rounding = Band::below(f64::from(33.0 * f32::EPSILON * (1.0 + largest)));
    let still = slump(context, 0.0, 0.0)?;
    let shifted: Vec<Grain> = (still.iter())
        .map(|g| Grain {
            x: g.x + 0.3 * Vec3::X,
            ..*g
        })
        .collect();
    let together = max_displacement(&shifted, &slump(context, 1.0, 1.0)?) / D0;
    let apart_from_floor = max_displacement(&shifted, &slump(context, 1.0, 0.0)?) / D0;
    let printed = printed_strain_rate();
    Ok(Outcome {
        physics: "Only relative motion matters: a block and its floor may move together (Galilean invariance).".into(),
        setup: "One step of 1000 disordered particles of two densities, at 1 m/s. A block of 0.6 m that slumps for 0.3 s on a floor, \
                both at 1 m/s."
            .into(),
        reference: "The same in the frame of the block, up to rounding.".into(),
        plots: vec![],
        checks: vec![
            Check::new("difference of velocities after a step, moving and at rest", f64::from(apart), "m/s", rounding),
            Check::new("slump on a moving floor less that at rest", together, "spacings", Band::below(1e-2)),
            Check::control("slump on a floor at rest", apart_from_floor, "spacings", Band::below(0.1)),
            Check::new("strain rate of Eq. 3 as printed at 1 m/s", printed, "1/s", Band::around(2.55, 0.01)),
            Check::control("strain rate of Eq. 3 as printed, against none", printed, "1/s", rounding),
        ],
        notes: vec![],
    })
}

// ---- L7 ----

/// Change of the total momentum in a step, over the sum of the exchanged momenta; NaN if none is exchanged.
fn unbalanced(label: &str, set: &[&str], pressure: f32) -> Result<f64, ValidateError> {
    let all = disorder(pressure);
    let mut stepper = SphStepper::new(label, &scene!("two_sands").with(set), &all, false)?;
    stepper.step(Vec3::ZERO)?;
    let after = stepper.grains()?;
    let given = |(a, b): (&Grain, &Grain)| f64::from(a.mass) * f64::from((b.v - a.v).length());
    let exchanged: f64 = all.iter().zip(&after).map(given).sum();
    Ok((momentum(&after) - momentum(&all)).length() / exchanged)
}

/// Exchange of momentum in 50 steps in a bowl.
struct Exchange {
    /// Largest momentum lost in a step, over the weight and the impulses on bodies.
    lost: f64,
    /// The same without the impulses on bodies.
    uncounted: f64,
    /// Sum of the impulses on bodies [N s].
    given: f64,
}

fn exchange(label: &str, file: &SceneFile) -> Result<Exchange, ValidateError> {
    let gravity = Vec3::new(0.5, -9.81, 0.0);
    let all = disorder(1e3);
    let mut stepper = SphStepper::new(label, file, &all, true)?;
    let mut before = momentum(&all);
    let mut sums = Exchange {
        lost: 0.0,
        uncounted: 0.0,
        given: 0.0,
    };
    for _ in 0..50 {
        stepper.step(gravity)?;
        let after = stepper.grains()?;
        let weight = mass(&after) * DT * gravity.as_dvec3();
        let bodies: DVec3 = stepper.impulses.bodies.iter().map(|b| b.linear).sum();
        let given: f64 = stepper
            .impulses
            .bodies
            .iter()
            .map(|b| b.linear.length())
            .sum();
        let change = momentum(&after) - before - weight;
        let scale = weight.length() + given;
        sums.lost = larger(sums.lost, (change + bodies).length() / scale);
        sums.uncounted = larger(sums.uncounted, change.length() / scale);
        sums.given += given;
        before = momentum(&after);
    }
    Ok(sums)
}

/// Cohesion as printed is not reciprocal between unequal masses: the sum of both forces over one of them.
fn printed_cohesion() -> f64 {
    let pull = |other: f64| other * RHO * D0.powi(3);
    (pull(3.0) - pull(1.0)).abs() / pull(1.0)
}

fn conservation(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    let cohesion = "materials.light.sph.cohesion_intensity=5";
    let viscosity = "materials.light.sph.viscosity=0.3";
    let once = "solver.sph.iterations=1";
    let clamp = "solver.sph.yield=per component";
    let (balanced, exact) = (Band::below(2e-6), Band::below(1e-4));
    let mut checks = vec![];
    for (what, set, pressure) in [
        ("pressure and friction", &[][..], 1e4),
        ("printed clamp", &[clamp], 1e4),
        ("cohesion", &[once, cohesion], 0.0),
        ("viscosity", &[once, viscosity], 0.0),
        ("all", &[cohesion, viscosity], 1e3),
        ("collisions alone", &[], 0.0),
    ] {
        let part = unbalanced(what, set, pressure)?;
        let what = format!("change of momentum in a step over the exchanged momentum: {what}");
        checks.push(Check::new(what, part, "", balanced));
    }
    checks.push(Check::control(
        "sum of the two forces of a pair over one force, cohesion as printed",
        printed_cohesion(),
        "",
        Band::below(0.1),
    ));
    let sticky = "materials.light.sph.cohesion_intensity=1";
    for (what, set) in [
        ("Coulomb friction", "solver.sph.static_friction=true"),
        ("viscous friction", "solver.sph.wall_friction=viscous"),
        ("friction from zero", "solver.sph.static_friction=false"),
    ] {
        let sums = exchange(what, &scene!("two_sands").with(&[sticky, set]))?;
        let what = |text: &str| format!("{text}: {what}");
        checks.extend([
            Check::new(
                what("momentum lost to floor and ball"),
                sums.lost,
                "",
                exact,
            ),
            Check::control(
                what("momentum lost, impulses on floor and ball not counted"),
                sums.uncounted,
                "",
                exact,
            ),
            Check::new(
                what("impulse on floor and ball"),
                sums.given,
                "N s",
                Band::above(1.0),
            ),
        ]);
    }
    Ok(Outcome {
        physics: "Forces between particles are equal and opposite, and bodies receive the momentum that particles lose.".into(),
        setup: "1000 disordered particles of two densities, with random pressures and stresses: a step without walls, and 50 steps of 1 \
                ms between a tilted floor and a descending ball."
            .into(),
        reference: "Conservation of momentum up to rounding in f32.".into(),
        plots: vec![],
        checks,
        notes: vec![],
    })
}
