//! Invalid scenes: each rule with its message and place, and many errors at once.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use barchan_scene::{Overrides, SceneSource, load};
use common::breaking::*;
use common::*;

#[test]
fn the_scene_to_be_broken_is_valid() {
    good(SCENE);
}

#[test]
fn unknown_keys() {
    #[rustfmt::skip]
    let changes = [
        ["resolution = 0.02", "resolution = 0.02\nmpm.kernal = \"cubic\"", "unknown key `kernal` in `solver.mpm`", "kernal"],
        ["density", "densty", "unknown key `densty` in `materials.sand`", "densty"],
        ["frames = 10", "framse = 10", "unknown key `framse` at the top level", "framse"],
        ["radius = 0.2", "radius = 0.2, color = 1", "in `fill.0.shape.sphere`", "color"],
    ];
    refuse_each(SCENE, &changes);
    let errors = bad(&SCENE.replace("density", "densty"));
    assert_eq!(errors.errors()[0].help_text(), "did you mean `density`?");
}

#[test]
fn wrong_types() {
    #[rustfmt::skip]
    let changes = [
        ["frames = 10", "frames = 10.5", "must be a whole number, not a number", "10.5"],
        ["density = 1600", "density = \"heavy\"", "must be a number, not text", "\"heavy\""],
        ["gravity = [0, -9.81, 0]", "gravity = 9.81", "must be three numbers", "9.81"],
        ["gravity = [0, -9.81, 0]", "gravity = [0, -9.81]", "must be three numbers", "[0, -9.81]"],
        ["name = \"ball\"", "name = 4", "must be text", "4"],
        ["max_speed = 1", "max_speed = true", "must be a number", "true"],
        ["max_speed = 1", "max_speed = 1979-05-27", "not a date", "1979-05-27"],
        ["shape = { sphere = { center = [0, 0.5, 0], radius = 0.2 } }", "shape = \"ball\"", "must be a table", "\"ball\""],
        ["friction_angle = 35", "mpm.volume_correction = 1", "must be true or false", "1"],
        ["resolution = 0.02", "resolution = 0.02\nmpm.kernel = 2", "must be \"quadratic\" or \"cubic\"", "2"],
        ["frames = 10", "frames = 99999999999999999999", "too large", "99999999999999999999"],
        ["friction_angle = 35", "hardening = [35, 9]", "a list of 4 numbers", "[35, 9]"],
    ];
    refuse_each(SCENE, &changes);
    expect(
        "fill = 3\n[solver]\nresolution = 0.1\n",
        "3",
        "3",
        "must be a list of tables",
        "3",
    );
}

