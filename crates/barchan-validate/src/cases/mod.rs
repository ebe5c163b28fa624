//! The cases, one file per family.

mod axisymmetric;
mod collapse;
mod confined;
mod conservation;
mod earthmoving;
mod elasticity;
mod element;
mod element_state;
mod friction;
mod localization;
mod metamorphic;
mod pbd;
mod pbd_contact;
mod pbd_stack;
mod pile;
mod rest;
mod ridge;
mod silo;
mod slope;
mod sph;
mod terrain;
mod transfers;

use super::Case;

/// A number of iterations in the name of a check.
fn iterations(count: u32) -> String {
    match count {
        1 => "1 iteration".into(),
        count => format!("{count} iterations"),
    }
}

/// All cases, in the order of the report.
pub const CASES: &[Case] = &[
    transfers::A1,
    transfers::A2,
    transfers::A3,
    transfers::A4,
    transfers::A5,
    elasticity::B1,
    sph::B1,
    elasticity::B2,
    sph::B2,
    elasticity::B3,
    elasticity::B4,
    elasticity::B5,
    elasticity::B6,
    element::C1,
    element::C2,
    element::C3,
    element::C4,
    element::C5,
    element_state::C6,
    element_state::C7,
    element_state::C8,
    element_state::C9,
    friction::D1,
    friction::D2,
    friction::D3,
    pbd::D1,
    pbd::D2,
    pbd::D3,
    sph::D1,
    sph::D2,
    sph::D3,
    slope::D4,
    localization::D6,
    rest::D7,
    axisymmetric::E1,
    collapse::E2,
    collapse::E3,
    ridge::E4,
    sph::E5,
    pile::E6,
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
    pbd_contact::J1,
    pbd_contact::J2,
    pbd_contact::J3,
    pbd_contact::J4,
    pbd_contact::J5,
    pbd_contact::J6,
    pbd_stack::J7,
    pbd_stack::J8,
    sph::L1,
    sph::L2,
    sph::L3,
    sph::L4,
    sph::L5,
    sph::L6,
    sph::L7,
    sph::L9,
    sph::L10,
    terrain::O1,
    terrain::O2,
    terrain::O3,
    terrain::O4,
    terrain::O5,
    conservation::P1,
    conservation::P2,
    metamorphic::P3,
    metamorphic::P4,
    metamorphic::P5,
    conservation::P7,
    conservation::P8,
    metamorphic::P9,
];
