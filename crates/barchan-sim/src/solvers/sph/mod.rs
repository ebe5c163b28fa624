//! Smoothed particle hydrodynamics for sand, after [Ihmsen13]. Symbols, choices and limits: docs/solvers/sph.md.

pub mod boundary;
pub mod kernel;
pub mod law;
mod material;
mod method;
mod motion;
mod neighbors;
mod particles;
mod passes;
mod walls;

use crate::neighbors::cells::Cells;
use crate::sampling::Samples;
use crate::solver::{
    Columns as Wanted, Pace, Region, Solver, SolverError, StepContext, StepStats, Stopwatch,
};
use crate::solvers::refusal;
use crate::view::ParticlesView;
use barchan_frame::{Checkpoint, Frame};
use barchan_scene::{Bounds, Dimensions, Material, Scene, SphSpec, SphTolerance, Wetting};
use fearless_simd::Level;
use glam::Vec3;
use kernel::{Kernel, Prototype};
use law::SandLaw;
use material::NeighborState;
pub use method::METHOD;
use neighbors::NeighborSearch;
use particles::Particles;
use passes::{Columns, Density, Residual, Row};
use rayon::prelude::*;
use walls::{WallSettings, Walls};

/// Particles per task; fixed, so that results do not depend on the number of threads.
const PARTICLES_PER_TASK: usize = 512;

/// Bulk modulus in units of γ ρ0. It bounds the pressure of a predicted density; otherwise pressure would be the sum of the errors of
/// all iterations and depend on their number.
const BULK_MODULUS_FACTOR: f64 = 1.0;
/// Bulk modulus in units of γ ρ0 where the loop iterates to a tolerance.
const BULK_MODULUS_FACTOR_WITH_TOLERANCE: f64 = 10.0;
/// Pressure correction of an iteration, as a fraction of the one that removes the error of the worst wavelength.
///
/// Differs from [Ihmsen13] Eq. 7 and 12, which consider a single particle: the response of a wave is up to 2.8 times as large
/// ([`Prototype::collective_response`]), so the printed corrections overshoot by 1.4 in pressure and 2.8 in friction, in the same
/// direction.
const PRESSURE_GAIN: f32 = 0.7;
/// Speed limit of the separation of compressed particles where nothing moves faster [m/s]. With the
/// default step it corresponds to the pressure of 5 m of sand.
const SEPARATION_SPEED: f32 = 1.0;
/// Friction correction of an iteration, as a fraction of 1/D (Eq. 12).
const FRICTION_GAIN: f64 = 0.1;
/// The same where friction starts from zero in every step: one iteration stops the worst wavelength.
const FRICTION_GAIN_FROM_ZERO: f64 = 0.35;

/// Fraction of the support pressure that an iteration retains.
///
/// Differs from [Ihmsen13], where the present pressure limits friction: in flowing sand it fluctuates within a few steps, and
/// friction removed with it would have to build up again from zero.
const SUPPORT_RETENTION: f32 = 0.93;

/// SPH solver.
pub struct Sph {
    spec: SphSpec,
    dimensions: Dimensions,
    level: Level,
    kernel: Kernel,
    prototype: Prototype,
    laws: Vec<SandLaw>,
    wettings: Vec<Wetting>,
    particles: Particles,
    scratch: Scratch,
}

/// Working memory of a step, not part of the state.
#[derive(Default)]
struct Scratch {
    cells: Cells,
    spare: Particles,
    neighbors: NeighborSearch,
    walls: Walls,
    densities: Vec<Density>,
    states: Vec<NeighborState>,
    /// Accelerations that are constant during the iterations [m/s²].
    advection: Vec<Vec3>,
    /// Predicted velocities [m/s], and pressures [Pa].
    predicted: Vec<Row>,
    /// (ŝ − p I)/δ² [Pa].
    tensor: Vec<Columns>,
    /// Velocity change by collisions of isolated particles [m/s].
    collision: Vec<Vec3>,
}

/// Settings of a step, shared by all stages.
struct Step<'a> {
    level: Level,
    dt: f32,
    spec: &'a SphSpec,
    prototype: &'a Prototype,
    laws: &'a [SandLaw],
    /// Volume of a particle [m³].
    volume: f32,
    /// Density of the lightest material [kg/m³].
    min_density: f32,
    /// Ratio of the collective to the single-particle response; scales the pressure gain in dense regions.
    collective_ratio: f32,
    /// Bulk modulus [Pa], and its inverse.
    bulk: f32,
    compressibility: f32,
    /// Relative density beyond which pressure no longer increases.
    max_density: f32,
    /// 1/D [Pa s].
    viscosity: f32,
    /// Fraction of the support pressure that an iteration retains.
    support_retention: f32,
}

