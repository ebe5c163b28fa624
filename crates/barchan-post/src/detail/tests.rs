//! The equations of the refinement, and its invariants for any base.

use super::step::{Scratch, Step};
use super::weights::SUPPORT;
use super::weights::reference::{alpha, fade, weight};
use super::*;
use barchan_frame::{BodyRecord, Unit};
use barchan_scene::load_file;

const RADIUS: f32 = 0.05;
const DT: f64 = 0.01;
const G: f32 = 9.81;

/// Removes the floor of the scene.
const OPEN: &str = "collider=[]";

/// The surroundings in a scene of grains of [`RADIUS`] on a floor, with keys set.
fn world(set: &[&str]) -> World {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/tests/grain.toml");
    World::new(&load_file(file, set).unwrap())
}

/// Base particles with these positions and velocities, numbered from 0.
fn base(index: u32, list: &[(Vec3, Vec3)]) -> BaseFrame {
    let kind = Kind {
        radius: RADIUS,
        mass: 2.0,
        material: 0,
    };
    BaseFrame {
        index,
        time: 2.0 * DT * f64::from(index),
        id: (0..list.len() as u64).collect(),
        position: list.iter().map(|p| p.0).collect(),
        velocity: list.iter().map(|p| p.1).collect(),
        kind: vec![kind; list.len()],
        ..BaseFrame::default()
    }
}

/// A cube of n³ particles with a spacing of one diameter and its lowest corner at `corner`, all with the same velocity.
fn cube(index: u32, n: usize, corner: Vec3, velocity: Vec3) -> BaseFrame {
    let time = 2.0 * DT as f32 * index as f32;
    let place = |i: usize| {
        let cell = Vec3::new((i % n) as f32, (i / n % n) as f32, (i / n / n) as f32);
        corner + RADIUS * (2.0 * cell + 1.0) + time * velocity
    };
    let list: Vec<(Vec3, Vec3)> = (0..n * n * n).map(|i| (place(i), velocity)).collect();
    base(index, &list)
}

fn refiner(world: World, first: BaseFrame, all: &[&BaseFrame], grains: u64) -> Refiner {
    let mut particles = BaseParticles::default();
    particles.add_frame(&first);
    all.iter().for_each(|f| particles.add_frame(f));
    let plan = Plan::new(&particles, grains).unwrap();
    Refiner::begin(plan, world, Settings::default(), first).unwrap()
}

fn advance(refiner: &mut Refiner, next: BaseFrame) {
    let done = refiner.advance(next, Frame::default(), &mut |_| ControlFlow::Continue(()));
    assert!(done.unwrap().is_some());
}

fn column<'a>(refiner: &'a Refiner, name: &str) -> &'a [[f32; 3]] {
    vectors(refiner.frame(), name)
}

fn numbers<'a>(refiner: &'a Refiner, name: &str) -> &'a [f32] {
    let column = refiner.frame().column(name).unwrap();
    column.data.as_f32().unwrap()
}

/// One step of grains among guides, in an empty world.
fn one_step(
    guides: &[Guide],
    method: Method,
    level: Level,
    x: &mut [[f32; 3]],
    v: &mut [[f32; 3]],
) {
    let world = world(&[OPEN]);
    let guides = GuideGrid::new(guides, RADIUS);
    let step = Step {
        guides: &guides,
        bodies: &[],
        drains: &[],
        world: &world,
        method,
        dt: DT as f32,
        gravity: Vec3::new(0.0, -G, 0.0),
        grain_radius: 0.01,
        level,
    };
    step.advance(x, v, &mut Scratch::default());
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(1);
        sampling::unit(sampling::mix(self.0))
    }

    fn vector(&mut self, size: f32) -> [f32; 3] {
        std::array::from_fn(|_| size * (self.next() - 0.5))
    }
}

