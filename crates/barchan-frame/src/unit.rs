//! Units of columns.

use serde::{Deserialize, Serialize};
use std::fmt;

/// SI unit of a column. Frames and checkpoints use no others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// Dimensionless: ratios, counts, indices.
    #[serde(rename = "1")]
    One,
    /// m
    #[serde(rename = "m")]
    Meter,
    /// m³
    #[serde(rename = "m³")]
    CubicMeter,
    /// m/s
    #[serde(rename = "m/s")]
    MeterPerSecond,
    /// m/s²
    #[serde(rename = "m/s²")]
    MeterPerSecondSquared,
    /// 1/s
    #[serde(rename = "1/s")]
    PerSecond,
    /// kg
    #[serde(rename = "kg")]
    Kilogram,
    /// kg m
    #[serde(rename = "kg m")]
    KilogramMeter,
    /// Pa
    #[serde(rename = "Pa")]
    Pascal,
}

/// Its symbol, `1` if dimensionless.
impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}
