//! The keys of the scene file with their kinds, ranges and meanings, defined only here.

use super::body_keys::{BODY, JOINT, URDF};
use super::spec::{Key, Kind, Range, keys};
use crate::families::{COLUMNS, FAMILIES, MATERIAL_TABLES, SOLVER, joined};

/// Largest coordinate or length [m]: beyond it, single precision cannot tell grains apart.
pub(super) const MAX_COORDINATE: f64 = 1e6;
/// Largest speed [m/s].
pub(crate) const MAX_SPEED: f64 = 1e5;
/// Largest time [s].
const MAX_TIME: f64 = 1e7;

pub(crate) const LENGTH: Kind = Kind::Number(Range::closed(1e-7, MAX_COORDINATE));
pub(super) const POINT: Kind = Kind::Vector(MAX_COORDINATE);
pub(super) const VELOCITY: Kind = Kind::Vector(MAX_SPEED);
pub(super) const TIME: Kind = Kind::Number(Range::closed(0.0, MAX_TIME));
const ANGLE: Kind = Kind::Number(Range::closed(-1e6, 1e6));
const SCALE: Kind = Kind::Number(Range::closed(1e-6, 1e6));

/// Boundary conditions for grains at a surface.
pub(super) const BOUNDARIES: &[&str] = &["sticky", "slipping", "separating"];
/// How pictures show a body.
pub(super) const LOOKS: &[&str] = &["solid", "glass", "cutaway", "hidden"];

/// The document.
pub(crate) static SCENE: &[Key] = &keys! {
    /// Name of the scene and of its result directory; the file's name without its extension when left out
    name: Kind::Text;
    /// One or two sentences about the scene
    description: Kind::Text;
    /// Number of space dimensions: 3, or 2 for the plane z = 0
    dimensions: Kind::Integer(Range::closed(2.0, 3.0)), default("3");
    /// Number of frames to write after the initial one
    frames: Kind::Integer(Range::closed(1.0, 1e7)), default("120");
    /// Frames per simulated second [1/s]; the solver's default when left out
    frame_rate: Kind::Number(Range::positive(1e6));
    /// Seed of every random choice
    seed: Kind::Integer(Range::closed(0.0, 9.2e18)), default("1");
    /// Acceleration of gravity [m/s²]: a vector, or a table when it changes
    gravity: Kind::VectorOr(MAX_SPEED, GRAVITY), default("[0, -9.81, 0]");
    /// Box outside which grains are removed; unbounded when left out
    domain: Kind::Table(DOMAIN);
    /// Earlier result from whose particles this scene starts; fills are added to them
    start: Kind::Table(START);
    /// Solver and its settings
    solver: Kind::Table(&SOLVER), required();
    /// Materials by name
    materials: Kind::Named(&MATERIAL);
    /// Regions filled with material at the start
    fill: Kind::Tables(FILL);
    /// Inflows
    emitter: Kind::Tables(EMITTER);
    /// Scripted bodies
    collider: Kind::Tables(COLLIDER);
    /// Rigid bodies
    body: Kind::Tables(BODY);
    /// Joints between bodies
    joint: Kind::Tables(JOINT);
    /// Robots: bodies and joints from URDF files
    urdf: Kind::Tables(URDF);
    /// Regions that remove grains
    drain: Kind::Tables(DRAIN);
    /// Regions where sand is wetted or dried
    wetting: Kind::Tables(WETTING);
    /// Soil at rest that turns into grains where a body cuts it
    terrain: Kind::Table(super::terrain::TERRAIN);
    /// Camera of pictures and of the viewer; what it leaves open is framed automatically
    camera: Kind::Table(CAMERA);
    /// Additional columns of frames
    output: Kind::Table(OUTPUT);
    /// Conditions on the last frame
    check: Kind::Table(CHECK);
};

static OUTPUT: &[Key] = &keys! {
    /// Additional columns to write
    columns: Kind::Words(COLUMNS), default("[]");
};

static DOMAIN: &[Key] = &keys! {
    /// Lower corner [m]
    min: POINT, required();
    /// Upper corner [m]
    max: POINT, required();
    /// Axes along which the domain repeats: what leaves at one end enters at the other
    periodic: Kind::Words(&["x", "y", "z"]), default("[]");
};

static START: &[Key] = &keys! {
    /// Result directory, relative to the scene file
    result: Kind::Text, required();
    /// Frame at whose end the state is taken; the last when left out
    frame: Kind::Integer(Range::closed(0.0, 1e7));
};

