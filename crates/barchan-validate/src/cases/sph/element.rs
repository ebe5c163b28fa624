//! L1, L3–L6: kernel, boundary particles, pressure and friction of single particles of a lattice.

use super::super::iterations;
use super::block_on_floor;
use super::stepper::{D0, DT, RHO, RandomNumbers, SphStepper, block};
use super::{Grain, grains, mass};
use crate::outcome::{Band, Check, Outcome};
use crate::scene::scene;
use crate::trial::{Trial, larger, largest, smallest};
use crate::{Case, Context, ValidateError};
use barchan_scene::{Dimensions, Geometry, SphWalls, SphYield};
use barchan_sim::solvers::sph::boundary::{BoundaryParticles, Sampling};
use barchan_sim::solvers::sph::kernel::{Kernel, Prototype};
use barchan_sim::solvers::sph::law::{friction, norm, stiffness, viscosity};
use glam::{DMat3, DVec3, Vec3};

/// Density of a lattice.
pub const L1: Case = Case {
    name: "L1",
    title: "A lattice has the rest density",
    solvers: &["sph"],
    seconds: 0.1,
    run: density,
};

/// Boundary particles.
pub const L3: Case = Case {
    name: "L3",
    title: "A layer of boundary particles represents a half space",
    solvers: &["sph"],
    seconds: 0.1,
    run: boundary,
};

/// Gain of the pressure.
pub const L4: Case = Case {
    name: "L4",
    title: "One iteration removes the density error of one particle",
    solvers: &["sph"],
    seconds: 0.1,
    run: pressure_gain,
};

/// Gain of the friction.
pub const L5: Case = Case {
    name: "L5",
    title: "Friction opposes the strain rate",
    solvers: &["sph"],
    seconds: 0.5,
    run: friction_gain,
};

/// Yield cone.
pub const L6: Case = Case {
    name: "L6",
    title: "Stress stays within the cone",
    solvers: &["sph"],
    seconds: 0.1,
    run: cone,
};

const BOTH: [Dimensions; 2] = [Dimensions::Three, Dimensions::Two];

fn kernel() -> Kernel {
    Kernel::new(2.0 * D0, Dimensions::Three)
}

fn prototype() -> Prototype {
    Prototype::new(D0, Dimensions::Three)
}

/// W [1/m³] of a particle at −x.
fn value(x: DVec3) -> f64 {
    f64::from(kernel().value(x.length() as f32))
}

/// V ∇W [1/m] of a particle of volume d0³ at −x.
pub fn gradient(x: DVec3) -> DVec3 {
    D0.powi(3) * f64::from(kernel().slope(x.length() as f32)) * x
}

/// Sites of a cubic lattice of spacing [`D0`] within the support of the central one, without it [m].
pub fn lattice() -> impl Iterator<Item = DVec3> {
    let line = || (-2..=2).map(f64::from);
    let all = line()
        .flat_map(move |x| line().flat_map(move |y| line().map(move |z| DVec3::new(x, y, z))));
    all.filter(|p| *p != DVec3::ZERO).map(|p| D0 * p)
}

fn outcome(physics: &str, setup: &str, reference: &str, checks: Vec<Check>) -> Outcome {
    Outcome {
        physics: physics.into(),
        setup: setup.into(),
        reference: reference.into(),
        checks,
        ..Outcome::default()
    }
}

// ---- L1 ----

/// Mass of a fill over density times volume.
fn mass_of_fill(context: &Context<'_>, spacing: f64) -> Result<f64, ValidateError> {
    let scene = block_on_floor([0.0; 3], [0.5; 3])
        .set("solver.resolution", spacing)
        .set("materials.sand.density", RHO);
    let mut trial = Trial::start(context, format!("d0 = {spacing} m"), 0, scene)?;
    Ok(mass(&grains(&mut trial)?) / (RHO * 0.125))
}

