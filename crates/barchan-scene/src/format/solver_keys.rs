//! The keys of `[solver]`, of all families.

use super::keys::{FAST, LENGTH};
use super::spec::{Key, Kind, Range};

/// The solver and its settings.
pub(super) static SOLVER: &[Key] = &[
    Key::new(
        "method",
        Kind::Choice(&["mpm", "pbd", "sph"]),
        "Family of solvers: \"mpm\" is the material point method, \"pbd\" position-based grains in real time, \"sph\" smoothed particle hydrodynamics",
    )
    .default("\"mpm\""),
    Key::new(
        "dx",
        LENGTH,
        "Grid spacing [m], the resolution of an mpm simulation, which needs it",
    ),
    Key::new(
        "particles_per_cell",
        Kind::Number(Range::closed(1.0, 512.0)),
        "Number of particles in a grid cell at rest; 8 in 3D and 4 in 2D when left out",
    ),
    Key::new(
        "kernel",
        Kind::Choice(&["quadratic", "cubic"]),
        "Interpolation kernel",
    )
    .default("\"quadratic\""),
    Key::new(
        "transfer",
        Kind::Choice(&["apic", "flip", "pic"]),
        "Way that velocities go between particles and grid",
    )
    .default("\"apic\""),
    Key::new(
        "flip",
        Kind::Number(Range::closed(0.0, 1.0)),
        "FLIP part of the blend when transfer = \"flip\"; the rest is PIC",
    )
    .default("0.95"),
    Key::new(
        "max_dt",
        Kind::Number(Range::positive(1.0)),
        "Largest time step of mpm and sph [s]; 1e-3 for mpm, radius/25 for sph when left out",
    ),
    Key::new(
        "cfl",
        Kind::Number(Range::positive(1.0)),
        "Part of a cell (sph: of the distance of particles) that the fastest particle may cross in a step; 0.5 for mpm, 0.4 for sph when left out",
    ),
    Key::new(
        "elastic_cfl",
        Kind::Number(Range::positive(1.5)),
        "Part of a cell that an elastic wave may cross in a step",
    )
    .default("0.6"),
    Key::new(
        "radius",
        LENGTH,
        "Mean radius of the grains [m], the resolution of a pbd or sph simulation, which needs it; in sph half the distance of particles",
    ),
    Key::new(
        "radius_spread",
        Kind::Number(Range::closed(0.0, 0.5)),
        "Spread of the radii about their mean: they lie evenly in radius (1 ± spread)",
    )
    .default("0.15"),
    Key::new(
        "iterations",
        Kind::Integer(Range::closed(1.0, 1000.0)),
        "Passes over the contacts in a substep of pbd; 1 with scheme = \"mass splitting\", else 10, when left out. Passes for pressure and friction in a step of sph; 3 when left out",
    ),
    Key::new(
        "substeps",
        Kind::Integer(Range::closed(1.0, 1000.0)),
        "Substeps of a step of pbd, which share its contacts; 10 with scheme = \"mass splitting\", else 1, when left out",
    ),
    Key::new(
        "dt",
        Kind::Number(Range::closed(1e-6, 1.0)),
        "Time step of pbd [s]; 1/60 when left out",
    ),
    Key::new(
        "scheme",
        Kind::Choice(&["mass splitting", "averaged", "gauss-seidel"]),
        "Way in which the corrections of many contacts become one motion",
    )
    .default("\"mass splitting\""),
    Key::new(
        "friction_model",
        Kind::Choice(&["coulomb", "macklin"]),
        "Friction between grains of pbd",
    )
    .default("\"coulomb\""),
    Key::new(
        "error_reduction",
        Kind::Number(Range::closed(0.0, 1.0)),
        "Part by which the upper of two grains is corrected more and the lower less; 0.5 with scheme = \"averaged\", else 0, when left out",
    ),
    Key::new(
        "sleep_threshold",
        Kind::Number(Range::closed(0.0, 1.0)),
        "Displacement in a step below which a grain stays where it is [m]; a tenth of what gravity gives when left out",
    ),
    Key::new(
        "density_error",
        Kind::Number(Range::positive(1.0)),
        "Largest compression at which the passes of sph end, as a part of the density at rest; always `iterations` passes when left out",
    ),
    Key::new(
        "stress_error",
        Kind::Number(Range::positive(1e3)),
        "Largest change of friction stress at which the passes of sph end, as a part of the largest pressure",
    )
    .default("0.01"),
    Key::new(
        "max_iterations",
        Kind::Integer(Range::closed(1.0, 10000.0)),
        "Passes of sph at most where `density_error` decides",
    )
    .default("50"),
    Key::new(
        "yield",
        Kind::Choice(&["radial", "per component"]),
        "Way in which sph keeps friction stress within the yield cone; \"per component\" depends on the axes",
    )
    .default("\"radial\""),
    Key::new(
        "static_friction",
        Kind::Flag,
        "Whether friction stress of sph goes on from step to step, so that what rests stays",
    )
    .default("true"),
    Key::new(
        "wall_friction",
        Kind::Choice(&["coulomb", "viscous"]),
        "Friction of sph at bodies: by their friction coefficient, or by stress and artificial viscosity",
    )
    .default("\"coulomb\""),
    Key::new(
        "discrete_forces",
        Kind::Flag,
        "Whether particles of sph that press nobody collide one by one",
    )
    .default("true"),
    Key::new(
        "sound_speed",
        Kind::Number(Range::positive(FAST)),
        "Speed of numerical propagation that scales the viscosity of sph [m/s]",
    )
    .default("30"),
    Key::new(
        "sleep_velocity",
        Kind::Number(Range::closed(0.0, FAST)),
        "Speed below which a particle of sph stays where it is [m/s]; 0: never",
    )
    .default("0"),
    Key::new(
        "wake_acceleration",
        Kind::Number(Range::closed(0.0, FAST)),
        "Acceleration that wakes a sleeping particle of sph [m/s²]",
    )
    .default("2"),
];
