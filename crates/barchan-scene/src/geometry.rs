//! Shapes as signed distance functions: negative inside, positive outside.

use glam::Vec3;

/// An axis-aligned box; may be infinite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Lower corner [m].
    pub min: Vec3,
    /// Upper corner [m].
    pub max: Vec3,
}

/// A compiled shape: primitive, mesh, boolean combination or transform of others. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Geometry {}

impl Geometry {
    /// Signed distance at `p` [m]. Exact for primitives; for booleans a bound that is exact at the surface.
    pub fn distance(&self, _p: Vec3) -> f32 {
        0.0
    }

    /// Unit normal pointing out of the shape (gradient of the distance).
    pub fn normal(&self, _p: Vec3) -> Vec3 {
        Vec3::Y
    }

    /// A box that holds the shape.
    pub fn bounds(&self) -> Bounds {
        Bounds {
            min: Vec3::NEG_INFINITY,
            max: Vec3::INFINITY,
        }
    }
}
