//! The terrain without a solver, with bodies and static grains.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use crate::collider::{Colliders, PosedCollider};
use crate::sampling::random::Random;
use barchan_frame::{Checkpoint, Frame, TERRAIN_HEIGHT};
use barchan_scene::{Boundary, Collider, Geometry, Interpolation, Motion, Track, material_presets};
use glam::DVec3;

const DT: f32 = 1.0 / 60.0;

fn sand() -> Material {
    let preset = material_presets().iter().find(|p| p.name == "dry sand");
    preset.unwrap().material.clone()
}

/// Grains whose bulk density is that of sand.
fn grain(radius: f32, spread: f32) -> GrainSize {
    let mean = f64::from(radius).powi(3) * (1.0 + f64::from(spread).powi(2));
    let mass = sand().density / 0.6 * 4.0 / 3.0 * std::f64::consts::PI * mean;
    GrainSize {
        radius,
        spread,
        mass,
    }
}

fn flat(size: f64, cell: f64, angle: f64) -> TerrainSpec {
    let n = (size / cell).round() as usize;
    TerrainSpec {
        material: 0,
        origin: [-0.5 * size; 2],
        cell,
        columns: [n, n],
        heights: vec![0.0; n * n],
        floor: -1.0,
        angle_of_repose: angle,
    }
}

fn terrain(size: f64, cell: f64) -> Terrain {
    Terrain::new(&flat(size, cell, 35.0), &sand(), grain(0.04, 0.1))
}

/// A body that moves from one position to another in a second.
fn mover(shape: Geometry, from: DVec3, to: DVec3) -> Colliders {
    let motion = Motion {
        position: Track::new(vec![(0.0, from), (1.0, to)], Interpolation::Linear),
        ..Motion::default()
    };
    Colliders::new(&[Collider {
        name: "tool".into(),
        shape,
        motion,
        boundary: Boundary::Separating,
        friction: 0.5,
        look: None,
        color: None,
    }])
}

/// A blade across z, 0.3 m into the soil at y = 0.
fn blade() -> Geometry {
    Geometry::cuboid(Vec3::new(-0.05, -0.3, -0.5), Vec3::new(0.05, 0.4, 0.5))
}

/// Grains that stay where they appear.
#[derive(Default)]
struct Pile(Vec<SpawnedGrain>);

impl Pile {
    fn mass(&self) -> f64 {
        self.0.iter().map(|g| g.mass).sum()
    }

    /// A step of the terrain; returns the new grains.
    fn cut(&mut self, terrain: &mut Terrain, tools: &[PosedCollider]) -> usize {
        let mut new = Vec::new();
        let position: Vec<Vec3> = self.0.iter().map(|g| g.position).collect();
        let radius: Vec<f32> = self.0.iter().map(|g| g.radius).collect();
        let existing = ExistingGrains {
            position: &position,
            radius: &radius,
        };
        terrain.cut(tools, DT, existing, &mut new);
        self.0.extend(&new);
        self.set_loads(terrain);
        new.len()
    }

    fn set_loads(&self, terrain: &mut Terrain) {
        terrain.set_grain_loads(self.0.iter().map(|g| (g.position, g.mass as f32)));
    }
}

/// Lets the surface rise to its target height.
fn wait(soil: &mut Terrain) {
    for _ in 0..10_000 {
        soil.cut(&[], DT, ExistingGrains::default(), &mut Vec::new());
    }
}

/// Moves the body for a second.
fn drive(
    terrain: &mut Terrain,
    pile: &mut Pile,
    bodies: &mut Colliders,
    mut after: impl FnMut(&Terrain, &Pile, &PosedCollider),
) {
    for step in 0..60 {
        bodies.pose(f64::from(step) / 60.0, 1.0 / 60.0);
        pile.cut(terrain, &bodies.list);
        after(terrain, pile, &bodies.list[0]);
    }
}