impl Sph {
    /// A solver without particles. Refuses scenes with unsupported features.
    pub fn new(scene: &Scene, level: Level) -> Result<Self, SolverError> {
        let spec: SphSpec = scene.settings();
        refusal::check(&METHOD, scene)?;
        let prototype = Prototype::new(spec.spacing(), scene.dimensions);
        let laws = scene.materials.iter();
        Ok(Self {
            spec,
            dimensions: scene.dimensions,
            level,
            kernel: Kernel::new(2.0 * spec.spacing(), scene.dimensions),
            prototype,
            laws: laws
                .map(|m| SandLaw::new(m, &prototype))
                .collect::<Result<_, _>>()?,
            wettings: scene.wettings.clone(),
            particles: Particles::default(),
            scratch: Scratch::default(),
        })
    }

    /// Volume of a particle [m³]; in 2D that of a square rod 1 m long.
    fn volume(&self) -> f64 {
        self.spec.spacing().powi(self.dimensions.count() as i32)
    }

    /// Density of the lightest material [kg/m³].
    fn min_density(&self) -> f64 {
        let densities = self.laws.iter().map(|law| law.density);
        densities.fold(f64::INFINITY, f64::min)
    }

    fn step_settings(&self, dt: f32, fastest: f32) -> Step<'_> {
        // The lightest material has the largest response.
        let density = self.min_density();
        let gamma = law::stiffness(density, f64::from(dt), &self.prototype);
        // The collective response overshoots only with a modulus beyond γ ρ0.
        let (stiffness, collective_ratio) = match self.spec.tolerance {
            None => (BULK_MODULUS_FACTOR, 1.0),
            Some(_) => {
                let ratio = self.prototype.collective_response / self.prototype.squares;
                (BULK_MODULUS_FACTOR_WITH_TOLERANCE, ratio)
            }
        };
        let bulk = gamma * stiffness;
        let (friction_gain, support_retention) = match self.spec.static_friction {
            true => (FRICTION_GAIN, SUPPORT_RETENTION),
            false => (FRICTION_GAIN_FROM_ZERO, 0.0),
        };
        let viscosity = law::viscosity(density, f64::from(dt), &self.prototype);
        Step {
            level: self.level,
            dt,
            spec: &self.spec,
            prototype: &self.prototype,
            laws: &self.laws,
            volume: self.volume() as f32,
            min_density: density as f32,
            collective_ratio: collective_ratio as f32,
            bulk: bulk as f32,
            compressibility: (1.0 / bulk) as f32,
            max_density: self.max_density(bulk, density, fastest) as f32,
            viscosity: (friction_gain * viscosity) as f32,
            support_retention,
        }
    }

    /// Relative density beyond which pressure no longer increases, for a bulk modulus [Pa]. The
    /// pressure of cohesion is added, or cohesive material would collapse. Such material contracts
    /// by itself, so that speeds do not raise the limit.
    fn max_density(&self, bulk: f64, density: f64, fastest: f32) -> f64 {
        let tension = self.tension();
        let speed = match tension > 0.0 {
            true => SEPARATION_SPEED,
            false => fastest.max(SEPARATION_SPEED),
        };
        1.0 + f64::from(speed) / (bulk / density).sqrt() + 2.0 * tension / bulk
    }

    /// Largest pressure by cohesion of any material [Pa].
    fn tension(&self) -> f64 {
        let most = |law: &SandLaw| {
            let intensity = f64::from(law.cohesion[0].max(law.cohesion[1]));
            law::tension(intensity, law.density, &self.prototype)
        };
        self.laws.iter().map(most).fold(0.0, f64::max)
    }

    /// Sorts the particles by cell.
    fn sort(&mut self) {
        let s = &mut self.scratch;
        s.cells.sort(&self.particles.position, self.kernel.support);
        self.particles.reorder(&s.cells, &mut s.spare);
    }

    /// Neighbors with kernel gradients, and contacts with bodies.
    fn find_neighbors(&mut self, cx: &StepContext<'_>) {
        let volume = self.volume() as f32;
        let (p, s) = (&self.particles, &mut self.scratch);
        (s.neighbors).find(self.level, &s.cells, &p.position, &self.kernel, volume);
        let settings = WallSettings::new(&self.spec, self.kernel, self.dimensions);
        s.walls.find(&settings, p, cx.colliders);
    }

    /// Predictor–corrector loop, starting from the pressure of the present density and the friction of the last step, until the error
    /// is small or the maximum number of iterations is reached. Returns the number of iterations and the largest
    /// compression that the last one found.
    fn iterate(&mut self, cx: &StepContext<'_>) -> (u32, f32) {
        let mut particles = std::mem::take(&mut self.particles);
        let mut scratch = std::mem::take(&mut self.scratch);
        let step = self.step_settings(cx.dt, velocity_range(&particles, &scratch.walls));
        if !self.spec.static_friction {
            particles.stress.fill(Default::default());
        }
        passes::initialize(&step, &mut particles, &mut scratch); // Eq. 16
        let most = (self.spec.tolerance).map_or(self.spec.iterations, |t| t.max_iterations);
        let mut left = (0, 0.0);
        for iteration in 1..=most {
            passes::predict(&step, &particles, &mut scratch); // Eq. 5, 10, 15
            (scratch.walls).move_bodies(cx.dt, &particles, cx.colliders);
            let residual = passes::correct(&step, &mut particles, &mut scratch); // Eq. 6, 11–14
            left = (iteration, residual.compression);
            let has_converged = (self.spec.tolerance).is_some_and(|t| is_converged(&t, &residual));
            if iteration >= self.spec.iterations && has_converged {
                break;
            }
        }
        passes::predict(&step, &particles, &mut scratch);
        (self.particles, self.scratch) = (particles, scratch);
        left
    }
}

