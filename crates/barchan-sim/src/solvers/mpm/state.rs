//! Frames and checkpoints of the MPM solver.

use super::particles::{PACKET_COLUMNS, Packet, Rows, pad};
use super::passes::packets_of;
use super::sort::PacketRange;
use super::transfer::TileFrame;
use super::{Mpm, with_kernel};
use crate::grid::blocks;
use crate::material::{self, FlagColumn, PreparedLaw, StateColumn};
use crate::math::Sym3;
use crate::math::lanes::{LANES, Row};
use crate::particles::{Recycled, check_materials, missing_column};
use crate::solver::{Columns, SolverError};
use barchan_frame::{Checkpoint, Column, ColumnData, Frame, Unit};
use barchan_scene::{Dimensions, Kernel};
use rayon::prelude::*;

/// Column of frames on request; the others are state variables of the laws.
const PRINCIPAL_STRESS: &str = "principal_stress";

/// Scalar of a checkpoint: the largest speed [m/s], on which the next time step depends.
const MAX_SPEED: &str = "max_speed";

/// Column of a checkpoint that holds the blocks of sorted particles.
const BLOCK: &str = "block";

/// Packets of a task that copies columns.
const PACKETS_PER_TASK: usize = 1024;

/// Number of particles in packets.
fn count_live(packets: &[Packet]) -> usize {
    let in_packet = |p: &Packet| {
        let held = p.volume.iter().take(p.len as usize);
        held.filter(|volume| **volume > 0.0).count()
    };
    packets.iter().map(in_packet).sum()
}

/// Name, components, unit and meaning of a column.
type About<'a> = (&'a str, usize, Unit, &'a str);

/// Reads the particles in the order of their packets, in parallel parts.
struct Reader<'a> {
    mpm: &'a Mpm,
    /// Particles in each part.
    counts: Vec<usize>,
    /// Columns of an earlier frame.
    recycled: Recycled,
}

impl<'a> Reader<'a> {
    fn new(mpm: &'a Mpm, recycled: Vec<Column>) -> Self {
        let parts = mpm.packets.par_chunks(PACKETS_PER_TASK);
        Self {
            mpm,
            counts: parts.map(count_live).collect(),
            recycled: Recycled(recycled),
        }
    }

    /// `components` values of each particle; the memory of `values` is reused.
    fn read<T: Copy + Default + Send + Sync>(
        &self,
        components: usize,
        mut values: Vec<T>,
        write: impl Fn(&Packet, &[Row], usize, &mut [T]) + Sync,
    ) -> Vec<T> {
        values.resize(components * self.counts.iter().sum::<usize>(), T::default());
        let (mut targets, mut rest) = (Vec::with_capacity(self.counts.len()), &mut values[..]);
        for count in &self.counts {
            let (own, others) = rest.split_at_mut(components * count);
            targets.push(own);
            rest = others;
        }
        let rows = self.mpm.state.per_packet();
        let packets = self.mpm.packets.par_chunks(PACKETS_PER_TASK);
        let state = (self.mpm.state.all()).par_chunks(PACKETS_PER_TASK * rows);
        let parts = (packets, state, targets).into_par_iter();
        parts.for_each(|(packets, state, target)| {
            let mut targets = target.chunks_exact_mut(components);
            for (p, state) in packets.iter().zip(state.chunks_exact(rows)) {
                for lane in (0..p.len as usize).filter(|&lane| p.volume[lane] > 0.0) {
                    if let Some(own) = targets.next() {
                        write(p, state, lane, own);
                    }
                }
            }
        });
        values
    }

    /// A column of floats, with the error allowed in frames [unit].
    fn floats(
        &mut self,
        (name, components, unit, meaning): About<'_>,
        tolerance: f32,
        write: impl Fn(&Packet, &[Row], usize, &mut [f32]) + Sync,
    ) -> Column {
        let memory = self.recycled.f32(name);
        let data = ColumnData::F32(self.read(components, memory, write));
        Column {
            tolerance,
            ..Column::exact(name, unit, meaning, components, data)
        }
    }

