//! The record beside the columns of a frame: statistics, bodies and joints. Nothing here depends on wall time.

use super::Simulation;
use barchan_frame::{BodyRecord, Frame, JointRecord, NamedCount, RunStatistics, Statistics};
use rayon::prelude::*;

/// Interval after a frame over which the velocity of a scripted body is averaged [frame intervals].
const VELOCITY_PART: f64 = 0.05;

/// Particles of a partial sum; fixed, so that sums do not depend on the number of threads.
const PART: usize = 1 << 15;

/// Statistics of the particles and of the steps since the frame before.
pub(super) fn statistics(simulation: &Simulation, frame: &Frame) -> Statistics {
    let sums = Sums::of(frame);
    let state = &simulation.state;
    let named = |(name, particles): (&String, &u64)| NamedCount {
        name: name.clone(),
        particles: *particles,
    };
    let emitters = simulation.emitters.iter().map(|e| &e.emitter.name);
    let drains = simulation.drains.iter().map(|d| &d.name);
    let run = RunStatistics {
        center_of_mass_height_m: match sums.mass > 0.0 {
            true => sums.mass_height / sums.mass,
            false => 0.0,
        },
        substeps: state.frame_substeps,
        substeps_total: state.substeps,
        mean_dt_s: match state.frame_substeps {
            0 => 0.0,
            steps => 1.0 / (simulation.frame_rate * steps as f64),
        },
        iterations: state.frame_iterations,
        residual: state.frame_residual.map(|residual| residual.0),
        rejected_steps: state.rejected,
        emitted: emitters.zip(&state.emitted).map(named).collect(),
        drained: drains.zip(&state.drained).map(named).collect(),
        left_domain: state.left_domain,
    };
    Statistics {
        particles: simulation.solver.particles() as u64,
        mass_kg: sums.mass,
        kinetic_energy_j: sums.kinetic_energy,
        max_speed: sums.max_speed,
        run: Some(run),
        detail: None,
    }
}

/// Pose and motion of every body, and the mean force [N] and torque [N m] of the grains on it since the frame before.
pub(super) fn bodies(simulation: &mut Simulation) -> Vec<BodyRecord> {
    let frame = 1.0 / simulation.frame_rate;
    let duration = match simulation.is_between_frames() {
        true => frame,
        false => simulation.recent.1.max(f64::MIN_POSITIVE),
    };
    simulation
        .colliders
        .pose(simulation.state.time, VELOCITY_PART * frame);
    simulation.bodies.pose(&mut simulation.colliders);
    let bodies = simulation.colliders.list.iter();
    bodies
        .zip(&simulation.impulses.bodies)
        .map(|(body, impulse)| (body, impulse.over(duration)))
        .map(|(body, wrench)| BodyRecord {
            name: body.name.clone(),
            position: body.pose.position.to_array(),
            rotation: body.pose.rotation.to_array(),
            velocity: body.velocity.to_array(),
            angular_velocity: body.angular_velocity.to_array(),
            force: wrench.force.to_array(),
            torque: wrench.torque.to_array(),
        })
        .collect()
}

/// State of every joint.
pub(super) fn joints(simulation: &Simulation) -> Vec<JointRecord> {
    let joints = simulation.bodies.joints().iter();
    joints
        .map(|joint| JointRecord {
            name: joint.name.clone(),
            kind: joint.kind.name().into(),
            position: joint.position,
            velocity: joint.velocity,
            motor_force: joint.force,
        })
        .collect()
}

/// Sums over the particles of a frame, in the order of its columns.
#[derive(Debug, Default, PartialEq)]
struct Sums {
    mass: f64,
    mass_height: f64,
    kinetic_energy: f64,
    max_speed: f64,
}

impl Sums {
    fn of(frame: &Frame) -> Self {
        let floats = |name: &str| frame.column(name).and_then(|c| c.data.as_f32());
        let [Some(mass), Some(position), Some(velocity)] =
            ["mass", "position", "velocity"].map(floats)
        else {
            return Self::default();
        };
        let (position, velocity) = (position.as_chunks::<3>().0, velocity.as_chunks::<3>().0);
        let parts: Vec<Self> = mass
            .par_chunks(PART)
            .zip(position.par_chunks(PART).zip(velocity.par_chunks(PART)))
            .map(|(mass, (position, velocity))| {
                let mut sums = Self::default();
                for (m, (p, v)) in mass.iter().zip(position.iter().zip(velocity)) {
                    sums.add(f64::from(*m), *p, *v);
                }
                sums
            })
            .collect();
        parts.into_iter().fold(Self::default(), Self::plus)
    }

    fn add(&mut self, mass: f64, position: [f32; 3], velocity: [f32; 3]) {
        let squares = velocity.map(|c| f64::from(c) * f64::from(c));
        let speed_squared: f64 = squares.iter().sum();
        self.mass += mass;
        self.mass_height += mass * f64::from(position[1]);
        self.kinetic_energy += 0.5 * mass * speed_squared;
        self.max_speed = self.max_speed.max(speed_squared.sqrt());
    }

    fn plus(self, other: Self) -> Self {
        Self {
            mass: self.mass + other.mass,
            mass_height: self.mass_height + other.mass_height,
            kinetic_energy: self.kinetic_energy + other.kinetic_energy,
            max_speed: self.max_speed.max(other.max_speed),
        }
    }
}
