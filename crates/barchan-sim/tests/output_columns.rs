//! Columns that frames have only on request.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use barchan_frame::{Checkpoint, Column, Frame};
use barchan_post::yield_cone::{YieldCone, friction_angle};
use barchan_scene::{ConeMatch, Dimensions, Friction, SandLaw, Scene};
use barchan_sim::material::drucker_prager;
use barchan_sim::simulation::Simulation;
use support::{advance, scene_file};

/// A block of hardening sand that falls on a floor and yields.
fn scene(dimensions: usize, output: &str) -> Scene {
    let set = [
        &format!("dimensions={dimensions}"),
        "solver.resolution=0.05",
        "fill.block.material=klar sand",
        "fill.block.shape.box.max=[0.1, 0.4, 0.1]",
        output,
    ];
    scene_file("tests/block.toml", &set)
}

const NONE: &str = "output.columns=[]";
const BOTH: &str = "output.columns=[\"hardening\", \"principal_stress\"]";

fn run(scene: &Scene) -> (Frame, Checkpoint) {
    let mut simulation = Simulation::new(scene).unwrap();
    advance(&mut simulation, 4);
    let frame = simulation.write_frame().unwrap();
    (frame, simulation.save().unwrap())
}

fn floats<'a>(columns: &'a [Column], name: &str) -> &'a [f32] {
    let column = columns.iter().find(|c| c.name == name).unwrap();
    column.data.as_f32().unwrap()
}

#[test]
fn requested_columns_do_not_change_the_others() {
    let usual = [
        "position",
        "velocity",
        "id",
        "material",
        "mass",
        "pressure",
        "plastic_case",
    ];
    let (plain, plain_state) = run(&scene(3, NONE));
    let names: Vec<&str> = plain.columns.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, usual);
    let (asked, asked_state) = run(&scene(3, BOTH));
    assert_eq!(asked.columns[..7], plain.columns[..]);
    assert_eq!(asked_state.columns, plain_state.columns);
    let names: Vec<&str> = asked.columns[7..].iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["principal_stress", "hardening"]);
}

/// det(τ − λ I) over the scale cubed; in 2D of the xy block.
fn characteristic(t: &[f64], value: f64, flat: bool) -> f64 {
    let [xx, yy, zz] = [t[0] - value, t[1] - value, t[2] - value];
    let [yz, xz, xy] = [t[3], t[4], t[5]];
    if flat {
        return xx * yy - xy * xy;
    }
    xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz)
}

#[test]
fn principal_stresses_are_the_eigenvalues_of_the_stress() {
    for dimensions in [2, 3] {
        let (frame, state) = run(&scene(dimensions, BOTH));
        let principal = floats(&frame.columns, "principal_stress");
        let stress = floats(&state.columns, "stress");
        assert_eq!(
            floats(&frame.columns, "hardening"),
            floats(&state.columns, "hardening")
        );
        let mut sheared = 0;
        for (own, t) in principal.chunks_exact(3).zip(stress.chunks_exact(6)) {
            let t: Vec<f64> = t.iter().map(|v| f64::from(*v)).collect();
            let own: Vec<f64> = own.iter().map(|v| f64::from(*v)).collect();
            let size = t.iter().map(|v| v.abs()).fold(1e-3, f64::max);
            let sum: f64 = own.iter().sum();
            assert!((sum - t[0] - t[1] - t[2]).abs() < 1e-5 * size);
            for value in &own[..dimensions] {
                let power = size.powi(dimensions as i32);
                let zero = characteristic(&t, *value, dimensions == 2) / power;
                assert!(zero.abs() < 1e-5, "{zero} {own:?} {t:?}");
            }
            // Sorted, tension first; in 2D the third is the one across the plane.
            assert!(own[0] >= own[1] && (dimensions == 2 || own[1] >= own[2]));
            assert!(dimensions == 3 || (own[2] - t[2]).abs() < 1e-6 * size);
            // Negative control: another value is no eigenvalue.
            let wrong = own[0] + 0.3 * size;
            let away = characteristic(&t, wrong, dimensions == 2) / size.powi(dimensions as i32);
            sheared += usize::from(away.abs() > 1e-3);
        }
        assert!(sheared > principal.len() / 10, "{sheared}");
    }
}

#[test]
fn yield_cones_of_measurements_are_those_of_the_solver() {
    let frictions = [
        Friction::Constant(0.0),
        Friction::Constant(33.0),
        Friction::Hardening {
            h0: 35.0,
            h1: 9.0,
            h2: 0.2,
            h3: 10.0,
        },
    ];
    for friction in frictions {
        for cone in [ConeMatch::Triaxial, ConeMatch::PlaneStrain] {
            for dimensions in [Dimensions::Two, Dimensions::Three] {
                for q in [0.0, 0.7, 12.0] {
                    let law = SandLaw {
                        young: 1e5,
                        poisson: 0.3,
                        friction,
                        cohesion: 800.0,
                    };
                    let found = YieldCone::new(&law, cone, q, dimensions);
                    let angle = drucker_prager::friction_angle(friction, q);
                    assert!((friction_angle(friction, q) - angle).abs() < 1e-12);
                    let alpha = drucker_prager::alpha(angle.to_radians(), cone, dimensions);
                    assert!((found.slope - alpha).abs() < 1e-12);
                    let end = drucker_prager::friction_angle(friction, 1e4).to_radians();
                    let cohesion = drucker_prager::cone_cohesion(law.cohesion, end, cone);
                    assert!((found.cohesion - cohesion).abs() < 1e-9);
                }
            }
        }
    }
}
