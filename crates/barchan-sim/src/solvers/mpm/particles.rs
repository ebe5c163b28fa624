//! Particle state: packets of sixteen, structure of arrays inside a packet, packets of a block side by side.
//!
//! A packet holds particles of one block and one material, so a law runs over whole lanes without branches. Lanes past
//! `len` are copies of the last particle without volume: they cost time but never change a result. The [`Packet`] holds the
//! quantities that every material has; the state of its law is in [`Rows`] beside it, as the law declares.

use crate::material::PreparedLaw;
use crate::math::lanes::{LANES, Lanes, Row};
use crate::sampling::Samples;
use crate::view::{PacketView, Packets};
use barchan_frame::Unit;
use glam::Vec3;
use rayon::prelude::*;

/// Sixteen particles of one block and material.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub struct Packet {
    /// Position [m].
    pub position: [Lanes; 3],
    /// Velocity [m/s].
    pub velocity: [Lanes; 3],
    /// Affine velocity C = B D⁻¹ [1/s], row by row.
    pub affine: [Lanes; 9],
    /// Undeformed volume V⁰ [m³].
    pub volume: Lanes,
    /// Stable identity.
    pub id: [u32; LANES],
    /// The byte of the law, see [`crate::material::FlagColumn`].
    pub flag: [u8; LANES],
    /// Index of the material.
    pub material: u8,
    /// Particles in the packet.
    pub len: u8,
}

/// Columns of a packet in a checkpoint: name, components, unit, meaning. Those of the law come before the volume.
pub const PACKET_COLUMNS: [(&str, usize, Unit, &str); 4] = [
    ("position", 3, Unit::Meter, "position"),
    ("velocity", 3, Unit::MeterPerSecond, "velocity"),
    (
        "affine",
        9,
        Unit::PerSecond,
        "affine velocity C, row by row",
    ),
    ("volume", 1, Unit::CubicMeter, "undeformed volume"),
];

impl Packet {
    /// No particle.
    pub const EMPTY: Self = Self {
        position: [[0.0; LANES]; 3],
        velocity: [[0.0; LANES]; 3],
        affine: [[0.0; LANES]; 9],
        volume: [0.0; LANES],
        id: [0; LANES],
        flag: [0; LANES],
        material: 0,
        len: 0,
    };

    /// Rows of a column, by its index in [`PACKET_COLUMNS`].
    pub fn column(&self, index: usize) -> &[Lanes] {
        match index {
            0 => &self.position,
            1 => &self.velocity,
            2 => &self.affine,
            _ => std::slice::from_ref(&self.volume),
        }
    }

    /// The same, mutable.
    pub fn column_mut(&mut self, index: usize) -> &mut [Lanes] {
        match index {
            0 => &mut self.position,
            1 => &mut self.velocity,
            2 => &mut self.affine,
            _ => std::slice::from_mut(&mut self.volume),
        }
    }

    /// Copies one particle; volume included.
    #[inline(always)]
    pub fn copy_lane(&mut self, to: usize, source: &Self, from: usize) {
        copy_rows(&mut self.position, to, &source.position, from);
        copy_rows(&mut self.velocity, to, &source.velocity, from);
        copy_rows(&mut self.affine, to, &source.affine, from);
        self.volume[to] = source.volume[from];
        self.id[to] = source.id[from];
        self.flag[to] = source.flag[from];
    }

    /// Position of a particle [m].
    pub fn position_of(&self, lane: usize) -> Vec3 {
        Vec3::from_array(std::array::from_fn(|axis| self.position[axis][lane]))
    }
}

impl Packets for Vec<Packet> {
    fn packet(&self, index: usize) -> Option<PacketView<'_>> {
        let packet = self.get(index)?;
        // Particles that were removed stay in their lanes without volume until the next sort.
        let lanes = (0..usize::from(packet.len)).filter(|lane| packet.volume[*lane] > 0.0);
        Some(PacketView {
            position: packet.position.each_ref().map(|row| &row[..]),
            velocity: packet.velocity.each_ref().map(|row| &row[..]),
            id: &packet.id,
            material: packet.material,
            occupied: lanes.fold(0, |bits, lane| bits | 1 << lane),
        })
    }
}

#[inline(always)]
fn copy_rows<const N: usize>(target: &mut [Lanes; N], to: usize, source: &[Lanes; N], from: usize) {
    for row in 0..N {
        target[row][to] = source[row][from];
    }
}

