//! Contacts between grains: found once a step, corrected in every pass.
//!
//! A contact is computed once for both its grains, sixteen contacts side by side, and leaves its correction in a list;
//! then every grain adds up the corrections of its own contacts, always in the same order. Nothing depends on the number
//! of threads.

use super::contact::{self, Accumulated, Law, V3};
use super::grains::Grains;
use super::params::Touch;
use super::{GRAINS_PER_TASK, Motion, Step};
use crate::contacts::{Adjacency, PairMemory};
use crate::math::lanes::{LANES, Lanes};
use crate::neighbors::cells::Cells;
use crate::neighbors::pairs::{Balls, Pairs as Touching};
use barchan_scene::PbdScheme;
use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd, dispatch, f32x16};
use glam::{Vec3, Vec4};
use rayon::prelude::*;

/// Packets of contacts that one task works on.
const PACKETS_PER_TASK: usize = 64;

/// Sixteen contacts, lane by lane. Each row is a cache line: what a pass does not need it does not fetch.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Packet {
    i: [u32; LANES],
    j: [u32; LANES],
    /// xᵢ − xⱼ [m].
    apart: [Lanes; 3],
    /// rᵢ + rⱼ [m].
    reach: Lanes,
    /// 1/(wᵢ + wⱼ) [kg].
    reduced: Lanes,
    keep: Lanes,
    spring: Lanes,
    damper: Lanes,
    normal_sum: Lanes,
    tangent_sum: [Lanes; 3],
    // Not looked at where all contacts are alike.
    static_friction: Lanes,
    kinetic_friction: Lanes,
    adhesion: Lanes,
    // Where a substep has several passes.
    /// 1 where the two touched when the substep began, else 0.
    active: Lanes,
    adhesion_sum: Lanes,
}

impl Packet {
    /// Lanes that hold no contact: two points far apart that do nothing.
    const EMPTY: Self = Self {
        i: [0; LANES],
        j: [0; LANES],
        apart: [[1.0; LANES]; 3],
        reach: [0.0; LANES],
        reduced: [0.0; LANES],
        keep: [0.0; LANES],
        spring: [0.0; LANES],
        damper: [0.0; LANES],
        normal_sum: [0.0; LANES],
        tangent_sum: [[0.0; LANES]; 3],
        static_friction: [0.0; LANES],
        kinetic_friction: [0.0; LANES],
        adhesion: [0.0; LANES],
        active: [0.0; LANES],
        adhesion_sum: [0.0; LANES],
    };
}

/// All contacts between grains.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    packets: Vec<Packet>,
    /// Of each contact: mass times displacement [kg m] that it gives grain i, and n·εĝ. With mass splitting all that it
    /// gives over the substep, else what it gave in this pass.
    given: Vec<[Vec4; LANES]>,
    /// First packet of each list of the search, and the end.
    offsets: Vec<usize>,
    touching: Touching,
    /// Contacts of each grain.
    adjacency: Adjacency,
    /// Grains at their predicted positions, and where they are.
    predicted: Balls,
    present: Balls,
    pub memory: PairMemory,
    /// Static and kinetic friction where they are the same for all contacts, which then do not stick.
    friction: Option<[f32; 2]>,
}

/// What contacts are made of.
struct Maker<'a> {
    step: &'a Step,
    grains: &'a Grains,
    /// Of every pair of materials.
    touch: &'a [Touch],
    materials: usize,
    /// Inverse masses that contacts see [1/kg].
    weights: &'a [f32],
    /// Where forces are remembered.
    memory: Option<&'a PairMemory>,
    /// From remembered forces to those of a substep of this step.
    scale: f32,
}