/// Largest difference between r times `slope` and the derivative of the kernel, over W(0)/support.
fn slope_error(dimensions: Dimensions, factor: f32) -> f64 {
    let kernel = Kernel::new(2.0 * D0, dimensions);
    let step = 1e-3;
    let error = |r: f32| {
        let slope = (kernel.value(r + step) - kernel.value(r - step)) / (2.0 * step);
        (slope - factor * kernel.slope(r) * r).abs() * kernel.support / kernel.value(0.0)
    };
    let errors = (1..40).map(|i| error(0.0052 * i as f32));
    f64::from(errors.fold(0.0, larger))
}

fn density(context: &Context<'_>) -> Result<Outcome, ValidateError> {
    let own = |spacing: f64| -> f64 {
        let sites = lattice().map(|p| value(p / D0 * spacing));
        sites.sum::<f64>() + value(DVec3::ZERO)
    };
    let rest = Band::between(0.99997 - 1e-4, 0.99997 + 1e-4);
    let ball = std::f64::consts::PI / 6.0 * D0.powi(3);
    let flat = Prototype::new(D0, Dimensions::Two).fraction;
    let mut checks = vec![
        Check::new("density of a lattice", own(D0) * D0.powi(3), "ρ0", rest),
        Check::new("density in the solver", prototype().fraction, "ρ0", rest),
        Check::new(
            "density in the solver, 2D",
            flat,
            "ρ0",
            Band::around(1.0, 2e-2),
        ),
        Check::control(
            "density with the mass of a ball, as printed",
            ball * own(D0),
            "ρ0",
            rest,
        ),
        Check::new(
            "density with the mass of a ball, as printed, against π/6",
            ball * own(D0),
            "ρ0",
            Band::between(0.523, 0.524),
        ),
        Check::new(
            "density with the mass of a ball, as printed, at a spacing of 0.806 d0",
            ball * own(0.806 * D0),
            "ρ0",
            Band::around(1.0, 0.01),
        ),
    ];
    for spacing in [0.1, 0.05] {
        let what = format!("mass of a fill over ρ V, d0 = {spacing} m");
        let part = mass_of_fill(context, spacing)?;
        checks.push(Check::new(what, part, "", Band::around(1.0, 1e-3)));
    }
    for dimensions in BOTH {
        let kernel = Kernel::new(2.0 * D0, dimensions);
        let what = |text: &str| format!("{text}, {}D", dimensions.count());
        let (derivative, nothing) = (Band::below(2e-3), Band::between(0.0, 0.0));
        let edge = kernel.value(0.2) + kernel.value(0.3) + kernel.slope(0.2).abs();
        checks.extend([
            Check::new(
                what("slope of the kernel less its derivative"),
                slope_error(dimensions, 1.0),
                "",
                derivative,
            ),
            Check::control(
                what("slope of the kernel less its derivative, slope 1 % steeper"),
                slope_error(dimensions, 1.01),
                "",
                derivative,
            ),
            Check::new(
                what("kernel beyond its support"),
                f64::from(edge),
                "",
                nothing,
            ),
            Check::new(
                what("self-force of a particle"),
                f64::from(kernel.slope(0.0) * 0.0),
                "",
                nothing,
            ),
        ]);
    }
    Ok(outcome(
        "Particles on a lattice, each with the mass of its cell, have the rest density.",
        "Cubic lattice of spacing d0, cubic spline with a support of 2 d0.",
        "Σ W d0³ = 0.99997. The printed mass ρ0 π d0³/6 gives half of that, and the rest density only at 0.806 d0.",
        checks,
    ))
}

// ---- L3 ----

/// A plane y = 0 with its boundary particles.
struct Floor {
    sampling: Sampling,
    boundary: BoundaryParticles,
    geometry: Geometry,
}

impl Floor {
    fn new(sampling: Sampling) -> Self {
        Self {
            sampling,
            boundary: BoundaryParticles::default(),
            geometry: Geometry::half_space(Vec3::ZERO, Vec3::Y),
        }
    }

