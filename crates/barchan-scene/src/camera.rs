//! The camera of a scene.

use crate::motion::Track;
use glam::{DQuat, DVec3, Vec3};

/// Viewpoint of a picture, y up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// Position of the camera [m].
    pub position: Vec3,
    /// Point at the center of the picture [m]; differs from the position.
    pub target: Vec3,
    /// Vertical field of view [degrees].
    pub fov: f32,
}

impl View {
    /// Default vertical field of view [degrees].
    pub const DEFAULT_FOV: f32 = 30.0;
}

/// The camera of a scene over time. Omitted values are framed automatically.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Camera {
    /// Position of the camera [m].
    pub position: Option<Track<DVec3>>,
    /// Point that it looks at [m].
    pub target: Option<Track<DVec3>>,
    /// Vertical field of view [degrees].
    pub fov: Option<Track<f64>>,
    /// Angular speed about the vertical through the target [degrees/s], added to the other motion; positive is
    /// counterclockwise seen from above.
    pub orbit: f64,
    /// Angle about the same axis [degrees], added to the other motion.
    pub turn: Option<Track<f64>>,
}

impl Camera {
    /// The view at a time [s]. `automatic` is the automatically framed view: it supplies position and target where the
    /// camera has none, direction and distance where only a target is given.
    pub fn at(&self, time: f64, automatic: View) -> View {
        let lerp = |a: DVec3, b: DVec3, w: f64| a.lerp(b, w);
        let offset = automatic.position.as_dvec3() - automatic.target.as_dvec3();
        let target = match &self.target {
            Some(track) => track.at(time, lerp),
            None => automatic.target.as_dvec3(),
        };
        let given = self.position.as_ref().map(|track| track.at(time, lerp));
        let from_target = match given {
            // Two keyframes may lie on either side of the target.
            Some(p) if (p - target).length() > 1e-6 => p - target,
            _ => offset,
        };
        let turned = self.turn.as_ref().map_or(0.0, |track| track.value(time));
        let turn = DQuat::from_rotation_y((self.orbit * time + turned).to_radians());
        View {
            position: (target + turn * from_target).as_vec3(),
            target: target.as_vec3(),
            fov: self.fov_at(time).unwrap_or(automatic.fov),
        }
    }

    /// Vertical field of view at a time [degrees], if the camera has one; framing depends on it.
    pub fn fov_at(&self, time: f64) -> Option<f32> {
        Some(self.fov.as_ref()?.value(time) as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::Interpolation::{Linear, Smooth};
    use glam::vec3;

    const AUTOMATIC: View = View {
        position: vec3(0.0, 1.0, 4.0),
        target: vec3(0.0, 1.0, 0.0),
        fov: 30.0,
    };

    fn still(p: DVec3) -> Option<Track<DVec3>> {
        Track::new(vec![(0.0, p)], Smooth)
    }

    #[test]
    fn omitted_values_are_automatic() {
        assert_eq!(Camera::default().at(3.0, AUTOMATIC), AUTOMATIC);
        let aimed = Camera {
            target: still(DVec3::X),
            ..Camera::default()
        };
        let view = aimed.at(0.0, AUTOMATIC);
        assert_eq!(view.position, vec3(1.0, 0.0, 4.0));
        assert_eq!(view.fov, 30.0);
        let placed = Camera {
            position: still(DVec3::Z),
            fov: Track::new(vec![(0.0, 50.0)], Smooth),
            ..Camera::default()
        };
        let view = placed.at(0.0, AUTOMATIC);
        assert_eq!((view.position, view.fov), (Vec3::Z, 50.0));
        assert_eq!(view.target, AUTOMATIC.target);
    }

    #[test]
    fn orbit_turns_about_the_vertical_through_the_target() {
        let camera = Camera {
            orbit: 90.0,
            ..Camera::default()
        };
        let view = camera.at(1.0, AUTOMATIC);
        assert!((view.position - vec3(4.0, 1.0, 0.0)).length() < 1e-5);
        let back = Camera {
            orbit: -90.0,
            ..Camera::default()
        };
        let view = back.at(1.0, AUTOMATIC);
        assert!((view.position - vec3(-4.0, 1.0, 0.0)).length() < 1e-5);
        let keyed = Camera {
            turn: Track::new(vec![(0.0, 0.0), (2.0, 180.0)], Linear),
            ..Camera::default()
        };
        let view = keyed.at(1.0, AUTOMATIC);
        assert!((view.position - vec3(4.0, 1.0, 0.0)).length() < 1e-5);
    }

    #[test]
    fn keyframes_are_followed_and_never_reach_the_target() {
        let keys = vec![(0.0, DVec3::X), (2.0, -DVec3::X)];
        let camera = Camera {
            position: Track::new(keys, Linear),
            target: still(DVec3::ZERO),
            fov: Track::new(vec![(0.0, 20.0), (2.0, 40.0)], Linear),
            ..Camera::default()
        };
        let view = camera.at(0.5, AUTOMATIC);
        assert_eq!((view.position, view.fov), (vec3(0.5, 0.0, 0.0), 25.0));
        let middle = camera.at(1.0, AUTOMATIC);
        assert!(middle.position.distance(middle.target) > 1.0);
    }
}