#[test]
fn numbers_out_of_range() {
    #[rustfmt::skip]
    let changes = [
        ["resolution = 0.02", "resolution = 0", "`solver.resolution` is 0", "0"],
        ["resolution = 0.02", "resolution = -1", "`solver.resolution` is -1", "-1"],
        ["density = 1600", "density = 0", "must be above 0", "0"],
        ["density = 1600", "density = -5.5", "must be above 0", "-5.5"],
        ["density = 1600", "density = nan", "must be above 0", "nan"],
        ["density = 1600", "density = inf", "at most 1000000", "inf"],
        ["density = 1600", "poisson = 0.5", "below 0.5", "0.5"],
        ["density = 1600", "poisson = -1", "above -1", "-1"],
        ["density = 1600", "young = 0", "above 0", "0"],
        ["density = 1600", "cohesion = -1", "at least 0", "-1"],
        ["friction_angle = 35", "friction_angle = 90", "below 90", "90"],
        ["friction_angle = 35", "friction_angle = -1", "at least 0", "-1"],
        ["frames = 10", "frames = 0", "at least 1", "0"],
        ["frames = 10", "frames = -4", "at least 1", "-4"],
        ["frames = 10", "dimensions = 4", "at most 3", "4"],
        ["frame_rate = 24", "frame_rate = 0", "above 0", "0"],
        ["frame_rate = 24", "seed = -1", "at least 0", "-1"],
        ["resolution = 0.02", "resolution = 0.02\nmpm.cfl = 1.1", "at most 1", "1.1"],
        ["resolution = 0.02", "resolution = 0.02\nmpm.elastic_cfl = 1.6", "at most 1.5", "1.6"],
        ["resolution = 0.02", "resolution = 0.02\nmpm.max_dt = 0", "above 0", "0"],
        ["resolution = 0.02", "resolution = 0.02\nmpm.transfer = \"flip\"\nmpm.flip = 1.1", "at most 1", "1.1"],
        ["resolution = 0.02", "resolution = 0.02\nmpm.particles_per_cell = 0", "at least 1", "0"],
        ["gravity = [0, -9.81, 0]", "gravity = [0, nan, 0]", "not finite", "[0, nan, 0]"],
        ["velocity = [0, -2, 0]", "velocity = [0, -2, inf]", "not finite", "[0, -2, inf]"],
        ["center = [0, 0.5, 0]", "center = [0, 5e9, 0]", "beyond", "[0, 5e9, 0]"],
        ["max_speed = 1", "slope_angle_deg = [40, 30]", "40 is above 30", "[40, 30]"],
        ["max_speed = 1", "runout_m = [-1, 30]", "at least 0", "[-1, 30]"],
    ];
    refuse_each(SCENE, &changes);
    let region = "mass_in = [{ min = [0, 0, 0], max = [1, 1, 1], part = [0.5, 1.5] }]";
    refuse("max_speed = 1", region, "at most 1", "[0.5, 1.5]");
}

#[test]
fn values_at_the_limits_are_valid() {
    for (from, to) in [
        ("density = 1600", "poisson = 0.499"),
        ("friction_angle = 35", "friction_angle = 0"),
        ("friction_angle = 35", "friction_angle = 89.9"),
        (
            "resolution = 0.02",
            "resolution = 0.02\nmpm.cfl = 1\nmpm.elastic_cfl = 1.5",
        ),
        (
            "resolution = 0.02",
            "resolution = 0.02\nmpm.transfer = \"flip\"\nmpm.flip = 1",
        ),
    ] {
        good(&SCENE.replace(from, to));
    }
}

#[test]
fn choices() {
    #[rustfmt::skip]
    let changes = [
        ["resolution = 0.02", "resolution = 0.02\nmpm.kernel = \"cubik\"", "cannot be \"cubik\"", "\"cubik\""],
        ["resolution = 0.02", "resolution = 0.02\nmethod = \"spf\"", "cannot be \"spf\"", "\"spf\""],
        ["motion = { velocity = [0, 0, 0] }", "boundary = \"stikcy\"", "cannot be \"stikcy\"", "\"stikcy\""],
    ];
    refuse_each(SCENE, &changes);
    let errors = bad(&SCENE.replace(
        "resolution = 0.02",
        "resolution = 0.02\nmpm.kernel = \"cubik\"",
    ));
    assert_eq!(errors.errors()[0].help_text(), "did you mean `cubic`?");
}

#[test]
fn missing_keys() {
    #[rustfmt::skip]
    let changes = [
        ["resolution = 0.02", "", "`solver.resolution` is missing", "[solver]"],
        ["velocity = [0, -2, 0]", "", "`emitter.0.velocity` is missing", "[[emitter]]"],
        [", radius = 0.2", "", "`fill.0.shape.sphere.radius` is missing", "{ center = [0, 0.5, 0] }"],
    ];
    refuse_each(SCENE, &changes);
}