/// Upper bound of the velocity differences of particles, and of bodies in contact with them [m/s].
fn velocity_range(particles: &Particles, walls: &Walls) -> f32 {
    let grains = particles
        .velocity
        .par_iter()
        .with_min_len(4 * PARTICLES_PER_TASK);
    let contacts = walls.contacts.par_iter().flatten();
    let all = grains.copied().chain(contacts.map(|c| c.velocity));
    let range = all
        .map(|v| Bounds { min: v, max: v })
        .reduce(|| Bounds::EMPTY, |a, b| a.union(&b));
    (range.max - range.min).length()
}

fn is_converged(tolerance: &SphTolerance, residual: &Residual) -> bool {
    let change = tolerance.stress * f64::from(residual.pressure);
    f64::from(residual.compression) <= tolerance.density && f64::from(residual.change) <= change
}

impl Solver for Sph {
    fn emit(&mut self, batch: &Samples) -> Result<(), SolverError> {
        let p = &mut self.particles;
        let first = p.append(batch)?;
        let mass = self.laws[batch.material].density * f64::from(batch.volume);
        p.mass[first..].fill(mass as f32);
        p.radius[first..].fill(self.spec.radius as f32);
        Ok(())
    }

    fn remove(&mut self, region: &Region<'_>) -> Result<usize, SolverError> {
        Ok(self.particles.remove(region))
    }

    fn particles(&self) -> usize {
        self.particles.len()
    }

    fn host_view(&self) -> Option<ParticlesView<'_>> {
        Some(self.particles.view())
    }

    fn set_material(&mut self, index: usize, material: &Material) -> Result<(), SolverError> {
        let law = SandLaw::new(material, &self.prototype)?;
        match self.laws.get_mut(index) {
            Some(own) if own.density == law.density => *own = law,
            _ => return Err(refusal::changed(&METHOD, material)),
        }
        Ok(())
    }

    fn pace(&mut self) -> Result<Pace, SolverError> {
        Ok(self.bounds())
    }

    fn step(&mut self, cx: &mut StepContext<'_>) -> Result<StepStats, SolverError> {
        if self.particles.len() == 0 {
            return Ok(StepStats::default());
        }
        let watch = Stopwatch::new();
        self.update_wetness(cx); // §3.4
        self.sort();
        let watch = watch.lap(cx, "sort");
        self.find_neighbors(cx); // Eq. 1, 16
        let watch = watch.lap(cx, "neighbors");
        self.apply_material_forces(cx); // gravity, viscosity, cohesion: Eq. 22
        let watch = watch.lap(cx, "material forces");
        let (iterations, residual) = self.iterate(cx); // Algorithm 1: Eq. 5–15, 17–21
        let watch = watch.lap(cx, "pressure and friction");
        (self.scratch.walls).add_reactions(cx.dt, &self.particles, cx.impulses);
        let max_speed = self.advance(cx)?;
        watch.lap(cx, "motion");
        Ok(StepStats {
            max_speed,
            iterations,
            residual: Some(residual),
        })
    }

    fn download(&mut self, columns: &Wanted<'_>, out: &mut Frame) -> Result<(), SolverError> {
        let spacing = self.spec.spacing() as f32;
        let is_dry = self.wettings.is_empty();
        let is_wanted = |name: &str| columns.include(name) && !(is_dry && name == "wetness");
        self.particles.write_frame(spacing, is_wanted, out);
        Ok(())
    }

    fn save(&mut self, out: &mut Checkpoint) -> Result<(), SolverError> {
        self.particles.save(out);
        Ok(())
    }

    fn load(&mut self, from: &Checkpoint) -> Result<(), SolverError> {
        self.particles = Particles::load(from, self.laws.len())?;
        self.particles.radius.fill(self.spec.radius as f32);
        Ok(())
    }
}
