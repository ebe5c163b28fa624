//! Digests: of a state, of a scene document, of the record of a frame.

use crate::column::{Column, ColumnData};
use serde_json::Value;

/// Digest of a state; see [`crate::State::digest`].
pub(crate) fn state_digest(time: f64, columns: &[Column], arrays: &[Column]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&time.to_bits().to_le_bytes());
    for column in columns.iter().chain(arrays) {
        hash_text(&mut hasher, &column.name);
        hash_text(&mut hasher, column.data.type_name());
        hasher.update(&(column.components as u64).to_le_bytes());
        hasher.update(&(column.data.len() as u64).to_le_bytes());
        match &column.data {
            ColumnData::F32(v) => hash_values(&mut hasher, v, |x| x.to_bits().to_le_bytes()),
            ColumnData::U8(v) => drop(hasher.update(v)),
            ColumnData::U32(v) => hash_values(&mut hasher, v, |x| x.to_le_bytes()),
            ColumnData::U64(v) => hash_values(&mut hasher, v, |x| x.to_le_bytes()),
        }
    }
    hasher.finalize().to_hex().to_string()
}

/// blake3 (hexadecimal) of a resolved scene document, as in [`crate::Manifest::scene_digest`].
pub fn document_digest(document: &str) -> String {
    bytes_digest(document.as_bytes())
}

/// blake3 (hexadecimal) of bytes.
pub(crate) fn bytes_digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// blake3 (hexadecimal) of a JSON value, whatever the order of its keys.
pub(crate) fn json_digest(value: &Value) -> String {
    let mut hasher = blake3::Hasher::new();
    hash_json(&mut hasher, value);
    hasher.finalize().to_hex().to_string()
}

/// Hashes a text after its length, so that different sequences of texts have different hashes.
fn hash_text(hasher: &mut blake3::Hasher, text: &str) {
    hasher.update(&(text.len() as u64).to_le_bytes());
    hasher.update(text.as_bytes());
}

fn hash_values<T: Copy, const N: usize>(
    hasher: &mut blake3::Hasher,
    values: &[T],
    to_bytes: impl Fn(T) -> [u8; N],
) {
    let mut buffer = Vec::with_capacity(values.len().min(1 << 16) * N);
    for part in values.chunks(1 << 16) {
        buffer.clear();
        buffer.extend(part.iter().flat_map(|&v| to_bytes(v)));
        hasher.update(&buffer);
    }
}

fn hash_json(hasher: &mut blake3::Hasher, value: &Value) {
    match value {
        Value::Array(items) => {
            hash_text(hasher, "array");
            hasher.update(&(items.len() as u64).to_le_bytes());
            items.iter().for_each(|item| hash_json(hasher, item));
        }
        Value::Object(map) => {
            hash_text(hasher, "object");
            hasher.update(&(map.len() as u64).to_le_bytes());
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort_unstable();
            for key in keys {
                hash_text(hasher, key);
                hash_json(hasher, &map[key]);
            }
        }
        leaf => hash_text(hasher, &leaf.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Frame, Unit};

    fn state() -> Frame {
        Frame {
            time: 0.5,
            columns: vec![
                Column::vector3(
                    "position",
                    Unit::Meter,
                    "",
                    0.0,
                    vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
                ),
                Column::exact("id", Unit::One, "", 1, ColumnData::U32(vec![0, 1])),
            ],
            ..Frame::default()
        }
    }

    #[test]
    fn one_bit_anywhere_changes_the_digest() {
        let reference = state().digest();
        assert_eq!(reference, state().digest());
        for value in 0..6 {
            for bit in 0..32 {
                let mut other = state();
                if let ColumnData::F32(v) = &mut other.columns[0].data {
                    v[value] = f32::from_bits(v[value].to_bits() ^ (1 << bit));
                }
                assert_ne!(other.digest(), reference, "value {value}, bit {bit}");
            }
        }
        let mut later = state();
        later.time = f64::from_bits(later.time.to_bits() + 1);
        assert_ne!(later.digest(), reference);
    }

    #[test]
    fn names_and_shapes_are_included_and_records_are_not() {
        let reference = state().digest();
        let mut renamed = state();
        renamed.columns[0].name = "positioN".into();
        assert_ne!(renamed.digest(), reference);
        let mut reshaped = state();
        reshaped.columns[0].components = 2;
        assert_ne!(reshaped.digest(), reference);
        let mut annotated = state();
        annotated.record.statistics.particles = 1;
        assert_eq!(annotated.digest(), reference);
    }

    #[test]
    fn json_digest_ignores_key_order_only() {
        let a: Value = serde_json::from_str(r#"{"a": 1, "b": [1, 2.5]}"#).unwrap();
        let b: Value = serde_json::from_str(r#"{"b": [1, 2.5], "a": 1}"#).unwrap();
        let c: Value = serde_json::from_str(r#"{"b": [2.5, 1], "a": 1}"#).unwrap();
        assert_eq!(json_digest(&a), json_digest(&b));
        assert_ne!(json_digest(&a), json_digest(&c));
    }
}
