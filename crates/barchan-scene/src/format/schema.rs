//! The keys as a JSON schema, for completion and checks in editors.

use super::keys::{SCENE, SHAPE};
use super::shapes::kinds;
use super::spec::{Key, Kind, Range};
use serde_json::{Map, Value, json};

/// JSON schema (2020-12) of the scene file.
pub fn schema() -> Value {
    let mut schema = table(SCENE);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("barchan scene");
    let mut shape = table(SHAPE);
    let one = |kind| json!({ "required": [kind] });
    shape["oneOf"] = kinds().map(one).collect();
    schema["$defs"] = json!({ "shape": shape });
    schema
}

fn table(keys: &[Key]) -> Value {
    let mut properties = Map::new();
    for key in keys {
        let mut property = kind(key.kind);
        property["description"] = json!(key.doc);
        if let Some(default) = default(key) {
            property["default"] = default;
        }
        properties.insert(key.name.to_owned(), property);
    }
    let required: Vec<&str> = keys.iter().filter(|k| k.required).map(|k| k.name).collect();
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// The default of a key, from TOML.
fn default(key: &Key) -> Option<Value> {
    let document: toml::Table = format!("x = {}", key.default).parse().ok()?;
    serde_json::to_value(document.get("x")?).ok()
}

fn kind(of: Kind) -> Value {
    match of {
        Kind::Text => json!({ "type": "string" }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Integer(range) => number("integer", range),
        Kind::Number(range) => number("number", range),
        Kind::Vector(limit) => vector(limit),
        Kind::Numbers(count) => list(json!({ "type": "number" }), count, count),
        Kind::Interval(range) => list(number("number", range), 2, 2),
        Kind::Rows => {
            let row = json!({ "type": "array", "items": { "type": "number" }, "minItems": 1 });
            json!({ "type": "array", "items": row, "minItems": 1 })
        }
        Kind::Choice(words) => json!({ "type": "string", "enum": words }),
        Kind::Texts(count) => list(json!({ "type": "string" }), count, count),
        Kind::NumberOr(range, keys) => json!({ "oneOf": [number("number", range), table(keys)] }),
        Kind::Table(keys) => table(keys),
        Kind::Named(keys) => json!({ "type": "object", "additionalProperties": table(keys) }),
        Kind::VectorOr(limit, keys) => json!({ "oneOf": [vector(limit), table(keys)] }),
        Kind::Color => color(),
        Kind::ColorMix(keys) => {
            let mix = json!({ "type": "array", "items": table(keys), "minItems": 1 });
            json!({ "oneOf": [color(), mix] })
        }
        Kind::Points | Kind::Words(_) | Kind::Tables(_) | Kind::Shapes => {
            json!({ "type": "array", "items": of.items().map(kind) })
        }
        Kind::Shape => json!({ "$ref": "#/$defs/shape" }),
    }
}

fn number(kind: &str, range: Range) -> Value {
    let low = if range.low_open {
        "exclusiveMinimum"
    } else {
        "minimum"
    };
    let high = if range.high_open {
        "exclusiveMaximum"
    } else {
        "maximum"
    };
    json!({ "type": kind, low: range.low, high: range.high })
}

fn color() -> Value {
    list(number("integer", Range::closed(0.0, 255.0)), 3, 3)
}

fn vector(limit: f64) -> Value {
    list(number("number", Range::closed(-limit, limit)), 2, 3)
}

fn list(items: Value, least: usize, most: usize) -> Value {
    json!({ "type": "array", "items": items, "minItems": least, "maxItems": most })
}
