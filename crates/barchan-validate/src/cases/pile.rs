//! E6: poured piles of position-based grains.

use super::pbd::{Grain, RADIUS, grains};
use crate::fit::line;
use crate::outcome::{Band, Check, Outcome};
use crate::plot::{Axis, Plot, Style};
use crate::scene::{SceneFile, scene};
use crate::trial::Trial;
use crate::{Case, Context, Form, ValidateError};

/// A poured pile.
pub const E6: Case = Case {
    name: "E6",
    title: "A poured pile: friction, adhesion, iterations",
    solvers: &["pbd"],
    seconds: 60.0,
    run: poured_pile,
};

/// Parameters of a pour.
#[derive(Clone, Copy)]
struct Pour {
    scheme: &'static str,
    iterations: u32,
    reduction: f64,
    /// Material key that `angle` sets.
    key: &'static str,
    /// [degrees].
    angle: f64,
    /// [Pa].
    adhesion: f64,
    seed: u32,
}

/// Number of piles over which the slope of II with the paper's scheme is averaged: single ones have 23.7 to 28.5° with eight seeds,
/// standard deviation 1.4°.
const SAMPLES: u32 = 4;

/// Azimuthal mean of a pile.
struct Pile {
    /// Radius and height of the surface of rings a diameter wide [m].
    profile: Vec<[f64; 2]>,
    /// Slope of the flank [degrees].
    slope: f64,
    grains: usize,
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
                "{scheme}, {} iterations, ε = {}, {angle}°, {adhesion} Pa",
                self.iterations, self.reduction
            ),
        }
    }

    fn scene(&self) -> SceneFile {
        scene!("pile")
            .set("seed", self.seed)
            .set("solver.pbd.scheme", self.scheme)
            .set("solver.pbd.iterations", self.iterations)
            .set("solver.pbd.error_reduction", self.reduction)
            .set(&format!("materials.sand.{}", self.key), self.angle)
            .set("materials.sand.pbd.adhesion", self.adhesion)
    }

    /// The pile five seconds after the last grain.
    fn run(&self, context: &Context<'_>) -> Result<Pile, ValidateError> {
        let mut trial = Trial::start(context, self.label(), 31, self.scene())?;
        trial.advance(31)?;
        Ok(Pile::of(&grains(&mut trial)?))
    }
}

impl Pile {
    /// The surface of a ring is the mean, over azimuthal bins about a diameter long, of the highest grain in each. The flank is
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
            slope: (-line(&flank).slope).atan().to_degrees(),
            grains: all.len(),
            moving: all.iter().filter(|g| g.v.length() > 0.01).count(),
        }
    }
}

/// Key of the contact friction angle.
const CONTACT: &str = "pbd.contact_friction_angle";

const PARAMETERS_NOT_GIVEN: &str = "The paper gives neither stiffness nor time step. With those of dry sand here, forty iterations of \
    Gauss–Seidel converge closer to the contact forces than averaging does, and so to the steep heaps of spheres without rotation.";

/// The piles of a report.
struct Piles<'a> {
    context: &'a Context<'a>,
    plot: Plot,
    notes: Vec<String>,
    /// Fewest grains of a pile.
    fewest: usize,
}

impl Piles<'_> {
    /// Slope of a pile [degrees], which is drawn.
    fn slope(&mut self, style: Style, pour: Pour) -> Result<f64, ValidateError> {
        let pile = pour.run(self.context)?;
        let plot = std::mem::take(&mut self.plot);
        self.plot = plot.with(style, &pour.label(), &pile.profile);
        self.notes.push(format!(
            "{}: {:.1}°, {} grains faster than 1 cm/s five seconds after the last one fell.",
            pour.label(),
            pile.slope,
            pile.moving
        ));
        self.fewest = self.fewest.min(pile.grains);
        Ok(pile.slope)
    }
}

/// Accepted slopes for a friction angle of 30°.
fn repose() -> Band {
    Band::between(24.0, 36.0)
}

/// Ten averaged iterations with ε = 0.5, as in the paper.
fn paper(angle: f64, adhesion: f64) -> Pour {
    Pour {
        scheme: "averaged",
        iterations: 10,
        reduction: 0.5,
        key: CONTACT,
        angle,
        adhesion,
        seed: 1,
    }
}

fn mass_splitting(key: &'static str, angle: f64, adhesion: f64) -> Pour {
    Pour {
        scheme: "mass splitting",
        iterations: 1,
        reduction: 0.0,
        key,
        ..paper(angle, adhesion)
    }
}

