//! Particles as a structure of arrays. `columns!` declares the arrays once; sorting, removal, emission, frames, checkpoints and
//! the view follow from the declaration.

mod quantity;

pub use quantity::{Quantity, Recycled, Tolerance, Value, missing_column};

use crate::neighbors::cells::{Cells, MAX_POINTS};
use crate::solver::{Region, SolverError};
use barchan_frame::Unit;
use glam::Vec3;
use rayon::prelude::*;

/// Positions.
pub const POSITION: Quantity<Vec3> =
    Quantity::state(Unit::Meter, "position", Vec3::ZERO).in_frames(Tolerance::Resolution);
/// Velocities.
pub const VELOCITY: Quantity<Vec3> = Quantity::state(Unit::MeterPerSecond, "velocity", Vec3::ZERO)
    .in_frames(Tolerance::Absolute(1e-3));
/// Identities, unique and permanent.
pub const ID: Quantity<u32> =
    Quantity::state(Unit::One, "stable identity", 0).in_frames(Tolerance::Absolute(0.0));
/// Materials.
pub const MATERIAL: Quantity<u8> =
    Quantity::state(Unit::One, "index of the material", 0).in_frames(Tolerance::Absolute(0.0));
/// Masses.
pub const MASS: Quantity<f32> = Quantity::state(Unit::Kilogram, "mass", 1.0)
    .in_frames(Tolerance::Absolute(0.0))
    .checked(is_positive);

/// Whether a value is positive and finite.
pub fn is_positive(value: &f32) -> bool {
    *value > 0.0 && value.is_finite()
}

/// Sorts values into the order of `cells`; `spare` is scratch.
pub fn gather<T: Copy + Send + Sync>(cells: &Cells, values: &mut Vec<T>, spare: &mut Vec<T>) {
    cells.order().map(|i| values[i]).collect_into_vec(spare);
    std::mem::swap(values, spare);
}

/// Keeps the values that are marked in `keep`.
pub fn filter<T>(values: &mut Vec<T>, keep: &[bool]) {
    let mut kept = keep.iter();
    values.retain(|_| kept.next().copied().unwrap_or(true));
}

/// Largest speed [m/s].
pub fn max_speed(velocities: &[Vec3]) -> f32 {
    let squares = velocities.par_iter().with_min_len(1024);
    let largest = squares.map(|v| v.length_squared()).reduce(|| 0.0, f32::max);
    largest.sqrt()
}

/// Which points lie outside a region.
pub fn outside(region: &Region<'_>, points: &[Vec3]) -> Vec<bool> {
    points.par_iter().map(|p| !region.contains(*p)).collect()
}

/// Refuses more particles than the neighbor search can index.
pub fn check_count(count: usize) -> Result<(), SolverError> {
    match count <= MAX_POINTS {
        true => Ok(()),
        false => Err(SolverError::unsupported(
            "solver.resolution",
            format!("solvers with neighbors take at most {MAX_POINTS} particles"),
            "choose a coarser resolution",
        )),
    }
}

/// Refuses materials that the scene does not have.
pub fn check_materials(materials: &[u8], known: usize) -> Result<(), SolverError> {
    match materials.iter().all(|m| usize::from(*m) < known) {
        true => Ok(()),
        false => Err(SolverError::Checkpoint(
            "it names a material that the scene does not have".into(),
        )),
    }
}

