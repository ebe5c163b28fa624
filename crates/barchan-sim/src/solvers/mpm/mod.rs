//! Explicit MPM for sand, after [Klar16]. Symbols, choices and limits: docs/solvers/mpm.md.

pub mod grid_to_particles;
pub mod grid_update;
mod method;
pub mod particles;
pub mod particles_to_grid;
pub mod rigid_contact;
pub mod sort;
mod state;
pub mod transfer;

use crate::collider::BodyImpulse;
use crate::grid::blocks::{self, Topology};
use crate::grid::tile::{BLOCK_FLOATS, Tile};
use crate::grid::{BLOCK, NODE, blocks::NONE};
use crate::material::drucker_prager::Sand;
use crate::material::elastic::Elastic;
use crate::material::{self};
use crate::math::bspline;
use crate::math::lanes::LANES;
use crate::sampling::Samples;
use crate::solver::{
    Bound, Columns, Pace, Region, Solver, SolverError, StepContext, StepStats, Stopwatch,
};
use crate::solvers::refusal::{self, Lacks};
use crate::view::ParticlesView;
use barchan_frame::{Checkpoint, Frame};
use barchan_scene::{Dimensions, Kernel, Law, Material, MpmSpec, Scene, Transfer};
use fearless_simd::{Level, Simd, dispatch};
use glam::Vec3;
use grid_to_particles::{BlockReport, GatherParams, PreparedLaw};
use grid_update::GridParams;
pub use method::METHOD;
use particles::Packet;
use particles_to_grid::ScatterParams;
use rayon::prelude::*;
use rigid_contact::Contact;
use sort::{CellFrame, PacketRange, Sorter};
use transfer::TileFrame;

/// Grid blocks that one task updates; fixed, so that impulses add up in the same order for any number of threads.
const BLOCKS_PER_TASK: usize = 32;

/// Explicit material point method.
pub struct Mpm {
    spec: MpmSpec,
    dimensions: Dimensions,
    level: Level,
    materials: Vec<Material>,
    laws: Vec<PreparedLaw>,
    density: Vec<f32>,
    /// Columns that the scene asks for beside the usual ones.
    columns: Vec<barchan_scene::OutputColumn>,
    cells: CellFrame,
    /// Longest step that elastic waves allow [s].
    elastic_dt: f32,

    packets: Vec<Packet>,
    count: usize,
    max_speed: f32,
    needs_sort: bool,
    scratch: Scratch,
}

/// What a step needs and a checkpoint does not.
#[derive(Default)]
struct Scratch {
    sorter: Sorter,
    topology: Topology,
    ranges: Vec<PacketRange>,
    reports: Vec<BlockReport>,
    /// A tile for each particle block.
    tiles: Vec<f32>,
    /// Nodes of each grid block: momentum, later velocity, and mass.
    nodes: Vec<f32>,
    /// The same before forces, for FLIP.
    old_tiles: Vec<f32>,
    old_nodes: Vec<f32>,
    /// Impulses by task and body.
    impulses: Vec<BodyImpulse>,
    /// Nodes that bodies with mass may touch, by task.
    contacts: Vec<Vec<Contact>>,
}

fn prepared_law(material: &Material, dimensions: Dimensions) -> PreparedLaw {
    match &material.law {
        Law::Sand(law) => PreparedLaw::Sand(Sand::new(law, dimensions)),
        Law::Elastic(law) => PreparedLaw::Elastic(Elastic::new(law)),
    }
}

/// Longest step that elastic waves allow [s].
fn elastic_dt(spec: &MpmSpec, materials: &[Material]) -> f32 {
    let fastest = materials.iter().map(wave_speed).fold(0.0, f64::max);
    (spec.elastic_cfl * spec.dx / fastest) as f32
}

