//! J1 to J6: the contact law of position-based grains in f64, without the solver.

use super::iterations;
use crate::outcome::{Band, Check, Outcome};
use crate::trial::{G, larger};
use crate::{Case, Context, ValidateError};
use barchan_scene::PbdFriction::{Coulomb, Macklin};
use barchan_sim::solvers::pbd::contact::{
    Accumulated, Law, V3, contact_area, dot, iteration_factors, project,
};

/// Spring and damper.
pub const J1: Case = Case {
    name: "J1",
    title: "Spring and damper are backward Euler",
    solvers: &["pbd"],
    seconds: 0.1,
    run: backward_euler_contact,
};

/// The number of iterations.
pub const J2: Case = Case {
    name: "J2",
    title: "The number of iterations does not change the trajectory",
    solvers: &["pbd"],
    seconds: 0.1,
    run: passes,
};

/// Two masses.
pub const J3: Case = Case {
    name: "J3",
    title: "Pairs have the reduced mass",
    solvers: &["pbd"],
    seconds: 0.1,
    run: reduced_mass,
};

/// The friction cone.
pub const J4: Case = Case {
    name: "J4",
    title: "Coulomb friction of a point on an incline",
    solvers: &["pbd"],
    seconds: 0.1,
    run: friction_cone,
};

/// Static above kinetic friction.
pub const J5: Case = Case {
    name: "J5",
    title: "Static friction holds up to its angle",
    solvers: &["pbd"],
    seconds: 0.1,
    run: static_friction,
};

/// Adhesion.
pub const J6: Case = Case {
    name: "J6",
    title: "Adhesion holds a grain below a ceiling",
    solvers: &["pbd"],
    seconds: 0.1,
    run: adhesion,
};

/// A contact without friction and adhesion, with these factors.
fn frictionless(spring: f64, damper: f64) -> Law<f64> {
    Law {
        retention: 1.0,
        spring,
        damper,
        max_separation: f64::INFINITY,
        ..Law::default()
    }
}

/// A point mass with gravity, at one fixed plane of a given normal through the origin.
struct Point {
    position: V3<f64>,
    velocity: V3<f64>,
    mass: f64,
    radius: f64,
    normal: V3<f64>,
}

/// Properties of the plane.
#[derive(Clone, Copy)]
struct Plane {
    stiffness: f64,
    damping: f64,
    static_friction: f64,
    kinetic_friction: f64,
    /// Adhesive force [N].
    adhesion: f64,
}

const SMOOTH: Plane = Plane {
    stiffness: 1000.0,
    damping: 100.0,
    static_friction: 0.0,
    kinetic_friction: 0.0,
    adhesion: 0.0,
};

/// Faults of an iteration, for negative controls.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// C_s ≤ 0 is tested in every iteration.
    ActivationEveryPass,
    /// The cone is applied to the correction of each iteration.
    ConeEveryPass,
    /// The limit of adhesion is applied to the correction of each iteration.
    AdhesionEveryPass,
}

impl Point {
    /// One step: Eq. 2, then iterations over the one contact, then Eq. 3.
    fn step(&mut self, plane: &Plane, dt: f64, passes: u32, gravity: V3<f64>, fault: Fault) {
        let w = 1.0 / self.mass;
        let mut moved: V3<f64> =
            std::array::from_fn(|a| dt * self.velocity[a] + dt * dt * gravity[a]);
        let at = |moved: V3<f64>| {
            let p: V3<f64> = std::array::from_fn(|a| self.position[a] + moved[a]);
            dot(p, self.normal) - self.radius
        };
        let active = at(moved) <= 0.0 || (plane.adhesion > 0.0 && at([0.0; 3]) <= 0.0);
        if active {
            let (spring, damper) = iteration_factors(plane.stiffness, plane.damping, w, dt, passes);
            let law = Law {
                static_friction: plane.static_friction,
                kinetic_friction: plane.kinetic_friction,
                adhesion: dt * dt * w * plane.adhesion,
                ..frictionless(spring, damper)
            };
            let mut sum = Accumulated::default();
            for _ in 0..passes {
                if fault == Fault::ActivationEveryPass && at(moved) > 0.0 {
                    continue;
                }
                match fault {
                    Fault::ConeEveryPass => sum = Accumulated::default(),
                    Fault::AdhesionEveryPass => sum.adhesion = 0.0,
                    _ => {}
                }
                let by = project(Coulomb, &law, self.normal, at(moved), moved, &mut sum);
                moved = std::array::from_fn(|a| moved[a] + by[a]);
            }
        }
        for a in 0..3 {
            self.position[a] += moved[a];
            self.velocity[a] = moved[a] / dt;
        }
    }
}

