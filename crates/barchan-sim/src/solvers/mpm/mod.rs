//! Explicit MPM for sand, after [Klar16]. Symbols, choices and limits: docs/solvers/mpm.md.

pub mod grid_to_particles;
pub mod grid_update;
mod method;
pub mod particles;
pub mod particles_to_grid;
pub mod passes;
pub mod rigid_contact;
pub mod sort;
mod state;
pub mod transfer;

use crate::contacts::rigid::Impulse;
use crate::grid::field::BLOCKS_PER_TASK;
use crate::grid::tile::{BLOCK_FLOATS, Tile};
use crate::grid::{BLOCK, Field, Tiles, Topology};
use crate::material::{self, PreparedLaw};
use crate::math::bspline;
use crate::math::lanes::{LANES, Row};
use crate::sampling::Samples;
use crate::solver::{
    Bound, Columns, Pace, Region, Solver, SolverError, StepContext, StepStats, Stopwatch,
};
use crate::solvers::refusal;
use crate::view::ParticlesView;
use barchan_frame::{Checkpoint, Frame};
use barchan_scene::{Dimensions, Kernel, Material, MpmSpec, Scene, Transfer};
use fearless_simd::Level;
use glam::Vec3;
use grid_to_particles::BlockReport;
use grid_update::GridParams;
pub use method::METHOD;
use particles::{Packet, Rows};
use passes::Passes;
use rayon::prelude::*;
use rigid_contact::Contact;
use sort::{CellFrame, PacketRange, Sorter};

/// Explicit material point method.
pub struct Mpm {
    spec: MpmSpec,
    dimensions: Dimensions,
    level: Level,
    materials: Vec<Material>,
    laws: Vec<PreparedLaw>,
    density: Vec<f32>,
    /// Columns that the scene requests beside the default ones.
    columns: Vec<&'static str>,
    cells: CellFrame,
    /// Longest stable step for elastic waves [s].
    elastic_dt: f32,

    packets: Vec<Packet>,
    /// State of the laws, by packet.
    state: Rows,
    count: usize,
    max_speed: f32,
    needs_sort: bool,
    scratch: Scratch,
}

/// Scratch of a step, not part of a checkpoint.
#[derive(Default)]
struct Scratch {
    sorter: Sorter,
    topology: Topology,
    ranges: Vec<PacketRange>,
    reports: Vec<BlockReport>,
    tiles: Tiles,
    /// Momentum, later velocity, and mass.
    velocity: Field,
    /// Velocity before forces, for FLIP.
    old_velocity: Field,
    /// Impulses by task and body.
    impulses: Vec<Impulse>,
    /// Nodes within reach of bodies with mass, by task.
    contacts: Vec<Vec<Contact>>,
}

/// The passes over the present grid; borrows neither particles nor fields.
macro_rules! passes {
    ($mpm:expr) => {
        Passes {
            level: $mpm.level,
            dimensions: $mpm.dimensions,
            kernel: $mpm.spec.kernel,
            cells: $mpm.cells,
            dx: $mpm.spec.dx as f32,
            topology: &$mpm.scratch.topology,
            ranges: &$mpm.scratch.ranges,
            laws: &$mpm.laws,
            density: &$mpm.density,
        }
    };
}

/// The law of each material of a scene.
fn prepared_laws(scene: &Scene) -> Vec<PreparedLaw> {
    let prepared = |m| PreparedLaw::new(m, scene.dimensions);
    scene.materials.iter().map(prepared).collect()
}

/// Longest stable step for elastic waves [s].
fn elastic_dt(spec: &MpmSpec, materials: &[Material]) -> f32 {
    let law = |m: &Material| PreparedLaw::new(m, Dimensions::Three);
    let speeds = materials.iter().map(|m| law(m).wave_speed(m.density));
    let fastest = speeds.fold(0.0, f64::max);
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
        fearless_simd::dispatch!($level, $simd => $call)
    }};
}
use with_kernel;