/// Calls a function generic over SIMD level, dimensions and kernel.
macro_rules! with_kernel {
    ($level:expr, $dimensions:expr, $kernel:expr, $simd:ident, $D:ident, $K:ident => $call:expr) => {
        match ($dimensions, $kernel) {
            (Dimensions::Three, Kernel::Quadratic) => with_kernel!(@ $level, $simd, $D = 3, $K = 3, $call),
            (Dimensions::Three, Kernel::Cubic) => with_kernel!(@ $level, $simd, $D = 3, $K = 4, $call),
            (Dimensions::Two, Kernel::Quadratic) => with_kernel!(@ $level, $simd, $D = 2, $K = 3, $call),
            (Dimensions::Two, Kernel::Cubic) => with_kernel!(@ $level, $simd, $D = 2, $K = 4, $call),
        }
    };
    (@ $level:expr, $simd:ident, $D:ident = $d:literal, $K:ident = $k:literal, $call:expr) => {{
        const $D: usize = $d;
        const $K: usize = $k;
        dispatch!($level, $simd => $call)
    }};
}
use with_kernel;

impl Mpm {
    /// A solver without particles. Refuses what it cannot do.
    pub fn new(scene: &Scene, level: Level) -> Result<Self, SolverError> {
        let spec: MpmSpec = scene.settings();
        let lacks = Lacks {
            terrain: true,
            ..Lacks::default()
        };
        lacks.refuse("mpm", scene)?;
        let prepared = |m| prepared_law(m, scene.dimensions);
        let laws = scene.materials.iter().map(prepared).collect();
        Ok(Self {
            spec,
            dimensions: scene.dimensions,
            level,
            laws,
            density: scene.materials.iter().map(|m| m.density as f32).collect(),
            columns: scene.columns.clone(),
            materials: scene.materials.clone(),
            cells: cell_frame(scene, &spec)?,
            elastic_dt: elastic_dt(&spec, &scene.materials),
            packets: Vec::new(),
            count: 0,
            max_speed: 0.0,
            needs_sort: true,
            scratch: Scratch::default(),
        })
    }

    fn sort_into_blocks(&mut self) -> Result<(), SolverError> {
        if !self.needs_sort {
            return Ok(());
        }
        let s = &mut self.scratch;
        let count = self.materials.len();
        s.sorter.sort(
            self.level,
            &mut self.packets,
            &self.cells,
            count,
            &mut s.topology,
            &mut s.ranges,
        )?;
        self.make_room();
        self.needs_sort = false;
        Ok(())
    }

    /// Room for the blocks of the topology.
    fn make_room(&mut self) {
        let tile = self.tile_len();
        let s = &mut self.scratch;
        let blocks = s.topology.particle_keys.len();
        s.reports.resize(blocks, BlockReport::default());
        s.tiles.resize(blocks * tile, 0.0);
        s.nodes
            .resize(s.topology.grid_keys.len() * BLOCK_FLOATS, 0.0);
        if self.spec.needs_old_velocity() {
            s.old_tiles.resize(s.tiles.len(), 0.0);
            s.old_nodes.resize(s.nodes.len(), 0.0);
        }
    }

    fn tile_len(&self) -> usize {
        tile_len(self.dimensions, self.spec.kernel)
    }

    fn particles_to_grid(&mut self, dt: f32) {
        let mut tiles = std::mem::take(&mut self.scratch.tiles);
        self.scatter(dt, &mut tiles);
        self.scratch.tiles = tiles;
        if self.spec.needs_old_velocity() {
            let mut tiles = std::mem::take(&mut self.scratch.old_tiles);
            self.scatter(0.0, &mut tiles);
            self.scratch.old_tiles = tiles;
        }
    }

    fn scatter(&self, dt: f32, tiles: &mut [f32]) {
        let s = &self.scratch;
        let params = ScatterParams {
            dx: self.spec.dx as f32,
            dt,
            density: &self.density,
        };
        tiles.par_chunks_mut(self.tile_len()).enumerate().for_each(|(b, tile)| {
            tile.fill(0.0);
            let packets = packets_of(&self.packets, s.ranges[b]);
            let coord = blocks::unpack(s.topology.particle_keys[b]);
            with_kernel!(self.level, self.dimensions, self.spec.kernel, simd, D, K => {
                let frame = TileFrame::new::<D, K>(self.cells, coord);
                particles_to_grid::scatter_block::<_, D, K>(simd, packets, &frame, &params, tile)
            });
        });
    }

