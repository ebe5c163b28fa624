//! L2, L9: a liquid column in a shaft, and blocks on a floor.

use super::{Grain, block_on_floor, grains, mass, top};
use crate::fit;
use crate::outcome::{Band, Check, Outcome};
use crate::plot::{Axis, Plot, Style};
use crate::scene::{SceneFile, scene};
use crate::trial::{G, Trial, larger, quantile, smaller};
use crate::{Case, Context, ValidateError};
use barchan_scene::Dimensions;
use barchan_sim::solvers::sph::kernel::Kernel;

/// Hydrostatic column.
pub const L2: Case = Case {
    name: "L2",
    title: "A column between smooth walls: hydrostatic pressure",
    solvers: &["sph"],
    seconds: 10.0,
    run: hydrostatic,
};

/// Dry and wet.
pub const L9: Case = Case {
    name: "L9",
    title: "A dry block spreads, a wet one holds",
    solvers: &["sph"],
    seconds: 5.0,
    run: dry_and_wet,
};

/// Spacing of the particles [m].
const D0: f64 = 0.1;
const DENSITY: f64 = 1600.0;
/// Height of the column [m].
const HEIGHT: f64 = 2.0;

// ---- L2 ----

/// A column of 20 layers in a shaft.
pub struct Shaft {
    pub dimensions: Dimensions,
    /// Particles from wall to wall.
    pub across: u32,
    /// Friction angle of the sand [degrees].
    pub angle: f64,
    /// Friction coefficient of floor and walls.
    pub friction: f64,
}

impl Shaft {
    fn liquid(dimensions: Dimensions, across: u32) -> Self {
        Self {
            dimensions,
            across,
            angle: 0.0,
            friction: 0.0,
        }
    }

    fn label(&self) -> String {
        let Self {
            across, friction, ..
        } = self;
        let dimensions = self.dimensions.count();
        format!("{dimensions}D, {across} across, μ = {friction}")
    }

    pub fn scene(&self) -> SceneFile {
        let wide = f64::from(self.across) * D0;
        let (back, front, away) = match self.dimensions {
            Dimensions::Three => (0.0, wide, 0.0),
            Dimensions::Two => (-wide, wide, 100.0),
        };
        let mut scene = scene!("shaft")
            .set("dimensions", self.dimensions.count() as i64)
            .set("materials.sand.friction_angle", self.angle)
            .set("fill.column.shape.box.min", vec![0.0, 0.0, back])
            .set("fill.column.shape.box.max", vec![wide, HEIGHT, front])
            .set(
                "collider.right.shape.half_space.point",
                vec![wide, 0.0, 0.0],
            )
            .set(
                "collider.back.shape.half_space.point",
                vec![0.0, 0.0, -away],
            )
            .set(
                "collider.front.shape.half_space.point",
                vec![0.0, 0.0, wide + away],
            );
        for wall in ["floor", "left", "right", "back", "front"] {
            scene = scene.set(&format!("collider.{wall}.friction"), self.friction);
        }
        scene
    }

    /// Relative excess of the pressure gradient over ρ g between smooth walls at this distance: particles beside a wall lack
    /// neighbors in the layers above and below, and the wall acts only horizontally, with the particle's own pressure.
    /// Summed over a lattice without the missing lateral pairs.
    fn wall_excess_gradient(&self) -> f64 {
        let kernel = Kernel::new(2.0 * D0, Dimensions::Three);
        let kept = 1.0 - 1.0 / f64::from(self.across);
        let pull = |side: f64| -f64::from(kernel.slope(((1.0 + side) * D0 * D0).sqrt() as f32));
        let (above, edge, corner) = (pull(0.0), pull(1.0), pull(2.0));
        let layer = |kept: f64| match self.dimensions {
            Dimensions::Two => above + 2.0 * kept * edge,
            Dimensions::Three => above + 4.0 * kept * edge + 4.0 * kept * kept * corner,
        };
        layer(1.0) / layer(kept)
    }

