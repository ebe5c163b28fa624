//! What stands among the grains: colliders and bodies as boundary particles and as surfaces, drains, the domain.

use super::base::BaseFrame;
use super::lattice::Leader;
use barchan_scene::{
    Boundary, Bounds, Collider, Dimensions, Geometry, Gravity, Motion, Pose, Scene,
};
use glam::{Affine3A, Quat, Vec3};

/// Spacing of boundary particles [radii of a base particle].
const SPACING: f32 = 2.0;
/// Depth of boundary particles below the surface [radii of a base particle]: a grain at the surface is then as far from
/// them as one that only just follows.
const DEPTH: f32 = 1.0;
/// The box in which boundary particles are needed grows in steps of so many radii, so that it seldom changes.
const BLOCK: f32 = 32.0;
/// Room around the base particles where boundary particles are needed [radii].
const ROOM: f32 = 8.0;
/// Part of a path by which a search along it may miss a surface.
const MISS: f32 = 1e-3;
/// Steps of a search along a path.
const SEARCH: usize = 32;

/// Everything around the grains, from the scene.
#[derive(Debug, Clone)]
pub struct World {
    bodies: Vec<Obstacle>,
    drains: Vec<barchan_scene::Drain>,
    domain: Option<Bounds>,
    periodic: [bool; 3],
    gravity: Gravity,
    dimensions: Dimensions,
    /// Whether soil at rest takes grains up.
    pub has_terrain: bool,
}

#[derive(Debug, Clone)]
struct Obstacle {
    name: String,
    shape: Geometry,
    /// `None`: a body that moves as the frames record.
    motion: Option<Motion>,
    friction: f32,
    sticky: bool,
    /// Boundary particles in the body's frame, and the box that they were made for.
    points: Vec<Vec3>,
    points_for: Option<Bounds>,
    /// Poses at the frames before and after.
    recorded: [Pose; 2],
}

/// A body over one step.
#[derive(Debug, Clone)]
pub(super) struct Posed<'a> {
    shape: &'a Geometry,
    poses: [Pose; 2],
    /// Into the body's frame, at the beginning and at the end.
    inward: [Affine3A; 2],
    velocity: Vec3,
    angular_velocity: Vec3,
    friction: f32,
    sticky: bool,
}

impl World {
    /// What the scene of the base has besides grains.
    pub fn new(scene: &Scene) -> Self {
        let scripted = scene.colliders.iter().map(|c| (c, Some(c.motion.clone())));
        let free = scene.bodies.iter().map(|b| (&b.surface, None));
        Self {
            bodies: scripted
                .chain(free)
                .map(|(c, m)| Obstacle::new(c, m))
                .collect(),
            drains: scene.drains.clone(),
            domain: scene.domain,
            periodic: scene.periodic,
            gravity: scene.gravity.clone(),
            dimensions: scene.dimensions,
            has_terrain: scene.terrain.is_some(),
        }
    }

    /// Whether all is in the plane z = 0.
    pub fn is_flat(&self) -> bool {
        self.dimensions == Dimensions::Two
    }

    /// Acceleration of free grains [m/s²].
    pub fn gravity(&self, time: f64) -> Vec3 {
        let g = self.gravity.at(time);
        if self.is_flat() { g.with_z(0.0) } else { g }
    }

    /// Gets ready for the steps between two frames: poses of bodies, boundary particles where base particles are.
    pub fn prepare(&mut self, before: &BaseFrame, after: &BaseFrame, radius: f32) {
        let near = needed(before, after, radius);
        for body in &mut self.bodies {
            body.recorded = [before, after].map(|frame| recorded_pose(frame, &body.name));
            body.resample(near, radius, self.dimensions, [before.time, after.time]);
        }
    }

