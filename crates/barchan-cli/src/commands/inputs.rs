//! Inputs of a run besides its scene: meshes and the result it starts from, recorded in the manifest and compared at `--resume`.
//! Also warns of settings that are unlikely to have the intended effect.

use super::resources::Estimate;
use super::{Failure, output};
use barchan::frame::{Checkpoint, ManifestStart, ResultDirectory};
use barchan::scene::Scene;
use barchan::sim::simulation::{Forecast, Simulation, SimulationError};
use barchan::sim::start::{self, StartError, StartRecord};

/// A scene that is ready to run.
pub struct Ready {
    /// Resources that the run is expected to need.
    pub estimate: Estimate,
    /// The simulation before its first step.
    pub simulation: Simulation,
    /// Forecast of the time steps.
    pub forecast: Forecast,
    /// Reasons why the run may take very long or not have the intended effect.
    pub warnings: Vec<String>,
}

/// Reports all errors of a scene, and shows the warnings. Some errors are found only by sampling: empty fills, particles outside
/// the domain, blocked emitters.
pub fn prepare(scene: &Scene) -> Result<Ready, Failure> {
    let start = start::find(scene, None).map_err(|e| start_failure(&e, scene))?;
    let estimate = Estimate::of(scene, start.as_ref());
    estimate.refuse_too_large()?;
    let mut simulation = begin(scene)?;
    let forecast = simulation.forecast().map_err(|e| failure(e, scene))?;
    let mut warnings = Vec::from_iter(forecast.warning.clone());
    let thin = barchan::sim::collider::thin_movers(scene);
    warnings.extend(thin.iter().map(ToString::to_string));
    warnings.extend(scene.left_aside().into_iter().map(|one| {
        let place = one.location().map_or(String::new(), |at| format!("{at}: "));
        format!("{place}{}; {}", one.message(), one.help_text())
    }));
    output::warn(&warnings);
    Ok(Ready {
        estimate,
        simulation,
        forecast,
        warnings,
    })
}

/// The simulation of a scene at t = 0.
pub fn begin(scene: &Scene) -> Result<Simulation, Failure> {
    Simulation::new(scene).map_err(|error| failure(error, scene))
}

/// The simulation of a scene at a checkpoint.
pub fn resume(scene: &Scene, checkpoint: &Checkpoint) -> Result<Simulation, Failure> {
    Simulation::resume(scene, checkpoint).map_err(|error| failure(error, scene))
}

/// Errors caused by the scene show their line.
fn failure(error: SimulationError, scene: &Scene) -> Failure {
    match error.in_scene(scene) {
        Some(errors) => errors.into(),
        None => error.into(),
    }
}

fn start_failure(error: &StartError, scene: &Scene) -> Failure {
    match error.in_scene(scene) {
        Some(errors) => errors.into(),
        None => Failure::call(&error.message, &error.help),
    }
}

/// The start, as the manifest records it.
pub fn start_entry(scene: &Scene, record: Option<&StartRecord>) -> Option<ManifestStart> {
    let (start, record) = (scene.start.as_ref()?, record?);
    Some(ManifestStart {
        result: start.result.clone(),
        frame: record.frame,
        digest: record.digest.clone(),
    })
}

/// Refuses to resume if a mesh has changed since the run started.
pub fn refuse_other_meshes(directory: &ResultDirectory, scene: &Scene) -> Result<(), Failure> {
    let begun = &directory.manifest().meshes;
    for mesh in &scene.meshes {
        let before = begun.iter().find(|m| m.file == mesh.file);
        if before.is_some_and(|m| m.digest != mesh.digest) {
            let (file, path) = (&mesh.file, directory.path().display());
            return Err(Failure::call(
                format_args!("the mesh {file} was changed since the run in {path} started"),
                "restore it, or simulate with the changed mesh into another directory with -o",
            ));
        }
    }
    Ok(())
}

/// Refuses to resume if the result that the run started from has changed. A missing one only causes a warning if the run has a
/// checkpoint of its own.
pub fn refuse_other_start(
    directory: &ResultDirectory,
    scene: &Scene,
) -> Result<Option<StartRecord>, Failure> {
    let Some(begun) = &directory.manifest().start else {
        return Ok(None);
    };
    match start::find(scene, Some(begun.frame)) {
        Ok(Some(now)) if now.digest == begun.digest => Ok(Some(now)),
        Ok(_) => Err(changed_start(directory, &begun.result)),
        Err(error) if directory.checkpoints()?.is_empty() => Err(start_failure(&error, scene)),
        Err(error) => {
            output::note(format_args!(
                "warning: cannot verify that the start result is unchanged: {}",
                error.message
            ));
            Ok(None)
        }
    }
}

/// Refuses to restart a run from a state other than its original start.
pub fn refuse_new_start(
    directory: &ResultDirectory,
    simulation: &Simulation,
) -> Result<(), Failure> {
    let (Some(begun), Some(now)) = (&directory.manifest().start, simulation.start()) else {
        return Ok(());
    };
    match now.frame == begun.frame && now.digest == begun.digest {
        true => Ok(()),
        false => Err(changed_start(directory, &begun.result)),
    }
}

fn changed_start(directory: &ResultDirectory, result: &str) -> Failure {
    let path = directory.path().display();
    Failure::call(
        format_args!(
            "the result {result} that the run in {path} started from has changed since then"
        ),
        "restore it, or simulate from its present state into another directory with -o",
    )
}

/// Whether two scene documents are equal except for the number of frames.
pub fn equal_except_for_frames(one: &str, other: &str) -> bool {
    let without_frames = |text: &str| {
        let mut table = text.parse::<toml::Table>().ok()?;
        table.remove("frames");
        Some(table)
    };
    let (one, other) = (without_frames(one), without_frames(other));
    one.is_some() && one == other
}
