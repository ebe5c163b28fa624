//! What makes the material dry or wet, and the forces that do not change in the loop.

use super::{Sph, TASK};
use crate::solver::StepContext;
use glam::Vec3;
use rayon::prelude::*;

/// ε of the artificial viscosity: keeps it finite for particles in one place.
const SOFT: f32 = 0.01;

impl Sph {
    /// Particles in wetting regions turn wet or dry.
    pub(super) fn moisten(&mut self, cx: &StepContext<'_>) {
        let p = &mut self.particles;
        for wetting in &self.wettings {
            if !(wetting.start..=wetting.end).contains(&cx.time) {
                continue;
            }
            let gain = wetting.rate as f32 * cx.dt;
            let both = p.wetness.par_iter_mut().zip(&p.position);
            both.with_min_len(TASK).for_each(|(wetness, x)| {
                let is_inside = (wetting.shape.as_ref()).is_none_or(|s| s.distance(*x) < 0.0);
                if is_inside {
                    *wetness = (*wetness + gain).clamp(0.0, 1.0);
                }
            });
        }
    }

    /// Gravity, artificial viscosity and cohesion (Eq. 22) [m/s²].
    ///
    /// Differs from [Ihmsen13] Eq. 22: with the masses of both, so that particles of unequal mass pull each other alike; and
    /// nearer than a spacing the kernel grows no more, or pairs would fall into each other.
    pub(super) fn apply_material_forces(&mut self, cx: &StepContext<'_>) {
        let (p, s) = (&self.particles, &mut self.scratch);
        let laws = &self.laws;
        let both = p.material.par_iter().zip(&p.wetness);
        both.with_min_len(TASK)
            .map(|(material, wetness)| laws[usize::from(*material)].at(*wetness))
            .collect_into_vec(&mut s.moist);
        let is_plain = s.moist.par_iter().all(|(a, k)| *a == 0.0 && *k == 0.0);
        s.advection.clear();
        s.advection.resize(p.len(), cx.gravity);
        if is_plain {
            return;
        }
        let kernel = self.kernel;
        let speed = kernel.support * self.spec.sound_speed as f32;
        let spacing = self.spec.spacing() as f32;
        let softness = SOFT * kernel.support * kernel.support;
        let moist = &s.moist;
        let tasks = s.neighbours.tasks().par_iter();
        tasks
            .zip(s.advection.par_chunks_mut(TASK))
            .enumerate()
            .for_each(|(task, (near, out))| {
                for (k, (neighbours, out)) in near.each().zip(out).enumerate() {
                    let i = task * TASK + k;
                    let (x, v, mass) = (p.position[i], p.velocity[i], p.mass[i]);
                    let (own_viscosity, own_cohesion) = moist[i];
                    let mut sum = Vec3::ZERO;
                    for ((j, gradient), slope) in neighbours.each().zip(neighbours.slope) {
                        let (viscosity, cohesion) = moist[j];
                        // Positive where they approach: the gradient points to the neighbour.
                        let closing = (v - p.velocity[j]).dot(gradient);
                        if closing > 0.0 {
                            let thick = (own_viscosity + viscosity) * speed * p.mass[j]
                                / (mass + p.mass[j]);
                            let soft = gradient.length_squared() + softness * slope * slope;
                            sum += thick * closing * slope / soft * gradient;
                        }
                        let sticky = 0.5 * (own_cohesion + cohesion);
                        if sticky > 0.0 {
                            let apart = x - p.position[j];
                            let pull = kernel.value(apart.length().max(spacing));
                            sum -= sticky * p.mass[j] * pull * apart;
                        }
                    }
                    *out += sum;
                }
            });
    }
}
