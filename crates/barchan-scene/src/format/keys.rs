//! The keys of the scene file: the one place that says which there are, what they hold and what they mean.

use super::body_keys::{BODY, JOINT, URDF};
use super::spec::{Key, Kind, Range};
use crate::families::{Part, SOLVER, tables, with_tables};
use crate::model::OutputColumn;

/// Largest coordinate or length [m]: beyond it, single precision cannot tell grains apart.
pub(super) const FAR: f64 = 1e6;
/// Largest speed [m/s].
pub(crate) const FAST: f64 = 1e5;
/// Largest time [s].
const LONG: f64 = 1e7;

pub(crate) const LENGTH: Kind = Kind::Number(Range {
    low: 1e-7,
    low_open: false,
    high: FAR,
    high_open: false,
});
pub(super) const POINT: Kind = Kind::Vector(FAR);
pub(super) const VELOCITY: Kind = Kind::Vector(FAST);
pub(super) const TIME: Kind = Kind::Number(Range::closed(0.0, LONG));
const ANGLE: Kind = Kind::Number(Range::closed(-1e6, 1e6));
const SCALE: Kind = Kind::Number(Range::closed(1e-6, 1e6));

/// What grains may do at a surface.
pub(super) const BOUNDARIES: &[&str] = &["sticky", "slipping", "separating"];
/// How pictures show a body.
pub(super) const LOOKS: &[&str] = &["solid", "glass", "cutaway", "hidden"];

/// The document.
pub(crate) static SCENE: &[Key] = &[
    Key::new(
        "name",
        Kind::Text,
        "Name of the scene and of its result directory; the file's name without its ending when left out",
    ),
    Key::new("description", Kind::Text, "Sentence or two about the scene"),
    Key::new(
        "dimensions",
        Kind::Integer(Range::closed(2.0, 3.0)),
        "Number of space dimensions: 3, or 2 for the plane z = 0",
    )
    .default("3"),
    Key::new(
        "frames",
        Kind::Integer(Range::closed(1.0, 1e7)),
        "Number of frames to write after the initial one",
    )
    .default("120"),
    Key::new(
        "frame_rate",
        Kind::Number(Range::positive(1e6)),
        "Number of frames in a simulated second [1/s]; usual for the solver when left out",
    ),
    Key::new(
        "seed",
        Kind::Integer(Range::closed(0.0, 9.2e18)),
        "Seed of every random choice",
    )
    .default("1"),
    Key::new(
        "gravity",
        Kind::VectorOr(FAST, GRAVITY),
        "Acceleration of gravity [m/s²]: a vector, or a table when it changes",
    )
    .default("[0, -9.81, 0]"),
    Key::new(
        "domain",
        Kind::Table(DOMAIN),
        "Box outside which grains are removed; unbounded when left out",
    ),
    Key::new(
        "start",
        Kind::Table(START),
        "Earlier result whose particles this scene begins with; fills are added to them",
    ),
    Key::new("solver", Kind::Table(&SOLVER), "Solver and its settings").required(),
    Key::new("materials", Kind::Named(&MATERIAL), "Materials by name"),
    Key::new(
        "fill",
        Kind::Tables(FILL),
        "Regions filled with material at the start",
    ),
    Key::new("emitter", Kind::Tables(EMITTER), "Inflows"),
    Key::new(
        "collider",
        Kind::Tables(COLLIDER),
        "Bodies that are not grains and move as scripted",
    ),
    Key::new("body", Kind::Tables(BODY), "Rigid bodies"),
    Key::new("joint", Kind::Tables(JOINT), "What holds bodies together"),
    Key::new(
        "urdf",
        Kind::Tables(URDF),
        "Robots: bodies and joints from URDF files",
    ),
    Key::new("drain", Kind::Tables(DRAIN), "Regions that remove grains"),
    Key::new(
        "wetting",
        Kind::Tables(WETTING),
        "Regions where grains turn wet or dry",
    ),
    Key::new(
        "terrain",
        Kind::Table(super::terrain::TERRAIN),
        "Soil at rest that turns into grains where a body cuts it",
    ),
    Key::new(
        "camera",
        Kind::Table(CAMERA),
        "Camera of pictures and of the viewer; what it leaves open is framed automatically",
    ),
    Key::new(
        "output",
        Kind::Table(OUTPUT),
        "What frames hold beyond the usual columns",
    ),
    Key::new(
        "check",
        Kind::Table(CHECK),
        "What must hold in the last frame",
    ),
];

static OUTPUT: &[Key] = &[Key::new(
    "columns",
    Kind::Words(&OutputColumn::NAMES),
    "Columns to be written beside the usual ones",
)
.default("[]")];

