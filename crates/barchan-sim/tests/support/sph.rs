//! The particles of sph by identity, and the solver stepped by hand.

use super::{floats, scene};
use barchan_frame::{Checkpoint, Column, ColumnData, Unit};
use barchan_sim::collider::{BodyImpulses, Colliders};
use barchan_sim::identities::Identities;
use barchan_sim::math::Level;
use barchan_sim::simulation::Simulation;
use barchan_sim::solver::{Solver, StepContext, Timings};
use barchan_sim::solvers::sph::Sph;
use glam::{DVec3, Vec3};

/// A particle, exactly as the solver holds it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Grain {
    /// Position [m].
    pub x: Vec3,
    /// Velocity [m/s].
    pub v: Vec3,
    /// Mass [kg].
    pub mass: f32,
    /// Pressure [Pa].
    pub pressure: f32,
    /// Frictional stress: xx yy zz yz xz xy [Pa].
    pub stress: [f32; 6],
    /// Index of the material.
    pub material: u8,
}

/// Every particle of a state, by identity.
pub fn of_state(state: &Checkpoint) -> Vec<Grain> {
    let ids = state.column("id").unwrap().data.as_u32().unwrap();
    let materials = state.column("material").unwrap().data.as_u8().unwrap();
    let three = |name: &str| floats(state, name).as_chunks::<3>().0;
    let (x, v) = (three("position"), three("velocity"));
    let (mass, pressure) = (floats(state, "mass"), floats(state, "pressure"));
    let stress = floats(state, "stress").as_chunks::<6>().0;
    let grain = |i: usize| Grain {
        x: x[i].into(),
        v: v[i].into(),
        mass: mass[i],
        pressure: pressure[i],
        stress: stress[i],
        material: materials[i],
    };
    let mut all: Vec<(u32, Grain)> = (0..ids.len()).map(|i| (ids[i], grain(i))).collect();
    all.sort_by_key(|(id, _)| *id);
    all.into_iter().map(|(_, g)| g).collect()
}

/// Every particle of a run, by identity.
pub fn grains(run: &mut Simulation) -> Vec<Grain> {
    of_state(&run.save().unwrap())
}

/// A state with these particles, dry and without friction at bodies.
pub fn state(all: &[Grain]) -> Checkpoint {
    let column = |name: &str, components: usize, value: &dyn Fn(&Grain) -> Vec<f32>| {
        let data = ColumnData::F32(all.iter().flat_map(value).collect());
        Column::exact(name, Unit::One, "", components, data)
    };
    let ids = ColumnData::U32((0..all.len() as u32).collect());
    let materials = ColumnData::U8(all.iter().map(|g| g.material).collect());
    Checkpoint {
        columns: vec![
            column("position", 3, &|g| g.x.to_array().into()),
            column("velocity", 3, &|g| g.v.to_array().into()),
            column("mass", 1, &|g| vec![g.mass]),
            column("wetness", 1, &|_| vec![0.0]),
            column("pressure", 1, &|g| vec![g.pressure]),
            column("support_pressure", 1, &|g| vec![g.pressure]),
            column("stress", 6, &|g| g.stress.into()),
            column("wall_friction", 3, &|_| vec![0.0; 3]),
            Column::exact("id", Unit::One, "", 1, ids),
            Column::exact("material", Unit::One, "", 1, materials),
        ],
        ..Checkpoint::default()
    }
}

/// Momentum [kg m/s].
pub fn momentum(all: &[Grain]) -> DVec3 {
    let of = |g: &Grain| f64::from(g.mass) * g.v.as_dvec3();
    all.iter().map(of).sum()
}

/// Place of the center of mass [m].
pub fn center(all: &[Grain]) -> DVec3 {
    let of = |g: &Grain| f64::from(g.mass) * g.x.as_dvec3();
    let mass: f64 = all.iter().map(|g| f64::from(g.mass)).sum();
    all.iter().map(of).sum::<DVec3>() / mass
}

/// Velocity of the center of mass [m/s].
pub fn drift(all: &[Grain]) -> DVec3 {
    let mass: f64 = all.iter().map(|g| f64::from(g.mass)).sum();
    momentum(all) / mass
}

/// The solver with colliders that move as the scene says, stepped by hand.
pub struct Hand {
    pub sph: Sph,
    pub colliders: Colliders,
    pub impulses: BodyImpulses,
    pub time: f64,
    timings: Timings,
}

impl Hand {
    /// Settings, materials (one is `a`) and colliders of TOML text without fills, with these particles.
    pub fn new(text: &str, all: &[Grain]) -> Self {
        Self::on(text, all, Level::new())
    }

    pub fn on(text: &str, all: &[Grain], level: Level) -> Self {
        // A scene needs sand; what it is filled with is not used.
        let fill =
            "[[fill]]\nmaterial = \"a\"\nshape = { sphere = { center = [0, 0, 0], radius = 1 } }\n";
        let scene = scene(&format!("{text}{fill}"));
        let mut sph = Sph::new(&scene, level).unwrap();
        sph.load(&state(all)).unwrap();
        Self {
            sph,
            colliders: Colliders::new(&scene.colliders),
            impulses: BodyImpulses::zero(scene.colliders.len()),
            time: 0.0,
            timings: Timings::default(),
        }
    }

    /// One step; impulses are those of this step alone.
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
        self.sph.step(&mut context).unwrap();
        self.time += f64::from(dt);
    }

    /// Every particle, by identity.
    pub fn grains(&mut self) -> Vec<Grain> {
        let mut out = Checkpoint::default();
        self.sph.save(&mut out).unwrap();
        of_state(&out)
    }
}
