//! Changes while a page is open: new frames of a run, detected damage, and the statistics of each frame.
//!
//! Two threads poll the directory: one lists the frames a few times per second, the other reads the statistics of
//! new frames. Both end with the viewer.

use super::error::{ErrorMessage, ViewError};
use super::store::{Store, locked};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use tokio::sync::watch;

/// Polling interval of the directory.
const INTERVAL: Duration = Duration::from_millis(300);
/// Number of polls after which all frames are checked again, which detects rewritten ones.
const THOROUGH_EVERY: u32 = 8;
/// Fraction of the grains that lie below the reported height.
const HEIGHT_PART: f64 = 0.995;

/// The present state, as sent to pages.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct State {
    /// Existing frames: first and last of each contiguous interval.
    pub frames: Vec<[u32; 2]>,
    /// Number of the last frame of the complete run.
    pub planned: u32,
    /// Number of statistics read so far; when it grows, `/api/statistics` has new data.
    pub statistics: usize,
    /// Frames that cannot be read.
    pub damage: Vec<Damage>,
    /// Error of the directory itself.
    pub trouble: Option<ErrorMessage>,
}

/// Why a frame cannot be shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Damage {
    /// Frame.
    pub frame: u32,
    /// The error, which names the file.
    #[serde(flatten)]
    pub message: ErrorMessage,
    /// Version of the damaged frame; a rewritten frame is read again.
    #[serde(skip)]
    pub version: String,
}

/// Watches a result.
pub struct Live {
    store: Arc<Store>,
    state: watch::Sender<State>,
    points: Mutex<BTreeMap<u32, Point>>,
}

/// Statistics of a frame.
struct Point {
    version: String,
    time: f64,
    particles: usize,
    kinetic_energy_j: f64,
    max_speed: f64,
    forces_n: Vec<[f64; 3]>,
    height: Option<f32>,
}

impl Live {
    /// Starts to watch. The existing frames are listed when this returns.
    ///
    /// # Errors
    /// The frames cannot be listed.
    pub fn start(store: Arc<Store>) -> Result<Arc<Self>, ViewError> {
        let state = State {
            frames: intervals(&store.refresh()?),
            planned: store.manifest().frames,
            ..State::default()
        };
        let live = Arc::new(Self {
            store,
            state: watch::Sender::new(state),
            points: Mutex::default(),
        });
        let mut stamp = None;
        repeat(&live, move |live, is_thorough| {
            let now = live.store.stamp();
            if is_thorough || now.is_none() || now != stamp {
                stamp = now;
                live.list();
            }
        });
        repeat(&live, Self::read_statistics);
        Ok(live)
    }

