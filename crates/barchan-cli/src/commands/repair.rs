//! Frames of a result that are missing or damaged: `--resume` simulates them again, and no others.

use super::progress::Reporter;
use super::stop::StopRequest;
use super::{Failure, inputs, output};
use barchan::frame::{CacheError, ResultDirectory};
use barchan::scene::Scene;
use barchan::sim::simulation::{Control, Simulation};
use rayon::prelude::*;
use std::ops::Range;

/// Repairs the frames from 0 to `up_to`; returns whether any needed it. Intact frames are not rewritten, so that an
/// interruption loses nothing.
pub fn frames_up_to(
    directory: &ResultDirectory,
    scene: &Scene,
    up_to: u32,
    stop: &StopRequest,
    quiet: bool,
) -> Result<bool, Failure> {
    let broken = broken_frames(directory, 0..up_to + 1, stop, || stopped(directory))?;
    let (Some(&first), Some(&last)) = (broken.first(), broken.last()) else {
        return Ok(false);
    };
    let mut simulation = state_before(directory, scene, first)?;
    output::note(format_args!(
        "{} missing or damaged; simulating again from frame {}",
        describe(&broken),
        simulation.frame()
    ));
    let mut reporter = Reporter::new(simulation.frame(), last, quiet);
    loop {
        // Also for intact frames: writing a frame sorts the particles, which affects the rounding of later steps.
        let frame = simulation.write_frame()?;
        if broken.contains(&frame.index) {
            directory.write_frame(&frame)?;
        }
        if simulation.frame() >= last {
            drop(reporter);
            output::note(format_args!("all frames up to {up_to} are complete again"));
            return Ok(true);
        }
        let end = simulation.advance_frame(&mut |progress| {
            reporter.step(progress);
            match stop.is_requested() {
                true => Control::Stop,
                false => Control::Continue,
            }
        })?;
        if end == Control::Stop {
            return Err(stopped(directory));
        }
    }
}

/// Numbers of missing or damaged frames. `stopped` makes the error for a stop request.
pub fn broken_frames(
    directory: &ResultDirectory,
    frames: Range<u32>,
    stop: &StopRequest,
    stopped: impl Fn() -> Failure + Sync,
) -> Result<Vec<u32>, Failure> {
    let state = |index| {
        if stop.is_requested() {
            return Err(stopped());
        }
        match directory.verify_frame(index) {
            Ok(()) => Ok(None),
            Err(CacheError::Damaged { .. } | CacheError::NoFrame { .. }) => Ok(Some(index)),
            Err(error) => Err(error.into()),
        }
    };
    let states: Result<Vec<Option<u32>>, Failure> = frames.into_par_iter().map(state).collect();
    Ok(states?.into_iter().flatten().collect())
}

/// A simulation before `frame`: at the newest readable checkpoint, or at t = 0.
fn state_before(
    directory: &ResultDirectory,
    scene: &Scene,
    frame: u32,
) -> Result<Simulation, Failure> {
    let indices = directory.checkpoints()?;
    let mut earlier = indices.into_iter().rev().filter(|index| *index < frame);
    let checkpoint = earlier.find_map(|index| directory.read_checkpoint(index).ok());
    if let Some(checkpoint) = checkpoint {
        return inputs::resume(scene, &checkpoint);
    }
    let simulation = inputs::begin(scene)?;
    inputs::refuse_new_start(directory, &simulation)?;
    Ok(simulation)
}

fn stopped(directory: &ResultDirectory) -> Failure {
    Failure::work(format_args!(
        "stopped while the frames were being checked and repaired; resume with: barchan run {} --resume",
        directory.path().display()
    ))
}

/// `frame 3 is`, `frames 3, 7 are`, `12 frames (from 3 to 40) are`.
fn describe(broken: &[u32]) -> String {
    match broken {
        [one] => format!("frame {one} is"),
        [first, .., last] if broken.len() > 8 => {
            format!("{} frames (from {first} to {last}) are", broken.len())
        }
        _ => {
            let numbers: Vec<String> = broken.iter().map(u32::to_string).collect();
            format!("frames {} are", numbers.join(", "))
        }
    }
}
