//! D1, E6, J7, J8: position-based grains, which do not turn.

use crate::fit;
use crate::outcome::{Band, Check, Outcome};
use crate::plot::{Axis, Plot, Style};
use crate::trial::{G, Trial, floats};
use crate::{Case, Context, ValidateError};
use barchan_frame::{Checkpoint, Column, ColumnData, Unit};
use glam::DVec3;

/// A poured pile.
pub const E6: Case = Case {
    name: "E6",
    title: "A poured pile: friction, adhesion, passes",
    solvers: &["pbd"],
    seconds: 60.0,
    run: poured_pile,
};

/// A stack of balls.
pub const J7: Case = Case {
    name: "J7",
    title: "A stack of ten balls: averaging and Gauss–Seidel",
    solvers: &["pbd"],
    seconds: 1.0,
    run: stack_of_balls,
};

/// A ball on two floors.
pub const J8: Case = Case {
    name: "J8",
    title: "A ball on two floors: the load error of averaging",
    solvers: &["pbd"],
    seconds: 1.0,
    run: two_floors,
};

/// A grain, exactly as the solver holds it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grain {
    /// Position [m].
    pub x: DVec3,
    /// Velocity [m/s].
    pub v: DVec3,
    /// Radius [m].
    pub radius: f64,
    /// Mass [kg].
    pub mass: f64,
}

/// All grains of a run of `pbd`, or particles of `sph`.
pub(super) fn grains(trial: &mut Trial<'_>) -> Result<Vec<Grain>, ValidateError> {
    let state = trial.save()?;
    // Particles of sph are all alike.
    let usual = 0.5 * trial.scene().solver.resolution;
    let all = || {
        let three = |name: &str| Some(floats(&state, name)?.as_chunks::<3>().0);
        let (x, v) = (three("position")?, three("velocity")?);
        let (radius, mass) = (floats(&state, "radius"), floats(&state, "mass")?);
        let vector = |v: [f32; 3]| DVec3::from_array(v.map(f64::from));
        let grain = |i: usize| {
            Some(Grain {
                x: vector(*x.get(i)?),
                v: vector(*v.get(i)?),
                radius: radius.map_or(Some(usual), |r| r.get(i).map(|r| f64::from(*r)))?,
                mass: f64::from(*mass.get(i)?),
            })
        };
        (0..x.len()).map(grain).collect::<Option<Vec<Grain>>>()
    };
    all().ok_or_else(|| trial.unusable("the state lacks a column"))
}

/// Puts grains like the first one at these places, at rest, instead of those that are there.
fn place(trial: &mut Trial<'_>, places: &[DVec3]) -> Result<(), ValidateError> {
    let Some(like) = grains(trial)?.first().copied() else {
        return Err(trial.unusable("there is no grain"));
    };
    let count = places.len();
    let column = |name: &str, components: usize, data: Vec<f32>| {
        Column::exact(name, Unit::One, "", components, ColumnData::F32(data))
    };
    let position = places.iter().flat_map(|p| p.as_vec3().to_array());
    let ids = ColumnData::U32((0..count as u32).collect());
    let materials = ColumnData::U8(vec![0; count]);
    let mut state = Checkpoint {
        columns: vec![
            column("position", 3, position.collect()),
            column("velocity", 3, vec![0.0; 3 * count]),
            column("radius", 1, vec![like.radius as f32; count]),
            column("mass", 1, vec![like.mass as f32; count]),
            Column::exact("id", Unit::One, "", 1, ids),
            Column::exact("material", Unit::One, "", 1, materials),
        ],
        ..trial.save()?
    };
    // No contact of the grains that were there is remembered.
    state.remove_scalar("substep");
    trial.load(&state)
}

const RADIUS: f64 = 0.05;

/// One grain, to be put in place, and colliders.
fn one_grain(solver: &str, stiffness: f64, gravity: [f64; 2], colliders: &str) -> String {
    format!(
        r#"
frame_rate = 60
gravity = [{}, {}, 0]
[solver]
method = "pbd"
resolution = {}
[solver.pbd]
radius_spread = 0
sleep_threshold = 0
{solver}
[materials.sand]
preset = "dry sand"
[materials.sand.pbd]
stiffness = {stiffness}
[[fill]]
material = "sand"
sampling = "lattice"
shape = {{ box = {{ min = [0, 0, 0], max = [0.08, 0.12, 0.08] }} }}
{colliders}
"#,
        gravity[0],
        gravity[1],
        2.0 * RADIUS
    )
}