    /// Positions [m] and volumes [m³] of the boundary particles near a point.
    fn points(&mut self, x: Vec3) -> Vec<(Vec3, f32)> {
        let cell = self.sampling.cell_of(x);
        self.boundary
            .sample_around(&self.sampling, &self.geometry, vec![cell]);
        let near = self.boundary.near(&cell).unwrap_or_default();
        near.iter().map(|b| (b.position, b.volume)).collect()
    }

    /// Σ V_b W and Σ V_b ∂W/∂y [1/m] at a point.
    fn at(&mut self, x: Vec3) -> [f64; 2] {
        let mut sums = [0.0; 2];
        for (position, volume) in self.points(x) {
            let apart = x - position;
            let (r, kernel) = (apart.length(), &self.sampling.kernel);
            let volume = f64::from(self.sampling.weight * volume);
            sums[0] += volume * f64::from(kernel.value(r));
            sums[1] += volume * f64::from(kernel.slope(r) * apart.y);
        }
        sums
    }

    /// The same, averaged along the plane.
    fn mean(&mut self, height: f64) -> [f64; 2] {
        let across = match self.sampling.dimensions {
            Dimensions::Three => 8,
            Dimensions::Two => 1,
        };
        let mut sums = [0.0; 2];
        for i in 0..8 * across {
            let along = |i: i32| D0 as f32 * 0.125 * i as f32;
            let z = if across == 1 {
                0.0
            } else {
                0.17 + along(i / 8)
            };
            let at = self.at(Vec3::new(0.31 + along(i % 8), height as f32, z));
            sums = [0, 1].map(|k| sums[k] + at[k] / f64::from(8 * across));
        }
        sums
    }
}

/// Σ V W of the layers of a lattice at and above a particle in its lowest.
fn layers_above(kernel: &Kernel, dimensions: Dimensions) -> f64 {
    let w = |p: DVec3| f64::from(kernel.value(p.length() as f32));
    let upper = lattice().filter(|p| p.y >= 0.0 && (dimensions == Dimensions::Three || p.z == 0.0));
    D0.powi(dimensions.count() as i32) * (upper.map(w).sum::<f64>() + w(DVec3::ZERO))
}

/// Boundary particles as in the paper.
fn plain_floor() -> Vec<Check> {
    let mut floor = Floor::new(Sampling::new(
        D0 as f32,
        kernel(),
        Dimensions::Three,
        SphWalls::Viscous,
    ));
    let above = layers_above(&kernel(), Dimensions::Three);
    let points = floor.points(Vec3::new(0.3, 0.05, 0.3));
    let depth = floor.sampling.depth;
    let off = points.iter().map(|(p, _)| (p.y + depth).abs());
    let volumes = points.iter().map(|(_, v)| f64::from(*v) / D0.powi(3));
    let (low, high) = (smallest(volumes.clone()), largest(volumes));
    let volume = Band::around(1.4273, 1e-3);
    let mut checks = vec![
        Check::new("smallest volume of a boundary particle", low, "d0³", volume),
        Check::new("largest volume of a boundary particle", high, "d0³", volume),
        Check::new(
            "distance of boundary particles from their depth",
            f64::from(off.fold(0.0, larger)),
            "m",
            Band::below(1e-5),
        ),
    ];
    let Some((first, _)) = points.first() else {
        return checks;
    };
    // The table is for particles above boundary particles.
    for (gap, exact) in [
        (0.5, 1.545),
        (0.75, 1.286),
        (0.9, 1.144),
        (1.0, 1.064),
        (1.1, 0.9987),
    ] {
        let [sum, _] = floor.at(*first + Vec3::Y * (gap * D0) as f32);
        let (what, band) = (
            format!("density of the lowest layer at a gap of {gap} d0"),
            Band::around(exact, 0.01),
        );
        checks.push(Check::new(what, above + sum, "ρ0", band));
        if gap == 0.75 {
            let thin = above + sum / 1.4273;
            let what =
                "density of the lowest layer at a gap of 0.75 d0, boundary volumes as in a bed";
            checks.push(Check::control(what, thin, "ρ0", Band::around(exact, 0.05)));
        }
    }
    checks
}

