//! Sites of the grains that cut soil becomes: a face-centered cubic lattice fixed in space.
//!
//! The volume per site is the bulk volume of a grain, so that a cut volume turns into its own mass of grains. Grains of
//! neighboring columns, or of the next step, cannot overlap because they share the lattice.

use super::{GrainSize, SpawnedGrain};
use crate::height_field::Layout;
use crate::sampling::random::Random;
use glam::Vec3;
use std::ops::RangeInclusive;

/// Largest offset of a grain from its site along each axis, as a fraction of its radius.
const JITTER: f32 = 0.015;

/// The lattice, as horizontal close-packed layers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Lattice {
    /// Distance of neighboring sites [m].
    pub spacing: f32,
    /// Distance of neighboring layers [m].
    pub layer: f32,
    /// Smallest and largest radius [m].
    pub smallest: f32,
    pub largest: f32,
    /// Density of a grain [kg/m³].
    density: f64,
}

impl Lattice {
    pub fn new(grain: &GrainSize, bulk_density: f64) -> Self {
        let (r, s) = (f64::from(grain.radius), f64::from(grain.spread));
        let mean_volume = 4.0 / 3.0 * std::f64::consts::PI * r.powi(3) * (1.0 + s * s);
        let bulk_volume = grain.mass / bulk_density;
        let spacing = (std::f64::consts::SQRT_2 * bulk_volume).cbrt() as f32;
        // Neighbors of half the spacing just touch: larger radii of the distribution are clamped.
        let largest = (grain.radius * (1.0 + grain.spread)).min(0.5 * spacing);
        Self {
            spacing,
            layer: spacing * (2.0f32 / 3.0).sqrt(),
            smallest: (grain.radius * (1.0 - grain.spread)).min(largest),
            largest,
            density: grain.mass / mean_volume,
        }
    }

    /// The grains of all sites over a column between two heights [m], from the bottom up.
    pub fn sites(
        &self,
        layout: &Layout,
        column: usize,
        [bottom, top]: [f32; 2],
    ) -> impl Iterator<Item = SpawnedGrain> + use<> {
        let lattice = *self;
        let [i, j] = layout.coordinates(column);
        let (x0, x1) = (layout.edge(0, i), layout.edge(0, i + 1));
        let (z0, z1) = (layout.edge(1, j), layout.edge(1, j + 1));
        let row = self.spacing * 0.75f32.sqrt();
        let layers = (bottom / self.layer).ceil() as i64..=(top / self.layer).floor() as i64;
        let sites = layers.flat_map(move |k| {
            // Layers are stacked ABC: each lies over the gaps of the one below.
            let stacking = k.rem_euclid(3);
            let shift = stacking as f32 / 3.0;
            integers(z0 / row - shift, z1 / row - shift).flat_map(move |m| {
                let z = (m as f32 + shift) * row;
                let half = 0.5 * (m.rem_euclid(2) + stacking) as f32;
                let spacing = lattice.spacing;
                integers(x0 / spacing - half, x1 / spacing - half).map(move |n| {
                    let x = (n as f32 + half) * spacing;
                    ([n, k, m], Vec3::new(x, k as f32 * lattice.layer, z))
                })
            })
        });
        sites
            .filter(move |(_, site)| (x0..x1).contains(&site.x) && (z0..z1).contains(&site.z))
            .map(move |(indices, site)| lattice.grain(indices, site))
    }

    /// The grain of a site, a function of its indices alone.
    fn grain(&self, indices: [i64; 3], site: Vec3) -> SpawnedGrain {
        let key = indices.iter().fold(0x7e44_a1d5_u64, |key, n| {
            Random::new(key ^ (*n as u64)).next()
        });
        let mut random = Random::new(key);
        let radius = self.smallest + (self.largest - self.smallest) * random.unit();
        let jitter = Vec3::from_array(std::array::from_fn(|_| 2.0 * random.unit() - 1.0));
        let volume = 4.0 / 3.0 * std::f64::consts::PI * f64::from(radius).powi(3);
        SpawnedGrain {
            position: site + JITTER * radius * jitter,
            radius,
            mass: f64::from((self.density * volume) as f32),
        }
    }
}

/// Integers from just below to just above a range.
fn integers(low: f32, high: f32) -> RangeInclusive<i64> {
    low.floor() as i64..=high.ceil() as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec2;

    fn grain(spread: f32) -> GrainSize {
        let (radius, packing) = (0.05f32, 0.6f32);
        let volume = 4.0 / 3.0 * std::f64::consts::PI * f64::from(radius).powi(3);
        let volume = volume * (1.0 + f64::from(spread).powi(2));
        GrainSize {
            radius,
            spread,
            mass: 1600.0 / f64::from(packing) * volume,
        }
    }

    const LAYOUT: Layout = Layout {
        origin: Vec2::new(-1.0, -1.0),
        cell: 0.1,
        columns: [20, 20],
    };

    fn all(lattice: &Lattice) -> Vec<SpawnedGrain> {
        (0..LAYOUT.count())
            .flat_map(|column| lattice.sites(&LAYOUT, column, [-1.0, 1.0]))
            .collect()
    }

    /// No site belongs to two columns, and the volume per site is that of a grain in the bulk.
    #[test]
    fn sites_fill_space_once_at_the_bulk_density() {
        let grain = grain(0.0);
        let grains = all(&Lattice::new(&grain, 1600.0));
        let mass: f64 = grains.iter().map(|g| g.mass).sum();
        let bulk = 1600.0 * 8.0;
        assert!((mass / bulk - 1.0).abs() < 0.03, "{mass} of {bulk}");
    }

    #[test]
    fn grains_overlap_by_at_most_five_percent() {
        for spread in [0.0, 0.1, 0.3] {
            let mut grains = all(&Lattice::new(&grain(spread), 1600.0));
            grains.sort_by(|a, b| a.position.x.total_cmp(&b.position.x));
            let mut deepest = 0.0f32;
            for (i, a) in grains.iter().enumerate() {
                let near = grains[i + 1..]
                    .iter()
                    .take_while(|b| b.position.x - a.position.x < 0.12);
                for b in near {
                    let gap = a.position.distance(b.position) - a.radius - b.radius;
                    deepest = deepest.max(-gap / a.radius.min(b.radius));
                }
            }
            assert!(deepest < 0.05, "spread {spread}: {deepest} of a radius");
        }
    }
}
