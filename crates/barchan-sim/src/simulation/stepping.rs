//! One step of the frame loop: its length, the solver and the bodies, emission and removal.

use super::limits::Limits;
use super::{Simulation, SimulationError};
use crate::solver::{Region, SolverError, StepContext, StepStats};
use barchan_frame::Exact;
use glam::Vec3;
use std::time::Instant;

/// Distance that material of the fastest emitter may move between two batches [cells].
const EMISSION_PART: f64 = 0.25;
/// Distance that the fastest particle may move between two removals [cells].
const REMOVAL_PART: f64 = 0.5;

/// Maximum number of times that a rejected step is halved.
const RETRIES: u32 = 10;

/// Divides the remaining time into equal steps no longer than `stable`. The stiffness of sph follows from the step, so a
/// shorter step at the end of each frame would disturb a bed at rest.
pub(super) fn fit(stable: f64, remaining: f64) -> f64 {
    // Steps are f32: 20 steps of 1 ms must fit into a frame of 0.02 s.
    const SLACK: f64 = 1e-5;
    remaining / (remaining / (stable * (1.0 + SLACK))).ceil().max(1.0)
}

impl Simulation {
    /// One solver step with emission and removal; returns its length [s]. With `whole`, a solver with fixed steps advances to
    /// `end` in one.
    pub(super) fn step_toward(
        &mut self,
        end: f64,
        whole: bool,
    ) -> Result<(f64, StepStats), SimulationError> {
        let failed = SimulationError::in_frame(self.state.frame + 1);
        if self.is_fixed || self.state.time - self.state.emitted_until >= self.emission_interval() {
            self.emit_until_now()?;
        }
        let mut longest = f64::INFINITY;
        let mut retries = 0..RETRIES;
        loop {
            let chosen = self.choose_step(end, whole, longest);
            let (dt, is_last) = chosen.map_err(failed)?;
            match self.try_step(dt, is_last.then_some(end)) {
                Err(SolverError::Rejected { .. }) if retries.next().is_some() => {
                    self.state.rejected += 1;
                    self.bodies.reject(&mut self.colliders);
                    longest = 0.5 * dt;
                }
                done => return done.map_err(failed),
            }
        }
    }

    /// A step of `dt` [s], to `end` where that is given.
    fn try_step(&mut self, dt: f64, end: Option<f64>) -> Result<(f64, StepStats), SolverError> {
        let time = self.state.time;
        let before = self.solver.particles();
        let gravity = self.gravity.at(time + 0.5 * dt);
        self.predict_bodies(time, dt, gravity);
        self.given.clear();
        let mut context = StepContext {
            dt: dt as f32,
            time,
            gravity,
            colliders: &self.colliders,
            impulses: &mut self.given,
            identities: &mut self.state.identities,
            timings: &mut self.timings,
        };
        let start = Instant::now();
        let stats = self.solver.step(&mut context)?;
        self.solver_wall += start.elapsed();

        let dt = f64::from(dt as f32);
        self.move_bodies(dt, gravity);
        self.state.time = end.unwrap_or(time + dt);
        self.state.substeps += 1;
        self.state.frame_substeps += 1;
        self.state.frame_iterations += u64::from(stats.iterations);
        if let Some(residual) = stats.residual.map(f64::from) {
            let before = self.state.frame_residual;
            let largest = before.map_or(residual, |before| before.0.max(residual));
            self.state.frame_residual = Some(Exact(largest));
        }
        self.state.particle_substeps += before as u64;
        self.particle_substeps_here += before as u64;
        self.state.traveled += f64::from(stats.max_speed) * dt;
        if self.state.traveled > REMOVAL_PART * self.dx {
            self.remove_lost()?;
        }
        Ok((dt, stats))
    }

    /// Predicts the motion of rigid bodies in the step, and poses them for it.
    fn predict_bodies(&mut self, time: f64, dt: f64, gravity: Vec3) {
        let (bodies, colliders) = (&mut self.bodies, &mut self.colliders);
        if !bodies.is_empty() {
            let work = || bodies.predict(colliders, time, dt, gravity);
            self.timings.span("bodies", work);
        }
    }

    /// Adds up the impulses of the grains and moves the rigid bodies.
    fn move_bodies(&mut self, dt: f64, gravity: Vec3) {
        self.impulses.add(&self.given.bodies);
        self.recent.0.add(&self.given.bodies);
        self.recent.1 += dt;
        let (bodies, given) = (&mut self.bodies, &self.given);
        if !bodies.is_empty() {
            let work = || bodies.advance(given, dt, gravity);
            self.timings.span("bodies", work);
        }
    }

