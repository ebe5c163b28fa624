//! Grid → particles: velocity, affine velocity and gradient (Eq. 11, 12, 15), position and strain (Eq. 13, 16), then the
//! law (Eq. 17, 29–31).
//!
//! Differs from [Klar16]: positions and strain use the velocity with friction, so that what sticks does not creep.

use super::particles::Packet;
use super::transfer::{Quads, Stencil, TileFrame, deinterleave, per_node, sum_nodes};
use crate::grid::tile::Tile;
use crate::material::drucker_prager::{Sand, SandState};
use crate::material::elastic::Elastic;
use crate::math::lanes::{LANES, Lanes};
use crate::math::sym3::Mat3;
use crate::math::{Sym3, bspline};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x4, f32x16};

/// A material's law, prepared.
#[derive(Debug, Clone, Copy)]
pub enum PreparedLaw {
    /// Drucker–Prager sand.
    Sand(Sand),
    /// Elastic solid.
    Elastic(Elastic),
}

/// What the gather needs beside particles and grid.
#[derive(Debug, Clone, Copy)]
pub struct GatherParams<'a> {
    /// Grid spacing h [m].
    pub dx: f32,
    /// Time step [s].
    pub dt: f32,
    /// FLIP part; `None`: APIC.
    pub flip: Option<f32>,
    /// Law of each material.
    pub laws: &'a [PreparedLaw],
}

/// What a block reports after the gather.
#[derive(Debug, Clone, Copy, Default)]
pub struct BlockReport {
    /// Largest squared speed [m²/s²].
    pub max_speed_squared: f32,
    /// A particle left the rim: sort before the next step.
    pub escaped: bool,
    /// First particle with a value that is not finite: packet in block, lane.
    pub not_finite: Option<(u32, u32)>,
}

/// Velocity at the particle, Σ w v d by columns and Σ v ∇w by columns, as four-vectors.
struct Gathered {
    velocity: Quads,
    moment: [Quads; 3],
    gradient: [Quads; 3],
}

/// Updates the packets of one block from its tile of velocities. `old`: velocities before forces, for FLIP.
#[inline(always)]
pub fn gather_block<S: Simd, const D: usize, const K: usize>(
    simd: S,
    packets: &mut [Packet],
    frame: &TileFrame,
    params: &GatherParams<'_>,
    tile: &[f32],
    old: Option<&[f32]>,
) -> BlockReport {
    let mut report = BlockReport::default();
    for (p, packet) in packets.iter_mut().enumerate() {
        let stencil = Stencil::<K>::new::<S, D>(simd, packet, frame);
        let mut gathered = Gathered {
            velocity: [0.0; 4 * LANES],
            moment: [[0.0; 4 * LANES]; 3],
            gradient: [[0.0; 4 * LANES]; 3],
        };
        for lane in 0..LANES {
            gather_particle::<S, D, K>(simd, lane, &stencil, tile, &mut gathered);
        }
        let before = match (params.flip, old) {
            (Some(flip), Some(old)) if flip > 0.0 => {
                let mut quads = [0.0; 4 * LANES];
                for lane in 0..LANES {
                    let v = gather_velocity::<S, D, K>(simd, lane, &stencil, old);
                    v.store_slice(&mut quads[lane * 4..lane * 4 + 4]);
                }
                Some(deinterleave(simd, &quads))
            }
            _ => None,
        };
        update_velocity::<S, K>(simd, packet, &gathered, before, params);
        advance_packet::<S, D>(simd, packet, &gathered, params);
        move_packet::<S, D, K>(
            simd,
            packet,
            &gathered,
            frame,
            params.dt,
            p as u32,
            &mut report,
        );
    }
    report
}

/// Interpolated velocity alone.
#[inline(always)]
fn gather_velocity<S: Simd, const D: usize, const K: usize>(
    simd: S,
    lane: usize,
    stencil: &Stencil<K>,
    tile: &[f32],
) -> f32x4<S> {
    let [x, y, z] = stencil.axes(lane);
    let mut sum = f32x16::splat(simd, 0.0);
    for i in 0..K {
        for j in 0..if D == 3 { K } else { 1 } {
            let at = stencil.start[lane] + (i * Tile::<D, K>::NZ + j) * Tile::<D, K>::ROW;
            sum += f32x16::from_slice(simd, &tile[at..at + 16]) * (x.w[i] * z.w[j]);
        }
    }
    sum_nodes(sum * per_node(simd, y.w))
}

