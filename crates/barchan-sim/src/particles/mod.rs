//! Particles as a structure of arrays. [`columns!`] declares the arrays once; sorting, removal, emission, frames, checkpoints and
//! the view for readers follow from the declaration.

mod quantity;

pub use quantity::{Component, Quantity, Spent, Tolerance, Value, column_of, flatten, misfit};

use crate::neighbors::cells::Cells;
use crate::solver::SolverError;
use glam::Vec3;
use rayon::prelude::*;

/// Positions.
pub const POSITION: Quantity<Vec3> =
    Quantity::state("m", "position", Vec3::ZERO).in_frames(Tolerance::Resolution);
/// Velocities.
pub const VELOCITY: Quantity<Vec3> =
    Quantity::state("m/s", "velocity", Vec3::ZERO).in_frames(Tolerance::Absolute(1e-3));
/// Identities, which particles keep for life.
pub const ID: Quantity<u32> =
    Quantity::state("1", "stable identity", 0).in_frames(Tolerance::Absolute(0.0));
/// Materials.
pub const MATERIAL: Quantity<u8> =
    Quantity::state("1", "index of the material", 0).in_frames(Tolerance::Absolute(0.0));
/// Masses.
pub const MASS: Quantity<f32> = Quantity::state("kg", "mass", 1.0)
    .in_frames(Tolerance::Absolute(0.0))
    .checked(is_positive);

/// Whether a value is positive and finite.
pub fn is_positive(value: &f32) -> bool {
    *value > 0.0 && value.is_finite()
}

/// Puts values in the order of `cells`; `spare` is memory for it.
pub fn gather<T: Copy + Send + Sync>(cells: &Cells, values: &mut Vec<T>, spare: &mut Vec<T>) {
    cells.order().map(|i| values[i]).collect_into_vec(spare);
    std::mem::swap(values, spare);
}

/// Keeps the values for which `keep` holds.
pub fn filter<T>(values: &mut Vec<T>, keep: &[bool]) {
    let mut kept = keep.iter();
    values.retain(|_| kept.next().copied().unwrap_or(true));
}

/// Refuses a state with materials beyond those of the scene.
pub fn check_materials(materials: &[u8], known: usize) -> Result<(), SolverError> {
    match materials.iter().all(|m| usize::from(*m) < known) {
        true => Ok(()),
        false => Err(SolverError::Checkpoint(
            "it names a material that the scene does not have".into(),
        )),
    }
}

/// Declares a structure of arrays: the name and type of each column, with its [`Quantity`]. `position`, `velocity`, `id`,
/// `material`, `mass` and `radius` must be among them.
macro_rules! columns {
    (
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
            /// Number of particles.
            pub fn len(&self) -> usize {
                self.position.len()
            }

            /// The arrays, borrowed.
            pub fn view(&self) -> $crate::view::ParticlesView<'_> {
                $crate::view::ParticlesView::of_arrays($crate::view::ParticleArrays {
                    position: &self.position,
                    velocity: &self.velocity,
                    radius: &self.radius,
                    mass: &self.mass,
                    id: &self.id,
                    material: &self.material,
                })
            }

            /// Puts the particles in the order of `cells`; `spare` is memory for it.
            pub fn reorder(&mut self, cells: &$crate::neighbors::cells::Cells, spare: &mut Self) {
                $($crate::particles::gather(cells, &mut self.$column, &mut spare.$column);)*
            }

            /// Keeps the particles for which `keep` holds; returns how many went.
            pub fn retain(&mut self, keep: &[bool]) -> usize {
                let before = self.len();
                $($crate::particles::filter(&mut self.$column, keep);)*
                before - self.len()
            }

            /// Gives the particles that have a position initial values in all columns that lack them.
            pub fn complete(&mut self) {
                let count = self.len();
                $(self.$column.resize(count, $quantity.initial);)*
            }

            /// Columns of a frame as far as they are `wanted`, in the memory of those that `out` has. Positions are kept to a
            /// fraction of `resolution` [m].
            pub fn write_frame(
                &self,
                resolution: f32,
                wanted: impl Fn(&str) -> bool,
                out: &mut barchan_frame::Frame,
            ) {
                let mut spent = $crate::particles::Spent(std::mem::take(&mut out.columns));
                $(
                    let name = stringify!($column);
                    if let Some(tolerance) = $quantity.frame_tolerance(resolution).filter(|_| wanted(name)) {
                        let memory = spent.take(name);
                        out.columns.push(barchan_frame::Column {
                            tolerance,
                            ..$quantity.column(name, &self.$column, memory)
                        });
                    }
                )*
            }

            /// Columns of a checkpoint, exact.
            pub fn save(&self, out: &mut barchan_frame::Checkpoint) {
                $(
                    if $quantity.saved {
                        let column = $quantity.column(stringify!($column), &self.$column, Vec::new());
                        out.columns.push(column);
                    }
                )*
            }

            /// The particles of a checkpoint; what it does not hold has initial values.
            pub fn load(from: &barchan_frame::Checkpoint) -> Result<Self, $crate::solver::SolverError> {
                Ok(Self {
                    $($column: $quantity.load(stringify!($column), from)?,)*
                })
            }
        }
    };
}

pub(crate) use columns;