#[test]
fn materials() {
    refuse(
        "radius = 0.2 } }\nmaterial = \"sand\"",
        "radius = 0.2 } }\nmaterial = \"snad\"",
        "unknown material `snad`",
        "\"snad\"",
    );
    let errors = bad(&SCENE.replacen("material = \"sand\"", "material = \"snad\"", 1));
    assert_eq!(errors.errors()[0].help_text(), "did you mean `sand`?");
    let errors = bad(&SCENE.replacen("material = \"sand\"", "material = \"dry-sand\"", 1));
    assert_eq!(errors.errors()[0].help_text(), "did you mean `dry sand`?");
    #[rustfmt::skip]
    let changes = [
        ["density = 1600", "preset = \"gravle\"", "unknown preset `gravle`", "\"gravle\""],
        ["density = 1600", "law = \"elastic\"\ndensity = 1\nyoung = 1", "no effect for an elastic material", "friction_angle"],
    ];
    refuse_each(SCENE, &changes);
}

#[test]
fn laws_and_their_keys() {
    let both = "density = 1600\nfriction_angle = 35";
    refuse(
        both,
        "preset = \"rubber\"\nlaw = \"sand\"",
        "the preset `rubber` is elastic",
        "\"sand\"",
    );
    refuse(
        both,
        "model = \"hencky\"\ndensity = 3",
        "this elastic material has no `young`",
        "sand",
    );
    refuse(
        both,
        "law = \"sand\"\nmodel = \"hencky\"",
        "no effect for sand",
        "model",
    );
    refuse(
        both,
        "friction_angle = 35\nhardening = [35, 9, 0.2, 10]",
        "beside `hardening`",
        "friction_angle",
    );
    refuse(
        "resolution = 0.02",
        "resolution = 0.02\nmpm.flip = 0.5",
        "no effect unless",
        "flip",
    );
}

#[test]
fn hardening_must_stay_below_90_degrees() {
    let from = "friction_angle = 35";
    good(&SCENE.replace(from, "hardening = [35, 9, 0.2, 10]"));
    good(&SCENE.replace(from, "hardening = [35, 0, 0, 10]"));
    refuse(
        from,
        "hardening = [35, 9, 0, 10]",
        "without bound",
        "[35, 9, 0, 10]",
    );
    refuse(
        from,
        "hardening = [35, 40, 0.2, 10]",
        "below 90°",
        "[35, 40, 0.2, 10]",
    );
    refuse(
        from,
        "hardening = [35, 9, 0.2, 40]",
        "would start at h0 - h3 = -5°",
        "[35, 9, 0.2, 40]",
    );
    refuse(
        from,
        "hardening = [35, -9, 0.2, 10]",
        "negative",
        "[35, -9, 0.2, 10]",
    );
    refuse(
        from,
        "hardening = [95, 0, 0, 0]",
        "below 90°",
        "[95, 0, 0, 0]",
    );
}