#[inline(always)]
fn gather_particle<S: Simd, const D: usize, const K: usize>(
    simd: S,
    lane: usize,
    stencil: &Stencil<K>,
    tile: &[f32],
    out: &mut Gathered,
) {
    let [x, y, z] = stencil.axes(lane);
    let zero = f32x16::splat(simd, 0.0);
    let (mut value, mut moment_x, mut gradient_x) = (zero, zero, zero);
    let (mut moment_z, mut gradient_z) = (zero, zero);
    let start = stencil.start[lane];
    for i in 0..K {
        let (mut plane, mut plane_moment, mut plane_gradient) = (zero, zero, zero);
        for j in 0..if D == 3 { K } else { 1 } {
            let at = start + (i * Tile::<D, K>::NZ + j) * Tile::<D, K>::ROW;
            let row = f32x16::from_slice(simd, &tile[at..at + 16]);
            plane = row.mul_add(f32x16::splat(simd, z.w[j]), plane);
            if D == 3 {
                plane_moment = row.mul_add(f32x16::splat(simd, z.w[j] * z.d[j]), plane_moment);
                plane_gradient = row.mul_add(f32x16::splat(simd, z.g[j]), plane_gradient);
            }
        }
        let w = f32x16::splat(simd, x.w[i]);
        value = plane.mul_add(w, value);
        moment_x = plane.mul_add(w * x.d[i], moment_x);
        gradient_x = plane.mul_add(f32x16::splat(simd, x.g[i]), gradient_x);
        if D == 3 {
            moment_z = plane_moment.mul_add(w, moment_z);
            gradient_z = plane_gradient.mul_add(w, gradient_z);
        }
    }
    let (w, g, d) = (
        per_node(simd, y.w),
        per_node(simd, y.g),
        per_node(simd, y.d),
    );
    let weighted = value * w;
    let store = |quads: &mut Quads, row: f32x16<S>| {
        sum_nodes(row).store_slice(&mut quads[lane * 4..lane * 4 + 4])
    };
    store(&mut out.velocity, weighted);
    store(&mut out.moment[0], moment_x * w);
    store(&mut out.moment[1], weighted * d);
    store(&mut out.gradient[0], gradient_x * w);
    store(&mut out.gradient[1], value * g);
    if D == 3 {
        store(&mut out.moment[2], moment_z * w);
        store(&mut out.gradient[2], gradient_z * w);
    }
}

/// v and C of Eq. 11–12, or the FLIP/PIC blend without C.
#[inline(always)]
fn update_velocity<S: Simd, const K: usize>(
    simd: S,
    packet: &mut Packet,
    gathered: &Gathered,
    before: Option<[f32x16<S>; 4]>,
    params: &GatherParams<'_>,
) {
    let v = deinterleave(simd, &gathered.velocity);
    let Some(flip) = params.flip else {
        let scale = (1.0 / (bspline::inertia::<K>() * f64::from(params.dx))) as f32;
        for axis in 0..3 {
            v[axis].store_array(&mut packet.velocity[axis]);
        }
        for column in 0..3 {
            let moment = deinterleave(simd, &gathered.moment[column]);
            for row in 0..3 {
                (moment[row] * scale).store_array(&mut packet.affine[row * 3 + column]);
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

/// Strain by Δt ∇v, then the law of the packet's material.
#[inline(always)]
fn advance_packet<S: Simd, const D: usize>(
    simd: S,
    packet: &mut Packet,
    gathered: &Gathered,
    params: &GatherParams<'_>,
) {
    let scale = params.dt / params.dx;
    let zero = f32x16::splat(simd, 0.0);
    let mut increment: Mat3<f32x16<S>> = [[zero; 3]; 3];
    for column in 0..3 {
        let gradient = deinterleave(simd, &gathered.gradient[column]);
        for row in 0..3 {
            increment[row][column] = gradient[row] * scale;
        }
    }
    let load = |lanes: &Lanes| f32x16::load_array_ref(simd, lanes);
    let mut strain = [zero; 6];
    for i in 0..6 {
        strain[i] = load(&packet.strain[i]);
    }
    let strain = Sym3::from_array(strain);
    let (strain, stress) = match &params.laws[packet.material as usize] {
        PreparedLaw::Sand(sand) => {
            let state = SandState {
                strain,
                hardening: load(&packet.hardening),
                volume_gain: load(&packet.volume_gain),
            };
            let response = sand.advance::<_, D>(state, &increment);
            response.state.hardening.store_array(&mut packet.hardening);
            response
                .state
                .volume_gain
                .store_array(&mut packet.volume_gain);
            for (case, value) in packet.case.iter_mut().zip(response.case.to_array()) {
                *case = value as u8;
            }
            (response.state.strain, response.stress)
        }
        PreparedLaw::Elastic(elastic) => elastic.advance::<_, D>(strain, &increment),
    };
    let (strain, stress) = (strain.to_array(), stress.to_array());
    for i in 0..6 {
        strain[i].store_array(&mut packet.strain[i]);
        stress[i].store_array(&mut packet.stress[i]);
    }
}

/// Eq. 13, and the report: fastest particle, left rim, values that are not finite.
#[inline(always)]
fn move_packet<S: Simd, const D: usize, const K: usize>(
    simd: S,
    packet: &mut Packet,
    gathered: &Gathered,
    frame: &TileFrame,
    dt: f32,
    index: u32,
    report: &mut BlockReport,
) {
    let zero = f32x16::splat(simd, 0.0);
    let v = deinterleave(simd, &gathered.velocity);
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
    let mut strain = zero;
    for e in &packet.strain {
        strain += SimdBase::abs(f32x16::load_array_ref(simd, e));
    }
    let limit = f32x16::splat(simd, f32::MAX);
    let finite = (speed + strain).simd_le(limit).to_bitmask();
    report.escaped |= escaped.any_true();
    let live = (1u64 << packet.len) - 1;
    if finite & live != live && report.not_finite.is_none() {
        report.not_finite = Some((index, (!finite & live).trailing_zeros()));
    }
    report.max_speed_squared = report.max_speed_squared.max(speed.reduce_max());
}