#[test]
fn surface_is_continuous_and_its_normal_fits() {
    let mut spec = flat(2.0, 0.1, 80.0);
    let mut random = Random::new(3);
    spec.heights
        .iter_mut()
        .for_each(|h| *h = 0.3 * random.unit());
    let terrain = Terrain::new(&spec, &sand(), grain(0.04, 0.0));
    for _ in 0..1000 {
        let [x, z] = [0; 2].map(|_| 2.0 * random.unit() - 1.0);
        let h = terrain.field.height(x, z).unwrap();
        let step = 1e-3;
        let far = terrain.field.height((x + step).min(1.0), z).unwrap();
        assert!((far - h).abs() < 4.0 * step, "{h} {far}");
        let p = Vec3::new(x, h, z);
        assert!(terrain.field.distance(p).abs() < 1e-5);
        let (out, inside) = (p + 0.01 * Vec3::Y, p - 0.01 * Vec3::Y);
        assert!(terrain.field.distance(out) > 0.0 && terrain.field.distance(inside) < 0.0);
        // The plane of the normal touches the surface.
        let n = terrain.field.normal(p);
        let beside = p + 1e-4 * n.cross(Vec3::Z).normalize();
        let gap = terrain.field.distance(beside).abs();
        assert!(gap < 2e-5, "{gap}");
    }
    assert_eq!(
        terrain.field.distance(Vec3::new(1.01, 0.0, 0.0)),
        f32::INFINITY
    );
    assert_eq!(terrain.field.distance(Vec3::NAN), f32::INFINITY);
    assert_eq!(terrain.field.height(0.0, -1.01), None);
}

#[test]
fn a_body_at_rest_or_above_the_ground_cuts_nothing() {
    let mut pile = Pile::default();
    let mut soil = terrain(4.0, 0.1);
    let mut still = mover(blade(), DVec3::ZERO, DVec3::ZERO);
    drive(&mut soil, &mut pile, &mut still, |_, _, _| {});
    let above = DVec3::new(0.0, 0.31, 0.0);
    let mut hovering = mover(blade(), above, above + DVec3::X);
    drive(&mut soil, &mut pile, &mut hovering, |_, _, _| {});
    assert_eq!(pile.0.len(), 0);
    assert_eq!(soil.queued_mass(), 0.0);
    // The same body, lower.
    let mut digging = mover(blade(), DVec3::ZERO, DVec3::X);
    drive(&mut soil, &mut pile, &mut digging, |_, _, _| {});
    assert!(pile.0.len() > 500, "{}", pile.0.len());
}

/// A pushing blade is surrounded by grains: none inside it, none in the ground, none overlapping
/// another by more than 0.61 radii, and no column near it.
#[test]
fn a_pushing_blade_is_surrounded_by_grains() {
    let mut soil = terrain(4.0, 0.1);
    let before = soil.mass();
    let mut pile = Pile::default();
    let mut bodies = mover(
        blade(),
        DVec3::new(-1.0, 0.0, 0.0),
        DVec3::new(0.5, 0.0, 0.0),
    );
    let mut seen = 0;
    drive(&mut soil, &mut pile, &mut bodies, |soil, pile, tool| {
        for j in -5..=5 {
            for i in -1..=1 {
                let foot = tool.pose.position + Vec3::new(0.05 * i as f32, -0.3, 0.1 * j as f32);
                let distance = soil.field.distance(foot);
                assert!(distance > 0.04, "{foot}: {distance}");
            }
        }
        for g in &pile.0[seen..] {
            assert!(soil.field.distance(g.position) > 0.35 * g.radius);
        }
        seen = pile.0.len();
    });
    let mut grains = pile.0.clone();
    grains.sort_by(|a, b| a.position.x.total_cmp(&b.position.x));
    for (i, a) in grains.iter().enumerate() {
        let near = grains[i + 1..]
            .iter()
            .take_while(|b| b.position.x < a.position.x + 0.1);
        for b in near {
            let overlap = a.radius + b.radius - a.position.distance(b.position);
            assert!(
                overlap < 0.61 * a.radius.max(b.radius),
                "{overlap} {a:?} {b:?}"
            );
        }
    }
    // The passive wedge: soil well ahead of the blade (at 0.5 + 0.05) has become grains, soil behind its start has not.
    let ahead = grains.iter().filter(|g| g.position.x > 0.75).count();
    assert!(ahead > 20, "{ahead}");
    assert!(grains.iter().all(|g| g.position.x > -1.4));
    assert!(((soil.mass() + pile.mass()) / before - 1.0).abs() < 1e-12);
    // Most of the cut soil has become grains, although existing grains, which do not move here,
    // block sites.
    let part = pile.mass() / (pile.mass() + soil.queued_mass());
    assert!(part > 0.6, "{part}");
}

