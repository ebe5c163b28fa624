//! The yield surface of the sand of `mpm`, for measurements and pictures of stress.
//!
//! Nothing here depends on solvers: a test of barchan-sim compares these formulas with those of the law.

use barchan_scene::{ConeMatch, Dimensions, Friction, SandLaw};

/// ‖dev τ‖ + α tr τ ≤ c_C, with τ the Kirchhoff stress, tension positive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct YieldCone {
    /// Slope α.
    pub slope: f64,
    /// c_C [Pa].
    pub cohesion: f64,
}

impl YieldCone {
    /// The yield surface at hardening state q. Cohesion is taken at the angle that hardening ends with.
    pub fn new(law: &SandLaw, cone: ConeMatch, q: f64, dimensions: Dimensions) -> Self {
        let sin = friction_angle(law.friction, q).to_radians().sin();
        let (last_sin, last_cos) = law.friction.last_angle().to_radians().sin_cos();
        Self {
            slope: match (cone, dimensions) {
                (ConeMatch::Triaxial, _) => (2.0f64 / 3.0).sqrt() * 2.0 * sin / (3.0 - sin),
                (ConeMatch::PlaneStrain, Dimensions::Three) => 2.0f64.sqrt() * sin / 3.0,
                (ConeMatch::PlaneStrain, Dimensions::Two) => sin / 2.0f64.sqrt(),
            },
            cohesion: match cone {
                ConeMatch::Triaxial => {
                    2.0 * 6.0f64.sqrt() * law.cohesion * last_cos / (3.0 - last_sin)
                }
                ConeMatch::PlaneStrain => 2.0f64.sqrt() * law.cohesion * last_cos,
            },
        }
    }

    /// Largest ‖dev τ‖ at a trace of τ [Pa]; 0 beyond the tip.
    pub fn radius(&self, trace: f64) -> f64 {
        (self.cohesion - self.slope * trace).max(0.0)
    }

    /// Trace of τ at the tip [Pa]; `None` where the cone is a cylinder.
    pub fn tip(&self) -> Option<f64> {
        let tip = self.cohesion / self.slope;
        (self.slope > 0.0 && tip.is_finite()).then_some(tip)
    }
}

/// Friction angle [degrees] at hardening state q: Eq. 30 of [Klar16].
pub fn friction_angle(friction: Friction, q: f64) -> f64 {
    match friction {
        Friction::Constant(angle) => angle,
        Friction::Hardening { h0, h1, h2, h3 } => h0 + (h1 * q - h3) * (-h2 * q).exp(),
    }
}
