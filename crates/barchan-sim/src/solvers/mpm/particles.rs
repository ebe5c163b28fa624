//! Particle state: packets of sixteen, structure of arrays inside a packet, packets of a block side by side.
//!
//! A packet holds particles of one block and one material, so a law runs over whole lanes without branches. Lanes past
//! `len` are copies of the last particle with no volume: they cost time, never change a result.

use crate::math::lanes::{LANES, Lanes};
use crate::sampling::Samples;
use barchan_frame::Unit;
use glam::Vec3;

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
    /// b − I of the elastic deformation: xx yy zz yz xz xy.
    pub strain: [Lanes; 6],
    /// Kirchhoff stress τ [Pa]: xx yy zz yz xz xy.
    pub stress: [Lanes; 6],
    /// Hardening state q.
    pub hardening: Lanes,
    /// Log volume gained in tension, v_c.
    pub volume_gain: Lanes,
    /// Undeformed volume V⁰ [m³].
    pub volume: Lanes,
    /// Stable identity.
    pub id: [u32; LANES],
    /// Part of the cone found by the last projection.
    pub case: [u8; LANES],
    /// Index of the material.
    pub material: u8,
    /// Particles in the packet.
    pub len: u8,
}

/// A column of a checkpoint.
pub struct FloatColumn {
    /// Name.
    pub name: &'static str,
    /// Values per particle.
    pub components: usize,
    /// SI unit.
    pub unit: Unit,
    /// What it means.
    pub meaning: &'static str,
    /// Its rows in a packet.
    pub rows: fn(&Packet) -> &[Lanes],
}

/// Columns of a checkpoint, in the order of [`Packet::floats`].
pub const FLOAT_COLUMNS: [FloatColumn; 8] = [
    column("position", 3, Unit::Meter, "position", |p| &p.position),
    column("velocity", 3, Unit::MeterPerSecond, "velocity", |p| {
        &p.velocity
    }),
    column(
        "affine",
        9,
        Unit::PerSecond,
        "affine velocity C, row by row",
        |p| &p.affine,
    ),
    column(
        "strain",
        6,
        Unit::One,
        "elastic b − I: xx yy zz yz xz xy",
        |p| &p.strain,
    ),
    column(
        "stress",
        6,
        Unit::Pascal,
        "Kirchhoff stress: xx yy zz yz xz xy",
        |p| &p.stress,
    ),
    column("hardening", 1, Unit::One, "hardening state q", |p| {
        std::slice::from_ref(&p.hardening)
    }),
    column(
        "volume_gain",
        1,
        Unit::One,
        "log volume gained in tension",
        |p| std::slice::from_ref(&p.volume_gain),
    ),
    column("volume", 1, Unit::CubicMeter, "undeformed volume", |p| {
        std::slice::from_ref(&p.volume)
    }),
];

const fn column(
    name: &'static str,
    components: usize,
    unit: Unit,
    meaning: &'static str,
    rows: fn(&Packet) -> &[Lanes],
) -> FloatColumn {
    FloatColumn {
        name,
        components,
        unit,
        meaning,
        rows,
    }
}

impl Packet {
    /// No particle.
    pub const EMPTY: Self = Self {
        position: [[0.0; LANES]; 3],
        velocity: [[0.0; LANES]; 3],
        affine: [[0.0; LANES]; 9],
        strain: [[0.0; LANES]; 6],
        stress: [[0.0; LANES]; 6],
        hardening: [0.0; LANES],
        volume_gain: [0.0; LANES],
        volume: [0.0; LANES],
        id: [0; LANES],
        case: [0; LANES],
        material: 0,
        len: 0,
    };

    /// Every float row, in the order of [`FLOAT_COLUMNS`].
    pub fn floats(&self) -> impl Iterator<Item = &Lanes> {
        let scalars = [&self.hardening, &self.volume_gain, &self.volume];
        self.position
            .iter()
            .chain(&self.velocity)
            .chain(&self.affine)
            .chain(&self.strain)
            .chain(&self.stress)
            .chain(scalars)
    }

