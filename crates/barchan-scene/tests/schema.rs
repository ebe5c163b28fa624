//! The JSON schema accepts valid scenes and rejects invalid ones.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use barchan_scene::schema;
use common::*;
use serde_json::Value;

/// Validates against the subset of JSON schema that is used; returns the first fault.
fn fault(schema: &Value, root: &Value, value: &Value, path: &str) -> Option<String> {
    if let Some(name) = schema["$ref"].as_str() {
        let target = root.pointer(name.trim_start_matches('#')).unwrap();
        return fault(target, root, value, path);
    }
    if let Some(kind) = schema["type"].as_str() {
        let fits = match kind {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            other => panic!("unknown type {other}"),
        };
        if !fits {
            return Some(format!("{path} is not a {kind}"));
        }
    }
    if let Some(words) = schema["enum"].as_array()
        && !words.contains(value)
    {
        return Some(format!("{path} is not one of {words:?}"));
    }
    if let Some(x) = value.as_f64() {
        let bound = |key: &str| schema[key].as_f64();
        let low = bound("minimum").is_some_and(|b| x < b)
            || bound("exclusiveMinimum").is_some_and(|b| x <= b);
        let high = bound("maximum").is_some_and(|b| x > b)
            || bound("exclusiveMaximum").is_some_and(|b| x >= b);
        if low || high {
            return Some(format!("{path} = {x} is out of range"));
        }
    }
    if let Some(kinds) = schema["oneOf"].as_array() {
        let fitting = kinds
            .iter()
            .filter(|k| fault(k, root, value, path).is_none())
            .count();
        if fitting != 1 {
            return Some(format!("{path} fits {fitting} of the alternatives"));
        }
    }
    if let Some(items) = value.as_array() {
        let length = items.len() as u64;
        let few = schema["minItems"].as_u64().is_some_and(|n| length < n);
        if few || schema["maxItems"].as_u64().is_some_and(|n| length > n) {
            return Some(format!("{path} has {length} items"));
        }
        let item = schema.get("items")?;
        return items
            .iter()
            .enumerate()
            .find_map(|(i, v)| fault(item, root, v, &format!("{path}.{i}")));
    }
    let object = value.as_object()?;
    let required = schema["required"].as_array().into_iter().flatten();
    for key in required.filter_map(Value::as_str) {
        if !object.contains_key(key) {
            return Some(format!("{path}.{key} is missing"));
        }
    }
    object.iter().find_map(|(key, v)| {
        let path = format!("{path}.{key}");
        match (
            schema["properties"].get(key),
            schema.get("additionalProperties"),
        ) {
            (Some(s), _) => fault(s, root, v, &path),
            (None, Some(Value::Bool(false))) => Some(format!("{path} is unknown")),
            (None, Some(s)) => fault(s, root, v, &path),
            (None, None) => None,
        }
    })
}

fn fault_of(text: &str) -> Option<String> {
    let table: toml::Table = text.parse().unwrap();
    let schema = schema();
    fault(
        &schema,
        &schema,
        &serde_json::to_value(table).unwrap(),
        "scene",
    )
}

#[test]
fn valid_scenes_conform_to_the_schema() {
    for text in [MINIMAL, COMPLETE, FLAT] {
        good(text);
        assert_eq!(fault_of(text), None);
    }
}

#[test]
fn invalid_scenes_do_not_conform() {
    for (from, to) in [
        ("frames = 60", "frames = \"60\""),
        ("frames = 60", "frames = 0"),
        ("frames = 60", "framse = 60"),
        ("material = \"sand\"", ""),
        ("kernel = \"cubic\"", "kernel = \"cubik\""),
        ("poisson = 0.25", "poisson = 0.5"),
        ("spin = [0, 2, 0]", "spin = [0, 2, 0, 1]"),
        ("gravity = {", "gravity = { axle = 1,"),
        ("{ torus = {", "{ box = {}, torus = {"),
        ("model = \"fixed corotated\"", "modle = \"hencky\""),
    ] {
        assert!(COMPLETE.contains(from));
        let text = COMPLETE.replacen(from, to, 1);
        assert!(fault_of(&text).is_some(), "{to}");
        bad(&text);
    }
}

/// Every key of the schema occurs in the complete scene or below, so that all are tested.
#[test]
fn complete_scene_uses_every_key() {
    fn keys(schema: &Value, found: &mut Vec<String>) {
        match schema {
            Value::Object(object) => {
                if let Some(properties) = object.get("properties").and_then(Value::as_object) {
                    found.extend(properties.keys().cloned());
                }
                object.values().for_each(|v| keys(v, found));
            }
            Value::Array(list) => list.iter().for_each(|v| keys(v, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    keys(&schema(), &mut found);
    assert!(found.len() > 80);
    for key in found {
        assert!(COMPLETE.contains(&key), "{key}");
    }
}
