//! Exact floats in JSON, as the hexadecimal digits of their bits. Decimal digits cannot
//! represent NaN and infinity, and are exact only if every reader rounds correctly.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A float that is serialized as its bits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Exact(#[serde(with = "crate::exact")] pub f64);

/// Writes a float as the 16 digits of its bits.
pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&format!("{:016x}", value.to_bits()))
}

/// Reads a float from the digits of its bits.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let text = String::deserialize(deserializer)?;
    let is_whole = text.len() == 16 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    let bits = u64::from_str_radix(&text, 16).ok().filter(|_| is_whole);
    let bits = bits.ok_or_else(|| de::Error::custom("expected 16 hexadecimal digits"))?;
    Ok(f64::from_bits(bits))
}

#[cfg(test)]
mod tests {
    use super::Exact;

    #[test]
    fn every_bit_survives_a_round_trip() {
        let odd = f64::from_bits(0x7ff8_0000_dead_beef);
        let tiny = f64::MIN_POSITIVE / 4.0;
        for float in [0.1 + 0.2, -0.0, tiny, f64::NEG_INFINITY, odd] {
            let text = serde_json::to_string(&Exact(float)).unwrap();
            let back: Exact = serde_json::from_str(&text).unwrap();
            assert_eq!(back.0.to_bits(), float.to_bits());
        }
    }

    #[test]
    fn malformed_digits_are_refused() {
        let read = |text: &str| serde_json::from_str::<Exact>(text);
        assert_eq!(read(r#""3ff0000000000000""#).unwrap().0, 1.0);
        for text in [
            "1.0",
            "null",
            r#""""#,
            r#""3ff""#,
            r#""+ff0000000000000""#,
            r#""3ff00000000000000""#,
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
