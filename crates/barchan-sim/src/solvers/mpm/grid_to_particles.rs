//! Grid → particles: velocity, affine velocity and gradient (Eq. 11, 12, 15), position and strain (Eq. 13, 16), then the
//! law (Eq. 17, 29–31).
//!
//! Differs from [Klar16]: positions and strain use the velocity with friction, so that sticking material does not creep.

use super::particles::{Packet, prefetch, prefetch_state};
use super::transfer::{Stencil, TileFrame, transpose};
use crate::grid::tile::Tile;
use crate::material::PreparedLaw;
use crate::math::bspline;
use crate::math::lanes::{LANES, Lanes, Row};
use crate::math::sym3::Mat3;
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x16};

/// Parameters of the gather.
#[derive(Debug, Clone, Copy)]
pub struct GatherParams<'a> {
    /// Grid spacing h [m].
    pub dx: f32,
    /// Time step [s].
    pub dt: f32,
    /// FLIP fraction; `None`: APIC.
    pub flip: Option<f32>,
    /// Law of each material.
    pub laws: &'a [PreparedLaw],
    /// Rows of the law's state for each packet.
    pub state_rows: usize,
}

/// Result of the gather of a block.
#[derive(Debug, Clone, Copy, Default)]
pub struct BlockReport {
    /// Largest squared speed [m²/s²].
    pub max_speed_squared: f32,
    /// A particle left the rim of the block: sort before the next step.
    pub escaped: bool,
    /// First particle with a value that is not finite: packet in block, lane.
    pub not_finite: Option<(u32, u32)>,
}

/// Quantities gathered by sixteen particles, `[component]` or `[component][axis]`.
pub struct Gathered<S: Simd> {
    /// Σ w v [m/s].
    pub velocity: [f32x16<S>; 3],
    /// Σ v ∇w, times h [m/s].
    pub gradient: Mat3<f32x16<S>>,
    /// Σ w v (x_i − x_p)/h [m/s].
    pub moment: Mat3<f32x16<S>>,
}

/// Updates the packets of one block and the states of their laws from its tile of velocities. `old`: velocities before
/// forces, for FLIP.
#[inline(always)]
pub fn gather_block<S: Simd, const D: usize, const K: usize>(
    simd: S,
    (packets, state): (&mut [Packet], &mut [Row]),
    frame: &TileFrame,
    params: &GatherParams<'_>,
    tile: &[f32],
    old: Option<&[f32]>,
) -> BlockReport {
    let mut report = BlockReport::default();
    let (mut stencil, mut planes) = (Stencil::<K>::ZERO, Planes::<K>::ZERO);
    for p in 0..packets.len() {
        prefetch(packets.get(p + 1));
        prefetch_state(state, p + 1, params.state_rows);
        let packet = &mut packets[p];
        let state = &mut state[p * params.state_rows..(p + 1) * params.state_rows];
        stencil.set::<S, D>(simd, packet, frame);
        let gathered = gather::<S, D, K>(simd, &stencil, tile, &mut planes);
        let before = match (params.flip, old) {
            (Some(flip), Some(old)) if flip > 0.0 => {
                Some(gather::<S, D, K>(simd, &stencil, old, &mut planes).velocity)
            }
            _ => None,
        };
        update_velocity::<S, K>(
            simd,
            packet,
            &gathered.velocity,
            &gathered.moment,
            before,
            params,
        );
        let increment = increment(&gathered.gradient, params.dt / params.dx);
        let law = &params.laws[packet.material as usize];
        let strain = law.advance::<S, D>(simd, state, &increment, &mut packet.flag);
        let moved = move_packet::<S, D, K>(simd, packet, &gathered.velocity, frame, params.dt);
        report.add(packet, p as u32, moved, strain);
    }
    report
}

/// Part of [`Gathered`]: velocity, three rows.
pub const VELOCITY: usize = 0;
/// Part of [`Gathered`]: gradient, nine rows.
pub const GRADIENT: usize = 1;
/// Part of [`Gathered`]: affine moment, nine rows.
pub const MOMENT: usize = 2;

/// Rows of a packet for a part of [`Gathered`].
pub const fn rows_of(part: usize) -> usize {
    if part == VELOCITY { 3 } else { 9 }
}