/// The new velocity by Eq. 23–26, evaluated directly in double precision.
fn reference_velocity(guides: &[Guide], method: Method, x: [f32; 3], v: [f32; 3]) -> [f64; 3] {
    let h = f64::from(SUPPORT) * f64::from(RADIUS);
    let (mut total, mut largest, mut sum, mut count) = (0.0, 0.0_f64, [0.0; 3], 0);
    for guide in guides {
        let apart = |i: usize| f64::from(x[i]) - f64::from(guide.position[i]);
        let squared: f64 = (0..3).map(|i| apart(i).powi(2)).sum();
        let w = weight(squared / (h * h));
        total += w;
        largest = largest.max(w);
        count += u32::from(w > 0.0);
        (0..3).for_each(|i| sum[i] += w * f64::from(guide.velocity[i]));
    }
    let free = match method {
        Method::Blended => alpha(total, largest) * fade(total, false),
        Method::Printed => alpha(total, largest),
        Method::Clamped => f64::from(count <= 1),
    };
    let pull = [0.0, -f64::from(G) * DT, 0.0];
    std::array::from_fn(|i| {
        let follows = if total > 0.0 { sum[i] / total } else { 0.0 };
        (1.0 - free) * follows + free * (f64::from(v[i]) + pull[i])
    })
}

#[test]
fn lanes_agree_with_the_equations() {
    let mut random = Random(3);
    for count in [0, 1, 2, 5, 40, 300] {
        let guide = |_| Guide {
            position: random.vector(0.8),
            velocity: random.vector(4.0),
        };
        let guides: Vec<Guide> = (0..count).map(guide).collect();
        let x: Vec<[f32; 3]> = (0..333).map(|_| random.vector(1.0)).collect();
        let v: Vec<[f32; 3]> = (0..333).map(|_| random.vector(2.0)).collect();
        for method in [Method::Blended, Method::Printed, Method::Clamped] {
            for level in [Level::new(), Level::baseline()] {
                let (mut x1, mut v1) = (x.clone(), v.clone());
                one_step(&guides, method, level, &mut x1, &mut v1);
                let mut differ = 0;
                for i in 0..x.len() {
                    let expected = reference_velocity(&guides, method, x[i], v[i]);
                    let close = (0..3).all(|a| (f64::from(v1[i][a]) - expected[a]).abs() < 3e-6);
                    // Rounding may decide on which side of a jump of α a grain lies.
                    differ += usize::from(!close);
                    let moved = |a: usize| (x1[i][a] - x[i][a] - v1[i][a] * DT as f32).abs();
                    assert!((0..3).all(|a| moved(a) < 1e-6));
                }
                assert!(differ <= 1, "{method:?}, {count} guides: {differ}");
            }
        }
    }
}

#[test]
fn grains_without_neighbors_fall_freely() {
    // No guide within the support, and one so close to its end that the sum of weights is tiny but not zero.
    let reach = SUPPORT * RADIUS;
    for x in [100.0, reach, reach * (1.0 - 1e-7), reach * 0.999_999] {
        let guide = Guide {
            position: [x, 0.0, 0.0],
            velocity: [7.0; 3],
        };
        for method in [Method::Blended, Method::Printed, Method::Clamped] {
            let (mut x, mut v) = ([[0.0; 3]; 3], [[-0.5, 0.0, 0.0]; 3]);
            let mut height = 0.0;
            for step in 1..=3 {
                one_step(&[guide], method, Level::new(), &mut x, &mut v);
                let fall = -G * DT as f32 * step as f32;
                height += f64::from(fall) * DT;
                assert!((v[0][0] + 0.5).abs() < 1e-6 && (v[0][1] - fall).abs() < 1e-6);
                assert!((f64::from(x[2][1]) - height).abs() < 1e-6);
            }
        }
    }
}

