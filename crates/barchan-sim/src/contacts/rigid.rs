//! Rigid motion, impulses and forces: six-vectors about a reference point, in f64.

use crate::collider::{PosedCollider, RigidMass};
use glam::{DVec3, Vec3};

/// A rigid velocity [m/s, rad/s], or a small rigid displacement [m, rad].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Twist {
    /// Motion of the reference point.
    pub linear: DVec3,
    /// Rotation.
    pub angular: DVec3,
}

impl Twist {
    /// Linear part at `arm` from the reference point [m].
    #[inline]
    pub fn at(&self, arm: Vec3) -> Vec3 {
        (self.linear + self.angular.cross(arm.as_dvec3())).as_vec3()
    }
}

impl std::ops::Add for Twist {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            linear: self.linear + other.linear,
            angular: self.angular + other.angular,
        }
    }
}

/// An impulse and its moment about a reference point.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Impulse {
    /// Impulse [N·s].
    pub linear: DVec3,
    /// Angular impulse [N·m·s].
    pub angular: DVec3,
}

impl Impulse {
    /// An impulse that acts at `arm` from the reference point [m].
    #[inline]
    pub fn at(arm: Vec3, linear: DVec3) -> Self {
        Self {
            linear,
            angular: arm.as_dvec3().cross(linear),
        }
    }

    /// The same impulse about a point at `arm` from the reference point [m].
    pub fn about(self, arm: Vec3) -> Self {
        Self {
            linear: self.linear,
            angular: self.angular - arm.as_dvec3().cross(self.linear),
        }
    }

    /// Mean force and torque if it acts for a duration [s].
    pub fn over(self, duration: f64) -> Wrench {
        Wrench {
            force: self.linear / duration,
            torque: self.angular / duration,
        }
    }
}

impl std::ops::AddAssign for Impulse {
    fn add_assign(&mut self, other: Self) {
        self.linear += other.linear;
        self.angular += other.angular;
    }
}

/// A force and its torque about a reference point.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Wrench {
    /// Force [N].
    pub force: DVec3,
    /// Torque [N·m].
    pub torque: DVec3,
}

impl Wrench {
    /// The same force about a point at `arm` from the reference point [m].
    pub fn about(self, arm: Vec3) -> Self {
        Self {
            force: self.force,
            torque: self.torque - arm.as_dvec3().cross(self.force),
        }
    }
}

impl PosedCollider {
    /// Center of mass [m]; the origin of a scripted body.
    pub fn center(&self) -> Vec3 {
        self.mass.map_or(self.pose.position, |mass| mass.center)
    }

    /// Center of mass from the origin [m].
    pub fn center_arm(&self) -> Vec3 {
        self.center() - self.pose.position
    }
}

impl RigidMass {
    /// Change of motion by an impulse about the center of mass.
    pub fn response(&self, impulse: &Impulse) -> Twist {
        Twist {
            linear: f64::from(self.inverse_mass) * impulse.linear,
            angular: self.inverse_inertia.as_dmat3() * impulse.angular,
        }
    }

    /// Effective inverse mass along a unit `direction` at `arm` from the center of mass [1/kg].
    pub fn inverse_mass_along(&self, arm: Vec3, direction: Vec3) -> f32 {
        self.inverse_mass + self.rotational(arm, direction)
    }

    /// Upper bound of the effective inverse mass at `arm` from the center of mass, in any direction [1/kg].
    pub fn inverse_mass_bound(&self, arm: Vec3) -> f32 {
        let [x, y, z] = Vec3::AXES.map(|axis| self.rotational(arm, axis));
        self.inverse_mass + x + y + z
    }

    /// The part of it by rotation.
    pub(crate) fn rotational(&self, arm: Vec3, direction: Vec3) -> f32 {
        let lever = arm.cross(direction);
        lever.dot(self.inverse_inertia * lever)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_impulse_has_the_same_moment_about_any_point() {
        let (arm, shift) = (Vec3::new(1.0, 2.0, 3.0), Vec3::new(-0.5, 0.25, 2.0));
        let linear = DVec3::new(3.0, -1.0, 0.5);
        let moved = Impulse::at(arm, linear).about(shift);
        assert_eq!(moved, Impulse::at(arm - shift, linear));
        assert_ne!(moved, Impulse::at(arm, linear));
        // Nor has a force.
        let wrench = Impulse::at(arm, linear).over(0.5);
        assert_eq!(wrench.force, 2.0 * linear);
        assert_eq!(wrench.about(shift), moved.over(0.5));
    }

    /// The velocity that a unit impulse gives the point where it acts is the inverse mass there.
    #[test]
    fn inverse_mass_is_the_response_at_the_point() {
        let mass = RigidMass {
            inverse_mass: 0.5,
            inverse_inertia: glam::Mat3::from_diagonal(Vec3::new(1.0, 2.0, 4.0)),
            center: Vec3::ZERO,
            gains: [Vec3::ZERO; 2],
        };
        let (arm, n) = (Vec3::new(0.5, -1.0, 0.25), Vec3::new(0.6, 0.8, 0.0));
        let twist = mass.response(&Impulse::at(arm, n.as_dvec3()));
        let along = mass.inverse_mass_along(arm, n);
        assert!((twist.at(arm).dot(n) - along).abs() < 1e-6);
        assert!(along <= mass.inverse_mass_bound(arm) && along > mass.inverse_mass);
    }
}
