//! Rigid bodies with grains: exchange of momentum, and rest, for any mass ratio.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use barchan_sim::simulation::Simulation;
use glam::{DVec3, Vec3};
use support::*;

/// Total momentum and angular momentum of grains and bodies about the origin. The angular momentum of an APIC particle includes
/// that of its affine velocity.
fn momentum(simulation: &mut Simulation, density: f64) -> (DVec3, DVec3, f64) {
    let state = simulation.save().unwrap();
    let affine = floats(&state, "affine").to_vec();
    let affine = affine.as_chunks::<9>().0;
    let ids = match &state.column("id").unwrap().data {
        barchan_frame::ColumnData::U32(ids) => ids.clone(),
        _ => panic!("ids are u32"),
    };
    let (mut p, mut l, mut scale) = (DVec3::ZERO, DVec3::ZERO, 0.0);
    let all = of_checkpoint(&state);
    for (i, id) in ids.iter().enumerate() {
        let grain = &all[all.binary_search_by_key(id, |g| g.id).unwrap()];
        let m = density * f64::from(grain.volume);
        let (x, v) = (grain.x.as_dvec3(), grain.v.as_dvec3());
        p += m * v;
        l += m * x.cross(v);
        // Spin of the affine velocity, with D = h²/4.
        let c = affine[i].map(f64::from);
        let d = m * DX * DX / 4.0;
        l += d * curl(&c);
        scale += m * v.length();
    }
    let (bp, bl) = simulation.bodies().momentum();
    (p + bp, l + bl, scale)
}

/// Σ over axes a of e_a × (C e_a), with c[3 i + j] = ∂v_i/∂x_j.
fn curl(c: &[f64; 9]) -> DVec3 {
    DVec3::new(c[7] - c[5], c[2] - c[6], c[3] - c[1])
}

/// Grid spacing of the scene [m].
const DX: f64 = 0.04;

#[test]
fn momentum_is_conserved_between_grains_and_bodies() {
    for density in [3000.0, 30.0] {
        let mut simulation = start_file(
            "tests/floating.toml",
            &[&format!("body.box.density={density}")],
        );
        let (p0, l0, _) = momentum(&mut simulation, 1600.0);
        let body0 = simulation.bodies().momentum();
        advance(&mut simulation, 20);
        let (p1, l1, scale) = momentum(&mut simulation, 1600.0);
        let body1 = simulation.bodies().momentum();
        let exchanged = (body1.0 - body0.0).length();
        let turned = (body1.1 - body0.1).length();
        let rounding = 1e-6 * scale.max(p0.length());
        assert!((p1 - p0).length() < rounding, "{}", p1 - p0);
        assert!((l1 - l0).length() < rounding, "{}", l1 - l0);
        // Negative control: the momentum of the bodies alone, and so that of the grains alone, changes.
        assert!(exchanged > 1e4 * rounding, "{exchanged}");
        assert!(turned > 1e2 * rounding, "{turned}");
    }
}

/// Center [m] and speed [m/s] of the box in the trough.
fn box_now(simulation: &Simulation) -> (Vec3, f32) {
    let mut colliders = simulation.colliders().clone();
    simulation.bodies().pose(&mut colliders);
    let body = &colliders.list[1];
    let center = body.mass.unwrap().center;
    (center, body.velocity_at(center).length())
}

#[test]
fn bodies_of_any_mass_come_to_rest() {
    for ratio in [1e-4, 1e-2, 1.0, 1e2, 1e4] {
        // The same volume of sand has 12.8 kg.
        let mass = format!("body.box.mass={}", 1600.0 * 0.008 * ratio);
        let mut simulation = start_file("tests/trough.toml", &[&mass]);
        let mut fastest = 0.0f32;
        for _ in 0..50 {
            advance(&mut simulation, 1);
            let (center, speed) = box_now(&simulation);
            assert!(speed.is_finite() && center.is_finite());
            fastest = fastest.max(speed);
        }
        let (center, speed) = box_now(&simulation);
        // Free fall from 0.25 m to the floor of the trough reaches 2.2 m/s.
        assert!(fastest < 2.3, "ratio {ratio}: {fastest} m/s");
        assert!(speed < 0.02, "ratio {ratio}: {speed} m/s at the end");
        // A box lighter than sand stays on top, a much heavier one sinks to the floor.
        let height = if ratio <= 1.0 { 0.28..0.36 } else { 0.09..0.11 };
        assert!(height.contains(&center.y), "ratio {ratio}: {center}");
    }
}
