//! Smoothed particle hydrodynamics for sand, after [Ihmsen13]. Symbols, choices and limits: docs/solvers/sph.md.

pub mod kernel;
pub mod law;
mod material;
mod method;
mod motion;
mod neighbors;
mod particles;
mod passes;
mod state;
pub mod surface;
mod walls;

use crate::neighbors::cells::Cells;
use crate::sampling::Samples;
use crate::solver::{
    Columns as Wanted, Pace, Region, Solver, SolverError, StepContext, StepStats, Stopwatch,
};
use crate::solvers::refusal::{self, Lacks};
use crate::view::ParticlesView;
use barchan_frame::{Checkpoint, Frame};
use barchan_scene::{Dimensions, Material, Scene, SphError, SphSpec, SphWalls, SphYield, Wetting};
use fearless_simd::Level;
use glam::Vec3;
use kernel::{Kernel, Prototype};
use law::SandParticle;
use material::Moving;
pub use method::METHOD;
use neighbors::NeighborSearch;
use particles::Particles;
use passes::{Columns, Residual, Row};
use rayon::prelude::*;
use surface::Sampling;
use walls::{WallSettings, Walls};

/// Particles that one task works on; fixed, so that results do not depend on the number of threads.
const TASK: usize = 512;

/// Bulk modulus in units of γ ρ0: the pressure that passes aim at is that of the predicted density. Without a modulus it would
/// be the sum of the errors of all passes, which depends on how many there are.
const STIFF: f64 = 1.0;
/// The same where passes go on until the compression is small.
const STIFFER: f64 = 10.0;
/// Part of what would cure the worst wave that a pass corrects pressure by.
///
/// Differs from [Ihmsen13] Eq. 7 and 12, which look at one particle: a wave answers up to 2.8 times as much as one
/// ([`Prototype::peak`]), so that passes as printed overshoot 1.4 times in pressure and 2.8 times more in friction, and both
/// push the same way.
const PRESSURE_GAIN: f32 = 0.7;
/// Speed at which sand that was crushed, or placed too near, comes apart [m/s] where nothing moves against it faster: pressure is bounded by
/// what makes it so fast. With the default time step 5 m of sand press so much.
const PARTING: f32 = 1.0;
/// Part of 1/D (Eq. 12) that a pass corrects friction by.
const FRICTION_GAIN: f64 = 0.1;
/// The same where friction begins at nothing in every step: the worst wave is stopped by one pass.
const FRICTION_GAIN_ALONE: f64 = 0.35;

/// Part that a pass leaves of the pressure by which friction is limited.
///
/// Differs from [Ihmsen13], where that is the present pressure: in sand that flows the pressure of a particle comes and goes
/// within a few steps, and friction that went with it each time would have to grow again from nothing.
const SUPPORT_KEPT: f32 = 0.93;

/// SPH solver.
pub struct Sph {
    spec: SphSpec,
    dimensions: Dimensions,
    level: Level,
    kernel: Kernel,
    prototype: Prototype,
    laws: Vec<SandParticle>,
    wettings: Vec<Wetting>,
    particles: Particles,
    scratch: Scratch,
}

/// What a step needs and a checkpoint does not.
#[derive(Default)]
struct Scratch {
    cells: Cells,
    spare: Particles,
    neighbors: NeighborSearch,
    walls: Walls,
    /// Density over that at rest δ, and its square.
    fraction: Vec<f32>,
    squares: Vec<f32>,
    /// What a pass answers an error of δ with [Pa].
    gain: Vec<f32>,
    moving: Vec<Moving>,
    /// Accelerations that do not change in the loop [m/s²].
    advection: Vec<Vec3>,
    /// Predicted velocities [m/s], and pressures [Pa].
    predicted: Vec<Row>,
    /// (ŝ − p I)/δ² [Pa].
    tensor: Vec<Columns>,
    /// Velocities that particles give each other where they collide one by one [m/s].
    collision: Vec<Vec3>,
}

/// What all stages of a step go by.
struct Step<'a> {
    level: Level,
    dt: f32,
    dimensions: Dimensions,
    /// Volume of a particle [m³].
    volume: f32,
    /// Density of the lightest material [kg/m³].
    lightest: f32,
    /// |Σ V ∇W|² of the worst wave in a bed [1/m²].
    peak: f32,
    /// Ratio of the collective to the single-particle response; scales the pressure gain in dense regions.
    together: f32,
    /// Bulk modulus [Pa], and 1 over it.
    bulk: f32,
    softness: f32,
    /// Density over that at rest beyond which pressure grows no more.
    most_dense: f32,
    /// Whether anybody asks how far passes are from what they want.
    measures: bool,
    /// 1/D [Pa s].
    viscosity: f32,
    /// Part of the pressure that limits friction that a pass leaves.
    kept: f32,
    yielding: SphYield,
    walls: SphWalls,
    laws: &'a [SandParticle],
}