/// Gathers one `PART` for the packets of a block into `out`.
#[inline(always)]
pub fn gather_part<S: Simd, const D: usize, const K: usize, const PART: usize>(
    simd: S,
    packets: &[Packet],
    frame: &TileFrame,
    tile: &[f32],
    out: &mut [Row],
) {
    let (mut stencil, mut planes) = (Stencil::<K>::ZERO, Planes::<K>::ZERO);
    for (packet, out) in packets.iter().zip(out.chunks_exact_mut(rows_of(PART))) {
        stencil.set::<S, D>(simd, packet, frame);
        let gathered = gather::<S, D, K>(simd, &stencil, tile, &mut planes);
        for (i, row) in out.iter_mut().enumerate() {
            let value = match PART {
                VELOCITY => gathered.velocity[i],
                GRADIENT => gathered.gradient[i / 3][i % 3],
                _ => gathered.moment[i / 3][i % 3],
            };
            value.store_array(&mut row.0);
        }
    }
}

/// Δt ∇v of a gradient times h, `scale` = Δt/h.
#[inline(always)]
pub fn increment<S: Simd>(gradient: &Mat3<f32x16<S>>, scale: f32) -> Mat3<f32x16<S>> {
    let mut increment = *gradient;
    for row in 0..3 {
        for column in 0..3 {
            increment[row][column] = gradient[row][column] * scale;
        }
    }
    increment
}

/// Rows of nodes along y of sixteen particles, already summed along another axis. Scratch of [`gather`].
struct Planes<const K: usize> {
    /// Summed along z, for each node along x.
    along_z: [[Lanes; LANES]; K],
    /// Summed along x, for each node along z.
    along_x: [[Lanes; LANES]; K],
}

impl<const K: usize> Planes<K> {
    const ZERO: Self = Self {
        along_z: [[[0.0; LANES]; LANES]; K],
        along_x: [[[0.0; LANES]; LANES]; K],
    };
}

/// Sums over the stencils of sixteen particles.
///
/// Particle by particle the rows are summed along z, which leaves a row for each i, and along x, which leaves one for each
/// j. Transposed, with particles in the lanes, these rows give all the sums.
#[inline(always)]
fn gather<S: Simd, const D: usize, const K: usize>(
    simd: S,
    stencil: &Stencil<K>,
    tile: &[f32],
    planes: &mut Planes<K>,
) -> Gathered<S> {
    let Planes { along_z, along_x } = planes;
    let zero = f32x16::splat(simd, 0.0);
    let (mut rows, mut at) = ([[zero; K]; K], usize::MAX);
    for lane in 0..LANES {
        if stencil.start[lane] != at {
            at = stencil.start[lane];
            load_rows::<S, D, K>(simd, tile, at, &mut rows);
        }
        let number = |lanes: &Lanes| f32x16::splat(simd, lanes[lane]);
        if D == 2 {
            for i in 0..K {
                rows[i][0].store_array(&mut along_z[i][lane]);
            }
            continue;
        }
        for i in 0..K {
            let mut sum = rows[i][0] * number(&stencil.w[2][0]);
            for j in 1..K {
                sum = rows[i][j].mul_add(number(&stencil.w[2][j]), sum);
            }
            sum.store_array(&mut along_z[i][lane]);
        }
        for j in 0..K {
            let mut sum = rows[0][j] * number(&stencil.w[0][0]);
            for i in 1..K {
                sum = rows[i][j].mul_add(number(&stencil.w[0][i]), sum);
            }
            sum.store_array(&mut along_x[j][lane]);
        }
    }
    let mut out = Gathered {
        velocity: [zero; 3],
        gradient: [[zero; 3]; 3],
        moment: [[zero; 3]; 3],
    };
    let load = |lanes: &Lanes| f32x16::load_array_ref(simd, lanes);
    for i in 0..K {
        let rows = transpose(simd, &along_z[i]);
        let (w, g, m) = (&stencil.w[0][i], &stencil.g[0][i], &stencil.m[0][i]);
        let (w, g, m) = (load(w), load(g), load(m));
        for c in 0..3 {
            let (mut value, mut gradient, mut moment) = (zero, zero, zero);
            for k in 0..K {
                let v = rows[4 * k + c];
                value = v.mul_add(load(&stencil.w[1][k]), value);
                gradient = v.mul_add(load(&stencil.g[1][k]), gradient);
                moment = v.mul_add(load(&stencil.m[1][k]), moment);
            }
            out.velocity[c] = value.mul_add(w, out.velocity[c]);
            out.gradient[c][0] = value.mul_add(g, out.gradient[c][0]);
            out.moment[c][0] = value.mul_add(m, out.moment[c][0]);
            out.gradient[c][1] = gradient.mul_add(w, out.gradient[c][1]);
            out.moment[c][1] = moment.mul_add(w, out.moment[c][1]);
        }
    }
    if D == 2 {
        return out;
    }
    for j in 0..K {
        let rows = transpose(simd, &along_x[j]);
        let (g, m) = (load(&stencil.g[2][j]), load(&stencil.m[2][j]));
        for c in 0..3 {
            let mut value = zero;
            for k in 0..K {
                value = rows[4 * k + c].mul_add(load(&stencil.w[1][k]), value);
            }
            out.gradient[c][2] = value.mul_add(g, out.gradient[c][2]);
            out.moment[c][2] = value.mul_add(m, out.moment[c][2]);
        }
    }
    out
}

