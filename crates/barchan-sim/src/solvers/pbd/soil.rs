//! Exchange with the terrain before a step: soil that bodies cut becomes grains, and grains at rest are deposited.

use super::Pbd;
use super::params::number_density;
use crate::identities::Identities;
use crate::particles::check_count;
use crate::sampling::solid_fraction;
use crate::solver::{SolverError, StepContext};
use crate::terrain::{ExistingGrains, GrainSize, SpawnedGrain, Terrain};
use barchan_frame::Checkpoint;
use barchan_scene::{Dimensions, PbdSpec, Scene};
use glam::Vec3;

/// Steps between two deposition checks of a grain; grains are staggered by identity.
const DEPOSIT_INTERVAL: u32 = 16;
/// Largest speed of a grain at rest, as a fraction of √(g d), the speed needed to climb over another grain. Grains above deposited
/// ones still creep downward.
const REST_SPEED: f32 = 0.1;
/// Solid fraction of a settled bed. With that of fills, which are looser, terrain would sink when
/// cut and swell when deposited.
const SETTLED_FRACTION: f64 = 0.635;
/// Scalar of a checkpoint: number of steps.
const STEPS: &str = "terrain_steps";

/// Terrain and scratch of the exchange.
#[derive(Debug)]
pub(super) struct Soil {
    pub terrain: Terrain,
    steps: u32,
    spawned: Vec<SpawnedGrain>,
    keep: Vec<bool>,
}

impl Soil {
    /// The terrain of a scene, if it has one.
    pub fn new(scene: &Scene, spec: &PbdSpec) -> Option<Self> {
        let terrain = scene.terrain.as_ref()?;
        let material = scene.materials.get(terrain.material)?;
        let settled = SETTLED_FRACTION / solid_fraction(Dimensions::Three);
        let grains = settled * number_density(spec, Dimensions::Three);
        let size = GrainSize {
            radius: spec.radius as f32,
            spread: spec.spread as f32,
            mass: material.density / grains,
        };
        Some(Self {
            terrain: Terrain::new(terrain, material, size),
            steps: 0,
            spawned: Vec::new(),
            keep: Vec::new(),
        })
    }

    pub fn save(&self, out: &mut Checkpoint) {
        self.terrain.save(out);
        out.set_scalar(STEPS, self.steps);
    }

    pub fn load(&mut self, from: &Checkpoint) -> Result<(), SolverError> {
        let missing = || SolverError::Checkpoint("its terrain has no step counter".into());
        let steps = from.scalar(STEPS).ok_or_else(missing)?;
        self.terrain.load(from)?;
        self.steps = steps as u32;
        Ok(())
    }
}

impl Pbd {
    /// Exchanges soil with the terrain and relaxes its slopes.
    pub(super) fn exchange_with_terrain(
        &mut self,
        cx: &mut StepContext<'_>,
    ) -> Result<(), SolverError> {
        let Some(mut soil) = self.soil.take() else {
            return Ok(());
        };
        soil.steps = soil.steps.wrapping_add(1);
        self.deposit(&mut soil, cx);
        soil.spawned.clear();
        let now = ExistingGrains {
            position: &self.grains.position,
            radius: &self.grains.radius,
        };
        soil.terrain
            .cut(&cx.colliders.list, cx.dt, now, &mut soil.spawned);
        soil.terrain.relax();
        let added = self.add_spawned(&mut soil, cx.identities);
        self.soil = Some(soil);
        added
    }

    /// Updates the surcharge of the terrain from the positions and masses of the grains on it.
    pub(super) fn update_terrain_load(&mut self) {
        let Some(soil) = &mut self.soil else {
            return;
        };
        let g = &self.grains;
        let material = soil.terrain.material();
        let own = |i: &usize| usize::from(g.material[*i]) == material;
        let grains = (0..g.len()).filter(own);
        soil.terrain
            .set_grain_loads(grains.map(|i| (g.position[i], g.mass[i])));
    }

    /// Deposits grains that rest on the terrain or are buried in it.
    fn deposit(&mut self, soil: &mut Soil, cx: &StepContext<'_>) {
        let material = soil.terrain.material() as u8;
        let diameter = 2.0 * self.spec.radius as f32;
        let slow = REST_SPEED * (diameter * cx.gravity.length()).sqrt();
        let turn = soil.steps % DEPOSIT_INTERVAL;
        let g = &self.grains;
        soil.keep.clear();
        let terrain = &mut soil.terrain;
        soil.keep.extend((0..g.len()).map(|i| {
            let is_due = g.id[i] % DEPOSIT_INTERVAL == turn && g.material[i] == material;
            let is_buried = || terrain.field().distance(g.position[i]) < -g.radius[i];
            let rests = is_due && (g.velocity[i].length() <= slow || is_buried());
            !(rests && terrain.deposit(g.position[i], g.radius[i], f64::from(g.mass[i])))
        }));
        if soil.keep.contains(&false) {
            self.grains.retain(&soil.keep);
        }
    }

    fn add_spawned(
        &mut self,
        soil: &mut Soil,
        identities: &mut Identities,
    ) -> Result<(), SolverError> {
        let g = &mut self.grains;
        check_count(g.len() + soil.spawned.len())?;
        for grain in &soil.spawned {
            let id = identities
                .take_one()
                .map_err(|e| SolverError::unsupported("terrain", e.to_string(), "dig less"))?;
            g.position.push(grain.position);
            g.velocity.push(Vec3::ZERO);
            g.radius.push(grain.radius);
            g.mass.push(grain.mass as f32);
            g.id.push(id);
            g.material.push(soil.terrain.material() as u8);
            self.max_radius = self.max_radius.max(grain.radius);
        }
        g.complete();
        Ok(())
    }
}