static DOMAIN: &[Key] = &[
    Key::new("min", POINT, "Lower corner [m]").required(),
    Key::new("max", POINT, "Upper corner [m]").required(),
    Key::new(
        "periodic",
        Kind::Words(&["x", "y", "z"]),
        "Axes along which the domain repeats: what leaves at one end comes in at the other",
    )
    .default("[]"),
];

static START: &[Key] = &[
    Key::new(
        "result",
        Kind::Text,
        "Result directory, relative to the scene file",
    )
    .required(),
    Key::new(
        "frame",
        Kind::Integer(Range::closed(0.0, 1e7)),
        "Frame at whose end the state is taken; the last when left out",
    ),
];

static GRAVITY: &[Key] = &[
    Key::new(
        "value",
        Kind::Vector(FAST),
        "Acceleration before it turns [m/s²]",
    )
    .default("[0, -9.81, 0]"),
    Key::new("axis", Kind::Vector(FAR), "Axis that gravity turns about"),
    Key::new("rate", ANGLE, "Speed of turning [degrees/s]"),
    Key::new("start", TIME, "Time at which it begins to turn [s]").default("0"),
    Key::new(
        "end",
        TIME,
        "Time at which it stops turning [s]; never when left out",
    ),
    Key::new(
        "keyframes",
        Kind::Tables(VECTOR_KEY),
        "Values at given times",
    ),
    Key::new(
        "interpolation",
        Kind::Choice(&["linear", "smooth", "step"]),
        "Way from one keyframe to the next",
    )
    .default("\"linear\""),
];

static VECTOR_KEY: &[Key] = &[
    Key::new("time", TIME, "Time [s]").required(),
    Key::new("value", POINT, "Value at that time").required(),
];

/// A material.
pub(crate) static MATERIAL: [Key; SUBSTANCE.len() + tables(Part::Material)] =
    with_tables(&SUBSTANCE, Part::Material);

const SUBSTANCE: [Key; 13] = [
    Key::new("preset", Kind::Text, "Name of the preset whose values hold where no key says otherwise"),
    Key::new("law", Kind::Choice(&["sand", "elastic"]), "Constitutive law; the preset's, otherwise \"elastic\" where `model` is given and \"sand\" where not"),
    Key::new("density", Kind::Number(Range::positive(1e6)), "Bulk density at rest [kg/m³]"),
    Key::new("young", Kind::Number(Range::positive(1e14)), "Young's modulus [Pa]").slider(1e4, 1e7),
    Key::new("poisson", Kind::Number(Range::closed(-1.0, 0.5).above_low().below_high()), "Poisson ratio; 0.5 would be incompressible, which an explicit step cannot follow"),
    Key::new("friction_angle", Kind::Number(Range::closed(0.0, 90.0).below_high()), "Angle of internal friction [degrees]").slider(0.0, 60.0),
    Key::new("hardening", Kind::Numbers(4), "Friction angle [h0, h1, h2, h3] that changes with plastic strain q: h0 + (h1 q - h3) exp(-h2 q) [degrees]"),
    Key::new("cohesion", Kind::Number(Range::closed(0.0, 1e12)), "Cohesion of the grains [Pa]; 0 for dry sand").slider(0.0, 5e4),
    Key::new("wet_cohesion", Kind::Number(Range::closed(0.0, 1e12)), "Cohesion where it is wet [Pa]; as where dry when left out").slider(0.0, 5e4),
    Key::new("cone", Kind::Choice(&["triaxial", "plane strain"]), "Test in which the yield cone matches the friction angle; \"triaxial\" in 3D and \"plane strain\" in 2D when left out"),
    Key::new("volume_correction", Kind::Flag, "Whether volume gained in tension is remembered, so that recompression starts at the original volume").default("true"),
    Key::new("color", Kind::ColorMix(COLOR_PART), "Color of the grains in pictures, [red, green, blue] from 0 to 255 (sRGB), or a list of colors with their parts"),
    Key::new("model", Kind::Choice(&["neo-hookean", "fixed corotated", "hencky"]), "Strain energy of an elastic solid"),
];

static COLOR_PART: &[Key] = &[
    Key::new(
        "color",
        Kind::Color,
        "Color [red, green, blue] from 0 to 255 (sRGB)",
    )
    .required(),
    Key::new(
        "part",
        Kind::Number(Range::positive(1e6)),
        "Part of the grains that has it; the parts need not add up to 1",
    )
    .required(),
];

