//! Motion of colliders and gravity from the scene file.

use super::Builder;
use super::node::{Node, Table};
use crate::errors::Place;
use crate::model::Dimensions;
use crate::motion::{Gravity, Interpolation, Motion, Rotation, Track};
use glam::{DQuat, DVec3};

impl Builder<'_> {
    /// Gravity of the document.
    pub fn gravity(&mut self, document: &Table) -> Option<Gravity> {
        let Some(node) = document.get("gravity") else {
            return Some(Gravity::default());
        };
        let gravity = match node.table() {
            Some(table) => self.changing_gravity(table, node.at)?,
            None => {
                self.in_plane(document, "gravity");
                Gravity::Constant(node.vector()?)
            }
        };
        Some(gravity)
    }

    fn changing_gravity(&mut self, table: &Table, at: Place) -> Option<Gravity> {
        let turning = ["axis", "rate", "start", "end"];
        if let Some(node) = table.get("keyframes") {
            for key in turning.iter().chain(&["value"]) {
                self.useless(table, key, "where gravity has keyframes");
            }
            let keys = self.vector_keys(node)?;
            let track = self.track(keys, table, node.at)?;
            return Some(Gravity::Keyframes(track));
        }
        self.useless(table, "interpolation", "without keyframes");
        self.in_plane(table, "value");
        let value = table.or("value", DVec3::new(0.0, -9.81, 0.0), Node::vector);
        if !turning.iter().any(|key| table.has(key)) {
            return value.map(Gravity::Constant);
        }
        let (axis, rate) = self.axis_and_rate(table, at)?;
        let (start, end) = self.times(table)?;
        Some(Gravity::Rotating {
            value: value?,
            axis,
            rate,
            start,
            end,
        })
    }

    /// Motion of a collider.
    pub fn motion(&mut self, collider: &Table) -> Option<Motion> {
        let Some(node) = collider.get("motion") else {
            return Some(Motion::default());
        };
        let table = node.table()?;
        self.in_plane(table, "velocity");
        let velocity = table.or("velocity", DVec3::ZERO, Node::vector);
        if !table.has("velocity") {
            self.useless(table, "start", "without a constant `velocity`");
            self.useless(table, "end", "without a constant `velocity`");
        }
        let times = self.times(table);
        let position = self.position(table);
        let rotation = self.rotation(table);
        let pivot = table.or("pivot", DVec3::ZERO, Node::vector);
        let (start, end) = times?;
        Some(Motion {
            velocity: velocity?,
            start,
            end,
            position: position?,
            rotation: rotation?,
            pivot: pivot?,
        })
    }

    fn position(&mut self, motion: &Table) -> Option<Option<Track<DVec3>>> {
        let Some(node) = motion.get("position") else {
            return Some(None);
        };
        let table = node.table()?;
        let keyframes = table.get("keyframes")?;
        let keys = self.vector_keys(keyframes)?;
        self.track(keys, table, keyframes.at).map(Some)
    }

    fn rotation(&mut self, motion: &Table) -> Option<Rotation> {
        let Some(node) = motion.get("rotation") else {
            self.useless(motion, "pivot", "without a `rotation`");
            return Some(Rotation::Fixed);
        };
        let table = node.table()?;
        let Some(keyframes) = table.get("keyframes") else {
            self.useless(table, "interpolation", "without keyframes");
            let (axis, rate) = self.axis_and_rate(table, node.at)?;
            let (start, end) = self.times(table)?;
            return Some(Rotation::Rate {
                axis,
                rate,
                start,
                end,
            });
        };
        for key in ["rate", "start", "end"] {
            self.useless(table, key, "where the rotation has keyframes");
        }
        if table.has("axis") {
            let axis = self.turning_axis(table, node.at)?;
            let keys = self.angle_keys(keyframes)?;
            let track = self.track(keys, table, keyframes.at)?;
            return Some(Rotation::Angles { axis, track });
        }
        let keys = self.orientation_keys(keyframes)?;
        let track = self.track(keys, table, keyframes.at)?;
        Some(Rotation::Orientations(track))
    }

    fn vector_keys(&mut self, node: &Node) -> Option<Vec<(f64, DVec3)>> {
        let keys = node.list()?.iter().map(|key| {
            let table = key.table()?;
            self.in_plane(table, "value");
            Some((table.number("time")?, table.vector("value")?))
        });
        keys.collect()
    }

    fn angle_keys(&mut self, node: &Node) -> Option<Vec<(f64, f64)>> {
        let keys = node.list()?.iter().map(|key| {
            let table = key.table()?;
            self.useless(table, "axis", "where the rotation has a fixed axis");
            Some((table.number("time")?, table.number("angle")?.to_radians()))
        });
        keys.collect()
    }

    fn orientation_keys(&mut self, node: &Node) -> Option<Vec<(f64, DQuat)>> {
        let keys: Vec<_> = node
            .list()?
            .iter()
            .map(|key| {
                let table = key.table()?;
                if !table.has("axis") {
                    return self.report.refuse(
                        key.at,
                        "this keyframe turns about no axis",
                        "give the rotation an `axis`, or each of its keyframes",
                    );
                }
                let axis = self.turning_axis(table, key.at)?;
                let angle = table.number("angle")?.to_radians();
                Some((table.number("time")?, DQuat::from_axis_angle(axis, angle)))
            })
            .collect();
        keys.into_iter().collect()
    }

    /// A track from keys; no keys and times that do not grow are refused.
    fn track<T: Copy>(
        &mut self,
        keys: Vec<(f64, T)>,
        table: &Table,
        at: Place,
    ) -> Option<Track<T>> {
        self.track_or(keys, table, at, Interpolation::Linear)
    }

    /// The same, with an interpolation where the table names none.
    pub fn track_or<T: Copy>(
        &mut self,
        keys: Vec<(f64, T)>,
        table: &Table,
        at: Place,
        usual: Interpolation,
    ) -> Option<Track<T>> {
        if keys.is_empty() {
            let help = "list at least one: [{ time = 0, … }]";
            return self.report.refuse(at, "there are no keyframes", help);
        }
        for (i, pair) in keys.windows(2).enumerate() {
            if pair[1].0 <= pair[0].0 {
                let place = table.list("keyframes").get(i + 1).map_or(at, |k| k.at);
                return self.report.refuse(
                    place,
                    format!(
                        "keyframes are out of order: {} s comes after {} s",
                        pair[1].0, pair[0].0
                    ),
                    "sort them by time, one for each moment",
                );
            }
        }
        let interpolation = match table.text("interpolation") {
            Some("smooth") => Interpolation::Smooth,
            Some("step") => Interpolation::Step,
            Some(_) => Interpolation::Linear,
            None => usual,
        };
        Track::new(keys, interpolation)
    }

    fn axis_and_rate(&mut self, table: &Table, at: Place) -> Option<(DVec3, f64)> {
        for key in ["axis", "rate"] {
            if !table.has(key) {
                self.report.error(
                    at,
                    format!("to turn, `{key}` is needed"),
                    "write { axis = [0, 0, 1], rate = 90 }, the rate in degrees per second",
                );
            }
        }
        if !table.has("axis") {
            return None;
        }
        let axis = self.turning_axis(table, at)?;
        Some((axis, table.number("rate")?.to_radians()))
    }

    /// The unit axis of a rotation; in 2D it must stand on the plane.
    fn turning_axis(&mut self, table: &Table, at: Place) -> Option<DVec3> {
        let axis = self.direction(table, "axis", DVec3::Z, at)?;
        if self.dimensions == Dimensions::Two && (axis.x != 0.0 || axis.y != 0.0) {
            return self.report.refuse(
                table.at("axis", at),
                "in a 2D scene things turn about z only",
                "use axis = [0, 0, 1]",
            );
        }
        Some(axis)
    }

    /// `start` and `end`, an interval that is not empty.
    pub fn times(&mut self, table: &Table) -> Option<(f64, f64)> {
        if table.is_bad("start") || table.is_bad("end") {
            return None;
        }
        let start = table.number("start").unwrap_or(0.0);
        let end = table.number("end").unwrap_or(f64::INFINITY);
        if let Some(node) = table.get("end").filter(|_| end <= start) {
            return self.report.refuse(
                node.at,
                format!("it would end at {end} s, before it starts at {start} s"),
                "set `end` after `start`, or leave it out",
            );
        }
        Some((start, end))
    }

    /// Reports a vector that leaves the plane of a 2D scene.
    pub fn in_plane(&mut self, table: &Table, key: &str) {
        let (Some(node), Dimensions::Two) = (table.get(key), self.dimensions) else {
            return;
        };
        if let Some(z) = node.vector().map(|v| v.z).filter(|z| *z != 0.0) {
            self.report.error(
                node.at,
                format!("`{key}` has z = {z}, out of the plane of a 2D scene"),
                "give it as [x, y], or set dimensions = 3",
            );
        }
    }

    /// Reports a key that has no effect.
    pub fn useless(&mut self, table: &Table, key: &str, reason: &str) {
        if let Some(entry) = table.entry(key) {
            self.report.error(
                entry.key_at,
                format!("`{key}` has no meaning {reason}"),
                format!("remove `{key}`, or what it disagrees with"),
            );
        }
    }
}
