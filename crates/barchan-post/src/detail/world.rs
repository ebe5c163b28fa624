//! The surroundings of the grains: colliders and bodies, as boundary particles and as surfaces, drains and the domain.

use super::base::BaseFrame;
use super::cells::Guide;
use barchan_scene::{
    Boundary, Bounds, Collider, Dimensions, Geometry, Gravity, Motion, Pose, Scene,
};
use glam::{Affine3A, Quat, Vec3};

/// Spacing of boundary particles [radii of a base particle].
const SPACING: f32 = 2.0;
/// Depth of boundary particles below the surface [radii of a base particle]: just within reach of a grain at the surface.
const DEPTH: f32 = 1.0;
/// The box that boundary particles cover is rounded to a multiple of this [radii], so that it seldom changes.
const BLOCK: f32 = 32.0;
/// Margin of that box around the base particles [radii].
const MARGIN: f32 = 8.0;
/// Tolerance of a search along a path, as a fraction of its length.
const TOLERANCE: f32 = 1e-3;
/// Maximum number of steps of a search along a path.
const MAX_STEPS: usize = 32;

/// The surroundings of the grains, from the scene.
#[derive(Debug, Clone)]
pub struct World {
    bodies: Vec<Obstacle>,
    drains: Vec<barchan_scene::Drain>,
    domain: Option<Bounds>,
    periodic: [bool; 3],
    gravity: Gravity,
    dimensions: Dimensions,
    /// Whether grains may be deposited on a terrain.
    pub has_terrain: bool,
}

#[derive(Debug, Clone)]
struct Obstacle {
    name: String,
    shape: Geometry,
    /// `None`: a rigid body, whose poses are recorded in the frames.
    motion: Option<Motion>,
    friction: f32,
    sticky: bool,
    /// Boundary particles in the body's frame, and the box that they cover.
    points: Vec<Vec3>,
    covered: Option<Bounds>,
    /// Poses at the frames before and after.
    recorded: [Pose; 2],
}

/// An obstacle over a step.
#[derive(Debug, Clone)]
pub(super) struct PosedObstacle<'a> {
    obstacle: &'a Obstacle,
    poses: [Pose; 2],
    /// From world to body frame, at the beginning and at the end.
    to_body: [Affine3A; 2],
    velocity: Vec3,
    angular_velocity: Vec3,
}

impl World {
    /// The surroundings in the scene of the base.
    pub fn new(scene: &Scene) -> Self {
        let scripted = scene.colliders.iter().map(|c| (c, Some(c.motion.clone())));
        let free = scene.bodies.iter().map(|b| (&b.surface, None));
        let bodies = scripted.chain(free).map(|(c, m)| Obstacle::new(c, m));
        Self {
            bodies: bodies.collect(),
            drains: scene.drains.clone(),
            domain: scene.domain,
            periodic: scene.periodic,
            gravity: scene.gravity.clone(),
            dimensions: scene.dimensions,
            has_terrain: scene.terrain.is_some(),
        }
    }

    /// Whether the scene is 2D, in the plane z = 0.
    pub fn is_flat(&self) -> bool {
        self.dimensions == Dimensions::Two
    }

    /// Edge of a cube (2D: square) of a given volume.
    pub(super) fn root(&self, volume: f32) -> f32 {
        match self.is_flat() {
            true => volume.sqrt(),
            false => volume.cbrt(),
        }
    }

    /// Acceleration of ballistic grains [m/s²].
    pub fn gravity(&self, time: f64) -> Vec3 {
        let g = self.gravity.at(time);
        if self.is_flat() { g.with_z(0.0) } else { g }
    }

    /// Prepares the steps between two frames: poses of bodies, and boundary particles near base particles.
    pub fn prepare(&mut self, before: &BaseFrame, after: &BaseFrame, radius: f32) {
        let near = region_of(before, after, radius);
        for body in &mut self.bodies {
            body.recorded = [before, after].map(|frame| recorded_pose(frame, &body.name));
            body.resample(near, radius, self.dimensions, [before.time, after.time]);
        }
    }