impl Maker<'_> {
    /// What stays the same in all passes.
    #[inline]
    fn make(&self, packet: &mut Packet, lane: usize) {
        let (step, grains) = (self.step, self.grains);
        let (i, j) = (packet.i[lane] as usize, packet.j[lane] as usize);
        let apart = grains.position[i] - grains.position[j];
        for axis in 0..3 {
            packet.apart[axis][lane] = apart[axis];
        }
        let (ri, rj) = (grains.radius[i], grains.radius[j]);
        packet.reach[lane] = ri + rj;
        let w = f64::from(self.weights[i]) + f64::from(self.weights[j]);
        packet.reduced[lane] = (1.0 / w) as f32;
        let (a, b) = (grains.material[i], grains.material[j]);
        let touch = &self.touch[usize::from(a) * self.materials + usize::from(b)];
        let own = 1.0 / f64::from(grains.mass[i]) + 1.0 / f64::from(grains.mass[j]);
        let factors = step.factors(touch.stiffness, touch.damping, own, w);
        packet.keep[lane] = factors.keep;
        packet.spring[lane] = factors.spring;
        packet.damper[lane] = factors.damper;
        packet.static_friction[lane] = touch.static_friction as f32;
        packet.kinetic_friction[lane] = touch.kinetic_friction as f32;
        if touch.adhesion > 0.0 {
            let dt = f64::from(step.dt);
            let depth = f64::from(ri + rj - apart.length());
            let force = touch.adhesive_force(depth, f64::from(ri.min(rj)));
            packet.adhesion[lane] = (dt * dt * w * force) as f32;
        }
    }

    /// The force of the last step, where there was one.
    #[inline]
    fn begin(&self, packet: &mut Packet, given: &mut [Vec4; LANES], lane: usize) {
        let (rows, ids) = (&self.grains.memory_row, &self.grains.id);
        let (i, j) = (packet.i[lane] as usize, packet.j[lane] as usize);
        let found = self.memory.and_then(|m| m.find(rows[i], ids[j]));
        let Some(force) = found else {
            return;
        };
        let force = self.scale * force;
        let apart: Vec3 = std::array::from_fn(|a| packet.apart[a][lane]).into();
        let normal = apart.normalize_or(Vec3::Y);
        let push = force.dot(normal);
        packet.normal_sum[lane] = push.max(0.0) / packet.reduced[lane];
        let tangent = (force - push * normal) / packet.reduced[lane];
        for axis in 0..3 {
            packet.tangent_sum[axis][lane] = tangent[axis];
        }
        let force = force + (push.max(0.0) - push) * normal;
        given[lane] = force.extend(self.step.reduction.dot(normal));
    }
}

impl Pairs {
    /// Finds what touches at the predicted positions (C_s ≤ margin, once a step), or sticks together where it is.
    pub fn find(
        &mut self,
        level: Level,
        step: &Step,
        grains: &Grains,
        motion: &[Motion],
        cells: &Cells,
        touch: &[Touch],
    ) {
        let balls = || grains.position.par_iter().zip(&grains.radius);
        let ahead = balls().zip(motion).with_min_len(GRAINS_PER_TASK);
        let moved = |m: &Motion| m.moved.truncate();
        (self.predicted).fill(ahead.map(|((x, r), m)| (*x + moved(m)).extend(*r)));
        let sticky = touch.iter().any(|t| t.adhesion > 0.0);
        if sticky {
            let now = balls().with_min_len(GRAINS_PER_TASK);
            self.present.fill(now.map(|(x, r)| x.extend(*r)));
        }
        let sets = [&self.predicted, &self.present];
        let sets = if sticky { &sets[..] } else { &sets[..1] };
        self.touching.find(level, cells, sets, step.margin);
        let lists = self.touching.lists();
        self.offsets.clear();
        self.offsets.push(0);
        self.offsets.extend(lists.iter().scan(0, |sum, list| {
            *sum += list.len().div_ceil(LANES);
            Some(*sum)
        }));
        self.adjacency.build(&grains.id, lists, &self.offsets);
    }

    /// Contacts of a grain with others.
    pub fn count(&self, grain: usize) -> u32 {
        self.adjacency.count(grain)
    }

    /// Works out what stays the same in all passes, and begins every contact with its force in the last step, times `scale`.
    /// `weights` are the inverse masses that contacts see [1/kg].
    pub fn prepare(
        &mut self,
        step: &Step,
        grains: &Grains,
        touch: &[Touch],
        weights: &[f32],
        scale: f32,
    ) {
        let total = self.offsets.last().copied().unwrap_or(0);
        self.packets.resize(total, Packet::EMPTY);
        self.given.resize(total, [Vec4::ZERO; LANES]);
        self.friction = match touch {
            [touch] if touch.adhesion <= 0.0 => {
                Some([touch.static_friction, touch.kinetic_friction].map(|f| f as f32))
            }
            _ => None,
        };
        let memory = &self.memory;
        let maker = Maker {
            step,
            grains,
            touch,
            materials: (touch.len() as f64).sqrt().round() as usize,
            weights,
            memory: (step.scheme == PbdScheme::MassSplitting).then_some(memory),
            scale,
        };
        let (offsets, lists) = (&self.offsets, self.touching.lists());
        self.packets
            .par_iter_mut()
            .with_min_len(PACKETS_PER_TASK)
            .zip(&mut self.given)
            .enumerate()
            .for_each(|(k, (packet, given))| {
                let list = offsets.partition_point(|first| *first <= k) - 1;
                let from = (k - offsets[list]) * LANES;
                *packet = Packet::EMPTY;
                *given = [Vec4::ZERO; LANES];
                for (lane, (i, j)) in lists[list][from..].iter().take(LANES).enumerate() {
                    (packet.i[lane], packet.j[lane]) = (*i, *j);
                    maker.make(packet, lane);
                    maker.begin(packet, given, lane);
                }
            });
    }

