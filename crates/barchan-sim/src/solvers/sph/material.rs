//! Wetting, and the forces that are constant during the iterations.

use super::kernel::Kernel;
use super::neighbors::{MAX_NEIGHBORS, NeighborList, sum_lanes};
use super::{PARTICLES_PER_TASK, Sph};
use crate::math::lanes::LANES;
use crate::solver::StepContext;
use fearless_simd::prelude::*;
use fearless_simd::{Simd, dispatch, f32x16};
use glam::Vec3;
use rayon::prelude::*;

/// ε of the artificial viscosity: keeps it finite for coincident particles.
const SOFTENING: f32 = 0.01;

/// State of a neighbor: velocity [m/s], mass [kg], viscosity and cohesion intensity.
pub type NeighborState = [f32; 6];

impl Sph {
    /// Wets or dries the particles in wetting regions.
    pub(super) fn update_wetness(&mut self, cx: &StepContext<'_>) {
        let p = &mut self.particles;
        for wetting in &self.wettings {
            if !(wetting.start..=wetting.end).contains(&cx.time) {
                continue;
            }
            let gain = wetting.rate as f32 * cx.dt;
            let states = p.wetness.par_iter_mut().zip(&p.position);
            states
                .with_min_len(PARTICLES_PER_TASK)
                .for_each(|(wetness, x)| {
                    if (wetting.shape.as_ref()).is_none_or(|s| s.distance(*x) < 0.0) {
                        *wetness = (*wetness + gain).clamp(0.0, 1.0);
                    }
                });
        }
    }

    /// Gravity, artificial viscosity and cohesion (Eq. 22) [m/s²].
    pub(super) fn apply_material_forces(&mut self, cx: &StepContext<'_>) {
        let (p, s, laws) = (&self.particles, &mut self.scratch, &self.laws);
        let states = p.material.par_iter().zip(&p.wetness);
        (states.zip(&p.velocity).zip(&p.mass))
            .with_min_len(PARTICLES_PER_TASK)
            .map(|(((material, wetness), v), mass)| {
                let (viscosity, cohesion) = laws[usize::from(*material)].at_wetness(*wetness);
                [v.x, v.y, v.z, *mass, viscosity, cohesion]
            })
            .collect_into_vec(&mut s.states);
        s.advection.clear();
        s.advection.resize(p.len(), cx.gravity);
        let any = |k: usize| s.states.par_iter().any(|state| state[k] != 0.0);
        let forces = MaterialForces {
            kernel: self.kernel,
            spacing: self.spec.spacing() as f32,
            speed: self.kernel.support * self.spec.sound_speed as f32,
            is_viscous: any(4),
            is_cohesive: any(5),
            states: &s.states,
        };
        if !forces.is_viscous && !forces.is_cohesive {
            return;
        }
        let level = self.level;
        let out = s.advection.par_chunks_mut(PARTICLES_PER_TASK);
        let tasks = (&s.neighbors.tasks, out).into_par_iter().enumerate();
        tasks.for_each(|(task, (near, out))| {
            dispatch!(level, simd => forces.add(simd, near, task * PARTICLES_PER_TASK, out));
        });
    }
}

/// Forces between neighbors.
struct MaterialForces<'a> {
    kernel: Kernel,
    spacing: f32,
    /// h c_s [m²/s].
    speed: f32,
    is_viscous: bool,
    is_cohesive: bool,
    states: &'a [NeighborState],
}

/// A particle and sixteen of its neighbors.
struct Pairs<'a, S: Simd> {
    simd: S,
    own: &'a NeighborState,
    other: [f32x16<S>; 6],
    /// V_j ∇W_ij, and its factor of x_i − x_j.
    gradient: [f32x16<S>; 3],
    slope: f32x16<S>,
}

