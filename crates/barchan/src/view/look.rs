//! What of the scene the page shows: colours of grains, bodies, camera. A scene that cannot be read costs only these.

use super::store::Store;
use super::values;
use barchan_render::colour::{SAND, sand_index};
use barchan_scene::mesh::TriangleMesh;
use serde_json::{Value, json};

/// Radius of a grain when the scene does not say [dx]: eight grains a cell, as they lie.
const RADIUS_OF_CELL: f64 = 0.3;

/// The look of a scene.
pub struct Look {
    /// Colours.
    pub palette: Palette,
    /// Name and colours of each material.
    pub materials: Vec<Value>,
    /// Bodies, as `/api/result` lists them.
    pub bodies: Vec<Value>,
    /// Lower and upper corner of nearly all grains [m].
    pub bounds: [[f32; 3]; 2],
    /// Radius to draw grains with [m].
    pub grain_radius: f64,
    /// Camera of the scene.
    pub camera: Option<Value>,
    /// What could not be shown, and why.
    pub notes: Vec<String>,
}

impl Look {
    /// Reads the scene beside the frames.
    pub fn of(store: &Store, frames: &[u32]) -> Self {
        let manifest = store.manifest();
        let palette = Palette::default();
        let materials = manifest.materials.iter();
        Self {
            materials: materials
                .map(|m| json!({ "name": m.name, "colour": palette.colours[0] }))
                .collect(),
            palette,
            bodies: manifest
                .colliders
                .iter()
                .map(|name| json!({ "name": name }))
                .collect(),
            bounds: values::bounds_of_result(store, frames),
            grain_radius: RADIUS_OF_CELL * manifest.dx,
            camera: None,
            notes: Vec::new(),
        }
    }

    /// Surface of a body, in its own frame [m].
    pub fn surface(&self, _body: usize) -> Option<TriangleMesh> {
        None
    }
}

/// Colours of all grains: one list, in which each material has its part.
pub struct Palette {
    colours: Vec<[u8; 3]>,
}

impl Palette {
    /// All colours, sRGB.
    pub fn colours(&self) -> &[[u8; 3]] {
        &self.colours
    }

    /// Which colour a grain has, for life.
    pub fn index(&self, _material: u8, id: u64) -> u8 {
        sand_index(id) as u8
    }
}

impl Default for Palette {
    fn default() -> Self {
        Self {
            colours: SAND.iter().map(|(colour, _)| *colour).collect(),
        }
    }
}
