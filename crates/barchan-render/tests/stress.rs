//! Pictures in principal stress space.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use barchan_frame::{Column, ColumnData, Frame, Unit};
use barchan_post::YieldCone;
use barchan_post::stress::{StressState, invariants};
use barchan_render::color::{Scale, kind_color};
use barchan_render::stress::{Content, draw};
use barchan_render::{Picture, RenderOptions, Renderer, Space};
use barchan_scene::Dimensions;
use glam::Vec3;

const SIZE: [u32; 2] = [640, 360];
const REACH: [f64; 2] = [1000.0, 1000.0];

fn state(frame: u32, id: u64, principal: [f64; 3], slope: f64, d: Dimensions) -> StressState {
    let [trace, deviator] = invariants(principal, d);
    let cone = YieldCone {
        slope,
        cohesion: 0.0,
    };
    StressState {
        frame,
        time_s: 0.0,
        id,
        principal_stress: principal,
        pressure: -trace / d.count() as f64,
        deviator,
        hardening: Some(0.0),
        friction_angle_deg: Some(30.0),
        yield_deviator: Some(cone.radius(trace)),
        plastic_case: Some(0),
        cone: Some(cone),
    }
}

fn picture(cloud: &[StressState], chosen: &[Vec<StressState>], d: Dimensions) -> Picture {
    let content = Content {
        cloud,
        chosen,
        frame: 1,
        time: 0.25,
    };
    draw(&content, d, REACH, SIZE)
}

/// Mean position of the pixels with the hue of a color, to the left of the legend.
fn middle(picture: &Picture, color: [u8; 3]) -> Option<[f64; 2]> {
    let strongest = (0..3).max_by_key(|i| color[*i]).unwrap();
    let near = |p: [u8; 3]| {
        let others = (0..3).filter(|i| *i != strongest);
        others
            .into_iter()
            .all(|i| p[strongest] > p[i].saturating_add(30))
    };
    let (mut sum, mut count) = ([0.0; 2], 0.0);
    for y in 0..picture.height {
        for x in 0..picture.width * 7 / 10 {
            if near(picture.pixel(x, y)) {
                sum = [sum[0] + f64::from(x) + 0.5, sum[1] + f64::from(y) + 0.5];
                count += 1.0;
            }
        }
    }
    (count > 0.0).then(|| sum.map(|s| s / count))
}

fn green() -> [u8; 3] {
    Scale::plastic_case().color(0.0)
}

#[test]
fn known_stresses_are_plotted_at_their_positions() {
    // Equal stresses appear once, on the diagonal: the tip, and two more at known distances.
    let at = |v: f64| {
        let grain = state(1, 0, [v, v, 0.0], 0.35, Dimensions::Two);
        middle(&picture(&[grain], &[], Dimensions::Two), green()).unwrap()
    };
    let [a, b] = [at(-400.0), at(-800.0)];
    // One scale for both axes, more compression further left and further down.
    let step = a[0] - b[0];
    assert!(step > 50.0, "{a:?} {b:?}");
    assert!((b[1] - a[1] - step).abs() < 1.0, "{a:?} {b:?}");
    // The window goes from −1080 Pa to 1100 Pa (the requested tension), with 16 pixels of text around it: by hand,
    // the chart is as high as the picture less four and a half lines of 10 pixels.
    let pixels_a_pascal = step / 400.0;
    assert!((pixels_a_pascal * 2180.0 - 315.0).abs() < 3.0, "{step}");
    // Different stresses appear twice, as mirror images about the diagonal.
    let pair = state(1, 0, [-400.0, -800.0, 0.0], 0.35, Dimensions::Two);
    let both = middle(&picture(&[pair], &[], Dimensions::Two), green()).unwrap();
    assert!((both[0] - 0.5 * (a[0] + b[0])).abs() < 1.0, "{both:?}");
    assert!((both[1] - 0.5 * (a[1] + b[1])).abs() < 1.0, "{both:?}");
}

#[test]
fn in_3d_pressure_is_horizontal_and_deviator_vertical() {
    let at = |p: f64, dev: f64| {
        // (2, −1, −1)/√6 has length 1.
        let e = dev / 6f64.sqrt();
        let principal = [-p + 2.0 * e, -p - e, -p - e];
        let mut grain = state(1, 0, principal, 0.3, Dimensions::Three);
        assert!((grain.pressure - p).abs() < 1e-9 && (grain.deviator - dev).abs() < 1e-9);
        // No points in the deviatoric plane.
        grain.yield_deviator = Some(0.0);
        middle(&picture(&[grain], &[], Dimensions::Three), green()).unwrap()
    };
    let [a, b, c] = [at(300.0, 200.0), at(900.0, 200.0), at(300.0, 700.0)];
    assert!(
        b[0] - a[0] > 50.0 && (b[1] - a[1]).abs() < 1.0,
        "{a:?} {b:?}"
    );
    assert!(
        a[1] - c[1] > 50.0 && (c[0] - a[0]).abs() < 1.0,
        "{a:?} {c:?}"
    );
    let (right, up) = ((b[0] - a[0]) / 600.0, (a[1] - c[1]) / 500.0);
    // Windows of 1200 Pa and 1150 Pa.
    assert!((up * 1150.0 - 315.0).abs() < 3.0, "{up}");
    assert!(right * 1200.0 > 100.0 && right * 1200.0 < 320.0);
}

