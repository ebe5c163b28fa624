//! The path tracing integrator: radiance from sun and sky at a pixel.

use super::bodies::{Body, Material};
use super::relief::Relief;
use super::sampler::Sampler;
use super::sky::{Sky, cosine_direction};
use super::spheres::Spheres;
use super::{Hit, Ray};
use crate::camera::Camera;
use crate::picture::Picture;
use barchan_scene::color::screen;
use glam::Vec3;
use rayon::prelude::*;

/// Reflectance of glass at normal incidence.
const GLASS_REFLECTION: f32 = 0.04;
/// Fraction of sunlight that a glass body transmits.
const GLASS_SHADE: f32 = 0.8;
/// Maximum number of surfaces of a glass body that a ray crosses.
const GLASS_SURFACES: usize = 8;
/// Fraction of the sky's radiance assumed where the sky is occluded after the last bounce.
const DEEP: f32 = 0.3;

/// Fade above which a plane is no longer visible.
const NEARLY_ALL: f32 = 0.995;

/// Rendering effort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quality {
    /// Paths through each pixel.
    pub samples: u32,
    /// Surfaces at which a path gathers sunlight; after the last one only the visibility of the sky is tested.
    pub bounces: u32,
}

impl Quality {
    /// Preview: shadows and occlusion, with some noise.
    pub const PREVIEW: Self = Self {
        samples: 3,
        bounces: 1,
    };
    /// Films and print.
    pub const PRODUCTION: Self = Self {
        samples: 24,
        bounces: 2,
    };
}

/// An infinite plane, visible only from the side of its normal.
#[derive(Debug, Clone, Copy)]
pub struct Plane {
    /// A point of it [m].
    pub point: Vec3,
    /// Unit vector.
    pub normal: Vec3,
    /// Color in linear light.
    pub color: Vec3,
}

/// The scene to be rendered, during one exposure.
pub struct Stage {
    /// Grains.
    pub spheres: Spheres,
    /// Bodies of finite size.
    pub bodies: Vec<Body>,
    /// Ground, walls and slopes.
    pub planes: Vec<Plane>,
    /// Soil at rest.
    pub relief: Option<Relief>,
    /// Light.
    pub sky: Sky,
    /// Distance from `center` over which planes fade into the horizon [m].
    pub fade: f32,
    /// Center of the visible extent [m].
    pub center: Vec3,
    /// Offset of secondary rays [m]: invisible, but larger than rounding errors.
    pub epsilon: f32,
}

impl Stage {
    /// Renders the stage. The bytes do not depend on the number of threads; `frame` varies the noise.
    pub fn draw(&self, camera: &Camera, size: [u32; 2], quality: Quality, frame: u32) -> Picture {
        let [width, height] = size;
        let mut picture = Picture::filled(width, height, [0; 3]);
        let row_bytes = 3 * width as usize;
        if row_bytes == 0 {
            return picture;
        }
        let rows = picture.rgb.par_chunks_mut(row_bytes).enumerate();
        rows.for_each(|(y, row)| {
            for (x, pixel) in row.as_chunks_mut::<3>().0.iter_mut().enumerate() {
                let number = y as u32 * width + x as u32;
                let mut sum = Vec3::ZERO;
                for sample in 0..quality.samples {
                    let mut sampler = Sampler::new(number, frame, sample, quality.samples);
                    let [u, v] = sampler.two().map(tent);
                    let time = sampler.one() - 0.5;
                    let ray = camera.ray(x as f32 + 0.5 + u, y as f32 + 0.5 + v, time);
                    sum += self.light(ray, quality.bounces, &mut sampler);
                }
                *pixel = develop(sum / quality.samples.max(1) as f32);
            }
        });
        picture
    }

    /// Radiance along a path: sunlight is gathered at each surface, and the path continues in a cosine-distributed direction.
    fn light(&self, mut ray: Ray, bounces: u32, sampler: &mut Sampler) -> Vec3 {
        let mut light = Vec3::ZERO;
        let mut carried = Vec3::ONE;
        for bounce in 0..bounces {
            let hit = self.closest(&ray);
            if bounce == 0 {
                // For camera rays only: caustics and tinted indirect light are neglected.
                let limit = hit.as_ref().map_or(f32::INFINITY, |h| h.t);
                (light, carried) = self.through_glass(&ray, limit);
            }
            let Some(hit) = hit else {
                return light + carried * self.sky.radiance(ray.direction);
            };
            if hit.faded > 0.0 {
                light += hit.faded * carried * self.sky.horizon();
                carried *= 1.0 - hit.faded;
                if hit.faded > NEARLY_ALL {
                    return light;
                }
            }
            carried *= hit.albedo;
            let origin = ray.at(hit.t) + self.epsilon * hit.normal;
            let to_sun = self.sky.toward_sun(sampler.two());
            let facing = hit.normal.dot(to_sun);
            if facing > 0.0 {
                let shadow = Ray {
                    origin,
                    direction: to_sun,
                    ..ray
                };
                light += carried * facing * self.visible(&shadow) * self.sky.sunlight();
            }
            let direction = cosine_direction(hit.normal, sampler.two());
            ray = Ray {
                origin,
                direction,
                ..ray
            };
        }
        let sky = self.sky.radiance(ray.direction);
        light + carried * sky * (DEEP + (1.0 - DEEP) * self.visible(&ray))
    }

