#![allow(missing_docs)]
use super::*;
use crate::bodies::Bodies;
use crate::solver::StepStats;
use barchan_scene::Material;
use glam::DVec3;
impl Simulation {
    pub fn bodies(&self) -> &Bodies { &self.rigid }
    pub fn bodies_mut(&mut self) -> &mut Bodies { &mut self.rigid }
    pub fn step(&mut self, _dt: f64) -> Result<StepStats, SimulationError> { Ok(StepStats::default()) }
    pub fn reaction(&self, body: usize) -> (DVec3, DVec3) {
        let d = self.frame_rate;
        self.impulses.bodies.get(body).map_or((DVec3::ZERO, DVec3::ZERO), |i| (i.linear * d, i.angular * d))
    }
    pub fn set_material(&mut self, _index: usize, _material: &Material) -> Result<(), SimulationError> { Ok(()) }
    pub fn colliders(&self) -> &Colliders { &self.colliders }
}
