//! Valid scenes: values, defaults, overrides and the resolved document.

mod common;

use barchan_scene::*;
use common::*;
use glam::Vec3;

fn mpm(scene: &Scene) -> MpmSpec {
    assert_eq!(scene.solver.family.name, "mpm");
    scene.settings()
}

/// Everything about a scene except its text.
fn content(scene: &Scene) -> String {
    let mut scene = scene.clone();
    scene.document.clear();
    format!("{scene:#?}")
}

#[test]
fn minimal_scene_has_the_documented_defaults() {
    let scene = good(MINIMAL);
    assert_eq!(scene.name, "test");
    assert_eq!(scene.dimensions, Dimensions::Three);
    assert_eq!((scene.frames, scene.frame_rate, scene.seed), (120, 48.0, 1));
    assert_eq!(scene.gravity.value, Track::constant(Gravity::STANDARD));
    assert!(scene.domain.is_none());
    let expected = MpmSpec {
        dx: 0.02,
        particles_per_cell: 8.0,
        kernel: Kernel::Quadratic,
        transfer: Transfer::Apic,
        max_dt: 1e-3,
        cfl: 0.5,
        elastic_cfl: 0.6,
    };
    assert_eq!(mpm(&scene), expected);
    assert_eq!(scene.check, FinalCheck::default());
    let fill = &scene.fills[0];
    assert_eq!(fill.name, "fill 0");
    assert_eq!(fill.velocity, Vec3::ZERO);
    assert_eq!(fill.sampling, Sampling::Poisson);
    assert!((fill.spin_center - Vec3::Y).length() < 1e-6);
    let preset = material_presets().iter().find(|p| p.name == "dry sand");
    assert_eq!(Some(&scene.materials[0]), preset.map(|p| &p.material));
}

/// The defaults in the schema must be those of the scene.
#[test]
fn defaults_of_the_schema_change_nothing() {
    let schema = schema();
    let mut text = String::new();
    let mut solver = String::from("[solver]\nresolution = 0.02\n");
    let line = |(key, property): (&String, &serde_json::Value)| {
        let default = property.get("default")?;
        Some(format!("{key} = {default}\n"))
    };
    let properties = schema["properties"].as_object().unwrap();
    text.extend(properties.iter().filter_map(line));
    let keys = properties["solver"]["properties"].as_object().unwrap();
    solver.extend(keys.iter().filter_map(line));
    // These are only valid together with other keys.
    let alone = ["flip", "stress_error", "max_iterations"];
    for family in FAMILIES {
        solver += &format!("[solver.{}]\n", family.name);
        let keys = keys[family.name]["properties"].as_object().unwrap();
        let keys = keys.iter().filter(|(k, _)| !alone.contains(&k.as_str()));
        solver.extend(keys.filter_map(line));
    }
    assert!(text.contains("frames = 120") && solver.contains("elastic_cfl = 0.6"));
    let explicit = MINIMAL.replace("[solver]\nresolution = 0.02\n", &(text + &solver));
    assert_eq!(content(&good(&explicit)), content(&good(MINIMAL)));
}

#[test]
fn complete_scene_is_read_in_full() {
    let scene = good(COMPLETE);
    assert_eq!((scene.frames, scene.frame_rate, scene.seed), (60, 24.0, 7));
    assert_eq!(mpm(&scene).transfer, Transfer::FlipPic { flip: 0.9 });
    assert_eq!(mpm(&scene).kernel, Kernel::Cubic);
    assert_eq!(scene.periodic, [false, false, true]);
    let names: Vec<&str> = scene.materials.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["sand", "hard sand", "ball", "wet sand"]);
    let Law::Sand(sand) = scene.materials[0].law else {
        panic!("sand expected");
    };
    assert_eq!(sand.friction, Friction::Constant(38.0));
    let calibration: MpmMaterial = scene.materials[0].settings();
    assert_eq!(calibration.cone, Some(ConeMatch::PlaneStrain));
    assert!(!calibration.volume_correction);
    let Law::Elastic(ball) = scene.materials[2].law else {
        panic!("elastic expected");
    };
    assert_eq!(ball.model, ElasticModel::FixedCorotated);
    assert_eq!(
        scene.fills.iter().map(|f| f.material).collect::<Vec<_>>(),
        [0, 2, 1, 3]
    );
    assert_eq!(scene.fills[0].sampling, Sampling::Lattice);
    assert_eq!(scene.emitters[0].rate, Some(2.5));
    assert_eq!(scene.colliders[0].boundary, Boundary::Sticky);
    assert_eq!(scene.drains[0].end, 9.0);
    assert_eq!(scene.check.mass_in[0].part, [0.99, 1.0]);
    // Gravity turned by 180° between 1 s and 3 s.
    assert!((scene.gravity.at(5.0) - Vec3::new(0.0, 9.81, 0.0)).length() < 1e-5);
}