/// Boundary particles of our walls.
fn firm_floor(dimensions: Dimensions) -> [Check; 3] {
    let kernel = Kernel::new(2.0 * D0, dimensions);
    let mut floor = Floor::new(Sampling::new(
        D0 as f32,
        kernel,
        dimensions,
        SphWalls::Coulomb,
    ));
    let above = layers_above(&kernel, dimensions);
    let [sum, slope] = floor.mean(0.5 * D0);
    // The gradient of the boundary is twice that of a layer at d0, whose own pressure acts in addition to that of the
    // particle. The next layer is out of reach.
    let next = lattice().filter(|p| p.y == D0 && (dimensions == Dimensions::Three || p.z == 0.0));
    let pull = next.map(|p| f64::from(kernel.slope(p.length() as f32)) * p.y);
    let layer = D0.powi(dimensions.count() as i32) * pull.sum::<f64>();
    let [at_surface, _] = floor.mean(0.0);
    let what = |text: &str| format!("{text}, firm, {}D", dimensions.count());
    [
        Check::new(
            what("density of the lowest layer of a lattice"),
            above + sum,
            "ρ0",
            Band::around(1.0, 0.01),
        ),
        Check::new(
            what("pressure of the lowest layer over that of the next layer"),
            slope / (2.0 * layer),
            "",
            Band::around(1.0, 0.1),
        ),
        Check::control(
            what("density of a layer at the wall surface"),
            above + at_surface,
            "ρ0",
            Band::below(1.1),
        ),
    ]
}

fn boundary(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    let mut checks = plain_floor();
    checks.extend(BOTH.into_iter().flat_map(firm_floor));
    Ok(outcome(
        "One layer of boundary particles with larger volumes represents the half space behind it.",
        "A plane sampled at spacing d0: as in the paper, 0.6 d0 below the surface, and with the deeper, heavier particles of the solver.",
        "V_b = 1/Σ W = 1.4273 d0³ and the density of the lowest layer as a function of its gap, by summation; the solver's layer \
         supports a lattice in place.",
        checks,
    ))
}

// ---- L4 ----

/// Density error of the central particle of a slightly compressed lattice: after one iteration with `factor` times γ, over
/// that before.
fn left_after_a_pass(factor: f64) -> f64 {
    let squeeze = 0.997;
    let density = |moved: &dyn Fn(DVec3) -> DVec3| -> f64 {
        let sites = lattice().map(|p| value(moved(p)));
        D0.powi(3) * (sites.sum::<f64>() + value(DVec3::ZERO))
    };
    let rest = density(&|p| p);
    let before = density(&|p| squeeze * p) - rest;
    // Eq. 7 assumes the same pressure for the neighbors: the repulsion of a pair is twice that of one.
    let pressure = factor * stiffness(RHO, DT, &prototype()) * before;
    let pushed = |p: DVec3| p - DT * DT * 2.0 * pressure / RHO * gradient(p);
    (density(&|p| pushed(squeeze * p)) - rest) / before
}