#[test]
fn empty_and_impossible_shapes() {
    let ball = "{ sphere = { center = [0, 0.5, 0], radius = 0.2 } }";
    let shape = |to: &str, message: &str, marked: &str| {
        refuse(ball, to, message, marked);
    };
    shape(
        "{ sphere = { center = [0, 0.5, 0], radius = 0 } }",
        "must be at least",
        "0",
    );
    shape(
        "{ sphere = { center = [0, 0.5, 0], radius = -2 } }",
        "must be at least",
        "-2",
    );
    shape(
        "{ box = { min = [0, 1, 0], max = [1, 0.5, 1] } }",
        "this box is empty",
        "[1, 0.5, 1]",
    );
    shape(
        "{ box = { center = [0, 1, 0], size = [1, 0, 1] } }",
        "this box is empty",
        "[1, 0, 1]",
    );
    shape(
        "{ box = { center = [0, 1, 0] } }",
        "has no `size`",
        "{ center = [0, 1, 0] }",
    );
    shape("{ box = { } }", "either `min` and `max`", "{ }");
    shape(
        "{ cylinder = { from = [0, 1, 0], to = [0, 1, 0], radius = 1 } }",
        "no length",
        "{ from = [0, 1, 0], to = [0, 1, 0], radius = 1 }",
    );
    shape(
        "{ torus = { center = [0, 1, 0], axis = [0, 0, 0], radius = 0.3, tube = 0.1 } }",
        "has no direction",
        "[0, 0, 0]",
    );
    shape(
        "{ half_space = { point = [0, 1, 0] } }",
        "infinite",
        "{ half_space = { point = [0, 1, 0] } }",
    );
    shape("{ union = [] }", "a union of 0 shapes is empty", "[]");
    shape(
        "{ translate = [0, 1, 0] }",
        "this shape has no kind",
        "{ translate = [0, 1, 0] }",
    );
    shape(
        "{ sphere = { center = [0, 1, 0], radius = 0.1 }, box = { min = [0, 0, 0], max = [1, 1, 1] } }",
        "a shape has one kind",
        "box",
    );
    let nothing = "{ difference = [{ sphere = { center = [0, 1, 0], radius = 0.1 } }, { sphere = { center = [0, 1, 0], radius = 0.2 } }] }";
    shape(nothing, "is empty: it has no volume", nothing);
    let apart = "{ intersection = [{ sphere = { center = [0, 1, 0], radius = 0.1 } }, { sphere = { center = [1, 1, 0], radius = 0.2 } }] }";
    shape(apart, "is empty: it has no volume", apart);
    shape(
        "{ revolution = { profile = [[0, 1], [1, 1]] } }",
        "encloses nothing",
        "[[0, 1], [1, 1]]",
    );
    shape(
        "{ revolution = { profile = [[0, 1], [1, 1], [0.5, 1]] } }",
        "lie on a line",
        "[[0, 1], [1, 1], [0.5, 1]]",
    );
    shape(
        "{ revolution = { profile = [[-1, 1], [1, 1], [1, 2]] } }",
        "beyond the axis",
        "[[-1, 1], [1, 1], [1, 2]]",
    );
    shape(
        "{ revolution = { profile = [[0, 1], [1, 1.5], [1, 1], [0, 1.6]] } }",
        "crosses itself",
        "[[0, 1], [1, 1.5], [1, 1], [0, 1.6]]",
    );
}

/// A shape so thin that a coarse lattice of points misses it is not empty.
#[test]
fn thin_shell_is_not_empty() {
    let thin = "{ difference = [{ sphere = { center = [0, 1, 0], radius = 0.5 } }, { sphere = { center = [0, 1, 0], radius = 0.4999 } }] }";
    good(&SCENE.replace("{ sphere = { center = [0, 0.5, 0], radius = 0.2 } }", thin));
}

#[test]
fn meshes() {
    let ball = "{ sphere = { center = [0, 0.5, 0], radius = 0.2 } }";
    let mesh = |file: &str, more: &str| {
        format!("{{ mesh = {{ file = \"{file}\"{more} }}, translate = [0, 0.1, 0] }}")
    };
    good(&SCENE.replace(ball, &mesh("tetrahedron.obj", "")));
    good(&SCENE.replace(ball, &mesh("open.obj", ", allow_open = true")));
    refuse(
        ball,
        &mesh("none.obj", ""),
        "there is no mesh file",
        "\"none.obj\"",
    );
    refuse(
        ball,
        &mesh("broken.obj", ""),
        "cannot use the mesh",
        "\"broken.obj\"",
    );
    refuse(
        ball,
        &mesh("open.obj", ""),
        "cannot use the mesh",
        "\"open.obj\"",
    );
    refuse(
        ball,
        &mesh("tetrahedron.obj", ", voxel = 1e-5"),
        "does not suit",
        "1e-5",
    );
}

