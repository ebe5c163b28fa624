//! How steep a layer of this sand can lie: up to the slope at which its law loses ellipticity, which uniform shear alone
//! does not show. docs/validation.md says what follows for slopes.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use barchan_sim::simulation::Simulation;
use support::localization::localization;
use support::*;

/// Lateral stress of a layer that its weight compressed elastically.
fn at_rest(poisson: f64) -> f64 {
    poisson / (1.0 - poisson)
}

/// Slope above which steady simple shear flows: μ_ss = 2√3 sin φ/(3 − sin φ).
fn flow_angle(friction_angle: f64) -> f64 {
    let sin = friction_angle.to_radians().sin();
    (2.0 * 3f64.sqrt() * sin / (3.0 - sin)).atan().to_degrees()
}

#[test]
fn bands_come_before_uniform_shear_reaches_its_limit() {
    let mut last = 0.0;
    for angle in [20.0, 25.0, 30.0, 35.0, 40.0] {
        let flow = flow_angle(angle);
        let slopes = [0.1, 0.2, 0.3, 0.4, 0.45].map(|poisson| {
            localization(angle, poisson, at_rest(poisson))
                .unwrap()
                .slope
        });
        println!(
            "φ = {angle}°: bands from {slopes:.1?}° for ν = 0.1, 0.2, 0.3, 0.4, 0.45; uniform shear flows at {flow:.1}°"
        );
        assert!(slopes.iter().all(|slope| *slope < flow - 0.5), "{slopes:?}");
        assert!(slopes[2] > last, "{slopes:?} after {last}");
        last = slopes[2];
        // The control: a layer under the same pressure from all sides does not yield before it flows.
        let isotropic = localization(angle, 0.3, 1.0).unwrap();
        assert!((isotropic.slope - flow).abs() < 0.1, "{isotropic:?}");
    }
}

/// A layer 20 cells deep on a rough base, repeated along x and z, under gravity that comes on within half a second.
fn layer(friction_angle: f64, poisson: f64, degrees: f64) -> Simulation {
    let (sin, cos) = degrees.to_radians().sin_cos();
    let [x, y] = [9.81 * sin, -9.81 * cos];
    start(&format!(
        r#"
frame_rate = 10
gravity = {{ keyframes = [{{ time = 0, value = [{}, {}, 0] }}, {{ time = 0.5, value = [{x}, {y}, 0] }}] }}
domain = {{ min = [-0.04, -1, -0.02], max = [0.04, 2, 0.02], periodic = ["x", "z"] }}
[solver]
resolution = 0.01
[materials.sand]
density = 1600
young = 1e6
poisson = {poisson}
friction_angle = {friction_angle}
[[fill]]
material = "sand"
shape = {{ box = {{ min = [-0.04, 0, -0.02], max = [0.04, 0.2, 0.02] }} }}
[[collider]]
name = "base"
shape = {{ half_space = {{ normal = [0, 1, 0] }} }}
boundary = "sticky"
"#,
        1e-3 * x,
        1e-3 * y
    ))
}

/// Speed down the slope [m/s] after 1.5 s.
fn speed(friction_angle: f64, poisson: f64, degrees: f64) -> f64 {
    let mut run = layer(friction_angle, poisson, degrees);
    advance(&mut run, 15);
    mean_velocity(&particles(&mut run)).x
}

#[test]
fn a_layer_lies_up_to_the_slope_at_which_bands_are_possible() {
    for (angle, poisson) in [(25.0, 0.3), (30.0, 0.3), (35.0, 0.3), (35.0, 0.45)] {
        let slope = localization(angle, poisson, at_rest(poisson))
            .unwrap()
            .slope;
        let (below, above) = (
            speed(angle, poisson, slope - 1.0),
            speed(angle, poisson, slope + 1.5),
        );
        println!(
            "φ = {angle}°, ν = {poisson}: bands from {slope:.2}°; {below:.1e} m/s 1° below, {above:.1e} m/s 1.5° above; \
             uniform shear flows at {:.1}°",
            flow_angle(angle)
        );
        assert!(below.abs() < 1e-3, "{below} m/s");
        assert!(above > 0.02, "{above} m/s");
    }
}
