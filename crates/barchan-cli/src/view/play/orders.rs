//! Commands of the pages that the simulation has not executed yet.
//!
//! A command replaces a pending one of the same kind, so that the number of pending commands is bounded, however much a page sends and
//! however slow the simulation is.

use super::super::store::locked;
use barchan::sim::bodies::{Drag, MotorTarget};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// Maximum number of pending single steps.
const MOST_STEPS: u32 = 16;

/// Pending commands, executed at the next opportunity.
#[derive(Debug, Default)]
pub(super) struct Orders {
    /// Run or pause.
    pub playing: Option<bool>,
    /// Simulated seconds per second.
    pub speed: Option<f64>,
    /// Single steps.
    pub steps: u32,
    /// Restart.
    pub reset: bool,
    /// Targets of motors, by joint.
    pub motors: BTreeMap<usize, MotorTarget>,
    /// Drag a body, or release it.
    pub drag: Option<Option<Drag>>,
    /// Values of parameters, by material and key.
    pub parameters: BTreeMap<(usize, &'static str), f64>,
    /// Whether pictures include the speed of each grain.
    pub with_speed: Option<bool>,
    /// A page was opened or closed.
    pub pages: bool,
    /// The viewer is closing.
    pub quit: bool,
}

impl Orders {
    /// Adds a single step.
    pub fn add_step(&mut self) {
        self.steps = (self.steps + 1).min(MOST_STEPS);
    }

    /// Restarts; earlier commands are dropped.
    pub fn start_over(&mut self) {
        self.reset = true;
        self.steps = 0;
        self.motors.clear();
        self.drag = None;
    }
}

/// Queue of the commands of the pages.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    orders: Mutex<Orders>,
    arrived: Condvar,
    is_filled: AtomicBool,
}

impl Inbox {
    /// Adds commands and wakes the waiting thread.
    pub fn add(&self, edit: impl FnOnce(&mut Orders)) {
        edit(&mut locked(&self.orders));
        self.is_filled.store(true, Ordering::Release);
        self.arrived.notify_all();
    }

    /// Whether commands are pending.
    pub fn is_filled(&self) -> bool {
        self.is_filled.load(Ordering::Acquire)
    }

    /// Takes all pending commands.
    pub fn take(&self) -> Orders {
        let mut orders = locked(&self.orders);
        self.is_filled.store(false, Ordering::Release);
        std::mem::take(&mut orders)
    }

    /// Waits for commands, no longer than `at_most`.
    pub fn wait(&self, at_most: Option<Duration>) {
        let orders = locked(&self.orders);
        if self.is_filled() {
            return;
        }
        // After a spurious wakeup the caller checks again.
        match at_most {
            Some(time) => drop(self.arrived.wait_timeout(orders, time)),
            None => drop(self.arrived.wait(orders)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pending_commands_are_bounded() {
        let inbox = Inbox::default();
        for i in 0..100_000 {
            inbox.add(|orders| {
                orders.add_step();
                orders.motors.insert(i % 3, MotorTarget::Velocity(1.0));
                orders.parameters.insert((i % 2, "young"), i as f64);
            });
        }
        let orders = inbox.take();
        assert_eq!(orders.steps, MOST_STEPS);
        assert_eq!((orders.motors.len(), orders.parameters.len()), (3, 2));
        assert!(!inbox.is_filled());
    }

    #[test]
    fn a_command_wakes_the_waiting_thread() {
        let inbox = std::sync::Arc::new(Inbox::default());
        let other = std::sync::Arc::clone(&inbox);
        let thread = std::thread::spawn(move || {
            while !other.is_filled() {
                other.wait(None);
            }
            other.take().quit
        });
        inbox.add(|orders| orders.quit = true);
        assert!(thread.join().unwrap_or(false));
    }

    #[test]
    fn a_restart_drops_earlier_commands() {
        let mut orders = Orders::default();
        orders.add_step();
        orders.motors.insert(0, MotorTarget::Velocity(1.0));
        orders.start_over();
        assert!(orders.reset && orders.steps == 0 && orders.motors.is_empty());
    }
}
