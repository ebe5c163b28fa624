//! Material parameters of the method: friction, cohesion, viscosity; and its pure functions.

use super::kernel::Prototype;
use super::particles::Symmetric;
use crate::solver::SolverError;
use crate::solvers::refusal;
use barchan_scene::{Dimensions, Law, Material, SphMaterial, SphYield};

/// Parameters of a material in `sph`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SandLaw {
    /// Density at rest ρ0 [kg/m³].
    pub density: f64,
    /// sin θ of the angle of repose.
    pub sin_angle: f32,
    /// Artificial viscosity, dry and wet.
    pub viscosity: [f32; 2],
    /// Cohesion intensity κ, dry and wet [m³/(kg s²)].
    pub cohesion: [f32; 2],
}

impl SandLaw {
    /// Law for a material. Refuses materials other than sand.
    pub fn new(material: &Material, prototype: &Prototype) -> Result<Self, SolverError> {
        let Law::Sand(law) = &material.law else {
            return Err(refusal::elastic(&super::METHOD, material));
        };
        let angle = law.friction.last_angle();
        let SphMaterial {
            viscosity,
            cohesion_intensity,
            wet_viscosity,
            wet_cohesion_intensity,
        } = material.settings();
        let intensity_of = |c: f64| intensity(c, angle, material.density, prototype);
        let dry = cohesion_intensity.unwrap_or(intensity_of(law.cohesion));
        let wet = match (wet_cohesion_intensity, material.wet_cohesion) {
            (Some(own), _) => own,
            (None, Some(cohesion)) => intensity_of(cohesion),
            (None, None) => dry,
        };
        Ok(Self {
            density: material.density,
            sin_angle: angle.to_radians().sin() as f32,
            viscosity: [viscosity as f32, wet_viscosity.unwrap_or(viscosity) as f32],
            cohesion: [dry as f32, wet as f32],
        })
    }

    /// Viscosity and cohesion intensity at a wetness.
    pub fn at_wetness(&self, wetness: f32) -> (f32, f32) {
        let between = |[dry, wet]: [f32; 2]| dry + wetness * (wet - dry);
        (between(self.viscosity), between(self.cohesion))
    }
}

/// Smallest friction angle in the conversion of cohesion [degrees]: c cot θ is infinite at zero.
const MIN_ANGLE: f64 = 10.0;

/// Intensity κ whose pressure is c cot θ, the tension at the tip of the yield cone, for a cohesion
/// c [Pa].
fn intensity(c: f64, angle: f64, density: f64, prototype: &Prototype) -> f64 {
    c / angle.max(MIN_ANGLE).to_radians().tan() / tension(1.0, density, prototype)
}

/// Pressure [Pa] of the attraction of Eq. 22 in a lattice: κ ρ0² ⟨r²⟩/(2 d).
pub fn tension(intensity: f64, density: f64, prototype: &Prototype) -> f64 {
    let twice = 2.0 * prototype.dimensions.count() as f64;
    intensity * density * density * prototype.spread / twice
}

/// The deviatoric stress, projected onto the yield cone at a pressure [Pa], Eq. 4 and 13.
///
/// Differs from [Ihmsen13] Eq. 13, unless `yielding` selects it: the radial projection is traceless and isotropic.
#[inline(always)]
pub fn friction(
    stress: Symmetric,
    pressure: f32,
    sin_angle: f32,
    yielding: SphYield,
    dimensions: Dimensions,
) -> Symmetric {
    let s = deviator(stress, dimensions);
    match yielding {
        SphYield::Radial => {
            let most = std::f32::consts::SQRT_2 * sin_angle * pressure;
            let squared = square(&s);
            match squared > most * most {
                true => {
                    let part = most / squared.sqrt();
                    s.map(|x| part * x)
                }
                false => s,
            }
        }
        SphYield::PerComponent => {
            let most = (2.0f32 / 3.0).sqrt() * sin_angle * pressure;
            s.map(|x| x.clamp(-most, most))
        }
    }
}

/// The deviatoric part.
#[inline(always)]
pub fn deviator(s: Symmetric, dimensions: Dimensions) -> Symmetric {
    let [xx, yy, zz, yz, xz, xy] = s;
    match dimensions {
        Dimensions::Three => {
            let mean = (xx + yy + zz) / 3.0;
            [xx - mean, yy - mean, zz - mean, yz, xz, xy]
        }
        Dimensions::Two => {
            let mean = 0.5 * (xx + yy);
            [xx - mean, yy - mean, 0.0, 0.0, 0.0, xy]
        }
    }
}

/// Frobenius norm.
#[inline(always)]
pub fn norm(s: &Symmetric) -> f32 {
    square(s).sqrt()
}

#[inline(always)]
fn square(s: &Symmetric) -> f32 {
    let [xx, yy, zz, yz, xz, xy] = *s;
    xx * xx + yy * yy + zz * zz + 2.0 * (xy * xy + yz * yz + xz * xz)
}

/// γ ρ0 [Pa]: pressure per relative density error, Eq. 7.
pub fn stiffness(density: f64, dt: f64, prototype: &Prototype) -> f64 {
    density / (2.0 * dt * dt * prototype.squares)
}

/// 1/D [Pa s]: stress per strain rate, Eq. 12.
///
/// Differs from [Ihmsen13] Eq. 12, whose prefactor is inverted.
pub fn viscosity(density: f64, dt: f64, prototype: &Prototype) -> f64 {
    density * prototype.dimensions.count() as f64 / (2.0 * dt * prototype.squares)
}