static GRAVITY: &[Key] = &keys! {
    /// Acceleration before it turns [m/s²]
    value: Kind::Vector(MAX_SPEED), default("[0, -9.81, 0]");
    /// Axis that gravity turns about
    axis: Kind::Vector(MAX_COORDINATE);
    /// Angular speed [degrees/s]
    rate: ANGLE;
    /// Time at which it begins to turn [s]
    start: TIME, default("0");
    /// Time at which it stops turning [s]; never when left out
    end: TIME;
    /// Values at given times
    keyframes: Kind::Tables(VECTOR_KEY);
    /// Interpolation between keyframes
    interpolation: Kind::Choice(&["linear", "smooth", "step"]), default("\"linear\"");
};

static VECTOR_KEY: &[Key] = &keys! {
    /// Time [s]
    time: TIME, required();
    /// Value at that time
    value: POINT, required();
};

/// A material.
pub(crate) static MATERIAL: [Key; SUBSTANCE.len() + FAMILIES.len()] =
    joined(SUBSTANCE[0], &[&SUBSTANCE, MATERIAL_TABLES]);

const SUBSTANCE: [Key; 11] = keys! {
    /// Preset that supplies the values of keys that are left out
    preset: Kind::Text;
    /// Constitutive law; when left out, that of the preset, or else "elastic" if `model` is given and "sand" if not
    law: Kind::Choice(&["sand", "elastic"]);
    /// Bulk density at rest [kg/m³]
    density: Kind::Number(Range::positive(1e6));
    /// Young's modulus [Pa]
    young: Kind::Number(Range::positive(1e14)), slider(1e4, 1e7);
    /// Poisson ratio; 0.5 would be incompressible, which explicit steps cannot resolve
    poisson: Kind::Number(Range::closed(-1.0, 0.5).above_low().below_high());
    /// Angle of internal friction [degrees]
    friction_angle: Kind::Number(Range::closed(0.0, 90.0).below_high()), slider(0.0, 60.0);
    /// Friction angle [h0, h1, h2, h3] that changes with plastic strain q: h0 + (h1 q - h3) exp(-h2 q) [degrees]
    hardening: Kind::Numbers(4);
    /// Cohesion [Pa]; 0 for dry sand
    cohesion: Kind::Number(Range::closed(0.0, 1e12)), slider(0.0, 5e4);
    /// Cohesion of the wet material [Pa]; that of the dry one when left out
    wet_cohesion: Kind::Number(Range::closed(0.0, 1e12)), slider(0.0, 5e4);
    /// Color of the grains in pictures, [red, green, blue] from 0 to 255 (sRGB), or a list of colors with their parts
    color: Kind::ColorMix(COLOR_PART);
    /// Strain energy of an elastic solid
    model: Kind::Choice(&["neo-hookean", "fixed corotated", "hencky"]);
};

static COLOR_PART: &[Key] = &keys! {
    /// Color [red, green, blue] from 0 to 255 (sRGB)
    color: Kind::Color, required();
    /// Fraction of the grains that have it; fractions need not add up to 1
    part: Kind::Number(Range::positive(1e6)), required();
};

/// A region filled with material.
pub(crate) static FILL: &[Key] = &keys! {
    /// Name for messages, statistics and --set
    name: Kind::Text;
    /// Region to fill
    shape: Kind::Shape, required();
    /// Name of a material of the scene or of a preset
    material: Kind::Text, required();
    /// Initial velocity [m/s]
    velocity: VELOCITY, default("[0, 0, 0]");
    /// Initial angular velocity [rad/s]
    spin: VELOCITY, default("[0, 0, 0]");
    /// Point that the spin turns about [m]; the center of the shape's bounds when left out
    spin_center: POINT;
    /// Placement of the particles; the solver's default when left out
    sampling: Kind::Choice(&["poisson", "lattice"]);
};

/// An inflow.
pub(crate) static EMITTER: &[Key] = &keys! {
    /// Name for messages, statistics and --set
    name: Kind::Text;
    /// Shape whose section across the velocity, through its center, is the mouth
    shape: Kind::Shape, required();
    /// Name of a material of the scene or of a preset
    material: Kind::Text, required();
    /// Velocity at which grains leave the mouth [m/s]
    velocity: VELOCITY, required();
    /// Mass flow rate [kg/s]; that of the mouth at rest density when left out
    rate: Kind::Number(Range::positive(1e9));
    /// Time at which the inflow begins [s]
    start: TIME, default("0");
    /// Time at which the inflow ends [s]; never when left out
    end: TIME;
};

/// A body.
pub(crate) static COLLIDER: &[Key] = &keys! {
    /// Name for messages, the force record and --set
    name: Kind::Text;
    /// Shape in its position before any motion
    shape: Kind::Shape, required();
    /// Boundary condition for grains at the surface: sticking, slipping, or slipping and separating
    boundary: Kind::Choice(BOUNDARIES), default("\"separating\"");
    /// Coulomb friction coefficient of the surface
    friction: Kind::Number(Range::closed(0.0, 1e3)), default("0.5");
    /// Look in pictures; chosen by the renderer when left out
    look: Kind::Choice(LOOKS);
    /// Color in pictures, [red, green, blue] from 0 to 255 (sRGB); chosen by the renderer when left out
    color: Kind::Color;
    /// Scripted motion; at rest when left out
    motion: Kind::Table(MOTION);
};

