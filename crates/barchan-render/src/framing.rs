//! The visible extent of a result, determined from a few of its frames and the same for every picture.

use crate::grains::FrameColumns;
use crate::props::{Prop, props};
use crate::terrain;
use barchan_frame::{FrameInfo, ResultDirectory};
use barchan_scene::Scene;
use barchan_scene::geometry::Bounds;
use glam::Vec3;

/// Number of frames examined.
const FRAMES: usize = 9;
/// Number of grains examined in each.
const GRAINS: usize = 20_000;
/// Fraction of the grains on either side that may be outside: a few fly far.
const OUTLIERS: f32 = 0.005;
/// Bodies larger than this many times the extent of the grains are ignored: the camera frames the grains.
const LARGE_BODY: f32 = 4.0;

/// The visible extent of a result.
pub struct Subject {
    /// Colliders that are shown.
    pub props: Vec<Prop>,
    /// Box around nearly all grains and the bodies among them, over all frames [m].
    pub bounds: Bounds,
    /// Height of the floor of a scene without ground [m].
    pub floor: Option<f32>,
}

/// Examines a few frames of a result.
pub fn subject(directory: &ResultDirectory, frames: &[u32], scene: Option<&Scene>) -> Subject {
    let mut infos = Vec::new();
    let mut positions = Vec::new();
    for frame in spread(frames, FRAMES) {
        // A damaged frame is reported when it is drawn; here it is ignored.
        let Ok(columns) = FrameColumns::open(directory, frame) else {
            continue;
        };
        if let Ok(list) = columns.vectors("position") {
            positions.push((columns.info.time, thinned(&list)));
            infos.push(columns.info);
        }
    }
    let boxes = positions.iter().filter_map(|(_, p)| middle_box(p));
    let grains = boxes.reduce(|a, b| a.union(&b));
    let unit = Bounds::from_corners(Vec3::splat(-0.5), Vec3::splat(0.5));
    // Positions are those of the centers of grains.
    let margin = 0.5 * (directory.manifest().dx as f32).clamp(1e-6, 1e6);
    // Terrain is the ground of grains and bodies; without them it is the subject.
    let site = frames.first().and_then(|frame| site(directory, *frame));
    let nothing = site.filter(|_| scene.is_none_or(|s| s.colliders.is_empty()));
    let around = grains.map_or(nothing.unwrap_or(unit), |b| b.expand(margin));
    let reach = around.size().max_element().max(1e-6);
    let surroundings = around.expand(2.0 * LARGE_BODY * reach);
    let props = scene.map_or(Vec::new(), |s| props(s, &positions, &surroundings));
    let bodies = bodies_box(&props, &infos, LARGE_BODY * reach);
    let bounds = match bodies {
        Some(b) if grains.is_some() => around.union(&b),
        Some(b) => b,
        None => around,
    };
    let floor = match site {
        Some(_) => None,
        None => floor(&props, &infos, bodies, &around.expand(-margin)),
    };
    Subject {
        props,
        bounds,
        floor,
    }
}

/// Box around the terrain of a frame.
fn site(directory: &ResultDirectory, frame: u32) -> Option<Bounds> {
    let info = directory.frame_info(frame).ok()?;
    let relief = terrain::relief(directory, &info, &[]).ok()??;
    let (low, high) = relief.bounds();
    Some(Bounds::from_corners(low, high))
}

/// Evenly spaced elements of a list, including the first and the last.
pub fn spread(list: &[u32], count: usize) -> Vec<u32> {
    if list.len() <= count || count < 2 {
        return list.to_vec();
    }
    let pick = |i: usize| list[i * (list.len() - 1) / (count - 1)];
    (0..count).map(pick).collect()
}

fn thinned(list: &[[f32; 3]]) -> Vec<Vec3> {
    let step = list.len().div_ceil(GRAINS).max(1);
    let some = list.iter().step_by(step).map(|&p| Vec3::from_array(p));
    some.filter(|p| p.is_finite()).collect()
}

/// Bounding box without the outliers along each axis.
fn middle_box(positions: &[Vec3]) -> Option<Bounds> {
    if positions.is_empty() {
        return None;
    }
    let mut low = Vec3::ZERO;
    let mut high = Vec3::ZERO;
    let skip = (OUTLIERS * positions.len() as f32) as usize;
    for axis in 0..3 {
        let mut values: Vec<f32> = positions.iter().map(|p| p[axis]).collect();
        values.sort_by(f32::total_cmp);
        low[axis] = values[skip];
        high[axis] = values[values.len() - 1 - skip];
    }
    Some(Bounds::from_corners(low, high))
}

/// Bounding box of the bodies that are not too large, over the frames.
fn bodies_box(props: &[Prop], frames: &[FrameInfo], largest: f32) -> Option<Bounds> {
    let boxes = frames.iter().flat_map(|frame| {
        props
            .iter()
            .filter_map(|prop| prop.bounds(&prop.placed(frame)))
    });
    let usual = boxes.filter(|b| b.is_finite() && b.size().max_element() <= largest);
    usual.reduce(|a, b| a.union(&b))
}

/// Height of the floor on which a scene with bodies but without ground is placed, unless grains fall past it.
fn floor(
    props: &[Prop],
    frames: &[FrameInfo],
    bodies: Option<Bounds>,
    grains: &Bounds,
) -> Option<f32> {
    let frame = frames.first()?;
    let planes = props.iter().filter_map(|p| p.plane(&p.placed(frame)));
    if planes.into_iter().any(|plane| plane.normal.y > 0.5) {
        return None;
    }
    let height = bodies?.min.y;
    (grains.min.y >= height).then_some(height)
}