    /// Obstacles in a step of `dt` from `time` on, between the times of two `frames` [s].
    pub(super) fn posed(&self, time: f64, dt: f64, frames: [f64; 2]) -> Vec<PosedObstacle<'_>> {
        let bodies = self.bodies.iter();
        bodies.map(|b| b.posed(time, dt, frames)).collect()
    }

    /// Obstacles at rest with their poses in a frame.
    pub(super) fn posed_at_frame(&self, frame: &BaseFrame) -> Vec<PosedObstacle<'_>> {
        let bodies = self.bodies.iter();
        bodies
            .map(|body| {
                let pose = match &body.motion {
                    Some(motion) => motion.pose(frame.time),
                    None => recorded_pose(frame, &body.name),
                };
                body.with_poses([pose; 2], [Vec3::ZERO; 2])
            })
            .collect()
    }

    /// Adds the boundary particles at their positions at the beginning of a step.
    pub(super) fn add_boundary_guides(&self, posed: &[PosedObstacle<'_>], out: &mut Vec<Guide>) {
        for (body, posed) in self.bodies.iter().zip(posed) {
            out.extend(body.points.iter().map(|p| {
                let position = posed.poses[0].to_world(*p);
                Guide {
                    position: position.to_array(),
                    velocity: posed.velocity_at(position).to_array(),
                }
            }));
        }
    }

    /// The minimum image of a displacement in a periodic domain.
    pub fn minimum_image(&self, displacement: Vec3) -> Vec3 {
        let mut d = displacement;
        self.each_period(|axis, length, _| d[axis] -= length * (d[axis] / length).round());
        d
    }

    /// Whether the domain is periodic along any axis.
    pub fn is_periodic(&self) -> bool {
        self.domain.is_some() && self.periodic.contains(&true)
    }

    /// Wraps a position into a periodic domain.
    pub fn wrap(&self, position: Vec3) -> Vec3 {
        let mut p = position;
        self.each_period(|axis, length, low| {
            if !(low..low + length).contains(&p[axis]) {
                p[axis] -= length * ((p[axis] - low) / length).floor();
            }
        });
        p
    }

    /// Adds periodic images of the guides within `reach` [m] of a periodic boundary.
    pub(super) fn add_periodic_images(&self, reach: f32, guides: &mut Vec<Guide>) {
        self.each_period(|axis, length, low| {
            for i in 0..guides.len() {
                let x = guides[i].position[axis];
                for (near, shift) in [(x - low, length), (low + length - x, -length)] {
                    if near < reach {
                        let mut image = guides[i];
                        image.position[axis] += shift;
                        guides.push(image);
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

    /// Whether a position is outside the domain.
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
        let open = |d: &&barchan_scene::Drain| (d.start..=d.end).contains(&time);
        let drains = self.drains.iter().filter(open);
        drains.map(|d| &d.shape).collect()
    }
}

/// The box that boundary particles cover; none without base particles.
fn region_of(before: &BaseFrame, after: &BaseFrame, radius: f32) -> Option<Bounds> {
    let all = before.position.iter().chain(&after.position);
    let bounds = Bounds::from_points(all.copied());
    let block = BLOCK * radius;
    let whole = (!bounds.is_empty() && block > 0.0).then(|| bounds.expand(MARGIN * radius))?;
    Some(Bounds {
        min: (whole.min / block).floor() * block,
        max: (whole.max / block).ceil() * block,
    })
}

/// The pose of a body as recorded in a frame.
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
            covered: None,
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

    fn posed(&self, time: f64, dt: f64, frames: [f64; 2]) -> PosedObstacle<'_> {
        let velocities = match &self.motion {
            Some(motion) => motion.velocities(time, dt).into(),
            None => {
                let [a, b] = self.recorded;
                let duration = (frames[1] - frames[0]) as f32;
                let turn = (b.rotation * a.rotation.inverse()).normalize();
                let turn = if turn.w < 0.0 { -turn } else { turn };
                let distance = b.position - a.position;
                [distance / duration, turn.to_scaled_axis() / duration]
            }
        };
        let poses = [self.pose(time, frames), self.pose(time + dt, frames)];
        self.with_poses(poses, velocities)
    }

    fn with_poses(
        &self,
        poses: [Pose; 2],
        [velocity, angular_velocity]: [Vec3; 2],
    ) -> PosedObstacle<'_> {
        PosedObstacle {
            obstacle: self,
            to_body: [to_body(&poses[0]), to_body(&poses[1])],
            poses,
            velocity,
            angular_velocity,
        }
    }

    /// Samples boundary particles in the box `near`, unless they cover it already.
    fn resample(
        &mut self,
        near: Option<Bounds>,
        radius: f32,
        dimensions: Dimensions,
        frames: [f64; 2],
    ) {
        let own = self.shape.bounds().expand(SPACING * radius);
        let region = near.map(|near| {
            let poses = frames.map(|time| self.pose(time, frames));
            let corners = poses
                .iter()
                .flat_map(|p| corners(&near).map(|c| p.to_body(c)));
            let needed = Bounds::from_points(corners);
            // A body that is not much larger than the box is sampled once as a whole.
            let is_small = own.size().max_element() <= 2.0 * needed.size().max_element();
            if is_small { own } else { needed }
        });
        if region == self.covered {
            return;
        }
        self.covered = region;
        let (spacing, depth) = (SPACING * radius, DEPTH * radius);
        let sample = |within| (self.shape).boundary_points(spacing, depth, &within, dimensions);
        self.points = region.map(sample).unwrap_or_default();
    }
}

fn to_body(pose: &Pose) -> Affine3A {
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

impl PosedObstacle<'_> {
    fn velocity_at(&self, position: Vec3) -> Vec3 {
        let arm = position - self.poses[0].position;
        self.velocity + self.angular_velocity.cross(arm)
    }

    /// Whether no grain of radius `grain` that stays in a ball during the step can be in contact with the body.
    pub fn is_clear_of(&self, center: Vec3, ball: f32, grain: f32) -> bool {
        let [before, after] = self.to_body.map(|m| m.transform_point3(center));
        let turn = self.poses[0].rotation.angle_between(self.poses[1].rotation);
        let slack = before.distance(after) + turn * ball;
        // Distances of meshes and booleans are not exact.
        self.obstacle.shape.distance(after) > 1.1 * (ball + slack) + grain
    }

    /// Collides a grain that moved from `from` to `to`: moves it back to the surface that its path crossed, and applies
    /// contact and friction to its velocity. Returns whether there was a collision.
    pub fn collide(&self, from: Vec3, to: &mut Vec3, velocity: &mut Vec3, radius: f32) -> bool {
        let start = self.to_body[0].transform_point3(from);
        let mut end = self.to_body[1].transform_point3(*to);
        let gap = |p: Vec3| self.obstacle.shape.distance(p) - radius;
        let path = end - start;
        let length = path.length();
        if gap(end) >= length {
            return false;
        }
        let Some(hit) = self.first_hit(start, path, length, radius) else {
            return false;
        };
        let normal = self.obstacle.shape.normal(hit);
        let rest = end - hit;
        end = hit + rest - rest.dot(normal).min(0.0) * normal; // slides along the surface
        for _ in 0..3 {
            let depth = gap(end);
            if depth < 0.0 {
                end -= depth * self.obstacle.shape.normal(end);
            }
        }
        *to = self.poses[1].to_world(end);
        let normal = self.poses[1].rotation * normal;
        let body = self.velocity_at(*to);
        *velocity = body + self.with_friction(*velocity - body, normal);
        true
    }

    /// The velocity relative to the surface after an inelastic collision with Coulomb friction.
    fn with_friction(&self, velocity: Vec3, normal: Vec3) -> Vec3 {
        let approach = velocity.dot(normal);
        if approach >= 0.0 {
            return velocity;
        }
        if self.obstacle.sticky {
            return Vec3::ZERO;
        }
        let tangential = velocity - approach * normal;
        let speed = tangential.length();
        let lost = -self.obstacle.friction * approach;
        if speed <= lost {
            Vec3::ZERO
        } else {
            tangential * (1.0 - lost / speed)
        }
    }

    /// The point at which a path reaches the surface from outside, or its start if it is inside. In the body's frame.
    fn first_hit(&self, start: Vec3, path: Vec3, length: f32, radius: f32) -> Option<Vec3> {
        let tolerance = TOLERANCE * (length + radius);
        let mut part = 0.0;
        for _ in 0..MAX_STEPS {
            let p = start + part * path;
            let gap = self.obstacle.shape.distance(p) - radius;
            if gap < tolerance && (gap < 0.0 || self.obstacle.shape.normal(p).dot(path) < 0.0) {
                return Some(p);
            }
            part += gap.max(tolerance) / length.max(f32::MIN_POSITIVE);
            if part >= 1.0 {
                let end = start + path;
                return (self.obstacle.shape.distance(end) < radius).then_some(end);
            }
        }
        Some(start + part * path)
    }

    /// Whether a position is inside the body or closer than a distance [m], at the end of the step.
    pub fn is_within(&self, p: Vec3, distance: f32) -> bool {
        let local = self.to_body[1].transform_point3(p);
        self.obstacle.shape.distance(local) < distance
    }

    /// The nearest position at that distance [m] outside, at the end of the step.
    pub fn project_outside(&self, p: Vec3, distance: f32) -> Vec3 {
        let mut local = self.to_body[1].transform_point3(p);
        for _ in 0..3 {
            let depth = self.obstacle.shape.distance(local) - distance;
            if depth < 0.0 {
                local -= depth * self.obstacle.shape.normal(local);
            }
        }
        self.poses[1].to_world(local)
    }
}
