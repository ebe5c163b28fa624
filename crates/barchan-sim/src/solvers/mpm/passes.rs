//! The transfers between particles and grid as separate passes, parallel over blocks, in a fixed order.
//!
//! ```text
//! packets, state ──scatter──► tiles ──sum──► field ──accelerate, collide──► field ──gather──► rows ──trial, law──► state
//! ```
//!
//! The explicit step runs two fused passes, [`Passes::scatter`] and [`Passes::advance`]. The others are their parts, for
//! steps that evaluate forces at trial velocities: scatter of momentum and of forces, gather of velocity, gradient and
//! affine moment, trial state and return mapping into rows of their own, without changing the particles.

use super::grid_to_particles::{
    BlockReport, GatherParams, gather_block, gather_part, increment, move_packet, rows_of,
    update_velocity,
};
use super::grid_update::{self, GridParams};
use super::particles::{Packet, Rows, prefetch_state};
use super::particles_to_grid::{FORCES, MOMENTUM, ScatterParams, scatter_block};
use super::rigid_contact::Contact;
use super::sort::{CellFrame, PacketRange};
use super::transfer::TileFrame;
use super::with_kernel;
use crate::contacts::rigid::Impulse;
use crate::grid::field::BLOCKS_PER_TASK;
use crate::grid::tile::BLOCK_FLOATS;
use crate::grid::{BLOCK_NODES, Field, Tiles, Topology, blocks};
use crate::material::PreparedLaw;
use crate::math::Sym3;
use crate::math::lanes::{LANES, Row};
use crate::math::sym3::Mat3;
use barchan_scene::{Dimensions, Kernel};
use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd, dispatch, f32x16};
use glam::Vec3;
use rayon::prelude::*;

/// Packets of a task that evaluates laws.
const PACKETS_PER_TASK: usize = 64;

/// Input of all passes: the geometry of particles and grid, and the materials.
#[derive(Clone, Copy)]
pub struct Passes<'a> {
    /// SIMD level.
    pub level: Level,
    /// Of the scene.
    pub dimensions: Dimensions,
    /// Interpolation kernel.
    pub kernel: Kernel,
    /// Mapping from positions to cells.
    pub cells: CellFrame,
    /// Grid spacing h [m].
    pub dx: f32,
    /// Blocks and their neighbors.
    pub topology: &'a Topology,
    /// Packets of each particle block: all of them, or those of one species, which then has fields of its own.
    pub ranges: &'a [PacketRange],
    /// Law of each material.
    pub laws: &'a [PreparedLaw],
    /// Density of each material [kg/m³].
    pub density: &'a [f32],
}

