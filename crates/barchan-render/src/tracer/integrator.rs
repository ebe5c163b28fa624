//! How light gets from sun and sky to a pixel.

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

/// Reflection of glass seen straight on.
const GLASS_REFLECTION: f32 = 0.04;
/// Fraction of sunlight that passes through glass.
const GLASS_SHADE: f32 = 0.8;
/// Surfaces of one glass body that a ray may cross.
const GLASS_SURFACES: usize = 8;
/// Part of the sky's light that comes by way of what hides the sky, where light is no longer followed.
const DEEP: f32 = 0.3;

/// Part of a plane that has faded when nothing of it is seen any more.
const NEARLY_ALL: f32 = 0.995;

/// How much work a picture may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quality {
    /// Paths through each pixel.
    pub samples: u32,
    /// Surfaces at which a path takes up light; after the last only the sky is looked for.
    pub bounces: u32,
}

impl Quality {
    /// A quick look: shadows and occlusion are there, with some noise.
    pub const PREVIEW: Self = Self {
        samples: 3,
        bounces: 1,
    };
    /// For films and print.
    pub const PRODUCTION: Self = Self {
        samples: 24,
        bounces: 2,
    };
}

/// An endless plane that is seen from the side of its normal only.
#[derive(Debug, Clone, Copy)]
pub struct Plane {
    /// A point of it [m].
    pub point: Vec3,
    /// Unit vector.
    pub normal: Vec3,
    /// Color in linear light.
    pub color: Vec3,
}

/// Everything that is in the picture, during one exposure.
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
    /// Length that is nothing to the eye but more than rounding errors [m].
    pub epsilon: f32,
}

impl Stage {
    /// Draws the stage. The same bytes for any number of threads; `frame` varies the noise.
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

    /// Light that arrives along a path: at each surface that of the sun, then on to where a matte surface might have
    /// the rest from.
    fn light(&self, mut ray: Ray, bounces: u32, sampler: &mut Sampler) -> Vec3 {
        let mut light = Vec3::ZERO;
        let mut carried = Vec3::ONE;
        for bounce in 0..bounces {
            let hit = self.closest(&ray);
            if bounce == 0 {
                // Seen by the camera only: matte surfaces do not show what glass does to their light.
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

    /// The first opaque point on a ray.
    fn closest(&self, ray: &Ray) -> Option<Hit> {
        let mut limit = f32::INFINITY;
        let mut found = None;
        for plane in &self.planes {
            if let Some(t) = plane.meets(ray, limit) {
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
                // The inside of a shell shows as well: its normal is turned to the viewer.
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

    /// What glass before `limit` reflects of the sky, and what it lets pass.
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
                    // Leaves the glass: what it has absorbed since it entered.
                    passed *= body.transmission(hit.t);
                }
                start += hit.t + self.epsilon;
            }
        }
        (reflected, passed)
    }

    /// Part of the light from far away that gets through.
    fn visible(&self, ray: &Ray) -> f32 {
        let plane = |p: &Plane| p.meets(ray, f32::INFINITY).is_some();
        let glass = |b: &&Body| b.material == Material::Glass;
        let mut matte = self.bodies.iter().filter(|b| !glass(b));
        if self.planes.iter().any(plane)
            || self.spheres.blocks(ray, f32::INFINITY)
            || self.relief.as_ref().is_some_and(|r| r.blocks(ray))
            || matte.any(|b| b.blocks(ray, f32::INFINITY))
        {
            return 0.0;
        }
        let shades = self.bodies.iter().filter(glass);
        let count = shades.filter(|b| b.blocks(ray, f32::INFINITY)).count();
        GLASS_SHADE.powi(count as i32)
    }
}

impl Plane {
    fn meets(&self, ray: &Ray, limit: f32) -> Option<f32> {
        let sinking = -ray.direction.dot(self.normal);
        if sinking <= 0.0 {
            return None;
        }
        let t = (ray.origin - self.point).dot(self.normal) / sinking;
        (t > 0.0 && t < limit).then_some(t)
    }
}

/// Reflected part at a surface of glass (Schlick's approximation).
fn fresnel(cosine: f32) -> f32 {
    GLASS_REFLECTION + (1.0 - GLASS_REFLECTION) * (1.0 - cosine).clamp(0.0, 1.0).powi(5)
}

/// A number in [0, 1) to a place in a pixel: neighboring pixels share a little at their edges.
fn tent(u: f32) -> f32 {
    const REACH: f32 = 0.75;
    if u < 0.5 {
        REACH * ((2.0 * u).sqrt() - 1.0)
    } else {
        REACH * (1.0 - (2.0 - 2.0 * u).sqrt())
    }
}

/// Tone curve from light to screen: linear, with a soft shoulder before white.
fn develop(light: Vec3) -> [u8; 3] {
    const SHOULDER: f32 = 0.8;
    let shown = light.to_array().map(|x| {
        let over = (x - SHOULDER).max(0.0);
        let x = x.min(SHOULDER) + (1.0 - SHOULDER) * (1.0 - (-over / (1.0 - SHOULDER)).exp());
        x.clamp(0.0, 1.0)
    });
    shown.map(screen)
}