#[test]
fn no_grain_appears_inside_a_body() {
    let mut soil = terrain(4.0, 0.1);
    let mut pile = Pile::default();
    let ball = Geometry::sphere(Vec3::ZERO, 0.5);
    let mut bodies = mover(ball, DVec3::new(0.0, 0.6, 0.0), DVec3::new(0.3, 0.0, 0.0));
    let mut seen = 0;
    drive(&mut soil, &mut pile, &mut bodies, |_, pile, tool| {
        for g in &pile.0[seen..] {
            let distance = tool.distance(g.position);
            assert!(distance > 0.9 * g.radius, "{distance}");
        }
        seen = pile.0.len();
    });
    assert!(seen > 100);
    // The volume of the ball stays queued, and returns once the ball has gone.
    assert!(soil.queued_mass() > 0.0);
    for _ in 0..2000 {
        pile.cut(&mut soil, &[]);
        soil.relax();
    }
    assert_eq!(soil.queued_mass(), 0.0);
}

#[test]
fn rock_is_not_cut() {
    let mut soil = terrain(4.0, 0.1);
    let mut pile = Pile::default();
    let deep = Geometry::cuboid(Vec3::new(-0.2, -3.0, -0.2), Vec3::new(0.2, 1.0, 0.2));
    let mut bodies = mover(deep, DVec3::ZERO, DVec3::new(0.3, 0.0, 0.0));
    drive(&mut soil, &mut pile, &mut bodies, |_, _, _| {});
    let lowest = soil
        .field
        .heights()
        .iter()
        .copied()
        .fold(f32::INFINITY, f32::min);
    assert!((-1.0..-0.999).contains(&lowest), "{lowest}");
    assert!(pile.0.iter().all(|g| g.position.y > -1.0));
}

/// Columns and grains together conserve mass over a thousand cuts and deposits.
#[test]
fn mass_is_conserved_over_random_cuts_and_deposits() {
    let mut soil = terrain(4.0, 0.1);
    let mut random = Random::new(11);
    let mut pile = Pile::default();
    let before = soil.mass();
    let one = pile.mass() + soil.grain.mass;
    for round in 0..1000 {
        let [x, y, z] = [0; 3].map(|_| f64::from(random.unit()) - 0.5);
        let ball = Geometry::sphere(Vec3::ZERO, 0.1 + 0.2 * random.unit());
        let from = DVec3::new(3.0 * x, 0.4 * y - 0.2, 3.0 * z);
        let mut bodies = mover(ball, from, from + DVec3::new(z, 0.3 * x, y));
        bodies.pose(0.0, 1.0 / 60.0);
        let mut new = Vec::new();
        soil.cut(&bodies.list, 0.1, ExistingGrains::default(), &mut new);
        pile.0.extend(&new);
        soil.relax();
        let keep = |g: &SpawnedGrain| {
            let place = [0; 2].map(|_| 4.2 * random.unit() - 2.1);
            let y = soil.field.height(place[0], place[1]).unwrap_or(0.0) + g.radius;
            !soil.deposit(Vec3::new(place[0], y, place[1]), g.radius, g.mass)
        };
        pile.0.retain(keep);
        if round % 100 == 99 {
            let error = (soil.mass() + pile.mass()) / before - 1.0;
            assert!(error.abs() < 1e-12, "round {round}: {error:e}");
        }
    }
    assert!(one / before > 1e-6, "a lost grain exceeds the tolerance");
    assert!(soil.field.visited_columns() > 10_000);
}

