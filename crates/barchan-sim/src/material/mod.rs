//! Constitutive laws as pure functions over a [`crate::math::Scalar`], and their state variables.
//!
//! A law takes e = b − I, where b = F Fᵀ is the elastic left Cauchy–Green tensor, and returns the Kirchhoff stress
//! τ = P Fᵀ, which is all that the grid forces need. All laws here are isotropic, so b replaces F with only six
//! numbers; storing b − I keeps strains of 1e-6 exact in f32. See docs/adr/0002.
//!
//! A law declares its state in its own file, as columns of rows ([`ConstitutiveLaw::COLUMNS`]); sorting, padding, frames and
//! checkpoints follow the declaration. A particle has as many rows as the largest law *of its scene*. A new law is a file
//! and a variant of [`PreparedLaw`].

pub mod drucker_prager;
pub mod elastic;
pub mod hencky;

use crate::math::lanes::{LANES, Row};
use crate::math::sym3::Mat3;
use crate::math::{Scalar, Sym3};
use crate::sampling::Samples;
use barchan_frame::Unit;
use barchan_scene::{Dimensions, Law, Material};
use drucker_prager::Sand;
use elastic::Elastic;
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x16, i32x16};

/// A named state variable of a law.
#[derive(Debug, Clone, Copy)]
pub struct StateColumn {
    /// Name in checkpoints and frames.
    pub name: &'static str,
    /// Rows, one a component.
    pub components: usize,
    /// SI unit.
    pub unit: Unit,
    /// Meaning, in one line.
    pub meaning: &'static str,
    /// Value of a new particle.
    pub initial: fn(&Samples) -> f32,
}

impl StateColumn {
    /// A column that begins at zero.
    pub const fn new(
        name: &'static str,
        components: usize,
        unit: Unit,
        meaning: &'static str,
    ) -> Self {
        Self {
            name,
            components,
            unit,
            meaning,
            initial: |_| 0.0,
        }
    }
}

/// A byte of state that is part of every frame, such as the last plastic case.
#[derive(Debug, Clone, Copy)]
pub struct FlagColumn {
    /// Name in checkpoints and frames.
    pub name: &'static str,
    /// Meaning of the values.
    pub meaning: &'static str,
}

/// A law as a solver uses it. Its state is `ROWS` numbers, in the order of [`Self::COLUMNS`].
pub trait ConstitutiveLaw<const ROWS: usize> {
    /// Columns of the state, which fill its rows.
    const COLUMNS: &'static [StateColumn];
    /// The flag, for a law that has one.
    const FLAG: Option<FlagColumn> = None;

    /// Speed of the fastest elastic wave at this density [kg/m³], in m/s.
    fn wave_speed(&self, density: f64) -> f64;

    /// Return mapping: the projected state and stress of a trial state, and the flag.
    fn return_map<T: Scalar, const D: usize>(&self, trial: [T; ROWS]) -> ([T; ROWS], T);

    /// The state after the elastic increment Δt ∇v, before any projection (Eq. 16 of [Klar16]). Its stress is not set.
    ///
    /// This and the following functions serve solids, which keep [`STRAIN`] in their first six rows and [`STRESS`] in the next.
    #[inline(always)]
    fn trial<T: Scalar>(&self, mut state: [T; ROWS], increment: &Mat3<T>) -> [T; ROWS] {
        let strain = strain_of(&state).pushed_forward(increment);
        state[..6].copy_from_slice(&strain.to_array());
        state
    }

    /// Kirchhoff stress τ [Pa] of a state.
    #[inline(always)]
    fn stress<T: Scalar>(&self, state: &[T; ROWS]) -> Sym3<T> {
        Sym3::from_array(std::array::from_fn(|i| state[6 + i]))
    }

    /// J² = det b of a state.
    fn volume_ratio_squared<T: Scalar>(&self, state: &[T; ROWS]) -> T {
        state[0].constant(1.0) + strain_of(state).det_identity_plus_m1()
    }

    /// Sum of the magnitudes of the strain; not finite after a blow-up.
    #[inline(always)]
    fn strain_magnitude<T: Scalar>(&self, state: &[T; ROWS]) -> T {
        let mut sum = state[0].abs();
        for e in &state[1..6] {
            sum = sum + e.abs();
        }
        sum
    }
}

