//! `[terrain]`: heights and errors.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use barchan_scene::{Overrides, SceneSource, TerrainSpec, load, load_for_viewing};
use common::breaking::refuse_each;
use common::*;

fn site(extra: &str) -> TerrainSpec {
    good(&format!("{SITE}{extra}")).terrain.unwrap()
}

#[test]
fn terrain_alone_is_a_scene_with_usual_values() {
    let flat = site("");
    assert_eq!((flat.cell, flat.columns), (0.1, [80, 40]));
    assert!((flat.origin[0] + 3.0).abs() < 1e-9 && (flat.origin[1] + 3.0).abs() < 1e-9);
    assert!(flat.heights.iter().all(|h| *h == 0.0));
    assert_eq!((flat.floor, flat.angle_of_repose), (-1.0, 35.0));
    assert!((flat.volume() - 32.0).abs() < 1e-6);
    let coarse = site("cell = 0.3\nheight = 2\nangle_of_repose = 60\n");
    assert_eq!(coarse.columns, [27, 13]);
    assert_eq!((coarse.floor, coarse.angle_of_repose), (1.0, 60.0));
}

#[test]
fn rows_are_spread_over_the_site_and_mounds_are_added() {
    let slope = site("heights = [[0, 8], [0, 8]]\ncell = 0.5\n");
    for (i, h) in slope.heights[..16].iter().enumerate() {
        assert!((h - (i as f32 + 0.5) * 0.5).abs() < 1e-5, "{i}: {h}");
    }
    assert!((slope.floor - (0.25 - 1.0)).abs() < 1e-6);
    let heap = site(
        "mounds = [{ center = [1, -1], height = 1, radius = 1 }, { center = [-2, -1], height = -0.5, radius = 1 }]\n",
    );
    let highest = heap.heights.iter().copied().fold(0.0, f32::max);
    let lowest = heap.heights.iter().copied().fold(0.0, f32::min);
    assert!((0.9..1.0).contains(&highest) && (-0.5..-0.4).contains(&lowest));
    assert!((heap.floor - f64::from(lowest - 1.0)).abs() < 1e-6);
}

#[test]
fn a_picture_gives_heights_with_all_its_bits() {
    let folder = tempfile::tempdir().unwrap();
    let ramp = |i: u16| ((i % 4) * 20_000 + (i / 4) * 100).to_be_bytes();
    let pixels: Vec<u8> = (0..12).flat_map(ramp).collect();
    let file = std::fs::File::create(folder.path().join("site.png")).unwrap();
    let mut encoder = png::Encoder::new(file, 4, 3);
    encoder.set_depth(png::BitDepth::Sixteen);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&pixels).unwrap();
    writer.finish().unwrap();
    let text = SITE.replace("size = [8, 4]", "size = [4, 3]\ncell = 1");
    let text = format!("{text}image = {{ file = \"site.png\", low = -1, high = 2 }}\n");
    let source = SceneSource {
        directory: folder.path().to_owned(),
        ..source(&text)
    };
    let scene = load(&source, &Overrides::default()).unwrap();
    let terrain = scene.terrain.unwrap();
    // The center of column 1 is 1.5 m from the rim: 1.125 of the three intervals between four points.
    let gray = 1.125 * 20_000.0 + 1.0 * 100.0;
    let expected = -1.0 + 3.0 * gray / 65_535.0;
    assert!(
        (terrain.heights[5] - expected).abs() < 1e-4,
        "{} {expected}",
        terrain.heights[5]
    );
    assert_eq!(scene.meshes[0].file, "site.png");
    std::fs::write(folder.path().join("site.png"), b"no picture").unwrap();
    let errors = load(&source, &Overrides::default()).unwrap_err();
    assert!(show(&errors).contains("cannot use the picture `site.png`"));
    let (viewed, warnings) = load_for_viewing(&source, &Overrides::default()).unwrap();
    assert!(viewed.terrain.is_none() && warnings.len() == 1);
}

#[test]
fn errors_are_marked() {
    #[rustfmt::skip]
    let changes = [
        ["size = [8, 4]", "size = [8, -4]", "above 0", "[8, -4]"],
        ["size = [8, 4]", "size = [8, 0.1]", "no room for two columns", "[8, 0.1]"],
        ["depth = 1", "cell = 0.0005", "more than", "0.0005"],
        ["depth = 1", "depth = 0", "at least", "0"],
        ["center = [1, -1]", "center = [1e7, 0]", "farther", "[1e7, 0]"],
        ["\"dry sand\"", "\"rubber\"", "no friction angle", "\"rubber\""],
        ["depth = 1", "heights = [[1, 2], [3]]", "row 1", "[[1, 2], [3]]"],
        ["depth = 1", "heights = []", "is empty", "[]"],
        ["depth = 1", "heights = [1, 2]", "rows of numbers", "[1, 2]"],
        ["depth = 1", "heights = [[nan]]", "not finite", "[[nan]]"],
        ["depth = 1", "heights = [[1e9]]", "beyond", "[[1e9]]"],
        ["depth = 1", "heights = [[1]]\nheight = 1", "`height` has no effect", "height"],
        ["depth = 1", "image = { file = \"none.png\", high = 1 }", "none.png", "\"none.png\""],
        ["depth = 1", "angle_of_repose = 90", "at most 89", "90"],
        ["depth = 1", "dept = 1", "unknown key `dept`", "dept"],
    ];
    refuse_each(SITE, &changes);
    let flat = bad(&format!("dimensions = 2\n{SITE}"));
    assert!(show(&flat).contains("a 2D scene has no terrain"));
}

#[test]
fn overrides_apply_to_it() {
    let scene = load_with(SITE, &["terrain.cell=0.2", "terrain.angle_of_repose=20"]).unwrap();
    let terrain = scene.terrain.unwrap();
    assert_eq!((terrain.cell, terrain.angle_of_repose), (0.2, 20.0));
}
