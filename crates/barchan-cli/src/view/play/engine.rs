//! The thread that owns the simulation: executes commands, advances in real time, and publishes the latest picture for the pages.

use super::orders::Orders;
use super::pace::{Counts, Meter, Pace};
use super::picture::{Beside, Painter};
use super::{ErrorMessage, Play, error_message};
use axum::body::Bytes;
use barchan::scene::Scene;
use barchan::sim::bodies::Drag;
use barchan::sim::simulation::{Control, Simulation, SimulationError};
use barchan::sim::solvers;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Shortest time between two pictures.
const PICTURE_PAUSE: Duration = Duration::from_millis(16);

/// Length of a single step of the user.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Stride {
    /// A solver step of this length [s].
    Step(f64),
    /// A frame of the scene.
    Frame,
}

/// The simulation and how it is run.
pub(super) struct Engine {
    play: Arc<Play>,
    /// The scene with the present parameters.
    scene: Scene,
    simulation: Simulation,
    stride: Stride,
    playing: bool,
    speed: f64,
    with_speed: bool,
    drag: Option<Drag>,
    error: Option<ErrorMessage>,
    /// Whether something has changed since the last picture.
    is_stale: bool,
    number: u64,
    last_picture: Option<Instant>,
    painter: Painter,
    pace: Pace,
    meter: Meter,
}

impl Engine {
    pub fn new(play: Arc<Play>, scene: Scene, mut simulation: Simulation, playing: bool) -> Self {
        let stride = simulation.fixed_step().map_or(Stride::Frame, Stride::Step);
        let now = Instant::now();
        Self {
            stride,
            pace: Pace::new(now, simulation.time()),
            meter: Meter::new(counts(&simulation)),
            play,
            scene,
            simulation,
            playing,
            speed: 1.0,
            with_speed: false,
            drag: None,
            error: None,
            is_stale: true,
            number: 0,
            last_picture: None,
            painter: Painter::default(),
        }
    }

    /// Runs until the command to quit.
    pub fn run(mut self) {
        loop {
            let orders = self.play.inbox.take();
            if orders.quit {
                return;
            }
            self.execute(orders);
            let mut wait = None;
            if self.is_running() {
                let (play, last) = (Arc::clone(&self.play), self.last_picture);
                let is_late = || last.is_none_or(|last| last.elapsed() >= 2 * PICTURE_PAUSE);
                self.advance(|| play.inbox.is_filled() || is_late());
                wait = Some(
                    self.pace
                        .wait(Instant::now(), self.simulation.time(), self.speed),
                );
            }
            if self.is_stale && (!self.is_running() || self.is_picture_due()) {
                self.show();
            }
            match wait {
                Some(wait) if wait.is_zero() => {}
                wait => self.play.inbox.wait(wait),
            }
        }
    }

    fn is_running(&self) -> bool {
        self.playing && self.error.is_none() && self.play.pages() > 0
    }

    fn is_picture_due(&self) -> bool {
        self.last_picture
            .is_none_or(|last| last.elapsed() >= PICTURE_PAUSE)
    }

    fn execute(&mut self, orders: Orders) {
        let before = self.is_running();
        self.is_stale |= orders.pages;
        if let Some(playing) = orders.playing {
            self.playing = playing;
            self.is_stale = true;
        }
        if let Some(speed) = orders.speed {
            self.speed = speed;
            self.rebase();
            self.is_stale = true;
        }
        if let Some(with_speed) = orders.with_speed {
            self.with_speed = with_speed;
            self.is_stale = true;
        }
        for ((material, key), value) in &orders.parameters {
            self.set_parameter(*material, key, *value);
        }
        if orders.reset {
            self.start_over();
        }
        for (joint, target) in orders.motors {
            self.simulation.bodies_mut().set_motor(joint, target);
        }
        if let Some(drag) = orders.drag {
            self.drag = drag;
            self.simulation.bodies_mut().set_drag(drag);
            self.is_stale = true;
        }
        for _ in 0..orders.steps {
            self.playing = false;
            if self.error.is_none() {
                let play = Arc::clone(&self.play);
                self.advance(|| play.is_over());
            }
            self.is_stale = true;
        }
        if self.is_running() && !before {
            self.rebase();
        }
    }

    /// Restarts the pacing at the present time.
    fn rebase(&mut self) {
        self.pace = Pace::new(Instant::now(), self.simulation.time());
    }

    fn set_parameter(&mut self, index: usize, key: &str, value: f64) {
        if !solvers::set_parameter(&mut self.scene, index, key, value) {
            return;
        }
        self.is_stale = true;
        let material = &self.scene.materials[index];
        if let Err(error) = self.simulation.set_material(index, material) {
            self.stop(&error);
        }
    }

    fn start_over(&mut self) {
        self.drag = None;
        self.error = None;
        self.play.report(None);
        match Simulation::new(&self.scene) {
            Ok(simulation) => {
                self.simulation = simulation;
                self.meter = Meter::new(counts(&self.simulation));
                self.rebase();
            }
            Err(error) => self.stop(&error),
        }
        self.is_stale = true;
    }

    /// Advances one stride, or less if `is_enough` becomes true.
    fn advance(&mut self, is_enough: impl Fn() -> bool) {
        let advanced = match self.stride {
            Stride::Step(dt) => self.simulation.step(dt).map(|_| ()),
            Stride::Frame => {
                let mut watch = |_: &_| match is_enough() {
                    true => Control::Stop,
                    false => Control::Continue,
                };
                self.simulation.advance_frame(&mut watch).map(|_| ())
            }
        };
        self.is_stale = true;
        if let Err(error) = advanced {
            self.stop(&error);
        }
    }

    fn stop(&mut self, error: &SimulationError) {
        let message = error_message(error, &self.scene);
        self.play.report(Some(message.clone()));
        self.error = Some(message);
        self.is_stale = true;
    }

    /// Publishes a picture for the pages, replacing the previous one.
    fn show(&mut self) {
        self.number += 1;
        self.last_picture = Some(Instant::now());
        self.is_stale = false;
        let beside = Beside {
            number: self.number,
            playing: self.playing,
            speed: self.speed,
            rates: self.meter.read(counts(&self.simulation)),
            error: self.error.as_ref(),
            drag: self.drag.as_ref(),
        };
        let (picture, terrain) = self.painter.paint(
            &mut self.simulation,
            &self.scene,
            &self.play.look.palette,
            self.with_speed,
            &beside,
        );
        // Published first, so that it is available when the picture refers to it.
        if let Some(terrain) = terrain {
            self.play.terrain.send_replace(Bytes::from(terrain));
        }
        self.play.pictures.send_replace(Bytes::from(picture));
    }
}

fn counts(simulation: &Simulation) -> Counts {
    Counts {
        wall: Instant::now(),
        time: simulation.time(),
        steps: simulation.counters().substeps,
        busy: simulation.solver_wall(),
    }
}
