//! Poisson-disk properties, mass, rates, and independence of the number of threads.

use super::tile::Tile;
use super::*;
use barchan_scene::Dimensions::{Three, Two};
use barchan_scene::{Bounds, Emitter, Fill, Geometry, Gravity, Sampling, Track};
use glam::{DVec3, Quat, vec3};
use std::collections::HashMap;

fn fill(shape: Geometry, sampling: Sampling) -> Fill {
    Fill {
        name: "sand".into(),
        shape,
        material: 2,
        velocity: Vec3::ZERO,
        spin: Vec3::ZERO,
        spin_center: Vec3::ZERO,
        sampling,
    }
}

fn nothing(_: Vec3, _: f32) -> bool {
    false
}

fn spacing(dx: f64, particles_per_cell: f64) -> Spacing {
    Spacing {
        dx,
        particles_per_cell,
        grain: None,
        clearance: 0.0,
    }
}

fn unit_cube() -> Geometry {
    Geometry::cuboid(Vec3::splat(-0.5), Vec3::splat(0.5))
}

/// Points by cell of edge `cell`.
struct Cells<'a> {
    points: &'a [Vec3],
    cell: f32,
    map: HashMap<[i32; 3], Vec<usize>>,
}

impl<'a> Cells<'a> {
    fn new(points: &'a [Vec3], cell: f32) -> Self {
        let mut map: HashMap<[i32; 3], Vec<usize>> = HashMap::new();
        for (i, p) in points.iter().enumerate() {
            let key = (*p / cell).floor().as_ivec3().to_array();
            map.entry(key).or_default().push(i);
        }
        Self { points, cell, map }
    }

    /// Distance to the nearest point other than number `skip`, if less than a cell's edge.
    fn nearest(&self, p: Vec3, skip: usize) -> f32 {
        let c = (p / self.cell).floor().as_ivec3();
        let mut best = f32::INFINITY;
        for i in -1..=1 {
            for j in -1..=1 {
                for k in -1..=1 {
                    let near = self.map.get(&[c.x + i, c.y + j, c.z + k]);
                    for at in near.into_iter().flatten().filter(|at| **at != skip) {
                        best = best.min(self.points[*at].distance(p));
                    }
                }
            }
        }
        best
    }
}

/// Edge of a tile and radius of its disks for a number density.
fn scale(density: f64, dimensions: Dimensions, seed: u64) -> (f32, f32) {
    let count = Tile::cached(dimensions, seed, None).len() as f64;
    let period = (count / density).powf(1.0 / dimensions.count() as f64) as f32;
    (period, period / Tile::side(dimensions))
}

/// Several tiles along every axis, so that their borders are covered.
fn poisson_is_maximal(dimensions: Dimensions, dx: f64, per_cell: f64) {
    let density = spacing(dx, per_cell).number_density(dimensions);
    let (period, radius) = scale(density, dimensions, 7);
    assert!(period < 0.6, "borders must lie inside: {period}");
    let samples = sample_fill(
        &fill(unit_cube(), Sampling::Poisson),
        &spacing(dx, per_cell),
        dimensions,
        7,
        &nothing,
    );
    let cells = Cells::new(&samples.position, 1.3 * radius);
    let closest = samples
        .position
        .iter()
        .enumerate()
        .map(|(i, p)| cells.nearest(*p, i))
        .fold(f32::INFINITY, f32::min);
    assert!(closest >= radius * 0.999, "{closest} below {radius}");
    assert!(
        closest < radius * 1.1,
        "the disks could be larger: {closest}"
    );
    let mut random = random::Random::new(3);
    let reach = 0.5 - 1.4 * radius;
    for _ in 0..20_000 {
        let mut p = Vec3::from_array(std::array::from_fn(|_| random.unit() * 2.0 - 1.0)) * reach;
        if dimensions == Two {
            p.z = 0.0;
        }
        let hole = cells.nearest(p, usize::MAX);
        assert!(hole <= 1.01 * radius, "a hole of {hole} at {p}");
    }
}

#[test]
fn poisson_disks_in_3d_are_disjoint_and_maximal() {
    poisson_is_maximal(Three, 1.0 / 26.0, 8.0);
}

#[test]
fn poisson_disks_in_2d_are_disjoint_and_maximal() {
    poisson_is_maximal(Two, 1.0 / 100.0, 4.0);
}