/// A case without a simulation.
fn outcome(physics: &str, setup: &str, reference: &str, checks: Vec<Check>) -> Outcome {
    Outcome {
        physics: physics.into(),
        setup: setup.into(),
        reference: reference.into(),
        checks,
        ..Outcome::default()
    }
}

/// Largest difference between two paths.
fn worst(of: &[f64], against: &[f64]) -> f64 {
    let differences = of.iter().zip(against).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, larger)
}

/// Difference of a value from its reference, at most `width`.
fn near(what: impl Into<String>, value: f64, exact: f64, unit: &str, width: f64) -> Check {
    let band = Band::between(exact - width, exact + width);
    Check::new(what, value, unit, band)
}

// ---- J1, J2 ----

/// Heights after a drop from 0.15 m, every step of 0.01 s.
fn drop(plane: &Plane, passes: u32, steps: usize, fault: Fault) -> Vec<f64> {
    let mut point = Point {
        position: [0.0, 0.15, 0.0],
        velocity: [0.0; 3],
        mass: 1.0,
        radius: 0.05,
        normal: [0.0, 1.0, 0.0],
    };
    let mut heights = vec![0.15];
    for _ in 0..steps {
        point.step(plane, 0.01, passes, [0.0, -G, 0.0], fault);
        heights.push(point.position[1]);
    }
    heights
}

/// The same by backward Euler, with the contact active when the prediction penetrates the plane.
fn backward_euler(plane: &Plane, steps: usize) -> Vec<f64> {
    let (mut z, mut v, dt) = (0.15f64, 0.0f64, 0.01f64);
    let mut heights = vec![z];
    for _ in 0..steps {
        let free = v - dt * G;
        v = match z + dt * free - 0.05 <= 0.0 {
            true => {
                let (k, c) = (plane.stiffness, plane.damping);
                (free - dt * k * (z - 0.05)) / (1.0 + dt * c + dt * dt * k)
            }
            false => free,
        };
        z += dt * v;
        heights.push(z);
    }
    heights
}