impl Sph {
    /// A solver without particles. Refuses what it cannot do.
    pub fn new(scene: &Scene, level: Level) -> Result<Self, SolverError> {
        let spec: SphSpec = scene.settings();
        let lacks = Lacks {
            periodic: true,
            terrain: true,
            columns: true,
        };
        lacks.refuse("sph", scene)?;
        let prototype = Prototype::new(spec.spacing(), scene.dimensions);
        let laws = scene.materials.iter();
        Ok(Self {
            spec,
            dimensions: scene.dimensions,
            level,
            kernel: Kernel::new(2.0 * spec.spacing(), scene.dimensions),
            prototype,
            laws: laws
                .map(|m| SandParticle::new(m, &prototype))
                .collect::<Result<_, _>>()?,
            wettings: scene.wettings.clone(),
            particles: Particles::default(),
            scratch: Scratch::default(),
        })
    }

    /// Volume of a particle [m³]; in 2D of a square rod 1 m long.
    fn volume(&self) -> f64 {
        self.spec.spacing().powi(self.dimensions.count() as i32)
    }

    fn settings(&self, dt: f32, fastest: f32) -> Step<'_> {
        // The lightest gives way most.
        let densities = self.laws.iter().map(|law| law.density);
        let density = densities.fold(f64::INFINITY, f64::min);
        let gamma = law::stiffness(density, f64::from(dt), &self.prototype);
        // Only a modulus beyond γ ρ0 lets a crowd overshoot.
        let (stiff, together) = match self.spec.until {
            None => (STIFF, 1.0),
            Some(_) => (STIFFER, self.prototype.peak / self.prototype.squares),
        };
        let (friction_gain, kept) = match self.spec.static_friction {
            true => (FRICTION_GAIN, SUPPORT_KEPT),
            false => (FRICTION_GAIN_ALONE, 0.0),
        };
        Step {
            level: self.level,
            dt,
            dimensions: self.dimensions,
            volume: self.volume() as f32,
            lightest: density as f32,
            peak: self.prototype.peak as f32,
            together: together as f32,
            bulk: (gamma * stiff) as f32,
            softness: (1.0 / (gamma * stiff)) as f32,
            most_dense: self.most_dense(gamma * stiff, density, fastest) as f32,
            measures: self.spec.until.is_some(),
            viscosity: (friction_gain * law::viscosity(density, f64::from(dt), &self.prototype))
                as f32,
            kept,
            yielding: self.spec.yielding,
            walls: self.spec.wall_friction,
            laws: &self.laws,
        }
    }

    /// Density over that at rest beyond which pressure grows no more, for a bulk modulus [Pa]. What cohesion presses comes on top,
    /// or the material would fall into itself; lumps that pull themselves together part at [`PARTING`], however fast they are.
    fn most_dense(&self, bulk: f64, density: f64, fastest: f32) -> f64 {
        let pull = self.tension();
        let speed = match pull > 0.0 {
            true => PARTING,
            false => fastest.max(PARTING),
        };
        1.0 + f64::from(speed) / (bulk / density).sqrt() + 2.0 * pull / bulk
    }

    /// The most that cohesion presses any material together [Pa].
    fn tension(&self) -> f64 {
        let most = |law: &SandParticle| {
            let intensity = f64::from(law.cohesion[0].max(law.cohesion[1]));
            law::tension(intensity, law.density, &self.prototype)
        };
        self.laws.iter().map(most).fold(0.0, f64::max)
    }

    /// Particles in the order of the cells that hold them.
    fn sort(&mut self) {
        let s = &mut self.scratch;
        s.cells.sort(&self.particles.position, self.kernel.support);
        self.particles.reorder(&s.cells, &mut s.spare);
    }

    /// Neighbors, boundary particles and densities.
    fn find_neighbors(&mut self, cx: &StepContext<'_>) {
        let volume = self.volume() as f32;
        let (p, s) = (&self.particles, &mut self.scratch);
        s.neighbors
            .find(self.level, &s.cells, &p.position, &self.kernel, volume);
        let spacing = self.spec.spacing() as f32;
        let set = match self.spec.wall_friction {
            SphWalls::Coulomb => WallSettings {
                sampling: Sampling::firm(spacing, self.kernel, self.dimensions),
                viscosity: 0.0,
                remembers: self.spec.static_friction,
            },
            SphWalls::Viscous => WallSettings {
                sampling: Sampling::plain(spacing, self.kernel, self.dimensions),
                viscosity: 0.5 * self.kernel.support * self.spec.sound_speed as f32,
                remembers: self.spec.static_friction,
            },
        };
        s.walls.find(&set, p, cx.colliders);
    }

    /// Predictor and corrector, from the pressure of the density and the friction of the last step on, until the error is small
    /// or the passes are used up. Returns how many passes it took, and the compression that they left.
    fn iterate(&mut self, cx: &StepContext<'_>) -> (u32, f32) {
        let mut particles = std::mem::take(&mut self.particles);
        let mut scratch = std::mem::take(&mut self.scratch);
        let step = self.settings(cx.dt, fastest(&particles, &scratch.walls));
        passes::compute_densities(&step, &mut scratch); // Eq. 16
        if !self.spec.static_friction {
            particles.stress.fill(Default::default());
        }
        passes::begin(&step, &mut particles, &mut scratch);
        let most = (self.spec.until).map_or(self.spec.iterations, |until| until.max_iterations);
        let mut left = (0, 0.0);
        for pass in 1..=most {
            passes::predict(&step, &particles, &mut scratch); // Eq. 5, 10, 15
            scratch.walls.push_bodies(cx.dt, &particles, cx.colliders);
            let residual = passes::correct(&step, &mut particles, &mut scratch); // Eq. 6, 11–14
            left = (pass, residual.compression);
            let enough = (self.spec.until).is_some_and(|until| is_small(&until, &residual));
            if pass >= self.spec.iterations && enough {
                break;
            }
        }
        passes::predict(&step, &particles, &mut scratch);
        (self.particles, self.scratch) = (particles, scratch);
        left
    }
}