#[test]
fn a_grain_fills_only_the_hollow_of_a_slope() {
    let mut soil = terrain(4.0, 0.1);
    for column in 0..soil.field.layout.count() {
        let height = 0.3 * soil.field.layout.center(column).x;
        soil.field.mass[column] = ((1.0 + f64::from(height)) / soil.field.quantum_height) as u64;
    }
    let hole = soil.field.layout.column_at(0.01, 0.01).unwrap();
    // Deeper than the volume of a grain.
    soil.field.mass[hole] -= (0.2 / soil.field.quantum_height) as u64;
    soil.field.reset_surface();
    let before = soil.field.mass.clone();
    let middle = soil.field.layout.center(hole);
    let at = Vec3::new(middle.x, -0.05, middle.y);
    assert!(soil.deposit(at, 0.04, soil.grain.mass));
    let quanta = (soil.grain.mass / soil.field.quantum).round() as u64;
    for column in 0..before.len() {
        let gained = soil.field.mass[column] - before[column];
        assert_eq!(gained, if column == hole { quanta } else { 0 });
    }
}

#[test]
fn a_deposited_grain_leaves_no_spike_and_invalid_positions_are_refused() {
    let mut soil = terrain(4.0, 0.1);
    let at = Vec3::new(0.313, 0.04, -0.277);
    let mass = soil.grain.mass;
    assert!(soil.deposit(at, 0.04, mass));
    wait(&mut soil);
    // Height of its bulk volume on a single column.
    let spike = mass / (1600.0 * 0.01);
    let highest = soil.field.heights().iter().copied().fold(0.0, f32::max);
    assert!(f64::from(highest) < 0.6 * spike && highest > 0.0);
    let raised = soil.field.heights().iter().filter(|h| **h > 0.0).count();
    assert_eq!(raised, 9);
    let before = soil.mass();
    for p in [at + 0.2 * Vec3::Y, Vec3::new(2.1, 0.04, 0.0), Vec3::NAN] {
        assert!(!soil.deposit(p, 0.04, mass), "{p}");
    }
    assert!(!soil.deposit(at, 0.04, f64::NAN) && !soil.deposit(at, 0.04, -1.0));
    assert!(!soil.deposit(at, 0.04, f64::INFINITY));
    assert_eq!(soil.mass(), before);
    // Grains larger than a column cover more of them.
    assert!(soil.deposit(Vec3::new(-1.0, 0.15, -1.0), 0.15, 50.0 * mass));
    wait(&mut soil);
    let raised = soil.field.heights().iter().filter(|h| **h > 0.0).count();
    assert!(raised > 4 + 7, "{raised}");
}

/// Deposits raise the surface slowly; cuts lower it at once.
#[test]
fn surfaces_rise_slowly_and_fall_at_once() {
    let mut soil = terrain(4.0, 0.1);
    assert!(soil.deposit(Vec3::new(0.0, 0.04, 0.0), 0.04, 20.0 * soil.grain.mass));
    let mut last = soil.field.height(0.0, 0.0).unwrap();
    assert!(last.abs() < 1e-6);
    for _ in 0..20 {
        soil.cut(&[], DT, ExistingGrains::default(), &mut Vec::new());
        let now = soil.field.height(0.0, 0.0).unwrap();
        assert!(now > last && now - last < 0.2 * DT, "{last} {now}");
        last = now;
    }
    let mut digging = mover(blade(), DVec3::ZERO, DVec3::X);
    digging.pose(0.0, 1.0 / 60.0);
    soil.cut(
        &digging.list,
        DT,
        ExistingGrains::default(),
        &mut Vec::new(),
    );
    assert!(soil.field.height(0.0, 0.0).unwrap() < -0.4);
}

