//! The grains: structure of arrays, in the order of their cells.

use crate::neighbors::cells::Cells;
use crate::solvers::columns::{filter, gather};
use crate::view::{ParticleArrays, ParticlesView};
use glam::Vec3;

/// State of all grains, and its copy while they are put in order.
#[derive(Debug, Clone, Default)]
pub struct Grains {
    /// Positions [m].
    pub position: Vec<Vec3>,
    /// Velocities [m/s].
    pub velocity: Vec<Vec3>,
    /// Radii [m].
    pub radius: Vec<f32>,
    /// Masses [kg].
    pub mass: Vec<f32>,
    /// Stable identities.
    pub id: Vec<u32>,
    /// Materials.
    pub material: Vec<u8>,
    /// The grain as the last step numbered it; [`NEW`] before its first.
    pub number: Vec<u32>,
}

/// Number of a grain that has seen no step.
pub const NEW: u32 = u32::MAX;

impl Grains {
    /// Number of grains.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// The arrays, borrowed.
    pub fn view(&self) -> ParticlesView<'_> {
        ParticlesView::of_arrays(ParticleArrays {
            position: &self.position,
            velocity: &self.velocity,
            radius: &self.radius,
            mass: &self.mass,
            id: &self.id,
            material: &self.material,
        })
    }

    /// Puts the grains in the order of `cells`; `spare` is memory for it.
    pub fn reorder(&mut self, cells: &Cells, spare: &mut Self) {
        gather(cells, &mut self.position, &mut spare.position);
        gather(cells, &mut self.velocity, &mut spare.velocity);
        gather(cells, &mut self.radius, &mut spare.radius);
        gather(cells, &mut self.mass, &mut spare.mass);
        gather(cells, &mut self.id, &mut spare.id);
        gather(cells, &mut self.material, &mut spare.material);
        gather(cells, &mut self.number, &mut spare.number);
    }

    /// Keeps the grains for which `keep` holds; returns how many went.
    pub fn retain(&mut self, keep: &[bool]) -> usize {
        let before = self.len();
        filter(&mut self.position, keep);
        filter(&mut self.velocity, keep);
        filter(&mut self.radius, keep);
        filter(&mut self.mass, keep);
        filter(&mut self.id, keep);
        filter(&mut self.material, keep);
        filter(&mut self.number, keep);
        before - self.len()
    }
}
