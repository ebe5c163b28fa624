//! Helpers of the scene tests: scenes from text, runs of whole frames, and the exact state by particle id.

#![allow(dead_code, reason = "each test file uses its part")]

use barchan_frame::{Checkpoint, ColumnData};
use barchan_scene::{Overrides, Scene, SceneSource, load, load_file};
use barchan_sim::simulation::{Control, Simulation};
use glam::{DVec3, Vec3};
use std::path::{Path, PathBuf};

/// A file or folder of `scenes/`.
pub fn scene_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../scenes")
        .join(name)
}

/// A scene of `scenes/` with keys set, each as `path=value`.
pub fn scene_file(name: &str, set: &[&str]) -> Scene {
    load_file(scene_path(name), set).unwrap_or_else(|e| panic!("{name} {set:?}: {e:?}"))
}

/// A simulation of a scene of `scenes/` at t = 0.
pub fn start_file(name: &str, set: &[&str]) -> Simulation {
    Simulation::new(&scene_file(name, set)).unwrap()
}

/// A scene from TOML text.
pub fn scene(text: &str) -> Scene {
    let source = SceneSource {
        name: "test.toml".into(),
        text: text.into(),
        directory: ".".into(),
    };
    load(&source, &Overrides::default()).unwrap_or_else(|e| panic!("{e:?}\n{text}"))
}

/// A simulation of TOML text at t = 0.
pub fn start(text: &str) -> Simulation {
    Simulation::new(&scene(text)).unwrap()
}

/// Advances whole frames.
pub fn advance(simulation: &mut Simulation, frames: u32) {
    for _ in 0..frames {
        simulation
            .advance_frame(&mut |_| Control::Continue)
            .unwrap_or_else(|e| panic!("{e}"));
    }
}

/// A float column of a checkpoint.
pub fn floats<'a>(checkpoint: &'a Checkpoint, name: &str) -> &'a [f32] {
    match checkpoint.column(name).map(|c| &c.data) {
        Some(ColumnData::F32(values)) => values,
        _ => panic!("no column `{name}`"),
    }
}

/// A float column of a checkpoint, to change.
pub fn floats_mut<'a>(checkpoint: &'a mut Checkpoint, name: &str) -> &'a mut Vec<f32> {
    let column = checkpoint.columns.iter_mut().find(|c| c.name == name);
    match column.map(|c| &mut c.data) {
        Some(ColumnData::F32(values)) => values,
        _ => panic!("no column `{name}`"),
    }
}

/// The exact state of a particle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Particle {
    /// Identity.
    pub id: u32,
    /// Index of the material.
    pub material: u8,
    /// Position [m].
    pub x: Vec3,
    /// Velocity [m/s].
    pub v: Vec3,
    /// b − I: xx yy zz yz xz xy.
    pub strain: [f32; 6],
    /// Kirchhoff stress [Pa], in the same order.
    pub stress: [f32; 6],
    /// Undeformed volume [m³].
    pub volume: f32,
    /// Last projection.
    pub case: u8,
}

/// Every particle, by id.
pub fn particles(simulation: &mut Simulation) -> Vec<Particle> {
    of_checkpoint(&simulation.save().unwrap())
}

/// Every particle of a checkpoint, by id.
pub fn of_checkpoint(state: &Checkpoint) -> Vec<Particle> {
    let ids = match &state.column("id").unwrap().data {
        ColumnData::U32(ids) => ids,
        _ => panic!("ids are u32"),
    };
    let bytes = |name: &str| match &state.column(name).unwrap().data {
        ColumnData::U8(values) => values.clone(),
        _ => panic!("{name} is u8"),
    };
    let material = bytes("material");
    // Only sand has it.
    let case = match state.column("plastic_case") {
        Some(_) => bytes("plastic_case"),
        None => vec![0; ids.len()],
    };
    let three = |name: &str| floats(state, name).as_chunks::<3>().0;
    let six = |name: &str| floats(state, name).as_chunks::<6>().0;
    let (x, v, volume) = (
        three("position"),
        three("velocity"),
        floats(state, "volume"),
    );
    let (strain, stress) = (six("strain"), six("stress"));
    let mut all: Vec<Particle> = (0..ids.len())
        .map(|i| Particle {
            id: ids[i],
            material: material[i],
            x: x[i].into(),
            v: v[i].into(),
            strain: strain[i],
            stress: stress[i],
            volume: volume[i],
            case: case[i],
        })
        .collect();
    all.sort_by_key(|p| p.id);
    all
}

/// Mean velocity [m/s] of particles of equal mass.
pub fn mean_velocity(all: &[Particle]) -> DVec3 {
    all.iter().map(|p| p.v.as_dvec3()).sum::<DVec3>() / all.len() as f64
}

/// Mean position [m].
pub fn mean_position(all: &[Particle]) -> DVec3 {
    all.iter().map(|p| p.x.as_dvec3()).sum::<DVec3>() / all.len() as f64
}

/// Gravity of 9.81 m/s² as it acts on a plane y = 0 that is tilted by `degrees` down toward +x.
pub fn tilted(degrees: f64) -> String {
    let (sin, cos) = degrees.to_radians().sin_cos();
    format!("[{}, {}, 0]", 9.81 * sin, -9.81 * cos)
}
