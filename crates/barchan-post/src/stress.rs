//! Stress of single grains: principal values, pressure, deviator, and the yield surface after hardening.
//!
//! Kirchhoff stresses, as the law of sand bounds them; tension is positive, pressure counts compression.

use crate::yield_cone::{YieldCone, friction_angle};
use barchan_frame::{CacheError, ColumnData, FrameInfo, ResultDirectory};
use barchan_scene::{
    Dimensions, Law, Material, MpmMaterial, Overrides, Scene, SceneErrors, SceneSource,
};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Columns that a scene requests for the measurement.
const PRINCIPAL_STRESS: &str = "principal_stress";
const HARDENING: &str = "hardening";

/// Stress of a grain at the end of a frame. Undefined quantities (the friction of an elastic body) are `None`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StressState {
    /// Number of the frame.
    pub frame: u32,
    /// Simulated time [s].
    pub time_s: f64,
    /// Identity of the grain.
    pub id: u64,
    /// Principal Kirchhoff stresses [Pa], tension positive: largest first; in 2D the two in the plane and the one across.
    pub principal_stress: [f64; 3],
    /// p = −tr τ/d [Pa], compression positive; in 2D of the two in the plane.
    pub pressure: f64,
    /// ‖dev τ‖ [Pa]; in 2D of the two in the plane.
    pub deviator: f64,
    /// Hardening state q; sand only.
    pub hardening: Option<f64>,
    /// Friction angle at that state [degrees]; sand only.
    pub friction_angle_deg: Option<f64>,
    /// Largest ‖dev τ‖ at this pressure [Pa]; sand only.
    pub yield_deviator: Option<f64>,
    /// 0 elastic (Case I), 1 tip (II), 2 side (III).
    pub plastic_case: Option<u8>,
    /// The yield surface itself.
    #[serde(skip)]
    pub cone: Option<YieldCone>,
}

/// Why stresses cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum StressError {
    /// The frames lack a required column.
    #[error("frame {frame} has no column `{column}`; {remedy}")]
    Column {
        /// Number of the frame.
        frame: u32,
        /// Name of the missing column.
        column: &'static str,
        /// Remedy.
        remedy: String,
    },
    /// No frame contains a grain of that identity.
    #[error("no grain has the id {id} in {place}; {remedy}")]
    NoGrain {
        /// The requested identity.
        id: u64,
        /// Frames that were searched.
        place: String,
        /// Remedy.
        remedy: String,
    },
    /// The result or a frame of it cannot be read.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The scene beside the frames cannot be read.
    #[error("the materials cannot be read from the scene of the result: {0}")]
    Scene(#[from] SceneErrors),
}

impl StressError {
    /// A column that scenes must request.
    fn not_asked_for(frame: u32, column: &'static str) -> Self {
        Self::Column {
            frame,
            column,
            remedy: format!(
                "add `[output]` with `columns = [\"{PRINCIPAL_STRESS}\", \"{HARDENING}\"]` to the scene and run it again"
            ),
        }
    }
}

/// The materials and dimensions of a result, from the scene beside its frames.
#[derive(Debug, Clone)]
pub struct Substance {
    materials: Vec<Material>,
    dimensions: Dimensions,
}

impl Substance {
    /// The materials of a scene.
    pub fn of_scene(scene: &Scene) -> Self {
        Self {
            materials: scene.materials.clone(),
            dimensions: scene.dimensions,
        }
    }

    /// The materials of the scene of a result.
    pub fn of_result(directory: &ResultDirectory) -> Result<Self, StressError> {
        let source = SceneSource {
            name: directory.path().join("scene.toml").display().to_string(),
            text: directory.scene_document()?,
            directory: PathBuf::from(&directory.manifest().scene_directory),
        };
        let (scene, _) = barchan_scene::load_for_viewing(&source, &Overrides::default())?;
        Ok(Self::of_scene(&scene))
    }

    /// 2 or 3.
    pub fn dimensions(&self) -> Dimensions {
        self.dimensions
    }

    /// Whether the friction of any sand changes with its hardening state.
    fn hardens(&self) -> bool {
        let hardens = |m: &Material| match m.law {
            Law::Sand(law) => !matches!(law.friction, barchan_scene::Friction::Constant(_)),
            Law::Elastic(_) => false,
        };
        self.materials.iter().any(hardens)
    }
}

/// Stresses in one frame, in the order of the frame: of all grains, or of those with these identities.
pub fn stress(
    directory: &ResultDirectory,
    frame: u32,
    substance: &Substance,
    ids: Option<&BTreeSet<u64>>,
) -> Result<Vec<StressState>, StressError> {
    let columns = Columns::read(directory, frame, substance)?;
    let count = columns.stress.len();
    let wanted = |i: &usize| ids.is_none_or(|ids| ids.contains(&columns.id(*i)));
    let states = (0..count).filter(wanted);
    Ok(states.map(|i| columns.state(i, substance)).collect())
}

/// Stresses of chosen grains over several frames: by grain in the requested order, then by frame. A grain may be
/// missing in some frames, not in all.
pub fn histories(
    directory: &ResultDirectory,
    frames: &[u32],
    substance: &Substance,
    ids: &[u64],
) -> Result<Vec<Vec<StressState>>, StressError> {
    let set: BTreeSet<u64> = ids.iter().copied().collect();
    let mut all = Vec::new();
    for &frame in frames {
        all.extend(stress(directory, frame, substance, Some(&set))?);
    }
    let of = |&id: &u64| -> Result<Vec<StressState>, StressError> {
        let own: Vec<_> = all.iter().filter(|s| s.id == id).cloned().collect();
        match own.is_empty() {
            true => Err(no_grain(directory, frames, id)),
            false => Ok(own),
        }
    };
    ids.iter().map(of).collect()
}