    /// Largest compression of particles about the axis.
    fn compression(&self, all: &[Grain]) -> f64 {
        let kernel = Kernel::new(2.0 * D0, self.dimensions);
        let middle = (0.5 * f64::from(self.across) * D0) as f32;
        let near = |x: f32| (x - middle).abs() < 0.06;
        let inner = all.iter().filter(|g| {
            near(g.x.x)
                && (self.dimensions == Dimensions::Two || near(g.x.z))
                && g.x.y > 0.21
                && g.x.y < 1.7
        });
        let density = |g: &Grain| -> f64 {
            let values = all.iter().map(|h| kernel.value(g.x.distance(h.x)));
            D0.powi(self.dimensions.count() as i32) * values.map(f64::from).sum::<f64>()
        };
        inner.map(|g| density(g) - 1.0).fold(0.0, larger)
    }

    /// Means over the fourth and fifth second.
    fn rest(&self, context: &Context<'_>) -> Result<Hydrostatic, ValidateError> {
        let mut trial = Trial::start(context, self.label(), 50, self.scene())?;
        trial.advance(30)?;
        let (mut load, mut compression, mut lowest) = (0.0, 0.0f64, f64::MAX);
        let mut layers = vec![[0.0; 3]; 20];
        for _ in 0..20 {
            trial.advance(1)?;
            let all = grains(&mut trial)?;
            let force = trial.forces()?.first().map_or(f64::NAN, |f| -f.y);
            load += 0.05 * force / (mass(&all) * G);
            compression = larger(compression, self.compression(&all));
            for g in &all {
                lowest = smaller(lowest, f64::from(g.pressure));
                let layer = &mut layers[((f64::from(g.x.y) / D0) as usize).min(19)];
                for (sum, value) in layer.iter_mut().zip([1.0, g.x.y, g.pressure]) {
                    *sum += f64::from(value);
                }
            }
        }
        let layers: Vec<[f64; 2]> = layers.iter().map(|[n, y, p]| [y / n, p / n]).collect();
        // Without the lowest layers, in contact with the floor, and the highest, which have few neighbors.
        let inner = &layers[2..17];
        let line = fit::line(inner);
        let departures = inner
            .iter()
            .map(|[y, p]| (p - line.offset - line.slope * y).abs());
        Ok(Hydrostatic {
            departure: departures.fold(0.0, larger) / (HEIGHT * DENSITY * G),
            slope: -line.slope / (DENSITY * G),
            layers,
            compression,
            load,
            lowest,
        })
    }
}

/// Measurements of a column at rest.
struct Hydrostatic {
    /// Height [m] and mean pressure [Pa] of its layers.
    layers: Vec<[f64; 2]>,
    /// Largest compression of particles away from the walls.
    compression: f64,
    /// Largest deviation of layers from their straight line, over ρ g H.
    departure: f64,
    /// Slope of that line over ρ g.
    slope: f64,
    /// Force on the floor over the weight.
    load: f64,
    /// Lowest pressure of a particle [Pa].
    lowest: f64,
}

const NARROW: &str = "Particles beside a smooth wall lack neighbors in the layers above and below, and the wall acts with the \
    particle's own pressure (Eq. 17). On a lattice this makes pressure grow 1.13 times as fast in a column five particles across; its \
    layers are also uneven.";

/// Checks of a liquid column.
fn at_rest(shaft: &Shaft, rest: &Hydrostatic) -> Vec<Check> {
    let what = |text: &str| format!("{text}, {}", shaft.label());
    let even = Check::new(
        what("largest departure from a line over ρ g H"),
        rest.departure,
        "",
        Band::below(0.02),
    );
    let rise = Check::new(
        what("rise of the pressure over ρ g"),
        rest.slope,
        "",
        Band::around(1.0, 0.02),
    );
    let narrow = shaft.across < 10;
    let limited = |check: Check, known| {
        if narrow {
            check.limited(known, NARROW)
        } else {
            check
        }
    };
    let mut checks = vec![
        limited(even, Band::below(0.035)),
        // A liquid is disordered, and sums over few neighbors are only this exact.
        Check::new(
            what("rise of the pressure over that expected of a narrow column"),
            rest.slope / shaft.wall_excess_gradient(),
            "",
            Band::around(1.0, 0.03),
        ),
        Check::new(
            what("force on the floor over the weight"),
            rest.load,
            "",
            Band::around(1.0, 0.02),
        ),
        Check::new(
            what("largest compression"),
            rest.compression,
            "",
            Band::below(0.01),
        ),
        Check::new(what("lowest pressure"), rest.lowest, "Pa", Band::above(0.0)),
    ];
    if narrow {
        checks.insert(1, limited(rise, Band::between(1.02, 1.18)));
    }
    checks
}

