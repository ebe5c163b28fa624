//! Poured piles of pbd: case E6 of docs/validation.md, with its negative control.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use support::grains::{Grain, grains};
use support::{advance, start};

const RADIUS: f64 = 0.05;
const GRAINS: usize = 2000;

/// Grains with a friction angle [degrees] and an adhesion [Pa], poured on a rough floor in ten seconds.
struct Pour {
    scheme: &'static str,
    passes: u32,
    reduction: f64,
    angle: f64,
    adhesion: f64,
    /// Time step [s].
    dt: f64,
    sleep: f64,
    /// Height from which they fall [m].
    mouth: f64,
}

impl Pour {
    fn scene(&self) -> String {
        // 60 % of the bulk is grain.
        let volume = 4.0 / 3.0 * std::f64::consts::PI * RADIUS.powi(3);
        let rate = GRAINS as f64 / 10.0 * volume * 1600.0 / 0.6;
        format!(
            r#"
frame_rate = 2
[solver]
method = "pbd"
dt = {}
radius = {RADIUS}
scheme = "{}"
iterations = {}
error_reduction = {}
sleep_threshold = {}
[materials.sand]
preset = "dry sand"
friction_angle = {}
adhesion = {}
[[collider]]
shape = {{ half_space = {{ normal = [0, 1, 0] }} }}
friction = 1
[[emitter]]
material = "sand"
shape = {{ cylinder = {{ from = [0, {}, 0], to = [0, {}, 0], radius = 0.3 }} }}
velocity = [0, -1, 0]
rate = {rate}
end = 10
"#,
            self.dt,
            self.scheme,
            self.passes,
            self.reduction,
            self.sleep,
            self.angle,
            self.adhesion,
            self.mouth,
            self.mouth - 0.1
        )
    }

    /// The pile 5 s after the last grain.
    fn run(&self) -> Pile {
        let mut run = start(&self.scene());
        advance(&mut run, 30);
        Pile::new(&grains(&mut run))
    }
}

/// A pile as its azimuthal mean: heights of the surface in rings a diameter wide.
struct Pile {
    grains: usize,
    /// Surface of each ring [m]: the mean over fields about a diameter long of the highest grain in each.
    heights: Vec<f64>,
    fastest: f32,
    moving: usize,
}

impl Pile {
    fn new(all: &[Grain]) -> Self {
        let width = 2.0 * RADIUS;
        let mut fields: Vec<Vec<f64>> = (0..60)
            .map(|ring| {
                vec![0.0; ((f64::from(ring) + 0.5) * std::f64::consts::TAU).round() as usize]
            })
            .collect();
        for g in all {
            let (x, z) = (f64::from(g.x.x), f64::from(g.x.z));
            let ring = (x.hypot(z) / width) as usize;
            let turn = z.atan2(x) / std::f64::consts::TAU + 0.5;
            if let Some(ring) = fields.get_mut(ring) {
                let field = (turn * ring.len() as f64) as usize;
                let last = ring.len() - 1;
                let top = f64::from(g.x.y + g.radius);
                ring[field.min(last)] = ring[field.min(last)].max(top);
            }
        }
        let mean = |ring: &Vec<f64>| ring.iter().sum::<f64>() / ring.len() as f64;
        Self {
            grains: all.len(),
            heights: fields.iter().map(mean).collect(),
            moving: all.iter().filter(|g| g.v.length() > 0.01).count(),
            fastest: all.iter().map(|g| g.v.length()).fold(0.0, f32::max),
        }
    }

    /// First radius at which the surface is lower than a grain [m].
    fn foot(&self) -> f64 {
        let low = self.heights.iter().position(|h| *h < 2.0 * RADIUS);
        low.unwrap_or(self.heights.len()) as f64 * 2.0 * RADIUS
    }

    /// Slope of the outer flank [degrees]: the straight line through the rings between 30 and 90 % of the foot.
    fn slope(&self) -> f64 {
        let foot = self.foot();
        let points: Vec<[f64; 2]> = (self.heights.iter().enumerate())
            .map(|(i, h)| [(i as f64 + 0.5) * 2.0 * RADIUS, *h])
            .filter(|p| p[0] > 0.3 * foot && p[0] < 0.9 * foot)
            .collect();
        let n = points.len() as f64;
        let mean = |k: usize| points.iter().map(|p| p[k]).sum::<f64>() / n;
        let (mx, my) = (mean(0), mean(1));
        let sum = |k: usize| {
            points
                .iter()
                .map(|p| (p[0] - mx) * (p[k] - [mx, my][k]))
                .sum::<f64>()
        };
        (-sum(1) / sum(0)).atan().to_degrees()
    }
}

#[test]
fn trace() {
    for (scheme, passes, dt, sleep, angles) in [
        (
            "mass splitting",
            1,
            1.0 / 60.0,
            0.0,
            &[0.0, 5.0, 15.0, 30.0][..],
        ),
        (
            "mass splitting",
            1,
            1.0 / 60.0,
            3e-4,
            &[0.0, 5.0, 15.0, 30.0],
        ),
        (
            "mass splitting",
            1,
            1.0 / 240.0,
            3e-4 / 16.0,
            &[0.0, 5.0, 15.0, 30.0],
        ),
        ("gauss-seidel", 20, 1.0 / 600.0, 3e-6, &[5.0, 30.0]),
    ] {
        for angle in angles {
            let clock = std::time::Instant::now();
            let pour = Pour {
                scheme,
                passes,
                reduction: 0.0,
                angle: *angle,
                adhesion: 0.0,
                dt,
                mouth: 2.0,
                sleep,
            };
            let pile = pour.run();
            println!(
                "E6 {scheme} {passes} dt={dt:.5} sleep {sleep:e} {angle}: {} grains slope {:.2} foot {:.2} fastest {:.4} moving {} in {:.1}s",
                pile.grains,
                pile.slope(),
                pile.foot(),
                pile.fastest,
                pile.moving,
                clock.elapsed().as_secs_f64()
            );
            println!(
                "  {:.2?}",
                &pile.heights[..(pile.foot() / 0.1) as usize + 3]
            );
        }
    }
}
