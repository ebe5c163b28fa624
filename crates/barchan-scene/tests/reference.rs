//! The reference page: its examples are valid scenes, and it names every key and preset.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use barchan_scene::{Law, material_presets, schema};
use common::*;
use serde_json::Value;

const PAGE: &str = include_str!("../../../docs/scene.md");

/// The TOML blocks of the page.
fn examples() -> Vec<&'static str> {
    let blocks = PAGE.split("```toml\n").skip(1);
    blocks.map(|b| b.split("```").next().unwrap()).collect()
}

/// Completes a fragment to a scene.
fn complete(example: &str) -> String {
    let mut text = example.to_owned();
    if !text.contains("[solver]") {
        text += "\n[solver]\nresolution = 0.02\n";
    }
    if !text.contains("[[fill]]") {
        text += "\n[[fill]]\nshape = { sphere = { center = [0, 5, 0], radius = 0.2 } }\nmaterial = \"dry sand\"\n";
    }
    text
}

#[test]
fn examples_are_valid_scenes() {
    let examples = examples();
    assert!(examples.len() > 10);
    for example in examples {
        good(&complete(example));
    }
}

#[test]
fn page_names_every_key() {
    fn visit(schema: &Value) {
        match schema {
            Value::Object(object) => {
                let properties = object.get("properties").and_then(Value::as_object);
                for key in properties.into_iter().flat_map(|p| p.keys()) {
                    let named = [format!("`{key}`"), format!("{key} ="), format!("[{key}")];
                    assert!(named.iter().any(|n| PAGE.contains(n)), "{key}");
                }
                object.values().for_each(visit);
            }
            Value::Array(list) => list.iter().for_each(visit),
            _ => {}
        }
    }
    visit(&schema());
}

/// The table of presets has their values.
#[test]
fn page_has_the_values_of_the_presets() {
    for preset in material_presets() {
        let start = format!("| `{}` |", preset.name);
        let row = PAGE.lines().find(|l| l.starts_with(&start)).unwrap();
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let (young, poisson) = match preset.material.law {
            Law::Sand(law) => (law.young, law.poisson),
            Law::Elastic(law) => (law.young, law.poisson),
        };
        let number = |i: usize| cells[i].parse::<f64>().unwrap();
        assert_eq!(number(2), preset.material.density, "{row}");
        assert_eq!((number(3), number(4)), (young, poisson), "{row}");
        if let Law::Sand(law) = preset.material.law {
            assert_eq!(number(6), law.cohesion, "{row}");
        }
    }
}
