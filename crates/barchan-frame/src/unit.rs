//! Units of columns.

use serde::{Serialize, Serializer};
use std::fmt;

/// SI unit of a column. Frames and checkpoints use no others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Dimensionless: ratios, counts, indices.
    One,
    /// m
    Meter,
    /// m³
    CubicMeter,
    /// m/s
    MeterPerSecond,
    /// m/s²
    MeterPerSecondSquared,
    /// 1/s
    PerSecond,
    /// kg
    Kilogram,
    /// kg m
    KilogramMeter,
    /// Pa
    Pascal,
}

impl Unit {
    /// Every unit.
    pub const ALL: [Self; 9] = [
        Self::One,
        Self::Meter,
        Self::CubicMeter,
        Self::MeterPerSecond,
        Self::MeterPerSecondSquared,
        Self::PerSecond,
        Self::Kilogram,
        Self::KilogramMeter,
        Self::Pascal,
    ];

    /// Its symbol, `1` if dimensionless.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::One => "1",
            Self::Meter => "m",
            Self::CubicMeter => "m³",
            Self::MeterPerSecond => "m/s",
            Self::MeterPerSecondSquared => "m/s²",
            Self::PerSecond => "1/s",
            Self::Kilogram => "kg",
            Self::KilogramMeter => "kg m",
            Self::Pascal => "Pa",
        }
    }

    /// The unit with this symbol.
    pub fn from_symbol(symbol: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|unit| unit.symbol() == symbol)
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.symbol())
    }
}

impl Serialize for Unit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.symbol())
    }
}