#[test]
fn nothing_is_deposited_beside_a_body_that_digs() {
    let mut soil = terrain(4.0, 0.1);
    let mut pile = Pile::default();
    let mut bodies = mover(blade(), DVec3::ZERO, DVec3::X);
    bodies.pose(0.0, 1.0 / 60.0);
    pile.cut(&mut soil, &bodies.list);
    let place = Vec3::new(0.1, soil.field.height(0.1, 0.0).unwrap() + 0.04, 0.0);
    assert!(!soil.deposit(place, 0.04, soil.grain.mass));
    for _ in 0..20 {
        pile.cut(&mut soil, &[]);
    }
    let place = Vec3::new(0.1, soil.field.height(0.1, 0.0).unwrap() + 0.04, 0.0);
    assert!(soil.deposit(place, 0.04, soil.grain.mass));
}

/// Slopes [degrees] of a heap in eight directions between a fifth and four fifths of its radius.
fn heap_slopes(soil: &Terrain) -> Vec<f32> {
    let top = soil.field.height(0.0, 0.0).unwrap();
    (0..8)
        .map(|k| {
            let angle = (k as f32 + 0.25) * std::f32::consts::TAU / 8.0;
            let at = |r: f32| soil.field.height(r * angle.cos(), r * angle.sin()).unwrap();
            let foot = (1..)
                .map(|i| 0.02 * i as f32)
                .find(|r| at(*r) < 0.02 * top)
                .unwrap();
            let (a, b) = (0.2 * foot, 0.8 * foot);
            ((at(a) - at(b)) / (b - a)).atan().to_degrees()
        })
        .collect()
}

fn pour(angle: f64, relax: bool) -> Terrain {
    let mut soil = Terrain::new(&flat(6.0, 0.1, angle), &sand(), grain(0.04, 0.1));
    let mut random = Random::new(5);
    for _ in 0..8000 {
        let [x, z] = [0; 2].map(|_| 0.3 * random.unit() - 0.15);
        let y = soil.field.height(x, z).unwrap() + 0.04;
        while !soil.deposit(Vec3::new(x, y, z), 0.04, soil.grain.mass) {
            // The surface has not yet risen under the one before.
            soil.cut(&[], DT, ExistingGrains::default(), &mut Vec::new());
        }
        soil.cut(&[], DT, ExistingGrains::default(), &mut Vec::new());
        if relax {
            soil.relax();
        }
    }
    for _ in 0..20_000 {
        if !relax || soil.field.active_columns() == 0 {
            break;
        }
        soil.relax();
    }
    wait(&mut soil);
    soil
}

/// A poured heap is a cone with the angle of repose in all directions; without `relax` it is a tower.
#[test]
fn a_poured_heap_has_the_angle_of_repose() {
    for angle in [20.0, 30.0, 38.0] {
        let soil = pour(angle, true);
        assert_eq!(soil.field.active_columns(), 0);
        for slope in heap_slopes(&soil) {
            assert!((f64::from(slope) - angle).abs() < 1.0, "{angle}: {slope}");
        }
        let steep = (0..soil.field.layout.count()).filter(|c| soil.field.is_steep(*c));
        assert_eq!(steep.count(), 0);
        // A cone of that volume.
        let volume = 8000.0 * soil.grain.mass / 1600.0;
        let cone = (3.0 * volume * angle.to_radians().tan().powi(2) / std::f64::consts::PI).cbrt();
        let top = f64::from(soil.field.height(0.0, 0.0).unwrap());
        assert!((top / cone - 1.0).abs() < 0.08, "{angle}: {top} {cone}");
    }
    let tower = pour(30.0, false);
    assert!(heap_slopes(&tower).iter().all(|s| *s > 60.0));
}

#[test]
fn sliding_conserves_every_quantum_within_the_site() {
    let mut spec = flat(3.0, 0.1, 33.0);
    for (k, h) in spec.heights.iter_mut().enumerate() {
        *h = if k % 30 < 9 { 1.2 } else { 0.0 };
    }
    let mut soil = Terrain::new(&spec, &sand(), grain(0.04, 0.0));
    assert!(soil.field.active_columns() > 0);
    let before = soil.total;
    while soil.field.active_columns() > 0 {
        soil.relax();
    }
    wait(&mut soil);
    let heights = soil.field.height.clone();
    soil.field.reset_surface();
    assert_eq!(soil.total, before);
    assert_eq!(soil.field.height, heights);
    assert!(soil.field.height(1.4, 0.0).unwrap() < soil.field.height(-1.4, 0.0).unwrap());
}

