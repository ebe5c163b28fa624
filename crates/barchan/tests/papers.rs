//! The scenes of the papers have the papers' parameters and numbers of particles, and run.

#![allow(clippy::unwrap_used, reason = "a test may fail that way")]

mod paper;

use barchan::scene::{
    Friction, Kernel, Law, Material, MpmMaterial, MpmSpec, Overrides, SandLaw, Scene, SceneSource,
    Transfer, load,
};
use barchan::sim::sampling::estimate_particles;
use paper::{assert_count, folder, full_count, load_scene, run_to, start};
use std::path::{Path, PathBuf};

/// A row of Tables 2 and 3 of [Klar16].
struct Row {
    scene: &'static str,
    /// Resolution of the trial run, as a factor.
    tiny: f64,
    frame_rate: f64,
    /// Largest time step [s].
    max_dt: f64,
    particles: f64,
    /// Grid spacing [m].
    dx: f64,
    /// Grid cells along each axis; 0 beyond the dimensions.
    grid: [f64; 3],
    per_cell: f64,
    /// Density of the sand [kg/m³].
    density: f64,
    /// Young's modulus [Pa] and friction of every sand in the scene, in its order.
    sands: &'static [(f64, Friction)],
}

const fn hardening(h0: f64, h1: f64, h2: f64, h3: f64) -> Friction {
    Friction::Hardening { h0, h1, h2, h3 }
}

const USUAL: f64 = 3.537e5;
const DRAWN: &[(f64, Friction)] = &[(USUAL, hardening(35.0, 9.0, 0.2, 10.0))];
const SOFT: Friction = hardening(35.0, 9.0, 0.3, 10.0);

#[rustfmt::skip]
const TABLE: &[Row] = &[
    Row { scene: "castle", tiny: 0.25, frame_rate: 72.0, max_dt: 1e-3, particles: 7.95e5, dx: 0.01,
        grid: [300.0, 140.0, 200.0], per_cell: 8.0, density: 2200.0,
        sands: &[(USUAL, hardening(35.0, 0.0, 0.2, 10.0))] },
    Row { scene: "friction_angle", tiny: 0.2, frame_rate: 120.0, max_dt: 1e-4, particles: 1.2e6, dx: 0.001,
        grid: [432.0, 144.0, 432.0], per_cell: 32.0, density: 2200.0,
        sands: &[
            (USUAL, Friction::Constant(20.0)), (USUAL, Friction::Constant(25.0)), (USUAL, Friction::Constant(30.0)),
            (USUAL, Friction::Constant(35.0)), (USUAL, Friction::Constant(40.0)),
        ] },
    Row { scene: "hourglass", tiny: 0.3, frame_rate: 48.0, max_dt: 1e-4, particles: 4.6e5, dx: 0.0025,
        grid: [160.0, 360.0, 160.0], per_cell: 8.0, density: 2200.0, sands: &[(USUAL, SOFT)] },
    Row { scene: "butterfly", tiny: 0.15, frame_rate: 24.0, max_dt: 2.5e-4, particles: 3.84e6, dx: 0.0045,
        grid: [220.0, 55.0, 220.0], per_cell: 8.0, density: 2200.0, sands: DRAWN },
    Row { scene: "butterfly_close", tiny: 0.15, frame_rate: 48.0, max_dt: 1e-4, particles: 4.1e6, dx: 0.0014,
        grid: [280.0, 140.0, 210.0], per_cell: 2.0, density: 2200.0, sands: DRAWN },
    Row { scene: "raking", tiny: 0.15, frame_rate: 24.0, max_dt: 2.5e-4, particles: 3.84e6, dx: 0.0045,
        grid: [220.0, 55.0, 220.0], per_cell: 8.0, density: 2200.0, sands: DRAWN },
    Row { scene: "raking_close", tiny: 0.15, frame_rate: 24.0, max_dt: 1e-4, particles: 4.3e6, dx: 0.0021,
        grid: [336.0, 96.0, 288.0], per_cell: 2.0, density: 2200.0, sands: DRAWN },
    Row { scene: "pile", tiny: 0.4, frame_rate: 120.0, max_dt: 1.5e-4, particles: 9.94e5, dx: 0.00083,
        grid: [240.0, 96.0, 240.0], per_cell: 32.0, density: 2200.0, sands: &[(USUAL, Friction::Constant(30.0))] },
    Row { scene: "splash", tiny: 0.15, frame_rate: 240.0, max_dt: 5e-5, particles: 6.6e6, dx: 0.0078,
        grid: [256.0, 256.0, 256.0], per_cell: 9.0, density: 1582.0, sands: &[(3.537e6, Friction::Constant(22.0))] },
    Row { scene: "shovel", tiny: 0.2, frame_rate: 24.0, max_dt: 1e-4, particles: 1.96e6, dx: 0.005,
        grid: [160.0, 100.0, 100.0], per_cell: 8.0, density: 2200.0, sands: DRAWN },
    // Four runs of 742, 739, 746 and 745 particles in one.
    Row { scene: "young", tiny: 1.0, frame_rate: 24.0, max_dt: 7.5e-4, particles: 2972.0, dx: 0.016,
        grid: [256.0, 64.0, 0.0], per_cell: 4.0, density: 2200.0,
        sands: &[(1e3, SOFT), (1e4, SOFT), (1e5, SOFT), (1e6, SOFT)] },
];

