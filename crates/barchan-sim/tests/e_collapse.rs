//! E2: a column in a channel collapses as experiments do.

mod support;

use barchan_frame::Manifest;
use barchan_post::measure::measure;
use support::{advance, start};

const WIDTH: f64 = 0.1;

/// A 2D column of aspect ratio 2 against a frictional wall, 20 cells wide.
fn column(friction_angle: f64) -> String {
    format!(
        r#"
        dimensions = 2
        frame_rate = 100
        [solver]
        dx = 0.005
        [materials.sand]
        density = 1600
        young = 1e6
        friction_angle = {friction_angle}
        [[fill]]
        shape = {{ box = {{ min = [0, 0], max = [0.1, 0.2] }} }}
        material = "sand"
        [[collider]]
        name = "floor"
        shape = {{ half_space = {{ normal = [0, 1] }} }}
        boundary = "sticky"
        [[collider]]
        name = "wall"
        shape = {{ half_space = {{ normal = [1, 0] }} }}
        friction = 0.4
        "#
    )
}

struct Collapse {
    /// (d∞ − d_i)/d_i.
    runout: f64,
    /// h∞/d_i.
    height: f64,
    /// Time at which the front has come 99 % of its way, in √(h_i/g).
    duration: f64,
}

fn collapse(friction_angle: f64) -> Collapse {
    let mut simulation = start(&column(friction_angle));
    let sand = barchan_frame::ManifestMaterial {
        name: "sand".into(),
        density: 1600.0,
    };
    let manifest = Manifest {
        materials: vec![sand],
        dimensions: 2,
        dx: 0.005,
        ..Manifest::default()
    };
    let mut front = vec![];
    let mut height = 0.0;
    for _ in 0..100 {
        advance(&mut simulation, 1);
        let m = measure(&simulation.write_frame().unwrap(), &manifest).unwrap();
        front.push(m.extent_x.unwrap()[1]);
        height = m.height_m.unwrap();
    }
    let last = front[front.len() - 1];
    let arrival = front
        .iter()
        .position(|&x| x - WIDTH >= 0.99 * (last - WIDTH))
        .unwrap();
    Collapse {
        runout: (last - WIDTH) / WIDTH,
        height: height / WIDTH,
        duration: (arrival + 1) as f64 * 0.01 / (0.2f64 / 9.81).sqrt(),
    }
}

/// Envelope of the experiments and of μ(I) continua at a = 2, and 10 % of it on either side.
fn in_envelope(c: &Collapse) -> bool {
    (2.40 * 0.9..=3.60 * 1.1).contains(&c.runout) && (0.83 * 0.9..=1.32 * 1.1).contains(&c.height)
}

#[test]
fn e2_planar_collapse_lies_in_the_experimental_envelope() {
    let c = collapse(30.0);
    println!(
        "ΔL/L = {:.3}, H/L = {:.3}, duration {:.2} τ",
        c.runout, c.height, c.duration
    );
    assert!(in_envelope(&c), "ΔL/L = {}, H/L = {}", c.runout, c.height);
    assert!((2.5..=4.0).contains(&c.duration), "{} τ", c.duration);
}

#[test]
fn e2_rejects_a_friction_coefficient_of_two() {
    let c = collapse(2f64.atan().to_degrees());
    println!("μ = 2: ΔL/L = {:.3}, H/L = {:.3}", c.runout, c.height);
    assert!(!in_envelope(&c));
}

#[test]
fn e2_more_friction_runs_out_less_and_stands_higher() {
    let deposits: Vec<Collapse> = [20.0, 30.0, 40.0].map(collapse).into();
    for pair in deposits.windows(2) {
        assert!(pair[1].runout < pair[0].runout && pair[1].height > pair[0].height);
    }
}
