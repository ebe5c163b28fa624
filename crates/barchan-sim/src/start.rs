//! The initial state of a scene that starts from an earlier result.
//!
//! Only checkpoints hold a state: the columns of a frame are rounded, and strain and hardening are not among them.
//! Particles are taken unchanged; their materials, and the bodies that they touch, are matched by name. Everything else is
//! that of the new scene.

use crate::contacts::renumber_bodies;
use crate::identities::Identities;
use barchan_frame::{CacheError, Checkpoint, ColumnData, ManifestMaterial, ResultDirectory};
use barchan_scene::{Scene, SceneErrors, Start, material_presets, nearest};
use glam::Vec3;

/// The state that a run started from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartRecord {
    /// Frame of the earlier result.
    pub frame: u32,
    /// Digest of its state, as [`Checkpoint::digest`] gives it.
    pub digest: String,
    /// Number of particles in it.
    pub particles: usize,
}

/// Why a scene cannot start from the result it names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}; {help}")]
pub struct StartError {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
    /// Whether the error is about the frame, not the result.
    about_frame: bool,
}

impl StartError {
    pub(crate) fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: help.into(),
            about_frame: false,
        }
    }

    /// The error with its place in the scene file; `None` for a scene that has no start.
    pub fn in_scene(&self, scene: &Scene) -> Option<SceneErrors> {
        let start = scene.start.as_ref()?;
        let mark = match self.about_frame {
            true => &start.frame_mark,
            false => &start.result_mark,
        };
        Some(mark.refuse(&self.message, &self.help))
    }
}

/// A state that is ready to be loaded by the scene's solver.
pub(crate) struct StartState {
    pub record: StartRecord,
    /// With the indices of materials and bodies in the scene.
    pub state: Checkpoint,
    /// Positions of its particles [m].
    pub positions: Vec<Vec3>,
    /// Identities not used by the earlier run.
    pub identities: Identities,
}

/// Finds the state that the scene starts from without reading its particles; `None` for a scene without a start. `frame`
/// overrides that of the scene.
pub fn find(scene: &Scene, frame: Option<u32>) -> Result<Option<StartRecord>, StartError> {
    let Some(start) = &scene.start else {
        return Ok(None);
    };
    let directory = open(scene, start)?;
    let index = state_of(&directory, start, frame.or(start.frame))?;
    let info = directory
        .checkpoint_info(index)
        .map_err(|e| unreadable(start, &e))?;
    Ok(Some(StartRecord {
        frame: index,
        digest: info.digest,
        particles: info.particles,
    }))
}

/// Reads the state that the scene starts from.
pub(crate) fn read(scene: &Scene) -> Result<Option<StartState>, StartError> {
    let Some(start) = &scene.start else {
        return Ok(None);
    };
    let directory = open(scene, start)?;
    let index = state_of(&directory, start, start.frame)?;
    let mut state = directory
        .read_checkpoint(index)
        .map_err(|e| unreadable(start, &e))?;
    let record = StartRecord {
        frame: index,
        digest: state.digest(),
        particles: state.particles(),
    };
    match_materials(&mut state, &directory.manifest().materials, scene, start)?;
    match_bodies(&mut state, &directory.manifest().colliders, scene);
    let Some(left) = &state.record.loop_state else {
        return Err(misfit(start, "it holds no state of the frame loop"));
    };
    let position = state.column("position").and_then(|c| c.data.as_f32());
    let position = position.unwrap_or_default();
    Ok(Some(StartState {
        positions: position.chunks_exact(3).map(Vec3::from_slice).collect(),
        identities: left.identities,
        record,
        state,
    }))
}

/// The result, if the scene can start from it.
fn open(scene: &Scene, start: &Start) -> Result<ResultDirectory, StartError> {
    let directory = ResultDirectory::open(&start.path).map_err(|e| unreadable(start, &e))?;
    let manifest = directory.manifest();
    let dimensions = scene.dimensions.count() as u32;
    if manifest.dimensions != dimensions {
        return Err(StartError::new(
            format!(
                "`{}` is a result in {}D, and this scene is in {dimensions}D",
                start.result, manifest.dimensions
            ),
            "start from a result of as many dimensions",
        ));
    }
    let solver = scene.solver.family.name;
    if manifest.solver != solver {
        return Err(StartError::new(
            format!(
                "`{}` was simulated by `{}`, whose state `{solver}` cannot go on from",
                start.result, manifest.solver
            ),
            "start from a result of the same family of solvers",
        ));
    }
    Ok(directory)
}

