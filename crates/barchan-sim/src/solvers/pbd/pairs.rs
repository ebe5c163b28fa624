//! Contacts between grains: found once a step, corrected in every iteration.
//!
//! A contact is evaluated once for both of its grains, sixteen contacts at a time, and its correction is stored; each grain then
//! gathers the corrections of its own contacts in a fixed order. The result does not depend on the number of threads.

use super::contact::{self, Accumulated, Law, V3};
use super::grains::Grains;
use super::params::ContactParameters;
use super::{GRAINS_PER_TASK, Motion, Preparation, Step};
use crate::contacts::{Adjacency, PairCache};
use crate::math::lanes::{LANES, Lanes};
use crate::neighbors::cells::Cells;
use crate::neighbors::pairs::{PairSearch, Spheres};
use barchan_scene::PbdScheme;
use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd, dispatch, f32x16};
use glam::{Vec3, Vec4};
use rayon::prelude::*;

/// Packets per task.
const PACKETS_PER_TASK: usize = 64;

/// Sixteen contacts, lane by lane; unused lanes are zero. Each row is a cache line: an iteration loads only what it needs.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(64))]
struct Packet {
    i: [u32; LANES],
    j: [u32; LANES],
    /// xᵢ − xⱼ [m].
    offset: [Lanes; 3],
    /// rᵢ + rⱼ [m].
    reach: Lanes,
    /// 1/(wᵢ + wⱼ) [kg].
    reduced_mass: Lanes,
    retention: Lanes,
    spring: Lanes,
    damper: Lanes,
    normal_sum: Lanes,
    tangent_sum: [Lanes; 3],
    // Not loaded where all contacts have the same friction.
    static_friction: Lanes,
    kinetic_friction: Lanes,
    adhesion: Lanes,
    // For substeps of several iterations.
    /// 1 where the two overlapped when the substep began, else 0.
    active: Lanes,
    adhesion_sum: Lanes,
}

/// All contacts between grains.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    packets: Vec<Packet>,
    /// Correction of each contact for grain i, as mass times displacement [kg m], and n·εĝ. With mass splitting the sum over the
    /// substep, else that of the present iteration.
    corrections: Vec<[Vec4; LANES]>,
    /// First packet of each list of the search, and the end.
    offsets: Vec<usize>,
    search: PairSearch,
    /// Contacts of each grain.
    adjacency: Adjacency,
    /// Grains at their predicted and present positions.
    predicted: Spheres,
    present: Spheres,
    pub cache: PairCache,
    /// Static and kinetic friction if all contacts have the same, without adhesion.
    friction: Option<[f32; 2]>,
}

impl Preparation<'_> {
    /// Computes the constants of a contact for the iterations.
    #[inline]
    fn prepare(&self, packet: &mut Packet, lane: usize) {
        let (step, grains) = (self.step, self.grains);
        let (i, j) = (packet.i[lane] as usize, packet.j[lane] as usize);
        let offset = grains.position[i] - grains.position[j];
        for axis in 0..3 {
            packet.offset[axis][lane] = offset[axis];
        }
        let (ri, rj) = (grains.radius[i], grains.radius[j]);
        packet.reach[lane] = ri + rj;
        let w = f64::from(self.inverse_masses[i]) + f64::from(self.inverse_masses[j]);
        packet.reduced_mass[lane] = (1.0 / w) as f32;
        let (a, b) = (grains.material[i], grains.material[j]);
        let contact = &self.table[usize::from(a) * self.laws.len() + usize::from(b)];
        let unsplit = 1.0 / f64::from(grains.mass[i]) + 1.0 / f64::from(grains.mass[j]);
        let [retention, spring, damper] = step.factors(contact, unsplit, w);
        packet.retention[lane] = retention;
        packet.spring[lane] = spring;
        packet.damper[lane] = damper;
        packet.static_friction[lane] = contact.static_friction as f32;
        packet.kinetic_friction[lane] = contact.kinetic_friction as f32;
        if contact.adhesion > 0.0 {
            let dt = f64::from(step.dt);
            let depth = f64::from(ri + rj - offset.length());
            let force = contact.adhesive_force(depth, f64::from(ri.min(rj)));
            packet.adhesion[lane] = (dt * dt * w * force) as f32;
        }
    }

    /// Warm-starts a contact with its force in the last step; returns the correction.
    #[inline]
    fn warm_start(&self, packet: &mut Packet, lane: usize, force: Vec3) -> Vec4 {
        let force = self.scale * force;
        let offset: Vec3 = std::array::from_fn(|a| packet.offset[a][lane]).into();
        let normal = offset.normalize_or(Vec3::Y);
        let along = force.dot(normal);
        packet.normal_sum[lane] = along.max(0.0) / packet.reduced_mass[lane];
        let tangent = (force - along * normal) / packet.reduced_mass[lane];
        for axis in 0..3 {
            packet.tangent_sum[axis][lane] = tangent[axis];
        }
        let force = force + (along.max(0.0) - along) * normal;
        force.extend(self.step.reduction.dot(normal))
    }
}