/// A region filled with material.
pub(crate) static FILL: &[Key] = &[
    Key::new(
        "name",
        Kind::Text,
        "Name for messages, statistics and --set",
    ),
    Key::new("shape", Kind::Shape, "Region to fill").required(),
    Key::new(
        "material",
        Kind::Text,
        "Name of a material of the scene or of a preset",
    )
    .required(),
    Key::new("velocity", VELOCITY, "Initial velocity [m/s]").default("[0, 0, 0]"),
    Key::new("spin", VELOCITY, "Initial angular velocity [rad/s]").default("[0, 0, 0]"),
    Key::new(
        "spin_center",
        POINT,
        "Point that the spin turns about [m]; the center of the shape's bounds when left out",
    ),
    Key::new(
        "sampling",
        Kind::Choice(&["poisson", "lattice"]),
        "Placing of the particles; usual for the solver when left out",
    ),
];

/// An inflow.
pub(crate) static EMITTER: &[Key] = &[
    Key::new(
        "name",
        Kind::Text,
        "Name for messages, statistics and --set",
    ),
    Key::new(
        "shape",
        Kind::Shape,
        "Shape whose section across the velocity, through its center, is the mouth",
    )
    .required(),
    Key::new(
        "material",
        Kind::Text,
        "Name of a material of the scene or of a preset",
    )
    .required(),
    Key::new(
        "velocity",
        VELOCITY,
        "Velocity at which grains leave the mouth [m/s]",
    )
    .required(),
    Key::new(
        "rate",
        Kind::Number(Range::positive(1e9)),
        "Mass that leaves in a second [kg/s]; as much as the mouth passes at rest density when left out",
    ),
    Key::new("start", TIME, "Time at which the inflow begins [s]").default("0"),
    Key::new(
        "end",
        TIME,
        "Time at which the inflow ends [s]; never when left out",
    ),
];

/// A body.
pub(crate) static COLLIDER: &[Key] = &[
    Key::new(
        "name",
        Kind::Text,
        "Name for messages, the force record and --set",
    ),
    Key::new(
        "shape",
        Kind::Shape,
        "Shape where it stands before any motion",
    )
    .required(),
    Key::new(
        "boundary",
        Kind::Choice(BOUNDARIES),
        "Freedom of grains at the surface: none, to slide, or to slide and leave",
    )
    .default("\"separating\""),
    Key::new(
        "friction",
        Kind::Number(Range::closed(0.0, 1e3)),
        "Coulomb friction coefficient of the surface",
    )
    .default("0.5"),
    Key::new(
        "look",
        Kind::Choice(LOOKS),
        "Look in pictures; chosen by the renderer when left out",
    ),
    Key::new(
        "color",
        Kind::Color,
        "Color in pictures, [red, green, blue] from 0 to 255 (sRGB); chosen by the renderer when left out",
    ),
    Key::new(
        "motion",
        Kind::Table(MOTION),
        "Scripted motion; at rest when left out",
    ),
];

static MOTION: &[Key] = &[
    Key::new("velocity", VELOCITY, "Constant velocity [m/s]"),
    Key::new(
        "start",
        TIME,
        "Time at which the constant velocity begins [s]",
    )
    .default("0"),
    Key::new(
        "end",
        TIME,
        "Time at which the constant velocity ends [s]; never when left out",
    ),
    Key::new(
        "position",
        Kind::Table(POSITION),
        "Displacement over time [m]",
    ),
    Key::new("rotation", Kind::Table(ROTATION), "Rotation over time"),
    Key::new(
        "pivot",
        POINT,
        "Point that the rotation turns about [m], moving with the displacement",
    )
    .default("[0, 0, 0]"),
];

static POSITION: &[Key] = &[
    Key::new(
        "keyframes",
        Kind::Tables(VECTOR_KEY),
        "Displacements [m] at given times",
    )
    .required(),
    Key::new(
        "interpolation",
        Kind::Choice(&["linear", "smooth"]),
        "Way from one keyframe to the next; \"smooth\" comes to rest at each",
    )
    .default("\"linear\""),
];

static ROTATION: &[Key] = &[
    Key::new("axis", Kind::Vector(FAR), "Fixed axis of the rotation"),
    Key::new("rate", ANGLE, "Constant speed of turning [degrees/s]"),
    Key::new(
        "start",
        TIME,
        "Time at which the constant turning begins [s]",
    )
    .default("0"),
    Key::new(
        "end",
        TIME,
        "Time at which the constant turning ends [s]; never when left out",
    ),
    Key::new(
        "keyframes",
        Kind::Tables(ANGLE_KEY),
        "Angles at given times: about the fixed axis, or each about its own",
    ),
    Key::new(
        "interpolation",
        Kind::Choice(&["linear", "smooth"]),
        "Way from one keyframe to the next; \"smooth\" comes to rest at each",
    )
    .default("\"linear\""),
];

