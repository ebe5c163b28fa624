//! Volumes and areas of shapes without a closed form, by adaptive subdivision.
//!
//! The distance never overestimates how far the surface is, so a cell whose center is farther from the surface than its
//! corners lies wholly inside or outside; only cells that the surface may cut are divided.

use super::Geometry;
use glam::{Vec2, Vec3};

/// Relative change between two resolutions at which refinement stops.
const TOLERANCE: f64 = 5e-4;

/// Volume of a shape with finite bounds [m³].
pub(super) fn volume(shape: &Geometry) -> f64 {
    let bounds = shape.bounds();
    if bounds.is_empty() {
        return 0.0;
    }
    let (center, half) = (bounds.center(), 0.5 * bounds.size().max_element());
    converge(5..=8, |depth| cells_3d(shape, center, half, depth))
}

/// Area [m²] of the cut of a shape with the plane through `origin` spanned by the unit vectors `u` and `v`, inside the
/// square of half-width `half` about `origin`.
pub(super) fn area(shape: &Geometry, origin: Vec3, u: Vec3, v: Vec3, half: f32) -> f64 {
    let plane = Plane { origin, u, v };
    converge(7..=11, |depth| {
        cells_2d(shape, &plane, Vec2::ZERO, half, depth)
    })
}

/// Calls `add` with center, half edge and inside part of cells that together are the shape, or in the plane z = 0 its cut.
/// `center` must be that of the bounds (with z = 0 where `flat`).
pub(super) fn for_each_cell(
    shape: &Geometry,
    center: Vec3,
    flat: bool,
    add: &mut impl FnMut(Vec3, f32, f64),
) {
    let size = shape.bounds().size();
    let (half, depth) = match flat {
        true => (0.5 * size.truncate().max_element(), 10),
        false => (0.5 * size.max_element(), 8),
    };
    cells(shape, (center, half), depth, flat, add);
}

fn cells(
    shape: &Geometry,
    (center, half): (Vec3, f32),
    depth: u32,
    flat: bool,
    add: &mut impl FnMut(Vec3, f32, f64),
) {
    let d = shape.distance(center);
    let radius = half * if flat { 1.415 } else { 1.733 };
    if d >= radius {
        return;
    }
    if d <= -radius {
        return add(center, half, 1.0);
    }
    if depth == 0 {
        let n = shape.normal(center).abs();
        let reach = if flat { n.x + n.y } else { n.element_sum() };
        return add(center, half, inside_part(d, half * reach));
    }
    let q = 0.5 * half;
    for i in 0..if flat { 4u8 } else { 8 } {
        let z = if flat { 0.0 } else { side(i, 2) };
        let corner = Vec3::new(side(i, 0), side(i, 1), z);
        cells(shape, (center + q * corner, q), depth - 1, flat, add);
    }
}

/// Length [m] of the cut of a shape with the line through `origin` along the unit vector `u`, within `half` of `origin`.
pub(super) fn length(shape: &Geometry, origin: Vec3, u: Vec3, half: f32) -> f64 {
    converge(8..=18, |depth| cells_1d(shape, origin, u, 0.0, half, depth))
}

fn converge(depths: std::ops::RangeInclusive<u32>, mut estimate: impl FnMut(u32) -> f64) -> f64 {
    let mut last = f64::NAN;
    for depth in depths {
        let next = estimate(depth);
        // A shape that a coarse grid misses altogether is looked for with finer ones.
        let settled = next > 0.0 && (next - last).abs() <= TOLERANCE * next;
        last = next;
        if settled {
            break;
        }
    }
    last
}

/// Part of a cell that lies inside, for a distance that is linear in it: `reach` is how much it changes from the center
/// to the farthest corner.
fn inside_part(d: f32, reach: f32) -> f64 {
    if reach > 0.0 {
        f64::from((0.5 - 0.5 * d / reach).clamp(0.0, 1.0))
    } else {
        f64::from(u8::from(d < 0.0))
    }
}

fn cells_3d(shape: &Geometry, center: Vec3, half: f32, depth: u32) -> f64 {
    let d = shape.distance(center);
    let whole = (2.0 * f64::from(half)).powi(3);
    if d.abs() >= half * 1.733 {
        return if d < 0.0 { whole } else { 0.0 };
    }
    if depth == 0 {
        let n = shape.normal(center).abs();
        return whole * inside_part(d, half * n.element_sum());
    }
    let q = 0.5 * half;
    (0..8u8)
        .map(|i| {
            let corner = Vec3::new(side(i, 0), side(i, 1), side(i, 2));
            cells_3d(shape, center + q * corner, q, depth - 1)
        })
        .sum()
}

struct Plane {
    origin: Vec3,
    u: Vec3,
    v: Vec3,
}

fn cells_2d(shape: &Geometry, plane: &Plane, center: Vec2, half: f32, depth: u32) -> f64 {
    let p = plane.origin + center.x * plane.u + center.y * plane.v;
    let d = shape.distance(p);
    let whole = (2.0 * f64::from(half)).powi(2);
    if d.abs() >= half * 1.415 {
        return if d < 0.0 { whole } else { 0.0 };
    }
    if depth == 0 {
        let n = shape.normal(p);
        let reach = half * (n.dot(plane.u).abs() + n.dot(plane.v).abs());
        return whole * inside_part(d, reach);
    }
    let q = 0.5 * half;
    (0..4u8)
        .map(|i| {
            let corner = Vec2::new(side(i, 0), side(i, 1));
            cells_2d(shape, plane, center + q * corner, q, depth - 1)
        })
        .sum()
}

fn cells_1d(shape: &Geometry, origin: Vec3, u: Vec3, center: f32, half: f32, depth: u32) -> f64 {
    let p = origin + center * u;
    let d = shape.distance(p);
    let whole = 2.0 * f64::from(half);
    if d.abs() >= half * 1.001 {
        return if d < 0.0 { whole } else { 0.0 };
    }
    if depth == 0 {
        return whole * inside_part(d, half * shape.normal(p).dot(u).abs());
    }
    let q = 0.5 * half;
    cells_1d(shape, origin, u, center - q, q, depth - 1)
        + cells_1d(shape, origin, u, center + q, q, depth - 1)
}

/// −1 or 1: on which side of the center child `i` lies along an axis.
fn side(i: u8, axis: u8) -> f32 {
    if i >> axis & 1 == 0 { -1.0 } else { 1.0 }
}
