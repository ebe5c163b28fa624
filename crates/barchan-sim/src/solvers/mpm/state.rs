//! Frames and checkpoints of the MPM solver.

use super::particles::{FLOAT_COLUMNS, FloatColumn, Packet, pad};
use super::sort::PacketRange;
use super::transfer::TileFrame;
use super::{Mpm, packets_of, with_kernel};
use crate::grid::blocks;
use crate::math::Sym3;
use crate::math::lanes::LANES;
use crate::particles::Spent;
use crate::solver::{Columns, SolverError};
use barchan_frame::{Checkpoint, Column, ColumnData, Frame};
use barchan_scene::{Dimensions, Kernel, OutputColumn, Transfer};
use fearless_simd::dispatch;
use rayon::prelude::*;

/// Attribute that holds the bits of the fastest speed, which the next step's length depends on.
const MAX_SPEED: &str = "mpm_max_speed_bits";

/// Column of a checkpoint that holds the blocks of sorted particles.
const BLOCK: &str = "block";

/// Packets that one task copies.
const PACKETS_PER_TASK: usize = 1024;

/// Particles in some packets.
fn count_live(packets: &[Packet]) -> usize {
    let in_packet = |p: &Packet| {
        let held = p.volume.iter().take(p.len as usize);
        held.filter(|volume| **volume > 0.0).count()
    };
    packets.iter().map(in_packet).sum()
}

/// Reads the particles in the order of their packets, side by side in parts.
struct Reader<'a> {
    packets: &'a [Packet],
    /// Particles in each part.
    counts: Vec<usize>,
}

impl<'a> Reader<'a> {
    fn new(packets: &'a [Packet]) -> Self {
        let counts = packets.par_chunks(PACKETS_PER_TASK).map(count_live);
        let counts = counts.collect();
        Self { packets, counts }
    }

    /// `components` values of each particle, into the memory of `values`.
    fn read<T: Copy + Default + Send + Sync>(
        &self,
        components: usize,
        mut values: Vec<T>,
        write: impl Fn(&Packet, usize, &mut [T]) + Sync,
    ) -> Vec<T> {
        values.resize(components * self.counts.iter().sum::<usize>(), T::default());
        let (mut targets, mut rest) = (Vec::with_capacity(self.counts.len()), &mut values[..]);
        for count in &self.counts {
            let (own, others) = rest.split_at_mut(components * count);
            targets.push(own);
            rest = others;
        }
        self.packets
            .par_chunks(PACKETS_PER_TASK)
            .zip(targets)
            .for_each(|(packets, target)| {
                let mut targets = target.chunks_exact_mut(components);
                for p in packets {
                    for lane in (0..p.len as usize).filter(|&lane| p.volume[lane] > 0.0) {
                        if let Some(own) = targets.next() {
                            write(p, lane, own);
                        }
                    }
                }
            });
        values
    }

    /// One value of each particle.
    fn scalar<T: Copy + Default + Send + Sync>(
        &self,
        memory: Vec<T>,
        value: impl Fn(&Packet, usize) -> T + Sync,
    ) -> Vec<T> {
        self.read(1, memory, |p, lane, out| out[0] = value(p, lane))
    }

    /// Three values of each particle.
    fn vector(
        &self,
        memory: Vec<f32>,
        value: impl Fn(&Packet, usize) -> [f32; 3] + Sync,
    ) -> Vec<f32> {
        self.read(3, memory, |p, lane, out| {
            out.copy_from_slice(&value(p, lane));
        })
    }
}

impl Mpm {
    /// Writes the columns of a frame; columns that `out` has give their memory.
    pub(super) fn write_columns(&self, columns: &Columns<'_>, out: &mut Frame) {
        let dx = self.spec.dx as f32;
        let particles = Reader::new(&self.packets);
        let mut spent = Spent(std::mem::take(&mut out.columns));
        let position = particles.vector(spent.f32("position"), |p, lane| {
            p.position_of(lane).to_array()
        });
        let velocity = particles.vector(spent.f32("velocity"), |p, lane| {
            p.velocity_of(lane).to_array()
        });
        let pressure = particles.scalar(spent.f32("pressure"), |p, lane| {
            pressure_of(p, lane, self.dimensions)
        });
        let mass = particles.scalar(spent.f32("mass"), |p, lane| {
            p.volume[lane] * self.density[p.material as usize]
        });
        let id = particles.scalar(spent.u32("id"), |p, lane| p.id[lane]);
        let material = particles.scalar(spent.u8("material"), |p, _| p.material);
        let case = particles.scalar(spent.u8("plastic_case"), |p, lane| p.case[lane]);
        let asked = self.columns.iter();
        let asked: Vec<Column> = asked
            .map(|c| self.asked_column(*c, &particles, spent.f32(c.name())))
            .collect();
        let pressure_is = "mean Cauchy stress, compression positive";
        let case_is = "last projection: 0 elastic, 1 tip (separating), 2 side (sliding)";
        out.columns = vec![
            Column::vector3("position", "m", "position", dx / 1024.0, position),
            Column::vector3("velocity", "m/s", "velocity", 1e-3, velocity),
            Column::exact("id", "1", "stable identity", 1, ColumnData::U32(id)),
            Column::exact(
                "material",
                "1",
                "index of the material",
                1,
                ColumnData::U8(material),
            ),
            Column::scalar("mass", "kg", "mass", 0.0, mass),
            Column::scalar("pressure", "Pa", pressure_is, 1.0, pressure),
            Column::exact("plastic_case", "1", case_is, 1, ColumnData::U8(case)),
        ];
        out.columns.extend(asked);
        out.columns.retain(|column| columns.include(&column.name));
    }