/// Figures without a row in Tables 2 and 3, and their trial resolutions.
const OTHERS: &[(&str, f64)] = &[("apic_flip", 1.0), ("notched_block", 0.15)];

/// Rows of Table 4 of [Klar16]: factor of the scene's resolution, grid cells along each axis, particles.
const TABLE_4: &[(f64, [f64; 3], f64)] = &[
    (0.1, [15.0, 10.0, 15.0], 1.5e3),
    (0.2, [30.0, 20.0, 30.0], 1.2e4),
    (0.5, [75.0, 50.0, 75.0], 1.88e5),
    (1.0, [150.0, 100.0, 150.0], 1.5e6),
];

fn klar2016(name: &str, scale: f64, set: &[&str]) -> Scene {
    load_scene(&format!("klar2016/{name}"), scale, set)
}

fn scene_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            scene_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "toml") {
            found.push(path);
        }
    }
}

/// Grid cells along each axis of the domain; 0 beyond the dimensions.
fn grid(scene: &Scene, dx: f64) -> [f64; 3] {
    let domain = scene.domain.unwrap();
    let size = (domain.max - domain.min).as_dvec3() / dx;
    let mut cells = size.to_array();
    cells[scene.dimensions.count()..].fill(0.0);
    cells
}

fn sands(scene: &Scene) -> Vec<(&Material, SandLaw)> {
    let materials = scene.materials.iter();
    materials
        .filter_map(|m| match m.law {
            Law::Sand(law) => Some((m, law)),
            Law::Elastic(_) => None,
        })
        .collect()
}

/// All differences between a scene and its row.
fn differences(scene: &Scene, row: &Row) -> Vec<String> {
    let solver: MpmSpec = scene.settings();
    let mut found = Vec::new();
    let mut same = |what: &str, is: f64, wanted: f64| {
        if (is - wanted).abs() > 1e-9 * wanted.abs() {
            found.push(format!("{what}: {is} instead of {wanted}"));
        }
    };
    same("frame rate", scene.frame_rate, row.frame_rate);
    same("dx", solver.dx, row.dx);
    same("max_dt", solver.max_dt, row.max_dt);
    same("cfl", solver.cfl, 1.0);
    same(
        "particles per cell",
        solver.particles_per_cell,
        row.per_cell,
    );
    let laws = sands(scene);
    same("number of sands", laws.len() as f64, row.sands.len() as f64);
    for ((material, law), (young, friction)) in laws.iter().zip(row.sands) {
        same("density", material.density, row.density);
        same("young", law.young, *young);
        same("poisson", law.poisson, 0.3);
        same(
            "friction",
            f64::from(u8::from(law.friction == *friction)),
            1.0,
        );
        same("cohesion", law.cohesion, 0.0);
        let calibration: MpmMaterial = material.settings();
        same(
            "volume correction",
            f64::from(u8::from(calibration.volume_correction)),
            0.0,
        );
    }
    same(
        "cubic kernel",
        f64::from(u8::from(solver.kernel == Kernel::Cubic)),
        1.0,
    );
    same(
        "APIC",
        f64::from(u8::from(solver.transfer == Transfer::Apic)),
        1.0,
    );
    for (is, wanted) in grid(scene, row.dx).into_iter().zip(row.grid) {
        if (is - wanted).abs() > 0.5 {
            found.push(format!("grid: {is} cells instead of {wanted}"));
        }
    }
    found
}

