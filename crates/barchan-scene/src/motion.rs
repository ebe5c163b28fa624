//! Scripted motion of colliders, and gravity over time. All of it is evaluated in double precision.

use glam::{DQuat, DVec3, Quat, Vec3};
use serde::Deserialize;

/// Position and orientation: `world_from_body`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// Origin of the body in the world [m].
    pub position: Vec3,
    /// Rotation from body to world.
    pub rotation: Quat,
}

impl Pose {
    /// The body's frame is the world's.
    pub const IDENTITY: Self = Self {
        position: Vec3::ZERO,
        rotation: Quat::IDENTITY,
    };

    /// A point of the body in the world [m].
    pub fn to_world(&self, p: Vec3) -> Vec3 {
        self.position + self.rotation * p
    }

    /// A point of the world in the body's frame [m].
    pub fn to_body(&self, p: Vec3) -> Vec3 {
        self.rotation.inverse() * (p - self.position)
    }
}

/// Interpolation between keyframes. Before the first and after the last the value is constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Interpolation {
    /// At constant speed.
    #[default]
    Linear,
    /// By 3s² − 2s³: at rest in every keyframe.
    Smooth,
    /// Keeps the value until the next keyframe.
    Step,
}

impl Interpolation {
    fn weight(self, s: f64) -> f64 {
        match self {
            Self::Linear => s,
            Self::Smooth => s * s * (3.0 - 2.0 * s),
            Self::Step => 0.0,
        }
    }
}

/// Values at strictly growing times [s]; at least one.
#[derive(Debug, Clone, PartialEq)]
pub struct Track<T> {
    keys: Vec<(f64, T)>,
    interpolation: Interpolation,
}

impl<T: Copy> Track<T> {
    /// A constant value.
    pub fn constant(value: T) -> Self {
        Self {
            keys: vec![(0.0, value)],
            interpolation: Interpolation::Linear,
        }
    }

    /// `None` unless there is a key and the times are finite and strictly grow.
    pub fn new(keys: Vec<(f64, T)>, interpolation: Interpolation) -> Option<Self> {
        let grows = keys.windows(2).all(|w| w[0].0 < w[1].0);
        let finite = keys.iter().all(|k| k.0.is_finite());
        (!keys.is_empty() && grows && finite).then_some(Self {
            keys,
            interpolation,
        })
    }

    /// The value at a time, by `blend(a, b, weight)` between two keys.
    pub(crate) fn at(&self, time: f64, blend: impl Fn(T, T, f64) -> T) -> T {
        let next = self.keys.partition_point(|k| k.0 <= time);
        let (t0, a) = self.keys[next.saturating_sub(1)];
        match self.keys.get(next) {
            Some(&(t1, b)) if next > 0 => {
                let s = (time - t0) / (t1 - t0);
                blend(a, b, self.interpolation.weight(s))
            }
            _ => a,
        }
    }

    fn is_constant(&self) -> bool
    where
        T: PartialEq,
    {
        self.keys.iter().all(|k| k.1 == self.keys[0].1)
    }
}

impl Track<f64> {
    /// The value at a time [s].
    pub fn value(&self, time: f64) -> f64 {
        self.at(time, |a, b, w| a + (b - a) * w)
    }

    /// Change per second over the `dt` after a time [s].
    pub fn rate(&self, time: f64, dt: f64) -> f64 {
        (self.value(time + dt) - self.value(time)) / dt
    }
}

/// Time elapsed since `start`, up to `end` [s].
fn elapsed(time: f64, start: f64, end: f64) -> f64 {
    (time.min(end) - start).max(0.0)
}

/// Rotation at a constant rate.
#[derive(Debug, Clone, PartialEq)]
pub struct Turning {
    /// Unit vector.
    pub axis: DVec3,
    /// Speed [rad/s].
    pub rate: f64,
    /// Start [s].
    pub start: f64,
    /// End [s]; infinite when open-ended.
    pub end: f64,
}

impl Turning {
    fn at(&self, time: f64) -> DQuat {
        DQuat::from_axis_angle(self.axis, self.rate * elapsed(time, self.start, self.end))
    }
}

/// Rotation of a body over time.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Rotation {
    /// None.
    #[default]
    Fixed,
    /// At a constant rate about an axis.
    Rate(Turning),
    /// Angles [rad] about one axis; any number of turns between two keys.
    Angles {
        /// Unit vector.
        axis: DVec3,
        /// Angles [rad].
        track: Track<f64>,
    },
    /// Orientations, each reached from the previous one by the shortest rotation.
    Orientations(Track<DQuat>),
}

impl Rotation {
    fn at(&self, time: f64) -> DQuat {
        match self {
            Self::Fixed => DQuat::IDENTITY,
            Self::Rate(turning) => turning.at(time),
            Self::Angles { axis, track } => DQuat::from_axis_angle(*axis, track.value(time)),
            Self::Orientations(track) => track.at(time, |a, b, w| a.slerp(b, w)).normalize(),
        }
    }