    /// A column that only some scenes have in their frames.
    fn asked_column(
        &self,
        column: OutputColumn,
        particles: &Reader<'_>,
        memory: Vec<f32>,
    ) -> Column {
        let name = column.name();
        match column {
            OutputColumn::PrincipalStress => {
                let meaning = match self.dimensions {
                    Dimensions::Three => {
                        "principal Kirchhoff stresses, largest first, tension positive"
                    }
                    Dimensions::Two => {
                        "principal Kirchhoff stresses: two in the plane, larger first, and across; tension positive"
                    }
                };
                let stress = particles.vector(memory, |p, lane| {
                    principal_stress(std::array::from_fn(|i| p.stress[i][lane]), self.dimensions)
                });
                Column::vector3(name, "Pa", meaning, 0.0, stress)
            }
            OutputColumn::Hardening => {
                let q = particles.scalar(memory, |p, lane| p.hardening[lane]);
                Column::scalar(name, "1", "hardening state q", 0.0, q)
            }
        }
    }

    pub(super) fn save_state(&self, out: &mut Checkpoint) {
        let particles = Reader::new(&self.packets);
        out.columns = FLOAT_COLUMNS
            .iter()
            .map(|column| {
                let data = particles.read(column.components, Vec::new(), |p, lane, out| {
                    for (value, row) in out.iter_mut().zip((column.rows)(p)) {
                        *value = row[lane];
                    }
                });
                let FloatColumn { name, unit, .. } = *column;
                let data = ColumnData::F32(data);
                Column::exact(name, unit, column.meaning, column.components, data)
            })
            .collect();
        let mut whole = |name: &str, meaning: &str, data: ColumnData| {
            let column = Column::exact(name, "1", meaning, 1, data);
            out.columns.push(column);
        };
        let id = particles.scalar(Vec::new(), |p, lane| p.id[lane]);
        let material = particles.scalar(Vec::new(), |p, _| p.material);
        let case = particles.scalar(Vec::new(), |p, lane| p.case[lane]);
        whole("id", "stable identity", ColumnData::U32(id));
        whole(
            "material",
            "index of the material",
            ColumnData::U8(material),
        );
        whole("plastic_case", "last projection", ColumnData::U8(case));
        if !self.needs_sort {
            let blocks = ColumnData::U64(self.blocks_of_particles());
            whole(BLOCK, "key of the block it is sorted into", blocks);
        }
        out.attributes
            .insert(MAX_SPEED.into(), self.max_speed.to_bits().into());
    }

    /// The block of each particle, as the last sort found it.
    fn blocks_of_particles(&self) -> Vec<u64> {
        let mut blocks = Vec::with_capacity(self.count);
        let s = &self.scratch;
        for (&key, &range) in s.topology.particle_keys.iter().zip(&s.ranges) {
            let held = packets_of(&self.packets, range).iter();
            let held: usize = held.map(|p| p.len as usize).sum();
            blocks.resize(blocks.len() + held, key);
        }
        blocks
    }

    pub(super) fn load_state(&mut self, from: &Checkpoint) -> Result<(), SolverError> {
        let stored = Stored::read(from)?;
        if (stored.material.iter()).any(|m| *m as usize >= self.materials.len()) {
            return Err(SolverError::Checkpoint(
                "it names a material that the scene does not have".into(),
            ));
        }
        self.packets.clear();
        stored.pack(&mut self.packets);
        self.count = stored.count;
        if self.spec.transfer != Transfer::Apic {
            // As for emitted particles. A state of another transfer may have C.
            for packet in &mut self.packets {
                packet.affine = Packet::EMPTY.affine;
            }
        }
        self.max_speed = stored.max_speed;
        self.needs_sort = true;
        if let Some(blocks) = stored.blocks {
            self.take_blocks(blocks);
        }
        Ok(())
    }