fn floor(friction: f64) -> String {
    format!(
        "[[collider]]\nshape = {{ half_space = {{ normal = [0, 1, 0] }} }}\nfriction = {friction}\n"
    )
}

// ---- D1 ----

/// Acceleration [m/s²] of a grain on an incline between 0.5 and 1.5 s.
pub(super) fn acceleration(
    context: &Context<'_>,
    degrees: f64,
    friction: f64,
) -> Result<f64, ValidateError> {
    let (sin, cos) = degrees.to_radians().sin_cos();
    let text = one_grain("", 1e5, [G * sin, -G * cos], &floor(friction));
    let label = format!("{degrees}°, μ = {friction}");
    let mut trial = Trial::start(context, label, 90, &text)?;
    place(&mut trial, &[DVec3::new(0.0, RADIUS, 0.0)])?;
    let mut speed = |frames: u32| {
        trial.advance(frames)?;
        let all = grains(&mut trial)?;
        Ok(all.iter().map(|g| g.v.x).sum::<f64>())
    };
    let first = speed(30)?;
    Ok(speed(60)? - first)
}

// ---- J7 ----

/// By how much a stack of ten balls is lower than hard ones [radii], mean of the last three of ten seconds.
fn sunk(
    context: &Context<'_>,
    scheme: &str,
    passes: u32,
    reduction: f64,
) -> Result<f64, ValidateError> {
    let solver =
        format!("scheme = \"{scheme}\"\niterations = {passes}\nerror_reduction = {reduction}");
    let label = format!("{scheme}, {passes} passes, ε = {reduction}");
    let text = one_grain(&solver, 1e6, [0.0, -G], &floor(0.0));
    let mut trial = Trial::start(context, label, 600, &text)?;
    let height = |i: u32| RADIUS * (1.0 + 2.0 * f64::from(i));
    let places: Vec<DVec3> = (0..10).map(|i| DVec3::new(0.0, height(i), 0.0)).collect();
    place(&mut trial, &places)?;
    trial.advance(420)?;
    let mut sum = 0.0;
    for _ in 0..180 {
        trial.advance(1)?;
        let top = grains(&mut trial)?
            .iter()
            .map(|g| g.x.y)
            .fold(f64::MIN, f64::max);
        sum += (height(9) - top) / RADIUS;
    }
    Ok(sum / 180.0)
}

fn stack_of_balls(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let mut curves: [Vec<[f64; 2]>; 3] = Default::default();
    let mut checks = vec![];
    for passes in [10, 20, 40] {
        let seidel = sunk(context, "gauss-seidel", passes, 0.0)?;
        let plain = sunk(context, "averaged", passes, 0.0)?;
        let reduced = sunk(context, "averaged", passes, 0.5)?;
        for (curve, value) in curves.iter_mut().zip([seidel, plain, reduced]) {
            curve.push([f64::from(passes), value]);
        }
        checks.push(Check::new(
            format!("Gauss–Seidel over averaged, {passes} passes"),
            seidel / plain,
            "",
            Band::between(0.0, 1.0),
        ));
        checks.push(Check::new(
            format!("averaged with ε = 0.5 over without, {passes} passes"),
            reduced / plain,
            "",
            Band::between(0.0, 1.0),
        ));
    }
    checks.push(Check::control(
        "Gauss–Seidel over averaged with ε = 0.5, 10 passes: the order turns round",
        curves[0][0][1] / curves[2][0][1],
        "",
        Band::between(0.0, 1.0),
    ));
    let split = sunk(context, "mass splitting", 1, 0.0)?;
    let springs = 55.0 * 1600.0 / 0.6 * 4.0 / 3.0 * std::f64::consts::PI * RADIUS * RADIUS * G;
    Ok(Outcome {
        physics: "Passes over contacts one after another carry load through a stack faster than averaged ones. Correcting the \
                  upper ball more and the lower less (ε) makes up for it, and adds momentum m λ ε (−n·ĝ) for each contact."
            .into(),
        setup: "Ten balls of 5 cm one above the other, k = 1e6 N/m, steps of 1/60 s; the mean of the last three of ten seconds. With \
                five passes of Gauss–Seidel, or k = 1e7 N/m, the stack may go on hopping: see docs/validation.md."
            .into(),
        reference: "Order of the schemes in [Holz14], Fig. 5.".into(),
        plots: vec![
            Plot::new(
                "By how much the stack sinks",
                Axis::log("passes"),
                Axis::new("sunk [radii]"),
            )
            .with(Style::Curve, "Gauss–Seidel", &curves[0])
            .with(Style::Curve, "averaged", &curves[1])
            .with(Style::Curve, "averaged, ε = 0.5", &curves[2]),
        ],
        checks,
        notes: vec![
            format!(
                "Springs of k = 1e6 N/m give way by {:.3} radii. No scheme of the paper gets there, however many passes: the factors \
                 of Eq. 28 are those of a contact that is alone.",
                springs / 1e6
            ),
            format!("Mass splitting, ten substeps: {split:.3} radii, what the stiffest springs do that such substeps can follow."),
            "The momentum that ε adds is checked in tests/j_stack.rs of barchan-sim.".into(),
        ],
    })
}