    fn update_grid(&mut self, cx: &mut StepContext<'_>) {
        let (level, dimensions, kernel) = (self.level, self.dimensions, self.spec.kernel);
        let s = &mut self.scratch;
        let params = GridParams {
            dt: cx.dt,
            dx: self.spec.dx as f32,
            origin: Vec3::from(self.cells.origin),
            gravity: match self.dimensions {
                Dimensions::Two => cx.gravity.with_z(0.0),
                Dimensions::Three => cx.gravity,
            },
            colliders: cx.colliders,
        };
        let bodies = cx.colliders.list.len();
        let tasks = s.topology.grid_keys.len().div_ceil(BLOCKS_PER_TASK);
        s.impulses.clear();
        s.impulses
            .resize(tasks * bodies.max(1), BodyImpulse::default());
        s.contacts.resize_with(tasks, Vec::new);
        let (topology, tiles) = (&s.topology, &s.tiles);
        s.nodes
            .par_chunks_mut(BLOCK_FLOATS * BLOCKS_PER_TASK)
            .zip(s.impulses.par_chunks_mut(bodies.max(1)))
            .zip(s.contacts.par_iter_mut())
            .enumerate()
            .for_each(|(task, ((nodes, impulses), contacts))| {
                contacts.clear();
                for (i, block) in nodes.chunks_mut(BLOCK_FLOATS).enumerate() {
                    let g = task * BLOCKS_PER_TASK + i;
                    let around = &topology.particles_around[g];
                    with_kernel!(level, dimensions, kernel, simd, D, K => {
                        sum_tiles::<_, D, K>(simd, block, around, tiles);
                        grid_update::accelerate(simd, block, params.gravity * params.dt)
                    });
                    let coord = blocks::unpack(topology.grid_keys[g]);
                    let contacts = (i * BLOCK_FLOATS / NODE, &mut *contacts);
                    grid_update::collide_block(block, coord, &params, impulses, contacts);
                }
            });
        for task in s.impulses.chunks(bodies.max(1)) {
            for (total, part) in cx.impulses.bodies.iter_mut().zip(task) {
                *total += *part;
            }
        }
        let nodes = s.nodes.par_chunks_mut(BLOCK_FLOATS * BLOCKS_PER_TASK);
        rigid_contact::solve(nodes, &mut s.contacts, cx);
        if self.spec.needs_old_velocity() {
            let tiles = &s.old_tiles;
            s.old_nodes
                .par_chunks_mut(BLOCK_FLOATS)
                .enumerate()
                .for_each(|(g, block)| {
                    let around = &topology.particles_around[g];
                    with_kernel!(level, dimensions, kernel, simd, D, K => {
                        sum_tiles::<_, D, K>(simd, block, around, tiles);
                        grid_update::accelerate(simd, block, Vec3::ZERO)
                    });
                });
        }
    }

    fn grid_to_particles(&mut self, dt: f32) {
        let params = GatherParams {
            dx: self.spec.dx as f32,
            dt,
            flip: match self.spec.transfer {
                Transfer::Apic => None,
                Transfer::FlipPic { flip } => Some(flip as f32),
            },
            laws: &self.laws,
        };
        let mut packets = std::mem::take(&mut self.packets);
        let mut reports = std::mem::take(&mut self.scratch.reports);
        let s = &self.scratch;
        let this = &*self;
        let gather = |b: usize, packets: &mut [Packet], report: &mut BlockReport| {
            let coord = blocks::unpack(s.topology.particle_keys[b]);
            let around = &s.topology.grid_around[b];
            *report = with_kernel!(this.level, this.dimensions, this.spec.kernel, simd, D, K => {
                let frame = TileFrame::new::<D, K>(this.cells, coord);
                let tile = velocity_tile::<_, D, K>(simd, &s.nodes, around);
                let old = this.spec.needs_old_velocity().then(|| velocity_tile::<_, D, K>(simd, &s.old_nodes, around));
                let old = old.as_ref().map(|t| &t[..]);
                grid_to_particles::gather_block::<_, D, K>(simd, packets, &frame, &params, &tile, old)
            });
        };
        for_each_block(0, &s.ranges, &mut packets, &mut reports, &gather);
        self.packets = packets;
        self.scratch.reports = reports;
    }