impl Passes<'_> {
    /// Mass, momentum and the impulse of the stress to the tiles, fused: Σ w m, Σ w m (v + C (x_i − x_p)) − Δt Σ V⁰ τ ∇w.
    pub fn scatter(&self, packets: &[Packet], state: &Rows, dt: f32, tiles: &mut Tiles) {
        self.for_each_tile(packets, dt, tiles, |b, packets, params, tile| {
            let rows = state.per_packet();
            let state = &state.all()[self.ranges[b].first as usize * rows..];
            with_kernel!(self.level, self.dimensions, self.kernel, simd, D, K => {
                let frame = self.frame::<D, K>(b);
                let stress = |p: usize, packet: &Packet| {
                    prefetch_state(state, p + 1, rows);
                    self.laws[packet.material as usize].stress(simd, &state[p * rows..])
                };
                scatter_block::<_, D, K, { MOMENTUM | FORCES }>(simd, packets, stress, &frame, params, tile)
            });
        });
    }

    /// Mass and momentum to the tiles: Σ w m and Σ w m (v + C (x_i − x_p)), Eq. 7 and 9.
    pub fn scatter_momentum(&self, packets: &[Packet], tiles: &mut Tiles) {
        self.for_each_tile(packets, 0.0, tiles, |b, packets, params, tile| {
            with_kernel!(self.level, self.dimensions, self.kernel, simd, D, K => {
                let zero = f32x16::splat(simd, 0.0);
                let none = |_: usize, _: &Packet| Sym3::from_array([zero; 6]);
                scatter_block::<_, D, K, MOMENTUM>(simd, packets, none, &self.frame::<D, K>(b), params, tile)
            });
        });
    }

    /// Forces of a given Kirchhoff stress (six rows a packet, [Pa]) times `scale` to the tiles: −`scale` Σ V⁰ τ ∇w, Eq. 23.
    pub fn scatter_forces(&self, packets: &[Packet], stress: &Rows, scale: f32, tiles: &mut Tiles) {
        self.for_each_tile(packets, scale, tiles, |b, packets, params, tile| {
            let first = self.ranges[b].first as usize;
            with_kernel!(self.level, self.dimensions, self.kernel, simd, D, K => {
                let given = |p: usize, _: &Packet| {
                    Sym3::from_array(load(simd, stress.of(first + p)))
                };
                scatter_block::<_, D, K, FORCES>(simd, packets, given, &self.frame::<D, K>(b), params, tile)
            });
        });
    }

    fn for_each_tile(
        &self,
        packets: &[Packet],
        dt: f32,
        tiles: &mut Tiles,
        scatter: impl Fn(usize, &[Packet], &ScatterParams<'_>, &mut [f32]) + Sync,
    ) {
        let params = ScatterParams {
            dx: self.dx,
            dt,
            density: self.density,
        };
        tiles.each_mut().enumerate().for_each(|(b, tile)| {
            tile.fill(0.0);
            scatter(b, packets_of(packets, self.ranges[b]), &params, tile);
        });
    }

    #[inline(always)]
    fn frame<const D: usize, const K: usize>(&self, block: usize) -> TileFrame {
        let coord = blocks::unpack(self.topology.particle_keys[block]);
        TileFrame::new::<D, K>(self.cells, coord)
    }

    /// The field that the tiles add up to.
    pub fn sum(&self, tiles: &Tiles, field: &mut Field) {
        field.blocks_mut().enumerate().for_each(|(g, block)| {
            let neighbors = &self.topology.particle_neighbors[g];
            with_kernel!(self.level, self.dimensions, self.kernel, simd, D, K => {
                tiles.sum_into::<_, D, K>(simd, block, neighbors)
            });
        });
    }

    /// Momentum → velocity, plus `kick` = Δt g [m/s]: Eq. 10.
    pub fn accelerate(&self, field: &mut Field, kick: Vec3) {
        field.blocks_mut().for_each(
            |block| dispatch!(self.level, simd => grid_update::accelerate(simd, block, kick)),
        );
    }

    /// Sums the tiles if there are any, turns momentum into velocity, and collides with the bodies, block by block: §8. Reactions on
    /// bodies are added to `impulses`, a list for each task; nodes within reach of a body with mass are listed in `contacts`.
    pub fn update_grid(
        &self,
        tiles: Option<&Tiles>,
        field: &mut Field,
        params: &GridParams<'_>,
        impulses: &mut [Impulse],
        contacts: &mut [Vec<Contact>],
    ) {
        let bodies = params.colliders.list.len().max(1);
        let tasks = field.tasks().zip(impulses.par_chunks_mut(bodies));
        let tasks = tasks.zip(contacts).enumerate();
        tasks.for_each(|(task, ((nodes, impulses), contacts))| {
            contacts.clear();
            for (i, block) in nodes.chunks_mut(BLOCK_FLOATS).enumerate() {
                let g = task * BLOCKS_PER_TASK + i;
                if let Some(tiles) = tiles {
                    let neighbors = &self.topology.particle_neighbors[g];
                    with_kernel!(self.level, self.dimensions, self.kernel, simd, D, K => {
                        tiles.sum_into::<_, D, K>(simd, block, neighbors);
                        grid_update::accelerate(simd, block, params.gravity * params.dt)
                    });
                }
                let coord = blocks::unpack(self.topology.grid_keys[g]);
                let contacts = (i * BLOCK_NODES, &mut *contacts);
                grid_update::collide_block(block, coord, params, impulses, contacts);
            }
        });
    }

    /// Gathers one quantity from a field of velocities into `out`, row by row: [`VELOCITY`], [`GRADIENT`] or [`MOMENT`], Eq. 11, 12
    /// and 15.
    ///
    /// [`VELOCITY`]: super::grid_to_particles::VELOCITY
    /// [`GRADIENT`]: super::grid_to_particles::GRADIENT
    /// [`MOMENT`]: super::grid_to_particles::MOMENT
    pub fn gather<const PART: usize>(&self, packets: &[Packet], field: &Field, out: &mut Rows) {
        if out.per_packet() != rows_of(PART) {
            *out = Rows::new(rows_of(PART));
        }
        out.resize(packets.len(), 0.0);
        let gather = |b: usize, (_, out, _): Parts<'_, ()>, _: &mut ()| {
            let packets = packets_of(packets, self.ranges[b]);
            let neighbors = &self.topology.grid_neighbors[b];
            with_kernel!(self.level, self.dimensions, self.kernel, simd, D, K => {
                let frame = self.frame::<D, K>(b);
                let tile = field.tile::<_, D, K>(simd, neighbors);
                gather_part::<_, D, K, PART>(simd, packets, &frame, &tile, out);
            });
        };
        // The packets are read only, and there is no report.
        let (mut unchanged, mut reports) = (vec![(); packets.len()], vec![(); self.ranges.len()]);
        let parts = (&mut unchanged[..], out.all_mut(), rows_of(PART));
        for_each_block((0, 0), self.ranges, parts, &mut reports, &gather);
    }

    /// The states after Δt ∇v of the given gradients ([`GRADIENT`](super::grid_to_particles::GRADIENT)), before projection: Eq. 16.
    pub fn trial(
        &self,
        packets: &[Packet],
        state: &Rows,
        gradient: &Rows,
        dt: f32,
        trial: &mut Rows,
    ) {
        trial.resize(packets.len(), 0.0);
        let (state, gradient) = (state.packets(), gradient.packets());
        let all = (packets, state, gradient, trial.packets_mut()).into_par_iter();
        let all = all.with_min_len(PACKETS_PER_TASK);
        all.for_each(|(packet, state, gradient, trial)| {
            let law = &self.laws[packet.material as usize];
            dispatch!(self.level, simd => {
                let increment = increment(&matrix(simd, gradient), dt / self.dx);
                law.trial(simd, state, &increment, trial)
            });
        });
    }

    /// Return mapping of trial states, in place, with the flags of the laws: Eq. 17, 27–31. The particles
    /// are unchanged: a residual can be evaluated at any trial state.
    pub fn return_map(&self, packets: &[Packet], state: &mut Rows, flags: &mut [[u8; LANES]]) {
        let all = (packets, state.packets_mut(), flags).into_par_iter();
        let all = all.with_min_len(PACKETS_PER_TASK);
        all.for_each(|(packet, state, flags)| {
            let law = &self.laws[packet.material as usize];
            with_kernel!(self.level, self.dimensions, self.kernel, simd, D, _K => {
                law.return_map::<_, D>(simd, state, flags);
            });
        });
    }

    /// Kirchhoff stress [Pa] of states, six rows a packet.
    pub fn stress(&self, packets: &[Packet], state: &Rows, stress: &mut Rows) {
        stress.resize(packets.len(), 0.0);
        let all = (packets, state.packets(), stress.packets_mut()).into_par_iter();
        let all = all.with_min_len(PACKETS_PER_TASK);
        all.for_each(|(packet, state, stress)| {
            let law = &self.laws[packet.material as usize];
            dispatch!(self.level, simd => {
                let tau = law.stress(simd, state).to_array();
                for (row, tau) in stress.iter_mut().zip(tau) {
                    tau.store_array(&mut row.0);
                }
            });
        });
    }

    fn gather_params(&self, state: &Rows, dt: f32, flip: Option<f32>) -> GatherParams<'_> {
        GatherParams {
            dx: self.dx,
            dt,
            flip,
            laws: self.laws,
            state_rows: state.per_packet(),
        }
    }

    /// Velocity, affine velocity and position of the particles, fused with trial and return mapping: Eq. 11–17, 27–31.
    /// `old`: the velocities before forces, for FLIP.
    pub fn advance(
        &self,
        (packets, state): (&mut [Packet], &mut Rows),
        (field, old): (&Field, Option<&Field>),
        (dt, flip): (f32, Option<f32>),
        reports: &mut [BlockReport],
    ) {
        let params = self.gather_params(state, dt, flip);
        let advance = |b: usize,
                       (packets, state, _): Parts<'_, Packet>,
                       report: &mut BlockReport| {
            let neighbors = &self.topology.grid_neighbors[b];
            *report = with_kernel!(self.level, self.dimensions, self.kernel, simd, D, K => {
                let tile = field.tile::<_, D, K>(simd, neighbors);
                let old = old.map(|old| old.tile::<_, D, K>(simd, neighbors));
                let old = old.as_ref().map(|t| &t[..]);
                gather_block::<_, D, K>(simd, (packets, state), &self.frame::<D, K>(b), &params, &tile, old)
            });
        };
        let particles = (packets, state.all_mut(), params.state_rows);
        for_each_block((0, 0), self.ranges, particles, reports, &advance);
    }

    /// Velocity, affine velocity and position from the gathered quantities: Eq. 11–13, or the FLIP/PIC blend with `before`, the
    /// velocity gathered from the field before forces. Reports like [`Self::advance`].
    pub fn move_particles(
        &self,
        (packets, state): (&mut [Packet], &mut Rows),
        (velocity, moment, before): (&Rows, &Rows, Option<&Rows>),
        (dt, flip): (f32, Option<f32>),
        reports: &mut [BlockReport],
    ) {
        let params = self.gather_params(state, dt, flip);
        let rows = params.state_rows;
        let advance = |b: usize,
                       (packets, state, _): Parts<'_, Packet>,
                       report: &mut BlockReport| {
            *report = BlockReport::default();
            let first = self.ranges[b].first as usize;
            with_kernel!(self.level, self.dimensions, self.kernel, simd, D, K => {
                let frame = self.frame::<D, K>(b);
                for (p, (packet, state)) in packets.iter_mut().zip(state.chunks_exact(rows)).enumerate() {
                    let v = load(simd, velocity.of(first + p));
                    let before = before.map(|old| load(simd, old.of(first + p)));
                    let moment = matrix(simd, moment.of(first + p));
                    update_velocity::<_, K>(simd, packet, &v, &moment, before, &params);
                    let moved = move_packet::<_, D, K>(simd, packet, &v, &frame, dt);
                    let strain = self.laws[packet.material as usize].strain_magnitude(simd, state);
                    report.add(packet, p as u32, moved, strain);
                }
            });
        };
        let particles = (packets, state.all_mut(), rows);
        for_each_block((0, 0), self.ranges, particles, reports, &advance);
    }
}

