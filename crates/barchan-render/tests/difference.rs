//! The metric with which tests compare pictures.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "common/difference.rs"]
mod measure;

use barchan_render::Picture;
use barchan_render::canvas::blend;
use measure::{difference, lab};

#[test]
fn known_colors_have_their_coordinates() {
    let near = |rgb: [f32; 3], expected: [f32; 3]| {
        let found = lab(rgb);
        assert!(
            (0..3).all(|c| (found[c] - expected[c]).abs() < 0.1),
            "{found:?}"
        );
    };
    near([1.0; 3], [100.0, 0.0, 0.0]);
    near([0.0; 3], [0.0, 0.0, 0.0]);
    near([1.0, 0.0, 0.0], [53.24, 80.09, 67.2]);
    near([0.0, 0.0, 1.0], [32.3, 79.19, -107.86]);
}

#[test]
fn equal_pictures_have_no_difference_and_a_change_of_hue_is_detected() {
    let a = Picture::filled(40, 30, [180, 140, 80]);
    assert_eq!(difference(&a, &a).map(|d| d.max), Some(0.0));
    let hue = Picture::filled(40, 30, [180, 140, 110]);
    assert!(difference(&a, &hue).unwrap().mean > 10.0);
    let hardly = Picture::filled(40, 30, [181, 140, 80]);
    assert!(difference(&a, &hardly).unwrap().mean < 1.0);
}

#[test]
fn fine_noise_is_ignored_and_a_spot_is_detected() {
    let a = Picture::filled(100, 100, [128; 3]);
    let mut noisy = a.clone();
    for (i, v) in noisy.rgb.iter_mut().enumerate() {
        let checker = (i / 3 + i / 300) % 2 == 0;
        *v = if checker { 140 } else { 116 };
    }
    let noise = difference(&a, &noisy).unwrap();
    assert!(noise.p99 < 2.0, "{noise:?}");
    let mut spot = a.clone();
    (0..15).for_each(|y| (0..15).for_each(|x| blend(&mut spot, 40 + x, 40 + y, [140; 3], 1.0)));
    let spot = difference(&a, &spot).unwrap();
    assert!(spot.p99 > 4.0 && spot.mean < 0.5, "{spot:?}");
}

#[test]
fn pictures_of_other_sizes_cannot_be_compared() {
    let a = Picture::filled(4, 3, [0; 3]);
    assert_eq!(difference(&a, &Picture::filled(3, 4, [0; 3])), None);
    let empty = Picture::filled(0, 0, [0; 3]);
    assert_eq!(difference(&empty, &empty), None);
}