    fn is_static(&self) -> bool {
        match self {
            Self::Fixed => true,
            Self::Rate(turning) => turning.rate == 0.0 || turning.start >= turning.end,
            Self::Angles { track, .. } => track.is_constant(),
            Self::Orientations(track) => track.is_constant(),
        }
    }
}

/// World from body over time: x ↦ d(t) + pivot + R(t)(x − pivot), where the displacement d is the sum of the
/// keyframed one and of that by constant velocity.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Motion {
    /// Constant velocity [m/s] between `start` and `end`.
    pub velocity: DVec3,
    /// Start of the constant velocity [s].
    pub start: f64,
    /// End of the constant velocity [s]; infinite when open-ended.
    pub end: f64,
    /// Keyframed displacement [m].
    pub position: Option<Track<DVec3>>,
    /// Rotation about the pivot.
    pub rotation: Rotation,
    /// Point that the rotation turns about [m], before displacement.
    pub pivot: DVec3,
}

impl Motion {
    /// Pose at a time [s].
    pub fn pose(&self, time: f64) -> Pose {
        let (position, rotation) = self.exact_pose(time);
        Pose {
            position: position.as_vec3(),
            rotation: rotation.as_quat(),
        }
    }

    /// Velocity of the body's origin [m/s] and angular velocity [rad/s] that carry the pose at `time` to that at
    /// `time + dt`. From differences in double precision: two [`Pose`]s in single precision lose all digits in short steps.
    pub fn velocities(&self, time: f64, dt: f64) -> (Vec3, Vec3) {
        let (x0, r0) = self.exact_pose(time);
        let (x1, r1) = self.exact_pose(time + dt);
        let turn = (r1 * r0.inverse()).normalize();
        let turn = if turn.w < 0.0 { -turn } else { turn };
        let angular = turn.to_scaled_axis() / dt;
        (((x1 - x0) / dt).as_vec3(), angular.as_vec3())
    }

    /// Whether the pose never changes. It may still differ from the identity.
    pub fn is_static(&self) -> bool {
        let drifts = self.velocity != DVec3::ZERO && self.start < self.end;
        let stays = self.position.as_ref().is_none_or(Track::is_constant);
        !drifts && stays && self.rotation.is_static()
    }

    fn exact_pose(&self, time: f64) -> (DVec3, DQuat) {
        let mut displacement = self.velocity * elapsed(time, self.start, self.end);
        if let Some(track) = &self.position {
            displacement += track.at(time, |a, b, w| a.lerp(b, w));
        }
        let rotation = self.rotation.at(time);
        let position = displacement + self.pivot - rotation * self.pivot;
        (position, rotation)
    }
}

/// Gravity over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Gravity {
    /// Value before it turns [m/s²].
    pub value: Track<DVec3>,
    /// How it turns, as when the whole scene is tipped over.
    pub turning: Option<Turning>,
}

impl Gravity {
    /// On Earth [m/s²].
    pub const STANDARD: DVec3 = DVec3::new(0.0, -9.81, 0.0);
}

