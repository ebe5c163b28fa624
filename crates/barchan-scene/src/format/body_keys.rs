//! The keys of rigid bodies, joints and robots.

use super::keys::{BOUNDARIES, LOOKS, MAX_COORDINATE, MAX_SPEED, POINT, ROTATE, TIME, VELOCITY};
use super::spec::{Key, Kind, Range, keys};

const COEFFICIENT: Kind = Kind::Number(Range::closed(0.0, 1e3));
const STRENGTH: Kind = Kind::Number(Range::closed(0.0, 1e12));

/// A rigid body.
pub(crate) static BODY: &[Key] = &keys! {
    /// Name for messages, records, joints and --set
    name: Kind::Text;
    /// Shape in its initial position
    shape: Kind::Shape, required();
    /// Uniform density [kg/m³]; or give its `mass`
    density: Kind::Number(Range::positive(1e6));
    /// Mass [kg], uniformly distributed (per meter of depth in 2D); or give its `density`
    mass: Kind::Number(Range::positive(1e12));
    /// Center of mass at the start [m]; that of the shape when left out
    center_of_mass: POINT;
    /// Coulomb friction coefficient of the surface
    friction: COEFFICIENT, default("0.5");
    /// Boundary condition for grains at the surface: sticking, slipping, or slipping and separating
    boundary: Kind::Choice(BOUNDARIES), default("\"separating\"");
    /// Coefficient of restitution of impacts between bodies
    restitution: Kind::Number(Range::closed(0.0, 1.0)), default("0");
    /// Velocity at the start [m/s]
    velocity: VELOCITY, default("[0, 0, 0]");
    /// Angular velocity at the start [rad/s]
    spin: VELOCITY, default("[0, 0, 0]");
    /// Whether it collides with other bodies and colliders; it always does with grains
    collides: Kind::Flag, default("true");
    /// Look in pictures
    look: Kind::Choice(LOOKS), default("\"solid\"");
    /// Color in pictures, [red, green, blue] from 0 to 255 (sRGB); chosen by the renderer when left out
    color: Kind::Color;
};

/// A joint between two bodies.
pub(crate) static JOINT: &[Key] = &keys! {
    /// Name for messages, records, driving and --set
    name: Kind::Text;
    /// Relative motion that it allows: rotation about the axis, sliding along it, none, or any rotation
    type: Kind::Choice(&["revolute", "prismatic", "fixed", "spherical"]), required();
    /// Names of the two solids that it connects: bodies, colliders or "world"; the second moves relative to the first
    bodies: Kind::Texts(2), required();
    /// Point of the joint at the start [m]; the second body's center of mass when left out
    anchor: POINT;
    /// Axis of turning or sliding at the start
    axis: Kind::Vector(MAX_COORDINATE), default("[0, 0, 1]");
    /// Least and largest position [degrees or m]; 0 is where it starts
    limits: Kind::Interval(Range::closed(-1e6, 1e6));
    /// Damping of an undriven joint [N·m·s/rad or N·s/m]
    damping: STRENGTH, default("0");
    /// Motor that drives it
    motor: Kind::Table(MOTOR);
    /// Manual control in the live view
    control: Kind::Table(CONTROL);
    /// Time at which it is released [s]; never when left out
    release: TIME;
};

static MOTOR: &[Key] = &keys! {
    /// Speed to keep [degrees/s or m/s]: a number, or keyframes
    velocity: Kind::NumberOr(Range::closed(-1e6, 1e6), DRIVE);
    /// Position to hold [degrees or m]: a number, or keyframes
    position: Kind::NumberOr(Range::closed(-1e6, 1e6), DRIVE);
    /// Force per distance from the target [N·m/rad or N/m]; as stiff as the bodies allow when left out
    stiffness: STRENGTH;
    /// Force per difference from the target speed [N·m·s/rad or N·s/m]; follows from the stiffness when left out
    damping: STRENGTH;
    /// Largest force [N] or torque [N·m]; unlimited when left out
    max_force: Kind::Number(Range::positive(1e15));
};

static DRIVE: &[Key] = &keys! {
    /// Values at given times
    keyframes: Kind::Tables(DRIVE_KEY), required();
    /// Interpolation between keyframes; "smooth" comes to rest at each
    interpolation: Kind::Choice(&["linear", "smooth", "step"]), default("\"linear\"");
};

static DRIVE_KEY: &[Key] = &keys! {
    /// Time [s]
    time: TIME, required();
    /// Value at that time
    value: Kind::Number(Range::closed(-1e6, 1e6)), required();
};

static CONTROL: &[Key] = &keys! {
    /// Name in the live view; that of the joint when left out
    label: Kind::Text;
    /// Keys that drive it in negative and positive direction, as browsers name them, such as ["a", "d"]
    keys: Kind::Texts(2);
    /// Axis of a gamepad that drives it
    gamepad_axis: Kind::Integer(Range::closed(0.0, 15.0));
    /// Speed at full deflection [degrees/s or m/s]; negative swaps the keys
    speed: Kind::Number(Range::closed(-MAX_SPEED, MAX_SPEED)), required();
};

/// A robot from a URDF file.
pub(crate) static URDF: &[Key] = &keys! {
    /// Prefix of the names of its bodies and joints; the robot's own name when left out
    name: Kind::Text;
    /// URDF file, relative to the scene file
    file: Kind::Text, required();
    /// Position of its root [m]
    position: POINT, default("[0, 0, 0]");
    /// Rotation about its root, after `up`
    rotate: Kind::Table(ROTATE);
    /// Axis of the file that points up
    up: Kind::Choice(&["z", "y"]), default("\"z\"");
    /// Whether its root is fixed to the world
    fixed_base: Kind::Flag, default("true");
    /// Density of links without mass [kg/m³]; such links are refused when left out
    density: Kind::Number(Range::positive(1e6));
    /// Coulomb friction coefficient of its surfaces
    friction: COEFFICIENT, default("0.5");
    /// Boundary condition for grains at its surfaces
    boundary: Kind::Choice(BOUNDARIES), default("\"separating\"");
    /// Whether its links collide with other bodies; they always do with grains
    collides: Kind::Flag, default("true");
    /// Look in pictures
    look: Kind::Choice(LOOKS), default("\"solid\"");
    /// Color in pictures; that of the file when left out
    color: Kind::Color;
    /// Motors and controls of its joints
    joint: Kind::Tables(URDF_JOINT);
};

static URDF_JOINT: &[Key] = &keys! {
    /// Name of the joint in the file
    name: Kind::Text, required();
    /// Motor that drives it; the effort in the file limits its force
    motor: Kind::Table(MOTOR);
    /// Manual control in the live view
    control: Kind::Table(CONTROL);
};
