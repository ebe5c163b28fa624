//! The contact law of pbd in f64: cases J1–J6 of docs/validation.md, each with its negative control.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use barchan_scene::PbdFriction;
use barchan_sim::solvers::pbd::contact::{
    Accumulated, Law, V3, contact_area, iteration_factors, project,
};

const G: f64 = 9.81;

/// A point mass with gravity, at one fixed plane of a given normal through the origin.
struct Point {
    position: V3<f64>,
    velocity: V3<f64>,
    mass: f64,
    radius: f64,
    normal: V3<f64>,
}

/// What the plane is like.
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

/// How a pass goes wrong, for the negative controls.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// C_s ≤ 0 is tested in every pass.
    ActivationEveryPass,
    /// The cone is applied to the corrections of each pass.
    ConeEveryPass,
    /// The cap of adhesion is applied to the corrections of each pass.
    AdhesionEveryPass,
}

fn dot(a: V3<f64>, b: V3<f64>) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

impl Point {
    /// One step: Eq. 2, then passes over the one contact, then Eq. 3. Returns whether there was a contact.
    fn step(
        &mut self,
        plane: &Plane,
        dt: f64,
        passes: u32,
        gravity: V3<f64>,
        fault: Fault,
    ) -> bool {
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
                keep: 1.0,
                spring,
                damper,
                static_friction: plane.static_friction,
                kinetic_friction: plane.kinetic_friction,
                adhesion: dt * dt * w * plane.adhesion,
                max_separation: f64::INFINITY,
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
                let by = project(
                    PbdFriction::Coulomb,
                    &law,
                    self.normal,
                    at(moved),
                    moved,
                    &mut sum,
                );
                moved = std::array::from_fn(|a| moved[a] + by[a]);
            }
        }
        for a in 0..3 {
            self.position[a] += moved[a];
            self.velocity[a] = moved[a] / dt;
        }
        active
    }
}

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

/// The same by backward Euler, which begins to feel the plane when the prediction does.
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