    /// A column with one byte for each particle.
    fn bytes(
        &mut self,
        name: &str,
        meaning: &str,
        value: impl Fn(&Packet, usize) -> u8 + Sync,
    ) -> Column {
        let memory = self.recycled.u8(name);
        let data = self.read(1, memory, |p, _, lane, out| out[0] = value(p, lane));
        Column::exact(name, Unit::One, meaning, 1, ColumnData::U8(data))
    }

    /// A column of the packets, by its index in [`PACKET_COLUMNS`].
    fn packet_column(&mut self, index: usize, tolerance: f32) -> Column {
        self.floats(PACKET_COLUMNS[index], tolerance, |p, _, lane, out| {
            for (value, row) in out.iter_mut().zip(p.column(index)) {
                *value = row[lane];
            }
        })
    }

    fn id_column(&mut self) -> Column {
        let memory = self.recycled.u32("id");
        let data = self.read(1, memory, |p, _, lane, out| out[0] = p.id[lane]);
        Column::exact("id", Unit::One, "stable identity", 1, ColumnData::U32(data))
    }

    fn material_column(&mut self) -> Column {
        self.bytes("material", "index of the material", |p, _| p.material)
    }

    /// A column of the laws; zero for particles whose law does not have it.
    fn state_column(&mut self, column: &StateColumn) -> Column {
        let rows = self.mpm.laws.iter().map(|law| law.rows_of(column.name));
        let rows: Vec<_> = rows.map(Option::unwrap_or_default).collect();
        let about = (column.name, column.components, column.unit, column.meaning);
        self.floats(about, 0.0, |p, state, lane, out| {
            out.fill(0.0);
            let own = &state[rows[p.material as usize].clone()];
            for (value, row) in out.iter_mut().zip(own) {
                *value = row.0[lane];
            }
        })
    }

    /// The flags of the laws; zero for particles whose law does not have them.
    fn flag_columns(&mut self) -> Vec<Column> {
        let laws = &self.mpm.laws;
        let column = |flag: FlagColumn| {
            let own = |law: &PreparedLaw| law.flag().is_some_and(|f| f.name == flag.name);
            let own: Vec<bool> = laws.iter().map(own).collect();
            self.bytes(flag.name, flag.meaning, |p, lane| {
                p.flag[lane] * u8::from(own[p.material as usize])
            })
        };
        let flags = material::flag_columns(laws).into_iter();
        flags.map(column).collect()
    }
}

impl Mpm {
    /// Writes the columns of a frame; the memory of the columns in `out` is reused.
    pub(super) fn write_columns(&self, columns: &Columns<'_>, out: &mut Frame) {
        let mut particles = Reader::new(self, std::mem::take(&mut out.columns));
        let mass = ("mass", 1, Unit::Kilogram, "mass");
        let meaning = "mean Cauchy stress, compression positive";
        let pressure = ("pressure", 1, Unit::Pascal, meaning);
        out.columns = vec![
            particles.packet_column(0, self.spec.dx as f32 / 1024.0),
            particles.packet_column(1, 1e-3),
            particles.id_column(),
            particles.material_column(),
            particles.floats(mass, 0.0, |p, _, lane, out| {
                out[0] = p.volume[lane] * self.density[p.material as usize];
            }),
            particles.floats(pressure, 1.0, |p, state, lane, out| {
                let law = &self.laws[p.material as usize];
                out[0] = pressure_of(law, state, lane, self.dimensions);
            }),
        ];
        out.columns.extend(particles.flag_columns());
        let requested = self.columns.iter();
        let requested = requested.map(|name| self.requested_column(name, &mut particles));
        out.columns.extend(requested);
        out.columns.retain(|column| columns.include(&column.name));
    }

