//! The weights of the guides and the fraction of ballistic motion, after [Ihmsen13] §4.2.
//!
//! A grain moves with (1 − α) of the interpolated velocity and α of its own. As printed,
//!
//! ```text
//! α = 1 − max w   where max w / Σ w ≥ 0.6 or max w ≤ w(r),   else 0
//! ```
//!
//! which jumps by 1 − w(r) = 0.298 at a distance of one radius, and where one guide has six tenths of the sum.
//! Differs from [Ihmsen13]: α is 1 without guides, where Eq. 24 and α are 0/0; and [`Method::Blended`] lets α fade inside the
//! material ([`FADE`]).

/// Support radius h of the weights [radii of a base particle], §4.2.
pub const SUPPORT: f32 = 3.0;

/// Fraction of the sum of weights above which a single guide dominates a grain (below Eq. 25).
pub const ISOLATED: f64 = 0.6;

/// w(r), the weight of a guide one radius away: (1 − 1/9)³.
pub const WEIGHT_AT_RADIUS: f64 = 512.0 / 729.0;

/// Sums of weights up to this are treated as zero, since their reciprocal would not be finite.
pub const MIN_WEIGHT_SUM: f64 = 1e-30;

/// Sums of weights, as fractions of [`bulk_weight_sum`], between which α fades from its printed value to 0. At a plane
/// surface the sum is half of that in the bulk.
///
/// Differs from [Ihmsen13]: as printed, the gaps between particles count as sparse, 48 % of the volume of a cubic lattice.
/// Grains there sink through a base at rest until a particle is within one radius, and collect in layers.
pub const FADE: [f64; 2] = [0.55, 0.75];

/// Which grains move ballistically, and by which fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Every grain, by the fraction α of [Ihmsen13], which fades to 0 inside the material.
    #[default]
    Blended,
    /// Every grain, by the fraction α of [Ihmsen13] as printed.
    Printed,
    /// Grains with at most one guide, entirely, after [Alduan09]; all others follow their guides.
    Clamped,
}

impl Method {
    /// Name on the command line and in manifests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Blended => "blended",
            Self::Printed => "printed",
            Self::Clamped => "clamped",
        }
    }

    /// The method of that name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Blended, Self::Printed, Self::Clamped]
            .into_iter()
            .find(|m| m.name() == name)
    }
}

/// Sum of the weights in the bulk of a material whose particles are a diameter apart: ∫ w / (2r)ᵈ.
pub fn bulk_weight_sum(flat: bool) -> f64 {
    let (pi, h) = (std::f64::consts::PI, f64::from(SUPPORT));
    match flat {
        true => pi * h.powi(2) / 4.0 / 4.0,
        false => 64.0 / 315.0 * pi * h.powi(3) / 8.0,
    }
}

/// The equations in double precision, as references for the step.
#[cfg(test)]
pub(super) mod reference {
    use super::*;

    /// Eq. 23, of a squared distance over h².
    pub fn weight(squared: f64) -> f64 {
        (1.0 - squared).max(0.0).powi(3)
    }

    /// α as printed, from the sum of the weights and the largest.
    pub fn alpha(total: f64, largest: f64) -> f64 {
        if total <= MIN_WEIGHT_SUM {
            return 1.0;
        }
        let isolated = largest / total >= ISOLATED;
        let far = largest <= WEIGHT_AT_RADIUS;
        if isolated || far { 1.0 - largest } else { 0.0 }
    }