#[test]
fn a_removed_point_leaves_a_hole() {
    let samples = sample_fill(
        &fill(unit_cube(), Sampling::Poisson),
        &spacing(1.0 / 20.0, 8.0),
        Three,
        7,
        &|p: Vec3, _| p.distance(vec3(0.1, 0.0, 0.1)) < 0.06,
    );
    let (_, radius) = scale(8.0 * 8000.0, Three, 7);
    let cells = Cells::new(&samples.position, 1.3 * radius);
    assert!(cells.nearest(vec3(0.1, 0.0, 0.1), usize::MAX) > 1.01 * radius);
}

#[test]
fn the_number_density_is_as_requested() {
    for (dimensions, cells) in [(Three, 20.0), (Two, 100.0)] {
        for per_cell in [4.0, 6.5, 8.0] {
            for seed in [0, 1] {
                let samples = sample_fill(
                    &fill(unit_cube(), Sampling::Poisson),
                    &spacing(1.0 / cells, per_cell),
                    dimensions,
                    seed,
                    &nothing,
                );
                let expected = per_cell * f64::powi(cells, dimensions.count() as i32);
                let ratio = samples.len() as f64 / expected;
                assert!((ratio - 1.0).abs() < 0.02, "{dimensions:?}: {ratio}");
            }
        }
    }
}

#[test]
fn lattice_points_are_centered_in_the_cells() {
    let dx = 0.1;
    let cube = Geometry::cuboid(Vec3::ZERO, vec3(0.5, 0.4, 0.3));
    let samples = sample_fill(
        &fill(cube, Sampling::Lattice),
        &spacing(dx, 8.0),
        Three,
        0,
        &nothing,
    );
    assert_eq!(samples.len(), 5 * 4 * 3 * 8);
    assert!((f64::from(samples.volume) - 0.001 / 8.0).abs() < 1e-9);
    for p in &samples.position {
        let u = (*p / 0.05).to_array();
        assert!(u.iter().all(|x| (x.fract() - 0.5).abs() < 1e-3), "{p}");
    }
    let square = Geometry::cuboid(vec3(0.0, 0.0, -1.0), vec3(0.5, 0.4, 1.0));
    let flat = sample_fill(
        &fill(square, Sampling::Lattice),
        &spacing(dx, 4.0),
        Two,
        0,
        &nothing,
    );
    assert_eq!(flat.len(), 5 * 4 * 4);
    assert!(flat.position.iter().all(|p| p.z == 0.0));
    assert!((f64::from(flat.volume) - 0.01 / 4.0).abs() < 1e-8);
}

#[test]
fn particle_volumes_sum_to_the_volume_of_the_shape() {
    let ball = Geometry::sphere(vec3(0.3, 0.2, -0.1), 0.4);
    let hole = Geometry::cylinder(vec3(0.3, -1.0, -0.1), vec3(0.3, 1.0, -0.1), 0.1);
    let shapes = [ball.clone(), Geometry::difference(ball, vec![hole])];
    for shape in shapes {
        for dimensions in [Two, Three] {
            for sampling in [Sampling::Poisson, Sampling::Lattice] {
                for dx in [0.05, 0.11] {
                    let region = fill(shape.clone(), sampling);
                    let samples = sample_fill(&region, &spacing(dx, 8.0), dimensions, 1, &nothing);
                    let total = samples.len() as f64 * f64::from(samples.volume);
                    let ratio = total / shape.volume(dimensions);
                    assert!((ratio - 1.0).abs() < 1e-5, "{ratio}");
                    assert!(samples.position.iter().all(|p| shape.distance(*p) < 0.0));
                }
            }
        }
    }
}

#[test]
fn excluded_points_reduce_the_volume() {
    let floor = |p: Vec3, _| p.y < 0.0;
    let region = fill(unit_cube(), Sampling::Poisson);
    let samples = sample_fill(&region, &spacing(0.04, 8.0), Three, 5, &floor);
    let total = samples.len() as f64 * f64::from(samples.volume);
    assert!((total - 0.5).abs() < 0.005, "{total}");
    assert!(samples.position.iter().all(|p| p.y >= 0.0));
}

