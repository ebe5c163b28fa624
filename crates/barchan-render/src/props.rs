//! Colliders and bodies of the scene, each with its look, at the pose recorded in a frame.

use crate::tracer::{Body, Material, Plane, Shape};
use barchan_frame::FrameInfo;
use barchan_scene::geometry::{Bounds, Geometry};
use barchan_scene::model::{Collider, Look, Scene};
use barchan_scene::motion::Pose;
use glam::{Quat, Vec3};
use std::sync::Arc;

/// Cells along the longest edge of a body's surface.
const SURFACE_CELLS: u32 = 96;
/// Fraction of the grains that a body must surround to count as their container.
const CONTAINED: f32 = 0.3;
/// Grains sampled per frame.
const LOOKED_AT: usize = 500;
/// Color of bodies that have none of their own: a light, slightly cool gray.
const BODY_COLOR: [u8; 3] = [178, 184, 190];
/// Color of ground and walls.
const GROUND_COLOR: [u8; 3] = [176, 172, 166];

/// A collider to be drawn.
pub struct Prop {
    name: String,
    look: Look,
    color: Option<[u8; 3]>,
    form: Form,
    geometry: Geometry,
    /// Initial pose, for frames without a record.
    start: Pose,
}

enum Form {
    /// Point and unit normal.
    HalfSpace(Vec3, Vec3),
    Solid(Arc<Shape>),
}

/// Pose and motion of a body in one frame.
#[derive(Debug, Clone, Copy)]
pub struct Placed {
    /// Position and orientation.
    pub pose: Pose,
    velocity: Vec3,
    angular_velocity: Vec3,
}

/// The region that a cut-away removes: the part of its box on the side to which the normal points.
#[derive(Debug, Clone, Copy)]
pub struct Cut {
    /// A point of the plane [m].
    pub point: Vec3,
    /// Unit vector toward the camera.
    pub normal: Vec3,
    /// Bounding box of the body [m].
    pub bounds: Bounds,
}

impl Cut {
    /// Whether a grain is removed.
    pub fn removes(&self, grain: Vec3) -> bool {
        (grain - self.point).dot(self.normal) > 0.0 && self.bounds.contains(grain)
    }
}

/// The visible colliders and bodies of a scene. `grains` are samples of a few frames: bodies that contain
/// them are drawn as glass unless the scene says otherwise.
pub fn props(scene: &Scene, grains: &[Sample], surroundings: &Bounds) -> Vec<Prop> {
    let scripted = scene.colliders.iter().map(|c| (c, !c.motion.is_static()));
    let free = scene.bodies.iter().map(|b| (&b.surface, true));
    let visible = scripted
        .chain(free)
        .filter(|(c, _)| c.look != Some(Look::Hidden));
    visible
        .map(|(c, moves)| prop(c, moves, grains, surroundings))
        .collect()
}

fn prop(collider: &Collider, moves: bool, grains: &[Sample], surroundings: &Bounds) -> Prop {
    let geometry = collider.shape.clone();
    let form = match geometry.as_half_space() {
        Some((point, normal)) => Form::HalfSpace(point, normal),
        None => {
            let mesh = geometry.surface(&reach(collider, moves, surroundings), SURFACE_CELLS);
            Form::Solid(Arc::new(Shape::new(geometry.clone(), &mesh)))
        }
    };
    let look = collider.look.unwrap_or_else(|| match &form {
        Form::Solid(_) if contains(collider, grains) => Look::Glass,
        _ => Look::Solid,
    });
    Prop {
        name: collider.name.clone(),
        look,
        color: collider.color,
        form,
        geometry,
        start: collider.motion.pose(0.0),
    }
}

/// The region of a collider that can be visible, in its own frame: if it is at rest, the surroundings of the grains; if it
/// moves, all of it, since it may come from far away.
fn reach(collider: &Collider, moves: bool, surroundings: &Bounds) -> Bounds {
    let own = collider.shape.bounds();
    if own.is_finite() && moves {
        return own.expand(own.size().max_element());
    }
    let pose = collider.motion.pose(0.0);
    Bounds::from_points(crate::camera::corners(surroundings).map(|c| pose.to_body(c)))
}

/// A sample of grains: time of the frame [s], and positions [m].
pub type Sample = (f64, Vec<Vec3>);

/// Whether a collider contains grains: in some frame it surrounds many of them on at least three of four sides. The ground under
/// a heap does not contain it.
pub fn contains(collider: &Collider, grains: &[Sample]) -> bool {
    grains.iter().any(|(time, positions)| {
        let pose = collider.motion.pose(*time);
        let inverse = pose.rotation.inverse();
        let sides = [Vec3::X, Vec3::NEG_X, Vec3::Z, Vec3::NEG_Z].map(|side| inverse * side);
        let inside = |p: &&Vec3| {
            let from = pose.to_body(**p);
            let seen = |side: &&Vec3| is_seen(&collider.shape, from, **side);
            sides.iter().filter(seen).count() >= 3
        };
        let step = positions.len().div_ceil(LOOKED_AT).max(1);
        let some = positions.iter().step_by(step);
        let count = some.len();
        some.filter(inside).count() as f32 > CONTAINED * count as f32
    })
}