static MOTION: &[Key] = &keys! {
    /// Constant velocity [m/s]
    velocity: VELOCITY;
    /// Time at which the constant velocity begins [s]
    start: TIME, default("0");
    /// Time at which the constant velocity ends [s]; never when left out
    end: TIME;
    /// Displacement over time [m]
    position: Kind::Table(POSITION);
    /// Rotation over time
    rotation: Kind::Table(ROTATION);
    /// Point that the rotation turns about [m], moving with the displacement
    pivot: POINT, default("[0, 0, 0]");
};

static POSITION: &[Key] = &keys! {
    /// Displacements [m] at given times
    keyframes: Kind::Tables(VECTOR_KEY), required();
    /// Interpolation between keyframes; "smooth" comes to rest at each
    interpolation: Kind::Choice(&["linear", "smooth"]), default("\"linear\"");
};

static ROTATION: &[Key] = &keys! {
    /// Fixed axis of the rotation
    axis: Kind::Vector(MAX_COORDINATE);
    /// Constant angular speed [degrees/s]
    rate: ANGLE;
    /// Time at which the constant turning begins [s]
    start: TIME, default("0");
    /// Time at which the constant turning ends [s]; never when left out
    end: TIME;
    /// Angles at given times: about the fixed axis, or each about its own
    keyframes: Kind::Tables(ANGLE_KEY);
    /// Interpolation between keyframes; "smooth" comes to rest at each
    interpolation: Kind::Choice(&["linear", "smooth"]), default("\"linear\"");
};

static ANGLE_KEY: &[Key] = &keys! {
    /// Time [s]
    time: TIME, required();
    /// Angle [degrees]
    angle: ANGLE, required();
    /// Axis of this orientation where the rotation has no fixed one
    axis: Kind::Vector(MAX_COORDINATE);
};

/// A region that removes grains.
pub(crate) static DRAIN: &[Key] = &keys! {
    /// Name for messages, statistics and --set
    name: Kind::Text;
    /// Region in which grains are removed
    shape: Kind::Shape, required();
    /// Time at which the removal begins [s]
    start: TIME, default("0");
    /// Time at which the removal ends [s]; never when left out
    end: TIME;
};

/// A region where sand is wetted or dried.
pub(crate) static WETTING: &[Key] = &keys! {
    /// Name for messages and --set
    name: Kind::Text;
    /// Region that is wetted; everywhere when left out
    shape: Kind::Shape;
    /// Change of wetness per second, from 0 (dry) to 1 (wet) [1/s]; negative to dry
    rate: Kind::Number(Range::closed(-1e6, 1e6)), default("1");
    /// Time at which it begins [s]
    start: TIME, default("0");
    /// Time at which it ends [s]; never when left out
    end: TIME;
};

const FOV: Kind = Kind::Number(Range::closed(1.0, 170.0).above_low().below_high());

static CAMERA: &[Key] = &keys! {
    /// Position of the camera [m]; automatic when left out
    position: POINT;
    /// Point at the center of the picture [m]; automatic when left out
    target: POINT;
    /// Vertical field of view [degrees]
    fov: FOV, default("30");
    /// Angular speed about the vertical through the target [degrees/s], of either sign
    orbit: ANGLE, default("0");
    /// Keyframes of the view: each with any of `position`, `target`, `fov` and `angle`
    keyframes: Kind::Tables(VIEW_KEY);
    /// Interpolation between keyframes; "smooth" comes to rest at each
    interpolation: Kind::Choice(&["smooth", "linear"]), default("\"smooth\"");
};

static VIEW_KEY: &[Key] = &keys! {
    /// Time [s]
    time: TIME, required();
    /// Position of the camera [m]; that of the keyframe before when left out
    position: POINT;
    /// Turn about the vertical through the target [degrees], counterclockwise seen from above
    angle: ANGLE;
    /// Point at the center of the picture [m]; that of the keyframe before when left out
    target: POINT;
    /// Vertical field of view [degrees]; that of the keyframe before when left out
    fov: FOV;
};

static CHECK: &[Key] = &keys! {
    /// Highest speed of a particle [m/s]
    max_speed: Kind::Number(Range::positive(MAX_SPEED));
    /// Interval of the slope angle [degrees]
    slope_angle_deg: Kind::Interval(Range::closed(0.0, 90.0));
    /// Interval of the run-out [m]
    runout_m: Kind::Interval(Range::closed(0.0, MAX_COORDINATE));
    /// Interval of the height of the highest grain [m]
    height_m: Kind::Interval(Range::closed(-MAX_COORDINATE, MAX_COORDINATE));
    /// Boxes with the fraction of the final mass that must lie in each
    mass_in: Kind::Tables(MASS_IN);
};