#[test]
fn spin_gives_velocity_and_gradient() {
    let mut region = fill(unit_cube(), Sampling::Lattice);
    region.velocity = vec3(1.0, 2.0, 3.0);
    region.spin = vec3(0.3, -0.2, 0.5);
    region.spin_center = vec3(0.1, 0.2, 0.3);
    let samples = sample_fill(&region, &spacing(0.25, 1.0), Three, 0, &nothing);
    assert_eq!((samples.material, samples.first_id), (2, 0));
    for (p, v) in samples.position.iter().zip(&samples.velocity) {
        let arm = *p - region.spin_center;
        let expected = region.velocity + region.spin.cross(arm);
        assert!(v.distance(expected) < 1e-6);
        assert!((samples.velocity_gradient * arm).distance(region.spin.cross(arm)) < 1e-6);
    }
}

#[test]
fn unbounded_empty_and_tiny_regions() {
    let all = [
        Geometry::half_space(Vec3::ZERO, Vec3::Y),
        Geometry::union(Vec::new()),
        Geometry::sphere(Vec3::splat(0.3), 1e-4),
    ];
    for shape in all {
        for dimensions in [Two, Three] {
            let region = fill(shape.clone(), Sampling::Poisson);
            let samples = sample_fill(&region, &spacing(0.1, 8.0), dimensions, 0, &nothing);
            assert!(samples.is_empty() && samples.volume.is_finite());
        }
    }
}

/// Runs with a number of threads.
fn with_threads<R: Send>(count: usize, work: impl FnOnce() -> R + Send) -> R {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(count);
    pool.build().unwrap().install(work)
}

#[test]
fn thread_count_determinism() {
    let shape = Geometry::torus(vec3(0.1, 0.2, 0.3), vec3(1.0, 1.0, 0.0), 0.5, 0.2);
    let sample = |seed: u64| {
        let region = fill(shape.clone(), Sampling::Poisson);
        move || {
            sample_fill(&region, &spacing(0.03, 8.0), Three, seed, &|p: Vec3, _| {
                p.x < 0.0
            })
        }
    };
    let one = with_threads(1, sample(11));
    assert!(one.len() > 1000);
    assert_eq!(one, with_threads(4, sample(11)));
    assert_ne!(one, with_threads(1, sample(12)));
}

#[test]
fn neighboring_fills_fit_together() {
    let left = fill(Geometry::cuboid(Vec3::ZERO, Vec3::ONE), Sampling::Poisson);
    let right = fill(
        Geometry::cuboid(Vec3::X, vec3(2.0, 1.0, 1.0)),
        Sampling::Poisson,
    );
    let mut points = sample_fill(&left, &spacing(0.07, 8.0), Three, 0, &nothing).position;
    points.extend(sample_fill(&right, &spacing(0.07, 8.0), Three, 0, &nothing).position);
    let (_, radius) = scale(8.0 / 0.07f64.powi(3), Three, 0);
    let cells = Cells::new(&points, 1.3 * radius);
    let close = |(i, p): (usize, &Vec3)| cells.nearest(*p, i) < 0.999 * radius;
    assert!(!points.iter().enumerate().any(close));
}

fn spout(rate: Option<f64>) -> Emitter {
    Emitter {
        name: "spout".into(),
        shape: Geometry::cylinder(vec3(0.0, 1.0, 0.0), vec3(0.0, 1.1, 0.0), 0.1),
        material: 1,
        velocity: vec3(0.0, -2.0, 0.0),
        rate,
        start: 0.5,
        end: f64::INFINITY,
    }
}

const RHO: f64 = 1600.0;

fn mass(samples: &Samples) -> f64 {
    samples.len() as f64 * f64::from(samples.volume) * RHO
}

#[test]
fn emitters_have_the_requested_mass_rate() {
    let area = std::f64::consts::PI * 0.01;
    for (rate, expected) in [(Some(30.0), 30.0), (None, RHO * area * 2.0)] {
        let sampler = EmitterSampler::new(&spout(rate), RHO, &spacing(0.02, 8.0), Three, 3);
        assert!((sampler.area / area - 1.0).abs() < 2e-3);
        let samples = sampler.emit(0.0, 20.5);
        let ratio = mass(&samples) / (20.0 * expected);
        assert!((ratio - 1.0).abs() < 0.005, "{ratio}");
        let usual = 0.02f64.powi(3) / 8.0;
        let volume = f64::from(samples.volume) / usual;
        assert!(
            (volume - 1.0).abs() < 0.1,
            "{volume} times the expected volume"
        );
    }
    let slit = Emitter {
        shape: Geometry::cuboid(vec3(-0.2, 1.0, -1.0), vec3(0.2, 1.1, 1.0)),
        rate: Some(50.0),
        ..spout(None)
    };
    let sampler = EmitterSampler::new(&slit, RHO, &spacing(0.02, 4.0), Two, 3);
    let samples = sampler.emit(0.0, 100.5);
    assert!((mass(&samples) / 5000.0 - 1.0).abs() < 0.005);
    assert!(samples.position.iter().all(|p| p.z == 0.0));
}

