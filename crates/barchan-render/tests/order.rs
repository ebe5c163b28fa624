//! Depth order of spheres, bodies, planes and glass along a ray.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use barchan_render::tracer::{Body, Material, Plane, Sky, Stage};
use barchan_scene::{Bounds, Geometry};
use common::*;
use glam::{Vec3, vec3};

const RED: [u8; 3] = [200, 0, 0];
const GREEN: Vec3 = vec3(0.0, 0.5, 0.0);
const BLUE: Vec3 = vec3(0.0, 0.0, 0.5);
const EYE: Vec3 = vec3(0.0, 0.0, 10.0);

/// The sun is behind and above the camera.
fn bare() -> Stage {
    empty(Sky::with_sun(0.0, 0.7))
}

fn slab(z: f32, half: f32) -> Geometry {
    Geometry::cuboid(vec3(-half, -half, z - 0.2), vec3(half, half, z))
}

fn wall(z: f32, toward: Vec3) -> Plane {
    Plane {
        point: vec3(0.0, 0.0, z),
        normal: toward,
        color: BLUE,
    }
}

/// A stage with a red sphere, a green body and a blue plane whose front points lie at these z.
fn three(z: [f32; 3]) -> Stage {
    let mut stage = bare();
    stage.spheres = still(&[(vec3(0.0, 0.0, z[0] - 0.3), 0.3, RED)]);
    stage.bodies = vec![body(&slab(z[1], 0.5), Material::Matte(GREEN))];
    stage.planes = vec![wall(z[2], Vec3::Z)];
    stage
}

fn glass(z: f32) -> Body {
    body(&slab(z, 1.0), Material::Glass)
}

fn center(stage: &Stage) -> Vec3 {
    light_at(stage, Vec3::ZERO, EYE)
}

/// The dominant one of the three color channels.
fn channel(light: Vec3) -> usize {
    let i = (0..3)
        .max_by(|a, b| light[*a].total_cmp(&light[*b]))
        .unwrap();
    let others = light.element_sum() - light[i];
    assert!(light[i] > 3.0 * others, "of no single color: {light}");
    i
}

const ORDERS: [[usize; 3]; 6] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
];

/// z of each of the three when `order` lists them from the front, at 3, 1 and −1.
fn places(order: [usize; 3]) -> [f32; 3] {
    let mut z = [0.0; 3];
    for (rank, which) in order.into_iter().enumerate() {
        z[which] = 3.0 - 2.0 * rank as f32;
    }
    z
}

#[test]
fn the_nearest_opaque_object_gives_the_color() {
    for order in ORDERS {
        let light = center(&three(places(order)));
        assert_eq!(channel(light), order[0], "{order:?}");
    }
}

#[test]
fn glass_shows_what_is_behind_it_and_itself() {
    for order in ORDERS {
        let plain = center(&three(places(order)));
        for z in [4.0, 2.0, 0.0, -2.0] {
            let mut stage = three(places(order));
            stage.bodies.insert(0, glass(z));
            let light = center(&stage);
            let first = order[0];
            if z > 3.0 {
                // Its reflection of the sky is added to all channels, but the color behind it dominates.
                let strongest = (0..3).all(|c| c == first || light[c] < 0.5 * light[first]);
                assert!(strongest, "{order:?}: {light}");
                let added = light - plain;
                let other = (first + 1) % 3;
                assert!(
                    added[other] > 0.02 && light[first] < plain[first],
                    "{added}"
                );
            } else {
                let same = (light - plain).abs().max_element() < 0.02;
                assert!(same, "{order:?} {z}: {light} {plain}");
            }
        }
    }
}

#[test]
fn more_glass_transmits_less() {
    let mut stage = three(places([0, 1, 2]));
    let mut before = center(&stage).x;
    for z in [4.0, 5.0, 6.0] {
        stage.bodies.push(glass(z));
        let light = center(&stage).x;
        assert!(light < before - 0.01, "{light} {before}");
        before = light;
    }
}

#[test]
fn glass_casts_lighter_shadows_than_opaque_bodies() {
    let lit = |material: Option<Material>| {
        let mut stage = empty(Sky { sun: Vec3::Y });
        stage.planes = vec![ground(0.0, 0.5)];
        let lid = Geometry::cuboid(vec3(-1.0, 1.0, -1.0), vec3(1.0, 1.1, 1.0));
        stage.bodies = material.iter().map(|m| body(&lid, *m)).collect();
        light_at(&stage, Vec3::ZERO, vec3(6.0, 0.5, 0.0)).y
    };
    let open = lit(None);
    let below_glass = lit(Some(Material::Glass));
    let below_stone = lit(Some(Material::Matte(Vec3::ONE)));
    assert!(below_stone < 0.5 * open, "{below_stone} {open}");
    assert!(
        (0.7 * open..0.95 * open).contains(&below_glass),
        "{below_glass} {open}"
    );
}