fn hydrostatic(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let exact = |y: f64| DENSITY * G * (HEIGHT - y);
    let mut plot = Plot::new(
        "Pressure in the column",
        Axis::new("height y [m]"),
        Axis::new("pressure [Pa]"),
    )
    .with(
        Style::Reference,
        "ρ g (H − y)",
        &[[0.0, exact(0.0)], [HEIGHT, 0.0]],
    );
    let mut checks = vec![];
    for (dimensions, across) in [
        (Dimensions::Three, 5),
        (Dimensions::Two, 5),
        (Dimensions::Two, 40),
    ] {
        let shaft = Shaft::liquid(dimensions, across);
        let rest = shaft.rest(context)?;
        checks.extend(at_rest(&shaft, &rest));
        plot = plot.with(Style::Points, &shaft.label(), &rest.layers);
    }
    let rough = Shaft {
        angle: 40.0,
        friction: 0.8,
        ..Shaft::liquid(Dimensions::Two, 5)
    };
    let rough = rough.rest(context)?;
    checks.extend([
        Check::control(
            "force on the floor over the weight, rough walls",
            rough.load,
            "",
            Band::above(0.9),
        ),
        Check::control(
            "rise of the pressure over ρ g, rough walls",
            rough.slope,
            "",
            Band::around(1.0, 0.1),
        ),
    ]);
    Ok(Outcome {
        physics: "Frictionless sand between smooth walls is a liquid: the pressure is hydrostatic, and the floor carries the weight."
            .into(),
        setup: "20 layers of particles of 5 cm, five or forty across, three iterations; means from 3 to 5 s.".into(),
        reference: "p = ρ g (H − y).".into(),
        plots: vec![plot.with(Style::Control, "control: rough walls", &rough.layers)],
        checks,
        notes: vec![],
    })
}

// ---- L9 ----

/// Time [s] and the distance from the axis that holds nine tenths of a block [m]; and its height at the end [m].
fn spread(
    context: &Context<'_>,
    label: &str,
    cohesion: f64,
    viscosity: f64,
) -> Result<(Vec<[f64; 2]>, f64), ValidateError> {
    let scene = block_on_floor([-0.4, 0.0, -0.4], [0.4, 1.2, 0.4])
        .set("materials.sand.density", DENSITY)
        .set("materials.sand.friction_angle", 50)
        .set("materials.sand.sph.cohesion_intensity", cohesion)
        .set("materials.sand.sph.viscosity", viscosity)
        .set("collider.floor.friction", 0.7);
    let mut trial = Trial::start(context, label, 25, scene)?;
    let mut path = vec![];
    for _ in 0..25 {
        trial.advance(1)?;
        let all = grains(&mut trial)?.into_iter();
        let out = all.map(|g| f64::from(g.x.x.hypot(g.x.z)));
        path.push([trial.simulation.time(), quantile(out, 0.9)]);
    }
    Ok((path, top(&grains(&mut trial)?)))
}

fn dry_and_wet(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let (dry, low) = spread(context, "dry", 0.0, 0.01)?;
    let (wet, high) = spread(context, "wet", 0.7, 0.3)?;
    let end = |path: &[[f64; 2]]| path.last().map_or(f64::NAN, |p| p[1]);
    let holds = Band::below(0.8);
    Ok(Outcome {
        physics: "Cohesion and viscosity hold a block of wet sand together where a dry one falls apart.".into(),
        setup: "3D block 0.8 × 1.2 × 0.8 m of particles of 5 cm, θ = 50°, floor with μ = 0.7, 2.5 s.".into(),
        reference: "Order of the blocks in [Ihmsen13], Fig. 3: κ = 0 and viscosity 0.01 spreads, κ = 0.7 and 0.3 holds. \
                    Only the order is judged."
            .into(),
        plots: vec![
            Plot::new(
                "Distance from the axis that holds nine tenths",
                Axis::new("time t [s]"),
                Axis::new("distance [m]"),
            )
            .with(Style::Curve, "wet", &wet)
            .with(Style::ControlCurve, "dry", &dry),
        ],
        checks: vec![
            Check::new("spread of the wet over that of the dry", end(&wet) / end(&dry), "", holds),
            Check::new("height of the dry over that of the wet", low / high, "", holds),
            Check::control("spread of the dry over that of the wet", end(&dry) / end(&wet), "", holds),
        ],
        notes: vec![],
    })
}