    /// Bodies in the step from `time` on, in an interval that begins and ends at `frames` [s].
    pub(super) fn posed(&self, time: f64, dt: f64, frames: [f64; 2]) -> Vec<Posed<'_>> {
        self.bodies
            .iter()
            .map(|b| b.posed(time, dt, frames))
            .collect()
    }

    /// Bodies as they stand in a frame.
    pub(super) fn standing(&self, frame: &BaseFrame) -> Vec<Posed<'_>> {
        let bodies = self.bodies.iter();
        bodies
            .map(|body| {
                let pose = match &body.motion {
                    Some(motion) => motion.pose(frame.time),
                    None => recorded_pose(frame, &body.name),
                };
                Posed {
                    shape: &body.shape,
                    inward: [inward(&pose); 2],
                    poses: [pose; 2],
                    velocity: Vec3::ZERO,
                    angular_velocity: Vec3::ZERO,
                    friction: body.friction,
                    sticky: body.sticky,
                }
            })
            .collect()
    }

    /// Boundary particles in a step, where they are at its beginning.
    pub(super) fn leaders(&self, posed: &[Posed<'_>], out: &mut Vec<Leader>) {
        for (body, posed) in self.bodies.iter().zip(posed) {
            out.extend(body.points.iter().map(|p| {
                let position = posed.poses[0].to_world(*p);
                Leader {
                    position: position.to_array(),
                    velocity: posed.velocity_at(position).to_array(),
                }
            }));
        }
    }

    /// A displacement along the shortest way, where space repeats.
    pub fn shortest(&self, displacement: Vec3) -> Vec3 {
        let mut d = displacement;
        self.each_period(|axis, length, _| d[axis] -= length * (d[axis] / length).round());
        d
    }

    /// Whether space repeats along any axis.
    pub fn is_periodic(&self) -> bool {
        self.domain.is_some() && self.periodic.contains(&true)
    }

    /// A place in the domain where space repeats.
    pub fn wrapped(&self, position: Vec3) -> Vec3 {
        let mut p = position;
        self.each_period(|axis, length, low| {
            if !(low..low + length).contains(&p[axis]) {
                p[axis] -= length * ((p[axis] - low) / length).floor();
            }
        });
        p
    }

    /// Adds images of the leaders within reach of a border beyond which space repeats.
    pub(super) fn add_images(&self, reach: f32, leaders: &mut Vec<Leader>) {
        self.each_period(|axis, length, low| {
            for i in 0..leaders.len() {
                let x = leaders[i].position[axis];
                for (near, shift) in [(x - low, length), (low + length - x, -length)] {
                    if near < reach {
                        let mut image = leaders[i];
                        image.position[axis] += shift;
                        leaders.push(image);
                    }
                }
            }
        });
    }

    fn each_period(&self, mut of: impl FnMut(usize, f32, f32)) {
        let Some(domain) = self.domain else { return };
        for axis in 0..3 {
            let length = domain.size()[axis];
            if self.periodic[axis] && length > 0.0 && length.is_finite() {
                of(axis, length, domain.min[axis]);
            }
        }
    }

    /// Whether a place is outside the domain.
    pub fn is_outside(&self, p: Vec3) -> bool {
        let Some(domain) = self.domain else {
            return false;
        };
        (0..3).any(|axis| {
            let ignored = self.periodic[axis] || (axis == 2 && self.is_flat());
            !ignored && !(domain.min[axis]..=domain.max[axis]).contains(&p[axis])
        })
    }

    /// Drains that are open at a time [s].
    pub(super) fn open_drains(&self, time: f64) -> Vec<&Geometry> {
        let open = self
            .drains
            .iter()
            .filter(|d| (d.start..=d.end).contains(&time));
        open.map(|d| &d.shape).collect()
    }
}

/// Box where boundary particles are needed; none without particles.
fn needed(before: &BaseFrame, after: &BaseFrame, radius: f32) -> Option<Bounds> {
    let all = before.position.iter().chain(&after.position);
    let bounds = Bounds::from_points(all.copied());
    let block = BLOCK * radius;
    let whole = (!bounds.is_empty() && block > 0.0).then(|| bounds.expand(ROOM * radius))?;
    Some(Bounds {
        min: (whole.min / block).floor() * block,
        max: (whole.max / block).ceil() * block,
    })
}

