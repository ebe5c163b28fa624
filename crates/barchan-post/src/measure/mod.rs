//! Measurements on a frame: mass, momentum, energy, bounds, volume, and the shape of the deposit.
//!
//! Totals are over all particles. Shape (height, slope, run-out) is that of the *deposit*: particles are sorted into
//! cubic cells of size dx; a cell whose particles at their rest volume fill at least half of it is *filled*; the
//! deposit is the heaviest set of filled cells connected by faces, edges or corners, with the particles in
//! them and in cells that share a face with them. Grains in flight and separate heaps are excluded. Up is +y.

mod deposit;
mod fit;
mod profile;

pub use profile::{HeightMap, HeightProfile, Hints};

use barchan_frame::{Frame, Manifest};
use deposit::{Grain, Grid};
use serde::Serialize;

/// Result of [`measure`]. In 2D, masses, momenta, energies and volumes are those of a slab 1 m thick. Undefined
/// quantities, such as the slope of a single grain, are `None`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measurement {
    /// Number of the frame.
    pub frame: u32,
    /// Simulated time [s].
    pub time_s: f64,
    /// Number of particles.
    pub particles: usize,
    /// Total mass [kg].
    pub mass_kg: f64,
    /// Total linear momentum [kg m/s].
    pub momentum: [f64; 3],
    /// Total kinetic energy of the particles' translation [J].
    pub kinetic_energy_j: f64,
    /// Center of mass [m].
    pub center_of_mass: Option<[f64; 3]>,
    /// Smallest coordinates of any particle [m].
    pub bounds_min: Option<[f64; 3]>,
    /// Largest coordinates of any particle [m].
    pub bounds_max: Option<[f64; 3]>,
    /// Bulk volume [m³], pores and dilation included, of all particles, not only the deposit. An inner cell, below a filled one and
    /// with filled cells at all its other faces but one, counts fully; the other filled cells, and the cells that share a face with
    /// a filled one, count by their fill divided by the mean fill of the inner cells.
    pub volume_m3: f64,
    /// Speed of the fastest particle [m/s].
    pub max_speed: f64,
    /// Highest point of the deposit's surface: its y [m].
    pub height_m: Option<f64>,
    /// Slope of the deposit's free surface, falling outward [degrees]: the mean of [`Self::slopes_deg`].
    pub slope_angle_deg: Option<f64>,
    /// Standard deviation of [`Self::slopes_deg`] [degrees]; none for a single one.
    pub slope_spread_deg: Option<f64>,
    /// Slope by azimuth sector (3D, from +x toward +z) or flank (2D, left then right) [degrees]: a straight line
    /// fitted to the surface height between 20 % and 80 % of the distance from the axis to the run-out (3D) or to the end
    /// of the flank (2D). Only where the surface beyond lies in the lower half of the deposit on average: a surface supported by a
    /// wall has no slope.
    pub slopes_deg: Vec<f64>,
    /// Run-out [m]. 3D: radius around the axis that holds 99 % of the deposit's mass. 2D: distance from the highest
    /// column to the farther end of the deposit.
    pub runout_m: Option<f64>,
    /// Smallest and largest x of the deposit [m].
    pub extent_x: Option<[f64; 2]>,
    /// Smallest and largest z of the deposit [m]; 3D only.
    pub extent_z: Option<[f64; 2]>,
    /// Axis (x, z) of the deposit [m]: its horizontal center of mass in 3D; its highest column, with z = 0, in 2D.
    pub axis: Option<[f64; 2]>,
    /// Mass of the deposit [kg].
    pub deposit_mass_kg: f64,
    /// Height of the surface: against x in 2D, the mean against the distance from the axis in 3D.
    pub height_profile: Option<HeightProfile>,
    /// Largest surface height on a map of at most 64 × 64 squares; 3D only.
    pub height_map: Option<HeightMap>,
    /// Mass by material, in the order of the manifest.
    pub materials: Vec<MaterialMass>,
}

/// Particles and mass of one material.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MaterialMass {
    /// Name in the scene.
    pub name: String,
    /// Number of particles.
    pub particles: usize,
    /// Mass [kg].
    pub mass_kg: f64,
}