#[test]
fn cones_widen_with_their_slope() {
    let dark = |slope: f64| {
        let grain = state(1, 0, [0.0; 3], slope, Dimensions::Two);
        let picture = picture(&[grain], &[], Dimensions::Two);
        // From the lower left corner of the chart to the right, along a row half way down it.
        let row = 250;
        let first = (0..600).rev().find(|x| {
            let p = picture.pixel(*x, row);
            *x < 420 && p[0] < 90 && p[2] < 90
        });
        first.unwrap()
    };
    let (narrow, wide) = (dark(0.2), dark(0.4));
    assert!(wide > narrow + 10, "{narrow} {wide}");
}

#[test]
fn chosen_grains_have_their_colors_and_faint_earlier_cones() {
    let history = |id, slope: f64| -> Vec<StressState> {
        let of = |frame: u32| {
            let slope = slope * (1.0 + f64::from(frame));
            state(frame, id, [-500.0, -500.0, 0.0], slope, Dimensions::Two)
        };
        (0..3).map(of).collect()
    };
    let picture = picture(&[], &[history(4, 0.1), history(8, 0.2)], Dimensions::Two);
    for i in 0..2 {
        let own = kind_color(i);
        let near = |p: &&[u8]| p.iter().zip(own).all(|(a, b)| a.abs_diff(b) < 30);
        let seen = picture.rgb.chunks(3).filter(near).count();
        assert!(seen > 300, "{i}: {seen}");
    }
    assert!(middle(&picture, green()).is_none());
}

#[test]
fn empty_content_can_be_drawn() {
    let zero = state(1, 0, [0.0; 3], 0.3, Dimensions::Three);
    let mut elastic = zero.clone();
    (elastic.cone, elastic.yield_deviator) = (None, None);
    let mut broken = zero.clone();
    broken.principal_stress = [f64::NAN; 3];
    (broken.pressure, broken.deviator) = (f64::NAN, f64::INFINITY);
    let fluid = state(1, 0, [-5.0, -6.0, -7.0], 0.0, Dimensions::Three);
    for dimensions in [Dimensions::Two, Dimensions::Three] {
        for grain in [&zero, &elastic, &broken, &fluid] {
            for reach in [[0.0; 2], [1e300, 0.0], [f64::NAN; 2]] {
                for size in [[16, 16], [160, 90], [640, 360]] {
                    let content = Content {
                        cloud: std::slice::from_ref(grain),
                        chosen: &[vec![grain.clone()], Vec::new()],
                        frame: 1,
                        time: 0.0,
                    };
                    let picture = draw(&content, dimensions, reach, size);
                    assert_eq!([picture.width, picture.height], size);
                }
            }
        }
        assert!(middle(&picture(&[], &[], dimensions), green()).is_none());
        assert!(middle(&picture(&[elastic.clone()], &[], dimensions), green()).is_none());
    }
}

const SCENE: &str = include_str!("../../../scenes/tests/bed.toml");

fn frame(index: u32, with_stress: bool) -> Frame {
    let frame = common::frame(index, &[Vec3::ZERO, Vec3::new(0.1, 0.05, 0.0)]);
    let mut frame = common::with_ids(frame, vec![3, 9]);
    let case = ColumnData::U8(vec![0, 2]);
    frame
        .columns
        .push(Column::exact("plastic_case", Unit::One, "", 1, case));
    if with_stress {
        let stress = vec![-100.0, -300.0, -120.0, -50.0, -60.0, -33.0];
        let column = Column::vector3("principal_stress", Unit::Pascal, "", 0.0, stress);
        frame.columns.push(column);
    }
    frame
}

fn options(grains: Vec<u64>) -> RenderOptions {
    RenderOptions {
        size: [320, 180],
        space: Space::Stress,
        grains,
        ..RenderOptions::default()
    }
}

#[test]
fn a_result_is_drawn_frame_by_frame() {
    let manifest = barchan_frame::Manifest {
        dimensions: 2,
        ..common::manifest()
    };
    let (_root, directory) = common::result_of(SCENE, &manifest);
    directory.write_frame(&frame(0, true)).unwrap();
    directory.write_frame(&frame(1, true)).unwrap();
    let path = directory.path().to_owned();
    let open = || barchan_frame::ResultDirectory::open(&path).unwrap();
    let all = Renderer::open(directory, options(Vec::new())).unwrap();
    let cloud = all.draw(1).unwrap();
    assert!(middle(&cloud, green()).is_some());
    let one = Renderer::open(open(), options(vec![9])).unwrap();
    assert!(middle(&one.draw(1).unwrap(), kind_color(0)).is_some());
    let none = Renderer::open(open(), options(vec![4]));
    assert!(none.is_err_and(|e| e.to_string().contains("id 4")));
    // In the scene the same grain is enlarged and has the same color.
    let mut scene = options(vec![9]);
    scene.space = Space::Scene;
    let seen = Renderer::open(open(), scene).unwrap().draw(1).unwrap();
    assert!(middle(&seen, kind_color(0)).is_some());
}

#[test]
fn a_result_without_stresses_is_refused_with_the_key_to_set() {
    let (_root, directory) = common::result(SCENE);
    directory.write_frame(&frame(0, false)).unwrap();
    let error = Renderer::open(directory, options(Vec::new()))
        .err()
        .unwrap();
    assert!(error.to_string().contains("[output]"), "{error}");
}
