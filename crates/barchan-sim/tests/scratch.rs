mod support;
use support::*;

fn heap2(young: f64, dx: f64, transfer: &str, extra: &str) -> String {
    format!(r#"
dimensions = 2
frame_rate = 10
[solver]
dx = {dx}
transfer = "{transfer}"
{extra}
[materials.sand]
law = "sand"
density = 1600
young = {young}
poisson = 0.3
friction_angle = 30
[[fill]]
material = "sand"
shape = {{ box = {{ min = [-0.1, 0], max = [0.1, 0.2] }} }}
[[collider]]
name = "floor"
shape = {{ half_space = {{ normal = [0, 1] }} }}
friction = 0.6
"#)
}

#[test]
fn drift() {
    let dx = 0.02f32;
    for (young, transfer, extra) in [(1e6, "apic", ""), (3e5, "apic", ""), (1e6, "apic", "kernel = \"cubic\""), (1e6, "flip", "")] {
        let t0 = std::time::Instant::now();
        let mut s = start(&heap2(young, dx as f64, transfer, extra));
        println!("== E {young} {transfer} {extra} n {}", s.particles());
        let mut last = particles(&mut s);
        for k in 0..8 {
            advance(&mut s, 20);
            let now = particles(&mut s);
            let d: Vec<f32> = now.iter().zip(&last).map(|(a, b)| (a.x - b.x).length() / dx).collect();
            let max = d.iter().copied().fold(0.0, f32::max);
            let mean = d.iter().sum::<f32>() / d.len() as f32;
            let i = d.iter().position(|v| *v == max).unwrap();
            let vmax = now.iter().map(|p| p.v.length()).fold(0.0, f32::max);
            let over = d.iter().filter(|v| **v > 0.02).count();
            println!("t {} drift/2s max {max:.4} mean {mean:.5} dx, at {:?} case {} vmax {vmax:.2e} over0.02: {over} wall {:?} steps {}", 2 * (k + 1), now[i].x, now[i].case, t0.elapsed(), s.counters().substeps);
            last = now;
        }
    }
}
