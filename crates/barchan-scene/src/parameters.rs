//! Parameters of a material that can be changed while it is simulated, with the ranges and units of the keys of the
//! scene file. The file of a family in `families` lists its parameters; its method in barchan-sim gives their values.

use crate::format::{Key, Kind, Range};
use crate::model::{Friction, Law};
use serde::Serialize;

/// A parameter that a material has.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Parameter {
    /// Key in the scene file.
    pub key: &'static str,
    /// Meaning, without the unit.
    pub meaning: String,
    /// Unit; empty when it has none.
    pub unit: String,
    /// Its value.
    pub value: f64,
    /// Lower end of the slider.
    pub low: f64,
    /// Upper end of the slider.
    pub high: f64,
    /// Scale of a slider.
    pub scale: Scale,
    #[serde(skip)]
    range: Range,
}

/// Scale of a slider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Linear.
    Linear,
    /// Cubic from zero: fine at small values.
    Cubic,
    /// Logarithmic.
    Logarithmic,
}

/// Ratio of the ends of a slider from which its scale is logarithmic.
const WIDE: f64 = 100.0;

impl Parameter {
    /// The parameter of a key with a slider.
    pub(crate) fn new(key: &'static Key, value: f64) -> Option<Self> {
        let (Some([low, high]), Kind::Number(range)) = (key.slider, &key.kind) else {
            return None;
        };
        let (low, high) = (low.min(value), high.max(value));
        let (meaning, unit) = meaning_and_unit(key.doc);
        Some(Self {
            key: key.name,
            meaning,
            unit,
            value,
            low,
            high,
            scale: scale(low, high),
            range: *range,
        })
    }

    /// Whether the scene file accepts the value.
    pub fn allows(&self, value: f64) -> bool {
        self.range.contains(value)
    }

    /// The values that the scene file accepts, in words.
    pub fn range(&self) -> String {
        self.range.to_string()
    }
}

fn scale(low: f64, high: f64) -> Scale {
    if low > 0.0 && high / low >= WIDE {
        Scale::Logarithmic
    } else if low == 0.0 && high > WIDE {
        Scale::Cubic
    } else {
        Scale::Linear
    }
}

/// Splits the meaning of a key into the text before its unit and the unit in brackets.
fn meaning_and_unit(doc: &str) -> (String, String) {
    let first = doc.split(';').next().unwrap_or(doc);
    match first.split_once(" [") {
        Some((meaning, rest)) => {
            let unit = rest.split(']').next().unwrap_or_default();
            (meaning.to_owned(), unit.to_owned())
        }
        None => (first.to_owned(), String::new()),
    }
}

impl Law {
    /// The number under a key of the scene file that can be changed while it is simulated, if the law has it.
    pub fn parameter(&mut self, key: &str) -> Option<&mut f64> {
        match (self, key) {
            (Self::Sand(law), "young") => Some(&mut law.young),
            (Self::Sand(law), "cohesion") => Some(&mut law.cohesion),
            (Self::Sand(law), "friction_angle") => match &mut law.friction {
                Friction::Constant(angle) => Some(angle),
                Friction::Hardening { .. } => None,
            },
            (Self::Elastic(law), "young") => Some(&mut law.young),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FAMILIES;

    #[test]
    fn live_keys_have_sliders_within_their_range() {
        for family in FAMILIES {
            for name in family.live {
                assert!(family.live_keys().any(|k| k.name == *name), "{name}");
            }
            for key in family.live_keys() {
                let (Some([low, high]), Kind::Number(range)) = (key.slider, &key.kind) else {
                    panic!("{} has no slider", key.name);
                };
                assert!(low < high && range.contains(low) && range.contains(high));
            }
        }
    }

    #[test]
    fn sliders_extend_to_the_present_value() {
        let [young, ..] = &crate::MPM.parameters(|_| Some(1e11))[..] else {
            panic!("mpm has parameters");
        };
        assert_eq!((young.key, young.value, young.high), ("young", 1e11, 1e11));
        assert_eq!(young.scale, Scale::Logarithmic);
        assert_eq!(
            (young.meaning.as_str(), young.unit.as_str()),
            ("Young's modulus", "Pa")
        );
        assert!(young.allows(1.0) && !young.allows(0.0) && !young.allows(f64::NAN));
    }
}