    /// The solver's time step rule and the frame rate.
    pub(super) fn limits(&mut self) -> Result<Limits, SolverError> {
        Ok(Limits {
            frame_rate: self.frame_rate,
            default_rate: self.default_rate,
            resolution: self.dx,
            pace: self.solver.pace()?,
        })
    }

    /// The step to take now [s], at most `longest`, and whether it ends the frame. Poses the colliders for it.
    pub(super) fn choose_step(
        &mut self,
        end: f64,
        whole: bool,
        longest: f64,
    ) -> Result<(f64, bool), SolverError> {
        let time = self.state.time;
        let remaining = end - time;
        if whole && self.is_fixed && longest == f64::INFINITY {
            self.colliders.pose(time, remaining);
            return Ok((remaining, true));
        }
        let limits = self.limits()?;
        let travel = limits.pace.travel();
        let refuse_tiny = |dt: f64, reason: &dyn Fn() -> String| match limits.is_too_small(dt) {
            false => Ok(()),
            true => Err(limits.explain(SolverError::StepTooSmall {
                dt: dt as f32,
                reason: reason(),
            })),
        };
        let stable = limits.pace.dt().map_err(|e| limits.explain(e))?;
        let stable = f64::from(stable).min(longest);
        refuse_tiny(stable, &|| "the solver's own limit".into())?;
        let interval = self.emission_interval();
        refuse_tiny(interval, &|| "the speed of an emitter".into())?;
        let mut dt = fit(stable.min(interval), remaining);
        // A shorter step may reveal a faster body (its speed is a mean over the step), hence more than one pass.
        for _ in 0..8 {
            self.colliders.pose(time, dt);
            let free = self.bodies.max_speed(self.gravity.at(time), dt);
            let speed = f64::from(self.colliders.max_speed()).max(free);
            if speed * dt <= travel {
                break;
            }
            let limit = travel / speed;
            refuse_tiny(limit, &|| format!("a body moves at {speed:.3e} m/s"))?;
            dt = fit(limit.min(dt), remaining);
            self.colliders.pose(time, dt);
        }
        Ok((dt, dt == remaining))
    }

    /// Time in which material of the fastest active emitter moves by [`EMISSION_PART`] of a cell [s].
    fn emission_interval(&self) -> f64 {
        let emitters = self.emitters.iter().map(|e| &e.emitter);
        let running = emitters.filter(|e| self.state.emitted_until < e.end);
        let speeds = running.map(|e| f64::from(e.velocity.length()));
        let fastest = speeds.fold(0.0, f64::max);
        if fastest > 0.0 && !self.is_fixed {
            EMISSION_PART * self.dx / fastest
        } else {
            f64::INFINITY
        }
    }

    /// Adds the grains emitted since the last batch at their present positions.
    pub(super) fn emit_until_now(&mut self) -> Result<(), SimulationError> {
        let (from, to) = (self.state.emitted_until, self.state.time);
        if from >= to {
            return Ok(());
        }
        for (index, emitter) in self.emitters.iter().enumerate() {
            let emit = || emitter.emit(from, to);
            let mut samples = self.timings.span("emission", emit);
            if samples.is_empty() {
                continue;
            }
            samples.first_id = self.state.identities.take(samples.len())?;
            self.state.emitted[index] += samples.len() as u64;
            let failed = SimulationError::in_frame(self.state.frame + 1);
            self.solver.emit(&samples).map_err(failed)?;
        }
        self.state.emitted_until = to;
        Ok(())
    }

    /// Removes and counts particles in an open drain or outside the domain.
    pub(super) fn remove_lost(&mut self) -> Result<(), SolverError> {
        let time = self.state.time;
        let (solver, state, drains) = (&mut self.solver, &mut self.state, &self.drains);
        let domain = self.domain;
        self.timings.span("removal", || {
            for (drain, count) in drains.iter().zip(&mut state.drained) {
                if (drain.start..=drain.end).contains(&time) {
                    *count += solver.remove(&Region::Inside(&drain.shape))? as u64;
                }
            }
            if let Some(bounds) = domain {
                state.left_domain += solver.remove(&Region::Outside(bounds))? as u64;
            }
            Ok::<(), SolverError>(())
        })?;
        self.state.traveled = 0.0;
        Ok(())
    }
}