    /// Takes the packets as sorted into these blocks, one for each particle, if they are: a state of another grid is not.
    fn take_blocks(&mut self, blocks: &[u64]) {
        let s = &mut self.scratch;
        s.topology.particle_keys.clear();
        s.ranges.clear();
        let (mut particle, mut last) = (0, (0, 0));
        for (i, packet) in (0..).zip(&self.packets) {
            let key = blocks[particle];
            particle += packet.len as usize;
            if s.topology.particle_keys.last() != Some(&key) {
                s.topology.particle_keys.push(key);
                s.ranges.push(PacketRange { first: i, count: 0 });
            }
            if let Some(range) = s.ranges.last_mut() {
                range.count += 1;
            }
            let held = with_kernel!(self.level, self.dimensions, self.spec.kernel, _simd, D, K => {
                let frame = TileFrame::new::<D, K>(self.cells, blocks::unpack(key));
                (0..packet.len as usize).all(|lane| frame.holds::<D, K>(packet.position_of(lane)))
            });
            if !held || (key, packet.material) < last {
                s.topology.particle_keys.clear();
                return;
            }
            last = (key, packet.material);
        }
        s.topology.rebuild(self.cells.period, self.cells.flat);
        self.make_room();
        self.needs_sort = false;
    }
}

/// The state of a checkpoint.
struct Stored<'a> {
    count: usize,
    /// Of [`FLOAT_COLUMNS`].
    floats: Vec<&'a [f32]>,
    id: &'a [u32],
    material: &'a [u8],
    case: &'a [u8],
    /// Without blocks, the particles wait for a sort.
    blocks: Option<&'a [u64]>,
    max_speed: f32,
}

impl<'a> Stored<'a> {
    fn read(from: &'a Checkpoint) -> Result<Self, SolverError> {
        let count = from.particles();
        let missing = |name: &str| {
            SolverError::Checkpoint(format!("column `{name}` is missing or has another shape"))
        };
        let data = |name: &str| from.column(name).map(|c| &c.data);
        let floats = FLOAT_COLUMNS
            .iter()
            .map(|column| match data(column.name) {
                Some(ColumnData::F32(data)) if data.len() == count * column.components => {
                    Ok(&data[..])
                }
                _ => Err(missing(column.name)),
            })
            .collect::<Result<Vec<_>, _>>()?;
        let bytes = |name: &str| match data(name) {
            Some(ColumnData::U8(data)) if data.len() == count => Ok(&data[..]),
            _ => Err(missing(name)),
        };
        let speed = from.attributes.get(MAX_SPEED).and_then(|v| v.as_u64());
        let speed = speed.and_then(|bits| u32::try_from(bits).ok());
        Ok(Self {
            count,
            floats,
            id: match data("id") {
                Some(ColumnData::U32(data)) if data.len() == count => data,
                _ => return Err(missing("id")),
            },
            material: bytes("material")?,
            case: bytes("plastic_case")?,
            blocks: match data(BLOCK) {
                Some(ColumnData::U64(data)) if data.len() == count => Some(data),
                None => None,
                Some(_) => return Err(missing(BLOCK)),
            },
            max_speed: f32::from_bits(speed.ok_or_else(|| missing(MAX_SPEED))?),
        })
    }

    /// Packs the particles in their order; blocks and materials begin with a packet of their own.
    fn pack(&self, packets: &mut Vec<Packet>) {
        let run_of = |i: usize| (self.blocks.map(|b| b[i]), self.material[i]);
        for i in 0..self.count {
            let begins = i == 0 || run_of(i) != run_of(i - 1);
            let full = |p: &Packet| p.len as usize == LANES;
            if begins || packets.last().is_none_or(full) {
                packets.push(Packet {
                    material: self.material[i],
                    ..Packet::EMPTY
                });
            }
            let Some(packet) = packets.last_mut() else {
                continue;
            };
            let lane = packet.len as usize;
            packet.len += 1;
            let mut rows = packet.floats_mut();
            for (data, FloatColumn { components, .. }) in self.floats.iter().zip(FLOAT_COLUMNS) {
                for (row, value) in rows.by_ref().take(components).zip(&data[i * components..]) {
                    row[lane] = *value;
                }
            }
            drop(rows);
            packet.id[lane] = self.id[i];
            packet.case[lane] = self.case[i];
        }
        packets.par_iter_mut().for_each(pad);
    }
}

/// Principal stresses [Pa] of xx yy zz yz xz xy, largest first; in 2D the third is the one across the plane.
fn principal_stress(stress: [f32; 6], dimensions: Dimensions) -> [f32; 3] {
    let stress = Sym3::from_array(stress);
    let mut values = match dimensions {
        Dimensions::Three => stress.eigen::<3>().values,
        Dimensions::Two => stress.eigen::<2>().values,
    };
    values[..dimensions.count()].sort_by(|a, b| b.total_cmp(a));
    values
}

/// Mean Cauchy stress [Pa], compression positive: −tr τ/(d J).
fn pressure_of(p: &Packet, lane: usize, dimensions: Dimensions) -> f32 {
    let e: [f32; 6] = std::array::from_fn(|i| p.strain[i][lane]);
    let j_squared = 1.0 + Sym3::from_array(e).det_identity_plus_m1();
    let d = dimensions.count();
    let trace: f32 = (0..d).map(|i| p.stress[i][lane]).sum();
    -trace / (d as f32 * j_squared.max(1e-12).sqrt())
}
