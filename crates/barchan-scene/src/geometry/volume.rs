//! Volumes and areas of shapes without a closed form, by adaptive subdivision.
//!
//! The distance never overestimates how far the surface is, so a cell whose center is farther from the surface than its
//! corners lies wholly inside or outside; only cells that the surface may cut are divided.

use super::Geometry;
use glam::Vec3;

/// Relative change between two resolutions at which refinement stops.
const TOLERANCE: f64 = 5e-4;
/// Axes of the world.
const SPACE: [Vec3; 3] = [Vec3::X, Vec3::Y, Vec3::Z];

/// Volume of a shape with finite bounds that are not empty [m³].
pub(super) fn volume(shape: &Geometry) -> f64 {
    let bounds = shape.bounds();
    let half = 0.5 * bounds.size().max_element();
    Cells::new(shape, Vec3::ZERO, &SPACE).measure(5..=8, bounds.center(), half)
}

/// Area [m²] of the cut of a shape with the plane through `origin` spanned by the unit vectors `u` and `v`, inside the
/// square of half-width `half` about `origin`.
pub(super) fn area(shape: &Geometry, origin: Vec3, u: Vec3, v: Vec3, half: f32) -> f64 {
    Cells::new(shape, origin, &[u, v]).measure(7..=11, Vec3::ZERO, half)
}

/// Length [m] of the cut of a shape with the line through `origin` along the unit vector `u`, within `half` of `origin`.
pub(super) fn length(shape: &Geometry, origin: Vec3, u: Vec3, half: f32) -> f64 {
    Cells::new(shape, origin, &[u]).measure(8..=18, Vec3::ZERO, half)
}

/// Calls `add` with center, half edge and inside fraction of cells that together form the shape, or in the plane z = 0 its cut.
/// `center` must be that of the bounds (with z = 0 where `flat`).
pub(super) fn for_each_cell(
    shape: &Geometry,
    center: Vec3,
    flat: bool,
    add: &mut impl FnMut(Vec3, f32, f64),
) {
    let size = shape.bounds().size();
    let (half, depth, axes) = match flat {
        true => (0.5 * size.truncate().max_element(), 10, &SPACE[..2]),
        false => (0.5 * size.max_element(), 8, &SPACE[..]),
    };
    let mut leaf = |center: Vec3, half: f32, part: f64| {
        add(center, half, part);
        0.0
    };
    Cells::new(shape, Vec3::ZERO, axes).sum(center, half, depth, &mut leaf);
}

/// Cubes, squares or segments in a frame, where they meet a shape.
struct Cells<'a> {
    shape: &'a Geometry,
    origin: Vec3,
    /// Unit vectors along the edges of a cell: three, two or one.
    axes: &'a [Vec3],
}

impl<'a> Cells<'a> {
    fn new(shape: &'a Geometry, origin: Vec3, axes: &'a [Vec3]) -> Self {
        Self {
            shape,
            origin,
            axes,
        }
    }

    /// Volume, area or length of the shape in a cell, which is divided until the sum converges.
    fn measure(&self, depths: std::ops::RangeInclusive<u32>, center: Vec3, half: f32) -> f64 {
        let power = self.axes.len() as i32;
        let mut inside = |_: Vec3, half: f32, part: f64| (2.0 * f64::from(half)).powi(power) * part;
        let mut last = f64::NAN;
        for depth in depths {
            let next = self.sum(center, half, depth, &mut inside);
            // A shape that a coarse grid misses altogether is searched for with finer ones.
            let settled = next > 0.0 && (next - last).abs() <= TOLERANCE * next;
            last = next;
            if settled {
                break;
            }
        }
        last
    }

    /// Sums `leaf` of center, half edge and inside fraction over the cells that are not wholly outside.
    fn sum(
        &self,
        center: Vec3,
        half: f32,
        depth: u32,
        leaf: &mut impl FnMut(Vec3, f32, f64) -> f64,
    ) -> f64 {
        let axes = self.axes.iter().enumerate();
        let p = axes.fold(self.origin, |p, (i, axis)| p + center[i] * *axis);
        let d = self.shape.distance(p);
        // Just beyond the corners: √1, √2 or √3 half edges from the center.
        if d.abs() >= half * [1.001, 1.415, 1.733][self.axes.len() - 1] {
            return if d < 0.0 {
                leaf(center, half, 1.0)
            } else {
                0.0
            };
        }
        if depth == 0 {
            let n = self.shape.normal(p);
            let reach: f32 = self.axes.iter().map(|axis| n.dot(*axis).abs()).sum();
            return leaf(center, half, inside_part(d, half * reach));
        }
        let q = 0.5 * half;
        let children = (0..1 << self.axes.len()).map(|i: u8| {
            let mut child = center;
            for axis in 0..self.axes.len() {
                child[axis] += if i >> axis & 1 == 0 { -q } else { q };
            }
            self.sum(child, q, depth - 1, leaf)
        });
        children.sum()
    }
}

/// Fraction of a cell that lies inside, for a distance that is linear in it: `reach` is how much it changes from the center
/// to the farthest corner.
fn inside_part(d: f32, reach: f32) -> f64 {
    if reach > 0.0 {
        f64::from((0.5 - 0.5 * d / reach).clamp(0.0, 1.0))
    } else {
        f64::from(u8::from(d < 0.0))
    }
}
