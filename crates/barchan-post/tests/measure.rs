//! Measurements on shapes with known quantities.

use barchan_frame::{Column, ColumnData, Frame, Manifest, ManifestMaterial, Unit};
use barchan_post::{Hints, MeasureError, Measurement, measure, measure_with};
use std::f64::consts::PI;

const DENSITY: f64 = 1600.0;

fn manifest(dimensions: u32, dx: f64) -> Manifest {
    let material = |name: &str, density| ManifestMaterial {
        name: name.into(),
        density,
    };
    Manifest {
        dimensions,
        dx,
        materials: vec![material("sand", DENSITY), material("rubber", 1000.0)],
        ..Manifest::default()
    }
}

/// Deterministic noise between 0 and 1.
fn noise(a: i64, b: i64, c: i64, axis: i64) -> f64 {
    let mut h = (a.wrapping_mul(73_856_093)
        ^ b.wrapping_mul(19_349_663)
        ^ c.wrapping_mul(83_492_791)) as u64;
    h ^= (axis as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    h = (h ^ (h >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    h = (h ^ (h >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((h ^ (h >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Grains on a jittered lattice, two per cell along each axis, where `inside` holds. In 2D, z = 0.
struct Heap {
    positions: Vec<[f64; 3]>,
    grain_mass: f64,
    manifest: Manifest,
}

fn fill(dimensions: u32, dx: f64, reach: f64, inside: impl Fn([f64; 3]) -> bool) -> Heap {
    let spacing = dx / 2.0;
    let n = (reach / spacing).ceil() as i64;
    let depth = if dimensions == 2 { 0..1 } else { -n..n };
    let mut positions = Vec::new();
    for k in depth {
        for j in 0..n {
            for i in -n..n {
                let at = |c: i64, axis| (c as f64 + 0.2 + 0.6 * noise(i, j, k, axis)) * spacing;
                let z = if dimensions == 2 { 0.0 } else { at(k, 2) };
                let p = [at(i, 0), at(j, 1), z];
                if inside(p) {
                    positions.push(p);
                }
            }
        }
    }
    Heap {
        positions,
        grain_mass: DENSITY * spacing.powi(dimensions as i32),
        manifest: manifest(dimensions, dx),
    }
}

impl Heap {
    fn frame(&self) -> Frame {
        let n = self.positions.len();
        let position = self.positions.iter().flatten().map(|&x| x as f32).collect();
        Frame {
            columns: vec![
                Column::vector3("position", Unit::Meter, "", 0.0, position),
                Column::vector3("velocity", Unit::MeterPerSecond, "", 0.0, vec![0.0; 3 * n]),
                Column::scalar(
                    "mass",
                    Unit::Kilogram,
                    "",
                    0.0,
                    vec![self.grain_mass as f32; n],
                ),
                Column::exact("material", Unit::One, "", 1, ColumnData::U8(vec![0; n])),
            ],
            ..Frame::default()
        }
    }

    fn measure(&self) -> Measurement {
        measure(&self.frame(), &self.manifest).expect("a frame with all it needs")
    }
}

fn close(value: f64, expected: f64, tolerance: f64) {
    assert!(
        (value - expected).abs() <= tolerance,
        "{value} instead of {expected} ± {tolerance}"
    );
}

fn cone(angle_deg: f64, radius: f64, center: [f64; 2]) -> Heap {
    let slope = angle_deg.to_radians().tan();
    fill(3, 0.02, 2.0 * radius, |p| {
        p[1] < slope * (radius - (p[0] - center[0]).hypot(p[2] - center[1]))
    })
}

#[test]
fn cone_has_its_angle_volume_and_radius() {
    for angle in [15.0_f64, 25.0, 30.0, 40.0] {
        let (radius, center) = (0.5, [0.07, -0.03]);
        let m = cone(angle, radius, center).measure();
        let height = radius * angle.to_radians().tan();
        let volume = PI * radius * radius * height / 3.0;
        close(m.slope_angle_deg.unwrap(), angle, 0.7);
        assert_eq!(m.slopes_deg.len(), 8);
        assert!(
            m.slope_spread_deg.unwrap() < 0.5,
            "{:?}",
            m.slope_spread_deg
        );
        close(m.volume_m3, volume, 0.03 * volume);
        close(m.mass_kg, DENSITY * volume, 0.02 * DENSITY * volume);
        close(m.height_m.unwrap(), height, 0.02);
        let axis = m.axis.unwrap();
        close(axis[0], center[0], 0.004);
        close(axis[1], center[1], 0.004);
        close(m.center_of_mass.unwrap()[1], height / 4.0, 0.01);
        // 99 % of a cone lies within 94.1 % of its radius: 3 q² − 2 q³ = 0.99.
        close(m.runout_m.unwrap(), 0.941 * radius, 0.02);
        let profile = m.height_profile.unwrap();
        assert_eq!(profile.against, "radius");
        for (r, h) in profile.distance.iter().zip(&profile.height).skip(1) {
            close(*h, (height * (1.0 - r / radius)).max(0.0), 0.02);
        }
    }
}

/// Independently placed grains are far less uniform than those of any solver.
#[test]
fn irregular_sampling_has_little_effect() {
    let slope = 30.0_f64.to_radians().tan();
    let mut heap = cone(30.0, 0.5, [0.0, 0.0]);
    let grains = heap.positions.len();
    let throw = |i: i64| [0, 1, 2].map(|axis| noise(i, 3, 5, axis));
    let thrown = (0..)
        .map(throw)
        .map(|[x, y, z]| [x - 0.5, slope * 0.5 * y, z - 0.5]);
    let inside = |p: &[f64; 3]| p[1] < slope * (0.5 - p[0].hypot(p[2]));
    heap.positions = thrown.filter(inside).take(grains).collect();
    let m = heap.measure();
    let volume = PI * slope * 0.125 / 3.0;
    close(m.volume_m3, volume, 0.04 * volume);
    close(m.slope_angle_deg.unwrap(), 30.0, 1.0);
    close(m.deposit_mass_kg, m.mass_kg, 0.01 * m.mass_kg);
}

#[test]
fn volume_is_that_of_space_not_of_mass() {
    let column = |spread: f64| {
        let mut heap = fill(3, 0.02, 0.5, |p| p[0].hypot(p[2]) < 0.3 && p[1] < 0.3);
        heap.positions
            .iter_mut()
            .flatten()
            .for_each(|x| *x *= spread);
        heap.measure()
    };
    let (tight, loose) = (column(1.0), column(1.04));
    close(tight.mass_kg, loose.mass_kg, 1e-6);
    close(loose.volume_m3 / tight.volume_m3, 1.04_f64.powi(3), 0.03);
}

#[test]
fn isolated_grains_have_no_effect() {
    let heap = cone(30.0, 0.4, [0.0, 0.0]);
    let calm = heap.measure();
    let mut stormy = Heap {
        positions: heap.positions.clone(),
        ..heap
    };
    for i in 0..200 {
        let at = |axis| 4.0 * noise(i, 7, 7, axis) - 2.0;
        stormy.positions.push([at(0), 0.5 + at(1).abs(), at(2)]);
    }
    // A few grains scattered over the floor, and one very far away.
    stormy
        .positions
        .extend((0..20).map(|i| [0.8 + 0.1 * f64::from(i), 0.001, 0.0]));
    stormy.positions.push([1e6, 3e5, -2e6]);
    let m = stormy.measure();
    assert_eq!(m.particles, calm.particles + 221);
    assert_eq!(m.height_m, calm.height_m);
    assert_eq!(m.slope_angle_deg, calm.slope_angle_deg);
    assert_eq!(m.runout_m, calm.runout_m);
    assert_eq!(m.extent_x, calm.extent_x);
    assert_eq!(m.volume_m3, calm.volume_m3);
    assert_eq!(m.height_map, calm.height_map);
    assert_ne!(
        m.bounds_max, calm.bounds_max,
        "bounds are those of all particles"
    );
    assert_ne!(m.center_of_mass, calm.center_of_mass);
}

#[test]
fn the_heavier_of_two_heaps_is_the_deposit() {
    let slope = 30.0_f64.to_radians().tan();
    let heap = |p: [f64; 3], x: f64, radius: f64| p[1] < slope * (radius - (p[0] - x).hypot(p[2]));
    let m = fill(3, 0.02, 1.2, |p| heap(p, -0.6, 0.3) || heap(p, 0.5, 0.4)).measure();
    close(m.axis.unwrap()[0], 0.5, 0.01);
    close(m.runout_m.unwrap(), 0.376, 0.02);
    close(m.slope_angle_deg.unwrap(), 30.0, 1.0);
    close(m.deposit_mass_kg / m.mass_kg, 64.0 / 91.0, 0.02);
}

#[test]
fn cylinder_and_box_have_no_slope() {
    let cylinder = fill(3, 0.02, 0.5, |p| p[0].hypot(p[2]) < 0.3 && p[1] < 0.4).measure();
    assert_eq!(cylinder.slope_angle_deg, None);
    assert!(cylinder.slopes_deg.is_empty());
    close(cylinder.volume_m3, PI * 0.09 * 0.4, 0.02 * PI * 0.09 * 0.4);
    close(cylinder.height_m.unwrap(), 0.4, 0.01);
    close(cylinder.runout_m.unwrap(), 0.3 * 0.99_f64.sqrt(), 0.01);
    let full_tank = fill(2, 0.02, 1.0, |p| p[0].abs() < 0.5 && p[1] < 0.4).measure();
    assert_eq!(full_tank.slope_angle_deg, None);
    close(full_tank.volume_m3, 0.4, 0.01);
}

#[test]
fn triangle_has_two_flanks() {
    for (left, right) in [(30.0_f64, 30.0), (20.0, 35.0)] {
        let height = 0.4;
        let slopes = [left, right].map(|a| a.to_radians().tan());
        let m = fill(2, 0.02, 1.5, |p| {
            p[1] < height + slopes[0] * p[0] && p[1] < height - slopes[1] * p[0]
        })
        .measure();
        assert_eq!(m.slopes_deg.len(), 2);
        close(m.slopes_deg[0], left, 1.0);
        close(m.slopes_deg[1], right, 1.0);
        close(m.slope_angle_deg.unwrap(), 0.5 * (left + right), 1.0);
        close(m.runout_m.unwrap(), height / slopes[0], 0.05);
        let area = 0.5 * height * (height / slopes[0] + height / slopes[1]);
        close(m.volume_m3, area, 0.03 * area);
        assert_eq!(m.height_profile.unwrap().against, "x");
        assert_eq!((m.height_map, m.extent_z), (None, None));
    }
}

#[test]
fn heap_against_a_wall_has_one_flank() {
    let slope = 25.0_f64.to_radians().tan();
    let m = fill(2, 0.02, 1.5, |p| p[0] > 0.0 && p[1] < 0.4 - slope * p[0]).measure();
    assert_eq!(m.slopes_deg.len(), 1);
    close(m.slope_angle_deg.unwrap(), 25.0, 1.0);
    assert_eq!(m.slope_spread_deg, None);
    let [left, right] = m.extent_x.unwrap();
    close(left, 0.0, 0.01);
    close(right, 0.4 / slope, 0.06);
    let plateau = fill(2, 0.02, 1.5, |p| {
        p[0] > 0.0 && p[1] < 0.3f64.min(0.5 - slope * p[0])
    })
    .measure();
    assert_eq!(plateau.slopes_deg.len(), 1, "{:?}", plateau.slopes_deg);
}

#[test]
fn half_a_cone_against_a_wall_measures_the_free_side_only() {
    let slope = 30.0_f64.to_radians().tan();
    let whole = fill(3, 0.02, 1.0, |p| p[1] < slope * (0.5 - p[0].hypot(p[2]))).measure();
    let walled = fill(3, 0.02, 1.0, |p| {
        let fallen = p[1] < slope * (0.5 - p[0].hypot(p[2]));
        fallen || (p[0] < -0.1 && p[0] > -0.6 && p[2].abs() < 0.5 && p[1] < 0.28)
    })
    .measure();
    assert_eq!(whole.slopes_deg.len(), 8);
    assert!(walled.slopes_deg.len() < 8, "{:?}", walled.slopes_deg);
}

/// A quarter of a cone with a flat top, as under a stream.
#[test]
fn hints_find_the_flank_of_a_quarter_with_a_flat_top() {
    let slope = 35.0_f64.to_radians().tan();
    let quarter = fill(3, 0.02, 1.0, |p| {
        let height = slope * (0.6 - p[0].hypot(p[2]).max(0.25));
        p[0] > 0.0 && p[2] > 0.0 && p[1] < height
    });
    let with = |axis, from| {
        let hints = Hints { axis, from };
        let m = measure_with(&quarter.frame(), &quarter.manifest, &hints).expect("a good frame");
        (m.slope_angle_deg.unwrap_or(90.0), m.slopes_deg.len())
    };
    let (angle, sectors) = with(Some([0.0; 2]), Some(0.3));
    close(angle, 35.0, 1.0);
    assert_eq!(sectors, 2);
    // Negative control: without either hint the slope differs.
    assert!(with(Some([0.0; 2]), None).0 < 32.0);
    assert!((with(None, Some(0.3)).0 - 35.0).abs() > 3.0);
}

#[test]
fn totals_are_exact_sums() {
    let frame = Frame {
        index: 5,
        time: 0.25,
        columns: vec![
            Column::vector3(
                "position",
                Unit::Meter,
                "",
                0.0,
                vec![1.0, 0.0, 0.0, -1.0, 2.0, 4.0],
            ),
            Column::vector3(
                "velocity",
                Unit::MeterPerSecond,
                "",
                0.0,
                vec![3.0, 4.0, 0.0, 0.0, 0.0, -1.0],
            ),
            Column::scalar("mass", Unit::Kilogram, "", 0.0, vec![1.0, 3.0]),
            Column::exact("material", Unit::One, "", 1, ColumnData::U8(vec![0, 1])),
        ],
        ..Frame::default()
    };
    let m = measure(&frame, &manifest(3, 0.1)).unwrap();
    assert_eq!(
        (m.frame, m.time_s, m.particles, m.mass_kg),
        (5, 0.25, 2, 4.0)
    );
    assert_eq!(m.momentum, [3.0, 4.0, -3.0]);
    assert_eq!(m.kinetic_energy_j, 0.5 * 25.0 + 0.5 * 3.0);
    assert_eq!(m.center_of_mass, Some([-0.5, 1.5, 3.0]));
    assert_eq!(m.bounds_min, Some([-1.0, 0.0, 0.0]));
    assert_eq!(m.bounds_max, Some([1.0, 2.0, 4.0]));
    assert_eq!(m.max_speed, 5.0);
    let masses: Vec<_> = m
        .materials
        .iter()
        .map(|m| (m.name.as_str(), m.mass_kg))
        .collect();
    assert_eq!(masses, [("sand", 1.0), ("rubber", 3.0)]);
}

#[test]
fn an_empty_frame_gives_nulls_and_no_nan() {
    for dimensions in [2, 3] {
        let empty = Heap {
            positions: Vec::new(),
            grain_mass: 1.0,
            manifest: manifest(dimensions, 0.1),
        };
        let one = Heap {
            positions: vec![[0.1, 0.2, 0.0]],
            grain_mass: 0.0,
            manifest: manifest(dimensions, 0.1),
        };
        for heap in [empty, one] {
            let m = heap.measure();
            assert_eq!(
                (m.slope_angle_deg, m.runout_m, m.center_of_mass),
                (None, None, None)
            );
            assert_eq!((m.mass_kg, m.max_speed, m.volume_m3), (0.0, 0.0, 0.0));
            let json = serde_json::to_value(&m).unwrap();
            assert!(json["slope_angle_deg"].is_null() && json["kinetic_energy_j"] == 0.0);
        }
    }
}

#[test]
fn invalid_frames_are_refused() {
    let heap = cone(30.0, 0.1, [0.0, 0.0]);
    let refuse = |change: &dyn Fn(&mut Frame, &mut Manifest)| {
        let (mut frame, mut manifest) = (heap.frame(), heap.manifest.clone());
        change(&mut frame, &mut manifest);
        measure(&frame, &manifest).unwrap_err()
    };
    let error = refuse(&|f, _| drop(f.columns.remove(2)));
    assert!(
        matches!(error, MeasureError::Column { column: "mass", .. }),
        "{error}"
    );
    let error = refuse(&|f, _| f.columns[0].components = 1);
    assert!(matches!(error, MeasureError::Column { .. }), "{error}");
    let error = refuse(&|f, _| {
        if let ColumnData::F32(v) = &mut f.columns[1].data {
            v[10] = f32::NAN;
        }
    });
    let expected = ("velocity", 3);
    assert!(
        matches!(error, MeasureError::Value { column, particle, .. } if (column, particle) == expected),
        "{error}"
    );
    let error = refuse(&|_, m| m.dx = 0.0);
    assert!(matches!(error, MeasureError::Manifest { .. }), "{error}");
    let error = refuse(&|_, m| m.materials.clear());
    assert!(matches!(error, MeasureError::Manifest { .. }), "{error}");
    let error = refuse(&|_, m| m.dimensions = 4);
    assert!(matches!(error, MeasureError::Manifest { .. }), "{error}");
}
