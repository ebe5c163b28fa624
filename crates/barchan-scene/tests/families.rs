//! One scene, any solver: the tables of all families are checked, that of the chosen one takes effect, and refusals have a place.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use barchan_scene::*;
use common::breaking::{SCENE, expect, refuse};
use common::*;

fn with_solver(text: &str, solver: &str) -> Scene {
    let overrides = Overrides {
        solver: Some(solver.to_owned()),
        ..Overrides::default()
    };
    load(&source(text), &overrides).unwrap_or_else(|e| panic!("{}", show(&e)))
}

#[test]
fn tables_of_families_that_are_not_chosen_are_checked() {
    let refuse_with = |chosen: &str, wrong: &str, message: &str, marked: &str| {
        let method = format!("resolution = 0.02\nmethod = \"{chosen}\"\n{wrong}");
        refuse("resolution = 0.02", &method, message, marked);
    };
    let message = "unknown key `kernal` in `solver.mpm`";
    refuse_with("pbd", "mpm.kernal = \"cubic\"", message, "kernal");
    let message = "`solver.mpm.kernel` must be";
    refuse_with("sph", "mpm.kernel = 2", message, "2");
    refuse_with("pbd", "mpm.flip = 0.5", "`flip` has no effect", "flip");
    refuse_with("mpm", "pbd.dt = 0", "`solver.pbd.dt` is 0", "0");
    let wrong = "pbd.scheme = \"avaraged\"";
    refuse_with("sph", wrong, "`solver.pbd.scheme`", "\"avaraged\"");
    refuse_with("mpm", "sph.cfl = 2", "`solver.sph.cfl` is 2", "2");
    let message = "`stress_error` has no effect";
    refuse_with("pbd", "sph.stress_error = 0.1", message, "stress_error");
    for (wrong, message, marked) in [
        (
            "pbd.adhesoin = 1",
            "unknown key `adhesoin` in `materials.sand.pbd`",
            "adhesoin",
        ),
        (
            "sph.viscosity = -1",
            "`materials.sand.sph.viscosity` is -1",
            "-1",
        ),
        ("pbd = 3", "`materials.sand.pbd` must be a table", "3"),
        (
            "mpm.cfl = 1",
            "unknown key `cfl` in `materials.sand.mpm`",
            "cfl",
        ),
    ] {
        let sand = format!("friction_angle = 35\n{wrong}");
        refuse("friction_angle = 35", &sand, message, marked);
    }
}

#[test]
fn the_error_for_a_key_in_the_wrong_table_names_the_right_one() {
    for (key, tables) in [
        ("cfl = 0.5", "[solver.mpm] or [solver.sph]"),
        ("scheme = \"averaged\"", "[solver.pbd]"),
    ] {
        let errors = bad(&MINIMAL.replace("[solver]", &format!("[solver]\n{key}")));
        assert_eq!(
            errors.errors()[0].help_text(),
            format!("it belongs to {tables}")
        );
    }
    for (key, table) in [
        ("adhesion = 3", "[materials.sand.pbd]"),
        ("cone = \"triaxial\"", "[materials.sand.mpm]"),
        ("volume_correction = false", "[materials.sand.mpm]"),
    ] {
        let errors = bad(&format!("{MINIMAL}[materials.sand]\n{key}\n"));
        let help = errors.errors()[0].help_text();
        assert_eq!(help, format!("it belongs to {table}"));
    }
}

#[test]
fn resolution_has_the_meaning_of_each_family() {
    for family in FAMILIES {
        let scene = with_solver(MINIMAL, family.name);
        assert_eq!(scene.solver.family.name, family.name);
        assert_eq!(scene.solver.resolution, 0.02);
        assert_eq!(scene.frame_rate, family.frame_rate);
        assert_eq!(scene.fills[0].sampling, family.sampling);
        assert!(!family.summary.is_empty() && !family.resolution.is_empty());
        // The settings of the other families are there as well.
        assert_eq!(scene.settings::<MpmSpec>().dx, 0.02);
        assert_eq!(scene.settings::<PbdSpec>().radius, 0.01);
        assert_eq!(scene.settings::<SphSpec>().spacing(), 0.02);
        assert_eq!(scene.settings::<SphSpec>().max_dt, 0.02 / 50.0);
    }
    expect(
        MINIMAL,
        "resolution = 0.02",
        "",
        "`solver.resolution` is missing",
        "[solver]",
    );
}