#[inline(always)]
fn load_rows<S: Simd, const D: usize, const K: usize>(
    simd: S,
    tile: &[f32],
    at: usize,
    rows: &mut [[f32x16<S>; K]; K],
) {
    for i in 0..K {
        for j in 0..if D == 3 { K } else { 1 } {
            let row = at + (i * Tile::<D, K>::NZ + j) * Tile::<D, K>::ROW;
            rows[i][j] = f32x16::from_slice(simd, &tile[row..row + 16]);
        }
    }
}

/// v and C of Eq. 11–12, or the FLIP/PIC blend without C.
#[inline(always)]
pub fn update_velocity<S: Simd, const K: usize>(
    simd: S,
    packet: &mut Packet,
    v: &[f32x16<S>; 3],
    moment: &Mat3<f32x16<S>>,
    before: Option<[f32x16<S>; 3]>,
    params: &GatherParams<'_>,
) {
    let Some(flip) = params.flip else {
        let scale = (1.0 / (bspline::inertia::<K>() * f64::from(params.dx))) as f32;
        for axis in 0..3 {
            v[axis].store_array(&mut packet.velocity[axis]);
        }
        for row in 0..3 {
            for column in 0..3 {
                let c = moment[row][column] * scale;
                c.store_array(&mut packet.affine[row * 3 + column]);
            }
        }
        return;
    };
    for axis in 0..3 {
        let mut blended = v[axis];
        if let Some(before) = before {
            let own = f32x16::load_array_ref(simd, &packet.velocity[axis]);
            blended = (own - before[axis]).mul_add(f32x16::splat(simd, flip), v[axis]);
        }
        blended.store_array(&mut packet.velocity[axis]);
    }
}

/// Result of moving a packet.
pub struct Moved<S: Simd> {
    /// |v|² [m²/s²].
    pub speed_squared: f32x16<S>,
    /// Whether a particle left the rim of the block.
    pub escaped: bool,
}

/// Eq. 13: x ← x + Δt v.
#[inline(always)]
pub fn move_packet<S: Simd, const D: usize, const K: usize>(
    simd: S,
    packet: &mut Packet,
    v: &[f32x16<S>; 3],
    frame: &TileFrame,
    dt: f32,
) -> Moved<S> {
    let zero = f32x16::splat(simd, 0.0);
    let mut speed = zero;
    let mut escaped = zero.simd_lt(zero);
    for axis in 0..D {
        let x = v[axis].mul_add(
            f32x16::splat(simd, dt),
            f32x16::load_array_ref(simd, &packet.position[axis]),
        );
        x.store_array(&mut packet.position[axis]);
        let (_, base) = frame.locate(axis, x);
        escaped = escaped | base.simd_lt(zero) | base.simd_gt(Tile::<D, K>::MAX_BASE as f32);
        let own = f32x16::load_array_ref(simd, &packet.velocity[axis]);
        speed = own.mul_add(own, speed);
    }
    Moved {
        speed_squared: speed,
        escaped: escaped.any_true(),
    }
}

impl BlockReport {
    /// Adds packet `index` of the block: its largest speed, whether a particle has escaped, and the first non-finite value.
    #[inline(always)]
    pub fn add<S: Simd>(
        &mut self,
        packet: &Packet,
        index: u32,
        moved: Moved<S>,
        strain: f32x16<S>,
    ) {
        let speed = moved.speed_squared;
        let limit = f32x16::splat(speed.simd, f32::MAX);
        let finite = (speed + strain).simd_le(limit).to_bitmask();
        self.escaped |= moved.escaped;
        let live = (1u64 << packet.len) - 1;
        if finite & live != live && self.not_finite.is_none() {
            self.not_finite = Some((index, (!finite & live).trailing_zeros()));
        }
        self.max_speed_squared = self.max_speed_squared.max(speed.reduce_max());
    }
}