/// Why a frame cannot be measured.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MeasureError {
    /// A column is missing or of another type.
    #[error(
        "frame {frame} has no column `{column}` of {expected}; measure frames that a particle solver wrote"
    )]
    Column {
        /// Number of the frame.
        frame: u32,
        /// Name of the column.
        column: &'static str,
        /// Expected type and shape.
        expected: &'static str,
    },
    /// A value is NaN, infinite or impossible.
    #[error(
        "particle {particle} of frame {frame} has the {column} {value}; measure an earlier frame, and look for what went wrong \
         in the run"
    )]
    Value {
        /// Number of the frame.
        frame: u32,
        /// Position of the particle in the columns.
        particle: usize,
        /// Name of the column.
        column: &'static str,
        /// The value.
        value: f64,
    },
    /// The manifest does not match the frame.
    #[error(
        "the manifest does not match frame {frame}: {reason}; restore manifest.json or run the scene again"
    )]
    Manifest {
        /// Number of the frame.
        frame: u32,
        /// The mismatch.
        reason: String,
    },
}

/// Measures a frame; see [`Measurement`] for the quantities.
///
/// # Errors
/// Missing columns (`position`, `velocity`, `mass` are needed, `material` where there are several), values that are
/// not finite, and a manifest that does not fit.
pub fn measure(frame: &Frame, manifest: &Manifest) -> Result<Measurement, MeasureError> {
    measure_with(frame, manifest, &Hints::default())
}

/// As [`measure`], with user settings for the deposit.
///
/// # Errors
/// As [`measure`].
pub fn measure_with(
    frame: &Frame,
    manifest: &Manifest,
    hints: &Hints,
) -> Result<Measurement, MeasureError> {
    let particles = Particles::of(frame, manifest)?;
    let flat = manifest.dimensions == 2;
    let mut totals = Totals::default();
    for i in 0..particles.len() {
        totals.add(
            particles.mass(i),
            particles.position(i),
            particles.velocity(i),
        );
    }
    let grains = (0..particles.len()).map(|i| Grain {
        position: particles.position(i),
        mass: particles.mass(i),
        volume: particles.rest_volume(i),
    });
    let grid = Grid::new(grains, manifest.dx, flat);
    let deposit = grid.deposit();
    let shape = profile::shape(&deposit, hints);
    let has_mass = totals.mass > 0.0;
    Ok(Measurement {
        frame: frame.index,
        time_s: frame.time,
        particles: particles.len(),
        mass_kg: totals.mass,
        momentum: totals.momentum,
        kinetic_energy_j: totals.kinetic_energy,
        center_of_mass: has_mass.then(|| totals.first_moment.map(|m| m / totals.mass)),
        bounds_min: totals.bounds.map(|b| b.0),
        bounds_max: totals.bounds.map(|b| b.1),
        volume_m3: grid.bulk_volume(),
        max_speed: totals.max_speed,
        height_m: deposit.height(),
        slope_angle_deg: fit::mean(&shape.slopes_deg),
        slope_spread_deg: fit::standard_deviation(&shape.slopes_deg),
        slopes_deg: shape.slopes_deg,
        runout_m: shape.runout,
        extent_x: deposit.extent(0),
        extent_z: deposit.extent(2).filter(|_| !flat),
        axis: shape.axis,
        deposit_mass_kg: deposit.mass(),
        height_profile: shape.profile,
        height_map: shape.map,
        materials: particles.by_material(manifest),
    })
}

/// The columns that measuring needs, checked.
struct Particles<'a> {
    position: &'a [[f32; 3]],
    velocity: &'a [[f32; 3]],
    mass: &'a [f32],
    material: Option<&'a [u8]>,
    /// Density by material [kg/m³].
    density: Vec<f64>,
}

impl<'a> Particles<'a> {
    fn of(frame: &'a Frame, manifest: &Manifest) -> Result<Self, MeasureError> {
        let particles = Self {
            position: floats(frame, "position", 3)?.as_chunks().0,
            velocity: floats(frame, "velocity", 3)?.as_chunks().0,
            mass: floats(frame, "mass", 1)?,
            material: materials(frame)?,
            density: manifest.materials.iter().map(|m| m.density).collect(),
        };
        particles.check_manifest(frame, manifest)?;
        particles.check_values(frame)?;
        Ok(particles)
    }

