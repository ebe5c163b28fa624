//! Volume, center and second moments of shapes, for mass properties.

use super::primitive::Placement;
use super::{Bounds, Geometry, Shape, volume};
use crate::model::Dimensions;
use glam::{DMat3, DVec3, Vec3};
use std::f64::consts::PI;

/// Volume, centroid and second moments of a shape. In 2D those of the cut with the plane z = 0, 1 m thick but without
/// extent along z.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// Volume [m³].
    pub volume: f64,
    /// Centroid [m].
    pub center: DVec3,
    /// ∫ r rᵀ dV about the centroid [m⁵].
    pub second: DMat3,
}

impl Geometry {
    /// Moments of a shape of finite size that is not empty: closed forms for the usual primitives, else an adaptive sum
    /// that is within about 0.1 %.
    pub fn moments(&self, dimensions: Dimensions) -> Option<Moments> {
        let bounds = self.bounds();
        if bounds.is_empty() || !bounds.is_finite() {
            return None;
        }
        let found = match dimensions {
            Dimensions::Three => self.closed_moments().or_else(|| summed(self, false)),
            Dimensions::Two => summed(self, true),
        };
        found.filter(|m| m.volume > 0.0 && m.volume.is_finite())
    }

    fn closed_moments(&self) -> Option<Moments> {
        let (volume, center, second) = match &self.0.shape {
            Shape::Cuboid(Bounds { min, max }) => {
                let (min, max) = (min.as_dvec3(), max.as_dvec3());
                let size = max - min;
                let volume = size.x * size.y * size.z;
                let second = DMat3::from_diagonal(size * size * (volume / 12.0));
                (volume, 0.5 * (min + max), second)
            }
            Shape::Sphere { center, radius } => {
                let r = f64::from(*radius);
                let volume = 4.0 / 3.0 * PI * r.powi(3);
                let second = DMat3::from_diagonal(DVec3::splat(volume * r * r / 5.0));
                (volume, center.as_dvec3(), second)
            }
            Shape::Cylinder(c) => {
                let (r, h) = (f64::from(c.radius), f64::from(c.half_height));
                let volume = 2.0 * PI * r * r * h;
                let second = about(c.axis.direction, volume * h * h / 3.0, volume * r * r / 4.0);
                (volume, c.axis.origin.as_dvec3(), second)
            }
            Shape::Capsule { from, to, radius } => {
                let (r, h) = (f64::from(*radius), 0.5 * f64::from(from.distance(*to)));
                let (barrel, balls) = (2.0 * PI * r * r * h, 4.0 / 3.0 * PI * r.powi(3));
                // A half ball's centroid lies 3/8 r beyond its flat face.
                let along = barrel * h * h / 3.0
                    + balls * (r * r / 5.0 + h * h + 2.0 * h * (3.0 / 8.0) * r);
                let across = barrel * r * r / 4.0 + balls * r * r / 5.0;
                let center = 0.5 * (from.as_dvec3() + to.as_dvec3());
                (barrel + balls, center, about(*to - *from, along, across))
            }
            Shape::Transformed { inner, placement } => {
                return Some(inner.closed_moments()?.transformed(placement));
            }
            _ => return None,
        };
        Some(Moments {
            volume,
            center,
            second,
        })
    }
}

impl Moments {
    fn transformed(&self, by: &Placement) -> Self {
        let (q, s) = (by.rotation.as_dquat().normalize(), f64::from(by.scale));
        let turn = DMat3::from_quat(q);
        Self {
            volume: self.volume * s.powi(3),
            center: by.translation.as_dvec3() + q * (s * self.center),
            second: turn * self.second * turn.transpose() * s.powi(5),
        }
    }
}

/// Tensor with one value along an axis and another perpendicular to it.
fn about(axis: Vec3, along: f64, across: f64) -> DMat3 {
    let a = axis.as_dvec3().try_normalize().unwrap_or(DVec3::Y);
    let outer = DMat3::from_cols(a * a.x, a * a.y, a * a.z);
    DMat3::from_diagonal(DVec3::splat(across)) + outer * (along - across)
}

/// Sums over the cells of a shape without a closed form.
fn summed(shape: &Geometry, flat: bool) -> Option<Moments> {
    let bounds = shape.bounds();
    let mut origin = bounds.center();
    if flat {
        origin.z = 0.0;
    }
    let (mut sum, mut first, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
    let mut add = |center: Vec3, half: f32, part: f64| {
        let edge = 2.0 * f64::from(half);
        let cell = if flat { edge * edge } else { edge.powi(3) };
        let v = cell * part;
        let r = (center - origin).as_dvec3();
        let own = v * edge * edge / 12.0;
        let own = DVec3::new(own, own, if flat { 0.0 } else { own });
        sum += v;
        first += r * v;
        second += DMat3::from_cols(r * r.x, r * r.y, r * r.z) * v + DMat3::from_diagonal(own);
    };
    volume::for_each_cell(shape, origin, flat, &mut add);
    if sum <= 0.0 {
        return None;
    }
    let c = first / sum;
    Some(Moments {
        volume: sum,
        center: origin.as_dvec3() + c,
        second: second - DMat3::from_cols(c * c.x, c * c.y, c * c.z) * sum,
    })
}