fn pressure_gain(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    let squares: f64 = lattice().map(|p| gradient(p).length_squared()).sum();
    let exact = RHO / (2.0 * DT * DT * squares);
    let own = stiffness(RHO, DT, &prototype());
    let shorter = stiffness(RHO, 0.5 * DT, &prototype()) / own;
    let half = left_after_a_pass(0.5);
    let twice = left_after_a_pass(2.0);
    let cured = Band::between(-0.05, 0.05);
    let checks = vec![
        Check::new(
            "ρ0 γ over its value for the lattice",
            own / exact,
            "",
            Band::around(1.0, 1e-5),
        ),
        Check::new(
            "remaining density error after one iteration",
            left_after_a_pass(1.0),
            "",
            cured,
        ),
        Check::new(
            "pressure with half the time step over that with the whole",
            shorter,
            "",
            Band::around(4.0, 2.5e-10),
        ),
        Check::control("remaining density error with half of γ", half, "", cured),
        Check::new(
            "remaining density error with half of γ, against one half",
            half,
            "",
            Band::around(0.5, 0.1),
        ),
        Check::control("remaining density error with twice γ", twice, "", cured),
        Check::new(
            "remaining density error with twice γ, against minus one",
            twice,
            "",
            Band::around(-1.0, 0.1),
        ),
    ];
    Ok(outcome(
        "The pressure correction for a predicted density error removes it in one iteration.",
        "The central particle of a lattice compressed by 0.3 %.",
        "γ = ρ0²/(2 m² Δt² Σ ∇W·∇W), [Ihmsen13] Eq. 7.",
        checks,
    ))
}

// ---- L5 ----

/// Strain rate xy [1/s] that a stress xy of 1 Pa on the central particle of a lattice causes there in a step; `sign` is that
/// of the force.
fn response(sign: f64) -> f64 {
    let stress = |v: DVec3| DVec3::new(v.y, v.x, 0.0);
    let shear = |p: DVec3| {
        // Neighbor at p: the gradient with respect to its own position is that of p.
        let v = sign * DT / RHO * stress(gradient(p));
        // Seen from the center, the neighbor lies in the opposite direction.
        let g = gradient(-p);
        0.5 * (v.x * g.y + v.y * g.x)
    };
    lattice().map(shear).sum()
}

/// Fraction of a shear wave, four spacings long, that remains at the center of a block after a step; `squeeze` is the
/// relative reduction of its spacing, which puts it under pressure.
fn shear_left(iterations: u32, squeeze: f32) -> Result<f64, ValidateError> {
    let wave = |g: &Grain| (std::f32::consts::FRAC_PI_2 * g.x.y / D0 as f32).sin();
    let mut all = block(13);
    for g in &mut all {
        g.v = Vec3::new(1e-3 * wave(g), 0.0, 0.0);
        g.x *= 1.0 - squeeze;
    }
    let strength = |all: &[Grain]| -> f64 {
        let inner = all
            .iter()
            .filter(|g| g.x.abs().max_element() < 2.1 * D0 as f32);
        inner.map(|g| f64::from(g.v.x * wave(g))).sum()
    };
    let scene = scene!("two_sands").set("solver.sph.iterations", i64::from(iterations));
    let mut stepper = SphStepper::new("shear", &scene, &all, false)?;
    stepper.step(Vec3::ZERO)?;
    Ok(strength(&stepper.grains()?) / strength(&all))
}