#[test]
fn a_plane_is_not_seen_from_behind() {
    let mut stage = bare();
    stage.planes = vec![wall(2.0, Vec3::NEG_Z)];
    let sky = center(&stage);
    let same = (sky - stage.sky.radiance(Vec3::NEG_Z)).abs().max_element();
    assert!(same < 0.02, "{sky}");
    // An object behind it is lit only by the reflection from its other side.
    stage.spheres = still(&[(Vec3::ZERO, 0.3, RED)]);
    stage.planes[0].color = Vec3::ONE;
    let shaded = center(&stage);
    assert_eq!(channel(shaded), 0);
    stage.planes.clear();
    assert!(center(&stage).x > 2.0 * shaded.x, "{shaded}");
    // It is visible from its front.
    stage.planes = vec![wall(2.0, Vec3::Z)];
    assert_eq!(channel(center(&stage)), 2);
}

/// A hollow green box with a red sphere in it, cut or not.
fn box_with_content(cut: bool) -> Stage {
    let outer = Geometry::cuboid(Vec3::splat(-1.0), Vec3::splat(1.0));
    let inner = Geometry::cuboid(Vec3::splat(-0.7), Vec3::splat(0.7));
    let hollow = Geometry::difference(outer, vec![inner]);
    let mut stage = bare();
    stage.bodies = vec![Body {
        cut: cut.then_some((Vec3::ZERO, Vec3::Z)),
        ..body(&hollow, Material::Matte(GREEN))
    }];
    stage.spheres = still(&[(vec3(0.0, 0.0, -0.2), 0.3, RED)]);
    stage
}

#[test]
fn a_cut_shows_what_is_inside_and_the_cut_itself() {
    let whole = box_with_content(false);
    assert_eq!(channel(center(&whole)), 1);
    let cut = box_with_content(true);
    assert_eq!(channel(center(&cut)), 0);
    // The cut at z = 0 is as bright as the front of a whole box with the same normal.
    let eye = vec3(0.85, 0.0, 10.0);
    let face = light_at(&cut, vec3(0.85, 0.0, 0.0), eye);
    let front = light_at(&whole, vec3(0.85, 0.0, 1.0), eye);
    assert_eq!(channel(face), 1);
    assert!((face - front).abs().max_element() < 0.02, "{face} {front}");
    // Beside the sphere the inside of the back wall is visible, shaded by the box.
    let back = light_at(&cut, vec3(0.5, -0.5, -0.7), vec3(0.5, -0.5, 10.0));
    assert_eq!(channel(back), 1);
    assert!(back.y < front.y, "{back}");
    // Where the cut has removed the wall, the sky is visible.
    let gone = Stage {
        bodies: vec![Body {
            cut: Some((vec3(0.0, 0.0, -1.5), Vec3::Z)),
            ..body(&slab(0.0, 0.5), Material::Matte(GREEN))
        }],
        ..bare()
    };
    let sky = center(&gone);
    assert!((sky - gone.sky.radiance(Vec3::NEG_Z)).abs().max_element() < 0.02);
}

#[test]
fn the_cut_is_visible_from_either_side() {
    // From behind, the remaining part of a cut body appears closed.
    let stage = box_with_content(true);
    let behind = light_at(&stage, vec3(0.0, 0.0, -1.0), vec3(0.0, 0.0, -10.0));
    assert_eq!(channel(behind), 1);
}

#[test]
fn surfaces_clipped_at_the_surroundings_are_closed() {
    let rod = Geometry::cylinder(vec3(0.0, -50.0, 0.0), vec3(0.0, 50.0, 0.0), 0.5);
    let near = Bounds::from_corners(Vec3::splat(-2.0), Vec3::splat(2.0));
    let shape = barchan_render::tracer::Shape::new(rod.clone(), &rod.surface(&near, 64));
    let mut stage = bare();
    stage.bodies = vec![Body {
        shape: std::sync::Arc::new(shape),
        ..body(&rod, Material::Matte(GREEN))
    }];
    assert_eq!(channel(center(&stage)), 1);
    assert_eq!(
        channel(light_at(&stage, vec3(0.0, 2.0, 0.0), vec3(0.0, 8.0, 2.0))),
        1
    );
}
