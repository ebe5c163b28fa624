//! Families of solvers as the scene file sees them: a file each, and a line each in [`FAMILIES`].
//!
//! A family defines its keys here and how they become settings. Its method is in barchan-sim, which registers it under
//! the same name. No other code in this crate distinguishes families.

pub mod mpm;
pub mod pbd;
mod settings;
pub mod sph;

pub use settings::{Settings, SettingsValue, SolverSettings};

use crate::errors::{SceneError, list};
use crate::format::{Builder, Key, Kind, LENGTH, Table, keys};
use crate::model::{Law, Sampling, Scene};
use crate::parameters::Parameter;
use std::fmt;

macro_rules! families {
    ($($family:expr),*) => {
        /// The families that `solver.method` and `--solver` can name; the first is the default.
        pub const FAMILIES: &[&Family] = &[$(&$family),*];
        const NAMES: &[&str] = &[$($family.name),*];
        const COLUMN_LISTS: &[&[&str]] = &[$($family.columns),*];
        const COLUMN_COUNT: usize = 0 $(+ $family.columns.len())*;
        const SOLVER_TABLES: &[Key] = &[$($family.table($family.keys)),*];
        /// Tables of the families in a material.
        pub(crate) const MATERIAL_TABLES: &[Key] = &[$($family.table($family.material_keys)),*];
    };
}

families!(mpm::MPM, pbd::PBD, sph::SPH);

/// A family of solvers, as the scene file sees it.
pub struct Family {
    /// Name in the scene file and in results; also that of its tables.
    pub name: &'static str,
    /// One line: what it is.
    pub summary: &'static str,
    /// The length that `solver.resolution` specifies.
    pub resolution: &'static str,
    /// Default `frame_rate` [1/s].
    pub frame_rate: f64,
    /// Default `sampling` of fills.
    pub sampling: Sampling,
    /// Common keys of `[materials.NAME]` that can be changed while a scene runs, in addition to sliders of its own table.
    pub live: &'static [&'static str],
    /// Whether it supports `[[wetting]]`; other families ignore it.
    pub wetting: bool,
    /// Columns that its solver writes to frames when `output.columns` requests them.
    pub columns: &'static [&'static str],
    /// Spacing at which meshes without `voxel` are sampled, as a fraction of the resolution.
    pub(crate) voxel: f64,
    /// Keys of `[solver.NAME]`.
    pub(crate) keys: &'static [Key],
    /// Keys of `[materials.X.NAME]`.
    pub(crate) material_keys: &'static [Key],
    /// Reads the table of the solver, which may be empty, at a resolution [m].
    pub(crate) read: fn(&mut Builder<'_>, &Table, f64) -> Settings,
    /// Reads the table of a material of that law.
    pub(crate) read_material: fn(&mut Builder<'_>, &Table, &Law) -> Settings,
    /// A setting of this family that has no effect in the scene: key, fault and remedy.
    pub(crate) idle: fn(&Scene) -> Option<[&'static str; 3]>,
}

impl fmt::Debug for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Family {
    /// The family of that name.
    pub fn find(name: &str) -> Option<&'static Self> {
        FAMILIES.iter().copied().find(|f| f.name == name)
    }

    /// Parameters of a material that can be changed during a run: common keys first, then the family's own. `value` gives the
    /// present value of a key, or `None` if the material has none.
    pub fn parameters(&self, mut value: impl FnMut(&str) -> Option<f64>) -> Vec<Parameter> {
        self.live_keys()
            .filter_map(|key| Parameter::new(key, value(key.name)?))
            .collect()
    }

    pub(crate) fn live_keys(&self) -> impl Iterator<Item = &'static Key> {
        let common = crate::format::MATERIAL.iter();
        let common = common.filter(|key| self.live.contains(&key.name));
        common.chain(self.material_keys.iter().filter(|k| k.slider.is_some()))
    }

    const fn table(&self, keys: &'static [Key]) -> Key {
        Key::new(self.name, Kind::Table(keys), self.summary)
    }
}

/// The solver of a scene.
#[derive(Debug, Clone)]
pub struct SolverSpec {
    /// The chosen family.
    pub family: &'static Family,
    /// The resolution [m]; its meaning is [`Family::resolution`].
    pub resolution: f64,
    /// Settings of the families, chosen or not.
    pub settings: Settings,
}

impl SolverSpec {
    /// A family with its default settings.
    pub fn new(family: &'static Family, resolution: f64) -> Self {
        Self {
            family,
            resolution,
            settings: Settings::default(),
        }
    }

    /// The same with settings of a family.
    pub fn with(mut self, settings: impl SolverSettings) -> Self {
        self.settings.set(settings);
        self
    }
}

impl Scene {
    /// Settings of a family at the resolution of the scene; the default ones where it has none.
    pub fn settings<T: SolverSettings>(&self) -> T {
        let own = self.solver.settings.get::<T>().cloned();
        own.unwrap_or_else(|| T::defaults(self.solver.resolution, self.dimensions))
    }

    /// Settings that the chosen solver ignores, each with its place and a remedy.
    pub fn left_aside(&self) -> Vec<SceneError> {
        let family = self.solver.family;
        let idle = (family.idle)(self);
        let idle = idle.map(|[at, fault, remedy]| self.places.find(at).remark(fault, remedy));
        let dry = !self.wettings.is_empty() && !family.wetting;
        let dry = dry.then(|| {
            let others = FAMILIES.iter().filter(|f| f.wetting).map(|f| f.name);
            self.places.find("wetting.0").remark(
                format!(
                    "`{}` does not support `wetting`, which has no effect",
                    family.name
                ),
                format!("choose another solver.method: {}", list(others)),
            )
        });
        idle.into_iter().chain(dry).collect()
    }
}

const COMMON: [Key; 2] = keys! {
    /// Family of solvers that simulates the scene
    method: Kind::Choice(NAMES), default("\"mpm\"");
    /// Length scale of the discretization [m]: grid spacing, particle spacing or mean grain diameter
    resolution: LENGTH, required();
};

/// Keys of `[solver]`.
pub(crate) static SOLVER: [Key; COMMON.len() + FAMILIES.len()] =
    joined(COMMON[0], &[&COMMON, SOLVER_TABLES]);

/// Columns that a scene can request, family by family.
pub(crate) const COLUMNS: &[&str] = &joined::<_, COLUMN_COUNT>("", COLUMN_LISTS);

/// The lists one after another, which together have `N` items.
pub(crate) const fn joined<T: Copy, const N: usize>(blank: T, lists: &[&[T]]) -> [T; N] {
    let mut all = [blank; N];
    let (mut next, mut list) = (0, 0);
    while list < lists.len() {
        let mut item = 0;
        while item < lists[list].len() {
            all[next] = lists[list][item];
            (next, item) = (next + 1, item + 1);
        }
        list += 1;
    }
    all
}