impl Pairs {
    /// Finds pairs with C_s ≤ margin at the predicted positions; with adhesion, also those at the present positions.
    pub fn find(
        &mut self,
        level: Level,
        step: &Step,
        grains: &Grains,
        motion: &[Motion],
        cells: &Cells,
        table: &[ContactParameters],
    ) {
        let spheres = || grains.position.par_iter().zip(&grains.radius);
        let ahead = spheres().zip(motion).with_min_len(GRAINS_PER_TASK);
        let displacement = |m: &Motion| m.displacement.truncate();
        (self.predicted).fill(ahead.map(|((x, r), m)| (*x + displacement(m)).extend(*r)));
        let has_adhesion = table.iter().any(|contact| contact.adhesion > 0.0);
        if has_adhesion {
            let now = spheres().with_min_len(GRAINS_PER_TASK);
            self.present.fill(now.map(|(x, r)| x.extend(*r)));
        }
        let both = [&self.predicted, &self.present];
        let configurations = if has_adhesion { &both[..] } else { &both[..1] };
        (self.search).find(level, cells, configurations, step.margin);
        let lists = self.search.lists();
        self.offsets.clear();
        self.offsets.push(0);
        self.offsets.extend(lists.iter().scan(0, |sum, list| {
            *sum += list.len().div_ceil(LANES);
            Some(*sum)
        }));
        self.adjacency.build(&grains.id, lists, &self.offsets);
    }

    /// Number of contacts of a grain with other grains.
    pub fn count(&self, grain: usize) -> u32 {
        self.adjacency.of(grain).len() as u32
    }

    /// Computes the constants of all contacts for the iterations, and warm-starts each contact with its force in the last step.
    pub fn prepare(&mut self, preparation: &Preparation<'_>) {
        let total = self.offsets.last().copied().unwrap_or(0);
        self.packets.resize(total, Packet::default());
        self.corrections.resize(total, [Vec4::ZERO; LANES]);
        self.friction = match preparation.table {
            [only] if only.adhesion <= 0.0 => {
                Some([only.static_friction, only.kinetic_friction].map(|f| f as f32))
            }
            _ => None,
        };
        let (rows, ids) = (&preparation.grains.cache_row, &preparation.grains.id);
        let (offsets, lists, cache) = (&self.offsets, self.search.lists(), &self.cache);
        self.packets
            .par_iter_mut()
            .with_min_len(PACKETS_PER_TASK)
            .zip(&mut self.corrections)
            .enumerate()
            .for_each(|(k, (packet, corrections))| {
                let list = offsets.partition_point(|first| *first <= k) - 1;
                let from = (k - offsets[list]) * LANES;
                *packet = Packet::default();
                *corrections = [Vec4::ZERO; LANES];
                for (lane, (i, j)) in lists[list][from..].iter().take(LANES).enumerate() {
                    (packet.i[lane], packet.j[lane]) = (*i, *j);
                    preparation.prepare(packet, lane);
                    if let Some(force) = cache.find(rows[*i as usize], ids[*j as usize]) {
                        corrections[lane] = preparation.warm_start(packet, lane, force);
                    }
                }
            });
    }

    /// Stores the contact forces for the next step.
    pub fn store_forces(&mut self) {
        let corrections = self.corrections.as_flattened().par_iter();
        let forces = corrections.with_min_len(LANES * PACKETS_PER_TASK);
        self.cache
            .store(&mut self.adjacency, forces.map(|c| c.truncate()));
    }

