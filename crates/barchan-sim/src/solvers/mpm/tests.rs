//! The separate passes against the fused ones: bitwise equal from grid to particles; equal within a derived bound from particles
//! to grid, where the order of summation differs.

use super::grid_to_particles::{GRADIENT, MOMENT, VELOCITY};
use super::grid_update::{NodeProjection, Projection, collide};
use super::*;
use crate::collider::{BodyImpulses, Colliders};
use crate::grid::{BLOCK_NODES, NODE, blocks};
use crate::identities::Identities;
use crate::linalg;
use crate::math::lanes::Row;
use crate::solver::Timings;
use barchan_frame::ColumnData;
use barchan_scene::load_file;

const DT: f32 = 2e-4;
/// Grid spacing of the scene [m].
const DX: f64 = 0.05;

struct Random(u32);

impl Random {
    /// In −1..1.
    fn number(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as f32 / (1u32 << 23) as f32 - 1.0
    }
}

/// Sand and rubber over a rough floor.
fn scene(dimensions: usize) -> Scene {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/tests/balls.toml");
    let set = [
        &format!("dimensions={dimensions}"),
        "materials.sand={ density = 1600, young = 2e5, poisson = 0.3, friction_angle = 30 }",
        "materials.ball={ law = \"elastic\", density = 1100, young = 2e5, poisson = 0.4 }",
    ];
    load_file(file, &set).unwrap()
}

fn spec(scene: &Scene, kernel: Kernel, transfer: Transfer) -> MpmSpec {
    MpmSpec {
        kernel,
        transfer,
        ..scene.settings()
    }
}

fn solver(scene: &Scene, spec: &MpmSpec) -> Mpm {
    let mut scene = scene.clone();
    scene.solver.settings.set(*spec);
    Mpm::new(&scene, Level::new()).unwrap()
}

/// Two hundred particles of both materials with random velocities, affine velocities and strains.
fn random_particles(scene: &Scene, spec: &MpmSpec) -> Mpm {
    let mut random = Random(7);
    let mut mpm = solver(scene, spec);
    let flat = scene.dimensions == Dimensions::Two;
    let across = if flat { 0.0 } else { 1.0 };
    for material in 0..2 {
        let mut batch = Samples::none(material);
        batch.volume = 2e-5;
        batch.first_id = material as u32 * 100;
        for _ in 0..100 {
            let mut vector =
                || Vec3::new(random.number(), random.number(), across * random.number());
            batch.position.push(0.12 * vector() + 0.1 * Vec3::Y);
            batch.velocity.push(3.0 * vector());
        }
        mpm.emit(&batch).unwrap();
    }
    mpm.sort_into_blocks().unwrap();
    let plane = |i: usize| !flat || [0, 1, 5].contains(&i);
    for p in 0..mpm.packets.len() {
        if spec.transfer == Transfer::Apic {
            for row in (0..9).filter(|row| !flat || (row / 3 < 2 && row % 3 < 2)) {
                mpm.packets[p].affine[row] = std::array::from_fn(|_| 5.0 * random.number());
            }
        }
        for (i, row) in mpm.state.of_mut(p)[..6].iter_mut().enumerate() {
            if plane(i) {
                row.0 = std::array::from_fn(|_| 0.01 * random.number());
            }
        }
    }
    let mut flags = vec![[0; LANES]; mpm.packets.len()];
    passes!(mpm).return_map(&mpm.packets, &mut mpm.state, &mut flags);
    mpm
}

/// Momentum and mass at the nodes by the fused pass and by the separate ones, and the mean velocity field before forces.
fn momenta(mpm: &Mpm) -> [Field; 3] {
    let mut tiles = Tiles::default();
    tiles.resize(
        &mpm.scratch.topology,
        tile_len(mpm.dimensions, mpm.spec.kernel),
    );
    let [mut fused, mut momentum, mut force] = [(); 3].map(|()| {
        let mut field = Field::default();
        field.resize(&mpm.scratch.topology);
        field
    });
    let passes = passes!(mpm);
    passes.scatter(&mpm.packets, &mpm.state, DT, &mut tiles);
    passes.sum(&tiles, &mut fused);
    passes.scatter_momentum(&mpm.packets, &mut tiles);
    passes.sum(&tiles, &mut momentum);
    let mut old = momentum.clone();
    passes.accelerate(&mut old, Vec3::ZERO);
    let mut stress = Rows::new(6);
    passes.stress(&mpm.packets, &mpm.state, &mut stress);
    passes.scatter_forces(&mpm.packets, &stress, DT, &mut tiles);
    passes.sum(&tiles, &mut force);
    linalg::axpy(1.0, force.nodes(), momentum.nodes_mut());
    [fused, momentum, old]
}

