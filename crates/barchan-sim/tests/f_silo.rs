//! F3: a silo empties at a constant rate, whatever the fill height.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use support::{advance, start};

/// A flat-bottomed 2D silo 50 cells wide with a slot of 12 cells.
fn silo(friction_angle: f64) -> String {
    format!(
        r#"
        dimensions = 2
        frame_rate = 20
        frames = 60
        [solver]
        resolution = 0.005
        [materials.sand]
        density = 1600
        young = 2e5
        friction_angle = {friction_angle}
        [[fill]]
        shape = {{ box = {{ min = [-0.125, 0], max = [0.125, 0.4] }} }}
        material = "sand"
        [[collider]]
        name = "silo"
        friction = 0.4
        shape = {{ difference = [
            {{ box = {{ min = [-0.3, -0.05], max = [0.3, 0.8] }} }},
            {{ box = {{ min = [-0.125, 0], max = [0.125, 0.9] }} }},
            {{ box = {{ min = [-0.03, -0.1], max = [0.03, 0.1] }} }},
        ] }}
        [[drain]]
        shape = {{ half_space = {{ point = [0, -0.1], normal = [0, 1] }} }}
        "#
    )
}

/// Part of the sand that has left after each frame, until 85 % has.
fn drain(friction_angle: f64) -> Vec<f64> {
    let mut simulation = start(&silo(friction_angle));
    let all = simulation.particles() as f64;
    let mut left = vec![0.0];
    while left[left.len() - 1] < 0.85 && left.len() < 100 {
        advance(&mut simulation, 1);
        left.push(1.0 - simulation.particles() as f64 / all);
    }
    left
}

/// Mean rate [parts a frame] while the part that has left goes from `a` to `b`.
fn rate(left: &[f64], a: f64, b: f64) -> f64 {
    let time_of = |part: f64| {
        let i = left.iter().position(|&l| l >= part).unwrap();
        i as f64 - (left[i] - part) / (left[i] - left[i - 1])
    };
    (b - a) / (time_of(b) - time_of(a))
}

#[test]
fn f3_discharge_does_not_depend_on_fill_height() {
    let sand = drain(30.0);
    let whole = rate(&sand, 0.1, 0.8);
    let (early, late) = (rate(&sand, 0.1, 0.45), rate(&sand, 0.45, 0.8));
    println!("sand: {early:.4} {late:.4} of {whole:.4} a frame");
    for part in [early, late] {
        assert!(
            (part / whole - 1.0).abs() < 0.05,
            "rate drifts: {early} then {late}"
        );
    }
    // Beverloo for a slot: W = C₂ ρ √g D^(3/2), continuum codes have C₂ in 0.9–1.5.
    let c2 = whole * 20.0 * 0.25 * 0.4 / (9.81f64.sqrt() * 0.06f64.powf(1.5));
    println!("C₂ = {c2:.3}");
    assert!((0.9..1.5).contains(&c2), "C₂ = {c2}");
}

#[test]
fn f3_a_fluid_slows_down_as_it_empties() {
    // Negative control: without friction the rate falls with √h, by far more than the band allows.
    let fluid = drain(0.0);
    let whole = rate(&fluid, 0.1, 0.8);
    let (early, late) = (rate(&fluid, 0.1, 0.45), rate(&fluid, 0.45, 0.8));
    println!("fluid: {early:.4} {late:.4}");
    assert!(early / whole > 1.1 && late / whole < 0.9, "{early} {late}");
    // Torricelli: √h averaged over the two halves of the drain. Equal parts leave per interval, so the ratio of mean
    // rates is that of (√h₁ + √h₂)/2 with h = 1 − part.
    let mean_root = |a: f64, b: f64| ((1.0 - a).sqrt() + (1.0 - b).sqrt()) / 2.0;
    let expected = mean_root(0.45, 0.8) / mean_root(0.1, 0.45);
    assert!(
        (late / early / expected - 1.0).abs() < 0.15,
        "{} against {expected}",
        late / early
    );
}
