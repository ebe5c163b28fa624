//! The camera of the scene file.

use super::Builder;
use super::node::{Node, Table};
use crate::camera::Camera;
use crate::errors::Place;
use crate::motion::{Interpolation, Track};
use glam::DVec3;

impl Builder<'_> {
    /// The camera of the scene.
    pub fn camera(&mut self, node: &Node) -> Option<Camera> {
        let table = node.table()?;
        let keyframes = match table.get("keyframes") {
            Some(keyframes) => self.camera_keys(table, keyframes)?,
            None => {
                self.useless(table, "interpolation", "without keyframes");
                Keys::default()
            }
        };
        for key in ["position", "target", "fov"] {
            if keyframes.tables.iter().any(|frame| frame.has(key)) {
                self.useless(table, key, "where a keyframe has it");
            }
        }
        self.look_at_something(table, &keyframes, table.at("target", node.at));
        let vector = |key| keyframes.track(|frame| frame.vector(key));
        let number = |key| keyframes.track(|frame| frame.number(key));
        let still = |key| table.vector(key).map(Track::constant);
        Some(Camera {
            position: vector("position").or_else(|| still("position")),
            target: vector("target").or_else(|| still("target")),
            fov: number("fov").or_else(|| table.number("fov").map(Track::constant)),
            orbit: table.number("orbit").unwrap_or(0.0),
            turn: number("angle"),
        })
    }

    fn camera_keys<'a>(&mut self, table: &Table, node: &'a Node) -> Option<Keys<'a>> {
        let list = node.list()?;
        let tables: Vec<&Table> = list.iter().map(Node::table).collect::<Option<_>>()?;
        // Checks their order.
        self.track(table, node, |_, _, _| Some(()))?;
        Some(Keys {
            tables,
            nodes: list,
            way: table
                .choice("interpolation")
                .unwrap_or(Interpolation::Smooth),
        })
    }

    /// Reports views whose position coincides with their target.
    fn look_at_something(&mut self, camera: &Table, keyframes: &Keys<'_>, at: Place) {
        self.distinct(camera.vector("position"), camera.vector("target"), at);
        let first = |key| keyframes.tables.iter().find_map(|frame| frame.vector(key));
        let mut eye = first("position").or(camera.vector("position"));
        let mut aim = first("target").or(camera.vector("target"));
        for (frame, node) in keyframes.tables.iter().zip(keyframes.nodes) {
            eye = frame.vector("position").or(eye);
            aim = frame.vector("target").or(aim);
            if frame.has("position") || frame.has("target") {
                self.distinct(eye, aim, node.at);
            }
        }
    }

    fn distinct(&mut self, position: Option<DVec3>, target: Option<DVec3>, at: Place) {
        let (Some(position), Some(target)) = (position, target) else {
            return;
        };
        if position.distance(target) < 1e-6 {
            self.report.error(
                at,
                "the camera is in its own target",
                "move `position` away from `target`: the camera looks from one to the other",
            );
        }
    }
}

/// Keyframes of the camera, in order.
#[derive(Default)]
struct Keys<'a> {
    nodes: &'a [Node],
    tables: Vec<&'a Table>,
    way: Interpolation,
}

impl Keys<'_> {
    /// Values of the keyframes: a missing one is that of the keyframe before, or at the beginning the first given one. `None`
    /// when no keyframe has one.
    fn track<T: Copy>(&self, value: impl Fn(&Table) -> Option<T>) -> Option<Track<T>> {
        let mut last = self.tables.iter().find_map(|key| value(key))?;
        let track = self.tables.iter().map(|key| {
            last = value(key).unwrap_or(last);
            Some((key.number("time")?, last))
        });
        Track::new(track.collect::<Option<_>>()?, self.way)
    }
}
