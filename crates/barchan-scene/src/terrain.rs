//! Soil at rest as columns on a square lattice: the initial state of a hybrid terrain.
//!
//! Column (i, j) has its center at `origin + ((i + ½) cell, (j + ½) cell)` in x and z, and is entry i of row j of
//! [`TerrainSpec::heights`].

use glam::Vec3;

/// Maximum number of columns of a terrain: a square of 4 000.
pub const MAX_COLUMNS: usize = 16_000_000;

/// Soil at rest at the start.
#[derive(Debug, Clone, PartialEq)]
pub struct TerrainSpec {
    /// Index into [`crate::Scene::materials`].
    pub material: usize,
    /// Corner with the smallest x and z [m].
    pub origin: [f64; 2],
    /// Side of a column [m].
    pub cell: f64,
    /// Columns along x and along z, at least two each.
    pub columns: [usize; 2],
    /// Height (y) of the surface above the center of each column [m], row by row along x.
    pub heights: Vec<f32>,
    /// Height (y) of the rock below, which cannot be dug [m].
    pub floor: f64,
    /// Steepest slope at which soil rests [degrees], above 0 and below 90.
    pub angle_of_repose: f64,
}

/// A cone of soil on the surface, or a pit in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mound {
    /// Center, x and z [m].
    pub center: [f64; 2],
    /// Height above the surface around it [m]; negative: depth of a pit.
    pub height: f64,
    /// Radius of its base [m].
    pub radius: f64,
}

impl Mound {
    /// Change of the surface height at a point [m].
    pub fn height_at(&self, x: f64, z: f64) -> f64 {
        let away = (x - self.center[0]).hypot(z - self.center[1]);
        self.height * (1.0 - away / self.radius).max(0.0)
    }
}

/// Heights on a lattice that spans the whole site, its outer points on the boundary.
#[derive(Debug, Clone, PartialEq)]
pub struct HeightMap {
    /// Points along x and along z.
    pub points: [usize; 2],
    /// Heights [m], row by row along x.
    pub heights: Vec<f32>,
}

impl HeightMap {
    /// Height at a relative position on the site, both coordinates in [0, 1], interpolated linearly [m].
    pub fn at(&self, u: f64, v: f64) -> f64 {
        let place = |t: f64, points: usize| {
            let t = t.clamp(0.0, 1.0) * (points.max(1) - 1) as f64;
            let low = (t.floor() as usize).min(points.saturating_sub(2));
            (low, (low + 1).min(points.saturating_sub(1)), t - low as f64)
        };
        let (x0, x1, tx) = place(u, self.points[0]);
        let (z0, z1, tz) = place(v, self.points[1]);
        let height = |x: usize, z: usize| {
            let index = z * self.points[0] + x;
            f64::from(self.heights.get(index).copied().unwrap_or(0.0))
        };
        let near = height(x0, z0) * (1.0 - tx) + height(x1, z0) * tx;
        let far = height(x0, z1) * (1.0 - tx) + height(x1, z1) * tx;
        near * (1.0 - tz) + far * tz
    }
}

impl TerrainSpec {
    /// Center of a column on the surface [m].
    pub fn top(&self, i: usize, j: usize) -> Vec3 {
        let middle = |k: usize, axis: usize| self.origin[axis] + (k as f64 + 0.5) * self.cell;
        let height = self.heights.get(j * self.columns[0] + i).copied();
        Vec3::new(
            middle(i, 0) as f32,
            height.unwrap_or(self.floor as f32),
            middle(j, 1) as f32,
        )
    }

    /// Volume of the soil [m³].
    pub fn volume(&self) -> f64 {
        let depths = self.heights.iter().map(|h| f64::from(*h) - self.floor);
        depths.sum::<f64>() * self.cell * self.cell
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_is_linear_between_its_points_and_constant_beyond() {
        let map = HeightMap {
            points: [3, 2],
            heights: vec![0.0, 1.0, 4.0, 2.0, 3.0, 6.0],
        };
        assert_eq!(map.at(0.0, 0.0), 0.0);
        assert_eq!(map.at(0.25, 0.0), 0.5);
        assert_eq!(map.at(0.75, 0.5), 3.5);
        assert_eq!(map.at(1.0, 1.0), 6.0);
        assert_eq!(map.at(7.0, -3.0), 4.0);
        let point = HeightMap {
            points: [1, 1],
            heights: vec![5.0],
        };
        assert_eq!(point.at(0.3, 0.9), 5.0);
    }

    #[test]
    fn a_mound_is_a_cone() {
        let mound = Mound {
            center: [1.0, 2.0],
            height: 3.0,
            radius: 2.0,
        };
        assert_eq!(mound.height_at(1.0, 2.0), 3.0);
        assert_eq!(mound.height_at(2.0, 2.0), 1.5);
        assert_eq!(mound.height_at(1.0, 5.0), 0.0);
    }
}