fn friction_gain(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    // ∇W ∇Wᵀ without the volume.
    let volume = D0.powi(3);
    let squares: f64 = lattice().map(|p| gradient(p).x.powi(2)).sum::<f64>() / (volume * volume);
    let mass = RHO * volume;
    let exact = 2.0 * mass * mass * DT / RHO.powi(3) * squares;
    let printed = RHO.powi(3) / (2.0 * mass * mass * DT) * squares;
    let own = viscosity(RHO, DT, &prototype());
    let response_over_d = |sign: f64| response(sign) / exact;
    let reference = Band::around(1.768e-5, 1e-3);
    let opposed = Band::between(-0.501, -0.499);
    let mut checks = vec![
        Check::new("D of the lattice", exact, "1/(Pa s)", reference),
        Check::new(
            "1/D in the solver",
            own,
            "Pa s",
            Band::around(56_562.0, 1e-3),
        ),
        Check::new(
            "product of D and 1/D",
            own * exact,
            "",
            Band::around(1.0, 1e-5),
        ),
        // The 2 in D assumes the same stress for the neighbors.
        Check::new(
            "response of an isolated particle over D",
            response_over_d(1.0),
            "",
            opposed,
        ),
        Check::control(
            "response of an isolated particle over D, printed sign",
            response_over_d(-1.0),
            "",
            Band::below(0.0),
        ),
        Check::control("D as printed", printed, "1/(Pa s)", Band::below(1e19)),
    ];
    let mut last = 1.0;
    for count in [1, 2, 3, 4] {
        let left = shear_left(count, 2e-4)?;
        let what = format!(
            "fraction of a shear wave left after a step of {}",
            iterations(count)
        );
        checks.push(Check::new(what, left, "", Band::between(-0.2, last)));
        last = left;
    }
    let free = shear_left(3, 0.0)?;
    let what = "fraction of a shear wave left after a step without pressure";
    checks.extend([
        Check::new(what, free, "", Band::around(1.0, 1e-3)),
        Check::control(
            "fraction of a shear wave left after a step without pressure, against three iterations",
            free,
            "",
            Band::below(0.99),
        ),
    ]);
    Ok(outcome(
        "Frictional stress opposes the strain rate, and iterations never amplify shear.",
        "The central particle of a lattice; a shear wave, four spacings long, in a block of 13³ particles under pressure.",
        "D = (2 m² Δt/ρ0³) Σ ∇W ∇Wᵀ = 1.768e-5 1/(Pa s). [Ihmsen13] Eq. 12 has the inverse prefactor, Eq. 11 the opposite sign.",
        checks,
    ))
}

// ---- L6 ----

fn matrix(s: [f32; 6]) -> DMat3 {
    let [xx, yy, zz, yz, xz, xy] = s.map(f64::from);
    DMat3::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz])
}

fn six(m: DMat3) -> [f32; 6] {
    let of = [
        m.x_axis.x, m.y_axis.y, m.z_axis.z, m.y_axis.z, m.x_axis.z, m.x_axis.y,
    ];
    of.map(|x| x as f32)
}

fn distance(a: [f32; 6], b: [f32; 6]) -> f64 {
    f64::from(norm(&std::array::from_fn(|i| a[i] - b[i])))
}

fn trace(s: [f32; 6]) -> f64 {
    f64::from((s[0] + s[1] + s[2]).abs())
}

/// Difference between a tensor that is rotated, then projected, and one that is projected, then rotated.
fn anisotropy(stress: [f32; 6], turn: DMat3, rule: SphYield) -> f64 {
    let project = |s| friction(s, 1.0, 0.7, rule, Dimensions::Three);
    let turned = project(six(turn * matrix(stress) * turn.transpose()));
    distance(
        turned,
        six(turn * matrix(project(stress)) * turn.transpose()),
    )
}

/// Largest values over many stresses.
#[derive(Default)]
struct Extremes {
    /// ‖s‖ over the bound.
    bound: f64,
    /// Trace over the norm of the trial stress.
    trace: f64,
    /// Components out of the plane in 2D [Pa].
    out_of_plane: f64,
    /// Change by a second projection over the norm.
    repeated: f64,
    /// [`anisotropy`] of the radial rule and of the printed clamp.
    axes: [f64; 2],
    /// Trace of the printed clamp.
    clamped_trace: f64,
}