    /// One iteration over all contacts, from the present positions.
    pub fn correct(&mut self, level: Level, step: &Step, iteration: u32, motion: &[Motion]) {
        let iteration = Iteration {
            step,
            number: iteration,
            friction: self.friction,
            motion,
        };
        self.packets
            .par_chunks_mut(PACKETS_PER_TASK)
            .zip(self.corrections.par_chunks_mut(PACKETS_PER_TASK))
            .for_each(|(packets, corrections)| {
                dispatch!(level, simd => iteration.correct(simd, packets, corrections));
            });
    }

    /// Sum of the corrections of a grain's contacts [kg m], weighted by Eq. 37: over the substep with mass splitting, else
    /// in this iteration.
    pub fn gather(&self, grain: usize) -> Vec3 {
        let mut sum = Vec4::ZERO;
        let corrections = self.corrections.as_flattened();
        for entry in self.adjacency.of(grain) {
            let correction = corrections[entry.contact()];
            let sign = entry.sign();
            // eᵢ = 1 − ε n·ĝ with n toward the grain.
            sum += (sign - correction.w) * correction;
        }
        sum.truncate()
    }

    /// One Gauss–Seidel iteration: each contact is evaluated after the corrections of those before it.
    pub fn correct_sequentially(
        &mut self,
        step: &Step,
        iteration: u32,
        inverse_masses: &[f32],
        motion: &mut [Motion],
    ) {
        let all = LANES * self.packets.len();
        for place in 0..all {
            // Symmetric sweeps: corrections propagate through a stack in both directions within two iterations.
            let place = if iteration.is_multiple_of(2) {
                place
            } else {
                all - 1 - place
            };
            let (packet, lane) = (&mut self.packets[place / LANES], place % LANES);
            let (i, j) = (packet.i[lane] as usize, packet.j[lane] as usize);
            if i == j {
                continue;
            }
            let correction = correct_one(
                step,
                packet,
                lane,
                motion[i].displacement - motion[j].displacement,
            );
            let along = correction.truncate().extend(0.0);
            let a = inverse_masses[i] * (1.0 - correction.w);
            let b = inverse_masses[j] * (1.0 + correction.w);
            // Eq. 37 may shift a correction from one grain to the other, but not enlarge it: sequentially, that diverges.
            let part = ((inverse_masses[i] + inverse_masses[j]) / (a + b)).min(1.0);
            motion[i].displacement += part * a * along;
            motion[j].displacement -= part * b * along;
        }
    }
}

/// An iteration over packets.
struct Iteration<'a> {
    step: &'a Step,
    /// From 0.
    number: u32,
    /// See [`Pairs::friction`].
    friction: Option<[f32; 2]>,
    motion: &'a [Motion],
}

