//! Sorting particles into blocks: a stable counting sort by block, material and cell.
//!
//! It runs when a particle has left the rim of its block and when particles came or went. A checkpoint keeps the blocks of
//! particles in between, so that a resumed run sorts where an undisturbed one does.

use super::particles::{Packet, Rows, pad};
use crate::grid::blocks::{self, Period, Topology};
use crate::grid::{BLOCK, BLOCK_NODES, MAX_BLOCK};
use crate::material::{PreparedLaw, WithRows};
use crate::math::lanes::{LANES, Row};
use crate::solver::SolverError;
use fearless_simd::{Level, dispatch};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};

/// Marks a lane without particle.
const NOBODY: u64 = u64::MAX;

/// Packets of a block: `first..first + count`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PacketRange {
    /// First packet.
    pub first: u32,
    /// Number of packets.
    pub count: u32,
}

/// How positions map to blocks.
#[derive(Debug, Clone, Copy)]
pub struct CellFrame {
    /// Corner of cell (0, 0, 0) [m].
    pub origin: [f32; 3],
    /// 1/h [1/m].
    pub inv_dx: f32,
    /// Shift from a particle to the base of its stencil [cells].
    pub base_offset: f32,
    /// Period in blocks; 0 where the domain does not repeat.
    pub period: Period,
    /// 2D.
    pub flat: bool,
}

impl CellFrame {
    /// Whether a position [m] lies within the cells that block coordinates reach, with room for the stencil.
    pub fn can_address(&self, position: glam::Vec3) -> bool {
        let cells = (position - glam::Vec3::from(self.origin)) * self.inv_dx;
        cells.abs().max_element() < ((MAX_BLOCK - 2) * BLOCK) as f32
    }
}

/// Parts of the particles that are counted side by side; fixed, though the result would be the same for any number.
const PARTS: usize = 8;

