//! Sorting particles into blocks: a stable counting sort by block, material and cell.
//!
//! It runs when a particle has left the rim of its block, and after particles were added or removed. A checkpoint keeps the
//! block of each particle, so that a resumed run sorts in the same steps as an uninterrupted one.

use super::particles::{Packet, Rows, pad};
use crate::grid::blocks::{self, Period, Topology};
use crate::grid::{BLOCK, BLOCK_NODES, MAX_BLOCK};
use crate::material::{ConstitutiveLaw, PreparedLaw, with_law};
use crate::math::lanes::{LANES, Row};
use crate::solver::SolverError;
use fearless_simd::{Level, dispatch};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};

/// Marks an empty lane.
const NO_PARTICLE: u64 = u64::MAX;

/// Packets of a block: `first..first + count`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PacketRange {
    /// First packet.
    pub first: u32,
    /// Number of packets.
    pub count: u32,
}

/// Mapping from positions to cells and blocks.
#[derive(Debug, Clone, Copy)]
pub struct CellFrame {
    /// Corner of cell (0, 0, 0) [m].
    pub origin: [f32; 3],
    /// 1/h [1/m].
    pub inv_dx: f32,
    /// Offset from a particle to the base of its stencil [cells].
    pub base_offset: f32,
    /// Period in blocks; 0 along axes that are not periodic.
    pub period: Period,
    /// 2D.
    pub flat: bool,
}

impl CellFrame {
    /// Whether a position [m] lies within the addressable cells, with a margin for the stencil.
    pub fn can_address(&self, position: glam::Vec3) -> bool {
        let cells = (position - glam::Vec3::from(self.origin)) * self.inv_dx;
        cells.abs().max_element() < ((MAX_BLOCK - 2) * BLOCK) as f32
    }
}

/// Parts of the particles that are counted in parallel; the result is the same for any number.
const PARTS: usize = 8;

/// Scratch of the sort, reused between calls.
#[derive(Debug, Default)]
pub struct Sorter {
    /// Key of each particle's block; later its bin: block, material, cell.
    keys: Vec<[u64; LANES]>,
    cells: Vec<[u8; LANES]>,
    found: [Vec<u64>; PARTS],
    /// For each bin and part the number of particles; later the next free slot.
    counts: [Vec<u32>; PARTS],
    sources: Vec<AtomicU32>,
    spare: Vec<Packet>,
    spare_state: Option<Rows>,
}

impl Sorter {
    /// Sorts `packets` with the `state` of their laws and rebuilds `topology` and the packet range of each particle block.
    pub fn sort(
        &mut self,
        level: Level,
        (packets, state): (&mut Vec<Packet>, &mut Rows),
        frame: &CellFrame,
        laws: &[PreparedLaw],
        topology: &mut Topology,
        ranges: &mut Vec<PacketRange>,
    ) -> Result<(), SolverError> {
        let materials = laws.len();
        self.find_keys(level, packets, frame)?;
        if self.find_blocks(topology) {
            topology.rebuild(frame.period, frame.flat);
        }
        self.find_bins(packets, materials, topology);
        let bins = topology.particle_keys.len() * materials * BLOCK_NODES;
        self.count_bins(bins);
        let total = self.lay_out_runs(materials, topology, ranges);
        self.choose_sources(total);
        self.move_particles(packets, state, laws, total);
        Ok(())
    }

    /// Frees the largest part of the memory until the next sort.
    pub fn release(&mut self) {
        self.spare = Vec::new();
        self.spare_state = None;
    }

    /// Block of every particle; positions wrap into the period.
    fn find_keys(
        &mut self,
        level: Level,
        packets: &mut [Packet],
        frame: &CellFrame,
    ) -> Result<(), SolverError> {
        self.keys.resize(packets.len(), [NO_PARTICLE; LANES]);
        self.cells.resize(packets.len(), [0; LANES]);
        let all = (&mut self.keys, &mut self.cells, packets).into_par_iter();
        let lost = all
            .filter_map(|(keys, cells, packet)| {
                // Not for SIMD lanes: without the instructions of this level, `floor` is a function call.
                dispatch!(level, _simd => keys_of(packet, keys, cells, frame))
            })
            .min_by_key(|(id, _)| *id);
        match lost {
            None => Ok(()),
            Some((id, position)) => Err(SolverError::OutOfRange { id, position }),
        }
    }

