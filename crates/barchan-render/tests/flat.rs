//! 2D pictures: positions of grains, bodies and axes.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use barchan_render::Picture;
use barchan_render::color::{ColorMap, Range, Scale};
use barchan_render::flat::{FlatGrains, FlatOptions, draw};
use barchan_scene::{Geometry, Pose};
use glam::{Quat, Vec3};

const RED: [u8; 3] = [220, 30, 30];

fn bare(width: u32, height: u32) -> FlatOptions {
    FlatOptions {
        width,
        height,
        axes: false,
        ..FlatOptions::default()
    }
}

fn none() -> FlatGrains<'static> {
    FlatGrains {
        position: &[],
        radius: &[],
        color: &[],
    }
}

#[test]
fn grains_cover_their_area_at_their_place() {
    let grains = FlatGrains {
        position: &[[0.25, 0.75, 9.0]],
        radius: &[0.1],
        color: &[RED],
    };
    let picture = draw(&grains, &[], [0.0, 0.0, 1.0, 1.0], &bare(400, 400));
    assert_eq!(picture.pixel(100, 100), RED);
    assert_eq!(picture.pixel(100, 300), [255; 3]);
    let covered: f64 = picture
        .rgb
        .chunks(3)
        .map(|p| f64::from(255 - p[1]) / 225.0)
        .sum();
    let expected = std::f64::consts::PI * 1600.0;
    assert!(
        (covered / expected - 1.0).abs() < 0.01,
        "{covered} of {expected}"
    );
}

#[test]
fn the_smallest_grains_are_visible() {
    let grains = FlatGrains {
        position: &[[0.5, 0.5, 0.0]],
        radius: &[1e-6],
        color: &[[0; 3]],
    };
    let picture = draw(&grains, &[], [0.0, 0.0, 1.0, 1.0], &bare(101, 101));
    assert!(picture.pixel(50, 50)[0] < 60);
}

#[test]
fn bodies_are_gray_with_a_darker_edge_and_follow_their_pose() {
    let bar = Geometry::cuboid(Vec3::new(-0.4, -0.05, -1.0), Vec3::new(0.4, 0.05, 1.0));
    let pose = Pose {
        position: Vec3::new(0.5, 0.5, 0.0),
        rotation: Quat::from_rotation_z(std::f32::consts::FRAC_PI_2),
    };
    let window = [0.0, 0.0, 1.0, 1.0];
    let picture = draw(&none(), &[(bar.clone(), pose)], window, &bare(500, 500));
    let dark = |x, y| picture.pixel(x, y)[0];
    assert!(dark(250, 100) < 210 && dark(250, 100) > 180);
    assert_eq!(dark(100, 250), 255);
    let edge = (270..280).map(|x| dark(x, 250)).min().unwrap();
    assert!(edge < 120, "{edge}");
    // Negative control: without the rotation it would lie across.
    let flat = Pose {
        rotation: Quat::IDENTITY,
        ..pose
    };
    let other = draw(&none(), &[(bar, flat)], window, &bare(500, 500));
    assert!(other.pixel(100, 250)[0] < 210);
    assert_eq!(other.pixel(250, 100)[0], 255);
}

#[test]
fn blocks_far_from_an_edge_are_drawn_as_pixel_by_pixel() {
    let ring = Geometry::difference(
        Geometry::sphere(Vec3::ZERO, 0.45),
        vec![Geometry::sphere(Vec3::new(0.1, 0.0, 0.0), 0.2)],
    );
    let pose = Pose::IDENTITY;
    let picture = draw(
        &none(),
        &[(ring.clone(), pose)],
        [-0.5, -0.5, 0.5, 0.5],
        &bare(256, 256),
    );
    for y in 0..256 {
        for x in 0..256 {
            let at = |v: u32| (v as f32 + 0.5) / 256.0 - 0.5;
            let d = 256.0 * ring.distance(Vec3::new(at(x), -at(y), 0.0));
            let shade = picture.pixel(x, y)[0];
            if d > 1.0 {
                assert_eq!(shade, 255, "{x} {y} {d}");
            } else if d < -3.0 {
                assert_eq!(shade, 196, "{x} {y} {d}");
            }
        }
    }
}