#[test]
fn grains_inside_a_rigidly_moving_base_follow_it() {
    let velocity = Vec3::new(1.25, 0.5, -0.75);
    let mut random = Random(5);
    let frame = cube(0, 8, Vec3::ZERO, velocity);
    let guide = |p: &Vec3| Guide {
        position: p.to_array(),
        velocity: velocity.to_array(),
    };
    let guides: Vec<Guide> = frame.position.iter().map(guide).collect();
    // Within one radius of a particle inside the base, the printed α is 0 as well.
    let near = |r: &mut Random| {
        let p = Vec3::splat(7.0 * RADIUS) + Vec3::from(r.vector(1.1 * RADIUS));
        p.to_array()
    };
    let x: Vec<[f32; 3]> = (0..500).map(|_| near(&mut random)).collect();
    for method in [Method::Blended, Method::Printed, Method::Clamped] {
        let (mut x1, mut v) = (x.clone(), vec![[9.0, -3.0, 2.0]; 500]);
        one_step(&guides, method, Level::new(), &mut x1, &mut v);
        for v in v {
            assert!(
                (Vec3::from(v) - velocity).abs().max_element() < 1e-6,
                "{v:?}"
            );
        }
    }
    // Negative control: in the gap between eight particles the printed α is positive.
    let gap = [6.0 * RADIUS; 3];
    let held = |method| {
        let (mut x, mut v) = ([gap], [velocity.to_array()]);
        one_step(&guides, method, Level::new(), &mut x, &mut v);
        (Vec3::from(v[0]) - velocity).length()
    };
    assert!(held(Method::Blended) < 1e-6);
    assert!(held(Method::Printed) > 0.05);
}

#[test]
fn grains_in_a_base_at_rest_do_not_sink_unlike_as_printed() {
    let settled = |method| {
        let first = cube(0, 6, Vec3::ZERO, Vec3::ZERO);
        let mut r = refiner(world(&[]), first, &[], 20_000);
        r.settings.method = method;
        let start: Vec<[f32; 3]> = by_id(&r);
        for index in 1..=25 {
            advance(&mut r, cube(index, 6, Vec3::ZERO, Vec3::ZERO));
        }
        let end = by_id(&r);
        let middle = |p: &[f32; 3]| p.iter().all(|c| (0.2..0.4).contains(c));
        let moved = start.iter().zip(&end).filter(|(a, _)| middle(a));
        let sunk: Vec<f32> = moved.map(|(a, b)| a[1] - b[1]).collect();
        assert!(sunk.len() > 500);
        sunk.iter().sum::<f32>() / sunk.len() as f32
    };
    let (blended, printed) = (settled(Method::Blended), settled(Method::Printed));
    assert!(blended.abs() < 0.01 * RADIUS, "{blended}");
    assert!(printed > 0.1 * RADIUS, "{printed}");
}

/// Positions in the order of ids.
fn by_id(r: &Refiner) -> Vec<[f32; 3]> {
    let ids = r.frame().column("id").unwrap().data.as_u32().unwrap();
    let mut order: Vec<usize> = (0..ids.len()).collect();
    order.sort_unstable_by_key(|i| ids[*i]);
    let position = column(r, "position");
    order.into_iter().map(|i| position[i]).collect()
}

#[test]
fn a_moving_wall_drags_grains() {
    // Grains under a plate that moves at 1 m/s, over a base at rest.
    let plate = "collider=[{ shape = { box = { min = [-1, 0.31, -1], max = [1, 0.5, 1] } }, \
                 motion = { velocity = [1, 0, 0] } }]";
    let mean_speed = |colliders: &str| {
        let first = cube(0, 3, Vec3::ZERO, Vec3::ZERO);
        let mut r = refiner(world(&[colliders]), first, &[], 5000);
        advance(&mut r, cube(1, 3, Vec3::ZERO, Vec3::ZERO));
        let both = column(&r, "position").iter().zip(column(&r, "velocity"));
        let upper: Vec<f32> = both
            .filter(|(x, _)| x[1] > 0.25)
            .map(|(_, v)| v[0])
            .collect();
        assert!(upper.len() > 100);
        upper.iter().sum::<f32>() / upper.len() as f32
    };
    assert!(mean_speed(plate) > 0.2);
    // Negative control.
    assert!(mean_speed(OPEN).abs() < 1e-3);
}

