//! Placement of fills and emitters: not empty, not infinite, inside the domain, not inside a collider.

use super::Builder;
use crate::errors::Place;
use crate::geometry::{Bounds, Geometry, children};
use crate::model::{Collider, Dimensions, Emitter, Fill};
use crate::numbers::{exact, rounded};
use glam::Vec3;

/// Points along each axis at which a volume is probed.
const PROBES_3D: usize = 24;
const PROBES_2D: usize = 96;
/// Points along each axis at which a mouth is probed.
const MOUTH_3D: usize = 64;
const MOUTH_2D: usize = 512;
/// Largest ratio of a rate to the estimated flow, which allows for the error of the estimate.
const RATE_MARGIN: f64 = 1.01;

impl Builder<'_> {
    /// Reports a shape that is infinite or empty; otherwise returns points inside it.
    pub fn probe(&mut self, what: &str, shape: &Geometry, at: Place) -> Option<Vec<Vec3>> {
        let bounds = shape.bounds();
        if !bounds.min.is_finite() || !bounds.max.is_finite() {
            return self.report.refuse(
                at,
                format!("the shape of {what} is infinite"),
                "cut it to a finite one: { intersection = [{ half_space = … }, { box = … }] }",
            );
        }
        let points = inside_points(shape, &bounds, self.dimensions);
        if points.is_empty() {
            return self.report.refuse(
                at,
                format!("the shape of {what} is empty: it has no volume"),
                match self.dimensions {
                    Dimensions::Three => {
                        "check the parts that are subtracted, and the order of its corners"
                    }
                    Dimensions::Two => "in a 2D scene a shape must intersect the plane z = 0",
                },
            );
        }
        Some(points)
    }

    /// Checks a fill against domain and colliders.
    pub fn place_fill(
        &mut self,
        fill: &Fill,
        colliders: &[Collider],
        domain: Option<&Bounds>,
        at: Place,
    ) {
        let what = format!("fill `{}`", fill.name);
        let Some(points) = self.probe(&what, &fill.shape, at) else {
            return;
        };
        let free: Vec<Vec3> = points
            .iter()
            .copied()
            .filter(|p| !colliders.iter().any(|c| inside(c, 0.0, *p)))
            .collect();
        if free.is_empty() {
            let holder = fullest(colliders, 0.0, &points);
            self.report.error(
                at,
                format!("{what} lies wholly inside collider `{holder}`"),
                "no grain has room there: move or enlarge one of them, or hollow out the collider",
            );
        }
        self.within_domain(&what, &free, domain, at);
    }

    /// Checks an emitter against domain and colliders, and its rate against its mouth.
    pub fn place_emitter(
        &mut self,
        emitter: &Emitter,
        density: Option<f64>,
        colliders: &[Collider],
        domain: Option<&Bounds>,
        [at, rate_at]: [Place; 2],
    ) {
        let what = format!("emitter `{}`", emitter.name);
        if self.probe(&what, &emitter.shape, at).is_none() {
            return;
        }
        let mouth = mouth_points(&emitter.shape, emitter.velocity, self.dimensions);
        if mouth.is_empty() {
            self.report.error(
                at,
                format!("{what} has no mouth: the section through its center, across its velocity, is empty"),
                "use a shape that is solid at its center",
            );
            return;
        }
        let time = emitter.start;
        let blocked = |p: &&Vec3| colliders.iter().any(|c| inside(c, time, **p));
        if 2 * mouth.iter().filter(blocked).count() > mouth.len() {
            let holder = fullest(colliders, time, &mouth);
            self.report.error(
                at,
                format!("the mouth of {what} lies inside collider `{holder}` at {time} s"),
                "move one of them so that grains can leave",
            );
        }
        self.within_domain(&what, &mouth, domain, at);
        let speed = f64::from(emitter.velocity.length());
        if let (Some(rate), Some(density)) = (emitter.rate, density) {
            let area = emitter
                .shape
                .cross_section(emitter.velocity, self.dimensions);
            let most = density * area * speed;
            if rate > RATE_MARGIN * most {
                self.report.error(
                    rate_at,
                    format!(
                        "{what} cannot deliver {} kg/s: its mouth passes about {} kg/s",
                        exact(rate),
                        rounded(most, 3)
                    ),
                    format!(
                        "lower the rate, enlarge the mouth (about {} m²) or raise the speed ({} m/s)",
                        rounded(area, 3),
                        rounded(speed, 4)
                    ),
                );
            }
        }
    }

    fn within_domain(&mut self, what: &str, points: &[Vec3], domain: Option<&Bounds>, at: Place) {
        let Some(domain) = domain else {
            return;
        };
        let outside = points.iter().filter(|p| !domain.contains(**p)).count();
        if outside > 0 {
            let how = if outside == points.len() {
                "wholly"
            } else {
                "partly"
            };
            self.report.error(
                at,
                format!("{what} lies {how} outside the domain, where grains are removed"),
                "enlarge `domain`, or move the shape into it",
            );
        }
    }
}

