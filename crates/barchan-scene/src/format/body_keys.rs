//! The keys of rigid bodies, joints and robots.

use super::keys::{BOUNDARIES, FAR, FAST, LOOKS, POINT, ROTATE, TIME, VELOCITY};
use super::spec::{Key, Kind, Range};

const COEFFICIENT: Kind = Kind::Number(Range::closed(0.0, 1e3));
const STRENGTH: Kind = Kind::Number(Range::closed(0.0, 1e12));

/// A rigid body.
pub(crate) static BODY: &[Key] = &[
    Key::new(
        "name",
        Kind::Text,
        "Name for messages, records, joints and --set",
    ),
    Key::new("shape", Kind::Shape, "Shape where it stands at the start").required(),
    Key::new(
        "density",
        Kind::Number(Range::positive(1e6)),
        "Density [kg/m³], the same everywhere in it; or give its `mass`",
    ),
    Key::new(
        "mass",
        Kind::Number(Range::positive(1e12)),
        "Mass [kg], spread evenly (of each meter of depth in 2D); or give its `density`",
    ),
    Key::new(
        "center_of_mass",
        POINT,
        "Center of mass at the start [m]; that of the shape when left out",
    ),
    Key::new(
        "friction",
        COEFFICIENT,
        "Coulomb friction coefficient of the surface",
    )
    .default("0.5"),
    Key::new(
        "boundary",
        Kind::Choice(BOUNDARIES),
        "Freedom of grains at the surface: none, to slide, or to slide and leave",
    )
    .default("\"separating\""),
    Key::new(
        "restitution",
        Kind::Number(Range::closed(0.0, 1.0)),
        "Part of the speed with which bodies leave each other after an impact",
    )
    .default("0"),
    Key::new("velocity", VELOCITY, "Velocity at the start [m/s]").default("[0, 0, 0]"),
    Key::new("spin", VELOCITY, "Angular velocity at the start [rad/s]").default("[0, 0, 0]"),
    Key::new(
        "collides",
        Kind::Flag,
        "Whether other bodies and colliders stop it; grains always do",
    )
    .default("true"),
    Key::new("look", Kind::Choice(LOOKS), "Look in pictures").default("\"solid\""),
    Key::new(
        "color",
        Kind::Color,
        "Color in pictures, [red, green, blue] from 0 to 255 (sRGB); chosen by the renderer when left out",
    ),
];

/// What holds two bodies together.
pub(crate) static JOINT: &[Key] = &[
    Key::new("name", Kind::Text, "Name for messages, records, driving and --set"),
    Key::new("type", Kind::Choice(&["revolute", "prismatic", "fixed", "spherical"]), "What moves: it turns about the axis, slides along it, nothing, or turns any way").required(),
    Key::new("bodies", Kind::Texts(2), "Names of what it joins: bodies, colliders or \"world\"; the second moves relative to the first").required(),
    Key::new("anchor", POINT, "Point of the joint at the start [m]; the second body's center of mass when left out"),
    Key::new("axis", Kind::Vector(FAR), "Axis of turning or sliding at the start").default("[0, 0, 1]"),
    Key::new("limits", Kind::Interval(Range::closed(-1e6, 1e6)), "Least and largest position [degrees or m]; 0 is where it starts"),
    Key::new("damping", STRENGTH, "Damping of an undriven joint [N·m·s/rad or N·s/m]").default("0"),
    Key::new("motor", Kind::Table(MOTOR), "What drives it"),
    Key::new("control", Kind::Table(CONTROL), "How people drive it in the live view"),
    Key::new("release", TIME, "Time at which it lets go [s]; never when left out"),
];