#[test]
fn keyframes() {
    let from = "motion = { velocity = [0, 0, 0] }";
    let motion = |to: &str, message: &str, marked: &str| {
        refuse(from, &format!("motion = {{ {to} }}"), message, marked);
    };
    let second = "{ time = 1, value = [0, 1, 0] }";
    motion(
        &format!("position = {{ keyframes = [{{ time = 2, value = [0, 0, 0] }}, {second}] }}"),
        "out of order",
        second,
    );
    motion("position = { keyframes = [] }", "no keyframes", "[]");
    motion(
        "position = { keyframes = [{ time = -1, value = [0, 0, 0] }] }",
        "at least 0",
        "-1",
    );
    motion(
        "rotation = { rate = 5 }",
        "`axis` is needed",
        "{ rate = 5 }",
    );
    motion(
        "rotation = { axis = [0, 0, 0], rate = 5 }",
        "no direction",
        "[0, 0, 0]",
    );
    motion(
        "rotation = { keyframes = [{ time = 0, angle = 5 }] }",
        "this keyframe has no axis",
        "{ time = 0, angle = 5 }",
    );
    motion(
        "velocity = [1, 0, 0], start = 2, end = 1",
        "would end at 1 s",
        "1",
    );
    motion("start = 2", "no effect without a constant", "start");
    motion(
        "pivot = [0, 1, 0]",
        "no effect without a `rotation`",
        "pivot",
    );
    let gravity = "gravity = [0, -9.81, 0]";
    refuse(
        gravity,
        "gravity = { axis = [0, 0, 1] }",
        "`rate` is needed",
        "{ axis = [0, 0, 1] }",
    );
    refuse(
        gravity,
        "gravity = { interpolation = \"smooth\" }",
        "without keyframes",
        "interpolation",
    );
    let keys = "gravity = { keyframes = [{ time = 0, value = [0, 0, 0] }], rate = 3 }";
    refuse(
        gravity,
        keys,
        "has no effect where gravity has keyframes",
        "rate",
    );
}

#[test]
fn names() {
    let twin = "[[fill]]\nname = \"ball\"\nshape = { sphere = { center = [0, 1, 0], radius = 0.1 } }\nmaterial = \"sand\"\n[check]";
    refuse("[check]", twin, "already a fill named `ball`", "\"ball\"");
    #[rustfmt::skip]
    let changes = [
        ["name = \"ball\"", "name = \"\"", "empty name", "\"\""],
        ["frames = 10", "name = \"a/b\"", "cannot be the name", "\"a/b\""],
        ["frames = 10", "name = \"..\"", "cannot be the name", "\"..\""],
    ];
    refuse_each(SCENE, &changes);
}

#[test]
fn syntax_errors() {
    let errors = bad("[solver\nresolution = 0.1\n");
    assert!(
        errors.messages()[0].contains("not valid TOML"),
        "{}",
        show(&errors)
    );
    assert_eq!(errors.errors()[0].line(), Some(1));
    let errors = bad("frames = 1\n\nname = \"open\nseed = = 3\n");
    assert_eq!(errors.errors()[0].line(), Some(3), "{}", show(&errors));
    let errors = bad("frames = 1\nframes = 2\n");
    assert!(
        errors.messages()[0].contains("duplicate"),
        "{}",
        show(&errors)
    );
}

#[test]
fn all_errors_are_reported_in_the_order_of_the_file() {
    let text = SCENE
        .replace("frames = 10", "frames = -1")
        .replace(
            "resolution = 0.02",
            "resolution = 0.02\nmpm.kernal = \"cubic\"",
        )
        .replace("density = 1600", "density = -1600")
        .replace("radius = 0.2", "radius = \"big\"")
        .replacen(
            "material = \"sand\"\nvelocity",
            "material = \"snad\"\nvelocity",
            1,
        )
        .replace("max_speed = 1", "max_sped = 1");
    let errors = bad(&text);
    let lines: Vec<_> = errors.errors().iter().map(|e| e.line()).collect();
    assert_eq!(errors.errors().len(), 6, "{}", show(&errors));
    assert!(lines.is_sorted());
    assert!(errors.to_string().contains("6 errors"));
}

