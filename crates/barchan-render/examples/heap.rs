use barchan_render::{camera::*, colour, grains::Grains, tracer::*};
use barchan_scene::geometry::Bounds;
use glam::Vec3;
use std::time::Instant;
fn main() {
    let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let spp: u32 = std::env::args().nth(2).unwrap().parse().unwrap();
    let b: u32 = std::env::args().nth(3).unwrap().parse().unwrap();
    // cone heap of radius 1, height 0.55
    let v = std::f32::consts::PI / 3.0 * 0.55;
    let h = (v / n as f32).cbrt();
    let mut g = Grains {
        radius: vec![0.5 * h * 1.17],
        ..Grains::default()
    };
    let m = (1.0 / h) as i32 + 1;
    let mut id = 0u64;
    let rnd = |i: u64| {
        let mut x = i.wrapping_mul(0x9e3779b97f4a7c15);
        x ^= x >> 31;
        x = x.wrapping_mul(0xbf58476d1ce4e5b9);
        x ^= x >> 29;
        (x >> 40) as f32 / 16777216.0 - 0.5
    };
    for y in 0..m {
        for z in -m..=m {
            for x in -m..=m {
                let i = ((y * 4000 + z + 2000) as u64) * 4000 + (x + 2000) as u64;
                let p = Vec3::new(
                    x as f32 + 0.8 * rnd(3 * i),
                    y as f32 + 0.5 + 0.8 * rnd(3 * i + 1),
                    z as f32 + 0.8 * rnd(3 * i + 2),
                ) * h;
                if p.y < 0.55 * (1.0 - p.with_y(0.0).length()) {
                    g.position.push(p.to_array());
                    g.colour.push(colour::SAND[colour::sand_index(id)].0);
                    id += 1;
                }
            }
        }
    }
    let t = Instant::now();
    let s = Spheres::new(&g, 0.01);
    println!(
        "{} grains, build {:.2} s",
        g.len(),
        t.elapsed().as_secs_f64()
    );
    let bounds = Bounds::from_corners(Vec3::new(-1.0, 0.0, -1.0), Vec3::new(1.0, 0.55, 1.0));
    let from = Vec3::new(0.5, 0.35, 1.0).normalize();
    let view = framed(&bounds, from, 30.0, 16.0 / 9.0);
    let size = [1280, 720];
    let camera = Camera::new(&view, size);
    let stage = Stage {
        spheres: s,
        bodies: vec![],
        planes: vec![Plane {
            point: Vec3::ZERO,
            normal: Vec3::Y,
            colour: Vec3::new(0.45, 0.44, 0.42),
        }],
        sky: Sky::with_sun(-0.6, 0.75),
        fade: 6.0,
        centre: Vec3::ZERO,
        epsilon: 1e-3 * h,
    };
    let t = Instant::now();
    let p = stage.draw(
        &camera,
        size,
        Quality {
            samples: spp,
            bounces: b,
        },
        0,
    );
    println!("draw {:.2} s", t.elapsed().as_secs_f64());
    image::save_buffer(
        "/tmp/g/heap.png",
        &p.rgb,
        p.width,
        p.height,
        image::ColorType::Rgb8,
    )
    .unwrap();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    println!(
        "{}",
        status.lines().find(|l| l.starts_with("VmHWM")).unwrap()
    );
}