    /// Writes the distinct keys, sorted, into the topology. Returns whether they have changed.
    fn find_blocks(&mut self, topology: &mut Topology) -> bool {
        let part = self.keys.len().div_ceil(PARTS).max(1);
        self.found.iter_mut().for_each(Vec::clear);
        let parts = (&mut self.found, self.keys.par_chunks(part)).into_par_iter();
        parts.for_each(|(found, keys)| {
            let mut last = NO_PARTICLE;
            for &key in keys.iter().flatten() {
                if key != last && key != NO_PARTICLE {
                    found.push(key);
                    last = key;
                }
            }
            found.sort_unstable();
            found.dedup();
        });
        let [merged, others @ ..] = &mut self.found;
        for other in others {
            merged.extend_from_slice(other);
        }
        merged.sort_unstable();
        merged.dedup();
        let changed = topology.particle_keys != *merged;
        if changed {
            topology.particle_keys.clone_from(merged);
        }
        changed
    }

    /// Turns the block of every particle into its bin: block, material, cell. Consecutive particles mostly share a block, so the
    /// last lookup is kept.
    fn find_bins(&mut self, packets: &[Packet], materials: usize, topology: &Topology) {
        let all = (&mut self.keys, &self.cells, packets).into_par_iter();
        all.for_each(|(keys, cells, packet)| {
            let (mut last, mut block) = (NO_PARTICLE, 0);
            for (key, &cell) in keys.iter_mut().zip(cells) {
                if *key == NO_PARTICLE {
                    continue;
                }
                if *key != last {
                    last = *key;
                    block = topology.rank(last).unwrap_or_default() as usize;
                }
                let run = block * materials + packet.material as usize;
                *key = (run * BLOCK_NODES + cell as usize) as u64;
            }
        });
    }

    /// Counts the particles of each bin in each part.
    fn count_bins(&mut self, bins: usize) {
        let part = self.keys.len().div_ceil(PARTS).max(1);
        for counts in &mut self.counts {
            counts.clear();
            counts.resize(bins, 0);
        }
        let parts = (&mut self.counts, self.keys.par_chunks(part)).into_par_iter();
        parts.for_each(|(counts, keys)| {
            for &bin in keys.iter().flatten().filter(|bin| **bin != NO_PARTICLE) {
                counts[bin as usize] += 1;
            }
        });
    }

    /// Prefix sum: turns counts into the first slot of each bin and part; runs of a material start with a packet of their
    /// own. Returns the number of packets.
    fn lay_out_runs(
        &mut self,
        materials: usize,
        topology: &Topology,
        ranges: &mut Vec<PacketRange>,
    ) -> usize {
        ranges.clear();
        let mut next = 0usize;
        for block in 0..topology.particle_keys.len() {
            let first = next;
            for run in block * materials..(block + 1) * materials {
                let mut slot = next * LANES;
                for bin in run * BLOCK_NODES..(run + 1) * BLOCK_NODES {
                    for counts in &mut self.counts {
                        let particles = counts[bin] as usize;
                        counts[bin] = slot as u32;
                        slot += particles;
                    }
                }
                next = slot.div_ceil(LANES);
            }
            ranges.push(PacketRange {
                first: first as u32,
                count: (next - first) as u32,
            });
        }
        next
    }

    /// Finds the old slot of each new slot. Parts write to distinct slots, so the order of threads does not matter.
    fn choose_sources(&mut self, total: usize) {
        self.sources
            .resize_with(total * LANES, || AtomicU32::new(blocks::NONE));
        let sources = &self.sources;
        let all = sources.par_iter().with_min_len(4096);
        all.for_each(|source| source.store(blocks::NONE, Ordering::Relaxed));
        let part = self.keys.len().div_ceil(PARTS).max(1);
        let parts = (&mut self.counts, self.keys.par_chunks(part)).into_par_iter();
        parts.enumerate().for_each(|(index, (next, keys))| {
            let first = index * part * LANES;
            for (slot, &bin) in (first..).zip(keys.iter().flatten()) {
                if bin != NO_PARTICLE {
                    let target = &mut next[bin as usize];
                    sources[*target as usize].store(slot as u32, Ordering::Relaxed);
                    *target += 1;
                }
            }
        });
    }

