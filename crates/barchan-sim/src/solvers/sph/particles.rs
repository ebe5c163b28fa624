//! The particles: structure of arrays, in the order of their cells.

use crate::neighbors::cells::Cells;
use crate::solvers::columns::{filter, gather};
use crate::view::{ParticleArrays, ParticlesView};
use glam::Vec3;

/// A symmetric matrix: xx, yy, zz, yz, xz, xy, as in columns.
pub type Symmetric = [f32; 6];

/// State of all particles, and its copy while they are put in order.
#[derive(Debug, Clone, Default)]
pub struct Particles {
    /// Positions [m].
    pub position: Vec<Vec3>,
    /// Velocities [m/s].
    pub velocity: Vec<Vec3>,
    /// Masses [kg].
    pub mass: Vec<f32>,
    /// Radii [m]: half the spacing.
    pub radius: Vec<f32>,
    /// Stable identities.
    pub id: Vec<u32>,
    /// Materials.
    pub material: Vec<u8>,
    /// From dry (0) to wet (1).
    pub wetness: Vec<f32>,
    /// Pressure [Pa].
    pub pressure: Vec<f32>,
    /// Pressure that limits friction: the mean about the particle and over the last steps [Pa].
    pub bearing: Vec<f32>,
    /// Frictional stress ŝ [Pa].
    pub stress: Vec<Symmetric>,
    /// Acceleration by friction of the bodies that it touches [m/s²].
    pub rubbing: Vec<Vec3>,
}

impl Particles {
    /// Number of particles.
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

    /// Puts the particles in the order of `cells`; `spare` is memory for it.
    pub fn reorder(&mut self, cells: &Cells, spare: &mut Self) {
        gather(cells, &mut self.position, &mut spare.position);
        gather(cells, &mut self.velocity, &mut spare.velocity);
        gather(cells, &mut self.mass, &mut spare.mass);
        gather(cells, &mut self.radius, &mut spare.radius);
        gather(cells, &mut self.id, &mut spare.id);
        gather(cells, &mut self.material, &mut spare.material);
        gather(cells, &mut self.wetness, &mut spare.wetness);
        gather(cells, &mut self.pressure, &mut spare.pressure);
        gather(cells, &mut self.bearing, &mut spare.bearing);
        gather(cells, &mut self.stress, &mut spare.stress);
        gather(cells, &mut self.rubbing, &mut spare.rubbing);
    }

    /// Keeps the particles for which `keep` holds; returns how many went.
    pub fn retain(&mut self, keep: &[bool]) -> usize {
        let before = self.len();
        filter(&mut self.position, keep);
        filter(&mut self.velocity, keep);
        filter(&mut self.mass, keep);
        filter(&mut self.radius, keep);
        filter(&mut self.id, keep);
        filter(&mut self.material, keep);
        filter(&mut self.wetness, keep);
        filter(&mut self.pressure, keep);
        filter(&mut self.bearing, keep);
        filter(&mut self.stress, keep);
        filter(&mut self.rubbing, keep);
        before - self.len()
    }
}