/// Scratch of the sort; keeps its memory.
#[derive(Debug, Default)]
pub struct Sorter {
    /// Block of each particle; later its place, which counts blocks, materials and cells.
    keys: Vec<[u64; LANES]>,
    cells: Vec<[u8; LANES]>,
    found: [Vec<u64>; PARTS],
    /// For each place and part, how many particles; later the first slot.
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
        self.find_places(packets, materials, topology);
        let places = topology.particle_keys.len() * materials * BLOCK_NODES;
        self.count_places(places);
        let total = self.lay_out_runs(materials, topology, ranges);
        self.choose_sources(total);
        self.move_particles(packets, state, laws, total);
        Ok(())
    }

    /// Gives back the largest part of the memory until the next sort.
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
        self.keys.resize(packets.len(), [NOBODY; LANES]);
        self.cells.resize(packets.len(), [0; LANES]);
        let lost = self
            .keys
            .par_iter_mut()
            .zip(&mut self.cells)
            .zip(packets.par_iter_mut())
            .filter_map(|((keys, cells), packet)| {
                // Not for its lanes: rounding down is a call where the machine's instructions may not be used.
                dispatch!(level, _simd => keys_of(packet, keys, cells, frame))
            })
            .min_by_key(|(id, _)| *id);
        match lost {
            None => Ok(()),
            Some((id, position)) => Err(SolverError::OutOfRange { id, position }),
        }
    }

    /// Distinct keys, sorted, into the topology. Returns whether they are others than it had.
    fn find_blocks(&mut self, topology: &mut Topology) -> bool {
        let part = self.keys.len().div_ceil(PARTS).max(1);
        self.found
            .par_iter_mut()
            .zip(self.keys.par_chunks(part))
            .for_each(|(found, keys)| {
                found.clear();
                let mut last = NOBODY;
                for &key in keys.iter().flatten() {
                    if key != last && key != NOBODY {
                        found.push(key);
                        last = key;
                    }
                }
                found.sort_unstable();
                found.dedup();
            });
        let parts = self.keys.chunks(part).len();
        let all = &mut self.found[..];
        let (first, rest) = all.split_at_mut(1);
        for other in &rest[..parts.saturating_sub(1)] {
            first[0].extend_from_slice(other);
        }
        let merged = &mut first[0];
        if parts == 0 {
            merged.clear();
        }
        merged.sort_unstable();
        merged.dedup();
        let changed = topology.particle_keys != *merged;
        if changed {
            topology.particle_keys.clone_from(merged);
        }
        changed
    }

    /// Turns the block of every particle into its place: block, material, cell. Neighbors mostly share a block: the
    /// last is kept.
    fn find_places(&mut self, packets: &[Packet], materials: usize, topology: &Topology) {
        self.keys
            .par_iter_mut()
            .zip(&self.cells)
            .zip(packets)
            .for_each(|((keys, cells), packet)| {
                let (mut last, mut block) = (NOBODY, 0);
                for (key, &cell) in keys.iter_mut().zip(cells) {
                    if *key == NOBODY {
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

    /// Particles of each place in each part.
    fn count_places(&mut self, places: usize) {
        let part = self.keys.len().div_ceil(PARTS).max(1);
        let parts = self.keys.chunks(part).len();
        for counts in &mut self.counts {
            counts.clear();
            counts.resize(places, 0);
        }
        self.counts[..parts]
            .par_iter_mut()
            .zip(self.keys.par_chunks(part))
            .for_each(|(counts, keys)| {
                for &place in keys.iter().flatten().filter(|place| **place != NOBODY) {
                    counts[place as usize] += 1;
                }
            });
    }

    /// Turns counts into the first slot of each place and part; runs start at whole packets. Returns the number of
    /// packets.
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
                for place in run * BLOCK_NODES..(run + 1) * BLOCK_NODES {
                    for counts in &mut self.counts {
                        let particles = counts[place] as usize;
                        counts[place] = slot as u32;
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

    /// Which old slot each new slot takes. Parts write to different slots, so the order of threads does not matter.
    fn choose_sources(&mut self, total: usize) {
        self.sources
            .resize_with(total * LANES, || AtomicU32::new(blocks::NONE));
        self.sources
            .par_iter()
            .with_min_len(4096)
            .for_each(|source| source.store(blocks::NONE, Ordering::Relaxed));
        let part = self.keys.len().div_ceil(PARTS).max(1);
        let parts = self.keys.chunks(part).len();
        let sources = &self.sources;
        self.counts[..parts]
            .par_iter_mut()
            .zip(self.keys.par_chunks(part))
            .enumerate()
            .for_each(|(index, (next, keys))| {
                let first = index * part * LANES;
                for (slot, &place) in (first..).zip(keys.iter().flatten()) {
                    if place != NOBODY {
                        let target = &mut next[place as usize];
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
        let spare_state = self
            .spare_state
            .get_or_insert_with(|| Rows::new(state.per_packet()));
        // Every row is written below.
        spare_state.resize(total, f32::NAN);
        let (old, old_state, rows) = (&packets[..], state.all(), state.per_packet());
        self.spare
            .par_iter_mut()
            .zip(spare_state.packets_mut())
            .zip(self.sources.par_chunks(LANES))
            .for_each(|((packet, state), sources)| {
                // All sources of a packet are of one material.
                let first = sources.first().map_or(0, |s| s.load(Ordering::Relaxed));
                packet.material = old[first as usize / LANES].material;
                laws[packet.material as usize].with_rows(MovePacket {
                    packet: &mut *packet,
                    state: &mut *state,
                    sources,
                    old: (old, old_state, rows),
                });
                pad(packet, state);
            });
        std::mem::swap(packets, &mut self.spare);
        std::mem::swap(state, spare_state);
    }
}

/// Slot of a particle before the sort.
type Slot = AtomicU32;

/// Fills a packet and its state from the slots that `sources` name.
struct MovePacket<'a> {
    packet: &'a mut Packet,
    state: &'a mut [Row],
    sources: &'a [Slot],
    /// Packets, states and rows of a state before the sort.
    old: (&'a [Packet], &'a [Row], usize),
}

impl WithRows for MovePacket<'_> {
    #[inline(always)]
    fn call<const N: usize>(self) {
        let (packets, states, rows) = self.old;
        let Some((state, others)) = self.state.split_first_chunk_mut::<N>() else {
            return;
        };
        others.fill(Row([0.0; LANES]));
        let mut len = 0;
        for (lane, slot) in (0..LANES).zip(self.sources) {
            let slot = slot.load(Ordering::Relaxed);
            if slot == blocks::NONE {
                break;
            }
            let (source, from) = (slot as usize / LANES, slot as usize % LANES);
            self.packet.copy_lane(lane, &packets[source], from);
            let old = &states[source * rows..][..N];
            for row in 0..N {
                state[row].0[lane] = old[row].0[from];
            }
            len = lane as u8 + 1;
        }
        self.packet.len = len;
    }
}

/// Block and cell of each particle of a packet; returns the last that has none.
#[inline(always)]
fn keys_of(
    packet: &mut Packet,
    keys: &mut [u64; LANES],
    cells: &mut [u8; LANES],
    frame: &CellFrame,
) -> Option<(u32, glam::Vec3)> {
    let mut lost = None;
    *keys = [NOBODY; LANES];
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
            // The stencil base may lie one cell before the period: that block is the last of the ring.
            let wrapped = coord[axis].rem_euclid(frame.period[axis]);
            packet.position[axis][lane] += ((wrapped - coord[axis]) * BLOCK) as f32 / inv_dx;
            coord[axis] = wrapped;
        }
    }
    Some((coord, ((cell[0] * BLOCK + cell[2]) * BLOCK + cell[1]) as u8))
}