static ANGLE_KEY: &[Key] = &[
    Key::new("time", TIME, "Time [s]").required(),
    Key::new("angle", ANGLE, "Angle [degrees]").required(),
    Key::new(
        "axis",
        Kind::Vector(FAR),
        "Axis of this orientation where the rotation has no fixed one",
    ),
];

/// A region that removes grains.
pub(crate) static DRAIN: &[Key] = &[
    Key::new(
        "name",
        Kind::Text,
        "Name for messages, statistics and --set",
    ),
    Key::new("shape", Kind::Shape, "Region in which grains are removed").required(),
    Key::new("start", TIME, "Time at which the removal begins [s]").default("0"),
    Key::new(
        "end",
        TIME,
        "Time at which the removal ends [s]; never when left out",
    ),
];

/// A region where grains turn wet.
pub(crate) static WETTING: &[Key] = &[
    Key::new("name", Kind::Text, "Name for messages and --set"),
    Key::new(
        "shape",
        Kind::Shape,
        "Region in which grains turn wet; everywhere when left out",
    ),
    Key::new(
        "rate",
        Kind::Number(Range::closed(-1e6, 1e6)),
        "Wetness gained in a second, of 1 from dry to wet [1/s]; negative: lost",
    )
    .default("1"),
    Key::new("start", TIME, "Time at which it begins [s]").default("0"),
    Key::new(
        "end",
        TIME,
        "Time at which it ends [s]; never when left out",
    ),
];

const FOV: Kind = Kind::Number(Range::closed(1.0, 170.0).above_low().below_high());

static CAMERA: &[Key] = &[
    Key::new(
        "position",
        POINT,
        "Place of the eye [m]; automatic when left out",
    ),
    Key::new(
        "target",
        POINT,
        "Point in the middle of the picture [m]; automatic when left out",
    ),
    Key::new("fov", FOV, "Vertical field of view [degrees]").default("30"),
    Key::new(
        "orbit",
        ANGLE,
        "Speed of turning about the vertical through the target [degrees/s], of either sign",
    )
    .default("0"),
    Key::new(
        "keyframes",
        Kind::Tables(VIEW_KEY),
        "What changes over time: each with any of `position`, `target`, `fov` and `angle`",
    ),
    Key::new(
        "interpolation",
        Kind::Choice(&["smooth", "linear"]),
        "Way from one keyframe to the next; \"smooth\" comes to rest at each",
    )
    .default("\"smooth\""),
];

static VIEW_KEY: &[Key] = &[
    Key::new("time", TIME, "Time [s]").required(),
    Key::new(
        "position",
        POINT,
        "Place of the eye [m]; that of the keyframe before when left out",
    ),
    Key::new(
        "angle",
        ANGLE,
        "Turn about the vertical through the target [degrees], counter-clockwise seen from above",
    ),
    Key::new(
        "target",
        POINT,
        "Point in the middle of the picture [m]; that of the keyframe before when left out",
    ),
    Key::new(
        "fov",
        FOV,
        "Vertical field of view [degrees]; that of the keyframe before when left out",
    ),
];

static CHECK: &[Key] = &[
    Key::new(
        "max_speed",
        Kind::Number(Range::positive(FAST)),
        "Highest speed of a particle [m/s]",
    ),
    Key::new(
        "slope_angle_deg",
        Kind::Interval(Range::closed(0.0, 90.0)),
        "Interval of the slope angle [degrees]",
    ),
    Key::new(
        "runout_m",
        Kind::Interval(Range::closed(0.0, FAR)),
        "Interval of the run-out [m]",
    ),
    Key::new(
        "height_m",
        Kind::Interval(Range::closed(-FAR, FAR)),
        "Interval of the height of the highest grain [m]",
    ),
    Key::new(
        "mass_in",
        Kind::Tables(MASS_IN),
        "Boxes with the part of the final mass that must lie in each",
    ),
];

static MASS_IN: &[Key] = &[
    Key::new("min", POINT, "Lower corner [m]").required(),
    Key::new("max", POINT, "Upper corner [m]").required(),
    Key::new(
        "part",
        Kind::Interval(Range::closed(0.0, 1.0)),
        "Interval of the part of the mass",
    )
    .required(),
];