// ---- J8 ----

/// Penetration [m] of a ball that rests on two floors in one place, and force on both over its weight.
fn on_two_floors(context: &Context<'_>, scheme: &str) -> Result<(f64, f64), ValidateError> {
    let solver = format!("scheme = \"{scheme}\"\nerror_reduction = 0");
    let text = one_grain(&solver, STIFFNESS, [0.0, -G], &floor(0.0).repeat(2));
    let mut trial = Trial::start(context, scheme, 300, &text)?;
    place(&mut trial, &[DVec3::new(0.0, RADIUS, 0.0)])?;
    trial.advance(300)?;
    let force: f64 = trial.forces()?.iter().map(|f| -f.y).sum();
    match grains(&mut trial)?.first() {
        Some(g) => {
            let exact = g.mass * G / (2.0 * STIFFNESS);
            Ok(((RADIUS - g.x.y) / exact, force / (g.mass * G)))
        }
        None => Err(trial.unusable("the ball is gone")),
    }
}

/// Soft enough for substeps to follow [N/m].
const STIFFNESS: f64 = 1e4;

fn two_floors(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let (split, weight) = on_two_floors(context, "mass splitting")?;
    let (averaged, averaged_weight) = on_two_floors(context, "averaged")?;
    let (seidel, _) = on_two_floors(context, "gauss-seidel")?;
    let band = Band::around(1.0, 0.01);
    Ok(Outcome {
        physics: "Two floors in one place share the weight of a ball: each is pressed in half as deep as one alone.".into(),
        setup: "A ball of 5 cm on two planes, k = 1e4 N/m, after five seconds.".into(),
        reference: "m g/2k; [Holz14] §9 says that averaging weakens contacts, and proposes mass splitting.".into(),
        plots: vec![
            Plot::new(
                "Penetration over the exact one",
                Axis::new("mass splitting, averaged, Gauss–Seidel"),
                Axis::new("ratio"),
            )
            .with_level_band("± 1 %", 0.5, 3.5, 0.99, 1.01)
            .with(Style::Points, "pbd", &[[1.0, split], [3.0, seidel]])
            .with(Style::Control, "control: averaged", &[[2.0, averaged]]),
        ],
        checks: vec![
            Check::new("penetration over m g/2k, mass splitting", split, "", band),
            Check::new("force on both floors over the weight, mass splitting", weight, "", Band::around(1.0, 1e-3)),
            Check::new("force on both floors over the weight, averaged", averaged_weight, "", Band::around(1.0, 1e-3)),
            Check::control("penetration over m g/2k, averaged", averaged, "", band),
        ],
        notes: vec![format!(
            "Gauss–Seidel: {seidel:.3}. The factors of Eq. 28 are those of a contact that is alone; two in turn are more than twice as stiff."
        )],
    })
}

// ---- E6 ----

/// How a pile is made.
#[derive(Clone, Copy)]
struct Pour {
    scheme: &'static str,
    passes: u32,
    reduction: f64,
    /// Key of the material that is set to the angle.
    key: &'static str,
    /// [degrees].
    angle: f64,
    /// [Pa].
    adhesion: f64,
    seed: u64,
}

/// Piles whose mean slope is that of II as in the paper: from 23.7 to 28.5° with eight seeds, standard deviation 1.4°.
const SAMPLES: u64 = 4;

/// A pile as its mean around the axis.
struct Pile {
    /// Radius and height of the surface of rings a diameter wide [m].
    profile: Vec<[f64; 2]>,
    /// Slope of the flank [degrees].
    slope: f64,
    /// Grains faster than 1 cm/s.
    moving: usize,
}