    /// Factor on α: 1 at and outside the surface, 0 in the bulk.
    pub fn fade(total: f64, flat: bool) -> f64 {
        let part = total / bulk_weight_sum(flat);
        ((FADE[1] - part) / (FADE[1] - FADE[0])).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::reference::{alpha, fade, weight};
    use super::*;

    /// w at a distance in radii of a base particle.
    fn at(distance: f64) -> f64 {
        weight((distance / f64::from(SUPPORT)).powi(2))
    }

    #[test]
    fn weights_have_the_values_of_the_paper() {
        for (distance, expected) in [(0.0, 1.0), (1.0, 0.70233), (2.0, 0.17147), (3.0, 0.0)] {
            assert!((at(distance) - expected).abs() < 1e-5, "w({distance} r)");
        }
        assert_eq!(at(3.5), 0.0);
        assert!((at(1.0) - WEIGHT_AT_RADIUS).abs() < 1e-7);
    }

    #[test]
    fn alpha_of_a_single_neighbor_is_one_minus_its_weight() {
        for i in 0..30 {
            let w = at(f64::from(i) / 10.0);
            assert!((alpha(w, w) - (1.0 - w)).abs() < 1e-12);
        }
    }

    #[test]
    fn alpha_is_zero_in_dense_material() {
        assert_eq!(alpha(3.0, 0.71), 0.0);
        // Far from all guides, or with one much nearer than the others, alpha is positive.
        assert!((alpha(3.0, 0.70) - 0.3).abs() < 1e-12);
        assert!((alpha(1.19, 0.72) - 0.28).abs() < 1e-12);
    }

    /// Sum of the weights of a cubic lattice at a position [spacings], below a surface at height 0.
    fn lattice_sum(place: [f64; 3]) -> f64 {
        let mut sum = 0.0;
        for i in -4..5 {
            for j in -9..0 {
                for k in -4..5 {
                    let node = [f64::from(i), f64::from(j) + 0.5, f64::from(k)];
                    let squared: f64 = (0..3).map(|a| (2.0 * (node[a] - place[a])).powi(2)).sum();
                    sum += weight(squared / f64::from(SUPPORT).powi(2));
                }
            }
        }
        sum
    }

    #[test]
    fn alpha_fades_inside_the_material_and_stays_at_its_surface() {
        assert!((bulk_weight_sum(false) - 2.1542).abs() < 1e-3);
        assert!((bulk_weight_sum(true) - 1.7671).abs() < 1e-3);
        for i in 0..20 {
            for k in 0..20 {
                let (x, z) = (f64::from(i) / 20.0, f64::from(k) / 20.0);
                for y in [-3.0, -2.8, -2.5, -2.2] {
                    let sum = lattice_sum([x, y, z]);
                    assert!((sum / bulk_weight_sum(false) - 1.0).abs() < 0.11, "{sum}");
                    assert_eq!(fade(sum, false), 0.0);
                }
                assert!(fade(lattice_sum([x, 0.0, z]), false) > 0.99);
                assert_eq!(fade(lattice_sum([x, 0.3, z]), false), 1.0);
            }
        }
        // Sparse regions are as printed.
        assert_eq!(fade(1.0, false), 1.0);
        assert_eq!(fade(0.0, true), 1.0);
        // Negative control: as printed, the center of a lattice cell counts as sparse.
        let middle = lattice_sum([0.5, -3.0, 0.5]);
        let largest = weight(3.0 / f64::from(SUPPORT).powi(2));
        assert!(alpha(middle, largest) > 0.6);
    }

    #[test]
    fn alpha_has_the_documented_jumps() {
        let step = 1e-9;
        let jump = alpha(9.0, WEIGHT_AT_RADIUS) - alpha(9.0, WEIGHT_AT_RADIUS + step);
        assert!((jump - 0.29767).abs() < 1e-4, "at one radius: {jump}");
        let largest = WEIGHT_AT_RADIUS + step;
        let [alone, one_of_some] =
            [0.6 + step, 0.6 - step].map(|part| alpha(largest / part, largest));
        let jump = alone - one_of_some;
        assert!(
            (jump - 0.29767).abs() < 1e-4,
            "at six tenths of the sum: {jump}"
        );
    }

    #[test]
    fn without_neighbors_alpha_is_one_and_undefined_as_printed() {
        assert_eq!(alpha(0.0, 0.0), 1.0);
        // Negative control: Eq. 24 and the first case of α without the guard.
        let (total, largest, momentum) = (0.0_f64, 0.0_f64, 0.0_f64);
        assert!((momentum / total).is_nan() && (largest / total).is_nan());
    }
}
