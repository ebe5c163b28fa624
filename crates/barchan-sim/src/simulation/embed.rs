//! Methods for programs that embed a simulation; docs/embedding.md lists them on one page.

use super::{Simulation, SimulationError};
use crate::height_field::HeightField;
use crate::view::ParticlesView;
use barchan_scene::errors::SceneErrors;
use barchan_scene::{Overrides, Pose, SceneSource, load};
use glam::Vec3;
use std::path::Path;

/// Why a simulation could not be created.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CreateError {
    /// The scene is wrong, the solver refuses a line of it, or its file cannot be read.
    #[error("{0}")]
    Scene(SceneErrors),
    /// The scene cannot be simulated, and no line of it is at fault.
    #[error(transparent)]
    Simulation(SimulationError),
}

impl Simulation {
    /// Creates a simulation from the text of a scene file. Paths in it are relative to the working directory.
    ///
    /// # Errors
    /// Every error in the scene, or what the solver refuses of it, with its line and a remedy.
    pub fn from_toml(text: &str) -> Result<Self, CreateError> {
        Self::from_source(&SceneSource {
            name: "scene.toml".into(),
            text: text.into(),
            directory: ".".into(),
        })
    }

    /// Creates a simulation of a scene file.
    ///
    /// # Errors
    /// As [`Self::from_toml`], and a file that cannot be read.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, CreateError> {
        let source = SceneSource::from_file(path.as_ref()).map_err(CreateError::Scene)?;
        Self::from_source(&source)
    }

    fn from_source(source: &SceneSource) -> Result<Self, CreateError> {
        let scene = load(source, &Overrides::default()).map_err(CreateError::Scene)?;
        Self::new(&scene).map_err(|error| match error.in_scene(&scene) {
            Some(errors) => CreateError::Scene(errors),
            None => CreateError::Simulation(error),
        })
    }

    /// The particles in the solver's own memory, without a copy; `None` if they are not in the memory of this process.
    pub fn view(&self) -> Option<ParticlesView<'_>> {
        self.solver.host_view()
    }

    /// Positions of all grains [m], without a copy; `None` for `mpm`, which keeps packets: see [`Self::view`].
    pub fn positions(&self) -> Option<&[Vec3]> {
        let arrays = self.view()?.arrays()?;
        Some(arrays.position)
    }

    /// Index of a collider or rigid body, for [`Self::reaction`] and [`Self::pose`].
    pub fn body_index(&self, name: &str) -> Option<usize> {
        self.colliders.list.iter().position(|c| c.name == name)
    }

    /// Present pose of a collider or rigid body: a point p of its shape in the scene is at `rotation * p + position` [m].
    pub fn pose(&self, body: usize) -> Option<Pose> {
        let collider = self.colliders.list.get(body)?;
        match body.checked_sub(self.bodies.first()) {
            Some(free) if !self.bodies.is_empty() => Some(self.bodies.pose_of(free)),
            _ => Some(collider.motion.pose(self.state.time)),
        }
    }

    /// The soil at rest, if the scene has terrain.
    pub fn height_field(&self) -> Option<&HeightField> {
        self.solver.height_field()
    }

    /// Height of the terrain at a place [m]; `None` without terrain and outside the site.
    pub fn terrain_height(&self, x: f32, z: f32) -> Option<f32> {
        self.height_field()?.height(x, z)
    }
}
