//! The hot kernels, one at a time, for counting instructions: `cargo xtask instructions` runs this under callgrind, which
//! collects inside the functions named `measured_*` only. Without arguments it lists the kernels.

use barchan_scene::{Overrides, Scene, SceneSource, load};
use barchan_sim::grid::{Tile, Topology};
use barchan_sim::material::PreparedLaw;
use barchan_sim::math::bspline;
use barchan_sim::sampling::Samples;
use barchan_sim::solvers::mpm::grid_to_particles::{GatherParams, gather_block};
use barchan_sim::solvers::mpm::grid_update::accelerate;
use barchan_sim::solvers::mpm::particles::{Packet, Rows, packets_from, prefetch_state};
use barchan_sim::solvers::mpm::particles_to_grid::{
    FORCES, MOMENTUM, ScatterParams, scatter_block,
};
use barchan_sim::solvers::mpm::sort::{CellFrame, Sorter};
use barchan_sim::solvers::mpm::transfer::TileFrame;
use fearless_simd::{Level, dispatch};
use glam::Vec3;
use std::hint::black_box;

/// Packets and the states of their laws.
type Particles = (Vec<Packet>, Rows);

const DX: f32 = 0.01;
const DT: f32 = 1e-4;

fn main() {
    let kernel = std::env::args().nth(1).unwrap_or_default();
    match kernel.as_str() {
        "scatter_quadratic" => measured_scatter::<3>(&particles::<3>(), &[law()]),
        "scatter_cubic" => measured_scatter::<4>(&particles::<4>(), &[law()]),
        "gather_quadratic" => measured_gather::<3>(&mut particles::<3>(), &[law()], &shear::<3>()),
        "gather_cubic" => measured_gather::<4>(&mut particles::<4>(), &[law()], &shear::<4>()),
        "grid" => measured_grid(),
        "sort" => alone(|| measured_sort(&mut particles::<3>(), &[law()])),
        _ => {
            for name in NAMES {
                println!("{name}");
            }
        }
    }
}

const NAMES: [&str; 6] = [
    "scatter_quadratic",
    "scatter_cubic",
    "gather_quadratic",
    "gather_cubic",
    "grid",
    "sort",
];

#[inline(never)]
fn measured_scatter<const K: usize>(particles: &Particles, laws: &[PreparedLaw]) {
    let params = ScatterParams {
        dx: DX,
        dt: DT,
        density: &[2200.0],
    };
    let mut tile = vec![0.0; Tile::<3, K>::LEN];
    let frame = TileFrame::new::<3, K>(cells::<K>(), [0, 0, 0]);
    let rows = particles.1.per_packet();
    let (packets, state) = (&particles.0[..], particles.1.all());
    dispatch!(Level::new(), simd => {
        let stress = |p: usize, packet: &Packet| {
            prefetch_state(state, p + 1, rows);
            laws[packet.material as usize].stress(simd, &state[p * rows..])
        };
        scatter_block::<_, 3, K, { MOMENTUM | FORCES }>(simd, packets, stress, &frame, &params, &mut tile)
    });
    black_box(tile);
}

#[inline(never)]
fn measured_gather<const K: usize>(particles: &mut Particles, laws: &[PreparedLaw], tile: &[f32]) {
    let params = GatherParams {
        dx: DX,
        dt: DT,
        flip: None,
        laws,
        state_rows: particles.1.per_packet(),
    };
    let frame = TileFrame::new::<3, K>(cells::<K>(), [0, 0, 0]);
    let particles = (&mut particles.0[..], particles.1.all_mut());
    let report = dispatch!(Level::new(), simd => gather_block::<_, 3, K>(simd, particles, &frame, &params, tile, None));
    black_box(report);
}

/// Slow and varying between nodes, so that some particles are elastic, some slide and some separate.
fn shear<const K: usize>() -> Vec<f32> {
    (0..Tile::<3, K>::LEN)
        .map(|i| 0.02 * ((i * 7919) % 101) as f32 / 101.0)
        .collect()
}

#[inline(never)]
fn measured_grid() {
    let tile = vec![1.0; Tile::<3, 3>::LEN];
    let mut block = vec![0.0; 256];
    dispatch!(Level::new(), simd => {
        for offset in barchan_sim::grid::blocks::NEIGHBORS {
            Tile::<3, 3>::add_overlap(simd, &mut block, &tile, offset);
        }
        accelerate(simd, &mut block, Vec3::new(0.0, -9.81 * DT, 0.0));
    });
    black_box(block);
}

/// Runs on the only thread of a pool, so that no handover or waiting is counted.
#[allow(clippy::unwrap_used, reason = "a benchmark may panic")]
fn alone(work: impl FnOnce() + Send) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    pool.unwrap().install(work);
}

#[inline(never)]
fn measured_sort((packets, state): &mut Particles, laws: &[PreparedLaw]) {
    let (mut topology, mut ranges) = (Topology::default(), Vec::new());
    let sorted = Sorter::default().sort(
        Level::new(),
        (packets, state),
        &cells::<3>(),
        laws,
        &mut topology,
        &mut ranges,
    );
    assert!(sorted.is_ok());
    black_box(ranges);
}

fn cells<const K: usize>() -> CellFrame {
    CellFrame {
        origin: [0.0; 3],
        inv_dx: 1.0 / DX,
        base_offset: bspline::base_offset::<K>(),
        period: [0; 3],
        flat: false,
    }
}

/// A full block: 512 particles, eight in each of its cells, in the order of the cells.
fn particles<const K: usize>() -> Particles {
    let mut random = 1u32;
    let mut chance = || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) as f32 / (1u32 << 24) as f32
    };
    let mut samples = Samples {
        material: 0,
        volume: (DX * DX * DX) / 8.0,
        ..Samples::default()
    };
    let first = -bspline::base_offset::<K>();
    for cell in 0..64 {
        let corner = Vec3::new((cell / 16) as f32, (cell % 4) as f32, (cell / 4 % 4) as f32);
        for _ in 0..8 {
            let inside = Vec3::new(chance(), chance(), chance());
            samples.position.push((corner + inside + first) * DX);
            samples
                .velocity
                .push(Vec3::new(chance(), chance(), 0.0) * 0.1);
        }
    }
    let law = law();
    let (mut packets, mut state) = (Vec::new(), Rows::new(law.rows()));
    packets_from(&samples, &[law], &mut packets, &mut state);
    (packets, state)
}

fn law() -> PreparedLaw {
    let scene = scene();
    PreparedLaw::new(&scene.materials[0], scene.dimensions)
}

#[allow(clippy::unwrap_used, reason = "a benchmark may panic")]
fn scene() -> Scene {
    let text = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../scenes/bench/kernels.toml"
    ));
    let source = SceneSource {
        name: "kernels".into(),
        text: text.into(),
        directory: ".".into(),
    };
    load(&source, &Overrides::default()).unwrap()
}
