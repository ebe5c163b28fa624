//! The cubic spline kernel, and what it sums up to on a lattice at rest.

use barchan_scene::Dimensions;

/// Cubic spline W(r, h) of support h [Ihmsen13] §3.5.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kernel {
    /// Support [m].
    pub support: f32,
    /// W(0)/1: 8/(π h³) in space, 40/(7 π h²) in the plane.
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

    /// W at a distance [m] (1/m³; 1/m² in the plane).
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
        // Over q, finite at 0.
        let inner = 6.0 * (3.0 * q - 2.0);
        let outer = -6.0 * far * far / q.max(0.5);
        let by_q = if q < 0.5 { inner } else { outer };
        self.scale * by_q / (self.support * self.support)
    }
}

/// Sums over the neighbours of a particle in a cubic lattice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prototype {
    /// Dimensions of the lattice.
    pub dimensions: Dimensions,
    /// Σ V W with the particle itself: 1 up to the error of the kernel.
    pub fraction: f64,
    /// Σ |V ∇W|² [1/m²].
    pub squares: f64,
    /// ⟨r²⟩ = Σ V W r² [m²].
    pub spread: f64,
}

impl Prototype {
    /// Sums for a spacing d0 [m], with the support 2 d0.
    pub fn new(spacing: f64, dimensions: Dimensions) -> Self {
        let kernel = Kernel::new(2.0 * spacing, dimensions);
        let volume = spacing.powi(dimensions.count() as i32);
        let layers = match dimensions {
            Dimensions::Three => -2..=2,
            Dimensions::Two => 0..=0,
        };
        let mut sums = Self {
            dimensions,
            fraction: 0.0,
            squares: 0.0,
            spread: 0.0,
        };
        for k in layers {
            for j in -2i32..=2 {
                for i in -2i32..=2 {
                    let r = f64::from(i * i + j * j + k * k).sqrt() * spacing;
                    let weight = volume * f64::from(kernel.value(r as f32));
                    let gradient = volume * f64::from(kernel.slope(r as f32)) * r;
                    sums.fraction += weight;
                    sums.squares += gradient * gradient;
                    sums.spread += weight * r * r;
                }
            }
        }
        sums
    }
}
