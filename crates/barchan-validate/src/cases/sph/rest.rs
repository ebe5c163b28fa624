//! L10: sand at rest does not creep.

use super::column::Shaft;
use super::{block_on_floor, grains, mass};
use crate::outcome::{Band, Check, Outcome};
use crate::plot::{Axis, Plot, Style};
use crate::scene::scene;
use crate::trial::{G, Trial, floats, larger};
use crate::{Case, Context, ValidateError};
use barchan_scene::Dimensions;
use glam::{DVec3, Vec3};

/// Rest.
pub const L10: Case = Case {
    name: "L10",
    title: "A heap at rest does not creep, nor does a load on a truck",
    solvers: &["pbd", "sph"],
    seconds: 60.0,
    run: stays,
};

/// Spacing of the particles [m].
const D0: f64 = 0.1;

/// Setting with which friction starts from zero in every step.
const FRICTION_FROM_ZERO: &str = "solver.sph.static_friction=false";

/// Settings that differ between solvers.
struct Setup {
    /// Largest displacement in a minute that counts as rest [spacings].
    max_creep: f64,
    /// Lower limits of the height of the heap in the quick and the full form [m]: sand that flowed would be lower than half the
    /// block.
    heights: [f64; 2],
    /// Setting with which the heap stands.
    stable_setting: &'static str,
    /// Feature that the negative control lacks, and the setting that disables it.
    control: (&'static str, &'static str),
    /// Setting with which particles sleep, where the heap is compared with a sleeping one.
    sleeping: Option<&'static str>,
    /// Whether a load on a truck and a column in a shaft are checked, too.
    has_load: bool,
}

const SETUPS: &[(&str, Setup)] = &[
    (
        "pbd",
        Setup {
            max_creep: 0.05,
            heights: [0.26, 0.35],
            stable_setting: "collider.floor.friction=0.6",
            control: ("floor without friction", "collider.floor.friction=0"),
            sleeping: None,
            has_load: false,
        },
    ),
    (
        "sph",
        Setup {
            max_creep: 0.1,
            heights: [0.225, 0.3],
            stable_setting: "materials.sand.friction_angle=45",
            control: ("friction from zero", FRICTION_FROM_ZERO),
            sleeping: Some("solver.sph.sleep_velocity=0.01"),
            has_load: true,
        },
    ),
];

/// Positions by identity [m], with any solver.
fn positions_by_id(trial: &mut Trial<'_>) -> Result<Vec<DVec3>, ValidateError> {
    let state = trial.save()?;
    let ids = state.column("id").and_then(|c| c.data.as_u32());
    let Some((ids, x)) = ids.zip(floats(&state, "position")) else {
        return Err(trial.unusable("the state lacks a column"));
    };
    let vector = |v: &[f32; 3]| DVec3::from_array(v.map(f64::from));
    let all = ids.iter().zip(x.as_chunks::<3>().0.iter().map(vector));
    let mut all: Vec<(u32, DVec3)> = all.map(|(id, x)| (*id, x)).collect();
    all.sort_by_key(|(id, _)| *id);
    Ok(all.into_iter().map(|(_, x)| x).collect())
}

/// A heap, 5 s after it began to slump.
struct Heap {
    /// Time [s] and largest displacement of a particle [spacings].
    path: Vec<[f64; 2]>,
    /// Height at the end [m].
    height: f64,
}

impl Heap {
    fn run(
        context: &Context<'_>,
        label: &str,
        seconds: u32,
        set: &[&str],
    ) -> Result<Self, ValidateError> {
        let half = context.pick(0.3, 0.4);
        let scene = block_on_floor([-half, 0.0, -half], [half, 1.5 * half, half])
            .set("frame_rate", 1)
            .with(set);
        let mut trial = Trial::start(context, label, 5 + seconds, scene)?;
        trial.advance(5)?;
        let before = positions_by_id(&mut trial)?;
        let mut path = vec![];
        for _ in 0..seconds {
            trial.advance(1)?;
            let now = positions_by_id(&mut trial)?;
            let far = before.iter().zip(&now).map(|(a, b)| a.distance(*b));
            let most = far.fold(0.0, larger) / D0;
            path.push([trial.simulation.time() - 5.0, most]);
        }
        let height = positions_by_id(&mut trial)?
            .iter()
            .map(|p| p.y)
            .fold(0.0, larger);
        Ok(Self { path, height })
    }

    fn most(&self) -> f64 {
        self.path.iter().map(|p| p[1]).fold(0.0, larger)
    }
}

