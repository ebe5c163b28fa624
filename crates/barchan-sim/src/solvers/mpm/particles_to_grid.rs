//! Particles → grid: mass, momentum and the impulse of the stress, Eq. 7, 9, 10 and 23 of [Klar16].
//!
//! Node i receives  w m,  w m (v + C (x_i − x_p))  and  −Δt V⁰ τ ∇w: fused, or momentum and forces separately.

use super::particles::{Packet, prefetch};
use super::transfer::{Quads, RowWeights, Stencil, TileFrame, interleave, per_float};
use crate::grid::tile::Tile;
use crate::math::Sym3;
use crate::math::lanes::LANES;
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x16};

/// Parameters of the scatter.
#[derive(Debug, Clone, Copy)]
pub struct ScatterParams<'a> {
    /// Grid spacing h [m].
    pub dx: f32,
    /// Factor on the forces: the time step [s] for their impulse.
    pub dt: f32,
    /// Density of each material [kg/m³].
    pub density: &'a [f32],
}

/// Bit of `TERMS`: mass and momentum, w m and w m (v + C (x_i − x_p)).
pub const MOMENTUM: usize = 1;
/// Bit of `TERMS`: forces times Δt, −Δt V⁰ τ ∇w.
pub const FORCES: usize = 2;

/// Four-vectors of each particle: (m v, m), m h C by columns, −Δt V τ/h by columns.
struct Contribution {
    momentum: Quads,
    affine: [Quads; 3],
    impulse: [Quads; 3],
}

/// Adds the `TERMS` of the packets of one block to its tile, which must be zero or hold earlier contributions. `stress(p)`:
/// Kirchhoff stress [Pa] of packet p of the block.
#[inline(always)]
pub fn scatter_block<S: Simd, const D: usize, const K: usize, const TERMS: usize>(
    simd: S,
    packets: &[Packet],
    stress: impl Fn(usize, &Packet) -> Sym3<f32x16<S>>,
    frame: &TileFrame,
    params: &ScatterParams<'_>,
    tile: &mut [f32],
) {
    let zero = [[f32x16::splat(simd, 0.0); K]; K];
    // Rows of the present stencil; they are added to the tile when the next cell begins.
    let (mut rows, mut at) = (zero, usize::MAX);
    let mut stencil = Stencil::<K>::ZERO;
    for (p, packet) in packets.iter().enumerate() {
        prefetch(packets.get(p + 1));
        stencil.set::<S, D>(simd, packet, frame);
        let contribution = contributions::<S, TERMS>(simd, packet, stress(p, packet), params);
        for lane in 0..packet.len as usize {
            if stencil.start[lane] != at {
                add_rows::<S, D, K>(simd, tile, at, &rows);
                (rows, at) = (zero, stencil.start[lane]);
            }
            add_particle::<S, D, K, TERMS>(simd, lane, &stencil, &contribution, &mut rows);
        }
    }
    add_rows::<S, D, K>(simd, tile, at, &rows);
}

#[inline(always)]
fn contributions<S: Simd, const TERMS: usize>(
    simd: S,
    packet: &Packet,
    stress: Sym3<f32x16<S>>,
    params: &ScatterParams<'_>,
) -> Contribution {
    let load = |lanes: &[f32; LANES]| f32x16::load_array_ref(simd, lanes);
    let zero = f32x16::splat(simd, 0.0);
    let volume = load(&packet.volume);
    let mut out = Contribution {
        momentum: [0.0; 4 * LANES],
        affine: [[0.0; 4 * LANES]; 3],
        impulse: [[0.0; 4 * LANES]; 3],
    };
    if TERMS & MOMENTUM != 0 {
        let mass = volume * params.density[packet.material as usize];
        let mass_dx = mass * params.dx;
        let v = |axis: usize| mass * load(&packet.velocity[axis]);
        interleave([v(0), v(1), v(2), mass], &mut out.momentum);
        for (column, quads) in out.affine.iter_mut().enumerate() {
            let c = |row: usize| mass_dx * load(&packet.affine[row * 3 + column]);
            interleave([c(0), c(1), c(2), zero], quads);
        }
    }
    if TERMS & FORCES != 0 {
        let impulse = volume * (-params.dt / params.dx);
        let [xx, yy, zz, yz, xz, xy] = stress.times(impulse).to_array();
        let columns = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
        for (tau, quads) in columns.into_iter().zip(&mut out.impulse) {
            interleave([tau[0], tau[1], tau[2], zero], quads);
        }
    }
    out
}

/// Row (i, j) of nodes along y gets  w_x w_z Y + (w_x d_x A_x + g_x T_x) w_z + w_x (w_z d_z A_z + g_z T_z), in which the
/// row's own weights are lanes of Y = w_y (Q + d_y A_y) + g_y T_y, of A = w_y m h C and of T = −w_y Δt V τ/h.
#[inline(always)]
fn add_particle<S: Simd, const D: usize, const K: usize, const TERMS: usize>(
    simd: S,
    lane: usize,
    stencil: &Stencil<K>,
    contribution: &Contribution,
    rows: &mut [[f32x16<S>; K]; K],
) {
    let quad = |quads: &Quads| per_float(simd, &quads[lane * 4..lane * 4 + 4]);
    let number = |lanes: &[f32; LANES]| f32x16::splat(simd, lanes[lane]);
    // Weight times distance for the affine term, derivative for the forces: both terms, or the one in `TERMS`.
    let both = |m: f32x16<S>, affine: f32x16<S>, g: f32x16<S>, impulse: f32x16<S>| match TERMS {
        MOMENTUM => m * affine,
        FORCES => g * impulse,
        _ => m.mul_add(affine, g * impulse),
    };
    let [affine_x, affine_y, affine_z] = &contribution.affine;
    let [impulse_x, impulse_y, impulse_z] = &contribution.impulse;
    let y = RowWeights::new::<K>(simd, stencil.y[lane]);
    let along_y = y.d.mul_add(quad(affine_y), quad(&contribution.momentum));
    let along_y = both(y.w, along_y, y.g, quad(impulse_y));

    let mut along_z = [f32x16::splat(simd, 0.0); K];
    if D == 3 {
        let (affine, impulse) = (y.w * quad(affine_z), y.w * quad(impulse_z));
        for j in 0..K {
            let (m, g) = (number(&stencil.m[2][j]), number(&stencil.g[2][j]));
            along_z[j] = both(m, affine, g, impulse);
        }
    }
    let (affine, impulse) = (y.w * quad(affine_x), y.w * quad(impulse_x));
    for i in 0..K {
        let w = number(&stencil.w[0][i]);
        let (m, g) = (number(&stencil.m[0][i]), number(&stencil.g[0][i]));
        let plane = w.mul_add(along_y, both(m, affine, g, impulse));
        if D == 2 {
            rows[i][0] += plane;
            continue;
        }
        for j in 0..K {
            let sum = w.mul_add(along_z[j], rows[i][j]);
            rows[i][j] = number(&stencil.w[2][j]).mul_add(plane, sum);
        }
    }
}

#[inline(always)]
fn add_rows<S: Simd, const D: usize, const K: usize>(
    simd: S,
    tile: &mut [f32],
    at: usize,
    rows: &[[f32x16<S>; K]; K],
) {
    if at == usize::MAX {
        return;
    }
    for i in 0..K {
        for j in 0..if D == 3 { K } else { 1 } {
            let row = at + (i * Tile::<D, K>::NZ + j) * Tile::<D, K>::ROW;
            let nodes = &mut tile[row..row + 16];
            (f32x16::from_slice(simd, nodes) + rows[i][j]).store_slice(nodes);
        }
    }
}
