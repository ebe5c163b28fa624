//! Camera, looks and colors: values for the renderer, and errors.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use barchan_scene::*;
use common::breaking::SCENE;
use common::*;
use glam::{Vec3, vec3};

const AUTOMATIC: View = View {
    position: vec3(0.0, 1.0, 4.0),
    target: vec3(0.0, 1.0, 0.0),
    fov: 30.0,
};

fn camera(toml: &str) -> Camera {
    good(&format!("{SCENE}[camera]\n{toml}\n")).camera.unwrap()
}

/// Expects one error with that message and mark.
#[track_caller]
fn refuse_camera(toml: &str, message: &str, marked: &str) {
    let errors = bad(&format!("{SCENE}[camera]\n{toml}\n"));
    let shown = show(&errors);
    assert_eq!(errors.errors().len(), 1, "{shown}");
    let error = &errors.errors()[0];
    assert!(error.message().contains(message), "{shown}");
    assert_eq!(error.marked(), Some(marked), "{shown}");
    assert!(!error.help_text().is_empty());
}

#[test]
fn looks_and_colors_are_optional() {
    let scene = good(SCENE);
    assert_eq!(scene.camera, None);
    assert_eq!(scene.colliders[0].look, None);
    assert_eq!(scene.colliders[0].color, None);
    let sand = material_presets().iter().find(|p| p.name == "dry sand");
    assert_eq!(scene.materials[0].color, sand.unwrap().material.color);
}

/// Resolving adds no defaults of camera, looks and colors to the text of a scene, on which the digest of its result depends.
#[test]
fn resolving_adds_no_optional_keys() {
    let block = include_str!("../../../scenes/golden/block.toml");
    for text in [block, SCENE] {
        let named = format!("name = \"plain\"\n{text}");
        assert_eq!(good(&named).document, named);
    }
}

#[test]
fn camera_has_the_pose_of_the_scene() {
    let fixed = camera("position = [1, 2, 3]\ntarget = [0, 0.5, 0]\nfov = 45");
    let view = fixed.at(7.0, AUTOMATIC);
    assert_eq!(view.position, vec3(1.0, 2.0, 3.0));
    assert_eq!((view.target, view.fov), (vec3(0.0, 0.5, 0.0), 45.0));
    // Only some keys: the rest is automatic.
    assert_eq!(camera("").at(1.0, AUTOMATIC), AUTOMATIC);
    assert_eq!(camera("fov = 60").at(1.0, AUTOMATIC).fov, 60.0);
    assert_eq!(camera("fov = 60").fov_at(0.0), Some(60.0));
    let turned = camera("orbit = 90").at(1.0, AUTOMATIC);
    assert!((turned.position - vec3(4.0, 1.0, 0.0)).length() < 1e-5);
    assert_eq!(
        camera("position = [9, 1, 0]").at(0.0, AUTOMATIC).target,
        Vec3::Y
    );
    // Straight down is allowed.
    camera("position = [0, 5, 0]\ntarget = [0, 0, 0]");
}

#[test]
fn keyframes_inherit_omitted_keys() {
    let keys = "keyframes = [{ time = 0, position = [3, 0, 0] }, { time = 2, position = [0, 0, 3], target = [0, 1, 0], fov = 40 }, { time = 3, position = [0, 0, 5] }]";
    let smooth = camera(keys);
    let view = smooth.at(1.0, AUTOMATIC);
    assert!((view.position - vec3(1.5, 0.0, 1.5)).length() < 1e-6);
    // The first keyframe takes the first given value, the last one that of its predecessor.
    for time in [0.0, 1.0, 2.5, 9.0] {
        let view = smooth.at(time, AUTOMATIC);
        assert_eq!((view.target, view.fov), (Vec3::Y, 40.0));
    }
    let quarter = |c: &Camera| c.at(0.5, AUTOMATIC).position.x;
    let linear = camera(&format!("{keys}\ninterpolation = \"linear\""));
    assert!((quarter(&linear) - 2.25).abs() < 1e-6);
    // 3s² − 2s³ at s = 1/4.
    assert!((quarter(&smooth) - 3.0 * (1.0 - 10.0 / 64.0)).abs() < 1e-6);
    // Keyframes may have only an angle; the rest is that of the camera.
    let half = "position = [0, 0, 2]\ntarget = [0, 0, 0]\nkeyframes = [{ time = 0, angle = 0 }, { time = 1, angle = 90 }]";
    let view = camera(half).at(5.0, AUTOMATIC);
    assert!(
        (view.position - vec3(2.0, 0.0, 0.0)).length() < 1e-5,
        "{view:?}"
    );
    // The orbit is added.
    let turning = camera(&format!("{keys}\norbit = 180"));
    let view = turning.at(1.0, AUTOMATIC);
    assert!((view.position - vec3(-1.5, 0.0, -1.5)).length() < 1e-5);
}

