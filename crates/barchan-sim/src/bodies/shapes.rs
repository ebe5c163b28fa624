//! Shapes of contact between bodies, from the shapes of the scene.

use barchan_scene::geometry::{Piece, Solid};
use barchan_scene::{Bounds, Geometry};
use glam::Vec3;
use rapier3d::parry::transformation::vhacd::{VHACD, VHACDParameters};
use rapier3d::prelude::{Pose, SharedShape};

/// Cells along the longest edge of a contact surface.
const CELLS: u32 = 48;
/// Voxels along the longest edge for the decomposition of a hollow body into convex parts.
const VOXELS: u32 = 48;
/// Fraction of its convex hull that a shape must fill to count as convex.
const CONVEX: f64 = 0.97;

/// Contact shapes of a body, each with its pose in the body's frame. Free bodies consist of convex parts; others keep
/// their surface. `within` bounds infinite shapes.
pub(super) fn contact_shapes(
    shape: &Geometry,
    is_free: bool,
    within: &Bounds,
) -> Vec<(Pose, SharedShape)> {
    let placed = |piece: Piece| {
        let pose = Pose::from_parts(piece.pose.position, piece.pose.rotation);
        let parts = solid(&piece, is_free, within);
        parts.into_iter().map(move |shape| (pose, shape))
    };
    shape.pieces().into_iter().flat_map(placed).collect()
}

fn solid(piece: &Piece, is_free: bool, within: &Bounds) -> Vec<SharedShape> {
    vec![match &piece.solid {
        Solid::Cuboid(half) => SharedShape::cuboid(half.x, half.y, half.z),
        Solid::Ball(radius) => SharedShape::ball(*radius),
        Solid::Cylinder {
            half_height,
            radius,
        } => SharedShape::cylinder(*half_height, *radius),
        Solid::Capsule {
            half_height,
            radius,
        } => SharedShape::capsule_y(*half_height, *radius),
        Solid::HalfSpace => SharedShape::halfspace(Vec3::Y),
        Solid::Other(shape) => return of_surface(shape, is_free, within),
    }]
}

fn of_surface(shape: &Geometry, is_free: bool, within: &Bounds) -> Vec<SharedShape> {
    let own = shape.bounds();
    let region = match own.is_finite() {
        true => own.expand(1e-3 * own.size().max_element()),
        false => *within,
    };
    let mesh = shape.surface(&region, CELLS);
    if mesh.triangles.is_empty() {
        return Vec::new();
    }
    let hull = SharedShape::convex_hull(&mesh.vertices);
    if let Some(hull) = &hull {
        let filled = f64::from(hull.mass_properties(1.0).mass());
        if mesh.signed_volume() > CONVEX * filled {
            return vec![hull.clone()];
        }
    }
    if !is_free {
        let surface = SharedShape::trimesh(mesh.vertices, mesh.triangles);
        return surface.ok().into_iter().collect();
    }
    let params = VHACDParameters {
        resolution: VOXELS,
        ..VHACDParameters::default()
    };
    let parts = VHACD::decompose(&params, &mesh.vertices, &mesh.triangles, true)
        .compute_exact_convex_hulls(&mesh.vertices, &mesh.triangles);
    let convex = parts.into_iter();
    let convex = convex.filter_map(|(points, faces)| SharedShape::convex_mesh(points, &faces));
    let convex: Vec<SharedShape> = convex.collect();
    match convex.is_empty() {
        true => hull.into_iter().collect(),
        false => convex,
    }
}