    fn move_particles(
        &mut self,
        packets: &mut Vec<Packet>,
        state: &mut Rows,
        laws: &[PreparedLaw],
        total: usize,
    ) {
        self.spare.resize(total, Packet::EMPTY);
        let rows = state.per_packet();
        let spare_state = (self.spare_state).get_or_insert_with(|| Rows::new(rows));
        // Every row is written below.
        spare_state.resize(total, f32::NAN);
        let before = (&packets[..], state.all(), rows);
        let sources = self.sources.par_chunks(LANES);
        let all = (&mut self.spare, spare_state.packets_mut(), sources).into_par_iter();
        all.for_each(|(packet, state, sources)| {
            // All particles of a packet have one material.
            let first = sources.first().map_or(0, |s| s.load(Ordering::Relaxed));
            packet.material = before.0[first as usize / LANES].material;
            with_law!(&laws[packet.material as usize], law => {
                move_packet(law, (&mut *packet, &mut *state), sources, before);
            });
            pad(packet, state);
        });
        std::mem::swap(packets, &mut self.spare);
        std::mem::swap(state, spare_state);
    }
}

/// Fills a packet and the state of its law from the slots in `sources`. `before`: packets, states and rows per state before the
/// sort.
#[inline(always)]
fn move_packet<L: ConstitutiveLaw<N>, const N: usize>(
    _: &L,
    (packet, state): (&mut Packet, &mut [Row]),
    sources: &[AtomicU32],
    (packets, states, rows): (&[Packet], &[Row], usize),
) {
    let Some((state, unused)) = state.split_first_chunk_mut::<N>() else {
        return;
    };
    unused.fill(Row([0.0; LANES]));
    let old = |source: usize| {
        let state = states.get(source * rows..)?.first_chunk::<N>()?;
        Some((packets.get(source)?, state))
    };
    // Particles of a packet mostly come from the same packet, so the last lookup is kept.
    let (mut last, mut found) = (usize::MAX, None);
    let mut len = 0;
    for (lane, slot) in (0..LANES).zip(sources) {
        let slot = slot.load(Ordering::Relaxed);
        if slot == blocks::NONE {
            break;
        }
        let (source, from) = (slot as usize / LANES, slot as usize % LANES);
        if source != last {
            (last, found) = (source, old(source));
        }
        let Some((old_packet, old_state)) = found else {
            break;
        };
        packet.copy_lane(lane, old_packet, from);
        for row in 0..N {
            state[row].0[lane] = old_state[row].0[from];
        }
        len = lane as u8 + 1;
    }
    packet.len = len;
}

/// Block and cell of each particle of a packet; returns the last one out of range.
#[inline(always)]
fn keys_of(
    packet: &mut Packet,
    keys: &mut [u64; LANES],
    cells: &mut [u8; LANES],
    frame: &CellFrame,
) -> Option<(u32, glam::Vec3)> {
    let mut lost = None;
    *keys = [NO_PARTICLE; LANES];
    for lane in 0..LANES.min(packet.len as usize) {
        if packet.volume[lane] == 0.0 {
            continue;
        }
        match block_of(packet, lane, frame) {
            Some((coord, cell)) => {
                keys[lane] = blocks::pack(coord);
                cells[lane] = cell;
            }
            None => lost = Some((packet.id[lane], packet.position_of(lane))),
        }
    }
    lost
}

/// Block of a particle and cell in it, after wrapping its position into the period; `None` when it is not finite or too
/// far out. Cells are numbered like the nodes of a block, x, z, y with y fastest.
#[inline(always)]
fn block_of(packet: &mut Packet, lane: usize, frame: &CellFrame) -> Option<([i32; 3], u8)> {
    let (mut coord, mut cell) = ([0; 3], [0; 3]);
    for axis in 0..if frame.flat { 2 } else { 3 } {
        let inv_dx = frame.inv_dx;
        let mut cells = (packet.position[axis][lane] - frame.origin[axis]) * inv_dx;
        let period = frame.period[axis] * BLOCK;
        if period > 0 && !(0.0..period as f32).contains(&cells) && cells.is_finite() {
            let turns = (cells / period as f32).floor();
            packet.position[axis][lane] -= turns * period as f32 / inv_dx;
            cells = (packet.position[axis][lane] - frame.origin[axis]) * inv_dx;
        }
        let base = (cells + frame.base_offset).floor();
        let reached = base.abs() < (MAX_BLOCK * BLOCK) as f32; // Not so if NaN.
        if !reached {
            return None;
        }
        coord[axis] = (base as i32).div_euclid(BLOCK);
        cell[axis] = (base as i32).rem_euclid(BLOCK);
        if frame.period[axis] > 0 {
            // The stencil base may lie one cell before the period: then the block is the last one.
            let wrapped = coord[axis].rem_euclid(frame.period[axis]);
            packet.position[axis][lane] += ((wrapped - coord[axis]) * BLOCK) as f32 / inv_dx;
            coord[axis] = wrapped;
        }
    }
    Some((coord, ((cell[0] * BLOCK + cell[2]) * BLOCK + cell[1]) as u8))
}
