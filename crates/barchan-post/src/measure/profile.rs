//! Axis, run-out, slopes and height profile of a deposit.

use super::deposit::{Deposit, SurfacePoint};
use super::fit::{line_slope, mean};
use serde::Serialize;

/// Azimuth sectors whose slopes are measured in 3D.
const SECTORS: usize = 8;
/// Range over which the slope is fitted, as fractions of the distance from the axis to the end.
const FIT_RANGE: [f64; 2] = [0.2, 0.8];
/// Minimum number of columns for a slope.
const FEWEST_COLUMNS: usize = 4;
/// Fraction of the deposit's mass that lies within the run-out in 3D.
const RUNOUT_MASS: f64 = 0.99;
/// Maximum number of squares of the height map along x and z.
const MAP_SIDE: i64 = 64;

/// Surface height against a distance.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeightProfile {
    /// Kind of distance: `x` in 2D, `radius` from the axis in 3D.
    pub against: &'static str,
    /// Distances [m]: centers of intervals dx wide.
    pub distance: Vec<f64>,
    /// Mean height of the surface [m], as y.
    pub height: Vec<f64>,
}

/// Largest surface height in each square of a map.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeightMap {
    /// Corner of the map with the smallest x and z [m].
    pub origin: [f64; 2],
    /// Side of a square [m].
    pub side: f64,
    /// Number of squares along x and z.
    pub size: [usize; 2],
    /// Heights [m] as y, x first: the square (i, k) has number i + size\[0\] k. None where there is no deposit.
    pub height: Vec<Option<f64>>,
}

/// The shape of a deposit.
#[derive(Debug, Default)]
pub(super) struct Shape {
    pub axis: Option<[f64; 2]>,
    pub runout: Option<f64>,
    pub slopes_deg: Vec<f64>,
    pub profile: Option<HeightProfile>,
    pub map: Option<HeightMap>,
}

/// User settings that override what is derived from the deposit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Hints {
    /// Axis (x, z) [m] instead of the center of mass (3D) or the highest column (2D).
    pub axis: Option<[f64; 2]>,
    /// Distance from the axis [m] from which slopes are fitted, instead of a fifth of the distance to the end.
    pub from: Option<f64>,
}

/// Finds the shape of a deposit.
pub(super) fn shape(deposit: &Deposit<'_>, hints: &Hints) -> Shape {
    if deposit.is_flat() {
        flat_shape(deposit, hints)
    } else {
        round_shape(deposit, hints)
    }
}

fn flat_shape(deposit: &Deposit<'_>, hints: &Hints) -> Shape {
    let apex = hints.axis.map(|a| a[0]).or_else(|| apex(deposit));
    let (Some(apex), Some([left, right])) = (apex, deposit.extent(0)) else {
        return Shape::default();
    };
    let flank = |direction: f64, end: f64| {
        let points = deposit.surface().iter();
        let points = points.map(|s| (direction * (s.x - apex), s.height));
        let own: Vec<_> = points.filter(|p| p.0 >= 0.0).collect();
        falling_slope(&own, (end - apex).abs(), hints.from, deposit)
    };
    let slopes = [flank(-1.0, left), flank(1.0, right)];
    Shape {
        axis: Some([apex, 0.0]),
        runout: Some((right - apex).max(apex - left)),
        slopes_deg: slopes.into_iter().flatten().collect(),
        profile: Some(HeightProfile {
            against: "x",
            distance: deposit.surface().iter().map(|s| s.x).collect(),
            height: deposit.surface().iter().map(|s| s.height).collect(),
        }),
        map: None,
    }
}

/// x of the highest column of a 2D deposit [m]; on a summit that is flat to half a cell, its center.
fn apex(deposit: &Deposit<'_>) -> Option<f64> {
    let surface = deposit.surface();
    let top = (0..surface.len()).reduce(|a, b| {
        if surface[b].height > surface[a].height {
            b
        } else {
            a
        }
    })?;
    let on_summit = |s: &&SurfacePoint| s.height >= surface[top].height - 0.5 * deposit.dx();
    let left = surface[..=top].iter().rev().take_while(on_summit).last()?;
    let right = surface[top..].iter().take_while(on_summit).last()?;
    Some(0.5 * (left.x + right.x))
}

fn round_shape(deposit: &Deposit<'_>, hints: &Hints) -> Shape {
    let Some(axis) = hints.axis.or_else(|| horizontal_center(deposit)) else {
        return Shape::default();
    };
    let runout = radius_of_mass(deposit, axis, RUNOUT_MASS);
    Shape {
        axis: Some(axis),
        runout,
        slopes_deg: runout.map_or_else(Vec::new, |r| sector_slopes(deposit, axis, r, hints.from)),
        profile: Some(radial_profile(deposit, axis)),
        map: height_map(deposit),
    }
}

fn horizontal_center(deposit: &Deposit<'_>) -> Option<[f64; 2]> {
    let (mut mass, mut moment) = (0.0, [0.0; 2]);
    for grain in deposit.grains() {
        mass += grain.mass;
        moment[0] += grain.mass * grain.position[0];
        moment[1] += grain.mass * grain.position[2];
    }
    (mass > 0.0).then(|| moment.map(|m| m / mass))
}