    /// Collects the blocks' reports; a value that is not finite ends the run.
    fn check_finite(&mut self, dt: f32) -> Result<(), SolverError> {
        let mut fastest = 0.0f32;
        for (report, range) in self.scratch.reports.iter().zip(&self.scratch.ranges) {
            if let Some((packet, lane)) = report.not_finite {
                let (packet, lane) = (
                    &self.packets[(range.first + packet) as usize],
                    lane as usize,
                );
                let quantity = if packet.velocity_of(lane).is_finite() {
                    "deformation"
                } else {
                    "velocity"
                };
                let (id, position) = (packet.id[lane], packet.position_of(lane));
                return Err(SolverError::NotFinite {
                    id,
                    position,
                    quantity,
                    dt,
                });
            }
            fastest = fastest.max(report.max_speed_squared);
            self.needs_sort |= report.escaped;
        }
        self.max_speed = fastest.sqrt();
        Ok(())
    }
}

impl Solver for Mpm {
    fn emit(&mut self, batch: &Samples) -> Result<(), SolverError> {
        if let Some(i) = batch
            .position
            .iter()
            .position(|p| !self.cells.can_address(*p))
        {
            return Err(SolverError::OutOfRange {
                id: batch.first_id + i as u32,
                position: batch.position[i],
            });
        }
        let first = self.packets.len();
        particles::packets_from(batch, &mut self.packets);
        if self.spec.transfer != Transfer::Apic {
            // No other transfer renews C: a spinning fill would be driven for ever.
            for packet in &mut self.packets[first..] {
                packet.affine = Packet::EMPTY.affine;
            }
        }
        self.count += batch.position.len();
        let fastest = batch
            .velocity
            .iter()
            .map(|v| v.length())
            .fold(0.0, f32::max);
        self.max_speed = self.max_speed.max(fastest);
        self.needs_sort = true;
        Ok(())
    }

    fn remove(&mut self, region: &Region<'_>) -> Result<usize, SolverError> {
        let removed: usize = self
            .packets
            .par_iter_mut()
            .map(|packet| {
                let mut count = 0;
                for lane in 0..packet.len as usize {
                    if packet.volume[lane] > 0.0 && region.contains(packet.position_of(lane)) {
                        packet.volume[lane] = 0.0;
                        count += 1;
                    }
                }
                count
            })
            .sum();
        self.count -= removed;
        self.needs_sort |= removed > 0;
        Ok(removed)
    }

    fn particles(&self) -> usize {
        self.count
    }

