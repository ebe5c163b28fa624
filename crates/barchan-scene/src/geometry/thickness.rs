//! Maximum thickness of a shape.

use super::Geometry;
use crate::model::Dimensions;
use glam::Vec3;

/// Maximum number of boxes in a pass; a shape thinner than they resolve is measured at their centers.
const MOST_BOXES: usize = 200_000;
/// Passes, each with boxes of half the size.
const PASSES: usize = 24;
/// Ratio of depths below which the search for a deeper place stops.
const GAIN: f32 = 1.01;

impl Geometry {
    /// Maximum thickness: the diameter of the largest ball (disk in 2D) that fits inside [m], to about 1 %, or
    /// at least `enough` when it exceeds that. `None` for shapes that are empty or infinite.
    ///
    /// Bisects boxes and discards those that the distance at their center proves to contain no deeper place.
    pub fn thickness(&self, dimensions: Dimensions, enough: f32) -> Option<f32> {
        let bounds = self.bounds();
        if bounds.is_empty() || !bounds.is_finite() {
            return None;
        }
        let flat = dimensions == Dimensions::Two;
        let (mut center, mut half) = (bounds.center(), 0.5 * bounds.size());
        if flat {
            (center.z, half.z) = (0.0, 0.0);
        }
        let narrowest = bounds.size().min_element();
        let mut deepest = 0.0f32;
        let mut centers = vec![center];
        for _ in 0..PASSES {
            let depths: Vec<f32> = centers.iter().map(|p| -self.distance(*p)).collect();
            deepest = depths.iter().copied().fold(deepest, f32::max);
            if 2.0 * deepest >= enough.min(narrowest / GAIN) {
                break;
            }
            let reach = half.length();
            half *= 0.5;
            centers = centers
                .iter()
                .zip(&depths)
                .filter(|(_, depth)| **depth + reach > GAIN * deepest)
                .flat_map(|(center, _)| children(*center, half, flat))
                .collect();
            if centers.is_empty() || centers.len() > MOST_BOXES {
                break;
            }
        }
        (deepest > 0.0).then_some(2.0 * deepest)
    }
}

/// Centers of the boxes of half the size in a box about `center`, four in the plane z = 0; `half` is theirs.
pub(crate) fn children(center: Vec3, half: Vec3, flat: bool) -> impl Iterator<Item = Vec3> {
    let count = if flat { 4 } else { 8 };
    (0..count).map(move |i| {
        let sign = |bit: usize| if i & bit == 0 { -1.0 } else { 1.0 };
        center + half * Vec3::new(sign(1), sign(2), sign(4))
    })
}