impl Iteration<'_> {
    #[inline(always)]
    fn correct<S: Simd>(&self, simd: S, packets: &mut [Packet], corrections: &mut [[Vec4; LANES]]) {
        for (packet, corrections) in packets.iter_mut().zip(corrections) {
            self.correct_packet(simd, packet, corrections);
        }
    }

    #[inline(always)]
    fn correct_packet<S: Simd>(
        &self,
        simd: S,
        packet: &mut Packet,
        corrections: &mut [Vec4; LANES],
    ) {
        let (step, motion) = (self.step, self.motion);
        let (mut before, mut relative) = ([[0.0; LANES]; 3], [[0.0; LANES]; 3]);
        for lane in 0..LANES {
            let (i, j) = (packet.i[lane] as usize, packet.j[lane] as usize);
            let (a, b) = (&motion[i], &motion[j]);
            let total = a.total - b.total;
            let displacement = a.displacement - b.displacement;
            for axis in 0..3 {
                before[axis][lane] = total[axis];
                relative[axis][lane] = displacement[axis];
            }
        }
        let load = |lanes: &Lanes| f32x16::load_array_ref(simd, lanes);
        let vector = |lanes: &[Lanes; 3]| [load(&lanes[0]), load(&lanes[1]), load(&lanes[2])];
        let displacement = vector(&relative);
        let (offset, before) = (vector(&packet.offset), vector(&before));
        let offset = [
            offset[0] + before[0],
            offset[1] + before[1],
            offset[2] + before[2],
        ];
        let (normal, gap) = contact::normal_and_gap(offset, displacement, load(&packet.reach));
        let splat = |x: f32| f32x16::splat(simd, x);
        let (zero, one) = (splat(0.0), splat(1.0));
        let is_first = self.number == 0;
        let mut sum = Accumulated {
            normal: load(&packet.normal_sum),
            adhesion: match is_first {
                true => zero,
                false => load(&packet.adhesion_sum),
            },
            tangent: vector(&packet.tangent_sum),
        };
        let active = match is_first {
            true => gap.simd_le(zero),
            false => load(&packet.active).simd_gt(zero),
        };
        let [static_friction, kinetic_friction, adhesion] = match self.friction {
            Some([resting, sliding]) => [splat(resting), splat(sliding), zero],
            None => [
                load(&packet.static_friction),
                load(&packet.kinetic_friction),
                load(&packet.adhesion),
            ],
        };
        // An open contact only gives back accumulated correction, as much as closes its gap.
        let law = Law {
            retention: active.select(load(&packet.retention), one),
            spring: active.select(load(&packet.spring), one),
            damper: active.select(load(&packet.damper), zero),
            static_friction,
            kinetic_friction,
            adhesion,
            max_separation: splat(step.max_separation),
        };
        let change = contact::project(
            step.spec.friction,
            &law,
            normal,
            gap,
            displacement,
            &mut sum,
        );
        sum.normal.store_array(&mut packet.normal_sum);
        if self.number + 1 < step.spec.iterations {
            sum.adhesion.store_array(&mut packet.adhesion_sum);
            let active = active.select(one, zero);
            active.store_array(&mut packet.active);
        }
        let reduced_mass = load(&packet.reduced_mass);
        let mut out = [[0.0; LANES]; 4];
        for axis in 0..3 {
            sum.tangent[axis].store_array(&mut packet.tangent_sum[axis]);
            let displacement = match step.spec.scheme {
                PbdScheme::MassSplitting => {
                    SimdFloat::mul_add(sum.normal, normal[axis], sum.tangent[axis])
                }
                _ => change[axis],
            };
            (displacement * reduced_mass).store_array(&mut out[axis]);
        }
        let e = step.reduction;
        let along = normal[0] * e.x + normal[1] * e.y + normal[2] * e.z;
        along.store_array(&mut out[3]);
        for lane in 0..LANES {
            corrections[lane] = Vec4::from_array(std::array::from_fn(|k| out[k][lane]));
        }
    }
}

/// Correction of one lane for grain i, as mass times displacement [kg m], and n·εĝ.
fn correct_one(step: &Step, packet: &mut Packet, lane: usize, displacement: Vec4) -> Vec4 {
    let vector = |lanes: &[Lanes; 3]| [lanes[0][lane], lanes[1][lane], lanes[2][lane]];
    let law = Law {
        retention: packet.retention[lane],
        spring: packet.spring[lane],
        damper: packet.damper[lane],
        static_friction: packet.static_friction[lane],
        kinetic_friction: packet.kinetic_friction[lane],
        adhesion: packet.adhesion[lane],
        max_separation: step.max_separation,
    };
    let mut sum = Accumulated {
        normal: packet.normal_sum[lane],
        adhesion: packet.adhesion_sum[lane],
        tangent: vector(&packet.tangent_sum),
    };
    let displacement: V3<f32> = displacement.truncate().to_array();
    let reach = packet.reach[lane];
    let (normal, gap) = contact::normal_and_gap(vector(&packet.offset), displacement, reach);
    let change = contact::project(
        step.spec.friction,
        &law,
        normal,
        gap,
        displacement,
        &mut sum,
    );
    packet.normal_sum[lane] = sum.normal;
    packet.adhesion_sum[lane] = sum.adhesion;
    for axis in 0..3 {
        packet.tangent_sum[axis][lane] = sum.tangent[axis];
    }
    let correction = packet.reduced_mass[lane] * Vec3::from_array(change);
    correction.extend(step.reduction.dot(Vec3::from_array(normal)))
}
