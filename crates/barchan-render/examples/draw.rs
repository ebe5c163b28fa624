//! scratch
use barchan_render::{RenderOptions, Renderer, tracer::Quality};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let dir = barchan_frame::ResultDirectory::open(a[1].as_ref()).unwrap();
    let mut o = RenderOptions {
        quality: Quality {
            samples: a[4].parse().unwrap(),
            bounces: 2,
        },
        ..Default::default()
    };
    for s in &a[5..] {
        o.overrides.set.push(s.clone());
    }
    let r = Renderer::open(dir, o).unwrap();
    println!("{:?}", r.warnings);
    let t = std::time::Instant::now();
    let f = if a[2] == "last" {
        *r.frames().last().unwrap()
    } else {
        a[2].parse().unwrap()
    };
    let p = r.draw(f).unwrap();
    println!("{:?}", t.elapsed());
    image::save_buffer(&a[3], &p.rgb, p.width, p.height, image::ColorType::Rgb8).unwrap();
}