impl MaterialForces<'_> {
    /// Adds the accelerations of the particles of a task, the first of which is `first`.
    #[inline(always)]
    fn add<S: Simd>(&self, simd: S, near: &NeighborList, first: usize, out: &mut [Vec3]) {
        // States of the neighbors as columns, padded by sixteen.
        let mut others = [[0.0f32; MAX_NEIGHBORS + LANES]; 6];
        for (own, (neighbors, out)) in self.states[first..].iter().zip(near.each().zip(out)) {
            let count = neighbors.index.len();
            for (at, j) in neighbors.index.iter().enumerate() {
                let state = &self.states[*j as usize];
                for (column, value) in others.iter_mut().zip(state) {
                    column[at] = *value;
                }
            }
            // The padding has no mass.
            others[3][count..count + LANES].fill(0.0);
            let mut sums = [f32x16::splat(simd, 0.0); 3];
            for from in (0..count).step_by(LANES) {
                let at = from..from + LANES;
                let load = |c: &[f32]| f32x16::from_slice(simd, &c[at.clone()]);
                let [x, y, z] = neighbors.gradient;
                let [vx, vy, vz, mass, viscosity, cohesion] = &others;
                let pairs = Pairs {
                    simd,
                    own,
                    other: [
                        load(vx),
                        load(vy),
                        load(vz),
                        load(mass),
                        load(viscosity),
                        load(cohesion),
                    ],
                    gradient: [load(x), load(y), load(z)],
                    slope: load(neighbors.slope),
                };
                if self.is_viscous {
                    add(&mut sums, self.viscosity(&pairs), &pairs.gradient);
                }
                if self.is_cohesive {
                    add(&mut sums, self.cohesion(&pairs), &pairs.gradient);
                }
            }
            *out += sum_lanes(&sums);
        }
    }

    /// Artificial viscosity, Eq. 20, as a factor of V_j ∇W_ij.
    #[inline(always)]
    fn viscosity<S: Simd>(&self, pairs: &Pairs<'_, S>) -> f32x16<S> {
        let Pairs {
            simd,
            own,
            other,
            gradient,
            slope,
        } = *pairs;
        let zero = f32x16::splat(simd, 0.0);
        let relative = |axis: usize| f32x16::splat(simd, own[axis]) - other[axis];
        // Positive for approaching particles: the gradient points to the neighbor.
        let closing =
            relative(0) * gradient[0] + relative(1) * gradient[1] + relative(2) * gradient[2];
        let mass = other[3];
        let viscosity = (other[4] + own[4]) * self.speed * mass / (mass + own[3]);
        let softening = SOFTENING * self.kernel.support * self.kernel.support;
        let softened = square(&gradient) + slope * slope * softening;
        let factor = viscosity * closing * slope / softened;
        closing.simd_gt(zero).select(factor, zero)
    }

    /// Cohesion (Eq. 22), as a factor of V_j ∇W_ij, which is the slope times x_i − x_j.
    ///
    /// Differs from [Ihmsen13] Eq. 22: the force is the mean of κ m² of the two particles, so that it is reciprocal and no pair of
    /// materials attracts more than the stronger of them; and below one spacing it is constant, or pairs would collapse.
    #[inline(always)]
    fn cohesion<S: Simd>(&self, pairs: &Pairs<'_, S>) -> f32x16<S> {
        let (simd, slope) = (pairs.simd, pairs.slope);
        let zero = f32x16::splat(simd, 0.0);
        let (mass, own_mass) = (pairs.other[3], pairs.own[3]);
        let cohesion = pairs.other[5] * mass * mass + pairs.own[5] * own_mass * own_mass;
        let distance = square(&pairs.gradient).sqrt() / slope.abs();
        let (pull, _) = (self.kernel).lanes(simd, distance.max(f32x16::splat(simd, self.spacing)));
        let factor = -(cohesion * (0.5 / own_mass) * pull / slope);
        // The slope is 0 at the end of the support.
        let factor = slope.simd_lt(zero).select(factor, zero);
        mass.simd_gt(zero).select(factor, zero)
    }
}

#[inline(always)]
fn add<S: Simd>(sums: &mut [f32x16<S>; 3], factor: f32x16<S>, v: &[f32x16<S>; 3]) {
    for (sum, v) in sums.iter_mut().zip(v) {
        *sum += factor * *v;
    }
}

#[inline(always)]
fn square<S: Simd>(v: &[f32x16<S>; 3]) -> f32x16<S> {
    v[0] * v[0] + v[1] * v[1] + v[2] * v[2]
}