#[test]
fn scales_are_equal_on_both_axes_and_axes_surround_the_window() {
    let grains = FlatGrains {
        position: &[[1.0, 0.5, 0.0]],
        radius: &[0.4],
        color: &[RED],
    };
    let options = FlatOptions {
        time: Some(1.25),
        ..FlatOptions::default()
    };
    let picture = draw(&grains, &[], [0.0, 0.0, 2.0, 1.0], &options);
    let red = |x: u32, y: u32| picture.pixel(x, y) == RED;
    let columns = (0..1280).filter(|x| (0..720).any(|y| red(*x, y))).count();
    let rows = (0..720).filter(|y| (0..1280).any(|x| red(x, *y))).count();
    assert!(
        columns.abs_diff(rows) <= 1 && columns > 300,
        "{columns} {rows}"
    );
    let ink = |area: [u32; 4]| {
        let [x0, y0, x1, y1] = area;
        let dark = |x, y| picture.pixel(x, y)[0] < 128;
        (y0..y1)
            .map(|y| (x0..x1).filter(|x| dark(*x, y)).count())
            .sum::<usize>()
    };
    // Numbers and labels to the left and below, the time above.
    assert!(ink([0, 60, 95, 640]) > 200);
    assert!(ink([100, 638, 1280, 720]) > 200);
    assert!(ink([80, 20, 400, 54]) > 100);
}

#[test]
fn a_hundred_thousand_grains_are_the_same_with_any_number_of_threads() {
    let n = 100_000;
    let mut state = 1u32;
    let mut chance = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 16_777_216.0
    };
    let position: Vec<[f32; 3]> = (0..n).map(|_| [2.0 * chance(), chance(), 0.0]).collect();
    let radius = vec![0.003; n];
    let color: Vec<[u8; 3]> = (0..n).map(|i| [(i % 251) as u8, 120, 60]).collect();
    let grains = FlatGrains {
        position: &position,
        radius: &radius,
        color: &color,
    };
    let floor = Geometry::half_space(Vec3::new(0.0, 0.1, 0.0), Vec3::Y);
    let options = FlatOptions {
        legend: Some(Scale::Continuous {
            label: "speed [m/s]".into(),
            range: Range {
                low: 0.0,
                high: 1.0,
            },
            map: ColorMap::Viridis,
        }),
        ..FlatOptions::default()
    };
    let picture = |threads| -> Picture {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let bodies = [(floor.clone(), Pose::IDENTITY)];
        pool.install(|| draw(&grains, &bodies, [0.0, 0.0, 2.0, 1.0], &options))
    };
    let begin = std::time::Instant::now();
    let one = picture(1);
    let wall = begin.elapsed().as_secs_f64();
    assert!(one == picture(3));
    assert!(wall < 5.0, "{wall} s");
}

#[test]
fn invalid_input_gives_a_picture() {
    let grains = FlatGrains {
        position: &[[f32::NAN, 0.0, 0.0], [1e30, 0.5, 0.0], [0.5, 0.5, 0.0]],
        radius: &[0.1, f32::INFINITY],
        color: &[RED; 3],
    };
    for window in [
        [0.0, 0.0, 1.0, 1.0],
        [1.0, 0.0, 0.0, 1.0],
        [f32::NAN; 4],
        [0.0; 4],
    ] {
        for [width, height] in [[320, 180], [1, 1], [0, 0], [30, 400]] {
            let options = FlatOptions {
                width,
                height,
                time: Some(f64::NAN),
                legend: Some(Scale::plastic_case()),
                ..FlatOptions::default()
            };
            let picture = draw(&grains, &[], window, &options);
            assert_eq!([picture.width, picture.height], [width, height]);
        }
    }
}
