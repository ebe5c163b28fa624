//! Fuzz test of the position-based solver: small random scenes with tools that teleport, steps of 1 ms to 0.1 s, contacts of any
//! stiffness, and bodies that appear inside soil, of 1/10 000 to 10 000 times the mass of a grain. No value may become NaN, and no
//! grain may exceed ten times the reference speed: the largest speed of anything that can have hit it.
//!
//! `cargo test --release -p barchan-sim --test fuzz -- --ignored --nocapture ten_thousand` runs 10 000 cases.
//! `BARCHAN_CASE=17 cargo test … fuzz -- --ignored --nocapture one_case` prints one case step by step.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use barchan_frame::Checkpoint;
use barchan_scene::{Overrides, Scene, SceneSource, load};
use barchan_sim::collider::PosedCollider;
use barchan_sim::math::Level;
use barchan_sim::simulation::Simulation;
use barchan_sim::solvers::pbd::Pbd;
use rayon::prelude::*;
use std::fmt::Write;
use support::floats_mut;

/// Largest allowed speed of a grain, as a multiple of the reference speed.
const BOUND: f32 = 10.0;

/// Deterministic random numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn within(&mut self, low: f64, high: f64) -> f64 {
        let part = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        low + part * (high - low)
    }

    /// Uniform in the logarithm.
    fn decades(&mut self, low: f64, high: f64) -> f64 {
        self.within(low.ln(), high.ln()).exp()
    }

    fn whole(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    fn chance(&mut self, part: f64) -> bool {
        self.within(0.0, 1.0) < part
    }

    fn one_of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.whole(0, list.len() as u64 - 1) as usize]
    }
}

/// A random case: a scene, its time steps, and perturbations of its initial state.
struct Case {
    text: String,
    steps: Vec<f64>,
    /// Speed of a fall over the height of the scene [m/s].
    fall: f32,
    /// Largest initial speed of grains and bodies [m/s].
    start: f32,
    /// The same scene without bodies, if the bodies are to appear inside its soil.
    buried: Option<String>,
    /// Fraction of their distance from the center by which grains are moved toward it, so that they overlap.
    squeeze: f32,
    flat: bool,
    shuffle: u64,
}

/// Half the width of the trough, in mean radii.
const WIDTH: f64 = 8.0;