/// The frame to start from: it must have a checkpoint.
fn state_of(
    directory: &ResultDirectory,
    start: &Start,
    frame: Option<u32>,
) -> Result<u32, StartError> {
    let states = directory.checkpoints().map_err(|e| unreadable(start, &e))?;
    let last = directory.manifest().frames;
    let wanted = frame.unwrap_or(last);
    if states.contains(&wanted) {
        return Ok(wanted);
    }
    let kept: Vec<String> = states.iter().map(u32::to_string).collect();
    let kept = match kept.is_empty() {
        true => "no frame has one now".to_owned(),
        false => format!("frames that have one: {}", kept.join(", ")),
    };
    let result = &start.result;
    Err(match frame {
        Some(_) if wanted > last => StartError {
            message: format!("`{result}` has no frame {wanted}: it ends with frame {last}"),
            help: kept,
            about_frame: true,
        },
        Some(_) => StartError {
            message: format!("`{result}` keeps no exact state of frame {wanted}"),
            help: format!("{kept}; for another, simulate its scene with --frames {wanted}"),
            about_frame: true,
        },
        None => StartError::new(
            format!("`{result}` is not finished: it has no exact state of its last frame, {last}"),
            format!("finish it with --resume, or name a `frame`; {kept}"),
        ),
    })
}

/// Renumbers the materials of the particles by name, to the indices of the scene.
fn match_materials(
    state: &mut Checkpoint,
    materials: &[ManifestMaterial],
    scene: &Scene,
    start: &Start,
) -> Result<(), StartError> {
    let index = |old: &ManifestMaterial| {
        let here = scene.materials.iter().position(|m| m.name == old.name);
        here.and_then(|i| u8::try_from(i).ok())
    };
    let indices: Vec<Option<u8>> = materials.iter().map(index).collect();
    let column = state.columns.iter_mut().find(|c| c.name == "material");
    let Some(ColumnData::U8(values)) = column.map(|c| &mut c.data) else {
        return Err(misfit(
            start,
            "it does not say of which material particles are",
        ));
    };
    for value in values {
        match indices.get(usize::from(*value)) {
            Some(Some(index)) => *value = *index,
            Some(None) => {
                let name = &materials[usize::from(*value)].name;
                return Err(missing_material(name, scene, start));
            }
            None => return Err(misfit(start, "particles have a material it does not list")),
        }
    }
    Ok(())
}

/// Renumbers the bodies of cached contacts by name, to the indices of the scene; contacts with a body or terrain that the scene
/// does not have are dropped.
fn match_bodies(state: &mut Checkpoint, names: &[String], scene: &Scene) {
    let here = |name: &String| scene.solids().position(|c| c.name == *name);
    let mut indices: Vec<Option<usize>> = names.iter().map(here).collect();
    // The terrain is numbered after the bodies.
    indices.push(scene.terrain.as_ref().map(|_| scene.solids().count()));
    renumber_bodies(state, |body| {
        let index = indices.get(body as usize).copied().flatten();
        index.and_then(|i| u32::try_from(i).ok())
    });
}

fn missing_material(name: &str, scene: &Scene, start: &Start) -> StartError {
    let own = scene.materials.iter().map(|m| m.name.as_str());
    let help = match nearest(name, own) {
        Some(near) => format!("materials are matched by name: rename `{near}` to `{name}`"),
        None if material_presets().iter().any(|p| p.name == name) => {
            format!("add [materials.\"{name}\"] with preset = \"{name}\"")
        }
        None => format!("materials are matched by name: add [materials.\"{name}\"]"),
    };
    let message = format!(
        "`{}` holds particles of `{name}`, a material that this scene does not have",
        start.result
    );
    StartError::new(message, help)
}

/// A state that does not fit the scene's solver.
pub(crate) fn misfit(start: &Start, reason: &str) -> StartError {
    StartError::new(
        format!("the state of `{}` cannot be used: {reason}", start.result),
        "simulate the earlier scene again, with this version of barchan",
    )
}

fn unreadable(start: &Start, error: &CacheError) -> StartError {
    let result = &start.result;
    match error {
        CacheError::Missing(path) => StartError::new(
            format!(
                "there is no result `{result}` to start from: {} does not exist",
                path.display()
            ),
            "paths are relative to the folder of the scene file; simulate the earlier scene first: barchan run SCENE -o DIR",
        ),
        CacheError::NotAResult { reason, .. } => StartError::new(
            format!("`{result}` is not a result to start from: {reason}"),
            "give the directory that `barchan run` wrote, relative to the folder of the scene file",
        ),
        CacheError::Damaged { what, reason, .. } => StartError::new(
            format!("`{result}` cannot be started from: {what} is damaged ({reason})"),
            "simulate the earlier scene again, or choose another `frame`",
        ),
        other => StartError::new(
            format!("`{result}` cannot be started from: {other}"),
            "repair it, or simulate the earlier scene again",
        ),
    }
}