/// b − I of a solid.
pub const STRAIN: StateColumn =
    StateColumn::new("strain", 6, Unit::One, "elastic b − I: xx yy zz yz xz xy");

/// τ of a solid.
pub const STRESS: StateColumn = StateColumn::new(
    "stress",
    6,
    Unit::Pascal,
    "Kirchhoff stress: xx yy zz yz xz xy",
);

/// b − I in the first six rows.
#[inline(always)]
fn strain_of<T: Scalar, const ROWS: usize>(state: &[T; ROWS]) -> Sym3<T> {
    Sym3::from_array(std::array::from_fn(|i| state[i]))
}

/// A material's law, prepared for stepping.
#[derive(Debug, Clone, Copy)]
pub enum PreparedLaw {
    /// Drucker–Prager.
    Sand(Sand),
    /// Hyperelastic.
    Elastic(Elastic),
}

/// Evaluates an expression for the law of a material, for any type of law.
macro_rules! with_law {
    ($prepared:expr, $law:ident => $result:expr) => {
        match $prepared {
            $crate::material::PreparedLaw::Sand($law) => $result,
            $crate::material::PreparedLaw::Elastic($law) => $result,
        }
    };
}
pub(crate) use with_law;

impl PreparedLaw {
    /// Prepares the law of a material.
    pub fn new(material: &Material, dimensions: Dimensions) -> Self {
        match &material.law {
            Law::Sand(law) => Self::Sand(Sand::new(law, material.settings(), dimensions)),
            Law::Elastic(law) => Self::Elastic(Elastic::new(law, dimensions)),
        }
    }

    /// Columns of the state, in the order of its rows.
    pub fn columns(&self) -> &'static [StateColumn] {
        with_law!(self, law => columns_of(law))
    }

    /// The flag, for a law that has one.
    pub fn flag(&self) -> Option<FlagColumn> {
        with_law!(self, law => flag_of(law))
    }

    /// Rows of the state.
    pub fn rows(&self) -> usize {
        self.columns().iter().map(|c| c.components).sum()
    }

    /// Speed of the fastest elastic wave at this density [kg/m³], in m/s.
    pub fn wave_speed(&self, density: f64) -> f64 {
        with_law!(self, law => law.wave_speed(density))
    }

    /// Kirchhoff stress [Pa] of one particle and its J².
    pub fn stress_of(&self, state: &[Row], lane: usize) -> (Sym3<f32>, f32) {
        with_law!(self, law => stress_of(law, state, lane))
    }

    /// Kirchhoff stress [Pa] of sixteen particles.
    #[inline(always)]
    pub fn stress<S: Simd>(&self, simd: S, state: &[Row]) -> Sym3<f32x16<S>> {
        with_law!(self, law => ConstitutiveLaw::stress(law, &load(simd, state)))
    }

    /// [`ConstitutiveLaw::strain_magnitude`] of sixteen particles.
    #[inline(always)]
    pub fn strain_magnitude<S: Simd>(&self, simd: S, state: &[Row]) -> f32x16<S> {
        with_law!(self, law => law.strain_magnitude(&load(simd, state)))
    }

    /// [`ConstitutiveLaw::trial`] of sixteen particles.
    #[inline(always)]
    pub fn trial<S: Simd>(
        &self,
        simd: S,
        state: &[Row],
        increment: &Mat3<f32x16<S>>,
        trial: &mut [Row],
    ) {
        with_law!(self, law => store(law.trial(load(simd, state), increment), trial));
    }

    /// [`ConstitutiveLaw::return_map`] of sixteen particles, in place. Returns the strain's magnitude.
    #[inline(always)]
    pub fn return_map<S: Simd, const D: usize>(
        &self,
        simd: S,
        state: &mut [Row],
        flags: &mut [u8; LANES],
    ) -> f32x16<S> {
        with_law!(self, law => finish::<S, _, _, D>(law, load(simd, state), state, flags))
    }

    /// Trial and return mapping of sixteen particles, in place. Returns the strain's magnitude.
    #[inline(always)]
    pub fn advance<S: Simd, const D: usize>(
        &self,
        simd: S,
        state: &mut [Row],
        increment: &Mat3<f32x16<S>>,
        flags: &mut [u8; LANES],
    ) -> f32x16<S> {
        with_law!(self, law => {
            let trial = law.trial(load(simd, state), increment);
            finish::<S, _, _, D>(law, trial, state, flags)
        })
    }

    /// Rows of a column of this law; `None` for a name that it does not have.
    pub fn rows_of(&self, name: &str) -> Option<std::ops::Range<usize>> {
        let mut first = 0;
        for column in self.columns() {
            if column.name == name {
                return Some(first..first + column.components);
            }
            first += column.components;
        }
        None
    }
}