    fn check_manifest(&self, frame: &Frame, manifest: &Manifest) -> Result<(), MeasureError> {
        let misfit = |reason: String| MeasureError::Manifest {
            frame: frame.index,
            reason,
        };
        if !(manifest.dx > 0.0 && manifest.dx.is_finite()) {
            return Err(misfit(format!("its dx is {}", manifest.dx)));
        }
        if !matches!(manifest.dimensions, 2 | 3) {
            return Err(misfit(format!("it has {} dimensions", manifest.dimensions)));
        }
        let bad =
            |m: &&barchan_frame::ManifestMaterial| !(m.density > 0.0 && m.density.is_finite());
        if let Some(m) = manifest.materials.iter().find(bad) {
            return Err(misfit(format!(
                "material `{}` has the density {}",
                m.name, m.density
            )));
        }
        let known = self.density.len();
        let highest = self
            .material
            .map_or(0, |m| m.iter().copied().max().unwrap_or(0));
        if self.len() > 0 && usize::from(highest) >= known {
            return Err(misfit(format!(
                "it lists {known} materials, a particle is of material {highest}"
            )));
        }
        Ok(())
    }

    fn check_values(&self, frame: &Frame) -> Result<(), MeasureError> {
        let find = |values: &[f32], components: usize, column, good: fn(f32) -> bool| {
            let bad = values.iter().position(|v| !good(*v));
            bad.map_or(Ok(()), |i| {
                Err(MeasureError::Value {
                    frame: frame.index,
                    particle: i / components,
                    column,
                    value: f64::from(values[i]),
                })
            })
        };
        find(self.position.as_flattened(), 3, "position", f32::is_finite)?;
        find(self.velocity.as_flattened(), 3, "velocity", f32::is_finite)?;
        find(self.mass, 1, "mass", |m| m.is_finite() && m >= 0.0)
    }

    fn len(&self) -> usize {
        self.mass.len()
    }

    /// [m]
    fn position(&self, i: usize) -> [f64; 3] {
        self.position[i].map(f64::from)
    }

    /// [m/s]
    fn velocity(&self, i: usize) -> [f64; 3] {
        self.velocity[i].map(f64::from)
    }

    /// [kg]
    fn mass(&self, i: usize) -> f64 {
        f64::from(self.mass[i])
    }

    fn material(&self, i: usize) -> usize {
        self.material.map_or(0, |m| usize::from(m[i]))
    }

    /// Volume at rest [m³].
    fn rest_volume(&self, i: usize) -> f64 {
        self.mass(i) / self.density[self.material(i)]
    }

    fn by_material(&self, manifest: &Manifest) -> Vec<MaterialMass> {
        let empty = |m: &barchan_frame::ManifestMaterial| MaterialMass {
            name: m.name.clone(),
            particles: 0,
            mass_kg: 0.0,
        };
        let mut materials: Vec<_> = manifest.materials.iter().map(empty).collect();
        for i in 0..self.len() {
            let own = &mut materials[self.material(i)];
            own.particles += 1;
            own.mass_kg += self.mass(i);
        }
        materials
    }
}

fn floats<'a>(
    frame: &'a Frame,
    name: &'static str,
    components: usize,
) -> Result<&'a [f32], MeasureError> {
    let expected = match components {
        1 => "one float per particle",
        _ => "three floats per particle",
    };
    frame
        .column(name)
        .filter(|c| c.components == components && c.data.len() == components * frame.particles())
        .and_then(|c| c.data.as_f32())
        .ok_or(MeasureError::Column {
            frame: frame.index,
            column: name,
            expected,
        })
}

fn materials(frame: &Frame) -> Result<Option<&[u8]>, MeasureError> {
    let Some(column) = frame.column("material") else {
        return Ok(None);
    };
    let fits = |m: &&[u8]| m.len() == frame.particles();
    let materials = column.data.as_u8().filter(fits);
    materials.map(Some).ok_or(MeasureError::Column {
        frame: frame.index,
        column: "material",
        expected: "one byte per particle",
    })
}

/// Sums over all particles.
#[derive(Default)]
struct Totals {
    mass: f64,
    first_moment: [f64; 3],
    momentum: [f64; 3],
    kinetic_energy: f64,
    max_speed: f64,
    bounds: Option<([f64; 3], [f64; 3])>,
}

impl Totals {
    fn add(&mut self, mass: f64, position: [f64; 3], velocity: [f64; 3]) {
        let speed_squared: f64 = velocity.iter().map(|v| v * v).sum();
        self.mass += mass;
        self.kinetic_energy += 0.5 * mass * speed_squared;
        self.max_speed = self.max_speed.max(speed_squared.sqrt());
        let (min, max) = self.bounds.get_or_insert((position, position));
        for axis in 0..3 {
            self.first_moment[axis] += mass * position[axis];
            self.momentum[axis] += mass * velocity[axis];
            min[axis] = min[axis].min(position[axis]);
            max[axis] = max[axis].max(position[axis]);
        }
    }
}