/// Bound of the rounding difference between the two orders of summation, for each float of the nodes.
///
/// With u = 2⁻²⁴ and S the sum of the magnitudes of all terms at a node, each path is off by at most
/// (8 + 3n + 28) u S: at most 8 roundings inside a particle's contribution, at most 3 additions for each of n
/// particles (two to the row in registers, one of the row to the tile), 27 tiles, and one sum of the two fields. Weights are
/// the same numbers in both. S is summed in f64; half as much again allows for weights that f32 and f64 round differently.
fn bound(mpm: &Mpm) -> Field {
    let (d, k) = (mpm.dimensions.count(), mpm.spec.kernel);
    let mut bound = Field::default();
    bound.resize(&mpm.scratch.topology);
    bound.nodes_mut().fill(0.0);
    let mut count = vec![0.0f64; bound.nodes().len()];
    let mut sums = vec![0.0f64; bound.nodes().len()];
    for (p, packet) in mpm.packets.iter().enumerate() {
        for lane in 0..packet.len as usize {
            let law = &mpm.laws[packet.material as usize];
            let (tau, _) = law.stress_of(mpm.state.of(p), lane);
            let tau = tau.to_mat3().map(|r| r.map(|t| f64::from(t).abs()));
            let volume = f64::from(packet.volume[lane]);
            let mass = volume * f64::from(mpm.density[packet.material as usize]);
            let cells = packet.position_of(lane).as_dvec3() / DX;
            let offset = f64::from(mpm.cells.base_offset);
            let base = (cells + offset).floor();
            let axis = |a: usize| -> Vec<(f64, f64)> {
                let f = cells[a] - base[a];
                match k {
                    _ if a >= d => vec![(1.0, 0.0)],
                    Kernel::Quadratic => pairs(bspline::weights::<f64, 3>(f)),
                    Kernel::Cubic => pairs(bspline::weights::<f64, 4>(f)),
                }
            };
            let [x, y, z] = [0, 1, 2].map(axis);
            for (i, wx) in x.iter().enumerate() {
                for (j, wy) in y.iter().enumerate() {
                    for (l, wz) in z.iter().enumerate() {
                        let node = [i, j, l].map(|n| n as f64);
                        let node: [f64; 3] = std::array::from_fn(|a| node[a] + base[a]);
                        let at = float_of(mpm, node.map(|n| n as i32), d);
                        let w = wx.0 * wy.0 * wz.0;
                        let g = [wx.1 * wy.0 * wz.0, wx.0 * wy.1 * wz.0, wx.0 * wy.0 * wz.1];
                        for c in 0..3 {
                            let mut speed = f64::from(packet.velocity[c][lane]).abs();
                            let mut force = 0.0;
                            for a in 0..d {
                                let arm = (node[a] - cells[a]).abs() * DX;
                                speed += f64::from(packet.affine[3 * c + a][lane]).abs() * arm;
                                force += tau[c][a] * g[a].abs() / DX;
                            }
                            sums[at + c] += w * mass * speed + f64::from(DT) * volume * force;
                            count[at + c] += 1.0;
                        }
                        sums[at + 3] += w * mass;
                        count[at + 3] += 1.0;
                    }
                }
            }
        }
    }
    let unit = f64::from(f32::EPSILON) / 2.0;
    for (i, bound) in bound.nodes_mut().iter_mut().enumerate() {
        *bound = (1.5 * 2.0 * (36.0 + 3.0 * count[i]) * unit * sums[i]) as f32;
    }
    bound
}

fn pairs<const K: usize>((w, g): ([f64; K], [f64; K])) -> Vec<(f64, f64)> {
    w.into_iter().zip(g).collect()
}

