//! The camera of the scene file.

use super::Builder;
use super::node::{Node, Table};
use crate::camera::Camera;
use crate::errors::Place;
use crate::motion::{Interpolation, Track};

impl Builder<'_> {
    /// The camera: `None` when it is wrong, `Some(None)` when there is none.
    pub fn camera(&mut self, document: &Table) -> Option<Option<Camera>> {
        let Some(node) = document.get("camera") else {
            return Some(None);
        };
        let table = node.table()?;
        let orbit = table.number("orbit").unwrap_or(0.0);
        if let Some(keyframes) = table.get("keyframes") {
            for key in ["position", "target", "fov"] {
                self.useless(table, key, "where the camera has keyframes");
            }
            let path = self.keyed_camera(table, keyframes)?;
            return Some(Some(Camera { orbit, ..path }));
        }
        self.useless(table, "interpolation", "without keyframes");
        self.looks_at_something(table, table, table.at("target", node.at));
        Some(Some(Camera {
            position: table.vector("position").and_then(still),
            target: table.vector("target").and_then(still),
            fov: table.number("fov").and_then(still),
            orbit,
        }))
    }

    fn keyed_camera(&mut self, table: &Table, node: &Node) -> Option<Camera> {
        let list = node.list()?;
        let keys: Vec<&Table> = list.iter().map(Node::table).collect::<Option<_>>()?;
        let times: Vec<f64> = keys
            .iter()
            .map(|key| key.number("time"))
            .collect::<Option<_>>()?;
        let positions: Vec<_> = keys
            .iter()
            .zip(&times)
            .map(|(key, time)| Some((*time, key.vector("position")?)))
            .collect::<Option<_>>()?;
        let smooth = Interpolation::Smooth;
        let position = self.track_or(positions, table, node.at, smooth)?;
        let linear = table.text("interpolation") == Some("linear");
        let way = if linear {
            Interpolation::Linear
        } else {
            smooth
        };
        // The keyframe that a key's target comes from, for the check.
        let mut from = keys.iter().find(|key| key.has("target")).copied();
        for (key, item) in keys.iter().zip(list) {
            from = if key.has("target") { Some(key) } else { from };
            if let Some(from) = from {
                self.looks_at_something(key, from, item.at);
            }
        }
        Some(Camera {
            position: Some(position),
            target: carried(&keys, &times, |key| key.vector("target"), way),
            fov: carried(&keys, &times, |key| key.number("fov"), way),
            orbit: 0.0,
        })
    }

    /// Reports a position that is the target.
    fn looks_at_something(&mut self, eye: &Table, aim: &Table, at: Place) {
        let (Some(position), Some(target)) = (eye.vector("position"), aim.vector("target")) else {
            return;
        };
        if position.distance(target) < 1e-6 {
            self.report.error(
                at,
                "the camera stands in its own target",
                "move `position` away from `target`: the camera looks from one to the other",
            );
        }
    }
}

/// A value that stays.
fn still<T: Copy>(value: T) -> Option<Track<T>> {
    Track::new(vec![(0.0, value)], Interpolation::Smooth)
}

/// Values of the keyframes, each that has none taking the one before, and the first ones the first there is; `None`
/// when no keyframe has one.
fn carried<T: Copy>(
    keys: &[&Table],
    times: &[f64],
    value: impl Fn(&Table) -> Option<T>,
    way: Interpolation,
) -> Option<Track<T>> {
    let mut last = keys.iter().find_map(|key| value(key))?;
    let track = keys.iter().zip(times).map(|(key, time)| {
        last = value(key).unwrap_or(last);
        (*time, last)
    });
    Track::new(track.collect(), way)
}
