//! Axis-aligned boxes.

use glam::{Quat, Vec3};

/// An axis-aligned box; may be infinite. Empty when a lower coordinate exceeds the upper one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Lower corner [m].
    pub min: Vec3,
    /// Upper corner [m].
    pub max: Vec3,
}

impl Bounds {
    /// All of space.
    pub const INFINITE: Self = Self {
        min: Vec3::NEG_INFINITY,
        max: Vec3::INFINITY,
    };

    /// The empty box.
    pub const EMPTY: Self = Self {
        min: Vec3::INFINITY,
        max: Vec3::NEG_INFINITY,
    };

    /// The smallest box that holds two points, in any order.
    pub fn from_corners(a: Vec3, b: Vec3) -> Self {
        Self {
            min: a.min(b),
            max: a.max(b),
        }
    }

    /// The smallest box that holds all points; empty without any.
    pub fn from_points(points: impl IntoIterator<Item = Vec3>) -> Self {
        points.into_iter().fold(Self::EMPTY, |b, p| Self {
            min: b.min.min(p),
            max: b.max.max(p),
        })
    }

    /// Edge lengths [m]; zero when empty.
    pub fn size(&self) -> Vec3 {
        if self.is_empty() {
            Vec3::ZERO
        } else {
            self.max - self.min
        }
    }

    /// Center [m]; an axis that is unbounded on both sides has its center at 0.
    pub fn center(&self) -> Vec3 {
        let middle = 0.5 * self.min + 0.5 * self.max;
        Vec3::select(middle.is_nan_mask(), Vec3::ZERO, middle)
    }

    /// Whether `p` lies inside or on the border.
    pub fn contains(&self, p: Vec3) -> bool {
        p.cmpge(self.min).all() && p.cmple(self.max).all()
    }

    /// The smallest box that holds both.
    pub fn union(&self, other: &Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }

    /// Intersection of both; may be empty.
    pub fn intersect(&self, other: &Self) -> Self {
        Self {
            min: self.min.max(other.min),
            max: self.max.min(other.max),
        }
    }

    /// The box grown by `margin` [m] on every side (shrunk when negative).
    pub fn expand(&self, margin: f32) -> Self {
        Self {
            min: self.min - margin,
            max: self.max + margin,
        }
    }

    /// Whether every coordinate is finite.
    pub fn is_finite(&self) -> bool {
        self.min.is_finite() && self.max.is_finite()
    }

    /// Whether the box contains no point.
    pub fn is_empty(&self) -> bool {
        !self.min.cmple(self.max).all()
    }

    /// Distance from `p` to the box [m]; zero inside.
    pub fn distance(&self, p: Vec3) -> f32 {
        (self.min - p).max(p - self.max).max(Vec3::ZERO).length()
    }

    /// A box that holds this one after scaling, rotating and moving it.
    pub(super) fn transformed(&self, rotation: Quat, translation: Vec3, scale: f32) -> Self {
        if self.is_empty() {
            return Self::EMPTY;
        }
        let axes = glam::Mat3::from_quat(rotation) * scale;
        let mut out = Self {
            min: translation,
            max: translation,
        };
        for column in 0..3 {
            let (lo, hi) = (self.min[column], self.max[column]);
            for row in 0..3 {
                let a = axes.col(column)[row];
                // Rotations by right angles leave entries of rounding size, which must not turn an infinite
                // extent of one axis into an infinite extent of all.
                if a.abs() <= 1e-6 * scale {
                    continue;
                }
                out.min[row] += (a * lo).min(a * hi);
                out.max[row] += (a * lo).max(a * hi);
            }
        }
        out
    }
}