    /// Keeps the forces of the contacts for the next step.
    pub fn remember(&mut self) {
        let given = self.given.as_flattened().par_iter();
        let forces = given.with_min_len(LANES * PACKETS_PER_TASK);
        self.memory
            .remember(&mut self.adjacency, forces.map(|given| given.truncate()));
    }

    /// One pass over all contacts, from where the grains are now.
    pub fn correct(&mut self, level: Level, step: &Step, pass: u32, motion: &[Motion]) {
        self.packets
            .par_chunks_mut(PACKETS_PER_TASK)
            .zip(self.given.par_chunks_mut(PACKETS_PER_TASK))
            .for_each(|(packets, given)| {
                let pass = Pass {
                    step,
                    number: pass,
                    friction: self.friction,
                    motion,
                };
                dispatch!(level, simd => pass.correct(simd, packets, given));
            });
    }

    /// What the contacts of a grain give it [kg m], weighted by Eq. 37: over the substep with mass splitting, else in this
    /// pass.
    pub fn given_to(&self, grain: usize) -> Vec3 {
        let mut sum = Vec4::ZERO;
        let given = self.given.as_flattened();
        for own in self.adjacency.of(grain) {
            let given = given[own.contact()];
            let sign = own.sign();
            // eᵢ = 1 − ε n·ĝ with n toward the grain.
            sum += (sign - given.w) * given;
        }
        sum.truncate()
    }

    /// One pass in which every contact sees what those before it did (Gauss–Seidel).
    pub fn correct_in_turn(
        &mut self,
        step: &Step,
        pass: u32,
        weights: &[f32],
        motion: &mut [Motion],
    ) {
        let all = LANES * self.packets.len();
        for place in 0..all {
            // There and back: what a push does at one end of a stack gets to the other in two passes.
            let place = if pass.is_multiple_of(2) {
                place
            } else {
                all - 1 - place
            };
            let (packet, lane) = (&mut self.packets[place / LANES], place % LANES);
            let (i, j) = (packet.i[lane] as usize, packet.j[lane] as usize);
            if i == j {
                continue;
            }
            let given = correct_one(step, packet, lane, motion[i].moved - motion[j].moved);
            let push = given.truncate().extend(0.0);
            let (a, b) = (weights[i] * (1.0 - given.w), weights[j] * (1.0 + given.w));
            // Eq. 37 may shift a correction from one grain to the other, not make it larger: taken in turn, those diverge.
            let part = ((weights[i] + weights[j]) / (a + b)).min(1.0);
            motion[i].moved += part * a * push;
            motion[j].moved -= part * b * push;
        }
    }
}

/// A pass over packets.
struct Pass<'a> {
    step: &'a Step,
    /// From 0.
    number: u32,
    /// Static and kinetic friction where they are the same for all contacts, which then do not stick.
    friction: Option<[f32; 2]>,
    motion: &'a [Motion],
}

impl Pass<'_> {
    #[inline(always)]
    fn correct<S: Simd>(&self, simd: S, packets: &mut [Packet], given: &mut [[Vec4; LANES]]) {
        for (packet, given) in packets.iter_mut().zip(given) {
            correct_packet(simd, self, packet, given);
        }
    }
}