impl Pour {
    fn label(&self) -> String {
        let Self {
            angle, adhesion, ..
        } = self;
        match self.scheme {
            "mass splitting" => {
                let which = self.key.replace('_', " ");
                format!("mass splitting, {which} {angle}°, {adhesion} Pa")
            }
            scheme => format!(
                "{scheme}, {} passes, ε = {}, {angle}°, {adhesion} Pa",
                self.passes, self.reduction
            ),
        }
    }

    fn scene(&self) -> String {
        let grain = 1600.0 / 0.6 * 4.0 / 3.0 * std::f64::consts::PI * RADIUS.powi(3);
        format!(
            r#"
frame_rate = 2
seed = {}
[solver]
method = "pbd"
resolution = {}
[solver.pbd]
scheme = "{}"
iterations = {}
error_reduction = {}
sleep_threshold = 3e-4
[materials.sand]
preset = "dry sand"
{} = {}
pbd.adhesion = {}
[[collider]]
shape = {{ half_space = {{ normal = [0, 1, 0] }} }}
friction = 1
[[emitter]]
material = "sand"
shape = {{ cylinder = {{ from = [0, 2, 0], to = [0, 1.9, 0], radius = 0.3 }} }}
velocity = [0, -1, 0]
rate = {}
end = 10.2
"#,
            self.seed,
            2.0 * RADIUS,
            self.scheme,
            self.passes,
            self.reduction,
            self.key,
            self.angle,
            self.adhesion,
            200.0 * grain
        )
    }

    /// The pile five seconds after the last grain.
    fn run(&self, context: &Context<'_>) -> Result<Pile, ValidateError> {
        let mut trial = Trial::start(context, self.label(), 31, &self.scene())?;
        trial.advance(31)?;
        Ok(Pile::of(&grains(&mut trial)?))
    }
}

impl Pile {
    /// The surface of a ring is the mean, over fields about a diameter long, of the highest grain in each. The flank is
    /// the straight line through the rings between 30 and 90 % of the foot, where the surface is lower than a grain.
    fn of(all: &[Grain]) -> Self {
        let width = 2.0 * RADIUS;
        let fields = |ring: u32| ((f64::from(ring) + 0.5) * std::f64::consts::TAU).round() as usize;
        let mut rings: Vec<Vec<f64>> = (0..60).map(|ring| vec![0.0; fields(ring)]).collect();
        for g in all {
            let ring = (g.x.x.hypot(g.x.z) / width) as usize;
            let turn = g.x.z.atan2(g.x.x) / std::f64::consts::TAU + 0.5;
            let Some(ring) = rings.get_mut(ring) else {
                continue;
            };
            let field = ((turn * ring.len() as f64) as usize).min(ring.len() - 1);
            ring[field] = ring[field].max(g.x.y + g.radius);
        }
        let mean = |ring: &Vec<f64>| ring.iter().sum::<f64>() / ring.len() as f64;
        let heights: Vec<f64> = rings.iter().map(mean).collect();
        let foot = heights.iter().position(|h| *h < width).unwrap_or(60);
        let middle = |ring: usize| (ring as f64 + 0.5) * width;
        let profile: Vec<[f64; 2]> = (0..foot + 2)
            .filter_map(|ring| Some([middle(ring), *heights.get(ring)?]))
            .collect();
        let edge = foot as f64 * width;
        let flank: Vec<[f64; 2]> = (profile.iter().copied())
            .filter(|p| p[0] > 0.3 * edge && p[0] < 0.9 * edge)
            .collect();
        Self {
            profile,
            slope: (-fit::line(&flank).slope).atan().to_degrees(),
            moving: all.iter().filter(|g| g.v.length() > 0.01).count(),
        }
    }
}

/// Friction where two grains touch.
const CONTACT: &str = "pbd.contact_friction_angle";

const FOUR_TIMES: &str = "The paper gives neither stiffness nor time step. With those of dry sand here, forty passes of Gauss–Seidel come \
    nearer to the forces than averaging does, and so to the steep heaps of balls that do not turn.";