/// The pose of a body in a frame, by the frame's own record.
fn recorded_pose(frame: &BaseFrame, name: &str) -> Pose {
    let recorded = frame.record.body(name).map(|body| Pose {
        position: body.position.into(),
        rotation: Quat::from_array(body.rotation).normalize(),
    });
    let usable = |pose: &Pose| pose.position.is_finite() && pose.rotation.is_finite();
    recorded.filter(usable).unwrap_or(Pose::IDENTITY)
}

impl Obstacle {
    fn new(collider: &Collider, motion: Option<Motion>) -> Self {
        Self {
            name: collider.name.clone(),
            shape: collider.shape.clone(),
            motion,
            friction: collider.friction as f32,
            sticky: collider.boundary == Boundary::Sticky,
            points: Vec::new(),
            points_for: None,
            recorded: [Pose::IDENTITY; 2],
        }
    }

    fn pose(&self, time: f64, frames: [f64; 2]) -> Pose {
        if let Some(motion) = &self.motion {
            return motion.pose(time);
        }
        let [a, b] = self.recorded;
        let part = ((time - frames[0]) / (frames[1] - frames[0])).clamp(0.0, 1.0) as f32;
        Pose {
            position: a.position.lerp(b.position, part),
            rotation: a.rotation.slerp(b.rotation, part),
        }
    }

    fn posed(&self, time: f64, dt: f64, frames: [f64; 2]) -> Posed<'_> {
        let (velocity, angular_velocity) = match &self.motion {
            Some(motion) => motion.velocities(time, dt),
            None => {
                let [a, b] = self.recorded;
                let duration = (frames[1] - frames[0]) as f32;
                let turn = (b.rotation * a.rotation.inverse()).normalize();
                let turn = if turn.w < 0.0 { -turn } else { turn };
                (
                    (b.position - a.position) / duration,
                    turn.to_scaled_axis() / duration,
                )
            }
        };
        let poses = [self.pose(time, frames), self.pose(time + dt, frames)];
        Posed {
            shape: &self.shape,
            inward: [inward(&poses[0]), inward(&poses[1])],
            poses,
            velocity,
            angular_velocity,
            friction: self.friction,
            sticky: self.sticky,
        }
    }

    /// Makes boundary particles for a box of the world, unless there are those for it.
    fn resample(
        &mut self,
        near: Option<Bounds>,
        radius: f32,
        dimensions: Dimensions,
        frames: [f64; 2],
    ) {
        let own = self.shape.bounds().expand(SPACING * radius);
        let wanted = near.map(|near| {
            let poses = frames.map(|time| self.pose(time, frames));
            let corners = poses
                .iter()
                .flat_map(|p| corners(&near).map(|c| p.to_body(c)));
            let needed = Bounds::from_points(corners);
            // A body of modest size is sampled once and for all.
            let modest = own.size().max_element() <= 2.0 * needed.size().max_element();
            if modest { own } else { needed }
        });
        if wanted == self.points_for {
            return;
        }
        self.points_for = wanted;
        self.points = match wanted {
            Some(within) => {
                let (spacing, depth) = (SPACING * radius, DEPTH * radius);
                self.shape
                    .boundary_points(spacing, depth, &within, dimensions)
            }
            None => Vec::new(),
        };
    }
}

fn inward(pose: &Pose) -> Affine3A {
    let back = pose.rotation.inverse();
    Affine3A::from_rotation_translation(back, back * -pose.position)
}

fn corners(bounds: &Bounds) -> [Vec3; 8] {
    std::array::from_fn(|i| {
        let pick = |axis: usize| match i >> axis & 1 {
            0 => bounds.min[axis],
            _ => bounds.max[axis],
        };
        Vec3::new(pick(0), pick(1), pick(2))
    })
}