#[test]
fn free_bodies_are_where_frames_record_them() {
    let ball = "body=[{ name = \"ball\", density = 3000, \
                shape = { sphere = { center = [0, 0, 0], radius = 0.12 } } }]";
    let at = |index: u32| {
        let mut frame = cube(index, 5, Vec3::ZERO, Vec3::ZERO);
        let x = -0.3 + 0.05 * f64::from(index);
        frame.record.bodies.push(BodyRecord {
            name: "ball".into(),
            position: [x as f32, 0.25, 0.25],
            ..BodyRecord::default()
        });
        frame
    };
    let mut r = refiner(world(&[OPEN, ball]), at(0), &[], 20_000);
    (1..=10).for_each(|index| advance(&mut r, at(index)));
    let near = |center: Vec3| {
        let inside = |p: &&[f32; 3]| Vec3::from(**p).distance(center) < 0.119;
        column(&r, "position").iter().filter(inside).count()
    };
    assert_eq!(near(Vec3::new(0.2, 0.25, 0.25)), 0);
    // Negative control: a position in the bed without the ball.
    assert!(near(Vec3::new(0.3, 0.4, 0.12)) > 500);
    assert_eq!(r.frame().record.bodies, at(10).record.bodies);
}

#[test]
fn fast_grains_do_not_pass_thin_bodies() {
    // At 20 m/s a grain moves 0.2 m in a step; the plate is 2 cm thick.
    let plate = "collider=[{ shape = { box = { min = [-2, -1, -2], max = [2, -0.98, 2] } } }]";
    let below = |colliders: &str| {
        let fall = Vec3::new(0.0, -20.0, 0.0);
        let particle = |index| base(index, &[(Vec3::new(0.0, 50.0, 0.0), Vec3::ZERO)]);
        let mut r = refiner(world(&[colliders]), particle(0), &[], 500);
        // Far from the base, only gravity and the plate act.
        let mut frame = Frame::clone(r.frame());
        for c in &mut frame.columns {
            if let barchan_frame::ColumnData::F32(values) = &mut c.data {
                match c.name.as_str() {
                    "position" => values
                        .as_chunks_mut::<3>()
                        .0
                        .iter_mut()
                        .for_each(|p| p[1] -= 50.0),
                    "velocity" => values.as_chunks_mut::<3>().0.fill(fall.to_array()),
                    _ => {}
                }
            }
        }
        r.frame = Arc::new(frame);
        for index in 1..=5 {
            advance(&mut r, particle(index));
        }
        let low = column(&r, "position").iter().filter(|p| p[1] < -0.99);
        low.count()
    };
    assert_eq!(below(plate), 0);
    // Negative control.
    assert_eq!(below(OPEN), 500);
}

#[test]
fn mass_identity_and_material_are_kept() {
    let first = cube(0, 4, Vec3::ZERO, Vec3::ZERO);
    let mut r = refiner(world(&[OPEN]), first, &[], 10_007);
    for index in 0..4 {
        if index > 0 {
            advance(&mut r, cube(index, 4, Vec3::ZERO, Vec3::X));
        }
        let mass: f64 = numbers(&r, "mass").iter().map(|m| f64::from(*m)).sum();
        assert!((mass - 128.0).abs() < 1e-4, "{mass}");
        let ids = r.frame().column("id").unwrap().data.as_u32().unwrap();
        let mut sorted = ids.to_vec();
        sorted.sort_unstable();
        assert!(sorted.iter().copied().eq(0..10_007));
        // A grain always has the mass of its parent divided by the parent's number of grains.
        for (id, mass) in ids.iter().zip(numbers(&r, "mass")) {
            let parent = r.plan().parent_of(*id).unwrap();
            let (_, count) = r.plan().grains_of(parent.id).unwrap();
            assert_eq!(*mass, 2.0 / count as f32);
        }
    }
}

/// Splashing particles that are emitted, removed and scattered.
fn splash(index: u32) -> BaseFrame {
    let t = 2.0 * DT as f32 * index as f32;
    let mut random = Random(11);
    let mut frame = base(index, &[]);
    for id in 0..200_u64 {
        let (x, v) = (
            Vec3::from(random.vector(0.6)),
            Vec3::from(random.vector(3.0)),
        );
        let (born, dies) = (id as u32 / 50, 4 + id as u32 / 20);
        if (born..dies).contains(&index) {
            frame.id.push(3 * id);
            frame
                .position
                .push(x + t * v + Vec3::new(0.0, 0.6 - 4.9 * t * t, 0.0));
            frame.velocity.push(v - Vec3::new(0.0, G * t, 0.0));
            frame.kind.push(Kind {
                radius: RADIUS * (1.0 + 0.2 * (id % 3) as f32),
                mass: 1.0,
                material: (id % 2) as u8,
            });
        }
    }
    frame
}