#[inline(always)]
fn correct_packet<S: Simd>(
    simd: S,
    pass: &Pass<'_>,
    packet: &mut Packet,
    given: &mut [Vec4; LANES],
) {
    let (step, motion) = (pass.step, pass.motion);
    let (mut before, mut relative) = ([[0.0; LANES]; 3], [[0.0; LANES]; 3]);
    for lane in 0..LANES {
        let (i, j) = (packet.i[lane] as usize, packet.j[lane] as usize);
        let (a, b) = (&motion[i], &motion[j]);
        let total = a.total - b.total;
        let moved = a.moved - b.moved;
        for axis in 0..3 {
            before[axis][lane] = total[axis];
            relative[axis][lane] = moved[axis];
        }
    }
    let load = |lanes: &Lanes| f32x16::load_array_ref(simd, lanes);
    let three = |lanes: &[Lanes; 3]| [load(&lanes[0]), load(&lanes[1]), load(&lanes[2])];
    let moved = three(&relative);
    let (apart, before) = (three(&packet.apart), three(&before));
    let apart = [
        apart[0] + before[0],
        apart[1] + before[1],
        apart[2] + before[2],
    ];
    let (normal, gap) = contact::between(apart, moved, load(&packet.reach));
    let splat = |x: f32| f32x16::splat(simd, x);
    let (zero, one) = (splat(0.0), splat(1.0));
    let is_first = pass.number == 0;
    let mut sum = Accumulated {
        normal: load(&packet.normal_sum),
        adhesion: match is_first {
            true => zero,
            false => load(&packet.adhesion_sum),
        },
        tangent: three(&packet.tangent_sum),
    };
    let touched = match is_first {
        true => gap.simd_le(zero),
        false => load(&packet.active).simd_gt(zero),
    };
    let [static_friction, kinetic_friction, adhesion] = match pass.friction {
        Some([resting, sliding]) => [splat(resting), splat(sliding), zero],
        None => [
            load(&packet.static_friction),
            load(&packet.kinetic_friction),
            load(&packet.adhesion),
        ],
    };
    // What has come apart only gives back what it pressed too much.
    let law = Law {
        keep: touched.select(load(&packet.keep), one),
        spring: touched.select(load(&packet.spring), one),
        damper: touched.select(load(&packet.damper), zero),
        static_friction,
        kinetic_friction,
        adhesion,
        parting: splat(step.parting),
    };
    let move_by = match step.is_macklin {
        false => contact::project(&law, normal, gap, moved, &mut sum),
        true => contact::project_macklin(&law, normal, gap, moved, &mut sum),
    };
    sum.normal.store_array(&mut packet.normal_sum);
    if pass.number + 1 < step.passes {
        sum.adhesion.store_array(&mut packet.adhesion_sum);
        let touched = touched.select(one, zero);
        touched.store_array(&mut packet.active);
    }
    let reduced = load(&packet.reduced);
    let mut out = [[0.0; LANES]; 4];
    for axis in 0..3 {
        sum.tangent[axis].store_array(&mut packet.tangent_sum[axis]);
        let gives = match step.scheme {
            PbdScheme::MassSplitting => {
                SimdFloat::mul_add(sum.normal, normal[axis], sum.tangent[axis])
            }
            _ => move_by[axis],
        };
        (gives * reduced).store_array(&mut out[axis]);
    }
    let e = step.reduction;
    let along = normal[0] * e.x + normal[1] * e.y + normal[2] * e.z;
    along.store_array(&mut out[3]);
    for lane in 0..LANES {
        given[lane] = Vec4::from_array(std::array::from_fn(|k| out[k][lane]));
    }
}

/// The contact of one lane: mass times displacement [kg m] for grain i, and n·εĝ.
fn correct_one(step: &Step, packet: &mut Packet, lane: usize, moved: Vec4) -> Vec4 {
    let three = |lanes: &[Lanes; 3]| [lanes[0][lane], lanes[1][lane], lanes[2][lane]];
    let law = Law {
        keep: packet.keep[lane],
        spring: packet.spring[lane],
        damper: packet.damper[lane],
        static_friction: packet.static_friction[lane],
        kinetic_friction: packet.kinetic_friction[lane],
        adhesion: packet.adhesion[lane],
        parting: step.parting,
    };
    let mut sum = Accumulated {
        normal: packet.normal_sum[lane],
        adhesion: packet.adhesion_sum[lane],
        tangent: three(&packet.tangent_sum),
    };
    let moved: V3<f32> = moved.truncate().to_array();
    let (normal, gap) = contact::between(three(&packet.apart), moved, packet.reach[lane]);
    let move_by = match step.is_macklin {
        false => contact::project(&law, normal, gap, moved, &mut sum),
        true => contact::project_macklin(&law, normal, gap, moved, &mut sum),
    };
    packet.normal_sum[lane] = sum.normal;
    packet.adhesion_sum[lane] = sum.adhesion;
    for axis in 0..3 {
        packet.tangent_sum[axis][lane] = sum.tangent[axis];
    }
    let given = packet.reduced[lane] * Vec3::from_array(move_by);
    given.extend(step.reduction.dot(Vec3::from_array(normal)))
}