fn extremes() -> Extremes {
    let mut random = RandomNumbers(1);
    let mut most = Extremes::default();
    for case in 0..1000 {
        let stress = random.symmetric();
        let size = 10f32.powi(case % 7 - 3);
        let trial = stress.map(|x| size * x);
        let (pressure, sine) = (
            (random.next().abs() * 2.0) as f32,
            random.next().abs() as f32,
        );
        let bound = f64::from(std::f32::consts::SQRT_2 * sine * pressure);
        for dimensions in BOTH {
            let project = |s, pressure| friction(s, pressure, sine, SphYield::Radial, dimensions);
            let s = project(trial, pressure);
            let (length, trial_length) = (f64::from(norm(&s)), f64::from(norm(&trial)));
            most.bound = larger(most.bound, length / bound);
            most.trace = larger(most.trace, trace(s) / trial_length);
            if dimensions == Dimensions::Two {
                let off = s[2..5].iter().map(|x| f64::from(x.abs()));
                most.out_of_plane = off.fold(most.out_of_plane, larger);
            }
            // A stress inside the cone is unchanged.
            let again = distance(project(s, pressure * 1.001), s);
            most.repeated = larger(most.repeated, again / (length + 1e-30));
        }
        let axis = random.vector().normalize();
        let turn = DMat3::from_axis_angle(axis, 3.0 * random.next());
        for (most, rule) in most
            .axes
            .iter_mut()
            .zip([SphYield::Radial, SphYield::PerComponent])
        {
            *most = larger(*most, anisotropy(stress, turn, rule));
        }
        let clamped = friction(stress, 1.0, 0.7, SphYield::PerComponent, Dimensions::Three);
        most.clamped_trace = larger(most.clamped_trace, trace(clamped));
    }
    most
}

fn cone(_: &Context<'_>) -> Result<Outcome, ValidateError> {
    let most = extremes();
    let (isotropic, printed) = (Band::below(2e-6), SphYield::PerComponent);
    // diag(2, −1, −1) at a bound of 1.2 becomes diag(1.2, −1, −1).
    let pressure = 1.2 / (2.0f32 / 3.0).sqrt();
    let aligned = [2.0, -1.0, -1.0, 0.0, 0.0, 0.0];
    let clamped = friction(aligned, pressure, 1.0, printed, Dimensions::Three);
    // No pressure, no friction; and no NaN.
    let mut nothing = vec![];
    for rule in [SphYield::Radial, printed] {
        let stress = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        nothing.extend(friction(stress, 0.0, 0.7, rule, Dimensions::Three));
        nothing.extend(friction([0.0; 6], 0.0, 0.0, rule, Dimensions::Three));
    }
    let nothing: f64 = nothing.into_iter().map(|s| f64::from(s.abs())).sum();
    let checks = vec![
        Check::new(
            "norm of the stress over √2 sin θ p",
            most.bound,
            "",
            Band::below(1.0 + 1e-6),
        ),
        Check::new("trace over the norm", most.trace, "", Band::below(3e-7)),
        Check::new(
            "components out of the plane, 2D",
            most.out_of_plane,
            "Pa",
            Band::below(0.0),
        ),
        Check::new(
            "change by a second projection",
            most.repeated,
            "",
            Band::below(1e-5),
        ),
        Check::new(
            "rotated and projected less projected and rotated",
            most.axes[0],
            "Pa",
            isotropic,
        ),
        Check::new("stress without pressure", nothing, "Pa", Band::below(0.0)),
        Check::control(
            "trace, printed clamp",
            most.clamped_trace,
            "Pa",
            Band::below(0.05),
        ),
        Check::control(
            "rotated and projected, printed clamp",
            most.axes[1],
            "Pa",
            Band::below(0.05),
        ),
        Check::new(
            "trace of diag(2, −1, −1), printed clamp at 1.2 Pa",
            f64::from(clamped[0] + clamped[1] + clamped[2]),
            "Pa",
            Band::between(-0.8 - 1e-6, -0.8 + 1e-6),
        ),
    ];
    Ok(outcome(
        "Frictional stress is bounded by pressure, isotropically.",
        "1000 random stresses of 1 mPa to 1 kPa, in 2D and 3D.",
        "‖s‖ ≤ √2 sin θ p, [Ihmsen13] Eq. 4. The clamp of Eq. 13 has a trace and is not isotropic.",
        checks,
    ))
}
