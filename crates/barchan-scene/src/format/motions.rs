//! Motion of colliders and gravity from the scene file.

use super::Builder;
use super::node::{Node, Table};
use crate::errors::Place;
use crate::model::Dimensions;
use crate::motion::{Gravity, Motion, Rotation, Track, Turning};
use glam::{DQuat, DVec3};

impl Builder<'_> {
    /// Gravity of the document.
    pub fn gravity(&mut self, document: &Table) -> Option<Gravity> {
        let (value, turning) = match document.table("gravity") {
            Some(table) => self.changing_gravity(table, document.get("gravity")?.at)?,
            None => {
                self.in_plane(document, "gravity");
                let value = document.or("gravity", Gravity::STANDARD, Node::vector)?;
                (Track::constant(value), None)
            }
        };
        Some(Gravity { value, turning })
    }

    fn changing_gravity(
        &mut self,
        table: &Table,
        at: Place,
    ) -> Option<(Track<DVec3>, Option<Turning>)> {
        let turning = ["axis", "rate", "start", "end"];
        if let Some(node) = table.get("keyframes") {
            for key in turning.iter().chain(&["value"]) {
                self.useless(table, key, "where gravity has keyframes");
            }
            return Some((self.vectors(table, node)?, None));
        }
        self.useless(table, "interpolation", "without keyframes");
        self.in_plane(table, "value");
        let value = table.or("value", Gravity::STANDARD, Node::vector);
        let turning = match turning.iter().any(|key| table.has(key)) {
            true => Some(self.turning(table, at)?),
            false => None,
        };
        Some((Track::constant(value?), turning))
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
        let position = table.optional("position", |node| {
            let table = node.table()?;
            self.vectors(table, table.get("keyframes")?)
        });
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

    fn rotation(&mut self, motion: &Table) -> Option<Rotation> {
        let Some(node) = motion.get("rotation") else {
            self.useless(motion, "pivot", "without a `rotation`");
            return Some(Rotation::Fixed);
        };
        let table = node.table()?;
        let Some(keyframes) = table.get("keyframes") else {
            self.useless(table, "interpolation", "without keyframes");
            return self.turning(table, node.at).map(Rotation::Rate);
        };
        for key in ["rate", "start", "end"] {
            self.useless(table, key, "where the rotation has keyframes");
        }
        if table.has("axis") {
            let axis = self.turning_axis(table, node.at)?;
            let track = self.track(table, keyframes, |builder, key, _| {
                builder.useless(key, "axis", "where the rotation has a fixed axis");
                Some(key.number("angle")?.to_radians())
            });
            return Some(Rotation::Angles {
                axis,
                track: track?,
            });
        }
        let track = self.track(table, keyframes, |builder, key, at| {
            if !key.has("axis") {
                return builder.report.refuse(
                    at,
                    "this keyframe has no axis",
                    "give the rotation an `axis`, or each of its keyframes",
                );
            }
            let axis = builder.turning_axis(key, at)?;
            let angle = key.number("angle")?.to_radians();
            Some(DQuat::from_axis_angle(axis, angle))
        });
        track.map(Rotation::Orientations)
    }

    fn vectors(&mut self, table: &Table, keyframes: &Node) -> Option<Track<DVec3>> {
        self.track(table, keyframes, |builder, key, _| {
            builder.in_plane(key, "value");
            key.vector("value")
        })
    }

    /// The track of a table from its keyframes, whose values `read` reads; an empty list and times that do not increase
    /// are refused.
    pub fn track<T: Copy>(
        &mut self,
        table: &Table,
        keyframes: &Node,
        mut read: impl FnMut(&mut Self, &Table, Place) -> Option<T>,
    ) -> Option<Track<T>> {
        let (list, at) = (keyframes.list()?, keyframes.at);
        let keys = list.iter().map(|key| {
            let value = read(self, key.table()?, key.at)?;
            Some((key.table()?.number("time")?, value))
        });
        // All of them are read, so that all errors are reported.
        let keys: Vec<Option<(f64, T)>> = keys.collect();
        let keys = keys.into_iter().collect::<Option<Vec<_>>>()?;
        if keys.is_empty() {
            let help = "list at least one: [{ time = 0, … }]";
            return self.report.refuse(at, "there are no keyframes", help);
        }
        for (i, pair) in keys.windows(2).enumerate() {
            if pair[1].0 <= pair[0].0 {
                return self.report.refuse(
                    list[i + 1].at,
                    format!(
                        "keyframes are out of order: {} s comes after {} s",
                        pair[1].0, pair[0].0
                    ),
                    "sort them by time, without duplicates",
                );
            }
        }
        Track::new(keys, table.choice("interpolation").unwrap_or_default())
    }

    fn turning(&mut self, table: &Table, at: Place) -> Option<Turning> {
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
        let rate = table.number("rate")?.to_radians();
        let (start, end) = self.times(table)?;
        Some(Turning {
            axis,
            rate,
            start,
            end,
        })
    }

    /// The unit axis of a rotation; in 2D it must be normal to the plane.
    fn turning_axis(&mut self, table: &Table, at: Place) -> Option<DVec3> {
        let axis = self.direction(table, "axis", DVec3::Z, at)?;
        if self.dimensions == Dimensions::Two && (axis.x != 0.0 || axis.y != 0.0) {
            return self.report.refuse(
                table.at("axis", at),
                "in a 2D scene rotations are about z only",
                "use axis = [0, 0, 1]",
            );
        }
        Some(axis)
    }

    /// `start` and `end`, an interval that is not empty.
    pub fn times(&mut self, table: &Table) -> Option<(f64, f64)> {
        let start = table.number_or("start", 0.0)?;
        let end = table.number_or("end", f64::INFINITY)?;
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
                format!("`{key}` has no effect {reason}"),
                format!("remove `{key}`, or change the setting that rules it out"),
            );
        }
    }
}
