//! The scene file (TOML, SI units, y up) → [`Scene`].
//!
//! ```text
//! text ──► node (a tree with places) ──► overrides ──► spec + keys (keys, kinds, ranges) ──► build ──► Scene
//! ```
//!
//! Every stage continues after an error, so that all errors are reported at once. The tree is therefore read without
//! derived deserialization, which stops at the first error.

mod bodies;
mod body_keys;
mod build;
mod camera;
mod keys;
mod motions;
mod node;
mod overrides;
mod placement;
mod schema;
mod shapes;
mod spec;
mod substances;
mod terrain;
mod urdf;

pub(crate) use keys::{LENGTH, MATERIAL, MAX_SPEED};
pub(crate) use node::{Node, Table};
pub use overrides::Overrides;
pub use schema::schema;
pub(crate) use spec::{Key, Kind, Range, keys};

use crate::errors::{Report, SceneErrors, SourceMark};
use crate::families::{FAMILIES, Family, SolverSpec};
use crate::model::{Dimensions, MeshFile, Scene};
use std::path::{Path, PathBuf};
use substances::Substance;
use toml_edit::DocumentMut;

/// The text of a scene and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SceneSource {
    /// File name shown in errors; its stem is the scene's name unless the scene says otherwise.
    pub name: String,
    /// TOML.
    pub text: String,
    /// Folder that the paths of meshes and of the start are relative to.
    pub directory: PathBuf,
}

impl SceneSource {
    /// Reads a scene file.
    pub fn from_file(path: &Path) -> Result<Self, SceneErrors> {
        let name = path.display().to_string();
        let fail = |reason: String, help| SourceMark::default().refuse_scene(&name, reason, help);
        if path.is_dir() {
            let help = "name a scene file, such as scene.toml";
            return Err(fail(format!("{name} is a folder, not a scene"), help));
        }
        let bytes = std::fs::read(path).map_err(|e| {
            let help =
                "check the path and the permissions; `barchan scenes` lists the built-in scenes";
            fail(format!("cannot read {name}: {e}"), help)
        })?;
        let text = String::from_utf8(bytes).map_err(|e| {
            let valid = e.utf8_error().valid_up_to();
            let line = 1 + e.as_bytes()[..valid]
                .iter()
                .filter(|b| **b == b'\n')
                .count();
            let help = "a scene is TOML text: save it in UTF-8";
            fail(
                format!("{name} is not UTF-8 text: invalid byte in line {line}"),
                help,
            )
        })?;
        let directory = path.parent().map(Path::to_owned).unwrap_or_default();
        Ok(Self {
            name,
            text,
            directory,
        })
    }

    fn stem(&self) -> String {
        let stem = Path::new(&self.name).file_stem();
        stem.map_or("scene".to_owned(), |s| s.to_string_lossy().into_owned())
    }
}

/// State that the stages share while a scene is built.
pub(crate) struct Builder<'a> {
    report: &'a mut Report,
    directory: &'a Path,
    pub(crate) dimensions: Dimensions,
    /// The chosen family; the default where the choice is invalid.
    family: &'static Family,
    /// Resolution [m]; a placeholder where it is invalid.
    resolution: f64,
    substances: Vec<Substance>,
    meshes: Vec<MeshFile>,
    /// Whether the scene is only viewed: missing meshes are then warnings, and placement is not checked.
    viewing: bool,
    warnings: Vec<String>,
}

impl Builder<'_> {
    /// Spacing at which meshes are sampled that do not choose their own [m].
    fn voxel(&self) -> f64 {
        self.family.voxel * self.resolution
    }

    /// The solver. The tables of all families are read, so that all their errors are reported.
    fn solver(&mut self, document: &Table) -> SolverSpec {
        let mut solver = SolverSpec::new(self.family, self.resolution);
        let (empty, table) = (Table::default(), document.table("solver"));
        for family in FAMILIES {
            let own = table.and_then(|t| t.table(family.name)).unwrap_or(&empty);
            let settings = (family.read)(self, own, self.resolution);
            solver.settings.append(settings);
        }
        solver
    }
}

/// Reads and validates a scene; on failure returns all its errors.
pub fn load(source: &SceneSource, overrides: &Overrides) -> Result<Scene, SceneErrors> {
    load_as(source, overrides, false).map(|(scene, _)| scene)
}

/// Reads and validates a scene file with keys set as `--set` does it, each as `path=value`.
///
/// # Errors
/// As [`load`], and a file that cannot be read.
pub fn load_file(path: impl AsRef<Path>, set: &[&str]) -> Result<Scene, SceneErrors> {
    let overrides = Overrides {
        set: set.iter().map(|s| (*s).to_owned()).collect(),
        ..Overrides::default()
    };
    load(&SceneSource::from_file(path.as_ref())?, &overrides)
}

/// Reads a scene to view a result of it. Colliders, fills, emitters and drains whose mesh cannot be used are omitted,
/// each with a warning, and the placement of fills and emitters is not checked. Names are those of [`load`].
pub fn load_for_viewing(
    source: &SceneSource,
    overrides: &Overrides,
) -> Result<(Scene, Vec<String>), SceneErrors> {
    load_as(source, overrides, true)
}

fn load_as(
    source: &SceneSource,
    overrides: &Overrides,
    viewing: bool,
) -> Result<(Scene, Vec<String>), SceneErrors> {
    let mut report = Report::new(&source.name, &source.text);
    let scene = read(source, overrides, viewing, &mut report);
    match (report.into_errors(), scene) {
        (None, Some(scene)) => Ok(scene),
        (Some(errors), _) => Err(errors),
        (None, None) => {
            let reason = "the scene could not be built, for an unknown reason";
            let help = "please report this scene as a bug";
            Err(SourceMark::default().refuse_scene(&source.name, reason, help))
        }
    }
}

fn read(
    source: &SceneSource,
    overrides: &Overrides,
    viewing: bool,
    report: &mut Report,
) -> Option<(Scene, Vec<String>)> {
    let mut tree = node::parse(&source.text, 0, report);
    if !report.is_empty() {
        return None;
    }
    let mut text = match source.text.parse::<DocumentMut>() {
        Ok(text) => text,
        Err(error) => {
            let reason = format!("not valid TOML: {}", error.message());
            report.error(tree.at, reason, "correct the syntax");
            return None;
        }
    };
    overrides::apply(overrides, &mut tree, &mut text, report);
    let dimensions = match tree.table()?.integer("dimensions") {
        Some(2) => Dimensions::Two,
        _ => Dimensions::Three,
    };
    let mut checker = spec::Checker { report, dimensions };
    checker.table(&mut tree, keys::SCENE, "", "");
    let document = tree.table()?;
    let solver = document.table("solver");
    let family = solver.and_then(|s| Family::find(s.text("method")?));
    let resolution = solver.and_then(|s| s.number("resolution"));
    let mut builder = Builder {
        report,
        directory: &source.directory,
        dimensions,
        family: family.unwrap_or(FAMILIES[0]),
        resolution: resolution.unwrap_or(0.01),
        substances: Vec::new(),
        meshes: Vec::new(),
        viewing,
        warnings: Vec::new(),
    };
    let scene = builder.scene(document, tree.at, &source.stem());
    let warnings = builder.warnings;
    let mut scene = scene?;
    if !text.contains_key("name") {
        text.insert("name", toml_edit::value(&scene.name));
    }
    scene.document = text.to_string();
    scene.places = report.places(tree);
    Some((scene, warnings))
}