#[test]
fn shapes_have_the_transforms_of_the_file() {
    let scene = good(COMPLETE);
    let [block, ring] = [&scene.fills[0].shape, &scene.fills[1].shape];
    assert!(block.distance(Vec3::new(0.4, 1.0, 0.4)) < 0.0);
    assert!(block.distance(Vec3::new(0.0, 1.0, 0.0)) > 0.0);
    // Scaled by 2, turned upright about x, lifted by 3.
    assert!((ring.distance(Vec3::new(1.0, 3.0, 0.0)) + 0.2).abs() < 1e-5);
    assert!((ring.distance(Vec3::new(0.0, 4.0, 0.0)) + 0.2).abs() < 1e-5);
    assert!(ring.distance(Vec3::new(0.0, 3.0, 1.0)) > 0.0);
    let floor = &scene.colliders[0].shape;
    assert!((floor.distance(Vec3::ZERO) - 1.0).abs() < 1e-6);
    // The tetrahedron, scaled by a half, moved 3 m to the left and 1 m up.
    let mesh = &scene.fills[3].shape;
    assert!(mesh.distance(Vec3::new(-2.9, 1.1, 0.1)) < 0.0);
    assert!(mesh.distance(Vec3::new(-2.4, 1.1, 0.1)) > 0.0);
    assert!(mesh.distance(Vec3::new(-3.1, 1.1, 0.1)) > 0.0);
}

#[test]
fn motion_is_read_in_degrees() {
    let scene = good(COMPLETE);
    let find = |name: &str| scene.colliders.iter().find(|c| c.name == name).unwrap();
    // Smooth: at half the time the angle is half of 720°; the pivot moves with the displacement.
    let arm = &find("arm").motion;
    let corner = arm.pose(1.0).to_world(Vec3::new(4.5, 0.0, 0.0));
    assert!(
        (corner - Vec3::new(4.6, 0.1, 0.0)).length() < 1e-5,
        "{corner}"
    );
    let wheel = &find("wheel").motion;
    assert!(wheel.pose(0.5).position.length() < 1e-6);
    let spoke = wheel.pose(9.0).to_world(Vec3::new(-3.5, 3.0, 0.0));
    assert!(
        (spoke - Vec3::new(-4.0, 3.5, 0.0)).length() < 1e-5,
        "{spoke}"
    );
    assert!(find("floor").motion.is_static() && !find("paddle").motion.is_static());
}

#[test]
fn flat_scene_takes_two_coordinates() {
    let scene = good(FLAT);
    assert_eq!(scene.dimensions, Dimensions::Two);
    assert_eq!(mpm(&scene).particles_per_cell, 4.0);
    let calibration: MpmMaterial = scene.materials[0].settings();
    let matches = [Dimensions::Two, Dimensions::Three].map(|d| calibration.cone_in(d));
    assert_eq!(matches, [ConeMatch::PlaneStrain, ConeMatch::Triaxial]);
    let column = &scene.fills[0].shape;
    assert!((column.distance(Vec3::new(0.25, 0.5, 0.0)) + 0.25).abs() < 1e-6);
}

#[test]
fn document_gives_the_same_scene_again() {
    for text in [MINIMAL, COMPLETE, FLAT] {
        let scene = good(text);
        let mut again = source(&scene.document);
        again.name = "another name.toml".to_owned();
        let second = load(&again, &Overrides::default()).unwrap();
        assert_eq!(content(&second), content(&scene));
        assert_eq!(second.document, scene.document);
    }
}

#[test]
fn document_with_overrides_gives_the_same_scene_again() {
    let overrides = Overrides {
        frames: Some(3),
        scale: Some(0.5),
        solver: None,
        set: [
            "materials.sand.young=3e6",
            "materials.'hard sand'.poisson=0.2",
            "fill.0.velocity=[0, 1, 0]",
            "fill.ring.shape.torus.tube=0.15",
            "fill.block.shape.difference.1.cylinder.radius=0.1",
            "collider.floor.friction=0.3",
            "collider.arm.motion.position.keyframes.1.value.0=0.2",
            "collider.bowl.shape.revolution.profile.2.0=1.7",
            "solver.mpm.kernel=quadratic",
            "description=a bare sentence",
            "emitter.spout.end=4",
        ]
        .map(str::to_owned)
        .to_vec(),
    };
    let scene = load(&source(COMPLETE), &overrides).unwrap_or_else(|e| panic!("{}", show(&e)));
    assert_eq!(scene.frames, 3);
    assert_eq!(mpm(&scene).dx, 0.1);
    assert_eq!(mpm(&scene).kernel, Kernel::Quadratic);
    assert_eq!(scene.fills[0].velocity, Vec3::Y);
    assert_eq!(scene.colliders[0].friction, 0.3);
    assert_eq!(scene.description, "a bare sentence");
    let moved = scene.colliders[2].motion.pose(1.0).to_world(Vec3::X * 4.0);
    assert!((moved.x - 4.2).abs() < 1e-5);
    assert!(scene.document.contains("[[fill]] # the block"));
    let again = good(&scene.document);
    assert_eq!(content(&again), content(&scene));
    assert_ne!(content(&scene), content(&good(COMPLETE)));
}

