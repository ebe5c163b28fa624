//! Stand-in.
#![allow(missing_docs)]
use crate::model::{Collider, Scene};
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JointKind { Revolute, Prismatic, Fixed, Spherical }
impl JointKind { pub fn name(self) -> &'static str { "revolute" } }
#[derive(Debug, Clone, PartialEq)]
pub struct JointControl { pub keys: Option<[String; 2]>, pub gamepad_axis: Option<u32>, pub speed: f64, pub label: String }
impl Scene { pub fn solids(&self) -> impl Iterator<Item = &Collider> { self.colliders.iter() } }
