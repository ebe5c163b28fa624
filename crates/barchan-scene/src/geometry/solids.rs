//! Shapes decomposed into simple solids, for contact between bodies.

use super::{Bounds, Geometry, Shape};
use crate::motion::Pose;
use glam::{Quat, Vec3};

/// A simple solid with its place in the frame of the shape.
#[derive(Debug, Clone)]
pub struct Piece {
    /// Frame of the solid in that of the shape.
    pub pose: Pose,
    /// The solid.
    pub solid: Solid,
}

/// A simple solid about its own origin.
#[derive(Debug, Clone)]
pub enum Solid {
    /// Box with these half edges [m].
    Cuboid(Vec3),
    /// Ball of this radius [m].
    Ball(f32),
    /// Cylinder along y.
    Cylinder {
        /// Half its height [m].
        half_height: f32,
        /// Radius [m].
        radius: f32,
    },
    /// Capsule along y.
    Capsule {
        /// Half the length of its axis [m].
        half_height: f32,
        /// Radius [m].
        radius: f32,
    },
    /// The half space y < 0.
    HalfSpace,
    /// Any other shape.
    Other(Geometry),
}

impl Geometry {
    /// Decomposes unions and transforms: the solids whose union is the shape. `Other` holds shapes without a simpler form.
    pub fn pieces(&self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        take_apart(self, Pose::IDENTITY, 1.0, &mut pieces);
        pieces
    }
}

fn take_apart(shape: &Geometry, pose: Pose, scale: f32, pieces: &mut Vec<Piece>) {
    let mut push = |position: Vec3, rotation: Quat, solid: Solid| {
        pieces.push(Piece {
            pose: Pose {
                position: pose.to_world(scale * position),
                rotation: pose.rotation * rotation,
            },
            solid,
        });
    };
    let upright = |axis: Vec3| Quat::from_rotation_arc(Vec3::Y, axis.normalize_or(Vec3::Y));
    match &shape.0.shape {
        Shape::Cuboid(Bounds { min, max }) if (*max - *min).is_finite() => push(
            0.5 * (*min + *max),
            Quat::IDENTITY,
            Solid::Cuboid(0.5 * scale * (*max - *min)),
        ),
        Shape::Sphere { center, radius } => {
            push(*center, Quat::IDENTITY, Solid::Ball(scale * radius));
        }
        Shape::Cylinder(c) => push(
            c.axis.origin,
            upright(c.axis.direction),
            Solid::Cylinder {
                half_height: scale * c.half_height,
                radius: scale * c.radius,
            },
        ),
        Shape::Capsule { from, to, radius } => push(
            0.5 * (*from + *to),
            upright(*to - *from),
            Solid::Capsule {
                half_height: 0.5 * scale * from.distance(*to),
                radius: scale * radius,
            },
        ),
        Shape::HalfSpace { point, normal } => push(*point, upright(*normal), Solid::HalfSpace),
        Shape::Union(parts) => {
            for part in parts {
                take_apart(part, pose, scale, pieces);
            }
        }
        Shape::Transformed { inner, placement } => {
            let inner_pose = Pose {
                position: pose.to_world(scale * placement.translation),
                rotation: pose.rotation * placement.rotation,
            };
            take_apart(inner, inner_pose, scale * placement.scale, pieces);
        }
        _ => {
            let solid = match scale == 1.0 {
                true => shape.clone(),
                false => shape.clone().transformed(Quat::IDENTITY, Vec3::ZERO, scale),
            };
            push(Vec3::ZERO, Quat::IDENTITY, Solid::Other(solid));
        }
    }
}