fn stays(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let setup = context.of_solver(SETUPS)?;
    let [quick, full] = setup.heights;
    let max_creep = Band::below(setup.max_creep);
    let high = Band::above(context.pick(quick, full));
    let (without, change) = setup.control;
    let awake = Heap::run(context, "heap", 60, &[setup.stable_setting])?;
    let moving = Heap::run(
        context,
        without,
        context.pick(10, 60),
        &[setup.stable_setting, change],
    )?;
    let control = format!("heap: largest displacement, {without}");
    let mut plot = Plot::new(
        "Largest displacement of a particle",
        Axis::new("time t [s]"),
        Axis::new("displacement [spacings]"),
    )
    .with(Style::Curve, "heap", &awake.path);
    let mut checks = vec![
        Check::new(
            "heap: largest displacement in a minute",
            awake.most(),
            "spacings",
            max_creep,
        ),
        Check::new("heap: height", awake.height, "m", high),
        Check::control(control, moving.most(), "spacings", max_creep),
    ];
    let mut notes = vec![];
    if let Some(sleeping) = setup.sleeping {
        let asleep = Heap::run(
            context,
            "heap, sleeping",
            60,
            &[setup.stable_setting, sleeping],
        )?;
        plot = plot.with(Style::Curve, "heap, sleeping", &asleep.path);
        checks.extend([
            Check::new(
                "heap with sleeping: largest displacement in a minute",
                asleep.most(),
                "spacings",
                max_creep,
            ),
            Check::new("heap with sleeping: height", asleep.height, "m", high),
        ]);
    }
    if setup.has_load {
        checks.extend(load(context, max_creep, &mut notes)?);
        checks.extend(corners(context)?);
    }
    Ok(Outcome {
        physics: "Static friction: a heap does not creep, and a truck bed whose acceleration is below the frictional limit keeps its load.".into(),
        setup: "3D, particles of 5 cm. A block of 0.8 × 0.6 × 0.8 m (quick: 0.6 × 0.45 × 0.6) that slumped for 5 s, and the minute \
                after it. With sph: a bed 1.8 m long (quick: 1.2), filled 0.4 m high, θ = 40°, that moves 6.7 m in 4 s with up to ±2.5 \
                m/s²; and a column in a shaft of rough planes."
            .into(),
        reference: "No motion. [Ihmsen13] §6 names loads on accelerating bodies as a limitation of its friction, which starts from zero \
                    in every step."
            .into(),
        plots: vec![plot.with(Style::ControlCurve, &format!("control: {without}"), &moving.path)],
        checks,
        notes,
    })
}

// ---- A load on a truck ----

/// Largest and mean displacement of a load on its bed [spacings].
fn truck_load(context: &Context<'_>, label: &str, set: &[&str]) -> Result<[f64; 2], ValidateError> {
    let [x, z] = context.pick([0.6, 0.3], [0.9, 0.5]);
    let bed = "collider.bed.shape.difference";
    let scene = scene!("truck")
        .set("fill.load.shape.box.min", vec![-x, 0.0, -z])
        .set("fill.load.shape.box.max", vec![x, 0.4, z])
        .set(&format!("{bed}.0.box.min"), vec![-x - 0.3, -0.3, -z - 0.3])
        .set(&format!("{bed}.0.box.max"), vec![x + 0.3, 0.5, z + 0.3])
        .set(&format!("{bed}.1.box.min"), vec![-x, 0.0, -z])
        .set(&format!("{bed}.1.box.max"), vec![x, 2.0, z])
        .with(set);
    let mut trial = Trial::start(context, label, 55, scene)?;
    trial.advance(10)?;
    let before = positions_by_id(&mut trial)?;
    trial.advance(45)?;
    let gone = DVec3::new(6.6667, 0.0, 0.0);
    let after = positions_by_id(&mut trial)?;
    let far = before.iter().zip(&after);
    let far: Vec<f64> = far.map(|(a, b)| (*b - gone).distance(*a) / D0).collect();
    let mean = far.iter().sum::<f64>() / far.len() as f64;
    Ok([far.into_iter().fold(0.0, larger), mean])
}

fn load(
    context: &Context<'_>,
    max_creep: Band,
    notes: &mut Vec<String>,
) -> Result<[Check; 2], ValidateError> {
    let [most, mean] = truck_load(context, "truck", &[])?;
    let [slid, slid_mean] =
        truck_load(context, "truck, friction from zero", &[FRICTION_FROM_ZERO])?;
    notes.push(format!(
        "Mean displacement of the load: {mean:.3} spacings, {slid_mean:.3} where friction from zero."
    ));
    Ok([
        Check::new(
            "load: largest displacement on the bed",
            most,
            "spacings",
            max_creep,
        ),
        Check::control(
            "load: largest displacement on the bed, friction from zero",
            slid,
            "spacings",
            Band::below(0.2),
        ),
    ])
}

// ---- Corners ----

/// Slip in corners must be shared among walls: if each of three walls removed all of it, sand in a corner would never come to rest.
fn corners(context: &Context<'_>) -> Result<Vec<Check>, ValidateError> {
    let mut checks = vec![];
    for friction in [0.3, 0.8] {
        let shaft = Shaft {
            dimensions: Dimensions::Three,
            across: 5,
            angle: 40.0,
            friction,
        };
        let mut trial = Trial::start(context, format!("shaft, μ = {friction}"), 60, shaft.scene())?;
        trial.advance(60)?;
        let all = grains(&mut trial)?;
        let force = trial.forces()?.first().map_or(f64::NAN, |f| -f.y);
        let fastest = all.iter().map(|g| g.v).map(Vec3::length).fold(0.0, larger);
        let what = |text: &str| format!("{text} after 6 s, μ = {friction}");
        checks.extend([
            Check::new(
                what("shaft: fastest particle"),
                f64::from(fastest),
                "m/s",
                Band::below(1e-2),
            ),
            Check::new(
                what("shaft: force on the floor over the weight"),
                force / (mass(&all) * G),
                "",
                Band::below(1.5),
            ),
        ]);
    }
    Ok(checks)
}