    /// Closest opaque hit on a ray.
    fn closest(&self, ray: &Ray) -> Option<Hit> {
        let mut limit = f32::INFINITY;
        let mut found = None;
        for plane in &self.planes {
            if let Some(t) = plane.intersect(ray, limit) {
                limit = t;
                let away = (ray.at(t) - self.center).length() / self.fade;
                found = Some(Hit {
                    t,
                    normal: plane.normal,
                    albedo: plane.color,
                    faded: 1.0 - (-away * away).exp(),
                });
            }
        }
        for body in &self.bodies {
            let Material::Matte(albedo) = body.material else {
                continue;
            };
            if let Some(hit) = body.closest(ray, limit) {
                limit = hit.t;
                // Shells are visible from inside too: the normal faces the viewer.
                let normal = hit.normal * -hit.normal.dot(ray.direction).signum();
                found = Some(Hit {
                    t: hit.t,
                    normal,
                    albedo,
                    faded: 0.0,
                });
            }
        }
        if let Some(hit) = self.relief.as_ref().and_then(|r| r.closest(ray, limit)) {
            limit = hit.t;
            found = Some(hit);
        }
        self.spheres.closest(ray, limit).or(found)
    }

    /// Sky radiance reflected by glass before `limit`, and the transmittance of that glass.
    fn through_glass(&self, ray: &Ray, limit: f32) -> (Vec3, Vec3) {
        let mut reflected = Vec3::ZERO;
        let mut passed = Vec3::ONE;
        for body in self.bodies.iter().filter(|b| b.material == Material::Glass) {
            let mut start = 0.0;
            for _ in 0..GLASS_SURFACES {
                let moved = Ray {
                    origin: ray.at(start),
                    ..*ray
                };
                let Some(hit) = body.closest(&moved, limit - start) else {
                    break;
                };
                let cosine = hit.normal.dot(ray.direction);
                let part = fresnel(cosine.abs());
                let mirror = ray.direction - 2.0 * cosine * hit.normal;
                reflected += passed * part * self.sky.mirrored(mirror);
                passed *= 1.0 - part;
                if cosine > 0.0 {
                    // The ray leaves the glass: absorption along the segment inside.
                    passed *= body.transmission(hit.t);
                }
                start += hit.t + self.epsilon;
            }
        }
        (reflected, passed)
    }

    /// Visibility of the sky or the sun along a ray, 0 to 1.
    fn visible(&self, ray: &Ray) -> f32 {
        let plane = |p: &Plane| p.intersect(ray, f32::INFINITY).is_some();
        let glass = |b: &&Body| b.material == Material::Glass;
        let mut matte = self.bodies.iter().filter(|b| !glass(b));
        if self.planes.iter().any(plane)
            || self.spheres.occludes(ray, f32::INFINITY)
            || self.relief.as_ref().is_some_and(|r| r.occludes(ray))
            || matte.any(|b| b.occludes(ray, f32::INFINITY))
        {
            return 0.0;
        }
        let shades = self.bodies.iter().filter(glass);
        let count = shades.filter(|b| b.occludes(ray, f32::INFINITY)).count();
        GLASS_SHADE.powi(count as i32)
    }
}

impl Plane {
    fn intersect(&self, ray: &Ray, limit: f32) -> Option<f32> {
        let sinking = -ray.direction.dot(self.normal);
        if sinking <= 0.0 {
            return None;
        }
        let t = (ray.origin - self.point).dot(self.normal) / sinking;
        (t > 0.0 && t < limit).then_some(t)
    }
}

/// Fresnel reflectance of glass (Schlick's approximation).
fn fresnel(cosine: f32) -> f32 {
    GLASS_REFLECTION + (1.0 - GLASS_REFLECTION) * (1.0 - cosine).clamp(0.0, 1.0).powi(5)
}

/// Tent filter: maps a number in [0, 1) to an offset from the pixel center; the filters of neighboring pixels overlap.
fn tent(u: f32) -> f32 {
    const REACH: f32 = 0.75;
    if u < 0.5 {
        REACH * ((2.0 * u).sqrt() - 1.0)
    } else {
        REACH * (1.0 - (2.0 - 2.0 * u).sqrt())
    }
}

/// Tone mapping: linear, with a soft shoulder before white.
fn develop(light: Vec3) -> [u8; 3] {
    const SHOULDER: f32 = 0.8;
    let shown = light.to_array().map(|x| {
        let over = (x - SHOULDER).max(0.0);
        let x = x.min(SHOULDER) + (1.0 - SHOULDER) * (1.0 - (-over / (1.0 - SHOULDER)).exp());
        x.clamp(0.0, 1.0)
    });
    shown.map(screen)
}