#[test]
fn overrides_are_checked_and_labeled() {
    let cases = [
        (
            "solver.resolution=-1",
            "`solver.resolution` is -1",
            "-1",
            "",
        ),
        (
            "solver.resolutoin=1",
            "no key `solver.resolutoin`",
            "resolutoin",
            "did you mean `resolution`?",
        ),
        (
            "solvr.dx=1",
            "no key `solvr`",
            "solvr",
            "did you mean `solver`?",
        ),
        (
            "collider.flor.friction=1",
            "`collider` has no `flor`",
            "flor",
            "did you mean `floor`?",
        ),
        ("fill.3.velocity=[0,0,0]", "`fill` has no `3`", "3", ""),
        ("drain.0.start=1", "`drain` has no part `0`", "0", ""),
        (
            "materials.snd.density=1",
            "no `materials.snd`",
            "snd",
            "did you mean `sand`?",
        ),
        (
            "fill.ball.shape.sphere.radios=1",
            "no key",
            "radios",
            "did you mean `radius`?",
        ),
        ("frames.x=3", "has no part", "x", ""),
        ("frames", "not of the form", "frames", ""),
        ("=3", "not of the form", "=3", ""),
        ("gravity=[0, 1", "not a TOML value", "[0, 1", ""),
        ("frames=", "not a TOML value", "", ""),
        (
            "frames=many",
            "must be a whole number, not text",
            "many",
            "",
        ),
        (
            "emitter.spout.material=snad",
            "unknown material",
            "snad",
            "did you mean `sand`?",
        ),
    ];
    for (setting, message, marked, help) in cases {
        let errors = load_with(SCENE, &[setting]).expect_err(setting);
        let shown = show(&errors);
        let error = &errors.errors()[0];
        assert_eq!(errors.errors().len(), 1, "{shown}");
        assert!(error.message().contains(message), "{setting}: {shown}");
        assert_eq!(error.marked(), Some(marked), "{setting}: {shown}");
        assert_eq!(error.source_name(), Some("in --set"), "{shown}");
        assert!(error.help_text().contains(help), "{shown}");
    }
}

#[test]
fn frames_and_scale_are_checked_and_labeled() {
    let overrides = Overrides {
        frames: Some(0),
        scale: Some(0.0),
        solver: Some("spf".to_owned()),
        set: vec![],
    };
    let errors = load(&source(SCENE), &overrides).unwrap_err();
    let names: Vec<_> = errors.errors().iter().map(|e| e.source_name()).collect();
    let expected = ["in --frames", "in --scale", "in --solver"].map(Some);
    assert_eq!(names, expected);
    assert_eq!(errors.errors()[2].help_text(), "did you mean `sph`?");
    for scale in [f64::NAN, f64::INFINITY, -1.0, 1e-30] {
        let overrides = Overrides {
            scale: Some(scale),
            ..Overrides::default()
        };
        assert!(load(&source(SCENE), &overrides).is_err(), "{scale}");
    }
}

/// The report of an error, with the line as users see it.
#[test]
fn report_shows_file_line_and_help() {
    let source = SceneSource {
        name: "scenes/pile.toml".to_owned(),
        ..source(&SCENE.replace("density", "densty"))
    };
    let errors = load(&source, &Overrides::default()).unwrap_err();
    let mut shown = String::new();
    miette::GraphicalReportHandler::new_themed(miette::GraphicalTheme::none())
        .render_report(&mut shown, &errors)
        .unwrap();
    for part in [
        "scenes/pile.toml:10:1",
        "densty = 1600",
        "did you mean `density`?",
    ] {
        assert!(shown.contains(part), "{part} is not in:\n{shown}");
    }
}

#[test]
fn start() {
    let with = |start: &str| format!("start = {start}\nframes = 10");
    let cases = [
        (
            "{ frame = 3 }",
            "`start.result` is missing",
            "{ frame = 3 }",
        ),
        ("{ result = \" \" }", "`start.result` is empty", "\" \""),
        ("{ result = 5 }", "must be text", "5"),
        ("{ result = \"bed\", frame = -7 }", "start.frame", "-7"),
        (
            "{ result = \"bed\", frme = 7 }",
            "unknown key `frme`",
            "frme",
        ),
        ("\"bed\"", "must be a table", "\"bed\""),
    ];
    for (start, message, marked) in cases {
        refuse("frames = 10", &with(start), message, marked);
    }
}