impl Mpm {
    /// A solver without particles. Refuses scenes that it cannot simulate.
    pub fn new(scene: &Scene, level: Level) -> Result<Self, SolverError> {
        let spec: MpmSpec = scene.settings();
        refusal::check(&METHOD, scene)?;
        let laws = prepared_laws(scene);
        Ok(Self {
            spec,
            dimensions: scene.dimensions,
            level,
            state: Rows::new(material::state_rows(&laws)),
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

    /// Clears C of the packets from `first` on unless the transfer is APIC. Other transfers never update C, so that of a spinning fill
    /// or of an APIC checkpoint would act forever.
    fn clear_unused_affine(&mut self, first: usize) {
        if self.spec.transfer != Transfer::Apic {
            for packet in &mut self.packets[first..] {
                packet.affine = Packet::EMPTY.affine;
            }
        }
    }

    fn sort_into_blocks(&mut self) -> Result<(), SolverError> {
        if !self.needs_sort {
            return Ok(());
        }
        let s = &mut self.scratch;
        s.sorter.sort(
            self.level,
            (&mut self.packets, &mut self.state),
            &self.cells,
            &self.laws,
            &mut s.topology,
            &mut s.ranges,
        )?;
        self.resize_scratch();
        self.needs_sort = false;
        Ok(())
    }

    /// Resizes tiles and fields to the topology.
    fn resize_scratch(&mut self) {
        let tile = tile_len(self.dimensions, self.spec.kernel);
        let s = &mut self.scratch;
        let blocks = s.topology.particle_keys.len();
        s.reports.resize(blocks, BlockReport::default());
        s.tiles.resize(&s.topology, tile);
        s.velocity.resize(&s.topology);
        if self.spec.needs_old_velocity() {
            s.old_velocity.resize(&s.topology);
        }
    }

    fn particles_to_grid(&mut self, dt: f32) {
        let (passes, tiles) = (passes!(self), &mut self.scratch.tiles);
        if self.spec.needs_old_velocity() {
            let old = &mut self.scratch.old_velocity;
            passes.scatter_momentum(&self.packets, tiles);
            passes.sum(tiles, old);
            passes.accelerate(old, Vec3::ZERO);
        }
        passes.scatter(&self.packets, &self.state, dt, tiles);
    }

    fn update_grid(&mut self, cx: &mut StepContext<'_>) {
        let params = self.grid_params(cx);
        let bodies = cx.colliders.list.len();
        let s = &mut self.scratch;
        let tasks = s.topology.grid_keys.len().div_ceil(BLOCKS_PER_TASK);
        s.impulses.clear();
        s.impulses.resize(tasks * bodies.max(1), Impulse::default());
        s.contacts.resize_with(tasks, Vec::new);
        passes!(self).update_grid(
            Some(&self.scratch.tiles),
            &mut self.scratch.velocity,
            &params,
            &mut self.scratch.impulses,
            &mut self.scratch.contacts,
        );
        let s = &mut self.scratch;
        for task in s.impulses.chunks(bodies.max(1)) {
            cx.impulses.add(task);
        }
        rigid_contact::solve(s.velocity.tasks(), &mut s.contacts, cx);
    }

    fn grid_params<'a>(&self, cx: &StepContext<'a>) -> GridParams<'a> {
        GridParams {
            dt: cx.dt,
            dx: self.spec.dx as f32,
            origin: Vec3::from(self.cells.origin),
            gravity: match self.dimensions {
                Dimensions::Two => cx.gravity.with_z(0.0),
                Dimensions::Three => cx.gravity,
            },
            colliders: cx.colliders,
        }
    }

    fn grid_to_particles(&mut self, dt: f32) {
        let old = &self.scratch.old_velocity;
        let old = self.spec.needs_old_velocity().then_some(old);
        passes!(self).advance(
            (&mut self.packets, &mut self.state),
            (&self.scratch.velocity, old),
            (dt, flip(&self.spec)),
            &mut self.scratch.reports,
        );
    }

    /// Bounds by the largest step, elastic waves, and the displacement of particles in a step.
    fn bounds(&self) -> Pace {
        let spec = &self.spec;
        let moving = spec.cfl as f32 * spec.dx as f32 / self.max_speed;
        let most = MpmSpec::DEFAULT_MAX_DT;
        let (elastic, default) = (spec.elastic_cfl, MpmSpec::DEFAULT_ELASTIC_CFL);
        Pace::Bounded {
            bounds: [
                Bound::at_rest(spec.max_dt as f32, "solver.mpm.max_dt", spec.max_dt, most),
                Bound::at_rest(self.elastic_dt, "solver.mpm.elastic_cfl", elastic, default),
                Bound::in_motion(moving, "solver.mpm.cfl", spec.cfl, MpmSpec::DEFAULT_CFL),
                Bound::NONE,
            ],
            travel: spec.cfl * spec.dx,
        }
    }

    /// Collects the reports of the blocks; a value that is not finite is an error.
    fn check_finite(&mut self, dt: f32) -> Result<(), SolverError> {
        let mut fastest = 0.0f32;
        for (report, range) in self.scratch.reports.iter().zip(&self.scratch.ranges) {
            if let Some((packet, lane)) = report.not_finite {
                let packet = &self.packets[(range.first + packet) as usize];
                let lane = lane as usize;
                return Err(SolverError::NotFinite {
                    id: packet.id[lane],
                    position: packet.position_of(lane),
                    quantity: match packet.velocity.iter().all(|row| row[lane].is_finite()) {
                        true => "deformation",
                        false => "velocity",
                    },
                    dt,
                    settings: self.bounds().settings(),
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
        let out_of_range = |p: &Vec3| !self.cells.can_address(*p);
        if let Some(i) = batch.position.iter().position(out_of_range) {
            return Err(SolverError::OutOfRange {
                id: batch.first_id + i as u32,
                position: batch.position[i],
            });
        }
        let first = self.packets.len();
        particles::packets_from(batch, &self.laws, &mut self.packets, &mut self.state);
        self.clear_unused_affine(first);
        self.count += batch.position.len();
        let speeds = batch.velocity.iter().map(|v| v.length());
        self.max_speed = speeds.fold(self.max_speed, f32::max);
        self.needs_sort = true;
        Ok(())
    }

    fn remove(&mut self, region: &Region<'_>) -> Result<usize, SolverError> {
        let remove = |packet: &mut Packet| {
            let mut count = 0;
            for lane in 0..packet.len as usize {
                if packet.volume[lane] > 0.0 && region.contains(packet.position_of(lane)) {
                    packet.volume[lane] = 0.0;
                    count += 1;
                }
            }
            count
        };
        let removed: usize = self.packets.par_iter_mut().map(remove).sum();
        self.count -= removed;
        self.needs_sort |= removed > 0;
        Ok(removed)
    }

    fn particles(&self) -> usize {
        self.count
    }

    fn host_view(&self) -> Option<ParticlesView<'_>> {
        Some(ParticlesView::Packets(&self.packets))
    }

    fn set_material(&mut self, index: usize, material: &Material) -> Result<(), SolverError> {
        let same_kind =
            |m: &Material| std::mem::discriminant(&m.law) == std::mem::discriminant(&material.law);
        match self.materials.get_mut(index) {
            Some(own) if same_kind(own) && own.density == material.density => {
                *own = material.clone();
            }
            _ => return Err(refusal::changed(&METHOD, material)),
        }
        self.laws[index] = PreparedLaw::new(material, self.dimensions);
        self.elastic_dt = elastic_dt(&self.spec, &self.materials);
        Ok(())
    }

    fn pace(&mut self) -> Result<Pace, SolverError> {
        Ok(self.bounds())
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
        // The columns are a second copy of the state in memory: free the third one until the next sort.
        self.scratch.sorter.release();
        self.save_state(out);
        Ok(())
    }

    fn load(&mut self, from: &Checkpoint) -> Result<(), SolverError> {
        self.load_state(from)
    }
}

/// FLIP fraction of the transfer; `None`: APIC.
fn flip(spec: &MpmSpec) -> Option<f32> {
    match spec.transfer {
        Transfer::Apic => None,
        Transfer::FlipPic { flip } => Some(flip as f32),
    }
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

/// Floats of a particle block's tile.
fn tile_len(dimensions: Dimensions, kernel: Kernel) -> usize {
    match (dimensions, kernel) {
        (Dimensions::Three, Kernel::Quadratic) => Tile::<3, 3>::LEN,
        (Dimensions::Three, Kernel::Cubic) => Tile::<3, 4>::LEN,
        (Dimensions::Two, Kernel::Quadratic) => Tile::<2, 3>::LEN,
        (Dimensions::Two, Kernel::Cubic) => Tile::<2, 4>::LEN,
    }
}

/// Memory of a run at its peak [bytes]: packets twice (the sort), tiles, nodes, and the columns of a frame and a checkpoint.
fn memory_estimate(scene: &Scene, particles: usize) -> u64 {
    let (spec, dimensions): (MpmSpec, _) = (scene.settings(), scene.dimensions);
    let state = material::state_rows(&prepared_laws(scene)) * size_of::<Row>();
    let packets = 2.0 * (size_of::<Packet>() + state) as f64 / LANES as f64;
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests;