/// Declares a structure of arrays: name, type and [`Quantity`] of each column after `position`, `velocity`, `id`, `material`
/// and `mass`. `radius` must be among them.
macro_rules! columns {
    (
        $(#[$about:meta])*
        $vis:vis struct $Name:ident {
            $($(#[$doc:meta])* $column:ident: $T:ty = $quantity:expr,)*
        }
    ) => {
        $crate::particles::columns! {
            @all
            $(#[$about])*
            $vis struct $Name {
                /// Positions [m].
                position: glam::Vec3 = $crate::particles::POSITION,
                /// Velocities [m/s].
                velocity: glam::Vec3 = $crate::particles::VELOCITY,
                /// Stable identities.
                id: u32 = $crate::particles::ID,
                /// Materials, by index.
                material: u8 = $crate::particles::MATERIAL,
                /// Masses [kg].
                mass: f32 = $crate::particles::MASS,
                $($(#[$doc])* $column: $T = $quantity,)*
            }
        }
    };
    (
        @all
        $(#[$about:meta])*
        $vis:vis struct $Name:ident {
            $($(#[$doc:meta])* $column:ident: $T:ty = $quantity:expr,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Default)]
        $vis struct $Name {
            $($(#[$doc])* pub $column: Vec<$T>,)*
        }

        impl $Name {
            /// Size of a particle [bytes].
            pub const BYTES: u64 = 0 $(+ size_of::<$T>() as u64)*;

            /// Number of particles.
            pub fn len(&self) -> usize {
                self.position.len()
            }

            /// The arrays that all solvers have, borrowed.
            pub fn view(&self) -> $crate::view::ParticlesView<'_> {
                $crate::view::ParticlesView::Arrays($crate::view::ParticleArrays {
                    position: &self.position,
                    velocity: &self.velocity,
                    radius: &self.radius,
                    mass: &self.mass,
                    id: &self.id,
                    material: &self.material,
                })
            }

            /// Sorts the particles into the order of `cells`; `spare` is scratch.
            pub fn reorder(&mut self, cells: &$crate::neighbors::cells::Cells, spare: &mut Self) {
                $($crate::particles::gather(cells, &mut self.$column, &mut spare.$column);)*
            }

            /// Keeps the particles that are marked in `keep`; returns how many were removed.
            pub fn retain(&mut self, keep: &[bool]) -> usize {
                let before = self.len();
                $($crate::particles::filter(&mut self.$column, keep);)*
                before - self.len()
            }

            /// Removes the particles in a region; returns how many.
            pub fn remove(&mut self, region: &$crate::solver::Region<'_>) -> usize {
                self.retain(&$crate::particles::outside(region, &self.position))
            }

            /// Appends the particles of a batch, with initial values in all other columns; returns the index of the first.
            pub fn append(
                &mut self,
                batch: &$crate::sampling::Samples,
            ) -> Result<usize, $crate::solver::SolverError> {
                let first = self.len();
                $crate::particles::check_count(first + batch.len())?;
                self.position.extend(&batch.position);
                self.velocity.extend(&batch.velocity);
                self.id.extend((batch.first_id..).take(batch.len()));
                self.material.resize(self.position.len(), batch.material as u8);
                self.complete();
                Ok(first)
            }

            /// Extends all columns to the length of `position` with initial values.
            pub fn complete(&mut self) {
                let count = self.len();
                $(self.$column.resize(count, $quantity.initial);)*
            }

            /// Replaces the columns of a frame with the `wanted` ones and reuses their memory. The
            /// error of positions is a fraction of `resolution` [m].
            pub fn write_frame(
                &self,
                resolution: f32,
                wanted: impl Fn(&str) -> bool,
                out: &mut barchan_frame::Frame,
            ) {
                let mut recycled = $crate::particles::Recycled(std::mem::take(&mut out.columns));
                $(
                    let name = stringify!($column);
                    if let Some(tolerance) = $quantity.frame_tolerance(resolution).filter(|_| wanted(name)) {
                        let column = $quantity.column(name, &self.$column, &mut recycled);
                        out.columns.push(barchan_frame::Column { tolerance, ..column });
                    }
                )*
            }

            /// Replaces the columns of a checkpoint; values are exact.
            pub fn save(&self, out: &mut barchan_frame::Checkpoint) {
                let mut recycled = $crate::particles::Recycled::default();
                out.columns.clear();
                $(
                    if $quantity.saved {
                        out.columns.push($quantity.column(stringify!($column), &self.$column, &mut recycled));
                    }
                )*
            }

            /// The particles of a checkpoint of a scene with the given number of materials; unsaved columns have initial values.
            pub fn load(
                from: &barchan_frame::Checkpoint,
                materials: usize,
            ) -> Result<Self, $crate::solver::SolverError> {
                let loaded = Self {
                    $($column: $quantity.load(stringify!($column), from)?,)*
                };
                $crate::particles::check_materials(&loaded.material, materials)?;
                Ok(loaded)
            }
        }
    };
}

pub(crate) use columns;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampling::Samples;
    use barchan_frame::{Checkpoint, ColumnData, Frame};
    use barchan_scene::Bounds;

    columns! {
        struct Few {
            radius: f32 = Quantity::state(Unit::Meter, "radius", 0.5).unsaved(),
            stress: [f32; 6] = Quantity::state(Unit::Pascal, "stress", [0.0; 6]),
        }
    }

    fn few() -> Few {
        let batch = Samples {
            position: (0..5).map(|i| Vec3::splat(5.0 - i as f32)).collect(),
            velocity: vec![Vec3::X; 5],
            first_id: 10,
            ..Samples::default()
        };
        let mut few = Few::default();
        few.append(&batch).unwrap();
        few.mass[..3].fill(2.0);
        few.stress[4] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        few
    }

    #[test]
    fn all_columns_are_completed_reordered_and_filtered_together() {
        let mut few = few();
        assert_eq!(few.mass, [2.0, 2.0, 2.0, 1.0, 1.0]);
        assert_eq!(few.radius, [0.5; 5]);
        let mut cells = Cells::default();
        cells.sort(&few.position, 0.5);
        few.reorder(&cells, &mut Few::default());
        assert_eq!(few.id, [14, 13, 12, 11, 10]);
        assert_eq!(few.stress[0][5], 6.0);
        let beyond = Region::Outside(Bounds {
            min: Vec3::splat(1.0),
            max: Vec3::splat(4.0),
        });
        assert_eq!(few.clone().remove(&beyond), 1);
        assert_eq!(few.retain(&[true, false, false, true, true]), 2);
        assert_eq!((few.id, few.mass), (vec![14, 11, 10], vec![1.0, 2.0, 2.0]));
    }

    #[test]
    fn the_size_of_a_particle_is_that_of_its_columns() {
        // Two vectors, id, material and mass; radius, stress.
        assert_eq!(Few::BYTES, 2 * 12 + 4 + 1 + 4 + 4 + 24);
    }

    #[test]
    fn a_checkpoint_round_trips_and_invalid_ones_are_refused() {
        let few = few();
        let mut state = Checkpoint::default();
        few.save(&mut state);
        assert!(state.column("radius").is_none());
        let loaded = Few::load(&state, 1).unwrap();
        assert_eq!(loaded.position, few.position);
        assert_eq!(loaded.stress, few.stress);
        assert_eq!(loaded.radius, [0.5; 5]);
        for broken in [
            ColumnData::F32(vec![-1.0; 5]),
            ColumnData::F32(vec![1.0; 4]),
        ] {
            let mut state = state.clone();
            let mass = state.columns.iter_mut().find(|c| c.name == "mass");
            mass.unwrap().data = broken;
            assert!(Few::load(&state, 1).is_err());
        }
        // Negative control: a material that the scene does not have.
        assert!(Few::load(&state, 0).is_err());
    }

    #[test]
    fn frames_reuse_the_memory_of_earlier_ones() {
        let few = few();
        assert_eq!(few.view().len(), 5);
        let mut frame = Frame::default();
        few.write_frame(1.024, |name| name != "mass", &mut frame);
        let place = |frame: &Frame| {
            let position = frame.column("position").unwrap();
            (position.data.as_f32().unwrap().as_ptr(), position.tolerance)
        };
        let (before, tolerance) = place(&frame);
        assert_eq!(tolerance, 1e-3);
        few.write_frame(1.024, |name| name != "mass", &mut frame);
        assert_eq!(place(&frame).0, before);
        let names: Vec<&str> = frame.columns.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["position", "velocity", "id", "material"]);
        // Negative control: a column of another type gives no memory.
        let mut recycled = Recycled(frame.columns);
        assert!(recycled.u8("velocity").is_empty());
    }
}