/// First float of a node in a field.
fn float_of(mpm: &Mpm, node: [i32; 3], d: usize) -> usize {
    let node: [i32; 3] = std::array::from_fn(|a| if a < d { node[a] } else { 0 });
    let key = blocks::pack(node.map(|n| n.div_euclid(BLOCK)));
    let g = mpm.scratch.topology.grid_keys.binary_search(&key).unwrap();
    let [x, y, z] = node.map(|n| n.rem_euclid(BLOCK) as usize);
    (g * BLOCK_NODES + (x * 4 + z) * 4 + y) * NODE
}

/// State of all particles, as bits.
fn bits(mpm: &Mpm) -> Vec<u32> {
    let of_packet = |p: &Packet| {
        let floats = [&p.position[..], &p.velocity, &p.affine].concat();
        let flags = p.flag.map(u32::from);
        floats
            .concat()
            .iter()
            .map(|f| f.to_bits())
            .chain(flags)
            .collect::<Vec<_>>()
    };
    let packets = mpm.packets.iter().flat_map(of_packet);
    let state = mpm.state.all().iter().flat_map(|row| row.0);
    packets.chain(state.map(f32::to_bits)).collect()
}

/// Velocities to positions, velocities and states of the particles, by the separate passes.
fn advance_separately(mpm: &mut Mpm, velocity: &Field, old: &Field) {
    let [mut v, mut before] = [(); 2].map(|()| Rows::new(3));
    let [mut moment, mut gradient] = [(); 2].map(|()| Rows::new(9));
    let mut trial = Rows::new(mpm.state.per_packet());
    let mut flags: Vec<[u8; LANES]> = mpm.packets.iter().map(|p| p.flag).collect();
    let passes = passes!(mpm);
    passes.gather::<VELOCITY>(&mpm.packets, velocity, &mut v);
    passes.gather::<VELOCITY>(&mpm.packets, old, &mut before);
    passes.gather::<MOMENT>(&mpm.packets, velocity, &mut moment);
    passes.gather::<GRADIENT>(&mpm.packets, velocity, &mut gradient);
    passes.trial(&mpm.packets, &mpm.state, &gradient, DT, &mut trial);
    passes.return_map(&mpm.packets, &mut trial, &mut flags);
    mpm.state = trial;
    for (packet, flag) in mpm.packets.iter_mut().zip(flags) {
        packet.flag = flag;
    }
    let before = mpm.spec.needs_old_velocity().then_some(&before);
    passes!(mpm).move_particles(
        (&mut mpm.packets, &mut mpm.state),
        (&v, &moment, before),
        (DT, flip(&mpm.spec)),
        &mut mpm.scratch.reports,
    );
}

/// Largest |a − b| over its bound.
fn worst(a: &[f32], b: &[f32], bound: &[f32]) -> f32 {
    let off = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    off.zip(bound)
        .map(|(off, bound)| if off == 0.0 { 0.0 } else { off / bound })
        .fold(0.0, f32::max)
}