#[test]
fn overrides_create_missing_tables() {
    let scene = load_with(MINIMAL, &["check.max_speed=2", "gravity=[0,-1.62,0]"]).unwrap();
    assert_eq!(scene.check.max_speed, Some(2.0));
    assert_eq!(content(&good(&scene.document)), content(&scene));
    let inline = load_with(FLAT, &["collider.floor.motion.velocity=[0,1]"]).unwrap();
    assert!(!inline.colliders[0].motion.is_static());
    assert_eq!(content(&good(&inline.document)), content(&inline));
}

#[test]
fn start_is_relative_to_the_scene_file() {
    let start = good(COMPLETE).start.unwrap();
    assert_eq!(
        (start.result.as_str(), start.frame),
        ("bed.barchan", Some(96))
    );
    assert_eq!(start.path, source("").directory.join("bed.barchan"));
    let errors = start.frame_mark.refuse("no", "another");
    assert_eq!(errors.errors()[0].marked(), Some("96"));
    // Without a frame, an error is attributed to the result. A start counts as something to simulate.
    let text = "start = { result = \"../bed\" }\n[solver]\nresolution = 0.02\n";
    let start = good(text).start.unwrap();
    assert_eq!(start.frame, None);
    let errors = start.frame_mark.refuse("no", "another");
    assert_eq!(errors.errors()[0].marked(), Some("\"../bed\""));
    assert_eq!(errors.errors()[0].line(), Some(1));
}

#[test]
fn scale_multiplies_the_resolution() {
    for (scale, dx) in [(0.5, 0.04), (2.0, 0.01), (1.0, 0.02)] {
        let overrides = Overrides {
            scale: Some(scale),
            ..Overrides::default()
        };
        let scene = load(&source(MINIMAL), &overrides).unwrap();
        assert!((mpm(&scene).dx - dx).abs() < 1e-15);
    }
}

#[test]
fn presets_are_valid_and_have_unique_names() {
    let presets = material_presets();
    for (i, preset) in presets.iter().enumerate() {
        assert!(presets[..i].iter().all(|p| p.name != preset.name));
        let text = MINIMAL.replace("dry sand", preset.name);
        assert_eq!(good(&text).materials[0], preset.material);
        // The same through a material of the scene.
        let own = format!("{text}[materials.own]\npreset = \"{}\"\n", preset.name);
        let scene = good(&own.replace(
            &format!("material = \"{}\"", preset.name),
            "material = \"own\"",
        ));
        assert_eq!(scene.materials[0].law, preset.material.law);
        assert_eq!(scene.materials[0].density, preset.material.density);
    }
}

#[test]
fn a_file_name_that_is_no_directory_name_is_accepted() {
    for name in [".toml", "", "a:b.toml"] {
        let mut odd = source(MINIMAL);
        odd.name = name.to_owned();
        let scene = load(&odd, &Overrides::default()).unwrap();
        assert_eq!(scene.name, "scene");
        assert_eq!(good(&scene.document).name, "scene");
    }
}

#[test]
fn a_partly_buried_fill_is_valid() {
    let text = FLAT.replace("min = [0, 0]", "min = [0, -0.5]");
    good(&text);
}

#[test]
fn scene_files_are_read_from_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pile.toml");
    std::fs::write(&path, MINIMAL).unwrap();
    let source = SceneSource::from_file(&path).unwrap();
    assert_eq!(source.directory, folder.path());
    let scene = load(&source, &Overrides::default()).unwrap();
    assert_eq!(scene.name, "pile");

    std::fs::write(&path, b"# sand\nname = \"\xff\"\n").unwrap();
    let errors = SceneSource::from_file(&path).unwrap_err();
    assert!(errors.messages()[0].contains("UTF-8"), "{errors:?}");
    assert!(errors.messages()[0].contains("line 2"));
    let missing = SceneSource::from_file(&folder.path().join("none.toml")).unwrap_err();
    assert!(missing.messages()[0].contains("cannot read"));
    let directory = SceneSource::from_file(folder.path()).unwrap_err();
    assert!(directory.messages()[0].contains("folder"));
}