#[test]
fn the_chosen_solver_is_in_the_document() {
    for family in FAMILIES {
        let scene = with_solver(COMPLETE, family.name);
        let again = good(&scene.document);
        assert_eq!(again.solver.family.name, family.name);
        assert_eq!(again.solver.settings, scene.solver.settings);
        assert_eq!(again.frame_rate, scene.frame_rate);
    }
    // Its own settings are those of its table.
    let scene = with_solver(COMPLETE, "pbd");
    let spec: PbdSpec = scene.settings();
    assert_eq!((spec.scheme, spec.iterations), (PbdScheme::Averaged, 2));
    let spec: SphSpec = scene.settings();
    assert_eq!((spec.max_dt, spec.iterations, spec.cfl), (1e-3, 4, 0.3));
}

#[test]
fn materials_keep_the_calibrations_of_each_family() {
    let scene = good(COMPLETE);
    let sand = &scene.materials[0];
    assert_eq!(sand.wet_cohesion, Some(500.0));
    assert_eq!(sand.settings::<PbdMaterial>().adhesion, Some(200.0));
    assert_eq!(sand.settings::<SphMaterial>().wet_viscosity, Some(0.3));
    let plain = &scene.materials[1];
    assert_eq!(plain.settings::<PbdMaterial>(), PbdMaterial::default());
    assert_eq!(plain.settings::<SphMaterial>().viscosity, 0.01);
}

/// Whether elastic materials are supported depends on the solver; tables of other families are checked and not used.
#[test]
fn an_elastic_material_can_have_tables_of_families() {
    let elastic = |line: &str| format!("law = \"elastic\"\nyoung = 1e5\n{line}");
    let from = "friction_angle = 35";
    assert!(SCENE.contains(from));
    let scene = good(&SCENE.replace(from, &elastic("pbd.adhesion = 3\nsph.viscosity = 0.1")));
    let ball = &scene.materials[0];
    assert!(matches!(ball.law, Law::Elastic(_)));
    assert_eq!(ball.settings::<PbdMaterial>().adhesion, Some(3.0));
    for (line, message, marked) in [
        (
            "pbd.adhesoin = 3",
            "unknown key `adhesoin` in `materials.sand.pbd`",
            "adhesoin",
        ),
        (
            "sph.viscosity = -1",
            "`materials.sand.sph.viscosity` is -1",
            "-1",
        ),
        (
            "mpm.cone = \"triaxial\"",
            "`cone` has no effect for an elastic material",
            "cone",
        ),
    ] {
        refuse(from, &elastic(line), message, marked);
    }
}

#[test]
fn ignored_settings_are_reported_with_their_place() {
    let text = COMPLETE.replace("scheme = \"averaged\"", "scheme = \"mass splitting\"");
    for (text, solver, marked) in [
        (COMPLETE, "mpm", &["[[wetting]]"][..]),
        (COMPLETE, "pbd", &["[[wetting]]"]),
        (COMPLETE, "sph", &[]),
        (MINIMAL, "mpm", &[]),
        (&*text, "pbd", &["0.4", "[[wetting]]"]),
        (&*text, "mpm", &["[[wetting]]"]),
    ] {
        let aside = with_solver(text, solver).left_aside();
        let found: Vec<_> = aside.iter().map(|e| e.marked().unwrap()).collect();
        assert_eq!(found, marked, "{solver}");
        assert!(aside.iter().all(|e| !e.help_text().is_empty()));
    }
}

#[test]
fn refusals_by_a_solver_have_a_place() {
    let text = format!(
        "{COMPLETE}\n[[fill]]\nmaterial = \"jelly\"\nshape = {{ sphere = {{ center = [0, 4, 4], radius = 0.1 }} }}\n"
    );
    let scene = good(&text);
    for (path, marked) in [
        ("terrain", "[terrain]"),
        ("domain.periodic", "[\"z\"]"),
        ("output.columns", "[\"principal_stress\", \"hardening\"]"),
        ("materials.ball.law", "\"elastic\""),
        // Without the key, the place is its table; without the table, the fill or emitter that names the material.
        ("materials.sand.nothing", "[materials.sand]"),
        ("materials.jelly.law", "\"jelly\""),
        ("solver.method", "\"mpm\""),
    ] {
        let errors = scene.places.find(path).refuse("no", "another");
        let error = &errors.errors()[0];
        assert_eq!(error.marked(), Some(marked), "{path}");
        let line = 1 + text[..text.find(marked).unwrap()].matches('\n').count();
        assert_eq!(error.line(), Some(line), "{path}");
    }
    // The place of an override is the command line.
    let errors = with_solver(MINIMAL, "sph").places.find("solver.method");
    let errors = errors.refuse("no", "another");
    assert_eq!(errors.errors()[0].source_name(), Some("in --solver"));
    assert_eq!(
        scene.places.find("nowhere").refuse("no", "").errors()[0].line(),
        None
    );
}
