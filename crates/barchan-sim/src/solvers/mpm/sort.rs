//! Sorting particles into blocks: a stable counting sort by block, material and cell.
//!
//! It runs when a particle has left the rim of its block, when particles came or went, and after each frame (so that a
//! resumed run sorts where an undisturbed one does).

use super::particles::{Packet, pad};
use crate::grid::blocks::{self, BlockMap, Period, Topology};
use crate::grid::{BLOCK, BLOCK_NODES, MAX_BLOCK};
use crate::math::lanes::LANES;
use crate::solver::SolverError;
use rayon::prelude::*;

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

/// Scratch of the sort; keeps its memory.
#[derive(Debug, Default)]
pub struct Sorter {
    keys: Vec<[u64; LANES]>,
    cells: Vec<[u8; LANES]>,
    map: BlockMap,
    found: Vec<u64>,
    counts: Vec<u32>,
    sources: Vec<u32>,
    spare: Vec<Packet>,
}

impl Sorter {
    /// Sorts `packets` and rebuilds `topology` and the packet range of each particle block.
    pub fn sort(
        &mut self,
        packets: &mut Vec<Packet>,
        frame: &CellFrame,
        materials: usize,
        topology: &mut Topology,
        ranges: &mut Vec<PacketRange>,
    ) -> Result<(), SolverError> {
        self.find_keys(packets, frame)?;
        self.find_blocks(topology);
        self.count_runs(packets, materials, topology);
        let total = self.lay_out_runs(materials, topology, ranges);
        self.choose_sources(packets, materials, total);
        self.move_particles(packets, total);
        topology.rebuild(frame.period, frame.flat);
        Ok(())
    }

    /// Block of every particle; positions wrap into the period.
    fn find_keys(&mut self, packets: &mut [Packet], frame: &CellFrame) -> Result<(), SolverError> {
        self.keys.resize(packets.len(), [NOBODY; LANES]);
        self.cells.resize(packets.len(), [0; LANES]);
        let lost = self
            .keys
            .par_iter_mut()
            .zip(&mut self.cells)
            .zip(packets.par_iter_mut())
            .filter_map(|((keys, cells), packet)| {
                let mut lost = None;
                for lane in 0..LANES {
                    keys[lane] = NOBODY;
                    if lane >= packet.len as usize || packet.volume[lane] == 0.0 {
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
            })
            .min_by_key(|(id, _)| *id);
        match lost {
            None => Ok(()),
            Some((id, position)) => Err(SolverError::OutOfRange { id, position }),
        }
    }

    /// Distinct keys, sorted, into the topology; the map then gives the rank of each.
    fn find_blocks(&mut self, topology: &mut Topology) {
        self.map.clear();
        self.found.clear();
        let mut last = NOBODY;
        for &key in self.keys.iter().flatten() {
            if key == last || key == NOBODY {
                continue;
            }
            last = key;
            let fresh = self.found.len() as u32;
            if self.map.get_or_insert(key, fresh) == fresh {
                self.found.push(key);
            }
        }
        topology.particle_keys.clone_from(&self.found);
        topology.particle_keys.sort_unstable();
        self.map.clear();
        for (i, key) in topology.particle_keys.iter().enumerate() {
            self.map.get_or_insert(*key, i as u32);
        }
    }

    /// Particles of each cell of each run (block, material).
    fn count_runs(&mut self, packets: &[Packet], materials: usize, topology: &Topology) {
        self.counts.clear();
        self.counts
            .resize(topology.particle_keys.len() * materials * BLOCK_NODES, 0);
        let counts = &mut self.counts;
        for_each_particle(&self.keys, &self.cells, packets, &self.map, |place, _| {
            counts[place.index(materials)] += 1;
        });
    }

    /// Turns counts into the first slot of each cell; runs start at whole packets. Returns the number of packets.
    fn lay_out_runs(
        &mut self,
        materials: usize,
        topology: &Topology,
        ranges: &mut Vec<PacketRange>,
    ) -> usize {
        ranges.clear();
        let mut next = 0usize;
        let mut runs = self.counts.chunks_mut(BLOCK_NODES);
        for _ in 0..topology.particle_keys.len() {
            let first = next;
            for run in runs.by_ref().take(materials) {
                let mut slot = next * LANES;
                for count in run {
                    let particles = *count as usize;
                    *count = slot as u32;
                    slot += particles;
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

    /// Which old slot each new slot takes.
    fn choose_sources(&mut self, packets: &[Packet], materials: usize, total: usize) {
        self.sources.clear();
        self.sources.resize(total * LANES, blocks::NONE);
        let (next, sources) = (&mut self.counts, &mut self.sources);
        for_each_particle(
            &self.keys,
            &self.cells,
            packets,
            &self.map,
            |place, slot| {
                let target = &mut next[place.index(materials)];
                sources[*target as usize] = slot;
                *target += 1;
            },
        );
    }

    fn move_particles(&mut self, packets: &mut Vec<Packet>, total: usize) {
        self.spare.resize(total, Packet::EMPTY);
        let old = &*packets;
        self.spare
            .par_iter_mut()
            .zip(self.sources.par_chunks(LANES))
            .for_each(|(packet, sources)| {
                packet.len = 0;
                for (lane, &slot) in sources.iter().enumerate() {
                    if slot == blocks::NONE {
                        break;
                    }
                    let source = &old[slot as usize / LANES];
                    packet.copy_lane(lane, source, slot as usize % LANES);
                    packet.material = source.material;
                    packet.len += 1;
                }
                pad(packet);
            });
        std::mem::swap(packets, &mut self.spare);
    }
}

/// Where the sort puts a particle.
struct Place {
    block: usize,
    material: usize,
    cell: usize,
}

impl Place {
    #[inline(always)]
    fn index(&self, materials: usize) -> usize {
        (self.block * materials + self.material) * BLOCK_NODES + self.cell
    }
}

/// Block of a particle and cell in it, after wrapping its position into the period; `None` when it is not finite or too
/// far out. Cells are numbered like the nodes of a block, x, z, y with y fastest.
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
        if base.is_nan() || base.abs() >= (MAX_BLOCK * BLOCK) as f32 {
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

/// Calls `f(place, slot)` for each particle in order. Neighbours mostly share a block: the last is kept.
#[inline(always)]
fn for_each_particle(
    keys: &[[u64; LANES]],
    cells: &[[u8; LANES]],
    packets: &[Packet],
    map: &BlockMap,
    mut f: impl FnMut(Place, u32),
) {
    let (mut last, mut block) = (NOBODY, 0);
    for (p, (lanes, packet)) in keys.iter().zip(packets).enumerate() {
        for (lane, &key) in lanes.iter().enumerate() {
            if key == NOBODY {
                continue;
            }
            if key != last {
                last = key;
                block = map.get(key).unwrap_or_default() as usize;
            }
            let place = Place {
                block,
                material: packet.material as usize,
                cell: cells[p][lane] as usize,
            };
            f(place, (p * LANES + lane) as u32);
        }
    }
}