#[test]
fn invalid_cameras_are_refused() {
    refuse_camera(
        "position = [1, 0, 0]\ntarget = [1, 0, 0]",
        "own target",
        "[1, 0, 0]",
    );
    refuse_camera("fov = 1", "must be above 1", "1");
    refuse_camera("fov = 170", "below 170", "170");
    refuse_camera("fow = 30", "unknown key `fow` in `camera`", "fow");
    refuse_camera(
        "interpolation = \"linear\"",
        "without keyframes",
        "interpolation",
    );
    refuse_camera(
        "interpolation = \"step\"\nkeyframes = [{ time = 0, position = [1, 1, 1] }]",
        "cannot be \"step\"",
        "\"step\"",
    );
    refuse_camera("keyframes = []", "no keyframes", "[]");
    refuse_camera(
        "fov = 40\nkeyframes = [{ time = 0, fov = 30 }]",
        "where a keyframe has it",
        "fov",
    );
    refuse_camera(
        "keyframes = [{ time = 1, position = [1, 1, 1] }, { time = 1, position = [2, 1, 1] }]",
        "out of order",
        "{ time = 1, position = [2, 1, 1] }",
    );
    refuse_camera(
        "keyframes = [{ time = 0, position = [1, 1, 1], target = [0, 0, 0] }, { time = 1, position = [0, 0, 0] }]",
        "own target",
        "{ time = 1, position = [0, 0, 0] }",
    );
    refuse_camera(
        "keyframes = [{ angle = 3 }]",
        "`camera.keyframes.0.time` is missing",
        "{ angle = 3 }",
    );
}

#[test]
fn looks_and_colors_come_from_the_file() {
    let scene = good(COMPLETE);
    let find = |name: &str| scene.colliders.iter().find(|c| c.name == name).unwrap();
    assert_eq!(find("bowl").look, Some(Look::Glass));
    assert_eq!(find("floor").color, Some([120, 120, 124]));
    for (word, look) in [
        ("solid", Look::Solid),
        ("cutaway", Look::Cutaway),
        ("hidden", Look::Hidden),
    ] {
        let text = SCENE.replace(
            "name = \"floor\"",
            &format!("name = \"floor\"\nlook = \"{word}\""),
        );
        assert_eq!(good(&text).colliders[0].look, Some(look));
    }
    let mix = &scene.materials[0].color;
    assert_eq!(
        mix.parts(),
        &[([225, 169, 95], 0.75), ([107, 84, 30], 0.25)]
    );
    assert_eq!(scene.materials[2].color, ColorMix::plain([200, 40, 40]));
}

#[test]
fn invalid_looks_and_colors_are_refused() {
    use common::breaking::refuse;
    let floor = "name = \"floor\"";
    refuse(
        floor,
        "name = \"floor\"\nlook = \"glas\"",
        "cannot be \"glas\"",
        "\"glas\"",
    );
    let sand = "density = 1600";
    for (color, message) in [
        ("[1, 2]", "is not a color"),
        ("[1, 2, 256]", "is not a color"),
        ("[0.5, 0.5, 0.5]", "is not a color"),
        ("\"red\"", "is not a color"),
        ("[]", "is not a color"),
    ] {
        refuse(floor, &format!("{floor}\ncolor = {color}"), message, color);
        refuse(sand, &format!("{sand}\ncolor = {color}"), message, color);
    }
    let mix = |part: &str| format!("{sand}\ncolor = [{{ color = [1, 2, 3], part = {part} }}]");
    refuse(sand, &mix("0"), "must be above 0", "0");
    refuse(sand, &mix("-1"), "must be above 0", "-1");
    let without = format!("{sand}\ncolor = [{{ color = [1, 2, 3] }}]");
    refuse(sand, &without, "part` is missing", "{ color = [1, 2, 3] }");
}