fn inside(collider: &Collider, time: f64, p: Vec3) -> bool {
    let body = collider.motion.pose(time).to_body(p);
    collider.shape.distance(body) < 0.0
}

/// Name of the collider that holds most of the points.
fn fullest(colliders: &[Collider], time: f64, points: &[Vec3]) -> String {
    let held = |c: &&Collider| points.iter().filter(|p| inside(c, time, **p)).count();
    let fullest = colliders.iter().max_by_key(held);
    fullest.map(|c| c.name.clone()).unwrap_or_default()
}

/// Points of a regular lattice in the bounds that lie inside the shape; for a thin shape that the lattice misses, one
/// point found by bisection. Empty when the shape is.
fn inside_points(shape: &Geometry, bounds: &Bounds, dimensions: Dimensions) -> Vec<Vec3> {
    let size = bounds.max - bounds.min;
    if !size.cmpge(Vec3::ZERO).all() {
        return Vec::new();
    }
    let (n, layers) = match dimensions {
        Dimensions::Three => (PROBES_3D, PROBES_3D),
        Dimensions::Two => (PROBES_2D, 1),
    };
    let part = |i: usize, n: usize| (i as f32 + 0.5) / n as f32;
    let mut points = Vec::new();
    for i in 0..n * n * layers {
        let (x, y, z) = (i % n, i / n % n, i / (n * n));
        let mut p = bounds.min + size * Vec3::new(part(x, n), part(y, n), part(z, layers));
        if dimensions == Dimensions::Two {
            p.z = 0.0;
        }
        if shape.distance(p) < 0.0 {
            points.push(p);
        }
    }
    if points.is_empty() {
        points.extend(search(shape, bounds, dimensions));
    }
    points
}

/// A point inside a shape, by bisecting boxes and discarding those that the distance at their center proves outside.
fn search(shape: &Geometry, bounds: &Bounds, dimensions: Dimensions) -> Option<Vec3> {
    let flat = dimensions == Dimensions::Two;
    let mut half = 0.5 * (bounds.max - bounds.min);
    let mut center = bounds.min + half;
    if flat {
        (half.z, center.z) = (0.0, 0.0);
    }
    let mut open = vec![(center, half)];
    for _ in 0..50_000 {
        let (center, half) = open.pop()?;
        let distance = shape.distance(center);
        if distance < 0.0 {
            return Some(center);
        }
        let radius = half.length();
        if distance > radius || radius < 1e-6 {
            continue;
        }
        let quarter = 0.5 * half;
        let mut found: Vec<(f32, Vec3)> = children(center, quarter, flat)
            .map(|p| (shape.distance(p), p))
            .collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        open.extend(found.into_iter().map(|(_, p)| (p, quarter)));
    }
    None
}

/// Points in the section of a shape through the center of its bounds, perpendicular to the velocity.
fn mouth_points(shape: &Geometry, velocity: Vec3, dimensions: Dimensions) -> Vec<Vec3> {
    let bounds = shape.bounds();
    let mut center = 0.5 * (bounds.min + bounds.max);
    let across = velocity.normalize_or_zero();
    let flat = dimensions == Dimensions::Two;
    let (u, v, n, layers) = if flat {
        center.z = 0.0;
        (Vec3::new(-across.y, across.x, 0.0), Vec3::ZERO, MOUTH_2D, 1)
    } else {
        let (u, v) = frame_across(across);
        (u, v, MOUTH_3D, MOUTH_3D)
    };
    let half = 0.5 * (bounds.max - bounds.min);
    // Half the extent of the bounds along a direction.
    let reach = |d: Vec3| half.dot(d.abs());
    let (ru, rv) = (reach(u), reach(v));
    let part = |i: usize, n: usize| 2.0 * (i as f32 + 0.5) / n as f32 - 1.0;
    (0..n * layers)
        .map(|i| center + u * ru * part(i % n, n) + v * rv * part(i / n, layers))
        .filter(|p| shape.distance(*p) < 0.0)
        .collect()
}

/// Two unit vectors perpendicular to a direction and to each other, along the axes where the direction is.
fn frame_across(direction: Vec3) -> (Vec3, Vec3) {
    let a = direction.abs();
    let least = if a.x <= a.y && a.x <= a.z {
        Vec3::X
    } else if a.y <= a.z {
        Vec3::Y
    } else {
        Vec3::Z
    };
    let u = (least - direction * direction.dot(least)).normalize_or(Vec3::X);
    (u, direction.cross(u))
}
