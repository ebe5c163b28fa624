//! The grains, as the columns of a frame.

use super::DetailError;
use super::sampling::{mix, unit};
use barchan_frame::{Column, ColumnData, Frame, Unit, quantization_step, round_to_step};
use rayon::prelude::*;

/// Grains that a task takes; fixed, so that sums do not depend on the number of threads.
pub(super) const PART: usize = 1 << 13;
/// Largest error of the velocities of a frame [m/s].
const VELOCITY_TOLERANCE: f32 = 1e-3;
/// Largest error of the positions of a frame [radii of a grain].
const POSITION_TOLERANCE: f32 = 1.0 / 256.0;

/// Grains in spatial order. What a frame holds is all that there is: frames are checkpoints.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Grains {
    /// x, y, z of each [m].
    pub position: Vec<f32>,
    /// x, y, z of each [m/s].
    pub velocity: Vec<f32>,
    pub id: Vec<u32>,
    pub material: Vec<u8>,
    /// [kg]
    pub mass: Vec<f32>,
    /// [m]
    pub radius: Vec<f32>,
}

/// What is counted over all grains.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Totals {
    pub mass: f64,
    pub kinetic_energy: f64,
    pub max_speed: f64,
}

impl Grains {
    pub fn len(&self) -> usize {
        self.id.len()
    }

    /// Makes it so many, by dropping the last or adding zeros.
    pub fn resize(&mut self, count: usize) {
        // No more room than is needed: it counts at tens of millions.
        let more = |len: usize, values: usize| (values * count).saturating_sub(len);
        self.position.reserve_exact(more(self.position.len(), 3));
        self.velocity.reserve_exact(more(self.velocity.len(), 3));
        self.id.reserve_exact(more(self.id.len(), 1));
        self.material.reserve_exact(more(self.material.len(), 1));
        self.mass.reserve_exact(more(self.mass.len(), 1));
        self.radius.reserve_exact(more(self.radius.len(), 1));
        self.position.resize(3 * count, 0.0);
        self.velocity.resize(3 * count, 0.0);
        self.id.resize(count, 0);
        self.material.resize(count, 0);
        self.mass.resize(count, 0.0);
        self.radius.resize(count, 0.0);
    }