const DRAIN: &str = "drain=[{ shape = { box = { min = [0.2, -1, -1], max = [1, 0.2, 1] } } }]";

fn splashing(upto: u32) -> Refiner {
    let frames: Vec<BaseFrame> = (0..8).map(splash).collect();
    let all: Vec<&BaseFrame> = frames.iter().collect();
    let mut r = refiner(world(&[DRAIN]), splash(0), &all, 9_000);
    (1..=upto).for_each(|index| advance(&mut r, splash(index)));
    r
}

#[test]
fn thread_count_does_not_change_a_byte() {
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build()
            .unwrap()
            .install(|| splashing(7).frame().digest())
    };
    let one = with(1);
    assert_eq!(with(2), one);
    assert_eq!(with(5), one);
    // Negative control.
    assert_ne!(splashing(6).frame().digest(), one);
}

#[test]
fn a_resumed_refinement_is_bitwise_identical() {
    let straight = splashing(7);
    let first = splashing(3);
    let copy = Frame::clone(first.frame());
    let mut foreign = copy.clone();
    foreign.record.statistics.detail = None;
    let refused = Refiner::resume(
        first.plan.clone(),
        world(&[DRAIN]),
        Settings::default(),
        splash(3),
        foreign,
    );
    assert!(matches!(
        refused.err(),
        Some(DetailError::NoStatistics { frame: 3 })
    ));
    let (plan, world) = (first.plan.clone(), world(&[DRAIN]));
    let resumed = Refiner::resume(plan, world, Settings::default(), splash(3), copy);
    let mut resumed = resumed.unwrap();
    (4..=7).for_each(|index| advance(&mut resumed, splash(index)));
    assert_eq!(resumed.frame().digest(), straight.frame().digest());
    assert_eq!(resumed.frame().record, straight.frame().record);
    assert!(
        straight.removed() > 100,
        "the drain removed {}",
        straight.removed()
    );
}

#[test]
fn the_order_of_the_base_does_not_matter() {
    let manifest = barchan_frame::Manifest {
        dimensions: 3,
        ..Default::default()
    };
    let turned = |reverse: bool| {
        let base = splash(2);
        let mut order: Vec<usize> = (0..base.id.len()).collect();
        if reverse {
            order.reverse();
        }
        let flat = |list: &[Vec3]| order.iter().flat_map(|i| list[*i].to_array()).collect();
        let numbers = |of: fn(&Kind) -> f32| order.iter().map(|i| of(&base.kind[*i])).collect();
        use barchan_frame::{Column, ColumnData};
        let id = ColumnData::U64(order.iter().map(|i| base.id[*i]).collect());
        let frame = Frame {
            columns: vec![
                Column::vector3("position", Unit::Meter, "", 0.0, flat(&base.position)),
                Column::vector3(
                    "velocity",
                    Unit::MeterPerSecond,
                    "",
                    0.0,
                    flat(&base.velocity),
                ),
                Column::exact("id", Unit::One, "", 1, id),
                Column::scalar("radius", Unit::Meter, "", 0.0, numbers(|k| k.radius)),
                Column::scalar("mass", Unit::Kilogram, "", 0.0, numbers(|k| k.mass)),
            ],
            ..Frame::default()
        };
        let first = BaseFrame::of(frame, &manifest).unwrap();
        let mut r = refiner(world(&[OPEN]), first, &[], 6000);
        advance(&mut r, splash(3));
        r.frame().digest()
    };
    assert_eq!(turned(false), turned(true));
}

#[test]
fn emitted_particles_receive_their_grains_when_they_appear() {
    let frames: Vec<BaseFrame> = (0..8).map(splash).collect();
    let all: Vec<&BaseFrame> = frames.iter().collect();
    let mut r = refiner(world(&[OPEN]), splash(0), &all, 9_000);
    for index in 0..4 {
        if index > 0 {
            advance(&mut r, splash(index));
        }
        // A quarter of the particles appears in each of the first four frames; all have 45 grains.
        assert_eq!(r.frame().particles() as u32, 2250 * (index + 1));
        let ids = r.frame().column("id").unwrap().data.as_u32().unwrap();
        let material = r.frame().column("material").unwrap().data.as_u8().unwrap();
        for (id, material) in ids.iter().zip(material) {
            let parent = r.plan().parent_of(*id).unwrap();
            assert_eq!(*material, (parent.id / 3 % 2) as u8);
        }
    }
}