fn separate_and_fused(dimensions: usize, kernel: Kernel, transfer: Transfer) {
    let what = format!("{dimensions}D {kernel:?} {transfer:?}");
    let scene = scene(dimensions);
    let spec = spec(&scene, kernel, transfer);
    let [mut fused, mut separate] = [(); 2].map(|()| random_particles(&scene, &spec));
    let [sum_fused, sum_separate, old] = momenta(&fused);
    let bound = bound(&fused);
    let ratio = worst(sum_fused.nodes(), sum_separate.nodes(), bound.nodes());
    assert!(ratio <= 1.0, "{what}: {ratio} of the bound");

    let colliders = Colliders::new(&scene.colliders);
    let (mut impulses, mut timings) = (BodyImpulses::zero(1), Timings::default());
    let mut identities = Identities::default();
    let mut cx = StepContext {
        dt: DT,
        time: 0.0,
        gravity: Vec3::new(0.0, -9.81, 0.0),
        colliders: &colliders,
        impulses: &mut impulses,
        identities: &mut identities,
        timings: &mut timings,
    };
    fused.step(&mut cx).unwrap();

    // The same grid velocities give the same bits.
    advance_separately(&mut separate, &fused.scratch.velocity, &old);
    assert!(bits(&fused) == bits(&separate), "{what}");
    assert!(
        fused.packets.iter().any(|p| p.flag.iter().any(|f| *f > 0)),
        "{what}: no sand yields"
    );

    // A whole step by separate passes. Velocities at nodes differ by the bound over the mass, times 2 for a contact with friction
    // below 1 (normal component 1, tangential component 1 + μ); particles gather a weighted mean of these differences.
    let mut whole = random_particles(&scene, &spec);
    let params = whole.grid_params(&cx);
    let mut velocity = sum_separate;
    let mut received = vec![Impulse::default(); 64];
    let mut contacts = vec![Vec::new(); 64];
    let passes = passes!(whole);
    passes.accelerate(&mut velocity, params.gravity * DT);
    passes.update_grid(None, &mut velocity, &params, &mut received, &mut contacts);
    assert!(
        received[0].linear.length() > 0.0,
        "{what}: no contact with the floor"
    );
    let mut off = bound;
    for (off, node) in off
        .nodes_mut()
        .chunks_mut(NODE)
        .zip(velocity.nodes().chunks(NODE))
    {
        let most = off[..3].iter().fold(0.0f32, |a, b| a.max(*b));
        let mass_part = off[3] * Vec3::from_slice(node).length();
        off[0] = if node[3] > 0.0 {
            2.0 * 3f32.sqrt() * (most + mass_part) / node[3]
        } else {
            0.0
        };
    }
    let mut most = Rows::new(3);
    passes.gather::<VELOCITY>(&whole.packets, &off, &mut most);
    advance_separately(&mut whole, &velocity, &old);
    for (p, (a, b)) in fused.packets.iter().zip(&whole.packets).enumerate() {
        for axis in 0..3 {
            let rounding = a.velocity[axis].map(|v| 32.0 * f32::EPSILON * v.abs().max(1.0));
            let bound: Vec<f32> = (0..LANES)
                .map(|l| most.of(p)[0].0[l] + rounding[l])
                .collect();
            let ratio = worst(&a.velocity[axis], &b.velocity[axis], &bound);
            assert!(ratio <= 1.0, "{what}: {ratio} of the bound");
        }
    }
}

#[test]
fn the_separate_passes_agree_with_the_fused_ones() {
    for dimensions in [2, 3] {
        for kernel in [Kernel::Quadratic, Kernel::Cubic] {
            let flip = |flip: f64| Transfer::FlipPic { flip };
            for transfer in [Transfer::Apic, flip(0.95), flip(0.0)] {
                separate_and_fused(dimensions, kernel, transfer);
            }
        }
    }
}

/// Negative control of the bound: forces that are one in ten thousand too strong break it.
#[test]
fn a_wrong_force_exceeds_the_bound() {
    let scene = scene(3);
    let mut mpm = random_particles(&scene, &spec(&scene, Kernel::Quadratic, Transfer::Apic));
    let [_, sum_separate, _] = momenta(&mpm);
    let bound = bound(&mpm);
    for p in 0..mpm.packets.len() {
        for row in &mut mpm.state.of_mut(p)[6..12] {
            row.0 = row.0.map(|v| v * 1.0001);
        }
    }
    let [stronger, ..] = momenta(&mpm);
    assert!(worst(stronger.nodes(), sum_separate.nodes(), bound.nodes()) > 1.0);
}

