//! Drives a bucket through soil and prints the reaction forces: `cargo run --release -p barchan-sim --example bucket`.
//! The scene is `scenes/tests/bucket.toml`; docs/embedding.md explains the calls.

use barchan_sim::bodies::MotorTarget;
use barchan_sim::simulation::Simulation;
use std::error::Error;

/// End of each phase [s], and the velocities of crowd [m/s], lift [m/s] and curl [rad/s].
const PLAN: [(f64, [f64; 3]); 4] = [
    (1.0, [0.0, -0.55, 0.0]),
    (2.6, [0.6, 0.0, 0.0]),
    (3.6, [0.2, 0.1, 0.9]),
    (5.0, [0.0, 0.6, 0.0]),
];

fn main() -> Result<(), Box<dyn Error>> {
    dig(|line| println!("{line}")).map(|most| println!("largest force: {most:.0} N"))
}

/// Digs as planned; returns the largest force on the bucket [N].
pub fn dig(mut show: impl FnMut(String)) -> Result<f64, Box<dyn Error>> {
    let mut simulation = Simulation::from_toml(include_str!("../../../scenes/tests/bucket.toml"))?;
    let bucket = simulation.body_index("bucket").ok_or("no bucket")?;
    let (mut steps, mut most) = (0, 0.0f64);
    for (until, speeds) in PLAN {
        for (joint, speed) in ["crowd", "lift", "curl"].iter().zip(speeds) {
            let joint = simulation.bodies().joint_index(joint).ok_or("no joint")?;
            simulation
                .bodies_mut()
                .set_motor(joint, MotorTarget::Velocity(speed));
        }
        while simulation.time() < until {
            simulation.step(1.0 / 60.0)?;
            let force = simulation.reaction(bucket).force;
            most = most.max(force.length());
            steps += 1;
            if steps % 15 == 0 {
                let grains = simulation.positions().unwrap_or_default().len();
                show(format!(
                    "{:.2} s: {grains} grains, {force:.0} N",
                    simulation.time()
                ));
            }
        }
    }
    Ok(most)
}