#[test]
fn grains_of_2d_scenes_stay_in_the_plane() {
    let ball = "collider=[{ shape = { sphere = { center = [0.1, -0.3, 0.1], radius = 0.3 } } }]";
    let across = "fill.0.shape={ sphere = { center = [0, 0, 0], radius = 0.05 } }";
    let world = world(&["dimensions=2", across, ball]);
    let at = |index: u32| {
        let place = |i: usize| Vec3::new((i % 4) as f32, (i / 4) as f32, 0.0) * 0.1;
        let list: Vec<(Vec3, Vec3)> = (0..16).map(|i| (place(i), Vec3::ZERO)).collect();
        base(index, &list)
    };
    let mut r = refiner(world, at(0), &[], 3000);
    (1..6).for_each(|index| advance(&mut r, at(index)));
    assert!(column(&r, "position").iter().all(|p| p[2] == 0.0));
    assert!(column(&r, "velocity").iter().all(|v| v[2] == 0.0));
    // None in the ball.
    let ball = Vec3::new(0.1, -0.3, 0.1);
    let inside = |p: &&[f32; 3]| Vec3::from(**p).distance(ball) < 0.299;
    assert_eq!(column(&r, "position").iter().filter(inside).count(), 0);
}

#[test]
fn grains_leave_an_open_domain_and_wrap_in_a_periodic_one() {
    let domain = |periodic: &str| {
        let first = cube(0, 3, Vec3::ZERO, Vec3::ZERO);
        let corners = "domain={ min = [-0.2, -0.2, -0.2], max = [0.5, 0.5, 0.5] }";
        let mut r = refiner(world(&[OPEN, corners, periodic]), first, &[], 2700);
        assert_eq!(r.frame().particles(), 2700);
        for index in 1..=8 {
            let mut next = cube(index, 3, Vec3::ZERO, 3.0 * Vec3::X);
            next.position.iter_mut().for_each(|p| *p = r.world.wrap(*p));
            advance(&mut r, next);
        }
        r
    };
    let open = domain("domain.periodic=[]");
    assert!(open.frame().particles() < 2000);
    assert_eq!(open.removed() as usize + open.frame().particles(), 2700);
    let repeating = domain("domain.periodic=[\"x\"]");
    let kept = repeating.frame().particles();
    assert!(kept > 2500, "{kept}");
    let fast = column(&repeating, "velocity").iter().filter(|v| v[0] > 2.0);
    assert!(
        fast.count() > kept * 8 / 10,
        "grains do not follow across the periodic boundary"
    );
}

#[test]
fn an_empty_base_can_be_refined() {
    let mut r = refiner(world(&[DRAIN]), base(0, &[]), &[], 1000);
    advance(&mut r, base(1, &[]));
    assert_eq!(r.frame().particles(), 0);
    assert_eq!(r.frame().columns.len(), 6);
    let late = cube(2, 2, Vec3::ZERO, Vec3::ZERO);
    advance(&mut r, late);
    assert_eq!(r.frame().particles(), 8);
    advance(&mut r, base(3, &[]));
}

#[test]
fn invalid_bases_are_refused() {
    let first = cube(0, 2, Vec3::ZERO, Vec3::ZERO);
    let mut r = refiner(world(&[OPEN]), first, &[], 100);
    let again = cube(0, 2, Vec3::ZERO, Vec3::ZERO);
    let error = r.advance(again, Frame::default(), &mut |_| ControlFlow::Continue(()));
    assert!(error.unwrap_err().to_string().contains("not later"));
    let before = r.frame().digest();
    let next = cube(1, 2, Vec3::ZERO, Vec3::X);
    let stopped = r.advance(next, Frame::default(), &mut |_| ControlFlow::Break(()));
    assert!(stopped.unwrap().is_none());
    assert_eq!(
        r.frame().digest(),
        before,
        "a frame that was stopped changed the state"
    );
}