/// Two species over one topology: each scatters to a field of its own, and gathers only for its own packets.
#[test]
fn species_have_separate_fields_over_a_common_topology() {
    let scene = scene(3);
    let mpm = random_particles(&scene, &spec(&scene, Kernel::Quadratic, Transfer::Apic));
    let of_species = |species: u8| -> Vec<PacketRange> {
        let own = |range: &PacketRange| {
            let packets = passes::packets_of(&mpm.packets, *range);
            let before = packets.iter().take_while(|p| p.material < species).count();
            let count = packets.iter().filter(|p| p.material == species).count();
            PacketRange {
                first: range.first + before as u32,
                count: count as u32,
            }
        };
        mpm.scratch.ranges.iter().map(own).collect()
    };
    let mut tiles = Tiles::default();
    tiles.resize(
        &mpm.scratch.topology,
        tile_len(mpm.dimensions, mpm.spec.kernel),
    );
    let mut momentum = |ranges: &[PacketRange]| {
        let mut field = Field::default();
        field.resize(&mpm.scratch.topology);
        let passes = Passes {
            ranges,
            ..passes!(mpm)
        };
        passes.scatter_momentum(&mpm.packets, &mut tiles);
        passes.sum(&tiles, &mut field);
        field
    };
    let [sand, rubber] = [0, 1].map(of_species);
    let all = momentum(&mpm.scratch.ranges);
    let mut sum = momentum(&sand);
    let own = momentum(&rubber);
    linalg::axpy(1.0, own.nodes(), sum.nodes_mut());
    assert!(worst(all.nodes(), sum.nodes(), bound(&mpm).nodes()) <= 1.0);

    let passes = Passes {
        ranges: &rubber,
        ..passes!(mpm)
    };
    let [mut everyone, mut found] = [(); 2].map(|()| Rows::new(3));
    passes!(mpm).gather::<VELOCITY>(&mpm.packets, &all, &mut everyone);
    passes.gather::<VELOCITY>(&mpm.packets, &all, &mut found);
    for (p, packet) in mpm.packets.iter().enumerate() {
        match packet.material {
            1 => assert_eq!(found.of(p), everyone.of(p)),
            _ => assert!(found.of(p).iter().all(|row| row.0 == [0.0; LANES])),
        }
    }
}

#[test]
fn a_trial_state_does_not_change_the_particles() {
    let scene = scene(3);
    let mpm = random_particles(&scene, &spec(&scene, Kernel::Quadratic, Transfer::Apic));
    let before = bits(&mpm);
    let mut gradient = Rows::new(9);
    gradient.resize(mpm.packets.len(), 0.0);
    let mut trial = Rows::new(mpm.state.per_packet());
    let mut flags = vec![[0; LANES]; mpm.packets.len()];
    passes!(mpm).trial(&mpm.packets, &mpm.state, &gradient, DT, &mut trial);
    // Without motion the trial state equals the state bit for bit.
    assert_eq!(trial.all(), mpm.state.all());
    for row in gradient.all_mut() {
        *row = Row([1.0; LANES]);
    }
    passes!(mpm).trial(&mpm.packets, &mpm.state, &gradient, DT, &mut trial);
    passes!(mpm).return_map(&mpm.packets, &mut trial, &mut flags);
    assert_ne!(trial.all(), mpm.state.all());
    assert!(before == bits(&mpm));
}

#[test]
fn node_projections_are_symmetric_and_idempotent() {
    let mut random = Random(3);
    let mut vector = || Vec3::new(random.number(), random.number(), random.number());
    for rank in 0..=4 {
        let mut projection = NodeProjection::free(0);
        let normals: Vec<Vec3> = (0..rank).map(|_| vector().normalize()).collect();
        for normal in &normals {
            projection.fix(*normal);
            projection.fix(*normal); // A repeated direction adds no constraint.
        }
        let (a, b) = (vector(), vector());
        let (pa, pb) = (projection.apply(a), projection.apply(b));
        assert!((projection.apply(pa) - pa).length() < 1e-6, "idempotent");
        assert!((pa.dot(b) - a.dot(pb)).abs() < 1e-6, "symmetric");
        for normal in &normals {
            assert!(
                pa.dot(*normal).abs() < 2e-5,
                "constrained along every normal"
            );
        }
        assert_eq!(rank == 0, pa == a);
        assert_eq!(rank >= 3, pa.length() < 1e-5);
    }
}