/// Prefetches the next value into the cache.
#[inline(always)]
pub fn prefetch<T>(next: Option<&T>) {
    #[cfg(target_arch = "x86_64")]
    if let Some(next) = next {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let first = std::ptr::from_ref(next).cast::<i8>();
        for line in 0..size_of::<T>() / 64 {
            // SAFETY: a prefetch has no effect on what the program sees, at any address.
            #[allow(unsafe_code, reason = "the language has no other way to prefetch")]
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(64 * line));
            }
        }
    }
}

/// Prefetches the state of a packet, of `rows` rows.
#[inline(always)]
pub fn prefetch_state(state: &[Row], packet: usize, rows: usize) {
    let next = state.get(packet * rows..(packet + 1) * rows);
    for row in next.unwrap_or_default() {
        prefetch(Some(row));
    }
}

/// A fixed number of rows for each packet: the states of the laws, or the results of a pass.
#[derive(Debug, Clone)]
pub struct Rows {
    per_packet: usize,
    rows: Vec<Row>,
}

impl Rows {
    /// Without packets; with `per_packet` rows for each packet to come.
    pub fn new(per_packet: usize) -> Self {
        Self {
            per_packet: per_packet.max(1),
            rows: Vec::new(),
        }
    }

    /// Rows of a packet.
    pub fn per_packet(&self) -> usize {
        self.per_packet
    }

    /// Changes the number of packets; new rows have the value `initial`.
    pub fn resize(&mut self, packets: usize, initial: f32) {
        let rows = packets * self.per_packet;
        self.rows.resize(rows, Row([initial; LANES]));
    }

    /// Rows of all packets, one after the other.
    pub fn all(&self) -> &[Row] {
        &self.rows
    }

    /// The same, mutable.
    pub fn all_mut(&mut self) -> &mut [Row] {
        &mut self.rows
    }

    /// Rows of one packet.
    #[inline(always)]
    pub fn of(&self, packet: usize) -> &[Row] {
        &self.rows[packet * self.per_packet..(packet + 1) * self.per_packet]
    }

    /// The same, mutable.
    #[inline(always)]
    pub fn of_mut(&mut self, packet: usize) -> &mut [Row] {
        &mut self.rows[packet * self.per_packet..(packet + 1) * self.per_packet]
    }

    /// The rows packet by packet.
    pub fn packets(&self) -> rayon::slice::ChunksExact<'_, Row> {
        self.rows.par_chunks_exact(self.per_packet)
    }

    /// The same, mutable.
    pub fn packets_mut(&mut self) -> rayon::slice::ChunksExactMut<'_, Row> {
        self.rows.par_chunks_exact_mut(self.per_packet)
    }
}

/// Turns a batch of samples into unsorted packets with the initial state of their law.
pub fn packets_from(
    batch: &Samples,
    laws: &[PreparedLaw],
    packets: &mut Vec<Packet>,
    state: &mut Rows,
) {
    let affine = batch.velocity_gradient.transpose().to_cols_array();
    for (start, positions) in (0..).step_by(LANES).zip(batch.position.chunks(LANES)) {
        let mut packet = Packet::EMPTY;
        packet.material = batch.material as u8;
        packet.len = positions.len() as u8;
        for (lane, p) in positions.iter().enumerate() {
            let v = batch.velocity.get(start + lane);
            let v = v.copied().unwrap_or_default();
            for axis in 0..3 {
                packet.position[axis][lane] = p[axis];
                packet.velocity[axis][lane] = v[axis];
            }
            for (row, c) in packet.affine.iter_mut().zip(affine) {
                row[lane] = c;
            }
            packet.volume[lane] = batch.volume;
            packet.id[lane] = batch.first_id + (start + lane) as u32;
        }
        packets.push(packet);
        state.resize(packets.len(), 0.0);
        let columns = laws.get(batch.material).map_or(&[][..], |l| l.columns());
        let initial = columns
            .iter()
            .flat_map(|c| std::iter::repeat_n((c.initial)(batch), c.components));
        for (row, value) in state.of_mut(packets.len() - 1).iter_mut().zip(initial) {
            row.0[..positions.len()].fill(value);
        }
    }
}

/// Fills the lanes past `len` with copies of the last particle without volume.
pub fn pad(packet: &mut Packet, state: &mut [Row]) {
    let len = packet.len as usize;
    if len == 0 || len == LANES {
        return;
    }
    let source = *packet;
    for lane in len..LANES {
        packet.copy_lane(lane, &source, len - 1);
        packet.volume[lane] = 0.0;
    }
    for row in state {
        let last = row.0[len - 1];
        row.0[len..].fill(last);
    }
}