    /// Every float row, mutable, in the order of [`FLOAT_COLUMNS`].
    pub fn floats_mut(&mut self) -> impl Iterator<Item = &mut Lanes> {
        let scalars = [&mut self.hardening, &mut self.volume_gain, &mut self.volume];
        self.position
            .iter_mut()
            .chain(&mut self.velocity)
            .chain(&mut self.affine)
            .chain(&mut self.strain)
            .chain(&mut self.stress)
            .chain(scalars)
    }

    /// Copies one particle; volume included.
    #[inline(always)]
    pub fn copy_lane(&mut self, to: usize, source: &Self, from: usize) {
        copy_rows(&mut self.position, to, &source.position, from);
        copy_rows(&mut self.velocity, to, &source.velocity, from);
        copy_rows(&mut self.affine, to, &source.affine, from);
        copy_rows(&mut self.strain, to, &source.strain, from);
        copy_rows(&mut self.stress, to, &source.stress, from);
        self.hardening[to] = source.hardening[from];
        self.volume_gain[to] = source.volume_gain[from];
        self.volume[to] = source.volume[from];
        self.id[to] = source.id[from];
        self.case[to] = source.case[from];
    }

    /// Asks the memory for the packet that is next, so that it is there when its turn comes.
    #[inline(always)]
    pub fn prefetch(packets: &[Self], next: usize) {
        #[cfg(target_arch = "x86_64")]
        if let Some(packet) = packets.get(next) {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let first = std::ptr::from_ref(packet).cast::<i8>();
            for line in 0..size_of::<Self>() / 64 {
                // SAFETY: a prefetch has no effect on what the program sees, at any address.
                #[allow(unsafe_code, reason = "the language has no other way to prefetch")]
                unsafe {
                    _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(64 * line));
                }
            }
        }
    }

    /// Position of a particle [m].
    pub fn position_of(&self, lane: usize) -> Vec3 {
        Vec3::new(
            self.position[0][lane],
            self.position[1][lane],
            self.position[2][lane],
        )
    }

    /// Velocity of a particle [m/s].
    pub fn velocity_of(&self, lane: usize) -> Vec3 {
        Vec3::new(
            self.velocity[0][lane],
            self.velocity[1][lane],
            self.velocity[2][lane],
        )
    }
}

#[inline(always)]
fn copy_rows<const N: usize>(target: &mut [Lanes; N], to: usize, source: &[Lanes; N], from: usize) {
    for row in 0..N {
        target[row][to] = source[row][from];
    }
}

/// Turns a batch of samples into packets, unsorted.
pub fn packets_from(batch: &Samples, out: &mut Vec<Packet>) {
    let rows = batch.velocity_gradient.transpose().to_cols_array();
    for (start, positions) in (0..).step_by(LANES).zip(batch.position.chunks(LANES)) {
        let mut packet = Packet::EMPTY;
        packet.material = batch.material as u8;
        packet.len = positions.len() as u8;
        for (lane, p) in positions.iter().enumerate() {
            let v = batch
                .velocity
                .get(start + lane)
                .copied()
                .unwrap_or_default();
            for axis in 0..3 {
                packet.position[axis][lane] = p[axis];
                packet.velocity[axis][lane] = v[axis];
            }
            for (row, c) in packet.affine.iter_mut().zip(rows) {
                row[lane] = c;
            }
            packet.volume[lane] = batch.volume;
            packet.volume_gain[lane] = batch.volume_gain;
            packet.id[lane] = batch.first_id + (start + lane) as u32;
        }
        out.push(packet);
    }
}

/// Fills the lanes past `len` with copies of the last particle that weigh nothing.
pub fn pad(packet: &mut Packet) {
    let len = packet.len as usize;
    if len == 0 || len == LANES {
        return;
    }
    let source = *packet;
    for lane in len..LANES {
        packet.copy_lane(lane, &source, len - 1);
        packet.volume[lane] = 0.0;
    }
}