#[test]
fn j1_spring_and_damper_are_backward_euler() {
    let soft = Plane {
        stiffness: 100.0,
        damping: 0.0,
        ..SMOOTH
    };
    let stated: [(&Plane, &[(usize, f64)]); 2] = [
        (
            &SMOOTH,
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
            &soft,
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
    for (plane, table) in stated {
        let exact = backward_euler(plane, 100);
        for passes in [1, 5, 20] {
            let heights = drop(plane, passes, 100, Fault::None);
            let worst = (heights.iter().zip(&exact)).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
            assert!(worst < 1e-12, "{passes} passes: {worst:e}");
            for (step, height) in table {
                assert!((heights[*step] - height).abs() < 1e-6, "{step}");
            }
        }
    }
    // Negative control: activation in every pass is millimeters off.
    let wrong = drop(&SMOOTH, 5, 100, Fault::ActivationEveryPass);
    let exact = backward_euler(&SMOOTH, 100);
    let worst = (wrong.iter().zip(&exact)).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
    assert!((worst - 5.3e-3).abs() < 0.3e-3, "{worst}");
}

#[test]
fn j2_passes_do_not_change_the_trajectory() {
    let once = drop(&SMOOTH, 1, 100, Fault::None);
    for passes in 2..=50 {
        let heights = drop(&SMOOTH, passes, 100, Fault::None);
        let worst = (heights.iter().zip(&once)).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
        assert!(worst < 1e-12, "{passes} passes: {worst:e}");
    }
    let (spring, damper) = iteration_factors(1000.0, 100.0, 1.0, 0.01, 1);
    assert!((spring - 0.047619).abs() < 1e-6 && (damper - 0.476190).abs() < 1e-6);
    let (spring, damper) = iteration_factors(1000.0, 100.0, 1.0, 0.01, 5);
    assert!((spring - 0.0125366).abs() < 1e-7 && (damper - 0.1253664).abs() < 1e-7);
    // Negative control: the factors of one pass, taken five times, are far too stiff.
    let (once, _) = iteration_factors(1000.0, 100.0, 1.0, 0.01, 1);
    assert!(once > 3.0 * spring);
}

/// Time after which two masses that overlap by 0.02 part, with the inverse mass that Eq. 21 is given.
fn contact_time(w_of: impl Fn(f64, f64) -> f64) -> (f64, f64) {
    let (mass, dt) = ([1.0, 3.0], 1e-3);
    let w = mass.map(|m| 1.0 / m);
    let (mut x, mut v) = ([0.0, 0.98], [0.0, 0.0]);
    let (spring, damper) = iteration_factors(100.0, 0.0, w_of(w[0], w[1]), dt, 10);
    let law = Law {
        keep: 1.0,
        spring,
        damper,
        static_friction: 0.0,
        kinetic_friction: 0.0,
        adhesion: 0.0,
        max_separation: f64::INFINITY,
    };
    let mut time = 0.0;
    while x[1] - x[0] < 1.0 {
        let mut d = [dt * v[0], dt * v[1]];
        let mut sum = Accumulated::default();
        for _ in 0..10 {
            // i is the second, n points to it.
            let gap = (x[1] + d[1]) - (x[0] + d[0]) - 1.0;
            let moved = [d[1] - d[0], 0.0, 0.0];
            let by = project(
                PbdFriction::Coulomb,
                &law,
                [1.0, 0.0, 0.0],
                gap,
                moved,
                &mut sum,
            )[0];
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

#[test]
fn j3_pairs_have_the_reduced_mass() {
    let (time, momentum) = contact_time(|a, b| a + b);
    assert!((time / 0.1360 - 1.0).abs() < 0.02, "{time}");
    assert!(momentum.abs() < 1e-13, "{momentum}");
    // Negative controls: the mass of one of the two.
    for (w, wrong) in [(1.0, 0.158), (1.0 / 3.0, 0.273)] {
        let (time, _) = contact_time(|_, _| w);
        assert!((time / wrong - 1.0).abs() < 0.02, "{time}");
    }
}

const STIFF: Plane = Plane {
    stiffness: 1e5,
    damping: 500.0,
    static_friction: 0.0,
    kinetic_friction: 0.0,
    adhesion: 0.0,
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

#[test]
fn j4_slides_down_an_incline_as_coulomb_says() {
    let friction = 20f64.to_radians().tan();
    let plane = Plane {
        static_friction: friction,
        kinetic_friction: friction,
        ..STIFF
    };
    for passes in [1, 2, 5, 10, 20] {
        let run = |degrees: f64| {
            let mut point = on_plane();
            let dt = 1.0 / 240.0;
            for _ in 0..120 {
                point.step(&plane, dt, passes, tilted(degrees), Fault::None);
            }
            let settled = point.velocity[0];
            for _ in 0..240 {
                point.step(&plane, dt, passes, tilted(degrees), Fault::None);
            }
            point.velocity[0] - settled
        };
        let acceleration = run(30.0);
        let wanted = G * (30f64.to_radians().sin() - friction * 30f64.to_radians().cos());
        assert!((wanted - 1.8128).abs() < 1e-4);
        assert!((acceleration / wanted - 1.0).abs() < 1e-3, "{acceleration}");
        assert!(run(19.5).abs() < 1e-9);
        // Negative control: it does slide just above.
        assert!(run(20.5) > 0.01);
    }
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

#[test]
fn j5_static_friction_holds_up_to_its_angle() {
    let plane = Plane {
        static_friction: 35f64.to_radians().tan(),
        kinetic_friction: 25f64.to_radians().tan(),
        ..STIFF
    };
    for passes in [1, 5, 10, 20] {
        let angle = slips_at(&plane, passes, Fault::None);
        assert!((angle - 35.0).abs() < 0.2, "{passes} passes: {angle}");
    }
    // Negative control: the cone of Eq. 33 in every pass loses static friction.
    for (passes, wrong) in [(5, 25.3), (10, 25.1), (20, 25.06)] {
        let angle = slips_at(&plane, passes, Fault::ConeEveryPass);
        assert!((angle - wrong).abs() < 0.3, "{passes} passes: {angle}");
    }
}

/// Whether a point of that mass hangs below the plane for a second, held by adhesion alone.
fn hangs(mass: f64, passes: u32, fault: Fault) -> bool {
    let (radius, depth) = (0.05, 0.005);
    let force = 1000.0 * contact_area(depth, radius);
    let plane = Plane {
        stiffness: 0.0,
        damping: 0.0,
        static_friction: 0.0,
        kinetic_friction: 0.0,
        adhesion: force,
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

#[test]
fn j6_adhesion_holds_what_it_should() {
    assert!((contact_area(0.005, 0.05) - 1.4923e-3).abs() < 1e-7);
    for passes in [1, 5, 20] {
        assert!(hangs(0.1521 * 0.98, passes, Fault::None), "{passes}");
        assert!(!hangs(0.1521 * 1.02, passes, Fault::None), "{passes}");
    }
    // Negative control: a cap in every pass holds many times as much.
    assert!(hangs(0.1521 * 4.0, 5, Fault::AdhesionEveryPass));
    // Where the printed area would shrink again, it stays.
    assert_eq!(contact_area(0.2, 0.05), contact_area(0.05, 0.05));
}

#[test]
fn macklin_friction_is_relative_to_the_penetration() {
    let law = Law {
        keep: 1.0,
        spring: 1.0,
        damper: 0.0,
        static_friction: 0.5,
        kinetic_friction: 0.4,
        adhesion: 0.0,
        max_separation: f64::INFINITY,
    };
    let friction = |slip: f64| {
        let mut sum = Accumulated::default();
        let (normal, moved) = ([0.0, 1.0, 0.0], [slip, -0.01, 0.0]);
        let by = project(PbdFriction::Macklin, &law, normal, -0.01, moved, &mut sum);
        // Nothing for the next substep to begin with.
        assert_eq!(sum.tangent, [0.0; 3]);
        by[0]
    };
    // Below µ_s d everything is taken back, above µ_k d of it.
    assert!((friction(0.004) + 0.004).abs() < 1e-15);
    assert!((friction(0.02) + 0.004).abs() < 1e-15);
    // As printed in a survey, with x_i twice, the slip would be nothing and nothing would be taken back.
    assert!(friction(0.02) != 0.0);
}