/// Heaps of mass splitting, whose forces converge: `friction_angle` is that of the heap.
fn default_scheme(piles: &mut Piles<'_>) -> Result<Vec<Check>, ValidateError> {
    let more = Band::above(0.0);
    let full = piles.context.form == Form::Full;
    let one = piles.slope(Style::Curve, mass_splitting(CONTACT, 5.0, 0.0))?;
    let mut checks = vec![];
    for angle in [20.0, 30.0, 40.0] {
        if !full && angle != 30.0 {
            continue;
        }
        let slope = piles.slope(Style::Curve, mass_splitting("friction_angle", angle, 0.0))?;
        let what = format!("mass splitting: slope with a friction angle of {angle}°");
        let band = Band::between(angle - 6.0, angle + 6.0);
        checks.push(Check::new(what, slope, "°", band));
        if angle == 30.0 {
            let what = "mass splitting: slope II less I";
            checks.push(Check::new(what, slope - one, "°", more));
        }
    }
    // Spheres without rotation rest on each other.
    let standing = piles.slope(Style::ControlCurve, mass_splitting(CONTACT, 30.0, 0.0))?;
    let what = "mass splitting: slope with a contact angle of 30°";
    checks.push(Check::control(what, standing, "°", repose()));
    let what = "mass splitting: slope with a contact angle of 30° less that with 5°";
    checks.push(Check::new(what, standing - one, "°", more));
    if full {
        let three = piles.slope(Style::Curve, mass_splitting(CONTACT, 5.0, 1000.0))?;
        let what = "mass splitting: slope III less I";
        checks.push(Check::new(what, three - one, "°", more));
    }
    Ok(checks)
}

/// Heaps of the schemes of the paper.
fn schemes_of_the_paper(piles: &mut Piles<'_>) -> Result<Vec<Check>, ValidateError> {
    let seidel = |iterations: u32, angle: f64| Pour {
        scheme: "gauss-seidel",
        iterations,
        reduction: 0.0,
        ..paper(angle, 0.0)
    };
    let plain = Pour {
        reduction: 0.0,
        ..paper(30.0, 0.0)
    };
    let one = piles.slope(Style::Curve, paper(5.0, 0.0))?;
    let mut two = piles.slope(Style::Curve, paper(30.0, 0.0))?;
    for seed in 2..=SAMPLES {
        let again = Pour {
            seed,
            ..paper(30.0, 0.0)
        };
        let pile = again.run(piles.context)?;
        piles.fewest = piles.fewest.min(pile.grains);
        two += pile.slope;
    }
    two /= f64::from(SAMPLES);
    let three = piles.slope(Style::Curve, paper(5.0, 1000.0))?;
    let slow = [
        piles.slope(Style::Curve, seidel(40, 5.0))?,
        piles.slope(Style::Curve, seidel(40, 30.0))?,
    ];
    let equal = piles.slope(Style::Curve, seidel(10, 30.0))?;
    let averaged = piles.slope(Style::ControlCurve, plain)?;
    let more = Band::above(0.0);
    let close = Band::between(-6.0, 6.0);
    let near = "averaged (10 iterations, ε = 0.5) less Gauss–Seidel (40 iterations)";
    Ok(vec![
        Check::new("averaged: slope II less I", two - one, "°", more),
        Check::new("averaged: slope III less I", three - one, "°", more),
        Check::new("averaged: slope II, mean of four piles", two, "°", repose()),
        Check::new(format!("slope I, {near}"), one - slow[0], "°", close),
        Check::new(format!("slope II, {near}"), two - slow[1], "°", close)
            .limited(Band::between(-25.0, 0.0), PARAMETERS_NOT_GIVEN),
        Check::new(
            "slope II, Gauss–Seidel less averaged with ε = 0 (10 iterations)",
            equal - averaged,
            "°",
            more,
        ),
        Check::control("slope II, averaged with ε = 0", averaged, "°", repose()),
    ])
}

fn poured_pile(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let mut piles = Piles {
        context,
        plot: Plot::new(
            "Surface of the piles",
            Axis::new("distance from the axis [m]"),
            Axis::new("height [m]"),
        ),
        notes: vec![],
        fewest: usize::MAX,
    };
    let mut checks = vec![];
    if context.form == Form::Full {
        checks.extend(schemes_of_the_paper(&mut piles)?);
    }
    checks.extend(default_scheme(&mut piles)?);
    let what = "number of grains in the smallest pile";
    checks.push(Check::new(
        what,
        piles.fewest as f64,
        "",
        Band::above(1900.0),
    ));
    Ok(Outcome {
        physics: "Friction and adhesion make a poured pile steeper. Averaged iterations with error reduction come close to four times \
                  as many sequential ones."
            .into(),
        setup: "3D, 2000 grains of 5 cm poured through a mouth of 30 cm at 2 m on a rough floor in ten seconds; ten averaged \
                iterations, ε = 0.5, sleep threshold 0.3 mm, steps of 1/60 s, for (θ_k, adhesion) = (5°, 0), (30°, 0), (5°, 1000 Pa) as \
                I, II, III; k and density of dry sand. With mass splitting the 30° of II are the friction angle of the bulk, which \
                corresponds to a contact angle of 11.3°. The slope is that of the azimuthal mean profile between 30 and 90 % of the \
                foot radius."
            .into(),
        reference: "[Holz14], Fig. 3 and 5: order only. 30° ± 6° for II and the 6° for `close to` are our choice.".into(),
        plots: vec![piles.plot],
        checks,
        notes: piles.notes,
    })
}
