//! The solver under test, with a state that can be set and read particle by particle.

use super::twin::{Particle, Stuff};
use barchan_frame::{Checkpoint, Column, ColumnData, Unit};
use barchan_scene::{
    Collider, Dimensions, FinalCheck, Gravity, Kernel, Law, MPM, Material, MpmSpec, Scene,
    SolverSpec, Transfer,
};
use barchan_sim::collider::{BodyImpulses, Colliders};
use barchan_sim::identities::Identities;
use barchan_sim::material::PreparedLaw;
use barchan_sim::math::{Level, Sym3};
use barchan_sim::solver::{Solver, StepContext, Timings};
use barchan_sim::solvers::mpm::Mpm;
use glam::{DMat3, DVec3, Vec3};

/// Settings with a kernel and a transfer; the step is the test's own.
pub fn spec(dx: f64, kernel: Kernel, transfer: Transfer) -> MpmSpec {
    MpmSpec {
        dx,
        particles_per_cell: 4.0,
        kernel,
        transfer,
        max_dt: 1.0,
        cfl: 1.0,
        elastic_cfl: 1.0,
    }
}

/// A scene without anything in it.
pub fn scene(dimensions: Dimensions, spec: MpmSpec, materials: Vec<Material>) -> Scene {
    Scene {
        name: "test".into(),
        description: String::new(),
        dimensions,
        frames: 1,
        frame_rate: 1.0,
        seed: 0,
        domain: None,
        periodic: [false; 3],
        wettings: Vec::new(),
        gravity: Gravity::Constant(DVec3::ZERO),
        materials,
        fills: Vec::new(),
        emitters: Vec::new(),
        colliders: Vec::new(),
        bodies: Vec::new(),
        joints: Vec::new(),
        drains: Vec::new(),
        solver: SolverSpec::new(&MPM, spec.dx).with(spec),
        camera: None,
        columns: Vec::new(),
        check: FinalCheck::default(),
        start: None,
        terrain: None,
        meshes: Vec::new(),
        document: String::new(),
        places: Default::default(),
    }
}

/// A named material.
pub fn material(density: f64, law: Law) -> Material {
    Material {
        name: "test".into(),
        density,
        law,
        wet_cohesion: None,
        settings: Default::default(),
        color: barchan_scene::ColorMix::plain([128; 3]),
    }
}

/// The same for the twin.
pub fn stuff(material: &Material, dimensions: Dimensions) -> Stuff {
    Stuff {
        density: material.density,
        law: PreparedLaw::new(material, dimensions),
    }
}

/// The solver, stepped by hand.
pub struct Real {
    pub mpm: Mpm,
    pub colliders: Colliders,
    pub impulses: BodyImpulses,
    pub time: f64,
    timings: Timings,
}

impl Real {
    pub fn new(scene: &Scene, particles: &[Particle]) -> Self {
        Self::on(scene, particles, Level::new())
    }

    pub fn on(scene: &Scene, particles: &[Particle], level: Level) -> Self {
        let mut mpm = Mpm::new(scene, level).unwrap();
        mpm.load(&checkpoint(particles)).unwrap();
        Self {
            mpm,
            colliders: Colliders::new(&scene.colliders),
            impulses: BodyImpulses::zero(scene.colliders.len()),
            time: 0.0,
            timings: Timings::default(),
        }
    }

    /// One step; impulses on bodies are those of this step alone.
    pub fn step(&mut self, dt: f32, gravity: Vec3) {
        self.impulses.clear();
        self.colliders.pose(self.time, f64::from(dt));
        let mut context = StepContext {
            dt,
            time: self.time,
            gravity,
            colliders: &self.colliders,
            impulses: &mut self.impulses,
            identities: &mut Identities::default(),
            timings: &mut self.timings,
        };
        self.mpm.step(&mut context).unwrap();
        self.time += f64::from(dt);
    }

