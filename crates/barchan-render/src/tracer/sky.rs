//! Environment light: a sun disk and a sky that is brighter at the horizon.

use glam::Vec3;

/// Angular radius of the sun [rad]: larger than in nature, as through thin haze.
const SUN_RADIUS: f32 = 0.035;
/// Sunlight reflected by a white diffuse surface that faces the sun.
const SUN: Vec3 = Vec3::new(1.18, 1.08, 0.94);
/// Radiance of the sun's mirror image.
const GLINT: f32 = 12.0;
const ZENITH: Vec3 = Vec3::new(0.32, 0.42, 0.56);
const HORIZON: Vec3 = Vec3::new(0.84, 0.87, 0.90);
/// Radiance below the horizon.
const BELOW: Vec3 = Vec3::new(0.42, 0.41, 0.40);

/// Sun and sky.
#[derive(Debug, Clone, Copy)]
pub struct Sky {
    /// Unit vector to the center of the sun.
    pub sun: Vec3,
}

impl Sky {
    /// The sun `elevation` [rad] above the horizon, turned by `azimuth` [rad] about +y from +z.
    pub fn with_sun(azimuth: f32, elevation: f32) -> Self {
        let (sin, cos) = azimuth.sin_cos();
        let flat = elevation.cos();
        Self {
            sun: Vec3::new(flat * sin, elevation.sin(), flat * cos),
        }
    }

    /// Radiance from a direction, without the sun.
    pub fn radiance(&self, direction: Vec3) -> Vec3 {
        let up = direction.y;
        if up >= 0.0 {
            HORIZON.lerp(ZENITH, up)
        } else {
            HORIZON.lerp(BELOW, (-6.0 * up).min(1.0))
        }
    }

    /// The same with the glint of the sun, as a polished surface shows it.
    pub fn mirrored(&self, direction: Vec3) -> Vec3 {
        let off = 2.0 - 2.0 * direction.dot(self.sun);
        let glint = GLINT * (-off / (SUN_RADIUS * SUN_RADIUS)).exp();
        self.radiance(direction) + glint * SUN
    }

    /// Direction to a sampled point of the sun disk.
    pub fn toward_sun(&self, [u, v]: [f32; 2]) -> Vec3 {
        let (sin, cos) = (std::f32::consts::TAU * u).sin_cos();
        let r = SUN_RADIUS * v.sqrt();
        let (a, b) = self.sun.any_orthonormal_pair();
        (self.sun + r * (cos * a + sin * b)).normalize()
    }

    /// Sunlight reflected by a white diffuse surface that faces the sun.
    pub fn sunlight(&self) -> Vec3 {
        SUN
    }

    /// Color into which distant ground fades.
    pub fn horizon(&self) -> Vec3 {
        HORIZON
    }
}

/// Cosine-distributed direction about a unit normal: importance sampling of a diffuse surface.
pub fn cosine_direction(normal: Vec3, [u, v]: [f32; 2]) -> Vec3 {
    let (sin, cos) = (std::f32::consts::TAU * u).sin_cos();
    let r = v.sqrt();
    let (a, b) = normal.any_orthonormal_pair();
    (r * (cos * a + sin * b) + (1.0 - v).max(0.0).sqrt() * normal).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_surface_gathers_the_sky_at_two_thirds_of_its_height() {
        let sky = Sky::with_sun(0.3, 0.8);
        let mut sum = Vec3::ZERO;
        let n = 128;
        for i in 0..n {
            for j in 0..n {
                let square = [(i as f32 + 0.5) / n as f32, (j as f32 + 0.5) / n as f32];
                sum += sky.radiance(cosine_direction(Vec3::Y, square));
            }
        }
        let mean = sum / (n * n) as f32;
        assert!((mean - HORIZON.lerp(ZENITH, 2.0 / 3.0)).abs().max_element() < 2e-3);
    }

    #[test]
    fn the_sun_is_where_it_was_put() {
        let sky = Sky::with_sun(0.7, 0.9);
        assert!((sky.sun.y.asin() - 0.9).abs() < 1e-6);
        let direction = sky.toward_sun([0.4, 1.0]);
        assert!((direction.angle_between(sky.sun) - SUN_RADIUS).abs() < 1e-3);
    }
}
