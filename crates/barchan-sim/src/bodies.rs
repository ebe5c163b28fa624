//! Stand-in.
#![allow(missing_docs)]
use barchan_scene::bodies::{JointControl, JointKind};
use glam::Vec3;
#[derive(Debug, Clone, PartialEq)]
pub struct JointState { pub name: String, pub kind: JointKind, pub position: f64, pub velocity: f64, pub limits: Option<[f64; 2]>, pub control: Option<JointControl> }
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MotorTarget { Scripted, Velocity(f64), Position(f64), Off }
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drag { pub body: usize, pub point: Vec3, pub target: Vec3 }
#[derive(Debug, Default)]
pub struct Bodies { joints: Vec<JointState> }
impl Bodies {
    pub fn joints(&self) -> &[JointState] { &self.joints }
    pub fn set_motor(&mut self, _joint: usize, _target: MotorTarget) {}
    pub fn set_drag(&mut self, _drag: Option<Drag>) {}
}