#[inline(always)]
fn load<S: Simd, const N: usize>(simd: S, rows: &[Row]) -> [f32x16<S>; N] {
    std::array::from_fn(|i| f32x16::load_array_ref(simd, &rows[i].0))
}

/// Nine rows as a matrix.
#[inline(always)]
fn matrix<S: Simd>(simd: S, rows: &[Row]) -> Mat3<f32x16<S>> {
    let rows: [f32x16<S>; 9] = load(simd, rows);
    std::array::from_fn(|row| std::array::from_fn(|column| rows[3 * row + column]))
}

/// Packets of a block.
pub(super) fn packets_of(packets: &[Packet], range: PacketRange) -> &[Packet] {
    &packets[range.first as usize..(range.first + range.count) as usize]
}

/// Packets, their rows, and the number of rows per packet.
type Parts<'a, P> = (&'a mut [P], &'a mut [Row], usize);

/// The parts of the first `count` packets and of the rest.
fn split<P>((packets, rows, of_each): Parts<'_, P>, count: usize) -> [Parts<'_, P>; 2] {
    let (packets, other_packets) = packets.split_at_mut(count);
    let (rows, other_rows) = rows.split_at_mut(count * of_each);
    [
        (packets, rows, of_each),
        (other_packets, other_rows, of_each),
    ]
}