impl Posed<'_> {
    fn velocity_at(&self, position: Vec3) -> Vec3 {
        let arm = position - self.poses[0].position;
        self.velocity + self.angular_velocity.cross(arm)
    }

    /// Whether nothing of a ball that grains of this radius stay in during the step can touch the body.
    pub fn is_clear_of(&self, center: Vec3, ball: f32, grain: f32) -> bool {
        let [before, after] = self.inward.map(|m| m.transform_point3(center));
        let turn = self.poses[0].rotation.angle_between(self.poses[1].rotation);
        let slack = before.distance(after) + turn * ball;
        // Distances of meshes and booleans are not exact.
        self.shape.distance(after) > 1.1 * (ball + slack) + grain
    }

    /// Keeps a grain that moved from `from` to `to` outside: what its path ran into takes the motion into the surface
    /// away and rubs. Tells whether the body was touched.
    pub fn keep_out(&self, from: Vec3, to: &mut Vec3, velocity: &mut Vec3, radius: f32) -> bool {
        let start = self.inward[0].transform_point3(from);
        let mut end = self.inward[1].transform_point3(*to);
        let gap = |p: Vec3| self.shape.distance(p) - radius;
        let path = end - start;
        let length = path.length();
        if gap(end) >= length {
            return false;
        }
        let Some(hit) = self.first_hit(start, path, length, radius) else {
            return false;
        };
        let normal = self.shape.normal(hit);
        let rest = end - hit;
        end = hit + rest - rest.dot(normal).min(0.0) * normal;
        for _ in 0..3 {
            let depth = gap(end);
            if depth < 0.0 {
                end -= depth * self.shape.normal(end);
            }
        }
        *to = self.poses[1].to_world(end);
        let normal = self.poses[1].rotation * normal;
        let body = self.velocity_at(*to);
        *velocity = body + self.rubbed(*velocity - body, normal);
        true
    }

    /// What a collision leaves of a velocity relative to the surface.
    fn rubbed(&self, velocity: Vec3, normal: Vec3) -> Vec3 {
        let inwards = velocity.dot(normal);
        if inwards >= 0.0 {
            return velocity;
        }
        if self.sticky {
            return Vec3::ZERO;
        }
        let along = velocity - inwards * normal;
        let speed = along.length();
        let lost = -self.friction * inwards;
        if speed <= lost {
            Vec3::ZERO
        } else {
            along * (1.0 - lost / speed)
        }
    }

    /// Where a path comes to the surface from outside, or begins inside it. In the body's frame.
    fn first_hit(&self, start: Vec3, path: Vec3, length: f32, radius: f32) -> Option<Vec3> {
        let near = MISS * (length + radius);
        let mut part = 0.0;
        for _ in 0..SEARCH {
            let p = start + part * path;
            let gap = self.shape.distance(p) - radius;
            if gap < near && (gap < 0.0 || self.shape.normal(p).dot(path) < 0.0) {
                return Some(p);
            }
            part += gap.max(near) / length.max(f32::MIN_POSITIVE);
            if part >= 1.0 {
                let end = start + path;
                return (self.shape.distance(end) < radius).then_some(end);
            }
        }
        Some(start + part * path)
    }

    /// Whether a place at the end of the step is inside, or nearer than a distance.
    pub fn is_within(&self, p: Vec3, distance: f32) -> bool {
        self.shape.distance(self.inward[1].transform_point3(p)) < distance
    }

    /// The nearest place at that distance outside, at the end of the step.
    pub fn nearest_outside(&self, p: Vec3, distance: f32) -> Vec3 {
        let mut local = self.inward[1].transform_point3(p);
        for _ in 0..3 {
            let depth = self.shape.distance(local) - distance;
            if depth < 0.0 {
                local -= depth * self.shape.normal(local);
            }
        }
        self.poses[1].to_world(local)
    }
}
