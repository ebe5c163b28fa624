//! The grains, as the columns of a frame.

use super::DetailError;
use super::sampling::{mix, unit};
use barchan_frame::{Column, ColumnData, Frame, Unit, quantization_step, round_to_step};
use rayon::prelude::*;

/// Grains of a task; fixed, so that sums do not depend on the number of threads.
pub(super) const GRAINS_PER_TASK: usize = 1 << 13;
/// Tolerance of the velocities in frames [m/s].
const VELOCITY_TOLERANCE: f32 = 1e-3;
/// Tolerance of the positions in frames [radii of a grain].
const POSITION_TOLERANCE: f32 = 1.0 / 256.0;

/// Grains in spatial order. A frame holds all of their state: frames are checkpoints.
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

/// Sums over all grains.
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

    /// Changes the number of grains: drops the last ones or appends zeros.
    pub fn resize(&mut self, count: usize) {
        set_len(&mut self.position, 3 * count);
        set_len(&mut self.velocity, 3 * count);
        set_len(&mut self.id, count);
        set_len(&mut self.material, count);
        set_len(&mut self.mass, count);
        set_len(&mut self.radius, count);
    }

    /// Extracts the columns of a frame written by a refinement.
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

    /// The columns of a frame, with the tolerances of [`Grains::round`].
    pub fn into_columns(self, grain_radius: f32) -> Vec<Column> {
        let exact = |name, meaning, data| Column::exact(name, Unit::One, meaning, 1, data);
        let (m, speed) = (Unit::Meter, Unit::MeterPerSecond);
        let (position, velocity) = (self.position, self.velocity);
        let tolerance = position_tolerance(grain_radius);
        vec![
            Column::vector3("position", m, "position", tolerance, position),
            Column::vector3("velocity", speed, "velocity", VELOCITY_TOLERANCE, velocity),
            exact("id", "stable identity", ColumnData::U32(self.id)),
            exact(
                "material",
                "index of the material",
                ColumnData::U8(self.material),
            ),
            Column::scalar("mass", Unit::Kilogram, "mass", 0.0, self.mass),
            Column::scalar("radius", m, "radius of the grain", 0.0, self.radius),
        ]
    }

    /// Rounds to the precision of frames, so that resuming from one changes nothing. Rounding of positions is stochastic and
    /// unbiased: motion slower than a quantization step per frame would be lost otherwise.
    pub fn round(&mut self, grain_radius: f32, frame: u32) {
        let step = quantization_step(position_tolerance(grain_radius));
        let speed_step = quantization_step(VELOCITY_TOLERANCE);
        let position = self.position.par_chunks_mut(3 * GRAINS_PER_TASK);
        let velocity = self.velocity.par_chunks_mut(3 * GRAINS_PER_TASK);
        let ids = self.id.par_chunks(GRAINS_PER_TASK);
        position.zip(velocity).zip(ids).for_each(|((x, v), id)| {
            if let Some(step) = step {
                for (x, id) in x.as_chunks_mut::<3>().0.iter_mut().zip(id) {
                    let bits = mix(u64::from(*id) << 32 | u64::from(frame));
                    for (axis, x) in x.iter_mut().enumerate() {
                        *x = round_stochastically(*x, step, unit(bits << (21 * axis)));
                    }
                }
            }
            if let Some(step) = speed_step {
                v.iter_mut().for_each(|v| *v = round_to_step(*v, step));
            }
        });
    }

    /// Sums in a fixed order.
    pub fn totals(&self) -> Totals {
        let parts: Vec<Totals> = (self.velocity.par_chunks(3 * GRAINS_PER_TASK))
            .zip(self.mass.par_chunks(GRAINS_PER_TASK))
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

    /// Removes the grains for which `keep` is false; the others stay in order.
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

/// Resizes without spare capacity, which matters for tens of millions of grains.
fn set_len<T: Copy + Default>(values: &mut Vec<T>, len: usize) {
    values.reserve_exact(len.saturating_sub(values.len()));
    values.resize(len, T::default());
}

/// Stochastic rounding to a multiple of `step`: up with a probability equal to the fractional part; `chance` is uniform.
fn round_stochastically(value: f32, step: f32, chance: f32) -> f32 {
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
    fn stochastic_rounding_is_unbiased_and_keeps_multiples() {
        let step = 0.125;
        for value in [0.3_f32, -0.3, 7.01, -1e-3] {
            let n = 4096;
            let sum: f64 = (0..n)
                .map(|i| f64::from(round_stochastically(value, step, i as f32 / n as f32)))
                .sum();
            let mean = sum / f64::from(n);
            assert!((mean - f64::from(value)).abs() < 1e-3, "{value}: {mean}");
        }
        // Negative control: rounding to nearest loses slow motion.
        assert_eq!(round_to_step(0.05, step), 0.0);
        for i in -20..20 {
            let value = i as f32 * step;
            for chance in [0.0, 0.5, 0.99999] {
                let kept = round_stochastically(value, step, chance);
                assert_eq!(kept.to_bits(), (value + 0.0).to_bits());
                assert_eq!(round_to_step(kept, step).to_bits(), kept.to_bits());
            }
        }
        assert_eq!(round_stochastically(1e9, step, 0.5), 1e9);
        assert!(round_stochastically(f32::NAN, step, 0.5).is_nan());
    }
}