fn no_grain(directory: &ResultDirectory, frames: &[u32], id: u64) -> StressError {
    let last = frames.last().copied().unwrap_or(0);
    let ids = directory.read_column(last, "id").ok();
    let range = ids.and_then(|c| {
        let ids = whole(&c.data)?;
        Some((ids.iter().copied().min()?, ids.iter().copied().max()?))
    });
    StressError::NoGrain {
        id,
        place: match frames {
            [one] => format!("frame {one}"),
            _ => format!("{} frames up to {last}", frames.len()),
        },
        remedy: match range {
            Some((low, high)) => format!("those in frame {last} lie from {low} to {high}"),
            None => format!("frame {last} has none"),
        },
    }
}

/// The columns of a frame that stresses are computed from.
struct Columns {
    info: FrameInfo,
    id: Vec<u64>,
    material: Vec<u8>,
    stress: Vec<[f32; 3]>,
    hardening: Vec<f32>,
    case: Vec<u8>,
}

impl Columns {
    fn read(
        directory: &ResultDirectory,
        frame: u32,
        substance: &Substance,
    ) -> Result<Self, StressError> {
        let info = directory.frame_info(frame)?;
        let read = |name: &str| match info.columns.iter().any(|c| c.name == name) {
            true => directory.read_column(frame, name).map(|c| Some(c.data)),
            false => Ok(None),
        };
        let floats = |name: &str| -> Result<Option<Vec<f32>>, CacheError> {
            Ok(match read(name)? {
                Some(ColumnData::F32(values)) => Some(values),
                _ => None,
            })
        };
        let bytes = |name: &str| -> Result<Vec<u8>, CacheError> {
            Ok(match read(name)? {
                Some(ColumnData::U8(values)) => values,
                _ => Vec::new(),
            })
        };
        let Some(stress) = floats(PRINCIPAL_STRESS)? else {
            return Err(StressError::not_asked_for(frame, PRINCIPAL_STRESS));
        };
        let q = match floats(HARDENING)? {
            None if substance.hardens() => {
                return Err(StressError::not_asked_for(frame, HARDENING));
            }
            q => q.unwrap_or_default(),
        };
        Ok(Self {
            id: read("id")?.and_then(|d| whole(&d)).unwrap_or_default(),
            material: bytes("material")?,
            stress: stress.as_chunks::<3>().0.to_vec(),
            hardening: q,
            case: bytes("plastic_case")?,
            info,
        })
    }

    /// The identity of a grain, or its index where the frame has none.
    fn id(&self, i: usize) -> u64 {
        self.id.get(i).copied().unwrap_or(i as u64)
    }

    fn state(&self, i: usize, substance: &Substance) -> StressState {
        let principal = self.stress[i].map(f64::from);
        let material = usize::from(self.material.get(i).copied().unwrap_or(0));
        let material = substance.materials.get(material);
        let sand = material.and_then(|m| match m.law {
            Law::Sand(law) => Some((law, m.settings::<MpmMaterial>())),
            Law::Elastic(_) => None,
        });
        let q = f64::from(self.hardening.get(i).copied().unwrap_or(0.0));
        let cone = sand.map(|(law, calibration)| {
            let cone = calibration.cone_in(substance.dimensions);
            YieldCone::new(&law, cone, q, substance.dimensions)
        });
        let [trace, deviator] = invariants(principal, substance.dimensions);
        let d = substance.dimensions.count() as f64;
        StressState {
            frame: self.info.index,
            time_s: self.info.time,
            id: self.id(i),
            principal_stress: principal,
            pressure: -trace / d,
            deviator,
            hardening: sand.and(self.hardening.get(i).map(|q| f64::from(*q))),
            friction_angle_deg: sand.map(|(law, _)| friction_angle(law.friction, q)),
            yield_deviator: cone.map(|c| c.radius(trace)),
            plastic_case: self.case.get(i).copied(),
            cone,
        }
    }
}

/// tr τ and ‖dev τ‖ [Pa]; in 2D of the two in the plane.
pub fn invariants(principal: [f64; 3], dimensions: Dimensions) -> [f64; 2] {
    let values = &principal[..dimensions.count()];
    let trace: f64 = values.iter().sum();
    let mean = trace / values.len() as f64;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    [trace, squares.sqrt()]
}

fn whole(data: &ColumnData) -> Option<Vec<u64>> {
    match data {
        ColumnData::U64(ids) => Some(ids.clone()),
        ColumnData::U32(ids) => Some(ids.iter().map(|id| u64::from(*id)).collect()),
        _ => None,
    }
}

/// Names of the columns of [`csv_line`], with their units.
pub const CSV_HEADER: &str = "id,frame,time_s,tau_1_pa,tau_2_pa,tau_3_pa,pressure_pa,deviator_pa,yield_deviator_pa,\
hardening,friction_angle_deg,plastic_case";

/// A state as a line of comma-separated values; undefined quantities are empty.
pub fn csv_line(s: &StressState) -> String {
    let number = |v: Option<f64>| v.map_or(String::new(), |v| v.to_string());
    let [a, b, c] = s.principal_stress;
    [
        s.id.to_string(),
        s.frame.to_string(),
        s.time_s.to_string(),
        a.to_string(),
        b.to_string(),
        c.to_string(),
        s.pressure.to_string(),
        s.deviator.to_string(),
        number(s.yield_deviator),
        number(s.hardening),
        number(s.friction_angle_deg),
        s.plastic_case.map_or(String::new(), |c| c.to_string()),
    ]
    .join(",")
}