/// Without friction, the collision of a node is a projection of its velocity.
#[test]
fn a_frictionless_collision_is_a_projection() {
    use barchan_scene::Boundary;
    let scene = scene(3);
    let mpm = random_particles(&scene, &spec(&scene, Kernel::Quadratic, Transfer::Apic));
    let [mut velocity, ..] = momenta(&mpm);
    passes!(mpm).accelerate(&mut velocity, Vec3::ZERO);
    for boundary in [Boundary::Sticky, Boundary::Slipping, Boundary::Separating] {
        let mut colliders = Colliders::new(&scene.colliders);
        colliders.list[0].boundary = boundary;
        colliders.list[0].friction = 0.0;
        let params = GridParams {
            dt: DT,
            dx: DX as f32,
            origin: Vec3::ZERO,
            gravity: Vec3::ZERO,
            colliders: &colliders,
        };
        let mut projection = Projection::default();
        projection.find(&velocity, &mpm.scratch.topology, &params);
        let mut projected = velocity.clone();
        projection.apply(&mut projected);
        let mut touched = 0;
        for (g, key) in mpm.scratch.topology.grid_keys.iter().enumerate() {
            let first = blocks::first_node(blocks::unpack(*key));
            for n in 0..BLOCK_NODES {
                let at = (g * BLOCK_NODES + n) * NODE;
                let [x, y, z] = [n / 16, n % 4, n / 4 % 4].map(|c| c as f32);
                let node = Vec3::new(
                    first[0] as f32 + x,
                    first[1] as f32 + y,
                    first[2] as f32 + z,
                );
                let v = Vec3::from_slice(&velocity.nodes()[at..]);
                let p = Vec3::from_slice(&projected.nodes()[at..]);
                if velocity.nodes()[at + 3] > 0.0 && node.y <= 0.0 {
                    let change = collide(&colliders.list[0], node * DX as f32, v, DT);
                    assert!((v + change - p).length() < 1e-6 * v.length().max(1e-3));
                    touched += usize::from(change != Vec3::ZERO);
                } else if node.y * DX as f32 > v.length() * DT {
                    assert_eq!(p, v, "a node out of reach is unconstrained");
                }
            }
        }
        assert!(touched > 10, "{boundary:?}: {touched} constrained nodes");
    }
}

#[test]
fn a_law_stores_only_the_state_that_it_declares() {
    let scene = scene(3);
    let [sand, rubber] = [0, 1].map(|m| PreparedLaw::new(&scene.materials[m], scene.dimensions));
    let bytes = |laws: &[PreparedLaw]| {
        (size_of::<Packet>() + material::state_rows(laws) * size_of::<Row>()) / LANES
    };
    assert_eq!(bytes(&[sand]), 128);
    assert_eq!(bytes(&[sand, rubber]), 128);
    assert_eq!(bytes(&[rubber]), 120);
    // Columns of the same name are shared.
    for column in sand.columns() {
        for other in rubber.columns().iter().filter(|o| o.name == column.name) {
            assert_eq!(
                (column.components, column.unit),
                (other.components, other.unit)
            );
        }
        let rows = sand.rows_of(column.name).unwrap();
        assert_eq!(rows.len(), column.components);
    }
    assert_eq!(rubber.rows_of("hardening"), None);
}

#[test]
fn a_checkpoint_needs_the_columns_of_the_laws_of_its_particles() {
    let mut scene = scene(3);
    let spec = spec(&scene, Kernel::Quadratic, Transfer::Apic);
    let mut mpm = random_particles(&scene, &spec);
    let mut saved = Checkpoint::default();
    mpm.save(&mut saved).unwrap();
    let gain = saved.column("volume_gain").unwrap().data.len();
    assert_eq!(gain, 200);
    // Rubber alone has no hardening state.
    scene.materials.remove(0);
    let mut rubber = solver(&scene, &spec);
    let mut batch = Samples::none(0);
    (batch.position, batch.velocity) = (vec![Vec3::Y], vec![Vec3::ZERO]);
    batch.volume = 1e-5;
    rubber.emit(&batch).unwrap();
    let mut plain = Checkpoint::default();
    rubber.save(&mut plain).unwrap();
    assert!(plain.column("hardening").is_none() && plain.column("plastic_case").is_none());
    rubber.load(&plain).unwrap();
    // Material 0 is sand in this solver, material 1 is rubber.
    let error = mpm.load(&plain).unwrap_err().to_string();
    assert!(error.contains("`hardening`"), "{error}");
    let material = plain.columns.iter_mut().find(|c| c.name == "material");
    material.unwrap().data = ColumnData::U8(vec![1]);
    mpm.load(&plain).unwrap();
}