/// The most that velocities of particles, and of bodies at them, can differ [m/s].
fn fastest(particles: &Particles, walls: &Walls) -> f32 {
    let grains = particles.velocity.par_iter().with_min_len(4 * TASK);
    let contacts = walls.contacts.par_iter().flatten();
    let all = grains.copied().chain(contacts.map(|c| c.velocity));
    let nothing = || (Vec3::INFINITY, Vec3::NEG_INFINITY);
    let (low, high) = all
        .map(|v| (v, v))
        .reduce(nothing, |a, b| (a.0.min(b.0), a.1.max(b.1)));
    (high - low).length()
}

fn is_small(until: &SphError, residual: &Residual) -> bool {
    let change = until.stress * f64::from(residual.pressure);
    f64::from(residual.compression) <= until.density && f64::from(residual.change) <= change
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
        let positions = self.particles.position.par_iter();
        let keep: Vec<bool> = positions.map(|p| !region.contains(*p)).collect();
        Ok(self.particles.retain(&keep))
    }

    fn particles(&self) -> usize {
        self.particles.len()
    }

    fn host_view(&self) -> Option<ParticlesView<'_>> {
        Some(self.particles.view())
    }

    fn set_material(&mut self, index: usize, material: &Material) -> Result<(), SolverError> {
        let law = SandParticle::new(material, &self.prototype)?;
        match self.laws.get_mut(index) {
            Some(own) if own.density == law.density => *own = law,
            _ => return Err(refusal::changed("sph", material)),
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
        self.moisten(cx); // §3.4: dry to wet
        self.sort();
        let watch = watch.lap(cx, "sort");
        self.find_neighbors(cx); // Eq. 1, 16
        let watch = watch.lap(cx, "neighbors");
        self.apply_material_forces(cx); // gravity, viscosity, cohesion: Eq. 22
        let watch = watch.lap(cx, "material forces");
        let (iterations, residual) = self.iterate(cx); // Algorithm 1: Eq. 5–15, 17–21
        let watch = watch.lap(cx, "pressure and friction");
        self.scratch
            .walls
            .react(cx.dt, &self.particles, cx.impulses);
        let max_speed = self.advance(cx)?;
        watch.lap(cx, "motion");
        Ok(StepStats {
            max_speed,
            iterations,
            residual,
        })
    }

    fn download(&mut self, columns: &Wanted<'_>, out: &mut Frame) -> Result<(), SolverError> {
        self.write_columns(columns, out);
        Ok(())
    }

    fn save(&mut self, out: &mut Checkpoint) -> Result<(), SolverError> {
        self.save_state(out);
        Ok(())
    }

    fn load(&mut self, from: &Checkpoint) -> Result<(), SolverError> {
        self.load_state(from)
    }
}

/// Memory that a run of that many particles needs at its peak [bytes].
pub fn memory_estimate(particles: usize) -> u64 {
    // Twice the state, the neighbors of a bed at rest with what lists grow too much, and the rest of the scratch.
    particles as u64 * (2 * 89 + 2 * 34 * 16 + 160)
}
