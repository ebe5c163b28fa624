//! The final check of a scene, which makes an example a test.

use barchan_frame::{Frame, Manifest};
use barchan_post::{MeasureError, measure};
use barchan_scene::numbers::{exact, rounded};
use barchan_scene::{Bounds, FinalCheck};
use serde::{Deserialize, Serialize};
use std::fmt;

/// One bound of a scene's `check`, and its value in the last frame.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckResult {
    /// Measured quantity, with its unit.
    pub quantity: String,
    /// Value; `None` if it is undefined, such as the slope of an empty frame.
    pub found: Option<f64>,
    /// Interval in which the value must lie.
    pub wanted: [f64; 2],
    /// Whether it lies in the interval.
    pub passed: bool,
}

impl CheckResult {
    fn new(quantity: impl Into<String>, found: Option<f64>, wanted: [f64; 2]) -> Self {
        Self {
            quantity: quantity.into(),
            found,
            wanted,
            passed: found.is_some_and(|value| value >= wanted[0] && value <= wanted[1]),
        }
    }
}

impl fmt::Display for CheckResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.passed { "pass" } else { "FAIL" };
        write!(f, "{verdict}: {} ", self.quantity)?;
        match self.found {
            Some(value) => f.write_str(&rounded(value, 4))?,
            None => write!(f, "cannot be measured")?,
        }
        let [low, high] = self.wanted.map(exact);
        write!(f, ", required {low} to {high}")
    }
}

/// Compares a frame with every bound of `check`.
///
/// # Errors
/// A frame that cannot be measured.
pub fn check_final(
    frame: &Frame,
    manifest: &Manifest,
    check: &FinalCheck,
) -> Result<Vec<CheckResult>, MeasureError> {
    if *check == FinalCheck::default() {
        return Ok(Vec::new());
    }
    let measured = measure(frame, manifest)?;
    let bounds = [
        (
            "fastest particle [m/s]",
            Some(measured.max_speed),
            check.max_speed.map(|limit| [0.0, limit]),
        ),
        (
            "slope angle [°]",
            measured.slope_angle_deg,
            check.slope_angle_deg,
        ),
        ("run-out [m]", measured.runout_m, check.runout_m),
        (
            "height of the highest grain [m]",
            measured.bounds_max.map(|b| b[1]),
            check.height_m,
        ),
    ];
    let held = bounds.into_iter().filter_map(|(quantity, found, wanted)| {
        wanted.map(|wanted| CheckResult::new(quantity, found, wanted))
    });
    let regions = check.mass_in.iter().map(|region| {
        let (min, max) = (region.bounds.min.to_array(), region.bounds.max.to_array());
        let corner = |p: [f32; 3]| p.map(|x| x.to_string()).join(", ");
        let quantity = format!(
            "fraction of the mass in [{}] to [{}]",
            corner(min),
            corner(max)
        );
        CheckResult::new(quantity, mass_part(frame, &region.bounds), region.part)
    });
    Ok(held.chain(regions).collect())
}

/// Fraction of the frame's mass in a box; `None` without mass.
fn mass_part(frame: &Frame, bounds: &Bounds) -> Option<f64> {
    let floats = |name: &str| frame.column(name).and_then(|c| c.data.as_f32());
    let (position, mass) = (floats("position")?, floats("mass")?);
    let (mut inside, mut total) = (0.0, 0.0);
    for (p, &m) in position.as_chunks::<3>().0.iter().zip(mass) {
        total += f64::from(m);
        if bounds.contains((*p).into()) {
            inside += f64::from(m);
        }
    }
    (total > 0.0).then(|| inside / total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_frame::{Column, ColumnData, ManifestMaterial, Unit};
    use barchan_scene::MassIn;

    /// 100 grains of 1 kg and 1 cm³ on the x axis, from 0 to 0.99 m, the last one moving at 2 m/s.
    fn row() -> (Frame, Manifest) {
        let position = (0..100).flat_map(|i| [i as f32 * 0.01, 0.0, 0.0]);
        let mut velocity = vec![0.0; 300];
        velocity[299] = 2.0;
        let frame = Frame {
            columns: vec![
                Column::vector3("position", Unit::Meter, "", 0.0, position.collect()),
                Column::vector3("velocity", Unit::MeterPerSecond, "", 0.0, velocity),
                Column::exact("id", Unit::One, "", 1, ColumnData::U32((0..100).collect())),
                Column::exact("material", Unit::One, "", 1, ColumnData::U8(vec![0; 100])),
                Column::scalar("mass", Unit::Kilogram, "", 0.0, vec![1.0; 100]),
            ],
            ..Frame::default()
        };
        let manifest = Manifest {
            dimensions: 3,
            dx: 0.01,
            frame_rate: 24.0,
            materials: vec![ManifestMaterial {
                name: "sand".into(),
                density: 1e6,
            }],
            ..Manifest::default()
        };
        (frame, manifest)
    }

    fn held(check: FinalCheck) -> Vec<bool> {
        let (frame, manifest) = row();
        let results = check_final(&frame, &manifest, &check).unwrap();
        results.iter().map(|r| r.passed).collect()
    }

    #[test]
    fn each_bound_can_pass_and_fail() {
        let speed = |limit| FinalCheck {
            max_speed: Some(limit),
            ..FinalCheck::default()
        };
        assert_eq!(held(speed(2.1)), [true]);
        assert_eq!(held(speed(1.9)), [false]);

        let mass_in = |part| FinalCheck {
            mass_in: vec![MassIn {
                bounds: Bounds {
                    min: [-0.001; 3].into(),
                    max: [0.245; 3].into(),
                },
                part,
            }],
            ..FinalCheck::default()
        };
        assert_eq!(held(mass_in([0.2, 0.3])), [true]);
        assert_eq!(held(mass_in([0.26, 1.0])), [false]);
        assert_eq!(held(mass_in([0.0, 0.24])), [false]);
    }

    #[test]
    fn undefined_quantities_fail() {
        let check = FinalCheck {
            slope_angle_deg: Some([0.0, 90.0]),
            ..FinalCheck::default()
        };
        let (mut frame, manifest) = row();
        frame.columns[0].data = ColumnData::F32(vec![0.0; 300]);
        let results = check_final(&frame, &manifest, &check).unwrap();
        assert_eq!(results[0].found, None);
        assert!(!results[0].passed);
        assert!(results[0].to_string().contains("cannot be measured"));
    }

    #[test]
    fn no_bounds_no_results() {
        assert!(held(FinalCheck::default()).is_empty());
    }
}
