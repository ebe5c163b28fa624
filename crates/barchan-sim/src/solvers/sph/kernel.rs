//! The cubic spline kernel, and its sums over a lattice at rest.

use crate::neighbors::cells_between;
use barchan_scene::Dimensions;
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x16};
use glam::{DVec3, IVec3};

/// Number of wavelengths sampled for the peak.
const WAVES: u32 = 64;

/// Cubic spline W(r, h) of support h [Ihmsen13] §3.5.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kernel {
    /// Support [m].
    pub support: f32,
    /// W(0): 8/(π h³) in 3D [1/m³], 40/(7 π h²) in 2D [1/m²].
    scale: f32,
}

impl Kernel {
    /// Kernel of a support [m].
    pub fn new(support: f64, dimensions: Dimensions) -> Self {
        use std::f64::consts::PI;
        let scale = match dimensions {
            Dimensions::Three => 8.0 / (PI * support.powi(3)),
            Dimensions::Two => 40.0 / (7.0 * PI * support.powi(2)),
        };
        Self {
            support: support as f32,
            scale: scale as f32,
        }
    }

    /// W at a distance [m] [1/m³; 1/m² in 2D].
    #[inline(always)]
    pub fn value(&self, r: f32) -> f32 {
        let q = (r / self.support).min(1.0);
        let far = 1.0 - q;
        let inner = 1.0 + 6.0 * q * q * (q - 1.0);
        let outer = 2.0 * far * far * far;
        self.scale * if q < 0.5 { inner } else { outer }
    }

    /// dW/dr over r at a distance [m]: ∇W = slope · (x_i − x_j).
    #[inline(always)]
    pub fn slope(&self, r: f32) -> f32 {
        let q = (r / self.support).min(1.0);
        let far = 1.0 - q;
        // dW/dq over q, finite at 0.
        let inner = 6.0 * (3.0 * q - 2.0);
        let outer = -6.0 * far * far / q.max(0.5);
        let by_q = if q < 0.5 { inner } else { outer };
        self.scale * by_q / (self.support * self.support)
    }

    /// W and dW/dr over r at sixteen distances [m]; 0 beyond the support.
    #[inline(always)]
    pub fn lanes<S: Simd>(&self, simd: S, r: f32x16<S>) -> (f32x16<S>, f32x16<S>) {
        let number = |x: f32| f32x16::splat(simd, x);
        let q = (r * (1.0 / self.support)).min(number(1.0));
        let far = number(1.0) - q;
        let is_near = q.simd_lt(number(0.5));
        let inner = q * q * 6.0 * (q - 1.0) + 1.0;
        let outer = far * far * far * 2.0;
        let value = is_near.select(inner, outer) * self.scale;
        let inner = q * 18.0 - 12.0;
        let outer = far * far * -6.0 / q.max(number(0.5));
        let scale = self.scale / (self.support * self.support);
        (value, is_near.select(inner, outer) * scale)
    }
}

/// Kernel sums of a particle in a cubic lattice: the prototype of [Ihmsen13].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prototype {
    /// Dimensions of the lattice.
    pub dimensions: Dimensions,
    /// Σ V W with the particle itself: 1 up to the error of the kernel.
    pub fraction: f64,
    /// Σ |V ∇W|² [1/m²].
    pub squares: f64,
    /// The largest |Σ V ∇W e^{ik·x}|² of any wave [1/m²]: the largest collective response.
    pub collective_response: f64,
    /// ⟨r²⟩ = Σ V W r² [m²].
    pub spread: f64,
}

impl Prototype {
    /// Sums for a spacing d0 [m], with the support 2 d0.
    pub fn new(spacing: f64, dimensions: Dimensions) -> Self {
        let kernel = Kernel::new(2.0 * spacing, dimensions);
        let volume = spacing.powi(dimensions.count() as i32);
        // The response is largest along the diagonal.
        let diagonal = match dimensions {
            Dimensions::Three => IVec3::ONE,
            Dimensions::Two => IVec3::new(1, 1, 0),
        };
        let sites = cells_between(-2 * diagonal, 2 * diagonal);
        let sites: Vec<DVec3> = sites.map(|site| site.as_dvec3()).collect();
        let gradient = |p: DVec3| {
            let r = spacing * p.length();
            volume * f64::from(kernel.slope(r as f32)) * spacing * p
        };
        let mut sums = Self {
            dimensions,
            fraction: 0.0,
            squares: 0.0,
            collective_response: 0.0,
            spread: 0.0,
        };
        for p in &sites {
            let r = spacing * p.length();
            let weight = volume * f64::from(kernel.value(r as f32));
            sums.fraction += weight;
            sums.squares += gradient(*p).length_squared();
            sums.spread += weight * r * r;
        }
        for step in 1..=WAVES {
            let wave =
                diagonal.as_dvec3() * (std::f64::consts::PI * f64::from(step) / f64::from(WAVES));
            let responses = sites.iter().map(|p| gradient(*p) * wave.dot(*p).sin());
            let response: DVec3 = responses.sum();
            sums.collective_response = sums.collective_response.max(response.length_squared());
        }
        sums
    }
}