    fn host_view(&self) -> Option<ParticlesView<'_>> {
        Some(ParticlesView::of_packets(&self.packets))
    }

    fn set_material(&mut self, index: usize, material: &Material) -> Result<(), SolverError> {
        let same_kind =
            |m: &Material| std::mem::discriminant(&m.law) == std::mem::discriminant(&material.law);
        match self.materials.get_mut(index) {
            Some(own) if same_kind(own) && own.density == material.density => {
                *own = material.clone();
            }
            _ => return Err(refusal::changed("mpm", material)),
        }
        self.laws[index] = prepared_law(material, self.dimensions);
        self.elastic_dt = elastic_dt(&self.spec, &self.materials);
        Ok(())
    }

    fn pace(&mut self) -> Result<Pace, SolverError> {
        let spec = &self.spec;
        let moving = spec.cfl as f32 * spec.dx as f32 / self.max_speed;
        let (max_dt, elastic) = (MpmSpec::USUAL_MAX_DT, MpmSpec::USUAL_ELASTIC_CFL);
        Ok(Pace::Bounded {
            bounds: [
                Bound::at_rest(spec.max_dt as f32, "solver.mpm.max_dt", spec.max_dt, max_dt),
                Bound::at_rest(
                    self.elastic_dt,
                    "solver.mpm.elastic_cfl",
                    spec.elastic_cfl,
                    elastic,
                ),
                Bound::in_motion(moving, "solver.mpm.cfl", spec.cfl, MpmSpec::USUAL_CFL),
                Bound::NONE,
            ],
            travel: spec.cfl * spec.dx,
        })
    }

    fn step(&mut self, cx: &mut StepContext<'_>) -> Result<StepStats, SolverError> {
        let start = Stopwatch::new();
        self.sort_into_blocks()?;
        let start = start.lap(cx, "sort");
        self.particles_to_grid(cx.dt); // mass, momentum, −Σ V⁰ τ ∇w           Eq. 7, 9, 23
        let start = start.lap(cx, "particles to grid");
        self.update_grid(cx); //          forces, collisions, friction         Eq. 10, §8
        let start = start.lap(cx, "grid");
        self.grid_to_particles(cx.dt); // APIC, Δt ∇v, plasticity, hardening   Eq. 11–17, 27–31
        start.lap(cx, "grid to particles");
        self.check_finite(cx.dt)?;
        Ok(StepStats {
            max_speed: self.max_speed,
            ..StepStats::default()
        })
    }

    fn download(&mut self, columns: &Columns<'_>, out: &mut Frame) -> Result<(), SolverError> {
        self.write_columns(columns, out);
        Ok(())
    }

    fn save(&mut self, out: &mut Checkpoint) -> Result<(), SolverError> {
        // The state stands in memory twice now; the next sort takes its room again.
        self.scratch.sorter.release();
        self.save_state(out);
        Ok(())
    }

    fn load(&mut self, from: &Checkpoint) -> Result<(), SolverError> {
        self.load_state(from)
    }
}

/// Speed of the fastest elastic wave of a material [m/s].
pub fn wave_speed(m: &Material) -> f64 {
    let (young, poisson) = match &m.law {
        Law::Sand(law) => (law.young, law.poisson),
        Law::Elastic(law) => (law.young, law.poisson),
    };
    material::wave_speed(young, poisson, m.density)
}

fn cell_frame(scene: &Scene, spec: &MpmSpec) -> Result<CellFrame, SolverError> {
    let mut frame = CellFrame {
        origin: [0.0; 3],
        inv_dx: (1.0 / spec.dx) as f32,
        base_offset: match spec.kernel {
            Kernel::Quadratic => bspline::base_offset::<3>(),
            Kernel::Cubic => bspline::base_offset::<4>(),
        },
        period: [0; 3],
        flat: scene.dimensions == Dimensions::Two,
    };
    let Some(domain) = scene.domain else {
        return Ok(frame);
    };
    for axis in (0..3).filter(|&a| scene.periodic[a]) {
        frame.origin[axis] = domain.min[axis];
        let length = f64::from(domain.max[axis] - domain.min[axis]);
        let blocks = length / (spec.dx * f64::from(BLOCK));
        if blocks.round() < 1.0 || (blocks - blocks.round()).abs() > 1e-3 {
            let whole = blocks.round().max(1.0) * f64::from(BLOCK) * spec.dx;
            return Err(SolverError::unsupported(
                "domain.periodic",
                format!(
                    "a periodic domain must span whole blocks of {BLOCK} cells: along {} it spans {:.3} cells of {} m",
                    ['x', 'y', 'z'][axis],
                    length / spec.dx,
                    spec.dx
                ),
                format!("make it {whole} m, or change solver.resolution"),
            ));
        }
        frame.period[axis] = blocks.round() as i32;
    }
    Ok(frame)
}

fn packets_of(packets: &[Packet], range: PacketRange) -> &[Packet] {
    &packets[range.first as usize..(range.first + range.count) as usize]
}