fn poured_pile(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let paper = |angle: f64, adhesion: f64| Pour {
        scheme: "averaged",
        passes: 10,
        reduction: 0.5,
        key: CONTACT,
        angle,
        adhesion,
        seed: 1,
    };
    let seidel = |passes: u32, angle: f64| Pour {
        scheme: "gauss-seidel",
        passes,
        reduction: 0.0,
        ..paper(angle, 0.0)
    };
    let split = |key: &'static str, angle: f64, adhesion: f64| Pour {
        scheme: "mass splitting",
        passes: 1,
        reduction: 0.0,
        key,
        ..paper(angle, adhesion)
    };
    let plain = Pour {
        reduction: 0.0,
        ..paper(30.0, 0.0)
    };
    let mut plot = Plot::new(
        "Surface of the piles",
        Axis::new("distance from the axis [m]"),
        Axis::new("height [m]"),
    );
    let mut notes = vec![];
    let mut slope = |style: Style, pour: Pour| -> Result<f64, ValidateError> {
        let pile = pour.run(context)?;
        let series = std::mem::take(&mut plot);
        plot = series.with(style, &pour.label(), &pile.profile);
        notes.push(format!(
            "{}: {:.1}°, {} grains faster than 1 cm/s five seconds after the last one fell.",
            pour.label(),
            pile.slope,
            pile.moving
        ));
        Ok(pile.slope)
    };
    let one = slope(Style::Curve, paper(5.0, 0.0))?;
    let mut two = slope(Style::Curve, paper(30.0, 0.0))?;
    for seed in 2..=SAMPLES {
        let again = Pour {
            seed,
            ..paper(30.0, 0.0)
        };
        two += again.run(context)?.slope;
    }
    two /= SAMPLES as f64;
    let three = slope(Style::Curve, paper(5.0, 1000.0))?;
    let slow = [
        slope(Style::Curve, seidel(40, 5.0))?,
        slope(Style::Curve, seidel(40, 30.0))?,
    ];
    let equal = slope(Style::Curve, seidel(10, 30.0))?;
    let averaged = slope(Style::ControlCurve, plain)?;
    let own = [
        slope(Style::Curve, split(CONTACT, 5.0, 0.0))?,
        slope(Style::Curve, split("friction_angle", 30.0, 0.0))?,
        slope(Style::Curve, split(CONTACT, 5.0, 1000.0))?,
    ];
    let standing = slope(Style::ControlCurve, split(CONTACT, 30.0, 0.0))?;
    let repose = Band::between(24.0, 36.0);
    let close = Band::between(-6.0, 6.0);
    let more = Band::above(0.0);
    Ok(Outcome {
        physics: "Friction and adhesion make a poured pile steeper. Averaged passes with error reduction come near to four times as many \
                  sequential ones."
            .into(),
        setup: "3D, 2000 grains of 5 cm poured through a mouth of 30 cm at 2 m on a rough floor in ten seconds; ten averaged passes, ε = 0.5, \
                sleep 0.3 mm, steps of 1/60 s, for (θ_k, adhesion) = (5°, 0), (30°, 0), (5°, 1000 Pa) as I, II, III; k and density of dry sand. \
                With mass splitting the 30° of II are the friction angle of the bulk, which stands for a contact angle of 11.3°. The slope is that of the azimuthal mean between 30 and 90 % of the foot."
            .into(),
        reference: "[Holz14], Fig. 3 and 5: orders only. 30° ± 6° for II is ours; so are the 6° for `near to`.".into(),
        plots: vec![plot],
        checks: vec![
            Check::new("slope II less I", two - one, "°", more),
            Check::new("slope III less I", three - one, "°", more),
            Check::new("slope II, mean of four", two, "°", repose),
            Check::new("averaged, 10 passes, ε = 0.5, less Gauss–Seidel, 40 passes: I", one - slow[0], "°", close),
            Check::new("averaged, 10 passes, ε = 0.5, less Gauss–Seidel, 40 passes: II", two - slow[1], "°", close)
                .limited(Band::between(-25.0, 0.0), FOUR_TIMES),
            Check::new("Gauss–Seidel less averaged without ε, 10 passes: II", equal - averaged, "°", more),
            Check::control("slope II, averaged without ε", averaged, "°", repose),
            Check::new("mass splitting: slope II less I", own[1] - own[0], "°", more),
            Check::new("mass splitting: slope III less I", own[2] - own[0], "°", more),
            Check::new("mass splitting: slope with a friction angle of 30°", own[1], "°", repose),
            Check::control("mass splitting: slope with a contact angle of 30°", standing, "°", repose),
        ],
        notes,
    })
}