    /// A column that the scene requests: the principal stress, or a state variable of a law.
    fn requested_column(&self, name: &'static str, particles: &mut Reader<'_>) -> Column {
        if name != PRINCIPAL_STRESS {
            let columns = material::state_columns(&self.laws);
            let declared = columns.into_iter().find(|c| c.name == name);
            let none = StateColumn::new(name, 1, Unit::One, "no material has it");
            return particles.state_column(&declared.unwrap_or(none));
        }
        let meaning = match self.dimensions {
            Dimensions::Three => "principal Kirchhoff stresses, largest first, tension positive",
            Dimensions::Two => {
                "principal Kirchhoff stresses: two in the plane, larger first, and across; tension positive"
            }
        };
        let about = (name, 3, Unit::Pascal, meaning);
        particles.floats(about, 0.0, |p, state, lane, out| {
            let (stress, _) = self.laws[p.material as usize].stress_of(state, lane);
            out.copy_from_slice(&principal_stress(stress, self.dimensions));
        })
    }

    pub(super) fn save_state(&self, out: &mut Checkpoint) {
        let mut particles = Reader::new(self, Vec::new());
        let volume = PACKET_COLUMNS.len() - 1;
        let of_packets = |index: usize| particles.packet_column(index, 0.0);
        out.columns = (0..volume).map(of_packets).collect();
        let of_laws = material::state_columns(&self.laws);
        let of_laws = of_laws.iter().map(|c| particles.state_column(c));
        out.columns.extend(of_laws);
        out.columns.push(particles.packet_column(volume, 0.0));
        out.columns.push(particles.id_column());
        out.columns.push(particles.material_column());
        out.columns.extend(particles.flag_columns());
        if !self.needs_sort {
            let blocks = ColumnData::U64(self.blocks_of_particles());
            let meaning = "key of the block it is sorted into";
            let column = Column::exact(BLOCK, Unit::One, meaning, 1, blocks);
            out.columns.push(column);
        }
        out.set_scalar(MAX_SPEED, self.max_speed);
    }

    /// The block of each particle as of the last sort.
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
        let stored = Stored::read(from, &self.laws)?;
        stored.pack(&self.laws, &mut self.packets, &mut self.state);
        self.count = stored.count;
        self.clear_unused_affine(0);
        self.max_speed = stored.max_speed;
        self.needs_sort = true;
        if let Some(blocks) = stored.blocks {
            self.restore_blocks(blocks);
        }
        Ok(())
    }

    /// Restores the sort from the block of each particle, if the packets are sorted so: the state of another grid is not.
    fn restore_blocks(&mut self, blocks: &[u64]) {
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
        self.resize_scratch();
        self.needs_sort = false;
    }
}

/// A state column of the laws in a checkpoint.
struct StoredColumn<'a> {
    components: usize,
    data: &'a [f32],
    /// Its rows in the state, for each material; none where the law does not have it.
    rows: Vec<std::ops::Range<usize>>,
}

/// The state of a checkpoint.
struct Stored<'a> {
    count: usize,
    /// Of [`PACKET_COLUMNS`].
    packet: Vec<&'a [f32]>,
    state: Vec<StoredColumn<'a>>,
    /// The flags of each material's law; empty where it has none.
    flags: Vec<&'a [u8]>,
    id: &'a [u32],
    material: &'a [u8],
    /// The block of each particle, if it was saved between two sorts.
    blocks: Option<&'a [u64]>,
    max_speed: f32,
}

/// The values of a column of a checkpoint, with a given number of components for each particle.
fn values<'a, T>(
    from: &'a Checkpoint,
    name: &str,
    components: usize,
    of_type: fn(&ColumnData) -> Option<&[T]>,
) -> Result<&'a [T], SolverError> {
    let values = from.column(name).and_then(|c| of_type(&c.data));
    let values = values.filter(|v| v.len() == components * from.particles());
    values.ok_or_else(|| missing_column(name))
}