    /// Takes the columns out of a frame that refinement wrote.
    pub fn take(frame: &mut Frame) -> Result<Self, DetailError> {
        let (index, count) = (frame.index, frame.particles());
        let foreign = |column| DetailError::Foreign {
            frame: index,
            column,
        };
        let mut take = |column: &'static str, components: usize| {
            let found = frame.columns.iter_mut().find(|c| c.name == column);
            match found {
                Some(c) if c.data.len() == count * components => {
                    Ok(std::mem::replace(&mut c.data, ColumnData::U8(Vec::new())))
                }
                _ => Err(foreign(column)),
            }
        };
        let id = match take("id", 1)? {
            ColumnData::U32(id) => id,
            _ => return Err(foreign("id")),
        };
        let material = match take("material", 1)? {
            ColumnData::U8(material) => material,
            _ => return Err(foreign("material")),
        };
        let mut floats = |column, components| match take(column, components)? {
            ColumnData::F32(values) => Ok(values),
            _ => Err(foreign(column)),
        };
        Ok(Self {
            mass: floats("mass", 1)?,
            radius: floats("radius", 1)?,
            velocity: floats("velocity", 3)?,
            position: floats("position", 3)?,
            id,
            material,
        })
    }

    /// The columns of a frame, with the tolerances that [`Grains::round`] has kept to.
    pub fn into_columns(self, grain_radius: f32) -> Vec<Column> {
        let tolerance = position_tolerance(grain_radius);
        vec![
            Column::vector3(
                "position",
                Unit::Meter,
                "position",
                tolerance,
                self.position,
            ),
            Column::vector3(
                "velocity",
                Unit::MeterPerSecond,
                "velocity",
                VELOCITY_TOLERANCE,
                self.velocity,
            ),
            Column::exact(
                "id",
                Unit::One,
                "stable identity",
                1,
                ColumnData::U32(self.id),
            ),
            Column::exact(
                "material",
                Unit::One,
                "index of the material",
                1,
                ColumnData::U8(self.material),
            ),
            Column::scalar("mass", Unit::Kilogram, "mass", 0.0, self.mass),
            Column::scalar(
                "radius",
                Unit::Meter,
                "radius of the grain",
                0.0,
                self.radius,
            ),
        ]
    }

    /// Rounds to what a frame keeps, so that going on from it is going on. Positions are rounded up or down by chance, in
    /// the mean to what they were: motion slower than the steps of the frame would else never be seen.
    pub fn round(&mut self, grain_radius: f32, frame: u32) {
        let step = quantization_step(position_tolerance(grain_radius));
        let speed_step = quantization_step(VELOCITY_TOLERANCE);
        let position = self.position.par_chunks_mut(3 * PART);
        let velocity = self.velocity.par_chunks_mut(3 * PART);
        let ids = self.id.par_chunks(PART);
        position.zip(velocity).zip(ids).for_each(|((x, v), id)| {
            if let Some(step) = step {
                for (x, id) in x.as_chunks_mut::<3>().0.iter_mut().zip(id) {
                    let bits = mix(u64::from(*id) << 32 | u64::from(frame));
                    for (axis, x) in x.iter_mut().enumerate() {
                        *x = by_chance(*x, step, unit(bits << (21 * axis)));
                    }
                }
            }
            if let Some(step) = speed_step {
                v.iter_mut().for_each(|v| *v = round_to_step(*v, step));
            }
        });
    }

    /// Sums, the same for any number of threads.
    pub fn totals(&self) -> Totals {
        let parts: Vec<Totals> = (self.velocity.par_chunks(3 * PART))
            .zip(self.mass.par_chunks(PART))
            .map(|(velocity, mass)| {
                let mut t = Totals::default();
                for (v, m) in velocity.as_chunks::<3>().0.iter().zip(mass) {
                    let squared: f64 = v.iter().map(|c| f64::from(*c) * f64::from(*c)).sum();
                    t.mass += f64::from(*m);
                    t.kinetic_energy += 0.5 * f64::from(*m) * squared;
                    t.max_speed = t.max_speed.max(squared);
                }
                t
            })
            .collect();
        let mut sum = parts.into_iter().fold(Totals::default(), |a, b| Totals {
            mass: a.mass + b.mass,
            kinetic_energy: a.kinetic_energy + b.kinetic_energy,
            max_speed: a.max_speed.max(b.max_speed),
        });
        sum.max_speed = sum.max_speed.sqrt();
        sum
    }

    /// Drops the grains that `keep` says no to, by index; the others stay in order.
    pub fn retain(&mut self, keep: impl Fn(&Self, usize) -> bool) {
        let mut kept = 0;
        for i in 0..self.len() {
            if !keep(self, i) {
                continue;
            }
            if kept < i {
                for axis in 0..3 {
                    self.position[3 * kept + axis] = self.position[3 * i + axis];
                    self.velocity[3 * kept + axis] = self.velocity[3 * i + axis];
                }
                self.id[kept] = self.id[i];
                self.material[kept] = self.material[i];
                self.mass[kept] = self.mass[i];
                self.radius[kept] = self.radius[i];
            }
            kept += 1;
        }
        self.resize(kept);
    }
}

/// A multiple of `step` next to a value: the higher one with a chance as large as the part of the way to it.
fn by_chance(value: f32, step: f32, chance: f32) -> f32 {
    let steps = value / step;
    if steps.is_nan() || steps.abs() >= 8_388_608.0 {
        return value;
    }
    let cut = steps as i32 as f32;
    let low = if cut > steps { cut - 1.0 } else { cut };
    let up = steps - low > chance;
    (low + f32::from(u8::from(up))) * step + 0.0
}

fn position_tolerance(grain_radius: f32) -> f32 {
    let tolerance = POSITION_TOLERANCE * grain_radius;
    if tolerance.is_finite() {
        tolerance
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_keeps_the_mean_and_what_is_on_the_grid() {
        let step = 0.125;
        for value in [0.3_f32, -0.3, 7.01, -1e-3] {
            let n = 4096;
            let sum: f64 = (0..n)
                .map(|i| f64::from(by_chance(value, step, i as f32 / n as f32)))
                .sum();
            let mean = sum / f64::from(n);
            assert!((mean - f64::from(value)).abs() < 1e-3, "{value}: {mean}");
        }
        // Negative control: to the nearest, slow motion is lost.
        assert_eq!(round_to_step(0.05, step), 0.0);
        for i in -20..20 {
            let value = i as f32 * step;
            for chance in [0.0, 0.5, 0.99999] {
                let kept = by_chance(value, step, chance);
                assert_eq!(kept.to_bits(), (value + 0.0).to_bits());
                assert_eq!(round_to_step(kept, step).to_bits(), kept.to_bits());
            }
        }
        assert_eq!(by_chance(1e9, step, 0.5), 1e9);
        assert!(by_chance(f32::NAN, step, 0.5).is_nan());
    }
}
