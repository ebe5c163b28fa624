//! The cases, a file per family.

mod axisymmetric;
mod bodies;
mod collapse;
mod confined;
mod conservation;
mod earthmoving;
mod element;
mod metamorphic;
mod pbd;
mod silo;
mod slope;
mod sph;

use super::Case;

/// All cases, in the order of the report.
pub const CASES: &[Case] = &[
    bodies::A4,
    sph::B1,
    sph::B2,
    element::C2,
    element::C4,
    element::C7,
    bodies::D1,
    sph::D1,
    sph::D2,
    sph::D3,
    slope::D4,
    axisymmetric::E1,
    collapse::E2,
    collapse::E3,
    slope::E4,
    sph::E5,
    pbd::E6,
    sph::E7,
    metamorphic::E9,
    silo::F1,
    silo::F2,
    silo::F3,
    confined::F4,
    confined::F5,
    earthmoving::G4,
    earthmoving::G5,
    earthmoving::G7,
    pbd::J7,
    pbd::J8,
    sph::L1,
    sph::L2,
    sph::L3,
    sph::L4,
    sph::L5,
    sph::L6,
    sph::L7,
    sph::L9,
    sph::L10,
    conservation::P2,
    metamorphic::P3,
    metamorphic::P4,
    metamorphic::P5,
    conservation::P7,
    conservation::P8,
    metamorphic::P9,
];
