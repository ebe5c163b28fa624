//! Any text and any overrides give a scene or errors, never a panic.

mod common;

use barchan_scene::{Overrides, load};
use common::*;
use proptest::prelude::*;

/// Loads a scene; if it is valid, its resolved document must be valid too.
fn survives(text: &str, set: Vec<String>) {
    let overrides = Overrides {
        set,
        ..Overrides::default()
    };
    match load(&source(text), &overrides) {
        Ok(scene) => {
            let again = load(&source(&scene.document), &Overrides::default());
            assert!(again.is_ok(), "{}", scene.document);
        }
        Err(errors) => {
            assert!(!errors.errors().is_empty());
            for error in errors.errors() {
                assert!(!error.message().is_empty());
                let _ = (error.line(), error.marked());
            }
            let mut shown = String::new();
            let _ = miette::GraphicalReportHandler::new().render_report(&mut shown, &errors);
        }
    }
}

/// Values that are invalid for most keys.
fn odd_value() -> impl Strategy<Value = String> {
    let odd = [
        "nan",
        "inf",
        "-1",
        "0",
        "1e300",
        "-1e-300",
        "true",
        "\"\"",
        "\"x\"",
        "[]",
        "{}",
        "[[]]",
        "[0, 0, 0]",
        "[nan, 0, 0]",
        "9223372036854775807",
        "1979-05-27",
        "[{}]",
        "0.5",
        "2",
    ];
    proptest::sample::select(odd.to_vec()).prop_map(str::to_owned)
}

/// Positions of values in the complete scene: from `= ` to the end of the word.
fn values(text: &str) -> Vec<(usize, usize)> {
    let starts = text.match_indices("= ").map(|(i, _)| i + 2);
    starts
        .map(|i| {
            let rest = &text[i..];
            let end = rest.find([',', ' ', '\n', '}', ']']).unwrap_or(rest.len());
            (i, i + end)
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_text(text in "\\PC*") {
        survives(&text, vec![]);
    }

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        survives(&String::from_utf8_lossy(&bytes), vec![]);
    }

    #[test]
    fn toml_like_text(text in "([a-z]{1,4}|\\[|\\]|\\{|\\}|=|\"|'|\\.|,|-|[0-9]|\n| |#){0,80}") {
        survives(&text, vec![]);
    }

    #[test]
    fn torn_scene(start in 0usize..4500, length in 0usize..60, junk in "[\\[\\]{}=\",.a-z0-9\n]{0,6}") {
        let mut text = COMPLETE.to_owned();
        let start = start % text.len();
        let end = (start + length).min(text.len());
        text.replace_range(start..end, &junk);
        survives(&text, vec![]);
    }

    #[test]
    fn odd_values(picks in proptest::collection::vec((any::<prop::sample::Index>(), odd_value()), 1..4)) {
        let mut text = COMPLETE.to_owned();
        for (pick, value) in picks {
            let (start, end) = *pick.get(&values(&text));
            text.replace_range(start..end, &value);
        }
        survives(&text, vec![]);
    }

    #[test]
    fn odd_settings(setting in "[a-z0-9.=\"'\\[\\]{},é ]{0,30}", value in odd_value()) {
        survives(MINIMAL, vec![setting.clone(), format!("{setting}={value}")]);
    }

    #[test]
    fn odd_settings_of_known_keys(
        path in proptest::sample::select(vec![
            "solver", "solver.resolution", "fill.0", "fill.0.shape", "fill", "materials", "materials.sand", "gravity",
            "gravity.keyframes", "collider.arm.motion", "collider.2.motion.rotation.keyframes.0", "check.mass_in",
            "fill.1.shape.torus", "fill.2.shape.union", "dimensions", "domain", "emitter.spout.shape",
        ]),
        value in odd_value(),
    ) {
        survives(COMPLETE, vec![format!("{path}={value}")]);
    }
}

#[test]
fn deep_nesting_is_refused_without_stack_overflow() {
    let deep = format!("x = {}{}", "[".repeat(100_000), "]".repeat(100_000));
    survives(&deep, vec![]);
    let open = "{ union = [".repeat(5000);
    let shape = format!("{MINIMAL}[[fill]]\nmaterial = \"sand\"\nshape = {open}");
    survives(&shape, vec![]);
    survives(MINIMAL, vec![format!("gravity={}", "[".repeat(100_000))]);
}
