//! The camera: where rays start, and how a scene is framed automatically.

use crate::tracer::Ray;
use barchan_scene::{Bounds, View};
use glam::Vec3;

/// Fraction of the picture that the subject fills with the automatic camera.
const FILLED: f32 = 0.9;

/// A pinhole camera for pictures of one size.
#[derive(Debug, Clone, Copy)]
pub struct Camera {
    position: Vec3,
    /// From the eye to the upper left corner of the picture.
    corner: Vec3,
    /// One pixel to the right, one down.
    right: Vec3,
    down: Vec3,
}

impl Camera {
    /// A camera for pictures of `size` pixels.
    pub fn new(view: &View, size: [u32; 2]) -> Self {
        let [width, height] = size.map(|n| n.max(1) as f32);
        let forward = (view.target - view.position).normalize_or(Vec3::NEG_Z);
        let (right, up) = axes(forward);
        let half = (0.5 * view.fov.to_radians()).tan();
        let pixel = 2.0 * half / height;
        let (right, down) = (pixel * right, -pixel * up);
        Self {
            position: view.position,
            corner: forward - 0.5 * width * right - 0.5 * height * down,
            right,
            down,
        }
    }

    /// The ray through a point of the picture, in pixels from its upper left corner.
    pub fn ray(&self, x: f32, y: f32, time: f32) -> Ray {
        Ray {
            origin: self.position,
            direction: (self.corner + x * self.right + y * self.down).normalize(),
            time,
        }
    }
}

/// Right and up for a camera that looks `forward`. Looking straight up or down, up is +z or −z.
fn axes(forward: Vec3) -> (Vec3, Vec3) {
    let right = forward.cross(Vec3::Y);
    let right = if right.length() > 1e-4 {
        right.normalize()
    } else {
        Vec3::X
    };
    (right, right.cross(forward))
}

/// A view of a box from a direction (unit vector toward the camera) that fills a picture of that aspect.
pub fn framed(bounds: &Bounds, from: Vec3, fov: f32, aspect: f32) -> View {
    let (center, forward) = (bounds.center(), -from);
    let (right, up) = axes(forward);
    let vertical = FILLED * (0.5 * fov.to_radians()).tan();
    let horizontal = vertical * aspect;
    // The distance at which the box fits between all four sides of the view.
    let reach = |side: Vec3, slope: f32| {
        corners(bounds)
            .map(|c| (c - center).dot(side) / slope - (c - center).dot(forward))
            .fold(f32::NEG_INFINITY, f32::max)
    };
    let across = 0.5 * (reach(right, horizontal) + reach(-right, horizontal));
    let upright = 0.5 * (reach(up, vertical) + reach(-up, vertical));
    let distance = across.max(upright).max(1e-6);
    let shift = |side: Vec3| side * middle(bounds, side, forward, distance);
    let target = center + shift(right) + shift(up);
    View {
        position: target - distance * forward,
        target,
        fov,
    }
}

/// Lateral offset of an eye at a distance from which a box appears centered.
fn middle(bounds: &Bounds, side: Vec3, forward: Vec3, distance: f32) -> f32 {
    let center = bounds.center();
    let mut low = -bounds.size().length();
    let mut high = -low;
    for _ in 0..40 {
        let shift = 0.5 * (low + high);
        let slopes = corners(bounds).map(|c| {
            let depth = (distance + (c - center).dot(forward)).max(f32::MIN_POSITIVE);
            ((c - center).dot(side) - shift) / depth
        });
        let (least, most) = slopes.fold((f32::INFINITY, f32::NEG_INFINITY), |(a, b), s| {
            (a.min(s), b.max(s))
        });
        if least + most > 0.0 {
            low = shift;
        } else {
            high = shift;
        }
    }
    0.5 * (low + high)
}

/// Corners of a box.
pub fn corners(bounds: &Bounds) -> impl Iterator<Item = Vec3> {
    let (low, high) = (bounds.min, bounds.max);
    (0..8).map(move |i| {
        let pick = |bit: u32, a: f32, b: f32| if i >> bit & 1 == 0 { a } else { b };
        Vec3::new(
            pick(0, low.x, high.x),
            pick(1, low.y, high.y),
            pick(2, low.z, high.z),
        )
    })
}