impl Case {
    fn new(number: u64) -> Self {
        let mut dice = Random(number.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let d = &mut dice;
        let flat = d.chance(0.3);
        let has_terrain = !flat && d.chance(0.2);
        let radius = d.decades(0.01, 0.2);
        let (width, height) = (WIDTH * radius, d.within(3.0, 14.0) * radius);
        let top = 2.0 * height + 8.0 * radius;
        let g = match d.chance(0.1) {
            true => 0.0,
            false => d.decades(0.2, 20.0),
        };
        let mut text = head(d, radius, g, flat);
        walls(&mut text, width, has_terrain, flat);
        let mut deep = 0.0;
        if has_terrain {
            let cell = radius * d.within(1.0, 4.0);
            let depth = radius * d.within(2.0, 20.0);
            deep = depth;
            writeln!(
                text,
                "[terrain]\nmaterial = \"a\"\nsize = [{0}, {0}]\ncell = {cell}\ndepth = {depth}\nheight = {1}",
                3.0 * width, d.within(0.0, 0.5) * height
            )
            .unwrap();
        }
        let (fills, start) = fills(d, width, height, radius, has_terrain, g == 0.0);
        text += &fills;
        let tools = d.whole(if g == 0.0 { 1 } else { 0 }, 2);
        for _ in 0..tools {
            tool(&mut text, d, width, top, radius, flat);
        }
        let (bodies, fastest) = bodies(d, width, height, radius, flat);
        let buried = (!bodies.is_empty() && d.chance(0.6)).then(|| text.clone());
        let squeeze = match d.chance(0.3) {
            true => d.within(0.05, 1.0),
            false => 0.0,
        };
        text += &bodies;
        Self {
            steps: steps(d),
            text,
            fall: (2.0 * g * (top + deep)).sqrt() as f32,
            start: start.max(fastest) as f32,
            buried,
            squeeze: squeeze as f32,
            flat,
            shuffle: d.next(),
        }
    }
}

/// Gravity, solver and materials. The scene is generated as text, not changed from a file in scenes/: kind, number and order of its
/// tables are random too, and the text of a failed case reproduces it by itself.
fn head(d: &mut Random, radius: f64, g: f64, flat: bool) -> String {
    let scheme = d.one_of(&[
        "mass splitting",
        "mass splitting",
        "averaged",
        "gauss-seidel",
    ]);
    let tilt = match d.chance(0.2) {
        true => d.within(0.0, 0.5),
        false => 0.0,
    };
    let (sin, cos) = f64::sin_cos(tilt);
    let mut text = format!(
        "gravity = [{:.6}, {:.6}, 0]\ndimensions = {}\nseed = {}\n[solver]\nmethod = \"pbd\"\nresolution = {}\n\
         [solver.pbd]\nscheme = \"{scheme}\"\nradius_spread = {:.3}\n",
        g * sin,
        -g * cos,
        if flat { 2 } else { 3 },
        d.whole(1, 1000),
        2.0 * radius,
        d.within(0.0, 0.5),
    );
    if d.chance(0.3) {
        writeln!(text, "substeps = {}", d.whole(1, 20)).unwrap();
        writeln!(text, "iterations = {}", d.whole(1, 20)).unwrap();
    }
    if d.chance(0.2) {
        text += "friction_model = \"macklin\"\n";
    }
    if d.chance(0.2) {
        writeln!(text, "error_reduction = {:.3}", d.within(0.0, 1.0)).unwrap();
    }
    if d.chance(0.2) {
        text += "sleep_threshold = 0\n";
    }
    for name in ["a", "b"] {
        let stiffness = d.decades(1e1, 1e7);
        let angle = d.within(0.0, 80.0);
        let density = d.decades(20.0, 2e5);
        write!(
            text,
            "[materials.{name}]\npreset = \"dry sand\"\npbd.stiffness = {stiffness:.3e}\nfriction_angle = {angle:.2}\n\
             density = {density:.2}\n"
        )
        .unwrap();
        if d.chance(0.3) {
            writeln!(text, "pbd.damping = {:.3e}", d.decades(1e-3, 1e6)).unwrap();
        }
        if d.chance(0.4) {
            writeln!(text, "pbd.adhesion = {:.3e}", d.decades(1.0, 1e7)).unwrap();
        }
    }
    text
}

/// A trough, so that the height of the scene bounds the fall.
fn walls(text: &mut String, width: f64, has_terrain: bool, flat: bool) {
    let mut planes = vec![
        ([-width, 0.0, 0.0], [1, 0, 0]),
        ([width, 0.0, 0.0], [-1, 0, 0]),
    ];
    if !has_terrain {
        planes.push(([0.0; 3], [0, 1, 0]));
    }
    if !flat {
        planes.push(([0.0, 0.0, -width], [0, 0, 1]));
        planes.push(([0.0, 0.0, width], [0, 0, -1]));
    }
    for (point, normal) in planes {
        writeln!(
            text,
            "[[collider]]\nshape = {{ half_space = {{ point = {point:?}, normal = {normal:?} }} }}"
        )
        .unwrap();
    }
}

/// One or two fills, which may overlap; also their largest speed.
fn fills(
    d: &mut Random,
    width: f64,
    height: f64,
    radius: f64,
    has_terrain: bool,
    moves: bool,
) -> (String, f64) {
    let (mut text, mut fastest) = (String::new(), 0.0f64);
    let base = if has_terrain { 0.8 * height } else { 0.0 };
    for material in ["a", "b"].iter().take(d.whole(1, 2) as usize) {
        let half = [0, 1, 2].map(|_| d.within(2.0 * radius, 0.9 * width));
        let at = [half[0], half[2]].map(|h| d.within(h - width, width - h));
        let low = base + d.within(0.0, 0.5) * height;
        let (min, max) = (
            [at[0] - half[0], low, at[1].min(0.0) - half[2]],
            [
                at[0] + half[0],
                low + 4.0 * radius + half[1],
                at[1].max(0.0) + half[2],
            ],
        );
        let speed = match d.chance(0.3) || moves {
            true => d.decades(0.01, 30.0),
            false => 0.0,
        };
        fastest = fastest.max(speed);
        let turn = d.within(0.0, std::f64::consts::TAU);
        let v = [speed * turn.cos(), speed * turn.sin(), 0.0];
        writeln!(
            text,
            "[[fill]]\nsampling = \"lattice\"\nmaterial = \"{material}\"\nvelocity = {v:?}\nshape = {{ box = {{ min = {min:?}, max = {max:?} }} }}"
        )
        .unwrap();
    }
    (text, fastest)
}

fn shape(d: &mut Random, at: [f64; 3], radius: f64) -> String {
    let size = radius * d.decades(0.5, 8.0);
    let end = at.map(|x| x + d.within(-1.0, 1.0) * size);
    match d.whole(0, 3) {
        0 => format!("sphere = {{ center = {at:?}, radius = {size} }}"),
        1 => format!(
            "capsule = {{ from = {at:?}, to = {end:?}, radius = {} }}",
            0.4 * size
        ),
        2 => {
            let sizes = [0, 1, 2].map(|_| size * d.within(0.2, 2.0));
            format!("box = {{ center = {at:?}, size = {sizes:?} }}")
        }
        _ => format!(
            "cylinder = {{ from = {at:?}, to = {end:?}, radius = {} }}",
            0.4 * size
        ),
    }
}

fn place(d: &mut Random, width: f64, top: f64, flat: bool) -> [f64; 3] {
    let z = if flat { 0.0 } else { d.within(-width, width) };
    [d.within(-width, width), d.within(0.0, top), z]
}

/// A scripted collider: it jumps between keyframes, glides, or spins.
fn tool(text: &mut String, d: &mut Random, width: f64, top: f64, radius: f64, flat: bool) {
    let shape = shape(d, [0.0; 3], radius);
    let boundary = d.one_of(&["separating", "separating", "slipping", "sticky"]);
    write!(
        text,
        "[[collider]]\nshape = {{ {shape} }}\nboundary = \"{boundary}\"\nfriction = {:.3}\n[collider.motion]\n",
        d.within(0.0, 2.0)
    )
    .unwrap();
    let jumps = d.chance(0.6);
    let (mut keys, mut time) = (Vec::new(), 0.0);
    for _ in 0..d.whole(2, 8) {
        let at = place(d, width, top, flat);
        keys.push(format!("{{ time = {time}, value = {at:?} }}"));
        time += d.decades(1e-3, 1.0);
        if jumps {
            keys.push(format!("{{ time = {}, value = {at:?} }}", time - 1e-6));
        }
    }
    let kind = d.one_of(&["linear", "smooth"]);
    writeln!(
        text,
        "position = {{ keyframes = [{}], interpolation = \"{kind}\" }}",
        keys.join(", ")
    )
    .unwrap();
    if d.chance(0.4) {
        let rate = d.decades(1.0, 3e4);
        writeln!(text, "rotation = {{ axis = [0, 0, 1], rate = {rate} }}").unwrap();
    }
}

/// Free bodies of any mass, in the soil or above it; also their largest initial speed.
fn bodies(d: &mut Random, width: f64, height: f64, radius: f64, flat: bool) -> (String, f64) {
    let (mut text, mut fastest) = (String::new(), 0.0f64);
    let grain = 2000.0 * 4.2 * radius.powi(3);
    for _ in 0..d.whole(0, 2) {
        let at = place(d, 0.8 * width, height, flat);
        let shape = shape(d, [at[0], at[1] + 2.0 * radius, at[2]], radius);
        let speed = match d.chance(0.3) {
            true => d.decades(0.01, 30.0),
            false => 0.0,
        };
        fastest = fastest.max(speed);
        let mass = grain * d.decades(1e-4, 1e4);
        writeln!(
            text,
            "[[body]]\nshape = {{ {shape} }}\nmass = {mass:e}\nvelocity = [{speed}, 0, 0]\nfriction = {:.3}",
            d.within(0.0, 2.0)
        )
        .unwrap();
    }
    (text, fastest)
}

/// Steps [s] from 1 ms to 0.1 s, equal or all different.
fn steps(d: &mut Random) -> Vec<f64> {
    let (same, changes) = (d.decades(1e-3, 0.1), d.chance(0.5));
    let count = d.whole(3, 30);
    (0..count)
        .map(|_| if changes { d.decades(1e-3, 0.1) } else { same })
        .collect()
}

/// Result of a case.
#[derive(Debug, Clone, Default)]
struct Outcome {
    number: u64,
    grains: usize,
    steps: usize,
    /// Largest speed of a grain over the reference speed: the largest speed so far of tools and free bodies, at the start, and of a fall
    /// over the height of the scene.
    grain: f32,
    /// The same without free bodies in the reference speed.
    strict: f32,
    /// Largest speed of a free body over the reference speed without free bodies.
    body: f32,
    is_finite: bool,
    error: Option<String>,
}

impl Outcome {
    fn is_good(&self) -> bool {
        self.is_finite && self.error.is_none() && self.grain <= BOUND
    }
}

/// The simulation of a case, with its bodies inserted into existing soil and its grains squeezed together.
fn begin(case: &Case, freely: bool) -> Option<Simulation> {
    let scene = read(&case.text)?;
    let mut solver = Pbd::new(&scene, Level::new()).unwrap();
    if freely {
        solver.disable_separation_limit();
    }
    let mut simulation = Simulation::with_solver(&scene, Box::new(solver)).ok()?;
    let mut state = simulation.save().unwrap();
    if let Some(text) = &case.buried {
        let mut soil = Simulation::from_toml(text).ok()?;
        state = Checkpoint {
            record: state.record,
            ..soil.save().unwrap()
        };
    }
    perturb(case, &mut state);
    simulation.load(&state).unwrap();
    Some(simulation)
}

/// A scene; `None` if it is refused, such as a fill inside a tool or terrain of soil without friction.
fn read(text: &str) -> Option<Scene> {
    let source = SceneSource {
        name: "case.toml".into(),
        text: text.into(),
        directory: ".".into(),
    };
    load(&source, &Overrides::default()).ok()
}

/// Random radii and positions instead of the lattice; grains are squeezed together.
fn perturb(case: &Case, state: &mut Checkpoint) {
    let mut d = Random(case.shuffle);
    let sizes: Vec<f32> = (floats_mut(state, "radius").iter())
        .map(|_| d.within(0.6, 1.4) as f32)
        .collect();
    let mut mean = 0.0;
    for (radius, size) in floats_mut(state, "radius").iter_mut().zip(&sizes) {
        mean = *radius;
        *radius *= size;
    }
    for (mass, size) in floats_mut(state, "mass").iter_mut().zip(&sizes) {
        *mass *= size.powi(3);
    }
    let positions = floats_mut(state, "position").as_chunks_mut::<3>().0;
    let count = positions.len() as f32;
    let middle = [0, 1, 2].map(|a| positions.iter().map(|p| p[a]).sum::<f32>() / count);
    let axes = if case.flat { 2 } else { 3 };
    for p in positions {
        for axis in 0..axes {
            let shift = d.within(-0.3, 0.3) as f32 * mean;
            p[axis] += shift + case.squeeze * (middle[axis] - p[axis]);
        }
    }
}

fn run(number: u64, freely: bool, watch: bool) -> Option<Outcome> {
    let case = Case::new(number);
    let mut simulation = begin(&case, freely)?;
    let mut out = Outcome {
        number,
        grains: simulation.particles(),
        is_finite: true,
        ..Outcome::default()
    };
    let (mut scripted, mut free) = (case.fall.max(case.start), 0.0f32);
    if watch {
        println!("{}\nfall {} start {}", case.text, case.fall, case.start);
    }
    for dt in &case.steps {
        if let Err(error) = simulation.step(*dt) {
            out.error = Some(error.to_string());
            break;
        }
        out.steps += 1;
        let list = &simulation.colliders().list;
        let speed = |is_free: bool| {
            let which = list.iter().filter(|c| c.mass.is_some() == is_free);
            which.map(PosedCollider::surface_speed).fold(0.0, f32::max)
        };
        scripted = scripted.max(speed(false));
        let body = speed(true);
        free = free.max(body);
        let arrays = simulation.view().unwrap().arrays().unwrap();
        let (grains, places) = (arrays.velocity, arrays.position);
        out.is_finite &= grains.iter().chain(places).all(|v| v.is_finite()) && body.is_finite();
        let grain = grains.iter().map(|v| v.length()).fold(0.0, f32::max);
        out.grain = out.grain.max(grain / scripted.max(free));
        out.strict = out.strict.max(grain / scripted);
        out.body = out.body.max(body / scripted);
        if watch {
            let which = grains.iter().position(|v| v.length() == grain).unwrap_or(0);
            println!(
                "dt {dt:.5} fastest {scripted:.3} grain {grain:.3} body {body:.3} of {}; it is at {:?}, v {:?}",
                grains.len(),
                places.get(which),
                grains.get(which)
            );
        }
    }
    Some(out)
}

/// Runs one case; a panic gives its number as the error.
fn run_catching_panics(number: u64, freely: bool) -> Result<Option<Outcome>, u64> {
    std::panic::catch_unwind(|| run(number, freely, false)).map_err(|_| number)
}

/// Runs cases, prints their speed ratios, and returns those that failed.
fn run_cases(count: usize, freely: bool) -> Vec<Outcome> {
    // Some scenes are refused.
    let numbers = 0..count as u64 + count as u64 / 10 + 10;
    let all: Vec<Outcome> = (numbers.into_par_iter())
        .filter_map(|n| run_catching_panics(n, freely).transpose())
        .map(|outcome| {
            outcome.unwrap_or_else(|n| Outcome {
                number: n,
                error: Some("a panic".into()),
                ..Outcome::default()
            })
        })
        .collect();
    assert!(all.len() >= count, "{} of {count}", all.len());
    let all = &all[..count];
    let steps: usize = all.iter().map(|o| o.steps).sum();
    let grains: usize = all.iter().map(|o| o.grains).sum();
    let highest = |f: fn(&Outcome) -> f32| all.iter().map(f).fold(0.0, f32::max);
    println!(
        "{count} cases, {steps} steps, {} grains on average; largest speed ratio of grains {:.2} ({:.2}), of free bodies {:.2}",
        grains / count.max(1),
        highest(|o| o.grain),
        highest(|o| o.strict),
        highest(|o| o.body),
    );
    for limit in [1.0, 2.0, 5.0, 10.0, 100.0, 1000.0] {
        let grains = all.iter().filter(|o| o.grain > limit).count();
        let strict = all.iter().filter(|o| o.strict > limit).count();
        let bodies = all.iter().filter(|o| o.body > limit).count();
        println!("above {limit}: grains in {grains} ({strict}) cases, bodies in {bodies}");
    }
    let bad = all.iter().filter(|o| !o.is_good() || o.body > BOUND);
    bad.for_each(|outcome| println!("case {}: {outcome:?}", outcome.number));
    all.iter().filter(|o| !o.is_good()).cloned().collect()
}

#[test]
fn six_hundred_cases_stay_bounded() {
    assert_eq!(run_cases(600, false).len(), 0);
}

/// Negative control: without the limit of the separation speed, some of the same cases fail.
#[test]
fn without_the_separation_limit_the_bound_is_violated() {
    let bad = run_cases(300, true);
    assert!(bad.len() >= 4, "{}", bad.len());
}

#[test]
#[ignore = "minutes; its command and figures are in docs/solvers/pbd.md"]
fn ten_thousand_cases_stay_bounded() {
    assert_eq!(run_cases(10_000, false).len(), 0);
}

#[test]
#[ignore = "prints the case whose number is in BARCHAN_CASE"]
fn one_case() {
    let number = std::env::var("BARCHAN_CASE").ok();
    let number = number.and_then(|n| n.parse().ok()).unwrap_or(0);
    println!("{:?}", run(number, false, true));
}