    /// The present state and its changes. Slow readers skip outdated states.
    pub fn watch(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    /// Numbers of the existing frames.
    pub fn frames(&self) -> Vec<u32> {
        let state = self.state.borrow();
        state
            .frames
            .iter()
            .flat_map(|[first, last]| *first..=*last)
            .collect()
    }

    /// Data of the plots: a list for each quantity.
    pub fn statistics(&self) -> Value {
        let points = locked(&self.points);
        let list = |get: &dyn Fn(&u32, &Point) -> Value| {
            points.iter().map(|(f, p)| get(f, p)).collect::<Vec<_>>()
        };
        json!({
            "frames": list(&|f, _| json!(f)),
            "time_s": list(&|_, p| json!(p.time)),
            "grains": list(&|_, p| json!(p.particles)),
            "kinetic_energy_j": list(&|_, p| json!(p.kinetic_energy_j)),
            "max_speed": list(&|_, p| json!(p.max_speed)),
            "height_m": list(&|_, p| json!(p.height)),
            "forces_n": list(&|_, p| json!(p.forces_n)),
        })
    }

    fn list(&self) {
        let listed = self.store.refresh();
        let planned = self.store.manifest().frames;
        self.change(|state| match &listed {
            Ok(frames) => {
                state.frames = intervals(frames);
                state.planned = planned;
                state
                    .damage
                    .retain(|d| frames.binary_search(&d.frame).is_ok());
                state.trouble = None;
            }
            Err(error) => state.trouble = Some(error.message(self.store.root())),
        });
    }

    /// First the values in the record of each frame, then the heights, which require the positions.
    fn read_statistics(self: &Arc<Self>, is_thorough: bool) {
        for frame in self.frames() {
            if is_thorough || !locked(&self.points).contains_key(&frame) {
                self.read_record(frame);
            }
        }
        for frame in self.frames() {
            // The viewer has ended.
            if Arc::strong_count(self) == 1 {
                return;
            }
            self.read_height(frame);
        }
    }

    fn read_record(&self, frame: u32) {
        let version = self.store.version(frame).unwrap_or_default();
        let known = locked(&self.points)
            .get(&frame)
            .is_some_and(|p| p.version == version);
        if known || self.is_damaged(frame, &version) {
            return;
        }
        match self.store.info(frame) {
            Ok(info) => {
                let point = Point {
                    version,
                    time: info.time,
                    particles: info.particles,
                    kinetic_energy_j: info.record.statistics.kinetic_energy_j,
                    max_speed: info.record.statistics.max_speed,
                    forces_n: info.record.bodies.iter().map(|b| b.force).collect(),
                    height: None,
                };
                locked(&self.points).insert(frame, point);
                self.change(|state| {
                    state.damage.retain(|d| d.frame != frame);
                    state.statistics += 1;
                });
            }
            Err(error) => self.add_damage(frame, &error),
        }
    }

    fn read_height(&self, frame: u32) {
        let wanted = |p: &&Point| p.height.is_none() && p.particles > 0;
        let version = locked(&self.points)
            .get(&frame)
            .filter(wanted)
            .map(|p| p.version.clone());
        if version.is_none_or(|version| self.is_damaged(frame, &version)) {
            return;
        }
        match self.store.column(frame, "position") {
            Ok(column) => {
                let height = column.data.as_f32().and_then(height);
                if let Some(point) = locked(&self.points).get_mut(&frame) {
                    point.height = Some(height.unwrap_or(f32::NAN));
                }
                self.change(|state| state.statistics += 1);
            }
            Err(error) => self.add_damage(frame, &error),
        }
    }

    fn is_damaged(&self, frame: u32, version: &str) -> bool {
        let state = self.state.borrow();
        state
            .damage
            .iter()
            .any(|d| d.frame == frame && d.version == version)
    }

    /// Records that a frame cannot be read, for the timeline and the banner.
    pub fn add_damage(&self, frame: u32, error: &ViewError) {
        let damage = Damage {
            frame,
            message: error.message(self.store.root()),
            version: self.store.version(frame).unwrap_or_default(),
        };
        self.change(|state| {
            state.damage.retain(|d| d.frame != frame);
            state.damage.push(damage.clone());
            state.damage.sort_by_key(|d| d.frame);
        });
    }

    fn change(&self, edit: impl FnOnce(&mut State)) {
        self.state.send_if_modified(|state| {
            let before = state.clone();
            edit(state);
            *state != before
        });
    }
}

/// Repeats `work` in a thread of its own until the viewer is dropped; its argument is true every [`THOROUGH_EVERY`] times.
fn repeat(live: &Arc<Live>, mut work: impl FnMut(&Arc<Live>, bool) + Send + 'static) {
    let weak = Arc::downgrade(live);
    std::thread::spawn(move || {
        for turn in 0_u32.. {
            let Some(live) = Weak::upgrade(&weak) else {
                return;
            };
            work(&live, turn.is_multiple_of(THOROUGH_EVERY));
            drop(live);
            std::thread::sleep(INTERVAL);
        }
    });
}

/// Height y below which nearly all grains lie [m].
fn height(position: &[f32]) -> Option<f32> {
    let mut heights: Vec<f32> = position
        .chunks_exact(3)
        .map(|p| p[1])
        .filter(|y| y.is_finite())
        .collect();
    let at = (HEIGHT_PART * heights.len().checked_sub(1)? as f64).round() as usize;
    let (_, height, _) = heights.select_nth_unstable_by(at, f32::total_cmp);
    Some(*height)
}

/// Sorted numbers as contiguous intervals.
pub fn intervals(frames: &[u32]) -> Vec<[u32; 2]> {
    let mut intervals: Vec<[u32; 2]> = Vec::new();
    for &frame in frames {
        match intervals.last_mut() {
            Some([_, last]) if *last + 1 == frame => *last = frame,
            _ => intervals.push([frame, frame]),
        }
    }
    intervals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_hold_all_frames() {
        assert_eq!(intervals(&[]), Vec::<[u32; 2]>::new());
        assert_eq!(intervals(&[0, 1, 2, 5, 7, 8]), [[0, 2], [5, 5], [7, 8]]);
    }

    #[test]
    fn height_ignores_a_few_grains_in_flight() {
        let position: Vec<f32> = (0..1000)
            .flat_map(|i| [0.0, i as f32, 0.0])
            .chain([0.0, 1e6, 0.0])
            .collect();
        let found = height(&position).unwrap_or_default();
        assert!((990.0..1000.0).contains(&found), "{found}");
        assert_eq!(height(&[]), None);
    }
}