#[test]
fn every_scene_is_valid_and_listed() {
    let mut files = Vec::new();
    scene_files(&folder(), &mut files);
    assert!(files.len() >= TABLE.len() + OTHERS.len(), "{files:?}");
    for file in &files {
        let source = SceneSource::from_file(file).unwrap();
        let scene = load(&source, &Overrides::default());
        assert!(scene.is_ok(), "{}: {scene:?}", file.display());
    }
    for file in files.iter().filter(|f| is_by_klar(f)) {
        let name = file.file_stem().unwrap().to_str().unwrap();
        // The column and its hardening follow figures that have no row in the tables.
        let follows_figure = name.starts_with("column") || name.starts_with("hardening");
        let known = TABLE.iter().any(|row| row.scene == name) || OTHERS.iter().any(|o| o.0 == name);
        assert!(known || follows_figure, "{name} is in no table");
    }
}

fn is_by_klar(file: &Path) -> bool {
    file.parent().is_some_and(|p| p.ends_with("klar2016"))
}

#[test]
fn parameters_are_those_of_the_tables() {
    for row in TABLE {
        let found = differences(&klar2016(row.scene, 1.0, &[]), row);
        assert!(found.is_empty(), "{}: {found:?}", row.scene);
    }
}

#[test]
fn a_changed_parameter_is_detected() {
    let row = TABLE.iter().find(|r| r.scene == "castle").unwrap();
    for change in [
        "materials.sand.density=2201",
        "materials.sand.young=3.6e5",
        "materials.sand.poisson=0.31",
        "materials.sand.hardening=[35,9,0.2,10]",
        "materials.sand.mpm.volume_correction=true",
        "solver.resolution=0.011",
        "solver.mpm.max_dt=9e-4",
        "solver.mpm.cfl=0.9",
        "solver.mpm.kernel=quadratic",
        "solver.mpm.transfer=pic",
        "solver.mpm.particles_per_cell=9",
        "frame_rate=71",
        "domain.max=[1.5,1.3,1.01]",
    ] {
        let found = differences(&klar2016("castle", 1.0, &[change]), row);
        assert!(!found.is_empty(), "{change} was not detected");
    }
}

#[test]
fn numbers_of_particles_are_those_of_table_2() {
    for row in TABLE {
        let count = full_count(&format!("klar2016/{}", row.scene), 0.3, &[]);
        assert_count(row.scene, count, row.particles);
    }
}

#[test]
fn notched_block_has_the_grids_and_particles_of_table_4() {
    for &(scale, cells, particles) in TABLE_4 {
        let scene = klar2016("notched_block", scale, &[]);
        for (is, wanted) in grid(&scene, scene.solver.resolution).into_iter().zip(cells) {
            assert!((is - wanted).abs() < 1e-3, "{is} instead of {wanted}");
        }
        let count = estimate_particles(&scene) as f64;
        assert_count(&format!("scale {scale}"), count, particles);
    }
}

/// Two frames at a tiny scale: no error, and no particle is lost.
#[test]
fn every_scene_runs() {
    let rows = TABLE.iter().map(|row| (row.scene, row.tiny));
    for (name, scale) in rows.chain(OTHERS.iter().copied()) {
        let mut simulation = start(&format!("klar2016/{name}"), scale, &[]);
        assert!(run_to(&mut simulation, 2).particles() > 0, "{name}");
        assert_eq!(simulation.counters().left_domain, 0, "{name}");
    }
}