/// A shape: exactly one of the kinds, and where it stands.
pub(crate) static SHAPE: &[Key] = &[
    Key::new(
        "box",
        Kind::Table(CUBOID),
        "Box between two corners, or about a center",
    ),
    Key::new("sphere", Kind::Table(SPHERE), "Ball"),
    Key::new(
        "cylinder",
        Kind::Table(ROUND),
        "Cylinder between the centers of its ends",
    ),
    Key::new(
        "capsule",
        Kind::Table(ROUND),
        "Cylinder with half balls for ends",
    ),
    Key::new("cone", Kind::Table(CONE), "Cone or its frustum"),
    Key::new(
        "half_space",
        Kind::Table(HALF_SPACE),
        "Everything on the far side of a plane, away from its normal",
    ),
    Key::new("torus", Kind::Table(TORUS), "Ring"),
    Key::new(
        "revolution",
        Kind::Table(REVOLUTION),
        "Closed profile turned about an axis",
    ),
    Key::new("mesh", Kind::Table(MESH), "Closed surface from a file"),
    Key::new("union", Kind::Shapes, "Points in any of the shapes"),
    Key::new(
        "difference",
        Kind::Shapes,
        "Points in the first shape and in none of the others",
    ),
    Key::new("intersection", Kind::Shapes, "Points in all of the shapes"),
    Key::new(
        "scale",
        SCALE,
        "Factor of size, about the origin, before rotation and translation",
    )
    .default("1"),
    Key::new(
        "rotate",
        Kind::Table(ROTATE),
        "Rotation about the origin, before translation",
    ),
    Key::new("translate", POINT, "Displacement [m]").default("[0, 0, 0]"),
];

static CUBOID: &[Key] = &[
    Key::new("min", POINT, "Lower corner [m]"),
    Key::new("max", POINT, "Upper corner [m]"),
    Key::new("center", POINT, "Center [m], with `size`"),
    Key::new("size", POINT, "Edge lengths [m], with `center`"),
];

static SPHERE: &[Key] = &[
    Key::new("center", POINT, "Center [m]").required(),
    Key::new("radius", LENGTH, "Radius [m]").required(),
];

static ROUND: &[Key] = &[
    Key::new("from", POINT, "Center of one end [m]").required(),
    Key::new("to", POINT, "Center of the other end [m]").required(),
    Key::new("radius", LENGTH, "Radius [m]").required(),
];

static CONE: &[Key] = &[
    Key::new("from", POINT, "Center of one end [m]").required(),
    Key::new("to", POINT, "Center of the other end [m]").required(),
    Key::new("radius", LENGTH, "Radius at `from` [m]").required(),
    Key::new(
        "radius_to",
        Kind::Number(Range::closed(0.0, FAR)),
        "Radius at `to` [m]; 0 is a tip",
    )
    .default("0"),
];

static HALF_SPACE: &[Key] = &[
    Key::new("point", POINT, "Point on the plane [m]").default("[0, 0, 0]"),
    Key::new("normal", Kind::Vector(FAR), "Direction out of the solid").default("[0, 1, 0]"),
];

static TORUS: &[Key] = &[
    Key::new("center", POINT, "Center [m]").required(),
    Key::new("axis", Kind::Vector(FAR), "Axis of the ring").default("[0, 1, 0]"),
    Key::new("radius", LENGTH, "Radius of the ring's center line [m]").required(),
    Key::new("tube", LENGTH, "Radius of the tube [m]").required(),
];

static REVOLUTION: &[Key] = &[
    Key::new("from", POINT, "Origin of the profile on the axis [m]").default("[0, 0, 0]"),
    Key::new(
        "axis",
        Kind::Vector(FAR),
        "Axis, in the direction of growing h",
    )
    .default("[0, 1, 0]"),
    Key::new(
        "profile",
        Kind::Points,
        "Corners [r, h] of a closed polygon: distance from the axis and height along it [m]",
    )
    .required(),
];

static MESH: &[Key] = &[
    Key::new(
        "file",
        Kind::Text,
        "Mesh file (OBJ, STL, PLY, glTF), relative to the scene file",
    )
    .required(),
    Key::new("scale", SCALE, "Factor from the file's unit to meters").default("1"),
    Key::new(
        "voxel",
        LENGTH,
        "Spacing of the distance field [m]; a part of solver.resolution when left out, within what the mesh needs",
    ),
    Key::new(
        "allow_open",
        Kind::Flag,
        "Whether a mesh with holes is taken as it is",
    )
    .default("false"),
];

pub(super) static ROTATE: &[Key] = &[
    Key::new("axis", Kind::Vector(FAR), "Axis through the origin").required(),
    Key::new(
        "angle",
        ANGLE,
        "Angle [degrees], counter-clockwise seen against the axis",
    )
    .required(),
];
