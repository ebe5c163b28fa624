//! The cases, a file per family.

mod axisymmetric;
mod collapse;
mod metamorphic;
mod silo;

use super::Case;

/// All cases, in the order of the report.
pub const CASES: &[Case] = &[
    axisymmetric::E1,
    collapse::E2,
    metamorphic::E9,
    silo::F3,
    metamorphic::P3,
    metamorphic::P4,
    metamorphic::P5,
    metamorphic::P9,
];
