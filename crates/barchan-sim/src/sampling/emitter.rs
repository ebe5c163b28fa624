//! Emitters: a column of packed material is extruded through an orifice.
//!
//! The column is the periodic tile, cut to the outline of the orifice. It advances at the speed s that gives the mass rate;
//! the grain at depth c is emitted at start + c/s and moves on with the velocity of the emitter.
//! Emission is a function of the time interval, so a resumed run needs no record of emitted grains.

use super::{Samples, Spacing};
use barchan_scene::{Dimensions, Emitter};
use glam::{DVec3, Vec3};

/// Samples the grains of an emitter for any time interval.
#[derive(Debug, Clone)]
pub struct EmitterSampler {
    /// Depth in the column [m], position in the orifice [m] and radius [m], sorted by depth.
    grains: Vec<(f64, DVec3, f32)>,
    has_radius: bool,
    /// Length of the column after which it repeats [m].
    period: f64,
    /// Speed of the column [m/s].
    sweep: f64,
    velocity: DVec3,
    /// The emitter.
    pub emitter: Emitter,
    /// Area of the orifice [m²] (in 2D: its width times 1 m).
    pub(super) area: f64,
    volume: f64,
}

impl EmitterSampler {
    /// Prepares an emitter of material with a bulk density [kg/m³].
    ///
    /// An orifice without area, or a velocity or rate of zero, emits nothing.
    pub fn new(
        emitter: &Emitter,
        density: f64,
        spacing: &Spacing,
        dimensions: Dimensions,
        seed: u64,
    ) -> Self {
        let velocity = planar(emitter.velocity, dimensions);
        let area = emitter.shape.cross_section(velocity, dimensions);
        let sweep = sweep_speed(emitter, density, area, dimensions);
        let mut sampler = Self {
            grains: Vec::new(),
            has_radius: spacing.grain.is_some(),
            period: 1.0,
            sweep,
            velocity: velocity.as_dvec3(),
            emitter: emitter.clone(),
            area,
            volume: 0.0,
        };
        if area > 0.0 && area.is_finite() && sweep > 0.0 && sweep.is_finite() {
            sampler.pack(spacing, dimensions, seed);
        }
        sampler
    }

    /// Cuts the column out of the tile; the grains of a period share the volume of the column.
    fn pack(&mut self, spacing: &Spacing, dimensions: Dimensions, seed: u64) {
        let tile = spacing.tile(dimensions, seed);
        let numbers = spacing.number_density(dimensions);
        let mean = spacing.grain.map_or(0.0, |(radius, _)| radius as f32);
        self.period = (tile.len() as f64 / numbers).powf(1.0 / dimensions.count() as f64);
        let shape = &self.emitter.shape;
        let bounds = shape.bounds();
        let center = planar(bounds.center(), dimensions).as_dvec3();
        let along = self.velocity.normalize();
        let (u, v, size) = match dimensions {
            Dimensions::Three => {
                let (u, v) = along.any_orthonormal_pair();
                (u, v, bounds.size())
            }
            Dimensions::Two => {
                let u = DVec3::new(-along.y, along.x, 0.0);
                (u, DVec3::ZERO, planar(bounds.size(), dimensions))
            }
        };
        let tiles = (0.5 * f64::from(size.length()) / self.period).ceil() as i64;
        let across = match dimensions {
            Dimensions::Three => -tiles..tiles,
            Dimensions::Two => 0..1,
        };
        for j in across {
            for i in -tiles..tiles {
                for (p, radius) in tile.blocks.iter().flatten() {
                    let (a, b, c) = match dimensions {
                        Dimensions::Three => (p.x, p.y, p.z),
                        Dimensions::Two => (p.x, 0.0, p.y),
                    };
                    let offset = (i as f64 + f64::from(a)) * u + (j as f64 + f64::from(b)) * v;
                    let place = center + self.period * offset;
                    if shape.distance(place.as_vec3()) < 0.0 {
                        self.grains
                            .push((self.period * f64::from(c), place, mean * radius));
                    }
                }
            }
        }
        if self.grains.is_empty() {
            // An orifice narrower than the gaps between grains: single file through its center.
            let count = (self.area * self.period * numbers).ceil().max(1.0);
            let step = self.period / count;
            self.grains = (0..count as usize)
                .map(|i| ((i as f64 + 0.5) * step, center, mean))
                .collect();
        }
        self.grains.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.volume = self.area * self.period / self.grains.len() as f64;
    }

    /// The grains emitted in [from, to) [s], at their positions at the time `to`.
    pub fn emit(&self, from: f64, to: f64) -> Samples {
        let mut out = Samples::none(self.emitter.material);
        out.volume = self.volume as f32;
        out.volume_gain = (self.velocity.length() / self.sweep).ln().max(0.0) as f32;
        let (start, end) = (self.emitter.start, self.emitter.end);
        let (first, last) = (from.max(start), to.min(end));
        if self.grains.is_empty() || first >= last || from.is_nan() || to.is_nan() {
            return out;
        }
        let depth = |t: f64| (t - start) * self.sweep;
        // Depths only narrow the search, with a tolerance; the emission times decide.
        let slack = 1e-9 * (depth(last).abs() + self.period);
        let periods = |c: f64| (c / self.period).floor();
        let mut period = periods(depth(first) - slack).max(0.0);
        while period <= periods(depth(last) + slack) {
            let base = period * self.period;
            let low = depth(first) - slack - base;
            let begin = self.grains.partition_point(|g| g.0 < low);
            let high = depth(last) + slack - base;
            for (c, place, radius) in self.grains[begin..].iter().take_while(|g| g.0 <= high) {
                let birth = start + (base + c) / self.sweep;
                if first <= birth && birth < last {
                    let p = *place + self.velocity * (to - birth);
                    out.position.push(p.as_vec3());
                    if self.has_radius {
                        out.radius.push(*radius);
                    }
                }
            }
            period += 1.0;
        }
        out.velocity = vec![self.velocity.as_vec3(); out.position.len()];
        out
    }
}

/// Volume of material [m³] emitted in the first `duration` seconds of the run.
pub(super) fn emitted_volume(
    emitter: &Emitter,
    density: f64,
    duration: f64,
    dimensions: Dimensions,
) -> f64 {
    let area = emitter
        .shape
        .cross_section(planar(emitter.velocity, dimensions), dimensions);
    let sweep = sweep_speed(emitter, density, area, dimensions);
    let time = (duration.min(emitter.end) - emitter.start).max(0.0);
    if area > 0.0 && sweep > 0.0 {
        area * sweep * time
    } else {
        0.0
    }
}

fn sweep_speed(emitter: &Emitter, density: f64, area: f64, dimensions: Dimensions) -> f64 {
    let speed = f64::from(planar(emitter.velocity, dimensions).length());
    match emitter.rate {
        Some(rate) if speed > 0.0 => rate / (density * area),
        _ => speed,
    }
}

/// The vector; in 2D with z = 0.
fn planar(v: Vec3, dimensions: Dimensions) -> Vec3 {
    match dimensions {
        Dimensions::Two => Vec3::new(v.x, v.y, 0.0),
        Dimensions::Three => v,
    }
}