/// Stiffness [N/m], damping [N s/m], and heights [m] after some steps.
type ReferenceHeights = (f64, f64, &'static [(usize, f64)]);

/// Reference heights of two contacts.
const REFERENCE_HEIGHTS: [ReferenceHeights; 2] = [
    (
        1000.0,
        100.0,
        &[
            (10, 0.096045),
            (14, 0.053678),
            (16, 0.047322),
            (20, 0.043693),
            (30, 0.041340),
            (50, 0.040326),
        ],
    ),
    (
        100.0,
        0.0,
        &[
            (16, 0.017349),
            (20, -0.046681),
            (30, -0.176720),
            (40, -0.182307),
            (50, -0.070360),
            (75, 0.066123),
            (100, -0.158902),
        ],
    ),
];

fn backward_euler_contact(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    let mut checks = vec![];
    for (stiffness, damping, stated) in REFERENCE_HEIGHTS {
        let plane = Plane {
            stiffness,
            damping,
            ..SMOOTH
        };
        let exact = backward_euler(&plane, 100);
        for passes in [1, 5, 20] {
            let heights = drop(&plane, passes, 100, Fault::None);
            let of = format!("k = {stiffness} N/m, {}", iterations(passes));
            let what = format!("difference from backward Euler, {of}");
            checks.push(Check::new(
                what,
                worst(&heights, &exact),
                "m",
                Band::below(1e-12),
            ));
            let table = stated
                .iter()
                .map(|(step, height)| (heights[*step] - height).abs());
            let what = format!("difference from the reference heights, {of}");
            checks.push(Check::new(
                what,
                table.fold(0.0, larger),
                "m",
                Band::below(1e-6),
            ));
        }
    }
    let wrong = drop(&SMOOTH, 5, 100, Fault::ActivationEveryPass);
    let wrong = worst(&wrong, &backward_euler(&SMOOTH, 100));
    let what = "difference from backward Euler, activation tested in every iteration";
    checks.push(Check::control(what, wrong, "m", Band::below(1e-12)));
    checks.push(near(
        "difference from backward Euler, activation tested in every iteration, known value",
        wrong,
        5.3e-3,
        "m",
        0.3e-3,
    ));
    Ok(outcome(
        "An isolated contact moves as a spring and damper under backward Euler.",
        "A mass of 1 kg and 5 cm dropped from 0.15 m, steps of 0.01 s.",
        "Backward Euler with the same activation; [Holz14], Fig. 2.",
        checks,
    ))
}

fn passes(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    let once = drop(&SMOOTH, 1, 100, Fault::None);
    let differences = (2..=50).map(|passes| worst(&drop(&SMOOTH, passes, 100, Fault::None), &once));
    let factors = |passes| iteration_factors(1000.0, 100.0, 1.0, 0.01, passes);
    let ((k1, c1), (k5, c5)) = (factors(1), factors(5));
    Ok(outcome(
        "The number of iterations does not change the trajectory of an isolated contact.",
        "The drop of J1 with 1 to 50 iterations.",
        "The factors of [Holz14], Eq. 28.",
        vec![
            Check::new(
                "largest difference from one iteration, 2 to 50 iterations",
                differences.fold(0.0, larger),
                "m",
                Band::below(1e-12),
            ),
            near("spring factor, 1 iteration", k1, 0.047619, "", 1e-6),
            near("damper factor, 1 iteration", c1, 0.476190, "", 1e-6),
            near("spring factor, 5 iterations", k5, 0.0125366, "", 1e-7),
            near("damper factor, 5 iterations", c5, 0.1253664, "", 1e-7),
            // The factor of one iteration is far too stiff when applied five times.
            Check::control(
                "spring factor, ratio of 1 iteration to 5 iterations",
                k1 / k5,
                "",
                Band::below(3.0),
            ),
        ],
    ))
}

// ---- J3 ----

/// Time [s] after which two masses that overlap by 0.02 m separate, with the inverse mass that Eq. 21 is given, and their momentum
/// then [kg m/s].
fn contact_time(w_of: fn(f64, f64) -> f64) -> (f64, f64) {
    let (mass, dt) = ([1.0, 3.0], 1e-3);
    let w = mass.map(|m| 1.0 / m);
    let (mut x, mut v) = ([0.0, 0.98], [0.0, 0.0]);
    let (spring, damper) = iteration_factors(100.0, 0.0, w_of(w[0], w[1]), dt, 10);
    let law = frictionless(spring, damper);
    let mut time = 0.0;
    while x[1] - x[0] < 1.0 {
        let mut d = [dt * v[0], dt * v[1]];
        let mut sum = Accumulated::default();
        for _ in 0..10 {
            // i is the second, n points to it.
            let gap = (x[1] + d[1]) - (x[0] + d[0]) - 1.0;
            let moved = [d[1] - d[0], 0.0, 0.0];
            let by = project(Coulomb, &law, [1.0, 0.0, 0.0], gap, moved, &mut sum)[0];
            d[1] += w[1] / (w[0] + w[1]) * by;
            d[0] -= w[0] / (w[0] + w[1]) * by;
        }
        for a in 0..2 {
            x[a] += d[a];
            v[a] = d[a] / dt;
        }
        time += dt;
    }
    (time, mass[0] * v[0] + mass[1] * v[1])
}

fn reduced_mass(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    let (time, momentum) = contact_time(|a, b| a + b);
    let (first, _) = contact_time(|a, _| a);
    let (second, _) = contact_time(|_, b| b);
    let near = |exact: f64| Band::around(exact, 0.02);
    Ok(outcome(
        "Two grains separate after (π/2) √(m/k), with their reduced mass m.",
        "Masses of 1 and 3 kg that overlap by 0.02 m, k = 100 N/m, steps of 1 ms, ten iterations.",
        "0.1360 s; with the mass of one of the two 0.158 and 0.273 s. Band: 2 %.",
        vec![
            Check::new("duration of the contact", time, "s", near(0.1360)),
            Check::new(
                "momentum after the contact",
                momentum.abs(),
                "kg m/s",
                Band::below(1e-13),
            ),
            Check::control(
                "duration of the contact with the mass of the first grain",
                first,
                "s",
                near(0.1360),
            ),
            Check::control(
                "duration of the contact with the mass of the second grain",
                second,
                "s",
                near(0.1360),
            ),
            Check::new(
                "duration of the contact with the mass of the first grain, analytic",
                first,
                "s",
                near(0.158),
            ),
            Check::new(
                "duration of the contact with the mass of the second grain, analytic",
                second,
                "s",
                near(0.273),
            ),
        ],
    ))
}

// ---- J4, J5 ----

const STIFF: Plane = Plane {
    stiffness: 1e5,
    damping: 500.0,
    ..SMOOTH
};

fn on_plane() -> Point {
    Point {
        position: [0.0, 0.05 - 1e-4, 0.0],
        velocity: [0.0; 3],
        mass: 1.0,
        radius: 0.05,
        normal: [0.0, 1.0, 0.0],
    }
}

fn tilted(degrees: f64) -> V3<f64> {
    let angle = degrees.to_radians();
    [G * angle.sin(), -G * angle.cos(), 0.0]
}

/// Mean acceleration [m/s²] during the second that follows the first half second.
fn acceleration(plane: &Plane, passes: u32, degrees: f64) -> f64 {
    let mut point = on_plane();
    let mut speed_after = |steps: u32| {
        for _ in 0..steps {
            point.step(plane, 1.0 / 240.0, passes, tilted(degrees), Fault::None);
        }
        point.velocity[0]
    };
    let before = speed_after(120);
    speed_after(240) - before
}

/// Displacement [m] by which the friction of [Macklin14] reduces a slip [m] at a penetration of 0.01 m, and the squared friction that
/// it leaves for the warm start of the next substep.
fn macklin(slip: f64) -> (f64, f64) {
    let law = Law {
        static_friction: 0.5,
        kinetic_friction: 0.4,
        ..frictionless(1.0, 0.0)
    };
    let mut sum = Accumulated::default();
    let by = project(
        Macklin,
        &law,
        [0.0, 1.0, 0.0],
        -0.01,
        [slip, -0.01, 0.0],
        &mut sum,
    );
    (by[0], dot(sum.tangent, sum.tangent))
}

fn friction_cone(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    let friction = 20f64.to_radians().tan();
    let plane = Plane {
        static_friction: friction,
        kinetic_friction: friction,
        ..STIFF
    };
    let mut checks = vec![];
    for passes in [1, 2, 5, 10, 20] {
        let speed = |degrees: f64| acceleration(&plane, passes, degrees);
        let what = |what: &str| format!("{what}, {}", iterations(passes));
        let still = Band::between(-1e-9, 1e-9);
        checks.extend([
            Check::new(
                what("acceleration at 30°"),
                speed(30.0),
                "m/s²",
                Band::around(1.8128, 1e-3),
            ),
            Check::new(what("acceleration at 19.5°"), speed(19.5), "m/s²", still),
            Check::control(
                what("acceleration at 20.5°, against sticking"),
                speed(20.5),
                "m/s²",
                still,
            ),
            Check::new(
                what("acceleration at 20.5°"),
                speed(20.5),
                "m/s²",
                Band::above(0.01),
            ),
        ]);
    }
    // Below μ_s d the whole slip is removed, above it μ_k d of it. With x_i twice, as printed in a survey, none would be.
    for slip in [0.004, 0.02] {
        let (back, kept) = macklin(slip);
        let what = format!("reduction of a slip of {slip} m by [Macklin14]");
        checks.push(near(what, back, -0.004, "m", 1e-15));
        let what = format!("friction kept for the next substep by [Macklin14], slip of {slip} m");
        checks.push(Check::new(what, kept, "m²", Band::between(0.0, 0.0)));
    }
    Ok(outcome(
        "A point slides down an incline at g (sin θ − μ cos θ), or sticks.",
        "A mass of 1 kg on a plane with μ = tan 20°, steps of 1/240 s. [Macklin14]: a penetration of 0.01 m, μ_s = 0.5, μ_k = 0.4.",
        "Coulomb's law, 1.8128 m/s² at 30° within 0.1 %; the threshold within half a degree.",
        checks,
    ))
}

/// Angle at which a point on a plane that tilts slowly begins to slide [degrees].
fn slips_at(plane: &Plane, passes: u32, fault: Fault) -> f64 {
    let mut point = on_plane();
    let mut degrees = 20.0;
    while degrees < 60.0 {
        degrees += 0.002;
        point.step(plane, 1.0 / 60.0, passes, tilted(degrees), fault);
        if point.velocity[0] > 0.01 {
            return degrees;
        }
    }
    degrees
}

fn static_friction(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    let plane = Plane {
        static_friction: 35f64.to_radians().tan(),
        kinetic_friction: 25f64.to_radians().tan(),
        ..STIFF
    };
    let mut checks = vec![];
    for passes in [1, 5, 10, 20] {
        let what = format!("angle at which slip begins, {}", iterations(passes));
        checks.push(near(
            what,
            slips_at(&plane, passes, Fault::None),
            35.0,
            "°",
            0.2,
        ));
    }
    for (passes, wrong) in [(5, 25.3), (10, 25.1), (20, 25.06)] {
        let angle = slips_at(&plane, passes, Fault::ConeEveryPass);
        let what = format!(
            "angle at which slip begins, cone of Eq. 33 in every iteration, {}",
            iterations(passes)
        );
        checks.push(Check::control(&what, angle, "°", Band::between(34.8, 35.2)));
        checks.push(near(format!("{what}, known value"), angle, wrong, "°", 0.3));
    }
    Ok(outcome(
        "Static friction holds up to its angle, above that of kinetic friction.",
        "A mass of 1 kg on a plane that tilts slowly, μ_s = tan 35°, μ_k = tan 25°, steps of 1/60 s.",
        "35° within 0.2°; with the cone applied per iteration 25.3, 25.1, 25.06°.",
        checks,
    ))
}

// ---- J6 ----

/// Whether a point of that mass hangs below the plane for a second, held by adhesion alone.
fn is_held_by_adhesion(mass: f64, passes: u32, fault: Fault) -> bool {
    let (radius, depth) = (0.05, 0.005);
    let force = 1000.0 * contact_area(depth, radius);
    let plane = Plane {
        stiffness: 0.0,
        damping: 0.0,
        adhesion: force,
        ..SMOOTH
    };
    let mut point = Point {
        position: [0.0, -(radius - depth), 0.0],
        velocity: [0.0; 3],
        mass,
        radius,
        normal: [0.0, -1.0, 0.0],
    };
    for _ in 0..60 {
        point.step(&plane, 1.0 / 60.0, passes, [0.0, -G, 0.0], fault);
    }
    point.position[1] > -radius
}

fn adhesion(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    // m g = a A.
    const HELD: f64 = 0.1521;
    let hung = |part: f64, passes: u32, fault: Fault| {
        f64::from(u8::from(is_held_by_adhesion(HELD * part, passes, fault)))
    };
    let (yes, no) = (Band::between(1.0, 1.0), Band::between(0.0, 0.0));
    let mut checks = vec![near(
        "contact area",
        contact_area(0.005, 0.05),
        1.4923e-3,
        "m²",
        1e-7,
    )];
    for passes in [1, 5, 20] {
        for (percent, band) in [(98, yes), (102, no)] {
            let what = format!(
                "{percent} % of the largest mass is_held_by_adhesion (1: yes), {}",
                iterations(passes)
            );
            let held = hung(f64::from(percent) / 100.0, passes, Fault::None);
            checks.push(Check::new(what, held, "", band));
        }
    }
    checks.push(Check::control(
        "400 % of the largest mass is_held_by_adhesion (1: yes), cap in every iteration",
        hung(4.0, 5, Fault::AdhesionEveryPass),
        "",
        no,
    ));
    // The area stays constant where the printed one would decrease again.
    let grown = contact_area(0.2, 0.05) - contact_area(0.05, 0.05);
    checks.push(near(
        "growth of the area beyond a penetration of a radius",
        grown,
        0.0,
        "m²",
        0.0,
    ));
    Ok(outcome(
        "Adhesion holds a grain below a ceiling up to a π r² (1 − (ζ/r − 1)²).",
        "Radius 5 cm, penetration r/10, a = 1000 Pa, one second in steps of 1/60 s.",
        "[Holz14], Eq. 36: 0.1521 kg within 2 %.",
        checks,
    ))
}
