//! Exact values in JSON, as hexadecimal digits: the bits of floats, and bytes. Decimal digits have no NaN and no infinity,
//! and come back the same only where every reader rounds correctly.

use serde::{Deserialize, Deserializer, Serializer, de};

/// Writes a float as the 16 digits of its bits.
pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&format!("{:016x}", value.to_bits()))
}

/// Reads a float from the digits of its bits.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let bytes = bytes::deserialize(deserializer)?;
    let bits = <[u8; 8]>::try_from(bytes.as_slice());
    let bits = bits.map_err(|_| de::Error::invalid_length(2 * bytes.len(), &"16 digits"))?;
    Ok(f64::from_bits(u64::from_be_bytes(bits)))
}

/// Bytes, two digits each.
pub(crate) mod bytes {
    use super::{Deserialize, Deserializer, Serializer, de};

    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digits = |byte: &u8| {
            [
                DIGITS[usize::from(byte >> 4)],
                DIGITS[usize::from(byte & 15)],
            ]
        };
        let text: String = bytes.iter().flat_map(digits).map(char::from).collect();
        serializer.serialize_str(&text)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digit = |digit: &u8| char::from(*digit).to_digit(16).map(|value| value as u8);
        let byte = |pair: &[u8; 2]| Some(16 * digit(&pair[0])? + digit(&pair[1])?);
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        let bytes = pairs.iter().map(byte).collect::<Option<Vec<u8>>>();
        bytes
            .filter(|_| rest.is_empty())
            .ok_or_else(|| de::Error::custom("expected pairs of hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize)]
    struct Both {
        #[serde(with = "super")]
        float: f64,
        #[serde(with = "super::bytes")]
        bytes: Vec<u8>,
    }

    #[test]
    fn every_bit_comes_back() {
        let odd = f64::from_bits(0x7ff8_0000_dead_beef);
        for float in [
            0.1 + 0.2,
            -0.0,
            f64::MIN_POSITIVE / 4.0,
            f64::NEG_INFINITY,
            odd,
        ] {
            let bytes: Vec<u8> = (0..=255).collect();
            let text = serde_json::to_string(&Both {
                float,
                bytes: bytes.clone(),
            })
            .unwrap();
            let back: Both = serde_json::from_str(&text).unwrap();
            assert_eq!(back.float.to_bits(), float.to_bits());
            assert_eq!(back.bytes, bytes);
        }
    }

    #[test]
    fn malformed_digits_are_refused() {
        let read = |float: &str, bytes: &str| {
            let text = format!(r#"{{"float": {float}, "bytes": {bytes}}}"#);
            serde_json::from_str::<Both>(&text)
        };
        let one = r#""3ff0000000000000""#;
        assert_eq!(read(one, r#""00fF""#).unwrap().bytes, [0, 255]);
        for float in [
            "1.0",
            "null",
            r#""""#,
            r#""3ff""#,
            r#""+ff0000000000000""#,
            r#""3ff00000000000000000""#,
        ] {
            assert!(read(float, r#""""#).is_err(), "{float}");
        }
        for bytes in ["7", r#""0""#, r#""0g""#, r#""é0""#] {
            assert!(read(one, bytes).is_err(), "{bytes}");
        }
    }
}