/// Every quantity is empty or has a value for each particle. All sampled particles are round.
#[test]
fn samples_have_as_many_values_as_positions() {
    let points = spacing(0.05, 8.0);
    let grains = Spacing {
        grain: Some((0.02, 0.1)),
        ..points
    };
    for (spacing, has_size) in [(points, false), (grains, true)] {
        let half = |p: Vec3, _: f32| p.x < 0.0;
        let filled = fill(unit_cube(), Sampling::Lattice);
        let emitter = EmitterSampler::new(&spout(None), RHO, &spacing, Three, 3);
        for samples in [
            sample_fill(&filled, &spacing, Three, 0, &half),
            emitter.emit(0.0, 1.0),
            Samples::none(1),
        ] {
            let count = samples.len();
            assert_eq!(samples.velocity.len(), count);
            assert_eq!(samples.radius.len(), if has_size { count } else { 0 });
            assert!(samples.orientation.is_empty() && samples.shape.is_empty());
        }
    }
}

#[test]
fn emission_does_not_depend_on_the_steps() {
    let sampler = EmitterSampler::new(&spout(Some(40.0)), RHO, &spacing(0.02, 8.0), Three, 3);
    let all = sampler.emit(0.0, 1.5);
    let times = [0.0, 0.3, 0.5, 0.511, 0.77, 1.0 / 3.0 + 0.5, 1.2, 1.5];
    let mut births = Vec::new();
    for pair in times.windows(2) {
        let part = sampler.emit(pair[0], pair[1]);
        assert_eq!(part, sampler.emit(pair[0], pair[1]));
        // Advanced to the same time, the batches equal the whole.
        let late = (1.5 - pair[1]) as f32;
        births.extend(
            part.position
                .iter()
                .map(|p| *p + late * vec3(0.0, -2.0, 0.0)),
        );
    }
    assert_eq!(births.len(), all.len());
    assert!(
        births
            .iter()
            .zip(&all.position)
            .all(|(a, b)| a.distance(*b) < 1e-5)
    );
    assert!(sampler.emit(0.7, 0.7).is_empty() && sampler.emit(0.7, 0.6).is_empty());
    assert!(sampler.emit(f64::NAN, 1.0).is_empty());
}

#[test]
fn emitted_grains_keep_their_distance_and_place() {
    let sampler = EmitterSampler::new(&spout(None), RHO, &spacing(0.02, 8.0), Three, 3);
    let samples = sampler.emit(0.5, 0.7);
    let (_, radius) = scale(spacing(0.02, 8.0).number_density(Three), Three, 3);
    let cells = Cells::new(&samples.position, 1.3 * radius);
    for (i, p) in samples.position.iter().enumerate() {
        assert!(cells.nearest(*p, i) >= 0.999 * radius);
        assert!(p.with_y(0.0).length() < 0.1);
        assert!(p.y <= 1.0501 && p.y >= 1.05 - 0.4001, "{p}");
    }
    assert!(samples.velocity.iter().all(|v| *v == vec3(0.0, -2.0, 0.0)));
}

#[test]
fn emitters_start_and_end_on_time() {
    let mut emitter = spout(Some(40.0));
    emitter.end = 1.5;
    let sampler = EmitterSampler::new(&emitter, RHO, &spacing(0.02, 8.0), Three, 3);
    assert!(sampler.emit(0.0, 0.5).is_empty());
    assert!(sampler.emit(1.5, 9.0).is_empty());
    let total = mass(&sampler.emit(0.0, 9.0));
    assert!((total / 40.0 - 1.0).abs() < 0.02, "{total}");
}