/// Cost of a dig on a site of a given size: columns visited, grains, wall time.
fn work(size: f64, cell: f64) -> (u64, usize, std::time::Duration) {
    let mut soil = terrain(size, cell);
    let mut pile = Pile::default();
    let start = std::time::Instant::now();
    let mut bodies = mover(
        blade(),
        DVec3::new(-0.5, 0.0, 0.0),
        DVec3::new(0.5, 0.0, 0.0),
    );
    for step in 0..60 {
        bodies.pose(f64::from(step) / 60.0, 1.0 / 60.0);
        let mut new = Vec::new();
        soil.cut(&bodies.list, DT, ExistingGrains::default(), &mut new);
        for g in new.iter().step_by(3) {
            soil.deposit(g.position - 2.0 * Vec3::X, g.radius, g.mass);
        }
        pile.0.extend(&new);
        soil.relax();
    }
    (soil.field.visited_columns(), pile.0.len(), start.elapsed())
}

/// Twenty-five times the area, the same cost.
#[test]
fn a_large_site_costs_as_much_as_its_active_part() {
    // Powers of two: positions within columns are the same on both sites.
    for cell in [0.125, 0.0625] {
        let (small, large) = (work(8.0, cell), work(40.0, cell));
        assert_eq!(small.0, large.0, "cell {cell}");
        assert_eq!(small.1, large.1);
        assert!(small.0 > 1000);
        eprintln!(
            "cell {cell}: {} columns visited, {} grains; 8 m {:?}, 40 m {:?}",
            small.0, small.1, small.2, large.2
        );
    }
}

#[test]
fn a_resumed_terrain_is_bitwise_identical() {
    let mut soil = terrain(4.0, 0.1);
    let mut pile = Pile::default();
    let mut bodies = mover(
        blade(),
        DVec3::new(-1.0, 0.0, 0.0),
        DVec3::new(0.5, 0.0, 0.0),
    );
    for step in 0..20 {
        bodies.pose(f64::from(step) / 60.0, 1.0 / 60.0);
        pile.cut(&mut soil, &bodies.list);
        soil.relax();
    }
    let mut saved = Checkpoint::default();
    soil.save(&mut saved);
    let mut again = terrain(4.0, 0.1);
    again.load(&saved).unwrap();
    let mut other = Pile(pile.0.clone());
    other.set_loads(&mut again);
    for step in 20..60 {
        bodies.pose(f64::from(step) / 60.0, 1.0 / 60.0);
        assert_eq!(
            pile.cut(&mut soil, &bodies.list),
            other.cut(&mut again, &bodies.list)
        );
        soil.relax();
        again.relax();
    }
    let (mut a, mut b) = (Checkpoint::default(), Checkpoint::default());
    soil.save(&mut a);
    again.save(&mut b);
    assert_eq!(a.digest(), b.digest());
    assert_eq!(soil.mass(), again.mass());
    // Another site is refused.
    assert!(terrain(4.2, 0.1).load(&saved).is_err());
    assert!(again.load(&Checkpoint::default()).is_err());
    let mut broken = saved.clone();
    for array in &mut broken.arrays {
        if let barchan_frame::ColumnData::U32(values) = &mut array.data {
            values.iter_mut().for_each(|v| *v = u32::MAX);
        }
    }
    assert!(again.load(&broken).is_err());
}

#[test]
fn a_frame_records_the_layout_of_the_heights() {
    let soil = terrain(4.0, 0.1);
    let mut frame = Frame::default();
    soil.write_frame(&mut frame);
    soil.write_frame(&mut frame);
    let heights = frame.array(TERRAIN_HEIGHT).unwrap();
    assert_eq!((heights.components, heights.particles()), (40, 40));
    let about = frame.record.terrain.unwrap();
    assert_eq!(about.columns, [40, 40]);
    assert_eq!(about.mass_kg, soil.mass());
    assert_eq!(frame.arrays.len(), 1);
}