static MASS_IN: &[Key] = &keys! {
    /// Lower corner [m]
    min: POINT, required();
    /// Upper corner [m]
    max: POINT, required();
    /// Interval of the fraction of the mass
    part: Kind::Interval(Range::closed(0.0, 1.0)), required();
};

/// A shape: exactly one of the kinds, and its placement.
pub(crate) static SHAPE: &[Key] = &keys! {
    /// Box between two corners, or about a center
    box: Kind::Table(CUBOID);
    /// Sphere
    sphere: Kind::Table(SPHERE);
    /// Cylinder between the centers of its ends
    cylinder: Kind::Table(ROUND);
    /// Cylinder with hemispherical ends
    capsule: Kind::Table(ROUND);
    /// Cone or its frustum
    cone: Kind::Table(CONE);
    /// Solid on the far side of a plane, away from its normal
    half_space: Kind::Table(HALF_SPACE);
    /// Torus
    torus: Kind::Table(TORUS);
    /// Closed profile turned about an axis
    revolution: Kind::Table(REVOLUTION);
    /// Closed surface from a file
    mesh: Kind::Table(MESH);
    /// Points in any of the shapes
    union: Kind::Shapes;
    /// Points in the first shape and in none of the others
    difference: Kind::Shapes;
    /// Points in all of the shapes
    intersection: Kind::Shapes;
    /// Scale factor about the origin, applied before rotation and translation
    scale: SCALE, default("1");
    /// Rotation about the origin, before translation
    rotate: Kind::Table(ROTATE);
    /// Displacement [m]
    translate: POINT, default("[0, 0, 0]");
};

static CUBOID: &[Key] = &keys! {
    /// Lower corner [m]
    min: POINT;
    /// Upper corner [m]
    max: POINT;
    /// Center [m], with `size`
    center: POINT;
    /// Edge lengths [m], with `center`
    size: POINT;
};

static SPHERE: &[Key] = &keys! {
    /// Center [m]
    center: POINT, required();
    /// Radius [m]
    radius: LENGTH, required();
};

static ROUND: &[Key] = &keys! {
    /// Center of one end [m]
    from: POINT, required();
    /// Center of the other end [m]
    to: POINT, required();
    /// Radius [m]
    radius: LENGTH, required();
};

static CONE: &[Key] = &keys! {
    /// Center of one end [m]
    from: POINT, required();
    /// Center of the other end [m]
    to: POINT, required();
    /// Radius at `from` [m]
    radius: LENGTH, required();
    /// Radius at `to` [m]; 0 for a tip
    radius_to: Kind::Number(Range::closed(0.0, MAX_COORDINATE)), default("0");
};

static HALF_SPACE: &[Key] = &keys! {
    /// Point on the plane [m]
    point: POINT, default("[0, 0, 0]");
    /// Direction out of the solid
    normal: Kind::Vector(MAX_COORDINATE), default("[0, 1, 0]");
};

static TORUS: &[Key] = &keys! {
    /// Center [m]
    center: POINT, required();
    /// Axis of the ring
    axis: Kind::Vector(MAX_COORDINATE), default("[0, 1, 0]");
    /// Radius of the ring's center line [m]
    radius: LENGTH, required();
    /// Radius of the tube [m]
    tube: LENGTH, required();
};

static REVOLUTION: &[Key] = &keys! {
    /// Origin of the profile on the axis [m]
    from: POINT, default("[0, 0, 0]");
    /// Axis, in the direction of increasing h
    axis: Kind::Vector(MAX_COORDINATE), default("[0, 1, 0]");
    /// Corners [r, h] of a closed polygon: distance from the axis and height along it [m]
    profile: Kind::Points, required();
};

static MESH: &[Key] = &keys! {
    /// Mesh file (OBJ, STL, PLY, glTF), relative to the scene file
    file: Kind::Text, required();
    /// Factor from the file's unit to meters
    scale: SCALE, default("1");
    /// Spacing of the distance field [m]; a fraction of solver.resolution when left out, within the limits of the mesh
    voxel: LENGTH;
    /// Whether a mesh with holes is accepted, as a thin shell
    allow_open: Kind::Flag, default("false");
};

pub(super) static ROTATE: &[Key] = &keys! {
    /// Axis through the origin
    axis: Kind::Vector(MAX_COORDINATE), required();
    /// Angle [degrees], counterclockwise seen against the axis
    angle: ANGLE, required();
};