/// Rows of a particle's state in a scene with these laws.
pub fn state_rows(laws: &[PreparedLaw]) -> usize {
    laws.iter().map(PreparedLaw::rows).fold(1, usize::max)
}

/// Columns of a scene with these laws: those of each law, by name, in the order of their first mention.
pub fn state_columns(laws: &[PreparedLaw]) -> Vec<StateColumn> {
    let all = laws.iter().flat_map(PreparedLaw::columns).copied();
    distinct(all, |column| column.name)
}

/// Flags of a scene with these laws.
pub fn flag_columns(laws: &[PreparedLaw]) -> Vec<FlagColumn> {
    let all = laws.iter().filter_map(PreparedLaw::flag);
    distinct(all, |flag| flag.name)
}

fn distinct<T>(all: impl Iterator<Item = T>, name: fn(&T) -> &'static str) -> Vec<T> {
    let mut found: Vec<T> = Vec::new();
    for item in all {
        if found.iter().all(|other| name(other) != name(&item)) {
            found.push(item);
        }
    }
    found
}

fn columns_of<L: ConstitutiveLaw<N>, const N: usize>(_: &L) -> &'static [StateColumn] {
    const {
        let (mut rows, mut i) = (0, 0);
        while i < L::COLUMNS.len() {
            rows += L::COLUMNS[i].components;
            i += 1;
        }
        assert!(rows == N, "the columns of a law fill its rows");
    }
    L::COLUMNS
}

fn flag_of<L: ConstitutiveLaw<N>, const N: usize>(_: &L) -> Option<FlagColumn> {
    L::FLAG
}

fn stress_of<L: ConstitutiveLaw<N>, const N: usize>(
    law: &L,
    state: &[Row],
    lane: usize,
) -> (Sym3<f32>, f32) {
    let mut own = [0.0; N];
    for (value, row) in own.iter_mut().zip(state) {
        *value = row.0[lane];
    }
    (law.stress(&own), law.volume_ratio_squared(&own))
}

#[inline(always)]
fn load<S: Simd, const N: usize>(simd: S, state: &[Row]) -> [f32x16<S>; N] {
    let mut rows = [f32x16::splat(simd, 0.0); N];
    let state = &state[..N];
    for i in 0..N {
        rows[i] = f32x16::load_array_ref(simd, &state[i].0);
    }
    rows
}

#[inline(always)]
fn store<S: Simd, const N: usize>(rows: [f32x16<S>; N], state: &mut [Row]) {
    let state = &mut state[..N];
    for i in 0..N {
        rows[i].store_array(&mut state[i].0);
    }
}

#[inline(always)]
fn finish<S: Simd, L: ConstitutiveLaw<N>, const N: usize, const D: usize>(
    law: &L,
    trial: [f32x16<S>; N],
    state: &mut [Row],
    flags: &mut [u8; LANES],
) -> f32x16<S> {
    let (rows, flag) = law.return_map::<_, D>(trial);
    if L::FLAG.is_some() {
        let flag: i32x16<S> = flag.to_int();
        let flag = flag.to_array();
        for lane in 0..LANES {
            flags[lane] = flag[lane] as u8;
        }
    }
    store(rows, state);
    law.strain_magnitude(&rows)
}

/// Lamé parameters (λ, μ) [Pa] from Young's modulus [Pa] and Poisson ratio.
pub fn lame(young: f64, poisson: f64) -> (f64, f64) {
    let lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
    let mu = young / (2.0 * (1.0 + poisson));
    (lambda, mu)
}

/// Speed of the compression wave √((λ + 2μ)/ρ) [m/s].
pub fn wave_speed(young: f64, poisson: f64, density: f64) -> f64 {
    let (lambda, mu) = lame(young, poisson);
    compression_wave_speed(lambda, mu, density)
}

fn compression_wave_speed(lambda: f64, mu: f64, density: f64) -> f64 {
    ((lambda + 2.0 * mu) / density).sqrt()
}