/// Calls `f` for each block with its part of `all`, in parallel by recursive bisection. `first`: the block and the packet
/// at which ranges and parts begin. Packets between ranges belong to another species and are skipped.
fn for_each_block<P: Send, R: Send>(
    first: (usize, u32),
    ranges: &[PacketRange],
    all: Parts<'_, P>,
    reports: &mut [R],
    f: &(impl Fn(usize, Parts<'_, P>, &mut R) + Sync),
) {
    let (block, mut at) = first;
    if ranges.len() <= 2 {
        let mut rest = all;
        for (i, (range, report)) in ranges.iter().zip(reports).enumerate() {
            let [_, own] = split(rest, (range.first - at) as usize);
            let [own, others] = split(own, range.count as usize);
            f(block + i, own, report);
            (rest, at) = (others, range.first + range.count);
        }
        return;
    }
    let half = ranges.len() / 2;
    let (left, right) = ranges.split_at(half);
    let [left_parts, right_parts] = split(all, (right[0].first - at) as usize);
    let (left_reports, right_reports) = reports.split_at_mut(half);
    let middle = (block + half, right[0].first);
    rayon::join(
        || for_each_block(first, left, left_parts, left_reports, f),
        || for_each_block(middle, right, right_parts, right_reports, f),
    );
}