#[test]
fn presets_have_their_colors() {
    let color = |name: &str| {
        let preset = material_presets().iter().find(|p| p.name == name);
        preset.unwrap().material.color.clone()
    };
    let dry = color("dry sand");
    assert_eq!(dry.parts()[0], ([225, 169, 95], 0.85));
    assert_eq!(dry.parts().len(), 3);
    for name in ["loose sand", "dense sand", "klar sand"] {
        assert_eq!(color(name), dry);
    }
    let (wet, light) = (color("wet sand").mean(), dry.mean());
    assert!(wet.iter().zip(light).all(|(w, d)| *w < d));
    let elastic = ["rubber", "soft rubber", "jelly", "foam"].map(color);
    for (i, mix) in elastic.iter().enumerate() {
        assert_eq!(mix.parts().len(), 1);
        assert!(!elastic[..i].contains(mix));
    }
    // Without a preset, the color depends on the law.
    let scene = good(&COMPLETE.replace("color = [200, 40, 40]\n", ""));
    assert_eq!(scene.materials[1].color, dry);
    assert_eq!(scene.materials[2].color.parts().len(), 1);
}

#[test]
fn overrides_apply_to_cameras_looks_and_colors() {
    let text = SCENE.replace("name = \"floor\"", "name = \"glass\"");
    let settings = [
        "camera.fov=40",
        "camera.position=[1, 2, 3]",
        "collider.glass.look=hidden",
        "collider.glass.color=[1, 2, 3]",
        "materials.sand.color=[9, 8, 7]",
    ];
    let scene = load_with(&text, &settings).unwrap_or_else(|e| panic!("{}", show(&e)));
    let view = scene.camera.as_ref().unwrap().at(0.0, AUTOMATIC);
    assert_eq!((view.position, view.fov), (vec3(1.0, 2.0, 3.0), 40.0));
    assert_eq!(scene.colliders[0].look, Some(Look::Hidden));
    assert_eq!(scene.colliders[0].color, Some([1, 2, 3]));
    assert_eq!(scene.materials[0].color, ColorMix::plain([9, 8, 7]));
    let again = good(&scene.document);
    assert_eq!(again.camera, scene.camera);
    // Overrides of existing keys.
    let deeper = [
        "camera.keyframes.1.fov=50",
        "materials.sand.color.0.part=1",
        "materials.ball.color.1=41",
    ];
    let scene = load_with(COMPLETE, &deeper).unwrap_or_else(|e| panic!("{}", show(&e)));
    assert_eq!(scene.camera.unwrap().fov_at(9.0), Some(50.0));
    assert_eq!(scene.materials[0].color.parts()[0].1, 0.5);
    assert_eq!(scene.materials[2].color, ColorMix::plain([200, 41, 40]));
    let errors = load_with(&text, &["camera.fow=40"]).unwrap_err();
    assert!(
        show(&errors).contains("did you mean `fov`"),
        "{}",
        show(&errors)
    );
}

#[test]
fn schema_knows_camera_look_and_color() {
    let schema = schema();
    let camera = &schema["properties"]["camera"]["properties"];
    assert_eq!(camera["fov"]["default"], 30);
    assert_eq!(camera["fov"]["exclusiveMaximum"], 170.0);
    let collider = &schema["properties"]["collider"]["items"]["properties"];
    assert_eq!(collider["look"]["enum"][1], "glass");
    assert_eq!(collider["color"]["items"]["maximum"], 255.0);
    let material = &schema["properties"]["materials"]["additionalProperties"]["properties"];
    assert_eq!(material["color"]["oneOf"].as_array().unwrap().len(), 2);
}

#[test]
fn a_scene_without_its_meshes_can_be_rendered() {
    let text = format!(
        "{SCENE}[[collider]]\nshape = {{ mesh = {{ file = \"lost.obj\" }} }}\n\
         [[collider]]\nshape = {{ union = [{{ sphere = {{ center = [1, 1, 1], radius = 0.1 }} }}, {{ mesh = {{ file = \"broken.obj\" }} }}] }}\n\
         [[collider]]\nshape = {{ mesh = {{ file = \"tetrahedron.obj\" }} }}\n\
         [[fill]]\nshape = {{ mesh = {{ file = \"lost.obj\" }} }}\nmaterial = \"sand\"\n"
    )
    .replace("center = [0, 0.5, 0]", "center = [0, -1, 0]");
    // The fill lies in the floor and three meshes are lost.
    assert!(bad(&text).errors().len() >= 3);
    let overrides = Overrides::default();
    let (scene, warnings) = load_for_viewing(&source(&text), &overrides).unwrap();
    let names: Vec<&str> = scene.colliders.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["floor", "collider 3"]);
    assert_eq!(scene.fills.len(), 1);
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    assert!(warnings[0].contains("lost.obj"));
    // Other errors remain errors.
    let wrong = text.replace("friction_angle = 35", "friction_angel = 35");
    assert!(load_for_viewing(&source(&wrong), &overrides).is_err());
    let whole = load_for_viewing(&source(SCENE), &overrides).unwrap();
    assert!(whole.1.is_empty());
}