/// Floats of a particle block's tile.
fn tile_len(dimensions: Dimensions, kernel: Kernel) -> usize {
    match (dimensions, kernel) {
        (Dimensions::Three, Kernel::Quadratic) => Tile::<3, 3>::LEN,
        (Dimensions::Three, Kernel::Cubic) => Tile::<3, 4>::LEN,
        (Dimensions::Two, Kernel::Quadratic) => Tile::<2, 3>::LEN,
        (Dimensions::Two, Kernel::Cubic) => Tile::<2, 4>::LEN,
    }
}

/// A grid block as the sum of the tiles that overlap it, in the fixed order of neighbours.
#[inline(always)]
fn sum_tiles<S: Simd, const D: usize, const K: usize>(
    simd: S,
    block: &mut [f32],
    around: &[u32; 27],
    tiles: &[f32],
) {
    block.fill(0.0);
    for (offset, &p) in blocks::NEIGHBOURS.iter().zip(around) {
        if p != NONE {
            let first = p as usize * Tile::<D, K>::LEN;
            let tile = &tiles[first..first + Tile::<D, K>::LEN];
            Tile::<D, K>::add_overlap(simd, block, tile, *offset);
        }
    }
}

/// Room for the largest tile: 3D, cubic.
const MAX_TILE: usize = Tile::<3, 4>::LEN;

/// The velocities around a block, as a tile.
#[inline(always)]
fn velocity_tile<S: Simd, const D: usize, const K: usize>(
    simd: S,
    nodes: &[f32],
    around: &[u32; 27],
) -> [f32; MAX_TILE] {
    let mut tile = [0.0; MAX_TILE];
    for (offset, &g) in blocks::NEIGHBOURS.iter().zip(around) {
        if g != NONE {
            let first = g as usize * BLOCK_FLOATS;
            let block = &nodes[first..first + BLOCK_FLOATS];
            Tile::<D, K>::copy_overlap(simd, &mut tile, block, *offset);
        }
    }
    tile
}

/// Calls `f` for each block with its packets, in parallel, splitting in halves.
fn for_each_block<F>(
    first: usize,
    ranges: &[PacketRange],
    packets: &mut [Packet],
    reports: &mut [BlockReport],
    f: &F,
) where
    F: Fn(usize, &mut [Packet], &mut BlockReport) + Sync,
{
    if ranges.len() <= 2 {
        let mut rest = packets;
        for (i, (range, report)) in ranges.iter().zip(reports).enumerate() {
            let (own, others) = rest.split_at_mut(range.count as usize);
            f(first + i, own, report);
            rest = others;
        }
        return;
    }
    let half = ranges.len() / 2;
    let (left, right) = ranges.split_at(half);
    let (left_packets, right_packets) =
        packets.split_at_mut((right[0].first - left[0].first) as usize);
    let (left_reports, right_reports) = reports.split_at_mut(half);
    rayon::join(
        || for_each_block(first, left, left_packets, left_reports, f),
        || for_each_block(first + half, right, right_packets, right_reports, f),
    );
}

/// Memory of a run at its peak [bytes]: packets twice (the sort), tiles, nodes, and the columns of a frame and a checkpoint.
pub fn memory_estimate(spec: &MpmSpec, dimensions: Dimensions, particles: usize) -> u64 {
    let packets = 2.0 * size_of::<Packet>() as f64 / LANES as f64;
    let sorting = 12.0;
    let columns = 45.0 + 140.0;
    let cells_of_block = match dimensions {
        Dimensions::Three => 64.0,
        Dimensions::Two => 16.0,
    };
    let tile = tile_len(dimensions, spec.kernel);
    // Surfaces leave blocks half full and surround them with empty grid blocks.
    let grid = 2.0 * (4.0 * tile as f64 + 3.0 * (4 * BLOCK_FLOATS) as f64 + 400.0);
    let per_block = cells_of_block * spec.particles_per_cell;
    let per_particle = 1.1 * (packets + sorting) + columns + grid / per_block;
    // The cast saturates.
    (particles as f64 * per_particle + f64::from(16 << 20)) as u64
}