/// Whether a ray from a point in a direction hits a shape (unit vector), both in the frame of the shape.
fn is_seen(shape: &Geometry, from: Vec3, direction: Vec3) -> bool {
    const STEPS: usize = 64;
    let bounds = shape.bounds();
    if !bounds.contains(from) {
        return false;
    }
    let reach = bounds.size().length();
    let mut t = 0.0;
    for _ in 0..STEPS {
        let distance = shape.distance(from + t * direction);
        if distance < 1e-4 * reach {
            return true;
        }
        t += distance;
        if t > reach || !t.is_finite() {
            return false;
        }
    }
    true
}

impl Prop {
    /// Pose and motion of the body in a frame, from the record of the frame.
    pub fn placed(&self, frame: &FrameInfo) -> Placed {
        let Some(body) = frame.record.body(&self.name) else {
            return Placed {
                pose: self.start,
                velocity: Vec3::ZERO,
                angular_velocity: Vec3::ZERO,
            };
        };
        let vector = |v: [f32; 3], default: Vec3| match Vec3::from(v) {
            v if v.is_finite() => v,
            _ => default,
        };
        let rotation = Quat::from_array(body.rotation).normalize();
        Placed {
            pose: Pose {
                position: vector(body.position, self.start.position),
                rotation: match rotation.is_finite() {
                    true => rotation,
                    false => self.start.rotation,
                },
            },
            velocity: vector(body.velocity, Vec3::ZERO),
            angular_velocity: vector(body.angular_velocity, Vec3::ZERO),
        }
    }

    /// Bounding box of a bounded body in a frame [m].
    pub fn bounds(&self, placed: &Placed) -> Option<Bounds> {
        let Form::Solid(shape) = &self.form else {
            return None;
        };
        let local = shape.bounds();
        let corners = crate::camera::corners(&local);
        Some(Bounds::from_points(
            corners.map(|c| placed.pose.to_world(c)),
        ))
    }

    /// The plane of a half space in a frame.
    pub fn plane(&self, placed: &Placed) -> Option<Plane> {
        let Form::HalfSpace(point, normal) = self.form else {
            return None;
        };
        Some(Plane {
            point: placed.pose.to_world(point),
            normal: placed.pose.rotation * normal,
            color: crate::color::to_linear(self.color.unwrap_or(GROUND_COLOR)),
        })
    }

    /// The body while the shutter is open for `exposure` [s]. Cut-away bodies lose the half that faces `eye`.
    pub fn body(&self, placed: &Placed, exposure: f32, eye: Vec3) -> Option<Body> {
        let Form::Solid(shape) = &self.form else {
            return None;
        };
        let Placed {
            pose,
            velocity,
            angular_velocity,
        } = placed;
        let matte = Material::Matte(crate::color::to_linear(self.color.unwrap_or(BODY_COLOR)));
        let cut = self.cut(placed, eye).map(|cut| (cut.point, cut.normal));
        Some(Body {
            shape: shape.clone(),
            material: if self.look == Look::Glass {
                Material::Glass
            } else {
                matte
            },
            pose: *pose,
            motion: [exposure * *velocity, exposure * *angular_velocity],
            cut,
        })
    }

    /// The plane that cuts a cut-away body through its center, and the box in which it also cuts the grains.
    pub fn cut(&self, placed: &Placed, eye: Vec3) -> Option<Cut> {
        let bounds = self.bounds(placed).filter(|_| self.look == Look::Cutaway)?;
        let point = bounds.center();
        let normal = (eye - point).with_y(0.0).normalize_or(Vec3::Z);
        Some(Cut {
            point,
            normal,
            bounds,
        })
    }

    /// Shape and pose, for 2D pictures.
    pub fn section(&self, placed: &Placed) -> (Geometry, Pose) {
        (self.geometry.clone(), placed.pose)
    }
}

/// The floor on which a scene without ground is placed.
pub fn floor(height: f32) -> Plane {
    Plane {
        point: Vec3::new(0.0, height, 0.0),
        normal: Vec3::Y,
        color: crate::color::to_linear(GROUND_COLOR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_scene::load_file;

    /// A ball at x = 1000 m in its own frame, with a motion.
    fn ball(motion: &str) -> Prop {
        let ball = "shape = { sphere = { center = [1000, 0, 0], radius = 0.5 } }";
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/tests/block.toml");
        let scene = load_file(file, &[&format!("collider=[{{ {ball}{motion} }}]")]).unwrap();
        let around = Bounds::from_corners(Vec3::splat(-10.0), Vec3::splat(10.0));
        props(&scene, &[], &around).remove(0)
    }

    #[test]
    fn bodies_from_far_away_are_complete() {
        let has_surface = |prop: &Prop| match &prop.form {
            Form::Solid(shape) => shape.bounds().size().min_element() > 0.9,
            Form::HalfSpace(..) => false,
        };
        let moved = |x: f32| {
            format!(
                ", motion = {{ position = {{ keyframes = [{{ time = 0, value = [{x}, 3, 0] }}] }} }}"
            )
        };
        assert!(has_surface(&ball(", motion = { velocity = [-100, 0, 0] }")));
        assert!(
            has_surface(&ball(&moved(-1000.0))),
            "at rest among the grains"
        );
        assert!(!has_surface(&ball(&moved(-500.0))), "at rest out of view");
        assert!(!has_surface(&ball("")));
    }
}