impl Gravity {
    /// Acceleration at a time [m/s²].
    pub fn at(&self, time: f64) -> Vec3 {
        let value = self.value.at(time, |a, b, w| a.lerp(b, w));
        let turned = self
            .turning
            .as_ref()
            .map(|turning| turning.at(time) * value);
        turned.unwrap_or(value).as_vec3()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::{FRAC_PI_2, PI};

    const QUARTER_TURNS: Turning = Turning {
        axis: DVec3::Z,
        rate: FRAC_PI_2,
        start: 1.0,
        end: 3.0,
    };

    fn close(a: Vec3, b: Vec3) -> bool {
        (a - b).length() < 1e-5
    }

    #[test]
    fn keyframes_hold_outside_and_interpolate_inside() {
        let keys = vec![(1.0, DVec3::ZERO), (3.0, DVec3::X), (4.0, DVec3::Y)];
        let value = |interpolation, t| {
            let track = Track::new(keys.clone(), interpolation).unwrap();
            let motion = Motion {
                position: Some(track),
                ..Motion::default()
            };
            motion.pose(t).position
        };
        for interpolation in [Interpolation::Linear, Interpolation::Smooth] {
            assert_eq!(value(interpolation, 0.0), Vec3::ZERO);
            assert_eq!(value(interpolation, 3.0), Vec3::X);
            assert_eq!(value(interpolation, 9.0), Vec3::Y);
            assert!(close(value(interpolation, 2.0), 0.5 * Vec3::X));
        }
        assert!(close(value(Interpolation::Linear, 1.5), 0.25 * Vec3::X));
        // 3s² − 2s³ at s = 1/4.
        assert!(close(
            value(Interpolation::Smooth, 1.5),
            (10.0 / 64.0) * Vec3::X
        ));
        assert_eq!(value(Interpolation::Step, 2.9), Vec3::ZERO);
    }

    #[test]
    fn smooth_motion_rests_in_its_keyframes_and_linear_does_not() {
        let motion = |interpolation| Motion {
            position: Track::new(vec![(0.0, DVec3::ZERO), (2.0, DVec3::X)], interpolation),
            ..Motion::default()
        };
        let at_start = |m: Motion| m.velocities(0.0, 1e-6).0.length();
        assert!(at_start(motion(Interpolation::Smooth)) < 1e-5);
        assert!((at_start(motion(Interpolation::Linear)) - 0.5).abs() < 1e-5);
    }

    #[test]
    fn unordered_or_missing_keys_make_no_track() {
        assert!(Track::new(vec![(1.0, 0.0), (1.0, 1.0)], Interpolation::Linear).is_none());
        assert!(Track::new(vec![(f64::NAN, 0.0)], Interpolation::Linear).is_none());
        assert!(Track::<f64>::new(vec![], Interpolation::Linear).is_none());
    }

    #[test]
    fn rotation_turns_about_the_pivot() {
        let motion = Motion {
            pivot: DVec3::new(1.0, 0.0, 0.0),
            rotation: Rotation::Rate(QUARTER_TURNS),
            ..Motion::default()
        };
        let moved = |t| motion.pose(t).to_world(Vec3::new(2.0, 0.0, 0.0));
        assert!(close(moved(0.5), Vec3::new(2.0, 0.0, 0.0)));
        assert!(close(moved(2.0), Vec3::new(1.0, 1.0, 0.0)));
        assert!(close(moved(9.0), Vec3::new(0.0, 0.0, 0.0)));
        let pose = motion.pose(2.2);
        let p = Vec3::new(0.3, -0.2, 0.7);
        assert!(close(pose.to_body(pose.to_world(p)), p));
    }

    #[test]
    fn keyframes_about_a_fixed_axis_allow_several_turns() {
        let motion = Motion {
            rotation: Rotation::Angles {
                axis: DVec3::Z,
                track: Track::new(vec![(0.0, 0.0), (1.0, 4.0 * PI)], Interpolation::Linear)
                    .unwrap(),
            },
            ..Motion::default()
        };
        let moved = motion.pose(0.125).to_world(Vec3::X);
        assert!(close(moved, Vec3::Y), "{moved}");
        let (_, angular) = motion.velocities(0.3, 1e-3);
        assert!(close(
            angular / (4.0 * std::f32::consts::PI),
            Vec3::new(0.0, 0.0, 1.0)
        ));
    }

    #[test]
    fn orientations_take_the_shortest_rotation_at_constant_speed() {
        let quarter = |axis| DQuat::from_axis_angle(axis, FRAC_PI_2);
        let track = Track::new(
            vec![(0.0, DQuat::IDENTITY), (1.0, quarter(DVec3::Z))],
            Interpolation::Linear,
        );
        let motion = Motion {
            rotation: Rotation::Orientations(track.unwrap()),
            ..Motion::default()
        };
        let third = motion.pose(1.0 / 3.0).rotation;
        let exact = Quat::from_rotation_z(std::f32::consts::PI / 6.0);
        assert!(third.dot(exact).abs() > 1.0 - 1e-6);
    }

    #[test]
    fn velocities_are_accurate_in_short_steps() {
        let motion = Motion {
            velocity: DVec3::new(0.1, 0.0, 0.0),
            end: f64::INFINITY,
            position: Track::new(vec![(0.0, DVec3::splat(100.0))], Interpolation::Linear),
            ..Motion::default()
        };
        let (dt, t) = (1e-6, 1.0);
        let (v, _) = motion.velocities(t, dt);
        assert!((v.x - 0.1).abs() < 1e-6);
        // The negative control: poses in single precision.
        let naive = (motion.pose(t + dt).position - motion.pose(t).position) / dt as f32;
        assert!((naive.x - 0.1).abs() > 1e-2);
    }

    #[test]
    fn static_motions_have_a_constant_pose() {
        assert!(Motion::default().is_static());
        let moving = Motion {
            velocity: DVec3::X,
            end: f64::INFINITY,
            ..Motion::default()
        };
        assert!(!moving.is_static());
        let placed = Motion {
            position: Track::new(vec![(0.0, DVec3::X)], Interpolation::Linear),
            ..Motion::default()
        };
        assert!(placed.is_static());
        assert_eq!(placed.pose(0.0).position, Vec3::X);
    }

    #[test]
    fn gravity_turns_between_start_and_end() {
        let mut gravity = Gravity {
            value: Track::constant(Gravity::STANDARD),
            turning: Some(QUARTER_TURNS),
        };
        assert!(close(gravity.at(0.0), Vec3::new(0.0, -9.81, 0.0)));
        assert!(close(gravity.at(2.0), Vec3::new(9.81, 0.0, 0.0)));
        assert!(close(gravity.at(3.0), Vec3::new(0.0, 9.81, 0.0)));
        assert!(close(gravity.at(50.0), Vec3::new(0.0, 9.81, 0.0)));
        gravity.turning = None;
        assert!(close(gravity.at(7.0), Vec3::new(0.0, -9.81, 0.0)));
    }
}