impl<'a> Stored<'a> {
    fn read(from: &'a Checkpoint, laws: &[PreparedLaw]) -> Result<Self, SolverError> {
        let floats = |name: &str, components| values(from, name, components, ColumnData::as_f32);
        let bytes = |name: &str| values(from, name, 1, ColumnData::as_u8);
        let material = bytes("material")?;
        check_materials(material, laws.len())?;
        // A law's columns are needed if the checkpoint has particles of it.
        let used = |m: &usize| material.iter().any(|own| *own as usize == *m);
        let used = (0..laws.len()).filter(used).map(|m| laws[m]);
        let used: Vec<PreparedLaw> = used.collect();
        let state = material::state_columns(&used);
        let state = state.iter().map(|c| {
            let rows = laws.iter().map(|law| law.rows_of(c.name));
            Ok(StoredColumn {
                components: c.components,
                data: floats(c.name, c.components)?,
                rows: rows.map(Option::unwrap_or_default).collect(),
            })
        });
        let state = state.collect::<Result<_, SolverError>>()?;
        for flag in material::flag_columns(&used) {
            bytes(flag.name)?;
        }
        let flags = laws.iter().map(|law| law.flag().map(|f| bytes(f.name)));
        let flags = flags.map(|data| data.and_then(Result::ok).unwrap_or_default());
        let packet = PACKET_COLUMNS.iter().map(|&(name, n, ..)| floats(name, n));
        let max_speed = from
            .scalar(MAX_SPEED)
            .ok_or_else(|| SolverError::Checkpoint(format!("it has no scalar `{MAX_SPEED}`")))?;
        Ok(Self {
            count: from.particles(),
            packet: packet.collect::<Result<_, _>>()?,
            state,
            flags: flags.collect(),
            id: values(from, "id", 1, ColumnData::as_u32)?,
            material,
            blocks: (from.column(BLOCK))
                .map(|_| values(from, BLOCK, 1, ColumnData::as_u64))
                .transpose()?,
            max_speed: max_speed as f32,
        })
    }

    /// Packs the particles in their order; each block and material begins with a packet of its own.
    fn pack(&self, laws: &[PreparedLaw], packets: &mut Vec<Packet>, state: &mut Rows) {
        packets.clear();
        *state = Rows::new(material::state_rows(laws));
        let run_of = |i: usize| (self.blocks.map(|b| b[i]), self.material[i]);
        for i in 0..self.count {
            let begins = i == 0 || run_of(i) != run_of(i - 1);
            let full = |p: &Packet| p.len as usize == LANES;
            if begins || packets.last().is_none_or(full) {
                packets.push(Packet {
                    material: self.material[i],
                    ..Packet::EMPTY
                });
                state.resize(packets.len(), 0.0);
            }
            let last = packets.len() - 1;
            self.put(i, &mut packets[last], state.of_mut(last));
        }
        let all = packets.par_iter_mut().zip(state.packets_mut());
        all.for_each(|(packet, state)| pad(packet, state));
    }

    /// Writes particle i into the next lane.
    fn put(&self, i: usize, packet: &mut Packet, state: &mut [Row]) {
        let (lane, material) = (packet.len as usize, packet.material as usize);
        packet.len += 1;
        for (c, data) in self.packet.iter().enumerate() {
            let components = PACKET_COLUMNS[c].1;
            for (row, value) in packet.column_mut(c).iter_mut().zip(&data[i * components..]) {
                row[lane] = *value;
            }
        }
        for column in &self.state {
            let values = &column.data[i * column.components..];
            for (row, value) in state[column.rows[material].clone()].iter_mut().zip(values) {
                row.0[lane] = *value;
            }
        }
        packet.id[lane] = self.id[i];
        packet.flag[lane] = self.flags[material].get(i).copied().unwrap_or(0);
    }
}

/// Principal stresses [Pa] of xx yy zz yz xz xy, largest first; in 2D the third is the one across the plane.
fn principal_stress(stress: Sym3<f32>, dimensions: Dimensions) -> [f32; 3] {
    let mut values = match dimensions {
        Dimensions::Three => stress.eigen::<3>().values,
        Dimensions::Two => stress.eigen::<2>().values,
    };
    values[..dimensions.count()].sort_by(|a, b| b.total_cmp(a));
    values
}

/// Mean Cauchy stress [Pa], compression positive: −tr τ/(d J).
fn pressure_of(law: &PreparedLaw, state: &[Row], lane: usize, dimensions: Dimensions) -> f32 {
    let (stress, j_squared) = law.stress_of(state, lane);
    let d = dimensions.count();
    let trace: f32 = stress.to_array()[..d].iter().sum();
    -trace / (d as f32 * j_squared.max(1e-12).sqrt())
}