    /// The particles, in the order they were given in.
    pub fn particles(&mut self) -> Vec<Particle> {
        let mut state = Checkpoint::default();
        self.mpm.save(&mut state).unwrap();
        let floats = |name: &str| match state.column(name).map(|c| &c.data) {
            Some(ColumnData::F32(data)) => data.clone(),
            // Of a law that no material has.
            None => vec![0.0; state.particles()],
            _ => panic!("{name} is not made of floats"),
        };
        let (x, v, c) = (floats("position"), floats("velocity"), floats("affine"));
        let (strain, stress) = (floats("strain"), floats("stress"));
        let (q, gain, volume) = (floats("hardening"), floats("volume_gain"), floats("volume"));
        let ids = state.column("id").unwrap().data.as_u32().unwrap();
        let materials = state.column("material").unwrap().data.as_u8().unwrap();
        let mut all: Vec<(u32, Particle)> = (0..ids.len())
            .map(|i| {
                let particle = Particle {
                    x: Vec3::from_slice(&x[3 * i..]).as_dvec3(),
                    v: Vec3::from_slice(&v[3 * i..]).as_dvec3(),
                    c: matrix(&c[9 * i..]),
                    strain: symmetric(&strain[6 * i..]),
                    stress: symmetric(&stress[6 * i..]),
                    hardening: q[i].into(),
                    volume_gain: gain[i].into(),
                    volume: volume[i].into(),
                    material: materials[i].into(),
                };
                (ids[i], particle)
            })
            .collect();
        all.sort_by_key(|(id, _)| *id);
        all.into_iter().map(|(_, p)| p).collect()
    }
}

/// A collider that stands still.
pub fn fixed(shape: barchan_scene::Geometry, boundary: barchan_scene::Boundary) -> Collider {
    Collider {
        name: "wall".into(),
        shape,
        motion: barchan_scene::Motion::default(),
        boundary,
        friction: 0.0,
        look: None,
        color: None,
    }
}

/// Row by row, as the solver stores it.
fn matrix(rows: &[f32]) -> DMat3 {
    DMat3::from_cols_array(&std::array::from_fn(|i| f64::from(rows[i]))).transpose()
}

fn symmetric(six: &[f32]) -> Sym3<f64> {
    Sym3::from_array(std::array::from_fn(|i| f64::from(six[i])))
}

fn checkpoint(particles: &[Particle]) -> Checkpoint {
    let column = |name: &str, components: usize, value: &dyn Fn(&Particle) -> Vec<f64>| {
        let data: Vec<f32> = particles.iter().flat_map(value).map(|x| x as f32).collect();
        Column::exact(name, Unit::One, "", components, ColumnData::F32(data))
    };
    let ids = (0..particles.len() as u32).collect();
    let materials = particles.iter().map(|p| p.material as u8).collect();
    let mut state = Checkpoint {
        columns: vec![
            column("position", 3, &|p| p.x.to_array().into()),
            column("velocity", 3, &|p| p.v.to_array().into()),
            column("affine", 9, &|p| p.c.transpose().to_cols_array().into()),
            column("strain", 6, &|p| p.strain.to_array().into()),
            column("stress", 6, &|p| p.stress.to_array().into()),
            column("hardening", 1, &|p| vec![p.hardening]),
            column("volume_gain", 1, &|p| vec![p.volume_gain]),
            column("volume", 1, &|p| vec![p.volume]),
            Column::exact("id", Unit::One, "", 1, ColumnData::U32(ids)),
            Column::exact("material", Unit::One, "", 1, ColumnData::U8(materials)),
            Column::exact(
                "plastic_case",
                Unit::One,
                "",
                1,
                ColumnData::U8(vec![0; particles.len()]),
            ),
        ],
        ..Checkpoint::default()
    };
    let fastest = particles.iter().map(|p| p.v.length()).fold(0.0, f64::max) as f32;
    state.set_scalar("max_speed", fastest);
    state
}