#[test]
fn slanted_narrow_and_invalid_emitters() {
    let turn = Quat::from_rotation_z(0.7);
    let slanted = Emitter {
        shape: spout(None).shape.transformed(turn, Vec3::X, 1.0),
        velocity: turn * vec3(0.0, -2.0, 0.0),
        ..spout(Some(20.0))
    };
    let sampler = EmitterSampler::new(&slanted, RHO, &spacing(0.02, 8.0), Three, 0);
    assert!((mass(&sampler.emit(0.0, 20.5)) / 400.0 - 1.0).abs() < 0.005);
    let narrow = Emitter {
        shape: Geometry::sphere(Vec3::ZERO, 0.001),
        ..spout(Some(0.01))
    };
    let sampler = EmitterSampler::new(&narrow, RHO, &spacing(0.02, 8.0), Three, 0);
    let samples = sampler.emit(0.0, 2000.5);
    assert!(
        (mass(&samples) / 20.0 - 1.0).abs() < 0.05,
        "{}",
        mass(&samples)
    );
    let still = Emitter {
        velocity: Vec3::ZERO,
        ..spout(Some(1.0))
    };
    let endless = Emitter {
        shape: Geometry::half_space(Vec3::ZERO, Vec3::Y),
        ..spout(Some(1.0))
    };
    let dry = spout(Some(0.0));
    for broken in [still, endless, dry] {
        for dimensions in [Two, Three] {
            let sampler = EmitterSampler::new(&broken, RHO, &spacing(0.02, 8.0), dimensions, 0);
            assert!(sampler.emit(0.0, 10.0).is_empty());
        }
    }
}

#[test]
fn estimates_count_fills_and_emitters() {
    let spec = barchan_scene::MpmSpec {
        dx: 0.05,
        particles_per_cell: 8.0,
        kernel: barchan_scene::Kernel::Quadratic,
        transfer: barchan_scene::Transfer::Apic,
        max_dt: 1e-3,
        cfl: 0.5,
        elastic_cfl: 0.5,
    };
    let sand = barchan_scene::Material {
        name: "sand".into(),
        density: RHO,
        law: barchan_scene::Law::Elastic(barchan_scene::ElasticLaw {
            young: 1e5,
            poisson: 0.3,
            model: barchan_scene::ElasticModel::Hencky,
        }),
        wet_cohesion: None,
        settings: Default::default(),
        color: barchan_scene::ColorMix::plain([128; 3]),
    };
    let mut scene = Scene {
        name: "test".into(),
        description: String::new(),
        dimensions: Three,
        frames: 48,
        frame_rate: 24.0,
        seed: 0,
        domain: None::<Bounds>,
        periodic: [false; 3],
        wettings: Vec::new(),
        gravity: Gravity {
            value: Track::constant(Gravity::STANDARD),
            turning: None,
        },
        materials: vec![sand.clone(), sand.clone(), sand],
        fills: vec![fill(unit_cube(), Sampling::Poisson)],
        emitters: vec![spout(Some(80.0))],
        colliders: Vec::new(),
        bodies: Vec::new(),
        joints: Vec::new(),
        drains: Vec::new(),
        solver: barchan_scene::SolverSpec::new(&barchan_scene::MPM, spec.dx).with(spec),
        camera: None,
        columns: Vec::new(),
        check: Default::default(),
        start: None,
        terrain: None,
        meshes: Vec::new(),
        document: String::new(),
        places: Default::default(),
    };
    // One cubic meter, and 1.5 s of 0.05 m³/s.
    let expected = (1.0 + 1.5 * 80.0 / RHO) * 8.0 * 8000.0;
    let estimate = estimate_particles(&scene) as f64;
    assert!((estimate / expected - 1.0).abs() < 0.01, "{estimate}");
    scene.fills[0].shape = Geometry::half_space(Vec3::ZERO, Vec3::Y);
    assert_eq!(estimate_particles(&scene), usize::MAX);
}

#[test]
fn tiles_are_isotropic() {
    // A Poisson-disk set has no preferred places: its lowest Fourier modes are weak against those of random points.
    let tile = Tile::cached(Three, 1, None);
    let n = tile.len() as f64;
    for k in [DVec3::X, DVec3::Y, DVec3::Z, DVec3::new(1.0, 1.0, 0.0)] {
        let (c, s) = tile
            .blocks
            .iter()
            .flatten()
            .fold((0.0, 0.0), |(c, s), (p, _)| {
                let phase = std::f64::consts::TAU * k.dot(p.as_dvec3());
                (c + phase.cos(), s + phase.sin())
            });
        let power = (c * c + s * s) / n;
        assert!(power < 0.5, "mode {k}: {power}");
    }
}
