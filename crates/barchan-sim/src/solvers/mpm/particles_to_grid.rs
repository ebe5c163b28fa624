//! Particles → grid: mass, momentum and the impulse of the stress, Eq. 7, 9, 10 and 23 of [Klar16].
//!
//! Node i receives  w m,  w m (v + C (x_i − x_p))  and  −Δt V⁰ τ ∇w.

use super::particles::Packet;
use super::transfer::{Quads, Stencil, TileFrame, interleave, per_float, per_node};
use crate::grid::tile::Tile;
use crate::math::lanes::LANES;
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x16};

/// What the scatter needs beside the particles.
#[derive(Debug, Clone, Copy)]
pub struct ScatterParams<'a> {
    /// Grid spacing h [m].
    pub dx: f32,
    /// Time step [s]; 0 scatters momentum without forces.
    pub dt: f32,
    /// Density of each material [kg/m³].
    pub density: &'a [f32],
}

/// Four-vectors of each particle: (m v, m), m h C by columns, −Δt V τ/h by columns.
struct Contribution {
    momentum: Quads,
    affine: [Quads; 3],
    impulse: [Quads; 3],
}

/// Adds the packets of one block to its tile, which must be zero or hold earlier contributions.
#[inline(always)]
pub fn scatter_block<S: Simd, const D: usize, const K: usize>(
    simd: S,
    packets: &[Packet],
    frame: &TileFrame,
    params: &ScatterParams<'_>,
    tile: &mut [f32],
) {
    for packet in packets {
        let stencil = Stencil::<K>::new::<S, D>(simd, packet, frame);
        let contribution = contributions(simd, packet, params);
        for lane in 0..packet.len as usize {
            scatter_particle::<S, D, K>(simd, lane, &stencil, &contribution, tile);
        }
    }
}

#[inline(always)]
fn contributions<S: Simd>(simd: S, packet: &Packet, params: &ScatterParams<'_>) -> Contribution {
    let load = |lanes: &[f32; LANES]| f32x16::load_array_ref(simd, lanes);
    let zero = f32x16::splat(simd, 0.0);
    let volume = load(&packet.volume);
    let mass = volume * params.density[packet.material as usize];
    let mass_dx = mass * params.dx;
    let impulse = volume * (-params.dt / params.dx);

    let mut out = Contribution {
        momentum: [0.0; 4 * LANES],
        affine: [[0.0; 4 * LANES]; 3],
        impulse: [[0.0; 4 * LANES]; 3],
    };
    let v = &packet.velocity;
    interleave(
        [
            mass * load(&v[0]),
            mass * load(&v[1]),
            mass * load(&v[2]),
            mass,
        ],
        &mut out.momentum,
    );
    let stress = &packet.stress;
    let (xx, yy, zz) = (
        impulse * load(&stress[0]),
        impulse * load(&stress[1]),
        impulse * load(&stress[2]),
    );
    let (yz, xz, xy) = (
        impulse * load(&stress[3]),
        impulse * load(&stress[4]),
        impulse * load(&stress[5]),
    );
    for (column, tau) in [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
        .into_iter()
        .enumerate()
    {
        let c = |row: usize| mass_dx * load(&packet.affine[row * 3 + column]);
        interleave([c(0), c(1), c(2), zero], &mut out.affine[column]);
        interleave([tau[0], tau[1], tau[2], zero], &mut out.impulse[column]);
    }
    out
}

/// Row (i, j) of nodes along y gets  w_x w_z [W (Q + d C) + G T_y] + …, factored so that each row costs three fused multiply-adds.
#[inline(always)]
fn scatter_particle<S: Simd, const D: usize, const K: usize>(
    simd: S,
    lane: usize,
    stencil: &Stencil<K>,
    contribution: &Contribution,
    tile: &mut [f32],
) {
    let [x, y, z] = stencil.axes(lane);
    let quad = |quads: &Quads| per_float(simd, &quads[lane * 4..lane * 4 + 4]);
    let w = per_node(simd, y.w);
    let y_affine =
        per_node(simd, y.d).mul_add(quad(&contribution.affine[1]), quad(&contribution.momentum));
    let along_y = w.mul_add(
        y_affine,
        per_node(simd, y.g) * quad(&contribution.impulse[1]),
    );
    let (affine_x, impulse_x) = (
        w * quad(&contribution.affine[0]),
        w * quad(&contribution.impulse[0]),
    );
    let (affine_z, impulse_z) = (
        w * quad(&contribution.affine[2]),
        w * quad(&contribution.impulse[2]),
    );

    let start = stencil.start[lane];
    for i in 0..K {
        let plane = along_y * x.w[i] + affine_x * (x.w[i] * x.d[i]) + impulse_x * x.g[i];
        if D == 2 {
            add_row(simd, tile, start + i * Tile::<D, K>::ROW, plane);
            continue;
        }
        let (plane_affine, plane_impulse) = (affine_z * x.w[i], impulse_z * x.w[i]);
        for j in 0..K {
            let row = plane * z.w[j] + plane_affine * (z.w[j] * z.d[j]) + plane_impulse * z.g[j];
            add_row(
                simd,
                tile,
                start + (i * Tile::<D, K>::NZ + j) * Tile::<D, K>::ROW,
                row,
            );
        }
    }
}

#[inline(always)]
fn add_row<S: Simd>(simd: S, tile: &mut [f32], at: usize, row: f32x16<S>) {
    let nodes = &mut tile[at..at + 16];
    (f32x16::from_slice(simd, nodes) + row).store_slice(nodes);
}
