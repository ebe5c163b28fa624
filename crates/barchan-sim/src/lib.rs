//! Solvers and what they share: sampling, laws, grids, colliders and the frame loop.
//!
//! Programs that embed a simulation create a [`simulation::Simulation`], step it, drive its [`bodies`] and read its particles
//! through a [`view`], all without copying; docs/embedding.md has it on one page.
//!
//! ```
//! use barchan_sim::simulation::Simulation;
//!
//! let mut simulation = Simulation::from_toml(
//!     r#"
//!     [solver]
//!     method = "pbd"
//!     resolution = 0.1
//!     [[collider]]
//!     name = "floor"
//!     shape = { half_space = { normal = [0, 1, 0] } }
//!     [[fill]]
//!     material = "dry sand"
//!     sampling = "lattice"
//!     shape = { box = { min = [-0.2, 0, -0.2], max = [0.2, 0.2, 0.2] } }
//!     "#,
//! )?;
//! simulation.step(1.0 / 60.0)?;
//! let floor = simulation.body_index("floor").ok_or("no floor")?;
//! let force = simulation.reaction(floor).force;
//! let positions = simulation.positions().ok_or("pbd has positions")?;
//! assert!(force.y <= 0.0 && !positions.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod bodies;
pub mod collider;
pub mod contacts;
pub mod grid;
pub mod height_field;
pub mod linalg;
pub mod material;
pub mod math;
pub mod neighbors;
pub mod particles;
pub mod sampling;
pub mod simulation;
pub mod solver;
pub mod solvers;
pub mod start;
pub mod terrain;
pub mod view;

pub use barchan_frame::identities;
