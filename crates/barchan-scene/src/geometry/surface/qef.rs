//! The vertex of a cell: the point that best fits the tangent planes of all its crossings (least squares).

use glam::{DMat3, DVec3, Vec3};

/// Eigenvalues below this fraction of the largest one are noise or curvature, not a feature: normals that differ by less
/// than about ten degrees make no edge.
const LEAST_EIGENVALUE: f64 = 0.01;
/// Normals whose mean is at least this long belong to one smooth face.
const SMOOTH: f64 = 0.9995;

/// Sums over the crossings of a cell, relative to its center.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    center: Vec3,
    /// Σ n nᵀ.
    normals: DMat3,
    /// Σ n (n · p).
    planes: DVec3,
    normal: DVec3,
    mass: DVec3,
    count: f64,
}

impl Cell {
    pub fn new(center: Vec3) -> Self {
        Self {
            center,
            normals: DMat3::ZERO,
            planes: DVec3::ZERO,
            normal: DVec3::ZERO,
            mass: DVec3::ZERO,
            count: 0.0,
        }
    }

    /// Adds a crossing with its unit normal.
    pub fn add(&mut self, point: Vec3, normal: Vec3) {
        let (p, n) = ((point - self.center).as_dvec3(), normal.as_dvec3());
        self.normals += DMat3::from_cols(n * n.x, n * n.y, n * n.z);
        self.planes += n * n.dot(p);
        self.normal += n;
        self.mass += p;
        self.count += 1.0;
    }

    /// The mean of the crossings [m].
    pub fn mass_point(&self) -> Vec3 {
        self.center + (self.mass / self.count).as_vec3()
    }

    /// The point nearest to the mean of the crossings among those that best fit all tangent planes [m]; not
    /// necessarily in the cell.
    pub fn feature(&self) -> Vec3 {
        if self.normal.length() > SMOOTH * self.count {
            return self.mass_point();
        }
        let mass = self.mass / self.count;
        let residual = self.planes - self.normals * mass;
        let (values, vectors) = eigen(self.normals);
        let greatest = values.max_element();
        let mut offset = DVec3::ZERO;
        for axis in 0..3 {
            if values[axis] > LEAST_EIGENVALUE * greatest {
                let direction = vectors.col(axis);
                offset += direction * (direction.dot(residual) / values[axis]);
            }
        }
        if offset.is_finite() {
            self.center + (mass + offset).as_vec3()
        } else {
            self.mass_point()
        }
    }
}

/// Eigenvalues and unit eigenvectors (columns) of a symmetric matrix, by Jacobi rotations.
fn eigen(matrix: DMat3) -> (DVec3, DMat3) {
    let (mut a, mut vectors) = (matrix, DMat3::IDENTITY);
    for _ in 0..6 {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let off = a.col(q)[p];
            if off.abs() <= 1e-15 * (a.col(p)[p].abs() + a.col(q)[q].abs()) {
                continue;
            }
            let theta = (a.col(q)[q] - a.col(p)[p]) / (2.0 * off);
            let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
            let c = 1.0 / t.hypot(1.0);
            let mut turn = DMat3::IDENTITY;
            turn.col_mut(p)[p] = c;
            turn.col_mut(q)[q] = c;
            turn.col_mut(q)[p] = t * c;
            turn.col_mut(p)[q] = -t * c;
            a = turn.transpose() * a * turn;
            vectors *= turn;
        }
    }
    (DVec3::new(a.x_axis.x, a.y_axis.y, a.z_axis.z), vectors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::vec3;

    #[test]
    fn eigenvectors_rebuild_the_matrix() {
        let m = DMat3::from_cols_array(&[2.0, 0.5, -0.3, 0.5, 1.0, 0.7, -0.3, 0.7, 0.1]);
        let (values, v) = eigen(m);
        let again = v * DMat3::from_diagonal(values) * v.transpose();
        assert!(again.abs_diff_eq(m, 1e-12), "{again}");
        assert!((v.transpose() * v).abs_diff_eq(DMat3::IDENTITY, 1e-12));
    }

    #[test]
    fn three_planes_meet_in_their_corner_and_two_beside_the_mean() {
        let mut cell = Cell::new(vec3(0.5, 0.5, 0.5));
        cell.add(vec3(0.3, 0.0, 0.9), Vec3::X);
        cell.add(vec3(0.1, 0.4, 0.2), Vec3::Y);
        let on_edge = cell.feature();
        let mean_z = cell.mass_point().z;
        assert!((on_edge - vec3(0.3, 0.4, mean_z)).length() < 1e-6);
        cell.add(vec3(0.0, 0.0, 0.7), -Vec3::Z);
        assert!((cell.feature() - vec3(0.3, 0.4, 0.7)).length() < 1e-6);
    }
}