static MOTOR: &[Key] = &[
    Key::new(
        "velocity",
        Kind::NumberOr(Range::closed(-1e6, 1e6), DRIVE),
        "Speed to keep [degrees/s or m/s]: a number, or keyframes",
    ),
    Key::new(
        "position",
        Kind::NumberOr(Range::closed(-1e6, 1e6), DRIVE),
        "Position to hold [degrees or m]: a number, or keyframes",
    ),
    Key::new(
        "stiffness",
        STRENGTH,
        "Force by distance from the target [N·m/rad or N/m]; as stiff as the bodies allow when left out",
    ),
    Key::new(
        "damping",
        STRENGTH,
        "Force by difference from the target speed [N·m·s/rad or N·s/m]; as suits the stiffness when left out",
    ),
    Key::new(
        "max_force",
        Kind::Number(Range::positive(1e15)),
        "Largest force [N] or torque [N·m]; without limit when left out",
    ),
];

static DRIVE: &[Key] = &[
    Key::new(
        "keyframes",
        Kind::Tables(DRIVE_KEY),
        "Values at given times",
    )
    .required(),
    Key::new(
        "interpolation",
        Kind::Choice(&["linear", "smooth", "step"]),
        "Way from one keyframe to the next; \"smooth\" comes to rest at each",
    )
    .default("\"linear\""),
];

static DRIVE_KEY: &[Key] = &[
    Key::new("time", TIME, "Time [s]").required(),
    Key::new(
        "value",
        Kind::Number(Range::closed(-1e6, 1e6)),
        "Value at that time",
    )
    .required(),
];

static CONTROL: &[Key] = &[
    Key::new(
        "label",
        Kind::Text,
        "Name in the live view; that of the joint when left out",
    ),
    Key::new(
        "keys",
        Kind::Texts(2),
        "Keys that drive it down and up, as browsers call them, such as [\"a\", \"d\"]",
    ),
    Key::new(
        "gamepad_axis",
        Kind::Integer(Range::closed(0.0, 15.0)),
        "Axis of a gamepad that drives it",
    ),
    Key::new(
        "speed",
        Kind::Number(Range::closed(-FAST, FAST)),
        "Speed when fully driven [degrees/s or m/s]; negative swaps the keys",
    )
    .required(),
];

/// A robot from a URDF file.
pub(crate) static URDF: &[Key] = &[
    Key::new(
        "name",
        Kind::Text,
        "Name that its bodies and joints begin with; the robot's own when left out",
    ),
    Key::new("file", Kind::Text, "URDF file, relative to the scene file").required(),
    Key::new("position", POINT, "Place of its root [m]").default("[0, 0, 0]"),
    Key::new(
        "rotate",
        Kind::Table(ROTATE),
        "Rotation about its root, after `up`",
    ),
    Key::new(
        "up",
        Kind::Choice(&["z", "y"]),
        "Axis of the file that points up",
    )
    .default("\"z\""),
    Key::new(
        "fixed_base",
        Kind::Flag,
        "Whether its root is fixed to the world",
    )
    .default("true"),
    Key::new(
        "density",
        Kind::Number(Range::positive(1e6)),
        "Density of links without mass [kg/m³]; such links are refused when left out",
    ),
    Key::new(
        "friction",
        COEFFICIENT,
        "Coulomb friction coefficient of its surfaces",
    )
    .default("0.5"),
    Key::new(
        "boundary",
        Kind::Choice(BOUNDARIES),
        "Freedom of grains at its surfaces",
    )
    .default("\"separating\""),
    Key::new(
        "collides",
        Kind::Flag,
        "Whether its links and other bodies stop each other; grains always do",
    )
    .default("true"),
    Key::new("look", Kind::Choice(LOOKS), "Look in pictures").default("\"solid\""),
    Key::new(
        "color",
        Kind::Color,
        "Color in pictures; that of the file when left out",
    ),
    Key::new("joint", Kind::Tables(URDF_JOINT), "What drives its joints"),
];

static URDF_JOINT: &[Key] = &[
    Key::new("name", Kind::Text, "Name of the joint in the file").required(),
    Key::new(
        "motor",
        Kind::Table(MOTOR),
        "What drives it; the file's effort is the largest force",
    ),
    Key::new(
        "control",
        Kind::Table(CONTROL),
        "How people drive it in the live view",
    ),
];