/// Radius around the axis that holds a fraction of the deposit's mass [m].
fn radius_of_mass(deposit: &Deposit<'_>, axis: [f64; 2], part: f64) -> Option<f64> {
    let radius = |p: [f64; 3]| (p[0] - axis[0]).hypot(p[2] - axis[1]);
    let mut grains: Vec<_> = deposit
        .grains()
        .map(|g| (radius(g.position), g.mass))
        .collect();
    grains.sort_by(|a, b| a.0.total_cmp(&b.0));
    let needed = part * grains.iter().map(|g| g.1).sum::<f64>();
    let mut inside = 0.0;
    let reached = grains.iter().find(|(_, mass)| {
        inside += mass;
        inside >= needed
    });
    reached.map(|(radius, _)| *radius)
}

fn sector_slopes(
    deposit: &Deposit<'_>,
    axis: [f64; 2],
    runout: f64,
    from: Option<f64>,
) -> Vec<f64> {
    let mut sectors = vec![Vec::new(); SECTORS];
    for s in deposit.surface() {
        let (x, z) = (s.x - axis[0], s.z - axis[1]);
        let turn = z.atan2(x).rem_euclid(std::f64::consts::TAU) / std::f64::consts::TAU;
        let sector = ((turn * SECTORS as f64) as usize).min(SECTORS - 1);
        sectors[sector].push((x.hypot(z), s.height));
    }
    let slopes = sectors
        .iter()
        .map(|points| falling_slope(points, runout, from, deposit));
    slopes.flatten().collect()
}

/// Angle [degrees] at which a surface of points (distance from the axis, height) falls outward, fitted over
/// [`FIT_RANGE`] of the distance `end`, or beginning at `from`. None where the surface does not fall freely: too few
/// columns, columns over less than half of the range, or a surface beyond it that is in the upper half of the deposit
/// on average (supported by a wall).
fn falling_slope(
    points: &[(f64, f64)],
    end: f64,
    from: Option<f64>,
    deposit: &Deposit<'_>,
) -> Option<f64> {
    let mut range = FIT_RANGE.map(|part| part * end);
    range[0] = from.unwrap_or(range[0]);
    let within = |p: &&(f64, f64)| (range[0]..=range[1]).contains(&p.0);
    let fitted: Vec<(f64, f64)> = points.iter().filter(within).copied().collect();
    let nearest = fitted.iter().map(|p| p.0).reduce(f64::min)?;
    let farthest = fitted.iter().map(|p| p.0).reduce(f64::max)?;
    if fitted.len() < FEWEST_COLUMNS || farthest - nearest < 0.5 * (range[1] - range[0]) {
        return None;
    }
    let middle = 0.5 * (deposit.height()? + deposit.base()?);
    let beyond = points.iter().filter(|p| p.0 > range[1]);
    let beyond: Vec<f64> = beyond.map(|p| p.1).collect();
    if mean(&beyond)? > middle {
        return None;
    }
    line_slope(&fitted).map(|slope| (-slope).atan().to_degrees())
}

fn radial_profile(deposit: &Deposit<'_>, axis: [f64; 2]) -> HeightProfile {
    let dx = deposit.dx();
    let mut rings: std::collections::BTreeMap<u64, (f64, f64)> = Default::default();
    for s in deposit.surface() {
        let ring = ((s.x - axis[0]).hypot(s.z - axis[1]) / dx) as u64;
        let (sum, count) = rings.entry(ring).or_default();
        *sum += s.height;
        *count += 1.0;
    }
    HeightProfile {
        against: "radius",
        distance: rings.keys().map(|&r| (r as f64 + 0.5) * dx).collect(),
        height: rings.values().map(|(sum, count)| sum / count).collect(),
    }
}

fn height_map(deposit: &Deposit<'_>) -> Option<HeightMap> {
    let indices = || deposit.surface().iter().map(|s| [s.i, s.k]);
    let min = indices().reduce(|a, b| [a[0].min(b[0]), a[1].min(b[1])])?;
    let max = indices().reduce(|a, b| [a[0].max(b[0]), a[1].max(b[1])])?;
    let columns = [max[0] - min[0] + 1, max[1] - min[1] + 1];
    let cells_a_side = (columns[0].max(columns[1]) - 1) / MAP_SIDE + 1;
    let size = columns.map(|n| ((n - 1) / cells_a_side + 1) as usize);
    let mut height = vec![None; size[0] * size[1]];
    for s in deposit.surface() {
        let i = ((s.i - min[0]) / cells_a_side) as usize;
        let k = ((s.k - min[1]) / cells_a_side) as usize;
        let square: &mut Option<f64> = &mut height[i + size[0] * k];
        *square = Some(square.map_or(s.height, |h| h.max(s.height)));
    }
    Some(HeightMap {
        origin: min.map(|i| i as f64 * deposit.dx()),
        side: cells_a_side as f64 * deposit.dx(),
        size,
        height,
    })
}
